-- counted_handle_spec.lua - counted arrays in Lua: rg.zeros, rg.list, results of kernels.
local support = require "support"
local rg = support.rg

local function ramp(n)
  return rg.kernel([=[function(n: i32)
    local a = rg.list(rg.f32)
    for i = 0, n - 1 do a:append(2.0 * i) end
    return a
  end]=])(n)
end

local sum = rg.kernel [=[function(a: array(f32)): f32
  local s: f32 = 0
  for i = 0, #a - 1 do s = s + a[i] end
  return s
end]=]

describe("an array that a kernel returns #compiled", function()
  it("has the elements that the kernel wrote", function()
    local a = ramp(5)
    assert.equal(5, #a)
    assert.equal(6, a[3])
    assert.same({ 0, 2, 4, 6, 8 }, a:to_table())
    assert.equal("f32", a.type.name)
    assert.equal("array f32 [5]", tostring(a))
    assert.equal(1, a:count())
  end)

  it("is readable after collections, and freed with its last handle", function()
    local own = rg.new { allocations = true }
    local make = own.kernel [=[function()
      local a = rg.zeros(rg.i32, 1000)
      a[999] = 7
      return a
    end]=]
    local a = make()
    collectgarbage()
    collectgarbage()
    assert.equal(7, a[999])
    a = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    own.sync()
    local all = own.allocations()
    assert.equal(all.alloc, all.free)
    assert.equal(0, all.bytes)
    own.reset()
  end)

  it("is copied from another, or from an rg.array", function()
    local a, b, c = ramp(3), ramp(3):fill(1), rg.array(rg.f32, 3)
    c[2] = 9
    assert.same({ 0, 2, 4 }, b:copy_from(a):to_table())
    assert.same({ 0, 0, 9 }, b:copy_from(c):to_table())
  end)

  it("is sorted in place, and concatenated to text", function()
    local a = ramp(3)
    a[0], a[2] = 9, 1
    rg.sort(a)
    assert.same({ 1, 2, 9 }, a:to_table())
    assert.equal("a: array f32 [3]", "a: " .. a)
  end)

  it("can be passed to kernels, which see Lua's changes, and Lua theirs", function()
    local a = ramp(4)
    assert.equal(12, sum(a))
    a[0] = 100
    assert.equal(112, sum(a))
    rg.kernel [=[function(a: array(f32)) a:append(5.5) end]=](a)
    assert.equal(5, #a)
    assert.equal(5.5, a[4])
    assert.equal(117.5, sum(a))
  end)

  it("grows from Lua, too", function()
    local a = ramp(0)
    assert.equal(0, #a)
    for k = 0, 99 do assert.equal(k, a:append(k)) end
    assert.equal(99, a:pop())
    assert.equal(99, #a)
    assert.equal(98 * 99 / 2, sum(a))
    a:clear()
    assert.equal(0, #a)
    assert.is_nil(a:pop())
    assert.equal("index.range", support.failure(function() return a[0] end).code)
  end)

  it("is walked as it was when the walk began, though it grows and shrinks", function()
    local a, total = ramp(4), 0
    for i, v in pairs(a) do
      assert.equal(2 * i, v)
      total = total + v
      a:append(100)
    end
    assert.equal(12, total)
    assert.equal(8, #a)
    local met = 0
    for _ in pairs(a) do
      met = met + 1
      a:pop()
    end
    assert.equal(4, met)
    assert.matches("ipairs counts from 1", support.failure(function()
      for _ in ipairs(a) do met = met + 1 end
    end).message)
  end)

  it("gives slices, which share its elements and outlive it", function()
    local a = ramp(10)
    local b, c = a:slice(6, 2), a:slice(8, 100)
    assert.same({ 12, 14 }, b:to_table())
    assert.equal(2, #c)
    assert.equal(0, #a:slice(20, 3))
    b[0] = 50
    assert.equal(50, a[6])
    assert.equal(64, sum(b))
    for _, one in ipairs { a, b } do
      assert.equal("list.full", support.failure(one.append, one, 1).code)
      assert.equal("list.full", support.failure(one.pop, one).code)
    end
    a:release()
    assert.equal(14, b[1])
    assert.matches("two whole numbers, not nil", support.failure(b.slice, b, 1).message)
  end)

  it("raises once it is released, also in launches", function()
    local a = ramp(3)
    assert.equal(6, sum(a))
    a:release()
    local e = support.failure(function() return a[0] end)
    assert.equal("handle.destroyed", e.code)
    assert.matches("was destroyed at .*counted_handle_spec.lua", e.message)
    assert.equal("handle.destroyed", support.failure(sum, a).code)
    assert.equal("array f32, destroyed", tostring(a))
  end)

  it("reports where it was released when it is released once more", function()
    local own, ffi = rg.new { allocations = "check" }, require "ffi"
    local api, a = own.extension_api(), own.kernel [=[function() return rg.list(rg.f32) end]=]()
    local pointer = ffi.C and require("regolith.lib").C.rg_array_header(a.rg_array)
    a:release()
    api.release(api, pointer)
    local all = own.allocations()
    assert.equal(1, all.faults)
    assert.matches("made at [^ ]*counted_handle_spec.lua:%d+ was released somewhere, after its \z
      last release at [^ ]*counted_handle_spec.lua:%d+$", all.fault)
    own.reset()
  end)

  it("is kept by an extension that holds it", function()
    local folder = os.getenv "RG_LIBRARY":match "^(.*/)" .. "extension/"
    local sample, a = rg.extension(folder .. "sample.so"), ramp(4)
    sample.keep(a)
    assert.equal(2, a:count())
    a:release()
    assert.equal(12, sample.kept_sum())
    sample.drop()
  end)
end)

describe("an array of arrays #compiled", function()
  it("has elements of which each handle holds a reference", function()
    local all = rg.kernel [=[function()
      local all = rg.list(rg.array_type(rg.i32))
      for k = 1, 3 do
        local one = rg.zeros(rg.i32, k)
        one[k - 1] = 10 * k
        all:append(one)
      end
      return all
    end]=]()
    assert.equal(3, #all)
    local last = all[2]
    assert.equal(2, last:count())
    assert.equal(30, last[2])
    all:release()
    assert.equal(1, last:count())
    assert.equal(30, last[2])
    last:release()
  end)
end)

describe("a struct that holds arrays #compiled", function()
  local Node = rg.struct { { "mass", rg.f32 }, { "near", rg.array_type(rg.i32) },
    { "pos", rg.vec2 } }
  local Two = rg.struct { { "a", Node }, { "b", rg.array_type(rg.f32) }, { "n", rg.i32 } }
  local make = rg.kernel([=[function(n: i32)
    local l = rg.list(rg.i32)
    for i = 1, n do l:append(i) end
    return Node{mass = 2.5, near = l, pos = {1, 2}}, n, l
  end]=], { Node = Node })
  local grow = rg.kernel([=[function(p: Node): Two
    p.near:append(100)
    return Two{a = p, n = 7}
  end]=], { Node = Node, Two = Two })

  it("is one of the values that a kernel returns", function()
    local node, n, list = make(5)
    assert.same({ 2.5, 5, rg.vec2(1, 2), 5 }, { node.mass, n, node.pos, #list })
    assert.equal(list, node.near)
    assert.equal(5, node.near[4])
    assert.equal("{mass = 2.5, near = array i32 [5], pos = vec2(1, 2)}", tostring(node))
    list:release()
    assert.equal(5, #node.near)
  end)

  it("is passed to kernels, as an argument and captured, and returned in another struct", function()
    local node = make(5)
    local two = grow(node)
    assert.equal(node.near, two.a.near)
    assert.equal(7, two.n)
    assert.is_nil(two.b)
    assert.equal(100, node.near[5])
    assert.equal(6, rg.kernel([=[function() return #node.near end]=], { node = node })())
  end)

  it("can be made from Lua, too", function()
    local list = rg.list(rg.i32)
    local node = Node { mass = 1, near = list }
    assert.equal(list, node.near)
    assert.equal(100, grow(node).a.near[0])
    assert.equal(node, Node { mass = 1, near = list })
    assert.is_nil(Node { mass = 1 }.near)
    assert.matches("member 'near' .* is array%(i32%), not an array of f32",
      support.failure(Node, { near = rg.list(rg.f32) }).message)
    assert.matches("member 'near' .* is array%(i32%), not 3",
      support.failure(Node, { near = 3 }).message)
    list:release()
    assert.equal("handle.destroyed", support.failure(Node, { near = list }).code)
  end)

  it("is an element, which Lua reads and writes", function()
    local nodes, list = rg.list(Node), rg.list(rg.i32)
    assert.equal(0, nodes:append { mass = 3, near = list })
    nodes:append(make(4))
    assert.equal(list, nodes[0].near)
    assert.equal(4, #nodes[1].near)
    nodes[0] = nodes[1]
    assert.equal(4, nodes:pop().near[3])
    assert.equal(4, nodes[0].near[3])
    nodes:clear()
    assert.equal(0, #nodes)
  end)

  it("leaks nothing", function()
    local own = rg.new { allocations = "check" }
    local k = own.kernel([=[function(n: i32)
      local l = rg.list(rg.i32)
      assert(n < 3, "too many")
      return Node{near = l}, Two{a = Node{near = l}, b = rg.zeros(rg.f32, n)}, l
    end]=], { Node = Node, Two = Two })
    for n = 0, 5 do
      local ok, node, two = pcall(k, n)
      assert.equal(n < 3, ok)
      if ok then assert.equal(node.near, two.a.near) end
      local nodes = own.list(Node)
      if ok then nodes:append(node) nodes[0] = two.a end
    end
    collectgarbage()
    collectgarbage()
    collectgarbage()
    own.sync()
    local all = own.allocations()
    assert.equal(all.header_alloc, all.header_free)
    assert.equal(all.acquires + all.header_alloc, all.releases)
    assert.equal(0, all.faults)
    own.reset()
  end)
end)

-- Each line makes 16 MiB of garbage, of which only Lua's collector knows that it is garbage.
local makers = {
  ["rg.array"] = "rg.array(rg.f32, 2 ^ 22)[k] = 1",
  ["rg.zeros"] = "rg.zeros(rg.f32, 2 ^ 22)[k] = 1",
  ["a kernel"] = "one()",
  ["a kernel, with a number"] = "two()",
}

describe("memory that the collector does not see #compiled", function()
  local many = tonumber(os.getenv "RG_MANY") or 60 -- 20000: minutes
  for name, make in pairs(makers) do
    it(("stays below half a GiB over %d arrays of 16 MiB by %s"):format(many, name), function()
      local pipe = assert(io.popen(([[luajit -e '
        local rg = require "regolith"
        local one = rg.kernel "function() return rg.zeros(rg.f32, 4194304) end"
        local two = rg.kernel "function() return rg.zeros(rg.f32, 4194304), 1 end"
        for k = 1, %d do %s end
        for line in io.lines "/proc/self/status" do print(line) end' 2>&1]]):format(many, make)))
      local text = pipe:read "*a"
      pipe:close()
      local peak = tonumber(text:match "VmHWM:%s+(%d+) kB")
      assert(peak and peak < 2 ^ 19, peak and peak .. " KiB" or text)
    end)
  end
end)

describe("rg.zeros and rg.list #compiled", function()
  it("hold arrays", function()
    local lists, one = rg.list(rg.array_type(rg.i32)), rg.list(rg.i32)
    one:append(7)
    assert.equal(0, lists:append(one))
    lists:append(rg.zeros(rg.i32, 3))
    local again = lists[0]
    assert.equal(one, again)
    assert.equal(3, #lists[1])
    lists[1] = one
    assert.same({ 4, 2 }, { one:count(), #lists }) -- two handles and two elements hold it
    assert.equal(7, again[0])
    assert.equal(14, rg.kernel [=[function(all: array(array(i32)))
      return all[0][0] + all[1][0]
    end]=](lists))
    assert.equal("index.range", support.failure(function() return lists[2] end).code)
    assert.matches("cannot hold 3: its type is array%(i32%)",
      support.failure(function() lists[0] = 3 end).message)
    local grid = rg.zeros(rg.array_type(rg.i32), 2, 2)
    grid:set(1, 1, one)
    assert.equal(one, grid:get(1, 1))
    assert.is_nil(grid:get(0, 1))
    assert.equal("(2, 2)", tostring(grid.shape))
    local total = 0
    for _, list in pairs(lists) do total = total + #list end
    assert.equal(2, total)
  end)

  it("are read with acquire order, other members without it #compiled", function()
    local Row = rg.struct { { "of", rg.array_type(rg.i32) }, { "count", rg.i64 } }
    local rows = rg.zeros(Row, 2)
    local kernel = rg.kernel([=[function(rows: array(Row))
      return #rows[0].of + rows[1].count
    end]=], { Row = Row })
    local text = kernel(rows) == 0 and kernel:ir()
    assert.equal(1, select(2, text:gsub("i64 = mem.load acquires ", "")))
    assert.matches("i64 = mem.load %%", text)
  end)

  it("refuse invalid extents", function()
    for _, row in ipairs { { -1, "whole number of at least 0" },
      { 0.5, "whole number of at least 0" },
      { 2 ^ 53, "must be less than 2^53, got 9007199254740992" },
      { 1e300, "must be less than 2^53, got 1e%+300" } } do
      assert.matches(row[2], support.failure(rg.zeros, rg.f32, row[1]).message)
    end
    assert.same({ 0, "(0, 3)" }, { #rg.zeros(rg.f32, 0), tostring(rg.zeros(rg.f32, 0, 3).shape) })
  end)

  it("are of one runtime", function()
    local own = rg.new {}
    local theirs = own.list(rg.i32)
    assert.equal("runtime.mixed", support.failure(rg.kernel [=[function(a: array(i32))
      return #a
    end]=], theirs).code)
    local lists = rg.list(rg.array_type(rg.i32))
    assert.equal("runtime.mixed", support.failure(lists.append, lists, theirs).code)
    assert.equal(0, #lists)
    theirs:release()
    own.reset()
  end)

  it("make arrays from Lua that kernels take", function()
    local z = rg.zeros(rg.f32, 10)
    assert.equal(0, sum(z))
    z[3] = 7
    assert.equal(7, sum(z))
    local l = rg.list(rg.f32)
    l:append(1.5)
    assert.equal(1.5, sum(l))
  end)

  it("have several axes, vectors and structs", function()
    local m = rg.zeros(rg.i32, 2, 3)
    m[1][2] = 5
    assert.same({ { 0, 0, 0 }, { 0, 0, 5 } }, m:to_table())
    assert.equal(5, rg.kernel [=[function(m: array(i32, 2)) return m[1][2] end]=](m))
    local v = rg.list(rg.vec2)
    v:append { 3, 4 }
    assert.equal(rg.vec2(3, 4), v[0])
  end)

  it("refuse what they cannot make", function()
    assert.matches("takes only the type of its elements",
      support.failure(rg.list, rg.f32, 3).message)
    assert.matches("whole number", support.failure(rg.zeros, rg.f32, 1.5).message)
    assert.equal("memory.budget", support.failure(rg.zeros, rg.f64, 2 ^ 44).code)
  end)
end)
