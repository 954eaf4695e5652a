-- live.lua NAME - runs an example of the gallery in a hidden window: some frames, in
-- which the mouse is dragged and each slider is moved. Prints `live`; fails where it ends in an
-- error, has fewer than two sliders, or shows nothing new.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local ffi = require "ffi"
local params = require "regolith.live.params"
local window = require "regolith.window"
local rg = require "regolith"

local name, frames = arg[1], 9
local own, first, has_touch

local read = params.read
function params.read(...)
  own = read(...)
  return own
end

local function move_sliders()
  local count = 0
  for _, row in ipairs(own.rows) do
    if row.kind == "slider" then
      count = count + 1
      local wanted = row.low + 0.4 * (row.high - row.low)
      if row.step or row.high - row.low > 9 then wanted = math.floor(wanted) end
      if not row.component then row.table[row.key] = wanted end
    end
  end
  assert(count >= 2, name .. " has " .. count .. " sliders")
end

local function use_mouse(w, frame)
  local x, y = math.floor(w.width * 0.3) + 5 * frame, math.floor(w.height * 0.6) - 4 * frame
  local kind = frame == 3 and "press" or frame == frames - 1 and "release" or "move"
  window.receive(w, { kind = kind, button = 1, x = x, y = y })
end

local function pixels_of(w)
  local pixels, width, height = window.read(w)
  return ffi.string(pixels, 4 * width * height)
end

local function is_of_one_colour(pixels) return pixels == pixels:sub(1, 4):rep(#pixels / 4) end

local frame = 0
local function look(w)
  frame = frame + 1
  if frame == 2 then first = pixels_of(w) end
  if frame == 4 then move_sliders() end
  if frame >= 3 and frame < frames then use_mouse(w, frame) end
  if frame < frames then return end
  local last = pixels_of(w)
  assert(not is_of_one_colour(last), name .. " shows nothing")
  assert(last ~= first, name .. " always shows the same")
  assert(has_touch or w.view.is_space, name .. " does nothing with the mouse")
  w:close()
end

function window.try(session, options)
  local w = window.create_recorded(session, options, "a test", name)
  if not w.canvas.is_gl then
    print "live" -- without OpenGL, its examples cannot be tried
    os.exit(0)
  end
  w.film = false
  local present = w.present
  function w.present(self)
    look(self)
    return self:is_open() and present(self)
  end
  return w
end

local live = rg.live
function rg.live(options)
  has_touch = options.touch ~= nil
  return live(options)
end

rawset(_G, "arg", { [0] = arg[0] })
dofile(("examples/%s.lua"):format(name))
print "live"
