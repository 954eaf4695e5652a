-- arrays_alike_spec.lua - every function that only reads and writes elements accepts every array,
-- however it was made.
local support = require "support"
local rg, failure = support.rg, support.failure
local ffi = require "ffi"

local numbers = { 3, 1, 2, 1, 5, 4 }

-- Six f32, made in every possible way.
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

describe("every array, however it was made, #compiled", function()
  it("is copied to and from other arrays and fields", function()
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

  it("is written to files, and read back", function()
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

  it("is saved even if it has no elements", function()
    local path = folder()
    rg.save(path .. "/a.rgs", { a = rg.list(rg.f32) })
    assert.equal(0, #rg.load(path .. "/a.rgs").a)
    os.execute("rm -r " .. path)
  end)

  it("serves as a buffer of the client, and as a source to make or write one", function()
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

  it("of arrays says to pass one of its elements instead", function()
    local a = rg.zeros(rg.array_type(rg.f32), 2)
    a[0] = rg.zeros(rg.f32, 3)
    local words = failure(rg.numpy.write, "no.npy", a)
    assert.matches("but these elements are arrays", words.message)
    assert.matches("a%[0%]", words.hint)
  end)
end)

describe("arrays between Lua and kernels", function()
  it("are passed and returned, however they were made", function()
    local double = rg.kernel [=[function(a: array(f32))
      for i in rg.range(#a) do a[i] = 2 * a[i] end
      return a
    end]=]
    local make = rg.kernel [=[function(n: i32)
      local l, m = rg.list(rg.f32), rg.zeros(rg.i32, 2, 3)
      for i = 1, n do l:append(i) end
      m[1][2] = 7
      return l, m, l:slice(1, 2)
    end]=]
    local l, m, part = make(4)
    assert.same({ 1, 2, 3, 4 }, l:to_table())
    assert.same({ { 0, 0, 0 }, { 0, 0, 7 } }, m:to_table())
    assert.same({ 2, 3 }, part:to_table())
    assert.equal("array f32 [4]", tostring(l))
    if os.getenv "RG_ARCH" == "cuda" then return end -- rg.array is no value there
    for _, a in ipairs { l, rg.zeros(rg.f32, 4), rg.array(rg.f32, 4) } do
      a:from_table { 1, 2, 3, 4 }
      local back = double(a)
      assert.equal(a, back)
      assert.same({ 2, 4, 6, 8 }, back:to_table())
      assert.equal(4, a:length())
    end
  end)

  it("have hints for how kernels loop over their own arrays, and update them", function()
    for text, hint in pairs { ["for i in a:active() do end"] = "for i in rg.range(#a) do",
      ["a:add(0, 1)"] = "an update is written a[i] = a[i] + v" } do
      assert.equal(hint, failure(rg.kernel(
        ("function() local a = rg.zeros(rg.f32, 3) %s end"):format(text))).hint)
    end
  end)

  it("keep their length where they are declared with one", function()
    local a = rg.array(rg.f32, 2)
    if os.getenv "RG_ARCH" == "cuda" then return end
    for _, text in ipairs { "a:append(3)", "a:pop()", "a:clear()" } do
      assert.equal("list.full",
        failure(rg.kernel(("function(a) %s end"):format(text)), a).code)
    end
    assert.equal(2, rg.kernel "function(a) return a:length() end"(a))
  end)
end)

local Row = rg.array_type(rg.f32)

-- An rg.array behaves like an array made by kernels wherever kernels use it as a value.
describe("an rg.array in a kernel #compiled", function()
  it("is accepted by parameters and functions of type array(T)", function()
    local a = rg.array(rg.f32, 4):from_table { 1, 2, 3, 4 }
    assert.equal(3, rg.kernel [=[function(a: array(f32)) return a[2] end]=](a))
    assert.equal(5, rg.kernel [=[
      local function last(a: array(f32)): f32 return a[#a - 1] end
      function(a: array(f32))
        for i in rg.range(#a) do a[i] = a[i] + 1 end
        return last(a)
      end]=](a))
    assert.equal(2, rg.kernel [=[function(m: array(f32, 2))
      m[1][2] = 2
      return m[1][2]
    end]=](rg.array(rg.f32, 2, 3)))
  end)

  it("can be assigned to a variable #cpu", function()
    local a = rg.array(rg.f32, 4):from_table { 1, 2, 3, 4 }
    local longer = rg.kernel [=[function(a: array(f32), b: array(f32))
      if #b > #a then a = b end
      a[0] = 9
      return #a, a == b
    end]=]
    assert.same({ 6, true }, { longer(a, rg.array(rg.f32, 6)) })
    assert.same({ 4, false }, { longer(a, rg.list(rg.f32)) })
    assert.equal(9, a[0])
  end)

  it("is refused, and named, where another type is declared", function()
    local a = rg.array(rg.f32, 4)
    assert.matches("'a' is declared array%(i32%), but the launch argument is an array of f32 with "
      .. "1 axis", failure(rg.kernel [=[function(a: array(i32)) return a[0] end]=], a).message)
    assert.matches("'a' is an array%(i32%), and this value is an array%(f32%)",
      failure(rg.kernel [=[
        local function first(a: array(i32)) return a[0] end
        function(a) return first(a) end]=], a).message)
  end)

  it("can be returned, stored and a member, and lives as long as others hold it #cpu", function()
    local a = rg.array(rg.f32, 4):fill(5)
    local back, rows, node = rg.kernel([=[function(a)
      local rows = rg.list(Row)
      rows:append(a)
      return a, rows, Node{row = a}
    end]=], { Row = Row, Node = rg.struct { { "row", Row } } })(a)
    local function next_to(one)
      assert.equal(a, one)
      one[1] = one[1] + 1
    end
    next_to(back)
    next_to(rows[0])
    next_to(node.row)
    assert.same({ 5, 8, 5, 5 }, a:to_table())
    for _ = 1, 2 do collectgarbage() end
    assert.equal(4, a:count()) -- its own, the one returned, an element, a member
    a:destroy()
    assert.equal(8, back[1])
    assert.equal(3, back:count())
    assert.equal("list.full", failure(back.append, back, 1).code)
    assert.equal("list.full", failure(rg.kernel [=[function(a) a:pop() end]=],
      rg.array(rg.f32, 4)).code)
  end)

  it("keeps its axes wherever it is passed #cpu", function()
    local m = rg.array(rg.i32, 3, 5)
    m[2][4] = 7
    local back, value = rg.kernel [=[function(m: array(i32, 2))
      local n = rg.zeros(rg.i32, 1, 1)
      if m[2][4] > 0 then n = m end
      return n, n[2][4]
    end]=](m)
    assert.equal(7, value)
    assert.equal("(3, 5)", tostring(back.shape))
    assert.equal(7, back[2][4])
  end)

  it("shares its memory with a list that contains it, in serial and parallel loops #cpu", function()
    local x, rows = rg.array(rg.f32, 1000), rg.list(Row)
    rows:append(x)
    local mixed = rg.kernel([=[function(x, rows: array(Row))
      local s = 0.0
      x[5] = 1
      rows[0][5] = 7
      local a = x[5]
      for i in rg.range(#x) do x[i] = i end
      for i in rg.range(#x) do rows[0][i] = x[i] + rows[0][i] end
      local b = x[999]
      for i = 0, #x - 1 do
        rows[0][i] = 1
        x[i] = x[i] + 1
        s = s + x[i]
      end
      return a, b, s
    end]=], { Row = Row })
    assert.same({ 7, 1998, 2000 }, { mixed(x, rows) })
    local both = rg.kernel([=[function(x)
      local rows = rg.list(Row)
      rows:append(x)
      x[0] = 1
      rows[0][0] = 2
      local a = x[0]
      x[0] = 3
      return a, rows[0][0]
    end]=], { Row = Row })
    assert.same({ 2, 3 }, { both(x) })
  end)

  it("can be put into lists and structs, and sliced, from Lua #cpu", function()
    local a, rows = rg.array(rg.f32, 4):from_table { 1, 2, 3, 4 }, rg.list(Row)
    rows:append(a)
    assert.equal(a, rows[0])
    local part = a:slice(1, 2)
    part[0] = 9
    assert.same({ 1, 9, 3, 4 }, a:to_table())
    assert.equal(a, rg.struct { { "row", Row } }({ row = a }).row)
  end)

  it("is copied first if its memory is laid out differently from an array of kernels \z
    #cpu", function()
    local columns = rg.wrap(ffi.new "float[6]", rg.f32, { 3, 2 }, { strides = { 4, 12 } })
    local problem = failure(rg.kernel [=[function(a) return a end]=], columns)
    assert.matches("'a' is used as a value here, which a wrap with strides", problem.message)
    assert.matches("pass a copy: rg.zeros%(T, ..%):copy_from%(a%)", problem.hint)
    local matrix = rg.wrap(ffi.new "float[6]", rg.f32, { 3, 2 })
    assert.matches("'a' is used as a value, but a wrap or a window with several axes cannot be one",
      failure(rg.kernel [=[function(a) return a end]=], matrix).message)
    assert.equal(4, rg.kernel [=[function(a: array(f32, 2))
      a[2][1] = 4
      return a[2][1]
    end]=](matrix))
    local rows = rg.list(rg.array_type(rg.f32, 2))
    problem = failure(rows.append, rows, columns)
    assert.matches("cannot be an element", problem.message)
    assert.matches("use a copy, which can: rg.zeros", problem.hint)
    rows:append(rg.zeros(rg.f32, 3, 2):copy_from(columns))
    assert.equal(1, #rows)
  end)

  it("is refused as a value on a GPU, with its name and an alternative", function()
    if os.getenv "RG_ARCH" ~= "cuda" then return end
    local problem = failure(rg.kernel [=[function(a) return a end]=], rg.array(rg.f32, 4))
    assert.matches("'a' is used as a value, but with arch = \"cuda\" an rg.array", problem.message)
    assert.matches("rg.zeros%(T, ..%):copy_from%(a%)", problem.hint)
  end)
end)
