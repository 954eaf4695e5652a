/* access.h - how the lanes of a vectorised body reach memory: the shape of each access, and groups
 * of accesses that are emitted together. The pass `access_shapes` decides this and stores it in
 * attributes, which later passes follow without a search of their own. Decision D-pass-73.
 *
 *     %5: f32 = mem.load shape=strided group=1 parts=3 %4          number 0 of cells of 3 numbers
 *     %7: f32 = mem.load shape=strided group=1 part=2 parts=3 %6   number 2
 *
 * A group is in one region, and numbered in it. Its members are
 *
 *     strided   all accesses to one cell between two places where lanes may leave: the window, from
 *               their lowest number to their highest, is the memory that they may touch
 *     cells     loads of adjacent numbers; the first one reads for all
 *     runs      loads of several runs of elements; the first one reads for all, so the addresses of
 *               the others are computed before it. Or updates, as below
 *     updates   of any shapes, with nothing between them that may access what they update, or leave
 *               lanes: all are executed at the last one
 *
 * A `deferred` store or update is executed with the next member of its group that is not deferred.
 * No inst between the two may access its element in another order.
 *
 * The pass `vectorise` turns them into ops of lanes, which carry the same information by
 * themselves:
 *
 *     %7: f32x8 = lanes.load shape=strided part=2 parts=3 numbers=5 %6, %mask
 *     lanes.store shape=strided parts=3 numbers=5 %4, %x, %z, %mask
 *     lanes.load shape=cells parts=3 numbers=5 %at, %x, %z, %mask
 *     lanes.load shape=runs group=1 parts=2 %at, %next, %a, %b, %mask
 *     lanes.update add shape=runs group=1 parts=2 %at, %next, %v, %w, %mask
 *
 * `numbers` has a bit for each number of the cell that is accessed: of a strided load, by any load
 * of the window; of the others, by this inst. Operand 0 is the address of number `part`, of a store
 * that of its lowest number. The numbers that `cells` and `runs` read go to variables, one each.
 * Here, too, runs of a group are executed together, at the last one. The pass `lane_accesses`
 * rewrites all of them as accesses without a shape, to adjacent elements or to one per lane, and as
 * shuffles. */
#ifndef RG_IR_ACCESS_H
#define RG_IR_ACCESS_H

#include "ir/ir.h"

enum {
  IR_MAX_PARTS = 16,  /* numbers of a strided cell */
  IR_MAX_RUN = 8,     /* elements of a run, and adjacent numbers of CELLS */
  IR_ZERO_BYTES = 64, /* bytes of ZEROS: those of the largest cell */
  IR_AHEAD = 36 * 64, /* prefetch distance in bytes: four vectors of cells of 9 numbers */
  /* bytes of a vector on machines with masked stores and cheap masked loads */
  IR_MASKED_BYTES = 64
};

/* The type of the element that a MEM_LOAD, MEM_STORE or MEM_UPDATE accesses. */
Type ir_element_type(const IrInst *access);
const char *ir_shape_text(IrShape shape);

typedef VEC(const IrInst *) IrGroup;
/* All members of the group of `member`, in their order. */
IrGroup ir_group(Scratch *scratch, const IrInst *member);

/* The address of `inst` if it loads or stores a number of the same container as `of` does, at a
 * constant distance and of the same size; otherwise NULL. */
const IrInst *ir_same_container(const IrInst *of, const IrInst *inst);
/* Are both OFFSETs, from one base by one index, that differ by a constant? */
bool ir_differ_by_constant(const IrInst *a, const IrInst *b, int64_t *bytes);
/* May loads move across it: is it neither control nor a call? */
bool ir_is_straight_line(const IrInst *inst);
/* May an inst from `from` on, before the load, write the element? */
bool ir_may_be_written(const IrInst *load, const IrInst *from);
/* Must the store, which may be deferred, be executed before `inst`? */
bool ir_must_precede(const IrInst *store, const IrInst *inst);
/* May the update be done after `inst`, which follows it: can that not observe the element? */
bool ir_may_sink_past(const IrInst *update, const IrInst *inst);

/* Why the shape of an inst is not valid, or contradicts the group's other members; NULL: it is
 * valid. `first` is the first member of its group. */
const char *ir_shape_refusal(const IrInst *inst, const IrInst *first);

#endif
