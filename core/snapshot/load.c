/* load.c - snapshot_load. Before anything changes, all requested items are found in the file and
 * compared with the program's, and arrays are read completely. The old contents of trees are kept
 * until the last one is loaded: a load that fails, for example for lack of budget, restores
 * them. */
#include "snapshot/directory.h"
#include "snapshot/saved_trees.h"
#include "snapshot/snapshot.h"

typedef struct Source { /* a tree or an array of the file */
  PackPart content, arrangement;
  const char *rows; /* a tree's lines `level` and `field` */
  int row_count;
  Str type, shape;  /* an array's */
  void *into;       /* Tree or Array to load it into; NULL: not requested */
  const char *name; /* of the first item that requested it */
} Source;

typedef struct Loading {
  Store *store;
  RtRandom *random;
  const char *path;
  RgSaved *items;
  int32_t count;
  Scratch scratch;
  Unpacker *unpacker;
  const char *text;
  Source *trees, *arrays;
  int tree_count, array_count;
  RtRandom saved;
  Arrangement arrangement;
  SavedTrees saved_trees;
} Loading;

static bool refuse(const Loading *l, Error *err) {
  return unpack_refuse(l->unpacker, "has an invalid directory", err);
}

/* -- the directory ----------------------------------------------------------------------------- */

static bool read_part(const DirectoryLine *line, int at, PackPart *part) {
  return directory_number(line->words[at], 10, &part->offset) &&
         directory_number(line->words[at + 1], 10, &part->size);
}

/* Reads the lines of the tree and moves *text past them. */
static bool read_tree(Loading *l, const DirectoryLine *line, const char **text) {
  uint64_t levels, fields;
  Source *source = &l->trees[l->tree_count++];
  DirectoryLine row;
  if (line->count != 8 || !directory_number(line->words[1], 10, &levels) ||
      !directory_number(line->words[2], 10, &fields) || levels > 1 << 20 || fields > 1 << 20 ||
      !read_part(line, 3, &source->content) || !read_part(line, 5, &source->arrangement))
    return false;
  source->rows = *text;
  source->row_count = (int)(levels + fields);
  for (int k = 0; k < source->row_count; k++)
    if (!directory_next(text, &row)) return false;
  return true;
}

static bool read_array(Loading *l, const DirectoryLine *line) {
  Source *source = &l->arrays[l->array_count++];
  source->type = line->words[1];
  source->shape = line->words[2];
  return line->count == 6 && read_part(line, 3, &source->content);
}

static bool read_line(Loading *l, const DirectoryLine *line, const char **text) {
  if (!line->count) return false;
  if (str_is(line->words[0], "tree")) return read_tree(l, line, text);
  if (str_is(line->words[0], "array")) return read_array(l, line);
  if (str_is(line->words[0], "random"))
    return (line->count == 3 || line->count == 4) &&
           directory_number(line->words[1], 10, &l->saved.seed) &&
           directory_number(line->words[2], 10, &l->saved.streams) &&
           (line->count == 3 || directory_number(line->words[3], 10, &l->saved.global_streams));
  return true;
}

static bool read_directory(Loading *l, Error *err) {
  l->text = directory_read(&l->scratch, l->unpacker, err);
  if (!l->text) return false;
  int lines = 0;
  for (const char *at = l->text; *at; at++) lines += *at == '\n';
  l->trees = scratch_array(&l->scratch, Source, 2 * lines);
  l->arrays = l->trees + lines;
  DirectoryLine line;
  for (const char *at = l->text; directory_next(&at, &line);)
    if (!read_line(l, &line, &at)) return refuse(l, err);
  return true;
}

/* -- requested items --------------------------------------------------------------------------- */

/* The line without the name at its end. */
static Str declared(const char *line) {
  const char *end = strchr(line, '\n'), *last = end;
  while (last > line && last[-1] != ' ') last--;
  return (Str){line, (int)(last - line)};
}

/* Skips the number of a struct's methods, "#2", which has a meaning in one process only. */
static int past_tag(Str text, int at) {
  if (at >= text.length || text.data[at] != '#') return at;
  at++;
  while (at < text.length && text.data[at] >= '0' && text.data[at] <= '9') at++;
  return at;
}

static bool is_alike(Str a, Str b) {
  int k = 0, j = 0;
  while ((k = past_tag(a, k)) < a.length) {
    j = past_tag(b, j);
    if (j == b.length || a.data[k] != b.data[j]) return false;
    k++, j++;
  }
  return past_tag(b, j) == b.length;
}

static bool refuse_tree(Loading *l, const char *name, const char *here, const char *there,
                        Error *err) {
  StrBuf mine, its;
  strbuf_init(&mine, &l->scratch);
  strbuf_init(&its, &l->scratch);
  directory_describe(&mine, here, there);
  directory_describe(&its, there, here);
  error_set(err, RG_ERROR_TREE_DECLARATION,
            "'%.60s' is declared differently in snapshot '%.100s': %.120s there, %.120s here", name,
            l->path, strbuf_end(&its), strbuf_end(&mine));
  return error_hint(err, "declare it as in the snapshot, or let rg.load(path) create it");
}

static bool compare_tree(Loading *l, const Source *source, const Tree *tree, const char *name,
                         Error *err) {
  StrBuf rows;
  strbuf_init(&rows, &l->scratch);
  directory_tree(&rows, tree);
  const char *here = strbuf_end(&rows), *there = source->rows;
  for (int k = 0; k < source->row_count || *here; k++) {
    bool is_there = k < source->row_count;
    if (!*here || !is_there || !is_alike(declared(here), declared(there)))
      return refuse_tree(l, name, here, is_there ? there : "", err);
    here = strchr(here, '\n') + 1;
    there = strchr(there, '\n') + 1;
  }
  return true;
}

/* Pairs an object of the snapshot with one of the program; each may be in one pair only. */
static bool pair_with(const Loading *l, Source *source, const Source *sources, int count,
                      void *into, const char *name, const char *what, Error *err) {
  if (source->into && source->into != into)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "'%.60s' and '%.60s' belong to one %s in snapshot '%.100s', but to two here",
                     source->name, name, what, l->path);
  for (int k = 0; k < count; k++)
    if (sources[k].into == into && &sources[k] != source)
      return error_set(err, RG_ERROR_ARGUMENT,
                       "'%.60s' and '%.60s' belong to two %ss in snapshot '%.100s', but to one "
                       "here",
                       sources[k].name, name, what, l->path);
  if (!source->into) source->name = name;
  source->into = into;
  return true;
}

static bool load_into_tree(Loading *l, uint64_t number, Tree *tree, const char *name, Error *err) {
  Source *source = number < (uint64_t)l->tree_count ? &l->trees[number] : NULL;
  if (!source) return refuse(l, err);
  if (tree->store != l->store)
    return error_set(err, RG_ERROR_RUNTIME_MIX, "'%.100s' belongs to another runtime", name);
  return pair_with(l, source, l->trees, l->tree_count, tree, name, "tree", err) &&
         tree_lay_out(tree, "its first use", err) && tree_check_own(tree, err) &&
         compare_tree(l, source, tree, name, err);
}

static bool load_into_array(Loading *l, uint64_t number, Array *array, const char *name,
                            Error *err) {
  Source *source = number < (uint64_t)l->array_count ? &l->arrays[number] : NULL;
  char shape[200];
  if (!source) return refuse(l, err);
  if (array->store != l->store)
    return error_set(err, RG_ERROR_RUNTIME_MIX, "'%.100s' belongs to another runtime", name);
  if (!array_check_plain(array, err)) return false;
  numbers_join(shape, sizeof shape, array->shape, array->rank, ",");
  if (array->is_strided || array->is_constant)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "'%.100s' is not an array that can be written as a "
                     "block",
                     name);
  if (!pair_with(l, source, l->arrays, l->array_count, array, name, "array", err)) return false;
  if (is_alike(source->type, str_of(array->type_name)) && str_is(source->shape, shape)) return true;
  return error_set(err, RG_ERROR_ARGUMENT,
                   "'%.60s' is an array of %.*s with shape %.*s in snapshot '%.100s', and here one "
                   "of %.60s with shape %s",
                   name, source->type.length, source->type.data, source->shape.length,
                   source->shape.data, l->path, array->type_name, shape);
}

static bool refuse_kind(const Loading *l, const RgSaved *item, Str there, Error *err) {
  return error_set(err, RG_ERROR_ARGUMENT, "'%.100s' has another kind in snapshot '%.100s': %.*s",
                   item->name, l->path, there.length, there.data);
}

static const char *word_of(const RgValue *value) {
  if (value->kind == RG_VALUE_ARRAY) return "array";
  return value->kind == RG_VALUE_FIELD ? "field" : "node";
}

static bool check_position(const Loading *l, uint64_t there, const RgSaved *item, Error *err) {
  const Field *field = (Field *)item->value.field;
  const Node *node = (Node *)item->value.node;
  bool is_field = item->value.kind == RG_VALUE_FIELD;
  uint64_t here = (uint64_t)(is_field ? directory_field_number(field) : node->snode->id);
  if (here == there) return true;
  return error_set(err, RG_ERROR_TREE_DECLARATION,
                   "'%.100s' is another %s of its tree in snapshot '%.100s' than here", item->name,
                   word_of(&item->value), l->path);
}

static bool load_handle(Loading *l, const DirectoryLine *line, RgSaved *item, Error *err) {
  const RgValue *value = &item->value;
  uint64_t number, place;
  if (!str_is(line->words[1], word_of(value))) return refuse_kind(l, item, line->words[1], err);
  if (!directory_number(line->words[2], 10, &number)) return refuse(l, err);
  if (value->kind == RG_VALUE_ARRAY)
    return load_into_array(l, number, (Array *)value->array, item->name, err);
  if (!directory_number(line->words[3], 10, &place)) return refuse(l, err);
  if (value->kind == RG_VALUE_FIELD && !field_lay_out((Field *)value->field, NULL, err))
    return false;
  const Node *node =
      value->kind == RG_VALUE_FIELD ? ((Field *)value->field)->node : (Node *)value->node;
  return load_into_tree(l, number, node->tree, item->name, err) &&
         check_position(l, place, item, err);
}

static bool load_value(Loading *l, const DirectoryLine *line, RgSaved *item, Error *err) {
  static const struct {
    const char *word;
    int kind;
  } kinds[] = {{"number", RG_VALUE_NUMBER},
               {"i64", RG_VALUE_I64},
               {"u64", RG_VALUE_U64},
               {"bool", RG_VALUE_BOOL}};
  if (str_is(line->words[1], "string")) {
    const char *text = directory_unescape(&l->store->text, line->words[2]);
    item->value = (RgValue){.kind = RG_VALUE_STRING, .text = text};
    return true;
  }
  for (int k = 0; k < 4; k++) {
    if (!str_is(line->words[1], kinds[k].word)) continue;
    item->value.kind = kinds[k].kind;
    return directory_number(line->words[2], 16, &item->value.u64) || refuse(l, err);
  }
  return refuse_kind(l, item, line->words[1], err);
}

static bool find_item(Loading *l, RgSaved *item, Error *err) {
  DirectoryLine line;
  for (const char *at = l->text; directory_next(&at, &line);) {
    if (line.count < 4 || !str_is(line.words[0], "item")) continue;
    if (strcmp(directory_unescape(&l->scratch, line.words[line.count - 1]), item->name)) continue;
    return item->value.kind == RG_VALUE_NIL ? load_value(l, &line, item, err)
                                            : load_handle(l, &line, item, err);
  }
  error_set(err, RG_ERROR_ARGUMENT, "snapshot '%.160s' contains nothing called '%.100s'", l->path,
            item->name);
  return error_hint(err, "rg.load(path) returns everything in it");
}

/* -- contents ---------------------------------------------------------------------------------- */

static bool load_tree(Loading *l, const Source *source, Error *err) {
  saved_trees_note_replaced(&l->saved_trees, source->into);
  return content_load(source->into, l->unpacker, source->content, source->arrangement,
                      &l->arrangement, err);
}

static uint64_t bytes_of(const Array *array) {
  return (uint64_t)array->count * (uint64_t)type_row(&array->store->types, array->type).size;
}

/* Does the part have as many bytes as the array? */
static bool check_array_part(Loading *l, const Source *source, Error *err) {
  uint8_t buffer[1 << 14];
  uint64_t left = bytes_of(source->into);
  if (!unpack_seek(l->unpacker, source->content, err)) return false;
  while (left) {
    size_t now = left < sizeof buffer ? (size_t)left : sizeof buffer;
    if (!unpack_read(l->unpacker, buffer, now, err)) return false;
    left -= now;
  }
  return unpack_is_at_end(l->unpacker) ||
         unpack_refuse(l->unpacker, "has a part that is too long", err);
}

static bool load_array(Loading *l, const Source *source, Error *err) {
  const Array *array = source->into;
  Device *device = l->store->device;
  return device_reach(device, (RtTree *)&array->block->rt, NULL, 0, DEVICE_WRITES, err) &&
         unpack_seek(l->unpacker, source->content, err) &&
         unpack_read(l->unpacker, array->data, bytes_of(array), err);
}

/* Does all checks that are possible before anything changes, and keeps the contents of trees. */
static bool prepare(Loading *l, Error *err) {
  for (int k = 0; k < l->array_count; k++)
    if (l->arrays[k].into && !check_array_part(l, &l->arrays[k], err)) return false;
  l->saved_trees.trees = scratch_array(&l->scratch, SavedTree, l->tree_count);
  for (int k = 0; k < l->tree_count; k++)
    if (l->trees[k].into && !saved_trees_add(&l->saved_trees, l->trees[k].into, err)) return false;
  return saved_trees_end(&l->saved_trees, err);
}

static bool load_all(void *data, Error *err) {
  Loading *l = data;
  l->unpacker = unpack_open(l->store->heap, l->path, &snapshot_format, err);
  if (!l->unpacker || !read_directory(l, err)) return false;
  for (int32_t k = 0; k < l->count; k++)
    if (!find_item(l, &l->items[k], err)) return false;
  if (!prepare(l, err)) return false;
  for (int k = 0; k < l->tree_count; k++)
    if (l->trees[k].into && !load_tree(l, &l->trees[k], err)) return false;
  for (int k = 0; k < l->array_count; k++)
    if (l->arrays[k].into && !load_array(l, &l->arrays[k], err)) return false;
  if (l->random) l->saved.rank = l->random->rank, *l->random = l->saved;
  return true;
}

static bool restore_all(void *data, Error *err) {
  Loading *l = data;
  return saved_trees_restore(&l->saved_trees, err);
}

/* Restores trees after a failure, which err describes. */
static void restore_trees(Loading *l, Error *err) {
  Error second, first = *err;
  error_clear(&second);
  if (guard_run(restore_all, l, &second)) return;
  error_clear(err);
  err->more = first.more;
  error_set(err, first.code, "%.200s; the previous contents could not be restored: %.200s",
            first.message, second.message);
}

bool snapshot_load(Store *store, RtRandom *random, const char *path, RgSaved *items, int32_t count,
                   Error *err) {
  Loading l = {.store = store, .random = random, .path = path, .items = items, .count = count};
  scratch_init(&l.scratch, store->heap);
  (void)store_text(store);
  bool ok = guard_run(load_all, &l, err);
  if (!ok) restore_trees(&l, err);
  arrangement_free(&l.arrangement);
  saved_trees_free(&l.saved_trees);
  unpack_close(l.unpacker);
  scratch_deinit(&l.scratch);
  return ok;
}

typedef struct TextReading {
  Store *store;
  const char *path, *text;
  Unpacker *unpacker;
} TextReading;

static bool read_text(void *data, Error *err) {
  TextReading *s = data;
  s->unpacker = unpack_open(s->store->heap, s->path, &snapshot_format, err);
  s->text = s->unpacker ? directory_read(store_text(s->store), s->unpacker, err) : NULL;
  return s->text;
}

bool snapshot_text(Store *store, const char *path, const char **text, Error *err) {
  TextReading s = {.store = store, .path = path};
  bool ok = guard_run(read_text, &s, err);
  unpack_close(s.unpacker);
  *text = s.text;
  return ok;
}
