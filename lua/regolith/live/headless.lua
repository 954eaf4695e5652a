--- rg.live where there is no display: one line says so, and the frames that a window would have
--- shown become a video, or numbered pictures where there is no ffmpeg.
local fail = require "regolith.error"
local log = require "regolith.log"
local window = require "regolith.window"

local headless = {}

local default_frames = 300

local function window_options(options, name)
  return { title = options.title or name, width = options.width, height = options.height,
    on = options.on }
end

-- SDL would try every kind of display, and some of them complain by themselves.
local function has_display()
  for _, name in ipairs { "DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "RG_SDL" } do
    if (os.getenv(name) or "") ~= "" then return true end
  end
  return false
end

-- The folder that the script's first argument names, as for the examples.
local function folder_of() return arg and type(arg[1]) == "string" and arg[1]:match "^[^%-].*$" end

--- Opens the window of a simulation. Without a display: nil, and the reason. A script that does
--- something else there (`otherwise`) does so, too, if it was given a folder for what it writes.
function headless.open(session, options, name)
  if options.otherwise and folder_of() then return nil, "pictures were asked for" end
  local setting = window.setting()
  if setting == "off" then return nil, "RG_WINDOW is off" end
  local is_remote = options.on ~= nil or setting and setting:find "^http"
  if not is_remote and not has_display() then return nil, "there is no display" end
  local ok, own = pcall(window.create, session, window_options(options, name))
  if ok then return own end
  local problem = fail.caught(own)
  local code = type(problem) == "table" and problem.code
  if options.on == nil and (code == "device.missing" or code == "library.missing") then
    return nil, problem.message:match "^[^:]*"
  end
  return error(own, 0)
end

-- Where the video goes.
local function path_of(self)
  if self.options.path then return self.options.path end
  local folder = folder_of()
  return (folder and folder .. "/" or "") .. self.name .. ".mp4"
end

--- Runs the steps of `frames` frames and writes them. Returns the number of steps.
function headless.run(self, why)
  local options, path = self.options, path_of(self)
  local frames = options.frames or default_frames
  local w, speed = window.create_hidden(self.session, window_options(options, self.name)),
    self.speed
  log.info("%s: %d frames go to %s (RG_WINDOW=http shows them in a browser)", why, frames, path)
  local video = require("regolith.file.video").create(self.session, { path = path })
  local due = 0
  for _ = 1, frames do
    due = due + speed
    while due >= 1 do
      options.step()
      self.steps, due = self.steps + 1, due - 1
    end
    self.draw(w)
    local pixels, width, height = window.read(w)
    video:add(pixels, { width = width, height = height, channels = 4 })
    w:present()
  end
  video:close()
  w:close()
  return self.steps
end

return headless
