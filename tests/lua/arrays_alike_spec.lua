-- arrays_alike_spec.lua - arrays of every origin, where one only reads and writes elements: all
-- that takes an array takes each of them.
local support = require "support"
local rg, failure = support.rg, support.failure
local ffi = require "ffi"

local numbers = { 3, 1, 2, 1, 5, 4 }

-- Six f32, made in every way there is.
local makers = {
  array = function() return rg.array(rg.f32, 6) end,
  zeros = function() return rg.zeros(rg.f32, 6) end,
  list = function()
    local a = rg.list(rg.f32)
    for _ = 1, 6 do a:append(0) end
    return a
  end,
  kernel = function() return rg.kernel [=[function() return rg.zeros(rg.f32, 6) end]=]() end,
  slice = function() return rg.zeros(rg.f32, 9):slice(2, 6) end,
}
if os.getenv "RG_ARCH" ~= "lua" then
  makers.wrap = function() return rg.wrap(ffi.new "float[6]", rg.f32, 6) end
end

local function each(test)
  for name, make in pairs(makers) do
    local ok, why = pcall(test, make():from_table(numbers), name)
    if not ok then error(("%s: %s"):format(name, tostring(why)), 0) end
  end
end

local function folder()
  local path = os.tmpname()
  os.remove(path)
  os.execute("mkdir " .. path)
  return path
end

describe("every array, whatever made it, #compiled", function()
  it("is what another, or a field, is copied from, and copied to", function()
    each(function(a)
      each(function(b)
        b:fill(0)
        assert.same(numbers, b:copy_from(a):to_table())
      end)
      local x = rg.field(rg.f32, 6)
      assert.same(numbers, x:copy_from(a):to_table())
      x[0] = 9
      assert.equal(9, a:copy_from(x)[0])
    end)
  end)

  it("is sorted, scanned, made unique and compacted in place", function()
    each(function(a)
      rg.sort(a)
      assert.same({ 1, 1, 2, 3, 4, 5 }, a:to_table())
      assert.equal(5, rg.unique(a))
      assert.same({ 1, 2, 3, 4, 5 }, { a[0], a[1], a[2], a[3], a[4] })
      a:from_table(numbers)
      assert.equal(16, rg.scan(a))
      assert.equal(16, a[5])
      assert.equal(2, rg.compact(a, function(v) return v > 10 end))
      each(function(b) rg.sort(a, b) end)
    end)
  end)

  it("goes to files, and comes back", function()
    local path = folder()
    each(function(a)
      rg.numpy.write(path .. "/a.npy", a)
      assert.same(numbers, rg.numpy.read(path .. "/a.npy"):to_table())
      rg.points.write(path .. "/p.ply", { pos = rg.array(rg.vec3, 6), mass = a })
      assert.same(numbers, rg.points.read(path .. "/p.ply").mass:to_table())
      rg.plot.line(path .. "/a.svg", a)
      rg.plot.histogram(path .. "/a.svg", a)
      rg.save(path .. "/a.rgs", { a = a })
      assert.same(numbers, rg.load(path .. "/a.rgs").a:to_table())
      a:fill(0)
      assert.is_true(rawequal(a, rg.load(path .. "/a.rgs", { a = a }).a))
      assert.same(numbers, a:to_table())
    end)
    os.execute("rm -r " .. path)
  end)

  it("is a picture, where it has two axes", function()
    local path = folder()
    local made = rg.kernel [=[function() return rg.zeros(rg.f32, 4, 3) end]=]()
    for _, a in ipairs { made, rg.zeros(rg.f32, 4, 3), rg.array(rg.f32, 4, 3) } do
      a[1][2] = 1
      rg.image.write(path .. "/a.png", a)
      local back = rg.image.read(path .. "/a.png")
      assert.equal(1, back[1][2].x)
      assert.equal(0, back[2][1].x)
      rg.volume.write(path .. "/a.vti", a)
    end
    os.execute("rm -r " .. path)
  end)

  it("is saved without elements, too", function()
    local path = folder()
    rg.save(path .. "/a.rgs", { a = rg.list(rg.f32) })
    assert.equal(0, #rg.load(path .. "/a.rgs").a)
    os.execute("rm -r " .. path)
  end)

  it("is a buffer of the client, and what one is made from and written from", function()
    for _, is_async in ipairs { false, true } do
      local other = rg.new { async = is_async }
      local c = other.client()
      local grow = other.kernel [=[function(a: array(f32)) a:append(7) end]=]
      local double = other.kernel [=[function(a) for i in rg.range(#a) do a[i] = 2 * a[i] end end]=]
      local made = other.kernel [=[function() return rg.zeros(rg.f32, 6) end]=]()
      for _, a in ipairs { made, other.zeros(rg.f32, 6), other.array(rg.f32, 6) } do
        c:write(a, numbers)
        assert.same(numbers, c:read(a))
        local ticket = c:read_async(a)
        c:execute(double, { a })
        assert.same(numbers, ticket:wait())
        assert.same({ 6, 2, 4, 2, 10, 8 }, c:read(a))
        local b = c:create(a)
        assert.same({ 6, 2, 4, 2, 10, 8 }, c:read(b))
        c:write(b, a:fill(1))
        assert.same({ 1, 1, 1, 1, 1, 1 }, c:read(b))
        if a ~= made then a:release() end
      end
      c:execute(grow, { made })
      assert.same({ 1, 1, 1, 1, 1, 1, 7 }, c:read(made))
      made:release()
      other.reset()
    end
  end)

  it("says which of its elements to pass, where those are arrays", function()
    local a = rg.zeros(rg.array_type(rg.f32), 2)
    a[0] = rg.zeros(rg.f32, 3)
    local words = failure(rg.numpy.write, "no.npy", a)
    assert.matches("and these elements are arrays", words.message)
    assert.matches("a%[0%]", words.hint)
  end)
end)
