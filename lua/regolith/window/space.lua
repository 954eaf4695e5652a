--- The camera of three dimensions: it orbits a target or flies, by the mouse and keys; and two
--- lights, by default next to the camera.
---
---   orbit: the left button turns around the target, the right or middle one moves it, the wheel
---          comes nearer
---   fly:   the left button looks around; W A S D, Q and E move, faster with Shift
local ffi = require "ffi"
local fail = require "regolith.error"
local lib = require "regolith.lib"
local gl = require "regolith.window.gl"
local option = require "regolith.window.option"

local space = {}

local caller = "window:camera"
local modes = { orbit = true, fly = true }

--- Options that only this camera has.
space.option_names = { "eye", "target", "distance", "up", "fov", "mode", "near", "far" }

-- -- vectors, as lists of three numbers -----------------------------------------------------------

local function sub(a, b) return { a[1] - b[1], a[2] - b[2], a[3] - b[3] } end
local function add(a, b, s) return { a[1] + b[1] * s, a[2] + b[2] * s, a[3] + b[3] * s } end
local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end
local function unit(a)
  local length = math.sqrt(dot(a, a))
  return { a[1] / length, a[2] / length, a[3] / length }, length
end

-- Turns v around a unit axis.
local function rotate(v, axis, angle)
  local c, s = math.cos(angle), math.sin(angle)
  local along, across = dot(axis, v) * (1 - c), cross(axis, v)
  return { v[1] * c + across[1] * s + axis[1] * along, v[2] * c + across[2] * s + axis[2] * along,
    v[3] * c + across[3] * s + axis[3] * along }
end

-- -- the view -------------------------------------------------------------------------------------

--- The view that options ask for.
function space.view(options)
  local mode = options.mode == nil and "orbit" or options.mode
  if not modes[mode] then
    return fail.option(options, "mode", caller, "\"orbit\" or \"fly\"")
  end
  local target = option.numbers(options, "target", caller, 3) or { 0, 0, 0 }
  local distance = option.positive(options, "distance", caller, 3)
  local up, length = unit(option.numbers(options, "up", caller, 3) or { 0, 1, 0 })
  local eye = option.numbers(options, "eye", caller, 3)
  if length == 0 then return fail.option(options, "up", caller, "a direction") end
  if not eye then -- from above and from the side
    local ahead = math.abs(up[3]) > 0.9 and { 0, -1, 0 } or { 0, 0, 1 }
    local side = cross(up, ahead)
    eye = add(target, unit(add(add(ahead, side, 0.6), up, 0.5)), distance)
  end
  local fov = option.positive(options, "fov", caller, 45)
  if fov >= 180 then return fail.option(options, "fov", caller, "degrees below 180") end
  local forward, far_away = unit(sub(target, eye))
  if far_away == 0 then
    return fail.argument("window:camera: eye and target are one point", nil, "option.invalid")
  end
  return { is_space = true, mode = mode, eye = eye, target = target, up = up, fov = fov,
    near = option.positive(options, "near", caller), far = option.positive(options, "far", caller),
    forward = forward, distance = far_away, time = lib.C.rg_time() }
end

local function axes_of(view)
  local forward = unit(sub(view.target, view.eye))
  local right, length = unit(cross(forward, view.up))
  if length ~= length or length < 1e-6 then -- the eye is above the target
    right = unit(cross(forward, { view.up[3], view.up[1], view.up[2] }))
  end
  return right, cross(right, forward), forward
end

local look, projection = ffi.new "float[16]", ffi.new "float[16]"
local both = ffi.new "float[16]"

-- The matrix of the camera: what is in front of it has negative z.
local function set_look(view)
  local right, up, forward = axes_of(view)
  for k = 0, 2 do
    look[4 * k], look[4 * k + 1], look[4 * k + 2] = right[k + 1], up[k + 1], -forward[k + 1]
    look[4 * k + 3] = 0
  end
  look[12], look[13], look[14] = -dot(right, view.eye), -dot(up, view.eye), dot(forward, view.eye)
  look[15] = 1
end

--- The matrices from the world to the camera, from there to OpenGL, and from the world to OpenGL;
--- valid until the next call.
function space.matrices(w)
  local view = w.view
  set_look(view)
  local _, distance = unit(sub(view.target, view.eye))
  local near, far = view.near or distance / 100, view.far or distance * 100
  local scale = 1 / math.tan(math.rad(view.fov) / 2)
  ffi.fill(projection, 64)
  projection[0], projection[5] = scale * w.height / w.width, scale
  projection[10], projection[14] = (far + near) / (near - far), 2 * far * near / (near - far)
  projection[11] = -1
  for column = 0, 3 do
    for row = 0, 3 do
      local sum = 0
      for k = 0, 3 do sum = sum + projection[4 * k + row] * look[4 * column + k] end
      both[4 * column + row] = sum
    end
  end
  return look, projection, both
end

--- Where the mouse points: the eye, and the direction of length 1.
function space.ray(w)
  local view = w.view
  local right, up, forward = axes_of(view)
  local tangent = math.tan(math.rad(view.fov) / 2)
  local x = (2 * (w.x + 0.5) / w.width - 1) * tangent * w.width / w.height
  local y = (1 - 2 * (w.y + 0.5) / w.height) * tangent
  return view.eye, (unit(add(add(forward, right, x), up, y)))
end

-- -- the mouse and keys ---------------------------------------------------------------------------

local steepest = math.rad(89)

-- Turns a direction from the eye by angles, but not over the top.
local function turn(view, direction, across, upward)
  local right = axes_of(view)
  local flat, length = unit(direction)
  local pitch = math.asin(math.max(-1, math.min(1, dot(flat, view.up))))
  upward = math.max(-steepest - pitch, math.min(steepest - pitch, upward))
  local turned = rotate(rotate(flat, right, upward), view.up, across)
  return { turned[1] * length, turned[2] * length, turned[3] * length }
end

-- World units for a pixel at the target.
local function unit_of(w)
  local _, distance = unit(sub(w.view.target, w.view.eye))
  return 2 * distance * math.tan(math.rad(w.view.fov) / 2) / w.height
end

local function shift(view, direction, amount)
  view.eye, view.target = add(view.eye, direction, amount), add(view.target, direction, amount)
end

--- An event that moves the camera.
function space.take(w, event)
  local view = w.view
  local x, y = event.x and event.x - w.x or 0, event.y and event.y - w.y or 0
  if event.kind == "wheel" then
    local forward = select(3, axes_of(view))
    if view.mode == "fly" then return shift(view, forward, event.fine * 0.1 * view.distance) end
    view.eye = add(view.target, sub(view.eye, view.target), 1.15 ^ -event.fine)
  elseif event.kind ~= "move" then
    return
  elseif w.held.left and view.mode == "orbit" then
    local from = turn(view, sub(view.target, view.eye), -x * 0.008, -y * 0.008)
    view.eye = sub(view.target, from)
  elseif w.held.left then
    view.target = add(view.eye, turn(view, sub(view.target, view.eye), -x * 0.004, -y * 0.004), 1)
  elseif w.held.right or w.held.middle then
    local right, up = axes_of(view)
    shift(view, right, -x * unit_of(w))
    shift(view, up, y * unit_of(w))
  end
end

local moves = { w = { 0, 0, 1 }, s = { 0, 0, -1 }, a = { -1, 0, 0 }, d = { 1, 0, 0 },
  e = { 0, 1, 0 }, q = { 0, -1, 0 } }

--- Moves a flying camera by the keys that are held, for the time since the last frame.
function space.advance(w)
  local view, now = w.view, lib.C.rg_time()
  local seconds = math.min(0.1, now - view.time)
  view.time = now
  if view.mode ~= "fly" or not view.takes_mouse then return end
  local right, up, forward = axes_of(view)
  local fast = w.keys["left shift"] and 4 or 1
  for key, move in pairs(moves) do
    if w.keys[key] then
      local amount = seconds * fast * 0.5 * view.distance
      shift(view, right, move[1] * amount)
      shift(view, up, move[2] * amount)
      shift(view, forward, move[3] * amount)
    end
  end
end

-- -- light ----------------------------------------------------------------------------------------

-- Toward the lights, as the camera sees it: from above on the left, and a weak one from the right.
local own_lights = { { direction = { -0.4, 0.7, 0.6 }, color = { 0.85, 0.84, 0.8 } },
  { direction = { 0.8, 0.1, 0.3 }, color = { 0.18, 0.2, 0.25 } } }

-- GLSL: lit(color, normal, position), all as the camera sees them.
local glsl = [[
#ifdef HAS_SHADOW
  uniform sampler2DShadow shadow;
  uniform mat4 to_light;
  uniform float texel;

  // the share of the first light that arrives
  float arriving(vec3 position, vec3 normal) {
    vec3 p = (to_light * vec4(position + 2.0 * texel * normal, 1.0)).xyz * 0.5 + 0.5;
    float sum = 0.0, unit = 1.0 / float(textureSize(shadow, 0).x);
    for (int i = -1; i <= 1; i++)
      for (int j = -1; j <= 1; j++) sum += texture(shadow, p + vec3(vec2(i, j) * unit, -0.0005));
    return sum / 9.0;
  }
#else
  float arriving(vec3 position, vec3 normal) { return 1.0; }
#endif

  uniform vec3 toward_0, toward_1, light_0, light_1;
  uniform float shine;
  vec3 lit(vec3 color, vec3 normal, vec3 position) {
    vec3 back = -normalize(position);
    float d0 = max(dot(normal, toward_0), 0.0), d1 = max(dot(normal, toward_1), 0.0);
    float s0 = pow(max(dot(normal, normalize(toward_0 + back)), 0.0), 40.0);
    vec3 around = vec3(0.2) + 0.08 * normal.y;
    vec3 first = light_0 * mix(0.25, 1.0, arriving(position, normal));
    return color * (around + first * d0 + light_1 * d1) + shine * s0 * first;
  }
]]

-- The first light's direction in the world.
local function key_direction(w)
  if w.own_lights then return unit(w.own_lights[1].direction) end
  local d, right, up, forward = own_lights[1].direction, axes_of(w.view)
  return unit(add(add(add({ 0, 0, 0 }, right, d[1]), up, d[2]), forward, -d[3]))
end

--- The axes of a view from the first light: to the right, up, and toward it.
function space.light_axes(w)
  local toward = key_direction(w)
  local right = unit(cross(math.abs(toward[2]) < 0.9 and { 0, 1, 0 } or { 1, 0, 0 }, toward))
  return right, cross(toward, right), toward
end

--- Rows { a, b, c, d } of a matrix from the world, as one from what the camera sees.
function space.seen_rows(w, rows)
  local right, up, forward = axes_of(w.view)
  local seen = {}
  for k, row in ipairs(rows) do
    seen[k] = { dot(row, right), dot(row, up), -dot(row, forward), row[4] + dot(row, w.view.eye) }
  end
  return seen
end

--- The program of this name, whose fragments are lit. With and without shadows it is two programs:
--- Mesa's processor executes either side of an `if`, and shadows cost more than all else.
function space.program(w, name, texts)
  local prelude = w.shadow and "#define HAS_SHADOW\n" or ""
  return w.canvas:program(prelude .. name, function()
    return { vertex = texts.vertex, geometry = texts.geometry,
      fragment = prelude .. glsl .. texts.fragment }
  end)
end

--- Sets a program's lights.
function space.light(w, program, shine)
  if w.shadow then
    program:int("shadow", 4)
    program:matrix("to_light", w.shadow.matrix)
    program:float("texel", w.shadow.texel)
    w.canvas:bind(4, gl.TEXTURE_2D, w.shadow.texture)
  end
  for k = 1, 2 do
    local own = w.own_lights and w.own_lights[k]
    local d = own and own.direction or own_lights[k].direction
    local color = own and own.color or own_lights[k].color
    if own then -- in the world
      d = { look[0] * d[1] + look[4] * d[2] + look[8] * d[3],
        look[1] * d[1] + look[5] * d[2] + look[9] * d[3],
        look[2] * d[1] + look[6] * d[2] + look[10] * d[3] }
    end
    d = unit(d)
    program:vec3("toward_" .. k - 1, d[1], d[2], d[3])
    program:vec3("light_" .. k - 1, color[1], color[2], color[3])
  end
  program:float("shine", shine)
end

--- `w:lights({ direction = {0, 1, 0}, color = {1, 1, 1} }, ..)`: the directions in which one or two
--- lights are, in the world. By default: those next to the camera.
function space.lights(w, ...)
  local list, color = { ... }, require "regolith.window.color"
  local count = select("#", ...)
  if count > 2 then
    return fail.argument(("window:lights takes up to two lights, not %d"):format(count))
  end
  if count == 0 then
    w.own_lights = false
    return
  end
  local own = {}
  for k = 1, count do
    if type(list[k]) ~= "table" then
      return fail.argument(("window:lights takes { direction =, color = }, not %s"):format(
        fail.describe(list[k])))
    end
    fail.check_options(list[k], { "direction", "color" }, "window:lights")
    local direction = option.numbers(list[k], "direction", "window:lights", 3)
    if not direction or dot(direction, direction) == 0 then
      return fail.argument("a light of window:lights needs a direction, { x, y, z }, toward it",
        nil, "option.invalid")
    end
    own[k] = { direction = direction,
      color = color.single(list[k], "color", "window:lights", { 1, 1, 1 }) }
  end
  own[2] = own[2] or { direction = { 0, 1, 0 }, color = { 0, 0, 0 } }
  w.own_lights = own
end

return space
