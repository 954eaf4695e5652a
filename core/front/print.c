/* print.c - prints a tree as Lua text that can be parsed again.
 * There are two styles: grouped as in the source (parentheses are nodes), or with all grouping and
 * all ids of locals. Also the words of operators. */
#include <stdio.h>

#include "front/ast.h"
#include "front/lexer.h"

static const TokenKind op_tokens[] = {
    [AST_ADD] = TOKEN_PLUS,       [AST_SUB] = TOKEN_MINUS,         [AST_MUL] = TOKEN_STAR,
    [AST_DIV] = TOKEN_SLASH,      [AST_FLOORDIV] = TOKEN_FLOORDIV, [AST_MOD] = TOKEN_PERCENT,
    [AST_POW] = TOKEN_CARET,      [AST_CONCAT] = TOKEN_CONCAT,     [AST_EQ] = TOKEN_EQUAL,
    [AST_NE] = TOKEN_TILDE_EQUAL, [AST_LT] = TOKEN_LESS,           [AST_LE] = TOKEN_LESS_EQUAL,
    [AST_GT] = TOKEN_GREATER,     [AST_GE] = TOKEN_GREATER_EQUAL,  [AST_BAND] = TOKEN_AMPERSAND,
    [AST_BOR] = TOKEN_BAR,        [AST_BXOR] = TOKEN_TILDE,        [AST_SHL] = TOKEN_SHL,
    [AST_SHR] = TOKEN_SHR,        [AST_SAR] = TOKEN_SAR,           [AST_NEG] = TOKEN_MINUS,
    [AST_NOT] = TOKEN_NOT,        [AST_LEN] = TOKEN_HASH,          [AST_BNOT] = TOKEN_TILDE,
};
_Static_assert(sizeof op_tokens / sizeof op_tokens[0] == AST_NO_OP, "every op has its token");

const char *ast_op_text(AstOp op) { return op < AST_NO_OP ? token_text(op_tokens[op]) : ""; }

typedef struct Printer {
  StrBuf *out;
  bool shows_all; /* ids of locals, parentheses around every compound operand */
  int indent;
} Printer;

static void print_expr(Printer *printer, const AstExpr *expr);
static void print_function(Printer *printer, const AstFunction *function);
static void print_block(Printer *printer, const AstBlock *block);

static void text(Printer *printer, const char *text) { strbuf_text(printer->out, text); }
static void str(Printer *printer, Str str) { strbuf_add(printer->out, str.data, str.length); }

static void new_line(Printer *printer) {
  strbuf_char(printer->out, '\n');
  for (int i = 0; i < printer->indent; i++) text(printer, "  ");
}

static void print_list(Printer *printer, const AstExprs *list) {
  for (int i = 0; i < list->count; i++) {
    if (i) text(printer, ", ");
    print_expr(printer, list->items[i]);
  }
}

static void print_local(Printer *printer, const AstLocal *local) {
  str(printer, local->name);
  if (printer->shows_all) strbuf_format(printer->out, "#%d", local->id);
}

static void print_declared(Printer *printer, const AstLocal *local) {
  print_local(printer, local);
  if (!local->annotation) return;
  text(printer, ": ");
  print_expr(printer, local->annotation);
}

/* Unprintable bytes become decimal escapes of three digits. */
static void print_string(Printer *printer, Str bytes) {
  strbuf_char(printer->out, '"');
  for (int i = 0; i < bytes.length; i++) {
    unsigned char byte = (unsigned char)bytes.data[i];
    if (byte == '"' || byte == '\\') strbuf_format(printer->out, "\\%c", byte);
    else if (byte == '\n') text(printer, "\\n");
    else if (byte < ' ' || byte == 0x7F) strbuf_format(printer->out, "\\%03d", byte);
    else strbuf_char(printer->out, (char)byte);
  }
  strbuf_char(printer->out, '"');
}

static bool is_composed(const AstExpr *expr) {
  return expr->kind == AST_BINARY || expr->kind == AST_UNARY || expr->kind == AST_AND ||
         expr->kind == AST_OR || expr->kind == AST_TERNARY;
}

static void print_operand(Printer *printer, const AstExpr *expr) {
  bool groups = printer->shows_all && is_composed(expr);
  if (groups) text(printer, "(");
  print_expr(printer, expr);
  if (groups) text(printer, ")");
}

/* Prints a space between two minus signs, as `--` begins a comment. */
static void print_unary(Printer *printer, const AstExpr *expr) {
  text(printer, ast_op_text(expr->op));
  bool is_word = expr->op == AST_NOT;
  if (is_word || (expr->left->kind == AST_UNARY && !printer->shows_all)) text(printer, " ");
  print_operand(printer, expr->left);
}

static const char *operator_of(const AstExpr *expr) {
  return expr->kind == AST_AND ? "and" : expr->kind == AST_OR ? "or" : ast_op_text(expr->op);
}

static void print_binary(Printer *printer, const AstExpr *expr) {
  print_operand(printer, expr->left);
  strbuf_format(printer->out, " %s ", operator_of(expr));
  print_operand(printer, expr->right);
}

static void print_ternary(Printer *printer, const AstExpr *expr) {
  print_operand(printer, expr->left);
  text(printer, " ? ");
  print_operand(printer, expr->right);
  text(printer, " : ");
  print_operand(printer, expr->third);
}

static void print_key(Printer *printer, const AstExpr *key) {
  text(printer, "[");
  print_expr(printer, key);
  text(printer, "] = ");
}

static void print_table(Printer *printer, const AstExpr *table) {
  text(printer, "{");
  for (int i = 0; i < table->list.count; i++) {
    if (i) text(printer, ", ");
    if (table->keys.items[i]) print_key(printer, table->keys.items[i]);
    print_expr(printer, table->list.items[i]);
  }
  text(printer, "}");
}

static void print_postfix(Printer *printer, const AstExpr *expr, const char *open,
                          const char *close) {
  text(printer, open);
  print_list(printer, &expr->list);
  text(printer, close);
}

static void print_expr(Printer *printer, const AstExpr *expr) {
  switch (expr->kind) {
  case AST_NIL: text(printer, "nil"); break;
  case AST_TRUE: text(printer, "true"); break;
  case AST_FALSE: text(printer, "false"); break;
  case AST_NUMBER:
  case AST_GLOBAL: str(printer, expr->text); break;
  case AST_STRING: print_string(printer, expr->text); break;
  case AST_VARARG: text(printer, "..."); break;
  case AST_FUNCTION:
    text(printer, "function");
    print_function(printer, expr->function);
    break;
  case AST_LOCAL: print_local(printer, expr->local); break;
  case AST_INDEX:
    print_expr(printer, expr->left);
    print_postfix(printer, expr, "[", "]");
    break;
  case AST_FIELD:
    print_expr(printer, expr->left);
    text(printer, ".");
    str(printer, expr->text);
    break;
  case AST_CALL:
    print_expr(printer, expr->left);
    print_postfix(printer, expr, "(", ")");
    break;
  case AST_METHOD:
    print_expr(printer, expr->left);
    text(printer, ":");
    str(printer, expr->text);
    print_postfix(printer, expr, "(", ")");
    break;
  case AST_UNARY: print_unary(printer, expr); break;
  case AST_BINARY:
  case AST_AND:
  case AST_OR: print_binary(printer, expr); break;
  case AST_TERNARY: print_ternary(printer, expr); break;
  case AST_TABLE: print_table(printer, expr); break;
  case AST_PAREN:
    text(printer, "(");
    print_expr(printer, expr->left);
    text(printer, ")");
    break;
  }
}

/* Statements. */

static void print_locals(Printer *printer, const AstStmt *stmt) {
  for (int i = 0; i < stmt->locals.count; i++) {
    if (i) text(printer, ", ");
    print_declared(printer, stmt->locals.items[i]);
  }
}

static void print_assigned(Printer *printer, const AstStmt *stmt, const char *sign) {
  if (!stmt->values.count) return;
  strbuf_format(printer->out, " %s ", sign);
  print_list(printer, &stmt->values);
}

static const char *declaring_word(const AstStmt *stmt) {
  return stmt->locals.items[0]->is_const ? "const " : "local ";
}

static void print_body(Printer *printer, const AstStmt *stmt, int body, const char *end) {
  print_block(printer, &stmt->bodies.items[body]);
  new_line(printer);
  text(printer, end);
}

static void print_if(Printer *printer, const AstStmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    text(printer, i ? "elseif " : "if ");
    print_expr(printer, stmt->values.items[i]);
    text(printer, " then");
    print_body(printer, stmt, i, "");
  }
  if (stmt->bodies.count > stmt->values.count) {
    text(printer, "else");
    print_body(printer, stmt, stmt->values.count, "");
  }
  text(printer, "end");
}

static void print_for(Printer *printer, const AstStmt *stmt) {
  text(printer, "for ");
  print_locals(printer, stmt);
  print_assigned(printer, stmt, stmt->kind == AST_STMT_FOR ? "=" : "in");
  text(printer, " do");
  print_body(printer, stmt, 0, "end");
}

static void print_return(Printer *printer, const AstStmt *stmt) {
  text(printer, stmt->values.count ? "return " : "return");
  print_list(printer, &stmt->values);
}

/* `:` of a method stays visible in the function's name; the parameter `self` is then printed
 * too. */
static void print_named_function(Printer *printer, const AstStmt *stmt) {
  text(printer, "function ");
  str(printer, stmt->function->name);
  print_function(printer, stmt->function);
}

static void print_local_function(Printer *printer, const AstStmt *stmt) {
  text(printer, declaring_word(stmt));
  text(printer, "function ");
  print_local(printer, stmt->locals.items[0]);
  print_function(printer, stmt->function);
}

static void print_compound(Printer *printer, const AstStmt *stmt) {
  print_list(printer, &stmt->targets);
  strbuf_format(printer->out, " %s= ", ast_op_text(stmt->op));
  print_list(printer, &stmt->values);
}

static void print_stmt(Printer *printer, const AstStmt *stmt) {
  switch (stmt->kind) {
  case AST_STMT_LOCAL:
    text(printer, declaring_word(stmt));
    print_locals(printer, stmt);
    print_assigned(printer, stmt, "=");
    break;
  case AST_STMT_ASSIGN:
    print_list(printer, &stmt->targets);
    print_assigned(printer, stmt, "=");
    break;
  case AST_STMT_COMPOUND: print_compound(printer, stmt); break;
  case AST_STMT_CALL: print_list(printer, &stmt->values); break;
  case AST_STMT_DO:
    text(printer, "do");
    print_body(printer, stmt, 0, "end");
    break;
  case AST_STMT_WHILE:
    text(printer, "while ");
    print_list(printer, &stmt->values);
    text(printer, " do");
    print_body(printer, stmt, 0, "end");
    break;
  case AST_STMT_REPEAT:
    text(printer, "repeat");
    print_body(printer, stmt, 0, "until ");
    print_list(printer, &stmt->values);
    break;
  case AST_STMT_IF: print_if(printer, stmt); break;
  case AST_STMT_FOR:
  case AST_STMT_FOR_IN: print_for(printer, stmt); break;
  case AST_STMT_FUNCTION: print_named_function(printer, stmt); break;
  case AST_STMT_LOCAL_FUNCTION: print_local_function(printer, stmt); break;
  case AST_STMT_RETURN: print_return(printer, stmt); break;
  case AST_STMT_BREAK: text(printer, "break"); break;
  case AST_STMT_CONTINUE: text(printer, "continue"); break;
  case AST_STMT_GOTO:
    text(printer, "goto ");
    str(printer, stmt->name);
    break;
  case AST_STMT_LABEL:
    text(printer, "::");
    str(printer, stmt->name);
    text(printer, "::");
    break;
  }
}

static void print_block(Printer *printer, const AstBlock *block) {
  printer->indent++;
  for (int i = 0; i < block->count; i++) {
    new_line(printer);
    print_stmt(printer, block->items[i]);
  }
  printer->indent--;
}

static void print_parameters(Printer *printer, const AstFunction *function) {
  text(printer, "(");
  for (int i = 0; i < function->parameters.count; i++) {
    if (i) text(printer, ", ");
    print_declared(printer, function->parameters.items[i]);
  }
  if (function->has_varargs) text(printer, function->parameters.count ? ", ..." : "...");
  text(printer, ")");
}

/* After the word `function` and the name. */
static void print_function(Printer *printer, const AstFunction *function) {
  print_parameters(printer, function);
  if (function->results.count) {
    text(printer, ": ");
    print_list(printer, &function->results);
  }
  print_block(printer, &function->body);
  new_line(printer);
  text(printer, "end");
}

void ast_print(StrBuf *out, const Ast *ast) {
  Printer printer = {.out = out, .shows_all = true};
  for (int i = 0; i < ast->helpers.count; i++) {
    print_stmt(&printer, ast->helpers.items[i]);
    text(&printer, "\n");
  }
  text(&printer, "function");
  if (ast->function->name.length) text(&printer, " ");
  str(&printer, ast->function->name);
  print_function(&printer, ast->function);
  text(&printer, "\n");
}

/* Newlines of a function inside the expression become spaces: one line. */
void ast_print_expr(StrBuf *out, const AstExpr *expr) {
  int start = out->length;
  Printer printer = {.out = out};
  print_expr(&printer, expr);
  for (int i = start; i < out->length; i++)
    if (out->data[i] == '\n') out->data[i] = ' ';
}
