--- Pictures, dots and legends in a window without OpenGL (plain.lua); pictures are stretched to the
--- window, and dots are where its camera's ranges say. What needs more says so; where nothing is
--- shown anyway (SDL_VIDEODRIVER=dummy), it is left out.
local ffi = require "ffi"
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local astray = require "regolith.window.astray"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local font = require "regolith.window.font"
local option = require "regolith.window.option"
local palette = require "regolith.window.palette"
local picture = require "regolith.window.picture"
local sdl = require "regolith.window.sdl"
local source = require "regolith.window.source"
local text = require "regolith.window.text"

local painting = {}

--- Raises: `what` needs OpenGL. Returns true where nothing is shown.
function painting.refuse(w, what)
  if sdl.driver() == "dummy" then return true end
  return fail.raise { code = "device.missing",
    message = ("%s needs OpenGL 3.3, which this window does not have: %s"):format(what,
      w.canvas.why),
    hint = "install it: apt install libgl1-mesa-dri; w:show and w:points do without" }
end

-- The options that can be painted; a window with OpenGL has more.
local function split(w, options, names, more, caller)
  local all, own = { unpack(names) }, {}
  for _, name in ipairs(more) do all[#all + 1] = name end
  options = option.check(options, all, caller)
  for _, name in ipairs(more) do
    if options[name] ~= nil then painting.refuse(w, ("option '%s' of %s"):format(name, caller)) end
  end
  for _, name in ipairs(names) do own[name] = options[name] end
  return own
end

local picture_names = { "low", "high", "palette", "gamma", "width", "height", "channels",
  "legend" }
local more_of_pictures = { "x", "y", "cells", "smooth" }

function painting.show(w, what, options)
  options = split(w, options, picture_names, more_of_pictures, "window:show")
  if options.legend ~= nil then picture.note_legend(w, what, options) end
  options.legend = nil
  w.canvas:show(w.session, what, options)
end

-- What the window shows along an axis, or the range of a call of its own.
local function range_of(w, options, name)
  local own = option.range(options, name, "window:points")
  if own then return own end
  if w.view.is_space then
    painting.refuse(w, "a camera of three dimensions")
    return { 0, 1 }
  end
  local axis = name == "x" and 1 or 2
  local half, middle = select(axis, camera.halves(w)), w.view.center[axis]
  return { middle - half, middle + half }
end

-- Three bytes for each of `count` dots; `own` as color.look returned it.
local function bytes_of(w, own, count)
  local rgb = ffi.new("uint8_t[?]", 3 * count)
  local m, one = own.m, own.one
  local read = m and binary.reader(m.kind)
  local ramp = own.palette and palette.ramp(w, own.palette)
  for k = 0, count - 1 do
    local at = m and ffi.cast("const char *", m.base) + k * m.strides[1]
    if ramp then
      local share = (tonumber(read(at)) - own.low) / (own.high - own.low)
      share = math.max(0, math.min(share == share and share or 0, 1))
      ffi.copy(rgb + 3 * k, ramp + 4 * math.floor(share * 255 + 0.5), 3)
    else
      for part = 0, 2 do
        local v = one and one[part + 1] or read(at + part * m.step)
        rgb[3 * k + part] = math.max(0, math.min(v, 1)) * 255
      end
    end
  end
  return rgb
end

local function size_of(options)
  return option.pixels(options, "size", "window:points") or 3
end

local more_of_points = { "radius", "opacity" }
local point_names = { "x", "y", "color", "size", "palette", "low", "high", "legend" }

function painting.points(w, pos, options)
  local caller = "window:points"
  options = split(w, options, point_names, more_of_points, caller)
  local size = size_of(options)
  local m = source.list(pos, caller)
  local count = m.extents[1]
  if m.parts < 2 and count > 0 then
    return fail.argument(("window:points takes vectors, not %s"):format(tostring(pos)))
  end
  local rgb = bytes_of(w, color.look(w, options, caller, count), count)
  local across, up = range_of(w, options, "x"), range_of(w, options, "y")
  astray.check(w, m, options, caller)
  local x, y = ffi.new("double[?]", count), ffi.new("double[?]", count)
  local read = binary.reader(m.kind)
  for k = 0, count - 1 do
    local at = ffi.cast("const char *", m.base) + k * m.strides[1]
    x[k], y[k] = read(at), read(at + m.step)
  end
  w.canvas:points(x, y, count, across, up, rgb, size)
end

-- -- what legend.lua draws with -------------------------------------------------------------------

function painting.begin() end

--- The width of a line of words, in pixels.
function painting.width(w, words, size)
  local width, own = 0, font.open(w.font)
  for _, code in ipairs(text.codes_of(words)) do width = width + own:glyph(code, size).advance end
  return width
end

function painting.shade(w, x, y, width, height)
  w.canvas:patch(math.floor(x), math.floor(w.canvas.height - y - height), math.floor(width),
    math.floor(height), function() return 0.6, 0, 0, 0 end)
end

function painting.bar(w, x, y, width, height, name)
  local ramp = palette.ramp(w, name)
  w.canvas:patch(math.floor(x), math.floor(w.canvas.height - y - height), width,
    math.floor(height), function(_, j)
      local at = 4 * math.floor((1 - j / height) * 255)
      return 1, ramp[at], ramp[at + 1], ramp[at + 2]
    end)
end

--- White words that end at x.
function painting.words(w, words, x, y, size)
  local own, pen = font.open(w.font), math.floor(x - painting.width(w, words, size) + 0.5)
  for _, code in ipairs(text.codes_of(words)) do
    local g = own:glyph(code, size)
    w.canvas:patch(math.floor(pen + 0.5) + g.left, math.floor(w.canvas.height - y) - g.top,
      g.width, g.rows, function(i, j) return g.cover[j * g.pitch + i] / 255, 255, 255, 255 end)
    pen = pen + g.advance
  end
end

return painting
