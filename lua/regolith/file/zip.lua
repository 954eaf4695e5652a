--- Writes ZIP files: NumPy's arrays, uncompressed, and LÖVE's games, compressed.
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local zlib = require "regolith.file.zlib"

local zip = {}

local time = 0x00210000 -- of all files: 1980-01-01, so that equal contents give equal archives
local stored, deflated = 0, 8

--- The CRC-32 of a string, from 0.
function zip.crc32(text) return zlib.crc32(text) % 2 ^ 32 end

-- Deflated bytes without zlib's header and checksum.
local function deflate(bytes) return zlib.compress(bytes, #bytes, 9):sub(3, -5) end

--- Writes an archive of entries { name, bytes }. Errors call it `what`.
function zip.put(write, entries, is_packed, what)
  local at, directory = 0, {}
  local function put(text)
    write(text)
    at = at + #text
  end
  for _, entry in ipairs(entries) do
    local name, bytes = entry[1], entry[2]
    if #bytes >= 2 ^ 32 - 1 or at >= 2 ^ 32 - 1 then
      return fail.argument(what .. " must be smaller than 4 GiB")
    end
    local data = is_packed and deflate(bytes) or bytes
    local common = binary.u16(20) .. binary.u16(0) .. binary.u16(is_packed and deflated or stored)
      .. binary.u32(time) .. binary.u32(zip.crc32(bytes)) .. binary.u32(#data)
      .. binary.u32(#bytes) .. binary.u16(#name) .. binary.u16(0)
    directory[#directory + 1] = "PK\1\2" .. binary.u16(20) .. common .. binary.u16(0)
      .. binary.u16(0) .. binary.u16(0) .. binary.u32(0) .. binary.u32(at) .. name
    put("PK\3\4" .. common .. name)
    put(data)
  end
  local first = at
  put(table.concat(directory))
  write("PK\5\6" .. binary.u32(0) .. binary.u16(#entries) .. binary.u16(#entries)
    .. binary.u32(at - first) .. binary.u32(first) .. binary.u16(0))
end

return zip
