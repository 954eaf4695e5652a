--- Behaviours that programs written for Taichi rely on, one row each: the body of a kernel, and its
--- result.
local support = require "support"
local rg = support.rg

local S = rg.struct({ { "a", rg.i32 }, { "v", rg.vec2 } }, {
  methods = { length = function(self) return self.a + self.v:norm() end },
})
local Line = rg.struct{ { "from", S }, { "to", S }, { "on", rg.bool } }

-- name, body, results ..
local bodies = {
  { "values are swapped", "local a, b = 0, 1 for i = 1, 10 do a, b = b, a + b end return a", 55 },
  { "numbers are counted down", "local s = 0 for i = 10, 1, -3 do s = s + i end return s", 22 },
  { "a loop steps by a fraction", "local s = 0.0 for x = 0, 1, 0.25 do s += x end return s", 2.5 },
  { "ranges begin below zero",
    "local s = 0 for i, j in rg.range({-2, 2}, {-2, 2}) do s = s + i * j end return s", 4 },
  { "comparisons are chained by and", "const a = 2 return 1 < a and a <= 2, not (a ~= 2)", true,
    true },
  { "a while loop ends in its middle", [[local i, s = 0, 0 while true do i = i + 1
    if i > 10 then break end if i % 2 == 0 then goto continue end s = s + i ::continue:: end
    return s]], 25 },
  { "static loops over two axes", [[local m = rg.mat2(0)
    for j, k in rg.static(rg.range(2, 2)) do m[j][k] = j + 2 * k end return m[1][1], m[0][1] ]],
    3, 2 },
  { "a static break ends all iterations", [[local n = 0
    for i in rg.static(rg.range(5)) do n = n + 1 if rg.static(i == 2) then break end end
    return n]], 3 },
  { "an index of a local is computed, nested", [[local tmp = rg.ivec3(1, 2, 3)
    for i = 0, 2 do
      local vec = rg.ivec3(4, 5, 6)
      for j = 0, 2 do vec[tmp[i] % 3] = vec[tmp[i] % 3] + vec[j] end
      tmp[i] = vec[tmp[i] % 3]
    end
    return tmp]], rg.ivec3(24, 30, 19) },
  { "a temporary is indexed", "const i = 2 return rg.ivec3(0, 1, 7)[i]", 7 },
  { "rows are assigned", "local m = rg.mat3(0) m[1] = rg.vec3(1, 2, 3) return m[1][2], m[0][0]", 3,
    0 },
  { "a matrix has two indices in a text", [[local m = rg.mat2(1, 2, 3, 4) m[0, 1] = 7
    m[1, 1] += m[0, 1] return m[1, 1], m[0, 1] ]], 11, 7 },
  { "a matrix times its transpose", [[local a = rg.mat(2, 3, rg.f32){{1, 2, 3}, {4, 5, 6}}
    local b = a * a:transpose() return b[0][1], b[1][1] ]], 32, 77 },
  { "bits of a matrix's numbers", [[local x = rg.mat(2, 2, rg.i32){{1, 2}, {3, 4}}
    local t = 1 << x local u = 1 + (x // 2) return t[1][1], u[1][0], (x | 8)[0][1] ]], 16, 2, 10 },
  { "functions of math take matrices", [[local m = math.sqrt(math.exp(rg.mat2(3, 4, 5, 6)))
    return math.floor(m[1][0] * 1000)]], 12182 },
  { "choices by a condition", "const i = 3 return rg.select(i % 2 == 1, rg.ivec2(3), rg.ivec2(5))",
    rg.ivec2(3) },
  { "swizzles are assigned", [[local v = rg.vec4(0) v.xy = rg.vec2(1, 2) v.wz = rg.vec2(3, 4)
    v.rg = v.gr return v]], rg.vec4(2, 1, 4, 3) },
  { "all of a vector is within bounds",
    "const v = rg.vec2(0.5, 1) return rg.all(v >= 0) and rg.all(v <= 1), rg.any(v > 2)", true,
    false },
  { "conversions drop the fraction", "return rg.i32(-3.9), rg.u8(300), rg.bool(3), rg.i32(2 > 1)",
    -3, 44, true, 1 },
  { "shifts are arithmetic or logical",
    "const a: i32, b: u32 = -8, 0xfffffff0 return bit.arshift(a, 1), b >> 1", -4, 0x7ffffff8 },
  { "integers wrap, and divide downwards", "const n = 2147483647 return n + 1, -7 // 2, -7 % 3",
    -2147483648, -4, 2 },
  { "functions of mixed types", "const a: i32 = 2 return math.floor(1000 * math.atan2(a, 1))",
    1107 },
  { "a struct in a struct", [[local l = Line{from = {a = 1, v = {3, 4}}, on = true}
    l.to = l.from l.to.v.x += 1 l.from.a = 7
    return l.to.v, l.from:length(), l.on, l.to == l.from]], rg.vec2(4, 4), 12, true, false },
  { "a struct is a copy", [[local a = S(2, {1, 1}) local b = a b.a = 5 return a.a, b.a]], 2, 5 },
  { "structs are chosen", "const c = 1 local s = c > 0 and S(5) or S(7) return s.a", 5 },
  { "a struct's members are parameters", [[local function f(s: S, k) return s.a * k end
    return f({a = 3}, 4), f(S(5), 2)]], 12, 10 },
  { "a helper returns early out of a loop", [[local function sum_to(a)
      local s = 0
      for i = 0, 99 do if i == a + 1 then return s end s = s + i end
      return s
    end return sum_to(10), sum_to(200)]], 55, 4950 },
  { "a vector passed is a copy", [[local function change(v) v[0] = 100 return v.x end
    local x = rg.vec3(3, 4, 5) x[0] = 20 local y = change(x) return x.x, y]], 20, 100 },
  { "queens are counted by recursion", [[
    local function place(row: i32, cols: u32, left: u32, right: u32): i32
      if row == 6 then return 1 end
      local total: i32 = 0
      local free: u32 = ~(cols | left | right) & 63
      while free ~= 0 do
        const b: u32 = free & -free
        free = free & (free - 1)
        total += place(row + 1, cols | b, (left | b) << 1, (right | b) >> 1)
      end
      return total
    end return place(0, 0, 0, 0)]], 4 },
  { "all reductions in one loop", [[
    local s, p, low, high, b, any, all = 0, 1.0, 1e9, -1e9, 0, false, true
    for i in rg.range({1, 11}) do
      s += i p *= i low = math.min(low, i) high = math.max(high, i) b = b | i
      any = any or i == 5 all = all and i < 20
    end return s, p, low, high, b, any, all]], 55, 3628800, 1, 10, 15, true, true },
  { "the place of the least element, in order", [[local best, at = math.huge, 0
    for i in rg.range(100):serial() do
      const d = math.abs(i - 42)
      if d < best then best, at = d, i end
    end return at]], 42 },
}

describe("a program written for Taichi works as a kernel:", function()
  for _, row in ipairs(bodies) do
    it(row[1], function()
      local k = rg.kernel("function() " .. row[2] .. " end", { rg = rg, S = S, Line = Line })
      assert.same({ unpack(row, 3) }, { k() })
    end)
  end

  it("one kernel is for fields and arrays of any type, and for hooks", function()
    local k = rg.kernel(function(x, hook)
      local T = x.type
      for i in rg.range(#x) do
        if rg.static(x.type == rg.vec3) then x[i] = T(i) else x[i] = T(2 * i) end
        hook(x, i)
      end
    end)
    local v, f, b = rg.field(rg.vec3, 4), rg.array(rg.f64, 4), rg.field(rg.u8, 4)
    for _, x in ipairs { v, f, b } do k(x, function(y, i) y[i] = y[i] + y.type(1) end) end
    assert.same({ rg.vec3(4), 7, 7 }, { v[3], f[3], b[3] })
  end)

  it("objects inherit what their kernels call", function()
    local Base = {}
    Base.__index = Base
    function Base.new(class, n)
      return setmetatable({ n = n, x = rg.field(rg.i32, n) }, class)
    end
    Base.fill = rg.kernel(function(self)
      for i in rg.range(self.n) do self.x[i] = self:value(i) end
    end)
    function Base:value(i) return i + self.n end
    local Derived = setmetatable({}, { __index = Base })
    Derived.__index = Derived
    function Derived:value(i) return i * 2 + self.n end
    local a, b = Base:new(4), Base.new(Derived, 5)
    a:fill()
    b:fill()
    assert.same({ 7, 11 }, { a.x[3], b.x[3] })
  end)

  it("neighbours by a list of steps", function()
    local f, g = rg.field(rg.f32, 8, 8, 8), rg.field(rg.f32, 8, 8, 8)
    local steps = { rg.ivec3(1, 0, 0), rg.ivec3(-1, 0, 0), rg.ivec3(0, 1, 0), rg.ivec3(0, -1, 0),
      rg.ivec3(0, 0, 1), rg.ivec3(0, 0, -1) }
    f[4][4][4] = 6
    rg.kernel(function()
      for I in f:active():vec() do
        local s = 0.0
        for k = 1, #steps do s = s + f[I + steps[k]] end
        g[I] = s / 6
      end
    end)()
    assert.same({ 1, 0 }, { g[3][4][4], g[4][4][4] })
  end)

  it("a search spreads over a grid, by atomic claims and an atomic count", function()
    local n = 24
    local wall, dist = rg.field(rg.bool, n, n), rg.field(rg.i32, n, n)
    local from, to = rg.array(rg.ivec2, n * n), rg.array(rg.ivec2, n * n)
    local count = rg.field{ type = rg.i32, shape = {} }
    local moves = { rg.ivec2(1, 0), rg.ivec2(-1, 0), rg.ivec2(0, 1), rg.ivec2(0, -1) }
    for i = 0, n - 1 do
      for j = 0, n - 1 do wall[i][j] = (i * 7 + j * 13) % 4 == 3 and i + j > 0 end
    end
    local expand = rg.kernel(function(here, there, size, level)
      count:fill(0)
      for q in rg.range(size) do
        for d = 1, #moves do
          local c = here[q] + moves[d]
          if rg.all(c >= 0) and rg.all(c < n) and not wall[c] then
            if dist:compare_exchange(c, -1, level) == -1 then there[count:add(0, 1)] = c end
          end
        end
      end
      return count[0]
    end)
    dist:fill(-1)
    dist[0][0], from[0] = 0, { 0, 0 }
    local size, level = 1, 0
    while size > 0 do
      level = level + 1
      size = expand(from, to, size, level)
      from, to = to, from
    end
    local known, queue, head = { [0] = 0 }, { { 0, 0 } }, 1
    while queue[head] do
      local p = queue[head]
      head = head + 1
      for _, d in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do
        local i, j = p[1] + d[1], p[2] + d[2]
        if i >= 0 and j >= 0 and i < n and j < n and not wall[i][j] and not known[i * n + j] then
          known[i * n + j] = known[p[1] * n + p[2]] + 1
          queue[#queue + 1] = { i, j }
        end
      end
    end
    for i, j, d in pairs(dist) do assert.equal(known[i * n + j] or -1, d) end
  end)
end)
