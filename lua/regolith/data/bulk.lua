--- Whole fields and arrays: fill, copies, tables.
--- Elements travel as doubles; those of i64 and u64 as 64-bit integers, so that no bit is lost.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"
local value = require "regolith.data.value"
local types = require "regolith.data.type"
local whole = require "regolith.data.whole"

local bulk = {}

--- `recorder(x, from, again)` is called before a field or an array is written as a whole: `from` is
--- what it is copied from, or nil, and `again` a function that repeats the write. false: no call.
bulk.recorder = false

--- Calls f, whose own writes of whole fields are not recorded.
function bulk.unrecorded(f, ...)
  local recorder = bulk.recorder
  bulk.recorder = false
  local ok, returned = pcall(f, ...)
  bulk.recorder = recorder
  if not ok then error(returned, 0) end
  return returned
end

local check = lib.check
local most_elements = 2 ^ 27 -- of a Lua table

local function element_of(t) return t.element or t end
-- A struct counts as 64-bit if one of its numbers is.
local function is_64_bit(t)
  for k = 0, t.members and t.count - 1 or -1 do
    if is_64_bit(t.numbers[k]) then return true end
  end
  local name = element_of(t).name
  return name == "i64" or name == "u64"
end

local holds_arrays = types.holds_arrays -- only accesses to single elements count references

-- The indices of element number k, row-major.
local function indices_of(k, extents, rank)
  local at = {}
  for axis = rank, 1, -1 do
    at[axis] = k % extents[axis - 1]
    k = (k - at[axis]) / extents[axis - 1]
  end
  return at
end

local kinds = {} -- of handles, a list: see bulk.add_methods

local function kind_of(handle)
  if type(handle) ~= "cdata" then return end
  for k = 1, #kinds do -- no pairs: error.lua, check_options
    if ffi.istype(kinds[k].handle, handle) then return kinds[k] end
  end
end

-- The extents as an array 0..rank-1, and their product.
local function extents_of(kind, self, rank)
  local extents, count = ffi.new "int64_t[8]", 1
  check(kind.shape(self[kind.pointer], extents), self.rg_runtime)
  local list = {}
  for axis = 0, rank - 1 do
    list[axis] = tonumber(extents[axis])
    count = count * list[axis]
  end
  return list, count
end

local function check_count(count, what)
  if count > most_elements then
    return fail.argument(("%s: %.0f elements are too many for a Lua table"):format(what, count),
      "visit active cells with pairs(x), or read x:pointer() of a dense field")
  end
end

-- Raises unless x fits in a 64-bit element; the core only checks numbers that travel as doubles.
local function check_wide(scalar, x)
  local low = scalar.name == "u64" and 0 or -2 ^ 63
  local is_whole = type(x) ~= "number" or (x % 1 == 0 and x >= low and x < 2 * 2 ^ 63 + low)
  local is_other = type(x) ~= "number" and not ffi.istype(scalar.ctype, x)
  if is_whole and not (is_other and ffi.cast("int64_t", x) < 0) then return end
  return fail.argument(("x:from_table: %s does not fit an element of %s"):format(
    type(x) == "number" and ("%.17g"):format(x) or tostring(x), scalar.name), nil, "value.fit")
end

-- All numbers of all elements, as doubles or, for 64-bit integers, as they are.
local function read_all(kind, self, count, wide)
  local values = wide and ffi.new("int64_t[?]", count) or ffi.new("double[?]", count)
  if self.rg_oracle ~= 0 then lib.get_oracle(self.rg_runtime):read(self, values)
  else
    local read = wide and kind.read_i64 or kind.read
    check(read(self[kind.pointer], values, count), self.rg_runtime)
  end
  return values
end

local function write_all(kind, self, values, count, wide)
  if self.rg_oracle ~= 0 then return lib.get_oracle(self.rg_runtime):write(self, values) end
  local write = wide and kind.write_i64 or kind.write
  check(write(self[kind.pointer], values, count), self.rg_runtime)
end

-- All numbers of structs, each as Lua has it.
local function read_structs(kind, self, t, count)
  local doubles = read_all(kind, self, count, false)
  if not is_64_bit(t) then return doubles end
  local wide, list = read_all(kind, self, count, true), {}
  for k = 0, count - 1 do
    local scalar = t.numbers[k % t.count]
    list[k] = is_64_bit(scalar) and ffi.cast(scalar.ctype, wide[k]) or doubles[k]
  end
  return list
end

-- Elements one by one: structs with numbers that doubles do not hold. Zeros activate nothing.
local function write_structs(self, t, elements, rank, extents)
  local zero, at = t(), {}
  local function level(row, axis)
    for k = 1, extents[axis] do
      at[axis + 1] = k - 1
      if axis < rank - 1 then
        level(row[k], axis + 1)
      else
        local v = t(row[k])
        if v ~= zero or not self.is_active or self:is_active(unpack(at, 1, rank)) then
          self:set(at, v)
        end
      end
    end
  end
  if rank == 0 then return self:set(elements) end
  level(elements, 0)
end

-- Between a field and an array.
local function copy_across(kind, self, rank, other, from, from_rank)
  local t, extents, count = kind.type_of(self), extents_of(kind, self, rank)
  local from_type, from_extents = other.type_of(from), extents_of(other, from, from_rank)
  if t.members or from_type.members then
    if t ~= from_type then
      return fail.argument(("%s and %s hold different structs"):format(tostring(self),
        tostring(from)))
    end
    return self:from_table(from:to_table())
  end
  local is_same = rank == from_rank and (t.rows or 1) == (from_type.rows or 1)
    and (t.cols or 1) == (from_type.cols or 1)
  for axis = 0, rank - 1 do is_same = is_same and extents[axis] == from_extents[axis] end
  if not is_same then
    return fail.argument(("%s and %s have different shapes"):format(tostring(self), tostring(from)))
  end
  count = count * (t.count or 1)
  local wide = is_64_bit(from_type)
  write_all(kind, self, read_all(other, from, count, wide), count, wide)
end

--- Adds the methods of one kind of handle.
---@param kind element.Kind
function bulk.add_methods(methods, kind)
  local function note(self, ...)
    if bulk.recorder then bulk.recorder(self, ...) end
  end
  local settle, put_value, type_of, slot = kind.settle, kind.put, kind.type_of, kind.slot
  kinds[#kinds + 1] = kind
  local fill = lib.quietly(function(self, v)
    v = put_value(self, v)
    if self.rg_oracle ~= 0 then return lib.get_oracle(self.rg_runtime):fill(self, v) end
    check(kind.fill(self[kind.pointer], slot), self.rg_runtime)
  end)

  --- Sets every active cell to `v`.
  function methods.fill(self, v)
    local rank = settle(self)
    note(self, nil, function() self:fill(v) end)
    if holds_arrays(type_of(self)) then
      local extents, count = extents_of(kind, self, rank)
      for k = 0, count - 1 do self:set(indices_of(k, extents, rank), v) end
      return self
    end
    fill(self, v)
    return self
  end

  --- Copies the active cells of `from`.
  function methods.copy_from(self, from)
    from = whole.plain(from)
    local other = kind_of(from)
    if not other then
      return fail.argument("x:copy_from takes a field or an array, not " .. fail.describe(from))
    end
    local rank, from_rank = settle(self), other.settle(from)
    note(self, from, function() self:copy_from(from) end)
    if holds_arrays(type_of(self)) or holds_arrays(other.type_of(from)) then
      return fail.argument("x:copy_from: arrays in elements would be shared, not copied",
        "a:from_table(b:to_table()) shares them")
    end
    if other ~= kind then
      copy_across(kind, self, rank, other, from, from_rank)
    elseif self.rg_oracle ~= 0 and from.rg_runtime == self.rg_runtime then
      lib.get_oracle(self.rg_runtime):copy(self, from)
    else
      check(kind.copy(self[kind.pointer], from[kind.pointer]), self.rg_runtime)
    end
    return self
  end

  --- An ordinary 1-based table of all elements; inactive ones read zero.
  function methods.to_table(self)
    local rank = settle(self)
    local t, extents, count = type_of(self), extents_of(kind, self, rank)
    local parts, wide = t.count or 1, is_64_bit(t)
    count = count * parts
    check_count(count, "x:to_table")
    if holds_arrays(t) then
      return value.nest(extents, rank, function(k)
        return self:get(unpack(indices_of(k, extents, rank), 1, rank)) or false
      end)
    end
    if t.members then
      local numbers = read_structs(kind, self, t, count)
      return value.nest(extents, rank, function(k) return t:from_array(numbers, k * parts) end)
    end
    local values = read_all(kind, self, count, wide)
    if t.element then
      local load = matrix.loader(t)
      return value.nest(extents, rank, function(k) return load(values, k * parts) end)
    end
    if wide then
      local element = ffi.typeof(t.ctype)
      return value.nest(extents, rank, function(k) return element(values[k]) end)
    end
    if t.name == "bool" then
      return value.nest(extents, rank, function(k) return values[k] ~= 0 end)
    end
    return value.nest(extents, rank, values)
  end

  --- Writes all elements from such a table; zeros activate nothing.
  function methods.from_table(self, t)
    local rank = settle(self)
    note(self, nil, function() self:from_table(t) end)
    local own_type, extents, count = type_of(self), extents_of(kind, self, rank)
    local wide, parts, scalar = is_64_bit(own_type), own_type.count or 1, element_of(own_type)
    count = count * parts
    check_count(count, "x:from_table")
    if holds_arrays(own_type) then
      value.flatten(t, extents, rank, function(k, v)
        self:set(indices_of(k, extents, rank), v)
        return true
      end, "x:from_table", kind.noun)
      return self
    end
    local values = wide and ffi.new("int64_t[?]", count) or ffi.new("double[?]", count)
    if count == 0 then write_all(kind, self, values, count, wide) end -- a hash's is an error
    local function give_number(k, element)
      local is = type(element)
      if is == "boolean" then
        values[k] = element and 1 or 0
      elseif is == "number" or ffi.istype("int64_t", element) or ffi.istype("uint64_t",
        element) then
        if wide then check_wide(scalar, element) end
        values[k] = wide and ffi.cast("int64_t", scalar(element)) or tonumber(element)
      else
        return false
      end
      return true
    end
    local function give_scalar(k, element)
      return (type(element) == "boolean") == (scalar.name == "bool") and give_number(k, element)
    end
    local put = own_type.element and not wide and matrix.storer(own_type)
    local function give_vector(k, element)
      if put and put(values, k * parts, element) then return true end
      if type(element) ~= "table" and not matrix.type_of(element) then return false end
      local v = own_type(element)
      for part = 0, parts - 1 do give_number(k * parts + part, v.rg_n[part]) end
      return true
    end
    local function give_struct(k, element)
      if type(element) ~= "table" and matrix.type_of(element) ~= own_type then return false end
      local v = own_type(element)
      for part = 0, wide and -1 or parts - 1 do
        give_number(k * parts + part, own_type:number_of(v, part))
      end
      return true
    end
    local give = own_type.members and give_struct or own_type.element and give_vector
      or give_scalar
    if rank == 0 then
      if not give(0, t) then
        return fail.argument("x:from_table of a field with one element takes a number")
      end
    else
      value.flatten(t, extents, rank, give, "x:from_table", kind.noun,
        give == give_scalar and not wide and scalar.name ~= "bool" and values or nil,
        give ~= give_scalar and ("an element of type " .. tostring(own_type))
          or scalar.name == "bool" and "a boolean" or nil)
    end
    if own_type.members and wide then write_structs(self, own_type, t, rank, extents)
    else write_all(kind, self, values, count, wide) end
    return self
  end
end

return bulk
