/* vectorise.c - rewrites bodies for which `lanes` has chosen lanes into ops of these lanes.
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
 * 0; SPLAT and STEP make lanes of them where they are needed. `lanes` chooses only bodies that can
 * be rewritten as a whole (lanes_cost.c). Decision D-pass-70. */
#include "pass/rewrite.h"
#include "pass/vector/lanes.h"
#include "pass/vector/vectorise.h"

static bool diverges(const Vectoriser *v, const IrInst *inst) {
  return v->facts[inst->id].diverges;
}

/* -- values ------------------------------------------------------------------------------------ */

static Type lanes_of_type(const Vectoriser *v, Type type) { return ir_lanes_type(type, v->width); }

/* A copy with other operands, at the end of the region being written. */
IrInst *vectorise_copy(Vectoriser *v, const IrInst *inst, Type type, IrInst *const *operands) {
  IrInst *copy = ir_copy_alone(v->kernel, inst);
  copy->type = type;
  ir_set_operands(v->kernel, copy, inst->operand_count, operands);
  ir_region_append(v->b.region, copy);
  return copy;
}

/* Records what the inst was rewritten to, until the region that is being written ends. */
static IrInst *map_in_region(Vectoriser *v, IrMap *map, const IrInst *inst, IrInst *made) {
  vec_push(v->scratch, &v->made, inst);
  ir_map_put(map, inst, made);
  return made;
}

/* The scalar of a value that does not vary: the number of all lanes, or that of lane 0. Constants
 * are written where they are used. */
IrInst *vectorise_scalar(Vectoriser *v, const IrInst *inst) {
  ASSERT(inst->id < v->known && vectorise_shape(v, inst) != LANE_VARYING,
         "a scalar of the old body");
  IrInst *known = ir_mapped(v->scalar, inst);
  if (!known && inst->op == IR_CONST)
    known = map_in_region(v, v->scalar, inst, vectorise_copy(v, inst, inst->type, NULL));
  ASSERT(known, "a value is written before its users");
  return known;
}

static IrInst *make_lanes(Vectoriser *v, const IrInst *inst) {
  if (inst->op == IR_CONST) return vectorise_copy(v, inst, lanes_of_type(v, inst->type), NULL);
  IrInst *base = vectorise_scalar(v, inst);
  return vectorise_shape(v, inst) == LANE_UNIFORM
             ? ir_splat(&v->b, base, v->width)
             : ir_step(&v->b, base, v->width, v->facts[inst->id].step);
}

IrInst *vectorise_lanes(Vectoriser *v, const IrInst *inst) {
  ASSERT(inst->id < v->known, "a value of the old body");
  IrInst *known = ir_mapped(v->lanes, inst);
  if (known) return known;
  ASSERT(vectorise_shape(v, inst) != LANE_VARYING, "a value is written before its users");
  return map_in_region(v, v->lanes, inst, make_lanes(v, inst));
}

/* The scalar if it is the same in all lanes. */
IrInst *vectorise_shared(Vectoriser *v, const IrInst *inst) {
  return vectorise_shape(v, inst) == LANE_UNIFORM ? vectorise_scalar(v, inst)
                                                  : vectorise_lanes(v, inst);
}

IrInst *vectorise_all(Vectoriser *v, bool all) {
  return ir_const_int(&v->b, lanes_of_type(v, TYPE(BOOL)), all);
}

static bool is_none(const IrInst *mask) {
  int64_t value;
  return ir_is_const(mask, &value) && !value;
}

/* -- values of insts --------------------------------------------------------------------------- */

void vectorise_copy_scalar(Vectoriser *v, const IrInst *inst) {
  IrInst **operands = scratch_array(v->scratch, IrInst *, inst->operand_count);
  for (int i = 0; i < inst->operand_count; i++)
    operands[i] = vectorise_scalar(v, inst->operands[i]);
  ir_map_put(v->scalar, inst, vectorise_copy(v, inst, inst->type, operands));
}

static bool may_be_shared(const IrInst *inst, int operand) {
  if (inst->op == IR_FLOORDIV || inst->op == IR_MOD) return operand == 1;
  return inst->op == IR_OFFSET || (inst->op == IR_SELECT && operand == 0);
}

static void write_first(Vectoriser *v, const IrInst *inst) {
  ir_map_put(v->scalar, inst, vectorise_scalar(v, inst->operands[0]));
}

enum { MOST_NARROWED = 4 }; /* operations one after the other */

/* Is the value, of 64 bits, computed by operations whose low 32 bits depend only on those of their
 * operands? */
static bool computes_low_bits(const IrInst *value) {
  return value->op == IR_ADD || value->op == IR_SUB || value->op == IR_MUL || value->op == IR_BOR;
}

static bool is_narrow_as_it_is(const Vectoriser *v, const IrInst *value) {
  return type_bits(value->type) <= 32 || vectorise_shape(v, value) == LANE_UNIFORM;
}

/* Is the integer computed from numbers of 32 bits and uniform ones? */
static bool may_be_narrow(const Vectoriser *v, const IrInst *value, int depth) {
  if (is_narrow_as_it_is(v, value)) return true;
  if (value->op == IR_CONVERT && type_is_integer(value->operands[0]->type))
    return type_bits(value->operands[0]->type) <= 32;
  return computes_low_bits(value) && depth < MOST_NARROWED &&
         may_be_narrow(v, value->operands[0], depth + 1) &&
         may_be_narrow(v, value->operands[1], depth + 1);
}

/* Is it an address in a tree's root container of less than 2 GiB? */
static bool is_narrow_offset(const Vectoriser *v, const IrInst *inst) {
  if (inst->op != IR_OFFSET || inst->operands[0]->op != IR_TREE_ROOT) return false;
  if (!may_be_narrow(v, inst->operands[1], 0)) return false;
  const SNodeTree *tree = v->kernel->trees.items[inst->operands[0]->imm].tree;
  return tree && inst->imm >= 0 && inst->imm <= INT32_MAX &&
         tree->root_size <= (uint64_t)(INT32_MAX - inst->imm);
}

/* The low 32 bits, computed from those of the numbers that it is computed from. */
static IrInst *write_narrow(Vectoriser *v, const IrInst *value) {
  bool is_leaf = is_narrow_as_it_is(v, value);
  if (!is_leaf && computes_low_bits(value))
    return ir_binary(&v->b, value->op, write_narrow(v, value->operands[0]),
                     write_narrow(v, value->operands[1]));
  const IrInst *source = is_leaf ? value : value->operands[0]; /* of the CONVERT */
  return ir_convert(&v->b, vectorise_lanes(v, source), lanes_of_type(v, TYPE(I32)));
}

static void write_pure(Vectoriser *v, const IrInst *inst) {
  if (inst->op == IR_CONST) return;
  if (vectorise_shape(v, inst) != LANE_VARYING) return vectorise_copy_scalar(v, inst);
  IrInst **operands = scratch_array(v->scratch, IrInst *, inst->operand_count);
  for (int i = 0; i < inst->operand_count; i++)
    operands[i] = may_be_shared(inst, i) ? vectorise_shared(v, inst->operands[i])
                                         : vectorise_lanes(v, inst->operands[i]);
  bool is_narrow = is_narrow_offset(v, inst);
  if (is_narrow) operands[1] = write_narrow(v, inst->operands[1]);
  IrInst *made = vectorise_copy(v, inst, lanes_of_type(v, inst->type), operands);
  made->narrow = is_narrow;
  ir_map_put(v->lanes, inst, made);
}

/* Lanes if the inst varies, else the scalar. */
static IrInst *rewritten(Vectoriser *v, const IrInst *inst) {
  return vectorise_shape(v, inst) == LANE_VARYING ? vectorise_lanes(v, inst)
                                                  : vectorise_scalar(v, inst);
}

static void put_rewritten(Vectoriser *v, const IrInst *inst, IrInst *made) {
  ir_map_put(vectorise_shape(v, inst) == LANE_VARYING ? v->lanes : v->scalar, inst, made);
}

static void write_var(Vectoriser *v, const IrInst *var) {
  bool varies = vectorise_shape(v, var) == LANE_VARYING;
  Type type = varies ? lanes_of_type(v, var->type) : var->type;
  put_rewritten(v, var, vectorise_copy(v, var, type, NULL));
}

static void write_get(Vectoriser *v, const IrInst *get) {
  IrInst *var = rewritten(v, get->operands[0]);
  put_rewritten(v, get, vectorise_copy(v, get, var->type, &var));
}

/* Lanes add to the variable in the order of iterations; adding -0, or subtracting 0, changes no
 * number, so inactive ones do that. */
static void add_in_order(Vectoriser *v, const IrInst *set) {
  const IrInst *sum = set->operands[1];
  IrInst *var = rewritten(v, set->operands[0]), *total = ir_get(&v->b, var);
  IrInst *terms = vectorise_lanes(v, sum->operands[!ir_lanes_sum_so_far(set)]);
  IrInst *none = sum->op == IR_ADD ? ir_identity(&v->b, IR_UPDATE_ADD, terms->type)
                                   : ir_const_float(&v->b, terms->type, 0);
  terms = ir_select(&v->b, v->mask, terms, none);
  for (int k = 0; k < v->width; k++)
    total = ir_binary(&v->b, sum->op, total,
                      ir_lane_get(&v->b, terms, ir_const_int(&v->b, TYPE(U64), k)));
  ir_set(&v->b, var, total);
}

/* If fewer lanes run than at the variable's declaration, the others keep its value. */
static void write_set(Vectoriser *v, const IrInst *set) {
  const IrInst *old = set->operands[0];
  if (v->reduces && ir_lanes_add_in_order(v->kernel, v->body, set)) return add_in_order(v, set);
  IrInst *var = rewritten(v, old);
  bool varies = vectorise_shape(v, old) == LANE_VARYING;
  IrInst *value =
      varies ? vectorise_lanes(v, set->operands[1]) : vectorise_scalar(v, set->operands[1]);
  if (varies && diverges(v, set)) value = ir_select(&v->b, v->mask, value, ir_get(&v->b, var));
  vectorise_copy(v, set, set->type, (IrInst *[]){var, value});
}

/* An array that differs by lane has one number per lane at every index. */
static void write_local_get(Vectoriser *v, const IrInst *get) {
  const IrInst *array = get->operands[0], *index = get->operands[1];
  if (vectorise_shape(v, get) != LANE_VARYING) return vectorise_copy_scalar(v, get);
  IrInst *operands[] = {rewritten(v, array), vectorise_shared(v, index)};
  ir_map_put(v->lanes, get, vectorise_copy(v, get, lanes_of_type(v, get->type), operands));
}

/* Inactive lanes write nothing: the index -1 is out of bounds. */
static void write_local_set(Vectoriser *v, const IrInst *set) {
  const IrInst *array = set->operands[0], *index = set->operands[1];
  if (vectorise_shape(v, array) != LANE_VARYING) return vectorise_copy_scalar(v, set);
  IrInst *to = rewritten(v, array), *at = vectorise_shared(v, index),
         *value = vectorise_lanes(v, set->operands[2]);
  bool is_partial = diverges(v, set), is_shared = vectorise_shape(v, index) == LANE_UNIFORM;
  if (is_partial && is_shared)
    value = ir_select(&v->b, v->mask, value, ir_local_get(&v->b, to, at));
  if (is_partial && !is_shared && type_bits(at->type) < 32) /* 255 may be inside */
    at = ir_convert(&v->b, at, lanes_of_type(v, TYPE(I32)));
  if (is_partial && !is_shared)
    at = ir_select(&v->b, v->mask, at, ir_const_int(&v->b, at->type, -1));
  IrInst *copy = vectorise_copy(v, set, set->type, (IrInst *[]){to, at, value});
  copy->in_bounds &= !is_partial;
}

/* In a body with masks, the cells whose bit is clear are not active. */
static void write_row_active(Vectoriser *v, const IrInst *active) {
  ir_map_put(v->scalar, active, ir_const_int(&v->b, active->type, 1));
}

/* -- reductions -------------------------------------------------------------------------------- */

static void write_reduce(Vectoriser *v, const IrInst *reduce) {
  const IrInst *value = reduce->operands[1];
  if (v->found) return vectorise_count(v, reduce);
  IrInst *lanes = vectorise_lanes(v, value);
  IrInst *none = ir_identity(&v->b, (IrUpdate)reduce->imm, lanes->type);
  lanes = ir_select(&v->b, v->mask, lanes, none);
  IrInst *operands[] = {vectorise_scalar(v, reduce->operands[0]), lanes};
  vectorise_copy(v, reduce, reduce->type, operands);
}

/* -- regions ----------------------------------------------------------------------------------- */

bool vectorise_ends_with_exit(const IrRegion *region) {
  return region->last && ir_op_info[region->last->op].flags & IR_EXIT;
}

VectorScope vectorise_enter(Vectoriser *v, IrRegion *region) {
  VectorScope scope = {v->b.region, v->made.count};
  v->b.region = region;
  return scope;
}

VectorScope vectorise_enter_if(Vectoriser *v, IrInst *condition) {
  return vectorise_enter(v, ir_if(&v->b, condition)->regions[0]);
}

void vectorise_end(Vectoriser *v, VectorScope scope) {
  ASSERT(scope.made <= v->made.count, "entries are forgotten in turn");
  for (; v->made.count > scope.made; v->made.count--) {
    const IrInst *inst = vec_last(&v->made), *scalar = ir_mapped(v->scalar, inst);
    ir_map_put(v->lanes, inst, NULL);
    if (scalar && scalar->op == IR_CONST) ir_map_put(v->scalar, inst, NULL);
  }
  v->b.region = scope.outside;
}

/* Writes the insts from `first` on into a region; values made there are forgotten at its end. If
 * `end_mask` is a variable, it receives the mask at the end. */
static void write_region(Vectoriser *v, IrRegion *region, const IrInst *first, IrInst *end_mask) {
  bool needs_mask = v->needs_mask;
  VectorScope scope = vectorise_enter(v, region);
  v->needs_mask = end_mask != NULL;
  vectorise_rest(v, first);
  v->needs_mask = needs_mask;
  if (end_mask && !vectorise_ends_with_exit(region)) ir_set(&v->b, end_mask, v->mask);
  vectorise_end(v, scope);
}

/* A variable with the current mask, for code after which fewer lanes may be active; else NULL. */
static IrInst *make_mask_variable(Vectoriser *v, bool loses_lanes) {
  return loses_lanes ? ir_variable(&v->b, v->mask) : NULL;
}

/* The insts from `first` on, if any lane is active. */
static void write_guarded(Vectoriser *v, const IrInst *first, bool loses_lanes) {
  IrInst *before = v->mask, *end_mask = make_mask_variable(v, loses_lanes);
  IrInst *guard = ir_if(&v->b, ir_unary(&v->b, IR_MASK_ANY, v->mask));
  write_region(v, guard->regions[0], first, end_mask);
  v->mask = end_mask ? ir_get(&v->b, end_mask) : before;
}

enum { MOST_COPIED = 200 }; /* most insts of an arm that is copied for the case of all lanes */

/* Is a copy of the arm for the case that all lanes are active worth it? There, adjacent elements
 * need no mask, and few updates are unrolled. In most `if`s that keep indices in bounds, all
 * lanes are active. */
static bool count_gain(const Vectoriser *v, const IrRegion *region, int *insts, int *accesses) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_access = inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE;
    *accesses += is_access && vectorise_shape(v, inst->operands[0]) == LANE_LINEAR &&
                 !vectorise_is_whole(v, inst);
    *accesses += inst->op == IR_MEM_UPDATE && inst->nonatomic && v->has_few_updates;
    if (++*insts > MOST_COPIED) return false;
    for (int i = 0; i < IR_MAX_REGIONS - inst->per_lane; i++)
      if (inst->regions[i] && !count_gain(v, inst->regions[i], insts, accesses)) return false;
  }
  return true;
}

static bool gains_without_mask(const Vectoriser *v, const IrRegion *arm) {
  int insts = 0, accesses = 0;
  return !v->all_active && count_gain(v, arm, &insts, &accesses) && accesses;
}

static void write_masked_and_unmasked(Vectoriser *v, const IrRegion *arm, bool loses_lanes) {
  IrInst *before = v->mask, *end_mask = make_mask_variable(v, loses_lanes);
  IrInst *some = ir_if(&v->b, ir_unary(&v->b, IR_MASK_ANY, ir_unary(&v->b, IR_BNOT, before)));
  VectorScope scope = vectorise_enter(v, some->regions[0]);
  IrInst *any = ir_if(&v->b, ir_unary(&v->b, IR_MASK_ANY, before));
  write_region(v, any->regions[0], arm->first, end_mask);
  vectorise_end(v, scope);
  vectorise_enter(v, some->regions[1]);
  v->mask = vectorise_all(v, true);
  v->all_active = true;
  write_region(v, some->regions[1], arm->first, end_mask);
  v->all_active = false;
  vectorise_end(v, scope);
  v->mask = end_mask ? ir_get(&v->b, end_mask) : before;
}

/* Writes an arm, or the rest of a region, for the lanes of `mask`; returns the mask at its end. */
static IrInst *write_arm(Vectoriser *v, const IrRegion *arm, IrInst *mask, bool loses_lanes) {
  bool needs_mask = v->needs_mask;
  v->mask = mask;
  if (!arm->first) return mask;
  v->needs_mask = loses_lanes;
  if (v->is_whole || ir_lanes_is_cheap(v->facts, arm->first)) vectorise_rest(v, arm->first);
  else if (gains_without_mask(v, arm)) write_masked_and_unmasked(v, arm, loses_lanes);
  else write_guarded(v, arm->first, loses_lanes);
  v->needs_mask = needs_mask;
  return v->mask;
}

static void write_if_varying(Vectoriser *v, const IrInst *inst) {
  IrInst *before = v->mask, *condition = vectorise_lanes(v, inst->operands[0]);
  bool loses_lanes = v->facts[inst->id].loses_lanes;
  IrInst *yes =
      write_arm(v, inst->regions[0], ir_binary(&v->b, IR_MASK_AND, before, condition), loses_lanes);
  IrInst *no = NULL;
  if (loses_lanes || inst->regions[1]->first) {
    IrInst *other = ir_binary(&v->b, IR_MASK_AND, before, ir_unary(&v->b, IR_BNOT, condition));
    no = write_arm(v, inst->regions[1], other, loses_lanes);
  }
  v->mask = !loses_lanes   ? before
            : is_none(yes) ? no
            : is_none(no)  ? yes
                           : ir_binary(&v->b, IR_BOR, yes, no);
}

/* In the iterations that become lanes, the condition holds. */
static void write_alternate(Vectoriser *v, const IrInst *inst) {
  vectorise_copy_scalar(v, inst);
  ir_map_put(v->scalar, inst->operands[0], ir_const_int(&v->b, TYPE(BOOL), 1));
}

static void write_if_uniform(Vectoriser *v, const IrInst *inst) {
  int64_t is_sure;
  if (!v->facts[inst->id].loses_lanes &&
      ir_is_const(vectorise_scalar(v, inst->operands[0]), &is_sure) && is_sure)
    return vectorise_rest(v, inst->regions[0]->first);
  IrInst *before = v->mask, *end_mask = make_mask_variable(v, v->facts[inst->id].loses_lanes);
  IrInst *copy = ir_if(&v->b, vectorise_scalar(v, inst->operands[0]));
  for (int i = 0; i < 2; i++) {
    v->mask = before;
    write_region(v, copy->regions[i], inst->regions[i]->first, end_mask);
  }
  v->mask = end_mask ? ir_get(&v->b, end_mask) : before;
}

static void write_inst(Vectoriser *v, const IrInst *inst) {
  v->b.line = inst->line;
  v->b.column = inst->column;
  switch (inst->op) {
  case IR_VAR:
  case IR_LOCAL_ARRAY: return write_var(v, inst);
  case IR_LOCAL_GET: return write_local_get(v, inst);
  case IR_LOCAL_SET: return write_local_set(v, inst);
  case IR_GET: return write_get(v, inst);
  case IR_SET: return write_set(v, inst);
  case IR_MEM_LOAD:
  case IR_MEM_STORE: return vectorise_access(v, inst);
  case IR_ALTERNATE: return write_alternate(v, inst);
  case IR_LANE_FIRST: return write_first(v, inst);
  case IR_IF:
    if (inst->compacts) return vectorise_find(v, inst);
    if (vectorise_shape(v, inst->operands[0]) == LANE_UNIFORM) return write_if_uniform(v, inst);
    return write_if_varying(v, inst);
  case IR_LOOP:
  case IR_FOR:
  case IR_BITS: return vectorise_loop(v, inst);
  case IR_BREAK:
  case IR_CONTINUE: return vectorise_exit(v, inst);
  case IR_TABLE_GET: return vectorise_item(v, inst);
  case IR_DIV_ROOT:
  case IR_DIV_CUBE:
    if (!vectorise_quotient(v, inst)) write_pure(v, inst);
    return;
  case IR_MEM_UPDATE: return vectorise_update(v, inst);
  case IR_REDUCE: return write_reduce(v, inst);
  case IR_MEM_RMW:
  case IR_MEM_CAS: return vectorise_each(v, inst);
  case IR_CALL: return vectorise_call(v, inst);
  case IR_FAULT: return vectorise_fault(v, inst);
  case IR_ROW_LOAD: return vectorise_row_load(v, inst);
  case IR_ROW_ACTIVE: return write_row_active(v, inst);
  default:
    ASSERT(ir_effects(inst) & IR_PURE, "an inst with another effect has its own case");
    write_pure(v, inst);
  }
}

/* If lanes may have left, the following insts are skipped when no lane remains. */
void vectorise_rest(Vectoriser *v, const IrInst *first) {
  for (const IrInst *inst = first; inst; inst = inst->next) {
    write_inst(v, inst);
    if (v->facts[inst->id].loses_lanes && !ir_lanes_is_cheap(v->facts, inst->next))
      return write_guarded(v, inst->next, v->needs_mask);
  }
}

/* -- bodies ------------------------------------------------------------------------------------ */

/* The new region of `owner` has the parameters of the old one, and the mask. */
static void open_region(Vectoriser *v, IrInst *owner) {
  v->to = ir_region_create(v->kernel, owner);
  for (int i = 0; i < v->body->params.count; i++) {
    const IrInst *param = v->body->params.items[i];
    bool varies = vectorise_shape(v, param) == LANE_VARYING; /* a node's */
    Type type = varies ? lanes_of_type(v, param->type) : param->type;
    put_rewritten(v, param, ir_region_param(v->kernel, v->to, type));
  }
  v->mask = ir_region_param(v->kernel, v->to, ir_lanes_type(TYPE(BOOL), v->width));
  DEBUG_ASSERT(ir_lanes_mask(v->to) == v->mask, "the mask is the last parameter");
  v->b = rewrite_inside(v->kernel, v->to, NULL);
}

void vectorise_open(Vectoriser *v, Scratch *scratch, IrKernel *kernel, const LaneBody *body,
                    IrInst *owner) {
  *v = (Vectoriser){.scratch = scratch,
                    .kernel = kernel,
                    .body = body->region,
                    .facts = ir_lanes(scratch, kernel, body),
                    .width = body->width,
                    .reduces = body->reduces,
                    .has_few_updates = vectorise_has_few_updates(body->region),
                    .known = kernel->next_id,
                    .scalar = ir_map(scratch, kernel),
                    .lanes = ir_map(scratch, kernel)};
  open_region(v, owner);
  vec_push(v->scratch, &v->frames, (VectorFrame){0});
}

static void vectorise_body(PassContext *ctx, IrKernel *kernel, const IrTask *task,
                           IrRegion **region) {
  LaneBody body = ir_lanes_of_task(task, *region, task->lanes);
  IrInst *branch = compaction_branch(*region);
  if (branch) {
    *region = vectorise_found(ctx->scratch, kernel, &body, branch);
    return;
  }
  Vectoriser v;
  vectorise_open(&v, ctx->scratch, kernel, &body, NULL);
  vectorise_rest(&v, (*region)->first);
  ir_delete_all(*region);
  rewrite_drop_dead(v.to);
  *region = v.to;
}

static void vectorise_task(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  bool is_vectorised = task->lanes > 1;
  IrRegion **bodies[] = {&task->interior, &task->body};
  for (int i = 0; i < 2; i++) {
    bool is_rim = i && task->scalar_border;
    if (is_vectorised && *bodies[i] && !is_rim) vectorise_body(ctx, kernel, task, bodies[i]);
    if (!is_vectorised && *bodies[i]) vectorise_inner(ctx->scratch, kernel, *bodies[i]);
  }
  if (!task->counts) return;
  vectorise_idle(ctx, kernel, task);
  vectorise_task(ctx, kernel, task->counts);
}

bool pass_vectorise(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) vectorise_task(ctx, kernel, kernel->tasks.items[i]);
  (void)err;
  return true;
}
