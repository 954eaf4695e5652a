--- Iterations that run in lanes have the same results as one after another, to the last bit: every
--- construct under conditions that differ by iteration, at lengths around a vector's, with guard
--- pages after each field.
local support = require "support"
local rg, with_stress = support.rg, support.with_stress

-- Bodies of a loop over i, below n. x: f32, z: i32, d: f64, b: u8, v: vec3 are read; y: f32,
-- c: i32, e: f64, h: u8, w: vec3, t: an i32 that all iterations share are written.
local bodies = {
  ["an if"] = "if z[i] > 0 then y[i] = x[i] else c[i] = z[i] end",
  ["nested ifs"] = [=[if z[i] > 0 then
      if x[i] > 1 then y[i] = x[i] elseif x[i] > 0.5 then y[i] = 2 else y[i] = -x[i] end
      c[i] = 1
    elseif z[i] < -2 then c[i] = 2 end]=],
  ["variables under conditions"] = [=[local a, k = x[i], 0
    if z[i] > 1 then a = a * 2; k = k + 1 end
    if a > 1 then k = k + 2; if z[i] < 4 then a = a - 1 end end
    y[i] = a; c[i] = k]=],
  ["continue of the iteration"] = [=[if z[i] == 0 then continue end
    y[i] = x[i]
    if x[i] > 1 then c[i] = 3; continue end
    c[i] = z[i]]=],
  ["a while whose turns differ"] = [=[local a, k = x[i] * 9, 0
    while a > 0.5 do a = a * 0.5; k = k + 1 end
    y[i] = a; c[i] = k]=],
  ["a repeat"] = "local k = z[i]; repeat k = k + 3 until k > 7; c[i] = k",
  ["break and continue"] = [=[local k = 0
    for j = 0, 20 do
      if (j + i) % 3 == 0 then continue end
      if k > z[i] * 4 then break end
      k = k + j
    end
    c[i] = k]=],
  ["loops that differ in their ends"] = [=[local k = 0
    for j = z[i], z[i] * 2 + 3 do k = k + j end
    for j = 1, z[i] do k = k * 3 + j end
    for j = 5, z[i], -1 do k = k + 100 end
    for j = z[i], 9, z[i] do k = k - j end
    c[i] = k]=],
  ["loops over floats"] = [=[local a = 0.0
    for q = x[i], 2.5, 0.25 do a = a + q end
    for q = 2.0, x[i], -0.5 do a = a + 1 end
    y[i] = a]=],
  ["continue of an outer loop"] = [=[local k = 0
    for j = 1, 6 do
      local odd = (i + j) % 2
      for m = 1, 6 do
        if m * j > z[i] + 9 then break end
        if m == 4 and odd == 1 then k = k + 1000; break end
        k = k + m
      end
      if k > 5000 then break end
    end
    c[i] = k]=],
  ["conditions inside loops that all turn alike"] = [=[local a = 0.0
    for j = 0, 9 do
      if x[(i + j) % n] > 1 then a = a + x[(i * j) % n] else a = a - 0.5 end
    end
    y[i] = a]=],
  ["gathers and scatters"] = [=[local j = (i * 7 + 3) % n
    y[i] = x[j] + x[z[i]] + x[i - 1] + x[i + 1]
    c[(i + 5) % n] = z[j] + 0]=],
  ["places outside"] = "y[i + 2] = x[i - 3]; c[z[i] * 50 + i] = 1",
  ["narrow and wide numbers"] = [=[h[i] = b[i] * 3 + z[i]
    e[i] = d[i] * x[i] + b[i]
    if d[i] > 2 then e[i] = -d[i] end
    c[i] = rg.i32(d[i] * 1e9) ]=],
  ["integer division"] = [=[c[i] = z[i] // 3 + z[i] % 5 + 100 // z[i] + 100 % z[i]
    if z[i] ~= 0 then c[i] = c[i] + 7 // z[i] end]=],
  ["vectors"] = [=[local a = v[i]
    if a.x > a.y then a = a * 2 end
    w[i] = a + v[(i + 1) % n]
    y[i] = a.x + a.y * a.z]=],
  ["vector elements"] = "w[i].y = x[i]; if z[i] > 2 then w[i].x = 4 end; w[i].z = v[i].x",
  ["vectors of neighbours, and under conditions"] = [=[local a = v[i - 1] + v[i + 1]
    if z[i] > 0 then w[i] = a else w[i].y = v[i].z end
    y[i] = v[i].z - v[i + 1].x
    if x[i] > 1 then continue end
    w[i] = rg.vec3(w[i].z, a.y, 1)]=],
  ["math"] = [=[y[i] = math.sqrt(math.abs(x[i])) + math.floor(x[i] * 3) + math.max(x[i], 0.3)
    if z[i] > 0 then y[i] = y[i] + math.sin(x[i]) ^ 2 end]=],
  ["updates of shared elements"] = [=[t[0] = t[0] + z[i]
    if z[i] > 0 then t[1] = t[1] + 1 end
    t[2 + z[i] % 3] = t[2 + z[i] % 3] + i]=],
  ["updates whose old value is used"] = [=[if z[i] > 1 then
      local old = t:add(0, 1)
      if old >= 0 then c[i] = 1 end
    end]=],
  ["updates of what is read again"] = [=[t[z[i] % 3 + 4] = t[z[i] % 3 + 4] + 1
    if t[z[i] % 3 + 4] < 0 then c[i] = 5 end]=],
  ["plain updates"] = "y[i] = y[i] + x[i]; c[n - 1 - i] = c[n - 1 - i] + z[i]; h[i] = h[i] * 3",
  ["random numbers"] = "y[i] = rg.random(rg.f32); if z[i] > 0 then c[i] = rg.random(rg.u8) end",
  ["reductions"] = [=[s = s + z[i]
    if x[i] > 1 then m = math.max(m, z[i]); s = s - 1 end
    for j = 1, z[i] do s = s + j end]=],
  ["bools"] = [=[local yes, no = z[i] > 0, x[i] > 1
    if yes and not no or i % 5 == 0 then yes = no end
    c[i] = (yes and 1 or 0) + (no and 2 or 0)]=],
  ["i64 and u32"] = [=[local big = rg.i64(z[i]) * 5000000000
    if big > 0 then big = big // 7 end
    c[i] = rg.i32(big % 1000003) + rg.i32(rg.u32(z[i]) % 1000)]=],
}

local function fields(n)
  local f = {
    x = rg.field(rg.f32, n), z = rg.field(rg.i32, n), d = rg.field(rg.f64, n),
    b = rg.field(rg.u8, n), v = rg.field(rg.vec3, n), y = rg.field(rg.f32, n),
    c = rg.field(rg.i32, n), e = rg.field(rg.f64, n), h = rg.field(rg.u8, n),
    w = rg.field(rg.vec3, n), t = rg.field(rg.i32, 8),
  }
  for i = 0, n - 1 do
    f.x[i] = i * 37 % 101 / 40
    f.z[i] = (i * 29 + 3) % 13 - 5
    f.d[i] = i * 53 % 17 / 3
    f.b[i] = i * 91 % 256
    f.v[i] = rg.vec3(i % 3, i * 5 % 7 / 2, -i)
  end
  return f
end

local names = { "x", "z", "d", "b", "v", "y", "c", "e", "h", "w", "t" }

-- Returns the contents of all fields after a launch, as text.
local function outcome(body, n)
  rg.seed(5)
  local f, args = fields(n), {}
  for k, name in ipairs(names) do args[k] = f[name] end
  local k = rg.kernel(("function(n, %s)\n local s, m = 0, -99\n for i in rg.range(n) do\n%s\n end\n"
    .. " return s, m\nend"):format(table.concat(names, ", "), body))
  local s, m = k(n, unpack(args))
  local parts = { ("%d %d"):format(s, m) }
  for _, name in ipairs(names) do
    local last = name == "t" and 7 or n - 1
    for i = 0, last do
      local value = f[name][i]
      parts[#parts + 1] = name .. i .. "=" ..
        ((name == "v" or name == "w") and ("%.17g %.17g %.17g"):format(value.x, value.y, value.z)
          or ("%.17g"):format(tonumber(value)))
    end
  end
  return table.concat(parts, "\n")
end

describe("vectorised iterations #compiled", function()
  for name, body in pairs(bodies) do
    it("do " .. name .. " as one by one", function()
      for _, n in ipairs { 1, 15, 16, 17, 100 } do
        local without = with_stress("guard_pages", function() return outcome(body, n) end)
        local beside = with_stress("guard_pages,force_lanes", function()
          return outcome(body, n)
        end)
        assert.equal(without, beside)
      end
    end)
  end
end)

-- Bodies in which every second position has an effect, and others that look similar.
-- a, f: read; b: written; a is also updated from its neighbours of the other colour.
local every_second = {
  red_black = { [=[if (i + j) % 2 == colour then
      a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] - f[i][j])
    end]=], true },
  unequal = { "if i % 2 ~= j % 2 then b[i][j] = math.sqrt(a[i][j]) / f[i][j] end", true },
  bits = { [=[if f[i][j] > 2 then
      if bit.band(3 * j - i, 1) == colour then b[i][j] = a[i][j + 1] / (f[i][j] + j) end
    end]=], true },
  ["after sums"] = { [=[local s = 0.0
    for k = 0, i % 3 do s = s + a[i][(j + k) % m] end
    if s > 3 and (i + j + colour) % 2 == 0 and f[i][j] < 5 then
      b[i][j] = s / f[i][j]
    end]=], true },
  columns = { "if j % 2 == colour and f[i][j] > 1 then b[i][j] = a[j % n][i % m] / 3 end", true },
  rows = { "if i % 2 == colour then b[i][j] = a[i][j] / f[i][j] end", false },
  ["either colour"] = { "if (i + j) % 2 ~= colour then b[i][j] = a[i][j] / f[i][j] end", false },
  otherwise = { [=[if (i + j) % 2 == colour then b[i][j] = a[i][j] / f[i][j]
    else b[i][j] = f[i][j] / 3 end]=], false },
  alternatives = { [=[if f[i][j] > 3 or (i + j) % 2 == colour then
      b[i][j] = a[i][j] / 3
    end]=], false },
}

local function second_outcome(body, type, n, m, border, colour)
  local a, b, f = rg.field(type, n, m), rg.field(type, n, m), rg.field(type, n, m)
  rg.kernel(function()
    for i, j in rg.range(n, m) do
      a[i][j] = (i * 7 + j * 3) % 11
      b[i][j] = -1
      f[i][j] = (i + j * 5) % 7
    end
  end)()
  local sweep = rg.kernel(([=[function(a, b, f, n, m, border, colour)
    for i, j in rg.range({ border, n - border }, { border, m - border }) do
      %s
    end
  end]=]):format(body))
  sweep(a, b, f, n, m, border, colour)
  local parts = {}
  for i = 0, n - 1 do
    for j = 0, m - 1 do parts[#parts + 1] = ("%g %g"):format(a[i][j], b[i][j]) end
  end
  return table.concat(parts, " "), sweep:explain()
end

describe("loops of every second position in lanes #compiled #cpu", function()
  local sizes = { { 5, 7 }, { 4, 33 }, { 3, 70 }, { 2, 400 } }
  for name, case in pairs(every_second) do
    it("give the same as scalar iterations: " .. name, function()
      for k, size in ipairs(sizes) do
        local type = k == 2 and rg.f64 or rg.f32
        for colour = -1, 2 do
          local n, m, border = size[1], size[2], colour % 2
          local without = with_stress("guard_pages", function()
            return (second_outcome(case[1], type, n, m, border, colour))
          end)
          local beside, notes = with_stress("guard_pages,force_lanes", function()
            return second_outcome(case[1], type, n, m, border, colour)
          end)
          assert.equal(without, beside)
          assert.equal(case[2], notes:find("of every second position", 1, true) ~= nil, notes)
        end
      end
    end)
  end

  it("are none where a row ends before the cells that a stencil reads from", function()
    for m = 1, 2 do
      local a = rg.field(rg.f32, 16, m)
      a:fill(1)
      rg.kernel(([=[function(a)
        for i, j in rg.range(16, %d) do
          if (3 * i + j) %% 2 ~= 0 then a[i][j] = a[i][j] * 2 + a[i][j + 3] end
        end
      end]=]):format(m))(a)
      for i = 0, 15 do
        for j = 0, m - 1 do assert.equal((i + j) % 2 + 1, a[i][j]) end
      end
    end
  end)
end)

-- Numbers of `aos` cells: whole vectors are transposed in registers. a: read, o: written, k[i]: i.
local cell_loops = {
  "o[i] = a[i] + a[i]",
  "o[i] = o[i] + a[i]; o[i] = o[i] + o[i]",
  "if i > 0 and i < n - 1 then o[i] = o[i] + a[i - 1] - 2 * a[i] + a[i + 1] end",
  [=[for q = 0, P - 1 do o[i][q] = a[i][(q + 1) % P] - o[i][q] end
    for q = 0, P - 2 do o[i][q + 1] = o[i][q] + a[i][q] end]=],
  [=[for q = 0, P - 1, 2 do o[i][q] = a[i][P - 1 - q] end
    if a[i][0] > 3 then o[i][1] = 5; o[i][P - 1] = o[i][0] + 6 end]=],
  "o[i][P - 1] = a[(i + 1) % n][0]; o[i][0] = a[i][P // 2]",
  "local j = (i * 7 + 3) % n; o[i] = o[i] + a[j]; o[i][0] = a[n - j - 1][1]",
  [=[local j = (i * 5 + 1) % n
    if a[i][1] > 3 then
      local x = a[j][P - 1] - a[j][P - 2]
      if a[j][0] > 2 then x = x + a[j][0] * a[j][1] + a[i * i % n][1] - a[i * i % n][0] end
      o[i][1] = x
    end]=],
  "o[i][0] = o[i][0] + 1; o[k[i]][0] = 3 * o[i][0]; o[i][1] = a[i][0]",
  [=[if a[i][0] > 4 then
      o[i] = o[i] - a[i]
      if a[i][1] > 2 then for q = 1, P - 1 do o[i][q] = o[i][q] + a[i][q - 1] end end
    else o[i][P - 1] = o[i][P - 1] + a[i][0] end]=],
}

local function cells_outcome(count, type, n)
  local cells = { type = rg.vec(count, type), shape = { n }, layout = "aos" }
  local a, o, k = rg.field(cells), rg.field(cells), rg.field(rg.i32, n)
  local text = { "function(a, o, k, n)" }
  for _, body in ipairs(cell_loops) do
    body = body:gsub("%f[%w]P%f[%W]", count)
    text[#text + 1] = ("for i in rg.range(n) do\n%s\nend"):format(body)
  end
  rg.kernel(function()
    for i in rg.range(n) do
      k[i] = i
      for q = 0, count - 1 do
        a[i][q] = (i * 7 + q * 3) % 11
        o[i][q] = (i + q) % 5
      end
    end
  end)()
  rg.kernel(table.concat(text, "\n") .. "\nend")(a, o, k, n)
  local parts = {}
  for i = 0, n - 1 do
    for q = 0, count - 1 do parts[#parts + 1] = ("%d:%d=%g"):format(i, q, o[i][q]) end
  end
  return table.concat(parts, " ")
end

describe("vectorised loops over interleaved cells #compiled", function()
  for name, counts in pairs { f32 = { 3, 4, 9 }, f64 = { 2, 5 }, i16 = { 8 } } do
    it("give the same as scalar iterations, with some numbers of " .. name, function()
      for _, count in ipairs(counts) do
        local n, type = 16 * 2 + count, rg[name]
        local without = with_stress("guard_pages", function()
          return cells_outcome(count, type, n)
        end)
        local beside = with_stress("guard_pages,force_lanes", function()
          return cells_outcome(count, type, n)
        end)
        assert.equal(without, beside, name .. " " .. count)
      end
    end)
  end
end)

describe("members of structs in vectorised loops #compiled", function()
  local function stored(n)
    local mixed = rg.struct { { "a", rg.f32 }, { "b", rg.i32 }, { "c", rg.vec2 }, { "d", rg.u32 } }
    local s = rg.field { type = mixed, shape = { n }, layout = "aos" }
    local t = rg.field { type = mixed, shape = { n }, layout = "aos" }
    rg.kernel(function()
      for i in rg.range(n) do s[i] = { a = i / 3, b = -i, c = rg.vec2(i, 0.1 * i), d = 7 * i } end
      for i in rg.range(n) do
        local from = s[(i * 7 + 2) % n]
        t[i] = { a = s[i].c.y, b = s[i].b - from.b, c = rg.vec2(from.a, s[i].a), d = from.d }
      end
    end)()
    local parts = {}
    for i = 0, n - 1 do
      local x = t[i]
      parts[#parts + 1] = ("%.9g %d %.9g %.9g %d"):format(x.a, x.b, x.c.x, x.c.y, x.d)
    end
    return table.concat(parts, " ")
  end

  it("are stored as by scalar iterations, whatever their types", function()
    for _, n in ipairs { 5, 40 } do
      local without = stored(n)
      assert.equal(without, with_stress("force_lanes", function() return stored(n) end))
    end
  end)
end)

describe("nodes that vectorised iterations need #compiled", function()
  local function visited(n)
    local x = support.sparse(rg.i32, "ij", 16, 4)
    local block = select(2, support.sparse(rg.i32, "i", 64, 8))
    rg.kernel(function()
      for i in rg.range(n) do
        local a = i * 37 % 61
        if i % 5 ~= 3 then
          for b = 0, 2 do
            x[a][i % 7 + b] = x[a][i % 7 + b] + i
            x[a + 1][i % 7 + b] = x[a + 1][i % 7 + b] + 1
          end
        end
        if i % 3 == 0 then block:activate(i % 64) end
      end
    end)()
    local parts = { tostring(block:count()) }
    for i, j in pairs(x) do parts[#parts + 1] = ("%d,%d=%d"):format(i, j, x[i][j]) end
    table.sort(parts)
    return table.concat(parts, " ")
  end

  it("are created by the iterations that need them, and by no others", function()
    for _, n in ipairs { 3, 16, 40, 300 } do
      local without = visited(n)
      assert.equal(without, with_stress("force_lanes", function() return visited(n) end))
    end
  end)
end)

describe("iterations outside the interior of a long body #compiled", function()
  -- A cloud that spreads over a grid: 9 updates around each particle, some beyond the edge.
  local function spread(count, n, beyond)
    local x, m = rg.field(rg.vec2, count), rg.field(rg.i32, n, n)
    for p = 0, count - 1 do x[p] = rg.vec2(p * 7 % 31 / 2 - 1, p * 5 % 23 / 1.5 - 1) end
    local all = count + beyond
    local k = rg.kernel(function()
      for p in rg.range(all) do
        local base = rg.floor(x[p])
        local f = x[p] - base
        local w = rg.vec3(0.5 * (1.5 - f.x) ^ 2, 0.75 - (f.x - 1) ^ 2, 0.5 * (f.x - 0.5) ^ 2)
        local u = rg.vec3(0.5 * (1.5 - f.y) ^ 2, 0.75 - (f.y - 1) ^ 2, 0.5 * (f.y - 0.5) ^ 2)
        for i = 0, 2 do
          for j = 0, 2 do
            local at = base + rg.ivec2(i, j)
            m[at] = m[at] + rg.i32(1000 * w[i] * u[j])
          end
        end
      end
    end)
    k()
    return k, m
  end

  it("run in scalar code, and give the same #cpu", function()
    for _, count in ipairs { 5, 45 } do
      for _, beyond in ipairs { 0, 21 } do
        local k, m = spread(count, 16, beyond)
        local others = with_stress("force_lanes", function()
          return select(2, spread(count, 16, beyond))
        end)
        for i = 0, 15 do
          for j = 0, 15 do assert.equal(others[i][j], m[i][j]) end
        end
        if not os.getenv "RG_STRESS" then assert.truthy(k:explain():find "in vector lanes") end
      end
    end
  end)
end)

describe("an element that all lanes update #compiled", function()
  local updates = {
    "t[0] = t[0] + z[i]", "t[0] = t[0] - z[i] * z[i]", "t[0] = math.max(t[0], z[i])",
    "t[0] = math.min(t[0], z[i])", "t:bor(0, z[i])", "t:bxor(0, z[i] * 77)", "t:band(0, z[i])",
    "if z[i] % 3 == 0 then t[0] = t[0] + i; t[1] = math.max(t[1], z[i]); y[i] = 1 end",
    "if z[i] > 1000 then t[0] = t[0] + 1; t[2] = t[2] + 1 end", "t[0] = t[0] + 3",
  }
  local function updated(text, of, n)
    local z, t, y = rg.field(of, n), rg.field(of, 4), rg.field(of, n)
    for i = 0, n - 1 do z[i] = i * 37 % 101 end
    if of == rg.f32 then z[n - 1] = 0 / 0 end
    t:fill(5)
    rg.kernel("function() for i in rg.range(n) do " .. text .. " end end",
      { n = n, z = z, t = t, y = y })()
    local parts = {}
    for k = 0, 3 do parts[#parts + 1] = tostring(t[k]) end
    for k = 0, n - 1 do parts[#parts + 1] = tostring(y[k]) end
    return table.concat(parts, " ")
  end

  it("gets the combined update of all of them", function()
    for _, of in ipairs { rg.i32, rg.u8, rg.i64, rg.f32 } do
      for k, text in ipairs(updates) do
        if of ~= rg.f32 or k == 3 or k == 4 then -- sums of floats have no order
          for _, n in ipairs { 5, 333 } do
            local alone = support.with_option("RG_WITHOUT", "lanes", function()
              return updated(text, of, n)
            end)
            assert.equal(alone, with_stress("force_lanes", function()
              return updated(text, of, n)
            end), text .. " " .. tostring(of))
          end
        end
      end
    end
  end)
end)

describe("non-temporal stores of vectors", function()
  -- rows of no whole number of lines, from an odd index on, of one number a cell and of three
  local function stored(make, of, put)
    local n, m = 7, 301
    local x, y = make(of, n, m), make(of, n, m)
    rg.kernel("function() for i, j in rg.range(n, m) do x[i][j] = " .. put .. " end end",
      { x = x, n = n, m = m })()
    rg.kernel([=[function()
      for i, j in rg.range({ 1, n - 1 }, { 3, m - 2 }) do
        y[i][j] = x[i - 1][j + 1] * 2 - x[i][j - 1]
      end
    end]=], { x = x, y = y, n = n, m = m })()
    local seen = {}
    for i = 0, n - 1 do
      for j = 0, m - 1 do seen[#seen + 1] = tostring(y[i][j]) end
    end
    return table.concat(seen, " ")
  end

  it("store what scalar iterations store, wherever rows begin", function()
    for _, make in ipairs { rg.field, rg.array } do
      for _, row in ipairs { { rg.f32, "i * 1000 + j" }, { rg.f64, "i * 1000 + j" },
        { rg.vec3, "rg.vec3(i, j, i - j)" }, { rg.vec4, "rg.vec4(i, j, i - j, 9)" } } do
        local alone = support.with_option("RG_WITHOUT", "lanes", function()
          return stored(make, row[1], row[2])
        end)
        assert.equal(alone, with_stress("force_lanes,force_streams", function()
          return stored(make, row[1], row[2])
        end), tostring(row[1]))
      end
    end
  end)
end)

describe("quotients, remainders and bits of the index", function()
  local n = 700
  local x, y, z = rg.field(rg.f32, n), rg.field(rg.f32, n), rg.field(rg.ivec3, n)
  for i = 0, n - 1 do x[i] = 3 * i + 1 end
  local run = rg.kernel(function(first, last, by, bits)
    for i in rg.range { first, last } do
      local q, r, b = math.floor(i / by), i % by, bit.bxor(i, bits)
      local row, column = math.floor(i / 32), i % 32
      y[i] = x[b] + 2 * x[q + r] + 4 * x[row + column]
      z[i] = rg.ivec3(q, r, row * 100 + column)
    end
  end)
  local function element(i) return i >= 0 and i < n and 3 * i + 1 or 0 end

  it("are those of each iteration, whether or not they are linear in the lanes", function()
    for _, ends in ipairs { { 0, n }, { 3, n - 3 }, { 17, 40 }, { 0, 1 }, { 16, 33 } } do
      for _, by in ipairs { 1, 3, 15, 16, 17, 64, 1000, -3, -16, 2 ^ 31 - 1, -2 ^ 31, 0 } do
        for _, bits in ipairs { 0, 1, 15, 16, 48, 513, -1, -16 } do
          with_stress("force_lanes", function() run(ends[1], ends[2], by, bits) end)
          for i = ends[1], ends[2] - 1 do
            local q, r = by == 0 and 0 or math.floor(i / by), by == 0 and 0 or i % by
            local row, column = math.floor(i / 32), i % 32
            local at = ("%d by %d, bits %d"):format(i, by, bits)
            assert.same({ q, r, row * 100 + column }, { z[i].x, z[i].y, z[i].z }, at)
            local sum = element(bit.bxor(i, bits)) + 2 * element(q + r) + 4 * element(row + column)
            assert.equal(sum, y[i], at)
          end
        end
      end
    end
  end)
end)

describe("quotients by roots under fast_math", function()
  local n = 1024
  local levels = { "x86-64", "native" }
  if support.processor_has "avx2" then table.insert(levels, "x86-64-v3") end
  if support.processor_has "avx512vl" then table.insert(levels, "x86-64-v4") end

  for _, type in ipairs { "f32", "f64" } do
    it("are close to the exact ones: " .. type .. " #compiled", function()
      local T = rg[type]
      local x, exact, fast = rg.field(T, n), {}, {}
      for k = 1, 3 do exact[k], fast[k] = rg.field(T, n), rg.field(T, n) end
      for i = 0, n - 1 do x[i] = 1.37 ^ (i % 150 - 75) * (1 + i / n) end
      local function of(y, options)
        local a, b, c = y[1], y[2], y[3]
        rg.kernel(function()
          for i in rg.range(n) do
            local r = math.sqrt(x[i])
            a[i] = 1 / r
            b[i] = 3 * x[i] / r ^ 3
            c[i] = 2 / (x[i] * math.sqrt(x[i]))
          end
        end, options)()
      end
      of(exact)
      with_stress("force_lanes", function() of(fast, { fast_math = true }) end)
      local most = type == "f32" and 8e-7 or 1.2e-15
      for k = 1, 3 do
        for i = 0, n - 1 do
          local far = math.abs(fast[k][i] / exact[k][i] - 1)
          assert.is_true(far <= most, ("%d of %g: off by %g"):format(k, x[i], far))
        end
      end
    end)
  end

  it("are infinite for a divisor of 0, and 0 for an infinite one #compiled", function()
    for _, type in ipairs { "f32", "f64" } do
      local x, one, cube = rg.field(rg[type], n), rg.field(rg[type], n), rg.field(rg[type], n)
      for i = 0, n - 1 do x[i] = i % 2 == 0 and 0 or math.huge end
      local function expect(invert)
        one:fill(7)
        cube:fill(7)
        invert()
        for i = 0, n - 1 do
          assert.equal(i % 2 == 0 and math.huge or 0, one[i])
          assert.equal(i % 2 == 0 and math.huge or 0, cube[i])
        end
      end
      local lanes = rg.kernel(function()
        for i in rg.range(n) do
          one[i] = 1 / math.sqrt(x[i])
          cube[i] = 1 / math.sqrt(x[i]) ^ 3
        end
      end, { fast_math = true })
      expect(function() with_stress("force_lanes", lanes) end)
      expect(rg.kernel(function()
        for i in rg.range(n):scalar() do
          one[i] = 1 / math.sqrt(x[i])
          cube[i] = 1 / (x[i] * math.sqrt(x[i]))
        end
      end, { fast_math = true }))
    end
  end)

  it("are close to the exact ones for sums of squares and a number, however large \z
    #compiled", function()
    local d = rg.field(rg.vec3, n)
    local exact, fast = rg.field(rg.f32, n), rg.field(rg.f32, n)
    local far = { 0, 1e-22, 1e-3, 1, 1e12, 3e19, 1e30 }
    for i = 0, n - 1 do d[i] = { far[i % 7 + 1], far[i % 5 + 1], 0 } end
    local function attract(y, options)
      return rg.kernel(function(soft)
        for i in rg.range(n) do
          local r = math.sqrt(rg.dot(d[i], d[i]) + soft)
          y[i] = (i % 3 + 1) / r ^ 3
        end
      end, options)
    end
    local slow, quick = attract(exact), attract(fast, { fast_math = true })
    for _, soft in ipairs { 0, 1e-30, 0.0025, 1e20, math.huge } do
      slow(soft)
      with_stress("force_lanes", function() quick(soft) end)
      for i = 0, n - 1 do
        local is_near = fast[i] == exact[i] or math.abs(fast[i] / exact[i] - 1) < 2e-6
          or exact[i] < 1e-37 and fast[i] < 1e-37 or exact[i] > 1e38 and fast[i] > 1e38
        assert.is_true(is_near, ("%g, not %g, softened by %g"):format(fast[i], exact[i], soft))
      end
    end
  end)

  it("are close to the exact ones for a number of each iteration, which may be 0 \z
    #compiled", function()
    local p, cube = rg.field(rg.vec2, n), rg.field(rg.f32, n)
    for i = 0, n - 1 do p[i] = { 0, i % 16 == 0 and 0.25 or 0 } end
    local run = rg.kernel(function()
      for i in rg.range(n) do
        local d = p[i].x
        local r = math.sqrt(d * d + p[i].y)
        cube[i] = 1 / (r * r * r)
      end
    end, { fast_math = true })
    with_stress("force_lanes", run)
    for i = 0, n - 1 do assert.near(i % 16 == 0 and 8 or math.huge, cube[i], 1e-4) end
  end)

  it("are added once if a loop of sums is inside another loop #compiled", function()
    local count = 64
    local x, sums = rg.field(rg.f32, count), rg.field(rg.vec2, count)
    for i = 0, count - 1 do x[i] = i * 0.3 + i % 7 * 0.1 end
    local pull = [[local d = x[(q * 8 + j) % count] - x[i]
      local r = math.sqrt(d * d + 0.5)
      s = s + d / (r * r * r)]]
    local ways = {
      ("for q = 0, m do for j = 0, m do %s end end"):format(pull),
      ("for q = 0, m do for j = 0, m do for w = 0, m do %s end end end"):format(pull),
      ("for q = 0, m do for j = 0, m do %s t = t + 1 / (r * r * r) end end"):format(pull),
      ("for q = 0, m do if x[i] > 4 then for j = 0, m do %s end end end"):format(pull),
      ("for q = 0, m do for j = 0, m do %s if j > 3 then break end end end"):format(pull),
      ("for q = 0, m do local j = 1 %s for j = 0, m do %s end end"):format(pull, pull),
    }
    for _, way in ipairs(ways) do
      local function of(options)
        rg.kernel(("function(m) for i in rg.range(count) do local s, t = rg.f32(1), rg.f32(2) %s "
          .. "sums[i] = { s, t } end end"):format(way),
          { rg = rg, x = x, sums = sums, count = count }, options)(7)
        return sums:to_table()
      end
      local exact = of {}
      local fast = with_stress("force_lanes", function() return of { fast_math = true } end)
      for i = 1, count do
        for k = 0, 1 do
          assert.near(exact[i][k], fast[i][k], 1e-4 * (math.abs(exact[i][k]) + 1), way)
        end
      end
    end
  end)

  it("are close to the exact ones in sums along a loop #compiled", function()
    local count = 48
    local x, mass = rg.field(rg.vec2, count), rg.field(rg.f32, count)
    for i = 0, count - 1 do
      x[i] = { i * 37 % 101 / 40, i * 53 % 97 / 30 }
      mass[i] = i % 5 + 1
    end
    local function pulls(options)
      local pull, other = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
      rg.kernel(function()
        for i in rg.range(count) do
          local a, near, both, far = rg.vec2(i, -i), rg.f32(0), rg.f32(0), rg.f32(1)
          for j = 0, count - 1 do
            local d = x[j] - x[i]
            local r = math.sqrt(rg.dot(d, d) + 0.01)
            a = a + mass[j] * d / r ^ 3
            if r < 1 then near = near + mass[j] / r ^ 3 end
            both = both + 1 / r ^ 3 -- with something else
            both = both + r
            far = far + (r + 1) / (r * r * r) / r
          end
          pull[i] = a
          other[i] = { near, both + far }
        end
      end, options)()
      return pull, other
    end
    local a, b = pulls()
    local c, d = with_stress("force_lanes", function() return pulls { fast_math = true } end)
    for i = 0, count - 1 do
      for k = 0, 1 do
        assert.near(a[i][k], c[i][k], 2e-5 * (math.abs(a[i][k]) + 1))
        assert.near(b[i][k], d[i][k], 2e-5 * (math.abs(b[i][k]) + 1))
      end
    end
  end)

  it("are close to the exact ones for each width of vectors #cpu", function() -- the processors' own
    for _, cpu in ipairs(levels) do
      local other = support.rg.new { threads = 1, cpu = cpu, cache = false, fast_math = true }
      local x, y = other.field(rg.f32, n), other.field(rg.f32, n)
      local numbers = { 0, math.huge, 1e-44, 1e-38, 4 }
      for i = 0, n - 1 do x[i] = numbers[i % 5 + 1] end
      other.kernel(function()
        for i in other.range(n) do y[i] = 1 / math.sqrt(x[i]) end
      end)()
      for i = 0, n - 1 do
        local exact = 1 / math.sqrt(x[i])
        local is_near = y[i] == exact or math.abs(y[i] / exact - 1) < 1e-6
        assert.is_true(is_near, ("%s: %g of %g"):format(cpu, y[i], x[i]))
      end
    end
  end)

  it("are infinite or finite as the exact ones for powers too small to invert #compiled \z
    #cpu", function()
    local cases = { f32 = { 1e-26, 2.2e-26, 1e-30, 1e-44 }, f64 = { 1e-206, 1e-310 } }
    for type, small in pairs(cases) do
      local T = rg[type]
      local x, one, cube = rg.field(T, n), rg.field(T, n), rg.field(T, n)
      for i = 0, n - 1 do x[i] = small[i % #small + 1] end
      local invert = rg.kernel(function()
        for i in rg.range(n) do
          local r = math.sqrt(x[i])
          one[i] = 1 / r
          cube[i] = 1 / r ^ 3
        end
      end, { fast_math = true })
      with_stress("force_lanes", invert)
      for i = 0, n - 1 do
        assert.is_true(math.abs(one[i] * math.sqrt(x[i]) - 1) < 1e-6, ("%g"):format(x[i]))
        assert.is_true(cube[i] > 0.9 * x[i] ^ -1.5 or cube[i] == math.huge, ("%g"):format(x[i]))
      end
    end
  end)
end)
