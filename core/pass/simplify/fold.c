/* fold.c - constant folding, the rewrites of rules.def, common subexpressions and dead code, in two
 * linear walks.
 *
 * Forward: each inst sees operands that are already folded. It becomes a constant, is rewritten by
 * rows of rules.def until none fits, is replaced by an equal inst that is visible here (common
 * value), or stays. There is no phi, so all users of a value come after it: one walk in program
 * order tries each of them again after their operands have changed (decision D-pass-50).
 * An `if` over a constant is replaced by the arm that is taken; code after an exit is removed. A
 * loop that counts the set bits of a number becomes `popcnt`.
 * Backward: removes insts without effects and uses, and then those that only they used.
 * Variables are left to mem2reg. */
#include "ir/facts.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"
#include "pass/simplify/rules.h"

enum { LEAST_BUCKETS = 16, VALUES_PER_BUCKET = 4 /* by ids, most of which are of deleted insts */ };

/* A value that may replace later equal ones. */
typedef struct Common Common;
struct Common {
  IrInst *inst;
  uint64_t hash;
  Common *next;  /* in its bucket */
  Common *outer; /* entered before this one */
};

typedef struct Folder {
  Scratch *scratch;
  Rewriter rewriter;
  Common **buckets; /* the visible values by their hash, those of inner regions first */
  int bucket_count; /* a power of two */
  Common *last;     /* the value that was entered last */
} Folder;

/* -- common values ----------------------------------------------------------------------------- */

static uint64_t mix_hash(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_of(const IrInst *inst) {
  uint64_t hash = mix_hash((uint64_t)inst->op << 32 | (uint32_t)inst->stride, (uint64_t)inst->imm);
  for (int i = 0; i < inst->operand_count; i++)
    hash = mix_hash(hash, (uint64_t)inst->operands[i]->id);
  for (int i = 0; inst->offset && i < SNODE_MAX_AXES; i++)
    hash = mix_hash(hash, (uint64_t)(uint32_t)inst->offset[i]);
  return mix_hash(hash, (uint64_t)(uint32_t)inst->field << 32 | (uint32_t)inst->level);
}

/* Do both compute the same value? Equal operands are one inst by now. */
static bool is_equal(const IrInst *a, const IrInst *b) {
  if (a->op != b->op || a->operand_count != b->operand_count) return false;
  for (int i = 0; i < a->operand_count; i++)
    if (a->operands[i] != b->operands[i]) return false;
  return facts_same_operation(a, b);
}

static Common **bucket_of(const Folder *f, uint64_t hash) {
  DEBUG_ASSERT(f->bucket_count && !(f->bucket_count & (f->bucket_count - 1)), "a power of two");
  return &f->buckets[hash & (uint64_t)(f->bucket_count - 1)];
}

/* The visible inst that computes the same value; if there is none, NULL, and this inst becomes
 * available until the end of its region. */
static IrInst *find_common(Folder *f, IrInst *inst) {
  uint64_t hash = hash_of(inst);
  Common **bucket = bucket_of(f, hash);
  for (const Common *known = *bucket; known; known = known->next)
    if (known->hash == hash && is_equal(known->inst, inst)) return known->inst;
  Common *entry = scratch_new(f->scratch, Common);
  *entry = (Common){.inst = inst, .hash = hash, .next = *bucket, .outer = f->last};
  *bucket = f->last = entry;
  return NULL;
}

/* Removes all values that were entered after `outer`, the last one first. */
static void leave_region(Folder *f, Common *outer) {
  for (; f->last != outer; f->last = f->last->outer) *bucket_of(f, f->last->hash) = f->last->next;
}

/* -- forward ----------------------------------------------------------------------------------- */

static void fold_region(Folder *f, IrRegion *region);

/* Replaces `inst` by the insts of `from`. Returns the first of them, or the next inst. */
static IrInst *replace_by_arm(IrInst *inst, IrRegion *from) {
  DEBUG_ASSERT(!from || from->owner == inst, "an inst is replaced by an arm of its own");
  IrInst *next = inst->next, *first = from ? from->first : NULL;
  rewrite_move_to(first, &(IrBuilder){.before = inst});
  ir_delete(inst);
  return first ? first : next;
}

static bool is_empty_loop(const IrInst *inst) {
  int64_t step;
  if (inst->op != IR_FOR || type_is_unsigned(inst->operands[0]->type)) return false;
  return facts_trip_count(inst) == 0 || (ir_is_const(inst->operands[2], &step) && step == 0);
}

/* -- counts of bits ---------------------------------------------------------------------------- */

/* A loop that counts the bits of a number, one by one, as users write it:
 *
 *   loop {
 *     %x = get %v
 *     if ne %x, 0 {} else { break 0 }            set %n, (get %n) + 3 * popcnt (get %v)
 *     set %v, band %x, (sub %x, 1)         =>    set %v, 0
 *     set %n, add (get %n), 3
 *   }
 *
 * or with `shr %x, 1` for the next number, and `band %x, 1` in place of 3. */
typedef struct BitCount {
  IrInst *number, *count; /* the variables */
  IrInst *each;           /* what a set bit adds to the count; NULL: 1 */
} BitCount;

static bool is_read_of(const IrInst *value, const IrInst *variable, const IrRegion *body) {
  return value->op == IR_GET && value->operands[0] == variable && value->region == body;
}

/* Returns the number if the `if` leaves the loop when it is 0, and does nothing otherwise. */
static IrInst *leaves_at_zero(const IrInst *branch) {
  const IrInst *test = branch->operands[0];
  int64_t zero;
  int arm = test->op == IR_EQ ? 0 : 1;
  const IrInst *exit = branch->regions[arm]->first;
  if ((test->op != IR_EQ && test->op != IR_NE) || branch->regions[!arm]->first) return NULL;
  if (!exit || exit->op != IR_BREAK || exit->imm || !ir_is_const(test->operands[1], &zero) || zero)
    return NULL;
  return test->operands[0];
}

static bool is_with_one(const IrInst *value, IrOp op, const IrInst *x, int64_t one) {
  int64_t n;
  return value->op == op && value->operands[0] == x && ir_is_const(value->operands[1], &n) &&
         n == one;
}

/* Is it x & (x - 1)? */
static bool clears_lowest(const IrInst *next, const IrInst *x) {
  if (next->op != IR_BAND || (next->operands[0] != x && next->operands[1] != x)) return false;
  const IrInst *less = next->operands[next->operands[0] == x];
  return is_with_one(less, IR_SUB, x, 1) || is_with_one(less, IR_ADD, x, -1);
}

static bool find_bit_count(const IrInst *loop, BitCount *found) {
  const IrRegion *body = loop->regions[0];
  IrInst *sets[2], *x = NULL;
  int64_t each;
  int count = 0;
  if (loop->op != IR_LOOP) return false;
  for (IrInst *inst = body->first; inst; inst = inst->next) {
    bool is_value = inst->op == IR_GET || ir_effects(inst) & IR_PURE;
    if (inst->op == IR_SET && x && count < 2) sets[count++] = inst;
    else if (inst->op != IR_IF ? !is_value : x || !(x = leaves_at_zero(inst))) return false;
  }
  if (count < 2 || x->op != IR_GET || x->region != body || !type_is_integer(x->type)) return false;
  IrInst *next = sets[0], *sum = sets[1];
  if (next->operands[0] != x->operands[0]) next = sets[1], sum = sets[0];
  *found = (BitCount){.number = x->operands[0], .count = sum->operands[0]};
  const IrInst *add = sum->operands[1];
  if (next->operands[0] != found->number || sum->operands[0] == found->number) return false;
  if (add->op != IR_ADD || !type_is_integer(add->type)) return false;
  int of_count = is_read_of(add->operands[0], found->count, body) ? 0 : 1;
  IrInst *term = add->operands[!of_count];
  if (!is_read_of(add->operands[of_count], found->count, body)) return false;
  if (is_with_one(next->operands[1], IR_SHR, x, 1))
    return is_with_one(term->op == IR_CONVERT ? term->operands[0] : term, IR_BAND, x, 1);
  found->each = term;
  return clears_lowest(next->operands[1], x) && ir_is_const(term, &each);
}

/* Returns the first inst of those that replace the loop. */
static IrInst *count_bits(IrKernel *kernel, IrInst *loop, const BitCount *found) {
  IrBuilder b = rewrite_before(kernel, loop);
  IrInst *first = ir_get(&b, found->number);
  IrInst *bits = ir_convert(&b, ir_unary(&b, IR_POPCNT, first), found->count->type);
  if (found->each)
    bits = ir_binary(&b, IR_MUL, bits, ir_const_int(&b, bits->type, found->each->imm));
  ir_set(&b, found->count, ir_binary(&b, IR_ADD, ir_get(&b, found->count), bits));
  ir_set(&b, found->number, ir_const_int(&b, first->type, 0));
  ir_delete(loop);
  return first;
}

/* -- forward, continued ------------------------------------------------------------------------ */

/* Folds nested regions; returns the inst to continue with. */
static IrInst *fold_regions(Folder *f, IrInst *inst) {
  int64_t known;
  if (inst->op == IR_IF && ir_is_const(inst->operands[0], &known))
    return replace_by_arm(inst, inst->regions[known ? 0 : 1]);
  if (is_empty_loop(inst)) return replace_by_arm(inst, NULL);
  for (int i = 0; i < ir_region_count(inst->op); i++) fold_region(f, inst->regions[i]);
  if (inst->op == IR_IF && ir_ends_in_exit(inst->regions[0]) && ir_ends_in_exit(inst->regions[1]))
    ir_delete_from(inst->next); /* unreachable */
  BitCount count;
  return find_bit_count(inst, &count) ? count_bits(f->rewriter.kernel, inst, &count) : inst->next;
}

/* Folds a value; returns the inst to continue with. */
static IrInst *fold_value(Folder *f, IrInst *inst) {
  IrInst *next = inst->next, *previous = inst->previous;
  IrInst *with = rules_apply(&f->rewriter, inst);
  if (inst->previous != previous) return previous ? previous->next : inst->region->first;
  if (with == inst) with = find_common(f, inst);
  if (!with) return next;
  ir_replace_uses(inst, with);
  ir_delete(inst);
  return next;
}

static IrInst *fold_inst(Folder *f, IrInst *inst) {
  if (inst->regions[0]) return fold_regions(f, inst);
  int effects = ir_effects(inst);
  if (effects & IR_PURE) return fold_value(f, inst);
  if (effects & IR_EXIT) ir_delete_from(inst->next);
  return inst->next;
}

static void fold_region(Folder *f, IrRegion *region) {
  Common *outer = f->last;
  for (IrInst *inst = region->first; inst;) inst = fold_inst(f, inst);
  leave_region(f, outer);
}

/* -- backward ---------------------------------------------------------------------------------- */

static bool is_empty(const IrInst *inst) {
  for (int i = 0; i < ir_region_count(inst->op); i++)
    if (inst->regions[i]->first) return false;
  return true;
}

static bool is_dead(const IrInst *inst) {
  int effects = ir_effects(inst);
  switch (inst->op) {
  case IR_LOOP:
  case IR_LEAVES: return false; /* may not end */
  case IR_VAR:
  case IR_GET:
  case IR_LOCAL_ARRAY:
  case IR_LOCAL_GET:
  case IR_FRAME_LOAD: return !ir_is_used(inst);
  default: break;
  }
  if (ir_region_count(inst->op)) return is_empty(inst);
  if (effects & (IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY | IR_EXIT)) return false;
  return (effects & (IR_PURE | IR_READ)) && !ir_is_used(inst);
}

static void remove_dead(IrRegion *region) {
  for (IrInst *inst = region->last, *previous; inst; inst = previous) {
    previous = inst->previous;
    for (int i = 0; i < ir_region_count(inst->op); i++) remove_dead(inst->regions[i]);
    if (is_dead(inst)) ir_delete(inst);
  }
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void fold_function(Folder *f, IrRegion *body) {
  fold_region(f, body);
  remove_dead(body);
}

static void begin_fold(Folder *f, PassContext *ctx, IrKernel *kernel) {
  *f = (Folder){.scratch = ctx->scratch};
  rules_begin(&f->rewriter, ctx, kernel);
  f->bucket_count = LEAST_BUCKETS;
  while (f->bucket_count < kernel->next_id / VALUES_PER_BUCKET) f->bucket_count *= 2;
  f->buckets = scratch_array(ctx->scratch, Common *, f->bucket_count);
}

void fold_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  DEBUG_ASSERT(!body->owner, "a body is folded as a whole, so that nothing outside uses it");
  Folder f;
  begin_fold(&f, ctx, kernel);
  fold_function(&f, body);
}

bool pass_fold(PassContext *ctx, IrKernel *kernel, Error *err) {
  Folder f;
  begin_fold(&f, ctx, kernel);
  fold_function(&f, kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    fold_function(&f, kernel->tasks.items[i]->body);
    if (kernel->tasks.items[i]->interior) fold_function(&f, kernel->tasks.items[i]->interior);
  }
  for (int i = 0; i < kernel->functions.count; i++)
    fold_function(&f, kernel->functions.items[i]->body);
  ir_prune_tables(kernel);
  return true;
}
