/* serial.c - of a kernel for a GPU: what the host region does with elements becomes tasks of one
 * thread, since it runs on the host and the elements are on the device.
 *
 *   %r = tree.root t0            frame.set 7 %i; run 3; %v' = frame.load 8
 *   %p = offset %r, %i           task 3 = serial { body () {
 *   %v = mem.load %p       ->      %i' = frame.get 7; %r = tree.root t0; %p = offset %r, %i'
 *   .. %v ..                       %v = mem.load %p; frame.set 8 %v } }
 *                                .. %v' ..
 *
 * A group is a run of insts of one region, from one that touches a tree or an array to the last
 * such before something that only the host can do: run a task, return, leave a loop, begin a
 * random stream. A loop or condition without these moves as a whole. What a group needs comes
 * through slots of the frame; constants and addresses are computed again. A variable of the host
 * region that a group assigns goes in and comes back. Runs last, on addresses. */
#include "base/map.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct Group {
  IrInst *first, *last;
} Group;

typedef struct Serial {
  IrKernel *kernel;
  Scratch *scratch;
  bool calls_device;  /* some function of the kernel touches elements */
  int id_count;
  int *group;         /* by id: its group + 1; 0: it stays */
  bool *leaves;       /* by id: of a group, used outside it */
  int *slot;          /* by id: where such a value is in the frame, + 1 */
  IrInst **with;      /* by id: what it is for the host region */
  VEC(Group) groups;
  /* of the group being moved */
  int number;
  IrTask *task;
  IrRegion *top;
  IrInst *after;      /* host code goes before it, or to the end of `region` */
  IrRegion *region;
  Map inside;         /* id of a value or variable outside -> the one inside */
} Serial;

/* -- what only the device can do, and what only the host --------------------------------------- */

static bool is_device(const Serial *s, const IrInst *inst) {
  switch (inst->op) {
  case IR_MEM_LOAD: case IR_MEM_STORE: case IR_MEM_UPDATE: case IR_MEM_RMW: case IR_MEM_CAS:
    return true;
  case IR_CALL: return inst->entry != RT_OUTSIDE;
  case IR_INVOKE: return s->calls_device;
  default: return false;
  }
}

static bool is_loop(const IrInst *inst) {
  return inst->op == IR_LOOP || inst->op == IR_FOR || inst->op == IR_BITS;
}

typedef struct Contents {
  bool device, host;
} Contents;

/* `loops`: how many of them, in the inst that would move, an exit may leave. */
static void look_at(const Serial *s, const IrInst *inst, int loops, Contents *found) {
  found->device |= is_device(s, inst);
  switch (inst->op) {
  case IR_RUN: case IR_RETURN: case IR_RANDOM_STREAM: found->host = true; break;
  case IR_BREAK: found->host |= inst->imm >= loops; break;
  case IR_CONTINUE: found->host |= inst->imm >= loops; break;
  default: break;
  }
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    for (const IrInst *in = inst->regions[i]->first; in; in = in->next)
      look_at(s, in, loops + is_loop(inst), found);
}

static bool note_device(void *data, IrInst *inst) {
  Serial *s = data;
  s->calls_device |= is_device(s, inst);
  return true;
}

/* -- groups ------------------------------------------------------------------------------------ */

typedef struct Mark { Serial *s; int group; } Mark;

static bool mark_inst(void *data, IrInst *inst) {
  const Mark *mark = data;
  mark->s->group[inst->id] = mark->group;
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    for (int k = 0; k < inst->regions[i]->params.count; k++)
      mark->s->group[inst->regions[i]->params.items[k]->id] = mark->group;
  return true;
}

static void mark_whole(Serial *s, IrInst *inst, int group) {
  Mark mark = {s, group};
  mark_inst(&mark, inst);
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    ir_walk(inst->regions[i], mark_inst, &mark);
}

static bool is_address(const IrInst *inst) {
  return inst->op == IR_TREE_ROOT || inst->op == IR_AMBIENT || inst->op == IR_OFFSET;
}

/* What needs nothing of the group and is not an address is still the host's. */
static bool stays(const Serial *s, const IrInst *inst, int group) {
  bool is_value = (ir_effects(inst) & IR_PURE) && !is_address(inst);
  if (!is_value && inst->op != IR_FRAME_SET) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (s->group[inst->operands[i]->id] == group) return false;
  return true;
}

static void close_group(Serial *s, Group *open) {
  if (!open->first) return;
  vec_push(s->scratch, &s->groups, *open);
  for (IrInst *inst = open->first;; inst = inst->next) {
    if (!stays(s, inst, s->groups.count)) mark_whole(s, inst, s->groups.count);
    if (inst == open->last) break;
  }
  *open = (Group){0};
}

static bool is_plain(const Contents *contents) { return !contents->device && !contents->host; }

static void find_groups(Serial *s, IrRegion *region) {
  Group open = {0};
  bool follows = false; /* only values have come since the last member */
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    Contents contents = {0};
    look_at(s, inst, 0, &contents);
    if (contents.host) {
      close_group(s, &open);
      for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
        find_groups(s, inst->regions[i]);
    } else if (contents.device) {
      if (!open.first) open.first = inst;
      open.last = inst;
      follows = true;
    } else if (open.first && follows && inst->op == IR_FRAME_SET && is_plain(&contents)) {
      open.last = inst; /* what it sets need not come to the host */
    } else if (!(ir_effects(inst) & IR_PURE)) {
      follows = false;
    }
  }
  close_group(s, &open);
}

/* -- which values leave their group ------------------------------------------------------------ */

/* Addresses are computed again, for which their operands leave. */
static void mark_leaving(Serial *s, const IrInst *value) {
  if (!s->group[value->id]) return;
  if (!is_address(value)) s->leaves[value->id] = true;
  for (int i = 0; is_address(value) && i < value->operand_count; i++)
    mark_leaving(s, value->operands[i]);
}

static void mark_operand(Serial *s, const IrInst *user, const IrInst *value) {
  if (s->group[user->id] != s->group[value->id]) mark_leaving(s, value);
  /* addresses of the host region, too, may be of values that leave */
  for (int i = 0; is_address(value) && i < value->operand_count; i++)
    if (s->group[user->id] != s->group[value->operands[i]->id])
      mark_leaving(s, value->operands[i]);
}

static bool mark_uses(void *data, IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++) mark_operand(data, inst, inst->operands[i]);
  return true;
}

/* -- moving ------------------------------------------------------------------------------------ */

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

/* What an inst made by another group is for the host region. */
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

/* The value inside the task of one outside it. */
static IrInst *capture(Serial *s, IrInst *outer) {
  IrInst *inside = map_find_int(&s->inside, (uint64_t)outer->id);
  if (inside) return inside;
  IrBuilder top = top_builder(s), host = host_builder(s);
  if (outer->op == IR_CONST || is_address(outer)) {
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

typedef struct Shared { IrInst *outer, *inner; bool is_set; } Shared; /* a variable */

typedef struct Mover {
  Serial *s;
  VEC(Shared) shared;
} Mover;

/* The variable inside that has its value, and gives it back if it is assigned. */
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
    inst->operands[i] = operand->op == IR_VAR ? share(m, operand, inst->op != IR_GET)
                                              : capture(m->s, operand);
  }
  return true;
}

/* To the end of the task's region. */
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

static void prepend(IrRegion *region, IrRegion *top) {
  if (!top->first) return;
  for (IrInst *inst = top->first; inst; inst = inst->next) inst->region = region;
  top->last->next = region->first;
  *(region->first ? &region->first->previous : &region->last) = top->last;
  region->first = top->first;
}

static bool keeps_nodes(void *data, IrInst *inst) { return !(ir_effects(inst) & IR_DEACTIVATES); }

static void move_group(Serial *s, int number) {
  Group group = s->groups.items[number];
  s->number = number + 1;
  s->region = group.first->region;
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
  prepend(task->body, s->top);
  vec_push(s->scratch, &s->kernel->tasks, task);
}

static bool use_host_values(void *data, IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    inst->operands[i] = host_value(data, inst->operands[i]);
  return true;
}

/* Groups have computed those they need; what they are of may have moved. */
static void drop_addresses(IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) drop_addresses(inst->regions[i]);
    if (is_address(inst)) ir_remove(inst);
  }
}

bool pass_serial(PassContext *ctx, IrKernel *kernel, Error *err) {
  int count = kernel->next_id;
  if (!ctx->for_cuda) return true;
  Serial s = {.kernel = kernel,
              .scratch = ctx->scratch,
              .id_count = count,
              .group = scratch_array(ctx->scratch, int, count),
              .leaves = scratch_array(ctx->scratch, bool, count),
              .slot = scratch_array(ctx->scratch, int, count),
              .with = scratch_array(ctx->scratch, IrInst *, count)};
  for (int i = 0; i < kernel->functions.count; i++)
    ir_walk(kernel->functions.items[i]->body, note_device, &s);
  find_groups(&s, kernel->body);
  if (!s.groups.count) return true;
  ir_walk(kernel->body, mark_uses, &s);
  for (int i = 0; i < s.groups.count; i++) move_group(&s, i);
  ir_walk(kernel->body, use_host_values, &s);
  drop_addresses(kernel->body);
  return true;
}
