--- Encodes frames as PNG in memory, by the fastest level of zlib. rg.image.write makes smaller
--- files.
local ffi = require "ffi"
local bit = require "bit"
local zlib = require "regolith.file.zlib"

local png = {}

local function be32(x)
  return string.char(bit.band(bit.rshift(x, 24), 255), bit.band(bit.rshift(x, 16), 255),
    bit.band(bit.rshift(x, 8), 255), bit.band(x, 255))
end

local function chunk(kind, bytes)
  local text = kind .. bytes
  return be32(#bytes) .. text .. be32(zlib.crc32(text))
end

-- Rows of rgb, each as its difference from the row above (filter 2).
local function filter(pixels, width, height)
  local row = 3 * width + 1
  local bytes = ffi.new("uint8_t[?]", row * height)
  local none = ffi.new("uint8_t[?]", 4 * width)
  local above = ffi.cast("const uint8_t *", none)
  for y = 0, height - 1 do
    local to, from = bytes + y * row, pixels + y * width * 4
    to[0] = 2
    to = to + 1
    for x = 0, width - 1 do
      to[3 * x] = from[4 * x] - above[4 * x]
      to[3 * x + 1] = from[4 * x + 1] - above[4 * x + 1]
      to[3 * x + 2] = from[4 * x + 2] - above[4 * x + 2]
    end
    above = from
  end
  return bytes, row * height
end

--- Returns the bytes of a PNG file of rgba pixels, whose opacity is left out.
function png.encode(pixels, width, height)
  local bytes, count = filter(ffi.cast("const uint8_t *", pixels), width, height)
  return "\137PNG\r\n\26\n" .. chunk("IHDR", be32(width) .. be32(height) .. "\8\2\0\0\0")
    .. chunk("IDAT", zlib.compress(bytes, count, 1)) .. chunk("IEND", "")
end

return png
