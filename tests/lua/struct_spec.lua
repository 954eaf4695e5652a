-- struct_spec.lua - structs: declared, in fields and lists, as values of kernels and of Lua.
local support = require "support"
local rg = support.rg
local failure = support.failure

local P = rg.struct { { "pos", rg.vec3 }, { "mass", rg.f32 }, { "on", rg.bool }, { "id", rg.i64 } }
local Pair = rg.struct { { "a", P }, { "m", rg.mat2 }, { "n", rg.u8 } }

-- What a kernel with this body returns.
local function run(body, captures, ...)
  captures = captures or {}
  captures.P, captures.Pair = P, Pair
  return rg.kernel(("function(a) %s end"):format(body), captures)(...)
end

describe("a struct", function()
  it("is one type for equal declarations", function()
    local function declare(name) return rg.struct { { name, rg.vec3 }, { "mass", rg.f32 } } end
    assert.equal(declare "x", declare "x")
    assert.not_equal(declare "x", declare "y")
    assert.equal("struct {x: vec3, mass: f32}", tostring(declare "x"))
  end)

  it("is made from names, in order, from a table, and is zero elsewhere", function()
    local made = P { pos = { 1, 2, 3 }, mass = 4 }
    assert.equal("{pos = vec3(1, 2, 3), mass = 4, on = false, id = 0}", tostring(made))
    assert.equal(made, P(rg.vec3(1, 2, 3), 4))
    assert.equal(P(), P {})
    assert.equal(made, P(made))
    assert.equal(4, Pair({ a = made }).a.mass)
    for _, text in ipairs { "P{pos = {1, 2, 3}, mass = 4}", "P(rg.vec3(1, 2, 3), 4)",
      "P(P{mass = 4, pos = rg.vec3(1, 2, 3)})", "Pair{a = {pos = {1, 2, 3}, mass = 4}}.a" } do
      assert.equal(made, run("return " .. text))
    end
    assert.equal(P(), run "return P()")
  end)

  it("of few numbers is read right where LuaJIT takes it for a constant", function()
    local struct = require "regolith.data.struct"
    local two = rg.struct { { "x", rg.vec2 } }
    local value, t, sum = two { x = { 5, 7 } }, two, 0
    local function number(k) return struct.number(value, t, k) end
    for i = 1, 300 do sum = sum + number(i % 2) end
    assert.equal(1800, sum)
  end)

  it("is read in Lua by name and in order, and is immutable", function()
    local p, names = P { mass = 2, id = 2LL ^ 60 }, {}
    for name in pairs(p) do names[#names + 1] = name end
    assert.same({ "pos", "mass", "on", "id" }, names)
    assert.same({ 0, 0, 0 }, p:to_table().pos)
    assert.equal(2LL ^ 60, p.id)
    local refused = failure(function() p.mass = 3 end)
    assert.equal("'mass' cannot be set: a struct outside a kernel is a copy that does not change",
      refused.message)
    assert.equal("write the whole element: x[i] = {pos = .., mass = .., on = .., id = ..}",
      refused.hint)
  end)

  it("is copied where it is assigned, and its members can be changed", function()
    local x = rg.field(P, 3)
    x[0] = P { mass = 1 }
    local first, other = run([[
      local p = x[0]
      p.pos.y, p.mass = 5, 2
      x[1] = p
      x[1].pos.zx = rg.vec2(7, 8)
      p.pos[a] = 9
      return x[0], p]], { x = x }, 2)
    assert.equal(P { mass = 1 }, first)
    assert.equal(P { mass = 2, pos = { 0, 5, 9 } }, other)
    assert.equal(P { mass = 2, pos = { 8, 5, 7 } }, x[1])
  end)

  it("computes each number in its declared type", function()
    assert.equal(44, (run "local p = Pair() p.n = 200 p.n = p.n + 100 return p").n)
    assert.equal(2LL ^ 60 + 1, (run "local p = P{id = 1152921504606846976} p.id += 1 return p").id)
    assert.equal(rg.f32(0.1), (run "return P{mass = 0.1}").mass)
  end)

  it("is passed, captured, returned and compared as a whole", function()
    local p = P { mass = 3, pos = { 1, 2, 3 } }
    local function heavier(q, by)
      q.mass = q.mass * by
      return q, q.mass
    end
    local k = rg.kernel(function(q)
      local r, mass = heavier(q, 2)
      return r, mass, p.pos.y, q == p, r ~= p
    end)
    local r, mass, y, same, other = k(p)
    assert.equal(P { mass = 6, pos = { 1, 2, 3 } }, r)
    assert.same({ 6, 2, true, true }, { mass, y, same, other })
    assert.is_false((select(4, k(P()))))
  end)

  it("is passed to and returned by a recursive function", function()
    local k = rg.kernel([[
      local function factorial(p: P, n: i32): P
        if n <= 0 then return p end
        return factorial(P{mass = p.mass * n, pos = p.pos + 1, id = n}, n - 1)
      end
      function(n) return factorial(P{mass = 1}, n) end]], { P = P })
    assert.equal(P { mass = 120, pos = { 5, 5, 5 }, id = 1 }, k(5))
  end)

  it("may be passed as a table if the parameter states its type", function()
    local k = rg.kernel("function(q: Pair) return q end", { Pair = Pair })
    assert.equal(Pair { a = { mass = 2 }, m = { { 1, 2 }, { 3, 4 } } },
      k { a = { mass = 2 }, m = { { 1, 2 }, { 3, 4 } } })
    assert.equal(Pair { n = 7 }, k { n = 7 })
    assert.equal("'q' is declared Pair, but the launch argument is a number", failure(k, 1).message)
  end)

  it("is chosen, swapped and reduced member by member", function()
    local x = rg.field(P, 8)
    local sum, a, b, chosen = run([[
      for i in rg.range(8) do x[i] = P{mass = i, id = i, pos = rg.vec3(i, 1, 0)} end
      local sum = P()
      for i in rg.range(8) do
        sum.mass = sum.mass + x[i].mass
        sum.pos = sum.pos + x[i].pos
        sum.id = math.max(sum.id, x[i].id)
        sum.on = sum.on or x[i].mass > 6
      end
      local a, b = x[1], x[2]
      a, b = b, a
      return sum, a, b, a.mass > 1 and a or b]], { x = x })
    assert.equal(P { mass = 28, pos = { 28, 8, 0 }, id = 7, on = true }, sum)
    assert.same({ 2, 1, 2 }, { a.mass, b.mass, chosen.mass })
  end)

  it("is updated atomically, member by member", function()
    local x = rg.field(P, 2)
    run([[for i in rg.range(1000) do
      x[i % 2].mass = x[i % 2].mass + 1
      x[0].pos.y += 1
      x[0].id = math.max(x[0].id, i)
    end]], { x = x })
    assert.same({ 500, 1000, 999LL }, { x[0].mass, x[0].pos.y, x[0].id })
    assert.equal(500, x[1].mass)
  end)

  it("has methods, in kernels and in Lua", function()
    local Body = rg.struct({ { "v", rg.vec2 }, { "mass", rg.f32 } }, { methods = {
      energy = function(self) return 0.5 * self.mass * self.v:dot(self.v) end,
      pushed = function(self, by)
        local v = self.v + by / self.mass
        return v, v:dot(v)
      end,
    } })
    local x = rg.field(Body, 2)
    x[1] = { v = { 3, 4 }, mass = 2 }
    assert.equal(25, x[1]:energy())
    local energy, pushed, square = rg.kernel(function()
      local v, square = x[1]:pushed(rg.vec2(2, 0))
      return x[1]:energy(), v, square
    end)()
    assert.same({ 25, rg.vec2(4, 4), 32 }, { energy, pushed, square })
    assert.equal(rg.vec2(4, 4), (x[1]:pushed(rg.vec2(2, 0))))
    local refused = failure(rg.kernel(function() return x[1]:enrgy() end))
    assert.equal("a struct {v: vec2, mass: f32} has no method 'enrgy'", refused.message)
  end)
end)

describe("a field of structs", function()
  it("stores them in every layout and tree", function()
    for _, layout in ipairs { "soa", "aos" } do
      local x, y = rg.field(Pair), rg.field(rg.f32)
      rg.root:pointer("i", 4):dense("i", 4, { layout = layout }):place(y, x)
      x[5] = { a = { mass = 3, pos = { 1, 2, 3 } }, m = { { 1, 2 }, { 3, 4 } }, n = 200 }
      run([[for i in x:active() do
        y[i] = x[i].a.mass
        x[i].a.pos = x[i].a.pos * 2
        x[i].n = x[i].n + 1
      end]], { x = x, y = y })
      local wanted = Pair { a = { mass = 3, pos = { 2, 4, 6 } }, m = rg.mat2(1, 2, 3, 4), n = 201 }
      assert.equal(wanted, x[5])
      assert.same({ 3, 1, Pair { n = 1 } }, { y[5], x[4].n, x[7] })
      assert.equal(Pair(), x[0])
    end
  end)

  it("is filled, copied, and read and written as tables", function()
    local x, y = rg.field(P, 2, 2), rg.field { type = P, shape = { 2, 2 }, layout = "soa" }
    x:fill { mass = 1, id = 2LL ^ 60 + 1 }
    y:copy_from(x)
    assert.equal(2LL ^ 60 + 1, y[1][0].id)
    local t = y:to_table()
    assert.equal(P { mass = 1, id = 2LL ^ 60 + 1 }, t[2][1])
    t[1][2] = { mass = 5 }
    assert.equal(P { mass = 5 }, x:from_table(t)[0][1])
    assert.equal(2LL ^ 60 + 1, x[0][0].id)
    local z = rg.field(rg.struct { { "n", rg.i32 }, { "on", rg.bool } }, 2)
    assert.same({ n = 4, on = true }, z:from_table({ { n = 4, on = true }, {} })[0]:to_table())
  end)

  it("has the layout of C, by records #compiled #cpu", function()
    local Inner = rg.struct { { "d", rg.f64 }, { "f", rg.f32 } }
    local Mixed = rg.struct { { "b", rg.u8 }, { "in_", Inner }, { "v", rg.vec3 } }
    local x = rg.field(Mixed, 3)
    x[2] = { b = 7, in_ = { d = 2.5, f = 3 }, v = { 1, 2, 3 } }
    local at = x:pointer()[2]
    assert.same({ 7, 2.5, 3, 2 }, { at.b, at.in_.d, at.in_.f, at.v[1] })
    assert.equal(40, require("ffi").sizeof(at))
    local soa = rg.field { type = Mixed, shape = 3, layout = "soa" }
    assert.matches("each of its components is stored separately",
      failure(soa.pointer, soa).message)
  end)

  it("reports what does not fit", function()
    local x = rg.field(P, 2)
    assert.equal("a struct {pos: vec3, mass: f32, on: bool, id: i64} has no member 'weight'",
      failure(function() x[0] = { weight = 1 } end).message)
    assert.truthy(failure(function() x[0] = 1 end).message:find "cannot hold 1:")
    assert.truthy(failure(function() x[0] = Pair() end).message:find "cannot hold a struct:")
    assert.equal("x[i] = {pos = .., mass = .., on = .., id = ..}",
      failure(function() x[0].mass = 1 end).hint:match "x%[i%].*")
  end)
end)

describe("a list of structs", function()
  it("takes, visits and returns them as a whole", function()
    local x, tag = rg.field(P), rg.field(rg.i32)
    local list = rg.root:dense("i", 2):dynamic("j", 100, { chunk = 8 })
    list:place(x, tag)
    rg.kernel(function()
      for i in rg.range(2):serial() do
        for k = 1, 20 do list:append(i, P { mass = k, pos = rg.vec3(i) }, k * 2) end
      end
    end)()
    list:append(1, { mass = 50 }, 1)
    local sum, last, number = rg.kernel(function()
      local sum = 0.0
      for _, p, n in list:items(1) do sum = sum + p.mass + n + p.pos.x end
      local p, n = list:pop(1)
      return sum, p, n
    end)()
    assert.same({ 701, 1 }, { sum, number })
    assert.equal(P { mass = 50 }, last)
    local p, n = list:pop(0)
    assert.same({ 20, 40 }, { p.mass, n })
    assert.equal(P { mass = 3, pos = { 1, 1, 1 } }, x[1][2])
  end)
end)

describe("an array of structs", function()
  it("is read and written in Lua", function()
    local a = rg.array(P, 3)
    a[1] = { mass = 2, pos = { 1, 2, 3 } }
    assert.equal(P { mass = 2, pos = { 1, 2, 3 } }, a[1])
    assert.equal(2, a:to_table()[2].mass)
    assert.equal(P { mass = 7 }, a:fill({ mass = 7 })[2])
  end)
end)

describe("a kernel with structs", function()
  it("reports what does not fit", function()
    local x, f = rg.field(P, 2), rg.field(rg.f32, 2)
    local function message(text) return failure(run, text, { x = x, f = f }, 1).message end
    local name = "a struct {pos: vec3, mass: f32, on: bool, id: i64}"
    assert.equal("'+' takes numbers and vectors, but this is " .. name,
      message "x[0] = x[0] + x[1]")
    assert.equal(name .. " has no member 'mas'", message "f[0] = x[0].mas")
    assert.equal("'f[0]' is a number, and this value is " .. name, message "f[0] = x[0]")
    assert.equal("member 'pos' is a vector of 3, and this value is a number", message "x[0] = P(1)")
    assert.equal("member 'mass' is an f32, and this value is a bool",
      message "x[0] = P{mass = true}")
    assert.equal(name .. " has 4 members, 5 given", message "x[0] = P(x[0].pos, 1, true, 1, 1)")
    assert.equal("'x[0].id' is an i64, and this value is a float", message "x[0].id = 1.5")
    assert.equal(name .. " has no indices", message "f[0] = x[0][1]")
    assert.equal("'x' holds structs, which 'add' does not take as a whole", message "x:add(0, P())")
    assert.equal("'s.mass' is reduced with two operators in one loop", message [[
      local s = P() for i in rg.range(2) do s.mass += 1 s.mass = math.max(s.mass, i) end]])
    assert.equal("'rg.struct' cannot be called in a kernel", message "local T = rg.struct(1)")
    for text, op in pairs { ["for i in rg.range(2) do x[i] -= 2 end"] = "-", ["x[1] *= 2"] = "*",
      ["x[1] //= 3"] = "//", ["for i in rg.range(2) do x[i] += x[1] end"] = "+",
      ["local s = P() for i in rg.range(2) do s = s * 2 end"] = "*" } do
      assert.equal("'" .. op .. "' takes numbers and vectors, but this is " .. name, message(text))
    end
  end)
end)

describe("rg.struct", function()
  it("reports what does not declare one", function()
    local function message(...) return failure(rg.struct, ...).message end
    assert.equal("rg.struct takes a list of members, not an empty one", message {})
    assert.equal("the members of rg.struct are a list, which keeps their order; 'a' is a key",
      message { a = rg.f32 })
    assert.equal("rg.struct has two members 'a'", message { { "a", rg.f32 }, { "a", rg.f32 } })
    assert.equal("'a b' is not a name for a member", message { { "a b", rg.f32 } })
    assert.equal("member 1 of rg.struct is not a name and a type", message { { "a" } })
    assert.equal("a struct has at most 256 numbers, counting those of its vectors and structs",
      message { { "a", rg.vec(64, "f32") }, { "b", rg.vec(64, "f32") }, { "c", rg.vec(64, "f32") },
        { "d", rg.vec(64, "f32") }, { "e", rg.f32 } })
    assert.equal("'a' is a member of the struct, and cannot be a method, too",
      message({ { "a", rg.f32 } }, { methods = { a = print } }))
  end)

  it("take a table where their type is known, in kernels as in Lua", function()
    local S = rg.struct{ { "a", rg.i32 }, { "v", rg.vec2 }, { "m", rg.mat2 } }
    local f, g = rg.field(rg.mat(2, 2, rg.i32), 5), rg.field(rg.vec3, 5)
    local s, t = rg.field(S, 5), rg.array(S, 5)
    rg.kernel(function()
      for i in rg.range(5) do
        f[i] = { { i, i + 1 }, { i + 2, i + 3 } }
        f[i][1] = { 7, i }
        g[i] = { i, 2, 3 }
        g[i].xy = { 5, i }
        s[i] = { a = i, v = { 1, i }, m = { { 1, 2 }, { 3, i } } }
        s[i].m = { { 1, 0 }, { 0, 2 * i } }
        t[i] = { i, { 1, 2 } }
        t[i].v.yx = { 5, 6 }
      end
    end)()
    assert.same({ { { 3, 4 }, { 7, 3 } }, { 5, 3, 3 } }, { f[3]:to_table(), g[3]:to_table() })
    assert.same({ a = 3, v = { 1, 3 }, m = { { 1, 0 }, { 0, 6 } } }, s[3]:to_table())
    assert.same({ a = 3, v = { 6, 5 }, m = { { 0, 0 }, { 0, 0 } } }, t[3]:to_table())
    rg.kernel([[function()
      local v: vec3, p: S = {1, 2, 3}, {a = 1, v = {1, 2}}
      v.xy = {7, 8}
      p.v = {3, 4}
      assert(v == vec3(7, 8, 3) and p.a == 1 and p.v.y == 4)
      p = {v = {1, 1}}
      v = {4, 5, 6}
      assert(v.z == 6 and p.a == 0 and p.v.x == 1)
      for i in rg.range(5) do g[i] += {1, i, 0} end
    end]], { S = S, vec3 = rg.vec3, g = g, rg = rg })()
    assert.same({ 6, 6, 3 }, g[3]:to_table())
    local turned = rg.kernel([[
      local function turn(v: vec2, p: S): vec2 return {-v.y, v.x + p.a} end
      function() return turn({1, 2}, {a = 3}) end]], { S = S, vec2 = rg.vec2 })
    assert.equal(rg.vec2(-2, 4), turned())
    for text, message in pairs {
      ["g[0] = {1, 2}"] = "is made of 3 numbers or of one, not of 2",
      ["g[0] = {x = 1, y = 2, z = 3}"] = "takes no names",
      ["s[0] = {b = 1}"] = "no member 'b'",
      ["s[0].a = {1, 2}"] = "a number or a vector is needed here",
      ["local v = rg.vec2(0) v = {1, 2}"] = "a number or a vector is needed here",
    } do
      local ok, refused = pcall(function()
        rg.kernel("function() " .. text .. " end", { g = g, s = s, rg = rg })()
      end)
      assert.is_false(ok)
      assert.is_truthy(refused.message:find(message, 1, true), refused.message)
    end
  end)

  it("and vectors are stated parameters that take tables", function()
    local k = rg.kernel [[function(m: mat2, v: vec2): vec2 return m * v end]]
    assert.equal(rg.vec2(3, 7), k({ { 1, 2 }, { 3, 4 } }, { 1, 1 }))
    assert.equal(rg.vec2(5, 7), k({ rg.vec2(2, 3), { 3, 4 } }, rg.vec2(1, 1)))
    for _, case in ipairs {
      { { 1, 2 }, { 3, 4 }, "'m[1]' is a vector of 2, and this value is a number" },
      { { { 1, 2 } }, { 3, 4 }, "'m' is declared mat2, and the table has 1 item" },
      { { { 1, 2 }, { 3, 4 } }, { 1, 2, 3 }, "'v' is declared vec2, and the table has 3 items" },
    } do
      local ok, refused = pcall(k, case[1], case[2])
      assert.is_false(ok)
      assert.is_truthy(refused.message:find(case[3], 1, true), refused.message)
    end
  end)

  it("are exchanged and selected as a whole", function()
    local In = rg.struct{ { "k", rg.u8 }, { "z", rg.dvec2 } }
    local S = rg.struct{ { "a", rg.i32 }, { "b", rg.f32 }, { "i", In }, { "h", rg.f16 } }
    local k = rg.kernel(function(x)
      local old = x:exchange(1, S(5, 6))
      x:exchange(2, { a = 7 })
      for i in rg.range(40) do x:exchange(i % 2, S(40, 40)) end
      return old, rg.select(old.a > 0, old, S(2)), rg.select(old.a > 1, old, S(2)).a
    end)
    for _, x in ipairs { rg.field(S, 4), rg.array(S, 4),
      rg.field{ type = S, shape = { 4 }, layout = "soa" } } do
      x[1] = { a = 1, b = 2, i = { k = 3, z = { 4, 5 } }, h = 0.5 }
      local one = S(1, 2, { 3, { 4, 5 } }, 0.5)
      assert.same({ one, one, 2 }, { k(x) })
      assert.same({ 40, 40, 7 }, { x[0].a, x[1].b, x[2].a })
      assert.equal(S(7), x:exchange(2, { a = 9 }))
      assert.equal(9, x[2].a)
    end
    assert.equal(1, rg.select(true, S(1), S(2)).a)
    local ok, refused = pcall(rg.kernel(function(c) return rg.select(c > 1, S(1), In(2)) end), 1)
    assert.is_false(ok)
    assert.truthy(refused.message:find("one side of this choice", 1, true))
  end)

  it("are appended as tables", function()
    local S = rg.struct{ { "a", rg.i32 }, { "v", rg.vec2 } }
    local s, n = rg.field(S), rg.field(rg.vec2)
    local list = rg.root:dense("i", 2):dynamic("j", 8)
    list:place(s, n)
    rg.kernel(function()
      for i in rg.range(2) do
        list:append(i, { a = i, v = { 1, i } }, { 3, i })
      end
    end)()
    assert.same({ a = 1, v = { 1, 1 } }, s[1][0]:to_table())
    assert.equal(rg.vec2(3, 1), n[1][0])
  end)
end)
