/* ops.h - arithmetic instructions, executed lane by lane, by their names in PTX.
 * Each table is a .def file; ops.c finds a row. */
#ifndef PTX_OPS_H
#define PTX_OPS_H

#include "exec.h"

typedef uint8_t pred;
typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;
typedef float f32;
typedef double f64;

/* Bytes of each operand; 0 past the last. */
typedef struct Op {
  const char *name;
  Run run;
  uint8_t sizes[5]; /* d, a, b, c, e */
} Op;

const Op *op_find(Slice name);

#define OP1(NAME, ID, D, TA, VALUE) \
  static void op_##ID(Warp *warp, const Inst *inst) { \
    D *d = DST(D, inst->d); \
    const TA *a = SRC(TA, inst->a); \
    EACH_LANE(TA A = a[l]; d[l] = (D)(VALUE)); \
  } \
  enum { is_##ID = sizeof(D) | sizeof(TA) << 5 };
#define OP2(NAME, ID, D, TA, TB, VALUE) \
  static void op_##ID(Warp *warp, const Inst *inst) { \
    D *d = DST(D, inst->d); \
    const TA *a = SRC(TA, inst->a); \
    const TB *b = SRC(TB, inst->b); \
    EACH_LANE(TA A = a[l]; TB B = b[l]; (void)B; d[l] = (D)(VALUE)); \
  } \
  enum { is_##ID = sizeof(D) | sizeof(TA) << 5 | sizeof(TB) << 10 };
#define OP3(NAME, ID, D, TA, TB, TC, VALUE) \
  static void op_##ID(Warp *warp, const Inst *inst) { \
    D *d = DST(D, inst->d); \
    const TA *a = SRC(TA, inst->a); \
    const TB *b = SRC(TB, inst->b); \
    const TC *c = SRC(TC, inst->c); \
    EACH_LANE(TA A = a[l]; TB B = b[l]; (void)B; TC C = c[l]; d[l] = (D)(VALUE)); \
  } \
  enum { is_##ID = sizeof(D) | sizeof(TA) << 5 | sizeof(TB) << 10 | sizeof(TC) << 15 };
#define OP4(NAME, ID, D, TA, TB, TC, TE, VALUE) \
  static void op_##ID(Warp *warp, const Inst *inst) { \
    D *d = DST(D, inst->d); \
    const TA *a = SRC(TA, inst->a); \
    const TB *b = SRC(TB, inst->b); \
    const TC *c = SRC(TC, inst->c); \
    const TE *e = SRC(TE, inst->e); \
    EACH_LANE(TA A = a[l]; TB B = b[l]; (void)B; TC C = c[l]; TE E = e[l]; d[l] = (D)(VALUE)); \
  } \
  enum { \
    is_##ID = sizeof(D) | sizeof(TA) << 5 | sizeof(TB) << 10 | sizeof(TC) << 15 | sizeof(TE) << 20 \
  };
#define SAME(NAME, ID)

/* A row: five sizes of five bits. */
#define OP_ROW(NAME, ID) \
  {NAME, \
   op_##ID, \
   {is_##ID & 31, is_##ID >> 5 & 31, is_##ID >> 10 & 31, is_##ID >> 15 & 31, is_##ID >> 20 & 31}},

extern const Op integer_ops[], float_ops[], half_ops[];
extern const uint32_t integer_op_count, float_op_count, half_op_count;

#endif
