-- struct_model_spec.lua - random structs in random places, compared with plain Lua tables: a seed
-- determines a declaration, a tree and a list of steps, which kernels, Lua and a table per element
-- execute. RG_SEED is the first seed; RG_STRUCTS=n makes n of them.
local support = require "support"
local rg = support.rg
local random = math.random

local scalars = { "f32", "f64", "i32", "i64", "u8", "i16", "bool", "f16" }

-- -- what is declared -----------------------------------------------------------------------------

local declare

-- A type and its description: {kind, ..}.
local function make_type(depth)
  local kind = random(depth > 0 and 4 or 3)
  local scalar = scalars[random(#scalars)]
  if kind == 1 then return rg[scalar], { kind = "scalar", scalar = scalar } end
  if kind == 2 then
    local n = random(2, 5)
    return rg.vec(n, rg[scalar]), { kind = "vector", scalar = scalar, count = n }
  elseif kind == 3 then
    local rows, cols = random(2, 3), random(2, 3)
    return rg.mat(rows, cols, rg[scalar]), { kind = "matrix", scalar = scalar,
      rows = rows, cols = cols }
  end
  return declare(depth - 1)
end

function declare(depth)
  local members, row = {}, { kind = "struct", names = {}, members = {} }
  for k = 1, random(1, 4) do
    local name = ("m%d"):format(k)
    local t, inner = make_type(depth)
    members[k], row.names[k], row.members[name] = { name, t }, name, inner
  end
  return rg.struct(members), row
end

-- -- values: tables of numbers, as to_table gives them --------------------------------------------

-- Whole and small: exact in every type.
local function make_number(scalar)
  if scalar == "bool" then return random(2) == 1 end
  local x = random(0, 100)
  return scalar == "i64" and x + 0LL or x
end

local function make_value(row)
  if row.kind == "scalar" then return make_number(row.scalar) end
  local value = {}
  if row.kind == "struct" then
    for _, name in ipairs(row.names) do value[name] = make_value(row.members[name]) end
  end
  for k = 1, row.count or 0 do value[k] = make_number(row.scalar) end
  for r = 1, row.rows or 0 do
    value[r] = {}
    for c = 1, row.cols do value[r][c] = make_number(row.scalar) end
  end
  return value
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local same = {}
  for key, x in pairs(value) do same[key] = copy(x) end
  return same
end

-- A random place in a value: how a kernel writes it, and what is there.
local function make_place(row)
  local path, keys = "", {}
  while row.kind == "struct" and (#keys == 0 or random(3) > 1) do
    local name = row.names[random(#row.names)]
    path, keys[#keys + 1], row = path .. "." .. name, name, row.members[name]
  end
  if row.kind == "vector" and random(2) == 1 then
    local k = random(row.count)
    path, keys[#keys + 1] = ("%s[%d]"):format(path, k - 1), k
    row = { kind = "scalar", scalar = row.scalar }
  elseif row.kind == "matrix" and random(2) == 1 then
    local r, c = random(row.rows), random(row.cols)
    path, keys[#keys + 1], keys[#keys + 2] = ("%s[%d][%d]"):format(path, r - 1, c - 1), r, c
    row = { kind = "scalar", scalar = row.scalar }
  end
  return path, keys, row
end

local function get(value, keys)
  for _, key in ipairs(keys) do value = value[key] end
  return value
end

local function set(value, keys, x)
  for k = 1, #keys - 1 do value = value[keys[k]] end
  value[keys[#keys]] = x
end

-- -- steps ----------------------------------------------------------------------------------------

local count = 6
local steps = {}

-- From Lua, a whole element.
function steps.write(world)
  local i, value = random(0, count - 1), make_value(world.row)
  world.x[i], world.model[i] = copy(value), value
end

-- In a kernel, a place of one element to the same place of another.
function steps.copy_place(world)
  local path, keys = make_place(world.row)
  local i, j = random(0, count - 1), random(0, count - 1)
  rg.kernel(("function() x[%d]%s = x[%d]%s end"):format(i, path, j, path), { x = world.x })()
  set(world.model[i], keys, copy(get(world.model[j], keys)))
end

-- By way of a local that changes afterwards.
function steps.by_local(world)
  local path, keys = make_place(world.row)
  local other = make_place(world.row)
  local i, j = random(0, count - 1), random(0, count - 1)
  rg.kernel(([[function()
    local p, q = x[%d], x[%d]
    local r = P(p)
    p%s = q%s
    r%s = q%s
    x[%d] = p
  end]]):format(i, j, path, path, other, other, i), { x = world.x, P = world.type })()
  set(world.model[i], keys, copy(get(world.model[j], keys)))
end

-- A value that Lua passes, whole or as a table.
function steps.pass(world)
  local i, value = random(0, count - 1), make_value(world.row)
  local given = random(2) == 1 and copy(value) or world.type(copy(value))
  local back = rg.kernel(("function(p: P) x[%d] = p return p end"):format(i),
    { x = world.x, P = world.type })(given)
  assert.same(value, back:to_table())
  world.model[i] = value
end

-- An update of a number.
function steps.update(world)
  local path, keys, row = make_place(world.row)
  if row.kind ~= "scalar" or row.scalar == "bool" then return end
  local i = random(0, count - 1)
  rg.kernel(("function() for k in rg.range(3) do x[%d]%s = math.max(x[%d]%s, 80) end end")
    :format(i, path, i, path), { x = world.x })()
  local x = get(world.model[i], keys)
  set(world.model[i], keys, x > 80 and x or x * 0 + 80)
end

-- All elements at once, in parallel.
function steps.swap(world)
  local path, keys = make_place(world.row)
  rg.kernel(([[function() for i in rg.range(%d) do
    x[2 * i]%s, x[2 * i + 1]%s = x[2 * i + 1]%s, x[2 * i]%s
  end end]]):format(count / 2, path, path, path, path), { x = world.x })()
  for i = 0, count - 1, 2 do
    local a, b = get(world.model[i], keys), get(world.model[i + 1], keys)
    set(world.model[i], keys, b)
    set(world.model[i + 1], keys, a)
  end
end

-- There and back.
function steps.tables(world)
  world.x:from_table(world.x:to_table())
end

local names = {}
for name in pairs(steps) do names[#names + 1] = name end
table.sort(names)

-- -- worlds ---------------------------------------------------------------------------------------

local function place(T)
  local layout = random(2) == 1 and "aos" or "soa"
  local kind = random(4)
  if kind == 1 then return rg.field { type = T, shape = count, layout = layout } end
  if kind == 2 then return rg.array(T, count) end
  local x, y = rg.field(T), rg.field(rg.u8)
  local above = kind == 3 and rg.root:pointer("i", 3) or rg.root:bitmasked("i", 3)
  above:dense("i", 2, { layout = layout }):place(y, x)
  return x
end

local function check(world, step)
  for i = 0, count - 1 do
    assert.same(world.model[i], world.x[i]:to_table(), ("element %d after %s"):format(i, step))
  end
end

local function try(seed)
  math.randomseed(seed)
  local T, row = declare(2)
  local world = { type = T, row = row, x = place(T), model = {} }
  for i = 0, count - 1 do
    local value = make_value(row)
    world.x[i], world.model[i] = copy(value), value
  end
  check(world, "the first writes")
  for _ = 1, 6 do
    local step = names[random(#names)]
    steps[step](world)
    check(world, step)
  end
end

describe("random structs", function()
  it("agree with tables, step by step", function()
    local first = tonumber(os.getenv "RG_SEED") or 1
    for seed = first, first + (tonumber(os.getenv "RG_STRUCTS") or 5) - 1 do
      local ok, message = pcall(try, seed)
      assert(ok, ("RG_SEED=%d: %s"):format(seed, tostring(message)))
    end
  end)
end)
