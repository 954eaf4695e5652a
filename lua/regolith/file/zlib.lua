--- Calls zlib, which the core needs as well: compression, raw deflated bytes, checksums.
local ffi = require "ffi"

local zlib = {}

local library

local function open()
  if library then return library end
  library = ffi.load "libz.so.1"
  if not pcall(ffi.typeof, "RgZStream") then
    ffi.cdef [[
      typedef struct RgZStream {
        const uint8_t *next_in; unsigned avail_in; unsigned long total_in;
        uint8_t *next_out; unsigned avail_out; unsigned long total_out;
        const char *message;
        void *state, *allocate, *release, *opaque;
        int data_type;
        unsigned long adler, reserved;
      } RgZStream;
      const char *zlibVersion(void);
      int inflateInit2_(RgZStream *stream, int bits, const char *version, int size);
      int inflate(RgZStream *stream, int flush);
      int inflateEnd(RgZStream *stream);
      int compress2(uint8_t *to, unsigned long *size, const uint8_t *from, unsigned long count,
        int level);
      unsigned long compressBound(unsigned long count);
      unsigned long crc32(unsigned long crc, const uint8_t *bytes, unsigned count);
    ]]
  end
  return library
end

--- The CRC-32 of bytes, as a signed number.
function zlib.crc32(bytes) return require("bit").tobit(tonumber(open().crc32(0, bytes, #bytes))) end

--- Compresses `count` bytes in zlib's format.
function zlib.compress(bytes, count, level)
  local C = open()
  local size = ffi.new("unsigned long[1]", C.compressBound(count))
  local packed = ffi.new("uint8_t[?]", size[0])
  C.compress2(packed, size, bytes, count, level)
  return ffi.string(packed, size[0])
end

local raw_bits, finish, stream_end = -15, 4, 1

--- Inflates bytes without a header to `size` bytes; nil if they are not that many.
function zlib.inflate(bytes, size)
  local C, stream, out = open(), ffi.new "RgZStream", ffi.new("uint8_t[?]", size + 1)
  stream.next_in, stream.avail_in = bytes, #bytes
  stream.next_out, stream.avail_out = out, size + 1
  local size_of = ffi.sizeof "RgZStream"
  if C.inflateInit2_(stream, raw_bits, C.zlibVersion(), size_of) ~= 0 then return end
  local status, total = C.inflate(stream, finish), tonumber(stream.total_out)
  C.inflateEnd(stream)
  if status == stream_end and total == size then return ffi.string(out, size) end
end

return zlib
