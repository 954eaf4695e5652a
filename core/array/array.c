/* array.c - an array's handle: its shape, its memory, its destruction. */
#include "array/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_memory(Array *array) {
  Block *block = array->data ? array->block : NULL;
  array->data = NULL;
  array->is_alive[array->is_moved] = false;
  rt_release(array->held);
  array->held = NULL;
  if (!block) return;
  block->is_alive = NULL;
  block->rt.idle = 0; /* views become invalid, even if others hold the memory */
  block_release(block);
}

static void array_end(Object *object) {
  Array *array = (Array *)object;
  Heap *heap = array->store->heap;
  release_memory(array);
  if (array->block) object_release(&array->block->object);
  if (array->before) object_release(&array->before->object);
  heap_free(heap, array->name);
  heap_free(heap, array->type_name);
  heap_free(heap, array->destroyed_at);
  object_free(&array->object);
}

const char *array_label(const Array *array, char buffer[100]) {
  if (array->name && array->name[0]) snprintf(buffer, 100, "array '%.80s'", array->name);
  else snprintf(buffer, 100, "an array of %.80s", array->type_name);
  return buffer;
}

/* -- requested shapes -------------------------------------------------------------------------- */

static bool set_type(Array *array, const char *type, Error *err) {
  array->type_name = store_read_type(array->store, type ? type : "", "arrays", &array->type, err);
  return array->type_name != NULL;
}

static bool set_shape(Array *array, const int64_t *shape, int32_t rank, Error *err) {
  char label[100], extents[200];
  int64_t bytes = type_row(&array->store->types, array->type).size;
  if (rank < 1 || rank > ARRAY_MAX_AXES || !shape)
    return error_set(err, RG_ERROR_ARGUMENT, "an array has 1 to %d axes, not %d", ARRAY_MAX_AXES,
                     rank);
  array->rank = rank;
  array->count = 1;
  memcpy(array->shape, shape, sizeof *shape * (size_t)rank);
  for (int k = 0; k < rank; k++)
    if (shape[k] < 0)
      return error_set(err, RG_ERROR_ARGUMENT,
                       "an extent of an array must be a whole number of at least 0, got %lld",
                       (long long)shape[k]);
  bool is_huge = false;
  for (int k = rank - 1; k >= 0; k--) {
    array->strides[k] = bytes;
    is_huge |= __builtin_mul_overflow(bytes, shape[k], &bytes);
    is_huge |= __builtin_mul_overflow(array->count, shape[k], &array->count);
  }
  if (!is_huge && bytes < INT64_MAX / 4) return true;
  numbers_join(extents, sizeof extents, shape, rank, " x ");
  return error_set(err, RG_ERROR_TREE_TOO_LARGE, "%s with shape %s is larger than any memory",
                   array_label(array, label), extents);
}

static bool copy_name(Array *array, const char *name, Error *err) {
  array->name = heap_copy_text(array->store->heap, name ? name : "");
  return array->name || error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an array");
}

static bool set_declaration(Array *array, const char *type, const int64_t *shape, int32_t rank,
                            const char *name, Error *err) {
  return copy_name(array, name, err) && set_type(array, type, err) &&
         set_shape(array, shape, rank, err);
}

static Array *create_handle(Store *store, Error *err) {
  Array *array = object_create(store->owner, array_end, sizeof *array, err);
  if (array) array->store = store;
  return array;
}

/* -- memory of its own ------------------------------------------------------------------------- */

static bool attach_block(Array *array, Block *block) {
  if (!block) return false;
  object_retain(&block->object);
  array->block = block;
  array->is_alive[array->is_moved] = true;
  block->is_alive = &array->is_alive[array->is_moved];
  return true;
}

static bool allocate_memory(Array *array, Error *err) {
  char label[100];
  TypeRow row = type_row(&array->store->types, array->type);
  uint64_t bytes = (uint64_t)array->count * (uint64_t)row.size;
  uint64_t extents = array->rank > 1 ? 8 * (uint64_t)array->rank + 8 : 0;
  if (!attach_block(array,
                    block_allocate(array->store, bytes, extents, array_label(array, label), err)))
    return false;
  array->data = array->block->memory;
  array->first = array->data;
  array->past = array->data + bytes;
  /* a GPU's tasks cannot access the header */
  array->has_extents = extents && device_is_unified(array->store->device);
  if (array->has_extents)
    memcpy(array->data + (bytes + 7) / 8 * 8, array->shape, 8 * (size_t)array->rank);
  return true;
}

Array *array_create(Store *store, const char *type, const int64_t *shape, int32_t rank,
                    const char *name, Error *err) {
  Array *array = create_handle(store, err);
  if (array && set_declaration(array, type, shape, rank, name, err) && allocate_memory(array, err))
    return array;
  if (array) object_release(&array->object);
  return NULL;
}

/* -- external memory --------------------------------------------------------------------------- */

/* The stride of an axis with one index does not matter. */
static bool uses_stride(const Array *array, int axis) { return array->shape[axis] > 1; }

static bool is_pitched(const Array *array) {
  int64_t step = type_row(&array->store->types, array->type).size;
  for (int k = array->rank - 1; k > 0; step *= array->shape[k--])
    if (array->strides[k] != step) return false;
  return array->is_strided && array->rank > 1;
}

static bool read_strides(Array *array, const int64_t *strides, Error *err) {
  int64_t unit = type_row(&array->store->types, array->type).alignment;
  for (int k = 0; strides && k < array->rank; k++) {
    if (!uses_stride(array, k) || strides[k] == array->strides[k]) continue;
    if (strides[k] % unit) {
      error_set(err, RG_ERROR_ARGUMENT,
                "stride %lld of axis %d is not a multiple of %lld, the size in bytes of a %s",
                (long long)strides[k], k, (long long)unit, array->type_name);
      return error_hint(err, "strides are bytes from one element to the next, one for each axis");
    }
    array->strides[k] = strides[k];
    array->is_strided = true;
  }
  return true;
}

static int compare_strides(const void *a, const void *b) {
  const int64_t x = llabs(*(const int64_t *)a), y = llabs(*(const int64_t *)b);
  return (x > y) - (x < y);
}

/* May elements overlap? Not if each axis steps over everything that the axes with smaller strides
 * span. */
static bool overlaps(const Array *array) {
  int64_t steps[ARRAY_MAX_AXES][2], span = type_row(&array->store->types, array->type).size;
  int count = 0;
  for (int k = 0; k < array->rank; k++) {
    if (!uses_stride(array, k)) continue;
    steps[count][0] = array->strides[k];
    steps[count++][1] = array->shape[k];
  }
  qsort(steps, (size_t)count, sizeof steps[0], compare_strides);
  for (int k = 0; k < count; k++) {
    int64_t step = llabs(steps[k][0]);
    if (step < span) return true;
    span += step * (steps[k][1] - 1);
  }
  return false;
}

/* Finds the address of its first byte, and the one after its last byte. */
static bool find_ends(Array *array, Error *err) {
  char label[100];
  int64_t low = 0, high = array->count ? type_row(&array->store->types, array->type).size : 0;
  bool is_huge = false;
  for (int k = 0; k < array->rank && array->count; k++) {
    int64_t extent;
    is_huge |= __builtin_mul_overflow(array->strides[k], array->shape[k] - 1, &extent);
    if (is_huge) break;
    int64_t *end = extent < 0 ? &low : &high;
    is_huge |= __builtin_add_overflow(*end, extent, end) || llabs(*end) > INT64_MAX / 4;
  }
  uint64_t at = (uint64_t)array->data;
  if (is_huge || at < (uint64_t)-low || at > (uint64_t)INT64_MAX - (uint64_t)high)
    return error_set(err, RG_ERROR_ARGUMENT, "the strides of %s overflow the address space",
                     array_label(array, label));
  array->first = array->data + low;
  array->past = array->data + high;
  return true;
}

static bool set_pointer(Array *array, void *pointer, Error *err) {
  int64_t unit = type_row(&array->store->types, array->type).alignment;
  if (!pointer) return error_set(err, RG_ERROR_ARGUMENT, "a NULL pointer cannot be wrapped");
  if ((uint64_t)pointer % (uint64_t)unit)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "the pointer must be a multiple of %lld, the alignment of %s", (long long)unit,
                     array->type_name);
  Device *device = array->store->device;
  const DeviceMirrorTable *mirror = device->table->mirror;
  array->data = mirror ? mirror->host_at(device, pointer) : pointer;
  return array->data || error_set(err, RG_ERROR_ARGUMENT,
                                  "the pointer does not point to allocated GPU memory, or the host "
                                  "has no memory left for a copy");
}

static bool wrap_block(Array *array, const RgWrap *wrap, Error *err) {
  BlockExternal external = {.memory = array->first,
                            .size_bytes = (uint64_t)(array->past - array->first),
                            .is_constant = array->is_constant,
                            .release = wrap->release,
                            .context = wrap->context};
  return attach_block(array, block_wrap(array->store, &external, err));
}

Array *array_wrap(Store *store, const RgWrap *wrap, Error *err) {
  Array *array = create_handle(store, err);
  if (!array) return NULL;
  if (set_declaration(array, wrap->type, wrap->shape, wrap->rank, wrap->name, err) &&
      set_pointer(array, wrap->pointer, err) && read_strides(array, wrap->strides, err) &&
      find_ends(array, err)) {
    array->is_pitched = is_pitched(array);
    array->overlaps = overlaps(array);
    array->is_constant = wrap->constant;
    if (wrap_block(array, wrap, err)) return array;
  }
  object_release(&array->object);
  return NULL;
}

bool array_move(Array *array, uint8_t *to, void (*release)(void *context), void *context,
                Error *err) {
  uint64_t bytes = (uint64_t)(array->past - array->first);
  BlockExternal external = {
      .memory = to, .size_bytes = bytes, .release = release, .context = context};
  if (!device_reach(array->store->device, &array->block->rt, NULL, 0, DEVICE_WRITES, err))
    return false;
  Block *moved = block_wrap(array->store, &external, err);
  if (!moved) return false;
  memcpy(to, array->first, bytes);
  release_memory(array);
  array->has_extents = false;
  array->before = array->block; /* views of the old address check whether it is still valid */
  array->is_moved = true;
  array->data = to;
  array->first = to;
  array->past = to + bytes;
  return attach_block(array, moved);
}

/* -- counted memory ---------------------------------------------------------------------------- */

static bool check_size(const Array *array, const RtCounted *counted, Error *err) {
  char label[100];
  uint64_t needed =
      (uint64_t)array->count * (uint64_t)type_row(&array->store->types, array->type).size;
  if (needed <= counted->size_bytes) return true;
  return error_set(err, RG_ERROR_ARGUMENT, "%s needs %llu bytes, but the memory has %llu",
                   array_label(array, label), (unsigned long long)needed,
                   (unsigned long long)counted->size_bytes);
}

/* Reads the current address of the elements from the counted header. */
static bool locate_elements(Array *array, Error *err) {
  uint64_t size = (uint64_t)type_row(&array->store->types, array->type).size;
  if (array->is_whole) array->count = array->shape[0] = (int64_t)(array->held->size_bytes / size);
  if (!check_size(array, array->held, err) || !set_pointer(array, array->held->data, err))
    return false;
  array->first = array->data;
  array->past = array->data + (uint64_t)array->count * size;
  return true;
}

/* Follows elements that have moved. Such arrays have no views. */
static bool follow_moved(Array *array, Error *err) {
  Device *device = array->store->device;
  Block *before = array->block;
  if (!device->table->sync(device, err)) return false;
  uint64_t bytes = (uint64_t)(array->past - array->first);
  bool is_unchanged =
      array->data == array->held->data &&
      (array->is_whole ? bytes == array->held->size_bytes : bytes <= array->held->size_bytes);
  if (before && is_unchanged) return true;
  if (!locate_elements(array, err)) return false;
  BlockExternal external = {.memory = array->first,
                            .size_bytes = (uint64_t)(array->past - array->first)};
  Block *block = block_wrap(array->store, &external, err);
  if (!block) return false;
  if (before) {
    before->is_alive = NULL;
    block_release(before);
    object_release(&before->object);
  }
  return attach_block(array, block);
}

static bool set_taken_declaration(Array *array, const RtCounted *counted, const char *type,
                                  int32_t rank, Error *err) {
  char name[TYPE_NAME_SIZE];
  int64_t shape[ARRAY_MAX_AXES] = {0};
  TypeTable *types = &array->store->types;
  if (!type_read(types, str_of(type), &array->type, err) || !copy_name(array, "", err))
    return false;
  array->type_name = heap_copy_text(array->store->heap, type_name_in(types, array->type, name));
  if (!array->type_name)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an array");
  array->holds_arrays = type_has_arrays(types, array->type);
  array->is_whole = rank == 1;
  array->has_extents = true;
  for (int k = 0; rank > 1 && rank <= ARRAY_MAX_AXES && k < rank; k++)
    shape[k] = rt_array_axis((int64_t)(uintptr_t)counted, k);
  return set_shape(array, shape, rank, err);
}

/* Gives counted memory to an array that was declared. On failure, frees the array, and leaves the
 * reference to the memory with the caller. */
static Array *attach_counted(Array *array, bool is_declared, RtCounted *counted, Error *err) {
  if (is_declared) {
    array->held = counted;
    if (locate_elements(array, err)) return array;
    array->held = NULL;
  }
  array->data = NULL;
  object_release(&array->object);
  return NULL;
}

Array *array_take(Store *store, RtCounted *counted, const char *type, int32_t rank, Error *err) {
  Array *array = create_handle(store, err);
  if (!array) return NULL;
  return attach_counted(array, set_taken_declaration(array, counted, type, rank, err), counted,
                        err);
}

Array *array_adopt(Store *store, RtCounted *counted, const char *type, const int64_t *shape,
                   int32_t rank, Error *err) {
  Array *array = create_handle(store, err);
  if (!array) return NULL;
  return attach_counted(array, set_declaration(array, type, shape, rank, "", err), counted, err);
}

RtCounted *array_header(const Array *array) {
  if (array->held || !array->data) return array->held;
  return block_header(array->block);
}

bool array_can_be_value(const Array *array) {
  return !array->is_strided && !array->is_constant && (array->rank == 1 || array->has_extents);
}

bool array_value(Array *array, RtCounted **counted, Error *err) {
  char label[100];
  if (array_can_be_value(array)) return array_counted(array, counted, err);
  if (!array_check(array, err)) return false;
  error_set(err, RG_ERROR_ARGUMENT,
            "%s cannot be an element, a member or a slice: a wrap with strides or several axes, a "
            "string and a window cannot",
            array_label(array, label));
  return error_hint(err, "use a copy, which can: rg.zeros(T, ..):copy_from(a)");
}

bool array_counted(Array *array, RtCounted **counted, Error *err) {
  if (!array_check(array, err) ||
      !device_reach(array->store->device, &array->block->rt, NULL, 0, DEVICE_WRITES, err))
    return false;
  *counted = array_header(array);
  return true;
}

/* -- destruction ------------------------------------------------------------------------------- */

bool array_check(const Array *array, Error *err) {
  char label[100];
  if (!owner_check(array->object.owner, err)) return false;
  if (array->held) return follow_moved((Array *)array, err);
  return array->data || error_set(err, RG_ERROR_HANDLE, "%s was destroyed at %s",
                                  array_label(array, label), array->destroyed_at);
}

bool array_locate(Array *array, uint64_t *address, Error *err) {
  return device_locate(array->store->device, &array->block->rt, array->data, address, err);
}

bool array_expose(Array *array, uint64_t *address, Error *err) {
  RtTree *tree = &array->block->rt;
  return device_reach(array->store->device, tree, NULL, 0, DEVICE_EXPOSES, err) &&
         array_locate(array, address, err);
}

bool array_destroy(Array *array, const char *where, Error *err) {
  if (array->held ? !owner_check(array->object.owner, err) : !array_check(array, err)) return false;
  array->destroyed_at = heap_copy_text(array->store->heap, where ? where : "an unknown place");
  if (!array->destroyed_at)
    return error_set(err, RG_ERROR_MEMORY,
                     "the host has no memory left to note where an array is destroyed");
  release_memory(array);
  return true;
}

/* -- shared memory ----------------------------------------------------------------------------- */

bool array_is_within(const Array *array, const uint8_t *from, uint64_t size_bytes) {
  return array->first < from + size_bytes && from < array->past;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t remainder = a % b;
    a = b;
    b = remainder;
  }
  return a < 0 ? -a : a;
}

/* Elements of an array begin at its data plus multiples of this number; 0: there is one element. */
static int64_t common_stride(const Array *array, int64_t with) {
  for (int axis = 0; axis < array->rank; axis++)
    if (array->shape[axis] > 1) with = greatest_common_divisor(with, array->strides[axis]);
  return with;
}

static int64_t element_bytes(const Array *array) {
  const uint8_t *last = array->data;
  for (int axis = 0; axis < array->rank; axis++)
    if (array->strides[axis] > 0) last += (array->shape[axis] - 1) * array->strides[axis];
  return array->past - last;
}

/* Are they members of one struct, as x and y of `struct { float x, y; } points[n]`? Then all
 * strides of both are multiples of one number, and modulo it their elements do not overlap. */
static bool is_interleaved(const Array *a, const Array *b) {
  int64_t stride = common_stride(b, common_stride(a, 0));
  if (!stride) return false;
  int64_t offset = (b->data - a->data) % stride;
  if (offset < 0) offset += stride;
  return offset >= element_bytes(a) && offset + element_bytes(b) <= stride;
}

bool array_shares_memory(const Array *a, const Array *b) {
  return array_is_within(a, b->first, (uint64_t)(b->past - b->first)) && !is_interleaved(a, b);
}
