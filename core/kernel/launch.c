/* launch.c - turns launch arguments into a frame and a list of trees, and runs the variant. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tree/access/cell.h"
#include "kernel/ahead.h"
#include "kernel/queue.h"
#include "kernel/quick.h"
#include "kernel/shadow.h"
#include "kernel/specialise.h"
#include "kernel/tuning.h"

static bool are_same(const uint64_t *a, const uint64_t *b, int count) {
  return count <= 0 || !memcmp(a, b, sizeof *a * (size_t)count);
}

/* Compares patterns, except captures added after the variant was compiled. */
static bool is_same(const Kernel *kernel, const Variant *variant, int word_count) {
  int known = variant->path_count * PATTERN_WORDS, rest = kernel->paths.count * PATTERN_WORDS;
  return variant->word_count == word_count && are_same(variant->words, kernel->words, known) &&
         are_same(variant->words + rest, kernel->words + rest, word_count - rest);
}

static void expect_valid(const Kernel *kernel) {
  const char *broken = NULL;
  (void)kernel, (void)broken;
  DEBUG_ASSERT(variants_are_valid(kernel->variants, kernel->last, &broken), broken);
}

static Variant *find_variant(Kernel *kernel, const RgValue *values, int32_t value_count,
                             int word_count, CompileWhy why, Error *err) {
  if (kernel->last && is_same(kernel, kernel->last, word_count)) return kernel->last;
  Variant *variant = kernel->variants;
  while (variant && !is_same(kernel, variant, word_count)) variant = variant->next;
  if (!variant) {
    variant = variant_compile(kernel, values, value_count, word_count, why, err);
    if (!variant) return NULL;
    variant->next = kernel->variants;
    kernel->variants = variant;
  }
  kernel->last = variant;
  return variant;
}

/* Only for a variant that never ran: nothing but the kernel refers to it. */
static void drop_variant(Kernel *kernel, Variant *variant) {
  Variant **at = &kernel->variants;
  while (*at != variant) at = &(*at)->next;
  *at = variant->next;
  kernel->last = NULL;
  variant_free(kernel->engine, variant);
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

static void note_why(const SemaWhy *why, Error *err) {
  Error note = {.is_note = true};
  diag_error(&note, why->source, why->pos, why->width, err->code, "it %s here",
             why->clause + strlen("which "));
  error_add(err, &note);
}

/* Adds the use that required the type to a value.fit error. */
static bool place_error(const VariantArg *arg, Error *err) {
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
  if (arg->why.clause && (arg->why.source != source || arg->why.pos.line != arg->line))
    note_why(&arg->why, err);
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
static bool check_limits(const Kernel *kernel, const Variant *variant, Error *err) {
  char what[200];
  uint64_t unused;
  for (int32_t k = 0; k < variant->limit_count; k++) {
    const VariantLimit *limit = &variant->limits[k];
    const VariantArg *arg = &variant->args[limit->arg];
    int64_t number = slot_integer(arg->type, variant->frame[limit->arg]);
    RgValue value = {.kind = RG_VALUE_NUMBER,
                     .number = limit->is_negated ? -(double)number : (double)number};
    if (value_convert(limit->type, &value, &unused, NULL, NULL)) continue;
    snprintf(what, sizeof what, "%s%s '%.80s', where it is stored here,",
             limit->is_negated ? "the negative of " : "",
             arg->value < kernel->paths.count ? "captured" : "argument", arg->name);
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

static RgValue argument_of(const VariantArg *arg, const RgValue *value) {
  if (type_is_none(arg->given)) return *value;
  if (arg->part >= value->vector->count) return (RgValue){.kind = RG_VALUE_NIL};
  return vector_number(value->vector, arg->given, arg->part);
}

/* Is the value an rg.array in the memory of a counted array that the launch may also use? Then both
 * are used in place; else tasks of a GPU would use a copy of it. The answer must be the same for
 * all code that the launch may run. */
static bool is_in_place(Engine *engine, const Variant *variant, const RgValue *value) {
  return variant->takes_arrays && value->kind == RG_VALUE_ARRAY &&
         counted_holds(&engine->store->counted, ((Array *)value->array)->data);
}

/* Computes the number that a launch passes for a field or an array: an address or offset of its
 * elements, an extent or a stride. */
static bool number_of_object(const VariantArg *arg, const RgValue *value, bool in_place,
                             uint64_t *number, Error *err) {
  Array *array = (Array *)value->array;
  if (arg->kind == ARG_ADDRESS && in_place) return *number = (uint64_t)(uintptr_t)array->data, true;
  switch (arg->kind) {
  case ARG_PLACE: *number = pattern_place(value); return true;
  case ARG_EXTENT: *number = (uint64_t)array->shape[arg->part]; return true;
  case ARG_HEADER: *number = (uint64_t)(uintptr_t)array_header(array); return true;
  case ARG_STRIDE: *number = (uint64_t)array->strides[arg->part]; return true;
  default: return array_locate(array, number, err);
  }
}

/* Checks that tasks can access host memory, if the kernel shares arrays with the host. */
static bool check_reach(const Kernel *kernel, const Variant *variant, Error *err) {
  const Device *device = kernel->engine->store->device;
  if (!variant->shares_arrays || device_is_unified(device) || device->table->pins) return true;
  error_set(err, RG_ERROR_DEVICE,
            "kernel '%.100s' uses counted arrays outside parallel loops, and the driver of this "
            "GPU does not let it reach memory of the host at the host's addresses",
            kernel->name);
  return error_hint(err, "use an rg.array or a field; iterations may make arrays of their own");
}

/* Checks an array that is used as a value. */
static bool check_value(const VariantArg *arg, const Array *array, Error *err) {
  if (array_can_be_value(array)) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            "'%.80s' is used as a value, which a wrap or a window with several axes cannot be",
            arg->name);
  error_hint(err, "pass a copy: rg.zeros(T, n, m):copy_from(a)");
  return place_error(arg, err);
}

static bool check_array(const Kernel *kernel, const VariantArg *arg, uint64_t address, Error *err) {
  const RtCounted *counted = (const RtCounted *)(uintptr_t)address;
  if (!counted || counted_is_reached(&kernel->engine->store->counted, counted)) return true;
  error_set(err, RG_ERROR_NOT_YET,
            "'%.80s' is used as a value, which an rg.array, or memory that an extension manages, "
            "cannot be with arch = \"cuda\" yet",
            arg->name);
  error_hint(err, "pass a copy: rg.zeros(T, ..):copy_from(a)");
  return place_error(arg, err);
}

static bool fill_frame(const Kernel *kernel, Variant *variant, const RgValue *values, Error *err) {
  char what[240];
  readback_drop(kernel->engine, variant);
  memset(variant->frame, 0, sizeof *variant->frame * (size_t)variant->frame_slots);
  for (int32_t k = 0; k < variant->arg_count; k++) {
    const VariantArg *arg = &variant->args[k];
    if (arg->kind != ARG_NUMBER) {
      bool in_place = is_in_place(kernel->engine, variant, &values[arg->value]);
      if (!number_of_object(arg, &values[arg->value], in_place, &variant->frame[k], err) ||
          (arg->is_array && (!check_value(arg, (Array *)values[arg->value].array, err) ||
                             !check_array(kernel, arg, variant->frame[k], err))))
        return false;
      continue;
    }
    RgValue value = argument_of(arg, &values[arg->value]);
    if (value_convert(arg->type, &value, &variant->frame[k], NULL, NULL)) {
      if (arg->is_array && !check_array(kernel, arg, variant->frame[k], err)) return false;
      continue;
    }
    bool is_captured = arg->value < kernel->paths.count;
    const char *why = arg->why.clause;
    snprintf(what, sizeof what, "%s '%.80s'%s%.120s%s", is_captured ? "captured" : "argument",
             arg->name, why ? ", " : "", why ? why : "", why ? "," : "");
    value_convert(arg->type, &value, &variant->frame[k], what, err);
    if (!is_captured && is_fraction(&value) && type_is_integer(arg->type)) {
      err->hint[0] = '\0'; /* a parameter's type can be declared */
      error_hint(err, "pass a whole number; where a fraction is meant, declare '%.80s: f32'",
                 arg->name);
    }
    return arg->line > 0 ? place_error(arg, err) : false;
  }
  return true;
}

int32_t launch_list_arrays(const Variant *variant, const RgValue *values) {
  int32_t count = 0;
  RtTree **arrays = variant->trees + variant->tree_count;
  for (int32_t k = 0; k < variant->arg_count; k++)
    if (variant->args[k].kind == ARG_ADDRESS)
      arrays[count++] = pattern_memory(&values[variant->args[k].value]);
  return count;
}

/* Appends those arrays that are not used in place: the device must make them accessible to
 * tasks. */
static int32_t list_moved(Engine *engine, const Variant *variant, const RgValue *values) {
  RtTree **arrays = variant->trees + variant->tree_count;
  int32_t count = launch_list_arrays(variant, values), moved = 0;
  for (int32_t k = 0, n = 0; n < count; k++) {
    if (variant->args[k].kind != ARG_ADDRESS) continue;
    RtTree *array = arrays[n++];
    if (!is_in_place(engine, variant, &values[variant->args[k].value])) arrays[moved++] = array;
  }
  return moved;
}

static bool has_any_in_place(Engine *engine, const Variant *variant, const RgValue *values) {
  bool any = false;
  for (int32_t k = 0; k < variant->arg_count && variant->takes_arrays; k++)
    any |= variant->args[k].kind == ARG_ADDRESS &&
           is_in_place(engine, variant, &values[variant->args[k].value]);
  return any;
}

/* The context stays unchanged: the device fills it. */
void launch_fill(Engine *engine, Variant *variant, const RgValue *values, DeviceLaunch *launch) {
  const Store *store = engine->store;
  for (int32_t k = 0; k < variant->tree_count; k++)
    variant->trees[k] = pattern_memory(&values[variant->tree_values[k]]);
  launch->code = variant->code;
  launch->improve = NULL;
  launch->tasks = variant->tasks;
  launch->task_count = variant->task_count;
  launch->frame = variant->frame;
  launch->frame_slots = variant->frame_slots;
  launch->trees = variant->trees;
  launch->tree_count = variant->tree_count;
  launch->array_count = store->device->table->access ? list_moved(engine, variant, values) : 0;
  launch->has_arrays_in_place = has_any_in_place(engine, variant, values);
  launch->ambient = store->zeros;
  launch->random = &engine->random;
  launch->stream = engine->stream;
  launch->has_sums = variant->has_sums;
  launch->message_axes = variant->message_axes;
  launch->gc_is_stopped = store->gc_is_stopped;
  launch->says = variant->says;
  launch->makes_arrays = variant->makes_arrays;
  launch->shares_arrays = variant->shares_arrays;
  launch->host_has_arrays = variant->host_has_arrays;
  launch->grows_arrays = variant->grows_arrays;
}

/* The variant for these values, compiled if necessary; NULL with err. */
static Variant *choose(Kernel *kernel, const RgValue *values, int32_t value_count, CompileWhy why,
                       Error *err) {
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
  Variant *variant = find_variant(kernel, values, value_count, word_count, why, err);
  if (!variant || !variant->making || why == COMPILE_AHEAD) return variant;
  if (ahead_finish(kernel->engine, variant, err)) return variant;
  drop_variant(kernel, variant);
  return NULL;
}

bool kernel_compile(Kernel *kernel, const RgValue *values, int32_t value_count, bool is_ahead,
                    Error *err) {
  CompileWhy why = is_ahead ? COMPILE_AHEAD : COMPILE_TO_HAVE;
  Variant *variant = choose(kernel, values, value_count, why, err);
  return variant && quick_end(variant, err);
}

/* Chooses the variant and fills its frame; NULL with err. */
static Variant *prepare(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  Variant *variant = choose(kernel, values, value_count, COMPILE_TO_RUN, err);
  bool is_ready = variant && check_reach(kernel, variant, err) &&
                  fill_frame(kernel, variant, values, err) &&
                  (!variant->limit_count || check_limits(kernel, variant, err));
  return is_ready ? variant : NULL;
}

bool kernel_emit(Kernel *kernel, const RgValue *values, int32_t value_count, RgEmission *emission,
                 Error *err) {
  Engine *engine = kernel->engine;
  *emission = (RgEmission){0};
  if (!engine->options.runs_in_lua)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "only a runtime of arch \"lua\" emits its kernels as text");
  Variant *variant = prepare(kernel, values, value_count, err);
  if (!variant) return false;
  engine->stats.launches++;
  *emission = (RgEmission){variant->number, variant->lua, variant->frame, variant->arg_count};
  return true;
}

enum { LAUNCHES_PER_TIDYING = 64 };

/* Housekeeping that is done at launches. */
static void tidy(Engine *engine) {
  Device *device = engine->store->device;
  store_relieve(engine->store);
  if (engine->stats.launches % LAUNCHES_PER_TIDYING == 0 && device->table->blocks)
    device->table->blocks->tidy(device);
}

/* Applies the tuner's choice: sets the switches, and perhaps takes other code for the same
 * arguments. */
static Variant *take_way(Kernel *kernel, TuneTrial *trial, const RgValue *values,
                         DeviceLaunch *launch) {
  launch->switches = tuning_pick(kernel, trial);
  if (!trial->code) return trial->base;
  variant_take_arguments(kernel->engine, trial->code, trial->base);
  launch_fill(kernel->engine, trial->code, values, launch);
  return kernel->ran = trial->code;
}

enum { LAUNCHES_PER_TIME = 16 };

/* On a device where timing costs time: times trials, and one in LAUNCHES_PER_TIME other
 * launches. */
static void choose_timed(Variant *variant, TuneTrial *trial, DeviceLaunch *launch) {
  bool is_next = variant->untimed + 1 >= LAUNCHES_PER_TIME;
  launch->is_timed = trial->entry || is_next;
  if (is_next && !trial->entry) trial->stands_for += variant->untimed;
  if (!trial->entry) variant->untimed = is_next ? 0 : variant->untimed + 1;
}

static bool run(Kernel *kernel, const RgValue *values, int32_t value_count, RgValue *result,
                Error *err) {
  Engine *engine = kernel->engine;
  Variant *general = prepare(kernel, values, value_count, err);
  if (!general) return false;
  Variant *special = special_find(kernel, general), *variant = special ? special : general;
  if (engine_is_stopped(engine)) return stopped_error(kernel, err); /* stopped during the compile */
  ASSERT(!engine_fails(&engine->options.fails_in_launch), "no test asks a launch to fail");
  kernel->ran = variant;
  Device *device = engine->store->device;
  DeviceLaunch *launch = &engine->launch;
  tidy(engine);
  if (device->queued) queue_make_room(engine, variant);
  if (queue_has_failed(engine, engine->stream, variant->is_awaited ? err : NULL))
    return !variant->is_awaited;
  launch_fill(engine, variant, values, launch);
  quick_prepare(engine, variant, launch);
  TuneTrial trial;
  trial.base = variant;
  trial.entry = NULL;
  trial.stands_for = 1;
  bool is_tuned = variant->is_tuned;
  if (is_tuned) variant = take_way(kernel, &trial, values, launch);
  if (engine->times_some) choose_timed(trial.base, &trial, launch);
  uint64_t begin = clock_ticks();
  engine->store->changes++;
  bool ok = device->table->launch(device, launch, err);
  engine->stats.launches++;
  if (is_tuned) launch->switches = (DeviceSwitches){0};
  expect_valid(kernel);
  if (launch->ticket) {
    ok = ok && queue_add(kernel, &trial, values, result, err);
    if (ok) special_note(kernel, general, trial.base, 0);
    return ok;
  }
  if (!launch->ticks) launch->ticks = clock_ticks() - begin;
  engine->stats.run_ticks += launch->ticks;
  ok &= readback(kernel, variant, launch, values, result, err);
  if (!quick_note(variant, launch)) return ok;
  if (is_tuned || launch->ticks >= engine->tune_from) tuning_take(kernel, &trial, launch, ok);
  if (ok) special_note(kernel, general, trial.base, launch->ticks);
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
  counted_note(&engine->store->counted, kernel->place);
  bool ok = run(kernel, values, value_count, result, err);
  counted_note(&engine->store->counted, NULL);
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

static bool tune(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  Engine *engine = kernel->engine;
  Variant *general = prepare(kernel, values, value_count, err);
  if (!general || engine->options.runs_in_lua) return general != NULL;
  if (!quick_end(general, err)) return false;
  Variant *special = special_find(kernel, general), *variant = special ? special : general;
  if (!queue_settle(engine, err)) return false;
  launch_fill(engine, variant, values, &engine->launch);
  return shadow_tune(kernel, variant, values, err);
}

bool kernel_tune(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  engine_begin_launch(kernel->engine);
  bool ok = tune(kernel, values, value_count, err);
  engine_end_launch(kernel->engine);
  return ok;
}
