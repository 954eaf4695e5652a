/* tree.h - the typed tree: what resolve makes of the Ast, and the stages after it complete.
 *
 * A node looks like the Ast's it was made of (`ast`), with all that is found out about it
 * inside. Calls of functions that the user wrote hold what was written out for them, loops over
 * what is static are blocks with their turns, so each node means one thing. Later stages add
 * facts and change no shape. */
#ifndef RG_TYPED_TREE_H
#define RG_TYPED_TREE_H

#include "base/map.h"
#include "typed/entity.h"

typedef struct Expr Expr;
typedef struct Stmt Stmt;
typedef struct Local Local;
typedef struct Inline Inline;
typedef VEC(Expr *) Exprs;
typedef VEC(Stmt *) Block;
typedef VEC(Local *) Locals;

/* -- expressions ------------------------------------------------------------------------------- */

struct Expr {
  AstExprKind kind;
  AstOp op;
  Pos pos;
  int32_t width;
  const AstExpr *ast;  /* as it is written: for sentences, and for what resolve reads of names */
  Expr *left, *right, *third; /* as in the Ast */
  Exprs list;
  Str text;
  Local *local;        /* LOCAL; NULL: a helper's name */
  AstNumberKind number_kind;
  double number;
  uint64_t integer;
  /* resolve: */
  Entity entity;
  Call call;           /* CALL, METHOD */
  Inline *inlined;     /* a call of a function that the user wrote */
  Locals popped;       /* node:pop(i): a variable for each field */
  /* infer: */
  Ty ty;
  Type at;             /* check: the type in which it is computed */
};

/* The function that a call is of; NULL: it is another one. */
static inline const Builtin *builtin_of(const Expr *e) {
  return e->call.kind == CALL_BUILTIN ? e->call.builtin : NULL;
}

static inline const MethodCall *method_of(const Expr *e) {
  ASSERT(e->call.kind == CALL_METHOD, "a method of a field or an SNode");
  return &e->call.method;
}

/* -- variables and live numbers ---------------------------------------------------------------- */

/* Why an integer must stand somewhere. */
typedef struct Why {
  /* "which indexes '%s'": of `name`, or without one; notes say "it indexes 'x' here" */
  const char *clause;
  const char *name;
  const Expr *at;
  const Source *source;
} Why;

struct Local {
  Str name;
  Pos pos;
  int id;                /* unique in the kernel */
  /* made for a call or a turn that is written out: others may bear its name */
  bool is_repeated;
  const AstExpr *annotation;
  bool is_const, is_loop_variable;
  bool is_assigned;      /* again after its declaration */
  Ty ty;
  Type type;             /* of its values, after check; NONE when it has none */
  Shape shape;
  bool has_shape;        /* it was given a value, or its annotation says so */
  bool is_part_assigned; /* or something in it: `v.x = ..` */
  bool is_annotated;     /* `type` is what the text says */
  bool is_alias;         /* stands for `alias`, which is no value */
  Entity alias;
  bool is_demanded;      /* reaches a place where an integer must stand: */
  Why why;
  const Expr *given;     /* what settled its type; in this text: */
  const Source *given_source;
  bool is_seen;          /* its declaration was met */
  /* a statement that gives it a value has failed: what uses it fails silently */
  bool is_poisoned;
  int loop;              /* number of the parallel loop that declares it; 0: the host region */
  int reduced_in;        /* number of the parallel loop that reduces it, while that is resolved */
  IrUpdate reduced_by;
  const Expr *initial;   /* its value, when it is declared with one and never assigned again */
};

/* A number or bool that each launch brings; a vector, whose numbers are arguments one behind the
 * other. */
typedef struct Live {
  SemaArg source;
  const char *name;
  Ty ty;
  Shape shape;
  const Expr *use;       /* the one that made it an integer; else the first */
  const Source *source_text; /* that `use` is in */
  Why why;               /* of an integer */
  /* SOFT: the float type of its uses, f64 when there are several; after check: its type */
  Type met;
  int arg;               /* kernel->args, -1: not used */
} Live;

/* Its declaration is not all that gives it a value. */
static inline bool local_is_variable(const Local *local) {
  return local->is_assigned || local->is_part_assigned;
}

/* -- statements -------------------------------------------------------------------------------- */

/* The head of a `for .. in`. */
typedef struct LoopHead {
  const SNode *node;      /* x:active(): the level; NULL: a range */
  const int64_t *offset;  /* x:active(): where the field's indices start; NULL: at 0 */
  SemaArg source;
  const char *name;
  Exprs bounds;           /* range: begin (NULL: 0) and end per axis */
  int axis_count;
  bool is_vector;         /* one variable holds all indices */
  bool is_parallel;       /* stands in the host region and is not serial */
  bool is_serial, is_independent;
  /* x:items(i): the call; variables are the slot, then the values of its fields */
  Expr *items;
  int block;
  int number;             /* parallel: 1, 2, .. */
  Type index;             /* after check */
} LoopHead;

/* `target op= term +- term ..`: an update of an element, or of a local that a parallel loop
 * reduces. Only ADD has several terms with signs and MUL several without. */
typedef struct UpdateTerm { Expr *value; bool is_negative; } UpdateTerm;
typedef struct Update {
  IrUpdate op;
  Expr *target;
  VEC(UpdateTerm) terms;
} Update;

struct Stmt {
  AstStmtKind kind;
  Pos pos;
  int32_t width;
  AstOp op;
  Locals locals;
  Exprs targets, values;
  VEC(Block) bodies;     /* all as in the Ast */
  /* BREAK: loops that it leaves beside the innermost, in loops that are written out */
  int levels;
  LoopHead *head;        /* FOR_IN */
  Update *update;        /* an assignment that is one */
  bool is_broken;        /* it has failed; */
  bool is_head_broken;   /* with its conditions or bounds, while its bodies were read */
};

/* -- functions --------------------------------------------------------------------------------- */

/* A call of a function that the user wrote: it is written out there, for this call alone.
 *
 *     f(x + 1, y)      parameters given x + 1, y; the body; results as locals, read by what
 *                      stands around
 *
 * So each call has the types of its own arguments, what is no number (a field, a table, another
 * function) stands for itself inside, and parallel loops of a function called from the host
 * region are the kernel's own. What the function takes from around itself are paths of its own:
 * `number` says whose. */
struct Inline {
  Inline *outer;                /* the function it is called in; NULL: the kernel */
  const AstFunction *function;
  Map names;                    /* AstLocal -> Local, while it is resolved */
  Locals parameters;
  Block body;
  const Source *source;
  int number;                   /* its free names are paths of this function */
  int height;                   /* of its tree and those around */
  const char *name;
  const Expr *call;
  Exprs arguments;              /* one per parameter */
  Locals results;
  const Stmt *first_return;
  int loop;                     /* parallel loop in which it is called */
  bool returns_early, is_straight;
};

/* One arm of `c and a or d and b or e`; the last has no condition. */
typedef struct Choice { Expr *condition, *value; } Choice;
typedef VEC(Choice) Choices;

#endif
