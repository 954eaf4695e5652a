/* ast.h - a kernel's text as a tree: all of Lua 5.1, LuaJIT's newer operators, and annotations.
 * Nodes live in the Scratch of the Source they come from and never change: what later stages find
 * out about them is in the typed tree, which resolve builds from this one. The Ast knows neither
 * types nor captures: names are text. */
#ifndef RG_FRONT_AST_H
#define RG_FRONT_AST_H

#include "base/str.h"
#include "base/vec.h"
#include "front/source.h"

typedef struct AstExpr AstExpr;
typedef struct AstStmt AstStmt;
typedef struct AstFunction AstFunction;
typedef struct AstLocal AstLocal;

typedef VEC(AstExpr *) AstExprs;
typedef VEC(AstStmt *) AstBlock;

/* A variable declared in the text: a local, a parameter, a loop variable. */
struct AstLocal {
  Str name;
  Pos pos;
  int id; /* unique in the Ast, in order of declaration */
  /* the type, as an expression (a GLOBAL, FIELD or CALL), or NULL; names in it are never LOCAL */
  AstExpr *annotation;
  bool is_const; /* declared with `const` */
  bool is_parameter, is_loop_variable;
  bool is_assigned;      /* assigned again after its declaration */
  bool is_part_assigned; /* something in it is: `v.x = ..`, `v[i] = ..` */
  AstFunction *owner;    /* the function that declares it; NULL for a helper's name */
};

typedef enum AstExprKind {
  AST_NIL,
  AST_TRUE,
  AST_FALSE,
  AST_NUMBER,
  AST_STRING,
  AST_VARARG,
  AST_FUNCTION,
  AST_LOCAL,  /* a name declared in the text: local */
  AST_GLOBAL, /* any other name: captured or built in */
  AST_INDEX,  /* object[index..]: `x[i]`, `x[i, j]` (several), `x[{i, j}]` has one TABLE */
  AST_FIELD,  /* object.name */
  AST_CALL,   /* callee(arguments) */
  AST_METHOD, /* object:name(arguments) */
  AST_UNARY,
  AST_BINARY,
  AST_AND,
  AST_OR,
  AST_TERNARY, /* operands: condition, then, else */
  AST_TABLE,
  AST_PAREN /* left */
} AstExprKind;

typedef enum AstOp {
  AST_ADD,
  AST_SUB,
  AST_MUL,
  AST_DIV,
  AST_FLOORDIV,
  AST_MOD,
  AST_POW,
  AST_CONCAT,
  AST_EQ,
  AST_NE,
  AST_LT,
  AST_LE,
  AST_GT,
  AST_GE,
  AST_BAND,
  AST_BOR,
  AST_BXOR,
  AST_SHL,
  AST_SHR,
  AST_SAR,
  AST_NEG,
  AST_NOT,
  AST_LEN,
  AST_BNOT,
  AST_NO_OP
} AstOp;
const char *ast_op_text(AstOp op); /* "+", "not", ".." */

typedef enum AstNumberKind {
  AST_NUMBER_PLAIN, /* no point, no exponent, below 2^64: takes the other operand's type */
  AST_NUMBER_FLOAT, /* with a point or exponent, or larger */
  AST_NUMBER_I64,   /* 1LL */
  AST_NUMBER_U64    /* 1ULL */
} AstNumberKind;

/* No tree is taller than this, including nested functions, so walks may recurse. */
enum { AST_MAX_HEIGHT = 500 };

struct AstExpr {
  AstExprKind kind;
  int height; /* of the tree below and including it */
  /* where the caret goes: an operator, the name (also of a FIELD or METHOD), an INDEX's object, a
   * CALL's callee */
  Pos pos;
  int32_t width;  /* bytes under the caret; those of an INDEX or PAREN reach its end */
  AstOp op;       /* UNARY (operand: left), BINARY; otherwise AST_NO_OP */
  AstExpr *left;  /* operand, object, callee, condition of TERNARY, inner of PAREN */
  AstExpr *right; /* second operand; TERNARY: then */
  AstExpr *third; /* TERNARY: else */
  AstExprs list;  /* indices, arguments, positional items of a TABLE */
  AstExprs keys;  /* TABLE: for list[k], its key (a STRING for name = v) or NULL */
  /* LOCAL, GLOBAL, FIELD, METHOD: the name; STRING: its bytes; NUMBER: as written */
  Str text;
  AstLocal *local; /* LOCAL */
  AstNumberKind number_kind;
  double number;
  uint64_t integer; /* PLAIN, I64, U64; an I64 may be 2^63, if negated */
  AstFunction *function;
};

typedef enum AstStmtKind {
  AST_STMT_LOCAL,    /* locals = values */
  AST_STMT_ASSIGN,   /* targets = values */
  AST_STMT_COMPOUND, /* targets[0] op= values[0] */
  AST_STMT_CALL,     /* values[0] is the CALL or METHOD */
  AST_STMT_DO,
  AST_STMT_WHILE,
  AST_STMT_REPEAT,
  AST_STMT_IF,
  AST_STMT_FOR,      /* numeric: locals[0], values = start, stop [, step] */
  AST_STMT_FOR_IN,   /* locals in values */
  AST_STMT_FUNCTION, /* function a.b.c() end: targets[0], function; local function: locals[0] */
  AST_STMT_LOCAL_FUNCTION,
  AST_STMT_RETURN,
  AST_STMT_BREAK,
  AST_STMT_CONTINUE,
  AST_STMT_GOTO,
  AST_STMT_LABEL
} AstStmtKind;

struct AstStmt {
  AstStmtKind kind;
  Pos pos; /* its first token */
  int32_t width;
  AstOp op; /* COMPOUND */
  VEC(AstLocal *) locals;
  /* IF: values[k] is the condition of bodies[k]; WHILE, REPEAT: values[0] */
  AstExprs targets, values;
  VEC(AstBlock) bodies; /* IF: one per condition, then one for `else` if there is one */
  AstFunction *function;
  Str name; /* GOTO, LABEL */
};

struct AstFunction {
  Pos pos, end;               /* the `function` keyword; the `end` keyword */
  Str name;                   /* of a declaration, "" otherwise */
  VEC(AstLocal *) parameters; /* with `self` first for a method declaration */
  bool has_varargs;
  AstExprs results; /* annotated result types: `function(x): f32` */
  AstBlock body;
  AstFunction *outer; /* the function around it, or NULL */
  int height;         /* at least that of its statements and expressions */
};

/* A parsed text: the kernel is `function`; text kernels may have helpers before it. */
typedef struct Ast {
  Source *source;
  AstFunction *function; /* the kernel itself */
  /* before it (text kernels): LOCAL_FUNCTION; LOCAL, and a FUNCTION for each of its names, which is
   * the first of its `locals` */
  AstBlock helpers;
  int local_count;  /* ids are below it */
  bool is_iterator; /* the host says so: `for .. in` may call it */
} Ast;

/* print.c: the tree as text, for RG_DUMP=ast and tests: locals with their ids (`n#1`), operands in
 * parentheses. */
void ast_print(StrBuf *out, const Ast *ast);
/* as Lua text, one line, as grouped in the source */
void ast_print_expr(StrBuf *out, const AstExpr *expr);

#endif
