-- Random kernels: compiled, run as Lua text, and evaluated by the judge itself. RG_SEED chooses
-- them, RG_JUDGE how many; a failure shows the seed and the smallest kernel that still fails.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local rg = support.rg
local judge = require "judge"
local sweep = require "judge_sweep"

local oracle = rg.new { arch = "lua" }
local first_seed = tonumber(os.getenv "RG_SEED") or 1
local count = tonumber(os.getenv "RG_JUDGE") or 12

-- Where failures are kept: beside the library, which is the build's folder.
local folder = os.getenv "RG_BUILD" or (os.getenv "RG_LIBRARY" or ""):match "^(.*)/" or "/tmp"

local judged = {} -- files that it kept, each its smallest failure
for path in io.popen("ls tests/lua/judged/*.lua 2>/dev/null"):lines() do
  judged[#judged + 1] = path
end

-- Each of the seeds makes a case, from `first` or RG_SEED on; whoever disagrees with the judge is
-- shown by the smallest one.
local function hold(seeds, make_case, first)
  first = first or first_seed
  for seed = first, first + seeds - 1 do
    math.randomseed(seed)
    local inputs = judge.inputs()
    local case = make_case()
    local runtimes = { { name = "cpu", rg = rg, fields = judge.fields(rg, inputs) },
      { name = "lua", rg = oracle, fields = judge.fields(oracle, inputs) } }
    local function try(c) return judge.try(c, inputs, runtimes) end
    local difference = try(case)
    if difference then
      local smallest, still = judge.shrink(case, try)
      local path = ("%s/judged-%d.lua"):format(folder, seed)
      local is_kept, why = pcall(judge.keep, smallest, inputs, path, runtimes)
      error(("%s\n%s"):format(judge.report(smallest, still or difference, inputs, seed),
        is_kept and "kept as " .. path .. ", for tests/lua/judged" or tostring(why)), 0)
    end
  end
end

describe("the judge #compiled", function()
  it(("agrees with %d kernels of 20 expressions over 16 rows, from seed %d"):format(
    count, first_seed), function()
    hold(count, function() return judge.expressions(20, 3) end)
  end)

  it(("agrees with %d kernels of loops, functions, updates and reductions, from seed %d"):format(
    count, first_seed), function()
    hold(count, function() return judge.program(4, 2) end)
  end)

  it(("agrees with %d kernels over sparse trees, from seed %d"):format(count, first_seed),
    function()
    hold(count, function() return judge.program(4, 2, math.random(2)) end)
  end)

  it(("agrees with %d kernels over lists that iterations share, from seed %d"):format(count,
    first_seed), function()
    hold(count, function() return judge.program(4, 1, 1, true) end)
  end)

  it("agrees with plain Lua about random sweeps", function()
    for seed = first_seed, first_seed + count - 1 do
      math.randomseed(seed)
      local text, u, w = sweep.text(), sweep.numbers(), sweep.numbers()
      for _, runtime in ipairs { rg, oracle } do
        local difference = sweep.difference(runtime, text, u, w)
        assert(not difference, difference and ("seed %d: %s"):format(seed, difference))
      end
    end
  end)

  -- Options of the environment that change how a kernel is compiled, not what it does: each with
  -- the values that it is judged with.
  for option, values in pairs {
    RG_WITHOUT = { "early_exits", "atomics", "bounds",
      "node_cursors", "privatise", "unroll", "constant_tables", "hoist_checks", "leaf", "rows",
      "independent", "redundant_slots", "aggregate_atomics", "lanes", "fold" },
    RG_STRESS = { "force_lanes" },
  } do
    it("agrees with kernels under each value of " .. option, function()
      local function make_case() return judge.program(4, 2, math.random(0, 2)) end
      for k, value in ipairs(values) do
        support.with_option(option, value, function()
          hold(math.ceil(count / 20), make_case, first_seed + k - 1)
        end)
      end
    end)
  end

  it("keeps what it found as a file that runs again", function()
    for _, make_case in ipairs { function() return judge.expressions(8, 2) end,
      function() return judge.program(3, 2, 2) end } do
      math.randomseed(5)
      local inputs, path = judge.inputs(), os.tmpname()
      judge.keep(make_case(), inputs, path,
        { { name = "lua", rg = oracle, fields = judge.fields(oracle, inputs) } })
      local kept = dofile(path)
      os.remove(path)
      assert.is_nil(judge.replay(rg, kept))
      assert.is_nil(judge.replay(oracle, kept))
      for _, field in pairs(kept.fields) do
        if type((field.last or {})[3]) == "number" then
          field.last[3] = field.last[3] == 77 and 78 or 77
        end
      end
      for _, declared in ipairs(kept.trees) do declared.fields[1].cells[1] = "nothing" end
      assert.is_string(judge.replay(rg, kept))
    end
  end)

  for _, path in ipairs(judged) do
    it("still agrees with " .. path:match "[^/]+$", function()
      local kept = dofile(path)
      assert.is_nil(judge.replay(rg, kept))
      assert.is_nil(judge.replay(oracle, kept))
    end)
  end

  it("cuts a failing kernel down to the statement that fails", function()
    math.randomseed(7)
    local inputs = judge.inputs()
    local case = judge.expressions(8, 3)
    local body = case.statements[1].body
    local wrong = body[#body].name
    local function has_output(c) -- as if every kernel with this output were wrong
      for _, s in ipairs(c.statements[1] and c.statements[1].body or {}) do
        if s.name == wrong then return { output = { name = wrong, type = s.type }, row = 0 } end
      end
    end
    local smallest = judge.shrink(case, has_output)
    assert.equal(1, #smallest.statements[1].body)
    assert.equal(wrong, smallest.statements[1].body[1].name)
    assert.equal(0, #smallest.statements[1].body[1].value.kids)
    assert.is_truthy(judge.report(smallest, has_output(smallest), inputs, 7):find("seed 7", 1,
      true))
  end)
end)
