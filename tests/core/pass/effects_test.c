/* effects_test.c - effects are computed once, are kept while nothing changes, and are discarded
 * when something may have changed. tests/pass/effects tests their contents from text to text. */
#include "check.h"
#include "pass/analysis/dependence.h"

static Heap heap;
static Scratch scratch;

static const char *const kernel_text =
    "kernel k\n"
    "tree t0 = root{ pointer \"i\" 4 { dense \"i\" 8 { f32 x, f32 y } } }\n"
    "field f0 = t0.node 2.component 0: f32 x\n"
    "field f1 = t0.node 2.component 1: f32 y\n"
    "level l0 = t0.node 2 x\n"
    "level l1 = t0.node 1 block\n"
    "host {\n"
    "  active l0 (%i: i32) {\n"
    "    %p: place = place f0 %i\n"
    "    %x: f32 = load %p\n"
    "    %q: place = place f1 %i\n"
    "    update add %q, %x\n"
    "    deactivate l1 %i\n"
    "  }\n"
    "}\n";

static IrInst *find(IrRegion *region, IrOp op) {
  IrInst *inst = region->first;
  while (inst && inst->op != op) inst = inst->next;
  return inst;
}

int main(void) {
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  Error err;
  error_clear(&err);
  PassContext ctx = {.scratch = &scratch, .vector_bytes = 32, .target = target_cpu, .verify = true};
  IrKernel *kernel = ir_read(&scratch, &heap, kernel_text, &err);
  CHECK(kernel != NULL);
  TEST("a loop that is not a task yet can be analysed, with its parameters as the loop's indices") {
    const Effects *effects =
        effects_collect(&scratch, kernel, kernel->body->first->regions[0], NULL);
    CHECK_INT(effects->accesses.count, 2);
    CHECK(effects_where(effects->accesses.items[0].place) == EFFECT_OWN);
    CHECK_INT(effects->fields[0].verbs, EFFECT_READS);
    CHECK_INT(effects->fields[1].verbs, EFFECT_UPDATES);
    CHECK_INT(effects->fields[1].updates, 1 << IR_UPDATE_ADD);
    CHECK(!dependence_may_carry(effects, 1, EFFECT_WRITES, EFFECT_WRITES));
    CHECK(!dependence_may_carry(effects, 0, EFFECT_WRITES, EFFECT_WRITES)); /* it has none */
    CHECK_INT(effects->changes, EFFECT_DEACTIVATES);
    CHECK_INT(effects_of_calls(effects, snode_root(kernel->trees.items[0].tree)), 0);
    CHECK_INT(effects_of_calls(effects, kernel->levels.items[0].node),
              EFFECT_DEACTIVATES); /* below the one that is removed */
  }
  CHECK(pass_run_named(&ctx, kernel, "tasks", &err));
  const IrTask *task = kernel->tasks.items[0];
  TEST("effects are computed once for each task and for the host region") {
    const Effects *effects = effects_of(&ctx, kernel, task);
    CHECK(effects_of(&ctx, kernel, task) == effects);
    CHECK(effects_of(&ctx, kernel, NULL) != effects);
    CHECK_INT(effects_of(&ctx, kernel, NULL)->accesses.count, 0);
    CHECK(effects_hold(&ctx, kernel));
  }
  TEST("flags of an access do not change effects") {
    find(task->body, IR_UPDATE)->nonatomic = true;
    CHECK(effects_hold(&ctx, kernel));
  }
  TEST("a removed access leaves the effects, which are computed again once they were discarded") {
    const Effects *before = effects_of(&ctx, kernel, task);
    ir_delete(find(task->body, IR_UPDATE));
    CHECK(!effects_hold(&ctx, kernel));
    effects_forget(&ctx);
    CHECK(effects_hold(&ctx, kernel));
    CHECK(effects_of(&ctx, kernel, task) != before);
    CHECK_INT(effects_of(&ctx, kernel, task)->accesses.count, 1);
  }
  TEST("a pass that may change bodies discards the effects, one that keeps them does not") {
    const Effects *before = effects_of(&ctx, kernel, task);
    CHECK(pass_run_named(&ctx, kernel, "fold", &err));
    CHECK(ctx.effects == NULL);
    CHECK(pass_run_named(&ctx, kernel, "lint", &err));
    CHECK(ctx.effects != NULL && effects_of(&ctx, kernel, task) != before);
  }
  snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
  scratch_deinit(&scratch);
  TEST("the analysis frees all memory") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
