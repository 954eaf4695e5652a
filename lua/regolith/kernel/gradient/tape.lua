--- The tape of rg.grad: records the launches of a function, copies what their adjoints will need,
--- and runs the adjoints backwards.
---
--- An adjoint launch (kernel:grad) reads elements again. They may have been overwritten since, by a
--- later launch or by its own. So before a launch that overwrites needed elements, their field is
--- copied, and restored when the backward pass reaches that launch. Elements that no
--- later launch overwrites cost nothing: fields with an axis for time are never copied, a field
--- that each step overwrites is copied once per step. The core says which launch uses what.
local fail = require "regolith.error"
local kernel = require "regolith.kernel"
local array = require "regolith.data.array"
local bulk = require "regolith.data.bulk"
local Direction = require "regolith.kernel.gradient.direction"
local field = require "regolith.data.field"
local launch = require "regolith.kernel.gradient.launch"
local losses = require "regolith.kernel.gradient.losses"
local numbers = require "regolith.kernel.gradient.numbers"
local shadow = require "regolith.data.shadow"
local slices = require "regolith.kernel.gradient.slices"
local subject = require "regolith.data.subject"
local uses = require "regolith.kernel.gradient.uses"
local pcall = pcall

-- -- copies of fields ----------------------------------------------------------------------------

local Tape = {}
Tape.__index = Tape

-- Shadows that no tape uses now, by their field's handle, kept because making a tree takes longer
-- than copying a small field. They are freed with the handle.
local spares = setmetatable({}, { __mode = "k" })

local function spares_of(x)
  spares[x] = spares[x] or {}
  return spares[x]
end

local function new_tape(session)
  return setmetatable({ session = session, entries = {},
    needed = {}, -- by field: the elements that adjoints of recorded launches read
    fields = {}, -- by field: its handle, if it has a gradient
    used = {}, -- by field: the entries that use its gradient (slices.lua)
    due = {}, -- by entry: what clears gradients before its adjoint
    lost = {}, -- by field: where values were written that depend on fields with gradients
    latest = {}, -- by kernel: the last launch of its derivative
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

local function bytes_of(made)
  if sizes[made] then return sizes[made] end
  local count = 1
  if field.is(made) then return made:count() * made.type.size end
  for _, extent in ipairs(array.extents(made)) do count = count * extent end
  return count * made.type.size
end

local TOGETHER, MOST_BYTES = 16, 2 ^ 18 -- of a field whose further shadows share a tree

-- The second shadow of a small dense field is made with others, as there will be one per step.
local function new_shadow(session, x)
  local known = spares_of(x).bytes
  if known and known <= MOST_BYTES and field.is(x) then
    local list = shadow.several(session, x, TOGETHER)
    for k = 1, TOGETHER do sizes[list[k]] = known end
    for k = 2, TOGETHER do table.insert(spares_of(x), list[k]) end
    return list[1]
  end
  local made, is_dense = shadow.of(session, x)
  if is_dense then
    sizes[made] = bytes_of(made)
    spares_of(x).bytes = sizes[made]
  end
  return made
end

-- A copy of a field; `bytes` counts those in use.
function Tape:take_shadow(x)
  local made = table.remove(spares_of(x))
  if made then
    shadow.copy(made, x)
  else
    made = new_shadow(self.session, x)
    made:copy_from(x)
  end
  self.bytes = self.bytes + bytes_of(made)
  self.peak = math.max(self.peak, self.bytes)
  return made
end

function Tape:drop_shadow(x, made)
  self.bytes = self.bytes - bytes_of(made)
  table.insert(spares_of(x), made)
end

local nothing = {} -- shared by the many launches that save nothing

local function find_save(saved, key)
  for _, save in ipairs(saved) do
    if save.key == key then return save end
  end
end

-- Copies the fields whose elements the launch overwrites, and an adjoint needs.
function Tape:save(list)
  local saved = nothing
  for _, use in ipairs(list) do
    if (use.writes and self:is_needed(use)) or use.before then
      local save = find_save(saved, use.key)
      if not save then
        save = { x = use.x, key = use.key, shadow = self:take_shadow(use.x), before = false,
          reruns = false }
        saved = saved == nothing and {} or saved
        saved[#saved + 1] = save
      end
      save.before, save.reruns = save.before or use.before, save.reruns or use.reruns
    end
  end
  return saved
end

-- Copies what fields are before the first launch that writes to them.
function Tape:save_initial(list)
  for _, use in ipairs(list) do
    local key = use.key
    if use.writes and not self.initial[key] then
      self.initial[key] = { x = use.x, shadow = self:take_shadow(use.x) }
    end
  end
end

function Tape:note(entry)
  for _, save in ipairs(entry.saved) do self.needed[save.key] = nil end
  for _, use in ipairs(entry.uses) do
    if use.reads and not use.before then self:need(use) end
    if use.has_gradient then
      self.fields[use.key] = use.x
      slices.note(self.used, use, #self.entries + 1)
    end
  end
  table.insert(self.entries, entry)
end

-- -- recording -----------------------------------------------------------------------------------

-- Runs the launch, and records it if it succeeds.
function Tape:launch(...) return bulk.unrecorded(self.record_launch, self, ...) end

-- If the tape has a direction, a use of a field is also a use of its dual.
function Tape:with_duals(list)
  if not self.direction then return list end
  local all = {}
  for _, use in ipairs(list) do
    local dual = field.own_dual(use.x)
    all[#all + 1] = use
    all[#all + 1] = dual and { x = dual, key = uses.key_of(dual), has_gradient = false,
      reads = use.reads, before = use.before, writes = use.writes, reruns = use.reruns,
      first = use.first }
  end
  return all
end

-- An entry of a launch that a function with an adjoint of its own makes (rg.adjoint).
function Tape:entry_inside(of)
  local entry = { uses = {}, back = function() end }
  for number = 0, of.value_count - 1 do
    local x = of.last[number]
    if uses.has_elements(x) then
      local use = uses.whole(x)
      use.writes = true -- perhaps: only an adjoint would know, and the kernel may have none
      table.insert(entry.uses, use)
      self.inside[use.key] = x
    end
  end
  return entry
end

function Tape:entry_of(of)
  if self.inside then return self:entry_inside(of) end
  local adjoint = launch.derived(self.latest, of, self.direction and "second" or "adjoint")
  return { adjoint = adjoint, own_uses = adjoint.uses, uses = self:with_duals(adjoint.uses) }
end

-- The kernel that a launch of `of` runs.
function Tape:forward_of(of)
  return self.direction and kernel.compile_derived(of, "tangent") or of
end

local function refuse_logs(of, list)
  for _, use in ipairs(list) do
    if use.reruns then
      return fail.raise { code = "kernel.unsupported", file = of.chunk, line = of.line,
        message = ("the derivative needs elements of %s between writes of one launch, but \z
          rg.grad has the option log = false"):format(tostring(use.x)),
        hint = "write to another field, divide the kernel in two, or leave out log = false" }
    end
  end
end

function Tape:record_launch(of, _, values, count, out)
  local entry = self:entry_of(of)
  if self.refuses_logs then refuse_logs(of, entry.uses) end
  local streams = uses.draw(entry.uses) and launch.streams(of.runtime) or nil
  if entry.adjoint then entry.adjoint.streams = streams end
  if self.initial then self:save_initial(entry.uses) end
  if self.is_replayed then entry.primal, entry.saved = launch.of(self:forward_of(of)), {} end
  if entry.primal then entry.primal.streams = streams end
  entry.saved = entry.saved or self:save(entry.uses)
  local status = self.direction and self.direction:launch(of, out)
    or kernel.run(of, values, count, of.last, out)
  if status == 0 then
    self:note(entry)
    if entry.adjoint then losses.follow(self.lost, entry.own_uses, of.chunk) end
  end
  return status
end

-- b = b + a by a kernel.
local function add_fields(a, b)
  local s, to, lines = subject.of(a, "x:copy_from"), subject.of(b, "x:copy_from"), {}
  for k, leaf in ipairs(subject.leaves(a.type)) do
    local element = subject.element(to, "y", s) .. leaf.suffix
    lines[k] = ("%s = %s + %s"):format(element, element, subject.element(s, "x") .. leaf.suffix)
  end
  subject.kernel(s, "x:copy_from", ("function(x, y)\n%s\n%s\nend end"):format(
    subject.loop(s, "x"), table.concat(lines, "\n")))(a, b)
end

-- b = b + a, where a is the gradient of a copy of b's field. Without a compiler, as where modules
-- run, no kernel can be made for this, so Lua adds cell by cell.
local function add_gradient(a, b)
  local ok, problem = pcall(add_fields, a, b)
  if ok then return end
  local failure = fail.caught(problem)
  if type(failure) ~= "table" or failure.code ~= "library.missing" then error(problem, 0) end
  for _, cell in ipairs(numbers.cells(a)) do
    local sum, added = numbers.get(b, cell), numbers.get(a, cell)
    for k = 1, #sum do sum[k] = sum[k] + added[k] end
    numbers.set(b, cell, sum)
  end
end

-- The fields with gradients of x, a list; of one without a gradient it is empty.
function Tape:gradients_of(x)
  local gradient = field.gradient(x)
  return { gradient, gradient and self.direction and field.own_dual(gradient) or nil }
end

-- Records that a whole field is written, other than by a launch.
function Tape:write(x, from, again)
  local list, direction = { uses.whole(x) }, self.direction
  list[1].writes = true
  local y = field.is(from) and from or nil
  list[2] = y and uses.whole(y)
  local is_inside = self.inside ~= nil
  if is_inside then self.inside[list[1].key] = x end
  list = self:with_duals(list)
  local function back()
    local of_y = y and self:gradients_of(y) or {}
    for k, gradient in ipairs(is_inside and {} or self:gradients_of(x)) do
      if of_y[k] then add_gradient(gradient, of_y[k]) end
      Direction.clear(gradient)
    end
  end
  bulk.unrecorded(function()
    if self.initial then self:save_initial(list) end
    self:note { uses = list, back = back, saved = self.is_replayed and {} or self:save(list),
      again = function()
        if direction then direction:write(x, from) end
        again()
      end }
    if direction then direction:write(x, from) end
  end)
end

-- Records that g is called in the backward pass, when the fields in `inside` are as they are now.
function Tape:call_back(inside, g, args, count)
  local list = {}
  for _, x in pairs(inside) do
    local use = uses.whole(x)
    use.reads = true
    list[#list + 1] = use
  end
  self.calls_back = true
  self:note { uses = list, saved = {}, again = function() end,
    back = function() g(unpack(args, 1, count)) end }
end

--- Runs the adjoint of an entry.
function Tape:reverse(number)
  for _, clear in ipairs(self.due[number] or nothing) do clear() end
  local entry = self.entries[number]
  if entry.back then return entry.back() end
  return launch.run(entry.adjoint)
end

-- A sparse copy does not have cells that were activated later; these become zero.
local function put_back(x, made)
  if not sizes[made] then Direction.clear(x) end
  shadow.copy(x, made)
end

--- Restores fields from their copies.
function Tape.restore(saved)
  for _, save in pairs(saved) do put_back(save.x, save.shadow) end
end

-- Launches the adjoints, from the last to the first. Fields that are restored meanwhile have in the
-- end the contents that they had before.
function Tape:run_backwards()
  local now = {}
  for number = #self.entries, 1, -1 do
    local entry = self.entries[number]
    for _, save in ipairs(entry.saved) do
      now[save.key] = now[save.key] or { x = save.x, shadow = self:take_shadow(save.x) }
      if save.before then put_back(save.x, save.shadow) end
    end
    self:reverse(number)
    for _, save in ipairs(entry.saved) do
      if not save.before or save.reruns then put_back(save.x, save.shadow) end
      self:drop_shadow(save.x, save.shadow)
    end
    self:say()
  end
  Tape.restore(now)
  self:drop(now)
end

function Tape:drop(saved)
  for _, save in pairs(saved) do self:drop_shadow(save.x, save.shadow) end
end

function Tape:say()
  self.done = (self.done or 0) + 1
  if self.progress then self.progress(self.done, #self.entries) end
end

--- Calls f and records its launches; returns the tape, which is Tape.recording meanwhile. Members
--- of `as`: keeps_initial, if the tape copies the initial contents of fields; is_replayed, if it
--- can run launches again; refuses_logs, if no adjoint may log elements; direction, if launches run
--- their tangents, and the backward pass differentiates these.
function Tape.record(session, f, as)
  local tape = new_tape(session)
  as = as or {}
  Tape.recording, tape.refuses_logs, tape.direction = tape, as.refuses_logs, as.direction
  tape.initial, tape.is_replayed = as.keeps_initial and {}, as.is_replayed
  local before = kernel.record(function(...) return tape:launch(...) end)
  bulk.recorder = function(...) return tape:write(...) end
  local ok, why = pcall(f)
  bulk.recorder, Tape.recording = false, nil
  kernel.record(before)
  if not ok then error(why, 0) end
  return tape
end

-- Clears all gradients. A function of the user (rg.adjoint) may add to any of them, so none of them
-- can then be cleared slice by slice.
function Tape:clear_gradients()
  for key, x in pairs(self.fields) do
    local last = not self.calls_back and self.used[key]
    for _, gradient in ipairs(self:gradients_of(x)) do
      if not slices.clear(gradient, last, self.due) then Direction.clear(gradient) end
    end
  end
end

--- Gives the loss a gradient of ones, and all other fields of zeros.
function Tape:begin(loss)
  self.fields[uses.key_of(loss)], self.used[uses.key_of(loss)] = loss, false
  self:clear_gradients()
  loss.grad:fill(loss.type(1))
end

return Tape
