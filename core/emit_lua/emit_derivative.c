/* emit_derivative.c - a derivative as Lua text. Derivatives exist as IR alone, after the pass
 * `adjoint`, so this prints regions, not the typed tree: an inst is a statement, its value a local.
 *
 *   local v7 = _rg_x[0].get(v3)                     LOAD of a PLACE of field 0
 *   local v8 = _rg.mul_f32(v7, v7)
 *   _rg_x[1].update_inside(_rg.add_f32, v8, v3)     UPDATE that is not counted outside
 *
 * A Lua function has at most 200 locals, so values beyond a limit are in the table _rg_v. Besides
 * the arguments of every kernel's text (emit_lua.h) there are
 *
 *   _rg_x   by field of the IR: the access to one number of each element (oracle/derivative.lua)
 *   _rg_l   by level of the IR: the level
 *   _rg_t   by table of the IR: its values */
#include <string.h>

#include "emit_lua/emit.h"

enum { MOST_LOCALS = 120, LOOP_LOCALS = 3 }; /* a generic `for` has hidden ones */
/* LuaJIT's jumps reach over 2^15 instructions, some eight of which make a statement. Where a text
 * has more, all values are in _rg_v, and sections of regions are functions of their own. */
enum { MOST_STATEMENTS = 2500, SECTION_STATEMENTS = 400 };

typedef struct EmitLoop {
  int number;              /* of its labels */
  bool continues, is_left; /* they are used */
} EmitLoop;

typedef struct Derivative {
  Emit *e;
  const SemaOutput *typed;
  const IrKernel *kernel;
  bool *is_in_table; /* by id of an inst */
  int locals;        /* visible ones */
  bool is_large;     /* more than MOST_STATEMENTS */
  VEC(EmitLoop) loops;
  Error *err;
} Derivative;

static bool emit_region(Derivative *d, const IrRegion *region);

static bool refuse(Derivative *d, const IrInst *at, const char *what) {
  error_set(d->err, RG_ERROR_UNSUPPORTED, "arch = \"lua\" has no derivative of %s", what);
  d->err->line = at->line;
  d->err->column = at->column;
  return error_hint(d->err, "use arch = \"cpu\"");
}

static bool refuse_op(Derivative *d, const IrInst *inst) {
  if (inst->op == IR_INVOKE) return refuse(d, inst, "kernels with recursive functions");
  return error_set(d->err, RG_ERROR_INTERNAL, "arch = \"lua\" does not know '%s'",
                   ir_op_info[inst->op].text);
}

/* -- values ------------------------------------------------------------------------------------ */

static void emit_value(Derivative *d, const IrInst *value) {
  Emit *e = d->e;
  if (value->op == IR_CONST && type_is_float(value->type))
    emit_float(e, value->type, ir_float_value(value));
  else if (value->op == IR_CONST) emit_integer(e, value->type, value->imm);
  else if (value->op == IR_ARG) emit_format(e, "_rg_a[%d]", (int)value->imm);
  else emit_format(e, d->is_in_table[value->id] ? "_rg_v[%d]" : "v%d", value->id);
}

/* ", a, b": the operands from one on. */
static void emit_operands(Derivative *d, const IrInst *inst, int from) {
  for (int k = from; k < inst->operand_count; k++) {
    emit_text(d->e, ", ");
    emit_value(d, inst->operands[k]);
  }
}

/* "local v7 = " */
static void emit_name(Derivative *d, const IrInst *inst) {
  d->is_in_table[inst->id] = d->is_large || d->locals >= MOST_LOCALS;
  if (!d->is_in_table[inst->id]) {
    d->locals++;
    emit_text(d->e, "local ");
  }
  emit_value(d, inst);
  emit_text(d->e, " = ");
}

static void emit_number_zero(Derivative *d, Type type) {
  if (type_is(type, TYPE_PTR)) emit_text(d->e, "false");
  else emit_zero(d->e, type, (Shape){0});
}

/* "_rg.NAME_f32(a, b)" */
static void emit_arithmetic(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s_%s(", name, type_text(inst->operands[0]->type));
  emit_value(d, inst->operands[0]);
  emit_operands(d, inst, 1);
  emit_text(d->e, ")");
}

static void emit_infix(Derivative *d, const IrInst *inst, const char *sign) {
  emit_value(d, inst->operands[0]);
  emit_format(d->e, " %s ", sign);
  emit_value(d, inst->operands[1]);
}

static const char *comparison_sign(IrOp op) {
  switch (op) {
  case IR_EQ: return "==";
  case IR_NE: return "~=";
  case IR_LT: return "<";
  case IR_LE: return "<=";
  case IR_GT: return ">";
  default: return ">=";
  }
}

/* "_rg.NAME(a, b)" */
static void emit_helper(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s(", name);
  if (inst->operand_count) emit_value(d, inst->operands[0]);
  emit_operands(d, inst, 1);
  emit_text(d->e, ")");
}

static void emit_conversion_of(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s_%s_%s(", name, type_text(inst->type),
              type_text(inst->operands[0]->type));
  emit_value(d, inst->operands[0]);
  emit_text(d->e, ")");
}

/* "_rg.item_of(LIST, index, zero)" */
static void emit_item_of(Derivative *d, const IrInst *inst, const IrInst *index) {
  emit_text(d->e, ", ");
  emit_value(d, index);
  emit_text(d->e, ", ");
  emit_number_zero(d, inst->type);
  emit_text(d->e, ")");
}

static void emit_pick(Derivative *d, const IrInst *pick) {
  emit_text(d->e, "_rg.item_of({[0] = ");
  emit_value(d, pick->operands[1]);
  emit_operands(d, pick, 2);
  emit_text(d->e, "}");
  emit_item_of(d, pick, pick->operands[0]);
}

/* -- elements ---------------------------------------------------------------------------------- */

/* "_rg_x[3].NAME(" of the PLACE that is operand 0. */
static void emit_access(Derivative *d, const IrInst *access, const char *name) {
  emit_format(d->e, "_rg_x[%d].%s(", access->operands[0]->field, name);
}

/* "i, j)" */
static void emit_place(Derivative *d, const IrInst *place, bool is_first) {
  for (int k = 0; k < place->operand_count; k++) {
    if (k || !is_first) emit_text(d->e, ", ");
    emit_value(d, place->operands[k]);
  }
  emit_text(d->e, ")");
}

static void emit_load(Derivative *d, const IrInst *load) {
  emit_access(d, load, "get");
  emit_place(d, load->operands[0], true);
}

static void emit_store(Derivative *d, const IrInst *store) {
  emit_access(d, store, store->further ? "set_inside" : "set");
  emit_value(d, store->operands[1]);
  emit_place(d, store->operands[0], false);
}

static void emit_update_of(Derivative *d, const IrInst *update, const char *name) {
  const IrInst *place = update->operands[0];
  emit_access(d, update, name);
  emit_format(d->e, "_rg.%s_%s, ", ir_update_text((IrUpdate)update->imm),
              type_text(d->kernel->fields.items[place->field].type));
  emit_value(d, update->operands[1]);
  emit_place(d, place, false);
}

static void emit_swap(Derivative *d, const IrInst *cas) {
  emit_access(d, cas, "swap");
  emit_value(d, cas->operands[1]);
  emit_text(d->e, ", ");
  emit_value(d, cas->operands[2]);
  emit_place(d, cas->operands[0], false);
}

/* -- cells ------------------------------------------------------------------------------------- */

static void emit_on_level(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s(_rg_l[%d]", name, inst->level);
  emit_operands(d, inst, 0);
  emit_text(d->e, ")");
}

/* "_rg.length(_rg_l[0], {0, i, j}": of the list at the first indices; returns their number. */
static int emit_on_list(Derivative *d, const IrInst *inst, const char *name) {
  int count = d->kernel->levels.items[inst->level].node->rank - 1;
  emit_format(d->e, "_rg.%s(_rg_l[%d], {0", name, inst->level);
  for (int k = 0; k < count; k++) {
    emit_text(d->e, ", ");
    emit_value(d, inst->operands[k]);
  }
  emit_text(d->e, "}");
  return count;
}

static void emit_append(Derivative *d, const IrInst *append) {
  emit_operands(d, append, emit_on_list(d, append, "append"));
  emit_text(d->e, ")");
}

static void emit_pop(Derivative *d, const IrInst *pop) {
  int first = d->kernel->levels.items[pop->level].node->rank - 1;
  for (int k = first; k < pop->operand_count; k++) {
    if (k > first) emit_text(d->e, ", ");
    emit_value(d, pop->operands[k]);
  }
  emit_text(d->e, " = ");
  emit_on_list(d, pop, "pop_numbers");
  emit_text(d->e, ")");
}

/* -- arrays of the log, and of kernels: Lua's collector counts their references ---------------- */

/* NULL: there is none. */
static const char *name_of_call(RtEntry entry) {
  switch (entry) {
  case RT_ARRAY_NEW: return "memory_new";
  case RT_ARRAY_TIMES: return "mul_i64";
  case RT_ARRAY_EXTENT: return "memory_set_extent";
  case RT_ARRAY_LENGTH: return "memory_length";
  case RT_ARRAY_AXIS: return "memory_extent";
  case RT_ARRAY_INDEX: return "memory_index";
  case RT_ARRAY_HAS: return "memory_has";
  case RT_ARRAY_AT:
  case RT_ARRAY_READ: return "memory_at";
  case RT_ARRAY_EXCHANGE: return "memory_exchange";
  case RT_ARRAY_APPEND: return "memory_append";
  case RT_ARRAY_POP: return "memory_pop";
  case RT_ARRAY_CLEAR: return "memory_clear";
  case RT_ARRAY_SLICE: return "memory_slice";
  case RT_ARRAY_OUTSIDE: return "memory_outside";
  default: return NULL;
  }
}

static bool emit_call_of(Derivative *d, const IrInst *call) {
  const char *name = name_of_call((RtEntry)call->entry);
  if (!name) return refuse(d, call, "calls of functions in C");
  emit_helper(d, call, name);
  return true;
}

static bool is_silent_call(const IrInst *call) {
  return call->entry == RT_ARRAY_UNLOCK || call->entry == RT_TOUCH;
}

static void emit_offset(Derivative *d, const IrInst *offset) {
  emit_text(d->e, "_rg.memory_offset(");
  emit_value(d, offset->operands[0]);
  emit_operands(d, offset, 1);
  emit_format(d->e, ", %d, %d)", offset->stride, (int)offset->imm);
}

static void emit_memory_load(Derivative *d, const IrInst *load) {
  emit_text(d->e, "_rg.memory_load(");
  emit_value(d, load->operands[0]);
  emit_text(d->e, ", ");
  emit_number_zero(d, load->type);
  emit_text(d->e, ")");
}

/* "_rg.memory_update(address, value, zero, _rg.add_f32)": an update, which returns the old value */
static void emit_memory_update(Derivative *d, const IrInst *update) {
  Type type = update->operands[1]->type;
  emit_text(d->e, "_rg.memory_update(");
  emit_value(d, update->operands[0]);
  emit_operands(d, update, 1);
  emit_text(d->e, ", ");
  emit_number_zero(d, type);
  emit_format(d->e, ", _rg.%s_%s)", ir_update_text((IrUpdate)update->imm), type_text(type));
}

/* -- messages ---------------------------------------------------------------------------------- */

/* Operands of messages are i64, u64 or f64; their texts depend on the type that they had. */
static void emit_said(Derivative *d, const IrInst *operand, Type type) {
  if (type_is_bool(type)) {
    emit_text(d->e, "(");
    emit_value(d, operand);
    emit_text(d->e, " ~= 0)");
    return;
  }
  emit_format(d->e, "_rg.to_%s_%s(", type_text(type), type_text(operand->type));
  emit_value(d, operand);
  emit_text(d->e, ")");
}

static void emit_said_value(Derivative *d, const SemaPiece *piece, IrInst *const *operands) {
  Emit *e = d->e;
  char name[TYPE_NAME_SIZE];
  int parts = type_parts(piece->shape);
  if (!piece->format) emit_text(e, "_rg.show(");
  else emit_format(e, "_rg.form(\"%s\", ", piece->format);
  emit_format(e, "\"%s\", %s", type_name(type_shaped(piece->type, piece->shape), name),
              type_is_scalar(piece->shape) ? "" : "{");
  for (int k = 0; k < parts; k++) {
    if (k) emit_text(e, ", ");
    emit_said(d, operands[k], piece->type);
  }
  emit_text(e, type_is_scalar(piece->shape) ? ")" : "})");
}

static void emit_message(Derivative *d, const IrInst *inst) {
  Emit *e = d->e;
  const SemaMessage *message = &d->typed->messages.items[inst->imm];
  bool is_fault = inst->op == IR_FAULT;
  int at = 0;
  emit_text(e, is_fault ? "_rg.fail(_rg_r, " : "_rg.print(_rg_r, ");
  if (is_fault) emit_format(e, "%d, ", (int)inst->imm);
  emit_text(e, "_rg.text{");
  for (int k = 0; k < message->pieces.count; k++) {
    const SemaPiece *piece = &message->pieces.items[k];
    if (k) emit_text(e, ", ");
    if (piece->kind == PIECE_VALUE) {
      emit_said_value(d, piece, inst->operands + at);
      at += type_parts(piece->shape);
    } else {
      emit_said_text(e, piece->format, piece->kind == PIECE_TEXT ? &piece->text : NULL,
                     piece->string);
    }
  }
  emit_text(e, "}");
  if (is_fault) {
    emit_text(e, ", {");
    for (int k = at; k < inst->operand_count; k++) {
      if (k > at) emit_text(e, ", ");
      emit_value(d, inst->operands[k]);
    }
    emit_text(e, "}");
  }
  emit_text(e, ")");
}

/* -- values of insts --------------------------------------------------------------------------- */

static bool emit_expression(Derivative *d, const IrInst *inst) {
  Emit *e = d->e;
  bool is_bool = inst->operand_count && type_is_bool(inst->operands[0]->type);
  switch (inst->op) {
  case IR_GET: emit_value(d, inst->operands[0]); return true;
  case IR_VAR: emit_number_zero(d, inst->type); return true;
  case IR_LOCAL_ARRAY:
    emit_format(e, "_rg.local_array(%d, ", (int)inst->imm);
    emit_number_zero(d, inst->type);
    emit_text(e, ")");
    return true;
  case IR_LOCAL_GET:
    emit_text(e, "_rg.item_of(");
    emit_value(d, inst->operands[0]);
    emit_item_of(d, inst, inst->operands[1]);
    return true;
  case IR_ITEM:
    emit_format(e, "_rg.item_of(_rg_t[%d]", (int)inst->imm);
    emit_item_of(d, inst, inst->operands[0]);
    return true;
  case IR_PICK: emit_pick(d, inst); return true;
  case IR_RANDOM_STREAM:
    emit_format(e, "_rg.random_stream(_rg_r, %s)", inst->imm ? "true" : "false");
    return true;
  case IR_RANDOM: emit_helper(d, inst, "random_bits"); return true;
  case IR_MULHI: emit_helper(d, inst, "mulhi_u64"); return true;
  case IR_SELECT: emit_helper(d, inst, "select"); return true;
  case IR_CONVERT: emit_conversion_of(d, inst, "to"); return true;
  case IR_BITCAST: emit_conversion_of(d, inst, "bits"); return true;
  case IR_BNOT:
    if (!is_bool) break;
    emit_text(e, "not ");
    emit_value(d, inst->operands[0]);
    return true;
  case IR_LOAD: emit_load(d, inst); return true;
  case IR_RMW: emit_update_of(d, inst, "rmw"); return true;
  case IR_CAS: emit_swap(d, inst); return true;
  case IR_IS_ACTIVE: emit_on_level(d, inst, "is_active"); return true;
  case IR_COUNT: emit_on_level(d, inst, "count"); return true;
  case IR_LENGTH:
    emit_on_list(d, inst, "length");
    emit_text(e, ")");
    return true;
  case IR_APPEND: emit_append(d, inst); return true;
  case IR_CALL: return emit_call_of(d, inst);
  case IR_OFFSET: emit_offset(d, inst); return true;
  case IR_MEM_LOAD: emit_memory_load(d, inst); return true;
  case IR_MEM_RMW: emit_memory_update(d, inst); return true;
  default: break;
  }
  if (ir_is_comparison(inst->op)) emit_infix(d, inst, comparison_sign(inst->op));
  else if (inst->op >= IR_ADD && inst->op <= IR_FMOD)
    emit_arithmetic(d, inst, ir_op_info[inst->op].text);
  else return refuse_op(d, inst);
  return true;
}

/* -- statements -------------------------------------------------------------------------------- */

static void emit_assignment(Derivative *d, const IrInst *to) {
  emit_value(d, to);
  emit_text(d->e, " = ");
}

static void emit_reduce(Derivative *d, const IrInst *reduce) {
  const IrInst *var = reduce->operands[0];
  emit_assignment(d, var);
  emit_format(d->e, "_rg.%s_%s(", ir_update_text((IrUpdate)reduce->imm), type_text(var->type));
  emit_value(d, var);
  emit_operands(d, reduce, 1);
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
      emit_value(d, exit->operands[at++]);
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
  *(leaves ? &loop->is_left : &loop->continues) = true;
  emit_format(d->e, "do goto _rg_%s%d end", leaves ? "leave" : "next", loop->number);
}

/* -- control ----------------------------------------------------------------------------------- */

static bool emit_if(Derivative *d, const IrInst *inst) {
  emit_text(d->e, "if ");
  emit_value(d, inst->operands[0]);
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
    emit_value(d, loop->operands[0]);
    emit_operands(d, loop, 1);
  } else if (loop->op == IR_RANGE) {
    emit_head(d, loop, scratch_format(e->scratch, "range%s", index_suffix(loop)));
    emit_value(d, loop->operands[0]);
    emit_operands(d, loop, 1);
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
  if (loop.continues) emit_format(d->e, " ::_rg_next%d::", loop.number);
  emit_text(d->e, " end");
  if (loop.is_left) emit_format(d->e, " ::_rg_leave%d::", loop.number);
  d->locals = locals;
  return true;
}

/* -- insts ------------------------------------------------------------------------------------- */

static bool is_silent(const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST:
  case IR_ARG:
  case IR_PLACE:
  case IR_ACQUIRE:
  case IR_RELEASE:
  case IR_DISOWN: return true;
  case IR_CALL: return is_silent_call(inst);
  default: return false;
  }
}

static bool emit_statement(Derivative *d, const IrInst *inst) {
  switch (inst->op) {
  case IR_SET:
  case IR_OWN:
  case IR_MOVE:
    emit_assignment(d, inst->operands[0]);
    emit_value(d, inst->operands[1]);
    return true;
  case IR_LOCAL_SET: emit_helper(d, inst, "local_set"); return true;
  case IR_REDUCE: emit_reduce(d, inst); return true;
  case IR_STORE: emit_store(d, inst); return true;
  case IR_UPDATE: emit_update_of(d, inst, inst->further ? "update_inside" : "update"); return true;
  case IR_ACTIVATE: emit_on_level(d, inst, "activate"); return true;
  case IR_DEACTIVATE: emit_on_level(d, inst, "deactivate"); return true;
  case IR_CLEAR: emit_on_level(d, inst, "clear"); return true;
  case IR_POP: emit_pop(d, inst); return true;
  case IR_MEM_STORE: emit_helper(d, inst, "memory_store"); return true;
  case IR_MEM_UPDATE: emit_memory_update(d, inst); return true;
  case IR_PRINT:
  case IR_FAULT: emit_message(d, inst); return true;
  case IR_BREAK:
  case IR_CONTINUE:
  case IR_RETURN: emit_exit(d, inst); return true;
  case IR_IF: return emit_if(d, inst);
  case IR_LOOP:
  case IR_FOR:
  case IR_RANGE:
  case IR_ACTIVE: return emit_loop(d, inst);
  case IR_CALL: return emit_call_of(d, inst);
  default: return refuse_op(d, inst);
  }
}

/* Lines of the text are the user's as far as they only rise, as those of a tangent do. */
static void advance(Derivative *d, const IrInst *inst) {
  Emit *e = d->e;
  if (inst->line > e->line && inst->line <= e->s->input->ast->function->end.line)
    emit_line(e, (Pos){.line = inst->line});
}

static bool emit_inst(Derivative *d, const IrInst *inst) {
  if (is_silent(inst)) return true;
  advance(d, inst);
  emit_text(d->e, " ");
  bool is_value = !type_is_none(inst->type);
  if (is_value) emit_name(d, inst);
  bool ok = is_value ? emit_expression(d, inst) : emit_statement(d, inst);
  emit_text(d->e, ";");
  return ok;
}

/* The insts from `inst` on that can be a function of their own, as none leaves it. Returns the one
 * after them; NULL with *ok false on failure. */
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
  const char *path; /* from its field to the one meant: "grad.dual" */
} Origin;

static int component_of(const SNode *node, int component, bool is_dual) {
  if (component < 0) return -1;
  const SNodeComponent *of = &node->components[component];
  return (is_dual ? of->dual : of->gradient) - 1;
}

/* Which field of the launch a component of a node belongs to: itself, or as the field of
 * derivatives of one. */
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

/* Which number of an element the field of an array is. */
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

/* A level that only the derivative has is that of a field. */
static void emit_level(Derivative *d, int number) {
  const SNode *node = d->kernel->levels.items[number].node;
  SemaArg source = {0};
  if (number < d->typed->levels.count) {
    source = d->typed->levels.items[number];
  } else {
    int k = 0;
    while (d->kernel->fields.items[k].node != node) k++;
    source = d->typed->fields.items[k];
  }
  emit_format(d->e, " %d", emit_value_number(d->e, source));
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
      emit_value(d, &value);
    }
    emit_text(e, "}");
  }
  emit_text(e, "}; ");
}

/* The first line, with the fields and levels of the IR after what every text has there. */
static bool emit_head_line(Derivative *d) {
  Emit *e = d->e;
  emit_text(e, "--[=[");
  emit_types(e);
  emit_text(e, "|");
  for (int k = 0; k < d->kernel->fields.count; k++)
    if (!emit_field(d, &d->kernel->fields.items[k])) return false;
  emit_text(e, " |");
  for (int k = 0; k < d->kernel->levels.count; k++) emit_level(d, k);
  emit_text(e, " ]=] ");
  return true;
}

/* Arrays of the script are no memory, as those of the kernel are. */
static bool check_arrays(Derivative *d) {
  const SemaOutput *typed = d->typed;
  bool has_arrays = false;
  for (int k = 0; k < typed->args.count; k++) has_arrays |= typed->args.items[k].kind == ARG_HEADER;
  for (int k = 0; k < typed->results.count && d->kernel->results.count; k++)
    has_arrays |= type_has_arrays(d->e->s->input->types, typed->results.items[k]);
  IrInst kernel = {.line = d->e->s->input->ast->function->pos.line};
  return !has_arrays || refuse(d, &kernel, "kernels that take or return arrays as values");
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
  d.is_large = statements > MOST_STATEMENTS;
  if (!emit_head_line(&d)) return NULL;
  emit_text(e, "local _rg, _rg_f, _rg_a, _rg_r = ...; local _rg_v, _rg_x, _rg_l = {}, "
               "_rg_f.numbers, _rg_f.levels; ");
  emit_tables(&d);
  if (!emit_region(&d, typed->kernel->body)) return NULL;
  emit_end(e);
  return strbuf_end(&e->out);
}
