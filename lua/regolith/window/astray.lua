--- What leaves a window black although the script is right in itself: positions that are all
--- outside of what it shows, and frames that are never presented. Each is said once.
local log = require "regolith.log"
local camera = require "regolith.window.camera"
local range = require "regolith.window.range"

local astray = {}

local most_questions = 1000 -- of is_open, without a frame

-- The ends of number `part` of positions; nil if none is finite.
local function ends_of(m, part)
  return range.of { base = m.base + part * m.step, kind = m.kind, parts = 1, step = m.step,
    extents = m.extents, strides = m.strides }
end

-- What the window shows along an axis, from the lower end.
local function shown_along(w, own, axis)
  if own then return math.min(own[1], own[2]), math.max(own[1], own[2]) end
  local half = math.abs((select(axis, camera.halves(w))))
  return w.view.center[axis] - half, w.view.center[axis] + half
end

--- Looks at the first positions that a kind of call draws in a window of two dimensions.
function astray.look(w, m, options, caller)
  if w.looked[caller] or w.view.is_space or m.extents[1] == 0 then return end
  w.looked[caller] = true
  local low_x, high_x = ends_of(m, 0)
  local low_y, high_y = ends_of(m, 1)
  if not low_x or not low_y then return end
  local left, right = shown_along(w, options.x, 1)
  local bottom, top = shown_along(w, options.y, 2)
  if high_x >= left and low_x <= right and high_y >= bottom and low_y <= top then return end
  log.warn("%s: nothing of it is where the window looks, x from %.3g to %.3g and y from %.3g to \z
    %.3g; w:camera{ x = { %.3g, %.3g }, y = { %.3g, %.3g } } would show it", caller, left, right,
    bottom, top, low_x, math.max(high_x, low_x + 1), low_y, math.max(high_y, low_y + 1))
end

--- Counts the questions whether a window is open, since its last frame.
function astray.ask(w)
  w.questions = w.questions + 1
  if w.questions == most_questions then
    log.warn("a window was asked %d times whether it is open, and got no frame to show: \z
      w:present() shows what was drawn", most_questions)
  end
end

return astray
