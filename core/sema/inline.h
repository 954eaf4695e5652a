/* inline.h - calls of functions that the user wrote: each is written out where it is called, from a copy of its tree.
 *
 *     f(x + 1, y)      parameters given x + 1, y; the body; results as locals of their own, read by what stands around
 *
 * So each call has the types of its own arguments, what is no number (a field, a table, another function) stands for
 * itself inside, and parallel loops of a function called from the host region are the kernel's own. What the function
 * takes from around itself are paths of its own: `number` says whose (sema.h). */
#ifndef RG_SEMA_INLINE_H
#define RG_SEMA_INLINE_H

#include "sema/typed.h"

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

/* resolve_inline.c */
SemaPath inline_member_path(Sema *s, AstExpr *e, const Entity *table, Str name);
bool inline_fail_size(Sema *s, Pos pos, int width);
bool inline_has_room(const Sema *s); /* for more copies */
/* table.c */
int table_find(Sema *s, AstExpr *e, const Entity *table, const char *key, bool is_static);
int *table_find_all(Sema *s, AstExpr *e, const Entity *table, int64_t length);
bool table_fail(Sema *s, AstExpr *e);
/* static.c */
bool static_is_written(Sema *s, AstExpr *e);             /* known from the text and the layouts alone */
bool static_value(Sema *s, AstExpr *e, Static *out);     /* false with an error */
bool static_integer(Sema *s, AstExpr *e, int64_t *out);
bool static_of_value(Sema *s, AstExpr *e, SemaArg source, Static *out);
AstExpr *static_argument(Sema *s, AstExpr *e);           /* of rg.static(..), else NULL */
void static_write(Sema *s, AstExpr *e, const Static *value);

/* rescale.c */
Entity rescale_call(Sema *s, AstExpr *e);

#endif
