/* verify.c - is this a valid kernel? Counts and types of operands, visibility, regions, exits,
 * table entries. Runs after every pass in debug builds, and on every kernel read from text or
 * bytes, so it trusts nothing. It walks the kernel once: a value is visible from its line to the
 * end of its region, which `visible` tracks by id. `loops` counts the LOOPs, FORs and serial RANGEs
 * and ACTIVEs that an exit may leave; inside a parallel body the count starts from 0, and a
 * CONTINUE of exactly that many levels ends the iteration. */
#include "base/bits.h"
#include "ir/access.h"
#include "ir/attribute.h"
#include "ir/facts.h"
#include "ir/lanes.h"
#include "ir/task.h"

typedef struct Verifier {
  const IrKernel *kernel;
  const IrInst **visible;
  const IrInst **seen; /* by id, including insts that are no longer visible */
  int *uses;           /* by id: uses found among the operands visited so far */
  bool is_final;
  bool in_body, in_row, in_serial;
  const IrFunction *function; /* NULL: the host region, or a task */
  int loops;
  Error *err;
} Verifier;

static bool wrong(Verifier *v, const IrInst *inst, const char *what) {
  const char *text = ir_inst_text(inst);
  if (inst->line)
    return error_set(v->err, RG_ERROR_IR, "line %d: '%s': %s", inst->line, text, what);
  return error_set(v->err, RG_ERROR_IR, "'%s': %s", text, what);
}

/* -- types ------------------------------------------------------------------------------------- */

static bool is_number(Type t) { return type_is_integer(t) || type_is_float(t); }
static bool is_integer_or_bool(Type t) { return type_is_integer(t) || type_is_bool(t); }
static bool is_element(Type t) { return type_is_scalar(t) && (is_number(t) || type_is_bool(t)); }
static bool is_pointer(Type t) { return type_is(t, TYPE_PTR); }
static bool is_mask(Type t) { return type_is_bool(t) && ir_is_lanes(type_rows(t)); }
static Type type_at(const IrInst *inst, int k) { return inst->operands[k]->type; }

static bool all_of_type(const IrInst *inst, int first, Type type) {
  for (int i = first; i < inst->operand_count; i++)
    if (!type_equal(type_at(inst, i), type)) return false;
  return true;
}

static bool all_elements(const IrInst *inst, Type element) {
  for (int i = 0; i < inst->operand_count; i++)
    if (!type_equal(type_element(type_at(inst, i)), element)) return false;
  return true;
}

static bool all_integers(const IrInst *inst, int first) {
  for (int i = first; i < inst->operand_count; i++)
    if (!type_is_integer(type_at(inst, i))) return false;
  return true;
}

/* Operands and result have one type, which the op accepts; verify_lanes compares their lanes. */
static bool verify_uniform(Verifier *v, const IrInst *inst, bool (*fits)(Type)) {
  for (int i = 0; i < inst->operand_count; i++)
    if (!type_equal(type_element(type_at(inst, i)), type_element(inst->type)))
      return wrong(v, inst, "operands and result must be of one type");
  return fits(inst->type) || wrong(v, inst, "does not take this type");
}

static bool verify_comparison(Verifier *v, const IrInst *inst) {
  if (!type_is_bool(inst->type)) return wrong(v, inst, "has a bool result");
  Type type = type_at(inst, 0);
  if (!type_equal(type, type_at(inst, 1))) return wrong(v, inst, "operands must be of one type");
  bool equality = inst->op == IR_EQ || inst->op == IR_NE;
  return is_number(type) || (equality && (type_is_bool(type) || is_pointer(type_element(type)))) ||
         wrong(v, inst, "does not take this type");
}

static bool verify_arithmetic(Verifier *v, const IrInst *inst) {
  switch (inst->op) {
  case IR_ADD:
  case IR_SUB:
  case IR_MUL:
  case IR_NEG:
  case IR_DETACH:
  case IR_MIN:
  case IR_MAX:
  case IR_ABS: return verify_uniform(v, inst, is_number);
  case IR_FLOORDIV:
  case IR_MOD:
    if (inst->reciprocal &&
        (!facts_is_frame_value(inst->operands[1]) || !type_is_integer(type_at(inst, 1)) ||
         type_bits(type_at(inst, 1)) > 32))
      return wrong(v, inst, "only 32-bit integers in the frame have a reciprocal");
    return verify_uniform(v, inst, is_number);
  case IR_BAND:
  case IR_BOR:
  case IR_BXOR:
  case IR_BNOT: return verify_uniform(v, inst, is_integer_or_bool);
  case IR_SHL:
  case IR_SHR:
  case IR_SAR:
  case IR_ROL:
  case IR_ROR:
  case IR_BSWAP:
  case IR_POPCNT:
  case IR_CLZ:
  case IR_CTZ: return verify_uniform(v, inst, type_is_integer);
  case IR_SELECT:
    if (!type_is_bool(type_at(inst, 0))) return wrong(v, inst, "operand 0 must be a bool");
    return all_of_type(inst, 1, inst->type) ||
           wrong(v, inst, "operands and result must be of one type");
  case IR_CONVERT:
    return (is_element(type_element(inst->type)) && is_element(type_element(type_at(inst, 0)))) ||
           wrong(v, inst, "converts numbers and bools");
  case IR_BITCAST:
    return (is_number(inst->type) && is_number(type_at(inst, 0)) &&
            type_size(inst->type) == type_size(type_at(inst, 0))) ||
           wrong(v, inst, "operand and result must have one size");
  default: /* DIV POW and the mathematical functions */
    return verify_uniform(v, inst, type_is_float);
  }
}

/* Does the operator of an update take numbers of this type? */
static bool takes_operator(IrUpdate op, Type type) {
  switch (op) {
  case IR_UPDATE_EXCHANGE: return true;
  case IR_UPDATE_BAND:
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR: return is_integer_or_bool(type);
  case IR_UPDATE_SHL:
  case IR_UPDATE_SHR:
  case IR_UPDATE_SAR: return type_is_integer(type);
  case IR_UPDATE_DIV:
  case IR_UPDATE_POW: return type_is_float(type);
  default: return is_number(type);
  }
}

/* Has it a number that changes none that it is combined with? */
static bool reduces(IrUpdate op, Type type) {
  return op <= IR_UPDATE_BXOR && takes_operator(op, type);
}
_Static_assert(IR_UPDATE_BXOR == IR_UPDATE_MAX + 3 && IR_UPDATE_EXCHANGE == IR_UPDATE_BXOR + 1,
               "operators of reductions come first");

/* -- lanes ------------------------------------------------------------------------------------- */

/* Operands that may be one scalar for all lanes. */
static bool may_be_shared(const IrInst *inst, int operand) {
  switch (inst->op) {
  case IR_FLOORDIV:
  case IR_MOD: return operand == 1;
  case IR_SELECT:
  case IR_REDUCE: return operand == 0;
  case IR_LOCAL_GET: return true;
  case IR_LOCAL_SET: return operand == 1;
  case IR_ROW_LOAD:
  case IR_OFFSET: return true;
  default: return false;
  }
}

static bool takes_lanes(const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST:
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_LOCAL_ARRAY:
  case IR_LOCAL_GET:
  case IR_LOCAL_SET:
  case IR_REDUCE:
  case IR_ROW_LOAD:
  case IR_OFFSET:
  case IR_PRIVATE_COPY:
  case IR_PICK:
  case IR_TABLE_GET:
  case IR_RANDOM:
  case IR_MULHI: return true;
  default:
    return (inst->op >= IR_ADD && inst->op <= IR_SELECT) ||
           (inst->op >= IR_CONVERT && inst->op <= IR_DIV_CUBE);
  }
}
_Static_assert(IR_ADD < IR_SELECT && IR_TABLE_GET == IR_SELECT + 1 && IR_CONVERT < IR_FMOD &&
                   IR_DIV_ROOT == IR_FMOD + 1 && IR_DIV_CUBE == IR_FMOD + 2,
               "arithmetic is a part of the table");

/* Lanes of one length, except for what lanes share; ops of lanes alone: verify_value. */
static bool verify_lanes(Verifier *v, const IrInst *inst) {
  if (inst->op >= IR_SPLAT && inst->op <= IR_MASK_BITS) return true;
  int lanes = type_is_struct(inst->type) ? 1 : type_rows(inst->type);
  for (int i = 0; i < inst->operand_count; i++)
    if (type_rows(type_at(inst, i)) > lanes) lanes = type_rows(type_at(inst, i));
  if (lanes == 1 || inst->op == IR_BITCAST) return true; /* as many bytes: verify_arithmetic */
  if (!takes_lanes(inst)) return wrong(v, inst, "has no form in lanes");
  if (!ir_is_lanes(lanes)) return wrong(v, inst, "there are 2, 4, .. 64 lanes");
  for (int i = 0; i < inst->operand_count; i++) {
    int own = type_rows(type_at(inst, i));
    if (own != lanes && !(own == 1 && may_be_shared(inst, i)))
      return wrong(v, inst, "operands differ in their lanes");
  }
  return type_is_none(inst->type) || type_rows(inst->type) == lanes ||
         wrong(v, inst, "result and operands differ in their lanes");
}

/* Addresses, what is stored, the variables of what is read or what other lanes have, and a mask; of
 * one length. */
static bool verify_lane_access(Verifier *v, const IrInst *inst) {
  bool is_run = inst->shape == IR_SHAPE_RUNS, is_cell = inst->shape == IR_SHAPE_CELLS,
       has_result = inst->op == IR_LANES_LOAD && !is_run && !is_cell;
  int addresses = is_run ? inst->parts : 1, last = inst->operand_count - 1,
      values = is_run          ? inst->parts
               : inst->numbers ? __builtin_popcount(inst->numbers)
                               : 1;
  if (has_result) values = inst->shape == IR_SHAPE_NONE && inst->operand_count == 3;
  else if (inst->shape == IR_SHAPE_NONE && type_is_scalar(type_at(inst, 0))) values = last - 1;
  if (inst->operand_count != addresses + values + 1 || (!has_result && values < 1))
    return wrong(v, inst, "wrong number of operands");
  int lanes = type_rows(type_at(inst, last));
  if (!is_mask(type_at(inst, last))) return wrong(v, inst, "needs a mask");
  if (inst->operands[last]->op == IR_VAR) return wrong(v, inst, "a variable is read by 'get'");
  for (int i = 0; i < addresses; i++) {
    if (inst->operands[i]->op == IR_VAR) return wrong(v, inst, "a variable is read by 'get'");
    int own = type_rows(type_at(inst, i));
    bool is_wide = is_run || is_cell, is_base = own == 1 && !is_wide,
         is_each = own == lanes && (is_wide || inst->shape == IR_SHAPE_NONE);
    if (!is_pointer(type_element(type_at(inst, i))) || !(is_base || is_each))
      return wrong(v, inst, "takes an address, or lanes of them");
  }
  Type first = has_result ? inst->type : type_at(inst, addresses);
  for (int i = addresses; i < last + has_result; i++) {
    Type type = i == last ? first : type_at(inst, i);
    bool is_like = inst->shape == IR_SHAPE_STRIDED
                       ? type_size(type_element(type)) == type_size(type_element(first))
                       : type_equal(type, first);
    bool is_variable = !has_result && inst->operands[i]->op == IR_VAR;
    if (is_variable != (inst->op == IR_LANES_LOAD && !has_result))
      return wrong(v, inst, "reads into variables");
    if (!is_element(type_element(type)) || type_rows(type) != lanes || !is_like)
      return wrong(v, inst, "takes lanes of elements, and a mask for them");
  }
  return true;
}

/* Numbers of lanes for each lane of the result. */
static bool verify_shuffle(Verifier *v, const IrInst *inst) {
  const IrTable *table = &v->kernel->tables.items[inst->imm];
  Type first = type_at(inst, 0);
  int lanes = type_rows(first) * inst->operand_count;
  bool ok = inst->operand_count <= 2 && all_of_type(inst, 0, first) &&
            type_equal(type_element(inst->type), type_element(first)) &&
            type_equal(table->type, TYPE(I8)) && table->count == type_rows(inst->type);
  for (int k = 0; ok && k < table->count; k++)
    ok = table->values[k] >= -1 && table->values[k] < lanes;
  return ok || wrong(v, inst, "takes one or two vectors, and a table of their lanes");
}

/* A root and its square, then a scalar and lanes; floats of one type. */
static bool verify_rsqrt(Verifier *v, const IrInst *inst) {
  int count = inst->operand_count;
  if (!ir_is_lanes(type_rows(inst->type)) || !type_is_float(type_element(inst->type)))
    return wrong(v, inst, "is lanes of floats");
  if (count < 2 || count > 3 + IR_MAX_SQUARES) return wrong(v, inst, "wrong number of operands");
  for (int i = 0; i < count; i++)
    if (!type_equal(type_at(inst, i), i == 2 ? type_element(inst->type) : inst->type))
      return wrong(v, inst, "takes lanes of its type, and a scalar as operand 2");
  return true;
}

/* Ops that exist for lanes alone. */
static bool verify_lane_op(Verifier *v, const IrInst *inst) {
  if (!inst->operand_count) return wrong(v, inst, "wrong number of operands");
  Type first = type_at(inst, 0), type = inst->type;
  switch (inst->op) {
  case IR_SPLAT:
  case IR_STEP:
    return (type_is_scalar(first) && ir_is_lanes(type_rows(type)) &&
            type_equal(type_element(type), first) &&
            (inst->op == IR_SPLAT || type_is_integer(first) || is_pointer(first))) ||
           wrong(v, inst, "takes a scalar, to lanes of its type");
  case IR_SHUFFLE: return verify_shuffle(v, inst);
  case IR_LANE_GET:
    return (ir_is_lanes(type_rows(first)) && type_equal(type, type_element(first)) &&
            type_equal(type_at(inst, 1), TYPE(U64))) ||
           wrong(v, inst, "takes lanes and a u64");
  case IR_LANE_SET:
    return (inst->operands[0]->op == IR_VAR && ir_is_lanes(type_rows(first)) &&
            !type_is_bool(first) && type_equal(type_at(inst, 2), type_element(first)) &&
            type_equal(type_at(inst, 1), TYPE(U64))) ||
           wrong(v, inst, "takes a variable of lanes, a u64 and a number for that lane");
  case IR_LANES_REDUCE:
    return (ir_is_lanes(type_rows(first)) && is_number(type_element(first)) &&
            type_equal(type, type_element(first)) && reduces((IrUpdate)inst->imm, type)) ||
           wrong(v, inst, "takes lanes of numbers");
  case IR_LANES_LOAD:
  case IR_LANES_STORE:
  case IR_LANES_UPDATE: return verify_lane_access(v, inst);
  case IR_RSQRT:
  case IR_RSQRT_CUBE: return verify_rsqrt(v, inst);
  case IR_MASK_AND:
    return (is_mask(type) && all_of_type(inst, 0, type)) || wrong(v, inst, "takes two masks");
  case IR_MASK_ANY:
  case IR_MASK_FULL: return is_mask(first) || wrong(v, inst, "takes a mask");
  case IR_ALTERNATE: return type_is(first, TYPE_BOOL) || wrong(v, inst, "takes a bool");
  case IR_MASK_OF_BITS:
    return (is_mask(type) && (type_equal(first, TYPE(U64)) ||
                              (type_equal(first, TYPE(U8)) && type_rows(type) <= 8))) ||
           wrong(v, inst, "takes a u64, to a mask");
  case IR_MASK_BITS: return is_mask(first) || wrong(v, inst, "takes a mask");
  default: return wrong(v, inst, "is unknown");
  }
}

/* -- attributes -------------------------------------------------------------------------------- */

static bool verify_axes(Verifier *v, const IrInst *inst) {
  if (ir_foreign_attribute(inst)) return wrong(v, inst, "has an attribute of other ops");
  return (inst->axis_count >= 0 && inst->axis_count <= SNODE_MAX_AXES) ||
         wrong(v, inst, "too many axes");
}

static bool has_serial(const IrKernel *kernel) {
  for (int i = 0; i < kernel->tasks.count; i++)
    if (kernel->tasks.items[i]->kind == TASK_SERIAL) return true;
  return false;
}

/* An address in the frame is a launch argument or a slot that the host region has set; serial tasks
 * may also pass each other any address. */
static bool is_address_argument(const IrKernel *kernel, const IrInst *inst) {
  if (inst->op == IR_FRAME_GET && is_pointer(inst->type) && inst->imm >= kernel->args.count)
    return true;
  if ((inst->op == IR_FRAME_GET || inst->op == IR_FRAME_LOAD) && is_pointer(inst->type))
    if (has_serial(kernel)) return true;
  return (inst->op == IR_ARG || inst->op == IR_FRAME_GET) && is_pointer(inst->type) &&
         inst->imm >= 0 && inst->imm < kernel->args.count &&
         is_pointer(kernel->args.items[inst->imm].type);
}

static bool verify_imm(Verifier *v, const IrInst *inst) {
  const IrKernel *kernel = v->kernel;
  switch (inst->op) {
  case IR_CONST:
    if (!is_element(type_element(inst->type))) return wrong(v, inst, "is a number or a bool");
    return type_is_float(inst->type) || ir_wrap_int(inst->type, inst->imm) == inst->imm ||
           wrong(v, inst, "the value does not fit its type");
  case IR_ARG:
    if (inst->imm < 0 || inst->imm >= kernel->args.count) return wrong(v, inst, "no such argument");
    return type_equal(inst->type, kernel->args.items[inst->imm].type) ||
           wrong(v, inst, "not the argument's type");
  case IR_FRAME_GET:
  case IR_FRAME_SET:
  case IR_FRAME_LOAD:
    return (inst->imm >= 0 && inst->imm < kernel->frame_slots) ||
           wrong(v, inst, "no such frame slot");
  case IR_RUN:
    return (inst->imm >= 0 && inst->imm < kernel->tasks.count) || wrong(v, inst, "no such task");
  case IR_INVOKE:
    return (inst->imm >= 0 && inst->imm < kernel->functions.count) ||
           wrong(v, inst, "no such function");
  case IR_TABLE_GET:
  case IR_SHUFFLE:
    return (inst->imm >= 0 && inst->imm < kernel->tables.count) || wrong(v, inst, "no such table");
  case IR_ALL_GATHER:
    return (inst->imm > 0 && inst->imm <= IR_MAX_SHARED) ||
           wrong(v, inst, "gathers a wrong number of pointers");
  case IR_TREE_ROOT:
  case IR_PRIVATE_COPY:
    return (inst->imm >= 0 && inst->imm < kernel->trees.count) || wrong(v, inst, "no such tree");
  default: break;
  }
  if (ir_imm_kind(inst) == IMM_UPDATE && (inst->imm < 0 || inst->imm >= IR_UPDATE_COUNT))
    return wrong(v, inst, "no such operator");
  IrImm kind = ir_imm_kind(inst);
  if ((kind == IMM_MANAGER || kind == IMM_MASK) && (inst->imm < 0 || inst->imm > INT16_MAX))
    return wrong(v, inst, kind == IMM_MASK ? "no such mask" : "no such manager");
  return true;
}

/* An op whose row has no such entry may still have a number in range; 0 then means none. */
static bool is_entry(int32_t number, int count, bool has) {
  return number >= 0 && number < count + (!has && !count);
}

static bool verify_tables(Verifier *v, const IrInst *inst) {
  const IrKernel *kernel = v->kernel;
  if (!is_entry(inst->field, kernel->fields.count, ir_has_field(inst->op)))
    return wrong(v, inst, "no such field");
  if (!is_entry(inst->level, kernel->levels.count, ir_has_level(inst->op)))
    return wrong(v, inst, "no such level");
  if (!is_entry(inst->tree, kernel->trees.count, ir_has_tree(inst)))
    return wrong(v, inst, "no such tree");
  return verify_axes(v, inst) && verify_imm(v, inst);
}

/* Some ops belong to the host region, some to bodies, some to the rows of a leaf. */
static bool verify_home(Verifier *v, const IrInst *inst) {
  switch (inst->op) {
  case IR_RUN:
  case IR_RANDOM_STREAM:
  case IR_RETURN:
    if (v->in_serial) return wrong(v, inst, "belongs in the host region");
    break;
  case IR_FRAME_GET:
    if (v->in_serial) return true;
    break;
  default: break;
  }
  switch (inst->op) {
  case IR_FRAME_SET:
  case IR_FRAME_LOAD:
  case IR_RUN:
  case IR_COUNT:
  case IR_CLEAR:
  case IR_RANDOM_STREAM:
  case IR_SAVE_MASKS: return !v->in_body || wrong(v, inst, "belongs in the host region");
  case IR_RETURN: return !v->in_body || v->function || wrong(v, inst, "belongs in the host region");
  case IR_ALL_GATHER:
    return (v->in_body && !v->in_row) || wrong(v, inst, "belongs in a parallel loop, not in a row");
  case IR_FRAME_GET:
  case IR_REDUCE:
  case IR_POLL:
  case IR_ALTERNATE:
  case IR_GRID:
  case IR_ROW:
  case IR_NEIGHBOUR:
  case IR_ENSURE: return v->in_body || wrong(v, inst, "belongs in a parallel loop");
  case IR_ROW_ACTIVE:
  case IR_CELL:
  case IR_ROW_LOAD: return v->in_row || wrong(v, inst, "belongs in a row");
  case IR_ARG:
    return !v->is_final || !(v->in_body || v->in_serial) ||
           wrong(v, inst, "is a frame slot in a task");
  default: return true;
  }
}

/* -- operands ---------------------------------------------------------------------------------- */

static bool verify_operands(Verifier *v, const IrInst *inst) {
  int count = ir_op_info[inst->op].operand_count;
  if (count >= 0 && inst->operand_count != count) return wrong(v, inst, "wrong number of operands");
  for (int i = 0; i < inst->operand_count; i++) {
    const IrInst *operand = inst->operands[i];
    if (!operand || operand->id < 0 || operand->id >= v->kernel->next_id ||
        v->visible[operand->id] != operand)
      return wrong(v, inst, "an operand is not visible here");
    if (type_is_none(operand->type)) return wrong(v, inst, "an operand has no value");
    if (!inst->operand_uses[i].link || inst->operand_uses[i].user != inst)
      return wrong(v, inst, "is missing from the uses of an operand");
    v->uses[operand->id]++;
    bool takes_var = i == 0 && (inst->op == IR_GET || inst->op == IR_SET || inst->op == IR_REDUCE ||
                                inst->op == IR_LANE_SET || inst->op == IR_ALL_GATHER);
    takes_var |= (inst->op == IR_POP || inst->op == IR_INVOKE || inst->op == IR_LANE_GET ||
                  inst->op == IR_LANES_LOAD) &&
                 operand->op == IR_VAR;
    takes_var |= i <= (inst->op == IR_MOVE) && ir_is_refcount(inst->op);
    if (operand->op == IR_VAR && !takes_var) return wrong(v, inst, "a variable is read by 'get'");
    bool takes_array = i == 0 && (inst->op == IR_LOCAL_GET || inst->op == IR_LOCAL_SET);
    if (takes_array != (operand->op == IR_LOCAL_ARRAY))
      return wrong(v, inst,
                   takes_array ? "needs a local array" : "a local array is read by 'local.get'");
    if (takes_var && operand->op != IR_VAR &&
        !(inst->op == IR_REDUCE && operand->op == IR_FRAME_GET))
      return wrong(v, inst, "needs a variable");
  }
  return true;
}

/* The type of the element at a place; NONE if the operand is not a place. */
static Type element_of(const Verifier *v, const IrInst *place) {
  return ir_has_field(place->op) ? v->kernel->fields.items[place->field].type : TYPE(NONE);
}

/* Between the passes `packed` and `packed_updates`: place of the word, values, lowest bit. */
static bool verify_packed(Verifier *v, const IrInst *inst) {
  if (inst->packed < 1 || inst->packed > v->kernel->fields.count)
    return wrong(v, inst, "the packed number is in no field");
  Type number = v->kernel->fields.items[inst->packed - 1].type;
  for (int i = 1; i < inst->operand_count - 1; i++)
    if (!type_equal(type_at(inst, i), number))
      return wrong(v, inst, "the value is not of the packed field's type");
  return type_is(type_at(inst, inst->operand_count - 1), TYPE_U32) ||
         wrong(v, inst, "the lowest bit is a u32");
}

static bool verify_access(Verifier *v, const IrInst *inst) {
  int wanted = inst->op == IR_LOAD ? 1 : inst->op == IR_CAS ? 3 : 2;
  if (inst->operand_count != wanted + (inst->packed != 0))
    return wrong(v, inst, "wrong number of operands");
  Type element = element_of(v, inst->operands[0]);
  if (type_is_none(element)) return wrong(v, inst, "needs a place");
  if (inst->packed) return verify_packed(v, inst);
  Type computed = type_computed(element); /* pass/address/codec.h */
  bool is_coded = !type_equal(computed, element);
  if (inst->op == IR_LOAD && type_equal(inst->type, computed)) return true;
  if (inst->op == IR_STORE && is_coded && type_is_float(type_at(inst, 1))) return true;
  if (!all_of_type(inst, 1, element)) return wrong(v, inst, "the value is not of the field's type");
  if (inst->op == IR_STORE || inst->op == IR_UPDATE) return true;
  return type_equal(inst->type, element) || wrong(v, inst, "the result is not of the field's type");
}

/* One integer per axis of `node`; without trees (stage 3) only the types can be checked. */
static bool verify_indices(Verifier *v, const IrInst *inst, const SNode *node) {
  if (!all_integers(inst, 0)) return wrong(v, inst, "indices are integers");
  return !node || inst->operand_count == node->rank || wrong(v, inst, "wrong number of indices");
}

static bool verify_place(Verifier *v, const IrInst *inst) {
  const IrField *field = &v->kernel->fields.items[inst->field];
  if (!verify_indices(v, inst, field->node)) return false;
  return field->array < 0 || inst->operand_count == ir_rank(v->kernel, inst->field) ||
         wrong(v, inst, "wrong number of indices");
}

/* The indices of a list are those of its level without the list's own axis; a value (APPEND) or a
 * variable (POP) per component follows. */
static bool verify_list(Verifier *v, const IrInst *inst, const SNode *node) {
  if (!node) return true;
  int indices = node->rank - 1,
      more = inst->op == IR_APPEND || inst->op == IR_POP ? node->component_count : 0;
  if (!snode_has_lists(node)) return wrong(v, inst, "its level has no lists");
  if (inst->operand_count != indices + more) return wrong(v, inst, "wrong number of operands");
  for (int i = 0; i < indices; i++)
    if (!type_is_integer(type_at(inst, i))) return wrong(v, inst, "indices are integers");
  for (int k = 0; k < more; k++)
    if (!type_equal(type_at(inst, indices + k), node->components[k].type))
      return wrong(v, inst, "a value is not of its field's type");
  return true;
}

/* DEACTIVATE of a list's level empties the whole list, so it takes the indices of the list. */
static bool verify_cell(Verifier *v, const IrInst *inst) {
  const SNode *node = v->kernel->levels.items[inst->level].node;
  return inst->op == IR_DEACTIVATE && node && snode_has_lists(node) ? verify_list(v, inst, node)
                                                                    : verify_indices(v, inst, node);
}

/* Indices, followed by the number of cells. */
static bool verify_block(Verifier *v, const IrInst *inst) {
  const SNode *node = v->kernel->levels.items[inst->level].node;
  int first = inst->operand_count > 0 && is_pointer(type_at(inst, 0));
  if (!all_integers(inst, first)) return wrong(v, inst, "indices and counts are integers");
  if (node && (!snode_has_bits(node) || inst->operand_count != first + node->rank + 1))
    return wrong(v, inst, "takes the indices of a bitmasked level, and a count");
  return true;
}

static bool verify_memory(Verifier *v, const IrInst *inst) {
  if (!is_pointer(type_at(inst, 0))) return wrong(v, inst, "operand 0 must be an address");
  if ((inst->uniform && !facts_is_launch_invariant(inst->operands[0])) ||
      (inst->uniform_value && !facts_is_launch_invariant(inst->operands[1])))
    return wrong(v, inst, "a uniform operand must be invariant in the launch");
  if (inst->acquires && !type_equal(inst->type, TYPE(I64)))
    return wrong(v, inst, "only the address of an array is published, an i64");
  Type element =
      inst->op == IR_MEM_STORE || inst->op == IR_MEM_UPDATE ? type_at(inst, 1) : inst->type;
  bool is_address = (inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE) && is_pointer(element);
  if (!is_address && !is_element(inst->op == IR_ROW_LOAD ? type_element(element) : element))
    return wrong(v, inst, "elements are numbers and bools");
  bool has_operator = inst->op == IR_MEM_UPDATE || inst->op == IR_MEM_RMW;
  if (has_operator && !takes_operator((IrUpdate)inst->imm, element))
    return wrong(v, inst, "its operator does not take this type");
  if (inst->op == IR_ROW_LOAD && inst->extent[0] < 1)
    return wrong(v, inst, "needs the extent of its row");
  if (inst->op == IR_ROW_LOAD)
    return (is_pointer(type_at(inst, 1)) && type_is_integer(type_at(inst, 2))) ||
           wrong(v, inst, "needs two addresses and a position");
  return all_of_type(inst, 1, element) || wrong(v, inst, "the value is not of the element's type");
}

static bool verify_item(Verifier *v, const IrInst *inst) {
  if (!type_equal(type_element(inst->type), v->kernel->tables.items[inst->imm].type))
    return wrong(v, inst, "not the type of its table");
  return type_is_integer(type_at(inst, 0)) || wrong(v, inst, "its index is an integer");
}

static bool verify_pick(Verifier *v, const IrInst *inst) {
  if (inst->operand_count < 2 || !type_is_integer(type_at(inst, 0)))
    return wrong(v, inst, "takes an index, an integer, and values");
  return (is_element(type_element(inst->type)) && all_of_type(inst, 1, inst->type)) ||
         wrong(v, inst, "values and result must be of one type");
}

static bool verify_offset(Verifier *v, const IrInst *inst) {
  return (is_pointer(type_element(type_at(inst, 0))) && type_is_integer(type_at(inst, 1))) ||
         wrong(v, inst, "needs an address and an integer");
}

/* Lanes or scalars, and the mask. */
static bool verify_call_lanes(Verifier *v, const IrInst *inst) {
  int last = inst->operand_count - 1;
  Type mask = last >= 0 ? type_at(inst, last) : TYPE(NONE);
  bool ok = last >= 0 && is_mask(mask);
  for (int i = 0; ok && i < last; i++)
    ok = type_is_scalar(type_at(inst, i)) || type_rows(type_at(inst, i)) == type_rows(mask);
  return (ok && (type_is_none(inst->type) || type_rows(inst->type) == type_rows(mask))) ||
         wrong(v, inst, "takes scalars or lanes, and a mask of as many");
}

static bool verify_call(Verifier *v, const IrInst *inst) {
  const char *refusal = ir_call_refusal(inst, v->in_body);
  if (refusal) return wrong(v, inst, refusal);
  return inst->op == IR_CALL || verify_call_lanes(v, inst);
}

static bool verify_message(Verifier *v, const IrInst *inst) {
  if (inst->imm < 0 || inst->operand_count > IR_MESSAGE_VALUES)
    return wrong(v, inst, "no such message, or too many values");
  for (int i = 0; i < inst->operand_count; i++) {
    Type type = type_at(inst, i);
    bool is_wide = type_is(type, TYPE_I64) || type_is(type, TYPE_U64) || type_is(type, TYPE_F64);
    if (!is_wide) return wrong(v, inst, "takes i64, u64 and f64");
  }
  return true;
}

/* Values for the parameters, then a variable for each result. */
static bool verify_invoke(Verifier *v, const IrInst *inst) {
  const IrFunction *function = v->kernel->functions.items[inst->imm];
  int params = function->body->params.count, results = function->results.count;
  if (inst->operand_count != params + results)
    return wrong(v, inst, "takes a value per parameter and a variable per result");
  for (int i = 0; i < inst->operand_count; i++) {
    Type type =
        i < params ? function->body->params.items[i]->type : function->results.items[i - params];
    if ((inst->operands[i]->op == IR_VAR) != (i >= params))
      return wrong(v, inst, "takes a value per parameter and a variable per result");
    if (!type_equal(type_at(inst, i), type))
      return wrong(v, inst, "an operand is not of its parameter's or result's type");
  }
  return true;
}

static bool verify_gathered(Verifier *v, const IrInst *inst) {
  const IrInst *from = inst->operands[0];
  return (from->op == IR_ALL_GATHER && inst->imm >= 0 && inst->imm < from->imm) ||
         wrong(v, inst, "must be a result of its all_gather");
}

static bool verify_local(Verifier *v, const IrInst *inst) {
  Type element = type_element(type_at(inst, 0));
  Type moved = inst->op == IR_LOCAL_GET ? inst->type : type_at(inst, 2);
  if (!type_is_integer(type_element(type_at(inst, 1))))
    return wrong(v, inst, "a local array is indexed by an integer");
  return type_equal(element, type_element(moved)) ||
         wrong(v, inst, "local array and value differ in type");
}

static bool verify_value(Verifier *v, const IrInst *inst) {
  const IrKernel *kernel = v->kernel;
  switch (inst->op) {
  case IR_CONST:
  case IR_ARG:
  case IR_FRAME_GET:
  case IR_FRAME_LOAD:
  case IR_VAR:
  case IR_TREE_ROOT:
  case IR_AMBIENT:
  case IR_CHUNK_CURSOR:
  case IR_BREAK:
  case IR_CONTINUE:
  case IR_RETURN:
  case IR_COUNT:
  case IR_CLEAR:
  case IR_SAVE_MASKS:
  case IR_ROW_ACTIVE:
  case IR_RANDOM_STREAM:
  case IR_RUN:
  case IR_ZEROS:
  case IR_LOOP: return true;
  case IR_RANDOM:
    return all_elements(inst, TYPE(I64)) || wrong(v, inst, "key, iteration and number are i64");
  case IR_MULHI: return all_elements(inst, TYPE(U64)) || wrong(v, inst, "takes u64");
  case IR_SPLAT:
  case IR_STEP:
  case IR_SHUFFLE:
  case IR_MASK_OF_BITS:
  case IR_LANE_GET:
  case IR_LANE_SET:
  case IR_LANES_LOAD:
  case IR_LANES_STORE:
  case IR_LANES_REDUCE:
  case IR_LANES_UPDATE:
  case IR_RSQRT:
  case IR_RSQRT_CUBE:
  case IR_MASK_AND:
  case IR_MASK_ANY:
  case IR_MASK_FULL:
  case IR_ALTERNATE:
  case IR_MASK_BITS: return verify_lane_op(v, inst);
  case IR_ALL_GATHER: return is_pointer(type_at(inst, 0)) || wrong(v, inst, "gathers pointers");
  case IR_GATHERED: return verify_gathered(v, inst);
  case IR_PARAM: return wrong(v, inst, "belongs to a region's parameters");
  case IR_PRINT:
  case IR_FAULT: return verify_message(v, inst);
  case IR_FRAME_SET:
    return is_element(type_at(inst, 0)) || is_pointer(type_at(inst, 0)) ||
           wrong(v, inst, "takes numbers, bools and addresses");
  case IR_GET:
  case IR_LANE_FIRST:
    return all_of_type(inst, 0, inst->type) || wrong(v, inst, "result and operand differ in type");
  case IR_REDUCE:
    if (!reduces((IrUpdate)inst->imm, type_element(type_at(inst, 1))))
      return wrong(v, inst, "its operator does not combine this type");
    if (v->is_final && inst->operands[0]->op != IR_FRAME_GET)
      return wrong(v, inst, "combines into a slot of the frame");
    return type_equal(type_element(type_at(inst, 0)), type_element(type_at(inst, 1))) ||
           wrong(v, inst, "variable and value differ in type");
  case IR_SET:
    return type_equal(type_element(type_at(inst, 0)), type_element(type_at(inst, 1))) ||
           wrong(v, inst, "variable and value differ in type");
  case IR_LOCAL_ARRAY:
  case IR_SHARED:
  case IR_STACK:
    return (inst->imm >= 1 && inst->imm <= IR_MAX_LOCAL) || wrong(v, inst, "has a size");
  case IR_LOCAL_GET:
  case IR_LOCAL_SET: return verify_local(v, inst);
  case IR_OWN:
  case IR_ACQUIRE:
  case IR_MOVE:
  case IR_RELEASE:
  case IR_DISOWN:
    return (inst->operands[0]->owns && (inst->op != IR_MOVE || inst->operands[1]->owns) &&
            all_of_type(inst, 0, TYPE(I64))) ||
           wrong(v, inst, "takes guards and arrays");
  case IR_EQ:
  case IR_NE:
  case IR_LT:
  case IR_LE:
  case IR_GT:
  case IR_GE: return verify_comparison(v, inst);
  case IR_PLACE: return verify_place(v, inst);
  case IR_LOAD:
  case IR_STORE:
  case IR_UPDATE:
  case IR_RMW:
  case IR_CAS: return verify_access(v, inst);
  case IR_ACTIVATE:
  case IR_DEACTIVATE:
  case IR_IS_ACTIVE: return verify_cell(v, inst);
  case IR_APPEND:
  case IR_POP:
  case IR_LENGTH: return verify_list(v, inst, kernel->levels.items[inst->level].node);
  case IR_CALL:
  case IR_LANES_CALL: return verify_call(v, inst);
  case IR_INVOKE: return verify_invoke(v, inst);
  case IR_ACTIVE_BITS: return verify_block(v, inst);
  case IR_BITS: return type_equal(type_at(inst, 0), TYPE(U64)) || wrong(v, inst, "needs a u64");
  case IR_NEIGHBOUR:
  case IR_ENSURE:
  case IR_RANGE:
  case IR_ROW: return all_integers(inst, 0) || wrong(v, inst, "operands are integers");
  case IR_CELL: return inst->operand_count > 0 || wrong(v, inst, "needs positions and cursors");
  case IR_POLL:
    return inst->operand_count == 0 ||
           (inst->operand_count == 1 && type_is_bool(type_at(inst, 0))) ||
           wrong(v, inst, "takes a bool at most");
  case IR_IF: return type_is_bool(type_at(inst, 0)) || wrong(v, inst, "needs a bool");
  case IR_FOR:
    return (is_number(type_at(inst, 0)) && all_of_type(inst, 0, type_at(inst, 0))) ||
           wrong(v, inst, "begin, last and step must be numbers of one type");
  case IR_ACTIVE:
  case IR_LEAVES:
  case IR_GRID: return true;
  case IR_TABLE_GET: return verify_item(v, inst);
  case IR_PICK: return verify_pick(v, inst);
  case IR_OFFSET: return verify_offset(v, inst);
  case IR_PRIVATE_COPY:
    return is_pointer(type_element(type_at(inst, 0))) || wrong(v, inst, "needs a pointer");
  case IR_MEM_LOAD:
  case IR_MEM_STORE:
  case IR_MEM_UPDATE:
  case IR_MEM_RMW:
  case IR_MEM_CAS:
  case IR_ROW_LOAD: return verify_memory(v, inst);
  default: return verify_arithmetic(v, inst);
  }
}

/* The result type of each op: none, an address, a bool, an i64, a place, or any element. */
static bool verify_result(Verifier *v, const IrInst *inst) {
  Type expected = TYPE(NONE);
  switch (inst->op) {
  case IR_FRAME_SET:
  case IR_SET:
  case IR_LOCAL_SET:
  case IR_POLL:
  case IR_ALTERNATE:
  case IR_STORE:
  case IR_UPDATE:
  case IR_REDUCE:
  case IR_ACTIVATE:
  case IR_DEACTIVATE:
  case IR_CLEAR:
  case IR_BREAK:
  case IR_CONTINUE:
  case IR_RETURN:
  case IR_MEM_STORE:
  case IR_MEM_UPDATE:
  case IR_LANES_STORE:
  case IR_LANE_SET:
  case IR_LANES_UPDATE:
  case IR_RUN:
  case IR_OWN:
  case IR_ACQUIRE:
  case IR_MOVE:
  case IR_RELEASE:
  case IR_DISOWN:
  case IR_PRINT:
  case IR_FAULT:
  case IR_POP:
  case IR_SAVE_MASKS:
  case IR_INVOKE: break;
  case IR_CALL:
  case IR_LANES_CALL: return true; /* verify_call */
  case IR_PLACE:
  case IR_CELL: expected = TYPE(PLACE); break;
  case IR_NEIGHBOUR:
  case IR_ENSURE:
  case IR_TREE_ROOT:
  case IR_PRIVATE_COPY:
  case IR_AMBIENT:
  case IR_CHUNK_CURSOR:
  case IR_ALL_GATHER:
  case IR_GATHERED:
  case IR_STACK:
  case IR_SHARED:
  case IR_ZEROS:
  case IR_OFFSET: expected = TYPE(PTR); break;
  case IR_IS_ACTIVE:
  case IR_MASK_ANY:
  case IR_MASK_FULL:
  case IR_ROW_ACTIVE: expected = TYPE(BOOL); break;
  case IR_MASK_BITS:
  case IR_ACTIVE_BITS: expected = TYPE(U64); break;
  case IR_COUNT:
  case IR_RANDOM_STREAM: expected = TYPE(I64); break;
  case IR_RANDOM:
  case IR_MULHI: expected = TYPE(U64); break;
  case IR_APPEND:
  case IR_LENGTH: expected = TYPE(I32); break;
  default:
    if (ir_op_info[inst->op].flags & IR_REGIONS) break;
    if (inst->op == IR_LANES_LOAD &&
        (inst->shape == IR_SHAPE_CELLS || inst->shape == IR_SHAPE_RUNS))
      break;
    if ((inst->op == IR_SELECT || inst->op == IR_VAR || inst->op == IR_GET ||
         inst->op == IR_SPLAT || inst->op == IR_STEP || inst->op == IR_LANE_GET ||
         inst->op == IR_SHUFFLE || inst->op == IR_MEM_LOAD) &&
        is_pointer(type_element(inst->type)))
      return true;
    if (is_address_argument(v->kernel, inst)) return true;
    return is_element(type_element(inst->type)) || wrong(v, inst, "has a number or bool result");
  }
  if (inst->op == IR_OFFSET || inst->op == IR_PRIVATE_COPY || inst->op == IR_RANDOM ||
      inst->op == IR_MULHI)
    expected = type_is_none(inst->type) ? expected : ir_lanes_type(expected, type_rows(inst->type));
  if (type_is_none(expected)) return type_is_none(inst->type) || wrong(v, inst, "has no result");
  return type_equal(inst->type, expected) || wrong(v, inst, "has the wrong result type");
}

/* -- regions ----------------------------------------------------------------------------------- */

/* A number for each number of the results, in their order. */
static bool returns_results(const IrKernel *kernel, const IrInst *inst) {
  int at = 0;
  for (int i = 0; i < kernel->results.count; i++)
    for (int part = 0; part < type_parts(kernel->results.items[i]); part++, at++)
      if (at >= inst->operand_count ||
          !type_equal(inst->operands[at]->type, type_element(kernel->results.items[i])))
        return false;
  return at == inst->operand_count;
}

static bool gives_results(const IrFunction *function, const IrInst *inst) {
  for (int i = 0; i < inst->operand_count && i < function->results.count; i++)
    if (!type_equal(inst->operands[i]->type, function->results.items[i])) return false;
  return inst->operand_count == function->results.count;
}

static bool verify_exit(Verifier *v, const IrInst *inst) {
  if (v->is_final && inst->next) return wrong(v, inst, "something follows it");
  if (inst->op == IR_RETURN && v->function)
    return gives_results(v->function, inst) || wrong(v, inst, "not the function's results");
  if (inst->op == IR_RETURN) {
    return inst->operand_count == 0 || returns_results(v->kernel, inst) ||
           wrong(v, inst, "not the kernel's results");
  }
  int levels = v->loops - (inst->op == IR_BREAK || !v->in_body || v->function);
  return (inst->imm >= 0 && inst->imm <= levels) ||
         wrong(v, inst, "leaves more loops than it is in");
}

static bool params_are(const IrRegion *region, int first, bool (*fits)(Type)) {
  for (int i = first; i < region->params.count; i++)
    if (!fits(region->params.items[i]->type)) return false;
  return true;
}

/* One parameter, and in lanes perhaps their mask. */
static bool has_position(const IrInst *loop, const IrRegion *body) {
  const IrInst *mask = ir_lanes_mask(body);
  return mask ? body->params.count == 2 && type_rows(mask->type) == loop->lanes
              : body->params.count == 1;
}

static bool has_index(const IrInst *loop, const IrRegion *body) {
  return has_position(loop, body) && type_equal(body->params.items[0]->type, type_at(loop, 0));
}

static bool is_power(int32_t number) { return (number & (number - 1)) == 0; }

static bool verify_shape(Verifier *v, const IrInst *inst) {
  const IrRegion *body = inst->regions[0];
  int params = body->params.count;
  const SNode *node;
  switch (inst->op) {
  case IR_FOR:
    if (inst->full_vectors && inst->lanes < 2) return wrong(v, inst, "full vectors need lanes");
    if (inst->per_lane && (inst->lanes < 2 || !has_index(inst, inst->regions[1])))
      return wrong(v, inst, "its second region needs lanes, and one parameter");
    return has_index(inst, body) || wrong(v, inst, "needs one parameter of its bounds' type");
  case IR_BITS:
    return (has_position(inst, body) && type_is_integer(body->params.items[0]->type)) ||
           wrong(v, inst, "needs one integer parameter");
  case IR_RANGE:
    if (params < 1 || params > SNODE_MAX_AXES || inst->operand_count != 2 * params ||
        inst->axis_count != params)
      return wrong(v, inst, "needs a begin and an end per parameter");
    return params_are(body, 0, type_is_integer) || wrong(v, inst, "indices are integers");
  case IR_ACTIVE:
    node = v->kernel->levels.items[inst->level].node;
    if (!node || node->rank != params)
      return wrong(v, inst, "needs a parameter per axis of its level");
    return params_are(body, 0, type_is_integer) || wrong(v, inst, "indices are integers");
  case IR_GRID:
    if (params != inst->axis_count) return wrong(v, inst, "needs a parameter per extent");
    for (int i = 0; i < params; i++)
      if (inst->extent[i] < 1) return wrong(v, inst, "extents are positive");
    return params_are(body, 0, type_is_integer) || wrong(v, inst, "positions are integers");
  case IR_ROW:
    if (inst->end < 0 || inst->lanes < 0 || inst->lanes > 64 || (inst->lanes & (inst->lanes - 1)))
      return wrong(v, inst, "has a number of cells, and 2, 4, .. lanes");
    if (inst->masked && (inst->end > 64 || !inst->operand_count ||
                         !type_equal(type_at(inst, inst->operand_count - 1), TYPE(U64))))
      return wrong(v, inst, "a masked row has at most 64 cells, and a u64 last");
    return (has_position(inst, body) && type_is_integer(body->params.items[0]->type)) ||
           wrong(v, inst, "needs one integer parameter");
  case IR_ALL_GATHER:
    return (params == 1 && type_is(body->params.items[0]->type, TYPE_I32)) ||
           wrong(v, inst, "needs an i32 parameter");
  case IR_LEAVES:
    return (params >= 1 && is_pointer(body->params.items[0]->type)) ||
           wrong(v, inst, "needs a cursor");
  default: return params == 0 || wrong(v, inst, "has no parameters");
  }
}

static bool verify_region(Verifier *v, const IrRegion *region, int depth);

/* An inner loop is one more level for exits; a parallel body starts its own count. */
static bool verify_regions(Verifier *v, const IrInst *inst, int depth) {
  int loops = v->loops;
  bool in_body = v->in_body, in_row = v->in_row;
  bool parallel = (inst->op == IR_RANGE || inst->op == IR_ACTIVE) && !inst->serial && !in_body;
  if (parallel || inst->op == IR_LEAVES || inst->op == IR_GRID || inst->op == IR_ROW) {
    v->loops = 0;
    v->in_body = true;
    v->in_row = inst->op == IR_ROW;
  } else if (inst->op != IR_IF) {
    v->loops++;
  }
  bool ok = true;
  for (int i = 0; ok && i < IR_MAX_REGIONS && inst->regions[i]; i++)
    ok = inst->regions[i]->owner == inst ? verify_region(v, inst->regions[i], depth)
                                         : wrong(v, inst, "a region has another owner");
  v->loops = loops;
  v->in_body = in_body;
  v->in_row = in_row;
  return ok;
}

static bool introduce(Verifier *v, const IrInst *inst, const IrRegion *region) {
  if (inst->id < 0 || inst->id >= v->kernel->next_id || v->seen[inst->id])
    return wrong(v, inst, "its id is not unique");
  if (inst->region != region) return wrong(v, inst, "is in another region than its `region`");
  v->seen[inst->id] = inst;
  v->visible[inst->id] = inst;
  return true;
}

/* In the end a loop in lanes has their mask, and counts by one. */
static bool verify_lane_loop(Verifier *v, const IrInst *inst) {
  bool is_for = inst->op == IR_FOR;
  int64_t step;
  if (!v->is_final || inst->lanes < 2 || !(is_for || inst->op == IR_BITS)) return true;
  bool counts = is_for ? type_is_integer(type_at(inst, 0)) &&
                             ir_is_const(inst->operands[2], &step) && step == 1
                       : inst->lanes <= 32;
  return (counts && ir_lanes_mask(inst->regions[0])) ||
         wrong(v, inst, "its iterations cannot be lanes");
}

static bool verify_inst(Verifier *v, const IrInst *inst, int depth) {
  if ((unsigned)inst->op >= IR_OP_COUNT) return wrong(v, inst, "no such op");
  if (ir_has_entry(inst->op) && (unsigned)inst->entry >= RT_ENTRY_COUNT)
    return wrong(v, inst, "no such entry");
  for (int i = 0; i < IR_MAX_REGIONS; i++)
    if ((inst->regions[i] != NULL) != (i < ir_region_count(inst->op) + inst->per_lane))
      return wrong(v, inst, "wrong number of regions");
  bool has_shape = inst->shape && inst->op >= IR_LANES_LOAD && inst->op <= IR_LANES_UPDATE;
  if (v->is_final && (has_shape || (ir_op_info[inst->op].flags & IR_HIGH)))
    return wrong(v, inst, "should be lowered by now");
  bool ok = verify_home(v, inst) && verify_tables(v, inst) && verify_operands(v, inst) &&
            verify_lanes(v, inst) && verify_value(v, inst) && verify_result(v, inst);
  if (!ok) return false;
  if ((ir_op_info[inst->op].flags & IR_EXIT) && !verify_exit(v, inst)) return false;
  return !inst->regions[0] ||
         (verify_shape(v, inst) && verify_lane_loop(v, inst) && verify_regions(v, inst, depth));
}

/* The shapes of accesses, and their groups: ir/access.h. */
static bool verify_shapes(Verifier *v, const IrRegion *region) {
  VEC(const IrInst *) firsts = {0}; /* of each group */
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    const IrInst *first = NULL;
    for (int i = 0; inst->group && i < firsts.count && !first; i++)
      if (firsts.items[i]->group == inst->group) first = firsts.items[i];
    if (inst->group && !first) vec_push(v->kernel->scratch, &firsts, inst);
    const char *why = ir_shape_refusal(inst, first ? first : inst);
    if (why) return wrong(v, inst, why);
  }
  return true;
}

static bool verify_region(Verifier *v, const IrRegion *region, int depth) {
  if (depth > IR_MAX_NESTING) return error_set(v->err, RG_ERROR_IR, "regions nest too deeply");
  for (int i = 0; i < region->params.count; i++) {
    const IrInst *param = region->params.items[i];
    if (param->op != IR_PARAM || param->imm != i) return wrong(v, param, "is not a parameter");
    if (!introduce(v, param, region)) return false;
  }
  const IrInst *previous = NULL;
  for (const IrInst *inst = region->first; inst; previous = inst, inst = inst->next) {
    if (inst->previous != previous) return wrong(v, inst, "the list of insts is broken");
    if (!verify_inst(v, inst, depth + 1) || !introduce(v, inst, region)) return false;
  }
  if (region->last != previous)
    return error_set(v->err, RG_ERROR_IR, "`last` is not a region's last inst");
  if (!verify_shapes(v, region)) return false;
  for (int i = 0; i < region->params.count; i++) v->visible[region->params.items[i]->id] = NULL;
  for (const IrInst *inst = region->first; inst; inst = inst->next) v->visible[inst->id] = NULL;
  return true;
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* An offset passed at launch is an i64 argument. */
static bool is_place(const IrKernel *kernel, int32_t place) {
  return place >= 0 && place <= kernel->args.count &&
         (!place || type_is(kernel->args.items[place - 1].type, TYPE_I64));
}

/* Are there `count` arguments of this type, from `first` on? */
static bool has_args(const IrKernel *kernel, int first, int count, Type type) {
  if (first < 0 || first > kernel->args.count - count) return false;
  for (int i = 0; i < count; i++)
    if (!type_equal(kernel->args.items[first + i].type, type)) return false;
  return true;
}

/* Slots that the host region sets, past those of the arguments. */
static bool has_slots(const IrKernel *kernel, int first, int count) {
  return first >= kernel->args.count && first <= kernel->frame_slots - count;
}

static bool verify_array(const IrKernel *kernel, const IrArray *array) {
  int axes = array->axis_count;
  if (array->is_counted)
    return axes >= 1 && axes <= SNODE_MAX_AXES && array->size >= 1 && array->strides < 0 &&
           !array->is_wide && has_slots(kernel, array->address, 1) &&
           has_slots(kernel, array->extents, axes);
  return axes >= 1 && axes <= SNODE_MAX_AXES && array->size >= 1 &&
         has_args(kernel, array->address, 1, TYPE(PTR)) &&
         has_args(kernel, array->extents, axes, array->is_wide ? TYPE(I64) : TYPE(I32)) &&
         (!array->is_pitched || axes > 1) &&
         (array->strides < 0 ||
          has_args(kernel, array->strides, array->is_pitched ? 1 : axes, TYPE(I64)));
}

static bool verify_table(const IrTable *table) {
  if (!is_element(table->type) || table->count < 0) return false;
  for (int k = 0; k < table->count; k++)
    if (!type_is_float(table->type) &&
        ir_wrap_int(table->type, table->values[k]) != table->values[k])
      return false;
  return true;
}

static bool verify_kernel_tables(const IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tables.count; i++)
    if (!verify_table(&kernel->tables.items[i]))
      return error_set(err, RG_ERROR_IR, "table %d is not valid", i);
  for (int i = 0; i < kernel->arrays.count; i++)
    if (!verify_array(kernel, &kernel->arrays.items[i]))
      return error_set(err, RG_ERROR_IR, "array a%d is not valid", i);
  for (int i = 0; i < kernel->fields.count; i++) {
    const IrField *field = &kernel->fields.items[i];
    bool is_in_tree = field->tree >= 0 && field->tree < kernel->trees.count,
         is_in_array = field->tree == -1 && field->array < kernel->arrays.count;
    if ((!is_in_tree && !is_in_array) || !is_element(field->type) ||
        !is_place(kernel, field->place))
      return error_set(err, RG_ERROR_IR, "field f%d is not valid", i);
  }
  for (int i = 0; i < kernel->levels.count; i++)
    if (kernel->levels.items[i].tree < 0 || kernel->levels.items[i].tree >= kernel->trees.count)
      return error_set(err, RG_ERROR_IR, "level l%d is not valid", i);
  for (int i = 0; i < kernel->args.count; i++)
    if (!is_element(kernel->args.items[i].type) && !is_pointer(kernel->args.items[i].type))
      return error_set(err, RG_ERROR_IR, "argument %d is not valid", i);
  return true;
}

/* If there are slots, there are enough for the arguments and the result (at least one). The upper
 * limit only rejects corrupt input. */
static bool verify_frame(const IrKernel *kernel, Error *err) {
  if (kernel->frame_slots == 0 && kernel->tasks.count == 0) return true;
  return (kernel->frame_slots >= kernel->args.count + ir_result_slots(kernel) &&
          kernel->frame_slots < 1 << 20) ||
         error_set(err, RG_ERROR_IR, "a frame of %d slots", kernel->frame_slots);
}

static bool task_fail(Verifier *v, const IrTask *task, const char *what) {
  int number = 0;
  while (v->kernel->tasks.items[number] != task) number++;
  return error_set(v->err, RG_ERROR_IR, "task %d: %s", number, what);
}

static bool verify_task_params(Verifier *v, const IrTask *task, const IrRegion *body) {
  bool is_leaves = task->kind == TASK_LEAVES && !task->cells;
  int count = body->params.count;
  const IrInst *mask = ir_lanes_mask(body);
  bool is_nodes = task->kind == TASK_NODES, may_have_mask = is_nodes || task->kind == TASK_RANGE;
  int lanes = mask && is_nodes ? task->lanes : 1; /* each lane is at another node */
  if (mask && (!may_have_mask || type_rows(mask->type) != task->lanes))
    return task_fail(v, task, "its mask has another number of lanes");
  if (mask) count--;
  if (is_nodes && count > task->axis_count &&
      type_equal(body->params.items[count - 1]->type, ir_lanes_type(TYPE(PTR), lanes)))
    count--;
  if (count != task->axis_count + is_leaves)
    return task_fail(v, task, "wrong number of parameters");
  if (is_leaves && !is_pointer(body->params.items[0]->type))
    return task_fail(v, task, "needs a cursor");
  for (int i = is_leaves; i < count; i++) {
    Type expected = is_leaves ? TYPE(I64) : ir_lanes_type(task->index, lanes);
    if (!type_equal(body->params.items[i]->type, expected))
      return task_fail(v, task, "indices are not of the index type");
  }
  return true;
}

static bool verify_block_sums(Verifier *v, const IrTask *task) {
  for (int i = 0; i < task->block_sums.count; i++) {
    const IrBlockSum *sum = &task->block_sums.items[i];
    int size = is_element(sum->type) ? type_size(sum->type) : 0;
    if (sum->tree < 0 || sum->tree >= v->kernel->trees.count || sum->offset < 0 ||
        sum->count <= 0 || size < 4 || sum->stride < size || sum->offset % size ||
        sum->stride % size)
      return task_fail(v, task, "a sum of its blocks is not valid");
  }
  return ir_block_bytes(task) <= IR_BLOCK_BYTES ||
         task_fail(v, task, "the sums of a block are too large");
}

static bool verify_task_tables(Verifier *v, const IrTask *task) {
  const IrKernel *kernel = v->kernel;
  if (task->kind == TASK_SERIAL)
    return (!task->axis_count && !task->lanes && !task->privatised && !task->interior &&
            !task->has_interior && !task->limits.count && !task->reductions.count) ||
           task_fail(v, task, "a serial task runs once: it has no axes, lanes or reductions");
  if (task->axis_count < 1 || task->axis_count > SNODE_MAX_AXES)
    return task_fail(v, task, "must have 1 to 8 axes");
  if (task->kind == TASK_RANGE) {
    if (task->bounds < 0 || task->bounds > kernel->frame_slots - 2 * task->axis_count)
      return task_fail(v, task, "the bounds are outside the frame");
  } else {
    bool level_ok = v->is_final || (task->level >= 0 && task->level < kernel->levels.count);
    bool tree_ok = task->tree >= 0 && task->tree < kernel->trees.count;
    bool manager_ok = task->manager >= 0 && task->manager <= INT16_MAX;
    if (!level_ok || !tree_ok || !manager_ok) return task_fail(v, task, "no such level or tree");
  }
  bool has_index = type_is_scalar(task->index) && type_is_integer(task->index);
  if (task->kind != TASK_LEAVES && !has_index) return task_fail(v, task, "needs an index type");
  bool cells_ok = !v->is_final && task->kind == TASK_LEAVES && task->cells_level >= 0 &&
                  task->cells_level < kernel->levels.count;
  if (task->cells && !cells_ok) return task_fail(v, task, "no such level of cells");
  bool lanes_ok = task->lanes == 0 || (task->kind != TASK_LEAVES && task->lanes > 1 &&
                                       task->lanes <= IR_MAX_LANES && is_power(task->lanes));
  if (!lanes_ok) return task_fail(v, task, "only ranges and nodes have lanes: 2, 4, ..");
  if (task->scalar_border && (!task->lanes || !task->interior))
    return task_fail(v, task, "has no interior that runs in lanes");
  if (task->full_vectors < 0 || (task->full_vectors && (!task->lanes || task->counts)))
    return task_fail(v, task, "has no full vectors");
  if ((task->extra_threads || task->spread > 1) && task->kind != TASK_LEAVES)
    return task_fail(v, task, "only leaves have more threads or fewer");
  if (task->spread < 0 || task->spread > IR_MAX_SPREAD || !is_power(task->spread))
    return task_fail(v, task, "threads that share a leaf are 2, 4, .. of a block");
  if (task->traffic < 0 || (task->traffic && (!task->lanes || task->kind != TASK_RANGE)))
    return task_fail(v, task, "only a range in lanes has non-temporal stores");
  if (task->privatised < 0 || task->privatised >= kernel->tasks.count)
    return task_fail(v, task, "no such privatised version");
  for (int i = 0; i < task->private_fields.count; i++)
    if (task->private_fields.items[i] < 0 || task->private_fields.items[i] >= kernel->fields.count)
      return task_fail(v, task, "no such field");
  for (int i = 0; i < task->constants.count; i++) {
    int32_t number = task->constants.items[i].slot - task->bounds;
    if (task->kind != TASK_RANGE || number < 0 || number >= 2 * task->axis_count)
      return task_fail(v, task, "a constant bound is not one of its bounds");
  }
  for (int i = 0; i < task->limits.count; i++) {
    const IrLimit *limit = &task->limits.items[i];
    bool is_there = limit->axis >= (limit->begins ? 0 : -1) && limit->axis < task->axis_count &&
                    limit->slot >= 0 && limit->slot < kernel->frame_slots;
    if (!is_there || !type_is_integer(limit->type) || type_bits(limit->type) < 32)
      return task_fail(v, task, "a limit of the interior is not valid");
  }
  for (int i = 0; i < task->reductions.count; i++) {
    const IrReduction *reduction = &task->reductions.items[i];
    bool slot_ok = reduction->slot >= 0 && reduction->slot < kernel->frame_slots;
    if (reduction->op >= IR_UPDATE_COUNT || !is_element(reduction->type) || !slot_ok)
      return task_fail(v, task, "a reduction is not valid");
  }
  return verify_block_sums(v, task);
}

static bool is_sum(void *data, IrInst *inst) {
  Type type = ((const IrTask *)data)->claim->params.items[0]->type;
  return inst->op != IR_REDUCE || (inst->imm == IR_UPDATE_ADD && inst->operand_count == 2 &&
                                   type_equal(type_element(type_at(inst, 1)), type));
}

/* An index per axis, and the mask of a body in lanes. */
static bool counts_over(const IrTask *counts, const IrRegion *body) {
  const IrInst *mask = ir_lanes_mask(body);
  bool ok = body->params.count == counts->axis_count + (mask != NULL) &&
            (!mask || type_rows(mask->type) == counts->lanes);
  for (int i = 0; ok && i < counts->axis_count; i++)
    ok = type_equal(body->params.items[i]->type, counts->index);
  return ok;
}

/* In the end bodies in lanes have their mask. */
static bool has_masks(const Verifier *v, const IrTask *task) {
  return !v->is_final || task->lanes < 2 ||
         ((task->scalar_border || ir_lanes_mask(task->body)) &&
          (!task->interior || ir_lanes_mask(task->interior)));
}

static bool verify_stage(Verifier *v, const IrTask *task) {
  bool is_sound = task->kind == TASK_RANGE && !task->idle && task->staged > 0 &&
                  task->staged <= IR_MAX_STAGED && task->claim->params.count == 1 &&
                  type_is_integer(task->claim->params.items[0]->type);
  return is_sound ? verify_region(v, task->claim, 1)
                  : task_fail(v, task, "does not stage what it claims");
}

/* The loop by which a chunk counts, and the claim that takes its sum (pass `aggregate_atomics`). */
static bool verify_counts(Verifier *v, const IrTask *task) {
  const IrTask *counts = task->counts;
  const IrRegion *claim = task->claim;
  if (task->staged && !counts && claim) return verify_stage(v, task);
  if (!counts || !claim || task->staged)
    return (!counts && !claim && !task->idle && !task->staged) ||
           task_fail(v, task, "needs both a counting loop and a claim, or neither");
  bool is_sound = !counts->counts && !counts->idle && counts->full_vectors >= 0 &&
                  (!counts->full_vectors || counts->lanes) && task->kind == TASK_RANGE &&
                  counts->kind == TASK_RANGE && counts->body &&
                  !counts->interior == !task->interior && claim->params.count == 1 &&
                  type_is_integer(claim->params.items[0]->type) && claim->last &&
                  type_equal(claim->last->type, claim->params.items[0]->type) &&
                  (counts->lanes == 0 ||
                   (counts->lanes > 1 && counts->lanes <= IR_MAX_LANES && is_power(counts->lanes)));
  if (!is_sound || !ir_walk(counts->body, is_sum, (void *)task) ||
      (counts->interior && !ir_walk(counts->interior, is_sum, (void *)task)))
    return task_fail(v, task, "does not count what it claims");
  if (!has_masks(v, counts) || !counts_over(counts, counts->body) ||
      (counts->interior && !counts_over(counts, counts->interior)))
    return task_fail(v, task, "counts over other indices");
  return verify_region(v, counts->body, 1) &&
         (!counts->interior || verify_region(v, counts->interior, 1)) && verify_region(v, claim, 1);
}

static bool verify_task(Verifier *v, const IrTask *task) {
  if ((unsigned)task->kind > TASK_SERIAL) return task_fail(v, task, "no such kind");
  if (!task->body || !verify_task_tables(v, task) || !verify_task_params(v, task, task->body))
    return false;
  v->in_serial = task->kind == TASK_SERIAL;
  v->in_body = !v->in_serial;
  v->in_row = false;
  v->loops = 0;
  if (!verify_region(v, task->body, 1)) return false;
  v->in_serial = false;
  if (task->interior &&
      (!verify_task_params(v, task, task->interior) || !verify_region(v, task->interior, 1)))
    return false;
  if (!has_masks(v, task)) return task_fail(v, task, "its iterations cannot be lanes");
  return verify_counts(v, task);
}

/* Runs for all functions before any body is verified, since bodies may INVOKE any of them. */
static bool verify_signature(const IrFunction *function, Error *err) {
  for (int i = 0; i < function->results.count; i++)
    if (!is_element(function->results.items[i]) || !type_is_scalar(function->results.items[i]))
      return error_set(err, RG_ERROR_IR, "a function's result is not a number or bool");
  for (int i = 0; i < function->body->params.count; i++)
    if (!is_element(function->body->params.items[i]->type))
      return error_set(err, RG_ERROR_IR, "a function's parameter is not a number or bool");
  return function->fault >= 0 || error_set(err, RG_ERROR_IR, "a function without such a fault");
}

static bool verify_called(Verifier *v, const IrFunction *function) {
  v->in_body = true;
  v->in_row = false;
  v->loops = 0;
  v->function = function;
  return verify_region(v, function->body, 1);
}

/* The use list of each value contains exactly the operands that refer to it, and none of a deleted
 * inst. */
static bool verify_uses(Verifier *v) {
  for (int id = 0; id < v->kernel->next_id; id++) {
    const IrInst *inst = v->seen[id];
    int count = 0;
    for (const IrUse *use = inst ? inst->uses : NULL; use; use = use->next) count++;
    if (inst && count != v->uses[id]) return wrong(v, inst, "its list of uses is wrong");
  }
  return true;
}

static bool verify(const IrKernel *kernel, bool is_final, Error *err) {
  if (!ir_finish(kernel, err)) return false;
  Verifier v = {.kernel = kernel,
                .is_final = is_final,
                .err = err,
                .visible = scratch_array(kernel->scratch, const IrInst *, kernel->next_id + 1),
                .seen = scratch_array(kernel->scratch, const IrInst *, kernel->next_id + 1),
                .uses = scratch_array(kernel->scratch, int, kernel->next_id + 1)};
  if (!verify_kernel_tables(kernel, err) || !verify_frame(kernel, err)) return false;
  for (int i = 0; i < kernel->functions.count; i++)
    if (!verify_signature(kernel->functions.items[i], err)) return false;
  if (!verify_region(&v, kernel->body, 1)) return false;
  for (int i = 0; i < kernel->tasks.count; i++)
    if (!verify_task(&v, kernel->tasks.items[i])) return false;
  for (int i = 0; i < kernel->functions.count; i++)
    if (!verify_called(&v, kernel->functions.items[i])) return false;
  return verify_uses(&v);
}

bool ir_verify(const IrKernel *kernel, Error *err) { return verify(kernel, false, err); }
bool ir_verify_final(const IrKernel *kernel, Error *err) { return verify(kernel, true, err); }
