--- Iterative solvers: rg.solve.cg{ .. }, minres, bicgstab, gmres.
---     cg         Hestenes, Stiefel 1952: symmetric and positive definite operators
---     minres     Paige, Saunders 1975: symmetric operators
---     bicgstab   van der Vorst 1992: any operator, with seven more vectors
---     gmres      Saad, Schultz 1986: any operator, restarted, with one vector per step of a cycle
---
--- A method runs in cycles: each starts with the residual r = b - A x, and ends when the residual
--- that it updates is small enough. The driver then computes the true residual, which in f32 may be
--- larger, and starts another cycle with a smaller goal, unless the last one did not halve it.
local fail = require "regolith.error"
local lib = require "regolith.lib"
local log = require "regolith.log"
local field = require "regolith.data.field"
local gradient = require "regolith.kernel.gradient"
local kernel = require "regolith.kernel"
local operator = require "regolith.toolbox.solve.operator"
local precondition = require "regolith.toolbox.solve.precondition"
local space = require "regolith.toolbox.solve.space"

local krylov = {}

local methods = {}

local function is_positive(x) return x > 0 end -- a NaN is not

-- -- conjugate gradients --------------------------------------------------------------------------

-- The solution moves along p; r and z are the residual and its preconditioned form.
function methods.cg(state)
  local own, x, r = state.space, state.x, state.r
  local p, q, z = own:vector "p", own:vector "q", state:precondition(state.r, "z")
  local rz = own:dot(r, z)
  own:copy(p, z)
  repeat
    local curvature = state.op:apply(p, q)
    if not is_positive(curvature) then
      return rz == 0 and "breakdown" or curvature ~= curvature and "not finite" or "indefinite"
    end
    local rr = own:run("X = X + alpha * P R = R - alpha * Q s = s + <R, R>",
      { X = x, P = p, R = r, Q = q }, { alpha = rz / curvature })
    local reason = state:step(math.sqrt(rr))
    if reason then return reason end
    z = state:precondition(r, "z")
    local following = state.preconditioner and own:dot(r, z) or rr
    own:run("P = Z + beta * P", { P = p, Z = z }, { beta = following / rz })
    rz = following
  until false
end

-- -- minimal residuals ----------------------------------------------------------------------------

-- v are Lanczos vectors, z their preconditioned forms, and each direction d is computed from the
-- last two. With a preconditioner, eta is the residual in its norm; the driver computes the true
-- one.
function methods.minres(state)
  local own, x = state.space, state.x
  local v, before, following = own:vector "v", own:vector "before", own:vector "following"
  local d, d1, d2 = own:vector "d", own:vector "d1", own:vector "d2"
  local q = own:vector "q"
  for _, w in ipairs { before, d1, d2 } do own:run("A = B - B", { A = w, B = state.r }) end
  own:copy(v, state.r)
  local z = state:precondition(v, "z")
  local gamma, gamma1 = math.sqrt(own:dot(v, z)), 1
  if not is_positive(gamma) then return gamma ~= gamma and "indefinite" or "breakdown" end
  local eta, scale, c, c1, s, s1 = gamma, state.residual / gamma, 1, 1, 0, 0
  repeat
    local delta = state.op:apply(z, q) / (gamma * gamma)
    own:run("F = Q / gamma - (delta / gamma) * V - (gamma / gamma1) * B",
      { F = following, Q = q, V = v, B = before },
      { delta = delta, gamma = gamma, gamma1 = gamma1 })
    own:run("D = Z / gamma - a3 * E - a2 * F", { D = d, Z = z, E = d2, F = d1 },
      { gamma = gamma, a3 = s1 * gamma, a2 = s * delta + c1 * c * gamma })
    before, v, following = v, following, before
    z = state:precondition(v, "z")
    local square = own:dot(v, z)
    if square < 0 then return "indefinite" end
    local after, a0 = math.sqrt(square), c * delta - c1 * s * gamma
    local a1 = math.sqrt(a0 * a0 + square)
    if not is_positive(a1) then return a1 ~= a1 and "not finite" or "breakdown" end
    c1, c, s1, s = c, a0 / a1, s, after / a1
    own:run("D = D / a1 X = X + step * D", { X = x, D = d }, { a1 = a1, step = c * eta })
    d, d1, d2 = d2, d, d1
    eta, gamma1, gamma = -s * eta, gamma, after
    local reason = state:step(math.abs(eta) * scale)
    if reason or after == 0 then return reason end
  until false
end

-- -- stabilised biconjugate gradients -------------------------------------------------------------

function methods.bicgstab(state)
  local own, x, r = state.space, state.x, state.r
  local shadow_r, p, v, t = own:vector "shadow", own:vector "p", own:vector "v", own:vector "t"
  own:copy(shadow_r, r)
  own:copy(p, r)
  local rho = own:dot(shadow_r, r)
  repeat
    local y = state:precondition(p, "y")
    state.op:apply(y, v)
    local along = own:dot(shadow_r, v)
    if along == 0 or rho == 0 or along ~= along then
      return along ~= along and "not finite" or "breakdown"
    end
    local alpha = rho / along
    local rr = own:run("R = R - alpha * V s = s + <R, R>", { R = r, V = v }, { alpha = alpha })
    if math.sqrt(rr) <= state.goal then
      own:run("X = X + alpha * P", { X = x, P = y }, { alpha = alpha })
      return state:step(math.sqrt(rr))
    end
    local z = state:precondition(r, "z")
    state.op:apply(z, t)
    local tr, tt = own:run("s = s + <T, R> t = t + <T, T>", { T = t, R = r })
    local omega = tt > 0 and tr / tt or 0
    local squared, following = own:run("X = X + alpha * P + omega * Z R = R - omega * T \z
      s = s + <R, R> t = t + <H, R>", { X = x, P = y, Z = z, R = r, T = t,
        H = shadow_r }, { alpha = alpha, omega = omega })
    local reason = state:step(math.sqrt(squared))
    if reason then return reason end
    if omega == 0 then return "breakdown" end
    own:run("P = R + beta * (P - omega * V)", { P = p, R = r, V = v },
      { beta = following / rho * alpha / omega, omega = omega })
    rho = following
  until false
end

-- -- generalised minimal residuals ----------------------------------------------------------------

-- Applies the earlier rotations to column k of the Hessenberg matrix, and computes the next one.
local function rotate(h, k, cosines, sines, rest)
  for j = 1, k - 1 do
    h[j], h[j + 1] = cosines[j] * h[j] + sines[j] * h[j + 1],
      cosines[j] * h[j + 1] - sines[j] * h[j]
  end
  local length = math.sqrt(h[k] * h[k] + h[k + 1] * h[k + 1])
  cosines[k], sines[k] = h[k] / length, h[k + 1] / length
  h[k] = length
  rest[k + 1] = -sines[k] * rest[k]
  rest[k] = cosines[k] * rest[k]
end

-- The preconditioner is on the right, so the residual is the true one, and the correction is
-- preconditioned once, at the end of a cycle.
function methods.gmres(state)
  local own, x, r = state.space, state.x, state.r
  local columns, cosines, sines, rest = {}, {}, {}, { state.residual }
  local basis = { own:vector "basis 1" }
  own:run("V = R / length", { V = basis[1], R = r }, { length = state.residual })
  local k, reason = 0
  repeat
    k = k + 1
    local w, h = own:vector("basis " .. k + 1), {}
    basis[k + 1] = w
    state.op:apply(state:precondition(basis[k], "z"), w)
    for j = 1, k do
      h[j] = own:dot(basis[j], w)
      own:run("W = W - h * V", { W = w, V = basis[j] }, { h = h[j] })
    end
    h[k + 1] = math.sqrt(own:dot(w, w))
    if h[k + 1] ~= h[k + 1] then return "not finite" end
    local next_length = h[k + 1]
    rotate(h, k, cosines, sines, rest)
    columns[k] = h
    if h[k] == 0 then return "breakdown" end
    reason = state:step(math.abs(rest[k + 1]))
    if next_length > 0 then
      own:run("W = W / length", { W = w }, { length = next_length })
    end
  until reason or math.abs(rest[k + 1]) <= state.goal or next_length == 0
    or k == state.restart
  local y = {}
  for i = k, 1, -1 do
    y[i] = rest[i]
    for j = i + 1, k do y[i] = y[i] - columns[j][i] * y[j] end
    y[i] = y[i] / columns[i][i]
  end
  local sum = own:vector "sum"
  own:run("A = R - R", { A = sum, R = r })
  for j = 1, k do own:run("A = A + y * V", { A = sum, V = basis[j] }, { y = y[j] }) end
  own:run("X = X + Z", { X = x, Z = state:precondition(sum, "z") })
  return reason or "restart"
end

-- -- the state of a solve -------------------------------------------------------------------------

local State = {}
State.__index = State

--- The preconditioned form of r; without a preconditioner, r itself.
function State:precondition(r, name)
  if not self.preconditioner then return r end
  local z = self.space:vector(name)
  self.preconditioner:apply(r, z)
  return z
end

local default_interval_s, progress_interval_s = 10, 1

-- Logs the progress of a long solve.
local function log_progress(self)
  local now = lib.C.rg_time()
  local interval = self.progress == true and progress_interval_s or default_interval_s
  if now - self.last_log < interval then return end
  self.last_log = now
  log.info("%s: %d iterations, residual %.2e, %.0f s", self.caller, self.iterations,
    self.residual / self.scale, now - self.begun)
end

--- Counts an iteration, after which the residual is as given. Returns nil to go on, "goal" to end
--- the cycle, or the reason to end the solve.
function State:step(residual)
  self.iterations, self.residual = self.iterations + 1, residual
  if self.history then self.history[#self.history + 1] = residual / self.scale end
  if residual ~= residual or residual == math.huge then return "not finite" end
  if type(self.progress) == "function" then
    if self.progress(self.iterations, residual / self.scale) == true then return "stopped" end
  elseif self.progress ~= false then
    log_progress(self)
  end
  if residual <= self.goal then return "goal" end
  if self.iterations >= self.limit then return "limit" end
end

-- Computes the true residual r = b - A x, and its norm.
local function compute_residual(self)
  local own, x = self.space, self.x
  local q, at = own:vector "q", x
  if not space.is_plain(x) then
    at = own:vector "copy"
    own:copy(at, x)
  end
  self.op:apply(at, q)
  local rr = own:run("R = B - Q s = s + <R, R>", { R = self.r, B = self.b, Q = q })
  if self.is_singular then
    own:centre(self.r)
    rr = own:dot(self.r, self.r)
  end
  self.residual = math.sqrt(rr)
end

local function run(self, method)
  local goal, previous, reason = self.goal, math.huge, "goal"
  repeat
    compute_residual(self)
    if self.residual ~= self.residual then return "not finite" end
    if self.residual <= goal then return "converged" end
    if reason ~= "goal" and reason ~= "restart" then return reason end
    if self.residual >= (reason == "goal" and 0.5 or 1) * previous then return "stagnated" end
    if self.iterations >= self.limit then return "limit" end
    if reason == "goal" and previous < math.huge then self.goal = goal / 2 end
    previous = self.residual
    reason = method(self) or "goal"
  until false
end

local needs_symmetry = { cg = true, minres = true }
local may_be_asymmetry = { limit = true, stagnated = true, indefinite = true, breakdown = true }

-- Whether a solve failed since its operator is not symmetric: <A p, r> and <p, A r> differ, where p
-- is a part of r.
local function is_asymmetric(self, reason)
  if not needs_symmetry[self.method] or not may_be_asymmetry[reason] then return false end
  local own, r = self.space, self.r
  local p, q, z = own:vector "part", own:vector "image of part", own:vector "image"
  local places = {}
  for axis = 1, math.max(1, own.s.rank) do places[axis] = ("%d * i%d"):format(axis, axis) end
  own:run(("P = R - R if (%s) %% 5 < 2 then P = R end"):format(table.concat(places, " + ")),
    { P = p, R = r })
  self.op:apply(p, q)
  self.op:apply(r, z)
  local first, second = own:dot(q, r), own:dot(p, z)
  local scale = math.sqrt(own:dot(q, q) * own:dot(r, r)) + math.sqrt(own:dot(p, p) * own:dot(z, z))
  return math.abs(first - second) > 1e-3 * scale
end

-- -- the report -----------------------------------------------------------------------------------

local Report = { __regolith = "the report of a solver" }

local sentences = {
  limit = "reached its limit of iterations",
  stagnated = "stagnated, since %s allows no better solution,",
  ["not symmetric"] = "met an operator that is not symmetric (bicgstab and gmres take such ones)",
  indefinite = "met a direction without positive curvature (is the operator symmetric, and \z
    positive definite?)",
  breakdown = "broke down",
  ["not finite"] = "met numbers that are not finite",
  stopped = "was stopped",
}

function Report:__tostring()
  local iterations = ("%d iteration%s"):format(self.iterations, self.iterations == 1 and "" or "s")
  local head = self.converged and ("%s converged in %s"):format(self.method, iterations)
    or ("%s %s after %s"):format(self.method, sentences[self.reason]:format(self.precision
      or "its type"), iterations)
  return ("%s, residual %.2e"):format(head, self.residual)
end
Report.__concat = fail.concat

--- Makes the report that solvers return.
function krylov.report(fields)
  fields.converged = fields.reason == "converged"
  return setmetatable(fields, Report)
end

-- -- options --------------------------------------------------------------------------------------

local option_names = { "A", "apply", "stencil", "coefficients", "x", "b", "tolerance", "absolute",
  "iterations",
  "preconditioner", "diagonal", "block", "progress", "history", "singular", "restart" }

-- Names of SciPy's and Taichi's solvers.
local others_names = { tol = "tolerance", rtol = "tolerance", atol = "absolute", x0 = "x",
  M = "preconditioner", maxiter = "iterations", max_iter = "iterations",
  max_iterations = "iterations" }

--- Raises unless `options` is a table of these options.
function krylov.check_options(options, names, caller)
  local hint = caller .. "{ A = A, x = x, b = b }"
  if options == nil or type(options) == "table" and getmetatable(options) then
    return fail.argument(("options of %s must be a table, got %s"):format(caller,
      fail.describe(options)), hint)
  end
  for name, ours in pairs(type(options) == "table" and others_names or {}) do
    if options[name] ~= nil then
      return fail.argument(("%s has no option '%s'"):format(caller, name),
        ("did you mean '%s'?"):format(ours), "option.invalid")
    end
  end
  fail.options(options, names, caller, hint)
end

local function check_progress(v, caller)
  if v == nil or type(v) == "boolean" or type(v) == "function" then return v end
  return fail.option({ progress = v }, "progress", caller, "a function, true or false")
end

local function check_restart(v, caller)
  if v == nil then return 30 end
  if type(v) == "number" and v >= 1 and v % 1 == 0 then return v end
  return fail.option({ restart = v }, "restart", caller, "a whole number from 1")
end

local function begin(name, options, caller)
  krylov.check_options(options, option_names, caller)
  local x, made = options.x, nil
  if options.A ~= nil then operator.check_matrix(options.A, caller) end
  if x == nil and options.A then
    made = options.A:new_vector "column"
    x = made
  end
  if x == nil or options.b == nil then
    return fail.argument(("%s needs '%s'"):format(caller, x == nil and "x" or "b"),
      caller .. "{ A = A, x = x, b = b }: x is the first guess, and becomes the solution",
      "option.invalid")
  end
  if rawequal(x, options.b) then
    return fail.argument(caller .. ": 'x' and 'b' must be different fields",
      "x is the first guess, and becomes the solution", "option.invalid")
  end
  local own, b = space.of(x, caller), options.b
  if options.A and type(b) == "table" and not getmetatable(b) then b = options.A:vector(b) end
  local self = setmetatable({ space = own, x = x, b = own:check(b, "b"), caller = caller,
    method = name, made = made, op = operator.of(options, own, caller),
    progress = check_progress(options.progress, caller), iterations = 0,
    history = options.history and {} or nil, is_singular = options.singular == true,
    restart = check_restart(options.restart, caller) }, State)
  self.limit = fail.number_option(options, "iterations", 10000, caller)
  self.begun = lib.C.rg_time()
  self.last_log = self.begun
  self.r = own:vector "r"
  self.preconditioner = precondition.of(options, self.op, own, caller)

  return self
end

local function solve(name, options)
  local caller = "rg.solve." .. name
  local self = begin(name, options, caller)
  local own = self.space
  local square = own:run("s = s + <B, B>", { B = self.b }, nil, nil, true)
  self.scale = square > 0 and math.sqrt(square) or 1
  local reachable = own.scalar == "f32" and 1e-4 or 1e-6 -- even on large grids
  local tolerance = fail.number_option(options, "tolerance", reachable, caller)
  self.goal = math.max(tolerance * math.sqrt(square),
    fail.number_option(options, "absolute", 0, caller))
  local reason
  if square == 0 then -- the solution is zero
    own:run("X = B", { X = self.x, B = self.b })
    reason, self.residual = "converged", 0
  else
    reason = run(self, methods[name])
    if is_asymmetric(self, reason) then reason = "not symmetric" end
  end
  return krylov.report { method = name, iterations = self.iterations, reason = reason,
    residual = self.residual / self.scale, history = self.history, x = self.x,
    precision = own.scalar,
    seconds = lib.C.rg_time() - self.begun }
end

-- -- gradients ------------------------------------------------------------------------------------

local is_symmetric = { cg = true, minres = true }

-- The gradient of b is the solution of the transposed system for the gradient of x; A is a
-- constant. The solver overwrites x, so the gradient of x becomes zero.
local function differentiate(name, options)
  local x_grad, b_grad = field.gradient(options.x), field.gradient(options.b)
  if x_grad and b_grad then
    local own, back = space.of(options.x, "rg.solve." .. name), {}
    for key, v in pairs(options) do back[key] = v end
    if options.A and not is_symmetric[name] then back.A = options.A:transpose() end
    back.x, back.b, back.progress, back.history = own:vector "adjoint", x_grad, false, nil
    back.x:fill(0)
    solve(name, back)
    own:run("B = B + A", { B = b_grad, A = back.x })
  end
  if x_grad then x_grad:fill(0) end
end

-- Solves for x, and for its derivative along the direction in b's dual.
local function solve_forward(name, options)
  local report, change = solve(name, options), {}
  local x, b = field.dual(options.x), field.dual(options.b)
  if not x then return report end
  x:fill(0)
  for key, v in pairs(options) do change[key] = v end
  change.x, change.b, change.progress, change.history = x, b, false, nil
  if b then solve(name, change) end
  return report
end

-- Solves while derivatives are recorded.
local function solve_recorded(name, options)
  local caller = "rg.solve." .. name
  krylov.check_options(options, option_names, caller)
  if not field.is(options.x) or not field.is(options.b) then
    return fail.argument(caller .. " has a gradient only if x and b are fields", nil,
      "kernel.unsupported")
  elseif not options.A and not is_symmetric[name] then
    return fail.argument(caller .. " has a gradient only with a matrix A, whose transpose it needs",
      "for a symmetric operator, use rg.solve.cg or rg.solve.minres", "kernel.unsupported")
  end
  if gradient.is_forward() then return solve_forward(name, options) end
  local report
  gradient.adjoint(function() report = solve(name, options) end,
    function() differentiate(name, options) end)()
  return report
end

for name in pairs(methods) do
  krylov[name] = function(_, options)
    return (kernel.is_recording() and solve_recorded or solve)(name, options)
  end
end

return krylov
