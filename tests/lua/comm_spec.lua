--- Ranks from Lua: scripts run by `regolith run -n N`; what goes wrong on one is an error on all.
local support = require "support"
local rg = support.rg

local root = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$"

local run = support.run_ranks

-- All ranks assert what the script says.
local function holds(ranks, script)
  local lines, code = run(ranks, script)
  assert.are.same({}, lines)
  assert.are.equal(0, code)
end

local function says(lines, part)
  for _, line in ipairs(lines) do
    if line:find(part, 1, true) then return true end
  end
  return false
end

local function fails(ranks, script, part)
  local lines, code = run(ranks, script)
  assert.is_true(says(lines, part), table.concat(lines, "\n"))
  return lines, code
end

describe("ranks #compiled #cpu", function()
  it("are one where nobody started more", function()
    local comm = rg.comm()
    assert.are.equal(0, comm.rank)
    assert.are.equal(1, comm.size)
    assert.are.equal(5, comm:all_reduce(5))
    assert.are.same({ [0] = "x" }, comm:gather "x")
    assert.are.equal("rank 0 of 1", tostring(comm))
    comm:barrier()
  end)

  it("gather, broadcast and reduce values", function()
    holds(3, [[
      assert(comm.size == 3)
      local all = comm:gather(comm.rank * 10)
      assert(all[0] == 0 and all[1] == 10 and all[2] == 20)
      local words = comm:gather(("x"):rep(comm.rank))
      assert(words[0] == "" and words[1] == "x" and words[2] == "xx")
      assert(comm:broadcast(comm.rank + 0.5, 2) == 2.5)
      assert(comm:broadcast("rank " .. comm.rank) == "rank 0")
      assert(comm:all_reduce(comm.rank + 1) == 6)
      assert(comm:all_reduce(comm.rank + 1, "product") == 6)
      assert(comm:all_reduce(comm.rank, "max") == 2 and comm:all_reduce(comm.rank, "min") == 0)
    ]])
  end)

  it("combine arrays, and numbers of vectors, in place", function()
    holds(2, [[
      local a, v = rg.array(rg.i32, 5), rg.array(rg.vec3, 4)
      a:fill(comm.rank + 1)
      v:fill(rg.vec3(comm.rank, 1, 2))
      assert(comm:all_reduce(a) == a and a[4] == 3)
      comm:all_reduce(v, "max")
      assert(v[3].x == 1 and v[3].z == 2)
      local b = rg.array(rg.f32, 3)
      b:fill(comm.rank + 7)
      comm:broadcast(b, 1)
      assert(b[0] == 8 and b[2] == 8)
    ]])
  end)

  it("read and write each other's windows, in kernels too", function()
    holds(4, [[
      local a = rg.array(rg.f32, 8, 3)
      for i = 0, 7 do for j = 0, 2 do a[i][j] = 100 * comm.rank + 10 * i + j end end
      local win = comm:window(a)
      assert(win.own == a and a[7][2] == 100 * comm.rank + 72)
      local next_rank = (comm.rank + 1) % 4
      local peer = win:peer(next_rank)
      assert(peer[7][2] == 100 * next_rank + 72)
      assert(win:peer(comm.rank) == a)
      comm:barrier()
      local add = rg.kernel(function(p)
        for i, j in rg.range(8, 3) do p[i][j] = p[i][j] + 0.5 end
      end)
      add(peer)
      comm:barrier()
      assert(a[7][2] == 100 * comm.rank + 72.5)
      assert(comm:find(a:pointer() + 5) == win and comm:find(peer:pointer()) == nil)
      win:free()
      assert(a[7][2] == 100 * comm.rank + 72.5)
      local ok, problem = pcall(win.peer, win, 0)
      assert(not ok and problem.code == "handle.destroyed")
      win = comm:window(a) -- once more
      assert(win:peer(next_rank)[0][1] == 100 * next_rank + 1.5)
      comm:barrier()
    ]])
  end)

  it("do so with dense fields, whose tree has others, too", function()
    holds(3, [[
      local x, v = rg.field(rg.f32, { name = "x" }), rg.field(rg.vec2, { name = "v" })
      rg.root:dense("ij", 6, 5):dense("ij", 2, 3):place(x, v)
      for i, j in x:active() do x[i][j] = 1000 * comm.rank + 100 * i + j end
      local at = x:pointer()
      local win = comm:window(x)
      assert(x:pointer() == at and tostring(win):find "window of field")
      local left = win:peer((comm.rank + 2) % 3)
      local last = (comm.rank + 2) % 3
      assert(left[11][14] == 1000 * last + 1114 and #left == 12)
      comm:barrier()
      rg.kernel(function() for i, j in left:active() do left[i][j] = left[i][j] + 0.5 end end)()
      comm:barrier()
      assert(x[11][14] == 1000 * comm.rank + 1114.5)
      local same = comm:window(v) -- in the same tree
      v[3][4] = rg.vec2(comm.rank, 5)
      comm:barrier()
      assert(same:peer(last)[3][4].x == last and comm:find(at) == same)
      comm:barrier()
      win:free()
      local ok, problem = pcall(function() return left[0][0] end)
      assert(not ok and problem.code == "handle.destroyed")
      assert(same:peer(last)[3][4].y == 5 and x[0][0] > 0)
      comm:barrier()
    ]])
  end)

  it("choose peers in kernels, by a rank known at run time alone", function()
    holds(3, [[
      local a, x = rg.array(rg.vec3, 6, 16), rg.field(rg.f64, 4, 5)
      for i, j in x:active() do x[i][j] = 100 * comm.rank + 10 * i + j end
      for i = 0, 5 do for j = 0, 15 do a[i][j] = rg.vec3(comm.rank, i, j) end end
      local self = { win = comm:window(a) }
      local fields = comm:window(x)
      local sum = rg.kernel(function(w)
        local wrong = 0
        for r, i, j in rg.range(comm.size, 6, 16) do
          if self.win:peer(r)[i][j] ~= rg.vec3(r, i, j) then wrong = wrong + 1 end
        end
        for r = 0, comm.size - 1 do
          local p = w:peer(r)
          if p[3][4] ~= 100 * r + 34 or p[4][0] ~= 0 then wrong = wrong + 1 end
        end
        return wrong
      end)
      assert(sum(fields) == 0)
      comm:barrier()
      local put = rg.kernel(function(r)
        for j in rg.range(16) do self.win:peer(r)[comm.rank][j] = rg.vec3(r, comm.rank, -j) end
      end)
      put((comm.rank + 1) % 3)
      comm:barrier()
      local before = (comm.rank + 2) % 3
      assert(a[before][7] == rg.vec3(comm.rank, before, -7))
      -- addresses are sums: nobody is called, and lanes read rows
      local row = rg.kernel(function(b, r)
        for j in rg.range(16) do b[j] = self.win:peer(r)[1][j] end
      end)
      row(rg.array(rg.vec3, 16), 1)
      assert(not row:ir():find "call" and row:explain():find "vector lanes")
      assert(row:explain():find "'self.win.ranks': addressed directly")
      for part, wrong in pairs { ["ranks 0 to 2"] = function() return self.win:peer(3)[0][0].x end,
        ["takes 1 argument"] = function() return self.win:peer()[0][0].x end,
        ["needs 3 indices"] = function() return self.win:peer(1) end } do
        local ok, problem = pcall(rg.kernel(wrong))
        assert(not ok and problem.message:find(part), "not refused: " .. part)
      end
      comm:barrier()
      self.win:free()
      local ok, problem = pcall(put, 0)
      assert(not ok and problem.message:find "only where it is open")
    ]])
  end)

  it("read each other's sparse trees in place, also what grows later", function()
    holds(3, [[
      local x, v = rg.field(rg.f32, { name = "x" }), rg.field(rg.vec2, { name = "v" })
      local blocks = rg.root:pointer("ij", 8, 8)
      blocks:bitmasked("ij", 4, 4):place(x, v)
      local n = rg.field(rg.i32)
      local list = rg.root:dynamic("k", 100, { chunk = 8 })
      list:place(n)
      x[5][6] = 100 + comm.rank
      local win, lists = comm:window(x), comm:window(n)
      local last, peer = (comm.rank + 2) % 3, win:peer((comm.rank + 2) % 3)
      assert(peer[5][6] == 100 + last and peer[31][31] == 0 and peer[5][7] == 0)
      comm:barrier()
      local grow = rg.kernel(function() -- into other nodes, after the window was made
        for i, j in rg.range({ 8, 32 }, { 0, 32 }) do
          if (i + j + comm.rank) % 3 == 0 then v[i][j] = rg.vec2(i, 10 * j + comm.rank) end
        end
        for k in rg.range(20 + comm.rank) do list:append(7 * k + comm.rank) end
      end)
      grow()
      comm:barrier()
      local theirs = comm:window(v):peer(last)
      local read = rg.kernel(function(p, q)
        local wrong = 0
        for i, j in rg.range({ 8, 32 }, { 0, 32 }) do
          local is_there = (i + j + last) % 3 == 0
          local y = is_there and rg.vec2(i, 10 * j + last) or rg.vec2(0, 0)
          if p:is_active(i, j) ~= is_there or q[i][j] ~= y then wrong = wrong + 1 end
        end
        return wrong
      end)
      assert(read(peer, theirs) == 0 and theirs[9][0].x == ((9 + last) % 3 == 0 and 9 or 0))
      local ks = lists:peer(last)
      assert((ks[3] - last) % 7 == 0 and ks[19] > 0 or last == 0) -- in any order
      -- all else is their own rank's
      local mine = rg.kernel(function(p) for i, j in p:active() do p[i][j] = p[i][j] + 1 end end)
      mine(x)
      for _, wrong in ipairs { function() peer[5][6] = 1 end, function() peer:fill(1) end,
        function() return peer:count() end, function() return peer:to_table() end,
        function() for i, j in peer:active() do print(i, j) end end,
        function() mine(peer) end, function() rg.save("/dev/null", { p = peer }) end,
        function() rg.kernel(function() peer[5][6] = 1 end)() end,
        function() comm:window(peer) end } do
        local ok, problem = pcall(wrong)
        assert(not ok and problem.message:find "another rank's", "not refused")
      end
      comm:barrier()
      blocks:deactivate(1, 1)
      comm:barrier()
      assert(peer[5][6] == 0 and x[5][6] == 0)
      comm:barrier()
    ]])
    fails(2, "local x = rg.field(rg.f32); rg.root:hash('i'):dense('i', 4):place(x); comm:window(x)",
      "has a hash")
  end)

  it("may forget a window: it is freed when all have", function()
    holds(2, [[
      for k = 1, 50 do
        comm:window(rg.array(rg.f32, 1000))
        collectgarbage()
        collectgarbage()
        comm:barrier()
      end
    ]])
  end)

  it("give one result, whatever their number", function()
    local sums = {}
    for k, ranks in ipairs { 1, 2, 4 } do
      local command = "'%s/bin/regolith' run -n %d examples/ranks.lua /tmp"
      local pipe = assert(io.popen(command:format(root, ranks)))
      sums[k] = pipe:read("*a"):match "checksum (%d+)"
      pipe:close()
    end
    assert.is_truthy(sums[1])
    assert.are.same({ sums[1], sums[1], sums[1] }, sums)
  end)
end)

describe("a grid #compiled #cpu", function()
  local script = [[
    local g = rg.grid{ shape = SHAPE, halo = 2, periodic = PERIODIC }
    local a, b = g.from, g.past
    local x, y = g:field(rg.f32), g:field(rg.vec2)
    LOOP x[AT] = INDEX y[AT] = rg.vec2(INDEX, 1) end
    g:exchange(x, y)
    local function value(i, n, is_periodic)
      if is_periodic then return i % n end
      return i >= 0 and i < n and i or nil
    end
    WIDE
  ]]

  it("shows each rank its neighbours' cells, around corners and borders", function()
    local plain = script:gsub("SHAPE", "{12, 24}"):gsub("PERIODIC", "{true, false}")
      :gsub("LOOP", "for i = a[1], b[1] - 1 do for j = a[2], b[2] - 1 do")
      :gsub("INDEX end", "INDEX end end"):gsub("1%) end", "1) end end")
      :gsub("AT", "i][j"):gsub("INDEX", "(100 * i + j + 1)"):gsub("WIDE", [[
        for i = a[1] - 2, b[1] + 1 do
          for j = a[2] - 2, b[2] + 1 do
            local s, t = value(i, 12, true), value(j, 24, false)
            local expected = s and t and 100 * s + t + 1 or 0
            assert(x[i][j] == expected and y[i][j].x == expected, ("%%d %%d"):format(i, j))
          end
        end]])
    for _, ranks in ipairs { 1, 2, 4, 6 } do holds(ranks, plain) end
  end)

  it("has one axis or three, too", function()
    holds(2, [[
      local g = rg.grid{ shape = 10, periodic = true }
      local x = g:field(rg.i32)
      for i = g.from[1], g.past[1] - 1 do x[i] = i end
      g:exchange(x)
      assert(x[g.from[1] - 1] == (g.from[1] - 1) % 10 and x[g.past[1] ] == g.past[1] % 10)
      local h = rg.grid{ shape = {4, 6, 8} }
      local v = h:field(rg.f64)
      for i = h.from[1], h.past[1] - 1 do
        for j = h.from[2], h.past[2] - 1 do
          for k = h.from[3], h.past[3] - 1 do v[i][j][k] = 100 * i + 10 * j + k end
        end
      end
      h:exchange(v)
      local k = comm.rank == 0 and h.past[3] or h.from[3] - 1
      assert(v[2][3][k] == 230 + k)
      assert(tostring(h) == "grid of 4 x 6 x 8 cells over 1 x 1 x 2 ranks")
    ]])
  end)

  it("of a stencil gives one result, whatever the number of ranks", function()
    local sums = {}
    for n, ranks in ipairs { 1, 2, 3, 6 } do
      sums[n] = run(ranks, [[
        local g = rg.grid{ shape = {24, 36}, periodic = {true, false} }
        local x, y, a, b = g:field(rg.f32), g:field(rg.f32), g.from, g.past
        rg.kernel(function()
          for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do
            x[i][j] = (i * 7 + j * 13) % 11
          end
        end)()
        local step = rg.kernel(function(u, v)
          for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do
            v[i][j] = u[i][j] + 0.2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]
              + u[i - 1][j - 1] - 5 * u[i][j])
          end
        end)
        for k = 1, 30 do
          g:exchange(x)
          step(x, y)
          x, y = y, x
        end
        local sum = 0
        for i = a[1], b[1] - 1 do
          for j = a[2], b[2] - 1 do sum = sum + x[i][j] * 2 ^ 20 % 2 ^ 30 * (i * 36 + j + 1) end
        end
        sum = comm:all_reduce(sum)
        if comm.rank == 0 then print(("%a"):format(sum)) end
      ]])[1]
    end
    assert.is_truthy(sums[1]:find "^0x")
    assert.are.same({ sums[1], sums[1], sums[1], sums[1] }, sums)
  end)

  it("says what it cannot be", function()
    local function problem(options) return select(2, pcall(rg.grid, options)).message end
    assert.is_truthy(problem(5):find "takes a table of options")
    assert.is_truthy(problem({}):find "needs a shape")
    assert.is_truthy(problem({ shape = { 1.5 } }):find "positive whole number")
    assert.is_truthy(problem({ shape = { 4 }, halo = -1 }):find "'halo'")
    assert.is_truthy(problem({ shape = { 4 }, periodic = 1 }):find "'periodic'")
    assert.is_truthy(problem({ shape = { 4 }, hallo = 1 }):find "hallo")
    local g = rg.grid { shape = 4 }
    local ok, e = pcall(g.exchange, g, rg.field(rg.f32, 4))
    assert.is_truthy(not ok and e.message:find "fields of grid:field")
    fails(2, "rg.grid{ shape = 7 }", "cannot be cut into 2 equal blocks")
  end)
end)

describe("a mistake of a rank #compiled #cpu", function()
  it("is an error on all that wait", function()
    local lines, code = fails(3, [[
      if comm.rank == 1 then error "the pressure is not finite" end
      comm:barrier()
    ]], "the pressure is not finite")
    assert.is_true(says(lines, "rank 1 ended with exit code 1"))
    assert.are.equal(1, code)
  end)

  it("is told by abort", function()
    fails(2, [[
      if comm.rank == 1 then comm:abort "no water is left" return end
      comm:barrier()
    ]], "rank 1 failed: no water is left")
  end)

  it("may be that a signal ends it", function()
    local _, code = fails(2, [[
      if comm.rank == 1 then
        require("ffi").cdef "int raise(int)"
        require("ffi").C.raise(9)
      end
      comm:gather(1)
    ]], "rank 1 was ended by signal 9")
    assert.is_true(code == 1 or code == 137) -- whichever ended first
  end)

  it("may be another call, or another array", function()
    fails(2, "if comm.rank == 0 then comm:barrier() else comm:all_reduce(1) end",
      "ranks do not make the same calls")
    fails(2, "comm:window(rg.array(rg.f32, 10 + comm.rank))", "of 40 bytes on rank 0, and of 44")
    fails(2, "comm:window(rg.array(rg.f32, 6 + comm.rank * 6, 12 - comm.rank * 6))",
      "declared differently")
    fails(2, "comm:window(rg.array(comm.rank == 0 and rg.f32 or rg.i32, 10))",
      "declared differently")
  end)

  it("is named where it calls", function()
    local comm = rg.comm()
    local function problem(...) return select(2, pcall(...)).message end
    assert.is_truthy(problem(comm.window, comm, 5):find "takes an array or a field")
    assert.is_truthy(problem(comm.all_reduce, comm, 5, "mean"):find "combines by")
    assert.is_truthy(problem(comm.broadcast, comm, 5, 1):find "rank from 0 to 0")
    assert.is_truthy(problem(comm.gather, comm, {}):find "a number or a string")
    assert.is_truthy(problem(comm.all_reduce, comm, rg.array(rg.u8, 4)):find "not of u8")
    assert.is_truthy(problem(comm.find, comm, 5):find "FFI pointer")
    assert.is_truthy(problem(function() return comm.bariere end):find "no 'bariere'")
    local text = require("ffi").new "float[4]"
    assert.is_truthy(problem(comm.window, comm, rg.wrap(text, rg.f32, { 4 })):find "not its own")
  end)

  it("may be a second runtime that wants the ranks, or one after a reset", function()
    holds(2, [[
      local ok, problem = pcall(function() return rg.new().comm() end)
      assert(not ok and problem.code == "rank.failed" and problem.message:find "another runtime")
      comm:barrier() -- and the ranks are as they were
      rg.reset()
      ok, problem = pcall(rg.comm)
      assert(not ok and problem.message:find "were left")
    ]])
  end)

  it("of the one who starts them is explained", function()
    local pipe = io.popen(("'%s/bin/regolith' run -n 2 2>&1"):format(root))
    local text = pipe:read "*a"
    pipe:close()
    assert.is_truthy(text:find("regolith run -n 4 script.lua", 1, true))
  end)
end)
