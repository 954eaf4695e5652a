/* same_place.c - are two places the same: do their indices have the same values wherever in a
 * statement they are computed? They are if their texts are equal, or by:
 *
 *   math.floor(i / 7)  bit.band(i, 3)  rg.i32(p)   builtins and conversions of equal arguments
 *   cell_of(p)                                     a helper without effects, likewise
 *   k                                              a local that is never assigned, and its initial
 *                                                  value, if that consists of fixed numbers
 *   i + 1, 1 + i                                   sums and products
 *
 * An element that an expression reads (x[p[i]]) is taken to be unchanged: effects of other
 * iterations need not be seen, and the statement itself assigns last. */
#include "resolve/resolve.h"

/* -- effects of a helper ----------------------------------------------------------------------- */

typedef struct LocalSet { /* the locals of the analysed function */
  Scratch *scratch;
  Locals locals;
} LocalSet;

static bool is_pure_block(LocalSet *own, const Block *block);

static bool is_own(const LocalSet *own, const Local *local) {
  for (int i = 0; i < own->locals.count; i++)
    if (own->locals.items[i] == local) return true;
  return false;
}

static void add_own(LocalSet *own, const Locals *locals) {
  for (int i = 0; i < locals->count; i++) vec_push(own->scratch, &own->locals, locals->items[i]);
}

static bool is_pure_builtin(const Builtin *builtin) {
  switch (builtin->form) {
  case FORM_FLOAT:
  case FORM_LOG:
  case FORM_ANGLE:
  case FORM_NUMERIC:
  case FORM_ROUND:
  case FORM_BITS:
  case FORM_SHIFT:
  case FORM_TOBIT:
  case FORM_BITCAST:
  case FORM_ALGEBRA:
  case FORM_TYPE: return true;
  case FORM_ARRAY: return builtin->algebra == ARRAY_LENGTH || builtin->algebra == ARRAY_EXTENT;
  default: return false;
  }
}

static bool has_no_effects(Scratch *scratch, const Inline *in) {
  LocalSet own = {.scratch = scratch};
  add_own(&own, &in->parameters);
  add_own(&own, &in->results);
  return is_pure_block(&own, &in->body);
}

static bool is_pure(LocalSet *own, const Expr *e);

static bool are_pure(LocalSet *own, const Exprs *list) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] && !is_pure(own, list->items[i])) return false;
  return true;
}

static bool is_pure_call(LocalSet *own, const Expr *e) {
  if (e->invoked) return false;
  if (e->inlined)
    return are_pure(own, &e->inlined->arguments) && has_no_effects(own->scratch, e->inlined);
  if (e->call.kind == CALL_CONVERSION) return are_pure(own, &e->list);
  return builtin_of(e) && is_pure_builtin(builtin_of(e)) && are_pure(own, &e->list) &&
         (e->kind == AST_CALL || is_pure(own, e->left));
}

static bool is_pure(LocalSet *own, const Expr *e) {
  guard_check_stack();
  if (e->kind == AST_CALL || e->kind == AST_METHOD) return is_pure_call(own, e);
  return (!e->left || is_pure(own, e->left)) && (!e->right || is_pure(own, e->right)) &&
         (!e->third || is_pure(own, e->third)) && are_pure(own, &e->list);
}

static bool is_pure_target(LocalSet *own, Expr *target) {
  const Expr *root = shape_root(target);
  return root->kind == AST_LOCAL && root->local && is_own(own, root->local) && is_pure(own, target);
}

static bool is_pure_stmt(LocalSet *own, const Stmt *stmt) {
  const LoopHead *head = stmt->head;
  add_own(own, &stmt->locals);
  if (head && (head->is_parallel || head->items || !are_pure(own, &head->bounds))) return false;
  for (int i = 0; i < stmt->targets.count; i++)
    if (!is_pure_target(own, stmt->targets.items[i])) return false;
  for (int i = 0; i < stmt->bodies.count; i++)
    if (!is_pure_block(own, &stmt->bodies.items[i])) return false;
  return head || are_pure(own, &stmt->values);
}

static bool is_pure_block(LocalSet *own, const Block *block) {
  for (int i = 0; i < block->count; i++)
    if (!is_pure_stmt(own, block->items[i])) return false;
  return true;
}

/* -- the same value ---------------------------------------------------------------------------- */

static bool are_same(Resolve *r, const Exprs *a, const Exprs *b) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++)
    if (!place_is_same(r, a->items[i], b->items[i])) return false;
  return true;
}

/* Is it a pure function? The call's statement is not resolved yet. */
static bool is_pure_callee(Resolve *r, const Expr *call) {
  if (call->kind != AST_CALL) return false;
  Entity callee = resolve_expr(r, call->left);
  return callee.kind == ENTITY_TYPE ||
         (callee.kind == ENTITY_BUILTIN && callee.builtin && is_pure_builtin(callee.builtin));
}

static bool are_same_calls(Resolve *r, const Expr *a, const Expr *b) {
  if (a->kind != b->kind || a->invoked || b->invoked || !a->inlined != !b->inlined) return false;
  if (a->inlined)
    return a->inlined->function == b->inlined->function &&
           a->inlined->number == b->inlined->number && a->result == b->result &&
           are_same(r, &a->inlined->arguments, &b->inlined->arguments) &&
           has_no_effects(r->scratch, a->inlined);
  if (a->call.kind != b->call.kind || !str_equal(a->text, b->text)) return false;
  if (a->call.kind == CALL_CONVERSION)
    return type_equal(a->call.type, b->call.type) && type_equal(shape_of(a), shape_of(b)) &&
           are_same(r, &a->list, &b->list);
  if (a->call.kind == CALL_METHOD) return false;
  bool is_pure_one = builtin_of(a)
                         ? builtin_of(a) == builtin_of(b) && is_pure_builtin(builtin_of(a))
                         : is_pure_callee(r, a);
  return is_pure_one && place_is_same(r, a->left, b->left) && are_same(r, &a->list, &b->list);
}

/* Does it consist of values that no statement changes? Captures do not count, since their names
 * belong to one function. */
static bool is_fixed(const Expr *e) {
  guard_check_stack();
  EntityKind kind = e->entity.kind;
  if (e->kind == AST_LOCAL)
    return e->local && !e->local->is_alias && !local_is_variable(e->local) &&
           (kind == ENTITY_VALUE || kind == ENTITY_ARGUMENT);
  if (e->kind == AST_NUMBER) return true;
  if (e->kind == AST_PAREN || e->kind == AST_UNARY) return is_fixed(e->left);
  if (e->kind == AST_BINARY) return is_fixed(e->left) && is_fixed(e->right);
  if (e->kind != AST_CALL || e->inlined || e->invoked) return false;
  if (e->call.kind != CALL_CONVERSION && !(builtin_of(e) && is_pure_builtin(builtin_of(e))))
    return false;
  for (int i = 0; i < e->list.count; i++)
    if (!is_fixed(e->list.items[i])) return false;
  return true;
}

/* Replaces a local by its initial value, if that is fixed and has the local's type. */
static const Expr *value_of(const Expr *e) {
  e = sema_strip((Expr *)e);
  for (Expr *value = local_fixed_value(e); value && !e->local->is_alias && is_fixed(value);
       value = local_fixed_value(e))
    e = sema_strip(value);
  return e;
}

static bool commutes(const Expr *e) {
  return e->kind == AST_BINARY && (e->op == AST_ADD || e->op == AST_MUL || e->op == AST_BAND ||
                                   e->op == AST_BOR || e->op == AST_BXOR);
}

static bool is_same_child(Resolve *r, const Expr *a, const Expr *b) {
  return (!a && !b) || (a && b && place_is_same(r, a, b));
}

bool place_is_same(Resolve *r, const Expr *a, const Expr *b) {
  guard_check_stack();
  if (sema_is_same(a, b)) return true;
  a = value_of(a);
  b = value_of(b);
  if (a->kind == AST_CALL || a->kind == AST_METHOD) return are_same_calls(r, a, b);
  if (a->kind != b->kind || a->op != b->op || a->local != b->local || a->kind == AST_FUNCTION ||
      a->kind == AST_VARARG || !str_equal(a->text, b->text))
    return false;
  if (is_same_child(r, a->left, b->left) && is_same_child(r, a->right, b->right))
    return is_same_child(r, a->third, b->third) && are_same(r, &a->list, &b->list);
  return commutes(a) && type_is_scalar(shape_of(a)) && place_is_same(r, a->left, b->right) &&
         place_is_same(r, a->right, b->left);
}
