--- Cells of a leaf that run in lanes have the same results as one after another, to the last bit:
--- every construct that rows cannot have, in trees whose rows differ in length, masks and layout.
local support = require "support"
local rg, with_stress = support.rg, support.with_stress

-- Bodies of a loop over the cells i, j of a sparse tree. The visited level has x: f32, z: i32, d:
-- f64, v: vec3, which are read, and y: f32, c: i32, w: vec3, which are written; far: f32 is in
-- another sparse tree, t is an i32 that all iterations share.
local cell_bodies = {
  ["an if around what is no cell's own"] = [=[if z[i][j] > 0 then
      t[z[i][j] % 4] = t[z[i][j] % 4] + 1
      y[i][j] = x[i][j] * 2
    end
    c[i][j] = c[i][j] + 1]=],
  ["neighbours in both directions, and a loop"] = [=[local a, k = x[i][j], 0
    while a > 0.5 do a = a * 0.5; k = k + 1 end
    y[i][j] = x[i][j - 1] - x[i][j + 1] + 2 * x[i - 1][j] - 3 * x[i + 1][j]
    c[i][j] = k + z[i - 1][j + 1]]=],
  ["far neighbours under a condition"] = [=[if z[i][j] > 1 then
      y[i][j] = x[i][j - 2] + x[i + 2][j + 3]
      if x[i][j + 1] > 1 then continue end
    end
    c[i][j] = 4]=],
  ["break, continue and ends that differ"] = [=[local k = 0
    for m = z[i][j], 6 do
      if (m + j) % 3 == 0 then continue end
      if k > z[i][j] * 4 then break end
      k = k + m
    end
    c[i][j] = k]=],
  ["gathers in the same tree and in another"] = [=[local q = (j * 7 + i) % 32
    y[i][j] = x[q][j] + far[i][j] + far[q][(j + i) % 32]
    if far[j][i] > 1 then c[i][j] = 1 end]=],
  ["writes that activate in another tree"] = [=[
    if z[i][j] > 1 then far[(i * 5) % 32][j] = 3 end
    if z[i][j] == 0 then far:deactivate(i, j) end]=],
  ["vectors, whole and in part"] = [=[local a = v[i][j]
    if a.x > a.y then a = a * 2 end
    w[i][j] = a + v[i][j + 1]
    if z[i][j] > 0 then w[i][j].y = v[i - 1][j].z end]=],
  ["wide numbers"] = "if d[i][j] > 1 then c[i][j] = rg.i32(d[i][j] * 1e9); t[0] = t[0] + 1 end",
  ["updates of places of others"] = "t[(i + j) % 4] = t[(i + j) % 4] + z[i][j]",
  ["updates with old values"] = "if t:add(1, z[i][j]) > -100000 then c[i][j] = 1 end",
  ["reductions"] = [=[if z[i][j] > 1 then s = s + z[i][j]; m = math.max(m, z[i][(j * 3) % 32]) end
    for k = 1, z[i][j] do s = s + k end]=],
  ["random numbers"] = "if z[i][j] > 0 then y[i][j] = rg.random(rg.f32) + far[i][j] end",
  ["tests of cells"] = "if x:is_active(i, (j + 9) % 32) then c[i][j] = 1; s = s + 1 end",
}

local trees = { -- the level whose cells hold the fields, and what is active of it
  ["rows of 16"] = function() return rg.root:pointer("ij", 2):dense("ij", 16) end,
  ["rows of 4"] = function() return rg.root:pointer("ij", 8):dense("ij", 4) end,
  ["rows of 12"] = function() return rg.root:pointer("ij", 3):dense("ij", 12) end,
  ["masked rows"] = function() return rg.root:pointer("ij", 2):bitmasked("ij", 16) end,
  ["masked short rows"] = function() return rg.root:pointer("ij", 8):bitmasked("ij", 4) end,
  ["rows divided twice"] = function()
    return rg.root:pointer("ij", 2):dense("ij", 4):dense("ij", 4)
  end,
  ["words without nodes"] = function() return rg.root:bitmasked("ij", 32) end,
  ["words of cells in another order"] = function()
    return rg.root:pointer("ij", 2):dense("i", 16):bitmasked("j", 16)
  end,
  ["masks above the cells"] = function()
    return rg.root:pointer("ij", 2):bitmasked("ij", 8):dense("ij", 2)
  end,
  ["rows in nodes of a hash"] = function() return rg.root:hash("ij"):dense("ij", 16) end,
}
if os.getenv "RG_ARCH" == "cuda" then -- which has no lanes, so one tree for each body will do
  trees = { ["masks above the cells"] = trees["masks above the cells"] }
end

local function cell_fields(make)
  local level = make()
  local f = { far = rg.field(rg.f32), t = rg.field(rg.i32, 8) }
  local types = { x = rg.f32, z = rg.i32, d = rg.f64, v = rg.vec3, y = rg.f32, c = rg.i32,
    w = rg.vec3 }
  for name, type in pairs(types) do f[name] = rg.field(type) end
  level:place(f.x, f.z, f.d, f.y, f.c)
  level:place(f.v, f.w)
  rg.root:pointer("ij", 4):dense("ij", 8):place(f.far)
  for i = 0, 31 do
    for j = 0, 31 do
      if (i * 3 + j) % 5 < 3 and (i < 16 or j < 20) then
        f.x[i][j] = (i * 37 + j * 11) % 101 / 40
        f.z[i][j] = (i * 29 + j * 5 + 3) % 13 - 5
        f.d[i][j] = (i + j * 53) % 17 / 3
        f.v[i][j] = rg.vec3(i % 3, j * 5 % 7 / 2, i - j)
      end
      if (i + j) % 7 == 0 then f.far[i][j] = (i - j) / 8 end
    end
  end
  return f
end

local cell_names = { "x", "z", "d", "v", "y", "c", "w", "far", "t" }

local function cell_outcome(make, body)
  rg.seed(5)
  local f, args = cell_fields(make), {}
  for k, name in ipairs(cell_names) do args[k] = f[name] end
  local k = rg.kernel(("function(%s)\n local s, m = 0, -99\n for i, j in x:active() do\n%s\n end\n"
    .. " return s, m\nend"):format(table.concat(cell_names, ", "), body))
  local parts = { ("%d %d"):format(k(unpack(args))) }
  for _, name in ipairs { "y", "c", "w", "far" } do
    for i = 0, 31 do
      for j = 0, 31 do
        local value = f[name][i][j]
        parts[#parts + 1] = name == "w" and ("%.17g %.17g %.17g"):format(value.x, value.y, value.z)
          or ("%.17g"):format(tonumber(value))
      end
    end
  end
  for i = 0, 7 do parts[#parts + 1] = tostring(f.t[i]) end
  return table.concat(parts, " "), k
end

describe("vectorised loops over cells #compiled", function()
  for name, body in pairs(cell_bodies) do
    it("do " .. name .. " as one by one", function()
      for where, make in pairs(trees) do
        local without = with_stress("guard_pages", function()
          return support.with_option("RG_WITHOUT", "lanes", function()
            return cell_outcome(make, body)
          end)
        end)
        collectgarbage()
        collectgarbage()
        local beside = with_stress("guard_pages,force_lanes", function()
          return cell_outcome(make, body)
        end)
        assert(without == beside, "in " .. where)
      end
    end)
  end
end)

describe("vectorised loops over cells of long masked rows", function()
  local places = {
    ["rows of 100"] = function(n)
      return rg.root:pointer("ij", 4, n / 100):bitmasked("ij", 2, 100)
    end,
    ["rows of 400"] = function(n) return rg.root:pointer("i", 8):bitmasked("ij", 1, n) end,
    ["words without nodes"] = function(n) return rg.root:bitmasked("ij", 8, n) end,
  }
  local n = 400
  local function is_there(i, j) return (i * 31 + j * j) % 7 < (j < 200 and 6 or 1) end

  for where, place in pairs(places) do
    it("visit the active cells: " .. where, function()
      local x, y = rg.field(rg.i32), rg.field(rg.i32)
      place(n):place(x, y)
      for i = 0, 7 do
        for j = 0, n - 1 do
          if is_there(i, j) then x[i][j] = i + j end
        end
      end
      local step = rg.kernel([=[function(most)
        local s = 0
        for i, j in x:active() do
          if x[i][j] > most then continue end
          local k = 0
          while k * k < x[i][j] do k = k + 1 end
          y[i][j] = k + x[i][j] * 2
          s = s + 1
        end
        return s
      end]=], { x = x, y = y })
      local count = step(350)
      for i = 0, 7 do
        for j = 0, n - 1 do
          local there = is_there(i, j)
          local is_done = there and i + j <= 350
          assert.equal(there, x:is_active(i, j))
          local k = math.ceil(math.sqrt(i + j))
          assert.equal(is_done and k + 2 * (i + j) or 0, y[i][j])
          if is_done then count = count - 1 end
        end
      end
      assert.equal(0, count)
    end)

    it("visit the cells from before the loop, where it activates others: " .. where, function()
      local x, y = rg.field(rg.i32), rg.field(rg.i32)
      place(n):place(x, y)
      for j = 0, n - 1, 3 do x[2][j] = 1 end
      local grow = rg.kernel(function()
        local s = 0
        for i, j in x:active() do
          if j % 2 == 0 and j + 1 < 400 then y[i][j + 1] = j end
          s = s + 1
        end
        return s
      end)
      assert.equal(math.ceil(n / 3), grow())
      for j = 0, n - 1 do
        local is_new = j % 3 == 1 and j % 2 == 1
        assert.equal(j % 3 == 0 or is_new, x:is_active(2, j))
        assert.equal(is_new and j - 1 or 0, y[2][j])
      end
    end)
  end
end)
