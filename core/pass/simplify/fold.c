/* fold.c - constant folding, identities, common subexpressions and dead code, in two linear walks.
 *
 * Forward: each inst sees operands that are already folded. It becomes a constant, is replaced by
 * one of its operands (identity) or by an equal inst that is visible here (common value), or stays.
 * An `if` over a constant is replaced by the arm that is taken; code after an exit is removed. A
 * GET becomes the value that was SET last, if that is the same on every path to it.
 * Backward: removes insts without effects and uses, and then those that only they used.
 *
 * Invariant: floats stay IEEE to the bit. x + 0 is kept (-0 + 0 is 0); x - 0, x * 1 and x / 1
 * become x. */
#include "base/map.h"
#include "ir/attribute.h"
#include "pass/simplify/fold.h"
#include "pass/simplify/fold_constant.h"
#include "pass/pass.h"

/* by id; writes: SETs of a VAR, which keep nothing alive */
typedef struct Uses {
  int *reads, *writes;
} Uses;

typedef struct Held {
  int var;
  IrInst *before;
} Held;

typedef struct Folder {
  const IrKernel *kernel;
  Scratch *scratch;
  IrInst **with;    /* by id: the replacement of an inst */
  Map values;       /* key of a pure inst -> the visible one */
  VEC(Str) entered; /* keys in `values`, to be removed when their region ends */
  IrInst **held;    /* by id of a VAR: its value at this point, NULL: not known */
  VEC(Held) log;    /* undo log of `held` */
  Uses uses;
} Folder;

/* -- identities -------------------------------------------------------------------------------- */

static bool is_int(const IrInst *inst, int64_t value) {
  int64_t known;
  return ir_is_const(inst, &known) && known == ir_wrap_int(inst->type, value);
}

static bool is_float(const IrInst *inst, double value) {
  return inst->op == IR_CONST && type_is_float(inst->type) && inst->imm == ir_float_bits(value);
}

static IrInst *become_const(IrInst *inst, int64_t imm) {
  ir_drop_operands(inst, 0);
  inst->op = IR_CONST;
  inst->imm = imm;
  return NULL;
}

static IrInst *become_unary(IrInst *inst, IrOp op, IrInst *operand) {
  ir_set_operand(inst, 0, operand);
  ir_drop_operands(inst, 1);
  inst->op = op;
  return NULL;
}

/* Moves constants to the right, so that the rules below look only there. Float min and max do not
 * commute. */
static void order_operands(IrInst *inst) {
  bool commutes = ir_op_info[inst->op].flags & IR_COMMUTES;
  if ((inst->op == IR_MIN || inst->op == IR_MAX) && type_is_float(inst->type)) commutes = false;
  if (!commutes || inst->operands[0]->op != IR_CONST || inst->operands[1]->op == IR_CONST) return;
  ir_swap_operands(inst);
}

static IrInst *simplify_integer(IrInst *inst) {
  IrInst *a = inst->operands[0], *b = inst->operands[1];
  bool same = a == b, zero = is_int(b, 0), one = is_int(b, 1);
  switch (inst->op) {
  case IR_ADD:
  case IR_SHL:
  case IR_SHR:
  case IR_SAR:
  case IR_ROL:
  case IR_ROR: return zero ? a : NULL;
  case IR_SUB: return zero ? a : same ? become_const(inst, 0) : NULL;
  case IR_MUL: return one ? a : zero ? b : NULL;
  case IR_FLOORDIV: return one ? a : zero ? b : NULL;
  case IR_MOD: return zero ? b : one || same ? become_const(inst, 0) : NULL; /* also 0 % 0 */
  case IR_BAND: return zero ? b : same || is_int(b, -1) ? a : NULL;
  case IR_BOR: return is_int(b, -1) ? b : same || zero ? a : NULL;
  case IR_BXOR: return zero ? a : same ? become_const(inst, 0) : NULL;
  case IR_MIN:
  case IR_MAX: return same ? a : NULL;
  case IR_EQ:
  case IR_LE:
  case IR_GE: return same ? become_const(inst, 1) : NULL;
  case IR_NE:
  case IR_LT:
  case IR_GT: return same ? become_const(inst, 0) : NULL;
  default: return NULL;
  }
}

static IrInst *simplify_float(IrInst *inst) {
  IrInst *a = inst->operands[0], *b = inst->operands[1];
  switch (inst->op) {
  case IR_ADD: return is_float(b, -0.0) ? a : NULL;
  case IR_SUB: return is_float(b, 0.0) ? a : NULL;
  case IR_MUL: return is_float(b, 1) ? a : is_float(b, -1) ? become_unary(inst, IR_NEG, a) : NULL;
  case IR_DIV: return is_float(b, 1) ? a : NULL;
  case IR_POW:
    if (is_float(b, 1)) return a;
    if (!is_float(b, 2)) return NULL;
    inst->op = IR_MUL; /* the square is the exact result, rounded once */
    ir_set_operand(inst, 1, a);
    return NULL;
  case IR_MIN:
  case IR_MAX: return a == b ? a : NULL;
  case IR_LT:
  case IR_GT: return a == b ? become_const(inst, 0) : NULL; /* NaN too */
  default: return NULL;
  }
}

static IrInst *simplify_select(IrInst *inst) {
  IrInst *condition = inst->operands[0], *yes = inst->operands[1], *no = inst->operands[2];
  int64_t known;
  if (ir_is_const(condition, &known)) return known ? yes : no;
  if (yes == no) return yes;
  if (!type_is_bool(inst->type)) return NULL;
  if (is_int(yes, 1) && is_int(no, 0)) return condition;
  return is_int(yes, 0) && is_int(no, 1) ? become_unary(inst, IR_BNOT, condition) : NULL;
}

/* Does every value of `inner` survive a conversion to `outer` and back? */
static bool widens(Type inner, Type outer) {
  if (type_is_float(inner) && type_is_float(outer)) return type_size(outer) > type_size(inner);
  return type_is_integer(inner) && type_is_integer(outer) && type_size(outer) >= type_size(inner);
}

static IrInst *simplify_unary(IrInst *inst) {
  IrInst *a = inst->operands[0];
  IrInst *inner = a->operand_count == 1 ? a->operands[0] : NULL;
  switch (inst->op) {
  case IR_CONVERT:
    if (type_equal(a->type, inst->type)) return a;
    return a->op == IR_CONVERT && type_equal(inner->type, inst->type) &&
                   widens(inner->type, a->type)
               ? inner
               : NULL;
  case IR_BITCAST:
    if (type_equal(a->type, inst->type)) return a;
    return a->op == IR_BITCAST && type_equal(inner->type, inst->type) ? inner : NULL;
  case IR_NEG:
  case IR_BNOT:
  case IR_BSWAP: return a->op == inst->op ? inner : NULL;
  default: return NULL;
  }
}

/* A constant index moves into the bytes, and an offset without an index into its base offset. */
static IrInst *simplify_offset(IrInst *inst) {
  IrInst *base = inst->operands[0];
  int64_t index, bytes, sum;
  if (!ir_is_const(inst->operands[1], &index) ||
      __builtin_mul_overflow(index, (int64_t)inst->stride, &bytes) ||
      __builtin_add_overflow(bytes, inst->imm, &sum))
    return NULL;
  if (sum == 0) return base;
  if (base->op != IR_OFFSET || __builtin_add_overflow(sum, base->imm, &sum)) return NULL;
  ir_set_operand(inst, 0, base->operands[0]);
  ir_set_operand(inst, 1, base->operands[1]);
  inst->stride = base->stride;
  inst->imm = sum;
  return NULL;
}

/* Uses the index in its original, narrower type, in which it is outside in exactly the same
 * cases. */
static void narrow_index(IrInst *inst) {
  IrInst *index = inst->operands[0];
  bool is_widened = index->op == IR_CONVERT && type_is_integer(index->operands[0]->type) &&
                    type_bits(index->operands[0]->type) < type_bits(index->type);
  if (is_widened) ir_set_operand(inst, 0, index->operands[0]);
}

static IrInst *simplify_pick(IrInst *inst) {
  int64_t index;
  if (!ir_is_const(inst->operands[0], &index)) return narrow_index(inst), NULL;
  bool is_inside = index >= 0 && index < inst->operand_count - 1;
  return is_inside ? inst->operands[index + 1] : become_const(inst, 0);
}

static IrInst *simplify_item(const IrKernel *kernel, IrInst *inst) {
  const IrTable *table = &kernel->tables.items[inst->imm];
  int64_t index;
  if (!ir_is_const(inst->operands[0], &index)) return narrow_index(inst), NULL;
  return become_const(inst, index >= 0 && index < table->count ? table->values[index] : 0);
}

/* The replacement of the inst; NULL if it stays, perhaps simplified. */
static IrInst *simplify(const IrKernel *kernel, IrInst *inst) {
  int64_t imm;
  if (inst->op == IR_ITEM) return simplify_item(kernel, inst);
  if (inst->op == IR_PICK) return simplify_pick(inst);
  if (fold_constant(inst, &imm)) return become_const(inst, imm);
  if (inst->op == IR_SELECT) return simplify_select(inst);
  if (inst->op == IR_OFFSET) return simplify_offset(inst);
  if (inst->operand_count == 1) return simplify_unary(inst);
  if (inst->operand_count != 2 || inst->op < IR_ADD || inst->op > IR_GE) return NULL;
  order_operands(inst);
  return type_is_float(inst->operands[0]->type) ? simplify_float(inst) : simplify_integer(inst);
}

/* -- common values ----------------------------------------------------------------------------- */

typedef struct Key { /* everything except the operands; no padding, so that keys compare as bytes */
  int64_t imm;
  int32_t op, field, level, tree, stride, lanes, inside, axis_count;
  Type type;
  int32_t entry;
  int32_t offset[SNODE_MAX_AXES], extent[SNODE_MAX_AXES];
} Key;
_Static_assert(sizeof(Key) == 8 + 4 * 10 + 64, "a Key has no padding");

static Str key_of(Folder *f, const IrInst *inst) {
  Key key = {.imm = inst->imm,
             .op = inst->op,
             .field = inst->field,
             .level = inst->level,
             .tree = inst->tree,
             .stride = inst->stride,
             .lanes = inst->lanes,
             .inside = inst->inside,
             .axis_count = inst->axis_count,
             .type = inst->type,
             .entry = inst->entry};
  if (inst->offset) memcpy(key.offset, inst->offset, sizeof key.offset);
  if (inst->extent) memcpy(key.extent, inst->extent, sizeof key.extent);
  size_t operand_bytes = sizeof(int32_t) * (size_t)inst->operand_count;
  /* most insts have no offsets and extents, so the short key suffices */
  bool is_plain = !ir_axes_in_use(inst, inst->offset) && !ir_axes_in_use(inst, inst->extent);
  size_t key_bytes = is_plain ? offsetof(Key, offset) : sizeof key;
  char *bytes = scratch_alloc(f->scratch, key_bytes + operand_bytes);
  memcpy(bytes, &key, key_bytes);
  for (int i = 0; i < inst->operand_count; i++)
    memcpy(bytes + key_bytes + sizeof(int32_t) * (size_t)i, &inst->operands[i]->id,
           sizeof(int32_t));
  return (Str){bytes, (int)(key_bytes + operand_bytes)};
}

/* The visible inst that computes the same value; if there is none, NULL, and this inst becomes
 * available until the end of its region. */
static IrInst *find_common(Folder *f, IrInst *inst) {
  if (!(ir_effects(inst) & IR_PURE)) return NULL;
  Str key = key_of(f, inst);
  IrInst *known = map_find(&f->values, key);
  if (known) return known;
  vec_push(f->scratch, &f->entered, key);
  map_put(&f->values, key, inst);
  return NULL;
}

/* -- variables --------------------------------------------------------------------------------- */

static void hold(Folder *f, const IrInst *var, IrInst *value) {
  if (f->held[var->id] == value) return;
  vec_push(f->scratch, &f->log, ((Held){var->id, f->held[var->id]}));
  f->held[var->id] = value;
}

static void go_back(Folder *f, int count) {
  while (f->log.count > count) {
    const Held *last = &f->log.items[--f->log.count];
    f->held[last->var] = last->before;
  }
}

/* Forgets variables that the inst may change, other than by a SET: calls store results in them. */
static bool forget_inst(void *data, IrInst *inst) {
  for (int i = 0; inst->op != IR_GET && i < inst->operand_count; i++)
    if (inst->operands[i]->op == IR_VAR) hold(data, inst->operands[i], NULL);
  return true;
}

static void note_set(Folder *f, IrInst *inst) {
  if (inst->op == IR_SET) hold(f, inst->operands[0], inst->operands[1]);
  else forget_inst(f, inst);
}

/* -- forward ----------------------------------------------------------------------------------- */

static void fold_region(Folder *f, IrRegion *region);

/* Replaces `inst` by the insts of `from`. Returns the first of them, or the next inst. */
static IrInst *splice(IrInst *inst, IrRegion *from) {
  IrInst *next = inst->next, *first = from ? from->first : NULL;
  for (IrInst *moved; from && (moved = from->first);) {
    ir_remove(moved);
    ir_insert_before(inst, moved);
  }
  ir_delete(inst);
  return first ? first : next;
}

static void cut_after(IrInst *exit) {
  while (exit->next) ir_delete(exit->region->last);
}

static bool ends_in_exit(const IrRegion *region) {
  return region->last && (ir_effects(region->last) & IR_EXIT);
}

static bool never_runs(const IrInst *inst) {
  int64_t begin, last, step;
  if (inst->op != IR_FOR || type_is_unsigned(inst->operands[0]->type)) return false;
  if (!ir_is_const(inst->operands[2], &step)) return false;
  if (step == 0) return true;
  if (!ir_is_const(inst->operands[0], &begin) || !ir_is_const(inst->operands[1], &last))
    return false;
  return step > 0 ? begin > last : begin < last;
}

/* Folds nested regions; returns the inst to continue with. */
static IrInst *fold_regions(Folder *f, IrInst *inst) {
  int64_t known;
  if (inst->op == IR_IF && ir_is_const(inst->operands[0], &known))
    return splice(inst, inst->regions[known ? 0 : 1]);
  if (never_runs(inst)) return splice(inst, NULL);
  bool is_loop = inst->op != IR_IF; /* earlier iterations may have changed variables */
  for (int i = 0; is_loop && i < ir_region_count(inst->op); i++)
    ir_walk(inst->regions[i], forget_inst, f);
  for (int i = 0; i < ir_region_count(inst->op); i++) {
    int count = f->log.count;
    fold_region(f, inst->regions[i]);
    go_back(f, count);
  }
  for (int i = 0; i < ir_region_count(inst->op); i++)
    if (is_loop || !ends_in_exit(inst->regions[i])) ir_walk(inst->regions[i], forget_inst, f);
  if (inst->op == IR_IF && ends_in_exit(inst->regions[0]) && ends_in_exit(inst->regions[1]))
    cut_after(inst);
  return inst->next;
}

static IrInst *fold_inst(Folder *f, IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++) {
    IrInst *with = f->with[inst->operands[i]->id];
    if (with) ir_set_operand(inst, i, with);
  }
  if (inst->regions[0]) return fold_regions(f, inst);
  if (ir_effects(inst) & IR_EXIT) cut_after(inst);
  IrInst *next = inst->next, *with = inst->op == IR_GET ? f->held[inst->operands[0]->id] : NULL;
  note_set(f, inst);
  if (!with && !(ir_effects(inst) & IR_PURE)) return next;
  if (!with) with = simplify(f->kernel, inst);
  if (!with) with = find_common(f, inst);
  if (!with) return next;
  f->with[inst->id] = with;
  ir_delete(inst);
  return next;
}

static void fold_region(Folder *f, IrRegion *region) {
  int outer = f->entered.count;
  for (IrInst *inst = region->first; inst;) inst = fold_inst(f, inst);
  while (f->entered.count > outer) map_put(&f->values, f->entered.items[--f->entered.count], NULL);
}

/* -- backward ---------------------------------------------------------------------------------- */

static void count_operands(Uses *uses, const IrInst *inst, int by) {
  for (int i = 0; i < inst->operand_count; i++)
    (inst->op == IR_SET && i == 0 ? uses->writes : uses->reads)[inst->operands[i]->id] += by;
}

static bool count_inst(void *data, IrInst *inst) {
  count_operands(data, inst, 1);
  return true;
}

static bool is_empty(const IrInst *inst) {
  for (int i = 0; i < ir_region_count(inst->op); i++)
    if (inst->regions[i]->first) return false;
  return true;
}

static bool is_dead(const Uses *uses, const IrInst *inst) {
  int effects = ir_effects(inst);
  switch (inst->op) {
  case IR_LOOP:
  case IR_LEAVES: return false; /* may not end */
  case IR_VAR: return !uses->reads[inst->id] && !uses->writes[inst->id];
  case IR_SET: return !uses->reads[inst->operands[0]->id];
  case IR_GET:
  case IR_FRAME_LOAD: return !uses->reads[inst->id];
  default: break;
  }
  if (ir_region_count(inst->op)) return is_empty(inst);
  if (effects & (IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY | IR_EXIT)) return false;
  return (effects & (IR_PURE | IR_READ)) && !uses->reads[inst->id];
}

static void sweep(Uses *uses, IrRegion *region) {
  for (IrInst *inst = region->last, *previous; inst; inst = previous) {
    previous = inst->previous;
    for (int i = 0; i < ir_region_count(inst->op); i++) sweep(uses, inst->regions[i]);
    if (!is_dead(uses, inst)) continue;
    count_operands(uses, inst, -1);
    ir_delete(inst);
  }
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void fold_function(Folder *f, IrRegion *body) {
  fold_region(f, body);
  ir_walk(body, count_inst, &f->uses);
  sweep(&f->uses, body);
}

static Folder folder(PassContext *ctx, const IrKernel *kernel) {
  Folder f = {.kernel = kernel,
              .scratch = ctx->scratch,
              .with = scratch_array(ctx->scratch, IrInst *, kernel->next_id)};
  f.held = scratch_array(ctx->scratch, IrInst *, kernel->next_id);
  f.uses.reads = scratch_array(ctx->scratch, int, kernel->next_id);
  f.uses.writes = scratch_array(ctx->scratch, int, kernel->next_id);
  map_init(&f.values, ctx->scratch);
  return f;
}

void fold_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  Folder f = folder(ctx, kernel);
  fold_function(&f, body);
}

bool pass_fold(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)err;
  Folder f = folder(ctx, kernel);
  fold_function(&f, kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    fold_function(&f, kernel->tasks.items[i]->body);
    if (kernel->tasks.items[i]->interior) fold_function(&f, kernel->tasks.items[i]->interior);
  }
  for (int i = 0; i < kernel->functions.count; i++)
    fold_function(&f, kernel->functions.items[i]->body);
  ir_drop_tables(kernel);
  return true;
}
