--- Lines and arrows. A geometry shader makes each segment of the world a shape of the screen,
--- `width` pixels wide, and one pixel more on either side, in which its opacity fades.
local fail = require "regolith.error"
local attribute = require "regolith.window.attribute"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"
local range = require "regolith.window.range"
local source = require "regolith.window.source"

local lines = {}

-- A segment is two vertices of its own, or, if `has_pairs`, an instance, whose second end is at q,
-- or (is_vector) at p + q * stretch. The positions of a grid's instances follow from their number.
local vertex = color.glsl .. [[
  layout(location = 0) in float p_x;
  layout(location = 1) in float p_y;
  layout(location = 2) in float p_z;
  layout(location = 8) in float q_x;
  layout(location = 9) in float q_y;
  layout(location = 10) in float q_z;
  uniform mat4 view;
  uniform bool has_pairs, is_vector, is_grid, by_length;
  uniform vec3 grid_first, grid_step;
  uniform float stretch;
  out vec4 tint;
  void main() {
    vec3 p = is_grid ? grid_first + float(gl_InstanceID) * grid_step : vec3(p_x, p_y, p_z);
    vec3 q = vec3(q_x, q_y, q_z);
    if (is_vector) {
      q *= stretch;
      if (is_grid) p -= 0.5 * q; // around the middle of the cell
      q += p;
    }
    tint = by_length ? palette_tint(length(vec3(q_x, q_y, q_z))) : own_color();
    gl_Position = view * vec4(has_pairs && gl_VertexID == 1 ? q : p, 1.0);
    if (any(isnan(gl_Position))) gl_Position = vec4(0.0, 0.0, 0.0, -1.0);
  }
]]

-- In pixels: `along` from the begin of the shaft, `aside` of its middle.
local geometry = [[
  layout(lines) in;
  layout(triangle_strip, max_vertices = 4) out;
  uniform vec2 window;
  uniform float width;
  uniform bool has_head;
  in vec4 tint[];
  out vec4 own;
  noperspective out vec2 place;
  flat out float reach, head;

  void put(vec4 end, vec2 offset, vec2 at, int k) {
    place = at;
    own = tint[k];
    gl_Position = end + vec4(offset * 2.0 / window * end.w, 0.0, 0.0);
    EmitVertex();
  }

  void main() {
    vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position;
    const float near = 1e-4; // the part behind the eye is cut off
    if (a.w < near && b.w < near) return;
    if (a.w < near) a = mix(b, a, (b.w - near) / (b.w - a.w));
    if (b.w < near) b = mix(a, b, (a.w - near) / (a.w - b.w));
    vec2 difference = (b.xy / b.w - a.xy / a.w) * 0.5 * window;
    float distance = length(difference);
    vec2 along = distance > 1e-6 ? difference / distance : vec2(1.0, 0.0);
    vec2 aside = vec2(-along.y, along.x);
    reach = distance;
    head = has_head ? min(4.0 + 2.5 * width, 0.7 * distance) : 0.0;
    float half_width = max(0.5 * width, 0.45 * head) + 1.0;
    float more = has_head ? 1.0 : 0.5 * width + 1.0;
    put(a, -along * more + aside * half_width, vec2(-more, half_width), 0);
    put(a, -along * more - aside * half_width, vec2(-more, -half_width), 0);
    put(b, along * more + aside * half_width, vec2(distance + more, half_width), 1);
    put(b, along * more - aside * half_width, vec2(distance + more, -half_width), 1);
    EndPrimitive();
  }
]]

local fragment = [[
  uniform float width;
  uniform bool has_head;
  in vec4 own;
  noperspective in vec2 place;
  flat in float reach, head;
  out vec4 shown;

  void main() {
    vec2 p = vec2(place.x, abs(place.y));
    float end = has_head ? reach - head * 0.8 : reach;
    // ends of lines are round, so that a polyline has no gaps
    float beyond = max(-p.x, p.x - end);
    float d = has_head ? max(p.y - 0.5 * width, beyond)
      : length(vec2(max(beyond, 0.0), p.y)) - 0.5 * width;
    if (has_head) {
      float slope = 0.45; // half of the head's width to its length
      float side = (p.y - (reach - p.x) * slope) / sqrt(1.0 + slope * slope);
      d = min(d, max(side, reach - head - p.x));
    }
    float cover = clamp(0.5 - d, 0.0, 1.0);
    if (cover <= 0.0) discard;
    shown = vec4(own.rgb, own.a * cover);
  }
]]

local texts = { vertex = vertex, geometry = geometry, fragment = fragment }

local function names(...)
  local list = { "x", "y", "width", ... }
  for _, name in ipairs(color.option_names) do list[#list + 1] = name end
  return list
end

-- Prepares a drawing call of this program, by default that of lines.
local function begin(w, options, caller, program, own)
  local width = option.positive(options, "width", caller, 1.5)
  local view = camera.begin(w, options, caller)
  local p = w.canvas:program(program or "lines", own or texts)
  p:matrix("view", view)
  p:vec2("window", w.canvas.width, w.canvas.height)
  p:float("width", width * w.canvas.width / w.width)
  for _, name in ipairs { "has_pairs", "is_vector", "is_grid", "has_head", "by_length" } do
    p:int(name, 0)
  end
  p:float("stretch", 1)
  attribute.reset()
  for location = 8, 10 do attribute.constant(location, 0) end
  return p
end

lines.begin, lines.texts = begin, texts

local line_options = names("to", "indices", "closed")

--- A polyline through positions; or, with `to`, a segment from each position to another one; or,
--- with `indices`, segments between pairs of positions.
function lines.lines(w, pos, options)
  local caller = "window:lines"
  options = option.check(options, line_options, caller)
  local m = attribute.positions(pos, caller)
  local count, to = m.extents[1], nil
  if options.to ~= nil then
    to = attribute.positions(options.to, "option 'to' of " .. caller)
    attribute.check_count(to, "to", caller, count)
  end
  if to and options.indices ~= nil then
    return fail.argument "window:lines takes 'to' or 'indices', not both"
  end
  local closed = option.flag(options, "closed", caller)
  local own = color.look(w, options, caller, count)
  local indices = options.indices ~= nil and attribute.indices(options.indices, caller, 2, count)
  if count == 0 then return end
  local p = begin(w, options, caller)
  local divisor = to and 1 or 0
  attribute.bind_positions(0, m, attribute.upload(w, "positions", m), divisor)
  color.bind(w, p, own, divisor)
  if to then
    p:int("has_pairs", 1)
    attribute.bind_positions(8, to, attribute.upload(w, "ends", to), 1)
    gl.DrawArraysInstanced(gl.LINES, 0, 2, count)
  elseif indices then
    attribute.draw_indices(w, gl.LINES, indices)
  else
    gl.DrawArrays(closed and gl.LINE_LOOP or gl.LINE_STRIP, 0, count)
  end
end

-- -- arrows ---------------------------------------------------------------------------------------

local arrow_options = names("vector", "scale", "step", "cells")
local caller_of_arrows = "window:arrows"

-- The longest vector, about: the greatest of all numbers.
local function longest_of(m)
  local low, high = range.of(m)
  return low and math.max(math.abs(low), math.abs(high), 1e-30) or 1
end

-- Colours of arrows: as those of marks, or "length".
local function colors_of(w, options, count, longest)
  if options.color ~= "length" then return color.look(w, options, caller_of_arrows, count) end
  local own = {}
  for name, v in pairs(options) do own[name] = v end
  own.color = "white"
  own = color.look(w, own, caller_of_arrows, count)
  own.palette = options.palette or "viridis"
  own.low = option.number(options, "low", caller_of_arrows) or 0
  own.high = option.number(options, "high", caller_of_arrows) or longest
  if own.low == own.high then own.high = own.low + 1 end
  color.note_legend(w, options, caller_of_arrows, own)
  return own
end

local function begin_arrows(w, options, own, scale, on_grid)
  local p = begin(w, on_grid and { width = options.width } or options, caller_of_arrows)
  for _, name in ipairs { "has_pairs", "is_vector", "has_head" } do p:int(name, 1) end
  p:int("is_grid", on_grid and 1 or 0)
  p:int("by_length", options.color == "length" and 1 or 0)
  p:float("stretch", scale)
  return p, own
end

local function arrows_at(w, pos, options)
  local m = attribute.positions(pos, caller_of_arrows)
  local v = attribute.positions(options.vector, "option 'vector' of " .. caller_of_arrows)
  local count = m.extents[1]
  attribute.check_count(v, "vector", caller_of_arrows, count)
  local longest = longest_of(v)
  local scale = option.number(options, "scale", caller_of_arrows)
    or 0.1 * math.abs(select(2, camera.halves(w))) * 2 / longest
  local own = colors_of(w, options, count, longest)
  if count == 0 then return end
  local p = begin_arrows(w, options, own, scale, false)
  attribute.bind_positions(0, m, attribute.upload(w, "positions", m), 1)
  attribute.bind_positions(8, v, attribute.upload(w, "ends", v), 1)
  color.bind(w, p, own, 1)
  gl.DrawArraysInstanced(gl.LINES, 0, 2, count)
end

-- Places and distances of a grid's cells along each axis, in world units.
local function layout_of(w, m, options)
  local first, step = { 0, 0, 0 }, { 0, 0, 0 }
  local by_cells = option.flag(options, "cells", caller_of_arrows)
  for axis, n in ipairs(m.extents) do
    local name = axis == 1 and "x" or axis == 2 and "y"
    local own = name and not by_cells and (option.range(options, name, caller_of_arrows)
      or not w.view.is_space and w.view[name])
    local low, high = m.starts[axis], m.starts[axis] + n
    if own then low, high = own[1], own[2] end
    step[axis] = (high - low) / n
    first[axis] = low + 0.5 * step[axis]
  end
  return first, step
end

-- One call for each line of cells along the last axis, of which every `every`th is drawn.
local function draw_grid(w, m, own, p, every, first, step)
  local at = attribute.upload(w, "ends", m)
  local rank, n = #m.extents, m.extents
  local function line(source_, location, place, offset)
    local row = setmetatable({ strides = { source_.strides[rank] * every } },
      { __index = source_ })
    attribute.bind_all(location, row, { place[1], place[2] + offset(source_) }, 1, 0)
  end
  local function draw_line(index)
    local function offset(of)
      local sum = 0
      for axis = 1, rank do sum = sum + (index[axis] or 0) * of.strides[axis] end
      return sum
    end
    local from = { 0, 0, 0 }
    for axis = 1, rank do from[axis] = first[axis] + (index[axis] or 0) * step[axis] end
    p:vec3("grid_first", from[1], from[2], from[3])
    line(m, 8, at, offset)
    if own.m then
      own.at = own.at or attribute.upload(w, "color", own.m)
      line(own.m, 4, own.at, offset)
    end
    gl.DrawArraysInstanced(gl.LINES, 0, 2, math.ceil((n[rank] - (index[rank] or 0)) / every))
  end
  local half = math.floor(every / 2)
  local function nest(index, axis)
    if axis == rank then
      index[rank] = math.min(half, n[rank] - 1)
      return draw_line(index)
    end
    for k = math.min(half, n[axis] - 1), n[axis] - 1, every do
      index[axis] = k
      nest(index, axis + 1)
    end
  end
  nest({}, 1)
end

local function arrows_on_grid(w, x, options)
  local m = source.grid(x, caller_of_arrows)
  local rank = #m.extents
  if rank ~= 2 and rank ~= 3 or m.parts ~= 2 and m.parts ~= 3 then
    return fail.argument(("window:arrows takes a field of vectors on two or three axes, or \z
      positions and their vectors, not %s"):format(tostring(x)),
      "w:arrows(pos, { vector = velocity })")
  end
  local first, step = layout_of(w, m, options)
  local every = option.number(options, "step", caller_of_arrows)
  if every and (every % 1 ~= 0 or every < 1) then
    return fail.option(options, "step", caller_of_arrows, "a whole number of cells")
  end
  every = every or rank == 3 and math.ceil(m.extents[1] / 16)
    or math.max(1, math.ceil(16 / (w.width / m.extents[1])))
  local longest = longest_of(m)
  local scale = option.number(options, "scale", caller_of_arrows)
    or every * math.abs(step[rank]) / longest
  local count = 1
  for axis = 1, rank do count = count * m.extents[axis] end
  local own = colors_of(w, options, count, longest)
  if own.m then -- on the same axes
    own.m = source.grid(options.color, "option 'color' of " .. caller_of_arrows)
    if #own.m.extents ~= rank then own.m = nil end
  end
  local p = begin_arrows(w, options, own, scale, true)
  p:vec3("grid_step", rank == 1 and step[1] * every or 0, rank == 2 and step[2] * every or 0,
    rank == 3 and step[3] * every or 0)
  if m.parts == 2 then attribute.constant(10, 0) end
  color.bind(w, p, own, 1)
  draw_grid(w, m, own, p, every, first, step)
end

--- A vector field on a grid, at the middle of every `step`th cell; or a vector for each position.
function lines.arrows(w, x, options)
  options = option.check(options, arrow_options, caller_of_arrows)
  if options.vector ~= nil then arrows_at(w, x, options)
  elseif source.is(x) then arrows_on_grid(w, x, options)
  else
    return fail.argument("window:arrows needs the vectors of these positions",
      "w:arrows(pos, { vector = velocity })", "option.invalid")
  end
end

return lines
