--- `x:add(i, j, v)` and the like from Lua: reads an element, writes it, returns what it was. As in
--- kernels an integer wraps and a float rounds once: the operations are those of arch = "lua".
--- Indices and values are those of `x:set`: one outside is an error.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local value = require "regolith.data.value"

local update = {}

local check, buffer = lib.check, index.buffer
local slot = ffi.new "RgValue"

-- The value converted to an element of the field or array; raises if it does not fit.
local function convert(self, how, t, v)
  if t.element and (type(v) == "table" or type(v) == "number") then v = t(v) end
  if not value.put(slot, v) then
    return fail.store(v, t.name)
  end
  check(how.convert(self[how.pointer], slot, slot), self.rg_runtime)
  return value.take(slot)
end

local function fail_count(name, rank, value_count, count)
  return fail.argument(("x:%s takes %d %s and %s, got %d argument%s"):format(name, rank,
    rank == 1 and "index" or "indices", value_count == 1 and "a value" or "two values", count,
    count == 1 and "" or "s"),
    count == 0 and name == "add" and "the sum of all elements is x:sum()" or nil, "index.count")
end

-- A list of the indices, which are given one by one or as one list; then the values after them.
local function read_arguments(name, rank, value_count, ...)
  local given, count, indices = { ... }, select("#", ...), {}
  local first, taken = given[1], rank
  if count < value_count + math.min(rank, 1) then
    return fail_count(name, rank, value_count, count)
  end
  if count == value_count + 1 and (index.is_list(first) or first == 0) then
    taken = 1
    for k = 1, index.fill(first) do indices[k] = tonumber(buffer[k - 1]) end
  else
    for k = 1, rank do indices[k] = index.check(given[k]) end
  end
  if count ~= taken + value_count then return fail_count(name, rank, value_count, count) end
  return indices, unpack(given, taken + 1, count)
end

local function fill(indices)
  for k, i in ipairs(indices) do buffer[k - 1] = i end
  return #indices
end

-- The function that computes the new value of one number: f(old, v) or f(old, expected, desired).
local function operation(name, t)
  if name == "compare_exchange" then return require("regolith.oracle.element").swapped end
  local scalar = (t.element or t).name
  return require("regolith.oracle.number")[name .. "_" .. scalar]
    or fail.argument(("elements of type %s have no '%s'"):format(t.name, name))
end

local function exchange_struct(self, how, t, rank, ...)
  local indices, v = read_arguments("exchange", rank, 1, ...)
  local new = t(v)
  local count = fill(indices)
  local old = how.get(self, self[how.pointer], count)
  fill(indices)
  how.set(self, self[how.pointer], count, new)
  return old
end

local function apply(self, how, name, value_count, ...)
  local rank, vector = how.settle(self), require "regolith.oracle.vector"
  local t = how.type_of(self)
  if t.members and name == "exchange" then return exchange_struct(self, how, t, rank, ...) end
  local f = operation(name, t)
  local indices, v, desired = read_arguments(name, rank, value_count, ...)
  v = vector.from_lua(convert(self, how, t, v))
  if value_count == 2 then desired = vector.from_lua(convert(self, how, t, desired)) end
  local count = fill(indices)
  local old = how.get(self, self[how.pointer], count)
  local new = vector.each(f, vector.from_lua(old), v, desired)
  fill(indices)
  how.set(self, self[how.pointer], count, vector.to_lua(t.name, new))
  return old
end

---@param how element.Kind
function update.add_methods(methods, how)
  for _, name in ipairs { "add", "sub", "mul", "min", "max", "band", "bor", "bxor", "exchange" } do
    methods[name] = function(self, ...) return lib.quiet(apply, self, how, name, 1, ...) end
  end
  function methods.compare_exchange(self, ...)
    return lib.quiet(apply, self, how, "compare_exchange", 2, ...)
  end
end

return update
