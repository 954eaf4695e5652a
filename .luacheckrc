std = "luajit"
files["lua/regolith/cdef.lua"] = { ignore = { "631" } } -- the header's own lines
files["tests/lua"] = { std = "+busted" }
