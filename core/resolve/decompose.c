/* decompose.c - rg.polar, rg.svd, rg.sym_eig: generated as the source of a kernel function for the
 * matrix size and called like any user function, so no pass or backend needs to know them.
 *
 *     R, S = polar(m)      m = R S           R orthogonal, S symmetric; of 2 x 2 in closed form
 *     U, S, V = svd(m)     m = U S V^T       S descending: columns of m rotated to orthogonality
 *     w, V = sym_eig(m)    m V = V diag(w)   ascending: m rotated in pairs until diagonal (Jacobi)
 *
 * The source is one line and captures nothing: a square root is the norm of a vector `h` of two
 * numbers. */
#include "front/parser.h"
#include "resolve/resolve.h"

enum { SWEEPS = 8 }; /* converges quadratically: 4 x 4 doubles reach rounding error after 7 */

typedef struct Writer {
  StrBuf out;
  int size;
} Writer;

#define write(w, ...) strbuf_format(&(w)->out, __VA_ARGS__)

static void write_identity(Writer *w, const char *name) {
  for (int r = 0; r < w->size; r++)
    for (int c = 0; c < w->size; c++) write(w, "%s[%d][%d] = %d.0 ", name, r, c, r == c);
}

/* Sum over k of a[k][p] * a[k][q]. */
static void write_column_product(Writer *w, const char *a, int p, int q) {
  for (int k = 0; k < w->size; k++)
    write(w, "%s%s[%d][%d] * %s[%d][%d]", k ? " + " : "", a, k, p, a, k, q);
}

/* From `z`, the cotangent of twice the angle: its cosine c and sine s, for the smaller of the two
 * angles. */
static void write_angle(Writer *w) {
  write(w,
        "h.x = z h.y = 1.0 local t = 1.0 / ((z < 0 and -z or z) + h:norm()) t = z < 0 and -t or t "
        "h.x = t local c = 1.0 / h:norm() local s = t * c ");
}

/* Rotates columns p and q of `name`, or its rows. */
static void write_turn(Writer *w, const char *name, int p, int q, bool is_rows) {
  for (int k = 0; k < w->size; k++) {
    int p_row = is_rows ? p : k, p_column = is_rows ? k : p;
    int q_row = is_rows ? q : k, q_column = is_rows ? k : q;
    write(w,
          "%s[%d][%d], %s[%d][%d] = c * %s[%d][%d] - s * %s[%d][%d], s * %s[%d][%d] + c * "
          "%s[%d][%d] ",
          name, p_row, p_column, name, q_row, q_column, name, p_row, p_column, name, q_row,
          q_column, name, p_row, p_column, name, q_row, q_column);
  }
}

static void write_swap(Writer *w, const char *name, int p, int q) {
  for (int k = 0; k < w->size; k++)
    write(w, "%s[%d][%d], %s[%d][%d] = %s[%d][%d], %s[%d][%d] ", name, k, p, name, k, q, name, k, q,
          name, k, p);
}

/* Sorts the numbers `by[k]`, and the columns of the named matrices with them. */
static void write_sort(Writer *w, const char *by, const char *order, const char *first,
                       const char *second) {
  for (int end = w->size - 1; end > 0; end--)
    for (int k = 0; k < end; k++) {
      write(w, "if %s[%d] %s %s[%d] then %s[%d], %s[%d] = %s[%d], %s[%d] ", by, k + 1, order, by, k,
            by, k, by, k + 1, by, k + 1, by, k);
      write_swap(w, first, k, k + 1);
      if (second) write_swap(w, second, k, k + 1);
      write(w, "end ");
    }
}

static void write_begin(Writer *w) {
  write(w, "function(m) m = m * 1.0 local h = m[0] * 0.0 ");
  for (int k = 0; k < w->size; k++) write(w, "h[%d] = 0.0 ", k);
}

/* -- eigenvalues ------------------------------------------------------------------------------- */

static void write_eigen(Writer *w) {
  write_begin(w);
  write(w, "local v = m local w = h ");
  write_identity(w, "v");
  write(w, "for sweep = 1, %d do ", SWEEPS);
  for (int p = 0; p < w->size; p++)
    for (int q = p + 1; q < w->size; q++) {
      write(w, "if m[%d][%d] ~= 0 then local z = (m[%d][%d] - m[%d][%d]) / (2.0 * m[%d][%d]) ", p,
            q, q, q, p, p, p, q);
      write_angle(w);
      write_turn(w, "m", p, q, false);
      write_turn(w, "m", p, q, true);
      write_turn(w, "v", p, q, false);
      write(w, "end ");
    }
  write(w, "end ");
  for (int k = 0; k < w->size; k++) write(w, "w[%d] = m[%d][%d] ", k, k, k);
  write_sort(w, "w", "<", "v", NULL);
  write(w, "return w, v end");
}

/* -- singular values --------------------------------------------------------------------------- */

/* Normalizes column k of u; a zero column starts from the axis farthest from the columns before.
 * Made orthogonal to them once more, which matters when little but rounding error is left. */
static void write_unit(Writer *w, int k) {
  write(w, "if d[%d] > 0 then ", k);
  for (int r = 0; r < w->size; r++) write(w, "h[%d] = u[%d][%d] / d[%d] ", r, r, k, k);
  write(w, "else local far, at = -1.0, 0 ");
  for (int j = 0; j < w->size; j++) {
    write(w, "do local left = 1.0 ");
    for (int i = 0; i < k; i++) write(w, "left = left - u[%d][%d] * u[%d][%d] ", j, i, j, i);
    write(w, "if left > far then far = left at = %d end end ", j);
  }
  for (int r = 0; r < w->size; r++) write(w, "h[%d] = at == %d and 1.0 or 0.0 ", r, r);
  write(w, "end ");
  for (int i = 0; i < k; i++) {
    write(w, "do local along = ");
    for (int r = 0; r < w->size; r++) write(w, "%su[%d][%d] * h[%d]", r ? " + " : "", r, i, r);
    for (int r = 0; r < w->size; r++) write(w, " h[%d] = h[%d] - along * u[%d][%d]", r, r, r, i);
    write(w, " end ");
  }
  write(w, "h = h / h:norm() ");
  for (int r = 0; r < w->size; r++) write(w, "u[%d][%d] = h[%d] ", r, k, r);
}

static void write_singular(Writer *w, const char *results) {
  write_begin(w);
  write(w, "local u, v, d = m, m, h ");
  write_identity(w, "v");
  write(w, "for sweep = 1, %d do ", SWEEPS);
  for (int p = 0; p < w->size; p++)
    for (int q = p + 1; q < w->size; q++) {
      write(w, "do local g = ");
      write_column_product(w, "u", p, q);
      write(w, " if g ~= 0 then local z = ((");
      write_column_product(w, "u", q, q);
      write(w, ") - (");
      write_column_product(w, "u", p, p);
      write(w, ")) / (2.0 * g) ");
      write_angle(w);
      write_turn(w, "u", p, q, false);
      write_turn(w, "v", p, q, false);
      write(w, "end end ");
    }
  write(w, "end ");
  for (int k = 0; k < w->size; k++) {
    for (int r = 0; r < w->size; r++) write(w, "h[%d] = u[%d][%d] ", r, r, k);
    write(w, "d[%d] = h:norm() ", k);
  }
  write_sort(w, "d", ">", "u", "v");
  for (int k = 0; k < w->size; k++) write_unit(w, k);
  write(w, "local s = m ");
  for (int r = 0; r < w->size; r++)
    for (int c = 0; c < w->size; c++)
      if (r == c) write(w, "s[%d][%d] = d[%d] ", r, c, r);
      else write(w, "s[%d][%d] = 0.0 ", r, c);
  write(w, "return %s end", results);
}

/* -- polar ------------------------------------------------------------------------------------- */

static void write_polar_2(Writer *w) {
  write_begin(w);
  write(w, "local r = m if m[0][0] * m[1][1] - m[0][1] * m[1][0] >= 0 then "
           "h.x = m[0][0] + m[1][1] h.y = m[1][0] - m[0][1] local n = h:norm() "
           "if n > 0 then h = h / n else h.x = 1.0 h.y = 0.0 end "
           "r[0][0] = h.x r[0][1] = -h.y r[1][0] = h.y r[1][1] = h.x else "
           "h.x = m[0][0] - m[1][1] h.y = m[0][1] + m[1][0] h = h / h:norm() "
           "r[0][0] = h.x r[0][1] = h.y r[1][0] = h.y r[1][1] = -h.x end "
           "return r, r:transpose() * m end");
}

/* -- the call ---------------------------------------------------------------------------------- */

static Ast *write_function(Resolve *r, const Builtin *builtin, int size) {
  Writer w = {.size = size};
  strbuf_init(&w.out, r->scratch);
  if (!strcmp(builtin->name, "rg.sym_eig")) write_eigen(&w);
  else if (!strcmp(builtin->name, "rg.svd")) write_singular(&w, "u, s, v");
  else if (size == 2) write_polar_2(&w);
  else write_singular(&w, "u * v:transpose(), v * s * v:transpose()");
  Source *source = source_create(r->scratch, str_of(strbuf_end(&w.out)), builtin->name, 1);
  return parse_kernel_text(source, r->s->err);
}

Entity decompose_call(Resolve *r, Expr *e, const Builtin *builtin) {
  Expr *self = e->kind == AST_METHOD ? e->left : NULL;
  if (e->inlined) return *&e->entity; /* already resolved */
  if (e->list.count != (self ? 0 : 1)) {
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes one matrix", builtin->name);
    return (Entity){0};
  }
  Expr *matrix = self ? self : e->list.items[0];
  if (!resolve_value(r, matrix)) return (Entity){0};
  Shape shape = shape_of(matrix);
  if (!type_is_matrix(shape) || type_rows(shape) != type_cols(shape)) {
    sema_fail(r->s, matrix, RG_ERROR_TYPE_MISMATCH, NULL,
              "'%s' takes a square matrix, and this is %s", builtin->name, shape_text(r->s, shape));
    return (Entity){0};
  }
  Ast *ast = write_function(r, builtin, type_rows(shape));
  if (!ast) return (Entity){0};
  return resolve_inline_call(r, e, resolve_function(builtin->name, ast->function, ast->source),
                             self);
}
