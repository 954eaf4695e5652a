/* demand.c - from a place that needs an integer, back to the launch arguments that reach it. Only
 * through expressions that are still open (TY_NUMBER): a float on the way means that the argument
 * itself need not be an integer, as in x[math.floor(p[i] * scale)]. A local on the way is marked,
 * and infer follows its values. */
#include "infer/infer.h"

static void demand_launch_arg(Infer *f, int number, const Expr *use, Why why) {
  LaunchArg *launch_arg = &f->s->launch_args.items[number];
  if (launch_arg->ty.kind != TY_NUMBER) return;
  launch_arg->ty = ty_of(TYPE(I32));
  launch_arg->use = use;
  launch_arg->source_text = sema_text_source(f->s);
  launch_arg->why = why;
  f->has_changed = true;
}

static void demand_local(Infer *f, Expr *e, Why why) {
  Entity *entity = &e->entity;
  Local *local = e->local;
  if (entity->kind == ENTITY_ARGUMENT) demand_launch_arg(f, entity->launch_arg.number, e, why);
  if (local->is_alias || local->is_demanded) return;
  local->is_demanded = true;
  local->why = why;
  f->has_changed = true;
}

static void demand_list(Infer *f, Exprs *list, Why why) {
  for (int i = 0; i < list->count; i++) demand_integer(f, list->items[i], why);
}

static void demand_result(Infer *f, const Inline *in, int result, Why why) {
  Local *local = in->results.count ? in->results.items[result] : NULL;
  if (!local || local->is_demanded) return;
  local->is_demanded = true;
  local->why = why;
  f->has_changed = true;
}

void demand_integer(Infer *f, Expr *e, Why why) {
  if (e->ty.kind != TY_NUMBER) return;
  const Inline *in = e->inlined;
  if (in) {
    demand_result(f, in, e->result, why);
    return;
  }
  switch (e->kind) {
  case AST_LOCAL: demand_local(f, e, why); break;
  case AST_INDEX: /* of a captured list, or of a vector */
    if (e->is_item) demand_launch_arg(f, e->entity.launch_arg.number, e, why);
    else demand_integer(f, e->left, why);
    break;
  case AST_GLOBAL:
  case AST_FIELD:
    if (e->entity.kind == ENTITY_PART) {
      demand_integer(f, e->left, why);
      break;
    }
    demand_launch_arg(f, e->entity.launch_arg.number, e, why);
    break;
  case AST_PAREN: case AST_UNARY: demand_integer(f, e->left, why); break;
  case AST_BINARY: case AST_OR:
    demand_integer(f, e->left, why);
    demand_integer(f, e->right, why);
    break;
  case AST_AND: demand_integer(f, e->right, why); break;
  case AST_TERNARY:
    demand_integer(f, e->right, why);
    demand_integer(f, e->third, why);
    break;
  case AST_CALL: demand_list(f, &e->list, why); break; /* math.floor ceil abs min max */
  case AST_METHOD:
    demand_integer(f, e->left, why);
    demand_list(f, &e->list, why);
    break;
  default: break;
  }
}
