local support = require "support"
local rg, failure = support.rg, support.failure

local function file_bytes(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

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

  it("takes arrays, and vectors of three and four numbers as colours", function()
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
    assert.equal("a picture shows two axes, an array of f32 has 1",
      failure(rg.image.write, path, rg.array(rg.f32, 3)).message)
    assert.equal("argument.invalid", failure(rg.image.write, path, rg.array(rg.vec2, 3, 3)).code)
  end)

  it("takes a table of columns", function()
    rg.image.write(path, { { 0, 1 }, { 0.5, 0 }, { 1, 1 } })
    assert.equal(3, number(file_bytes(path), 17))
    assert.equal(2, number(file_bytes(path), 21))
  end)

  it("opens libpng for it, and not before", function()
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

  it("raises what goes wrong while libpng writes, and leaves no file", function()
    local x = rg.field(rg.u8, 256, 256)
    rg.kernel("function(x) for i, j in rg.range(256, 256) do x[i][j] = i * i * 7919 + j * j * j \z
      * 104729 end end")(x)
    os.execute(("ln -s /dev/full '%s'"):format(path))
    local raised = failure(rg.image.write, path, x)
    assert.equal("io.failed", raised.code)
    assert.matches("cannot be written: Write Error", raised.message)
    assert.is_nil(io.open(path))
  end)

  it("refuses what is not a picture", function()
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

  it("is for fields whose picture has no more than 65535 pixels a side", function()
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
