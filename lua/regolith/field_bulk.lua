--- Whole fields: fill, copies, tables, pointers.
--- Elements travel as doubles; those of i64 and u64 fields as 64-bit integers, so that no bit is
--- lost.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local types = require "regolith.type"
local matrix = require "regolith.matrix"
local value = require "regolith.value"


local bulk = {}

local C, check = lib.C, lib.check
local most_elements = 2 ^ 27 -- of a Lua table

local function type_of(self) return types.named(ffi.string(C.rg_field_type(self.rg_field))) end
local function element_of(t) return t.element or t end
local function is_64_bit(t) return element_of(t).name == "i64" or element_of(t).name == "u64" end

-- The extents as an array 0..rank-1, and their product.
local function extents_of(self, rank)
  local extents, count = ffi.new "int64_t[8]", 1
  check(C.rg_field_shape(self.rg_field, extents), self.rg_runtime)
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

-- A number that an element of 64 bits holds: they do not travel as doubles, which the core checks.
local function check_wide(scalar, x)
  local low = scalar.name == "u64" and 0 or -2 ^ 63
  local is_whole = type(x) ~= "number" or (x % 1 == 0 and x >= low and x < 2 * 2 ^ 63 + low)
  local is_other = type(x) ~= "number" and not ffi.istype(scalar.ctype, x)
  if is_whole and not (is_other and ffi.cast("int64_t", x) < 0) then return end
  return fail.argument(("x:from_table: %s does not fit an element of %s"):format(
    type(x) == "number" and ("%.17g"):format(x) or tostring(x), scalar.name), nil, "value.fit")
end

--- Adds the methods; `settle` lays a field out and returns its rank.
function bulk.add_methods(methods, settle, put_value, slot)
  local fill = lib.quietly(function(self, v)
    v = put_value(self, v)
    if self.rg_oracle ~= 0 then return lib.get_oracle(self.rg_runtime):fill(self, v) end
    check(C.rg_field_fill(self.rg_field, slot), self.rg_runtime)
  end)

  --- Every active cell becomes `v`.
  function methods.fill(self, v)
    settle(self)
    fill(self, v)
    return self
  end

  --- Active cells of `from` are written here.
  function methods.copy_from(self, from)
    if not ffi.istype("RgFieldHandle", from) then
      return fail.argument("x:copy_from takes a field, not " .. fail.describe(from))
    end
    settle(self)
    settle(from)
    if self.rg_oracle ~= 0 and from.rg_runtime == self.rg_runtime then
      lib.get_oracle(self.rg_runtime):copy(self, from)
      return self
    end
    check(C.rg_field_copy(self.rg_field, from.rg_field), self.rg_runtime)
    return self
  end

  --- An ordinary 1-based table of all elements; inactive ones read zero.
  function methods.to_table(self)
    local rank = settle(self)
    local t, extents, count = type_of(self), extents_of(self, rank)
    local parts = t.count or 1
    count = count * parts
    check_count(count, "x:to_table")
    if is_64_bit(t) then
      local values = ffi.new("int64_t[?]", count)
      if self.rg_oracle ~= 0 then lib.get_oracle(self.rg_runtime):read(self, values)
      else check(C.rg_field_read_i64(self.rg_field, values, count), self.rg_runtime) end
      if t.element then
        return value.nest(extents, rank,
          function(k) return matrix.from_array(t, values, k * parts) end)
      end
      local element = ffi.typeof(t.ctype)
      return value.nest(extents, rank, function(k) return element(values[k]) end)
    end
    local values = ffi.new("double[?]", count)
    if self.rg_oracle ~= 0 then lib.get_oracle(self.rg_runtime):read(self, values)
    else check(C.rg_field_read(self.rg_field, values, count), self.rg_runtime) end
    if t.element then
      return value.nest(extents, rank,
        function(k) return matrix.from_array(t, values, k * parts) end)
    end
    if t.name == "bool" then
      return value.nest(extents, rank, function(k) return values[k] ~= 0 end)
    end
    return value.nest(extents, rank, function(k) return values[k] end)
  end

  --- Writes all elements from such a table; zeros activate nothing.
  function methods.from_table(self, t)
    local rank = settle(self)
    local own_type, extents, count = type_of(self), extents_of(self, rank)
    local wide, parts, scalar = is_64_bit(own_type), own_type.count or 1, element_of(own_type)
    count = count * parts
    check_count(count, "x:from_table")
    local values = wide and ffi.new("int64_t[?]", count) or ffi.new("double[?]", count)
    local function give_number(k, element)
      local kind = type(element)
      if kind == "boolean" then
        values[k] = element and 1 or 0
      elseif kind == "number" or ffi.istype("int64_t", element) or ffi.istype("uint64_t",
        element) then
        if wide then check_wide(scalar, element) end
        values[k] = wide and ffi.cast("int64_t", scalar(element)) or tonumber(element)
      else
        return false
      end
      return true
    end
    local function give_vector(k, element)
      if type(element) ~= "table" and not matrix.type_of(element) then return false end
      local v = own_type(element)
      for part = 0, parts - 1 do give_number(k * parts + part, v.rg_n[part]) end
      return true
    end
    local give = own_type.element and give_vector or give_number
    if rank == 0 then
      if not give(0, t) then
        return fail.argument("x:from_table of a field with one element takes a number")
      end
    else
      value.flatten(t, extents, rank, give, "x:from_table")
    end
    if self.rg_oracle ~= 0 then
      lib.get_oracle(self.rg_runtime):write(self, values)
      return self
    end
    local write = wide and C.rg_field_write_i64 or C.rg_field_write
    check(write(self.rg_field, values, count), self.rg_runtime)
    return self
  end

  --- The first element of a dense field; good until the next launch, and after rg.sync().
  function methods.pointer(self)
    settle(self)
    if self.rg_oracle ~= 0 then
      return fail.argument(
        "a field of arch = \"lua\" has no memory to point to", "use x:to_table()")
    end
    local pointer_out = ffi.new "void *[1]"
    check(C.rg_field_pointer(self.rg_field, pointer_out), self.rg_runtime)
    return ffi.cast(type_of(self).ctype .. " *", pointer_out[0])
  end
end

return bulk
