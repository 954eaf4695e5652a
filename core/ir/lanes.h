/* lanes.h - iterations side by side: what each value of a body is when several iterations run in
 * the lanes of vector registers. An analysis, after `places`, of a range task's body or of that of
 * a loop in a body (ROW, FOR); the pass `lanes` decides by it, code generation emits by it.
 *
 *     uniform    one number for all lanes
 *     linear     lane k has that of lane 0 + k * step, with wrapping: an integer, or a ptr (bytes)
 *     varying    any number per lane
 *
 * Where control differs by lane (an `if` whose condition varies), a mask says which lanes run. A
 * variable varies if a value that varies is set, or where fewer lanes run than at its declaration.
 * A loop diverges if its lanes leave it in different turns: it turns while any lane is in it.
 * Where lane 0 has a multiple of a power of two that no lane reaches, its high bits are uniform and
 * its low bits linear: 16 cells of a leaf are in one node of another tree, too, with such leaves.
 * What lanes that do not run have in a register is some number: nothing may depend on it. */
#ifndef RG_IR_LANES_H
#define RG_IR_LANES_H

#include "ir/ir.h"

/* What LINEAR values differ by between lanes, at most. */
enum { IR_LANES_SPAN = 1 << 30 };

typedef enum LaneShape { LANE_UNIFORM, LANE_LINEAR, LANE_VARYING } LaneShape;

typedef struct LaneFact {
  uint8_t shape;   /* LaneShape: of the inst's value; of a VAR's */
  bool is_exact;   /* LINEAR: in no lane that runs it has wrapped */
  /* IF: on its condition; LOOP, FOR: lanes leave in different turns; BREAK, CONTINUE: other lanes
   * go on; FAULT: always; SET: fewer lanes run than where the variable is declared */
  bool diverges;
  bool thins;      /* IF, LOOP, FOR: fewer lanes may run after it */
  bool rejoins;    /* LOOP, FOR: a CONTINUE at its level diverges */
  int64_t step;    /* LINEAR */
} LaneFact;

typedef struct LaneBody {
  const IrRegion *region;
  /* its parameter that counts up by one from lane to lane; -1: all of them are any number */
  int varying;
  int width;
  bool is_aligned; /* in lane 0 that is a multiple of `width` */
  bool sums;       /* variables from outside that are set have a partial sum per lane */
} LaneBody;

/* Insts of a masked row's body that exists twice: for few cells, one by one, and in lanes. */
enum { IR_LONGEST_TWICE = 300 };

LaneBody ir_lanes_of_row(const IrInst *row, int width);

/* By inst id. All other parameters, and values from outside, are uniform. */
const LaneFact *ir_lanes(Scratch *scratch, const IrKernel *kernel, const LaneBody *body);

/* May updates of one element, by all lanes of a body, be one by what the lanes have together? */
bool ir_lanes_unite(const IrInst *update);

#endif
