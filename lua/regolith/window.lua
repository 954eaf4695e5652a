--- `w = rg.window{ title = "heat", width = 512, height = 512 }`: shows fields, and reports keys and
--- the mouse, by SDL2.
---
---     while w:is_open() do step() w:show(x, { palette = "magma" }) w:present() end
---
--- A window has a canvas, on which a frame is drawn: window/canvas.lua draws by OpenGL;
--- window/plain.lua, where there is none, paints pictures and dots by itself. Either keeps the
--- frame in its own memory, so it is the same on every display and can be saved (`w:capture`).
--- Overlays (`w:attach{ draw =, event = }`) draw on top of each frame, and see events first.
--- Without a display, a window is hidden, and its frames are recorded (window/film.lua).
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local host = require "regolith.host"
local image = require "regolith.file.image"
local sdl = require "regolith.window.sdl"
local binary = require "regolith.file.binary"
local astray = require "regolith.window.astray"
local camera = require "regolith.window.camera"
local color = require "regolith.window.color"
local film = require "regolith.window.film"
local plain = require "regolith.window.plain"
local space = require "regolith.window.space"
local canvas = require "regolith.window.canvas"

local window = {}

local os = os

local Window = { __regolith = "a window" }
local methods = {}

local open = {} -- SDL's number -> window
local buttons = { "left", "middle", "right" }
local option_names = { "title", "width", "height", "font", "vsync", "shadows", "on", "frames",
  "path" }

local function count_option(options, name, default, most)
  local v = options[name] == nil and default or options[name]
  if v == nil then return nil end
  if type(v) ~= "number" or v % 1 ~= 0 or v < 1 or v > most then
    return fail.argument(("option '%s' of rg.window must be a whole number from 1 to %d, got %s")
      :format(name, most, fail.describe(v)), nil, "option.invalid")
  end
  return v
end

local function size_option(options, name) return count_option(options, name, 512, 16384) end

--- What RG_WINDOW says: nil, "plain", "off", or an address for rg.window's option `on`.
function window.setting()
  local v = os.getenv "RG_WINDOW" or ""
  if v == "" then return nil end
  if v == "plain" or v == "off" or v:find "^http" then return v end
  return fail.argument(("RG_WINDOW is %q"):format(v),
    "RG_WINDOW=http shows windows in a browser, =plain without OpenGL, =off none",
    "option.invalid")
end

-- OpenGL, unless RG_WINDOW=plain; else the frame is painted here.
local function create_canvas(options, flags)
  local own, why = nil, "RG_WINDOW=plain"
  if window.setting() ~= "plain" then
    own, why = canvas.create(options.title, options.width, options.height, flags,
      options.vsync)
  end
  return own or plain.create(options.title, options.width, options.height, why)
end

local function text_option(options, name, default, what)
  local v = options[name]
  if v == nil then return default end
  if type(v) == "string" then return v end
  return fail.argument(("%s, got %s"):format(what, fail.describe(v)), nil, "option.invalid")
end

-- Checks the options of a window; returns those with defaults.
local function check_options(options)
  if type(options) == "number" or type(options) == "table" and options[1] ~= nil then
    return fail.argument("rg.window takes options by name",
      "rg.window{ width = 512, height = 512 }", "option.invalid")
  end
  options = fail.options(options, option_names, "rg.window")
  for _, name in ipairs { "vsync", "shadows" } do
    if options[name] ~= nil and type(options[name]) ~= "boolean" then
      return fail.argument(("option '%s' of rg.window must be true or false, got %s"):format(name,
        fail.describe(options[name])), nil, "option.invalid")
    end
  end
  if options.path ~= nil then binary.check_path(options.path, "rg.window{ path = .. }") end
  return { width = size_option(options, "width"), height = size_option(options, "height"),
    title = text_option(options, "title", "Regolith", "a title must be a string"),
    font = text_option(options, "font", "sans", "a font must be a name or a path"),
    vsync = options.vsync ~= false, shadows = options.shadows == true, on = options.on,
    frames = count_option(options, "frames", nil, 1000000), path = options.path }
end

local function new(session, own, options, number)
  local self = setmetatable({ session = session, width = options.width, height = options.height,
    canvas = own, keys = {}, hits = {}, held = {}, x = 0, y = 0, wheel = 0, is_shown = true,
    wants_end = false, overlays = {}, legends = {}, own_lights = false, font = options.font,
    shadows = options.shadows, shadow = false, solids = {}, view = camera.flat(), number = number,
    film = false, looked = {}, questions = 0 }, Window)
  open[number] = self
  return self
end

-- A window on the display; nil and the reason where there is none.
local function create_shown(session, options)
  local C, missing = sdl.find()
  if not C then return nil, missing end
  if C.SDL_InitSubSystem(sdl.video) ~= 0 then return nil, sdl.error() end
  local own = not sdl.is_invisible() and create_canvas(options, sdl.resizable)
  if own then return new(session, own, options, C.SDL_GetWindowID(own.handle)) end
  local why = sdl.is_invisible() and "there is no display" or sdl.error()
  C.SDL_QuitSubSystem(sdl.video)
  return nil, why
end

local without_sdl = 0 -- windows

local function create_hidden(session, options)
  local is_open, why = sdl.open_hidden()
  if is_open then
    local own = create_canvas(options, sdl.hidden)
    if own then return new(session, own, options, sdl.open().SDL_GetWindowID(own.handle)) end
    why = sdl.error()
    sdl.open().SDL_QuitSubSystem(sdl.video)
  end
  without_sdl = without_sdl + 1
  return new(session, plain.create_hidden(options.width, options.height, why), options,
    -without_sdl)
end

-- A window in a browser.
local function create_remote(session, options, on)
  local remote = require "regolith.remote"
  local address = remote.address_of(on)
  local self = create_hidden(session, options)
  self.remote = remote.create(self, address, options.title)
  return self
end

--- Opens a window of these options on the display or in a browser; nil and the reason where
--- nothing can show it.
function window.try(session, options)
  options = check_options(options)
  local setting = window.setting()
  local on = options.on
  if on == nil then on = setting and setting:match "^http.*" end
  if on ~= nil then return create_remote(session, options, on) end
  local why = film.obstacle(setting)
  if why then return nil, why end
  return create_shown(session, options)
end

--- A window that no display shows, for this reason: its frames are recorded.
---@param name string  of the video, unless the options have its path
function window.create_recorded(session, options, why, name)
  options = check_options(options)
  local self = create_hidden(session, options)
  self.film = film.create(session, why, { name = name, path = options.path,
    frames = options.frames })
  return self
end

-- The name of the script that called us.
local function caller_name()
  local _, _, info = fail.caller()
  return film.name_of(info and info.source) or "window"
end

--- `rg.window{ title =, width =, height =, on = "http" }`
function window.create(session, options)
  local self, why = window.try(session, options)
  return self or window.create_recorded(session, options, why, caller_name())
end

local function check_open(self)
  if not self.is_shown then return fail.argument "the window is closed" end
end

-- -- painting -------------------------------------------------------------------------------------

--- Fills the frame with one colour, by default black; later frames begin with it. Also
--- w:clear "#202030".
function methods:clear(r, g, b)
  check_open(self)
  local given = type(r) ~= "number" and g == nil and b == nil and color.one(r)
  if given then r, g, b = unpack(given) end
  for k, v in ipairs { r or 0, g or 0, b or 0 } do
    if type(v) ~= "number" then
      return fail.argument(("w:clear takes red, green and blue, from 0 to 1; number %d is %s")
        :format(k, fail.describe(v)))
    end
  end
  self.canvas:clear(r or 0, g or 0, b or 0)
  return self
end

--- Paints a picture as rg.image.write does, stretched over the window.
function methods:show(what, options)
  check_open(self)
  if self.canvas.is_gl then require("regolith.window.picture").show(self, what, options)
  else require("regolith.window.painting").show(self, what, options) end
  return self
end

--- Paints dots at vectors of two or more numbers; x = {0, 1} is the range of the window's width, y
--- that of its height, upward.
function methods:points(pos, options)
  check_open(self)
  if self.canvas.is_gl then require("regolith.window.marks").points(self, pos, options)
  else require("regolith.window.painting").points(self, pos, options) end
  return self
end

-- What only OpenGL draws: method -> { module, function }.
local drawn = { circles = { "marks", "circles" }, rectangles = { "marks", "rectangles" },
  lines = { "lines", "lines" }, arrows = { "lines", "arrows" },
  triangles = { "triangles", "triangles" }, text = { "text", "text" },
  lights = { "space", "lights" }, spheres = { "solid", "spheres" }, mesh = { "solid", "mesh" },
  surface = { "solid", "surface" }, boxes = { "boxes", "boxes" },
  volume = { "volume", "volume" } }

for name, at in pairs(drawn) do
  methods[name] = function(self, ...)
    check_open(self)
    if self.canvas.is_gl then
      require("regolith.window." .. at[1])[at[2]](self, ...)
    else
      require("regolith.window.painting").refuse(self, "w:" .. name)
    end
    return self
  end
end

local check_file = lib.quietly(function(self, path, pixels, width, height)
  local number, c = self.session:get()
  lib.check(lib.C.rg_image_write(c, path, pixels, width, height, 4), number)
end)

-- What is drawn last, on top of a frame.
local function finish(self)
  if #self.legends > 0 then require("regolith.window.legend").draw(self) end
end

--- Returns the current frame: bytes red green blue opacity, top row first, and its size in pixels.
function window.read(self)
  finish(self)
  return self.canvas:read()
end

--- Saves the current frame as a picture.
function methods:capture(path)
  check_open(self)
  binary.check_path(path, "w:capture")
  local pixels, width, height = window.read(self)
  if path:lower():find "%.exr$" then
    image.write(self.session, path, pixels, { width = width, height = height, channels = 4 })
  else
    check_file(self, path, pixels, width, height)
  end
  return self
end

--- What the window shows of the world: window/camera.lua.
function methods:camera(options)
  check_open(self)
  camera.set(self, options)
  return self
end

--- Returns where the mouse is, in world coordinates.
function methods:cursor()
  if self.view.is_space then
    return fail.argument("window:cursor is for two dimensions, and the camera shows three",
      "eye, direction = w:ray()")
  end
  return camera.world(self, self.x, self.y)
end

--- Returns the eye and the direction in which the mouse points, as tables of three numbers.
function methods:ray()
  if not self.view.is_space then
    return fail.argument("window:ray is for three dimensions, and the camera shows two",
      "x, y = w:cursor()")
  end
  return space.ray(self)
end

-- -- overlays -------------------------------------------------------------------------------------

--- Adds an overlay: `overlay:draw(canvas)` is called after a frame has been drawn, before it is
--- shown. Its pixels are canvas.width x canvas.height; canvas:picture(p) puts a picture there,
--- and with OpenGL (canvas.is_gl) a framebuffer is bound. `overlay:event(raw, event)`, where
--- present, sees each event of the window first, as a table { kind, x, y, button, key, text } and
--- as SDL's own, and returns true to keep it. `overlay:close()`, where present, ends it.
function methods:attach(overlay)
  check_open(self)
  self.overlays[#self.overlays + 1] = overlay
  return self
end

-- -- events ---------------------------------------------------------------------------------------

local take = {}
function take.down(self, event)
  self.keys[event.key] = true
  if not event.is_repeat then self.hits[event.key] = true end
end
function take.up(self, event) self.keys[event.key] = nil end
function take.move(self, event) self.x, self.y = event.x, event.y end
function take.press(self, event)
  self.x, self.y, self.held[buttons[event.button] or event.button] = event.x, event.y, true
end
function take.release(self, event)
  self.x, self.y, self.held[buttons[event.button] or event.button] = event.x, event.y, nil
end
function take.wheel(self, event) self.wheel = self.wheel + event.y end
function take.close(self) self.wants_end = true end
function take.text() end
function take.resize(self)
  local width, height = ffi.new "int[1]", ffi.new "int[1]"
  sdl.open().SDL_GetWindowSize(self.canvas.handle, width, height)
  self.width, self.height = width[0], height[0]
  self.canvas:resize()
end

-- What the window learns even if an overlay keeps the event: no key or button stays held.
local is_shared = { up = true, release = true, close = true, resize = true, move = true }

-- Offers an event to the overlays, the last one first; whether one keeps it.
local function offer(self, raw, event)
  for k = #self.overlays, 1, -1 do
    local overlay = self.overlays[k]
    if overlay.event and overlay:event(raw, event) then return true end
  end
  return false
end

--- Gives a window an event, and SDL's own (a pointer) where it has one.
function window.receive(own, event, raw)
  local is_kept = offer(own, raw, event)
  if event.kind and not is_kept then camera.take(own, event) end
  if event.kind and (not is_kept or is_shared[event.kind]) then take[event.kind](own, event) end
end

local function poll()
  for event, raw in sdl.poll do
    local own = open[event.window]
    if event.kind == "close" and not event.window then
      for _, one in pairs(open) do one.wants_end = true end
    elseif own then
      window.receive(own, event, raw)
    end
  end
end
-- LuaJIT 2.1.0-beta3 crashed in its assembler, once in some twenty runs, compiling this loop.
host.interpret(poll)

--- Shows the frame and processes key and mouse events. Returns false once the window has been
--- closed.
function methods:present()
  check_open(self)
  finish(self)
  self.questions = 0
  if self.film then self.film:add(self, self.canvas:read()) end
  self.canvas:present(self.overlays)
  for _, one in pairs(open) do one.hits, one.wheel = {}, 0 end
  poll()
  local remote = rawget(self, "remote")
  if remote then remote:exchange(window.receive) end
  if self.view.is_space then space.advance(self) end
  if self.wants_end then self:close() end
  return self:is_open()
end

--- Whether the window has not been closed, and, where it is recorded, has frames left.
function methods:is_open()
  astray.count(self)
  return self.is_shown and not (self.film and self.film:is_done())
end

-- Aliases of keys.
local key_names = { "space", "return", "escape", "backspace", "delete", "tab", "left", "right",
  "up", "down", "home", "end", "pageup", "pagedown", "left shift", "left ctrl", "left alt" }

-- Returns SDL's name of a key, in lower case.
local function check_key(name)
  local key = type(name) == "string" and name:lower()
  if key and sdl.has_key(key) then return key end
  return fail.argument(key and ("there is no key '%s'"):format(name)
    or "a key must be a name, got " .. fail.describe(name), key and fail.nearest(key, key_names)
    or "keys are \"a\", \"1\", \"space\", \"left\", \"return\", \"escape\", \"f1\" ..")
end

--- Whether the key is down ("space", "a", "left", "escape").
function methods:key(name) return self.keys[check_key(name)] == true end
--- Whether the key was pressed before the last `present`.
function methods:pressed(name) return self.hits[check_key(name)] == true end
--- Returns x to the right and y upward, in pixels, and a table of the buttons that are held: left,
--- middle, right.
function methods:mouse() return self.x, self.height - 1 - self.y, self.held end

function methods:close()
  if not self.is_shown then return end
  self.is_shown = false
  for _, overlay in ipairs(self.overlays) do
    if overlay.close then overlay:close() end
  end
  local remote = rawget(self, "remote")
  if remote then remote:close() end
  if self.film then self.film:close() end
  self.canvas:destroy()
  open[self.number] = nil
  if self.number > 0 then sdl.open().SDL_QuitSubSystem(sdl.video) end
end

function Window:__tostring()
  return ("window of %d x %d pixels%s"):format(self.width, self.height,
    not self.is_shown and ", closed" or self.film and ", recorded" or "")
end

-- What one can drag: regolith/controls.lua, loaded on first use.
for _, name in ipairs { "slider", "checkbox", "button", "choice", "watch", "plot", "panel" } do
  methods[name] = function(self, ...)
    check_open(self)
    local own = require("regolith.window.controls").of(self)
    return own[name](own, ...)
  end
end

Window.__index = fail.members(methods, "a window", Window, "w")

return window
