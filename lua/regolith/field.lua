--- Fields: handles by value, element access through one proxy type per depth, and the element
--- methods.
---
--- `x[i][j]` makes a RgRow1 with the field's number and `i`; its index `[j]` reads the element.
--- Rows hold numbers, not pointers, so a row that outlives its field finds nothing instead of freed
--- memory. Whole fields at once: field_bulk.lua.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local types = require "regolith.type"
local matrix = require "regolith.matrix"
local value = require "regolith.value"
local index = require "regolith.index"
local shape = require "regolith.shape"
local snode = require "regolith.snode"
local lists = require "regolith.list"
local bulk = require "regolith.field_bulk"
local update = require "regolith.field_update"

local field = {}

local C, check = lib.C, lib.check
local buffer = index.buffer
local slot = ffi.new "RgValue"

local Field
local by_number = setmetatable({}, { __mode = "v" }) -- number -> handle; numbers are never reused
local last_number = 0

local make_rows -- rank: the proxies of fields with this many axes

--- Lays the field's tree out, the first time; returns its rank.
local function settle(self)
  if self.rg_rank < 0 then
    snode.settle_by(C.rg_field_settle, self.rg_field, self.rg_runtime)
    self.rg_rank = C.rg_field_rank(self.rg_field)
    make_rows(self.rg_rank)
  end
  return self.rg_rank
end
field.settle = settle

-- -- elements -------------------------------------------------------------------------------------

-- A finalizer may index fields, too (lib.quiet): whoever fills the buffer or the slot has read
-- `pointer`, which is self.rg_field, before that, and calls one of these next.

-- The element at the first `count` indices of the buffer.
local function get_element(self, pointer, count)
  if self.rg_oracle ~= 0 then return lib.get_oracle(self.rg_runtime):get(self, count) end
  if C.rg_field_get(pointer, buffer, count, slot) ~= 0 then
    return lib.raise_last(self.rg_runtime)
  end
  local kind = slot.kind
  if kind == 1 then return slot.number end -- RG_VALUE_NUMBER
  return value.take(slot)
end

local function type_of(self) return types.named(ffi.string(C.rg_field_type(self.rg_field))) end

-- Into the slot; returns it converted to an element. Only plain values come here outside lib.quiet.
local function put_value(self, v)
  if type(v) == "table" then -- {3, 4} stands for rg.vec2(3, 4)
    local t = type_of(self)
    if t.element then v = t(v) end
  end
  if not value.put(slot, v) then
    return fail.argument(("an element of type %s cannot be %s")
      :format(ffi.string(C.rg_field_type(self.rg_field)), fail.describe(v)))
  end
  return v
end

local function set_element(self, pointer, count, v)
  v = put_value(self, v)
  if self.rg_oracle ~= 0 then return lib.get_oracle(self.rg_runtime):set(self, count, v) end
  if C.rg_field_set(pointer, buffer, count, slot) ~= 0 then
    return lib.raise_last(self.rg_runtime)
  end
end

local is_plain, quiet = value.is_plain, lib.quiet

local function get_handle(number)
  return by_number[number] or fail.raise {
    code = "handle.destroyed", message = "this row belongs to a field that was collected",
    hint = "keep the field itself in a variable",
  }
end

-- `x[{i, j}]` after `known` indices that are in the buffer already.
local function fill_list(given, known)
  local list, count = index.read_list(given)
  if known + count > 8 then return fail.argument("there are at most 8 axes", nil, "index.count") end
  for k = 1, count do buffer[known + k - 1] = index.check(list[k]) end
  return known + count
end

local function is_list(key)
  return type(key) == "table" or ffi.istype("RgShape", key) or matrix.type_of(key) ~= nil
end

local function too_few(self, count)
  return fail.argument(
    ("%d of %d indices: a whole row cannot be assigned"):format(count, self.rg_rank),
    "write many elements with from_table, copy_from or fill", "index.count")
end

-- Indexing of a row with `depth` indices, as a pair of functions that handle only scalars: LuaJIT
-- compiles `x[i][j]` to a call without garbage. For every depth the text differs only in its
-- members.
local row_template = [[
  local by_number, buffer, get_handle, get_element, set_element, other_get, other_set, too_few,
    NextRow, is_plain, quiet = ...
  local type = type
  local function index(self, key)
    if type(key) ~= "number" or key % 1 ~= 0 then return other_get(self, key) end
    local field = by_number[self.rg_number] or get_handle(self.rg_number)
    if field.rg_rank > DEPTH + 1 then return NextRow(self.rg_number, MEMBERS, key) end
    local pointer = field.rg_field
    STORES
    buffer[DEPTH] = key
    return get_element(field, pointer, DEPTH + 1)
  end
  local function set(self, key, v)
    if type(key) ~= "number" or key % 1 ~= 0 then return other_set(self, key, v) end
    local field = by_number[self.rg_number] or get_handle(self.rg_number)
    if field.rg_rank > DEPTH + 1 then return too_few(field, DEPTH + 1) end
    local pointer = field.rg_field
    STORES
    buffer[DEPTH] = key
    return set_element(field, pointer, DEPTH + 1, v)
  end
  local function newindex(self, key, v)
    if is_plain(v) then return set(self, key, v) end
    return quiet(set, self, key, v)
  end
  return index, newindex
]]

-- One piece of text per axis of a row.
local function per_axis(depth, format, separator)
  local parts = {}
  for axis = 1, depth do
    parts[axis] = format:gsub("MEMBER", "self.rg_i" .. axis):gsub("AXIS", tostring(axis - 1))
  end
  return table.concat(parts, separator)
end

-- Other keys of a row than plain numbers: lists of the remaining indices, 64-bit integers; else an
-- error.
local function row_indices(self, key, depth)
  local handle = get_handle(self.rg_number)
  for axis = 1, depth do buffer[axis - 1] = self["rg_i" .. axis] end
  if is_list(key) then return handle, fill_list(key, depth) end
  if type(key) == "string" then
    return fail.argument(("a row of a field has no '%s'"):format(key),
      "x:name(..) is called on the field itself")
  end
  buffer[depth] = index.check(key)
  return handle, depth + 1
end

local function make_row(depth)
  local other_get = lib.quietly(function(self, key)
    local handle, count = row_indices(self, key, depth)
    if count < handle.rg_rank and not is_list(key) then return self[tonumber(key)] end
    return get_element(handle, handle.rg_field, count)
  end)
  local other_set = lib.quietly(function(self, key, v)
    local handle, count = row_indices(self, key, depth)
    set_element(handle, handle.rg_field, count, v)
  end)
  local text = row_template:gsub("%u%u+", {
    DEPTH = tostring(depth), MEMBERS = per_axis(depth, "MEMBER", ", "),
    STORES = per_axis(depth, "buffer[AXIS] = MEMBER", "; "),
  })
  local get, set = loadstring(text, fail.own_chunk)(by_number, buffer, get_handle, get_element,
    set_element, other_get,
    other_set, too_few, depth < 7 and ffi.typeof("RgRow" .. depth + 1), is_plain, quiet)
  ffi.metatype("RgRow" .. depth, {
    __index = get, __newindex = set,
    __len = function(self)
      local handle = get_handle(self.rg_number)
      return shape.extent(shape.read(C.rg_field_shape, handle.rg_field, handle.rg_rank,
        handle.rg_runtime), depth)
    end,
    __tostring = function(self)
      local parts = {}
      for axis = 1, depth do parts[axis] = ("[%d]"):format(self["rg_i" .. axis]) end
      return ("row %s of %s"):format(table.concat(parts), tostring(get_handle(self.rg_number)))
    end,
  })
end

local row_count = 0
function make_rows(rank)
  while row_count < rank - 1 do
    row_count = row_count + 1
    make_row(row_count)
  end
end
local Row1 = ffi.typeof "RgRow1"

-- -- methods --------------------------------------------------------------------------------------

local methods = {}

function methods.get(self, ...)
  settle(self)
  local pointer = self.rg_field
  return get_element(self, pointer, index.fill(...))
end

local function set(self, rank, count, ...)
  local pointer = self.rg_field
  if count == 2 and is_list((...)) then
    local list, v = ...
    set_element(self, pointer, index.fill(list), v)
    return self
  end
  if count ~= rank + 1 then
    return fail.argument(
      ("x:set takes %d indices and a value, not %d arguments"):format(rank, count), nil,
      "index.count")
  end
  for k = 1, rank do buffer[k - 1] = index.check((select(k, ...))) end
  set_element(self, pointer, rank, (select(count, ...)))
  return self
end

function methods.set(self, ...)
  local rank, count = settle(self), select("#", ...)
  if count > 0 and is_plain((select(count, ...))) then return set(self, rank, count, ...) end
  return quiet(set, self, rank, count, ...)
end

--- Outside kernels: iterates over the active cells.
function methods.active(self)
  if self.rg_oracle ~= 0 and settle(self) then
    return lib.get_oracle(self.rg_runtime):elements_in(self)
  end
  return snode.iterate(settle(self), self.rg_runtime, function(state, indices)
    return C.rg_field_next(self.rg_field, state, indices, slot)
  end)
end

-- The node that a field's SNode calls act on.
local function node_of(self)
  settle(self)
  return C.rg_field_node(self.rg_field)
end

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

bulk.add_methods(methods, settle, put_value, slot)

update.add_methods(methods, {
  settle = settle, is_list = is_list, get = get_element, set = set_element,
})
fail.guard(methods, function(self) return ffi.istype(Field, self) end, "x")

-- A placed field has its shape before its tree is laid out.
local function shape_of(self)
  return shape.read(C.rg_field_shape, self.rg_field, C.rg_field_rank(self.rg_field),
    self.rg_runtime)
end

local properties = {
  shape = shape_of,
  offset = function(self)
    return shape.read(C.rg_field_offset, self.rg_field, C.rg_field_rank(self.rg_field),
      self.rg_runtime)
  end,
  name = function(self) return ffi.string(C.rg_field_name(self.rg_field)) end,
  type = type_of,
}

local function get_other(self, key)
  if type(key) == "string" then
    if methods[key] then return methods[key] end
    if properties[key] then return properties[key](self) end
    return fail.argument(("a field has no '%s'"):format(key),
      fail.nearest(key, snode.names_of(methods, properties)))
  end
  settle(self)
  local pointer = self.rg_field
  if is_list(key) then return get_element(self, pointer, fill_list(key, 0)) end
  return self[index.check(key)]
end

local function set_list(self, key, v)
  local pointer = self.rg_field
  return set_element(self, pointer, fill_list(key, 0), v)
end

local function set_other(self, key, v)
  if type(key) == "string" then
    return fail.argument(("'%s' of a field cannot be set"):format(key))
  end
  settle(self)
  if is_list(key) then return quiet(set_list, self, key, v) end
  self[index.check(key)] = v
end

-- The only element of a field without axes is x[0].
local function count_for(self, key)
  if self.rg_rank > 0 then return 1 end
  if key ~= 0 then
    return fail.argument(("index %s of a field with one element, whose only index is 0"):format(
      tostring(key)), nil, "index.range")
  end
  return 0
end

local meta = {}

function meta.__index(self, key)
  if type(key) ~= "number" or key % 1 ~= 0 then return get_other(self, key) end
  if self.rg_rank < 0 then settle(self) end
  if self.rg_rank > 1 then return Row1(self.rg_number, key) end
  local pointer = self.rg_field
  buffer[0] = key
  return get_element(self, pointer, count_for(self, key))
end

local function set_first(self, key, v)
  local pointer = self.rg_field
  buffer[0] = key
  return set_element(self, pointer, count_for(self, key), v)
end

function meta.__newindex(self, key, v)
  if type(key) ~= "number" or key % 1 ~= 0 then return set_other(self, key, v) end
  if self.rg_rank < 0 then settle(self) end
  if self.rg_rank > 1 then return too_few(self, 1) end
  if is_plain(v) then return set_first(self, key, v) end
  return quiet(set_first, self, key, v)
end

function meta.__len(self)
  local extents = shape_of(self)
  return #extents == 0 and 1 or shape.extent(extents, 0)
end

function meta.__eq(a, b)
  return ffi.istype(Field, a) and ffi.istype(Field, b) and a.rg_field == b.rg_field
end

function meta.__tostring(self)
  local name = ffi.string(C.rg_field_name(self.rg_field))
  local head = "field " .. ffi.string(C.rg_field_type(self.rg_field))
    .. (name ~= "" and (" %q"):format(name) or "")
  if C.rg_field_node(self.rg_field) == nil then return head .. ", not placed yet" end
  if C.rg_field_rank(self.rg_field) == 0 then return head .. ", one element" end
  local extents = {}
  for axis, size in pairs(shape_of(self)) do extents[axis + 1] = ("%d"):format(size) end
  return ("%s [%s]"):format(head, table.concat(extents, " x "))
end

--- Visits active cells: `for i, j, v in pairs(x)`.
function meta.__pairs(self)
  if self.rg_oracle ~= 0 and settle(self) then
    return lib.get_oracle(self.rg_runtime):elements_in(self, true)
  end
  local own_slot = ffi.new "RgValue" -- the loop's body may read other elements
  local step = snode.iterate(settle(self), self.rg_runtime, function(state, indices)
    return C.rg_field_next(self.rg_field, state, indices, own_slot)
  end, function() return value.take(own_slot) end)
  return type_of(self).element and lib.quietly(step) or step -- a vector is the core's for a while
end

function meta.__call()
  return fail.argument("a field cannot be called",
    "x[i][j] is an element; x:active() visits the active cells")
end

function meta.__ipairs()
  return fail.argument("ipairs counts from 1, and fields from 0",
    "for i = 0, #x - 1 do, or pairs(x) for the active cells")
end

for _, operator in ipairs { "add", "sub", "mul", "div", "mod", "pow", "unm" } do
  meta["__" .. operator] = function()
    return fail.argument("a field is not a number: arithmetic works on its elements, x[i]")
  end
end

function meta.__gc(self)
  if self.rg_oracle ~= 0 and lib.oracle_of(self.rg_runtime) then
    lib.oracle_of(self.rg_runtime):drop(self.rg_number)
  end
  C.rg_field_release(self.rg_field)
  self.rg_field = nil
  lib.drop_handle(self.rg_runtime)
end

Field = ffi.metatype("RgFieldHandle", meta)

-- -- rg.field -------------------------------------------------------------------------------------

local field_out = ffi.new "RgField *[1]"

local function new_field(session, t, name)
  local number, c = session:get()
  check(C.rg_field_create(c, t.name, name, field_out), number)
  lib.count_handle(number)
  last_number = last_number + 1
  local handle = Field(field_out[0], number, last_number, -1, lib.oracle_of(number) and 1 or 0)
  by_number[last_number] = handle
  return handle
end

-- Lua's numbers count by ones up to here.
local function check_magnitude(what, n)
  if math.abs(n) < 2 ^ 53 then return end
  return fail.argument(("%s of %.0f is too large: it must be less than 2^53 (%.0f)"):format(what, n,
    2 ^ 53))
end

local function check_extents(extents)
  if #extents > 8 then
    return fail.argument(("a field has at most 8 axes, not %d"):format(#extents))
  end
  for _, size in ipairs(extents) do
    if type(size) ~= "number" or size % 1 ~= 0 or size < 1 then
      return fail.argument(
        "an extent of a field is a positive whole number, not " .. fail.describe(size))
    end
    check_magnitude("an extent", size)
  end
end

-- `offset = {-8, -8}`: where indices start.
local function check_offset(offset, extents)
  if type(offset) ~= "table" then
    return fail.argument("an offset is a table of whole numbers, not " .. fail.describe(offset))
  end
  if not extents then
    return fail.argument("an offset needs a shape",
      "rg.field{ type = T, shape = {16, 16}, offset = {-8, -8} }")
  end
  if #offset ~= #extents then
    return fail.argument(("an offset of %d numbers for a shape of %d"):format(#offset, #extents),
      "one for each axis")
  end
  for _, start in ipairs(offset) do
    if type(start) ~= "number" or start % 1 ~= 0 then
      return fail.argument("an offset is a whole number, not " .. fail.describe(start))
    end
    check_magnitude("an offset", start)
  end
end

local field_options = { "type", "shape", "name", "offset", "layout" }

-- `rg.field{ type = T, shape = {n, m}, name = "x" }`
local function from_options(session, options)
  fail.check_options(options, field_options, "rg.field")
  if options.type == nil then
    return fail.argument("rg.field{..} needs a type", "rg.field{ type = rg.f32, shape = {n, m} }")
  end
  local t = types.get(options.type, "rg.field")
  local name, layout = snode.check_name(options.name), options.layout
  snode.check_layout(layout)
  local extents = options.shape
  if type(extents) == "number" then extents = { extents } end
  if extents ~= nil and type(extents) ~= "table" then
    return fail.argument("a shape is a table of whole numbers, not " .. fail.describe(extents))
  end
  if extents then check_extents(extents) end
  local offset = options.offset
  if type(offset) == "number" then offset = { offset } end
  if offset ~= nil then check_offset(offset, extents) end
  local x = new_field(session, t, name)
  if extents then
    snode.place_densely(session, x, name, extents, layout or (t.element and "aos" or nil))
  end
  if offset then
    check(C.rg_field_set_offset(x.rg_field, ffi.new("int64_t[8]", offset), #offset), x.rg_runtime)
  end
  return x
end

--- `rg.field(T)` is to be placed later; `rg.field(T, n, m)` has its own tree.
function field.create(session, t, ...)
  if type(t) == "table" and not types.is(t) then return from_options(session, t) end
  local extents, count = { ... }, select("#", ...)
  local scalar = types.get(t, "rg.field")
  for k = 1, count do
    if extents[k] == nil then
      return fail.argument("an extent of a field is a positive whole number, not nothing")
    end
  end
  local options = type(extents[count]) == "table" and table.remove(extents) or {}
  return from_options(session, {
    type = scalar, name = options.name, layout = options.layout, offset = options.offset,
    shape = options.shape or (#extents > 0 and extents or nil),
  })
end

-- What messages call our handles.
local kinds = { RgFieldHandle = "a field", RgNodeHandle = "an SNode", RgTreeHandle = "a tree",
  RgShape = "a shape" }
function fail.describe_cdata(v)
  for name, kind in pairs(kinds) do
    if ffi.istype(name, v) then return kind end
  end
  if ffi.istype("int64_t", v) or ffi.istype("uint64_t", v) then
    return ("a number (%s)"):format(tostring(v))
  end
  for depth = 1, 7 do
    if ffi.istype("RgRow" .. depth, v) then return "a row of a field" end
  end
  return "a C value"
end

return field
