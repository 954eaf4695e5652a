local rg = require "regolith"
assert(rg.kernel(function(a) return a + 1 end)(2) == 3)
