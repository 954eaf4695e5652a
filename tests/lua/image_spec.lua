local support = require "support"
local rg, failure = support.rg, support.failure

local file_bytes = support.read_file

local function number(bytes, at) -- big-endian, 32 bits
  local a, b, c, d = bytes:byte(at, at + 3)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

describe("rg.image.write", function()
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".png"
  after_each(function() os.remove(path) end)

  it("writes a field as PNG, the first axis to the right", function()
    local x = rg.field(rg.f32, 5, 3)
    x[4][2] = 1
    rg.image.write(path, x)
    local bytes = file_bytes(path)
    assert.equal("\137PNG\r\n\26\n", bytes:sub(1, 8))
    assert.equal(5, number(bytes, 17))
    assert.equal(3, number(bytes, 21))
  end)

  it("takes sparse fields, ranges and palettes", function()
    local x = support.sparse(rg.f64, "ij", 2, 8)
    x[3][3] = 5
    for _, options in ipairs { {}, { low = 0, high = 1 }, { palette = "heat" },
      { palette = "grey", low = -1, high = 5 } } do
      rg.image.write(path, x, options)
      assert.equal(16, number(file_bytes(path), 17))
    end
  end)

  it("shows the active box of a field with unbounded axes, and what `:show` draws, too", function()
    local x, v = rg.field(rg.u8), rg.field(rg.vec3)
    rg.root:hash("ij"):place(x)
    rg.root:hash("ij"):dense("ij", 4):place(v)
    assert.equal("field u8 [unbounded x unbounded]", tostring(x))
    assert.matches("has no active cells", failure(rg.image.write, path, x).message)
    x[-7][100], x[-3][101], x[-5][100] = 255, 128, 64
    rg.image.write(path, x, { low = 0, high = 255 })
    local shown = rg.image.read(path)
    assert.same({ 5, 2 }, { shown.shape[0], shown.shape[1] })
    assert.equal(1, shown[0][0].x)
    assert.is_near(64 / 255, shown[2][0].x, 1e-6)
    assert.is_near(128 / 255, shown[4][1].x, 1e-6)
    assert.equal(0, shown[1][1].x)
    v[-1][9] = rg.vec3(1, 0.5, 0)
    rg.image.write(path, v)
    shown = rg.image.read(path)
    assert.same({ 4, 4 }, { shown.shape[0], shown.shape[1] })
    assert.equal(1, shown[3][1].x)
    local drawn = require("regolith.console.picture").draw(x, { width = 40, height = 9 })
    assert.matches("0 to 255, the first index is %-7, 100", drawn)
    x[1000000][0] = 1
    assert.matches("are too far apart, in a box of 1000008 x 102",
      failure(rg.image.write, path, x).message)
  end)

  it("accepts arrays, and vectors of three and four components as colours", function()
    for channels, t in pairs { [2] = rg.vec3, [6] = rg.vec4 } do
      for _, x in ipairs { rg.array(t, 4, 2), rg.field(t, 4, 2) } do
        x:fill(t(0.5))
        rg.image.write(path, x)
        assert.equal(4, number(file_bytes(path), 17))
        assert.equal(channels, file_bytes(path):byte(26)) -- PNG's type of colour
      end
    end
    rg.image.write(path, rg.array(rg.f32, 3, 2))
    assert.equal(3, number(file_bytes(path), 17))
    assert.equal("a picture shows two axes, but an array of f32 has 1",
      failure(rg.image.write, path, rg.array(rg.f32, 3)).message)
    assert.equal("argument.invalid", failure(rg.image.write, path, rg.array(rg.vec2, 3, 3)).code)
  end)

  it("takes a table of columns", function()
    rg.image.write(path, { { 0, 1 }, { 0.5, 0 }, { 1, 1 } })
    assert.equal(3, number(file_bytes(path), 17))
    assert.equal(2, number(file_bytes(path), 21))
  end)

  -- Returns what an independent reader finds: width, height, colour type, and bytes of pixels.
  local function decoded(name)
    local pipe = io.popen(([[python3 - '%s' 2>&1 <<'END'
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
if data[:2] in (b'P6', b'P5'):
    head, rest = data.split(b'\n255\n', 1)
    kind, size = head.split(b'\n')
    w, h = map(int, size.split())
    print(w, h, kind.decode(), *rest)
elif data[:4] == b'\x76\x2f\x31\x01':
    at, window, names, comp = 8, None, [], None
    while data[at]:
        end = data.index(b'\0', at); name = data[at:end]; at = end + 1
        end = data.index(b'\0', at); at = end + 1
        size, = struct.unpack_from('<i', data, at); at += 4
        value = data[at:at + size]; at += size
        if name == b'dataWindow': window = struct.unpack('<4i', value)
        if name == b'compression': comp = value[0]
        while name == b'channels' and len(value) > 1:
            names.append(value[:1].decode()); value = value[18:]
    at += 1
    w, h = window[2] + 1, window[3] + 1
    at += 8 * ((h + 15) // 16)
    out = {}
    for b in range((h + 15) // 16):
        y, size = struct.unpack_from('<2i', data, at); at += 8
        raw = data[at:at + size]; at += size
        lines = min(16, h - y); full = lines * w * 4 * len(names)
        if size < full:
            t = bytearray(zlib.decompress(raw))
            for k in range(1, len(t)): t[k] = (t[k] + t[k - 1] - 128) & 255
            half = (len(t) + 1) // 2
            raw = bytearray(len(t)); raw[0::2] = t[:half]; raw[1::2] = t[half:]
        numbers = struct.unpack('<%%df' %% (len(raw) // 4), raw)
        for l in range(lines):
            for c, n in enumerate(names):
                for x in range(w): out[x, y + l, n] = numbers[(l * len(names) + c) * w + x]
    every = [out[x, y, n] for y in range(h) for x in range(w) for n in names]
    print(w, h, ''.join(names), *['%%g' %% v for v in every])
else:
    w, h, depth, kind = struct.unpack('>IIBB', data[16:26])
    at, raw = 8, b''
    while at < len(data):
        size, = struct.unpack('>I', data[at:at + 4])
        if data[at + 4:at + 8] == b'IDAT': raw += data[at + 8:at + 8 + size]
        at += 12 + size
    raw = zlib.decompress(raw); n = {0: 1, 2: 3, 6: 4}[kind]; rows = []
    for y in range(h):
        f = raw[y * (w * n + 1)]; row = bytearray(raw[y * (w * n + 1) + 1:(y + 1) * (w * n + 1)])
        up = rows[-1] if rows else bytes(w * n)
        for k in range(w * n):
            a = row[k - n] if k >= n else 0; b = up[k]; c = up[k - n] if k >= n else 0
            p = a + b - c; q = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[k] = (row[k] + (0, a, b, (a + b) // 2, q)[f]) & 255
        rows.append(row)
    print(w, h, kind, *b''.join(rows))
END]]):format(name))
    local answer = pipe:read "*a"
    pipe:close()
    return (answer:gsub("%s+$", ""))
  end
  local has_python = os.execute "python3 -c '' 2>/dev/null" == 0

  it("writes OpenEXR that OpenEXR's own reader and ffmpeg read", function()
    for _, program in ipairs { "exrheader", "ffmpeg" } do
      if os.execute(("command -v %s >/dev/null"):format(program)) ~= 0 then
        pending(program .. " is not there")
      end
    end
    local x, name = rg.field(rg.vec3, 3, 2), path:gsub("png$", "exr")
    x[0][0], x[2][1] = { 0.25, 1.5, -2 }, { 0.5, 7, 0 }
    rg.image.write(name, x)
    local pipe = io.popen(("exrheader '%s' && ffmpeg -v error -i '%s' -f rawvideo \z
      -pix_fmt gbrpf32le - | od -An -v -w12 -tf4"):format(name, name))
    local said = pipe:read "*a":gsub(" +", " ")
    pipe:close()
    os.remove(name)
    assert.is_truthy(said:find("R, 32-bit floating-point", 1, true), said)
    assert.is_truthy(said:find("dataWindow (type box2i): (0 0) - (2 1)", 1, true), said)
    -- green, blue, red: rows of three, the top one first
    assert.matches(" 0 0 7\n 1.5 0 0\n 0 0 0\n %-2 0 0\n 0 0 0.5\n 0.25 0 0\n$", said)
  end)

  it("puts pixels where they belong, as an independent reader sees", function()
    if not has_python then pending("python3 is not there") end
    local x = rg.field(rg.vec3, 2, 2)
    x[0][0], x[1][0], x[0][1], x[1][1] = { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 }
    rg.image.write(path, x)
    assert.equal("2 2 2 0 0 255 255 255 255 255 0 0 0 255 0", decoded(path))
    local other = path:gsub("png$", "ppm")
    rg.image.write(other, x)
    assert.equal("2 2 P6 0 0 255 255 255 255 255 0 0 0 255 0", decoded(other))
    os.remove(other)
    other = path:gsub("png$", "exr")
    rg.image.write(other, x)
    assert.equal("2 2 BGR 1 0 0 1 1 1 0 0 1 0 1 0", decoded(other))
    local y = rg.field(rg.f64, 3, 1)
    y[0][0], y[1][0], y[2][0] = -1.5, 1e9, 0.25
    rg.image.write(other, y)
    assert.equal("3 1 Y -1.5 1e+09 0.25", decoded(other))
    local wide, numbers = rg.field(rg.f32, 5, 40), {}
    for row = 39, 0, -1 do
      for column = 0, 4 do
        wide[column][row] = column * 100 + row
        numbers[#numbers + 1] = column * 100 + row
      end
    end
    rg.image.write(other, wide)
    assert.equal("5 40 Y " .. table.concat(numbers, " "), decoded(other))
    assert.same(wide:to_table(), rg.image.read(other):to_table())
    os.remove(other)
  end)

  it("has colour maps whose ends and middles are known", function()
    local x, list = rg.field(rg.f32, 3, 1), {}
    x[1][0], x[2][0] = 0.5, 1
    for _, palette in ipairs { "grey", "heat", "viridis", "magma", "coolwarm" } do
      rg.image.write(path, x, { palette = palette })
      local a = rg.image.read(path)
      for k = 0, 2 do
        local c = a[k][0] * 255
        list[#list + 1] = ("%d,%d,%d"):format(c.x + 0.5, c.y + 0.5, c.z + 0.5)
      end
    end
    assert.equal("0,0,0 128,128,128 255,255,255 0,0,0 255,128,0 255,255,255 71,1,85 31,144,139 \z
      252,231,33 0,0,0 183,53,119 254,249,186 59,76,192 221,221,221 180,4,38",
      table.concat(list, " "))
  end)

  it("applies gamma, and takes it back", function()
    local x = rg.field(rg.f32, 2, 1)
    x[0][0], x[1][0] = 0.25, 1
    rg.image.write(path, x, { low = 0, high = 1, gamma = 2 })
    local a = rg.image.read(path)
    assert.is_near(128 / 255, a[0][0].x, 1e-6)
    assert.is_near(0.252, rg.image.read(path, { gamma = 2 })[0][0].y, 1e-3)
  end)

  it("takes FFI buffers, and tables of colours", function()
    local ffi = require "ffi"
    local bytes = ffi.new("uint8_t[12]", { 255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9 })
    rg.image.write(path, bytes, { width = 2, height = 2, channels = 3 })
    local a = rg.image.read(path)
    assert.equal(rg.vec3(1, 0, 0), a[0][1])
    assert.equal(rg.vec3(0, 0, 1), a[0][0])
    rg.image.write(path, ffi.new("float[4]", 0, 0.5, 1, 2), { width = 4, height = 1 })
    assert.is_near(64 / 255, rg.image.read(path)[1][0].x, 1e-6)
    rg.image.write(path, { { { 1, 0, 0 }, { 0, 1, 0, } }, { rg.vec3(1), { 0, 0, 0 } } })
    assert.equal(rg.vec3(0, 1, 0), rg.image.read(path)[0][1])
    local function refused(...) return failure(rg.image.write, path, ...).message end
    assert.matches("needs the option 'width'", refused(bytes))
    assert.matches("has 12 bytes, but 9 x 9 pixels need 81", refused(bytes,
      { width = 9, height = 9 }))
    assert.matches("column 2 must have 2 elements", refused { { 1, 2 }, { 3 } })
    assert.matches("must be a number, got \"2\"", refused({ { 1 } }, { gamma = "2" }))
  end)

  it("reads files of other programs, and refuses other formats", function()
    local function read(bytes)
      local file = io.open(path, "wb")
      file:write(bytes)
      file:close()
      return rg.image.read(path)
    end
    local a = read "P5 # a comment\n2 1\n# another\n65535\n\1\0\255\255"
    assert.is_near(256 / 65535, a[0][0], 1e-7)
    assert.equal(1, a[1][0])
    assert.equal("f32", a.type.name)
    for _, bytes in ipairs { "", "P6 2 2 255 abc", "P5\n0 2 255\n", "GIF89a", "\137PNG\r\n\26\n12",
      "\118\47\49\1\2\0\0\0", "\118\47\49\1\2\2\0\0" } do
      assert.equal("io.failed", failure(read, bytes).code)
    end
    assert.equal("io.failed", failure(rg.image.read, "/nowhere/at.png").code)
    rg.image.write(path:gsub("png$", "exr"), rg.field(rg.f32, 20, 20))
    local file = io.open((path:gsub("png$", "exr")), "rb")
    local whole = file:read "*a"
    file:close()
    os.remove((path:gsub("png$", "exr")))
    for k = 1, #whole, 7 do
      pcall(read, whole:sub(1, k - 1) .. string.char((whole:byte(k) + 77) % 256)
        .. whole:sub(k + 1))
      assert.equal("io.failed", failure(read, whole:sub(1, k)).code)
    end
  end)

  it("opens libpng only when it is needed", function()
    local pipe = io.popen(([[luajit -e 'local rg = require "regolith"
      local function has_png()
        return io.open("/proc/self/maps"):read("*a"):find("libpng", 1, true) ~= nil
      end
      local x = rg.field(rg.f32, 2, 2)
      rg.kernel("function(x) for i, j in x:active() do x[i][j] = 1 end end")(x)
      io.write(tostring(has_png()), " ")
      rg.image.write("%s", x)
      print(has_png())' 2>&1]]):format(path))
    local answer = pipe:read "*a"
    pipe:close()
    assert.equal("false false\n", answer) -- closed again
    assert.equal(2, number(file_bytes(path), 17))
  end)

  it("raises errors of libpng while it writes, and leaves no file", function()
    local x = rg.field(rg.u8, 256, 256)
    rg.kernel("function(x) for i, j in rg.range(256, 256) do x[i][j] = i * i * 7919 + j * j * j \z
      * 104729 end end")(x)
    local raised = support.with_small_files(1000, function()
      return failure(rg.image.write, path, x)
    end)
    assert.equal("io.failed", raised.code)
    assert.matches("cannot be written: File too large", raised.message)
    assert.is_nil(io.open(path))
  end)

  it("refuses values that are not pictures", function()
    local x = rg.field(rg.f32, 4, 4)
    assert.equal("argument.invalid", failure(rg.image.write, 5, x).code)
    assert.equal("argument.invalid", failure(rg.image.write, path, 5).code)
    assert.equal("argument.invalid", failure(rg.image.write, path, { 1, 2 }).code)
    assert.equal("argument.invalid", failure(rg.image.write, "picture.bmp", x).code)
    assert.equal("argument.invalid", failure(rg.image.write, path, rg.field(rg.f32, 4)).code)
    assert.equal("argument.invalid", failure(rg.image.write, path, x, { palette = "mauve" }).code)
    assert.equal("option.invalid", failure(rg.image.write, path, x, { pallette = "heat" }).code)
    assert.equal("option.invalid", failure(rg.image.write, path, x, { low = "0" }).code)
    assert.equal("io.failed", failure(rg.image.write, "/nowhere/at/all.png", x).code)
    rg.image.write(path, x)
    assert.equal(4, number(file_bytes(path), 17))
  end)

  it("refuses fields whose picture has more than 65535 pixels a side", function()
    local failed = failure(rg.image.write, path, rg.field(rg.f32, 70000, 1))
    assert.equal("argument.invalid", failed.code)
    assert.matches("too large for a picture: 65535 pixels", failed.message)
  end)
end)

describe("rg_image_write, of the C interface", function()
  local ffi, lib = require "ffi", require "regolith.lib"
  local path = os.tmpname()
  after_each(function() os.remove(path .. ".png") end)
  teardown(function() os.remove(path) end)

  local function write(pixels, width, height, channels)
    local runtime = lib.runtimes[rg.field(rg.f32, 1).rg_runtime].c
    local status = lib.C.rg_image_write(runtime, path .. ".png", pixels, width, height, channels)
    return status == 0 and "written" or ffi.string(lib.C.rg_error(runtime).code)
  end

  it("writes bytes of 1, 3 and 4 channels, and refuses others", function()
    local pixels = ffi.new("uint8_t[24]", 200)
    for channels, kind in pairs { [1] = 0, [3] = 2, [4] = 6 } do
      assert.equal("written", write(pixels, 3, 2, channels))
      local bytes = file_bytes(path .. ".png")
      assert.equal(3, number(bytes, 17))
      assert.equal(2, number(bytes, 21))
      assert.equal(kind, bytes:byte(26)) -- PNG's colour type
    end
    assert.equal("argument.invalid", write(pixels, 3, 2, 2))
    assert.equal("argument.invalid", write(pixels, 0, 2, 1))
    assert.equal("argument.invalid", write(pixels, 3, -1, 1))
    assert.equal("argument.invalid", write(nil, 3, 2, 1))
  end)
end)
