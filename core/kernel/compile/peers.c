/* peers.c - checks that kernels only read other ranks' sparse trees: only the owning rank knows
 * which nodes exist (tree/memory/peer.c), and may change or walk them. The check runs on freshly
 * lowered IR, where every access still names its field or level. Decision D-comm-09. */
#include "kernel/compile/compile.h"

typedef struct Search {
  const Compile *compile;
  const IrKernel *kernel;
  const IrInst *found; /* NULL: none */
} Search;

/* The number of the tree that an instruction changes or walks; -1: none. */
static int32_t used_tree(const IrKernel *kernel, const IrInst *inst) {
  switch (inst->op) {
  case IR_STORE:
  case IR_UPDATE:
  case IR_RMW:
  case IR_CAS: return kernel->fields.items[inst->operands[0]->field].tree;
  case IR_ACTIVE:
  case IR_COUNT:
  case IR_ACTIVATE:
  case IR_DEACTIVATE:
  case IR_CLEAR:
  case IR_APPEND:
  case IR_POP: return kernel->levels.items[inst->level].tree;
  default: return -1;
  }
}

static bool is_view(const Search *search, int32_t number) {
  const SNodeTree *layout = search->kernel->trees.items[number].tree;
  for (int32_t k = 0; k < search->compile->value_count; k++) {
    const Tree *tree = pattern_owner(&search->compile->values[k]);
    if (tree && tree->layout == layout) return tree_is_view(tree);
  }
  return false;
}

static bool check_inst(void *data, IrInst *inst) {
  Search *search = data;
  int32_t tree = used_tree(search->kernel, inst);
  if (tree >= 0 && is_view(search, tree)) search->found = inst;
  return !search->found;
}

static bool has_partial(const IrKernel *kernel) {
  for (int32_t k = 0; k < kernel->trees.count; k++)
    if (kernel->trees.items[k].tree && kernel->trees.items[k].tree->is_partial) return true;
  return false;
}

bool compile_check_peers(const Compile *compile, Error *err) {
  const IrKernel *kernel = compile->sema.kernel;
  compile->sema.kernel->is_bounded = has_partial(kernel);
  Search search = {compile, kernel, NULL};
  DEBUG_ASSERT(!kernel->tasks.count, "accesses still name their fields");
  bool has_views = false;
  if (!compile->values) return true; /* the IR of the base was checked */
  for (int32_t k = 0; k < kernel->trees.count && !has_views; k++) has_views = is_view(&search, k);
  if (!has_views) return true;
  ir_walk(kernel->body, check_inst, &search);
  for (int k = 0; k < kernel->functions.count; k++)
    ir_walk(kernel->functions.items[k]->body, check_inst, &search);
  if (!search.found) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            "kernel '%.100s' (line %d) %s another rank's sparse tree, whose elements can only be "
            "read, one by one",
            compile->kernel->name, search.found->line,
            search.found->op == IR_ACTIVE || search.found->op == IR_COUNT ? "walks over"
                                                                          : "changes");
  return error_hint(err, "read x[i][j] and x:is_active(i, j) over a range; only the owning rank "
                         "can do more");
}
