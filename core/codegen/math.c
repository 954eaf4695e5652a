/* math.c - math functions: LLVM's intrinsics if the machine has an instruction, else the runtime's
 * own, for one lane or several (llvm_bc/maths.def). f16 is computed in f32 and rounded. */
#include <stdio.h>

#include "codegen/operator.h"

typedef struct MathRow {
  IrOp op;
  const char *intrinsic; /* NULL: a call */
  const char *name;      /* of the runtime's: rt_<name>_<type> */
} MathRow;

static const MathRow rows[] = {
    {IR_FLOOR, "llvm.floor", NULL}, {IR_CEIL, "llvm.ceil", NULL}, {IR_TRUNC, "llvm.trunc", NULL},
    {IR_ROUND, "llvm.round", NULL}, {IR_SQRT, "llvm.sqrt", NULL},
#define MATH(OP, name, arguments) {IR_##OP, NULL, #name},
#include "maths.def"
#undef MATH
};

static const struct {
  Type type;
  int lanes;
} widths[] = {
#define MATH_LANES(TYPE_NAME, type, lanes) {TYPE(TYPE_NAME), lanes},
#include "maths.def"
#undef MATH_LANES
};

static const MathRow *find_row(IrOp op) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op == op) return &rows[i];
  return NULL;
}

bool math_is_call(IrOp op) { return find_row(op) != NULL; }

/* The largest number of lanes, up to `lanes`, that one call computes. */
static int widest(const Codegen *g, Type type, int lanes) {
  int most = g->target.call_bytes / (type_equal(type, TYPE(F64)) ? 8 : 4);
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (type_equal(widths[i].type, type) && widths[i].lanes <= lanes && widths[i].lanes <= most)
      return widths[i].lanes;
  return 1;
}

static LLVMValueRef call_lanes(Codegen *g, const MathRow *row, Type type, LLVMValueRef a,
                               LLVMValueRef b) {
  char name[48], lanes[8] = "";
  ASSERT(row->name && (!b || LLVMTypeOf(b) == LLVMTypeOf(a)), "a function of one type");
  if (value_is_vector(a)) snprintf(lanes, sizeof lanes, "x%d", value_width(a));
  snprintf(name, sizeof name, "rt_%s_%s%s", row->name, type_text(type), lanes);
  LLVMValueRef args[] = {a, b};
  return call_function(g, name, LLVMTypeOf(a), args, b ? 2 : 1);
}

/* `all` with the lanes of `some` from `first` on. */
static LLVMValueRef with_lanes(Codegen *g, LLVMValueRef all, LLVMValueRef some, int first) {
  DEBUG_ASSERT(first + value_width(some) <= value_width(all), "lanes of the vector");
  for (int i = 0; i < value_width(some); i++)
    all = LLVMBuildInsertElement(g->builder, all, value_lane(g, some, i), value_i32(g, first + i),
                                 "");
  return all;
}

/* Splits the lanes into calls of the widest function that there is. */
static LLVMValueRef call_runtime_maths(Codegen *g, const MathRow *row, Type type, LLVMValueRef a,
                                       LLVMValueRef b) {
  int width = value_width(a), lanes = widest(g, type, width);
  if (!value_is_vector(a) || lanes == width) return call_lanes(g, row, type, a, b);
  LLVMValueRef result = LLVMGetPoison(LLVMTypeOf(a));
  for (int first = 0; first < width; first += lanes) {
    lanes = widest(g, type, width - first);
    result = with_lanes(g, result,
                        call_lanes(g, row, type, lanes_some(g, a, first, lanes),
                                   b ? lanes_some(g, b, first, lanes) : NULL),
                        first);
  }
  return result;
}

LLVMValueRef math_call(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  const MathRow *row = find_row(op);
  ASSERT(row && type_is_float(type), "a function of floats");
  Type in = type_computed(type);
  if (!type_equal(in, type)) {
    LLVMValueRef wide = arith_convert(g, type, in, a),
                 other = b ? arith_convert(g, type, in, b) : NULL;
    return arith_convert(g, in, type, math_call(g, op, in, wide, other));
  }
  if (row->intrinsic) return arith_fast(g, call_intrinsic(g, row->intrinsic, LLVMTypeOf(a), &a, 1));
  return call_runtime_maths(g, row, type, a, b);
}

/* -- reciprocal roots -------------------------------------------------------------------------- */

/* RSQRT and RSQRT_CUBE: powers of the reciprocal square root of lanes, by which the pass
 * `vectorise` replaces division in fast_math kernels (pass/vector/vectorise_roots.c). The runtime
 * computes them from an estimate where the machine has one (llvm_bc/roots.c); other machines divide
 * by the root. Decisions D-codegen-07, D-codegen-30. */
enum { LEAST_BITS = 128, MOST_BITS = 512, WHOLE = 16 /* lanes of f32 in a register */ };

/* Can the machine estimate it? An unscaled one is of whole registers of f32, or is divided. */
static bool is_estimated(const Codegen *g, const IrInst *inst, Type type, int width) {
  int bits = width * type_bits(type);
  if (!g->kernel->fast_math || !g->target.estimates_roots || type_is(type, TYPE_F16)) return false;
  if (bits < LEAST_BITS || bits > MOST_BITS) return false;
  return !inst->unscaled || (type_is(type, TYPE_F32) && width == WHOLE);
}

/* If x is a sum of squares and a number that all lanes share, that number says whether x is usual.
 * Then x is added up again, so that it is finite. */
static LLVMValueRef is_usual(Codegen *g, const IrInst *inst, LLVMValueRef *x) {
  if (inst->operand_count <= 2 || LLVMTypeOf(*x) != value_vector(g, TYPE(F32), WHOLE))
    return value_i32(g, 0);
  LLVMValueRef rest = value_operand(g, inst, 2);
  *x = value_broadcast(g, rest, WHOLE);
  for (int i = 3; i < inst->operand_count; i++) {
    LLVMValueRef args[] = {*x, value_operand(g, inst, i)};
    *x = call_function(g, "rt_add_square_f32x16", LLVMTypeOf(*x), args, 2);
  }
  return call_function(g, "rt_is_usual_f32", g->i32, &rest, 1);
}

void math_reciprocal_root(Codegen *g, const IrInst *inst) {
  Type type = type_element(inst->type);
  LLVMValueRef x = value_operand(g, inst, 1), divisor = value_operand(g, inst, 0);
  ASSERT(inst->op == IR_RSQRT || inst->op == IR_RSQRT_CUBE, "a power of a reciprocal root");
  ASSERT(!inst->unscaled || inst->op == IR_RSQRT_CUBE, "only cubes have a factor to leave out");
  if (is_estimated(g, inst, type, value_width(x))) {
    LLVMValueRef usual = is_usual(g, inst, &x);
    LLVMValueRef args[] = {x, value_i32(g, inst->op == IR_RSQRT_CUBE ? 3 : 1),
                           value_i32(g, inst->unscaled), usual};
    const char *name = scratch_format(g->scratch, "rt_root_%sx%d", type_text(type), value_width(x));
    return value_set(g, inst, call_function(g, name, LLVMTypeOf(x), args, 4));
  }
  LLVMValueRef one = value_real(LLVMTypeOf(divisor), inst->unscaled ? 1 / IR_CUBE_SCALE : 1);
  value_set(g, inst, arith_fast(g, build_fdiv(g, one, divisor)));
}
