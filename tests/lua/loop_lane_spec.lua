--- Serial loops whose iterations are independent have the same results in lanes as one after
--- another, to the last bit; loops whose iterations depend on each other are not changed.
local support = require "support"
local rg, with_stress = support.rg, support.with_stress

-- Bodies of a loop over the nodes b of 24 cells each: x: f32, z: i32 are read, y: f32, c: i32
-- written; t: an i32 and u: an f32 that all iterations share; g: f32 of another sparse tree.
local bodies = {
  ["an if around neighbours"] = [=[for a = 0, 23 do
      if z[24 * b + a] > 0 then y[24 * b + a] = x[24 * b + a] else c[24 * b + a] = a end
    end]=],
  ["a while whose turns differ"] = [=[for a = 0, n - 1 do
      local q, k = x[24 * b + a] * 9, 0
      while q > 0.5 do q = q * 0.5; k = k + 1 end
      y[24 * b + a] = q; c[24 * b + a] = k
    end]=],
  ["ranges, gathers and continue"] = [=[for a in rg.range({3, 20}) do
      local i = 24 * b + a
      if z[i] == 0 then continue end
      y[i] = x[(i * 7) % 48] + x[24 * b + 23 - a] + g[i]
      if z[i] > 3 then continue end
      c[i] = a + z[(i * 5) % 96]
    end]=],
  ["nested loops with exits of their own"] = [=[for a = 1, 22 do
      local k = 0
      for m = 1, 6 do
        if m * a > z[24 * b + a] + 9 then break end
        if m == 4 then continue end
        for q = 1, m do k = k + q * z[24 * b + q] end
      end
      c[24 * b + a] = c[24 * b + a] + k
    end]=],
  ["reads and writes at one place"] = [=[for a = 0, 22 do
      if x[24 * b + a] > 1 then y[24 * b + a + 1] = y[24 * b + a + 1] * 0.5 + a end
    end]=],
  ["writes that activate"] = [=[for a = 0, 23 do
      if z[24 * b + a] > 1 then g[24 * b + a] = g[24 * b + a] + a end
    end]=],
  ["an atomic update, and a reduction"] = [=[for a = 0, 23 do
      if z[24 * b + a] > 0 then t[z[24 * b + a] % 3] = t[z[24 * b + a] % 3] + a end
      s = s + z[24 * b + a]
    end]=],
  ["math"] = "for a = 0, 23 do if a ~= 7 then y[24 * b + a] = math.sin(x[24 * b + a]) end end",
  ["i64 indices and other bounds"] = [=[
    for a = rg.i64(z[24 * b]), rg.i64(20) - 1 do
      if a >= 0 then y[24 * b + a] = x[24 * b + a] + rg.f32(a) end
    end
    for a = z[24 * b], z[24 * b + 1] * 3 do
      if a >= 0 and a < 24 then c[24 * b + a] = a end
    end
    for a = 5, 4 do c[24 * b + a] = 99 end]=],
  ["sums of floats, in order"] = [=[local v, w = 0.1, 1.0
    for a = 0, 23 do
      if z[24 * b + a] > 0 then v = math.sqrt(x[24 * b + a] + 0.3) + v end
      w = w - x[24 * b + a] / 7
    end
    y[24 * b], y[24 * b + 1] = v, w]=],
  -- iterations that depend on each other
  ["a sum of floats that they read"] = [=[local v = 0.1
    for a = 0, 23 do v = v + math.sqrt(x[24 * b + a]); y[24 * b + a] = v end]=],
  ["a sum of floats with two additions"] = [=[local v = 0.1
    for a = 0, 23 do
      v = v + math.sqrt(x[24 * b + a])
      if z[24 * b + a] > 0 then v = v + 0.3 * x[24 * b + a] end
    end
    y[24 * b] = v]=],
  ["a sum of floats in a loop inside"] = [=[local v = 0.1
    for a = 0, 23 do for m = 1, 3 do v = v + math.sqrt(m * x[24 * b + a]) end end
    y[24 * b] = v]=],
  ["a sum along the loop"] = [=[for a = 1, 23 do
      y[24 * b + a] = y[24 * b + a - 1] + x[24 * b + a]
    end]=],
  ["writes that others read"] = [=[for a = 0, 22 do
      y[24 * b + a] = a
      if x[24 * b + a] > 1 then c[24 * b + a] = rg.i32(y[24 * b + a + 1]) end
    end]=],
  ["variables from outside"] = [=[local k = 0
    for a = 0, 23 do if z[24 * b + a] > 0 then k = k * 3 + a; c[24 * b + a] = k end end]=],
  ["one element for all"] = "for a = 0, 23 do if z[24 * b + a] > 0 then y[24 * b] = a end end",
  ["places that repeat"] = "for a = 0, 23 do if x[a] > 1 then c[24 * b + a // 2] = a end end",
  ["a break"] = "for a = 0, 23 do if z[24 * b + a] > 4 then break end; c[24 * b + a] = a end",
  ["two updates of floats"] = [=[for a = 0, 23 do
      if b == 1 then u[0] = u[0] + x[24 + a]; u[0] = u[0] + x[24 + a] * 0.3 end
    end]=],
}

local function outcome(body)
  local x, z, g = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.f32)
  local y, c, t, u = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.i32, 3), rg.field(rg.f32, 1)
  local block = rg.root:pointer("i", 4)
  block:dense("i", 24):place(x, z, y, c)
  rg.root:pointer("i", 12):dense("i", 8):place(g)
  for i = 0, 95 do
    if i < 24 or i >= 48 then x[i], z[i] = i * 37 % 101 / 40, (i * 29 + 3) % 13 - 5 end
    y[i] = i / 3
    if i % 30 < 9 then g[i] = i end
  end
  local k = rg.kernel(("function(block, x, z, y, c, t, u, g, n)\n local s = 0\n"
    .. " for b in block:active() do\n%s\n end\n return s\nend"):format(body))
  local parts = { tostring(k(block, x, z, y, c, t, u, g, 24)), t[0], t[1], t[2], u[0] }
  for i = 0, 95 do
    parts[#parts + 1] = ("%.17g %.17g %.17g"):format(y[i], c[i], g[i])
  end
  return table.concat(parts, " "), k:explain()
end

describe("vectorised iterations of a serial loop #compiled", function()
  for name, body in pairs(bodies) do
    it("do " .. name .. " as one by one", function()
      local beside = with_stress("guard_pages,force_lanes", function() return outcome(body) end)
      assert.equal((outcome(body)), beside)
      assert.equal(beside, (support.with_option("RG_WITHOUT", "lanes", function()
        return outcome(body)
      end)))
    end)
  end

  it("are shown by explain(), with their width #cpu", function()
    local _, told = outcome(bodies["a while whose turns differ"])
    assert.matches("\n    %d+ iterations at a time, in vector lanes\n", told)
    _, told = outcome(bodies["variables from outside"])
    assert.not_matches("iterations at a time", told)
  end)
end)

-- Each row has two buffers, of which a step reads one and writes the other.
local function step_buffers(first, second, turn)
  local w = rg.field(rg.f32, 3, 2, 20)
  for i = 0, 2 do for k = 0, 19 do w[i][0][k] = (i * 7 + k * 5) % 11 / 3 end end
  local kernel = rg.kernel(([=[function(w)
    for i in rg.range(3) do
      local now, new = %d, %d
      for t = 1, 5 do
        local sum = 0.0
        for k = 0, 19 do
          local q = 0.0
          for m = 0, 19 do q = q + w[i][now][m] * (k + m %% 3) end
          w[i][new][k] = q
          sum = sum + q
        end
        for k = 0, 19 do w[i][new][k] = w[i][new][k] / sum end
        %s
      end
    end
  end]=]):format(first, second, turn))
  kernel(w)
  local parts = {}
  for i = 0, 2 do
    for k = 0, 19 do parts[#parts + 1] = ("%.9g %.9g"):format(w[i][0][k], w[i][1][k]) end
  end
  return table.concat(parts, " ")
end

describe("a loop that reads one buffer and writes another #compiled", function()
  local turns = {
    { 0, 1, "now, new = new, now" }, { 0, 0, "now, new = new, now" }, { 0, 1, "now = new" },
    { 0, 1, "now, new = new, now; if t == 3 then now = new end" },
    { 0, 1, "now = 1 - now; if t > 2 then new = 1 - new end" },
  }

  it("has the same results in lanes, also where both become one", function()
    for _, turn in ipairs(turns) do
      local alone = support.with_option("RG_WITHOUT", "lanes", function()
        return step_buffers(unpack(turn))
      end)
      assert.equal(alone, with_stress("force_lanes", function()
        return step_buffers(unpack(turn))
      end), turn[3])
    end
  end)
end)

-- Each position paints a box of cells, whose corner and sides are data.
local function paint(update, told)
  local n = 64
  local at, size = rg.field(rg.ivec2, n), rg.field(rg.ivec2, n)
  local image, depth = rg.field(rg.f32, 48, 48), rg.field(rg.i64, 48, 48)
  for p = 0, n - 1 do
    at[p] = { p * 7 % 40 - 2, p * 13 % 40 - 2 }
    size[p] = { p * 5 % 9, p * 3 % 21 }
  end
  local k = rg.kernel(([=[function(at, size, image, depth, n)
    for p in rg.range(n) do
      for i = at[p].x, at[p].x + size[p].x - 1 do
        for j = at[p].y, at[p].y + size[p].y - 1 do
          local d = (i - at[p].x) * (i - at[p].x) + (j - at[p].y) * (j - at[p].y)
          if d < 90 then %s end
        end
      end
    end
  end]=]):format(update))
  k(at, size, image, depth, n)
  if told then return k:explain() end
  local parts = {}
  for i = 0, 47 do
    for j = 0, 47 do parts[#parts + 1] = ("%.9g %d"):format(image[i][j], tonumber(depth[i][j])) end
  end
  return table.concat(parts, " ")
end

describe("loops that paint boxes of cells #compiled", function()
  local sum = "image[i][j] = image[i][j] + d"
  local nearest = "depth[i][j] = math.max(depth[i][j], rg.i64(1e6 / (d + 1)) * 64 + p)"

  for name, update in pairs { sum = sum, nearest = nearest } do
    it("give the same in lanes as in scalar code: " .. name, function()
      local alone = support.with_option("RG_WITHOUT", "lanes", function() return paint(update) end)
      assert.equal(alone, (paint(update)))
      assert.equal(alone, with_stress("guard_pages,force_lanes", function()
        return paint(update)
      end))
    end)
  end

  it("are vectorised along their rows where each lane writes separately #cpu", function()
    local told = support.with_option("RG_STRESS", "", function() return paint(sum, true) end)
    assert.matches("\n    %d+ iterations at a time, in vector lanes\n", told)
  end)

  -- with fewer lanes, an update by each lane costs too much of what they save
  it("run several at once if few cells of one are adjacent #cpu", function()
    if not support.processor_has "avx512bw" then return pending "no vectors of 512 bits" end
    assert.matches("\n    %d+ positions at a time, in vector lanes\n", paint(nearest, true))
  end)
end)

-- Bodies of a loop over i, or over i, j where `two`. x: f32, z: i32 are read and written, y: f32 is
-- written, grid: f32, of two axes.
local branches = {
  ["what it has read"] = "if z[i] > 2 then z[i] = 0; y[i] = x[i]; x[i] = -1 end",
  ["branches in a branch"] = [=[if z[i] > 0 then
      local a = x[i] * 2
      if a < 3 and z[(i * 5) % n] > 1 then y[i] = a; s = s + z[i] end
    end]=],
  ["a loop of its own"] = [=[local a, k = x[i], 0
    if a > 1 then
      for q = 0, 39 do k = k + (q + i) % 7 end
      while a > 0.5 do a = a * 0.5; k = k + 1 end
      y[i] = k
      if k % 2 == 0 then s = math.max(s, k) end
    end]=],
  ["an early end"] = "if z[i] < 0 then continue end; if x[i] > 1 then y[i] = x[i]; s = s + 1 end",
  ["updates of others"] = "if z[i] > 0 then y[(i * 3) % n] -= 1; s = s + 1 end",
  ["neighbours"] = "if x[i + 1] > x[i] and x[i - 1] > x[i] then y[i] = x[i - 1] + x[i + 1] end",
  ["a parity"] = { "if (i + j) % 2 == 1 then grid[i][j] = grid[i - 1][j] + grid[i][j + 1] end" },
}

local function found(body, n)
  local x, z, y = rg.field(rg.f32, n), rg.field(rg.i32, n), rg.field(rg.f32, n)
  local grid = rg.field(rg.f32, 9, n)
  for i = 0, n - 1 do x[i], z[i] = i * 37 % 101 / 40, (i * 29 + 3) % 13 - 5 end
  for i = 0, 8 do
    for j = 0, n - 1 do grid[i][j] = i * 7 + j end
  end
  local head = type(body) == "table" and "i, j in rg.range(9, n)" or "i in rg.range(n)"
  local text = type(body) == "table" and body[1] or body
  local k = rg.kernel(("function()\n local s = 0\n for %s do\n%s\n end\n return s\nend")
    :format(head, text), { x = x, z = z, y = y, grid = grid, n = n })
  local parts = { tostring(k()) }
  for i = 0, n - 1 do parts[#parts + 1] = ("%.17g %d %.17g"):format(x[i], z[i], y[i]) end
  for i = 0, 8 do
    for j = 0, n - 1 do parts[#parts + 1] = ("%.17g"):format(grid[i][j]) end
  end
  return table.concat(parts, " "), k:explain()
end

describe("lanes that find the iterations of a range that take a branch #compiled", function()
  for name, body in pairs(branches) do
    it("leave them " .. name, function()
      for _, n in ipairs { 5, 133 } do
        local alone = support.with_option("RG_WITHOUT", "lanes", function()
          return found(body, n)
        end)
        assert.equal(alone, (with_stress("guard_pages,force_lanes,prefer_scalar", function()
          return found(body, n)
        end)))
      end
    end)
  end

  it("are shown by explain, with the branch #cpu", function()
    local _, told = with_stress("force_lanes,prefer_scalar", function()
      return found(branches["branches in a branch"], 133)
    end)
    assert.matches("positions at a time are tested, in vector lanes, for the branch of line 6\n",
      told)
  end)
end)

-- The best of each row by this comparison, and what the iterations that improved it have left.
local function best_of_rows(op, n, condition)
  local x, out = rg.field(rg.f32, 7, n), rg.field(rg.vec4, 7)
  for i = 0, 6 do
    for j = 0, n - 1 do
      local v = (i * 5 + j * j * 7) % 23 - 11
      x[i][j] = j % 9 == 4 and 0 / 0 or v == 0 and -0.0 or v == 1 and 0 or v
    end
  end
  local k = rg.kernel(([=[function(n)
    for i in rg.range(7) do
      local best, at, before, times = %s, -1, -1, 0
      for j = 0, n - 1 do
        local v = x[i][j] * (1 + i)
        if %s v %s best then best, before, at, times = v, at, j, times + 1 end
      end
      if times > n then print(times) end -- so iterations of the range are not lanes
      out[i] = rg.vec4(best, at, before, times)
    end
  end]=]):format(op:find "<" and "1000.0" or "-1000.0", condition, op), { x = x, out = out })
  k(n)
  local parts = {}
  for i = 0, 6 do
    local v = out[i]
    parts[#parts + 1] = ("%.9g %.9g %g %g %g"):format(v.x, 1 / v.x, v.y, v.z, v.w)
  end
  return table.concat(parts, "\n"), k:explain()
end

describe("lanes that find what may be the best number so far #compiled", function()
  for _, op in ipairs { "<", "<=", ">", ">=" } do
    it("leave the first or last of equal ones with " .. op, function()
      for _, condition in ipairs { "", "j % 3 ~= 1 and" } do
        for _, n in ipairs { 5, 133 } do
          local alone = support.with_option("RG_WITHOUT", "lanes", function()
            return best_of_rows(op, n, condition)
          end)
          assert.equal(alone, (best_of_rows(op, n, condition)))
        end
      end
    end)
  end

  it("are shown by explain #cpu", function()
    local _, told = best_of_rows("<", 133, "")
    assert.matches("%d iterations at a time are tested for the branch, in vector lanes\n", told)
  end)
end)
