--- The backward pass with few copies: all fields that launches write are copied before a few
--- launches, and launches run again from there. Griewank, Walther: Algorithm 799, revolve, 2000.
local launch = require "regolith.kernel.gradient.launch"
local Tape = require "regolith.kernel.gradient.tape"

local checkpoints = {}

-- Copies of all fields that launches write.
local function copy_state(tape)
  local copies = {}
  for key, save in pairs(tape.initial) do
    copies[key] = { x = save.x, shadow = tape:take_shadow(save.x) }
  end
  return copies
end

local function forward(tape, first, last)
  for number = first, last do
    local entry = tape.entries[number]
    if entry.again then entry.again() else launch.run(entry.primal) end
    tape.runs = tape.runs + 1
  end
end

-- Runs launch `number` once more, from the state before it, and then its adjoint.
local function step_back(tape, number)
  local entry, before = tape.entries[number], {}
  for _, use in ipairs(entry.uses) do
    local key = use.key
    if use.before then
      before[key] = before[key] or { x = use.x, shadow = tape:take_shadow(use.x) }
    end
  end
  forward(tape, number, number)
  Tape.restore(before)
  tape:drop(before)
  tape:reverse(number)
  tape:say()
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

-- Reverses the launches from `first` to `last`. The fields are in the state before `first`, of
-- which `saved` is a copy; `count` more states may be kept.
local function revolve(tape, first, last, count, saved)
  while last > first and count > 0 do
    local middle = first + distance_to_next(last - first + 1, count + 1)
    forward(tape, first, middle - 1)
    local copies = copy_state(tape)
    revolve(tape, middle, last, count - 1, copies)
    tape:drop(copies)
    Tape.restore(saved)
    last = middle - 1
  end
  for number = last, first, -1 do
    if number < last then Tape.restore(saved) end
    forward(tape, first, number - 1)
    step_back(tape, number)
  end
end

--- Runs the adjoints of a tape with copies of at most `count` states.
function checkpoints.run(tape, count)
  local final = copy_state(tape)
  Tape.restore(tape.initial)
  if #tape.entries > 0 then revolve(tape, 1, #tape.entries, count - 1, tape.initial) end
  tape:drop(tape.initial)
  Tape.restore(final)
  tape:drop(final)
end

return checkpoints
