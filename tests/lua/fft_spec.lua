-- fft_spec.lua - rg.fft and rg.ifft, by FFTW.
local ffi = require "ffi"
local support = require "support"
local rg, failure = support.rg, support.failure

local missing
for _, name in ipairs { "libfftw3.so.3", "libfftw3f.so.3" } do
  if not pcall(ffi.load, name) then missing = name end
end

local function test(name, f)
  it(name, function()
    if missing then return pending(missing .. " is not there") end
    f()
  end)
end

-- One number of the spectrum, from its definition.
local function expected(x, at, is_complex)
  local re, im = 0, 0
  for i, j, v in pairs(x) do
    local angle = -2 * math.pi * (i * at[1] / x.shape[0] + j * at[2] / x.shape[1])
    local a, b = is_complex and v.x or v, is_complex and v.y or 0
    re = re + a * math.cos(angle) - b * math.sin(angle)
    im = im + a * math.sin(angle) + b * math.cos(angle)
  end
  return re, im
end

local function filled(x, is_complex)
  for i = 0, x.shape[0] - 1 do
    for j = 0, x.shape[1] - 1 do
      local v = math.sin(3 * i + j * j) + 0.5
      if is_complex then x[i][j] = { v, i - j } else x[i][j] = v end
    end
  end
  return x
end

describe("a Fourier transform", function()
  test("is what its definition says, of real and of complex numbers, fields and arrays", function()
    for _, case in ipairs { { rg.f32, 1e-4 }, { rg.f64, 1e-10 }, { rg.vec2, 1e-3, true },
      { rg.dvec2, 1e-9, true } } do
      local t, tolerance, is_complex = unpack(case)
      for _, x in ipairs { rg.array(t, 6, 10), rg.field(t, 6, 10) } do
        local y = rg.fft(filled(x, is_complex))
        assert.same({ 6, is_complex and 10 or 6 }, { y.shape[0], y.shape[1] })
        for _, at in ipairs { { 0, 0 }, { 1, 0 }, { 5, 4 }, { 3, 5 } } do
          local re, im = expected(x, at, is_complex)
          assert.near(re, y[at[1]][at[2]].x, tolerance)
          assert.near(im, y[at[1]][at[2]].y, tolerance)
        end
      end
    end
  end)

  test("comes back, into new arrays, fields, members, or the same array", function()
    local x = filled(rg.field(rg.f32, 8, 9))
    local y = rg.fft(x)
    local back = rg.field(rg.f32, 8, 9)
    assert.equal(back, rg.ifft(y, back))
    assert.is_true(back:equals(x, 1e-6))
    local again = rg.fft(x)
    assert.is_true(again:equals(y)) -- y was not overwritten
    local z = filled(rg.array(rg.dvec2, 4, 4), true)
    local copy = rg.array(rg.dvec2, 4, 4):copy_from(z)
    assert.is_true(rg.ifft(rg.fft(z)):equals(copy, 1e-12))
    rg.fft(z, z)
    rg.ifft(z, z)
    assert.is_true(z:equals(copy, 1e-12))
    local Cell = rg.struct { { "h", rg.f32 }, { "c", rg.vec2 } }
    local cells = rg.field(Cell, 8, 9)
    cells.h:copy_from(x)
    rg.ifft(rg.fft(cells.h), cells.h)
    assert.is_true(cells.h:equals(x, 1e-6))
  end)

  test("has one to three axes, of any length", function()
    for _, extents in ipairs { { 7 }, { 16 }, { 40000 }, { 3, 5, 8 }, { 1, 4, 1 } } do
      local x = rg.array(rg.f64, unpack(extents))
      for k = 0, extents[1] - 1 do
        if #extents == 1 then x[k] = math.cos(k) else x[k][0][0] = k end
      end
      local y = rg.fft(x, nil, { measure = extents[1] == 16 })
      assert.is_true(rg.ifft(y, rg.array(rg.f64, unpack(extents))):equals(x, 1e-10))
      assert.near(x:sum(), (#extents == 1 and y[0] or y[0][0][0]).x, 1e-6)
    end
  end)

  test("takes slices, wraps with strides and offsets", function()
    local long = rg.array(rg.f32, 20)
    for k = 0, 19 do long[k] = k * k end
    local whole = rg.array(rg.f32, 8)
    for k = 0, 7 do whole[k] = (k + 3) ^ 2 end
    if os.getenv "RG_ARCH" ~= "lua" then
      assert.is_true(rg.fft(long:slice(3, 8)):equals(rg.fft(whole)))
    end
    local moved = rg.field { type = rg.f32, shape = { 8 }, offset = { -4 } }
    for k = 0, 7 do moved[k - 4] = whole[k] end
    assert.is_true(rg.fft(moved):equals(rg.fft(whole)))
    assert.is_true(rg.ifft(rg.fft(moved), moved):equals(moved, 1e-4))
    assert.near(whole[7], moved[3], 1e-3)
  end)

  test("refuses what it cannot take", function()
    local x, y = rg.array(rg.f32, 8), rg.array(rg.vec2, 5)
    for _, case in ipairs {
      { function() rg.fft(3) end, "rg.fft takes a field or an array, not 3" },
      { function() rg.fft(rg.array(rg.i32, 8)) end, "are i32" },
      { function() rg.fft(rg.array(rg.vec3, 8)) end, "are vec3" },
      { function() rg.fft(rg.array(rg.f32, 2, 2, 2, 2)) end, "one to three bounded axes" },
      { function() rg.fft(x, x) end, "must have elements of vec2, not f32" },
      { function() rg.fft(x, rg.array(rg.vec2, 8)) end, "must have the extents 5, but it is" },
      { function() rg.fft(x, y, { measured = true }) end, "has no option 'measured'" },
      { function() rg.ifft(x) end, "takes a spectrum" },
      { function() rg.ifft(y, rg.array(rg.f64, 8)) end, "numbers of different types" },
      { function() rg.ifft(y, rg.array(rg.f32, 7)) end, "must have the extents 4" },
    } do
      assert.matches(case[2], failure(case[1]).message, 1, true)
    end
  end)
end)
