/* distances.c - see distances.h. */
#include "pass/loops/distances.h"

#include "pass/rewrite.h"

/* Are the field's elements always active, and disjoint from those of all other fields? */
static bool is_plain_field(const IrKernel *kernel, int field) {
  const SNode *node = kernel->fields.items[field].node;
  return node ? !snode_sparse_level(node) : !ir_is_shared(kernel, field);
}

static bool check_inst(void *data, IrInst *inst) {
  Distances *d = data;
  bool is_own =
      inst->op == IR_GET || inst->op == IR_SET ? ir_is_inside(inst->operands[0], d->body) : true;
  switch (inst->op) {
  case IR_VAR:
  case IR_IF:
  case IR_GET:
  case IR_SET:
  case IR_LOAD: break;
  case IR_STORE:
  case IR_UPDATE:
    d->written[inst->operands[0]->field] = true;
    is_own &= !inst->private_copy;
    break;
  default: is_own &= (ir_effects(inst) & IR_PURE) != 0;
  }
  if (inst->op == IR_PLACE) is_own &= is_plain_field(d->kernel, inst->field);
  return d->is_good = is_own;
}

static bool record_access(void *data, IrInst *inst) {
  Distances *d = data;
  if (!rewrite_is_access(inst->op) || !d->written[inst->operands[0]->field]) return true;
  const IrInst *place = inst->operands[0];
  d->is_good &= place->op == IR_PLACE && d->count < DISTANCES_MOST;
  if (!d->is_good) return false;
  d->accesses[d->count++] = (DistancesAccess){
      .inst = inst,
      .field = place->field,
      .writes = rewrite_is_write(inst->op),
      .sums = dependence_sums(d->kernel->scratch, d->nest, place->operand_count, place->operands)};
  return true;
}

bool distances_find(IrKernel *kernel, const LoopNest *nest, IrRegion *body, Distances *out) {
  DEBUG_ASSERT(nest->count == 2, "two loops run the body");
  *out = (Distances){.kernel = kernel, .body = body, .nest = nest, .is_good = true};
  out->written = scratch_array(kernel->scratch, bool, kernel->fields.count);
  ir_walk(body, check_inst, out);
  if (out->is_good) ir_walk(body, record_access, out);
  return out->is_good;
}

bool distances_visit(const Distances *distances, DistanceVisit *visit, void *data) {
  for (int i = 0; i < distances->count; i++)
    for (int k = 0; k < distances->count; k++) {
      const DistancesAccess *write = &distances->accesses[i], *other = &distances->accesses[k];
      if (!write->writes || write->field != other->field) continue;
      Distance distance = dependence_between(&write->sums, &other->sums);
      if (!distance.never && !visit(data, &distance, write, other)) return false;
    }
  return true;
}
