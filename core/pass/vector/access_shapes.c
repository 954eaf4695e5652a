/* access_shapes.c - decides how the lanes of each vectorised body reach memory, and writes it into
 * the attributes of every access (ir/access.h), which code generation then follows:
 *
 *     %4: ptr = offset stride=12 %2, %i
 *     %5: f32 = mem.load %4               =>   mem.load shape=strided group=1 parts=3 %4
 *     %6: ptr = offset +8 stride=12 %2, %i
 *     %7: f32 = mem.load %6               =>   mem.load shape=strided group=1 part=2 parts=3 %6
 *
 * A loop in a vectorised body that may also run lane by lane (`per_lane`) gets a second body, since
 * its accesses have other shapes there. Nonatomic updates of adjacent elements and of whole cells
 * become load, op and store. Changes no value. Decision D-pass-73. */
#include "base/bits.h"
#include "ir/address.h"
#include "ir/facts.h"
#include "pass/rewrite.h"
#include "pass/vector/access_shapes.h"
#include "pass/vector/lanes.h"

enum { FEWEST_ROWS = 3 }; /* that a stencil reads */

static bool is_access(const IrInst *inst) {
  return inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE || inst->op == IR_MEM_UPDATE;
}

/* -- one access -------------------------------------------------------------------------------- */

static IrShape shape_at(const Shapes *s, const IrInst *inst, IrShape otherwise) {
  const LaneFact *fact = &s->facts[inst->operands[0]->id];
  int64_t size = type_size(ir_element_type(inst)), parts = fact->step / size;
  if (fact->shape == LANE_UNIFORM) return IR_SHAPE_UNIFORM;
  if (fact->shape == LANE_VARYING || fact->step % size || parts < 1) return otherwise;
  return parts == 1 ? IR_SHAPE_RUN : parts <= IR_MAX_PARTS ? IR_SHAPE_STRIDED : otherwise;
}

static IrShape own_shape(const Shapes *s, const IrInst *inst) {
  if (inst->op == IR_MEM_LOAD) return shape_at(s, inst, IR_SHAPE_GATHER);
  IrShape shape = shape_at(s, inst, IR_SHAPE_SCATTER);
  return inst->op == IR_MEM_STORE || shape == IR_SHAPE_UNIFORM ? shape : IR_SHAPE_SCATTER;
}

/* -- loops that may run lane by lane ----------------------------------------------------------- */

/* The loop's bounds differ by lane, so it may run for one lane after the other. */
static void add_lane_body(const Shapes *s, IrInst *loop) {
  loop->per_lane = true;
  loop->regions[1] = ir_copy_region(s->kernel, loop->regions[0], loop, NULL);
}

/* -- nonatomic updates ------------------------------------------------------------------------- */

/* Does the region update the field at no other address? Vectors that overlap would wait for each
 * other's stores, of which no load can take a part. */
static bool is_only_update(const IrInst *update) {
  for (const IrInst *at = update->region->first; at; at = at->next) {
    bool is_other = at->op == IR_MEM_UPDATE && at->operands[0] != update->operands[0];
    if (is_other && ir_may_alias(at, update)) return false;
  }
  return true;
}

bool shapes_cover_cell(const IrInst *access, int64_t step) {
  const IrInst *ptr = access->operands[0];
  int64_t size = type_size(ir_element_type(access)), low = 0; /* low: bytes from this number */
  uint32_t numbers = 0;
  if (step < size || step % size || step / size > IR_MAX_PARTS) return false;
  for (int pass = 0; pass < 2; pass++)
    for (const IrInst *at = access->region->first; at; at = at->next) {
      int64_t bytes;
      if (at->op != access->op || at->nonatomic != access->nonatomic ||
          type_size(ir_element_type(at)) != size ||
          !ir_differ_by_constant(ptr, at->operands[0], &bytes) || bytes % size)
        continue;
      if (!pass) low = min_i64(low, bytes);
      else if (bytes - low < step) numbers |= 1u << (bytes - low) / size;
    }
  return numbers == (1u << step / size) - 1;
}

static bool may_split(const Shapes *s, const IrInst *update) {
  if (update->op != IR_MEM_UPDATE || !update->nonatomic) return false;
  IrShape shape = shape_at(s, update, IR_SHAPE_SCATTER);
  if (shape == IR_SHAPE_RUN) return is_only_update(update);
  return shape == IR_SHAPE_STRIDED && is_only_update(update) &&
         shapes_cover_cell(update, s->facts[update->operands[0]->id].step);
}

/* Load, op and store in place of the update. */
static void split_update(const Shapes *s, IrInst *update) {
  ASSERT(update->nonatomic && !update->group,
         "only plain updates are a load and a store, before they are grouped");
  IrBuilder b = rewrite_before(s->kernel, update);
  IrInst *address = update->operands[0], *by = update->operands[1];
  int32_t alias = update->alias;
  IrInst *old = ir_mem_load(&b, by->type, address);
  IrInst *operands[] = {address, rewrite_update_value(&b, (IrUpdate)update->imm, old, by)};
  rewrite_become(s->kernel, update, IR_MEM_STORE, 2, operands);
  old->alias = update->alias = alias;
}

static bool split_updates(const Shapes *s, IrRegion *region) {
  VEC(IrInst *) updates = {0};
  for (IrInst *inst = region->first; inst; inst = inst->next)
    if (may_split(s, inst)) vec_push(s->ctx->scratch, &updates, inst);
  for (int i = 0; i < updates.count; i++) split_update(s, updates.items[i]);
  return updates.count > 0;
}

/* Rewrites the region into the form that gets shapes; returns whether there are new insts. */
static bool prepare_region(const Shapes *s, IrRegion *region) {
  bool changes = split_updates(s, region);
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_long = inst->op == IR_FOR && inst->lanes > 1 && !ir_lanes_are_uniform(s->facts, inst);
    if (is_long) add_lane_body(s, inst);
    for (int i = 0; i < IR_MAX_REGIONS - is_long; i++)
      if (inst->regions[i]) changes |= prepare_region(s, inst->regions[i]);
  }
  return changes;
}

/* -- look-ups of cells of a hash (vectorise_calls.c) ------------------------------------------- */

/* Is the result of the call (`data`) unaffected by the inst? A created cell stays until one is
 * freed; a cell that was absent may also appear. */
static bool keeps_result(void *data, IrInst *inst) {
  const IrInst *call = data;
  unsigned ends = call->entry == RT_HASH_ENSURE ? IR_DEACTIVATES | IR_ONCE : IR_TOPOLOGY | IR_ONCE;
  bool changes = inst->op == IR_CALL && inst->tree == call->tree && ir_effects(inst) & ends;
  return !changes && inst->op != IR_INVOKE && !ir_is_call(inst, RT_NATIVE);
}

/* Does the result stay valid while the task runs? */
static bool is_lasting(const IrTask *task, const IrInst *call) {
  return ir_walk_task(task, keeps_result, (void *)call);
}

/* Do neighbouring iterations mostly look up the same cell, as of a coarser grid? */
static bool is_repeated(const IrInst *call) {
  bool divides = false;
  if (call->entry == RT_HASH_AHEAD || call->operands[0]->op != IR_TREE_ROOT) return false;
  for (int k = 1; k < call->operand_count; k++) {
    const IrInst *at = call->operands[k];
    divides |= at->op == IR_SAR || at->op == IR_SHR || at->op == IR_FLOORDIV;
    if (!ir_index_is_smooth(at)) return false;
  }
  return divides;
}

static void mark_lookups(const IrTask *task, IrRegion *body) {
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    bool looks_up = ir_is_call(inst, RT_HASH_FIND) || ir_is_call(inst, RT_HASH_LIVE) ||
                    ir_is_call(inst, RT_HASH_ENSURE);
    if (!looks_up || !is_lasting(task, inst)) continue;
    inst->stable_cell = true;
    inst->reuses_cell = is_repeated(inst);
  }
}

/* -- all accesses of a body -------------------------------------------------------------------- */

static void shape_body(const Shapes *of, const LaneBody *body);
static void shape_region(Shapes *s, IrRegion *region);

static void shape_inner(Shapes *s, IrInst *inst) {
  for (int i = 0; i < IR_MAX_REGIONS - inst->per_lane; i++)
    if (inst->regions[i]) shape_region(s, inst->regions[i]);
  if (!inst->per_lane) return;
  LaneBody body = ir_lanes_of(inst, inst->lanes);
  body.region = inst->regions[1];
  shape_body(s, &body);
}

/* Groups of several accesses, in the order in which their first one, or the last update, runs. */
static void group_region(Shapes *s, IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->group) continue;
    if (inst->shape == IR_SHAPE_STRIDED) shapes_group_strided(s, inst);
    else if (inst->op == IR_MEM_UPDATE) inst = shapes_group_updates(s, inst);
    else if (inst->shape == IR_SHAPE_GATHER && !shapes_group_load_runs(s, inst))
      shapes_group_cells(s, inst);
  }
}

static void shape_region(Shapes *s, IrRegion *region) {
  s->groups = 0;
  for (IrInst *inst = region->first; inst; inst = inst->next)
    if (is_access(inst)) inst->shape = own_shape(s, inst);
  group_region(s, region);
  for (IrInst *inst = region->first; inst; inst = inst->next) shape_inner(s, inst);
}

static void shape_body(const Shapes *of, const LaneBody *body) {
  ASSERT(body->width > 1, "only vectorised bodies have shapes of access");
  Shapes s = {.ctx = of->ctx, .kernel = of->kernel, .width = body->width, .task = of->task};
  s.facts = ir_lanes(s.ctx->scratch, s.kernel, body);
  if (prepare_region(&s, (IrRegion *)body->region))
    s.facts = ir_lanes(s.ctx->scratch, s.kernel, body);
  s.marks = scratch_array(s.ctx->scratch, int, s.kernel->next_id);
  shape_region(&s, (IrRegion *)body->region);
  mark_lookups(s.task, (IrRegion *)body->region);
}

/* -- non-temporal stores ----------------------------------------------------------------------- */

/* Marks the store by which the loop's full vectors are aligned: the first non-temporal one, or
 * that of the lowest number of its cell. False: there is none. */
static bool mark_alignment(const IrRegion *region) {
  IrInst *lowest = region->first;
  while (lowest && !lowest->nontemporal) lowest = lowest->next;
  for (IrInst *at = lowest ? lowest->next : NULL; at; at = at->next) {
    const IrInst *other = at->op == IR_MEM_STORE ? ir_same_container(lowest, at) : NULL;
    if (other && other->imm < lowest->operands[0]->imm) lowest = at;
  }
  if (lowest) lowest->aligns = facts_is_of_params(lowest->operands[0], region);
  return lowest != NULL;
}

/* Is the load the last in memory of at least FEWEST_ROWS of its field, at constant distances? */
static bool ends_stencil(const IrInst *load) {
  int count = 0;
  for (const IrInst *at = load->region->first; at; at = at->next) {
    bool is_of_field = at->op == IR_MEM_LOAD && at->alias == load->alias;
    const IrInst *other = is_of_field ? ir_same_container(load, at) : NULL;
    if (other && other->imm > load->operands[0]->imm) return false;
    count += other != NULL;
  }
  return count >= FEWEST_ROWS;
}

/* Of what a stencil reads from a large field the last row is prefetched, since the lines of the
 * others were read before. Decision D-codegen-05. */
static void mark_prefetches(const Shapes *s, const IrRegion *region) {
  for (IrInst *at = region->first; at; at = at->next)
    if (at->op == IR_MEM_LOAD && at->shape == IR_SHAPE_RUN && at->alias &&
        s->kernel->fields.items[at->alias - 1].array < 0)
      at->prefetch = ends_stencil(at);
}

/* -- the vectorised bodies --------------------------------------------------------------------- */

static void shape_loops(const Shapes *s, IrRegion *region);

/* A body whose lanes only find the iterations that take a branch is vectorised up to this branch.
 */
static void shape_in_lanes(const Shapes *s, const LaneBody *body) {
  IrInst *branch = compaction_branch(body->region);
  if (!branch) return shape_body(s, body);
  IrRegion *home = branch->region;
  ir_remove(branch);
  shape_body(s, body);
  ir_region_append(home, branch);
  shape_loops(s, branch->regions[0]);
}

/* The rows and loops of a scalar body. */
static void shape_loops(const Shapes *s, IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_loop = inst->op == IR_ROW || inst->op == IR_FOR || inst->op == IR_BITS;
    if (is_loop && inst->lanes > 1) {
      LaneBody body = ir_lanes_of(inst, inst->lanes);
      shape_in_lanes(s, &body);
      continue;
    }
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) shape_loops(s, inst->regions[i]);
  }
}

static void shape_task(const Shapes *s, const IrTask *task, IrRegion *region, int width) {
  LaneBody body = ir_lanes_of_task(task, region, width);
  if (!region) return;
  if (width <= 1) return shape_loops(s, region);
  shape_in_lanes(s, &body);
  if (mark_alignment(region)) mark_prefetches(s, region);
}

bool pass_access_shapes(PassContext *ctx, IrKernel *kernel, Error *err) {
  Shapes s = {.ctx = ctx, .kernel = kernel};
  (void)err;
  ir_number(kernel); /* ids decide between runs that are equally good */
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = s.task = kernel->tasks.items[i];
    shape_task(&s, task, task->body, task->scalar_border ? 1 : task->lanes);
    shape_task(&s, task, task->interior, task->lanes);
    if (!task->counts) continue;
    shape_task(&s, task, task->counts->body, task->counts->lanes);
    shape_task(&s, task, task->counts->interior, task->counts->lanes);
  }
  return true;
}
