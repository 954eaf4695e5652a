/* emit_check.c - the checks of debug = true: operations that end the launch, where `lower` has
 * checks.
 *
 *     a + b       _rg.sure(_rg_r, 3, {i}, "add", "i32")(a, b)
 *     x[i]        _rg_f[0].get(_rg_f[0], _rg.inside(_rg_r, 4, {i}, _rg_f[0], "x", i))
 *
 * 3 is the number of the message that `lower` made for this place, from which the core makes the
 * error; its text comes from lua/regolith/oracle/check.lua. Where `lower` made no message, nothing
 * is checked. */
#include "emit_lua/emit.h"

static bool has_piece(const SemaMessage *message, const char *text) {
  for (int k = 0; k < message->pieces.count; k++) {
    const SemaPiece *piece = &message->pieces.items[k];
    if (piece->kind == PIECE_TEXT && str_is(piece->text, text)) return true;
  }
  return false;
}

/* Does the message belong to a function that is expanded once per call? */
static bool has_calls(const Emit *e, const SemaMessage *message) {
  int count = 0;
  for (const Inline *in = e->frame; in; in = in->outer) {
    if (!in->call) continue;
    if (count == message->calls.count ||
        message->calls.items[count].pos.offset != in->call->pos.offset)
      return false;
    count++;
  }
  return count == message->calls.count;
}

/* The number of the message, or -1. */
static int find_message(const Emit *e, Pos pos, ErrorCode code, const char *piece) {
  const SemaOutput *output = e->s->output;
  for (int k = 0; e->s->input->debug && k < output->messages.count; k++) {
    const SemaMessage *message = &output->messages.items[k];
    if (message->code == code && message->pos.offset == pos.offset &&
        message->pos.line == pos.line && has_piece(message, piece) && has_calls(e, message))
      return k;
  }
  return -1;
}

static void emit_site(Emit *e, const char *operation, int message) {
  emit_format(e, "_rg.%s(_rg_r, %d, ", operation, message);
  emit_iteration(e);
}

static const char *sign_of(Emit *e, const char *name, Type type) {
  static const char *const signs[][2] = {
      {"add", " + "},      {"sub", " - "}, {"mul", " * "},  {"floordiv", " // "},
      {"ceildiv", " // "}, {"mod", " % "}, {"shl", " << "}, {"shr", " >> "},
      {"sar", " ~>> "},    {"neg", "-("},  {"abs", "-("}};
  for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
    if (!strcmp(name, signs[k][0])) return signs[k][1];
  if (strncmp(name, "to_", 3)) return NULL;
  return scratch_format(e->scratch, " does not fit into %s %s", type_is_signed(type) ? "an" : "a",
                        name + 3);
}

void emit_function_name(Emit *e, Pos pos, const char *name, Type type) {
  Type of = type; /* of the result */
  if (!strncmp(name, "to_", 3)) type_parse(str_of(name + 3), &of);
  const char *piece = sign_of(e, name, of);
  int message = piece ? find_message(e, pos, RG_ERROR_ARITHMETIC, piece) : -1;
  if (message < 0) {
    emit_format(e, "_rg.%s_%s", name, type_text(type));
    return;
  }
  emit_site(e, "sure", message);
  emit_format(e, ", \"%s\", \"%s\")", name, type_text(type));
}

void emit_reducer(Emit *e, Pos pos, const Local *local, const char *name, Type type) {
  const char *piece =
      scratch_format(e->scratch, "'%.*s' becomes ", local->name.length, local->name.data);
  int message = find_message(e, pos, RG_ERROR_ARITHMETIC, piece);
  if (message < 0) {
    emit_format(e, "_rg.%s_%s", name, type_text(type));
    return;
  }
  vec_push(e->scratch, &e->totals, message);
  emit_format(e, "_rg.reducer(_rg_r, %d, \"%.*s\", \"%s\", \"%s\")", message, local->name.length,
              local->name.data, name, type_text(type));
}

void emit_totals(Emit *e) {
  for (int k = 0; k < e->totals.count; k++)
    emit_format(e, "; _rg.total(_rg_r, %d)", e->totals.items[k]);
  e->totals.count = 0;
}

bool emit_inside(Emit *e, Pos pos, const Entity *element) {
  int message = find_message(e, pos, RG_ERROR_INDEX_RANGE, "index ");
  if (message < 0) return false;
  emit_text(e, ", ");
  emit_site(e, "inside", message);
  emit_text(e, ", ");
  emit_source(e, element->field.source);
  emit_format(e, ", \"%.100s\"", element->name ? element->name : "");
  return true;
}

bool emit_inside_part(Emit *e, const Expr *part) {
  int message = find_message(e, part->pos, RG_ERROR_INDEX_RANGE, "index ");
  Shape of = emit_shape(e, part->left);
  if (message < 0) return false;
  emit_site(e, "inside_part", message);
  emit_format(e, ", %d, %s, ", type_rows(of), type_is_matrix(of) ? "true" : "false");
  return true;
}

/* -- locals ------------------------------------------------------------------------------------ */

static bool is_tracked(const Emit *e, const Local *local) {
  return e->s->input->debug & SEMA_DEBUG_LOCALS && type_is_scalar(local->shape) && !local->is_alias;
}

/* The chunk's table records, under a number per local, whether it has a value. */
void emit_note_set(Emit *e, const Local *local, bool is_set) {
  if (is_tracked(e, local))
    emit_format(e, "; _rg_r[-%d] = %s", local->id + 1, is_set ? "true" : "nil");
}

bool emit_checked_local(Emit *e, const Expr *use) {
  const Local *local = use->local;
  const char *text =
      scratch_format(e->scratch, "'%.*s' has no value yet", local->name.length, local->name.data);
  if (!is_tracked(e, local)) return false;
  int message = find_message(e, use->pos, RG_ERROR_UNSET, text);
  if (message < 0) return false;
  emit_site(e, "assigned", message);
  emit_format(e, ", %d, \"%.*s\", ", local->id + 1, local->name.length, local->name.data);
  return true;
}
