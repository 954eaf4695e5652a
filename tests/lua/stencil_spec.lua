-- Small loops over offsets from a computed place are compiled with one check for all accesses, and
-- must give the results of separate accesses.
local rg = require("support").rg

local extremes = { -2147483647 - 1, 2147483647, -2147483647, 2147483646, -3, -2, -1, 0, 1, 2, 3, 4,
  5, 6, 7, 8, 9, 10,
  1073741824, -1073741824 }

local function field_of(values)
  local at = rg.field(rg.i32, #values)
  for k, value in ipairs(values) do at[k - 1] = value end
  return at
end

describe("a stencil at a computed place", function()
  it("writes inside the shape and counts the other writes", function()
    local x, at, count = rg.field(rg.i32, 8, 8), field_of(extremes), #extremes
    local before = rg.stats().out_of_range
    rg.kernel([=[function()
      for p in rg.range(count) do
        for a = -1, 1 do
          for b = 0, 2 do x[at[p] + a][at[p] - b] = x[at[p] + a][at[p] - b] + 1 end
        end
      end
    end]=], { x = x, at = at, count = count })()
    local expected, outside = {}, 0
    for _, value in ipairs(extremes) do
      for a = -1, 1 do
        for b = 0, 2 do
          local i, j = value + a, value - b
          if i >= 0 and i < 8 and j >= 0 and j < 8 then
            expected[8 * i + j] = (expected[8 * i + j] or 0) + 1
          else outside = outside + 1 end
        end
      end
    end
    for i = 0, 7 do
      for j = 0, 7 do assert.equal(expected[8 * i + j] or 0, x[i][j]) end
    end
    assert.equal(outside, rg.stats().out_of_range - before)
  end)

  it("reads zero outside the shape and where nothing is active", function()
    local x, at, sums = rg.field(rg.i32), field_of(extremes), rg.field(rg.i32, #extremes)
    rg.root:pointer("i", 2):dense("i", 4):place(x)
    for i = 0, 3 do x[i] = 10 ^ i end
    rg.kernel([=[function(count)
      for p in rg.range(count) do
        local sum = 0
        for a = 0, 4, 2 do sum = sum + x[at[p] + a] end
        sums[p] = sum
      end
    end]=], { x = x, at = at, sums = sums })(#extremes)
    for k, value in ipairs(extremes) do
      local sum = 0
      for a = 0, 4, 2 do
        if value + a >= 0 and value + a < 4 then sum = sum + 10 ^ (value + a) end
      end
      assert.equal(sum, sums[k - 1])
    end
  end)

  it("leaves an iteration by continue, and the loop by break", function()
    local x, at = rg.field(rg.i32, 8), field_of { 0, 3, 5 }
    rg.kernel([=[function()
      for p in rg.range(3) do
        for a = 0, 3 do
          if a == 1 then continue end
          if a == 3 then break end
          x[at[p] + a] = x[at[p] + a] + 1
        end
      end
    end]=], { x = x, at = at })()
    assert.same({ 1, 0, 1, 1, 0, 2, 0, 1 }, x:to_table())
  end)
end)
