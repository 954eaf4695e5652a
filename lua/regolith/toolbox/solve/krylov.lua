--- Iterative solvers: rg.solve.cg{ .. }, minres, bicgstab, gmres.
---     cg         Hestenes, Stiefel 1952: symmetric and positive definite
---     minres     Paige, Saunders 1975: symmetric
---     bicgstab   van der Vorst 1992: any, with seven more vectors
---     gmres      Saad, Schultz 1986: any, restarted, with as many vectors as a cycle has steps
---
--- A method runs cycles: each starts at the residual r = b - A x, and ends when the residual that
--- it carries along is small enough. The driver then computes the true one, which in f32 may be
--- larger, and starts another cycle with a smaller goal, unless the last one has not halved it.
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
  local p, q, z = own:vector "p", own:vector "q", state:guided(state.r, "z")
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
    z = state:guided(r, "z")
    local following = state.is_guided and own:dot(r, z) or rr
    own:run("P = Z + beta * P", { P = p, Z = z }, { beta = following / rz })
    rz = following
  until false
end

-- -- minimal residuals ----------------------------------------------------------------------------

-- Lanczos vectors v, their preconditioned forms z, directions d of which each is made of the last
-- two. With a preconditioner, eta is the residual in its norm; the driver looks at the true one.
function methods.minres(state)
  local own, x = state.space, state.x
  local v, before, following = own:vector "v", own:vector "before", own:vector "following"
  local d, d1, d2 = own:vector "d", own:vector "d1", own:vector "d2"
  local q = own:vector "q"
  for _, w in ipairs { before, d1, d2 } do own:run("A = B - B", { A = w, B = state.r }) end
  own:copy(v, state.r)
  local z = state:guided(v, "z")
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
    z = state:guided(v, "z")
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
    local guided_p = state:guided(p, "y")
    state.op:apply(guided_p, v)
    local along = own:dot(shadow_r, v)
    if along == 0 or rho == 0 or along ~= along then
      return along ~= along and "not finite" or "breakdown"
    end
    local alpha = rho / along
    local rr = own:run("R = R - alpha * V s = s + <R, R>", { R = r, V = v }, { alpha = alpha })
    if math.sqrt(rr) <= state.goal then
      own:run("X = X + alpha * P", { X = x, P = guided_p }, { alpha = alpha })
      return state:step(math.sqrt(rr))
    end
    local guided_r = state:guided(r, "z")
    state.op:apply(guided_r, t)
    local tr, tt = own:run("s = s + <T, R> t = t + <T, T>", { T = t, R = r })
    local omega = tt > 0 and tr / tt or 0
    local squared, following = own:run("X = X + alpha * P + omega * Z R = R - omega * T \z
      s = s + <R, R> t = t + <H, R>", { X = x, P = guided_p, Z = guided_r, R = r, T = t,
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

-- Applies the earlier rotations to column k of the Hessenberg matrix, and makes the next.
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

-- The preconditioner is on the right: the residual is the true one, and one vector is guided at
-- the end of a cycle.
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
    state.op:apply(state:guided(basis[k], "z"), w)
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
  own:run("X = X + Z", { X = x, Z = state:guided(sum, "z") })
  return reason or "restart"
end

-- -- the state of a solve -------------------------------------------------------------------------

local State = {}
State.__index = State

--- The preconditioned form of r: r itself without a preconditioner.
function State:guided(r, name)
  if not self.is_guided then return r end
  local z = self.space:vector(name)
  self.preconditioner:apply(r, z)
  return z
end

local quiet_s, progress_s = 10, 1

-- Shows how far a long solve is.
local function tell(self)
  local now = lib.C.rg_time()
  local wait = self.progress == true and progress_s or quiet_s
  if now - self.told < wait then return end
  self.told = now
  log.info("%s: %d iterations, residual %.2e, %.0f s", self.caller, self.iterations,
    self.residual / self.scale, now - self.begun)
end

--- Notes one iteration, after which the residual is as given. Returns why the cycle ends, if it
--- does: nil, "goal", or the reason why the solve ends.
function State:step(residual)
  self.iterations, self.residual = self.iterations + 1, residual
  if self.history then self.history[#self.history + 1] = residual / self.scale end
  if residual ~= residual or residual == math.huge then return "not finite" end
  if type(self.progress) == "function" then
    if self.progress(self.iterations, residual / self.scale) == true then return "stopped" end
  elseif self.progress ~= false then
    tell(self)
  end
  if residual <= self.goal then return "goal" end
  if self.iterations >= self.limit then return "limit" end
end

-- r = b - A x; its norm.
local function renew(self)
  local own, x = self.space, self.x
  local q, at = own:vector "q", x
  if not operator.takes(x) then
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
    renew(self)
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

-- Whether a failed solve met an operator that is not symmetric: <A p, r> and <p, A r> differ, where
-- p is a part of r.
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
  stagnated = "stagnated, as %s has no better solution,",
  ["not symmetric"] = "met an operator that is not symmetric, as bicgstab and gmres may,",
  indefinite = "met a direction without positive curvature: is the operator symmetric, and \z
    positive definite?",
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
function Report.__concat(a, b) return tostring(a) .. tostring(b) end

--- What solvers return.
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
  if type(options) ~= "table" or getmetatable(options) then
    return fail.argument(("%s takes a table of options, not %s"):format(caller,
      fail.describe(options)), caller .. "{ A = A, x = x, b = b }")
  end
  for name, ours in pairs(others_names) do
    if options[name] ~= nil then
      return fail.argument(("%s has no option '%s'"):format(caller, name),
        ("did you mean '%s'?"):format(ours), "option.invalid")
    end
  end
  fail.check_options(options, names, caller)
end

local function check_progress(v, caller)
  if v == nil or type(v) == "boolean" or type(v) == "function" then return v end
  return fail.argument(("option 'progress' of %s must be a function, true or false, got %s"):format(
    caller, fail.describe(v)), nil, "option.invalid")
end

local function check_restart(v, caller)
  if v == nil then return 30 end
  if type(v) == "number" and v >= 1 and v % 1 == 0 then return v end
  return fail.argument(("option 'restart' of %s must be a whole number from 1, got %s"):format(
    caller, fail.describe(v)), nil, "option.invalid")
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
    return fail.argument(caller .. ": 'x' and 'b' must be two fields, and they are one",
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
  self.begun, self.told = lib.C.rg_time(), lib.C.rg_time()
  self.r = own:vector "r"
  self.preconditioner = precondition.of(options, self.op, own, caller)
  self.is_guided = self.preconditioner ~= nil
  return self
end

local function solve(name, options)
  local caller = "rg.solve." .. name
  local self = begin(name, options, caller)
  local own = self.space
  local square = own:run("s = s + <B, B>", { B = self.b }, nil, nil, true)
  self.scale = square > 0 and math.sqrt(square) or 1
  local reachable = own.scalar == "f32" and 1e-4 or 1e-6 -- also on large grids
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

-- The gradient of b is the solution for that of x, by the transposed operator; A is a constant. The
-- solver overwrites x, so nothing is left of its gradient.
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

-- The solution, and how it changes along the direction in b's dual.
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

-- The same, where a derivative is wanted.
local function solve_recorded(name, options)
  local caller = "rg.solve." .. name
  krylov.check_options(options, option_names, caller)
  if not field.is(options.x) or not field.is(options.b) then
    return fail.argument(caller .. " has a gradient where x and b are fields", nil,
      "kernel.unsupported")
  elseif not options.A and not is_symmetric[name] then
    return fail.argument(caller .. " has no gradient without a matrix, whose transpose it needs",
      "symmetric operators are for rg.solve.cg and minres", "kernel.unsupported")
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
