-- Allocations that fail once, at every place where they can.
describe("a failed allocation", function()
  it("is an error wherever it happens, and the same process computes right afterwards", function()
    local whole = 0
    for n = 1, 20000 do
      local command = ("RG_THREADS=2 RG_STRESS=fail_alloc:%d luajit \z
        tests/support/one_failure.lua 2>&1"):format(n)
      local pipe = io.popen(command)
      local first, second = pipe:read "*l", pipe:read "*l"
      pipe:close()
      assert.equal("right", second, command .. " said " .. tostring(first))
      if first == "whole" then
        whole = n
        break
      end
      assert.equal("memory.host", first, command)
    end
    assert.is_true(whole > 20)
  end)
end)

-- RG_STRESS=fail_assert_in_..: one assertion of the core fails once.
describe("an assertion of the core that fails #compiled", function()
  local script = [[
    local rg = require "regolith"
    local x = rg.field(rg.f32, 1000000)
    local k = rg.kernel "function(x) for i in rg.range(1000000) do x[i] = i end return x[7] end"
    local ok, err = pcall(k, x)
    print(ok, err.code, err.message:match "^internal error at [%w./_]+:%d+: assertion failed",
      err.hint:match "please report it", k(x), x[999999])]]
  for _, where in ipairs { "compile", "launch", "task" } do
    it("is an error of its call, and the same process computes right afterwards: in a " .. where,
      function()
      local pipe = io.popen(("RG_CACHE=off RG_STRESS=fail_assert_in_%s luajit -e '%s' 2>&1"):format(
        where, script))
      local said = pipe:read "*a"
      pipe:close()
      local file = where == "compile" and "kernel/compile/compile.c" or where == "launch"
        and "kernel/launch/launch.c" or os.getenv "RG_ARCH" == "cuda" and "device/cuda/launch.c"
        or "device/cpu_launch.c"
      assert.truthy(said:find(file, 1, true), said)
      assert.equal("false internal please report it 7 999999",
        (said:gsub("%s+", " "):gsub("internal error.-assertion failed ", ""):gsub(" $", "")))
    end)
  end
end)
