-- vector_spec.lua - vectors and matrices: in kernels, in fields, and as values of Lua.
local support = require "support"
local rg = support.rg
local failure = support.failure

-- Numbers of a value, as a list.
local function numbers(v)
  local list = v:to_table()
  if type(list[1]) ~= "table" then return list end
  local flat = {}
  for _, row in ipairs(list) do
    for _, x in ipairs(row) do flat[#flat + 1] = x end
  end
  return flat
end

-- What `text`, an expression of `a` and `b`, is in a kernel.
local function computed(t, text, captures)
  local out = rg.field(t, 1)
  captures = captures or {}
  captures.out = out
  rg.kernel(("function() out[0] = %s end"):format(text), captures)()
  return numbers(out[0])
end

local function number_of(text, captures)
  local out = rg.field(rg.f64, 1)
  captures = captures or {}
  captures.out = out
  rg.kernel(("function() out[0] = %s end"):format(text), captures)()
  return out[0]
end

describe("a vector in a kernel", function()
  it("is made of any mix of numbers and vectors", function()
    assert.same({ 1, 2, 3, 4 }, computed(rg.vec4, "rg.vec4(1, rg.vec2(2, 3), 4)"))
    assert.same({ 5, 5, 5 }, computed(rg.ivec3, "rg.ivec3(5)"))
    assert.same({ 1, -2 }, computed(rg.ivec2, "rg.ivec2(1.9, -2.9)"))
    assert.same({ 1, 2, 3, 4, 5 }, computed(rg.vec(5, rg.f64), "rg.vec(5, rg.f64){1, 2, 3, 4, 5}"))
  end)

  it("gives its components by name, in any order, and by index", function()
    local v = { v = rg.vec4(1, 2, 3, 4) }
    assert.same({ 4, 3, 1 }, computed(rg.vec3, "v.wzx", v))
    assert.same({ 1, 1 }, computed(rg.vec2, "v.xyz.rr", v))
    assert.equal(3, number_of("v[2]", v))
    assert.equal(2, number_of("rg.vec3(1, 2, 3).y"))
    local sum = rg.field(rg.f32, 1)
    rg.kernel([=[function()
      local s = 0
      for k = 0, 5 do s = s * 10 + v[k] end
      sum[0] = s
    end]=], { v = v.v, sum = sum })()
    assert.equal(123400, sum[0]) -- outside there is zero
  end)

  it("combines with vectors component by component, and with a number in every \z
    component", function()
    local c = { a = rg.vec3(1, 2, 3), b = rg.vec3(4, 5, 6), i = rg.ivec3(7, -7, 8) }
    assert.same({ 5, 7, 9 }, computed(rg.vec3, "a + b", c))
    assert.same({ 4, 10, 18 }, computed(rg.vec3, "a * b", c))
    assert.same({ 9, 8, 7 }, computed(rg.vec3, "10 - a", c))
    assert.same({ -1, -2, -3 }, computed(rg.vec3, "-a", c))
    assert.same({ 0.5, 1, 1.5 }, computed(rg.vec3, "a / 2", c))
    assert.same({ 3, -4, 4 }, computed(rg.ivec3, "i // 2", c))
    assert.same({ 3, -4, 4 }, computed(rg.ivec3, "math.floor(i / 2)", c))
    assert.same({ 1, 1, 0 }, computed(rg.ivec3, "i % 2", c))
    assert.same({ 2, 2, 3 }, computed(rg.vec3, "math.max(a, 2)", c))
    assert.same({ 1, 2, 3 }, computed(rg.vec3, "math.sqrt(a * a)", c))
    assert.same({ 1, 1, 0 }, computed(rg.ivec3, "bit.band(i, 1)", c))
  end)

  it("knows the functions of shaders, also as methods", function()
    local c = { a = rg.vec3(1, 2, 2), b = rg.vec3(0, 1, 0), t = 0.25 }
    assert.equal(2, number_of("rg.dot(a, b)", c))
    assert.equal(3, number_of("a:norm()", c))
    assert.same({ 0, 1, 0 }, computed(rg.vec3, "rg.normalize(b * 5)", c))
    assert.same({ -2, 0, 1 }, computed(rg.vec3, "a:cross(b)", c))
    assert.equal(-2, number_of("rg.cross(rg.vec2(1, 2), rg.vec2(3, 4))"))
    assert.same({ 1, 1.5, 1.5 }, computed(rg.vec3, "rg.clamp(a, 0, 1.5)", c))
    assert.same({ 0.75, 1.75, 1.5 }, computed(rg.vec3, "rg.mix(a, b, t)", c))
    assert.same({ 0, 1, 1 }, computed(rg.vec3, "rg.step(1.5, a)", c))
    assert.equal(0.5, number_of("rg.smoothstep(0, 2, 1.0)"))
    assert.same({ 0, 1, 0 }, computed(rg.vec3, "rg.select(t > 1, a, b)", c))
    assert.same({ 1, -2 }, computed(rg.ivec2, "rg.floor(rg.vec2(1.5, -1.5))"))
    assert.same({ 2, -2 }, computed(rg.ivec2, "rg.round(rg.vec2(1.5, -1.5))"))
  end)

  it("is a value: assignment copies, components are written alone", function()
    local out = rg.field(rg.vec3, 2)
    rg.kernel([=[function(k)
      local a = rg.vec3(1, 2, 3)
      local b = a
      b.x = 10
      b.zy = b.yz + 1
      b[k] += 100
      out[0] = a
      out[1] = b
    end]=], { out = out })(2)
    assert.same({ 1, 2, 3 }, numbers(out[0]))
    assert.same({ 10, 4, 103 }, numbers(out[1]))
  end)

  it("is compared as a whole and chosen by a condition", function()
    assert.equal(1, number_of("rg.vec2(1, 2) == rg.vec2(1, 2) and 1 or 0"))
    assert.equal(1, number_of("rg.vec2(1, 2) ~= rg.vec2(1, 3) and 1 or 0"))
    local c = { n = rg.field(rg.i32, 1), a = rg.vec2(1, 2) }
    assert.same({ 2, 4 }, computed(rg.vec2, "n[0] == 0 and a * 2 or a:normalize()", c))
  end)

  it("is reduced by a parallel loop", function()
    local out = rg.field(rg.vec2, 2)
    rg.kernel([=[function()
      local s = rg.vec2(0)
      local m = rg.vec2(-1)
      for i in rg.range(1000) do
        local p = rg.vec2(i, -i)
        s = s + p - 1
        m = math.max(m, p)
      end
      out[0] = s
      out[1] = m
    end]=], { out = out })()
    assert.same({ 498500, -500500 }, numbers(out[0]))
    assert.same({ 999, 0 }, numbers(out[1]))
  end)

  it("goes through functions, as argument and result", function()
    local out = rg.field(rg.vec2, 1)
    local function turn(v) return rg.vec2(-v.y, v.x) end
    rg.kernel(function(p)
      p.x = p.x + 1
      out[0] = turn(p) + turn(rg.vec2(0, 1))
    end)(rg.vec2(2, 5))
    assert.same({ -6, 3 }, numbers(out[0]))
  end)

  it("is a result of a kernel", function()
    local mean = rg.kernel([=[function(n)
      local s = rg.dvec3(0)
      for i in rg.range(n) do s = s + rg.dvec3(i, 2 * i, 1) end
      if n == 0 then return rg.dvec3(-1) end
      return s / n
    end]=])
    assert.same({ 4.5, 9, 1 }, numbers(mean(10)))
    assert.same({ -1, -1, -1 }, numbers(mean(0)))
    assert.equal(rg.dvec3(4.5, 9, 1), mean(10))
    assert.equal("mat2(1, 2, 3, 4)", tostring(rg.kernel("function(m): mat2 return m end")(
      rg.mat2(1, 2, 3, 4))))
    assert.equal("ivec2(0, 0)", tostring(
      rg.kernel("function(a) if a > 0 then return rg.ivec2(1) end end")(0)))
  end)

  it("is captured at every launch, also through a path", function()
    local out, state = rg.field(rg.vec2, 1), { gravity = rg.vec2(0, -10) }
    local step = rg.kernel(function()
      out[0] = state.gravity * 2 + state.gravity.yx
    end)
    step()
    assert.same({ -10, -20 }, numbers(out[0]))
    local compiles = rg.stats().compiles
    state.gravity = rg.vec2(1, 2)
    step()
    assert.same({ 4, 5 }, numbers(out[0]))
    assert.equal(compiles, rg.stats().compiles)
    state.gravity = rg.ivec2(1, 2)
    step()
    assert.same({ 4, 5 }, numbers(out[0]))
  end)

  it("is all indices of a loop at once, and an index", function()
    local x = rg.field(rg.i32, 4, 5)
    rg.kernel([=[function()
      for I in rg.range(3, {1, 4}):vec() do
        x[I] = I.x * 10 + I.y
        x[I + rg.ivec2(1, 1)] = -1
      end
    end]=], { x = rg.field(rg.i32, 4, 5) })()
    rg.kernel([=[function()
      for I in x:active():vec() do
        local y = I * 2
        x[I] = y.x * 10 + y.y
      end
    end]=], { x = x })()
    assert.equal(68, x[3][4])
    assert.equal(68, x[rg.ivec2(3, 4)])
  end)

  it("reports what does not fit", function()
    local x, v = rg.field(rg.f32, 4), rg.field(rg.vec2, 4)
    local function message(text)
      return failure(rg.kernel("function(a) " .. text .. " end", { x = x, v = v }), 1).message
    end
    assert.equal("'+' takes values of one shape, not a vector of 2 and a vector of 3",
      message "x[0] = (v[0] + rg.vec3(1)).x")
    assert.equal("'v[0]' is a vector of 2, and this value is a number", message "v[0] = 1")
    assert.equal("'x[0]' is a number, and this value is a vector of 2", message "x[0] = v[0]")
    assert.equal("a vector of 2 has no 'z'", message "x[0] = v[0].z")
    assert.equal("a number has no component 'x'", message "x[0] = x[1].x")
    assert.equal("a vector of 2 has no number 2", message "x[0] = v[0][2]")
    assert.equal("a condition is one boolean, but this is a vector of 2",
      message "if v[0] then x[0] = 1 end")
    assert.equal("'rg.vec2' is made of 2 numbers or of one, not of 3",
      message "v[0] = rg.vec2(1, 2, 3)")
    assert.equal("'v[0].xx' assigns a component twice", message "v[0].xx = v[0]")
    assert.equal("'rg.dot' takes vectors, but this is a number", message "x[0] = rg.dot(a, v[0])")
    assert.equal("a vector of 2 has no method 'nrom'", message "x[0] = v[0]:nrom()")
    assert.equal("a condition is one boolean, but this is a vector of 2",
      message "x[0] = v[0] < v[1] and 1 or 0")
  end)
end)

describe("and, or, not of booleans in a vector", function()
  local fields = { b = rg.field(rg.bvec2, 4), m = rg.field(rg.mat(2, 2, rg.bool), 1) }
  local b, seen = fields.b, rg.field(rg.i32, 1)
  b[0], b[1], b[2] = rg.bvec2(true, false), rg.bvec2(false, true), rg.bvec2(true, true)
  local function run(text, ...)
    return rg.kernel("function(c: bool, v: vec2) " .. text .. " end",
      { b = b, m = fields.m, seen = seen })(...)
  end

  it("work component by component, in every position", function()
    local v = rg.vec2(1, 2)
    for _, case in ipairs {
      { "return b[0] or b[1]", true, true }, { "return b[0] and b[2]", true, false },
      { "return not b[0]", false, true }, { "return c and b[1]", false, true },
      { "return b[1] and c", false, true }, { "return not c or b[0]", true, false },
      { "return c and b[0] or b[1]", true, true },
      { "return v < v and b[0] or v <= v", true, true },
      { "local q = m[0] or m[0] return q[0] or b[1]", false, true },
      { "for i in rg.range(4) do b[3] = b[0] and not b[1] end return b[3]", true, false },
      { "local all = b[2] for i in rg.range({2, 4}) do all = all and b[i - 2] end return all",
        false, false },
      { "local any = b[3] and not b[3] for i in rg.range(1) do any = any or b[1] end return any",
        false, true },
      { "local q = not c and rg.bvec2(seen:add(0, 1) == 0) return q", false, false },
    } do
      assert.same({ case[2], case[3] }, numbers(run(case[1], true, v)), case[1])
    end
    assert.equal(0, seen[0]) -- a single boolean on the left decides for the whole right side
    assert.equal(2, run("if rg.any(c and b[3] and b[1]) then return 1 end return 2", true, v))
  end)

  it("do not select numbers", function()
    for text, said in pairs {
      ["return b[0] and v or v"] = "a condition is one boolean, but this is a vector of 2",
      ["return b[0] and v"] = "a condition is one boolean, but this is a vector of 2",
      ["return c and 1 or v"] = "one side of this choice is a number, the other a vector of 2",
      ["return b[0] and rg.bvec3(c)"] =
        "'and' takes values of one shape, not a vector of 2 and a vector of 3",
    } do
      assert.equal(said, failure(run, text, true, rg.vec2(1, 2)).message)
    end
  end)
end)

describe("a field of vectors", function()
  it("stores numbers by component, in every layout", function()
    for _, layout in ipairs { "soa", "aos" } do
      local p, q = rg.field(rg.vec3), rg.field(rg.dvec2)
      local block = rg.root:pointer("i", 4)
      block:dense("i", 4, { layout = layout }):place(p, q)
      p[5] = { 1, 2, 3 }
      q[5] = rg.dvec2(0.1, 0.2)
      assert.same({ 1, 2, 3 }, numbers(p[5]))
      assert.same({ 0.1, 0.2 }, numbers(q[5]))
      assert.same({ 0, 0, 0 }, numbers(p[0]))
      rg.kernel([=[function()
        for i in p:active() do
          p[i] = p[i] * 2 + q[i].x
          q[i].y = q[i].y + i
        end
      end]=], { p = p, q = q })()
      assert.same({ 0, 4 }, numbers(q[4]))
      assert.near(2.1, p[5].x, 1e-6)
      assert.equal(5.2, q[5].y)
    end
  end)

  it("is updated as a whole and by component, by many iterations", function()
    local v = rg.field(rg.ivec3, 2)
    rg.kernel([=[function()
      for i in rg.range(1000) do
        v[0] = v[0] + rg.ivec3(1, i, 2)
        v[1].y = v[1].y + 3
        v[1].zx += 1
        v[1][i % 3] += 1000
      end
    end]=], { v = v })()
    assert.same({ 1000, 499500, 2000 }, numbers(v[0]))
    assert.same({ 335000, 336000, 334000 }, numbers(v[1]))
  end)

  it("gives the old value of an update", function()
    local v = rg.field(rg.ivec2, 2)
    rg.kernel("function() v[1] = v:add(0, rg.ivec2(3, 4)) + 1 end", { v = v })()
    assert.same({ 3, 4 }, numbers(v[0]))
    assert.same({ 1, 1 }, numbers(v[1]))
  end)

  it("is filled, copied, and goes to tables and back", function()
    local v, w = rg.field(rg.vec2, 2, 2), rg.field(rg.dvec2, 2, 2)
    v:fill({ 1, 2 })
    v:set(1, 0, { 3, 4 })
    w:copy_from(v)
    assert.same({ 3, 4 }, numbers(w:get(1, 0)))
    assert.same({ 1, 2 }, numbers(w[1][1]))
    local t = w:to_table()
    assert.same({ 3, 4 }, numbers(t[2][1]))
    t[1][2] = { 7, 8 }
    v:from_table(t)
    assert.same({ 7, 8 }, numbers(v[0][1]))
    assert.equal(rg.vec2, v.type)
    local seen = 0
    for i, j, x in pairs(v) do seen = seen + (i * 2 + j) * x.y end
    assert.equal(8 + 2 * 4 + 3 * 2, seen)
  end)

  it("keeps a vector together where it has a shape of its own #compiled #cpu", function()
    local v = rg.field(rg.vec2, 3)
    v[1] = { 5, 6 }
    local p = v:pointer()
    assert.equal(5, p[2])
    assert.equal(6, p[3])
  end)

  it("refuses what does not fit", function()
    local v = rg.field(rg.vec2, 3)
    local f = failure(function() v[1].y = 3 end)
    assert.equal("'y' cannot be set: a vector outside a kernel is a copy that does not change",
      f.message)
    assert.equal("write the whole element: x[i] = rg.vec2(..)", f.hint)
    assert.equal("value.fit", failure(function() v[1] = 3 end).code)
    assert.equal("value.fit", failure(function() v[1] = rg.vec3(1) end).code)
    assert.equal("argument.invalid", failure(function() v[1] = { 1, 2, 3 } end).code)
    assert.equal("value.fit", failure(function() rg.field(rg.ivec2, 1)[0] = rg.vec2(0.5) end).code)
  end)
end)

describe("a vector in a kernel", function()
  it("has a length, and ipairs over it is unrolled, with the vector computed once", function()
    local v = rg.field(rg.vec3, 2)
    v[1] = { 2, 3, 5 }
    local k = rg.kernel([=[function(w, m)
      local s, t, u = 0.0, 1.0, 0.0
      for k, e in ipairs(v[1]) do
        v[1] = rg.vec3(0, 0, 0)
        s = s + e * k
      end
      for _, e in ipairs(w) do
        if e > 10 then break end
        t = t * e
      end
      for r, row in ipairs(m) do
        for _, e in ipairs(row) do u = u + r * e end
      end
      return s, t, u, #w + 10 * #v[1] + 100 * #m
    end]=], { v = v })
    assert.same({ 2 + 6 + 15, 6, 1 + 2 + 6 + 8, 234 }, { k(rg.vec4(2, 3, 11, 100),
      rg.mat2(1, 2, 3, 4)) })
    for i = 0, 1 do v[i] = { 1, 2, 3 } end
    rg.kernel([=[function()
      for i in v:active() do
        for k, e in ipairs(v[i]) do v[i][k - 1] = e * k end
      end
    end]=], { v = v })()
    assert.equal(rg.vec3(1, 4, 9), v[1])
  end)
end)

describe("a matrix", function()
  local m = rg.mat2 { { 1, 2 }, { 3, 4 } }

  it("is indexed by row, then by column", function()
    assert.equal(3, m[1][0])
    assert.equal(3, number_of("m[1][0]", { m = m }))
    assert.same({ 3, 4 }, computed(rg.vec2, "m[1]", { m = m }))
    assert.equal(4, number_of("m[k][k]", { m = m, k = 1 }))
    assert.same({ 1, 2, 3, 4 }, computed(rg.mat2, "rg.mat2(1, 2, 3, 4)"))
    assert.same({ 1, 2, 3, 4 }, computed(rg.mat2, "rg.mat2{{1, 2}, {3, 4}}"))
    assert.same({ 7, 0, 0, 7 }, computed(rg.mat2, "rg.mat2(7)"))
  end)

  it("multiplies as linear algebra", function()
    local c = { m = m, v = rg.vec2(5, 6), w = rg.mat(2, 3, rg.f32)(1, 2, 3, 4, 5, 6) }
    assert.same({ 17, 39 }, computed(rg.vec2, "m * v", c))
    assert.same({ 23, 34 }, computed(rg.vec2, "v * m", c))
    assert.same({ 7, 10, 15, 22 }, computed(rg.mat2, "m * m", c))
    assert.same({ 9, 12, 15, 19, 26, 33 }, computed(rg.mat(2, 3, rg.f32), "m * w", c))
    assert.same({ 2, 4, 6, 8 }, computed(rg.mat2, "m * 2", c))
    assert.same({ 2, 4, 6, 8 }, computed(rg.mat2, "m + m", c))
  end)

  it("has transpose, trace, determinant, inverse and outer products", function()
    local c = { m = m, n = rg.mat3(2, 0, 1, 0, 3, 0, 1, 0, 4) }
    assert.same({ 1, 3, 2, 4 }, computed(rg.mat2, "m:transpose()", c))
    assert.equal(5, number_of("rg.trace(m)", c))
    assert.equal(-2, number_of("m:determinant()", c))
    assert.equal(21, number_of("n:determinant()", c))
    assert.same({ -2, 1, 1.5, -0.5 }, computed(rg.mat2, "rg.inverse(m)", c))
    assert.same({ 3, 4, 6, 8 }, computed(rg.mat2, "rg.outer(rg.vec2(1, 2), rg.vec2(3, 4))"))
    local identity = computed(rg.mat3, "n * n:inverse()", c)
    for k = 1, 9 do assert.near((k - 1) % 4 == 0 and 1 or 0, identity[k], 1e-6) end
    local four = rg.mat4(2, 1, 0, 0, 1, 3, 0, 1, 0, 0, 1, 2, 4, 0, 1, 1)
    assert.equal(-1, four:determinant())
    assert.equal(-1, number_of("four:determinant()", { four = four }))
    local one = computed(rg.mat4, "four * four:inverse()", { four = four })
    for k = 1, 16 do assert.near((k - 1) % 5 == 0 and 1 or 0, one[k], 1e-5) end
  end)

  it("is an element whose numbers and rows can be written and updated", function()
    local x = rg.field(rg.mat2, 2)
    x[0] = { { 1, 2 }, { 3, 4 } }
    rg.kernel([=[function()
      for i in rg.range(10) do
        x[1] = x[1] + rg.mat2(1, 0, 0, 2)
        x[0][1][0] = x[0][1][0] + 1
      end
      x[0][0] = rg.vec2(9, 8)
    end]=], { x = x })()
    assert.same({ 10, 0, 0, 20 }, numbers(x[1]))
    assert.same({ 9, 8, 13, 4 }, numbers(x[0]))
  end)
end)

describe("a vector in Lua", function()
  it("is accepted by rg.math, whose functions are those of math in kernels", function()
    local math = rg.math
    local v = rg.vec3(1.5, -4, 9)
    assert.equal(rg.vec3(1.5, 4, 9), math.abs(v))
    assert.equal(rg.ivec3(1, -4, 9), math.floor(v))
    assert.equal(rg.ivec3(2, -4, 9), math.ceil(v))
    assert.equal(rg.vec3(2, 2, 9), math.max(v, 2))
    assert.equal(rg.vec3(0, -4, 0), math.min(v, rg.vec3(0)))
    assert.equal(rg.vec2(2, 3), math.sqrt(rg.ivec2(4, 9)))
    assert.equal(rg.vec2(8, 9), math.pow(rg.vec2(2, 3), rg.vec2(3, 2)))
    assert.equal(rg.vec(2, rg.i64)(5, 3), math.abs(rg.vec(2, rg.i64)(-5, 3)))
    assert.equal(rg.mat2(1, 2, 0, 3), math.abs(rg.mat2(-1, 2, 0, -3)))
    assert.same({ 3, 5, _G.math.pi }, { math.abs(-3), math.max(1, 5, 2), math.pi })
    local function both(a) return math.sqrt(math.abs(a)) + math.max(a, 0) end
    local k = rg.kernel(function(a) return both(a), rg.math.floor(a) end)
    assert.same({ both(rg.vec2(4, -9)), rg.ivec2(4, -9) }, { k(rg.vec2(4, -9)) })
    assert.equal(both(-4), (k(-4)))
    assert.truthy(failure(math.max, v, "x").message:find("numbers and vectors", 1, true))
    assert.truthy(failure(math.fmod, v, rg.vec2(1)).message:find("one shape", 1, true))
  end)

  it("of booleans gives components that are false by name, too", function()
    local v = rg.bvec2(true, false)
    assert.is_true(v.x)
    assert.is_false(v.y)
    assert.is_false(v.g)
    assert.equal(rg.bvec2(false, true), v.yx)
  end)
  it("is walked from 0 by pairs, and cannot be ordered", function()
    local seen = {}
    for k, number in pairs(rg.vec3(5, 6, 7)) do seen[#seen + 1] = k * 100 + number end
    assert.same({ 5, 106, 207 }, seen)
    for k, row in pairs(rg.mat2(1, 2, 3, 4)) do seen[k + 1] = row end
    assert.same({ rg.vec2(1, 2), rg.vec2(3, 4) }, { seen[1], seen[2] })
    assert.equal(3, #rg.vec3(0))
    assert.truthy(failure(ipairs, rg.vec2(1)).message:find("from 0", 1, true))
    assert.truthy(failure(function() return rg.vec2(1) < rg.vec2(2) end).message:find "no order")
    assert.truthy(failure(function() return rg.vec2(1) <= 2 end).message:find "no order")
  end)

  it("has the operators and functions that kernels have", function()
    local a, b = rg.vec3(1, 2, 3), rg.vec3(4, 5, 6)
    assert.same({ 5, 7, 9 }, numbers(a + b))
    assert.same({ 3, 6, 9 }, numbers(3 * a))
    assert.same({ 0.5, 1 }, numbers(rg.ivec2(1, 2) / 2))
    assert.equal(32, a:dot(b))
    assert.same({ -3, 6, -3 }, numbers(rg.cross(a, b)))
    assert.same({ 3, 1 }, numbers(a.zx))
    assert.equal("vec3(1, 2, 3)", tostring(a))
    assert.equal(3, #a)
    assert.is_true(a == rg.vec3(1, 2, 3))
    assert.is_false(a == b)
    assert.equal("dvec2(0.5, 2)", tostring(rg.mix(rg.dvec2(0, 1), rg.dvec2(1, 3), 0.5)))
    assert.equal("vec(5,f64)", tostring(rg.vec(5, rg.f64)))
    assert.equal(rg.vec3, rg.vec(3, rg.f32))
  end)

  it("of floats computes as kernels do, to the last bit", function()
    local function all(a, b, s)
      return a + b, a - b, a * b, a / b, s + a, a + s, s - a, a - s, s * a, a * s, s / a, a / s, -a
    end
    local k = rg.kernel(all)
    for _, t in ipairs { rg.vec2, rg.vec3, rg.vec4, rg.dvec2, rg.dvec3, rg.dvec4 } do
      local low, high = {}, {}
      for n = 1, #t(0) do low[n], high[n] = 0.1 * n, 7 / n - 1e5 end
      local a, b = t(unpack(low)), t(unpack(high))
      assert.same({ all(a, b, 0.75) }, { k(a, b, 0.75) })
      assert.equal(t(low), a)
      assert.equal(a[#a - 1], numbers(a)[#a])
    end
    assert.equal(rg.vec2(0.75), rg.vec2(0.75, 0.75))
    assert.equal(rg.dvec2(2, 3), rg.vec2(1, 2) + rg.dvec2(1))
    assert.equal(rg.vec2(5, 10), 5LL * rg.vec2(1, 2))
    assert.equal(rg.vec2(1, 2), rg.vec2(rg.ivec2(1, 2)))
  end)

  it("keeps 64-bit integers exact", function()
    local t = rg.vec(2, rg.i64)
    local x = rg.field(t, 1)
    x[0] = t(9007199254740993LL, -1)
    rg.kernel("function() x[0] = x[0] + 1 end", { x = x })()
    assert.is_true(x[0].x == 9007199254740994LL)
    assert.is_true(x[0].y == 0LL)
    assert.is_true(x:to_table()[1].x == 9007199254740994LL)
  end)

  it("reports mistakes", function()
    assert.equal("a vec2 has no 'z'", failure(function() return rg.vec2(1).z end).message)
    assert.equal("index.range", failure(function() return rg.vec2(1)[2] end).code)
    assert.equal("a vector or matrix has 2 to 64 numbers", failure(rg.vec, 65, rg.f32).message)
    assert.equal("rg.vec2 is made of 2 numbers, or of one, not of 3",
      failure(rg.vec2, 1, 2, 3).message)
  end)
end)

describe("compound assignment", function()
  local function result(text, captures, ...) return rg.kernel(text, captures)(...) end

  it("works component by component, on vectors and matrices", function()
    assert.is_true(rg.vec2(4, 6.25) == result [[function()
      local v = rg.vec2(3, 4) v /= 4 v += 1.25 v -= rg.vec2(0, -0.25) v *= v
      return v end]])
    assert.is_true(rg.ivec3(2, -1, 0) == result [[function()
      local v = rg.ivec3(7, -8, 9) v //= 4 v <<= 1 v %= 3 v -= rg.ivec3(0, 3, 1)
      return v end]])
    assert.is_true(rg.mat2(0.5, 2, 2.5, 2) == result [[function()
      local m = rg.mat2(1, 2, 3, 4) m *= 2 m /= 4 m += 1 m -= rg.mat2(1)
      return m end]])
  end)

  it("with a matrix is linear algebra", function()
    assert.is_true(rg.mat2(2, 1, 4,
      3) == result "function() local m = rg.mat2(1, 2, 3, 4) m *= rg.mat2(0, 1, 1, 0) return m end")
    assert.is_true(rg.vec2(2, 1) == result "function() local v = rg.vec2(1, 2) v *= rg.mat2(0, \z
      1, 1, 0) return v end")
    local m = rg.field(rg.mat2, 2)
    m[1] = { { 1, 2 }, { 3, 4 } }
    rg.kernel("function(k) m[1] *= rg.mat2(0, 1, 1, 0) m[1][k] *= rg.mat2(2, 0, 0, 10) end",
      { m = m })(1)
    assert.is_true(m[1] == rg.mat2(2, 1, 8, 30))
  end)

  it("works on components", function()
    assert.is_true(rg.ivec3(3, -30, 10) == result [[function()
      local v = rg.ivec3(7, -8, 9) v.x //= 2 v.zy += rg.ivec2(1, 2) v[1] *= 5
      return v end]])
    local m = rg.field(rg.mat2, 1)
    m[0] = { { 1, 2 }, { 3, 4 } }
    rg.kernel("function(k, l) m[0][k][l] += 10 m[0][k][1] *= 2 m[0][1].x -= 1 end", { m = m })(0, 1)
    assert.is_true(m[0] == rg.mat2(1, 24, 2, 4))
  end)
end)

describe("a write of a vector outside a shape", function()
  local forms = { -- writes of twenty elements, four of which exist
    "t[i] = rg.vec3(1, 2, 3)", "t[i] = t[i] + rg.vec3(1, 2, 3)", "t[i] += rg.vec3(1, 2, 3)",
    "t[i] = math.max(t[i], rg.vec3(i))", "t[i] = 0.5 * t[i] + rg.vec3(i)", "t[i].x = 1",
    "t[i].xz = rg.vec2(1)", "t[i][i % 3] = 1", "t[i][1] += 1",
    "if i % 2 == 0 then t[i] = rg.vec3(1) else t[i] -= rg.vec3(2) end",
  }
  it("is counted once, whatever its form", function()
    local loose = rg.field(rg.vec3)
    rg.root:pointer("i", 1):dense("i", 4):place(loose)
    for _, t in ipairs { rg.field(rg.vec3, 4), loose, rg.array(rg.vec3, 4) } do
      for _, form in ipairs(forms) do
        for _, mode in ipairs { "", ":serial()" } do
          local text = ("function() for i in rg.range(20)%s do %s end end"):format(mode, form)
          local k = rg.kernel(text, { t = t })
          local before = rg.stats().out_of_range
          k()
          assert.equal(16, rg.stats().out_of_range - before, form)
        end
      end
    end
  end)
end)

describe("unpack in a kernel", function()
  it("gives the numbers of a vector, the rows of a matrix, the items of a table", function()
    local t, list = { 4, 5 }, { rg.vec2(1, 2), rg.vec2(3, 4) }
    local function product(a, b, c) return a * b * c end
    local k = rg.kernel(function(v, m)
      local a, b, c = unpack(v)
      local first, second = unpack(m)
      local p, q = unpack(t)
      local written = { 7, 8 }
      local _, s = unpack(list)
      local _, eight = unpack(written)
      return a + 10 * b + 100 * c, first, second.y, p * q, s.y, eight, product(unpack(v)),
        unpack(t)
    end)
    assert.same({ 321, rg.vec2(1, 2), 4, 20, 4, 8, 6, 4, 5 },
      { k(rg.vec3(1, 2, 3), rg.mat2(1, 2, 3, 4)) })
    local x = rg.field(rg.i32, 3)
    local y = rg.field { type = rg.i32, shape = { 5, 7 }, offset = { 1, 2 } }
    assert.same({ 3, 5, 7, 7, 5, 1, 2, 3 }, { rg.kernel([[function()
      local n, m = unpack(y.shape)
      local m2, n2 = unpack(y.shape.yx)
      local from, too = unpack(y.offset)
      return unpack(x.shape), n, m, m2, n2, from, too, #x
    end]], { x = x, y = y, unpack = unpack })() })
    for text, message in pairs {
      ["unpack(1)"] = "'unpack' takes a vector, a matrix, a shape or a table",
      ["unpack(v, 2)"] = "'unpack' takes a vector, a matrix, a shape or a table",
      ["unpack(t)"] = "'unpack' returns 1 to 64 values, but here there are 0" } do
      local err = failure(rg.kernel("function(v) return " .. text .. " end", { t = {} }),
        rg.vec2(0))
      assert.truthy(err.message:find(message, 1, true), err.message)
    end
  end)
end)
