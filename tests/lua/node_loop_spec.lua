-- Loops over nodes: elements in the visited node are accessed directly, with the result of a
-- look-up; several nodes are visited in lanes if that is cheaper.
local support = require "support"
local rg = support.rg

local function tree()
  local x, y, most = rg.field(rg.i32), rg.field(rg.f32), rg.field(rg.i32)
  local block = rg.root:pointer("ij", 6, 5)
  block:dense("ij", 4, 3):place(x)
  block:dense("i", 8):place(y)
  block:place(most)
  return x, y, most, block
end

describe("a loop over nodes", function()
  it("reads and writes the cells and numbers of its node", function()
    local x, y, most, block = tree()
    for n, at in ipairs { { 0, 0 }, { 5, 4 }, { 2, 3 } } do
      for a = 0, 3 do
        for b = 0, 2 do x[4 * at[1] + a][3 * at[2] + b] = 100 * n + 10 * a + b end
      end
    end
    rg.kernel([=[function()
      for i, j in block:active() do
        local largest = 0
        for a = 0, 3 do
          for b = 0, 2 do largest = math.max(largest, x[4 * i + a][j * 3 + b]) end
        end
        most[i][j] = largest
        x[4 * i + 3][3 * j] = -1
        y[8 * i + 7][j] = largest + x[4 * i + 4][3 * j]
      end
    end]=], { x = x, y = y, most = most, block = block })()
    assert.equal(3, block:count())
    assert.same({ 132, 232, 332 }, { most[0][0], most[5][4], most[2][3] })
    assert.same({ -1, -1, -1 }, { x[3][0], x[23][12], x[11][9] })
    assert.same({ 132, 232, 332 }, { y[7][0], y[47][4], y[23][3] })
  end)

  it("reads zero in its node once the iteration has deactivated it", function()
    local x, _, most, block = tree()
    local seen = rg.field(rg.i32, 6, 5)
    for i = 0, 5 do
      x[4 * i][3] = 7
      most[i][1] = 1
    end
    rg.kernel([=[function()
      for i, j in block:active() do
        if i % 2 == 0 then block:deactivate(i, j) end
        seen[i][j] = 1 + x[4 * i][3 * j]
      end
    end]=], { x = x, seen = seen, block = block })()
    for i = 0, 5 do assert.equal(i % 2 == 0 and 1 or 8, seen[i][1]) end
    assert.equal(3, block:count())
  end)

  it("reads and writes cells of a hash's node, also below zero", function()
    local x, most = rg.field(rg.i32), rg.field(rg.i32)
    local block = rg.root:hash("ij")
    block:dense("ij", 4, 3):place(x)
    block:place(most)
    for n, at in ipairs { { -7, 2 }, { 3, -1 }, { 0, 0 }, { -2 ^ 31, 2 ^ 40 } } do
      for a = 0, 3 do
        for b = 0, 2 do x[4 * at[1] + a][3 * at[2] + b] = 100 * n + 10 * a + b end
      end
    end
    local k = rg.kernel([=[function()
      for i, j in block:active() do
        local largest = 0
        for a, b in rg.range({4 * i, 4 * i + 4}, {3 * j, 3 * j + 3}) do
          largest = math.max(largest, x[a][b])
        end
        most[i][j] = largest
        x[4 * i + 3][3 * j + 1] += x[4 * i][3 * j + 2]
        x[4 * i + 1][3 * j] = x[rg.i32(4 * i)][3 * j] -- past 2^31 another cell
      end
    end]=], { x = x, most = most, block = block })
    k()
    local far = most[-2 ^ 31][2 ^ 40]
    assert.same({ 132, 232, 332, 432 }, { most[-7][2], most[3][-1], most[0][0], far })
    assert.same({ 233, 433, 633 }, { x[-25][7], x[15][-2], x[3][1] })
    far = x[-2 ^ 33 + 1][3 * 2 ^ 40]
    assert.same({ 100, 200, 300, 0 }, { x[-27][6], x[13][-3], x[1][0], far })
    if os.getenv "RG_ARCH" ~= "lua" then
      assert.matches("reads 'x': cells of the visited leaf\n", k:explain(), 1, true)
    end
  end)

  it("adds to cells of its node and of others", function()
    local x, _, _, block = tree()
    for i = 0, 5 do
      for j = 0, 4 do block:activate(i, j) end
    end
    rg.kernel([=[function()
      for i, j in block:active() do
        x[4 * i][3 * j] = x[4 * i][3 * j] + 1
        x[(4 * i + 4) % 24][3 * j] = x[(4 * i + 4) % 24][3 * j] + 1
      end
    end]=], { x = x, block = block })()
    for i = 0, 5 do
      for j = 0, 4 do assert.equal(2, x[4 * i][3 * j]) end
    end
  end)
end)

-- Bodies over the active cells i of a hash: x: f32 and z: i32 are read, y: f32, c: i32 written; of
-- another hash g: f32; t: an i32 that all share; n = 3.
local bodies = {
  ["mathematics"] = "y[i] = math.sin(x[i]) * math.exp(x[i] * 0.01)",
  ["reads of another hash"] = "y[i] = g[2 * i + 1] + g[math.floor(i / 2)] * x[i]",
  ["reads of cells around"] = "y[i] = x[i - 1] + 2 * x[i + 1] - x[i + 100]",
  ["branches that differ, and continue"] = [=[
    if z[i] < 0 then continue end
    if x[i - 3] > 1 then y[i] = x[i] else c[i] = z[i] * 3 end]=],
  ["a while whose turns differ"] = [=[local q, k = x[i] * 9, 0
    while q > 0.5 do q = q * 0.5; k = k + 1 end
    y[i] = q; c[i] = k]=],
  ["a loop with a captured end"] = [=[local s = 0.0
    for a = -n, n do s = s + x[i + a] * a end
    y[i] = s]=],
  ["new cells of another hash"] = "g[i * 5] = g[i * 5] + x[i]; y[i] = g[i * 5]",
  ["cells given back"] = "if z[i] > 0 then x:deactivate(i) end",
  ["questions"] = "if g:is_active(i) and not x:is_active(i + 1) then c[i] = z[i] + 1 end",
  ["an element for all, and sums"] = [=[if z[i] ~= 0 then t[0] = t[0] + z[i] end
    s = s + z[i]; most = math.max(most, x[i])]=],
  ["indices past 2^31"] = "y[i] = g[i * rg.i64(4294967296)] + x[i]",
}

local function visited(body)
  local x, y, z, c = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.i32)
  local g, t = rg.field(rg.f32), rg.field(rg.i32, 1)
  rg.root:hash("i"):place(x, y, z, c)
  rg.root:hash("i"):place(g)
  for a = 0, 99 do
    local i = a < 60 and a * 7 % 97 - 30 or a * 1000003 % 65521 - 2 ^ 31 + a
    x[i], z[i] = a * 37 % 101 / 40, (a * 29 + 3) % 13 - 5
    if a % 3 > 0 then g[a - 50] = a end
  end
  g[-2 ^ 32 * 4], g[2 ^ 32 * 9] = 5, 6
  local k = rg.kernel(("function(x, y, z, c, g, t, n)\n local s, most = 0, -1.0\n"
    .. " for i in x:active() do\n%s\n end\n return s, most\nend"):format(body))
  local sum, most = k(x, y, z, c, g, t, 3)
  local lines = { tostring(sum) .. " " .. tostring(most) .. " " .. t[0] }
  for i, v in pairs(x) do
    lines[#lines + 1] = ("%s %.17g %.17g %d %d"):format(i, v, y[i], z[i], c[i])
  end
  for i, v in pairs(g) do lines[#lines + 1] = ("g %s %.17g"):format(i, v) end
  table.sort(lines)
  return table.concat(lines, "\n"), k:explain()
end

describe("vectorised loops over nodes #compiled", function()
  for name, body in pairs(bodies) do
    it("give the same as scalar loops: " .. name, function()
      local function run() return (visited(body)) end
      local alone = support.with_option("RG_WITHOUT", "lanes", run)
      assert.equal(alone, (visited(body)))
      assert.equal(alone, support.with_stress("guard_pages,force_lanes", run))
    end)
  end

  it("are shown by explain(), with their width #cpu", function()
    local _, told = visited(bodies["reads of another hash"])
    assert.matches("\n    %d+ nodes at a time, in vector lanes\n", told)
    _, told = visited("y[i] = x[i] * 2")
    assert.matches("one node at a time: in vector lanes, most", told, 1, true)
  end)
end)
