--- How launches use elements, which the core reports with their adjoints (rg_kernel_gradient_use).
local ffi = require "ffi"
local lib = require "regolith.lib"
local array = require "regolith.data.array"
local field = require "regolith.data.field"

local uses = {}

local C = lib.C

-- The whole number that a launch passes as value `number`; nil for other values.
local function whole_value(values, number)
  local slot = values[number]
  if slot.kind == C.RG_VALUE_NUMBER and slot.number % 1 == 0 then return slot.number end
  if slot.kind == C.RG_VALUE_I64 then return tonumber(slot.i64) end
end

--- Whether x has elements that launches may overwrite.
function uses.has_elements(x) return field.is(x) or array.is(x) end

--- A key for tables by field or array.
function uses.key_of(x)
  return tonumber(ffi.cast("intptr_t", array.is(x) and x.rg_array or x.rg_field))
end

-- The uses of one version of an adjoint, which all of its launches have in common.
local function describe_uses(adjoint, use)
  local list = { version = use.version }
  for number = 0, math.huge do
    lib.check(C.rg_kernel_gradient_use(adjoint.pointer, number, use), adjoint.runtime)
    if use.value < 0 then return list end
    list[#list + 1] = { value = use.value, reads = use.reads ~= 0, before = use.before ~= 0,
      writes = use.writes ~= 0, reruns = use.reruns ~= 0, draws = use.draws > 0,
      lost = use.lost_line > 0 and use.lost_line, wanted = use.wanted_line > 0 and use.wanted_line,
      first = use.has_first ~= 0 and tonumber(use.first) or nil,
      added = use.first_value >= 0 and use.first_value or nil }
  end
end

-- The one first index of a launch with these values.
local function first_of(shared, values)
  if not shared.first or not shared.added then return shared.first end
  local added = whole_value(values, shared.added)
  return added and shared.first + added
end

local function use_of(shared, x, first)
  return { x = x, key = uses.key_of(x), has_gradient = field.gradient(x) ~= nil,
    reads = shared.reads, before = shared.before, writes = shared.writes, reruns = shared.reruns,
    draws = shared.draws, lost = shared.lost, wanted = shared.wanted, first = first,
    shared = shared }
end

local described = setmetatable({}, { __mode = "k" }) -- by adjoint: what describe_uses returned
local first_use = ffi.new "RgGradientUse"

--- How an adjoint and its primal use elements: a list of { x =, key =, has_gradient =, reads =,
--- before =, writes =, reruns =, draws =, lost =, wanted =, first = }, where `first` is the one
--- first index, or nil; list.loses: one of them is `lost`.
function uses.of(adjoint, values)
  lib.check(C.rg_kernel_gradient_use(adjoint.pointer, 0, first_use), adjoint.runtime)
  local all = described[adjoint]
  if not all or all.version ~= first_use.version then
    all = describe_uses(adjoint, first_use)
    described[adjoint] = all
  end
  local list = { loses = false }
  for _, shared in ipairs(all) do
    local x = adjoint.last[shared.value]
    if uses.has_elements(x) then
      list[#list + 1] = use_of(shared, x, first_of(shared, values))
      list.loses = list.loses or shared.lost ~= false
    end
  end
  return list
end

--- Adapts `list` to another launch, which differs only in numbers.
function uses.move(list, values)
  for k = 1, #list do
    local use = list[k]
    if use.shared.added then use.first = first_of(use.shared, values) end
  end
end

--- The use of a whole field or array.
function uses.whole(x)
  return { x = x, key = uses.key_of(x), has_gradient = field.gradient(x) ~= nil }
end

--- Whether a launch with such uses draws random numbers.
function uses.draw(list)
  for _, use in ipairs(list) do
    if use.draws then return true end
  end
end

--- Whether elements of type t have floats, or may have.
function uses.have_floats(t)
  return t.members ~= nil or (t.element or t).name:find "^f" ~= nil
end

return uses
