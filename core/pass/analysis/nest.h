/* nest.h - builds nested serial loops from the outside in; the builder stays inside the
 * innermost. */
#ifndef RG_PASS_ANALYSIS_NEST_H
#define RG_PASS_ANALYSIS_NEST_H

#include "ir/ir.h"

typedef struct Nest {
  IrBuilder b;
  Type index;
  int levels; /* as exits count them: FORs and BITSs */
} Nest;

IrInst *nest_for(Nest *nest, IrInst *begin, IrInst *last); /* begin .. last; returns the index */
IrInst *nest_count(Nest *nest, int64_t count);             /* 0 .. count - 1 */
void nest_if(Nest *nest, IrInst *condition);
IrInst *nest_is_active(Nest *nest, const SNode *node, IrInst *const *indices);
IrInst *nest_number(Nest *nest, int64_t number);
IrInst *nest_divide(Nest *nest, IrInst *index, int64_t by); /* index >= 0 */
IrInst *nest_times(Nest *nest, IrInst *index, int64_t factor);

#endif
