--- Forward mode: a launch also computes derivatives along a direction, in the duals of the fields
--- that it writes to, and what is done to a whole field is done to its dual.
local bulk = require "regolith.data.bulk"
local field = require "regolith.data.field"
local kernel = require "regolith.kernel"
local launch = require "regolith.kernel.gradient.launch"
local uses = require "regolith.kernel.gradient.uses"

local Direction = {}
Direction.__index = Direction

--- A direction that is in the duals of `fields`, a list, while the duals of all others begin at
--- zero; without a list, it is in the duals of all fields.
function Direction.new(fields)
  local known = fields and {}
  for _, x in ipairs(fields or {}) do known[uses.key_of(x)] = true end
  return setmetatable({ known = known, latest = {} }, Direction)
end

--- Sets all active cells to zero.
function Direction.clear(x) x:fill(x.type.members and x.type() or x.type(0)) end

-- Called before x is used for the first time: clears its dual unless it is part of the direction.
function Direction:meet(x)
  local key, dual = uses.key_of(x), field.dual(x)
  if not self.known or self.known[key] then return end
  self.known[key] = true
  if dual then bulk.unrecorded(Direction.clear, dual) end
end

--- Runs the tangent in place of a launch; returns the core's status.
function Direction:launch(of, out)
  for number = 0, of.value_count - 1 do
    if field.is(of.last[number]) then self:meet(of.last[number]) end
  end
  local tangent = launch.derived(self.latest, of, "tangent")
  local status = launch.now(tangent, out)
  kernel.replace(of, tangent.kernel, out)
  return status
end

--- Called before x is written as a whole, as a copy of `from` if that is a field.
function Direction:write(x, from)
  local dual = field.dual(x)
  if not dual then return end
  self:meet(x)
  if field.is(from) and field.dual(from) then
    self:meet(from)
    bulk.unrecorded(dual.copy_from, dual, field.dual(from))
  else
    bulk.unrecorded(Direction.clear, dual)
  end
end

return Direction
