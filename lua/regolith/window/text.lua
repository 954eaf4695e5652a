--- Text: glyphs of font.lua in one texture, a square of two triangles for each; positions are in
--- world units or pixels, sizes in pixels of a display of usual density.
local ffi = require "ffi"
local fail = require "regolith.error"
local attribute = require "regolith.window.attribute"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local font = require "regolith.window.font"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"

local text = {}

local side = 1024 -- of the texture
local largest = 400 -- size of a text: on a display of twice the density, a glyph fits the texture

local texts = { vertex = [[
  layout(location = 0) in float x;
  layout(location = 1) in float y;
  layout(location = 2) in float u;
  layout(location = 3) in float v;
  uniform vec4 anchor;
  uniform vec2 window;
  out vec2 at;
  void main() {
    at = vec2(u, v);
    // glyphs lie on whole pixels
    vec2 middle = floor((anchor.xy / anchor.w * 0.5 + 0.5) * window + 0.5) + vec2(x, y);
    gl_Position = vec4(middle / window * 2.0 - 1.0, anchor.z / anchor.w, 1.0);
  }
]], fragment = [[
  uniform sampler2D glyphs;
  uniform vec4 tint;
  in vec2 at;
  out vec4 shown;
  void main() { shown = vec4(tint.rgb, tint.a * texture(glyphs, at).r); }
]] }

-- -- the texture of glyphs ------------------------------------------------------------------------

local function new_atlas()
  local own = { texture = gl.texture(gl.TEXTURE_2D, gl.NEAREST), x = 0, y = 0, height = 0,
    glyphs = {} }
  gl.TexImage2D(gl.TEXTURE_2D, 0, gl.R8, side, side, 0, gl.RED, gl.UNSIGNED_BYTE,
    ffi.new("uint8_t[?]", side * side))
  return own
end

-- The place of a glyph in the texture, which starts again when it is full.
local function glyph_of(w, name, code, size)
  local canvas = w.canvas
  local atlas = canvas.atlas or new_atlas()
  canvas.atlas = atlas
  local key = ("%s %d %d"):format(name, code, size)
  if atlas.glyphs[key] then return atlas.glyphs[key] end
  local own = font.open(name):glyph(code, size)
  if atlas.x + own.width + 1 > side then
    atlas.x, atlas.y, atlas.height = 0, atlas.y + atlas.height, 0
  end
  if atlas.y + own.rows + 1 > side then
    atlas.x, atlas.y, atlas.height, atlas.glyphs = 0, 0, 0, {}
  end
  canvas:bind(0, gl.TEXTURE_2D, atlas.texture)
  gl.PixelStorei(gl.UNPACK_ALIGNMENT, 1)
  if own.width > 0 and own.rows > 0 then
    local packed = ffi.new("uint8_t[?]", own.width * own.rows)
    for y = 0, own.rows - 1 do
      ffi.copy(packed + y * own.width, own.cover + y * own.pitch, own.width)
    end
    gl.TexSubImage2D(gl.TEXTURE_2D, 0, atlas.x, atlas.y, own.width, own.rows, gl.RED,
      gl.UNSIGNED_BYTE, packed)
  end
  local glyph = { u = atlas.x, v = atlas.y, width = own.width, rows = own.rows, left = own.left,
    top = own.top, advance = own.advance }
  atlas.glyphs[key] = glyph
  atlas.x, atlas.height = atlas.x + own.width + 1, math.max(atlas.height, own.rows + 1)
  return glyph
end

--- The code points of UTF-8; a wrong byte is a replacement character.
local function codes_of(line)
  local codes = {}
  for character in line:gmatch "[%z\1-\127\194-\244][\128-\191]*" do
    local code = character:byte()
    if code >= 0xf0 then code = code % 8 elseif code >= 0xe0 then code = code % 16
    elseif code >= 0xc0 then code = code % 32 end
    for k = 2, #character do code = code * 64 + character:byte(k) % 64 end
    codes[#codes + 1] = code
  end
  return codes
end
text.codes_of = codes_of

local function lines_of(words)
  local list = {}
  for line in (words .. "\n"):gmatch "([^\n]*)\n" do list[#list + 1] = codes_of(line) end
  return list
end

local function width_of(w, name, codes, size)
  local width = 0
  for _, code in ipairs(codes) do width = width + glyph_of(w, name, code, size).advance end
  return width
end

--- The width of a text of one line, in pixels of the canvas.
function text.width(w, words, size)
  return width_of(w, w.font, codes_of(words), size)
end

local shares = { left = 0, center = 0.5, right = 1 }
local spacing = 1.25 -- from line to line

-- Two triangles for each glyph: x, y, u, v of every corner.
local function layout(w, words, size, align)
  local corners, count, lines = {}, 0, lines_of(words)
  local function put(x, y, u, v)
    corners[count + 1], corners[count + 2] = x, y
    corners[count + 3], corners[count + 4] = u / side, v / side
    count = count + 4
  end
  for row, codes in ipairs(lines) do
    local pen = -math.floor(width_of(w, w.font, codes, size) * shares[align] + 0.5)
    local base = -math.floor((row - 1) * size * spacing + 0.5)
    for _, code in ipairs(codes) do
      local g = glyph_of(w, w.font, code, size)
      local x, y = math.floor(pen + 0.5) + g.left, base + g.top
      put(x, y, g.u, g.v)
      put(x, y - g.rows, g.u, g.v + g.rows)
      put(x + g.width, y, g.u + g.width, g.v)
      put(x + g.width, y, g.u + g.width, g.v)
      put(x, y - g.rows, g.u, g.v + g.rows)
      put(x + g.width, y - g.rows, g.u + g.width, g.v + g.rows)
      pen = pen + g.advance
    end
  end
  return corners, count
end

--- Draws words at coordinates of OpenGL; `size` in pixels of the canvas, the first line's base
--- there.
function text.put(w, words, anchor, size, tint, align)
  local corners, count = layout(w, words, size, align)
  if count == 0 then return end
  local data = ffi.new("float[?]", count, corners)
  local m = { base = ffi.cast("uint8_t *", data), keep = data, kind = "f32", parts = 4, step = 4,
    extents = { count / 4 }, strides = { 16 } }
  local p = w.canvas:program("text", texts)
  p:vec4("anchor", anchor[1], anchor[2], anchor[3], anchor[4])
  p:vec2("window", w.canvas.width, w.canvas.height)
  p:vec4("tint", tint[1], tint[2], tint[3], tint[4])
  p:int("glyphs", 0)
  w.canvas:bind(0, gl.TEXTURE_2D, w.canvas.atlas.texture)
  attribute.reset()
  attribute.bind_all(0, m, attribute.upload(w, "text", m), 0)
  gl.DrawArrays(gl.TRIANGLES, 0, count / 4)
end

local caller = "window:text"
local option_names = { "size", "color", "align", "pixels", "x", "y" }

--- `w:text("energy", { 0.1, 0.9 }, { size = 16, color = "white", align = "left" })`
function text.text(w, words, pos, options)
  options = option.check(options, option_names, caller)
  if type(words) == "number" then words = tostring(words) end
  if type(words) ~= "string" then
    return fail.argument(("%s takes a text first, not %s"):format(caller, fail.describe(words)))
  end
  local size = option.positive(options, "size", caller, 16)
  if size > largest then
    return fail.option(options, "size", caller, ("a positive number up to %d"):format(largest))
  end
  local tint = color.single(options, "color", caller, { 1, 1, 1, 1 })
  local align = options.align == nil and "left" or options.align
  if not shares[align] then
    return fail.option(options, "align", caller, "\"left\", \"center\" or \"right\"")
  end
  local place = option.position(pos, caller)
  local in_pixels = option.flag(options, "pixels", caller)
  local view = camera.begin(w, options, caller)
  local anchor
  if in_pixels then
    anchor = { place[1] / w.width * 2 - 1, place[2] / w.height * 2 - 1, 0, 1 }
  else
    anchor = camera.project(view, place)
  end
  if anchor[4] > 0 then
    gl.Disable(gl.DEPTH_TEST) -- words are on top of what was drawn before
    local scale = w.canvas.width / w.width
    text.put(w, words, anchor, math.max(4, math.floor(size * scale + 0.5)), tint, align)
  end
end

return text
