/* serial.c - for a GPU: moves the host region's accesses to elements into tasks of one thread,
 * since the host region runs on the host and the elements are on the device.
 *
 *   %r = tree.root t0            frame.set 7 %i; run 3; %v' = frame.load 8
 *   %p = offset %r, %i           task 3 = serial { body () {
 *   %v = mem.load %p       ->      %i' = frame.get 7; %r = tree.root t0; %p = offset %r, %i'
 *   .. %v ..                       %v = mem.load %p; frame.set 8 %v } }
 *                                .. %v' ..
 *
 * Each group of insts (serial_groups.c) moves as a whole. Its inputs are passed in slots of the
 * frame; constants and addresses are recomputed. A variable of the host region that a group assigns
 * is passed in both directions. Runs after all bodies have addresses. */
#include "pass/rewrite.h"
#include "pass/tasks/serial.h"

static IrBuilder host_builder(const Serial *s) {
  return (IrBuilder){.kernel = s->kernel, .region = s->region, .before = s->after};
}
static IrBuilder top_builder(const Serial *s) {
  return (IrBuilder){.kernel = s->kernel, .region = s->top};
}

static IrInst *frame(IrBuilder *b, IrOp op, Type type, int slot) {
  IrInst *inst = ir_emit(b, op, type, 0, NULL);
  inst->imm = slot;
  return inst;
}

static void set_frame(IrBuilder *b, int slot, IrInst *value) {
  ir_emit(b, IR_FRAME_SET, TYPE(NONE), 1, &value)->imm = slot;
}

static int take_slot(Serial *s) { return s->kernel->frame_slots++; }

static bool is_ours(const Serial *s, const IrInst *inst) {
  if (inst->id >= s->id_count) return inst->region == s->top; /* or another group has made it */
  return s->group[inst->id] == s->number;
}

/* The host region's value for an inst that moved with another group. */
static IrInst *host_value(const Serial *s, IrInst *inst) {
  return inst->id < s->id_count && s->with[inst->id] ? s->with[inst->id] : inst;
}

static IrInst *capture(Serial *s, IrInst *outer);

static IrInst *compute_again(Serial *s, const IrInst *outer) {
  IrInst **operands = scratch_array(s->scratch, IrInst *, outer->operand_count);
  for (int i = 0; i < outer->operand_count; i++) {
    IrInst *operand = outer->operands[i];
    operands[i] = is_ours(s, operand) ? operand : capture(s, operand);
  }
  IrBuilder top = top_builder(s);
  return rewrite_again(&top, outer, operands);
}

/* The value inside the task that corresponds to one outside it. */
static IrInst *capture(Serial *s, IrInst *outer) {
  IrInst *inside = map_find_int(&s->inside, (uint64_t)outer->id);
  if (inside) return inside;
  IrBuilder top = top_builder(s), host = host_builder(s);
  if (outer->op == IR_CONST || serial_is_address(outer)) {
    inside = compute_again(s, outer);
  } else if (outer->op == IR_ARG || outer->op == IR_FRAME_GET) {
    inside = frame(&top, IR_FRAME_GET, outer->type, (int)outer->imm);
  } else if (outer->id < s->id_count && s->slot[outer->id]) {
    inside = frame(&top, IR_FRAME_GET, outer->type, s->slot[outer->id] - 1);
  } else {
    int slot = take_slot(s);
    set_frame(&host, slot, outer);
    inside = frame(&top, IR_FRAME_GET, outer->type, slot);
  }
  map_put_int(&s->inside, (uint64_t)outer->id, inside);
  return inside;
}

typedef struct Shared {
  IrInst *outer, *inner;
  bool is_set;
} Shared; /* a variable */

typedef struct Mover {
  Serial *s;
  VEC(Shared) shared;
} Mover;

/* The variable inside the task that receives the outer one's value, and returns it if it is
 * assigned. */
static IrInst *share(Mover *m, IrInst *outer, bool sets) {
  for (int i = 0; i < m->shared.count; i++)
    if (m->shared.items[i].outer == outer) {
      m->shared.items[i].is_set |= sets;
      return m->shared.items[i].inner;
    }
  IrBuilder top = top_builder(m->s), host = host_builder(m->s);
  int slot = take_slot(m->s);
  set_frame(&host, slot, ir_get(&host, outer));
  IrInst *inner = ir_var(&top, outer->type);
  ir_set(&top, inner, frame(&top, IR_FRAME_GET, outer->type, slot));
  vec_push(m->s->scratch, &m->shared, ((Shared){outer, inner, sets}));
  return inner;
}

static bool resolve(void *data, IrInst *inst) {
  Mover *m = data;
  if (inst->op == IR_ARG) inst->op = IR_FRAME_GET;
  for (int i = 0; i < inst->operand_count; i++) {
    IrInst *operand = inst->operands[i];
    if (is_ours(m->s, operand)) continue;
    operand =
        operand->op == IR_VAR ? share(m, operand, inst->op != IR_GET) : capture(m->s, operand);
    ir_set_operand(inst, i, operand);
  }
  return true;
}

/* Moves the inst to the end of the task's region. */
static void move(Serial *s, IrInst *inst, IrRegion *body) {
  ir_remove(inst);
  inst->next = inst->previous = NULL;
  ir_region_append(body, inst);
}

static void bring_back(Serial *s, IrRegion *body, IrInst *value) {
  IrBuilder end = {.kernel = s->kernel, .region = body}, host = host_builder(s);
  int slot = take_slot(s);
  s->slot[value->id] = slot + 1;
  set_frame(&end, slot, value);
  s->with[value->id] = frame(&host, IR_FRAME_LOAD, value->type, slot);
}

static void bring_variable_back(Serial *s, IrRegion *body, const Shared *shared) {
  IrBuilder end = {.kernel = s->kernel, .region = body}, host = host_builder(s);
  int slot = take_slot(s);
  set_frame(&end, slot, ir_get(&end, shared->inner));
  ir_set(&host, shared->outer, frame(&host, IR_FRAME_LOAD, shared->outer->type, slot));
}

static bool keeps_nodes(void *data, IrInst *inst) { return !(ir_effects(inst) & IR_DEACTIVATES); }

static void move_group(Serial *s, int number) {
  DEBUG_ASSERT(number >= 0 && number < s->groups.count, "there is such a group");
  Group group = s->groups.items[number];
  s->number = number + 1;
  s->region = group.first->region;
  DEBUG_ASSERT(group.first->region == group.last->region, "a group is a run of one region");
  s->after = group.last->next;
  s->top = ir_region_create(s->kernel, NULL);
  map_init(&s->inside, s->scratch);
  IrTask *task = s->task = scratch_new(s->scratch, IrTask);
  *task = (IrTask){.kind = TASK_SERIAL, .index = TYPE(NONE), .cost = 1, .line = group.first->line};
  task->body = ir_region_create(s->kernel, NULL);
  for (IrInst *inst = group.first, *next; inst != s->after; inst = next) {
    next = inst->next;
    bool remains = !s->group[inst->id] || (inst->op == IR_VAR && s->leaves[inst->id]);
    if (remains) s->group[inst->id] = 0;
    else move(s, inst, task->body);
  }
  Mover mover = {.s = s};
  ir_walk(task->body, resolve, &mover);
  task->may_deactivate = !ir_walk(task->body, keeps_nodes, NULL);
  IrBuilder host = host_builder(s);
  host.line = task->line;
  ir_emit(&host, IR_RUN, TYPE(NONE), 0, NULL)->imm = s->kernel->tasks.count;
  IrInst *last = task->body->last;
  for (IrInst *inst = task->body->first; inst; inst = inst == last ? NULL : inst->next)
    if (s->leaves[inst->id] && !type_is_none(inst->type)) bring_back(s, task->body, inst);
  for (int i = 0; i < mover.shared.count; i++)
    if (mover.shared.items[i].is_set) bring_variable_back(s, task->body, &mover.shared.items[i]);
  rewrite_prepend(s->top, task->body);
  vec_push(s->scratch, &s->kernel->tasks, task);
}

static bool use_host_values(void *data, IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    ir_set_operand(inst, i, host_value(data, inst->operands[i]));
  return true;
}

/* Removes the host region's addresses: groups have recomputed those that they need, and the
 * operands may have moved. */
static void drop_addresses(IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) drop_addresses(inst->regions[i]);
    if (serial_is_address(inst)) ir_delete(inst);
  }
}

bool pass_serial(PassContext *ctx, IrKernel *kernel, Error *err) {
  int count = kernel->next_id;
  Serial s = {.kernel = kernel,
              .scratch = ctx->scratch,
              .id_count = count,
              .group = scratch_array(ctx->scratch, int, count),
              .leaves = scratch_array(ctx->scratch, bool, count),
              .slot = scratch_array(ctx->scratch, int, count),
              .with = scratch_array(ctx->scratch, IrInst *, count)};
  serial_find_groups(&s);
  if (!s.groups.count) return true;
  for (int i = 0; i < s.groups.count; i++) move_group(&s, i);
  ir_walk(kernel->body, use_host_values, &s);
  drop_addresses(kernel->body);
  return true;
}
