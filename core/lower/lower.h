/* lower.h - the typed tree becomes IR: arguments, variables, blocks. Reports nothing any more, but nesting. */
#ifndef RG_LOWER_LOWER_H
#define RG_LOWER_LOWER_H

#include "typed/typed.h"

void lower_kernel(Sema *s);
void lower_block(Sema *s, Block *block);
bool lower_is_closed(const Sema *s);          /* an exit ends the region: nothing may follow */
IrRegion *lower_enter(Sema *s, IrRegion *region); /* gives the region to come back to */
void lower_leave(Sema *s, IrRegion *back);
void lower_at(Sema *s, Pos pos);
/* The launch ends here: `sentence`, then the number `value` (an f64), at `at`. */
void lower_fault(Sema *s, const Expr *at, IrInst *value, ErrorCode code, const char *hint, const char *sentence);
void lower_keep_view(Sema *s, Local *local, Expr *value); /* of a local that is an alias */
void lower_bind(Sema *s, Local *local, IrInst **values);     /* VARs when it is assigned again */
/* expr.c */
IrInst *lower_expr(Sema *s, Expr *e); /* one number, of type e->at */
IrInst *lower_as(Sema *s, Expr *e, Type type);
/* vector.c: as many as e has numbers, row by row */
IrInst **lower_values(Sema *s, Expr *e);
IrInst **lower_values_as(Sema *s, Expr *e, Type type, int count);    /* one number stretches to count */
IrInst **lower_parts(Sema *s, Expr *e, const int *parts, int count); /* some of them */
IrInst **lower_select(Sema *s, IrInst *condition, IrInst **yes, IrInst **no, int count);
/* algebra.c */
IrInst **lower_algebra(Sema *s, Expr *e, const Builtin *builtin);
IrInst **lower_product(Sema *s, Shape a_shape, IrInst **a, Shape b_shape, IrInst **b); /* with a matrix */
IrInst *lower_convert(Sema *s, IrInst *value, Type type); /* constants at once */
IrInst *lower_number(Sema *s, Type type, int64_t value);
IrInst *lower_operator(Sema *s, AstOp op, IrInst *a, IrInst *b); /* arithmetic and bits */
/* access.c */
int lower_indices(Sema *s, Expr *e, IrInst **indices);
int lower_index_list(Sema *s, const Exprs *list, int count, IrInst **indices, int so_far);
/* Indices of a field counted from 0, where its own start elsewhere. */
IrInst **lower_from_start(Sema *s, const FieldRef *field, int count, IrInst **indices);
IrInst *lower_place_at(Sema *s, const Entity *element, int part, IrInst **indices); /* of the element's number `part` */
int lower_level(Sema *s, const SNode *node, const char *name, SemaArg source);
/* call.c */
IrInst **lower_call(Sema *s, Expr *e);
IrInst **lower_method(Sema *s, Expr *e); /* NULL when it gives nothing */
void lower_quotient(Sema *s, Expr *e, IrInst ***dividend, IrInst ***divisor);
/* compare.c */
IrInst *lower_compare(Sema *s, AstOp op, IrInst *a, IrInst *b);
/* loop.c */
void lower_numeric_for(Sema *s, Stmt *stmt);
void lower_for_in(Sema *s, Stmt *stmt);
void lower_while(Sema *s, Stmt *stmt);
void lower_repeat(Sema *s, Stmt *stmt);
void lower_continue(Sema *s);
/* update.c */
void lower_assign(Sema *s, Stmt *stmt);
void lower_compound(Sema *s, Stmt *stmt);
/* lists.c */
IrInst **lower_list_call(Sema *s, Expr *e, IrInst **indices, int count);
IrInst *lower_items_length(Sema *s, const LoopHead *head, IrInst **indices);
void lower_bind_items(Sema *s, const LoopHead *head, const Stmt *stmt, IrInst *slot, IrInst *const *indices);
/* inline.c */
IrInst **lower_inline(Sema *s, Expr *e, Inline *in); /* NULL when it gives nothing */
void lower_inline_return(Sema *s, Stmt *stmt);

#endif
