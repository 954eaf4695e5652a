-- second_derivative_spec.lua - rg.hvp, products of Hessians with directions, compared with
-- differences of gradients in f64; and duals with memory of their own.
local support = require "support"
local rg = support.rg

local T = rg.f64
local D = rg.new { default_float = "f64" }

local function field(t, ...)
  local extents = { ... }
  extents[#extents + 1] = { grad = true, dual = true }
  return D.field(t, unpack(extents))
end

-- Compares rg.hvp along a direction with a difference of two gradients.
local function assert_hessian(loss, f, x, put, limit)
  local step, count = 1e-5, 0
  local function move(by)
    for k = 0, put.count - 1 do put.element(x, k, put.value(k) + by * math.cos(3 * k + 1)) end
  end
  local function gradient_at(by)
    move(by)
    D.grad(loss, f)
    return put.numbers(x.grad)
  end
  local above, below = gradient_at(step), gradient_at(-step)
  local middle = gradient_at(0)
  for k = 0, put.count - 1 do put.element(x.dual, k, math.cos(3 * k + 1)) end
  local value = D.hvp(loss, f, { x })
  assert.is_true(value == nil or value == loss[0])
  local gradient, product = put.numbers(x.grad), put.numbers(x.grad.dual)
  for k = 1, #above do
    local difference = (above[k] - below[k]) / (2 * step)
    assert.near(middle[k], gradient[k], 1e-12 * (1 + math.abs(middle[k])))
    assert.near(difference, product[k], (limit or 1e-6) * (1 + math.abs(difference)))
    if math.abs(difference) > 1e-3 then count = count + 1 end
  end
  assert.is_true(count > 0, "all second derivatives are zero")
end

-- How a field of n numbers is set and read.
local function line(n, input)
  return { count = n, value = input or function(k) return 0.3 + 0.17 * k end,
    element = function(x, k, v) x[k] = v end,
    numbers = function(x)
      local list = {}
      for k = 0, n - 1 do list[k + 1] = x[k] end
      return list
    end }
end

-- The text of a kernel's body, of which x, y, loss and n are known.
local function assert_body(body, n, input, captures)
  n = n or 6
  local all = { x = field(T, n), y = field(T, n), loss = field(T, 1), n = n }
  for name, v in pairs(captures or {}) do all[name] = v end
  local k = D.kernel("function()\n" .. body .. "\nend", all)
  assert_hessian(all.loss, function()
    all.loss[0] = 0
    all.y:fill(0)
    k()
  end, all.x, line(n, input))
end

describe("a field with a dual of its own", function()
  it("has it in addition to its gradient, which has one, too", function()
    local x = rg.field(rg.vec2, 4, { grad = true, dual = true })
    x.grad[1], x.dual[1], x.grad.dual[1] = { 1, 2 }, { 3, 4 }, { 5, 6 }
    assert.equal(1, x.grad[1].x)
    assert.equal(4, x.dual[1].y)
    assert.equal(5, x.grad.dual[1].x)
    assert.is_false(x.grad == x.dual)
    assert.equal(0, x[1].x)
  end)

  it("may have that alone", function()
    local x = rg.field(rg.f32, 4, { dual = true })
    x.dual:fill(2)
    assert.equal(2, x.dual[3])
    assert.matches("has no gradient", support.failure(function() return x.grad end).message)
    assert.equal("option.invalid", support.failure(rg.field, rg.f32, 4, { dual = 1 }).code)
    assert.equal("type.mismatch", support.failure(rg.field, rg.i32, 4, { dual = true }).code)
    assert.matches("has no dual", support.failure(function()
      return rg.field(rg.f32, 4).dual
    end).message)
  end)

  it("takes memory where its elements do", function()
    local x = rg.field(rg.f32, { grad = true, dual = true })
    local block = rg.root:pointer("i", 16)
    block:dense("i", 4):place(x)
    x[9] = 1
    assert.equal(4, x.grad.dual:count())
    x.dual[40] = 2
    assert.equal(2, block:count())
  end)

  it("is read and written in kernels", function()
    local x = rg.field(rg.f32, 4, { grad = true, dual = true })
    rg.kernel(function()
      for i in rg.range(4) do
        x.dual[i] = i
        x.grad.dual[i] = x.dual[i] * 2
      end
    end)()
    assert.equal(3, x.dual[3])
    assert.equal(6, x.grad.dual[3])
    assert.equal(0, x.grad[3])
  end)
end)

describe("the second derivative", function()
  for name, body in pairs {
    ["smooth functions"] = [[local v, w = x[i], x[(i + 1) % n]
      y[i] = (v * w - v ^ 3) / (2 + v * v) - (-v) % 3 + v ^ 2.5 + 2 ^ v + (1 + v) ^ w
        + math.exp(v * 0.3) + math.log(1 + v) + math.sin(v) * math.cos(v) + math.tan(v * 0.2)
        + math.sqrt(v) + math.tanh(v) + math.atan2(v, 1 + v * v) + math.asin(v * 0.3)
        + math.sinh(v) + math.cosh(v) * math.acos(v * 0.2) + math.atan(v) + math.log10(v)
        + math.max(v * v, 0.5) + math.min(v ^ 3, 1) + math.abs(v - 0.6) ^ 3]],
    ["branches and loops"] = [[local function f(a)
        if a > 0.8 then return a * a * a end
        return math.exp(a) * a
      end
      local v, w = x[i], 1.0
      if v > 0.7 then v = v * v * v else v = math.sin(v) * v end
      for k = 0, 3 do w = w * (x[(i + k) % n] + 0.5) + math.sin(w) end
      while v < 3 do v = v + 0.3 * (1 + v * x[(i + 1) % n]) end
      y[i] = v * v * 0.1 + w * f(x[i]) * f(x[(i + 3) % n])]],
    ["vectors and matrices"] = [[local t = V(x[i], x[(i + 1) % n], 1, x[i] * x[i])
      for k = 0, 3 do t[(k + i) % 4] = t[k] * t[(k + 1) % 4] end
      local a = M({ 1 + x[i], x[(i + 1) % n] }, { 0.2, 2 + x[i] ^ 2 })
      local v = a:inverse() * W(x[i], 1)
      y[i] = v:dot(v) * a:determinant() + t[0] + t[2] * t[3] ]],
  } do
    it("of " .. name .. " is that of differences", function()
      assert_body("for i in rg.range(n) do\n" .. body
        .. "\nend\nfor i in rg.range(n) do loss[0] = loss[0] + y[i] * (y[i] + x[i]) end", 6, nil,
        { V = rg.vec(4, T), M = rg.mat(2, 2, T), W = rg.vec(2, T) })
    end)
  end

  it("goes through sums of a whole loop, and products with an element", function()
    assert_body [[local sum = 0.0
      for i in rg.range(n) do sum = sum + x[i] * x[i] end
      for i in rg.range(n) do
        y[i] = 1
        y[i] = y[i] * x[i] ^ 3
        loss[0] = loss[0] + sum * y[i]
      end]]
  end)

  it("goes through elements that are overwritten between reads", function()
    assert_body [[for _ = 1, 3 do
        for i in rg.range(n) do y[i] = y[i] * y[i] * 0.5 + x[i] end
      end
      for i in rg.range(n) do loss[0] = loss[0] + y[i] * y[i] end]]
    assert_body [[for i in rg.range(n) do
        for k = 1, 3 do y[i] = math.sin(y[i]) * x[i] + x[i] end
        loss[0] = loss[0] + y[i] * y[i]
      end]]
  end)

  it("draws the random numbers of the launch", function()
    local x, loss = field(T, 6), field(T, 1)
    local k = D.kernel(function()
      for i in rg.range(6) do loss[0] = loss[0] + rg.random() * x[i] ^ 3 end
    end)
    assert_hessian(loss, function()
      D.seed(3)
      loss[0] = 0
      k()
    end, x, line(6))
  end)

  it("follows particles that scatter to a sparse grid, which is updated in place", function()
    local n = 5
    local x, v, loss = field(T, n), field(T, n), field(T, 1)
    local m = D.field(T, { grad = true, dual = true })
    local block = D.root:pointer("i", 8)
    block:dense("i", 4):place(m)
    local scatter = D.kernel(function()
      for i in rg.range(n) do
        local base = rg.i32(math.floor(x[i]))
        local f = x[i] - base
        m[base] = m[base] + (1 - f) ^ 2 * v[i]
        m[base + 1] = m[base + 1] + f * f * v[i]
      end
    end)
    local relax = D.kernel(function()
      for i in m:active() do m[i] = m[i] / (1 + m[i] * m[i]) end
    end)
    local gather = D.kernel(function(dt)
      for i in rg.range(n) do
        local base = rg.i32(math.floor(x[i]))
        v[i] = v[i] * 0.5 + m[base] * (x[i] - base)
        x[i] = x[i] + dt * v[i]
      end
    end)
    local measure = D.kernel(function()
      for i in rg.range(n) do loss[0] = loss[0] + x[i] * x[i] * v[i] end
    end)
    local start = field(T, n)
    local function f(options)
      return function()
        loss:fill(0)
        x:copy_from(start)
        v:fill(0.4)
        for _ = 1, 3 do
          m:fill(0)
          scatter()
          relax()
          gather(options)
        end
        measure()
      end
    end
    local where = line(n, function(k) return 2.3 + 1.15 * k end)
    assert_hessian(loss, f(0.1), start, where)
    -- and the same with checkpoints
    D.hvp(loss, f(0.1), { start })
    local product = where.numbers(start.grad.dual)
    local _, took = D.hvp(loss, f(0.1), { start }, { checkpoints = 3 })
    assert.is_true(took.repeated > took.launches)
    for k, v_k in ipairs(where.numbers(start.grad.dual)) do assert.near(product[k], v_k, 1e-12) end
  end)

  it("of rg.svd, rg.polar and rg.sym_eig is that of differences", function()
    assert_body([[for _ in rg.range(1) do
        local a = M({ 1 + x[0], x[1] }, { x[2] * x[3], 2.2 + x[3] })
        local r, p = rg.polar(a)
        local u, s, v = rg.svd(a)
        local w, q = rg.sym_eig(a)
        loss[0] = loss[0] + r[0][1] + 2 * r[1][0] * p[0][0] + p[1][1] ^ 2 + s[0][0] * s[1][1] ^ 2
          + u[0][1] ^ 2 * v[1][1] ^ 2 + w[0] * w[1] ^ 2 + q[0][1] ^ 2 * q[0][0] ^ 4
      end]], 4, function(k) return 0.1 * math.sin(5 * k) end, { M = rg.mat(2, 2, T) })
  end)

  it("of a rotation is right where singular values are equal", function()
    assert_body([[for _ in rg.range(1) do
      local r, s = rg.polar(M({ 1 + x[0], x[1], x[2] }, { x[3], 1 + x[4], x[5] },
        { x[6], x[7], 1 + x[8] }))
      loss[0] = loss[0] + r[0][1] * r[1][2] + r[2][0] + s[0][0] ^ 2 + s[1][2] + r[1][1]
    end]], 9, function() return 0 end, { M = rg.mat(3, 3, T) })
  end)
end)

describe("rg.hvp", function()
  it("names a field without a dual, and refuses what is not a field", function()
    local x, y, loss = field(T, 4), D.field(T, 4, { grad = true, name = "y" }), field(T, 1)
    local k = D.kernel(function()
      for i in rg.range(4) do
        y[i] = x[i] ^ 2
        loss[0] = loss[0] + y[i] ^ 2
      end
    end)
    local function f() k() end
    local failure = support.failure(D.hvp, loss, f, { x })
    assert.matches("second derivatives need a dual of y in addition to its gradient",
      failure.message)
    assert.matches("dual = true", failure.hint)
    assert.matches("needs both a gradient and a dual of",
      support.failure(D.hvp, loss, f, { y }).message)
    assert.matches("needs both a gradient and a dual of",
      support.failure(D.hvp, D.field(T, 1, { grad = true }), f, { x }).message)
    assert.matches("takes a list of the fields", support.failure(D.hvp, loss, f).message)
    assert.matches("takes a list of the fields", support.failure(D.hvp, loss, f, x).message)
    assert.matches("one of them is", support.failure(D.hvp, loss, f, { 3 }).message)
    assert.matches("takes the function", support.failure(D.hvp, loss, 3, { x }).message)
    assert.matches("inside another derivative", support.failure(D.hvp, loss, function()
      D.grad(loss, f)
    end, { x }).message)
    local most = D.kernel(function()
      for i in rg.range(4) do loss[0] = math.max(loss[0], x[i]) end
    end)
    assert.matches("share have no second derivative", support.failure(D.hvp, loss, function()
      most()
    end, { x }).message)
    local custom = D.adjoint(f, function() end)
    assert.matches("no second derivative", support.failure(D.hvp, loss, custom, { x }).message)
  end)

  it("starts with duals of zero where no direction is given", function()
    local x, y, loss = field(T, 4), field(T, 4), field(T, 1)
    local k = D.kernel(function()
      for i in rg.range(4) do loss[0] = loss[0] + x[i] ^ 2 * y[i] end
    end)
    x:fill(3)
    y:fill(5)
    y.dual:fill(1)
    loss.dual:fill(1)
    x.dual[2] = 1
    D.hvp(loss, function()
      loss[0] = 0
      k()
    end, { x })
    assert.equal(10, x.grad.dual[2])
    assert.equal(0, x.grad.dual[1])
    assert.equal(6, y.grad.dual[2])
    assert.equal(30, x.grad[0])
    assert.equal(30, loss.dual[0])
  end)
end)

describe("rg.jvp", function()
  it("follows fields that are filled and copied as a whole", function()
    local x, y = field(T, 4), D.field(T, 4, { grad = true })
    x.dual:fill(2)
    y.dual:fill(7)
    local twice = D.kernel(function()
      for i in rg.range(4) do y[i] = 2 * y[i] end
    end)
    D.jvp(function()
      y:copy_from(x)
      twice()
    end)
    assert.equal(4, y.dual[1])
    D.jvp(function()
      y:fill(1)
      twice()
    end)
    assert.equal(0, y.dual[1])
  end)

  it("takes the fields whose duals are the direction", function()
    local x, y = field(T, 4), field(T, 4)
    x.dual:fill(1)
    y.dual:fill(1)
    local add = D.kernel(function()
      for i in rg.range(4) do y[i] = y[i] + 2 * x[i] end
    end)
    D.jvp(function() add() end, { x })
    assert.equal(2, y.dual[1])
    D.jvp(function() add() end)
    assert.equal(4, y.dual[1])
    assert.matches("one of them is", support.failure(D.jvp, function() end, { 1 }).message)
  end)
end)
