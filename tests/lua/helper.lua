-- helper.lua - what every spec starts from: the module loaded once (busted drops what spec files
-- load), and the few functions they share, as `require "support"`. The number of threads comes from
-- RG_THREADS, stress from RG_STRESS.

-- busted's ffi.typeof remembers every value that it was ever asked for, and so holds all fields and
-- vectors: the one beneath it, for us.
local ffi = require "ffi"
for k = 1, 9 do
  local name, value = debug.getupvalue(ffi.typeof, k)
  if name == "original" then ffi.typeof = value break end
end

local rg = require "regolith"

local support = { rg = rg }

--- The error object that `f` raises.
function support.failure(f, ...)
  local ok, failure = pcall(f, ...)
  assert(not ok, "an error was expected")
  assert(type(failure) == "table" and failure.code, "an error object was expected, got: "
    .. tostring(failure))
  return failure
end

--- A field of `blocks` pointer cells of `size` elements each along every axis, and the pointer
--- node.
function support.sparse(t, axes, blocks, size)
  local x = rg.field(t)
  local block = rg.root:pointer(axes, blocks)
  block:dense(axes, size):place(x)
  return x, block
end

ffi.cdef "int setenv(const char *, const char *, int); int unsetenv(const char *);"

--- What `run` returns with this value of an environment variable, which then is what it was: one
--- that was not set is not set again, as an empty text is a value to who asks.
function support.with_option(name, text, run)
  local before = os.getenv(name)
  ffi.C.setenv(name, text, 1)
  local results = { pcall(run) }
  if before then ffi.C.setenv(name, before, 1) else ffi.C.unsetenv(name) end
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

function support.with_stress(text, run) return support.with_option("RG_STRESS", text, run) end

--- How many cells of `x` a kernel visits.
function support.visits(x)
  return rg.kernel([=[function()
    local count = 0
    for i in x:active() do count = count + 1 end
    return count
  end]=], { x = x })()
end

--- The same for two axes.
function support.visits2(x)
  return rg.kernel([=[function()
    local count = 0
    for i, j in x:active() do count = count + 1 end
    return count
  end]=], { x = x })()
end

--- Numbers 0..count-1 of a field with one axis, as a list.
function support.list(x)
  local t = {}
  for i = 0, #x - 1 do t[i + 1] = x[i] end
  return t
end

package.loaded.support = support
