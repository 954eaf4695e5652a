/* parse.h - what the parser's files share; private to front.
 * Failures are sticky: the parser keeps the first one and moves to the END token, where every loop
 * ends and every expectation fails silently. Parse functions always return a node, so they read as
 * a plain list of calls. The innermost block continues after the statement that failed (recover.c).
 * If brackets or `end`s do not match later, that is probably a consequence of the first failure, so
 * it ends the parse without a message. */
#ifndef RG_FRONT_PARSE_H
#define RG_FRONT_PARSE_H

#include "base/map.h"
#include "front/lexer.h"

enum { PARSE_MAX_DEPTH = 200 };

/* A `goto` whose label has not been parsed yet. */
typedef struct Goto {
  AstStmt *stmt;
  int local_count; /* declared before it */
  bool is_last;    /* in its block */
} Goto;

/* A loop around the statement being parsed. */
typedef struct Loop {
  struct Loop *outer;
  VEC(Goto) gotos;
  /* locals from here on are declared after the first `continue`; INT_MAX: there is none */
  int continue_id;
  int continue_line;
} Loop;

/* An enclosing function. */
typedef struct Frame {
  struct Frame *outer;
  AstFunction *function;
  Loop *loop;
  int tallest; /* expression so far */
  int deepest; /* block so far, counted from the function */
  int base_depth;
} Frame;

/* The first block whose `end` is not aligned with the line that opened it: a missing `end` is
 * likely there. */
typedef struct MisalignedEnd {
  const char *open; /* NULL: none */
  int open_line, end_line;
} MisalignedEnd;

/* A name in scope, and the one it shadows. */
typedef struct Binding {
  AstLocal *local, *hidden;
} Binding;

typedef struct Parser {
  Source *source;
  Scratch *scratch;
  Error *err;
  bool failed;       /* in the current statement: the parser is at the END token */
  bool is_broken;    /* something has failed: no Ast will be returned */
  bool is_abandoned; /* and nothing after it can be parsed */
  int failed_at;     /* the token that was current at the failure */
  Error *latest;     /* the error reported last */
  Error *reported;   /* the error that the last failed call reported, or NULL */
  Tokens tokens;
  int at;       /* the current token */
  int depth;    /* nesting of expressions and blocks */
  Frame *frame; /* NULL outside functions */
  Map visible;  /* name -> AstLocal */
  VEC(Binding) scope;
  int local_count;
  int else_if_line; /* of the first `else if`, 0: none */
  MisalignedEnd misaligned;
  bool is_text;       /* a text kernel: the text may have been cut by `]]` */
  int brackets;       /* `[` open here */
  bool no_method;     /* between `?` and `:`, where a colon is the conditional's */
  bool after_colon;   /* in the last part of a conditional */
  bool in_annotation; /* names are not resolved */
  /* While a `repeat`'s condition is parsed: locals [until_from, until_to) may be jumped over by a
   * `continue`. */
  int until_from, until_to, until_line;
} Parser;

/* parser.c */
Parser *parser_create(Source *source, Tokens tokens, Error *err);
/* NULL if anything has failed. */
Ast *parser_finish(Parser *p, AstFunction *function, AstBlock helpers);
const Token *parser_current(const Parser *p);
const Token *parser_ahead(const Parser *p, int count);
const Token *parser_last(const Parser *p); /* the one before the current */
bool parser_is(const Parser *p, TokenKind kind);
void parser_next(Parser *p);
bool parser_accept(Parser *p, TokenKind kind);
bool parser_is_adjacent(const Parser *p); /* no space between the last token and the current */

/* All return false; only the first failure has an effect. */
bool parser_fail(Parser *p, Pos pos, int32_t width, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool parser_fail_here(Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "'then' expected, found 'x'". */
bool parser_fail_expected(Parser *p, const char *what);
bool parser_fail_with(Parser *p, const Error *error); /* a failure that was found elsewhere */
bool parser_hint(Parser *p, const char *hint); /* to the failure reported by the preceding call */
/* A note on it: "declared here". */
bool parser_note(Parser *p, Pos pos, int32_t width, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Stops after the failure, since brackets or blocks do not match from there on. */
void parser_abandon(Parser *p);
bool parser_expect(Parser *p, TokenKind kind);
/* Expects the token that closes what `open` started at `start`. */
bool parser_match(Parser *p, TokenKind close, const char *open, Pos start);
Str parser_name(Parser *p); /* consumes a NAME; "" on failure */

bool parser_enter(Parser *p); /* one level deeper; pairs with parser_leave, also when it fails */
void parser_leave(Parser *p);

AstLocal *parser_new_local(Parser *p, Str name, Pos pos);
void parser_declare(Parser *p, AstLocal *local);
void parser_close_scope(Parser *p, int count); /* back to `count` bindings */

/* parse_expr.c */
AstExpr *parse_expr(Parser *p);
AstExpr *parse_suffixed(Parser *p); /* a name or parenthesis with its indices and calls */
AstExpr *parse_name_use(Parser *p);
AstExpr *parse_field(Parser *p, AstExpr *object); /* at the `.` or, in a declaration, at the `:` */
void parse_expr_list(Parser *p, AstExprs *list);
AstExpr *parse_annotation(Parser *p); /* `: T` or `--[[: T]]` here, or NULL */
void parse_annotations(Parser *p, AstExprs *types);

/* recover.c */
/* After a statement that began at token `first`: if it failed, continues after it. */
void recover_statement(Parser *p, int first);

/* parse_stmt.c */
void parse_block(Parser *p, AstBlock *block);
/* From the parameters to `end`. `self` is declared first for a method. */
AstFunction *parse_body(Parser *p, Pos keyword, Str name, bool is_method);
AstStmt *parse_local(Parser *p);
AstStmt *parse_function_statement(Parser *p); /* `function name(..)` */
AstStmt *parse_local_function(Parser *p);     /* at `local` or `const` before `function` */

/* parse_goto.c */
AstStmt *parse_goto(Parser *p);
AstStmt *parse_label(Parser *p);
void loop_note_continue(Loop *loop, int local_count, int line);
/* Takes the labels that end its body: a `goto` to one of them is a `continue`. */
void loop_take_labels(Parser *p, Loop *loop, AstBlock *body);

#endif
