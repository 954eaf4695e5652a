--- Multigrid: the preconditioner for operators of second order on grids, such as that of Poisson's
--- equation: one V-cycle over grids of half, a quarter, .. of the cells per axis. The stencil is
--- applied to the fields of all grids, so it must take its bounds from x.shape and other fields
--- from its coefficients, instead of capturing numbers and fields.
---
---     b --smooth--> x     --correct, smooth--> x
---         \ residual     / prolong
---          b ---- .. ---x                (twice the spacing: a quarter of the image: b times 4)
---
--- Smoothing consists of two damped Jacobi steps, whose weights make them the Chebyshev polynomial
--- of degree two for the eigenvalues that the next grid cannot represent. It does not depend on the
--- order of cells, and it is symmetric, as conjugate gradients require. From x = 0, both steps take
--- one pass. In a sparse field, a coarse cell exists if one of its fine cells does.
---     Brandt 1977; McAdams, Sifakis, Teran 2010 (as a preconditioner)
local fail = require "regolith.error"
local shadow = require "regolith.data.shadow"
local subject = require "regolith.data.subject"
local operator = require "regolith.toolbox.solve.operator"
local space = require "regolith.toolbox.solve.space"

local multigrid = {}

local least_extent, bottom_rounds = 8, 8
local largest = 2 -- eigenvalue of D^-1 A, if rows are diagonally dominant

-- The weights of the two steps, for eigenvalues from `low` to `largest`.
local function weights_of(low)
  local middle, half = (largest + low) / 2, (largest - low) / 2
  return 1 / (middle + half * math.sqrt(0.5)), 1 / (middle - half * math.sqrt(0.5))
end

-- -- between two grids ----------------------------------------------------------------------------

-- The index expressions of the parent of the cell at i1, i2, ..
local function parents(fine, coarse)
  local list = {}
  for axis = 1, fine.rank do
    list[axis] = ("((i%d - (%d)) // 2 + (%d))"):format(axis, fine.starts[axis],
      coarse.starts[axis])
  end
  return list
end

local function element(name, indices, suffix)
  return ("%s[%s]%s"):format(name, table.concat(indices, "]["), suffix)
end

-- The elements of `name` at the children of the coarse cell at i1, i2, ..
local function children(fine, coarse, name, suffix)
  local list = {}
  for child = 0, 2 ^ fine.rank - 1 do
    local indices, rest = {}, child
    for axis = fine.rank, 1, -1 do
      indices[axis] = ("2 * (i%d - (%d)) + (%d)"):format(axis, coarse.starts[axis],
        fine.starts[axis] + rest % 2)
      rest = (rest - rest % 2) / 2
    end
    list[#list + 1] = element(name, indices, suffix)
  end
  return list
end

local function kernel_of(level, text)
  return subject.kernel(level.space.s, "rg.solve: multigrid", text)
end

-- The coarse right-hand side is the mean of the children's residuals times 4.
local restrict_text = [=[function(b, r, factor: SCALAR)
  for INDICES in b:active() do CELL = factor * (CHILDREN) end
end]=]

-- Adds the coarse solution.
local prolong_text = [=[function(x, e, over)
  for INDICES in over:active() do CELL = CELL + PARENT end
end]=]

-- Activates the coarse cells of a sparse field.
local activate_text = "function(over, b) for INDICES in over:active() do PARENT = 0 end end"

-- Prepares the kernels from a grid to the next one, and back.
local function connect(fine, coarse)
  local s, to = fine.space.s, coarse.space.s
  fine.restrict = kernel_of(coarse, (restrict_text:gsub("%u%u+", { SCALAR = fine.space.scalar,
    INDICES = subject.indices(to), CELL = subject.element(to, "b"),
    CHILDREN = table.concat(children(s, to, "r", ""), " + ") })))
  fine.prolong = kernel_of(fine, (prolong_text:gsub("%u%u+", { INDICES = subject.indices(s),
    CELL = subject.element(s, "x"):sub(1, -1 - #s.suffix),
    PARENT = element("e", parents(s, to), "") })))
end

local function activate(fine, coarse)
  local s, to = fine.space.s, coarse.space.s
  to.handle:clear()
  kernel_of(fine, (activate_text:gsub("%u%u+", { INDICES = subject.indices(s),
    PARENT = element("b", parents(s, to), "") })))(s.handle, to.handle)
end

local mean_text = [=[function(fine, coarse, share: SCALAR)
  for INDICES in coarse:active() do CELL = share * (CHILDREN) end
end]=]

-- The coefficients for a coarser grid: means over 2 cells along each axis.
local function coarser(coefficients, own)
  if not coefficients then return nil end
  local means = {}
  for name, x in pairs(coefficients) do
    local s = subject.of(x, own.caller)
    local halves, count = {}, subject.count(s)
    if not s.is_array and s.handle:count() ~= count then
      return fail.argument(("%s: coefficient '%s' must be a dense field for multigrid"):format(
        own.caller, name), nil, "option.invalid")
    end
    for axis = 1, s.rank do halves[axis] = math.ceil(s.extents[axis] / 2) end
    local key = ("coefficient %s %s"):format(name, table.concat(halves, " "))
    local mean = own:keep(key, function(self)
      return self.session.module.field(s.type, unpack(halves))
    end)
    local to = subject.of(mean, own.caller)
    local text = mean_text:gsub("%u%u+", { SCALAR = (s.type.element or s.type).name,
      INDICES = subject.indices(to), CELL = subject.element(to, "coarse"),
      CHILDREN = table.concat(children(s, to, "fine", s.suffix), " + ") })
    subject.kernel(to, "rg.solve: multigrid", text)(s.handle, mean, 1 / 2 ^ s.rank)
    means[name] = mean
  end
  return means
end

-- -- one grid -------------------------------------------------------------------------------------

local function apply(level, line, vectors, numbers)
  vectors.D = type(level.d) ~= "number" and level.d or nil
  numbers = numbers or {}
  if not vectors.D then
    line, numbers.inverse = line:gsub("/ D", "* inverse"), 1 / level.d
  end
  level.space:run(line, vectors, numbers, level.op)
end

-- One step of Jacobi: to = from + weight (b - A from) / D.
local function step(level, from, to, weight)
  apply(level, "T = F + weight * (B - STENCIL(F)) / D", { F = from, T = to, B = level.b },
    { weight = weight })
end

-- x = the two steps from zero.
local function smooth_zero(level, first, second)
  if type(level.d) == "number" then
    apply(level, "X = a * B - c * STENCIL(B)", { X = level.x, B = level.b },
      { a = (first + second) / level.d, c = first * second / level.d ^ 2 })
  else
    apply(level, "Y = first * B / D", { Y = level.y, B = level.b }, { first = first })
    step(level, level.y, level.x, second)
  end
end

local function smooth(level, first, second)
  step(level, level.x, level.y, first)
  step(level, level.y, level.x, second)
end

-- One V-cycle: sets x to an approximate solution for b.
local function cycle(self, number)
  local level, coarse = self.levels[number], self.levels[number + 1]
  smooth_zero(level, self.first, self.second)
  if not coarse then
    for _ = 1, bottom_rounds do smooth(level, self.first, self.second) end
    return
  end
  apply(level, "R = B - STENCIL(X)", { R = level.r, B = level.b, X = level.x })
  level.restrict(coarse.b, level.r, 4 / 2 ^ level.space.s.rank)
  cycle(self, number + 1)
  level.prolong(level.x, coarse.x, level.space.s.handle)
  smooth(level, self.first, self.second)
end

-- -- creating -------------------------------------------------------------------------------------

-- A vector of the next grid, with half as many cells per axis; for a sparse field, of the same
-- tree.
local function make_coarse(own)
  local s, session, halves = own.s, own.session, {}
  for axis = 1, s.rank do halves[axis] = math.ceil(s.extents[axis] / 2) end
  if own.is_sparse then return (shadow.of(session, s.handle, s.type)) end
  if s.is_array then return session.module.array(s.type, unpack(halves)) end
  return session.module.field(s.type, unpack(halves))
end

local Multigrid = {}
Multigrid.__index = Multigrid

function Multigrid:apply(r, z)
  local finest = self.levels[1]
  finest.b, finest.x = r, z
  cycle(self, 1)
end

local most_sparse_levels = 5

-- The number of grids.
local function count_of(own)
  if own.is_sparse then return most_sparse_levels end
  local least = math.huge
  for axis = 1, own.s.rank do least = math.min(least, own.s.extents[axis]) end
  return math.max(1, math.floor(math.log(least / least_extent) / math.log(2) + 1.001))
end

--- The preconditioner for the operator of these options.
function multigrid.create(options, op, own, caller, diagonal_of)
  if not op.is_stencil then
    return fail.argument(caller .. ": preconditioner 'multigrid' needs a stencil",
      "stencil = function(x, i, j) return 4 * x[i][j] - .. end: it is applied to coarser grids",
      "option.invalid")
  elseif #own.leaves ~= 1 or own.s.rank < 1 or own.s.rank > 3 then
    return fail.argument(caller .. ": preconditioner 'multigrid' takes numbers on grids of one to \z
      three axes", nil, "option.invalid")
  end
  local first, second = weights_of(1 / own.s.rank)
  local constant = type(options.diagonal) == "number" and options.diagonal or nil
  local self = setmetatable({ levels = {}, first = first, second = second }, Multigrid)
  for number = 1, count_of(own) do
    if number > 1 then op = operator.stencil(own, op.f, coarser(op.coefficients, own)) end
    local level = { space = own, op = op, b = own.x }
    self.levels[number] = level
    if number > 1 then
      connect(self.levels[number - 1], level)
      if own.is_sparse then activate(self.levels[number - 1], level) end
      level.x = own:vector "x"
    end
    level.y, level.r = own:vector "y", own:vector "residual"
    level.d = diagonal_of(number == 1 and options or { diagonal = constant }, op, own, caller)
    local coarse = own:keep("coarse", make_coarse)
    own = space.of(coarse, caller)
    own.is_sparse = self.levels[1].space.is_sparse
  end
  return self
end

return multigrid
