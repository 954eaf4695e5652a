/* attribute.c - the op table, and facts about ops that op.def states only in prose. */
#include <math.h>

#include "ir/attribute.h"
#include "ir/lanes.h"

/* the names of ir.h's flags in op.def */
enum {
  PURE = IR_PURE,
  COMMUTES = IR_COMMUTES,
  REGIONS = IR_REGIONS,
  READ = IR_READ,
  WRITE = IR_WRITE,
  UPDATE = IR_UPDATE_EFFECT,
  ACTIVATES = IR_ACTIVATES,
  DEACTIVATES = IR_DEACTIVATES,
  EXIT = IR_EXIT,
  LOW = IR_LOW,
  HIGH = IR_HIGH,
  ANYTYPE = IR_ANYTYPE,
  SLOW = IR_SLOW
};

const IrOpInfo ir_op_info[IR_OP_COUNT] = {
#define OP(NAME, TEXT, OPERANDS, FLAGS, MEANING) {TEXT, OPERANDS, FLAGS},
#include "ir/op.def"
#undef OP
};

/* Does the call change a list that no other iteration changes, or by what is the same in any order?
 * Where its chunks are does not show. */
static bool changes_own_list(const IrInst *inst) {
  int64_t way;
  if (ir_is_call(inst, RT_DYNAMIC_APPEND))
    return ir_is_const(inst->operands[3], &way) && way == RT_LIST_OWN;
  if (ir_is_call(inst, RT_DYNAMIC_ENSURE)) return ir_is_const(inst->operands[3], &way) && !way;
  return ir_is_call(inst, RT_DYNAMIC_CLEAR);
}

bool ir_is_order_dependent(const IrInst *inst) {
  if (inst->op == IR_INVOKE || inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS) return true;
  if (changes_own_list(inst)) return false;
  bool pops = ir_has_entry(inst->op) && inst->entry == RT_DYNAMIC_POP;
  if (pops || ir_effects(inst) & IR_TOPOLOGY) return true;
  bool adds = inst->op == IR_REDUCE || (inst->op == IR_MEM_UPDATE && !inst->nonatomic);
  return adds && type_is_float(inst->operands[1]->type);
}

int ir_effects(const IrInst *inst) {
  DEBUG_ASSERT((unsigned)inst->op < IR_OP_COUNT, "the op is a row of op.def");
  const int effects = IR_PURE | IR_READ | IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY | IR_EXIT;
  int flags = ir_has_entry(inst->op) ? ir_entries[inst->entry].flags : ir_op_info[inst->op].flags;
  return flags & effects;
}

IrOp ir_update_op(IrUpdate op) {
  static const IrOp ops[IR_UPDATE_COUNT] = {
      [IR_UPDATE_ADD] = IR_ADD,           [IR_UPDATE_SUB] = IR_SUB, [IR_UPDATE_MUL] = IR_MUL,
      [IR_UPDATE_DIV] = IR_DIV,           [IR_UPDATE_MIN] = IR_MIN, [IR_UPDATE_MAX] = IR_MAX,
      [IR_UPDATE_BAND] = IR_BAND,         [IR_UPDATE_BOR] = IR_BOR, [IR_UPDATE_BXOR] = IR_BXOR,
      [IR_UPDATE_FLOORDIV] = IR_FLOORDIV, [IR_UPDATE_MOD] = IR_MOD, [IR_UPDATE_POW] = IR_POW,
      [IR_UPDATE_SHL] = IR_SHL,           [IR_UPDATE_SHR] = IR_SHR, [IR_UPDATE_SAR] = IR_SAR};
  ASSERT((unsigned)op < IR_UPDATE_COUNT && ops[op], "an update is an exchange, or a binary op");
  return ops[op];
}

const char *ir_update_text(IrUpdate op) {
  if ((unsigned)op >= IR_UPDATE_COUNT) return "?";
  return op == IR_UPDATE_EXCHANGE ? "exchange" : ir_op_info[ir_update_op(op)].text;
}

bool ir_update_combines(IrUpdate op) {
  switch (op) {
  case IR_UPDATE_ADD:
  case IR_UPDATE_SUB:
  case IR_UPDATE_MIN:
  case IR_UPDATE_MAX:
  case IR_UPDATE_BAND:
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR: return true;
  default: return false;
  }
}

int64_t ir_update_identity(IrUpdate op, Type type) {
  bool is_float = type_is_float(type);
  int64_t least = type_is_signed(type) ? (int64_t)(UINT64_MAX << (type_bits(type) - 1)) : 0;
  switch (op) {
  case IR_UPDATE_MUL:
  case IR_UPDATE_DIV: return is_float ? ir_float_bits(1) : 1;
  case IR_UPDATE_MIN: return is_float ? ir_float_bits(INFINITY) : ~least;
  case IR_UPDATE_MAX: return is_float ? ir_float_bits(-INFINITY) : least;
  case IR_UPDATE_BAND: return -1;
  /* x + -0 is x for every x */
  default: return is_float ? ir_float_bits(-0.0) : 0;
  }
}

IrImm ir_imm_kind(const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST: return IMM_CONST;
  case IR_PARAM:
  case IR_ARG:
  case IR_FRAME_GET:
  case IR_FRAME_SET:
  case IR_FRAME_LOAD:
  case IR_BREAK:
  case IR_CONTINUE:
  case IR_RUN:
  case IR_PRINT:
  case IR_FAULT:
  case IR_INVOKE:
  case IR_TABLE_GET:
  case IR_LOCAL_ARRAY:
  case IR_STACK:
  case IR_SHARED:
  case IR_SHUFFLE:
  case IR_ALL_GATHER:
  case IR_GATHERED: return IMM_NUMBER;
  case IR_UPDATE:
  case IR_RMW:
  case IR_REDUCE:
  case IR_LANES_REDUCE:
  case IR_MEM_UPDATE:
  case IR_LANES_UPDATE:
  case IR_MEM_RMW: return IMM_UPDATE;
  case IR_TREE_ROOT:
  case IR_PRIVATE_COPY: return IMM_TREE;
  case IR_CALL:
  case IR_LANES_CALL:
    if (ir_entry_takes((RtEntry)inst->entry, IR_PARAM_MANAGER)) return IMM_MANAGER;
    return ir_entry_takes((RtEntry)inst->entry, IR_PARAM_MASK) ? IMM_MASK : IMM_OTHER;
  case IR_OFFSET:
  case IR_ROW_LOAD: return IMM_BYTES;
  case IR_STEP: return IMM_NUMBER;
  default: return IMM_OTHER;
  }
}

bool ir_has_field(IrOp op) { return op == IR_PLACE || op == IR_CELL; }

bool ir_has_level(IrOp op) {
  switch (op) {
  case IR_ACTIVE:
  case IR_ACTIVATE:
  case IR_DEACTIVATE:
  case IR_IS_ACTIVE:
  case IR_COUNT:
  case IR_CLEAR:
  case IR_LEAVES:
  case IR_NEIGHBOUR:
  case IR_ENSURE:
  case IR_APPEND:
  case IR_POP:
  case IR_LENGTH:
  case IR_ACTIVE_BITS:
  case IR_SAVE_MASKS: return true;
  default: return false;
  }
}

bool ir_has_tree(const IrInst *inst) {
  return ir_has_entry(inst->op) && ir_entry_takes((RtEntry)inst->entry, IR_PARAM_TREE);
}

bool ir_has_offset(IrOp op) { return op == IR_NEIGHBOUR || op == IR_ENSURE || op == IR_CELL; }
bool ir_has_extent(IrOp op) { return op == IR_GRID || op == IR_ROW_LOAD; }

int ir_axes_in_use(const IrInst *inst, const int32_t *axes) {
  if (!axes) return 0;
  int last = SNODE_MAX_AXES;
  while (last > 0 && axes[last - 1] == 0) last--;
  bool counts = inst->op != IR_ENSURE; /* whose offset is 0 */
  return counts && inst->axis_count > last ? inst->axis_count : last;
}

const char *ir_foreign_attribute(const IrInst *inst) {
#define IS(NAME) (inst->op == IR_##NAME)
#define ATTRIBUTE(member, word, kind, ops) \
  if (inst->member && !(ops)) return word;
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef IS
  if ((inst->offset != NULL) != ir_has_offset(inst->op)) return "offset";
  if ((inst->extent != NULL) != ir_has_extent(inst->op)) return "extent";
  return NULL;
}

/* -- types ------------------------------------------------------------------------------------- */

enum { LANE_COUNTS = 6 /* 2, 4 .. 64 */ };
static const char *const lane_texts[][LANE_COUNTS] = {
#define LANES(text) {text "x2", text "x4", text "x8", text "x16", text "x32", text "x64"}
#define SCALAR(NAME, TEXT, ...) [TYPE_##NAME] = LANES(TEXT),
#include "type/type.def"
#undef SCALAR
    [TYPE_PTR] = LANES("ptr")};
#undef LANES

static bool parse_lanes(Str text, Type *type) {
  for (int kind = TYPE_NONE + 1; kind <= TYPE_PTR; kind++)
    for (int k = 0; k < LANE_COUNTS; k++) {
      if (!str_is(text, lane_texts[kind][k])) continue;
      *type = ir_lanes_type(type_scalar((ScalarKind)kind), 2 << k);
      return true;
    }
  return false;
}

const char *ir_type_text(Type type) {
  if (type_is_vector(type) && ir_is_lanes(type_rows(type)))
    return lane_texts[type_scalar_kind(type)][__builtin_ctz((unsigned)type_rows(type)) - 1];
  if (type_is(type, TYPE_PTR)) return "ptr";
  if (type_is(type, TYPE_PLACE)) return "place";
  return type_text(type);
}

bool ir_type_parse(Str text, Type *type) {
  if (str_is(text, "ptr")) return *type = TYPE(PTR), true;
  if (str_is(text, "place")) return *type = TYPE(PLACE), true;
  if (parse_lanes(text, type)) return true;
  return type_parse(text, type) && type_is_scalar(*type) && !type_is_none(*type);
}
