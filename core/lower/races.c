/* races.c - instrumentation for the race detector: before each access of an element in a parallel
 * loop, a call that passes site, field, iteration and element.
 *
 *     x[i] = x[i - 1]      call rt_touch 3, 0, 0, %i, %i - 1     (a read; site 3 is a message)
 *                          call rt_touch 4, 0, 1, %i, %i         (a write)
 *
 * The indices of iteration and element are packed in one i64. A single index is stored as it is; of
 * n indices each has 64 / n bits, and all but the first count from the smallest
 * (kernel/report/message.c unpacks them). So with three or more, indices that need more bits
 * collide. Accesses out of bounds are not reported. Decision D-lower-05. */
#include "lower/lower.h"

static bool finds_races(const Lower *l) { return l->s->input->debug & SEMA_DEBUG_RACES; }

static IrInst *pack(Lower *l, IrInst *const *values, int count) {
  int bits = count ? 64 / count : 64;
  if (!count) return lower_number(l, TYPE(I64), 0);
  IrInst *packed = ir_convert(&l->b, values[0], TYPE(I64));
  for (int k = 1; k < count; k++) {
    int64_t half = (int64_t)1 << (bits - 1);
    IrInst *value = ir_binary(&l->b, IR_ADD, ir_convert(&l->b, values[k], TYPE(I64)),
                              lower_number(l, TYPE(I64), half));
    value = ir_binary(&l->b, IR_BAND, value, lower_number(l, TYPE(I64), 2 * half - 1));
    packed = ir_binary(&l->b, IR_SHL, packed, lower_number(l, TYPE(I64), bits));
    packed = ir_binary(&l->b, IR_BOR, packed, value);
  }
  return packed;
}

void lower_pack_iteration(Lower *l) {
  if (finds_races(l)) l->iteration = pack(l, l->indices, l->index_count);
}

/* The parts of a vector share one site. */
static int site_of(Lower *l, const Expr *at, const Entity *element, SemaRaceAccess access) {
  SemaMessage message = {
      .code = RG_ERROR_RACE,
      .race = access,
      .hint =
          "the result depends on which runs first: write to another field, or update (x[i] += ..)"};
  SemaPiece name = {.kind = PIECE_TEXT, .text = str_of(element->name ? element->name : "")};
  int last = l->output->messages.count - 1;
  const SemaMessage *before = last < 0 ? NULL : &l->output->messages.items[last];
  if (before && before->race.kind == access.kind && before->source == sema_text_source(l->s) &&
      before->pos.offset == at->pos.offset && before->race.iteration_axes == l->index_count)
    return last;
  vec_push(l->scratch, &message.pieces, name);
  return message_add(l, &message, at->pos, at->width);
}

void lower_race_access(Lower *l, const Expr *at, const Entity *element, SemaRaceKind kind,
                       const IrInst *place, IrInst *const *indices, IrInst *condition) {
  int rank = field_rank(field_of(element));
  if (!finds_races(l) || !l->index_count) return;
  SemaRaceAccess access = {kind, l->index_count, rank};
  IrInst *inside = lower_is_inside(l, element, rank, indices);
  condition = lower_and(l, inside, condition);
  IrRegion *back = condition ? lower_enter(l, ir_if(&l->b, condition)->regions[0]) : NULL;
  bool writes = kind == RACE_WRITE || (kind == RACE_UPDATE && l->is_independent);
  IrInst *operands[] = {lower_number(l, TYPE(I32), site_of(l, at, element, access)),
                        lower_number(l, TYPE(I32), place->field),
                        lower_number(l, TYPE(I32), writes), l->iteration, pack(l, indices, rank)};
  ir_call(&l->b, RT_TOUCH, 0, 0, 5, operands);
  if (back) lower_leave(l, back);
}
