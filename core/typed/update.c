/* update.c - which operators update their target in place, and their properties. */
#include "typed/typed.h"

bool update_find(AstOp op, IrUpdate *update, bool *commutes) {
  static const struct {
    AstOp op;
    IrUpdate update;
    bool commutes;
  } rows[] = {{AST_ADD, IR_UPDATE_ADD, true},
              {AST_SUB, IR_UPDATE_SUB, false},
              {AST_MUL, IR_UPDATE_MUL, true},
              {AST_DIV, IR_UPDATE_DIV, false},
              {AST_FLOORDIV, IR_UPDATE_FLOORDIV, false},
              {AST_MOD, IR_UPDATE_MOD, false},
              {AST_POW, IR_UPDATE_POW, false},
              {AST_BAND, IR_UPDATE_BAND, true},
              {AST_BOR, IR_UPDATE_BOR, true},
              {AST_BXOR, IR_UPDATE_BXOR, true},
              {AST_SHL, IR_UPDATE_SHL, false},
              {AST_SHR, IR_UPDATE_SHR, false},
              {AST_SAR, IR_UPDATE_SAR, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].op != op) continue;
    *update = rows[i].update;
    *commutes = rows[i].commutes;
    return true;
  }
  return false;
}

AstOp update_operator(IrUpdate op) {
  IrUpdate update;
  bool commutes;
  for (AstOp candidate = 0; candidate < AST_NO_OP; candidate++)
    if (update_find(candidate, &update, &commutes) && update == op) return candidate;
  return AST_NO_OP;
}

bool update_is_modular(IrUpdate op) {
  switch (op) {
  case IR_UPDATE_ADD:
  case IR_UPDATE_SUB:
  case IR_UPDATE_MUL:
  case IR_UPDATE_BAND:
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR:
  case IR_UPDATE_SHL:
  case IR_UPDATE_EXCHANGE: return true;
  default: return false;
  }
}
