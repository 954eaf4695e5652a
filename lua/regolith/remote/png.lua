--- Frames as PNG in memory, by zlib at its fastest. rg.image.write makes smaller files.
local ffi = require "ffi"
local bit = require "bit"

local png = {}

local library

local function open()
  if library then return library end
  library = ffi.load "libz.so.1" -- the core needs it, too
  ffi.cdef [[
    int compress2(uint8_t *to, unsigned long *size, const uint8_t *from, unsigned long count,
      int level);
    unsigned long compressBound(unsigned long count);
    unsigned long crc32(unsigned long crc, const uint8_t *bytes, unsigned count);
  ]]
  return library
end

local function be32(x)
  return string.char(bit.band(bit.rshift(x, 24), 255), bit.band(bit.rshift(x, 16), 255),
    bit.band(bit.rshift(x, 8), 255), bit.band(x, 255))
end

local function chunk(kind, bytes)
  local text = kind .. bytes
  local crc = tonumber(library.crc32(0, text, #text))
  return be32(#bytes) .. text .. be32(bit.tobit(crc))
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
  local C = open()
  local bytes, count = filter(ffi.cast("const uint8_t *", pixels), width, height)
  local size = ffi.new("unsigned long[1]", C.compressBound(count))
  local packed = ffi.new("uint8_t[?]", size[0])
  C.compress2(packed, size, bytes, count, 1)
  return "\137PNG\r\n\26\n" .. chunk("IHDR", be32(width) .. be32(height) .. "\8\2\0\0\0")
    .. chunk("IDAT", ffi.string(packed, size[0])) .. chunk("IEND", "")
end

return png
