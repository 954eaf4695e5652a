-- allocations_spec.lua - counted memory as Lua sees it: rg.allocations, and what it counts.
local ffi = require "ffi"
local support = require "support"
local rg = support.rg

-- Returns the differences in the counts that f causes.
local function difference(own, f)
  local before = own.allocations()
  f()
  local after, d = own.allocations(), {}
  for _, name in ipairs { "alloc", "free", "header_alloc", "header_free", "bytes", "held" } do
    d[name] = after[name] - before[name]
  end
  return d
end

describe("rg.allocations", function()
  it("counts an array as its memory and its header, until it is destroyed", function()
    local own = rg.new { allocations = true }
    local a
    assert.same({ alloc = 2, free = 0, header_alloc = 1, header_free = 0, bytes = 4000, held = 1 },
      difference(own, function() a = own.array(rg.f32, 1000) end))
    assert.same({ alloc = 0, free = 2, header_alloc = 0, header_free = 1, bytes = -4000,
      held = -1 }, difference(own, function() a:destroy() end))
    local all = own.allocations()
    assert.equal(all.alloc, all.free)
    assert.equal(all.header_alloc, all.header_free)
    assert.equal(4000, all.peak)
    own.reset()
  end)

  it("counts a tree by its root's container", function()
    local own = rg.new { allocations = true }
    local tree, x = own.tree(), own.field(rg.f32)
    tree:dense("i", 256):place(x)
    local made = difference(own, function() x[0] = 1 end)
    assert.same({ 2, 1, 1024, 1 }, { made.alloc, made.header_alloc, made.bytes, made.held })
    local gone = difference(own, function() tree:destroy() end)
    assert.same({ 2, 1, -1024, -1 }, { gone.free, gone.header_free, gone.bytes, gone.held })
    own.reset()
  end)

  it("counts a wrap as a header #compiled", function()
    local own = rg.new { allocations = true }
    local memory = ffi.new "float[16]"
    local w
    local made = difference(own, function() w = own.wrap(memory, rg.f32, { 16 }) end)
    assert.same({ 1, 1, 0 }, { made.alloc, made.header_alloc, made.bytes })
    local gone = difference(own, function() w:destroy() end)
    assert.same({ 1, 1, 0 }, { gone.free, gone.header_free, gone.bytes })
    own.reset()
  end)

  it("returns to its count after garbage was collected", function()
    local own = rg.new { allocations = true }
    for _ = 1, 100 do own.array(rg.i32, 10):fill(1) end
    collectgarbage()
    collectgarbage()
    local all = own.allocations()
    assert.equal(200, all.alloc)
    assert.equal(200, all.free)
    assert.equal(100, all.header_free)
    assert.equal(0, all.bytes + all.held)
    own.reset()
  end)

  it("can be switched on and off, and starts over", function()
    local own = rg.new { allocations = false }
    local e = support.failure(own.allocations)
    assert.equal("argument.invalid", e.code)
    assert.matches("not counted", e.message)
    local old = own.array(rg.f32, 10)
    own.allocations(true)
    old:destroy()
    local a = own.array(rg.f32, 100)
    local all = own.allocations()
    assert.same({ 2, 0, 400 }, { all.alloc, all.free, all.bytes })
    own.allocations(true)
    a:destroy()
    assert.same({ 0, 0, 0 }, { own.allocations().alloc, own.allocations().free,
      own.allocations().bytes })
    own.allocations(false)
    assert.has_error(own.allocations)
    own.reset()
  end)

  it("prints itself", function()
    local own = rg.new { allocations = true }
    assert.matches("header_alloc +0\n", tostring(own.allocations()))
    own.reset()
  end)

  it("refuses other words, and names them", function()
    local refused = support.failure(rg.new, { allocations = "x" })
    assert.matches("true, false or \"check\"", refused.message)
    assert.matches("takes true or false, not 3", support.failure(rg.allocations, 3).message)
    local e = support.with_option("RG_ALLOCATIONS", "sometimes", function()
      return support.failure(rg.new, {})
    end)
    assert.matches("RG_ALLOCATIONS must be off, on or check, got 'sometimes'", e.message)
  end)
end)

describe("memory of arrays", function()
  it("is bounded, however many arrays are made and dropped #cpu", function()
    local own = rg.new { memory = "2GiB", allocations = true }
    for _ = 1, 200 do own.array(rg.f32, 4 * 2 ^ 20) end -- 16 MiB each
    local all = own.allocations()
    assert.equal(400, all.alloc)
    assert.is_true(all.peak <= 2 ^ 29, ("%.0f MiB"):format(all.peak / 2 ^ 20))
    own.reset()
  end)

  it("is released explicitly, and a later use says where", function()
    local a = rg.array(rg.f32, 4)
    a:release()
    assert.matches("was destroyed at .*allocations_spec.lua", support.failure(a.get, a, 0).message)
  end)
end)
