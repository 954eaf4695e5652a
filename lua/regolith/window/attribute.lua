--- Numbers of memories (source.lua) as attributes of vertices, or of instances, one number each.
local ffi = require "ffi"
local fail = require "regolith.error"
local gl = require "regolith.window.gl"
local range = require "regolith.window.range"
local source = require "regolith.window.source"

local attribute = {}

local types = { bool = gl.UNSIGNED_BYTE, u8 = gl.UNSIGNED_BYTE, i8 = gl.BYTE,
  u16 = gl.UNSIGNED_SHORT, i16 = gl.SHORT, u32 = gl.UNSIGNED_INT, i32 = gl.INT,
  f16 = gl.HALF_FLOAT, f32 = gl.FLOAT, f64 = gl.DOUBLE }
local most = 16 -- locations
local is_float = { f16 = true, f32 = true, f64 = true }

--- Forgets the attributes of the last call: all are constants.
function attribute.reset()
  for location = 0, most - 1 do gl.DisableVertexAttribArray(location) end
end

--- The same number for all.
function attribute.constant(location, v) gl.VertexAttrib1f(location, v) end

--- Number `part` of a memory, from element `first` on, for each vertex (divisor 0) or instance (1).
---@param at table   { buffer, base }: where the memory was uploaded
---@param is_scaled boolean?  the largest integer becomes 1
function attribute.bind(location, m, at, part, divisor, first, is_scaled)
  gl.BindBuffer(gl.ARRAY_BUFFER, at[1])
  gl.EnableVertexAttribArray(location)
  gl.VertexAttribDivisor(location, divisor)
  local offset = at[2] + part * m.step + (first or 0) * m.strides[1]
  gl.VertexAttribPointer(location, 1, types[m.kind], is_scaled and not is_float[m.kind] and 1 or 0,
    m.strides[1], ffi.cast("void *", offset))
end

--- All numbers of a memory, at consecutive locations.
function attribute.bind_all(location, m, at, divisor, first, is_scaled)
  for part = 0, m.parts - 1 do
    attribute.bind(location + part, m, at, part, divisor, first, is_scaled)
  end
end

--- Uploads a memory into the canvas's buffer of this name.
function attribute.upload(w, slot, m) return { w.canvas:upload(slot, m) } end

--- Positions: vectors of two or three numbers, or of more, of which those count.
function attribute.positions(x, caller)
  local m = source.list(x, caller)
  if m.parts < 2 and m.extents[1] > 0 then
    return fail.argument(("%s takes vectors, not %s"):format(caller,
      type(x) == "table" and "a table of numbers" or tostring(x)),
      type(x) == "table" and "a list of points: { {x, y}, {x, y} }" or nil)
  end
  m.parts = math.min(m.parts, 3)
  return m
end

--- Binds positions at a location and the two after it; z is 0 where there is none.
function attribute.bind_positions(location, m, at, divisor, first)
  attribute.bind_all(location, m, at, divisor, first)
  if m.parts < 3 then attribute.constant(location + 2, 0) end
end

--- An option that is a number for all, or numbers for each of `count` elements.
---@return number? v, table? m
function attribute.option(options, name, caller, count, parts, default)
  local v = options[name]
  if v == nil then return default end
  if type(v) == "number" then
    if v >= 0 and v < math.huge then return v end
    return fail.argument(("option '%s' of %s must be 0 or more, got %s"):format(name, caller, v),
      nil, "option.invalid")
  end
  if type(v) ~= "table" and type(v) ~= "cdata" or type(v) == "table" and getmetatable(v) then
    return fail.argument(("option '%s' of %s must be a number, a list, a field or an array, got %s")
      :format(name, caller, fail.describe(v)), nil, "option.invalid")
  end
  local m = source.list(v, ("option '%s' of %s"):format(name, caller))
  if m.parts ~= parts then
    return fail.argument(("option '%s' of %s takes elements of %s, not of %d numbers"):format(name,
      caller, parts == 1 and "one number" or parts .. " numbers", m.parts), nil, "option.invalid")
  end
  attribute.check_count(m, name, caller, count)
  return nil, m
end

function attribute.check_count(m, name, caller, count)
  if m.extents[1] == count then return end
  return fail.argument(("option '%s' of %s has %d elements, and there are %d positions"):format(
    name, caller, m.extents[1], count), nil, "option.invalid")
end

-- -- indices --------------------------------------------------------------------------------------

local index_sizes = { u8 = 1, u16 = 2, i32 = 4, u32 = 4 }

-- A list's numbers as integers.
local function from_table(m, what)
  local count = m.extents[1] * m.parts
  local own = ffi.new("int32_t[?]", math.max(1, count))
  local values = ffi.cast("double *", m.base)
  for k = 0, count - 1 do
    own[k] = values[k]
    if own[k] ~= values[k] then
      return fail.argument(("%s takes integers, and has %s"):format(what, values[k]), nil,
        "option.invalid")
    end
  end
  m.base, m.keep, m.kind, m.step = ffi.cast("uint8_t *", own), own, "i32", 4
  m.strides = { 4 * m.parts }
end

--- The option `indices`: numbers of positions, from 0, `parts` for each line or triangle.
---@return table own  for attribute.draw_indices
function attribute.indices(x, caller, parts, count)
  local what = "option 'indices' of " .. caller
  local m = source.list(x, what)
  if type(x) == "table" and m.kind == "f64" then from_table(m, what) end
  local size = index_sizes[m.kind]
  local is_packed = size and m.strides[1] == size * m.parts and (m.parts == 1 or m.step == size)
  if not is_packed or m.parts ~= parts and m.parts ~= 1 then
    return fail.argument(("%s takes an array of %s, or of i32, or a list, not %s"):format(what,
      parts == 2 and "ivec2" or "ivec3", fail.describe(x)), nil, "option.invalid")
  end
  local total = m.extents[1] * m.parts
  if total % parts ~= 0 then
    return fail.argument(("%s has %d numbers, not a multiple of %d"):format(what, total, parts),
      nil, "option.invalid")
  end
  local low, high = range.of { base = m.base, kind = m.kind, parts = 1, step = 0,
    extents = { total }, strides = { size } }
  if total > 0 and (low < 0 or high >= count) then
    return fail.argument(("%s names position %d, and there are %d, from 0"):format(what,
      low < 0 and low or high, count), nil, "option.invalid")
  end
  local kind = types[m.kind]
  return { m = m, count = total, type = kind == gl.INT and gl.UNSIGNED_INT or kind }
end

--- Draws primitives of them.
function attribute.draw_indices(w, mode, own)
  if own.count == 0 then return end
  own.at = own.at or attribute.upload(w, "indices", own.m)
  gl.BindBuffer(gl.ELEMENT_ARRAY_BUFFER, own.at[1])
  gl.DrawElements(mode, own.count, own.type, ffi.cast("void *", own.at[2]))
end

return attribute
