--- Windows in a GPU's memory: ranks are processes that share one GPU, on the test driver that
--- executes PTX and passes memory between processes as a real driver does (tests/cuda/driver);
--- tests that depend on the driver's settings are tagged #ptx. `tests/run --gpu` runs the others on
--- a GPU.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local blocks = require "growing_blocks"

local run = support.run_gpu_ranks

local function holds(ranks, script, environment)
  local lines, code = run(ranks, script, environment)
  assert.are.same({}, lines)
  assert.are.equal(0, code)
end

-- Every rank prints the sentence, once.
local function refuses(ranks, script, environment, sentences, options)
  local lines, code = run(ranks, script, environment, options)
  assert.are.same(sentences, lines)
  assert.are.equal(0, code)
end

local ask = [[
  local ok, problem = pcall(comm.window, comm, rg.array(rg.f32, 8))
  comm:barrier()
  print(table.concat({ comm.rank, tostring(ok), not ok and problem.code or nil,
    not ok and problem.message or nil }, "\t"))
]]

describe("windows of a GPU's memory #compiled #cpu", function()
  it("are the same memory for all ranks: arrays of every size, in kernels and in Lua", function()
    holds(3, [[
      local sizes, arrays, wins = { 1, 5000, 700001 }, {}, {}
      local fill = rg.kernel(function(a, r) for i in a:active() do a[i] = 1000 * r + i end end)
      for k, n in ipairs(sizes) do
        arrays[k] = rg.array(rg.i32, n)
        fill(arrays[k], comm.rank + 10 * k)
        wins[k] = comm:window(arrays[k])
      end
      comm:barrier()
      local check = rg.kernel(function(p, r, more)
        local wrong = 0
        for i in p:active() do if p[i] ~= 1000 * r + i + more then wrong = wrong + 1 end end
        return wrong
      end)
      for k, n in ipairs(sizes) do
        for r = 0, comm.size - 1 do
          local p = wins[k]:peer(r)
          assert(#p == n and p[n - 1] == 1000 * (r + 10 * k) + n - 1)
          assert(check(p, r + 10 * k, 0) == 0)
        end
      end
      comm:barrier()
      local add = rg.kernel(function(p) for i in p:active() do p[i] = p[i] + 5 end end)
      for k = 1, #sizes do add(wins[k]:peer((comm.rank + 1) % comm.size)) end
      comm:barrier()
      for k, n in ipairs(sizes) do
        assert(check(arrays[k], comm.rank + 10 * k, 5) == 0)
        assert(arrays[k][n - 1] == 1000 * (comm.rank + 10 * k) + n + 4)
      end
      comm:barrier()
      wins[2]:free()
      assert(wins[3]:peer(0)[7] == 30012 and arrays[2][3] == 1000 * (comm.rank + 20) + 8)
      assert(not pcall(wins[2].peer, wins[2], 0))
    ]])
  end)

  it("may show a part of an array, along its first axis", function()
    holds(2, [[
      local a, other = rg.array(rg.i32, 4000, 2), 1 - comm.rank
      rg.kernel(function(r) for i in rg.range(4000) do a[i][1] = 10000 * r + i end end)(comm.rank)
      local win = comm:window(a, 1000, 500)
      comm:barrier()
      local peer = win:peer(other)
      assert(peer.shape[0] == 500 and peer[499][1] == 10000 * other + 1499)
      assert(win.own[1][1] == 10000 * comm.rank + 1001)
      rg.kernel(function(p) for i in rg.range(500) do p[i][0] = i + p[i][1] end end)(peer)
      comm:barrier()
      assert(a[1499][0] == 499 + 10000 * comm.rank + 1499 and a[1500][0] == 0 and a[999][0] == 0)
      assert(win:get(other, rg.array(rg.i32, 500, 2))[3][1] == 10000 * other + 1003)
    ]])
  end)

  it("may be those of a rank known only at run time, whose address is a sum", function()
    holds(3, [[
      local a = rg.array(rg.vec3, 6, 16)
      for i = 0, 5 do for j = 0, 15 do a[i][j] = rg.vec3(comm.rank, i, j) end end
      local x = rg.field(rg.f64, 4, 5)
      for i, j in x:active() do x[i][j] = 100 * comm.rank + 10 * i + j end
      local win, fields = comm:window(a), comm:window(x)
      local sum = rg.kernel(function()
        local wrong = 0
        for r, i, j in rg.range(comm.size, 6, 16) do
          if win:peer(r)[i][j] ~= rg.vec3(r, i, j) then wrong = wrong + 1 end
        end
        for r, i, j in rg.range(comm.size, 4, 5) do
          if fields:peer(r)[i][j] ~= 100 * r + 10 * i + j then wrong = wrong + 1 end
        end
        return wrong
      end)
      assert(sum() == 0)
      comm:barrier()
      a[5][3] = rg.vec3(7, 8, comm.rank) -- and by way of the window, without a barrier
      local own = rg.kernel(function(r) return win:peer(r)[5][3].z end)
      assert(own(comm.rank) == comm.rank)
      local row = rg.kernel(function(b, r)
        for j in rg.range(16) do b[j] = win:peer(r)[1][j] end
      end)
      row(rg.array(rg.vec3, 16), 1)
      assert(not row:ir():find "call") -- on the GPU, but to say that an index is none:
      for called in row:ptx("sm_80"):gmatch "call%.%w+%s+([%w_]+)" do
        assert(called == "rt_outside", called)
      end
      comm:barrier()
    ]])
  end)

  it("of dense fields hold the whole tree, which moves", function()
    holds(2, [[
      local x, v = rg.field(rg.f32), rg.field(rg.vec2)
      rg.root:dense("ij", 6, 5):dense("ij", 2, 3):place(x, v)
      for i, j in x:active() do x[i][j] = 1000 * comm.rank + 100 * i + j end
      local win, other = comm:window(x), 1 - comm.rank
      local peer = win:peer(other)
      assert(peer[11][14] == 1000 * other + 1114 and #peer == 12)
      comm:barrier()
      rg.kernel(function() for i, j in peer:active() do peer[i][j] = peer[i][j] + 0.5 end end)()
      comm:barrier()
      assert(x[11][14] == 1000 * comm.rank + 1114.5)
      local same = comm:window(v)
      v[3][4] = rg.vec2(comm.rank, 5)
      comm:barrier()
      assert(same:peer(other)[3][4].x == other and comm:find(x:pointer()) == same)
      rg.gc "trim" -- it stays where it is
      comm:barrier()
      peer[0][0] = 77 + comm.rank
      comm:barrier()
      assert(x[0][0] == 77 + other and x[1][1] == 1000 * comm.rank + 101.5)
      win:free()
      assert(not pcall(function() return peer[0][0] end))
      assert(same:peer(other)[3][4].y == 5 and x[0][0] > 0)
      comm:barrier()
    ]])
  end)

  it("lose nothing that two ranks write next to each other", function()
    holds(2, [[
      local a = rg.array(rg.i32, 100000)
      local win, other = comm:window(a), 1 - comm.rank
      for turn = 1, 3 do
        a[2 * turn] = 10 + comm.rank          -- one page, by both, before a barrier
        win:peer(other)[2 * turn + 1] = 20 + comm.rank
        local put = rg.kernel(function(p) p[50] = 30 + comm.rank end)
        put(win:peer(other))
        a[51] = 40
        comm:barrier()
        assert(a[2 * turn] == 10 + comm.rank and a[2 * turn + 1] == 20 + other)
        assert(a[50] == 30 + other and a[51] == 40 and a[99999] == 0)
        comm:barrier()
      end
      a:fill(comm.rank)                        -- by Lua, all of it
      comm:barrier()
      assert(win:peer(other)[99999] == other)
      comm:barrier()
    ]])
  end)

  it("are what put, get, trade, broadcast and all_reduce copy from and to", function()
    local script = [[
      local a, b = rg.array(rg.i32, 8), rg.array(rg.i32, 8)
      local n, right, left = comm.size, (comm.rank + 1) % 4, (comm.rank + 3) % 4
      local fill = rg.kernel(function(a, v) for i in a:active() do a[i] = v + i end end)
      fill(a, 10 * comm.rank)
      local win = comm:window(a)
      if comm.team.count == 4 then
        assert(win:get(right, b)[3] == 10 * right + 3)
        comm:barrier()
        fill(b, 100 + comm.rank)
        win:put(right, b)
        comm:barrier()
        assert(a[5] == 105 + left)
      else
        local ok, problem = pcall(win.get, win, (comm.rank + 2) % 4, b)
        assert(not ok and problem.message:find "belongs to another team", tostring(problem))
        local near = comm.rank - comm.rank % 2 * 2 + 1
        assert(win:get(near, b)[3] == 10 * near + 3)
      end
      comm:barrier()
      fill(b, comm.rank)
      comm:trade({ { right, b } }, { { left, a } })
      assert(a[7] == left + 7)
      assert(comm:all_reduce(b)[2] == 14 and b[7] == 34)
      fill(b, comm.rank)
      assert(comm:broadcast(b, 1)[7] == 8)
    ]]
    holds(4, script)
    holds(4, script, "RG_LSA_SIZE=2")
  end)

  it("carry a grid's halo: a stencil gives what one rank gives, bit for bit", function()
    local script = [[
      local n, m = 12, 16
      local g = rg.grid{ shape = {n, m}, halo = 1, periodic = true }
      local x, y, a, b = g:field(rg.f32), g:field(rg.f32), g.from, g.past
      rg.kernel(function()
        for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do
          x[i][j] = math.sin(0.7 * i) * math.cos(0.3 * j)
        end
      end)()
      local step = rg.kernel(function(x, y)
        for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do
          y[i][j] = x[i][j] + 0.1 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]
            - 4 * x[i][j])
        end
      end)
      for _ = 1, 4 do
        g:exchange(x)
        step(x, y)
        x, y = y, x
      end
      local bits = rg.array(rg.f32, n, m)
      rg.kernel(function()
        for i, j in rg.range({ a[1], b[1] }, { a[2], b[2] }) do bits[i][j] = x[i][j] end
      end)()
      comm:all_reduce(bits)
      if comm.rank == 0 then print((bits:to_string():gsub(".", function(c)
        return ("%02x"):format(c:byte())
      end))) end
    ]]
    local one = run(1, script)
    assert.are.equal(1, #one)
    assert.are.equal(12 * 16 * 8, #one[1])
    assert.are.same(one, (run(4, script)))
    assert.are.same(one, (run(4, script, "RG_LSA_SIZE=2")))
  end)

  it("are optional for a grid of blocks, whose blocks move: bit for bit", function()
    local script = blocks.start(24) .. blocks.run(6, 3) .. blocks.sum .. [[
      sum, cells = comm:all_reduce(sum), comm:all_reduce(cells)
      g:collect(x)
      if comm.rank == 0 then print(("%.0f %d"):format(sum, cells)) end
    ]]
    local one = run(1, script)
    assert.is_truthy(one[1]:find "^%d+ 544$" and #one == 1)
    assert.are.same(one, (run(3, script)))
    assert.are.same(one, (run(2, script, "PTX_NO_HANDLES=1"))) -- by copies
    assert.are.same(one, (support.run_ranks(2, script))) -- of the host
  end)

  it("that a script drops are freed; a later window may reuse their place", function()
    holds(2, [[
      for turn = 1, 40 do
        local a = rg.array(rg.i32, 300000)
        a[7] = turn + comm.rank
        local win = comm:window(a)
        assert(win:peer(1 - comm.rank)[7] == turn + 1 - comm.rank)
        comm:barrier()
        if turn % 3 == 0 then win:free() end
        if turn % 5 == 0 then a:destroy() end
        a, win = nil, nil
        collectgarbage() collectgarbage()
      end
    ]], "PTX_MEMORY=256")
  end)

  it("are refused, in one sentence, where the driver does not share memory #ptx", function()
    for _, environment in ipairs { "PTX_NO_HANDLES=1", "PTX_NO_VMM=1" } do
      local sentence = "device.missing\t%swindows of GPU memory need a driver that can map it \z
        and share it between processes, which 'executing driver' cannot"
      refuses(2, ask, environment, { "0\tfalse\t" .. sentence:format "",
        "1\tfalse\t" .. sentence:format "on another rank: " })
    end
  end)

  it("are refused where a rank's GPU does not reach another's #ptx", function()
    local each = { before = [[
      local ffi = require "ffi"
      ffi.cdef "int setenv(const char *, const char *, int);"
      ffi.C.setenv("PTX_GPU", os.getenv "RG_RANK" or "0", 1)
    ]] }
    local function sentences(code, text)
      return { ("0\tfalse\t%s\t%s"):format(code, text),
        ("1\tfalse\t%s\ton another rank: %s"):format(code, text) }
    end
    refuses(2, ask, "PTX_PEERS=0", sentences("device.failed",
      "the GPU cannot map memory of another rank: invalid device ordinal"), each)
    refuses(2, ask, "PTX_PEERS=0 PTX_DEVICES=2", sentences("device.missing",
      "the GPU of rank 0 cannot access the memory of rank 1's GPU, which a window needs"))
    refuses(2, ask, "", { "0\ttrue", "1\ttrue" }, each)
  end)

  it("are on the GPU of each rank's number on its host, in turn, or on a named one #ptx", function()
    local ask_all = ask .. [[
      local a = rg.array(rg.i32, 4)
      a[2] = 100 + comm.rank
      local peer = comm:window(a):peer((comm.rank + 1) % comm.size)
      assert(peer[2] == 100 + (comm.rank + 1) % comm.size)
      comm:barrier()
    ]]
    refuses(3, ask_all, "PTX_DEVICES=2", { "0\ttrue", "1\ttrue", "2\ttrue" })
    refuses(2, ask, "PTX_DEVICES=2 PTX_PEERS=0 RG_GPU=1", { "0\ttrue", "1\ttrue" })
    for environment, sentence in pairs {
      ["PTX_DEVICES=2 RG_GPU=2"] =
        "there is no GPU 2: the CUDA driver sees 2, and numbers begin with 0",
      ["RG_GPU=first"] = "RG_GPU must be the number of a GPU, counted from 0, got 'first'" } do
      local lines, code = run(1, "", environment)
      assert.is_truthy(table.concat(lines, "\n"):find(sentence, 1, true), table.concat(lines, "\n"))
      assert.are.equal(1, code)
    end
  end)

  local nodes = [[
    local x, B = rg.field(rg.f32), 16384 -- 64 KiB a node: a few make the tree grow by pieces
    rg.root:pointer("i", 4096):dense("i", B):place(x)
    local other = (comm.rank + 1) % comm.size
    local touch = rg.kernel(function(from, to, r)
      for i in rg.range({ from, to }) do x[i * B + 7 * r] = 1000 * (r + 1) + i end
    end)
    local wrong = rg.kernel(function(p, n, r)
      local wrong = 0
      for i in rg.range(n) do
        if p[i * B + 7 * r] ~= 1000 * (r + 1) + i then wrong = wrong + 1 end
      end
      return wrong
    end)
  ]]

  it("of sparse fields are read in place, and their growth is visible after each \z
    barrier", function()
    local script = nodes .. [[
      if comm.team.count == 2 then other = comm.rank + 1 - comm.rank % 2 * 2 end
      touch(0, 10, comm.rank)
      local win = comm:window(x)
      local p, n = win:peer(other), 10
      assert(wrong(p, n, other) == 0)
      local seen = rg.kernel(function(r)
        local found = 0
        for i in rg.range(4096) do if p[i * B + 7 * r] ~= 0 then found = found + 1 end end
        return found
      end)
      comm:barrier()
      for turn = 1, 6 do
        touch(n, n + 100, comm.rank)
        rg.sync()
        local found = seen(other) -- no barrier: what is mapped here of what is there, and no fault
        assert(found >= n and found <= n + 100, found)
        n = n + 100
        comm:barrier()
        assert(wrong(p, n, other) == 0 and seen(other) == n)
        assert(p[(n - 1) * B + 7 * other] == 1000 * (other + 1) + n - 1 and p[n * B] == 0)
        comm:barrier()
      end
    ]]
    holds(3, script, "RG_MEMORY=256MiB")
    holds(4, script, "RG_MEMORY=256MiB RG_LSA_SIZE=2")
  end)

  it("of sparse fields have levels of every kind, of a rank known at run time", function()
    holds(2, [[
      local a, b = rg.field(rg.f32), rg.field(rg.vec2)
      local c, d, e = rg.field(rg.i32), rg.field(rg.i32), rg.field(rg.i32)
      local top = rg.root:pointer("ij", 16)
      top:place(c)
      local mask = top:bitmasked("ij", 8)
      mask:place(a, b)
      top:pointer("ij", 4):dense("ij", 2):place(d)
      local list = top:dynamic("k", 1000, { chunk = 8 })
      list:place(e)
      local other = 1 - comm.rank
      local function on(i, j, r) return (i * 7 + j * 3 + r) % 5 == 0 end
      local put = rg.kernel(function(r)
        for i, j in rg.range(40, 40) do
          if on(i, j, r) then
            a[i][j] = 100 * r + i
            b[i][j] = rg.vec2(i, j + r)
            d[i][j] = i * j + r
          end
        end
        for k in rg.range(50) do list:append(3, 2, k + r) end
      end)
      put(comm.rank)
      local win_a, win_b = comm:window(a), comm:window(b)
      local win_d, win_e = comm:window(d), comm:window(e)
      local check = rg.kernel(function(size)
        local wrong = 0
        for r, i, j in rg.range(size, 40, 40) do
          if win_a:peer(r):is_active(i, j) ~= on(i, j, r) then wrong = wrong + 1 end
          if on(i, j, r) and (win_a:peer(r)[i][j] ~= 100 * r + i or
              win_b:peer(r)[i][j] ~= rg.vec2(i, j + r) or win_d:peer(r)[i][j] ~= i * j + r) then
            wrong = wrong + 1
          end
        end
        return wrong
      end)
      assert(check(comm.size) == 0)
      local sum = rg.kernel(function(r)
        local sum = 0
        for k in rg.range(60) do sum = sum + win_e:peer(r)[3][2][k] end
        return sum
      end)
      assert(sum(other) == 1225 + 50 * other)
      local p, q = win_a:peer(other), win_e:peer(other)
      local i = other == 0 and 5 or 2
      assert(on(i, 0, other) and p[i][0] == 100 * other + i and p:is_active(i, 0))
      assert(p[i + 1][0] == 0 and not p:is_active(i + 1, 0) and p[120][120] == 0)
      assert(win_b:peer(other)[i][0] == rg.vec2(i, other) and win_d:peer(other)[i][0] == other)
      assert(q:length(3, 2) == 50 and q:length(4, 2) == 0)
      comm:barrier()
      a[i][1] = 7             -- by the host; and cells that go
      mask:deactivate(1 - other == 0 and 5 or 2, 0)
      comm:barrier()
      i = other == 0 and 2 or 5
      assert(win_a:peer(other)[i][1] == 7 and p[i == 2 and 5 or 2][0] == 0)
      comm:barrier()
      top:clear()
      rg.gc()
      comm:barrier()
      assert(p[i][1] == 0 and not p:is_active(i, 1) and q:length(3, 2) == 0)
      comm:barrier()
      put(comm.rank)          -- in memory that came back
      comm:barrier()
      assert(check(comm.size) == 0)
      for _, change in ipairs { function() p[1][1] = 2 end, function() p:fill(1) end,
          function() return p:to_table() end, function() for i, j in p:active() do end end,
          function() rg.kernel(function() p[1][1] = 3 end)() end,
          function() rg.kernel(function() for i, j in p:active() do c[i][j] = 1 end end)() end } do
        local ok, problem = pcall(change)
        assert(not ok and problem.message:find "another rank", tostring(problem))
      end
      comm:barrier()
    ]])
  end)

  it("of sparse fields end: freed, forgotten, or with their tree, and others come", function()
    holds(2, [[
      local other = 1 - comm.rank
      for turn = 1, 8 do
        local tree, x = rg.tree(), rg.field(rg.i32)
        tree:pointer("i", 64):dense("i", 4096):place(x)
        local fill = rg.kernel(function(n, v) for i in rg.range(n) do x[i] = v + i end end)
        fill(20000, turn + 10 * comm.rank)
        local win, again = comm:window(x), comm:window(x)
        local p, q, first = win:peer(other), again:peer(other), turn + 10 * other
        assert(p[7] == first + 7 and q[19999] == first + 19999)
        assert(rg.kernel(function() return p[5] + q[6] end)() == 2 * first + 11)
        rg.gc "trim" -- it stays where it is
        assert(p[8] == first + 8)
        comm:barrier()
        if turn % 4 == 0 then
          win:free()
          assert(not pcall(function() return p[0] end) and q[7] == first + 7)
          comm:barrier()
        elseif turn % 4 == 1 then
          tree:destroy()
          assert(q[7] == first + 7) -- until the window ends
          comm:barrier()
        elseif turn % 4 == 2 then
          win, again = win:free(), again:free()
        end
        p, q, win, again, x, tree, fill = nil
        collectgarbage() collectgarbage()
      end
    ]])
  end)

  it("of sparse fields are refused on all ranks where one declares another tree", function()
    refuses(2, [[
      local x = rg.field(rg.f32)
      rg.root:pointer("i", 8 + 8 * comm.rank):place(x)
      local ok, problem = pcall(comm.window, comm, x)
      comm:barrier()
      print(comm.rank, ok, not ok and problem.code .. " " .. problem.message)
    ]], "", { "0\tfalse\trank.failed the argument of 'window' is declared differently on rank \z
      1 than on rank 0", "1\tfalse\trank.failed the argument of 'window' is declared differently \z
      on rank 1 than on rank 0" })
  end)

  it("fail on all ranks if one has no memory to map the growth of another's tree #ptx", function()
    local function ends(rank, text)
      return ("%d\tfalse\t%sthe GPU has no memory left: it cannot map memory of another rank")
        :format(rank, text)
    end
    local lines = { ends(0, ""), ends(1, "on another rank: ") }
    local tell = [[
      local function tell(ok, problem)
        if not ok then print(("%d\tfalse\t%s"):format(comm.rank, problem.message)) end
        return ok, problem
      end
      touch(0, 10, comm.rank)
      local ok, win = tell(pcall(comm.window, comm, x))
      if not ok then win = comm:window(x) end
      local p = win:peer(other)
      for n = 10, 790, 20 do touch(n, n + 20, comm.rank) end
      if not tell(pcall(comm.barrier, comm)) then
        assert(wrong(p, 10, other) == 0 and p[809 * B + 7 * other] == 0)
        comm:barrier()        -- which begins again
      end
      assert(wrong(p, 810, other) == 0)
      comm:barrier()
    ]]
    refuses(2, nodes .. tell, "RG_MEMORY=256MiB PTX_FAIL_IMPORT=2", lines)
    refuses(2, nodes .. tell, "RG_MEMORY=256MiB PTX_FAIL_IMPORT=9", lines)
  end)

  it("of sparse fields: a rank that is killed ends the others' barrier", function()
    local lines = run(2, nodes .. [[
      local win = comm:window(x)
      touch(0, 300, comm.rank)
      if comm.rank == 1 then os.exit(3) end
      local ok, problem = pcall(comm.barrier, comm)
      print(ok, problem.message)
    ]], "RG_MEMORY=256MiB")
    assert.is_truthy(table.concat(lines, "\n"):find("false\trank 1 ended", 1, true),
      table.concat(lines, "\n"))
  end)

  it("of sparse fields below hashes are looked up in place, as they were in the barrier", function()
    holds(2, [[
      local x, z, other = rg.field(rg.i32), rg.field(rg.vec2), 1 - comm.rank
      local blocks, cells = rg.root:hash("ij"), rg.root:hash("i"):hash("j")
      blocks:dense("ij", 4):place(x)
      cells:place(z)
      local function on(i, j, r) return (i * 7 + j * 3 + r) % 11 == 0 end
      local put = rg.kernel(function(n, r)
        for i, j in rg.range(n, n) do
          if on(i, j, r) then
            x[i - 20][j * 3 - 100] = 1000 * r + i * n + j + 1
            z[i * 100000 - 7][j * 1000000 + 3] = rg.vec2(i + 1, j + r)
          end
        end
      end)
      local check = rg.kernel(function(p, q, n, r)
        local wrong = 0
        for i, j in rg.range(n, n) do
          if on(i, j, r) ~= q:is_active(i * 100000 - 7, j * 1000000 + 3) then wrong = wrong + 1 end
          if on(i, j, r) and (p[i - 20][j * 3 - 100] ~= 1000 * r + i * n + j + 1 or
              q[i * 100000 - 7][j * 1000000 + 3] ~= rg.vec2(i + 1, j + r)) then
            wrong = wrong + 1
          end
        end
        return wrong
      end)
      put(24, comm.rank)
      local win_x, win_z = comm:window(x), comm:window(z)
      local p, q = win_x:peer(other), win_z:peer(other)
      assert(check(p, q, 24, other) == 0)
      comm:barrier()
      for n = 30, 110, 40 do   -- the tables grow, are emptied and filled anew
        blocks:clear()
        cells:clear()
        comm:barrier()
        assert(check(p, q, 4, other) > 0)
        comm:barrier()
        put(n, comm.rank)
        rg.sync()
        assert(check(p, q, n, other) >= 0) -- no barrier, and no fault
        comm:barrier()
        assert(check(p, q, n, other) == 0)
        comm:barrier()
      end
      local drop = rg.kernel(function(n, r)
        for i, j in rg.range(n, n) do
          if on(i, j, r) then cells:deactivate(i * 100000 - 7, j * 1000000 + 3) end
        end
      end)
      for turn = 1, 4 do       -- tombstones, which go in barriers
        drop(40, comm.rank)
        comm:barrier()
        for j = 0, 30 do assert(not q:is_active(-7, j * 1000000 + 3)) end
        comm:barrier()
        cells:clear()
        blocks:clear()
        put(40, comm.rank)
        comm:barrier()
        assert(check(p, q, 40, other) == 0)
        comm:barrier()
      end
      local j = other == 0 and 0 or 7
      assert(on(0, j, other) and q[-7][j * 1000000 + 3] == rg.vec2(1, j + other))
      assert(p[-20][3 * j - 100] == 1000 * other + j + 1 and p[5000][-4] == 0)
      comm:barrier()
      win_x:free()
      win_z:free()
      assert(not pcall(function() return p[0][0] end) and x[5000][-4] == 0)
    ]])
  end)
end)
