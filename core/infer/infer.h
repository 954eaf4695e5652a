/* infer.h - types: of every expression and variable, to a fixpoint (infer.c), then the type each
 * expression is computed in, and all type errors (check.c). */
#ifndef RG_INFER_INFER_H
#define RG_INFER_INFER_H

#include "typed/typed.h"

void infer_kernel(Sema *s);
void check_kernel(Sema *s);

/* What the files of this room share, until the types are known. */
typedef struct Infer {
  Sema *s;
  bool is_demanding;  /* uses that require an integer demand one */
  bool is_last_round; /* numbers of unknown type become floats */
  /* loops over, and conversions of, numbers that were whole so far demand integers */
  bool is_guessing;
  bool has_changed; /* in this round */
} Infer;

/* infer.c */
void infer_block(Infer *f, Block *block);
/* a variable is assigned a value of this type */
void infer_assigned(Infer *f, Local *local, PartialType ty, Expr *value);
PartialType infer_update(Sema *s, IrUpdate op, PartialType target, PartialType term);
/* demand.c: e must be an integer, because of `reason` */
void demand_integer(Infer *f, Expr *e, Reason reason);
/* The integer type that the demand gives the argument; NONE if it was not always whole. */
Type demand_type(const Infer *f, const LaunchArg *launch_arg, Reason reason);
/* Have the launch arguments in e been whole numbers so far? */
bool demand_is_whole(const Infer *f, const Expr *e);
/* if is_demanding */
void infer_demand(Infer *f, Expr *e, const char *clause, const char *name);
/* expr.c */
PartialType infer_expr(Infer *f, Expr *e);
void infer_list(Infer *f, Exprs *list);
PartialType infer_algebra(Sema *s, const Exprs *arguments, const Builtin *builtin);
void infer_items(Infer *f, const LoopHead *head, const Stmt *stmt);
void infer_list_values(Infer *f, Expr *e);
PartialType infer_inline(Infer *f, Inline *in, int result);
PartialType infer_invocation(Infer *f, Invocation *call);
void infer_functions(Infer *f);
void infer_inline_return(Infer *f, Stmt *stmt);

/* check.c */
void check_block(Sema *s, Block *block);
void check_assigned(Sema *s, Local *local, Expr *value);
/* check_expr.c */
bool check_expr(Sema *s, Expr *e, Type want);
bool check_condition(Sema *s, Expr *e);
bool check_indices(Sema *s, const Exprs *list, int count);
bool check_object(Sema *s, Expr *e); /* the indices of an INDEX, through all its levels */
/* what: "'x'", "an element of 'x'" ..; element: the field's element that is written; NULL: none */
bool check_store(Sema *s, Expr *value, Type target, const Entity *element, const char *what);
/* "an i32"; of an element of a packed field "of type rg.uint(4)" */
const char *check_type_text(Sema *s, const Entity *element, Type type);
/* Does a value that is known from the text fit the type it is stored in? */
bool check_fits(Sema *s, const Expr *value, Type target);
bool check_number(Sema *s, Expr *e, const char *operation);
bool check_integer(Sema *s, Expr *e, const char *operation);
/* check_call.c */
bool check_call(Sema *s, Expr *e);
bool check_method(Sema *s, Expr *e);
bool check_update(Sema *s, Update *update, Type target);
bool check_algebra(Sema *s, Expr *e, const Builtin *builtin);
bool check_list_values(Sema *s, Expr *e);
bool check_inline(Sema *s, Inline *in);
bool check_invocation(Sema *s, Invocation *call);
void check_functions(Sema *s);
void check_inline_return(Sema *s, Stmt *stmt);

#endif
