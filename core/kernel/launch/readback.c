/* readback.c - reads the counters, faults and results of a finished launch. */
#include <stdio.h>
#include <string.h>

#include "array/item.h"
#include "tree/access/cell.h"
#include "kernel/report/message.h"

/* Writes a shape as "8 x 4": known at compile time, or from this launch's frame. */
static void write_shape(const Version *version, const CompiledSite *site, char *out, size_t size) {
  if (site->axis_count)
    numbers_join(out, size, (const int64_t *)version->launch->frame + site->extents,
                 site->axis_count, " x ");
  else snprintf(out, size, "%s", site->shape);
}

/* Warns of writes outside a counted array: rt_array_outside. */
static void warn_missing(Kernel *kernel, const RtOutside *outside) {
  kernel->has_warned = true;
  engine_warn(kernel->engine,
              "%s:%d: a write to an element that its array does not have; kernel '%.100s' made "
              "%llu such write%s in this launch: they are ignored and counted in "
              "rg.stats().out_of_range (reported once per kernel)",
              kernel->chunk, -1 - outside->site, kernel->name, (unsigned long long)outside->count,
              outside->count == 1 ? "" : "s");
}

/* Warns of a number that a packed field cannot hold. */
static void warn_number(Kernel *kernel, const CompiledSite *site, const RtOutside *outside) {
  engine_warn(kernel->engine,
              "%s:%d: a number that '%.100s' cannot hold is stored as the nearest that it can; "
              "kernel '%.100s' stored %llu such number%s in this launch: they are counted in "
              "rg.stats().out_of_range (reported once per kernel)",
              kernel->chunk, site->line, site->name, kernel->name,
              (unsigned long long)outside->count, outside->count == 1 ? "" : "s");
}

/* Warns once per kernel, about one write: the first of some worker. */
static void warn_outside(Kernel *kernel, const Version *version, const RtOutside *outside) {
  char index[200], shape[400];
  if (outside->site < 0) {
    warn_missing(kernel, outside);
    return;
  }
  ASSERT(outside->site >= 0 && outside->site < version->compiled->site_count,
         "a write outside a shape has a site of its version");
  const CompiledSite *site = &version->compiled->sites[outside->site];
  kernel->has_warned = true;
  if (site->is_of_number) return warn_number(kernel, site, outside);
  numbers_join(index, sizeof index, outside->index, outside->axis_count, ", ");
  write_shape(version, site, shape, sizeof shape);
  engine_warn(kernel->engine,
              "%s:%d: a write to '%.100s' at %s is outside its shape, %s; kernel '%.100s' made "
              "%llu such write%s in this launch: they are ignored and counted in "
              "rg.stats().out_of_range (reported once per kernel)",
              kernel->chunk, site->line, site->name, index, shape, kernel->name,
              (unsigned long long)outside->count, outside->count == 1 ? "" : "s");
}

/* Counts writes outside shapes; warns unless the launch failed, as then the error is enough. */
static void count_outside(Kernel *kernel, const Version *version, const DeviceLaunch *launch) {
  const RtOutside *outside = &launch->outside;
  kernel->engine->stats.out_of_range += outside->count;
  if (!outside->count || kernel->has_warned || launch->context.error.kind != RT_OK) return;
  warn_outside(kernel, version, outside);
}

static const Tree *find_tree(const Engine *engine, int32_t number) {
  for (const Tree *tree = engine->store->trees; tree; tree = tree->next)
    if (tree->has_storage && tree->rt.number == number) return tree;
  return NULL;
}

bool stopped_error(const Kernel *kernel, Error *err) {
  return error_set(err, RG_ERROR_STOPPED, "a launch of kernel '%.100s' was stopped", kernel->name);
}

static bool arrays_error(const Device *device, Error *err) {
  if (device_is_unified(device)) {
    error_set(err, RG_ERROR_BUDGET,
              "the memory budget is too small for an array that the kernel makes");
    return error_hint(err, "set a larger budget: rg.init{ memory = \"8GiB\" }, or RG_MEMORY");
  }
  error_set(err, RG_ERROR_BUDGET, "the GPU has no memory left for the arrays that kernels make");
  return error_hint(err, "launch again: the next launch gets more, within the memory budget");
}

static bool check_fault(const Kernel *kernel, const RtError *fault, Error *err) {
  if (fault->kind == RT_OK) return true;
  const Tree *tree = find_tree(kernel->engine, fault->tree);
  switch (fault->kind) {
  case RT_ERROR_BUDGET:
    return tree ? storage_budget_error(tree, fault->manager, err)
                : arrays_error(kernel->engine->store->device, err);
  case RT_ERROR_NATIVE: return extension_report(kernel->engine->extensions, fault->manager, err);
  case RT_ERROR_FAULT: return false; /* messages_read has set err */
  case RT_ERROR_FULL:
    return tree ? storage_full_error(tree, fault->manager, err) : item_fail_length(err);
  case RT_ERROR_STOPPED: return stopped_error(kernel, err);
  default:
    return error_set(err, RG_ERROR_MEMORY,
                     "the host has no memory left for a list of active nodes");
  }
}

/* Releases result arrays that were not read. */
void readback_drop(const Engine *engine, Version *version) {
  const TypeTable *types = &engine->store->types;
  const CompiledKernel *compiled = version->compiled;
  if (!compiled->returns_arrays) return;
  VersionLaunch *launch = version->launch;
  int32_t slot = compiled->arg_count;
  for (int32_t k = 0; k < compiled->result_count; k++)
    for (int part = 0; part < type_parts(compiled->results[k]); part++, slot++) {
      if (!type_number_is_array(types, compiled->results[k], part)) continue;
      if (launch->handed_over[k / 64] >> k % 64 & 1) continue;
      rt_release((RtCounted *)(uintptr_t)launch->frame[slot]);
      launch->frame[slot] = 0;
    }
  memset(launch->handed_over, 0, sizeof launch->handed_over);
}

/* Results follow the arguments in the frame. */
bool readback_result(Kernel *kernel, Version *version, int32_t number, RgValue *result) {
  const CompiledKernel *compiled = version->compiled;
  int32_t slot = compiled->arg_count, count = compiled->result_count;
  if (number < 0 || number >= count) {
    *result = (RgValue){.kind = RG_VALUE_NIL};
    return false;
  }
  VersionLaunch *launch = version->launch;
  DEBUG_ASSERT(number < 256, "handed_over has a bit for each result");
  for (int32_t k = 0; k < number; k++) slot += type_parts(compiled->results[k]);
  *result = vector_value(kernel->engine->store, compiled->results[number], &launch->frame[slot]);
  result->depth = count;
  /* the caller now owns the references */
  launch->handed_over[number / 64] |= (uint64_t)1 << number % 64;
  return true;
}

bool readback(Kernel *kernel, Version *version, const DeviceLaunch *launch, const RgValue *values,
              RgValue *result, Error *err) {
  kernel->engine->store->stats.gcs += launch->collections;
  count_outside(kernel, version, launch);
  if (!messages_read(kernel, version->compiled, launch, values, err) ||
      !check_fault(kernel, &launch->context.error, err)) {
    readback_drop(kernel->engine, version);
    return false;
  }
  readback_result(kernel, version, 0, result);
  return true;
}
