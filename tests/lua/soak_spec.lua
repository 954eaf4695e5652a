-- soak_spec.lua - memory does not grow: tests/support/soak.lua. RG_SOAK=100000 makes it a long
-- test.
local rg = require "regolith"

describe("a kernel without references", function()
  it("holds neither the fields that it captured nor those that it was launched with", function()
    local alive = setmetatable({}, { __mode = "k" })
    local function once(n)
      local x, y = rg.field(rg.f32, 8), rg.field(rg.vec2, 4)
      local add = rg.kernel(([=[function(y)
        for i in rg.range(4) do x[i] = x[i] + y[i].x + %d end
      end]=]):format(n % 3), { x = x })
      add(y)
      x[1], y[1] = 2, { 1, 2 }
      alive[x], alive[y], alive[add] = true, true, true
    end
    for n = 1, 30 do once(n) end
    for _ = 1, 3 do collectgarbage() end
    -- a compiled trace may hold what it saw last
    local count = 0
    for _ in pairs(alive) do count = count + 1 end
    assert.is_true(count <= 6, count .. " of 90 are still held")
  end)
end)

describe("a process #compiled", function()
  it("does not grow while trees are made and dropped, grown, shrunk and collected",
    function()
    -- whether a kernel is compiled once more, which takes memory, would depend on how long it ran
    local pipe = io.popen(("RG_TUNE=off RG_SPECIALISE=off luajit tests/support/soak.lua %d 2>&1")
      :format(tonumber(os.getenv "RG_SOAK") or 300))
    local said = pipe:read "*a"
    pipe:close()
    assert.equal("flat", said:match "([^\n]*)\n*$")
  end)
end)
