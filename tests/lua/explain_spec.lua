-- kernel:explain() describes, by source line, how every loop and access was compiled; the lint
-- reports assignments that are almost updates.
local support = require "support"
local rg, sparse = support.rg, support.sparse

-- The notes under each line of a kernel that ran once: notes[line] = text; and the whole.
local function notes_of(text, captures, ...)
  local kernel = rg.kernel(text, captures)
  kernel(...)
  local notes, line, all = {}, nil, kernel:explain()
  for row in all:gmatch "[^\n]+" do
    local number = row:match "^kernel:(%d+): "
    if number then
      line = tonumber(number)
      notes[line] = ""
    else
      notes[line] = notes[line] .. row:match "^    (.*)" .. "\n"
    end
  end
  return notes, all
end

-- Text kernels report the lines of the enclosing file, unless they are not a literal in one.
local function text_of(lines) return "\n" .. lines end

describe("explain", function()
  it("shows each source line with its notes below it #compiled #cpu", function()
    local x = rg.field(rg.f32, 32)
    local _, all = notes_of(text_of "function()\n  for i in rg.range(32) do\n    x[i] = 1\n  \z
      end\nend", { x = x })
    assert.equal([[
kernel:3: for i in rg.range(32) do
    parallel over its positions
    one position at a time: vectorisation is left to LLVM
kernel:4: x[i] = 1
    writes 'x': addressed directly
]], all)
  end)

  it("says how many positions run in lanes, or why none do #compiled #cpu", function()
    local x, k = rg.field(rg.f32, 64), rg.field(rg.i32, 64)
    local function note(head, body)
      return notes_of(text_of("function()\n  for i in " .. head .. " do\n    " .. body ..
        "\n  end\nend"), { x = x, k = k })[3]
    end
    local turns = "while x[i] > 1 do x[i] = x[i] * 0.5 end"
    assert.matches("\n%d+ positions at a time, in vector lanes\n", note("rg.range(64)", turns))
    assert.matches("one position at a time: ':scalar%(%)' asks for it",
      note("rg.range(64):scalar()", turns))
    assert.matches("one position at a time: it prints", note("rg.range(64)", "print(x[i])"))
    assert.matches("one position at a time: vectorisation is left to LLVM",
      note("rg.range(64)", "x[i] = 2 * x[i]"))
    assert.matches("one position at a time: in vector lanes, most of it",
      note("rg.range(64)", "k[k[i] * 7 % 64] = k[k[i] * 7 % 64] + 1"))
  end)

  it("says which loops run in parallel and which serially, and why #compiled", function()
    local x = rg.field(rg.f32, 8, 8)
    local notes = notes_of(text_of [=[function(n)
  for k = 1, n do
    for i in rg.range(8) do
      for j in rg.range(8) do x[i][j] = k end
      local t = 0
      while t < 3 do t = t + 1 end
    end
  end
  for i in rg.range(8):serial() do x[i][0] = 1 end
  repeat local done = n > 0 until done
end]=], { x = x }, 2)
    assert.matches("^serial, on the launching side: a numeric 'for'", notes[3])
    assert.matches("^parallel over its positions", notes[4])
    assert.matches("^serial in each iteration: it is inside a parallel loop", notes[5])
    assert.matches("^serial in each iteration: a 'while'", notes[7])
    assert.matches("^serial, on the launching side: ':serial%(%)' asks for it", notes[10])
    assert.matches("^serial, on the launching side: a 'repeat'", notes[11])
  end)

  it("says which accesses are cached per leaf or looked up, and why #compiled #cpu", function()
    local x = sparse(rg.f32, "ij", 4, 8)
    local y, m = rg.field(rg.i32, 8), rg.field(rg.f32, 4)
    x[1][1] = 1
    local notes = notes_of(text_of [=[function()
  for i, j in x:active() do
    local near = x[i + 1][j] + x[i][j]
    local far = x[y[0]][j]
    m[0] = m[0] + near + far
  end
end]=], { x = x, y = y, m = m })
    assert.matches("parallel over the active leaves, cell by cell", notes[3])
    assert.matches("reads 'x': cells of the leaf and of its neighbours, each found once per leaf",
      notes[4])
    assert.matches("'x' is not cached per leaf here: an index is not the loop's own plus a small \z
      constant", notes[5])
    assert.equal(1, select(2, notes[5]:gsub("is not cached per leaf here", "")))
    assert.matches("reads 'x': looked up through 1 level at each access, checked against the shape",
      notes[5])
    assert.matches("reads 'y': addressed directly", notes[5])
    assert.matches("updates 'm': in each worker's private copy if that is faster, otherwise \z
      atomic; addressed directly", notes[6])
  end)

  it("says how many cells run in lanes, or what keeps them from lanes #compiled #cpu", function()
    local x = sparse(rg.f32, "i", 4, 16)
    x[1] = 1
    local notes = notes_of(text_of "function()\n  for i in x:active() do x[i] = 2 * x[i] + 1 \z
      end\nend", { x = x })
    assert.matches("\n%d+ cells at a time, in vector lanes\n", notes[3])
    notes = notes_of(text_of "function()\n  for i in x:active() do\n    while x[i] > 1 do x[i] = \z
      x[i] / 2 end\n  end\nend", { x = x })
    assert.matches("\n%d+ cells at a time, in vector lanes\n", notes[3])
    notes = notes_of(text_of "function()\n  for i in x:active() do print(x[i]) end\nend", { x = x })
    assert.matches("one cell at a time: it prints", notes[3])
  end)

  it("says that ranges in a serial loop are parallel #compiled", function()
    local notes = notes_of(text_of [=[function()
  for i in rg.range(4):serial() do
    for j in rg.range(8) do x[j] = x[j] + i end
  end
end]=], { x = rg.field(rg.i32, 8) })
    assert.matches("^serial, .*':serial%(%)' asks for it; loops inside it are parallel", notes[3])
    assert.matches("^parallel", notes[4])
  end)

  it("says which updates are atomic, plain or privatised, and why #compiled #cpu", function()
    local x, m = rg.field(rg.f32, 64), rg.field(rg.f32, 64)
    local notes = notes_of(text_of [=[function()
  local sum = 0
  for i in rg.range(64) do
    x[i] = x[i] + 1
    m[i // 2] = m[i // 2] + 1
    sum = sum + x[i]
  end
  for i in rg.range(63) do
    m[i] = m[i] + 1
    m[i + 1] = m[i + 1] + 1
  end
  return sum
end]=], { x = x, m = m })
    assert.matches("updates 'x': not atomic, as no other iteration reaches the element", notes[5])
    assert.matches("'m' needs atomic updates: its indices do not distinguish the iterations",
      notes[6])
    assert.matches("reduction of 'sum', one partial per worker", notes[7])
    assert.matches("'m' needs atomic updates: the loop also writes it at other indices",
      notes[10])
    assert.matches("updates 'm': in each worker's private copy if that is faster, otherwise \z
      atomic; ", notes[11])
  end)

  it("says where indices are checked #compiled", function()
    local x, y = rg.field(rg.f32, 64), rg.field(rg.f32, 64)
    local notes = notes_of(text_of [=[function(k)
  for i in rg.range(64) do
    y[i] = x[i + 1]
    y[i] = x[i * k]
  end
end]=], { x = x, y = y }, 1)
    assert.matches("reads 'x': addressed directly, checked against the shape at the edges of the \z
      loop only", notes[4])
    assert.matches("writes 'y': addressed directly\n", notes[4])
    assert.matches("reads 'x': addressed directly, checked against the shape\n", notes[5])
  end)

  it("says what is done to cells and lists #compiled #cpu", function()
    local x, block = sparse(rg.f32, "i", 8, 8)
    local v = rg.field(rg.i32)
    local list = rg.root:dense("i", 8):dynamic("j", 64)
    list:place(v)
    local bins = rg.root:dense("i", 8):dynamic("j", 64)
    bins:place(rg.field(rg.i32))
    local all = rg.root:dynamic("i", 64)
    all:place(rg.field(rg.i32))
    local notes = notes_of(text_of [=[function()
  for i in rg.range(8) do
    block:activate(i)
    if block:is_active(i) then list:append(i, i) end
    for k, e in v:items(i) do v[i][k] = e + 1 end
  end
  for i in block:active() do if i > 3 then block:deactivate(i) end end
  for i in block:active() do block:deactivate(i) end
  for i in rg.range(8) do all:append(i) end
  for i in rg.range(8) do bins:append(7 - i, i) end
  return block:count()
end]=], { x = x, block = block, v = v, list = list, all = all, bins = bins })
    assert.matches("activates cells of 'block': one of the competing iterations creates each",
      notes[4])
    assert.matches("tests whether cells of 'block' are active: looked up from the root at each \z
      call", notes[5])
    assert.matches("appends to 'list': without locks, as no other iteration changes the list",
      notes[5])
    assert.matches("serial in each iteration: it visits one list in order", notes[6])
    assert.matches("parallel over the active nodes", notes[8])
    assert.matches("deactivates cells of 'block': freed after the loop", notes[8])
    assert.matches("the loop only deactivates the cells that it visits", notes[9])
    assert.matches("empties 'block' as a whole, once", notes[9])
    assert.matches("appends to 'all': each worker buffers elements, and appends many at once",
      notes[10])
    assert.matches("appends to 'bins': workers buffer elements, which are appended after the loop"
      .. "; a single worker appends directly", notes[11])
    assert.matches("counts 'block': from its list of active nodes, once", notes[12])
  end)

  it("says how lists are shared #compiled #cpu", function()
    local v = rg.field(rg.i32)
    local list = rg.root:dense("i", 8):dynamic("j", 64)
    list:place(v)
    local notes = notes_of(text_of [=[function()
  for i in rg.range(8) do v:pop(i) end
  for i in rg.range(8) do v:pop(i % 2) end
  for i in rg.range(8) do
    v:pop(i % 2)
    local k = v:append(i % 3, 1)
    list:activate(i % 3, k)
  end
end]=], { v = v, list = list })
    assert.matches("pops from '.*': without locks, as no other iteration changes the list",
      notes[3])
    assert.matches("pops from '.*': adjacent iterations that share a list pop together",
      notes[4])
    assert.matches("pops from '.*': iterations that share a list take turns", notes[6])
    assert.matches("appends to '.*': iterations that share a list take turns", notes[7])
  end)
end)

describe("a range that is empty as written", function()
  local function warns(body)
    local _, all = notes_of("function(n)\n" .. body .. "\nend", { x = rg.field(rg.f32, 64) }, 3)
    return all:find("warning: this range begins at", 1, true) ~= nil
  end

  it("is reported where its begin is after its end #compiled", function()
    assert.is_true(warns "for i in rg.range({ 10, 1 }) do x[i] = 1 end")
    assert.is_true(warns "for i, j in rg.range(8, { 0, -1 }) do x[i] = j end")
    assert.is_false(warns "for i in rg.range({ 1, 1 }) do x[i] = 1 end")
    assert.is_false(warns "for i in rg.range({ n, 1 }) do x[i] = 1 end")
    assert.is_false(warns "for i in rg.range(-1) do x[i] = 1 end")
  end)
end)

describe("a stencil in place", function()
  local x, y = rg.field(rg.f32, 64), rg.field(rg.f32, 8, 8)
  local mask, v = rg.field(rg.i32, 64), rg.field(rg.vec2, 64)
  local tree = rg.field(rg.f32)
  rg.root:pointer("i", 4):dense("i", 16):place(tree)

  local function warns(body)
    local _, all = notes_of("function(n)\n" .. body .. "\nend",
      { x = x, y = y, mask = mask, v = v, tree = tree }, 3)
    return all:find("is computed here from another one", 1, true) ~= nil
  end

  it("is reported where an iteration reads what another one writes #compiled", function()
    assert.is_true(warns "for i in rg.range({ 1, 63 }) do x[i] = 0.5 * (x[i - 1] + x[i + 1]) end")
    assert.is_true(warns "for i in rg.range({ 1, n }) do local s = x[i - 1] + x[i] x[i] = s end")
    assert.is_true(warns "for i in rg.range(64) do if i > 0 then x[i] = x[i - 1] end end")
    assert.is_true(warns "for i, j in rg.range(8, 8) do y[i][j] = y[i + 1][j] / (1 + n) end")
    assert.is_true(warns "for i in rg.range(8) do for j = 0, 7 do y[i][j] = y[i + 1][j] end end")
    assert.is_true(warns "for i in rg.range({ 1, 63 }) do v[i] = v[i - 1] * 0.5 end")
    assert.is_true(warns "for i in tree:active() do tree[i] = tree[i + 1] end")
  end)

  it("is not reported where readers and writers may be separate #compiled", function()
    assert.is_false(warns "for i in rg.range({ 1, 63 }):serial() do x[i] = x[i - 1] end")
    assert.is_false(warns "for i in rg.range(63):independent() do x[i] = x[i + 1] end")
    assert.is_false(warns "for i in rg.range(1) do x[i] = x[i + 1] end")
    assert.is_false(warns "for i in rg.range(32) do x[i] = x[i + 32] end")
    assert.is_false(warns "for i in rg.range(32) do x[2 * i] = x[2 * i + 1] end")
    assert.is_false(warns "for i in rg.range(64) do if i % 2 == n then x[i] = x[i - 1] end end")
    assert.is_false(warns [=[for i, j in rg.range(8, 8) do
      if (i + j) % 2 == 1 then y[i][j] = y[i - 1][j] + y[i][j + 1] end end]=])
    assert.is_false(warns [=[for i, j in rg.range(8, 8) do
      if (i + j) % 2 ~= 1 then continue end
      y[i][j] = y[i - 1][j] + y[i][j + 1] end]=])
    assert.is_false(warns [=[for i in rg.range(8) do
      for j = i % 2, 7, 2 do y[i][j] = y[i + 1][j] end end]=])
    assert.is_false(warns "for i in rg.range(64) do if i == 0 then x[i] = x[i + 1] end end")
    assert.is_false(warns "for i in rg.range(64) do if mask[i] > 0 then x[i] = x[i + 1] end end")
    assert.is_false(warns "for i in rg.range(64) do x[i] += 0.5 * x[i + 1] end")
    assert.is_false(warns "for i in rg.range(64) do x[i] = tree[i + 1] + x[i] end")
    assert.is_false(warns "for i in rg.range(64) do x[0] = x[1] * 2 end")
    assert.is_false(warns "for i in rg.range(8) do y[i][1] = y[i][0] * 0.5 end")
    assert.is_false(warns "for i in rg.range(8) do for j = 1, 7 do y[i][j] = y[i][j - 1] end end")
  end)
end)

describe("an index that is a product of i32", function()
  local long, short = rg.field(rg.i32), rg.field(rg.i32, 64)
  rg.root:pointer("i", 2 ^ 17):dense("i", 2 ^ 16):place(long)

  local function warns(body)
    local _, all = notes_of("function(n)\n" .. body .. "\nend", { long = long, short = short }, 3)
    return all:find("is a product of i32", 1, true) ~= nil
  end

  it("is reported where the axis has more cells than an i32 can count #compiled", function()
    assert.is_true(warns "for i, j in rg.range(8, 8) do long[i * 65536 + j] = 1 end")
    assert.is_true(warns "for i in rg.range(8) do short[i] = long[(i + 1) * n] end")
    assert.is_true(warns "for i in rg.range(8) do long[(i << 16) + 1] = 1 end")
    assert.is_false(warns "for i, j in rg.range(8, 8) do long[rg.i64(i) * 65536 + j] = 1 end")
    assert.is_false(warns "for i in rg.range(8) do long[i + 1] = 1 end")
    assert.is_false(warns "for i, j in rg.range(8, 8) do short[i * 8 + j] = 1 end")
  end)
end)

describe("an assignment that is almost an update", function()
  local x, y = rg.field(rg.f32, 64), rg.field(rg.i32, 64)

  local function warns(body)
    local _, all = notes_of("function(n)\n" .. body .. "\nend", { x = x, y = y }, 3)
    return all:find("warning: an element of 'x' is read and then written here", 1, true) ~= nil
  end

  it("is reported where two iterations can meet #compiled", function()
    assert.is_true(warns "for i in rg.range(8) do x[0] = 0.5 * (x[0] + 1) end")
    assert.is_true(warns "for i, j in rg.range(8, 8) do x[i] = 1 - x[i] end")
    assert.is_true(warns "for i in rg.range(8) do x[i // 2] = 1 - x[i // 2] end")
    assert.is_true(warns "for i in rg.range(8) do local v = x[y[i]] v = v + 1 x[y[i]] = v end")
    assert.is_true(warns "for i in rg.range(8) do local v = x[y[i]] if v > 2 then v = v * 2 end \z
      x[y[i]] = v end")
    assert.is_true(warns "for i in rg.range(8) do for k = 0, 3 do x[k] = 1 - x[k] end end")
  end)

  it("is not reported where they cannot, or where it is an update #compiled", function()
    assert.is_false(warns "for i in rg.range(8) do x[i] = 0.5 * (x[i] + 1) end")
    assert.is_false(warns "for i, j in rg.range(8, 8) do x[i * n + j] = 1 - x[i * n + j] end")
    assert.is_false(warns "for i in rg.range(8):independent() do x[y[i]] = 1 - x[y[i]] end")
    assert.is_false(warns "for i in rg.range(8) do x[y[i]] = x[y[i]] + 1 end")
    assert.is_false(warns "for i in rg.range(8) do x[y[i]] = x[i] + 1 end")
    assert.is_false(warns "x[0] = 1 - x[0] for i in rg.range(8):serial() do x[0] = 1 - x[0] end")
  end)

  it("is reported once per kernel #compiled", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write [[
local rg = require "regolith"
local x, y = rg.field(rg.f32, 8), rg.field(rg.f64, 8)
local k = rg.kernel(function(f)
  for i in rg.range(8) do
    f[0] = 0.5 * (f[0] + i)
  end
end)
k(x) k(x) k(y)
]]
    file:close()
    local pipe = io.popen("luajit " .. path .. " 2>&1")
    local said = pipe:read "*a"
    pipe:close()
    os.remove(path)
    local _, times = said:gsub("regolith: ", "")
    assert.equal(1, times)
    assert.matches(":5:5: an element of 'f' is read and then written here", said)
    assert.matches("say so by :independent%(%) on the loop's range", said)
  end)
end)
