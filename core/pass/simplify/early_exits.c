/* early_exits.c - early-exit structurisation: an exit that only skips the following insts becomes
 * an arm of an `if`.
 *
 *   loop { if %c { set %r, %a; break 0 }         if %c { set %r, %a }
 *          set %r, %b; break 0 }            =>   else { set %r, %b }
 *
 *   for .. { if %c { continue 0 } B }       =>   for .. { if %c {} else { B } }
 *
 * An early `return` of a helper is such a loop, and so is an unrolled loop with a `break`. Rows and
 * lanes would need an extra mask for each such exit. The code after an exit moves into the one arm
 * that does not end in the exit; if both arms may continue, or the exit is in an inner loop,
 * nothing changes. */
#include "pass/simplify/simplify.h"

#include "pass/pass.h"
#include "pass/rewrite.h"

enum { MOST_EXITS = 40 }; /* of one block: each nests the code after it one level deeper */

/* Below, `op` says which exits of level 0 skip the rest of a loop's body: BREAK if the loop runs
 * once, CONTINUE of any loop. */

/* Does an exit count the op as a level? */
static bool is_level(IrOp op) { return rewrite_is_loop(op) || op == IR_RANGE || op == IR_ACTIVE; }

/* The number of such exits in the region, which is `depth` loops inside the body. */
static int count_exits(IrOp op, const IrRegion *region, int depth) {
  int count = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    count += inst->op == op && inst->imm == depth;
    for (int i = 0; i < ir_region_count(inst->op); i++)
      count += count_exits(op, inst->regions[i], depth + is_level(inst->op));
  }
  return count;
}

static int exits_inside(IrOp op, const IrInst *inst) {
  int count = 0;
  for (int i = 0; i < ir_region_count(inst->op); i++)
    count += count_exits(op, inst->regions[i], is_level(inst->op));
  return count;
}

static bool is_exit(IrOp op, const IrInst *inst) { return inst->op == op && inst->imm == 0; }

/* Can `structurise` handle everything from `inst` on? */
static bool can_structurise(IrOp op, const IrInst *inst) {
  for (; inst; inst = inst->next) {
    if (!exits_inside(op, inst)) continue;
    if (inst->op != IR_IF) return false;
    bool first_ends = ir_ends_in_exit(inst->regions[0]),
         second_ends = ir_ends_in_exit(inst->regions[1]);
    bool is_last = !inst->next || is_exit(op, inst->next) || (first_ends && second_ends);
    if (!is_last && !first_ends && !second_ends) return false;
    for (int i = 0; i < 2; i++) {
      bool continues = !is_last && !(i ? second_ends : first_ends);
      if (continues && count_exits(op, inst->regions[i], 0)) return false;
      if (!can_structurise(op, inst->regions[i]->first)) return false;
    }
  }
  return true;
}

/* Rewrites the region without such exits; its end must be that of the body. */
static void structurise(IrOp op, IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (is_exit(op, inst)) {
      ir_delete_from(inst);
      return;
    }
    if (!exits_inside(op, inst)) continue;
    DEBUG_ASSERT(inst->op == IR_IF, "can_structurise has refused exits in loops");
    bool first_ends = ir_ends_in_exit(inst->regions[0]),
         second_ends = ir_ends_in_exit(inst->regions[1]);
    if (first_ends && second_ends) ir_delete_from(inst->next); /* unreachable */
    else if (first_ends) rewrite_move_to(inst->next, &(IrBuilder){.region = inst->regions[1]});
    else if (second_ends) rewrite_move_to(inst->next, &(IrBuilder){.region = inst->regions[0]});
    structurise(op, inst->regions[0]);
    structurise(op, inst->regions[1]);
  }
}

static bool structurise_body(IrOp op, IrRegion *region) {
  DEBUG_ASSERT(region->owner && is_level(region->owner->op), "exits are counted from a loop on");
  int count = count_exits(op, region, 0);
  if (count == 0) return true;
  if (count > MOST_EXITS || !can_structurise(op, region->first)) return false;
  structurise(op, region);
  return true;
}

/* -- loops that run once ----------------------------------------------------------------------- */

static void decrement_exits(IrRegion *region, int depth) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if ((inst->op == IR_BREAK || inst->op == IR_CONTINUE) && inst->imm > depth) inst->imm--;
    for (int i = 0; i < ir_region_count(inst->op); i++)
      decrement_exits(inst->regions[i], depth + is_level(inst->op));
  }
}

void exits_cross_less(IrRegion *region) { decrement_exits(region, 0); }

bool exits_dissolve(IrInst *loop) {
  DEBUG_ASSERT(loop->op == IR_LOOP, "only a loop can run once");
  IrRegion *body = loop->regions[0];
  if (!ir_ends_in_exit(body) || count_exits(IR_CONTINUE, body, 0) ||
      !structurise_body(IR_BREAK, body))
    return false;
  exits_cross_less(body);
  bool leaves = ir_ends_in_exit(body);
  rewrite_move_to(body->first, &(IrBuilder){.before = loop});
  if (leaves) ir_delete_from(loop->next);
  ir_delete(loop);
  return true;
}

bool exits_sink(IrInst *loop) { return structurise_body(IR_CONTINUE, loop->regions[0]); }

/* -- the exits of a loop ----------------------------------------------------------------------- */

static void find_exits(LoopExits *exits, const IrRegion *region, int depth) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_exit = inst->op == IR_BREAK || inst->op == IR_CONTINUE;
    exits->breaks |= inst->op == IR_BREAK && inst->imm == depth;
    exits->continues |= inst->op == IR_CONTINUE && inst->imm == depth;
    exits->outer |= inst->op == IR_RETURN || (is_exit && inst->imm > depth);
    for (int i = 0; i < ir_region_count(inst->op); i++)
      find_exits(exits, inst->regions[i], depth + is_level(inst->op));
  }
}

LoopExits exits_of(const IrInst *loop) {
  LoopExits exits = {0};
  find_exits(&exits, loop->regions[0], 0);
  return exits;
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void visit_region(IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    for (int i = 0; i < ir_region_count(inst->op); i++) visit_region(inst->regions[i]);
    next = inst->next;
    if (rewrite_is_loop(inst->op)) exits_sink(inst);
    if (inst->op == IR_LOOP && exits_dissolve(inst) && next && !next->region)
      return; /* `next` was unreachable, and has been deleted */
  }
}

bool pass_early_exits(PassContext *ctx, IrKernel *kernel, Error *err) {
  visit_region(kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    visit_region(kernel->tasks.items[i]->body);
    if (kernel->tasks.items[i]->interior) visit_region(kernel->tasks.items[i]->interior);
  }
  for (int i = 0; i < kernel->functions.count; i++) visit_region(kernel->functions.items[i]->body);
  return true;
}
