/* constant_tables.c - precomputes values that depend only on one number of a constant table, as a
 * new table.
 *
 *     item 1 (item 0 %i + 1)                  =>    item 2 %i
 *     pick (item 0 %i), %a, %b, %a, %b        =>    select (item 2 %i), %b, %a
 *     pick %i, 5, 7, 9                        =>    item 2 %i
 *
 * The root of such a value is the innermost item: the pass evaluates the value for each number of
 * the root's table. An index that may be outside becomes the index of an additional entry, with the
 * value for an item of zero. A pick with two different values becomes a select by a table of
 * conditions. Leaves dead values to `fold`. Decision D-pass-23. */
#include "ir/facts.h"
#include "pass/simplify/simplify.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

/* Operands between a value and its root: expressions share branches, so a deeper walk could be
 * exponential. */
enum { DEEPEST_ROOT = 8 };
/* Numbers of a root's table, for each of which a value is computed. */
enum { MOST_COMPUTED = 4096 };

/* -- values of a root -------------------------------------------------------------------------- */

/* The innermost item below `inst`, if the value otherwise depends only on constants and pure ops;
 * NULL if there is none. Clears *is_good if the value depends on anything else. */
static IrInst *root_of(IrInst *inst, int depth, bool *is_good) {
  if (inst->op == IR_CONST) return NULL;
  *is_good &= depth < DEEPEST_ROOT && (ir_effects(inst) & IR_PURE) && inst->operand_count > 0 &&
              inst->op != IR_PICK && inst->op != IR_PLACE;
  if (!*is_good) return NULL;
  if (inst->op == IR_TABLE_GET) {
    bool is_deeper = true;
    IrInst *inner = root_of(inst->operands[0], depth + 1, &is_deeper);
    return is_deeper && inner ? inner : inst;
  }
  IrInst *root = NULL;
  for (int i = 0; i < inst->operand_count && *is_good; i++) {
    IrInst *found = root_of(inst->operands[i], depth + 1, is_good);
    *is_good &= !found || !root || found == root;
    if (found) root = found;
  }
  return root;
}

/* The possible values of an index: those of a root, or its own. */
typedef struct Domain {
  IrInst *index;       /* at least 0, and less than `count` */
  bool may_be_outside; /* then an index outside counts as `count` - 1 */
  int count;
  int64_t *values; /* of the precomputed value, by index */
} Domain;

/* The domain of an index with `count` values, as its own root. */
static Domain own_domain(const IrKernel *kernel, IrInst *index, int count, bool is_inside) {
  Domain domain = {.index = index, .count = count + !is_inside, .may_be_outside = !is_inside};
  domain.values = scratch_array(kernel->scratch, int64_t, domain.count);
  for (int k = 0; k < domain.count; k++) domain.values[k] = k < count ? k : -1;
  return domain;
}

static bool find_domain(const IrKernel *kernel, IrInst *value, Domain *domain) {
  bool is_good = true;
  IrInst *root = root_of(value, 0, &is_good);
  if (!root || !is_good) return false;
  DEBUG_ASSERT(root->op == IR_TABLE_GET, "the root of a value is an item");
  const IrTable *table = &kernel->tables.items[root->imm];
  if (table->count > MOST_COMPUTED) return false;
  *domain = own_domain(kernel, root->operands[0], table->count, root->in_bounds);
  for (int k = 0; k < domain->count; k++)
    if (!fold_constant_at(kernel, value, root, k < table->count ? table->values[k] : 0,
                          &domain->values[k]))
      return false;
  return true;
}

/* The index as an unsigned number; one outside becomes the last. */
static IrInst *index_in(IrBuilder *b, const Domain *domain) {
  IrInst *index = domain->index;
  if (!domain->may_be_outside) return index;
  if (type_bits(index->type) < 32) index = ir_convert(b, index, TYPE(I32));
  Type type = type_bits(index->type) == 64 ? TYPE(U64) : TYPE(U32);
  index = ir_convert(b, index, type);
  return ir_binary_const(b, IR_MIN, index, domain->count - 1);
}

static IrInst *make_item(IrBuilder *b, const Domain *domain, Type type, const int64_t *values) {
  IrInst *item =
      ir_table_get(b, ir_add_table(b->kernel, type, domain->count, values), index_in(b, domain));
  item->in_bounds = true;
  return item;
}

static void become_item(IrKernel *kernel, IrInst *inst, const Domain *domain,
                        const int64_t *values) {
  IrBuilder b = rewrite_before(kernel, inst);
  IrInst *index = index_in(&b, domain);
  rewrite_become(kernel, inst, IR_TABLE_GET, 1, &index);
  inst->imm = ir_add_table(kernel, inst->type, domain->count, values);
  inst->in_bounds = true;
}

/* -- items and picks --------------------------------------------------------------------------- */

static void visit_item(IrKernel *kernel, IrInst *inst) {
  Domain domain;
  if (!find_domain(kernel, inst, &domain) || domain.index == inst->operands[0]) return;
  become_item(kernel, inst, &domain, domain.values);
}

typedef struct Choice { /* a selection among some values, by index of the domain */
  IrInst **values;
  int count;
  int64_t *which;
  bool are_constant;
} Choice;

/* `zero`: the value of an index outside. */
static Choice choice_of(const IrKernel *kernel, const IrInst *pick, const Domain *domain,
                        IrInst *zero) {
  Choice choice = {.values = scratch_array(kernel->scratch, IrInst *, pick->operand_count),
                   .which = scratch_array(kernel->scratch, int64_t, domain->count),
                   .are_constant = true};
  for (int k = 0; k < domain->count; k++) {
    int64_t number = domain->values[k], known = 0;
    bool is_inside = number >= 0 && number < pick->operand_count - 1;
    IrInst *value = is_inside ? pick->operands[number + 1] : zero;
    while (known < choice.count && !facts_same_value(choice.values[known], value)) known++;
    choice.are_constant &= value->op == IR_CONST;
    choice.which[k] = known;
    if (known == choice.count) choice.values[choice.count++] = value;
  }
  return choice;
}

static void become_choice(IrKernel *kernel, IrInst *inst, const Domain *domain,
                          const Choice *choice) {
  DEBUG_ASSERT(choice->count > 0, "an index outside chooses zero, so there is a value");
  IrBuilder b = rewrite_before(kernel, inst);
  if (choice->are_constant) {
    int64_t *values = scratch_array(kernel->scratch, int64_t, domain->count);
    for (int k = 0; k < domain->count; k++) values[k] = choice->values[choice->which[k]]->imm;
    return become_item(kernel, inst, domain, values);
  }
  if (choice->count == 1) {
    IrInst *one[] = {ir_i32(&b, 0), choice->values[0]};
    return rewrite_become(kernel, inst, IR_PICK, 2, one);
  }
  if (choice->count == 2) {
    IrInst *is_second = make_item(&b, domain, TYPE(BOOL), choice->which);
    IrInst *operands[] = {is_second, choice->values[1], choice->values[0]};
    return rewrite_become(kernel, inst, IR_SELECT, 3, operands);
  }
  IrInst **operands = scratch_array(kernel->scratch, IrInst *, choice->count + 1);
  operands[0] = make_item(&b, domain, TYPE(I32), choice->which);
  memcpy(operands + 1, choice->values, sizeof *operands * (size_t)choice->count);
  rewrite_become(kernel, inst, IR_PICK, choice->count + 1, operands);
  inst->in_bounds = true;
}

static void visit_pick(IrKernel *kernel, IrInst *inst) {
  Domain domain;
  int count = inst->operand_count - 1;
  bool has_root = find_domain(kernel, inst->operands[0], &domain);
  if (!has_root) domain = own_domain(kernel, inst->operands[0], count, inst->in_bounds);
  IrBuilder b = rewrite_before(kernel, inst);
  Choice choice = choice_of(kernel, inst, &domain, ir_zero(&b, inst->type));
  bool is_shorter = choice.are_constant || choice.count <= 2 || choice.count < count;
  if (is_shorter) become_choice(kernel, inst, &domain, &choice);
}

static bool visit_inst(void *data, IrInst *inst) {
  if (inst->op == IR_TABLE_GET) visit_item(data, inst);
  if (inst->op == IR_PICK) visit_pick(data, inst);
  return true;
}

bool pass_constant_tables(PassContext *ctx, IrKernel *kernel, Error *err) {
  ir_walk_kernel(kernel, visit_inst, kernel);
  return true;
}
