-- Compares the results of a GPU with those of this processor, to the last bit: both run one source
-- of mathematics (llvm_bc/maths_*.h), contract nothing and flush no denormal number unless a kernel
-- uses fast_math. tests/llvm_bc/maths_test.c compares that source with the C library's long double;
-- here it is also compared with this machine's f64. Runs if RG_ARCH=cuda states that there is a
-- GPU, or the driver that executes PTX.
local ffi = require "ffi"
local support = require "support"
local rg = support.rg

if os.getenv "RG_ARCH" ~= "cuda" then return end

local count = 4096
local edges = { 0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 10, 100, 1 / 0, -1 / 0, 0 / 0, 2 ^ -126,
  2 ^ -149, -2 ^ -149, 1e-40, 2 ^ 127, -2 ^ 127, 2 ^ 128, 88.72283, -103.972, 709.782712893384,
  -745.1332191019412, 2 ^ -1022, 5e-324, -5e-324, 1.7976931348623157e308, 2 ^ 52 + 0.5, 2 ^ 53,
  1e22, math.pi, math.pi / 2, 1.6e6, 0.7071067811865476, 1.4142135623730951, 2 ^ 31, 2 ^ 63,
  -2 ^ 63 }

local word = 12345
local function draw16()
  word = (16807 * word) % 2147483647
  return math.floor(word / 8) % 65536
end
local function draw() return draw16() * 65536 + draw16() end -- 32 bits

local views = { f32 = ffi.typeof "union { uint32_t bits; float value; }",
  f64 = ffi.typeof "union { struct { uint32_t low, high; } bits; double value; }" }

-- Edge values in all pairs, numbers of everyday sizes, and any bits.
local function arguments(T)
  local view, a, b = views[T](), {}, {}
  for k = 0, count - 1 do
    for which, list in ipairs { a, b } do
      local at = which == 1 and k % #edges or math.floor(k / #edges)
      if k < #edges * #edges then
        view.value = edges[at + 1]
      elseif k % 2 == 0 then
        view.value = (draw() % 2000001 - 1e6) / 10 ^ (k / 2 % 6 + 2)
      elseif T == "f32" then
        view.bits = draw()
        if view.bits % 2 ^ 31 > 0x7f800000 then view.value = 0 / 0 end
      else -- what Lua reads must be its own NaN
        view.bits.low, view.bits.high = draw(), draw()
        if view.bits.high % 2 ^ 31 >= 0x7ff00000 then view.value = 0 / 0 end
      end
      list[k + 1] = tonumber(view.value)
    end
  end
  return a, b
end

local given = { f32 = { arguments "f32" }, f64 = { arguments "f64" } }

-- z[i] = expression of x, y on that runtime, as a table.
local function computed(runtime, T, expression, result, options)
  local x, y = runtime.field(runtime[T], count), runtime.field(runtime[T], count)
  local z = runtime.field(runtime[result or T], count)
  x:from_table(given[T][1])
  y:from_table(given[T][2])
  runtime.kernel(("function() for i in rg.range(%d) do local x, y = x[i], y[i]; z[i] = %s end end")
    :format(count, expression), { x = x, y = y, z = z, rg = runtime }, options)()
  return z:to_table()
end

local function bits_of(value, T)
  if value ~= value then return "nan" end
  if not views[T] then return tostring(value) end
  local view = views[T]()
  view.value = value
  local bits = view.bits
  return T == "f32" and bit.tohex(bits) or bit.tohex(bits.high) .. bit.tohex(bits.low)
end

describe("a GPU", function()
  local cpu, gpu
  setup(function()
    cpu = rg.new { arch = "cpu", threads = 1, memory = "256MiB" }
    gpu = rg.new { arch = "cuda", memory = "256MiB" }
  end)
  teardown(function()
    cpu.reset()
    gpu.reset()
  end)

  local function same(T, expression, result, options)
    local here, there = computed(cpu, T, expression, result, options),
      computed(gpu, T, expression, result, options)
    for k = 1, count do
      local a, b = bits_of(here[k], result or T), bits_of(there[k], result or T)
      if a ~= b then
        error(("%s of %s (%.17g, %.17g): %s on a GPU, %s here"):format(expression, T,
          given[T][1][k], given[T][2][k], b, a))
      end
    end
    return there
  end

  local one = { "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "sqrt", "abs" }
  for _, T in ipairs { "f32", "f64" } do
    for _, name in ipairs(one) do
      it(("has the bits of %s of %s"):format(name, T), function()
        local got = same(T, ("math.%s(x)"):format(name))
        if T == "f64" then return end
        local view, worst = views.f32(), 0
        for k, x in ipairs(given.f32[1]) do
          local wanted = math[name](x)
          view.value = wanted
          local nearest = tonumber(view.value)
          if nearest == nearest and math.abs(nearest) < 1 / 0 and nearest ~= 0 then
            local _, exponent = math.frexp(nearest)
            worst = math.max(worst, math.abs(got[k] - wanted) / 2 ^ math.max(exponent - 24, -149))
          end
        end
        assert.is_true(worst <= 0.51, ("%s is off by %.3f of the last place"):format(name, worst))
      end)
    end

    it(("has the bits of functions of two %s"):format(T), function()
      for _, name in ipairs { "atan2", "fmod", "pow", "min", "max" } do
        same(T, ("math.%s(x, y)"):format(name))
      end
    end)

    it(("rounds each operation of %s by itself, and keeps what is denormal"):format(T), function()
      for _, expression in ipairs { "x + y", "x - y", "x * y", "x / y", "x * y + x", "x - x * y",
        "(x + y) * (x - y)", "1 / math.sqrt(x)", "x % y", "rg.floor(x)", "rg.round(x)",
        "-x", "x ^ 2", "x ^ 3", "x * 1e-38 * 1e-5", "rg.clamp(x, -1, y)", "rg.mix(x, y, 0.3)" } do
        same(T, expression)
      end
    end)

    it(("converts %s as a processor does"):format(T), function()
      for _, other in ipairs { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32",
        "f64" } do
        same(T, ("rg.%s(x)"):format(other), other)
      end
      same(T, "rg.i32(math.floor(x)) + rg.i32(math.ceil(y))", "i32")
      same(T, ("rg.%s(rg.f16(x) * rg.f16(y))"):format(T))
    end)
  end

  it("divides and shifts integers as a processor does", function()
    for _, t in ipairs { "i32", "u32", "i64", "u64", "i8", "u16" } do
      local a, b = ("rg.%s(x)"):format(t), ("rg.%s(y)"):format(t)
      for _, expression in ipairs { "A // B", "A % B", "math.floor(A / B)", "A * B - A", "A << B",
        "A >> B", "A ~>> B", "A & B | ~A" } do
        same("f64", (expression:gsub("[AB]", { A = a, B = b })), t)
      end
    end
  end)

  it("contracts under fast_math alone, and then stays near", function()
    local options = { fast_math = true }
    local here, there = computed(cpu, "f32", "x * y + x", nil, options),
      computed(gpu, "f32", "x * y + x", nil, options)
    for k = 1, count do
      local a, b = here[k], there[k]
      local size = math.abs(given.f32[1][k] * given.f32[2][k]) + math.abs(given.f32[1][k])
      if a == a and b == b and size < 1e37 then
        assert.is_true(math.abs(a - b) <= size * 2 ^ -22 + 2 ^ -149)
      end
    end
  end)
end)
