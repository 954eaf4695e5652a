--- Preconditioners of the iterative solvers: z = M r, where M approximates the inverse of A.
---     jacobi         the inverse of the diagonal (of its blocks, if A is made of blocks)
---     block_jacobi   the inverses of diagonal blocks of a scalar matrix
---     ic0            an incomplete Cholesky factor with the pattern of A (incomplete.lua)
---     multigrid      one cycle over coarser and coarser grids (multigrid.lua)
--- A user may pass a kernel or function (r, z) instead, or an object with a method `apply(r, z)`.
local fail = require "regolith.error"
local operator = require "regolith.toolbox.solve.operator"

local precondition = {}

local makers = {}

-- -- the diagonal ---------------------------------------------------------------------------------

-- Returns the number that d has in all cells for which `condition` holds, or nil if they differ.
local function common(own, d, condition, numbers)
  local sum, count = own:run(("if %s then s = s + D t = t + 1 end"):format(condition), { D = d },
    numbers)
  if count == 0 then return nil end
  local all = { mean = sum / count }
  for name, v in pairs(numbers) do all[name] = v end
  local off = own:run(("if %s then s = s + (D - mean) * (D - mean) end"):format(condition),
    { D = d }, all)
  return off <= 1e-12 * count * (sum / count) ^ 2 and sum / count or nil
end

-- Computes the diagonal of a stencil that reads only adjacent cells: applied to ones at every third
-- cell along each axis, and zeros elsewhere, it yields its diagonal at these cells. If the diagonal
-- is the same at all cells of the first such colouring, in the interior and along borders, it is
-- assumed to be constant.
local function probe(op, own, caller)
  if #own.leaves ~= 1 then
    return fail.argument((
      "%s cannot compute the diagonal of an operator whose elements are vectors"):format(caller),
        "pass it: diagonal = number, or a field of numbers", "option.invalid")
  end
  local d, p, q = own:vector "diagonal", own:vector "p", own:vector "q"
  local axes, conditions = math.max(1, own.s.rank), {}
  for axis = 1, axes do conditions[axis] = ("i%d %% 3 == rg.i32(c%d)"):format(axis, axis) end
  local is_here = table.concat(conditions, " and ")
  for colour = 0, 3 ^ axes - 1 do
    local numbers, rest = {}, colour
    for axis = 1, axes do
      numbers["c" .. axis] = rest % 3
      rest = (rest - rest % 3) / 3
    end
    own:run(("P = (%s) and 1 or 0"):format(is_here), { P = p }, numbers)
    op:apply(p, q)
    own:run(("if %s then D = Q end"):format(is_here), { D = d, Q = q }, numbers)
    local number = colour == 0 and common(own, d, is_here, numbers)
    if number then return number end
  end
  return d
end

--- The diagonal of the operator: a number, or a vector.
function precondition.diagonal(options, op, own, caller)
  local given = options.diagonal
  if type(given) == "number" then return given end
  if given ~= nil then return own:check(given, "diagonal") end
  if op.matrix then return op.matrix:diagonal() end
  if op.is_stencil then return probe(op, own, caller) end
  return fail.argument(("%s cannot compute the diagonal of 'apply'"):format(caller),
    "pass it: diagonal = number, or a field of numbers", "option.invalid")
end

local Pointwise = {}
Pointwise.__index = Pointwise
function Pointwise:apply(r, z) self.space:run("Z = D * R", { Z = z, D = self.d, R = r }) end

function makers.jacobi(options, op, own, caller)
  local d = precondition.diagonal(options, op, own, caller)
  if type(d) == "number" then return nil end -- it would only change the scale
  local inverse = own:vector "inverse"
  if op.matrix and op.matrix.block > 1 then
    inverse = own.session.module.array(op.matrix.type, #d)
    own:run("E = rg.inverse(D)", { D = d, E = inverse })
  else
    own:run("E = D ~= 0 and 1 / D or 1", { D = d, E = inverse })
  end
  return setmetatable({ space = own, d = inverse }, Pointwise)
end

-- -- of matrices ----------------------------------------------------------------------------------

local function check_matrix(name, op, caller)
  if op.matrix then return op.matrix end
  return fail.argument(("%s: preconditioner '%s' needs a matrix A"):format(caller, name),
    "jacobi and multigrid work without one", "option.invalid")
end

function makers.block_jacobi(options, op, own, caller)
  local matrix = check_matrix("block_jacobi", op, caller)
  if matrix.block > 1 then return makers.jacobi(options, op, own, caller) end
  return require("regolith.toolbox.solve.incomplete").blocks(matrix, own, options.block or 4,
    caller)
end

function makers.ic0(_, op, own, caller)
  return require("regolith.toolbox.solve.incomplete").cholesky(check_matrix("ic0", op, caller), own,
    caller)
end

function makers.multigrid(options, op, own, caller)
  return require("regolith.toolbox.solve.multigrid").create(options, op, own, caller,
    precondition.diagonal)
end

-- -- any ------------------------------------------------------------------------------------------

local Given = {}
Given.__index = Given
function Given:apply(r, z) self.f(r, z) end

local names = { "jacobi", "block_jacobi", "ic0", "multigrid" }

--- The preconditioner that the options specify, or nil.
function precondition.of(options, op, own, caller)
  local given = options.preconditioner
  if given == nil then return nil end
  if type(given) == "table" and type(given.apply) == "function" then return given end
  if type(given) ~= "string" then
    operator.check_callable(given, "preconditioner", caller,
      "pass a name, such as \"jacobi\", or function(r, z) .. end, which writes z")
    return setmetatable({ f = given }, Given)
  end
  if not makers[given] then
    return fail.argument(("%s has no preconditioner '%s'"):format(caller, given),
      fail.nearest(given, names) or "it has " .. table.concat(names, ", "), "option.invalid")
  end
  return makers[given](options, op, own, caller)
end

return precondition
