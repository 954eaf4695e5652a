/* tasks.c - fills the task table of a compiled kernel, and its effects: what each task costs,
 * changes and depends on, and the memory of the elements that it sums in private copies (device.h:
 * DeviceSum). All of it is computed from the tasks' IR after the passes. */
#include <string.h>

#include "base/map.h"
#include "kernel/compile/compile.h"
#include "pass/arrays/refcounts.h"
#include "snode/path.h"

/* -- effects, and the order of iterations ------------------------------------------------------ */

static bool changes_topology(void *data, IrInst *inst) { /* a visit: false when found */
  return !(ir_effects(inst) & IR_TOPOLOGY);
}

static bool note_order(void *data, IrInst *inst) {
  DeviceTask *task = data;
  if (!ir_is_call(inst, RT_LIST_ORDER) || task->order_count == DEVICE_MAX_ORDERS) return true;
  const IrInst *depth = inst->operands[0];
  ASSERT(depth->op == IR_CONST, "the depth of a walk is a constant");
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

static bool has_no_order(void *data, IrInst *inst) { return !refcounts_shows_order(inst); }

bool compiled_shows_order(const IrTask *task) { return !ir_walk(task->body, has_no_order, NULL); }

static bool note_lanes(void *data, IrInst *inst) {
  uint64_t *order = data;
  bool repeats = inst->op == IR_FOR || inst->op == IR_BITS;
  if (repeats && inst->lanes > 1 && !ir_walk(inst->regions[0], has_no_order, NULL))
    *order = hash_bytes(*order, &inst->lanes, sizeof inst->lanes);
  return true;
}

static int32_t lanes_of(Type type) { return type_is_struct(type) ? 1 : type_rows(type); }

/* A visit: the most lanes of values next to an inst whose result depends on an order. Cells of
 * leaves have no loop of lanes any more (pass/vector/cell_loops.c). */
static bool note_widest(void *data, IrInst *inst) {
  int32_t *widest = data;
  if (!refcounts_shows_order(inst)) return true;
  for (const IrInst *at = inst->region->first; at; at = at->next) {
    if (lanes_of(at->type) > *widest) *widest = lanes_of(at->type);
    for (int k = 0; k < at->operand_count; k++)
      if (lanes_of(at->operands[k]->type) > *widest) *widest = lanes_of(at->operands[k]->type);
  }
  return true;
}

static uint64_t order_of_task(const IrTask *task, uint64_t order) {
  if (!compiled_shows_order(task)) return order;
  /* each part has its own vectors, from its first iteration on */
  bool has_parts = task->lanes > 1 && task->interior;
  const int32_t lanes[] = {task->lanes, has_parts, task->scalar_border};
  order = hash_bytes(order, lanes, sizeof lanes);
  for (int k = 0; has_parts && k < task->axis_count; k++) {
    const int64_t part[] = {task->interior_begin[k], task->interior_end[k]};
    order = hash_bytes(order, part, sizeof part);
  }
  ir_walk_task(task, note_lanes, &order);
  if (task->kind != TASK_LEAVES) return order;
  int32_t widest = 1;
  ir_walk(task->body, note_widest, &widest);
  return hash_bytes(order, &widest, sizeof widest);
}

uint64_t compiled_order(const IrKernel *kernel) {
  uint64_t order = 0;
  for (int k = 0; k < kernel->tasks.count; k++)
    order = order_of_task(kernel->tasks.items[k], order);
  return order;
}

/* The call that clears a level, if the task does nothing else; otherwise NULL. */
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
static bool may_allocate(RtEntry entry) {
  return entry == RT_ARRAY_NEW || entry == RT_ARRAY_EXCHANGE || entry == RT_ARRAY_APPEND ||
         entry == RT_ARRAY_POP || entry == RT_ARRAY_CLEAR || entry == RT_ARRAY_SLICE;
}

/* Can it change an array or an element? */
static bool may_change(const IrInst *inst) {
  bool returns_place = ir_is_call(inst, RT_ARRAY_AT) || ir_is_call(inst, RT_ARRAY_EXCHANGE);
  return returns_place || ir_is_call(inst, RT_ARRAY_APPEND) || ir_is_call(inst, RT_ARRAY_POP) ||
         ir_is_call(inst, RT_ARRAY_CLEAR);
}

static bool note_arrays(void *data, IrInst *inst) {
  CompiledKernel *compiled = data;
  bool is_call = ir_is_array_call(inst);
  compiled->makes_arrays |= is_call;
  compiled->grows_arrays |= is_call && may_allocate(inst->entry);
  return true;
}

static bool note_host_arrays(void *data, IrInst *inst) {
  CompiledKernel *compiled = data;
  bool calls = inst->op == IR_INVOKE && compiled->makes_arrays; /* the function may use arrays */
  compiled->host_has_arrays |= ir_is_array_call(inst) || ir_is_refcount(inst->op) || calls;
  compiled->host_changes_arrays |= may_change(inst) || calls;
  return true;
}

static unsigned irreversible_of(const IrInst *inst) {
  int effects = ir_effects(inst);
  bool writes = effects & (IR_WRITE | IR_UPDATE_EFFECT);
  if (ir_is_array_call(inst) || ir_is_refcount(inst->op)) return 1u << IRREVERSIBLE_ARRAYS;
  if (ir_is_call(inst, RT_NATIVE)) return 1u << IRREVERSIBLE_EXTENSION;
  if (inst->op == IR_INVOKE) return 0; /* the functions themselves are visited */
  return effects & IR_TOPOLOGY || (writes && ir_has_entry(inst->op)) ? 1u << IRREVERSIBLE_CELLS : 0;
}

static bool note_writes(void *data, IrInst *inst) {
  const Writing *writing = data;
  unsigned irreversible = irreversible_of(inst);
  bool writes = ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT) && inst->op != IR_INVOKE;
  if (writes || irreversible) note_written(writing, inst);
  writing->compiled->irreversible |= irreversible;
  note_arrays(writing->compiled, inst);
  return true;
}

static void note_task_writes(Writing *writing, const IrTask *task) {
  ir_walk_task(task, note_writes, writing);
  if (task->claim) ir_walk(task->claim, note_writes, writing);
}

static RefcountsUse arrays_of(const IrKernel *kernel, const IrTask *task) {
  IrRegion *const parts[] = {task->body, task->interior, task->claim};
  RefcountsUse all = {0};
  for (int k = 0; k < 3; k++) {
    if (!parts[k]) continue;
    RefcountsUse use = refcounts_use(kernel, parts[k]);
    all.any |= use.any;
    all.elements |= use.elements;
  }
  return all;
}

static void add_array(DeviceTask *out, int64_t slot) {
  int32_t k = 0;
  while (k < out->array_count && out->array_slots[k] != slot) k++;
  if (k < out->array_count) return;
  if (k == DEVICE_MAX_ARRAYS) out->array_count = -1;
  else out->array_slots[out->array_count++] = (int32_t)slot;
}

/* Collects the arrays that a task accesses through headers, if all are in slots of the frame. */
static bool note_array(void *data, IrInst *inst) {
  DeviceTask *out = data;
  if (!refcounts_reaches(inst) || out->array_count < 0) return true;
  if (inst->operands[0]->op == IR_FRAME_GET) add_array(out, inst->operands[0]->imm);
  else out->array_count = -1;
  return true;
}

static void note_arrays_of(const IrKernel *kernel, const IrTask *task, DeviceTask *out) {
  IrRegion *const parts[] = {task->body, task->interior, task->claim};
  for (int k = 0; k < 3; k++)
    if (parts[k]) ir_walk_called(kernel, parts[k], note_array, out);
}

/* -- private copies ---------------------------------------------------------------------------- */

static DeviceScalar scalar_of(Type type) {
  if (type_is_float(type)) return type_size(type) == 8 ? DEVICE_F64 : DEVICE_F32;
  switch (type_size(type)) {
  case 1: return DEVICE_I8;
  case 2: return DEVICE_I16;
  case 4: return DEVICE_I32;
  default: return DEVICE_I64;
  }
}

/* Describes the elements of a field within a node, or the root's container, as nested runs. */
static void describe(const IrField *field, DeviceSum *sum) {
  const SNodePath *path = field->node->path;
  const SNodeComponent *component = &field->node->components[field->component];
  const SNodeComponent *of_field = component - component->part;
  int first = path->node_step < 0 ? 0 : path->node_step;
  *sum = (DeviceSum){.tree = field->tree,
                     .manager = path->node_step < 0 ? -1 : path->steps[first].manager,
                     .scalar = scalar_of(field->type),
                     .offset = component->offset - (field->place ? of_field->offset : 0),
                     .place = field->place};
  for (int i = first + 1; i < path->step_count; i++) {
    bool is_last = i + 1 == path->step_count;
    sum->offset += path->steps[i].offset;
    sum->counts[sum->depth] = path->steps[i].cell_count;
    sum->strides[sum->depth++] = is_last ? component->stride : path->steps[i + 1].stride;
  }
}

/* Describes an array as all of its memory, whatever its extents; each array only once. */
static bool describe_array(const IrKernel *kernel, const IrField *field, DeviceSum *out,
                           int32_t count) {
  int32_t tree = kernel->arrays.items[field->array].tree;
  if (tree < 0) { /* a counted array */
    out[count] = (DeviceSum){.tree = -1, .manager = -1, .scalar = scalar_of(field->type)};
    return true;
  }
  for (int32_t k = 0; k < count; k++)
    if (out[k].tree == tree) return false;
  out[count] = (DeviceSum){.tree = tree,
                           .manager = -1,
                           .scalar = scalar_of(field->type),
                           .is_whole = true,
                           .depth = 1,
                           .strides = {(uint64_t)type_size(field->type)}};
  return true;
}

static bool is_next_to(const DeviceSum *a, uint64_t width, const DeviceSum *b) {
  if (a->tree != b->tree || a->manager != b->manager || a->scalar != b->scalar ||
      a->depth != b->depth || a->place != b->place)
    return false;
  for (int32_t k = 0; k < a->depth; k++)
    if (a->counts[k] != b->counts[k] || a->strides[k] != b->strides[k]) return false;
  return b->offset == a->offset + width;
}

/* Ends a run: `width` contiguous bytes in every cell. */
static void close_run(DeviceSum *sum, uint64_t width, uint64_t size) {
  int32_t last = sum->depth - 1;
  if (sum->depth && sum->strides[last] == width) {
    sum->counts[last] *= width / size;
    sum->strides[last] = size;
    return;
  }
  sum->counts[sum->depth] = width / size;
  sum->strides[sum->depth++] = size;
}

/* Describes where the elements of `fields` are, merging fields that are adjacent in a cell. `out`
 * has one row per field; returns the number of rows used. */
static int32_t describe_sums(const IrKernel *kernel, const int32_t *fields, int32_t field_count,
                             DeviceSum *out) {
  int32_t count = 0;
  for (int32_t i = 0; i < field_count; count++) {
    const IrField *first = &kernel->fields.items[fields[i]];
    if (first->array >= 0) {
      count -= !describe_array(kernel, first, out, count);
      i++;
      continue;
    }
    uint64_t size = (uint64_t)type_size(kernel->fields.items[fields[i]].type), width = size;
    describe(&kernel->fields.items[fields[i++]], &out[count]);
    for (DeviceSum next; i < field_count; i++, width += size) {
      if (kernel->fields.items[fields[i]].array >= 0) break;
      describe(&kernel->fields.items[fields[i]], &next);
      if (!is_next_to(&out[count], width, &next)) break;
    }
    close_run(&out[count], width, size);
  }
  return count;
}

/* -- the table --------------------------------------------------------------------------------- */

static void fill_task(const Compile *compile, CompiledKernel *compiled, int32_t number) {
  const IrKernel *kernel = compile->sema.kernel;
  const IrTask *task = kernel->tasks.items[number];
  const Engine *engine = compile->kernel->engine;
  bool changes = !ir_walk(task->body, changes_topology, NULL) ||
                 (task->interior && !ir_walk(task->interior, changes_topology, NULL));
  bool has_order = compiled_shows_order(task);
  RefcountsUse arrays = arrays_of(kernel, task);
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
                   .spread = task->spread > 1 ? task->spread : 1,
                   .lists_are_ordered = engine->options.deterministic,
                   .is_ordered = engine->options.deterministic && (changes || has_order),
                   .writes_frame = !ir_walk(task->body, writes_frame, NULL) ||
                                   (task->interior && !ir_walk(task->interior, writes_frame, NULL)),
                   .uses_arrays = arrays.any,
                   .reaches_arrays = arrays.elements,
                   .may_change_topology = changes,
                   /* `changes` may be false if passes removed all deactivations */
                   .may_deactivate = changes && task->may_deactivate};
  ASSERT(!out->is_ordered || out->spread == 1, "one thread runs a whole leaf in order");
  ir_walk(task->body, note_order, out);
  const CompiledKernel *base = compile->base;
  /* the same chunks give the same sums */
  if (base && engine_has_one_order(engine) && number < base->task_count)
    out->cost = base->tasks[number].cost;
  note_arrays_of(kernel, task, out);
  note_clear(task, out);
}

/* Describes the private copies of a task that is a privatised version. */
static void fill_sums(const Compile *compile, CompiledKernel *compiled, int32_t number) {
  const IrKernel *kernel = compile->sema.kernel;
  const IrTask *task = kernel->tasks.items[number];
  int32_t count = task->private_fields.count;
  if (!count) return;
  DeviceSum *sums = scratch_array(&compiled->memory, DeviceSum, count);
  compiled->tasks[number].sums = sums;
  compiled->tasks[number].sum_count =
      describe_sums(kernel, task->private_fields.items, count, sums);
  ASSERT(compiled->tasks[number].sum_count <= count,
         "adjacent fields are merged, and none is added");
  compiled->has_sums = true;
}

void compiled_fill_tasks(const Compile *compile, CompiledKernel *compiled) {
  const IrKernel *ir = compile->sema.kernel;
  if (compile->lua) return;
  ASSERT(!compiled->tasks, "tasks are filled in once");
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
