/* save.c - snapshot_save: contents first, then the directory with their positions. */
#include "snapshot/content.h"
#include "snapshot/directory.h"
#include "snapshot/snapshot.h"

typedef struct Saving {
  Store *store;
  const RtRandom *random;
  const char *path;
  const RgSaved *items;
  int32_t count;
  Scratch scratch;
  Packer *packer;
  Tree **trees; /* without duplicates; at most as many as there are items */
  Array **arrays;
  int tree_count, array_count;
  StrBuf directory;
} Saving;

static Tree *tree_of(const RgValue *value) {
  if (value->kind == RG_VALUE_FIELD) return ((Field *)value->field)->node->tree;
  return value->kind == RG_VALUE_NODE ? ((Node *)value->node)->tree : NULL;
}

static int find(void *const *list, int count, const void *what) {
  int k = 0;
  while (k < count && list[k] != what) k++;
  return k;
}

/* -- what can be saved ------------------------------------------------------------------------- */

static bool is_value(const RgValue *value) {
  return value->kind == RG_VALUE_NUMBER || value->kind == RG_VALUE_I64 ||
         value->kind == RG_VALUE_U64 || value->kind == RG_VALUE_BOOL ||
         value->kind == RG_VALUE_STRING;
}

static bool check_array(const Saving *s, Array *array, const char *name, Error *err) {
  char label[100];
  if (!array_check_plain(array, err)) return false;
  if (!array->is_strided) return true;
  error_set(err, RG_ERROR_ARGUMENT, "'%.100s': the elements of %s are not contiguous", name,
            array_label(array, label));
  return error_hint(err, "save a copy: rg.array(T, ..):copy_from(a)");
}

static bool add_item(Saving *s, const RgSaved *item, Error *err) {
  const RgValue *value = &item->value;
  if (is_value(value)) return true;
  if (value->kind == RG_VALUE_ARRAY) {
    Array *array = (Array *)value->array;
    if (array->store != s->store)
      return error_set(err, RG_ERROR_RUNTIME_MIX, "'%.100s' belongs to another runtime",
                       item->name);
    if (find((void *const *)s->arrays, s->array_count, array) == s->array_count)
      s->arrays[s->array_count++] = array;
    return check_array(s, array, item->name, err);
  }
  if (value->kind == RG_VALUE_FIELD && !field_lay_out((Field *)value->field, NULL, err))
    return false;
  Tree *tree = tree_of(value);
  if (!tree) return error_set(err, RG_ERROR_ARGUMENT, "'%.100s' cannot be saved", item->name);
  if (tree->store != s->store)
    return error_set(err, RG_ERROR_RUNTIME_MIX, "'%.100s' belongs to another runtime", item->name);
  if (find((void *const *)s->trees, s->tree_count, tree) == s->tree_count)
    s->trees[s->tree_count++] = tree;
  return tree_prepare(tree, DEVICE_READS, err) && tree_check_own(tree, err);
}

static bool check_names(const Saving *s, Error *err) {
  for (int32_t k = 0; k < s->count; k++)
    for (int32_t other = 0; other < k; other++)
      if (!strcmp(s->items[k].name, s->items[other].name))
        return error_set(err, RG_ERROR_ARGUMENT, "two objects are called '%.100s'",
                         s->items[k].name);
  return true;
}

/* -- contents ---------------------------------------------------------------------------------- */

static void add_part(StrBuf *out, PackPart part) {
  strbuf_format(out, " %llu %llu", (unsigned long long)part.offset, (unsigned long long)part.size);
}

static bool save_tree(Saving *s, Tree *tree, Error *err) {
  PackPart content, arrangement;
  if (!tree_reach(tree, DEVICE_READS, err)) return false;
  rt_tree_refresh(storage_context(tree), &tree->rt);
  if (!content_write(tree, s->packer, &content, &arrangement, err)) return false;
  strbuf_format(&s->directory, "tree %d %d", tree->layout->node_count,
                directory_field_count(tree->layout));
  add_part(&s->directory, content);
  add_part(&s->directory, arrangement);
  directory_name(&s->directory, tree->layout->name);
  directory_tree(&s->directory, tree);
  return true;
}

static bool save_array(Saving *s, Array *array, Error *err) {
  uint64_t bytes =
      (uint64_t)array->count * (uint64_t)type_row(&array->store->types, array->type).size;
  if (!device_reach(s->store->device, &array->block->rt, NULL, 0, DEVICE_READS, err)) return false;
  pack_write(s->packer, array->data, bytes);
  strbuf_format(&s->directory, "array %s", array->type_name);
  directory_numbers(&s->directory, array->shape, array->rank);
  add_part(&s->directory, pack_end_part(s->packer));
  directory_name(&s->directory, array->name);
  return true;
}

static void describe_item(Saving *s, const RgSaved *item) {
  static const char *const words[] = {[RG_VALUE_NUMBER] = "number",
                                      [RG_VALUE_I64] = "i64",
                                      [RG_VALUE_U64] = "u64",
                                      [RG_VALUE_BOOL] = "bool"};
  const RgValue *value = &item->value;
  StrBuf *out = &s->directory;
  strbuf_text(out, "item ");
  if (value->kind == RG_VALUE_ARRAY) {
    strbuf_format(out, "array %d", find((void *const *)s->arrays, s->array_count, value->array));
  } else if (value->kind == RG_VALUE_STRING) {
    strbuf_text(out, "string");
    directory_name(out, value->text);
    out->length--; /* removes the newline: the line continues */
  } else if (is_value(value)) {
    uint64_t bits = value->kind == RG_VALUE_BOOL ? value->i64 != 0 : value->u64;
    strbuf_format(out, "%s %llx", words[value->kind], (unsigned long long)bits);
  } else {
    int tree = find((void *const *)s->trees, s->tree_count, tree_of(value));
    const Field *field = (Field *)value->field;
    if (value->kind == RG_VALUE_FIELD) {
      strbuf_format(out, "field %d %d", tree, directory_field_number(field));
      directory_numbers(out, field->offset, field->has_offset ? field->node->snode->rank : 0);
    } else {
      strbuf_format(out, "node %d %d", tree, ((Node *)value->node)->snode->id);
    }
  }
  directory_name(out, item->name);
}

static bool save_all(void *data, Error *err) {
  Saving *s = data;
  s->trees = scratch_array(&s->scratch, Tree *, s->count);
  s->arrays = scratch_array(&s->scratch, Array *, s->count);
  strbuf_init(&s->directory, &s->scratch);
  if (!check_names(s, err)) return false;
  for (int32_t k = 0; k < s->count; k++)
    if (!add_item(s, &s->items[k], err)) return false;
  s->packer = pack_create(s->store->heap, s->path, &snapshot_format, err);
  if (!s->packer) return false;
  strbuf_format(&s->directory, "regolith %s\nrandom %llu %llu %llu\n", RG_VERSION,
                (unsigned long long)s->random->seed, (unsigned long long)s->random->streams,
                (unsigned long long)s->random->global_streams);
  for (int k = 0; k < s->tree_count; k++)
    if (!save_tree(s, s->trees[k], err)) return false;
  for (int k = 0; k < s->array_count; k++)
    if (!save_array(s, s->arrays[k], err)) return false;
  for (int32_t k = 0; k < s->count; k++) describe_item(s, &s->items[k]);
  uint32_t length = (uint32_t)s->directory.length;
  pack_write(s->packer, &length, sizeof length);
  pack_write(s->packer, strbuf_end(&s->directory), length);
  Packer *packer = s->packer;
  s->packer = NULL;
  return pack_finish(packer, err);
}

bool snapshot_save(Store *store, const RtRandom *random, const char *path, const RgSaved *items,
                   int32_t count, Error *err) {
  Saving s = {.store = store, .random = random, .path = path, .items = items, .count = count};
  scratch_init(&s.scratch, store->heap);
  bool ok = guard_run(save_all, &s, err);
  pack_abandon(s.packer);
  scratch_deinit(&s.scratch);
  return ok;
}
