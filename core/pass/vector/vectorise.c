/* vectorise.c - rewrites bodies for which `lanes` has chosen lanes into IR that says what these do.
 *
 *     body (%i: i32) {                            body (%i: i32, %all: boolx8) {
 *       %a: ptr = offset stride=4 %x, %i            %a: ptr = offset stride=4 %x, %i
 *       %v: f32 = mem.load %a                       %v: f32x8 = lanes.load %a, %all
 *       %c: bool = lt %v, %zero             =>      %c: boolx8 = lt %v, %zeros
 *       if %c {                                     %m: boolx8 = mask.and %all, %c
 *         mem.store %a, %zero                       lanes.store %a, %zeros, %m
 *       }
 *     }                                           }
 *
 * A uniform value stays a scalar, and so does a linear one (ir/lanes.h), which is then that of lane
 * 0; SPLAT and STEP make lanes of them at the place that needs them. A body is rewritten only if all
 * of it can be said (can_say): others are vectorised by code generation, as they are emitted.
 * Decision D-pass-70. */
#include "ir/address.h"
#include "ir/lanes.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct Vectoriser {
  Scratch *scratch;
  IrKernel *kernel;
  const LaneFact *facts; /* by id, of the scalar body */
  int width, known;      /* known: ids of the scalar body are below it */
  /* by id, of what has been rewritten: the scalar, that of lane 0; and the lanes */
  IrInst **scalar, **lanes;
  VEC(int) made; /* ids whose entries above end with the region that is being written */
  IrInst *mask;  /* of the active lanes */
  bool keeps;    /* the mask at the end of what is being written matters */
  bool in_all;   /* in the copy of an arm for the case that all lanes are active */
  IrBuilder b;
} Vectoriser;

static LaneShape shape_of(const Vectoriser *v, const IrInst *inst) {
  return (LaneShape)v->facts[inst->id].shape;
}

static bool diverges(const Vectoriser *v, const IrInst *inst) {
  return v->facts[inst->id].diverges;
}

/* -- what can be said -------------------------------------------------------------------------- */

enum { MOST_LOADS = 64 /* that are compared with each other */, MOST_PARTS = 16 };

typedef struct Survey {
  Scratch *scratch;
  const LaneFact *facts;
  VEC(const IrInst *) loads; /* whose addresses vary */
  bool fails;
} Survey;

static LaneShape surveyed(const Survey *s, const IrInst *inst) {
  return (LaneShape)s->facts[inst->id].shape;
}

/* Would code generation read the element together with that of another load, as numbers of one cell
 * or of a run? */
static bool is_alone(const IrInst *a, const IrInst *b) {
  const IrInst *p = a->operands[0], *q = b->operands[0];
  IrAddress first, second;
  if (p->op == IR_OFFSET && q->op == IR_OFFSET && p->operands[0] == q->operands[0] &&
      p->operands[1] == q->operands[1] && p->stride == q->stride)
    return false;
  return !ir_address(a, &first) || !ir_address(b, &second) ||
         !(ir_address_follows(&first, &second) || ir_address_follows(&second, &first));
}

static bool can_load(Survey *s, const IrInst *load) {
  if (surveyed(s, load->operands[0]) != LANE_VARYING) return true;
  for (int i = 0; i < s->loads.count; i++)
    if (!is_alone(s->loads.items[i], load)) return false;
  return s->loads.count < MOST_LOADS;
}

/* Is the element one of several numbers in a cell, with the cells of the lanes side by side? */
static bool is_strided(const Survey *s, const IrInst *address, Type type) {
  const LaneFact *fact = &s->facts[address->id];
  int64_t size = type_size(type), parts = fact->step / size;
  return fact->shape == LANE_LINEAR && fact->step % size == 0 && parts >= 2 && parts <= MOST_PARTS;
}

static bool is_said(Survey *s, const IrInst *inst) {
  switch (inst->op) {
  case IR_VAR: return !inst->owns;
  case IR_GET:
  case IR_SET:
  case IR_IF:
  case IR_CONTINUE: return true;
  case IR_MEM_LOAD:
    return inst->lanes <= 1 && !is_strided(s, inst->operands[0], inst->type) && can_load(s, inst);
  case IR_MEM_STORE:
    return inst->lanes <= 1 && !is_strided(s, inst->operands[0], inst->operands[1]->type);
  case IR_ITEM:
  case IR_PRIVATE_COPY: return surveyed(s, inst) != LANE_VARYING;
  case IR_LANE:
  case IR_CURSOR:
  case IR_TOLD: return false;
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

static bool survey(void *data, IrInst *inst) {
  Survey *s = data;
  s->fails = !is_said(s, inst);
  if (inst->op == IR_MEM_LOAD && surveyed(s, inst->operands[0]) == LANE_VARYING)
    vec_push(s->scratch, &s->loads, inst);
  return !s->fails;
}

/* -- values ------------------------------------------------------------------------------------ */

static IrInst *emit(Vectoriser *v, IrOp op, Type type, int count, IrInst *const *operands) {
  return ir_emit(&v->b, op, type, count, operands);
}

static Type lanes_of_type(const Vectoriser *v, Type type) { return ir_lanes_type(type, v->width); }

/* A copy with other operands, at the end of what is written. */
static IrInst *write(Vectoriser *v, const IrInst *inst, Type type, IrInst *const *operands) {
  IrInst *copy = ir_copy_alone(v->kernel, inst);
  copy->type = type;
  ir_set_operands(v->kernel, copy, inst->operand_count, operands);
  ir_region_append(v->b.region, copy);
  return copy;
}

/* The scalar of a value that does not vary: the number of all lanes, or that of lane 0. Constants
 * are written where they are used. */
static IrInst *scalar_of(Vectoriser *v, const IrInst *inst) {
  ASSERT(inst->id < v->known && shape_of(v, inst) != LANE_VARYING, "a scalar of the old body");
  IrInst **known = &v->scalar[inst->id];
  if (!*known && inst->op == IR_CONST) {
    *known = write(v, inst, inst->type, NULL);
    vec_push(v->scratch, &v->made, inst->id);
  }
  ASSERT(*known, "a value is written before its users");
  return *known;
}

static IrInst *make_lanes(Vectoriser *v, const IrInst *inst) {
  Type type = lanes_of_type(v, inst->type);
  if (inst->op == IR_CONST) return write(v, inst, type, NULL);
  IrInst *base = scalar_of(v, inst);
  if (shape_of(v, inst) == LANE_UNIFORM) return emit(v, IR_SPLAT, type, 1, &base);
  IrInst *step = emit(v, IR_STEP, type, 1, &base);
  step->imm = v->facts[inst->id].step;
  return step;
}

static IrInst *lanes_of(Vectoriser *v, const IrInst *inst) {
  ASSERT(inst->id < v->known, "a value of the old body");
  IrInst **known = &v->lanes[inst->id];
  if (*known) return *known;
  ASSERT(shape_of(v, inst) != LANE_VARYING, "a value is written before its users");
  *known = make_lanes(v, inst);
  vec_push(v->scratch, &v->made, inst->id);
  return *known;
}

/* The scalar if it is the same in all lanes. */
static IrInst *shared_or_lanes(Vectoriser *v, const IrInst *inst) {
  return shape_of(v, inst) == LANE_UNIFORM ? scalar_of(v, inst) : lanes_of(v, inst);
}

static IrInst *mask_const(Vectoriser *v, bool all) {
  return ir_const_int(&v->b, lanes_of_type(v, TYPE(BOOL)), all);
}

static bool is_none(const IrInst *mask) {
  int64_t value;
  return ir_is_const(mask, &value) && !value;
}

static IrInst *mask_or(Vectoriser *v, IrInst *a, IrInst *b) {
  return ir_binary(&v->b, IR_BOR, a, b);
}

static IrInst *mask_and(Vectoriser *v, IrInst *mask, IrInst *condition) {
  IrInst *operands[] = {mask, condition};
  return emit(v, IR_MASK_AND, mask->type, 2, operands);
}

static IrInst *mask_any(Vectoriser *v, IrInst *mask) {
  return emit(v, IR_MASK_ANY, TYPE(BOOL), 1, &mask);
}

/* -- values of insts --------------------------------------------------------------------------- */

static void write_scalar(Vectoriser *v, const IrInst *inst) {
  IrInst **operands = scratch_array(v->scratch, IrInst *, inst->operand_count);
  for (int i = 0; i < inst->operand_count; i++) operands[i] = scalar_of(v, inst->operands[i]);
  v->scalar[inst->id] = write(v, inst, inst->type, operands);
}

static bool may_be_shared(const IrInst *inst, int operand) {
  if (inst->op == IR_FLOORDIV || inst->op == IR_MOD) return operand == 1;
  return inst->op == IR_OFFSET || (inst->op == IR_SELECT && operand == 0);
}

static void write_pure(Vectoriser *v, const IrInst *inst) {
  if (inst->op == IR_CONST) return;
  if (shape_of(v, inst) != LANE_VARYING) return write_scalar(v, inst);
  IrInst **operands = scratch_array(v->scratch, IrInst *, inst->operand_count);
  for (int i = 0; i < inst->operand_count; i++)
    operands[i] = may_be_shared(inst, i) ? shared_or_lanes(v, inst->operands[i])
                                         : lanes_of(v, inst->operands[i]);
  v->lanes[inst->id] = write(v, inst, lanes_of_type(v, inst->type), operands);
}

static void write_var(Vectoriser *v, const IrInst *var) {
  bool varies = shape_of(v, var) == LANE_VARYING;
  IrInst **entry = varies ? &v->lanes[var->id] : &v->scalar[var->id];
  *entry = write(v, var, varies ? lanes_of_type(v, var->type) : var->type, NULL);
}

static IrInst *var_of(Vectoriser *v, const IrInst *var) {
  return shape_of(v, var) == LANE_VARYING ? lanes_of(v, var) : scalar_of(v, var);
}

static void write_get(Vectoriser *v, const IrInst *get) {
  IrInst *var = var_of(v, get->operands[0]), *value = write(v, get, var->type, &var);
  if (shape_of(v, get) == LANE_VARYING) v->lanes[get->id] = value;
  else v->scalar[get->id] = value;
}

/* Where fewer lanes run than at the variable's declaration, the others keep its value. */
static void write_set(Vectoriser *v, const IrInst *set) {
  const IrInst *old = set->operands[0];
  IrInst *var = var_of(v, old);
  bool varies = shape_of(v, old) == LANE_VARYING;
  IrInst *value = varies ? lanes_of(v, set->operands[1]) : scalar_of(v, set->operands[1]);
  if (varies && diverges(v, set)) value = ir_select(&v->b, v->mask, value, ir_get(&v->b, var));
  write(v, set, set->type, (IrInst *[]){var, value});
}

/* -- memory ------------------------------------------------------------------------------------ */

/* The address of lane 0 if the elements are adjacent; else those of all lanes. */
static IrInst *place_of(Vectoriser *v, const IrInst *address, Type type) {
  const LaneFact *fact = &v->facts[address->id];
  bool is_run = fact->shape == LANE_LINEAR && fact->step == type_size(type);
  return is_run ? scalar_of(v, address) : lanes_of(v, address);
}

static void write_load(Vectoriser *v, const IrInst *load) {
  const IrInst *address = load->operands[0];
  if (shape_of(v, address) == LANE_UNIFORM) return write_scalar(v, load);
  IrInst *operands[] = {place_of(v, address, load->type), v->mask};
  IrInst *lanes = emit(v, IR_LANES_LOAD, lanes_of_type(v, load->type), 2, operands);
  lanes->alias = load->alias;
  v->lanes[load->id] = lanes;
}

/* Of lanes that all write one element the last one wins, as it would in their order. */
static void write_last(Vectoriser *v, const IrInst *store) {
  IrInst *value;
  if (shape_of(v, store->operands[1]) == LANE_UNIFORM) {
    value = scalar_of(v, store->operands[1]);
  } else {
    IrInst *bits = emit(v, IR_MASK_BITS, TYPE(U64), 1, &v->mask);
    IrInst *above = ir_unary(&v->b, IR_CLZ, bits);
    IrInst *last = ir_binary(&v->b, IR_SUB, ir_const_int(&v->b, TYPE(U64), 63), above);
    IrInst *operands[] = {lanes_of(v, store->operands[1]), last};
    value = emit(v, IR_LANE_GET, store->operands[1]->type, 2, operands);
  }
  write(v, store, store->type, (IrInst *[]){scalar_of(v, store->operands[0]), value});
}

static void write_store(Vectoriser *v, const IrInst *store) {
  const IrInst *address = store->operands[0], *value = store->operands[1];
  if (shape_of(v, address) == LANE_UNIFORM) return write_last(v, store);
  IrInst *place = place_of(v, address, value->type);
  IrInst *operands[] = {place, lanes_of(v, value), v->mask};
  IrInst *lanes = emit(v, IR_LANES_STORE, TYPE(NONE), 3, operands);
  lanes->alias = store->alias;
  lanes->streams = store->streams;
}

/* -- regions ----------------------------------------------------------------------------------- */

static void write_rest(Vectoriser *v, const IrInst *first);

/* Writes the insts from `first` on into a region; lanes made there are forgotten at its end. If
 * `left` is a variable, it receives the mask at the end. */
static void write_into(Vectoriser *v, IrRegion *region, const IrInst *first, IrInst *left) {
  int made = v->made.count;
  bool keeps = v->keeps;
  IrRegion *outside = v->b.region;
  v->b.region = region;
  v->keeps = left != NULL;
  write_rest(v, first);
  v->keeps = keeps;
  bool is_left = region->last && ir_op_info[region->last->op].flags & IR_EXIT;
  if (left && !is_left) ir_set(&v->b, left, v->mask);
  v->b.region = outside;
  for (; v->made.count > made; v->made.count--) {
    int id = v->made.items[v->made.count - 1];
    v->lanes[id] = NULL;
    if (v->scalar[id] && v->scalar[id]->op == IR_CONST) v->scalar[id] = NULL;
  }
}

/* A variable that has the mask now, for what may leave fewer lanes active; else NULL. */
static IrInst *mask_variable(Vectoriser *v, bool thins) {
  if (!thins) return NULL;
  IrInst *variable = ir_var(&v->b, v->mask->type);
  ir_set(&v->b, variable, v->mask);
  return variable;
}

/* The insts from `first` on, if any lane is active. */
static void write_guarded(Vectoriser *v, const IrInst *first, bool thins) {
  IrInst *before = v->mask, *left = mask_variable(v, thins);
  IrInst *guard = ir_if(&v->b, mask_any(v, v->mask));
  write_into(v, guard->regions[0], first, left);
  v->mask = left ? ir_get(&v->b, left) : before;
}

enum { MOST_COPIED = 200 }; /* most insts of an arm that is copied for the case of all lanes */

/* Is a copy of the arm for the case that all lanes are active worth it? There, adjacent elements
 * need no mask. In most `if`s that keep indices inside, all lanes are active. */
static bool note_gain(const Vectoriser *v, const IrRegion *region, int *insts, int *accesses) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_access = inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE;
    *accesses += is_access && shape_of(v, inst->operands[0]) == LANE_LINEAR;
    if (++*insts > MOST_COPIED) return false;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i] && !note_gain(v, inst->regions[i], insts, accesses)) return false;
  }
  return true;
}

static bool gains_without_mask(const Vectoriser *v, const IrRegion *arm) {
  int insts = 0, accesses = 0;
  return !v->in_all && note_gain(v, arm, &insts, &accesses) && accesses;
}

static void write_both_ways(Vectoriser *v, const IrRegion *arm, bool thins) {
  IrInst *before = v->mask, *left = mask_variable(v, thins);
  IrInst *some = ir_if(&v->b, mask_any(v, ir_unary(&v->b, IR_BNOT, before)));
  IrRegion *outside = v->b.region;
  v->b.region = some->regions[0];
  IrInst *any = ir_if(&v->b, mask_any(v, before));
  write_into(v, any->regions[0], arm->first, left);
  v->b.region = some->regions[1];
  v->mask = mask_const(v, true);
  v->in_all = true;
  write_into(v, some->regions[1], arm->first, left);
  v->in_all = false;
  v->b.region = outside;
  v->mask = left ? ir_get(&v->b, left) : before;
}

/* Writes an arm, or the rest of a region, for the lanes of `mask`; returns the mask at its end. */
static IrInst *write_arm(Vectoriser *v, const IrRegion *arm, IrInst *mask, bool thins) {
  bool keeps = v->keeps;
  v->mask = mask;
  if (!arm->first) return mask;
  v->keeps = thins;
  if (ir_lanes_is_light(v->facts, arm->first)) write_rest(v, arm->first);
  else if (gains_without_mask(v, arm)) write_both_ways(v, arm, thins);
  else write_guarded(v, arm->first, thins);
  v->keeps = keeps;
  return v->mask;
}

static void write_if_varying(Vectoriser *v, const IrInst *inst) {
  IrInst *before = v->mask, *condition = lanes_of(v, inst->operands[0]);
  bool thins = v->facts[inst->id].thins;
  IrInst *yes = write_arm(v, inst->regions[0], mask_and(v, before, condition), thins);
  IrInst *no = NULL;
  if (thins || inst->regions[1]->first) {
    IrInst *other = mask_and(v, before, ir_unary(&v->b, IR_BNOT, condition));
    no = write_arm(v, inst->regions[1], other, thins);
  }
  v->mask = !thins ? before : is_none(yes) ? no : is_none(no) ? yes : mask_or(v, yes, no);
}

static void write_if_uniform(Vectoriser *v, const IrInst *inst) {
  IrInst *before = v->mask, *left = mask_variable(v, v->facts[inst->id].thins);
  IrInst *copy = ir_if(&v->b, scalar_of(v, inst->operands[0]));
  for (int i = 0; i < 2; i++) {
    v->mask = before;
    write_into(v, copy->regions[i], inst->regions[i]->first, left);
  }
  v->mask = left ? ir_get(&v->b, left) : before;
}

/* An exit that only some of the lanes take ends their part in the iteration. */
static void write_exit(Vectoriser *v, const IrInst *inst) {
  if (!diverges(v, inst)) write_scalar(v, inst);
  else v->mask = mask_const(v, false);
}

static void write_inst(Vectoriser *v, const IrInst *inst) {
  v->b.line = inst->line;
  v->b.column = inst->column;
  switch (inst->op) {
  case IR_VAR: return write_var(v, inst);
  case IR_GET: return write_get(v, inst);
  case IR_SET: return write_set(v, inst);
  case IR_MEM_LOAD: return write_load(v, inst);
  case IR_MEM_STORE: return write_store(v, inst);
  case IR_IF:
    if (shape_of(v, inst->operands[0]) == LANE_UNIFORM) return write_if_uniform(v, inst);
    return write_if_varying(v, inst);
  case IR_CONTINUE: return write_exit(v, inst);
  default:
    ASSERT(ir_effects(inst) & IR_PURE, "what has another effect has its own case");
    write_pure(v, inst);
  }
}

/* After lanes may have left, the rest is skipped if none remains. */
static void write_rest(Vectoriser *v, const IrInst *first) {
  for (const IrInst *inst = first; inst; inst = inst->next) {
    write_inst(v, inst);
    if (v->facts[inst->id].thins && !ir_lanes_is_light(v->facts, inst->next))
      return write_guarded(v, inst->next, v->keeps);
  }
}

/* -- bodies ------------------------------------------------------------------------------------ */

static bool can_say(PassContext *ctx, const LaneBody *body, const LaneFact *facts) {
  Survey s = {.facts = facts, .scratch = ctx->scratch};
  ir_walk((IrRegion *)body->region, survey, &s);
  return !s.fails;
}

/* Returns the body in lanes; the body itself if it cannot be said. */
static IrRegion *vectorised(PassContext *ctx, IrKernel *kernel, const IrTask *task,
                            IrRegion *region) {
  LaneBody body = {.region = region, .varying = task->axis_count - 1, .width = task->lanes};
  const LaneFact *facts = ir_lanes(ctx->scratch, kernel, &body);
  if (!can_say(ctx, &body, facts)) return region;
  Vectoriser v = {.scratch = ctx->scratch,
                  .kernel = kernel,
                  .facts = facts,
                  .width = task->lanes,
                  .known = kernel->next_id,
                  .scalar = scratch_array(ctx->scratch, IrInst *, kernel->next_id),
                  .lanes = scratch_array(ctx->scratch, IrInst *, kernel->next_id)};
  IrRegion *to = ir_region_create(kernel, NULL);
  for (int i = 0; i < region->params.count; i++) {
    const IrInst *param = region->params.items[i];
    v.scalar[param->id] = ir_region_param(kernel, to, param->type);
  }
  v.mask = ir_region_param(kernel, to, ir_lanes_type(TYPE(BOOL), task->lanes));
  DEBUG_ASSERT(ir_lanes_mask(to) == v.mask, "the mask is the last parameter");
  v.b = (IrBuilder){.kernel = kernel, .region = to};
  write_rest(&v, region->first);
  ir_delete_all(region);
  return to;
}

bool pass_vectorise(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE || task->lanes <= 1) continue;
    if (!task->rim_scalar) task->body = vectorised(ctx, kernel, task, task->body);
    if (task->interior) task->interior = vectorised(ctx, kernel, task, task->interior);
  }
  (void)err;
  return true;
}
