/* variant.c - fills a variant from a compile: code, tasks, the source of each argument and tree,
 * and the compile's inputs.
 * All of it is copied to the runtime's heap; nothing refers to the compile's scratch memory. */
#include <stdio.h>
#include <string.h>

#include "base/guard.h"
#include "base/map.h"
#include "kernel/ahead.h"
#include "kernel/compile.h"
#include "kernel/message.h"
#include "kernel/quick.h"
#include "kernel/tuning.h"
#include "pass/arrays/refcounts.h"

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a compiled kernel");
}

static void *heap_copy(Heap *heap, const void *data, size_t size_bytes) {
  void *copy = heap_alloc(heap, size_bytes);
  if (copy && size_bytes) memcpy(copy, data, size_bytes);
  return copy;
}

static bool changes_topology(void *data, IrInst *inst) { /* a visit: false when found */
  return !(ir_effects(inst) & IR_TOPOLOGY);
}

static bool note_order(void *data, IrInst *inst) {
  DeviceTask *task = data;
  if (!ir_is_call(inst, RT_LIST_ORDER) || task->order_count == DEVICE_MOST_ORDERS) return true;
  const IrInst *depth = inst->operands[0];
  ASSERT(depth->op == IR_CONST, "how deep a walk is says who makes it");
  DeviceOrder order = {inst->tree, (int32_t)inst->imm, (int32_t)depth->imm};
  for (int32_t k = 0; k < task->order_count; k++)
    if (!memcmp(&task->orders[k], &order, sizeof order)) return true;
  task->orders[task->order_count++] = order;
  return true;
}

/* Nanoseconds per position, from the cost in additions: about three per nanosecond; rows take eight
 * at a time. */
static int64_t task_cost(const IrTask *task) {
  int64_t cost = task->cost / 3 + 1;
  if (task->kind != TASK_LEAVES) return cost;
  for (int32_t k = 0; k < task->axis_count && cost < INT32_MAX; k++)
    cost *= task->factors[k] > 0 ? task->factors[k] : 1;
  return cost / 8 + 1;
}

/* A visit: false when results depend on the order of iterations, also through a shared array. */
static bool has_no_order(void *data, IrInst *inst) {
  bool changes = ir_is_call(inst, RT_ARRAY_APPEND) || ir_is_call(inst, RT_ARRAY_POP);
  return !ir_shows_order(inst) && !(changes && !counts_is_private(inst->operands[0]));
}

static bool note_lanes(void *data, IrInst *inst) {
  uint64_t *order = data;
  bool repeats = inst->op == IR_FOR || inst->op == IR_BITS || inst->op == IR_ROW;
  const int32_t lanes[] = {inst->lanes, inst->op == IR_ROW ? inst->width : 0};
  if (repeats && (lanes[0] > 1 || lanes[1] > 1) && !ir_walk(inst->regions[0], has_no_order, NULL))
    *order = hash_bytes(*order, lanes, sizeof lanes);
  return true;
}

static uint64_t order_of_task(const IrTask *task, uint64_t order) {
  if (ir_walk(task->body, has_no_order, NULL)) return order;
  /* lanes start anew at the beginning of each part */
  bool has_parts = task->lanes > 1 && task->interior;
  const int32_t lanes[] = {task->lanes, has_parts, task->rim_scalar};
  order = hash_bytes(order, lanes, sizeof lanes);
  for (int k = 0; has_parts && k < task->axis_count; k++) {
    const int64_t part[] = {task->interior_begin[k], task->interior_end[k]};
    order = hash_bytes(order, part, sizeof part);
  }
  ir_walk(task->body, note_lanes, &order);
  if (task->interior) ir_walk(task->interior, note_lanes, &order);
  return order;
}

uint64_t variant_order(const IrKernel *kernel) {
  uint64_t order = 0;
  for (int k = 0; k < kernel->tasks.count; k++)
    order = order_of_task(kernel->tasks.items[k], order);
  return order;
}

/* The call that clears a level, if the task does nothing else; else NULL. */
static const IrInst *find_clear(const IrTask *task) {
  const IrInst *inst = task->body->first;
  bool is_clear = inst && !inst->next && ir_is_clear_call(inst);
  return task->kind == TASK_SERIAL && is_clear ? inst : NULL;
}

static void note_clear(const IrTask *task, DeviceTask *out) {
  const IrInst *clear = find_clear(task);
  if (!clear) return;
  out->kind = ir_is_call(clear, RT_TREE_CLEAR) ? DEVICE_CLEAR : DEVICE_CLEAR_CELLS;
  out->tree = clear->tree;
  out->manager = (int32_t)clear->imm;
}

static DeviceTaskKind device_kind(const IrTask *task) {
  if (task->kind == TASK_SERIAL) return DEVICE_SERIAL;
  return task->kind == TASK_RANGE ? DEVICE_RANGE : DEVICE_NODES;
}

static bool writes_frame(void *data, IrInst *inst) { /* a visit: false when found */
  return inst->op != IR_REDUCE && inst->op != IR_FRAME_SET;
}

/* A visit: collects the arguments that bounds of a loop depend on. */
typedef struct Bounds {
  const IrTask *task;
  uint64_t args; /* bits of the first 64 */
} Bounds;

static void add_args(const IrInst *inst, int depth, uint64_t *args) {
  enum { DEEP = 12 };
  if (inst->op == IR_ARG && inst->imm < 64) *args |= (uint64_t)1 << inst->imm;
  for (int k = 0; k < inst->operand_count && depth < DEEP; k++)
    add_args(inst->operands[k], depth + 1, args);
}

static bool note_bound(void *data, IrInst *inst) {
  Bounds *bounds = data;
  int64_t number = inst->imm - bounds->task->bounds;
  if (inst->op == IR_FRAME_SET && number >= 0 && number < 2 * (int64_t)bounds->task->axis_count)
    add_args(inst->operands[0], 0, &bounds->args);
  return true;
}

static uint64_t extents_of(const IrKernel *kernel, const IrTask *task) {
  Bounds bounds = {.task = task};
  if (task->kind == TASK_RANGE) ir_walk(kernel->body, note_bound, &bounds);
  return bounds.args;
}

/* A visit: records what an instruction may write to. */
typedef struct Writing {
  const IrKernel *kernel;
  Variant *variant;
} Writing;

static uint64_t bit_of(int32_t number) {
  return number >= 0 && number < 64 ? (uint64_t)1 << number : UINT64_MAX;
}

static void note_written(const Writing *writing, const IrInst *inst) {
  const IrKernel *kernel = writing->kernel;
  Variant *variant = writing->variant;
  const IrField *field = inst->alias > 0 ? &kernel->fields.items[inst->alias - 1] : NULL;
  const IrArray *array = field && field->array >= 0 ? &kernel->arrays.items[field->array] : NULL;
  int32_t tree = array ? array->tree : field ? field->tree : -1;
  if (!array || tree >= 0) variant->written |= bit_of(tree);
  if (array) variant->written_arrays |= bit_of(array->address);
  if (!field) variant->written_arrays = UINT64_MAX;
}

/* Can this entry allocate memory for arrays? */
static bool may_take(RtEntry entry) {
  return entry == RT_ARRAY_NEW || entry == RT_ARRAY_EXCHANGE || entry == RT_ARRAY_APPEND ||
         entry == RT_ARRAY_POP || entry == RT_ARRAY_CLEAR || entry == RT_ARRAY_SLICE;
}

/* Can it change an array or an element? */
static bool may_change(const IrInst *inst) {
  bool gives_place = ir_is_call(inst, RT_ARRAY_AT) || ir_is_call(inst, RT_ARRAY_EXCHANGE);
  return gives_place || ir_is_call(inst, RT_ARRAY_APPEND) || ir_is_call(inst, RT_ARRAY_POP) ||
         ir_is_call(inst, RT_ARRAY_CLEAR);
}

static bool note_arrays(void *data, IrInst *inst) {
  Variant *variant = data;
  bool is_call = ir_is_array_call(inst);
  variant->makes_arrays |= is_call;
  variant->grows_arrays |= is_call && may_take(inst->entry);
  return true;
}

static bool note_host_arrays(void *data, IrInst *inst) {
  Variant *variant = data;
  bool calls = inst->op == IR_INVOKE && variant->makes_arrays; /* the function may use arrays */
  variant->host_has_arrays |= ir_is_array_call(inst) || ir_is_count(inst->op) || calls;
  variant->host_changes_arrays |= may_change(inst) || calls;
  return true;
}

static unsigned beyond_of(const IrInst *inst) {
  int effects = ir_effects(inst);
  bool writes = effects & (IR_WRITE | IR_UPDATE_EFFECT);
  if (ir_is_array_call(inst) || ir_is_count(inst->op)) return 1u << BEYOND_ARRAYS;
  if (ir_is_call(inst, RT_NATIVE)) return 1u << BEYOND_EXTENSION;
  if (inst->op == IR_INVOKE) return 0; /* the functions themselves are visited */
  return effects & IR_TOPOLOGY || (writes && inst->op == IR_CALL) ? 1u << BEYOND_CELLS : 0;
}

static bool note_writes(void *data, IrInst *inst) {
  const Writing *writing = data;
  unsigned beyond = beyond_of(inst);
  bool writes = ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT) && inst->op != IR_INVOKE;
  if (writes || beyond) note_written(writing, inst);
  writing->variant->beyond |= beyond;
  note_arrays(writing->variant, inst);
  return true;
}

static void note_task_writes(Writing *writing, const IrTask *task) {
  ir_walk(task->body, note_writes, writing);
  if (task->interior) ir_walk(task->interior, note_writes, writing);
  if (task->claim) ir_walk(task->claim, note_writes, writing);
}

static CountsUse arrays_of(const IrKernel *kernel, const IrTask *task) {
  IrRegion *const parts[] = {task->body, task->interior, task->claim};
  CountsUse all = {0};
  for (int k = 0; k < 3; k++) {
    if (!parts[k]) continue;
    CountsUse use = counts_use(kernel, parts[k]);
    all.any |= use.any;
    all.elements |= use.elements;
  }
  return all;
}

static void add_array(DeviceTask *out, int64_t slot) {
  int32_t k = 0;
  while (k < out->array_count && out->array_slots[k] != slot) k++;
  if (k < out->array_count) return;
  if (k == DEVICE_MOST_ARRAYS) out->array_count = -1;
  else out->array_slots[out->array_count++] = (int32_t)slot;
}

/* Collects the arrays that a task accesses through headers, if all are in slots of the frame. */
static bool note_array(void *data, IrInst *inst) {
  DeviceTask *out = data;
  if (!counts_reaches(inst) || out->array_count < 0) return true;
  if (inst->operands[0]->op == IR_FRAME_GET) add_array(out, inst->operands[0]->imm);
  else out->array_count = -1;
  return true;
}

static void note_arrays_of(const IrKernel *kernel, const IrTask *task, DeviceTask *out) {
  IrRegion *const parts[] = {task->body, task->interior, task->claim};
  for (int k = 0; k < 3; k++)
    if (parts[k]) ir_walk_called(kernel, parts[k], note_array, out);
}

static bool fill_task(const Compile *compile, Variant *variant, int32_t number, Heap *heap,
                      Error *err) {
  const IrKernel *kernel = compile->sema.kernel;
  const IrTask *task = kernel->tasks.items[number];
  bool changes = !ir_walk(task->body, changes_topology, NULL) ||
                 (task->interior && !ir_walk(task->interior, changes_topology, NULL));
  bool has_order = !ir_walk(task->body, has_no_order, NULL);
  CountsUse arrays = arrays_of(kernel, task);
  variant->order_shows |= has_order;
  variant->extents |= extents_of(kernel, task);
  DeviceTask *out = &variant->tasks[number];
  *out = (DeviceTask){
      .kind = device_kind(task),
      .axis_count = task->axis_count,
      .bounds = task->bounds,
      .tree = task->tree,
      .manager = task->manager,
      .block = task->block,
      .cost = task_cost(task),
      .privatised = task->privatised,
      .spread = ir_spread(task),
      .lists_are_ordered = compile->kernel->engine->options.deterministic,
      .is_ordered = compile->kernel->engine->options.deterministic && (changes || has_order),
      .writes_frame = !ir_walk(task->body, writes_frame, NULL) ||
                      (task->interior && !ir_walk(task->interior, writes_frame, NULL)),
      .uses_arrays = arrays.any,
      .reaches_arrays = arrays.elements,
      .may_change_topology = changes,
      /* `changes` may be false if passes removed all deactivations */
      .may_deactivate = changes && task->may_deactivate};
  ir_walk(task->body, note_order, out);
  const Variant *general = compile->constants.general;
  /* the same chunks give the same sums */
  bool keeps_chunks = general && engine_has_one_order(compile->kernel->engine);
  if (keeps_chunks && number < general->task_count) out->cost = general->tasks[number].cost;
  note_arrays_of(kernel, task, out);
  note_clear(task, out);
  if (!task->private_fields.count) return true;
  DeviceSum *sums = heap_alloc(heap, sizeof *sums * (size_t)task->private_fields.count);
  if (!sums) return no_memory(err);
  out->sums = sums;
  out->sum_count =
      sums_describe(kernel, task->private_fields.items, task->private_fields.count, sums);
  variant->has_sums = true;
  return true;
}

static bool fill_tasks(Compile *compile, Variant *variant, Heap *heap, Error *err) {
  const IrKernel *ir = compile->sema.kernel;
  if (compile->lua) return true;
  variant->task_count = ir->tasks.count;
  variant->tasks = heap_alloc(heap, sizeof *variant->tasks * (size_t)ir->tasks.count);
  if (!variant->tasks) return no_memory(err);
  Writing writing = {ir, variant};
  ir_walk(ir->body, note_writes, &writing);
  for (int k = 0; k < ir->functions.count; k++)
    ir_walk(ir->functions.items[k]->body, note_writes, &writing);
  ir_walk(ir->body, note_host_arrays, variant);
  variant->shares_arrays |= variant->host_has_arrays;
  for (int32_t k = 0; k < ir->tasks.count; k++) {
    note_task_writes(&writing, ir->tasks.items[k]);
    if (!fill_task(compile, variant, k, heap, err)) return false;
  }
  return true;
}

static void free_arg(Heap *heap, VariantArg *arg) {
  heap_free(heap, arg->name);
  heap_free(heap, (char *)arg->why.clause);
}

/* For a number of a vector or struct: takes its type from the value's type, which is part of the
 * pattern. */
static void note_given(const Compile *compile, VariantArg *arg) {
  const SemaValue *value = &compile->given[arg->value];
  TypeTable *types = &compile->kernel->engine->store->types;
  Type type;
  arg->given = TYPE(NONE);
  arg->is_array = arg->kind == ARG_HEADER;
  if (value->kind != VALUE_VECTOR || !type_read(types, str_of(value->name), &type, NULL) ||
      arg->part >= type_parts(type))
    return;
  arg->given = type_number(types, type, arg->part);
  arg->is_array = type_number_is_array(types, type, arg->part);
}

static bool fill_args(Compile *compile, Variant *variant, Heap *heap, Error *err) {
  const IrKernel *ir = compile->sema.kernel;
  variant->args = heap_alloc(heap, sizeof *variant->args * (size_t)ir->args.count);
  if (!variant->args) return no_memory(err);
  for (; variant->arg_count < ir->args.count; variant->arg_count++) {
    const IrArg *arg = &ir->args.items[variant->arg_count];
    SemaArg from = compile->sema.args.items[variant->arg_count];
    VariantArg *out = &variant->args[variant->arg_count];
    out->type = arg->type;
    out->value = from.index + (from.is_parameter ? compile->kernel->paths.count : 0);
    out->source = compile->sema.sources.items[variant->arg_count];
    out->part = from.part;
    out->kind = from.kind;
    note_given(compile, out);
    if (out->is_array) variant->shares_arrays = variant->takes_arrays = true;
    out->line = arg->line;
    out->column = arg->column;
    out->name = heap_copy_text(heap, arg->name ? arg->name : "");
    out->why = compile->sema.whys.items[variant->arg_count];
    bool has_why = out->why.clause != NULL;
    if (has_why) out->why.clause = heap_copy_text(heap, out->why.clause);
    if (out->name && (!has_why || out->why.clause)) continue;
    free_arg(heap, out);
    return no_memory(err);
  }
  return true;
}

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

static bool fill_sites(Compile *compile, Variant *variant, Heap *heap, Error *err) {
  const IrKernel *ir = compile->sema.kernel;
  variant->sites = heap_alloc(heap, sizeof *variant->sites * (size_t)ir->sites.count);
  if (!variant->sites) return no_memory(err);
  for (; variant->site_count < ir->sites.count; variant->site_count++) {
    const IrSite *site = &ir->sites.items[variant->site_count];
    const IrField *field = &ir->fields.items[site->field];
    VariantSite *out = &variant->sites[variant->site_count];
    char shape[400];
    const IrArray *array = field->array >= 0 ? &ir->arrays.items[field->array] : NULL;
    describe_shape(shape, sizeof shape, field);
    *out = (VariantSite){.line = site->line,
                         .name = heap_copy_text(heap, field->name),
                         .shape = heap_copy_text(heap, shape),
                         .extents = array ? array->extents : 0,
                         .axis_count = array ? array->axis_count : 0};
    if (out->name && out->shape) continue;
    variant->site_count++; /* variant_free must free this one, too */
    return no_memory(err);
  }
  return true;
}

/* Index of the first value of the kernel's tree `k`, which may be an array's; value_count if there
 * is none. */
static int32_t value_of_tree(const Compile *compile, const Variant *variant, int32_t k) {
  const IrKernel *ir = compile->sema.kernel;
  for (int i = 0; i < ir->arrays.count; i++)
    if (ir->arrays.items[i].tree == k) return variant->args[ir->arrays.items[i].address].value;
  int32_t at = 0;
  while (at < compile->value_count && pattern_tree(&compile->values[at]) != ir->trees.items[k].tree)
    at++;
  return at;
}

/* A special variant uses the trees of the general one. */
static bool copy_trees(const Variant *general, Variant *variant, Error *err) {
  if (general->tree_count != variant->tree_count || general->arg_count != variant->arg_count)
    return error_set(err, RG_ERROR_INTERNAL, "constants changed what a kernel is given");
  memcpy(variant->tree_values, general->tree_values,
         sizeof *variant->tree_values * (size_t)variant->tree_count);
  return true;
}

static bool fill_trees(Compile *compile, Variant *variant, Heap *heap, Error *err) {
  const IrKernel *ir = compile->sema.kernel;
  variant->tree_count = ir->trees.count;
  variant->tree_values = heap_alloc(heap, sizeof *variant->tree_values * (size_t)ir->trees.count);
  variant->trees =
      heap_alloc(heap, sizeof *variant->trees * ((size_t)ir->trees.count + (size_t)ir->args.count));
  if (!variant->tree_values || !variant->trees) return no_memory(err);
  if (compile->constants.general) return copy_trees(compile->constants.general, variant, err);
  for (int32_t k = 0; k < ir->trees.count; k++) {
    int32_t at = value_of_tree(compile, variant, k);
    if (at == compile->value_count)
      return error_set(err, RG_ERROR_INTERNAL,
                       "a compiled kernel names a tree that no argument has");
    variant->tree_values[k] = at;
  }
  return true;
}

/* Copies the compile's inputs and its output. */
static bool fill_ends(Compile *compile, Variant *variant, Heap *heap, Error *err) {
  variant->given = values_keep(heap, compile->given, compile->value_count);
  variant->given_count = compile->value_count;
  if (!variant->given) return no_memory(err);
  if (compile->lua) return (variant->lua = heap_copy_text(heap, compile->lua)) || no_memory(err);
  variant->bytes = heap_copy(heap, compile->bytes.data, (size_t)compile->bytes.length);
  variant->byte_count = compile->bytes.length;
  return variant->bytes || no_memory(err);
}

/* The caller holds counted arrays only until the launch returns, so launches with such arguments
 * are awaited. A device with copies of arrays is an exception: it reports in has_waited if a launch
 * used the arrays themselves. */
static void decide_waiting(const Compile *compile, Variant *variant) {
  const Device *device = compile->kernel->engine->store->device;
  variant->host_changes_arrays &= variant->takes_arrays;
  bool has_copies = device->table->mirror && !variant->host_changes_arrays;
  variant->is_awaited |= variant->takes_arrays && !has_copies;
}

bool variant_fill(Compile *compile, Variant *variant, int word_count, Error *err) {
  Heap *heap = compile->kernel->engine->store->heap;
  const IrKernel *ir = compile->sema.kernel;
  const Variant *general = compile->constants.general;
  variant->words = heap_copy(heap, general ? general->words : compile->kernel->words,
                             sizeof *variant->words * (size_t)word_count);
  variant->word_count = word_count;
  variant->is_long = ir->is_long;
  variant->order = variant_order(ir);
  variant->path_count = compile->kernel->paths.count;
  variant->frame_slots =
      ir->frame_slots > ir->args.count ? ir->frame_slots : ir->args.count + ir_result_slots(ir);
  variant->frame = heap_alloc(heap, sizeof *variant->frame * (size_t)variant->frame_slots);
  const SemaOutput *sema = &compile->sema;
  variant->results =
      heap_copy(heap, sema->results.items, sizeof *variant->results * (size_t)sema->results.count);
  variant->result_count = sema->results.count;
  variant->limits = heap_copy(heap, compile->sema.limits.items,
                              sizeof *variant->limits * (size_t)compile->sema.limits.count);
  variant->limit_count = compile->sema.limits.count;
  const TypeTable *types = &compile->kernel->engine->store->types;
  for (int32_t k = 0; k < variant->result_count && variant->results; k++)
    variant->returns_arrays |= type_has_arrays(types, variant->results[k]);
  variant->is_awaited = variant->result_count > 0 || compile->kernel->engine->options.waits;
  if (!variant->words || !variant->frame || !variant->results || !variant->limits)
    return no_memory(err);
  if (!fill_tasks(compile, variant, heap, err) || !fill_args(compile, variant, heap, err))
    return false;
  decide_waiting(compile, variant);
  return messages_keep(variant, &compile->sema, heap, err) &&
         fill_sites(compile, variant, heap, err) && fill_trees(compile, variant, heap, err) &&
         fill_ends(compile, variant, heap, err);
}

Variant *variant_special(Compile *compile, const Variant *general, DeviceCode *code, Error *err) {
  Store *store = compile->kernel->engine->store;
  Variant *variant = heap_alloc(store->heap, sizeof *variant);
  if (!variant) {
    store->device->table->unload(store->device, code);
    no_memory(err);
    return NULL;
  }
  variant->code = code;
  variant->number = general->number;
  if (variant_fill(compile, variant, general->word_count, err)) return variant;
  variant_free(compile->kernel->engine, variant);
  return NULL;
}

void variant_take_arguments(const Engine *engine, Variant *variant, const Variant *from) {
  readback_drop(engine, variant);
  memset(variant->frame, 0, sizeof *variant->frame * (size_t)variant->frame_slots);
  memcpy(variant->frame, from->frame, sizeof *variant->frame * (size_t)from->arg_count);
}

void variant_free(Engine *engine, Variant *variant) {
  Store *store = engine->store;
  Heap *heap = store->heap;
  if (!variant) return;
  ahead_drop(engine, variant);
  quick_drop(engine, variant);
  tuning_drop(engine, variant);
  if (variant->frame && variant->results) readback_drop(engine, variant);
  for (int32_t k = 0; k < variant->arg_count; k++) free_arg(heap, &variant->args[k]);
  messages_drop(variant);
  for (int32_t k = 0; k < variant->site_count; k++) {
    heap_free(heap, variant->sites[k].name);
    heap_free(heap, variant->sites[k].shape);
  }
  values_free(heap, variant->given, variant->given_count);
  for (int32_t k = 0; variant->tasks && k < variant->task_count; k++)
    heap_free(heap, (void *)variant->tasks[k].sums);
  if (variant->code) store->device->table->unload(store->device, variant->code);
  void *parts[] = {variant->words,   variant->tasks, variant->args,   variant->tree_values,
                   variant->trees,   variant->frame, variant->lua,    variant->bytes,
                   variant->results, variant->sites, variant->limits, variant};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) heap_free(heap, parts[k]);
}
