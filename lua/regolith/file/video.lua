--- `v = rg.video{ path = "out.mp4", fps = 30 }`, `v:add(field, { palette = "magma" })`,
--- `v:close()`: pipes frames to ffmpeg. Without ffmpeg, frames become numbered pictures next to the
--- path, and a message says so.
local ffi = require "ffi"
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local disk = require "regolith.file.disk"
local image = require "regolith.file.image"
local log = require "regolith.log"

local video = {}

local io, os = io, os
local Video = { __regolith = "a video" }
Video.__index = Video


local function has_ffmpeg() return os.execute "command -v ffmpeg >/dev/null 2>&1" == 0 end

-- If ffmpeg fails, the shell reads the rest of the input: writing to a pipe without a reader would
-- end this process (SIGPIPE).
local function command_of(self)
  return ("ffmpeg -loglevel error -y -f rawvideo -pix_fmt rgba -s %dx%d -r %.17g -i - \z
    -vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' -pix_fmt yuv420p %s; code=$?; cat >/dev/null; exit $code")
    :format(self.width, self.height, self.fps, disk.quote((self.path:gsub("^%-", "./-"))))
end

-- "out.mp4" -> "out_0001.png"
local function frame_path(self)
  return ("%s_%04d.png"):format((self.path:gsub("%.%w+$", "")), self.frames + 1)
end

local function begin(self, width, height)
  self.width, self.height = width, height
  if not has_ffmpeg() then
    self.is_video = false
    log.warn(("ffmpeg is not installed: the frames of '%s' become the pictures %s and \z
      so on (apt install ffmpeg)")
      :format(self.path, frame_path(self)))
    return
  end
  binary.check_file("video", self.path, "written")
  local why
  self.pipe, why = io.popen(command_of(self), "w")
  if not self.pipe then return binary.fail("video", self.path, "written", why) end
end

local function put(self, rgba)
  if self.pipe then
    local ok, why = self.pipe:write(ffi.string(rgba, 4 * self.width * self.height))
    if not ok then return binary.fail("video", self.path, "written", why) end
  else
    local options = { width = self.width, height = self.height, channels = 4 }
    image.write(self.session, frame_path(self), rgba, options)
  end
  self.frames = self.frames + 1
end

--- Adds a frame, with the values and options of rg.image.write. All frames must have the same size.
function Video:add(what, options)
  if self.is_closed then return fail.argument(("video '%s' is closed"):format(self.path)) end
  local rgba, width, height = image.paint(self.session, what, options, "video:add")
  if not self.width then begin(self, width, height) end
  if width ~= self.width or height ~= self.height then
    return fail.argument(("a frame has %d x %d pixels, but the video %d x %d"):format(width, height,
      self.width, self.height))
  end
  put(self, rgba)
  return self
end

--- Completes the file; without frames, no file is written.
function Video:close()
  if self.is_closed then return end
  self.is_closed = true
  if not self.pipe then return end
  local ok = self.pipe:close()
  self.pipe = nil
  if not ok or not disk.has(self.path) then
    return binary.fail("video", self.path, "written", "ffmpeg failed")
  end
end

function Video:__tostring()
  return ("video '%s', %d frames"):format(self.path, self.frames)
end

--- `rg.video{ path = "out.mp4", fps = 30 }`
function video.create(session, options)
  options = fail.options(options or {}, { "path", "fps" }, "rg.video")
  binary.check_path(options.path, "rg.video{ path = .. }")
  local fps = options.fps == nil and 30 or options.fps
  if type(fps) ~= "number" or not (fps > 0 and fps <= 1000) then
    return fail.argument(("option 'fps' of rg.video must be a number from 0 to 1000, got %s")
      :format(fail.describe(fps)), nil, "option.invalid")
  end
  return setmetatable({ session = session, path = options.path, fps = fps, frames = 0,
    is_video = true }, Video)
end

return video
