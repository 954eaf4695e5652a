/* emit_message.c - print, assert, error:
 *
 *   _rg.print(_rg_r, _rg.text{"x = ", _rg.form("%5.2f", "f32", x)})
 *   (CONDITION) or _rg.fail(_rg_r, 3, TEXT, {i, j})
 *
 * 3: the number of its message, from which the core makes the error (rg_kernel_fail). */
#include "emit_lua/emit.h"

void emit_quoted(Emit *e, Str text) {
  emit_text(e, "\"");
  for (int i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (c < 32 || c == 127 || c == '"' || c == '\\') emit_format(e, "\\%03d", c);
    else strbuf_char(&e->out, (char)c);
  }
  emit_text(e, "\"");
}

static void emit_value(Emit *e, const MessagePiece *piece) {
  char name[TYPE_NAME_SIZE];
  Type type = emit_type(e, piece->value);
  if (!piece->format) emit_text(e, "_rg.show(");
  else emit_format(e, "_rg.form(\"%s\", ", piece->format);
  emit_format(e, "\"%s\", ", type_name(type_shaped(type, emit_shape(e, piece->value)), name));
  emit_expr(e, piece->value);
  emit_text(e, ")");
}

void emit_message_text(Emit *e, const char *format, const Str *text, SemaArg string) {
  if (format) emit_format(e, "_rg.form(\"%s\", \"\", ", format);
  if (text) emit_quoted(e, *text);
  else emit_launch_field(e, string);
  if (format) emit_text(e, ")");
}

static void emit_pieces(Emit *e, const MessageCall *message) {
  emit_text(e, "_rg.text{");
  for (int i = 0; i < message->pieces.count; i++) {
    const MessagePiece *piece = &message->pieces.items[i];
    if (i) emit_text(e, ", ");
    if (piece->kind == PIECE_VALUE) emit_value(e, piece);
    else
      emit_message_text(e, piece->format, piece->kind == PIECE_TEXT ? &piece->text : NULL,
                        piece->string);
  }
  emit_text(e, "}");
}

/* The indices of the iteration; an index vector is used as it is. */
void emit_iteration(Emit *e) {
  if (e->recursive_function) {
    emit_text(e, e->recursive_function->axis_count ? "_rg_i" : "{}");
    return;
  }
  emit_text(e, "{");
  for (int i = 0; e->parallel && i < e->parallel->locals.count; i++)
    emit_format(e, "%s%s", i ? ", " : "", e->names[e->parallel->locals.items[i]->id]);
  emit_text(e, "}");
}

static void emit_fail_arguments(Emit *e, const MessageCall *message) {
  emit_format(e, "_rg_r, %d, ", message->number);
  emit_pieces(e, message);
  emit_text(e, ", ");
  emit_iteration(e);
  emit_text(e, ")");
}

void emit_message(Emit *e, Expr *call) {
  const MessageCall *message = call->message;
  if (message->code == RG_ERROR_NONE) {
    emit_text(e, "_rg.print(_rg_r, ");
    emit_pieces(e, message);
    emit_text(e, ")");
  } else if (!message->condition) {
    emit_text(e, "_rg.fail(");
    emit_fail_arguments(e, message);
  } else if (message->has_calls) {
    emit_text(e, "_rg.assert(");
    emit_expr(e, message->condition);
    emit_text(e, ", ");
    emit_fail_arguments(e, message);
  } else {
    emit_text(e, "(");
    emit_expr(e, message->condition);
    emit_text(e, ") or _rg.fail(");
    emit_fail_arguments(e, message);
  }
}
