--- Optimisers over fields with gradients: `rg.optim.adam{ params = { x, y }, lr = 0.01 }`.
---
--- `opt:step()` moves the parameters against their gradients, `x.grad`, as rg.grad left them;
--- `opt:minimize(loss, f, { steps = n })` does both in a loop. What an optimiser keeps for each
--- element is a field of the same cells.
---     sgd      with momentum: Polyak 1964
---     adam     Kingma, Ba: Adam, a method for stochastic optimization, 2015
---     lbfgs    Nocedal: Updating quasi-Newton matrices with limited storage, 1980; steps are
---              shortened until the loss falls enough (Armijo)
---     newton   truncated: conjugate gradients solve for its step by products with the Hessian
---              (rg.hvp), until it curves down. Steihaug 1983; Dembo, Steihaug 1983
local fail = require "regolith.error"
local lib = require "regolith.lib"
local field = require "regolith.data.field"
local gradient = require "regolith.kernel.gradient"
local progress = require "regolith.progress"
local uses = require "regolith.kernel.gradient.uses"
local shadow = require "regolith.data.shadow"
local subject = require "regolith.data.subject"

local optim = {}

-- -- kernels over one parameter -------------------------------------------------------------------

-- Runs `line` for each number of the elements of x; in it X is the number, G that of the gradient,
-- A and B those of two other fields of the same cells. `numbers` are its parameters.
local function each(x, name, numbers, line, a, b, ...)
  local s = subject.of(x, name)
  local lines = { ("function(x, g, a, b%s)"):format(numbers ~= "" and ", " .. numbers or ""),
    subject.loop(s, "x") }
  for _, leaf in ipairs(subject.leaves(s.type)) do
    if leaf.type.name:find "^f" then
      local function of(what) return (subject.element(s, what) .. leaf.suffix) end
      lines[#lines + 1] = "do " .. line:gsub("%f[%w][XGAB]%f[%W]", { X = of "x", G = of "g",
        A = of "a", B = of "b" }) .. " end"
    end
  end
  lines[#lines + 1] = "end end"
  subject.kernel(s, name, table.concat(lines, "\n"))(x, x.grad, a or x.grad, b or x.grad, ...)
end

-- -- options --------------------------------------------------------------------------------------

local function check_params(options, names, caller)
  if type(options) ~= "table" then
    return fail.argument(caller .. " takes a table, not " .. fail.describe(options),
      caller .. "{ params = { x }, lr = 0.01 }")
  end
  fail.check_options(options, names, caller)
  local params = options.params
  if type(params) ~= "table" or #params == 0 then
    return fail.argument(caller .. " needs its parameters: a list of fields with gradients",
      caller .. "{ params = { x }, lr = 0.01 }")
  end
  for _, x in ipairs(params) do
    if not field.is(x) then
      return fail.argument(("%s: a parameter must be a field with a gradient, got %s"):format(
        caller, fail.describe(x)))
    end
    local _ = x.grad -- raises if there is none
  end
  return params
end

-- -- the common part ------------------------------------------------------------------------------

local Optimizer = { __regolith = "an optimizer" }
Optimizer.__index = Optimizer

local minimize_options = { "steps", "tolerance", "each", "checkpoints", "show" }

-- Raises if the runtime of the parameters has ended.
local function check_alive(self)
  local x = self.params[1]
  lib.check_pointer(x.rg_field, x.rg_runtime)
end

local function new(kind, session, params)
  return setmetatable({ kind = kind, session = session, params = params, count = 0,
    step = function(self, ...)
      check_alive(self)
      return kind.step(self, ...)
    end }, Optimizer)
end

function Optimizer:__tostring()
  return ("optimizer %s, %d steps"):format(self.kind.name, self.count)
end

local function check_minimize(options)
  local caller = "optimizer:minimize"
  if options ~= nil and type(options) ~= "table" then
    return fail.argument(("options of %s must be a table, got %s"):format(caller,
      fail.describe(options)))
  end
  options = options or {}
  fail.check_options(options, minimize_options, caller)
  fail.number_option(options, "steps", nil, caller)
  fail.number_option(options, "tolerance", nil, caller)
  if options.each ~= nil and type(options.each) ~= "function" then
    return fail.argument(("option 'each' of %s must be a function, got %s"):format(caller,
      fail.describe(options.each)), nil, "option.invalid")
  end
  local shown = options.show
  if shown and shown ~= true and not (type(shown) == "table" and shown.plot and shown.present) then
    return fail.argument(("option 'show' of %s must be true or a window, got %s"):format(caller,
      fail.describe(shown)), "show = rg.window()", "option.invalid")
  end
  return options
end

-- Shows how the loss falls, as the option `show` wants it: a function(value) that is called after
-- each step, and whose result is whether to go on; nil: it has ended.
local function display(shown, steps)
  if not shown then return function() return true end end
  if shown ~= true then
    return function(value)
      if not value then return false end
      shown:plot("loss", value)
      return shown:present()
    end
  end
  local line = progress.begin(steps, "loss")
  return function(value)
    progress.advance(line, value == nil, value and ("loss %.4g"):format(value))
    return true
  end
end

--- Calls rg.grad(loss, f) and steps, `steps` times, or until the loss falls by less than
--- `tolerance` of itself. `each(k, value)` is called after each step; true ends the loop. `show`:
--- true, a line with the progress; a window, in which the loss is plotted until it is closed.
--- Returns the losses.
function Optimizer:minimize(loss, f, options)
  check_alive(self)
  options = check_minimize(options)
  local values, steps = {}, options.steps or 100
  local show = display(options.show, steps)
  for k = 1, steps do
    local value = self.known -- of this very place, with its gradients
      or gradient.grad(self.session, loss, f, { checkpoints = options.checkpoints })
    if type(value) ~= "number" then
      return fail.argument(("optimizer:minimize takes a loss of one number, not %s"):format(
        tostring(loss)), "loss = rg.field(rg.f32, 1, { grad = true })")
    end
    values[k], self.known = value, nil
    if value ~= value then
      return fail.raise { code = "value.not_finite",
        message = ("the loss is not a number after %d step%s"):format(k - 1, k == 2 and "" or "s"),
        hint = "try a smaller lr; rg.check_gradient compares the gradient with differences" }
    end
    self:step(loss, f, value)
    if options.each and options.each(k, value) then break end
    if not show(value) then break end
    local last = values[k - 1]
    if last and options.tolerance and last - value >= 0
      and last - value <= options.tolerance * math.abs(last) then break end
  end
  show(nil)
  return values
end

-- -- sgd, adam ------------------------------------------------------------------------------------

local sgd = { name = "sgd" }

function sgd.step(self)
  for k, x in ipairs(self.params) do
    each(x, "optimizer:step", "lr, momentum", "A = momentum * A + G; X = X - lr * A",
      self.velocity[k], nil, self.lr, self.momentum)
  end
  self.count = self.count + 1
end

--- `rg.optim.sgd{ params =, lr = 0.01, momentum = 0 }`
function optim.sgd(session, options)
  local caller = "rg.optim.sgd"
  local self = new(sgd, session, check_params(options, { "params", "lr", "momentum" }, caller))
  self.lr = fail.number_option(options, "lr", 0.01, caller)
  self.momentum = fail.number_option(options, "momentum", 0, caller)
  self.velocity = {}
  for k, x in ipairs(self.params) do self.velocity[k] = shadow.of(session, x) end
  return self
end

local adam = { name = "adam" }

function adam.step(self)
  self.count = self.count + 1
  local first, second = 1 - self.beta1 ^ self.count, 1 - self.beta2 ^ self.count
  for k, x in ipairs(self.params) do
    each(x, "optimizer:step", "rate, b1, b2, second, epsilon", "A = b1 * A + (1 - b1) * G; \z
      B = b2 * B + (1 - b2) * G * G; X = X - rate * A / (math.sqrt(B / second) + epsilon)",
      self.mean[k], self.square[k], self.lr / first, self.beta1, self.beta2, second, self.epsilon)
  end
end

--- `rg.optim.adam{ params =, lr = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 }`
function optim.adam(session, options)
  local caller = "rg.optim.adam"
  local self = new(adam, session, check_params(options, { "params", "lr", "beta1", "beta2",
    "epsilon" }, caller))
  self.lr = fail.number_option(options, "lr", 0.001, caller)
  self.beta1 = fail.number_option(options, "beta1", 0.9, caller)
  self.beta2 = fail.number_option(options, "beta2", 0.999, caller)
  self.epsilon = fail.number_option(options, "epsilon", 1e-8, caller)
  self.mean, self.square = {}, {}
  for k, x in ipairs(self.params) do
    self.mean[k], self.square[k] = shadow.of(session, x), shadow.of(session, x)
  end
  return self
end

-- -- L-BFGS ---------------------------------------------------------------------------------------
-- A vector is a list of fields, one per parameter.

local lbfgs = { name = "lbfgs" }

-- The sum of the products of all floats of two fields, or of two views of members.
local function dot_of(x, y, t)
  if not t.members then return x:dot(y) end
  local sum = 0
  for _, one in ipairs(t.members) do
    if uses.have_floats(one.type) then
      sum = sum + dot_of(x:member(one.name), y:member(one.name), one.type)
    end
  end
  return sum
end

local function dot(a, b)
  local sum = 0
  for k = 1, #a do sum = sum + dot_of(a[k], b[k], a[k].type) end
  return sum
end

-- a = by * a + times * b
local function combine(self, a, by, times, b)
  for k, x in ipairs(self.params) do
    each(x, "optimizer:step", "by, times", "A = by * A + times * B", a[k], b[k], by, times)
  end
end

local function gradients_of(self)
  local list = {}
  for k, x in ipairs(self.params) do list[k] = x.grad end
  return list
end

local function copies(self, of)
  local list = {}
  for k, x in ipairs(self.params) do
    list[k] = shadow.of(self.session, x)
    if of then list[k]:copy_from(of[k]) end
  end
  return list
end

-- The direction of descent: minus the inverse Hessian, as the history knows it, times the gradient.
local function find_direction(self, slope)
  local direction, weights = copies(self, slope), {}
  for k = #self.history, 1, -1 do
    local pair = self.history[k]
    weights[k] = dot(pair.moved, direction) / pair.curvature
    combine(self, direction, 1, -weights[k], pair.bent)
  end
  local last = self.history[#self.history]
  local scale = last and last.curvature / dot(last.bent, last.bent)
    or self.lr / math.max(1e-12, math.sqrt(dot(slope, slope)))
  combine(self, direction, scale, 0, slope)
  for k = 1, #self.history do
    local pair = self.history[k]
    combine(self, direction, 1, weights[k] - dot(pair.bent, direction) / pair.curvature, pair.moved)
  end
  combine(self, direction, -1, 0, slope)
  return direction
end

local function remember(self, moved, bent)
  local curvature = dot(moved, bent)
  if curvature <= 1e-12 * dot(bent, bent) then return end
  table.insert(self.history, { moved = moved, bent = bent, curvature = curvature })
  if #self.history > self.size then table.remove(self.history, 1) end
end

local most_halvings = 20

-- Moves the parameters along a direction, halved until the loss falls enough; returns how far.
local function search(self, loss, f, value, direction, descent)
  local start, length = copies(self, self.params), 1
  for _ = 1, most_halvings do
    for k, x in ipairs(self.params) do x:copy_from(start[k]) end
    combine(self, self.params, 1, length, direction)
    self.known = gradient.grad(self.session, loss, f)
    if self.known <= value + 1e-4 * length * descent then break end
    length = length / 2
  end
  return length
end

local function check_loss(self, f)
  if f then return end
  return fail.argument(("rg.optim.%s evaluates the loss itself"):format(self.kind.name),
    "opt:minimize(loss, f, { steps = n })")
end

function lbfgs.step(self, loss, f, value)
  check_loss(self, f)
  local slope = copies(self, gradients_of(self))
  local direction = find_direction(self, slope)
  local descent = dot(direction, slope)
  if descent >= 0 then -- the history misleads: the gradient itself
    self.history = {}
    direction = find_direction(self, slope)
    descent = dot(direction, slope)
  end
  local length = search(self, loss, f, value, direction, descent)
  combine(self, direction, length, 0, slope)
  local bent = copies(self, gradients_of(self))
  combine(self, bent, 1, -1, slope)
  remember(self, direction, bent)
  self.count = self.count + 1
end

--- `rg.optim.lbfgs{ params =, history = 10, lr = 1 }`: `lr` is the length of the first step. Only
--- opt:minimize(loss, f) steps, since it evaluates the loss.
function optim.lbfgs(session, options)
  local caller = "rg.optim.lbfgs"
  local self = new(lbfgs, session, check_params(options, { "params", "history", "lr" }, caller))
  self.size = fail.number_option(options, "history", 10, caller)
  self.lr = fail.number_option(options, "lr", 1, caller)
  self.history = {}
  return self
end

-- -- Newton ---------------------------------------------------------------------------------------

local newton = { name = "newton" }

-- The Hessian times a direction.
local function bend(self, loss, f, direction)
  local list = {}
  for k, x in ipairs(self.params) do x.dual:copy_from(direction[k]) end
  gradient.hvp(self.session, loss, f, self.params)
  for k, x in ipairs(self.params) do list[k] = x.grad.dual end
  return list
end

-- The solution d of H d = -slope, as far as the Hessian curves up, and as well as is worthwhile.
local function find_newton(self, loss, f, slope)
  local d, rest = copies(self), copies(self, slope)
  combine(self, rest, -1, 0, slope)
  local p, square = copies(self, rest), dot(rest, rest)
  local goal = square * math.min(0.25, math.sqrt(square))
  for number = 1, self.iterations do
    local bent = bend(self, loss, f, p)
    local curvature = dot(p, bent)
    if curvature <= 1e-14 * dot(p, p) or curvature ~= curvature then
      return number == 1 and p or d
    end
    local along = square / curvature
    combine(self, d, 1, along, p)
    combine(self, rest, 1, -along, bent)
    local following = dot(rest, rest)
    if following <= goal then break end
    combine(self, p, following / square, 1, rest)
    square = following
  end
  return d
end

function newton.step(self, loss, f, value)
  check_loss(self, f)
  self.count = self.count + 1
  local slope = copies(self, gradients_of(self))
  if dot(slope, slope) == 0 then return end
  local direction = find_newton(self, loss, f, slope)
  search(self, loss, f, value, direction, dot(direction, slope))
end

--- `rg.optim.newton{ params =, iterations = 50 }`: at most so many products with the Hessian for a
--- step. Parameters and what is between them and the loss have duals of their own.
function optim.newton(session, options)
  local caller = "rg.optim.newton"
  local params = check_params(options, { "params", "iterations" }, caller)
  for _, x in ipairs(params) do gradient.check_second(x, caller) end
  local self = new(newton, session, params)
  self.iterations = fail.number_option(options, "iterations", 50, caller)
  return self
end

return optim
