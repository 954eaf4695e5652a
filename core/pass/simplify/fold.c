/* fold.c - constant folding, the rewrites of rules.def, common subexpressions and dead code, in two
 * linear walks.
 *
 * Forward: each inst sees operands that are already folded. It becomes a constant, is rewritten by
 * rows of rules.def until none fits, is replaced by an equal inst that is visible here (common
 * value), or stays. There is no phi, so all users of a value come after it: one walk in program
 * order tries each of them again after their operands have changed (decision D-pass-50).
 * An `if` over a constant is replaced by the arm that is taken; code after an exit is removed.
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

/* Folds nested regions; returns the inst to continue with. */
static IrInst *fold_regions(Folder *f, IrInst *inst) {
  int64_t known;
  if (inst->op == IR_IF && ir_is_const(inst->operands[0], &known))
    return replace_by_arm(inst, inst->regions[known ? 0 : 1]);
  if (is_empty_loop(inst)) return replace_by_arm(inst, NULL);
  for (int i = 0; i < ir_region_count(inst->op); i++) fold_region(f, inst->regions[i]);
  if (inst->op == IR_IF && ir_ends_in_exit(inst->regions[0]) && ir_ends_in_exit(inst->regions[1]))
    ir_delete_from(inst->next); /* unreachable */
  return inst->next;
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
