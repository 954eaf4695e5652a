/* lower.h - lowers the typed tree to IR: arguments, variables, blocks. The only error left is
 * nesting. */
#ifndef RG_LOWER_LOWER_H
#define RG_LOWER_LOWER_H

#include "typed/typed.h"

void lower_kernel(Sema *s);

/* -- what the files of this room share --------------------------------------------------------- */

/* The IR values of a local. */
typedef struct LoweredLocal {
  IrInst **values;              /* its numbers, or their VARs; NULL: they are in */
  IrInst *array;                /* a LOCAL_ARRAY; NULL: it has none */
  IrInst **indices;             /* of a view: those it was declared with */
  IrInst **is_set;              /* VARs: have its numbers a value yet? NULL: all have */
  IrInst **dividend, **divisor; /* the integers whose quotient it is; or NULL */
  IrInst **guards;              /* of its numbers that are arrays; NULL: none are */
} LoweredLocal;

/* A reference that the function owns: see counted.c. */
typedef struct Owned {
  IrInst *guard, *array;
  bool is_local; /* a variable's; otherwise a temporary, which ends with the statement */
} Owned;

/* The current source of random numbers: see random.c. */
typedef struct Random {
  IrInst *key, *index;
  IrInst *trip;  /* a VAR; NULL: no serial loop draws */
  int64_t words; /* used so far */
} Random;

/* A reduction that is checked for overflow: its VARs, and the position of its first update. */
typedef struct Exact {
  const Local *local;
  IrInst *var, *exact;
  Pos at;
} Exact;

typedef struct Lower {
  Sema *s;
  Scratch *scratch;
  SemaOutput *output;
  IrBuilder b;
  LoweredLocal *locals; /* by local id */
  int nesting;
  Pos stmt_pos;     /* of the current statement */
  Pos expr_pos;     /* of the current expression, in its own source */
  bool may_wrap;    /* see lower_enter_wrap */
  int loop;         /* number of the enclosing parallel loop; 0: host region */
  IrInst *parallel; /* that loop; */
  VEC(Exact) exact; /* what it updates */
  IrInst **indices; /* of its iteration */
  int index_count;
  IrInst *iteration; /* the same packed in one number, if races are detected */
  bool is_independent;
  Random random;      /* of the iteration, or of the host region */
  const Stmt *repeat; /* the innermost loop, if it is a `repeat` */
  int loops;          /* around the current statement; early returns of functions make some, too */
  IrRegion *top;      /* of the host region, the parallel loop's body, or the function */
  VEC(Owned) owned;
  int statement;  /* the first of `owned` that belongs to the current statement */
  VEC(int) marks; /* by loop around the current statement: the first inside that loop */
} Lower;

static inline IrInst **lower_array(Lower *l, int count) {
  return scratch_array(l->scratch, IrInst *, count);
}
static inline LoweredLocal *lowered_of(Lower *l, const Local *local) {
  return &l->locals[local->id];
}
void lower_block(Lower *l, Block *block);
void lower_statements(Lower *l, Block *block);     /* its variables stay alive afterwards */
bool lower_is_closed(const Lower *l);              /* has the region ended with an exit? */
IrRegion *lower_enter(Lower *l, IrRegion *region); /* returns the region to go back to */
void lower_leave(Lower *l, IrRegion *back);
void lower_set_pos(Lower *l, Pos pos);
/* Emits a FAULT, which ends the launch: `sentence`, then the number `value` (an f64), at `at`. */
void lower_fault(Lower *l, const Expr *at, IrInst *value, ErrorCode code, const char *hint,
                 const char *sentence);
/* random.c */
IrInst **lower_random(Lower *l, Expr *e);
/* Emitted before a loop: the key of its stream; NULL if it does not draw. */
IrInst *random_stream(Lower *l, const RandomUse *use, bool is_global);
/* Emitted at the beginning of each of its iterations, and of the host region, without indices. */
void random_begin(Lower *l, const RandomUse *use, IrInst *key, IrInst *const *indices, int count);
void random_trip(Lower *l); /* counts an iteration of a serial loop that draws */
/* random_resume: a recursive function continues with its caller's key, index and trip, counting a
 * trip of its own; NULL if it does not draw. Then, the trip with which its caller continues. */
void random_resume(Lower *l, IrInst *const *given);
IrInst *random_resumed(Lower *l);
/* message.c */
typedef VEC(IrInst *) Operands;
void lower_message(Lower *l, Expr *e);
/* Appends a value of `shape` to a message; then emits its PRINT or FAULT, at `at`. */
void message_add_value(Lower *l, SemaMessage *message, Operands *operands, IrInst **values,
                       Shape shape, const char *format);
/* Only adds the message; returns its number. */
int message_add(Lower *l, SemaMessage *message, Pos pos, int32_t width);
void message_emit(Lower *l, SemaMessage *message, Operands *operands, Pos pos, int32_t width);
void lower_bind_view(Lower *l, Local *local, Expr *value); /* of a local that is an alias */
void lower_bind(Lower *l, Local *local, IrInst **values);  /* VARs if it is assigned again */
/* local.c: locals in arrays */
bool local_has_array(const Lower *l, const Local *local);
void local_bind(Lower *l, const Local *local, IrInst **values);
IrInst *local_get(Lower *l, const Local *local, int part);
/* Does the parameter, which is only read, share the array of the argument? */
bool local_share(Lower *l, const Local *parameter, Expr *argument);
/* The place of a part of a local in its array: number `first` + k, from `index` on. */
typedef struct LocalElement {
  IrInst *array, *index; /* index: NULL: 0 */
  int first;
} LocalElement;
bool local_is_element(const Lower *l, Expr *e);
void local_element(Lower *l, Expr *e, LocalElement *element);
IrInst *local_index(Lower *l, const LocalElement *element, int part);
/* counted.c */
IrInst *counted_guard(Lower *l);              /* makes a guard */
void counted_adopt(Lower *l, IrInst *array);  /* a temporary owns the fresh array */
void counted_retain(Lower *l, IrInst *array); /* a temporary owns one more reference */
IrInst *counted_own(Lower *l, IrInst *array); /* returns an owning guard to the caller */
void counted_track(Lower *l, IrInst *guard, IrInst *array, bool is_local);
void counted_move(Lower *l, IrInst *to, IrInst *from);
void counted_release(Lower *l, IrInst *guard);
void counted_transfer(Lower *l, IrInst *array); /* memory, or the caller, takes a reference */
void counted_release_from(Lower *l, int mark);  /* releases the references from `mark` on */
void counted_end_statement(Lower *l, int mark);
void counted_end_block(Lower *l, int mark);
bool counted_is(const Lower *l, Type base, int part); /* is the number an array? */
/* arrays.c */
typedef struct Item {
  IrInst *array, *index;
  Type element;
} Item;
IrInst **lower_array_call(Lower *l, Expr *e, const Builtin *builtin);
void lower_item(Lower *l, Expr *e, Item *item);
IrInst **lower_item_parts(Lower *l, Expr *e, const int *parts, int count);
/* Enters a region that runs only if the element exists; `place` is its address. */
IrRegion *lower_item_enter(Lower *l, const Expr *at, const Item *item, IrInst **place);
IrInst *lower_item_number(Lower *l, const Item *item, IrInst *place, int part);
void lower_item_store(Lower *l, const Item *item, IrInst *place, int part, IrInst *value);
void lower_item_update(Lower *l, const Item *item, IrInst *place, int part, IrUpdate op,
                       IrInst *value);
/* expr.c */
IrInst *lower_expr(Lower *l, Expr *e); /* one number, of type e->type */
IrInst *lower_as(Lower *l, Expr *e, Type type);
/* vector.c: as many as e has numbers, row-major */
IrInst **lower_values(Lower *l, Expr *e);
/* type: type_base of the value; one number is repeated `count` times */
IrInst **lower_values_as(Lower *l, Expr *e, Type type, int count);
IrInst **lower_zero(Lower *l, Type base, Shape shape);
static inline Type lower_number_type(const Lower *l, Type base, int part) {
  return number_type(l->s, base, part);
}
IrInst **lower_parts(Lower *l, Expr *e, const int *parts, int count); /* some of them */
/* algebra.c */
IrInst **lower_algebra(Lower *l, Expr *e, const Builtin *builtin);
/* with a matrix */
IrInst **lower_product(Lower *l, Shape a_shape, IrInst **a, Shape b_shape, IrInst **b);
IrInst *lower_convert(Lower *l, IrInst *value, Type type); /* constants at once */
/* One number of a launch argument. */
IrInst *lower_argument(Lower *l, const LaunchArg *launch_arg, int part);
IrInst *lower_number(Lower *l, Type type, int64_t value);
IrInst *lower_integer_power(Lower *l, IrInst *value,
                            int exponent); /* of a float; negative: inverse */
IrInst *lower_operator(Lower *l, AstOp op, IrInst *a, IrInst *b); /* arithmetic and bits */
/* access.c */
int lower_indices(Lower *l, Expr *e, IrInst **indices);
int lower_index_list(Lower *l, const Exprs *list, int count, IrInst **indices, int so_far);
/* Indices of a field counted from 0, with its offset subtracted. */
IrInst **lower_subtract_offset(Lower *l, const FieldRef *field, int count, IrInst **indices);
/* of the element's number `part` */
IrInst *lower_place_at(Lower *l, const Entity *element, int part, IrInst **indices);
int lower_level(Lower *l, const SNode *node, const char *name, SemaArg source);
/* peers.c: if the first index is a rank: reads the numbers `parts` of the element e; and queries
 * a cell. */
IrInst **lower_peer_parts(Lower *l, Expr *e, const int *parts, int count, IrInst **indices);
IrInst *lower_peer_cell_query(Lower *l, const MethodCall *m, int count, IrInst **indices);
/* call.c */
IrInst *lower_cell_inst(Lower *l, const MethodCall *m, const Entity *object, int count,
                        IrInst **indices);
IrInst **lower_call(Lower *l, Expr *e);
IrInst **lower_method(Lower *l, Expr *e); /* NULL if it has no result */
void lower_quotient(Lower *l, Expr *e, IrInst ***dividend, IrInst ***divisor);
/* compare.c */
IrInst *lower_compare(Lower *l, AstOp op, IrInst *a, IrInst *b);
/* loop.c */
void lower_numeric_for(Lower *l, Stmt *stmt);
void lower_for_in(Lower *l, Stmt *stmt);
void lower_while(Lower *l, Stmt *stmt);
void lower_repeat(Lower *l, Stmt *stmt);
void lower_continue(Lower *l);
/* update.c */
void lower_assign(Lower *l, Stmt *stmt);
void lower_compound(Lower *l, Stmt *stmt);
/* Updates the element, checks its new value, and returns the old one. */
IrInst *lower_rmw(Lower *l, const Expr *at, const Entity *element, IrInst *const *indices,
                  IrUpdate op, IrInst *place, IrInst *value);
/* lists.c */
IrInst **lower_list_call(Lower *l, Expr *e, IrInst **indices, int count);
IrInst *lower_items_length(Lower *l, const LoopHead *head, IrInst **indices);
void lower_bind_items(Lower *l, const LoopHead *head, const Stmt *stmt, IrInst *slot,
                      IrInst *const *indices);
/* debug.c, debug_number.c: checks that end the launch if they fail */
bool lower_checks(const Lower *l, SemaDebug what);
/* Both conditions; NULL: certainly true. */
IrInst *lower_and(Lower *l, IrInst *a, IrInst *b);
/* texts[0] numbers[0] texts[1] .. up to a NULL text; at l->expr_pos */
void lower_fail_unless(Lower *l, IrInst *holds, ErrorCode code, const char *const *texts,
                       IrInst *const *numbers, const char *hint);
/* `count` indices of an element or cell, as the user counts: a list has one fewer than its items */
void lower_check_index(Lower *l, const Expr *at, const Entity *element, bool is_read, int count,
                       IrInst **indices);
/* into a vector of `count` numbers, or a matrix of rows */
void lower_check_part(Lower *l, const Expr *at, IrInst *index, int count);
/* Integers may wrap inside operands of bit operators, unsigned sums and explicit conversions.
 * Returns the old l->may_wrap. */
bool lower_enter_wrap(Lower *l, bool may_wrap);
bool lower_operator_wraps(AstOp op, Type type);
/* are the indices in bounds? NULL: they certainly are */
IrInst *lower_is_inside(Lower *l, const Entity *element, int count, IrInst *const *indices);
/* checks that the append found a slot */
void lower_check_append(Lower *l, const Expr *at, const Entity *list, int count,
                        IrInst *const *indices, IrInst *slot);
/* checks that numbers written to a watched field are finite */
void lower_check_finite(Lower *l, const Expr *at, const Entity *element, IrInst *const *indices,
                        IrInst *value);
/* races.c: the race detector's calls at the start of an iteration, and at an access, if `condition`
 * is NULL or holds. */
void lower_pack_iteration(Lower *l);
void lower_race_access(Lower *l, const Expr *at, const Entity *element, SemaRaceKind kind,
                       const IrInst *place, IrInst *const *indices, IrInst *condition);
/* checks arithmetic on integers, at l->expr_pos */
void lower_check_convert(Lower *l, IrInst *value, IrInst *converted);
void lower_check_negative(Lower *l, IrInst *value);
/* In the loop: a second VAR to update by the same operator, or NULL. After the loop: the check. */
IrInst *lower_exact_of(Lower *l, const Local *local, IrUpdate op, IrInst *var);
void lower_check_exact(Lower *l);
void lower_check_result(Lower *l, IrOp op, IrInst *a, IrInst *b, IrInst *result);
/* Tracks a local declared without a value; notes numbers that get one; checks numbers that are
 * read. */
void lower_track_unset(Lower *l, const Local *local);
void lower_mark_set(Lower *l, const Local *local, int part, IrInst *condition);
void lower_check_set(Lower *l, const Local *local, const int *parts, int count);
/* inline.c */
IrInst **lower_inline(Lower *l, Expr *e, Inline *in); /* NULL if it has no result */
void lower_inline_return(Lower *l, Stmt *stmt);
/* lookup.c: the results of a call that looks up a constant table, after its parameters are bound;
 * NULL if it is lowered like any other call */
IrInst **lower_lookup(Lower *l, Inline *in);
IrInst *lower_narrow(IrInst *index); /* the operand of its conversion to i64, if it has one */
IrInst **lower_invocation(Lower *l, Expr *e, Invocation *call); /* likewise */
void lower_declare_functions(Lower *l);
void lower_functions(Lower *l); /* after the kernel */

#endif
