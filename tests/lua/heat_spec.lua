-- The plain text of a stencil, as in examples/heat.lua, and the code that it must compile to.
local rg = require "regolith"

describe("the step of heat.lua", function()
  local function step_and_fields()
    local t, next_t = rg.field(rg.f32), rg.field(rg.f32)
    local block = rg.tree():pointer("ijk", 8)
    block:dense("ijk", 8):place(t, next_t)
    local step = rg.kernel(function(rate, keep)
      for i, j, k in t:active() do
        local c = t[i][j][k]
        next_t[i][j][k] = keep * (c + rate * (t[i - 1][j][k] + t[i + 1][j][k] + t[i][j - 1][k]
          + t[i][j + 1][k] + t[i][j][k - 1] + t[i][j][k + 1] - 6.0 * c))
      end
    end)
    return step, t, next_t, block
  end

  it("becomes vector rows without a call inside the loop over blocks #compiled #cpu", function()
    local step, t = step_and_fields()
    t[9][9][9] = 1
    step(0.1, 1.0)
    assert.matches("\n +8 cells at a time, in vector lanes", step:explain())
    local task = step:asm():match "rg_task_0:(.-)%.Lfunc_end"
    assert.is_nil(task:match "call")
    assert.matches("mulps", task)
  end)

  it("spreads heat into blocks that exist and reads zero where none does", function()
    local step, t, next_t, block = step_and_fields()
    t[7][8][15] = 1
    step(0.125, 1.0)
    assert.equal(1, block:count())
    assert.equal(0.25, next_t[7][8][15])
    assert.equal(0.125, next_t[6][8][15])
    assert.equal(0.125, next_t[7][9][15])
    assert.equal(0, next_t[8][8][15])
    block:activate(1, 1, 1)
    block:activate(0, 1, 2)
    step(0.125, 1.0)
    assert.equal(0.125, next_t[8][8][15])
    assert.equal(0.125, next_t[7][8][16])
    assert.equal(0, next_t[7][7][15])
  end)
end)
