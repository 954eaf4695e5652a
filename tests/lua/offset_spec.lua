--- Fields whose indices do not start at 0.
local rg = require "regolith"
local support = require "support"

local failure = support.failure

describe("a field with an offset", function()
  it("is read and written at its own indices, from Lua and in kernels", function()
    local x = rg.field { type = rg.i32, shape = { 4, 6 }, offset = { 16, -16 }, name = "x" }
    x[16][-16], x[19][-11] = 1, 2
    local sum, corner = rg.kernel(function()
      local s = 0
      for i, j in rg.range({ 16, 20 }, { -16, -10 }) do
        x[i][j] = x[i][j] + 100
        s = s + x[i][j]
      end
      return s, x[19][-11]
    end)()
    assert.same({ 4 * 6 * 100 + 3, 102 }, { sum, corner })
    assert.same({ 101, 100 }, { x[16][-16], x:get(17, -12) })
    x:set(17, -12, 5)
    assert.equal(5, x[{ 17, -12 }])
  end)

  it("loops over its own indices, in parallel and one by one", function()
    local x = rg.field { type = rg.i32, shape = 8, offset = -48 }
    local y = rg.field { type = rg.i32, shape = { 8 }, offset = { 1024 } }
    rg.kernel(function()
      for i in x:active() do x[i] = i end
      for _ in rg.range(1):serial() do
        for i in y:active():serial() do y[i] = 2 * i end
      end
    end)()
    assert.same({ -48, -41, 2048, 2062 }, { x[-48], x[-41], y[1024], y[1031] })
    local met = {}
    for i, v in pairs(x) do met[#met + 1] = i .. "=" .. v end
    assert.equal("-48=-48 -47=-47", table.concat(met, " ", 1, 2))
    local seen = 0
    for i in y:active() do seen = seen + i end
    assert.equal(8 * 1024 + 28, seen)
  end)

  it("has a gradient with its indices", function()
    local x = rg.field { type = rg.f32, shape = { 4 }, offset = { -2 }, grad = true, dual = true }
    local loss = rg.field(rg.f32, 1, { grad = true, dual = true })
    local measure = rg.kernel(function()
      for i in rg.range({ -2, 2 }) do loss[0] = loss[0] + i * x[i] end
    end)
    rg.grad(loss, function() measure() end)
    assert.equal(-2, x.grad[-2])
    assert.equal(1, x.grad[1])
    assert.equal(-2, x.grad.dual.offset[0])
    assert.equal(-2, x.dual.offset[0])
  end)

  it("has a shape and an offset that kernels know", function()
    local x = rg.field { type = rg.f32, shape = { 8, 16 }, offset = { -8, 3 } }
    assert.equal("(-8, 3)", tostring(x.offset))
    assert.equal("(8, 16)", tostring(x.shape))
    assert.equal("(0)", tostring(rg.field(rg.f32, 4).offset))
    local a, b, v = rg.kernel(function() return x.offset[0], x.offset.y, x.offset end)()
    assert.same({ -8, 3, "ivec2(-8, 3)" }, { a, b, (tostring(v):gsub("^rg%.", "")) })
  end)

  it("counts writes outside it, and reads zero there", function()
    local x = rg.field { type = rg.i32, shape = { 4 }, offset = { -8 } }
    local before = rg.stats().out_of_range
    local read = rg.kernel(function()
      for i in rg.range({ -10, 2 }) do x[i] = 1 end
      return x[-9] + x[0] + x[-8]
    end)()
    assert.equal(1, read)
    assert.equal(8, rg.stats().out_of_range - before)
    local active = rg.kernel(function() return x:is_active(-8), x:is_active(0) end)
    assert.same({ true, false }, { active() })
    assert.is_true(x:is_active(-5))
  end)

  it("is copied, filled and read as a whole by position", function()
    local x = rg.field { type = rg.i32, shape = 3, offset = 7 }
    local y = rg.field(rg.i32, 3)
    x:from_table { 1, 2, 3 }
    assert.same({ 1, 3 }, { x[7], x[9] })
    y:copy_from(x)
    assert.same({ 1, 2, 3 }, y:to_table())
    y:fill(4)
    x:copy_from(y)
    assert.same({ 4, 4, 4 }, x:to_table())
    assert.equal(4, x[8])
  end)

  it("shares no code with one of another offset", function()
    local at = {}
    for k, offset in ipairs { 0, 5, -5 } do
      at[k] = rg.field { type = rg.i32, shape = 4, offset = offset }
    end
    local put = rg.kernel(function(x, i) x[i] = 9 end)
    put(at[1], 0) put(at[2], 5) put(at[3], -5)
    for k, x in ipairs(at) do assert.same({ 9, 0, 0, 0 }, x:to_table(), k) end
  end)

  it("holds vectors too", function()
    local x = rg.field { type = rg.vec2, shape = { 2, 2 }, offset = { -1, -1 } }
    x[-1][-1] = rg.vec2(1, 2)
    rg.kernel(function() for i, j in x:active() do x[i][j].y = x[i][j].y + 10 * i + j end end)()
    assert.same({ 1, 2 - 10 - 1 }, { x[-1][-1].x, x[-1][-1].y })
  end)

  it("refuses indices out of bounds, and names its first index", function()
    local x = rg.field { type = rg.i32, shape = { 8, 16 }, offset = { -8, -8 }, name = "x" }
    local failed = failure(function() return x[0][0] end)
    assert.equal("index.range", failed.code)
    assert.equal("index 0, 0 is outside field 'x', whose shape is 8 x 16", failed.message)
    assert.equal("its indices start at -8, -8", failed.hint)
    assert.equal(0, x[-8][-8] + x[-1][7])
  end)

  it("is refused where offsets are not supported", function()
    assert.matches("an offset needs a shape",
      failure(rg.field, { type = rg.i32, offset = { 1 } }).message)
    assert.matches("the offset has 1 numbers, but the shape has 2 axes",
      failure(rg.field, { type = rg.i32, shape = { 2, 2 }, offset = { 1 } }).message)
    assert.matches("whole number", failure(rg.field, { type = rg.i32, shape = { 2 },
      offset = { 1.5 } }).message)
  end)
end)
