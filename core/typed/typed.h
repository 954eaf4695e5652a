/* typed.h - a kernel on its way from Ast to IR, and what every stage asks of its typed tree
 * (tree.h).
 *
 * Every stage is sticky up to the end of a statement: its first failure is kept (report.c) and
 * sets `failed`, what follows in it goes on harmlessly, later stages leave it out. A kernel with
 * a failure is not lowered. */
#ifndef RG_TYPED_TYPED_H
#define RG_TYPED_TYPED_H

#include "base/map.h"
#include "typed/output.h"
#include "typed/tree.h"

typedef struct Diag Diag;     /* report.c */

/* One of the values that the kernel returns. */
typedef struct Result {
  Ty ty;
  Shape shape;
} Result;

typedef struct Sema {
  Scratch *scratch;
  const SemaInput *input;
  SemaOutput *output;
  Locals parameters;
  Block body;
  Error *err;           /* what sema_report fills */
  bool failed;          /* the current statement */
  bool is_broken;       /* the kernel */
  int failures;         /* said or not */
  VEC(Diag *) diags;
  Diag *latest;         /* of the last sema_fail; NULL: it was not kept */
  Type default_float;
  Locals locals;        /* by id: in the order of their making */
  VEC(Live) lives;
  int *parameter_live;  /* by parameter: number + 1 of a Live */
  Inline *frame;        /* the function that is being read; NULL: the kernel */
  VEC(Result) results;
  bool has_result_types; /* annotated */
} Sema;

/* report.c. All false. The hint may be NULL. */
bool sema_fail(Sema *s, const Expr *at, ErrorCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool sema_fail_pos(Sema *s, Pos pos, int width, ErrorCode code, const char *hint,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Says more about the failure that the call before reported: "declared here". source NULL: the
 * text that is being read. */
bool sema_note(Sema *s, const Source *source, Pos pos, int width, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* fails without a word: it follows from another failure */
bool sema_poison(Sema *s);
bool sema_recover(Sema *s, Stmt *stmt);           /* stmt is over: did it fail? */
/* its conditions or bounds are: its bodies are read all the same */
bool sema_recover_head(Sema *s, Stmt *stmt);
bool sema_recover_apart(Sema *s);                    /* what belongs to no statement */
/* everything to err, in order: true when there is nothing */
bool sema_report(Sema *s);

/* text.c */
const Source *sema_text_source(const Sema *s);      /* the text that is being read */
const char *sema_text(Sema *s, Str text);           /* as a C string, cut to 60 bytes */
const char *sema_written(Sema *s, const AstExpr *ast); /* the expression as text, cut */
const char *sema_source(Sema *s, const Expr *e);
/* The same access path, letter by letter up to white space: `x[i + 1]` and `x[i+1]`. Calls
 * nothing. */
bool sema_is_same(const Expr *a, const Expr *b);
Expr *sema_strip(Expr *e);                    /* without parentheses around it */
bool sema_is_constant(const Expr *e, double *value); /* a number as written, perhaps with a minus */

/* builtin.c */
const Builtin *builtin_find(const char *name);
const Method *method_find(Str name);
const char *method_nearest(Str name);
const char *builtin_nearest(Str name);
const Builtin *builtin_method(Str name); /* `v:norm()`; NULL: there is none */

/* call.c: the arguments of a call, with the object of a vector's method in front */
Exprs call_arguments(Sema *s, Expr *e);
Exprs call_items(Sema *s, const Expr *e); /* what a vector or matrix is made of */
/* Of the arguments of a METHOD call, those that are indices; values follow. */
static inline int method_index_count(const Expr *call) {
  const MethodCall *m = method_of(call);
  bool is_list = m->method->form == METHOD_LIST || m->method->form == METHOD_ITEMS;
  return is_list ? m->taken : call->list.count - m->method->values;
}

/* lists.c */
/* The fields of the SNode, or the one the call names: `number` of them; NULL past the last. */
const SNodeComponent *list_field(const SNode *node, const Entity *object, int number);
/* 0: the first; NULL past the last */
const SNodeComponent *list_item_field(const LoopHead *head, int number);

/* shape.c */
const char *shape_text(Sema *s, Shape shape); /* "a number", "a vector of 3": for sentences */
static inline Shape shape_of(const Expr *e) { return e->entity.shape; }
/* A constant index: its number; -1 where it is computed. */
int shape_constant_index(const Expr *e);
Expr *shape_root(Expr *e); /* of what the parts are, in the end */
/* ty.c */
Ty ty_of(Type type);
Ty ty_join(Ty a, Ty b);            /* what `+` gives; the number where a bool meets one */
Ty ty_firm(Sema *s, Ty ty);        /* of a variable that takes such a value */
Type ty_alone(Sema *s, Ty ty);     /* NONE for NONE */
/* the type of an expression that meets `want`, which may be NONE */
Type ty_settle(Sema *s, Ty ty, Type want);
bool ty_is_float(Ty ty);           /* surely */
bool ty_is_integer(Ty ty);         /* surely; literals too */
bool ty_is_number(Ty ty);
bool ty_is_wide(Ty ty);            /* an integer that an i32 may not hold */
bool ty_fits(Ty literal, Type integer);
Ty ty_binary(Sema *s, AstOp op, Ty a, Ty b);
Ty ty_of_for(Sema *s, const Stmt *stmt); /* of a numeric for: INT or FLOAT in the end */
const char *ty_text(Sema *s, Ty ty); /* "an f32", "a bool": for sentences */

/* choice.c */
bool choice_is(Sema *s, const Expr *e);  /* `c and a or b` of numbers */
Choices choice_arms(Sema *s, Expr *e);
bool choice_is_cheap(Sema *s, const Expr *e); /* may be computed for nothing */

/* quotient.c */
/* the integer quotient that e is, also through a local; or NULL */
Expr *typed_quotient(Sema *s, Expr *e);
Ty typed_quotient_type(Sema *s, const Expr *quotient);

/* update.c */
/* `t op= v`; false: no update does it */
bool update_find(AstOp op, IrUpdate *update, bool *commutes);
/* low bits of the result come from low bits of the operands */
bool update_is_modular(IrUpdate op);
AstOp update_operator(IrUpdate op);           /* AST_NO_OP for min, max, exchange */

#endif
