/* non_temporal.c - see non_temporal.h. An ordinary store first reads the cache line that it writes,
 * and evicts other data from the caches. Non-temporal stores of whole lines avoid both, which pays
 * if nothing reads the lines before they would have left the caches anyway. That depends on the
 * size of the loop, which the generated code tests when the loop begins; this file finds
 *
 *     stores that every iteration executes, of adjacent elements or of whole `aos` cells,
 *     to dense fields that are larger than the caches of most machines, or to arrays,
 *     if the body does not read the field: its lines would be in the caches already.
 *
 * Shorter vectors write a line in parts; machines can combine parts for only a few destinations at
 * a time. */
#include "pass/vector/non_temporal.h"

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

typedef struct Search {
  const IrKernel *kernel;
  const IrField *field;
  bool is_read;
  uint64_t seen[4]; /* fields that `traffic` includes */
  int32_t traffic;
} Search;

static bool is_access(const IrInst *inst) {
  switch (inst->op) {
  case IR_MEM_LOAD:
  case IR_MEM_STORE:
  case IR_MEM_UPDATE:
  case IR_MEM_RMW:
  case IR_MEM_CAS:
  case IR_ROW_LOAD: return true;
  default: return false;
  }
}

/* Finds an access that reads lines of the field, or may read any. */
static bool find_read(void *data, IrInst *inst) {
  Search *s = data;
  if (!is_access(inst) || inst->op == IR_MEM_STORE) return true;
  const IrField *other = inst->alias ? &s->kernel->fields.items[inst->alias - 1] : NULL;
  s->is_read = !other || (other->tree == s->field->tree && other->node == s->field->node &&
                          other->array == s->field->array);
  return !s->is_read;
}

/* Are all numbers of the store's cell stored in the same region, so that vectors are whole? */
static bool stores_whole_cell(const IrInst *store, int64_t step) {
  int64_t size = type_size(store->operands[1]->type), parts = step / size, found = 0, bytes;
  const IrInst *ptr = store->operands[0];
  if (step < size || step % size || parts > IR_MOST_PARTS) return false;
  if (parts == 1) return true;
  for (const IrInst *at = store->region->first; at; at = at->next)
    found += at->op == IR_MEM_STORE && ir_differ_by_constant(ptr, at->operands[0], &bytes);
  return found == parts;
}

static bool may_bypass_caches(const PassContext *ctx, const IrKernel *kernel, const IrRegion *body,
                              const LaneSurvey *survey, const IrInst *inst) {
  if (inst->op != IR_MEM_STORE || !inst->alias) return false;
  Search s = {.kernel = kernel, .field = &kernel->fields.items[inst->alias - 1]};
  ASSERT(survey->width > 1, "stores of scalars stay ordinary ones");
  const LaneFact *at = &survey->facts[inst->operands[0]->id];
  uint64_t bytes = bytes_of(kernel, s.field);
  if (!bytes || (bytes < LARGE && !ctx->forces_streams)) return false;
  if (survey->width * type_size(inst->operands[1]->type) < SHORTEST) return false;
  if (at->shape != LANE_LINEAR || !stores_whole_cell(inst, at->step)) return false;
  ir_walk((IrRegion *)body, find_read, &s);
  return !s.is_read;
}

static bool add_traffic(void *data, IrInst *inst) {
  Search *s = data;
  int field = is_access(inst) ? inst->alias : 0;
  uint64_t bit = (uint64_t)1 << field % 64, *word = &s->seen[field / 64 % 4];
  if (!field || *word & bit) return true;
  *word |= bit;
  s->traffic += type_size(s->kernel->fields.items[field - 1].type);
  return true;
}

void non_temporal_mark(const PassContext *ctx, const IrKernel *kernel, IrTask *task,
                       const LaneSurvey *survey) {
  ASSERT(task->kind == TASK_RANGE, "only tasks over ranges test their size");
  IrRegion *body = task->interior ? task->interior : task->body;
  Search s = {.kernel = kernel};
  int count = 0;
  for (IrInst *inst = body->first; inst; inst = inst->next)
    count += inst->streams = may_bypass_caches(ctx, kernel, body, survey, inst);
  if (count > FEW && survey->vector_bytes < LINE) return non_temporal_clear(task);
  if (!count) return;
  ir_walk(body, add_traffic, &s);
  task->traffic = s.traffic;
}

void non_temporal_clear(IrTask *task) {
  IrRegion *body = task->interior ? task->interior : task->body;
  for (IrInst *inst = body->first; inst; inst = inst->next) inst->streams = false;
  task->traffic = 0;
}
