/* captured_list.c - captured tables that are lists: `#t`, `t[2]`, and `t[i]` with an i that is
 * known only at run time.
 *
 * Their length and contents are paths of the kernel: "t.#" and "t.#1", "t.#2", .. The value at a
 * constant index is read at every launch, like `t.name`. A list indexed at run time is constant
 * data, its numbers static: constant_table.c. */
#include "resolve/resolve.h"

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
  path_request(r, path);
  sema_fail(r->s, e, RG_ERROR_SOURCE, "name captured values by their full path: self.grid.dt",
            "'%.*s' of the table '%s' is not known here", name.length, name.data,
            table->name ? table->name : "");
  return (Entity){0};
}

/* The path to a table's value under `key`: its number, or -1 after requesting it. */
int table_find(Resolve *r, Expr *e, const Entity *table, const char *key, bool is_static) {
  SemaPath path = member_path(r, e, table, str_of(key));
  int number = path_find(r, &path);
  path.is_static = is_static;
  if (number < 0) path_request(r, path);
  return number;
}

bool table_fail(Resolve *r, Expr *e) {
  return sema_fail(r->s, e, RG_ERROR_SOURCE, "put the numbers into a field",
                   "the contents of the table '%s' are not known here", sema_source(r->s, e));
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

static int *find_items(Resolve *r, Expr *e, const Entity *table, int64_t length) {
  int *numbers = scratch_array(r->scratch, int, length + 1);
  bool has_all = true;
  for (int64_t k = 1; k <= length; k++) {
    numbers[k] = table_find(r, e, table, key_of(r, k), true);
    has_all &= numbers[k] >= 0;
  }
  return has_all ? numbers : NULL;
}

/* Paths of all items, from [1]; NULL after requesting the missing ones. */
int *table_find_all(Resolve *r, Expr *e, const Entity *table, int64_t length) {
  int *numbers = find_items(r, e, table, length);
  if (!numbers) table_fail(r, e);
  return numbers;
}

void table_request_rows(Resolve *r, Expr *e, const int *numbers, int64_t length, int64_t most) {
  for (int64_t k = 1; k <= length && !r->s->failed; k++) {
    Static size;
    if (r->input->captures[numbers[k]].kind != VALUE_TABLE) continue;
    Entity row = resolve_path_value(r, e, numbers[k]);
    if (r->s->failed || row.kind != ENTITY_TABLE) return;
    int number = table_find(r, e, &row, "#", true);
    if (number < 0 || !static_of_value(r, e, (SemaArg){.index = number}, &size) ||
        size.number > (double)most)
      continue;
    int *items = find_items(r, e, &row, (int64_t)size.number);
    if (items) table_request_rows(r, e, items, (int64_t)size.number, most);
  }
}

/* t[e] */
Entity table_item(Resolve *r, Expr *e, const Entity *table) {
  int64_t key;
  if (e->list.count != 1 || e->list.items[0]->kind == AST_TABLE) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, "write t[i][j]", "a table has one index");
    return (Entity){0};
  }
  if (e->inlined) return e->entity; /* already resolved */
  if (!static_is_known(r, e->list.items[0])) {
    Entity list = list_of_table(r, e->left, table);
    return r->s->failed ? (Entity){0} : list_indexed(r, e, &list);
  }
  if (!static_integer(r, e->list.items[0], &key)) return (Entity){0};
  int number = table_find(r, e, table, key_of(r, key), false);
  e->is_item = true;
  if (number >= 0) return resolve_path_value(r, e, number);
  table_fail(r, e->left);
  return (Entity){0};
}
