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
    for _, options in ipairs { {}, { low = 0, high = 1 }, { palette = "heat" }, { palette = "grey", low = -1, high = 5 } } do
      rg.image.write(path, x, options)
      assert.equal(16, number(file_bytes(path), 17))
    end
  end)

  it("takes a table of columns", function()
    rg.image.write(path, { { 0, 1 }, { 0.5, 0 }, { 1, 1 } })
    assert.equal(3, number(file_bytes(path), 17))
    assert.equal(2, number(file_bytes(path), 21))
  end)

  it("refuses what is no picture", function()
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
end)
