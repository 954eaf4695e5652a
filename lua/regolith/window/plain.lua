--- The canvas of a window without OpenGL: a frame in our own memory, which SDL receives. It shows
--- pictures, dots and legends; `why` says what keeps it from more.
local ffi = require "ffi"
local image = require "regolith.file.image"
local sdl = require "regolith.window.sdl"

local plain = {}

local Plain = {}
Plain.__index = Plain

local function new(width, height, why)
  return setmetatable({ width = width, height = height, why = why,
    pixels = ffi.new("uint8_t[?]", width * height * 4) }, Plain)
end

--- A frame that no window shows.
function plain.create_hidden(width, height, why)
  local self = new(width, height, why)
  self:clear(0, 0, 0)
  return self
end

--- Opens a window of SDL; nil if it cannot be.
function plain.create(title, width, height, why)
  local C = sdl.open()
  local self = new(width, height, why)
  self.handle = C.SDL_CreateWindow(title, sdl.anywhere, sdl.anywhere, width, height, 0)
  if self.handle ~= nil then self.renderer = C.SDL_CreateRenderer(self.handle, -1, 0) end
  if self.renderer ~= nil then
    self.texture = C.SDL_CreateTexture(self.renderer, sdl.pixels_rgba, sdl.streaming, width, height)
  end
  if self.texture == nil then
    self:destroy()
    return nil
  end
  self:clear(0, 0, 0)
  return self
end

local function put(self, x, y, r, g, b)
  if x < 0 or y < 0 or x >= self.width or y >= self.height then return end
  local at = (y * self.width + x) * 4
  self.pixels[at], self.pixels[at + 1], self.pixels[at + 2], self.pixels[at + 3] = r, g, b, 255
end

function Plain:clear(r, g, b)
  self.last = nil
  for y = 0, self.height - 1 do
    for x = 0, self.width - 1 do put(self, x, y, r * 255, g * 255, b * 255) end
  end
end

--- Paints a picture as rg.image.write does, stretched over the window.
function Plain:show(session, what, options)
  self.last = nil
  local rgba, width, height = image.paint(session, what, options, "window:show")
  for y = 0, self.height - 1 do
    local row = math.floor(y * height / self.height) * width
    for x = 0, self.width - 1 do
      local from = (row + math.floor(x * width / self.width)) * 4
      put(self, x, y, rgba[from], rgba[from + 1], rgba[from + 2])
    end
  end
end

--- Paints a square of `size` pixels at each position; the ranges are the window's. `rgb`: three
--- bytes for each.
function Plain:points(across, up, count, x_range, y_range, rgb, size)
  self.last = nil
  for k = 0, count - 1 do
    local x = (across[k] - x_range[1]) / (x_range[2] - x_range[1]) * self.width
    local y = self.height - (up[k] - y_range[1]) / (y_range[2] - y_range[1]) * self.height
    if x == x and y == y and math.abs(x) < 2 ^ 20 and math.abs(y) < 2 ^ 20 then
      x, y = math.floor(x - size / 2 + 0.5), math.floor(y - size / 2 + 0.5)
      for j = 0, size - 1 do
        for i = 0, size - 1 do
          put(self, x + i, y + j, rgb[3 * k], rgb[3 * k + 1], rgb[3 * k + 2])
        end
      end
    end
  end
end

--- Paints a rectangle, from its upper left corner; `cover(i, j)` is how much of the pixel it takes
--- from there, and the colour's three bytes.
function Plain:patch(left, top, width, height, cover)
  self.last = nil
  for y = math.max(0, top), math.min(self.height, top + height) - 1 do
    for x = math.max(0, left), math.min(self.width, left + width) - 1 do
      local share, r, g, b = cover(x - left, y - top)
      local at = 4 * (y * self.width + x)
      local function mix(k, v) return self.pixels[at + k] * (1 - share) + v * share + 0.5 end
      put(self, x, y, mix(0, r), mix(1, g), mix(2, b))
    end
  end
end

--- Returns the frame as bytes red green blue opacity, top row first, and its size: until something
--- is drawn, the one that was presented, with its overlays.
function Plain:read() return self.last or self.pixels, self.width, self.height end

--- Puts a premultiplied picture over the frame that is shown; see canvas.lua.
function Plain:picture(p)
  local to, from = self.shown, p.rgba
  for y = math.max(0, -p.y), math.min(p.height, self.height - p.y) - 1 do
    for x = math.max(0, -p.x), math.min(p.width, self.width - p.x) - 1 do
      local source, target = 4 * (y * p.width + x), 4 * ((p.y + y) * self.width + p.x + x)
      local keep = 1 - from[source + 3] / 255
      for k = 0, 2 do
        to[target + k] = math.min(255, from[source + k] + keep * to[target + k] + 0.5)
      end
    end
  end
end

function Plain:present(overlays)
  self.last = self.pixels
  if overlays[1] then
    local size = self.width * self.height * 4
    self.shown = self.shown or ffi.new("uint8_t[?]", size)
    ffi.copy(self.shown, self.pixels, size)
    for _, overlay in ipairs(overlays) do overlay:draw(self) end
    self.last = self.shown
  end
  if not self.texture then return end
  local C = sdl.open()
  C.SDL_UpdateTexture(self.texture, nil, self.last, self.width * 4)
  C.SDL_RenderClear(self.renderer)
  C.SDL_RenderCopy(self.renderer, self.texture, nil, nil)
  C.SDL_RenderPresent(self.renderer)
end

function Plain.resize() end

function Plain:destroy()
  if not self.handle then return end
  local C = sdl.open()
  if self.texture ~= nil then C.SDL_DestroyTexture(self.texture) end
  if self.renderer ~= nil then C.SDL_DestroyRenderer(self.renderer) end
  if self.handle ~= nil then C.SDL_DestroyWindow(self.handle) end
  self.texture, self.renderer, self.handle = nil, nil, nil
end

return plain
