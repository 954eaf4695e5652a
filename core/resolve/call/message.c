/* message.c - print, assert and error: splits their messages into pieces of text and values.
 *
 *     print(("x = %5.2f"):format(x), v .. " m")
 *        "x = "  x with "%5.2f"  tab  v  " m"
 *
 * A kernel may use strings only here: literals, captured ones, `..`, format, tostring. The text is
 * composed at run time by kernel/report/message.c (arch = "lua": oracle/message.lua). */
#include "resolve/resolve.h"

enum { MOST_NUMBERS = IR_MESSAGE_VALUES - SNODE_MAX_AXES };

typedef struct Composer {
  Resolve *r;
  MessageCall *call;
  bool is_joined;     /* inside `..` */
  const char *format; /* of the argument that is added; NULL: none */
} Composer;

static void add(Composer *s, MessagePiece piece) {
  piece.format = s->format;
  piece.is_joined = s->is_joined;
  vec_push(s->r->scratch, &s->call->pieces, piece);
}

static void add_text(Composer *s, Str text) {
  if (text.length) add(s, (MessagePiece){.kind = PIECE_TEXT, .text = text});
}

static void add_argument(Composer *s, Expr *e);

/* -- formats ----------------------------------------------------------------------------------- */

/* The length of the conversion at a `%`; 0 if Lua does not know it. */
static int conversion_length(Str text) {
  int at = 1, digits = 0;
  while (at < text.length && strchr("-+ #0", text.data[at])) at++;
  if (at > 6) return 0;
  while (at < text.length && text.data[at] >= '0' && text.data[at] <= '9') at++, digits++;
  if (digits > 2) return 0;
  if (at < text.length && text.data[at] == '.') {
    for (at++, digits = 0; at < text.length && text.data[at] >= '0' && text.data[at] <= '9'; at++)
      digits++;
    if (digits > 2) return 0;
  }
  bool is_known = at < text.length && text.data[at] && strchr("diuxXoceEfgGs", text.data[at]);
  return is_known ? at + 1 : 0;
}

static bool fail_format(Composer *s, const Expr *at, const char *hint, const char *sentence) {
  return sema_fail(s->r->s, at, RG_ERROR_CALL, hint, "%s", sentence);
}

/* Adds `text`, with an argument for each conversion, from number `next` of the list on. */
static void add_format(Composer *s, const Expr *at, Str text, const Exprs *list, int next) {
  int from = 0, given = list->count - next, wanted = 0;
  for (int i = 0; i < text.length && !s->r->s->failed; i++) {
    if (text.data[i] != '%') continue;
    add_text(s, (Str){text.data + from, i - from});
    bool is_percent = i + 1 < text.length && text.data[i + 1] == '%';
    Str rest = {text.data + i, text.length - i};
    int length = is_percent ? 2 : conversion_length(rest);
    if (is_percent) add_text(s, STR("%"));
    if (!length) {
      fail_format(s, at, "formats are %d %i %u %x %X %o %c %e %g %f %s and %%, as in Lua",
                  "this format has a '%' that kernels do not support");
      return;
    }
    if (!is_percent && ++wanted <= given) {
      s->format = scratch_copy_text(s->r->scratch, rest.data, (size_t)length);
      add_argument(s, list->items[next + wanted - 1]);
      s->format = NULL;
    }
    i += length - 1;
    from = i + 1;
  }
  if (wanted != given)
    sema_fail(s->r->s, at, RG_ERROR_CALL_COUNT, NULL, "this format takes %d %s, but here %s %d",
              wanted, wanted == 1 ? "value" : "values", given == 1 ? "is" : "are", given);
  add_text(s, (Str){text.data + from, text.length - from});
}

/* -- arguments --------------------------------------------------------------------------------- */

/* The name of the function that `e` calls, if it matters here: "tostring", "string.format". */
static const char *callee_of(Composer *s, Expr *e) {
  bool is_name = e->kind == AST_CALL && (e->left->kind == AST_GLOBAL || e->left->kind == AST_FIELD);
  Entity callee = is_name ? resolve_expr(s->r, e->left) : (Entity){0};
  return callee.kind == ENTITY_BUILTIN ? callee.name : "";
}

static bool refuse_inside(Composer *s, const Expr *e) {
  return !s->format || fail_format(s, e, "put the text into the format itself",
                                   "a format takes numbers, booleans and strings");
}

/* Adds a string that is captured or a parameter; false if it is something else. */
static bool add_string(Composer *s, Expr *e) {
  bool is_name = e->kind == AST_GLOBAL || e->kind == AST_FIELD || e->kind == AST_LOCAL;
  Entity entity = is_name ? resolve_expr(s->r, e) : (Entity){0};
  if (entity.kind != ENTITY_OTHER || entity.other.value != VALUE_STRING) return false;
  add(s, (MessagePiece){.kind = PIECE_STRING, .string = entity.other.source});
  return true;
}

static bool calls(const Expr *e) {
  if (!e) return false;
  if (e->inlined || e->invoked || e->call.kind == CALL_METHOD) return true;
  for (int i = 0; i < e->list.count; i++)
    if (calls(e->list.items[i])) return true;
  return calls(e->left) || calls(e->right) || calls(e->third);
}

static void add_value(Composer *s, Expr *e);

/* Adds a struct member by member; the result of a call is stored in a local first. */
static void add_struct(Composer *s, Expr *e) {
  TypeRow row = type_row(s->r->input->types, shape_of(e));
  if (s->format || calls(e)) {
    sema_fail(s->r->s, e, RG_ERROR_UNSUPPORTED,
              s->format ? "take its members: p.mass" : "put it into a local first",
              "this is %s, which cannot be printed", shape_text(s->r->s, shape_of(e)));
    return;
  }
  for (int k = 0; k < row.member_count; k++) {
    const char *name = row.members[k].name;
    add_text(s, str_of(scratch_format(s->r->scratch, "%s%s = ", k ? ", " : "{", name)));
    add_value(s, struct_part(s->r, e, str_of(name)));
  }
  add_text(s, STR("}"));
}

static void add_value(Composer *s, Expr *e) {
  if (e->kind == AST_NIL && s->is_joined) {
    sema_fail(s->r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "'..' joins strings and numbers, not nil");
  } else if (e->kind == AST_NIL) {
    add_text(s, STR("nil"));
  } else if (!add_string(s, e) && resolve_value(s->r, e)) {
    if (type_is_array(shape_of(e))) {
      sema_fail(s->r->s, e, RG_ERROR_UNSUPPORTED, "print its elements, or #a",
                "this is %s, which cannot be printed", shape_text(s->r->s, shape_of(e)));
      return;
    }
    if (type_is_struct(shape_of(e))) {
      add_struct(s, e);
      return;
    }
    s->call->has_calls |= calls(e);
    add(s, (MessagePiece){.kind = PIECE_VALUE, .value = e});
  }
}

static void add_joined(Composer *s, Expr *e) {
  bool outer = s->is_joined;
  s->is_joined = true;
  add_argument(s, e->left);
  add_argument(s, e->right);
  s->is_joined = outer;
}

static void add_shown(Composer *s, Expr *e) {
  bool outer = s->is_joined;
  s->is_joined = false;
  if (e->list.count != 1)
    sema_fail(s->r->s, e, RG_ERROR_CALL_COUNT, NULL, "'tostring' takes 1 argument, %d given",
              e->list.count);
  else add_value(s, sema_strip(e->list.items[0]));
  s->is_joined = outer;
}

static void add_argument(Composer *s, Expr *given) {
  Expr *e = sema_strip(given);
  if (s->r->s->failed) return;
  if (e->kind == AST_STRING) {
    add_text(s, e->text);
    return;
  }
  const char *callee = callee_of(s, e);
  bool is_method =
      e->kind == AST_METHOD && str_is(e->text, "format") && sema_strip(e->left)->kind == AST_STRING;
  bool is_join = e->kind == AST_BINARY && e->op == AST_CONCAT;
  if (is_join) {
    if (refuse_inside(s, e)) add_joined(s, e);
  } else if (!strcmp(callee, "tostring")) {
    add_shown(s, e);
  } else if (is_method) {
    if (refuse_inside(s, e)) add_format(s, e, sema_strip(e->left)->text, &e->list, 0);
  } else if (!strcmp(callee, "string.format")) {
    if (!refuse_inside(s, e)) return;
    if (e->list.count && sema_strip(e->list.items[0])->kind == AST_STRING)
      add_format(s, e, sema_strip(e->list.items[0])->text, &e->list, 1);
    else
      fail_format(s, e, "write (\"%g\"):format(x)",
                  "a format in a kernel must be a literal string");
  } else {
    add_value(s, e);
  }
}

static void add_arguments(Composer *s, const Exprs *list, int first, Str between) {
  for (int i = first; i < list->count; i++) {
    if (i > first) add_text(s, between);
    add_argument(s, list->items[i]);
  }
}

/* -- the three --------------------------------------------------------------------------------- */

static bool check_size(Resolve *r, const Expr *e) {
  int numbers = 0;
  for (int i = 0; i < e->message->pieces.count; i++)
    if (e->message->pieces.items[i].kind == PIECE_VALUE)
      numbers += type_parts(shape_of(e->message->pieces.items[i].value));
  return numbers <= MOST_NUMBERS ||
         sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "split it into several calls",
                   "one call prints at most %d numbers, but these are %d", MOST_NUMBERS, numbers);
}

static void resolve_assert(Composer *s, Expr *e) {
  MessageCall *call = s->call;
  call->code = RG_ERROR_ASSERT;
  call->condition = e->list.items[0];
  resolve_scalar(s->r, call->condition);
  if (e->list.count > 1) {
    add_arguments(s, &e->list, 1, STR(" "));
    return;
  }
  add_text(s, STR("assertion failed: "));
  add_text(s, str_of(sema_source(s->r->s, call->condition)));
}

static void resolve_error(Composer *s, Expr *e) {
  double level;
  s->call->code = RG_ERROR_ERROR;
  if (e->list.count == 2 && !sema_is_constant(e->list.items[1], &level))
    sema_fail(s->r->s, e->list.items[1], RG_ERROR_CALL,
              "join texts and values with '..', or use a format",
              "the second argument of 'error' is its level, which has no effect in a kernel");
  if (e->list.count) add_argument(s, e->list.items[0]);
  else add_text(s, STR("error"));
}

Entity message_call(Resolve *r, Expr *e, const Builtin *builtin) {
  Composer composer = {.r = r, .call = scratch_new(r->scratch, MessageCall)};
  e->message = composer.call;
  if (r->called) r->called->has_messages = true;
  if (!strcmp(builtin->name, "print")) add_arguments(&composer, &e->list, 0, STR("\t"));
  else if (!strcmp(builtin->name, "assert")) resolve_assert(&composer, e);
  else resolve_error(&composer, e);
  bool ok = !r->s->failed && check_size(r, e) && resolve_refuse_multiple(r, &e->list);
  return ok ? (Entity){.kind = ENTITY_VOID, .name = builtin->name} : (Entity){0};
}
