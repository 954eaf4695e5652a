/* pipeline.c - the passes in running order, and the loop that runs, dumps and verifies them. */
#include "ir/attribute.h"
#include "pass/analysis/effects.h"
#include "pass/fact.h"
#include "pass/pass.h"

/* -- what passes need and leave: pass.def ----------------------------------------------------- */

static const char *const fact_texts[FACT_COUNT] = {
#define FACT(NAME, TEXT) TEXT,
#define PASS(...)
#include "pass/pass.def"
#undef PASS
#undef FACT
};

/* -- targets: target.def ----------------------------------------------------------------------- */

const Target target_cpu = {
    .kind = TARGET_CPU,
#define CAPABILITY(NAME, CPU, GPU, TEXT) .NAME = CPU,
#include "pass/target.def"
#undef CAPABILITY
};

const Target target_gpu = {
    .kind = TARGET_GPU,
#define CAPABILITY(NAME, CPU, GPU, TEXT) .NAME = GPU,
#include "pass/target.def"
#undef CAPABILITY
};

/* -- the passes -------------------------------------------------------------------------------- */

typedef struct Pass {
  const char *name;
  unsigned targets; /* a set of TargetKind */
  bool (*run)(PassContext *ctx, IrKernel *kernel, Error *err);
  unsigned needs, gives, ends, keeps;
} Pass;

#define FACT(NAME, TEXT)
#define PASS(NAME, TARGET, NEEDS, GIVES, ENDS, KEEPS) \
  static const Pass NAME = {#NAME, TARGET_##TARGET, pass_##NAME, NEEDS, GIVES, ENDS, KEEPS};
#include "pass/pass.def"
#undef PASS

/* `atomics` and `bounds` need loops as the user wrote them. `fold` runs wherever the previous pass
 * leaves constants and unused values: after `tasks`, so that later passes see folded indices, after
 * `unroll`, whose copies differ in constants, and at the end, since `lower_places` emits address
 * arithmetic naively. `mem2reg` follows it where that decides conditions and makes new values of
 * variables possible; what `lower_places` adds are loads in arms. `lint` and `explain` change
 * nothing: the first reads the user's code, the other reports how it was compiled. */
static const Pass *const order[] = {
    &fold,
    &early_exits,
    &mem2reg,
    &adjoint,
    &wavefront,
    &tiling,
    &active_counts,
    &tasks,
    &fold,
    &mem2reg,
    &reversal,
    &local_arrays,
    &refcounts,
    &array_descriptors,
    &locks,
    &lint,
    &coalesce,
    &fold,
    &bit_slices,
    &packed_strips,
    &packed,
    &atomics,
    &bounds,
    &packed_updates,
    &node_cursors,
    &privatise,
    &unroll,
    &fold,
    &mem2reg,
    &constant_tables,
    &hoist_checks,
    &leaf,
    &rows,
    &independent,
    &explain,
    &lower_places,
    &fold,
    &sink,
    &merge_branches,
    &redundant_slots,
    &redundant_loads,
    &fold,
    &serial,
    &frame_stores,
    &aggregate_atomics,
    &sole_worker,
    &lanes,
    &access_shapes,
    &vectorise,
    &prefetch_rows,
    &cell_loops,
    &lane_accesses,
    &uniformity,
    &expand,
};
static const Pass *const by_name[] = {
#define PASS(NAME, ...) &NAME,
#include "pass/pass.def"
#undef PASS
#undef FACT
    NULL};

/* The facts that hold of a kernel from sema, or of one parsed from text. A text that has tasks may
 * come from any point of the pipeline, so it is trusted with all later facts. */
static unsigned facts_of(const IrKernel *kernel) {
  bool has_tasks = kernel->tasks.count || kernel->frame_slots;
  return has_tasks ? ALL_FACTS & ~(HOST_LOOPS | EFFECTS) : SYMBOLIC | HOST_LOOPS | ROLLED;
}

static bool check_needs(const Pass *pass, unsigned facts, Error *err) {
  for (int fact = 0; fact < FACT_COUNT; fact++)
    if ((pass->needs & ~facts) >> fact & 1)
      return error_set(err, RG_ERROR_INTERNAL, "pass '%s' needs that %s", pass->name,
                       fact_texts[fact]);
  return true;
}

static unsigned facts_after(const Pass *pass, unsigned facts) {
  const unsigned fleeting = FOLDED | EFFECTS;
  return (facts & ~pass->ends & (~fleeting | pass->keeps)) | pass->gives;
}

/* -- running ---------------------------------------------------------------------------------- */

static const char *print(PassContext *ctx, const IrKernel *kernel) {
  StrBuf text;
  strbuf_init(&text, ctx->scratch);
  ir_print(&text, kernel);
  return strbuf_end(&text);
}

static bool verify(PassContext *ctx, const Pass *pass, const IrKernel *kernel, Error *err) {
  Error why;
  error_clear(&why);
  if (!ir_verify(kernel, &why))
    return error_set(err, RG_ERROR_INTERNAL, "after pass %s: %s", pass->name, why.message);
  if (!(pass->keeps & EFFECTS) || effects_hold(ctx, kernel)) return true;
  return error_set(err, RG_ERROR_INTERNAL, "pass '%s' changes effects, which it says it keeps",
                   pass->name);
}

static bool run_pass(PassContext *ctx, const Pass *pass, IrKernel *kernel, unsigned *facts,
                     Error *err) {
  ASSERT(ctx->target.kind == TARGET_CPU || ctx->target.kind == TARGET_GPU, "the target is one");
  if (!(pass->targets & ctx->target.kind)) {
    const char *other = pass->targets == TARGET_GPU ? "(for a GPU)" : "(for a CPU)";
    if (ctx->dump) ctx->dump(ctx->dump_data, pass->name, other);
    return true;
  }
  if (!check_needs(pass, *facts, err)) return false;
  ctx->facts = *facts;
  const char *before = ctx->dump ? print(ctx, kernel) : NULL;
  if (!pass->run(ctx, kernel, err) || !ir_finish(kernel, err)) return false;
  if (ctx->dump) {
    const char *after = print(ctx, kernel);
    ctx->dump(ctx->dump_data, pass->name, strcmp(before, after) == 0 ? "(unchanged)" : after);
  }
  if (ctx->verify && !verify(ctx, pass, kernel, err)) return false;
  if (!(pass->keeps & EFFECTS)) effects_forget(ctx);
  *facts = facts_after(pass, *facts);
  return true;
}

/* Verifies the kernel at one end of the pipeline: as sema or a text leaves it, or, if `is_final`,
 * as code generation takes it. */
static bool verify_ends(PassContext *ctx, const IrKernel *kernel, bool is_final, Error *err) {
  Error why;
  error_clear(&why);
  if (!ctx->verify || (is_final ? ir_verify_final : ir_verify)(kernel, &why)) return true;
  const char *where = is_final ? "after" : "before";
  return error_set(err, RG_ERROR_INTERNAL, "%s the passes: %s", where, why.message);
}

bool pass_is_without(const PassContext *ctx, const char *pass) {
  const char *names = ctx->without;
  if (ctx->stop_after && ctx->step > ctx->stop_after && !pass_is_necessary(pass)) return true;
  while (names && *names) {
    Str name = {names, (int)strcspn(names, ",")};
    if (str_is(name, pass)) return true;
    names += name.length + (names[name.length] == ',');
  }
  return false;
}

/* A pass is left out because it is named, or because a fact that it needs was left out. `leaf`
 * always runs, since later passes need its loops; it leaves out its own optimisations. */
static bool is_left_out(const PassContext *ctx, const Pass *pass, unsigned facts) {
  if (!ctx->stop_after && (!ctx->without || !ctx->without[0])) return false;
  return (pass != &leaf && pass_is_without(ctx, pass->name)) || (pass->needs & ~facts) != 0;
}

/* Up to `last`; NULL: all. */
static bool run_in_order(PassContext *ctx, IrKernel *kernel, const Pass *last, Error *err) {
  unsigned facts = facts_of(kernel);
  effects_forget(ctx);
  if (!verify_ends(ctx, kernel, false, err)) return false;
  for (int i = 0; i < pass_count() && (!i || order[i - 1] != last); i++) {
    ctx->step = i + 1;
    if (order[i] == &lanes && ctx->before_lanes) ctx->before_lanes(ctx->before_lanes_data, kernel);
    if (!is_left_out(ctx, order[i], facts) && !run_pass(ctx, order[i], kernel, &facts, err))
      return false;
  }
  return last || verify_ends(ctx, kernel, true, err);
}

bool pass_run_all(PassContext *ctx, IrKernel *kernel, Error *err) {
  return run_in_order(ctx, kernel, NULL, err);
}

bool pass_run_derivative(PassContext *ctx, IrKernel *kernel, Error *err) {
  return run_in_order(ctx, kernel, &adjoint, err);
}

int pass_count(void) { return (int)(sizeof order / sizeof order[0]); }
const char *pass_name(int k) { return k < pass_count() ? order[k]->name : NULL; }
bool pass_is_necessary(const char *pass) {
  return !strcmp(pass, tasks.name) || !strcmp(pass, packed.name) ||
         !strcmp(pass, packed_updates.name) || !strcmp(pass, lower_places.name) ||
         !strcmp(pass, vectorise.name) || !strcmp(pass, cell_loops.name) ||
         !strcmp(pass, lane_accesses.name) || !strcmp(pass, expand.name);
}

static const Pass *find_pass(Str name) {
  const Pass *const *pass = by_name;
  while (*pass && !str_is(name, (*pass)->name)) pass++;
  return *pass;
}

bool pass_run_named(PassContext *ctx, IrKernel *kernel, const char *names, Error *err) {
  unsigned facts = facts_of(kernel);
  effects_forget(ctx);
  while (*names) {
    Str name = {names, (int)strcspn(names, ",")};
    const Pass *pass = find_pass(name);
    if (!pass)
      return error_set(err, RG_ERROR_OPTION, "there is no pass '%.*s'", name.length, name.data);
    if (!run_pass(ctx, pass, kernel, &facts, err)) return false;
    names += name.length + (names[name.length] == ',');
  }
  return true;
}
