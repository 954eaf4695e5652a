--- Eigenvalues of sparse symmetric matrices: `A:eigen{ count = 6, which = "smallest" }`, by ARPACK
--- (Lehoucq, Sorensen, Yang 1998: the implicitly restarted Lanczos method). ARPACK requests
--- products with A, or, for eigenvalues near a number, solutions of shifted systems (direct.lua).
local ffi = require "ffi"
local fail = require "regolith.error"
local foreign = require "regolith.toolbox.foreign"
local matrix = require "regolith.toolbox.matrix"

local eigen = {}

local arpack = { soname = "libarpack.so.2", package = "libarpack2", what = "A:eigen" }
arpack.cdef = [[
  void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev,
    const double *tol, double *resid, const int *ncv, double *v, const int *ldv, int *iparam,
    int *ipntr, double *workd, double *workl, const int *lworkl, int *info, size_t bmat_length,
    size_t which_length);
  void dseupd_(const int *rvec, const char *howmny, int *select, double *d, double *z,
    const int *ldz, const double *sigma, const char *bmat, const int *n, const char *which,
    const int *nev, const double *tol, double *resid, const int *ncv, double *v, const int *ldv,
    int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info,
    size_t howmny_length, size_t bmat_length, size_t which_length);
]]

local function int(v) return ffi.new("int[1]", v) end

-- -- the operations for ARPACK --------------------------------------------------------------------

-- Returns a function (from, to) of pointers to n doubles: to = A from.
local function products_of(A, n)
  local x, y = A:new_vector "column", A:new_vector "row"
  return function(from, to)
    foreign.write(x, from, n)
    A:apply(x, y)
    ffi.copy(to, (foreign.numbers(y, "f64", "A:eigen")), 8 * n)
  end
end

-- Returns such a function that solves (A - near) to = from.
local function solutions_of(A, n, near)
  local moved = near == 0 and A or A - near * matrix.identity(A.session, n)
  local ok, F = pcall(moved.cholesky, moved)
  if not ok then F = moved:lu() end
  return function(from, to) F.own:solve(to, from) end
end

-- -- options --------------------------------------------------------------------------------------

local option_names = { "count", "which", "near", "tolerance", "iterations" }

local function number_of(options, name, default, least, is_whole)
  local v = options[name]
  if v == nil then return default end
  if type(v) == "number" and v >= least and (not is_whole or v % 1 == 0) then return v end
  return fail.option(options, name, "A:eigen", ("a %snumber of at least %s"):format(
    is_whole and "whole " or "", least))
end

local function check(self, options)
  options = fail.options(options, option_names, "A:eigen",
    "A:eigen{ count = 6, which = \"smallest\" }")
  local which = options.which or options.near and "near" or "largest"
  if which ~= "largest" and which ~= "smallest" and (which ~= "near" or not options.near) then
    return fail.option(options, "which", "A:eigen", '"largest" or "smallest"',
      "near = 0.5 finds the eigenvalues nearest to a number")
  end
  if not self:is_symmetric() then
    return fail.argument("A:eigen takes symmetric matrices, and this is not one: " .. tostring(
      self))
  end
  local n = self.row_count * self.block
  local count = number_of(options, "count", math.max(1, math.min(6, n - 1)), 1, true)
  if count >= n then
    return fail.argument(("A:eigen of %s: 'count' (%d) must be less than the number of rows")
      :format(tostring(self), count))
  end
  return which, count
end

-- -- the iteration --------------------------------------------------------------------------------

local solving = 3 -- ARPACK's mode that requests solutions

local function begin(n, count, options, which, mode)
  local ncv = math.min(n, math.max(2 * count + 1, 20))
  local length = ncv * (ncv + 8)
  local s = { n = int(n), nev = int(count), ncv = int(ncv), lworkl = int(length),
    which = which, resid = ffi.new("double[?]", n), v = ffi.new("double[?]", n * ncv),
    workd = ffi.new("double[?]", 3 * n), workl = ffi.new("double[?]", length),
    iparam = ffi.new "int[11]", ipntr = ffi.new "int[14]", info = int(0),
    tol = ffi.new("double[1]", number_of(options, "tolerance", 1e-10, 0)) }
  s.iparam[0], s.iparam[6] = 1, mode
  s.iparam[2] = number_of(options, "iterations", math.max(300, 10 * n / ncv), 1)
  return s
end

local function iterate(C, s, apply)
  local ido = int(0)
  repeat
    C.dsaupd_(ido, "I", s.n, s.which, s.nev, s.tol, s.resid, s.ncv, s.v, s.n, s.iparam, s.ipntr,
      s.workd, s.workl, s.lworkl, s.info, 1, 2)
    if ido[0] == 1 or ido[0] == -1 then
      apply(s.workd + s.ipntr[0] - 1, s.workd + s.ipntr[1] - 1)
    end
  until ido[0] == 99
end

-- The eigenvalues that were found, in ascending order, and their vectors.
local function collect(self, C, s, sigma)
  local n, found = s.n[0], s.iparam[4]
  local values, chosen = ffi.new("double[?]", s.nev[0]), ffi.new("int[?]", s.ncv[0])
  C.dseupd_(int(1), "A", chosen, values, s.v, s.n, ffi.new("double[1]", sigma), "I", s.n, s.which,
    s.nev, s.tol, s.resid, s.ncv, s.v, s.n, s.iparam, s.ipntr, s.workd, s.workl, s.lworkl, s.info,
    1, 1, 2)
  local order, result = {}, { values = {}, vectors = {}, iterations = s.iparam[2] }
  for k = 1, found do order[k] = k - 1 end
  table.sort(order, function(a, b) return values[a] < values[b] end)
  for k, from in ipairs(order) do
    local vector = self:new_vector "row"
    foreign.write(vector, s.v + from * n, n)
    result.values[k], result.vectors[k] = values[from], vector
  end
  return result
end

--- `A:eigen{ count =, which =, near =, tolerance =, iterations = }`
---@return table result   { values, vectors, iterations }
function eigen.solve(self, options)
  options = options == nil and {} or options
  local which, count = check(self, options)
  local C = foreign.open(arpack)
  local n, sigma, apply, s = self.row_count * self.block, 0
  local A = self.block == 1 and self or self:scalar()
  if A.type.name ~= "f64" then A = A:copy(self.session.module.f64) end
  if which == "smallest" and not pcall(function() apply = A:cholesky() end) then
    s, apply = begin(n, count, options, "SA", 1), products_of(A, n)
  elseif which == "largest" then
    s, apply = begin(n, count, options, "LA", 1), products_of(A, n)
  else -- the largest of the inverse
    sigma = options.near or 0
    s, apply = begin(n, count, options, "LM", solving), solutions_of(A, n, sigma)
  end
  iterate(C, s, apply)
  if s.info[0] < 0 or s.info[0] > 1 then
    return fail.raise { code = "solve.failed",
      message = ("%s: ARPACK ended with the status %d"):format(tostring(self), s.info[0]) }
  end
  local result = collect(self, C, s, sigma)
  if #result.values < count then
    return fail.raise { code = "solve.failed",
      message = ("%s: %d of %d eigenvalues converged in %d iterations"):format(tostring(self),
        #result.values, count, result.iterations),
      hint = "allow more (iterations = 10000), or give a number near them (near = 0)" }
  end
  return result
end

return eigen
