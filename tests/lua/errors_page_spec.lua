-- lua/errors.md: every code of errors has a row, and shows what its script raises.
describe("the page of errors", function()
  it("shows what its scripts raise, and lists every code #compiled", function()
    local pipe = io.popen "luajit tests/support/errors.lua 2>&1"
    local wrong = pipe:read "*a"
    pipe:close()
    assert.equal("", wrong)
  end)
end)
