--- `rg.check_gradient` and `kernel:check_gradient`: gradients compared with difference quotients.
local fail = require "regolith.error"
local field = require "regolith.data.field"
local kernel = require "regolith.kernel"
local launch = require "regolith.kernel.gradient.launch"
local numbers = require "regolith.kernel.gradient.numbers"
local Tape = require "regolith.kernel.gradient.tape"
local uses = require "regolith.kernel.gradient.uses"

local check = {}

local Report = { __regolith = "a report about gradients" }
function Report:__tostring()
  if not self.field then return "no element was compared" end
  local worst = ("worst of %d elements: %s[%s]: gradient %.9g, difference quotient %.9g \z
    (relative error %.2g)"):format(self.count, self.name,
      table.concat(self.index, "]["), self.gradient, self.difference, self.error)
  if #self.without == 0 or self.error < 0.05 then return worst end
  return ("%s; no gradient passes through %s, which launches write to and which have none"):format(
    worst, table.concat(self.without, ", "))
end

-- Fields that the launches of a tape write floats to, and that have no gradient, as text.
local function without_gradient(tape)
  local list = {}
  for _, save in pairs(tape.initial) do
    if not field.gradient(save.x) and uses.have_floats(save.x.type) then
      list[#list + 1] = tostring(save.x)
    end
  end
  table.sort(list)
  return list
end

-- Copies of fields before f ran first. An array stays as f left it: what the toolbox builds on
-- first use, as the rows of a matrix, is in arrays, and f does not build it again.
local function initial_fields(tape)
  local initial = {}
  for key, save in pairs(tape.initial) do
    if field.is(save.x) then initial[key] = save
    else tape:drop_shadow(save.x, save.shadow) end
  end
  return initial
end

local function sum_of(loss)
  local sum = 0
  for _, cell in ipairs(numbers.cells(loss)) do
    for _, v in ipairs(numbers.get(loss, cell)) do sum = sum + v end
  end
  return sum
end

local function is_f64(x)
  return tostring(x.type):find "64" ~= nil or x.type.name:find "^d" ~= nil
end

-- `ulp`: the loss's unit roundoff. A sum whose order changes from launch to launch is off by a few
-- of them, and so is the quotient: what both differ by is an error only beyond that.
local function compare(report, x, name, cell, element, k, evaluate, step, ulp)
  local slope = numbers.get(x.grad, cell)[k]
  local v, h = element[k], step * math.max(1, math.abs(element[k]))
  local function at(moved)
    return evaluate(function()
      element[k] = moved
      numbers.set(x, cell, element)
      element[k] = v
    end)
  end
  local above, below = at(v + h), at(v - h)
  local difference = (above - below) / (2 * h)
  local rounding = 4 * ulp * math.max(math.abs(above), math.abs(below)) / h
  local size = math.max(math.abs(slope), math.abs(difference), report.least)
  local relative = (math.abs(slope - difference) - rounding) / size
  if relative < 0 then relative = 0 end -- (NaN stays NaN)
  report.count = report.count + 1
  if report.field and relative <= report.error then return end
  report.field, report.name, report.index, report.error = x, name, cell, relative
  report.gradient, report.difference = slope, difference
end

local check_options = { "samples", "step", "least" }

local function check_check_options(options)
  options = fail.options(options, check_options, "rg.check_gradient")
  for _, name in ipairs(check_options) do
    local v = options[name]
    if v ~= nil and (type(v) ~= "number" or not (v > 0 and v < math.huge)) then
      return fail.option(options, name, "rg.check_gradient", "a positive number")
    end
  end
  return options
end

-- -- what is differentiated ----------------------------------------------------------------------

-- The sum of a loss.
local function goal_of(loss)
  return { begin = function(tape) tape:begin(loss) end, value = function() return sum_of(loss) end,
    ulp = is_f64(loss) and 2^-52 or 2^-23 }
end

local most_terms = 500 -- of each field

-- A sum of elements of these fields, each with a weight of its own, so that errors do not cancel.
local function goal_of_elements(fields)
  local goal, terms = { ulp = 2^-52 }, {}
  for _, x in ipairs(fields) do
    if not is_f64(x) then goal.ulp = 2^-23 end
    for number, cell in ipairs(numbers.cells(x, most_terms)) do
      local weights = {}
      for k = 1, #numbers.get(x, cell) do weights[k] = 1 + 0.5 * math.sin(7 * number + 3 * k) end
      terms[#terms + 1] = { x = x, cell = cell, weights = weights }
    end
  end
  function goal.begin(tape)
    for _, x in ipairs(fields) do tape.used[uses.key_of(x)] = false end
    tape:clear_gradients()
    for _, term in ipairs(terms) do numbers.set(term.x.grad, term.cell, term.weights) end
  end
  function goal.value()
    local sum = 0
    for _, term in ipairs(terms) do
      local element = numbers.get(term.x, term.cell)
      for k, weight in ipairs(term.weights) do sum = sum + weight * element[k] end
    end
    return sum
  end
  return goal
end

-- -- all of it ------------------------------------------------------------------------------------

-- Records f, with the same random numbers each time; `prepare(tape)` returns the goal and the
-- fields whose elements are moved, a list of { x =, name = }. Leaves all fields as f leaves them.
local function run(session, f, options, prepare)
  if kernel.is_recording() then
    return fail.argument("check_gradient cannot be called inside a derivative")
  end
  local number = session:get()
  local streams = launch.streams(number)
  local function run_again()
    launch.resume(number, streams)
    f()
  end
  local tape = Tape.record(session, run_again, { keeps_initial = true })
  local goal, moved = prepare(tape)
  local without, initial = without_gradient(tape), initial_fields(tape)
  for _, one in ipairs(moved) do
    local key = uses.key_of(one.x)
    initial[key] = initial[key] or { x = one.x, shadow = tape:take_shadow(one.x) }
  end
  Tape.restore(initial)
  local again = Tape.record(session, run_again)
  goal.begin(again)
  again:run_backwards()
  local function evaluate(move)
    Tape.restore(initial)
    move()
    run_again()
    return goal.value()
  end
  local report = setmetatable({ count = 0, error = 0, least = options.least or 1e-3,
    without = without }, Report)
  for _, one in ipairs(moved) do
    local x = one.x
    local step = options.step or (is_f64(x) and 1e-5 or 1e-2)
    Tape.restore(initial)
    for _, cell in ipairs(numbers.cells(x, options.samples or 20)) do
      Tape.restore(initial)
      local element = numbers.get(x, cell)
      for k = 1, #element do
        compare(report, x, one.name, cell, element, k, evaluate, step, goal.ulp)
      end
    end
  end
  Tape.restore(initial)
  run_again()
  return report
end

--- `rg.check_gradient(loss, f, { x, y }, options)`: compares the gradients of elements of x and y
--- with central differences: of f's launches with an element a little larger, and a little smaller.
--- Returns a report of the element that differs most; its `error` is relative. The elements are
--- those that x and y have when it is called; what f itself writes to them from Lua is not moved.
function check.run(session, loss, f, fields, options)
  if type(f) ~= "function" or type(fields) ~= "table" or not field.is(fields[1]) then
    return fail.argument("rg.check_gradient takes a loss, a function and a list of fields",
      "rg.check_gradient(loss, function() step() end, { x })")
  end
  options = check_check_options(options)
  return run(session, f, options, function()
    local moved = {}
    for place, x in ipairs(fields) do
      moved[place] = { x = x, name = x.name ~= "" and x.name or ("fields[%d]"):format(place) }
    end
    return goal_of(loss), moved
  end)
end

-- By their keys, so that runs of a script compare in one order.
local function in_order(by_key)
  local keys, list = {}, {}
  for key in pairs(by_key) do keys[#keys + 1] = key end
  table.sort(keys)
  for k, key in ipairs(keys) do list[k] = by_key[key] end
  return list
end

--- `kernel:check_gradient(..)`: the same for one launch: all elements that it writes, by those of
--- all fields with gradients that it uses.
function check.run_launch(session, launch_it)
  return run(session, launch_it, {}, function(tape)
    local written, moved = {}, {}
    for _, save in ipairs(in_order(tape.initial)) do
      if field.is(save.x) and field.gradient(save.x) then written[#written + 1] = save.x end
    end
    for k, x in ipairs(in_order(tape.fields)) do
      moved[k] = { x = x, name = x.name ~= "" and x.name or tostring(x) }
    end
    if #written == 0 then
      return fail.argument("the launch writes to no field that has a gradient: there is nothing "
        .. "to check", "rg.field(rg.f32, n, { grad = true })")
    end
    return goal_of_elements(written), moved
  end)
end

return check
