/* emit_ir.h - values of IR as expressions of Lua, for texts of derivatives (emit_derivative.c). */
#ifndef RG_EMIT_LUA_EMIT_IR_H
#define RG_EMIT_LUA_EMIT_IR_H

#include "emit_lua/emit.h"

typedef struct EmitLoop {
  int number;                               /* of its labels */
  bool needs_next_label, needs_leave_label; /* they are used */
} EmitLoop;

typedef struct Derivative {
  Emit *e;
  const SemaOutput *typed;
  const IrKernel *kernel;
  bool *is_in_table; /* by id of an inst */
  int locals;        /* visible ones */
  bool is_large;     /* all values are in _rg_v */
  VEC(EmitLoop) loops;
  Error *err;
} Derivative;

/* Always false, with an error: `what` has no derivative here, or the op no Lua text. */
bool emit_ir_refuse(Derivative *d, const IrInst *at, const char *what);
bool emit_ir_refuse_op(Derivative *d, const IrInst *inst);

void emit_ir_value(Derivative *d, const IrInst *value);
/* ", a, b": the operands from one on. */
void emit_ir_operands(Derivative *d, const IrInst *inst, int from);
/* "local v7 = " */
void emit_ir_declare(Derivative *d, const IrInst *inst);
/* The expression that computes the value of an inst. */
bool emit_ir_expression(Derivative *d, const IrInst *inst);

/* "_rg.NAME(a, b)" */
void emit_ir_helper(Derivative *d, const IrInst *inst, const char *name);
void emit_ir_on_level(Derivative *d, const IrInst *inst, const char *name);
void emit_ir_store(Derivative *d, const IrInst *store);
void emit_ir_update(Derivative *d, const IrInst *update, const char *name);
void emit_ir_pop(Derivative *d, const IrInst *pop);
/* "_rg.memory_update(address, value, zero, _rg.add_f32)": returns the old value. */
void emit_ir_memory_update(Derivative *d, const IrInst *update);
bool emit_ir_call(Derivative *d, const IrInst *call);
/* Does the call need no Lua text? */
bool emit_ir_call_is_empty(const IrInst *call);
void emit_ir_message(Derivative *d, const IrInst *inst);

#endif
