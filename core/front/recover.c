/* recover.c - where parsing resumes after a statement that failed, so that one pass finds further
 * mistakes. A statement with a body is skipped up to its own `end`; any other one up to the next
 * statement: after a `;`, at a keyword that only begins statements, or at the first token of a line
 * when no bracket is open. If there is no such point, the rest would be misread, so nothing more is
 * reported. */
#include "front/parse.h"

static bool opens_block(TokenKind kind) {
  return kind == TOKEN_DO || kind == TOKEN_IF || kind == TOKEN_FUNCTION || kind == TOKEN_REPEAT ||
         kind == TOKEN_FOR || kind == TOKEN_WHILE;
}
static bool closes_block(TokenKind kind) {
  return kind == TOKEN_END_KEYWORD || kind == TOKEN_UNTIL;
}
static bool divides_block(TokenKind kind) { return kind == TOKEN_ELSE || kind == TOKEN_ELSEIF; }

static bool begins_statement(TokenKind kind) {
  return kind == TOKEN_LOCAL || kind == TOKEN_RETURN || kind == TOKEN_BREAK || kind == TOKEN_IF ||
         kind == TOKEN_FOR || kind == TOKEN_WHILE || kind == TOKEN_REPEAT || kind == TOKEN_DO;
}

static int bracket(TokenKind kind) {
  if (kind == TOKEN_LEFT_PAREN || kind == TOKEN_LEFT_BRACE || kind == TOKEN_LEFT_BRACKET) return 1;
  return kind == TOKEN_RIGHT_PAREN || kind == TOKEN_RIGHT_BRACE || kind == TOKEN_RIGHT_BRACKET ? -1
                                                                                               : 0;
}

/* Blocks open at a token: the `do` of a `for` or `while` does not open another. */
typedef struct Depth {
  int blocks, heads, brackets;
} Depth;

static void pass(Depth *depth, TokenKind kind) {
  bool is_own = kind == TOKEN_DO && depth->heads > 0;
  if (kind == TOKEN_FOR || kind == TOKEN_WHILE) depth->heads++;
  if (is_own) depth->heads--;
  if (opens_block(kind) && !is_own) depth->blocks++;
  if (closes_block(kind)) depth->blocks--;
  depth->brackets += bracket(kind);
}

static bool begins_line(const Parser *p, int at) {
  return p->tokens.items[at].pos.line > p->tokens.items[at - 1].last_line;
}

static bool ends_before(const Parser *p, int at, const Depth *depth) {
  TokenKind kind = p->tokens.items[at].kind;
  if (depth->blocks > 0) return false;
  if (closes_block(kind) || divides_block(kind)) return true;
  bool is_culprit = at == p->failed_at && !begins_line(p, at); /* x = if */
  if (begins_statement(kind) && !is_culprit) return true;
  return depth->brackets <= 0 &&
         (p->tokens.items[at - 1].kind == TOKEN_SEMICOLON || begins_line(p, at));
}

/* The first token after the statement, or END. */
static int find_end(const Parser *p, int first) {
  bool is_local_function = p->tokens.items[first].kind == TOKEN_LOCAL &&
                           p->tokens.items[first + 1].kind == TOKEN_FUNCTION;
  bool has_body = opens_block(p->tokens.items[first].kind) || is_local_function;
  Depth depth = {0};
  int at = first, last = p->tokens.count - 1;
  do {
    pass(&depth, p->tokens.items[at++].kind);
    if (has_body && depth.blocks == 0 && at > first + 1) return at;
  } while (at < last && (has_body || at < p->failed_at || !ends_before(p, at, &depth)));
  return at;
}

void recover_statement(Parser *p, int first) {
  if (!p->failed || p->is_abandoned) return;
  int at = find_end(p, first);
  if (at >= p->tokens.count - 1) {
    parser_abandon(p);
    return;
  }
  p->failed = false;
  p->at = at;
}
