--- The extents of a field or level: a small immutable vector, 0-based like everything in Regolith.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"

local shape = {}

local letters = { x = 0, y = 1, z = 2, w = 3 }
local Shape
local meta = {}

function meta.__index(self, key)
  local at = letters[key] or key
  if type(at) ~= "number" then
    return fail.argument(("a shape has no '%s'"):format(tostring(key)))
  end
  if not (at >= 0 and at < self.rg_count and at % 1 == 0) then
    return fail.argument(("axis %s of a shape with %d %s; the first is 0"):format(tostring(key),
      self.rg_count, self.rg_count == 1 and "axis" or "axes"), nil, "index.range")
  end
  return self.rg_values[at]
end
function meta.__newindex() return fail.argument "a shape cannot be changed" end
function meta.__len(self) return self.rg_count end
function meta.__eq(a, b)
  if not (ffi.istype(Shape, a) and ffi.istype(Shape, b)) or a.rg_count ~= b.rg_count then
    return false
  end
  for i = 0, a.rg_count - 1 do
    if a.rg_values[i] ~= b.rg_values[i] then return false end
  end
  return true
end
function meta.__tostring(self)
  local parts = {}
  for i = 0, self.rg_count - 1 do parts[i + 1] = ("%d"):format(self.rg_values[i]) end
  return "(" .. table.concat(parts, ", ") .. ")"
end
local function step(self, i)
  i = i + 1
  if i < self.rg_count then return i, self.rg_values[i] end
end
function meta.__pairs(self) return step, self, -1 end
meta.__ipairs = meta.__pairs

Shape = ffi.metatype("RgShape", meta)

--- Of a list of extents.
function shape.of(extents, count)
  local s = Shape(count)
  for k = 1, count do s.rg_values[k - 1] = extents[k] end
  return s
end

--- The shape that `read` (rg_field_shape or rg_snode_shape) returns for a handle with this many
--- axes.
function shape.read(read, pointer, count, runtime)
  local extents = ffi.new "int64_t[8]"
  lib.check(read(pointer, extents), runtime)
  local s = Shape(count)
  for i = 0, count - 1 do s.rg_values[i] = tonumber(extents[i]) end
  return s
end

--- The extent of an axis, for `#x`; raises if a hash makes it unbounded.
function shape.extent(s, axis)
  if s[axis] == 0 then
    return fail.argument("'#' is undefined: an axis of a hash is unbounded",
      "x:count() tells how many cells are active")
  end
  return s[axis]
end

return shape
