/* record.c - tables of values: `{pos = p, r = 2}`, `{0.5 * fx, 1 - fx}` (scalar replacement).
 *
 * Later stages never see such a table. Each value in it is a local; the name of the table is an
 * alias of the RECORD, and a statement with a table becomes one with its values:
 *
 *     local p = {pos = v, r = 2}      local p.pos, p.r = v, 2
 *     p.r = p.r + 1                   p.r = p.r + 1, where p.r is a local (record_resolve_member)
 *     q = p                           q.pos, q.r = p.pos, p.r
 *     q = shrink(p)                   an expanded call with two arguments and two results
 *
 * So tables are copied like vectors, their values are typed like locals, and branches and loops
 * treat them as locals. A table without names whose values are all known at compile time, and that
 * is never assigned, stays a constant table (constant_table.c).
 * record_assign.c handles assignments, record_pick.c run-time indices and choices. */
#include "resolve/resolve.h"

enum { MOST_VALUES = 256 };

bool record_is(const Entity *entity) { return entity->kind == ENTITY_RECORD; }

/* -- which tables are records ------------------------------------------------------------------ */

static bool is_live(Resolve *r, Expr *e);

static bool is_any_live(Resolve *r, const Exprs *list) {
  for (int i = 0; i < list->count && !r->s->failed; i++)
    if (is_live(r, list->items[i])) return true;
  return false;
}

static bool is_call_live(Resolve *r, Expr *e) {
  if (static_argument(r, e) || r->s->failed) return false;
  Entity callee = resolve_expr(r, e->left);
  const Builtin *builtin = callee.kind == ENTITY_BUILTIN ? callee.builtin : NULL;
  return (builtin && (builtin->form == FORM_RANDOM || builtin->form == FORM_ARRAY ||
                      builtin->form == FORM_NATIVE || builtin->form == FORM_ALGEBRA)) ||
         is_any_live(r, &e->list);
}

static bool is_left_to_run(Type type, Shape shape) {
  return type_is_matrix(shape) || (type_is_vector(shape) && !type_is_float(type));
}

/* Is e made of matrices or vectors of integers? `static` knows these, but not what operators make
 * of them. */
static bool has_left_to_run(Resolve *r, Expr *e) {
  e = sema_strip(e);
  if (e->kind == AST_UNARY) return e->op == AST_NEG && has_left_to_run(r, e->left);
  if (e->kind == AST_BINARY) return has_left_to_run(r, e->left) || has_left_to_run(r, e->right);
  if (e->kind == AST_CALL && e->call.kind == CALL_CONVERSION)
    return is_left_to_run(e->call.type, e->entity.shape);
  if (e->kind == AST_CALL) {
    Entity callee = resolve_expr(r, e->left);
    return callee.kind == ENTITY_TYPE && is_left_to_run(callee.type, callee.shape);
  }
  if (e->kind != AST_LOCAL) return false;
  Entity entity = resolve_expr(r, e);
  return entity.kind == ENTITY_VALUE && type_is_matrix(entity.shape);
}

/* Is its value known only at run time? */
static bool is_live(Resolve *r, Expr *e) {
  switch (e->kind) {
  case AST_LOCAL:
    if (!e->local || e->local->known) return false;
    return e->local->is_alias ? record_is(&e->local->alias) : !static_is_known(r, e);
  case AST_CALL: return is_call_live(r, e);
  case AST_METHOD: return resolve_expr(r, e).kind == ENTITY_VALUE || is_any_live(r, &e->list);
  case AST_INDEX: {
    EntityKind kind = resolve_expr(r, e).kind;
    if (e->kind != AST_INDEX) return is_live(r, e); /* rewritten into what it names: t[1] */
    return kind == ENTITY_ELEMENT || kind == ENTITY_ITEM || is_live(r, e->left) ||
           is_any_live(r, &e->list);
  }
  case AST_TABLE:
    for (int i = 0; i < e->ast->keys.count; i++)
      if (e->ast->keys.items[i]) return true;
    return is_any_live(r, &e->list);
  case AST_FUNCTION: return false;
  case AST_UNARY:
  case AST_BINARY:
    if (has_left_to_run(r, e)) return true;
    /* fallthrough */
  default:
    return (e->left && is_live(r, e->left)) || (e->right && is_live(r, e->right)) ||
           (e->third && is_live(r, e->third));
  }
}

bool record_is_runtime(Resolve *r, Expr *table) { return is_live(r, table); }

/* -- items ------------------------------------------------------------------------------------- */

static int find_item(const Record *record, Str name, int position) {
  int at = 0;
  for (int k = 0; k < record->count; k++) {
    const RecordItem *item = &record->items[k];
    at += !item->name.length;
    if (name.length ? str_equal(item->name, name) : !item->name.length && at == position) return k;
  }
  return -1;
}

int record_length(const Record *record) {
  int count = 0;
  for (int k = 0; k < record->count; k++) count += !record->items[k].name.length;
  return count;
}

Local *record_at(const Record *record, int position) {
  int k = find_item(record, (Str){0}, position);
  return k < 0 ? NULL : record->items[k].local;
}

Local *record_find(const Record *record, Str name) {
  int k = find_item(record, name, 0);
  return k < 0 || !name.length ? NULL : record->items[k].local;
}

int record_find_member(const Record *record, Str name) { return find_item(record, name, 0); }

/* The position, from 1, of item k, which has no name. */
static int position_of(const Record *record, int k) {
  int position = 0;
  for (int i = 0; i <= k; i++) position += !record->items[i].name.length;
  return position;
}

static int find_same(const Record *record, const Record *of, int k) {
  return find_item(record, of->items[k].name, position_of(of, k));
}

void record_leaves(Resolve *r, const Record *record, Locals *leaves) {
  for (int k = 0; k < record->count; k++) {
    Local *local = record->items[k].local;
    if (!local->is_alias) vec_push(r->scratch, leaves, local);
    else if (record_is(&local->alias)) record_leaves(r, local->alias.record, leaves);
    if (local->presence) vec_push(r->scratch, leaves, local->presence);
  }
}

/* "{pos, r}", "a list of 3 values" */
const char *record_text(Resolve *r, const Record *record) {
  StrBuf out;
  int length = record_length(record);
  if (length == record->count)
    return scratch_format(r->scratch, "a list of %d %s", length, length == 1 ? "value" : "values");
  strbuf_init(&out, r->scratch);
  strbuf_text(&out, "a table {");
  for (int k = 0; k < record->count; k++) {
    const RecordItem *item = &record->items[k];
    strbuf_format(&out, "%s%s", k ? ", " : "",
                  item->name.length ? sema_text(r->s, item->name) : "..");
  }
  strbuf_text(&out, "}");
  return strbuf_end(&out);
}

static void fail_member(Resolve *r, const Expr *at, const Entity *object, Str member) {
  const Record *record = object->record;
  const char *names[MOST_VALUES], *near;
  int count = 0;
  for (int k = 0; k < record->count; k++)
    if (record->items[k].name.length) names[count++] = sema_text(r->s, record->items[k].name);
  near = str_nearest(member, names, count);
  sema_fail(r->s, at, RG_ERROR_NAME_UNKNOWN,
            near ? scratch_format(r->scratch, "did you mean '%s'?", near)
                 : "a table in a kernel keeps the keys that it starts with: local t = {x = 0}",
            "'%s' is %s, and has no '%s'",
            object->name ? object->name : sema_source(r->s, at->left), record_text(r, record),
            sema_text(r->s, member));
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Item k of the table e; if e is a call, one of its results. */
static Expr *item_of(Resolve *r, Expr *e, int k) {
  Local *local = e->entity.record->items[k].local;
  if (e->kind == AST_TABLE) return e->list.items[k];
  if (!e->inlined) return build_read(r, local, e);
  ASSERT(e->kind == AST_CALL || e->kind == AST_METHOD, "its results are the values in the table");
  Expr *call = scratch_new(r->scratch, Expr);
  *call = *e;
  for (int i = 0; i < e->inlined->results.count; i++)
    if (e->inlined->results.items[i] == local) call->result = i;
  call->entity =
      local->is_alias ? local->alias : (Entity){.kind = ENTITY_VALUE, .shape = local->shape};
  return call;
}

static Entity become(Expr *e, const Expr *item) {
  const AstExpr *ast = e->ast;
  Pos pos = e->pos;
  int32_t width = e->width;
  *e = *item;
  e->ast = ast;
  e->pos = pos;
  e->width = width;
  return e->entity;
}

/* Applied while nodes are built: `p.pos` and `w[2]` become locals, so that code which compares the
 * text of targets and values sees locals. */
void record_resolve_member(Resolve *r, Expr *e) {
  Local *local = e->left && e->left->kind == AST_LOCAL ? e->left->local : NULL;
  if (local && !local->has_shape && local->declaration && e->kind == AST_FIELD)
    record_find_form(r, local, e->left->ast->local);
  if (!local || !local->is_alias || !record_is(&local->alias)) return;
  const Expr *index = e->kind == AST_INDEX && e->list.count == 1 ? e->list.items[0] : NULL;
  int k = -1;
  if (e->kind == AST_FIELD) k = find_item(local->alias.record, e->text, 0);
  else if (index && index->kind == AST_NUMBER && index->number_kind == AST_NUMBER_PLAIN &&
           index->integer <= MOST_VALUES)
    k = find_item(local->alias.record, (Str){0}, (int)index->integer);
  if (k < 0) return;
  e->kind = AST_LOCAL;
  e->local = local->alias.record->items[k].local;
  e->text = e->local->name;
  e->left = NULL;
  e->list = (Exprs){0};
}

Entity record_member(Resolve *r, Expr *e, const Entity *object, Str name) {
  int k = find_item(object->record, name, 0);
  const Inline *called = NULL;
  if (k >= 0) return become(e, record_take(r, sema_strip(e->left), k, &called));
  fail_member(r, e, object, name);
  return (Entity){0};
}

/* e is object[..], with one index or several; the first one is taken. */
Entity record_indexed(Resolve *r, Expr *e, const Entity *object) {
  int64_t key;
  if (e->list.count > 1) {
    Expr *row = scratch_new(r->scratch, Expr);
    Exprs first = {0}, rest = {0};
    r->expr_count++;
    for (int i = 0; i < e->list.count; i++)
      vec_push(r->scratch, i ? &rest : &first, e->list.items[i]);
    *row = *e;
    row->list = first;
    e->left = row;
    e->list = rest;
    return resolve_expr(r, e);
  }
  Expr *index = e->list.items[0];
  if (index->kind == AST_STRING) return record_member(r, e, object, index->text);
  if (!static_is_known(r, index)) return record_pick(r, e, object);
  if (!static_integer(r, index, &key)) return (Entity){0};
  bool is_inside = key >= 1 && key <= record_length(object->record);
  int k = is_inside ? find_item(object->record, (Str){0}, (int)key) : -1;
  const Inline *called = NULL;
  if (k >= 0) return become(e, record_take(r, sema_strip(e->left), k, &called));
  sema_fail(r->s, e, RG_ERROR_INDEX_RANGE,
            key == 0 ? "lists start at 1, as in Lua"
                     : "a table in a kernel keeps the keys that it starts with; for a list that "
                       "grows, use rg.list(rg.f32)",
            "'%s' is %s, and has no [%lld]",
            object->name ? object->name : sema_source(r->s, e->left),
            record_text(r, object->record), (long long)key);
  return (Entity){0};
}

/* -- constructors ------------------------------------------------------------------------------ */

/* Describes an item by a local, from which copies of the table make theirs. */
static Local *describe(Resolve *r, Expr *value, Str name) {
  Local *local = scratch_new(r->scratch, Local);
  *local = (Local){.name = name, .pos = value->pos, .has_shape = true};
  if (nil_is_expr(r, value)) {
    sema_fail(r->s, value, RG_ERROR_NAME_NIL, NULL, "a table in a kernel cannot have holes");
    return local;
  }
  Entity entity = record_value(r, value);
  bool is_row = row_is(&entity) || (entity.kind == ENTITY_FIELD && entity.field.index_count);
  if (is_row) {
    sema_fail(r->s, value, RG_ERROR_UNSUPPORTED, "a local of its own may be a row",
              "a table of values in a kernel does not hold rows of fields or tables");
  } else if (entity.kind != ENTITY_SHAPE && entity_is_alias(&entity)) {
    local->is_alias = true;
    local->alias = entity;
  } else if (resolve_is_value(r, value)) {
    local->shape = shape_of(value);
  }
  local->presence = maybe_of(value);
  return local;
}

static bool check_new(Resolve *r, const Expr *at, const Record *record, Str name) {
  if (record->count == MOST_VALUES)
    return sema_fail(r->s, at, RG_ERROR_UNSUPPORTED,
                     "for many numbers, use an array: rg.zeros(T, n)",
                     "a table in a kernel has at most %d values", MOST_VALUES);
  return !name.length || find_item(record, name, 0) < 0 ||
         sema_fail(r->s, at, RG_ERROR_CALL_COUNT, NULL, "'%s' is given twice",
                   sema_text(r->s, name));
}

/* e is a table; each of its values is resolved. `{unpack(v)}` holds all that the call returns. */
Entity record_literal(Resolve *r, Expr *e) {
  Record *record = scratch_new(r->scratch, Record);
  int named = e->ast->keys.count;
  for (int i = 0; i < e->list.count && !r->s->failed; i++) {
    const AstExpr *key = i < named ? e->ast->keys.items[i] : NULL;
    Expr *value = e->list.items[i];
    if (i == 0) record->items = scratch_array(r->scratch, RecordItem, MOST_VALUES);
    if (key && key->kind != AST_STRING) {
      sema_fail(r->s, value, RG_ERROR_UNSUPPORTED, "write {a, b}: positions count from 1",
                "the keys of a table in a kernel must be names");
      break;
    }
    Str name = key ? key->text : (Str){0};
    if (!check_new(r, value, record, name)) break;
    Local *local = describe(r, value, name);
    record->items[record->count++] = (RecordItem){name, local};
    if (!key && i == e->list.count - 1) resolve_spread(r, &e->list, MOST_VALUES);
  }
  return e->entity = r->s->failed ? (Entity){0} : (Entity){.kind = ENTITY_RECORD, .record = record};
}

Entity record_value(Resolve *r, Expr *e) {
  Expr *inner = sema_strip(e);
  if (inner->kind != AST_TABLE) return resolve_expr(r, e);
  return e->entity = record_literal(r, inner);
}

/* -- copies ------------------------------------------------------------------------------------ */

static const char *name_item(Resolve *r, const char *name, const Record *record, int k) {
  const RecordItem *item = &record->items[k];
  return item->name.length ? scratch_format(r->scratch, "%s.%s", name, sema_text(r->s, item->name))
                           : scratch_format(r->scratch, "%s[%d]", name, position_of(record, k));
}

/* `like`: the table's own local, whose facts the copies take over. */
const Record *record_copy(Resolve *r, const Record *from, const char *name, const Local *like) {
  Record *copy = scratch_new(r->scratch, Record);
  copy->items = scratch_array(r->scratch, RecordItem, from->count + 1);
  copy->count = from->count;
  for (int k = 0; k < from->count; k++) {
    const Local *source = from->items[k].local;
    const char *text = name_item(r, name, from, k);
    Local *local = build_hidden(r, str_of(text), like->pos);
    bool is_record = source->is_alias && record_is(&source->alias);
    int loop = like->loop;
    resolve_declare(r, local);
    local->loop = loop;
    local->is_alias = source->is_alias;
    local->alias = source->alias;
    local->alias.name = source->is_alias ? text : NULL;
    local->is_parameter = like->is_parameter;
    local->is_const = like->is_const;
    local->has_shape = source->has_shape;
    local->shape = source->shape;
    local->is_assigned = like->is_assigned || like->is_part_assigned;
    local->is_part_assigned = like->is_part_assigned;
    if (is_record) local->alias.record = record_copy(r, source->alias.record, text, like);
    if (source->presence) {
      local->presence = maybe_new(r, local);
      local->presence->is_assigned |= like->is_part_assigned;
    }
    copy->items[k] = (RecordItem){from->items[k].name, local};
  }
  return copy;
}

void record_name(Resolve *r, Local *local, const Record *from) {
  const char *name = sema_text(r->s, local->name);
  local->is_alias = local->has_shape = true;
  local->alias =
      (Entity){.kind = ENTITY_RECORD, .name = name, .record = record_copy(r, from, name, local)};
}

/* -- values in order --------------------------------------------------------------------------- */

typedef struct Flat {
  Resolve *r;
  const char *what;     /* in messages */
  const Inline *called; /* the last call from which a value was taken */
  Exprs *out;
} Flat;

static bool fail_other(Flat *f, const Expr *e, const Record *to) {
  if (e->kind == AST_AND || e->kind == AST_OR)
    return sema_fail(f->r->s, e, RG_ERROR_UNSUPPORTED, "write 'c and {..} or {..}'",
                     "this is a table or false, and %s is %s", f->what, record_text(f->r, to));
  return sema_fail(f->r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "%s is %s, but this is %s", f->what,
                   record_text(f->r, to),
                   record_is(&e->entity) ? record_text(f->r, e->entity.record)
                                         : shape_text(f->r->s, shape_of(e)));
}

Expr *record_take(Resolve *r, Expr *e, int k, const Inline **called) {
  Expr *item = item_of(r, e, k);
  if (!e->inlined || record_is(&item->entity)) return item;
  if (e->inlined == *called) return build_read(r, e->entity.record->items[k].local, e);
  *called = e->inlined;
  e->inlined->keeps_first |= item->result != 0;
  return item;
}

static bool flatten(Flat *f, Expr *e, const Record *to);

static bool flatten_item(Flat *f, Expr *e, int k, Local *target) {
  Resolve *r = f->r;
  const Local *local = e->entity.record->items[k].local;
  if (target->is_alias && record_is(&target->alias))
    return flatten(f, item_of(r, e, k), target->alias.record);
  if (!target->is_alias && !local->is_alias) {
    Expr *value = record_take(r, e, k, &f->called);
    vec_push(r->scratch, f->out, value);
    return target->has_shape ? shape_check_value(r, value, target->shape, f->what)
                             : resolve_assign_shape(r, target, value);
  }
  return (target->is_alias && local->is_alias && resolve_is_same(&target->alias, &local->alias)) ||
         sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "declare another local for the other one",
                   "%s refers to part of a field or to a name, so it cannot be assigned again",
                   f->what);
}

static bool flatten_presence(Flat *f, Expr *e, int k, const Local *target) {
  Resolve *r = f->r;
  Local *presence = e->entity.record->items[k].local->presence;
  if (presence && !target->presence)
    return sema_fail(r->s, e, RG_ERROR_NAME_NIL, "give it a default: h or 0",
                     "%s always has a value, but this may be nil", f->what);
  if (!target->presence) return true;
  Static always = {.kind = STATIC_BOOL, .number = 1};
  vec_push(r->scratch, f->out,
           e->kind == AST_TABLE ? maybe_after(r, e->list.items[k])
           : presence           ? build_read(r, presence, e)
                                : literal_static(r, e->ast, &always));
  return !r->s->failed;
}

static bool flatten(Flat *f, Expr *e, const Record *to) {
  e = sema_strip(e);
  bool may_be_false = e->kind == AST_AND || e->kind == AST_OR;
  if (!record_is(&e->entity) || may_be_false || e->entity.record->count != to->count)
    return fail_other(f, e, to);
  const char *what = f->what;
  for (int i = 0; i < to->count; i++) {
    Local *target = to->items[i].local;
    int k = find_same(e->entity.record, to, i);
    if (k < 0) return fail_other(f, e, to);
    f->what = scratch_format(f->r->scratch, "'%s'", sema_text(f->r->s, target->name));
    if (!flatten_item(f, e, k, target) || !flatten_presence(f, e, k, target)) return false;
    f->what = what;
  }
  return !f->r->s->failed;
}

/* The values of e, one for each leaf of `to`. */
bool record_flatten(Resolve *r, Expr *e, const Record *to, const char *what, Exprs *out) {
  Flat f = {.r = r, .what = what, .out = out};
  return flatten(&f, e, to);
}

static bool spread(Resolve *r, Local *local, Expr *value, Locals *locals, Exprs *values) {
  Locals leaves = {0};
  int first = values->count;
  if (!local->is_alias || !record_is(&local->alias)) return false;
  const char *what = scratch_format(r->scratch, "'%s'", sema_text(r->s, local->name));
  record_leaves(r, local->alias.record, &leaves);
  if (!record_flatten(r, value, local->alias.record, what, values)) return false;
  for (int k = 0; k < leaves.count; k++) {
    vec_push(r->scratch, locals, leaves.items[k]);
    if (!local_is_variable(leaves.items[k])) leaves.items[k]->initial = values->items[first + k];
  }
  return true;
}

/* Declared locals that are records, and their values, become those in them. */
void record_spread(Resolve *r, Locals *locals, Exprs *values) {
  resolve_expand_locals(r, locals, values, spread);
}
