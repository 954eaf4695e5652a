--- Grids of blocks over ranks: `rg.grid{ shape = {n, m}, block = 8 }`. Fields are sparse, with the
--- indices of the whole grid. Each block of cells is owned by one rank, which has copies of the
--- blocks next to its own, as far as the halo reaches:
---
---     own own own copy  .       a kernel over active cells runs on copies, too: so what a cell of
---     own own own copy  .       another rank does to one of ours happens here as well;
---     copy copy copy .  .       grid:exchange makes copies equal to their owners' blocks
---
--- Blocks are numbered along a Morton curve, and each rank owns those between two cuts of it, so
--- nearby blocks mostly have one owner. Every rank has a table of all owners.
--- Decision D-lua-11.
local ffi = require "ffi"
local fail = require "regolith.error"
local lib = require "regolith.lib"
local array = require "regolith.data.array"
local field = require "regolith.data.field"
local files = require "regolith.file.grid_file"

local blocks = {}

-- -- kernels, by the number of axes and the cells of a block --------------------------------------

-- { parameters, what the loop visits, body }: a loop over the cells of listed blocks, or over the
-- blocks. @ is replaced by the indices of all axes.
local texts = {
  pull = { "function(x, p, list, n)", "cells", "if p:is_active(@i) then x[@] = p[@] end" },
  add = { "function(x, p, list, n)", "cells", "if p:is_active(@i) then x[@] = x[@] + p[@] end" },
  drop = { "function(node, p, list, n)", "blocks",
    "if not p:is_active(@i) then node:deactivate(@b) end" },
  forget = { "function(node, list, n)", "blocks", "node:deactivate(@b)" },
  look = { "function(x, list, n, flags)", "blocks",
    "flags[m] = 0 if x:is_active(@i) then flags[m] = 1 end" },
  pack = { "function(x, list, n, out)", "cells", "out[m][@c] = x[@]" },
  unpack = { "function(x, list, n, out)", "cells", "x[@] = out[m][@c]" },
  unpack_add = { "function(x, list, n, out)", "cells", "x[@] = x[@] + out[m][@c]" },
  weigh = { "function(x, list, n, work)", "blocks", "if x:is_active(@i) then work[@b] = 1 end" },
}

local function joined(axes, between, f)
  local parts = {}
  for k = 1, axes do parts[k] = f(k) end
  return table.concat(parts, between)
end

local function text_of(name, block)
  local head, over, body = unpack(texts[name])
  local axes, is_cells = #block, over == "cells"
  local function along(form)
    return function(k) return (form:gsub("#", k - 1):gsub("B", block[k])) end
  end
  local lines = { head, is_cells and ("for m, %s in rg.range(n, %s) do"):format(
    joined(axes, ", ", along "c#"), joined(axes, ", ", along "B")) or "for m in rg.range(n) do" }
  lines[3] = joined(axes, " ", along(is_cells and "local i# = list[m][#] * B + c#"
    or "local b# = list[m][#] local i# = b# * B"))
  lines[4] = body:gsub("%[@c%]", joined(axes, "][", along "c#"):gsub("^", "["):gsub("$", "]"))
    :gsub("work%[@b%]", "work[" .. joined(axes, "][", along "b#") .. "]")
    :gsub("%(@i%)", "(" .. joined(axes, ", ", along "i#") .. ")")
    :gsub("%(@b%)", "(" .. joined(axes, ", ", along "b#") .. ")")
    :gsub("%[@%]", "[" .. joined(axes, "][", along "i#") .. "]")
  lines[5] = "end end"
  return table.concat(lines, "\n")
end

local function run(self, name, ...)
  self.kernels[name] = self.kernels[name] or self.rg.kernel(text_of(name, self.block),
    { rg = self.rg }, { name = "grid." .. name })
  return self.kernels[name](...)
end

-- -- blocks ---------------------------------------------------------------------------------------

-- The position of a number in a grid with these extents; the last axis varies fastest.
local function place_of(counts, number)
  local place = {}
  for axis = #counts, 1, -1 do
    place[axis] = number % counts[axis]
    number = (number - place[axis]) / counts[axis]
  end
  return place
end

local function morton(place)
  local key, bit = 0, 1
  local rest = { unpack(place) }
  for _ = 1, 52 / #place do
    for axis = #place, 1, -1 do
      key = key + rest[axis] % 2 * bit
      rest[axis], bit = math.floor(rest[axis] / 2), bit * 2
    end
  end
  return key
end

-- All blocks, along the curve.
local function curve(counts, total)
  local order, keys = {}, {}
  for number = 0, total - 1 do
    order[number + 1], keys[number] = number, morton(place_of(counts, number))
  end
  table.sort(order, function(a, b) return keys[a] < keys[b] end)
  return order
end

-- The owners when each rank gets a part of the curve with as equal a share of the work as possible.
local function cut(self, work)
  local owners, total, sum = {}, 0, 0
  for number = 0, self.total - 1 do total = total + work[number] end
  for _, number in ipairs(self.order) do
    local middle = total > 0 and (sum + work[number] / 2) / total or 0
    owners[number] = math.min(math.floor(middle * self.comm.size), self.comm.size - 1)
    sum = sum + work[number]
  end
  return owners
end

-- The work of the busiest rank, relative to the mean.
local function imbalance(self, owners, work)
  local loads, most, sum = {}, 0, 0
  for number = 0, self.total - 1 do
    local rank = owners[number]
    loads[rank] = (loads[rank] or 0) + work[number]
    most, sum = math.max(most, loads[rank]), sum + work[number]
  end
  return sum > 0 and most * self.comm.size / sum or 1
end

-- The numbers of the blocks around one, as far as the halo reaches.
local function neighbours_of(self, number)
  local place, list = place_of(self.counts, number), {}
  local function go(axis, so_far)
    if axis > #place then list[#list + 1] = so_far return end
    for step = -self.ring[axis], self.ring[axis] do
      local at, count = place[axis] + step, self.counts[axis]
      if self.periodic[axis] then at = at % count end
      if at >= 0 and at < count then go(axis + 1, so_far * count + at) end
    end
  end
  go(1, 0)
  return list
end

-- -- lists ----------------------------------------------------------------------------------------

local function add_to(lists, rank, number, seen)
  local key = rank * 2 ^ 40 + number
  if seen[key] then return end
  seen[key] = true
  lists[rank] = lists[rank] or {}
  table.insert(lists[rank], number)
end

-- The positions of blocks with these numbers, as an array for kernels.
local function list_of(self, numbers)
  table.sort(numbers)
  local axes, rows = #self.counts, {}
  for k, number in ipairs(numbers) do rows[k] = place_of(self.counts, number) end
  if #rows == 0 then return { count = 0 } end
  return { count = #rows, array = array.create(self.session, self.rg.i32, #rows, axes)
    :from_table(rows) }
end

local function lists_of(self, lists)
  local made = {}
  for rank = 0, self.comm.size - 1 do
    if lists[rank] then made[rank] = list_of(self, lists[rank]) end
  end
  return made
end

-- After owners changed: own blocks, copies by owner, and own blocks that others have copies of.
local function set_owners(self, owners)
  local mine, copies, shown, own, seen = self.comm.rank, {}, {}, {}, {}
  local kept = {}
  for number = 0, self.total - 1 do
    local owner = owners[number]
    if owner == mine then own[#own + 1], kept[number] = number, true end
    for _, other in ipairs(neighbours_of(self, number)) do
      local whose = owners[other]
      if whose ~= owner and owner == mine then add_to(shown, whose, number, seen) end
      if whose ~= owner and whose == mine then
        add_to(copies, owner, number, seen)
        kept[number] = true
      end
    end
  end
  self.owner_of, self.kept, self.own = owners, kept, list_of(self, own)
  self.copies, self.shown = lists_of(self, copies), lists_of(self, shown)
  for number = 0, self.total - 1 do
    local at, place = self.owners, place_of(self.counts, number)
    for axis = 1, #place - 1 do at = at[place[axis]] end
    at[place[#place]] = owners[number]
  end
end

-- -- fields ---------------------------------------------------------------------------------------

local methods = {}

local function tree_of(self)
  local axes = ("ijk"):sub(1, #self.shape)
  local tree = self.rg.tree()
  local node = tree:pointer(axes, unpack(self.counts))
  return tree, node, node:dense(axes, unpack(self.block))
end

-- Nil if a GPU's memory cannot be shared, which all ranks then find: then blocks are copied.
local function open_window(self, x)
  if self.has_no_windows then return end
  local ok, window = pcall(self.comm.window, self.comm, x)
  if ok then return window end
  if fail.caught(window).code ~= "device.missing" then error(window, 0) end
  self.has_no_windows = true
end

--- Places fields, made without a shape, in the cells of one tree. Collective.
function methods.place(self, ...)
  local _, node, cells = tree_of(self)
  cells:place(...)
  for k = 1, select("#", ...) do
    local x = select(k, ...)
    lib.check(lib.C.rg_field_set_global(x.rg_field), x.rg_runtime)
    local entry = { field = x, node = node, window = open_window(self, x) }
    self.entries[x] = entry
    table.insert(self.list, entry)
  end
  return ...
end

--- A sparse field of the whole grid, of which this rank has its own blocks and copies of those
--- around them. Collective.
function methods.field(self, t, options)
  options = fail.options(options, { "name" }, "grid:field")
  return (methods.place(self, field.create(self.session, { type = t, name = options.name })))
end

local function entries_of(self, what, ...)
  local entries = {}
  for k = 1, select("#", ...) do
    local entry = self.entries[(select(k, ...))]
    if not entry then
      return fail.argument(("%s takes fields that this grid:field made, not %s"):format(what,
        fail.describe((select(k, ...)))))
    end
    entries[k] = entry
  end
  return entries
end

-- -- together -------------------------------------------------------------------------------------

-- Whether the rank is in this rank's team, whose memory is read in place.
local function is_near(comm, rank)
  return rank >= comm.team.first and rank < comm.team.first + comm.team.count
end

-- Whether the blocks of a rank are read in place.
local function is_read(self, rank) return not self.has_no_windows and is_near(self.comm, rank) end

-- The positions of the listed blocks that are active, and of those that are not.
local function split(list, flags)
  local active, gone = {}, {}
  for m, place in ipairs(list.array:to_table()) do
    local to = flags[m - 1] == 1 and active or gone
    to[#to + 1] = place
  end
  return active, gone
end

local function rows_of(self, places)
  return array.create(self.session, self.rg.i32, #places, #self.shape):from_table(places), #places
end

-- A parcel for each field and each list of a rank whose blocks are not read in place.
local function parcels_of(self, entries, lists)
  local parcels = {}
  for rank = 0, self.comm.size - 1 do
    local list = not is_read(self, rank) and lists[rank]
    for _, entry in ipairs(list and entries or {}) do
      parcels[#parcels + 1] = { rank, array.create(self.session, self.rg.i32, list.count),
        entry = entry, list = list }
    end
  end
  return parcels
end

local function cells_of(self, parcel, active)
  return { parcel[1], array.create(self.session, parcel.entry.field.type, #active,
    unpack(self.block)), entry = parcel.entry, places = active }
end

-- For memory that cannot be read in place: which blocks are active, then the cells of those.
local function trade(self, entries, take, give, adds)
  local outs, ins = parcels_of(self, entries, give), parcels_of(self, entries, take)
  for _, parcel in ipairs(outs) do
    run(self, "look", parcel.entry.field, parcel.list.array, parcel.list.count, parcel[2])
  end
  self.comm:trade(outs, ins)
  local out_cells, in_cells = {}, {}
  for _, parcel in ipairs(outs) do
    local active = split(parcel.list, parcel[2])
    if #active > 0 then
      local cells = cells_of(self, parcel, active)
      local rows, count = rows_of(self, active)
      run(self, "pack", parcel.entry.field, rows, count, cells[2])
      out_cells[#out_cells + 1] = cells
    end
  end
  for _, parcel in ipairs(ins) do
    local active, gone = split(parcel.list, parcel[2])
    if #gone > 0 and not adds then run(self, "forget", parcel.entry.node, rows_of(self, gone)) end
    if #active > 0 then in_cells[#in_cells + 1] = cells_of(self, parcel, active) end
  end
  self.comm:trade(out_cells, in_cells)
  for _, cells in ipairs(in_cells) do
    local rows, count = rows_of(self, cells.places)
    run(self, adds and "unpack_add" or "unpack", cells.entry.field, rows, count, cells[2])
  end
end

-- Copies of other ranks' blocks, `take` by rank, become equal to the originals, or get them added;
-- `give` lists the blocks of this rank that others take. Shared memory is read in place.
local function fetch(self, entries, take, give, adds)
  local comm = self.comm
  comm:barrier()
  for rank = 0, comm.size - 1 do
    local list = is_read(self, rank) and take[rank]
    for _, entry in ipairs(list and entries or {}) do
      local peer = entry.window:peer(rank)
      if not adds then run(self, "drop", entry.node, peer, list.array, list.count) end
      run(self, adds and "add" or "pull", entry.field, peer, list.array, list.count)
    end
  end
  if self.has_no_windows or comm.team.count < comm.size then
    trade(self, entries, take, give, adds)
  end
  comm:barrier()
end

--- Makes copies of other ranks' blocks equal to the originals: active where those are, with the
--- same cells. Collective.
function methods.exchange(self, ...)
  fetch(self, entries_of(self, "grid:exchange", ...), self.copies, self.shown, false)
end

--- Adds what this rank has in copies of other ranks' blocks to the originals, in order of ranks;
--- such copies must start from zero. Collective; grid:exchange then fetches the sums.
function methods.collect(self, ...)
  fetch(self, entries_of(self, "grid:collect", ...), self.shown, self.copies, true)
end

-- -- balance --------------------------------------------------------------------------------------

local function is_per_block(self, work)
  if not array.is(work) or work.type.element then return false end
  local axes = 0
  for axis, extent in pairs(work.shape) do
    if extent ~= self.counts[axis + 1] then return false end
    axes = axes + 1
  end
  return axes == #self.counts
end

-- The work in each block: an array of the sums over ranks.
local function measure(self, work)
  local sums = array.create(self.session, self.rg.f64, unpack(self.counts))
  if work then sums:from_table(work:to_table())
  elseif self.own.count > 0 and self.list[1] then
    run(self, "weigh", self.list[1].field, self.own.array, self.own.count, sums)
  end
  self.comm:all_reduce(sums)
  local list, numbers = {}, sums:to_string()
  local pointer = ffi.cast("const double *", numbers)
  for number = 0, self.total - 1 do list[number] = pointer[number] end
  return list
end

-- Moves the blocks whose owner changes.
local function move(self, owners)
  local take, give, mine, gone, before = {}, {}, self.comm.rank, {}, self.kept
  for number = 0, self.total - 1 do
    local from, to = self.owner_of[number], owners[number]
    if from ~= to and to == mine then add_to(take, from, number, {}) end
    if from ~= to and from == mine then add_to(give, to, number, {}) end
  end
  fetch(self, self.list, lists_of(self, take), lists_of(self, give), false)
  set_owners(self, owners)
  for number in pairs(before) do
    if not self.kept[number] then gone[#gone + 1] = number end
  end
  local list = list_of(self, gone)
  for _, entry in ipairs(list.count > 0 and self.list or {}) do
    run(self, "forget", entry.node, list.array, list.count)
  end
  fetch(self, self.list, self.copies, self.shown, false)
end

--- Moves blocks between ranks if that takes a tenth (`least`) of the mean work off the busiest one.
--- `work`: an array with a number for each block, summed over the ranks; by default a block that is
--- active in the first field counts 1. Returns whether blocks moved, and the busiest rank's work
--- relative to the mean, before and after. Collective.
function methods.balance(self, options)
  options = fail.options(options, { "work", "least" }, "grid:balance")
  if options.least ~= nil and type(options.least) ~= "number" then
    return fail.argument("option 'least' must be a share of the mean, got "
      .. fail.describe(options.least), "grid:balance{ least = 0.1 }")
  end
  if options.work ~= nil and not is_per_block(self, options.work) then
    return fail.argument(("option 'work' must be an array with a number for each block, of shape \z
      {%s}"):format(table.concat(self.counts, ", ")))
  end
  local work = measure(self, options.work)
  local owners = cut(self, work)
  local before, after = imbalance(self, self.owner_of, work), imbalance(self, owners, work)
  if before - after < (options.least or 0.1) then return false, before, before end
  move(self, owners)
  return true, before, after
end

--- The rank that owns the cell.
function methods.owner(self, ...)
  local number = 0
  for axis = 1, #self.shape do
    local at = select(axis, ...)
    if type(at) ~= "number" or at % 1 ~= 0 or at < 0 or at >= self.shape[axis] then
      return fail.argument(("grid:owner takes the %d indices of a cell"):format(#self.shape))
    end
    number = number * self.counts[axis] + math.floor(at / self.block[axis])
  end
  return self.owner_of[number]
end

-- -- snapshots ------------------------------------------------------------------------------------

local parts = {} -- grid_file.lua

function parts.has(self, x) return self.entries[x] ~= nil end

function parts.whole(self, x)
  local whole, tree, _, cells = field.create(self.session, { type = x.type }), tree_of(self)
  cells:place(whole)
  return whole, tree
end

function parts.empty(self, x, _, count)
  return { count = count, cells = array.create(self.session, x.type, count, unpack(self.block)),
    places = array.create(self.session, self.rg.i32, count, #self.shape) }
end

-- The active blocks of a rank; nil if there are none.
function parts.take(self, x, rank)
  local numbers = {}
  for number = 0, self.total - 1 do
    if self.owner_of[number] == rank then numbers[#numbers + 1] = number end
  end
  local list = list_of(self, numbers)
  if list.count == 0 then return end
  local flags = array.create(self.session, self.rg.i32, list.count)
  run(self, "look", x, list.array, list.count, flags)
  local active = split(list, flags)
  if #active == 0 then return end
  local part = parts.empty(self, x, rank, #active)
  part.places:from_table(active)
  run(self, "pack", x, part.places, part.count, part.cells)
  return part
end

function parts.put(self, x, _, part)
  run(self, "unpack", x, part.places, part.count, part.cells)
end

-- Clears a tree before the first of its fields is loaded; `loaded` are the fields loaded so far.
function parts.clear(self, x, loaded)
  for _, other in pairs(loaded) do
    if field.is(other) and self.entries[other].node == self.entries[x].node then return end
  end
  self.entries[x].node:clear()
end

parts.exchange = methods.exchange
methods.save, methods.load = files.save, files.load
blocks.methods, blocks.place_of, blocks.is_near = methods, place_of, is_near

-- -- the module -----------------------------------------------------------------------------------

local function read_block(block, shape)
  local list = {}
  for axis = 1, #shape do
    local extent = type(block) == "table" and block[axis] or block
    if type(extent) ~= "number" or extent % 1 ~= 0 or extent < 1 or shape[axis] % extent ~= 0 then
      return fail.argument(("option 'block' must be a number of cells, or one for each axis, that \z
        divides the extent; %s does not divide %d"):format(fail.describe(extent), shape[axis]))
    end
    list[axis] = extent
  end
  return list
end

--- Fills `self`, which has comm, shape, halo and periodic.
function blocks.create(self, rg, block)
  self.rg, self.block, self.kernels, self.parts = rg, read_block(block, self.shape), {}, parts
  self.entries, self.list, self.counts, self.ring, self.total = {}, {}, {}, {}, 1
  for axis = 1, #self.shape do
    self.counts[axis] = self.shape[axis] / self.block[axis]
    self.ring[axis] = math.ceil(self.halo / self.block[axis])
    self.total = self.total * self.counts[axis]
  end
  self.order = curve(self.counts, self.total)
  self.has_no_windows = false
  self.owners = array.create(self.session, rg.i32, unpack(self.counts))
  local alike = {}
  for number = 0, self.total - 1 do alike[number] = 1 end
  set_owners(self, cut(self, alike))
  return self
end

return blocks
