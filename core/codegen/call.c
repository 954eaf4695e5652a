/* call.c - calls: LLVM's intrinsics, and the runtime's entry points by the names and types of llvm_bc/rt.h.
 * What a task asks of its context (frame, roots, ambient) is constant while it runs, so it is asked for once, in
 * the entry block, whatever loop needs it first. */
#include <stddef.h>
#include <string.h>

#include "codegen/emit.h"
#include "llvm/attribute.h"
#include "rt.h"

LLVMValueRef call_intrinsic(Codegen *g, const char *name, LLVMTypeRef overload, LLVMValueRef *args, int count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, &overload, 1);
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, &overload, 1);
  return LLVMBuildCall2(g->builder, type, function, args, (unsigned)count, "");
}

LLVMValueRef call_fptosi_sat(Codegen *g, const char *name, LLVMTypeRef to, LLVMValueRef a) {
  LLVMTypeRef overloads[] = {to, LLVMTypeOf(a)};
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, overloads, 2);
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, overloads, 2);
  return LLVMBuildCall2(g->builder, type, function, &a, 1, "");
}

/* Types as letters, the result first: v nothing, p pointer, i 32 bits, l 64 bits, d a double. */
typedef struct RuntimeRow { const char *name, *signature; } RuntimeRow;

static const RuntimeRow runtime_rows[] = {
    {"rt_frame", "pp"},        {"rt_tree_root", "ppi"},     {"rt_ambient", "pp"},
    {"rt_slot_ensure", "pppiip"}, {"rt_slot_clear", "vppiip"}, {"rt_outside", "vp"},
    {"rt_stopped", "ip"},      {"rt_host_worker", "pp"},    {"rt_run", "vpi"},
    {"rt_list_count", "lpii"}, {"rt_tree_clear", "vpii"},   {"rt_list_node", "ppiil"},
    {"rt_list_order", "lpiii"}, {"rt_order_count", "ll"},   {"rt_order_at", "llli"},  {"rt_order_end", "lllli"},
    {"rt_list_coordinates", "ppiil"}, {"rt_fault", "vpid"},
    {"rt_hash_find", "ppiipp"}, {"rt_hash_ensure", "pppiipp"}, {"rt_hash_clear", "vppiipp"}, {"rt_hash_live", "ipiipp"},
    {"rt_dynamic_append", "ippiipiii"}, {"rt_dynamic_pop", "ipi"},
    {"rt_dynamic_ensure", "pppiipiii"}, {"rt_dynamic_unlock", "vp"}, {"rt_dynamic_clear", "vppiipi"},
    {"rt_dynamic_cells", "ipiip"}, {"rt_dynamic_was", "ipiip"}, {"rt_dynamic_remember", "vpii"}, {"rt_dynamic_count", "lpii"},
    {"rt_mask_live", "ipl"},   {"rt_mask_set", "vpl"},      {"rt_mask_keep", "vpl"},
    {"rt_mask_bits", "lpll"},  {"rt_mask_clear", "vppiipl"}, {"rt_mask_count", "lpii"},
    {"rt_mask_clear_all", "vpii"}, {"rt_mask_remember", "vpii"}, {"rt_mask_was", "lpiipll"}};

static LLVMTypeRef letter_type(Codegen *g, char letter) {
  switch (letter) {
  case 'p': return g->pointer;
  case 'i': return g->i32;
  case 'l': return g->i64;
  case 'd': return LLVMDoubleTypeInContext(g->context);
  default: return g->void_type;
  }
}

static LLVMTypeRef signature_type(Codegen *g, const char *signature) {
  LLVMTypeRef params[8];
  unsigned count = 0;
  for (const char *letter = signature + 1; *letter; letter++) params[count++] = letter_type(g, *letter);
  return LLVMFunctionType(letter_type(g, signature[0]), params, count, false);
}

LLVMValueRef call_runtime(Codegen *g, const char *name, LLVMValueRef *args, int count) {
  for (size_t i = 0; i < sizeof runtime_rows / sizeof *runtime_rows; i++) {
    if (strcmp(runtime_rows[i].name, name)) continue;
    LLVMTypeRef type = signature_type(g, runtime_rows[i].signature);
    LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
    if (!function) {
      function = LLVMAddFunction(g->module, name, type);
      llvm_function_attribute(function, "nounwind", 0);
    }
    return LLVMBuildCall2(g->builder, type, function, args, (unsigned)count, "");
  }
  ASSERT(false, "an entry point is a row of runtime_rows");
  return NULL;
}

LLVMValueRef call_frame(Codegen *g) {
  if (g->frame) return g->frame;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->frame = call_runtime(g, "rt_frame", &g->rt_context, 1);
  block_hoist_end(g, back);
  return g->frame;
}

LLVMValueRef call_ambient(Codegen *g) {
  if (g->ambient) return g->ambient;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->ambient = call_runtime(g, "rt_ambient", &g->rt_context, 1);
  block_hoist_end(g, back);
  return g->ambient;
}

static bool is_tree(Codegen *g, int tree) {
  if (tree >= 0 && tree < g->kernel->trees.count) return true;
  codegen_fail(g, NULL, "it names a tree that the kernel does not have");
  return false;
}

LLVMValueRef call_tree_root(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return LLVMConstNull(g->pointer);
  if (g->roots[tree]) return g->roots[tree];
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef args[] = {g->rt_context, value_integer(g->i32, tree)};
  g->roots[tree] = call_runtime(g, "rt_tree_root", args, 2);
  block_hoist_end(g, back);
  return g->roots[tree];
}

/* Of RtTree: constant during a task. */
static LLVMValueRef tree_member(Codegen *g, int tree, size_t offset, LLVMTypeRef type, const char *name) {
  LLVMValueRef table = value_byte_offset(g, g->rt_context, offsetof(RtContext, trees));
  LLVMValueRef trees = LLVMBuildLoad2(g->builder, g->pointer, table, "trees");
  LLVMValueRef entry = value_byte_offset(g, trees, tree * (int64_t)sizeof(RtTree *));
  LLVMValueRef header = LLVMBuildLoad2(g->builder, g->pointer, entry, "tree");
  return LLVMBuildLoad2(g->builder, type, value_byte_offset(g, header, (int64_t)offset), name);
}

/* The runtime's own look-up (rt_slot_find) fetches the base anew each time; here it is a value of the task. */
LLVMValueRef call_tree_base(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return LLVMConstNull(g->pointer);
  if (g->bases[tree]) return g->bases[tree];
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->bases[tree] = tree_member(g, tree, offsetof(RtTree, base), g->pointer, "base");
  block_hoist_end(g, back);
  return g->bases[tree];
}

LLVMValueRef call_tree_own(Codegen *g, int tree) {
  if (!is_tree(g, tree)) return value_index(g, 0);
  if (g->owns[tree]) return g->owns[tree];
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef table = tree_member(g, tree, offsetof(RtTree, own), g->pointer, "own");
  LLVMValueRef worker = LLVMBuildLoad2(g->builder, g->i32, value_byte_offset(g, g->worker, offsetof(RtWorker, index)), "worker");
  LLVMValueRef bytes = LLVMBuildMul(g->builder, LLVMBuildSExt(g->builder, worker, g->i64, ""), value_index(g, 8), "");
  LLVMValueRef entry = LLVMBuildGEP2(g->builder, g->i8, table, &bytes, 1, "");
  g->owns[tree] = LLVMBuildLoad2(g->builder, g->i64, entry, "own");
  block_hoist_end(g, back);
  return g->owns[tree];
}

LLVMValueRef call_frame_slot(Codegen *g, int64_t slot) {
  if (slot < 0 || slot >= g->kernel->frame_slots) codegen_fail(g, NULL, "it names a frame slot that does not exist");
  return value_byte_offset(g, call_frame(g), slot * 8);
}

void call_poll_stop(Codegen *g) {
  LLVMValueRef stopped = call_runtime(g, "rt_stopped", &g->rt_context, 1);
  LLVMValueRef go = LLVMBuildICmp(g->builder, LLVMIntEQ, stopped, value_integer(g->i32, 0), "");
  LLVMBasicBlockRef on = block_new(g, "on");
  block_branch(g, go, on, g->finish);
  block_enter(g, on);
}
