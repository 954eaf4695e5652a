--- Gradients of a whole simulation: `rg.grad(loss, f)` records the launches of f and runs their
--- adjoints backwards.
---
--- An adjoint launch (kernel:grad) reads elements again. What it needs may have been overwritten
--- since, by a later launch or by its own. So before a launch that overwrites needed elements,
--- their field is copied, and put back when the adjoints have come to that launch. Elements that no
--- later launch overwrites cost nothing: fields with an axis for time are never copied, a field
--- that each step overwrites is copied once per step. The core says which launch uses what
--- (rg_kernel_gradient_use).
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local kernel = require "regolith.kernel"
local field = require "regolith.data.field"
local shadow = require "regolith.data.shadow"
local pcall = pcall

local gradient = {}

local C = lib.C

-- -- what launches use ----------------------------------------------------------------------------

-- The whole number that a launch passes as value `number`; nil if it is none.
local function whole_value(values, number)
  local slot = values[number]
  if slot.kind == C.RG_VALUE_NUMBER and slot.number % 1 == 0 then return slot.number end
  if slot.kind == C.RG_VALUE_I64 then return tonumber(slot.i64) end
end

-- How an adjoint and its primal use elements: a list of { x =, reads =, before =, writes =,
-- first = }, where `first` is the one first index, or nil.
local function uses_of(adjoint, values)
  local list, use = {}, ffi.new "RgGradientUse"
  for number = 0, math.huge do
    lib.check(C.rg_kernel_gradient_use(adjoint.pointer, number, use), adjoint.runtime)
    if use.value < 0 then return list end
    local first = use.has_first ~= 0 and tonumber(use.first) or nil
    if first and use.first_value >= 0 then
      local added = whole_value(values, use.first_value)
      first = added and first + added
    end
    local x = adjoint.last[use.value]
    if field.is(x) then
      list[#list + 1] = { x = x, reads = use.reads ~= 0, before = use.before ~= 0,
        writes = use.writes ~= 0, first = first }
    end
  end
end

-- -- the tape -------------------------------------------------------------------------------------

local Tape = {}
Tape.__index = Tape

local function key_of(x) return tonumber(ffi.cast("intptr_t", x.rg_field)) end

-- Shadows that no tape uses, by their field's handle: making a tree takes longer than copying a
-- small field. They go with the handle.
local spares = setmetatable({}, { __mode = "k" })

local function spares_of(x)
  spares[x] = spares[x] or {}
  return spares[x]
end

local function drop_shadow(x, made) table.insert(spares_of(x), made) end

local function new_tape(session)
  return setmetatable({ session = session, entries = {},
    needed = {}, -- by field: the elements that adjoints of recorded launches read
    fields = {}, -- by field: its handle, if it has a gradient
  }, Tape)
end

function Tape:is_needed(use)
  local needed = self.needed[key_of(use.x)]
  if not needed then return false end
  return needed.whole or use.first == nil or needed[use.first] == true
end

function Tape:need(use)
  local key = key_of(use.x)
  self.needed[key] = self.needed[key] or {}
  self.needed[key][use.first == nil and "whole" or use.first] = true
end

function Tape:take_shadow(x)
  local made = table.remove(spares_of(x)) or shadow.of(self.session, x)
  made:copy_from(x)
  return made
end

-- Copies the fields whose elements the launch overwrites, and an adjoint needs.
function Tape:save(uses)
  local saved, by_key = {}, {}
  for _, use in ipairs(uses) do
    local key = key_of(use.x)
    if (use.writes and self:is_needed(use)) or use.before then
      if not by_key[key] then
        by_key[key] = { x = use.x, shadow = self:take_shadow(use.x), before = false }
        saved[#saved + 1] = by_key[key]
      end
      by_key[key].before = by_key[key].before or use.before
    end
  end
  return saved
end

-- Copies what fields are before the first launch that writes to them.
function Tape:save_initial(uses)
  for _, use in ipairs(uses) do
    local key = key_of(use.x)
    if use.writes and not self.initial[key] then
      self.initial[key] = { x = use.x, shadow = self:take_shadow(use.x) }
    end
  end
end

function Tape:note(entry)
  for _, save in ipairs(entry.saved) do self.needed[key_of(save.x)] = nil end
  for _, use in ipairs(entry.uses) do
    if use.reads and not use.before then self:need(use) end
    if field.gradient(use.x) then self.fields[key_of(use.x)] = use.x end
  end
  table.insert(self.entries, entry)
end

-- Runs the launch, and records it if it succeeds.
function Tape:launch(self_kernel, pointer, values, count, result)
  local adjoint = kernel.compile_adjoint(self_kernel)
  local entry = { adjoint = adjoint, values = ffi.new("RgValue[?]", math.max(1,
    adjoint.value_count)), keep = {}, vectors = {} }
  ffi.copy(entry.values, adjoint.values, ffi.sizeof "RgValue" * adjoint.value_count)
  for number = 0, adjoint.value_count - 1 do
    entry.keep[number], entry.vectors[number] = adjoint.last[number], adjoint.vectors[number]
  end
  entry.uses = uses_of(adjoint, entry.values)
  if self.initial then self:save_initial(entry.uses) end
  entry.saved = self:save(entry.uses)
  local status = C.rg_kernel_launch(pointer, values, count, result)
  if status == 0 then self:note(entry) end
  return status
end

local result = ffi.new "RgValue"

local function put_back(x, made)
  x:fill(x.type(0))
  x:copy_from(made)
end

-- Launches the adjoints, from the last to the first. Fields that were put back on the way are, in
-- the end, what they were before.
function Tape:run_backwards(progress)
  local now = {}
  for number = #self.entries, 1, -1 do
    local entry = self.entries[number]
    for _, save in ipairs(entry.saved) do
      local key = key_of(save.x)
      now[key] = now[key] or { x = save.x, shadow = self:take_shadow(save.x) }
      if save.before then put_back(save.x, save.shadow) end
    end
    lib.check(C.rg_kernel_launch(entry.adjoint.pointer, entry.values, entry.adjoint.value_count,
      result), entry.adjoint.runtime)
    for _, save in ipairs(entry.saved) do
      if not save.before then put_back(save.x, save.shadow) end
      drop_shadow(save.x, save.shadow)
    end
    self.entries[number] = nil
    if progress then progress() end
  end
  for _, save in pairs(now) do
    put_back(save.x, save.shadow)
    drop_shadow(save.x, save.shadow)
  end
end

function Tape:clear_gradients()
  for _, x in pairs(self.fields) do x.grad:fill(x.type(0)) end
end

-- -- rg.grad --------------------------------------------------------------------------------------

local function check_loss(loss)
  if not field.is(loss) then
    return fail.argument("rg.grad takes a field, the loss, and a function, not "
      .. fail.describe(loss), "loss = rg.field(rg.f32, 1, { grad = true })")
  end
  return loss.grad -- raises if there is none
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

-- Calls f, recording launches; returns the tape.
local function record(session, f, keeps_initial)
  local tape = new_tape(session)
  tape.initial = keeps_initial and {}
  local before = kernel.record(function(...) return tape:launch(...) end)
  local ok, why = pcall(f)
  kernel.record(before)
  if not ok then error(why, 0) end
  return tape
end

-- The gradient of the sum of `loss`, by the launches of the tape.
local function differentiate(tape, loss)
  tape.fields[key_of(loss)] = loss
  tape:clear_gradients()
  loss.grad:fill(loss.type(1))
  tape:run_backwards()
end

--- `rg.grad(loss, f)`: runs f, then computes the gradient of the sum of `loss` with respect to all
--- elements of fields with gradients that its launches read: x.grad. Returns the loss, if it is one
--- number.
function gradient.grad(session, loss, f)
  check_loss(loss)
  if type(f) ~= "function" then
    return fail.argument("rg.grad takes the function whose launches it differentiates, not "
      .. fail.describe(f), "rg.grad(loss, function() step() measure() end)")
  end
  if kernel.is_recording() then
    return fail.argument "rg.grad cannot be called inside rg.grad"
  end
  differentiate(record(session, f), loss)
  return value_of(loss)
end

-- -- rg.check_gradient ----------------------------------------------------------------------------

local Report = { __regolith = "a report about gradients" }
function Report:__tostring()
  if not self.field then return "no element was compared" end
  return ("worst of %d elements: %s[%s]: gradient %.9g, difference quotient %.9g \z
    (relative error %.2g)"):format(self.count, self.field.name ~= "" and self.field.name or "x",
      table.concat(self.index, "]["), self.gradient, self.difference, self.error)
end

-- At most `samples` of the active cells, evenly spaced: lists of indices.
local function cells_of(x, samples)
  local all = {}
  local function take(...)
    for k = 1, select("#", ...) do
      if select(k, ...) == nil then return end
    end
    all[#all + 1] = { ... }
  end
  local rank = C.rg_field_rank(x.rg_field)
  for a, b, c, d, e, f, g, h in x:active() do take(unpack({ a, b, c, d, e, f, g, h }, 1, rank)) end
  if #all <= samples then return all end
  local some = {}
  for k = 0, samples - 1 do some[k + 1] = all[1 + math.floor(k * (#all - 1) / (samples - 1))] end
  return some
end

-- An element's numbers as a list; those of a matrix row by row.
local function numbers_of(v, list)
  list = list or {}
  if type(v) == "number" then
    list[#list + 1] = v
  else
    for k = 0, #v - 1 do numbers_of(v[k], list) end
  end
  return list
end

-- An element with these numbers, in the form of `like`.
local function element_of(like, numbers, from)
  if type(like) == "number" then return numbers[from], from + 1 end
  local parts = {}
  for k = 0, #like - 1 do parts[k + 1], from = element_of(like[k], numbers, from) end
  return parts, from
end

local function put(x, cell, numbers)
  local at = { unpack(cell) }
  at[#at + 1] = (element_of(x:get(unpack(cell)), numbers, 1))
  x:set(unpack(at))
end

local function sum_of(loss)
  local sum = 0
  for _, cell in ipairs(cells_of(loss, math.huge)) do
    for _, v in ipairs(numbers_of(loss:get(unpack(cell)))) do sum = sum + v end
  end
  return sum
end

local function compare(report, x, cell, numbers, k, evaluate, step)
  local slope = numbers_of(x.grad:get(unpack(cell)))[k]
  local v, h = numbers[k], step * math.max(1, math.abs(numbers[k]))
  local function at(moved)
    return evaluate(function()
      numbers[k] = moved
      put(x, cell, numbers)
      numbers[k] = v
    end)
  end
  local difference = (at(v + h) - at(v - h)) / (2 * h)
  local size = math.max(math.abs(slope), math.abs(difference), report.least)
  local relative = math.abs(slope - difference) / size
  report.count = report.count + 1
  if report.field and relative <= report.error then return end
  report.field, report.index, report.error = x, cell, relative
  report.gradient, report.difference = slope, difference
end

local check_options = { "samples", "step", "least" }

--- `rg.check_gradient(loss, f, { x, y }, options)`: compares the gradients of elements of x and y
--- with central differences: of f's launches with an element a little larger, and a little smaller.
--- Returns a report of the element that differs most; its `error` is relative. The elements are
--- those that x and y have when it is called; what f itself writes to them from Lua is not moved.
function gradient.check(session, loss, f, fields, options)
  check_loss(loss)
  if type(f) ~= "function" or type(fields) ~= "table" or not field.is(fields[1]) then
    return fail.argument("rg.check_gradient takes a loss, a function and a list of fields",
      "rg.check_gradient(loss, function() step() end, { x })")
  end
  options = options or {}
  fail.check_options(options, check_options, "rg.check_gradient")
  local tape = record(session, f, true)
  local initial = tape.initial
  for _, x in ipairs(fields) do
    initial[key_of(x)] = initial[key_of(x)] or { x = x, shadow = tape:take_shadow(x) }
  end
  local function restore()
    for _, save in pairs(initial) do put_back(save.x, save.shadow) end
  end
  restore()
  differentiate(record(session, f), loss)
  local function evaluate(move)
    restore()
    move()
    f()
    return sum_of(loss)
  end
  restore()
  local report = setmetatable({ count = 0, error = 0, least = options.least or 1e-3 }, Report)
  for _, x in ipairs(fields) do
    local is_f64 = tostring(x.type):find "64" or x.type.name:find "^d"
    local step = options.step or (is_f64 and 1e-5 or 1e-2)
    for _, cell in ipairs(cells_of(x, options.samples or 20)) do
      local numbers = numbers_of(x:get(unpack(cell)))
      for k = 1, #numbers do
        compare(report, x, cell, numbers, k, evaluate, step)
      end
    end
  end
  restore()
  f()
  return report
end

return gradient
