-- Memory that fails once, at every place where it can.
describe("an allocation that fails", function()
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
