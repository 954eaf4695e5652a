/* demand.c - walks back from a use that needs an integer to the launch arguments that reach it. The
 * walk passes only through expressions of unknown type (TY_NUMBER): a float on the way means that
 * the argument itself need not be an integer, as in x[math.floor(p[i] * scale)]. A local on the way
 * is marked, and infer follows its values. */
#include "infer/infer.h"

Type demand_type(const Infer *f, const LaunchArg *launch_arg, Reason reason) {
  if (!reason.is_guess) return TYPE(I32);
  const SemaInput *input = f->s->input;
  SemaArg source = launch_arg->source;
  switch ((source.is_parameter ? input->parameters : input->captures)[source.index].whole) {
  case WHOLE_I32: return TYPE(I32);
  case WHOLE_I64: return TYPE(I64);
  default: return TYPE(NONE);
  }
}

static void demand_launch_arg(Infer *f, int number, const Expr *use, Reason reason) {
  LaunchArg *launch_arg = &f->s->launch_args.items[number];
  Type type = demand_type(f, launch_arg, reason);
  if (launch_arg->ty.kind != TY_NUMBER || type_is_none(type)) return;
  launch_arg->ty = ty_of(type);
  launch_arg->use = use;
  launch_arg->source_text = sema_text_source(f->s);
  launch_arg->reason = reason;
  f->has_changed = true;
}

/* Demands that all values of a variable be integers; a certain reason replaces a guess. */
static void demand_values(Infer *f, Local *local, Reason reason) {
  if (local->is_demanded && (reason.is_guess || !local->reason.is_guess)) return;
  local->is_demanded = true;
  local->reason = reason;
  f->has_changed = true;
}

static void demand_local(Infer *f, Expr *e, Reason reason) {
  Entity *entity = &e->entity;
  Local *local = e->local;
  if (entity->kind == ENTITY_ARGUMENT) demand_launch_arg(f, entity->launch_arg.number, e, reason);
  if (!local->is_alias) demand_values(f, local, reason);
}

static void demand_list(Infer *f, Exprs *list, Reason reason) {
  for (int i = 0; i < list->count; i++) demand_integer(f, list->items[i], reason);
}

static void demand_result(Infer *f, const Inline *in, int result, Reason reason) {
  Local *local = in->results.count ? in->results.items[result] : NULL;
  if (local) demand_values(f, local, reason);
}

/* The argument of math.floor or a similar call; NULL if e is none. */
static Expr *rounded(const Expr *e) {
  const Builtin *builtin = builtin_of(e);
  if (!builtin || builtin->form != FORM_ROUND) return NULL;
  return e->kind == AST_METHOD ? e->left : e->list.items[0];
}

/* math.floor ceil abs min max pass the demand on to arguments of unknown type. But a call that
 * rounds a float fulfils it itself. */
static void demand_call(Infer *f, Expr *e, Reason reason) {
  Expr *argument = rounded(e);
  bool is_of_float =
      argument && (ty_is_float(argument->ty) || (reason.is_guess && !demand_is_whole(f, argument)));
  if (is_of_float) {
    f->has_changed |= !e->is_rounded;
    e->is_rounded = true;
    return;
  }
  if (e->kind == AST_METHOD) demand_integer(f, e->left, reason);
  demand_list(f, &e->list, reason);
}

void demand_integer(Infer *f, Expr *e, Reason reason) {
  if (e->ty.kind != TY_NUMBER) return;
  const Inline *in = e->inlined;
  if (in) {
    demand_result(f, in, e->result, reason);
    return;
  }
  switch (e->kind) {
  case AST_LOCAL: demand_local(f, e, reason); break;
  case AST_INDEX: /* of a captured list, or of a vector */
    if (e->is_item) demand_launch_arg(f, e->entity.launch_arg.number, e, reason);
    else demand_integer(f, e->left, reason);
    break;
  case AST_GLOBAL:
  case AST_FIELD:
    if (e->entity.kind == ENTITY_PART) {
      demand_integer(f, e->left, reason);
      break;
    }
    demand_launch_arg(f, e->entity.launch_arg.number, e, reason);
    break;
  case AST_PAREN:
  case AST_UNARY: demand_integer(f, e->left, reason); break;
  case AST_BINARY:
  case AST_OR:
    demand_integer(f, e->left, reason);
    demand_integer(f, e->right, reason);
    break;
  case AST_AND: demand_integer(f, e->right, reason); break;
  case AST_TERNARY:
    demand_integer(f, e->right, reason);
    demand_integer(f, e->third, reason);
    break;
  case AST_CALL:
  case AST_METHOD: demand_call(f, e, reason); break;
  default: break;
  }
}

/* -- guesses ----------------------------------------------------------------------------------- */

static bool are_whole(const Infer *f, const Exprs *list) {
  for (int i = 0; i < list->count; i++)
    if (!demand_is_whole(f, list->items[i])) return false;
  return true;
}

static bool is_whole_argument(const Infer *f, int number) {
  return !type_is_none(
      demand_type(f, &f->s->launch_args.items[number], (Reason){.is_guess = true}));
}

bool demand_is_whole(const Infer *f, const Expr *e) {
  if (e->ty.kind != TY_NUMBER) return ty_is_integer(e->ty);
  if (e->entity.kind == ENTITY_ARGUMENT) return is_whole_argument(f, e->entity.launch_arg.number);
  switch (e->kind) {
  case AST_LOCAL: return !e->local->initial || demand_is_whole(f, e->local->initial);
  case AST_PAREN:
  case AST_UNARY: return demand_is_whole(f, e->left);
  case AST_BINARY:
  case AST_OR: return demand_is_whole(f, e->left) && demand_is_whole(f, e->right);
  case AST_AND: return demand_is_whole(f, e->right);
  case AST_TERNARY: return demand_is_whole(f, e->right) && demand_is_whole(f, e->third);
  case AST_CALL: return e->inlined || e->invoked || rounded(e) || are_whole(f, &e->list);
  default: return true;
  }
}
