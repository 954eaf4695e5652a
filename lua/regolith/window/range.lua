--- The least and the greatest number of a memory (source.lua), which a palette's ends stand for by
--- default. NaN and the infinities do not count. Numbers are compared where they are; floats as
--- bits until they are known to be finite, since the bits of a NaN could become any Lua value.
local ffi = require "ffi"
local scalars = require "regolith.data.scalars"

local range = {}

local masks = { f32 = { "uint32_t", 0x7f800000 }, f16 = { "uint16_t", 0x7c00 } }

-- One loop per type, so that each is compiled for it.
local text = [[
  local ffi, pointer, bits, mask, convert = ...
  local band, cast = bit.band, ffi.cast
  return function(from, count, stride, low, high)
    for k = 0, count - 1 do
      local at = from + k * stride
      if CHECK then
        local v = VALUE
        if v < low then low = v end
        if v > high then high = v end
      end
    end
    return low, high
  end
]]

local function half(word)
  local sign, exponent, rest = 1, math.floor(word / 1024) % 32, word % 1024
  if word >= 0x8000 then sign = -1 end
  if exponent == 0 then return sign * rest * 2 ^ -24 end
  return sign * (1024 + rest) * 2 ^ (exponent - 25)
end

local loops = {}

local function loop_of(kind)
  if loops[kind] then return loops[kind] end
  local check, value = "true", "tonumber(cast(pointer, at)[0])"
  local mask = masks[kind]
  if mask then check = "band(cast(bits, at)[0], mask) ~= mask" end
  if kind == "f64" then
    mask = { "uint32_t", 0x7ff00000 }
    check = "band(cast(bits, at)[1], mask) ~= mask"
  end
  if kind == "f16" then value = "convert(cast(bits, at)[0])" end
  local ctype = kind == "bool" and "uint8_t" or scalars[kind].ctype
  loops[kind] = loadstring(text:gsub("%u%u%u%u%u", { CHECK = check, VALUE = value }),
    "=(regolith)")(ffi, ffi.typeof("const " .. ctype .. " *"),
    mask and ffi.typeof("const " .. mask[1] .. " *"), mask and mask[2], half)
  return loops[kind]
end

-- Along the last axis by a loop, along the others here.
local function visit(m, axis, from, low, high)
  local n = #m.extents
  if axis >= n then
    return loop_of(m.kind)(from, m.extents[n] or 1, m.strides[n] or 0, low, high)
  end
  for k = 0, m.extents[axis] - 1 do
    low, high = visit(m, axis + 1, from + k * m.strides[axis], low, high)
  end
  return low, high
end

--- Of all parts; nil if there is no number.
function range.of(m)
  local low, high = math.huge, -math.huge
  for part = 0, m.parts - 1 do low, high = visit(m, 1, m.base + part * m.step, low, high) end
  if low > high then return nil end
  return low, high
end

return range
