--- Finds where gradients are lost, and warns once for each field: values that depend on fields with
--- gradients go through a field that has none, or through an array.
local field = require "regolith.data.field"
local sink = require "regolith.sink"
local uses = require "regolith.kernel.gradient.uses"

local losses = {}

local warned = setmetatable({}, { __mode = "k" }) -- by field: it has been warned of

local function warn_of_loss(x, lost, chunk, line)
  if warned[x] then return end
  warned[x] = true
  sink.warn(("regolith: %s:%d: values that depend on fields with gradients are written to %s, \z
    which has none, and %s:%d reads the results: no gradient passes through. Make it %s\z
    { grad = true }, or write rg.stop(..) where that is intended (reported once)"):format(
    lost.chunk, lost.line, tostring(lost.x), chunk, line,
    field.is(lost.x) and "with " or "a field with "))
end

--- Follows values that depend on fields with gradients through fields that have none, and warns
--- where they reach fields with gradients again. `list` has the uses of a launch of a kernel from
--- this chunk; `lost` says, by field, where such values were written before, and whether there are
--- `any`.
function losses.follow(lost, list, chunk)
  if not list.loses and not lost.any then return end
  local through -- something lost is read
  lost.any = true
  for _, use in ipairs(list) do
    if use.lost and not lost[use.key] then
      lost[use.key] = { x = use.x, chunk = chunk, line = use.lost }
    end
  end
  for _, use in ipairs(list) do
    local from = lost[use.key]
    if from and use.wanted then warn_of_loss(use.x, from, chunk, use.wanted) end
    if from and not use.writes then through = through or from end
  end
  for _, use in ipairs(list) do
    if through and use.writes and not use.has_gradient and not lost[use.key]
      and uses.have_floats(use.x.type) then
      lost[use.key] = through
    end
  end
end

return losses
