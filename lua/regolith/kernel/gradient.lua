--- Gradients of a whole simulation: `rg.grad(loss, f)` records the launches of f and runs their
--- adjoints backwards (gradient/tape.lua).
local fail = require "regolith.error"
local kernel = require "regolith.kernel"
local progress = require "regolith.progress"
local bulk = require "regolith.data.bulk"
local field = require "regolith.data.field"
local custom = require "regolith.kernel.custom"
local check = require "regolith.kernel.gradient.check"
local checkpoints = require "regolith.kernel.gradient.checkpoints"
local Direction = require "regolith.kernel.gradient.direction"
local Tape = require "regolith.kernel.gradient.tape"
local uses = require "regolith.kernel.gradient.uses"
local pcall = pcall

local gradient = {}

-- -- rg.grad --------------------------------------------------------------------------------------

local function check_loss(loss, caller)
  if not field.is(loss) then
    return fail.argument(caller .. " takes a field, the loss, and a function, not "
      .. fail.describe(loss), "loss = rg.field(rg.f32, 1, { grad = true })")
  end
  return loss.grad -- raises if there is none
end

-- rg.grad begins with a gradient of ones, rg.vjp with the one that the field has.
local function check_sum(loss, caller)
  check_loss(loss, caller)
  if not loss.type.members then return end
  return fail.argument(caller .. " takes a loss of numbers or vectors, not of structs",
    "loss = rg.field(rg.f32, 1, { grad = true })")
end

local function value_of(loss)
  local extents = loss.shape
  for _, size in pairs(extents) do
    if size ~= 1 then return end
  end
  local zeros = {}
  for axis in pairs(extents) do zeros[axis + 1] = 0 end
  return loss:get(unpack(zeros))
end

-- The gradient of the sum of `loss`, by the launches of the tape.
local function differentiate(tape, loss, count)
  tape:begin(loss)
  if count then checkpoints.run(tape, count) else tape:run_backwards() end
  return { launches = #tape.entries, repeated = tape.runs, bytes = tape.peak }
end

local grad_options = { "checkpoints", "log", "progress" }

local function check_grad_options(options, caller)
  options = fail.options(options, grad_options, caller)
  local count, shown = options.checkpoints, type(options.progress)
  if count ~= nil and (type(count) ~= "number" or count % 1 ~= 0 or count < 1) then
    return fail.option(options, "checkpoints", caller, "a whole number from 1")
  elseif shown ~= "nil" and shown ~= "function" and shown ~= "boolean" then
    return fail.option(options, "progress", caller, "a function, or true")
  end
  fail.typed_option(options, "log", "boolean", caller)
  return options
end

-- The function that is called after each step backwards: f itself or, for true, one that shows a
-- bar.
local function shown_by(f)
  if type(f) ~= "boolean" then return f end
  local line
  return f and function(done, total)
    if not line then
      line = progress.begin(total, "gradient")
      progress.advance(line)
    end
    progress.advance(line, done == total)
  end or nil
end

-- Records f and runs it backwards, from a gradient of ones. Returns the loss and, if options are
-- given, a report.
local function run_grad(session, loss, f, options, caller, direction)
  local has_options = options ~= nil
  options = check_grad_options(options, caller)
  local count = options.checkpoints
  local tape = Tape.record(session, f, { keeps_initial = count ~= nil, is_replayed = count ~= nil,
    refuses_logs = options.log == false, direction = direction })
  tape.progress = shown_by(options.progress)
  local report = differentiate(tape, loss, count)
  if has_options then return value_of(loss), report end
  return value_of(loss)
end

local function check_recorded(f, caller, form)
  if type(f) ~= "function" then
    return fail.argument(("%s takes the function whose launches it differentiates, not %s"):format(
      caller, fail.describe(f)), form)
  end
  if kernel.is_recording() then
    return fail.argument(caller .. " cannot be called inside another derivative",
      "rg.hvp computes second derivatives")
  end
end

--- `rg.grad(loss, f, options)`: runs f, then computes the gradient of the sum of `loss` with
--- respect to all elements of fields with gradients that its launches read: x.grad. With
--- `checkpoints = n` at most n copies of the fields that launches write are kept; `log = false`
--- refuses kernels whose adjoints log elements. Returns the loss, if it is one number; with options
--- also how many launches were recorded and repeated, and the largest size of all copies.
function gradient.grad(session, loss, f, options)
  check_sum(loss, "rg.grad")
  check_recorded(f, "rg.grad", "rg.grad(loss, function() step() measure() end)")
  return run_grad(session, loss, f, options, "rg.grad")
end

-- -- rg.vjp, rg.jvp -----------------------------------------------------------------------------

--- `rg.vjp(y, f)`: runs f, then its launches backwards, from the gradient that y has: x.grad
--- becomes the product of y.grad with the Jacobian of y.
function gradient.vjp(session, y, f)
  check_loss(y, "rg.vjp")
  check_recorded(f, "rg.vjp")
  local tape = Tape.record(session, f)
  tape.fields[uses.key_of(y)] = nil
  tape:clear_gradients()
  tape:run_backwards()
end

-- The fields whose duals are a direction.
local function check_fields(fields, caller, form)
  if type(fields) ~= "table" or #fields == 0 then
    return fail.argument(("%s takes a list of the fields whose duals are the direction, not %s")
      :format(caller, fail.describe(fields)), form)
  end
  for _, x in ipairs(fields) do
    if not field.is(x) then
      return fail.argument(("%s takes a list of fields, and one of them is %s"):format(caller,
        fail.describe(x)), form)
    end
    local _ = x.dual -- raises if there is none
  end
  return fields
end

--- `rg.jvp(f, { x, .. })`: runs f; each of its launches also computes how what it writes changes
--- with what it reads, along the direction that is in x.dual: afterwards y.dual is the product of
--- the Jacobian of y with it. With a list of fields, the duals of all others begin at zero.
function gradient.jvp(_, f, fields)
  check_recorded(f, "rg.jvp")
  if fields ~= nil then check_fields(fields, "rg.jvp", "rg.jvp(f, { x })") end
  local direction = Direction.new(fields)
  local before = kernel.record(function(of, _, _, _, out) return direction:launch(of, out) end)
  bulk.recorder = function(...) return direction:write(...) end
  local ok, why = pcall(f)
  bulk.recorder = false
  kernel.record(before)
  if not ok then error(why, 0) end
end

--- Whether rg.jvp is running.
function gradient.is_forward() return kernel.is_recording() and not Tape.recording end

-- -- rg.hvp ---------------------------------------------------------------------------------------

--- Raises unless x has what second derivatives need.
function gradient.check_second(x, caller)
  if x.grad and field.own_dual(x) then return end
  return fail.argument(("%s needs both a gradient and a dual of %s"):format(caller, tostring(x)),
    "make it with both: rg.field(rg.f32, n, { grad = true, dual = true })")
end

--- `rg.hvp(loss, f, { x, .. }, options)`: runs f, then computes the gradient of the sum of `loss`,
--- in x.grad, and how it changes along the direction that is in x.dual, in x.grad.dual: the product
--- of the Hessian with it. It goes back through the tangents of the launches of f, since the
--- gradient of a derivative along a direction is the derivative of the gradient along it. Options
--- and results are those of rg.grad.
function gradient.hvp(session, loss, f, fields, options)
  local form = "rg.hvp(loss, function() step() measure() end, { x })"
  check_sum(loss, "rg.hvp")
  gradient.check_second(loss, "rg.hvp")
  check_recorded(f, "rg.hvp", form)
  for _, x in ipairs(check_fields(fields, "rg.hvp", form)) do
    gradient.check_second(x, "rg.hvp")
  end
  return run_grad(session, loss, f, options, "rg.hvp", Direction.new(fields))
end

-- -- rg.adjoint -----------------------------------------------------------------------------------

local function finish(tape, inside, g, args, count, ok, ...)
  tape.inside = nil
  if not ok then error((...), 0) end
  tape:call_back(inside, g, args, count)
  return ...
end

--- `rg.adjoint(f, g)`: a function that calls f. Where rg.grad records it, the adjoints of its
--- launches do not run on the way back, and g is called instead, with the arguments of f.
function gradient.adjoint(f, g)
  if type(f) ~= "function" or type(g) ~= "function" then
    return fail.argument("rg.adjoint takes a function that launches kernels, and one that computes "
      .. "the gradients backwards", "rg.adjoint(forward, function(..) kernel:grad(..) end)")
  end
  return custom.set(function(...)
    local tape = Tape.recording
    if not tape or tape.inside then return f(...) end
    if tape.direction then
      return fail.argument("a function with an adjoint of its own (rg.adjoint) has no second "
        .. "derivative", nil, "kernel.unsupported")
    end
    local inside = {}
    tape.inside = inside
    return finish(tape, inside, g, { ... }, select("#", ...), pcall(f, ...))
  end, f, g)
end

--- `rg.check_gradient(loss, f, { x, y }, options)`: compares the gradients of elements of x and y
--- with central differences.
function gradient.check(session, loss, f, fields, options)
  check_sum(loss, "rg.check_gradient")
  return check.run(session, loss, f, fields, options)
end

return gradient
