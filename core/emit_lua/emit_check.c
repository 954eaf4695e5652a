/* emit_check.c - the checks of debug = true: operations that end the launch, at the same places
 * where `lower` inserts checks.
 *
 *     a + b       _rg.sure(_rg_r, 3, {i}, "add", "i32")(a, b)
 *     x[i]        _rg_f[0].get(_rg_f[0], _rg.inside(_rg_r, 4, {i}, _rg_f[0], "x", i))
 *
 * 3 is the number of the message that `lower` made for this operation, from which the core makes
 * the error; its text comes from lua/regolith/oracle/check.lua. Without such a message nothing is
 * checked. */
#include "emit_lua/emit.h"

static bool has_piece(const SemaMessage *message, const char *text) {
  for (int k = 0; k < message->pieces.count; k++) {
    const SemaPiece *piece = &message->pieces.items[k];
    if (piece->kind == PIECE_TEXT && str_is(piece->text, text)) return true;
  }
  return false;
}

/* Is the message that of this expansion of a function? Each call has its own. */
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

static void emit_check_call(Emit *e, const char *operation, int message) {
  emit_format(e, "_rg.%s(_rg_r, %d, ", operation, message);
  emit_iteration(e);
}

static const char *message_text(Emit *e, const char *name, Type type) {
  static const char *const texts[][2] = {
      {"add", " + "},      {"sub", " - "}, {"mul", " * "},  {"floordiv", " // "},
      {"ceildiv", " // "}, {"mod", " % "}, {"shl", " << "}, {"shr", " >> "},
      {"sar", " ~>> "},    {"neg", "-("},  {"abs", "-("}};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    if (!strcmp(name, texts[k][0])) return texts[k][1];
  if (strncmp(name, "to_", 3)) return NULL;
  return scratch_format(e->scratch, " does not fit into %s %s", type_is_signed(type) ? "an" : "a",
                        name + 3);
}

void emit_function_name(Emit *e, Pos pos, const char *name, Type type) {
  Type result = type;
  if (!strncmp(name, "to_", 3)) type_parse(str_of(name + 3), &result);
  const char *piece = message_text(e, name, result);
  int message = piece ? find_message(e, pos, RG_ERROR_ARITHMETIC, piece) : -1;
  if (message < 0) {
    emit_format(e, "_rg.%s_%s", name, type_text(type));
    return;
  }
  emit_check_call(e, "sure", message);
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
  vec_push(e->scratch, &e->checked_reductions, message);
  emit_format(e, "_rg.reducer(_rg_r, %d, \"%.*s\", \"%s\", \"%s\")", message, local->name.length,
              local->name.data, name, type_text(type));
}

void emit_reduction_checks(Emit *e) {
  for (int k = 0; k < e->checked_reductions.count; k++)
    emit_format(e, "; _rg.total(_rg_r, %d)", e->checked_reductions.items[k]);
  e->checked_reductions.count = 0;
}

bool emit_index_check(Emit *e, Pos pos, const Entity *element) {
  int message = find_message(e, pos, RG_ERROR_INDEX_RANGE, "index ");
  if (message < 0) return false;
  emit_text(e, ", ");
  emit_check_call(e, "inside", message);
  emit_text(e, ", ");
  emit_launch_field(e, element->field.source);
  emit_format(e, ", \"%.100s\"", element->name ? element->name : "");
  return true;
}

bool emit_part_index_check(Emit *e, const Expr *part) {
  int message = find_message(e, part->pos, RG_ERROR_INDEX_RANGE, "index ");
  Shape of = emit_shape(e, part->left);
  if (message < 0) return false;
  emit_check_call(e, "inside_part", message);
  emit_format(e, ", %d, %s, ", type_rows(of), type_is_matrix(of) ? "true" : "false");
  return true;
}

/* -- locals ------------------------------------------------------------------------------------ */

static bool is_tracked(const Emit *e, const Local *local) {
  return e->s->input->debug & SEMA_DEBUG_LOCALS && type_is_scalar(local->shape) && !local->is_alias;
}

/* The chunk's table records, under a number per local, whether it has a value. */
void emit_mark_assigned(Emit *e, const Local *local, bool is_set) {
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
  emit_check_call(e, "assigned", message);
  emit_format(e, ", %d, \"%.*s\", ", local->id + 1, local->name.length, local->name.data);
  return true;
}
