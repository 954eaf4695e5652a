/* effects.c - see effects.h. One walk, in the order of the body, fills the tables. */
#include "pass/analysis/effects.h"

#include "base/map.h"
#include "ir/attribute.h"
#include "pass/analysis/dependence.h"
#include "pass/rewrite.h"

/* -- collecting -------------------------------------------------------------------------------- */

typedef struct Collector {
  Scratch *scratch;
  Effects *effects;
  const IrRegion *function;
  Map places;     /* id of a PLACE or CELL -> EffectPlace */
  bool *called;   /* by kernel->functions */
  bool is_called; /* in one of them */
} Collector;

static const IndexRange *ranges_of_place(Collector *c, const IrInst *place) {
  if (place->op != IR_PLACE) return NULL;
  IndexRange *index = scratch_array(c->scratch, IndexRange, place->operand_count);
  if (c->is_called) return index; /* all of them unknown */
  for (int axis = 0; axis < place->operand_count; axis++)
    index[axis] = ranges_of(place->operands[axis]);
  return index;
}

static EffectPlace *place_for(Collector *c, IrInst *inst) {
  EffectPlace *place = map_find_int(&c->places, (uint64_t)inst->id);
  if (place) return place;
  place = scratch_new(c->scratch, EffectPlace);
  *place = (EffectPlace){.inst = inst,
                         .function = c->function,
                         .index = ranges_of_place(c, inst),
                         .is_called = c->is_called};
  map_put_int(&c->places, (uint64_t)inst->id, place);
  vec_push(c->scratch, &c->effects->places, place);
  return place;
}

static EffectVerb verb_of(IrOp op) {
  switch (op) {
  case IR_LOAD: return EFFECT_READS;
  case IR_STORE: return EFFECT_STORES;
  case IR_UPDATE: return EFFECT_UPDATES;
  default: return EFFECT_EXCHANGES;
  }
}

static void record_access(Collector *c, IrInst *inst) {
  Effects *effects = c->effects;
  EffectPlace *place = place_for(c, inst->operands[0]);
  EffectVerb verb = verb_of(inst->op);
  EffectField *field = &effects->fields[place->inst->field];
  int32_t number = effects->accesses.count;
  *(field->last < 0 ? &field->first : &effects->accesses.items[field->last].next) = number;
  field->last = number;
  field->verbs |= verb;
  if (inst->op == IR_UPDATE || inst->op == IR_RMW) field->updates |= 1u << inst->imm;
  place->verbs |= verb;
  EffectAccess access = {
      .inst = inst, .place = place, .field = place->inst->field, .verb = verb, .next = -1};
  vec_push(c->scratch, &effects->accesses, access);
}

static unsigned changes_of(const IrInst *inst) {
  if (inst->op == IR_APPEND) return EFFECT_APPENDS;
  if (inst->op == IR_POP) return EFFECT_POPS;
  int effects = ir_effects(inst);
  return (effects & IR_ACTIVATES ? EFFECT_ACTIVATES : 0u) |
         (effects & IR_DEACTIVATES ? EFFECT_DEACTIVATES : 0u);
}

/* Does the op have an effect? Cells that are always active cannot change, and cells below the
 * nearest sparse level cannot be deactivated by themselves: `lower_places` drops such ops. */
static bool is_effective(IrOp op, const SNode *node) {
  return op == IR_DEACTIVATE ? snode_sparse_level(node) == node : snode_sparse_level(node) != NULL;
}

static void record_call(Collector *c, IrInst *inst) {
  EffectCall call = {.inst = inst,
                     .op = inst->op,
                     .changes = changes_of(inst),
                     .function = c->function,
                     .is_called = c->is_called,
                     .tree = ir_has_tree(inst) ? inst->tree : -1};
  if (ir_has_level(inst->op)) {
    const IrLevel *level = &c->effects->kernel->levels.items[inst->level];
    call.tree = level->tree;
    call.node = level->node;
    if (!is_effective(call.op, level->node)) call.changes = 0;
  }
  if (call.tree >= 0) c->effects->trees[call.tree] |= call.changes;
  c->effects->changes |= call.changes;
  vec_push(c->scratch, &c->effects->calls, call);
}

static void record_region(Collector *c, const IrRegion *region);

/* Adds the effects of a function once, since they are the same for all its calls. */
static void record_function(Collector *c, int number) {
  bool is_called = c->is_called;
  if (c->called[number]) return;
  c->called[number] = c->is_called = true;
  record_region(c, c->effects->kernel->functions.items[number]->body);
  c->is_called = is_called;
}

static void record_inst(Collector *c, IrInst *inst) {
  if (inst->op == IR_INVOKE) record_function(c, (int)inst->imm);
  else if (inst->op == IR_PLACE || inst->op == IR_CELL) place_for(c, inst);
  else if (rewrite_is_access(inst->op)) record_access(c, inst);
  else if (ir_has_level(inst->op) ? ir_effects(inst) != 0 : (ir_effects(inst) & IR_TOPOLOGY) != 0)
    record_call(c, inst);
}

static void record_region(Collector *c, const IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = ir_following(inst, region)) record_inst(c, inst);
}

static void record_body(Collector *c, const IrRegion *function) {
  c->function = function;
  if (function) record_region(c, function);
}

Effects *effects_collect(Scratch *scratch, const IrKernel *kernel, IrRegion *body,
                         IrRegion *interior) {
  Effects *effects = scratch_new(scratch, Effects);
  *effects = (Effects){
      .kernel = kernel, .field_count = kernel->fields.count, .tree_count = kernel->trees.count};
  effects->fields = scratch_array(scratch, EffectField, effects->field_count);
  effects->trees = scratch_array(scratch, unsigned, effects->tree_count);
  for (int f = 0; f < effects->field_count; f++)
    effects->fields[f].first = effects->fields[f].last = -1;
  Collector c = {.scratch = scratch,
                 .effects = effects,
                 .called = scratch_array(scratch, bool, kernel->functions.count)};
  map_init(&c.places, scratch);
  record_body(&c, body);
  record_body(&c, interior);
  return effects;
}

/* -- once per task ----------------------------------------------------------------------------- */

typedef struct EffectsEntry {
  const IrTask *task;
  Effects *effects;
} EffectsEntry;
typedef struct EffectsCache {
  VEC(EffectsEntry) entries;
} EffectsCache;

static Effects *collect_for_task(PassContext *ctx, const IrKernel *kernel, const IrTask *task) {
  IrRegion *body = task ? task->body : kernel->body;
  return effects_collect(ctx->scratch, kernel, body, task ? task->interior : NULL);
}

static const char *effects_text(Scratch *scratch, const Effects *effects) {
  StrBuf text;
  strbuf_init(&text, scratch);
  effects_print(&text, effects);
  return strbuf_end(&text);
}

static bool entry_holds(PassContext *ctx, const IrKernel *kernel, const EffectsEntry *entry) {
  const Effects *now = collect_for_task(ctx, kernel, entry->task);
  return !strcmp(effects_text(ctx->scratch, entry->effects), effects_text(ctx->scratch, now));
}

bool effects_hold(PassContext *ctx, const IrKernel *kernel) {
  for (int i = 0; ctx->effects && i < ctx->effects->entries.count; i++)
    if (!entry_holds(ctx, kernel, &ctx->effects->entries.items[i])) return false;
  return true;
}

const Effects *effects_of(PassContext *ctx, const IrKernel *kernel, const IrTask *task) {
  if (!ctx->effects) ctx->effects = scratch_new(ctx->scratch, EffectsCache);
  EffectsCache *cache = ctx->effects;
  for (int i = 0; i < cache->entries.count; i++) {
    const EffectsEntry *known = &cache->entries.items[i];
    if (known->task != task) continue;
    DEBUG_ASSERT(entry_holds(ctx, kernel, known), "a body was asked about before it was changed");
    return known->effects;
  }
  EffectsEntry entry = {task, collect_for_task(ctx, kernel, task)};
  vec_push(ctx->scratch, &cache->entries, entry);
  return entry.effects;
}

void effects_forget(PassContext *ctx) { ctx->effects = NULL; }

/* -- places ------------------------------------------------------------------------------------ */

static EffectWhere where_of_cell(const IrInst *cell) {
  for (int axis = 0; axis < cell->axis_count; axis++)
    if (cell->offset[axis]) return EFFECT_NEAR;
  return EFFECT_OWN;
}

EffectWhere effects_where(const EffectPlace *place) {
  DEBUG_ASSERT(place->inst->op == IR_PLACE || place->inst->op == IR_CELL, "an element is named");
  if (place->is_called) return EFFECT_ANYWHERE;
  if (!place->index) return where_of_cell(place->inst);
  if (place->inst->operand_count != place->function->params.count) return EFFECT_ANYWHERE;
  EffectWhere where = EFFECT_OWN;
  for (int axis = 0; axis < place->inst->operand_count; axis++) {
    const IndexRange *range = &place->index[axis];
    if (!range->known || ranges_param(place->function, range->base) != axis) return EFFECT_ANYWHERE;
    if (range->low || range->high) where = EFFECT_NEAR;
  }
  return where;
}

/* -- activation and deactivation --------------------------------------------------------------- */

static bool is_at_or_above(const SNode *above, const SNode *node) {
  while (node && node != above) node = node->parent;
  return node != NULL;
}

/* Activation includes ancestors; deactivation includes everything below. CLEAR empties the nearest
 * sparse level. */
static unsigned changes_at(const Effects *effects, const EffectCall *call, const SNode *node) {
  unsigned changes = 0;
  if (!snode_sparse_level(node)) return 0; /* always active */
  if (!call->node)                         /* after `lower_places`: anywhere in the tree */
    return call->tree < 0 || effects->kernel->trees.items[call->tree].tree == node->tree
               ? call->changes
               : 0;
  const SNode *from = call->op == IR_CLEAR ? snode_sparse_level(call->node) : call->node;
  bool creates = call->changes & (EFFECT_ACTIVATES | EFFECT_APPENDS);
  if (creates && is_at_or_above(node, call->node)) changes |= EFFECT_ACTIVATES;
  if (call->changes & EFFECT_DEACTIVATES && from && is_at_or_above(from, node))
    changes |= EFFECT_DEACTIVATES;
  if (call->changes & EFFECT_POPS && call->node == node) changes |= EFFECT_DEACTIVATES;
  return changes;
}

unsigned effects_of_calls(const Effects *effects, const SNode *node) {
  unsigned changes = 0;
  for (int i = 0; i < effects->calls.count; i++)
    changes |= changes_at(effects, &effects->calls.items[i], node);
  return changes;
}

bool effects_access_activates(const Effects *effects, const EffectAccess *access,
                              const SNode *node) {
  const IrInst *place = access->place->inst;
  DEBUG_ASSERT(rewrite_is_access(access->inst->op), "the accesses of a body are symbolic");
  bool is_visited = place->in_visited_node && !access->inst->private_copy;
  bool is_there = place->op == IR_CELL || place->active || is_visited;
  if (!(access->verb & EFFECT_WRITES) || is_there || !snode_sparse_level(node)) return false;
  const SNode *home = effects->kernel->fields.items[access->field].node;
  return home && is_at_or_above(node, home);
}

/* -- text -------------------------------------------------------------------------------------- */

/*     load f0 (p0 - 1, p1) near           p0, p1: the loop's indices; ?: any index
 *     update add f1 (?)
 *     deactivate l1
 *     f1: updates by add                  `independent`: no two iterations write one element
 *     l1: loses cells */

static void print_constant(StrBuf *out, const IndexRange *range, bool is_added) {
  if (range->low != range->high) {
    strbuf_format(out, "%s[%lld, %lld]", is_added ? " + " : "", (long long)range->low,
                  (long long)range->high);
  } else if (!is_added) {
    strbuf_format(out, "%lld", (long long)range->low);
  } else if (range->low) {
    long long distance = range->low < 0 ? -(long long)range->low : (long long)range->low;
    strbuf_format(out, " %c %lld", range->low < 0 ? '-' : '+', distance);
  }
}

static void print_index(StrBuf *out, const EffectPlace *place, int axis) {
  const IndexRange *range = &place->index[axis];
  int param = ranges_param(place->function, range->base);
  if (!range->known || (range->base && param < 0)) {
    strbuf_char(out, '?');
    return;
  }
  if (range->base) strbuf_format(out, "p%d", param);
  print_constant(out, range, range->base != NULL);
}

static void print_place(StrBuf *out, const EffectPlace *place) {
  static const char *const words[] = {
      [EFFECT_OWN] = " own", [EFFECT_NEAR] = " near", [EFFECT_ANYWHERE] = ""};
  int count = place->index ? place->inst->operand_count : place->inst->axis_count;
  strbuf_format(out, " f%d (", place->inst->field);
  for (int axis = 0; axis < count; axis++) {
    if (axis) strbuf_text(out, ", ");
    if (place->index) print_index(out, place, axis);
    else strbuf_format(out, "%+d", place->inst->offset[axis]);
  }
  strbuf_format(out, ")%s\n", words[effects_where(place)]);
}

static void print_access(StrBuf *out, const EffectAccess *access) {
  const IrInst *inst = access->inst;
  bool has_operator = inst->op == IR_UPDATE || inst->op == IR_RMW;
  strbuf_format(out, "  %s", ir_op_info[inst->op].text);
  if (has_operator) strbuf_format(out, " %s", ir_update_text((IrUpdate)inst->imm));
  print_place(out, access->place);
}

static void print_call(StrBuf *out, const EffectCall *call) {
  strbuf_format(out, "  %s", ir_inst_text(call->inst));
  if (call->node) strbuf_format(out, " l%d\n", call->inst->level);
  else if (call->tree >= 0) strbuf_format(out, " t%d\n", call->tree);
  else strbuf_char(out, '\n');
}

static void print_field(StrBuf *out, const Effects *effects, int number) {
  static const struct {
    EffectVerb verb;
    const char *text;
  } verbs[] = {{EFFECT_READS, " reads"},
               {EFFECT_STORES, " stores"},
               {EFFECT_UPDATES, " updates"},
               {EFFECT_EXCHANGES, " exchanges"}};
  const EffectField *field = &effects->fields[number];
  if (!field->verbs) return;
  strbuf_format(out, "  f%d:", number);
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (field->verbs & verbs[i].verb) strbuf_text(out, verbs[i].text);
  if (field->updates) strbuf_text(out, " by");
  for (int op = 0; op < IR_UPDATE_COUNT; op++)
    if (field->updates >> op & 1) strbuf_format(out, " %s", ir_update_text((IrUpdate)op));
  bool is_independent = field->verbs & EFFECT_WRITES &&
                        !dependence_may_carry(effects, number, EFFECT_WRITES, EFFECT_WRITES);
  strbuf_text(out, is_independent ? ", independent\n" : "\n");
}

static void print_level(StrBuf *out, const Effects *effects, int number) {
  const SNode *node = effects->kernel->levels.items[number].node;
  unsigned changes = effects_of_calls(effects, node);
  for (int i = 0; i < effects->accesses.count; i++)
    if (effects_access_activates(effects, &effects->accesses.items[i], node))
      changes |= EFFECT_ACTIVATES;
  if (changes & EFFECT_ACTIVATES) strbuf_format(out, "  l%d: gains cells\n", number);
  if (changes & EFFECT_DEACTIVATES) strbuf_format(out, "  l%d: loses cells\n", number);
}

static void print_tree(StrBuf *out, const Effects *effects, int number) {
  static const struct {
    unsigned change;
    const char *text;
  } words[] = {{EFFECT_ACTIVATES, " activates"},
               {EFFECT_DEACTIVATES, " deactivates"},
               {EFFECT_APPENDS, " appends"},
               {EFFECT_POPS, " pops"}};
  if (!effects->trees[number]) return;
  strbuf_format(out, "  t%d:", number);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (effects->trees[number] & words[i].change) strbuf_text(out, words[i].text);
  strbuf_char(out, '\n');
}

void effects_print(StrBuf *out, const Effects *effects) {
  for (int i = 0; i < effects->accesses.count; i++) print_access(out, &effects->accesses.items[i]);
  for (int i = 0; i < effects->calls.count; i++) print_call(out, &effects->calls.items[i]);
  for (int f = 0; f < effects->field_count; f++) print_field(out, effects, f);
  for (int tree = 0; tree < effects->tree_count; tree++) print_tree(out, effects, tree);
  for (int level = 0; level < effects->kernel->levels.count; level++)
    print_level(out, effects, level);
}
