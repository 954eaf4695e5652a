-- Random kernels that make arrays, in runtimes that must agree about them: compiled, with checks,
-- without the passes that move arrays to the frame, remove reference counting and turn elements
-- into places, and as Lua text. RG_SEED is the first seed, RG_FUZZ_KERNELS the number of kernels; a
-- failure shows the seed and the smallest kernel that still fails.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local rg = support.rg
local make = require "fuzzer_array"
local fuzzer = require "fuzzer_array_run"

local first_seed = tonumber(os.getenv "RG_SEED")
  or (tonumber(os.getenv "RG_THREADS") or 0) * 100 + 1
local count = tonumber(os.getenv "RG_FUZZ_KERNELS") or 12
local is_cuda = os.getenv "RG_ARCH" == "cuda"
local shared_count = is_cuda and math.min(count, 4) or count -- of three runtimes each, executed

local function hold(case, seed, runtimes)
  local problem = fuzzer.try(case, runtimes)
  if not problem then return end
  problem = fuzzer.shrink(case, runtimes, problem)
  error(("seed %d, %s, %s: %s\n%s"):format(seed, problem.kind, problem.runtime, problem.what,
    make.text(case)), 0)
end

local function each_seed(f, most)
  for seed = first_seed, first_seed + (most or count) - 1 do
    math.randomseed(seed)
    f(seed)
  end
end

describe("the fuzzer of arrays #compiled", function()
  local oracle = { name = "lua", rg = rg.new { arch = "lua", allocations = true } }

  it(("agrees with %d kernels that make, share and forget arrays, from seed %d"):format(
    shared_count, first_seed), function()
    local checked = rg.new { allocations = "check" }
    local compiled = { name = "compiled", rg = rg, has_handles = true }
    local careful = { name = "checked", rg = checked, has_handles = true }
    local naive = { name = "all counted", rg = checked, has_handles = true,
      without = "local_arrays,refcounts,array_descriptors" }
    each_seed(function(seed)
      hold(make.program(), seed, seed % 2 == 0 and { compiled, oracle, careful }
        or { careful, oracle, naive })
    end, shared_count)
    checked.reset()
  end)

  it(("agrees with %d kernels whose iterations make arrays, from seed %d"):format(count,
    first_seed), function()
    each_seed(function(seed)
      hold(make.program(true), seed, { { name = "compiled", rg = rg, is_device = is_cuda },
        oracle })
    end)
  end)

  it("reduces a failing kernel to the statement that fails", function()
    math.randomseed(3)
    local case = make.program()
    table.insert(case.body, #case.body, { head = "error(\"here\")" })
    local lost = { rg = rg, name = "compiled" }
    local try = fuzzer.try
    fuzzer.try = function(c) -- as if this statement were wrong
      return make.text(c):find("here", 1, true) and { kind = "lost", what = "" } or nil
    end
    fuzzer.shrink(case, { lost }, { kind = "lost" })
    fuzzer.try = try
    assert.matches("function%(.*%)\n  error%(\"here\"%)\nend$", make.text(case))
  end)
end)
