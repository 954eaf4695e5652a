/* atomic.c - atom and red. An instruction of the interpreter is indivisible, so an update is a load
 * and a store; the scheduler chooses the order of the lanes. */
#include "flow.h"
#include "half.h"
#include "result.h"

typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* The next lane of `left`, cyclically from `start` on. */
static uint32_t next_lane(uint32_t left, uint32_t start) {
  uint32_t turned = start ? left >> start | left << (LANES - start) : left;
  return ((uint32_t)__builtin_ctz(turned) + start) % LANES;
}

#define ATOMIC(OP, T, VALUE) \
  static void OP##_##T(Warp *warp, const Inst *inst) { \
    const uint64_t *a = SRC(uint64_t, inst->a); \
    const T *b = SRC(T, inst->b), *c = inst->c == PLACE_NONE ? NULL : SRC(T, inst->c); \
    (void)c; \
    uint32_t start = (uint32_t)(random_next(&warp->grid->random) % LANES); \
    for (uint32_t left = warp->mask; left;) { \
      uint32_t l = next_lane(left, start); \
      left &= ~(1u << l); \
      char *at = access_lane(warp, inst, l, a[l] + (uint64_t)inst->offset, sizeof(T), false); \
      if (!at) return; \
      warp->grid->bytes_written += sizeof(T); \
      T A, B = b[l], value; \
      memcpy(&A, at, sizeof A); \
      value = (T)(VALUE); \
      memcpy(at, &value, sizeof value); \
      if (inst->d != PLACE_NONE) DST(T, inst->d)[l] = A; \
    } \
  }
#define C (c[l])
static u32 add_halves(u32 a, u32 b) {
  u32 low = half_of(f32_of_half((u16)a) + f32_of_half((u16)b));
  return low | (u32)half_of(f32_of_half((u16)(a >> 16)) + f32_of_half((u16)(b >> 16))) << 16;
}
/* op, kind of type, type, operands after the address, value */
// clang-format off
#define ATOMICS(ROW)                                                                          \
  ROW(add, 'u', u32, 1, A + B) ROW(add, 'u', u64, 1, A + B)                                   \
  ROW(add, 'f', f32, 1, A + B) ROW(add, 'f', f64, 1, A + B)                                   \
  ROW(add, 'f', u16, 1, half_of(f32_of_half(A) + f32_of_half(B)))                             \
  ROW(and, 'b', u32, 1, A & B) ROW(and, 'b', u64, 1, A & B)                                   \
  ROW(or, 'b', u32, 1, A | B) ROW(or, 'b', u64, 1, A | B)                                     \
  ROW(xor, 'b', u32, 1, A ^ B) ROW(xor, 'b', u64, 1, A ^ B)                                   \
  ROW(exch, 'b', u32, 1, B) ROW(exch, 'b', u64, 1, B)                                         \
  ROW(min, 'u', u32, 1, A < B ? A : B) ROW(min, 'u', u64, 1, A < B ? A : B)                   \
  ROW(max, 'u', u32, 1, A > B ? A : B) ROW(max, 'u', u64, 1, A > B ? A : B)                   \
  ROW(min, 's', s32, 1, A < B ? A : B) ROW(min, 's', s64, 1, A < B ? A : B)                   \
  ROW(max, 's', s32, 1, A > B ? A : B) ROW(max, 's', s64, 1, A > B ? A : B)                   \
  ROW(inc, 'u', u32, 1, A >= B ? 0 : A + 1)                                                   \
  ROW(dec, 'u', u32, 1, A == 0 || A > B ? B : A - 1)                                          \
  ROW(cas, 'b', u16, 2, A == B ? C : A)                                                       \
  ROW(cas, 'b', u32, 2, A == B ? C : A) ROW(cas, 'b', u64, 2, A == B ? C : A)
// clang-format on
#define DEFINE(OP, KIND, T, OPERANDS, VALUE) ATOMIC(OP, T, VALUE)
ATOMICS(DEFINE)
ATOMIC(add2, u32, add_halves(A, B))

Run atomic_find(Slice op, char kind, uint32_t bytes, uint32_t *operands) {
  // clang-format off
  static const struct { const char *op; char kind; uint8_t bytes, operands; Run run; } table[] = {
#define ENTRY(OP, KIND, T, OPERANDS, VALUE) {#OP, KIND, sizeof(T), OPERANDS, OP##_##T},
      ATOMICS(ENTRY)
      {"add", '2', 4, 1, add2_u32}, /* f16x2 */
#undef ENTRY
  };
  // clang-format on
  for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    char have = table[i].kind;
    bool is_same = have == kind || (have == 'b' && kind != 'f') ||
                   (have == 'u' && kind == 's' && table[i].op[0] == 'a');
    if (table[i].bytes != bytes || !is_same || !slice_is(op, table[i].op)) continue;
    *operands = table[i].operands;
    return table[i].run;
  }
  return NULL;
}
