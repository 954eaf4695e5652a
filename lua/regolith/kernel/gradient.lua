--- Gradients of a whole simulation: `rg.grad(loss, f)` records the launches of f and runs their
--- adjoints backwards.
---
--- An adjoint launch (kernel:grad) reads elements again. What it needs may have been overwritten
--- since, by a later launch or by its own. So before a launch that overwrites needed elements,
--- their field is copied, and put back when the adjoints have come to that launch. Elements that no
--- later launch overwrites cost nothing: fields with an axis for time are never copied, a field
--- that each step overwrites is copied once per step. The core says which launch uses what
--- (rg_kernel_gradient_use).
---
--- With checkpoints nothing is copied for a launch. All fields that launches write are copied at a
--- few of them, and launches run again from there: Griewank, Walther: Algorithm 799, revolve, 2000.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local kernel = require "regolith.kernel"
local bulk = require "regolith.data.bulk"
local field = require "regolith.data.field"
local matrix = require "regolith.data.matrix"
local shadow = require "regolith.data.shadow"
local subject = require "regolith.data.subject"
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

local function key_of(x) return tonumber(ffi.cast("intptr_t", x.rg_field)) end

-- The uses of one version of an adjoint, which all of its launches have in common.
local function describe_uses(adjoint, use)
  local list = { version = use.version }
  for number = 0, math.huge do
    lib.check(C.rg_kernel_gradient_use(adjoint.pointer, number, use), adjoint.runtime)
    if use.value < 0 then return list end
    list[#list + 1] = { value = use.value, reads = use.reads ~= 0, before = use.before ~= 0,
      writes = use.writes ~= 0, first = use.has_first ~= 0 and tonumber(use.first) or nil,
      added = use.first_value >= 0 and use.first_value or nil }
  end
end

-- What a launch with these values makes of such a use: the last launch's, if it is equal.
local function use_of(shared, adjoint, values)
  local x, first, latest = adjoint.last[shared.value], shared.first, shared.latest
  if first and shared.added then
    local added = whole_value(values, shared.added)
    first = added and first + added
  end
  if latest and rawequal(latest.x, x) and latest.first == first then return latest end
  shared.latest = field.is(x) and { x = x, key = key_of(x),
    has_gradient = field.gradient(x) ~= nil, reads = shared.reads, before = shared.before,
    writes = shared.writes, first = first } or nil
  return shared.latest
end

local described = setmetatable({}, { __mode = "k" }) -- by adjoint: what describe_uses returned
local first_use = ffi.new "RgGradientUse"

-- How an adjoint and its primal use elements: a list of { x =, key =, has_gradient =, reads =,
-- before =, writes =, first = }, where `first` is the one first index, or nil.
local function uses_of(adjoint, values)
  lib.check(C.rg_kernel_gradient_use(adjoint.pointer, 0, first_use), adjoint.runtime)
  local all = described[adjoint]
  if not all or all.version ~= first_use.version then
    all = describe_uses(adjoint, first_use)
    described[adjoint] = all
  end
  local list = {}
  for k = 1, #all do list[#list + 1] = use_of(all[k], adjoint, values) end
  return list
end

-- An element of type t whose numbers are all zero.
local function zero_of(t) return t.members and t() or t(0) end

-- -- the tape -------------------------------------------------------------------------------------

local Tape = {}
Tape.__index = Tape

-- Shadows that no tape uses, by their field's handle: making a tree takes longer than copying a
-- small field. They go with the handle.
local spares = setmetatable({}, { __mode = "k" })

local function spares_of(x)
  spares[x] = spares[x] or {}
  return spares[x]
end

local function new_tape(session)
  return setmetatable({ session = session, entries = {},
    needed = {}, -- by field: the elements that adjoints of recorded launches read
    fields = {}, -- by field: its handle, if it has a gradient
    bytes = 0, peak = 0, runs = 0,
  }, Tape)
end

function Tape:is_needed(use)
  local needed = self.needed[use.key]
  if not needed then return false end
  return needed.whole or use.first == nil or needed[use.first] == true
end

function Tape:need(use)
  local key = use.key
  self.needed[key] = self.needed[key] or {}
  self.needed[key][use.first == nil and "whole" or use.first] = true
end

local sizes = setmetatable({}, { __mode = "k" }) -- of dense shadows, in bytes

local function bytes_of(made) return sizes[made] or made:count() * made.type.size end

local function new_shadow(session, x)
  local made, is_dense = shadow.of(session, x)
  if is_dense then sizes[made] = bytes_of(made) end
  return made
end

-- A copy of a field; `bytes` counts those in use.
function Tape:take_shadow(x)
  local made = table.remove(spares_of(x)) or new_shadow(self.session, x)
  made:copy_from(x)
  self.bytes = self.bytes + bytes_of(made)
  self.peak = math.max(self.peak, self.bytes)
  return made
end

function Tape:drop_shadow(x, made)
  self.bytes = self.bytes - bytes_of(made)
  table.insert(spares_of(x), made)
end

-- Copies the fields whose elements the launch overwrites, and an adjoint needs.
function Tape:save(uses)
  local saved, by_key = {}, {}
  for _, use in ipairs(uses) do
    local key = use.key
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
    local key = use.key
    if use.writes and not self.initial[key] then
      self.initial[key] = { x = use.x, shadow = self:take_shadow(use.x) }
    end
  end
end

function Tape:note(entry)
  for _, save in ipairs(entry.saved) do self.needed[key_of(save.x)] = nil end
  for _, use in ipairs(entry.uses) do
    if use.reads and not use.before then self:need(use) end
    if use.has_gradient then self.fields[use.key] = use.x end
  end
  table.insert(self.entries, entry)
end

-- What a kernel is launched with now, to be launched with it again.
local function launch_of(of)
  local count = of.value_count
  local launch = { kernel = of, count = count, values = ffi.new("RgValue[?]", math.max(1, count)),
    keep = {} }
  ffi.copy(launch.values, of.values, ffi.sizeof "RgValue" * count)
  for number = 0, count - 1 do
    launch.keep[2 * number + 1], launch.keep[2 * number + 2] = of.last[number], of.vectors[number]
  end
  return launch
end

local result = ffi.new "RgValue"

local function run(launch)
  lib.check(C.rg_kernel_launch(launch.kernel.pointer, launch.values, launch.count, result),
    launch.kernel.runtime)
end

-- Calls f, whose own writes of whole fields are not recorded.
local function unrecorded(f, ...)
  local recorder = bulk.recorder
  bulk.recorder = false
  local ok, returned = pcall(f, ...)
  bulk.recorder = recorder
  if not ok then error(returned, 0) end
  return returned
end

-- Runs the launch, and records it if it succeeds.
function Tape:launch(...) return unrecorded(self.record_launch, self, ...) end

local function whole_use(x)
  return { x = x, key = key_of(x), has_gradient = field.gradient(x) ~= nil }
end

-- An entry of a launch that a function with an adjoint of its own makes (rg.adjoint).
function Tape:entry_inside(of)
  local entry = { uses = {}, back = function() end }
  for number = 0, of.value_count - 1 do
    local x = of.last[number]
    if field.is(x) then
      local use = whole_use(x)
      use.writes = true -- perhaps: the kernel need not have an adjoint that tells
      table.insert(entry.uses, use)
      self.inside[use.key] = x
    end
  end
  return entry
end

function Tape:entry_of(of)
  if self.inside then return self:entry_inside(of) end
  local adjoint = launch_of(kernel.compile_derived(of, "adjoint"))
  return { adjoint = adjoint, uses = uses_of(adjoint.kernel, adjoint.values) }
end

function Tape:record_launch(of, pointer, values, count, out)
  local entry = self:entry_of(of)
  if self.initial then self:save_initial(entry.uses) end
  if self.is_replayed then entry.primal, entry.saved = launch_of(of), {} end
  entry.saved = entry.saved or self:save(entry.uses)
  local status = C.rg_kernel_launch(pointer, values, count, out)
  if status == 0 then self:note(entry) end
  return status
end

-- y.grad = y.grad + x.grad, where x was copied from y.
local function add_gradient(x, y)
  local s, to = subject.of(x, "x:copy_from"), subject.of(y, "x:copy_from")
  local text = ("function(x, y)\n%s\n%s = %s + %s\nend end"):format(subject.loop(s, "x"),
    subject.element(to, "y", s), subject.element(to, "y", s), subject.element(s, "x"))
  subject.kernel(s, "x:copy_from", text)(x.grad, y.grad)
end

-- Records that a whole field is written, other than by a launch.
function Tape:write(x, from, again)
  local uses = { whole_use(x) }
  uses[1].writes = true
  local y = field.is(from) and from or nil
  uses[2] = y and whole_use(y)
  local is_inside = self.inside ~= nil
  if is_inside then self.inside[uses[1].key] = x end
  local function back()
    if is_inside or not field.gradient(x) then return end
    if y and field.gradient(y) then add_gradient(x, y) end
    x.grad:fill(zero_of(x.type))
  end
  unrecorded(function()
    if self.initial then self:save_initial(uses) end
    self:note { uses = uses, back = back, again = again,
      saved = self.is_replayed and {} or self:save(uses) }
  end)
end

-- Records that g is called on the way back, after which the fields in `inside` are as they are now.
function Tape:call_back(inside, g, args, count)
  local uses = {}
  for _, x in pairs(inside) do
    local use = whole_use(x)
    use.reads = true
    uses[#uses + 1] = use
  end
  self:note { uses = uses, saved = {}, again = function() end,
    back = function() g(unpack(args, 1, count)) end }
end

-- Runs the adjoint of an entry.
local function reverse(entry)
  if entry.back then return entry.back() end
  return run(entry.adjoint)
end

-- A sparse copy lacks cells that have been activated since; these become zero.
local function put_back(x, made)
  if not sizes[made] then x:fill(zero_of(x.type)) end
  x:copy_from(made)
end

local function restore(saved)
  for _, save in pairs(saved) do put_back(save.x, save.shadow) end
end

-- Launches the adjoints, from the last to the first. Fields that were put back on the way are, in
-- the end, what they were before.
function Tape:run_backwards()
  local now = {}
  for number = #self.entries, 1, -1 do
    local entry = self.entries[number]
    for _, save in ipairs(entry.saved) do
      local key = key_of(save.x)
      now[key] = now[key] or { x = save.x, shadow = self:take_shadow(save.x) }
      if save.before then put_back(save.x, save.shadow) end
    end
    reverse(entry)
    for _, save in ipairs(entry.saved) do
      if not save.before then put_back(save.x, save.shadow) end
      self:drop_shadow(save.x, save.shadow)
    end
    self:say()
  end
  restore(now)
  self:drop(now)
end


function Tape:drop(saved)
  for _, save in pairs(saved) do self:drop_shadow(save.x, save.shadow) end
end

function Tape:say()
  self.done = (self.done or 0) + 1
  if self.progress then self.progress(self.done, #self.entries) end
end

-- -- checkpoints ----------------------------------------------------------------------------------

-- Copies of all fields that launches write.
function Tape:copy_state()
  local copies = {}
  for key, save in pairs(self.initial) do
    copies[key] = { x = save.x, shadow = self:take_shadow(save.x) }
  end
  return copies
end

function Tape:forward(first, last)
  for number = first, last do
    local entry = self.entries[number]
    if entry.again then entry.again() else run(entry.primal) end
    self.runs = self.runs + 1
  end
end

-- Runs launch `number` once more, from the state before it, and then its adjoint.
function Tape:step_back(number)
  local entry, before = self.entries[number], {}
  for _, use in ipairs(entry.uses) do
    local key = use.key
    if use.before then
      before[key] = before[key] or { x = use.x, shadow = self:take_shadow(use.x) }
    end
  end
  self:forward(number, number)
  restore(before)
  self:drop(before)
  reverse(entry)
  self:say()
end

-- The binomial coefficient, or `most` if it is larger.
local function binomial(n, k, most)
  local value = 1
  for i = 1, k do
    value = value * (n - k + i) / i
    if value > most then return most end
  end
  return value
end

-- How many of `length` launches to run to the next checkpoint, if `copies` states may be kept.
local function distance_to_next(length, copies)
  local repeats = 1
  while binomial(copies + repeats, copies, length) < length do repeats = repeats + 1 end
  return length - math.min(length - 1, binomial(copies - 1 + repeats, copies - 1, length))
end

-- Reverses the launches from `first` to `last`. The fields are as before `first`, as `saved` says;
-- `count` more states may be kept.
function Tape:revolve(first, last, count, saved)
  while last > first and count > 0 do
    local middle = first + distance_to_next(last - first + 1, count + 1)
    self:forward(first, middle - 1)
    local copies = self:copy_state()
    self:revolve(middle, last, count - 1, copies)
    self:drop(copies)
    restore(saved)
    last = middle - 1
  end
  for number = last, first, -1 do
    if number < last then restore(saved) end
    self:forward(first, number - 1)
    self:step_back(number)
  end
end

function Tape:run_with_checkpoints(count)
  local final = self:copy_state()
  restore(self.initial)
  if #self.entries > 0 then self:revolve(1, #self.entries, count - 1, self.initial) end
  self:drop(self.initial)
  restore(final)
  self:drop(final)
end

function Tape:clear_gradients()
  for _, x in pairs(self.fields) do x.grad:fill(zero_of(x.type)) end
end

-- -- rg.grad --------------------------------------------------------------------------------------

local function check_loss(loss)
  if not field.is(loss) then
    return fail.argument("rg.grad takes a field, the loss, and a function, not "
      .. fail.describe(loss), "loss = rg.field(rg.f32, 1, { grad = true })")
  end
  return loss.grad -- raises if there is none
end

-- rg.grad begins with a gradient of ones, rg.vjp with that which there is.
local function check_sum(loss)
  check_loss(loss)
  if not loss.type.members then return end
  return fail.argument("rg.grad takes a loss of numbers or vectors, not of structs",
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

-- Calls f, recording launches; returns the tape.
local recording -- the tape of rg.grad and rg.vjp, while f runs

local function record(session, f, keeps_initial, is_replayed)
  local tape = new_tape(session)
  recording = tape
  tape.initial, tape.is_replayed = keeps_initial and {}, is_replayed
  local before = kernel.record(function(...) return tape:launch(...) end)
  bulk.recorder = function(...) return tape:write(...) end
  local ok, why = pcall(f)
  bulk.recorder, recording = false, nil
  kernel.record(before)
  if not ok then error(why, 0) end
  return tape
end

-- The gradient of the sum of `loss`, by the launches of the tape.
local function differentiate(tape, loss, checkpoints)
  tape.fields[key_of(loss)] = loss
  tape:clear_gradients()
  loss.grad:fill(loss.type(1))
  if checkpoints then tape:run_with_checkpoints(checkpoints) else tape:run_backwards() end
  return { launches = #tape.entries, repeated = tape.runs, bytes = tape.peak }
end

local grad_options = { "checkpoints", "progress" }

local function check_grad_options(options)
  if options == nil then return {} end
  if type(options) ~= "table" then
    return fail.argument("options of rg.grad must be a table, got " .. fail.describe(options))
  end
  fail.check_options(options, grad_options, "rg.grad")
  local count = options.checkpoints
  if count ~= nil and (type(count) ~= "number" or count % 1 ~= 0 or count < 1) then
    return fail.argument("option 'checkpoints' of rg.grad must be a whole number from 1, got "
      .. fail.describe(count), nil, "option.invalid")
  end
  if options.progress ~= nil and type(options.progress) ~= "function" then
    return fail.argument("option 'progress' of rg.grad must be a function, got "
      .. fail.describe(options.progress), nil, "option.invalid")
  end
  return options
end

--- `rg.grad(loss, f, options)`: runs f, then computes the gradient of the sum of `loss` with
--- respect to all elements of fields with gradients that its launches read: x.grad. With
--- `checkpoints = n` at most n copies of the fields that launches write are kept. Returns the loss,
--- if it is one number; with options also how many launches were recorded and repeated, and the
--- largest size of all copies.
function gradient.grad(session, loss, f, options)
  check_sum(loss)
  if type(f) ~= "function" then
    return fail.argument("rg.grad takes the function whose launches it differentiates, not "
      .. fail.describe(f), "rg.grad(loss, function() step() measure() end)")
  end
  local has_options = options ~= nil
  options = check_grad_options(options)
  if kernel.is_recording() then
    return fail.argument "rg.grad cannot be called inside rg.grad"
  end
  local count = options.checkpoints
  local tape = record(session, f, count ~= nil, count ~= nil)
  tape.progress = options.progress
  local report = differentiate(tape, loss, count)
  if has_options then return value_of(loss), report end
  return value_of(loss)
end

-- -- rg.vjp, rg.jvp -----------------------------------------------------------------------------

local function check_recorded(f, caller)
  if type(f) ~= "function" then
    return fail.argument(("%s takes the function whose launches it differentiates, not %s"):format(
      caller, fail.describe(f)))
  end
  if kernel.is_recording() then
    return fail.argument(caller .. " cannot be called inside another derivative")
  end
end

--- `rg.vjp(y, f)`: runs f, then its launches backwards, from the gradient that y has: x.grad
--- becomes the product of y.grad with the Jacobian of y.
function gradient.vjp(session, y, f)
  check_loss(y)
  check_recorded(f, "rg.vjp")
  local tape = record(session, f)
  tape.fields[key_of(y)] = nil
  tape:clear_gradients()
  tape:run_backwards()
end

-- Runs the tangent in place of the launch.
local function launch_tangent(of, _, _, _, out)
  local tangent = launch_of(kernel.compile_derived(of, "tangent"))
  return C.rg_kernel_launch(tangent.kernel.pointer, tangent.values, tangent.count, out)
end

--- `rg.jvp(f)`: runs f; each of its launches also computes how what it writes changes with what it
--- reads, along the direction that is in x.dual: afterwards y.dual is the product of the Jacobian
--- of y with it. x.dual is another name of x.grad.
function gradient.jvp(_, f)
  check_recorded(f, "rg.jvp")
  local before = kernel.record(launch_tangent)
  local ok, why = pcall(f)
  kernel.record(before)
  if not ok then error(why, 0) end
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
  return function(...)
    local tape = recording
    if not tape or tape.inside then return f(...) end
    local inside = {}
    tape.inside = inside
    return finish(tape, inside, g, { ... }, select("#", ...), pcall(f, ...))
  end
end

-- -- rg.check_gradient ----------------------------------------------------------------------------

local Report = { __regolith = "a report about gradients" }
function Report:__tostring()
  if not self.field then return "no element was compared" end
  local worst = ("worst of %d elements: %s[%s]: gradient %.9g, difference quotient %.9g \z
    (relative error %.2g)"):format(self.count, self.field.name ~= "" and self.field.name or "x",
      table.concat(self.index, "]["), self.gradient, self.difference, self.error)
  if #self.without == 0 or self.error < 0.05 then return worst end
  return ("%s; launches write to %s, without a gradient: none passes through"):format(worst,
    table.concat(self.without, ", "))
end

-- Fields that the launches of a tape write floats to, and that have no gradient, as text.
local function without_gradient(tape)
  local list = {}
  for _, save in pairs(tape.initial) do
    if not field.gradient(save.x) and gradient.has_floats(save.x.type) then
      list[#list + 1] = tostring(save.x)
    end
  end
  table.sort(list)
  return list
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
  for k = 0, samples - 1 do
    some[k + 1] = all[1 + math.floor(k * (#all - 1) / math.max(1, samples - 1))]
  end
  return some
end

-- Whether elements of type t have floats, or may have.
function gradient.has_floats(t)
  return t.members ~= nil or (t.element or t).name:find "^f" ~= nil
end

local function members_of(v)
  local t = matrix.type_of(v)
  return t and t.members
end

-- An element's floats as a list; those of a matrix row by row.
local function numbers_of(v, list)
  list = list or {}
  local members = members_of(v)
  if type(v) == "number" then
    list[#list + 1] = v
  elseif members then
    for _, one in ipairs(members) do
      if gradient.has_floats(one.type) then numbers_of(v[one.name], list) end
    end
  else
    for k = 0, #v - 1 do numbers_of(v[k], list) end
  end
  return list
end

-- An element with these numbers, in the form of `like`.
local function element_of(like, numbers, from)
  if type(like) == "number" then return numbers[from], from + 1 end
  local parts, members = {}, members_of(like)
  for _, one in ipairs(members or {}) do
    parts[one.name] = like[one.name]
    if gradient.has_floats(one.type) then
      parts[one.name], from = element_of(like[one.name], numbers, from)
    end
  end
  if members then return parts, from end
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

local function check_check_options(options)
  if options ~= nil and type(options) ~= "table" then
    return fail.argument("options of rg.check_gradient must be a table, got "
      .. fail.describe(options))
  end
  options = options or {}
  fail.check_options(options, check_options, "rg.check_gradient")
  for _, name in ipairs(check_options) do
    local v = options[name]
    if v ~= nil and (type(v) ~= "number" or not (v > 0 and v < math.huge)) then
      return fail.argument(("option '%s' of rg.check_gradient must be a positive number, got %s")
        :format(name, fail.describe(v)), nil, "option.invalid")
    end
  end
  return options
end

--- `rg.check_gradient(loss, f, { x, y }, options)`: compares the gradients of elements of x and y
--- with central differences: of f's launches with an element a little larger, and a little smaller.
--- Returns a report of the element that differs most; its `error` is relative. The elements are
--- those that x and y have when it is called; what f itself writes to them from Lua is not moved.
function gradient.check(session, loss, f, fields, options)
  check_sum(loss)
  if type(f) ~= "function" or type(fields) ~= "table" or not field.is(fields[1]) then
    return fail.argument("rg.check_gradient takes a loss, a function and a list of fields",
      "rg.check_gradient(loss, function() step() end, { x })")
  end
  options = check_check_options(options)
  local tape = record(session, f, true)
  local initial, without = tape.initial, without_gradient(tape)
  for _, x in ipairs(fields) do
    initial[key_of(x)] = initial[key_of(x)] or { x = x, shadow = tape:take_shadow(x) }
  end
  restore(initial)
  differentiate(record(session, f), loss)
  local function evaluate(move)
    restore(initial)
    move()
    f()
    return sum_of(loss)
  end
  restore(initial)
  local report = setmetatable({ count = 0, error = 0, least = options.least or 1e-3,
    without = without }, Report)
  for _, x in ipairs(fields) do
    local is_f64 = tostring(x.type):find "64" or x.type.name:find "^d"
    local step = options.step or (is_f64 and 1e-5 or 1e-2)
    for _, cell in ipairs(cells_of(x, options.samples or 20)) do
      restore(initial)
      local numbers = numbers_of(x:get(unpack(cell)))
      for k = 1, #numbers do
        compare(report, x, cell, numbers, k, evaluate, step)
      end
    end
  end
  restore(initial)
  f()
  return report
end

return gradient
