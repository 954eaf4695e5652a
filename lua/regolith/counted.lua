--- Counted arrays from Lua: `rg.zeros(T, n, ..)`, `rg.list(T)`, and what kernels return. A handle
--- is one of the holders of the memory; elements are read and written where kernels have them.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local types = require "regolith.type"
local array = require "regolith.array"
local array_type = require "regolith.array_type"

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
local function extents_of(self, api)
  local record, bytes = records[self.rg_number], tonumber(api.size(api, self.rg_counted))
  if record.rank == 1 then return { bytes / record.type.size } end
  local data = ffi.cast("const uint8_t *", api.data(api, self.rg_counted))
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
  local api, record = api_of(self), records[self.rg_number]
  local data, size = api.data(api, self.rg_counted), api.size(api, self.rg_counted)
  if record.view and record.data == data and record.size == size then return record.view end
  drop_view(record)
  record.view = adopt_quietly(api, self, record, extents_of(self, api))
  record.data, record.size = data, size
  return record.view
end

-- -- elements that are arrays ---------------------------------------------------------------------

-- Does an element hold a reference? Those are written by kernels, which count them.
local function holds_arrays(t)
  if t.item then return true end
  for _, member in ipairs(t.members or {}) do
    if holds_arrays(member.type) then return true end
  end
  return false
end

local function refuse_arrays(t, what)
  if not holds_arrays(t) then return end
  return fail.argument(("%s: elements of type %s hold arrays, which kernels write"):format(what,
    t.name), "a kernel makes it, and returns it")
end

local new_handle

-- Its array, held by one more handle; nil: it has none.
local item_quietly = lib.quietly(function(self, record, api, i)
  local from = ffi.cast("const uint64_t *", api.data(api, self.rg_counted))
  local pointer = ffi.cast("RgCounted *", ffi.cast("uintptr_t", from[i]))
  if pointer == nil then return nil end
  api.acquire(api, pointer)
  return new_handle(self.rg_runtime, pointer, record.type)
end)

local function item(self, i)
  check_held(self)
  local api, record = api_of(self), records[self.rg_number]
  local count = extents_of(self, api)[1]
  if record.rank > 1 or type(i) ~= "number" or i % 1 ~= 0 or i < 0 or i >= count then
    return fail.raise { code = "index.range",
      message = ("index %s is outside %s, which has %d elements"):format(tostring(i), record.name,
        count) }
  end
  return item_quietly(self, record, api, i)
end

-- -- methods --------------------------------------------------------------------------------------

local methods = {}

for _, name in ipairs { "get", "set", "fill", "to_table", "from_table", "copy_from" } do
  methods[name] = function(self, ...)
    refuse_arrays(records[self.rg_number].type, "a:" .. name)
    local elements = view(self)
    local result = elements[name](elements, ...)
    return result ~= elements and result or self
  end
end

--- The elements as a `rg.array` that shares the memory; it does not grow with it.
function methods.array(self)
  check_held(self)
  local api = api_of(self)
  return adopt_quietly(api, self, records[self.rg_number], extents_of(self, api))
end

local function check_list(self, what)
  check_held(self)
  if records[self.rg_number].rank > 1 then
    return fail.argument(what .. ": an array of several axes does not grow")
  end
end

local function resize(self, api, bytes, what)
  drop_view(records[self.rg_number])
  if api.resize(api, self.rg_counted, bytes) == 0 then
    return fail.argument(what .. ": there is no memory for it, or it is a part of another array")
  end
end

--- One more element; its index.
function methods.append(self, v)
  check_list(self, "a:append")
  refuse_arrays(records[self.rg_number].type, "a:append")
  local api, size = api_of(self), records[self.rg_number].type.size
  local bytes = tonumber(api.size(api, self.rg_counted))
  resize(self, api, bytes + size, "a:append")
  local ok, failure = pcall(methods.set, self, bytes / size, v)
  if ok then return bytes / size end
  resize(self, api, bytes, "a:append")
  return error(failure, 0)
end

--- The last element, which it then no longer has; nothing when it is empty.
function methods.pop(self)
  check_list(self, "a:pop")
  refuse_arrays(records[self.rg_number].type, "a:pop")
  local api, size = api_of(self), records[self.rg_number].type.size
  local count = tonumber(api.size(api, self.rg_counted)) / size
  if count == 0 then return nil end
  local v = methods.get(self, count - 1)
  resize(self, api, (count - 1) * size, "a:pop")
  return v
end

function methods.clear(self)
  check_list(self, "a:clear")
  refuse_arrays(records[self.rg_number].type, "a:clear")
  resize(self, api_of(self), 0, "a:clear")
end

--- How many hold it: handles, other arrays, extensions.
function methods.count(self)
  check_held(self)
  local api = api_of(self)
  local own = records[self.rg_number].view and 1 or 0
  return tonumber(api.count(api, self.rg_counted)) - own
end

local function let_go(self)
  local record = records[self.rg_number]
  local held = self.rg_counted
  if held == nil then return end
  local runtime = lib.runtimes[self.rg_runtime]
  self.rg_counted = nil
  if record.view and runtime and runtime.c then drop_view(record) end
  record.vector.numbers[0].u64 = 0
  record.api.release(record.api, held)
  lib.drop_handle(self.rg_runtime)
end

--- This handle holds it no longer, and raises from then on.
function methods.release(self)
  check_held(self)
  records[self.rg_number].released = fail.place()
  let_go(self)
end

fail.guard(methods, function(self) return ffi.istype(Handle, self) end, "a")

-- -- as a value -----------------------------------------------------------------------------------

local properties = {}
function properties.shape(self) return view(self).shape end
function properties.type(self) return records[self.rg_number].type end

local meta = {}

meta.__index = fail.border(function(self, key)
  if type(key) ~= "string" then
    if records[self.rg_number].type.item then return item(self, key) end
    return view(self)[key]
  end
  if methods[key] then return methods[key] end
  if properties[key] then return properties[key](self) end
  return fail.argument(("%s has no '%s'"):format(records[self.rg_number].name, key))
end)
meta.__newindex = fail.border(function(self, key, v)
  refuse_arrays(records[self.rg_number].type, "a[i] = v")
  view(self)[key] = v
end)
meta.__len = fail.border(function(self)
  check_held(self)
  return extents_of(self, (api_of(self)))[1]
end)
meta.__pairs = function(self) return pairs(view(self)) end
function meta.__eq(a, b)
  return ffi.istype(Handle, a) and ffi.istype(Handle, b) and a.rg_counted == b.rg_counted
end
function meta.__tostring(self)
  local name = records[self.rg_number].name
  if self.rg_counted == nil then return name .. ", released" end
  return ("%s [%s]"):format(name, table.concat(extents_of(self, (api_of(self))), " x "))
end
meta.__gc = lib.finalizer(function(self)
  let_go(self)
  records[self.rg_number] = nil
end)

Handle = ffi.metatype("RgCountedHandle", meta)

-- -- making them ----------------------------------------------------------------------------------

-- Of an array type; takes a reference of the caller's, who is in lib.quiet.
function new_handle(number, pointer, t)
  local vector = ffi.new "RgVector"
  last_number = last_number + 1
  records[last_number] = { name = t.name, type = t.item, rank = t.axes, vector = vector,
    api = C.rg_extension_api(lib.runtimes[number].c) }
  vector.type, vector.count = t.name, 1
  vector.numbers[0].u64 = ffi.cast("uint64_t", ffi.cast("uintptr_t", pointer))
  lib.count_handle(number)
  return Handle(pointer, number, last_number)
end

function counted.is(what) return type(what) == "cdata" and ffi.istype(Handle, what) end

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
  return new_handle(number, pointer, t)
end

local create_quietly = lib.quietly(function(number, c, t, extents, what)
  local api, bytes, rank = C.rg_extension_api(c), t.size, #extents
  for _, n in ipairs(extents) do bytes = bytes * n end
  local room = rank > 1 and math.ceil(bytes / 8) * 8 + 8 * rank or bytes
  local held = api.allocate(api, room)
  if held == nil then
    return fail.raise { code = "memory.budget",
      message = ("%s: there is no memory for %.0f bytes"):format(what, room),
      hint = "a larger budget: rg.init{ memory = \"8GiB\" }, or RG_MEMORY" }
  end
  local data = ffi.cast("uint8_t *", api.data(api, held))
  ffi.fill(data, room)
  if rank > 1 then
    local past = ffi.cast("int64_t *", data + room - 8 * rank)
    for k, n in ipairs(extents) do past[k - 1] = n end
    api.resize(api, held, bytes)
  end
  return new_handle(number, held, array_type.create(t, rank))
end)

local function check_extents(what, extents)
  for _, n in ipairs(extents) do
    if type(n) ~= "number" or n % 1 ~= 0 or n < 0 or n >= 2 ^ 53 then
      return fail.argument(("%s: an extent is a whole number from 0 on, not %s"):format(what,
        fail.describe(n)))
    end
  end
  if #extents < 1 or #extents > 8 then
    return fail.argument(what .. " takes 1 to 8 extents", what .. "(rg.f32, n)")
  end
end

local function create(session, what, t, extents)
  t = types.get(t, what)
  refuse_arrays(t, what)
  check_extents(what, extents)
  local number, c = session:get()
  if lib.oracle_of(number) then
    return fail.argument(what .. " from Lua has no memory with arch = \"lua\"",
      "kernels make such arrays, or arch = \"cpu\"")
  end
  local bytes = t.size
  for _, n in ipairs(extents) do bytes = bytes * n end
  session:account_array(bytes)
  return create_quietly(number, c, t, extents, what)
end

--- `rg.zeros(T, n, ..)`: zeros; of one axis, it can grow.
function counted.zeros(session, t, ...) return create(session, "rg.zeros", t, { ... }) end

--- `rg.list(T)`: an array without elements.
function counted.list(session, t) return create(session, "rg.list", t, { 0 }) end

return counted
