/* report.c - the errors of a kernel: every failed statement, each error once, in source order.
 *
 *     sema_fail:    recorded, `failed` is set, the rest of the statement continues harmlessly
 *     sema_recover: the statement is over: what it declares and assigns is poisoned
 *     sema_poison: a failure caused by one already reported; not shown
 *
 * Duplicates are recognized by their message: an unknown name is reported at its first use only;
 * copies of one source (an unrolled loop, a function called twice) fail at one place. */
#include <stdio.h>

#include "typed/typed.h"

enum { MOST_KEPT = 200 }; /* more would not help */

struct Diag {
  Error error;
  /* the byte offset in the kernel of the error or of the call that leads to it; the byte offset in
   * its own source */
  int order, inner;
  VEC(Error) notes;
};

/* -- recording --------------------------------------------------------------------------------- */

static bool is_about_name(ErrorCode code) {
  return code == RG_ERROR_NAME_UNKNOWN || code == RG_ERROR_NAME_NIL ||
         code == RG_ERROR_FIELD_UNPLACED;
}

static bool is_duplicate(const Error *a, const Error *b) {
  if (a->code != b->code || strcmp(a->file, b->file) != 0) return false;
  if (is_about_name(a->code) && !strcmp(a->message, b->message)) return true;
  return a->line == b->line && a->column == b->column;
}

static bool is_reported(const Sema *s, const Error *error) {
  for (int i = 0; i < s->diags.count; i++)
    if (is_duplicate(&s->diags.items[i]->error, error)) return true;
  return false;
}

static Error place(const Source *source, Pos pos, int width, ErrorCode code, const char *text) {
  Error error = {0};
  diag_error(&error, source, pos, width, code, "%s", text);
  return error;
}

/* The calls that lead to a called function's source; errors are ordered by the outermost one. */
static void add_calls(Sema *s, Diag *diag) {
  for (const Inline *in = s->frame; in; in = in->outer) {
    if (!in->call) continue;
    const Source *source = in->call_source ? in->call_source
                           : in->outer     ? in->outer->source
                                           : s->input->ast->source;
    char text[120];
    snprintf(text, sizeof text, "'%.80s' is called here", in->name);
    Error note = place(source, in->call->pos, in->call->width, diag->error.code, text);
    note.is_note = true;
    vec_push(s->scratch, &diag->notes, note);
    diag->order = in->call->pos.offset;
  }
}

static bool fail_va(Sema *s, Pos pos, int width, ErrorCode code, const char *hint,
                    const char *format, va_list args) {
  char message[400];
  if (s->failed) return false;
  sema_poison(s);
  vsnprintf(message, sizeof message, format, args);
  Error error = place(sema_text_source(s), pos, width, code, message);
  if (hint) error_hint(&error, "%s", hint);
  if (is_reported(s, &error) || s->diags.count >= MOST_KEPT) return false;
  s->latest = scratch_new(s->scratch, Diag);
  *s->latest = (Diag){.error = error, .order = pos.offset, .inner = pos.offset};
  vec_push(s->scratch, &s->diags, s->latest);
  add_calls(s, s->latest);
  return false;
}

bool sema_fail(Sema *s, const Expr *at, ErrorCode code, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail_va(s, at->pos, at->width, code, hint, format, args);
  va_end(args);
  return false;
}

bool sema_fail_pos(Sema *s, Pos pos, int width, ErrorCode code, const char *hint,
                   const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail_va(s, pos, width, code, hint, format, args);
  va_end(args);
  return false;
}

bool sema_note(Sema *s, const Source *source, Pos pos, int width, const char *format, ...) {
  char message[400];
  va_list args;
  if (!s->latest) return false;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  Error note =
      place(source ? source : sema_text_source(s), pos, width, s->latest->error.code, message);
  note.is_note = true;
  vec_push(s->scratch, &s->latest->notes, note);
  return false;
}

/* -- recovery ---------------------------------------------------------------------------------- */

bool sema_poison(Sema *s) {
  s->failures += !s->failed;
  s->failed = true;
  s->latest = NULL;
  return false;
}

static void poison_local(Local *local) { local->is_declared = local->is_poisoned = true; }

/* A local that is also assigned elsewhere keeps its known facts. */
static void poison_target(Sema *s, const Expr *target) {
  while (target->kind == AST_PAREN || target->kind == AST_FIELD || target->kind == AST_INDEX)
    target = target->left;
  if (target->kind == AST_LOCAL && target->local && !target->local->has_shape)
    poison_local(target->local);
}

bool sema_recover(Sema *s, Stmt *stmt) {
  if (!s->failed) return false;
  s->failed = false;
  s->is_broken = true;
  s->latest = NULL;
  stmt->is_broken = true;
  for (int i = 0; i < stmt->locals.count; i++) poison_local(stmt->locals.items[i]);
  for (int i = 0; i < stmt->targets.count; i++) poison_target(s, stmt->targets.items[i]);
  return true;
}

bool sema_recover_head(Sema *s, Stmt *stmt) {
  if (!sema_recover(s, stmt)) return false;
  stmt->is_head_broken = true;
  return true;
}

bool sema_recover_apart(Sema *s) {
  bool failed = s->failed;
  s->is_broken |= failed;
  s->failed = false;
  s->latest = NULL;
  return failed;
}

/* -- reporting --------------------------------------------------------------------------------- */

static bool is_before(const Diag *a, const Diag *b) {
  return a->order != b->order ? a->order < b->order : a->inner < b->inner;
}

static void sort(Sema *s) {
  for (int i = 1; i < s->diags.count; i++) {
    Diag *diag = s->diags.items[i];
    int at = i;
    for (; at > 0 && is_before(diag, s->diags.items[at - 1]); at--)
      s->diags.items[at] = s->diags.items[at - 1];
    s->diags.items[at] = diag;
  }
}

bool sema_report(Sema *s) {
  sort(s);
  for (int i = 0; i < s->diags.count; i++) {
    Diag *diag = s->diags.items[i];
    Error *entry = error_add(s->err, &diag->error);
    for (int k = 0; entry && k < diag->notes.count; k++) error_add(s->err, &diag->notes.items[k]);
  }
  s->diags.count = 0;
  s->is_broken |= s->failed;
  return !s->is_broken;
}
