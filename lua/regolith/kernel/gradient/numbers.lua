--- The floats of single elements as lists, to compare or add them from Lua.
local lib = require "regolith.lib"
local matrix = require "regolith.data.matrix"
local uses = require "regolith.kernel.gradient.uses"

local numbers = {}

local C = lib.C

--- The active cells, or at most `samples` of them, evenly spaced: lists of indices.
function numbers.cells(x, samples)
  local all = {}
  local function take(...)
    for k = 1, select("#", ...) do
      if select(k, ...) == nil then return end
    end
    all[#all + 1] = { ... }
  end
  local rank = C.rg_field_rank(x.rg_field)
  for a, b, c, d, e, f, g, h in x:active() do take(unpack({ a, b, c, d, e, f, g, h }, 1, rank)) end
  if not samples or #all <= samples then return all end
  local some = {}
  for k = 0, samples - 1 do
    some[k + 1] = all[1 + math.floor(k * (#all - 1) / math.max(1, samples - 1))]
  end
  return some
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
      if uses.have_floats(one.type) then numbers_of(v[one.name], list) end
    end
  else
    for k = 0, #v - 1 do numbers_of(v[k], list) end
  end
  return list
end

-- An element with these numbers, in the form of `like`.
local function element_of(like, list, from)
  if type(like) == "number" then return list[from], from + 1 end
  local parts, members = {}, members_of(like)
  for _, one in ipairs(members or {}) do
    parts[one.name] = like[one.name]
    if uses.have_floats(one.type) then
      parts[one.name], from = element_of(like[one.name], list, from)
    end
  end
  if members then return parts, from end
  for k = 0, #like - 1 do parts[k + 1], from = element_of(like[k], list, from) end
  return parts, from
end

--- The floats of the element in a cell.
function numbers.get(x, cell) return numbers_of(x:get(unpack(cell))) end

--- Sets the floats of the element, and leaves its other members alone.
function numbers.set(x, cell, list)
  local at = { unpack(cell) }
  at[#at + 1] = (element_of(x:get(unpack(cell)), list, 1))
  x:set(unpack(at))
end

return numbers
