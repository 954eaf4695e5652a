/* choice.c - `c and a or b`, Lua's conditional: its arms in order, the last without a condition.
 *
 *   c and a or d and b or e        (c, a) (d, b) (-, e) */
#include "typed/typed.h"

static bool is_bool(Sema *s, const Expr *e) { return e->ty.kind == TY_BOOL; }

bool choice_is(Sema *s, const Expr *e) {
  return e->kind == AST_TERNARY || (e->kind == AST_OR && !is_bool(s, e));
}

/* `is_last`: no arm follows, so e is a value instead of a condition with a value. */
static void add_arms(Sema *s, Expr *e, bool is_last, Choices *arms) {
  Expr *inner = sema_strip(e);
  if (inner->kind == AST_OR && !is_bool(s, inner)) {
    add_arms(s, inner->left, false, arms);
    add_arms(s, inner->right, is_last, arms);
  } else if (inner->kind == AST_AND && !is_bool(s, inner) && !is_last) {
    vec_push(s->scratch, arms, ((Choice){inner->left, inner->right}));
  } else {
    vec_push(s->scratch, arms, ((Choice){NULL, e}));
  }
}

Choices choice_arms(Sema *s, Expr *e) {
  Choices arms = {0};
  if (e->kind == AST_TERNARY) {
    vec_push(s->scratch, &arms, ((Choice){e->left, e->right}));
    vec_push(s->scratch, &arms, ((Choice){NULL, e->third}));
  } else {
    add_arms(s, e, true, &arms);
  }
  return arms;
}

static bool is_cheap_call(Sema *s, const Expr *e) {
  const Builtin *builtin = builtin_of(e);
  return e->kind == AST_CALL && (e->call.kind == CALL_CONVERSION ||
                                 (builtin && builtin->form != FORM_FLOAT &&
                                  builtin->form != FORM_LOG && builtin->form != FORM_RANDOM &&
                                  builtin->form != FORM_NATIVE && builtin->form != FORM_ARRAY));
}

/* Without an effect, an element or a slow function: so both sides of a choice may be computed. */
bool choice_is_cheap(Sema *s, const Expr *e) {
  if (s->input->debug) return e->kind == AST_NUMBER; /* a check has an effect */
  bool is_part = e->entity.kind == ENTITY_PART;
  if (e->kind == AST_INDEX)
    return is_part ? choice_is_cheap(s, e->left) && choice_is_cheap(s, e->list.items[0])
                   : e->entity.kind == ENTITY_CONSTANT || e->entity.kind == ENTITY_ARGUMENT;
  if (e->kind == AST_FIELD) return !is_part || choice_is_cheap(s, e->left);
  if (e->kind == AST_METHOD || (e->kind == AST_BINARY && e->op == AST_POW)) return false;
  if (e->kind == AST_CALL) {
    if (!is_cheap_call(s, e)) return false;
    for (int i = 0; i < e->list.count; i++)
      if (e->list.items[i]->kind == AST_TABLE || !choice_is_cheap(s, e->list.items[i]))
        return false;
    return true;
  }
  return (!e->left || choice_is_cheap(s, e->left)) && (!e->right || choice_is_cheap(s, e->right)) &&
         (!e->third || choice_is_cheap(s, e->third));
}

bool default_is(const Expr *e) {
  const Expr *left = e->kind == AST_OR ? e->left : NULL;
  while (left && left->kind == AST_PAREN) left = left->left;
  return left && left->kind == AST_LOCAL && left->local && left->local->is_parameter &&
         left->ty.kind != TY_NONE && left->ty.kind != TY_BOOL;
}
