/* bulk.c - operations on whole fields. Inactive nodes are skipped: the cost is proportional to the
 * number of active cells.
 *
 * Arrays are row-major over the field's shape, the last axis fastest. */
#include <string.h>

#include "base/bits.h"
#include "tree/access/cell.h"
#include "tree/access/numbers.h"
#include "tree/packed.h"
#include "tree/remote.h"

/* -- fill -------------------------------------------------------------------------------------- */

typedef struct Fill {
  uint64_t bits;
  size_t size;
} Fill;

static bool fill_run(void *data, const CellRun *run) {
  const Fill *fill = data;
  DEBUG_ASSERT(fill->size && fill->size <= sizeof fill->bits, "a number has 1 to 8 bytes");
  if (!fill->bits && run->stride == fill->size) {
    memset(run->first, 0, fill->size * (size_t)run->count);
    return true;
  }
  numbers_spread(run->first, (int64_t)run->stride, run->count, &fill->bits, (int)fill->size);
  return true;
}

bool field_fill(Field *field, const RgValue *value, Error *err) {
  char label[100];
  uint64_t bits[TYPE_MAX_NUMBERS];
  bool is_done;
  if (!field_lay_out(field, NULL, err)) return false;
  if (!vector_convert(field->store, field->type, value, bits, field_label(field, label), err) ||
      !tree_check_own(field->node->tree, err))
    return false;
  if (field->words) return packed_fill(field, bits, err);
  if (!remote_fill(field, bits, &is_done, err)) return false;
  if (is_done) return true;
  if (!tree_reach(field->node->tree, DEVICE_WRITES, err)) return false;
  for (int k = 0; k < type_parts(field->type); k++) {
    Fill fill = {.bits = bits[k], .size = (size_t)type_size(field_number(field, k)->type)};
    if (!cell_walk(field, k, fill_run, &fill, err)) return false;
  }
  return true;
}

/* -- copy -------------------------------------------------------------------------------------- */

typedef struct Copy {
  Field *from, *to;
  RtContext context; /* for the target's tree; the walk uses the store's context for the source's */
  RtTree *tree;
  const SNodeComponent *component;
  Type from_type;
  Error *err;
} Copy;

static bool copy_element(Copy *copy, const int64_t *index, const uint8_t *from) {
  char label[100];
  Cell cell = cell_ensure(&copy->context, copy->to->node->snode, index);
  if (copy->context.error.kind) return false;
  uint8_t *to = cell_element(cell, copy->component);
  Type from_type = copy->from_type, to_type = copy->component->type;
  DEBUG_ASSERT(!copy->component->child, "numbers are copied, not containers");
  if (type_equal(from_type, to_type)) {
    memcpy(to, from, (size_t)type_size(to_type));
    return true;
  }
  RgValue value = value_load(from_type, from);
  return value_store(to_type, to, &value, field_label(copy->to, label), copy->err);
}

/* Are the run's cells contiguous in the target, too? Then activating the first one activates
 * all. */
static bool is_contiguous_in_target(const Copy *copy, const CellRun *run) {
  const SNode *level = copy->to->node->snode;
  const SNodeStep *last = snode_last_step(level);
  return run->step && snode_kind_is_dense(last->kind) && snode_is_dense(level) &&
         type_equal(copy->from_type, copy->component->type) &&
         snode_has_same_digits(run->step, last);
}

static bool copy_contiguous(Copy *copy, const CellRun *run) {
  Cell cell = cell_ensure(&copy->context, copy->to->node->snode, run->index);
  if (copy->context.error.kind) return false;
  numbers_copy(cell_element(cell, copy->component), (int64_t)copy->component->stride, run->first,
               (int64_t)run->stride, run->count, type_size(copy->component->type));
  return true;
}

static bool copy_run(void *data, const CellRun *run) {
  int64_t index[SNODE_MAX_AXES];
  const uint8_t *at = run->first;
  if (is_contiguous_in_target(data, run)) return copy_contiguous(data, run);
  memcpy(index, run->index, sizeof index);
  for (int64_t k = 0; k < run->count; k++, at += run->stride) {
    if (!copy_element(data, index, at)) return false;
    if (k + 1 < run->count) cell_next_in_run(run, index);
  }
  return true;
}

static bool has_same_shape(const Field *a, const Field *b) {
  const SNode *x = a->node->snode, *y = b->node->snode;
  return type_equal(type_shape(a->type), type_shape(b->type)) && x->rank == y->rank &&
         !memcmp(x->shape, y->shape, sizeof x->shape[0] * (size_t)x->rank);
}

static bool fail_shape(const Field *field, const Field *from, Error *err) {
  const SNode *x = field->node->snode, *y = from->node->snode;
  char label[100], other[100], extents[200], others[200];
  numbers_join(extents, sizeof extents, x->shape, x->rank, " x ");
  numbers_join(others, sizeof others, y->shape, y->rank, " x ");
  bool differ = strcmp(extents, others) != 0;
  return error_set(err, RG_ERROR_ARGUMENT, "%s and %s have %s%s%s%s", field_label(field, label),
                   field_label(from, other),
                   differ ? "different shapes: " : "elements of different shapes",
                   differ ? extents : "", differ ? " and " : "", differ ? others : "");
}

bool field_copy(Field *field, Field *from, Error *err) {
  char label[100], other[100];
  if (!field_lay_out(field, NULL, err) || !field_lay_out(from, NULL, err)) return false;
  if (field->store != from->store)
    return error_set(err, RG_ERROR_RUNTIME_MIX, "%s and %s belong to two runtimes",
                     field_label(field, label), field_label(from, other));
  if (!has_same_shape(field, from)) return fail_shape(field, from, err);
  if (field == from) return true;
  Tree *tree = field->node->tree;
  bool is_done;
  if (field->words || from->words)
    return tree_check_own(tree, err) && packed_copy(field, from, err);
  if (!tree_check_own(tree, err) || !remote_copy(field, from, &is_done, err)) return false;
  if (is_done) return true;
  if (!tree_reach(from->node->tree, DEVICE_READS, err) || !tree_reach(tree, DEVICE_WRITES, err))
    return false;
  Copy copy = {
      .from = from, .to = field, .context = *storage_context(tree), .tree = &tree->rt, .err = err};
  copy.context.trees = &copy.tree;
  bool ok = true;
  for (int k = 0; ok && k < type_parts(field->type); k++) {
    copy.component = field_number(field, k);
    copy.from_type = field_number(from, k)->type;
    ok = cell_walk(from, k, copy_run, &copy, err);
  }
  storage_context(tree)->error = copy.context.error;
  tree->store->changes++;
  return cell_refresh(tree, err) && ok;
}

/* -- read and write ---------------------------------------------------------------------------- */

typedef struct Transfer {
  const Field *field;
  double *numbers; /* one of these two is set */
  int64_t *integers;
  int part; /* the number of each element; numbers are adjacent in the array */
} Transfer;

static int64_t place_in_array(const Transfer *transfer, const int64_t *index) {
  const SNode *level = transfer->field->node->snode;
  int64_t number = 0;
  DEBUG_ASSERT(transfer->part < type_parts(transfer->field->type), "a number of the element");
  for (int k = 0; k < level->rank; k++) number = number * level->shape[k] + index[k];
  return number * type_parts(transfer->field->type) + transfer->part;
}

/* Does the step's container have the element order of the array? */
static bool is_row_major(const SNodeStep *step, const SNode *level) {
  int axis = level->rank - 1;
  for (int k = step->digit_count - 1; k >= 0; k--, axis--) {
    const SNodeDigit *digit = &step->digits[k];
    if (digit->position != axis || digit->weight != 1) return false;
    if (k > 0 && digit->size != level->shape[axis]) return false;
  }
  return true;
}

/* Can the run's bytes be copied to the array without conversion? */
static bool is_array_layout(const Transfer *transfer, const CellRun *run) {
  Type type = transfer->field->type; /* of a single number */
  bool is_same = transfer->integers && (type_is(type, TYPE_I64) || type_is(type, TYPE_U64));
  return is_same && run->step && run->stride == sizeof(int64_t) &&
         is_row_major(run->step, transfer->field->node->snode);
}

static void copy_whole_run(const Transfer *transfer, const CellRun *run) {
  Device *device = transfer->field->store->device;
  int64_t first = place_in_array(transfer, run->index);
  device->table->copy(device, &transfer->integers[first], run->first,
                      sizeof(int64_t) * (size_t)run->count);
}

/* Adjacent elements in memory, with a constant stride in the array. */
typedef struct Row {
  uint8_t *first;
  int64_t place, step, count;
} Row;
typedef void UseRow(const Transfer *transfer, const CellRun *run, const Row *row);

/* The array's stride along an axis, in elements. */
static int64_t axis_step(const Transfer *transfer, int axis) {
  const SNode *level = transfer->field->node->snode;
  int64_t step = type_parts(transfer->field->type);
  for (int k = axis + 1; k < level->rank; k++) step *= level->shape[k];
  return step;
}

/* Calls `use` for the rows of a run: the cells of its fastest digit. */
static void each_row(const Transfer *transfer, const CellRun *run, UseRow *use) {
  CellRun at = *run;
  const SNodeDigit *digit =
      run->step && run->step->digit_count ? &run->step->digits[run->step->digit_count - 1] : NULL;
  int64_t step = digit ? digit->weight * axis_step(transfer, digit->position) : 0, done = 0;
  while (done < run->count) {
    int64_t left = run->count - done, row = 1, *index = digit ? &at.index[digit->position] : NULL;
    if (digit) row = digit->size - floor_mod(floor_div(*index, digit->weight), digit->size);
    Row found = {.first = run->first + (uint64_t)done * run->stride,
                 .place = place_in_array(transfer, at.index),
                 .step = step,
                 .count = row < left ? row : left};
    ASSERT(found.count > 0, "each row moves on");
    use(transfer, run, &found);
    done += found.count;
    if (done == run->count) return;
    if (digit) *index += (found.count - 1) * digit->weight;
    cell_next_in_run(&at, at.index);
  }
}

static void read_row(const Transfer *transfer, const CellRun *run, const Row *row) {
  Type type = field_number(transfer->field, transfer->part)->type;
  if (transfer->numbers) {
    numbers_load(type, row->first, (int64_t)run->stride, row->count, &transfer->numbers[row->place],
                 row->step);
    return;
  }
  for (int64_t k = 0; k < row->count; k++)
    transfer->integers[row->place + k * row->step] =
        value_integer(type, row->first + (uint64_t)k * run->stride);
}

static bool read_run(void *data, const CellRun *run) {
  if (is_array_layout(data, run)) copy_whole_run(data, run);
  else each_row(data, run, read_row);
  return true;
}

static bool check_ends(const Field *field, Error *err) {
  const SNode *node = field->node->snode;
  char label[100];
  for (int k = 0; k < node->rank; k++) {
    if (!snode_is_unbounded(node, k)) continue;
    error_set(err, RG_ERROR_ARGUMENT,
              "%s has no number of elements: axis '%c' belongs to a hash and is unbounded",
              field_label(field, label), 'i' + node->level_axes[k]);
    return error_hint(err, "visit active cells: for i, v in pairs(x)");
  }
  return true;
}

static bool check_count(Field *field, int64_t count, Error *err) {
  char label[100];
  int64_t cells = type_parts(field->type);
  bool is_huge = false;
  if (!field_lay_out(field, NULL, err)) return false;
  if (!check_ends(field, err)) return false;
  for (int k = 0; k < field->node->snode->rank; k++)
    is_huge |= __builtin_mul_overflow(cells, field->node->snode->shape[k], &cells);
  if (is_huge)
    return error_set(err, RG_ERROR_TREE_TOO_LARGE, "%s has more elements than an array can hold",
                     field_label(field, label));
  return count == cells ||
         error_set(err, RG_ERROR_ARGUMENT, "%s has %lld elements, but %lld were given",
                   field_label(field, label), (long long)cells, (long long)count);
}

static bool read_all(Field *field, Transfer *transfer, Error *err) {
  bool ok = true;
  for (transfer->part = 0; ok && transfer->part < type_parts(field->type); transfer->part++)
    ok = cell_walk(field, transfer->part, read_run, transfer, err);
  return ok;
}

/* Copies the device's table to the array. */
static void take_table(const Transfer *transfer, const uint8_t *table, int64_t count) {
  const Field *field = transfer->field;
  int parts = type_parts(field->type);
  int64_t element = (int64_t)remote_offset(field, parts);
  ASSERT(count % parts == 0, "a table has whole elements");
  for (int part = 0; part < parts; part++) {
    const uint8_t *at = table + remote_offset(field, part);
    Type type = field_number(field, part)->type;
    if (transfer->numbers)
      numbers_load(type, at, element, count / parts, transfer->numbers + part, parts);
    for (int64_t k = part; transfer->integers && k < count; k += parts, at += element)
      transfer->integers[k] = value_integer(type, at);
  }
}

static bool read_array(Field *field, Transfer *transfer, int64_t count, Error *err) {
  uint8_t *table;
  if (!check_count(field, count, err)) return false;
  ASSERT(!transfer->numbers != !transfer->integers, "values go to one array");
  if (field->words) return packed_read_all(field, transfer->numbers, transfer->integers, err);
  if (!remote_read(field, &table, err)) return false;
  if (table) {
    take_table(transfer, table, count);
    heap_free(field->store->heap, table);
    return true;
  }
  if (!tree_reach(field->node->tree, DEVICE_READS, err)) return false;
  bool may_miss = field->node->snode->path->sparse_step >= 0;
  if (may_miss && transfer->numbers) memset(transfer->numbers, 0, sizeof(double) * (size_t)count);
  if (transfer->integers) memset(transfer->integers, 0, sizeof(int64_t) * (size_t)count);
  return read_all(field, transfer, err);
}

bool field_read(Field *field, double *values, int64_t count, Error *err) {
  Transfer transfer = {.field = field, .numbers = values};
  return read_array(field, &transfer, count, err);
}

bool field_read_i64(Field *field, int64_t *values, int64_t count, Error *err) {
  Transfer transfer = {.field = field, .integers = values};
  return read_array(field, &transfer, count, err);
}

/* Element `k` of the array, converted to the field's type. */
static RgValue value_of(const Transfer *transfer, Type type, int64_t k) {
  if (transfer->integers) {
    if (type_is_bool(type))
      return (RgValue){.kind = RG_VALUE_BOOL, .i64 = transfer->integers[k] != 0};
    return (RgValue){.kind = type_is(type, TYPE_U64) ? RG_VALUE_U64 : RG_VALUE_I64,
                     .i64 = transfer->integers[k]};
  }
  if (type_is_bool(type)) return (RgValue){.kind = RG_VALUE_BOOL, .i64 = transfer->numbers[k] != 0};
  return (RgValue){.kind = RG_VALUE_NUMBER, .number = transfer->numbers[k]};
}

/* Zeros do not activate a cell, as an inactive one reads as zero anyway. */
static bool write_number(const Transfer *transfer, RtContext *context, const int64_t *index,
                         int64_t k, Error *err) {
  const Field *field = transfer->field;
  const SNode *level = field->node->snode;
  int part = (int)(k % type_parts(field->type));
  Type type = field_number(field, part)->type;
  char label[100];
  uint64_t bits;
  Cell cell;
  RgValue value = value_of(transfer, type, k);
  if (!value_convert(type, &value, &bits, field_label(field, label), err)) return false;
  if (bits) cell = cell_ensure(context, level, index);
  else if (!cell_find(context, level, index, &cell)) return true;
  if (context->error.kind) return false;
  memcpy(cell_element(cell, &field->node->snode->components[field->component + part]), &bits,
         (size_t)type_size(type));
  return true;
}

static void write_row(const Transfer *transfer, const CellRun *run, const Row *row) {
  Type type = field_number(transfer->field, transfer->part)->type;
  numbers_store(type, row->first, (int64_t)run->stride, row->count, &transfer->numbers[row->place],
                row->step);
}

static bool write_run(void *data, const CellRun *run) {
  each_row(data, run, write_row);
  return true;
}

/* Can rows be written part by part? Only if every cell is active and every number fits. */
static bool writes_rows(const Field *field, const Transfer *transfer, int64_t count) {
  int parts = type_parts(field->type);
  bool can = transfer->numbers && field->node->snode->path->sparse_step < 0;
  for (int k = 0; can && k < parts; k++)
    can = numbers_fit(field_number(field, k)->type, transfer->numbers + k, parts, count / parts);
  return can;
}

static bool write_rows(Field *field, Transfer transfer, Error *err) {
  bool ok = true;
  for (transfer.part = 0; ok && transfer.part < type_parts(field->type); transfer.part++)
    ok = cell_walk(field, transfer.part, write_run, &transfer, err);
  return ok;
}

static bool write_all(Field *field, const Transfer *transfer, int64_t count, Error *err) {
  int64_t index[SNODE_MAX_AXES] = {0};
  if (field->words)
    return check_count(field, count, err) &&
           packed_write_all(field, transfer->numbers, transfer->integers, err);
  if (!check_count(field, count, err) || !tree_reach(field->node->tree, DEVICE_WRITES, err))
    return false;
  if (writes_rows(field, transfer, count)) return write_rows(field, *transfer, err);
  RtContext *context = storage_context(field->node->tree);
  bool ok = true;
  for (int64_t k = 0; ok && k < count; k++) {
    ok = write_number(transfer, context, index, k, err);
    if ((k + 1) % type_parts(field->type) == 0) cell_next_index(field->node->snode, index);
  }
  field->store->changes++;
  return cell_refresh(field->node->tree, err) && ok;
}

bool field_write(Field *field, const double *values, int64_t count, Error *err) {
  Transfer transfer = {.field = field, .numbers = (double *)values};
  return write_all(field, &transfer, count, err);
}

bool field_write_i64(Field *field, const int64_t *values, int64_t count, Error *err) {
  Transfer transfer = {.field = field, .integers = (int64_t *)values};
  return write_all(field, &transfer, count, err);
}
