/* baseline.c - see baseline.h. For a large kernel, LLVM takes six times as long to make optimised
 * code as baseline code, which runs at a fifth of the speed. So a kernel that is launched a few
 * times, as most that initialise, sum up or draw, never needs optimised code, and one that is
 * launched often gets it soon. No launch waits for optimised code, as a game would stutter: a
 * thread makes it, and the launch that finds it ready continues with it. The time of the
 * switch varies, but results do not, except for their last bits under fast_math, which may compile
 * the two differently: if the user requests the same bits in each run (deterministic, tune =
 * "off"), such a kernel begins with optimised code. Decision D-kernel-12. */
#include "kernel/versions/baseline.h"

#include <string.h>

#include "base/clock.h"
#include "ir/facts.h"

enum {
  ENOUGH_MS = 10, /* how long baseline code runs in all */
  POLL_MS = 1,    /* between two checks, during a launch, whether optimised code is ready */
  LARGE = 100,    /* instructions: optimised code then takes about 12 ms */
  /* iterations of a serial loop: a worker requests better code only between chunks */
  MOST_TRIPS = 64
};

/* -- which kernels begin with baseline code ---------------------------------------------------- */

/* False on a device that queues launches, and in a host's job system (where nothing is specialised
 * either): other work would have to wait for the compiler. */
bool baseline_is_possible(const Compile *compile) {
  const Kernel *kernel = compile->kernel;
  const EngineOptions *options = &kernel->engine->options;
  const Device *device = kernel->engine->store->device;
  if (options->begins_baseline == BASELINE_OFF) return false;
  if (!options->specialises || options->always_specialises || options->debug) return false;
  if (options->tunes == TUNE_ALWAYS || device->processors[RG_TARGET_PTX] || device->max_queued)
    return false;
  return !kernel->fast_math || engine_may_differ(kernel->engine);
}

static bool is_short(const IrInst *loop) {
  int64_t trips = facts_trip_count(loop);
  return trips >= 0 && trips <= MOST_TRIPS;
}

/* A visit: counts instructions; false at a loop of unknown length. */
static bool count_insts(void *data, IrInst *inst) {
  ++*(int64_t *)data;
  if (inst->op == IR_INVOKE) return false;
  if (inst->op != IR_LOOP && inst->op != IR_FOR) return true;
  return is_short(inst) || ir_has_op(inst->regions[0], IR_RUN);
}

static bool is_large(const IrKernel *kernel, bool always) {
  int64_t insts = 0;
  if (kernel->functions.count || !ir_walk(kernel->body, count_insts, &insts)) return false;
  for (int k = 0; k < kernel->tasks.count; k++) {
    const IrTask *task = kernel->tasks.items[k];
    if (!ir_walk(task->body, count_insts, &insts)) return false;
    if (task->interior && !ir_walk(task->interior, count_insts, &insts)) return false;
  }
  return always || insts >= LARGE;
}

/* A request to compile the kernel to baseline code. It is scalar, since vector code takes most of
 * the time to compile, except for tasks whose results depend on an order of iterations that is
 * fixed. */
static RgCodegenRequest baseline_request(Compile *compile) {
  const Engine *engine = compile->kernel->engine;
  const Device *device = engine->store->device;
  IrBytes bytes = compile_scalar_bytes(compile);
  RgCodegenRequest request = compile_request(engine, bytes.data, bytes.length);
  request.baseline = 1;
  request.threads = device->worker_count;
  return request;
}

/* -- the note on disk -------------------------------------------------------------------------- */

/* Has an earlier process used baseline code for this kernel? It may have ended before optimised
 * code was made. */
static bool was_baseline(Engine *engine, const RgCodegenRequest *request) {
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

bool baseline_begin(Compile *compile, Version *version) {
  Engine *engine = compile->kernel->engine;
  Device *device = engine->store->device;
  ASSERT(!version->code && !version->base, "a general version begins with baseline code");
  if (!baseline_is_possible(compile)) return false;
  if (!is_large(compile->sema.kernel, engine->options.begins_baseline == BASELINE_ALWAYS))
    return false;
  RgCodegenRequest request = baseline_request(compile);
  if (was_baseline(engine, &request)) return false;
  RgCodegenResult *result = compile_baseline(compile, &request);
  if (!result) return false;
  Error ignored;
  error_clear(&ignored);
  version->code =
      device->table->load(device, result->objects, version->compiled->task_count, &ignored);
  codegen_result_free(engine->codegen, result);
  if (!version->code) return false;
  note_on_disk(engine, &request);
  version->tier = TIER_BASELINE;
  engine->stats.baseline++;
  return true;
}

/* -- launches ---------------------------------------------------------------------------------- */

/* Is it baseline code that optimised code has not replaced? */
static bool is_current(const Version *version) {
  return version->tier == TIER_BASELINE && !version->base;
}

/* Launches do not repeat a failed compile. */
static bool may_improve(const Version *version) {
  return is_current(version) && !version->stays_baseline;
}

/* RG_QUICK=always, for tests: the switch comes at a known time. */
static bool waits_for_optimised(const Engine *engine) {
  return engine->options.begins_baseline == BASELINE_ALWAYS;
}

static uint64_t enough_ticks(Engine *engine) {
  return waits_for_optimised(engine) ? 0 : engine_ticks(engine, ENOUGH_MS);
}

static Version *optimise_version(Version *version) {
  Engine *engine = version_engine(version);
  Error ignored;
  error_clear(&ignored);
  return versions_optimise(version, waits_for_optimised(engine), &ignored);
}

/* DeviceLaunch.improve: called in the middle of a launch, whose time must not include a compile
 * that it waits for: the launch adds its whole time later. */
static const DeviceCode *improve_now(void *data) {
  Version *version = data;
  Engine *engine = version_engine(version);
  ASSERT(may_improve(version), "the device requests better code only while there may be some");
  uint64_t begin = clock_ticks();
  const Version *optimised = optimise_version(version);
  if (waits_for_optimised(engine)) engine->stats.run_ticks -= clock_ticks() - begin;
  if (optimised) return optimised->code;
  engine->launch.improve_at =
      version->stays_baseline ? UINT64_MAX : clock_ticks() + engine_ticks(engine, POLL_MS);
  return NULL;
}

Version *baseline_choose(Version *version) {
  if (!may_improve(version)) return version;
  if (version->baseline_ticks <= enough_ticks(version_engine(version))) return version;
  Version *optimised = optimise_version(version);
  return optimised ? optimised : version;
}

void baseline_prepare(Version *version, DeviceLaunch *launch) {
  if (!may_improve(version)) return;
  /* the length of a tick is only estimated: it may have changed since the version was chosen */
  uint64_t enough = enough_ticks(version_engine(version)), ran = version->baseline_ticks;
  launch->improve = improve_now;
  launch->improve_data = version;
  launch->improve_at = clock_ticks() + (ran < enough ? enough - ran : 0);
}

bool baseline_note(Version *version, const DeviceLaunch *launch) {
  if (!launch->improve) return true;
  version->baseline_ticks += launch->ticks;
  return false;
}

Version *baseline_end(Version *version, Error *err) {
  if (!is_current(version)) return version;
  return versions_optimise(version, true, err);
}
