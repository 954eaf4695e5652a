--- rg.solve.least_squares{ A =, b = }: the x that minimises |b - A x|, for matrices of any shape,
--- by LSQR (Paige, Saunders 1982). Of several such x, it is the one closest to the first guess.
local fail = require "regolith.error"
local lib = require "regolith.lib"
local krylov = require "regolith.toolbox.solve.krylov"
local operator = require "regolith.toolbox.solve.operator"
local space = require "regolith.toolbox.solve.space"

local least_squares = {}

local caller = "rg.solve.least_squares"
local option_names = { "A", "apply", "transpose", "x", "b", "tolerance", "damping", "iterations" }

-- Returns functions (from, to) that apply the operator, and its transpose.
local function operators_of(options)
  local A = options.A
  if A == nil then
    local hint = "apply = function(x, y) .. end writes A x into y, transpose(y, x) its transpose"
    return operator.check_callable(options.apply, "apply", caller, hint),
      operator.check_callable(options.transpose, "transpose", caller, hint)
  end
  local T = A:transpose()
  return function(x, y) A:apply_dot(x, y) end, function(y, x) T:apply_dot(y, x) end
end

-- v = v / |v|; returns |v|.
local function normalise(own, v)
  local length = math.sqrt(own:dot(v, v))
  if length > 0 then own:run("V = V / length", { V = v }, { length = length }) end
  return length
end

local function check(options)
  krylov.check_options(options, option_names, caller)
  local x = options.x
  if x == nil and options.A ~= nil then
    x = operator.check_matrix(options.A, caller):new_vector "column"
  end
  if x == nil or options.b == nil then
    return fail.argument(("%s needs '%s'"):format(caller, x == nil and "x" or "b"),
      caller .. "{ A = A, b = b }", "option.invalid")
  end
  local b = options.b
  if options.A ~= nil then
    local A = operator.check_matrix(options.A, caller):assemble()
    if type(b) == "table" and not getmetatable(b) then b = A:vector(b) end
    A:check_vector(x, "column", "x")
    A:check_vector(b, "row", "b")
  end
  return x, b
end

-- Computes the first vectors of both spaces: u from the residual, v from its image by the
-- transpose.
local function begin(options)
  local x, b = check(options)
  local self = { x = x, b = b, columns = space.of(x, caller), rows = space.of(b, caller),
    iterations = 0, size = 0, damped = 0,
    tolerance = fail.number_option(options, "tolerance", 1e-8, caller),
    limit = fail.number_option(options, "iterations", 10000, caller),
    damping = fail.number_option(options, "damping", 0, caller) }
  self.forward, self.back = operators_of(options)
  local rows, columns = self.rows, self.columns
  self.u, self.image = rows:vector "u", rows:vector "image"
  self.v, self.w, self.rest = columns:vector "v", columns:vector "w", columns:vector "rest"
  self.forward(x, self.image)
  self.scale = math.sqrt(rows:run("U = B - A s = s + <B, B>", { U = self.u, B = self.b,
    A = self.image }))
  self.phi = normalise(rows, self.u)
  self.back(self.u, self.v)
  self.alpha = normalise(columns, self.v)
  self.rho = self.alpha
  columns:copy(self.w, self.v)
  return self
end

-- Makes one step; returns the reason to end, or nil.
local function step(self)
  local rows, columns, damping = self.rows, self.columns, self.damping
  self.iterations = self.iterations + 1
  self.forward(self.v, self.image)
  rows:run("U = A - alpha * U", { U = self.u, A = self.image }, { alpha = self.alpha })
  local beta = normalise(rows, self.u)
  self.size = self.size + self.alpha ^ 2 + beta ^ 2 + damping ^ 2
  self.back(self.u, self.rest)
  columns:run("V = A - beta * V", { V = self.v, A = self.rest }, { beta = beta })
  self.alpha = normalise(columns, self.v)
  local level = math.sqrt(self.rho ^ 2 + damping ^ 2)
  self.damped = self.damped + (damping / level * self.phi) ^ 2
  local phi, length = self.rho / level * self.phi, math.sqrt(level ^ 2 + beta ^ 2)
  local c, s = level / length, beta / length
  columns:run("X = X + step * W W = V - turn * W", { X = self.x, W = self.w, V = self.v },
    { step = c * phi / length, turn = s * self.alpha / length })
  self.rho, self.phi = -c * self.alpha, s * phi
  local residual = math.sqrt(self.phi ^ 2 + self.damped)
  local gradient = self.alpha * math.abs(c) * math.abs(self.phi)
  if residual ~= residual then return "not finite" end
  if residual <= self.tolerance * self.scale
    or gradient <= self.tolerance * math.sqrt(self.size) * residual then return "converged" end
  if self.iterations >= self.limit then return "limit" end
end

--- LSQR. `damping` also keeps x small: it minimises |b - A x|^2 + damping^2 |x|^2.
function least_squares.solve(_, options)
  local begun, self = lib.C.rg_time(), begin(options)
  local first = self.alpha * self.phi
  local reason = first == 0 and "converged" or first ~= first and "not finite" or nil
  while not reason do reason = step(self) end
  self.forward(self.x, self.image)
  local square = self.rows:run("U = B - A s = s + <U, U>", { U = self.u, B = self.b,
    A = self.image })
  return krylov.report { method = "least_squares", iterations = self.iterations, reason = reason,
    x = self.x, residual = math.sqrt(square) / (self.scale > 0 and self.scale or 1),
    seconds = lib.C.rg_time() - begun }
end

return least_squares
