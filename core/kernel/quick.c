/* quick.c - see quick.h. Full code of a large kernel takes LLVM six times as long as quick code,
 * which runs a fifth as fast: so a kernel that is launched a few times, as most are that prepare,
 * sum up or draw, never needs it, and one that is launched often has it soon.
 * Full code is waited for: nothing goes on when the runtime ends, and the workers would have to
 * share their processors with the compiler. When it comes hangs on time, but results do not, except
 * for the last bits under fast_math, which may compile the two differently: who asks for the same
 * bits in each run (deterministic, tune = "off") begins such a kernel with full code. */
#include "kernel/quick.h"

#include <string.h>

#include "base/clock.h"
#include "thread/job.h"

enum {
  ENOUGH_MS = 10,  /* that quick code runs in all */
  LARGE = 100,     /* insts: full code takes about 12 ms */
  MOST_TURNS = 64  /* of a serial loop: a worker asks for better code between chunks */
};

typedef struct Quick {
  Variant *variant;
  Engine *engine;
  uint64_t ticks;     /* its launches, in all */
  bool has_ended;     /* its full code is there, or could not be made: no launch asks again */
  DeviceCode *code;   /* until the launch is over that may run it; then until the variant ends */
  RgCodegenRequest request;
  RgCodegenResult *result; /* of full code; NULL: */
  Error why;
} Quick;

/* -- who gets it ------------------------------------------------------------------------------- */

/* Where results may differ in their last bits, they must not where the user asked for that. */
static bool may_differ(const Kernel *kernel) {
  const EngineOptions *options = &kernel->engine->options;
  return !options->deterministic && options->tunes != TUNE_OFF;
}

/* Not on a device that queues launches, nor in a host's job system (which is not specialised for
 * either): somebody else's work would wait for the compiler. */
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

/* A visit: counts insts; false at a loop of which nobody knows how long it takes. */
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

/* The canonical bytes as a request for quick code. */
static RgCodegenRequest quick_request(const Compile *compile, const Variant *variant) {
  const Engine *engine = compile->kernel->engine;
  const Device *device = engine->store->device;
  RgCodegenRequest request =
      compile_request(engine, compile->bytes.data, compile->bytes.length);
  bool keeps_order = engine_has_one_order(engine) && variant->order_shows;
  request.quick = keeps_order ? RG_QUICK_IN_ORDER : RG_QUICK;
  request.threads = device->worker_count;
  return request;
}

/* -- the note on disk -------------------------------------------------------------------------- */

/* Some process had quick code of it, and may have ended before it made full code. */
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

/* By a thread of its own: the launching one is the host's, and its stack may be small. */
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

/* Its full code; NULL: it cannot be made, and the quick code stays. */
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

/* Of the device, in the middle of a launch, of whose time that is no part. */
static const DeviceCode *improve_now(void *data) {
  Quick *quick = data;
  uint64_t begin = clock_ticks();
  const DeviceCode *code = improve(quick);
  quick->engine->stats.run_ticks -= clock_ticks() - begin; /* the launch adds all of its own */
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
