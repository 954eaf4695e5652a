/* task_context.c - the values that a function reads from its context: frame, ambient, roots, bases.
 * All of them are constant while a task runs, so they are read once, in the entry block. */
#include "codegen/call.h"

/* The result of an entry without operands, called in the entry block; `kept`: where it is
 * remembered. Addresses of nodes are aligned. */
static LLVMValueRef hoisted_call(Codegen *g, LLVMValueRef *kept, RtEntry entry, int tree) {
  ASSERT(g->f.trees && g->f.entry_end, "a function is open");
  if (*kept) return *kept;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  *kept = call_runtime(g, entry, (Callee){.tree = tree}, NULL, 0);
  if (entry == RT_AMBIENT || entry == RT_TREE_ROOT || entry == RT_TREE_BASE)
    *kept = value_node(g, *kept);
  block_hoist_end(g, back);
  return *kept;
}

LLVMValueRef context_ambient(Codegen *g) { return hoisted_call(g, &g->f.ambient, RT_AMBIENT, 0); }

/* What the function keeps of a tree. */
static TreeValues *values_of(Codegen *g, int tree) {
  ASSERT(tree >= 0 && tree < g->kernel->trees.count, "a tree of the kernel");
  return &g->f.trees[tree];
}

LLVMValueRef context_root(Codegen *g, int tree) {
  return hoisted_call(g, &values_of(g, tree)->root, RT_TREE_ROOT, tree);
}

/* Hoisted, unlike in the runtime's own look-up (rt_slot_find), which loads it every time. */
LLVMValueRef context_base(Codegen *g, int tree) {
  return hoisted_call(g, &values_of(g, tree)->base, RT_TREE_BASE, tree);
}

LLVMValueRef context_reserved(Codegen *g, int tree) {
  return hoisted_call(g, &values_of(g, tree)->reserved, RT_TREE_RESERVED, tree);
}

/* The flag may change while the task runs; its value at the begin of the task is good enough. */
LLVMValueRef context_large(Codegen *g, int tree) {
  return hoisted_call(g, &values_of(g, tree)->large, RT_TREE_LARGE, tree);
}

LLVMValueRef context_private_copy(Codegen *g, int tree) {
  return hoisted_call(g, &values_of(g, tree)->private_copy, RT_TREE_PRIVATE_COPY, tree);
}

ContextList context_list(Codegen *g, int tree, int manager) {
  Callee callee = {tree, manager};
  LLVMBasicBlockRef back = block_hoist_begin(g);
  ContextList list = {call_runtime(g, RT_LIST_ENTRIES, callee, NULL, 0),
                      call_runtime(g, RT_LIST_SIZE, callee, NULL, 0)};
  block_hoist_end(g, back);
  return list;
}

LLVMValueRef context_slot(Codegen *g, int64_t slot) {
  ASSERT(slot >= 0 && slot < g->kernel->frame_slots, "a slot of the frame");
  return value_byte_offset(g, hoisted_call(g, &g->f.frame, RT_FRAME, 0), slot * 8);
}

void context_poll_stop(Codegen *g) {
  LLVMValueRef stopped = call_runtime(g, RT_STOPPED, (Callee){0}, NULL, 0);
  LLVMBasicBlockRef on = block_new(g, "on");
  block_enter_unless(g, stopped, on, g->f.finish);
}
