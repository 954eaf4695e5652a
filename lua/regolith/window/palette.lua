--- Palettes as 256 colours, which the core paints, and as textures of these.
local ffi = require "ffi"
local image = require "regolith.file.image"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"

local palette = {}

local count = 256

--- Raises if an option names no palette.
function palette.check(w, options, caller)
  if option.palette(options, caller) then palette.ramp(w, options.palette) end
end

local ramps = {} -- name -> 256 colours

--- The colours of a palette, as bytes red green blue opacity.
function palette.ramp(w, name)
  if ramps[name] then return ramps[name] end
  local ramp = ffi.new("double[?]", count)
  for k = 0, count - 1 do ramp[k] = k / (count - 1) end
  ramps[name] = image.paint(w.session, ramp, { width = count, height = 1, channels = 1, low = 0,
    high = 1, palette = name }, "a palette")
  return ramps[name]
end

--- The name of a palette's texture.
function palette.texture(w, name)
  local own = w.canvas.palettes
  w.canvas:use()
  if own[name] then return own[name] end
  local rgba = palette.ramp(w, name)
  own[name] = gl.texture(gl.TEXTURE_2D, gl.LINEAR)
  gl.TexImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, count, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, rgba)
  return own[name]
end

--- GLSL: the colour of a number from 0 to 1.
palette.glsl = [[
  uniform sampler2D palette;
  vec3 palette_color(float t) {
    return texture(palette, vec2((clamp(t, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  }
]]

return palette
