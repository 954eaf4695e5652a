-- solver_spec.lua - rg.solve.cg and the other iterative solvers, with matrices and without.
local support = require "support"
local rg, failure = support.rg, support.failure

local function laplacian(x, i, j)
  return 4 * x[i][j] - x[i - 1][j] - x[i + 1][j] - x[i][j - 1] - x[i][j + 1]
end
local image = rg.kernel(function(x, y)
  for i, j in x:active() do y[i][j] = laplacian(x, i, j) end
end)

-- The largest error of the equations.
local error_of = rg.kernel(function(x, b)
  local worst = 0
  for i, j in x:active() do
    worst = math.max(worst, math.abs(b[i][j] - laplacian(x, i, j)))
  end
  return worst
end)

local function poisson(t)
  local x, b = rg.field(t, 14, 12), rg.field(t, 14, 12)
  b[4][4], b[9][7] = 1, -1
  return x, b
end

-- Points on a line with springs between neighbours; the wind makes it unsymmetric.
local function line_matrix(n, wind)
  local A = rg.matrix(n)
  for i = 0, n - 1 do
    A:add(i, i, 2.1)
    if i > 0 then A:add(i, i - 1, -1 - wind) end
    if i < n - 1 then A:add(i, i + 1, -1 + wind) end
  end
  return A
end

describe("an iterative solver", function()
  it("needs no more than a stencil, or a kernel", function()
    for _, name in ipairs { "cg", "minres", "bicgstab", "gmres" } do
      local x, b = poisson(rg.f64)
      local report = rg.solve[name] { stencil = laplacian, x = x, b = b, tolerance = 1e-9,
        restart = 60 }
      assert.is_true(report.converged, tostring(report))
      assert.is_true(error_of(x, b) < 2e-9)
      x:fill(0)
      local other = rg.solve[name] { apply = image, x = x, b = b, tolerance = 1e-9, restart = 60 }
      assert.is_true(math.abs(other.iterations - report.iterations) <= 1)
      assert.is_true(error_of(x, b) < 2e-9)
    end
  end)

  it("finds a solution that is known, as Taichi's matrix-free solvers do", function()
    local n = 32
    local x, b = rg.field(rg.f64, n, n), rg.field(rg.f64, n, n)
    local function exact(i, j) -- zero at the walls, one cell outside
      return math.sin(math.pi * (i + 1) / (n + 1)) * math.sin(math.pi * (j + 1) / (n + 1))
    end
    for i, j in rg.range(n, n) do b[i][j] = 2 * (math.pi / (n + 1)) ^ 2 * exact(i, j) end
    for _, name in ipairs { "cg", "bicgstab" } do
      rg.solve[name] { apply = image, x = x:fill(0), b = b, tolerance = 1e-10 }
      for _, at in ipairs { { 3, 5 }, { 16, 16 }, { 31, 0 } } do
        assert.near(exact(unpack(at)), x[at[1]][at[2]], 1e-3)
      end
    end
  end)

  it("needs as many iterations as conjugate gradients on the host, for an equal \z
    residual", function()
    local n, b, x, r, p = 60, {}, {}, {}, {}
    local function image_of(v, i) return 2.1 * v[i] - (v[i - 1] or 0) - (v[i + 1] or 0) end
    local function dot(v, w)
      local sum = 0
      for i = 1, n do sum = sum + v[i] * w[i] end
      return sum
    end
    for i = 1, n do b[i], x[i], r[i], p[i] = math.sin(i), 0, math.sin(i), math.sin(i) end
    local rr, goal, count = dot(r, r), 1e-10 * math.sqrt(dot(b, b)), 0
    while math.sqrt(rr) > goal do
      local q = {}
      for i = 1, n do q[i] = image_of(p, i) end
      local alpha, old = rr / dot(p, q), rr
      for i = 1, n do x[i], r[i] = x[i] + alpha * p[i], r[i] - alpha * q[i] end
      rr, count = dot(r, r), count + 1
      for i = 1, n do p[i] = r[i] + rr / old * p[i] end
    end
    local A = line_matrix(n, 0)
    local report = rg.solve.cg { A = A, b = b, tolerance = 1e-10 }
    assert.is_true(math.abs(report.iterations - count) <= 1)
    for i = 1, n do assert.near(x[i], report.x[i - 1], 1e-9) end
    local single = rg.solve.cg { A = A:copy(rg.f32), b = b, tolerance = 1e-5 }
    assert.is_true(single.converged and single.residual < 1e-5)
  end)

  it("reaches the accuracy of f32", function()
    local x, b = poisson(rg.f32)
    for _, name in ipairs { "cg", "minres", "bicgstab" } do
      x:fill(0)
      assert.is_true(rg.solve[name]({ stencil = laplacian, x = x, b = b }).converged)
    end
    local report = rg.solve.cg { stencil = laplacian, x = x, b = b, tolerance = 1e-12 }
    assert.equal("stagnated", report.reason)
    assert.is_true(report.residual < 1e-5)
  end)

  it("takes active cells of a sparse field for the unknowns, however they change", function()
    local x, b = rg.field(rg.f64), rg.field(rg.f64)
    rg.root:pointer("ij", 4, 4):bitmasked("ij", 8, 8):place(x, b)
    for shift = 0, 10, 5 do
      x:clear()
      for i, j in rg.range({ 3 + shift, 15 + shift }, 12) do x:activate(i, j) end
      b[9 + shift][5] = 1
      local report = rg.solve.cg { stencil = laplacian, x = x, b = b, tolerance = 1e-10 }
      assert.is_true(report.converged)
      assert.equal(144, x:count())
      assert.is_true(error_of(x, b) < 1e-9)
      assert.equal(0, x[2 + shift][5])
    end
  end)

  it("solves for members of structs and vectors, and with matrices of blocks", function()
    local Cell = rg.struct { { "p", rg.f64 }, { "d", rg.f64 } }
    local cells, x, b = rg.field(Cell, 14, 12), poisson(rg.f64)
    cells.d:copy_from(b)
    assert.is_true(rg.solve.cg({ stencil = laplacian, x = cells.p, b = cells.d,
      tolerance = 1e-9 }).converged)
    x:copy_from(cells.p)
    assert.is_true(error_of(x, b) < 1e-8)
    local v, w = rg.field(rg.dvec2, 14, 12), rg.field(rg.dvec2, 14, 12)
    w[5][5] = { 1, -2 }
    assert.is_true(rg.solve.cg({ stencil = laplacian, x = v, b = w, tolerance = 1e-9 }).converged)
    assert.near(-2 * v[5][6].x, v[5][6].y, 1e-7)
    local A = rg.matrix { shape = { 3, 3 }, block = 2 }
    for i = 0, 2 do
      A:add(i, i, { { 4, 1 }, { 1, 3 } })
      if i > 0 then A:add(i, i - 1, { { 0, 1 }, { 0, 0 } }) end
      if i > 0 then A:add(i - 1, i, { { 0, 0 }, { 1, 0 } }) end
    end
    local report = rg.solve.cg { A = A, b = A * { { 1, 2 }, { 3, 4 }, { 5, 6 } }, tolerance = 1e-12,
      preconditioner = "jacobi" }
    assert.near(4, report.x[1].y, 1e-9)
  end)

  it("is helped by preconditioners", function()
    local A = line_matrix(120, 0)
    for i = 0, 119 do A:add(i, i, (i * 7919) % 40) end
    local b = A:new_vector("row"):fill(1)
    local function iterations(name, preconditioner, block)
      local report = rg.solve[name] { A = A, b = b, preconditioner = preconditioner, block = block,
        tolerance = 1e-9 }
      assert.is_true(report.converged, tostring(report))
      assert.is_true((A * report.x):equals(b, 1e-6))
      return report.iterations
    end
    for _, name in ipairs { "cg", "minres", "bicgstab", "gmres" } do
      local plain = iterations(name)
      assert.is_true(iterations(name, "jacobi") < plain)
      assert.is_true(iterations(name, "block_jacobi", 3) < plain)
      assert.is_true(iterations(name, "ic0") < 5) -- of a band it is the whole factor
      assert.is_true(iterations(name, function(r, z) z:copy_from(r) end) <= plain + 1)
    end
  end)

  it("finds the diagonal of a stencil", function()
    local weight = rg.field(rg.f64, 14, 12)
    for i, j in rg.range(14, 12) do weight[i][j] = 4 + (i * 5 + j * 3) % 90 end
    local function stencil(x, i, j) return laplacian(x, i, j) + (weight[i][j] - 4) * x[i][j] end
    local x, b = poisson(rg.f64)
    local plain = rg.solve.cg { stencil = stencil, x = x, b = b }
    x:fill(0)
    local found = rg.solve.cg { stencil = stencil, x = x, b = b, preconditioner = "jacobi" }
    x:fill(0)
    local given = rg.solve.cg { stencil = stencil, x = x, b = b, preconditioner = "jacobi",
      diagonal = weight }
    assert.is_true(found.converged and found.iterations < plain.iterations)
    assert.equal(found.iterations, given.iterations)
  end)

  it("needs few iterations with multigrid, on dense and sparse grids", function()
    local x, b = rg.field(rg.f64, 40, 33), rg.field(rg.f64, 40, 33)
    b[20][30] = 1
    local report = rg.solve.cg { stencil = laplacian, x = x, b = b, preconditioner = "multigrid" }
    assert.is_true(report.converged and report.iterations < 14, tostring(report))
    assert.is_true(error_of(x, b) < 2e-6)
    local y, c = rg.field(rg.f64), rg.field(rg.f64)
    rg.root:pointer("ij", 8, 8):dense("ij", 8, 8):place(y, c)
    for i, j in rg.range(40, 33) do y:activate(i, j) end
    c[20][30] = 1
    report = rg.solve.cg { stencil = laplacian, x = y, b = c, preconditioner = "multigrid" }
    assert.is_true(report.converged and report.iterations < 18, tostring(report))
    assert.is_true(error_of(y, c) < 2e-6)
  end)

  it("uses x.shape as the bounds of a stencil on all grids", function()
    local x, b = rg.array(rg.f64, 25, 32), rg.array(rg.f64, 25, 32)
    b[3][4], b[20][30] = 1, -1
    local function closed(p, i, j)
      local sum, count = 0.0, 0.0
      if i > 0 then sum, count = sum + p[i - 1][j], count + 1 end
      if j > 0 then sum, count = sum + p[i][j - 1], count + 1 end
      if i < p.shape[0] - 1 then sum, count = sum + p[i + 1][j], count + 1 end
      if j < p.shape[1] - 1 then sum, count = sum + p[i][j + 1], count + 1 end
      return count * p[i][j] - sum
    end
    local report = rg.solve.cg { stencil = closed, x = x, b = b, preconditioner = "multigrid",
      singular = true }
    assert.is_true(report.converged and report.iterations < 16, tostring(report))
  end)

  it("passes coefficients to a stencil, and their means to coarser grids", function()
    local n = 32
    local x, b, open = rg.field(rg.f64, n, n), rg.field(rg.f64, n, n), rg.field(rg.f64, n, n)
    for i, j in rg.range(n, n) do open[i][j] = (i - 15) ^ 2 + (j - 12) ^ 2 < 30 and 0 or 1 end
    b[3][4] = 1
    local function flow(p, i, j, c) -- around an obstacle
      local out = c.open[i + 1][j] * (p[i][j] - p[i + 1][j])
        + c.open[i - 1][j] * (p[i][j] - p[i - 1][j]) + c.open[i][j + 1] * (p[i][j] - p[i][j + 1])
        + c.open[i][j - 1] * (p[i][j] - p[i][j - 1])
      return c.open[i][j] * (out + 0.001 * p[i][j]) + (1 - c.open[i][j]) * p[i][j]
    end
    local plain = rg.solve.cg { stencil = flow, coefficients = { open = open }, x = x, b = b }
    local seen = x[20][20]
    local report = rg.solve.cg { stencil = flow, coefficients = { open = open }, x = x:fill(0),
      b = b, preconditioner = "multigrid" }
    assert.is_true(report.converged and report.iterations < 0.5 * plain.iterations,
      tostring(report))
    assert.near(seen, x[20][20], 1e-3)
    assert.equal(0, x[15][12])
    assert.matches("needs the option 'stencil'", failure(rg.solve.cg, { apply = image, x = x, b = b,
      coefficients = { open = open } }).message)
    assert.matches("must be a table of fields", failure(rg.solve.cg, { stencil = flow, x = x, b = b,
      coefficients = open }).message)
  end)

  it("solves unsymmetric systems", function()
    local A = line_matrix(120, 0.4)
    local b = A:new_vector("row"):fill(1)
    for _, name in ipairs { "bicgstab", "gmres" } do
      local report = rg.solve[name] { A = A, b = b, tolerance = 1e-9 }
      assert.is_true(report.converged, tostring(report))
      assert.is_true((A * report.x):equals(b, 1e-7))
    end
  end)

  it("solves singular systems whose constants have the image 0", function()
    local n = 40
    local A, b = rg.matrix(n), rg.array(rg.f64, n)
    for i = 0, n - 1 do
      A:add(i, i, 2)
      A:add(i, (i + 1) % n, -1)
      A:add(i, (i + n - 1) % n, -1)
      b[i] = i
    end
    local report = rg.solve.cg { A = A, b = b, singular = true, tolerance = 1e-9 }
    assert.near(0 - (n - 1) / 2, (A * report.x)[0], 1e-6)
  end)

  it("has the gradient of its right-hand side", function()
    local A = line_matrix(20, 0.3)
    A = A * A:transpose()
    local function fields() return rg.field(rg.f64, 20, { grad = true }) end
    local b, x, loss = fields(), fields(), rg.field(rg.f64, 1, { grad = true })
    for k = 0, 19 do b[k] = math.sin(k) end
    local measure = rg.kernel(function()
      for k in rg.range(20) do
        local d = x[k] - 0.1 * k
        loss[0] = loss[0] + d * d
      end
    end)
    local function run()
      loss[0] = 0
      rg.solve.cg { A = A, x = x, b = b, tolerance = 1e-13 }
      measure()
    end
    local report = rg.check_gradient(loss, run, { b })
    assert.is_true(report.count > 0 and report.error < 1e-4, tostring(report.error))
    local sum = 0
    for k = 0, 19 do
      sum = sum + b.grad[k] * math.cos(k)
      b.dual[k] = math.cos(k)
    end
    rg.jvp(function()
      loss:fill(0)
      rg.solve.cg { A = A, x = x, b = b, tolerance = 1e-13 }
      measure()
    end, { b })
    assert.near(sum, loss.dual[0], 1e-6 * math.abs(sum))
    local W = line_matrix(20, 0.3)
    report = rg.check_gradient(loss, function()
      loss[0] = 0
      rg.solve.bicgstab { A = W, x = x, b = b, tolerance = 1e-13 }
      measure()
    end, { b })
    assert.is_true(report.error < 1e-4, tostring(report.error))
    assert.matches("has a gradient only with a matrix", failure(rg.grad, loss, function()
      rg.solve.gmres { apply = function(p, q) q:copy_from(p) end, x = x, b = b }
    end).message)
  end)

  it("finds least squares", function()
    local A = rg.matrix { { 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 3 } }
    local b = A:vector { 1, 3, 5, 7.5 }
    local report = rg.solve.least_squares { A = A, b = b }
    assert.is_true(report.converged)
    assert.near(0.9, report.x[0], 1e-9)
    assert.near(2.15, report.x[1], 1e-9)
    assert.near(math.sqrt(0.075) / b:norm(), report.residual, 1e-9)
    local T, x = A:transpose(), A:new_vector "column"
    rg.solve.least_squares { apply = function(v, w) A:apply(v, w) end, damping = 1, x = x, b = b,
      transpose = function(w, v) T:apply(w, v) end }
    assert.near(0.88461538, x[0], 1e-7)
    local wide = rg.solve.least_squares { A = T, b = { 1, 2 } } -- the smallest of many
    assert.is_true((T * wide.x):equals(T:vector { 1, 2 }, 1e-9))
    assert.near(0, wide.x[0] - 3 * wide.x[1] + 3 * wide.x[2] - wide.x[3], 1e-9)
    assert.matches("needs 'b'", failure(rg.solve.least_squares, { A = A }).message)
    assert.matches("must have one axis", failure(rg.solve.least_squares, { A = T, b = b }).message)
  end)

  it("reports why it stopped", function()
    local A = line_matrix(100, 0)
    local b = A:new_vector("row"):fill(1)
    local report = rg.solve.cg { A = A, b = b, iterations = 3, history = true }
    assert.equal("limit", report.reason)
    assert.same({ 3, 3 }, { report.iterations, #report.history })
    assert.matches("^cg reached its limit of iterations after 3 iterations, residual ",
      tostring(report))
    report = rg.solve.cg { A = A, b = b, progress = function(k) return k == 2 end }
    assert.same({ "stopped", 2 }, { report.reason, report.iterations })
    assert.equal("indefinite", rg.solve.cg({ A = -A, b = b }).reason)
    assert.equal("not finite", rg.solve.cg({ A = A, b = A:new_vector("row"):fill(0 / 0) }).reason)
    local wind = line_matrix(100, 0.3)
    assert.equal("not symmetric", rg.solve.cg({ A = wind, b = b, iterations = 50 }).reason)
    local x, right = poisson(rg.f32)
    local sided = rg.solve.minres { x = x, b = right, iterations = 20,
      stencil = function(p, i, j) return 4 * p[i][j] - 2 * p[i][j - 1] end }
    assert.matches("^minres met an operator that is not symmetric", tostring(sided))
    x:fill(0)
    local most = rg.solve.cg { stencil = laplacian, x = x, b = right, tolerance = 1e-9 }
    assert.matches("^cg stagnated, since f32 allows no better solution, after", tostring(most))
    local zero = rg.solve.cg { A = A, x = A:new_vector("row"):fill(7), b = A:new_vector "row" }
    assert.same({ true, 0, 0 }, { zero.converged, zero.iterations, zero.x[5] })
    assert.equal(0, rg.solve.cg({ A = A, x = rg.solve.cg({ A = A, b = b }).x, b = b }).iterations)
    assert.near(2, rg.solve.cg({ A = rg.matrix { { 2, 0 }, { 0, 4 } }, b = { 4, 1 } }).x[0], 1e-9)
  end)

  it("gives the same bits for every number of threads, on request", function()
    local function bits(threads)
      local own = rg.new { threads = threads, deterministic = true }
      local x, b = own.field(own.f32, 64, 64), own.field(own.f32, 64, 64)
      for i, j in own.range(64, 64) do b[i][j] = math.sin(i * 3 + j * j) end
      local report = own.solve.cg { stencil = laplacian, x = x, b = b }
      return report.iterations, x[11][13], x[40][2]
    end
    local a, b, c = bits(1)
    assert.same({ a, b, c }, { bits(3) })
  end)

  it("leaves rg.solve of small matrices as it is, in kernels and outside", function()
    assert.equal(rg.vec2(1, 1), rg.solve(rg.mat2(2, 0, 0, 4), rg.vec2(2, 4)))
    local k = rg.kernel(function() return rg.solve(rg.mat2(2, 0, 0, 4), rg.vec2(2, 4)) end)
    assert.equal(rg.vec2(1, 1), k())
  end)

  it("reports each mistake in one sentence", function()
    local x, b = poisson(rg.f32)
    local A = line_matrix(10, 0)
    local function cg(options) return function() rg.solve.cg(options) end end
    for _, case in ipairs {
      { cg {}, "needs 'x'" },
      { cg { A = A }, "needs 'b'" },
      { cg { x = x, b = b }, "needs its operator" },
      { cg { A = A, stencil = laplacian, x = x, b = b }, "got 'A' and 'stencil'" },
      { cg { A = 3, x = x, b = b }, "must be a matrix, got 3" },
      { cg { A = A, x = x, b = b }, "must have one axis" },
      { cg { stencil = image, x = x, b = b }, "must be a plain function" },
      { cg { stencil = 1, x = x, b = b }, "must be a kernel or a function, got 1" },
      { cg { stencil = laplacian, x = x, b = rg.field(rg.f32, 3, 3) }, "different shapes" },
      { cg { stencil = laplacian, x = x, b = rg.field(rg.i32, 14, 12) }, "'b' are i32" },
      { cg { stencil = laplacian, x = rg.field(rg.i32, 3, 3), b = b }, "takes elements of f32" },
      { cg { stencil = laplacian, x = x, b = b, tol = 1 }, "has no option 'tol'" },
      { cg { stencil = laplacian, x = x, b = b, tolerance = -1 }, "a number from 0, got -1" },
      { cg { stencil = laplacian, x = x, b = b, progress = 3 }, "true or false, got 3" },
      { cg { stencil = laplacian, x = x, b = b, preconditioner = "ic0" }, "needs a matrix A" },
      { cg { stencil = laplacian, x = x, b = b, preconditioner = "ic" }, "no preconditioner 'ic'" },
      { cg { apply = image, x = x, b = b, preconditioner = "multigrid" }, "needs a stencil" },
      { cg { apply = image, x = x, b = b, preconditioner = "jacobi" },
        "cannot compute the diagonal" },
      { cg { apply = laplacian, x = x, b = b }, "two vectors, but this function has 3 param" },
      { cg { stencil = function(_, y) return y end, x = x, b = b }, "x and 2 indices, but this" },
      { cg { stencil = laplacian, x = x, b = x }, "must be different fields" },
      { cg { A = { { 2 } }, b = { 1 } }, "must be a matrix, got a table" },
      { cg { apply = A, x = x, b = b }, "must be a kernel or a function, got a matrix" },
      { function() rg.solve.gmres { A = A, b = A:new_vector "row", restart = 0 } end,
        "whole number from 1" },
      { function() rg.solve.least_squares { A = { { 2 } }, b = { 1 } } end, "must be a matrix" },
      { function() rg.solve(A) end, "'b' must be a field or an array, not nil" },
      { function() return rg.solve.lu end, "rg.solve has no 'lu'" },
      { function() rg.solve.cg(A, b) end, "must be a table, got" },
      { function() rg.solve.cgg {} end, "rg.solve has no 'cgg'" },
    } do
      assert.matches(case[2], failure(case[1]).message, 1, true)
    end
  end)
end)
