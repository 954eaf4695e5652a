--- Where a window looks. In two dimensions, a view is a range of x and one of y, which the window
--- shows as a whole, and what the mouse made of it: a centre and a magnification. Until a script
--- calls `w:camera`, both ranges are 0 to 1, stretched to the window.
local ffi = require "ffi"

local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local option = require "regolith.window.option"

local camera = {}

local matrix = ffi.new "float[16]"

--- The view that a window begins with.
function camera.flat()
  return { x = { 0, 1 }, y = { 0, 1 }, stretch = true, zoom = 1, center = { 0.5, 0.5 },
    takes_mouse = false }
end

-- Half of what the window shows along x and y, in world units; negative where a range is reversed.
local function halves(w)
  local view = w.view
  local x, y = (view.x[2] - view.x[1]) / 2, (view.y[2] - view.y[1]) / 2
  if not view.stretch then
    local unit = math.max(math.abs(x) / w.width, math.abs(y) / w.height)
    x, y = unit * w.width * (x < 0 and -1 or 1), unit * w.height * (y < 0 and -1 or 1)
  end
  return x / view.zoom, y / view.zoom
end
camera.halves = halves

--- The matrix from world coordinates to those of OpenGL, valid until the next call. `x` and `y`:
--- ranges of a drawing call of its own, which take the place of the view's.
function camera.matrix(w, x, y)
  local view = w.view
  local half_x, half_y = halves(w)
  local scale_x, scale_y, from_x, from_y = 1, 1, 0, 0
  if x then
    scale_x = (view.x[2] - view.x[1]) / (x[2] - x[1])
    from_x = view.x[1] - x[1] * scale_x
  end
  if y then
    scale_y = (view.y[2] - view.y[1]) / (y[2] - y[1])
    from_y = view.y[1] - y[1] * scale_y
  end
  ffi.fill(matrix, 64)
  matrix[0], matrix[12] = scale_x / half_x, (from_x - view.center[1]) / half_x
  matrix[5], matrix[13] = scale_y / half_y, (from_y - view.center[2]) / half_y
  matrix[15] = 1
  return matrix
end

-- -- w:camera -------------------------------------------------------------------------------------

local caller = "window:camera"
local option_names = { "x", "y", "center", "height", "zoom", "stretch", "mouse" }

-- Whether a call asks for the same as the one before: then what the mouse did stays.
local function is_same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for k, v in pairs(a) do
    if not is_same(v, b[k]) then return false end
  end
  for k in pairs(b) do
    if a[k] == nil then return false end
  end
  return true
end

-- The ranges that options give: x and y, or a centre and a height.
local function ranges_of(w, options)
  local x, y = option.range(options, "x", caller), option.range(options, "y", caller)
  local center = option.numbers(options, "center", caller, 2)
  local height = option.positive(options, "height", caller)
  if (center or height) and (x or y) then
    return fail.argument("window:camera takes x and y, or a center and a height, not both", nil,
      "option.invalid")
  end
  if not center and not height then return x or { 0, 1 }, y or { 0, 1 } end
  center, height = center or { 0, 0 }, height or 1
  local half = height / 2 * w.width / w.height
  return { center[1] - half, center[1] + half }, { center[2] - height / 2, center[2] + height / 2 }
end

--- `w:camera{ x = {0, 10}, y = {0, 5} }`, or `{ center = {5, 2}, height = 5 }`: what the window
--- shows at least, as large in x as in y unless `stretch`. The mouse moves it: the wheel magnifies,
--- the right or middle button drags. A call like the one before leaves it where it is.
function camera.set(w, options)
  options = binary.check_options(options, option_names, caller)
  if w.view.options and is_same(w.view.options, options) then return end
  local x, y = ranges_of(w, options)
  local view = camera.flat()
  view.x, view.y, view.stretch = x, y, option.flag(options, "stretch", caller) or false
  view.center = { (x[1] + x[2]) / 2, (y[1] + y[2]) / 2 }
  view.zoom = option.positive(options, "zoom", caller, 1)
  view.takes_mouse = option.flag(options, "mouse", caller) ~= false
  view.options = {}
  for name, v in pairs(options) do
    view.options[name] = type(v) == "table" and { unpack(v) } or v
  end
  w.view = view
end

--- An event that moves the view.
function camera.take(w, event)
  local view = w.view
  if not view.takes_mouse then return end
  local half_x, half_y = halves(w)
  if event.kind == "wheel" then
    local x, y = camera.world(w, w.x, w.y)
    local factor = 1.15 ^ event.y
    view.zoom = view.zoom * factor
    view.center[1] = x + (view.center[1] - x) / factor -- what is under the mouse stays there
    view.center[2] = y + (view.center[2] - y) / factor
  elseif event.kind == "move" and (w.held.right or w.held.middle) then
    view.center[1] = view.center[1] - (event.x - w.x) / w.width * 2 * half_x
    view.center[2] = view.center[2] + (event.y - w.y) / w.height * 2 * half_y
  end
end

-- -- drawing --------------------------------------------------------------------------------------

--- Prepares the surface for a drawing call; returns the matrix of its options `x` and `y`.
function camera.begin(w, options, of)
  local x, y = option.range(options, "x", of), option.range(options, "y", of)
  w.surface:begin()
  return camera.matrix(w, x, y)
end

--- A position in coordinates of OpenGL, before the division by the last of the four.
function camera.project(m, p)
  local list = {}
  for row = 0, 3 do
    list[row + 1] = m[row] * p[1] + m[4 + row] * p[2] + m[8 + row] * p[3] + m[12 + row]
  end
  return list
end

--- Ends it.
function camera.finish() end

--- World coordinates of a place in the window, in pixels, y downward.
function camera.world(w, x, y)
  local half_x, half_y = halves(w)
  return w.view.center[1] + (2 * (x + 0.5) / w.width - 1) * half_x,
    w.view.center[2] + (1 - 2 * (y + 0.5) / w.height) * half_y
end

return camera
