/* nodes.h - the typed tree: resolve builds it from the Ast, later stages complete it.
 *
 * A node mirrors the Ast node it was made from (`ast`) and holds everything found out about it. A
 * call of a user function holds its expansion, and a static loop is a block of its iterations, so
 * each node has one meaning and one type. Later stages add facts but do not change the
 * structure. */
#ifndef RG_TYPED_NODES_H
#define RG_TYPED_NODES_H

#include "base/map.h"
#include "typed/entity.h"
#include "typed/output.h"

typedef struct Expr Expr;
typedef struct Stmt Stmt;
typedef struct Local Local;
typedef struct Inline Inline;
typedef struct Invocation Invocation;
typedef struct Recursive Recursive;
typedef VEC(Expr *) Exprs;
typedef VEC(Stmt *) Block;
typedef VEC(Local *) Locals;

/* -- messages of print, assert and error ------------------------------------------------------- */

typedef struct MessagePiece {
  SemaPieceKind kind;
  Str text;           /* TEXT */
  SemaArg string;     /* STRING */
  Expr *value;        /* VALUE */
  const char *format; /* "%5.2f"; NULL: as tostring shows it */
  bool is_joined;     /* by `..`, which takes only strings and numbers */
} MessagePiece;

typedef struct MessageCall {
  ErrorCode code;  /* of the failure; NONE: print */
  Expr *condition; /* assert: it fails if this is false */
  VEC(MessagePiece) pieces;
  bool has_calls; /* its values contain a call, so they are computed unconditionally */
  int number;     /* lower: of the message in the output */
} MessageCall;

/* -- random numbers ---------------------------------------------------------------------------- */

typedef enum RandomForm { RANDOM_UNIFORM, RANDOM_WITHIN, RANDOM_NORMAL } RandomForm;
typedef struct RandomCall {
  RandomForm form;
  Type type;        /* as written; NONE: from the bounds, or a float type by its use */
  Expr *low, *high; /* WITHIN */
} RandomCall;

/* Do the iterations of a loop, or the host region, draw numbers? has_trips: also in serial
 * loops. */
typedef struct RandomUse {
  bool is_used, has_trips;
} RandomUse;

/* -- expressions ------------------------------------------------------------------------------- */

struct Expr {
  AstExprKind kind;
  AstOp op;
  Pos pos;
  int32_t width;
  const AstExpr *ast;         /* as written: for messages, and for the names resolve reads */
  Expr *left, *right, *third; /* as in the Ast */
  Exprs list;
  Str text;
  Local *local; /* LOCAL; NULL: the name of a helper function */
  AstNumberKind number_kind;
  double number;
  uint64_t integer;
  /* resolve: */
  Entity entity;
  Call call;           /* CALL, METHOD */
  Inline *inlined;     /* a call of a user function */
  bool is_truth;       /* AND: tests a value that may be nil: true unless nil or false */
  int result;          /* the number of the result that is the value: `f(x).pos` */
  Invocation *invoked; /* a call of a recursive function */
  /* INDEX: of a captured list. The node holds the item itself; the index is not that of a field */
  bool is_item;
  Locals popped;        /* node:pop(i): a variable for each field */
  MessageCall *message; /* a call of print, assert, error */
  RandomCall random;    /* a call of FORM_RANDOM */
  int64_t random_word;  /* lower: 1 + the first random word that it uses */
  /* infer: */
  PartialType ty;
  bool is_rounded; /* a call of FORM_ROUND whose result is needed as an integer */
  Type type;       /* check: the type in which it is computed */
};

/* The builtin that is called; NULL: not a builtin. */
static inline const Builtin *builtin_of(const Expr *e) {
  return e->call.kind == CALL_BUILTIN ? e->call.builtin : NULL;
}

static inline const MethodCall *method_of(const Expr *e) {
  ASSERT(e->call.kind == CALL_METHOD, "a method of a field or an SNode");
  return &e->call.method;
}

/* -- variables and launch arguments ------------------------------------------------------------ */

/* The reason why a number must be an integer. */
typedef struct Reason {
  /* "which indexes '%s'": of `name`, or without one; notes say "it indexes 'x' here" */
  const char *clause;
  const char *name;
  const Expr *at;
  const Source *source;
  bool is_guess; /* not required, but its values were whole numbers so far */
} Reason;

struct Local {
  Str name;
  Pos pos;
  int id; /* unique in the kernel */
  /* made for an expanded call or iteration, so other locals may have the same name */
  bool is_repeated;
  const AstExpr *annotation;
  bool is_const, is_loop_variable, is_parameter;
  bool has_default; /* `x = x or 3` */
  bool is_assigned; /* assigned again after its declaration */
  PartialType ty;
  Type type; /* of its values, after check; NONE when it has none */
  Shape shape;
  bool has_shape;        /* from its first value or its annotation */
  bool is_part_assigned; /* or part of it is: `v.x = ..` */
  bool is_indexed;       /* after check: somewhere by an index that is computed */
  bool is_annotated;     /* `type` comes from its annotation */
  bool is_alias;         /* refers to `alias`, which is not a value */
  Entity alias;
  bool is_demanded; /* its value is used where an integer is required: */
  Reason reason;
  const Expr *type_from; /* the expression that determined its type; in this source: */
  const Source *type_from_source;
  bool is_declared;  /* its declaration was reached */
  Stmt *declaration; /* its `local` statement, which later findings extend */
  Local *presence;   /* a bool: has it a value? NULL if nothing asks. resolve/value/maybe.c */
  bool begins_nil;   /* declared without a value */
  Block assignments; /* those resolved before the first question about its presence */
  /* a statement that assigns it failed: uses of it fail silently */
  bool is_poisoned;
  int loop; /* number of the parallel loop that declares it; 0: host region */
  /* the last parallel loop, among those resolved so far, that reduces it, and that reads it */
  int reduced_in, read_in;
  IrUpdate *reduced_by;       /* each of its numbers */
  const Expr *initial;        /* its value, if declared with one and never assigned again */
  const struct Static *known; /* its value, in a function that rg.static runs */
};

/* A table whose values are locals of their own (scalar replacement). A member that is not a value,
 * a table or a field, is an alias. The locals have no names in the kernel's text, and passes never
 * see the table. */
typedef struct RecordItem {
  Str name; /* empty: the next number, from 1 */
  Local *local;
} RecordItem;
struct Record {
  int count;
  RecordItem *items;
};

/* A launch argument: a number or bool, or a vector, whose numbers are consecutive arguments. */
typedef struct LaunchArg {
  SemaArg source;
  const char *name;
  PartialType ty;
  Shape shape;
  const Expr *use;           /* the use that made it an integer; otherwise the first */
  const Source *source_text; /* the source `use` is in */
  Reason reason;             /* of an integer */
  /* FLEXIBLE: the float type of its uses, f64 if there are several; after check: its type */
  Type type;
  int use_count; /* after check; this many uses go straight into integers of `stored`: */
  Exprs stores;
  Type stored;
  bool is_compared; /* after check: it is compared with anything, which may guard a store */
  int arg;          /* kernel->args, -1: not used */
} LaunchArg;

/* A launch argument is stored into integers narrower than its type. */
typedef struct Limit {
  int launch_arg;
  Type type;
  bool is_negated; /* its negative is stored */
  const Expr *at;
  const Source *source; /* that `at` is in */
} Limit;

/* Is it assigned after its declaration? */
static inline bool local_is_variable(const Local *local) {
  return local->is_assigned || local->is_part_assigned;
}

/* The value that e, a local, always has: it has no annotation and is never assigned after its
 * declaration. Else NULL. */
static inline Expr *local_fixed_value(const Expr *e) {
  const Local *local = e->kind == AST_LOCAL ? e->local : NULL;
  bool is_fixed = local && local->initial && !local->annotation && !local_is_variable(local);
  return is_fixed ? (Expr *)local->initial : NULL;
}

/* -- statements -------------------------------------------------------------------------------- */

/* The head of a `for .. in`. */
typedef struct LoopHead {
  const SNode *node;     /* x:active(): the level; NULL: a range */
  const int64_t *offset; /* x:active(): where the field's indices start; NULL: at 0 */
  SemaArg source;
  const char *name;
  Exprs bounds; /* range: begin (NULL: 0) and end per axis */
  int axis_count;
  bool is_vector;   /* one variable holds all indices */
  bool is_parallel; /* in the host region and not serial */
  bool is_serial, is_independent, is_scalar;
  bool is_global; /* `:global()`: see loop_is_global */
  /* x:items(i): the call; its variables are the slot, then the field values */
  Expr *items;
  int block;
  int number;       /* parallel: 1, 2, .. */
  RandomUse random; /* parallel */
  Type index;       /* after check */
} LoopHead;
/* Does it run over the indices of the whole simulation, whatever the number of ranks? If so, its
 * random numbers do not depend on that number. */
static inline bool loop_is_global(const LoopHead *head) {
  return head->is_global || (head->node && head->node->tree->is_global);
}

/* `target op= term +- term ..`: an update of an element, or of a local that a parallel loop
 * reduces. Only ADD has several terms, with signs, and MUL several, without. */
typedef struct UpdateTerm {
  Expr *value;
  bool is_negative;
} UpdateTerm;
typedef struct Update {
  IrUpdate op;
  bool is_logic; /* BAND, BOR: `and`, `or` of bools */
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
  VEC(Block) bodies; /* as in the Ast */
  /* BREAK: loops it leaves besides the innermost, in unrolled loops */
  int levels;
  Inline *returns_from; /* RETURN: the call that it ends; NULL: the kernel */
  LoopHead *head;       /* FOR_IN */
  Update *update;       /* an assignment that is one */
  bool is_guess;        /* a numeric `for` over integers, as its bounds were whole so far */
  bool draws;           /* a serial loop in which random numbers are drawn */
  bool is_broken;       /* it failed */
  bool is_head_broken;  /* its conditions or bounds failed; its bodies were resolved */
};

/* -- functions --------------------------------------------------------------------------------- */

/* A generated function that looks up a constant table: its parameters are the indices, each an i64,
 * and it returns the value there, or zero out of bounds. Its body is a search tree of
 * `if index < number then .. else .. end` and returns. */
typedef struct Lookup {
  int levels;
  const int *lengths; /* by level: that of the longest list, whose indices start at 1 */
} Lookup;

/* A call of a user function, expanded in place for this call alone.
 *
 *     f(x + 1, y)      parameters initialised with x + 1, y; the body; results as locals, which the
 *                      surrounding expression reads
 *
 * So each call has the types of its own arguments. Everything except numbers (a field, a table,
 * another function) is passed by name, and parallel loops of a function called from the host region
 * are loops of the kernel. The function's captures are paths of its own, under its `number`.
 * The body of a recursive function is expanded once, as a function of the IR. */
struct Inline {
  const Lookup *lookup; /* its parameters are the indices of a constant table; or NULL */
  Inline *outer;        /* the function it is called in; NULL: the kernel */
  const AstFunction *function;
  Map names; /* AstLocal -> Local, while resolving it */
  Locals parameters;
  Block body;
  const Source *source;
  int number; /* its free names are paths of this function */
  int height; /* of its tree plus the enclosing trees */
  const char *name;
  const Expr *call;
  Exprs arguments; /* one per parameter */
  Locals results;
  Block returns;    /* with values */
  Locals presences; /* the last results: whether one of the others has a value */
  Locals returned;  /* the same as the text returns them: a record is one */
  bool keeps_first; /* the call's value is another result; the first is kept, too */
  bool is_pick;     /* returns one of its parameters by the first: record_pick.c */
  const Stmt *first_return;
  int loop;      /* parallel loop that calls it */
  bool is_inner; /* of the call `within`, or (NULL) of the kernel */
  Inline *within;
  bool returns_early, has_single_return;
  const Expr *body_of; /* it is the body of a loop over an iterator: this call of the iterator */
  bool is_statement;   /* the call is a statement, not part of an expression */
  bool has_nonlocal_return;  /* a return in a function that it calls ends it, too */
  int depth, mark;           /* lower: the IR's loops around its statements; the first it owns */
  int label;                 /* emit_lua: it is a block that ends with this label; 0: a function */
  const Source *call_source; /* what `call` is in; NULL: that of `outer` */
  /* not expanded: it calls itself, and its calls are Invocations. No `outer`, no arguments */
  bool is_called;
  bool is_static; /* neither expanded nor called: rg.static interprets it */
  int ordinal;    /* its place in Sema.functions */
  int32_t line;   /* of the kernel's source: where it is, or is first called */
  const Recursive *recursive;
  RandomUse random;  /* it, or a callee, draws; it continues the stream of its caller */
  bool has_messages; /* it, or a callee, has messages that show the iteration */
  /* the number of iteration indices that each call passes; 0 if they differ; -1: no call known */
  int axis_count;
};

/* A function that was found to call itself. */
struct Recursive {
  const AstFunction *function;
  int number;
  const Expr *call; /* the call that closes the cycle, in this source: */
  const Source *source;
  const char *cycle; /* "'f' calls itself (line 3)" */
};

/* A call of a function that calls itself; other results are read through their locals. */
struct Invocation {
  Inline *of;
  Exprs arguments;
  Locals results;
  Inline *caller;    /* the calling function if that is recursive, too; otherwise NULL */
  RandomUse *random; /* of the loop or function that calls it */
  int axis_count;    /* of the iteration that calls it */
};

/* One arm of `c and a or d and b or e`; the last has no condition. */
typedef struct Choice {
  Expr *condition, *value;
} Choice;
typedef VEC(Choice) Choices;

#endif
