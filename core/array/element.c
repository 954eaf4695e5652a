/* element.c - access to elements from outside kernels: to one, or to all in row-major order. */
#include <string.h>

#include "array/array.h"
#include "array/item.h"
#include "tree/access/cell.h"
#include "tree/access/numbers.h"

static size_t element_size(const Array *array) {
  return (size_t)type_row(&array->store->types, array->type).size;
}

/* Number `part` of an element. */
typedef struct Part {
  Type type;
  int64_t offset;
} Part;
static Part part_of(const Array *array, int part) {
  const TypeTable *types = &array->store->types;
  return (Part){type_number(types, array->type, part), type_offset(types, array->type, part)};
}

static uint8_t *element_at(const Array *array, const int64_t *index) {
  uint8_t *at = array->data;
  for (int k = 0; k < array->rank; k++) at += index[k] * array->strides[k];
  return at;
}

static bool check_writable(const Array *array, Error *err) {
  char label[100];
  if (!array->is_constant) return true;
  error_set(err, RG_ERROR_ARGUMENT, "%s holds the bytes of a string and is read-only",
            array_label(array, label));
  return error_hint(err, "copy it: rg.array(rg.u8, #s):from_string(s)");
}

/* -- one element ------------------------------------------------------------------------------- */

static RgValue value_at(const Array *array, const uint8_t *at) {
  uint64_t bits[TYPE_MAX_NUMBERS];
  for (int k = 0; k < type_parts(array->type); k++) {
    Part part = part_of(array, k);
    bits[k] = 0;
    memcpy(&bits[k], at + part.offset, (size_t)type_size(part.type));
  }
  return vector_value(array->store, array->type, bits);
}

static void store_element(const Array *array, uint8_t *at, const uint64_t *bits) {
  for (int k = 0; k < type_parts(array->type); k++) {
    Part part = part_of(array, k);
    memcpy(at + part.offset, &bits[k], (size_t)type_size(part.type));
  }
}

/* Checks an index. Here an extent of 0 means no elements; in trees it means unbounded. */
static bool check_index(Array *array, const int64_t *index, int32_t index_count, Error *err) {
  char label[100];
  if (!array_check(array, err)) return false;
  if (!array->count)
    return error_set(err, RG_ERROR_INDEX_RANGE, "%s has no elements", array_label(array, label));
  return index_is_inside(array->shape, NULL, array->rank, index, index_count) ||
         index_check(array->shape, NULL, array->rank, index, index_count, array_label(array, label),
                     err);
}

/* Prepares the host's access to one element, at `from`; NULL: to all elements. */
static bool prepare_access(Array *array, const uint8_t *from, DeviceUse use, Error *err) {
  return device_reach(array->store->device, &array->block->rt, from, element_size(array), use, err);
}

static int64_t linear_index(const Array *array, const int64_t *index) {
  int64_t number = 0;
  for (int k = 0; k < array->rank; k++) number = number * array->shape[k] + index[k];
  return number;
}

bool array_get(Array *array, const int64_t *index, int32_t index_count, RgValue *value,
               Error *err) {
  if (!check_index(array, index, index_count, err)) return false;
  if (array->holds_arrays)
    return item_get(array->store, array->held, array->type_name, linear_index(array, index), value,
                    err);
  const uint8_t *at = element_at(array, index);
  if (!prepare_access(array, at, DEVICE_READS, err)) return false;
  *value = value_at(array, at);
  return true;
}

bool array_set(Array *array, const int64_t *index, int32_t index_count, const RgValue *value,
               Error *err) {
  char label[100];
  uint64_t bits[TYPE_MAX_NUMBERS];
  if (!check_index(array, index, index_count, err) || !check_writable(array, err)) return false;
  if (array->holds_arrays)
    return item_set(array->store, array->held, array->type_name, linear_index(array, index), value,
                    err);
  if (!vector_convert(array->store, array->type, value, bits, NULL, NULL))
    return vector_convert(array->store, array->type, value, bits, array_label(array, label), err);
  uint8_t *at = element_at(array, index);
  if (!prepare_access(array, at, DEVICE_WRITES, err)) return false;
  store_element(array, at, bits);
  return true;
}

bool array_convert(const Array *array, const RgValue *from, RgValue *to, Error *err) {
  char label[100];
  uint64_t bits[TYPE_MAX_NUMBERS];
  if (!vector_convert(array->store, array->type, from, bits, array_label(array, label), err))
    return false;
  *to = vector_value(array->store, array->type, bits);
  return true;
}

/* Do its elements keep their address until it is destroyed? Those of arrays that can grow do not,
 * and neither does memory that queued work may still move. */
static bool is_stationary(const Array *array) {
  const uint32_t grows = RT_COUNTED_OWN, flags = grows | RT_COUNTED_PINNED | RT_COUNTED_LENT;
  if (!array->held) return true;
  return (rt_counted_flags(array->held) & flags) != grows && !array->store->device->table->access;
}

bool array_view(Array *array, RgView *view, Error *err) {
  if (!array_check(array, err)) return false;
  Block *block = array->block;
  const bool *alive = &array->is_alive[array->is_moved]; /* for its current address */
  *view = (RgView){.rank = array->rank,
                   .alive = device_alive(array->store->device, &block->rt, alive),
                   .constant = array->is_constant};
  memcpy(view->extent, array->shape, sizeof array->shape);
  memcpy(view->stride, array->strides, sizeof array->strides);
  if (type_is_struct(array->type) || !view->alive || !is_stationary(array)) return true;
  if (!device_reach(array->store->device, &block->rt, NULL, 0, DEVICE_READS, err)) return false;
  view->first = array->data;
  view->step = type_size(type_element(array->type));
  return true;
}

/* -- all elements ------------------------------------------------------------------------------ */

/* Copying the bytes of arrays of arrays would copy references without counting them. */
bool array_check_plain(const Array *array, Error *err) {
  char label[100];
  if (!array_check(array, err)) return false;
  if (!array->holds_arrays) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            "the elements of %s hold arrays, and can only be read and written one by one",
            array_label(array, label));
  return error_hint(err, "use a[i], a:to_table() or a:from_table(t), or pass one element: a[0]");
}

typedef struct Walk { /* an odometer; `at` is the address of the element at `index` */
  const Array *array;
  int64_t index[ARRAY_MAX_AXES];
  uint8_t *at;
} Walk;

static Walk walk_begin(const Array *array) { return (Walk){.array = array, .at = array->data}; }

static void walk_next(Walk *walk) {
  const Array *array = walk->array;
  for (int k = array->rank - 1; k >= 0; k--) {
    walk->at += array->strides[k];
    if (++walk->index[k] < array->shape[k]) return;
    walk->at -= array->strides[k] * array->shape[k];
    walk->index[k] = 0;
  }
}

/* The length of a row: the elements along the last axis, or all of them if they are contiguous. */
static int64_t row_length(const Array *array) {
  return array->is_strided ? array->shape[array->rank - 1] : array->count;
}
static int64_t row_stride(const Array *array) {
  return array->is_strided ? array->strides[array->rank - 1] : (int64_t)element_size(array);
}

/* Advances to the first element of the next row. */
static void walk_row(Walk *walk) {
  const Array *array = walk->array;
  if (!array->is_strided) return;
  for (int k = array->rank - 2; k >= 0; k--) {
    walk->at += array->strides[k];
    if (++walk->index[k] < array->shape[k]) return;
    walk->at -= array->strides[k] * array->shape[k];
    walk->index[k] = 0;
  }
}

static void fill_rows(const Array *array, const uint64_t *bits) {
  int64_t length = row_length(array);
  Walk walk = walk_begin(array);
  for (int64_t n = 0; n < array->count; n += length, walk_row(&walk))
    for (int k = 0; k < type_parts(array->type); k++) {
      Part part = part_of(array, k);
      numbers_spread(walk.at + part.offset, row_stride(array), length, &bits[k],
                     type_size(part.type));
    }
}

/* *is_possible: can the device change the elements? If so, failures of queued work are reported
 * first, as whenever the host changes elements. */
static bool prepare_remote(Array *array, bool *is_possible, Error *err) {
  const Device *device = array->store->device;
  *is_possible =
      device->table->remote && array->block->rt.device && !array->is_strided && array->count;
  return !*is_possible || prepare_access(array, NULL, DEVICE_COUNTS, err);
}

/* Fills on the device, if it has the newest contents. */
static bool fill_remote(Array *array, const uint64_t *bits, bool *is_done, Error *err) {
  Device *device = array->store->device;
  RtTree *tree = &array->block->rt;
  bool is_possible;
  *is_done = false;
  if (!prepare_remote(array, &is_possible, err)) return false;
  for (int k = 0; is_possible && k < type_parts(array->type); k++) {
    Part part = part_of(array, k);
    DeviceSet set = {
        .cells = {.manager = -1,
                  .depth = 1,
                  .masked = -1,
                  .offset = (uint64_t)(array->data - tree->root) + (uint64_t)part.offset,
                  .counts = {(uint64_t)array->count},
                  .strides = {element_size(array)}},
        .size = (uint64_t)type_size(part.type),
        .bits = bits[k]};
    if (!device->table->remote->set(device, tree, &set, is_done, err)) return false;
    if (!*is_done) return true;
  }
  return true;
}

bool array_fill(Array *array, const RgValue *value, Error *err) {
  char label[100];
  uint64_t bits[TYPE_MAX_NUMBERS], any = 0;
  bool is_done;
  if (!array_check_plain(array, err) || !check_writable(array, err) ||
      !vector_convert(array->store, array->type, value, bits, array_label(array, label), err) ||
      !fill_remote(array, bits, &is_done, err))
    return false;
  if (is_done) return true;
  if (!prepare_access(array, NULL, DEVICE_WRITES, err)) return false;
  for (int k = 0; k < type_parts(array->type); k++) any |= bits[k];
  if (!any && !array->is_strided) {
    memset(array->data, 0, element_size(array) * (size_t)array->count);
    return true;
  }
  fill_rows(array, bits);
  return true;
}

static bool has_same_shape(const Array *a, const Array *b) {
  return type_equal(type_shape(a->type), type_shape(b->type)) && a->rank == b->rank &&
         !memcmp(a->shape, b->shape, sizeof a->shape[0] * (size_t)a->rank);
}

static bool copy_element(const Array *to, uint8_t *at, const Array *from, const uint8_t *source,
                         Error *err) {
  char label[100];
  for (int k = 0; k < type_parts(to->type); k++) {
    Part from_part = part_of(from, k), to_part = part_of(to, k);
    RgValue value = value_load(from_part.type, source + from_part.offset);
    if (!value_store(to_part.type, at + to_part.offset, &value, array_label(to, label), err))
      return false;
  }
  return true;
}

static bool copy_all(Array *array, const Array *from, Error *err) {
  bool is_same = type_equal(array->type, from->type);
  if (is_same && !array->is_strided && !from->is_strided) {
    memmove(array->data, from->data, element_size(array) * (size_t)array->count);
    return true;
  }
  Walk to = walk_begin(array), walk = walk_begin(from);
  for (int64_t n = 0; n < array->count; n++, walk_next(&to), walk_next(&walk)) {
    if (is_same) memcpy(to.at, walk.at, element_size(array));
    else if (!copy_element(array, to.at, from, walk.at, err)) return false;
  }
  return true;
}

/* Copies through a contiguous copy of the source, as the two may overlap. */
static bool copy_overlapping(Array *array, Array *from, Error *err) {
  Array contiguous = *from;
  contiguous.is_strided = false;
  int64_t bytes = (int64_t)element_size(from);
  for (int k = from->rank - 1; k >= 0; bytes *= from->shape[k--]) contiguous.strides[k] = bytes;
  Block *block =
      block_allocate(array->store, (uint64_t)bytes, 0, "a copy between overlapping arrays", err);
  if (!block) return false;
  contiguous.data = block->memory;
  bool ok = copy_all(&contiguous, from, err) && copy_all(array, &contiguous, err);
  block_release(block);
  return ok;
}

bool array_move_remote(Array *array, Array *from, int32_t stream, bool *is_done, Error *err) {
  Device *device = array->store->device;
  DeviceMove move = {.to = array->data,
                     .from = from->data,
                     .size_bytes = element_size(array) * (size_t)array->count,
                     .stream = stream};
  *is_done = false;
  if (!device->table->remote || array->is_strided || from->is_strided || !array->count ||
      !type_equal(array->type, from->type) || array_shares_memory(array, from))
    return true;
  return device->table->remote->move(device, &array->block->rt, &from->block->rt, &move, is_done,
                                     err);
}

static bool copy_remote(Array *array, Array *from, bool *is_done, Error *err) {
  const Device *device = array->store->device;
  *is_done = false;
  if (!device->table->remote || !from->block->rt.device) return true;
  return prepare_access(from, NULL, DEVICE_COUNTS, err) &&
         prepare_access(array, NULL, DEVICE_COUNTS, err) &&
         array_move_remote(array, from, 0, is_done, err);
}

bool array_copy(Array *array, Array *from, Error *err) {
  char label[100], other[100];
  if (!array_check_plain(array, err) || !array_check_plain(from, err) ||
      !check_writable(array, err))
    return false;
  if (array->store != from->store)
    return error_set(err, RG_ERROR_RUNTIME_MIX, "%s and %s belong to two runtimes",
                     array_label(array, label), array_label(from, other));
  if (!has_same_shape(array, from))
    return error_set(err, RG_ERROR_ARGUMENT, "%s and %s have different shapes",
                     array_label(array, label), array_label(from, other));
  bool is_done;
  if (array == from) return true;
  if (!copy_remote(array, from, &is_done, err)) return false;
  if (is_done) return true;
  if (!prepare_access(from, NULL, DEVICE_READS, err) ||
      !prepare_access(array, NULL, DEVICE_WRITES, err))
    return false;
  return array_shares_memory(array, from) ? copy_overlapping(array, from, err)
                                          : copy_all(array, from, err);
}

static bool check_count(Array *array, int64_t count, Error *err) {
  char label[100];
  if (!array_check_plain(array, err)) return false;
  int64_t own = array->count * type_parts(array->type);
  return count == own ||
         error_set(err, RG_ERROR_ARGUMENT, "%s has %lld elements, but %lld were given",
                   array_label(array, label), (long long)own, (long long)count);
}

bool array_read(Array *array, double *values, int64_t count, Error *err) {
  if (!check_count(array, count, err) || !prepare_access(array, NULL, DEVICE_READS, err))
    return false;
  int64_t length = row_length(array), parts = type_parts(array->type);
  Walk walk = walk_begin(array);
  for (int64_t n = 0; n < array->count; n += length, walk_row(&walk))
    for (int k = 0; k < parts; k++) {
      Part part = part_of(array, k);
      numbers_load(part.type, walk.at + part.offset, row_stride(array), length,
                   values + n * parts + k, parts);
    }
  return true;
}

bool array_read_i64(Array *array, int64_t *values, int64_t count, Error *err) {
  if (!check_count(array, count, err) || !prepare_access(array, NULL, DEVICE_READS, err))
    return false;
  Walk walk = walk_begin(array);
  for (int64_t n = 0; n < array->count; n++, walk_next(&walk))
    for (int k = 0; k < type_parts(array->type); k++) {
      Part part = part_of(array, k);
      *values++ = value_integer(part.type, walk.at + part.offset);
    }
  return true;
}

/* Converts a number of the host to the array's type. */
static RgValue value_of(Type type, const double *number, const int64_t *integer) {
  if (type_is_bool(type))
    return (RgValue){.kind = RG_VALUE_BOOL, .i64 = number ? *number != 0 : *integer != 0};
  if (number) return (RgValue){.kind = RG_VALUE_NUMBER, .number = *number};
  return (RgValue){.kind = type_is(type, TYPE_U64) ? RG_VALUE_U64 : RG_VALUE_I64, .i64 = *integer};
}

static bool all_fit(const Array *array, const double *numbers) {
  int64_t parts = type_parts(array->type);
  for (int k = 0; k < parts; k++)
    if (!numbers_fit(part_of(array, k).type, numbers + k, parts, array->count)) return false;
  return true;
}

static void write_rows(const Array *array, const double *numbers) {
  int64_t length = row_length(array), parts = type_parts(array->type);
  Walk walk = walk_begin(array);
  for (int64_t n = 0; n < array->count; n += length, walk_row(&walk))
    for (int k = 0; k < parts; k++) {
      Part part = part_of(array, k);
      numbers_store(part.type, walk.at + part.offset, row_stride(array), length,
                    numbers + n * parts + k, parts);
    }
}

static bool write_all(Array *array, const double *numbers, const int64_t *integers, int64_t count,
                      Error *err) {
  char label[100];
  if (!check_count(array, count, err) || !check_writable(array, err) ||
      !prepare_access(array, NULL, DEVICE_WRITES, err))
    return false;
  if (numbers && !array->overlaps && all_fit(array, numbers)) {
    write_rows(array, numbers);
    return true;
  }
  Walk walk = walk_begin(array);
  for (int64_t n = 0; n < array->count; n++, walk_next(&walk))
    for (int k = 0; k < type_parts(array->type); k++) {
      Part part = part_of(array, k);
      RgValue value = value_of(part.type, numbers, integers);
      if (!value_store(part.type, walk.at + part.offset, &value, array_label(array, label), err))
        return false;
      if (numbers) numbers++;
      else integers++;
    }
  return true;
}

bool array_write(Array *array, const double *values, int64_t count, Error *err) {
  return write_all(array, values, NULL, count, err);
}

bool array_write_i64(Array *array, const int64_t *values, int64_t count, Error *err) {
  return write_all(array, NULL, values, count, err);
}

/* -- raw bytes --------------------------------------------------------------------------------- */

bool array_check_block(Array *array, int64_t size_bytes, Error *err) {
  char label[100];
  if (!array_check_plain(array, err)) return false;
  if (array->is_strided)
    return error_set(err, RG_ERROR_ARGUMENT, "the elements of %s are not contiguous",
                     array_label(array, label));
  int64_t own = (int64_t)element_size(array) * array->count;
  return size_bytes == own ||
         error_set(err, RG_ERROR_ARGUMENT, "%s has %lld bytes, but %lld were given",
                   array_label(array, label), (long long)own, (long long)size_bytes);
}

bool array_read_bytes(Array *array, void *bytes, int64_t size_bytes, Error *err) {
  if (!array_check_block(array, size_bytes, err) || !prepare_access(array, NULL, DEVICE_READS, err))
    return false;
  memcpy(bytes, array->data, (size_t)size_bytes);
  return true;
}

bool array_put_remote(Array *array, const void *bytes, int64_t size_bytes, int32_t stream,
                      bool *is_done, Error *err) {
  Device *device = array->store->device;
  DevicePut put = {
      .to = array->data, .bytes = bytes, .size_bytes = (uint64_t)size_bytes, .stream = stream};
  *is_done = false;
  if (!device->table->remote || array->is_strided || array->is_constant) return true;
  return device->table->remote->put(device, &array->block->rt, &put, is_done, err);
}

bool array_write_bytes(Array *array, const void *bytes, int64_t size_bytes, Error *err) {
  if (!array_check_block(array, size_bytes, err) || !check_writable(array, err) ||
      !prepare_access(array, NULL, DEVICE_WRITES, err))
    return false;
  memcpy(array->data, bytes, (size_t)size_bytes);
  return true;
}
