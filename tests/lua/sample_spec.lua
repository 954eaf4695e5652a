local support = require "support"
local rg, failure = support.rg, support.failure
require "regolith.toolbox.sample"

-- The element at an index, as the border says; outside it is zero.
local function element(x, i, border)
  local n = x.shape[0]
  if border == "clamp" then i = math.max(0, math.min(n - 1, i)) end
  if border == "repeat" then i = i % n end
  if border == "mirror" then
    i = i % (2 * n)
    i = math.min(i, 2 * n - 1 - i)
  end
  return (i >= 0 and i < n) and x[i] or 0
end

local function linear(x, p, border)
  local i = math.floor(p)
  local f = p - i
  return (1 - f) * element(x, i, border) + f * element(x, i + 1, border)
end

-- Catmull and Rom's polynomial through four elements.
local function cubic(x, p, border)
  local i = math.floor(p)
  local a, b, c, d = element(x, i - 1, border), element(x, i, border), element(x, i + 1, border),
    element(x, i + 2, border)
  local f = p - i
  return b + 0.5 * f * (c - a + f * (2 * a - 5 * b + 4 * c - d + f * (3 * (b - c) + d - a)))
end

describe("x:sample(p)", function()
  local x = rg.field(rg.f64, 5)
  for i, v in ipairs { 3, -1, 4, 1, -5 } do x[i - 1] = v end

  it("interpolates linearly and cubically, and follows the border mode outside", function()
    local k = rg.kernel(function(p)
      return x:sample(p), x:sample(p, "zero"), x:sample(p, "repeat"), x:sample(p, "mirror"),
        x:sample(p, "cubic"), x:sample(p, "cubic", "zero"), x:sample(p, "repeat", "cubic"),
        x:sample(p, "mirror", "cubic")
    end)
    for _, p in ipairs { 0, 1.25, 3.75, 4, 4.5, 9.3, -0.4, -7.9 } do
      local given = { k(p) }
      for number, border in ipairs { "clamp", "zero", "repeat", "mirror" } do
        assert.near(linear(x, p, border), given[number], 1e-5)
        assert.near(cubic(x, p, border), given[number + 4], 1e-5)
      end
    end
  end)

  it("reproduces what is bilinear, in two and three axes, with shifted indices", function()
    local y = rg.field { type = rg.f32, shape = { 8, 6, 5 }, offset = { -4, -3, 1 } }
    local z, out = rg.array(rg.f32, 9, 7), rg.field(rg.f32, 64)
    rg.kernel(function()
      for i, j, k in rg.range({ -4, 4 }, { -3, 3 }, { 1, 6 }) do y[i][j][k] = i + 2 * j - k * i end
      for i, j in rg.range(9, 7) do z[i][j] = 3 * i - j + i * j end
    end)()
    local k = rg.kernel(function(p) return y:sample(p), y:sample_gradient(p) end)
    local v, slope = k(rg.vec3(0.5, -0.25, 2.5))
    assert.near(0.5 - 0.5 - 1.25, v, 1e-6)
    assert.same({ -1.5, 2, -0.5 }, { slope.x, slope.y, slope.z })
    rg.kernel(function()
      for i in rg.range(64) do out[i] = z:sample(rg.vec2(i / 8, i / 16 + 0.125)) end
    end)()
    for i = 0, 63 do
      local a, b = i / 8, i / 16 + 0.125
      assert.near(3 * a - b + a * b, out[i], 1e-4)
    end
  end)

  it("has gradients along the axes; of vectors a matrix with a column for each", function()
    local v = rg.field(rg.vec2, 6, 6)
    for i = 0, 5 do for j = 0, 5 do v[i][j] = rg.vec2(i + 2 * j, i * j) end end
    local k = rg.kernel(function(p)
      return v:sample_gradient(p), v:sample_gradient(p, "cubic"), x:sample_gradient(p.x, "cubic")
    end)
    local a, b, c = k(rg.vec2(2.25, 3.5))
    local expected = rg.mat2(1, 2, 3.5, 2.25)
    for r = 0, 1 do
      for s = 0, 1 do
        assert.near(expected[r][s], a[r][s], 1e-5)
        assert.near(expected[r][s], b[r][s], 1e-4)
      end
    end
    local h = 1e-5
    assert.near((cubic(x, 2.25 + h, "clamp") - cubic(x, 2.25 - h, "clamp")) / (2 * h), c, 1e-5)
  end)

  it("reads zero where a sparse field is not active, and activates nothing", function()
    local s, h = rg.field(rg.f32), rg.field(rg.f32)
    rg.root:pointer("ij", 8):dense("ij", 4):place(s)
    rg.root:hash("ij"):place(h)
    s[5][5], h[100][-7] = 8, 4
    local k = rg.kernel(function(p) return s:sample(p), h:sample(p + rg.vec2(95, -12)) end)
    assert.same({ 4, 2 }, { k(rg.vec2(5.5, 5)) })
    assert.same({ 0, 0 }, { k(rg.vec2(20.5, 20)) })
    assert.same({ 16, 1 }, { tonumber(s:count()), tonumber(h:count()) })
  end)

  it("works from Lua, on fields, arrays and pictures", function()
    local a = rg.array(rg.vec(3, rg.u8), 4, 4)
    a[1][1] = { 200, 100, 4 }
    assert.equal(1.5, x:sample(1.5))
    assert.equal(linear(x, 7.5, "repeat"), x:sample(7.5, "repeat"))
    local colour = a:sample { 1.5, 1 }
    assert.same({ 100, 50, 2 }, { colour.x, colour.y, colour.z })
    assert.equal(5, x:sample_gradient(1.5))
  end)

  it("samples the last axes of a row, and members of structs and vectors", function()
    local y = rg.field { type = rg.f32, shape = { 3, 8, 6 }, offset = { 0, -2, 1 } }
    local z = rg.array(rg.f32, 2, 5)
    local Body = rg.struct { { "mass", rg.f32 }, { "vel", rg.vec2 } }
    local bodies = rg.field(Body, 6, 6)
    rg.kernel(function()
      for t, i, j in rg.range(3, { -2, 6 }, { 1, 7 }) do y[t][i][j] = 100 * t + i * j end
      for k, i in rg.range(2, 5) do z[k][i] = 10 * k + i end
      for i, j in bodies:active() do
        bodies[i][j].mass = i - j
        bodies[i][j].vel = rg.vec2(i, 2 * j)
      end
    end)()
    local k = rg.kernel(function(t, p)
      return y[t]:sample(p), y[t][3]:sample(p.y), z[1]:sample(p.x, "cubic"), bodies.mass:sample(p),
        bodies.vel:sample(p), bodies.vel.y:sample_gradient(p), y[t].shape.y, y[t].offset.x
    end)
    local row, line, cubed, mass, vel, slope, extent, first = k(2, rg.vec2(1.5, 3.25))
    assert.same({ 204.875, 209.75, 11.5, -1.75, 1.5, 6.5, 0, 2, 6, -2 },
      { row, line, cubed, mass, vel.x, vel.y, slope.x, slope.y, extent, first })
    assert.equal(204.875, y[2]:sample { 1.5, 3.25 })
    assert.equal(209.75, y[2][3]:sample(3.25))
    assert.equal(2.5, z[0]:sample(2.5))
    assert.equal(-1.75, bodies.mass:sample { 1.5, 3.25 })
    assert.equal(6.5, bodies.vel:sample({ 1.5, 3.25 }, "repeat").y)
    assert.equal(6.5, bodies.vel.y:sample { 1.5, 3.25 })
  end)

  it("reads the nearest element, however far away a place is", function()
    local y = rg.field(rg.f32, 6)
    for i = 0, 5 do y[i] = i + 1 end
    local k = rg.kernel(function(p)
      return y:sample(p), y:sample(p, "cubic"), y:sample(p, "zero")
    end)
    for _, p in ipairs { 3e9, 1e20, 1e38 } do
      assert.same({ 6, 6, 0 }, { k(p) })
      assert.same({ 1, 1, 0 }, { k(-p) })
      assert.equal(6, y:sample(p))
    end
  end)

  it("has derivatives with respect to its elements and to the place", function()
    local y, loss = rg.field { type = rg.f64, shape = 5, grad = true },
      rg.field { type = rg.f64, shape = {}, grad = true }
    local at = rg.field { type = rg.f64, shape = 1, grad = true }
    for i = 0, 4 do y[i] = x[i] end
    at[0] = 1.25
    local k = rg.kernel(function() loss[0] = loss[0] + y:sample(at[0]) end)
    rg.grad(loss, function() k() end)
    assert.same({ 0, 0.75, 0.25, 0, 0 },
      { y.grad[0], y.grad[1], y.grad[2], y.grad[3], y.grad[4] })
    assert.equal(5, at.grad[0])
  end)

  it("reports mistakes", function()
    local y = rg.field(rg.f32, 4, 4)
    local function message(text, captures)
      captures.p = rg.vec2(1, 1)
      return failure(rg.kernel("function() return " .. text .. " end", captures)).message
    end
    assert.match("'\"cubi\"' is not a way to sample", message("y:sample(p, 'cubi')", { y = y }))
    assert.match("besides the other one", message("y:sample(p, 'zero', 'clamp')", { y = y }))
    assert.match("a place in 'y' is a vector of 2", message("y:sample(1)", { y = y }))
    assert.match("takes a position", message("y:sample()", { y = y }))
    assert.match("a place in 'y' is a number", message("y[1]:sample(p)", { y = y }))
    assert.match("holds booleans", message("b:sample(1)", { b = rg.field(rg.bool, 4) }))
    assert.match("has 4 axes", message("m:sample(1)", { m = rg.field(rg.f32, 2, 2, 2, 2) }))
    local b = rg.field(rg.struct { { "vel", rg.vec2 } }, 4, 4)
    assert.match("holds a struct", message("b:sample(p)", { b = b }))
    for _, text in ipairs { "b.vel[1][1] = p", "b.vel.x[1][1] = 1", "b.vel.x:add(1, 1, 2)" } do
      assert.match("is one member of all elements, which is only read",
        failure(rg.kernel("function() " .. text .. " end", { b = b, p = rg.vec2(1, 1) })).message)
    end
    local h = rg.field(rg.f32)
    rg.root:hash("i"):place(h)
    assert.match("has no extent", message("h:sample(1, 'clamp')", { h = h }))
    assert.match("strings after the position", failure(y.sample, y, { 1, 2 }, 3).message)
    assert.match("takes a position first, not 3", failure(y.sample, y, 3).message)
  end)
end)
