/* debug.c - the checks that debug = true adds to a kernel: an `if` around a FAULT wherever the
 * language would silently continue with a meaningless value.
 *
 *     x[i + 1]      if 0 <= i + 1 < 8 {} else { fault 3 .. }
 *
 * Later stages see ordinary IR; without debug = true nothing changes. A condition that is known to
 * hold at compile time is not checked. */
#include <float.h>

#include "lower/lower.h"

typedef struct Failure {
  SemaMessage message;
  Operands operands;
} Failure;

/* Functions of `rg` that are written in the kernel language (core/library) are not checked. */
bool lower_checks(const Lower *l, SemaDebug what) {
  bool is_library = l->s->frame && l->s->frame->number == FUNCTION_LIBRARY;
  return (l->s->input->debug & (int)what) && !is_library;
}

static void add_text(Lower *l, Failure *failure, const char *text) {
  SemaPiece piece = {.kind = PIECE_TEXT, .text = str_of(text)};
  vec_push(l->scratch, &failure->message.pieces, piece);
}

static void add_number(Lower *l, Failure *failure, IrInst *number) {
  message_add_value(l, &failure->message, &failure->operands, &number, (Shape){0}, NULL);
}

/* Enters the region that runs if `holds` is false. */
static IrRegion *enter_failure(Lower *l, IrInst *holds) {
  return lower_enter(l, ir_if(&l->b, holds)->regions[1]);
}

IrInst *lower_and(Lower *l, IrInst *a, IrInst *b) {
  return a && b ? ir_binary(&l->b, IR_BAND, a, b) : a ? a : b;
}

void lower_fail_unless(Lower *l, IrInst *holds, ErrorCode code, const char *const *texts,
                       IrInst *const *numbers, const char *hint) {
  IrRegion *back = enter_failure(l, holds);
  Failure failure = {.message = {.code = code, .hint = hint}};
  for (int k = 0; texts[k]; k++) {
    add_text(l, &failure, texts[k]);
    if (numbers[k]) add_number(l, &failure, numbers[k]);
  }
  message_emit(l, &failure.message, &failure.operands, l->expr_pos, 1);
  lower_leave(l, back);
}

/* -- indices ----------------------------------------------------------------------------------- */

/* NULL if it is certainly in bounds. One unsigned comparison suffices: a negative difference is
 * larger than any extent. */
static IrInst *is_inside(Lower *l, IrInst *index, int64_t first, IrInst *extent) {
  int64_t known, most;
  if (ir_is_const(index, &known) && ir_is_const(extent, &most) && known >= first &&
      known - first < most)
    return NULL;
  index = ir_convert(&l->b, index, TYPE(I64));
  if (first) index = ir_binary(&l->b, IR_SUB, index, lower_number(l, TYPE(I64), first));
  return ir_binary(&l->b, IR_LT, ir_convert(&l->b, index, TYPE(U64)),
                   lower_convert(l, extent, TYPE(U64)));
}

/* The bounds of the indexed axes; extent NULL: the axis is unbounded. */
typedef struct Bounds {
  int count;
  IrInst *extent[SNODE_MAX_AXES];
  int64_t first[SNODE_MAX_AXES];
} Bounds;

/* The axis of a list's elements is left out where the index selects the list's cell. */
static Bounds bounds_of(Lower *l, const FieldRef *field, int count) {
  Bounds bounds = {.count = count};
  const SNode *node = field->node;
  bool is_list = node && count < node->rank && node->rank > 0;
  int own = is_list ? snode_axis_position(node, node->axes[0]) : count;
  for (int k = 0; k < count; k++) {
    int axis = k < own ? k : k + 1;
    if (field->array)
      bounds.extent[k] = ir_arg(&l->b, l->s->launch_args.items[field->array->extents].arg + axis);
    else if (node->shape[axis]) bounds.extent[k] = lower_number(l, TYPE(I64), node->shape[axis]);
    bounds.first[k] = field->offset ? field->offset[axis] : 0;
  }
  return bounds;
}

/* "8 x 4", or "8 x 4 from -2, 10" */
static void add_shape(Lower *l, Failure *failure, const Bounds *bounds) {
  bool is_moved = false;
  for (int k = 0; k < bounds->count; k++) {
    int64_t known = 0;
    is_moved |= bounds->first[k] != 0;
    if (k) add_text(l, failure, " x ");
    if (bounds->extent[k] && !ir_is_const(bounds->extent[k], &known))
      add_number(l, failure, bounds->extent[k]);
    else add_text(l, failure, scratch_format(l->scratch, "%lld", (long long)known));
  }
  for (int k = 0; k < bounds->count && is_moved; k++)
    add_text(l, failure,
             scratch_format(l->scratch, k ? ", %lld" : " from %lld", (long long)bounds->first[k]));
}

IrInst *lower_is_inside(Lower *l, const Entity *element, int count, IrInst *const *indices) {
  Bounds bounds = bounds_of(l, field_of(element), count);
  IrInst *holds = NULL;
  for (int k = 0; k < count; k++)
    if (bounds.extent[k])
      holds = lower_and(l, holds, is_inside(l, indices[k], bounds.first[k], bounds.extent[k]));
  return holds;
}

static void add_indices(Lower *l, Failure *failure, int count, IrInst *const *indices) {
  for (int k = 0; k < count; k++) {
    if (k) add_text(l, failure, ", ");
    add_number(l, failure, indices[k]);
  }
}

void lower_check_index(Lower *l, const Expr *at, const Entity *element, bool is_read, int count,
                       IrInst **indices) {
  if (!lower_checks(l, is_read ? SEMA_DEBUG_READS : SEMA_DEBUG_INDICES)) return;
  IrInst *holds = lower_is_inside(l, element, count, indices);
  if (!holds) return;
  IrRegion *back = enter_failure(l, holds);
  Failure failure = {.message.code = RG_ERROR_INDEX_RANGE};
  add_text(l, &failure, "index ");
  add_indices(l, &failure, count, indices);
  add_text(l, &failure,
           scratch_format(l->scratch, " is outside '%.100s', whose shape is ",
                          element->name ? element->name : ""));
  Bounds bounds = bounds_of(l, field_of(element), count);
  add_shape(l, &failure, &bounds);
  message_emit(l, &failure.message, &failure.operands, at->pos, at->width);
  lower_leave(l, back);
}

/* The runtime's error says that a list is full; this one says where. */
void lower_check_append(Lower *l, const Expr *at, const Entity *list, int count,
                        IrInst *const *indices, IrInst *slot) {
  const SNode *node = field_of(list)->node;
  if (!lower_checks(l, SEMA_DEBUG_INDICES)) return;
  IrRegion *back = enter_failure(l, ir_binary(&l->b, IR_GE, slot, lower_number(l, TYPE(I32), 0)));
  Failure failure = {.message.code = RG_ERROR_LIST_FULL};
  const char *name = node->name[0] ? node->name : list->name ? list->name : "";
  add_text(l, &failure, scratch_format(l->scratch, "list '%.100s'", name));
  if (count) add_text(l, &failure, " at ");
  add_indices(l, &failure, count, indices);
  add_text(l, &failure,
           scratch_format(l->scratch, " is full: it has at most %lld elements",
                          (long long)node->sizes[0]));
  message_emit(l, &failure.message, &failure.operands, at->pos, at->width);
  lower_leave(l, back);
}

void lower_check_part(Lower *l, const Expr *at, IrInst *index, int count) {
  IrInst *holds = lower_checks(l, SEMA_DEBUG_INDICES)
                      ? is_inside(l, index, 0, lower_number(l, TYPE(I64), count))
                      : NULL;
  if (!holds) return;
  IrRegion *back = enter_failure(l, holds);
  Failure failure = {.message.code = RG_ERROR_INDEX_RANGE};
  add_text(l, &failure, "index ");
  add_number(l, &failure, index);
  add_text(l, &failure,
           scratch_format(l->scratch, " is outside a %s of %d",
                          type_is_matrix(shape_of(at->left)) ? "matrix" : "vector", count));
  if (type_is_matrix(shape_of(at->left))) add_text(l, &failure, " rows");
  message_emit(l, &failure.message, &failure.operands, at->pos, at->width);
  lower_leave(l, back);
}

/* -- watched fields ---------------------------------------------------------------------------- */

void lower_check_finite(Lower *l, const Expr *at, const Entity *element, IrInst *const *indices,
                        IrInst *value) {
  const FieldRef *field = field_of(element);
  if (!field->is_watched || !type_is_float(value->type)) return;
  int bits = type_bits(value->type), rank = field_rank(field);
  double most = bits == 16 ? 65504 : bits == 32 ? FLT_MAX : DBL_MAX;
  IrInst *holds = ir_binary(&l->b, IR_LE, ir_unary(&l->b, IR_ABS, value),
                            ir_const_float(&l->b, value->type, most));
  IrRegion *back = enter_failure(l, holds);
  Failure failure = {.message.code = RG_ERROR_NOT_FINITE};
  add_text(l, &failure,
           scratch_format(l->scratch, "'%.100s' at ", element->name ? element->name : ""));
  add_indices(l, &failure, rank, indices);
  if (!rank) add_text(l, &failure, "0");
  add_text(l, &failure, " becomes ");
  add_number(l, &failure, value);
  message_emit(l, &failure.message, &failure.operands, at->pos, at->width);
  lower_leave(l, back);
}

/* -- locals ------------------------------------------------------------------------------------ */

void lower_track_unset(Lower *l, const Local *local) {
  int count = type_parts(local->shape);
  if (!lower_checks(l, SEMA_DEBUG_LOCALS) || !local_is_variable(local)) return;
  IrInst **is_set = lower_array(l, count);
  for (int k = 0; k < count; k++) {
    is_set[k] = ir_var(&l->b, TYPE(BOOL));
    ir_set(&l->b, is_set[k], lower_number(l, TYPE(BOOL), 0));
  }
  lowered_of(l, local)->is_set = is_set;
}

void lower_mark_set(Lower *l, const Local *local, int part, IrInst *condition) {
  IrInst **is_set = lowered_of(l, local)->is_set;
  if (!is_set) return;
  ir_set(&l->b, is_set[part],
         condition ? ir_binary(&l->b, IR_BOR, condition, ir_get(&l->b, is_set[part]))
                   : lower_number(l, TYPE(BOOL), 1));
}

void lower_check_set(Lower *l, const Local *local, const int *parts, int count) {
  IrInst **is_set = lowered_of(l, local)->is_set, *holds = NULL;
  if (!is_set) return;
  for (int k = 0; k < count; k++) holds = lower_and(l, holds, ir_get(&l->b, is_set[parts[k]]));
  const char *text =
      scratch_format(l->scratch, "'%s' has no value yet", sema_text(l->s, local->name));
  lower_fail_unless(l, holds, RG_ERROR_UNSET, (const char *[]){text, NULL}, (IrInst *[]){NULL},
                    NULL);
}
