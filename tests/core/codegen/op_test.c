/* op_test.c - every operator, for every scalar type and every target, compared with the same in C:
 * once over a range (scalars, which LLVM may vectorise) and once in the lanes of a row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "ir/ir.h"
#include "machine.h"
#include "maths.h"

enum { COUNT = 256, SPAN = COUNT * 8 /* bytes of one array */, LANES = 8 };

static Machine m;

/* -- samples: the edges of a type, and noise --------------------------------------------------- */

static uint64_t seed = 88172645463325252u;
static uint64_t noise(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

static double float_sample(int i) {
  static const double edges[] = {0.0, -0.0, 1.0,    -1.0,      0.5,     -0.5, 1.5,
                                 2.5, -2.5, 3.0,    -7.0,      7.0,     1e-3, INFINITY,
                                 NAN, 1e6,  -1e300, -INFINITY, 65520.0, 6e-8};
  enum { EDGES = sizeof edges / sizeof *edges };
  if (i < EDGES) return edges[i];
  double size = ldexp((double)(noise() % 1000003) / 1000003.0, (int)(noise() % 24) - 8);
  return noise() & 1 ? size : -size;
}

static int64_t integer_sample(int i) {
  static const int64_t edges[] = {0,     1,      -1,        2,         -2,        3,
                                  7,     -7,     127,       -128,      128,       255,
                                  32767, -32768, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  enum { EDGES = sizeof edges / sizeof *edges };
  if (i < EDGES) return edges[i];
  return (int64_t)noise() >> (noise() % 60);
}

static void put(Type type, uint8_t *at, int64_t integer, double number) {
  float single = (float)number;
  _Float16 half = (_Float16)number;
  if (type_is(type, TYPE_F64)) memcpy(at, &number, 8);
  else if (type_is(type, TYPE_F32)) memcpy(at, &single, 4);
  else if (type_is(type, TYPE_F16)) memcpy(at, &half, 2);
  else if (type_is_bool(type)) *at = integer & 1;
  else memcpy(at, &integer, (size_t)type_size(type));
}

static double get_float(Type type, const uint8_t *at) {
  float single;
  _Float16 half;
  double number;
  if (type_is(type, TYPE_F64)) return memcpy(&number, at, 8), number;
  if (type_is(type, TYPE_F32)) return memcpy(&single, at, 4), single;
  return memcpy(&half, at, 2), (double)half;
}

static int64_t get_integer(Type type, const uint8_t *at) {
  int64_t value = 0;
  memcpy(&value, at, (size_t)type_size(type));
  return ir_wrap_int(type, value);
}

/* -- what C says ------------------------------------------------------------------------------- */

static double in_type(Type type, double value) {
  if (type_is(type, TYPE_F32)) return (float)value;
  if (type_is(type, TYPE_F16)) return (double)(_Float16)value;
  return value;
}

/* Double holds the exact result of + - * of f32 and f16, and rounds / and sqrt innocuously. */
static double float_answer(IrOp op, Type type, double a, double b) {
  switch (op) {
  case IR_ADD: return in_type(type, a + b);
  case IR_SUB: return in_type(type, a - b);
  case IR_MUL: return in_type(type, a * b);
  case IR_DIV: return in_type(type, a / b);
  case IR_FLOORDIV: return in_type(type, floor(a / b));
  case IR_MOD: return in_type(type, a - floor(a / b) * b);
  case IR_NEG: return -a;
  case IR_ABS: return fabs(a);
  case IR_MIN: return b < a ? b : a;
  case IR_MAX: return a < b ? b : a;
  case IR_FLOOR: return floor(a);
  case IR_CEIL: return ceil(a);
  case IR_TRUNC: return trunc(a);
  case IR_ROUND: return round(a);
  case IR_SQRT: return in_type(type, sqrt(a));
  default: return NAN;
  }
}

static double math_answer(IrOp op, Type type, double a, double b) {
  bool wide = type_is(type, TYPE_F64);
  float x = (float)a, y = (float)b;
  switch (op) {
#define MATH_1(name) wide ? rt_##name##_f64(a) : in_type(type, rt_##name##_f32(x))
#define MATH_2(name) wide ? rt_##name##_f64(a, b) : in_type(type, rt_##name##_f32(x, y))
#define MATH(OP, name, arguments) \
  case IR_##OP: return MATH_##arguments(name);
#include "maths.def"
#undef MATH
  default: return float_answer(op, type, a, b);
  }
}

static uint64_t bits_of(Type type, int64_t a) {
  int bits = type_bits(type);
  return bits == 64 ? (uint64_t)a : (uint64_t)a & ((UINT64_C(1) << bits) - 1);
}

static int64_t divide(IrOp op, Type type, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (!type_is_signed(type))
    return (int64_t)(op == IR_MOD ? bits_of(type, a) % bits_of(type, b)
                                  : bits_of(type, a) / bits_of(type, b));
  __int128 x = a, y = b, q = x / y;
  if (x % y != 0 && (x < 0) != (y < 0)) q--;
  return op == IR_MOD ? (int64_t)(x - q * y) : (int64_t)q;
}

static int64_t shift(IrOp op, Type type, int64_t a, int64_t b) {
  int bits = type_bits(type), n = (int)(b & (bits - 1));
  uint64_t u = bits_of(type, a);
  switch (op) {
  case IR_SHL: return (int64_t)(u << n);
  case IR_SHR: return (int64_t)(u >> n);
  case IR_SAR: return (type_is_signed(type) ? a : (int64_t)(u << (64 - bits)) >> (64 - bits)) >> n;
  case IR_ROL: return (int64_t)(n ? u << n | u >> (bits - n) : u);
  default: return (int64_t)(n ? u >> n | u << (bits - n) : u);
  }
}

/* Bit by bit. */
static int64_t zeros(IrOp op, Type type, int64_t a) {
  int width = type_bits(type), count = 0;
  while (count < width && !((uint64_t)a >> (op == IR_CLZ ? width - 1 - count : count) & 1)) count++;
  return count;
}

static int64_t integer_answer(IrOp op, Type type, int64_t a, int64_t b) {
  bool less = type_is_signed(type) ? a < b : (uint64_t)a < (uint64_t)b,
       more = type_is_signed(type) ? b < a : (uint64_t)b < (uint64_t)a;
  switch (op) {
  case IR_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
  case IR_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
  case IR_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
  case IR_FLOORDIV:
  case IR_MOD: return divide(op, type, a, b);
  case IR_NEG: return (int64_t)-(uint64_t)a;
  case IR_BAND: return a & b;
  case IR_BOR: return a | b;
  case IR_BXOR: return a ^ b;
  case IR_BNOT: return type_is_bool(type) ? !a : ~a;
  case IR_BSWAP: return (int64_t)(__builtin_bswap64((uint64_t)a) >> (64 - type_bits(type)));
  case IR_POPCNT: return __builtin_popcountll((uint64_t)a << (64 - type_bits(type)));
  case IR_CLZ:
  case IR_CTZ: return zeros(op, type, a);
  case IR_MIN: return more ? b : a;
  case IR_MAX: return less ? b : a;
  case IR_ABS: return type_is_signed(type) && a < 0 ? (int64_t)-(uint64_t)a : a;
  default: return shift(op, type, a, b);
  }
}

static bool compare_answer(IrOp op, Type type, int64_t a, int64_t b, double x, double y) {
  if (type_is_float(type))
    return op == IR_EQ   ? x == y
           : op == IR_NE ? x != y
           : op == IR_LT ? x < y
           : op == IR_LE ? x <= y
           : op == IR_GT ? x > y
                         : x >= y;
  bool less = type_is_signed(type) ? a < b : (uint64_t)a < (uint64_t)b;
  return op == IR_EQ   ? a == b
         : op == IR_NE ? a != b
         : op == IR_LT ? less
         : op == IR_LE ? less || a == b
         : op == IR_GT ? !less && a != b
                       : !less;
}

static int64_t saturate(Type to, double a) {
  if (isnan(a)) return 0;
  int bits = type_bits(to);
  if (type_is_signed(to)) {
    double limit = ldexp(1, bits - 1);
    return a >= limit   ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1)
           : a < -limit ? (int64_t)-(UINT64_C(1) << (bits - 1))
                        : (int64_t)a;
  }
  return a >= ldexp(1, bits) ? (int64_t)(bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1)
         : a <= 0            ? 0
                             : (int64_t)(uint64_t)a;
}

static bool same_float(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* Reads x of `type` from array 0, y from array 1 and c (bool) from array 2 at the position; then
 * `emit` adds lines that end in stores. */
static void kernel_begin(StrBuf *b, Type type, bool in_row) {
  strbuf_text(b, "kernel ops\ntree t0 = root{ pointer \"i\" 4 { dense \"i\" 256 { f32 x } } "
                 "}\nlevel l0 = t0.node 1\n"
                 "frame 8\nhost {\n run 0\n}\n");
  if (in_row)
    strbuf_format(b,
                  "task 0 = leaves axes=1 l0 t0 manager=0 factors=(%d) {\n body (%%cursor: ptr, "
                  "%%at: i64) {\n"
                  "row end=%d lanes=%d (%%i: i32) {\n",
                  COUNT, COUNT, LANES);
  else
    strbuf_text(b, "task 0 = range axes=1 bounds=4 index=i32 {\n body (%i: i32) {\n%cursor: ptr = "
                   "tree.root t0\n");
  const char *name = type_text(type);
  strbuf_format(b, "%%px: ptr = offset +0 stride=%d %%cursor, %%i\n%%x: %s = mem.load %%px\n",
                type_size(type), name);
  strbuf_format(b, "%%py: ptr = offset +%d stride=%d %%cursor, %%i\n%%y: %s = mem.load %%py\n",
                SPAN, type_size(type), name);
  strbuf_format(b, "%%pc: ptr = offset +%d stride=1 %%cursor, %%i\n%%c: bool = mem.load %%pc\n",
                2 * SPAN);
}

static void kernel_store(StrBuf *b, int array, Type type) {
  strbuf_format(b, "%%p%d: ptr = offset +%d stride=%d %%cursor, %%i\nmem.store %%p%d, %%v%d\n",
                array, array * SPAN, type_size(type), array, array);
}

static void kernel_end(StrBuf *b, bool in_row) { strbuf_text(b, in_row ? "}\n}\n}\n" : "}\n}\n"); }

static uint8_t *array(int number) { return m.memory + (size_t)number * SPAN; }

static void fill(Type type) {
  for (int i = 0; i < COUNT; i++) {
    size_t at = (size_t)(i * type_size(type));
    put(type, array(0) + at, integer_sample(i % 20 < 18 ? i % 18 : i), float_sample(i / 20 % 20));
    put(type, array(1) + at, integer_sample(i / 18), float_sample(i % 20));
    if (i > 200) {
      put(type, array(0) + at, integer_sample(99), float_sample(99));
      put(type, array(1) + at, integer_sample(99), float_sample(99));
    }
    array(2)[i] = (uint8_t)(noise() & 1);
  }
}

static bool is_gpu(const char *cpu) { return !strncmp(cpu, "sm_", 3); }

static bool compile_and_run(StrBuf *b, const char *cpu, bool in_row) {
  const char *text = strbuf_end(b);
  if (!machine_compile(&m, text, cpu)) {
    printf("  %s: %s\n", cpu, m.err.message);
    return false;
  }
  if (is_gpu(cpu)) return strstr((const char *)m.object->bytes, "rg_task_0") != NULL;
  machine_bounds(&m, 4, 0, 0, COUNT);
  machine_task(&m, 0, 0, in_row ? 1 : COUNT);
  return true;
}

static bool takes(IrOp op, Type type) {
  bool is_float = type_is_float(type), is_bool = type_is_bool(type);
  switch (op) {
  case IR_ADD:
  case IR_SUB:
  case IR_MUL:
  case IR_FLOORDIV:
  case IR_MOD:
  case IR_NEG:
  case IR_MIN:
  case IR_MAX:
  case IR_ABS: return !is_bool;
  case IR_BAND:
  case IR_BOR:
  case IR_BXOR:
  case IR_BNOT: return !is_float;
  case IR_SHL:
  case IR_SHR:
  case IR_SAR:
  case IR_ROL:
  case IR_ROR:
  case IR_BSWAP:
  case IR_POPCNT:
  case IR_CLZ:
  case IR_CTZ: return !is_float && !is_bool;
  case IR_EQ:
  case IR_NE: return true;
  case IR_LT:
  case IR_LE:
  case IR_GT:
  case IR_GE: return !is_bool;
  case IR_DIV:
  case IR_POW:
  case IR_ATAN2:
  case IR_FMOD: return is_float;
  default: return is_float && op >= IR_FLOOR && op <= IR_TANH;
  }
}

static bool check_element(IrOp op, Type type, int i, const uint8_t *out) {
  const uint8_t *pa = array(0) + i * type_size(type), *pb = array(1) + i * type_size(type);
  int64_t a = 0, b = 0;
  double x = 0, y = 0;
  if (type_is_float(type)) x = get_float(type, pa), y = get_float(type, pb);
  else a = get_integer(type, pa), b = get_integer(type, pb);
  if (ir_is_comparison(op)) return out[i] == compare_answer(op, type, a, b, x, y);
  const uint8_t *at = out + i * type_size(type);
  bool ok = type_is_float(type)
                ? same_float(get_float(type, at), math_answer(op, type, x, y))
                : get_integer(type, at) == ir_wrap_int(type, integer_answer(op, type, a, b));
  if (!ok && type_is_float(type))
    printf("  %s(%g, %g) = %g, not %g\n", ir_op_info[op].text, x, y, get_float(type, at),
           math_answer(op, type, x, y));
  if (!ok && !type_is_float(type))
    printf("  %s(%lld, %lld) = %lld\n", ir_op_info[op].text, (long long)a, (long long)b,
           (long long)get_integer(type, at));
  return ok;
}

static bool ops_agree(Type type, const char *cpu, bool in_row) {
  IrOp ops[IR_OP_COUNT];
  int count = 0;
  StrBuf b;
  Scratch scratch;
  scratch_init(&scratch, &m.heap);
  strbuf_init(&b, &scratch);
  kernel_begin(&b, type, in_row);
  for (int op = 0; op < IR_OP_COUNT; op++) {
    if (!takes((IrOp)op, type)) continue;
    int array_number = 4 + count;
    Type result = ir_is_comparison((IrOp)op) ? TYPE(BOOL) : type;
    strbuf_format(&b, "%%v%d: %s = %s %%x%s\n", array_number, type_text(result),
                  ir_op_info[op].text, ir_op_info[op].operand_count == 2 ? ", %y" : "");
    kernel_store(&b, array_number, result);
    ops[count++] = (IrOp)op;
  }
  kernel_end(&b, in_row);
  fill(type);
  bool ok = compile_and_run(&b, cpu, in_row);
  for (int k = 0; ok && !is_gpu(cpu) && k < count; k++)
    for (int i = 0; i < COUNT; i++)
      if (!check_element(ops[k], type, i, array(4 + k))) {
        printf("  %s of %s, element %d, %s, %s\n", ir_op_info[ops[k]].text, type_text(type), i, cpu,
               in_row ? "row" : "range");
        ok = false;
        break;
      }
  scratch_deinit(&scratch);
  return ok;
}

/* -- conversions, select ----------------------------------------------------------------------- */

static bool convert_agrees(Type from, Type to, int i) {
  const uint8_t *in = array(0) + i * type_size(from),
                *out = array(4 + type_scalar_kind(to)) + i * type_size(to);
  if (type_is_float(from)) {
    double x = get_float(from, in);
    if (type_is_bool(to)) return *out == (x != 0);
    if (type_is_float(to)) return same_float(get_float(to, out), in_type(to, x));
    return get_integer(to, out) == ir_wrap_int(to, saturate(to, x));
  }
  int64_t a = get_integer(from, in);
  if (type_is_bool(to)) return *out == (a != 0);
  if (!type_is_float(to)) return get_integer(to, out) == ir_wrap_int(to, a);
  bool is_u64 = type_is(from, TYPE_U64);
  double x = type_is(to, TYPE_F64) ? (is_u64 ? (double)(uint64_t)a : (double)a)
             : is_u64              ? (double)(float)(uint64_t)a
                                   : (double)(float)a;
  return same_float(get_float(to, out), in_type(to, x));
}

static bool conversions_agree(Type from, const char *cpu, bool in_row) {
  StrBuf b;
  Scratch scratch;
  scratch_init(&scratch, &m.heap);
  strbuf_init(&b, &scratch);
  kernel_begin(&b, from, in_row);
  for (int to = TYPE_BOOL; to <= TYPE_F64; to++) {
    strbuf_format(&b, "%%v%d: %s = convert %%x\n", 4 + to, type_text(type_scalar((ScalarKind)to)));
    kernel_store(&b, 4 + to, type_scalar((ScalarKind)to));
  }
  strbuf_format(&b, "%%v%d: %s = select %%c, %%x, %%y\n", 5 + TYPE_F64, type_text(from));
  kernel_store(&b, 5 + TYPE_F64, from);
  kernel_end(&b, in_row);
  fill(from);
  bool ok = compile_and_run(&b, cpu, in_row);
  for (int i = 0; ok && !is_gpu(cpu) && i < COUNT; i++) {
    for (int to = TYPE_BOOL; ok && to <= TYPE_F64; to++)
      if (!convert_agrees(from, type_scalar((ScalarKind)to), i)) {
        printf("  %s to %s, element %d, %s\n", type_text(from),
               type_text(type_scalar((ScalarKind)to)), i, cpu);
        ok = false;
      }
    size_t size = (size_t)type_size(from);
    ok = ok && !memcmp(array(5 + TYPE_F64) + (size_t)i * size,
                       array(array(2)[i] ? 0 : 1) + (size_t)i * size, size);
  }
  scratch_deinit(&scratch);
  return ok;
}

int main(void) {
  const char *cpus[4];
  int count = machine_cpus(cpus);
  if (!machine_init(&m)) return 1;
  m.list[0].handle = 0; /* the arena's base: arrays are the same for ranges and rows */
  TEST("every operator of every type agrees with C, over ranges and in rows, on every target") {
    for (int c = 0; c < count; c++)
      for (int type = TYPE_BOOL; type <= TYPE_F64; type++)
        for (int row = 0; row < 2; row++)
          CHECK(ops_agree(type_scalar((ScalarKind)type), cpus[c], row));
  }
  TEST("conversions wrap, saturate and round once, and select takes either side") {
    for (int c = 0; c < count; c++)
      for (int type = TYPE_BOOL; type <= TYPE_F64; type++)
        for (int row = 0; row < 2; row++)
          CHECK(conversions_agree(type_scalar((ScalarKind)type), cpus[c], row));
  }
  TEST("every operator and conversion becomes PTX, for the oldest and the newest processor") {
    for (int type = TYPE_BOOL; type <= TYPE_F64; type++) {
      CHECK(ops_agree(type_scalar((ScalarKind)type), "sm_75", false));
      CHECK(ops_agree(type_scalar((ScalarKind)type), "sm_90", false));
      CHECK(conversions_agree(type_scalar((ScalarKind)type), "sm_75", false));
    }
  }
  machine_deinit(&m);
  return check_report();
}
