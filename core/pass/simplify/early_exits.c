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
#include "pass/simplify/early_exits.h"

#include "pass/pass.h"
#include "pass/rewrite.h"

enum { MOST_EXITS = 40 }; /* of one block: each nests the code after it one level deeper */

/* A loop's body, and the exits of level 0 that skip the rest of it: BREAK if the loop runs once,
 * CONTINUE of any loop. */
typedef struct Block {
  IrOp op;
} Block;

/* Does an exit count the op as a level? */
static bool is_level(IrOp op) { return rewrite_is_loop(op) || op == IR_RANGE || op == IR_ACTIVE; }

/* The number of exits from the block in the region, which is `depth` loops inside the block. */
static int count_exits(const Block *block, const IrRegion *region, int depth) {
  int count = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    count += inst->op == block->op && inst->imm == depth;
    for (int i = 0; i < ir_region_count(inst->op); i++)
      count += count_exits(block, inst->regions[i], depth + is_level(inst->op));
  }
  return count;
}

static int exits_inside(const Block *block, const IrInst *inst) {
  int count = 0;
  for (int i = 0; i < ir_region_count(inst->op); i++)
    count += count_exits(block, inst->regions[i], is_level(inst->op));
  return count;
}

static bool is_exit(const Block *block, const IrInst *inst) {
  return inst->op == block->op && inst->imm == 0;
}

/* Can `structurise` handle everything from `inst` on? */
static bool can_structurise(const Block *block, const IrInst *inst) {
  for (; inst; inst = inst->next) {
    if (!exits_inside(block, inst)) continue;
    if (inst->op != IR_IF) return false;
    bool first_ends = ir_ends_in_exit(inst->regions[0]),
         second_ends = ir_ends_in_exit(inst->regions[1]);
    bool is_last = !inst->next || is_exit(block, inst->next) || (first_ends && second_ends);
    if (!is_last && !first_ends && !second_ends) return false;
    for (int i = 0; i < 2; i++) {
      bool continues = !is_last && !(i ? second_ends : first_ends);
      if (continues && count_exits(block, inst->regions[i], 0)) return false;
      if (!can_structurise(block, inst->regions[i]->first)) return false;
    }
  }
  return true;
}

/* Rewrites the region without exits from the block; its end must be the block's end. */
static void structurise(const Block *block, IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (is_exit(block, inst)) {
      ir_delete_from(inst);
      return;
    }
    if (!exits_inside(block, inst)) continue;
    DEBUG_ASSERT(inst->op == IR_IF, "can_structurise has refused exits in loops");
    bool first_ends = ir_ends_in_exit(inst->regions[0]),
         second_ends = ir_ends_in_exit(inst->regions[1]);
    if (first_ends && second_ends) ir_delete_from(inst->next); /* unreachable */
    else if (first_ends) rewrite_move_to(inst->next, &(IrBuilder){.region = inst->regions[1]});
    else if (second_ends) rewrite_move_to(inst->next, &(IrBuilder){.region = inst->regions[0]});
    structurise(block, inst->regions[0]);
    structurise(block, inst->regions[1]);
  }
}

static bool structurise_body(const Block *block, IrRegion *region) {
  DEBUG_ASSERT(region->owner && is_level(region->owner->op), "exits are counted from a loop on");
  int count = count_exits(block, region, 0);
  if (count == 0) return true;
  if (count > MOST_EXITS || !can_structurise(block, region->first)) return false;
  structurise(block, region);
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
  const Block again = {IR_CONTINUE}, block = {IR_BREAK};
  if (!ir_ends_in_exit(body) || count_exits(&again, body, 0) || !structurise_body(&block, body))
    return false;
  exits_cross_less(body);
  bool leaves = ir_ends_in_exit(body);
  rewrite_move_to(body->first, &(IrBuilder){.before = loop});
  if (leaves) ir_delete_from(loop->next);
  ir_delete(loop);
  return true;
}

bool exits_sink(IrInst *loop) {
  DEBUG_ASSERT(is_level(loop->op), "an iteration ends in a loop");
  return structurise_body(&(const Block){IR_CONTINUE}, loop->regions[0]);
}

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
  DEBUG_ASSERT(is_level(loop->op), "only loops are left by exits");
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
  (void)ctx, (void)err;
  visit_region(kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    visit_region(kernel->tasks.items[i]->body);
    if (kernel->tasks.items[i]->interior) visit_region(kernel->tasks.items[i]->interior);
  }
  for (int i = 0; i < kernel->functions.count; i++) visit_region(kernel->functions.items[i]->body);
  return true;
}
