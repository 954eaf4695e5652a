--- Grids over ranks: `rg.grid{ shape = {n, m}, halo = 1, periodic = true }` gives each rank a block
--- of the cells. Its fields have global indices and `halo` cells more on each side, which
--- `grid:exchange` fills: each rank reads its neighbours' windows. With `block` the fields are
--- sparse: blocks.lua.
local fail = require "regolith.error"
local lib = require "regolith.lib"
local array = require "regolith.data.array"
local field = require "regolith.data.field"
local block_grid = require "regolith.data.blocks"
local files = require "regolith.file.grid_file"
local sealed = require "regolith.sealed"

local grid = {}

local function show(object)
  local self = sealed.open(object)
  return ("grid of %s cells over %s ranks"):format(table.concat(self.shape, " x "),
    table.concat(self.blocks, " x "))
end
local Grid = { __regolith = "a grid", __tostring = show }
local function show_blocks(object)
  local self = sealed.open(object)
  return ("grid of %s cells in blocks of %s"):format(table.concat(self.shape, " x "),
    table.concat(self.block, " x "))
end
local BlockGrid = { __regolith = "a grid", __tostring = show_blocks }

local most_axes = 3

-- -- which rank has what --------------------------------------------------------------------------

-- The cells that a block of these extents shows to its neighbours.
local function surface(shape, blocks)
  local sum = 0
  for axis = 1, #shape do
    local face = blocks[axis] > 1 and 1 or 0
    for other = 1, #shape do
      if other ~= axis then face = face * shape[other] / blocks[other] end
    end
    sum = sum + face
  end
  return sum
end

-- The first cell of the k-th of `count` blocks along an axis, and that of the next block. Extents
-- of blocks differ by one at most.
local function part_of(cells, count, k)
  return math.floor(cells * k / count), math.floor(cells * (k + 1) / count)
end

-- The number of blocks along each axis: `size` blocks in all, with the least surface, each at least
-- as long as its halo; nil if that is impossible.
local function divide(shape, size, halo, periodic)
  local best, least
  local function try(axis, left, blocks)
    if axis > #shape then
      local cost = left == 1 and surface(shape, blocks)
      if cost and (not best or cost < least) then best, least = { unpack(blocks) }, cost end
      return
    end
    for count = 1, left do
      local shown = (count > 1 or periodic[axis]) and math.max(halo, 1) or 0
      if left % count == 0 and math.floor(shape[axis] / count) >= shown then
        blocks[axis] = count
        try(axis + 1, left / count, blocks)
      end
    end
  end
  try(1, size, {})
  return best
end

local place_of = block_grid.place_of -- of a rank among the blocks

local function rank_at(blocks, place)
  local rank = 0
  for axis = 1, #blocks do rank = rank * blocks[axis] + place[axis] end
  return rank
end

-- -- options --------------------------------------------------------------------------------------

local option_names = { "shape", "halo", "periodic", "block" }

local function read_shape(shape)
  if type(shape) == "number" then shape = { shape } end
  if type(shape) ~= "table" or #shape < 1 or #shape > most_axes then
    return fail.argument(("rg.grid needs a shape of 1 to %d extents, not %s"):format(most_axes,
      fail.describe(shape)), "rg.grid{ shape = {256, 256}, halo = 1 }")
  end
  for _, extent in ipairs(shape) do
    if type(extent) ~= "number" or extent % 1 ~= 0 or extent < 1 then
      return fail.argument("an extent of a grid is a positive whole number, not "
        .. fail.describe(extent))
    end
  end
  return { unpack(shape) }
end

local function read_halo(halo)
  if halo == nil then return 1 end
  if type(halo) ~= "number" or halo % 1 ~= 0 or halo < 0 then
    return fail.argument("option 'halo' must be a whole number of at least 0, got "
      .. fail.describe(halo))
  end
  return halo
end

local function read_periodic(periodic, axes)
  local list, is_list = {}, type(periodic) == "table"
  for axis = 1, axes do
    local value = periodic
    if is_list then value = periodic[axis] end
    if value ~= nil and type(value) ~= "boolean" or is_list and #periodic ~= axes then
      return fail.argument("option 'periodic' is true, false or one of them for each axis, not "
        .. fail.describe(periodic))
    end
    list[axis] = value or false
  end
  return list
end

-- A value as a script writes it: 8, {8, 9}.
local function said(v)
  if type(v) ~= "table" then return tostring(v) end
  local parts = {}
  for k, part in ipairs(v) do parts[k] = tostring(part) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- All ranks have the same grid, or none has one.
local function compare(self, block)
  if self.comm.size == 1 then return end
  local lines = {}
  for k, name in ipairs { "shape", "halo", "periodic" } do
    lines[k] = ("%s = %s"):format(name, said(self[name]))
  end
  lines[4] = "block = " .. said(block)
  local all = self.comm:gather(table.concat(lines, "\n") .. "\n")
  for rank = 1, self.comm.size - 1 do
    local others = all[rank]:gmatch "[^\n]+"
    for first in all[0]:gmatch "[^\n]+" do
      local other = others()
      if other ~= first then
        return fail.argument(("rg.grid is of other cells on rank %d than on rank 0: %s there, %s \z
          on rank 0"):format(rank, other, first))
      end
    end
  end
end

-- -- halos ----------------------------------------------------------------------------------------

-- x = p, `shift` cells further, in the box from `a` to `b`: by the number of axes.
local copies = {
  function(rg)
    return rg.kernel(function(x, p, a, b, s)
      for i in rg.range({ a, b }) do x[i] = p[i + s] end
    end)
  end,
  function(rg)
    return rg.kernel(function(x, p, a, b, s, c, d, t)
      for i, j in rg.range({ a, b }, { c, d }) do x[i][j] = p[i + s][j + t] end
    end)
  end,
  function(rg)
    return rg.kernel(function(x, p, a, b, s, c, d, t, e, f, u)
      for i, j, k in rg.range({ a, b }, { c, d }, { e, f }) do
        x[i][j][k] = p[i + s][j + t][k + u]
      end
    end)
  end,
}

-- The neighbouring rank along an axis, on side -1 or 1, and the shift of a cell's index in its
-- field, which has our indices in place of its own; nil where the grid ends.
local function neighbour(self, axis, side)
  local place, cells, count = { unpack(self.place) }, self.shape[axis], self.blocks[axis]
  place[axis] = (place[axis] + side) % count
  local is_past = self.place[axis] + side ~= place[axis]
  if is_past and not self.periodic[axis] then return nil end
  local further = self.from[axis] - part_of(cells, count, place[axis])
  return rank_at(self.blocks, place), further - (is_past and side * cells or 0)
end

-- The cells past this block's side, or those of the block that its neighbour there has past its
-- own: `from` and `past` of each axis. They are as wide as the axes before, whose halos are there,
-- have become.
local function cells_at(self, axis, side, is_own)
  local from, past = {}, {}
  for k = 1, #self.shape do
    local wider = k < axis and self.halo or 0
    from[k], past[k] = self.from[k] - wider, self.past[k] + wider
  end
  local at = side < 0 and self.from[axis] or self.past[axis]
  if (side > 0) == is_own then at = at - self.halo end
  from[axis], past[axis] = at, at + self.halo
  return from, past
end

-- x = p, which counts its cells `shift` further, at these.
local function copy(self, x, p, from, past, shift)
  local box = {}
  for k = 1, #from do
    box[3 * k - 2], box[3 * k - 1], box[3 * k] = from[k], past[k], shift[k]
  end
  self.copy(x, p, unpack(box))
end

local function is_far(self, rank) return not block_grid.is_near(self.comm, rank) end

local function fill_side(self, x, axis, side)
  local rank, further = neighbour(self, axis, side)
  if not rank or self.halo == 0 or is_far(self, rank) then return end
  local from, past = cells_at(self, axis, side, false)
  local shift = {}
  for k = 1, #from do shift[k] = k == axis and further or 0 end
  copy(self, x, self.windows[x]:peer(rank), from, past, shift)
end

-- -- halos past the team --------------------------------------------------------------------------

-- An array for the cells of x sent to a neighbour outside the team, or received; nil if none are.
local function parcel_of(self, x, axis, side, is_out)
  local rank = neighbour(self, axis, side)
  if not rank or self.halo == 0 or not is_far(self, rank) then return end
  local name = ("%s %d %d"):format(is_out and "out" or "in", axis, side)
  self.parcels[x] = self.parcels[x] or {}
  local parcel = self.parcels[x][name]
  if not parcel then
    local from, past = cells_at(self, axis, side, is_out)
    local extents, zero, back = {}, {}, {}
    for k = 1, #from do extents[k], zero[k], back[k] = past[k] - from[k], 0, -from[k] end
    parcel = { rank, array.create(self.session, x.type, unpack(extents)), from = from, past = past,
      extents = extents, zero = zero, back = back }
    self.parcels[x][name] = parcel
  end
  return parcel
end

-- What goes out on one side comes in on the other, so the order of incoming ones is reversed.
local function trade_side(self, fields, axis)
  local outs, ins, filled = {}, {}, {}
  for _, x in ipairs(fields) do
    for side = -1, 1, 2 do
      local parcel = parcel_of(self, x, axis, side, true)
      if parcel then
        copy(self, parcel[2], x, parcel.zero, parcel.extents, parcel.from)
        outs[#outs + 1] = parcel
      end
      parcel = parcel_of(self, x, axis, -side, false)
      if parcel then ins[#ins + 1], filled[#filled + 1] = parcel, x end
    end
  end
  self.comm:trade(outs, ins)
  for k, parcel in ipairs(ins) do
    copy(self, filled[k], parcel[2], parcel.from, parcel.past, parcel.back)
  end
end

local methods = {}

--- A dense field of this rank's cells and their halo, by global indices. Collective.
function methods.field(self, t, options)
  if options ~= nil and type(options) ~= "table" then
    return fail.argument("options of grid:field must be a table, got " .. fail.describe(options))
  end
  fail.check_options(options or {}, { "name", "layout" }, "grid:field")
  local extents, offset = {}, {}
  for axis = 1, #self.shape do -- the same on all ranks: those of the largest block
    offset[axis] = self.from[axis] - self.halo
    extents[axis] = math.ceil(self.shape[axis] / self.blocks[axis]) + 2 * self.halo
  end
  local x = field.create(self.session, { type = t, shape = extents, offset = offset,
    name = options and options.name, layout = options and options.layout })
  lib.check(lib.C.rg_field_set_global(x.rg_field), x.rg_runtime)
  self.windows[x] = self.comm:window(x)
  return x
end

--- Fills the halos of these fields from the neighbouring ranks. Collective.
function methods.exchange(self, ...)
  local count = select("#", ...)
  for k = 1, count do
    if not self.windows[(select(k, ...))] then
      return fail.argument("grid:exchange takes fields that this grid:field made, not "
        .. fail.describe((select(k, ...))))
    end
  end
  local fields, is_one_team = { ... }, self.comm.team.count == self.comm.size
  for axis = 1, #self.shape do -- earlier writes have arrived, also from outside the team
    if is_one_team then self.comm:barrier() else trade_side(self, fields, axis) end
    for _, x in ipairs(fields) do
      fill_side(self, x, axis, -1)
      fill_side(self, x, axis, 1)
    end
  end
  if is_one_team then self.comm:barrier() else self.comm:trade({}, {}) end
end

-- -- snapshots ------------------------------------------------------------------------------------

local parts = { clear = function() end } -- grid_file.lua

function parts.has(self, x) return self.windows[x] ~= nil end

function parts.whole(self, x)
  local axes, whole = ("ijk"):sub(1, #self.shape), field.create(self.session, { type = x.type })
  local tree = self.rg.tree()
  tree:dense(axes, unpack(self.shape)):place(whole)
  return whole, tree
end

-- The cells of a rank.
local function cells_of_rank(self, rank)
  local place, from, past, extents = place_of(self.blocks, rank), {}, {}, {}
  for k = 1, #self.shape do
    from[k], past[k] = part_of(self.shape[k], self.blocks[k], place[k])
    extents[k] = past[k] - from[k]
  end
  return from, past, extents
end

function parts.empty(self, x, rank)
  local _, _, extents = cells_of_rank(self, rank)
  return { count = 1, cells = array.create(self.session, x.type, unpack(extents)) }
end

function parts.take(self, x, rank)
  local part, zero = parts.empty(self, x, rank), {}
  local from, _, extents = cells_of_rank(self, rank)
  for k = 1, #from do zero[k] = 0 end
  copy(self, part.cells, x, zero, extents, from)
  return part
end

function parts.put(self, x, rank, part)
  local from, past = cells_of_rank(self, rank)
  local back = {}
  for k = 1, #from do back[k] = -from[k] end
  copy(self, x, part.cells, from, past, back)
end

parts.exchange = methods.exchange
methods.save, methods.load = files.save, files.load

local shown = { "comm", "shape", "halo", "periodic", "from", "past", "blocks" }
local shown_of_blocks = { "comm", "shape", "halo", "periodic", "block", "owners" }
local make_grid = sealed.class(Grid, methods, shown, "a grid", "grid")
local make_block_grid = sealed.class(BlockGrid, block_grid.methods, shown_of_blocks,
  "a grid of blocks", "grid")

-- What a user reads: copies of lists, which the grid itself does not use.
local function show_members(self, names)
  self.members = {}
  for _, name in ipairs(names) do
    local v = self[name]
    self.members[name] = type(v) == "table" and not getmetatable(v) and { unpack(v) } or v
  end
  return self
end

-- -- the module -----------------------------------------------------------------------------------

--- Collective. `from` and `past`: this rank's cells, by axis, from 1 on.
function grid.create(session, rg, options)
  if type(options) ~= "table" then
    return fail.argument("rg.grid takes a table of options, not " .. fail.describe(options),
      "rg.grid{ shape = {256, 256}, halo = 1 }")
  end
  fail.check_options(options, option_names, "rg.grid")
  local comm = require("regolith.comm").open(session)
  local shape, halo = read_shape(options.shape), read_halo(options.halo)
  local self = { session = session, comm = comm, shape = shape, halo = halo,
    periodic = read_periodic(options.periodic, #shape) }
  compare(self, options.block)
  if options.block ~= nil then
    return make_block_grid(show_members(block_grid.create(self, rg, options.block),
      shown_of_blocks))
  end
  local blocks = divide(shape, comm.size, halo, self.periodic)
  if not blocks then
    return fail.argument(("a grid of %s cells cannot be cut into %d blocks of at least %d cells a \z
      side"):format(table.concat(shape, " x "), comm.size, math.max(halo, 1)),
      "fewer ranks, more cells, or a halo that is not as wide")
  end
  self.rg, self.parts = rg, parts
  self.blocks, self.place, self.from, self.past = blocks, place_of(blocks, comm.rank), {}, {}
  self.windows = setmetatable({}, { __mode = "k" })
  self.parcels = setmetatable({}, { __mode = "k" })
  self.copy = copies[#shape](rg)
  for axis = 1, #shape do
    self.from[axis], self.past[axis] = part_of(shape[axis], blocks[axis], self.place[axis])
  end
  return make_grid(show_members(self, shown))
end

return grid
