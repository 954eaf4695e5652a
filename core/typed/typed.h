/* typed.h - a kernel on its way from Ast to IR, and the queries that the stages share on its typed
 * tree (nodes.h).
 *
 * Failures are sticky up to the end of a statement: the first is recorded (report.c) and sets
 * `failed`, the rest of the statement continues harmlessly, later stages skip it. A kernel with a
 * failure is not lowered. */
#ifndef RG_TYPED_TYPED_H
#define RG_TYPED_TYPED_H

#include "base/map.h"
#include "typed/output.h"
#include "typed/nodes.h"

typedef struct Diag Diag; /* report.c */

/* One of the kernel's results. */
typedef struct Result {
  PartialType ty;
  Shape shape;
} Result;

typedef struct Sema {
  Scratch *scratch;
  const SemaInput *input;
  SemaOutput *output;
  Locals parameters;
  Block body;
  Error *err;     /* what sema_report fills */
  bool failed;    /* the current statement */
  bool is_broken; /* the kernel */
  int failures;   /* reported or not */
  VEC(Diag *) diags;
  Diag *latest; /* of the last sema_fail; NULL: not recorded */
  Type default_float;
  Locals locals;            /* by id: in creation order */
  VEC(Recursive) recursive; /* functions that call themselves, as found so far */
  VEC(Inline *) functions;  /* their copies: one for each set of arguments that are not numbers */
  VEC(LaunchArg) launch_args;
  VEC(Limit) limits;
  int conditions;            /* check: the number of conditions around the statement */
  bool may_skip;             /* check: a statement before it may have left its block */
  VEC(ArrayUse *) arrays;    /* by first use */
  int *parameter_launch_arg; /* by parameter: number + 1 of its LaunchArg */
  Inline *frame;             /* the function being resolved; NULL: the kernel */
  RandomUse random;          /* of the host region */
  VEC(Result) results;
  bool has_result_types; /* annotated */
} Sema;

/* report.c. All return false. The hint may be NULL. */
bool sema_fail(Sema *s, const Expr *at, ErrorCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool sema_fail_pos(Sema *s, Pos pos, int width, ErrorCode code, const char *hint,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Adds a note to the failure just reported: "declared here". source NULL: the current source. */
bool sema_note(Sema *s, const Source *source, Pos pos, int width, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* fails silently: caused by another failure */
bool sema_poison(Sema *s);
bool sema_recover(Sema *s, Stmt *stmt); /* the end of stmt: did it fail? */
/* the same after its conditions or bounds; its bodies are resolved even if they failed */
bool sema_recover_head(Sema *s, Stmt *stmt);
bool sema_recover_apart(Sema *s); /* outside any statement */
/* moves all failures to err, in order; true if there are none */
bool sema_report(Sema *s);

/* text.c */
const Source *sema_text_source(const Sema *s);         /* the current source */
const char *sema_text(Sema *s, Str text);              /* as a C string, cut to 60 bytes */
const char *sema_written(Sema *s, const AstExpr *ast); /* the expression as text, cut */
const char *sema_source(Sema *s, const Expr *e);
/* The same access path, equal up to white space: `x[i + 1]` and `x[i+1]`. Calls
 * nothing. */
bool sema_is_same(const Expr *a, const Expr *b);
Expr *sema_strip(Expr *e);                           /* without parentheses around it */
bool sema_is_constant(const Expr *e, double *value); /* a number as written, perhaps with a minus */

/* constant.c: an integer that follows from literals and layouts; is_pattern: written in
 * hexadecimal, so its bits are meant. follows_locals: looks through locals that never change,
 * too. */
typedef struct SemaInteger {
  bool is_negative, is_pattern;
  uint64_t size;
} SemaInteger;
bool sema_integer(const Expr *e, bool follows_locals, SemaInteger *out);
bool sema_integer_fits(const SemaInteger *value, Type type);

/* builtin.c */
const Builtin *builtin_find(const char *name);
/* native.c: does this captured name denote a function of an extension? If so, which. */
bool native_is(const char *text);
const Builtin *native_read(Scratch *scratch, TypeTable *types, const char *text);
const Method *method_find(Str name);
const char *method_nearest(Str name);
const char *builtin_nearest(Str name);
const Builtin *builtin_method(Str name); /* `v:norm()`; NULL: none */

const Builtin *builtin_of_array(Str name); /* `a:append(v)` of a counted array; NULL: none */

/* call.c: the arguments of a call, with the object of a vector's method in front */
Exprs call_arguments(Sema *s, Expr *e);
Exprs call_items(Sema *s, const Expr *e); /* the arguments of a vector or matrix constructor */
/* The leading arguments of a METHOD call that are indices; values follow. */
static inline int method_index_count(const Expr *call) {
  const MethodCall *m = method_of(call);
  bool is_list = m->method->form == METHOD_LIST || m->method->form == METHOD_ITEMS;
  return is_list ? m->taken : call->list.count - m->method->values;
}

/* call.c: the fields of a list */
/* The fields of the SNode, or the one the call names: `number` of them; NULL past the last. */
const SNodeComponent *list_field(const SNode *node, const Entity *object, int number);
/* 0: the first; NULL past the last */
const SNodeComponent *list_item_field(const LoopHead *head, int number);

/* shape.c */
const char *shape_text(Sema *s, Shape shape); /* "a number", "a vector of 3": for messages */
static inline Shape shape_of(const Expr *e) { return e->entity.shape; }
/* "a condition is one boolean, but this is a vector of 2"; returns false */
bool shape_fail_condition(Sema *s, const Expr *e);
/* The value of a constant index; -1 if computed. */
int shape_constant_index(const Expr *e);
Expr *shape_root(Expr *e); /* the whole value of which e is a part, or a part of a part .. */
/* Of an ITEM or ITEM_ROW: the expression whose value is the array. */
Expr *array_of_item(Expr *e);
/* Of one number of a local, an element, or a part of one: type_base of it. */
Type shape_base(Expr *e);
/* Of number `part` of a value whose type_base is `base`. */
Type number_type(const Sema *s, Type base, int part);
/* A type by its name, a struct's too; false if there is none. */
bool type_find(const Sema *s, const char *name, Type *type);
/* ty.c */
PartialType ty_of(Type type);
/* the result of `+`; of a bool and a number, the number */
PartialType ty_join(PartialType a, PartialType b);
/* the default: of a variable declared with such a value */
PartialType ty_default(Sema *s, PartialType ty);
Type ty_default_type(Sema *s, PartialType ty); /* the default type; NONE for NONE */
/* the type of an expression used where `want`, which may be NONE, is wanted */
Type ty_complete(Sema *s, PartialType ty, Type want);
bool ty_is_float(PartialType ty);   /* for certain */
bool ty_is_integer(PartialType ty); /* for certain; literals too */
bool ty_is_number(PartialType ty);
bool ty_is_wide(PartialType ty); /* an integer that an i32 may not hold */
bool ty_fits(PartialType literal, Type integer);
PartialType ty_binary(Sema *s, AstOp op, PartialType a, PartialType b);
PartialType ty_of_for(Sema *s, const Stmt *stmt); /* of a numeric for: ultimately INT or FLOAT */
Type ty_of_step(PartialType of_for);              /* signed, also where a loop counts in u64 */
const char *ty_text(Sema *s, PartialType ty);     /* "an f32", "a bool": for messages */

/* choice.c */
bool choice_is(Sema *s, const Expr *e); /* `c and a or b` of numbers */
Choices choice_arms(Sema *s, Expr *e);
/* `x or 3` where the parameter x has an argument that is not a bool: it is x */
bool default_is(const Expr *e);
bool choice_is_cheap(Sema *s, const Expr *e); /* cheap enough to compute unconditionally */

/* quotient.c */
/* Is e, computed in the float type `at`, a power with a whole literal exponent from -16 to 16, such
 * as `x ^ 3`? It is then computed as a product, in the order of lower_integer_power. */
bool typed_integer_power(const Expr *e, Type at, int *exponent);
/* the integer quotient behind e, also through a local; or NULL */
Expr *typed_quotient(Sema *s, Expr *e);
PartialType typed_quotient_type(Sema *s, const Expr *quotient);

/* The type that a call of FORM_RANDOM draws, after check. */
static inline Type random_type(const Expr *e) { return e->type; }

/* update.c */
/* `t op= v`; false: not an update */
bool update_find(AstOp op, IrUpdate *update, bool *commutes);
/* the low bits of the result depend only on the low bits of the operands */
bool update_is_modular(IrUpdate op);
AstOp update_operator(IrUpdate op); /* AST_NO_OP for min, max, exchange */

#endif
