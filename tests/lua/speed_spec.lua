-- Detects loops that became slow, by counts that other processes do not change: instructions per
-- cell, vector code without calls, lists made, bytes. Times are measured by tests/bench.
local instructions = require "tests.support.instructions"
local support = require "support"

-- One thread and 256-bit vectors on every machine; without what RG_STRESS and RG_CHECKS add.
local is_plain = not os.getenv "RG_STRESS" and not os.getenv "RG_CHECKS"
local is_compiled = os.getenv "RG_ARCH" ~= "lua"
local has_avx2 = support.processor_has "avx2"
local has_masks = support.processor_has "avx512vl" and support.processor_has "avx512bw"

-- The innermost loops of a kernel's assembly: texts between a label and the jump back to it.
local function loops_of(kernel)
  local labels, loops, lines = {}, {}, {}
  for line in kernel:asm():gmatch "[^\n]+" do
    lines[#lines + 1] = line
    local label, target = line:match "^(%.LBB%d+_%d+):", line:match "^\tj%l+\t(%.LBB%d+_%d+)"
    if label then labels[label] = #lines end
    if target and labels[target] then
      loops[#loops + 1] = { first = labels[target], last = #lines }
    end
  end
  local texts = {}
  for _, one in ipairs(loops) do
    local is_innermost = true
    for _, other in ipairs(loops) do
      if other ~= one and other.first >= one.first and other.last <= one.last then
        is_innermost = false
      end
    end
    if is_innermost then
      texts[#texts + 1] = table.concat(lines, "\n", one.first, one.last)
    end
  end
  return texts
end

local function has_vector_loop(kernel)
  for _, text in ipairs(loops_of(kernel)) do
    if text:find "%%[yz]mm" and not text:find "\tcall" then return true end
  end
  return false
end

-- Rows: a kernel over 512 x 512 cells, its name, and the largest number of instructions per cell
-- with vectors of 256 bits: today's number and a fifth. Lower a bound when the kernel gets better;
-- add a row for every loop that has become vector code.
local n, w = 512, 0.5
local function periodic(f, i, j)
  return f[(i - 1) % n][j] + f[(i + 1) % n][j] + f[i][(j - 1) % n] + f[i][(j + 1) % n]
end

local function kernels(rg)
  local cells = n * n
  local counted, next_one = rg.zeros(rg.f32, cells), rg.zeros(rg.f32, cells)
  local x, y = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
  local a, b = rg.field(rg.f32, cells), rg.field(rg.f32, cells)
  local k = rg.field(rg.i32, cells)
  local v = rg.field { type = rg.vec3, shape = { cells }, layout = "soa" }
  local z = rg.field(rg.i32, 1)
  local across, along = { 0, -1, 1, 0 }, { 1, 0, 0, -1 }
  local t = {}
  for at = 1, 256 do t[at] = at * 37 % 101 end
  local five = { type = rg.vec(5, rg.f32), shape = { cells }, layout = "aos" }
  local c, d = rg.field(five), rg.field(five)
  local p, q, bits = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.f32)
  local h = rg.field(rg.f32)
  local angle, sine = rg.field(rg.f32), rg.field(rg.f32)
  rg.root:hash("i"):dense("i", 16):place(h)
  rg.root:hash("i"):place(angle, sine)
  rg.root:pointer("ij", n / 16):dense("ij", 16):place(p, q)
  rg.root:pointer("ij", n / 16):bitmasked("ij", 16):place(bits)
  local other, long = rg.field(rg.f32), rg.field(rg.f32)
  rg.root:bitmasked("ij", n):place(long)
  rg.root:pointer("ij", n / 16):dense("ij", 16):place(other)
  local thin, few = rg.field(rg.f32), rg.field(rg.f32)
  rg.root:pointer("ijk", 16):bitmasked("ijk", 8):place(thin)
  rg.root:pointer("ijk", 16):bitmasked("ijk", 8):place(few)
  rg.kernel(function()
    for i, j, l in rg.range(16, 16, 16) do
      for at = 0, 15 do
        local u, r, s = i * 8 + math.floor(at / 2), j * 8 + (at * 31 + i) % 8, l * 8 + (at + j) % 8
        if at == i then thin[u][r][s] = 1 end
        few[u][r][s] = 1
      end
    end
  end)()
  local m = n / 4
  local ids, place = rg.field(rg.i32), rg.field(rg.vec2, n * n / 4)
  rg.root:dense("ij", n / 4):dynamic("k", 64, { chunk = 16 }):place(ids)
  rg.kernel(function()
    for i in rg.range(n * n / 4) do
      place[i] = rg.vec2(i * 37 % (n - 4), i * 17 % (n - 4))
    end
    for i, j in rg.range(n / 4, n / 4) do
      for at = 1, (i + 3 * j) % 4 do ids:append(i, j, i * 59 + j * 31 + at) end
    end
  end)()
  rg.kernel(function()
    for i, j in rg.range(n, n) do
      p[i][j] = 1
      bits[i][j] = 1
      other[i][j] = 1
      long[i][j] = 1
      h[i * n + j] = 1
      angle[i * n + j] = j
    end
  end)()
  return {
    { "scale", 0.5, rg.kernel(function() for i in rg.range(cells) do b[i] = w * a[i] end end) },
    { "copy", 0.53, rg.kernel(function() for i in rg.range(cells) do b[i] = a[i] end end) },
    { "scale of counted arrays", 1.65, rg.kernel(function()
      for i in rg.range(cells) do next_one[i] = w * counted[i] end
    end) },
    { "step of counted arrays", 1.8, rg.kernel(function()
      for i in rg.range(cells) do next_one[i] = counted[i - 1] + counted[i + 1] end
    end) },
    { "sum of a counted array", 0.38, rg.kernel(function()
      local s = 0
      for i in rg.range(#counted) do s = s + counted[i] end
      return s
    end) },
    { "sum", 0.38, rg.kernel(function()
      local s = 0
      for i in rg.range(cells) do s = s + a[i] end
      return s
    end) },
    { "sum in f64", 1, rg.kernel(function()
      local s = rg.f64(0)
      for i in rg.range(cells) do s = s + a[i] end
      return s
    end) },
    { "square root", 0.5, rg.kernel(function()
      for i in rg.range(cells) do b[i] = math.sqrt(a[i]) end
    end) },
    { "whole numbers", 1.6, rg.kernel(function()
      for i in rg.range(cells) do k[i] = math.floor(a[i] * w) end
    end) },
    { "sine", 16.5, rg.kernel(function()
      for i in rg.range(cells) do b[i] = math.sin(a[i]) end
    end), is_scalar = true },
    { "floor", 1.65, rg.kernel(function()
      for i in rg.range(cells) do b[i] = math.floor(a[i]) end
    end) },
    { "sine", 17, rg.kernel(function()
      for i in rg.range(cells) do b[i] = math.sin(a[i]) end
    end) },
    { "vectors, soa", 1.6, rg.kernel(function()
      for i in rg.range(cells) do v[i] = w * v[i] end
    end) },
    { "compaction", 3.8, rg.kernel(function()
      for i in rg.range(cells) do
        if a[i] > 4 then b[z:add(0, 1)] = i end
      end
    end), is_scalar = true },
    { "a maximum in one element", 3, rg.kernel(function()
      for i in rg.range(cells) do z[0] = math.max(z[0], k[i]) end
    end) },
    { "entries of a table", 7, rg.kernel(function()
      for i in rg.range(cells) do b[i] = t[bit.band(k[i], 255) + 1] end
    end) },
    { "vectors, aos", 13.7, rg.kernel(function()
      for i in rg.range(cells) do c[i] = c[i] + w * d[i] end
    end) },
    { "stencil of a range", 2.6, rg.kernel(function()
      for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
        local around = x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]
        y[i][j] = x[i][j] + w * (around - 4 * x[i][j])
      end
    end) },
    { "periodic stencil", 2.3, rg.kernel(function()
      for i, j in rg.range(n, n) do
        y[i][j] = x[(i - 1) % n][j] + x[(i + 1) % n][j] + x[i][(j - 1) % n] + x[i][(j + 1) % n]
      end
    end) },
    { "periodic stencil in a function", 2.3, rg.kernel(function()
      for i, j in rg.range(n, n) do y[i][j] = periodic(x, i, j) end
    end) },
    { "periodic stencil of a loop", 4.1, rg.kernel(function()
      for i, j in rg.range(n, n) do
        local s = 0.0
        for di = -1, 1 do
          for dj = -1, 1 do s = s + x[(i + di) % n][(j + dj) % n] end
        end
        y[i][j] = s
      end
    end) },
    { "periodic stencil of a table", 3.3, rg.kernel(function()
      for i, j in rg.range(n, n) do
        local s = 0.0
        for at = 1, #across do s = s + x[(i + across[at]) % n][(j - along[at]) % n] end
        y[i][j] = s
      end
    end) },
    { "stencil of active cells", 3.3, rg.kernel(function()
      for i, j in p:active() do
        local around = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1]
        q[i][j] = p[i][j] + w * (around - 4 * p[i][j])
      end
    end) },
    { "step of active cells", 0.43, rg.kernel(function()
      for i, j in p:active() do p[i][j] = p[i][j] + 1 end
    end) },
    { "active cells whose loops turn differently", 12, rg.kernel(function()
      for i, j in p:active() do
        local left = 1 + (i + j) % 7
        while left > 1 do left = left * w end
        q[i][j] = left
      end
    end) },
    { "active cells and those of another tree", 1.9, rg.kernel(function()
      for i, j in p:active() do q[i][j] = p[i][j] + other[i][j] end
    end) },
    { "sine of a hash's cells", 27.5, rg.kernel(function()
      for i in angle:active() do sine[i] = math.sin(angle[i]) end
    end) },
    { "reads anywhere in a hash", 155, rg.kernel(function()
      for i in rg.range(cells) do b[i] = h[rg.i32(rg.u32(i) * 2654435761 % cells)] end
    end), is_scalar = true },
    { "writes anywhere in a hash", 165, rg.kernel(function()
      for i in rg.range(cells) do h[rg.i32(rg.u32(i) * 2654435761 % cells)] = i end
    end), is_scalar = true },
    { "touches anywhere, with a bit each", 86, rg.kernel(function()
      for i in rg.range(cells) do
        local at = rg.i32(bit.band(rg.u32(i) * 40503, cells - 1))
        bits[bit.rshift(at, 9)][bit.band(at, n - 1)] = w
      end
    end), is_scalar = true },
    { "questions about cells around", 16.5, rg.kernel(function()
      local s = 0
      for i, j in bits:active() do
        for u = -1, 1 do
          for r = -1, 1 do
            if bits:is_active(i + u, j + r) then s = s + 1 end
          end
        end
      end
      return s
    end), is_scalar = true },
    { "questions about leaves around", 0.75, rg.kernel(function()
      for i, j in p:active() do
        if not p:is_active(i, j + 1) then q[i][j] = 1 end
      end
    end), is_scalar = true },
    { "forces over neighbours in lists", 55, rg.kernel(function()
      for i, j in rg.range(m, m) do
        local own, force = place[i * m + j], rg.vec2(0, 0)
        for u = math.max(i - 1, 0), math.min(i + 1, m - 1) do
          for r = math.max(j - 1, 0), math.min(j + 1, m - 1) do
            for _, near in ids:items(u, r) do
              local way = own - place[near]
              local far = rg.norm(way)
              if far < 300 and far > 0 then force = force + way / far * (300 - far) end
            end
          end
        end
        place[i * m + j].x = own.x + force.x * 1e-9
      end
    end), is_scalar = true },
    { "step of cells with a bit each, in long rows", 3.6, rg.kernel(function()
      for i, j in long:active() do long[i][j] = long[i][j] + 1 end
    end), is_scalar = true },
    { "step of leaves with one cell of 512", 1.92, rg.kernel(function()
      for i, j, l in thin:active() do thin[i][j][l] = thin[i][j][l] + 1 end
    end), is_scalar = true },
    { "step of leaves with 16 cells of 512", 9, rg.kernel(function()
      for i, j, l in few:active() do few[i][j][l] = few[i][j][l] + 1 end
    end), is_scalar = true },
    { "step of cells with a bit each", 2.7, rg.kernel(function()
      for i, j in bits:active() do bits[i][j] = bits[i][j] + 1 end
    end), is_scalar = true },
  }
end

describe("a loop that is fast", function()
  local rg, rows
  setup(function()
    if not is_plain or not is_compiled or not has_avx2 then return end
    rg = support.rg.new { threads = 1, cpu = "x86-64-v3", cache = false }
    rows = kernels(rg)
    for _, row in ipairs(rows) do row[3]() end
  end)

  it("takes few instructions per cell #compiled", function()
    if not rows or not instructions.can_count() then
      return pending "nothing counts instructions here"
    end
    for _, row in ipairs(rows) do
      local each = instructions.of(row[3]) / (n * n)
      assert.is_true(each <= row[2], ("%s: %.2f instructions per cell, not %.2f"):format(row[1],
        each, row[2]))
    end
  end)

  it("is vector code without calls #compiled", function()
    if not rows then return pending "under stress, or without vectors of 256 bits" end
    for _, row in ipairs(rows) do
      if not row.is_scalar then assert.is_true(has_vector_loop(row[3]), row[1]) end
    end
  end)
end)

describe("a loop over fields larger than the caches", function()
  it("bypasses them in its stores, unless it reads what it stores #compiled #cpu", function()
    if not is_plain or not has_avx2 then return pending "without vectors of 256 bits" end
    local rg = support.rg.new { threads = 1, cpu = "x86-64-v3", cache = false }
    local count = 1100000
    local x, y = rg.field(rg.f32, count), rg.field(rg.f32, count)
    local scale = rg.kernel(function() for i in rg.range(count) do y[i] = 2 * x[i] + 1 end end)
    local grow = rg.kernel(function() for i in rg.range(count) do y[i] = 2 * y[i] + 1 end end)
    local a, b = rg.array(rg.f32, count), rg.array(rg.f32, count)
    local copy = rg.kernel(function() for i in rg.range(count) do b[i] = a[i] + 3 end end)
    for _, kernel in ipairs { scale, grow, copy } do
      kernel()
      assert.equal(kernel ~= grow, kernel:asm():find "vmovntps" ~= nil)
    end
    assert.equal(3, y[count - 1])
    assert.equal(3, b[count - 1])
  end)
end)

describe("a loop over large cells", function()
  it("prefetches what it stores, and the last row that it reads #compiled #cpu", function()
    if not is_plain or not has_avx2 then return pending "without vectors of 256 bits" end
    local rg = support.rg.new { threads = 1, cpu = "x86-64-v3", cache = false }
    local cells = { type = rg.vec(9, rg.f32), shape = { 64, 64 }, layout = "aos" }
    local a, b = rg.field(cells), rg.field(cells)
    local kernel = rg.kernel(function()
      for i, j in rg.range({ 1, 63 }, 64) do
        for q = 0, 8 do b[i][j][q] = a[i - 1][j][q] + a[i + 1][j][q] end
      end
    end)
    kernel()
    local lines = 0
    for _, text in ipairs(loops_of(kernel)) do
      lines = math.max(lines, select(2, text:gsub("\tprefetch", "")))
    end
    assert.equal(10, lines) -- of 8 cells: five of each
  end)
end)

describe("particles", function()
  local count = 16384

  local function around(rg, leaf)
    local x, v, mass = rg.field(rg.vec2, count), rg.field(rg.vec2), rg.field(rg.f32)
    local above = leaf and rg.root:pointer("ij", n / leaf) or rg.root
    above:dense("ij", leaf or n):place(v, mass)
    rg.kernel(function()
      for p in rg.range(count) do x[p] = rg.vec2(rg.random(), rg.random()) * (n - 8) + 4 end
    end)()
    local onto = rg.kernel(function()
      for p in rg.range(count) do
        local base = rg.floor(x[p])
        local f = x[p] - base
        for i = 0, 2 do
          for j = 0, 2 do
            local node, by = base + rg.ivec2(i, j), (i + f.x) * (j - f.y)
            v[node] = v[node] + by * f
            mass[node] = mass[node] + by
          end
        end
      end
    end)
    return onto
  end

  -- Updates one by one would take 135 and 130.
  it("take few instructions for the nodes around them #compiled", function()
    if not is_plain or not has_masks or not instructions.can_count() then
      return pending "nothing counts instructions here, or no vectors of 512 bits"
    end
    local rg = support.rg.new { threads = 1, cpu = "x86-64-v4", cache = false }
    for leaf, most in pairs { [false] = 60, [8] = 105 } do
      local run = around(rg, leaf)
      run()
      local each = instructions.of(run) / count
      assert.is_true(each <= most, ("leaf %s: %.1f instructions a particle, not %d")
        :format(tostring(leaf), each, most))
    end
  end)
end)

describe("keys", function()
  -- By way of memory, one by one under a mask, it would be two instructions more. Lanes pay for the
  -- root; without it, keys are counted in scalar code.
  it("are counted at addresses from registers #compiled #cpu", function()
    if not is_plain or not has_masks then return pending "no vectors of 512 bits" end
    local rg = support.rg.new { threads = 1, cpu = "x86-64-v4", cache = false, specialise = false }
    local keys, bins = n * n, 4096
    local key, count = rg.field(rg.u32, keys), rg.field(rg.i32, bins)
    local run = rg.kernel(function()
      for i in rg.range(keys) do
        local b = rg.u32(math.sqrt(rg.f32(key[i])) * 0.5) % bins
        count[b] = count[b] + 1
      end
    end)
    run()
    assert.truthy(run:asm():find "vpextrq[^\n]*\n%s*incl%s+%(%%r%w+%)")
    if not instructions.can_count() then return end
    local each = instructions.of(run) / keys
    assert.is_true(each <= 6, ("%.1f instructions a key"):format(each))
  end)
end)

describe("attraction of bodies", function()
  it("neither divides nor takes roots under fast_math #compiled #cpu", function()
    if not is_plain or not has_masks then return pending "no vectors of 512 bits" end
    local rg = support.rg.new { threads = 1, cpu = "x86-64-v4", cache = false }
    local count, soft = 512, 0.05
    local x, v = rg.field(rg.vec3, count), rg.field(rg.vec3, count)
    local mass = rg.field(rg.f32, count)
    local run = rg.kernel(function()
      for i in rg.range(count) do
        local a = rg.vec3(0)
        for j = 0, count - 1 do
          local d = x[j] - x[i]
          local r = math.sqrt(rg.dot(d, d) + soft * soft)
          a = a + mass[j] * d / r ^ 3
        end
        v[i] = v[i] + a
      end
    end, { fast_math = true })
    run()
    local asm = run:asm()
    assert.truthy(asm:find "vrsqrt14ps")
    assert.falsy(asm:find "vdivps" or asm:find "vsqrtps")
    if not instructions.can_count() then return end
    local each = instructions.of(run) / (count * count)
    assert.is_true(each <= 2.0, ("%.2f instructions a pair"):format(each))
  end)
end)

describe("a compile", function()
  -- Particles onto a grid of nodes: what each of the 3 x 3 nodes around one gets.
  local function make(rg)
    local x, v = rg.field(rg.vec2, 1024), rg.field(rg.vec2, 1024)
    local at, mass = rg.field(rg.vec2, 64, 64), rg.field(rg.f32, 64, 64)
    return rg.kernel(function()
      for p in rg.range(n) do
        local base = rg.floor(x[p] * 64 - 0.5)
        local f = x[p] * 64 - base
        local a = rg.vec3(0.5 * (1.5 - f.x) ^ 2, 0.75 - (f.x - 1) ^ 2, 0.5 * (f.x - 0.5) ^ 2)
        local b = rg.vec3(0.5 * (1.5 - f.y) ^ 2, 0.75 - (f.y - 1) ^ 2, 0.5 * (f.y - 0.5) ^ 2)
        for i = 0, 2 do
          for j = 0, 2 do
            local node = base + rg.ivec2(i, j)
            at[node] = at[node] + a[i] * b[j] * v[p]
            mass[node] = mass[node] + a[i] * b[j]
          end
        end
      end
    end)
  end

  it("of particles onto a grid takes few instructions #compiled", function()
    if not is_plain or not has_avx2 or not instructions.can_count() then
      return pending "nothing counts instructions here"
    end
    local rg = support.rg.new { threads = 1, cpu = "x86-64-v3", cache = false }
    local millions
    support.with_option("RG_COMPILED", "", function() -- nothing is remembered
      millions = instructions.of(function() make(rg):compile() end) / 1e6
    end)
    assert.is_true(millions < 240, ("%.0f million instructions"):format(millions))
  end)
end)

describe("a launch", function()
  it("leaves no garbage in Lua #compiled", function()
    local rg = support.rg
    local x = rg.field(rg.f32, 8)
    local store = rg.kernel(function(a) x[0] = a end)
    store(1)
    local each = support.garbage(function() store(1) end)
    assert.equal(0, each)
  end)
end)

-- A process of its own, since LuaJIT may have given up compiling functions that many tests call.
local rows_in_lua = [[
  package.path = "tests/support/?.lua;" .. package.path
  local instructions, rg = require "instructions", require "regolith"
  local x, rows, row = rg.field(rg.f32), 64, 256
  rg.root:pointer("i", rows):dense("i", row):place(x)
  local function write() for i = 0, rows * row - 1 do x[i] = i end end
  local function read()
    local s = 0
    for i = 0, rows * row - 1 do s = s + x[i] end
    return s
  end
  assert(instructions.can_count())
  for _ = 1, 5 do write() read() end
  print(instructions.of(write) / (rows * row), instructions.of(read) / (rows * row))
]]

local scattered_in_lua = [=[
  package.path = "tests/support/?.lua;" .. package.path
  local instructions, rg = require "instructions", require "regolith"
  local x, side, n = rg.field(rg.f32), 512, 4096
  rg.root:pointer("ij", side / 8):dense("ij", 8):place(x)
  local is, js, seed = {}, {}, 12345
  local function draw()
    seed = (seed * 1103515245 + 12345) % 2^31
    return math.floor(seed / 65536) % side
  end
  for k = 1, n do is[k], js[k] = draw(), draw() end
  for k = 1, n do x[is[k]][js[k]] = k end
  local function read()
    local s = 0
    for k = 1, n do s = s + x[is[k]][js[k]] end
    return s
  end
  assert(instructions.can_count())
  for _ = 1, 8 do read() end
  print(instructions.of(read) / n)
]=]

local vectors_in_lua = [[
  package.path = "tests/support/?.lua;" .. package.path
  local instructions, rg = require "instructions", require "regolith"
  local x, n = rg.field(rg.vec2, 1024), 1024
  local function step()
    for i = 0, n - 1 do x[i] = 0.5 * rg.vec2(i, n) + x[i] / 2 end
  end
  assert(instructions.can_count())
  for _ = 1, 8 do step() end
  print(instructions.of(step) / n)
]]

describe("a loop over elements in Lua", function()
  it("takes few instructions at scattered places #compiled #cpu", function()
    if not is_plain or not instructions.can_count() then
      return pending "nothing counts instructions here"
    end
    local pipe = io.popen(("luajit -e '%s'"):format(scattered_in_lua))
    local read = pipe:read "*n"
    pipe:close()
    assert.is_true(read < 1290, ("read: %.0f instructions an element"):format(read))
  end)

  it("takes few instructions along a row of a sparse leaf #compiled #cpu", function()
    if not is_plain or not instructions.can_count() then
      return pending "nothing counts instructions here"
    end
    local pipe = io.popen(("luajit -e '%s'"):format(rows_in_lua))
    local write, read = pipe:read("*n", "*n")
    pipe:close()
    assert.is_true(write < 100, ("write: %.0f instructions an element"):format(write))
    assert.is_true(read < 100, ("read: %.0f instructions an element"):format(read))
  end)

  it("takes few instructions to compute with vectors #compiled #cpu", function()
    if not is_plain or not instructions.can_count() then
      return pending "nothing counts instructions here"
    end
    local pipe = io.popen(("luajit -e '%s'"):format(vectors_in_lua))
    local each = pipe:read "*n"
    pipe:close()
    assert.is_true(each < 1620, ("%.0f instructions an element"):format(each))
  end)
end)

describe("a tree that does not change", function()
  it("makes no list in a hundred launches #compiled", function()
    local rg = support.rg
    local x = support.sparse(rg.f32, "ij", 8, 8)
    x[3][3], x[40][40] = 1, 1
    local step = rg.kernel(function() for i, j in x:active() do x[i][j] = x[i][j] + 1 end end)
    step()
    local before = rg.stats().lists
    for _ = 1, 100 do step() end
    assert.equal(0, rg.stats().lists - before)
    x[20][20] = 1
    for _ = 1, 100 do step() end
    assert.is_true(rg.stats().lists - before <= 1)
  end)
end)

describe("a sparse tree of full leaves", function()
  for _, kind in ipairs { "pointer", "hash" } do
    it("takes little more memory than its cells: " .. kind .. " #compiled", function()
      local rg = support.rg.new { threads = 1 }
      local leaves, cells = 4096, 512
      local x = rg.field(rg.f32)
      local block = kind == "hash" and rg.root:hash "i" or rg.root:pointer("i", leaves)
      block:dense("i", cells):place(x)
      rg.kernel(function() for i in rg.range(leaves) do block:activate(i) end end)()
      local each, memory = rg.memory().live / (leaves * cells), rg.memory()
      assert.is_true(each <= 4.05, ("%.3f bytes per cell of 4"):format(each))
      if is_plain then assert.is_true(memory.reserved - memory.live <= 2 ^ 23) end
    end)
  end
end)
