--- Counted arrays from Lua: `rg.zeros(T, n, ..)`, `rg.list(T)`, and what kernels return. A handle
--- is one of the holders of the memory; elements are read and written where kernels have them.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.index"
local types = require "regolith.type"
local array = require "regolith.array"
local array_type = require "regolith.array_type"
local shape = require "regolith.shape"
local item = require "regolith.counted_item"

local C, check = lib.C, lib.check

local counted = {}

local Handle
-- number -> { name = "array(f32)", type = of an element, rank, vector = for launches, view = its
-- elements as an array, with data and size as they were then }
local records, last_number = {}, 0

local function api_of(self)
  local runtime = lib.runtimes[self.rg_runtime]
  if not runtime or not runtime.c then return lib.raise_last(self.rg_runtime) end
  if runtime.sites then check(C.rg_sync(runtime.c), self.rg_runtime) end -- launches may be queued
  return C.rg_extension_api(runtime.c), runtime.c
end

local function check_held(self)
  if self.rg_counted == nil then
    return fail.raise { code = "handle.destroyed",
      message = ("this %s was released at %s"):format(records[self.rg_number].name,
        records[self.rg_number].released) }
  end
end

-- Extents follow the elements where there are several axes.
local function extents_of(self, api, c)
  local record, bytes = records[self.rg_number], tonumber(api.size(api, self.rg_counted))
  if record.rank == 1 then return { bytes / record.type.size } end
  local data = ffi.cast("const uint8_t *", C.rg_counted_place(c, self.rg_counted))
  local from, extents = ffi.cast("const int64_t *", data + math.ceil(bytes / 8) * 8), {}
  for k = 1, record.rank do extents[k] = tonumber(from[k - 1]) end
  return extents
end

local function drop_view(record)
  if record.view then record.view:destroy() end
  record.view = nil
end

local adopt_quietly = lib.quietly(function(api, self, record, extents)
  api.acquire(api, self.rg_counted)
  return array.adopt(self.rg_runtime, self.rg_counted, record.type.name, extents)
end)

-- Its elements as they are now.
local function view(self)
  check_held(self)
  local api, c = api_of(self)
  local record = records[self.rg_number]
  local data, size = C.rg_counted_place(c, self.rg_counted), api.size(api, self.rg_counted)
  if record.view and record.data == data and record.size == size then return record.view end
  drop_view(record)
  record.view = adopt_quietly(api, self, record, extents_of(self, api, c))
  record.data, record.size = data, size
  return record.view
end

--- Its elements as they are now, as a handle of array.lua, which is the caller's to drop.
function counted.elements(self)
  local record = records[self.rg_number]
  check_held(self)
  if item.holds_arrays(record.type) then
    return fail.argument(("elements of an %s hold arrays themselves, which only kernels, a[i] and \z
      a:to_table() read"):format(record.name), "pass one of them: a[0]")
  end
  local api, c = api_of(self)
  return adopt_quietly(api, self, record, extents_of(self, api, c))
end

-- As counted_item.lua knows it.
local function place(self)
  check_held(self)
  local api, c = api_of(self)
  local record = records[self.rg_number]
  return { runtime = self.rg_runtime, c = c, held = self.rg_counted, type = record.type,
    name = record.name, extents = extents_of(self, api, c) }
end

local new_handle

-- -- methods --------------------------------------------------------------------------------------

local methods = {}

for _, name in ipairs { "get", "set", "fill", "to_table", "from_table", "copy_from" } do
  methods[name] = function(self, ...)
    local result
    if item.holds_arrays(records[self.rg_number].type) then
      result = item[name](place(self), ...)
      if name == "get" or name == "to_table" then return result end
      return self
    end
    local elements = view(self)
    result = elements[name](elements, ...)
    return result ~= elements and result or self
  end
end

--- The elements as a `rg.array` that shares the memory; it does not grow with it.
function methods.array(self)
  return counted.elements(self)
end

local function list_of(self, what)
  check_held(self)
  if records[self.rg_number].rank > 1 then
    return fail.argument(what .. ": an array of several axes does not grow")
  end
  local at = place(self)
  drop_view(records[self.rg_number])
  return at, at.extents[1]
end

local counted_out = ffi.new "RgCounted *[1]"

local slice_quietly = lib.quietly(function(self, at, first, count, where)
  check(C.rg_counted_slice(at.c, at.held, at.type.name, first, count, where, counted_out),
    at.runtime)
  return new_handle(at.runtime, counted_out[0], counted.type(self))
end)

--- One more element; its index.
function methods.append(self, v)
  local at, count = list_of(self, "a:append")
  item.resize(at, count + 1)
  local ok, failure = pcall(methods.set, self, count, v)
  if ok then return count end
  drop_view(records[self.rg_number])
  item.resize(at, count)
  return error(failure, 0)
end

--- The last element, which it then no longer has; nothing when it is empty.
function methods.pop(self)
  local at, count = list_of(self, "a:pop")
  if count == 0 then return nil end
  local v = methods.get(self, count - 1)
  drop_view(records[self.rg_number])
  item.resize(at, count - 1)
  return v
end

function methods.clear(self)
  item.resize((list_of(self, "a:clear")), 0)
end

--- `count` elements from number `first` on, in the same memory: neither grows from then on.
function methods.slice(self, first, count)
  local at, length = list_of(self, "a:slice")
  for _, n in ipairs { first or false, count or false } do
    if type(n) ~= "number" or n % 1 ~= 0 then
      return fail.argument("a:slice(first, count) takes two whole numbers, not "
        .. fail.describe(n or nil))
    end
  end
  first = math.max(0, math.min(first, length))
  return slice_quietly(self, at, first, math.max(0, math.min(count, length - first)), fail.place())
end

--- How many hold it: handles, other arrays, extensions.
function methods.count(self)
  check_held(self)
  local api = api_of(self)
  local own = records[self.rg_number].view and 1 or 0
  return tonumber(api.count(api, self.rg_counted)) - own
end

local function let_go(self, where)
  local record = records[self.rg_number]
  local held = self.rg_counted
  if held == nil then return end
  local runtime = lib.runtimes[self.rg_runtime]
  self.rg_counted = nil
  record.vector.numbers[0].u64 = 0
  C.rg_counted_release(held, where)
  -- when a state closes the view may have gone before it
  if record.view and runtime and runtime.c then pcall(drop_view, record) end
  lib.drop_handle(self.rg_runtime)
end

--- This handle holds it no longer, and raises from then on.
function methods.release(self)
  check_held(self)
  records[self.rg_number].released = fail.place()
  let_go(self, records[self.rg_number].released)
end

fail.guard(methods, function(self) return ffi.istype(Handle, self) end, "a")

-- -- as a value -----------------------------------------------------------------------------------

local properties = {}
function properties.shape(self)
  local extents = place(self).extents
  return shape.of(extents, #extents)
end
function properties.type(self) return records[self.rg_number].type end

local meta = {}

meta.__index = fail.border(function(self, key)
  if type(key) ~= "string" then
    if item.holds_arrays(records[self.rg_number].type) then return item.get(place(self), key) end
    return view(self)[key]
  end
  if methods[key] then return methods[key] end
  if properties[key] then return properties[key](self) end
  return fail.argument(("%s has no '%s'"):format(records[self.rg_number].name, key))
end)
meta.__newindex = fail.border(function(self, key, v)
  if item.holds_arrays(records[self.rg_number].type) then return item.set(place(self), key, v) end
  view(self)[key] = v
end)
meta.__len = fail.border(function(self)
  check_held(self)
  return extents_of(self, api_of(self))[1]
end)
-- The elements that there are now; it may grow and shrink meanwhile.
function meta.__pairs(self)
  if records[self.rg_number].rank > 1 then return pairs(view(self)) end
  local k, count = -1, #self
  return function()
    k = k + 1
    if k < math.min(count, #self) then return k, self[k] end
  end
end
function meta.__ipairs()
  return fail.argument("ipairs counts from 1, and arrays from 0",
    "for i = 0, #a - 1 do, or pairs(a)")
end
function meta.__eq(a, b)
  return ffi.istype(Handle, a) and ffi.istype(Handle, b) and a.rg_counted == b.rg_counted
end
function meta.__concat(a, b) return tostring(a) .. tostring(b) end
function meta.__tostring(self)
  local name = records[self.rg_number].name
  if self.rg_counted == nil then return name .. ", released" end
  return ("%s [%s]"):format(name, table.concat(extents_of(self, api_of(self)), " x "))
end
meta.__gc = lib.finalizer(function(self)
  let_go(self, "the collector")
  records[self.rg_number] = nil
end)

Handle = ffi.metatype("RgCountedHandle", meta)

-- -- making them ----------------------------------------------------------------------------------

-- Of an array type; takes a reference of the caller's, who is in lib.quiet.
function new_handle(number, pointer, t)
  local vector = ffi.new "RgVector"
  last_number = last_number + 1
  records[last_number] = { name = t.name, type = t.item, rank = t.axes, vector = vector }
  vector.type, vector.count = t.name, 1
  vector.numbers[0].u64 = ffi.cast("uint64_t", ffi.cast("uintptr_t", pointer))
  lib.count_handle(number)
  return Handle(pointer, number, last_number)
end

function counted.is(what) return type(what) == "cdata" and ffi.istype(Handle, what) end

--- As messages call it: "an array(f32)".
function counted.describe(self) return "an " .. records[self.rg_number].name end

--- Its array type, as rg.array_type makes it.
function counted.type(self)
  local record = records[self.rg_number]
  return array_type.create(record.type, record.rank)
end

local share_quietly = lib.quietly(function(self, api)
  api.acquire(api, self.rg_counted)
  return new_handle(self.rg_runtime, self.rg_counted, counted.type(self))
end)

--- One more handle of the same array.
function counted.share(self)
  check_held(self)
  return share_quietly(self, (api_of(self)))
end

--- What an array is as a number.
function counted.address(self)
  return ffi.cast("uint64_t", ffi.cast("uintptr_t", self.rg_counted))
end

--- What a launch is given; as long as the handle is.
function counted.vector(self)
  check_held(self)
  return records[self.rg_number].vector
end

--- The header, borrowed, and the name of its elements' type.
function counted.header(self)
  check_held(self)
  api_of(self)
  return self.rg_counted, records[self.rg_number].type.name, records[self.rg_number].rank
end

--- A result of a kernel, whose reference becomes the handle's. The caller is in lib.quiet.
function counted.take(number, t, address)
  local pointer = ffi.cast("RgCounted *", ffi.cast("uintptr_t", address))
  if pointer == nil then return nil end
  local runtime = lib.runtimes[number]
  local api = C.rg_extension_api(runtime.c)
  runtime.new_bytes = runtime.new_bytes + tonumber(api.size(api, pointer))
  return new_handle(number, pointer, t)
end

local create_quietly = lib.quietly(function(number, c, t, extents, where)
  local rank = #extents
  check(C.rg_counted_create(c, t.name, ffi.new("int64_t[8]", extents), rank, where, counted_out),
    number)
  return new_handle(number, counted_out[0], array_type.create(t, rank))
end)

local function check_extents(what, extents)
  for _, n in ipairs(extents) do
    if type(n) ~= "number" or n % 1 ~= 0 or n < 0 then
      return fail.argument(("%s: an extent is a whole number from 0 on, not %s"):format(what,
        fail.describe(n)))
    end
    index.check_magnitude(what .. ": an extent", n)
  end
  if #extents < 1 or #extents > 8 then
    return fail.argument(what .. " takes 1 to 8 extents", what .. "(rg.f32, n)")
  end
end

local function create(session, what, t, extents)
  t = types.get(t, what)
  check_extents(what, extents)
  local number, c = session:get()
  if lib.oracle_of(number) then
    return fail.argument(what .. " from Lua has no memory with arch = \"lua\"",
      "kernels make such arrays, or arch = \"cpu\"")
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
    return fail.argument("rg.list takes the type of its elements alone", "rg.zeros(T, n) has some")
  end
  return create(session, "rg.list", t, { 0 })
end

return counted
