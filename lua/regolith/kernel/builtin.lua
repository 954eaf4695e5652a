--- Functions that a kernel recognises by their identity, whatever variable holds them: `math.sin`,
--- `local sqrt = math.sqrt`, `rg.range`.
local ffi = require "ffi"
local fail = require "regolith.error"
local find = require("regolith.host").find
local range = require "regolith.data.range"
local rescale = require "regolith.data.rescale"
local library = require "regolith.kernel.library"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"
local matrix = require "regolith.data.matrix"
local struct = require "regolith.data.struct"
local elementwise = require "regolith.data.elementwise"
local bitcast = require "regolith.data.bitcast"

local builtin = { names = setmetatable({}, { __mode = "k" }) } -- function -> "math.sin"
local names = builtin.names

if jit then jit.off(true) end -- the loops below run once: not worth a trace
for _, host in ipairs { "math", "bit", "string", "table", "coroutine", "io", "os" } do
  for name, f in pairs(type(rawget(_G, host)) == "table" and rawget(_G, host) or {}) do
    if type(f) == "function" then names[f] = host .. "." .. name end
  end
end
for name, f in pairs(elementwise) do
  if type(f) == "function" then names[f] = "math." .. name end
end
for _, name in ipairs { "print", "assert", "error", "pcall", "xpcall", "ipairs", "pairs", "next",
  "select", "type",
  "tostring", "tonumber", "unpack", "setmetatable", "getmetatable", "rawget", "rawset", "rawequal",
    "require", "load",
  "loadstring", "dofile", "collectgarbage", "getfenv", "setfenv" } do
  if rawget(_G, name) then names[rawget(_G, name)] = name end
end

--- The name of a builtin, or nil. A host's own global `print`, `assert` or `error` counts as the
--- builtin: kernels print by that, and a test framework has an `assert` of its own.
function builtin.name_of(v, globals)
  local name = names[v]
  if name then return name end
  for _, global in ipairs { "print", "assert", "error" } do
    if rawequal(v, find(globals, global)) then return global end
  end
end

-- The names that a text kernel finds after its captures.
builtin.defaults = { math = math, bit = require "bit", print = print, assert = assert,
  error = error, unpack = unpack }

types.add_named()

local border_of_vectors = { vec = fail.border(matrix.vec), mat = fail.border(matrix.mat),
  struct = fail.border(struct.create), bitcast = bitcast }
for name, f in pairs(matrix.functions) do border_of_vectors[name] = f end

-- `rg.static(e)` outside kernels.
local function static(v) return v end

-- `rg.stop(x)` outside kernels, where nothing is differentiated.
local function stop(x) return x end

--- What every `rg` has: types, the range, and functions of kernels.
---@return table
function builtin.members()
  local members = { range = range.create, static = static, rescale = rescale,
    math = elementwise }
  names[range.create], names[static], names[rescale] = "rg.range", "rg.static", "rg.rescale"
  members.stop, names[stop] = stop, "rg.stop"
  for _, name in ipairs(library.names) do
    members[name] = builtin[name] or library.get(name)
    builtin[name] = members[name]
    matrix.add_method(name, members[name])
    names[members[name]] = "rg." .. name
  end
  for _, name in ipairs(types.names) do members[name] = types.by_name[name] end
  for name, f in pairs(border_of_vectors) do
    members[name] = f
    names[f] = "rg." .. name
  end
  return members
end

--- Our type for a ctype such as `ffi.typeof "float"`, or nil.
function builtin.type_of_ctype(v)
  for _, row in ipairs(scalars) do
    if row.is_own and ffi.typeof(row.ctype) == v then return types.by_name[row.name] end
  end
end

return builtin
