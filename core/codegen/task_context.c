/* task_context.c - the values that a function reads from its context: frame, ambient, roots, bases.
 * All of them are constant while a task runs, so they are read once, in the entry block. */
#include <stddef.h>

#include "codegen/emit.h"

static LLVMValueRef context_frame(Codegen *g) {
  if (g->f.frame) return g->f.frame;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->f.frame = call_runtime(g, RT_FRAME, (Callee){0}, NULL, 0);
  block_hoist_end(g, back);
  return g->f.frame;
}

LLVMValueRef context_ambient(Codegen *g) {
  if (g->f.ambient) return g->f.ambient;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->f.ambient = value_node(g, call_runtime(g, RT_AMBIENT, (Callee){0}, NULL, 0));
  block_hoist_end(g, back);
  return g->f.ambient;
}

static bool is_tree(Codegen *g, int tree) {
  if (tree >= 0 && tree < g->kernel->trees.count) return true;
  codegen_fail(g, NULL, "it names a tree that the kernel does not have");
  return false;
}

static LLVMValueRef load(Codegen *g, LLVMTypeRef type, LLVMValueRef at, const char *name) {
  LLVMValueRef value = LLVMBuildLoad2(g->builder, type, at, name);
  return type == g->pointer ? value_global(g, value) : value;
}

/* A member of RtTree, which is constant during a task. */
static LLVMValueRef tree_member(Codegen *g, int tree, size_t offset, LLVMTypeRef type,
                                const char *name) {
  LLVMValueRef table = value_byte_offset(g, g->f.rt_context, offsetof(RtContext, trees));
  LLVMValueRef trees = load(g, g->pointer, table, "trees");
  LLVMValueRef entry = value_byte_offset(g, trees, tree * (int64_t)sizeof(RtTree *));
  LLVMValueRef header = load(g, g->pointer, entry, "tree");
  return load(g, type, value_byte_offset(g, header, (int64_t)offset), name);
}

/* The same, read in the entry block; `kept`: where it is remembered. An address is a node's. */
static LLVMValueRef hoisted_member(Codegen *g, int tree, LLVMValueRef *kept, size_t offset,
                                   LLVMTypeRef type, const char *name) {
  ASSERT(g->f.trees && g->f.entry_end, "a function is open");
  if (*kept) return *kept;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef member = tree_member(g, tree, offset, type, name);
  *kept = type == g->pointer ? value_node(g, member) : member;
  block_hoist_end(g, back);
  return *kept;
}

LLVMValueRef context_root(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return LLVMConstNull(g->pointer);
  return hoisted_member(g, tree, &g->f.trees[tree].root, offsetof(RtTree, root), g->pointer,
                        "root");
}

/* Hoisted, unlike in the runtime's own look-up (rt_slot_find), which loads it every time. */
LLVMValueRef context_base(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return LLVMConstNull(g->pointer);
  return hoisted_member(g, tree, &g->f.trees[tree].base, offsetof(RtTree, base), g->pointer,
                        "base");
}

LLVMValueRef context_reserved(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return value_integer(g->i64, 0);
  return hoisted_member(g, tree, &g->f.trees[tree].reserved, offsetof(RtTree, reserved), g->i64,
                        "reserved");
}

/* The flag may change while the task runs; its value at the begin of the task is good enough. */
LLVMValueRef context_large(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return value_integer(g->bool_type, 0);
  if (g->f.trees[tree].large) return g->f.trees[tree].large;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->f.trees[tree].large = call_runtime(g, RT_TREE_LARGE, (Callee){.tree = tree}, NULL, 0);
  block_hoist_end(g, back);
  return g->f.trees[tree].large;
}

/* A member of RtManager, which is constant during a task over the manager's nodes. */
static LLVMValueRef manager_member(Codegen *g, int tree, int manager, size_t offset,
                                   LLVMTypeRef type, const char *name) {
  LLVMValueRef managers = tree_member(g, tree, offsetof(RtTree, managers), g->pointer, "managers");
  int64_t at = manager * (int64_t)sizeof(RtManager) + (int64_t)offset;
  return load(g, type, value_byte_offset(g, managers, at), name);
}

ContextList context_list(Codegen *g, int tree, int manager) {
  if (!is_tree(g, tree)) return (ContextList){.length = value_index(g, 0)};
  LLVMBasicBlockRef back = block_hoist_begin(g);
  ContextList list = {
      .entries = manager_member(g, tree, manager, offsetof(RtManager, list), g->pointer, "entries"),
      .length =
          manager_member(g, tree, manager, offsetof(RtManager, list_count), g->i64, "length")};
  block_hoist_end(g, back);
  return list;
}

LLVMValueRef context_private_copy(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return value_index(g, 0);
  if (g->f.trees[tree].private_copy) return g->f.trees[tree].private_copy;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef table =
      tree_member(g, tree, offsetof(RtTree, private_copies), g->pointer, "private");
  LLVMValueRef index = value_byte_offset(g, g->f.worker, offsetof(RtWorker, index));
  LLVMValueRef worker = LLVMBuildLoad2(g->builder, g->i32, index, "worker");
  LLVMValueRef wide = LLVMBuildSExt(g->builder, worker, g->i64, "");
  LLVMValueRef bytes = LLVMBuildMul(g->builder, wide, value_index(g, 8), "");
  LLVMValueRef entry = LLVMBuildGEP2(g->builder, g->i8, table, &bytes, 1, "");
  g->f.trees[tree].private_copy = LLVMBuildLoad2(g->builder, g->i64, entry, "private");
  block_hoist_end(g, back);
  return g->f.trees[tree].private_copy;
}

LLVMValueRef context_slot(Codegen *g, int64_t slot) {
  if (slot < 0 || slot >= g->kernel->frame_slots)
    codegen_fail(g, NULL, "it names a frame slot that does not exist");
  return value_byte_offset(g, context_frame(g), slot * 8);
}

void context_poll_stop(Codegen *g) {
  LLVMValueRef stopped = call_runtime(g, RT_STOPPED, (Callee){0}, NULL, 0);
  LLVMBasicBlockRef on = block_new(g, "on");
  block_branch(g, stopped, g->f.finish, on);
  block_enter(g, on);
}
