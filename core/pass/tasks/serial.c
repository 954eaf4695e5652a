/* serial.c - for a GPU: moves the host region's accesses to elements into tasks of one thread,
 * since the host region runs on the host and the elements are on the device.
 *
 *   %r = tree.root t0            frame.set 7 %i; run 3; %v' = frame.load 8
 *   %p = offset %r, %i           task 3 = serial { body () {
 *   %v = mem.load %p       ->      %i' = frame.get 7; %r = tree.root t0; %p = offset %r, %i'
 *   .. %v ..                       %v = mem.load %p; frame.set 8 %v } }
 *                                .. %v' ..
 *
 * Each group of insts (the first half of this file) moves as a whole. Its inputs are passed in
 * slots of the frame; constants and addresses are recomputed. A variable of the host region that a
 * group assigns is passed in both directions. Runs after all bodies have addresses. */
#include "base/map.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct Group {
  IrInst *first, *last;
} Group;

typedef struct Serial {
  IrKernel *kernel;
  Scratch *scratch;
  bool calls_device; /* some function of the kernel accesses elements */
  int id_count;
  int *group;   /* by id: its group + 1; 0: it stays in the host region */
  bool *leaves; /* by id: in a group, and used outside it */
  int *slot;    /* by id: the frame slot of such a value, + 1 */
  IrMap *with;  /* of an inst: its replacement in the host region */
  VEC(Group) groups;
  /* of the current group */
  int number;
  IrTask *task;
  IrRegion *top;
  IrInst *after; /* host code goes before it, or to the end of `region` */
  IrRegion *region;
  Map inside; /* id of a value or variable outside -> the one inside */
} Serial;

/* -- which insts move -------------------------------------------------------------------------- */

/* Chooses the insts of the host region that form a task of one thread: a run of
 * insts in one region, from one that accesses a tree or an array to the last such inst before an
 * action of the host. The host runs tasks, returns, leaves loops, begins random streams, and uses
 * counted arrays, whose elements are in its memory and whose references it counts. A loop or
 * condition without such actions moves as a whole. Values between the insts that do not depend on
 * the group stay; values of the group that other insts use are passed out of it. A clear is a task
 * by itself, for which a device may use all its threads. Decision D-device-13. */

/* -- actions of the device, and of the host ---------------------------------------------------- */

/* Is it an address, which a task recomputes instead of receiving it in the frame? */
static bool is_address(const IrInst *inst) {
  return inst->op == IR_TREE_ROOT || inst->op == IR_AMBIENT ||
         (inst->op == IR_OFFSET && !ir_is_array_call(ir_base_address(inst)));
}

static bool is_of_array(const IrInst *inst) {
  if (ir_is_access(inst->op)) return ir_is_array_call(ir_base_address(inst->operands[0]));
  return ir_is_array_call(inst) || ir_is_refcount(inst->op);
}

static bool is_device(const Serial *s, const IrInst *inst) {
  if (is_of_array(inst)) return false;
  switch (inst->op) {
  case IR_CALL: return inst->entry != RT_OUTSIDE;
  case IR_INVOKE: return s->calls_device;
  default: return ir_is_access(inst->op);
  }
}

typedef struct Contents {
  bool device, host;
} Contents;

/* `loops`: the number of enclosing loops that would move too, which an exit may leave. */
static void survey_inst(const Serial *s, const IrInst *inst, int loops, Contents *found) {
  found->device |= is_device(s, inst);
  found->host |= is_of_array(inst) || ir_is_clear_call(inst);
  switch (inst->op) {
  case IR_RUN:
  case IR_RETURN:
  case IR_RANDOM_STREAM: found->host = true; break;
  case IR_BREAK:
  case IR_CONTINUE: found->host |= inst->imm >= loops; break;
  default: break;
  }
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    for (const IrInst *in = inst->regions[i]->first; in; in = in->next)
      survey_inst(s, in, loops + rewrite_is_loop(inst->op), found);
}

/* -- groups ------------------------------------------------------------------------------------ */

static void mark_nested(const Serial *s, const IrInst *inst, int group) {
  s->group[inst->id] = group;
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) {
    for (int k = 0; k < inst->regions[i]->params.count; k++)
      s->group[inst->regions[i]->params.items[k]->id] = group;
    for (IrInst *at = inst->regions[i]->first; at; at = at->next) mark_nested(s, at, group);
  }
}

/* Does the inst stay in the host region: is it a value, other than an address, that does not depend
 * on the group? */
static bool stays(const Serial *s, const IrInst *inst, int group) {
  bool is_value = (ir_effects(inst) & IR_PURE) && !is_address(inst);
  if (!is_value && inst->op != IR_FRAME_SET) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (s->group[inst->operands[i]->id] == group) return false;
  return true;
}

static void close_group(Serial *s, Group *open) {
  DEBUG_ASSERT(!open->first == !open->last, "a group has both ends");
  if (!open->first) return;
  vec_push(s->scratch, &s->groups, *open);
  for (IrInst *inst = open->first;; inst = inst->next) {
    if (!stays(s, inst, s->groups.count)) mark_nested(s, inst, s->groups.count);
    if (inst == open->last) break;
  }
  *open = (Group){0};
}

static void close_alone(Serial *s, IrInst *inst) {
  Group alone = {.first = inst, .last = inst};
  close_group(s, &alone);
}

static bool has_no_actions(const Contents *contents) {
  return !contents->device && !contents->host;
}

static void find_groups(Serial *s, IrRegion *region) {
  Group open = {0};
  bool follows = false; /* since the last member there were only values */
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    Contents contents = {0};
    survey_inst(s, inst, 0, &contents);
    if (contents.host) {
      close_group(s, &open);
      for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) find_groups(s, inst->regions[i]);
      if (ir_is_clear_call(inst)) close_alone(s, inst);
    } else if (contents.device) {
      if (!open.first) open.first = inst;
      open.last = inst;
      follows = true;
    } else if (open.first && follows && inst->op == IR_FRAME_SET && has_no_actions(&contents)) {
      open.last = inst; /* so its value need not return to the host */
    } else if (!(ir_effects(inst) & IR_PURE)) {
      follows = false;
    }
  }
  close_group(s, &open);
}

/* -- which values leave their group ------------------------------------------------------------ */

/* Marks a value as used outside its group. Addresses are recomputed there, so their operands are
 * marked instead. */
static void mark_leaving(Serial *s, const IrInst *value) {
  if (!s->group[value->id]) return;
  if (!is_address(value)) s->leaves[value->id] = true;
  for (int i = 0; is_address(value) && i < value->operand_count; i++)
    mark_leaving(s, value->operands[i]);
}

static void mark_operand(Serial *s, const IrInst *user, const IrInst *value) {
  if (s->group[user->id] != s->group[value->id]) mark_leaving(s, value);
  /* addresses in the host region may depend on values of a group, too */
  for (int i = 0; is_address(value) && i < value->operand_count; i++)
    if (s->group[user->id] != s->group[value->operands[i]->id]) mark_leaving(s, value->operands[i]);
}

/* Fills `groups`, and by id `group` and `leaves`. */
static void find_all_groups(Serial *s) {
  for (int i = 0; i < s->kernel->functions.count; i++) {
    const IrRegion *body = s->kernel->functions.items[i]->body;
    for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
      s->calls_device |= is_device(s, inst);
  }
  IrRegion *host = s->kernel->body;
  find_groups(s, host);
  if (!s->groups.count) return;
  for (IrInst *inst = host->first; inst; inst = ir_following(inst, host))
    for (int i = 0; i < inst->operand_count; i++) mark_operand(s, inst, inst->operands[i]);
}

/* -- moving them ------------------------------------------------------------------------------- */

static IrBuilder host_builder(const Serial *s) {
  return (IrBuilder){.kernel = s->kernel, .region = s->region, .before = s->after};
}
static IrBuilder top_builder(const Serial *s) {
  return (IrBuilder){.kernel = s->kernel, .region = s->top};
}

static int take_slot(Serial *s) { return s->kernel->frame_slots++; }

static bool is_ours(const Serial *s, const IrInst *inst) {
  if (inst->id >= s->id_count)
    return inst->region == s->top; /* else it was made for another group */
  return s->group[inst->id] == s->number;
}

static IrInst *capture(Serial *s, IrInst *outer);

static IrInst *recompute(Serial *s, const IrInst *outer) {
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
  if (outer->op == IR_CONST || is_address(outer)) {
    inside = recompute(s, outer);
  } else if (outer->op == IR_ARG || outer->op == IR_FRAME_GET) {
    inside = ir_frame(&top, IR_FRAME_GET, outer->type, (int)outer->imm);
  } else if (outer->id < s->id_count && s->slot[outer->id]) {
    inside = ir_frame(&top, IR_FRAME_GET, outer->type, s->slot[outer->id] - 1);
  } else {
    int slot = take_slot(s);
    ir_frame_set(&host, slot, outer);
    inside = ir_frame(&top, IR_FRAME_GET, outer->type, slot);
  }
  map_put_int(&s->inside, (uint64_t)outer->id, inside);
  return inside;
}

typedef struct SharedVariable {
  IrInst *outer, *inner;
  bool is_set;
} SharedVariable;

typedef struct Mover {
  Serial *s;
  VEC(SharedVariable) shared;
} Mover;

/* The variable inside the task that receives the outer one's value, and returns it if it is
 * assigned. */
static IrInst *share_variable(Mover *m, IrInst *outer, bool sets) {
  for (int i = 0; i < m->shared.count; i++)
    if (m->shared.items[i].outer == outer) {
      m->shared.items[i].is_set |= sets;
      return m->shared.items[i].inner;
    }
  IrBuilder top = top_builder(m->s), host = host_builder(m->s);
  int slot = take_slot(m->s);
  ir_frame_set(&host, slot, ir_get(&host, outer));
  IrInst *inner = ir_var(&top, outer->type);
  ir_set(&top, inner, ir_frame(&top, IR_FRAME_GET, outer->type, slot));
  vec_push(m->s->scratch, &m->shared, ((SharedVariable){outer, inner, sets}));
  return inner;
}

static void resolve_operands(Mover *m, IrInst *inst) {
  if (inst->op == IR_ARG) inst->op = IR_FRAME_GET;
  for (int i = 0; i < inst->operand_count; i++) {
    IrInst *operand = inst->operands[i];
    if (is_ours(m->s, operand)) continue;
    operand = operand->op == IR_VAR ? share_variable(m, operand, inst->op != IR_GET)
                                    : capture(m->s, operand);
    ir_set_operand(inst, i, operand);
  }
}

static void return_value(Serial *s, IrRegion *body, IrInst *value) {
  IrBuilder end = {.kernel = s->kernel, .region = body}, host = host_builder(s);
  int slot = take_slot(s);
  s->slot[value->id] = slot + 1;
  ir_frame_set(&end, slot, value);
  ir_map_put(s->with, value, ir_frame(&host, IR_FRAME_LOAD, value->type, slot));
}

static void return_variable(Serial *s, IrRegion *body, const SharedVariable *shared) {
  IrBuilder end = {.kernel = s->kernel, .region = body}, host = host_builder(s);
  int slot = take_slot(s);
  ir_frame_set(&end, slot, ir_get(&end, shared->inner));
  ir_set(&host, shared->outer, ir_frame(&host, IR_FRAME_LOAD, shared->outer->type, slot));
}

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
    else ir_move_into(task->body, inst);
  }
  Mover mover = {.s = s};
  for (IrInst *inst = task->body->first; inst; inst = ir_following(inst, task->body)) {
    resolve_operands(&mover, inst);
    task->may_deactivate |= (ir_effects(inst) & IR_DEACTIVATES) != 0;
  }
  IrBuilder host = host_builder(s);
  host.line = task->line;
  ir_run(&host, s->kernel->tasks.count);
  IrInst *last = task->body->last;
  for (IrInst *inst = task->body->first; inst; inst = inst == last ? NULL : inst->next)
    if (s->leaves[inst->id] && !type_is_none(inst->type)) return_value(s, task->body, inst);
  for (int i = 0; i < mover.shared.count; i++)
    if (mover.shared.items[i].is_set) return_variable(s, task->body, &mover.shared.items[i]);
  rewrite_prepend(s->top, task->body);
  vec_push(s->scratch, &s->kernel->tasks, task);
}

/* Removes the host region's addresses: groups have recomputed those that they need, and the
 * operands may have moved. */
static void drop_addresses(IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) drop_addresses(inst->regions[i]);
    if (is_address(inst)) ir_delete(inst);
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
              .with = ir_map(ctx->scratch, kernel)};
  find_all_groups(&s);
  if (!s.groups.count) return true;
  for (int i = 0; i < s.groups.count; i++) move_group(&s, i);
  rewrite_operands(kernel->body, s.with);
  drop_addresses(kernel->body);
  return true;
}
