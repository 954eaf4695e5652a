/* constant_table.c - tables whose contents are known when the kernel is compiled:
 *
 *     local offsets = {{-1, 0}, {0, 1}}      written in it: numbers, vectors, fields, tables
 *     offsets[2][1]                          0
 *     offsets[k][1], weights[k]              indices known at run time: a binary search, generated
 *                                            as a function; 0 out of bounds. The values are
 *                                            numbers, booleans or vectors, all of one kind
 *
 *     function(i: i64, j: i64)
 *       if i < 2 then if i < 1 then return 0 else .. end else .. end
 *     end
 *
 * A row that such an index picks may have a name: table_row.c.
 * Captured tables (captured_list.c) become such a table where they are indexed at run time. */
#include <math.h>

#include "front/parser.h"
#include "resolve/resolve.h"

enum { MOST_ITEMS = 4096 }; /* numbers of a table that is searched */

static int count_indices(const ListIndex *index) {
  int count = 0;
  for (; index; index = index->before) count++;
  return count;
}

Entity list_entity(const List *list, const char *name) {
  return (Entity){.kind = ENTITY_LIST, .name = name, .list = {.list = list}};
}

/* -- written tables ---------------------------------------------------------------------------- */

static bool read_item(Resolve *r, Expr *e, ListItem *item) {
  Expr *inner = sema_strip(e);
  if (inner->kind == AST_TABLE) {
    Entity entity = list_literal(r, inner);
    item->list = entity.list.list;
    return !r->s->failed;
  }
  if (!static_value(r, e, &item->value)) return false;
  if (item->value.kind == STATIC_NIL)
    return sema_fail(r->s, e, RG_ERROR_NAME_NIL, NULL, "a table in a kernel cannot have holes");
  if (item->value.text)
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                     "the values of a kernel are numbers and booleans",
                     "a table in a kernel does not hold strings");
  if (item->value.kind == STATIC_OTHER) item->entity = inner->entity;
  return true;
}

Entity list_literal(Resolve *r, Expr *e) {
  List *list = scratch_new(r->scratch, List);
  list->count = e->list.count;
  list->items = scratch_array(r->scratch, ListItem, e->list.count + 2);
  for (int i = 0; i < e->list.count; i++) {
    if (!read_item(r, e->list.items[i], &list->items[i + 1])) return (Entity){0};
  }
  return list_entity(list, NULL);
}

/* -- items ------------------------------------------------------------------------------------- */

static Entity fail_index(Resolve *r, Expr *e, const Entity *object, int64_t key) {
  const char *name = object->name ? object->name : sema_source(r->s, e->left);
  sema_fail(r->s, e, RG_ERROR_INDEX_RANGE, key == 0 ? "lists start at 1, as in Lua" : NULL,
            "'%s' has %d %s, and no [%lld]", name, object->list.list->count,
            object->list.list->count == 1 ? "item" : "items", (long long)key);
  return (Entity){0};
}

/* Turns e into the item. */
Entity list_take(Resolve *r, Expr *e, const ListItem *item, const char *name) {
  e->is_item = true;
  if (item->list) return list_entity(item->list, name);
  if (item->value.kind == STATIC_OTHER) return item->entity;
  if (item->value.kind == STATIC_VECTOR) return static_write_vector(r, e, &item->value);
  *e = *literal_static(r, e->ast, &item->value);
  return e->entity;
}

/* -- run-time indices -------------------------------------------------------------------------- */

typedef struct Search {
  Resolve *r;
  StrBuf out;
  int left; /* numbers that it may still have */
  int level;
  bool is_bad;        /* it has other kinds of values, or tables of different depths */
  bool counts;        /* searches the lengths of its items, which are tables */
  const Static *like; /* the first value, whose kind all must have */
} Search;

static void write_number(StrBuf *out, const Static *item) {
  double number = item->number;
  if (item->kind == STATIC_WIDE && item->is_unsigned)
    strbuf_format(out, "%lluULL", (unsigned long long)item->bits);
  else if (item->kind == STATIC_WIDE && item->bits == (uint64_t)INT64_MIN)
    strbuf_format(out, "(-9223372036854775807LL - 1LL)");
  else if (item->kind == STATIC_WIDE) strbuf_format(out, "%lldLL", (long long)item->bits);
  else if (number != number) strbuf_format(out, "(0.0 / 0.0)");
  else if (isinf(number)) strbuf_format(out, number > 0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)");
  else if (number == floor(number) && fabs(number) < 0x1p53 && !(number == 0 && signbit(number)))
    strbuf_format(out, "%.0f", number);
  else strbuf_float(out, 'e', 17, number);
}

static void write_list(Search *s, const List *list, int levels);

static bool is_number(const Static *value) {
  return value->kind == STATIC_NUMBER || value->kind == STATIC_WIDE;
}

static bool is_alike(const Static *a, const Static *b) {
  if (is_number(a)) return is_number(b);
  if (a->kind != b->kind) return false;
  return a->kind == STATIC_BOOL || (a->kind == STATIC_VECTOR && type_equal(a->shape, b->shape) &&
                                    type_equal(a->type, b->type));
}

/* Writes `return 3`, `return true`, `return {1, 2}`; of zeros if `value` is NULL. */
static void write_return(Search *s, const Static *value) {
  static const Static nothing = {.kind = STATIC_NUMBER};
  bool is_vector = s->like && s->like->kind == STATIC_VECTOR;
  int count = is_vector ? type_parts(s->like->shape) : 1;
  strbuf_format(&s->out, is_vector ? "return {" : "return ");
  for (int k = 0; k < count; k++) {
    Static number = !value ? nothing : is_vector ? static_number_in(value, k) : *value;
    bool is_bool = s->like && (s->like->kind == STATIC_BOOL || type_is_bool(s->like->type));
    if (k) strbuf_format(&s->out, ", ");
    if (is_bool) strbuf_format(&s->out, number.number != 0 ? "true" : "false");
    else write_number(&s->out, &number);
  }
  if (is_vector) strbuf_format(&s->out, "}");
}

static void write_item(Search *s, const ListItem *item, int levels) {
  Static length = {.kind = STATIC_NUMBER, .number = item->list ? item->list->count : 0};
  const Static *value = s->counts ? &length : &item->value;
  if (levels || s->counts) s->is_bad |= !item->list;
  else s->is_bad |= item->list || !s->like || !is_alike(s->like, value);
  if (!levels) s->left -= value->kind == STATIC_VECTOR ? type_parts(value->shape) : 1;
  s->is_bad |= s->left < 0;
  if (s->is_bad) return;
  if (levels) write_list(s, item->list, levels);
  else write_return(s, value);
}

/* Of the generated function's parameter. Messages show it: 'index', 'index2'. */
static const char *index_name(const Search *s, int level) {
  return level ? scratch_format(s->r->scratch, "index%d", level + 1) : "index";
}

/* Writes the search among the items from `first` to `last`, where the one before the list's first
 * and the one after its last are zero. */
static void write_search(Search *s, const List *list, int first, int last, int levels) {
  if (first == last) {
    if (first >= 1 && first <= list->count) write_item(s, &list->items[first], levels);
    else write_return(s, NULL);
    return;
  }
  int middle = first + (last - first) / 2;
  strbuf_format(&s->out, "if %s < %d then ", index_name(s, s->level), middle + 1);
  write_search(s, list, first, middle, levels);
  strbuf_format(&s->out, " else ");
  write_search(s, list, middle + 1, last, levels);
  strbuf_format(&s->out, " end");
}

static void write_list(Search *s, const List *list, int levels) {
  s->level++;
  write_search(s, list, 0, list->count + 1, levels - 1);
  s->level--;
}

static const Static *first_value(const List *list, int levels) {
  for (; levels > 1 && list && list->count; levels--) list = list->items[1].list;
  return list && list->count && !list->items[1].list ? &list->items[1].value : NULL;
}

/* The annotated result type; none for numbers, whose type follows from their use. */
static const char *result_type(Search *s) {
  char name[TYPE_NAME_SIZE];
  if (!s->like || s->like->kind != STATIC_VECTOR) return "";
  return scratch_format(s->r->scratch, ": %s",
                        type_name(type_shaped(s->like->type, s->like->shape), name));
}

static Ast *write_function(Search *s, const List *list, int levels) {
  s->like = s->counts ? NULL : first_value(list, levels);
  strbuf_init(&s->out, s->r->scratch);
  strbuf_format(&s->out, "function(");
  for (int k = 0; k < levels; k++)
    strbuf_format(&s->out, "%s%s: i64", k ? ", " : "", index_name(s, k));
  strbuf_format(&s->out, ")%s ", result_type(s));
  s->level = -1;
  write_list(s, list, levels);
  strbuf_format(&s->out, " end");
  if (s->is_bad) return NULL;
  Source *source = source_create(s->r->scratch, str_of(strbuf_end(&s->out)), "table", 1);
  return parse_kernel_text(source, s->r->s->err);
}

static void note_lengths(const List *list, int level, int levels, int *lengths) {
  if (list->count > lengths[level]) lengths[level] = list->count;
  for (int k = 1; k <= list->count && level + 1 < levels; k++)
    note_lengths(list->items[k].list, level + 1, levels, lengths);
}

static const Lookup *lookup_of(Resolve *r, const List *list, int levels) {
  Lookup *lookup = scratch_new(r->scratch, Lookup);
  int *lengths = scratch_array(r->scratch, int, levels);
  note_lengths(list, 0, levels, lengths);
  *lookup = (Lookup){.levels = levels, .lengths = lengths};
  return lookup;
}

static Entity search(Resolve *r, Expr *e, const Entity *at, bool counts) {
  Search s = {.r = r, .left = MOST_ITEMS, .counts = counts};
  int levels = count_indices(at->list.index);
  const char *name = at->name ? at->name : sema_source(r->s, e->left);
  Ast *ast = write_function(&s, at->list.list, levels);
  if (!ast && s.left < 0)
    sema_fail(r->s, e, RG_ERROR_NOT_YET, "put the numbers into a field",
              "'%s' is too long to be indexed at run time: at most %d numbers", name, MOST_ITEMS);
  else if (!ast)
    sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "loop over it: for k, v in ipairs(t)",
              "'%s' holds more than numbers, or vectors of one type, so the index must be known "
              "before the run",
              name);
  if (!ast) return (Entity){0};
  e->list = row_indices(r, e, at->list.index);
  Entity found =
      resolve_inline_call(r, e, resolve_function(name, ast->function, ast->source), NULL);
  if (e->inlined) e->inlined->lookup = lookup_of(r, at->list.list, levels);
  return found;
}

/* The nesting depth of its first items. */
static int depth_of(const List *list) {
  int depth = 1;
  for (; list->count && list->items[1].list; list = list->items[1].list) depth++;
  return depth;
}

/* -- t[e], t[e][f], t[e, f] -------------------------------------------------------------------- */

static Entity add_index(Resolve *r, Entity at, Expr *index) {
  ListIndex *next = scratch_new(r->scratch, ListIndex);
  *next = (ListIndex){.before = at.list.index, .index = index};
  at.list.index = next;
  resolve_scalar(r, index);
  return at;
}

static Entity step(Resolve *r, Expr *e, const Entity *at, Expr *index, const ListItem **item) {
  int64_t key;
  *item = NULL;
  if (at->list.index || !static_is_known(r, index)) return add_index(r, *at, index);
  if (!static_integer(r, index, &key)) return (Entity){0};
  if (key < 1 || key > at->list.list->count) return fail_index(r, e, at, key);
  *item = &at->list.list->items[key];
  return (*item)->list ? list_entity((*item)->list, at->name) : *at;
}

Entity list_indexed(Resolve *r, Expr *e, const Entity *object) {
  const ListItem *item = NULL;
  Entity at = *object;
  if (e->inlined) return e->entity; /* already resolved */
  for (int i = 0; i < e->list.count && !r->s->failed; i++) {
    bool is_past = item && !item->list;
    if (is_past || e->list.items[i]->kind == AST_TABLE) {
      sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, "write t[i][j]",
                "'%s' has fewer levels of lists than this has indices",
                at.name ? at.name : sema_source(r->s, e->left));
      return (Entity){0};
    }
    at = step(r, e, &at, e->list.items[i], &item);
  }
  if (r->s->failed) return (Entity){0};
  if (!at.list.index) return list_take(r, e, item, at.name);
  e->is_item = true;
  return count_indices(at.list.index) == depth_of(at.list.list) ? search(r, e, &at, false) : at;
}

/* The length is a constant if all rows have the same. */
Entity list_length(Resolve *r, Expr *e, const Entity *object) {
  if (e->inlined) return e->entity; /* already resolved */
  int length = row_is(object) ? row_length(object) : object->list.list->count;
  return length >= 0 ? extent_constant(length) : search(r, e, object, true);
}

/* A captured table, with everything in it. */
Entity list_of_table(Resolve *r, Expr *e, const Entity *table) {
  int64_t length;
  if (!table_length(r, e, table, &length)) return (Entity){0};
  int *numbers = length <= MOST_ITEMS ? table_find_all(r, e, table, length) : NULL;
  List *list = scratch_new(r->scratch, List);
  list->items = scratch_array(r->scratch, ListItem, length <= MOST_ITEMS ? length + 2 : 1);
  list->count = (int)(length <= MOST_ITEMS ? length : 0);
  if (length > MOST_ITEMS)
    sema_fail(r->s, e, RG_ERROR_NOT_YET, "put the numbers into a field",
              "a table of %lld numbers is too long to be indexed: at most %d", (long long)length,
              MOST_ITEMS);
  if (numbers && list->count) table_request_rows(r, e, numbers, list->count, MOST_ITEMS);
  for (int k = 1; numbers && k <= list->count && !r->s->failed; k++) {
    ListItem *item = &list->items[k];
    Entity entity = resolve_path_value(r, e, numbers[k]);
    item->value.kind = STATIC_OTHER;
    item->entity = entity;
    if (entity.kind == ENTITY_TABLE) item->list = list_of_table(r, e, &entity).list.list;
    else if (entity.kind == ENTITY_ARGUMENT && !type_is_struct(entity.shape))
      static_of_launch_arg(r, e, &entity, &item->value);
  }
  return r->s->failed ? (Entity){0} : list_entity(list, table->name);
}
