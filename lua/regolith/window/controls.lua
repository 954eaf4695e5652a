--- The controls of a window (regolith/controls.lua) as its overlay: their picture over the frame,
--- and the window's events, as far as they are for the controls.
local controls = require "regolith.controls"

local overlay = {}

local Overlay = {}
Overlay.__index = Overlay

local buttons = { "left", "middle", "right" }

--- The controls of a window, from the first call on.
function overlay.of(w)
  local own = rawget(w, "controls")
  if not own then
    own = setmetatable({ window = w, controls = controls.create(w.canvas.width, w.canvas.height,
      w.canvas.width / w.width) }, Overlay)
    w.controls = own
    w:attach(own)
  end
  own.controls:resize(w.canvas.width, w.canvas.height)
  return own.controls
end

--- Puts the controls that were called since the last frame over this one.
function Overlay:draw(canvas)
  local picture = self.controls:finish()
  if picture then canvas:picture(picture) end
end

--- An event of the window; true if it is for the controls alone.
function Overlay:event(_, event)
  local w = self.window
  local scale = w.canvas.width / w.width
  local own = { kind = event.kind, key = event.key, text = event.text }
  if own.kind == "wheel" then
    own.y, own.at_x, own.at_y = event.y, w.x * scale, w.y * scale
  elseif event.x then
    own.x, own.y = event.x * scale, event.y * scale
    own.button = buttons[event.button]
  end
  return self.controls:take(own)
end

--- The window closes.
function Overlay:close() self.controls:close() end

return overlay
