/* write.c - writes canonical bytes: the input of code generation, the cache key, and the identity
 * of kernels. Equal kernels have equal bytes: values are numbered in order of appearance, every
 * number has one encoding; names, lines, notes, ids and the trees themselves are omitted.
 * Layout: bytes.h. */
#include "ir/attribute.h"
#include "ir/bytes.h"
#include "ir/task.h"

typedef struct Writer {
  Scratch *scratch;
  VEC(uint8_t) out;
  int *numbers; /* by inst id: its index among the values of its function */
  int next;
} Writer;

static void write_byte(Writer *w, uint8_t byte) { vec_push(w->scratch, &w->out, byte); }

static void write_u64(Writer *w, uint64_t value) {
  for (; value >= 0x80; value >>= 7) write_byte(w, (uint8_t)(value | 0x80));
  write_byte(w, (uint8_t)value);
}

static void write_i64(Writer *w, int64_t value) {
  write_u64(w, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void write_data(Writer *w, const void *data, size_t length) {
  for (size_t i = 0; i < length; i++) write_byte(w, ((const uint8_t *)data)[i]);
}

static void write_text(Writer *w, const char *text) {
  write_u64(w, strlen(text));
  write_data(w, text, strlen(text));
}

/* A scalar, or lanes of one. */
static void write_type(Writer *w, Type type) {
  DEBUG_ASSERT(type.number < TYPE_TABLE_FIRST && type_cols(type) == 1, "a type of canonical bytes");
  write_u64(w, type.number);
}

static void write_axes(Writer *w, const int32_t axes[SNODE_MAX_AXES], int count) {
  write_u64(w, (uint64_t)count);
  for (int i = 0; i < count; i++) write_i64(w, axes[i]);
}

/* -- insts ------------------------------------------------------------------------------------- */

static uint64_t mask_of(const IrInst *inst) {
  uint64_t mask = 0;
#define MARK(member, condition) mask |= (uint64_t)((condition) != 0) << BIT_##member;
  MARK(imm, inst->imm)
  MARK(field, inst->field)
  MARK(level, inst->level)
  MARK(entry, inst->entry)
  MARK(tree, inst->tree)
  MARK(axis_count, inst->axis_count)
  MARK(offset, ir_axes_in_use(inst, inst->offset))
  MARK(extent, ir_axes_in_use(inst, inst->extent))
#define ATTRIBUTE(member, word, kind, ops) MARK(member, inst->member)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef MARK
  return mask;
}

static void write_attributes(Writer *w, const IrInst *inst) {
  uint64_t mask = mask_of(inst);
  write_u64(w, mask);
#define IS_SET(member) (mask >> BIT_##member & 1)
  if (IS_SET(imm)) write_i64(w, inst->imm);
  if (IS_SET(field)) write_i64(w, inst->field);
  if (IS_SET(level)) write_i64(w, inst->level);
  if (IS_SET(entry)) write_u64(w, (uint64_t)inst->entry);
  if (IS_SET(tree)) write_i64(w, inst->tree);
  if (IS_SET(axis_count)) write_u64(w, (uint64_t)inst->axis_count);
  if (IS_SET(offset)) write_axes(w, inst->offset, ir_axes_in_use(inst, inst->offset));
  if (IS_SET(extent)) write_axes(w, inst->extent, ir_axes_in_use(inst, inst->extent));
#define WRITE_NUMBER(member) \
  if (IS_SET(member)) write_i64(w, inst->member);
#define WRITE_SHAPE(member) \
  if (IS_SET(member)) write_u64(w, inst->member);
#define WRITE_FLAG(member) /* its bit in the mask is the value */
#define WRITE_KNOWN WRITE_FLAG
#define ATTRIBUTE(member, word, kind, ops) WRITE_##kind(member)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef WRITE_KNOWN
#undef WRITE_FLAG
#undef WRITE_SHAPE
#undef WRITE_NUMBER
#undef IS_SET
}

static void write_region(Writer *w, const IrRegion *region);

static void write_inst(Writer *w, const IrInst *inst) {
  write_u64(w, inst->op);
  write_type(w, inst->type);
  write_attributes(w, inst);
  write_u64(w, (uint64_t)inst->operand_count);
  for (int i = 0; i < inst->operand_count; i++) {
    int number = w->numbers[inst->operands[i]->id];
    DEBUG_ASSERT(number < w->next, "an operand is written before its user");
    write_u64(w, (uint64_t)(w->next - number));
  }
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) write_region(w, inst->regions[i]);
  if (!type_is_none(inst->type)) w->numbers[inst->id] = w->next++;
}

static void write_region(Writer *w, const IrRegion *region) {
  write_u64(w, (uint64_t)region->params.count);
  for (int i = 0; i < region->params.count; i++) {
    write_type(w, region->params.items[i]->type);
    w->numbers[region->params.items[i]->id] = w->next++;
  }
  uint64_t count = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) count++;
  write_u64(w, count);
  for (const IrInst *inst = region->first; inst; inst = inst->next) write_inst(w, inst);
}

static void write_function(Writer *w, const IrRegion *body) {
  w->next = 0;
  write_region(w, body);
}

/* -- tables and tasks -------------------------------------------------------------------------- */

static void write_tables(Writer *w, const IrKernel *kernel) {
  write_u64(w, (uint64_t)kernel->trees.count);
  write_u64(w, (uint64_t)kernel->fields.count);
  for (int i = 0; i < kernel->fields.count; i++) {
    write_i64(w, kernel->fields.items[i].tree);
    write_type(w, kernel->fields.items[i].type);
  }
  write_u64(w, (uint64_t)kernel->levels.count);
  for (int i = 0; i < kernel->levels.count; i++) write_i64(w, kernel->levels.items[i].tree);
  write_u64(w, (uint64_t)kernel->args.count);
  for (int i = 0; i < kernel->args.count; i++) write_type(w, kernel->args.items[i].type);
  write_u64(w, (uint64_t)kernel->tables.count);
  for (int i = 0; i < kernel->tables.count; i++) {
    const IrTable *table = &kernel->tables.items[i];
    write_type(w, table->type);
    write_u64(w, (uint64_t)table->count);
    for (int k = 0; k < table->count; k++) write_i64(w, table->values[k]);
  }
}

static void write_task(Writer *w, const IrTask *task) {
  DEBUG_ASSERT(!task->cells, "`leaf` has opened loops over cells");
  DEBUG_ASSERT(!task->claim == !(task->counts || task->staged), "what is counted is claimed");
  DEBUG_ASSERT(task->has_interior || !task->interior, "a body of the interior has its box");
  write_u64(w, task->kind);
  write_u64(w, (task->may_deactivate ? TASK_MAY_DEACTIVATE : 0) |
                   (task->independent ? TASK_INDEPENDENT : 0) |
                   (task->has_interior ? TASK_HAS_INTERIOR : 0) |
                   (task->interior ? TASK_HAS_INTERIOR_BODY : 0) |
                   (task->counts ? TASK_COUNTS : 0) |
                   (task->scalar_border ? TASK_SCALAR_BORDER : 0) |
                   (task->scalar ? TASK_SCALAR : 0) | (task->staged ? TASK_STAGES : 0));
  write_i64(w, task->axis_count);
  write_i64(w, task->bounds);
  write_type(w, task->index);
  write_i64(w, task->tree);
  write_i64(w, task->manager);
  write_axes(w, task->factors, SNODE_MAX_AXES);
  write_i64(w, task->block);
  write_i64(w, task->cost);
  write_i64(w, task->lanes);
  write_i64(w, task->full_vectors);
  write_i64(w, task->traffic);
  write_i64(w, task->spread);
  write_u64(w, (uint64_t)task->reductions.count);
  for (int i = 0; i < task->reductions.count; i++) {
    const IrReduction *reduction = &task->reductions.items[i];
    write_u64(w, reduction->op);
    write_type(w, reduction->type);
    write_i64(w, reduction->slot);
  }
  write_u64(w, (uint64_t)task->block_sums.count);
  for (int i = 0; i < task->block_sums.count; i++) {
    const IrBlockSum *sum = &task->block_sums.items[i];
    write_i64(w, sum->tree);
    write_i64(w, sum->offset);
    write_i64(w, sum->stride);
    write_i64(w, sum->count);
    write_type(w, sum->type);
  }
  write_u64(w, (uint64_t)task->constants.count);
  for (int i = 0; i < task->constants.count; i++) {
    write_i64(w, task->constants.items[i].slot);
    write_i64(w, task->constants.items[i].value);
  }
  write_function(w, task->body);
  for (int i = 0; task->has_interior && i < task->axis_count; i++) {
    write_i64(w, task->interior_begin[i]);
    write_i64(w, task->interior_end[i]);
  }
  write_u64(w, (uint64_t)task->limits.count);
  for (int i = 0; i < task->limits.count; i++) {
    const IrLimit *limit = &task->limits.items[i];
    write_i64(w, limit->axis);
    write_i64(w, limit->slot);
    write_i64(w, limit->less);
    write_type(w, limit->type);
    write_i64(w, limit->begins);
  }
  if (task->interior) write_function(w, task->interior);
  if (task->counts) {
    write_i64(w, task->counts->lanes);
    write_i64(w, task->counts->full_vectors);
    write_function(w, task->counts->body);
    if (task->interior) write_function(w, task->counts->interior);
  }
  if (task->staged) write_i64(w, task->staged);
  if (task->claim) write_function(w, task->claim);
}

static void write_called(Writer *w, const IrFunction *function) {
  write_i64(w, function->fault);
  write_u64(w, (uint64_t)function->results.count);
  for (int i = 0; i < function->results.count; i++) write_type(w, function->results.items[i]);
  write_function(w, function->body);
}

static void write_results(Writer *w, const IrKernel *kernel) {
  write_u64(w, (uint64_t)kernel->results.count);
  for (int i = 0; i < kernel->results.count; i++) {
    write_type(w, type_element(kernel->results.items[i]));
    write_u64(w, type_rows(kernel->results.items[i]));
    write_u64(w, type_cols(kernel->results.items[i]));
  }
}

IrBytes ir_write(Scratch *scratch, const IrKernel *kernel, const char *target) {
  Writer w = {.scratch = scratch, .numbers = scratch_array(scratch, int, kernel->next_id + 1)};
  write_data(&w, ir_bytes_magic, sizeof ir_bytes_magic);
  write_u64(&w, IR_BYTES_VERSION);
  write_u64(&w, IR_OP_COUNT);
  write_text(&w, target);
  write_u64(&w, (kernel->fast_math ? KERNEL_FAST_MATH : 0) |
                    (kernel->unchecked ? KERNEL_UNCHECKED : 0) |
                    (kernel->is_bounded ? KERNEL_BOUNDED : 0));
  write_results(&w, kernel);
  write_i64(&w, kernel->frame_slots);
  write_tables(&w, kernel);
  write_function(&w, kernel->body);
  write_u64(&w, (uint64_t)kernel->tasks.count);
  for (int i = 0; i < kernel->tasks.count; i++) write_task(&w, kernel->tasks.items[i]);
  write_u64(&w, (uint64_t)kernel->functions.count);
  for (int i = 0; i < kernel->functions.count; i++) write_called(&w, kernel->functions.items[i]);
  return (IrBytes){w.out.items, w.out.count};
}
