--- The view of a window. In two dimensions (in three: space.lua), it is a range of x and one of y,
--- both shown whole, and a centre and a magnification, which the mouse changes. Until a script
--- calls `w:camera`, both ranges are 0 to 1, stretched to the window.
local ffi = require "ffi"
local fail = require "regolith.error"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"
local space = require "regolith.window.space"

local camera = {}

local matrix = ffi.new "float[16]"

--- The view that a window begins with.
function camera.flat()
  return { x = { 0, 1 }, y = { 0, 1 }, stretch = true, zoom = 1, center = { 0.5, 0.5 },
    takes_mouse = false }
end

-- Half of what the window shows along x and y, in world units.
local function halves(w)
  local view = w.view
  local x, y = (view.x[2] - view.x[1]) / 2, (view.y[2] - view.y[1]) / 2
  if not view.stretch then
    local unit = math.max(math.abs(x) / w.width, math.abs(y) / w.height)
    x, y = unit * w.width, unit * w.height
  end
  return x / view.zoom, y / view.zoom
end
camera.halves = halves

--- The matrix from world coordinates to those of OpenGL, valid until the next call. `x` and `y`:
--- ranges of one drawing call, which replace those of the view.
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
local flat_names = { "x", "y", "center", "height", "zoom", "stretch" }
local option_names = { "mouse" }
for _, list in ipairs { flat_names, space.option_names } do
  for _, name in ipairs(list) do option_names[#option_names + 1] = name end
end

-- Whether the options are those of a camera of three dimensions.
local function is_space(options)
  for _, name in ipairs(space.option_names) do
    if options[name] ~= nil then
      for _, flat in ipairs(flat_names) do
        if options[flat] ~= nil then
          return fail.argument(("window:camera: '%s' is for three dimensions, and '%s' for two")
            :format(name, flat), nil, "option.invalid")
        end
      end
      return true
    end
  end
  return false
end

-- Whether a call has the same options as the one before, after which what the mouse did stays.
local function is_same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" or getmetatable(b) then return a == b end
  for k, v in pairs(a) do
    if not is_same(v, b[k]) then return false end
  end
  for k in pairs(b) do
    if a[k] == nil then return false end
  end
  return true
end

-- The ranges of x and y that the options give, as such or by a centre and a height.
local function ranges_of(w, options)
  local x, y = option.rising(options, "x", caller), option.rising(options, "y", caller)
  local center = option.numbers(options, "center", caller, 2)
  local height = option.positive(options, "height", caller)
  if (center or height) and (x or y) then
    return fail.argument("window:camera takes either x and y, or center and height", nil,
      "option.invalid")
  end
  if not center and not height then return x or { 0, 1 }, y or { 0, 1 } end
  center, height = center or { 0, 0 }, height or 1
  local half = height / 2 * w.width / w.height
  return { center[1] - half, center[1] + half }, { center[2] - height / 2, center[2] + height / 2 }
end

--- `w:camera{ x = {0, 10}, y = {0, 5} }`, or `{ center = {5, 2}, height = 5 }`: what the window
--- shows at least, at one scale in x and y unless `stretch`. The wheel of the mouse magnifies, its
--- right or middle button drags. With `eye`, `target` or another option of space.lua, it is a
--- camera of three dimensions. A call with the options of the one before changes nothing.
function camera.set(w, options)
  options = option.check(options, option_names, caller)
  if w.view.options and is_same(w.view.options, options) then return end
  if w.canvas.is_gl then w.canvas:settle() end
  local view
  if is_space(options) then
    view = space.view(options)
  else
    view = camera.flat()
    local x, y = ranges_of(w, options)
    view.x, view.y, view.stretch = x, y, option.flag(options, "stretch", caller) or false
    view.center = { (x[1] + x[2]) / 2, (y[1] + y[2]) / 2 }
    view.zoom = option.positive(options, "zoom", caller, 1)
  end
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
  event.fine = event.fine or event.y -- of a wheel
  if not view.takes_mouse then return end
  if view.is_space then return space.take(w, event) end
  local half_x, half_y = halves(w)
  if event.kind == "wheel" then
    local x, y = camera.world(w, w.x, w.y)
    local factor = 1.15 ^ event.fine
    view.zoom = view.zoom * factor
    view.center[1] = x + (view.center[1] - x) / factor -- the point under the mouse stays
    view.center[2] = y + (view.center[2] - y) / factor
  elseif event.kind == "move" and (w.held.right or w.held.middle) then
    view.center[1] = view.center[1] - (event.x - w.x) / w.width * 2 * half_x
    view.center[2] = view.center[2] + (event.y - w.y) / w.height * 2 * half_y
  end
end

-- -- drawing --------------------------------------------------------------------------------------

--- Prepares the canvas for a drawing call; returns the matrix of its options `x` and `y`.
function camera.begin(w, options, of)
  local x, y = option.range(options, "x", of), option.range(options, "y", of)
  w.canvas:begin()
  if not w.view.is_space then return camera.matrix(w, x, y) end
  if x or y then
    return fail.argument(("%s: the ranges x and y are for two dimensions, and the camera shows \z
      three"):format(of), nil, "option.invalid")
  end
  gl.Enable(gl.DEPTH_TEST)
  gl.DepthMask(1)
  return (select(3, space.matrices(w)))
end

--- Raises unless the camera shows three dimensions.
function camera.check_space(w, of)
  if w.view.is_space then return end
  return fail.argument(("%s needs a camera of three dimensions"):format(of),
    "w:camera{ eye = { 2, 2, 3 }, target = { 0, 0, 0 } }", "option.invalid")
end

--- Like camera.begin, for calls that need three dimensions; returns the matrices of space.matrices.
function camera.begin_space(w, of)
  camera.check_space(w, of)
  w.canvas:begin()
  gl.Enable(gl.DEPTH_TEST)
  gl.DepthMask(1)
  return space.matrices(w)
end

--- How large a world unit is across the line of sight, in coordinates of OpenGL before their
--- division, along x and y. `m`: the matrix that camera.begin returned.
function camera.unit(w, m)
  if not w.view.is_space then return m[0], m[5] end
  local _, projection = space.matrices(w)
  return projection[0], projection[5]
end

--- A position in coordinates of OpenGL, before the division by the last of the four.
function camera.project(m, p)
  local list = {}
  for row = 0, 3 do
    list[row + 1] = m[row] * p[1] + m[4 + row] * p[2] + m[8 + row] * p[3] + m[12 + row]
  end
  return list
end

--- World coordinates of a position in the window, which is in pixels, y downward.
function camera.world(w, x, y)
  local half_x, half_y = halves(w)
  return w.view.center[1] + (2 * (x + 0.5) / w.width - 1) * half_x,
    w.view.center[2] + (1 - 2 * (y + 0.5) / w.height) * half_y
end

return camera
