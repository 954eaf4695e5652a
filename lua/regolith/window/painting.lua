--- Pictures and dots in a window without OpenGL (plain.lua), of one colour and stretched to the
--- window, as its camera's ranges say. What needs more says so; where nothing is shown anyway
--- (SDL_VIDEODRIVER=dummy), it is left out.
local ffi = require "ffi"
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local option = require "regolith.window.option"
local sdl = require "regolith.window.sdl"
local source = require "regolith.window.source"

local painting = {}

--- Raises: `what` needs OpenGL. Returns true where nothing is shown.
function painting.refuse(w, what)
  if sdl.driver() == "dummy" then return true end
  return fail.raise { code = "device.missing",
    message = ("%s needs OpenGL 3.3, which this window does not have: %s"):format(what,
      w.canvas.why),
    hint = "install it: apt install libgl1-mesa-dri; w:show and w:points of one colour do without" }
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

local picture_names = { "low", "high", "palette", "gamma", "width", "height", "channels" }
local more_of_pictures = { "x", "y", "cells", "smooth", "legend" }

function painting.show(w, what, options)
  options = split(w, options, picture_names, more_of_pictures, "window:show")
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

-- Converts a colour with components from 0 to 1 for all dots.
local function color_of(options)
  local v = options.color
  if v == nil then return { 1, 1, 1 } end
  local one = color.one(v)
  if one then return one end
  return fail.argument(("option 'color' of window:points is { r, g, b }, three numbers from 0 \z
    to 1, or \"#ff8800\", got %s"):format(fail.describe(v)), "more needs OpenGL 3.3",
    "option.invalid")
end

local function size_of(options)
  local v = options.size == nil and 3 or options.size
  if type(v) ~= "number" or v % 1 ~= 0 or v < 1 then
    return fail.argument(("option 'size' of window:points is a whole number of pixels, got %s")
      :format(fail.describe(v)), nil, "option.invalid")
  end
  return v
end

local more_of_points = { "radius", "palette", "low", "high", "opacity", "legend" }

function painting.points(w, pos, options)
  local caller = "window:points"
  options = split(w, options, { "x", "y", "color", "size" }, more_of_points, caller)
  local own, size = color_of(options), size_of(options)
  local m = source.list(pos, caller)
  if m.parts < 2 and m.extents[1] > 0 then
    return fail.argument(("window:points takes vectors, not %s"):format(tostring(pos)))
  end
  local across, up = range_of(w, options, "x"), range_of(w, options, "y")
  local x, y = ffi.new("double[?]", m.extents[1]), ffi.new("double[?]", m.extents[1])
  local read = binary.reader(m.kind)
  for k = 0, m.extents[1] - 1 do
    local at = ffi.cast("const char *", m.base) + k * m.strides[1]
    x[k], y[k] = read(at), read(at + m.step)
  end
  w.canvas:points(x, y, m.extents[1], across, up, own, size)
end

return painting
