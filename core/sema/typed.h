/* typed.h - what the files of sema share: facts about the Ast, in arrays beside it.
 *
 *   resolve: what each name, index and call denotes          entities, loops, updates
 *   infer:   a Ty per expression and variable, to a fixpoint  types
 *   check:   the type each expression is computed in          at
 *   lower:   the IR                                           (reports nothing any more, but nesting)
 *
 * Every step is sticky up to the end of a statement: its first failure is kept (report.c) and sets `failed`, what follows
 * in it goes on harmlessly, later steps leave it out. A kernel with a failure is not lowered. */
#ifndef RG_SEMA_TYPED_H
#define RG_SEMA_TYPED_H

#include "base/map.h"
#include "sema/sema.h"

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

/* How many numbers a value is: sema's types are those of one of them, its shapes stand beside. Zeros: one number.
 * Shapes follow from the text alone, so resolve knows them all. */
typedef struct Shape {
  uint8_t rows, cols;
} Shape; /* a vector: rows and 1 */

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

typedef struct Inline Inline; /* inline.h */
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
/* sema.c */
void sema_want_path(Sema *s, SemaPath path);         /* the host has to bring it as well */
const char *sema_text(Sema *s, Str text);          /* as a C string, cut to 60 bytes */
const char *sema_source(Sema *s, const AstExpr *e); /* the expression as text, cut */
static inline Local *local_of(Sema *s, const AstLocal *local) { return &s->locals[local->id]; }
static inline Entity *entity_of(Sema *s, const AstExpr *e) { return &s->entities[e->id]; }
static inline LoopHead *head_of(Sema *s, const AstStmt *stmt) { return map_find_int(&s->heads, (uintptr_t)stmt); }
static inline Update *update_of(Sema *s, const AstStmt *stmt) { return map_find_int(&s->updates, (uintptr_t)stmt); }
const Source *sema_text_source(const Sema *s);      /* the text that is being read */
int sema_find_path(Sema *s, const SemaPath *path);  /* its number, or -1 */
static inline Inline *inline_of(Sema *s, const AstExpr *e) { return map_find_int(&s->inlines, (uintptr_t)e); }
AstExpr *sema_strip(AstExpr *e);                    /* without parentheses around it */
bool sema_is_constant(const AstExpr *e, double *value); /* a number as written, perhaps with a minus */

/* paths.c */
bool path_of(const Ast *ast, const AstExpr *e, StrBuf *name, int *parameter); /* parameter -1: a captured path. ast NULL: no parameters */
int path_parameter(const Ast *ast, const AstLocal *local);                   /* its number, or -1 */

/* builtin.c */
const Builtin *builtin_find(const char *name);
const Method *method_find(Str name);
const char *method_nearest(Str name);
const char *builtin_nearest(Str name);

/* suggest.c: a hint for a name that is not there, or NULL */
const char *suggest_type(Sema *s, const char *name);
const char *suggest_name(Sema *s, Str name);
const char *suggest_builtin(Sema *s, Str path);  /* "rg.lenght" */
const char *suggest_vector_member(Sema *s, Str name, bool is_call);
const char *suggest_field_member(Sema *s, Str name, const char *object);
const char *suggest_method(Sema *s, Str name);
const char *suggest_modifier(Sema *s, Str name); /* of a loop's head */

/* resolve.c */
Entity resolve_expr(Sema *s, AstExpr *e);   /* and remembers it */
bool resolve_value(Sema *s, AstExpr *e);    /* a number or bool */
bool resolve_scalar(Sema *s, AstExpr *e);   /* one number or bool */
bool resolve_check_scalar(Sema *s, AstExpr *e); /* the same of what was resolved: reading it twice at each height takes forever */
bool resolve_indices(Sema *s, AstExprs *list, int *count); /* `{i, j}` counts two, as does an ivec2 */
Type resolve_type(Sema *s, AstExpr *annotation, Shape *shape);
const char *resolve_nearest(Sema *s, Str name); /* a hint "did you mean 'x'?", or NULL */
/* resolve_name.c */
const char *resolve_nearest(Sema *s, Str name); /* a hint "did you mean 'x'?", or NULL */
Entity resolve_capture(Sema *s, AstExpr *e);
Entity resolve_member(Sema *s, AstExpr *e, Entity object, Str name); /* object.name */
void resolve_parameter(Sema *s, int number);
bool resolve_is_nil(Sema *s, AstExpr *e); /* a declared name without a value */
Entity resolve_path_value(Sema *s, AstExpr *e, int number);
/* shape.c */
static inline bool shape_is_scalar(Shape shape) { return shape.rows == 0; }
static inline bool shape_is_matrix(Shape shape) { return shape.cols > 1; }
static inline bool shape_equal(Shape a, Shape b) { return a.rows == b.rows && a.cols == b.cols; }
static inline int shape_count(Shape shape) { return shape.rows ? shape.rows * shape.cols : 1; }
Shape shape_of_type(Type type);
const char *shape_text(Sema *s, Shape shape); /* "a number", "a vector of 3": for sentences */
static inline Shape shape_of(Sema *s, const AstExpr *e) { return s->entities[e->id].shape; }
/* Operators and functions that work number by number: a scalar meets every one. False where the shapes differ. */
bool shape_join(Sema *s, const AstExpr *at, Shape a, Shape b, const char *who, Shape *joined);
bool shape_binary(Sema *s, const AstExpr *e, Shape *shape);
/* A value of shape `from` is given to something of shape `to`. */
bool shape_check_given(Sema *s, const AstExpr *value, Shape to, const char *what);
/* The parts of `v.xy`: how many, 0 when this is no such name. */
int shape_swizzle(Str name, Shape of, uint8_t parts[4]);
bool shape_is_swizzle(Str name);
Entity shape_named_part(Sema *s, AstExpr *e, const Entity *object, Str name);
Entity shape_indexed_part(Sema *s, AstExpr *e, const Entity *object);
/* A constant index: its number; -1 where it is computed. */
int shape_constant_index(const AstExpr *e);
AstExpr *shape_root(AstExpr *e, Sema *s); /* of what the parts are, in the end */
void shape_mark_assigned(Sema *s, const AstBlock *block);
static inline bool shape_is_variable(const Sema *s, const AstLocal *local) {
  return local->is_assigned || s->locals[local->id].is_part_assigned;
}

/* extent.c: x.shape and x.offset */
Entity extent_constant(int64_t value);
Entity extent_vector(Sema *s, AstExpr *e, const Entity *shape);  /* e becomes the vector, of one axis the number */
Entity extent_member(Sema *s, AstExpr *e, const Entity *shape, Str name);
Entity extent_indexed(Sema *s, AstExpr *e, const Entity *shape);

/* algebra.c: the functions of vectors; arguments are those of e, with the object of a method in front. */
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
AstExprs construct_items(Sema *s, const AstExpr *e); /* what a vector or matrix is made of */
const Builtin *algebra_method(Str name);             /* `v:norm()`; NULL: there is none */
AstExprs algebra_arguments(Sema *s, AstExpr *e);
bool algebra_shape(Sema *s, AstExpr *e, const Builtin *builtin, Shape *shape);
Ty algebra_type(Sema *s, const AstExprs *arguments, const Builtin *builtin);
bool algebra_check(Sema *s, AstExpr *e, const Builtin *builtin);

/* decompose.c */
Entity decompose_call(Sema *s, AstExpr *e, const Builtin *builtin);

/* resolve_call.c */
Entity resolve_call(Sema *s, AstExpr *e);
Entity resolve_method(Sema *s, AstExpr *e);
Entity resolve_type_call(Sema *s, AstExpr *e, Str name); /* `vec(5, f64)`: a TYPE */
Entity resolve_fail_indices(Sema *s, AstExpr *e, const Entity *object, int needed, int given);
/* lists.c: what belongs to the lists of dynamic SNodes */
Entity list_call(Sema *s, AstExpr *e, Entity object); /* append, length, pop */
bool list_items(Sema *s, AstExpr *e, const Entity *object, LoopHead *head);
void list_declare(Sema *s, const LoopHead *head, const AstStmt *stmt); /* the shapes of its variables */
const SNodeComponent *list_item_field(Sema *s, const LoopHead *head, int number); /* 0: the first; NULL behind the last */
void list_infer_items(Sema *s, const LoopHead *head, const AstStmt *stmt);
void list_infer_values(Sema *s, AstExpr *e);
bool list_check_values(Sema *s, AstExpr *e);
IrInst **list_lower(Sema *s, AstExpr *e, IrInst **indices, int count);
IrInst *list_lower_items(Sema *s, const LoopHead *head, IrInst **indices);
void list_bind_items(Sema *s, const LoopHead *head, const AstStmt *stmt, IrInst *slot, IrInst *const *indices);
/* Of the arguments of a METHOD call, those that are indices; values follow. */
static inline int method_index_count(const Entity *entity, const AstExpr *call) {
  bool is_list = entity->method->form == METHOD_LIST || entity->method->form == METHOD_ITEMS;
  return is_list ? entity->taken : call->list.count - entity->method->values;
}
/* resolve_loop.c */
void resolve_head(Sema *s, AstStmt *stmt);
/* resolve_stmt.c */
void resolve_block(Sema *s, AstBlock *block);
void resolve_stmt(Sema *s, AstStmt *stmt);
void resolve_declare(Sema *s, const AstLocal *ast);
bool resolve_give_shape(Sema *s, const AstLocal *ast, AstExpr *value); /* the first value settles it, others must fit */
void resolve_kernel(Sema *s);

/* update.c */
Update *update_match(Sema *s, AstStmt *stmt); /* NULL: it is a plain assignment */
bool update_is_modular(IrUpdate op);          /* low bits of the result come from low bits of the operands */
AstOp update_operator(IrUpdate op);           /* AST_NO_OP for min, max, exchange */

/* ty.c */
Ty ty_of(Type type);
Ty ty_join(Ty a, Ty b);            /* what `+` gives; the number where a bool meets one */
Ty ty_firm(Sema *s, Ty ty);        /* of a variable that takes such a value */
Type ty_alone(Sema *s, Ty ty);     /* NONE for NONE */
Type ty_settle(Sema *s, Ty ty, Type want); /* the type of an expression that meets `want`, which may be NONE */
bool ty_is_float(Ty ty);           /* surely */
bool ty_is_integer(Ty ty);         /* surely; literals too */
bool ty_is_number(Ty ty);
bool ty_fits(Ty literal, Type integer);
Ty ty_binary(Sema *s, AstOp op, Ty a, Ty b);
const char *ty_text(Sema *s, Ty ty); /* "an f32", "a bool": for sentences */

/* resolve_inline.c: a call of a function that the user wrote; `self` is the object of a method call, or NULL */
Entity inline_call(Sema *s, AstExpr *e, Entity callee, AstExpr *self);
void inline_return(Sema *s, AstStmt *stmt);
void inline_spread(Sema *s, AstExprs *list, int wanted); /* other results of a call that ends the list */
bool inline_refuse_many(Sema *s, const AstExprs *list);  /* where only one value is taken */
Entity inline_table_member(Sema *s, AstExpr *e, const Entity *table, Str name);
/* static.c */
Entity static_call(Sema *s, AstExpr *e);   /* rg.static(..) becomes a literal */
void static_if(Sema *s, AstStmt *stmt);    /* drops the arms that are known not to be taken */
/* unroll.c */
bool unroll_loop(Sema *s, AstStmt *stmt);  /* a loop that is written out; false: another one */
/* table.c: captured tables that are lists */
bool table_length(Sema *s, AstExpr *e, const Entity *table, int64_t *length);
Entity table_item(Sema *s, AstExpr *e, const Entity *table);
/* inline.c */
Ty inline_infer(Sema *s, Inline *in);
void inline_infer_return(Sema *s, AstStmt *stmt);
bool inline_check(Sema *s, Inline *in);
void inline_check_return(Sema *s, AstStmt *stmt);
IrInst **inline_lower(Sema *s, AstExpr *e, Inline *in); /* NULL when it gives nothing */
void inline_lower_return(Sema *s, AstStmt *stmt);

/* infer.c */
void infer_kernel(Sema *s);
void infer_block(Sema *s, AstBlock *block);
void infer_give(Sema *s, const AstLocal *ast, Ty ty, AstExpr *value); /* a variable is given a value of this type */
Ty infer_update(Sema *s, IrUpdate op, Ty target, Ty term);
Ty infer_for_type(Sema *s, const AstStmt *stmt); /* of a numeric for: INT or FLOAT in the end */
/* demand.c: e stands where an integer must stand */
void demand_integer(Sema *s, AstExpr *e, Why why);
void infer_demand(Sema *s, AstExpr *e, const char *clause, const char *name); /* while the kernel is demanding */
/* infer_expr.c */
Ty infer_expr(Sema *s, AstExpr *e);
void infer_list(Sema *s, AstExprs *list);
AstExpr *infer_quotient(Sema *s, AstExpr *e); /* the integer quotient that e is, also through a local; or NULL */
Ty infer_quotient_type(Sema *s, const AstExpr *quotient);

/* choice.c */
bool choice_is(Sema *s, const AstExpr *e);  /* `c and a or b` of numbers */
Choices choice_arms(Sema *s, AstExpr *e);
bool choice_is_cheap(Sema *s, const AstExpr *e); /* may be computed for nothing */

/* check.c */
void check_kernel(Sema *s);
void check_block(Sema *s, AstBlock *block);
void check_given(Sema *s, const AstLocal *ast, AstExpr *value);
/* check_expr.c */
bool check_expr(Sema *s, AstExpr *e, Type want);
bool check_condition(Sema *s, AstExpr *e);
bool check_indices(Sema *s, const AstExprs *list, int count);
bool check_object(Sema *s, AstExpr *e);  /* the indices of an INDEX, through all its levels */
bool check_store(Sema *s, AstExpr *value, Type target, const char *what); /* what: "'x' holds", .. */
bool check_number(Sema *s, AstExpr *e, const char *who);
bool check_integer(Sema *s, AstExpr *e, const char *who);
/* check_call.c */
bool check_call(Sema *s, AstExpr *e);
bool check_method(Sema *s, AstExpr *e);
bool check_update(Sema *s, Update *update, Type target);

/* lower.c */
void lower_kernel(Sema *s);
void lower_block(Sema *s, AstBlock *block);
bool lower_is_closed(const Sema *s);          /* an exit ends the region: nothing may follow */
IrRegion *lower_enter(Sema *s, IrRegion *region); /* gives the region to come back to */
void lower_leave(Sema *s, IrRegion *back);
void lower_at(Sema *s, Pos pos);
/* The launch ends here: `sentence`, then the number `value` (an f64), at `at`. */
void lower_fault(Sema *s, const AstExpr *at, IrInst *value, ErrorCode code, const char *hint, const char *sentence);
void lower_keep_view(Sema *s, const AstLocal *local, AstExpr *value); /* of a local that is an alias */
void lower_bind(Sema *s, const AstLocal *local, IrInst **values);     /* VARs when it is assigned again */
/* lower_expr.c */
IrInst *lower_expr(Sema *s, AstExpr *e); /* one number, of type s->at[e->id] */
IrInst *lower_as(Sema *s, AstExpr *e, Type type);
/* lower_vector.c: as many as e has numbers, row by row */
IrInst **lower_values(Sema *s, AstExpr *e);
IrInst **lower_values_as(Sema *s, AstExpr *e, Type type, int count);    /* one number stretches to count */
IrInst **lower_parts(Sema *s, AstExpr *e, const int *parts, int count); /* some of them */
IrInst **lower_select(Sema *s, IrInst *condition, IrInst **yes, IrInst **no, int count);
/* lower_algebra.c */
IrInst **lower_algebra(Sema *s, AstExpr *e, const Builtin *builtin);
IrInst **lower_product(Sema *s, Shape a_shape, IrInst **a, Shape b_shape, IrInst **b); /* with a matrix */
IrInst *lower_convert(Sema *s, IrInst *value, Type type); /* constants at once */
IrInst *lower_number(Sema *s, Type type, int64_t value);
IrInst *lower_operator(Sema *s, AstOp op, IrInst *a, IrInst *b); /* arithmetic and bits */
/* lower_access.c */
int lower_indices(Sema *s, AstExpr *e, IrInst **indices);
int lower_index_list(Sema *s, const AstExprs *list, int count, IrInst **indices, int so_far);
/* Indices of a field counted from 0, where its own start elsewhere. */
IrInst **lower_from_start(Sema *s, const Entity *field, int count, IrInst **indices);
IrInst *lower_place_at(Sema *s, const Entity *field, int part, IrInst **indices); /* of the element's number `part` */
int lower_level(Sema *s, const SNode *node, const char *name, SemaArg source);
/* lower_call.c */
IrInst **lower_call(Sema *s, AstExpr *e);
IrInst **lower_method(Sema *s, AstExpr *e); /* NULL when it gives nothing */
void lower_quotient(Sema *s, AstExpr *e, IrInst ***dividend, IrInst ***divisor);
/* lower_compare.c */
IrInst *lower_compare(Sema *s, AstOp op, IrInst *a, IrInst *b);
/* lower_loop.c */
void lower_numeric_for(Sema *s, AstStmt *stmt);
void lower_for_in(Sema *s, AstStmt *stmt);
void lower_while(Sema *s, AstStmt *stmt);
void lower_repeat(Sema *s, AstStmt *stmt);
void lower_continue(Sema *s);
/* lower_update.c */
void lower_assign(Sema *s, AstStmt *stmt);
void lower_compound(Sema *s, AstStmt *stmt);

#endif
