--- Ranks that mpirun starts behave like those of `regolith run`. Skipped without mpirun, or if
--- libregolith-mpi.so was not built.
local support = require "support"

local function run(ranks, script, environment)
  if not support.has_mpi() then pending "mpirun or libregolith-mpi.so is not there" end
  return support.run_ranks(ranks, script, { mpi = true, environment = environment })
end

-- Runs the script, whose assertions must hold on all ranks.
local function holds(ranks, script, environment)
  local lines, code = run(ranks, script, environment)
  assert.are.same({}, lines)
  assert.are.equal(0, code)
end

local function fails(ranks, script, part, environment)
  local lines, code = run(ranks, script, environment)
  assert.is_truthy(table.concat(lines, "\n"):find(part, 1, true), table.concat(lines, "\n"))
  assert.is_true(code ~= 0)
end

describe("ranks of MPI #compiled #cpu", function()
  it("make collective calls, and access each other's windows", function()
    holds(4, [[
      assert(comm.size == 4 and comm.team.count == 4)
      local right = (comm.rank + 1) % 4
      local a = rg.array(rg.i32, 8)
      for i = 0, 7 do a[i] = 10 * comm.rank + i end
      local peer = comm:window(a):peer(right)
      local copy = rg.kernel(function(to, from) for i in rg.range(8) do to[i] = from[i] end end)
      local b = rg.array(rg.i32, 8)
      copy(b, peer)
      assert(b[7] == 10 * right + 7)
      comm:barrier()
      assert(comm:all_reduce(comm.rank + 1) == 10 and comm:broadcast("r" .. comm.rank, 2) == "r2")
      local words = comm:gather(("x"):rep(comm.rank))
      assert(words[0] == "" and words[3] == "xxx")
    ]])
  end)

  it("all fail when one does, and each says which", function()
    fails(3, "if comm.rank == 1 then error 'not finite' end comm:barrier()",
      "rank 1 ended, while others wait in 'barrier'")
    fails(2, [[
      if comm.rank == 1 then
        require("ffi").cdef "int raise(int)"
        require("ffi").C.raise(9)
      end
      comm:gather(1)
    ]], "rank 1")
    fails(2, "if comm.rank == 1 then comm:abort 'no water' else comm:gather(1) end",
      "rank 1 failed: no water")
    fails(2, "if comm.rank == 0 then comm:gather(1) end", "rank 1 ended, while others wait")
  end)

  it("notice at once a rank that ends normally but too early", function()
    local call = { "comm:gather(1)", "comm:barrier()", [[
      local out, filled = rg.array(rg.f32, 5), rg.array(rg.f32, 5)
      comm:trade({ { (comm.rank + 1) % 3, out } }, { { (comm.rank + 2) % 3, filled } })
    ]] }
    for k, teams in ipairs { "RG_LSA_SIZE=1", "RG_LSA_SIZE=3", "RG_LSA_SIZE=1" } do
      local began = os.time()
      fails(3, ("if comm.rank == %d then os.exit(0) end %s"):format(k % 2, call[k]),
        ("rank %d ended, while others wait"):format(k % 2), teams .. " RG_PATIENCE=600")
      assert.is_true(os.time() - began < 600) -- nobody waits for so long
    end
  end)

  it("are the only processes that open MPI's library", function()
    local script = [[
      local maps = io.open "/proc/self/maps":read "*a"
      for _, name in ipairs { "/libmpi.", "/libregolith-mpi." } do
        assert((maps:find(name, 1, true) ~= nil) == WANTED, name)
      end
    ]]
    holds(2, (script:gsub("WANTED", "true")))
    for ranks = 1, 2 do
      local lines, code = support.run_ranks(ranks, (script:gsub("WANTED", "false")),
        { environment = "RG_MPI=/nowhere" })
      assert.are.same({ {}, 0 }, { lines, code })
    end
  end)

  it("all fail when one makes another call, or none", function()
    fails(2, "if comm.rank == 0 then comm:barrier() else comm:gather(1) end",
      "ranks do not make the same calls")
    fails(2, "if comm.rank == 0 then comm:barrier() else comm:gather(1) end",
      "ranks do not make the same calls", "RG_LSA_SIZE=1")
    fails(2, [[
      require("ffi").cdef "int usleep(int)"
      if comm.rank == 1 then require("ffi").C.usleep(60000000) end
      comm:gather(1)
    ]], "rank 1 did not reach", "RG_PATIENCE=5")
  end)

  it("may be those of MPICH: the one file that knows MPI compiles with its headers", function()
    local folder = os.getenv "RG_MPICH" or "/usr/include/x86_64-linux-gnu/mpich"
    local file = io.open(folder .. "/mpi.h")
    if not file then pending "MPICH's headers are not there (libmpich-dev, or RG_MPICH=folder)" end
    file:close()
    assert.are.equal(0, os.execute(("cc -std=c11 -Wall -Wextra -Werror -D_GNU_SOURCE \z
      -fsyntax-only -Icore -I'%s' core/comm/boot/mpi_plugin.c"):format(folder)))
  end)

  it("get an error that says what is missing without the library", function()
    fails(2, "", "libopenmpi-dev", "RG_MPI=/nowhere/libregolith-mpi.so")
  end)
end)
