-- number.lua - functions of the bits and parts of numbers.

-- -1, 0 or 1; 0 for a NaN.
function rg.sign(x)
  return rg.select(x > 0, 1, rg.select(x < 0, -1, 0))
end

function rg.isnan(x)
  return not (x >= x)
end

function rg.isinf(x)
  return rg.isnan(x - x) & not rg.isnan(x)
end

-- Column c of a matrix, as m[r] is a row.
function rg.column(m, c)
  return rg.transpose(m)[c]
end

-- How many bits are set.
function rg.popcnt(x)
  return rg.i32(bit.popcnt(x))
end

-- How many bits are above the highest set one; all of them for 0.
function rg.clz(x)
  return rg.i32(bit.clz(x))
end

-- How many bits are below the lowest set one; all of them for 0.
function rg.ctz(x)
  return rg.i32(bit.ctz(x))
end

-- x * 2 ^ e, in two steps: 2 ^ e alone may be too large or too small.
function rg.ldexp(x, e)
  local half = e ~>> 1
  return x * 1.0 * 2.0 ^ half * 2.0 ^ (e - half)
end

-- m, e with x = m * 2 ^ e and |m| from 0.5 to below 1; for 0, infinities and NaN m is x, and e 0.
function rg.frexp(x)
  local m, e = x * 1.0, 0
  if x ~= 0 and x - x == 0 then
    e = math.floor(math.log(math.abs(m)) * 1.4426950408889634) + 1
    m = rg.ldexp(m, -e)
    if math.abs(m) >= 1 then
      m = m * 0.5
      e = e + 1
    end
    if math.abs(m) < 0.5 then
      m = m * 2
      e = e - 1
    end
  end
  return m, e
end

-- The integer part and the fraction, both with the sign of x.
function rg.modf(x)
  local fraction = x - x == 0 and math.fmod(x, 1.0) or 0.0
  return x - fraction, fraction
end
