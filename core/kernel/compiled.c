/* compiled.c - makes a CompiledKernel from a compile: tasks, effects, the source of each argument
 * and tree, messages and sites. Everything is copied to the compiled kernel's own memory; nothing
 * refers to the compile's. */
#include "kernel/compiled.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "kernel/compile.h"
#include "kernel/message.h"
#include "pass/arrays/refcounts.h"

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

uint64_t compiled_order(const IrKernel *kernel) {
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
  CompiledKernel *compiled;
} Writing;

static uint64_t bit_of(int32_t number) {
  return number >= 0 && number < 64 ? (uint64_t)1 << number : UINT64_MAX;
}

static void note_written(const Writing *writing, const IrInst *inst) {
  const IrKernel *kernel = writing->kernel;
  CompiledKernel *compiled = writing->compiled;
  const IrField *field = inst->alias > 0 ? &kernel->fields.items[inst->alias - 1] : NULL;
  const IrArray *array = field && field->array >= 0 ? &kernel->arrays.items[field->array] : NULL;
  int32_t tree = array ? array->tree : field ? field->tree : -1;
  if (!array || tree >= 0) compiled->written |= bit_of(tree);
  if (array) compiled->written_arrays |= bit_of(array->address);
  if (!field) compiled->written_arrays = UINT64_MAX;
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
  CompiledKernel *compiled = data;
  bool is_call = ir_is_array_call(inst);
  compiled->makes_arrays |= is_call;
  compiled->grows_arrays |= is_call && may_take(inst->entry);
  return true;
}

static bool note_host_arrays(void *data, IrInst *inst) {
  CompiledKernel *compiled = data;
  bool calls = inst->op == IR_INVOKE && compiled->makes_arrays; /* the function may use arrays */
  compiled->host_has_arrays |= ir_is_array_call(inst) || ir_is_count(inst->op) || calls;
  compiled->host_changes_arrays |= may_change(inst) || calls;
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
  writing->compiled->beyond |= beyond;
  note_arrays(writing->compiled, inst);
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

static void fill_task(const Compile *compile, CompiledKernel *compiled, int32_t number) {
  const IrKernel *kernel = compile->sema.kernel;
  const IrTask *task = kernel->tasks.items[number];
  const Engine *engine = compile->kernel->engine;
  bool changes = !ir_walk(task->body, changes_topology, NULL) ||
                 (task->interior && !ir_walk(task->interior, changes_topology, NULL));
  bool has_order = !ir_walk(task->body, has_no_order, NULL);
  CountsUse arrays = arrays_of(kernel, task);
  compiled->order_shows |= has_order;
  compiled->extents |= extents_of(kernel, task);
  DeviceTask *out = &compiled->tasks[number];
  *out =
      (DeviceTask){.kind = device_kind(task),
                   .axis_count = task->axis_count,
                   .bounds = task->bounds,
                   .tree = task->tree,
                   .manager = task->manager,
                   .block = task->block,
                   .cost = task_cost(task),
                   .privatised = task->privatised,
                   .spread = ir_spread(task),
                   .lists_are_ordered = engine->options.deterministic,
                   .is_ordered = engine->options.deterministic && (changes || has_order),
                   .writes_frame = !ir_walk(task->body, writes_frame, NULL) ||
                                   (task->interior && !ir_walk(task->interior, writes_frame, NULL)),
                   .uses_arrays = arrays.any,
                   .reaches_arrays = arrays.elements,
                   .may_change_topology = changes,
                   /* `changes` may be false if passes removed all deactivations */
                   .may_deactivate = changes && task->may_deactivate};
  ir_walk(task->body, note_order, out);
  const CompiledKernel *general = compile->base;
  /* the same chunks give the same sums */
  if (general && engine_has_one_order(engine) && number < general->task_count)
    out->cost = general->tasks[number].cost;
  note_arrays_of(kernel, task, out);
  note_clear(task, out);
}

/* Private copies: of a privatised version of a task. */
static void fill_sums(const Compile *compile, CompiledKernel *compiled, int32_t number) {
  const IrKernel *kernel = compile->sema.kernel;
  const IrTask *task = kernel->tasks.items[number];
  int32_t count = task->private_fields.count;
  if (!count) return;
  DeviceSum *sums = scratch_array(&compiled->memory, DeviceSum, count);
  compiled->tasks[number].sums = sums;
  compiled->tasks[number].sum_count =
      sums_describe(kernel, task->private_fields.items, count, sums);
  compiled->has_sums = true;
}

static void fill_tasks(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  if (compile->lua) return;
  compiled->task_count = ir->tasks.count;
  compiled->tasks = scratch_array(&compiled->memory, DeviceTask, ir->tasks.count);
  Writing writing = {ir, compiled};
  ir_walk(ir->body, note_writes, &writing);
  for (int k = 0; k < ir->functions.count; k++)
    ir_walk(ir->functions.items[k]->body, note_writes, &writing);
  ir_walk(ir->body, note_host_arrays, compiled);
  compiled->shares_arrays |= compiled->host_has_arrays;
  for (int32_t k = 0; k < ir->tasks.count; k++) {
    note_task_writes(&writing, ir->tasks.items[k]);
    fill_task(compile, compiled, k);
    fill_sums(compile, compiled, k);
  }
}

/* -- arguments --------------------------------------------------------------------------------- */

static const char *keep_text(CompiledKernel *compiled, const char *text) {
  return text ? scratch_copy_text(&compiled->memory, text, strlen(text)) : NULL;
}

/* For a number of a vector or struct: takes its type from the value's type, which is part of the
 * pattern. */
static void note_given(const Compile *compile, CompiledArg *arg) {
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
    out->why = compile->sema.whys.items[k];
    out->why.clause = keep_text(compiled, out->why.clause);
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

/* With constants, the trees are those of the general code. */
static bool copy_trees(const CompiledKernel *general, CompiledKernel *compiled, Error *err) {
  if (general->tree_count != compiled->tree_count || general->arg_count != compiled->arg_count)
    return error_set(err, RG_ERROR_INTERNAL, "constants changed what a kernel is given");
  memcpy(compiled->trees, general->trees, sizeof *compiled->trees * (size_t)compiled->tree_count);
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
                                        .name = keep_text(compiled, field->name),
                                        .shape = keep_text(compiled, shape),
                                        .extents = array ? array->extents : 0,
                                        .axis_count = array ? array->axis_count : 0};
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
  compiled->result_count = sema->results.count;
  compiled->results = keep_array(compiled, sema->results.items,
                                 sizeof *compiled->results * (size_t)sema->results.count);
  for (int32_t k = 0; k < compiled->result_count; k++)
    compiled->returns_arrays |= type_has_arrays(types, compiled->results[k]);
  compiled->limit_count = sema->limits.count;
  compiled->limits = keep_array(compiled, sema->limits.items,
                                sizeof *compiled->limits * (size_t)sema->limits.count);
}

static void fill_code(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  compiled->is_long = ir->is_long;
  compiled->order = compiled_order(ir);
  compiled->lua = keep_text(compiled, compile->lua);
  if (compile->lua) return;
  compiled->bytes = keep_array(compiled, compile->bytes.data, (size_t)compile->bytes.length);
  compiled->byte_count = compile->bytes.length;
}

typedef struct Making {
  const Compile *compile;
  CompiledKernel *compiled;
} Making;

static bool fill(void *data, Error *err) {
  const Making *making = data;
  CompiledKernel *compiled = making->compiled;
  fill_code(making->compile, compiled); /* first: its block is the largest */
  fill_frame(making->compile, compiled);
  fill_tasks(making->compile, compiled);
  fill_args(making->compile, compiled);
  compiled->host_changes_arrays &= compiled->takes_arrays;
  messages_keep(compiled, &making->compile->sema);
  fill_sites(making->compile, compiled);
  return fill_trees(making->compile, compiled, err);
}

CompiledKernel *compiled_make(const Compile *compile, Error *err) {
  Heap *heap = compile->kernel->engine->store->heap;
  CompiledKernel *compiled = heap_alloc(heap, sizeof *compiled);
  Making making = {compile, compiled};
  if (!compiled) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a compiled kernel");
    return NULL;
  }
  scratch_init(&compiled->memory, heap);
  compiled->holders = 1;
  if (guard_run(fill, &making, err)) return compiled;
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
