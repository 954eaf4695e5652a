/* emit_ir.c - see emit_ir.h. A Lua function has at most 200 locals, so values beyond a limit are in
 * the table _rg_v. */
#include "emit_lua/emit_ir.h"

enum { MAX_LOCALS = 120 };

bool emit_ir_refuse(Derivative *d, const IrInst *at, const char *what) {
  error_set(d->err, RG_ERROR_UNSUPPORTED, "arch = \"lua\" has no derivative of %s", what);
  d->err->line = at->line;
  d->err->column = at->column;
  return error_hint(d->err, "use arch = \"cpu\"");
}

bool emit_ir_refuse_op(Derivative *d, const IrInst *inst) {
  if (inst->op == IR_INVOKE) return emit_ir_refuse(d, inst, "kernels with recursive functions");
  return error_set(d->err, RG_ERROR_INTERNAL, "arch = \"lua\" does not know '%s'",
                   ir_op_info[inst->op].text);
}

/* -- values ------------------------------------------------------------------------------------ */

void emit_ir_value(Derivative *d, const IrInst *value) {
  Emit *e = d->e;
  if (value->op == IR_CONST && type_is_float(value->type))
    emit_float(e, value->type, ir_float_value(value));
  else if (value->op == IR_CONST) emit_integer(e, value->type, value->imm);
  else if (value->op == IR_ARG) emit_format(e, "_rg_a[%d]", (int)value->imm);
  else emit_format(e, d->is_in_table[value->id] ? "_rg_v[%d]" : "v%d", value->id);
}

void emit_ir_operands(Derivative *d, const IrInst *inst, int from) {
  for (int k = from; k < inst->operand_count; k++) {
    emit_text(d->e, ", ");
    emit_ir_value(d, inst->operands[k]);
  }
}

void emit_ir_declare(Derivative *d, const IrInst *inst) {
  d->is_in_table[inst->id] = d->is_large || d->locals >= MAX_LOCALS;
  if (!d->is_in_table[inst->id]) {
    d->locals++;
    emit_text(d->e, "local ");
  }
  emit_ir_value(d, inst);
  emit_text(d->e, " = ");
}

static void emit_number_zero(Derivative *d, Type type) {
  if (type_is(type, TYPE_PTR)) emit_text(d->e, "false");
  else emit_zero(d->e, type, (Shape){0});
}

/* "_rg.NAME_f32(a, b)" */
static void emit_arithmetic(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s_%s(", name, type_text(inst->operands[0]->type));
  emit_ir_value(d, inst->operands[0]);
  emit_ir_operands(d, inst, 1);
  emit_text(d->e, ")");
}

static void emit_comparison(Derivative *d, const IrInst *inst, const char *operator) {
  emit_ir_value(d, inst->operands[0]);
  emit_format(d->e, " %s ", operator);
  emit_ir_value(d, inst->operands[1]);
}

static const char *comparison_operator(IrOp op) {
  switch (op) {
  case IR_EQ: return "==";
  case IR_NE: return "~=";
  case IR_LT: return "<";
  case IR_LE: return "<=";
  case IR_GT: return ">";
  default: return ">=";
  }
}

void emit_ir_helper(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s(", name);
  if (inst->operand_count) emit_ir_value(d, inst->operands[0]);
  emit_ir_operands(d, inst, 1);
  emit_text(d->e, ")");
}

static void emit_conversion_of(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s_%s_%s(", name, type_text(inst->type),
              type_text(inst->operands[0]->type));
  emit_ir_value(d, inst->operands[0]);
  emit_text(d->e, ")");
}

/* "_rg.item_of(LIST, index, zero)" */
static void emit_item_of(Derivative *d, const IrInst *inst, const IrInst *index) {
  emit_text(d->e, ", ");
  emit_ir_value(d, index);
  emit_text(d->e, ", ");
  emit_number_zero(d, inst->type);
  emit_text(d->e, ")");
}

static void emit_pick(Derivative *d, const IrInst *pick) {
  emit_text(d->e, "_rg.item_of({[0] = ");
  emit_ir_value(d, pick->operands[1]);
  emit_ir_operands(d, pick, 2);
  emit_text(d->e, "}");
  emit_item_of(d, pick, pick->operands[0]);
}

/* -- elements ---------------------------------------------------------------------------------- */

/* "_rg_x[3].NAME(" of the PLACE that is operand 0. */
static void emit_access(Derivative *d, const IrInst *access, const char *name) {
  emit_format(d->e, "_rg_x[%d].%s(", access->operands[0]->field, name);
}

/* "i, j)" */
static void emit_place_indices(Derivative *d, const IrInst *place, bool is_first) {
  for (int k = 0; k < place->operand_count; k++) {
    if (k || !is_first) emit_text(d->e, ", ");
    emit_ir_value(d, place->operands[k]);
  }
  emit_text(d->e, ")");
}

static void emit_load(Derivative *d, const IrInst *load) {
  emit_access(d, load, "get");
  emit_place_indices(d, load->operands[0], true);
}

void emit_ir_store(Derivative *d, const IrInst *store) {
  emit_access(d, store, store->uncounted ? "set_inside" : "set");
  emit_ir_value(d, store->operands[1]);
  emit_place_indices(d, store->operands[0], false);
}

void emit_ir_update(Derivative *d, const IrInst *update, const char *name) {
  const IrInst *place = update->operands[0];
  emit_access(d, update, name);
  emit_format(d->e, "_rg.%s_%s, ", ir_update_text((IrUpdate)update->imm),
              type_text(d->kernel->fields.items[place->field].type));
  emit_ir_value(d, update->operands[1]);
  emit_place_indices(d, place, false);
}

static void emit_swap(Derivative *d, const IrInst *cas) {
  emit_access(d, cas, "swap");
  emit_ir_value(d, cas->operands[1]);
  emit_text(d->e, ", ");
  emit_ir_value(d, cas->operands[2]);
  emit_place_indices(d, cas->operands[0], false);
}

/* -- cells ------------------------------------------------------------------------------------- */

void emit_ir_on_level(Derivative *d, const IrInst *inst, const char *name) {
  emit_format(d->e, "_rg.%s(_rg_l[%d]", name, inst->level);
  emit_ir_operands(d, inst, 0);
  emit_text(d->e, ")");
}

/* "_rg.length(_rg_l[0], {0, i, j}": of the list at the first indices; returns their number. */
static int emit_on_list(Derivative *d, const IrInst *inst, const char *name) {
  int count = d->kernel->levels.items[inst->level].node->rank - 1;
  emit_format(d->e, "_rg.%s(_rg_l[%d], {0", name, inst->level);
  for (int k = 0; k < count; k++) {
    emit_text(d->e, ", ");
    emit_ir_value(d, inst->operands[k]);
  }
  emit_text(d->e, "}");
  return count;
}

static void emit_append(Derivative *d, const IrInst *append) {
  emit_ir_operands(d, append, emit_on_list(d, append, "append"));
  emit_text(d->e, ")");
}

void emit_ir_pop(Derivative *d, const IrInst *pop) {
  int first = d->kernel->levels.items[pop->level].node->rank - 1;
  for (int k = first; k < pop->operand_count; k++) {
    if (k > first) emit_text(d->e, ", ");
    emit_ir_value(d, pop->operands[k]);
  }
  emit_text(d->e, " = ");
  emit_on_list(d, pop, "pop_numbers");
  emit_text(d->e, ")");
}

/* -- arrays of the tape and of kernels: Lua's collector counts their references ---------------- */

/* NULL: there is none. */
static const char *runtime_function(RtEntry entry) {
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

bool emit_ir_call(Derivative *d, const IrInst *call) {
  const char *name = runtime_function((RtEntry)call->entry);
  if (!name) return emit_ir_refuse(d, call, "calls of functions in C");
  emit_ir_helper(d, call, name);
  return true;
}

bool emit_ir_call_is_empty(const IrInst *call) {
  return call->entry == RT_ARRAY_UNLOCK || call->entry == RT_TOUCH;
}

static void emit_offset(Derivative *d, const IrInst *offset) {
  emit_text(d->e, "_rg.memory_offset(");
  emit_ir_value(d, offset->operands[0]);
  emit_ir_operands(d, offset, 1);
  emit_format(d->e, ", %d, %d)", offset->stride, (int)offset->imm);
}

static void emit_memory_load(Derivative *d, const IrInst *load) {
  emit_text(d->e, "_rg.memory_load(");
  emit_ir_value(d, load->operands[0]);
  emit_text(d->e, ", ");
  emit_number_zero(d, load->type);
  emit_text(d->e, ")");
}

void emit_ir_memory_update(Derivative *d, const IrInst *update) {
  Type type = update->operands[1]->type;
  emit_text(d->e, "_rg.memory_update(");
  emit_ir_value(d, update->operands[0]);
  emit_ir_operands(d, update, 1);
  emit_text(d->e, ", ");
  emit_number_zero(d, type);
  emit_format(d->e, ", _rg.%s_%s)", ir_update_text((IrUpdate)update->imm), type_text(type));
}

/* -- messages ---------------------------------------------------------------------------------- */

/* Operands of messages are i64, u64 or f64; their texts depend on the type that they had. */
static void emit_message_number(Derivative *d, const IrInst *operand, Type type) {
  if (type_is_bool(type)) {
    emit_text(d->e, "(");
    emit_ir_value(d, operand);
    emit_text(d->e, " ~= 0)");
    return;
  }
  emit_format(d->e, "_rg.to_%s_%s(", type_text(type), type_text(operand->type));
  emit_ir_value(d, operand);
  emit_text(d->e, ")");
}

static void emit_message_value(Derivative *d, const SemaPiece *piece, IrInst *const *operands) {
  Emit *e = d->e;
  char name[TYPE_NAME_SIZE];
  int parts = type_parts(piece->shape);
  if (!piece->format) emit_text(e, "_rg.show(");
  else emit_format(e, "_rg.form(\"%s\", ", piece->format);
  emit_format(e, "\"%s\", %s", type_name(type_shaped(piece->type, piece->shape), name),
              type_is_scalar(piece->shape) ? "" : "{");
  for (int k = 0; k < parts; k++) {
    if (k) emit_text(e, ", ");
    emit_message_number(d, operands[k], piece->type);
  }
  emit_text(e, type_is_scalar(piece->shape) ? ")" : "})");
}

void emit_ir_message(Derivative *d, const IrInst *inst) {
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
      emit_message_value(d, piece, inst->operands + at);
      at += type_parts(piece->shape);
    } else {
      emit_message_text(e, piece->format, piece->kind == PIECE_TEXT ? &piece->text : NULL,
                        piece->string);
    }
  }
  emit_text(e, "}");
  if (is_fault) {
    emit_text(e, ", {");
    for (int k = at; k < inst->operand_count; k++) {
      if (k > at) emit_text(e, ", ");
      emit_ir_value(d, inst->operands[k]);
    }
    emit_text(e, "}");
  }
  emit_text(e, ")");
}

/* -- values of insts --------------------------------------------------------------------------- */

bool emit_ir_expression(Derivative *d, const IrInst *inst) {
  Emit *e = d->e;
  bool is_bool = inst->operand_count && type_is_bool(inst->operands[0]->type);
  switch (inst->op) {
  case IR_GET: emit_ir_value(d, inst->operands[0]); return true;
  case IR_VAR: emit_number_zero(d, inst->type); return true;
  case IR_LOCAL_ARRAY:
    emit_format(e, "_rg.local_array(%d, ", (int)inst->imm);
    emit_number_zero(d, inst->type);
    emit_text(e, ")");
    return true;
  case IR_LOCAL_GET:
    emit_text(e, "_rg.item_of(");
    emit_ir_value(d, inst->operands[0]);
    emit_item_of(d, inst, inst->operands[1]);
    return true;
  case IR_TABLE_GET:
    emit_format(e, "_rg.item_of(_rg_t[%d]", (int)inst->imm);
    emit_item_of(d, inst, inst->operands[0]);
    return true;
  case IR_PICK: emit_pick(d, inst); return true;
  case IR_RANDOM_STREAM:
    emit_format(e, "_rg.random_stream(_rg_r, %s)", inst->imm ? "true" : "false");
    return true;
  case IR_RANDOM: emit_ir_helper(d, inst, "random_bits"); return true;
  case IR_MULHI: emit_ir_helper(d, inst, "mulhi_u64"); return true;
  case IR_SELECT: emit_ir_helper(d, inst, "select"); return true;
  case IR_CONVERT: emit_conversion_of(d, inst, "to"); return true;
  case IR_BITCAST: emit_conversion_of(d, inst, "bits"); return true;
  case IR_BNOT:
    if (!is_bool) break;
    emit_text(e, "not ");
    emit_ir_value(d, inst->operands[0]);
    return true;
  case IR_LOAD: emit_load(d, inst); return true;
  case IR_RMW: emit_ir_update(d, inst, "rmw"); return true;
  case IR_CAS: emit_swap(d, inst); return true;
  case IR_IS_ACTIVE: emit_ir_on_level(d, inst, "is_active"); return true;
  case IR_COUNT: emit_ir_on_level(d, inst, "count"); return true;
  case IR_LENGTH:
    emit_on_list(d, inst, "length");
    emit_text(e, ")");
    return true;
  case IR_APPEND: emit_append(d, inst); return true;
  case IR_CALL: return emit_ir_call(d, inst);
  case IR_OFFSET: emit_offset(d, inst); return true;
  case IR_MEM_LOAD: emit_memory_load(d, inst); return true;
  case IR_MEM_RMW: emit_ir_memory_update(d, inst); return true;
  default: break;
  }
  if (ir_is_comparison(inst->op)) emit_comparison(d, inst, comparison_operator(inst->op));
  else if (inst->op >= IR_ADD && inst->op <= IR_FMOD)
    emit_arithmetic(d, inst, ir_op_info[inst->op].text);
  else return emit_ir_refuse_op(d, inst);
  return true;
}
