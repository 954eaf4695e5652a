/* quick.c - see quick.h. For a large kernel, LLVM takes six times as long to make optimised
 * ("full") code as baseline ("quick") code, which runs at a fifth of the speed. So a kernel that is
 * launched a few times, as most that initialise, sum up or draw, never needs optimised code, and
 * one that is launched often gets it soon.
 * A launch waits for optimised code: so nothing is left running when the runtime ends, and workers
 * need not share processors with the compiler. The time of the switch varies, but results do not,
 * except for their last bits under fast_math, which may compile the two differently: if the user
 * requests the same bits in each run (deterministic, tune = "off"), such a kernel begins with
 * optimised code. Decision D-kernel-12. */
#include "kernel/quick.h"

#include <string.h>

#include "base/clock.h"
#include "thread/job.h"

enum {
  ENOUGH_MS = 10, /* how long baseline code runs in all */
  LARGE = 100,    /* instructions: optimised code then takes about 12 ms */
  /* iterations of a serial loop: a worker requests better code only between chunks */
  MOST_TURNS = 64
};

typedef struct Quick {
  Variant *variant;
  Engine *engine;
  uint64_t ticks; /* total time of its launches */
  bool has_ended; /* optimised code is ready or failed: launches do not request it again */
  /* the baseline code, kept until the variant ends, as a launch may still run it */
  DeviceCode *code;
  RgCodegenRequest request;
  RgCodegenResult *result; /* the optimised code's; NULL: see why */
  Error why;
} Quick;

/* -- which kernels begin with it
 * ---------------------------------------------------------------- */

/* May results differ in their last bits between runs? Not if the user requested equal runs. */
static bool may_differ(const Kernel *kernel) {
  const EngineOptions *options = &kernel->engine->options;
  return !options->deterministic && options->tunes != TUNE_OFF;
}

/* Not on a device that queues launches, nor in a host's job system (where nothing is specialised
 * either): other work would have to wait for the compiler. */
static bool is_possible(const Compile *compile) {
  const Kernel *kernel = compile->kernel;
  const EngineOptions *options = &kernel->engine->options;
  const Device *device = kernel->engine->store->device;
  if (options->begins_quick == QUICK_OFF) return false;
  if (!options->specialises || options->always_specialises || options->debug) return false;
  if (options->tunes == TUNE_ALWAYS || device->processors[RG_TARGET_PTX] || device->most_queued)
    return false;
  return !kernel->fast_math || may_differ(kernel);
}

static bool is_no_run(void *data, IrInst *inst) { return inst->op != IR_RUN; }

static bool is_short(const IrInst *loop) {
  int64_t begin, last, step;
  if (loop->op != IR_FOR || !ir_is_const(loop->operands[0], &begin) ||
      !ir_is_const(loop->operands[1], &last) || !ir_is_const(loop->operands[2], &step) || !step)
    return false;
  double turns = ((double)last - (double)begin) / (double)step + 1;
  return turns <= MOST_TURNS;
}

/* A visit: counts instructions; false at a loop of unknown length. */
static bool count(void *data, IrInst *inst) {
  ++*(int64_t *)data;
  if (inst->op == IR_INVOKE) return false;
  if (inst->op != IR_LOOP && inst->op != IR_FOR) return true;
  return is_short(inst) || !ir_walk(inst->regions[0], is_no_run, NULL);
}

static bool is_large(const IrKernel *kernel, bool always) {
  int64_t insts = 0;
  if (kernel->functions.count || !ir_walk(kernel->body, count, &insts)) return false;
  for (int k = 0; k < kernel->tasks.count; k++) {
    const IrTask *task = kernel->tasks.items[k];
    if (!ir_walk(task->body, count, &insts)) return false;
    if (task->interior && !ir_walk(task->interior, count, &insts)) return false;
  }
  return always || insts >= LARGE;
}

/* A request to compile the canonical bytes to baseline code. */
static RgCodegenRequest quick_request(const Compile *compile, const Variant *variant) {
  const Engine *engine = compile->kernel->engine;
  const Device *device = engine->store->device;
  RgCodegenRequest request = compile_request(engine, compile->bytes.data, compile->bytes.length);
  bool keeps_order = engine_has_one_order(engine) && variant->order_shows;
  request.quick = keeps_order ? RG_QUICK_IN_ORDER : RG_QUICK;
  request.threads = device->worker_count;
  return request;
}

/* -- the note on disk -------------------------------------------------------------------------- */

/* Has an earlier process used baseline code for it (and perhaps ended before optimised code was
 * made)? */
static bool was_quick(Engine *engine, const RgCodegenRequest *request) {
  RgCodegenObject objects[RG_TARGET_COUNT];
  bool is_found = cache_find(engine->cache, request, objects);
  for (int t = 0; is_found && t < RG_TARGET_COUNT; t++)
    heap_free(engine->store->heap, objects[t].bytes);
  return is_found;
}

static void note_on_disk(Engine *engine, const RgCodegenRequest *request) {
  RgCodegenObject none[RG_TARGET_COUNT] = {0};
  cache_store(engine->cache, request, none);
}

/* -- making ------------------------------------------------------------------------------------ */

static DeviceCode *load(Engine *engine, const RgCodegenResult *result, const Variant *variant,
                        Error *err) {
  Device *device = engine->store->device;
  return device->table->load(device, result->objects, variant->task_count, err);
}

static bool begin(Compile *compile, Variant *variant, Quick *quick) {
  Engine *engine = compile->kernel->engine;
  RgCodegenRequest request = quick_request(compile, variant);
  if (was_quick(engine, &request)) return false;
  RgCodegenResult *result = compile_quick(compile, &request);
  if (!result) return false;
  Error ignored;
  error_clear(&ignored);
  variant->code = load(engine, result, variant, &ignored);
  codegen_result_free(engine->codegen, result);
  if (!variant->code) return false;
  note_on_disk(engine, &request);
  *quick = (Quick){.engine = engine, .variant = variant, .code = variant->code};
  variant->quick = quick;
  engine->stats.quick++;
  return true;
}

bool quick_begin(Compile *compile, Variant *variant) {
  const Engine *engine = compile->kernel->engine;
  if (!is_possible(compile)) return false;
  if (!is_large(compile->sema.kernel, engine->options.begins_quick == QUICK_ALWAYS)) return false;
  Heap *heap = engine->store->heap;
  Quick *quick = heap_alloc(heap, sizeof *quick);
  if (!quick) return false;
  if (!begin(compile, variant, quick)) heap_free(heap, quick);
  return variant->quick != NULL;
}

static void work(void *data) {
  Quick *quick = data;
  error_clear(&quick->why);
  quick->result = codegen_compile(quick->engine->codegen, &quick->request, &quick->why);
}

/* Compiles in a separate thread: the launching one belongs to the host, and its stack may be
 * small. */
static void compile_full(Quick *quick) {
  Engine *engine = quick->engine;
  const Variant *variant = quick->variant;
  quick->request = compile_request(engine, variant->bytes, variant->byte_count);
  quick->request.threads = engine->store->device->worker_count;
  Job *job = job_start(engine->store->heap, work, quick);
  if (!job || !job_join(job)) work(quick);
}

static void charge(Engine *engine, const RgCodegenResult *result, double all_ms) {
  double *ms = engine->stats.step_ms;
  ms[STEP_READ] += result->parse_ms;
  ms[STEP_EMIT] += result->emit_ms;
  ms[STEP_OPTIMISE] += result->optimize_ms;
  ms[STEP_OBJECT] += result->object_ms;
  engine->stats.compile_ms += all_ms;
}

/* Makes optimised code; NULL on failure, and the baseline code stays. */
static DeviceCode *improve(Quick *quick) {
  Engine *engine = quick->engine;
  double begin_ms = clock_ms();
  quick->has_ended = true;
  compile_full(quick);
  if (!quick->result) return NULL;
  DeviceCode *code = load(engine, quick->result, quick->variant, &quick->why);
  if (code) cache_store(engine->cache, &quick->request, quick->result->objects);
  if (code) quick->variant->code = code;
  charge(engine, quick->result, clock_ms() - begin_ms);
  codegen_result_free(engine->codegen, quick->result);
  quick->result = NULL;
  engine->stats.improved += code != NULL;
  return code;
}

/* -- launches ---------------------------------------------------------------------------------- */

/* DeviceLaunch.improve: called in the middle of a launch, whose time must not include the
 * compile. */
static const DeviceCode *improve_now(void *data) {
  Quick *quick = data;
  uint64_t begin = clock_ticks();
  const DeviceCode *code = improve(quick);
  /* the launch adds its whole time later */
  quick->engine->stats.run_ticks -= clock_ticks() - begin;
  return code;
}

static uint64_t enough_ticks(Engine *engine) {
  double ms_per_tick = engine_ms(engine, 1000000) / 1000000;
  if (engine->options.begins_quick == QUICK_ALWAYS || ms_per_tick <= 0) return 0;
  return (uint64_t)(ENOUGH_MS / ms_per_tick);
}

void quick_prepare(Engine *engine, Variant *variant, DeviceLaunch *launch) {
  Quick *quick = variant->quick;
  if (!quick || quick->has_ended) return;
  uint64_t enough = enough_ticks(engine);
  if (quick->ticks > enough) {
    improve(quick);
    launch->code = variant->code;
    return;
  }
  launch->improve = improve_now;
  launch->improve_data = quick;
  launch->improve_at = clock_ticks() + (enough - quick->ticks);
}

bool quick_note(Variant *variant, const DeviceLaunch *launch) {
  Quick *quick = variant->quick;
  if (!quick || !launch->improve) return true;
  quick->ticks += launch->ticks;
  return false;
}

bool quick_end(Variant *variant, Error *err) {
  Quick *quick = variant->quick;
  if (!quick || variant->code != quick->code || improve(quick)) return true;
  *err = quick->why;
  return false;
}

void quick_drop(Engine *engine, Variant *variant) {
  Quick *quick = variant->quick;
  if (!quick) return;
  Device *device = engine->store->device;
  if (variant->code != quick->code) device->table->unload(device, quick->code);
  heap_free(engine->store->heap, quick);
  variant->quick = NULL;
}
