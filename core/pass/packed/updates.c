/* updates.c - the pass `packed_updates`: turns changes of packed numbers into ops on their words.
 *
 *   update add packed nonatomic %w, %v, %bit   ->   old = load %w; store %w, old with the new bits
 *   update add packed %w, %v, %bit             ->   the same in a compare-and-swap loop
 *
 * Consecutive stores without an access to the word between them are merged; if they set every bit
 * that the word uses, the word is not read. */
#include "ir/facts.h"
#include "ir/task.h"
#include "pass/packed/packed.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

/* Merged changes of numbers of one word, in their order. */
typedef struct Changes {
  IrKernel *kernel;
  bool checks_range;
  Scratch *scratch;
  VEC(IrInst *) items; /* UPDATE, RMW or CAS; the word is written at the last one */
} Changes;

static IrInst *last_of(const Changes *changes) {
  return changes->items.items[changes->items.count - 1];
}

static const SNodePacked *changed_by(const Changes *changes, const IrInst *inst) {
  return packed_of(changes->kernel, inst->packed - 1);
}

static IrInst *shift_of(const IrInst *inst) { return inst->operands[inst->operand_count - 1]; }

/* -- bits -------------------------------------------------------------------------------------- */

/* New bits of a word, and a mask of their positions. */
typedef struct Bits {
  IrInst *value, *mask;
} Bits;

static IrInst *const_bits(IrBuilder *b, Type wide, uint64_t bits) {
  return ir_const_int(b, wide, (int64_t)bits);
}

static void add_bits(IrBuilder *b, Bits *bits, IrInst *value, IrInst *mask) {
  bits->value = bits->value ? ir_binary(b, IR_BOR, bits->value, value) : value;
  bits->mask = bits->mask ? ir_binary(b, IR_BOR, bits->mask, mask) : mask;
}

/* The encoded number at its position in the word. */
static Bits bits_of(IrBuilder *b, const SNodePacked *packed, IrInst *number, IrInst *shift,
                    Type wide) {
  IrInst *by = ir_convert(b, shift, wide), *mask = const_bits(b, wide, packed_unit_mask(packed));
  IrInst *value = packed_bits(b, packed, number, wide);
  return (Bits){ir_binary(b, IR_SHL, value, by), ir_binary(b, IR_SHL, mask, by)};
}

/* -- numbers with a shared exponent ------------------------------------------------------------ */

static const SNodePacked *part_at(const IrField *field, int part) {
  const SNodeComponent *own = &field->node->components[field->component];
  return (own - own->part + part)->packed;
}

/* Does the change belong to the same vector? */
static bool is_of_vector(const Changes *changes, const IrInst *inst, const IrField *first) {
  const IrField *field = &changes->kernel->fields.items[inst->packed - 1];
  const SNodePacked *packed = changed_by(changes, inst);
  int own = field->component - field->node->components[field->component].part;
  return packed->as.kind == PACKED_SHARED && field->node == first->node &&
         own == first->component - first->node->components[first->component].part;
}

/* The bits of the vector that the change belongs to; `old` is the previous word, and may be NULL if
 * all of the vector's numbers are stored. */
static Bits vector_bits(IrBuilder *b, const Changes *changes, const IrInst *change, IrInst *old,
                        IrInst *const *values, Type wide) {
  const IrField *field = &changes->kernel->fields.items[change->packed - 1];
  const SNodePacked *first = part_at(field, 0);
  ASSERT(first->as.kind == PACKED_SHARED && first->count <= TYPE_MAX_PARTS,
         "numbers with a common exponent are one vector");
  IrInst *numbers[TYPE_MAX_PARTS] = {0};
  for (int i = 0; i < changes->items.count; i++) {
    const IrInst *inst = changes->items.items[i];
    const IrField *of = &changes->kernel->fields.items[inst->packed - 1];
    if (is_of_vector(changes, inst, field))
      numbers[of->node->components[of->component].part] = values[i];
  }
  for (int k = 0; k < first->count; k++) {
    if (numbers[k]) continue;
    const SNodePacked *part = part_at(field, k);
    numbers[k] = packed_load(b, part, old, ir_const_int(b, TYPE(U32), part->shift));
  }
  IrInst *mask = const_bits(b, wide, packed_unit_mask(first) << first->shift);
  return (Bits){packed_shared_bits(b, first, numbers, wide), mask};
}

static bool is_first_of_vector(const Changes *changes, int at) {
  const IrInst *inst = changes->items.items[at];
  const IrField *field = &changes->kernel->fields.items[inst->packed - 1];
  for (int i = 0; i < at; i++)
    if (is_of_vector(changes, changes->items.items[i], field)) return false;
  return true;
}

/* Are all numbers of the vector stored? */
static bool stores_vector(const Changes *changes, const IrInst *inst) {
  const IrField *field = &changes->kernel->fields.items[inst->packed - 1];
  int count = 0;
  for (int i = 0; i < changes->items.count; i++)
    count += is_of_vector(changes, changes->items.items[i], field);
  return count == changed_by(changes, inst)->count;
}

/* -- the new word ------------------------------------------------------------------------------ */

/* The bits that the stores certainly set; 0 if their positions are not constant. */
static uint64_t stored_bits(const Changes *changes) {
  uint64_t all = 0;
  for (int i = 0; i < changes->items.count; i++) {
    const IrInst *inst = changes->items.items[i];
    const SNodePacked *packed = changed_by(changes, inst);
    int64_t shift;
    bool is_store = inst->op == IR_UPDATE && inst->imm == IR_UPDATE_EXCHANGE;
    if (!is_store || !ir_is_const(shift_of(inst), &shift)) return 0;
    if (packed->as.kind != PACKED_SHARED) all |= packed_mask(&packed->as) << shift;
    else if (stores_vector(changes, inst))
      all |= packed_unit_mask(packed)
             << part_at(&changes->kernel->fields.items[inst->packed - 1], 0)->shift;
    else return 0;
  }
  return all;
}

/* Emits the word after the changes; `old`, of the word's type, may be NULL if they set all of it.
 * For a change that needs the old number, *before receives it; `values` receives the new numbers.
 * */
static IrInst *new_word(IrBuilder *b, const Changes *changes, IrInst *old, Type word,
                        IrInst **before, IrInst **values) {
  Type wide = packed_wide(word);
  IrInst *from = old ? ir_convert(b, old, wide) : NULL;
  Bits bits = {0};
  for (int i = 0; i < changes->items.count; i++) {
    IrInst *inst = changes->items.items[i];
    const SNodePacked *packed = changed_by(changes, inst);
    values[i] = inst->operands[1];
    if (inst->op == IR_CAS) values[i] = inst->operands[2];
    if (inst->op == IR_UPDATE && inst->imm == IR_UPDATE_EXCHANGE) continue;
    ASSERT(from, "a change that needs the old number reads the word");
    *before = packed_load(b, packed, from, shift_of(inst));
    if (inst->op != IR_CAS)
      values[i] = rewrite_update_value(b, (IrUpdate)inst->imm, *before, values[i]);
  }
  for (int i = 0; i < changes->items.count; i++) {
    IrInst *inst = changes->items.items[i];
    const SNodePacked *packed = changed_by(changes, inst);
    bool is_vector = packed->as.kind == PACKED_SHARED;
    if (is_vector && !is_first_of_vector(changes, i)) continue;
    Bits own = is_vector ? vector_bits(b, changes, inst, from, values, wide)
                         : bits_of(b, packed, values[i], shift_of(inst), wide);
    add_bits(b, &bits, own.value, own.mask);
  }
  if (!from) return ir_convert(b, bits.value, word);
  IrInst *kept = ir_binary(b, IR_BAND, from, ir_unary(b, IR_BNOT, bits.mask));
  return ir_convert(b, ir_binary(b, IR_BOR, kept, bits.value), word);
}

/* -- numbers that do not fit ------------------------------------------------------------------- */

/* The least or the largest number that the type holds. */
static IrInst *type_end(IrBuilder *b, const Packed *p, bool is_most) {
  if (type_is_integer(p->computed))
    return ir_const_int(b, p->computed, is_most ? p->most : p->least);
  return ir_const_float(b, p->computed, packed_end(p, is_most));
}

/* Counts the number if it does not fit in its type. */
static void count_number(IrBuilder *b, const Changes *changes, const IrInst *inst, IrInst *number) {
  const Packed *p = &changed_by(changes, inst)->as;
  bool holds_all = type_is_integer(p->computed) && p->bits == type_bits(p->computed);
  if (!changes->checks_range || holds_all) return;
  IrInst *fits = ir_binary(b, IR_BAND, ir_binary(b, IR_GE, number, type_end(b, p, false)),
                           ir_binary(b, IR_LE, number, type_end(b, p, true)));
  IrBuilder out = rewrite_inside(b->kernel, ir_if(b, fits)->regions[1], inst);
  int site = ir_add_site(b->kernel, inst->packed - 1, inst->line, true);
  IrInst *operands[] = {ir_i32(&out, site), ir_i32(&out, 1),
                        ir_i64(&out, 0)}; /* the call needs an index */
  ir_call(&out, RT_OUTSIDE, 0, 0, 3, operands);
}

static void count_numbers(IrBuilder *b, const Changes *changes, IrInst *const *values) {
  for (int i = 0; i < changes->items.count; i++)
    count_number(b, changes, changes->items.items[i], values[i]);
}

/* -- writing it -------------------------------------------------------------------------------- */

static void write_nonatomic(IrBuilder *b, const Changes *changes, Type word, bool reads,
                            bool further) {
  IrInst *place = last_of(changes)->operands[0], *before;
  IrInst *old = reads ? ir_load(b, place) : NULL;
  IrInst **values = scratch_array(changes->scratch, IrInst *, changes->items.count);
  ir_store(b, place, new_word(b, changes, old, word, &before, values))->uncounted = further;
  count_numbers(b, changes, values);
}

/* Counts a write outside the shape, since a CAS does not. */
static void count_outside(IrBuilder *b, IrInst *place, Type word, bool further) {
  if (place->in_bounds) return;
  ir_update(b, IR_UPDATE_BOR, place, ir_const_int(b, word, 0))->uncounted = further;
}

/* Repeats until the word did not change since it was read; returns the previous number, for an RMW
 * or CAS. A CAS that finds another number than it expects changes nothing. */
static IrInst *write_atomic(IrBuilder *b, const Changes *changes, Type word, bool further) {
  IrInst *last = last_of(changes), *place = last->operands[0], *before = NULL;
  bool has_result = last->op != IR_UPDATE;
  if (!has_result) count_outside(b, place, word, further);
  IrInst *result = has_result ? ir_var(b, last->type) : NULL;
  IrInst *loop = ir_loop(b);
  IrBuilder in = rewrite_inside(b->kernel, loop->regions[0], last);
  IrInst **values = scratch_array(changes->scratch, IrInst *, changes->items.count);
  IrInst *old = ir_load(&in, place);
  IrInst *word_after = new_word(&in, changes, old, word, &before, values);
  if (has_result) ir_set(&in, result, before);
  if (last->op == IR_CAS) {
    IrInst *differs = ir_binary(&in, IR_NE, before, last->operands[1]);
    IrBuilder out = rewrite_inside(b->kernel, ir_if(&in, differs)->regions[0], last);
    ir_break(&out, 0);
  }
  IrInst *seen = ir_emit(&in, IR_CAS, word, 3, (IrInst *[]){place, old, word_after});
  seen->relaxed = last->op == IR_UPDATE || last->relaxed;
  IrInst *is_done = ir_binary(&in, IR_EQ, seen, old);
  IrBuilder out = rewrite_inside(b->kernel, ir_if(&in, is_done)->regions[0], last);
  count_numbers(&out, changes, values);
  ir_break(&out, 0);
  return has_result ? ir_get(b, result) : NULL;
}

static void write_word(Changes *changes) {
  IrInst *last = last_of(changes), *place = last->operands[0];
  ASSERT(last->packed && place->op == IR_PLACE, "a change names its packed field, and its word");
  const IrField *field = &changes->kernel->fields.items[place->field];
  uint64_t used = field->node->components[field->component].packed_bits;
  IrBuilder b = rewrite_before(changes->kernel, last);
  bool is_plain = true, further = true;
  for (int i = 0; i < changes->items.count; i++) {
    is_plain &= changes->items.items[i]->nonatomic;
    further &= changes->items.items[i]->uncounted;
  }
  bool sets_all = used && (stored_bits(changes) & used) == used;
  IrInst *result = NULL;
  if (is_plain || sets_all) write_nonatomic(&b, changes, field->type, !sets_all, further);
  else result = write_atomic(&b, changes, field->type, further);
  if (result) ir_replace_uses(last, result);
  for (int i = 0; i < changes->items.count; i++) ir_delete(changes->items.items[i]);
  changes->items.count = 0;
}

/* -- merging stores ---------------------------------------------------------------------------- */

static bool is_store(const IrInst *inst) {
  return inst->op == IR_UPDATE && inst->packed && inst->imm == IR_UPDATE_EXCHANGE;
}

/* May the store be delayed until after `inst`? */
static bool can_be_delayed(const IrInst *store, const IrInst *inst) {
  int effects = ir_effects(inst);
  if (inst->regions[0] || ir_has_entry(inst->op)) return false;
  if (effects & (IR_EXIT | IR_TOPOLOGY)) return false;
  if (rewrite_is_access(inst->op))
    return inst->operands[0]->field != store->operands[0]->field && inst->op != IR_RMW &&
           inst->op != IR_CAS;
  return !(effects & (IR_WRITE | IR_UPDATE_EFFECT)) && inst->op != IR_INVOKE;
}

/* May it set a number that one of the collected stores sets? Then it must come later. */
static bool overwrites_collected(const Changes *changes, const IrInst *store) {
  for (int i = 0; i < changes->items.count; i++) {
    const IrInst *other = changes->items.items[i];
    int64_t a, b;
    bool is_known = ir_is_const(shift_of(other), &a) && ir_is_const(shift_of(store), &b);
    if (!is_known || a == b) return true;
  }
  return false;
}

/* Collects the stores from `first` on that are merged with it. */
static void collect_stores(Changes *changes, IrInst *first) {
  ASSERT(!changes->items.count, "the changes before have been written");
  vec_push(changes->scratch, &changes->items, first);
  if (!is_store(first)) return;
  for (IrInst *at = first->next; at; at = at->next) {
    bool is_more = is_store(at) && at->nonatomic == first->nonatomic &&
                   at->operands[0]->in_bounds == first->operands[0]->in_bounds &&
                   facts_same_place(at->operands[0], first->operands[0]);
    if (is_more && overwrites_collected(changes, at)) return;
    if (is_more) vec_push(changes->scratch, &changes->items, at);
    else if (!can_be_delayed(first, at)) return;
  }
}

static bool is_collected(const Changes *changes, const IrInst *inst) {
  for (int i = 0; i < changes->items.count; i++)
    if (changes->items.items[i] == inst) return true;
  return false;
}

static void lower_region(Changes *changes, IrRegion *region) {
  for (IrInst *inst = region ? region->first : NULL, *next; inst; inst = next) {
    next = inst->next;
    for (int k = 0; k < IR_MAX_REGIONS; k++) lower_region(changes, inst->regions[k]);
    if (!rewrite_is_write(inst->op) || !inst->packed) continue;
    collect_stores(changes, inst);
    while (next && is_collected(changes, next)) next = next->next;
    write_word(changes);
  }
}

bool pass_packed_updates(PassContext *ctx, IrKernel *kernel, Error *err) {
  Changes changes = {.kernel = kernel, .scratch = ctx->scratch, .checks_range = ctx->checks_range};
  lower_region(&changes, kernel->body);
  for (int i = 0; i < kernel->functions.count; i++)
    lower_region(&changes, kernel->functions.items[i]->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    lower_region(&changes, kernel->tasks.items[i]->body);
    lower_region(&changes, kernel->tasks.items[i]->interior);
  }
  return true;
}
