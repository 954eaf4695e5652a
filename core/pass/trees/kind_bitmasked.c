/* kind_bitmasked.c - the `bitmasked` SNode: dense cells with a bit each. An inactive cell is zero,
 * so reads ignore the bit; a write sets it on its walk, and once more after its store if other
 * iterations may clear it (lower_places.c). Loops over cells go word by word: words.c. */
#include "pass/address/lower_places.h"
#include "pass/trees/words.h"

static AddressMask mask_of(Address *a, const SNodeStep *step, AddressIndex cell) {
  IrInst *words = address_offset(a->b, address_flush(a), NULL, 0, (int64_t)step->mask_offset);
  return (AddressMask){words, address_sum(a, cell)};
}

static AddressIndex descend(Address *a, const SNodeStep *step) {
  AddressIndex cell = address_cell(a, step);
  if (a->ensures) {
    AddressMask mask = mask_of(a, step, cell);
    ir_call(a->b, RT_MASK_SET, 0, 0, 2, (IrInst *[]){mask.words, mask.cell});
    a->masks[a->mask_count++] = mask;
  }
  return cell;
}

/* An ensured bit is recorded as one of the walk's masks. */
static int name(Address *a, const SNodeStep *step, IrInst **operands) {
  AddressMask mask = mask_of(a, step, address_cell(a, step));
  if (a->ensures) a->masks[a->mask_count++] = mask;
  operands[0] = mask.words;
  operands[1] = mask.cell;
  return 2;
}

/* The cells need no bounds check, since the loop stays inside the shape. */
static void lower_active_bits(Lower *l, IrInst *inst) {
  IrBuilder b = rewrite_before(l->kernel, inst);
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *masked = level->node;
  IrInst *operands[ADDRESS_MAX_NAME + 1],
      *count = ir_convert(&b, inst->operands[inst->operand_count - 1], TYPE(I64));
  bool in_node = type_equal(inst->operands[0]->type, TYPE(PTR));
  Address a = in_node ? address_in_node(&b, level->tree, snode_node_level(masked),
                                        inst->operands[0], masked)
                      : address_from_root(&b, level->tree, masked, inst->operands);
  for (int k = 0; in_node && k < masked->rank; k++)
    a.index[k].value = ir_convert(&b, inst->operands[1 + k], TYPE(I64));
  operands[address_name(&a, masked, operands)] = count;
  bool is_visited = in_node && inst->operands[0]->op == IR_PARAM;
  bool remembers = l->task && l->task->remembers && (is_visited || !in_node);
  rewrite_become_call(l->kernel, inst, remembers ? RT_MASK_WAS : RT_MASK_BITS, level->tree,
                      masked->mask, 3, operands);
}

static bool lower(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  if (inst->op == IR_ACTIVE_BITS) lower_active_bits(l, inst);
  else if (inst->op == IR_REMEMBER)
    rewrite_become_call(l->kernel, inst, RT_MASK_REMEMBER, level->tree, level->node->mask, 0, NULL);
  else return false;
  return true;
}

const Kind kind_bitmasked = {.descend = descend,
                             .name = name,
                             .ensure = RT_MASK_SET,
                             .live = RT_MASK_ACTIVE,
                             .clear = RT_MASK_CLEAR,
                             .count = RT_MASK_COUNT,
                             .clear_all = RT_MASK_CLEAR_ALL,
                             .lower = lower,
                             .plan = words_plan,
                             .nest = words_nest,
                             .asks_each_cell = true,
                             .may_change = words_may_change,
                             .lower_task = words_lower_task};
