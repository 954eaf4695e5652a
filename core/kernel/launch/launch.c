/* launch.c - turns launch arguments into a frame and a list of trees, and runs the version. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tree/access/cell.h"
#include "kernel/versions/background.h"
#include "kernel/versions/baseline.h"
#include "kernel/compile/compile.h"
#include "kernel/launch/queue.h"
#include "kernel/tuning/validation.h"
#include "kernel/versions/shipped.h"
#include "kernel/versions/specialise.h"
#include "kernel/tuning/tuning.h"

static void expect_valid(const Kernel *kernel) {
  const char *broken = NULL;
  (void)kernel, (void)broken;
  DEBUG_ASSERT(versions_are_valid(kernel->versions, kernel->last, &broken), broken);
}

static Version *find_version(Kernel *kernel, const RgValue *values, int32_t value_count,
                             int word_count, CompileWhy why, Error *err) {
  Version *version = versions_find(kernel, word_count);
  if (!version && kernel->shipped) version = shipped_find(kernel, values, value_count, err);
  else if (!version) version = version_compile(kernel, values, value_count, word_count, why, err);
  if (version) kernel->last = version;
  return version;
}

/* The offset of the user's line in the source, for the error's excerpt. */
static int32_t line_offset(const Source *source, int32_t line) {
  int32_t offset = 0;
  for (int32_t at = source->first_line; at < line; at++) {
    const char *newline =
        memchr(source->text.data + offset, '\n', (size_t)(source->text.length - offset));
    if (!newline) break;
    offset = (int32_t)(newline - source->text.data) + 1;
  }
  return offset;
}

static void note_reason(const SemaReason *reason, Error *err) {
  Error note = {.is_note = true};
  diag_error(&note, reason->source, reason->pos, reason->width, err->code, "it %s here",
             reason->clause + strlen("which "));
  error_add(err, &note);
}

/* Adds the use that required the type to a value.fit error. */
static bool place_error(const CompiledArg *arg, Error *err) {
  const Source *source = arg->source;
  Error placed = {0};
  Pos pos = {.offset = line_offset(source, arg->line),
             .line = arg->line,
             .column = arg->column > 0 ? arg->column : 1};
  pos.offset += pos.column - 1;
  if (pos.offset > source->text.length) pos.offset = source->text.length;
  diag_error(&placed, source, pos, (int32_t)strlen(arg->name), err->code, "%s", err->message);
  memcpy(placed.hint, err->hint, sizeof placed.hint);
  placed.more = err->more;
  *err = placed;
  if (arg->reason.clause && (arg->reason.source != source || arg->reason.pos.line != arg->line))
    note_reason(&arg->reason, err);
  return false;
}

static bool is_fraction(const RgValue *value) {
  return value->kind == RG_VALUE_NUMBER && !isnan(value->number) &&
         value->number != floor(value->number);
}

/* The integer in a slot. */
static int64_t slot_integer(Type type, uint64_t slot) {
  int unused = 64 - type_bits(type);
  return type_is_unsigned(type) ? (int64_t)(slot << unused >> unused)
                                : (int64_t)(slot << unused) >> unused;
}

/* Do the arguments fit in every type that they are stored in? */
static bool check_limits(const Kernel *kernel, const Version *version, Error *err) {
  char what[200];
  uint64_t unused;
  for (int32_t k = 0; k < version->compiled->limit_count; k++) {
    const SemaLimit *limit = &version->compiled->limits[k];
    const CompiledArg *arg = &version->compiled->args[limit->arg];
    int64_t number = slot_integer(arg->type, version->launch->frame[limit->arg]);
    RgValue value = {.kind = RG_VALUE_NUMBER,
                     .number = limit->is_negated ? -(double)number : (double)number};
    if (value_convert(limit->type, &value, &unused, NULL, NULL)) continue;
    snprintf(what, sizeof what, "%s%s '%.80s', where it is stored here,",
             limit->is_negated ? "the negative of " : "",
             arg->from.is_parameter ? "argument" : "captured", arg->name);
    value_convert(limit->type, &value, &unused, what, err);
    Error placed = {0};
    diag_error(&placed, limit->source, limit->pos, limit->width, err->code, "%s", err->message);
    memcpy(placed.hint, err->hint, sizeof placed.hint);
    placed.more = err->more;
    *err = placed;
    return false;
  }
  return true;
}

static RgValue argument_of(const CompiledArg *arg, const RgValue *value) {
  if (type_is_none(arg->given)) return *value;
  DEBUG_ASSERT(value->kind == RG_VALUE_VECTOR && value->vector,
               "the pattern records which values have several numbers");
  if (arg->from.part >= value->vector->count) return (RgValue){.kind = RG_VALUE_NIL};
  return vector_number(value->vector, arg->given, arg->from.part);
}

/* Is the value an rg.array in the memory of a counted array that the launch may also use? Then both
 * are used in place; otherwise tasks of a GPU would use a copy of it. The answer must be the same
 * for all code that the launch may run. */
static bool is_in_place(Engine *engine, const Version *version, const RgValue *value) {
  return version->compiled->takes_arrays && value->kind == RG_VALUE_ARRAY &&
         counted_contains(&engine->store->counted, ((Array *)value->array)->data);
}

/* Computes the number that a launch passes for a field or an array: an address or offset of its
 * elements, an extent or a stride. */
static bool number_of_object(const CompiledArg *arg, const RgValue *value, bool in_place,
                             uint64_t *number, Error *err) {
  Array *array = (Array *)value->array;
  if (arg->from.kind == ARG_ADDRESS && in_place)
    return *number = (uint64_t)(uintptr_t)array->data, true;
  switch (arg->from.kind) {
  case ARG_PLACE: *number = pattern_place(value); return true;
  case ARG_EXTENT: *number = (uint64_t)array->shape[arg->from.part]; return true;
  case ARG_HEADER: *number = (uint64_t)(uintptr_t)array_header(array); return true;
  case ARG_STRIDE: *number = (uint64_t)array->strides[arg->from.part]; return true;
  default: return array_locate(array, number, err);
  }
}

/* Checks that tasks can access host memory, if the kernel shares arrays with the host. */
static bool check_reach(const Kernel *kernel, const Version *version, Error *err) {
  const Device *device = kernel->engine->store->device;
  if (!version->compiled->shares_arrays || device_is_unified(device) || device->table->pins)
    return true;
  error_set(err, RG_ERROR_DEVICE,
            "kernel '%.100s' uses counted arrays outside parallel loops, and the driver of this "
            "GPU does not let it reach memory of the host at the host's addresses",
            kernel->name);
  return error_hint(err, "use an rg.array or a field; iterations may make arrays of their own");
}

/* Checks an array that is used as a value. */
static bool check_value(const CompiledArg *arg, const Array *array, Error *err) {
  if (array_can_be_value(array)) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            "'%.80s' is used as a value, but a wrap or a window with several axes cannot be one",
            arg->name);
  error_hint(err, "pass a copy: rg.zeros(T, n, m):copy_from(a)");
  return place_error(arg, err);
}

static bool check_array(const Kernel *kernel, const CompiledArg *arg, uint64_t address,
                        Error *err) {
  const RtCounted *counted = (const RtCounted *)(uintptr_t)address;
  if (!counted || counted_is_reachable(&kernel->engine->store->counted, counted)) return true;
  error_set(err, RG_ERROR_NOT_YET,
            "'%.80s' is used as a value, but with arch = \"cuda\" an rg.array, or memory that an "
            "extension manages, cannot be one yet",
            arg->name);
  error_hint(err, "pass a copy: rg.zeros(T, ..):copy_from(a)");
  return place_error(arg, err);
}

/* States which argument does not fit its type, and why it has that type. Always returns false. */
static bool fit_error(const CompiledArg *arg, const RgValue *value, Error *err) {
  char what[240];
  uint64_t unused;
  const char *clause = arg->reason.clause;
  snprintf(what, sizeof what, "%s '%.80s'%s%.120s%s",
           arg->from.is_parameter ? "argument" : "captured", arg->name, clause ? ", " : "",
           clause ? clause : "", clause ? "," : "");
  value_convert(arg->type, value, &unused, what, err);
  if (arg->from.is_parameter && is_fraction(value) && type_is_integer(arg->type)) {
    err->hint[0] = '\0'; /* a parameter's type can be declared */
    error_hint(err, "pass a whole number; where a fraction is meant, declare '%.80s: f32'",
               arg->name);
  }
  return arg->line > 0 ? place_error(arg, err) : false;
}

static bool fill_slot(const Kernel *kernel, const Version *version, const CompiledArg *arg,
                      const RgValue *value, uint64_t *slot, Error *err) {
  if (arg->from.kind == ARG_NUMBER) {
    RgValue number = argument_of(arg, value);
    if (!value_convert(arg->type, &number, slot, NULL, NULL)) return fit_error(arg, &number, err);
    return !arg->is_array || check_array(kernel, arg, *slot, err);
  }
  bool in_place = is_in_place(kernel->engine, version, value);
  if (!number_of_object(arg, value, in_place, slot, err)) return false;
  return !arg->is_array ||
         (check_value(arg, (Array *)value->array, err) && check_array(kernel, arg, *slot, err));
}

static bool fill_frame(const Kernel *kernel, Version *version, const RgValue *values, Error *err) {
  const CompiledKernel *compiled = version->compiled;
  VersionLaunch *launch = version->launch;
  readback_drop(kernel->engine, version);
  memset(launch->frame, 0, sizeof *launch->frame * (size_t)compiled->frame_slots);
  for (int32_t k = 0; k < compiled->arg_count; k++)
    if (!fill_slot(kernel, version, &compiled->args[k], &values[launch->arg_values[k]],
                   &launch->frame[k], err))
      return false;
  return true;
}

int32_t launch_list_arrays(const Version *version, const RgValue *values) {
  const CompiledKernel *compiled = version->compiled;
  int32_t count = 0;
  RtTree **arrays = version->launch->trees + compiled->tree_count;
  for (int32_t k = 0; k < compiled->arg_count; k++)
    if (compiled->args[k].from.kind == ARG_ADDRESS)
      arrays[count++] = pattern_memory(&values[version->launch->arg_values[k]]);
  return count;
}

/* Appends the arrays that are not used in place: the device must make them accessible to tasks. */
static int32_t list_moved(Engine *engine, const Version *version, const RgValue *values) {
  const CompiledKernel *compiled = version->compiled;
  RtTree **arrays = version->launch->trees + compiled->tree_count;
  int32_t count = launch_list_arrays(version, values), moved = 0;
  for (int32_t k = 0, n = 0; n < count; k++) {
    if (compiled->args[k].from.kind != ARG_ADDRESS) continue;
    RtTree *array = arrays[n++];
    if (!is_in_place(engine, version, &values[version->launch->arg_values[k]]))
      arrays[moved++] = array;
  }
  return moved;
}

static bool has_any_in_place(Engine *engine, const Version *version, const RgValue *values) {
  const CompiledKernel *compiled = version->compiled;
  bool any = false;
  for (int32_t k = 0; k < compiled->arg_count && compiled->takes_arrays; k++)
    any |= compiled->args[k].from.kind == ARG_ADDRESS &&
           is_in_place(engine, version, &values[version->launch->arg_values[k]]);
  return any;
}

/* The context stays unchanged: the device fills it. */
void launch_fill(Engine *engine, Version *version, const RgValue *values, DeviceLaunch *launch) {
  const Store *store = engine->store;
  const CompiledKernel *compiled = version->compiled;
  RtTree **trees = version->launch->trees;
  DEBUG_ASSERT(version->state == VERSION_READY, "the version of a launch has code");
  for (int32_t k = 0; k < compiled->tree_count; k++)
    trees[k] = pattern_memory(&values[version->launch->tree_values[k]]);
  launch->code = version->code;
  launch->improve = NULL;
  launch->tasks = compiled->tasks;
  launch->task_count = compiled->task_count;
  launch->frame = version->launch->frame;
  launch->frame_slots = compiled->frame_slots;
  launch->trees = trees;
  launch->tree_count = compiled->tree_count;
  launch->array_count = store->device->table->access ? list_moved(engine, version, values) : 0;
  launch->has_arrays_in_place = has_any_in_place(engine, version, values);
  launch->ambient = store->zeros;
  launch->random = &engine->random;
  launch->stream = engine->stream;
  launch->has_sums = compiled->has_sums;
  launch->message_axes = compiled->message_axes;
  launch->gc_is_stopped = store->gc_is_stopped;
  launch->prints = compiled->prints;
  launch->makes_arrays = compiled->makes_arrays;
  launch->shares_arrays = compiled->shares_arrays;
  launch->host_has_arrays = compiled->host_has_arrays;
  launch->grows_arrays = compiled->grows_arrays;
}

/* The version for these values, compiled if necessary; NULL with err. */
static Version *choose_version(Kernel *kernel, const RgValue *values, int32_t value_count,
                               CompileWhy why, Error *err) {
  kernel->want = WANT_NOTHING;
  if (!owner_check(kernel->object.owner, err)) return NULL;
  if (value_count < kernel->paths.count) {
    error_set(err, RG_ERROR_LAUNCH_ARGUMENTS,
              "a launch of kernel '%.100s' needs a value for each of %d captured names, %d given",
              kernel->name, kernel->paths.count, value_count);
    return NULL;
  }
  int word_count = pattern_make(kernel, values, value_count, err);
  if (word_count < 0) return NULL;
  Version *version = find_version(kernel, values, value_count, word_count, why, err);
  if (!version || version->state == VERSION_READY || why == COMPILE_IN_BACKGROUND) return version;
  background_wait(version, err);
  if (version->state == VERSION_READY) return version;
  versions_drop(version); /* it never ran, so only the kernel refers to it */
  return NULL;
}

bool kernel_compile(Kernel *kernel, const RgValue *values, int32_t value_count, bool in_background,
                    Error *err) {
  CompileWhy why = in_background ? COMPILE_IN_BACKGROUND : COMPILE_IN_ADVANCE;
  Version *version = choose_version(kernel, values, value_count, why, err);
  return version && (version->state != VERSION_READY || baseline_end(version, err));
}

/* Chooses the version and fills its frame; NULL with err. */
static Version *prepare_launch(Kernel *kernel, const RgValue *values, int32_t value_count,
                               Error *err) {
  Version *version = choose_version(kernel, values, value_count, COMPILE_TO_RUN, err);
  bool is_ready = version && check_reach(kernel, version, err) &&
                  fill_frame(kernel, version, values, err) &&
                  (!version->compiled->limit_count || check_limits(kernel, version, err));
  return is_ready ? version : NULL;
}

bool kernel_emit(Kernel *kernel, const RgValue *values, int32_t value_count, RgEmission *emission,
                 Error *err) {
  Engine *engine = kernel->engine;
  *emission = (RgEmission){0};
  if (!engine->options.runs_in_lua)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "only a runtime of arch \"lua\" emits its kernels as text");
  Version *version = prepare_launch(kernel, values, value_count, err);
  if (!version) return false;
  engine->stats.launches++;
  *emission = (RgEmission){version->number, version->compiled->lua, version->launch->frame,
                           version->compiled->arg_count};
  return true;
}

enum { LAUNCHES_PER_TIDYING = 64 };

/* Housekeeping that is done at launches. */
static void tidy_after_launch(Engine *engine) {
  Device *device = engine->store->device;
  store_relieve(engine->store);
  if (engine->stats.launches % LAUNCHES_PER_TIDYING == 0 && device->table->blocks)
    device->table->blocks->trim(device);
}

/* Applies the tuner's choice: sets the switches, and perhaps takes other code for the same
 * arguments. */
static Version *apply_choice(Kernel *kernel, TuneTrial *trial, const RgValue *values,
                             DeviceLaunch *launch) {
  launch->switches = tuning_pick(kernel, trial);
  if (!trial->code) return trial->base;
  version_copy_arguments(trial->code, trial->base);
  launch_fill(kernel->engine, trial->code, values, launch);
  return kernel->ran = trial->code;
}

enum { LAUNCHES_PER_TIME = 16 };

/* On a device where timing costs time: times trials, and one in LAUNCHES_PER_TIME other
 * launches. */
static void choose_timed(Version *version, TuneTrial *trial, DeviceLaunch *launch) {
  bool is_next = version->launch->untimed + 1 >= LAUNCHES_PER_TIME;
  launch->is_timed = trial->entry || is_next;
  if (is_next && !trial->entry) trial->represented += version->launch->untimed;
  if (!trial->entry) version->launch->untimed = is_next ? 0 : version->launch->untimed + 1;
}

/* Where one worker runs everything, compared launches are measured in processor time, since
 * other processes on a busy machine often double the time by the clock, even that of the fastest of
 * several launches. */
typedef struct Stopwatch {
  uint64_t begin;
  int64_t thread_begin; /* -1: by the clock */
} Stopwatch;

static Stopwatch stopwatch_begin(const Engine *engine, const Version *general,
                                 const TuneTrial *trial) {
  const Device *device = engine->store->device;
  bool has_one_worker = device->worker_count == 1 && !device->processors[RG_TARGET_PTX];
  bool compares = has_one_worker &&
                  (trial->entry || tuning_remeasures(trial->base) || specialise_compares(general));
  return (Stopwatch){clock_ticks(), compares ? clock_thread_ns() : -1};
}

static void stopwatch_end(Stopwatch watch, Engine *engine, DeviceLaunch *launch) {
  if (!launch->ticks) launch->ticks = clock_ticks() - watch.begin;
  engine->stats.run_ticks += launch->ticks;
  if (watch.thread_begin < 0) return;
  uint64_t own = engine_ticks(engine, (double)(clock_thread_ns() - watch.thread_begin) * 1e-6);
  if (own && own < launch->ticks) launch->ticks = own;
}

static bool run_launch(Kernel *kernel, const RgValue *values, int32_t value_count, RgValue *result,
                       Error *err) {
  Engine *engine = kernel->engine;
  Version *found = prepare_launch(kernel, values, value_count, err);
  if (!found) return false;
  Version *version = versions_choose(found);
  Version *general = version->base ? version->base : version;
  DEBUG_ASSERT(!general->base, "a launch runs a general version, or one that is based on it");
  if (engine_is_stopped(engine)) return stopped_error(kernel, err); /* stopped during the compile */
  ASSERT(!engine_take_test_failure(&engine->options.fails_in_launch),
         "no test requests that this launch fails");
  kernel->ran = version;
  Device *device = engine->store->device;
  DeviceLaunch *launch = &engine->launch;
  tidy_after_launch(engine);
  if (device->queued) queue_make_room_for_launch(engine, version);
  if (queue_has_failed(engine, engine->stream, version->launch->is_awaited ? err : NULL))
    return !version->launch->is_awaited;
  launch_fill(engine, version, values, launch);
  baseline_prepare(version, launch);
  TuneTrial trial;
  trial.base = version;
  trial.entry = NULL;
  trial.represented = 1;
  bool is_tuned = version->is_tuned;
  if (is_tuned) version = apply_choice(kernel, &trial, values, launch);
  if (engine->times_some) choose_timed(trial.base, &trial, launch);
  Stopwatch watch = stopwatch_begin(engine, general, &trial);
  engine->store->changes++;
  bool ok = device->table->launch(device, launch, err);
  engine->stats.launches++;
  if (is_tuned) launch->switches = (DeviceSwitches){0};
  expect_valid(kernel);
  if (launch->ticket) {
    ok = ok && queue_add(kernel, &trial, values, result, err);
    if (ok) specialise_note(general, trial.base, 0);
    return ok;
  }
  stopwatch_end(watch, engine, launch);
  ok &= readback(kernel, version, launch, values, result, err);
  if (!baseline_note(version, launch)) return ok;
  if (is_tuned || launch->ticks >= engine->tune_from)
    tuning_note_launch(kernel, &trial, launch, ok);
  if (ok) specialise_note(general, trial.base, launch->ticks);
  return ok;
}

bool kernel_launch(Kernel *kernel, const RgValue *values, int32_t value_count, RgValue *result,
                   Error *err) {
  Engine *engine = kernel->engine;
  *result = (RgValue){.kind = RG_VALUE_NIL};
  if (engine->options.runs_in_lua)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "kernels of arch \"lua\" run in Lua: rg_kernel_emit returns their text");
  engine_begin_launch(engine);
  counted_set_launch(&engine->store->counted, kernel->place);
  bool ok = run_launch(kernel, values, value_count, result, err);
  counted_set_launch(&engine->store->counted, NULL);
  engine_end_launch(engine);
  return ok;
}

bool kernel_result(Kernel *kernel, int32_t number, RgValue *result, Error *err) {
  *result = (RgValue){.kind = RG_VALUE_NIL};
  if (!owner_check(kernel->object.owner, err)) return false;
  if (kernel->ran && readback_result(kernel, kernel->ran, number, result)) return true;
  return error_set(err, RG_ERROR_ARGUMENT, "kernel '%.100s' has no result %d", kernel->name,
                   number);
}

void kernel_gradient_use(const Kernel *kernel, int32_t number, RgGradientUse *use) {
  const CompiledKernel *compiled = kernel->last ? kernel->last->compiled : NULL;
  *use = (RgGradientUse){.value = -1, .version = kernel->last ? kernel->last->number : 0};
  if (!compiled || number < 0 || number >= compiled->gradient_use_count) return;
  const CompiledGradientUse *from = &compiled->gradient_uses[number];
  *use = (RgGradientUse){.value = from->value,
                         .reads = from->reads,
                         .before = from->before,
                         .writes = from->writes,
                         .reruns = from->reruns,
                         .draws = from->draws,
                         .lost_line = from->lost_line,
                         .wanted_line = from->wanted_line,
                         .has_first = from->has_first,
                         .first_value = from->first_value,
                         .first = from->first,
                         .version = use->version};
}

static bool tune_launch(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  Engine *engine = kernel->engine;
  Version *general = prepare_launch(kernel, values, value_count, err);
  if (!general || engine->options.runs_in_lua) return general != NULL;
  general = baseline_end(general, err);
  if (!general) return false;
  Version *version = versions_choose(general);
  if (!queue_report_all(engine, err)) return false;
  launch_fill(engine, version, values, &engine->launch);
  return validation_tune(kernel, version, values, err);
}

bool kernel_tune(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  engine_begin_launch(kernel->engine);
  bool ok = tune_launch(kernel, values, value_count, err);
  engine_end_launch(kernel->engine);
  return ok;
}
