--- rg.neighbours(pos, radius): which particles are near a point.
---
--- A grid of cells over the particles' box, sorted by counting: `start[c]` is where cell c begins
--- among the slots, `order[k]` the particle of slot k, `sorted[k]` its place. Cells are `radius`
--- wide along the last axes and half as wide along x, whose cells follow each other: a row of cells
--- is one run of slots, cut to the chord of the sphere. Where the box has many more cells than
--- particles, the grid is a table in which cells wrap around (`is_wide`): its extents are powers of
--- two, large enough that cells which share a place are further apart than any two cells that are
--- looked at. Within a cell, particles keep their order, so that results do not depend on threads.
---
--- Where space is periodic (`is_periodic`), cells divide the period, and are counted from 0: they
--- are a little wider than they need to be, or much, where particles are few.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"
local iterator = require "regolith.kernel.iterator"
local object = require "regolith.toolbox.object"
local rg = require "regolith"
local subject = require "regolith.data.subject"
local twin = require "regolith.kernel.twin"

local bit, math = bit, math

local neighbours = {}

local fine = 2        -- cells along x in a radius
local least_wrap = 16 -- cells along an axis that wraps around

-- -- in kernels -----------------------------------------------------------------------------------

-- A place in cells, from the box's corner; of vec2 the last is 0.
local function in_cells(self, p)
  local at = (p - self.low) * self.inverse
  if rg.static(self.is_periodic) then
    local turns = p * self.per_period
    at = (turns - rg.floor(turns)) * self.cells
  end
  if rg.static(self.axes == 2) then return at.x, at.y, 0 end
  return at.x, at.y, at.z
end

-- The nearest image of a way.
local function shortest(self, way)
  if rg.static(self.is_periodic) then
    return way - rg.floor(way * self.per_period + 0.5) * self.period_vector
  end
  return way
end

-- The number of a cell.
local function number_of(self, x, y, z)
  if rg.static(self.is_wide) then
    x, y, z = bit.band(x, self.nx - 1), bit.band(y, self.ny - 1), bit.band(z, self.nz - 1)
  end
  return (z * self.ny + y) * self.nx + x
end

-- The cell of a place in the box, or the box's cell nearest to it.
local function cell_of(self, p)
  local x, y, z = in_cells(self, p)
  return math.max(math.min(math.floor(x), self.box_x - 1), 0),
    math.max(math.min(math.floor(y), self.box_y - 1), 0),
    math.max(math.min(math.floor(z), self.box_z - 1), 0)
end

-- An index that is at most one period away, in the first period.
local function wrapped(index, count)
  return index < 0 and index + count or index >= count and index - count or index
end

-- The slots of the cells x0 to x1 of a row.
local slots = iterator.create(function(self, x0, x1, y, z, visit)
  if rg.static(self.is_periodic) then
    if x1 < x0 then return end
    local row = number_of(self, 0, wrapped(y, self.ny), wrapped(z, self.nz))
    local first, count = wrapped(x0, self.nx), math.min(x1 - x0 + 1, self.nx)
    local inside = math.min(count, self.nx - first)
    for k = self.start[row + first], self.start[row + first + inside] - 1 do visit(k) end
    if inside < count then
      for k = self.start[row], self.start[row + count - inside] - 1 do visit(k) end
    end
  elseif rg.static(self.is_wide) then
    for x = x0, x1 do
      local cell = number_of(self, x, y, z)
      for k = self.start[cell], self.start[cell + 1] - 1 do visit(k) end
    end
  elseif x0 <= x1 then
    local row = number_of(self, 0, y, z)
    for k = self.start[row + x0], self.start[row + x1 + 1] - 1 do visit(k) end
  end
end)

-- How far a place is from the cells with this index along an axis, in cells.
local function gap(at, cell) return math.max(cell - at, at - cell - 1, 0.0) end

-- The same, where an index may stand for cells on both sides.
local function row_gap(self, at, cell, count)
  if rg.static(self.is_periodic) then return count < 3 and 0.0 or gap(at, cell) end
  return gap(at, cell)
end

-- The rows that may be as near as the radius, along an axis: from and to.
local function rows_near(self, home, deep, count)
  if rg.static(self.is_periodic) then
    if count < 3 then return 0, count - 1 end
    return home - deep, home + deep
  end
  return math.max(home - deep, 0), math.min(home + deep, count - 1)
end

-- The cells of a row from and to a place along x.
local function cells_near(self, from, to)
  if rg.static(self.is_periodic) then
    return math.max(math.floor(from), -self.nx), math.min(math.floor(to), 2 * self.nx - 1)
  end
  return math.max(math.floor(from), 0), math.min(math.floor(to), self.box_x - 1)
end

local methods = {}

--- `for j, d, v in near:around(p)`: the particles within the radius of a point: number, distance,
--- and the way from p to j.
methods.around = iterator.create(function(self, p, visit)
  local x, y, z = in_cells(self, p)
  local home_y, home_z = math.floor(y), math.floor(z)
  local z0, z1 = rows_near(self, home_z, self.deep, self.box_z)
  for row_z = z0, z1 do
    local dz = row_gap(self, z, row_z, self.box_z) * self.width_z
    local y0, y1 = rows_near(self, home_y, 1, self.box_y)
    for row_y = y0, y1 do
      local dy = row_gap(self, y, row_y, self.box_y) * self.width_y
      local chord = self.reach2 - dz * dz - dy * dy
      if chord >= 0 then
        local half = math.sqrt(chord) * self.inverse.x
        local x0, x1 = cells_near(self, x - half, x + half)
        for k in slots(self, x0, x1, row_y, row_z) do
          local way = shortest(self, self.sorted[k] - p)
          local square = rg.dot(way, way)
          if square <= self.radius2 then visit(self.order[k], math.sqrt(square), way) end
        end
      end
    end
  end
end)

--- `for j, d, v in near:of(i)`: those near particle i, itself included.
methods.of = iterator.create(function(self, i, visit)
  for j, d, way in self:around(self.points[i]) do visit(j, d, way) end
end)

--- `for j, d, v in near:others(i)`: those near particle i, without itself.
methods.others = iterator.create(function(self, i, visit)
  for j, d, way in self:around(self.points[i]) do
    if j ~= i then visit(j, d, way) end
  end
end)

--- `for i, p in near:each()`: all particles with their places, cell by cell; in the host region in
--- parallel.
methods.each = iterator.create(function(self, visit)
  for k in rg.range(self.count) do visit(self.order[k], self.sorted[k]) end
end)

-- The same as `slots`, without particles that only share a cell's place in the table.
local own_slots = iterator.create(function(self, x0, x1, y, z, visit)
  if rg.static(self.is_wide) then
    for cell = x0, x1 do
      for k in slots(self, cell, cell, y, z) do
        local own_x, own_y, own_z = cell_of(self, self.sorted[k])
        if own_x == cell and own_y == y and own_z == z then visit(k) end
      end
    end
  else
    for k in slots(self, x0, x1, y, z) do visit(k) end
  end
end)

-- The indices at most `reach` away from a home cell, each once.
local function span(self, home, reach, count)
  if rg.static(self.is_periodic) then
    return home - math.min(reach, math.floor((count - 1) / 2)),
      home + math.min(reach, math.floor(count / 2))
  end
  return math.max(home - reach, 0), math.min(home + reach, count - 1)
end

-- The slots of the cells that are `ring` radii away from a home cell, along the axis where they are
-- furthest away.
local ring_slots = iterator.create(function(self, x, y, z, ring, visit)
  local inner, outer = fine * (ring - 1) + 1, fine * ring
  local x0, x1 = span(self, x, outer, self.box_x)
  local y0, y1 = span(self, y, ring, self.box_y)
  local z0, z1 = span(self, z, ring * self.deep, self.box_z)
  for row_z = z0, z1 do
    for row_y = y0, y1 do
      if ring == 0 or math.abs(row_z - z) == ring or math.abs(row_y - y) == ring then
        for k in own_slots(self, x0, x1, row_y, row_z) do visit(k) end
      else
        for k in own_slots(self, x0, x - inner, row_y, row_z) do visit(k) end
        for k in own_slots(self, x + inner, x1, row_y, row_z) do visit(k) end
      end
    end
  end
end)

--- `for j, d in near:nearest(p, count)`: the `count` particles nearest to a point, whatever the
--- radius, the nearest first; of equal distances the lower number.
methods.nearest = iterator.create(function(self, p, count, visit)
  local squares, found, length = rg.zeros(self.real, count), rg.zeros(rg.i32, count), 0
  local x, y, z = cell_of(self, p)
  local at_x, at_y, at_z = in_cells(self, p)
  local most = math.max(math.floor(math.max(x, self.box_x - 1 - x) / fine) + 1,
    math.max(y, self.box_y - 1 - y), math.max(z, self.box_z - 1 - z))
  -- how far the point is from its cell, if it is outside the box
  local away = rg.norm(rg.vec3(gap(at_x, x) / fine, gap(at_y, y), gap(at_z, z)))
  for ring = 0, most do
    for k in ring_slots(self, x, y, z, ring) do
      local way, j, at = shortest(self, self.sorted[k] - p), self.order[k], length
      local square = rg.dot(way, way)
      while at > 0 do
        local other = squares[at - 1]
        if other < square or (other == square and found[at - 1] < j) then break end
        if at < count then squares[at], found[at] = other, found[at - 1] end
        at = at - 1
      end
      if at < count then
        squares[at], found[at] = square, j
        length = math.min(length + 1, count)
      end
    end
    -- what the rings so far leave out is further away than this
    local sure = math.max(ring - away, 0.0) * self.side
    if length == count and squares[count - 1] <= sure * sure then break end
  end
  for n = 0, length - 1 do visit(found[n], math.sqrt(squares[n])) end
end)

-- -- from Lua -------------------------------------------------------------------------------------

-- A point as a vector of the places' type; a list may stand for it.
local function point_of(self, name, p)
  local t = matrix.type_of(p)
  if t and t.count == self.axes then return p end
  if type(p) == "table" and not getmetatable(p) and #p == self.axes then
    local is_list = true
    for k = 1, #p do is_list = is_list and type(p[k]) == "number" end
    if is_list then return self.type(unpack(p)) end
  end
  return fail.argument(("near:%s takes a vector of %d numbers, not %s"):format(name, self.axes,
    fail.describe(p)), self.axes == 2 and "rg.vec2(1, 2), or { 1, 2 }"
    or "rg.vec3(1, 2, 3), or { 1, 2, 3 }")
end

local function check_particle(name, i)
  if type(i) == "number" and i % 1 == 0 then return i end
  return fail.argument(("near:%s takes the number of a particle, not %s"):format(name,
    fail.describe(i)), name == "of" and "near:around(p) takes a place" or nil)
end

local function check_wanted(k)
  if type(k) == "number" and k >= 1 and k % 1 == 0 then return k end
  return fail.argument("near:nearest takes how many particles are wanted, a whole number from 1, \z
    not " .. fail.describe(k), "near:nearest(p, 8)")
end

-- What is checked before a loop of Lua begins; kernels compile the iterators themselves.
local arguments = {
  around = function(self, p) return point_of(self, "around", p) end,
  of = function(_, i) return check_particle("of", i) end,
  others = function(_, i) return check_particle("others", i) end,
  nearest = function(self, p, k) return point_of(self, "nearest", p), check_wanted(k) end,
}

for name, checked in pairs(arguments) do
  local inside = methods[name]
  methods[name] = twin.set(function(self, ...) return inside(self, checked(self, ...)) end, inside)
end

-- -- the grid -------------------------------------------------------------------------------------

-- The corners of the box, and the number of a particle whose place is not finite (or `none`).
local function bounds(x, first, count, none)
  local low, high, bad = x.type(math.huge), x.type(-math.huge), none
  for i in rg.range({ first, first + count }) do
    local p = x[i]
    low = math.min(low, p)
    high = math.max(high, p)
    local rest = p - p
    if rg.dot(rest, rest) ~= 0 then bad = math.min(bad, i) end
  end
  return low, high, bad
end

-- Sorts the particles by cells. `blocks` of `per` cells are added up at once.
local function build(self, blocks, per)
  local count, cells = self.count, self.nx * self.ny * self.nz
  for c in rg.range(cells) do self.start[c] = 0 end
  for n in rg.range(count) do
    local cell = number_of(self, cell_of(self, self.points[self.first + n]))
    self.own[n] = cell
    self.rank[n] = self.start:add(cell, 1)
  end
  for b in rg.range(blocks):independent():block(1) do
    local sum = 0
    for c = b * per, math.min(cells, (b + 1) * per) - 1 do sum = sum + self.start[c] end
    self.sums[b] = sum
  end
  local total = 0
  for b = 0, blocks - 1 do
    local sum = self.sums[b]
    self.sums[b] = total
    total = total + sum
  end
  for b in rg.range(blocks):independent():block(1) do
    local sum = self.sums[b]
    for c = b * per, math.min(cells, (b + 1) * per) - 1 do
      local inside = self.start[c]
      self.start[c] = sum
      sum = sum + inside
    end
  end
  self.start[cells] = count
  for n in rg.range(count):independent() do
    self.order[self.start[self.own[n]] + self.rank[n]] = self.first + n
  end
  for c in rg.range(cells):independent() do -- which iteration came first was left to chance
    local first = self.start[c]
    for k = first + 1, self.start[c + 1] - 1 do
      local i, at = self.order[k], k
      while at > first and self.order[at - 1] > i do
        self.order[at] = self.order[at - 1]
        at = at - 1
      end
      self.order[at] = i
    end
  end
  for k in rg.range(count):independent() do self.sorted[k] = self.points[self.order[k]] end
end

local kernels = setmetatable({}, { __mode = "k" }) -- module -> its kernels

local function kernels_of(own)
  kernels[own] = kernels[own] or {
    bounds = own.kernel(bounds, { name = "neighbours.bounds" }),
    build = own.kernel(build, { name = "neighbours.build" }),
  }
  return kernels[own]
end

-- The box of the last update stays while the particles fill most of it: numbers that stay the same
-- become constants of kernels. Else it gets a margin.
local function choose_box(self, low, high, radius)
  local fits = self.low and self.box_of == radius and #self.low == self.axes
  local full, margin = 1, 2 * radius
  for k = 0, self.axes - 1 do
    fits = fits and self.low[k] <= low[k] and high[k] <= self.high[k]
    full = fits and full * (high[k] - low[k] + 2 * margin) / (self.high[k] - self.low[k])
  end
  if fits and full > 0.5 then return end
  self.low, self.high, self.box_of = low - margin, high + margin, radius
end

-- Cells that divide the period, no more than a table has room for.
local function choose_periodic(self)
  local cells, total, widths = {}, 1, {}
  for k = 1, 3 do
    local count = k <= self.axes and self.period_list[k] / self.side * (k == 1 and fine or 1) or 1
    cells[k] = math.max(1, math.floor(count))
    total = total * cells[k]
  end
  local excess = (total / (8 * self.count + 65536)) ^ (1 / self.axes)
  for k = 1, 3 do
    if excess > 1 then cells[k] = math.max(1, math.floor(cells[k] / excess)) end
    widths[k] = k <= self.axes and self.period_list[k] / cells[k] or self.side
  end
  self.nx, self.ny, self.nz = unpack(cells)
  self.box_x, self.box_y, self.box_z = unpack(cells)
  self.is_wide, self.width_y, self.width_z = false, widths[2], widths[3]
  self.cells = self.type(unpack(cells, 1, self.axes))
  self.inverse = 1 / self.period_vector * self.cells
end

-- The number of cells along the axes of the box, and of the table.
local function choose_extents(self)
  local cells, low, high = {}, self.low, self.high
  for k = 1, 3 do
    local width = k <= self.axes and high[k - 1] - low[k - 1] or 0
    cells[k] = math.floor(width / self.side * (k == 1 and fine or 1)) + 1
  end
  self.box_x, self.box_y, self.box_z = unpack(cells)
  local room = 8 * self.count + 65536
  self.is_wide = cells[1] * cells[2] * cells[3] > room
  while self.is_wide do
    local most, total = 1, 1
    for k = 1, 3 do
      cells[k] = 2 ^ math.ceil(math.log(math.max(cells[k], 1)) / math.log(2))
      if k <= self.axes then cells[k] = math.max(cells[k], least_wrap) end
      if cells[k] > cells[most] then most = k end
      total = total * cells[k]
    end
    if total <= room then break end
    cells[most] = cells[most] / 2
  end
  self.nx, self.ny, self.nz = unpack(cells)
  self.width_y, self.width_z = self.side, self.side
  local inverse = { fine / self.side, 1 / self.side, 1 / self.side }
  self.inverse = self.type(unpack(inverse, 1, self.axes))
end

-- Arrays that have grown too small become larger ones; kernels stay as they are.
local function make_room(self, own)
  local cells = self.nx * self.ny * self.nz
  if not self.order or #self.order < self.count then
    local length = math.max(self.count, 1)
    self.order, self.sorted = own.array(own.i32, length), own.array(self.type, length)
    self.own, self.rank = own.array(own.i32, length), own.array(own.i32, length)
  end
  if not self.start or #self.start <= cells then
    self.start = own.array(own.i32, math.floor(1.5 * cells) + 2)
  end
end

local function check_radius(radius)
  if type(radius) == "number" and radius > 0 and radius < math.huge then return radius end
  return fail.argument("rg.neighbours takes a radius above 0, not " .. fail.describe(radius))
end

local function check_count(of, count)
  local most = of.extents[1]
  if count == nil then return most end
  if type(count) == "number" and count >= 0 and count <= most and count % 1 == 0 then
    return count
  end
  return fail.argument(("neighbours: a count from 0 to %d particles is expected, not %s"):format(
    most, fail.describe(count)))
end

-- The particles' places, as what kernels can read.
local function settle_points(self, own)
  local pos = self.pos
  local of = subject.of(pos, "rg.neighbours")
  local t = of.type
  if of.rank ~= 1 or of.extents[1] == 0 and not of.is_array or not t.element or t.cols ~= 1
    or t.rows > 3 or t.element.name:sub(1, 1) ~= "f" then
    return fail.argument(("rg.neighbours takes a field or an array of one axis of vec2 or vec3, \z
      not %s"):format(tostring(pos)))
  end
  self.type, self.axes, self.first = t, t.rows, of.starts[1] or 0
  self.deep = t.rows == 3 and 1 or 0
  self.real = t.element.size == 8 and own.f64 or own.f32
  if subject.is_view(pos) then -- kernels read it as an array
    if not self.copy or #self.copy ~= of.extents[1] then
      self.copy = own.array(t, of.extents[1])
    end
    self.copy:copy_from(pos)
    self.points, self.first = self.copy, 0
  else
    self.points = of.handle
  end
  return of
end

-- The period as a vector of the places' type.
local function settle_period(self, radius)
  local given, list = self.period, {}
  local is_list = type(given) == "table" or type(given) == "cdata" and matrix.type_of(given)
  local first = type(given) == "table" and 1 or 0
  for k = 1, self.axes do
    local length = given
    if is_list then length = given[first + k - 1] end
    list[k] = tonumber(length)
    if not list[k] or not (list[k] >= 2 * radius and list[k] < math.huge) then
      return fail.argument(("rg.neighbours: the period of axis %d must be a number of at least \z
        two radii, %g, and it is %s"):format(k - 1, 2 * radius, fail.describe(length)),
        "{ period = { 1, 2 } }, or one number for all axes", "option.invalid")
    end
  end
  self.period_list = list
  self.period_vector = self.type(unpack(list))
  self.per_period = 1 / self.period_vector
  self.low = self.low or self.type(0)
end

local host = {}

--- `near:update(count)`: sorts the particles again after they have moved.
function host.update(self, count)
  local own = self.module
  local radius = check_radius(self.radius)
  local of = settle_points(self, own)
  if count == nil then count = self.limit end
  self.count = check_count(of, count)
  self.limit = count
  local low, high = self.type(0), self.type(0)
  if self.count > 0 then
    local none = self.first + self.count
    local bad
    low, high, bad = kernels_of(own).bounds(self.points, self.first, self.count, none)
    if bad < none then
      return fail.raise { code = "value.fit",
        message = ("neighbours: the place of particle %d is not finite: %s"):format(bad,
          tostring(self.points[bad])) }
    end
  end
  if self.is_periodic then settle_period(self, radius)
  else choose_box(self, low, high, radius) low, high = self.low, self.high end
  local most = self.is_periodic and math.max(unpack(self.period_list)) / radius or 1
  for k = 0, self.axes - 1 do
    most = math.max(most, (high[k] - low[k]) / radius, math.abs(low[k]) / radius)
  end
  -- so that rounding never moves a neighbour two cells away
  self.side = radius * (1 + (self.real == own.f64 and 1e-15 or 5e-7) * (4 + 4 * most))
  if self.is_periodic then choose_periodic(self) else choose_extents(self) end
  self.radius2, self.reach2 = radius * radius, self.side * self.side
  make_room(self, own)
  local cells = self.nx * self.ny * self.nz
  local per = math.max(8192, math.ceil(cells / 256))
  kernels_of(own).build(self, math.ceil(cells / per), per)
  return self
end

local function permute(x, order, to, first, count)
  for k in rg.range(count) do to[k] = x[order[k]] end
  for k in rg.range(count) do x[first + k] = to[k] end
end

--- `near:reorder(pos, v, ..)`: moves the elements of these fields into the order of cells, so that
--- neighbours are close in memory, too. Numbers of particles change.
function host.reorder(self, ...)
  local own = self.module
  local mover = kernels_of(own).permute or own.kernel(permute, { name = "neighbours.reorder" })
  kernels_of(own).permute = mover
  for k = 1, select("#", ...) do
    local of = subject.of((select(k, ...)), "near:reorder")
    if of.suffix ~= "" or of.rank ~= 1 or of.extents[1] < self.count
      or of.starts[1] and of.starts[1] ~= self.first then
      return fail.argument(("near:reorder takes fields and arrays of all %d particles, not %s")
        :format(self.count, tostring((select(k, ...)))))
    end
    mover(of.handle, self.order, own.array(of.type, math.max(1, self.count)), self.first,
      self.count)
  end
  return host.update(self)
end

local meta = object.class("a neighbour search", "near", host, methods)

function meta.__tostring(self)
  return ("neighbours of %d particles within %g"):format(self.count, self.radius)
end

--- `rg.neighbours(pos, radius, { count = n, period = { x, y } })`.
function neighbours.create(session, pos, radius, options)
  if options ~= nil and type(options) ~= "table" then
    return fail.argument("options of rg.neighbours must be a table, got " .. fail.describe(options),
      "rg.neighbours(pos, radius, { count = n })")
  end
  if options then fail.check_options(options, { "count", "period" }, "rg.neighbours") end
  local period = options and options.period
  subject.of(pos, "rg.neighbours")
  local own = session.module
  local self = { module = own, pos = pos, radius = check_radius(radius),
    limit = options and options.count, sums = own.array(own.i32, 257), period = period,
    is_periodic = period ~= nil }
  return host.update(setmetatable(self, meta))
end

return neighbours
