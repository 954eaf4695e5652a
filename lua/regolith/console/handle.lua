--- Descriptions of handles of Regolith: fields, arrays, rows, nodes, trees, kernels. Describing a
--- tree never lays it out.
local ffi = require "ffi"
local lib = require "regolith.lib"
local matrix = require "regolith.data.matrix"
local text = require "regolith.console.text"
local grid = require "regolith.console.grid"

local handle = {}

local C = lib.C

--- Returns "field" "array" "view" "node" "tree" "row" "shape" "vector" "matrix" "struct" "kernel"
--- "type", or nil.
function handle.kind(v)
  if type(v) == "table" then
    local meta = getmetatable(v)
    local name = type(meta) == "table" and rawget(meta, "__regolith")
    if name == "a kernel" then return "kernel" end
    return require("regolith.data.type").is(v) and "type" or nil
  elseif type(v) ~= "cdata" then
    return nil
  end
  for name, kind in pairs { RgFieldHandle = "field", RgArrayHandle = "array",
    RgNodeHandle = "node", RgTreeHandle = "tree", RgShape = "shape",
    RgMemberView = "view" } do
    if ffi.istype(name, v) then return kind end
  end
  for depth = 1, 7 do
    if ffi.istype("RgRow" .. depth, v) or ffi.istype("RgArrayRow" .. depth, v) then
      return "row", depth
    end
  end
  local t = matrix.type_of and matrix.type_of(v)
  return t and (t.members and "struct" or t.cols > 1 and "matrix" or "vector") or nil
end

-- -- trees ----------------------------------------------------------------------------------------

--- The rows of a runtime's memory report (rg_memory_node), by the address of the node.
local function memory_rows(number)
  local runtime, rows = lib.runtimes[number], {}
  local row = ffi.new "RgNodeMemory"
  lib.quiet(function()
    for k = 0, math.huge do
      if not runtime or not runtime.c or C.rg_memory_node(runtime.c, k, row) ~= 0 then break end
      local entry = { name = ffi.string(row.name), kind = ffi.string(row.kind),
        tree_name = ffi.string(row.tree), cells = tonumber(row.cells), live = tonumber(row.live),
        reserved = tonumber(row.reserved), tree = row.tree_number, depth = row.depth,
        node = tostring(ffi.cast("void *", row.node)) }
      if runtime.oracle then runtime.oracle:measure({ live = 0, reserved = 0, peak = 0 }, entry,
        row.node) end
      rows[#rows + 1], rows[entry.node] = entry, entry
    end
  end)
  return rows
end

local function is_laid_out(node, number)
  return node ~= nil and memory_rows(number)[tostring(ffi.cast("void *", node))] ~= nil
end

-- The rows of the tree that contains `row`, in the order in which the tree is drawn.
local function rows_of_tree(rows, one)
  local list = {}
  for _, row in ipairs(rows) do
    if row.tree == one.tree then list[#list + 1] = row end
  end
  return list
end

-- Draws a tree, with the active cells and bytes of each level.
local function draw(drawing, rows)
  local lines, left, number = {}, {}, 1
  for line in drawing:gmatch "[^\n]+" do
    lines[#lines + 1] = line:gsub(": nodes of .*$", ""):gsub(": %d+ [%aKMG]+$", "")
    local word = line:match "^[^%a]*(%a+)"
    local row = rows[number]
    if row and (#lines == 1 or word == row.kind) then
      left[#lines], number = row, number + 1
    end
  end
  local column = 0
  for k in pairs(left) do column = math.max(column, text.width(lines[k])) end
  for k, row in pairs(left) do
    local cells = k == 1 and "" or ("%d cell%s"):format(row.cells, row.cells == 1 and "" or "s")
    lines[k] = ("%s  %14s  %10s"):format(text.pad(lines[k], column), cells, text.size(row.live))
  end
  return lines
end

local function describe_tree(drawing, pointer, number)
  local rows = memory_rows(number)
  local one = rows[tostring(ffi.cast("void *", pointer))]
  if not one then
    return drawing, "not laid out yet: its first use lays it out"
  end
  return table.concat(draw(drawing, rows_of_tree(rows, one)), "\n")
end

--- Draws the tree of a field as describe draws a node; nil for a field that has not been placed.
function handle.tree_of_field(v)
  local node = C.rg_field_node(v.rg_field)
  if node == nil then return nil end
  local text_out = ffi.new "const char *[1]"
  local drawing = lib.quiet(function()
    lib.check(C.rg_tree_text(C.rg_snode_tree(node), text_out), v.rg_runtime)
    return ffi.string(text_out[0])
  end)
  return describe_tree(drawing, node, v.rg_runtime)
end

-- -- elements -------------------------------------------------------------------------------------

local function list_of(shape)
  local list = {}
  if type(shape) == "cdata" then
    for axis, n in pairs(shape) do list[axis + 1] = n end
  end
  return list
end

-- The indices that a row has been given.
local function row_indices(v, depth)
  local fixed = {}
  for axis = 1, depth do fixed[axis] = v["rg_i" .. axis] end
  return fixed
end

local function add_lines(head, x, fixed, size)
  local ok, lines = pcall(function()
    local extents, starts = list_of(x.shape), {}
    for axis, n in ipairs(extents) do
      if n == 0 and ffi.istype("RgArrayHandle", x) then error("no elements", 0) end
      if n == 0 then error("an axis is unbounded: pairs(x) visits the active cells", 0) end
      starts[axis] = 0
    end
    local _, offset = pcall(function() return x.offset end)
    for axis, n in ipairs(list_of(offset)) do starts[axis] = n end
    return grid.lines(x, extents, starts, fixed, size)
  end)
  if not ok then
    return head .. "\n  " .. (type(lines) == "table" and lines.message or tostring(lines))
  end
  if #fixed == #list_of(x.shape) - 1 or #list_of(x.shape) <= 1 then
    return head .. ": " .. lines[1]
  end
  return head .. "\n  " .. table.concat(lines, "\n  ")
end

local function describe_field(v, size)
  local head, node = tostring(v), C.rg_field_node(v.rg_field)
  if node == nil then return head end
  if require("regolith.data.field").alone[v.rg_number] then return add_lines(head, v, {}, size) end
  if not is_laid_out(node, v.rg_runtime) then return head .. ", not laid out yet" end
  local ok, count = pcall(function() return v:count() end)
  local extents, all = list_of(v.shape), 1
  for _, n in ipairs(extents) do all = all * n end
  if ok and count ~= all then head = ("%s, %d active cells"):format(head, count) end
  return add_lines(head, v, {}, size)
end

local function describe_row(v, depth, size)
  local owner = ffi.istype("RgRow" .. depth, v) and require "regolith.data.field".by_number
    or require "regolith.data.array".by_number
  local element = owner[v.rg_number]
  if not element then return tostring(v) end
  return add_lines(tostring(v), element, row_indices(v, depth), size)
end

-- -- kernels --------------------------------------------------------------------------------------

--- The parameters of a kernel or function as written in its source, or nil if it shows none.
function handle.parameters(source)
  return source:match "function%s*[%w_.:]*%s*(%b())"
end

local function describe_kernel(v)
  local parameters = handle.parameters(v:source()) or "(..)"
  return (tostring(v):gsub("^(kernel [^ (]+)", function(head) return head .. parameters end, 1))
end

-- -- all ------------------------------------------------------------------------------------------

local describers = {
  field = describe_field,
  array = function(v, size)
    local head = tostring(v)
    return head:find ", destroyed$" and head or add_lines(head, v, {}, size)
  end,
  view = function(v, size) return add_lines(tostring(v), v, {}, size) end,
  row = function(v, size, depth) return describe_row(v, depth, size) end,
  node = function(v) return describe_tree(tostring(v), v.rg_node, v.rg_runtime) end,
  tree = function(v) return describe_tree(tostring(v), C.rg_tree_root(v.rg_tree), v.rg_runtime) end,
  kernel = describe_kernel,
  matrix = function(v)
    local t = matrix.type_of(v)
    return t.name .. "\n" .. table.concat(grid.matrix(v, t), "\n")
  end,
}

-- The result of tostring, or its error message: the handle's runtime may have ended.
local function text_of(v)
  local _, shown = pcall(tostring, v)
  return type(shown) == "table" and shown.message or tostring(shown)
end

--- Returns the text of a handle and a remark, or nil for other values.
---@param size table       width, height
---@param is_brief boolean one line
function handle.describe(v, size, is_brief)
  local kind, depth = handle.kind(v)
  if not kind then return end
  if is_brief and kind ~= "kernel" and kind ~= "vector" and kind ~= "matrix" then
    if kind == "node" then return "a node; ':tree _' draws its tree" end
    return text_of(v):match "[^\n]*"
  end
  local describer = describers[kind]
  if not describer then return text_of(v) end
  local ok, shown, remark = pcall(describer, v, size, depth)
  if ok then return shown, remark end
  return text_of(v)
end

handle.memory_rows = memory_rows

return handle
