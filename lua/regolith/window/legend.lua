--- Legends: the palettes of a frame with the numbers at their ends, along the right border, or
--- along the left one where only the right one has a panel of controls. They are drawn on top of
--- everything else, when the frame is shown or saved; without OpenGL by window/painting.lua.
local attribute = require "regolith.window.attribute"
local gl = require "regolith.window.gl"
local palette = require "regolith.window.palette"
local text = require "regolith.window.text"

local legend = {}

local texts = { vertex = [[
  uniform vec4 place;
  out vec2 at;
  void main() {
    at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(mix(place.xy, place.zw, at), 0.0, 1.0);
  }
]], fragment = palette.glsl .. [[
  uniform vec4 tint;
  uniform bool is_bar;
  in vec2 at;
  out vec4 shown;
  void main() { shown = is_bar ? vec4(palette_color(at.y), 1.0) : tint; }
]] }

local function number(v)
  local size = math.abs(v)
  return (size >= 1000 and size < 1e7 and "%.0f" or "%.3g"):format(v)
end

-- What draws: in pixels of the canvas, from the lower left corner.
local by_gl = { width = text.width }

function by_gl.begin(w) w.canvas:begin() end

local function fill(w, x, y, width, height, name, is_bar)
  local p, s = w.canvas:program("legend", texts), w.canvas
  p:vec4("place", 2 * x / s.width - 1, 2 * y / s.height - 1, 2 * (x + width) / s.width - 1,
    2 * (y + height) / s.height - 1)
  p:vec4("tint", 0, 0, 0, 0.6)
  p:int("is_bar", is_bar and 1 or 0)
  p:int("palette", 1)
  s:bind(1, gl.TEXTURE_2D, palette.texture(w, name))
  attribute.reset()
  gl.DrawArrays(gl.TRIANGLE_STRIP, 0, 4)
end

-- The ground of a legend.
function by_gl.shade(w, x, y, width, height) fill(w, x, y, width, height, "grey", false) end

-- A palette, upward.
function by_gl.bar(w, x, y, width, height, name) fill(w, x, y, width, height, name, true) end

-- White words that end at x.
function by_gl.words(w, words, x, y, size)
  local s = w.canvas
  text.put(w, words, { 2 * x / s.width - 1, 2 * y / s.height - 1, 0, 1 }, size, { 1, 1, 1, 1 },
    "right")
end

local function are_at_left(w)
  local own = rawget(w, "controls")
  return own ~= nil and own.controls:has_panel "right" and not own.controls:has_panel "left"
end

--- Draws the legends that were noted, from the top down.
function legend.draw(w)
  if #w.legends == 0 then return end
  local s = w.canvas
  local pen = s.is_gl and by_gl or require "regolith.window.painting"
  pen.begin(w)
  local unit = s.width / w.width
  local size, margin = math.floor(12 * unit), math.floor(6 * unit)
  local top, at_left = s.height - 2 * margin, are_at_left(w)
  for _, own in ipairs(w.legends) do
    local rows = own.title and 1.4 * size or 0
    local bar, height = 12 * unit, math.min(120 * unit, (s.height - 6 * margin) / #w.legends - rows)
    local wide = pen.width(w, number(own.high), size)
    wide = math.max(wide, pen.width(w, number(own.low), size)) + bar + 3 * margin
    if own.title then wide = math.max(wide, pen.width(w, own.title, size) + 2 * margin) end
    local right = at_left and margin + wide or s.width - margin
    pen.shade(w, right - wide, top - height - rows - margin, wide, height + rows + 2 * margin)
    if own.title then pen.words(w, own.title, right - margin, top - size * 0.8, size) end
    local base = top - rows - height
    pen.bar(w, right - margin - bar, base, bar, height, own.palette)
    pen.words(w, number(own.high), right - 2 * margin - bar, base + height - size * 0.75, size)
    pen.words(w, number(own.low), right - 2 * margin - bar, base, size)
    top = base - 3 * margin
  end
  w.legends = {}
end

return legend
