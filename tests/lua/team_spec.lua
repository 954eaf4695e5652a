--- Ranks that cannot access each other's memory, as on several hosts: RG_LSA_SIZE makes teams of
--- one rank, and of two, on one host. Started by `regolith run` and by mpirun; the latter is
--- skipped without mpirun, or if libregolith-mpi.so was not built.
local support = require "support"

local function holds(script, options)
  if (options.mpi or options.hosts) and not support.has_mpi() then
    pending "mpirun or libregolith-mpi.so is not there"
  end
  local lines, code = support.run_ranks(4, script, options)
  if options.hosts and code == 77 then pending "hosts cannot be made of network namespaces" end
  assert.are.same({}, lines)
  assert.are.equal(0, code)
end

describe("ranks of several teams #compiled #cpu", function()
  local script = [[
    local n, right, left = comm.size, (comm.rank + 1) % 4, (comm.rank + 3) % 4
    assert(comm.team.count == tonumber(os.getenv "RG_LSA_SIZE" or 2))
    local a, b = rg.array(rg.i32, 8), rg.array(rg.i32, 8)
    for i = 0, 7 do a[i] = 10 * comm.rank + i end
    local win = comm:window(a)
    assert(win:get(right, b) == b and b[3] == 10 * right + 3)
    comm:barrier()
    b:fill(100 + comm.rank)
    win:put(right, b)
    comm:barrier()
    assert(a[5] == 100 + left)
    win:free()
    for turn = 1, 3 do
      b:fill(comm.rank + turn)
      comm:trade({ { right, b } }, { { left, a } })
      assert(a[7] == left + turn)
    end
    local big = rg.array(rg.f64, 20001) -- by slices
    big:fill(comm.rank + 1)
    comm:all_reduce(big)
    assert(big[0] == 10 and big[20000] == 10)
    big:fill(comm.rank)
    assert(comm:broadcast(big, 1)[20000] == 1 and comm:broadcast("of " .. left, 2) == "of 1")
    assert(comm:gather(comm.rank)[3] == 3)

    local g = rg.grid{ shape = {12, 8}, halo = 2, periodic = {true, false} }
    local x, y, from, past = g:field(rg.f32), g:field(rg.f32), g.from, g.past
    local u, v = rg.field(rg.f32, 16, 12), rg.field(rg.f32, 16, 12) -- all of it, on each rank
    local start = rg.kernel(function(x, a, b, c, d, s)
      for i, j in rg.range({ a, b }, { c, d }) do
        x[i + s][j + s] = ((i + 12) % 12 * 7 + j * 13) % 11
      end
    end)
    local step = rg.kernel(function(x, y, a, b, c, d)
      for i, j in rg.range({ a, b }, { c, d }) do
        y[i][j] = 0.3 * x[i][j] + 0.1 * (x[i - 2][j] + x[i][j + 2] + x[i + 1][j - 1])
      end
    end)
    start(x, from[1], past[1], from[2], past[2], 0)
    start(u, -2, 14, 0, 8, 2)
    for k = 1, 5 do
      g:exchange(x)
      step(x, y, from[1], past[1], from[2], past[2])
      x, y = y, x
      step(u, v, 2, 14, 2, 10)
      for i = 0, 1 do for j = 0, 11 do v[i][j], v[i + 14][j] = v[i + 12][j], v[i + 2][j] end end
      u, v = v, u
    end
    for i = from[1], past[1] - 1 do
      for j = from[2], past[2] - 1 do assert(x[i][j] == u[i + 2][j + 2]) end
    end
  ]]
  it("copy, trade, combine, and exchange halos", function()
    for size = 1, 2 do holds(script, { environment = "RG_LSA_SIZE=" .. size }) end
  end)
  it("do so with MPI", function()
    for size = 1, 2 do holds(script, { mpi = true, environment = "RG_LSA_SIZE=" .. size }) end
  end)
  it("do so on two hosts", function() holds(script, { hosts = true }) end)

  it("get errors for invalid parcels", function()
    local comm = support.rg.comm()
    local function problem(...) return support.failure(comm.trade, comm, ...).message end
    assert.is_truthy(problem(5, {}):find "lists of ranks and arrays")
    assert.is_truthy(problem({ 5 }, {}):find "must be { rank, array }")
    assert.is_truthy(problem({ { 1, 5 } }, {}):find "rank from 0 to 0")
    assert.is_truthy(problem({ { 0, 5 } }, {}):find "takes an array")
    local a, b = support.rg.array(support.rg.i32, 4), support.rg.array(support.rg.i32, 5)
    a:fill(7)
    comm:trade({ { 0, a } }, { { 0, a } })
    local win = comm:window(a)
    assert.is_truthy(support.failure(win.get, win, 0, b).message:find "as many bytes")
    win:put(0, win:get(0, support.rg.array(support.rg.i32, 4)))
    assert.are.equal(7, a[3])
    win:free()
    assert.is_truthy(support.failure(win.get, win, 0, a).message:find "was freed")
  end)
end)
