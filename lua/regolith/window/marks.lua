--- Points, circles and rectangles: one square of two triangles each (dots of few pixels: a point
--- sprite), in which the fragment shader finds the distance from the edge, and from that how much
--- of a pixel is covered.
local fail = require "regolith.error"
local astray = require "regolith.window.astray"
local attribute = require "regolith.window.attribute"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"

local marks = {}

-- Sizes are half the extents along x and y, in pixels, or in world units of `unit` pixels. A mark
-- is centred at its position, or has its lower left corner there (is_corner).
local vertex = color.glsl .. [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float z;
  layout(location = 3) in float size_x;
  layout(location = 8) in float size_y;
  uniform mat4 view;
  uniform vec2 window, unit;
  uniform float size_scale;
  uniform bool in_pixels, is_corner, is_sprite;
  out vec2 place;
  flat out vec2 size;
  flat out vec4 tint;

  void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    vec2 half_size = vec2(size_x, size_y) * size_scale;
    vec3 p = vec3(x, y, z);
    if (is_corner) p.xy += half_size;
    vec4 middle = view * vec4(p, 1.0);
    vec2 scale = window * 0.5 / middle.w;
    size = in_pixels ? half_size : abs(unit * half_size * scale);
    size = max(size, 0.5);
    place = corner * (size + 1.0);
    tint = own_color();
    gl_Position = middle + (is_sprite ? vec4(0.0) : vec4(place / scale, 0.0, 0.0));
    gl_PointSize = 2.0 * size.x + 2.0;
    if (any(isnan(p)) || any(isinf(p)) || any(isnan(size))) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  }
]]

local fragment = [[
  uniform bool is_round, is_sprite;
  uniform float outline;
  in vec2 place;
  flat in vec2 size;
  flat in vec4 tint;
  out vec4 shown;

  vec2 at() { return is_sprite ? (gl_PointCoord * 2.0 - 1.0) * (size + 1.0) : place; }

  float distance_round(vec2 p) {
    float f = length(p / size), slope = length(p / (size * size));
    return slope > 0.0 ? f * (f - 1.0) / slope : -min(size.x, size.y);
  }

  void main() {
    vec2 p = at(), beyond = abs(p) - size;
    float d = is_round ? distance_round(p) : max(beyond.x, beyond.y);
    float cover = clamp(0.5 - d, 0.0, 1.0);
    if (outline > 0.0) cover *= clamp(0.5 + d + outline, 0.0, 1.0);
    if (cover <= 0.0) discard;
    shown = vec4(tint.rgb, tint.a * cover);
  }
]]

local function names(...)
  local list = { "x", "y", ... }
  for _, name in ipairs(color.option_names) do list[#list + 1] = name end
  return list
end

local largest_sprite = 30 -- OpenGL clips a sprite with its middle

-- Draws marks of these sizes: { number or nil, memory or nil, part }, along x and y.
local function draw(w, options, m, own, shape)
  local count = m.extents[1]
  if count == 0 then return end
  local view = camera.begin(w, options, shape.caller)
  astray.check(w, m, options, shape.caller)
  local p = w.canvas:program("marks", { vertex = vertex, fragment = fragment })
  p:matrix("view", view)
  p:vec2("window", w.canvas.width, w.canvas.height)
  p:vec2("unit", camera.unit(w, view))
  p:float("size_scale", shape.scale)
  p:int("in_pixels", shape.in_pixels and 1 or 0)
  p:int("is_corner", shape.is_corner and 1 or 0)
  p:int("is_round", shape.is_round and 1 or 0)
  local is_sprite = shape.in_pixels and not shape.sizes and shape.size[1] <= largest_sprite
  local divisor = is_sprite and 0 or 1
  p:int("is_sprite", is_sprite and 1 or 0)
  p:float("outline", (shape.outline or 0) * w.canvas.width / w.width)
  attribute.reset()
  attribute.bind_positions(0, m, attribute.upload(w, "positions", m), divisor)
  local sizes = shape.sizes and attribute.upload(w, "sizes", shape.sizes)
  if sizes then
    attribute.bind(3, shape.sizes, sizes, 0, 1)
    attribute.bind(8, shape.sizes, sizes, shape.sizes.parts - 1, 1)
  else
    attribute.constant(3, shape.size[1])
    attribute.constant(8, shape.size[2] or shape.size[1])
  end
  color.bind(w, p, own, divisor)
  if is_sprite then gl.DrawArrays(gl.POINTS, 0, count)
  else gl.DrawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count) end
end

local point_options = names("size", "radius")

--- Dots at positions: of `size` pixels, or of a radius in world units.
function marks.points(w, pos, options)
  local caller = "window:points"
  options = option.check(options, point_options, caller)
  local size = option.pixels(options, "size", caller)
  local m = attribute.positions(pos, caller)
  local radius, radii = attribute.option(options, "radius", caller, m.extents[1], 1)
  local own = color.look(w, options, caller, m.extents[1])
  local in_pixels = not radius and not radii
  draw(w, options, m, own, { caller = caller, is_round = true, in_pixels = in_pixels,
    size = { radius or size or 3 }, sizes = radii,
    scale = in_pixels and 0.5 * w.canvas.width / w.width or 1 })
end

local circle_options = names("radius", "width")

--- Circles of a radius in world units; with `width`, only their lines, of so many pixels.
function marks.circles(w, pos, options)
  local caller = "window:circles"
  options = option.check(options, circle_options, caller)
  local m = attribute.positions(pos, caller)
  local radius, radii = attribute.option(options, "radius", caller, m.extents[1], 1)
  if not radius and not radii then
    return fail.argument("window:circles needs a radius, in world units",
      "w:circles(pos, { radius = 0.1 }); w:points has dots of pixels", "option.invalid")
  end
  local own = color.look(w, options, caller, m.extents[1])
  draw(w, options, m, own, { caller = caller, is_round = true, size = { radius }, sizes = radii,
    scale = 1, outline = option.positive(options, "width", caller) })
end

local rectangle_options = names("size", "width")

--- Rectangles, whose lower left corners are the positions, of a size {width, height} in world units
--- for all, or of a vec2 for each.
function marks.rectangles(w, pos, options)
  local caller = "window:rectangles"
  options = option.check(options, rectangle_options, caller)
  if w.view.is_space then
    return fail.argument("window:rectangles is for two dimensions, and the camera shows three",
      "w:mesh and w:triangles draw in three", "option.invalid")
  end
  local m = attribute.positions(pos, caller)
  local given = options.size
  local size, sizes
  local is_list = type(given) == "table" and not getmetatable(given)
  if type(given) == "number" then
    size = { option.positive(options, "size", caller), given }
  elseif is_list and type(given[1]) == "number" or given == nil then
    size = option.numbers(options, "size", caller, 2, "{ width, height }")
    if not size then
      return fail.argument("window:rectangles needs a size, in world units",
        "w:rectangles(pos, { size = { 0.2, 0.1 } }), or a vec2 for each", "option.invalid")
    end
  else
    sizes = select(2, attribute.option(options, "size", caller, m.extents[1], 2))
  end
  local own = color.look(w, options, caller, m.extents[1])
  draw(w, options, m, own, { caller = caller, is_corner = true, size = size, sizes = sizes,
    scale = 0.5, outline = option.positive(options, "width", caller) })
end

return marks
