/* emit.h - shared by the files of emit_lua. It reports no errors, since its input has passed every
 * check. */
#ifndef RG_EMIT_LUA_EMIT_H
#define RG_EMIT_LUA_EMIT_H

#include "emit_lua/emit_lua.h"
#include "typed/typed.h"

typedef struct Emit {
  Scratch *scratch;
  Sema *s;
  StrBuf out;
  int line;                  /* the user's line `out` has reached */
  const char **names;        /* by local id: the name of a visible local in the chunk */
  VEC(const char *) visible; /* names of the enclosing blocks, innermost last */
  int loop;                  /* number of the enclosing loop: its label is _rg_next<loop> */
  int loop_count;
  const Stmt *parallel;             /* the enclosing parallel loop; NULL: host region */
  Stmt *repeat;                     /* the enclosing loop, if it is a `repeat` */
  int outer;                        /* number of the loop around that one */
  bool needs_leave_label;           /* a `break` of an inner loop leaves the enclosing loop, too */
  bool outer_needs_leave_label;     /* the same for `outer` */
  Inline *frame;                    /* the enclosing function; NULL: the kernel */
  const Inline *recursive_function; /* the enclosing recursive function; NULL: none */
  int depth;                        /* number of nested functions here */
  VEC(int) checked_reductions;      /* messages of the reductions that the loop's end checks */
  StrBuf helpers;                   /* functions that are printed before the kernel */
  int helper_count;
  int label_count; /* of calls that are blocks */
} Emit;

/* emit_lua.c */
void emit_types(Emit *e); /* the first line of a text: types of its arguments and results */
void emit_end(Emit *e);

/* emit_stmt.c */
void emit_block(Emit *e, Block *block);                /* its names go out of scope at its end */
void emit_line(Emit *e, Pos pos);                      /* advances to the user's line */
void emit_initial(Emit *e, Local *local, Expr *value); /* the initial value of a new local */
const char *emit_declare(Emit *e, Local *local);       /* visible from here */

/* emit_assign.c */
void emit_update(Emit *e, Pos pos, const Update *update);
void emit_assign(Emit *e, Stmt *stmt);
void emit_compound(Emit *e, Stmt *stmt);

/* emit_loop.c: `do BODY end ::label::` and the loops around */
void emit_while(Emit *e, Stmt *stmt);
void emit_repeat(Emit *e, Stmt *stmt);
void emit_numeric_for(Emit *e, Stmt *stmt);
void emit_for_in(Emit *e, Stmt *stmt);
void emit_continue(Emit *e);
void emit_break(Emit *e, const Stmt *stmt);

/* emit_expr.c */
Type emit_type(Emit *e, const Expr *expr); /* of one number of what emit_expr emits */
Shape emit_shape(Emit *e, const Expr *expr);
void emit_expr(Emit *e, Expr *expr);
void emit_refuse(Emit *e, const Expr *expr); /* kernel.not_yet */
/* The expression, converted to the type; one number is repeated to the vector of `shape`. */
void emit_converted(Emit *e, Expr *expr, Type type);
void emit_broadcast(Emit *e, Expr *expr, Type type, Shape shape);
/* "_rg.add_i32(", of vectors "_rg.each(_rg.add_i32, " */
void emit_operation(Emit *e, Shape shape, const char *name, Type type);
/* "_rg.to_u8_f32(", or "(" */
void emit_conversion(Emit *e, Shape shape, Type from, Type to);
/* The same; checked where compiled kernels check the operation at `pos`, too. */
void emit_operation_at(Emit *e, Pos pos, Shape shape, const char *name, Type type);
void emit_conversion_at(Emit *e, Pos pos, Shape shape, Type from, Type to);
void emit_integer(Emit *e, Type type, int64_t value);
void emit_float(Emit *e, Type type, double value);
void emit_zero(Emit *e, Type base, Shape shape); /* base: type_base of the value */

/* emit_access.c: elements and their indices */
void emit_element(Emit *e, Expr *expr);
void emit_indices(Emit *e, Expr *expr, int max_count); /* ", i, j" */
void emit_element_indices(Emit *e, Expr *root);        /* of an element, checked */
/* and those after them */
void emit_call_indices(Emit *e, Expr *object, const Exprs *list, int count, int max_count);
/* Its number among the launch's values: captures, then parameters. */
int emit_value_number(const Emit *e, SemaArg source);
void emit_launch_field(Emit *e, SemaArg source);                     /* "_rg_f[3]" */
void emit_field_call(Emit *e, SemaArg source, const char *function); /* "_rg_f[3].get(_rg_f[3]" */

/* emit_check.c */
/* "_rg.add_i32", or its checked version */
void emit_function_name(Emit *e, Pos pos, const char *name, Type type);
/* ", _rg.inside(..", to be followed by ", i, j)"; false: emits nothing, as it is not checked */
bool emit_index_check(Emit *e, Pos pos, const Entity *element);
/* "_rg.inside_part(.., ", to be followed by an index and ")" */
bool emit_part_index_check(Emit *e, const Expr *part);
/* Of a reduction: "_rg.add_i32", or a version that also computes the exact sum. */
void emit_reducer(Emit *e, Pos pos, const Local *local, const char *name, Type type);
void emit_reduction_checks(Emit *e);                               /* "; .." after the loop */
void emit_mark_assigned(Emit *e, const Local *local, bool is_set); /* "; .." */
bool emit_checked_local(Emit *e, const Expr *use); /* "_rg.assigned(.., ", the local and ")" */

/* emit_vector.c */
void emit_launch_arg(Emit *e, const Expr *expr); /* launch arguments */
void emit_part(Emit *e, Expr *part);             /* `v.zx` `m[r]`: its value */
void emit_selection(Emit *e, Expr *part);        /* which numbers of the whole: {3, 1} */
void emit_construction(Emit *e, Expr *call);
void emit_algebra(Emit *e, Expr *call, const Builtin *builtin);
void emit_product(Emit *e, Expr *expr); /* with a matrix */
bool emit_is_product(Emit *e, const Expr *expr);

/* emit_array.c: counted arrays */
void emit_array_call(Emit *e, Expr *call, const Builtin *builtin);
void emit_item(Emit *e, Expr *expr);
void emit_item_array(Emit *e, Expr *root);   /* the array of the item */
void emit_item_indices(Emit *e, Expr *root); /* ", i, j" */

/* emit_list.c */
void emit_list_call(Emit *e, Expr *call, const MethodCall *m); /* append, pop, length */
/* the head of `for k, v in x:items(i)` */
void emit_items(Emit *e, const LoopHead *head, const Stmt *stmt);
Type emit_item_type(Emit *e, const LoopHead *head, int variable);

/* emit_random.c: a draw; and the preparation before the host region, a loop, an iteration's body */
void emit_random(Emit *e, Expr *call);
void emit_random_host(Emit *e);
void emit_random_resume(Emit *e, const Inline *in); /* the state passed to a function that draws */
void emit_random_loop(Emit *e, const LoopHead *head);
void emit_random_iteration(Emit *e, const Stmt *stmt);

/* emit_message.c: print, assert, error */
void emit_quoted(Emit *e, Str text); /* a string literal on one line, whatever the text contains */
void emit_message(Emit *e, Expr *call);
void emit_iteration(Emit *e); /* {i, j}: the iteration */
/* A piece of a message; text NULL: the string of a launch. */
void emit_message_text(Emit *e, const char *format, const Str *text, SemaArg string);

/* emit_function.c: a user function, as a Lua function called at once; a `return` in it */
void emit_function_call(Emit *e, Expr *call, Inline *in);
/* recursive functions, before the kernel's statements; a call of one */
void emit_functions(Emit *e);
void emit_invocation(Emit *e, Expr *expr, Invocation *call);
void emit_block_call(Emit *e, Inline *in); /* as a statement, which inner ones may leave */
void emit_function_return(Emit *e, Stmt *stmt);

/* emit_call.c */
void emit_call(Emit *e, Expr *call);
void emit_method(Emit *e, Expr *call);
void emit_quotient(Emit *e, Expr *quotient, Type type); /* "a, b": the divided integers */

#define emit_text(e, text) strbuf_text(&(e)->out, (text))
#define emit_format(e, ...) strbuf_format(&(e)->out, __VA_ARGS__)

#endif
