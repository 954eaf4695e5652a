/* read_bytes.c - parses canonical bytes to IR, in the codegen library. Trusts nothing in its input.
 * Reading is sticky: the first mistake is kept as `why`, and from then on every number and count
 * reads as 0. A count never exceeds the remaining bytes, so memory stays proportional to the input.
 * A well-formed kernel is then verified like any other (ir_verify_final). Layout: bytes.h. */
#include "ir/attribute.h"
#include "ir/bytes.h"
#include "ir/lanes.h"
#include "ir/task.h"

enum { MOST_TREES = 1 << 14 };

typedef struct Input {
  Scratch *scratch;
  IrKernel *kernel;
  const uint8_t *at, *end;
  const char *why;      /* the first mistake; NULL: none so far */
  VEC(IrInst *) values; /* of the function being read */
} Input;

static uint64_t fail(Input *in, const char *why) {
  DEBUG_ASSERT(in->at <= in->end, "nothing is read past the end");
  if (!in->why) in->why = why;
  in->at = in->end;
  return 0;
}

/* -- numbers ----------------------------------------------------------------------------------- */

static uint64_t read_u64(Input *in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (in->at == in->end) return fail(in, "they end too early");
    uint8_t byte = *in->at++;
    if (shift == 63 && byte > 1) break;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  return fail(in, "a number is too long");
}

static int64_t read_i64(Input *in) {
  uint64_t value = read_u64(in);
  return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static int32_t read_i32(Input *in) {
  int64_t value = read_i64(in);
  return value == (int32_t)value ? (int32_t)value : (int32_t)fail(in, "a number is too large");
}

/* The number of items that follow, each of at least one byte. */
static int read_count(Input *in) {
  uint64_t count = read_u64(in);
  if (count > (uint64_t)(in->end - in->at)) return (int)fail(in, "a count is too large");
  return (int)count;
}

static int read_below(Input *in, int limit) {
  uint64_t value = read_u64(in);
  return value < (uint64_t)limit ? (int)value : (int)fail(in, "a number is out of its range");
}

static Type read_type(Input *in) {
  Type type = {(uint32_t)read_below(in, TYPE_TABLE_FIRST)};
  bool is_known = type_scalar_kind(type) <= TYPE_PLACE && type_cols(type) == 1 &&
                  (type_is_scalar(type) || ir_is_lanes(type_rows(type)));
  if (!is_known) fail(in, "a type does not exist");
  return is_known ? type : TYPE(NONE);
}

static const char *read_text(Input *in) {
  int length = read_count(in);
  DEBUG_ASSERT(length <= in->end - in->at, "the text is inside the input");
  const char *text = scratch_copy_text(in->scratch, (const char *)in->at, (size_t)length);
  in->at += length;
  return text;
}

static int read_axes(Input *in, int32_t axes[SNODE_MAX_AXES]) {
  int count = read_below(in, SNODE_MAX_AXES + 1);
  for (int i = 0; i < count; i++) axes[i] = read_i32(in);
  return count;
}

/* -- insts ------------------------------------------------------------------------------------- */

static void read_attributes(Input *in, IrInst *inst) {
  uint64_t mask = read_u64(in);
  if (mask >> 1 >> (IR_BIT_COUNT - 1)) fail(in, "an attribute is unknown");
#define IS_SET(member) (mask >> BIT_##member & 1)
  if (IS_SET(imm)) inst->imm = read_i64(in);
  if (IS_SET(field)) inst->field = read_i32(in);
  if (IS_SET(level)) inst->level = read_i32(in);
  if (IS_SET(entry)) inst->entry = read_below(in, RT_ENTRY_COUNT);
  if (IS_SET(tree)) inst->tree = read_i32(in);
  if (IS_SET(axis_count)) inst->axis_count = (int8_t)read_below(in, SNODE_MAX_AXES + 1);
  if ((IS_SET(offset) && !inst->offset) || (IS_SET(extent) && !inst->extent)) {
    fail(in, "an attribute is of other ops");
    return;
  }
  if (IS_SET(offset)) read_axes(in, inst->offset);
  if (IS_SET(extent)) read_axes(in, inst->extent);
#define READ_NUMBER(member) \
  if (IS_SET(member)) inst->member = read_i32(in);
#define READ_SHAPE(member) \
  if (IS_SET(member)) inst->member = (IrShape)read_below(in, IR_SHAPE_COUNT);
#define READ_FLAG(member) inst->member = IS_SET(member);
#define READ_KNOWN READ_FLAG
#define ATTRIBUTE(member, word, kind, ops) READ_##kind(member)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef READ_KNOWN
#undef READ_FLAG
#undef READ_SHAPE
#undef READ_NUMBER
#undef IS_SET
}

static void read_operands(Input *in, IrInst *inst) {
  int count = read_count(in);
  IrInst **operands = count ? scratch_array(in->scratch, IrInst *, count) : NULL;
  for (int i = 0; i < count; i++) {
    uint64_t distance = read_u64(in);
    if (distance < 1 || distance > (uint64_t)in->values.count) {
      fail(in, "an operand does not exist");
      return;
    }
    operands[i] = in->values.items[in->values.count - (int)distance];
  }
  ir_set_operands(in->kernel, inst, count, operands);
}

static void read_region(Input *in, IrRegion *region, int depth);

static void read_inst(Input *in, IrRegion *region, int depth) {
  IrOp op = (IrOp)read_below(in, IR_OP_COUNT);
  Type type = read_type(in);
  if (in->why) return;
  IrBuilder b = {.kernel = in->kernel, .region = region};
  IrInst *inst = ir_emit(&b, op, type, 0, NULL);
  read_attributes(in, inst);
  read_operands(in, inst);
  if (inst->per_lane && op == IR_FOR) inst->regions[1] = ir_region_create(in->kernel, inst);
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    read_region(in, inst->regions[i], depth + 1);
  if (!type_is_none(type)) vec_push(in->scratch, &in->values, inst);
}

static void read_region(Input *in, IrRegion *region, int depth) {
  if (depth > IR_MAX_NESTING) fail(in, "regions nest too deeply");
  int params = read_count(in);
  for (int i = 0; i < params && !in->why; i++) {
    IrInst *param = ir_region_param(in->kernel, region, read_type(in));
    vec_push(in->scratch, &in->values, param);
  }
  int count = read_count(in);
  for (int i = 0; i < count && !in->why; i++) read_inst(in, region, depth);
}

static void read_function(Input *in, IrRegion *body) {
  in->values.count = 0;
  read_region(in, body, 1);
}

/* -- tables and tasks -------------------------------------------------------------------------- */

static void read_values(Input *in) {
  int tables = read_count(in);
  for (int i = 0; i < tables && !in->why; i++) {
    IrTable table = {.type = read_type(in)};
    table.count = read_count(in);
    int64_t *values = scratch_array(in->scratch, int64_t, table.count);
    for (int k = 0; k < table.count; k++) values[k] = read_i64(in);
    table.values = values;
    vec_push(in->scratch, &in->kernel->tables, table);
  }
}

static void read_tables(Input *in) {
  IrKernel *kernel = in->kernel;
  int trees = read_below(in, MOST_TREES + 1); /* no bytes of their own follow */
  for (int i = 0; i < trees; i++) vec_push(in->scratch, &kernel->trees, (IrTree){0});
  int fields = read_count(in);
  for (int i = 0; i < fields && !in->why; i++) {
    IrField field = {.tree = read_i32(in), .array = -1, .name = ""};
    field.type = read_type(in);
    vec_push(in->scratch, &kernel->fields, field);
  }
  int levels = read_count(in);
  for (int i = 0; i < levels && !in->why; i++) {
    IrLevel level = {.tree = read_i32(in), .name = ""};
    vec_push(in->scratch, &kernel->levels, level);
  }
  int args = read_count(in);
  for (int i = 0; i < args && !in->why; i++) ir_add_arg(kernel, read_type(in), "", 0, 0);
  read_values(in);
}

static void read_reductions(Input *in, IrTask *task) {
  int count = read_count(in);
  for (int i = 0; i < count && !in->why; i++) {
    IrReduction reduction = {.op = (IrUpdate)read_below(in, IR_UPDATE_COUNT)};
    reduction.type = read_type(in);
    reduction.slot = read_i32(in);
    vec_push(in->scratch, &task->reductions, reduction);
  }
}

static void read_block_sums(Input *in, IrTask *task) {
  int count = read_count(in);
  for (int i = 0; i < count && !in->why; i++) {
    IrBlockSum sum = {.tree = read_i32(in)};
    sum.offset = read_i32(in);
    sum.stride = read_i32(in);
    sum.count = read_i32(in);
    sum.type = read_type(in);
    vec_push(in->scratch, &task->block_sums, sum);
  }
}

static void read_constant_bounds(Input *in, IrTask *task) {
  int count = read_count(in);
  for (int i = 0; i < count && !in->why; i++) {
    IrConstantBound bound = {.slot = read_i32(in)};
    bound.value = read_i64(in);
    vec_push(in->scratch, &task->constants, bound);
  }
}

static void read_interior(Input *in, IrTask *task, bool has_body) {
  for (int i = 0; task->has_interior && i < task->axis_count && i < SNODE_MAX_AXES; i++) {
    task->interior_begin[i] = read_i64(in);
    task->interior_end[i] = read_i64(in);
  }
  int limits = read_count(in);
  for (int i = 0; i < limits && !in->why; i++) {
    IrLimit limit = {.axis = read_i32(in)};
    limit.slot = read_i32(in);
    limit.less = read_i32(in);
    limit.type = read_type(in);
    limit.begins = read_i32(in) != 0;
    vec_push(in->scratch, &task->limits, limit);
  }
  if (!has_body) return;
  task->interior = ir_region_create(in->kernel, NULL);
  read_function(in, task->interior);
}

static IrRegion *read_own(Input *in) {
  IrRegion *body = ir_region_create(in->kernel, NULL);
  read_function(in, body);
  return body;
}

static void read_counts(Input *in, IrTask *task) {
  IrTask *counts = scratch_new(in->scratch, IrTask);
  *counts = *task;
  counts->scalar_border = false;
  counts->lanes = read_i32(in);
  counts->full_vectors = read_i32(in);
  counts->body = read_own(in);
  if (task->interior) counts->interior = read_own(in);
  task->counts = counts;
}

static void read_task(Input *in) {
  IrTask *task = scratch_new(in->scratch, IrTask);
  task->kind = (IrTaskKind)read_below(in, TASK_SERIAL + 1);
  int flags = read_below(in, 2 * TASK_STAGES);
  task->may_deactivate = flags & TASK_MAY_DEACTIVATE;
  task->independent = flags & TASK_INDEPENDENT;
  task->scalar_border = flags & TASK_SCALAR_BORDER;
  task->scalar = flags & TASK_SCALAR;
  task->has_interior = flags & TASK_HAS_INTERIOR;
  task->axis_count = read_i32(in);
  task->bounds = read_i32(in);
  task->index = read_type(in);
  task->tree = read_i32(in);
  task->manager = read_i32(in);
  read_axes(in, task->factors);
  task->block = read_i32(in);
  task->cost = read_i32(in);
  task->lanes = read_i32(in);
  task->full_vectors = read_i32(in);
  task->traffic = read_i32(in);
  task->spread = read_i32(in);
  read_reductions(in, task);
  read_block_sums(in, task);
  read_constant_bounds(in, task);
  task->body = ir_region_create(in->kernel, NULL);
  read_function(in, task->body);
  read_interior(in, task, flags & TASK_HAS_INTERIOR_BODY);
  if (flags & TASK_COUNTS) read_counts(in, task);
  if (flags & TASK_STAGES) task->staged = read_i32(in);
  if (flags & (TASK_COUNTS | TASK_STAGES)) task->claim = read_own(in);
  vec_push(in->scratch, &in->kernel->tasks, task);
}

static void read_called(Input *in) {
  IrFunction *function = scratch_new(in->scratch, IrFunction);
  function->name = "";
  function->fault = read_i32(in);
  int results = read_count(in);
  for (int i = 0; i < results && !in->why; i++)
    vec_push(in->scratch, &function->results, read_type(in));
  function->body = ir_region_create(in->kernel, NULL);
  read_function(in, function->body);
  vec_push(in->scratch, &in->kernel->functions, function);
}

static void read_result(Input *in) {
  Type type = read_type(in);
  int rows = read_below(in, TYPE_MAX_PARTS + 1), cols = read_below(in, TYPE_MAX_PARTS + 1);
  if (!in->why && type_is_none(type)) fail(in, "a result has no type");
  if (rows > 1 && !in->why && !type_make(type, rows, cols, &type))
    fail(in, "a result is not a vector");
  vec_push(in->scratch, &in->kernel->results, type);
}

static void read_head(Input *in, const char **target) {
  size_t magic_bytes = sizeof ir_bytes_magic;
  if ((size_t)(in->end - in->at) < magic_bytes ||
      memcmp(in->at, ir_bytes_magic, magic_bytes) != 0) {
    fail(in, "they have the wrong magic number");
    return;
  }
  in->at += magic_bytes;
  if (read_u64(in) != IR_BYTES_VERSION || read_u64(in) != IR_OP_COUNT)
    fail(in, "they were written by another version");
  *target = read_text(in);
  int flags = read_below(in, 2 * KERNEL_BOUNDED);
  in->kernel->fast_math = flags & KERNEL_FAST_MATH;
  in->kernel->unchecked = flags & KERNEL_UNCHECKED;
  in->kernel->is_bounded = flags & KERNEL_BOUNDED;
  int results = read_count(in);
  for (int i = 0; i < results && !in->why; i++) read_result(in);
  in->kernel->frame_slots = read_i32(in);
}

static void read_kernel(Input *in, const char **target) {
  read_head(in, target);
  read_tables(in);
  read_function(in, in->kernel->body);
  int tasks = read_count(in);
  for (int i = 0; i < tasks && !in->why; i++) read_task(in);
  int functions = read_count(in);
  for (int i = 0; i < functions && !in->why; i++) read_called(in);
  if (!in->why && in->at != in->end) fail(in, "something follows after the last function");
}

IrKernel *ir_read_bytes(Scratch *scratch, const uint8_t *data, int64_t length, const char **target,
                        Error *err) {
  Input in = {.scratch = scratch,
              .kernel = ir_kernel_create(scratch, ""),
              .at = data,
              .end = data + length};
  const char *read_target = "";
  read_kernel(&in, &read_target);
  Error why;
  error_clear(&why);
  if (!in.why && ir_verify_final(in.kernel, &why)) return *target = read_target, in.kernel;
  error_set(err, RG_ERROR_IR, "canonical bytes are not valid: %s", in.why ? in.why : why.message);
  return NULL;
}
