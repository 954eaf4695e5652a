/* rewrite.h - small edits that several passes share. */
#ifndef RG_PASS_REWRITE_H
#define RG_PASS_REWRITE_H

#include "ir/ir.h"

static inline bool rewrite_is_write(IrOp op) {
  return op == IR_STORE || op == IR_UPDATE || op == IR_RMW || op == IR_CAS;
}
/* Is operand 0 of the op the location of an element? */
static inline bool rewrite_is_access(IrOp op) { return op == IR_LOAD || rewrite_is_write(op); }

/* Is it a serial loop, which exits count as one level? */
static inline bool rewrite_is_loop(IrOp op) {
  return op == IR_LOOP || op == IR_FOR || op == IR_BITS;
}

/* Builders that insert before or after `inst`; and at the start or the end of `region`, with the
 * source position of `like` (NULL: none) or of another builder. */
IrBuilder rewrite_before(IrKernel *kernel, IrInst *inst);
IrBuilder rewrite_after(IrKernel *kernel, const IrInst *inst);
IrBuilder rewrite_first(IrKernel *kernel, IrRegion *region, const IrInst *like);
IrBuilder rewrite_inside(IrKernel *kernel, IrRegion *region, const IrInst *like);
IrBuilder rewrite_into(const IrBuilder *b, IrRegion *region);
/* Emits a copy of `inst` with these operands, which have the same values as its own. */
IrInst *rewrite_again(IrBuilder *b, const IrInst *inst, IrInst *const *operands);
/* Recomputes where the builder is a value that is computed in `region` by insts without regions;
 * values from outside stay. `map` says what parameters become there, and receives the copies. */
IrInst *rewrite_recompute(IrBuilder *b, IrInst *value, const IrRegion *region, IrMap *map);
/* Emits a FOR over begin .. last by this step, moves the builder inside, and returns the index. */
IrInst *rewrite_open_for(IrBuilder *b, IrInst *begin, IrInst *last, int64_t step);
/* The conjunction of two conditions, of which NULL means true. */
IrInst *rewrite_both(IrBuilder *b, IrInst *first, IrInst *second);
/* Turns `inst` in place into this op without attributes; it keeps its type and its users. */
void rewrite_become(IrKernel *kernel, IrInst *inst, IrOp op, int operand_count,
                    IrInst *const *operands);
/* Into a constant. Returns it. */
IrInst *rewrite_become_const(IrKernel *kernel, IrInst *inst, int64_t imm);
/* Turns `inst` in place into a call of the runtime; its type is the entry's result. */
void rewrite_become_call(IrKernel *kernel, IrInst *inst, RtEntry entry, int tree, int number,
                         int operand_count, IrInst *const *operands);
/* Moves `first` and the insts after it to where the builder is. */
void rewrite_move_to(IrInst *first, IrBuilder *b);
/* Moves the value, after its operands, before `mark`, unless it was computed before the body whose
 * first inst that stays is `mark`; `moved` holds what has been moved. */
void rewrite_move_up(IrInst *value, IrInst *mark, IrMap *moved);
/* Moves the insts of `from` to the end of `to`, or to its begin. */
void rewrite_move_all(IrRegion *from, IrRegion *to);
void rewrite_prepend(IrRegion *from, IrRegion *to);
/* Moves the pure insts of a loop's body that use nothing inside it before the loop. */
void rewrite_hoist(IrInst *loop);
/* Replaces every operand in root that `with` has something for. */
void rewrite_operands(IrRegion *root, const IrMap *with);
/* Deletes all insts in root and deeper but those of `kept`, by id, which use no others. */
void rewrite_keep(IrRegion *root, const bool *kept);
/* A copy of a loop, not yet in a region, that has only the insts of `kept`, by id; fills `map`. */
IrInst *rewrite_copy_kept(IrKernel *kernel, const IrInst *loop, const bool *kept, IrMap *map);
/* Removes pure insts that nothing uses, and transitively those that only they used. */
void rewrite_drop_dead(IrRegion *root);
int rewrite_count(const IrRegion *root); /* insts in root and deeper */
/* Marks all FORs in the region as `rolled`, since it rarely runs. */
void rewrite_mark_rolled(IrRegion *region);
/* For a comparison, `a op b` is `b mirrored(op) a`. */
IrOp rewrite_mirrored(IrOp op);
/* The new value of an element after `old op= value`; for EXCHANGE, `value` itself. */
IrInst *rewrite_update_value(IrBuilder *b, IrUpdate op, IrInst *old, IrInst *value);

#endif
