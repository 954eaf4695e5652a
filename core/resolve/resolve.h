/* resolve.h - determines what each name, index and call denotes. This room reports every error that
 * does not depend on types: names, constructs, counts of indices and arguments, loops and exits,
 * reductions. It expands user functions, static loops and lists in tables, so later stages see only
 * plain statements. */
#ifndef RG_RESOLVE_RESOLVE_H
#define RG_RESOLVE_RESOLVE_H

#include "resolve/paths.h"
#include "typed/typed.h"

/* A value known at compile time. WIDE: an integer of 64 bits; OTHER: a field, a table, a function
 * .. */
typedef enum StaticKind {
  STATIC_NIL,
  STATIC_BOOL,
  STATIC_NUMBER,
  STATIC_WIDE,
  STATIC_VECTOR,
  STATIC_OTHER
} StaticKind;
typedef struct Static {
  StaticKind kind;
  double number;
  uint64_t bits; /* WIDE */
  bool is_unsigned;
  const SemaPart *parts; /* VECTOR: its numbers, of which these are selected: */
  Parts chosen;
  Shape shape;
  Type type;        /* of each */
  const char *text; /* OTHER: of a string; otherwise NULL */
} Static;

/* An item of a table: a table, a value, or (OTHER) something else, which the entity describes. */
typedef struct ListItem {
  const List *list;
  Static value;
  Entity entity;
} ListItem;
struct List {
  int count;
  ListItem *items; /* from 1 on */
};
/* The entities of arguments. */
typedef VEC(Entity) Entities;
/* The bodies of an `if`, while resolving it. */
typedef VEC(const AstBlock *) Arms;

void resolve_kernel(Sema *s);

/* -- what the files of this room share --------------------------------------------------------- */

/* The serial loops around a statement, innermost first, up to the parallel loop or the kernel. */
typedef struct SerialLoop SerialLoop;
struct SerialLoop {
  Stmt *stmt;
  SerialLoop *outer;
};

typedef struct Resolve {
  Sema *s;
  Scratch *scratch;
  const SemaInput *input;
  Map names;            /* AstLocal -> Local, of the kernel's own text */
  Map path_number;      /* name -> number + 1; parameter paths under "=name" */
  Map wanted;           /* paths the host must supply */
  Map library;          /* name -> Ast: functions of the library, parsed */
  int *path_launch_arg; /* by path: number + 1 of its LaunchArg */
  int expr_count;       /* created so far */
  int loop;             /* number of the enclosing parallel loop; 0: host region */
  int loop_count;
  RandomUse *random; /* of the enclosing parallel loop, or of the kernel */
  SerialLoop *serial_loops;
  bool breaks_parallel;     /* the innermost loop is parallel */
  int break_levels;         /* loops that a break leaves besides the innermost */
  bool in_unrolled;         /* the innermost loop is an iteration of an unrolled loop */
  bool in_iterator_body;    /* the innermost loop runs over an iterator */
  const Expr *statement;    /* the call that is the current statement; NULL: another one */
  const Stmt *first_return; /* of the kernel */
  Inline *called;           /* the function being resolved, if it calls itself */
  int axis_count;           /* of the enclosing parallel loop; 0: host region */
  VEC(Invocation *) invocations;
  bool makes_pick;  /* the next call is of a generated selection: record_pick.c */
  int static_steps; /* taken by functions that the current rg.static interprets */
} Resolve;

/* new_node.c: makes nodes of the typed tree from those of the Ast. Names are resolved in the frame,
 * or in the kernel. */
Expr *build_expr(Resolve *r, const AstExpr *ast); /* all of it, not yet resolved */
/* the same for a generated Ast node, which the result refers to */
Expr *build_generated(Resolve *r, const AstExpr *ast);
/* a node that is not from the source, at the position of `at` */
Expr *build_node(Resolve *r, AstExprKind kind, AstOp op, const Expr *at);
Expr *build_read(Resolve *r, Local *local, const Expr *at); /* reads it; at: for its position */
/* with new locals; without its bodies or the condition of a `repeat` */
Stmt *build_stmt(Resolve *r, const AstStmt *ast);
/* a new local, to which the name refers from here on */
Local *build_local(Resolve *r, const AstLocal *ast);
Local *build_hidden(Resolve *r, Str name, Pos pos); /* a local without a name in the source */
/* the local to which the name refers here; NULL: none yet, or a helper */
Local *build_find(Resolve *r, const AstLocal *ast);
bool build_is_around(Resolve *r, const AstLocal *ast); /* declared outside the inner function? */
/* the same, but out of reach because the function is recursive? */
bool build_is_lost(Resolve *r, const AstLocal *ast);
/* makes the name refer to this local from here on */
void build_name(Resolve *r, const AstLocal *ast, Local *local);

/* expr.c */
Entity resolve_expr(Resolve *r, Expr *e);    /* and stores it */
bool resolve_value(Resolve *r, Expr *e);     /* a number or bool */
bool resolve_is_value(Resolve *r, Expr *e);  /* the same after resolve_expr */
bool resolve_scalar(Resolve *r, Expr *e);    /* one number or bool */
bool resolve_condition(Resolve *r, Expr *e); /* one bool, as far as shapes can tell */
/* resolve_scalar after resolve_expr: resolving twice at each level would take exponential time */
bool resolve_check_scalar(Resolve *r, Expr *e);
/* `{i, j}` counts two, as does an ivec2 */
bool resolve_indices(Resolve *r, Exprs *list, int *count);
Type resolve_type(Resolve *r, const AstExpr *annotation, Shape *shape);
/* name.c */
const char *resolve_nearest(Resolve *r, Str name); /* a hint "did you mean 'x'?", or NULL */
Entity resolve_capture(Resolve *r, Expr *e);
Entity resolve_member(Resolve *r, Expr *e, Entity object, Str name); /* object.name */
void resolve_parameter(Resolve *r, int number);
bool resolve_is_nil(Resolve *r, Expr *e); /* is it a declared name without a value? */
Entity resolve_path_value(Resolve *r, Expr *e, int number);
/* "':peer' takes 1 argument ..": call.c. */
Entity resolve_fail_argument_count(Resolve *r, Expr *e, const char *name, int least, int most);
/* call.c */
Entity resolve_call(Resolve *r, Expr *e);
Entity resolve_method(Resolve *r, Expr *e);
Entity resolve_type_call(Resolve *r, Expr *e, Str name); /* `vec(5, f64)`: a TYPE */
Entity resolve_fail_count(Resolve *r, Expr *e, const Builtin *builtin);
Entity resolve_fail_indices(Resolve *r, Expr *e, const MethodCall *m, int needed, int given);
/* e, a call of a type, has the result type `type`, a type_base */
Entity resolve_converted(Expr *e, Type type, Shape shape);
/* The arguments of a vector or matrix, `name` in messages. */
bool resolve_construction(Resolve *r, Expr *e, const char *name, Shape shape);
/* loop.c */
void resolve_head(Resolve *r, Stmt *stmt);
/* a loop that names fewer axes than e has */
bool resolve_fail_axes(Resolve *r, const Locals *locals, Expr *e, int axis_count);
/* stmt.c */
/* may the element, or the object that contains it, be written? A wrapped string may not */
bool resolve_check_writable(Resolve *r, Expr *e, const Entity *object);
/* In an expanded function, statements after a return that rg.static has chosen do not exist; that
 * is how a function that calls itself ends. False: there was such a return. */
bool resolve_block(Resolve *r, const AstBlock *from, Block *to);
void resolve_declaration(Resolve *r, Stmt *stmt);
void resolve_assignment(Resolve *r, Stmt *stmt);
void resolve_declare(Resolve *r, Local *local);
/* the first value determines the shape; others must match */
bool resolve_assign_shape(Resolve *r, Local *local, Expr *value);
/* Adds what a declared local with a value becomes to both lists, and returns true; or returns
 * false: both stay, or r->s->failed. */
typedef bool ExpandLocal(Resolve *r, Local *local, Expr *value, Locals *locals, Exprs *values);
/* Replaces declared locals and their values, which may be fewer or more, by what they become. */
void resolve_expand_locals(Resolve *r, Locals *locals, Exprs *values, ExpandLocal *expand);

/* paths.c */
/* parameter -1: a captured path. ast NULL: no parameters */
bool path_of(const Ast *ast, const AstExpr *e, StrBuf *name, int *parameter);
int path_parameter(const Ast *ast, const AstLocal *local); /* its number, or -1 */
void path_number_all(Resolve *r);
int path_find(Resolve *r, const SemaPath *path); /* its number, or -1 */
void path_request(Resolve *r, SemaPath path);    /* the host must supply it as well */

/* suggest.c: a hint for an unknown name, or NULL */
const char *suggest_type(Resolve *r, const char *name);
const char *suggest_name(Resolve *r, Str name);
const char *suggest_builtin(Resolve *r, Str path); /* "rg.lenght" */
const char *suggest_vector_member(Resolve *r, Str name, bool is_call);
const char *suggest_field_member(Resolve *r, Str name, const char *object);
const char *suggest_method(Resolve *r, Str name);
const char *suggest_modifier(Resolve *r, Str name); /* of a loop's head */

/* shape.c */
/* Elementwise operators and functions: a scalar applies to every number. False if the shapes
 * differ. */
bool shape_join(Resolve *r, const Expr *at, Shape a, Shape b, const char *who, Shape *joined);
bool shape_binary(Resolve *r, const Expr *e, Shape *shape);
/* Checks the assignment of `value` to something of shape `to`. */
bool shape_check_value(Resolve *r, const Expr *value, Shape to, const char *what);
/* The parts of `v.xy`: how many, 0 if the name is not one. */
int shape_swizzle(Str name, Shape of, uint8_t parts[4]);
bool shape_is_swizzle(Str name);
Entity shape_named_part(Resolve *r, Expr *e, const Entity *object, Str name);
Entity shape_slice(Resolve *r, Expr *e, const Entity *object); /* v:slice(first, count) */
Entity shape_indexed_part(Resolve *r, Expr *e, const Entity *object);
bool resolve_algebra(Resolve *r, Expr *e, const Builtin *builtin, Shape *shape); /* algebra.c */

/* structs.c */
Entity struct_member(Resolve *r, Expr *e, const Entity *object, Str name);
/* `bodies.vel`, `v.x`: one member, or component, of all elements of a field in a tree, as a field;
 * ENTITY_NONE: it has none of that name. */
Entity struct_member_field(Resolve *r, const Entity *object, Str name);
Expr *struct_part(Resolve *r, Expr *e, Str name);                /* e.name */
Entity struct_construct(Resolve *r, Expr *e, Type type);         /* e is a call of the type */
Entity struct_method(Resolve *r, Expr *e, const Entity *object); /* a call of one */
Entity struct_callee(Resolve *r, Expr *e, const Entity *object); /* its FUNCTION, or a failure */
/* The value for something of this type, where a table constructor is read as a construction of the
 * type; `what` is for messages. NULL on error. */
Expr *struct_coerce(Resolve *r, Expr *given, Type type, const char *what);
/* initialises `local` from the values in a table of the host; NULL on error, or if they are not
 * known yet */
Stmt *struct_from_table(Resolve *r, Local *local, const Entity *table, Type type);

/* arrays.c: counted arrays */
/* Is it an array of the launch (rg.array), used without an index? */
bool array_is_whole(const Entity *entity);
/* Does it match the declaration array(T)? */
bool array_is_declared(Resolve *r, const Expr *at, const Entity *entity, Shape declared);
/* Turns `e`, such an array, into a value like that of rg.zeros; false if it cannot be one. */
bool array_to_value(Resolve *r, Expr *e);
Entity array_new(Resolve *r, Expr *e, const Builtin *builtin);
Entity array_type_call(Resolve *r, Expr *e);                     /* a TYPE */
Entity array_indexed(Resolve *r, Expr *e, const Entity *object); /* e is object[..] */
bool array_fail_row(Resolve *r, Expr *e);                        /* indices are missing */
Entity array_length(Resolve *r, Expr *e);                        /* `#a` */
Entity array_method(Resolve *r, Expr *e, const Entity *object);

/* extent.c: x.shape and x.offset */
Entity extent_constant(int64_t value);
Entity extent_of_array(const ArrayUse *array, int axis); /* a number that each launch passes */
int extent_count(const Entity *shape);
/* e becomes the vector, of one axis the number */
Expr *extent_expr(Resolve *r, const Expr *at, const Entity *shape, int k); /* its number k */
Entity extent_vector(Resolve *r, Expr *e, const Entity *shape);
Entity extent_member(Resolve *r, Expr *e, const Entity *shape, Str name);
Entity extent_indexed(Resolve *r, Expr *e, const Entity *shape);

/* lists.c: the lists of dynamic SNodes */
/* append, length, pop and their results */
bool resolve_list(Resolve *r, Expr *e, MethodCall *m, Type *type, Shape *shape);
bool resolve_items(Resolve *r, Expr *e, LoopHead *head);
/* the shapes of its variables */
void resolve_item_variables(Resolve *r, const LoopHead *head, const Stmt *stmt);

/* same_place.c: do both have the same value, wherever in the statement they are computed? */
bool place_is_same(Resolve *r, const Expr *a, const Expr *b);
/* update.c */
Update *update_match(Resolve *r, Stmt *stmt); /* NULL: a plain assignment */

/* defaults.c */
/* Declares a parameter of a function with this body; `x = x or 3` does not count as assignment. */
Local *default_parameter(Resolve *r, const AstLocal *ast, const AstBlock *body);
void resolve_function_body(Resolve *r, const AstFunction *function, const AstBlock *body,
                           Block *to);
bool nil_is(const Entity *entity);
/* fails: a missing parameter without a default is assigned; by: "call", "launch" */
void nil_fail_assigned(Resolve *r, const Local *parameter, const char *by);
Entity nil_missing(const char *name);  /* a parameter without an argument */
bool nil_is_expr(Resolve *r, Expr *e); /* is e nil, by a name or literally? */
/* The result, 0 or 1, of a condition that only tests whether things are nil; a field or a table
 * counts as true. -1 if it is another condition. */
int nil_test(Resolve *r, Expr *e);
/* Replaces e by the chosen operand in `x or 3`, `x == nil and 3 or x` if it is known whether x is
 * nil. */
bool nil_choose(Resolve *r, Expr *e, Entity *entity);

/* inline.c: a call of a user function; `self` is the object of a method call, or NULL */
Entity resolve_inline_call(Resolve *r, Expr *e, Entity callee, Expr *self);
/* Requests its source from the host; always false, with an error. */
bool resolve_request_function(Resolve *r, Expr *e, const Entity *callee);
/* The entity of a function that has the kernel's captures, or none. */
Entity resolve_function(const char *name, const AstFunction *text, const Source *source);
/* the entity of a function that is defined here */
Entity resolve_inner_function(Resolve *r, const char *name, const AstFunction *text);
void resolve_inline_return(Resolve *r, Stmt *stmt, Inline *in); /* which it ends */
/* expands a call that ends the list to its further results */
void resolve_spread(Resolve *r, Exprs *list, int wanted);
bool resolve_refuse_multiple(Resolve *r,
                             const Exprs *list); /* fails if a call has several results */
bool resolve_fail_size(Resolve *r, Pos pos, int width);
bool resolve_has_room(const Resolve *r);                         /* for more copies */
void resolve_take_literal(const Expr *argument, Entity *entity); /* 3 is a CONSTANT */
Local *resolve_result(Resolve *r, const Inline *in, const AstExpr *annotation); /* a new local */

bool resolve_is_same(const Entity *a, const Entity *b); /* recursion.c: aliases of one object? */
/* recursion.c: true if the call is one of a recursive function; e then has an Invocation, or has
 * failed */
bool recursion_call(Resolve *r, Expr *e, const Entity *callee, const Exprs *arguments,
                    const Entities *entities, Entity *result);
void recursion_resolve_bodies(Resolve *r); /* after the kernel's */

/* returns.c */
bool returns_early(const AstBlock *body);
/* does the body of a loop contain this exit (BREAK, CONTINUE), outside loops of its own? */
bool returns_by(const AstBlock *body, AstStmtKind exit);
/* does the body have a single return, as its last statement? Its values are then the call's */
bool has_single_return(const AstBlock *body);

/* static.c */
Entity static_call(Resolve *r, Expr *e); /* rg.static(..) becomes a literal */
/* drops the arms that are known not to be taken */
void static_arms(Resolve *r, Stmt *stmt, Arms *arms);
/* is it known from the source and the layouts alone? */
bool static_is_known(Resolve *r, Expr *e);
bool static_value(Resolve *r, Expr *e, Static *out);     /* false with an error */
bool static_fail(Resolve *r, Expr *e, const char *hint); /* reports: not known at compile time */
Static static_number_in(const Static *vector, int k);
/* static_function.c: is it a function of math or bit, or a type? Evaluates a call of one */
bool static_is_function(const Entity *callee);
bool static_function(Resolve *r, Expr *e, const Entity *callee, Static *out);
/* false if the operator does not apply to vectors */
bool static_combine_vectors(Resolve *r, AstOp op, const Static *a, const Static *b, Static *out);
Entity static_write_vector(Resolve *r, Expr *e, const Static *value); /* e becomes it */
bool static_integer(Resolve *r, Expr *e, int64_t *out);
bool static_is_true(const Static *value);
/* static_run.c: evaluates e, a call of a user's function with known values */
bool static_run(Resolve *r, Expr *e, const Entity *callee, Static *out);
bool static_of_value(Resolve *r, Expr *e, SemaArg source, Static *out);
/* `v`, `v.y`, `v.yx`: the numbers that an ARGUMENT refers to */
bool static_of_launch_arg(Resolve *r, Expr *e, const Entity *entity, Static *out);
Expr *static_argument(Resolve *r, Expr *e); /* of rg.static(..), else NULL */
/* new_literal.c: numbers that are not in the source */
Expr *literal_integer(Resolve *r, const AstExpr *ast, int64_t value);
Expr *literal_static(Resolve *r, const AstExpr *ast, const Static *value);
/* at a position without source */
Expr *literal_at(Resolve *r, Pos pos, int32_t width, const Static *value);

/* iterator.c */
/* `for j in near:of(i) do`: makes the loop a call of the iterator; false: not such a loop */
bool iterator_loop(Resolve *r, const AstStmt *ast, Stmt *stmt);
/* may e call it? Only as a loop, or as a statement that passes a function */
bool iterator_check(Resolve *r, Expr *e, const Entity *callee);
/* The body's variables are as many as it is given values; fails if there are more. */
bool iterator_take(Resolve *r, Expr *e, const Entity *body);
/* Turns an exit of the body (BREAK, CONTINUE) into a return from an expanded call. */
void iterator_exit(Resolve *r, Stmt *stmt);
/* Notes that the statement ends the call `to`; NULL: the kernel. */
bool iterator_leave(Resolve *r, Stmt *stmt, Inline *to);

/* static_loop.c */
/* unrolls the loop; false: not a loop to unroll */
bool unroll_loop(Resolve *r, const AstStmt *ast, Stmt *stmt);
/* captured_list.c: captured tables that are lists */
Entity table_member(Resolve *r, Expr *e, const Entity *table, Str name); /* `table.name` */
bool table_length(Resolve *r, Expr *e, const Entity *table, int64_t *length);
Entity table_item(Resolve *r, Expr *e, const Entity *table);
int table_find(Resolve *r, Expr *e, const Entity *table, const char *key, bool is_static);
int *table_find_all(Resolve *r, Expr *e, const Entity *table, int64_t length);

/* peers.c: win:peer(r). */
Entity resolve_peer(Resolve *r, Expr *e, const Entity *window);
bool peer_is(const Expr *e); /* is e an INDEX that was made, resolved, from such a call? */
/* Fails if the object belongs to another rank, which may only be read. */
bool resolve_check_own(Resolve *r, Expr *e, const Entity *object);
/* Requests the contents of all tables among the items, at any depth and at once, since each request
 * costs another attempt to compile the kernel. Skips tables of more than `most` items. */
void table_request_rows(Resolve *r, Expr *e, const int *numbers, int64_t length, int64_t most);
bool table_fail(Resolve *r, Expr *e);

/* bitcast.c */
Entity bitcast_call(Resolve *r, Expr *e, const Builtin *builtin);
/* random.c */
Entity random_call(Resolve *r, Expr *e, const Builtin *builtin);
/* message.c: print, assert, error */
Entity message_call(Resolve *r, Expr *e, const Builtin *builtin);
/* rescale.c: a function generated as source for its call */
Entity rescale_call(Resolve *r, Expr *e);
/* bulk.c: fill, copy_from */
Entity bulk_call(Resolve *r, Expr *e, const MethodCall *m);
/* unpack.c */
Entity unpack_call(Resolve *r, Expr *e);
/* Turns `e`, whose list has the arguments, into a call of the function in `text`; `self` is the
 * object of a method call, or NULL. */
Entity resolve_call_of_text(Resolve *r, Expr *e, Expr *self, const char *name, const char *text);
/* sample.c: sample, sample_gradient */
Entity sample_call(Resolve *r, Expr *e, const MethodCall *m);
/* library_call.c */
/* A local function of the library, or one of a row of builtin.def; ENTITY_NONE if there is none. */
Entity library_function(Resolve *r, Str name);
Entity library_call(Resolve *r, Expr *e, const Builtin *builtin);
/* is the matrix so large that a function of algebra calls the library instead of being expanded? */
bool library_is_large(Resolve *r, const Expr *e, const Builtin *builtin);
bool library_is_inside(const Resolve *r); /* is text of the library being resolved? */
Entity library_name(Resolve *r, Expr *e); /* resolves a free name of that text */

/* record.c: tables of values */
bool record_is(const Entity *entity);
bool record_is_runtime(Resolve *r, Expr *table); /* is it not a constant table? */
/* the RECORD of a table constructor */
Entity record_literal(Resolve *r, Expr *table);
Entity record_value(Resolve *r, Expr *e);        /* the same, or resolve_expr of anything else */
void record_resolve_member(Resolve *r, Expr *e); /* `p.pos` becomes a local */
Entity record_member(Resolve *r, Expr *e, const Entity *object, Str name);
Entity record_indexed(Resolve *r, Expr *e, const Entity *object);
int record_length(const Record *record);              /* the number of items without names */
Local *record_at(const Record *record, int position); /* from 1; NULL: none */
Local *record_find(const Record *record, Str name);
int record_find_member(const Record *record, Str name); /* its number, or -1 */
void record_leaves(Resolve *r, const Record *record, Locals *leaves);
const char *record_text(Resolve *r, const Record *record); /* "a table {pos, r}" */
/* A copy with new locals; `like`: the local of the table, whose facts they take over. */
const Record *record_copy(Resolve *r, const Record *from, const char *name, const Local *like);
void record_name(Resolve *r, Local *local, const Record *from); /* local is a copy */
/* The values of e, a RECORD, one for each leaf of `to`; `what` in messages. */
bool record_flatten(Resolve *r, Expr *e, const Record *to, const char *what, Exprs *out);
/* Item k of e. If e is a call, the first item taken makes the call, and later ones read results. */
Expr *record_take(Resolve *r, Expr *e, int k, const Inline **called);
/* Replaces locals that are records, and the values for them, by their leaves. */
void record_spread(Resolve *r, Locals *locals, Exprs *values);

/* maybe.c: values that may be nil; NULL: e always has one */
Local *maybe_of(Expr *e);
Expr *maybe_read(Resolve *r, Expr *e);  /* a boolean; if e is a call, this makes the call */
Expr *maybe_after(Resolve *r, Expr *e); /* the same after e was computed */
Local *maybe_new(Resolve *r, const Local *of);
bool maybe_is_nilable(Resolve *r, Expr *e); /* may it be nil? */
void maybe_declare(Resolve *r, Locals *locals, Exprs *values);
void maybe_begin(Resolve *r, Stmt *stmt);
bool maybe_assign(Resolve *r, Stmt *stmt);
void maybe_condition(Resolve *r, Expr *e); /* makes operands that may be nil tests for a value */
bool maybe_operator(Resolve *r, Expr *e, Entity *entity); /* true: e tests for nil */
bool returns_always(const AstBlock *block);               /* returns.c: no path falls off its end */

/* record_assign.c */
/* Turns an assignment to records, or into one, into one to locals; false: it is done, or failed. */
bool record_assign(Resolve *r, Stmt *stmt);
/* Gives a local without a value the form of the record that is assigned to it further down. */
void record_find_form(Resolve *r, Local *local, const AstLocal *name);
Local *record_reduced(Resolve *r, const AstExpr *target); /* its local, also in a record; or NULL */

/* record_pick.c */
Entity record_pick(Resolve *r, Expr *e, const Entity *object);     /* e is object[k], at run time */
bool record_check_list(Resolve *r, Expr *e, const Entity *object); /* can it be indexed so? */
/* `c and {..} or {..}`, where `arm` is a table */
Entity record_choice(Resolve *r, Expr *e, const Entity *arm);

/* A run-time index of a row; once the row has a name, the local that holds it. */
struct ListIndex {
  ListIndex *before; /* of the tables around */
  Expr *index;
  Local *local;
};
/* table_row.c: rows of constant tables that are picked at run time */
bool row_is(const Entity *entity);
/* If a local is an alias of a row, declares locals for the row's indices instead. */
void row_declare_indices(Resolve *r, Locals *locals, Exprs *values);
Exprs row_indices(Resolve *r, const Expr *at, const ListIndex *index);
int row_length(const Entity *row); /* the common length of all rows; -1 if they differ */

/* constant_table.c: tables known when the kernel is compiled */
Entity list_entity(const List *list, const char *name);
Entity list_literal(Resolve *r, Expr *e);                       /* `{{1, 2}, {3, 4}}` */
Entity list_of_table(Resolve *r, Expr *e, const Entity *table); /* captured */
Entity list_indexed(Resolve *r, Expr *e, const Entity *object);
Entity list_length(Resolve *r, Expr *e, const Entity *object);                 /* e is `#object` */
Entity list_take(Resolve *r, Expr *e, const ListItem *item, const char *name); /* e becomes it */

#endif
