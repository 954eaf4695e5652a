-- gradient_spec.lua - derivatives of kernels and of simulations, compared with central differences
-- in f64 (rg.check_gradient), and with values derived by hand.
local support = require "support"
local rg = support.rg

local T = rg.f64
local D = rg.new { default_float = "f64" }

local function field(...)
  local extents = { ... }
  extents[#extents + 1] = { grad = true }
  return D.field(T, unpack(extents))
end

-- Three fields: x with the values of `input`, y, and the loss.
local function fields(n, input)
  local x, y, loss = field(n), field(n), field(1)
  for i = 0, n - 1 do x[i] = input and input(i) or 0.3 + 0.17 * i end
  return x, y, loss
end

local function assert_gradient(loss, f, list, limit)
  local report = D.check_gradient(loss, f, list)
  assert.is_true(report.error < (limit or 1e-6), tostring(report))
  assert.is_true(report.count > 0)
end

-- Makes a kernel from a loop's body, which may use x, y, loss, n and further captures.
local function assert_body(body, n, input, captures)
  local x, y, loss = fields(n or 8, input)
  captures = captures or {}
  captures.x, captures.y, captures.loss, captures.n = x, y, loss, n or 8
  local k = D.kernel("function()\n" .. body .. "\nend", captures)
  assert_gradient(loss, function()
    loss[0] = 0
    y:fill(0)
    k()
  end, { x })
end

describe("a field with a gradient", function()
  it("has a field of the same type and shape in the same tree, which is zero", function()
    local x = rg.field(rg.vec3, 4, 5, { grad = true })
    assert.equal("vec3", x.grad.type.name)
    assert.same({ 4, 5 }, { x.grad.shape[0], x.grad.shape[1] })
    assert.equal(0, x.grad[2][3].x)
    assert.is_true(x.grad == x.grad)
  end)

  it("is placed with it in a sparse tree, and takes memory where it does", function()
    local x = rg.field(rg.f32, { grad = true })
    local block = rg.root:pointer("i", 16)
    block:dense("i", 4):place(x)
    x[9] = 1
    assert.equal(4, x.grad:count())
    x.grad[40] = 2
    assert.equal(2, block:count())
  end)

  it("cannot be of integers", function()
    assert.equal("type.mismatch", support.failure(rg.field, rg.i32, 4, { grad = true }).code)
  end)

  it("may be in a list, whose elements are appended and popped without gradients", function()
    local x, y = rg.field(rg.f32, { grad = true, dual = true }), rg.field(rg.vec2, { grad = true })
    local list = rg.root:dense("i", 2):dynamic("j", 8)
    list:place(x, y)
    x:append(1, 5, { 6, 7 })
    x.grad[1][0], y.grad[1][0] = 3, { 1, 2 }
    rg.kernel(function()
      for i in rg.range(2) do x:append(i, i + 1, rg.vec2(i, 2)) end
    end)()
    assert.equal(2, x[1][1])
    assert.equal(1, y[1][1].x)
    assert.same({ 3, 0, 0 }, { x.grad[1][0], x.grad[1][1], x.dual[1][1] })
    local seen = {}
    for k, a, b in list:items(1) do seen[k + 1] = a + b.y end
    assert.same({ 12, 4 }, seen)
    local a, b = list:pop(1)
    assert.same({ 2, 1 }, { a, b.x })
    assert.matches("has 3 numbers, and 'append' was given 1", support.failure(rg.kernel(function()
      x:append(0, 1)
    end)).message)
    assert.matches("has 2 values, 1 given", support.failure(x.append, x, 0, 1).message)
    x:append(1, 9, { 1, 1 })
    assert.equal(0, x.grad[1][1])
    assert.same({ 5, 9 }, { x[1][0], x[1][1] })
  end)

  it("is requested where the field is made", function()
    local x = rg.field(rg.f32, 4)
    local failure = support.failure(function() return x.grad end)
    assert.matches("has no gradient", failure.message)
    assert.equal("option.invalid", support.failure(rg.field, rg.f32, 4, { grad = 1 }).code)
  end)
end)

describe("an adjoint kernel", function()
  it("adds to the gradients of what is read, and clears those of what is overwritten", function()
    local x, y = rg.field(rg.f32, 4, { grad = true }), rg.field(rg.f32, 4, { grad = true })
    local k = rg.kernel(function(a)
      for i in rg.range(4) do y[i] = a * x[i] * x[i] end
    end)
    for i = 0, 3 do x[i], y.grad[i], x.grad[i] = i, 1, 10 end
    k(3)
    k:grad(3)
    for i = 0, 3 do
      assert.equal(10 + 6 * i, x.grad[i])
      assert.equal(0, y.grad[i])
    end
  end)

  it("leaves the elements as they are, and activates nothing", function()
    local x, loss = rg.field(rg.f32, { grad = true }), rg.field(rg.f32, 1, { grad = true })
    local block = rg.root:pointer("i", 16)
    block:dense("i", 4):place(x)
    for i = 4, 7 do x[i] = i end
    local k = rg.kernel(function()
      for i in x:active() do loss[0] = loss[0] + x[i - 1] * x[i + 1] end
    end)
    k()
    loss.grad[0] = 1
    local before = loss[0]
    k:grad()
    assert.equal(1, block:count())
    assert.equal(before, loss[0])
    assert.same({ 0, 6, 7, 4, 5 }, { x.grad[3], x.grad[4], x.grad[5], x.grad[6], x.grad[7] })
  end)

  it("shows its code as any other", function()
    local x = rg.field(rg.f32, 4, { grad = true })
    local k = rg.kernel(function() for i in rg.range(4) do x[i] = 2 * x[i] end end)
    k:grad()
    assert.matches("kernel k.grad", k:adjoint():ir())
    assert.is_true(k:adjoint() == k:adjoint())
  end)

  it("of a stencil gathers what the stencil's neighbours contribute, without atomics", function()
    local x, y = rg.field(rg.f32, 64, { grad = true }), rg.field(rg.f32, 64, { grad = true })
    local k = rg.kernel(function()
      for i in rg.range(64) do y[i] = x[i - 1] * 2 + x[i + 1] * x[i] end
    end)
    for i = 0, 63 do x[i], y.grad[i] = i, 1 end
    k()
    k:grad()
    assert.equal(2 + 19 + 21, x.grad[20])
    assert.equal(2 + 1, x.grad[0])
    assert.equal(62, x.grad[63])
    assert.is_nil(k:adjoint():explain():find("atomic;", 1, true))
  end)

  it("is refused where the launch has overwritten what it needs", function()
    local x = rg.field(rg.f32, 4, { grad = true })
    local k = rg.kernel(function() for i in rg.range(4) do x[i] = x[i] * x[i] end end)
    k()
    assert.matches("it has overwritten", support.failure(k.grad, k).message)
  end)
end)

describe("the derivative of", function()
  local functions = {
    ["x + 2 * y - y / x"] = "x[i] + 2 * x[j] - x[j] / x[i]",
    ["exp, log, log10"] = "math.exp(x[i]) * math.log(x[j]) + math.log10(x[i] + x[j])",
    ["sin, cos, tan"] = "math.sin(x[i]) * math.cos(x[j]) + math.tan(x[i] * 0.3)",
    ["asin, acos, atan"] = "math.asin(x[i] * 0.3) + math.acos(x[j] * 0.3) * math.atan(x[i])",
    ["sinh, cosh, tanh"] = "math.sinh(x[i]) * math.cosh(x[j]) + math.tanh(x[i] - x[j])",
    ["atan2"] = "math.atan2(x[i], x[j]) * x[i]",
    ["sqrt"] = "math.sqrt(x[i] * x[j] + 1)",
    ["powers"] = "x[i] ^ 3 + 2 ^ x[j] + x[i] ^ x[j]",
    ["minimum and maximum"] = "math.min(x[i], 1) * math.max(x[j], 0.8, x[i])",
    ["absolute values"] = "math.abs(x[i] - 1) * math.abs(x[j] - 0.7)",
    ["remainders"] = "x[i] % 0.31 + math.fmod(x[j], 0.27) * x[i]",
    ["rounding, which is flat"] = "math.floor(x[i]) * x[j] + math.ceil(x[j])",
    ["conversions"] = "rg.f32(1) * x[i] * rg.f64(i) + x[j] * rg.i32(x[i])",
    ["a choice"] = "(x[i] > 0.9 and x[i] * x[j] or x[j])",
  }
  for name, text in pairs(functions) do
    it(name, function()
      assert_body("for i in rg.range(n) do local j = (i + 3) % n\nlocal v = " .. text
        .. "\nloss[0] = loss[0] + v * v end", 8, function(i) return 0.35 + 0.1234 * i end)
    end)
  end

  it("sqrt and abs at 0 is 0, of equal numbers the first operand's", function()
    local x, loss = rg.field(rg.f32, 4, { grad = true }), rg.field(rg.f32, 1, { grad = true })
    local k = rg.kernel(function()
      loss[0] = math.sqrt(x[0]) + math.abs(x[1]) + math.max(x[2], x[3])
    end)
    assert.equal(0, rg.grad(loss, function() k() end))
    assert.same({ 0, 0, 1, 0 }, { x.grad[0], x.grad[1], x.grad[2], x.grad[3] })
  end)
end)

describe("a gradient passes through", function()
  it("products, minima and maxima with an element that its iteration alone reaches", function()
    for _, update in ipairs {
      "y[i] * x[(i + 1) % n]", "y[i] / (1 + x[i])",
      "math.max(y[i], x[(i + 3) % n] * 0.5)", "math.min(y[i], x[i] * x[i])",
    } do
      local n, x, y, loss = 8, fields(8)
      local start = D.kernel(function() for i in rg.range(n) do y[i] = x[i] end end)
      local step = D.kernel("function() for i in rg.range(n) do y[i] = " .. update .. " end end",
        { x = x, y = y, n = n })
      local sum = D.kernel(function()
        for i in rg.range(n) do loss[0] = loss[0] + y[i] * y[i] end
      end)
      assert_gradient(loss, function()
        loss[0] = 0
        start() step() sum()
      end, { x })
    end
  end)

  it("minima and maxima that iterations share, to the one that won", function()
    assert_body [[
      for i in rg.range(n) do y[i] = -10 end
      for i in rg.range(n) do y[i % 3] = math.max(y[i % 3], math.sin(3 * x[i]) * x[i]) end
      for i in rg.range(n) do loss[0] = loss[0] + y[i] * y[i] * x[i] end]]
    assert_body [[
      for i in rg.range(n) do
        for j = 0, 3 do y[0] = math.min(y[0], math.cos(x[i] * j) - 1) end
      end
      loss[0] = y[0] * 2]]
    local x, most, loss = fields(8)
    local k = D.kernel(function()
      for i in rg.range(8) do most[0] = math.max(most[0], x[i]) end
      loss[0] = 3 * most[0]
    end)
    x:fill(2) -- one of them has it
    D.grad(loss, function() k() end)
    local sum = 0
    for i = 0, 7 do sum = sum + x.grad[i] end
    assert.equal(3, sum)
    most[0] = 5 -- none has it
    D.grad(loss, function() k() end)
    for i = 0, 7 do assert.equal(0, x.grad[i]) end
    assert.equal(3, most.grad[0])
  end)

  -- Of elements that several iterations update by constants, and of old values: in both directions.
  for name, body in pairs {
    ["minima and maxima of constants, which have none"] = [[
      for i in rg.range(n) do y[i] = x[i] ^ 2 end
      for i in rg.range(n) do y[i % 3] = math.max(y[i % 3], w[i]) end
      for i in rg.range(n) do loss[0] = loss[0] + y[i] * (i + 1) end]],
    ["products and quotients by constants that iterations share"] = [[
      for i in rg.range(n) do y[i] = x[i] ^ 2 end
      for i in rg.range(n) do y[i % 3] = y[i % 3] * w[i] end
      for i in rg.range(n) do y[3 + i % 2] = y[3 + i % 2] / w[i] end
      for i in rg.range(n) do loss[0] = loss[0] + y[i] * y[i] end]],
    ["a maximum, of values that are computed in loops and branches"] = [[
      for i in rg.range(n) do y[i] = -10 end
      for i in rg.range(n) do
        local v = 0.0
        for j = 0, 2 do v = v + math.sin(x[i] * j) end
        if i % 2 == 0 then y[i % 3] = math.max(y[i % 3], v * v) end
      end
      for i in rg.range(n) do loss[0] = loss[0] + y[i] * x[i] end]],
    ["updates whose old value an iteration of its own reads, or nobody"] = [[
      for i in rg.range(n) do
        local old = y:add(i, x[i] ^ 2)
        local older = y:exchange(i, old * x[i] + 1)
        local _ = loss:add(0, y[i] * older + old)
      end]],
    ["a sum whose old value is stopped"] = [[
      for i in rg.range(n) do
        local old = rg.stop(y:add(0, x[i] ^ 2))
        w[i] = old
      end
      loss[0] = y[0] ^ 2]],
  } do
    it(name .. ", in both directions", function()
      local x, y, loss = fields(8)
      local w = D.field(T, 8)
      for i = 0, 7 do w[i] = 0.4 + (i * 5 % 8) * 0.25 end
      local k = D.kernel("function()\n" .. body .. "\nend",
        { x = x, y = y, loss = loss, n = 8, w = w })
      local function f()
        loss:fill(0)
        y:fill(0.5)
        k()
      end
      assert_gradient(loss, f, { x })
      local sum = 0
      for i = 0, 7 do
        sum = sum + x.grad[i] * math.cos(i)
        x.dual[i] = math.cos(i)
      end
      D.jvp(f, { x })
      assert.near(sum, loss.dual[0], 1e-9 * math.abs(sum))
    end)
  end

  it("neither old values of elements that iterations share, nor products of a whole \z
    loop", function()
    local x, y, loss = fields(4)
    for body, message in pairs {
      ["for i in rg.range(4) do y[i] = loss:add(0, x[i]) end"] = "depends on their order",
      ["for i in rg.range(4) do y:compare_exchange(i, 0.5, x[i]) end"]
        = "compare_exchange has no derivative",
      ["for i in rg.range(4) do loss[0] = loss[0] * x[i] end"] = "a product that iterations share",
      ["local m = x[0]\nfor i in rg.range(4) do m = math.max(m, 0.5) end\nloss[0] = m"]
        = "only sums of a whole loop",
      ["for i in rg.range(4) do x[i] = x[i] + 1 y[0] = math.max(y[0], x[i]) end"] = false,
    } do
      local k = D.kernel("function()\n" .. body .. "\nend", { x = x, y = y, loss = loss })
      local forwards = support.failure(D.jvp, function() k() end)
      assert.matches(message or "the loop changes what they are computed from", forwards.message)
      if message then
        assert.matches(message, support.failure(D.grad, loss, function() k() end).message)
      end
    end
  end)

  it("elements of lists, by their slots", function()
    local x, start, loss = D.field(T, { grad = true }), D.field(T, { grad = true }), field(1)
    D.root:dense("i", 3):dynamic("j", 16):place(x)
    D.root:dense("i", 3):dynamic("j", 16):place(start)
    for i = 0, 2 do
      for j = 0, i + 1 do
        start:append(i, 0.5 + i + 0.3 * j)
        x:append(i, 0)
      end
    end
    local copy = D.kernel(function()
      for i, j in x:active() do x[i][j] = start[i][j] end
    end)
    local bend = D.kernel(function()
      for i in rg.range(3) do
        for j = 1, x:length(i) - 1 do x[i][j] = math.sin(x[i][j - 1]) * x[i][j] end
      end
    end)
    local measure = D.kernel(function()
      for i, j in x:active() do loss[0] = loss[0] + x[i][j] ^ 2 * (j + 1) end
      for i in rg.range(3) do
        for _, v in x:items(i) do loss[0] = loss[0] + v end
        loss[0] = loss[0] + x[i][9]
      end
    end)
    local function f()
      loss:fill(0)
      copy()
      bend()
      bend()
      measure()
    end
    assert_gradient(loss, f, { start })
    assert.equal(3, x:length(1))
    assert.equal(0, x.grad[0][5])
  end)

  it("no appended or popped element, which has a derivative in forward mode", function()
    local x, y, loss = D.field(T, { grad = true }), field(3), field(1)
    D.root:dense("i", 3):dynamic("j", 16):place(x)
    for i = 0, 2 do y[i] = 1 + i end
    local push = D.kernel(function()
      for i in rg.range(3) do
        x:append(i, y[i] ^ 2)
        x:append(i, 3)
      end
    end)
    local pop = D.kernel(function()
      for i in rg.range(3) do
        local three, v = x:pop(i), x:pop(i)
        loss[0] = loss[0] + three * v * v
      end
    end)
    y.dual[1], y.dual[2] = 1, 10
    D.jvp(function() push() end)
    assert.same({ 0, 4, 60 }, { x.dual[0][0], x.dual[1][0], x.dual[2][0] })
    assert.equal(0, x.dual[2][1])
    D.jvp(function() pop() end, { x })
    assert.equal(3 * 2 * 4 * 4 + 3 * 2 * 9 * 60, loss.dual[0])
    for _, k in ipairs { push, pop } do
      assert.matches("appended and popped elements have no gradient", support.failure(D.grad, loss,
        function() k() end).message)
    end
  end)

  it("two loops", function()
    assert_body [[
      for i in rg.range(n) do y[i] = math.exp(x[i]) / (1 + x[i]) end
      for i in rg.range(n) do loss[0] = loss[0] + y[i] * y[i] * x[(i + 1) % n] end]]
  end)

  it("branches", function()
    assert_body [[
      for i in rg.range(n) do
        local v = x[i]
        if v > 0.8 then
          v = v * v * v
          if i > 5 then v = math.log(v) end
        else
          v = math.sqrt(v)
        end
        loss[0] = loss[0] + v * x[i]
      end]]
  end)

  it("sums of serial loops", function()
    assert_body [[
      for i in rg.range(n) do
        local s = 0.0
        for j = 0, n - 1 do
          local d = x[i] - x[j]
          if d > 0 then s = s + d * x[j] else s = s - math.sin(d) end
        end
        loss[0] = loss[0] + s * s
      end]]
  end)

  it("products, minima and maxima of an element in a range that runs in order", function()
    for _, update in ipairs {
      "y[0] = y[0] * x[i]", "y[0] = math.max(y[0], math.sin(3 * x[i]) * x[i])",
    } do
      assert_body(([[
        y[0] = 0.1
        for i in rg.range(n):serial() do %s end
        loss[0] = y[0] * y[0]
      ]]):format(update))
    end
    assert_body [[
      for i in rg.range(n) do
        local p = x[i]
        for j, k in rg.range(n, 2) do p = math.sin(p * x[j]) + k * p end
        loss[0] = loss[0] + p
      end]]
  end)

  it("products of serial loops, in both directions and with steps", function()
    assert_body [[
      for i in rg.range(n) do
        local p = 1.0
        for j = 1, n - 1, 2 do p = math.sin(p * x[j]) + p end
        for j = n - 1, 1, -3 do p = math.cos(p * x[j]) * p + x[i] end
        loss[0] = loss[0] + p
      end]]
  end)

  it("nested loops that carry variables", function()
    assert_body([[
      for i in rg.range(n) do
        local s, q = x[i], 0.5
        for j = 0, n - 1 do
          local t = 1.0
          for k = 0, j do t = t * (1 + 0.1 * x[k]) + q * x[j] * 0.01 end
          if t > 1.5 then s = s + t * t else s = s * t end
          q = q * 0.9 + s * 0.001
        end
        loss[0] = loss[0] + s * q
      end]], 6)
  end)

  it("loops of more iterations than have checkpoints", function()
    assert_body [[
      for i in rg.range(n) do
        local p, q = x[i], 0.2
        for j = 0, 299 do
          p = p + 0.01 * math.sin(p * q + x[j % n])
          q = q + p * 0.001
        end
        loss[0] = loss[0] + p
      end]]
  end)

  it("loops that run while a condition holds", function()
    assert_body [[
      for i in rg.range(n) do
        local p, c = x[i], 0
        while p < 4 do
          p = p + 0.03 * (1 + p * x[(i + 1) % n])
          c = c + 1
        end
        repeat p = p * 0.9 until p < 2
        loss[0] = loss[0] + p * x[i]
      end]]
  end)

  it("loops that are left early", function()
    assert_body [[
      for i in rg.range(n) do
        local s = 0.0
        for j = 0, n - 1 do
          if x[j] > 1.2 then break end
          s = s + x[j] * x[i] * (s + 1)
        end
        loss[0] = loss[0] + s
      end]]
  end)

  it("helpers with early returns", function()
    assert_body([[
      local function f(a, b)
        if a > b then return a * b end
        return a + b * b
      end
      for i in rg.range(n) do loss[0] = loss[0] + f(x[i], 1.0) * f(x[i], x[(i + 1) % n]) end]])
  end)

  it("vectors in the frame, indexed by computed numbers", function()
    assert_body([[
      for i in rg.range(n) do
        local s = V(0)
        for j = 0, n - 1 do s[(j * 3) % 8] = x[j] * x[i] end
        for j = 0, n - 1 do
          if s[j] > 0.5 then s[(j + i) % 8] = s[j] * s[(j + 1) % 8] end
        end
        local t = 0.0
        for j = 0, n - 1 do t = t + s[j] * s[j] end
        loss[0] = loss[0] + t
      end]], 8, nil, { V = rg.vec(8, T) })
  end)

  it("sums of a whole loop", function()
    assert_body [[
      local s = 0.0
      for i in rg.range(n) do s = s + x[i] * x[i] end
      for i in rg.range(n) do loss[0] = loss[0] + s * x[i] end]]
  end)

  it("elements that a serial loop has just written", function()
    assert_body [[
      for i in rg.range(1) do
        y[0] = x[0]
        for j = 1, n - 1 do y[j] = y[j - 1] * x[j] end
        loss[0] = loss[0] + y[n - 1]
      end]]
  end)

  it("elements of f16, whose gradients are f16, too", function()
    local x, y = D.field(rg.f16, 8, { grad = true, dual = true }), D.field(rg.f16, 9, { grad = true,
      dual = true })
    local loss = D.field(rg.f32, 1, { grad = true, dual = true })
    local k = D.kernel(function()
      for i in rg.range(8) do y[i] = 3 * x[i] end
      for i in rg.range(8) do y[i] = y[i] * x[i] end -- its own element
      for i in rg.range(8) do y[i + 1] = y[i + 1] + x[i] end
      for i in rg.range(8) do loss[0] = loss[0] + x[i] ^ 2 + y[8] end
    end)
    x:fill(0.5)
    x.dual:fill(1)
    D.grad(loss, function() k() end)
    assert.same({ 1, 9 }, { x.grad[2], x.grad[7] }) -- y[8] counts eight times
    assert.matches("update add uncounted %S+, %S+\n", k:adjoint():ir()) -- of its own, not of k
    assert.is_nil(k:ir():find("x.grad", 1, true))
    assert.equal(0, y.grad[3])
    D.jvp(function() k() end)
    assert.equal(8 * 2 * 0.5 + 8 * 1, loss.dual[0])
  end)

  it("iterations that end early", function()
    assert_body [[
      for i in rg.range(n) do
        if i % 3 == 0 then continue end
        loss[0] = loss[0] + x[i] ^ 2
      end
      for i in x:active() do
        if i > 2 then
          if x[i] > 1 then continue end -- both arms may go on
          loss[0] = loss[0] + x[i]
        end
        loss[0] = loss[0] + x[i] ^ 3
      end]]
  end)

  it("elements that iterations of a serial range pass to the next iteration", function()
    local rest = "for i in rg.range(n) do loss[0] = loss[0] + x[i] ^ 3 + y[i] end"
    assert_body("for i in rg.range(n - 1):serial() do x[i + 1] = x[i + 1] + math.sin(x[i]) end "
      .. rest)
    assert_body("for i in rg.range(n):serial() do y[0] = 0.5 * y[0] + x[i] end " .. rest)
    assert_body("for i in rg.range(n):serial() do y[0] = math.max(y[0], x[i] * x[i]) end " .. rest)
    assert_body([[
      for _ in rg.range(1) do
        local p = 1.0
        for i, j in rg.range(n - 1, 3) do -- serial, as it is in another loop
          if j == 2 then continue end
          x[i + 1] = 0.9 * x[i + 1] + math.sin(x[i])
          p = p * (1 + 0.1 * x[i])
        end
        loss[0] = loss[0] + p
      end ]] .. rest)
  end)

  it("elements that a serial loop over active cells passes to the next iteration", function()
    local function sum(kind, k)
      local x, loss = D.field(T, { grad = true }), D.field(T, 1, { grad = true })
      kind(x)
      for i = 2, 5 do
        for j = 1, 4 do
          if (i * 3 + j * 5) % 4 < 2 then x[i][j] = 0.1 * i + 0.07 * j + 0.1 end
        end
      end
      local launch = D.kernel(k, { x = x, loss = loss })
      return D.check_gradient(loss, function()
        loss[0] = 0
        launch()
      end, { x }).error
    end
    local cells = [[function()
      for i, j in x:active():serial() do
        x[i][j] = 0.9 * x[i][j] + math.sin(x[i - 1][j] + x[i][j - 1])
      end
      for _ in rg.range(1) do
        local v = 0.3
        for i, j in x:active() do v = 0.9 * v + math.sin(v * x[i][j]) end
        loss[0] = loss[0] + v
      end
    end]]
    local root = D.root
    for _, kind in ipairs { function(x) root:dense("ij", 8):place(x) end,
      function(x) root:pointer("ij", 4):dense("ij", 2):place(x) end,
      function(x) root:bitmasked("ij", 8):place(x) end,
      function(x) root:pointer("ij", 2):bitmasked("ij", 4):place(x) end,
      function(x) root:bitmasked("ij", 4):dense("ij", 2):place(x) end } do
      assert.is_true(sum(kind, cells) < 1e-5)
    end
    local problem = support.failure(sum, function(x) root:hash("ij"):place(x) end, cells)
    assert.matches("iterations of this serial loop depend on each other", problem.message)
  end)

  it("elements outside the shape, which are 0", function()
    assert_body([[
      for i in rg.range(n) do y[i] = x[i - 1] * x[i] + x[i + 1] ^ 2 end
      for i in rg.range(n) do loss[0] = loss[0] + y[i] * y[i] end]], 40)
  end)

  it("writes outside the shape, which only the primal counts", function()
    local x, y, loss = fields(8)
    local k = D.kernel(function()
      for i in rg.range(8) do y[i + 3] = x[i] * x[i] end
      for i in rg.range(8) do loss[0] = loss[0] + y[i] end
    end)
    local before = D.stats().out_of_range
    D.grad(loss, function() k() end)
    assert.equal(before + 3, D.stats().out_of_range)
    assert.same({ 2 * x[4], 0, 0, 0 }, { x.grad[4], x.grad[5], x.grad[6], x.grad[7] })
  end)

  it("vectors and matrices", function()
    local p, v = D.field(rg.vec(3, T), 8, { grad = true }), D.field(rg.vec(3, T), 8,
      { grad = true })
    local m, loss = D.field(rg.mat(2, 2, T), 4, { grad = true }), field(1)
    for i = 0, 7 do p[i], v[i] = { i * 0.3, i * i * 0.1, 1 - i * 0.2 }, { 1 + i * 0.1, 0.5, -i } end
    for i = 0, 3 do m[i] = { { 1 + i, 0.3 * i }, { -0.2, 2 - i * 0.1 } } end
    local k = D.kernel(function(dt)
      for i in rg.range(8) do
        for j = 0, 7 do
          if i ~= j then
            local d = p[i] - p[j] + dt * v[j]
            local r = d:norm()
            loss[0] = loss[0] + 1 / (r * r + 0.1) + d:dot(v[i]:cross(p[j])) * 0.1
          end
        end
      end
      for i in rg.range(4) do
        local a = m[i]
        loss[0] = loss[0] + a:determinant() * a:trace() + (a * a:transpose()):trace()
      end
    end)
    assert_gradient(loss, function() loss[0] = 0 k(0.1) end, { p, v, m })
  end)

  it("active cells of sparse trees, their neighbours, and hashes", function()
    local x, y, z = field(), field(), field()
    local loss = field(1)
    D.root:pointer("ij", 8):dense("ij", 4):place(x)
    D.root:hash("i"):place(y)
    D.root:pointer("i", 16):bitmasked("i", 8):place(z)
    for i = 3, 9 do for j = 5, 12 do x[i][j] = 0.1 * i + 0.07 * j * i end end
    for i = 5, 40, 3 do z[i], y[i - 20] = 0.1 * i, 1 - 0.05 * i end
    local k = D.kernel(function()
      for i, j in x:active() do
        local c = x[i][j]
        loss[0] = loss[0] + (x[i - 1][j] * x[i + 1][j] - c * c) * x[i][j + 1] + math.sin(c)
      end
      for i in z:active() do
        loss[0] = loss[0] + z[i] * z[i + 3] * y[i - 20] + y[i - 17] * y[i - 20]
      end
      for i in y:active() do loss[0] = loss[0] + y[i] * y[i] end
    end)
    assert_gradient(loss, function() loss[0] = 0 k() end, { x, y, z })
  end)
end)

describe("elements that a kernel overwrites between reads are recorded", function()
  -- Adds up x * x at the end.
  local function assert_updates(body, n)
    assert_body("for i in rg.range(n) do y[i] = x[i] end\n" .. body
      .. "\nfor i in rg.range(n) do loss[0] = loss[0] + y[i] * y[i] end", n)
  end

  it("by loops one after the other, and by a loop of the host region", function()
    assert_updates [[
      for i in rg.range(n) do y[i] = y[i] * y[i] end
      for t = 3, 1, -1 do
        local s = 0.0
        for i in rg.range(n) do s = s + y[i] * y[(i + 1) % n] end
        for i in rg.range(n) do y[i] = y[i] + 0.1 * math.sin(y[i] * t) / s end
      end]]
  end)

  it("by nested serial loops, in an iteration and in the host region", function()
    assert_updates [[
      for k = 0, n - 1 do
        y[k] = math.sqrt(y[k] + 1)
        for i = k + 1, n - 1 do
          if i % 2 == 0 then y[i] = y[i] / y[k] + 0.2 * y[i] * y[i] end
        end
      end]]
    assert_updates [[
      for i in rg.range(n) do
        for j = 0.5, i, 0.5 do y[i] = y[i] + 0.1 * math.sin(y[i] * j) end
      end]]
  end)

  it("by loops over several axes, and over active cells", function()
    local x, loss = field(3, 4), field(1)
    local y = field()
    D.root:pointer("ij", 4):dense("ij", 2):place(y)
    for i = 0, 2 do for j = 0, 3 do x[i][j], y[i + 1][j] = 0.3 + 0.1 * i * j, 1 end end
    local k = D.kernel(function()
      for i, j in y:active() do y[i][j] = 0.5 end
      for t = 0, 2 do
        for i, j in rg.range({ 1, 3 }, { 0, 4 }) do
          x[i][j] = x[i][j] * x[i][j] + 0.5
          y[i][j] = y[i][j] + x[i][j]
        end
        for i, j in y:active() do y[i][j] = y[i][j] * y[i][j] * 0.5 end
      end
      for i, j in y:active() do loss[0] = loss[0] + y[i][j] end
    end)
    assert_gradient(loss, function() loss[0] = 0 k() end, { x })
  end)

  it("also where the end of loops depends on elements and sums that they change", function()
    assert_updates [[
      local e = 10.0
      while e > 0.2 do
        e = 0.0
        for i in rg.range(n) do e = e + 0.1 * y[i] * y[i] end
        for i in rg.range(n) do
          y[i] = 0.5 * y[i] * y[i]
          while y[i] > 0.3 do
            y[i] = y[i] * (0.9 - 0.1 * y[i])
            if y[i] < 0.4 and i > 3 then break end
          end
        end
      end]]
  end)

  it("and what later launches and copies need is as the launch left it", function()
    local x, y, loss = fields(8)
    local step = D.kernel(function()
      for i in rg.range(8) do y[i] = y[i] * x[i] end
      for i in rg.range(8) do y[i] = y[i] * y[i] + 0.5 end
    end)
    local sum = D.kernel(function() for i in rg.range(8) do loss[0] = loss[0] + y[i] ^ 2 end end)
    local function f()
      loss:fill(0)
      y:fill(0.9)
      for _ = 1, 3 do step() end
      sum()
    end
    assert_gradient(loss, f, { x }, 1e-5) -- the loss is large
    D.grad(loss, f)
    local gradient, left = x.grad:to_table(), y:to_table()
    assert.matches("elements of field f%d%d %[8%] between writes of one launch",
      support.failure(D.grad, loss, f, { log = false }).message)
    D.grad(loss, f, { checkpoints = 2 })
    for i = 0, 7 do
      assert.near(gradient[i + 1], x.grad[i], 1e-12)
      assert.equal(left[i + 1], y[i])
    end
  end)

  it("but not where an operation cannot be repeated", function()
    local x, y, loss = fields(4)
    local drawn = D.field(rg.i32, 1)
    local k = D.kernel(function()
      for i in rg.range(4) do
        y[i] = x[i] * y[i] + drawn:add(0, 1)
        loss[0] = loss[0] + y[i] * y[i]
        y[i] = y[i] * y[i]
        loss[0] = loss[0] + y[i] * y[i]
      end
    end)
    assert.matches("cannot be repeated", support.failure(D.grad, loss, function() k() end).message)
  end)
end)

describe("random numbers", function()
  it("are the same backwards as in the launch", function()
    local x, y, loss = fields(8)
    local draw = D.kernel(function()
      for i in rg.range(8) do y[i] = y[i] + x[i] * rg.random() end
      for t = 1, 3 do
        for i in rg.range(8) do y[i] = y[i] * rg.random() + x[i] * x[i] * rg.random() end
      end
    end)
    local sum = D.kernel(function() for i in rg.range(8) do loss[0] = loss[0] + y[i] ^ 2 end end)
    local function f()
      loss:fill(0)
      y:fill(1)
      for _ = 1, 2 do draw() end
      sum()
    end
    assert_gradient(loss, f, { x })
    D.seed(3)
    D.grad(loss, f)
    local next_number, gradient = D.random(), x.grad:to_table()
    D.seed(3)
    D.grad(loss, f, { checkpoints = 1 })
    assert.equal(next_number, D.random())
    for i = 0, 7 do assert.near(gradient[i + 1], x.grad[i], 1e-12) end
    assert.matches("needs the random numbers of its launch",
      support.failure(draw.grad, draw).message)
  end)
end)

describe("forwards and backwards", function()
  -- y of x by a loop of unknown length and a branch, and a loss that mixes elements of y.
  local function program()
    local x, y, loss = fields(8)
    local k = D.kernel(function(a)
      for i in rg.range(8) do
        local p = x[i]
        while p < 4 do p = p + 0.3 * (1 + p * x[(i + 1) % 8]) end
        if x[i] > 1 then p = p * math.sin(p) end
        y[i] = p * a
      end
      for i in rg.range(8) do loss[0] = loss[0] + y[i] * y[(i + 2) % 8] end
    end)
    return x, y, loss, function()
      loss[0], loss.dual[0] = 0, 0
      k(0.7)
    end
  end

  it("rg.jvp is the gradient along a direction, and computes what the launches do", function()
    local x, y, loss, f = program()
    f()
    local value, some = loss[0], y[3]
    for i = 0, 7 do x.dual[i] = math.cos(i) end
    D.jvp(f)
    local along = loss.dual[0]
    assert.near(value, loss[0], 1e-12 * math.abs(value))
    assert.equal(some, y[3])
    D.grad(loss, f)
    local sum = 0
    for i = 0, 7 do sum = sum + x.grad[i] * math.cos(i) end
    assert.near(sum, along, 1e-9 * math.abs(sum))
  end)

  it("rg.vjp starts from the gradient that a field has", function()
    local x, y, _, f = program()
    y.grad[5] = 2
    D.vjp(y, f)
    local five = x.grad[5]
    x.dual:fill(0)
    x.dual[5] = 1
    D.jvp(f)
    assert.near(2 * y.dual[5], five, 1e-9 * math.abs(five))
  end)

  it("a tangent reaches vectors, sparse cells and sums of a whole loop", function()
    local p, q, loss = D.field(D.vec(2, T), { grad = true }), field(4), field(1)
    D.root:pointer("i", 8):dense("i", 4):place(p)
    for i = 5, 9 do p[i] = { i, 2 - i } end
    local k = D.kernel(function()
      local sum = 0.0
      for i in p:active() do sum = sum + p[i]:dot(p[i + 1]) end
      for i in rg.range(4) do q[i] = sum * i end
      loss[0] = q[3]
    end)
    p.dual[6] = { 1, 0 }
    D.jvp(function() k() end)
    assert.near(3 * (5 + 7), loss.dual[0], 1e-12)
    assert.near(5 + 7, q.dual[1], 1e-12)
  end)

  it("refuses operations without a derivative", function()
    local x, _, loss = fields(4)
    local k = D.kernel(function()
      for i in rg.range(4) do loss[0] = loss[0] * x[i] end
    end)
    assert.matches("a product", support.failure(D.jvp, function() k() end).message)
    assert.matches("takes the function", support.failure(D.jvp, 1).message)
    assert.matches("takes the function", support.failure(D.vjp, loss).message)
  end)
end)

describe("a launch along a direction", function()
  it("returns, prints and counts what the kernel does", function()
    local x, y = field(3), field(3)
    local k = D.kernel([[function()
      local n, lines = 0, 0
      for i in rg.range(3) do
        y[i + 1] = x[i] ^ 2
        n = n + x[i]
      end
      print("sum", n)
      return n, rg.vec2(n, 1)
    end]], { x = x, y = y })
    for i = 0, 2 do x[i], x.dual[i] = i + 1, 1 end
    local n, v
    local before = D.stats().out_of_range
    local printed = support.printed(function() D.jvp(function() n, v = k() end) end)
    assert.same({ 6, 6, 1 }, { n, v.x, v.y })
    assert.same({ "sum\t6" }, printed)
    assert.same({ 2, 4 }, { y.dual[1], y.dual[2] })
    assert.equal(before + 1, D.stats().out_of_range)
    n, v = k()
    assert.same({ 6, 6, 1 }, { n, v.x, v.y })
  end)

  it("fails where the kernel does", function()
    local x = field(3)
    local k = D.kernel([[function()
      for i in rg.range(3) do assert(x[i] < 2, "large") x[i] = 3 end
    end]], { x = x })
    x[1] = 2
    local err = support.failure(D.jvp, function() k() end)
    assert.equal("large", err.message)
    assert.equal(1, err.index)
  end)

  it("makes the arrays that the kernel makes", function()
    local x, y = field(3), field(3)
    local k = D.kernel([[function()
      for i in rg.range(3) do
        local grid, list = rg.zeros(rg.vec2, 2, 3), rg.list(rg.f64)
        grid[1][2] = rg.vec2(i, 2)
        grid[2][0] = rg.vec2(9, 9)
        for k = 1, 4 do list:append(k * grid[1][2].y) end
        local last = list:pop()
        local part = list:slice(1, 2)
        part[0] = part[0] + 1
        part[5] = 7
        y[i] = x[i] * (last + list[1] + list:length() + part:length() + grid:extent(1))
        local empty = rg.list(rg.f64)
        empty:append(1)
        empty:clear()
        y[i] = y[i] + empty:length() + empty[0]
      end
    end]], { x = x, y = y })
    for i = 0, 2 do x[i], x.dual[i] = i, 1 end
    local before = D.stats().out_of_range
    D.jvp(function() k() end)
    assert.same({ 0, 21, 42 }, { y[0], y[1], y[2] })
    assert.same({ 21, 21, 21 }, { y.dual[0], y.dual[1], y.dual[2] })
    assert.equal(before + 6, D.stats().out_of_range)
  end)
end)

describe("rg.grad", function()
  local n, steps = 16, 6

  it("follows a simulation with an axis for time, without copies", function()
    local x, v, x0, loss = field(steps + 1, n), field(steps + 1, n), field(n), field(1)
    local start = D.kernel(function()
      for i in rg.range(n) do x[0][i], v[0][i] = x0[i], 0 end
    end)
    local step = D.kernel(function(t, dt)
      for i in rg.range(n) do
        local f = math.sin(x[t][i]) + x[t][(i + 1) % n] * x[t][i] * 0.1
        v[t + 1][i] = v[t][i] * 0.99 - dt * f
        x[t + 1][i] = x[t][i] + dt * v[t + 1][i]
      end
    end)
    local measure = D.kernel(function()
      for i in rg.range(n) do loss[0] = loss[0] + x[steps][i] ^ 2 end
    end)
    for i = 0, n - 1 do x0[i] = 0.3 + 0.1 * i end
    assert_gradient(loss, function()
      loss[0] = 0
      start()
      for t = 0, steps - 1 do step(t, 0.1) end
      measure()
    end, { x0 })
  end)

  it("clears large gradients slice by slice along their first axis", function()
    local size = 256
    local x, other, loss = field(5, size, size), field(3, size, size), field(1)
    local step = D.kernel(function(t)
      for i, j in rg.range({ 1, size - 1 }, { 1, size - 1 }) do
        x[t + 1][i][j] = 2 * x[t][i][j] + x[t][i - 1][j] + 3 * other[1][i][j]
      end
    end)
    local measure = D.kernel(function(t)
      for i, j in rg.range(size, size) do loss[0] = loss[0] + x[t][i][j] end
    end)
    local custom = D.adjoint(function() end, function() x.grad[2][0][5] = 5 end)
    local function run()
      loss[0] = 0
      step(0)
      step(1)
      measure(2)
    end
    local g, h = x.grad, other.grad
    for _, options in ipairs { {}, { checkpoints = 2 } } do
      g:fill(7)
      h:fill(7)
      D.grad(loss, run, options)
      assert.same({ 9, 4, 3, 0 }, { g[0][9][9], g[0][254][254], g[0][0][5], g[0][1][0] })
      assert.same({ 1, 0, 1, 0 }, { g[1][0][5], g[1][5][5], g[2][0][5], g[2][5][5] }) -- overwritten
      assert.same({ 0, 0, 12, 0 }, { g[3][5][5], g[4][255][255], h[1][5][5], h[2][5][5] })
    end
    D.grad(loss, function() run() custom() end)
    assert.same({ 6, 1 }, { g[2][0][5], g[2][0][6] })
    D.grad(x, run) -- a loss begins with ones
    assert.equal(1, g[4][5][5])
  end)

  it("restores what later steps overwrote: fields that are swapped", function()
    local a, b, k, loss = field(n), field(n), field(n), field(1)
    local from, to = a, b
    for i = 0, n - 1 do k[i] = 0.05 + 0.01 * i end
    local begin = D.kernel(function()
      for i in rg.range(n) do from[i] = k[i] * 3 + 0.1 * i end
    end)
    local step = D.kernel(function()
      for i in rg.range(n) do
        to[i] = from[i] + k[i] * (from[(i + 1) % n] * from[i] - from[i] ^ 2)
      end
    end)
    local measure = D.kernel(function()
      for i in rg.range(n) do loss[0] = loss[0] + from[i] ^ 2 end
    end)
    assert_gradient(loss, function()
      loss[0] = 0
      from, to = a, b
      begin()
      for _ = 1, steps do
        step()
        from, to = to, from
      end
      measure()
    end, { k })
  end)

  it("follows particles that scatter to a sparse grid, which is updated in place", function()
    local p, q, mass, loss = field(8), field(8), field(), field(1)
    D.root:pointer("i", 8):dense("i", 4):place(mass)
    for i = 0, 7 do q[i] = 3.35 + 2.7 * i end
    local begin = D.kernel(function() for k in rg.range(8) do p[k] = q[k] end end)
    local clear = D.kernel(function() for i in mass:active() do mass[i] = 0 end end)
    local scatter = D.kernel(function()
      for k in rg.range(8) do
        local b = math.floor(p[k])
        local f = p[k] - b
        mass[b] = mass[b] + (1 - f) * f
        mass[b + 1] = mass[b + 1] + f * f
      end
    end)
    local grid = D.kernel(function()
      for i in mass:active() do mass[i] = mass[i] / (1 + mass[i]) end
    end)
    local gather = D.kernel(function()
      for k in rg.range(8) do
        local b = math.floor(p[k])
        local f = p[k] - b
        p[k] = p[k] + 0.1 * ((1 - f) * mass[b] + f * mass[b + 1])
      end
    end)
    local measure = D.kernel(function()
      for k in rg.range(8) do loss[0] = loss[0] + p[k] ^ 2 end
    end)
    assert_gradient(loss, function()
      loss[0] = 0
      begin()
      for _ = 1, steps do clear() scatter() grid() gather() end
      measure()
    end, { q })
  end)

  it("gives the same with few checkpoints, and keeps no more copies than allowed", function()
    local x, c, loss = field(n), field(n), field(1)
    local begin = D.kernel(function() for i in rg.range(n) do x[i] = c[i] end end)
    local step = D.kernel(function(a)
      for i in rg.range(n) do x[i] = x[i] + a * x[i] * x[i] * c[i] end
    end)
    local measure = D.kernel(function()
      for i in rg.range(n) do loss[0] = loss[0] + x[i] ^ 2 end
    end)
    for i = 0, n - 1 do c[i] = 0.3 + 0.02 * i end
    local function run()
      loss[0] = 0
      begin()
      for k = 1, 40 do step(0.01 + k * 0.001) end
      measure()
    end
    local value, all = D.grad(loss, run, {})
    local gradient = c.grad:to_table()
    assert.equal(42, all.launches)
    assert.equal(0, all.repeated)
    local state, bytes = n * 8 + 8, {}
    for _, count in ipairs { 1, 2, 4, 8, 60 } do
      local done = 0
      local again, report = D.grad(loss, run, { checkpoints = count, progress = function(k, total)
        assert.equal(done + 1, k)
        assert.equal(42, total)
        done = k
      end })
      assert.near(value, again, 1e-12) -- sums of floats have no order
      for i = 0, n - 1 do assert.near(gradient[i + 1], c.grad[i], 1e-12) end
      assert.equal(42, done)
      assert.is_true(report.bytes <= (count + 1) * state + n * 8, report.bytes)
      bytes[#bytes + 1] = report.repeated
    end
    assert.same({ 42 * 43 / 2, bytes[2], bytes[3], bytes[4], bytes[5] }, bytes)
    assert.is_true(bytes[2] < 300 and bytes[3] < 180 and bytes[4] < 130, table.concat(bytes, " "))
    assert.is_true(bytes[5] <= 2 * 42, bytes[5])
    assert.equal("option.invalid", support.failure(D.grad, loss, run, { checkpoints = 0 }).code)
    local lines = {}
    rg.log.to(function(_, line) lines[#lines + 1] = line end)
    D.grad(loss, run, { checkpoints = 4, progress = true })
    rg.log.to(nil)
    assert.equal(1, #lines)
    assert.matches("^gradient  100%%  42/42  ", lines[1])
    assert.equal("option 'progress' of rg.grad must be a function, or true, got 3",
      support.failure(D.grad, loss, run, { progress = 3 }).message)
  end)

  it("records fills and copies of whole fields", function()
    local x, grid, copy, loss = field(4), field(4), field(4), field(1)
    local scatter = D.kernel(function()
      for i in rg.range(4) do grid[i] = grid[i] + x[i] * x[i] end
    end)
    local move = D.kernel(function()
      for i in rg.range(4) do x[i] = x[i] + copy[i] * grid[i] end
    end)
    local measure = D.kernel(function() for i in rg.range(4) do loss[0] = loss[0] + x[i] end end)
    for i = 0, 3 do x[i] = 0.3 + 0.1 * i end
    local function run()
      loss:fill(0)
      for _ = 1, 3 do
        grid:fill(0)
        scatter()
        copy:copy_from(grid)
        move()
      end
      measure()
    end
    assert_gradient(loss, run, { x })
    for i = 0, 3 do x[i] = 0.3 + 0.1 * i end
    D.grad(loss, run)
    local gradient = x.grad:to_table()
    for i = 0, 3 do x[i] = 0.3 + 0.1 * i end
    D.grad(loss, run, { checkpoints = 3 })
    for i = 0, 3 do assert.near(gradient[i + 1], x.grad[i], 1e-12) end
  end)

  it("restores arrays that later launches, fills and copies overwrite", function()
    local y, loss, x = field(4), field(1), field(4)
    local w, order = D.array(T, 4), D.array(rg.i32, 4)
    local weigh = D.kernel(function(v) for i in rg.range(4) do w[i] = v + i end end)
    local turn = D.kernel(function(k) for i in rg.range(4) do order[i] = (i + k) % 4 end end)
    local add = D.kernel(function()
      for i in rg.range(4) do y[i] = y[i] + w[i] * x[order[i] ] ^ 2 end
    end)
    local measure = D.kernel(function()
      for i in rg.range(4) do loss[0] = loss[0] + y[i] * y[i] end
    end)
    for i = 0, 3 do x[i] = 1 + 0.1 * i end
    local other = D.array(T, 4):fill(0.5)
    local function f()
      loss:fill(0)
      y:fill(0)
      weigh(2)
      turn(0)
      add()
      turn(1)
      w:fill(3)
      add()
      w:copy_from(other)
      turn(2)
      add()
      weigh(1)
      measure()
    end
    assert_gradient(loss, f, { x })
    local gradient = x.grad:to_table()
    D.grad(loss, f, { checkpoints = 2 })
    assert.same(gradient, x.grad:to_table())
    assert.equal(1 + 3, w[3])
  end)

  it("goes back through neighbours that each step searches again", function()
    local count = 5
    local x, v, start, loss = field(count), field(count), field(count), field(1)
    local pos = D.field(D.vec(2, T), count)
    local near = D.neighbours(pos, 1)
    local show = D.kernel(function()
      for i in rg.range(count) do pos[i] = { rg.stop(x[i]), 0 } end
    end)
    local push = D.kernel(function()
      for i in rg.range(count) do
        local s = 0.0
        for j in near:of(i) do s = s + (x[i] - x[j]) * x[j] end
        v[i] = s
      end
      for i in rg.range(count) do
        x[i] = x[i] * 1.7 + 0.1 * v[i]
        loss[0] = loss[0] + x[i] * x[i]
      end
    end)
    for i = 0, count - 1 do start[i] = 0.4 * i end
    assert_gradient(loss, function()
      loss:fill(0)
      x:copy_from(start)
      for _ = 1, 3 do
        show()
        near:update()
        push()
      end
    end, { start })
  end)

  it("records fills of members, and x:map", function()
    local S = D.struct { { "a", T }, { "b", T } }
    local s, y, loss = D.field(S, 4, { grad = true }), field(4), field(1)
    local k = D.kernel(function()
      for i in rg.range(4) do loss[0] = loss[0] + s[i].a * s[i].b * y[i] end
    end)
    for i = 0, 3 do s[i] = { a = i + 1, b = 2 } end
    D.grad(loss, function()
      loss[0] = 0
      s.a:map(function(v) return v * v end, y)
      s.b:fill(3)
      k()
    end)
    assert.equal(3 * 3 * 9, s.grad[2].a)
    assert.equal(0, s.grad[2].b)
  end)

  it("leaves fields with the values that the function gave them", function()
    local x, loss = field(4), field(1)
    local step = D.kernel(function() for i in rg.range(4) do x[i] = x[i] * x[i] end end)
    local measure = D.kernel(function() for i in rg.range(4) do loss[0] = loss[0] + x[i] end end)
    for i = 0, 3 do x[i] = i end
    assert.equal(1 + 16 + 81, D.grad(loss, function() step() step() measure() end))
    for i = 0, 3 do
      assert.equal(i ^ 4, x[i])
      assert.equal(4 * i ^ 3, x.grad[i])
    end
  end)

  it("clears gradients of all fields that are read, also where no derivative needs their values",
    function()
      local x, loss = field(4), field(1)
      local k = D.kernel(function() for i in rg.range(4) do loss[0] = loss[0] + 3 * x[i] end end)
      for _ = 1, 3 do D.grad(loss, function() k() end) end
      assert.equal(3, x.grad[2])
    end)

  it("uses captures and arguments as they were at each launch", function()
    local x, loss = field(1), field(1)
    local a = 2
    local step = D.kernel(function(b) loss[0] = loss[0] + a * b * x[0] end)
    D.grad(loss, function()
      step(3)
      a = 5
      step(7)
    end)
    assert.equal(2 * 3 + 5 * 7, x.grad[0])
  end)

  it("allows numbers of each type, and other fields and vectors in each launch", function()
    local x, y, loss, captured = field(4), field(4), field(1), { v = rg.vec2(1, 2) }
    local add = D.kernel(function(from, at, by)
      loss[0] = loss[0] + by * from[at] * captured.v.y
    end)
    D.grad(loss, function()
      add(x, 0, 1)
      add(x, 1, 0.5)
      add(x, 2, 3e10)
      add(y, 3, -0.0)
      add(y, 2, 2 ^ 40 + 0.5)
      add(y, 1, 3)
      captured.v = rg.vec2(1, 5)
      add(y, 0, 3)
    end)
    assert.same({ 2, 1, 6e10, 0 }, x.grad:to_table())
    assert.same({ 15, 6, 2 ^ 41 + 1, 0 }, y.grad:to_table())
  end)

  it("names the line that has no derivative, and stays usable", function()
    local x, loss = field(4), field(1)
    local k = D.kernel(function()
      for i in rg.range(4) do loss[0] = loss[0] * x[i] end
    end)
    local failure = support.failure(D.grad, loss, function() k() end)
    assert.equal("kernel.unsupported", failure.code)
    assert.matches("gradient_spec.lua", failure.file)
    assert.matches("product that iterations share", failure.message)
    local twice = D.kernel(function() loss[0] = 2 * x[1] end)
    D.grad(loss, function() twice() end)
    assert.equal(2, x.grad[1])
  end)

  it("passes on the function's own error, and refuses what it cannot differentiate", function()
    local loss, plain = field(1), D.field(T, 1)
    assert.has_error(function() D.grad(loss, function() error("stop", 0) end) end, "stop")
    assert.matches("has no gradient", support.failure(D.grad, plain, function() end).message)
    assert.matches("takes the function", support.failure(D.grad, loss).message)
    assert.matches("inside", support.failure(D.grad, loss, function()
      D.grad(loss, function() end)
    end).message)
    local x = field(1)
    local function message(options)
      return support.failure(D.check_gradient, loss, function() end, { x }, options).message
    end
    assert.equal("option 'samples' of rg.check_gradient must be a positive number, got \"a\"",
      message { samples = "a" })
    assert.matches("'step' .- positive number, got 0", message { step = 0 })
    assert.equal("options of rg.check_gradient must be a table, got 3", message(3))
  end)

  it("covers all floats of a struct, also of one that launches overwrite", function()
    local Body = D.struct { { "id", D.i32 }, { "at", D.vec(2, T) }, { "own", D.struct {
      { "mass", T } } } }
    local bodies, loss = D.field(Body, 3, { grad = true }), field(1)
    for i = 0, 2 do bodies[i] = { id = i, at = { i, 2 }, own = { mass = 5 } } end
    local before = tostring(bodies[2])
    local grow = D.kernel(function()
      for i in D.range(3) do
        local longer = bodies[i].at * bodies[i].own.mass
        bodies[i].at = longer
      end
    end)
    local sum = D.kernel(function()
      for i in D.range(3) do loss[0] = loss[0] + bodies[i].own.mass * bodies[i].at.x end
    end)
    local function f()
      loss[0] = 0
      grow()
      sum()
    end
    assert.equal(75, D.grad(loss, f))
    assert.equal("{id = 0, at = vec2(25, 0), own = {mass = 20}}",
      (tostring(bodies.grad[2]):gsub("dvec2", "vec2")))
    for i = 0, 2 do bodies[i] = { id = i, at = { i, 2 }, own = { mass = 5 } } end
    assert.equal(before, tostring(bodies[2]))
    assert.is_true(D.check_gradient(loss, f, { bodies }, { least = 1 }).error < 0.01)
    assert.matches("not of structs", support.failure(D.grad, bodies, f).message)
  end)

  it("can be checked, with a note about fields that it does not pass through", function()
    local x, loss = field(4), field(1)
    local between = D.field { type = T, shape = { 4 }, name = "between" }
    local first = D.kernel(function() for i in D.range(4) do between[i] = 2 * x[i] end end)
    local sum = D.kernel(function() for i in D.range(4) do loss[0] = loss[0] + between[i] end end)
    local function f()
      loss[0] = 0
      first()
      sum()
    end
    x:fill(1)
    rg.log.to(function() end)
    local report = D.check_gradient(loss, f, { x })
    rg.log.to(nil)
    assert.near(1, report.error, 1e-3)
    assert.matches("^worst of 4 elements: fields%[1%]%[%d%]: ", tostring(report))
    assert.matches("; no gradient passes through field f%d%d \"between\" %[4%], which ",
      tostring(report))
  end)

  it("of one launch can be checked by the kernel's own method", function()
    local x = D.field { type = T, shape = { 8 }, grad = true, name = "x" }
    local y = D.field(rg.vec(2, T), 8, { grad = true })
    for i = 0, 7 do x[i] = 0.1 * i + 0.2 end
    local k = D.kernel(function(a)
      for i in rg.range(8) do
        y[i] = rg.vec(2, T)(a * x[i] ^ 2, math.sin(x[i] * x[(i + 1) % 8]))
      end
      for i in rg.range(8) do x[i] = x[i] * y[i].x end -- in place
    end)
    local report = k:check_gradient(3)
    assert.equal(24, report.count)
    assert.is_true(report.error < 1e-6, tostring(report))
    assert.is_true(math.abs(x[1] - 0.3 * 3 * 0.3 ^ 2) < 1e-12) -- as a launch leaves it
    local wrong = D.adjoint(function(v) return v * v end, function(v, d) return 3 * v * d end)
    report = D.kernel(function()
      for i in rg.range(8) do x[i] = wrong(x[i]) end
    end):check_gradient()
    assert.matches("^worst of 8 elements: x%[%d%]: .*relative error 0.33", tostring(report))
    local z = D.field(T, 8)
    local copy = D.kernel(function() for i in rg.range(8) do z[i] = x[i] end end)
    assert.matches("writes to no field that has a gradient",
      support.failure(copy.check_gradient, copy).message)
    assert.matches("inside a derivative", support.failure(D.grad, x, function()
      k:check_gradient(3)
    end).message)
  end)

  it("can be checked at one element", function()
    local x, loss = field(4), field(1)
    local k = D.kernel(function() loss[0] = 3 * x[0] end)
    assert.equal(1, D.check_gradient(loss, function() k() end, { x }, { samples = 1 }).count)
  end)

  it("ignores in a check what a large loss rounds away", function()
    local x, loss = field(4), field(1)
    local k = D.kernel(function(offset, scale)
      for i in rg.range(4) do loss[0] = loss[0] + rg.stop(scale * x[i]) + x[i] end
      loss[0] = loss[0] + offset
    end)
    local function error_of(offset, scale)
      return D.check_gradient(loss, function() loss[0] = 0 k(offset, scale) end, { x }).error
    end
    assert.equal(0, error_of(1e8, 0)) -- a unit in its last place is 7e-4 of a slope
    assert.is_true(error_of(1e8, 0.1) > 0.05)
  end)
end)

describe("a field without a gradient on the way to the loss", function()
  local function program()
    local x, _, loss = fields(4)
    local y, z = D.field { type = T, shape = { 4 }, name = "y" }, D.field(T, 4)
    local first = D.kernel(function() for i in D.range(4) do y[i] = 2 * x[i] end end)
    local second = D.kernel(function() for i in D.range(4) do z[i] = y[i] * y[i] end end)
    local sum = D.kernel(function() for i in D.range(4) do loss[0] = loss[0] + z[i] end end)
    local stopped = D.kernel(function() for i in D.range(4) do y[i] = rg.stop(x[i]) end end)
    return loss, first, second, sum, stopped
  end

  local function lines_of(loss, f)
    local lines = {}
    rg.log.to(function(_, text) lines[#lines + 1] = text end)
    D.grad(loss, f)
    rg.log.to(nil)
    return lines
  end

  it("is named once, with the lines that write and read", function()
    local loss, first, second, sum = program()
    local function f() first() second() sum() end
    local lines = lines_of(loss, f)
    assert.equal(1, #lines)
    assert.matches('gradient_spec.lua:%d+: .* to field f%d%d "y" %[4%], which has none, and '
      .. '.*gradient_spec.lua:%d+ reads the results', lines[1])
    assert.equal(0, #lines_of(loss, f))
  end)

  it("is not named if rg.stop is used, or if nothing is read on the way", function()
    local loss, first, second, sum, stopped = program()
    assert.equal(0, #lines_of(loss, function() stopped() second() sum() end))
    assert.equal(0, #lines_of(loss, function() sum() first() second() end))
  end)
end)

describe("rg.stop", function()
  it("is the number or vector itself", function()
    local x = rg.field(rg.vec2, 2)
    local k = rg.kernel(function(a, n)
      for i in rg.range(2) do x[rg.stop(i)] = rg.stop(a) * rg.stop(n + 1) end
      return rg.stop(n), rg.stop(a)
    end)
    local n, a = k(rg.vec2(1, 2), 3)
    assert.equal(3, n)
    assert.equal(2, a.y)
    assert.equal(8, x[1].y)
    assert.equal(5, rg.stop(5))
    assert.equal(rg.vec2(1, 2), rg.stop(rg.vec2(1, 2)))
  end)

  it("passes on no derivative, in both directions", function()
    local x, y, loss = fields(4)
    for i = 0, 3 do x[i] = 2 + i end
    local k = D.kernel(function()
      for i in D.range(4) do
        y[i] = x[i] * rg.stop(x[i]) + rg.stop(x[i] * x[i])
        loss[0] = loss[0] + y[i]
      end
    end)
    D.grad(loss, function() loss[0] = 0 k() end)
    assert.same({ 2, 3, 4, 5 }, { x.grad[0], x.grad[1], x.grad[2], x.grad[3] })
    x.dual:fill(1)
    D.jvp(function() k() end)
    assert.equal(5, y.dual[3])
  end)

  it("excludes loops whose results are stopped: what they carry is not reversed",
    function()
      local x, _, loss = fields(4)
      local k = D.kernel(function()
        for i in D.range(4) do
          local scale = 1.0
          for _ = 1, 3 do scale = scale * x[i] end
          loss[0] = loss[0] + rg.stop(scale) * x[i]
        end
      end)
      x:fill(2)
      D.grad(loss, function() loss[0] = 0 k() end)
      assert.equal(8, x.grad[1])
    end)
end)

describe("the derivative of decompositions", function()
  local bodies = {
    polar = "local r, s = rg.polar(a[0]) sum = r[0][1] + 2 * r[1][0] + s[0][0]",
    svd = "local u, s, v = rg.svd(a[0]) local r = u * v:transpose() sum = r[0][1] + 2 * r[1][0]",
    sym_eig = [[local w = rg.sym_eig(a[0])
      for k in rg.static(rg.range(#w)) do sum = sum + w[k] ^ 2 end]],
  }
  -- In f64 where `owner` is D, else in f32.
  local function gradient_of(body, n, values, owner)
    local number = owner == D and rg.f64 or rg.f32
    local a = owner.field(rg.mat(n, n, number), 1, { grad = true })
    local loss = owner.field(number, 1, { grad = true })
    a[0] = values
    local k = owner.kernel("function()\nlocal sum = 0.0\n" .. body
      .. "\nloss[0] = loss[0] + sum end", { a = a, loss = loss })
    local function run()
      loss[0] = 0
      k()
    end
    return a, loss, run
  end

  local identity, projection, wide = {}, {}, {}
  for n = 2, 4 do
    identity[n], projection[n], wide[n] = {}, {}, {}
    for i = 1, n do
      identity[n][i], projection[n][i], wide[n][i] = {}, {}, {}
      for j = 1, n do
        identity[n][i][j] = i == j and 1 or 0
        projection[n][i][j] = i == j and i < n and 2 or 0
        wide[n][i][j] = (i == j and 1 + i or 0) + 0.1 * math.sin(3 * i + 5 * j)
      end
    end
  end

  for name, body in pairs(bodies) do
    it(name .. ", also of equal and of zero singular values or eigenvalues", function()
      for n = 2, 4 do
        for _, values in ipairs { identity[n], projection[n], wide[n] } do
          local a, loss, run = gradient_of(body, n, values, D)
          assert_gradient(loss, run, { a }, 1e-5)
          a, loss, run = gradient_of(body, n, values, rg)
          rg.grad(loss, run)
          for i = 0, n - 1 do
            for j = 0, n - 1 do assert.is_true(math.abs(a.grad[0][i][j]) < 100) end
          end
        end
      end
    end)
  end

  it("singular values and vectors that differ", function()
    local a, loss, run = gradient_of([[local u, s, v = rg.svd(a[0])
      sum = s[0][0] + 2 * s[1][1] + 3 * s[2][2] + u[0][0] ^ 2 + 2 * v[1][1] ^ 2]], 3, wide[3],
      D)
    assert_gradient(loss, run, { a }, 1e-5)
    a, loss, run = gradient_of([[local w, v = rg.sym_eig(a[0])
      sum = w[0] + 2 * w[1] + 3 * w[2] + v[0][0] ^ 2 + 2 * v[1][1] ^ 2]], 3, wide[3], D)
    assert_gradient(loss, run, { a }, 1e-5)
  end)

  it("is finite at the zero matrix, where there is none", function()
    for _, body in pairs(bodies) do
      local zeros = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }
      local a, loss, run = gradient_of(body, 3, zeros, rg)
      rg.grad(loss, run)
      for i = 0, 2 do
        for j = 0, 2 do assert.is_true(math.abs(a.grad[0][i][j]) < 100) end
      end
    end
  end)

  it("exists in forward mode, too", function()
    local a, loss, run = gradient_of(bodies.polar, 3, identity[3], D)
    a.dual[0] = { { 0, 1, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }
    D.jvp(run)
    assert.is_true(math.abs(loss.dual[0] - (0.5 - 1)) < 1e-12)
  end)
end)

describe("rg.adjoint", function()
  it("replaces the adjoint of kernels that have none, and keeps what it needs", function()
    local x, y, loss = fields(4)
    local square_all = D.kernel(function() -- refused by rg.grad
      for i in D.range(4) do y[i] = x[i] * x[i] * (1 + 0 * y:add(i, 1)) end
    end)
    local back = D.kernel(function()
      for i in D.range(4) do
        x.grad[i] = x.grad[i] + 2 * x[i] * y.grad[i]
        y.grad[i] = 0
      end
    end)
    local square = D.adjoint(function() square_all() end, function() back() end)
    local double = D.kernel(function() for i in D.range(4) do x[i] = 2 * y[i] end end)
    local measure = D.kernel(function() for i in D.range(4) do loss[0] = loss[0] + x[i] end end)
    local function run() -- x ^ 2 * 2, squared and doubled again
      for _ = 1, 2 do
        square()
        double()
      end
      measure()
    end
    for _, options in ipairs { {}, { checkpoints = 2 } } do
      for i = 0, 3 do x[i] = 1 + 0.1 * i end
      D.grad(loss, run, options)
      for i = 0, 3 do
        local v = 1 + 0.1 * i
        assert.is_true(math.abs(x.grad[i] - 8 * 4 * v ^ 3) < 1e-9) -- of 8 v ^ 4
      end
    end
  end)

  it("gives a function that kernels call its derivative, in all directions", function()
    local both = { grad = true, dual = true }
    local x, v, loss = D.field(T, 4, both), D.field(D.vec(2, T), 4, both), D.field(T, 1, both)
    local V = D.vec(2, T)
    local polar = D.adjoint(function(p, s) return p:dot(p) * s, p.x * p.y end,
      function(p, s, d, e) return p * (2 * s * d) + V(p.y, p.x) * e, p:dot(p) * d end)
    local k = D.kernel(function()
      for i in rg.range(4) do
        local a, b = polar(v[i], x[i])
        loss[0] = loss[0] + a * b * x[i] + a
      end
    end)
    local function f()
      loss:fill(0)
      k()
    end
    local function put(by)
      for i = 0, 3 do
        x[i] = 0.5 + 0.2 * i + by * math.cos(i)
        v[i] = { 1 + i + by * math.sin(i), 0.3 - 0.1 * i + by }
      end
    end
    put(0)
    assert_gradient(loss, f, { x, v })
    put(1e-5)
    D.grad(loss, f)
    local above = v.grad:to_table()
    put(-1e-5)
    D.grad(loss, f)
    local below = v.grad:to_table()
    put(0)
    for i = 0, 3 do x.dual[i], v.dual[i] = math.cos(i), { math.sin(i), 1 } end
    D.hvp(loss, f, { x, v })
    local along = 0
    for i = 0, 3 do
      assert.near((above[i + 1].x - below[i + 1].x) / 2e-5, v.grad.dual[i].x, 1e-6)
      assert.near((above[i + 1].y - below[i + 1].y) / 2e-5, v.grad.dual[i].y, 1e-6)
      along = along + x.grad[i] * math.cos(i) + v.grad[i].x * math.sin(i) + v.grad[i].y
    end
    D.jvp(f, { x, v })
    assert.near(along, loss.dual[0], 1e-9)
  end)

  it("replaces the derivative in kernels: a rounding may count as the identity", function()
    local x, y, loss = fields(4)
    local rounded = D.adjoint(function(a) return math.floor(a + 0.5) end,
      function(_, d) return d end)
    local k = D.kernel(function()
      for i in rg.range(4) do
        y[i] = rounded(x[i] * 2)
        loss[0] = loss[0] + y[i] ^ 2
      end
    end)
    x:fill(0.8)
    D.grad(loss, function() k() end)
    assert.equal(2, y[1])
    assert.equal(8, x.grad[1])
    assert.equal(3, rounded(2.6))
  end)

  it("names what is wrong with an adjoint that a kernel's derivative needs", function()
    local x, v, loss = field(4), D.field(D.vec(2, T), 4, { grad = true }), field(1)
    local function failure(f, g)
      local h = D.adjoint(f, g)
      local k = D.kernel(function()
        for i in rg.range(4) do loss[0] = loss[0] + x[i] * h(v[i]) end
      end)
      return support.failure(D.grad, loss, function() k() end)
    end
    local function square(p) return p:dot(p) end
    assert.matches("takes its arguments, then the derivatives", failure(square,
      function(p) return p end).message)
    assert.matches("two of one shape, a vector of 2, but this is a number", failure(square,
      function(_, d) return d end).message)
  end)

  it("passes on an error, and records again afterwards", function()
    local x, _, loss = fields(4)
    local k = D.kernel(function() for i in D.range(4) do loss[0] = loss[0] + x[i] end end)
    local broken = D.adjoint(function() error("broken", 0) end, function() end)
    assert.equal("broken", select(2, pcall(D.grad, loss, function() broken() end)))
    D.grad(loss, function() k() end)
    assert.equal(1, x.grad[2])
    assert.matches("takes a function", support.failure(D.adjoint, k).message)
  end)
end)
