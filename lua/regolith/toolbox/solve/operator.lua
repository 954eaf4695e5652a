--- The operator of a solver: a matrix, a function of an element (a stencil), or a kernel or
--- function that computes all elements. op:apply(p, q) sets q = A p, and returns the scalar product
--- of p and q.
local fail = require "regolith.error"
local subject = require "regolith.data.subject"

local debug = debug

local operator = {}

local function is_callable(f)
  local meta = type(f) == "table" and getmetatable(f)
  return type(f) == "function" or type(meta) == "table" and rawget(meta, "__call") ~= nil
end

--- Raises unless option `name` is a function or a kernel.
function operator.check_callable(f, name, caller, hint)
  if is_callable(f) then return f end
  if type(f) == "table" and getmetatable(f) and f.apply_dot then hint = "pass a matrix as A" end
  return fail.option({ [name] = f }, name, caller, "a kernel or a function", hint)
end

-- -- kinds ----------------------------------------------------------------------------------------

local Stencil, Whole, OfMatrix = {}, {}, {}
Stencil.__index, Whole.__index, OfMatrix.__index = Stencil, Whole, OfMatrix

function Stencil:apply(p, q)
  return self.space:run("Q = STENCIL(P) s = s + <P, Q>", { P = p, Q = q }, nil, self)
end

function Whole:apply(p, q)
  self.f(p, q)
  return self.space:dot(p, q)
end

function OfMatrix:apply(p, q) return self.matrix:apply_dot(p, q) end

--- The operator of a stencil, on the vectors of a space. The stencil may also read coefficients, a
--- table of fields.
function operator.stencil(own, f, coefficients)
  return setmetatable({ space = own, f = f, is_stencil = true, coefficients = coefficients },
    Stencil)
end

local function coefficients_of(options, form, caller)
  local given = options.coefficients
  if given == nil then return nil end
  if form ~= "stencil" then
    return fail.argument(("option 'coefficients' of %s needs the option 'stencil'"):format(caller),
      nil, "option.invalid")
  end
  local is_table = type(given) == "table" and not getmetatable(given)
  for _, x in pairs(is_table and given or {}) do is_table = is_table and subject.is(x) end
  if is_table then return given end
  return fail.option(options, "coefficients", caller, "a table of fields",
    "{ open = open }: stencil(x, i, j, c) reads c.open[i][j]")
end

-- -- the operator of a solver's options -----------------------------------------------------------

local forms = { "A", "apply", "stencil" }

local function chosen(options, caller)
  local found
  for _, name in ipairs(forms) do
    if options[name] ~= nil then
      if found then
        return fail.argument(("%s takes only one of 'A', 'apply' and 'stencil', got '%s' and '%s'")
          :format(caller, found, name), nil, "option.invalid")
      end
      found = name
    end
  end
  return found or fail.argument(("%s needs its operator: a matrix A, a kernel apply(x, y) that \z
    writes A x into y, or a function stencil(x, i, j) that returns an element of A x"):format(
    caller), caller .. "{ A = A, x = x, b = b }", "option.invalid")
end

--- Raises unless option A is a matrix.
function operator.check_matrix(A, caller)
  if type(A) == "table" and getmetatable(A) and A.apply_dot then return A end
  return fail.option({ A = A }, "A", caller, "a matrix",
    "rg.matrix{ .. } makes one; pass a kernel or function as 'apply'")
end

-- Beginners confuse functions of an element with functions of whole vectors.
local function check_parameters(f, form, own, caller)
  local info = type(f) == "function" and debug and debug.getinfo(f, "u")
  local count = info and not info.isvararg and info.nparams or nil
  if form == "apply" and count and count > 2 then
    return fail.argument(("option 'apply' of %s is called with two vectors, but this function has \z
      %d parameters"):format(caller, count), "pass a function of one element, (x, i, j), as \z
      'stencil'", "option.invalid")
  elseif form == "stencil" and count and count < 1 + own.s.rank then
    return fail.argument(("option 'stencil' of %s is called with x and %d indices, but this \z
      function has %d parameter%s"):format(caller, own.s.rank, count, count == 1 and "" or "s"),
      "pass a function of whole vectors, (x, y), as 'apply'", "option.invalid")
  end
end

--- The operator that the options specify, on vectors like the unknown.
function operator.of(options, own, caller)
  local form = chosen(options, caller)
  if form == "A" then
    local A = operator.check_matrix(options.A, caller)
    coefficients_of(options, form, caller)
    A:assemble():check_vector(own.x, "column", "x")
    return setmetatable({ space = own, matrix = A }, OfMatrix)
  end
  local f = operator.check_callable(options[form], form, caller,
    form == "stencil" and "stencil = function(x, i, j) return 4 * x[i][j] - .. end" or
    "apply = function(x, y) .. end writes A x into y")
  if form == "stencil" and type(f) ~= "function" then
    return fail.argument(("option 'stencil' of %s must be a plain function, not a kernel"):format(
      caller), "apply = kernel(x, y) writes all elements of A x into y", "option.invalid")
  end
  check_parameters(f, form, own, caller)
  local coefficients = coefficients_of(options, form, caller)
  if form == "stencil" then return operator.stencil(own, f, coefficients) end
  return setmetatable({ space = own, f = f }, Whole)
end


return operator
