/* message.c - print, assert, error: a message of the kernel, and a PRINT or FAULT with its values.
 *
 *     assert(c, ("%g"):format(x))      if c {} else { fault 3 %x, %i }
 *
 * The values of an assert are computed only if it fails, unless they contain a call. */
#include "lower/lower.h"

/* Adds the calls that lead here, innermost first. */
static void add_calls(Lower *l, SemaMessage *message) {
  for (const Inline *in = l->s->frame; in; in = in->outer) {
    if (!in->call) continue;
    SemaCallPlace place = {.name = in->name,
                           .source = in->call_source ? in->call_source
                                     : in->outer     ? in->outer->source
                                                     : l->s->input->ast->source,
                           .pos = in->call->pos,
                           .width = in->call->width};
    vec_push(l->scratch, &message->calls, place);
  }
}

static Type passed_as(Type type) {
  if (type_is_float(type)) return TYPE(F64);
  return type_is_unsigned(type) ? TYPE(U64) : TYPE(I64);
}

static void add_operand(Lower *l, Operands *operands, IrInst *value) {
  vec_push(l->scratch, operands, ir_convert(&l->b, value, passed_as(value->type)));
}

void message_add_value(Lower *l, SemaMessage *message, Operands *operands, IrInst **values,
                       Shape shape, const char *format) {
  SemaPiece piece = {
      .kind = PIECE_VALUE, .type = values[0]->type, .shape = shape, .format = format};
  vec_push(l->scratch, &message->pieces, piece);
  for (int k = 0; k < type_parts(shape); k++) add_operand(l, operands, values[k]);
}

static void add_pieces(Lower *l, const MessageCall *call, SemaMessage *message,
                       Operands *operands) {
  for (int i = 0; i < call->pieces.count; i++) {
    const MessagePiece *from = &call->pieces.items[i];
    SemaPiece piece = {
        .kind = from->kind, .text = from->text, .string = from->string, .format = from->format};
    if (from->value)
      message_add_value(l, message, operands, lower_values(l, from->value), shape_of(from->value),
                        from->format);
    else vec_push(l->scratch, &message->pieces, piece);
  }
}

int message_add(Lower *l, SemaMessage *message, Pos pos, int32_t width) {
  message->source = sema_text_source(l->s);
  message->pos = pos;
  message->width = width;
  add_calls(l, message);
  vec_push(l->scratch, &l->output->messages, *message);
  return l->output->messages.count - 1;
}

void message_emit(Lower *l, SemaMessage *message, Operands *operands, Pos pos, int32_t width) {
  message->axis_count = l->index_count;
  for (int k = 0; k < l->index_count; k++) {
    IrInst *index = ir_convert(&l->b, l->indices[k], TYPE(I64));
    vec_push(l->scratch, operands, index);
  }
  IrOp op = message->code == RG_ERROR_NONE ? IR_PRINT : IR_FAULT;
  IrInst *inst = ir_emit(&l->b, op, TYPE(NONE), operands->count, operands->items);
  inst->imm = message_add(l, message, pos, width);
}

void lower_message(Lower *l, Expr *e) {
  MessageCall *call = e->message;
  Operands operands = {0};
  SemaMessage message = {.code = call->code};
  IrInst *holds = call->condition ? lower_as(l, call->condition, TYPE(BOOL)) : NULL;
  if (call->has_calls) add_pieces(l, call, &message, &operands);
  IrRegion *back = NULL;
  lower_set_pos(l, e->pos);
  if (holds) back = lower_enter(l, ir_if(&l->b, holds)->regions[1]);
  if (!call->has_calls) add_pieces(l, call, &message, &operands);
  lower_set_pos(l, e->pos);
  call->number = l->output->messages.count;
  const Expr *at = call->condition ? call->condition : e;
  message_emit(l, &message, &operands, at->pos, at->width);
  if (holds) lower_leave(l, back);
}
