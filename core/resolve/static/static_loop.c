/* static_loop.c - unrolled loops, one copy of the body per iteration:
 *
 *     for i, j in rg.static(rg.range(2, 3)) do .. end      i, j are constants in each
 *     for k, v in ipairs(t) do .. end                      k is a constant from 1, v is t[k]
 *     for k, e in ipairs(v) do .. end                      v is a vector; e is v[k - 1]
 *
 * Numbers and booleans in the table are static. */
#include "resolve/resolve.h"

enum { MOST_ITERATIONS = 1024 };

/* -- iterations -------------------------------------------------------------------------------- */

/* The loop's variables in one iteration; `values[i]`: the value of variable i, NULL if it refers to
 * an entity. */
typedef struct Iteration {
  Local **locals;
  Expr **values;
} Iteration;

typedef struct Unroll {
  const AstStmt *ast;
  Stmt *stmt;
  bool continues; /* `continue` is used: each iteration is a `repeat .. until true` */
  bool breaks;    /* `break` is used: all iterations are inside another such loop */
  VEC(Iteration) iterations;
  Block before; /* statements that run once, before the iterations */
} Unroll;

static Stmt *new_block(Resolve *r, const Unroll *u) {
  Stmt *stmt = scratch_new(r->scratch, Stmt);
  *stmt =
      (Stmt){.kind = AST_STMT_DO, .op = AST_NO_OP, .pos = u->stmt->pos, .width = u->stmt->width};
  vec_push(r->scratch, &stmt->bodies, ((Block){0}));
  return stmt;
}

/* Wraps the block's contents in `repeat .. until true`. */
static void make_once(Resolve *r, Stmt *stmt) {
  Expr *once = literal_at(r, stmt->pos, stmt->width, &(Static){.kind = STATIC_BOOL, .number = 1});
  stmt->kind = AST_STMT_REPEAT;
  vec_push(r->scratch, &stmt->values, once);
}

/* Adds an iteration with new variables: each refers to `entities[i]` or is a local with
 * `values[i]`. */
static void add_iteration(Resolve *r, Unroll *u, const Entity *entities, Expr *const *values) {
  int count = u->ast->locals.count;
  Iteration iteration = {scratch_array(r->scratch, Local *, count + 1),
                         scratch_array(r->scratch, Expr *, count + 1)};
  if (!resolve_has_room(r)) resolve_fail_size(r, u->stmt->pos, u->stmt->width);
  for (int i = 0; i < count; i++) {
    iteration.locals[i] = build_local(r, u->ast->locals.items[i]);
    iteration.values[i] = values[i];
    if (values[i]) continue;
    resolve_declare(r, iteration.locals[i]);
    iteration.locals[i]->is_alias = true;
    iteration.locals[i]->alias = entities[i];
  }
  vec_push(r->scratch, &u->iterations, iteration);
}

/* Whole numbers that are never assigned stay constants, usable in rg.static; others are locals. */
static void give_number(Resolve *r, const Unroll *u, int i, const Static *value, Entity *entity,
                        Expr **local) {
  const AstLocal *ast = u->ast->locals.items[i];
  int64_t whole = value->number >= -0x1p53 && value->number <= 0x1p53 ? (int64_t)value->number : 0;
  bool is_constant = value->kind == STATIC_NUMBER && (double)whole == value->number &&
                     !ast->is_assigned && !ast->annotation;
  *local = is_constant ? NULL : literal_at(r, ast->pos, ast->name.length, value);
  *entity = (Entity){.kind = ENTITY_CONSTANT, .constant = whole};
}

static void declare_value(Resolve *r, Local *local, Expr *value, Block *body) {
  Stmt *stmt = scratch_new(r->scratch, Stmt);
  *stmt = (Stmt){
      .kind = AST_STMT_LOCAL, .op = AST_NO_OP, .pos = local->pos, .width = local->name.length};
  vec_push(r->scratch, &stmt->locals, local);
  vec_push(r->scratch, &stmt->values, value);
  vec_push(r->scratch, body, stmt);
  resolve_declaration(r, stmt);
  sema_recover(r->s, stmt);
}

static Stmt *resolve_iteration(Resolve *r, const Unroll *u, const Iteration *iteration) {
  Stmt *stmt = new_block(r, u);
  Block *body = &stmt->bodies.items[0];
  for (int i = 0; i < u->ast->locals.count; i++) {
    build_name(r, u->ast->locals.items[i], iteration->locals[i]);
    if (iteration->values[i]) declare_value(r, iteration->locals[i], iteration->values[i], body);
  }
  resolve_block(r, &u->ast->bodies.items[0], body);
  if (u->continues) make_once(r, stmt);
  return stmt;
}

/* A break leaves the iteration, too, if that is a loop. */
static void finish(Resolve *r, Unroll *u) {
  if (r->s->failed) return;
  u->continues = returns_by(&u->ast->bodies.items[0], AST_STMT_CONTINUE);
  u->breaks = returns_by(&u->ast->bodies.items[0], AST_STMT_BREAK);
  Stmt *stmt = u->stmt;
  bool in_iterator_body = r->in_iterator_body;
  bool breaks_parallel = r->breaks_parallel;
  int levels = r->break_levels;
  Block iterations = u->before;
  r->breaks_parallel &= !u->breaks && !u->continues;
  r->break_levels = u->breaks ? u->continues : 0;
  r->in_iterator_body = false;
  for (int i = 0; i < u->iterations.count; i++)
    vec_push(r->scratch, &iterations, resolve_iteration(r, u, &u->iterations.items[i]));
  r->in_iterator_body = in_iterator_body;
  r->break_levels = levels;
  r->breaks_parallel = breaks_parallel;
  stmt->kind = AST_STMT_DO;
  stmt->locals.count = stmt->values.count = 0;
  stmt->bodies.items[0] = iterations;
  if (u->breaks) make_once(r, stmt);
}

static bool check_iterations(Resolve *r, Expr *e, int64_t iterations) {
  return iterations <= MOST_ITERATIONS ||
         sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "loop over it without rg.static",
                   "%lld iterations are too many to unroll: at most %d", (long long)iterations,
                   MOST_ITERATIONS);
}

/* -- ranges ------------------------------------------------------------------------------------ */

static bool read_bounds(Resolve *r, Expr *range, int64_t *first, int64_t *last,
                        int64_t *iterations) {
  *iterations = 1;
  for (int i = 0; i < range->list.count; i++) {
    Expr *axis = range->list.items[i];
    bool is_pair = axis->kind == AST_TABLE;
    if (is_pair && (axis->list.count != 2 || axis->ast->keys.items[0] || axis->ast->keys.items[1]))
      return sema_fail(r->s, axis, RG_ERROR_LOOP, "write {begin, end}",
                       "an axis of a range must be a number, or a begin and an end");
    first[i] = 0;
    if (is_pair && !static_integer(r, axis->list.items[0], &first[i])) return false;
    if (!static_integer(r, is_pair ? axis->list.items[1] : axis, &last[i])) return false;
    int64_t extent = last[i] > first[i] ? last[i] - first[i] : 0;
    if (!check_iterations(r, range, extent) || !check_iterations(r, range, *iterations *= extent))
      return false;
  }
  return true;
}

static bool check_locals(Resolve *r, const Stmt *stmt, int most) {
  if (stmt->locals.count <= most) return true;
  Local *extra = stmt->locals.items[most];
  return sema_fail_pos(r->s, extra->pos, extra->name.length, RG_ERROR_LOOP, NULL,
                       "there is no value for '%s'", sema_text(r->s, extra->name));
}

static void unroll_range(Resolve *r, Unroll *u, Expr *range) {
  int64_t first[SNODE_MAX_AXES], last[SNODE_MAX_AXES], at[SNODE_MAX_AXES], iterations;
  Entity entities[SNODE_MAX_AXES];
  Expr *values[SNODE_MAX_AXES];
  int count = range->list.count;
  if (count < 1 || count > SNODE_MAX_AXES) {
    sema_fail(r->s, range, RG_ERROR_CALL_COUNT, NULL, "'rg.range' takes 1 to %d axes, %d given",
              SNODE_MAX_AXES, count);
    return;
  }
  if (u->stmt->locals.count < count) {
    resolve_fail_axes(r, &u->stmt->locals, range, count);
    return;
  }
  if (!check_locals(r, u->stmt, count) || !read_bounds(r, range, first, last, &iterations)) return;
  memcpy(at, first, sizeof at);
  for (int64_t iteration = 0; iteration < iterations && !r->s->failed; iteration++) {
    for (int i = 0; i < u->stmt->locals.count; i++)
      give_number(r, u, i, &(Static){.kind = STATIC_NUMBER, .number = (double)at[i]}, &entities[i],
                  &values[i]);
    add_iteration(r, u, entities, values);
    for (int i = count - 1; i >= 0 && ++at[i] == last[i]; i--) at[i] = first[i];
  }
  finish(r, u);
}

/* -- ipairs ------------------------------------------------------------------------------------ */

/* Vectors are launch arguments, whose values lower/expr.c knows. */
static bool is_number(const Resolve *r, int number) {
  SemaValueKind kind = r->input->captures[number].kind;
  return kind == VALUE_NUMBER || kind == VALUE_BOOL || kind == VALUE_I64 || kind == VALUE_U64;
}

static void add_pair(Resolve *r, Unroll *u, Expr *table, int64_t key, int number) {
  Entity entities[2];
  Expr *values[2] = {NULL, NULL};
  Static value;
  give_number(r, u, 0, &(Static){.kind = STATIC_NUMBER, .number = (double)key}, &entities[0],
              &values[0]);
  if (u->stmt->locals.count == 2) {
    entities[1] = resolve_path_value(r, table, number);
    if (r->s->failed) return;
    if (is_number(r, number)) {
      if (!static_of_value(r, table, (SemaArg){.index = number}, &value)) return;
      give_number(r, u, 1, &value, &entities[1], &values[1]);
    } else if (u->stmt->locals.items[1]->is_assigned) {
      sema_fail(r->s, table, RG_ERROR_UNSUPPORTED, "declare another local for the new value",
                "'%s' cannot be assigned here: it refers to an element of the list",
                sema_text(r->s, u->stmt->locals.items[1]->name));
    }
  }
  add_iteration(r, u, entities, values);
}

/* Number `row` of a vector or of a row of a table, or row `row` of a matrix. */
static Expr *row_of(Resolve *r, Local *vector, const Expr *at, int row) {
  Expr *name = literal_integer(r, at->ast, row), *item = literal_integer(r, at->ast, row);
  Exprs index = {0};
  vec_push(r->scratch, &index, literal_integer(r, at->ast, row));
  *name = (Expr){.kind = AST_LOCAL,
                 .op = AST_NO_OP,
                 .pos = at->pos,
                 .width = at->width,
                 .ast = at->ast,
                 .text = vector->name,
                 .local = vector};
  *item = (Expr){.kind = AST_INDEX,
                 .op = AST_NO_OP,
                 .pos = at->pos,
                 .width = at->width,
                 .ast = at->ast,
                 .left = name,
                 .list = index};
  return item;
}

/* The vector, or the index of a table's row, is computed once, before the first iteration. */
static void unroll_vector(Resolve *r, Unroll *u, Expr *vector, int first, int rows) {
  Entity keys[2];
  Expr *values[2] = {NULL, NULL};
  if (!check_locals(r, u->stmt, 2) || !check_iterations(r, vector, rows)) return;
  Local *whole = build_hidden(r, str_of("vector"), vector->pos);
  declare_value(r, whole, vector, &u->before);
  for (int k = 0; k < rows && !r->s->failed; k++) {
    give_number(r, u, 0, &(Static){.kind = STATIC_NUMBER, .number = k + 1}, &keys[0], &values[0]);
    values[1] = row_of(r, whole, vector, first + k);
    add_iteration(r, u, keys, values);
  }
  finish(r, u);
}

static void unroll_row(Resolve *r, Unroll *u, Expr *table, const Entity *row) {
  int length = row_length(row);
  if (length >= 0) unroll_vector(r, u, table, 1, length);
  else
    sema_fail(r->s, table, RG_ERROR_LOOP, "loop by numbers: for k = 1, #t[i] do",
              "the rows of '%s' differ in length, so this loop has no constant number of "
              "iterations",
              row->name ? row->name : sema_source(r->s, table));
}

/* Unrolls over a table constructor. */
static void unroll_list(Resolve *r, Unroll *u, Expr *table, const Entity *entity) {
  const List *list = entity->list.list;
  if (!check_locals(r, u->stmt, 2) || !check_iterations(r, table, list->count)) return;
  for (int k = 1; k <= list->count && !r->s->failed; k++) {
    const ListItem *item = &list->items[k];
    Entity entities[2];
    Expr *values[2] = {NULL, NULL};
    give_number(r, u, 0, &(Static){.kind = STATIC_NUMBER, .number = k}, &entities[0], &values[0]);
    bool is_plain = !item->list && item->value.kind != STATIC_OTHER;
    if (is_plain && item->value.kind != STATIC_VECTOR && u->stmt->locals.count == 2) {
      give_number(r, u, 1, &item->value, &entities[1], &values[1]);
    } else if (u->stmt->locals.count == 2) {
      Expr *value = literal_integer(r, table->ast, k);
      value->entity = entities[1] = list_take(r, value, item, entity->name);
      if (is_plain) values[1] = value;
    }
    add_iteration(r, u, entities, values);
  }
  finish(r, u);
}

/* Unrolls over the values without names of a table of values. A table constructor is evaluated
 * once. */
static void unroll_record(Resolve *r, Unroll *u, Expr *table) {
  Local *whole = NULL;
  const Expr *of = sema_strip(table);
  if (of->kind == AST_LOCAL) whole = of->local;
  else declare_value(r, whole = build_hidden(r, str_of("table"), table->pos), table, &u->before);
  if (r->s->failed || !whole->is_alias) return;
  int length = record_length(whole->alias.record);
  if (!check_locals(r, u->stmt, 2) || !check_iterations(r, table, length)) return;
  for (int k = 1; k <= length && !r->s->failed; k++) {
    Entity entities[2];
    Expr *values[2] = {NULL, NULL};
    Local *item = record_at(whole->alias.record, k);
    give_number(r, u, 0, &(Static){.kind = STATIC_NUMBER, .number = k}, &entities[0], &values[0]);
    if (u->stmt->locals.count == 2) {
      values[1] = build_read(r, item, table);
      if (item->is_alias && !record_is(&item->alias)) values[1] = NULL;
      entities[1] = item->alias;
    }
    add_iteration(r, u, entities, values);
  }
  finish(r, u);
}

/* Refuses a struct, or an array that a kernel made. */
static void fail_items(Resolve *r, Expr *e, Expr *of, const Entity *entity) {
  const char *hint = NULL;
  if (type_is_array(entity->shape))
    hint = scratch_format(r->scratch, "elements count from 0: for i = 0, #%s - 1 do",
                          sema_source(r->s, of));
  sema_fail(r->s, e, RG_ERROR_LOOP, hint,
            "'ipairs' takes a list or a vector in a kernel, but "
            "this is %s",
            shape_text(r->s, entity->shape));
}

static void unroll_pairs(Resolve *r, Unroll *u, Expr *e) {
  int64_t length;
  Expr *table = e->list.count == 1 ? e->list.items[0] : NULL;
  Entity entity = table ? resolve_expr(r, table) : (Entity){0};
  if (r->s->failed) return;
  bool is_value = entity_is_value(&entity);
  if (is_value && type_is_struct(entity.shape)) {
    fail_items(r, e, table, &entity);
    return;
  }
  if (is_value && !type_is_scalar(entity.shape)) {
    unroll_vector(r, u, table, 0, type_rows(entity.shape));
    return;
  }
  if (row_is(&entity)) {
    unroll_row(r, u, table, &entity);
    return;
  }
  if (record_is(&entity)) {
    unroll_record(r, u, table);
    return;
  }
  if (entity.kind == ENTITY_LIST) {
    unroll_list(r, u, table, &entity);
    return;
  }
  if (entity.kind != ENTITY_TABLE) {
    sema_fail(r->s, e, RG_ERROR_LOOP,
              entity.kind == ENTITY_FIELD
                  ? "a field's cells: for i in x:active()"
                  : "loops run over rg.range(n, m), x:active() or numbers: for k = 0, n - 1",
              "'ipairs' takes a list or a vector in a kernel");
    return;
  }
  if (!check_locals(r, u->stmt, 2) || !table_length(r, table, &entity, &length) ||
      !check_iterations(r, e, length))
    return;
  int *numbers = table_find_all(r, table, &entity, length);
  for (int64_t k = 1; k <= length && numbers && !r->s->failed; k++)
    add_pair(r, u, table, k, numbers[k]);
  finish(r, u);
}

/* -- all --------------------------------------------------------------------------------------- */

static bool calls(Resolve *r, Expr *e, const char *name) {
  if (e->kind != AST_CALL) return false;
  Entity callee = resolve_expr(r, e->left);
  return callee.kind == ENTITY_BUILTIN && !strcmp(callee.name, name);
}

static bool unroll(Resolve *r, Unroll *u) {
  Expr *e = u->stmt->values.count == 1 ? sema_strip(u->stmt->values.items[0]) : NULL;
  if (!e || e->kind != AST_CALL) return false;
  Expr *range = static_argument(r, e);
  if (range) {
    range = sema_strip(range);
    if (calls(r, range, "rg.range")) unroll_range(r, u, range);
    else
      sema_fail(r->s, range, RG_ERROR_LOOP, "write rg.static(rg.range(n))",
                "rg.static unrolls a range");
    return true;
  }
  if (r->s->failed) return true;
  if (!calls(r, e, "ipairs")) return false;
  unroll_pairs(r, u, e);
  return true;
}

/* False if the loop is not one of these. */
bool unroll_loop(Resolve *r, const AstStmt *ast, Stmt *stmt) {
  Unroll u = {.ast = ast, .stmt = stmt};
  bool outer = r->in_unrolled;
  r->in_unrolled = true;
  bool is_static = unroll(r, &u);
  r->in_unrolled = outer;
  return is_static;
}
