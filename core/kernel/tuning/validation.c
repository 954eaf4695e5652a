/* validation.c - see validation.h. A sparse tree's whole memory is saved, but not its topology, so
 * kernels that may change topology are refused. */
#include "kernel/tuning/validation.h"

#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "kernel/launch/queue.h"
#include "kernel/tuning/tuning.h"

enum { PAGE = 4096 };

typedef struct Saved {
  RtTree *tree;
  uint8_t *from;
  uint64_t size_bytes;
  Block *copy; /* NULL: none */
} Saved;

typedef struct Validation {
  Kernel *kernel;
  Version *version;
  const RgValue *values;
  Saved *saved; /* one per tree and array; no copy of those only read */
  int32_t count;
  uint64_t *frame;
  RtRandom random;
  bool has_usual;
  uint64_t usual; /* hash of the default's outcome */
} Validation;

/* -- copies ------------------------------------------------------------------------------------ */

/* The argument with the address of array `number`, counted after the trees. */
static int32_t find_array(const Version *version, int32_t number) {
  int32_t k = 0;
  while (version->compiled->args[k].from.kind != ARG_ADDRESS || number-- > 0) k++;
  ASSERT(k < version->compiled->arg_count, "every array has an argument with its address");
  return k;
}

static bool is_written(const Version *version, int32_t k) {
  bool is_array = k >= version->compiled->tree_count;
  int32_t bit = is_array ? find_array(version, k - version->compiled->tree_count) : k;
  uint64_t written = is_array ? version->compiled->written_arrays : version->compiled->written;
  return (bit >= 64 || written >> bit & 1) &&
         version->launch->trees[k]->foreign != RT_FOREIGN_CONSTANT;
}

static bool reach_tree(Validation *validation, RtTree *tree, DeviceUse use, Error *err) {
  return device_reach(validation->kernel->engine->store->device, tree, NULL, 0, use, err);
}

static bool save_tree(Validation *validation, int32_t k, Error *err) {
  RtTree *tree = validation->version->launch->trees[k];
  Saved *saved = &validation->saved[k];
  if (!reach_tree(validation, tree, DEVICE_READS, err)) return false;
  saved->tree = tree;
  saved->from = tree->manager_count ? tree->base : tree->root;
  saved->size_bytes = tree->manager_count ? tree->top : tree->root_size;
  if (!saved->size_bytes) return true;
  Store *store = validation->kernel->engine->store;
  saved->copy = block_allocate(store, saved->size_bytes, 0, "a copy for kernel:tune()", err);
  if (!saved->copy) return false;
  memcpy(saved->copy->memory, saved->from, saved->size_bytes);
  return true;
}

static bool save_all(Validation *validation, Error *err) {
  const Version *version = validation->version;
  Heap *heap = validation->kernel->engine->store->heap;
  size_t frame_bytes = sizeof *validation->frame * (size_t)version->compiled->frame_slots;
  validation->saved = heap_alloc(heap, sizeof *validation->saved * (size_t)validation->count);
  validation->frame = heap_alloc(heap, frame_bytes);
  if (!validation->saved || !validation->frame)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for kernel:tune()");
  memcpy(validation->frame, version->launch->frame, frame_bytes);
  validation->random = validation->kernel->engine->random;
  for (int32_t k = 0; k < validation->count; k++)
    if (is_written(version, k) && !save_tree(validation, k, err)) return false;
  return true;
}

/* Does not write unchanged pages, so that they stay uncommitted. */
static void put_back(const Saved *saved) {
  for (uint64_t at = 0; at < saved->size_bytes; at += PAGE) {
    size_t count = (size_t)min_i64(PAGE, (int64_t)(saved->size_bytes - at));
    if (memcmp(saved->from + at, saved->copy->memory + at, count) != 0)
      memcpy(saved->from + at, saved->copy->memory + at, count);
  }
}

static bool restore_all(Validation *validation, Error *err) {
  const Version *version = validation->version;
  for (int32_t k = 0; k < validation->count; k++) {
    if (!validation->saved[k].copy) continue;
    ASSERT(validation->saved[k].tree == version->launch->trees[k],
           "runs have the trees that were saved");
    if (!reach_tree(validation, validation->saved[k].tree, DEVICE_WRITES, err)) return false;
    put_back(&validation->saved[k]);
  }
  memcpy(version->launch->frame, validation->frame,
         sizeof *version->launch->frame * (size_t)version->compiled->frame_slots);
  validation->kernel->engine->random = validation->random;
  return true;
}

static void end_validation(Validation *validation) {
  Heap *heap = validation->kernel->engine->store->heap;
  for (int32_t k = 0; validation->saved && k < validation->count; k++)
    if (validation->saved[k].copy) block_release(validation->saved[k].copy);
  heap_free(heap, validation->saved);
  heap_free(heap, validation->frame);
}

/* -- outcomes ---------------------------------------------------------------------------------- */

static uint64_t mix_hash(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_memory(uint64_t hash, const uint8_t *at, uint64_t size_bytes) {
  uint64_t word;
  for (; size_bytes >= sizeof word; at += sizeof word, size_bytes -= sizeof word) {
    memcpy(&word, at, sizeof word);
    hash = mix_hash(hash, word);
  }
  for (; size_bytes; size_bytes--) hash = mix_hash(hash, *at++);
  return hash;
}

/* Hashes all memory that the kernel writes, and its results. */
static bool find_outcome(Validation *validation, const DeviceLaunch *launch, uint64_t *outcome,
                         Error *err) {
  const Version *version = validation->version;
  uint64_t hash = 1;
  for (int32_t k = 0; k < validation->count; k++) {
    const Saved *saved = &validation->saved[k];
    if (!saved->copy) continue;
    if (!reach_tree(validation, saved->tree, DEVICE_READS, err)) return false;
    hash = hash_memory(hash, saved->from, saved->size_bytes);
  }
  int32_t slot = version->compiled->arg_count;
  for (int32_t k = 0; k < version->compiled->result_count; k++)
    for (int32_t part = type_parts(version->compiled->results[k]); part > 0; part--)
      hash = mix_hash(hash, launch->frame[slot++]);
  *outcome = hash;
  return true;
}

/* -- runs -------------------------------------------------------------------------------------- */

static bool run_candidate(Validation *validation, TuneTrial *trial, int32_t candidate, Error *err) {
  Engine *engine = validation->kernel->engine;
  Device *device = engine->store->device;
  DeviceLaunch *launch = &engine->launch;
  Version *code;
  RgValue unused;
  DeviceSwitches switches = tuning_way(validation->kernel, trial, candidate, &code);
  trial->code = code;
  if (code) version_copy_arguments(code, validation->version);
  Version *version = code ? code : validation->version;
  launch_fill(engine, version, validation->values, launch);
  launch->switches = switches;
  launch->is_timed = true;
  uint64_t begin = clock_ticks();
  bool ok = device->table->launch(device, launch, err);
  if (ok && launch->ticket) ok = device->table->tickets->finish(device, launch, err);
  launch->switches = (DeviceSwitches){0}; /* reset, as other launches choose their own */
  launch->is_timed = false;
  if (ok && !launch->ticks) launch->ticks = clock_ticks() - begin;
  if (ok && launch->context.error.kind == RT_OK) return true;
  return ok && readback(validation->kernel, version, launch, validation->values, &unused, err);
}

static bool try_all_candidates(Validation *validation, TuneTrial *trial, Error *err) {
  const DeviceLaunch *launch = &validation->kernel->engine->launch;
  Tuner *tuner = trial->tuner;
  while (tuner->chosen == TUNE_UNDECIDED) {
    int32_t candidate = validation->has_usual ? tuner_next(tuner) : 0;
    tuner_begin_trial(tuner, candidate);
    uint64_t hash = 0;
    bool ok = run_candidate(validation, trial, candidate, err);
    if (ok && !validation->version->compiled->order_shows)
      ok = find_outcome(validation, launch, &hash, err);
    ok &= restore_all(validation, ok ? err : NULL);
    if (!ok) tuner_forget(tuner, candidate);
    if (!ok) return false;
    if (!validation->has_usual) validation->usual = hash;
    validation->has_usual = true;
    if (hash == validation->usual) {
      tuner_note(tuner, candidate, (double)launch->ticks, tuning_work(trial, launch));
    } else {
      tuning_differs(trial, candidate);
      tuner_fail(tuner, candidate);
    }
  }
  return true;
}

static bool is_of_ranks(const Store *store, const RtTree *tree) {
  return store->is_of_ranks && (store->is_of_ranks(store->ranks, tree->base) ||
                                store->is_of_ranks(store->ranks, tree->root));
}

static const char *const irreversible_words[IRREVERSIBLE_COUNT] = {
#define IRREVERSIBLE(NAME, WORDS) [IRREVERSIBLE_##NAME] = WORDS,
#include "kernel/irreversible.def"
#undef IRREVERSIBLE
};

static bool may_run(const Validation *validation, Error *err) {
  const Version *version = validation->version;
  unsigned irreversible = version->compiled->irreversible, number = 0;
  for (int32_t k = 0; k < validation->count; k++)
    if (is_written(version, k) &&
        is_of_ranks(validation->kernel->engine->store, version->launch->trees[k]))
      irreversible |= 1u << IRREVERSIBLE_PEERS;
  if (!irreversible) return true;
  while (!(irreversible >> number & 1)) number++;
  error_set(err, RG_ERROR_ARGUMENT, "kernel '%.100s' %s, which kernel:tune() cannot undo",
            validation->kernel->name, irreversible_words[number]);
  return error_hint(err, "launch it: with tune = \"online\" launches themselves are the trials");
}

bool validation_tune(Kernel *kernel, Version *version, const RgValue *values, Error *err) {
  Validation validation = {.kernel = kernel, .version = version, .values = values};
  TuneTrial trial = {.base = version};
  validation.count = version->compiled->tree_count + launch_list_arrays(version, values);
  if (!may_run(&validation, err)) return false;
  kernel->engine->store->changes++;
  bool ok = save_all(&validation, err);
  while (ok && tuning_begin_trials(kernel, &trial)) {
    ok = try_all_candidates(&validation, &trial, err);
    if (ok) tuning_keep(kernel, &trial);
  }
  end_validation(&validation);
  return ok;
}
