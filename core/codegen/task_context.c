/* task_context.c - the values that a function reads from its context: frame, ambient, roots, bases.
 * All of them are constant while a task runs, so they are read once, in the entry block. */
#include <stddef.h>

#include "codegen/call.h"

/* The result of an entry without operands, called in the entry block; `kept`: where it is
 * remembered. */
static LLVMValueRef hoisted_call(Codegen *g, LLVMValueRef *kept, RtEntry entry, int tree) {
  if (*kept) return *kept;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  *kept = call_runtime(g, entry, (Callee){.tree = tree}, NULL, 0);
  if (entry == RT_AMBIENT) *kept = value_node(g, *kept);
  block_hoist_end(g, back);
  return *kept;
}

LLVMValueRef context_ambient(Codegen *g) { return hoisted_call(g, &g->f.ambient, RT_AMBIENT, 0); }

/* What the function keeps of a tree. */
static TreeValues *values_of(Codegen *g, int tree) {
  ASSERT(g->f.trees && g->f.entry_end, "a function is open");
  ASSERT(tree >= 0 && tree < g->kernel->trees.count, "a tree of the kernel");
  return &g->f.trees[tree];
}

static LLVMValueRef load(Codegen *g, LLVMTypeRef type, LLVMValueRef at) {
  LLVMValueRef value = build_load(g, type, at);
  return type == g->pointer ? value_global(g, value) : value;
}

/* A member of RtTree, which is constant during a task. */
static LLVMValueRef tree_member(Codegen *g, int tree, size_t offset, LLVMTypeRef type) {
  LLVMValueRef table = value_byte_offset(g, g->f.rt_context, offsetof(RtContext, trees));
  LLVMValueRef trees = load(g, g->pointer, table);
  LLVMValueRef entry = value_byte_offset(g, trees, tree * (int64_t)sizeof(RtTree *));
  LLVMValueRef header = load(g, g->pointer, entry);
  return load(g, type, value_byte_offset(g, header, (int64_t)offset));
}

/* The same, read in the entry block. An address is a node's. */
static LLVMValueRef hoisted_member(Codegen *g, int tree, LLVMValueRef *kept, size_t offset,
                                   LLVMTypeRef type) {
  if (*kept) return *kept;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef member = tree_member(g, tree, offset, type);
  *kept = type == g->pointer ? value_node(g, member) : member;
  block_hoist_end(g, back);
  return *kept;
}

LLVMValueRef context_root(Codegen *g, int tree) {
  return hoisted_member(g, tree, &values_of(g, tree)->root, offsetof(RtTree, root), g->pointer);
}

/* Hoisted, unlike in the runtime's own look-up (rt_slot_find), which loads it every time. */
LLVMValueRef context_base(Codegen *g, int tree) {
  return hoisted_member(g, tree, &values_of(g, tree)->base, offsetof(RtTree, base), g->pointer);
}

LLVMValueRef context_reserved(Codegen *g, int tree) {
  return hoisted_member(g, tree, &values_of(g, tree)->reserved, offsetof(RtTree, reserved), g->i64);
}

/* The flag may change while the task runs; its value at the begin of the task is good enough. */
LLVMValueRef context_large(Codegen *g, int tree) {
  return hoisted_call(g, &values_of(g, tree)->large, RT_TREE_LARGE, tree);
}

/* A member of RtManager, which is constant during a task over the manager's nodes. */
static LLVMValueRef manager_member(Codegen *g, int tree, int manager, size_t offset,
                                   LLVMTypeRef type) {
  LLVMValueRef managers = tree_member(g, tree, offsetof(RtTree, managers), g->pointer);
  int64_t at = manager * (int64_t)sizeof(RtManager) + (int64_t)offset;
  return load(g, type, value_byte_offset(g, managers, at));
}

ContextList context_list(Codegen *g, int tree, int manager) {
  ContextList list;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  list.entries = manager_member(g, tree, manager, offsetof(RtManager, list), g->pointer);
  list.length = manager_member(g, tree, manager, offsetof(RtManager, list_count), g->i64);
  block_hoist_end(g, back);
  return list;
}

LLVMValueRef context_private_copy(Codegen *g, int tree) {
  TreeValues *of = values_of(g, tree);
  if (of->private_copy) return of->private_copy;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef table = tree_member(g, tree, offsetof(RtTree, private_copies), g->pointer);
  LLVMValueRef index = value_byte_offset(g, g->f.worker, offsetof(RtWorker, index));
  LLVMValueRef worker = build_sext(g, build_load(g, g->i32, index), g->i64);
  LLVMValueRef bytes = build_mul(g, worker, value_index(g, 8));
  of->private_copy = build_load(g, g->i64, build_at(g, g->i8, table, bytes));
  block_hoist_end(g, back);
  return of->private_copy;
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
