-- prefetch_spec.lua - elements at computed places of large trees are prefetched, which may change
-- nothing but the time.
local rg = require("support").rg

local function touches(x, key, count, n)
  return rg.kernel([=[function()
    for t in rg.range(n) do
      local k = key[t]
      local i = bit.band(bit.rshift(k, 8), 255)
      i = i * 8 + bit.band(k, 7)
      if k % 5 ~= 0 then
        x[i][bit.band(bit.rshift(k, 3), 1023)] = t
        count[k % 64] += 1
        count[i + 64 - i] += 1
      end
    end
  end]=], { rg = rg, x = x, key = key, count = count, n = n })
end

describe("elements at computed places", function()
  it("are written in large trees as in small ones, also at both ends of the loop", function()
    local x, n = rg.field(rg.i32), 3000
    local block = rg.root:pointer("ij", 256, 64)
    block:bitmasked("ij", 8, 16):place(x)
    local fill = rg.kernel(function() -- so that the tree is large
      for i, j in rg.range(256, 64) do block:activate(i, j) end
    end)
    fill()
    local key, count = rg.field(rg.i32, n), rg.field(rg.i32, 128)
    local expected, active, counts = {}, 0, {}
    for t = 0, n - 1 do
      local k = t * 7919 % 1048576
      key[t] = k
      if k % 5 ~= 0 then
        local i, j = math.floor(k / 256) % 256 * 8 + k % 8, math.floor(k / 8) % 1024
        local at = i * 1024 + j
        if not expected[at] then active = active + 1 end
        expected[at] = expected[at] or {}
        expected[at][t] = true
        counts[k % 64] = (counts[k % 64] or 0) + 1
        counts[64] = (counts[64] or 0) + 1
      end
    end
    local touch = touches(x, key, count, n)
    local outside = rg.stats().out_of_range
    touch()
    assert.equal(active, x:count())
    for at, values in pairs(expected) do
      assert.is_true(values[x[math.floor(at / 1024)][at % 1024]] == true)
    end
    for k = 0, 64 do assert.equal(counts[k] or 0, count[k]) end
    assert.equal(256 * 64, block:count())
    assert.equal(outside, rg.stats().out_of_range)
  end)

  it("are appended to lists of large trees, which are emptied and filled again #cpu", function()
    local n, lists, x = 40000, 30000, rg.field(rg.i32)
    local list = rg.root:dense("i", lists):dynamic("j", 64, { chunk = 8 })
    list:place(x)
    local fill = rg.kernel(function(seed, shift)
      for i in rg.range(lists) do x:deactivate(i) end
      for k in rg.range(n) do x:append((k * seed) % 32768 + shift, k) end
    end)
    for round, case in ipairs { { 7919, 0 }, { 31, 0 }, { 7919, -100 } } do
      local expected, inside = {}, 0
      for k = 0, n - 1 do
        local i = k * case[1] % 32768 + case[2]
        if i >= 0 and i < lists then
          expected[i], inside = (expected[i] or 0) + k, inside + 1
        end
      end
      fill(case[1], case[2])
      assert.equal(inside, x:count(), round)
      for i = 0, lists - 1, 7 do
        local sum = 0
        for _, k in x:items(i) do sum = sum + k end
        assert.equal(expected[i] or 0, sum)
      end
    end
  end)

  -- Results of prefetching look-ups are used by later groups of lanes, unless the loop changes
  -- cells.
  it("are read from large hashes by lanes of every number, where cells are absent, too", function()
    for _, t in ipairs { rg.f32, rg.f64 } do
      local x, y = rg.field(t), rg.field(t, 200)
      local block = rg.root:hash "ij"
      block:dense("ij", 4, 4):place(x)
      rg.kernel([=[function() -- every third block; the tree is large
        for i, j in rg.range(300, 300) do
          if (i + j) % 3 == 0 then x[(i - 150) * 4 + 1][(j - 150) * 4 + 2] = i * 1000 + j end
        end
      end]=], { rg = rg, x = x })()
      local function at(k) return k * 7919 % 320 - 160, k * 104729 % 320 - 160 end
      local function expected(k)
        local i, j = at(k)
        i, j = i + 150, j + 150
        local is_there = i >= 0 and i < 300 and j >= 0 and j < 300 and (i + j) % 3 == 0
        return is_there and i * 1000 + j or 0
      end
      local read = rg.kernel([=[function(first, last)
        for k in rg.range({ first, last }) do
          local i, j = k * 7919 % 320 - 160, k * 104729 % 320 - 160
          y[k] = x[i * 4 + 1][j * 4 + 2]
        end
      end]=], { rg = rg, x = x, y = y })
      local write = rg.kernel([=[function()
        for k in rg.range(200) do
          local i, j = k * 7919 % 320 - 160, k * 104729 % 320 - 160
          x[i * 4 + 1][j * 4 + 2] = x[i * 4 + 1][j * 4 + 2] + 1
          y[k] = x[i * 4 + 1][j * 4 + 2]
        end
      end]=], { rg = rg, x = x, y = y })
      for _, last in ipairs { 1, 7, 8, 15, 16, 17, 31, 33, 48, 64, 100, 200 } do
        y:fill(-1)
        read(last > 20 and 3 or 0, last)
        for k = 0, 199 do
          local is_read = k >= (last > 20 and 3 or 0) and k < last
          assert.equal(is_read and expected(k) or -1, y[k])
        end
      end
      write()
      for k = 0, 199 do assert.equal(expected(k) + 1, y[k]) end
      read(0, 200)
      for k = 0, 199 do assert.equal(expected(k) + 1, y[k]) end
    end
  end)
end)
