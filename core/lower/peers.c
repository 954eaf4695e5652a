/* peers.c - elements and cells of several ranks' trees, where the kernel computes the rank: the
 * index before the others. Each rank's element is read in a branch of its own, so later stages know
 * the tree of every access. A rank that does not exist reads as zero. Decision D-comm-08. */
#include "lower/lower.h"

static IrRegion *enter_rank(Lower *l, IrInst *rank, int number) {
  IrInst *is_it = ir_binary(&l->b, IR_EQ, rank, lower_number(l, rank->type, number));
  return lower_enter(l, ir_if(&l->b, is_it)->regions[0]);
}

static IrInst *zero_var(Lower *l, Type type) {
  IrInst *var = ir_var(&l->b, type);
  ir_set(&l->b, var, lower_number(l, type, 0));
  return var;
}

IrInst **lower_peer_parts(Lower *l, Expr *e, const int *parts, int count, IrInst **indices) {
  const FieldPeers *peers = field_of(&e->entity)->peers;
  IrInst **values = lower_array(l, count), *rank = *indices++;
  lower_check_index(l, e, &peers->of[0], true, field_rank(&peers->of[0].field), indices);
  for (int k = 0; k < count; k++) {
    const IrInst *place = lower_place_at(l, &peers->of[0], parts[k], indices);
    values[k] = zero_var(l, type_computed(l->output->kernel->fields.items[place->field].type));
  }
  for (int number = 0; number < peers->count; number++) {
    IrRegion *back = enter_rank(l, rank, number);
    for (int k = 0; k < count; k++) {
      IrInst *place = lower_place_at(l, &peers->of[number], parts[k], indices);
      lower_race_access(l, e, &peers->of[number], RACE_READ, place, indices, NULL);
      ir_set(&l->b, values[k], ir_load(&l->b, place));
    }
    lower_leave(l, back);
  }
  for (int k = 0; k < count; k++) values[k] = ir_get(&l->b, values[k]);
  return values;
}

IrInst *lower_peer_cell_query(Lower *l, const MethodCall *m, int count, IrInst **indices) {
  const FieldPeers *peers = field_of(&m->object)->peers;
  IrInst *var = zero_var(l, m->type), *rank = *indices;
  for (int number = 0; number < peers->count; number++) {
    IrRegion *back = enter_rank(l, rank, number);
    ir_set(&l->b, var, lower_cell_inst(l, m, &peers->of[number], count - 1, indices + 1));
    lower_leave(l, back);
  }
  return ir_get(&l->b, var);
}
