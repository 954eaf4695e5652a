--- Small loops over elements, which are unrolled: their bounds, and early exits.
local support = require "support"
local rg, sparse = support.rg, support.sparse

describe("a loop from an index less a number to the same plus a number", function()
  it("reads the neighbours of a cell, and zero outside", function()
    local n = 12
    local flat, out = rg.field(rg.i32, n, n), rg.field(rg.i32, n, n)
    local loops = {
      [=[rg.range(n, n)]=], [=[x:active()]=], [=[rg.range({0, n}, {0, n}):serial()]=],
    }
    local function at(i, j)
      return i >= 0 and i < n and j >= 0 and j < n and (i * 5 + j * 3) % 7 or 0
    end
    for i = 0, n - 1 do for j = 0, n - 1 do flat[i][j] = at(i, j) end end
    for _, loop in ipairs(loops) do
      local k = rg.kernel(([=[function()
        for i, j in %s do
          local s = 0
          for a = i - 1, i + 1 do
            for b = j + 1, j - 1, -1 do s = 2 * s + x[a][b] end
          end
          y[i][j] = s
        end
      end]=]):format(loop), { x = flat, y = out, n = n })
      out:fill(0)
      k()
      for i = 0, n - 1 do
        for j = 0, n - 1 do
          local s = 0
          for a = i - 1, i + 1 do for b = j + 1, j - 1, -1 do s = 2 * s + at(a, b) end end
          assert.equal(s, out[i][j])
        end
      end
    end
  end)

  it("does not run if only its end wraps", function()
    local starts, count, seen = rg.field(rg.i32, 4), rg.field(rg.i32, 4), rg.field(rg.i32, 8)
    for k, start in ipairs { 3, 2 ^ 31 - 1, -2 ^ 31, 2 ^ 31 - 3 } do starts[k - 1] = start end
    local k = rg.kernel(function()
      for i in rg.range(4) do
        local s = starts[i]
        for a = s - 1, s + 2 do
          count[i] = count[i] + 1 + seen[a]
        end
      end
    end)
    k()
    assert.same({ 4, 0, 0, 4 }, count:to_table())
  end)

  it("reaches the nodes of a tree", function()
    local x, y = sparse(rg.i32, "i", 8, 8), rg.field(rg.i32, 64)
    for i = 0, 63, 5 do x[i] = i end
    local k = rg.kernel(function()
      for i in x:active() do
        local s = 0
        for a = i - 2, i + 2 do s = s + x[a] end
        y[i] = s
      end
    end)
    k()
    for i = 0, 63 do
      local s = 0
      for a = math.max(i - 2, 0), math.min(i + 2, 63) do s = s + (a % 5 == 0 and a or 0) end
      assert.equal(s, y[i])
    end
  end)
end)

describe("a small loop", function()
  it("ends early by a break, a return of a helper, or a continue around it", function()
    local n = 64
    local x, first, found, rest = rg.field(rg.i32, n), rg.field(rg.i32, n), rg.field(rg.i32, n),
      rg.field(rg.i32, n)
    local function at(i) return i >= 0 and i < n and (i * 7) % 11 or 0 end
    for i = 0, n - 1 do x[i] = at(i) end
    local k = rg.kernel([=[
    local function larger(i: i32, least: i32): i32
      for d = 0, 3 do
        if x[i + d] > least then return d end
      end
      return -1
    end
    function()
      for i in rg.range(n) do
        local s = 0
        for d = -1, 2 do
          if x[i + d] == 5 then break end
          s = s + x[i + d]
        end
        first[i] = s
        found[i] = larger(i, 6)
        local t = 0
        for d = 1, 3 do
          if x[i + d] % 2 == 0 then continue end
          if x[i + d] == 9 then t = t + 100 break end
          t = t + x[i + d]
        end
        rest[i] = t
      end
    end]=], { x = x, first = first, found = found, rest = rest, n = n })
    k()
    for i = 0, n - 1 do
      local s, larger, t = 0, -1, 0
      for d = -1, 2 do
        if at(i + d) == 5 then break end
        s = s + at(i + d)
      end
      for d = 3, 0, -1 do if at(i + d) > 6 then larger = d end end
      for d = 1, 3 do
        if at(i + d) == 9 then t = t + 100 break end
        if at(i + d) % 2 == 1 then t = t + at(i + d) end
      end
      assert.same({ s, larger, t }, { first[i], found[i], rest[i] })
    end
  end)

  it("leaves the loops around it", function()
    local x, out = rg.field(rg.i32, 16), rg.field(rg.i32, 16)
    for i = 0, 15 do x[i] = i end
    local k = rg.kernel([=[
    local function pair(sum: i32): i32
      for a = 0, 15 do
        for b = 0, 3 do
          if x[a] * x[a + b] == sum then return 10 * a + b end
        end
      end
      return -1
    end
    function()
      for i in rg.range(16) do out[i] = pair(i) end
    end]=], { x = x, out = out })
    k()
    assert.same({ 0, 10, 11, 12, 13, -1, 21, -1, 22, 30, 23, -1, 31, -1, -1, 32 },
      out:to_table())
  end)
end)

describe("an index that is clamped to the shape", function()
  local n = 40
  local x = rg.field(rg.i32, n, n)
  local window, beside = rg.field(rg.i32, n + 6, n + 6), rg.field(rg.i32, n + 6, n + 6)
  local function at(i, j) return (i * 5 + j * 3) % 7 end
  local function clamp(i) return math.max(0, math.min(n - 1, i)) end

  -- With literal and with captured ends; a shifted range's edges are not the shape's.
  for name, case in pairs {
    ["with constants"] = { "40", "3", "0", "40", 0, 40 },
    ["with captures"] = { "n", "r", "0", "n", 0, n },
    ["in a part of the field"] = { "n", "r", "2", "n - 1", 2, n - 1 },
    ["beyond the field"] = { "n", "r", "-3", "n + 3", -3, n + 3 },
  } do
    it("reads what Lua reads, " .. name, function()
      local last, reach, begin, finish, from, past = unpack(case)
      for i = 0, n - 1 do for j = 0, n - 1 do x[i][j] = at(i, j) end end
      window:fill(-1)
      beside:fill(-1)
      rg.kernel(([=[function()
        for i, j in rg.range({FROM, PAST}, {FROM, PAST}) do
          local s = 0
          for a = math.max(i - REACH, 0), math.min(LAST - 1, i + REACH) do
            for b = math.max(j - REACH, 0), math.min(LAST - 1, j + REACH) do s = 2 * s + x[a][b] end
          end
          window[i + 3][j + 3] = s
          local right = math.max(math.min(i + 1, LAST - 1), 0)
          local left = math.max(0, math.min(LAST - 1, j - 2))
          local here = math.max(math.min(i, LAST - 1), 0)
          local up = math.min(math.max(j + 2, 0), LAST - 1)
          beside[i + 3][j + 3] = 10 * x[right][left] + x[here][up]
        end
      end]=]):gsub("LAST", last):gsub("REACH", reach):gsub("FROM", begin)
        :gsub("PAST", finish),
        { x = x, window = window, beside = beside, n = n, r = 3 })()
      for i = -3, n + 2 do
        for j = -3, n + 2 do
          local s, is_in = 0, i >= from and i < past and j >= from and j < past
          for a = math.max(i - 3, 0), math.min(n - 1, i + 3) do
            for b = math.max(j - 3, 0), math.min(n - 1, j + 3) do
              s = bit.tobit(2 * s + at(a, b))
            end
          end
          assert.equal(is_in and s or -1, window[i + 3][j + 3])
          assert.equal(is_in and 10 * at(clamp(i + 1), clamp(j - 2)) + at(clamp(i), clamp(j + 2))
            or -1, beside[i + 3][j + 3])
        end
      end
    end)
  end
end)
