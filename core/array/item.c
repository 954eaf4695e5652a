/* item.c - see item.h. */
#include "array/item.h"

#include <string.h>

#include "tree/access/cell.h"

typedef struct Item {
  Store *store;
  Type type;
  uint64_t size;  /* bytes of an element */
  uint64_t words; /* a bit per 8-byte word of an element, set if the word holds an array */
} Item;

static bool init_item(Item *item, Store *store, const char *type, Error *err) {
  *item = (Item){.store = store};
  if (!owner_check(store->owner, err) ||
      !type_read(&store->types, str_of(type ? type : ""), &item->type, err))
    return false;
  item->size = (uint64_t)type_row(&store->types, item->type).size;
  item->words = type_array_words(&store->types, item->type);
  return true;
}

static bool check_own(const Item *item, const RtCounted *counted, Error *err) {
  return counted->allocator == item->store->counted.rt ||
         error_set(err, RG_ERROR_RUNTIME_MIX, "an array belongs to another runtime");
}

/* Checks that kernels can access an array that is stored in another one. */
static bool check_reachable(const Item *item, const RtCounted *counted, Error *err) {
  if (counted_is_reachable(&item->store->counted, counted)) return true;
  error_set(err, RG_ERROR_NOT_YET,
            "with arch = \"cuda\", an rg.array or memory that an extension manages cannot be an "
            "element of another array yet");
  return error_hint(err, "copy it into an array of rg.zeros, which can");
}

/* -- making and growing ------------------------------------------------------------------------ */

static bool no_memory(const Item *item, uint64_t count, Error *err) {
  char name[TYPE_NAME_SIZE];
  error_set(err, RG_ERROR_BUDGET, "there is no memory left for an array of %llu elements of %.60s",
            (unsigned long long)count, type_name_in(&item->store->types, item->type, name));
  return error_hint(err, "set a larger budget: rg.init{ memory = \"8GiB\" }, or RG_MEMORY");
}

static bool count_elements(const int64_t *extents, int32_t rank, int64_t *count, Error *err) {
  *count = 1;
  if (rank < 1 || rank > TYPE_MAX_AXES || !extents)
    return error_set(err, RG_ERROR_ARGUMENT, "an array has 1 to %d axes, not %d", TYPE_MAX_AXES,
                     rank);
  for (int32_t k = 0; k < rank; k++) {
    if (extents[k] < 0)
      return error_set(err, RG_ERROR_ARGUMENT,
                       "an extent of an array must be a whole number of at least 0, got %lld",
                       (long long)extents[k]);
    *count = rt_array_times(*count, extents[k]);
  }
  return true;
}

RtCounted *item_create(Store *store, const char *type, const int64_t *extents, int32_t rank,
                       Error *err) {
  Item item;
  int64_t count;
  if (!init_item(&item, store, type, err) || !count_elements(extents, rank, &count, err))
    return NULL;
  RtContext context = {.allocator = store->counted.rt};
  int64_t made =
      rt_array_new(&context, count, (int32_t)item.size, (int64_t)item.words, rank > 1 ? rank : 0);
  if (!made) {
    no_memory(&item, (uint64_t)count, err);
    return NULL;
  }
  for (int32_t k = 0; k < rank && rank > 1; k++) rt_array_extent(made, k, extents[k]);
  return (RtCounted *)(uintptr_t)made;
}

RtCounted *item_slice(Store *store, RtCounted *counted, const char *type, int64_t first,
                      int64_t count, Error *err) {
  Item item;
  if (!init_item(&item, store, type, err) || !check_own(&item, counted, err)) return NULL;
  RtContext context = {.allocator = store->counted.rt};
  int64_t made =
      rt_array_slice(&context, (int64_t)(uintptr_t)counted, first, count, (int32_t)item.size);
  if (!made) no_memory(&item, 0, err);
  return (RtCounted *)(uintptr_t)made;
}

bool item_fail_length(Error *err) {
  error_set(err, RG_ERROR_LIST_FULL,
            "this array cannot grow or shrink: it is an rg.array, a slice or an array of which a "
            "slice was taken, or has several axes");
  return error_hint(err, "copy it: rg.zeros(T, n):copy_from(a) grows");
}

static void release_from(const Item *item, RtCounted *counted, uint64_t first) {
  for (uint64_t at = first; at + item->size <= counted->size_bytes; at += item->size)
    for (uint64_t k = 0; k < item->size / 8; k++)
      if (item->words >> k & 1) rt_array_release(rt_array_exchange(counted->data + at + 8 * k, 0));
}

bool item_resize(Store *store, RtCounted *counted, const char *type, int64_t count, Error *err) {
  Item item;
  uint64_t bytes, before = counted->size_bytes;
  if (!init_item(&item, store, type, err) || !check_own(&item, counted, err)) return false;
  bool can_grow =
      (counted->flags & (RT_COUNTED_OWN | RT_COUNTED_PINNED | RT_COUNTED_LENT)) == RT_COUNTED_OWN;
  if (count < 0 || __builtin_mul_overflow((uint64_t)count, item.size, &bytes))
    return error_set(err, RG_ERROR_ARGUMENT, "an array cannot have %lld elements",
                     (long long)count);
  if (!can_grow && bytes != before) return item_fail_length(err);
  if (!counted_reach(&store->counted, counted, NULL, 0, DEVICE_WRITES, err)) return false;
  uint64_t twice = 2 * counted->capacity, capacity = bytes > twice ? bytes : twice;
  if (bytes > counted->capacity && !rt_counted_reserve(counted, capacity) &&
      !rt_counted_reserve(counted, bytes))
    return no_memory(&item, (uint64_t)count, err);
  if (bytes < before && item.words) release_from(&item, counted, bytes);
  if (bytes > before) memset(counted->data + before, 0, (size_t)(bytes - before));
  rt_counted_resize(counted, bytes);
  return true;
}

/* -- elements ---------------------------------------------------------------------------------- */

static uint8_t *find_element(const Item *item, const RtCounted *counted, int64_t index,
                             Error *err) {
  uint64_t count = counted->size_bytes / item->size;
  if ((uint64_t)index < count) return counted->data + (uint64_t)index * item->size;
  error_set(err, RG_ERROR_INDEX_RANGE, "index %lld is outside an array of %llu elements",
            (long long)index, (unsigned long long)count);
  return NULL;
}

static int part_count(const Item *item) { return type_parts(item->type); }
static bool is_array(const Item *item, int part) {
  return type_number_is_array(&item->store->types, item->type, part);
}
static uint8_t *part_at(const Item *item, uint8_t *at, int part, size_t *size) {
  const TypeTable *types = &item->store->types;
  *size = (size_t)type_size(type_number(types, item->type, part));
  return at + type_offset(types, item->type, part);
}

bool item_get(Store *store, RtCounted *counted, const char *type, int64_t index, RgValue *value,
              Error *err) {
  Item item;
  uint64_t bits[TYPE_MAX_NUMBERS] = {0};
  uint8_t *at = NULL;
  if (!init_item(&item, store, type, err) || !check_own(&item, counted, err) ||
      !(at = find_element(&item, counted, index, err)))
    return false;
  if (!counted_reach(&store->counted, counted, at, item.size, DEVICE_READS, err)) return false;
  for (int k = 0; k < part_count(&item); k++) {
    size_t size;
    const uint8_t *from = part_at(&item, at, k, &size);
    memcpy(&bits[k], from, size);
    if (is_array(&item, k)) rt_array_acquire((int64_t)bits[k]);
  }
  *value = vector_value(store, item.type, bits);
  return true;
}

bool item_set(Store *store, RtCounted *counted, const char *type, int64_t index,
              const RgValue *value, Error *err) {
  Item item;
  uint64_t bits[TYPE_MAX_NUMBERS];
  uint8_t *at = NULL;
  if (!init_item(&item, store, type, err) || !check_own(&item, counted, err) ||
      !(at = find_element(&item, counted, index, err)) ||
      !vector_convert(store, item.type, value, bits, "an element of the array", err))
    return false;
  for (int k = 0; k < part_count(&item); k++) {
    const RtCounted *element = (const RtCounted *)(uintptr_t)bits[k];
    if (!is_array(&item, k) || !element) continue;
    if (!check_own(&item, element, err) || !check_reachable(&item, element, err)) return false;
  }
  if (!counted_reach(&store->counted, counted, at, item.size, DEVICE_WRITES, err)) return false;
  for (int k = 0; k < part_count(&item); k++) {
    size_t size;
    uint8_t *to = part_at(&item, at, k, &size);
    if (is_array(&item, k)) {
      rt_array_acquire((int64_t)bits[k]);
      rt_array_release(rt_array_exchange(to, (int64_t)bits[k]));
    } else {
      memcpy(to, &bits[k], size);
    }
  }
  return true;
}
