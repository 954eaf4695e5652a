/* captured_list.c - captured tables that are lists: `#t`, `t[2]`, and `t[i]` with an i known only
 * at run time.
 *
 * Their length and contents are paths of the kernel: "t.#" and "t.#1", "t.#2", .. The value at a
 * constant index is read at every launch, like `t.name`. A list indexed at run time is constant
 * data: its numbers are static, and a binary search, generated as a function and called like any
 * other, finds one:
 *
 *     function(i: i64)
 *       if i < 3 then if i < 2 then return 10 else return 20 end else return 30 end
 *     end
 *
 * 0 outside of the list. */
#include <math.h>

#include "front/parser.h"
#include "resolve/resolve.h"

enum { MOST_ITEMS = 1024 };

static SemaPath member_path(Resolve *r, Expr *e, const Entity *table, Str name) {
  SemaPath path = {.pos = e->pos, .function = 0};
  const char *root;
  if (table->table.is_parameter) {
    root = sema_text(r->s, r->s->parameters.items[table->table.index]->name);
    path.is_parameter_path = true;
    path.parameter = table->table.index;
  } else {
    path = r->input->paths->items[table->table.index];
    path.is_static = false;
    root = scratch_copy_text(r->scratch, path.name.data, (size_t)path.name.length);
  }
  path.name = str_of(scratch_format(r->scratch, "%s.%.*s", root, name.length, name.data));
  return path;
}

/* The value called `name` in a table of the launch. */
Entity table_member(Resolve *r, Expr *e, const Entity *table, Str name) {
  SemaPath path = member_path(r, e, table, name);
  int number = path_find(r, &path);
  if (number >= 0) return resolve_path_value(r, e, number);
  path_want(r, path);
  sema_fail(r->s, e, RG_ERROR_SOURCE, "name captured things by their full path: 'self.grid.dt'",
            "'%.*s' of the table '%s' is not known here", name.length, name.data,
            table->name ? table->name : "");
  return (Entity){0};
}

/* The path to a table's value under `key`: its number, or -1 after requesting it. */
int table_find(Resolve *r, Expr *e, const Entity *table, const char *key, bool is_static) {
  SemaPath path = member_path(r, e, table, str_of(key));
  int number = path_find(r, &path);
  path.is_static = is_static;
  if (number < 0) path_want(r, path);
  return number;
}

bool table_fail(Resolve *r, Expr *e) {
  return sema_fail(r->s, e, RG_ERROR_SOURCE, "put the numbers into a field",
                   "what the table '%s' holds is not known here", sema_source(r->s, e));
}

bool table_length(Resolve *r, Expr *e, const Entity *table, int64_t *length) {
  int number = table_find(r, e, table, "#", true);
  Static value;
  if (number < 0) return table_fail(r, e);
  if (!static_of_value(r, e, (SemaArg){.index = number}, &value)) return false;
  *length = (int64_t)value.number;
  return true;
}

static const char *key_of(Resolve *r, int64_t key) {
  return scratch_format(r->scratch, "#%lld", (long long)key);
}

/* Paths of all items, from [1]; NULL after requesting the missing ones. */
int *table_find_all(Resolve *r, Expr *e, const Entity *table, int64_t length) {
  int *numbers = scratch_array(r->scratch, int, length + 1);
  bool has_all = true;
  for (int64_t k = 1; k <= length; k++) {
    numbers[k] = table_find(r, e, table, key_of(r, k), true);
    has_all &= numbers[k] >= 0;
  }
  if (!has_all) table_fail(r, e);
  return has_all ? numbers : NULL;
}

/* -- run-time indices ---------------------------------------------------------- */

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

/* Returns item i of those from `first` to `last`. */
static void write_search(StrBuf *out, const Static *items, int64_t first, int64_t last) {
  if (first == last) {
    strbuf_format(out, "return ");
    write_number(out, &items[first]);
    return;
  }
  int64_t middle = first + (last - first) / 2;
  strbuf_format(out, "if i < %lld then ", (long long)(middle + 1));
  write_search(out, items, first, middle);
  strbuf_format(out, " else ");
  write_search(out, items, middle + 1, last);
  strbuf_format(out, " end");
}

/* Item 0 and the one after the last are the zeros outside. */
static Ast *write_function(Resolve *r, Static *items, int64_t length) {
  StrBuf out;
  items[0] = items[length + 1] = (Static){.kind = STATIC_NUMBER};
  strbuf_init(&out, r->scratch);
  strbuf_format(&out, "function(i: i64) ");
  write_search(&out, items, 0, length + 1);
  strbuf_format(&out, " end");
  Source *source = source_create(r->scratch, str_of(strbuf_end(&out)), "table", 1);
  return parse_kernel_text(source, r->s->err);
}

static Static *read_numbers(Resolve *r, Expr *e, const Entity *table, int64_t length) {
  int *numbers = table_find_all(r, e, table, length);
  Static *items = scratch_array(r->scratch, Static, length + 2);
  for (int64_t k = 1; numbers && k <= length; k++) {
    Static value = {0};
    Entity item = resolve_path_value(r, e, numbers[k]);
    if (item.kind == ENTITY_ARGUMENT &&
        !static_of_value(r, e, (SemaArg){.index = numbers[k]}, &value))
      return NULL;
    if (value.kind != STATIC_NUMBER && value.kind != STATIC_WIDE) {
      sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "loop over it: for k, v in ipairs(t)",
                "'%s' holds more than numbers, so the index must be known before the run",
                sema_source(r->s, e));
      return NULL;
    }
    items[k] = value;
  }
  return numbers ? items : NULL;
}

static Entity open_item(Resolve *r, Expr *e, const Entity *table) {
  int64_t length;
  if (e->inlined) return *&e->entity;
  if (!table_length(r, e->left, table, &length)) return (Entity){0};
  if (length > MOST_ITEMS) {
    sema_fail(r->s, e, RG_ERROR_NOT_YET, "put the numbers into a field",
              "a table of %lld numbers is too long to be indexed: at most %d", (long long)length,
              MOST_ITEMS);
    return (Entity){0};
  }
  Static *items = read_numbers(r, e->left, table, length);
  Ast *ast = items ? write_function(r, items, length) : NULL;
  if (!ast) return (Entity){0};
  Entity callee = resolve_function(sema_source(r->s, e->left), ast->function, ast->source);
  return resolve_inline_call(r, e, callee, NULL);
}

/* t[e] */
Entity table_item(Resolve *r, Expr *e, const Entity *table) {
  int64_t key;
  if (e->list.count != 1 || e->list.items[0]->kind == AST_TABLE) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, "write t[i][j]", "a table has one index");
    return (Entity){0};
  }
  if (!static_is_written(r, e->list.items[0])) return open_item(r, e, table);
  if (!static_integer(r, e->list.items[0], &key)) return (Entity){0};
  int number = table_find(r, e, table, key_of(r, key), false);
  e->is_item = true;
  if (number >= 0) return resolve_path_value(r, e, number);
  table_fail(r, e->left);
  return (Entity){0};
}
