/* staged_numbers.c - aggregated atomics for iterations that number what they store, where their
 * number depends on what other iterations write: the frontier of a search in a graph.
 *
 *     if %new {                                          if %new {
 *       %at = mem.rmw add %counter, 1                      %row = mem.rmw add nonatomic cursor, 1
 *       mem.store .. %at .., %v                   =>       mem.store row %row of the chunk, %v
 *     }                                                    if %row is the last { claim(MOST) }
 *                                                        }
 *     claim(%total), also at the end of a chunk:
 *       %first = mem.rmw add %counter, %total
 *       for %k = 0, %total - 1 { mem.store .. %first + %k .., row %k of the chunk }
 *
 * Everything that depends on the number must be stores to fields that the task does not access
 * otherwise, under conditions. Then no iteration can tell when it got its number, nor whose number
 * came before, so the update need not be `relaxed`. Decision D-pass-107. */
#include "pass/tasks/staged_numbers.h"

#include "ir/facts.h"
#include "pass/address/address.h"
#include "pass/rewrite.h"

enum {
  MOST_ROWS = 128,
  MOST_VALUES = 8, /* of a row */
  VALUE_BYTES = 8,
  HEADER = 8 /* bytes before the first row: their count */
};

typedef struct Accesses { /* to a field */
  int count, writes, late;
} Accesses;

/* An update, and what depends on its number. */
typedef struct Append {
  IrInst *update;
  IrInst *last;        /* the last inst of the update's region that depends on it */
  VEC(IrInst *) late;  /* all that depend, outer before inner */
  VEC(IrInst *) taken; /* the other values that these use, except those of the launch */
} Append;

typedef struct Stage {
  PassContext *ctx;
  IrKernel *kernel;
  IrTask *task;
  Accesses *accesses; /* by alias */
  bool has_exchanges; /* other updates whose old value is used: the loop cannot count first */
  bool is_good;
  VEC(IrInst *) updates;
} Stage;

/* -- what the task does ------------------------------------------------------------------------ */

static bool is_numbering(const IrInst *inst) {
  int64_t one;
  return claim_is_count(inst) && ir_is_const(inst->operands[1], &one) && one == 1;
}

static bool note_access(void *data, IrInst *inst) {
  Stage *s = data;
  if (ir_is_access(inst->op)) {
    s->accesses[inst->alias].count++;
    s->accesses[inst->alias].writes += inst->op != IR_MEM_LOAD;
  }
  if (is_numbering(inst)) vec_push(s->ctx->scratch, &s->updates, inst);
  else s->has_exchanges |= inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS;
  bool is_call = inst->op == IR_CALL && !ir_is_call(inst, RT_OUTSIDE) &&
                 !ir_is_call(inst, RT_FETCH) && !(ir_effects(inst) & IR_PURE);
  s->is_good &= !is_call && inst->op != IR_INVOKE && inst->op != IR_ROW_LOAD;
  return s->is_good;
}

/* -- what depends on a number ------------------------------------------------------------------ */

static bool is_late(const Append *a, const IrInst *inst) {
  if (inst == a->update) return true;
  for (int i = 0; i < a->late.count; i++)
    if (a->late.items[i] == inst) return true;
  return false;
}

static bool uses_late(void *data, IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    if (is_late(data, inst->operands[i])) return false;
  return true;
}

static bool depends(Append *a, IrInst *inst) {
  bool uses = !uses_late(a, inst);
  for (int i = 0; i < IR_MAX_REGIONS && !uses; i++)
    uses = inst->regions[i] && !ir_walk(inst->regions[i], uses_late, a);
  return uses;
}

static bool may_be_late(Stage *s, const IrInst *inst) {
  switch (inst->op) {
  case IR_IF: return true;
  case IR_MEM_STORE:
    s->accesses[inst->alias].late++;
    return inst->alias && !ir_is_shared(s->kernel, inst->alias - 1);
  case IR_MEM_LOAD: return inst->alias && !s->accesses[inst->alias].writes;
  case IR_CALL: return ir_is_call(inst, RT_OUTSIDE);
  default: return (ir_effects(inst) & IR_PURE) && !inst->regions[0];
  }
}

static bool add_late(Stage *s, Append *a, IrInst *inst) {
  if (!may_be_late(s, inst)) return false;
  vec_push(s->ctx->scratch, &a->late, inst);
  for (int i = 0; i < IR_MAX_REGIONS; i++)
    for (IrInst *inner = inst->regions[i] ? inst->regions[i]->first : NULL; inner;
         inner = inner->next)
      if (!add_late(s, a, inner)) return false;
  return true;
}

static bool take(Stage *s, Append *a, IrInst *value) {
  if (is_late(a, value) || facts_is_launch_invariant(value)) return true;
  for (int i = 0; i < a->taken.count; i++)
    if (a->taken.items[i] == value) return true;
  bool is_number =
      type_is_scalar(value->type) && (type_is_integer(value->type) || type_is_float(value->type));
  if (!is_number || a->taken.count == MOST_VALUES) return false;
  vec_push(s->ctx->scratch, &a->taken, value);
  return true;
}

static bool find_late(Stage *s, Append *a) {
  for (IrInst *inst = a->update->next; inst; inst = inst->next) {
    if (!depends(a, inst)) continue;
    if (!add_late(s, a, inst)) return false;
    a->last = inst;
  }
  for (int i = 0; i < a->late.count; i++)
    for (int k = 0; k < a->late.items[i]->operand_count; k++)
      if (!take(s, a, a->late.items[i]->operands[k])) return false;
  return a->last != NULL;
}

static int number_of(const Append *a, const IrInst *value) {
  if (value == a->update) return -1;
  for (int i = 0; i < a->late.count; i++)
    if (a->late.items[i] == value) return i;
  for (int i = 0; i < a->taken.count; i++)
    if (a->taken.items[i] == value) return a->late.count + i;
  return INT32_MAX; /* of the launch */
}

/* Do both store the same rows in the same way, so that one claim serves both? */
static bool is_alike(const Append *a, const Append *b) {
  if (a->late.count != b->late.count || a->taken.count != b->taken.count ||
      !facts_same_value(a->update->operands[0], b->update->operands[0]))
    return false;
  for (int i = 0; i < a->taken.count; i++)
    if (!type_equal(a->taken.items[i]->type, b->taken.items[i]->type)) return false;
  for (int i = 0; i < a->late.count; i++) {
    const IrInst *x = a->late.items[i], *y = b->late.items[i];
    if (!facts_same_operation(x, y) || x->operand_count != y->operand_count) return false;
    for (int k = 0; k < x->operand_count; k++) {
      int at = number_of(a, x->operands[k]);
      if (at != number_of(b, y->operands[k])) return false;
      if (at == INT32_MAX && !facts_same_value(x->operands[k], y->operands[k])) return false;
    }
  }
  return true;
}

/* -- the claim --------------------------------------------------------------------------------- */

static int row_bytes(const Append *a) {
  return VALUE_BYTES * (a->taken.count ? a->taken.count : 1);
}

static IrInst *value_address(IrBuilder *b, const Append *a, IrInst *cursor, IrInst *row, int k) {
  return ir_offset(b, cursor, row, row_bytes(a), HEADER + k * VALUE_BYTES);
}

static IrRegion *make_claim(Stage *s, const Append *a) {
  IrRegion *claim = ir_region_create(s->kernel, NULL);
  Type type = a->update->type;
  IrInst *total = ir_region_param(s->kernel, claim, type);
  IrBuilder b = rewrite_inside(s->kernel, claim, a->update);
  IrInst *first = claim_numbers(&b, a->update, total);
  IrInst *one = ir_const_int(&b, type, 1), *zero = ir_const_int(&b, type, 0);
  IrInst *loop = ir_for(&b, zero, ir_binary(&b, IR_SUB, total, one), one);
  loop->short_trip = true;
  b = rewrite_inside(s->kernel, loop->regions[0], a->update);
  IrInst *row = ir_index(loop), *cursor = ir_emit(&b, IR_CHUNK_CURSOR, TYPE(PTR), 0, NULL);
  IrMap *map = ir_map(s->ctx->scratch, s->kernel);
  ir_map_put(map, a->update, ir_binary(&b, IR_ADD, first, row));
  for (int k = 0; k < a->taken.count; k++) {
    IrInst *address = value_address(&b, a, cursor, row, k);
    ir_map_put(map, a->taken.items[k], ir_mem_load(&b, a->taken.items[k]->type, address));
  }
  for (int i = 0; i < a->late.count; i++)
    for (int k = 0; k < a->late.items[i]->operand_count; k++) {
      IrInst *value = a->late.items[i]->operands[k];
      if (number_of(a, value) == INT32_MAX)
        ir_map_put(map, value, rewrite_recompute(&b, value, ir_outermost(a->update->region), map));
    }
  for (int i = 0; i < a->late.count; i++)
    if (a->late.items[i]->region == a->update->region)
      ir_copy_to(&b, a->late.items[i], a->late.items[i]->next, map);
  return claim;
}

/* -- the body ---------------------------------------------------------------------------------- */

static void stage_row(Stage *s, const Append *a) {
  IrBuilder b = rewrite_after(s->kernel, a->last);
  Type type = a->update->type;
  IrInst *cursor = ir_emit(&b, IR_CHUNK_CURSOR, TYPE(PTR), 0, NULL);
  IrInst *operands[] = {cursor, ir_const_int(&b, type, 1)};
  IrInst *row = ir_emit(&b, IR_MEM_RMW, type, 2, operands);
  row->imm = IR_UPDATE_ADD;
  row->nonatomic = true;
  for (int k = 0; k < a->taken.count; k++) {
    IrInst *to[] = {value_address(&b, a, cursor, row, k), a->taken.items[k]};
    ir_emit(&b, IR_MEM_STORE, TYPE(NONE), 2, to);
  }
  IrInst *is_last = ir_binary(&b, IR_EQ, row, ir_const_int(&b, type, MOST_ROWS - 1));
  IrBuilder full = rewrite_into(&b, ir_if(&b, is_last)->regions[0]);
  IrMap *map = ir_map(s->ctx->scratch, s->kernel);
  ir_map_put(map, s->task->claim->params.items[0], ir_const_int(&full, type, MOST_ROWS));
  ir_copy_to(&full, s->task->claim->first, NULL, map);
  IrInst *none[] = {ir_emit(&full, IR_CHUNK_CURSOR, TYPE(PTR), 0, NULL),
                    ir_const_int(&full, type, 0)};
  ir_emit(&full, IR_MEM_STORE, TYPE(NONE), 2, none);
  for (int i = a->late.count - 1; i >= 0; i--)
    if (a->late.items[i]->region == a->update->region) ir_delete(a->late.items[i]);
  ir_delete(a->update);
}

bool stage_numbers(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  if (ctx->has_one_worker || ctx->keeps_order) return false;
  Stage s = {.ctx = ctx, .kernel = kernel, .task = task, .is_good = true};
  s.accesses = scratch_array(ctx->scratch, Accesses, kernel->fields.count + 1);
  ir_walk_task(task, note_access, &s);
  if (!s.is_good || !s.updates.count || !s.has_exchanges || s.accesses[0].count) return false;
  int counter = s.updates.items[0]->alias;
  if (s.accesses[counter].count != s.updates.count || ir_is_shared(kernel, counter - 1))
    return false;
  Append *appends = scratch_array(ctx->scratch, Append, s.updates.count);
  for (int i = 0; i < s.updates.count; i++) {
    appends[i].update = s.updates.items[i];
    if (!find_late(&s, &appends[i]) || !is_alike(&appends[0], &appends[i])) return false;
  }
  for (int alias = 1; alias <= kernel->fields.count; alias++)
    if (s.accesses[alias].late && s.accesses[alias].late != s.accesses[alias].count) return false;
  task->claim = make_claim(&s, &appends[0]);
  task->staged = MOST_ROWS * row_bytes(&appends[0]);
  ir_note(
      kernel, s.updates.items[0]->line,
      "aggregated atomics: a chunk of iterations stages what it stores, and updates the counter "
      "once for %d numbers",
      MOST_ROWS);
  for (int i = 0; i < s.updates.count; i++) stage_row(&s, &appends[i]);
  return true;
}
