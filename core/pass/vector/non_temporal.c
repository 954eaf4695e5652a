/* non_temporal.c - chooses the stores of a task that are non-temporal (bypass the caches). An
 * ordinary store first reads the cache line that it writes, and evicts other data from the caches.
 * Non-temporal stores of whole lines avoid both, which pays if nothing reads the lines before they
 * would have left the caches anyway. That depends on the size of the loop, which the generated code
 * tests when the loop begins; this file finds
 *
 *     stores that every iteration executes, of adjacent elements or of whole `aos` cells,
 *     to dense fields that are larger than the caches of most machines, or to arrays,
 *     if the body does not read the field: its lines would be in the caches already.
 *
 * Shorter vectors write a line in parts; machines can combine parts for only a few destinations at
 * a time. */
#include "pass/vector/lanes.h"

#include "ir/access.h"

enum {
  LARGE = 4 << 20, /* bytes of a field */
  LINE = 64,       /* bytes */
  FEW = 4,         /* destinations whose parts are combined */
  SHORTEST = 32    /* bytes of a vector */
};

/* The size of the field; 0 if it is not contiguous; an array's is known only at launch, so it
 * counts as large. */
static uint64_t bytes_of(const IrKernel *kernel, const IrField *field) {
  uint64_t cells = 1;
  if (field->array >= 0) return kernel->arrays.items[field->array].is_shared ? 0 : UINT64_MAX;
  if (field->tree < 0 || !field->node) return 0;
  for (const SNode *node = field->node; node->parent; node = node->parent) {
    if (!snode_is_dense(node)) return 0;
    cells *= node->cell_count;
  }
  return cells * (uint64_t)type_size(field->type);
}

static bool is_access(const IrInst *inst) {
  return ir_is_access(inst->op) || inst->op == IR_ROW_LOAD;
}

/* Does an access read lines of the field, or may it read any? */
static bool is_read(const IrKernel *kernel, const IrRegion *body, const IrField *field) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (!is_access(inst) || inst->op == IR_MEM_STORE) continue;
    const IrField *other = inst->alias ? &kernel->fields.items[inst->alias - 1] : NULL;
    if (!other ||
        (other->tree == field->tree && other->node == field->node && other->array == field->array))
      return true;
  }
  return false;
}

static bool may_bypass_caches(const PassContext *ctx, const IrKernel *kernel, const IrRegion *body,
                              const LaneSurvey *survey, const IrInst *inst) {
  if (inst->op != IR_MEM_STORE || !inst->alias) return false;
  const IrField *field = &kernel->fields.items[inst->alias - 1];
  ASSERT(survey->width > 1, "stores of scalars stay ordinary ones");
  const LaneFact *at = &survey->facts[inst->operands[0]->id];
  uint64_t bytes = bytes_of(kernel, field);
  if (!bytes || (bytes < LARGE && !ctx->forces_streams)) return false;
  if (survey->width * type_size(inst->operands[1]->type) < SHORTEST) return false;
  bool is_run = at->step == type_size(inst->operands[1]->type);
  if (at->shape != LANE_LINEAR || !(is_run || shapes_cover_cell(inst, at->step))) return false;
  return !is_read(kernel, body, field);
}

void non_temporal_mark(const PassContext *ctx, const IrKernel *kernel, IrTask *task,
                       const LaneSurvey *survey) {
  ASSERT(task->kind == TASK_RANGE, "only tasks over ranges test their size");
  IrRegion *body = ir_task_main(task);
  bool *seen = scratch_array(ctx->scratch, bool, kernel->fields.count + 1); /* by `alias` */
  int count = 0;
  for (IrInst *inst = body->first; inst; inst = inst->next)
    count += inst->nontemporal = may_bypass_caches(ctx, kernel, body, survey, inst);
  if (count > FEW && survey->vector_bytes < LINE) return non_temporal_clear(task);
  if (!count) return;
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    int field = is_access(inst) ? inst->alias : 0;
    if (field && !seen[field]) task->traffic += type_size(kernel->fields.items[field - 1].type);
    seen[field] = true;
  }
}

void non_temporal_clear(IrTask *task) {
  IrRegion *body = ir_task_main(task);
  for (IrInst *inst = body->first; inst; inst = inst->next) inst->nontemporal = false;
  task->traffic = 0;
}
