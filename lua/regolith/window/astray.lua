--- Warns of what leaves a window black although no call fails: positions that all lie outside the
--- view, and frames that are never presented. Each is reported once.
local log = require "regolith.log"
local camera = require "regolith.window.camera"
local range = require "regolith.window.range"

local astray = {}

local most_questions = 1000 -- calls of is_open without a frame

-- The least and greatest coordinate number `part` of positions; nil if none is finite.
local function ends_of(m, part)
  return range.of { base = m.base + part * m.step, kind = m.kind, parts = 1, step = m.step,
    extents = m.extents, strides = m.strides }
end

-- What the window shows along an axis, from the lower end.
local function shown_along(w, own, axis)
  if own then return math.min(own[1], own[2]), math.max(own[1], own[2]) end
  local half = (select(axis, camera.halves(w)))
  return w.view.center[axis] - half, w.view.center[axis] + half
end

--- Checks the first positions that a kind of call draws in a window of two dimensions.
function astray.check(w, m, options, caller)
  if w.looked[caller] or w.view.is_space or m.extents[1] == 0 then return end
  w.looked[caller] = true
  local low_x, high_x = ends_of(m, 0)
  local low_y, high_y = ends_of(m, 1)
  if not low_x or not low_y then return end
  local left, right = shown_along(w, options.x, 1)
  local bottom, top = shown_along(w, options.y, 2)
  if high_x >= left and low_x <= right and high_y >= bottom and low_y <= top then return end
  log.warn("%s: all positions are outside the view, which is x from %.3g to %.3g and \z
    y from %.3g to %.3g; w:camera{ x = { %.3g, %.3g }, y = { %.3g, %.3g } } shows them", caller,
    left, right, bottom, top, low_x, math.max(high_x, low_x + 1), low_y,
    math.max(high_y, low_y + 1))
end

--- Counts the calls of is_open since the window's last frame.
function astray.count(w)
  w.questions = w.questions + 1
  if w.questions == most_questions then
    log.warn("w:is_open() was called %d times without a frame: call w:present() in the loop, it \z
      shows what was drawn", most_questions)
  end
end

return astray
