--- `w = rg.window{ title = "heat", width = 512, height = 512 }`: shows fields as images and points
--- as dots, and reports keys and the mouse, by SDL2.
---
---     while w:is_open() do step() w:show(x, { palette = "magma" }) w:present() end
---
--- A frame is painted into our own memory, and SDL only receives it. So a frame is the same on
--- every display, and can be saved (`w:capture(path)`).
local ffi = require "ffi"
local fail = require "regolith.error"
local image = require "regolith.file.image"
local sdl = require "regolith.window.sdl"
local binary = require "regolith.file.binary"

local window = {}

local Window = { __regolith = "a window" }
Window.__index = Window

local open = {} -- SDL's number -> window
local buttons = { "left", "middle", "right" }
local option_names = { "title", "width", "height" }

local function size_option(options, name)
  local v = options[name] == nil and 512 or options[name]
  if type(v) ~= "number" or v % 1 ~= 0 or v < 1 or v > 16384 then
    return fail.argument(("option '%s' of rg.window must be a whole number from 1 to 16384, got %s")
      :format(name, fail.describe(v)), nil, "option.invalid")
  end
  return v
end

--- `rg.window{ title =, width =, height = }`
function window.create(session, options)
  options = binary.check_options(options, option_names, "rg.window")
  local width, height = size_option(options, "width"), size_option(options, "height")
  local title = options.title == nil and "Regolith" or options.title
  if type(title) ~= "string" then
    return fail.argument("a title must be a string, got " .. fail.describe(title), nil,
      "option.invalid")
  end
  local C = sdl.open()
  if C.SDL_InitSubSystem(sdl.video) ~= 0 then return sdl.fail "a window cannot be shown" end
  if sdl.is_invisible() then
    C.SDL_QuitSubSystem(sdl.video)
    return sdl.fail("a window cannot be shown", "there is no display")
  end
  local self = setmetatable({ session = session, width = width, height = height, keys = {},
    hits = {}, held = {}, x = 0, y = 0, wheel = 0, is_shown = true,
    pixels = ffi.new("uint8_t[?]", width * height * 4) }, Window)
  self.handle = C.SDL_CreateWindow(title, sdl.anywhere, sdl.anywhere, width, height, 0)
  if self.handle ~= nil then self.renderer = C.SDL_CreateRenderer(self.handle, -1, 0) end
  if self.renderer ~= nil then
    self.texture = C.SDL_CreateTexture(self.renderer, sdl.pixels_rgba, sdl.streaming, width, height)
  end
  if self.texture == nil then
    self:close()
    return sdl.fail "a window cannot be opened"
  end
  self.number = C.SDL_GetWindowID(self.handle)
  open[self.number] = self
  self:clear()
  return self
end

local function check_open(self)
  if not self.is_shown then return fail.argument "the window is closed" end
end

-- -- painting -------------------------------------------------------------------------------------

local function put(self, x, y, r, g, b)
  if x < 0 or y < 0 or x >= self.width or y >= self.height then return end
  local at = (y * self.width + x) * 4
  self.pixels[at], self.pixels[at + 1], self.pixels[at + 2], self.pixels[at + 3] = r, g, b, 255
end

--- Fills the frame with one colour, by default black.
function Window:clear(r, g, b)
  for y = 0, self.height - 1 do
    for x = 0, self.width - 1 do
      put(self, x, y, (r or 0) * 255, (g or 0) * 255, (b or 0) * 255)
    end
  end
  return self
end

--- Paints a picture as rg.image.write does, stretched over the window.
function Window:show(what, options)
  check_open(self)
  local rgba, width, height = image.paint(self.session, what, options, "window:show")
  for y = 0, self.height - 1 do
    local row = math.floor(y * height / self.height) * width
    for x = 0, self.width - 1 do
      local from = (row + math.floor(x * width / self.width)) * 4
      put(self, x, y, rgba[from], rgba[from + 1], rgba[from + 2])
    end
  end
  return self
end

local function range_option(options, name)
  local v = options[name]
  if v == nil then return { 0, 1 } end
  if type(v) ~= "table" or type(v[1]) ~= "number" or type(v[2]) ~= "number" or v[1] == v[2] then
    return fail.argument(("option '%s' of window:points must be two numbers, got %s"):format(name,
      fail.describe(v)), nil, "option.invalid")
  end
  return v
end

-- Converts a colour with components from 0 to 1 for all dots.
local function color_option(options)
  local v = options.color
  if v == nil then return { 1, 1, 1 } end
  for k = 1, 3 do
    if type(v) ~= "table" or type(v[k]) ~= "number" then
      return fail.argument(("option 'color' of window:points is { r, g, b }, three numbers from 0 \z
        to 1, got %s"):format(fail.describe(v)), "call it once for each colour", "option.invalid")
    end
  end
  return v
end

local function dot_option(options)
  local v = options.size == nil and 3 or options.size
  if type(v) ~= "number" or v % 1 ~= 0 or v < 1 then
    return fail.argument(("option 'size' of window:points is a whole number of pixels, got %s")
      :format(fail.describe(v)), nil, "option.invalid")
  end
  return v
end

--- Paints dots at vectors of two or more numbers; x = {0, 1} is the range of the window's width, y
--- that of its height, upward.
function Window:points(pos, options)
  check_open(self)
  local caller = "window:points"
  options = binary.check_options(options, { "x", "y", "color", "size" }, caller)
  local across, up = range_option(options, "x"), range_option(options, "y")
  local color, size = color_option(options), dot_option(options)
  local parts = binary.parts_of((binary.look(pos, caller)), caller)
  if parts < 2 then
    return fail.argument(("window:points takes vectors, not %s"):format(tostring(pos)))
  end
  local values, count = binary.numbers(pos, caller)
  for at = 0, count - 1, parts do
    local x = (values[at] - across[1]) / (across[2] - across[1]) * self.width
    local y = self.height - (values[at + 1] - up[1]) / (up[2] - up[1]) * self.height
    if x == x and y == y and math.abs(x) < 2 ^ 20 and math.abs(y) < 2 ^ 20 then
      x, y = math.floor(x - size / 2 + 0.5), math.floor(y - size / 2 + 0.5)
      for j = 0, size - 1 do
        for i = 0, size - 1 do
          put(self, x + i, y + j, color[1] * 255, color[2] * 255, color[3] * 255)
        end
      end
    end
  end
  return self
end

--- Saves the current frame as a picture.
function Window:capture(path)
  image.write(self.session, path, self.pixels, { width = self.width, height = self.height,
    channels = 4 })
  return self
end

-- -- events ---------------------------------------------------------------------------------------

local take = {}
function take.down(self, event) self.keys[event.key], self.hits[event.key] = true, true end
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

local function poll()
  for event in sdl.poll do
    if event.kind == "close" and not event.window then
      for _, one in pairs(open) do one.wants_end = true end
    elseif event.kind and open[event.window] then
      take[event.kind](open[event.window], event)
    end
  end
end

--- Shows the frame and processes key and mouse events. Returns false once the window has been
--- closed.
function Window:present()
  check_open(self)
  local C = sdl.open()
  C.SDL_UpdateTexture(self.texture, nil, self.pixels, self.width * 4)
  C.SDL_RenderClear(self.renderer)
  C.SDL_RenderCopy(self.renderer, self.texture, nil, nil)
  C.SDL_RenderPresent(self.renderer)
  for _, one in pairs(open) do one.hits, one.wheel = {}, 0 end
  poll()
  if self.wants_end then self:close() end
  return self.is_shown
end

function Window:is_open() return self.is_shown end

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
function Window:key(name) return self.keys[check_key(name)] == true end
--- Whether the key was pressed before the last `present`.
function Window:pressed(name) return self.hits[check_key(name)] == true end
--- Returns x to the right and y upward, in pixels, and a table of the buttons that are held: left,
--- middle, right.
function Window:mouse() return self.x, self.height - 1 - self.y, self.held end

function Window:close()
  if not self.is_shown then return end
  self.is_shown = false
  local C = sdl.open()
  if self.texture ~= nil then C.SDL_DestroyTexture(self.texture) end
  if self.renderer ~= nil then C.SDL_DestroyRenderer(self.renderer) end
  if self.handle ~= nil then C.SDL_DestroyWindow(self.handle) end
  if self.number then open[self.number] = nil end
  self.texture, self.renderer, self.handle = nil, nil, nil
  C.SDL_QuitSubSystem(sdl.video)
end

return window
