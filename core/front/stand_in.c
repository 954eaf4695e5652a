/* stand_in.c - see stand_in.h. Works on tokens alone: every name that may denote a variable is
 * taken, so a stand-in may capture more than the function does, never less. */
#include "front/stand_in.h"

#include <inttypes.h>

#include "base/map.h"
#include "front/lexer.h"

typedef struct Span {
  int first, last; /* tokens: `function`, `end` */
  Str name;        /* as declared, only the part after the last dot; "": none */
  bool is_wanted;  /* a kernel, or used by one */
  bool has_kernel; /* inside it */
} Span;

typedef struct Search {
  Source *source;
  Tokens tokens;
  VEC(Span) spans; /* in the order of their beginnings */
  Map used;        /* names in wanted functions */
} Search;

static const Token *token_at(const Search *search, int at) {
  static const Token none = {.kind = TOKEN_END};
  return at >= 0 && at < search->tokens.count ? &search->tokens.items[at] : &none;
}

static bool is_at(const Search *search, int at, TokenKind kind) {
  return token_at(search, at)->kind == kind;
}

static Str name_at(const Search *search, int at) {
  return is_at(search, at, TOKEN_NAME) ? token_source(search->source, token_at(search, at))
                                       : STR("");
}

/* -- which functions --------------------------------------------------------------------------- */

/* `f` of `function a.b.f(`, `local function f(`, `f = function(`. */
static Str declared_name(const Search *search, int at) {
  if (is_at(search, at - 1, TOKEN_ASSIGN)) return name_at(search, at - 2);
  int name = at + 1;
  while (is_at(search, name + 1, TOKEN_DOT) || is_at(search, name + 1, TOKEN_COLON)) name += 2;
  return name_at(search, name);
}

/* Is token `at` the first argument of `kernel(`, also through `pcall(rg.kernel, `? */
static bool is_kernel_argument(const Search *search, int at) {
  bool is_argument = is_at(search, at - 1, TOKEN_LEFT_PAREN) || is_at(search, at - 1, TOKEN_COMMA);
  return is_argument && str_is(name_at(search, at - 2), "kernel");
}

typedef VEC(int) Places; /* of tokens, or for functions -1 - the number of the span */

static void open_block(Search *search, Places *open, int at) {
  Scratch *work = search->source->work;
  bool is_function = is_at(search, at, TOKEN_FUNCTION);
  vec_push(work, open, is_function ? -1 - search->spans.count : at);
  if (!is_function) return;
  Span span = {.first = at,
               .last = -1,
               .name = declared_name(search, at),
               .is_wanted = is_kernel_argument(search, at)};
  for (int k = 0; span.is_wanted && k < open->count - 1; k++)
    if (open->items[k] < 0) search->spans.items[-1 - open->items[k]].has_kernel = true;
  vec_push(work, &search->spans, span);
}

static void find_spans(Search *search) {
  Places open = {0};
  for (int at = 0; at < search->tokens.count; at++) {
    TokenKind kind = token_at(search, at)->kind;
    if (token_opens_block(kind)) open_block(search, &open, at);
    if (kind != TOKEN_END_KEYWORD && kind != TOKEN_UNTIL) continue;
    if (!open.count) return;
    int from = open.items[--open.count];
    if (from < 0) search->spans.items[-1 - from].last = at;
  }
}

static void note_names(Search *search, const Span *span) {
  for (int at = span->first; at < span->last; at++)
    if (is_at(search, at, TOKEN_NAME)) map_put(&search->used, name_at(search, at), search);
}

/* Notes functions passed by name: `kernel(step)`, `kernel(solver.step)`. */
static void note_kernel_arguments(Search *search) {
  for (int at = 0; at < search->tokens.count; at++) {
    if (!is_at(search, at, TOKEN_NAME) || !is_kernel_argument(search, at)) continue;
    int last = at;
    while (is_at(search, last + 1, TOKEN_DOT) && is_at(search, last + 2, TOKEN_NAME)) last += 2;
    map_put(&search->used, name_at(search, last), search);
  }
}

static bool becomes_wanted(const Search *search, const Span *span) {
  return !span->is_wanted && !span->has_kernel && span->name.length &&
         map_find(&search->used, span->name);
}

static void mark_used(Search *search) {
  bool found = true;
  note_kernel_arguments(search);
  for (int k = 0; k < search->spans.count; k++)
    if (search->spans.items[k].is_wanted) note_names(search, &search->spans.items[k]);
  while (found) {
    found = false;
    for (int k = 0; k < search->spans.count; k++) {
      Span *span = &search->spans.items[k];
      if (!becomes_wanted(search, span)) continue;
      span->is_wanted = found = true;
      note_names(search, span);
    }
  }
}

/* -- their text -------------------------------------------------------------------------------- */

/* The token of the parameters' parenthesis, which only a name may precede; or -1. */
static int find_parenthesis(const Search *search, const Span *span) {
  int at = span->first + 1;
  while (is_at(search, at, TOKEN_NAME) || is_at(search, at, TOKEN_DOT) ||
         is_at(search, at, TOKEN_COLON))
    at++;
  return is_at(search, at, TOKEN_LEFT_PAREN) ? at : -1;
}

/* Writes as many newlines as the text has, such that no two count as one. */
static void write_newlines(Str text, StrBuf *out) {
  for (int k = 0; k < text.length; k++) {
    char c = text.data[k], next = k + 1 < text.length ? text.data[k + 1] : 0;
    if (c != '\n' && c != '\r') continue;
    strbuf_text(out, " \n");
    if ((next == '\n' || next == '\r') && next != c) k++;
  }
}

/* `function` and the name, the parenthesis on its line, the parameters without their types. */
static void write_head(const Search *search, const Span *span, StrBuf *out) {
  int at = find_parenthesis(search, span), depth = 0;
  int32_t begin = token_at(search, span->first)->pos.offset;
  for (int k = span->first; k < at; k++) {
    Str part = token_source(search->source, token_at(search, k));
    strbuf_add(out, part.data, part.length);
    if (k == span->first && at > k + 1) strbuf_char(out, ' ');
  }
  write_newlines((Str){search->source->text.data + begin, token_at(search, at)->pos.offset - begin},
                 out);
  strbuf_char(out, '(');
  for (; at < span->last; at++) {
    bool begins = depth == 1 &&
                  (is_at(search, at - 1, TOKEN_LEFT_PAREN) || is_at(search, at - 1, TOKEN_COMMA));
    if (begins && is_at(search, at - 1, TOKEN_COMMA)) strbuf_text(out, ", ");
    Str name = name_at(search, at);
    if (begins && name.length) strbuf_add(out, name.data, name.length);
    if (begins && is_at(search, at, TOKEN_DOTS)) strbuf_text(out, "...");
    depth += is_at(search, at, TOKEN_LEFT_PAREN) - is_at(search, at, TOKEN_RIGHT_PAREN);
    if (depth == 0) break;
  }
  strbuf_text(out, ") ");
}

/* Is it a keyword of newer Lua versions? */
static bool is_word(Str name) {
  return str_is(name, "continue") || str_is(name, "const") || str_is(name, "goto");
}

/* A host has at most 60 upvalues and 200 locals: values of one statement take registers. */
static void write_names(const Search *search, int first, int last, StrBuf *out) {
  enum { PER_STATEMENT = 50 };
  Map seen;
  int count = 0;
  map_init(&seen, search->source->work);
  for (int at = first; at < last; at++) {
    Str name = name_at(search, at);
    if (!name.length || is_at(search, at - 1, TOKEN_DOT) || is_word(name) || map_find(&seen, name))
      continue;
    map_put(&seen, name, out);
    if (count && count % PER_STATEMENT == 0) strbuf_text(out, " end do local _ = ");
    else strbuf_text(out, ", ");
    strbuf_add(out, name.data, name.length);
    count++;
  }
}

static void write_body(const Search *search, const Span *span, StrBuf *out) {
  const Token *first = token_at(search, span->first), *last = token_at(search, span->last);
  int paren = find_parenthesis(search, span);
  int32_t begin = first->pos.offset, end = last->pos.offset + last->length,
          inside = token_at(search, paren)->pos.offset;
  const char *text = search->source->text.data;
  bool has_name = span->name.length > 0 && span->name.length < 100;
  strbuf_text(out, "error(\"");
  if (has_name) strbuf_format(out, "'%.*s'", span->name.length, span->name.data);
  else strbuf_text(out, "this function");
  strbuf_format(out,
                " (line %d) is in the kernel language, beyond what this Lua reads: only kernels "
                "can call it\", 2) ",
                first->pos.line);
  strbuf_format(out, "do local _ = %" PRIu32,
                (uint32_t)hash_bytes(0, text + begin, (size_t)(end - begin)));
  write_names(search, paren, span->last, out);
  strbuf_text(out, " end");
  write_newlines((Str){text + inside, last->pos.offset - inside}, out);
  strbuf_text(out, " end");
}

static StandIn make(const Search *search, const Span *span) {
  const Token *first = token_at(search, span->first), *last = token_at(search, span->last);
  StrBuf out;
  strbuf_init(&out, search->source->scratch);
  write_head(search, span, &out);
  write_body(search, span, &out);
  return (StandIn){.begin = first->pos.offset,
                   .end = last->pos.offset + last->length,
                   .text = str_of(strbuf_end(&out))};
}

StandIns stand_ins_find(Source *source) {
  Search search = {.source = source, .tokens = lexer_run(source)};
  StandIns found = {0};
  int past = 0; /* the tokens of those found */
  map_init(&search.used, source->work);
  find_spans(&search);
  mark_used(&search);
  for (int k = 0; k < search.spans.count; k++) {
    const Span *span = &search.spans.items[k];
    if (!span->is_wanted || span->first < past || span->last < 0 ||
        find_parenthesis(&search, span) < 0)
      continue;
    StandIn stand_in = make(&search, span);
    vec_push(source->scratch, &found, stand_in);
    past = span->last;
  }
  return found;
}
