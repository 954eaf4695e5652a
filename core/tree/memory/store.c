/* store.c - see store.h. */
#include "tree/memory/store.h"

#include <string.h>

#include <stdio.h>

#include "tree/memory/block.h"
#include "tree/tree.h"

bool store_init(Store *store, Owner *owner, Device *device, const StoreOptions *options,
                Error *err) {
  ASSERT(owner && device, "a store belongs to an owner and has a device");
  store->owner = owner;
  store->heap = &owner->heap;
  store->device = device;
  store->budget.limit = options->memory_bytes;
  store->tiny_chunks = options->tiny_chunks;
  counted_init(&store->counted, owner, server_of(device), &store->budget, options->allocations);
  device->native.allocator = store->counted.rt;
  device->budget = &store->budget;
  scratch_init(&store->text, store->heap);
  type_table_init(&store->types, store->heap);
  if (!device->table->allocate_zeros(device, &store->ambient, 1, err)) return false;
  store->zeros = device->table->map(device, &store->ambient);
  return true;
}

void store_deinit(Store *store) {
  if (!store->heap) return; /* store_init was not called */
  for (Tree *tree = store->trees; tree; tree = tree->next) storage_free(tree);
  while (store->blocks) block_free(store->blocks);
  store->device->table->free(store->device, &store->ambient);
  counted_deinit(&store->counted);
  store->device = NULL;
  type_table_deinit(&store->types);
  scratch_deinit(&store->text);
}

/* For the hint about an unknown type. */
static const char type_examples[] =
#define SCALAR(NAME, TEXT, ...) TEXT ", "
#include "type/type.def"
#undef SCALAR
    "vec2 .. vec4, mat2 .. mat4, struct{name:type,..} and so on";

char *store_read_type(Store *store, const char *text, const char *what, Type *type, Error *err) {
  char buffer[TYPE_NAME_SIZE];
  bool is_struct =
      !strncmp(text, "struct", strlen("struct")) || !strncmp(text, "array(", strlen("array("));
  if (is_struct && !type_read(&store->types, str_of(text), type, err)) return NULL;
  if (!is_struct && !type_parse_any(str_of(text), type)) {
    error_set(err, RG_ERROR_TYPE_UNKNOWN, "there is no type '%.40s' for %s", text, what);
    error_hint(err, "%s", type_examples);
    return NULL;
  }
  if (type_has_arrays(&store->types, *type)) {
    error_set(err, RG_ERROR_TYPE_UNKNOWN, "%s cannot hold arrays, as '%.60s' %s", what, text,
              text[0] == 'a' ? "is" : "does");
    error_hint(err, "use rg.list or rg.zeros, which count references to their elements");
    return NULL;
  }
  char *name = heap_copy_text(store->heap, type_name_in(&store->types, *type, buffer));
  if (!name) error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a type");
  return name;
}

Scratch *store_text(Store *store) {
  scratch_deinit(&store->text);
  return &store->text;
}

void store_collect(Tree *tree) {
  Store *store = tree->store;
  if (!store->gc_is_stopped && rt_tree_collect(storage_context(tree), &tree->rt))
    store->stats.gcs++;
}

void store_collect_all(Store *store, bool trims) {
  for (Tree *tree = store->trees; tree; tree = tree->next) {
    if (!tree->has_storage || !tree_reach(tree, DEVICE_WRITES, NULL)) continue;
    if (rt_tree_collect(storage_context(tree), &tree->rt)) store->stats.gcs++;
    if (trims) storage_trim(tree);
  }
}

void store_relieve(Store *store) {
  if (!store->is_short || store->gc_is_stopped) return;
  store->is_short = false; /* first, as storage_context calls this function */
  uint64_t given = 0;
  for (Tree *tree = store->trees; tree; tree = tree->next)
    if (tree->has_storage && tree_reach(tree, DEVICE_WRITES, NULL)) given += storage_compact(tree);
  store->is_short = !given; /* if nothing was freed now, try again later */
}

enum { MOST_OFFERED_TIB = 64 }; /* hints suggest no larger budget */

const char *store_more_than(uint64_t bytes, char buffer[32]) {
  uint64_t size = 1;
  while (size <= bytes >> 20 && size < (uint64_t)1 << 40) size *= 2;
  static const char *const units[] = {"MiB", "GiB", "TiB"};
  int unit = 0;
  for (; size >= 1024 && unit < 2; unit++) size >>= 10;
  snprintf(buffer, 32, "%llu%s", (unsigned long long)size, units[unit]);
  return buffer;
}

bool store_charge(Store *store, uint64_t needed, const char *what, Error *err) {
  RtBudget *budget = &store->budget;
  char limit[32], size[32], used[32], more[32], holders[320];
  if (rt_budget_take(budget, needed)) return true;
  store->is_short = true;
  store_relieve(store);
  if (rt_budget_take(budget, needed)) return true;
  error_set(err, RG_ERROR_BUDGET,
            "the memory budget of %s is exhausted: %s needs %s, %s are in use%s",
            bytes_text(budget->limit, limit), what, bytes_text(needed, size),
            bytes_text(budget->used, used), store_holders(store, holders, sizeof holders));
  if (needed >> 40 >= MOST_OFFERED_TIB) return error_hint(err, "check the extents");
  return error_hint(err, "set a larger budget: rg.init{ memory = \"%s\" }, or RG_MEMORY",
                    store_more_than(budget->used + needed, more));
}

/* A running launch may charge the budget at the same time. */
void store_uncharge(Store *store, uint64_t bytes) {
  __atomic_fetch_sub(&store->budget.used, bytes, __ATOMIC_RELAXED);
}

void store_count(StoreStats *stats, const Tree *tree) {
  for (int32_t m = 0; m < tree->rt.manager_count; m++) {
    stats->activations += tree->rt.managers[m].activations;
    stats->deactivations += tree->rt.managers[m].deactivations;
    stats->lists += tree->rt.managers[m].lists;
  }
}

StoreStats store_stats(const Store *store) {
  StoreStats stats = store->stats;
  for (const Tree *tree = store->trees; tree; tree = tree->next) store_count(&stats, tree);
  return stats;
}
