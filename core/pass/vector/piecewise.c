/* piecewise.c - splits a body in lanes by whether its quotients, remainders and exclusive ors are
 * linear within the vector.
 *
 *     body (%i) {                              body (%i) {
 *       %q: i32 = floordiv %i, %n                %f: i32 = lane.first %i
 *       ..                                       %q: i32 = floordiv %f, %n
 *       mem.load (.. %q)                         %e: i32 = floordiv (add %f, 15), %n
 *                                      =>        if (eq %q, %e) {
 *                                                  ..
 *                                                  mem.load (.. %q)
 *                                                } else {
 *                                                  ..  as before
 *                                                }
 *                                              }
 *
 * Indices that are computed by such ops are piecewise linear: the partners in a butterfly, as of an
 * FFT or a sorting network, and the axes of a range that a program divides by itself. Within most
 * vectors they are linear, which the results for the first and the last lane tell. There, vectors
 * are loaded and stored rather than elements, and one quotient serves all lanes. Decision
 * D-pass-113. */
#include "base/bits.h"
#include "ir/facts.h"
#include "pass/rewrite.h"
#include "pass/vector/lanes.h"

enum { DEEPEST = 8, MOST_PIECES = 8 };

/* How the result depends on the lane where the op is linear: it is the same in all lanes; it
 * increases as the operand does; or it does so since the operand's low bits are zero in lane 0, and
 * `by` has none. */
typedef enum PieceKind { PIECE_NONE, PIECE_QUOTIENT, PIECE_REMAINDER, PIECE_BITS } PieceKind;

typedef struct Piece {
  PieceKind kind;
  IrInst *op, *linear, *by; /* `by` is the same in all lanes */
} Piece;

/* -- which ops are piecewise linear ------------------------------------------------------------ */

static LaneShape shape_of(const LaneFact *facts, const IrInst *inst) {
  return (LaneShape)facts[inst->id].shape;
}

static PieceKind kind_of_op(const IrInst *op) {
  int64_t mask;
  switch (op->op) {
  case IR_FLOORDIV:
  case IR_SHR:
  case IR_SAR: return PIECE_QUOTIENT;
  case IR_MOD: return PIECE_REMAINDER;
  case IR_BAND: {
    bool is_low = ir_is_const(op->operands[1], &mask) && mask > 0 && mask < INT32_MAX;
    return is_low && is_power_of_two((uint64_t)mask + 1) ? PIECE_REMAINDER : PIECE_NONE;
  }
  case IR_BXOR: return PIECE_BITS;
  default: return PIECE_NONE;
  }
}

/* Is it such an op, in the body's own list, on what may be computed where the body begins? */
static bool find_piece(const LaneFact *facts, const IrRegion *body, const IrInst *op,
                       Piece *piece) {
  PieceKind kind = type_is_integer(op->type) ? kind_of_op(op) : PIECE_NONE;
  if (kind == PIECE_NONE) return false;
  bool is_swapped = kind == PIECE_BITS && shape_of(facts, op->operands[0]) == LANE_UNIFORM;
  *piece = (Piece){kind, (IrInst *)op, op->operands[is_swapped], op->operands[!is_swapped]};
  const LaneFact *linear = &facts[piece->linear->id];
  return type_is_signed(op->type) && type_bits(op->type) >= 32 && op->region == body &&
         shape_of(facts, op) == LANE_VARYING && shape_of(facts, piece->by) == LANE_UNIFORM &&
         linear->shape == LANE_LINEAR &&
         (kind == PIECE_BITS ? linear->step == 1 : linear->step > 0) &&
         facts_is_of_params(op, body);
}

static bool likely_step(const LaneFact *facts, const IrRegion *body, const IrInst *value, int depth,
                        int64_t *step);

static bool likely_step_of_op(const LaneFact *facts, const IrRegion *body, const IrInst *op,
                              int depth, int64_t *step) {
  int64_t steps[2] = {0}, factor;
  if (op->operand_count > 2) return false;
  for (int k = 0; k < op->operand_count; k++)
    if (!likely_step(facts, body, op->operands[k], depth, &steps[k])) return false;
  *step = 0;
  if (!steps[0] && !steps[1]) return true;
  switch (op->op) {
  case IR_CONVERT: *step = steps[0]; return type_is_integer(op->operands[0]->type);
  case IR_ADD: *step = steps[0] + steps[1]; return true;
  case IR_SUB: *step = steps[0] - steps[1]; return true;
  case IR_MUL:
    return ir_is_const(op->operands[1], &factor) && !__builtin_mul_overflow(steps[0], factor, step);
  default: return false;
  }
}

/* The step from lane to lane that an integer has in most vectors. */
static bool likely_step(const LaneFact *facts, const IrRegion *body, const IrInst *value, int depth,
                        int64_t *step) {
  Piece piece;
  LaneShape shape = shape_of(facts, value);
  *step = shape == LANE_LINEAR ? facts[value->id].step : 0;
  if (shape != LANE_VARYING) return true;
  if (find_piece(facts, body, value, &piece)) {
    *step = piece.kind == PIECE_QUOTIENT ? 0 : facts[piece.linear->id].step;
    return true;
  }
  return depth < DEEPEST && type_is_integer(value->type) && value->operand_count &&
         ir_effects(value) & IR_PURE && likely_step_of_op(facts, body, value, depth + 1, step);
}

bool piecewise_is_run(const LaneFact *facts, const IrRegion *body, const IrInst *ptr) {
  int64_t step;
  while (ptr->op == IR_OFFSET && shape_of(facts, ptr->operands[1]) == LANE_UNIFORM)
    ptr = ptr->operands[0];
  return ptr->op == IR_OFFSET && shape_of(facts, ptr->operands[1]) == LANE_VARYING &&
         shape_of(facts, ptr->operands[0]) == LANE_UNIFORM &&
         likely_step(facts, body, ptr->operands[1], 0, &step) && step == 1;
}

/* -- the split --------------------------------------------------------------------------------- */

typedef struct Split {
  IrKernel *kernel;
  const LaneFact *facts;
  int width;
  Piece pieces[MOST_PIECES];
  IrInst *linear[MOST_PIECES]; /* in place of each piece */
  int count;
  IrInst *condition; /* all pieces are linear; NULL: there is none yet */
} Split;

static bool has_run(const Split *s, const IrRegion *body) {
  for (const IrInst *at = body->first; at; at = ir_following(at, body))
    if ((at->op == IR_MEM_LOAD || at->op == IR_MEM_STORE) &&
        piecewise_is_run(s->facts, body, at->operands[0]))
      return true;
  return false;
}

static bool find_pieces(Split *s, const IrRegion *body) {
  Piece piece;
  for (const IrInst *at = body->first; at; at = at->next) {
    if (!find_piece(s->facts, body, at, &piece)) continue;
    if (s->count == MOST_PIECES) return false;
    s->pieces[s->count++] = piece;
  }
  return s->count > 0 && has_run(s, body);
}

/* Emits what is true if the piece is linear. */
static IrInst *test_piece(const Split *s, IrBuilder *b, const Piece *piece, IrInst *first,
                          IrInst *result) {
  int64_t span = s->facts[piece->linear->id].step * (s->width - 1);
  if (piece->kind == PIECE_BITS) {
    IrInst *bits = ir_binary(b, IR_BOR, first, piece->by);
    return ir_binary_const(b, IR_EQ, ir_binary_const(b, IR_BAND, bits, s->width - 1), 0);
  }
  IrInst *last = ir_binary_const(b, IR_ADD, first, span);
  last = ir_binary(b, piece->op->op, last, piece->by);
  if (piece->kind == PIECE_REMAINDER) result = ir_binary_const(b, IR_ADD, result, span);
  return ir_binary(b, IR_EQ, last, result);
}

/* Adds the piece's test to the condition, and emits what replaces the piece if it holds. */
static void split_piece(Split *s, IrBuilder *b, int number) {
  const Piece *piece = &s->pieces[number];
  IrInst *first = ir_unary(b, IR_LANE_FIRST, piece->linear);
  IrInst *result = ir_binary(b, piece->op->op, first, piece->by);
  s->condition = rewrite_both(b, s->condition, test_piece(s, b, piece, first, result));
  s->linear[number] = result;
  if (piece->kind != PIECE_QUOTIENT)
    s->linear[number] = ir_binary(b, IR_ADD, piece->linear, ir_binary(b, IR_SUB, result, first));
}

void piecewise_split(const PassContext *ctx, IrKernel *kernel, const LaneBody *lanes) {
  Split s = {.kernel = kernel, .width = lanes->width};
  IrRegion *body = (IrRegion *)lanes->region;
  s.facts = ir_lanes(ctx->scratch, kernel, lanes);
  if (rewrite_count(body) > IR_LONGEST_TWICE || !find_pieces(&s, body)) return;
  IrMap *moved = ir_map(ctx->scratch, kernel);
  IrBuilder b = rewrite_before(kernel, body->first);
  IrInst *rest = ir_const_int(&b, TYPE(BOOL), 1); /* what follows it moves into the branch */
  for (int k = 0; k < s.count; k++)
    for (int i = 0; i < 2; i++) rewrite_move_up(s.pieces[k].op->operands[i], rest, moved);
  b = rewrite_before(kernel, rest);
  for (int k = 0; k < s.count; k++) split_piece(&s, &b, k);
  ir_note(kernel, s.pieces[0].op->line,
          "where this is linear in a vector, its elements are loaded and stored together");
  IrInst *branch = ir_if(&b, s.condition);
  IrBuilder inside = rewrite_inside(kernel, branch->regions[0], branch);
  rewrite_move_to(rest, &inside);
  ir_delete(rest);
  branch->regions[1] = ir_copy_region(kernel, branch->regions[0], branch, NULL);
  for (int k = 0; k < s.count; k++) {
    ir_replace_uses(s.pieces[k].op, s.linear[k]);
    ir_delete(s.pieces[k].op);
  }
}
