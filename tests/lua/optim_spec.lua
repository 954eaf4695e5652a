-- optim_spec.lua - optimisers over fields with gradients.
local support = require "support"
local rg = support.rg

local D = rg.new { default_float = "f64" }

-- A field of vectors, and a loss that is least where vector i is { i, 2 * i }.
local function bowl()
  local v, loss = D.field(D.vec(2, D.f64), 8, { grad = true }), D.field(D.f64, 1, { grad = true })
  local V = D.vec(2, D.f64)
  local k = D.kernel(function()
    for i in rg.range(8) do
      local d = v[i] - V(i, 2 * i)
      loss[0] = loss[0] + d:dot(d)
    end
  end)
  return v, loss, function()
    loss[0] = 0
    k()
  end
end

describe("an optimiser", function()
  local makers = {
    sgd = function(v) return D.optim.sgd { params = { v }, lr = 0.1, momentum = 0.5 } end,
    adam = function(v) return D.optim.adam { params = { v }, lr = 0.3 } end,
    lbfgs = function(v) return D.optim.lbfgs { params = { v } } end,
  }
  for name, make in pairs(makers) do
    it(name .. " finds the least of a bowl", function()
      local v, loss, f = bowl()
      local losses = make(v):minimize(loss, f, { steps = 150 })
      assert.equal(700, losses[1])
      for i = 0, 7 do
        assert.near(i, v[i].x, 0.02)
        assert.near(2 * i, v[i].y, 0.02)
      end
    end)
  end

  it("sgd steps by the gradient, and with momentum by part of its last step", function()
    local x = rg.field(rg.f32, 2, { grad = true })
    local o = rg.optim.sgd { params = { x }, lr = 0.5, momentum = 0.5 }
    x.grad:fill(2)
    o:step()
    assert.equal(-1, x[0])
    o:step()
    assert.equal(-1 - 0.5 * 3, x[1])
    assert.equal("optimizer sgd, 2 steps", tostring(o))
  end)

  it("adam's first step has the length of its rate, whatever the gradient", function()
    local x = rg.field(rg.f32, 3, { grad = true })
    x.grad[0], x.grad[1] = 1e-3, -1e3
    rg.optim.adam({ params = { x }, lr = 0.25 }):step()
    assert.near(-0.25, x[0], 1e-4)
    assert.near(0.25, x[1], 1e-4)
    assert.equal(0, x[2])
  end)

  it("newton needs few steps where it is near", function()
    local both = { grad = true, dual = true }
    local x, loss = D.field(D.f64, 2, both), D.field(D.f64, 1, both)
    local k = D.kernel(function()
      loss[0] = (1 - x[0]) ^ 2 + 100 * (x[1] - x[0] ^ 2) ^ 2
    end)
    x:fill(-0.5)
    local opt = D.optim.newton { params = { x } }
    local losses = opt:minimize(loss, function() k() end, { steps = 30 })
    assert.is_true(losses[19] > 1e-4 and losses[30] < 1e-20)
    for i = 0, 1 do assert.near(1, x[i], 1e-9) end
    assert.equal("optimizer newton, 30 steps", tostring(opt))
    assert.matches("needs both a gradient and a dual of", support.failure(D.optim.newton,
      { params = { D.field(D.f64, 2, { grad = true }) } }).message)
    assert.matches("evaluates the loss itself", support.failure(function()
      D.optim.newton({ params = { x } }):step()
    end).message)
  end)

  it("lbfgs follows the valley of Rosenbrock's function", function()
    local x, loss = D.field(D.f64, 2, { grad = true }), D.field(D.f64, 1, { grad = true })
    x[0], x[1] = -1.2, 1
    local k = D.kernel(function()
      loss[0] = (1 - x[0]) ^ 2 + 100 * (x[1] - x[0] ^ 2) ^ 2
    end)
    D.optim.lbfgs({ params = { x }, lr = 0.1 }):minimize(loss, function() k() end, { steps = 80 })
    assert.near(1, x[0], 1e-6)
    assert.near(1, x[1], 1e-6)
  end)

  it("moves the floats of structs, and leaves their integers", function()
    for name, options in pairs { sgd = { lr = 0.25 }, adam = { lr = 0.25 }, lbfgs = {} } do
      local S = D.struct { { "at", D.dvec2 }, { "id", D.i32 } }
      local x, loss = D.field(S, 2, { grad = true }), D.field(D.f64, 1, { grad = true })
      x[1] = { at = { 1, 2 }, id = 7 }
      local k = D.kernel(function()
        loss[0] = 0
        for i in D.range(2) do loss[0] = loss[0] + rg.dot(x[i].at - 1, x[i].at - 1) end
      end)
      options.params = { x }
      local losses = D.optim[name](options):minimize(loss, function() k() end, { steps = 40 })
      assert.is_true(losses[40] < 0.1, name)
      assert.equal(7, x[1].id)
    end
  end)

  it("is completed and explained at the prompt", function()
    local text = ""
    local console = require("regolith.console").new { write = function(t) text = text .. t end }
    assert.equal("complete", console:feed "o = rg.optim.adam{ params = { rg.field(rg.f32, 3, \z
      { grad = true }) } }")
    local function completed(of)
      local list = {}
      for k, one in ipairs(console:complete(of)) do list[k] = one.text .. " " .. one.kind end
      return table.concat(list, ", ")
    end
    assert.equal("adam function, lbfgs function, newton function, sgd function",
      completed "rg.optim.")
    assert.equal("minimize method", completed "o:mi")
    console:feed "rg.optim.adam"
    assert.equal("function rg.optim.adam\n", text)
    assert.matches("^rg%.optim%.adam%(", (console:help "rg.optim.adam"))
    assert.matches("minimize", (console:help "o"))
  end)

  it("needs a loss of one number", function()
    local x, loss = rg.field(rg.f32, 2, { grad = true }), rg.field(rg.f32, 2, { grad = true })
    assert.matches("a loss of one number, not field f32 %[2%]", support.failure(function()
      rg.optim.lbfgs({ params = { x } }):minimize(loss, function() end)
    end).message)
  end)

  it("moves the active cells of sparse fields", function()
    local x = rg.field(rg.f32, { grad = true })
    rg.root:pointer("i", 8):dense("i", 4):place(x)
    x[9], x.grad[9] = 5, 2
    local o = rg.optim.adam { params = { x }, lr = 1 }
    o:step()
    assert.near(4, x[9], 1e-5)
    assert.equal(4, x:count())
  end)

  it("stops when the loss hardly falls, or on request", function()
    local v, loss, f = bowl()
    local o = D.optim.sgd { params = { v }, lr = 0.25 }
    assert.is_true(#o:minimize(loss, f, { steps = 500, tolerance = 1e-3 }) < 60)
    assert.equal(3, #o:minimize(loss, f, { each = function(k) return k == 3 end }))
  end)

  it("shows its progress in a line, or plots the loss in a window until that is closed", function()
    local v, loss, f = bowl()
    local o, lines, plotted = D.optim.sgd { params = { v }, lr = 0.1 }, {}, {}
    rg.log.to(function(_, text) lines[#lines + 1] = text end)
    local losses = o:minimize(loss, f, { steps = 3, show = true })
    rg.log.to(nil)
    assert.matches(("loss %.4g  100%%%%  3/3"):format(losses[3]), lines[#lines])
    local w = { plot = function(_, name, value) table.insert(plotted, name .. value) end,
      present = function() return #plotted < 2 end }
    losses = o:minimize(loss, f, { steps = 5, show = w })
    assert.same({ "loss" .. losses[1], "loss" .. losses[2] }, plotted)
    assert.matches("'show' .- true or a window, got 3", support.failure(o.minimize, o, loss, f,
      { show = 3 }).message)
  end)

  it("ends where the loss is not a number", function()
    local x, loss = D.field(D.f64, 1, { grad = true }), D.field(D.f64, 1, { grad = true })
    local k = D.kernel(function() loss[0] = math.log(1 - x[0]) end)
    local o = D.optim.sgd { params = { x }, lr = 5 }
    local failure = support.failure(function() o:minimize(loss, function() k() end) end)
    assert.equal("value.not_finite", failure.code)
    assert.matches("after 1 step", failure.message)
  end)

  it("reports missing arguments", function()
    local plain = rg.field(rg.f32, 4)
    assert.matches("did you mean 'adam'", support.failure(function() return rg.optim.adm end).hint)
    assert.matches("needs its parameters", support.failure(rg.optim.adam, {}).message)
    assert.matches("no gradient", support.failure(rg.optim.sgd, { params = { plain } }).message)
    assert.matches("evaluates the loss", support.failure(function()
      local x = rg.field(rg.f32, 4, { grad = true })
      rg.optim.lbfgs({ params = { x } }):step()
    end).message)
    local x = rg.field(rg.f32, 4, { grad = true })
    assert.equal("option.invalid", support.failure(rg.optim.sgd, { params = { x }, lr = -1 }).code)
    local o, loss = rg.optim.sgd { params = { x } }, rg.field(rg.f32, 1, { grad = true })
    local function message(options)
      return support.failure(function() o:minimize(loss, function() end, options) end).message
    end
    assert.equal("option 'each' of optimizer:minimize must be a function, got 3",
      message { each = 3 })
    assert.equal("option 'steps' of optimizer:minimize must be a number from 0, got \"9\"",
      message { steps = "9" })
    assert.matches("'tolerance' .- number from 0, got \"a\"", message { tolerance = "a" })
    assert.equal("options of optimizer:minimize must be a table, got 50", message(50))
  end)
end)
