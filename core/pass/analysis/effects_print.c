/* effects_print.c - prints effects as text.
 *
 *     load f0 (p0 - 1, p1) near           p0, p1: the loop's indices; ?: any index
 *     update add f1 (?)
 *     deactivate l1
 *     f1: updates by add                  `independent`: no two iterations write one element
 *     l1: loses cells
 */
#include "pass/analysis/dependence.h"

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
