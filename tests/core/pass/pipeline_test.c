/* pipeline_test.c - the loop that runs the passes: order, dumps, refusals. */
#include "check.h"
#include "pass/pass.h"

static Heap heap;
static Scratch scratch;

static const char *const kernel_text =
    "kernel k\n"
    "tree t0 = root{ pointer \"i\" 4 { dense \"i\" 8 { f32 x } } }\n"
    "field f0 = t0.node 2.component 0: f32 x\n"
    "level l0 = t0.node 2 x\n"
    "host {\n"
    "  active l0 (%i: i32) {\n"
    "    %p: place = place f0 %i\n"
    "    %x: f32 = load %p\n"
    "    %y: f32 = add %x, %x\n"
    "    store %p, %y\n"
    "  }\n"
    "}\n";

typedef struct Dumps {
  char names[1000];
  int unchanged;
  const char *last;
} Dumps;

static void collect(void *data, const char *pass, const char *text) {
  Dumps *dumps = data;
  size_t length = strlen(dumps->names), room = sizeof dumps->names - length;
  CHECK(snprintf(dumps->names + length, room, "%s ", pass) < (int)room);
  dumps->unchanged += strcmp(text, "(unchanged)") == 0;
  dumps->last = text;
}

static IrKernel *read(Error *err) {
  error_clear(err);
  return ir_read(&scratch, &heap, kernel_text, err);
}

static void destroy(IrKernel *kernel) {
  snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
}

/* A sum over positions of a body of so many adds that lanes wait until it has run for long. */
static IrKernel *read_long(Error *err) {
  enum { ADDS = 5200 };
  StrBuf text;
  strbuf_init(&text, &scratch);
  strbuf_text(&text, "kernel k\ntree t0 = root{ dense \"i\" 64 { f32 x } }\n"
                     "field f0 = t0.node 1.component 0: f32 x\nresult f32\nhost {\n"
                     "  %s: f32 = var\n  %a: i32 = const 0\n  %b: i32 = const 64\n"
                     "  range %a, %b (%i: i32) {\n"
                     "    %p: place = place f0 %i\n    %x: f32 = load %p\n"
                     "    %v0: f32 = mul %x, %x\n");
  for (int k = 0; k < ADDS; k++)
    strbuf_format(&text, "    %%v%d: f32 = add %%v%d, %%x\n", k + 1, k);
  strbuf_format(&text,
                "    %%c: bool = lt %%x, %%v%d\n    if %%c {\n      store %%p, %%v9\n    }\n"
                "    reduce add %%s, %%v%d\n  }\n  %%t: f32 = get %%s\n  return %%t\n}\n",
                ADDS, ADDS);
  error_clear(err);
  return ir_read(&scratch, &heap, strbuf_end(&text), err);
}

int main(void) {
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  Error err;
  Dumps dumps = {0};
  PassContext ctx = {.scratch = &scratch,
                     .vector_bytes = 32,
                     .target = target_cpu,
                     .verify = true,
                     .dump = collect,
                     .dump_data = &dumps};
  TEST("all passes run in order, each shown once, and symbolic ops are gone") {
    IrKernel *kernel = read(&err);
    CHECK(pass_run_all(&ctx, kernel, &err));
    CHECK_TEXT(err.message, "");
    CHECK_TEXT(
        dumps.names,
        "fold early_exits mem2reg adjoint wavefront tiling active_counts tasks fold mem2reg "
        "reversal local_arrays refcounts array_descriptors locks lint coalesce fold bit_slices "
        "packed_strips packed atomics bounds packed_updates node_cursors privatise unroll fold "
        "mem2reg constant_tables hoist_checks leaf rows "
        "independent explain lower_places fold sink merge_branches redundant_slots redundant_loads "
        "fold serial frame_stores aggregate_atomics sole_worker lanes access_shapes vectorise "
        "prefetch_rows cell_loops lane_accesses uniformity expand ");
    CHECK(dumps.unchanged >= 2); /* the first two folds at least */
    IrBytes bytes = ir_write(&scratch, kernel, "x86-64-v3");
    const char *target = "";
    CHECK(ir_read_bytes(&scratch, bytes.data, bytes.length, &target, &err) != NULL);
    CHECK_TEXT(err.message, "");
    destroy(kernel);
  }
  TEST("after the step that RG_STOP_AFTER names only necessary passes run, and code can be made") {
    for (int step = 1; step <= pass_count(); step++) {
      IrKernel *kernel = read(&err);
      Dumps stopped = {0};
      PassContext early = {.scratch = &scratch,
                           .vector_bytes = 32,
                           .target = target_cpu,
                           .verify = true,
                           .stop_after = step,
                           .dump = collect,
                           .dump_data = &stopped};
      CHECK(pass_run_all(&early, kernel, &err));
      CHECK_TEXT(err.message, "");
      CHECK(strstr(stopped.names, "access_shapes ") == NULL || step >= pass_count() - 6);
      destroy(kernel);
    }
  }
  TEST("a derivative that is not compiled ends with the pass that makes it, and keeps its loops") {
    IrKernel *kernel = read(&err);
    Dumps few = {0};
    PassContext only = {.scratch = &scratch,
                        .target = target_cpu,
                        .derivative = DERIVATIVE_REVERSE,
                        .verify = true,
                        .dump = collect,
                        .dump_data = &few};
    CHECK(pass_run_derivative(&only, kernel, &err));
    CHECK_TEXT(few.names, "fold early_exits mem2reg adjoint ");
    CHECK_INT(kernel->tasks.count, 0);
    destroy(kernel);
  }
  TEST("a pass that changes nothing is shown as unchanged") {
    IrKernel *kernel = read(&err);
    CHECK(pass_run_named(&ctx, kernel, "fold", &err));
    CHECK_TEXT(dumps.last, "(unchanged)");
    destroy(kernel);
  }
  TEST("an error names the pass that is unknown") {
    IrKernel *kernel = read(&err);
    CHECK(!pass_run_named(&ctx, kernel, "fold,melt", &err));
    CHECK_TEXT(err.message, "there is no pass 'melt'");
    destroy(kernel);
  }
  TEST("an order that leaves a pass without what it needs is refused, and says what is missing") {
    static const struct {
      const char *passes, *message;
    } orders[] = {
        {"fold,lower_places", "pass 'lower_places' needs that parallel loops are tasks"},
        {"tasks,tasks", "pass 'tasks' needs that parallel loops are in the host region"},
        {"tasks,lower_places",
         "pass 'lower_places' needs that loops over cells go leaf by leaf, or word by word"},
        {"tasks,leaf,atomics", "pass 'atomics' needs that a body is what one iteration does"},
        {"tasks,bounds,unroll,bounds", "pass 'bounds' needs that small loops are not unrolled"},
        {"tasks,bounds,privatise",
         "pass 'privatise' needs that updates that no other iteration reaches are marked"},
        {"tasks,leaf,lower_places,leaf", "pass 'leaf' needs that accesses name fields and levels"},
        {"tasks,fold,leaf,lower_places,redundant_slots",
         "pass 'redundant_slots' needs that equal values are merged, and none is dead"},
    };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
      IrKernel *kernel = read(&err);
      CHECK(!pass_run_named(&ctx, kernel, orders[i].passes, &err));
      CHECK_TEXT(err.message, orders[i].message);
      CHECK(err.code == RG_ERROR_INTERNAL);
      destroy(kernel);
    }
  }
  TEST("of a text that has tasks already, the facts of earlier passes are assumed") {
    IrKernel *kernel = read(&err);
    CHECK(pass_run_named(&ctx, kernel, "tasks,leaf", &err));
    CHECK(pass_run_named(&ctx, kernel, "lower_places,fold,redundant_slots", &err));
    destroy(kernel);
  }
  TEST("a long body has lanes later, unless the order of a sum must be kept") {
    for (int has_one_order = 0; has_one_order < 2; has_one_order++)
      for (int takes_long = 0; takes_long < 2; takes_long++) {
        IrKernel *kernel = read_long(&err);
        CHECK_TEXT(err.message, "");
        PassContext later = {.scratch = &scratch,
                             .vector_bytes = 32,
                             .target = target_cpu,
                             .has_one_order = has_one_order,
                             .takes_long = takes_long};
        CHECK(pass_run_all(&later, kernel, &err));
        CHECK_INT(kernel->is_long, !has_one_order && !takes_long);
        CHECK_INT(kernel->tasks.items[0]->lanes, !has_one_order && takes_long ? 8 : 0);
        destroy(kernel);
      }
  }
  TEST("a failed builder call fails the pass that made it") {
    IrKernel *kernel = read(&err);
    ir_fail(kernel, "something was missing");
    CHECK(!pass_run_named(&ctx, kernel, "fold", &err));
    CHECK_TEXT(err.message, "something was missing");
    destroy(kernel);
  }
  scratch_deinit(&scratch);
  TEST("the passes free all memory") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
