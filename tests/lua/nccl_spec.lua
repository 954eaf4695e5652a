--- Reductions and broadcasts of ranks on GPUs by NCCL: on the test driver that executes PTX, with a
--- stub of NCCL (tests/cuda/nccl) that records its calls.
local support = require "support"

local driver, run = support.cuda_driver, support.run_gpu_ranks

describe("NCCL #compiled #cpu", function()
  local library = driver:gsub("libcuda%.so%.1$", "libnccl.so.2")
  local each = { before = [[
    local ffi = require "ffi"
    ffi.cdef "int setenv(const char *, const char *, int);"
    ffi.C.setenv("PTX_GPU", os.getenv "RG_RANK" or "0", 1)
  ]] }
  local script = [[
    local function filled(t, n, value)
      local a = rg.array(t, n)
      rg.kernel(function(a) for i in a:active() do a[i] = value + i end end)(a)
      return a
    end
    local whole = filled(rg.i32, 300001, comm.rank)
    assert(comm:all_reduce(whole)[300000] == 3 * 300000 + 3)
    assert(comm:all_reduce(filled(rg.i64, 5, comm.rank), "max")[4] == 6)
    local start = ({ [0] = 1, 1e8, -1e8 })[comm.rank]
    local real = filled(rg.f32, 1, start)
    print("sum", comm:all_reduce(real)[0])
    assert(comm:broadcast(filled(rg.f64, 7, comm.rank), 2)[6] == 8)
    assert(comm:all_reduce(comm.rank) == 3) -- a number of Lua's is the host's
    print("by", comm:nccl())
  ]]
  local function runs(environment, options)
    local lines, code = run(3, script, ("RG_NCCL_LIBRARY='%s' NCCL_FAKE_SAY=1 %s")
      :format(library, environment), options)
    assert.are.equal(0, code, table.concat(lines, "\n"))
    local count = {}
    for _, line in ipairs(lines) do count[line] = (count[line] or 0) + 1 end
    return count
  end

  it("combines integers and broadcasts on GPUs, and no sums that depend on their order", function()
    assert.are.same({ ["nccl: all_reduce 300001"] = 3, ["nccl: all_reduce 5"] = 3,
      ["nccl: broadcast 56"] = 3, ["nccl: destroy 0"] = 3, ["sum\t0"] = 3,
      ["by\t2.23.4"] = 3 }, runs("", each))
    assert.are.same({ ["nccl: all_reduce 300001"] = 3, ["nccl: all_reduce 5"] = 3,
      ["nccl: all_reduce 1"] = 3, ["nccl: broadcast 56"] = 3, ["nccl: destroy 0"] = 3,
      ["sum\t1"] = 3, ["by\t2.23.4"] = 3 }, runs("RG_NCCL=all", each))
  end)

  it("accepts ranks of one GPU only if it can and is told to", function()
    local shared = "by\tnil\tranks 0 and 1 share a GPU, which NCCL does not support"
    assert.are.same({ ["sum\t0"] = 3, [shared] = 3 }, runs(""))
    assert.are.same({ ["sum\t0"] = 3, [shared] = 3 }, runs "NCCL_MULTI_RANK_GPU_ENABLE=1")
    assert.are.equal(3, runs "NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_FAKE_VERSION=23007" ["by\t2.30.7"])
  end)

  it("is optional: if it is missing, old or fails, numbers are combined on the host", function()
    local function without(environment, why)
      local count = runs(environment, each)
      assert.are.equal(3, count["sum\t0"])
      for line in pairs(count) do assert.is_nil(line:find "^nccl", line) end
      assert.are.equal(3, count["by\tnil\t" .. why])
    end
    without("RG_NCCL=off", "RG_NCCL is off")
    without("RG_NCCL_LIBRARY=/no/libnccl.so.2", "there is no /no/libnccl.so.2")
    without("NCCL_FAKE_VERSION=21000",
      "NCCL is too old: 2.14 is the first that can be used")
    local count = runs("NCCL_FAKE_FAIL=init", each)
    assert.are.equal(3, count["sum\t0"])
    assert.are.equal(1, count["by\tnil\tNCCL failed (ncclResult_t 2)"])
    assert.are.equal(2, count["by\tnil\tNCCL failed (ncclResult_t 6)"])
  end)

  it("is not used if ranks have different versions, or the first makes no id", function()
    local count = runs("NCCL_FAKE_FAIL=id", each)
    assert.are.same({ 3, 3 },
      { count["sum\t0"], count["by\tnil\trank 0 could not create an NCCL id"] })
    count = runs("", { before = each.before .. [[
      if os.getenv "RG_RANK" == "2" then ffi.C.setenv("NCCL_FAKE_VERSION", "22600", 1) end
    ]] })
    assert.are.equal(3, count["sum\t0"])
    assert.are.equal(3, count["by\tnil\trank 2 has a different NCCL than rank 0"])
  end)

  it("that fails on one rank while it combines is an error on all", function()
    local lines, code = run(3, script, ("RG_NCCL_LIBRARY='%s' NCCL_FAKE_FAIL=reduce")
      :format(library), each)
    assert.are_not.equal(0, code)
    local told = 0
    for _, line in ipairs(lines) do told = told + (line:find "NCCL failed" and 1 or 0) end
    assert.is_true(told >= 3, table.concat(lines, "\n"))
  end)
end)
