--- The active blocks of a sparse tree as boxes of lines.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local surfaces = require "regolith.toolbox.mesh.surface"
local binary = require "regolith.file.binary"
local attribute = require "regolith.window.attribute"
local color = require "regolith.window.color"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"
local lines = require "regolith.window.lines"
local subject = require "regolith.data.subject"

local boxes = {}

local C, check = lib.C, lib.check
local caller = "window:boxes"

local vertex = color.glsl .. [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float z;
  uniform mat4 view;
  uniform vec3 size;
  out vec4 tint;
  void main() {
    int edge = gl_VertexID >> 1, axis = edge >> 2;
    vec3 corner;
    corner[axis] = float(gl_VertexID & 1);
    corner[(axis + 1) % 3] = float(edge & 1);
    corner[(axis + 2) % 3] = float((edge >> 1) & 1);
    tint = own_color();
    gl_Position = view * vec4(vec3(x, y, z) + corner * size, 1.0);
  }
]]
local texts = { vertex = vertex, geometry = lines.texts.geometry,
  fragment = lines.texts.fragment }

-- The level above a field's cells whose blocks come and go, and how many cells one of them has
-- along each axis.
local function level_of(x)
  local node, level, size = C.rg_field_node(x.rg_field), ffi.new "RgLevel", {}
  for axis = 1, 8 do size[axis] = 1 end
  local rank
  while node ~= nil do
    check(C.rg_snode_level(node, level), x.rg_runtime)
    local kind = level.kind ~= nil and ffi.string(level.kind) or "root"
    rank = rank or level.rank
    if kind == "pointer" or kind == "hash" or kind == "bitmasked" then return node, size, rank end
    for k = 0, level.axis_count - 1 do -- of the axes that the field has
      local at
      for axis = 0, level.rank - 1 do
        if level.level_axes[axis] == level.axes[k] then at = axis + 1 end
      end
      if at and kind ~= "root" then size[at] = size[at] * tonumber(level.sizes[k]) end
    end
    node = level.parent
  end
  return fail.argument(("%s takes a field of a sparse tree, and all cells of %s exist"):format(
    caller, tostring(x)))
end

-- Calls visit(index) for each active cell of a node.
local function each_cell(x, visit)
  for a, b, c in x:active() do visit { [0] = a, b, c } end
end

-- Calls visit(index) for each active block, from 0 on.
local function each_block(x, node, rank, size, visit)
  if x.rg_oracle == 0 then
    local state, index = ffi.new "int64_t[1]", ffi.new "int64_t[8]"
    while true do
      check(C.rg_snode_next(node, state, index), x.rg_runtime)
      if state[0] == -1 then return end
      visit(index)
    end
  end
  local seen, offset = {}, x.offset
  for a, b, c in x:active() do -- trees of arch = "lua" are Lua tables
    local index, key = {}, ""
    for axis, i in ipairs { a, b, c } do
      if axis > rank then break end
      index[axis - 1] = math.floor((i - offset[axis - 1]) / size[axis])
      key = key .. index[axis - 1] .. " "
    end
    if not seen[key] then visit(index) end
    seen[key] = true
  end
end

local option_names = { "width", "spacing", "origin", unpack(color.option_names) }

-- The blocks of a field or a node: how many axes they have and how many cells along each, their
-- first indices, and each(visit).
local function look(x)
  if subject.is_view(x) then x = subject.of(x, caller).handle end
  if ffi.istype("RgNodeHandle", x) then
    return #x.shape, { 1, 1, 1 }, { [0] = 0, 0, 0 }, function(visit) each_cell(x, visit) end
  end
  if not binary.is_field(x) then
    return fail.argument(("%s takes a field or a node of a sparse tree, not %s"):format(caller,
      fail.describe(x)))
  end
  binary.shape_of(x, caller)
  local node, size, rank = level_of(x)
  return rank, size, x.offset, function(visit) each_block(x, node, rank, size, visit) end
end

--- `w:boxes(density, { spacing = h, origin = { 0, 0, 0 } })`: cell i, j, k of the field begins at
--- origin + spacing * (i, j, k). Of a node, its own cells are meant.
function boxes.boxes(w, x, options)
  options = option.check(options, option_names, caller)
  local spacing = surfaces.vector_option(options, "spacing", 1)
  local origin = surfaces.vector_option(options, "origin", 0)
  local rank, size, starts, each = look(x)
  if rank > 3 then
    return fail.argument(("%s takes up to three axes, not %d"):format(caller, rank))
  end
  local corners = {}
  each(function(index)
    for axis = 1, 3 do
      local i = axis <= rank and tonumber(index[axis - 1]) * size[axis] + starts[axis - 1] or 0
      corners[#corners + 1] = origin[axis] + spacing[axis] * i
    end
  end)
  local count = #corners / 3
  local own = color.look(w, options, caller, count, { 1, 1, 1, 0.4 })
  if count == 0 then return end
  local data = ffi.new("float[?]", #corners, corners)
  local m = { base = ffi.cast("uint8_t *", data), keep = data, kind = "f32", parts = 3, step = 4,
    extents = { count }, strides = { 12 } }
  local p = lines.begin(w, { width = options.width or 1 }, caller, "boxes", texts)
  p:vec3("size", size[1] * spacing[1], rank > 1 and size[2] * spacing[2] or 0,
    rank > 2 and size[3] * spacing[3] or 0)
  attribute.bind_positions(0, m, attribute.upload(w, "positions", m), 1)
  color.bind(w, p, own, 1)
  gl.DrawArraysInstanced(gl.LINES, 0, 24, count)
end

return boxes
