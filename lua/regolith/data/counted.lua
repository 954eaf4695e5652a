--- Arrays as counted memory: their holders, their growth, their slices, and arrays as values of the
--- type array(T), which kernels pass on, store and return.
--- `rg.zeros(T, n, ..)` and `rg.list(T)` make arrays as kernels do. The handle is array.lua's.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local types = require "regolith.data.type"
local array_type = require "regolith.data.array_type"

local C, check = lib.C, lib.check

local counted = {}

local array -- regolith.array: counted.begin
-- number of a handle -> the launch argument, as long as the handle exists
local vectors = {}

local function api_of(self)
  local runtime = lib.runtimes[self.rg_runtime]
  if not runtime or not runtime.c then return lib.raise_last(self.rg_runtime) end
  return C.rg_extension_api(runtime.c), runtime.c
end

-- -- as a value -----------------------------------------------------------------------------------

--- Its array type, as rg.array_type makes it.
function counted.type(self) return array_type.create(self.type, self.rg_rank) end

local counted_out = ffi.new "RgCounted *[1]"

-- The header, borrowed.
local function holder_of(self)
  local header = C.rg_array_header(self.rg_array)
  if header ~= nil then return header end
  return check(C.rg_array_shape(self.rg_array, ffi.new "int64_t[8]"), self.rg_runtime) -- raises
end

-- The header of an array that can be a value.
local function header_of(self)
  if self.rg_value == 1 then return holder_of(self) end
  if self.rg_oracle ~= 0 then return array.counted(self, tostring(self)) end
  check(C.rg_array_value(self.rg_array, counted_out), self.rg_runtime)
  return counted_out[0]
end

local function address_of(header)
  return ffi.cast("uint64_t", ffi.cast("uintptr_t", header))
end

--- The array as a number: the address of its header.
function counted.address(self) return address_of(header_of(self)) end

--- The value that a launch, or an element that is an array, receives.
function counted.vector(self)
  local header, vector = header_of(self), vectors[self.rg_number]
  if not vector then
    vector = ffi.new "RgVector"
    vector.type, vector.count = counted.type(self).name, 1
    vectors[self.rg_number] = vector
  end
  vector.numbers[0].u64 = address_of(header)
  return vector
end

--- Gives up the handle's reference.
function counted.forget(number)
  if not vectors[number] then return end
  vectors[number].numbers[0].u64 = 0
  lib.forget_values()
end

--- For finalizers.
function counted.drop(number) vectors[number] = nil end

local share_quietly = lib.quietly(function(self)
  local api, header = api_of(self), header_of(self)
  api.acquire(api, header)
  return array.take(self.rg_runtime, header, counted.type(self))
end)

--- One more handle of the same array.
function counted.share(self) return share_quietly(self) end

--- A handle for the array that a kernel returned, with its reference; nil if there is no array. The
--- caller is in lib.quiet.
function counted.take(number, t, address)
  local pointer = ffi.cast("RgCounted *", ffi.cast("uintptr_t", address))
  if pointer == nil then return nil end
  local runtime = lib.runtimes[number]
  local api = C.rg_extension_api(runtime.c)
  runtime.new_bytes = runtime.new_bytes + tonumber(api.size(api, pointer))
  return array.take(number, pointer, t)
end

-- -- methods --------------------------------------------------------------------------------------

local methods = {}

-- Its length; raises if the length cannot change.
local function length_of(self, what)
  if self.rg_rank > 1 then
    return fail.argument(what .. ": an array of several axes does not grow",
      "rg.list(T), or rg.zeros(T, n) with one axis")
  elseif self.rg_value ~= 1 then
    return fail.argument(("%s: %s has as many elements as it was declared with"):format(what,
      tostring(self)), self.rg_oracle ~= 0
      and "with arch = \"lua\" lists grow in kernels alone: rg.zeros(T, n) has n elements"
      or "rg.list(T) and rg.zeros(T, n) grow: rg.zeros(T, n):copy_from(a)")
  end
  return #self
end

local resize = lib.quietly(function(self, count)
  local _, c = api_of(self)
  check(C.rg_counted_resize(c, header_of(self), self.type.name, count), self.rg_runtime)
end)

--- Appends an element; returns its index.
function methods.append(self, v)
  local count = length_of(self, "a:append")
  resize(self, count + 1)
  local ok, failure = pcall(self.set, self, count, v)
  if ok then return count end
  resize(self, count)
  return error(failure, 0)
end

--- Removes and returns the last element; returns nothing if the array is empty.
function methods.pop(self)
  local count = length_of(self, "a:pop")
  if count == 0 then return nil end
  local v = self:get(count - 1)
  resize(self, count - 1)
  return v
end

function methods.clear(self)
  length_of(self, "a:clear")
  resize(self, 0)
end

local slice_quietly = lib.quietly(function(self, first, count, where)
  local _, c = api_of(self)
  check(C.rg_counted_slice(c, header_of(self), self.type.name, first, count, where, counted_out),
    self.rg_runtime)
  return array.take(self.rg_runtime, counted_out[0], counted.type(self))
end)

--- `count` elements from number `first` on, in the same memory: neither grows from then on.
function methods.slice(self, first, count)
  if self.rg_rank > 1 then
    return fail.argument "a:slice takes elements of an array of one axis"
  end
  for _, n in ipairs { first or false, count or false } do
    if type(n) ~= "number" or n % 1 ~= 0 then
      return fail.argument("a:slice(first, count) takes two whole numbers, not "
        .. fail.describe(n or nil))
    end
  end
  local length = #self
  first = math.max(0, math.min(first, length))
  return slice_quietly(self, first, math.max(0, math.min(count, length - first)), fail.place())
end

--- The number of elements, along all axes.
function methods.length(self)
  local count = 1
  for _, extent in pairs(self.shape) do count = count * extent end
  return count
end

--- Its extent along an axis; the first is 0.
function methods.extent(self, axis) return self.shape[axis] end

--- The number of holders: handles, other arrays, extensions.
function methods.count(self)
  local api = api_of(self)
  return tonumber(api.count(api, holder_of(self)))
end

--- The elements as they are now, as an array that does not grow, in the same memory.
function methods.array(self)
  if self.rg_value ~= 1 then return self end
  return array.adopt(self.rg_runtime, header_of(self), self.type.name, array.extents(self))
end

--- Called by array.lua, once.
function counted.begin(module, all)
  array = module
  for name, method in pairs(methods) do all[name] = method end
end

-- -- making them ----------------------------------------------------------------------------------

function counted.is(what) return array.is(what) and what.rg_value == 1 end

local create_quietly = lib.quietly(function(number, c, t, extents, where)
  local rank = #extents
  check(C.rg_counted_create(c, t.name, ffi.new("int64_t[8]", extents), rank, where, counted_out),
    number)
  return array.take(number, counted_out[0], array_type.create(t, rank))
end)

local function check_extents(what, extents)
  for _, n in ipairs(extents) do index.check_extent(what .. ": an extent", n, 0) end
  if #extents < 1 or #extents > 8 then
    return fail.argument(what .. " takes 1 to 8 extents", what .. "(rg.f32, n)")
  end
end

local function create(session, what, t, extents)
  t = types.get(t, what)
  check_extents(what, extents)
  local number, c = session:get()
  if lib.oracle_of(number) then
    if types.holds_arrays(t) then
      return fail.raise { code = "kernel.not_yet", message = ("%s: with arch = \"lua\" arrays that "
        .. "hold arrays stay in kernels, and its elements would be of %s"):format(what, t.name),
        hint = "make it in a kernel, or arch = \"cpu\"" }
    end
    return array.create_empty(session, t, extents)
  end
  local bytes = t.size
  for _, n in ipairs(extents) do bytes = bytes * n end
  session:account_array(bytes)
  return create_quietly(number, c, t, extents, fail.place())
end

--- `rg.zeros(T, n, ..)`: zeros; of one axis, it can grow.
function counted.zeros(session, t, ...) return create(session, "rg.zeros", t, { ... }) end

--- `rg.list(T)`: an array without elements.
function counted.list(session, t, extra)
  if extra ~= nil then
    return fail.argument("rg.list takes only the type of its elements",
      "rg.zeros(T, n) makes an array of n elements")
  end
  return create(session, "rg.list", t, { 0 })
end

return counted
