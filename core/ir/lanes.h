/* lanes.h - vectorisation analysis: the shape of each value of a body when several iterations run
 * in the lanes of vector registers. It works after `lower_places`, on the body of a range task or
 * of a loop inside a body (ROW, FOR). The pass `lanes` and code generation rely on it.
 *
 *     uniform    one number for all lanes
 *     linear     lane k has that of lane 0 + k * step, with wrapping: an integer, or a ptr (bytes)
 *     varying    any number per lane
 *
 * Where control differs by lane (an `if` whose condition varies), a mask says which lanes run. A
 * variable varies if it is set to a varying value, or set while fewer lanes run than at its
 * declaration. A loop diverges if its lanes leave it in different iterations; it runs while any
 * lane is in it. If lane 0's value is a multiple of a power of two that exceeds all lanes' offsets,
 * the high bits are uniform and the low bits linear: so 16 cells of a leaf are also in one node of
 * another tree with such leaves. Inactive lanes of a register are undefined: nothing may depend on
 * them. Decision D-pass-02. */
#ifndef RG_IR_LANES_H
#define RG_IR_LANES_H

#include "ir/ir.h"

/* The largest difference of a LINEAR value between lanes. */
enum { IR_LANES_SPAN = 1 << 30 };

typedef enum LaneShape { LANE_UNIFORM, LANE_LINEAR, LANE_VARYING } LaneShape;

typedef struct LaneFact {
  uint8_t shape; /* LaneShape: of the inst's value; of a VAR's */
  bool is_exact; /* LINEAR: it has not wrapped in any active lane */
  /* IF: on its condition; LOOP, FOR: lanes leave in different iterations; BREAK, CONTINUE: other
   * lanes go on; FAULT: always; SET: fewer lanes run than where the variable is declared */
  bool diverges;
  bool loses_lanes; /* IF, LOOP, FOR: fewer lanes may run after it */
  int64_t step;     /* LINEAR */
} LaneFact;

typedef struct LaneBody {
  const IrRegion *region;
  /* the parameter that increases by one per lane (by two: ALTERNATE); -1: all are varying */
  int varying;
  int width;
  bool is_aligned; /* in lane 0 that parameter is a multiple of `width` */
  bool reduces;    /* variables from outside that the body sets have a partial sum per lane */
} LaneBody;

/* Most insts in the body of a masked row that is emitted twice: scalar, for few cells, and
 * vectorised. */
enum { IR_LONGEST_TWICE = 300 };

/* Of a ROW, a BITS, or a FOR whose iterations are independent. */
LaneBody ir_lanes_of(const IrInst *loop, int width);
/* Of a body of a task over a range or over nodes. */
LaneBody ir_lanes_of_task(const IrTask *task, const IrRegion *body, int width);

/* Are there vectors of so many lanes? */
static inline bool ir_is_lanes(int count) {
  return count > 1 && count <= 64 && (count & (count - 1)) == 0;
}
/* Does the SET, in a loop whose iterations are lanes (`body`), add to a variable from outside whose
 * sum keeps the order of iterations? Lanes then add one by one. */
bool ir_lanes_add_in_order(const IrKernel *kernel, const IrRegion *body, const IrInst *set);
/* Which operand of the sum or difference that the SET stores is the variable's value? -1: none. */
int ir_lanes_sum_so_far(const IrInst *set);
/* The type of one such number in each of `lanes` lanes; the number of lanes is type_rows. */
static inline Type ir_lanes_type(Type element, int lanes) {
  return type_shaped(element, type_make_shape(lanes, 1));
}

/* The ALTERNATE of a body, whose lanes are then two iterations apart; NULL: they are adjacent. */
const IrInst *ir_lanes_alternate(const IrRegion *body);

/* The mask of a body that the pass `vectorise` has rewritten: its last parameter. NULL of
 * others. */
IrInst *ir_lanes_mask(const IrRegion *body);

/* Are all operands the same in all lanes? */
bool ir_lanes_are_uniform(const LaneFact *facts, const IrInst *inst);
/* Are the insts from `first` on, in lanes, so cheap that they run even if no lane is active, rather
 * than under a branch? */
bool ir_lanes_is_cheap(const LaneFact *facts, const IrInst *first);

/* Facts by inst id. All other parameters, and values from outside, are uniform. */
const LaneFact *ir_lanes(Scratch *scratch, const IrKernel *kernel, const LaneBody *body);

/* May all lanes' updates of one element be combined into one update? */
bool ir_lanes_combine(const IrInst *update);

#endif
