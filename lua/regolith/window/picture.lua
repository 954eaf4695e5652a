--- `w:show`: a picture of a field. Its memory is copied into a buffer unchanged, whatever its type
--- and strides; the fragment shader reads the numbers of a cell there and colours them.
local ffi = require "ffi"
local fail = require "regolith.error"
local image = require "regolith.file.image"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"
local palette = require "regolith.window.palette"
local range = require "regolith.window.range"
local source = require "regolith.window.source"

local picture = {}

local caller = "window:show"
local option_names = { "low", "high", "palette", "gamma", "width", "height", "channels", "x", "y",
  "cells", "smooth", "legend" }

local vertex = [[
  uniform mat4 view;
  uniform vec4 place;
  out vec2 at;
  void main() {
    at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = view * vec4(mix(place.xy, place.zw, at), 0.0, 1.0);
  }
]]

--- GLSL: number(byte), the number at a byte of the buffer `words`, of the type `kind`, a constant.
picture.glsl = [[
  uniform usamplerBuffer words;

  float sign_of(uint high) { return (high >> 31) != 0u ? -1.0 : 1.0; }

  float from_half(uint bits) {
    float sign = (bits & 0x8000u) != 0u ? -1.0 : 1.0;
    int exponent = int(bits >> 10) & 31;
    float rest = float(bits & 1023u);
    if (exponent == 0) return sign * rest * exp2(-24.0);
    return sign * (1024.0 + rest) * exp2(float(exponent - 25));
  }

  float from_double(uint low, uint high) {
    int exponent = int(high >> 20) & 2047;
    if (exponent == 0) return 0.0;
    if (exponent == 2047)
      return uintBitsToFloat((high & 0x80000000u) | 0x7f800000u | ((high & 0xfffffu) << 3));
    float rest = 1.0 + float(high & 0xfffffu) * exp2(-20.0) + float(low) * exp2(-52.0);
    return sign_of(high) * rest * exp2(float(exponent - 1023));
  }

  float number(int byte) {
    uint word = texelFetch(words, byte >> 2).r;
    int shift = (byte & 3) * 8;
    switch (kind) {
    case 0: return float((word >> shift) & 255u);
    case 1: return float(int(word << (24 - shift)) >> 24);
    case 2: return float((word >> shift) & 65535u);
    case 3: return float(int(word << (16 - shift)) >> 16);
    case 4: return float(word);
    case 5: return float(int(word));
    case 6: return uintBitsToFloat(word);
    case 7: return from_half((word >> shift) & 65535u);
    }
    uint high = texelFetch(words, (byte >> 2) + 1).r;
    if (kind == 10) return from_double(word, high);
    float sign = kind == 9 ? sign_of(high) : 1.0;
    if (sign < 0.0) { // the magnitude: small negative numbers stay exact
      word = ~word + 1u;
      high = ~high + (word == 0u ? 1u : 0u);
    }
    return sign * (float(high) * 4294967296.0 + float(word));
  }
]]

-- Type -> the shader's number of it.
local kinds = { bool = 0, u8 = 0, i8 = 1, u16 = 2, i16 = 3, u32 = 4, i32 = 5, f32 = 6, f16 = 7,
  u64 = 8, i64 = 9, f64 = 10 }

--- The line that goes before it.
function picture.constants(m) return ("const int kind = %d;\n"):format(kinds[m.kind]) end

-- `box`: the cells in the buffer, the first at `low` of the picture's cells.
local fragment = picture.glsl .. palette.glsl .. [[
  uniform int base, step;
  uniform ivec2 strides, cells, box, low;
  uniform vec2 ends;
  uniform float exponent;
  in vec2 at;
  out vec4 color;

  vec4 cell(ivec2 c) {
    c = clamp(c, ivec2(0), cells - 1) - low;
    if (any(lessThan(c, ivec2(0))) || any(greaterThanEqual(c, box))) return vec4(0.0);
    int byte = base + c.x * strides.x + c.y * strides.y;
    vec4 v = vec4(number(byte), 0.0, 0.0, ends.y);
    for (int k = 1; k < parts; k++) v[k] = number(byte + k * step);
    return v;
  }

  vec4 interpolated() {
    vec2 p = at * vec2(cells) - 0.5;
    ivec2 c = ivec2(floor(p));
    vec2 t = p - floor(p);
    return mix(mix(cell(c), cell(c + ivec2(1, 0)), t.x),
      mix(cell(c + ivec2(0, 1)), cell(c + ivec2(1, 1)), t.x), t.y);
  }

  void main() {
    vec4 v = is_smooth ? interpolated() : cell(ivec2(floor(at * vec2(cells))));
    v = clamp((v - ends.x) / (ends.y - ends.x), 0.0, 1.0);
    if (has_gamma) v.rgb = pow(v.rgb, vec3(exponent));
    color = parts == 1 ? vec4(palette_color(v.r), 1.0) : vec4(v.rgb, parts == 4 ? v.a : 1.0);
  }
]]

-- A table of columns or an FFI buffer, as rg.image paints it: bytes, the top row first.
local function painted(w, what, options)
  local own = {}
  for _, name in ipairs { "low", "high", "palette", "gamma", "width", "height", "channels" } do
    own[name] = options[name]
  end
  local rgba, width, height = image.paint(w.session, what, own, caller)
  local base = ffi.cast("uint8_t *", rgba) + (height - 1) * width * 4
  return { base = base, keep = rgba, kind = "u8", parts = 4, step = 1, extents = { width, height },
    strides = { 4, -4 * width }, cells = { width, height }, low = { 0, 0 }, ends = { 0, 255 },
    exponent = 1 }
end

local largest_copy = 2 ^ 22 -- elements of a sparse field that are copied as a whole

-- A field or an array on two axes. A field without bounds is shown by the box of its active cells;
-- of a large sparse one only that box is copied.
local function look(x)
  local parts, extents, starts = source.look(x, caller)
  if #extents ~= 2 or (parts ~= 1 and parts ~= 3 and parts ~= 4) then
    return fail.argument(("%s takes two axes of numbers, or of vec3 or vec4 as colours, not %s")
      :format(caller, tostring(x)), parts == 2 and #extents == 2
      and "w:arrows(v) shows vectors; w:show(v.x) shows a component" or nil)
  end
  local is_unbounded = extents[1] == 0 or extents[2] == 0
  local m
  if is_unbounded or extents[1] * extents[2] > largest_copy and source.is_sparse(x, caller) then
    m = source.box(x, caller)
    if not m then return nil end
    if is_unbounded then extents, starts = { m.extents[1], m.extents[2] }, m.low end
    m.low = { m.low[1] - starts[1], m.low[2] - starts[2] }
  else
    m = source.grid(x, caller)
    m.low = { 0, 0 }
  end
  m.cells, m.starts = extents, starts
  return m
end

-- Where the picture is, in world coordinates: x0, y0, x1, y1.
local function place_of(w, m, options)
  if option.flag(options, "cells", caller) then
    local from = m.starts or { 0, 0 }
    return from[1], from[2], from[1] + m.cells[1], from[2] + m.cells[2]
  end
  local x, y = option.range(options, "x", caller) or w.view.x,
    option.range(options, "y", caller) or w.view.y
  return x[1], y[1], x[2], y[2]
end

-- The numbers that the ends of the palette stand for, as rg.image has them.
local function ends_of(m, options)
  local low, high = option.number(options, "low", caller), option.number(options, "high", caller)
  if low ~= nil or high ~= nil then low, high = low or 0, high or 0 end
  if low == high then
    low, high = 0, 1
    if m.parts == 1 then low, high = range.of(m) end
    if not low then low, high = 0, 1 end
    if m.parts == 1 and (m.cells[1] ~= m.extents[1] or m.cells[2] ~= m.extents[2]) then
      low, high = math.min(low, 0), math.max(high, 0)
    end
  end
  if low == high then high = low + 1 end
  return { low, high }
end

-- Notes the legend that the options ask for; `m` as `look` returned it, with its ends.
local function note_legend(w, m, options)
  color.note_legend(w, options, caller, {})
  if m.parts ~= 1 then return end
  color.note_legend(w, options, caller, { palette = options.palette or "grey", low = m.ends[1],
    high = m.ends[2] })
end

--- The same for a picture that is painted without OpenGL.
function picture.note_legend(w, what, options)
  local m = source.is(what) and look(what)
  if not m then return color.note_legend(w, options, caller, {}) end
  m.ends = ends_of(m, options)
  note_legend(w, m, options)
end

function picture.show(w, what, options)
  options = option.check(options, option_names, caller)
  if w.view.is_space then
    return fail.argument("window:show is for two dimensions, and the camera shows three",
      "w:volume and w:surface show a field of three axes", "option.invalid")
  end
  palette.check(w, options, caller)
  local gamma = option.number(options, "gamma", caller) or 0
  local m
  if source.is(what) then
    m = look(what)
    if not m then return end -- nothing is active
    m.ends, m.exponent = ends_of(m, options), gamma ~= 0 and 1 / gamma or 1
  else
    m = painted(w, what, options)
  end
  note_legend(w, m, options)
  local x0, y0, x1, y1 = place_of(w, m, options)
  w.canvas:begin()
  local is_smooth = option.flag(options, "smooth", caller) or false
  local constants = picture.constants(m)
    .. ("const int parts = %d;\nconst bool is_smooth = %s, has_gamma = %s;\n"):format(m.parts,
      is_smooth, m.exponent ~= 1)
  local p = w.canvas:program(constants, function()
    return { vertex = vertex, fragment = constants .. fragment }
  end)
  p:matrix("view", camera.matrix(w))
  p:vec4("place", x0, y0, x1, y1)
  local low = w.canvas:words(m, caller)
  p:int("words", 0)
  p:int("base", low)
  p:int("step", m.step)
  p:ivec2("strides", m.strides[1], m.strides[2])
  p:ivec2("cells", m.cells[1], m.cells[2])
  p:ivec2("box", m.extents[1], m.extents[2])
  p:ivec2("low", m.low[1], m.low[2])
  p:vec2("ends", m.ends[1], m.ends[2])
  p:float("exponent", m.exponent)
  w.canvas:bind(1, gl.TEXTURE_2D, palette.texture(w, options.palette or "grey"))
  p:int("palette", 1)
  gl.DrawArrays(gl.TRIANGLE_STRIP, 0, 4)
end

return picture
