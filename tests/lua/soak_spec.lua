-- soak_spec.lua - memory stays flat: tests/support/soak.lua. RG_SOAK=100000 makes it a long look.
describe("a process #compiled", function()
  it("stays as large as it was while trees are made and dropped, grown, shrunk and collected",
    function()
    local pipe = io.popen(("luajit tests/support/soak.lua %d 2>&1"):format(
      tonumber(os.getenv "RG_SOAK") or 300))
    local said = pipe:read "*a"
    pipe:close()
    assert.equal("flat", said:match "([^\n]*)\n*$")
  end)
end)
