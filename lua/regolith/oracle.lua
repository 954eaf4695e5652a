--- The oracle, arch = "lua": kernels run as Lua text on data in Lua tables, and the tests compare
--- compiled kernels with them. The core parses and types kernels and declarations, and checks
--- handles, indices and values. This side stores elements, activates cells and runs kernels;
--- oracle/tree.lua and oracle/number.lua do most of it.
local ffi = require "ffi"
local lib = require "regolith.lib"
local sink = require "regolith.sink"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local value = require "regolith.data.value"
local vector = require "regolith.oracle.vector"
local oracle_tree = require "regolith.oracle.tree"
local oracle_array = require "regolith.oracle.array"
local oracle_element = require "regolith.oracle.element"
local oracle_counted = require "regolith.oracle.counted"
local oracle_list = require "regolith.oracle.list"
local oracle_message = require "regolith.oracle.message"
local oracle_check = require "regolith.oracle.check"
local oracle_derivative = require "regolith.oracle.derivative"
local oracle_random = require "regolith.random"

local oracle = {}
oracle.__index = oracle

local C, check, buffer = lib.C, lib.check, index.buffer
local slot, result = ffi.new "RgValue", ffi.new "int64_t[1]"

--- The data of a runtime. The data of a tree lives as long as a handle of the tree, of one of its
--- nodes or of one of its fields.
function oracle.create(runtime)
  local trees = setmetatable({}, { __mode = "v" }) -- address in the core -> data
  return setmetatable({ runtime = runtime, trees = trees, owned = {}, fields = {}, numbers = {},
    arrays = {}, values = setmetatable({}, { __mode = "v" }),
    answers = setmetatable({}, { __mode = "k" }), -- by the buffer for results of compiled kernels
    outside = 0, blocks = 0, headers = 0, bytes_to_check = 0 }, oracle)
end

local key_of = oracle_tree.key_of

--- Registers a new tree. Its address may be that of a tree that was freed, whose data it replaces.
function oracle:begin_tree(tree)
  local key, data = key_of(tree), oracle_tree.create(self.runtime, self)
  -- A handle will own it later; until then, the weak table alone would not keep it.
  self.owned[key], self.trees[key] = data, data
end

--- Empties the data of a destroyed tree.
function oracle:empty_tree(tree)
  local data = self.trees[key_of(tree)]
  if data then data.root, data.levels = {}, {} end
end

--- Registers a new handle of a node.
function oracle:own_node(node)
  self.owned[key_of(node)] = self.trees[key_of(C.rg_snode_tree(node))]
end

--- Registers a field that was placed; `is_derivative`: it has the derivatives of another field.
function oracle:own_field(handle, is_derivative)
  local node = C.rg_field_node(handle.rg_field)
  local data = self.trees[key_of(C.rg_snode_tree(node))]
  local fields = oracle_tree.fields(data, node)
  local packing = C.rg_field_packing(handle.rg_field)
  fields[#fields + 1] = { type = ffi.string(C.rg_field_type(handle.rg_field)),
    packing = packing ~= nil and ffi.string(packing) or nil, is_derivative = is_derivative,
    key = key_of(handle.rg_field), held = setmetatable({ handle }, { __mode = "v" }) }
  self.owned[handle.rg_number], self.numbers[handle.rg_number] = data, #fields
end

--- Removes a collected handle, given by its pointer or its field's number.
function oracle:drop(what)
  if type(what) ~= "number" then what = key_of(what) end
  self.owned[what], self.fields[what], self.numbers[what] = nil, nil, nil
end

--- Removes an array, collected or destroyed, by its number.
function oracle:drop_array(number) self.arrays[number], self.values[number] = nil, nil end

-- Returns a node's level. Raises if the tree or the runtime no longer exists.
local function level_of(self, node)
  check(C.rg_snode_settle(node, "its first use"), self.runtime)
  return oracle_tree.level(self.trees[key_of(C.rg_snode_tree(node))], node)
end

local starts = ffi.new "int64_t[8]"

-- Returns the level with indices that start at the field's offset.
local function moved(handle, level)
  check(C.rg_field_offset(handle.rg_field, starts), handle.rg_runtime)
  local first, is_moved = {}, false
  for k = 1, level.rank do
    first[k] = tonumber(starts[k - 1])
    is_moved = is_moved or first[k] ~= 0
  end
  return is_moved and oracle_tree.moved(level, first) or level
end

-- Describes a write outside the shape of the elements `own`, for the warning. The kernel is three
-- calls above this function's caller.
local function describe_stray(own, ...)
  local numbers = {}
  for k = 1, select("#", ...) do
    local i = select(k, ...)
    numbers[k] = type(i) == "number" and ("%d"):format(i) or tostring(i):match "^-?%d+"
  end
  return { elements = own, index = table.concat(numbers, ", "),
    line = debug.getinfo(5, "l").currentline }
end

local function count_outside(self)
  return function(own, ...)
    self.outside = self.outside + 1
    self.stray = self.stray or describe_stray(own, ...)
  end
end

local extents = ffi.new "int64_t[8]"

local elements_of_array = lib.quietly(function(self, handle)
  -- Raises for a destroyed array.
  check(C.rg_array_shape(handle.rg_array, extents), handle.rg_runtime)
  local elements = self.arrays[handle.rg_number]
  if elements then return elements end
  local shape = {}
  for axis = 1, handle.rg_rank do shape[axis] = tonumber(extents[axis - 1]) end
  local level = oracle_array.level(shape, ffi.string(C.rg_array_type(handle.rg_array)))
  elements = oracle_element.create(level, 1, count_outside(self))
  self.arrays[handle.rg_number] = elements
  return elements
end)

-- Wraps a script's array as the arrays that kernels make. There is one table per array, so that
-- `==` of two references works.
local function value_of(self, handle)
  local known = self.values[handle.rg_number]
  if known then return known end
  known = oracle_counted.of_elements(elements_of_array(self, handle), handle)
  self.values[handle.rg_number] = known
  return known
end

-- Turns an array that a kernel created and returns into an array of the script.
local function export(self, name, made)
  local t, sizes = require("regolith.data.type").named(name), made.extents or { made.count }
  local session = lib.runtimes[self.runtime].session[1]
  local handle = require("regolith.data.array").create_empty(session, t.item, sizes)
  local elements, all = elements_of_array(self, handle), made.of or made
  for k = 1, made.count do
    elements:set(all[(made.first or 0) + k], oracle_counted.indices_of(k - 1, sizes))
  end
  made.handle = handle -- a kernel may return one array twice: both results are one handle
  return handle
end

-- Returns the elements of a field or an array. A field's tree must be laid out.
local function elements_of(self, handle)
  if ffi.istype("RgArrayHandle", handle) then return elements_of_array(self, handle) end
  local level = level_of(self, C.rg_field_node(handle.rg_field))
  local elements = self.fields[handle.rg_number]
  if not elements or (elements.level.base or elements.level) ~= level then
    elements = oracle_element.create(moved(handle, level), self.numbers[handle.rg_number],
      count_outside(self), lib.runtimes[self.runtime].checks_range and function()
        self.outside = self.outside + 1
      end)
    self.fields[handle.rg_number] = elements
  end
  return elements
end

-- The functions of the C interface for a handle's kind, and the member that holds its pointer.
local of_fields = { get = C.rg_field_get, convert = C.rg_field_convert, copy = C.rg_field_copy,
  read = C.rg_field_read, write = C.rg_field_write, pointer = "rg_field" }
local of_arrays = { get = C.rg_array_get, convert = C.rg_array_convert, copy = C.rg_array_copy,
  read = C.rg_array_read, write = C.rg_array_write, pointer = "rg_array" }
local function core_of(handle)
  local calls = ffi.istype("RgArrayHandle", handle) and of_arrays or of_fields
  return calls, handle[calls.pointer]
end

-- -- elements from Lua ----------------------------------------------------------------------------

local function indices(count)
  local list = {}
  for k = 1, count do list[k] = tonumber(buffer[k - 1]) end
  return list
end

-- Lets the core check the indices: it reads an element of its own tree, which is empty.
local function check_index(handle, count)
  local core, pointer = core_of(handle)
  check(core.get(pointer, buffer, count, slot), handle.rg_runtime)
end

-- x[0] is the element of a field without axes.
local function place_in(elements, count)
  return unpack(indices(math.min(count, elements.level.rank)))
end

function oracle:get(handle, count)
  check_index(handle, count)
  local elements = elements_of(self, handle)
  return vector.to_lua(elements.type, elements:get(place_in(elements, count)))
end

-- Converts `v` to the element type of the field, by the core's rules.
local function convert(handle, v)
  local own = ffi.new "RgValue"
  local core, pointer = core_of(handle)
  value.put(own, v)
  check(core.convert(pointer, own, own), handle.rg_runtime)
  return vector.from_lua(value.take(own))
end

function oracle:set(handle, count, v)
  check_index(handle, count)
  local list = indices(count)
  v = convert(handle, v)
  local elements = elements_of(self, handle)
  elements:set(v, unpack(list, 1, math.min(count, elements.level.rank)))
end

-- -- cells from Lua -------------------------------------------------------------------------------

-- The number of indices that an action takes: those of a cell, or of a list.
local function rank_of(level, action)
  return level.lists and action == "deactivate" and level.rank - 1 or level.rank
end

--- Calls activate, deactivate, is_active, count or clear for a C node.
function oracle:call(node, action, count)
  local level = level_of(self, node)
  local list = indices(count)
  local needs_pointer = (action == "deactivate" and level.holds_all)
    or (action == "clear" and not level:is_sparse())
  local is_list = level.lists and action == "deactivate"
  -- for its errors, the core makes the same call or, since its tree is empty, a similar one
  local similar = (needs_pointer or is_list) and action or (action == "count" or action == "clear")
    and "count" or "is_active"
  check(C.rg_snode_call(node, similar, buffer, count, result), self.runtime)
  local answer = level[action](level, unpack(list, 1, math.min(count, rank_of(level, action))))
  return action == "is_active" and (answer and 1 or 0) or action == "count" and tonumber(answer)
    or 0
end

-- A loop in a kernel visits the cells that were active when it began; a loop in Lua skips those
-- that have been deactivated since.
local function iterate(level, value_at, in_kernel)
  if not value_at and not level:is_sparse() and level.rank > 0 then
    local bounds = {}
    for k, size in ipairs(level.shape) do
      local first = level.first and level.first[k] or 0
      bounds[2 * k - 1], bounds[2 * k] = first, first + size
    end
    return vector.range(unpack(bounds))
  end
  local list, k = level:list(), 0
  return function()
    repeat
      k = k + 1
    until in_kernel or not list[k] or level:is_active(unpack(list[k], 1, level.rank))
    local one = list[k]
    if not one then return end
    local count = #one
    if value_at then one[count + 1] = value_at(one) end
    return unpack(one, 1, value_at and count + 1 or count)
  end
end

--- Iterates over the active cells of a node.
function oracle:cells_of(node) return iterate(level_of(self, node)) end

--- Iterates over the active cells of a field, with their values if `wants_value`.
function oracle:elements_in(handle, wants_value)
  local elements = elements_of(self, handle)
  return iterate(elements.level, wants_value and function(one)
    return vector.to_lua(elements.type, elements:get(unpack(one, 1, elements.level.rank)))
  end)
end

-- -- lists from Lua -------------------------------------------------------------------------------

-- The names of a node and of its tree, as reports show them.
local function names_of(self, node)
  local row, number = ffi.new "RgNodeMemory", 0
  while C.rg_memory_node(lib.runtimes[self.runtime].c, number, row) == 0 do
    if row.node == node then return ffi.string(row.name), ffi.string(row.tree) end
    number = number + 1
  end
  return "", ""
end

-- Raises if a list became full in a launch or a call from Lua.
local function check_full(self)
  local level = oracle_list.full
  oracle_list.full = nil
  if not level then return end
  local name, tree = names_of(self, level.node)
  return fail.raise {
    code = "list.full", message = ("%s (dynamic) of %s is full: it has at most %d elements"):format(
      name == "" and "a list" or "list '" .. name .. "'", tree == "" and "a tree" or "tree '"
        .. tree .. "'", level.sizes[1]),
    hint = "the elements that fit were kept; declare a longer list: :dynamic(\"k\", n)",
  }
end

-- Returns the list that the first indices in the buffer address. The core raises for wrong indices.
local function list_at(self, node, count)
  local level = level_of(self, node)
  check(C.rg_snode_call(node, "length", buffer, count, result), self.runtime)
  return level, { 0, unpack(indices(count)) }
end

-- The numbers of a level's fields: that of `field`, or of all that are not derivatives.
local function numbers_of(level, field)
  local numbers = {}
  for k, one in ipairs(level.fields) do
    local is_wanted = field and one.key == key_of(field) or not field and not one.is_derivative
    if is_wanted then numbers[#numbers + 1] = k end
  end
  return numbers
end

local function to_lua(level, numbers, values)
  for k, number in ipairs(numbers) do
    values[k] = vector.to_lua(level.fields[number].type, values[k])
  end
  return unpack(values, 1, #numbers)
end

function oracle:length(node, count)
  local level, at = list_at(self, node, count)
  return oracle_list.length(level, at)
end

--- The core converts the values or raises: they are appended to its own list, which is emptied
--- afterwards.
function oracle:append(node, count, values, value_count)
  local level, at = list_at(self, node, count)
  check(C.rg_snode_append(node, buffer, count, values, value_count, result), self.runtime)
  local numbers, own, given = {}, { unpack(at, 2) }, 0
  for k, axis in ipairs(level.level_axes) do
    if axis == level.axes[1] then table.insert(own, k, 0) end
  end
  local element = ffi.new("int64_t[8]", own)
  for k, one in ipairs(level.fields) do
    if one.is_derivative then
      numbers[k] = oracle_element.zero(one.type)
    else
      check(C.rg_snode_value(node, given, element, level.rank, slot), self.runtime)
      numbers[k], given = vector.from_lua(value.take(slot)), given + 1
    end
  end
  check(C.rg_snode_call(node, "deactivate", buffer, count, result), self.runtime)
  local answer = oracle_list.append(level, at, unpack(numbers))
  check_full(self)
  return answer
end

function oracle:pop(node, field, count)
  local level, at = list_at(self, node, count)
  local numbers = numbers_of(level, field)
  local others, values = {}, {}
  for k = 2, #numbers do
    others[#others + 1], others[#others + 2] = numbers[k], k
  end
  values[1] = oracle_list.pop(level, at, values, numbers[1], unpack(others))
  return to_lua(level, numbers, values)
end

function oracle:items(node, field, count)
  local level, at = list_at(self, node, count)
  local numbers = numbers_of(level, field)
  local step = oracle_list.items(level, at, unpack(numbers))
  local function show(k, ...)
    if k then return k, to_lua(level, numbers, { ... }) end
  end
  return function() return show(step()) end
end

-- -- whole fields ---------------------------------------------------------------------------------

-- Calls visit(k, i, j, ..) for every element in row-major order.
local function each(level, visit)
  local at_index, first, k = {}, {}, 0
  for axis = 1, level.rank do
    first[axis] = level.first and level.first[axis] or 0
    at_index[axis] = first[axis]
  end
  local total = 1
  for axis = 1, level.rank do total = total * level.shape[axis] end
  while k < total do
    visit(k, unpack(at_index))
    k = k + 1
    for axis = level.rank, 1, -1 do
      at_index[axis] = at_index[axis] + 1
      if at_index[axis] < first[axis] + level.shape[axis] then break end
      at_index[axis] = first[axis]
    end
  end
end

-- Calls visit(i, j, ..) for every active element, without a list of them if all are active.
local function each_active(level, visit)
  if not level:is_sparse() then
    return each(level, function(_, ...) return visit(...) end)
  end
  for _, one in ipairs(level:list()) do visit(unpack(one, 1, level.rank)) end
end

function oracle:fill(handle, v)
  v = convert(handle, v)
  local elements = elements_of(self, handle)
  if elements.fill then return elements:fill(v) end
  each_active(elements.level, function(...) elements:set(v, ...) end)
end

-- Converts each component by the conversion of its type.
local function convert_each(to, v)
  if type(v) ~= "table" then return to[1](v) end
  local converted = {}
  for k, x in ipairs(v) do converted[k] = to[k](x) end
  return converted
end

function oracle:copy(handle, from)
  local core, pointer = core_of(handle)
  -- The core raises for different shapes.
  check(core.copy(pointer, from[core.pointer]), self.runtime)
  local target, source = elements_of(self, handle), elements_of(self, from)
  local is_same = target.type == source.type
  if is_same and target.fill and source.fill then return target:copy(source) end
  local to = {}
  for k, scalar in ipairs(target.scalars) do
    to[k] = vector[("to_%s_%s"):format(scalar, source.scalars[k])]
  end
  local from_first, to_first = source.level.first, target.level.first
  each_active(source.level, function(...)
    local v = convert_each(to, source:get(...))
    if not from_first and not to_first then return target:set(v, ...) end
    local there = { ... }
    for k = 1, #there do
      there[k] = there[k] - (from_first and from_first[k] or 0) + (to_first and to_first[k] or 0)
    end
    target:set(v, unpack(there))
  end)
end

-- Raises if the level has an unbounded axis.
local function check_ends(handle, level)
  for _, extent in ipairs(level.shape) do
    if extent == 0 then
      local core, pointer = core_of(handle)
      check(core.read(pointer, ffi.new "double[1]", 0), handle.rg_runtime)
    end
  end
end

--- Copies all elements into an array of doubles or int64_t; the components of a vector are
--- adjacent.
function oracle:read(handle, values)
  local elements = elements_of(self, handle)
  check_ends(handle, elements.level)
  if elements.fill then return elements:read(values) end
  each(elements.level, function(k, ...)
    local v = vector.join(elements:get(...))
    for part, x in ipairs(v) do
      if type(x) == "boolean" then x = x and 1 or 0 end
      values[k * elements.count + part - 1] = x
    end
  end)
end

-- Converts one element to its type in the field. The core raises for values that do not fit, except
-- 64-bit integers and components of vectors, which were converted before.
local function number_from(handle, elements, part, x)
  local scalar = elements.scalars[part]
  if scalar == "bool" then return x ~= 0 end
  local from = type(x) == "number" and "f64" or "i64"
  local converted = vector[("to_%s_%s"):format(scalar, from)](x)
  local is_narrow = from == "f64" and not elements.is_table and not scalar:find "^f"
  if is_narrow and converted ~= x then convert(handle, x) end
  return converted
end

--- Copies an array of numbers into the elements; zeros activate nothing.
function oracle:write(handle, values)
  local elements = elements_of(self, handle)
  check_ends(handle, elements.level)
  if elements.fill then
    return elements:write(values, function(part, x)
      return number_from(handle, elements, part, x)
    end)
  end
  each(elements.level, function(k, ...)
    local v, is_zero = {}, true
    for part = 1, elements.count do
      local x = values[k * elements.count + part - 1]
      is_zero = is_zero and x == 0
      v[part] = number_from(handle, elements, part, x)
    end
    if not is_zero or elements.level:is_active(...) then
      if elements.is_table then elements:set(v, ...) else elements:set(v[1], ...) end
    end
  end)
end

--- Copies the elements into the core's memory, for calls that only the core has, such as pictures.
function oracle:copy_to_core(handle)
  local level = elements_of(self, handle).level
  local count = 1
  for axis = 1, level.rank do count = count * level.shape[axis] end
  count = count * elements_of(self, handle).count
  local values = ffi.new("double[?]", count)
  self:read(handle, values)
  local core, pointer = core_of(handle)
  check(core.write(pointer, values, count), self.runtime)
end

-- -- for snapshots --------------------------------------------------------------------------------

--- The level of a node, and the elements of an array or field.
function oracle:level(node) return level_of(self, node) end
function oracle:elements(handle) return elements_of(self, handle) end

-- -- memory ---------------------------------------------------------------------------------------

--- Fills in a node's row of rg.memory() if the node is sparse or below a sparse one: its active
--- cells and bytes.
function oracle:measure(report, row, node)
  local level = level_of(self, node)
  if not level:is_sparse() then return end
  local before = row.live
  row.cells, row.live = level:usage()
  row.reserved = math.max(row.reserved, row.live)
  if level.holds_all then return end
  report.live, report.reserved = report.live + row.live - before, report.reserved + row.live
    - before
  report.peak = math.max(report.peak, report.reserved)
end

-- Bytes in use: the core's own memory (dense trees, arrays) and the sparse cells in Lua tables.
local function bytes_in_use(self)
  local c, memory = lib.runtimes[self.runtime].c, ffi.new "RgMemory"
  check(C.rg_memory(c, memory), self.runtime)
  local bytes, row, number = tonumber(memory.live), ffi.new "RgNodeMemory", 0
  while C.rg_memory_node(c, number, row) == 0 do
    local level = level_of(self, row.node)
    -- Dense levels below a sparse one are included in the bytes of the sparse one.
    if not level.holds_all then
      local _, live = level:usage()
      bytes = bytes + live - tonumber(row.live)
    end
    number = number + 1
  end
  return bytes
end

local function size_text(bytes)
  for _, unit in ipairs { "bytes", "KiB", "MiB" } do
    if bytes < 1024 then return ("%.4g %s"):format(bytes, unit) end
    bytes = bytes / 1024
  end
  return ("%.4g GiB"):format(bytes)
end

local function fail_budget(self, level, bytes)
  local name, tree = names_of(self, level.node)
  name = name == "" and "a node" or "'" .. name .. "'"
  tree = tree == "" and "a tree" or "tree '" .. tree .. "'"
  return fail.raise {
    code = "memory.budget",
    message = ("the memory budget of %s is exhausted: %s (%s) of %s cannot grow; %s are in use")
      :format(size_text(self.budget), name, level.kind, tree, size_text(bytes)),
    hint = "deactivate unused cells, or set a larger budget: rg.init{ memory = .. }, or RG_MEMORY",
  }
end

local check_budget = lib.quietly(function(self, level)
  if not self.budget then
    local info = ffi.new "RgInfo"
    C.rg_info(lib.runtimes[self.runtime].c, info)
    self.budget = tonumber(info.memory_bytes)
  end
  local bytes = bytes_in_use(self)
  self.bytes_to_check = math.max(0, self.budget - bytes) / 2
  if bytes + level.bytes > self.budget then return fail_budget(self, level, bytes) end
end)

--- Raises if one more sparse cell would exceed the budget; called before the cell is created.
--- Counting the bytes in use takes a walk over all levels, so the next walk follows only when half
--- of the remaining budget may have been used.
function oracle:grow(level)
  self.bytes_to_check = self.bytes_to_check - level.bytes
  if self.bytes_to_check < 0 then check_budget(self, level) end
end

-- -- launches -------------------------------------------------------------------------------------

local as_numbers = { f32 = ffi.typeof "float *", f64 = ffi.typeof "double *",
  f16 = ffi.typeof "uint16_t *" }

local function read_argument(t, place)
  if t == "address" or t:find "^header" then return end
  if t == "bool" then return ffi.cast("uint8_t *", place)[0] ~= 0 end
  if t == "f16" then return vector.from_half(ffi.cast(as_numbers.f16, place)[0]) end
  if as_numbers[t] then return tonumber(ffi.cast(as_numbers[t], place)[0]) end
  if t == "i64" then return ffi.cast("int64_t *", place)[0] end
  if t == "u64" then return ffi.cast("uint64_t *", place)[0] end
  local bits = t:sub(2)
  return tonumber(ffi.cast(("%sint%s_t *"):format(t:sub(1, 1) == "u" and "u" or "", bits),
    place)[0])
end

local function refuse_array(t)
  return fail.raise { code = "kernel.not_yet",
    message = ("with arch = \"lua\" kernels cannot return arrays of arrays: this one returns an %s")
      :format(t), hint = "return the inner arrays one by one, or use arch = \"cpu\"" }
end

local function load_text(kernel, number, text)
  local name = kernel.chunk == "kernel" and "=kernel" or "@" .. kernel.chunk
  local chunk, message = loadstring(text, rawget(kernel, "fn") and debug.getinfo(kernel.fn,
    "S").source or name)
  if not chunk then
    return fail.raise {
      code = "kernel.unsupported",
      message = ("this kernel is too large for a Lua function: %s"):format(message),
      hint = "a Lua function has at most 200 locals; divide the kernel",
    }
  end
  -- The first line of the text lists the types of the launch arguments and of the results. That of
  -- a derivative ends with the fields and levels of its IR.
  local given, back, rest = text:match "^%-%-%[=%[(.-)>(.-)|(.-)%]=%]"
  local fields, numbers_text, levels_text = rest:match "^(.-)|(.-)|(.*)$"
  fields = fields or rest
  local types, results, names = {}, {}, {}
  for t in given:gmatch "%S+" do types[#types + 1] = t end
  for t in back:gmatch "%S+" do results[#results + 1] = t end
  for _, t in ipairs(results) do
    if t:find("array(", 2, true) then refuse_array(t) end -- also inside a struct or an array
  end
  for k, field in fields:gmatch "(%d+)=(%S+)" do names[tonumber(k)] = field end
  local nests = text:find("_rg.nest(", 1, true) ~= nil
  local variant = { run = chunk, number = number, types = types, results = results, names = names,
    nests = nests, fails = text:find "_rg_r, %d+, " }
  if not numbers_text then return variant end
  variant.numbers, variant.levels = {}, {}
  for value_number, path, part in numbers_text:gmatch "(%d+)%.(%S*):(%d+)" do
    table.insert(variant.numbers, { value = tonumber(value_number), path = path,
      part = tonumber(part) })
  end
  for value_number, above in levels_text:gmatch "(%d+):(%d+)" do
    table.insert(variant.levels, { value = tonumber(value_number), above = tonumber(above) })
  end
  return variant
end

-- Converts a launch argument to what the kernel's text uses: elements for a field or an array, a
-- level for a node.
local function operand(self, v)
  if ffi.istype("RgFieldHandle", v) or ffi.istype("RgArrayHandle", v) then
    return elements_of(self, v)
  end
  if ffi.istype("RgNodeHandle", v) then return level_of(self, v.rg_node) end
end

-- Adds the fields and levels of the IR that the text of a derivative accesses, by number.
local function add_numbers(self, variant, operands, last)
  operands.numbers, operands.levels = {}, {}
  for k, of in ipairs(variant.numbers) do
    local handle = oracle_derivative.field_along(last[of.value], of.path)
    operands.numbers[k - 1] = oracle_derivative.numbers(elements_of(self, handle), of.part)
  end
  for k, of in ipairs(variant.levels) do
    local level = operands[of.value].level
    level = level.base or level
    for _ = 1, of.above do level = level.parent end
    operands.levels[k - 1] = level
  end
end

local function keep(answers, ...)
  for k = 1, select("#", ...) do answers[k] = select(k, ...) end
end

-- Returns the variant that a launch runs, and its operands and arguments; nil and a status if the
-- core refuses the launch. Runs in lib.quiet, because the core owns the frame and the text. `last`
-- has the launch's values as Lua objects.
local function begin(self, kernel, variants, values, count, last)
  local emission = ffi.new "RgEmission"
  local status = C.rg_kernel_emit(kernel.pointer, values, count, emission)
  if status ~= 0 then return nil, status end
  local key = tonumber(emission.number)
  variants[key] = variants[key] or load_text(kernel, emission.number, ffi.string(emission.text))
  local variant, operands, arguments = variants[key], {}, {}
  for k = 0, count - 1 do
    local v = last[k]
    if type(v) == "cdata" then operands[k] = operand(self, v) end
    if type(v) == "string" then operands[k] = v end
  end
  for k, t in ipairs(variant.types) do
    local whole = tonumber(t:match "^header:(%d+)")
    arguments[k - 1] = whole and value_of(self, last[whole])
      or read_argument(t, emission.args + (k - 1))
  end
  if variant.numbers then add_numbers(self, variant, operands, last) end
  return variant, operands, arguments
end

local stray_text = "regolith: %s:%d: a write to %s; kernel '%s' made %d such write%s in this "
  .. "launch: they are ignored and counted in rg.stats().out_of_range (reported once per kernel)"

local function describe_place(stray, last, variant, operands)
  local number = 0
  if not stray.elements then return "an element outside its array" end
  while operands[number] ~= stray.elements do number = number + 1 end
  local level = stray.elements.level
  local shape = tostring(last[number].shape):sub(2, -2):gsub(",", " x")
  if level.first then shape = ("%s from %s"):format(shape, table.concat(level.first, ", ")) end
  return ("'%s' at %s is outside its shape, %s"):format(variant.names[number], stray.index, shape)
end

local function warn_outside(stray, kernel, last, variant, operands, count)
  if not stray then return end -- numbers that do not fit are only counted
  sink.warn(stray_text:format(kernel.chunk, stray.line, describe_place(stray, last, variant,
    operands), ffi.string(C.rg_kernel_name(kernel.pointer)), count, count == 1 and "" or "s"))
end

local MOST_CALLS = 4000 -- as in llvm_bc/rt.h
-- The innermost recursive call: its depth, and the position and cycle for the error message.
local nested = {}

local function fail_nested()
  return fail.raise {
    code = "call.depth", file = nested.file, line = nested.line, column = nested.column,
    message = ("calls are nested too deeply: %s, and so on, to a depth of %d"):format(nested.cycle,
      nested.depth),
    hint = "add a base case: at most 4000 calls can be nested, fewer if the stack is "
      .. "smaller",
  }
end

local function nest(depth, cycle, file, line, column)
  nested.depth, nested.cycle, nested.file, nested.line, nested.column = depth, cycle, file, line,
    column
  if depth > MOST_CALLS then return fail_nested() end
end

-- Stores the results of a kernel's pcall in `answers`; returns false if the kernel failed and the
-- core has the error. Lua's stack may overflow before 4000 calls; the error is the same.
local function finish(answers, ok, ...)
  if ok then
    keep(answers, ...)
    return true
  end
  if rawequal((...), oracle_message.failed) then return false end
  if type((...)) == "string" and (...):find("stack overflow", 1, true) then return fail_nested() end
  return error((...), 0)
end

-- Runs the variant and returns its results as Lua values, or nil if it failed.
local function run(self, kernel, last, variant, operands, arguments)
  local answers = {}
  local before = self.outside
  oracle_list.full, self.stray, oracle_counted.oracle = nil, nil, self
  local launch = { kernel = kernel.pointer, emission = variant.number, runtime = kernel.runtime,
    globals = kernel.environment }
  if variant.nests or variant.fails then
    local ok = finish(answers, pcall(variant.run, self.operations, operands, arguments, launch))
    if not ok then return end
  else
    keep(answers, variant.run(self.operations, operands, arguments, launch))
  end
  if self.outside > before and not rawget(kernel, "has_warned") then
    kernel.has_warned = true
    warn_outside(self.stray, kernel, last, variant, operands, self.outside - before)
  end
  check_full(self)
  for k, name in ipairs(variant.results) do
    local array = name:find "^array%(" and answers[k][1]
    if not array then answers[k] = vector.to_lua(name, answers[k])
    elseif array == 0 then answers[k] = nil
    else answers[k] = array.handle or export(self, name, array) end
  end
  return answers, #variant.results
end

--- Adds the arrays that kernels created to the counters of `rg.allocations()`. They count as freed,
--- since a launch frees them when it ends.
function oracle:add_made(all)
  for _, name in ipairs { "alloc", "free" } do all[name] = all[name] + self.blocks end
  for _, name in ipairs { "header_alloc", "header_free" } do
    all[name] = all[name] + self.headers
  end
end
function oracle:reset_made() self.blocks, self.headers = 0, 0 end

local function call_unguarded(f, ...) return true, f(...) end
local guarded = fail.is_traced and call_unguarded or pcall

local operations = setmetatable({}, { __index = vector })
for name, f in pairs(oracle_counted) do operations[name] = f end
function operations.active(level) return iterate(level, nil, true) end
function operations.active_i64(level)
  local step = iterate(level, nil, true)
  local function widen(first, ...)
    if first == nil then return end
    local list = { first, ... }
    for k, i in ipairs(list) do list[k] = i + 0LL end
    return unpack(list)
  end
  return function() return widen(step()) end
end
-- Converts a float bound of a range to an integer for indices of type `t`.
function operations.whole(t, bound)
  local limit = t == "i64" and 2 ^ 63 or 2 ^ 31
  if bound == math.floor(bound) and bound >= -limit and bound < limit then
    return t == "i64" and ffi.cast("int64_t", bound) or bound
  end
  return fail.raise {
    code = "value.fit", message = (
      "a bound of a range is a whole number of type %s, but this is %.14g"):format(t, bound),
    hint = "write math.floor(..) for the whole number below",
  }
end
operations.nest = nest
operations.native = setmetatable({}, { __index = function(_, id)
  return require("regolith.extension").natives[id]
end })
function operations.no_memory(name)
  return fail.raise { code = "kernel.unsupported",
    message = ("'%s' takes or returns arrays, which have no memory with arch = \"lua\""):format(
      name), hint = "use arch = \"cpu\"" }
end
-- A launch table for a recursive call, which has its own locals.
function operations.own(launch)
  return { kernel = launch.kernel, emission = launch.emission, runtime = launch.runtime,
    globals = launch.globals }
end
-- Stores the results after the first under these numbers; returns the first.
function operations.spread(results, numbers, first, ...)
  for k, number in ipairs(numbers) do results[number] = (select(k, ...)) end
  return first
end
-- The result with this number, which operations.spread has stored.
function operations.result(results, number) return results[number] end
for _, action in ipairs { "activate", "deactivate", "is_active", "count", "clear" } do
  operations[action] = function(level, ...) return level[action](level, ...) end
end
for _, action in ipairs { "append", "length", "pop", "items" } do
  operations[action] = oracle_list[action]
end
for name, f in pairs(oracle_random.operations) do operations[name] = f end
for _, name in ipairs { "print", "text", "show", "form", "fail", "assert" } do
  operations[name] = oracle_message[name]
end
for name, f in pairs(oracle_check) do operations[name] = f end
for name, f in pairs(oracle_derivative.operations) do operations[name] = f end
oracle.operations = operations

--- Replaces the launch functions that kernel.lua generates launchers with; `need` is the table of
--- functions that they use for compiled kernels.
function oracle:launcher(kernel, need)
  local variants = {}
  local failure -- { what the launch raised }
  local own = {}
  --- Launches with values that a launcher of the kernel has converted from those in `last`. Returns
  --- the core's status; the results belong to `out`.
  function own.run(values, count, last, out)
    local variant, operands, arguments = lib.quiet(begin, self, kernel, variants, values, count,
      last)
    if not variant then return operands end
    local answers, result_count = run(self, kernel, last, variant, operands, arguments)
    if not answers then return 1 end
    answers.count = result_count
    self.answers[out] = answers
    return 0
  end
  local function launch(values, count, out)
    local record = need.recorder_of(kernel)
    if record then return record(kernel, kernel.pointer, values, count, out) end
    return own.run(values, count, kernel.last, out)
  end
  function own.launch(_, values, count, out)
    local ok, status = guarded(launch, values, count, out)
    if ok then return status end
    failure = { status }
    return 1
  end
  -- The launcher calls this by a tail call, so that our frames do not appear in the traceback.
  function own.refuse(...)
    if not failure then return need.refuse(...) end
    local e = failure[1]
    failure = nil
    return error(e, 0)
  end
  function own.take(out)
    local answers = self.answers[out]
    return unpack(answers, 1, answers.count)
  end
  return setmetatable(own, { __index = need })
end

for _, name in ipairs { "get", "set", "call", "append", "length", "pop", "items" } do
  -- They share buffers, so no finalizer may run during a call.
  oracle[name] = lib.quietly(oracle[name])
end

return oracle
