--- The drawing surface of plots: lines, dots, boxes and text, as SVG or as pixels. Coordinates are
--- pixels, y downward. A canvas has the methods line, dot, box, text and `write(path)`.
local bit = require "bit"
local ffi = require "ffi"
local binary = require "regolith.file.binary"
local font = require "regolith.file.font"
local lib = require "regolith.lib"

local canvas = {}

-- -- SVG ------------------------------------------------------------------------------------------

local Svg = {}
Svg.__index = Svg

local function hex(colour) return ("#%02x%02x%02x"):format(unpack(colour)) end

function Svg:add(...) self.parts[#self.parts + 1] = (...):format(select(2, ...)) end

--- Draws a polyline; `points` is x, y, x, y ..
function Svg:line(points, colour, width)
  local list = {}
  for k = 1, #points, 2 do list[#list + 1] = ("%.2f,%.2f"):format(points[k], points[k + 1]) end
  self:add('<polyline points="%s" fill="none" stroke="%s" stroke-width="%g" \z
    stroke-linejoin="round"/>', table.concat(list, " "), hex(colour), width)
end
function Svg:dot(x, y, radius, colour)
  self:add('<circle cx="%.2f" cy="%.2f" r="%g" fill="%s"/>', x, y, radius, hex(colour))
end
function Svg:box(x, y, width, height, colour)
  self:add('<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>', x, y, width, height,
    hex(colour))
end
--- Draws text; (x, y) is at half of its height. anchor: "start", "middle" or "end". Vertical text
--- runs upward.
function Svg:text(x, y, text, anchor, is_vertical)
  self:add('<text x="%.2f" y="%.2f" text-anchor="%s" dominant-baseline="central" \z
    font-family="sans-serif" font-size="14" fill="#222222"%s>%s</text>', x, y, anchor,
    is_vertical and (' transform="rotate(-90 %.2f %.2f)"'):format(x, y) or "",
    binary.escape_xml(text))
end
function Svg:write(path)
  local body = table.concat(self.parts, "\n")
  binary.write("plot", path, function(write)
    write(('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" \z
      viewBox="0 0 %d %d">\n<rect width="100%%" height="100%%" fill="white"/>\n'):format(
      self.width, self.height, self.width, self.height), body, "\n</svg>\n")
  end)
end

function canvas.svg(width, height)
  return setmetatable({ width = width, height = height, parts = {} }, Svg)
end

-- -- pixels ---------------------------------------------------------------------------------------

local Pixels = {}
Pixels.__index = Pixels

local floor, max, min, sqrt = math.floor, math.max, math.min, math.sqrt

-- Blends a colour into a pixel by the fraction of the pixel that it covers.
local function cover(self, x, y, colour, part)
  if part <= 0 or x < 0 or y < 0 or x >= self.width or y >= self.height then return end
  local at = (y * self.width + x) * 3
  part = min(1, part)
  for k = 0, 2 do
    self.rgb[at + k] = self.rgb[at + k] + (colour[k + 1] - self.rgb[at + k]) * part + 0.5
  end
end

local function segment(self, ax, ay, bx, by, colour, radius)
  local dx, dy = bx - ax, by - ay
  local square = dx * dx + dy * dy
  for y = max(0, floor(min(ay, by) - radius - 1)), min(self.height - 1, max(ay, by) + radius + 1) do
    -- only the pixels of this row that are near the segment
    local low, high = min(ax, bx), max(ax, bx)
    if math.abs(dy) > 1 then
      local one, two = (y - 2 - radius - ay) / dy, (y + 2 + radius - ay) / dy
      low = max(low, min(ax + one * dx, ax + two * dx))
      high = min(high, max(ax + one * dx, ax + two * dx))
    end
    for x = max(0, floor(low - radius - 1)), min(self.width - 1, high + radius + 1) do
      local t = square > 0 and ((x - ax) * dx + (y - ay) * dy) / square or 0
      t = max(0, min(1, t))
      local ex, ey = x - ax - t * dx, y - ay - t * dy
      cover(self, x, y, colour, radius + 0.5 - sqrt(ex * ex + ey * ey))
    end
  end
end

function Pixels:line(points, colour, width)
  for k = 1, #points - 3, 2 do
    segment(self, points[k], points[k + 1], points[k + 2], points[k + 3], colour, width / 2)
  end
end
function Pixels:dot(x, y, radius, colour) segment(self, x, y, x, y, colour, radius) end
function Pixels:box(x, y, width, height, colour)
  for row = floor(y + 0.5), floor(y + height + 0.5) - 1 do
    for column = floor(x + 0.5), floor(x + width + 0.5) - 1 do
      cover(self, column, row, colour, 1)
    end
  end
end

local ink, scale = { 34, 34, 34 }, 2
function Pixels:text(x, y, text, anchor, is_vertical)
  local length = #text * 6 * scale
  local along = anchor == "middle" and -length / 2 or anchor == "end" and -length or 0
  along = floor(along)
  for n = 1, #text do
    local columns = font[text:byte(n)] or font[63]
    for k = 1, 5 do
      for row = 0, 7 do
        if bit.band(columns[k], bit.lshift(1, row)) ~= 0 then
          local a, b = along + ((n - 1) * 6 + k - 1) * scale, (row - 4) * scale
          if is_vertical then self:box(x + b, y - a - scale, scale, scale, ink)
          else self:box(floor(x) + a, floor(y) + b, scale, scale, ink) end
        end
      end
    end
  end
end

function Pixels:write(path, session)
  local number, c = session:get()
  lib.check(lib.C.rg_image_write(c, path, self.rgb, self.width, self.height, 3), number)
end

function canvas.pixels(width, height)
  local rgb = ffi.new("uint8_t[?]", width * height * 3)
  ffi.fill(rgb, width * height * 3, 255)
  return setmetatable({ width = width, height = height, rgb = rgb }, Pixels)
end

return canvas
