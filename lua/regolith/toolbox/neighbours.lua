--- rg.neighbours(pos, radius): finds the particles near a point.
---
--- A counting sort puts the particles into a grid of cells over their bounding box: cell c has the
--- slots from `start[c]` on, `order[k]` is the particle of slot k, and `sorted[k]` its position.
--- Cells are `radius` wide along the last axes and half as wide along x. The cells of a row along x
--- are adjacent, so a row is one run of slots, which is cut to the chord of the sphere.
---
--- If the box has many more cells than particles, the grid wraps around (`is_wide`): several cells
--- of space share one of the grid. Its extents are powers of two, so large that such cells are
--- further from each other than any two cells of one query. Within a cell, particles keep their
--- order, so results do not depend on threads.
---
--- In periodic space (`is_periodic`), whole cells divide the period, and are counted from 0, so
--- they are a little wider than the radius, or much wider for few particles.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"
local iterator = require "regolith.kernel.iterator"
local object = require "regolith.toolbox.object"
local rg = require "regolith"
local subject = require "regolith.data.subject"
local substitute = require "regolith.kernel.substitute"

local bit, math = bit, math

local neighbours = {}

local fine = 2        -- cells along x in a radius
local least_wrap = 16 -- cells along an axis that wraps around

-- -- in kernels -----------------------------------------------------------------------------------

-- A position in units of cells, from the box's corner; for vec2, the last coordinate is 0.
local function in_cells(self, p)
  local at = (p - self.low) * self.inverse
  if rg.static(self.is_periodic) then
    local periods = p * self.per_period
    at = (periods - rg.floor(periods)) * self.cells
  end
  if rg.static(self.axes == 2) then return at.x, at.y, 0 end
  return at.x, at.y, at.z
end

-- The shortest periodic image of a difference of positions.
local function shortest(self, delta)
  if rg.static(self.is_periodic) then
    return delta - rg.floor(delta * self.per_period + 0.5) * self.period_vector
  end
  return delta
end

-- The number of a cell in the grid.
local function number_of(self, x, y, z)
  if rg.static(self.is_wide) then
    x, y, z = bit.band(x, self.nx - 1), bit.band(y, self.ny - 1), bit.band(z, self.nz - 1)
  end
  return (z * self.ny + y) * self.nx + x
end

-- The cell of a position, or the cell of the box nearest to it.
local function cell_of(self, p)
  local x, y, z = in_cells(self, p)
  return math.max(math.min(math.floor(x), self.box_x - 1), 0),
    math.max(math.min(math.floor(y), self.box_y - 1), 0),
    math.max(math.min(math.floor(z), self.box_z - 1), 0)
end

-- Moves an index that is at most one period away into the first period.
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

-- The distance of a coordinate to the cells with this index along an axis, in cells.
local function gap(at, cell) return math.max(cell - at, at - cell - 1, 0.0) end

-- The same; with fewer than three cells in a period, an index stands for cells on both sides.
local function row_gap(self, at, cell, count)
  if rg.static(self.is_periodic) then return count < 3 and 0.0 or gap(at, cell) end
  return gap(at, cell)
end

-- The first and last row along an axis that may be within the radius.
local function rows_near(self, home, deep, count)
  if rg.static(self.is_periodic) then
    if count < 3 then return 0, count - 1 end
    return home - deep, home + deep
  end
  return math.max(home - deep, 0), math.min(home + deep, count - 1)
end

-- The first and last cell of a row between two positions along x.
local function cells_near(self, from, to)
  if rg.static(self.is_periodic) then
    return math.max(math.floor(from), -self.nx), math.min(math.floor(to), 2 * self.nx - 1)
  end
  return math.max(math.floor(from), 0), math.min(math.floor(to), self.box_x - 1)
end

local methods = {}

--- `for j, d, v in near:around(p)`: the particles within the radius of a point: number, distance,
--- and the vector from p to j.
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
          local delta = shortest(self, self.sorted[k] - p)
          local square = rg.dot(delta, delta)
          if square <= self.radius2 then visit(self.order[k], math.sqrt(square), delta) end
        end
      end
    end
  end
end)

--- `for j, d, v in near:of(i)`: the particles near particle i, including i.
methods.of = iterator.create(function(self, i, visit)
  for j, d, delta in self:around(self.points[i]) do visit(j, d, delta) end
end)

--- `for j, d, v in near:others(i)`: the particles near particle i, without i.
methods.others = iterator.create(function(self, i, visit)
  for j, d, delta in self:around(self.points[i]) do
    if j ~= i then visit(j, d, delta) end
  end
end)

--- `for i, p in near:each()`: all particles with their positions, cell by cell; a parallel loop in
--- the host region.
methods.each = iterator.create(function(self, visit)
  for k in rg.range(self.count) do visit(self.order[k], self.sorted[k]) end
end)

-- The same as `slots`, without the particles of other cells that share a cell of the grid.
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

-- The slots of the cells at distance `ring`, in radii along the axis of the largest distance, from
-- a home cell.
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

--- `for j, d in near:nearest(p, count)`: the `count` particles nearest to a point, at any distance,
--- the nearest first; at equal distances the lower number comes first.
methods.nearest = iterator.create(function(self, p, count, visit)
  local squares, found, length = rg.zeros(self.real, count), rg.zeros(rg.i32, count), 0
  local x, y, z = cell_of(self, p)
  local at_x, at_y, at_z = in_cells(self, p)
  local most = math.max(math.floor(math.max(x, self.box_x - 1 - x) / fine) + 1,
    math.max(y, self.box_y - 1 - y), math.max(z, self.box_z - 1 - z))
  -- the distance of the point to its cell, if it is outside the box
  local away = rg.norm(rg.vec3(gap(at_x, x) / fine, gap(at_y, y), gap(at_z, z)))
  for ring = 0, most do
    for k in ring_slots(self, x, y, z, ring) do
      local delta, j, at = shortest(self, self.sorted[k] - p), self.order[k], length
      local square = rg.dot(delta, delta)
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
    -- particles outside the rings so far are further away than this
    local sure = math.max(ring - away, 0.0) * self.side
    if length == count and squares[count - 1] <= sure * sure then break end
  end
  for n = 0, length - 1 do visit(found[n], math.sqrt(squares[n])) end
end)

-- -- from Lua -------------------------------------------------------------------------------------

local function point_of(self, name, p)
  return object.vector(p, self.axes, self.type) or fail.argument((
    "near:%s takes a vector of %d numbers, not %s"):format(name, self.axes, fail.describe(p)),
      self.axes == 2 and "rg.vec2(1, 2), or { 1, 2 }"
    or "rg.vec3(1, 2, 3), or { 1, 2, 3 }")
end

local function check_particle(name, i)
  if type(i) == "number" and i % 1 == 0 then return i end
  return fail.argument(("near:%s takes the number of a particle, not %s"):format(name,
    fail.describe(i)), name == "of" and "near:around(p) takes a position" or nil)
end

local function check_wanted(k)
  if type(k) == "number" and k >= 1 and k % 1 == 0 then return k end
  return fail.argument("near:nearest takes a number of particles after the position, a whole \z
    number from 1, not " .. fail.describe(k), "near:nearest(p, 8)")
end

-- Checks of the arguments before a loop in Lua; kernels compile the iterators themselves.
local arguments = {
  around = function(self, p) return point_of(self, "around", p) end,
  of = function(_, i) return check_particle("of", i) end,
  others = function(_, i) return check_particle("others", i) end,
  nearest = function(self, p, k) return point_of(self, "nearest", p), check_wanted(k) end,
}

for name, checked in pairs(arguments) do
  local inside = methods[name]
  methods[name] = substitute.set(function(self, ...)
    return inside(self, checked(self, ...))
  end, inside)
end

-- -- the grid -------------------------------------------------------------------------------------

-- Returns the corners of the box, and the first particle whose position is not finite, or `none`.
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

-- Sorts the particles by cells. For the prefix sums, each of `blocks` iterations adds up `per`
-- cells.
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
  for c in rg.range(cells):independent() do -- the order within a cell depended on threads
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

-- Keeps the box of the last update while the particles fill most of it, since numbers that do not
-- change become constants of kernels. A new box gets a margin.
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

-- Chooses the cells that divide the period, at most as many as the grid may have.
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

-- Chooses the number of cells along the axes of the box, and of the grid.
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

-- Replaces arrays that are too small. Kernels are not compiled again.
local function grow_arrays(self, own)
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
  return fail.argument("the radius of rg.neighbours must be a number above 0, not "
    .. fail.describe(radius))
end

local function check_count(of, count)
  local most = of.extents[1]
  if count == nil then return most end
  if type(count) == "number" and count >= 0 and count <= most and count % 1 == 0 then
    return count
  end
  return fail.argument(("the count of rg.neighbours must be a whole number from 0 to %d, not %s")
    :format(most, fail.describe(count)))
end

-- Sets self.points to the positions, as a field or array that kernels can read.
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

-- Sets the period as a vector of the positions' type.
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
        two radii, %g, got %s"):format(k - 1, 2 * radius, fail.describe(length)),
        "{ period = { 1, 2 } }, or a single number for all axes", "option.invalid")
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
        message = ("rg.neighbours: the position of particle %d is not finite: %s"):format(bad,
          tostring(self.points[bad])) }
    end
  end
  if self.is_periodic then settle_period(self, radius)
  else choose_box(self, low, high, radius) low, high = self.low, self.high end
  local most = self.is_periodic and math.max(unpack(self.period_list)) / radius or 1
  for k = 0, self.axes - 1 do
    most = math.max(most, (high[k] - low[k]) / radius, math.abs(low[k]) / radius)
  end
  -- a little more than the radius, so that rounding never moves a neighbour two cells away
  self.side = radius * (1 + (self.real == own.f64 and 1e-15 or 5e-7) * (4 + 4 * most))
  if self.is_periodic then choose_periodic(self) else choose_extents(self) end
  self.radius2, self.reach2 = radius * radius, self.side * self.side
  grow_arrays(self, own)
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
--- neighbours are also close in memory. The numbers of particles change.
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
  options = fail.options(options, { "count", "period" }, "rg.neighbours",
    "rg.neighbours(pos, radius, { count = n })")
  local period = options.period
  subject.of(pos, "rg.neighbours")
  local own = session.module
  local self = { module = own, pos = pos, radius = check_radius(radius),
    limit = options.count, sums = own.array(own.i32, 257), period = period,
    is_periodic = period ~= nil }
  return host.update(setmetatable(self, meta))
end

return neighbours
