-- rg.reload: runs a module's file again in a running program; its fields keep their contents.
local support = require "support"
local rg = support.rg

local folder = os.tmpname()
os.remove(folder)
os.execute(("mkdir '%s'"):format(folder))

local text = [[
local rg = require "support".rg
local M = { rate = 2 }
local h = rg.field(rg.f32, 8)
local s = rg.field(rg.f32)
local block = rg.root:pointer("i", 4)
block:dense("i", 2):place(s)
M.h, M.state = h, { s = s }
M.step = rg.kernel(function(n)
  for i in rg.range(8) do h[i] = h[i] + n * M.rate; s[i] = h[i] end
end)
M.look = rg.kernel("function() return x[3] end", { x = h })
function M.count() return block:count() end
return M
]]

local number = 0
local function make() -- a module of this text, loaded; and what changes its file
  number = number + 1
  local name, now = "reloaded" .. number, text
  local path = ("%s/%s.lua"):format(folder, name)
  support.write_file(path, now)
  local function change(from, to)
    local first, last = now:find(from, 1, true)
    now = now:sub(1, first - 1) .. to .. now:sub(last + 1)
    support.write_file(path, now)
  end
  return require(name), change, name
end

describe("rg.reload", function()
  local before = package.path
  setup(function() package.path = folder .. "/?.lua;" .. package.path end)
  teardown(function()
    package.path = before
    os.execute(("rm -r '%s'"):format(folder))
  end)

  after_each(function()
    for k = 1, number do package.loaded["reloaded" .. k] = nil end
  end)

  it("keeps fields and trees by their names, and takes new functions and kernels", function()
    local waves, change, name = make()
    local h = waves.h
    waves.step(1)
    change("n * M.rate", "10 * n")
    local report = rg.reload(name)
    assert.same({ module = name, kept = { "block", "h", "s", "state.s", "x" }, renewed = {} },
      { module = report.module, kept = { unpack(report.kept) }, renewed = report.renewed })
    assert.is_true(waves.h == h)
    waves.step(1)
    assert.same({ 12, 12, 12, 4 }, { h[3], waves.state.s[3], waves.look(), waves.count() })
  end)

  it("leaves everything as it was if the new text does not compile", function()
    local waves, change, name = make()
    waves.step(1)
    local step = waves.step
    change("n * M.rate", "n * M.rate +")
    assert.matches("stays as it was: .*reloaded%d.lua:9:", support.failure(rg.reload, name).message)
    change("n * M.rate +", "nn * M.rate")
    local failure = support.failure(rg.reload, name)
    assert.same({ "name.unknown", 9 }, { failure.code, failure.line })
    waves.step(1)
    assert.same({ step, 4, 4 }, { waves.step, waves.h[3], waves.look() })
  end)

  it("makes a field again if its declaration has changed", function()
    local waves, change, name = make()
    waves.step(1)
    change("rg.field(rg.f32, 8)", "rg.field(rg.i32, 8)")
    local report = rg.reload(name)
    assert.same({ "h", "x" }, { unpack(report.renewed) })
    waves.step(1)
    assert.same({ 2, 2, 2 }, { waves.h[3], waves.look(), waves.state.s[3] })
  end)

  it("without a name reloads those whose files have changed", function()
    local _, change, name = make()
    local _, _, other = make()
    rg.reload(name)
    rg.reload(other)
    assert.is_nil(rg.reload())
    change("n * M.rate", "n")
    assert.equal(name, rg.reload().module)
  end)

  it("reports what is not a module", function()
    assert.matches("has not been loaded", support.failure(rg.reload, "nowhere").message)
    assert.matches("takes a module's name, not 3", support.failure(rg.reload, 3).message)
    assert.matches("finds no file of module 'string'", support.failure(rg.reload, "string").message)
  end)
end)
