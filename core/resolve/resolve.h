/* resolve.h - what each name, index and call denotes. Everything that can be said against a kernel without knowing types
 * is said in this room: names, constructs, counts of indices and arguments, loops and exits, reductions. What users wrote
 * as functions, static loops and lists of tables is written out here, so the stages after it know only plain statements. */
#ifndef RG_RESOLVE_RESOLVE_H
#define RG_RESOLVE_RESOLVE_H

#include "resolve/paths.h"
#include "typed/typed.h"

/* A value that is known while the kernel is compiled. WIDE: an integer of 64 bits; OTHER: a field, a table, a function .. */
typedef enum StaticKind { STATIC_NIL, STATIC_BOOL, STATIC_NUMBER, STATIC_WIDE, STATIC_VECTOR, STATIC_OTHER } StaticKind;
typedef struct Static {
  StaticKind kind;
  double number;
  uint64_t bits;         /* WIDE */
  bool is_unsigned;
  const SemaPart *parts; /* VECTOR: those of its entity, or all */
  Entity entity;
} Static;

void resolve_kernel(Sema *s);

/* expr.c */
Entity resolve_expr(Sema *s, AstExpr *e);   /* and remembers it */
bool resolve_value(Sema *s, AstExpr *e);    /* a number or bool */
bool resolve_scalar(Sema *s, AstExpr *e);   /* one number or bool */
bool resolve_check_scalar(Sema *s, AstExpr *e); /* the same of what was resolved: reading it twice at each height takes forever */
bool resolve_indices(Sema *s, AstExprs *list, int *count); /* `{i, j}` counts two, as does an ivec2 */
Type resolve_type(Sema *s, AstExpr *annotation, Shape *shape);
/* name.c */
const char *resolve_nearest(Sema *s, Str name); /* a hint "did you mean 'x'?", or NULL */
Entity resolve_capture(Sema *s, AstExpr *e);
Entity resolve_member(Sema *s, AstExpr *e, Entity object, Str name); /* object.name */
void resolve_parameter(Sema *s, int number);
bool resolve_is_nil(Sema *s, AstExpr *e); /* a declared name without a value */
Entity resolve_path_value(Sema *s, AstExpr *e, int number);
/* call.c */
Entity resolve_call(Sema *s, AstExpr *e);
Entity resolve_method(Sema *s, AstExpr *e);
Entity resolve_type_call(Sema *s, AstExpr *e, Str name); /* `vec(5, f64)`: a TYPE */
Entity resolve_fail_indices(Sema *s, AstExpr *e, const Entity *object, int needed, int given);
/* loop.c */
void resolve_head(Sema *s, AstStmt *stmt);
/* stmt.c */
void resolve_block(Sema *s, AstBlock *block);
void resolve_stmt(Sema *s, AstStmt *stmt);
void resolve_declare(Sema *s, const AstLocal *ast);
bool resolve_give_shape(Sema *s, const AstLocal *ast, AstExpr *value); /* the first value settles it, others must fit */

/* paths.c */
bool path_of(const Ast *ast, const AstExpr *e, StrBuf *name, int *parameter); /* parameter -1: a captured path. ast NULL: no parameters */
int path_parameter(const Ast *ast, const AstLocal *local);                   /* its number, or -1 */
void path_number_all(Sema *s);
int path_find(Sema *s, const SemaPath *path);  /* its number, or -1 */
void path_want(Sema *s, SemaPath path);        /* the host has to bring it as well */

/* suggest.c: a hint for a name that is not there, or NULL */
const char *suggest_type(Sema *s, const char *name);
const char *suggest_name(Sema *s, Str name);
const char *suggest_builtin(Sema *s, Str path);  /* "rg.lenght" */
const char *suggest_vector_member(Sema *s, Str name, bool is_call);
const char *suggest_field_member(Sema *s, Str name, const char *object);
const char *suggest_method(Sema *s, Str name);
const char *suggest_modifier(Sema *s, Str name); /* of a loop's head */

/* shape.c */
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
void shape_mark_assigned(Sema *s, const AstBlock *block);
bool resolve_algebra(Sema *s, AstExpr *e, const Builtin *builtin, Shape *shape); /* algebra.c */

/* extent.c: x.shape and x.offset */
Entity extent_constant(int64_t value);
Entity extent_vector(Sema *s, AstExpr *e, const Entity *shape);  /* e becomes the vector, of one axis the number */
Entity extent_member(Sema *s, AstExpr *e, const Entity *shape, Str name);
Entity extent_indexed(Sema *s, AstExpr *e, const Entity *shape);

/* lists.c: what belongs to the lists of dynamic SNodes */
Entity resolve_list_call(Sema *s, AstExpr *e, Entity object); /* append, length, pop */
bool resolve_items(Sema *s, AstExpr *e, const Entity *object, LoopHead *head);
void resolve_item_variables(Sema *s, const LoopHead *head, const AstStmt *stmt); /* the shapes of its variables */

/* update.c */
Update *update_match(Sema *s, AstStmt *stmt); /* NULL: it is a plain assignment */

/* inline.c: a call of a function that the user wrote; `self` is the object of a method call, or NULL */
Entity resolve_inline_call(Sema *s, AstExpr *e, Entity callee, AstExpr *self);
void resolve_inline_return(Sema *s, AstStmt *stmt);
void resolve_spread(Sema *s, AstExprs *list, int wanted); /* other results of a call that ends the list */
bool resolve_refuse_many(Sema *s, const AstExprs *list);  /* where only one value is taken */
bool resolve_fail_size(Sema *s, Pos pos, int width);
bool resolve_has_room(const Sema *s); /* for more copies */

/* clone.c */
Ast *clone_ast(Sema *s, const Ast *ast);       /* with the numbers it has */
AstFunction *clone_function(Sema *s, const AstFunction *function);
AstExpr *clone_new_expr(Sema *s, const AstExpr *like);
AstExpr *clone_expr_of(Sema *s, const AstExpr *e); /* all of it, not yet resolved */
AstLocal *clone_new_local(Sema *s, const AstLocal *like);
/* Appends a copy of `block` in which `to` stand for the locals `from`. */
void clone_turn(Sema *s, const AstBlock *block, AstLocal *const *from, AstLocal *const *to, int count, AstBlock *out);
bool clone_returns_early(const AstFunction *function);
bool clone_is_straight(const AstFunction *function);

/* static.c */
Entity static_call(Sema *s, AstExpr *e);   /* rg.static(..) becomes a literal */
void static_if(Sema *s, AstStmt *stmt);    /* drops the arms that are known not to be taken */
bool static_is_written(Sema *s, AstExpr *e);             /* known from the text and the layouts alone */
bool static_value(Sema *s, AstExpr *e, Static *out);     /* false with an error */
bool static_integer(Sema *s, AstExpr *e, int64_t *out);
bool static_of_value(Sema *s, AstExpr *e, SemaArg source, Static *out);
AstExpr *static_argument(Sema *s, AstExpr *e);           /* of rg.static(..), else NULL */
void static_write(Sema *s, AstExpr *e, const Static *value);

/* unroll.c */
bool unroll_loop(Sema *s, AstStmt *stmt);  /* a loop that is written out; false: another one */
/* table.c: captured tables that are lists */
Entity table_member(Sema *s, AstExpr *e, const Entity *table, Str name); /* `table.name` */
bool table_length(Sema *s, AstExpr *e, const Entity *table, int64_t *length);
Entity table_item(Sema *s, AstExpr *e, const Entity *table);
int table_find(Sema *s, AstExpr *e, const Entity *table, const char *key, bool is_static);
int *table_find_all(Sema *s, AstExpr *e, const Entity *table, int64_t length);
bool table_fail(Sema *s, AstExpr *e);

/* functions that are written as text for their call */
Entity decompose_call(Sema *s, AstExpr *e, const Builtin *builtin);
Entity rescale_call(Sema *s, AstExpr *e);

#endif
