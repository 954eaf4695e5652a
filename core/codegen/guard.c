/* guard.c - guards: variables of a function with counted arrays, each with a reference that the
 * function releases at its end at the latest. */
#include "codegen/call.h"

/* A guard must be empty from the function's begin, since the function releases all guards at its
 * end, which may come before the guard's region is entered. */
void guard_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef guard = block_variable_of(g, value_index(g, 0), "guard");
  vec_push(g->scratch, &g->f.guards, guard);
  value_set(g, inst, guard);
}

static void release_guard(Codegen *g, LLVMValueRef guard) {
  LLVMValueRef array = build_load(g, g->i64, guard);
  call_runtime(g, RT_ARRAY_RELEASE, (Callee){0}, &array, 1);
}

void guards_release(Codegen *g) {
  for (int i = 0; i < g->f.guards.count; i++) release_guard(g, g->f.guards.items[i]);
}

void guard_change(Codegen *g, const IrInst *inst) {
  LLVMValueRef guard = value_operand(g, inst, 0), array = NULL, none = LLVMConstNull(g->i64);
  if (inst->operand_count > 1) array = value_operand(g, inst, 1);
  switch (inst->op) {
  case IR_ACQUIRE:
    call_runtime(g, RT_ARRAY_ACQUIRE, (Callee){0}, &array, 1);
    /* fallthrough */
  case IR_OWN: build_store(g, array, guard); return;
  case IR_MOVE:
    build_store(g, build_load(g, g->i64, array), guard);
    build_store(g, none, array);
    return;
  case IR_RELEASE: release_guard(g, guard); break;
  default: break;
  }
  build_store(g, none, guard);
}
