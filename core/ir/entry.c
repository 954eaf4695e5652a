/* entry.c - the table of entry points, and the verification of calls. */
#include "ir/entry.h"

#include "ir/ir.h"

/* the names of ir.h's flags in entry.def */
enum {
  READ = IR_READ,
  WRITE = IR_WRITE,
  ACTIVATES = IR_ACTIVATES,
  DEACTIVATES = IR_DEACTIVATES,
  ONCE = IR_ONCE,
  HAS_LANES = IR_HAS_LANES
};

#define RESULT_VOID TYPE_NONE
#define RESULT_PTR(type) TYPE_PTR
#define RESULT_BOOL TYPE_BOOL
#define RESULT_I32 TYPE_I32
#define RESULT_I64 TYPE_I64
#define RESULT_U64 TYPE_U64
#define RESULT_INDEX TYPE_I64
#define RESULT_F64 TYPE_F64
#define CONTEXT IR_PARAM_CONTEXT
#define WORKER IR_PARAM_WORKER
#define TREE IR_PARAM_TREE
#define MANAGER IR_PARAM_MANAGER
#define MASK IR_PARAM_MASK
#define PTR(type, name) IR_PARAM_PTR
#define I32(name) IR_PARAM_I32
#define U32(name) IR_PARAM_U32
#define I64(name) IR_PARAM_I64
#define F64(name) IR_PARAM_F64
#define INDEX(name) IR_PARAM_INDEX
#define SIZE(name) IR_PARAM_SIZE
#define NUMBER(name) IR_PARAM_NUMBER
#define AXIS IR_PARAM_AXIS
#define FLAG(name) IR_PARAM_FLAG
#define COORDINATES IR_PARAM_COORDINATES
#define LIST(...) __VA_ARGS__

const IrEntry ir_entries[RT_ENTRY_COUNT] = {
#define ENTRY(NAME, FUNCTION, RESULT, HOME, EFFECTS, PARAMETERS, MEANING) \
  { \
      #FUNCTION, \
      RESULT_##RESULT, \
      IR_HOME_##HOME, \
      EFFECTS, \
      sizeof((uint8_t[]){LIST PARAMETERS}), \
      {LIST PARAMETERS}},
#include "entry.def"
#undef ENTRY
};

RtEntry ir_entry_find(Str name) {
  int entry = 0;
  while (entry < RT_ENTRY_COUNT && !str_is(name, ir_entries[entry].name)) entry++;
  return (RtEntry)entry;
}

bool ir_entry_takes(RtEntry entry, IrParam param) {
  ASSERT((unsigned)entry < RT_ENTRY_COUNT, "the entry is a row of entry.def");
  for (int i = 0; i < ir_entries[entry].param_count; i++)
    if (ir_entries[entry].params[i] == param) return true;
  return false;
}

const char *ir_inst_text(const IrInst *inst) {
  if ((unsigned)inst->op >= IR_OP_COUNT) return "?";
  bool is_named = ir_has_entry(inst->op) && (unsigned)inst->entry < RT_ENTRY_COUNT;
  return is_named ? ir_entries[inst->entry].name : ir_op_info[inst->op].text;
}

/* -- verification of calls --------------------------------------------------------------------- */

typedef struct Requirement {
  const char *sentence; /* NULL: the operand is implicit, code generation passes it */
  ScalarKind type;
  bool is_constant;
  int64_t low, high;
} Requirement;

static const Requirement requirements[] =
    {/* by IrParam */
     [IR_PARAM_PTR] = {.sentence = "needs an address", .type = TYPE_PTR},
     [IR_PARAM_I32] = {.sentence = "needs an i32", .type = TYPE_I32},
     [IR_PARAM_U32] = {.sentence = "needs a u32", .type = TYPE_U32},
     [IR_PARAM_I64] = {.sentence = "needs an i64", .type = TYPE_I64},
     [IR_PARAM_F64] = {.sentence = "needs an f64", .type = TYPE_F64},
     [IR_PARAM_INDEX] = {.sentence = "needs an i64", .type = TYPE_I64},
     [IR_PARAM_SIZE] = {"needs an i32 constant above 0", TYPE_I32, true, 1, INT32_MAX},
     [IR_PARAM_NUMBER] = {"needs an i32 constant from 0 on", TYPE_I32, true, 0, INT32_MAX},
     [IR_PARAM_AXIS] = {"needs an i32 constant from 0 to 7", TYPE_I32, true, 0, RT_MAX_AXES - 1},
     [IR_PARAM_FLAG] = {"needs an i32 constant, 0 or 1", TYPE_I32, true, 0, 1},
     [IR_PARAM_COORDINATES] = {.sentence = "coordinates are i64", .type = TYPE_I64}};

static bool fits(const IrInst *operand, const Requirement *required) {
  int64_t value;
  if (!type_is(type_element(operand->type), required->type)) return false;
  if (!required->is_constant) return true;
  return ir_is_const(operand, &value) && value >= required->low && value <= required->high;
}

const char *ir_call_refusal(const IrInst *call, bool in_body) {
  ASSERT(ir_has_entry(call->op) && (unsigned)call->entry < RT_ENTRY_COUNT, "a call of an entry");
  const IrEntry *entry = &ir_entries[call->entry];
  if (entry->home > IR_HOME_BODY) return "is not called by kernels";
  if (entry->home == IR_HOME_HOST && in_body) return "belongs in the host region";
  if (entry->home == IR_HOME_BODY && !in_body) return "belongs in a parallel loop";
  int at = 0, count = call->operand_count - (call->op == IR_LANES_CALL); /* without the mask */
  if (call->op == IR_LANES_CALL && !(entry->flags & IR_HAS_LANES)) return "has no form in lanes";
  for (int i = 0; i < entry->param_count; i++) {
    const Requirement *required = &requirements[entry->params[i]];
    if (!required->sentence) continue;
    bool is_last = entry->params[i] == IR_PARAM_COORDINATES;
    int last = is_last ? count - 1 : at;
    if (at > last || last >= count || last - at >= SNODE_MAX_AXES)
      return "wrong number of operands";
    for (; at <= last; at++)
      if (!fits(call->operands[at], required)) return required->sentence;
  }
  if (at != count) return "wrong number of operands";
  Type own = type_is_none(call->type) ? call->type : type_element(call->type);
  return type_equal(own, type_scalar(entry->result)) ? NULL : "has the wrong result type";
}
