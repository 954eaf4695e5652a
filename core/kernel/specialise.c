/* specialise.c - decides when special variants are made, and makes them; see specialise.h.
 *
 * A kernel must be worth it: it has run for some time, and its numbers were the same for several
 * launches. A kernel whose long loops are not vectorised yet (is_long) then gets vector code, with
 * constants or without. The front end runs between two launches, since it allocates from the
 * runtime (about a millisecond, once); LLVM runs in a thread, unless the code is on disk. There is
 * one compile at a time. A failed compile is only counted: the general variant stays in use.
 * When the numbers change, the general variant runs; when they are stable again, another special
 * variant replaces the first. A number that changed several times never becomes a constant
 * again. Decision D-kernel-11. */
#include "kernel/specialise.h"

#include <inttypes.h>
#include <string.h>

#include "base/option.h"
#include "kernel/compile.h"
#include "kernel/tuning.h"
#include "thread/job.h"
#include "tree/access/cell.h"

enum { SAME_LAUNCHES = 8, WORTH_MS = 50, LONG_LAUNCHES = 2, LONG_MS = 300 /* if is_long */ };
enum { MANY_LAUNCHES = 1024 }; /* enough launches to be worth it if none is timed */
enum { MOST_CHANGES = 3, MOST_TRIES = 4, MOST_ARGS = 64 };

/* The state of a general variant. */
typedef struct Special {
  int32_t arg_count;          /* at most 64 */
  uint64_t numbers;           /* arguments that may become constants, by kind and type */
  uint64_t unstable;          /* arguments that changed too often, or cannot be constants */
  int32_t same[MOST_ARGS];    /* launches since the last change */
  int32_t changes[MOST_ARGS]; /* changes of the number while there was a special variant */
  uint64_t seen[MOST_ARGS];
  uint64_t ticks; /* time in the general variant since the last try */
  int32_t launches, tries;
  bool has_ended;                   /* no other special variant will be made */
  Variant *made;                    /* NULL: none yet */
  uint64_t taken, slots[MOST_ARGS]; /* the constants of `made` */
} Special;

/* A running compile. */
typedef struct Pending {
  Variant *general; /* NULL: freed meanwhile */
  Compile compile;
  uint64_t taken, slots[MOST_ARGS];
  RgCodegenRequest request;
  Heap *heap;
  Codegen **codegen; /* the engine's special_codegen */
  RgCodegenResult *result;
  Job *job;
} Pending;

typedef enum Mode { NEVER, WHEN_WORTH_IT, ALWAYS } Mode;

/* RG_SPECIALISE=always, for tests: the first launch makes the special variant, and waits for it. */
static Mode mode_of(const Kernel *kernel) {
  const EngineOptions *options = &kernel->engine->options;
  if (!options->specialises || options->runs_in_lua || options->debug) return NEVER;
  return options->always_specialises ? ALWAYS : WHEN_WORTH_IT;
}

/* -- watching ---------------------------------------------------------------------------------- */

static Special *watch(Kernel *kernel, Variant *general) {
  if (general->special) return general->special;
  Special *special = heap_alloc(kernel->engine->store->heap, sizeof *special);
  if (!special) return NULL;
  special->arg_count = general->arg_count < MOST_ARGS ? general->arg_count : MOST_ARGS;
  for (int32_t k = 0; k < special->arg_count && !kernel->fast_math; k++) {
    const VariantArg *arg = &general->args[k];
    if (arg->kind == ARG_NUMBER && !arg->is_array && !type_is_float(arg->type))
      special->numbers |= (uint64_t)1 << k;
  }
  special->has_ended = !special->numbers && !general->is_long;
  return general->special = special;
}

static bool is_in(uint64_t set, int32_t k) { return set >> k & 1; }

static void see(Special *special, const uint64_t *frame) {
  for (int32_t k = 0; k < special->arg_count; k++) {
    if (!is_in(special->numbers, k)) continue;
    special->same[k] = frame[k] == special->seen[k] ? special->same[k] + 1 : 0;
    special->seen[k] = frame[k];
  }
}

static int32_t launches_of(const Variant *general) {
  return general->is_long ? LONG_LAUNCHES : SAME_LAUNCHES;
}

static uint64_t stable(const Variant *general, Mode mode) {
  const Special *special = general->special;
  uint64_t set = 0;
  for (int32_t k = 0; k < special->arg_count; k++)
    if (is_in(special->numbers & ~special->unstable, k) &&
        (mode == ALWAYS || special->same[k] >= launches_of(general) - 1))
      set |= (uint64_t)1 << k;
  return set;
}

/* -- making ------------------------------------------------------------------------------------ */

static void work(void *data) {
  Pending *pending = data;
  Error ignored;
  error_clear(&ignored);
  if (!*pending->codegen) *pending->codegen = codegen_open(pending->heap, &ignored);
  if (*pending->codegen)
    pending->result = codegen_compile(*pending->codegen, &pending->request, &ignored);
}

static void discard(Engine *engine, Pending *pending) {
  if (pending->result) codegen_result_free(*pending->codegen, pending->result);
  scratch_deinit(&pending->compile.scratch);
  heap_free(engine->store->heap, pending);
}

static void give_up(Engine *engine, Special *special) {
  engine->stats.unspecialised++;
  if (special) special->has_ended = true;
}

/* Makes a special variant of the code; it replaces the previous one. */
static bool install(Engine *engine, Pending *pending, DeviceCode *code) {
  Variant *general = pending->general;
  Special *special = general->special;
  Error ignored;
  error_clear(&ignored);
  Variant *made = variant_special(&pending->compile, general, code, &ignored);
  if (!made) return false;
  made->next = special->made; /* the host may still read results of the previous one */
  special->made = made;
  special->taken = pending->taken;
  memcpy(special->slots, pending->slots, sizeof special->slots);
  tuning_begin(pending->compile.kernel, made);
  engine->stats.specialised++;
  return true;
}

/* Takes the result of a compile whose thread has ended. */
static void finish(Engine *engine) {
  Pending *pending = engine->pending;
  engine->pending = NULL;
  if (!job_join(pending->job)) return; /* a forked child */
  Variant *general = pending->general;
  if (general) {
    DeviceCode *code = pending->result ? compile_keep(&pending->compile, pending->result) : NULL;
    if (!code || !install(engine, pending, code)) give_up(engine, general->special);
  }
  discard(engine, pending);
}

static bool run_front(void *data, Error *err) { return compile_special(data, err); }

/* Compiles up to canonical bytes. False: not possible with these numbers. */
static bool begin_compile(Kernel *kernel, Variant *general, Pending *pending) {
  Error ignored;
  error_clear(&ignored);
  Compile *compile = &pending->compile;
  *compile = (Compile){.kernel = kernel,
                       .given = general->given,
                       .value_count = general->given_count,
                       .is_again = true,
                       .constants = {pending->taken, pending->slots, general}};
  scratch_init(&compile->scratch, kernel->engine->store->heap);
  bool ok = guard_run(run_front, compile, &ignored);
  pending->taken = compile->constants.taken;
  return ok && (pending->taken || general->is_long);
}

static void start(Kernel *kernel, Pending *pending, Mode mode) {
  Engine *engine = kernel->engine;
  pending->heap = engine->store->heap;
  pending->codegen = &engine->special_codegen;
  pending->request =
      compile_request(engine, pending->compile.bytes.data, pending->compile.bytes.length);
  engine->pending = pending;
  pending->job = job_start(pending->heap, work, pending);
  if (pending->job && mode == ALWAYS) finish(engine);
  if (pending->job) return;
  engine->pending = NULL;
  give_up(engine, pending->general->special);
  discard(engine, pending);
}

/* Restarts watching, or ends it after MOST_TRIES. */
static void count_try(Special *special) {
  special->ticks = 0;
  special->launches = 0;
  if (++special->tries >= MOST_TRIES) special->has_ended = true;
}

static void make(Kernel *kernel, Variant *general, uint64_t taken, Mode mode) {
  Engine *engine = kernel->engine;
  Special *special = general->special;
  Pending *pending = heap_alloc(engine->store->heap, sizeof *pending);
  count_try(special);
  if (!pending) return;
  pending->general = general;
  pending->taken = taken;
  memcpy(pending->slots, special->seen, sizeof pending->slots);
  if (!begin_compile(kernel, general, pending)) {
    special->unstable |= taken;
    discard(engine, pending);
    return;
  }
  DeviceCode *code = compile_find(&pending->compile);
  if (!code) {
    start(kernel, pending, mode);
    return;
  }
  if (!install(engine, pending, code)) give_up(engine, special);
  discard(engine, pending);
}

/* -- called for launches and kernels
 * ------------------------------------------------------------ */

static bool is_worth_it(Engine *engine, const Variant *general) {
  const Special *special = general->special;
  if (!engine->times_some && !engine->store->device->knows_times)
    return special->launches >= MANY_LAUNCHES;
  return special->launches >= launches_of(general) &&
         engine_ms(engine, special->ticks) >= (general->is_long ? LONG_MS : WORTH_MS);
}

/* Are the special variant's constants the numbers in the frame? */
static bool matches(Special *special, const uint64_t *frame) {
  for (int32_t k = 0; k < special->arg_count; k++) {
    if (!is_in(special->taken, k) || frame[k] == special->slots[k]) continue;
    bool is_new = frame[k] != special->seen[k];
    if (is_new && ++special->changes[k] >= MOST_CHANGES) special->unstable |= (uint64_t)1 << k;
    return false;
  }
  return true;
}

static void make_at_once(Kernel *kernel, Variant *general) {
  Special *special = watch(kernel, general);
  if (!special || special->has_ended) return;
  see(special, general->frame);
  uint64_t taken = stable(general, ALWAYS);
  if (taken || general->is_long) make(kernel, general, taken, ALWAYS);
}

/* Is there a special variant for the numbers in the frame? */
static bool fits(const Variant *general) {
  Special *special = general->special;
  return special && special->made && matches(special, general->frame);
}

Variant *special_find(Kernel *kernel, Variant *general) {
  if (!fits(general)) {
    if (mode_of(kernel) != ALWAYS) return NULL;
    make_at_once(kernel, general);
    if (!fits(general)) return NULL;
  }
  Variant *made = general->special->made;
  variant_take_arguments(kernel->engine, made, general);
  return made;
}

void special_note(Kernel *kernel, Variant *general, const Variant *ran, uint64_t ticks) {
  Engine *engine = kernel->engine;
  if (engine->pending && job_is_done(engine->pending->job)) finish(engine);
  if (ran != general) return;
  Special *special = general->special;
  if (special && special->has_ended) return;
  Mode mode = mode_of(kernel);
  if (mode != WHEN_WORTH_IT || !(special = watch(kernel, general)) || special->has_ended) return;
  see(special, general->frame);
  special->ticks += ticks;
  special->launches++;
  if (engine->pending || !is_worth_it(engine, general)) return;
  uint64_t taken = stable(general, mode);
  if (taken || general->is_long) make(kernel, general, taken, mode);
  else count_try(special);
}

void special_took(Variant *ran, uint64_t ticks) {
  if (ran->special) ran->special->ticks += ticks; /* a special variant itself has none */
}

const Variant *special_made(const Variant *general, Constants *constants) {
  const Special *special = general->special;
  if (!special || !special->made) return general;
  *constants = (Constants){special->taken, special->slots, general};
  return special->made;
}

static void print_number(StrBuf *out, Type type, uint64_t slot) {
  if (type_is_bool(type)) strbuf_text(out, slot ? "true" : "false");
  else strbuf_format(out, "%" PRId64, value_integer(type, &slot));
}

void special_print(StrBuf *out, const Variant *general) {
  const Special *special = general->special;
  const char *between = "";
  for (int32_t k = 0; k < special->arg_count; k++) {
    if (!is_in(special->taken, k)) continue;
    strbuf_format(out, "%s%s = ", between, general->args[k].name);
    print_number(out, general->args[k].type, special->slots[k]);
    between = ", ";
  }
}

void special_drop(Engine *engine, Variant *general) {
  Special *special = general->special;
  if (engine->pending && engine->pending->general == general) engine->pending->general = NULL;
  if (!special) return;
  for (Variant *made = special->made, *next; made; made = next) {
    next = made->next;
    variant_free(engine, made);
  }
  heap_free(engine->store->heap, special);
  general->special = NULL;
}

void special_end(Engine *engine) {
  if (engine->pending) finish(engine);
  codegen_close(engine->special_codegen);
  engine->special_codegen = NULL;
}
