/* parse_goto.c - Lua's `continue`: a `goto` to a label that ends the body of the innermost loop.
 *
 *     for k = 1, n do
 *       if skip then goto continue end      becomes CONTINUE
 *       ..
 *       ::continue::                        is dropped, as is every label at the end of a body
 *     end
 *
 * A goto comes before its label, so the loop keeps its gotos until its body is parsed. Any other
 * goto stays a GOTO, which resolve refuses. */
#include <limits.h>

#include "front/parse.h"

static AstStmt *new_stmt(Parser *p, AstStmtKind kind) {
  const Token *first = parser_current(p);
  AstStmt *stmt = scratch_new(p->scratch, AstStmt);
  *stmt = (AstStmt){.kind = kind, .pos = first->pos, .width = first->length, .op = AST_NO_OP};
  return stmt;
}

static bool ends_block(const Parser *p) {
  return parser_is(p, TOKEN_END_KEYWORD) || parser_is(p, TOKEN_ELSE) ||
         parser_is(p, TOKEN_ELSEIF) || parser_is(p, TOKEN_UNTIL) || parser_is(p, TOKEN_LABEL);
}

AstStmt *parse_goto(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_GOTO);
  parser_next(p);
  stmt->name = parser_name(p);
  parser_accept(p, TOKEN_SEMICOLON);
  Goto row = {.stmt = stmt, .local_count = p->local_count, .is_last = ends_block(p)};
  if (p->frame->loop) vec_push(p->scratch, &p->frame->loop->gotos, row);
  return stmt;
}

AstStmt *parse_label(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_LABEL);
  parser_next(p);
  stmt->name = parser_name(p);
  parser_expect(p, TOKEN_LABEL);
  return stmt;
}

void loop_note_continue(Loop *loop, int local_count, int line) {
  if (loop->continue_id <= local_count) return;
  loop->continue_id = local_count;
  loop->continue_line = line;
}

static void continue_at(Parser *p, Loop *loop, const Goto *row) {
  row->stmt->kind = AST_STMT_CONTINUE;
  loop_note_continue(loop, row->local_count, row->stmt->pos.line);
  if (!row->is_last)
    parser_fail(p, row->stmt->pos, row->stmt->width, "nothing may follow 'goto' in its block");
}

void loop_take_labels(Parser *p, Loop *loop, AstBlock *body) {
  while (body->count && vec_last(body)->kind == AST_STMT_LABEL) {
    const AstStmt *label = vec_last(body);
    body->count--;
    for (int i = 0; i < loop->gotos.count; i++)
      if (str_equal(loop->gotos.items[i].stmt->name, label->name))
        continue_at(p, loop, &loop->gotos.items[i]);
  }
}
