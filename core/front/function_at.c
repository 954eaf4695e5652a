/* function_at.c - finds a function of a chunk by its lines. It matches `end`s among the tokens, and
 * parses only the function itself. */
#include <string.h>

#include "front/parse.h"
#include "front/parser.h"

typedef VEC(int) Places; /* numbers of tokens */

typedef struct Search {
  Source *source;
  Tokens tokens;
  int32_t line_defined, last_line;
  Places found; /* the `function` of each function on those lines, in the order of their ends */
  int failed;   /* the first candidate that does not parse; -1: none */
} Search;

/* `function` at token `at`, with the dotted name of a declaration if it has one. */
static Ast *parse_candidate(const Search *search, int at, Error *err) {
  Source *source = search->source;
  Parser *p = parser_create(source, search->tokens, err);
  StrBuf name;
  bool is_method = false;
  strbuf_init(&name, p->scratch);
  p->at = at;
  Pos keyword = parser_current(p)->pos;
  parser_next(p);
  while (parser_is(p, TOKEN_NAME) || parser_is(p, TOKEN_DOT) || parser_is(p, TOKEN_COLON)) {
    Str part = token_source(source, parser_current(p));
    is_method |= parser_is(p, TOKEN_COLON);
    strbuf_add(&name, part.data, part.length);
    parser_next(p);
  }
  AstFunction *function = parse_body(p, keyword, str_of(strbuf_end(&name)), is_method);
  return parser_finish(p, function, (AstBlock){0});
}

/* LuaJIT counts the lines of a declaration from `function`, those of an expression and of a local
 * function from the parenthesis. */
static bool begins_there(const Search *search, int at) {
  const Token *token = &search->tokens.items[at]; /* END follows at the latest */
  bool is_named = token[1].kind == TOKEN_NAME;
  TokenKind before = at > 0 ? token[-1].kind : TOKEN_END;
  bool is_local = is_named && (before == TOKEN_LOCAL || before == TOKEN_NAME); /* `const` */
  if (is_local && token[2].kind == TOKEN_LEFT_PAREN) token += 2;
  else if (!is_named) token += 1;
  return token->pos.line == search->line_defined;
}

/* Matches every block with its end. */
static void search_run(Search *search) {
  const Token *tokens = search->tokens.items;
  Places open = {0};
  search->failed = -1;
  for (int at = 0; at < search->tokens.count; at++) {
    TokenKind kind = tokens[at].kind;
    if (token_opens_block(kind)) vec_push(search->source->work, &open, at);
    if ((kind != TOKEN_END_KEYWORD && kind != TOKEN_UNTIL) || open.count == 0) continue;
    int from = open.items[--open.count];
    if (tokens[from].kind == TOKEN_FUNCTION && begins_there(search, from) &&
        tokens[at].pos.line == search->last_line)
      vec_push(search->source->work, &search->found, from);
  }
  for (int k = 0; k < open.count && search->failed < 0; k++) /* without an end */
    if (tokens[open.items[k]].kind == TOKEN_FUNCTION && begins_there(search, open.items[k]))
      search->failed = open.items[k];
}

static Str function_text(const Ast *ast) {
  int32_t start = ast->function->pos.offset;
  return (Str){ast->source->text.data + start, ast->function->end.offset - start};
}

static void fail_ambiguous(Error *err, const Ast *second) {
  AstFunction *function = second->function;
  diag_error(err, second->source, function->pos, 8, RG_ERROR_SOURCE,
             "two functions on line %d cannot be told apart: compiled by Lua they are the same",
             function->pos.line);
  error_hint(err, "put them on separate lines");
}

static void fail_missing(Error *err, const Search *search) {
  error_set(err, RG_ERROR_SOURCE,
            "no function that begins on line %d and ends on line %d of '%.100s' was found",
            search->line_defined, search->last_line, search->source->name);
  error_hint(err, "the file may have changed since it was loaded");
}

/* Chooses among the candidates; NULL without an error if none parses. */
static Ast *choose(Search *search, const char *which, Error *err) {
  Ast *chosen = NULL;
  for (int number = 0; number < search->found.count; number++) {
    if (which && which[number] != '1') continue;
    Ast *ast = parse_candidate(search, search->found.items[number], NULL);
    if (!ast && search->failed < 0) search->failed = search->found.items[number];
    if (!ast) continue;
    if (chosen && !str_equal(function_text(chosen), function_text(ast))) {
      fail_ambiguous(err, ast);
      return NULL;
    }
    if (!chosen) chosen = ast;
  }
  return chosen;
}

Ast *parse_function_at(Source *source, int32_t line_defined, int32_t last_line, const char *which,
                       Error *err) {
  Search search = {.source = source,
                   .tokens = lexer_run(source),
                   .line_defined = line_defined,
                   .last_line = last_line};
  search_run(&search);
  bool is_expected = !which || (int)strlen(which) == search.found.count;
  Ast *chosen = is_expected ? choose(&search, which, err) : NULL;
  if (chosen || error_is_set(err)) return chosen;
  if (search.failed >= 0) parse_candidate(&search, search.failed, err);
  if (!error_is_set(err)) fail_missing(err, &search);
  return NULL;
}
