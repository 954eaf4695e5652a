--- The behaviour that all kinds of SNodes share, in every nesting and layout.
local rg = require "regolith"

local kinds = { "dense", "bitmasked", "pointer" }
local layouts = { "soa", "aos" }

-- 2 x 3 x 4 cells along i, through three levels of the kinds named; a field of each of three types
-- in the last.
local function nest(a, b, c, layout)
  local options = { layout = layout }
  local top = a == "hash" and rg.root:hash("i", options) or rg.root[a](rg.root, "i", 2, options)
  local middle = top[b](top, "i", 3, options)
  local last = middle[c](middle, "i", 4, options)
  local x, y, z = rg.field(rg.i8), rg.field(rg.f64), rg.field(rg.i32)
  last:place(x, y, z)
  return { top = top, middle = middle, last = last, x = x, y = y, z = z, kinds = { a, b, c },
    span = { 12, 4, 1 } }
end

-- Which of the 24 cells are active once some were written: all in one cell of the deepest level
-- that is not dense.
local function expect_active(tree, written)
  local span = 24
  for k = 1, 3 do
    if tree.kinds[k] ~= "dense" then span = tree.span[k] end
  end
  local cells, count = {}, 0
  for i = 0, 23 do
    for _, w in ipairs(written) do
      if math.floor(w / span) == math.floor(i / span) and not cells[i] then
        cells[i], count = true, count + 1
      end
    end
  end
  return cells, count
end

describe("any nesting of kinds", function()
  local function each(visit)
    for _, a in ipairs { "dense", "bitmasked", "pointer", "hash" } do
      for _, b in ipairs(kinds) do
        for _, c in ipairs(kinds) do
          for _, layout in ipairs(layouts) do
            visit(nest(a, b, c, layout), ("%s.%s.%s %s"):format(a, b, c, layout))
            collectgarbage() -- a GPU has no room for all of them at once
          end
        end
      end
    end
  end

  it("keeps fields of several types separate, and visits what is active", function()
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
        assert.same(is_written and { -i, 0.5 * i, 1000 * i } or { 0, 0, 0 },
          { tree.x[i], tree.y[i], tree.z[i] }, name)
      end
    end)
  end)

  it("is cleared level by level, by kernels too, and then reads zero", function()
    local clear = rg.kernel(function(level) level:clear() end)
    each(function(tree, name)
      for _, level in ipairs { "last", "middle", "top" } do
        for i = 0, 23, 5 do tree.z[i], tree.x[i] = i, 1 end
        local has_activity = tree.kinds[1] ~= "dense"
          or (level ~= "top" and tree.kinds[2] ~= "dense")
          or (level == "last" and tree.kinds[3] ~= "dense")
        if has_activity then
          if level == "last" then clear(tree.last) else tree[level]:clear() end
          assert.equal(0, tree[level]:count(), name)
          for i = 0, 23 do assert.equal(0, tree.z[i] + tree.x[i], name) end
        end
      end
    end)
  end)

  it("is deactivated with the cell above it", function()
    each(function(tree, name)
      if tree.kinds[1] == "dense" then return end
      for i = 0, 23 do tree.z[i], tree.y[i] = i, i end
      tree.top:deactivate(0)
      assert.same({ 1, 3, 12 }, { tree.top:count(), tree.middle:count(), tree.last:count() }, name)
      for i = 0, 23 do
        assert.same(i < 12 and { 0, 0 } or { i, i }, { tree.z[i], tree.y[i] }, name)
      end
      tree.z[3] = 7
      assert.same({ 7, 0 }, { tree.z[3], tree.z[4] }, name)
    end)
  end)

  it("may have several children, independent of each other", function()
    for _, layout in ipairs(layouts) do
      for _, kind in ipairs { "dense", "bitmasked", "pointer", "hash" } do
        local parent = kind == "hash" and rg.root:hash("i", { layout = layout }) or rg.root[kind](
          rg.root, "i", 5, { layout = layout })
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
        assert.same({ 44, 1, 2, 3, 10, 2 }, { own[4], fields[1][9], fields[2][14], fields[3][19],
          list:length(4), list[4][9] })
        assert.same({ 1, 1 }, { fields[1]:count(), fields[2]:count() })
        assert.same({ 0, 0, 0, 0 }, { own[3], fields[1][8], fields[3][18], list:length(3) })
        if kind ~= "dense" then
          parent:deactivate(4)
          assert.same({ 0, 0, 0, 0, 0 }, { own[4], fields[1][9], fields[2][14], fields[3][19],
            list:length(4) })
        end
      end
    end
  end)
end)
