/* flatten.c - if-conversion of a LOOP that runs once, as the copies of a loop with a `break` do:
 * turns IFs into selects, and variables into values.
 *
 *   loop {                          %before = get %v
 *     if %c { break }                   ..
 *     set %v %a            =>       %s = select (bnot %c), %a, %before
 *     break                         set %v %s
 *   }
 *
 * Code after an exit is treated like an arm of an IF: if the exit was taken, variables that are
 * read after the loop keep their values. Computing both arms is harmless, since every pure op is
 * defined for all values. There is one walk, but each IF copies the table of variables. */
#include "pass/simplify/simplify.h"

#include "pass/rewrite.h"

/* -- straight-line code ------------------------------------------------------------------------ */

typedef struct Flattener {
  IrBuilder b;          /* at the end of the straight-line code */
  VEC(IrInst *) values; /* by variable */
  int *variable_of;     /* by id of a VAR: its number */
  IrInst *alive;        /* condition: no exit was taken; NULL: there was none */
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

static void set_variable(Flattener *f, const IrInst *set) {
  IrInst **value = &f->values.items[f->variable_of[set->operands[0]->id]], *to = set->operands[1];
  *value = f->alive ? ir_select(&f->b, f->alive, to, *value) : to;
}

static void flatten_inst(Flattener *f, IrInst *inst, IrInst *condition) {
  f->b.line = inst->line;
  f->b.column = inst->column;
  switch (inst->op) {
  case IR_VAR:
    f->variable_of[inst->id] = f->values.count;
    vec_push(f->b.kernel->scratch, &f->values, ir_zero(&f->b, inst->type));
    break;
  case IR_GET: ir_replace_uses(inst, f->values.items[f->variable_of[inst->operands[0]->id]]); break;
  case IR_SET: set_variable(f, inst); break;
  case IR_IF: flatten_if(f, inst, condition); break;
  case IR_BREAK:
    f->alive = rewrite_both(&f->b, f->alive, ir_unary(&f->b, IR_BNOT, condition));
    break;
  default:
    ASSERT(ir_effects(inst) & IR_PURE, "the loop computes, and does nothing else");
    ir_region_append(f->b.region, inst);
  }
}

static void flatten_region(Flattener *f, IrRegion *from, IrInst *condition) {
  for (IrInst *inst = from->first, *next; inst; inst = next) {
    next = inst->next;
    ir_remove(inst);
    flatten_inst(f, inst, condition);
    if (!inst->region) ir_delete(inst);
  }
}

void flatten_loop(IrKernel *kernel, IrInst *loop) {
  IrRegion *body = loop->regions[0], *line = ir_region_create(kernel, NULL);
  VEC(IrInst *) loads = {0}; /* of the outside variables, by number; the first number is 1 */
  Flattener f = {.b = rewrite_inside(kernel, line, loop)};
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
