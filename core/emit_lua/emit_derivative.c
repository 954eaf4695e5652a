/* emit_derivative.c - a derivative as Lua text. Derivatives exist as IR alone, after the pass
 * `adjoint`, so this prints regions, not the typed tree: an inst is a statement, its value a local.
 *
 *   local v7 = _rg_x[0].get(v3)                     LOAD of a PLACE of field 0
 *   local v8 = _rg.mul_f32(v7, v7)
 *   _rg_x[1].update_inside(_rg.add_f32, v8, v3)     UPDATE that is not counted outside
 *
 * This file emits statements, control flow and the beginning of a text, emit_ir.c expressions.
 * Besides the arguments of every kernel's text (emit_lua.h) there are
 *
 *   _rg_x   by field of the IR: the access to one number of each element (oracle/derivative.lua)
 *   _rg_l   by level of the IR: the level
 *   _rg_t   by table of the IR: its values */
#include "emit_lua/emit_ir.h"

enum { LOOP_LOCALS = 3 }; /* a generic `for` has hidden ones */
/* A jump of LuaJIT spans at most 2^15 instructions, and a statement has about eight. In larger
 * texts all values are in _rg_v, and sections of regions are functions of their own. */
enum { MAX_STATEMENTS = 2500, SECTION_STATEMENTS = 400 };

static bool emit_region(Derivative *d, const IrRegion *region);

/* -- statements -------------------------------------------------------------------------------- */

static void emit_assignment(Derivative *d, const IrInst *to) {
  emit_ir_value(d, to);
  emit_text(d->e, " = ");
}

static void emit_reduce(Derivative *d, const IrInst *reduce) {
  const IrInst *var = reduce->operands[0];
  emit_assignment(d, var);
  emit_format(d->e, "_rg.%s_%s(", ir_update_text((IrUpdate)reduce->imm), type_text(var->type));
  emit_ir_value(d, var);
  emit_ir_operands(d, reduce, 1);
  emit_text(d->e, ")");
}

/* Results as the user sees them: a vector's numbers in a table. */
static void emit_results(Derivative *d, const IrInst *exit) {
  const SemaOutput *typed = d->typed;
  int at = 0;
  emit_text(d->e, "do return ");
  for (int k = 0; k < typed->results.count && exit->operand_count; k++) {
    Type type = typed->results.items[k];
    bool is_table = !type_is_scalar(type_shape(type));
    emit_text(d->e, k ? ", " : "");
    emit_text(d->e, is_table ? "{" : "");
    for (int part = 0; part < type_parts(type); part++) {
      if (part) emit_text(d->e, ", ");
      emit_ir_value(d, exit->operands[at++]);
    }
    emit_text(d->e, is_table ? "}" : "");
  }
  emit_text(d->e, " end");
}

static void emit_exit(Derivative *d, const IrInst *exit) {
  if (exit->op == IR_RETURN) return emit_results(d, exit);
  ASSERT(exit->imm < d->loops.count, "an exit leaves loops that are around it");
  EmitLoop *loop = &d->loops.items[d->loops.count - 1 - exit->imm];
  bool leaves = exit->op == IR_BREAK;
  *(leaves ? &loop->needs_leave_label : &loop->needs_next_label) = true;
  emit_format(d->e, "do goto _rg_%s%d end", leaves ? "leave" : "next", loop->number);
}

/* -- control ----------------------------------------------------------------------------------- */

static bool emit_if(Derivative *d, const IrInst *inst) {
  emit_text(d->e, "if ");
  emit_ir_value(d, inst->operands[0]);
  emit_text(d->e, " then");
  if (!emit_region(d, inst->regions[0])) return false;
  if (inst->regions[1]->first) {
    emit_text(d->e, " else");
    if (!emit_region(d, inst->regions[1])) return false;
  }
  emit_text(d->e, " end");
  return true;
}

/* "for v3, v4 in _rg.NAME(", of a loop over i64 with "_i64" */
static void emit_head(Derivative *d, const IrInst *loop, const char *name) {
  const IrRegion *body = loop->regions[0];
  emit_text(d->e, "for ");
  for (int k = 0; k < body->params.count; k++)
    emit_format(d->e, "%sv%d", k ? ", " : "", body->params.items[k]->id);
  d->locals += body->params.count + LOOP_LOCALS;
  emit_format(d->e, " in _rg.%s(", name);
}

static const char *index_suffix(const IrInst *loop) {
  return type_is(loop->regions[0]->params.items[0]->type, TYPE_I64) ? "_i64" : "";
}

static void emit_loop_head(Derivative *d, const IrInst *loop) {
  Emit *e = d->e;
  if (loop->op == IR_LOOP) {
    emit_text(e, "while true do");
    return;
  }
  if (loop->op == IR_FOR) {
    Type type = loop->operands[0]->type;
    emit_head(d, loop, scratch_format(e->scratch, "count_%s", type_text(type)));
    emit_ir_value(d, loop->operands[0]);
    emit_ir_operands(d, loop, 1);
  } else if (loop->op == IR_RANGE) {
    emit_head(d, loop, scratch_format(e->scratch, "range%s", index_suffix(loop)));
    emit_ir_value(d, loop->operands[0]);
    emit_ir_operands(d, loop, 1);
  } else {
    emit_head(d, loop, scratch_format(e->scratch, "active%s", index_suffix(loop)));
    emit_format(e, "_rg_l[%d]", loop->level);
  }
  emit_text(e, ") do");
}

static bool emit_loop(Derivative *d, const IrInst *inst) {
  int locals = d->locals;
  EmitLoop loop = {.number = ++d->e->loop_count};
  emit_loop_head(d, inst);
  vec_push(d->e->scratch, &d->loops, loop);
  emit_text(d->e, " do");
  if (!emit_region(d, inst->regions[0])) return false;
  loop = d->loops.items[--d->loops.count];
  emit_text(d->e, " end");
  if (loop.needs_next_label) emit_format(d->e, " ::_rg_next%d::", loop.number);
  emit_text(d->e, " end");
  if (loop.needs_leave_label) emit_format(d->e, " ::_rg_leave%d::", loop.number);
  d->locals = locals;
  return true;
}

/* -- insts ------------------------------------------------------------------------------------- */

static bool emits_nothing(const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST:
  case IR_ARG:
  case IR_PLACE:
  case IR_ACQUIRE:
  case IR_RELEASE:
  case IR_DISOWN: return true;
  case IR_CALL: return emit_ir_call_is_empty(inst);
  default: return false;
  }
}

static bool emit_statement(Derivative *d, const IrInst *inst) {
  switch (inst->op) {
  case IR_SET:
  case IR_OWN:
  case IR_MOVE:
    emit_assignment(d, inst->operands[0]);
    emit_ir_value(d, inst->operands[1]);
    return true;
  case IR_LOCAL_SET: emit_ir_helper(d, inst, "local_set"); return true;
  case IR_REDUCE: emit_reduce(d, inst); return true;
  case IR_STORE: emit_ir_store(d, inst); return true;
  case IR_UPDATE:
    emit_ir_update(d, inst, inst->uncounted ? "update_inside" : "update");
    return true;
  case IR_ACTIVATE: emit_ir_on_level(d, inst, "activate"); return true;
  case IR_DEACTIVATE: emit_ir_on_level(d, inst, "deactivate"); return true;
  case IR_CLEAR: emit_ir_on_level(d, inst, "clear"); return true;
  case IR_POP: emit_ir_pop(d, inst); return true;
  case IR_MEM_STORE: emit_ir_helper(d, inst, "memory_store"); return true;
  case IR_MEM_UPDATE: emit_ir_memory_update(d, inst); return true;
  case IR_PRINT:
  case IR_FAULT: emit_ir_message(d, inst); return true;
  case IR_BREAK:
  case IR_CONTINUE:
  case IR_RETURN: emit_exit(d, inst); return true;
  case IR_IF: return emit_if(d, inst);
  case IR_LOOP:
  case IR_FOR:
  case IR_RANGE:
  case IR_ACTIVE: return emit_loop(d, inst);
  case IR_CALL: return emit_ir_call(d, inst);
  default: return emit_ir_refuse_op(d, inst);
  }
}

/* Moves to the user's line. Lines can only increase, as those of a tangent do; other insts stay on
 * the line that is reached. */
static void advance_line(Derivative *d, const IrInst *inst) {
  Emit *e = d->e;
  if (inst->line > e->line && inst->line <= e->s->input->ast->function->end.line)
    emit_line(e, (Pos){.line = inst->line});
}

static bool emit_inst(Derivative *d, const IrInst *inst) {
  if (emits_nothing(inst)) return true;
  advance_line(d, inst);
  emit_text(d->e, " ");
  bool is_value = !type_is_none(inst->type);
  if (is_value) emit_ir_declare(d, inst);
  bool ok = is_value ? emit_ir_expression(d, inst) : emit_statement(d, inst);
  emit_text(d->e, ";");
  return ok;
}

/* Emits the insts from `inst` on as a function of their own, up to one that leaves its region.
 * Returns the next inst; NULL with *ok false on failure. */
static IrInst *emit_section(Derivative *d, IrInst *inst, bool *ok) {
  emit_text(d->e, " (function()");
  for (int k = 0; *ok && inst && k < SECTION_STATEMENTS && !ir_has_exit(inst); k++) {
    *ok = emit_inst(d, inst);
    inst = inst->next;
  }
  emit_text(d->e, " end)();");
  return *ok ? inst : NULL;
}

static bool emit_region(Derivative *d, const IrRegion *region) {
  int locals = d->locals;
  bool ok = true;
  for (IrInst *inst = region->first; ok && inst;) {
    if (d->is_large && !ir_has_exit(inst)) {
      inst = emit_section(d, inst, &ok);
    } else {
      ok = emit_inst(d, inst);
      inst = inst->next;
    }
  }
  d->locals = locals;
  return ok;
}

/* -- fields, levels and tables ----------------------------------------------------------------- */

typedef struct Origin {
  int value;        /* number of the launch value */
  const char *path; /* from its field to the derivative: "grad.dual"; "": the field itself */
} Origin;

static int component_of(const SNode *node, int component, bool is_dual) {
  if (component < 0) return -1;
  const SNodeComponent *of = &node->components[component];
  return (is_dual ? of->dual : of->gradient) - 1;
}

/* Finds the field of the launch that the component belongs to, or whose derivative it belongs
 * to. */
static bool find_origin(const Derivative *d, const SNode *node, int component, Origin *origin) {
  const char *const paths[] = {"", "grad", "dual", "grad.dual"};
  for (int k = 0; k < d->typed->fields.count; k++) {
    const IrField *field = &d->kernel->fields.items[k];
    if (field->node != node) continue;
    int gradient = component_of(node, field->component, false);
    const int found[] = {field->component, gradient, component_of(node, field->component, true),
                         component_of(node, gradient, true)};
    for (int path = 0; path < 4; path++)
      if (found[path] == component) {
        *origin = (Origin){emit_value_number(d->e, d->typed->fields.items[k]), paths[path]};
        return true;
      }
  }
  return false;
}

/* The number of an array's element that the field of the IR is. */
static int part_of_array(const Derivative *d, const IrField *field) {
  SemaArg from = d->typed->args.items[d->kernel->arrays.items[field->array].address];
  const SemaInput *input = d->e->s->input;
  const SemaValue *value =
      from.is_parameter ? &input->parameters[from.index] : &input->captures[from.index];
  int part = 0;
  while (type_offset(input->types, value->type, part) != field->component) part++;
  return part;
}

/* "3.grad:0": the field of the launch, and which number of its elements. */
static bool emit_field(Derivative *d, const IrField *field) {
  Emit *e = d->e;
  if (!field->node) {
    SemaArg from = d->typed->args.items[d->kernel->arrays.items[field->array].address];
    emit_format(e, " %d.:%d", emit_value_number(e, from), part_of_array(d, field));
    return true;
  }
  Origin origin;
  if (!find_origin(d, field->node, field->component, &origin))
    return error_set(d->err, RG_ERROR_INTERNAL, "a derivative has a field that no launch has");
  emit_format(e, " %d.%s:%d", origin.value, origin.path,
              field->node->components[field->component].part);
  return true;
}

/* "3:1": one level above that of the launch's value 3. A level that only the derivative has is that
 * of a field, or above it. */
static bool emit_level(Derivative *d, int number) {
  const SNode *node = d->kernel->levels.items[number].node;
  if (number < d->typed->levels.count) {
    emit_format(d->e, " %d:0", emit_value_number(d->e, d->typed->levels.items[number]));
    return true;
  }
  for (int k = 0; k < d->typed->fields.count; k++) {
    const SNode *at = d->kernel->fields.items[k].node;
    int levels_up = 0;
    while (at && at != node) at = at->parent, levels_up++;
    if (!at) continue;
    emit_format(d->e, " %d:%d", emit_value_number(d->e, d->typed->fields.items[k]), levels_up);
    return true;
  }
  return error_set(d->err, RG_ERROR_INTERNAL, "a derivative has a level that no launch has");
}

static void emit_tables(Derivative *d) {
  Emit *e = d->e;
  if (!d->kernel->tables.count) return;
  emit_text(e, "local _rg_t = {");
  for (int k = 0; k < d->kernel->tables.count; k++) {
    const IrTable *table = &d->kernel->tables.items[k];
    emit_format(e, "%s{", k ? ", " : "[0] = ");
    for (int i = 0; i < table->count; i++) {
      IrInst value = {.op = IR_CONST, .type = table->type, .imm = table->values[i]};
      emit_text(e, i ? ", " : "[0] = ");
      emit_ir_value(d, &value);
    }
    emit_text(e, "}");
  }
  emit_text(e, "}; ");
}

/* The first line: as of every text, followed by the fields and levels of the IR. */
static bool emit_head_line(Derivative *d) {
  Emit *e = d->e;
  emit_text(e, "--[=[");
  emit_types(e);
  emit_text(e, "|");
  for (int k = 0; k < d->kernel->fields.count; k++)
    if (!emit_field(d, &d->kernel->fields.items[k])) return false;
  emit_text(e, " |");
  for (int k = 0; k < d->kernel->levels.count; k++)
    if (!emit_level(d, k)) return false;
  emit_text(e, " ]=] ");
  return true;
}

/* The text accesses arrays by its own memory operations, which an array of the script has not. */
static bool check_arrays(Derivative *d) {
  const SemaOutput *typed = d->typed;
  bool has_arrays = false;
  for (int k = 0; k < typed->args.count; k++) has_arrays |= typed->args.items[k].kind == ARG_HEADER;
  for (int k = 0; k < typed->results.count && d->kernel->results.count; k++)
    has_arrays |= type_has_arrays(d->e->s->input->types, typed->results.items[k]);
  IrInst kernel = {.line = d->e->s->input->ast->function->pos.line};
  return !has_arrays || emit_ir_refuse(d, &kernel, "kernels that take or return arrays as values");
}

static bool count_inst(void *data, IrInst *inst) {
  (void)inst;
  ++*(int *)data;
  return true;
}

const char *emit_lua_derivative(Scratch *scratch, const SemaOutput *typed, Error *err) {
  Emit *e = scratch_new(scratch, Emit);
  *e = (Emit){.scratch = scratch, .s = typed->typed, .line = 1};
  strbuf_init(&e->out, scratch);
  Derivative d = {.e = e, .typed = typed, .kernel = typed->kernel, .err = err};
  d.is_in_table = scratch_array(scratch, bool, typed->kernel->next_id);
  if (!check_arrays(&d)) return NULL;
  int statements = 0;
  ir_walk(typed->kernel->body, count_inst, &statements);
  d.is_large = statements > MAX_STATEMENTS;
  if (!emit_head_line(&d)) return NULL;
  emit_text(e, "local _rg, _rg_f, _rg_a, _rg_r = ...; local _rg_v, _rg_x, _rg_l = {}, "
               "_rg_f.numbers, _rg_f.levels; ");
  emit_tables(&d);
  if (!emit_region(&d, typed->kernel->body)) return NULL;
  emit_end(e);
  return strbuf_end(&e->out);
}
