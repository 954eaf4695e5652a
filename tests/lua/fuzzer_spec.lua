-- Random kernels: compiled, run as Lua text, and evaluated by the fuzzer itself. RG_SEED chooses
-- them, RG_FUZZ_KERNELS how many; a failure shows the seed and the smallest kernel that still
-- fails.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local rg = support.rg
local fuzzer = require "fuzzer"
local sweep = require "fuzzer_sweep"
local bits = require "fuzzer_bits"

local oracle = rg.new { arch = "lua" }
local first_seed = tonumber(os.getenv "RG_SEED") or 1
local count = tonumber(os.getenv "RG_FUZZ_KERNELS") or 12

-- Failures are written next to the library, into the build's folder.
local folder = os.getenv "RG_BUILD" or (os.getenv "RG_LIBRARY" or ""):match "^(.*)/" or "/tmp"

local kept_paths = {} -- files with the smallest kernels of earlier failures
for path in io.popen("ls tests/lua/fuzzed/*.lua 2>/dev/null"):lines() do
  kept_paths[#kept_paths + 1] = path
end

-- Makes a case from each of the seeds, from `first` or RG_SEED on. If a runtime disagrees with the
-- fuzzer, the error shows the smallest such case.
local function hold(seeds, make_case, first)
  first = first or first_seed
  for seed = first, first + seeds - 1 do
    math.randomseed(seed)
    local inputs = fuzzer.inputs()
    local case = make_case()
    local runtimes = { { name = "cpu", rg = rg, fields = fuzzer.fields(rg, inputs) },
      { name = "lua", rg = oracle, fields = fuzzer.fields(oracle, inputs) } }
    local function try(c) return fuzzer.try(c, inputs, runtimes) end
    local difference = try(case)
    if difference then
      local smallest, still = fuzzer.shrink(case, try)
      local path = ("%s/fuzzed-%d.lua"):format(folder, seed)
      local is_kept, why = pcall(fuzzer.keep, smallest, inputs, path, runtimes)
      error(("%s\n%s"):format(fuzzer.report(smallest, still or difference, inputs, seed),
        is_kept and "kept as " .. path .. ", for tests/lua/fuzzed" or tostring(why)), 0)
    end
  end
end

describe("the fuzzer #compiled", function()
  it(("agrees with %d kernels of 20 expressions over 16 rows, from seed %d"):format(
    count, first_seed), function()
    hold(count, function() return fuzzer.expressions(20, 3) end)
  end)

  it(("agrees with %d kernels of loops, functions, updates and reductions, from seed %d"):format(
    count, first_seed), function()
    hold(count, function() return fuzzer.program(4, 2) end)
  end)

  it(("agrees with %d kernels over sparse trees, from seed %d"):format(count, first_seed),
    function()
    hold(count, function() return fuzzer.program(4, 2, math.random(2)) end)
  end)

  it(("agrees with %d kernels over lists that iterations share, from seed %d"):format(count,
    first_seed), function()
    hold(count, function() return fuzzer.program(4, 1, 1, true) end)
  end)

  it("agrees with plain Lua about random sweeps", function()
    for seed = first_seed, first_seed + count - 1 do
      math.randomseed(seed)
      local made = sweep.make()
      local u, w = sweep.numbers(made), sweep.numbers(made)
      for _, runtime in ipairs { rg, oracle } do
        local difference = sweep.difference(runtime, made, u, w)
        assert(not difference, difference and ("seed %d: %s"):format(seed, difference))
      end
    end
  end)

  it("agrees about random rules over packed arrays", function()
    for seed = first_seed, first_seed + count - 1 do
      math.randomseed(seed)
      local text, width = bits.text(), seed % 3 > 0 and 1 or seed % 2 == 0 and 4 or 3
      for _, runtime in ipairs { rg, oracle } do
        local difference = bits.difference(runtime, text, width, seed % 2 == 0)
        assert(not difference, difference and ("seed %d: %s"):format(seed, difference))
      end
    end
  end)

  -- Options of the environment that change how a kernel is compiled, not what it does: each with
  -- the values that it is tested with.
  for option, values in pairs {
    RG_WITHOUT = { "early_exits", "atomics", "bounds",
      "node_cursors", "privatise", "unroll", "constant_tables", "hoist_checks", "leaf", "rows",
      "independent", "redundant_slots", "aggregate_atomics", "lanes", "bit_slices",
      "packed_strips", "fold" },
    RG_STRESS = { "force_lanes" },
  } do
    it("agrees with kernels under each value of " .. option, function()
      local function make_case() return fuzzer.program(4, 2, math.random(0, 2)) end
      for k, value in ipairs(values) do
        support.with_option(option, value, function()
          hold(math.ceil(count / 20), make_case, first_seed + k - 1)
        end)
      end
    end)
  end

  it("writes a failing kernel to a file that can be run again", function()
    for _, make_case in ipairs { function() return fuzzer.expressions(8, 2) end,
      function() return fuzzer.program(3, 2, 2) end } do
      math.randomseed(5)
      local inputs, path = fuzzer.inputs(), os.tmpname()
      fuzzer.keep(make_case(), inputs, path,
        { { name = "lua", rg = oracle, fields = fuzzer.fields(oracle, inputs) } })
      local kept = dofile(path)
      os.remove(path)
      assert.is_nil(fuzzer.replay(rg, kept))
      assert.is_nil(fuzzer.replay(oracle, kept))
      for _, field in pairs(kept.fields) do
        if type((field.last or {})[3]) == "number" then
          field.last[3] = field.last[3] == 77 and 78 or 77
        end
      end
      for _, declared in ipairs(kept.trees) do declared.fields[1].cells[1] = "nothing" end
      assert.is_string(fuzzer.replay(rg, kept))
    end
  end)

  for _, path in ipairs(kept_paths) do
    it("still agrees with " .. path:match "[^/]+$", function()
      local kept = dofile(path)
      assert.is_nil(fuzzer.replay(rg, kept))
      assert.is_nil(fuzzer.replay(oracle, kept))
    end)
  end

  it("reduces a failing kernel to the statement that fails", function()
    math.randomseed(7)
    local inputs = fuzzer.inputs()
    local case = fuzzer.expressions(8, 3)
    local body = case.statements[1].body
    local wrong = body[#body].name
    local function has_output(c) -- as if every kernel with this output were wrong
      for _, s in ipairs(c.statements[1] and c.statements[1].body or {}) do
        if s.name == wrong then return { output = { name = wrong, type = s.type }, row = 0 } end
      end
    end
    local smallest = fuzzer.shrink(case, has_output)
    assert.equal(1, #smallest.statements[1].body)
    assert.equal(wrong, smallest.statements[1].body[1].name)
    assert.equal(0, #smallest.statements[1].body[1].value.kids)
    assert.is_truthy(fuzzer.report(smallest, has_output(smallest), inputs, 7):find("seed 7", 1,
      true))
  end)
end)
