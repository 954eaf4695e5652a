--- Functions of `rg` that are written in the kernel language (core/library), called from Lua. They
--- run in a runtime of arch "lua" that belongs to this module, since the caller's runtime may not
--- exist yet; it loads no LLVM. Results are those of kernels on the CPU, to the last bit.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"

local library = { names = { "polar", "svd", "sym_eig", "eig", "qr", "lu", "solve", "sign", "isnan",
  "isinf", "column", "popcnt", "clz", "ctz", "ldexp", "frexp", "modf", "translate", "scale",
  "rotate", "perspective", "look_at", "quat", "quat_mul", "quat_rotate", "quat_matrix",
  "slerp" } }
local runtime
local kernels = {} -- by name and count of arguments

local function kernel_of(name, count)
  local key = name .. count
  if not kernels[key] then
    runtime = runtime or require "regolith".new { arch = "lua" }
    local list = {}
    for k = 1, count do list[k] = "a" .. k end
    list = table.concat(list, ", ")
    kernels[key] = runtime.kernel(("function(%s) return rg.%s(%s) end"):format(list, name, list))
  end
  return kernels[key]
end

local function pass(ok, first, ...)
  if ok then return first, ... end
  first = fail.caught(first)
  return fail.argument(type(first) == "table" and first.message or tostring(first),
    type(first) == "table" and first.hint ~= "" and first.hint or nil,
    type(first) == "table" and first.code or nil)
end

-- The number of the first argument that is not a number, boolean, vector or matrix, or nil.
local function first_other(...)
  for k = 1, select("#", ...) do
    local x = select(k, ...)
    if type(x) ~= "boolean" and not matrix.is_number(x) and not matrix.type_of(x) then return k end
  end
end

local function refuse(name, x)
  return fail.argument(("rg.%s takes numbers, vectors and matrices, not %s"):format(name,
    fail.describe(x)), type(x) == "table" and "make a vector or a matrix: rg.vec2(1, 2), \z
    rg.mat2(1, 2, 3, 4)" or nil)
end

--- The function of this name, as `rg` offers it.
function library.get(name)
  return function(...)
    local other = first_other(...)
    if other then return refuse(name, (select(other, ...))) end
    return pass(pcall(kernel_of(name, select("#", ...)), ...))
  end
end

return library
