--- What all kinds of SNodes have alike, in every nesting and layout; and what lists do that programs rely on.
local rg = require "regolith"
local failure = require("support").failure

local kinds = { "dense", "bitmasked", "pointer" }
local layouts = { "soa", "aos" }

-- 2 x 3 x 4 cells along i, through three levels of the kinds named; a field of each of three types in the last.
local function nest(a, b, c, layout)
  local options = { layout = layout }
  local top = a == "hash" and rg.root:hash("i", options) or rg.root[a](rg.root, "i", 2, options)
  local middle = top[b](top, "i", 3, options)
  local last = middle[c](middle, "i", 4, options)
  local x, y, z = rg.field(rg.i8), rg.field(rg.f64), rg.field(rg.i32)
  last:place(x, y, z)
  return { top = top, middle = middle, last = last, x = x, y = y, z = z, kinds = { a, b, c }, span = { 12, 4, 1 } }
end

-- Which of the 24 cells are active once some were written: all in one cell of the deepest level that is not dense.
local function expect_active(tree, written)
  local span = 24
  for k = 1, 3 do
    if tree.kinds[k] ~= "dense" then span = tree.span[k] end
  end
  local cells, count = {}, 0
  for i = 0, 23 do
    for _, w in ipairs(written) do
      if math.floor(w / span) == math.floor(i / span) and not cells[i] then cells[i], count = true, count + 1 end
    end
  end
  return cells, count
end

describe("any nesting of kinds", function()
  local function each(visit)
    for _, a in ipairs { "dense", "bitmasked", "pointer", "hash" } do
      for _, b in ipairs(kinds) do
        for _, c in ipairs(kinds) do
          for _, layout in ipairs(layouts) do visit(nest(a, b, c, layout), ("%s.%s.%s %s"):format(a, b, c, layout)) end
        end
      end
    end
  end

  it("keeps fields of several types apart, and visits what is active", function()
    local sum = rg.kernel(function(x, y, z)
      local s, t, u, n = 0, 0.0, 0, 0
      for i in z:active() do
        s = s + x[i]
        t = t + y[i]
        u = u + z[i]
        n = n + 1
      end
      return s, t, u, n
    end)
    each(function(tree, name)
      local written = { 1, 6, 7, 23 }
      for _, i in ipairs(written) do tree.x[i], tree.y[i], tree.z[i] = -i, 0.5 * i, 1000 * i end
      local cells, count = expect_active(tree, written)
      assert.same({ -37, 18.5, 37000, count }, { sum(tree.x, tree.y, tree.z) }, name)
      assert.equal(count, tree.last:count(), name)
      for i = 0, 23 do
        assert.equal(cells[i] or false, tree.last:is_active(i), name)
        local is_written = i == 1 or i == 6 or i == 7 or i == 23
        assert.same(is_written and { -i, 0.5 * i, 1000 * i } or { 0, 0, 0 }, { tree.x[i], tree.y[i], tree.z[i] }, name)
      end
    end)
  end)

  it("is emptied level by level, by kernels too, and reads zero then", function()
    local clear = rg.kernel(function(level) level:clear() end)
    each(function(tree, name)
      for _, level in ipairs { "last", "middle", "top" } do
        for i = 0, 23, 5 do tree.z[i], tree.x[i] = i, 1 end
        local has_activity = tree.kinds[1] ~= "dense" or (level ~= "top" and tree.kinds[2] ~= "dense")
          or (level == "last" and tree.kinds[3] ~= "dense")
        if has_activity then
          if level == "last" then clear(tree.last) else tree[level]:clear() end
          assert.equal(0, tree[level]:count(), name)
          for i = 0, 23 do assert.equal(0, tree.z[i] + tree.x[i], name) end
        end
      end
    end)
  end)

  it("goes with the cell above it", function()
    each(function(tree, name)
      if tree.kinds[1] == "dense" then return end
      for i = 0, 23 do tree.z[i], tree.y[i] = i, i end
      tree.top:deactivate(0)
      assert.same({ 1, 3, 12 }, { tree.top:count(), tree.middle:count(), tree.last:count() }, name)
      for i = 0, 23 do assert.same(i < 12 and { 0, 0 } or { i, i }, { tree.z[i], tree.y[i] }, name) end
      tree.z[3] = 7
      assert.same({ 7, 0 }, { tree.z[3], tree.z[4] }, name)
    end)
  end)

  it("may have several children, each on its own", function()
    for _, layout in ipairs(layouts) do
      for _, kind in ipairs { "dense", "bitmasked", "pointer", "hash" } do
        local parent = kind == "hash" and rg.root:hash("i", { layout = layout }) or rg.root[kind](rg.root, "i", 5, { layout = layout })
        local own = rg.field(rg.i16)
        parent:place(own)
        local fields = {}
        for k, child in ipairs { "bitmasked", "pointer", "dense" } do
          fields[k] = rg.field(rg.i32)
          parent[child](parent, "i", k + 1, { layout = layout }):place(fields[k])
        end
        local list = rg.field(rg.f32)
        parent:dynamic("j", 40, { chunk = 8, layout = layout }):place(list)
        own[4] = 44
        for k, x in ipairs(fields) do x[5 * (k + 1) - 1] = k end
        for _ = 1, 10 do list:append(4, 2) end
        assert.same({ 44, 1, 2, 3, 10, 2 }, { own[4], fields[1][9], fields[2][14], fields[3][19], list:length(4), list[4][9] })
        assert.same({ 1, 1 }, { fields[1]:count(), fields[2]:count() })
        assert.same({ 0, 0, 0, 0 }, { own[3], fields[1][8], fields[3][18], list:length(3) })
        if kind ~= "dense" then
          parent:deactivate(4)
          assert.same({ 0, 0, 0, 0, 0 }, { own[4], fields[1][9], fields[2][14], fields[3][19], list:length(4) })
        end
      end
    end
  end)
end)

describe("a list", function()
  it("is read and written like an array, also with vectors", function()
    local x = rg.field(rg.i32)
    rg.root:dynamic("i", 128, { chunk = 32 }):place(x)
    rg.kernel(function() for _ = 1, 1 do for i = 0, 127 do x[i] = i end end end)()
    for i = 0, 127 do assert.equal(i, x[i]) end
    local v = rg.field(rg.vec2)
    rg.root:dynamic("i", 8192, { chunk = 128 }):place(v)
    for i = 0, 400, 4 do v[i] = rg.vec2(i, -i) end
    assert.same({ 8, -8, 0, 0 }, { v[8].x, v[8].y, v[9].x, v[11].y })
  end)

  it("gets one longer with each append, everywhere at once", function()
    local x = rg.field(rg.i32)
    rg.root:dense("i", 128):dynamic("j", 128, { chunk = 8 }):place(x)
    rg.kernel(function() for i, j in rg.range(64, 128) do x:append(i, j) end end)()
    for i = 0, 127 do assert.equal(i < 64 and 128 or 0, x:length(i)) end
    local seen = {}
    for _, v in x:items(5) do seen[v] = true end
    for j = 0, 127 do assert.is_true(seen[j]) end
  end)

  it("is as long as its last written slot says, and no shorter for earlier ones", function()
    local x = rg.field(rg.u8)
    rg.root:dynamic("i", 32):place(x)
    for i = 1, 5 do x:append(i) end
    x[20] = 7
    assert.equal(21, x:length())
    x[10] = 1
    assert.equal(21, x:length())
    assert.same({ 5, 0, 1, 7 }, { x[4], x[5], x[10], x[20] })
  end)

  it("grows, is emptied and grows again to the lengths that are asked for", function()
    local x = rg.field(rg.i32)
    local list = rg.root:dense("i", 10):dynamic("j", 500, { chunk = 4 })
    list:place(x)
    local grow = rg.kernel(function(times)
      for i in rg.range(10) do
        for k = 1, times * i * i do x:append(i, k) end
      end
    end)
    grow(1)
    grow(2)
    for i = 0, 9 do assert.equal(3 * i * i, x:length(i)) end
    list:clear()
    assert.equal(0, x:count())
    list:clear() -- while empty: no effect
    grow(4)
    for i = 0, 9 do assert.equal(4 * i * i, x:length(i)) end
  end)

  it("of an absent cell is empty", function()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("i", 4)
    block:dynamic("j", 8):place(x)
    assert.same({ 0, false, 0 }, { x:length(2), block:is_active(2), rg.kernel(function() return x:length(3) end)() })
    assert.equal(0, block:count())
  end)

  it("holds integers of every width exactly", function()
    local a, b = rg.field(rg.u8), rg.field(rg.u64)
    rg.root:dynamic("i", 64):place(a, b)
    rg.kernel(function()
      for i = 0, 49 do
        a[i] = rg.u8(i * i * i)
        b[i] = rg.u64(i * i * i) * 10000000000ULL
      end
    end)()
    for i = 0, 49 do
      assert.equal(i * i * i % 256, a[i])
      assert.is_true(b[i] == i * i * i * 10000000000ULL)
    end
  end)
end)

describe("a wrong declaration", function()
  -- One sentence, of this code.
  local function refuses(code, pattern, f)
    local failed = failure(f)
    assert.equal(code, failed.code)
    assert.matches(pattern, failed.message)
    assert.is_nil(failed.message:match "[.\n]%s")
  end

  it("of any kind is one sentence", function()
    for _, kind in ipairs { "dense", "pointer", "bitmasked" } do
      refuses("argument.invalid", "positive whole number", function() rg.root[kind](rg.root, "i", 0) end)
      refuses("tree.declaration", "twice", function() rg.root[kind](rg.root, "ii", 4) end)
      refuses("tree.declaration", "takes one size", function() rg.root[kind](rg.root, "ij", 2, 3, 4) end)
      refuses("tree.too_large", "more than any memory", function() rg.root[kind](rg.root, "i", 2 ^ 50) end)
    end
    refuses("tree.declaration", "already divided above", function() rg.root:dense("i", 4):dynamic("i", 4) end)
    refuses("tree.declaration", "already divided above", function() rg.root:pointer("ij", 4):hash("j") end)
    refuses("tree.declaration", "holds fields only", function() rg.root:dynamic("i", 4):pointer("j", 4) end)
    refuses("tree.declaration", "below a bitmasked", function() rg.root:bitmasked("i", 4):hash("j") end)
    refuses("tree.too_large", "at most 2147483647 elements", function() rg.root:dynamic("i", 2 ^ 31) end)
  end)

  it("is to place a field twice, and to use one without a place", function()
    local x = rg.field { type = rg.i32, name = "x" }
    rg.root:bitmasked("i", 4):place(x)
    refuses("field.placed", "field 'x' is already placed", function() rg.root:dense("i", 4):place(x) end)
    local y = rg.field { type = rg.i32, name = "y" }
    refuses("field.unplaced", "field 'y' is not placed yet", function() y[0] = 1 end)
    refuses("field.unplaced", "'y' has no place", rg.kernel(function() y[0] = 1 end))
  end)

  it("is to change a tree after its first use, which is named", function()
    for _, kind in ipairs { "dense", "bitmasked", "pointer" } do
      local x, y = rg.field(rg.i32), rg.field(rg.i32)
      local node = rg.root[kind](rg.root, "i", 4)
      node:place(x)
      x[0] = 1
      refuses("tree.fixed", "laid out since .*kinds_spec.lua:%d+", function() node:place(y) end)
      refuses("tree.fixed", "below the " .. kind .. " node", function() node:bitmasked("i", 2) end)
    end
  end)

  it("is to give a kernel fields of two runtimes", function()
    local other = rg.new { threads = 1 }
    local x, y = rg.field(rg.i32, 4), other.field(other.i32, 4)
    refuses("runtime.mixed", "another runtime", rg.kernel(function() x[0] = y[0] end))
  end)
end)
