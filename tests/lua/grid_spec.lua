--- rg.grid over ranks: the same result for every number of ranks, with all memory accessible and
--- with a part of it not (RG_LSA_SIZE); sparse blocks, their load balance, and invalid calls.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local blocks = require "growing_blocks"
local rg = support.rg

-- Returns the output of rank 0; there may be no other output.
local function result(ranks, script, environment)
  local lines, code = support.run_ranks(ranks, script, { environment = environment })
  assert.are.equal(0, code, table.concat(lines, "\n"))
  assert.are.equal(1, #lines, table.concat(lines, "\n"))
  return lines[1]
end

-- What one of them compiles, the others find. `is_uneven`: also on ranks that divide no extent.
local function same_on_all(script, is_uneven)
  local folder = os.tmpname()
  os.remove(folder)
  local cache = "RG_CACHE=" .. folder
  local one = result(1, script, cache)
  assert.are.equal(one, result(2, script, cache))
  if is_uneven then assert.are.equal(one, result(3, script, cache .. " RG_LSA_SIZE=1")) end
  assert.are.equal(one, result(4, script, cache .. " RG_LSA_SIZE=2"))
  os.execute(("rm -r '%s'"):format(folder))
  return one
end

local ranks_alone = "ranks are started by a program of their own: #compiled #cpu"

describe("a grid over ranks, " .. ranks_alone, function()
  it("gives a wave and a lattice of nine speeds to the last bit", function()
    local line = same_on_all([[
      local n, m = 17, 22
      local g = rg.grid{ shape = {n, m}, periodic = true }
      local a, b, nine = g.from, g.past, rg.vec(9, rg.f32)
      local f, h, u, v = g:field(nine), g:field(nine), g:field(rg.f32), g:field(rg.f32)
      local ex, ey = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, { 0, 0, 1, 0, -1, 1, 1, -1, -1 }
      local w = { 4/9, 1/9, 1/9, 1/9, 1/9, 1/36, 1/36, 1/36, 1/36 }
      rg.kernel(function()
        for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do
          local wave = math.sin(0.3 * i) * math.cos(0.2 * j)
          for k = 1, 9 do f[i][j][k - 1] = w[k] * (1 + 0.1 * wave) end
          u[i][j] = wave
          v[i][j] = wave
        end
      end)()
      local collide = rg.kernel(function(f, h)
        for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do
          local p, rho, x, y = nine(0), 0.0, 0.0, 0.0
          for k = 1, 9 do
            local q = f[i - ex[k] ][j - ey[k] ][k - 1]
            p[k - 1] = q
            rho, x, y = rho + q, x + q * ex[k], y + q * ey[k]
          end
          for k = 1, 9 do
            local e = (ex[k] * x + ey[k] * y) / rho
            p[k - 1] = p[k - 1] - 1.2 * (p[k - 1] - w[k] * rho * (1 + 3 * e + 4.5 * e * e))
          end
          h[i][j] = p
        end
      end)
      local swing = rg.kernel(function(u, v)
        for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do
          v[i][j] = 2 * u[i][j] - v[i][j] + 0.2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1]
            + u[i][j + 1] - 4 * u[i][j])
        end
      end)
      for _ = 1, 12 do
        g:exchange(f, u)
        collide(f, h)
        swing(u, v)
        f, h, u, v = h, f, v, u
      end
      local sum = 0
      for i = a[1], b[1] - 1 do
        for j = a[2], b[2] - 1 do
          local s = u[i][j]
          for k = 0, 8 do s = s + f[i][j][k] * (k + 1) end
          sum = sum + math.floor(s * 2 ^ 26) % 2 ^ 20 * (i * m + j + 1)
        end
      end
      sum = comm:all_reduce(sum)
      if comm.rank == 0 then print(("%.0f"):format(sum)) end
    ]], true)
    assert.is_truthy(line:find "^%d+$")
  end)

  it("of blocks grows, and moves blocks where that pays, to the last bit", function()
    local script = blocks.start(48) .. [[
      local moved, before, after = g:balance()
      assert(moved == (comm.size > 1) and (after < before or not moved) and after < 2)
    ]] .. blocks.run(24, 8) .. blocks.sum .. [[
      local work = rg.array(rg.i32, n / b, n / b)
      if comm.rank == 0 then work[0][0], work[11][11] = 3, 5 end
      g:balance{ work = work, least = 0 }
      assert(comm.size == 1 or g:owner(0, 0) == 0 and g:owner(47, 47) > 0)
      sum, cells = comm:all_reduce(sum), comm:all_reduce(cells)
      if comm.rank == 0 then print(("%.0f %d"):format(sum, cells)) end
    ]]
    local sum, cells = same_on_all(script):match "^(%d+) (%d+)$"
    assert.is_true(tonumber(sum) > 0 and tonumber(cells) > 144 * 2)
  end)

  it("of blocks adds up what ranks add to each other's cells, around borders, too", function()
    same_on_all [[
      local g = rg.grid{ shape = {16, 8}, block = {4, 8}, halo = 2, periodic = {true, false} }
      local m, v = rg.field(rg.f64), rg.field(rg.vec2)
      g:place(m, v)
      rg.kernel(function()
        for k in rg.range(16) do
          if g.owners[math.floor(k / 4)][0] == comm.rank then -- what is here adds two cells around
            for d = -2, 2 do
              m[(k + d + 16) % 16]:add(3, k + 1)
              v[(k + d + 16) % 16]:add(3, rg.vec2(1, d))
            end
          end
        end
      end)()
      g:collect(m, v)
      g:exchange(m, v)
      local own = g:owner(comm.rank * (16 / comm.size), 0)
      assert(own == comm.rank)
      for i = -2, 16 / comm.size + 1 do -- its own and those beside
        local k = (comm.rank * (16 / comm.size) + i) % 16
        local sum = 0
        for d = -2, 2 do sum = sum + (k + d) % 16 + 1 end
        assert(m[k][3] == sum and v[k][3] == rg.vec2(5, 0), k)
      end
      if comm.rank == 0 then print "all" end
    ]]
  end)

  it("of blocks carries water, the same to 1e-5 of the box, and balances the work", function()
    -- the example, and then where its particles are
    local text = 'arg = { "FOLDER", "1" }\n' .. support.read_file "examples/ranks_mpm.lua" .. [[
      local sum = rg.kernel(function(here)
        local s, J = rg.vec2(0), 0.0
        for p in rg.range(count[0]) do
          s = s + here[p].x
          J = J + here[p].J
        end
        return s.x, s.y, J
      end)
      local x, y, J = sum(here)
      x, y, J = comm:all_reduce(x), comm:all_reduce(y), comm:all_reduce(J)
      assert(comm:all_reduce(count[0], "max") < 1.3 * total / ranks)
      if me == 0 then print(("%.9f %.9f %.9f"):format(x / total, y / total, J / total)) end
    ]]
    -- where not all memory is reached: what leaves is sent, and each rank has a canvas of its own
    local parts = text:gsub("canvases:peer%(0%)", "canvas"):gsub("local function trade%(%)", [[
      local out_of, into, pack, unpack = {}, {}, rg.kernel(function(a, n, r)
        n[0] = left[r]
        for p in rg.range(left[r]) do a[p] = leaving[r][p] end
      end), rg.kernel(function(a, n, to)
        for p in rg.range(n[0]) do to[count:add(0, 1)] = a[p] end
      end)
      for r = 0, ranks - 1 do
        for _, list in ipairs(r ~= me and { out_of, into } or {}) do
          list[#list + 1] = { r, rg.array(Particle, most) }
          list[#list + 1] = { r, rg.array(rg.i32, 1) }
        end
      end
      local function send(to)
        for k = 1, #out_of, 2 do pack(out_of[k][2], out_of[k + 1][2], out_of[k][1]) end
        comm:trade(out_of, into)
        for k = 1, #into, 2 do unpack(into[k][2], into[k + 1][2], to) end
      end
      %0]]):gsub("fetch%(other%)", "send(other)")
    local folder, means = os.tmpname(), {}
    os.remove(folder)
    os.execute(("mkdir '%s'"):format(folder))
    for k, run in ipairs { { 1, text }, { 2, text }, { 4, parts, 2 } } do
      local lines = support.run_ranks(run[1], (run[2]:gsub("FOLDER", folder)),
        { environment = run[3] and "RG_LSA_SIZE=" .. run[3] })
      assert.are.equal("checksum 15000", lines[2], table.concat(lines, "\n"))
      means[k] = { lines[1]:match "^(%S+) (%S+) (%S+)$" }
      for j = 1, 3 do assert.is_true(math.abs(means[1][j] - means[k][j]) < 1e-5, means[k][j]) end
    end
    os.execute(("rm -r '%s'"):format(folder))
  end)

  -- Of a file: its cells, which may be in another order.
  local function content(path)
    local cells = {}
    for name, v in pairs(rg.load(path)) do
      if type(v) ~= "cdata" then cells[name] = v
      else
        for i, j, value in pairs(v) do
          cells[("%s[%d][%d]"):format(name, i, j)] = tostring(value)
        end
      end
    end
    return cells
  end

  it("saves one file, whatever the number of ranks, which others load", function()
    local folder, script = os.tmpname(), [[
      local dense = rg.grid{ shape = {5, 7}, periodic = true }
      local sparse = rg.grid{ shape = {16, 16}, block = 4 }
      local x, v = dense:field(rg.f32), dense:field(rg.vec2)
      local m, q = rg.field(rg.f64), rg.field(rg.i32)
      sparse:place(m, q)
      local a, b = dense.from, dense.past
      if SAVES then
        for i = a[1], b[1] - 1 do
          for j = a[2], b[2] - 1 do x[i][j], v[i][j] = 10 * i + j, rg.vec2(i, j) end
        end
        for i = 0, 15, 5 do
          if sparse:owner(i, 3) == comm.rank then m[i][3], q[i][3] = i + 0.5, i end
        end
        dense:save("FOLDER/dense", { x = x, v = v, frame = 7, name = 'a "b"', on = true,
          ["end"] = 1 / 0 })
        sparse:save("FOLDER/sparse", { m = m, q = q })
      else
        local t = dense:load("FOLDER/dense", { x = x, v = v })
        assert(t.frame == 7 and t.name == 'a "b"' and t.on == true and t.x == x
          and t["end"] == 1 / 0)
        for i = a[1] - 1, b[1] do
          for j = a[2] - 1, b[2] do
            assert(x[i][j] == i % 5 * 10 + j % 7 and v[i][j].y == j % 7)
          end
        end
        m[15][15] = 3
        sparse:load("FOLDER/sparse", { m = m, q = q })
        for i = 0, 15, 5 do
          if sparse:owner(i, 3) == comm.rank then assert(m[i][3] == i + 0.5 and q[i][3] == i) end
        end
        assert(m[15][15] == 0)
        for _, case in ipairs { -- in one order on all ranks
          { "No such file", function() sparse:save("FOLDER/no/x", { m = m }) end },
          { "fields of this grid", function() dense:save("FOLDER/y", { m = m }) end },
          { "FOLDER/none", function() sparse:load("FOLDER/none", { m = m }) end } } do
          local ok, problem = pcall(case[2])
          assert(not ok and problem.message:find(case[1], 1, true), case[1] .. problem.message)
        end
        comm:barrier()
        for _, case in ipairs { -- of another shape
          { rg.grid{ shape = {6, 7} }, "dense", "x", rg.f32, 'dense("ij", 5, 7)',
            'dense("ij", 6, 7)' },
          { sparse, "dense", "x", rg.f32, 'dense("ij", 5, 7)', 'pointer("ij", 4, 4)' },
          { rg.grid{ shape = 16, block = 4 }, "sparse", "m", rg.f64, 'pointer("ij", 4, 4)',
            'pointer("i", 4)' } } do
          local grid, file, name, t, there, here = unpack(case)
          local path = "FOLDER/" .. file
          local ok, problem = pcall(grid.load, grid, path, { [name] = grid:field(t) })
          assert(not ok and problem.message == (comm.rank == 0 and "" or "on rank 0: ")
            .. ("'%s' is declared differently in snapshot '%s': %s there, %s here"):format(name,
            path, there, here), problem.message)
        end
      end
      if comm.rank == 0 then print "done" end
    ]]
    os.remove(folder)
    local function go(ranks, saves, into, environment)
      os.execute(("mkdir -p '%s'"):format(folder .. into))
      result(ranks, (script:gsub("SAVES", tostring(saves)):gsub("FOLDER", folder .. into)),
        environment)
    end
    go(1, true, "/one")
    go(4, true, "/four", "RG_LSA_SIZE=2")
    for _, name in ipairs { "dense", "sparse" } do
      assert.are.same(content(folder .. "/one/" .. name), content(folder .. "/four/" .. name))
    end
    go(3, false, "/four")
    os.execute(("rm -r '%s'"):format(folder))
  end)

  it("of blocks reports what it cannot be", function()
    local function problem(...) return select(2, pcall(...)).message end
    assert.is_truthy(problem(rg.grid, { shape = { 8, 9 }, block = 4 }):find "divides the extent")
    assert.is_truthy(problem(rg.grid, { shape = { 8 }, block = "4" }):find "'block'")
    local g = rg.grid { shape = { 8, 8 }, block = 4 }
    assert.are.equal("grid of 8 x 8 cells in blocks of 4 x 4", tostring(g))
    assert.is_truthy(problem(g.exchange, g, rg.field(rg.f32, 4))
      :find "fields that this grid:field made")
    assert.is_truthy(problem(g.field, g, rg.f32, { layout = "aos" }):find "layout")
    assert.is_truthy(problem(g.balance, g, { often = true }):find "often")
    assert.is_truthy(problem(g.balance, g, { work = rg.array(rg.f32, 3) }):find "each block")
    assert.is_truthy(problem(g.balance, g, { least = "a" }):find "least")
    assert.is_truthy(problem(g.owner, g, 8, 0):find "indices of a cell")
    assert.is_truthy(problem(function() return g.from end):find "no 'from'")
    assert.are.same({ false, 1, 1 }, { g:balance() })
  end)
end)
