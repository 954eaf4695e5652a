/* walk.c - queries on kernels and regions: visit, count, find; and their ids. All take linear time
 * and recurse as deep as regions nest. */
#include "ir/task.h"

int ir_region_count(IrOp op) {
  return !(ir_op_info[op].flags & IR_REGIONS) ? 0 : op == IR_IF ? 2 : 1;
}

int ir_result_slots(const IrKernel *kernel) {
  int slots = 0;
  for (int i = 0; i < kernel->results.count; i++) slots += type_parts(kernel->results.items[i]);
  return slots ? slots : 1;
}

/* Reads the next inst before the visit, so a visitor may remove the inst that it is given. */
bool ir_walk(IrRegion *region, IrVisit *visit, void *data) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (!visit(data, inst)) return false;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i] && !ir_walk(inst->regions[i], visit, data)) return false;
  }
  return true;
}

/* The first inst in regions of `inst` from number `from` on. */
static IrInst *first_inside(const IrInst *inst, int from) {
  for (int i = from; i < IR_MAX_REGIONS; i++)
    if (inst->regions[i] && inst->regions[i]->first) return inst->regions[i]->first;
  return NULL;
}

IrInst *ir_following(const IrInst *inst, const IrRegion *root) {
  IrInst *next = first_inside(inst, 0);
  for (; !next; inst = inst->region->owner) {
    if (inst->next) return inst->next;
    if (inst->region == root) return NULL;
    const IrInst *owner = inst->region->owner;
    if (inst->region == owner->regions[0]) next = first_inside(owner, 1);
  }
  return next;
}

bool ir_walk_task(const IrTask *task, IrVisit *visit, void *data) {
  return ir_walk(task->body, visit, data) &&
         (!task->interior || ir_walk(task->interior, visit, data));
}

bool ir_walk_kernel(const IrKernel *kernel, IrVisit *visit, void *data) {
  bool on = ir_walk(kernel->body, visit, data);
  for (int i = 0; on && i < kernel->tasks.count; i++)
    on = ir_walk_task(kernel->tasks.items[i], visit, data);
  for (int i = 0; on && i < kernel->functions.count; i++)
    on = ir_walk(kernel->functions.items[i]->body, visit, data);
  return on;
}

bool ir_has_op(const IrRegion *root, IrOp op) {
  for (const IrInst *inst = root->first; inst; inst = ir_following(inst, root))
    if (inst->op == op) return true;
  return false;
}

bool ir_walk_called(const IrKernel *kernel, IrRegion *region, IrVisit *visit, void *data) {
  bool on = ir_walk(region, visit, data), calls = ir_has_op(region, IR_INVOKE);
  for (int i = 0; on && calls && i < kernel->functions.count; i++)
    on = ir_walk(kernel->functions.items[i]->body, visit, data);
  return on;
}

int ir_use_count(const IrRegion *root, const IrInst *inst) {
  int count = 0;
  for (const IrUse *use = inst->uses; use; use = use->next) count += ir_is_inside(use->user, root);
  return count;
}

bool ir_is_const(const IrInst *inst, int64_t *value) {
  if (inst->op != IR_CONST || type_is_float(inst->type)) return false;
  *value = inst->imm;
  return true;
}

_Static_assert(IR_MEM_CAS - IR_MEM_LOAD == 4, "the rows of accesses in op.def are adjacent");

bool ir_ends_in_exit(const IrRegion *region) {
  const IrInst *last = region->last;
  if (!last) return false;
  if (last->op == IR_IF)
    return ir_ends_in_exit(last->regions[0]) && ir_ends_in_exit(last->regions[1]);
  return (ir_effects(last) & IR_EXIT) != 0;
}

bool ir_has_exit(IrInst *inst) {
  if (ir_effects(inst) & IR_EXIT) return true;
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    for (IrInst *at = inst->regions[i]->first; at; at = ir_following(at, inst->regions[i]))
      if (ir_effects(at) & IR_EXIT) return true;
  return false;
}

bool ir_is_shared(const IrKernel *kernel, int field) {
  ASSERT(field >= 0 && field < kernel->fields.count, "the field is the kernel's");
  int array = kernel->fields.items[field].array;
  return array >= 0 && kernel->arrays.items[array].is_shared;
}

const IrInst *ir_parallel_loop(const IrInst *inst) {
  const IrInst *loop = inst->region->owner;
  while (loop && !ir_is_unordered(loop)) loop = loop->region->owner;
  return loop;
}

bool ir_is_repeated(const IrInst *inst, const IrRegion *region) {
  for (const IrRegion *at = inst->region; at != region && at->owner; at = at->owner->region)
    if (at->owner->op != IR_IF) return true;
  return false;
}

IrRegion *ir_outermost(IrRegion *region) {
  while (region->owner) region = region->owner->region;
  return region;
}

bool ir_is_inside(const IrInst *inst, const IrRegion *region) {
  const IrRegion *at = inst->region;
  while (at && at != region) at = at->owner ? at->owner->region : NULL;
  return at == region;
}

/* The bounds follow the positions of the grid. */
IrInst *const *ir_row_bounds(const IrInst *row) {
  DEBUG_ASSERT(row->op == IR_ROW && row->region, "a row is in a grid, or in its leaf");
  const IrInst *grid = row->region->owner;
  while (grid && grid->op == IR_IF) grid = grid->region->owner;
  int positions = grid && grid->op == IR_GRID ? grid->regions[0]->params.count : 0;
  return row->operand_count == positions + 2 ? row->operands + positions : NULL;
}

/* -- ids --------------------------------------------------------------------------------------- */

static void number_region(IrRegion *region, int *next) {
  for (int i = 0; i < region->params.count; i++) region->params.items[i]->id = (*next)++;
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    inst->id = (*next)++;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) number_region(inst->regions[i], next);
  }
}

static void number_task(const IrTask *task, int *next) {
  number_region(task->body, next);
  if (task->interior) number_region(task->interior, next);
  if (task->counts) number_task(task->counts, next);
  if (task->claim) number_region(task->claim, next);
}

void ir_number(IrKernel *kernel) {
  int next = 0;
  number_region(kernel->body, &next);
  for (int i = 0; i < kernel->tasks.count; i++) number_task(kernel->tasks.items[i], &next);
  for (int i = 0; i < kernel->functions.count; i++)
    number_region(kernel->functions.items[i]->body, &next);
  kernel->next_id = next;
}
