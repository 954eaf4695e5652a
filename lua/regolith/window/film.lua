--- A window without a display: its frames become a video, or numbered pictures if ffmpeg is not
--- installed. One line of the log says so, and the window closes after `frames` of them.
local log = require "regolith.log"

local film = {}

local io, os = io, os

local Film = {}
Film.__index = Film

local default_frames = 300
local count = 0 -- of this process's films, so that each gets a file of its own

--- "dir/heat.lua" -> "heat"
function film.name_of(path)
  return path and path:match "^@?(.-)%.lua$" and path:match "([^/\\@]+)%.lua$"
end

--- The script's first argument, if it looks like the name of a folder.
function film.argument() return arg and type(arg[1]) == "string" and arg[1]:match "^[^%-].*$" end

local function is_folder(path)
  local file = io.open(path, "rb")
  local _, _, code = (file or { read = function() end }):read(0)
  if file then file:close() end
  return code == 21 -- EISDIR
end

-- Where a video goes: to the folder that the script's first argument names, like all pictures.
local function path_of(name)
  local folder = film.argument()
  count = count + 1
  local number = count > 1 and "_" .. count or ""
  return (folder and is_folder(folder) and folder .. "/" or "") .. name .. number .. ".mp4"
end

-- Without these variables, SDL would look for a display elsewhere and print errors.
local function has_display()
  for _, name in ipairs { "DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "RG_SDL" } do
    if (os.getenv(name) or "") ~= "" then return true end
  end
  return false
end

--- Why no window can be opened, if that is known beforehand. `setting`: of RG_WINDOW.
function film.obstacle(setting)
  if setting == "off" then return "RG_WINDOW is off" end
  if not has_display() then return "there is no display" end
end

--- Films a window without a display, for which `why` is the reason.
---@param options table  name, or path; frames
function film.create(session, why, options)
  return setmetatable({ session = session, why = why, name = options.name, path = options.path,
    frames = options.frames or default_frames, count = 0 }, Film)
end

-- A remark if the frames show less than a window would.
local function means_of(w)
  return w.canvas.is_gl and "" or ", painted without OpenGL"
end

--- Opens the file and logs its path; called by the first frame at the latest.
function Film:begin(w)
  if self.video then return end
  self.path = self.path or path_of(self.name)
  log.info("%s: %d frames go to %s%s (RG_WINDOW=http shows them in a browser)", self.why,
    self.frames, self.path, means_of(w))
  self.video = require("regolith.file.video").create(self.session, { path = self.path })
end

--- Takes a frame of the window: bytes red green blue opacity.
function Film:add(w, pixels, width, height)
  if self:is_done() then
    if not self.has_warned then
      log.warn("%s has its %d frames; later frames are not recorded (option 'frames')", self.path,
        self.frames)
    end
    self.has_warned = true
    return
  end
  self:begin(w)
  self.video:add(pixels, { width = width, height = height, channels = 4 })
  self.count = self.count + 1
  if self:is_done() then self.video:close() end
end

--- Whether it has all its frames: then the window is closed, but drawing into it is no error.
function Film:is_done() return self.count >= self.frames end

function Film:close()
  if self.video then self.video:close() end
end

return film
