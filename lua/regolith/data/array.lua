--- Arrays, dense elements outside every tree: the handles of what `rg.array(T, n, m)` makes, of
--- memory that exists already (`rg.wrap(pointer, T, shape)`), and of what kernels and extensions
--- make. rg_value is 1 where the array is a value that kernels pass on and may make longer
--- (counted.lua), -1 where it is a view of such an array's elements, else 0.
--- Elements by their indices are in element.lua, whole arrays in bulk.lua.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local types = require "regolith.data.type"
local packed = require "regolith.data.packed"
local index = require "regolith.data.index"
local shape = require "regolith.data.shape"
local snode = require "regolith.data.snode"
local element = require "regolith.data.element"
local counted = require "regolith.data.counted"
local view = require "regolith.data.view"

local array = {}

local C, check = lib.C, lib.check

local Array
-- number -> what a wrap keeps alive: the pointer, and what it points into
local owners = {}
local last_number = 0
-- The memory of wraps whose handles are gone while something else still holds it: { hold, owner }.
local lingering = {}

-- Drops a reference that this module holds.
local function let_go(hold)
  if hold.rg_counted == nil then return end
  hold.rg_api.release(hold.rg_api, hold.rg_counted)
  hold.rg_counted = nil
  lib.drop_handle(hold.rg_runtime)
end

local Hold = ffi.metatype("RgHold", { __gc = lib.finalizer(let_go) })

-- Keeps the owner of a wrap that is about to go, as long as others hold its memory.
local function linger(self)
  local owner, runtime = owners[self.rg_number], lib.runtimes[self.rg_runtime]
  owners[self.rg_number] = nil
  local header = owner and runtime and runtime.c and C.rg_array_header(self.rg_array)
  local api = header and header ~= nil and C.rg_extension_api(runtime.c)
  if not api or api.count(api, header) < 2 then return end
  api.acquire(api, header)
  lib.count_handle(self.rg_runtime)
  lingering[#lingering + 1] = { Hold(api, header, self.rg_runtime), owner }
end

--- Releases the memory that only this module still holds.
function array.sweep()
  for k = #lingering, 1, -1 do
    local hold = lingering[k][1]
    if hold.rg_counted == nil or hold.rg_api.count(hold.rg_api, hold.rg_counted) < 2 then
      table.remove(lingering, k)
      let_go(hold)
    end
  end
end

local function settle(self) return self.rg_rank end

local function type_of(self)
  lib.check_pointer(self.rg_array, self.rg_runtime)
  return types.named(ffi.string(C.rg_array_type(self.rg_array)))
end

local elements = element.kind { article = "an", noun = "array", example = "a",
  handle = "RgArrayHandle", pointer = "rg_array", prefix = "rg_array_", row = "RgArrayRow",
  settle = settle, type_of = type_of }
array.by_number = elements.by_number

-- -- methods --------------------------------------------------------------------------------------

local methods = {}

elements.add_access(methods)
local get, set = methods.get, methods.set

-- Whether the array has one element, which needs no index.
local function is_single(self) return self.rg_rank == 1 and #self == 1 end

function methods.get(self, ...)
  if select("#", ...) == 0 and is_single(self) then return get(self, 0) end
  return get(self, ...)
end

function methods.set(self, ...)
  if select("#", ...) == 1 and is_single(self) then return set(self, 0, (...)) end
  return set(self, ...)
end

local function shape_of(self)
  return shape.read(C.rg_array_shape, self.rg_array, self.rg_rank, self.rg_runtime)
end

local function strides_of(self)
  return shape.read(C.rg_array_strides, self.rg_array, self.rg_rank, self.rg_runtime)
end

local function byte_count(self)
  local count = type_of(self).size
  for _, extent in pairs(shape_of(self)) do count = count * extent end
  return count
end

-- Raises if the elements are not contiguous.
local function check_block(self, what)
  if self.rg_oracle ~= 0 then
    return fail.argument("an array of arch = \"lua\" has no memory to point to",
      "use a:to_table()")
  end
  local step, strides, extents = type_of(self).size, strides_of(self), shape_of(self)
  for axis = self.rg_rank - 1, 0, -1 do
    if extents[axis] > 1 and strides[axis] ~= step then
      return fail.argument(("%s: the elements of %s are not contiguous"):format(what,
        tostring(self)), "a:to_table(), or copy it: rg.array(T, ..):copy_from(a)")
    end
    step = step * extents[axis]
  end
end

--- Raises if the elements are not contiguous, which `what` needs.
array.check_block = check_block

--- Pointer to the first element; valid as long as the array exists and does not grow.
function methods.pointer(self)
  settle(self)
  if self.rg_oracle ~= 0 then return check_block(self) end
  local pointer_out = ffi.new "void *[1]"
  check(C.rg_array_pointer(self.rg_array, pointer_out), self.rg_runtime)
  return ffi.cast(types.pointer(type_of(self)), pointer_out[0])
end

--- All elements' bytes, as they are in memory.
function methods.to_string(self)
  settle(self)
  check_block(self, "a:to_string")
  local bytes = ffi.new("uint8_t[?]", byte_count(self))
  check(C.rg_array_read_bytes(self.rg_array, bytes, byte_count(self)), self.rg_runtime)
  return ffi.string(bytes, byte_count(self))
end

-- A string's bytes, or those in a string.buffer, without a copy: pointer, length.
local function bytes_of(text)
  if type(text) == "string" then return text, #text end
  if type(text) == "userdata" and pcall(function() return text.ref end) and text.ref then
    return text:ref()
  end
end

--- All elements from such bytes, of a string or a LuaJIT buffer.
function methods.from_string(self, text)
  settle(self)
  local from, length = bytes_of(text)
  if not from then
    return fail.argument("a:from_string takes a string or a string.buffer, not "
      .. fail.describe(text))
  end
  local own = byte_count(self)
  if tonumber(length) ~= own then
    return fail.argument(("a:from_string is given %d bytes, but %s has %d"):format(
      tonumber(length), tostring(self), own))
  end
  if owners[self.rg_number] and owners[self.rg_number].is_constant then
    return fail.argument("a wrapped string can only be read")
  end
  check_block(self, "a:from_string")
  check(C.rg_array_write_bytes(self.rg_array, from, own), self.rg_runtime)
  return self
end

-- Moves a run to the next elements along the last axis: the rest of a row that a launch has
-- interrupted, or the next row.
local function next_row(self, c, run)
  local last = self.rg_rank - 1
  check(C.rg_array_view(self.rg_array, c), self.rg_runtime) -- raises if it is gone
  local is_inside = run.used < run.count
  local axis = run.has_begun == 1 and not is_inside and last - 1 or last
  run.index[last] = is_inside and run.index[last] + run.used or 0
  while axis >= 0 and axis < last do
    run.index[axis] = run.index[axis] + 1
    if run.index[axis] < c.extent[axis] then break end
    run.index[axis] = 0
    axis = axis - 1
  end
  run.has_begun = 1
  run.count = axis >= 0 and c.extent[last] - run.index[last] or 0
  local first = c.first
  for k = 0, last do first = first + run.index[k] * c.stride[k] end
  run.first, run.alive, run.stride, run.step = first, c.alive, c.stride[last], c.step
end

-- Every index in order, with or without the elements.
local function walk(self, with_value)
  local c, t = ffi.new "RgView", type_of(self)
  if t.members or self.rg_oracle ~= 0 then return nil end
  check(C.rg_array_view(self.rg_array, c), self.rg_runtime)
  if c.first == nil then return nil end -- its memory is not on the host
  return view.walk(self, "rg_array", self.rg_rank, t, with_value, function(run)
    next_row(self, c, run)
  end, methods.get)
end

-- The same, one index at a time, like an odometer.
local function each_index(self, with_value)
  local by_rows = walk(self, with_value)
  if by_rows then return by_rows end
  local extents, rank, at = shape_of(self), self.rg_rank, {}
  local is_live = self.rg_value == 1 and rank == 1 -- it may become shorter meanwhile
  for axis = 1, rank do at[axis] = 0 end
  at[rank] = -1
  return function()
    local axis = rank
    at[axis] = at[axis] + 1
    if is_live and at[1] >= #self then return nil end
    while axis > 0 and at[axis] >= extents[axis - 1] do
      at[axis] = 0
      axis = axis - 1
      if axis == 0 then return nil end
      at[axis] = at[axis] + 1
    end
    if not with_value then return unpack(at, 1, rank) end
    at[rank + 1] = self:get(unpack(at, 1, rank))
    return unpack(at, 1, rank + 1)
  end
end

--- All indices, in order: elements of an array always exist.
function methods.active(self)
  settle(self)
  return each_index(self)
end

--- Frees its memory; the handle raises from then on.
function methods.destroy(self)
  settle(self)
  local where = fail.place()
  linger(self)
  check(C.rg_array_destroy(self.rg_array, where), self.rg_runtime)
  counted.forget(self.rg_number)
  if self.rg_oracle ~= 0 then lib.get_oracle(self.rg_runtime):drop_array(self.rg_number) end
end

--- The same, under the name used for shared memory: other holders may keep the memory.
methods.release = methods.destroy

for _, name in ipairs { "activate", "deactivate", "is_active", "items" } do
  methods[name] = function()
    return fail.argument(("an array has no '%s': its elements always exist"):format(name),
      "it is a method of fields and nodes of a tree")
  end
end

counted.begin(array, methods)
elements.add_methods(methods)

local properties = {
  shape = shape_of,
  strides = strides_of,
  name = function(self) return ffi.string(C.rg_array_name(self.rg_array)) end,
  type = type_of,
}

local meta = {}

elements.add_metamethods(meta, methods, properties)

meta.__len = fail.border(function(self) return shape_of(self)[0] end)

function meta.__eq(a, b)
  if not (ffi.istype(Array, a) and ffi.istype(Array, b)) then return false end
  local header = C.rg_array_header(a.rg_array)
  return a.rg_array == b.rg_array or header ~= nil and header == C.rg_array_header(b.rg_array)
end

function meta.__tostring(self)
  if self.rg_array == nil then return lib.describe_ended "array" end
  local name = ffi.string(C.rg_array_name(self.rg_array))
  local head = ("array %s%s"):format(ffi.string(C.rg_array_type(self.rg_array)),
    name ~= "" and (" %q"):format(name) or "")
  local extents = ffi.new "int64_t[8]"
  if C.rg_array_shape(self.rg_array, extents) ~= 0 then return head .. ", destroyed" end
  local parts = {}
  for axis = 1, self.rg_rank do parts[axis] = ("%d"):format(tonumber(extents[axis - 1])) end
  return ("%s [%s]"):format(head, table.concat(parts, " x "))
end

--- All elements: `for i, j, v in pairs(a)`.
function meta.__pairs(self) return each_index(self, true) end

meta.__gc = lib.handle_finalizer("rg_array", C.rg_array_release, function(self)
  linger(self)
  if self.rg_oracle ~= 0 and lib.oracle_of(self.rg_runtime) then
    lib.oracle_of(self.rg_runtime):drop_array(self.rg_number)
  end
  elements.drop(self.rg_number)
  counted.drop(self.rg_number)
end)

Array = ffi.metatype("RgArrayHandle", meta)

--- For each existing array of a runtime: its description, and the bytes that it owns (wraps: 0).
function array.report(number)
  local list = {}
  for _, handle in pairs(elements.by_number) do
    local extents = ffi.new "int64_t[8]"
    local is_own = handle.rg_value == 0 and handle.rg_runtime == number
    if is_own and C.rg_array_shape(handle.rg_array, extents) == 0 then
      local text = tostring(handle)
      list[#list + 1] = { number = handle.rg_number, name = properties.name(handle),
        type = ffi.string(C.rg_array_type(handle.rg_array)), text = text:sub(#"array " + 1),
        live = owners[handle.rg_number] and 0 or byte_count(handle) }
    end
  end
  table.sort(list, function(a, b) return a.number < b.number end)
  for _, row in ipairs(list) do row.number = nil end
  return list
end

-- -- rg.array -------------------------------------------------------------------------------------

local array_out = ffi.new "RgArray *[1]"

-- The caller is in lib.quiet: nothing else owns the core's new object.
local function new_handle(number, rank, value)
  lib.count_handle(number)
  last_number = last_number + 1
  local handle = Array(array_out[0], number, last_number, rank, lib.oracle_of(number) and 1 or 0,
    value or 0)
  elements.by_number[last_number] = handle
  return handle
end

-- A shape as a list of at most eight whole numbers; of one element, which needs no extent, { 1 }.
local function check_extents(extents, what)
  if type(extents) == "number" then extents = { extents } end
  if type(extents) ~= "table" and not ffi.istype("RgShape", extents) then
    return fail.argument(("a shape must be a table of whole numbers, got %s"):format(
      fail.describe(extents)))
  end
  extents = index.read_list(extents)
  if #extents == 0 then return { 1 } end -- arrays in kernels have at least one axis
  if #extents > 8 then
    return fail.argument(("%s takes at most 8 extents, not %d"):format(what, #extents),
      "rg.array(rg.f32, n, m)")
  end
  for _, size in ipairs(extents) do index.check_extent("an extent of an array", size, 0) end
  return extents
end

local counted_out = ffi.new "RgCounted *[1]"

--- The header of its memory, borrowed, for calls that read and write there.
function array.counted(self, what)
  settle(self)
  if self.rg_oracle ~= 0 then
    return fail.argument(what .. " is an array of arch = \"lua\", which has no memory to share")
  end
  if owners[self.rg_number] and owners[self.rg_number].is_constant then
    return fail.argument(what .. " is a wrapped string, which can only be read")
  end
  check_block(self, what)
  check(C.rg_array_counted(self.rg_array, counted_out), self.rg_runtime)
  return counted_out[0]
end

-- Raises if a call failed that would have taken over the reference to the memory, and releases it.
local function check_taken(number, counted_memory, status)
  if status == 0 then return end
  local api = C.rg_extension_api(lib.runtimes[number].c)
  api.release(api, counted_memory)
  check(status, number)
end

--- An array of this type that a kernel or an extension made; takes the caller's reference. The
--- caller is in lib.quiet.
function array.take(number, counted_memory, t)
  local c = lib.runtimes[number].c
  check_taken(number, counted_memory,
    C.rg_array_take(c, counted_memory, t.item.name, t.axes, array_out))
  return new_handle(number, t.axes, 1)
end

--- Its elements as an array that does not grow, with a reference of its own.
array.adopt = lib.quietly(function(number, counted_memory, name, extents)
  local c = lib.runtimes[number].c
  local api = C.rg_extension_api(c)
  api.acquire(api, counted_memory)
  check_taken(number, counted_memory, C.rg_array_adopt(c, counted_memory, name,
    ffi.new("int64_t[8]", extents), #extents, array_out))
  return new_handle(number, #extents, -1)
end)

local create_quietly = lib.quietly(function(number, c, t, extents, name)
  check(C.rg_array_create(c, t.name, ffi.new("int64_t[8]", extents), #extents, name, array_out),
    number)
  return new_handle(number, #extents)
end)

local function create(session, t, extents, name)
  local bytes, number, c = t.size, session:get()
  for _, size in ipairs(extents) do bytes = bytes * size end
  session:account_array(bytes)
  return create_quietly(number, c, t, extents, name)
end

local buffer_quietly = lib.quietly(function(number, c, t, extents)
  check(C.rg_client_empty(c, t.name, ffi.new("int64_t[8]", extents), #extents, array_out), number)
  return new_handle(number, #extents)
end)

--- For the client: extents may be 0.
function array.create_buffer(session, t, extents)
  local bytes, number, c = t.size, session:get()
  if #extents > 8 then
    return fail.argument(("a buffer has 1 to 8 extents, not %d"):format(#extents))
  end
  for _, size in ipairs(extents) do bytes = bytes * size end
  session:account_array(bytes)
  return buffer_quietly(number, c, t, extents)
end

--- Likewise, but uses the client's memory only if an extent is 0.
function array.create_empty(session, t, extents)
  for _, size in ipairs(extents) do
    if size == 0 then return array.create_buffer(session, t, extents) end
  end
  return array.create(session, t, unpack(extents))
end

local read_quietly = lib.quietly(function(number, c, stream, buffer)
  check(C.rg_client_read_async(c, stream, buffer.rg_array, array_out), number)
  return new_handle(number, buffer.rg_rank)
end)

--- Likewise: a copy whose contents come later.
function array.read_async(session, stream, buffer)
  local number, c = session:get()
  session:account_array(byte_count(buffer))
  return read_quietly(number, c, stream, buffer)
end

--- For pictures: an array with the contents of a file.
array.read_image = lib.quietly(function(session, path, gamma)
  local number, c = session:get()
  check(C.rg_image_read(c, path, gamma, array_out), number)
  return new_handle(number, 2)
end)

function array.is(what) return type(what) == "cdata" and ffi.istype(Array, what) end

--- A list of an array's extents.
function array.extents(handle)
  local list, extents = {}, handle.shape
  for axis = 1, #extents do list[axis] = tonumber(extents[axis - 1]) end
  return list
end

local array_options = { "type", "shape", "name" }

-- `rg.array{ type = T, shape = {n, m}, name = "a" }`
local function from_options(session, options)
  fail.check_options(options, array_options, "rg.array")
  if options.type == nil or options.shape == nil then
    return fail.argument("rg.array{..} needs a type and a shape",
      "rg.array{ type = rg.f32, shape = {n, m} }")
  end
  return create(session, types.get(options.type, "rg.array"),
    check_extents(options.shape, "rg.array"), snode.check_name(options.name))
end

--- `rg.array(T, n, m)`: zeros.
function array.create(session, t, ...)
  if type(t) == "table" and not types.is(t) and not packed.is(t) then
    return from_options(session, t)
  end
  local extents, options = index.split_extents("an extent of an array", 0, ...)
  fail.check_options(options, array_options, "rg.array")
  if #extents == 0 and options.shape == nil then
    return fail.argument("rg.array needs its extents",
      "rg.array(rg.f32, n, m); one element: rg.array(rg.f32, 1)")
  end
  return from_options(session, { type = types.get(t, "rg.array"), name = options.name,
    shape = #extents > 0 and extents or options.shape })
end

-- -- rg.wrap --------------------------------------------------------------------------------------

local wrap_options = { "strides", "owner", "name" }

local function check_strides(strides, rank)
  if strides == nil then return end
  if type(strides) ~= "table" or #strides ~= rank then
    return fail.argument(("strides are a table of %d numbers, one for each axis"):format(rank),
      "in bytes, from one element to the next: {strides = {4 * m, 4}}")
  end
  for _, stride in ipairs(strides) do
    if type(stride) ~= "number" or stride % 1 ~= 0 or math.abs(stride) >= 2 ^ 53 then
      return fail.argument("a stride must be a whole number of bytes, got "
        .. fail.describe(stride))
    end
  end
  return ffi.new("int64_t[8]", strides)
end

-- How far the array reaches into the memory, in bytes from its first element.
local function last_byte(t, extents, strides)
  local past, step = t.size, t.size
  for _, size in ipairs(extents) do
    if size == 0 then return 0 end
  end
  for axis = #extents, 1, -1 do
    local stride = strides and tonumber(strides[axis - 1]) or step
    if stride > 0 then past = past + stride * (extents[axis] - 1) end
    step = step * extents[axis]
  end
  return past
end

-- Where the memory is, and its bytes where they are known: a pointer, an FFI array or struct, a
-- string, a string.buffer.
local function memory_of(what)
  local text, length = bytes_of(what)
  if text then
    return ffi.cast("const uint8_t *", text), tonumber(length), type(what) == "string"
  end
  if type(what) ~= "cdata" or ffi.istype(Array, what) or ffi.istype("RgFieldHandle", what) then
    return fail.argument("rg.wrap takes an FFI pointer or array, a string or a string.buffer, not "
      .. fail.describe(what), "x:pointer() of a field or an array")
  end
  local is_pointer, pointer = pcall(ffi.cast, "const volatile void *", what)
  if not is_pointer or not tostring(ffi.typeof(what)):find "[%*%]&%)]" then
    return fail.argument("rg.wrap takes a pointer or an array, not " .. fail.describe(what),
      "ffi.new(\"float[?]\", n) is an array")
  end
  if pointer == nil then
    return fail.argument("rg.wrap: the pointer is NULL")
  end
  local bytes = tostring(ffi.typeof(what)):find "%[" and not tostring(ffi.typeof(what)):find "%("
    and ffi.sizeof(what)
  return ffi.cast("const uint8_t *", pointer), bytes
end

local float_types = { float = "f32", double = "f64" }

-- Memory that C declares as floats or doubles holds no other numbers; a cast says that it does.
local function check_element(what, t)
  local declared = type(what) == "cdata" and tostring(ffi.typeof(what)):match "(%a+) [%[%*%(]"
  local own, asked = float_types[declared], (t.element or t).name
  if not own or t.members or own == asked then return end
  return fail.argument(("rg.wrap: the memory holds numbers of type '%s', not %s"):format(declared,
    asked), ("rg.%s, or ffi.cast(\"uint8_t *\", memory) if it holds other numbers"):format(own))
end

-- Keeps what `wrap` points to, which nothing else may hold.
local wrap_quietly = lib.quietly(function(number, c, wrap, ...) -- luacheck: ignore
  check(C.rg_array_wrap(c, wrap, array_out), number)
  return new_handle(number, wrap.rank)
end)

--- `rg.wrap(pointer, T, shape, { strides = {..}, owner = .. })`: memory as an array, without a
--- copy. The pointer and `owner` are kept as long as the array.
function array.wrap(session, what, t, extents, options)
  options = fail.options(options, wrap_options, "rg.wrap")
  t = types.get(t, "rg.wrap")
  if extents == nil then
    return fail.argument("rg.wrap needs a shape", "rg.wrap(pointer, rg.f32, {n, m})")
  end
  extents = check_extents(extents, "rg.wrap")
  local number, c = session:get()
  if lib.oracle_of(number) then
    return fail.argument("an array of arch = \"lua\" cannot be in other memory",
      "rg.array(T, ..):from_table(t), or arch = \"cpu\"")
  end
  local pointer, bytes, is_constant = memory_of(what)
  check_element(what, t)
  local strides = check_strides(options.strides, #extents)
  local needed = last_byte(t, extents, strides)
  if bytes and needed > bytes then
    return fail.argument(("rg.wrap: %s of shape {%s} take %.0f bytes, but the memory has %.0f")
      :format(t.name, table.concat(extents, ", "), needed, bytes))
  end
  local wrap, shape_in = ffi.new "RgWrap", ffi.new("int64_t[8]", extents)
  local type_name, name = t.name, snode.check_name(options.name)
  wrap.struct_size, wrap.rank = ffi.sizeof "RgWrap", #extents
  wrap.pointer, wrap.type, wrap.shape = ffi.cast("void *", pointer), type_name, shape_in
  wrap.strides, wrap.name = strides, name
  wrap.constant = is_constant and 1 or 0
  local handle = wrap_quietly(number, c, wrap, what, type_name, shape_in, strides, name)
  owners[handle.rg_number] = { what, options.owner, is_constant = is_constant }
  return handle
end

return array
