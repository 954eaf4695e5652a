--- Random trees and a model in plain Lua tables agree whatever is written, activated, deactivated
--- and read. RG_MODEL_TREES is the number of trees, RG_MODEL_SEED the first seed: a failure names
--- the seed that repeats it alone.
local rg = require "regolith"

local letters = "ijk"

-- Park and Miller's numbers: the same on every machine.
local state = 1
local function random(low, high)
  state = (state * 16807) % 2147483647
  return low + state % (high - low + 1)
end
local function pick(list) return list[random(1, #list)] end

-- -- the model: levels from the root down, the active coordinates of each pointer and bitmasked
-- level, values by coordinates

-- Extent of `level` over the whole tree along an axis; nil where no level above divides it.
local function extent(level, axis)
  local n
  while level do
    if level.size[axis] then n = (n or 1) * level.size[axis] end
    level = level.parent
  end
  return n
end

local function axes_of(level)
  if not level.axes then
    level.axes = {}
    for axis in letters:gmatch "." do
      if extent(level, axis) then level.axes[#level.axes + 1] = axis end
    end
  end
  return level.axes
end

-- The coordinates at `above` of a cell at `level`, both as tables by axis.
local function coordinates_at(above, level, at)
  local divisor = {}
  while level ~= above do
    for axis, size in pairs(level.size) do divisor[axis] = (divisor[axis] or 1) * size end
    level = level.parent
  end
  local result = {}
  for _, axis in ipairs(axes_of(above)) do
    result[axis] = math.floor(at[axis] / (divisor[axis] or 1))
  end
  return result
end

local function key(level, at)
  local parts = {}
  for number, axis in ipairs(axes_of(level)) do parts[number] = at[axis] end
  return table.concat(parts, ",")
end

local function is_active(level, at)
  local above = level
  while above do
    if above.active and not above.active[key(above, coordinates_at(above, level, at))] then
      return false
    end
    above = above.parent
  end
  return true
end

local function activate(level, at)
  local above = level
  while above do
    if above.active then
      local there = coordinates_at(above, level, at)
      above.active[key(above, there)] = there
    end
    above = above.parent
  end
end

-- Deactivates the cell of a pointer or bitmasked level, with all below it.
local function deactivate(tree, level, at)
  local wanted = key(level, at)
  local function is_below(lower, there)
    local above = lower
    while above do
      if above == level then return key(level, coordinates_at(level, lower, there)) == wanted end
      above = above.parent
    end
  end
  for _, lower in ipairs(tree.levels) do
    for k, there in pairs(lower.active or {}) do
      if is_below(lower, there) then lower.active[k] = nil end
    end
  end
  for _, field in ipairs(tree.fields) do
    for k, cell in pairs(field.values) do
      if is_below(field.level, cell.at) then field.values[k] = nil end
    end
  end
end

local function read(field, at)
  local cell = field.values[key(field.level, at)]
  return cell and cell.value or 0
end

local function is_inside(level, at)
  for _, axis in ipairs(axes_of(level)) do
    if at[axis] < 0 or at[axis] >= extent(level, axis) then return false end
  end
  return true
end

local function write(field, at, value)
  if not is_inside(field.level, at) then return end
  activate(field.level, at)
  field.values[key(field.level, at)] = { at = at, value = value }
end

-- Calls `visit` with the coordinates of every cell of a level, in index order.
local function each_cell(level, visit)
  local axes = axes_of(level)
  local function walk(number, at)
    if number > #axes then
      local copy = {}
      for k, v in pairs(at) do copy[k] = v end
      return visit(copy)
    end
    for index = 0, extent(level, axes[number]) - 1 do
      at[axes[number]] = index
      walk(number + 1, at)
    end
  end
  walk(1, {})
end

local function active_cells(level)
  local cells = {}
  each_cell(level, function(at)
    if is_active(level, at) then cells[#cells + 1] = at end
  end)
  return cells
end

local function list(level, at)
  local indices = {}
  for number, axis in ipairs(axes_of(level)) do indices[number] = at[axis] end
  return unpack(indices)
end

-- -- making both ----------------------------------------------------------------------------------

local function cell_count(level)
  local count = 1
  for _, axis in ipairs(level and axes_of(level) or {}) do count = count * extent(level, axis) end
  return count
end

local most_cells = 1200

local function add_level(tree, parent, kind)
  local level = { parent = parent, size = {}, active = kind ~= "dense" and {} or nil }
  local axes, sizes, count = "", {}, cell_count(parent)
  for axis in letters:gmatch "." do
    local size = random(1, 6) == 1 and random(5, 19) or random(1, 4)
    if random(1, 3) > 1 and count * size <= most_cells then
      axes, sizes[#sizes + 1], level.size[axis], count = axes .. axis, size, size, count * size
    end
  end
  if axes == "" then axes, sizes, level.size = "i", { 1 }, { i = 1 } end
  local above = parent and parent.node or tree.root
  sizes[#sizes + 1] = { layout = pick { "soa", "soa", "aos" } }
  level.node = above[kind](above, axes, unpack(sizes))
  tree.levels[#tree.levels + 1] = level
  return level
end

local function add_fields(tree, level, count)
  for _ = 1, count do
    local type = pick { "i32", "f64", "i64", "f32", "i16" }
    local handle = rg.field(rg[type])
    level.node:place(handle)
    tree.fields[#tree.fields + 1] = { level = level, handle = handle, values = {}, type = type }
  end
end

-- A chain of levels, sometimes with a branch and fields in between.
local function random_tree()
  local tree = { root = rg.tree(), levels = {}, fields = {} }
  local level
  for depth = 1, random(1, 4) do
    level = add_level(tree, level, pick { "pointer", "bitmasked", "pointer", "dense" })
    if random(1, 4) == 1 then add_fields(tree, level, 1) end
    if depth > 1 and random(1, 4) == 1 then
      add_fields(tree, add_level(tree, level.parent, pick { "pointer", "bitmasked", "dense" }), 1)
    end
  end
  add_fields(tree, level, random(1, 3))
  return tree
end

-- -- doing the same to both -----------------------------------------------------------------------

local function names(level) return table.concat(axes_of(level), ", ") end

-- The text of an element, its indices shifted.
local function element(name, level, shift)
  local text = name
  for _, axis in ipairs(axes_of(level)) do
    text = text .. ("[%s + %d]"):format(axis, shift and shift[axis] or 0)
  end
  return text
end

local function random_shift(level)
  local shift = {}
  for _, axis in ipairs(axes_of(level)) do shift[axis] = pick { 0, 0, 1, -1, 2, -3, 5 } end
  return shift
end
local function moved(at, shift)
  local there = {}
  for axis, index in pairs(at) do there[axis] = index + (shift[axis] or 0) end
  return there
end

local function random_cell(level)
  local at = {}
  for _, axis in ipairs(axes_of(level)) do at[axis] = random(0, extent(level, axis) - 1) end
  return at
end

local function weight_of(level, at)
  local sum = 0
  for number, axis in ipairs(axes_of(level)) do sum = sum + number * number * at[axis] end
  return sum
end
local function weight_text(level)
  local parts = {}
  for number, axis in ipairs(axes_of(level)) do
    parts[number] = ("%d * %s"):format(number * number, axis)
  end
  return table.concat(parts, " + ")
end

local function range_of(level)
  local parts = {}
  for number, axis in ipairs(axes_of(level)) do parts[number] = extent(level, axis) end
  return "rg.range(" .. table.concat(parts, ", ") .. ")"
end

local function fields_at(tree, level)
  local found = {}
  for _, field in ipairs(tree.fields) do
    if field.level == level then found[#found + 1] = field end
  end
  return found
end

local steps = {}

function steps.set_from_lua(tree)
  local field = pick(tree.fields)
  for _ = 1, 3 do
    local at, value = random_cell(field.level), random(1, 50)
    field.handle[{ list(field.level, at) }] = value
    write(field, at, value)
  end
end

function steps.write_some(tree)
  local field = pick(tree.fields)
  local modulus, rest, level = random(2, 9), random(0, 1), field.level
  rg.kernel(("function() for %s in %s do if (%s) %% %d == %d then %s = (%s) %% 40 + 1 end end end")
    :format(names(level),
    range_of(level), weight_text(level), modulus, rest, element("x", level), weight_text(level)),
      { x = field.handle })()
  each_cell(level, function(at)
    local weight = weight_of(level, at)
    if weight % modulus == rest then write(field, at, weight % 40 + 1) end
  end)
end

-- A stencil: reads neighbours of one field, writes the own cell of another.
function steps.gather(tree)
  local into = pick(tree.fields)
  local from, level = pick(fields_at(tree, into.level)), into.level
  if from == into then return end
  local first, second = random_shift(level), random_shift(level)
  local text = ("function() for %s in x:active() do %s = rg.%s((%s - %s + 1) %% 997) end end")
    :format(names(level),
    element("y", level), into.type, element("x", level, first), element("x", level, second))
  rg.kernel(text, { x = from.handle, y = into.handle })()
  for _, at in ipairs(active_cells(level)) do
    write(into, at, (read(from, moved(at, first)) - read(from, moved(at, second)) + 1) % 997)
  end
end

-- Updates of shifted cells, which activate them. Some are out of bounds; most trees test first.
function steps.scatter(tree)
  local field = pick(tree.fields)
  local level, shift, by = field.level, random_shift(field.level), random(1, 3)
  local update = ("%s = %s + %d"):format(element("x", level, shift), element("x", level, shift), by)
  if not tree.strays then
    local inside = {}
    for number, axis in ipairs(axes_of(level)) do
      inside[number] = ("%s + %d >= 0 and %s + %d < %d"):format(axis, shift[axis], axis,
        shift[axis], extent(level, axis))
    end
    update = ("if %s then %s end"):format(table.concat(inside, " and "), update)
  end
  local counted = rg.stats().out_of_range
  rg.kernel(("function() for %s in x:active() do %s end end"):format(names(level), update),
    { x = field.handle })()
  local strays = 0
  for _, at in ipairs(active_cells(level)) do
    local there = moved(at, shift)
    if is_inside(level, there) then
      write(field, there, read(field, there) + by)
    else strays = strays + 1 end
  end
  assert.equal(tree.strays and strays or 0, rg.stats().out_of_range - counted)
end

local function random_sparse(tree)
  local found = {}
  for _, level in ipairs(tree.levels) do
    if level.active then found[#found + 1] = level end
  end
  return found[1] and pick(found)
end

function steps.deactivate(tree)
  local level = random_sparse(tree)
  if not level then return end
  for _ = 1, 2 do
    local at = random_cell(level)
    level.node:deactivate(list(level, at))
    deactivate(tree, level, at)
  end
end

function steps.deactivate_some(tree)
  local level = random_sparse(tree)
  if not level then return end
  rg.kernel(("function() for %s in b:active() do if (%s) %% 2 == 0 then b:deactivate(%s) end end \z
    end"):format(names(level),
    weight_text(level), names(level)), { b = level.node })()
  for _, at in ipairs(active_cells(level)) do
    if weight_of(level, at) % 2 == 0 then deactivate(tree, level, at) end
  end
end

function steps.activate(tree)
  local level = random_sparse(tree)
  if not level then return end
  local at = random_cell(level)
  level.node:activate(list(level, at))
  activate(level, at)
end

function steps.clear(tree)
  local level = random_sparse(tree)
  if not level or random(1, 3) > 1 then return end
  level.node:clear()
  for _, at in ipairs(active_cells(level)) do deactivate(tree, level, at) end
end

-- Loading undoes what happened after the save, and changes nothing else.
function steps.save_and_load(tree)
  local path, things = os.tmpname(), { tree = tree.root }
  for k, field in ipairs(tree.fields) do things["x" .. k] = field.handle end
  rg.save(path, things)
  local field, level = pick(tree.fields), random_sparse(tree)
  field.handle[{ list(field.level, random_cell(field.level)) }] = 77
  if level then level.node:deactivate(list(level, random_cell(level))) end
  if level and random(1, 2) == 1 then level.node:clear() end
  rg.load(path, things)
  os.remove(path)
end

function steps.collect() rg.gc() end

local step_names = {}
for name in pairs(steps) do step_names[#step_names + 1] = name end
table.sort(step_names)

-- -- comparing ------------------------------------------------------------------------------------

local function compare(tree, story)
  for number, level in ipairs(tree.levels) do
    if level.active then
      assert.equal(#active_cells(level), level.node:count(), ("%s: active cells of level %d")
        :format(story, number))
    end
  end
  for number, field in ipairs(tree.fields) do
    local level, sum, visits = field.level, 0, 0
    for _, at in ipairs(active_cells(level)) do
      visits = visits + 1
      sum = sum + read(field, at) * (weight_of(level, at) % 16)
    end
    field.sum = field.sum or rg.kernel(([[function()
      local visits = 0
      local sum: f64 = 0
      for %s in x:active() do
        visits += 1
        sum += %s * ((%s) %% 16)
      end
      return sum + 1099511627776.0 * visits
    end]]):format(names(level), element("x", level), weight_text(level)),
      { x = field.handle })
    assert.equal(sum + 2 ^ 40 * visits, field.sum(), ("%s: sum and visits of field %d"):format(
      story, number))
    each_cell(level, function(at)
      local expected, got = read(field, at), tonumber(field.handle[{ list(level, at) }])
      if expected ~= got then
        assert.equal(expected, got, ("%s: field %d at %s"):format(story, number, key(level, at)))
      end
    end)
  end
end

describe("a random tree", function()
  local trees, first = tonumber(os.getenv "RG_MODEL_TREES" or 16),
    tonumber(os.getenv "RG_MODEL_SEED" or 1)

  it("agrees with a model after every step", function()
    for seed = first, first + trees - 1 do
      state = seed * 7919 + 12345
      for _ = 1, 5 do random(0, 1) end
      local tree = random_tree()
      tree.strays = seed % 8 == 0
      local story = ("RG_MODEL_SEED=%d RG_MODEL_TREES=1"):format(seed)
      compare(tree, story .. " at first")
      for _ = 1, 10 do
        local name = pick(step_names)
        steps[name](tree)
        compare(tree, story .. " after " .. name)
      end
      tree.root:destroy()
    end
  end)
end)
