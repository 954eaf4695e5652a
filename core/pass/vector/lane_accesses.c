/* lane_accesses.c - writes the accesses of lanes that have a shape (ir/access.h), and most calls of
 * the runtime, as what a machine does: loads and stores of vectors, gathers, loops over the lanes,
 * and shuffles.
 *
 *     %x: f32x8 = lanes.load shape=strided          %low: f32x8 = lanes.load %a, %all
 *                   parts=2 numbers=3 %a, %all  =>  %high: f32x8 = lanes.load %a + 32, %all
 *                                                   %x: f32x8 = shuffle %low, %high   0 2 4 .. 14
 *
 * It runs when it is settled which bodies have a copy for whole vectors. In a body that runs only
 * in whole vectors the mask is a constant; where it differs by copy, an IF over MASK_WHOLE holds
 * both ways to do an access, of which each copy keeps one. Decision D-pass-99. */
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

static void write_runs(LaneAccesses *l, const IrInst *last) {
  IrGroup group = ir_group(l->scratch, last);
  lane_runs(l, &group);
  for (int i = 0; i + 1 < group.count; i++) ir_delete((IrInst *)group.items[i]);
}

/* False: it has no shape, and stays. */
static bool write_access(LaneAccesses *l, IrInst *access) {
  l->b = rewrite_before(l->kernel, access);
  if (access->op == IR_LANES_CALL) return lane_call(l, access);
  switch (access->shape) {
  case IR_SHAPE_RUNS: write_runs(l, access); return true;
  case IR_SHAPE_CELLS: lane_cells(l, access); return true;
  case IR_SHAPE_STRIDED:
    if (access->op == IR_LANES_STORE) lane_strided_store(l, access);
    else ir_replace_uses(access, lane_strided_load(l, access));
    return true;
  default: return false;
  }
}

static void write_region(LaneAccesses *l, IrRegion *region);

static void write_inner(LaneAccesses *l, const IrInst *loop) {
  IrInst *outer = l->may_be_all;
  for (int i = 0; i < IR_MAX_REGIONS && loop->regions[i]; i++) {
    if (loop->lanes > 1) l->may_be_all = loop->whole ? ir_lanes_mask(loop->regions[i]) : NULL;
    write_region(l, loop->regions[i]);
    l->may_be_all = outer;
  }
}

static void write_region(LaneAccesses *l, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    write_inner(l, inst);
    bool is_access = inst->op >= IR_LANES_LOAD && inst->op <= IR_LANES_UPDATE;
    if (!is_access && inst->op != IR_LANES_CALL) continue;
    if (inst->deferred || !write_access(l, inst)) continue;
    ir_delete(inst);
    l->has_written = true;
  }
}

/* The mask of a body that runs only in whole vectors is a constant. */
static void fix_mask(LaneAccesses *l, IrRegion *body) {
  IrBuilder b = {.kernel = l->kernel, .region = body, .before = body->first};
  IrInst *mask = ir_lanes_mask(body);
  if (ir_is_used(mask)) ir_replace_uses(mask, lane_mask_all(&b, type_rows(mask->type)));
}

void lane_accesses_task(Scratch *scratch, IrKernel *kernel, IrTask *task) {
  IrRegion *bodies[] = {task->interior, task->body};
  bool in_lanes = task->lanes > 1 && task->whole;
  for (int i = 0; i < 2; i++) {
    LaneAccesses l = {.scratch = scratch, .kernel = kernel, .streams = task->traffic > 0};
    if (!bodies[i]) continue;
    if (in_lanes && bodies[i] == task->interior) fix_mask(&l, bodies[i]);
    else if (in_lanes && !task->interior) l.may_be_all = ir_lanes_mask(bodies[i]);
    write_region(&l, bodies[i]);
    if (l.has_written) rewrite_drop_dead(bodies[i]);
  }
  if (task->counts) lane_accesses_task(scratch, kernel, task->counts);
}

bool pass_lane_accesses(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++)
    lane_accesses_task(ctx->scratch, kernel, kernel->tasks.items[i]);
  (void)err;
  return true;
}
