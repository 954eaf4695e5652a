--- Fields: handles by value, and their methods.
--- element.lua accesses single elements, bulk.lua whole fields.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local types = require "regolith.data.type"
local matrix = require "regolith.data.matrix"
local packed = require "regolith.data.packed"
local index = require "regolith.data.index"
local shape = require "regolith.data.shape"
local snode = require "regolith.data.snode"
local lists = require "regolith.data.list"
local element = require "regolith.data.element"
local view = require "regolith.data.view"

local field = {}

local C, check = lib.C, lib.check
local buffer = index.buffer

local Field
local last_number = 0
local gradients, duals = {}, {} -- the handles of these fields, by the number of their field

--- Lays out the field's tree if that has not happened yet; returns the field's rank.
local function settle(self)
  if self.rg_rank < 0 then
    snode.settle_by(C.rg_field_settle, self.rg_field, self.rg_runtime)
    local rank = C.rg_field_rank(self.rg_field)
    self.rg_rank = rank
  end
  return self.rg_rank
end
field.settle = settle

-- -- elements -------------------------------------------------------------------------------------

local function type_of(self)
  lib.check_pointer(self.rg_field, self.rg_runtime)
  return types.named(ffi.string(C.rg_field_type(self.rg_field)))
end

local kind = { article = "a", noun = "field", example = "x", handle = "RgFieldHandle",
  pointer = "rg_field", prefix = "rg_field_", row = "RgRow", settle = settle, type_of = type_of,
  has_runs = true,
  list_length = function(self, count)
    return lists.length_here(C.rg_field_node(self.rg_field), self.rg_runtime, count)
  end }
local elements = element.kind(kind)
field.by_number = elements.by_number -- of rows: number -> handle
field.alone = {} -- numbers of fields with a tree of their own, to which nothing can be added

-- -- methods --------------------------------------------------------------------------------------

local methods = {}

elements.add_access(methods)

-- Returns the element that an iterator has reached. Its indices may be int64_t past 2^53.
local function get_visited(self, ...)
  local pointer, count = self.rg_field, select("#", ...)
  if not index.fill_first(count, ...) then
    for k = 1, count do buffer[k - 1] = (select(k, ...)) end
  end
  return kind.get(self, pointer, count)
end

local function walk(self, wants_values)
  local rank = settle(self)
  return view.walk(self, "rg_field", rank, type_of(self), wants_values, function(run)
    check(C.rg_field_next_run(self.rg_field, run), self.rg_runtime)
  end, get_visited)
end

--- Outside kernels: iterates over the active cells.
function methods.active(self)
  if self.rg_oracle ~= 0 and settle(self) then
    return lib.get_oracle(self.rg_runtime):elements_in(self)
  end
  return walk(self, false)
end

-- The node that a field's SNode calls act on.
local function node_of(self)
  settle(self)
  return C.rg_field_node(self.rg_field)
end

--- The drawing of its tree.
function field.draw(self) return snode.draw(node_of(self), self.rg_runtime) end

-- Fills the buffer with indices of the node, which start at 0.
local function fill_cell(self, ...)
  local count, starts = index.fill(...), ffi.new "int64_t[8]"
  check(C.rg_field_offset(self.rg_field, starts), self.rg_runtime)
  for k = 0, math.min(count, self.rg_rank) - 1 do buffer[k] = buffer[k] - starts[k] end
  return count
end
local call_cell = lib.quietly(function(self, node, action, ...)
  return snode.call(node, self.rg_runtime, action, fill_cell(self, ...))
end)
function methods.activate(self, ...)
  call_cell(self, node_of(self), "activate", ...)
  return self
end
function methods.deactivate(self, ...)
  call_cell(self, node_of(self), "deactivate", ...)
  return self
end
function methods.is_active(self, ...)
  return call_cell(self, node_of(self), "is_active", ...) ~= 0
end
function methods.count(self) return snode.call(node_of(self), self.rg_runtime, "count", 0) end
function methods.clear(self)
  snode.call(node_of(self), self.rg_runtime, "clear", 0)
  return self
end

function methods.append(self, ...) return lists.append(node_of(self), self.rg_runtime, ...) end
function methods.length(self, ...) return lists.length(node_of(self), self.rg_runtime, ...) end
function methods.pop(self, ...)
  return lists.pop(node_of(self), self.rg_runtime, self.rg_field, ...)
end
function methods.items(self, ...)
  return lists.items(node_of(self), self.rg_runtime, self.rg_field, ...)
end

--- From now on, a launch that writes a NaN or an infinity into the field fails; false ends that.
function methods.watch(self, is_watched)
  if is_watched ~= nil and type(is_watched) ~= "boolean" then
    return fail.argument(("watch takes true or false, not %s"):format(fail.describe(is_watched)))
  end
  check(C.rg_field_watch(self.rg_field, is_watched == false and 0 or 1), self.rg_runtime)
end

--- Returns a pointer to the first element of a dense field. It is valid after rg.sync(), until the
--- next launch.
function methods.pointer(self)
  settle(self)
  if self.rg_oracle ~= 0 then
    return fail.argument(
      "a field of arch = \"lua\" has no memory to point to", "use x:to_table()")
  end
  local pointer_out = ffi.new "void *[1]"
  check(C.rg_field_pointer(self.rg_field, pointer_out), self.rg_runtime)
  return ffi.cast(types.pointer(type_of(self)), pointer_out[0])
end

elements.add_methods(methods)

-- The shape of a placed field is known before its tree is laid out.
local function shape_of(self)
  return shape.read(C.rg_field_shape, self.rg_field, C.rg_field_rank(self.rg_field),
    self.rg_runtime)
end

local function require_gradient(self)
  return field.gradient(self) or fail.argument(("%s has no gradient"):format(tostring(self)),
    "make it with one: rg.field(rg.f32, n, { grad = true })")
end

local function require_dual(self)
  return field.dual(self) or fail.argument(("%s has no dual"):format(tostring(self)),
    "make it with one: rg.field(rg.f32, n, { dual = true })")
end

-- The packed type; nil: its numbers are stored as they are.
local function packing_of(self)
  local name = C.rg_field_packing(self.rg_field)
  return name ~= nil and packed.named(ffi.string(name)) or nil
end

local properties = {
  shape = shape_of,
  offset = function(self)
    return shape.read(C.rg_field_offset, self.rg_field, C.rg_field_rank(self.rg_field),
      self.rg_runtime)
  end,
  name = function(self) return ffi.string(C.rg_field_name(self.rg_field)) end,
  type = type_of, packing = packing_of,
  grad = require_gradient, dual = require_dual,
}

local meta = {}

elements.add_metamethods(meta, methods, properties)

meta.__len = fail.border(function(self)
  local length = lists.length_here(node_of(self), self.rg_runtime, 0)
  if length then return length end
  local extents = shape_of(self)
  return #extents == 0 and 1 or shape.extent(extents, 0)
end)

function meta.__eq(a, b)
  return ffi.istype(Field, a) and ffi.istype(Field, b) and a.rg_field == b.rg_field
end

function meta.__tostring(self)
  if self.rg_field == nil then return lib.describe_ended "field" end
  local name = ffi.string(C.rg_field_name(self.rg_field))
  local head = "field "
    .. (packing_of(self) or { text = ffi.string(C.rg_field_type(self.rg_field)) }).text
    .. (name ~= "" and (" %q"):format(name) or "")
  if C.rg_field_node(self.rg_field) == nil then return head .. ", not placed yet" end
  if C.rg_field_rank(self.rg_field) == 0 then return head .. ", one element" end
  local extents = {}
  for axis, size in pairs(shape_of(self)) do
    extents[axis + 1] = size == 0 and "unbounded" or ("%d"):format(size)
  end
  return ("%s [%s]"):format(head, table.concat(extents, " x "))
end

--- Visits active cells: `for i, j, v in pairs(x)`.
meta.__pairs = fail.border(function(self)
  if self.rg_oracle ~= 0 and settle(self) then
    return lib.get_oracle(self.rg_runtime):elements_in(self, true)
  end
  return walk(self, true)
end)

meta.__gc = lib.handle_finalizer("rg_field", C.rg_field_release, function(self)
  if self.rg_oracle ~= 0 and lib.oracle_of(self.rg_runtime) then
    lib.oracle_of(self.rg_runtime):drop(self.rg_number)
  end
  elements.drop(self.rg_number)
  gradients[self.rg_number], duals[self.rg_number] = nil, nil
  field.alone[self.rg_number] = nil
end)

Field = ffi.metatype("RgFieldHandle", meta)

-- -- rg.field -------------------------------------------------------------------------------------

local field_out = ffi.new "RgField *[1]"

-- Must be called inside lib.quiet, or without any allocation since field_out was set, because a
-- finalizer could overwrite it.
local function new_handle(number)
  lib.count_handle(number)
  last_number = last_number + 1
  local handle = Field(field_out[0], number, last_number, -1, lib.oracle_of(number) and 1 or 0)
  elements.by_number[last_number] = handle
  return handle
end

local function new_field(session, t, name)
  local number, c = session:get()
  check(C.rg_field_create(c, t.name, name, field_out), number)
  return new_handle(number)
end

local add_gradient = lib.quietly(function(x)
  check(C.rg_field_add_gradient(x.rg_field, field_out), x.rg_runtime)
  gradients[x.rg_number] = new_handle(x.rg_runtime)
end)

local function add_one_dual(x)
  check(C.rg_field_add_dual(x.rg_field, field_out), x.rg_runtime)
  duals[x.rg_number] = new_handle(x.rg_runtime)
end

local add_dual = lib.quietly(function(x)
  add_one_dual(x)
  if gradients[x.rg_number] then add_one_dual(gradients[x.rg_number]) end
end)

--- The field where adjoint kernels add the gradient of x, or nil. It is placed with x.
function field.gradient(x) return field.is(x) and gradients[x.rg_number] or nil end

--- The field with derivatives of x along a direction that shares no memory with its gradient, or
--- nil. It is placed with x.
function field.own_dual(x) return field.is(x) and duals[x.rg_number] or nil end

--- Where tangents of kernels write derivatives of x, or nil.
function field.dual(x) return field.own_dual(x) or field.gradient(x) end

--- The fields that are placed with x.
function field.derivatives(x)
  local list = {}
  local function add(made)
    if not made then return end
    list[#list + 1] = made
    add(duals[made.rg_number])
  end
  add(gradients[x.rg_number])
  add(duals[x.rg_number])
  return list
end
snode.derivatives = field.derivatives

--- Returns rank `rank`'s copy of the field, which a window makes accessible (comm.lua).
field.peer = lib.quietly(function(window, rank, x)
  check(C.rg_window_peer_field(window, rank, x.rg_field, field_out), x.rg_runtime)
  return new_handle(x.rg_runtime)
end)

-- The handles of the fields that are placed with x.
local function hold_derivatives(x)
  for list, get in pairs { [gradients] = C.rg_field_gradient, [duals] = C.rg_field_dual } do
    check(get(x.rg_field, field_out), x.rg_runtime)
    if field_out[0] ~= nil then
      local made = new_handle(x.rg_runtime)
      list[x.rg_number] = made
      hold_derivatives(made)
    end
  end
end

--- A handle of a field that something else holds, too.
field.held = lib.quietly(function(number, pointer)
  C.rg_field_retain(pointer)
  field_out[0] = pointer
  local x = new_handle(number)
  hold_derivatives(x)
  return x
end)

function field.is(what) return type(what) == "cdata" and ffi.istype(Field, what) end

local function check_extents(extents)
  if #extents > 8 then
    return fail.argument(("a field has at most 8 axes, not %d"):format(#extents))
  end
  for _, size in ipairs(extents) do index.check_extent("an extent of a field", size, 1) end
end

-- `offset = {-8, -8}`: where indices start.
local function check_offset(offset, extents)
  if type(offset) ~= "table" then
    return fail.argument("an offset must be a table of whole numbers, got "
      .. fail.describe(offset))
  end
  if not extents then
    return fail.argument("an offset needs a shape",
      "rg.field{ type = T, shape = {16, 16}, offset = {-8, -8} }")
  end
  if #offset ~= #extents then
    return fail.argument(("the offset has %d numbers, but the shape has %d axes"):format(#offset,
      #extents), "give one number for each axis")
  end
  for _, start in ipairs(offset) do
    if type(start) ~= "number" or start % 1 ~= 0 then
      return fail.argument("an offset must be a whole number, got " .. fail.describe(start))
    end
    index.check_magnitude("an offset", start)
  end
end

--- Lets the indices of a field start at these.
function field.set_offset(x, offset)
  check(C.rg_field_set_offset(x.rg_field, ffi.new("int64_t[8]", offset), #offset), x.rg_runtime)
end

local field_options = { "type", "shape", "name", "offset", "layout", "grad", "dual" }

local function add_derivatives(x, options)
  local has_dual = fail.typed_option(options, "dual", "boolean", "rg.field")
  if fail.typed_option(options, "grad", "boolean", "rg.field") then add_gradient(x) end
  if has_dual then add_dual(x) end
end

-- `rg.field{ type = T, shape = {n, m}, name = "x" }`
local function from_options(session, options)
  fail.check_options(options, field_options, "rg.field")
  if options.type == nil then
    return fail.argument("rg.field{..} needs a type", "rg.field{ type = rg.f32, shape = {n, m} }")
  end
  local t = types.get(options.type, "rg.field", true)
  local name, layout = snode.check_name(options.name), options.layout
  snode.check_layout(layout)
  local extents = options.shape
  if type(extents) == "number" then extents = { extents } end
  if extents ~= nil and type(extents) ~= "table" then
    return fail.argument("a shape must be a table of whole numbers, got " .. fail.describe(extents))
  end
  if extents then check_extents(extents) end
  local offset = options.offset
  if type(offset) == "number" then offset = { offset } end
  if offset ~= nil then check_offset(offset, extents) end
  local x = new_field(session, t, name)
  add_derivatives(x, options)
  if extents then
    snode.place_densely(session, x, name, extents,
      layout or (t.count and not field.dual(x) and "aos" or nil))
    field.alone[x.rg_number] = true
  end
  if offset then field.set_offset(x, offset) end
  return x
end

--- `rg.field(T)` makes a field to be placed later; `rg.field(T, n, m)` makes one in a tree of its
--- own.
function field.create(session, t, ...)
  if packed.is_group(t) then
    return fail.argument("rg.field takes a type, not a group of packed fields",
      "place the group: rg.root:dense(\"i\", n):place(group)", "type.invalid")
  end
  if type(t) == "table" and not types.is(t) and not packed.is(t) then
    return from_options(session, t)
  end
  local scalar = types.get(t, "rg.field", true)
  local extents, options = index.split_extents("an extent of a field", 1, ...)
  fail.check_options(options, field_options, "rg.field")
  return from_options(session, {
    type = scalar, name = options.name, layout = options.layout, offset = options.offset,
    shape = options.shape or (#extents > 0 and extents or nil), grad = options.grad,
    dual = options.dual,
  })
end

--- `rg.packed{ x = T, y = T }`: fields whose numbers share words, to be placed as one.
function field.packed(session, members, options)
  return packed.group(function(t, name) return new_field(session, t, name) end, members, options)
end

-- The names of handles in messages.
local descriptions = { RgFieldHandle = "a field",
  RgNodeHandle = "an SNode", RgTreeHandle = "a tree",
  RgMemberView = "a view of a member", RgMemberRow = "a row of a view",
  RgShape = "a shape" }
function fail.describe_cdata(v)
  for name, description in pairs(descriptions) do
    if ffi.istype(name, v) then return description end
  end
  if ffi.istype("RgArrayHandle", v) then
    return "an array of " .. ffi.string(lib.C.rg_array_type(v.rg_array))
  end
  if ffi.istype("int64_t", v) or ffi.istype("uint64_t", v) then
    return tostring(v)
  end
  for depth = 1, 7 do
    if ffi.istype("RgRow" .. depth, v) then return "a row of a field" end
    if ffi.istype("RgArrayRow" .. depth, v) then return "a row of an array" end
  end
  local vector = matrix.type_of(v)
  return vector and fail.a(vector.name) or "a C value"
end

return field
