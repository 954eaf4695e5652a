-- sample.lua - x:sample(p) and x:sample_gradient(p): interpolation between the elements of a field.
-- resolve/element/sample.c chooses the function, and passes these constants: `border`, how to read
-- outside the shape (0 zero, 1 clamp, 2 repeat, 3 mirror); `cubic`, 1 or 0 (linear); a, b, c, the
-- first index of each axis.

-- The element that is read at index i of an axis.
local function sample_index(i, first, extent, border)
  if rg.static(border == 1) then return math.max(math.min(i, first + extent - 1), first) end
  if rg.static(border == 2) then return first + (i - first) % extent end
  if rg.static(border == 3) then
    local m = (i - first) % (2 * extent)
    return first + math.min(m, 2 * extent - 1 - m)
  end
  return i
end

-- The indices of the elements around a position in cell i.
local function sample_around(i, first, extent, border, cubic)
  if rg.static(cubic == 1) then
    return { sample_index(i - 1, first, extent, border), sample_index(i, first, extent, border),
      sample_index(i + 1, first, extent, border), sample_index(i + 2, first, extent, border) }
  end
  return { sample_index(i, first, extent, border), sample_index(i + 1, first, extent, border) }
end

-- The weights of these elements at f, from 0 to 1, and their derivatives. Cubic: Catmull-Rom.
local function sample_weights(f, cubic)
  if rg.static(cubic == 1) then
    return { ((2 - f) * f - 1) * f * 0.5, ((3 * f - 5) * f * f + 2) * 0.5,
      ((4 - 3 * f) * f + 1) * f * 0.5, (f - 1) * f * f * 0.5 }
  end
  return { 1 - f, f }
end

local function sample_slopes(f, cubic)
  if rg.static(cubic == 1) then
    return { ((4 - 3 * f) * f - 1) * 0.5, (9 * f - 10) * f * 0.5, ((8 - 9 * f) * f + 1) * 0.5,
      (3 * f - 2) * f * 0.5 }
  end
  return { f * 0 - 1, f * 0 + 1 }
end

-- Weighted sums of elements.
local function sample_sum_1(x, i, u)
  local sum = x[i[1]] * u[1]
  for n in rg.static(rg.range({ 2, #i + 1 })) do sum = sum + x[i[n]] * u[n] end
  return sum
end

local function sample_sum_2(x, i, j, u, v)
  local sum = sample_sum_1(x[i[1]], j, v) * u[1]
  for n in rg.static(rg.range({ 2, #i + 1 })) do sum = sum + sample_sum_1(x[i[n]], j, v) * u[n] end
  return sum
end

local function sample_sum_3(x, i, j, k, u, v, w)
  local sum = sample_sum_2(x[i[1]], j, k, v, w) * u[1]
  for n in rg.static(rg.range({ 2, #i + 1 })) do
    sum = sum + sample_sum_2(x[i[n]], j, k, v, w) * u[n]
  end
  return sum
end

-- The position within its cell is computed in floats, as it may be beyond the range of integers.
local function sample_1(x, p, border, cubic, a)
  return sample_sum_1(x, sample_around(math.floor(p * 1.0), a, x.shape[0], border, cubic),
    sample_weights(p * 1.0 % 1, cubic))
end

local function sample_2(x, p, border, cubic, a, b)
  local base, f = rg.floor(p), p * 1.0 % 1
  return sample_sum_2(x, sample_around(base.x, a, x.shape[0], border, cubic),
    sample_around(base.y, b, x.shape[1], border, cubic), sample_weights(f.x, cubic),
    sample_weights(f.y, cubic))
end

local function sample_3(x, p, border, cubic, a, b, c)
  local base, f = rg.floor(p), p * 1.0 % 1
  return sample_sum_3(x, sample_around(base.x, a, x.shape[0], border, cubic),
    sample_around(base.y, b, x.shape[1], border, cubic),
    sample_around(base.z, c, x.shape[2], border, cubic), sample_weights(f.x, cubic),
    sample_weights(f.y, cubic), sample_weights(f.z, cubic))
end

-- The derivatives along the axes as one value: for vectors a matrix with a column for each axis.
local function sample_join_2(gx, gy, is_vector)
  if rg.static(is_vector == 1) then
    return rg.outer(gx, rg.vec2(1, 0)) + rg.outer(gy, rg.vec2(0, 1))
  end
  return gx * rg.vec2(1, 0) + gy * rg.vec2(0, 1)
end

local function sample_join_3(gx, gy, gz, is_vector)
  if rg.static(is_vector == 1) then
    return rg.outer(gx, rg.vec3(1, 0, 0)) + rg.outer(gy, rg.vec3(0, 1, 0))
      + rg.outer(gz, rg.vec3(0, 0, 1))
  end
  return gx * rg.vec3(1, 0, 0) + gy * rg.vec3(0, 1, 0) + gz * rg.vec3(0, 0, 1)
end

local function gradient_1(x, p, border, cubic, a)
  return sample_sum_1(x, sample_around(math.floor(p * 1.0), a, x.shape[0], border, cubic),
    sample_slopes(p * 1.0 % 1, cubic))
end

local function gradient_2(x, p, border, cubic, a, b, is_vector)
  local base, f = rg.floor(p), p * 1.0 % 1
  local i = sample_around(base.x, a, x.shape[0], border, cubic)
  local j = sample_around(base.y, b, x.shape[1], border, cubic)
  local u, v = sample_weights(f.x, cubic), sample_weights(f.y, cubic)
  return sample_join_2(sample_sum_2(x, i, j, sample_slopes(f.x, cubic), v),
    sample_sum_2(x, i, j, u, sample_slopes(f.y, cubic)), is_vector)
end

local function gradient_3(x, p, border, cubic, a, b, c, is_vector)
  local base, f = rg.floor(p), p * 1.0 % 1
  local i = sample_around(base.x, a, x.shape[0], border, cubic)
  local j = sample_around(base.y, b, x.shape[1], border, cubic)
  local k = sample_around(base.z, c, x.shape[2], border, cubic)
  local u, v, w = sample_weights(f.x, cubic), sample_weights(f.y, cubic),
    sample_weights(f.z, cubic)
  return sample_join_3(sample_sum_3(x, i, j, k, sample_slopes(f.x, cubic), v, w),
    sample_sum_3(x, i, j, k, u, sample_slopes(f.y, cubic), w),
    sample_sum_3(x, i, j, k, u, v, sample_slopes(f.z, cubic)), is_vector)
end
