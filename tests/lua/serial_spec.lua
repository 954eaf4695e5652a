--- Serial loops over elements: their bounds are checked before they run, and what is outside reads
--- zero and is not written.
local support = require "support"
local rg = support.rg

describe("a serial loop", function()
  local n = 20
  local function at(i) return i >= 0 and i < n and (i * 7) % 11 + 1 or 0 end
  local function new(kind, T)
    if kind == "array" then return rg.array(T, n) end
    if kind == "offset" then return rg.field { type = T, shape = { n }, offset = { 0 } } end
    return rg.field(T, n)
  end

  for _, kind in ipairs { "field", "array", "offset" } do
    it(("sweeps over the ends of a %s"):format(kind), function()
      local ranges = { { 0, n - 1 }, { -3, n + 2 }, { 1, n - 2 }, { 5, 4 }, { -9, -4 },
        { n + 5, n + 9 },
        { 2 ^ 31 - 4, 2 ^ 31 - 1 }, { -2 ^ 31, -2 ^ 31 + 3 }, { -1, 0 }, { n - 1, n } }
      local steps = { "", ", 2", ", -1" }
      for _, index in ipairs { "i32", "i64" } do
        for _, step in ipairs(steps) do
          local x, y = new(kind, rg.i32), new(kind, rg.i32)
          local sweep = rg.kernel(([=[function(from: %s, last: %s)
            for k = from, last%s do
              y[k] = x[k - 1] + 2 * x[k] + 3 * x[k + 2] + y[k - 1]
            end
          end]=]):format(index, index, step), { x = x, y = y })
          for _, range in ipairs(ranges) do
            local from, last = range[1], range[2]
            if step:find("-", 1, true) then from, last = last, from end
            local expected, outside = {}, 0
            for i = 0, n - 1 do x[i], y[i], expected[i] = at(i), 0, 0 end
            for k = from, last, tonumber(step:match("%-?%d")) or 1 do
              local below = (k == -2 ^ 31 and index == "i32") and 2 ^ 31 - 1 or k - 1
              local value = at(below) + 2 * at(k) + 3 * at(k + 2) + (expected[below] or 0)
              if expected[k] then expected[k] = value else outside = outside + 1 end
            end
            local before = rg.stats().out_of_range
            sweep(from, last)
            for i = 0, n - 1 do assert.equal(expected[i], y[i]) end
            assert.equal(outside, rg.stats().out_of_range - before)
          end
        end
      end
    end)
  end

  it("in a parallel one ends where its arrays end, each at its own", function()
    local function product(a, b, c, last)
      return rg.kernel([=[function(last)
        for i, j in rg.range(#c, 9) do
          local s = 0
          for k = 0, last do s = s + a[i][k] * b[k][j] end
          c[i][j] = s
        end
      end]=], { a = a, b = b, c = c })(last)
    end
    for _, sizes in ipairs { { 5, 7, 9 }, { 7, 5, 9 }, { 3, 3, 3 } } do
      local a, b, c = rg.array(rg.i32, 6, sizes[1]), rg.array(rg.i32, sizes[2], sizes[3]),
        rg.array(rg.i32, 8, 8)
      local function a_at(i, k) return i < 6 and k < sizes[1] and i * 3 + k + 1 or 0 end
      local function b_at(k, j) return k < sizes[2] and j < sizes[3] and k - j or 0 end
      for i = 0, 5 do for k = 0, sizes[1] - 1 do a[i][k] = a_at(i, k) end end
      for k = 0, sizes[2] - 1 do for j = 0, sizes[3] - 1 do b[k][j] = b_at(k, j) end end
      for last = 3, 8 do
        product(a, b, c, last)
        for i = 0, 7 do
          for j = 0, 7 do
            local s = 0
            for k = 0, last do s = s + a_at(i, k) * b_at(k, j) end
            assert.equal(s, c[i][j])
          end
        end
      end
    end
  end)

  it("that ends early, or is in a function that calls itself, has its edges too", function()
    local x, out = rg.field(rg.i32, n), rg.field(rg.i32, n)
    for i = 0, n - 1 do x[i] = at(i) end
    local k = rg.kernel([=[
    local function total(from: i32, depth: i32): i32
      local s = 0
      for k = from - 1, from + depth do s = s + x[k] * x[k + 1] end
      if depth > 0 then return s + total(from + 1, depth - 1) end
      return s
    end
    function(last)
      for i in rg.range(n) do
        local s = 0
        for k = i - 1, last do
          if x[k] + x[k + 1] == 9 then break end
          s = s + x[k]
        end
        out[i] = s + total(i, 3)
      end
    end]=], { x = x, out = out, n = n })
    local function total(from, depth)
      local s = 0
      for p = from - 1, from + depth do s = s + at(p) * at(p + 1) end
      return depth > 0 and s + total(from + 1, depth - 1) or s
    end
    for _, last in ipairs { 4, n - 1, n + 3 } do
      k(last)
      for i = 0, n - 1 do
        local s = 0
        for p = i - 1, last do
          if at(p) + at(p + 1) == 9 then break end
          s = s + at(p)
        end
        assert.equal(s + total(i, 3), out[i])
      end
    end
  end)
end)
