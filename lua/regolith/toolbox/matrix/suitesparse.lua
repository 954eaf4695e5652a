--- Calls SuiteSparse (Davis): CHOLMOD for symmetric, positive definite matrices, UMFPACK for
--- others. Both take compressed columns of f64; our compressed rows are the columns of the
--- transpose.
---
--- A factor is made for the pattern of compressed rows { n, count, starts, columns, values } in
--- host memory; factor(rows) reads their values, and solve(x, b) takes pointers to doubles.
local ffi = require "ffi"
local fail = require "regolith.error"
local foreign = require "regolith.toolbox.foreign"

local suitesparse = {}

-- -- CHOLMOD --------------------------------------------------------------------------------------

-- The soname is that of SuiteSparse 5. Four members of its cholmod_common are accessed by offset.
local cholmod = { soname = "libcholmod.so.3", package = "libcholmod3",
  what = "a Cholesky factor" }
local common_bytes, final_ll, quick_return, print, status_at = 4096, 60, 136, 144, 1972
local out_of_memory, too_large = -2, -3 -- statuses

cholmod.cdef = [[
  typedef struct RgCholmodSparse {
    size_t nrow, ncol, nzmax;
    void *p, *i, *nz, *x, *z;
    int stype, itype, xtype, dtype, sorted, packed;
  } RgCholmodSparse;
  typedef struct RgCholmodDense {
    size_t nrow, ncol, nzmax, d;
    void *x, *z;
    int xtype, dtype;
  } RgCholmodDense;
  typedef struct RgCholmodFactor { size_t n, minor; } RgCholmodFactor;
  int cholmod_start(void *common);
  int cholmod_finish(void *common);
  RgCholmodFactor *cholmod_analyze(RgCholmodSparse *a, void *common);
  int cholmod_factorize(RgCholmodSparse *a, RgCholmodFactor *l, void *common);
  RgCholmodDense *cholmod_solve(int sys, RgCholmodFactor *l, RgCholmodDense *b, void *common);
  int cholmod_free_factor(RgCholmodFactor **l, void *common);
  int cholmod_free_dense(RgCholmodDense **x, void *common);
]]

local function int_at(common, offset) return ffi.cast("int *", common + offset) end

local function check_cholmod(self)
  local status = int_at(self.common, status_at)[0]
  if status >= 0 then return end
  local reasons = { [out_of_memory] = "there is not enough memory",
    [too_large] = "the factor has more than 2^31 elements" }
  return fail.raise { code = "solve.failed", message = ("%s: CHOLMOD cannot factor it: %s"):format(
    self.name, reasons[status] or ("status %d"):format(status)) }
end

local Cholmod = {}
Cholmod.__index = Cholmod

-- Returns the symmetric matrix whose compressed columns have one triangle, or both. The upper
-- triangle of rows is the lower one of columns.
local function sparse_of(self, rows)
  local a = ffi.new "RgCholmodSparse"
  a.nrow, a.ncol, a.nzmax = self.n, self.n, rows.count
  a.p, a.i, a.x = rows.starts, rows.columns, rows.values
  a.stype, a.itype, a.xtype, a.dtype, a.sorted, a.packed = 1, 0, 1, 0, 1, 1
  if rows.is_upper then a.stype = -1 end
  return a
end

--- Orders the rows, and finds the factor's pattern.
function suitesparse.cholesky(rows, name)
  local C = foreign.open(cholmod)
  local common = ffi.new("char[?]", common_bytes)
  C.cholmod_start(common)
  int_at(common, final_ll)[0], int_at(common, quick_return)[0] = 1, 1
  int_at(common, print)[0] = 0
  local self = setmetatable({ C = C, n = rows.n, common = common, name = name }, Cholmod)
  local out = ffi.new "RgCholmodFactor *[1]"
  self.out = ffi.gc(out, function()
    if out[0] ~= nil then C.cholmod_free_factor(out, common) end
    C.cholmod_finish(common)
  end)
  out[0] = C.cholmod_analyze(sparse_of(self, rows), common)
  check_cholmod(self)
  return self
end

--- Computes the factor; returns whether the matrix is positive definite.
function Cholmod:factor(rows)
  self.C.cholmod_factorize(sparse_of(self, rows), self.out[0], self.common)
  check_cholmod(self)
  return tonumber(self.out[0].minor) == self.n
end

--- x = the solution for b, both arrays of doubles.
function Cholmod:solve(x, b)
  local dense = ffi.new "RgCholmodDense"
  dense.nrow, dense.ncol, dense.nzmax, dense.d = self.n, 1, self.n, self.n
  dense.x, dense.xtype = ffi.cast("void *", b), 1
  local out = ffi.new "RgCholmodDense *[1]"
  out[0] = self.C.cholmod_solve(0, self.out[0], dense, self.common)
  check_cholmod(self)
  ffi.copy(x, out[0].x, 8 * self.n)
  self.C.cholmod_free_dense(out, self.common)
end

-- -- UMFPACK --------------------------------------------------------------------------------------

local umfpack = { soname = "libumfpack.so.5", package = "libumfpack5",
  what = "an LU factor" }
local transposed, singular = 1, 1

umfpack.cdef = [[
  void umfpack_di_defaults(double *control);
  int umfpack_di_symbolic(int n, int m, const int *starts, const int *columns,
    const double *values, void **symbolic, const double *control, double *info);
  int umfpack_di_numeric(const int *starts, const int *columns, const double *values,
    void *symbolic, void **numeric, const double *control, double *info);
  int umfpack_di_solve(int sys, const int *starts, const int *columns, const double *values,
    double *x, const double *b, void *numeric, const double *control, double *info);
  void umfpack_di_free_symbolic(void **symbolic);
  void umfpack_di_free_numeric(void **numeric);
]]

local reasons = { [-1] = "there is not enough memory", [-8] = "the factor has too many elements",
  [-11] = "the pattern differs from the analysed one" }

local function check_umfpack(self, status)
  if status >= 0 then return end
  return fail.raise { code = "solve.failed", message = ("%s: UMFPACK cannot factor it: %s"):format(
    self.name, reasons[status] or ("status %d"):format(status)) }
end

local Umfpack = {}
Umfpack.__index = Umfpack

--- Orders the columns of a matrix that is not symmetric, and finds the factor's pattern.
function suitesparse.lu(rows, name)
  local C = foreign.open(umfpack)
  local self = setmetatable({ C = C, n = rows.n, name = name, control = ffi.new "double[20]",
    info = ffi.new "double[90]" }, Umfpack)
  C.umfpack_di_defaults(self.control)
  self.symbolic = ffi.gc(ffi.new "void *[1]", C.umfpack_di_free_symbolic)
  self.numeric = ffi.gc(ffi.new "void *[1]", C.umfpack_di_free_numeric)
  check_umfpack(self, C.umfpack_di_symbolic(self.n, self.n, rows.starts, rows.columns, rows.values,
    self.symbolic, self.control, self.info))
  return self
end

--- Computes the factor; returns whether the matrix is invertible.
function Umfpack:factor(rows)
  self.C.umfpack_di_free_numeric(self.numeric)
  local status = self.C.umfpack_di_numeric(rows.starts, rows.columns, rows.values,
    self.symbolic[0], self.numeric, self.control, self.info)
  check_umfpack(self, status)
  self.rows = rows -- iterative refinement reads them
  return status ~= singular
end

function Umfpack:solve(x, b)
  local rows = self.rows
  check_umfpack(self, self.C.umfpack_di_solve(transposed, rows.starts, rows.columns, rows.values, x,
    b, self.numeric[0], self.control, self.info))
end

return suitesparse
