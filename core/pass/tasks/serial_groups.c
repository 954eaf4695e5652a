/* serial_groups.c - chooses the insts of the host region that form a task of one thread: a run of
 * insts in one region, from one that accesses a tree or an array to the last such inst before an
 * action of the host. The host runs tasks, returns, leaves loops, begins random streams, and uses
 * counted arrays, whose elements it has and whose references it counts. A loop or condition without
 * such actions moves as a whole. Values between the insts that do not depend on the group stay;
 * values of the group that other insts use are passed out of it. A clear is a task by itself, for
 * which a device may use all its threads. Decision D-device-13. */
#include "pass/rewrite.h"
#include "pass/tasks/serial.h"

/* -- actions of the device, and of the host ---------------------------------------------------- */

bool serial_is_address(const IrInst *inst) {
  return inst->op == IR_TREE_ROOT || inst->op == IR_AMBIENT ||
         (inst->op == IR_OFFSET && !ir_is_array_call(ir_before_offsets(inst)));
}

static bool is_of_array(const IrInst *inst) {
  if (ir_is_access(inst->op)) return ir_is_array_call(ir_before_offsets(inst->operands[0]));
  return ir_is_array_call(inst) || ir_is_count(inst->op);
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

/* `loops`: the number of loops inside the moving inst that an exit may leave. */
static void look_at(const Serial *s, const IrInst *inst, int loops, Contents *found) {
  found->device |= is_device(s, inst);
  found->host |= is_of_array(inst) || ir_is_clear_call(inst);
  switch (inst->op) {
  case IR_RUN:
  case IR_RETURN:
  case IR_RANDOM_STREAM: found->host = true; break;
  case IR_BREAK: found->host |= inst->imm >= loops; break;
  case IR_CONTINUE: found->host |= inst->imm >= loops; break;
  default: break;
  }
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    for (const IrInst *in = inst->regions[i]->first; in; in = in->next)
      look_at(s, in, loops + rewrite_is_loop(inst->op), found);
}

static bool note_device(void *data, IrInst *inst) {
  Serial *s = data;
  s->calls_device |= is_device(s, inst);
  return true;
}

/* -- groups ------------------------------------------------------------------------------------ */

typedef struct Mark {
  Serial *s;
  int group;
} Mark;

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

/* Does the inst stay in the host region: is it a value, other than an address, that does not depend
 * on the group? */
static bool stays(const Serial *s, const IrInst *inst, int group) {
  bool is_value = (ir_effects(inst) & IR_PURE) && !serial_is_address(inst);
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
    if (!stays(s, inst, s->groups.count)) mark_whole(s, inst, s->groups.count);
    if (inst == open->last) break;
  }
  *open = (Group){0};
}

static void close_alone(Serial *s, IrInst *inst) {
  Group alone = {.first = inst, .last = inst};
  close_group(s, &alone);
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
      for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) find_groups(s, inst->regions[i]);
      if (ir_is_clear_call(inst)) close_alone(s, inst);
    } else if (contents.device) {
      if (!open.first) open.first = inst;
      open.last = inst;
      follows = true;
    } else if (open.first && follows && inst->op == IR_FRAME_SET && is_plain(&contents)) {
      open.last = inst; /* so the value that it sets need not return to the host */
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
  if (!serial_is_address(value)) s->leaves[value->id] = true;
  for (int i = 0; serial_is_address(value) && i < value->operand_count; i++)
    mark_leaving(s, value->operands[i]);
}

static void mark_operand(Serial *s, const IrInst *user, const IrInst *value) {
  if (s->group[user->id] != s->group[value->id]) mark_leaving(s, value);
  /* addresses of the host region may depend on values of a group, too */
  for (int i = 0; serial_is_address(value) && i < value->operand_count; i++)
    if (s->group[user->id] != s->group[value->operands[i]->id]) mark_leaving(s, value->operands[i]);
}

static bool mark_uses(void *data, IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++) mark_operand(data, inst, inst->operands[i]);
  return true;
}

void serial_find_groups(Serial *s) {
  for (int i = 0; i < s->kernel->functions.count; i++)
    ir_walk(s->kernel->functions.items[i]->body, note_device, s);
  find_groups(s, s->kernel->body);
  if (s->groups.count) ir_walk(s->kernel->body, mark_uses, s);
}
