--- Grids over ranks: `rg.grid{ shape = {n, m}, halo = 1, periodic = true }` gives each rank a block
--- of the cells. The fields of a grid have global indices and `halo` more cells on each side, which
--- `grid:exchange` fills from the neighbours' windows. With `block`, fields are sparse: blocks.lua.
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

-- -- the division into blocks ---------------------------------------------------------------------

-- The number of a block's cells that its neighbours read.
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
-- of blocks differ by at most one.
local function part_of(cells, count, k)
  return math.floor(cells * k / count), math.floor(cells * (k + 1) / count)
end

-- The number of blocks along each axis, in total `size`: the division with the smallest surface,
-- with blocks that are at least as long as the halo; nil if there is none.
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
      return fail.argument("an extent of a grid must be a positive whole number, got "
        .. fail.describe(extent))
    end
  end
  return { unpack(shape) }
end

local function read_halo(halo)
  if halo == nil then return 1 end
  if type(halo) ~= "number" or halo % 1 ~= 0 or halo < 0 then
    return fail.option({ halo = halo }, "halo", "rg.grid", "a whole number of at least 0")
  end
  return halo
end

local function read_periodic(periodic, axes)
  local list, is_list = {}, type(periodic) == "table"
  for axis = 1, axes do
    local value = periodic
    if is_list then value = periodic[axis] end
    if value ~= nil and type(value) ~= "boolean" or is_list and #periodic ~= axes then
      return fail.option({ periodic = periodic }, "periodic", "rg.grid",
        "true, false or a list with one of them for each axis")
    end
    list[axis] = value or false
  end
  return list
end

-- The text of a value in a script: 8, {8, 9}.
local function text_of(v)
  if type(v) ~= "table" then return tostring(v) end
  local parts = {}
  for k, part in ipairs(v) do parts[k] = tostring(part) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- Raises on all ranks unless all of them have the same options.
local function compare(self, block)
  if self.comm.size == 1 then return end
  local lines = {}
  for k, name in ipairs { "shape", "halo", "periodic" } do
    lines[k] = ("%s = %s"):format(name, text_of(self[name]))
  end
  lines[4] = "block = " .. text_of(block)
  local all = self.comm:gather(table.concat(lines, "\n") .. "\n")
  for rank = 1, self.comm.size - 1 do
    local others = all[rank]:gmatch "[^\n]+"
    for first in all[0]:gmatch "[^\n]+" do
      local other = others()
      if other ~= first then
        return fail.argument(("rg.grid has other options on rank %d than on rank 0: %s there, %s \z
          on rank 0"):format(rank, other, first))
      end
    end
  end
end

-- -- halos ----------------------------------------------------------------------------------------

-- By the number of axes: x[i] = p[i + s] for i in the box from `a` to `b`.
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

-- The neighbouring rank along an axis, on side -1 or 1, and the difference between the indices of a
-- cell in its field and in ours, since a peer's field has our indices; nil at an end of the grid.
local function neighbour(self, axis, side)
  local place, cells, count = { unpack(self.place) }, self.shape[axis], self.blocks[axis]
  place[axis] = (place[axis] + side) % count
  local is_past = self.place[axis] + side ~= place[axis]
  if is_past and not self.periodic[axis] then return nil end
  local further = self.from[axis] - part_of(cells, count, place[axis])
  return rank_at(self.blocks, place), further - (is_past and side * cells or 0)
end

-- `from` and `past` of each axis of the cells beyond this block's side, or of the block's own cells
-- that the neighbour has beyond its side. They include the halos of earlier axes, which are filled.
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

-- Copies p to x at the cells of a box; indices of p are larger by `shift`.
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

-- -- halos from outside the team ------------------------------------------------------------------

-- The array for the cells of x that are sent to a neighbour outside the team, or received from it;
-- nil if there are none.
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

-- Cells sent on one side are received on the other, so the sides of received ones are reversed.
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
  options = fail.options(options, { "name", "layout" }, "grid:field")
  local extents, offset = {}, {}
  for axis = 1, #self.shape do -- the extents of the largest block, the same on all ranks
    offset[axis] = self.from[axis] - self.halo
    extents[axis] = math.ceil(self.shape[axis] / self.blocks[axis]) + 2 * self.halo
  end
  local x = field.create(self.session, { type = t, shape = extents, offset = offset,
    name = options.name, layout = options.layout })
  lib.check(lib.C.rg_field_set_global(x.rg_field), x.rg_runtime)
  self.windows[x] = self.comm:window(x)
  return x
end

--- Fills the halos of these fields from the neighbouring ranks. Collective.
function methods.exchange(self, ...)
  local count = select("#", ...)
  for k = 1, count do
    if not self.windows[(select(k, ...))] then
      return fail.argument("grid:exchange takes fields of this grid, made by grid:field, not "
        .. fail.describe((select(k, ...))))
    end
  end
  local fields, is_one_team = { ... }, self.comm.team.count == self.comm.size
  for axis = 1, #self.shape do -- first wait for earlier writes, including those from other teams
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

-- Sets the members that users read; lists are copies, which the grid itself does not use.
local function show_members(self, names)
  self.members = {}
  for _, name in ipairs(names) do
    local v = self[name]
    self.members[name] = type(v) == "table" and not getmetatable(v) and { unpack(v) } or v
  end
  return self
end

-- -- the module -----------------------------------------------------------------------------------

--- Creates a grid. Collective. `from` and `past` are this rank's cells, by axis, from 1 on.
function grid.create(session, rg, options)
  options = fail.options(options, option_names, "rg.grid",
    "rg.grid{ shape = {256, 256}, halo = 1 }")
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
    return fail.argument(("a grid of %s cells cannot be divided into %d blocks of at least %d \z
      cells per side"):format(table.concat(shape, " x "), comm.size, math.max(halo, 1)),
      "use fewer ranks, more cells, or a smaller halo")
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
