--- rg.live where there is no display: the frames that a window would have shown are recorded
--- (window/film.lua).
local film = require "regolith.window.film"
local window = require "regolith.window"

local headless = {}

local side = 680 -- of a window: room for the controls, on a display of 768 rows

local function window_options(options, name)
  return { title = options.title or name, width = options.width or side,
    height = options.height or side, shadows = options.shadows, on = options.on,
    frames = options.frames, path = options.path }
end

--- Opens the window of a simulation; returns nil and the reason if there is no display, or if the
--- script has an `otherwise` and was given a folder for its pictures.
function headless.open(session, options, name)
  if options.otherwise and film.argument() then return nil, "the script was given a folder" end
  return window.try(session, window_options(options, name))
end

--- Runs the steps of the frames that are recorded; returns the number of steps.
function headless.run(self, why)
  local w = window.create_recorded(self.session, window_options(self.options, self.name), why,
    self.name)
  w.film:begin(w)
  local due = 0
  while w:is_open() do
    due = due + self.speed
    while due >= 1 do
      self.options.step()
      self.steps, due = self.steps + 1, due - 1
    end
    self.draw(w)
    w:present()
  end
  w:close()
  return self.steps
end

return headless
