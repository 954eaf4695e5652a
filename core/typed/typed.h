/* typed.h - the typed tree: facts about the Ast, in arrays beside it, and who finds them out.
 *
 *   resolve: what each name, index and call denotes          entities, loops, updates
 *   infer:   a Ty per expression and variable, to a fixpoint  types
 *            and the type each expression is computed in      at
 *   lower, emit_lua: read them
 *
 * Every stage is sticky up to the end of a statement: its first failure is kept (report.c) and sets `failed`, what
 * follows in it goes on harmlessly, later stages leave it out. A kernel with a failure is not lowered. */
#ifndef RG_TYPED_TYPED_H
#define RG_TYPED_TYPED_H

#include "base/map.h"
#include "typed/output.h"

/* -- types in the making --------------------------------------------------------------------------------- */

/* From the least to the most determined. A LITERAL takes the type it meets if it fits, a SOFT float the float type it
 * meets. A NUMBER is a live number, or made of some, of which it is still open whether it is an integer; none is left
 * after infer. */
typedef enum TyKind { TY_NONE, TY_BOOL, TY_LITERAL, TY_INT, TY_NUMBER, TY_SOFT, TY_FLOAT } TyKind;
typedef struct Ty {
  TyKind kind;
  Type type;        /* INT, FLOAT: which; LITERAL: which when alone */
  uint8_t bits;     /* LITERAL: how many it needs, without a sign */
  bool is_negative; /* LITERAL */
} Ty;

/* How many numbers a value is, its Shape, stands beside the type of one of them. Shapes follow from the text alone, so
 * resolve knows them all. */

/* -- what an expression denotes ----------------------------------------------------------------------------- */

typedef enum EntityKind {
  ENTITY_NONE,     /* the kernel failed before */
  ENTITY_VALUE,    /* a number or bool: a local, a literal, an operation, a call */
  ENTITY_LIVE,     /* a captured number or an unassigned parameter: `live` */
  ENTITY_CONSTANT, /* an integer that layouts fix: `#x`, `x.shape[0]`: `constant` */
  ENTITY_ELEMENT,  /* a field with all its indices: a value, and what can be assigned */
  ENTITY_PART,  /* some numbers of the vector or matrix `left`: `v.x` `v.zy` `v[i]`; can be assigned where `left` can */
  ENTITY_FIELD, /* with `indexed` of its indices, fewer than all */
  ENTITY_NODE,
  ENTITY_SHAPE,
  ENTITY_TYPE,
  ENTITY_BUILTIN,
  ENTITY_LOOP, /* rg.range(..) or x:active(): the head of a loop */
  ENTITY_VOID, /* a call that gives nothing */
  ENTITY_OTHER /* a function, a table, a string ..: `what` */
} EntityKind;

typedef enum Algebra {
  ALGEBRA_NONE,
  ALGEBRA_DOT,
  ALGEBRA_CROSS,
  ALGEBRA_NORM,
  ALGEBRA_NORMALIZE,
  ALGEBRA_OUTER,
  ALGEBRA_TRANSPOSE,
  ALGEBRA_TRACE,
  ALGEBRA_DETERMINANT,
  ALGEBRA_INVERSE,
  ALGEBRA_CLAMP,
  ALGEBRA_MIX,
  ALGEBRA_STEP,
  ALGEBRA_SMOOTHSTEP,
  ALGEBRA_SELECT
} Algebra;

typedef enum BuiltinForm {
  FORM_RANGE,
  FORM_FLOAT,
  FORM_LOG,
  FORM_ANGLE,
  FORM_JOIN,
  FORM_ROUND,
  FORM_BITS,
  FORM_SHIFT,
  FORM_TOBIT,
  FORM_RESCALE, /* a function that is written out: rescale.c */
  FORM_SHAPER, /* rg.vec, rg.mat: makes a type */
  FORM_DECOMPOSE, /* of a square matrix, with several results: decompose.c */
  FORM_ALGEBRA /* of vectors and matrices as a whole, and what shaders have: algebra.c */
} BuiltinForm;
typedef struct Builtin {
  const char *name;
  BuiltinForm form;
  IrOp op;
  int least, most;
  int algebra; /* ALGEBRA: which */
} Builtin;

typedef enum MethodForm {
  METHOD_RMW, METHOD_CAS, METHOD_TOPOLOGY, METHOD_IS_ACTIVE, METHOD_COUNT, METHOD_CLEAR,
  METHOD_LIST, METHOD_ITEMS, METHOD_ACTIVE, METHOD_MODIFIER, METHOD_OUTSIDE
} MethodForm;
typedef struct Method {
  const char *name;
  MethodForm form;
  int op;
  int values;
} Method;

typedef struct Entity {
  EntityKind kind;
  const SNode *node;      /* ELEMENT, FIELD, NODE, SHAPE; of a METHOD call: of its object */
  int component;          /* ELEMENT, FIELD: the first of them, where an element has several numbers */
  const int64_t *offset;  /* ELEMENT, FIELD, SHAPE: where its indices start, per axis; NULL: at 0 */
  Shape shape;            /* of a value; ELEMENT, FIELD: of an element; TYPE: of its values */
  int part_count;         /* PART by names, LIVE with names behind: which numbers, counted row by row */
  uint8_t parts[4];
  int indexed;            /* FIELD; of a METHOD call: indices that its object has already */
  SemaArg source;         /* ELEMENT, FIELD, NODE, SHAPE: the capture or parameter it comes from */
  const char *name;       /* how the kernel calls it */
  Type type;              /* ELEMENT, FIELD: the element's; TYPE: itself */
  int live;
  int64_t constant;
  const Builtin *builtin; /* BUILTIN, a CALL of it, and a METHOD of a vector: then its object is the first argument */
  const Method *method;   /* a METHOD call */
  int taken;              /* a METHOD call of a list: how many of its arguments name the list */
  bool is_conversion;     /* a CALL of a type: `type` */
  bool is_offset;         /* SHAPE: of the offsets */
  SemaValueKind value;    /* OTHER */
  const char *what;       /* OTHER: "a function" */
  const AstFunction *callee; /* OTHER, a function: its text, when that is known */
  const Source *callee_source;
  int callee_number;      /* whose paths its free names are */
} Entity;

/* -- variables and live numbers -------------------------------------------------------------------------- */

/* Why an integer must stand somewhere. */
typedef struct Why {
  const char *clause;    /* "which indexes '%s'": of `name`, or without one; notes say "it indexes 'x' here" */
  const char *name;
  const AstExpr *at;
  const Source *source;
} Why;

typedef struct Local {
  const AstLocal *ast;
  Ty ty;
  Type type;             /* of its values, after check; NONE when it has none */
  Shape shape;
  bool has_shape;        /* it was given a value, or its annotation says so */
  bool is_part_assigned; /* some of its numbers are assigned: `v.x = ..` */
  bool is_annotated;     /* `type` is what the text says */
  bool is_alias;         /* stands for `alias`, which is no value */
  Entity alias;
  bool is_demanded;      /* reaches a place where an integer must stand: */
  Why why;
  const AstExpr *given;  /* what settled its type; in this text: */
  const Source *given_source;
  bool is_seen;          /* its declaration was met */
  bool is_poisoned;      /* a statement that gives it a value has failed: what uses it fails silently */
  int loop;              /* number of the parallel loop that declares it; 0: the host region */
  int reduced_in;        /* number of the parallel loop that reduces it, while that is resolved */
  IrUpdate reduced_by;
  const AstExpr *initial; /* its value, when it is declared with one and never assigned again */
  /* lower: */
  IrInst **values;       /* its numbers, or their VARs */
  IrInst **indices;      /* of a view: those it was made with */
  IrInst **dividend, **divisor; /* its value is the quotient of these integers */
} Local;

/* A number or bool that each launch brings; a vector, whose numbers are arguments one behind the other. */
typedef struct Live {
  SemaArg source;
  const char *name;
  Ty ty;
  Shape shape;
  const AstExpr *use;    /* the one that made it an integer; else the first */
  const Source *source_text; /* that `use` is in */
  Why why;               /* of an integer */
  Type met;              /* SOFT: the float type of its uses, f64 when there are several; after check: its type */
  int arg;               /* kernel->args, -1: not used */
} Live;

/* -- statements ------------------------------------------------------------------------------------------ */

/* The head of a `for .. in`. */
typedef struct LoopHead {
  const SNode *node;      /* x:active(): the level; NULL: a range */
  const int64_t *offset;  /* x:active(): where the field's indices start; NULL: at 0 */
  SemaArg source;
  const char *name;
  VEC(AstExpr *) bounds;  /* range: begin (NULL: 0) and end per axis */
  int axis_count;
  bool is_vector;         /* one variable holds all indices */
  bool is_parallel;       /* stands in the host region and is not serial */
  bool is_serial, is_independent;
  AstExpr *items;         /* x:items(i): the call; variables are the slot, then the values of its fields */
  int block;
  int number;             /* parallel: 1, 2, .. */
  Type index;             /* after check */
} LoopHead;

/* `target op= term +- term ..`: an update of an element, or of a local that a parallel loop reduces. Only ADD has
 * several terms with signs and MUL several without. */
typedef struct UpdateTerm { AstExpr *value; bool is_negative; } UpdateTerm;
typedef struct Update {
  IrUpdate op;
  AstExpr *target;
  VEC(UpdateTerm) terms;
} Update;

/* One arm of `c and a or d and b or e`; the last has no condition. */
typedef struct Choice { AstExpr *condition, *value; } Choice;
typedef VEC(Choice) Choices;

typedef struct Inline Inline;
typedef struct Diag Diag;     /* report.c */

/* -- functions ------------------------------------------------------------------------------------------- */

/* A call of a function that the user wrote: it is written out there, from a copy of its tree.
 *
 *     f(x + 1, y)      parameters given x + 1, y; the body; results as locals of their own, read by what stands around
 *
 * So each call has the types of its own arguments, what is no number (a field, a table, another function) stands for
 * itself inside, and parallel loops of a function called from the host region are the kernel's own. What the function
 * takes from around itself are paths of its own: `number` says whose. */
struct Inline {
  Inline *outer;                /* the function it is called in; NULL: the kernel */
  const AstFunction *original;  /* as front made it */
  AstFunction *function;        /* the copy */
  const Source *source;
  int number;                   /* its free names are paths of this function */
  int height;                   /* of its tree and those around */
  const char *name;
  const AstExpr *call;
  AstExprs arguments;           /* one per parameter */
  VEC(AstLocal *) results;
  const AstStmt *first_return;
  int loop;                     /* parallel loop in which it is called */
  bool returns_early, is_straight;
  int loops;                    /* lower: loops around its body */
};

/* One of the values that the kernel returns. */
typedef struct Result {
  Ty ty;
  Shape shape;
} Result;

typedef struct Sema {
  Scratch *scratch;
  const SemaInput *input;
  SemaOutput *output;
  const AstFunction *function;
  Error *err;           /* what sema_report fills */
  bool failed;          /* the current statement */
  bool is_broken;       /* the kernel */
  int failures;         /* said or not */
  VEC(Diag *) diags;
  Diag *latest;         /* of the last sema_fail; NULL: it was not kept */
  Map wanted;           /* paths that the host has to bring */
  Map broken, broken_heads; /* statements that failed; those of them whose bodies were read */
  Type default_float;
  Entity *entities;     /* by expression id */
  Ty *types;
  Type *at;
  Local *locals;        /* by local id */
  VEC(Live) lives;
  int *path_live, *parameter_live; /* number + 1 of a Live */
  Map path_number;      /* name -> number + 1; parameter paths under "=name" */
  Map heads, updates;   /* statement -> LoopHead, Update */
  Ast *ast;             /* the input's, with a copy of its function; counts what is added */
  int expr_capacity, local_capacity;
  Map inlines;          /* call of a user's function -> Inline */
  Map pops;             /* node:pop(i) with several results -> an Inline that has nothing but them */
  Inline *frame;        /* the function that is being read; NULL: the kernel */
  /* resolve: */
  int loop;             /* number of the parallel loop around; 0: the host region */
  int loop_count;
  bool breaks_parallel; /* the innermost loop is parallel */
  /* infer: */
  bool is_demanding, has_changed;
  VEC(Result) results;
  bool has_result_types; /* annotated */
  const AstStmt *first_return;
  /* lower: */
  IrBuilder b;
  int nesting;
  Pos here;             /* of the current statement */
  const AstStmt *repeat; /* the innermost loop, when it is a `repeat` */
  int loops;             /* around the current statement */
} Sema;

/* report.c. All false. The hint may be NULL. */
bool sema_fail(Sema *s, const AstExpr *at, ErrorCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool sema_fail_pos(Sema *s, Pos pos, int width, ErrorCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Says more about the failure that the call before reported: "declared here". source NULL: the text that is being read. */
bool sema_note(Sema *s, const Source *source, Pos pos, int width, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool sema_poison(Sema *s);                           /* fails without a word: it follows from another failure */
bool sema_recover(Sema *s, AstStmt *stmt);           /* stmt is over: did it fail? */
bool sema_recover_head(Sema *s, AstStmt *stmt);      /* its conditions or bounds are: its bodies are read all the same */
bool sema_recover_apart(Sema *s);                    /* what belongs to no statement */
static inline bool sema_is_broken(const Sema *s, const AstStmt *stmt) { return map_find_int(&s->broken, (uintptr_t)stmt); }
static inline bool sema_is_head_broken(const Sema *s, const AstStmt *stmt) {
  return map_find_int(&s->broken_heads, (uintptr_t)stmt);
}
bool sema_report(Sema *s);                           /* everything to err, in order: true when there is nothing */

/* text.c */
const Source *sema_text_source(const Sema *s);      /* the text that is being read */
const char *sema_text(Sema *s, Str text);           /* as a C string, cut to 60 bytes */
const char *sema_source(Sema *s, const AstExpr *e); /* the expression as text, cut */
AstExpr *sema_strip(AstExpr *e);                    /* without parentheses around it */
bool sema_is_constant(const AstExpr *e, double *value); /* a number as written, perhaps with a minus */

/* The facts. */
static inline Local *local_of(Sema *s, const AstLocal *local) { return &s->locals[local->id]; }
static inline Entity *entity_of(Sema *s, const AstExpr *e) { return &s->entities[e->id]; }
static inline LoopHead *head_of(Sema *s, const AstStmt *stmt) { return map_find_int(&s->heads, (uintptr_t)stmt); }
static inline Update *update_of(Sema *s, const AstStmt *stmt) { return map_find_int(&s->updates, (uintptr_t)stmt); }
static inline Inline *inline_of(Sema *s, const AstExpr *e) { return map_find_int(&s->inlines, (uintptr_t)e); }

/* builtin.c */
const Builtin *builtin_find(const char *name);
const Method *method_find(Str name);
const char *method_nearest(Str name);
const char *builtin_nearest(Str name);
const Builtin *builtin_method(Str name); /* `v:norm()`; NULL: there is none */

/* call.c: the arguments of a call, with the object of a vector's method in front */
AstExprs call_arguments(Sema *s, AstExpr *e);
AstExprs call_items(Sema *s, const AstExpr *e); /* what a vector or matrix is made of */
/* Of the arguments of a METHOD call, those that are indices; values follow. */
static inline int method_index_count(const Entity *entity, const AstExpr *call) {
  bool is_list = entity->method->form == METHOD_LIST || entity->method->form == METHOD_ITEMS;
  return is_list ? entity->taken : call->list.count - entity->method->values;
}

/* lists.c */
/* The fields of the SNode, or the one the call names: `number` of them; NULL past the last. */
const SNodeComponent *list_field(const SNode *node, const Entity *object, int number);
const SNodeComponent *list_item_field(Sema *s, const LoopHead *head, int number); /* 0: the first; NULL past the last */

/* shape.c */
const char *shape_text(Sema *s, Shape shape); /* "a number", "a vector of 3": for sentences */
static inline Shape shape_of(Sema *s, const AstExpr *e) { return s->entities[e->id].shape; }
/* A constant index: its number; -1 where it is computed. */
int shape_constant_index(const AstExpr *e);
AstExpr *shape_root(AstExpr *e, Sema *s); /* of what the parts are, in the end */
static inline bool shape_is_variable(const Sema *s, const AstLocal *local) {
  return local->is_assigned || s->locals[local->id].is_part_assigned;
}

/* ty.c */
Ty ty_of(Type type);
Ty ty_join(Ty a, Ty b);            /* what `+` gives; the number where a bool meets one */
Ty ty_firm(Sema *s, Ty ty);        /* of a variable that takes such a value */
Type ty_alone(Sema *s, Ty ty);     /* NONE for NONE */
Type ty_settle(Sema *s, Ty ty, Type want); /* the type of an expression that meets `want`, which may be NONE */
bool ty_is_float(Ty ty);           /* surely */
bool ty_is_integer(Ty ty);         /* surely; literals too */
bool ty_is_number(Ty ty);
bool ty_is_wide(Ty ty);            /* an integer that an i32 may not hold */
bool ty_fits(Ty literal, Type integer);
Ty ty_binary(Sema *s, AstOp op, Ty a, Ty b);
Ty ty_of_for(Sema *s, const AstStmt *stmt); /* of a numeric for: INT or FLOAT in the end */
const char *ty_text(Sema *s, Ty ty); /* "an f32", "a bool": for sentences */

/* choice.c */
bool choice_is(Sema *s, const AstExpr *e);  /* `c and a or b` of numbers */
Choices choice_arms(Sema *s, AstExpr *e);
bool choice_is_cheap(Sema *s, const AstExpr *e); /* may be computed for nothing */

/* quotient.c */
AstExpr *typed_quotient(Sema *s, AstExpr *e); /* the integer quotient that e is, also through a local; or NULL */
Ty typed_quotient_type(Sema *s, const AstExpr *quotient);

/* update.c */
bool update_find(AstOp op, IrUpdate *update, bool *commutes); /* `t op= v`; false: no update does it */
bool update_is_modular(IrUpdate op);          /* low bits of the result come from low bits of the operands */
AstOp update_operator(IrUpdate op);           /* AST_NO_OP for min, max, exchange */

#endif
