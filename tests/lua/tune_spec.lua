--- The way to run launches is found by trials among them: nothing runs twice, and nothing else
--- changes.
local ffi = require "ffi"
local support = require "support"
local rg, failure = support.rg, support.failure

-- A runtime in which each launch is a trial.
local function trying(options)
  return support.with_option("RG_TUNE", "always", function()
    local other = rg.new(options or { threads = 4 })
    other.stats()
    return other
  end)
end

-- Calls `run` with such a runtime, and ends that.
local function with_trials(options, run)
  local other = trying(options)
  local ok, message = pcall(run, other)
  other.reset()
  if not ok then error(message, 0) end
end

local function candidates_of(k)
  local found = {}
  for _, choice in ipairs(k:tuned()) do
    for _, row in ipairs(choice) do
      found[row.candidate] = (found[row.candidate] or 0) + row.samples
    end
  end
  return found
end

local temporary = {}
-- A runtime that stores its code and choices in a folder of its own.
local function keeping(folder, options)
  return support.with_option("RG_CACHE", folder, function()
    local other = rg.new(options)
    other.stats()
    return other
  end)
end
local function new_folder()
  local name = os.tmpname()
  os.remove(name)
  temporary[#temporary + 1] = name
  return name
end

-- Launches 20 times; returns the longest time of one in ms, or `slowest` where that is more.
local function launch(k, n, slowest)
  for _ = 1, 20 do
    local begin = rg.time()
    k(n)
    slowest = math.max(slowest, (rg.time() - begin) * 1000)
  end
  return slowest
end

-- A kernel whose launches take about half a millisecond, and a run of it until something is kept,
-- which takes long where other work disturbs it; and the longest time of a launch in ms. A version
-- with constants, which may replace the first one before that is decided, has a choice of its own.
local function find_kept(k)
  local choices = k:tuned()
  for _, choice in ipairs(choices) do
    if choice.kept then return choice end
  end
  return choices[1]
end
local function settle(other)
  local n = 100000
  local x = other.field(rg.f32, n)
  local k = other.kernel([=[function(m)
    for i in rg.range(m) do x[i] = math.sin(x[i]) + 1 end
  end]=], { x = x })
  local begin, slowest = rg.time(), 0
  repeat
    slowest = launch(k, n, slowest)
    local choice = find_kept(k)
  until choice and choice.kept or rg.time() - begin > 60
  return k, slowest
end

-- What the first runtime keeps that keeps something: where a trial was disturbed for long, the next
-- ones wait until it is a small share of the time, and that may be minutes.
local function kept_in(new_one)
  local choice
  for _ = 1, 10 do
    local other, folder = new_one()
    choice = find_kept(settle(other))
    other.reset()
    if choice and choice.kept then return choice, folder end
  end
  error "nothing is kept"
end

describe("trials #compiled #cpu", function()
  teardown(function()
    for _, folder in ipairs(temporary) do os.execute("rm -rf " .. folder) end
  end)

  it("are launches: a counter launched N times counts N, whatever is tried", function()
    for _, is_async in ipairs { false, true } do
      with_trials({ threads = 4, async = is_async }, function(other)
        local x, n = other.field(rg.i32, 10000), 100
        local k = other.kernel([=[function()
          for i in rg.range(10000) do x[i] = x[i] + 1 end
        end]=], { x = x })
        for _ = 1, n do k() end
        assert.equal(n, x[0])
        assert.equal(n, x[9999])
        local tried = candidates_of(k)
        assert.is_true(tried["threads=1"] > 0 and tried["grain=fine"] > 0)
      end)
    end
  end)

  it("agree: sums, histograms, sparse trees and lists", function()
    with_trials({ threads = 4 }, function(other)
      local bins, total = other.field(rg.i32, 64), 0
      local cells = other.field(rg.i32)
      other.root:pointer("i", 64):dense("i", 32):place(cells)
      local k = other.kernel([=[function(turn)
        local sum = 0
        for i in rg.range(2048) do
          bins[i % 64] = bins[i % 64] + 1
          if i % 3 == turn % 3 then cells[i] = cells[i] + 1 end
          sum = sum + i
        end
        for i in cells:active() do cells[i] = cells[i] + 1 end
        return sum
      end]=], { bins = bins, cells = cells })
      for turn = 1, 60 do
        assert.equal(2048 * 2047 / 2, k(turn))
        total = total + 32
        assert.equal(total, bins[turn])
      end
      local sum = 0
      for _, v in pairs(cells) do sum = sum + v end
      assert.equal(20 * 2048 + 60 * 2048, sum) -- each cell at every third turn; all that are active
      assert.is_true(candidates_of(k)["copies=never"] > 0)
    end)
  end)

  it("keep the order of float sums where that is promised", function()
    local function sums(options)
      local found = {}
      with_trials(options, function(other)
        local x, acc = other.field(rg.f32, 5000), other.field(rg.f32, 3)
        for i = 0, 4999 do x[i] = math.sin(i) end
        local k = other.kernel([=[function()
          local s = 0.0
          for i in rg.range(5000) do
            s = s + x[i]
            acc[i % 3] = acc[i % 3] + x[i]
          end
          return s
        end]=], { x = x, acc = acc })
        for turn = 1, 30 do
          acc:fill(0)
          found[turn] = { k(), acc:to_table() }
        end
      end)
      return found
    end
    for _, options in ipairs { { threads = 1 }, { threads = 3, deterministic = true } } do
      local found = sums(options)
      for turn = 2, 30 do assert.same(found[1], found[turn]) end
    end
  end)

  it("do not change errors", function()
    with_trials({ threads = 4 }, function(other)
      local x = other.field(rg.i32, 1000)
      local k = other.kernel([=[function(bad)
        for i in rg.range(1000) do assert(x[i] < bad, "too much") x[i] = x[i] + 1 end
      end]=], { x = x })
      for _ = 1, 8 do k(100) end
      assert.matches("too much", failure(k, 0).message)
      for _ = 1, 8 do k(100) end
      assert.equal(16, x[500])
    end)
  end)
end)

describe("tuning #compiled #cpu", function()
  it("keeps its choice on disk: the next runtime samples nothing", function()
    local first, folder = kept_in(function()
      local own = new_folder()
      return keeping(own, { threads = 2, tune = "online" }), own
    end)
    local two = keeping(folder, { threads = 2, tune = "cached" })
    local second = find_kept(settle(two))
    two.reset()
    assert.is_true(first[1].samples >= 3)
    -- times may have been too uneven to be kept beyond the process
    if not (second and second.kept) then return end
    assert.equal(first.kept, second.kept)
    assert.is_true(second.recalled)
    for _, row in ipairs(second) do assert.equal(0, row.samples) end
  end)

  it("takes no more than its share of the time, including background compiles", function()
    local other = keeping("off", { threads = 2, tune = "online" })
    local begin, k, slowest = rg.time(), settle(other)
    -- The last trial starts within the share and may take as long as the slowest launch. A
    -- background compile that other work delays may take longer; later launches make up for it.
    local function is_within()
      local stats = other.stats()
      return stats.tune_ms <= 0.05 * stats.run_ms + slowest
    end
    repeat
      slowest = launch(k, 100000, slowest)
      local time = rg.time() - begin
    until time > 0.2 and is_within() or time > 600
    assert.is_true(is_within())
    other.reset()
  end)

  it("can be switched off, and ignores short launches", function()
    local function kept(mode, n)
      local other = rg.new { tune = mode, threads = 2 }
      local x = other.field(rg.i32, n)
      local k = other.kernel([=[function()
        for i in x:active() do x[i] = x[i] + 1 end
      end]=], { x = x })
      for _ = 1, 2000 do k() end
      assert.equal(mode, other.info().tune)
      local report = k:tuned()
      other.reset()
      return report[1] and report[1].kept
    end
    assert.is_nil(kept("off", 300000))
    local tries = 0 -- a launch that is disturbed is not short
    repeat
      tries = tries + 1
      local choice = kept("online", 64)
    until not choice or tries == 20
    assert.is_true(tries < 20)
  end)

  it("refuses unknown values", function()
    local e = failure(rg.new, { tune = "on" })
    assert.equal("option.invalid", e.code)
    assert.matches("'tune'", e.message)
    local wrong = failure(support.with_option, "RG_TUNE", "maybe", function()
      return rg.new({}).stats()
    end)
    assert.matches("RG_TUNE must be off, cached or online, got 'maybe'", wrong.message)
  end)
end)

describe("a report of tuning", function()
  it("is empty for a kernel that was not tried", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel(function() for i in rg.range(4) do x[i] = i end end)
    local before = k:tuned()
    assert.equal(0, #before)
    assert.equal("no trials yet", tostring(before))
    assert.is_string(rg.info().tune)
  end)
end)

-- -- sets of candidates ---------------------------------------------------------------------------

-- Kernels that add 1 to all numbers of x, in about `work[k]` steps each.
local function adders(other, work)
  local list = {}
  for k, steps in ipairs(work) do
    list[k] = other.kernel(([=[function(x)
      for i in rg.range(64) do
        local s = 0.0
        for k = 1, %d do s = s + math.sin(k * 1.0) end
        x[i] = x[i] + (s > 1e9 and 2 or 1)
      end
    end]=]):format(steps))
  end
  return list
end

describe("a set of candidates", function()
  it("is called like one of them, each call counts once", function()
    local x = rg.array(rg.i32, 64)
    local set = rg.tune { key = "spec: once", candidates = adders(rg, { 1, 50 }), budget = 1 }
    for _ = 1, 100 do set(x) end
    assert.equal(100, x[0])
    assert.equal(100, x[63])
    local c = rg.client():stream(2)
    c:execute_autotune(set, { x })
    c:sync()
    assert.equal(101, x[5])
  end)

  -- A candidate thirty times as fast, in most trials: the machine may take the time of some. What
  -- is chosen among closer ones, from given times, is a matter of tuner_test.c.
  it("keeps the fastest by far in most of 9 trials #compiled", function()
    local other = rg.new { tune = "online", cache = false, threads = 1 }
    local x, right = other.array(other.i32, 64), 0
    local list = adders(other, { 3000, 4000, 100, 5000 })
    for trial = 1, 9 do
      local set = other.tune { key = "spec: planted " .. trial, candidates = list, budget = 1,
        names = { "a", "b", "c", "d" } }
      local calls = 0
      repeat
        set(x)
        calls = calls + 1
      until set:tuned()[1].kept or calls == 200
      right = right + (set:tuned()[1].kept == "c" and 1 or 0)
    end
    other.reset()
    assert.is_true(right >= 5, right)
  end)

  it("returns what the candidate returns, and takes functions", function()
    local seen = {}
    local function one(a, b) seen[1] = true return a + b, a - b end
    local function two(a, b) seen[2] = true return a + b, a - b end
    local set = rg.tune { key = "spec: functions", candidates = { one, two }, budget = 1 }
    for _ = 1, 12 do
      assert.same({ 7, 3 }, { set(5, 2) })
      assert.same({ 1, nil, n = 2 }, { n = 2, rg.tune { key = "spec: nil",
        candidates = { function(...) return ... end } }(1, nil) })
    end
    assert.is_true(seen[1])
  end)

  it("skips a candidate that cannot run; if none can, raises the default's error", function()
    local x = rg.array(rg.i32, 8)
    local bad = rg.kernel [=[function(x) for i in rg.range(8) do x[i] = x[i] + nothing end end]=]
    local good = rg.kernel [=[function(x) for i in rg.range(8) do x[i] = x[i] + 1 end end]=]
    local set = rg.tune { key = "spec: failing", candidates = { bad, good }, budget = 1 }
    for _ = 1, 10 do set(x) end
    assert.equal(10, x[3])
    assert.equal("failed", set:tuned()[1][1].state)
    assert.equal("candidate 2", set:tuned()[1].kept)
    local worse = rg.tune { key = "spec: all fail", candidates = { bad, bad },
      names = { "p", "q" } }
    local e = failure(worse, x)
    assert.matches("nothing", e.message)
    assert.matches("nothing", failure(worse, x).message)
  end)

  it("raises what fails while it runs, and runs nothing else for it", function()
    local x = rg.array(rg.i32, 8)
    local list = {}
    for k = 1, 2 do
      list[k] = rg.kernel [=[function(x, most)
        for i in rg.range(8) do
          x[i] = x[i] + 1
          assert(x[i] <= most, "too much")
        end
      end]=]
    end
    local set = rg.tune { key = "spec: asserts", candidates = list, budget = 1 }
    for _ = 1, 5 do set(x, 100) end
    assert.matches("too much", failure(set, x, 5).message)
    assert.is_true(x[0] <= 6)
    for _ = 1, 5 do set(x, 100) end
    assert.is_true(x[0] >= 10 and x[0] <= 11)
  end)

  it("may be called recursively", function()
    local set
    local function f(n) return n == 0 and 0 or n + set(n - 1) end
    set = rg.tune { key = "spec: within", candidates = { f, f }, names = { "a", "b" } }
    for _ = 1, 10 do assert.equal(55, set(10)) end
  end)

  it("has a choice for each size and type", function()
    local set = rg.tune { key = "spec: sizes", budget = 1,
      candidates = { function(x) return x end, function(x) return x end } }
    set(rg.array(rg.i32, 100))
    set(rg.array(rg.i32, 120))
    set(rg.array(rg.i32, 130))
    set(rg.array(rg.f32, 120))
    set(rg.field(rg.f32, 7))
    set(0.5)
    local words = {}
    for _, choice in ipairs(set:tuned()) do words[choice.about] = true end
    assert.same({ ["array i32 128"] = true, ["array i32 256"] = true, ["array f32 128"] = true,
      ["field f32 8"] = true, ["number"] = true }, words)
  end)

  -- Which candidate is kept, and whether its times were even enough to be kept on disk, depends on
  -- the machine: one that waits makes that likely, and another key is tried where it was not so.
  it("is kept on disk: what one session kept another recalls without trials #compiled", function()
    local folder = new_folder()
    local function settle_set(key)
      local other = keeping(folder, { threads = 1, tune = "online" })
      local x, list = other.array(other.i32, 64), adders(other, { 1 })
      table.insert(list, 1, function(...)
        local begin = rg.time()
        while rg.time() - begin < 0.01 do end
        list[2](...)
      end)
      local set = other.tune { key = key, candidates = list, budget = 1 }
      repeat set(x) until set:tuned()[1].kept
      local choice = set:tuned()[1]
      other.reset()
      return choice
    end
    local first, second
    for attempt = 1, 50 do
      local key = "spec: kept " .. attempt
      first, second = settle_set(key), settle_set(key)
      if second.recalled then break end
    end
    assert.is_false(first.recalled)
    assert.is_true(first[1].samples >= 3 and first[2].samples >= 3)
    assert.is_true(second.recalled)
    assert.equal(first.kept, second.kept)
    assert.same({ 0, 0 }, { second[1].samples, second[2].samples })
  end)

  it("goes on while other threads' work is queued #compiled", function()
    local other = rg.new { async = true, threads = 2 }
    local c, x = other.client():stream(1), other.array(other.i32, 64)
    local y = other.array(other.i32, 64)
    local list = adders(other, { 50, 100 })
    local set = other.tune { key = "spec: queued", candidates = list, budget = 1 }
    for step = 1, 60 do
      c:execute(list[1], { y })
      set(x)
      c:execute_autotune(set, { y })
      if step % 20 == 0 then c:read_async(y):wait() end
      if step % 30 == 0 then other.gc() end
    end
    other.sync()
    local counts = { x[0], y[63] }
    other.reset()
    assert.same({ 60, 120 }, counts)
  end)

  it("refuses values that are not candidates", function()
    local function f() end
    local wrong = {
      { { candidates = { f } }, "the key of rg.tune" },
      { { key = "", candidates = { f } }, "the key of rg.tune" },
      { { key = "a" }, "takes a list of candidates, not nil" },
      { { key = "a", candidates = {} }, "needs at least one candidate" },
      { { key = "a", candidates = { plain = f } }, "which cannot have a key 'plain'" },
      { { key = "a", candidates = { f, nil, f } },
        "candidate 2 of rg.tune must be a kernel or a function, got nil" },
      { { key = "a", candidates = { f, 3 } },
        "candidate 2 of rg.tune must be a kernel or a function, got 3" },
      { { key = "a", candidates = { f, f }, names = { "x" } }, "a name for each of its 2" },
      { { key = "a", candidates = { f, f }, names = { "x", "x" } }, "two .* are called 'x'" },
      { { key = "a", candidates = { f }, budget = 2 }, "share of the time" },
      { { key = "a", candidate = { f } }, "has no option 'candidate'" },
      { "a", "options of rg.tune must be a table" },
    }
    for _, row in ipairs(wrong) do assert.matches(row[2], failure(rg.tune, row[1]).message) end
    local many = {}
    for k = 1, 17 do many[k] = f end
    assert.matches("1 to 16 candidates, not 17",
      failure(rg.tune, { key = "a", candidates = many }).message)
    local set = rg.tune { key = "spec: wrong", candidates = { f } }
    assert.matches("a set of candidates has no 'tune'",
      failure(function() return set.tune end).message)
    assert.matches("takes a set of candidates, not a function",
      failure(function() rg.client():execute_autotune(f) end).message)
  end)

  it("ends with its runtime", function()
    local other = rg.new {}
    local set = other.tune { key = "spec: ended", candidates = { function() end } }
    other.reset()
    assert.equal("handle.destroyed", failure(set).code)
  end)
end)

describe("kernel:tune #compiled", function()
  it("tries everything at once, and leaves no trace", function()
    local is_gpu = rg.info().device == "cuda"
    local n = is_gpu and 300 or 20000
    local x, y, a = rg.field(rg.f32, n), rg.field(rg.i32, n), rg.array(rg.i64, 8)
    local own = ffi.new("int32_t[?]", n)
    local b, w = rg.array(rg.i32, n), rg.wrap(own, rg.i32, { n }, { owner = own })
    local k = rg.kernel(function(given, m)
      local sum = 0
      for i in rg.range(m) do
        x[i] = rg.random(rg.f32)
        y[i] = y[i] + 1
        a[i % 8] = a[i % 8] + i
        given[i] = given[i] + 1
        w[i] = w[i] + given[i]
        sum = sum + i
      end
      return sum
    end)
    y:fill(7)
    local launches = rg.stats().launches
    local report = k:tune(b, n)
    assert.equal(launches, rg.stats().launches)
    assert.equal(0, x[3])
    assert.equal(7, y[n - 1])
    assert.equal(0LL, a[1])
    assert.same({ 0, 0, 0 }, { b[0], b[n - 1], own[5] })
    if rg.info().threads > 1 or is_gpu then
      assert.is_string(report[1].kept)
      for _, row in ipairs(report[1]) do assert.is_true(row.samples >= 3) end
    end
    rg.seed(5)
    k(b, n)
    local first = x[100]
    rg.seed(5)
    k:tune(b, n)
    k(b, n)
    assert.equal(first, x[100])
    assert.same({ 9, 2, 3 }, { y[0], b[0], w[5] })
  end)

  it("tries narrower vectors, too, which give the same to the last bit #cpu", function()
    for _, threads in ipairs { 1, 3 } do
      local other = rg.new { threads = threads }
      local x, y = other.field(other.f32, 20000), other.field(other.f32, 20000)
      local k = other.kernel([=[function(a)
        for i in rg.range(20000) do
          local z, n = x[i], 0
          while z < 4 and n < 50 do
            z = z * z + a
            n = n + 1
          end
          y[i] = z + n
        end
      end]=], { x = x, y = y })
      for i = 0, 19999, 7 do x[i] = i * 1e-5 end
      k(0.25)
      local before, states = y[49], {}
      for _, choice in ipairs(k:tune(0.25)) do
        for _, row in ipairs(choice) do states[row.candidate] = row.state end
      end
      k(0.25)
      local after = y[49]
      other.reset()
      assert.equal(before, after)
      assert.is_truthy(states["vectors=none"])
      for _, state in pairs(states) do assert.is_true(state == "tried" or state == "slow") end
    end
  end)

  it("tries code for branches that are seldom taken, with the same result #cpu", function()
    local other = rg.new { threads = 1 }
    local x, votes = other.field(other.i32, 20000), other.field(other.i32, 64, 256)
    local k = other.kernel([=[function()
      for i in rg.range(20000) do
        if x[i] > 0 then
          for a = 0, 63 do
            local d = math.floor((math.sin(a * 0.05) + 1) * 0.5 * x[i])
            votes[a][d] = votes[a][d] + 1
          end
        end
      end
    end]=], { x = x, votes = votes })
    for i = 0, 19999, 20 do x[i] = i % 251 end
    k()
    local before, states = votes:to_table(), {}
    for _, choice in ipairs(k:tune()) do
      for _, row in ipairs(choice) do states[row.candidate] = row.state end
    end
    votes:fill(0)
    k()
    local after = votes:to_table()
    other.reset()
    assert.same(before, after)
    assert.is_truthy(states["branches=rare"])
    for _, state in pairs(states) do assert.is_true(state == "tried" or state == "slow") end
  end)

  it("tries vectors next to a loop whose order is visible, which keeps its order #cpu", function()
    local other = rg.new { threads = 1 }
    local x, y = other.field(other.f32, 20000), other.field(other.f32, 20000)
    local held, slot = other.field(other.i32, 64), other.field(other.i32, 20000)
    local k = other.kernel([=[function(a)
      for i in rg.range(64) do held[i] = 0 end
      for i in rg.range(20000) do slot[i] = held:add((i * 7919) % 64, 1) end
      for i in rg.range(20000) do
        local z, n = x[i], 0
        while z < 4 and n < 50 do
          z = z * z + a
          n = n + 1
        end
        y[i] = z + n
      end
    end]=], { x = x, y = y, held = held, slot = slot })
    for i = 0, 19999, 7 do x[i] = i * 1e-5 end
    k(0.25)
    local before, states = { y:to_table(), slot:to_table() }, {}
    for _, choice in ipairs(k:tune(0.25)) do
      for _, row in ipairs(choice) do states[row.candidate] = row.state end
    end
    k(0.25)
    local after = { y:to_table(), slot:to_table() }
    other.reset()
    assert.same(before, after)
    assert.is_truthy(states["vectors=none"])
    for _, state in pairs(states) do assert.is_true(state == "tried" or state == "slow") end
  end)

  it("shows its choice in explain() #cpu", function()
    local other = rg.new { threads = 1 }
    local x, y = other.field(other.f64, 4096), other.field(other.f64, 4096)
    for i = 0, 4095 do x[i] = i * 1e-3 end
    local text = [=[function()
      for i in rg.range(4096) do
        local s, n = x[i], 0
        if i % 16 == 3 then n = 100 end -- lanes wait for one of them
        while n > 0 do
          s = math.sin(s) + x[(n * 37) % 4096]
          n = n - 1
        end
        y[i] = s
      end
    end]=]
    support.with_option("RG_STRESS", "force_lanes", function()
      local k = other.kernel(text, { x = x, y = y })
      k()
      assert.is_nil(k:explain():find("the tuner found", 1, true))
      local kept
      for _, choice in ipairs(k:tune()) do kept = choice.kept end
      k()
      local told = k:explain():match "the tuner found this to be the fastest code: ([%w=]+)"
      if kept and kept:find "^vectors=" then
        assert.equal(kept, told)
        assert.equal(kept ~= "vectors=none", k:explain():find "in vector lanes" ~= nil)
      else
        assert.is_nil(told)
      end
    end)
    other.reset()
  end)

  it("tries one worker without atomics if several share elements, with the same result #cpu",
    function()
      local other, n = rg.new { threads = 4 }, 50000
      local at, count, last = other.field(other.i32, n), other.field(other.i32, 64),
        other.field(other.i32, 64)
      for i = 0, n - 1 do at[i] = i * i % 61 end
      local add = other.kernel([=[function()
        for i in rg.range(n) do
          local k = at[i]
          if last:max(k, i) < i then count[k] += 1 else count[k] += 1 end
        end
      end]=], { rg = other, n = n, at = at, count = count, last = last })
      local alone = other.kernel([=[function()
        for i in rg.range(n) do at[i] = at[i] end
      end]=], { rg = other, n = n, at = at })
      local found = {}
      for name, k in pairs { add = add, alone = alone } do
        for _, choice in ipairs(k:tune()) do
          for _, row in ipairs(choice) do
            if row.candidate == "updates=plain" then found[name] = row.state end
          end
        end
      end
      assert.is_nil(found.alone)
      assert.is_truthy(found.add)
      assert.not_equal("differs", found.add)
      local runs = 0
      for k = 0, 63 do runs = runs + count[k] end
      assert.equal(0, runs % n)
      for _ = 1, 20 do add() end
      local more = 0
      for k = 0, 63 do more = more + count[k] end
      assert.equal(runs + 20 * n, more)
      other.reset()
    end)

  it("tries tiles of a grid instead of rows for strided elements, with the same result #cpu",
    function()
    local other = rg.new { threads = 2 }
    local n, m = 130, 20
    local x, y = other.field(other.f32, n, n), other.field(other.f32, n, n)
    local a, b = other.field(other.i32, m, m, m), other.field(other.i32, m, m, m)
    for i = 0, n - 1, 3 do for j = 0, n - 1, 7 do x[i][j] = i * 1000 + j end end
    for i = 0, m - 1 do for j = 0, m - 1, 3 do b[i][j][3] = i * 50 + j end end
    local turn = other.kernel([=[function(from, to)
      for i, j in rg.range({ from, to }, { 1, to - 5 }) do
        if i ~= j then y[i][j] = x[j][i] * 2 + i end
      end
      for i, j, k in rg.range({ 1, 20 }, 20, { from - 3, 19 }) do a[i][j][k] = b[k][j][i] + k end
    end]=], { x = x, y = y, a = a, b = b })
    turn(3, n)
    turn(9, 2) -- nothing
    local before_y, before_a, states = y:to_table(), a:to_table(), {}
    for _, range in ipairs { { 3, n }, { 9, 2 }, { 17, 19 } } do
      for _, choice in ipairs(turn:tune(range[1], range[2])) do
        for _, row in ipairs(choice) do
          states[row.candidate] = states[row.candidate] or row.state
          assert.is_not.equal("differs", row.state)
        end
      end
    end
    assert.same({ before_y, before_a }, { y:to_table(), a:to_table() })
    other.reset()
    assert.is_truthy(states["tile=16"])
  end)

  it("compares results also if iterations race, and ends #cpu", function()
    local other = rg.new { threads = 4 }
    local x = other.field(other.i32, 100000)
    local k = other.kernel([=[function()
      for i in rg.range({ 1000, 100000 }) do x[i] = x[i - 999] + 1 end
    end]=], { x = x })
    local report = k:tune()
    other.reset()
    for _, row in ipairs(report[1] or {}) do
      assert.is_true(row.state == "differs" or row.samples > 0)
    end
  end)

  it("runs on the cells of a sparse tree, and not if cells may come or go", function()
    local x = rg.field(rg.i32)
    rg.root:pointer("i", 64):dense("i", 64):place(x)
    for i = 0, 4095, 3 do x[i] = i end
    local add = rg.kernel(function() for i in x:active() do x[i] = x[i] + 1 end end)
    add:tune()
    assert.equal(3, x[3])
    add()
    assert.equal(4, x[3])
    local grow = rg.kernel(function() for i in rg.range(4096) do x[i] = x[i] + 1 end end)
    local e = failure(grow.tune, grow)
    assert.matches("may activate or deactivate cells", e.message)
    grow()
    assert.equal(5, x[3])
  end)

  it("refuses calls with effects outside the launch, also within functions", function()
    local sample = rg.extension(os.getenv "RG_LIBRARY":match "^(.*/)" .. "extension/sample.so")
    local x = rg.array(rg.f64, 1000)
    local extended = rg.kernel(function()
      for i in rg.range(1000) do x[i] = sample.hypotenuse(i, 1) end
    end)
    assert.matches("calls functions of an extension, which kernel:tune%(%) cannot undo",
      failure(extended.tune, extended).message)
    local made = rg.kernel(function()
      local a = rg.zeros(rg.f32, 8)
      for i in rg.range(8) do a[i] = i end
      return a
    end)
    assert.matches("uses arrays that kernels make", failure(made.tune, made).message)
    local within = rg.kernel([=[
      local function deep(n: i32): f64
        if n <= 0 then return sample.hypotenuse(3, 4) end
        return deep(n - 1)
      end
      function() for i in rg.range(1000) do x[i] = deep(i % 4) end end]=],
      { x = x, sample = sample })
    assert.matches("calls functions of an extension", failure(within.tune, within).message)
    assert.equal(0, x[3])
  end)

  it("prints nothing, and leaves random streams where they are", function()
    local x = rg.array(rg.i32, 8)
    local said = rg.kernel(function()
      for i in rg.range(8) do x[i] = x[i] + rg.random(rg.i32) end
      print("said once")
    end)
    rg.seed(3)
    local print_before, lines = print, 0
    rawset(_G, "print", function() lines = lines + 1 end)
    local ok, why = pcall(said.tune, said)
    rawset(_G, "print", print_before)
    assert(ok, why)
    assert.equal(0, lines)
    said()
    local first = x[0]
    x:fill(0)
    rg.seed(3)
    said()
    assert.equal(first, x[0])
  end)

  it("raises errors, with everything as it was", function()
    local x = rg.field(rg.i32, 1000)
    local k = rg.kernel(function(bad)
      for i in rg.range(1000) do
        x[i] = 5
        assert(i ~= bad, "this one")
      end
    end)
    assert.matches("this one", failure(k.tune, k, 700).message)
    assert.equal(0, x[3])
    k:tune(-1)
    assert.equal(0, x[3])
  end)
end)
