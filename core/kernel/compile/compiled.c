/* compiled.c - makes a CompiledKernel from a compile: the source of each argument and tree, the
 * frame, messages and sites; tasks.c adds tasks and effects. Everything is copied to the compiled
 * kernel's own memory; nothing refers to the compile's. */
#include "kernel/compile/compiled.h"

#include <stdio.h>
#include <string.h>

#include "kernel/compile/compile.h"
#include "kernel/report/message.h"

/* -- arguments --------------------------------------------------------------------------------- */

static const char *keep_text(CompiledKernel *compiled, const char *text) {
  return text ? scratch_copy_text(&compiled->memory, text, strlen(text)) : NULL;
}

/* For a number of a vector or struct: takes its type from the value's type, which is part of the
 * pattern. */
static void note_given(const Compile *compile, CompiledArg *arg) {
  ASSERT(compile_value(compile, arg->from) < compile->value_count, "an argument has a value");
  const SemaValue *value = &compile->given[compile_value(compile, arg->from)];
  TypeTable *types = &compile->kernel->engine->store->types;
  Type type;
  arg->given = TYPE(NONE);
  arg->is_array = arg->from.kind == ARG_HEADER;
  if (value->kind != VALUE_VECTOR || !type_read(types, str_of(value->name), &type, NULL) ||
      arg->from.part >= type_parts(type))
    return;
  arg->given = type_number(types, type, arg->from.part);
  arg->is_array = type_number_is_array(types, type, arg->from.part);
}

static void fill_args(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  ASSERT(compile->sema.args.count == ir->args.count &&
             compile->sema.sources.count == ir->args.count,
         "every argument has a value that it is read from, and a source that uses it");
  compiled->arg_count = ir->args.count;
  compiled->args = scratch_array(&compiled->memory, CompiledArg, ir->args.count);
  for (int32_t k = 0; k < ir->args.count; k++) {
    const IrArg *arg = &ir->args.items[k];
    CompiledArg *out = &compiled->args[k];
    out->type = arg->type;
    out->from = compile->sema.args.items[k];
    out->source = compile->sema.sources.items[k];
    note_given(compile, out);
    if (out->is_array) compiled->shares_arrays = compiled->takes_arrays = true;
    out->line = arg->line;
    out->column = arg->column;
    out->name = keep_text(compiled, arg->name ? arg->name : "");
    out->reason = compile->sema.reasons.items[k];
    out->reason.clause = keep_text(compiled, out->reason.clause);
  }
}

/* The first value that is in the kernel's tree `k`, which may be an array's; false if there is
 * none. */
static bool find_tree(const Compile *compile, const CompiledKernel *compiled, int32_t k,
                      SemaArg *from) {
  const IrKernel *ir = compile->sema.kernel;
  for (int i = 0; i < ir->arrays.count; i++)
    if (ir->arrays.items[i].tree == k) {
      SemaArg array = compiled->args[ir->arrays.items[i].address].from;
      *from = (SemaArg){.is_parameter = array.is_parameter, .index = array.index};
      return true;
    }
  int32_t at = 0, paths = compile->kernel->paths.count;
  while (at < compile->value_count && pattern_tree(&compile->values[at]) != ir->trees.items[k].tree)
    at++;
  *from = (SemaArg){.is_parameter = at >= paths, .index = at >= paths ? at - paths : at};
  return at < compile->value_count;
}

/* A version that is based on another has the trees of its base. */
static bool copy_trees(const CompiledKernel *base, CompiledKernel *compiled, Error *err) {
  if (base->tree_count != compiled->tree_count || base->arg_count != compiled->arg_count)
    return error_set(err, RG_ERROR_INTERNAL, "constants changed the arguments of a kernel");
  memcpy(compiled->trees, base->trees, sizeof *compiled->trees * (size_t)compiled->tree_count);
  return true;
}

static bool fill_trees(const Compile *compile, CompiledKernel *compiled, Error *err) {
  const IrKernel *ir = compile->sema.kernel;
  compiled->tree_count = ir->trees.count;
  compiled->trees = scratch_array(&compiled->memory, SemaArg, ir->trees.count);
  if (compile->base) return copy_trees(compile->base, compiled, err);
  for (int32_t k = 0; k < ir->trees.count; k++)
    if (!find_tree(compile, compiled, k, &compiled->trees[k]))
      return error_set(err, RG_ERROR_INTERNAL,
                       "a compiled kernel names a tree that no argument has");
  return true;
}

/* -- the rest ---------------------------------------------------------------------------------- */

/* "8 x 4", or "8 x 4 from -2, 10" */
static void describe_shape(char *out, size_t size, const IrField *field) {
  const SNode *node = field->node;
  bool is_moved = false;
  out[0] = 0;
  if (!node) return;
  numbers_join(out, size, node->shape, node->rank, " x ");
  for (int k = 0; k < node->rank && field->offset; k++) is_moved |= field->offset[k] != 0;
  if (!is_moved) return;
  size_t used = strlen(out);
  used += (size_t)snprintf(out + used, size - used, " from ");
  numbers_join(out + used, size - used, field->offset, node->rank, ", ");
}

static void fill_sites(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  compiled->site_count = ir->sites.count;
  compiled->sites = scratch_array(&compiled->memory, CompiledSite, ir->sites.count);
  for (int32_t k = 0; k < ir->sites.count; k++) {
    const IrSite *site = &ir->sites.items[k];
    const IrField *field = &ir->fields.items[site->field];
    const IrArray *array = field->array >= 0 ? &ir->arrays.items[field->array] : NULL;
    char shape[400];
    describe_shape(shape, sizeof shape, field);
    compiled->sites[k] = (CompiledSite){.line = site->line,
                                        .is_of_number = site->is_of_number,
                                        .name = keep_text(compiled, field->name),
                                        .shape = keep_text(compiled, shape),
                                        .extents = array ? array->extents : 0,
                                        .axis_count = array ? array->axis_count : 0};
  }
}

/* The index of the value that is the argument's number; -1: the number is part of a vector. */
static int32_t number_value(const Compile *compile, int32_t arg) {
  SemaArg from = compile->sema.args.items[arg];
  bool is_number =
      from.kind == ARG_NUMBER && compile->given[compile_value(compile, from)].kind != VALUE_VECTOR;
  return is_number ? compile_value(compile, from) : -1;
}

static void fill_gradient_uses(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  compiled->gradient_uses =
      scratch_array(&compiled->memory, CompiledGradientUse, ir->gradient_uses.count);
  for (int k = 0; k < ir->gradient_uses.count; k++) {
    const IrGradientUse *use = &ir->gradient_uses.items[k];
    ASSERT(use->field < compile->sema.fields.count, "the primal's fields are the launch's values");
    CompiledGradientUse *out = &compiled->gradient_uses[compiled->gradient_use_count++];
    *out = (CompiledGradientUse){.value =
                                     compile_value(compile, compile->sema.fields.items[use->field]),
                                 .reads = use->reads,
                                 .before = use->before,
                                 .writes = use->writes,
                                 .reruns = use->reruns,
                                 .draws = use->draws,
                                 .lost_line = use->lost_line,
                                 .wanted_line = use->wanted_line,
                                 .has_first = use->has_first,
                                 .first_value = -1,
                                 .first = use->first};
    if (use->has_first && use->arg >= 0) {
      out->first_value = number_value(compile, use->arg);
      out->has_first = out->first_value >= 0;
    }
  }
}

static void *keep_array(CompiledKernel *compiled, const void *items, size_t size_bytes) {
  void *copy = scratch_alloc(&compiled->memory, size_bytes);
  if (size_bytes) memcpy(copy, items, size_bytes);
  return copy;
}

static void fill_frame(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  const SemaOutput *sema = &compile->sema;
  const TypeTable *types = &compile->kernel->engine->store->types;
  compiled->frame_slots =
      ir->frame_slots > ir->args.count ? ir->frame_slots : ir->args.count + ir_result_slots(ir);
  compiled->result_count = pass_is_adjoint(compile->kernel->derivative) ? 0 : sema->results.count;
  compiled->results = keep_array(compiled, sema->results.items,
                                 sizeof *compiled->results * (size_t)compiled->result_count);
  for (int32_t k = 0; k < compiled->result_count; k++)
    compiled->returns_arrays |= type_has_arrays(types, compiled->results[k]);
  compiled->limit_count = sema->limits.count;
  compiled->limits = keep_array(compiled, sema->limits.items,
                                sizeof *compiled->limits * (size_t)sema->limits.count);
}

static void fill_code(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  compiled->is_long = ir->is_long;
  compiled->shares_updates = ir->shares_updates;
  compiled->order = compiled_order(ir);
  compiled->lua = keep_text(compiled, compile->lua);
  if (compile->lua) return;
  compiled->bytes = keep_array(compiled, compile->bytes.data, (size_t)compile->bytes.length);
  compiled->byte_count = compile->bytes.length;
}

typedef struct Filling {
  Compile *compile;
  CompiledKernel *compiled;
  CompiledKernel *read; /* from the bytes of `compiled` */
} Filling;

static bool fill(void *data, Error *err) {
  const Filling *filling = data;
  CompiledKernel *compiled = filling->compiled;
  fill_code(filling->compile, compiled); /* first, as its block is the largest */
  fill_frame(filling->compile, compiled);
  compiled_fill_tasks(filling->compile, compiled);
  fill_args(filling->compile, compiled);
  compiled->host_changes_arrays &= compiled->takes_arrays;
  messages_keep(compiled, &filling->compile->sema);
  fill_sites(filling->compile, compiled);
  fill_gradient_uses(filling->compile, compiled);
  return fill_trees(filling->compile, compiled, err);
}

/* Checks that what is read from a compiled kernel's bytes has the same bytes. */
static bool check_bytes(void *data, Error *err) {
  Filling *filling = data;
  Store *store = filling->compile->kernel->engine->store;
  Scratch *scratch = &filling->compile->scratch;
  RgCodegenObject objects[RG_TARGET_COUNT] = {0};
  CompiledBytes bytes = compiled_write(filling->compiled, &store->types, objects, scratch);
  filling->read = compiled_read(store->heap, &store->types, bytes.data, bytes.length, objects, err);
  if (!filling->read) return false;
  CompiledBytes again = compiled_write(filling->read, &store->types, objects, scratch);
  ASSERT(bytes.length == again.length && !memcmp(bytes.data, again.data, (size_t)bytes.length),
         "a compiled kernel is the same after it was written and read");
  return true;
}

CompiledKernel *compiled_make(Compile *compile, Error *err) {
  Heap *heap = compile->kernel->engine->store->heap;
  CompiledKernel *compiled = heap_alloc(heap, sizeof *compiled);
  Filling filling = {.compile = compile, .compiled = compiled};
  if (!compiled) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a compiled kernel");
    return NULL;
  }
  scratch_init(&compiled->memory, heap);
  compiled->holders = 1;
  bool ok = guard_run(fill, &filling, err) &&
            (!compile_verifies() || guard_run(check_bytes, &filling, err));
  compiled_release(filling.read);
  if (ok) return compiled;
  compiled_release(compiled);
  return NULL;
}

void compiled_release(CompiledKernel *compiled) {
  if (!compiled) return;
  ASSERT(compiled->holders > 0, "a compiled kernel is released once by each holder");
  if (--compiled->holders) return;
  Heap *heap = compiled->memory.heap;
  scratch_deinit(&compiled->memory);
  heap_free(heap, compiled);
}
