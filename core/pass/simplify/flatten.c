/* flatten.c - if-conversion: turns IFs into selects, and variables into values.
 *
 *   %v = var; set %v %a              (nothing)
 *   if %c { set %v %b }              %s = select %c, %b, %a
 *   store %cell, get %v              store %cell, %s
 *
 * After an `if c { continue }` the other lanes continue: the rest is like an arm, except that its
 * variables need no selects, since they are not read after the end of the iteration.
 * Computing both arms is harmless: every op that is allowed here is defined for all values, and a
 * cell of a leaf or its neighbours can always be read. A write in an arm stores the old value if
 * the arm is not taken, so it is allowed only for fields whose elements no other iteration writes.
 * A LOOP that runs once, as the copies of a loop with a `break` do, becomes the same, and a SET of
 * each outside variable: these are read after the exit, so they keep their values there.
 * There is one walk, but each IF copies the table of variables, so long bodies with many of both
 * are refused. */
#include "pass/simplify/simplify.h"

#include "pass/rewrite.h"

/* Insts of a body, and of its arms, for which tables of variables are copied: these limits bound
 * the compile time. */
enum { MOST_INSTS = 800, MOST_INSTS_IN_ARMS = 128 };

/* -- can it be flattened? ---------------------------------------------------------------------- */

typedef struct Survey {
  const bool *may_mask;
  int insts, in_arms;
  bool continues; /* an earlier `continue` may have ended the iteration */
  int32_t line;
} Survey;

static bool has_identity(IrUpdate op) {
  switch (op) {
  case IR_UPDATE_ADD:
  case IR_UPDATE_MUL:
  case IR_UPDATE_MIN:
  case IR_UPDATE_MAX:
  case IR_UPDATE_BAND:
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR: return true;
  default: return false;
  }
}

static const char *obstacle_of(const Survey *s, const IrInst *inst, bool in_arm) {
  const IrInst *place = inst->operand_count ? inst->operands[0] : NULL;
  switch (inst->op) {
  case IR_LOAD: return place->op == IR_CELL ? NULL : "it reads elements at data-dependent indices";
  case IR_UPDATE:
    if (!inst->nonatomic) return "an update may race with that of another iteration";
    /* fallthrough */
  case IR_STORE:
    if (place->op != IR_CELL) return "it writes elements of other cells";
    return in_arm && !s->may_mask[place->field] ? "it writes conditionally what others may write"
                                                : NULL;
  case IR_REDUCE:
    return in_arm && !has_identity((IrUpdate)inst->imm) ? "it reduces conditionally" : NULL;
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_IF:
  case IR_ROW_ACTIVE: return NULL;
  case IR_PLACE: return NULL; /* only its reads and writes matter */
  case IR_LOOP:
  case IR_FOR:
  case IR_BITS:
  case IR_BREAK: return "it has a loop inside";
  case IR_CONTINUE: return in_arm ? NULL : "it is empty";
  case IR_FAULT: return "it may fail";
  case IR_PRINT: return "it prints";
  case IR_RMW:
  case IR_CAS: return "it uses the old value of an update";
  case IR_INVOKE: return "it calls a function that calls itself";
  case IR_OWN:
  case IR_ACQUIRE:
  case IR_MOVE:
  case IR_RELEASE:
  case IR_DISOWN: return "it holds arrays of its own";
  case IR_CALL:
  case IR_MEM_LOAD:
  case IR_MEM_STORE:
  case IR_MEM_UPDATE: return "it uses counted arrays";
  default: return ir_effects(inst) & IR_PURE ? NULL : "it activates, deactivates or tests cells";
  }
}

static const char *survey_region(Survey *s, const IrRegion *region, bool in_arm) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    s->line = inst->line;
    in_arm |= s->continues;
    const char *why = obstacle_of(s, inst, in_arm);
    if (why) return why;
    s->continues |= inst->op == IR_CONTINUE;
    if (++s->insts > MOST_INSTS) return "its body is long";
    if (in_arm && ++s->in_arms > MOST_INSTS_IN_ARMS) return "much of it is conditional";
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i] && (why = survey_region(s, inst->regions[i], true))) return why;
  }
  return NULL;
}

const char *flatten_obstacle(const IrRegion *body, const bool *may_mask, int32_t *line) {
  Survey s = {.may_mask = may_mask};
  const char *why = survey_region(&s, body, false);
  *line = s.line;
  return why;
}

/* -- straight-line code ------------------------------------------------------------------------ */

typedef struct Flattener {
  IrBuilder b;          /* at the end of the straight-line code */
  VEC(IrInst *) values; /* by variable */
  int *variable_of;     /* by id of a VAR: its number */
  IrInst *alive;        /* condition: no exit was taken; NULL: there was none */
  bool is_loop;         /* variables are read after an exit */
} Flattener;

static void flatten_region(Flattener *f, IrRegion *from, IrInst *condition);

static IrInst **copy_values(Flattener *f) {
  IrInst **copy = scratch_array(f->b.kernel->scratch, IrInst *, f->values.count + 1);
  if (f->values.count) memcpy(copy, f->values.items, sizeof *copy * (size_t)f->values.count);
  return copy;
}

static void flatten_if(Flattener *f, IrInst *branch, IrInst *outer) {
  IrInst *condition = branch->operands[0];
  int count = f->values.count; /* variables made in an arm end with it */
  IrInst **before = copy_values(f);
  flatten_region(f, branch->regions[0], rewrite_both(&f->b, outer, condition));
  IrInst **then = copy_values(f);
  if (count) memcpy(f->values.items, before, sizeof *before * (size_t)count);
  if (branch->regions[1]->first)
    flatten_region(f, branch->regions[1],
                   rewrite_both(&f->b, outer, ir_unary(&f->b, IR_BNOT, condition)));
  for (int i = 0; i < count; i++)
    if (then[i] != f->values.items[i])
      f->values.items[i] = ir_select(&f->b, condition, then[i], f->values.items[i]);
}

static void end_iteration(Flattener *f, IrInst *condition) {
  f->alive = rewrite_both(&f->b, f->alive, ir_unary(&f->b, IR_BNOT, condition));
}

static void set_variable(Flattener *f, const IrInst *set) {
  IrInst **value = &f->values.items[f->variable_of[set->operands[0]->id]], *to = set->operands[1];
  *value = f->is_loop && f->alive ? ir_select(&f->b, f->alive, to, *value) : to;
}

/* A conditional write: stores the old value if the condition is false. */
static void mask_write(Flattener *f, IrInst *write, IrInst *condition) {
  DEBUG_ASSERT(write->operands[0]->op == IR_CELL, "survey_region has refused other places");
  IrInst *cell = write->operands[0], *value = write->operands[1];
  IrInst *old = ir_convert(&f->b, ir_load(&f->b, cell), value->type);
  if (write->op == IR_UPDATE) value = rewrite_update_value(&f->b, (IrUpdate)write->imm, old, value);
  ir_store(&f->b, cell, ir_select(&f->b, condition, value, old));
}

static void mask_reduce(Flattener *f, IrInst *reduce, IrInst *condition) {
  DEBUG_ASSERT(has_identity((IrUpdate)reduce->imm), "survey_region has refused other operators");
  IrInst *value = reduce->operands[1];
  IrInst *identity = ir_identity(&f->b, (IrUpdate)reduce->imm, value->type);
  ir_set_operand(reduce, 1, ir_select(&f->b, condition, value, identity));
  ir_region_append(f->b.region, reduce);
}

static void flatten_inst(Flattener *f, IrInst *inst, IrInst *condition) {
  f->b.line = inst->line;
  f->b.column = inst->column;
  if (inst->op == IR_VAR) {
    f->variable_of[inst->id] = f->values.count;
    vec_push(f->b.kernel->scratch, &f->values, ir_zero(&f->b, inst->type));
    return;
  }
  if (inst->op == IR_GET) {
    ir_replace_uses(inst, f->values.items[f->variable_of[inst->operands[0]->id]]);
    return;
  }
  bool has_effect = rewrite_is_write(inst->op) || inst->op == IR_REDUCE;
  if (has_effect && f->alive) condition = rewrite_both(&f->b, f->alive, condition);
  if (inst->op == IR_SET) set_variable(f, inst);
  else if (inst->op == IR_IF) flatten_if(f, inst, condition);
  else if (inst->op == IR_CONTINUE || inst->op == IR_BREAK) end_iteration(f, condition);
  else if (has_effect && condition)
    inst->op == IR_REDUCE ? mask_reduce(f, inst, condition) : mask_write(f, inst, condition);
  else ir_region_append(f->b.region, inst);
}

static void flatten_region(Flattener *f, IrRegion *from, IrInst *condition) {
  for (IrInst *inst = from->first, *next; inst; inst = next) {
    next = inst->next;
    ir_remove(inst);
    flatten_inst(f, inst, condition);
    if (!inst->region) ir_delete(inst);
  }
}

void flatten(IrKernel *kernel, IrRegion *body) {
  IrRegion *line = ir_region_create(kernel, NULL);
  Flattener f = {.b = {.kernel = kernel, .region = line}};
  f.variable_of = scratch_array(kernel->scratch, int, kernel->next_id);
  flatten_region(&f, body, NULL);
  rewrite_move_all(line, body);
}

/* -- loops that run once ----------------------------------------------------------------------- */

void flatten_loop(IrKernel *kernel, IrInst *loop) {
  IrRegion *body = loop->regions[0], *line = ir_region_create(kernel, NULL);
  VEC(IrInst *) loads = {0}; /* of the outside variables, by number; the first number is 1 */
  Flattener f = {.b = rewrite_inside(kernel, line, loop), .is_loop = true};
  f.variable_of = scratch_array(kernel->scratch, int, kernel->next_id);
  vec_push(kernel->scratch, &loads, NULL);
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    IrInst *variable = inst->op == IR_SET || inst->op == IR_GET ? inst->operands[0] : NULL;
    if (!variable || ir_is_inside(variable, body) || f.variable_of[variable->id]) continue;
    f.variable_of[variable->id] = loads.count;
    vec_push(kernel->scratch, &loads, ir_get(&f.b, variable));
  }
  for (int k = 0; k < loads.count; k++) vec_push(kernel->scratch, &f.values, loads.items[k]);
  ASSERT(body->last && body->last->op == IR_BREAK, "the loop runs once");
  ir_delete(body->last);
  flatten_region(&f, body, NULL);
  for (int k = 1; k < loads.count; k++)
    if (f.values.items[k] != loads.items[k])
      ir_set(&f.b, loads.items[k]->operands[0], f.values.items[k]);
  rewrite_move_to(line->first, &(IrBuilder){.before = loop});
  ir_delete(loop);
}
