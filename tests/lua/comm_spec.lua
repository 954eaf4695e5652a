--- Ranks from Lua: scripts run by `regolith run -n N`; a failure on one rank is an error on all.
local support = require "support"
local rg = support.rg

local root = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$"

local run = support.run_ranks

-- Runs the script, whose assertions must hold on all ranks.
local function holds(ranks, script, options)
  local lines, code = run(ranks, script, options)
  assert.are.same({}, lines)
  assert.are.equal(0, code)
end

local function says(lines, part)
  for _, line in ipairs(lines) do
    if line:find(part, 1, true) then return true end
  end
  return false
end

local function fails(ranks, script, part, options)
  local lines, code = run(ranks, script, options)
  assert.is_true(says(lines, part), table.concat(lines, "\n"))
  return lines, code
end

describe("ranks #compiled #cpu", function()
  it("are a single rank unless more were started", function()
    local comm = rg.comm()
    assert.are.equal(0, comm.rank)
    assert.are.equal(1, comm.size)
    assert.are.equal(5, comm:all_reduce(5))
    assert.are.same({ [0] = "x" }, comm:gather "x")
    assert.are.equal("rank 0 of 1", tostring(comm))
    comm:barrier()
  end)

  it("combine, send and trade arrays, however these were made", function()
    holds(2, [[
      local comm = rg.comm()
      local made = rg.kernel "function(n: i32) local l = rg.list(rg.f32) \
        for i = 1, n do l:append(i) end return l end"
      local makers = { function() return rg.array(rg.f32, 3):from_table { 1, 2, 3 } end,
        function() return rg.zeros(rg.f32, 3):from_table { 1, 2, 3 } end,
        function() return made(3) end, function() return made(4):slice(0, 3) end }
      local win = comm:window(rg.array(rg.f32, 3))
      for _, make in ipairs(makers) do
        local a, b = make(), make():fill(0)
        assert(comm:all_reduce(a) == a and a[2] == 6)
        a[0] = comm.rank == 1 and 9 or 0
        comm:broadcast(a, 1)
        assert(a[0] == 9)
        comm:trade({ { 1 - comm.rank, a } }, { { 1 - comm.rank, b } })
        assert(b[0] == 9 and b[2] == 6)
        win:put(1 - comm.rank, a)
        comm:barrier()
        assert(win:get(comm.rank, b:fill(0))[2] == 6)
        comm:barrier()
      end
      win:free()
    ]])
  end)

  it("make windows of copies if the memory can move", function()
    local comm = rg.comm()
    local a = rg.zeros(rg.f32, 4)
    local problem = support.failure(comm.window, comm, a)
    assert.matches("cannot become a window: it shares memory with kernels and may grow",
      problem.message)
    assert.matches("rg.array%(T, ..%):copy_from%(a%)", problem.hint)
    local ffi = require "ffi"
    local columns = rg.wrap(ffi.new "float[6]", rg.f32, { 3, 2 }, { strides = { 4, 12 } })
    assert.matches("are not contiguous", support.failure(comm.all_reduce, comm, columns).message)
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

  it("write to others' memory in launches, not in kernel:tune()", function()
    holds(2, [[
      local a, x = rg.array(rg.i32, 100), rg.array(rg.i32, 100)
      local f = rg.field(rg.i32, 100)
      local windows, other = { comm:window(a), comm:window(f) }, 1 - comm.rank
      comm:barrier()
      for name, window in ipairs(windows) do
        local peer = window:peer(other)
        local put = rg.kernel(function() for i in rg.range(100) do peer[i] = i end end)
        local ok, e = pcall(put.tune, put)
        assert(not ok and e.message:find("writes memory of other ranks, which", 1, true), name)
        local get = rg.kernel(function() for i in rg.range(100) do x[i] = x[i] + peer[i] end end)
        get:tune() -- and puts nothing back there
        put()
        comm:barrier()
        assert(window:peer(comm.rank)[5] == 5 and x[5] == 0)
        comm:barrier()
      end
      local window = windows[1]
      local row = rg.kernel(function(r) for i in rg.range(100) do window:peer(r)[i] = i end end)
      local ok, e = pcall(row.tune, row, other)
      assert(not ok and e.message:find "writes memory of other ranks")
    ]])
  end)

  it("draw different random numbers, and equal ones in loops over global indices", function()
    local script = [[
      local own, all = rg.array(rg.u32, 8), rg.array(rg.u32, 8)
      local draw = rg.kernel(function() for i in rg.range(8) do own[i] = rg.random(rg.u32) end end)
      local draw_all = rg.kernel(function()
        for i in rg.range(8):global() do all[i] = rg.random(rg.u32) end
      end)
      local g = rg.grid { shape = { 16 }, block = 4 }
      local f = g:field(rg.u32)
      for i = 0, 15 do f[i] = 1 end
      local draw_grid = rg.kernel(function()
        for i in f:active() do f[i] = rg.random(rg.u32) end
      end)
      for turn = 1, 2 do
        if turn == 2 then rg.seed(77) end
        for _ = 0, comm.rank do draw() end -- of which each rank has another number
        draw_all()
        draw_grid()
        local words, row, grid = { rg.random(rg.u32), own[3], own[4] }, {}, {}
        for i = 0, 7 do row[i + 1] = all[i] end
        for i = 0, 15 do grid[i + 1] = f[i] end
        local mine = comm:gather(table.concat(words, " "))
        local common = comm:gather(table.concat(row, " ") .. "/" .. table.concat(grid, " "))
        for k = 1, comm.size - 1 do
          assert(common[k] == common[0], common[k])
          for j = 0, k - 1 do
            for n = 1, 3 do
              local word = "^" .. ("%d+ "):rep(n - 1) .. "(%d+)"
              assert(mine[k]:match(word) ~= mine[j]:match(word), mine[k])
            end
          end
        end
        if comm.rank == 0 then print(common[0], mine[0]) end
        comm:barrier()
      end
    ]]
    local alone, together = run(1, script), run(3, script)
    assert.equal(2, #alone)
    assert.same(alone, together)
  end)

  it("gather, broadcast and combine 64-bit numbers, small integers and booleans", function()
    holds(3, [[
      local n = 2LL ^ 0 * 9007199254740993LL + comm.rank
      local mixed = comm:gather(comm.rank == 1 and n or comm.rank == 2 and 2ULL ^ 0 or 0.5)
      assert(mixed[0] == 0.5 and mixed[1] == 9007199254740994LL and type(mixed[2]) == "cdata")
      assert(comm:broadcast(n, 2) == 9007199254740995LL)
      assert(comm:all_reduce(5LL) == 15LL and type(comm:all_reduce(5LL)) == "cdata")
      local high = 0xffffffffffffff00ULL + comm.rank
      assert(comm:all_reduce(high, "max") == 0xffffffffffffff02ULL)
      assert(comm:all_reduce(high, "min") == 0xffffffffffffff00ULL)
      local bytes, flags = rg.array(rg.u8, 4), rg.array(rg.bool, 4)
      bytes:fill(100)
      assert(comm:all_reduce(bytes)[2] == 44)
      for k = 0, 2 do flags[k] = k == comm.rank end
      assert(comm:broadcast(flags, 1)[1] == true and flags[0] == false)
      flags[3] = comm.rank == 2
      assert(comm:all_reduce(flags, "max")[3] == true)
      flags[3] = comm.rank == 2
      assert(comm:all_reduce(flags, "min")[3] == false)
      local i16 = rg.array(rg.i16, 3)
      i16[1] = -comm.rank
      assert(comm:all_reduce(i16, "min")[1] == -2)
      local window = comm:window(rg.array(rg.f32, 4))
      local ok, e = pcall(window.get, window, 0, rg.array(rg.i32, 4))
      assert(not ok and e.message:find("elements are f32, but the array's are i32", 1, true))
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

  it("access a part of an array, along its first axis, and no other element", function()
    holds(3, [[
      local a = rg.array(rg.f32, 3000, 2)
      for i = 0, 2999 do a[i][1] = 10000 * comm.rank + i end
      local win, next_rank = comm:window(a, 1000, 500), (comm.rank + 1) % 3
      local peer = win:peer(next_rank)
      assert(peer.shape[0] == 500 and peer.shape[1] == 2 and #win.own == #peer)
      assert(win.own[1][1] == a[1001][1] and win:peer(comm.rank) == win.own)
      assert(peer[0][1] == 10000 * next_rank + 1000 and peer[499][1] == 10000 * next_rank + 1499)
      assert(not pcall(function() return peer[500][1] end))
      local rest = comm:window(a, 2999) -- another part, to its end
      assert(rest:peer(next_rank).shape[0] == 1)
      comm:barrier()
      rg.kernel(function(p) for i in rg.range(500) do p[i][0] = i end end)(peer)
      rg.kernel(function() rest:peer(next_rank)[0][0] = 7 end)()
      comm:barrier()
      assert(a[1499][0] == 499 and a[1500][0] == 0 and a[999][0] == 0 and a[2999][0] == 7)
      local copy = win:get(next_rank, rg.array(rg.f32, 500, 2))
      assert(copy[3][1] == 10000 * next_rank + 1003)
      assert(comm:find(a:pointer()) == nil)
      comm:barrier()
      win:free()
      local whole = comm:window(a) -- while a part of it is one
      assert(whole:peer(next_rank)[5][1] == 10000 * next_rank + 5)
      comm:barrier()
      rest:free()
      whole:free()
      assert(a[1499][0] == 499 and a[1499][1] == 10000 * comm.rank + 1499)
      for _, part in ipairs { { 2999, 2 }, { -1, 3 }, { 0, 0 }, { 3000 } } do
        local ok, problem = pcall(comm.window, comm, a, part[1], part[2])
        assert(not ok and problem.message:find("is not a part of", 1, true), problem.message)
      end
      assert(not pcall(comm.window, comm, a, 0.5))
      assert(not pcall(comm.window, comm, rg.field(rg.f32, 4), 1))
    ]])
    fails(2, "comm:window(rg.array(rg.f32, 8), comm.rank, 4)", "declared differently on rank 1")
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

  it("name the calls that reach a rank of another team, as no pointer does", function()
    holds(2, [[
      local a, x = rg.array(rg.i32, 4), rg.field(rg.f32)
      rg.root:pointer("i", 8):place(x)
      local win, fields, other = comm:window(a), comm:window(x), 1 - comm.rank
      local function says(f, ...)
        local ok, problem = pcall(f, ...)
        return not ok and tostring(problem) or ""
      end
      local problem = says(function() return win:peer(other) end)
      assert(problem:find("the memory of rank " .. other .. " is not accessible from rank "
        .. comm.rank .. ", which belongs to another team", 1, true), problem)
      assert(problem:find("win:get(r, a) copies from any rank", 1, true), problem)
      problem = says(function() return fields:peer(other) end)
      assert(problem:find("comm:trade sends arrays to any rank", 1, true), problem)
      problem = says(rg.kernel(function(r) return win:peer(r)[0] end), other)
      assert(problem:find("one team has all ranks", 1, true), problem)
      assert(problem:find("win:get(r, a) and comm:trade copy from all", 1, true), problem)
      a[2] = 7 + comm.rank
      comm:barrier()
      assert(win:get(other, rg.array(rg.i32, 4))[2] == 7 + other)
      comm:barrier()
    ]], { environment = "RG_LSA_SIZE=1" })
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
      -- addresses are sums: there is no call, and lanes read rows
      local row = rg.kernel(function(b, r)
        for j in rg.range(16) do b[j] = self.win:peer(r)[1][j] end
      end)
      row(rg.array(rg.vec3, 16), 1)
      assert(not row:ir():find "call" and row:explain():find "vector lanes")
      assert(row:explain():find("'self.win.peer(r)': addressed directly", 1, true))
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
        assert(not ok and problem.message:find "another rank", "not refused")
      end
      comm:barrier()
      blocks:deactivate(1, 1)
      comm:barrier()
      assert(peer[5][6] == 0 and x[5][6] == 0)
      comm:barrier()
    ]])
  end)

  it("choose among sparse trees in kernels, too, to read them", function()
    holds(3, [[
      local x, v, h = rg.field(rg.f32), rg.field(rg.vec3), rg.field(rg.i32)
      rg.root:pointer("ij", 8, 8):bitmasked("ij", 4, 4):place(x, v)
      rg.tree():hash "i":dense("i", 4):place(h)
      local wx, wv, wh = comm:window(x), comm:window(v), comm:window(h)
      local me, n = comm.rank, comm.size
      rg.kernel(function()
        for i, j in rg.range(32, 32) do
          if (i + 2 * j + me) % 3 == 0 then
            x[i][j] = 1000 * me + 32 * i + j
            v[i][j] = rg.vec3(me, i, j)
          end
        end
        for i in rg.range({ -50, 50 }) do
          if (i + me) % 2 == 0 then h[i * 4] = 1000 * me + i end
        end
      end)()
      comm:barrier()
      local look = rg.kernel(function(w)
        local wrong = 0
        for r, i, j in rg.range(n, 32, 32) do
          local is_there, p = (i + 2 * j + r) % 3 == 0, w:peer(r)
          if p:is_active(i, j) ~= is_there then wrong = wrong + 1 end
          if p[i][j] ~= (is_there and 1000 * r + 32 * i + j or 0) then wrong = wrong + 1 end
          local q = wv:peer(r)[i][j]
          if q ~= (is_there and rg.vec3(r, i, j) or rg.vec3(0, 0, 0)) then wrong = wrong + 1 end
          if wv:peer(r)[i][j].y ~= (is_there and i or 0) then wrong = wrong + 1 end
        end
        for i in rg.range({ -50, 50 }) do
          for r = 0, n - 1 do
            local is_there = (i + r) % 2 == 0
            if wh:peer(r)[i * 4] ~= (is_there and 1000 * r + i or 0) then wrong = wrong + 1 end
            if wh:peer(r):is_active(i * 4) ~= is_there then wrong = wrong + 1 end
          end
        end
        return wrong
      end)
      assert(look(wx) == 0)
      local function at(p, i) return p[i][0] end
      local pick = rg.kernel(function(r) return at(wx:peer(r), 3) end)
      assert(pick(0) == 96 and pick(n) == 0 and pick(-1) == 0) -- past the ranks nothing is there
      local second = rg.kernel(function() return wx:peer(1)[2][0] + #wx:peer(1) end)
      assert(second() == 1064 + 32)
      for _, wrong in ipairs {
        { "only be read", function() wx:peer(me)[0][0] = 1 end },
        { "only be read", function()
          for i in rg.range(4) do wx:peer(i)[0][0] = wx:peer(i)[0][0] + 1 end
        end },
        { "only be read", function() local p = wx:peer(me) p:add(1, 1, 2) end },
        { "only be read", function()
          local p = wx:peer(me)
          for i, j in p:active() do x[i][j] = 1 end
        end },
        { "only be read", function() wv:peer(me)[0][0].x = 1 end },
        { "only be read", function() return wx:peer(me):count() end },
        { "ranks 0 to 2", function() return wx:peer(7)[0][0] end },
        { "takes 1 argument", function() return wx:peer()[0][0] end },
        { "needs 3 indices", function() return wx:peer(1)[0] end } } do
        local ok, problem = pcall(function() rg.kernel(wrong[2])() end)
        assert(not ok and problem.message:find(wrong[1]), "not refused: " .. wrong[1])
      end
      comm:barrier()
      wx:free()
      local ok, problem = pcall(pick, 0)
      assert(not ok and problem.message:find "only where it is open")
    ]])
  end)

  it("read each other's hashes in place, also while these grow, and cells come and go", function()
    holds(3, [[
      local x, y, z = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.f64)
      local cells, t = rg.root:hash "ij", rg.tree()
      cells:dense("ij", 4, 4):place(x)
      t:pointer("i", 8):hash "j":bitmasked("j", 8):place(y) -- keys of which one is a node
      rg.root:hash "i":place(z)                             -- and some that fit into no exact tag
      x[-9][1000] = 5 + comm.rank
      local wx, wy, wz = comm:window(x), comm:window(y), comm:window(z)
      local last = (comm.rank + comm.size - 1) % comm.size
      local p, q, s = wx:peer(last), wy:peer(last), wz:peer(last)
      assert(p[-9][1000] == 5 + last and p[0][0] == 0)
      comm:barrier()
      local grow = rg.kernel(function(round)
        for i, j in rg.range({ -40, 40 }, { -40, 40 }) do
          if (i + j + comm.rank + round) % 5 == 0 then
            x[i * 4][j * 4 + 3] = i * 1000 + j + comm.rank
          end
        end
        for i, j in rg.range(8, { -200, 200 }) do
          if (i + j + comm.rank) % 3 == 0 then y[i][j * 5] = i * 1000 + j + comm.rank end
        end
        for i in rg.range(5000) do z[(i - 2500) * 1000003] = i + comm.rank end
      end)
      local look = rg.kernel(function(p, q, s, round)
        local wrong = 0
        for i, j in rg.range({ -40, 40 }, { -40, 40 }) do
          local is_there = false
          for r = 0, round do is_there = is_there or (i + j + last + r) % 5 == 0 end
          if p:is_active(i * 4, j * 4) ~= is_there then wrong = wrong + 1 end
          local v = is_there and i * 1000 + j + last or 0
          if p[i * 4][j * 4 + 3] ~= v then wrong = wrong + 1 end
        end
        for i, j in rg.range(8, { -200, 200 }) do
          local is_there = (i + j + last) % 3 == 0
          local v = is_there and i * 1000 + j + last or 0
          if q:is_active(i, j * 5) ~= is_there or q[i][j * 5] ~= v then wrong = wrong + 1 end
        end
        for i in rg.range(5000) do
          local at = (i - 2500) * 1000003
          if s[at] ~= i + last or s[at + 1] ~= 0 then wrong = wrong + 1 end
        end
        return wrong
      end)
      for round = 0, 3 do
        grow(round)
        comm:barrier()
        assert(look(p, q, s, round) == 0)
        comm:barrier()
      end
      -- remaining cells are found while others come and go: tables move only in barriers
      rg.kernel(function() for k in rg.range(300) do x[k * 4][77777] = k end end)()
      comm:barrier()
      local come = rg.kernel(function(n)
        for k in rg.range(400) do x[(n * 400 + k) * 4 + 100000][5] = 1 end
      end)
      local go = rg.kernel(function(n)
        for k in rg.range(400) do cells:deactivate(n * 400 + k + 25000, 1) end
      end)
      local walk = rg.kernel(function() local c = 0 for i, j in x:active() do c = c + 1 end
        return c end)
      local find = rg.kernel(function(p)
        local c = 0
        for k in rg.range(300) do if p[k * 4][77777] == k then c = c + 1 end end
        return c
      end)
      for n = 1, 100 do
        come(n) walk() go(n) walk()
        assert(find(p) == 300, "cells were lost")
        if n % 25 == 0 then comm:barrier() end
      end
      local mine = rg.kernel(function(p) for i, j in p:active() do p[i][j] = p[i][j] + 1 end end)
      for _, wrong in ipairs { function() p[5][6] = 1 end, function() mine(p) end } do
        local ok, problem = pcall(wrong)
        assert(not ok and problem.message:find "another rank", "not refused")
      end
      comm:barrier()
      wx:free()
      local ok, problem = pcall(function() return p[0][0] end)
      assert(not ok and problem.code == "handle.destroyed")
      wy, q, t = nil, nil, nil -- one that is forgotten
      for _ = 1, 3 do collectgarbage() comm:barrier() comm:gather(1) end
    ]])
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
      local folder = os.tmpname()
      local command = "rm '%s'; mkdir '%s'; '%s/bin/regolith' run -n %d examples/ranks.lua '%s'"
      local pipe = assert(io.popen(command:format(folder, folder, root, ranks, folder)))
      sums[k] = pipe:read("*a"):match "checksum (%d+)"
      pipe:close()
      os.execute(("rm -r '%s'"):format(folder))
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
    local plain = script:gsub("SHAPE", "{N, M}"):gsub("PERIODIC", "{true, false}")
      :gsub("LOOP", "for i = a[1], b[1] - 1 do for j = a[2], b[2] - 1 do")
      :gsub("INDEX end", "INDEX end end"):gsub("1%) end", "1) end end")
      :gsub("AT", "i][j"):gsub("INDEX", "(100 * i + j + 1)"):gsub("WIDE", [[
        for i = a[1] - 2, b[1] + 1 do
          for j = a[2] - 2, b[2] + 1 do
            local s, t = value(i, N, true), value(j, M, false)
            local expected = s and t and 100 * s + t + 1 or 0
            assert(x[i][j] == expected and y[i][j].x == expected, ("%%d %%d"):format(i, j))
          end
        end]])
    for ranks, shape in pairs { { 12, 24 }, { 5, 24 }, { 23, 4 }, { 11, 13 }, [6] = { 12, 24 } } do
      holds(ranks, (plain:gsub("N", shape[1]):gsub("M", shape[2])))
    end
  end)

  it("may have one axis or three", function()
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
    holds(6, [[ -- extents that ranks do not divide
      local g = rg.grid{ shape = {3, 7, 5}, periodic = {false, true, true} }
      local x, a, b = g:field(rg.i32), g.from, g.past
      assert(tostring(g) == "grid of 3 x 7 x 5 cells over 1 x 3 x 2 ranks")
      for i = a[1], b[1] - 1 do
        for j = a[2], b[2] - 1 do
          for k = a[3], b[3] - 1 do x[i][j][k] = 100 * i + 10 * j + k + 1 end
        end
      end
      g:exchange(x)
      for i = a[1] - 1, b[1] do
        for j = a[2] - 1, b[2] do
          for k = a[3] - 1, b[3] do
            local is_cell = i >= 0 and i < 3
            assert(x[i][j][k] == (is_cell and 100 * i + 10 * (j % 7) + k % 5 + 1 or 0))
          end
        end
      end
      local cells = (b[1] - a[1]) * (b[2] - a[2]) * (b[3] - a[3])
      assert(comm:all_reduce(cells) == 3 * 7 * 5)
    ]])
  end)

  it("of a stencil gives one result, whatever the number of ranks", function()
    local sums = {}
    for n, ranks in ipairs { 1, 2, 3, 6 } do
      sums[n] = run(ranks, [[
        local g = rg.grid{ shape = {25, 37}, periodic = {true, false} }
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
          for j = a[2], b[2] - 1 do sum = sum + x[i][j] * 2 ^ 20 % 2 ^ 30 * (i * 37 + j + 1) end
        end
        sum = comm:all_reduce(sum)
        if comm.rank == 0 then print(("%a"):format(sum)) end
      ]])[1]
    end
    assert.is_truthy(sums[1]:find "^0x")
    assert.are.same({ sums[1], sums[1], sums[1], sums[1] }, sums)
  end)

  it("is read-only", function()
    local g = rg.grid { shape = { 6, 8 }, halo = 2, periodic = { false, true } }
    local b = rg.grid { shape = { 6, 8 }, block = 2 }
    local x, comm = g:field(rg.f32), rg.comm()
    assert.are.same({ 2, { false, true }, { 6, 8 }, { 0, 0 }, { 6, 8 }, { 1, 1 } },
      { g.halo, g.periodic, g.shape, g.from, g.past, g.blocks })
    assert.are.same({ 1, { 2, 2 }, { 6, 8 } }, { b.halo, b.block, b.shape })
    local a = rg.array(rg.f32, 4)
    local win = comm:window(a)
    for _, case in ipairs { { g, "halo", "a grid is read-only: grid.halo cannot be set" },
      { g, "new", "a grid is read-only: grid.new cannot be set" },
      { b, "owners", "a grid of blocks is read-only: grid.owners cannot be set" },
      { comm, "rank", "rg.comm() is read-only: comm.rank cannot be set" },
      { comm.team, "count", "a team of ranks is read-only: comm.team.count cannot be set" },
      { win, "own", "a window is read-only: win.own cannot be set" } } do
      local ok, e = pcall(function() case[1][case[2] ] = 3 end)
      assert.are.same({ false, case[3] }, { ok, e.message })
    end
    g.from[1], g.past[2], g.shape[2] = 5, 900, 900 -- copies, which the grid makes no use of
    x[0][7] = 4
    g:exchange(x)
    assert.are.same({ 4, 0 }, { x[0][-1], x[-1][-1] })
    win:free()
  end)

  it("reports what it cannot be", function()
    local function problem(options) return select(2, pcall(rg.grid, options)).message end
    assert.is_truthy(problem(5):find "options of rg.grid must be a table")
    assert.is_truthy(problem({}):find "needs a shape")
    assert.is_truthy(problem({ shape = { 1.5 } }):find "positive whole number")
    assert.is_truthy(problem({ shape = { 4 }, halo = -1 }):find "'halo'")
    assert.is_truthy(problem({ shape = { 4 }, periodic = 1 }):find "'periodic'")
    assert.is_truthy(problem({ shape = { 4 }, hallo = 1 }):find "hallo")
    local g = rg.grid { shape = 4 }
    local ok, e = pcall(g.exchange, g, rg.field(rg.f32, 4))
    assert.is_truthy(not ok and e.message:find "takes fields of this grid")
    assert.is_truthy(problem({ shape = { 4, 4 }, periodic = { true } }):find "'periodic'")
    assert.is_truthy(problem({ shape = 4, halo = 5, periodic = true }):find "at least 5 cells")
    assert.is_truthy(select(2, pcall(g.save, g, nil, {})).message:find "grid:save takes a path")
    fails(3, "rg.grid{ shape = 2 }", "cannot be divided into 3 blocks")
    local other = "rg.grid has other options on rank 1 than on rank 0: %s there, %s on rank 0"
    for options, names in pairs {
      ["shape = {8, 8 + comm.rank}"] = { "shape = {8, 9}", "shape = {8, 8}" },
      ["shape = 8, halo = comm.rank"] = { "halo = 1", "halo = 0" },
      ["shape = 8, periodic = comm.rank == 0"] = { "periodic = {false}", "periodic = {true}" },
      ["shape = 8, block = 2 + 2 * comm.rank"] = { "block = 4", "block = 2" } } do
      local lines = fails(2, ("rg.grid{ %s }"):format(options), other:format(unpack(names)))
      assert.is_true(says(lines, "rank 0: ") and says(lines, "rank 1: "))
    end
  end)
end)

describe("a mistake of a rank #compiled #cpu", function()
  it("is an error on all ranks that wait", function()
    local lines, code = fails(3, [[
      if comm.rank == 1 then error "the pressure is not finite" end
      comm:barrier()
    ]], "the pressure is not finite")
    assert.is_true(says(lines, "rank 1 ended with exit code 1"))
    assert.are.equal(1, code)
  end)

  it("is reported by abort", function()
    fails(2, [[
      if comm.rank == 1 then comm:abort "no water is left" return end
      comm:barrier()
    ]], "rank 1 failed: no water is left")
  end)

  it("may be that a rank ends too early", function()
    local began = os.time()
    for _, ends in ipairs { "os.exit(0)", "return" } do
      fails(3, ("if comm.rank == 1 then %s end comm:barrier()"):format(ends), "rank 1 ended",
        { environment = "RG_PATIENCE=600" })
    end
    assert.is_true(os.time() - began < 600) -- nobody waits for so long
  end)

  it("may be that a signal ends a rank", function()
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
    fails(2, "comm:window(rg.array(rg.f32, 10 + comm.rank))", "has 40 bytes on rank 0, but 44 on")
    fails(2, "comm:window(rg.array(rg.f32, 6 + comm.rank * 6, 12 - comm.rank * 6))",
      "declared differently")
    local lines = fails(2, "comm:window(rg.array(comm.rank == 0 and rg.f32 or rg.i32, 2, 5))",
      "declared differently")
    assert.is_true(says(lines, "hint: on rank 0 it is an array of f32 with shape {2, 5}"))
    assert.is_true(says(lines, "hint: on rank 1 it is an array of i32 with shape {2, 5}"))
  end)

  it("is reported at the line of the call", function()
    local comm = rg.comm()
    local function problem(...) return select(2, pcall(...)).message end
    assert.is_truthy(problem(comm.window, comm, 5):find "takes an array or a field")
    assert.is_truthy(problem(comm.all_reduce, comm, 5, "mean"):find "not \"mean\"")
    assert.is_truthy(problem(comm.broadcast, comm, 5, 1):find "rank from 0 to 0")
    assert.is_truthy(problem(comm.gather, comm, {}):find "a number or a string")
    assert.is_truthy(problem(comm.all_reduce, comm, rg.array(rg.f16, 4)):find "not of f16")
    assert.is_truthy(problem(comm.find, comm, 5):find "FFI pointer")
    assert.is_truthy(problem(function() return comm.bariere end):find "no 'bariere'")
    assert.is_truthy(problem(comm.barrier):find("with a colon: comm:barrier(..)", 1, true))
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

  it("of the process that starts them is explained", function()
    local function start(words)
      local pipe = io.popen(("'%s/bin/regolith' run %s 2>&1; echo $?"):format(root, words))
      local text = pipe:read "*a"
      pipe:close()
      return text
    end
    local hint = "\nhint: regolith run -n 4 script.lua ..\n1\n"
    local function number(given)
      return "-n takes a number of ranks, from 1 to 256" .. given .. hint
    end
    for words, text in pairs {
      [""] = "regolith run needs a number of ranks, and a script" .. hint,
      ["x.lua -n 2"] = "regolith run takes the number of ranks first, -n 4, not 'x.lua'" .. hint,
      ["-n"] = number "", ["-n 0 x.lua"] = number ", not '0'",
      ["-n 1000 x.lua"] = number ", not '1000'", ["-n -2 x.lua"] = number ", not '-2'",
      ["-n 2.5 x.lua"] = number ", not '2.5'", ["-nx x.lua"] = number ", not 'x'",
      ["-n 3"] = "regolith run -n 3 needs a script" .. hint,
      ["-n 3 /no.lua"] = "cannot open /no.lua: No such file or directory\n1\n" } do
      assert.are.equal("regolith: " .. text, start(words))
    end
    assert.is_truthy(start "--help":find("^regolith run %-n 4 script.lua"))
    assert.are.equal("7\n7\n0\n", start "-n2 -e 'print(7)'")
  end)

  it("may be that the process that started them is killed between calls", function()
    local path = os.tmpname()
    support.write_file(path .. ".lua", ([[
      local ffi, rg = require "ffi", require "regolith"
      ffi.cdef "int getpid(void);"
      local all = rg.comm():gather(ffi.C.getpid())
      if rg.comm().rank == 0 then
        local file = io.open("PATH", "w")
        file:write(all[0], " ", all[1], " ")
        file:close()
      end
      while true do end
    ]]):gsub("PATH", path))
    local pipe = io.popen(([[
      '%s/bin/regolith' run -n 2 '%s.lua' >/dev/null 2>&1 & p=$!
      while ! grep -q ' $' '%s'; do sleep 0.05; done; read -r a b <'%s'
      runs() { [ -d /proc/$1 ] && ! grep -q '^State:.Z' /proc/$1/status; }
      kill -9 $p; k=0
      while { runs $a || runs $b; } && [ $k -lt 12000 ]; do sleep 0.05; k=$((k + 1)); done
      [ $k -lt 12000 ] && echo ended || kill -9 $a $b
    ]]):format(root, path, path, path))
    local text = pipe:read "*a"
    pipe:close()
    os.remove(path)
    os.remove(path .. ".lua")
    assert.are.equal("ended\n", text)
  end)

  it("is reported with its signal number if it ends a script", function()
    local lines = fails(2, "if comm.rank == 1 then error 'no water' end", "rank 1: ")
    assert.is_true(says(lines, "regolith: rank 1: /") and not says(lines, "rank 0: "))
  end)
end)
