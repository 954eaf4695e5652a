/* vectorise_memory.c - accesses to memory in a body in lanes. An op of lanes states everything that
 * the pass `access_shapes` has decided for it and its group (ir/access.h): an access to a cell
 * lists all of its numbers, a deferred store becomes an operand of the store that executes it, and
 * elements that one load reads for others are stored in variables. */
#include "pass/address/address.h"
#include "pass/vector/vectorise.h"

/* An access by a single lane, or one that all lanes share, has no shape of lanes. */
void vectorise_forget_shape(IrInst *access) {
  access->shape = IR_SHAPE_NONE;
  access->group = access->run = access->part = access->parts = 0;
  access->aligns = access->deferred = access->prefetch = access->pairs = access->nontemporal =
      false;
}

/* The address of lane 0 if adjacent lanes access adjacent elements or cells; else those of all. */
static IrInst *address_of_access(Vectoriser *v, const IrInst *access) {
  const IrInst *address = access->operands[0];
  const LaneFact *fact = &v->facts[address->id];
  int64_t size = type_size(ir_element_type(access));
  if (access->shape == IR_SHAPE_STRIDED)
    DEBUG_ASSERT(fact->step == access->parts * size, "the shape is that of this body");
  bool is_run = fact->shape == LANE_LINEAR && fact->step == size;
  return is_run || access->shape == IR_SHAPE_STRIDED ? vectorise_scalar(v, address)
                                                     : vectorise_lanes(v, address);
}

static IrInst *emit_access(Vectoriser *v, IrOp op, Type type, int count, IrInst *const *operands,
                           const IrInst *like) {
  IrInst *access = ir_emit(&v->b, op, type, count, operands);
  bool has_shape = like->shape == IR_SHAPE_STRIDED || like->shape == IR_SHAPE_CELLS ||
                   like->shape == IR_SHAPE_RUNS;
  if (!has_shape) return access;
  access->shape = like->shape;
  access->parts = like->parts;
  return access;
}

/* A bit for each number of the cell that the group accesses. */
static int32_t numbers_of(const IrGroup *group) {
  int32_t numbers = 0;
  for (int i = 0; i < group->count; i++) numbers |= 1 << group->items[i]->part;
  return numbers;
}

bool vectorise_is_whole(const Vectoriser *v, const IrInst *access) {
  return access->whole && v->fills_row && access->shape == IR_SHAPE_RUN;
}

/* -- loads ------------------------------------------------------------------------------------- */

/* Reads for all loads of the group. */
static void load_cells(Vectoriser *v, const IrInst *first, const IrGroup *group) {
  Type type = ir_lanes_type(first->type, v->width);
  IrInst *operands[IR_MAX_RUN + 2] = {address_of_access(v, first)}, *variables[IR_MAX_RUN] = {0};
  int32_t numbers = numbers_of(group);
  int count = 1;
  for (int part = 0; part < first->parts; part++)
    if (numbers >> part & 1) operands[count++] = variables[part] = ir_var(&v->b, type);
  operands[count++] = v->mask;
  IrInst *load = emit_access(v, IR_LANES_LOAD, TYPE(NONE), count, operands, first);
  load->part = first->part;
  load->numbers = numbers;
  load->pairs = first->pairs;
  for (int i = 0; i < group->count; i++)
    ir_map_put(v->lanes, group->items[i], ir_get(&v->b, variables[group->items[i]->part]));
}

/* Sorts the runs of a group by run and element: `accesses` has IR_MAX_RUN for each. Returns how
 * many there are. */
static int sort_runs(const IrGroup *group, const IrInst **accesses) {
  int count = 0;
  for (int i = 0; i < group->count; i++) {
    const IrInst *at = group->items[i];
    if (at->shape != IR_SHAPE_RUNS) continue;
    accesses[at->run * IR_MAX_RUN + at->part] = at;
    if (at->run >= count) count = at->run + 1;
  }
  return count;
}

/* One op for each run of the group, one after the other; all are executed at the last one. */
static void write_runs(Vectoriser *v, const IrInst *of, const IrGroup *group) {
  const IrInst **accesses = scratch_array(v->scratch, const IrInst *, group->count *IR_MAX_RUN);
  IrInst **values = scratch_array(v->scratch, IrInst *, group->count * IR_MAX_RUN);
  bool loads = of->op == IR_MEM_LOAD;
  int runs = sort_runs(group, accesses);
  int32_t number = ++v->groups;
  for (int i = 0; i < runs * IR_MAX_RUN; i++)
    if (accesses[i])
      values[i] = loads ? ir_var(&v->b, ir_lanes_type(of->type, v->width))
                        : vectorise_lanes(v, accesses[i]->operands[1]);
  for (int run = 0; run < runs; run++) {
    const IrInst **run_of = accesses + run * IR_MAX_RUN;
    IrInst *operands[2 * IR_MAX_RUN + 1];
    int parts = run_of[0]->parts;
    for (int k = 0; k < parts; k++) {
      operands[k] = vectorise_lanes(v, run_of[k]->operands[0]);
      operands[parts + k] = values[run * IR_MAX_RUN + k];
    }
    operands[2 * parts] = v->mask;
    IrInst *access = emit_access(v, loads ? IR_LANES_LOAD : IR_LANES_UPDATE, TYPE(NONE),
                                 2 * parts + 1, operands, run_of[0]);
    access->group = number;
    access->deferred = run + 1 < runs;
    if (!loads) access->imm = run_of[0]->imm;
  }
  for (int i = 0; loads && i < runs * IR_MAX_RUN; i++)
    if (accesses[i]) ir_map_put(v->lanes, accesses[i], ir_get(&v->b, values[i]));
}

static void fetch_ahead(Vectoriser *v, IrInst *address) {
  IrInst *none = ir_i32(&v->b, 0), *at = ir_offset(&v->b, address, none, 1, IR_AHEAD);
  ir_call(&v->b, RT_FETCH, 0, 0, 2, (IrInst *[]){at, none});
}

static void write_load(Vectoriser *v, const IrInst *load) {
  if (vectorise_shape(v, load->operands[0]) == LANE_UNIFORM) {
    vectorise_copy_scalar(v, load);
    return vectorise_forget_shape(ir_mapped(v->scalar, load));
  }
  IrGroup group = {0};
  if (load->group) group = ir_group(v->scratch, load);
  if (load->shape == IR_SHAPE_CELLS || load->shape == IR_SHAPE_RUNS) {
    if (group.items[0] != load) return; /* the first one has read it */
    if (load->shape == IR_SHAPE_CELLS) load_cells(v, load, &group);
    else write_runs(v, load, &group);
    return;
  }
  IrInst *mask = vectorise_is_whole(v, load) ? vectorise_all(v, true) : v->mask;
  IrInst *operands[] = {address_of_access(v, load), mask};
  IrInst *lanes =
      emit_access(v, IR_LANES_LOAD, ir_lanes_type(load->type, v->width), 2, operands, load);
  lanes->alias = load->alias;
  lanes->part = load->part;
  lanes->numbers = numbers_of(&group);
  if (load->shape == IR_SHAPE_RUN && load->prefetch) fetch_ahead(v, operands[0]);
  else lanes->prefetch = load->prefetch;
  ir_map_put(v->lanes, load, lanes);
}

/* -- stores ------------------------------------------------------------------------------------ */

/* If all lanes write one element, the last active one wins, as it would in their order. */
static void write_last_lane(Vectoriser *v, const IrInst *store) {
  IrInst *value;
  if (vectorise_shape(v, store->operands[1]) == LANE_UNIFORM) {
    value = vectorise_scalar(v, store->operands[1]);
  } else {
    IrInst *bits = ir_unary(&v->b, IR_MASK_BITS, v->mask);
    IrInst *above = ir_unary(&v->b, IR_CLZ, bits);
    IrInst *last = ir_binary(&v->b, IR_SUB, ir_const_int(&v->b, TYPE(U64), 63), above);
    value = ir_lane_get(&v->b, vectorise_lanes(v, store->operands[1]), last);
  }
  IrInst *operands[] = {vectorise_scalar(v, store->operands[0]), value};
  vectorise_forget_shape(vectorise_copy(v, store, store->type, operands));
}

/* Writes a store to cells, with those of its group that were deferred to it. */
static void store_cells(Vectoriser *v, const IrInst *store) {
  IrGroup group = ir_group(v->scratch, store);
  const IrInst *stores[IR_MAX_PARTS] = {0};
  IrInst *operands[IR_MAX_PARTS + 2];
  int32_t numbers = 0;
  bool aligns = false;
  int count = 1;
  for (int i = 0; i < group.count; i++) {
    const IrInst *at = group.items[i];
    if (at->op != IR_MEM_STORE) continue;
    stores[at->part] = at;
    numbers |= 1 << at->part;
    aligns |= at->aligns;
    if (at == store) break;
    if (at->deferred) continue;
    numbers = 0;
    aligns = false;
  }
  for (int part = 0; part < store->parts; part++)
    if (numbers >> part & 1) operands[count++] = vectorise_lanes(v, stores[part]->operands[1]);
  operands[0] = address_of_access(v, stores[__builtin_ctz((unsigned)numbers)]);
  operands[count++] = v->mask;
  IrInst *lanes = emit_access(v, IR_LANES_STORE, TYPE(NONE), count, operands, store);
  lanes->numbers = numbers;
  lanes->prefetch = store->prefetch;
  lanes->nontemporal = store->nontemporal;
  lanes->aligns = aligns;
}

static void write_store(Vectoriser *v, const IrInst *store) {
  if (vectorise_shape(v, store->operands[0]) == LANE_UNIFORM) return write_last_lane(v, store);
  if (store->deferred) return;
  if (store->shape == IR_SHAPE_STRIDED) return store_cells(v, store);
  IrInst *at = address_of_access(v, store), *value = vectorise_lanes(v, store->operands[1]);
  IrInst *mask = v->mask;
  if (vectorise_is_whole(v, store)) {
    mask = vectorise_all(v, true);
    IrInst *old = ir_lanes_load(&v->b, value->type, at, mask);
    old->alias = store->alias;
    value = ir_select(&v->b, v->mask, value, old);
  }
  IrInst *lanes = ir_lanes_store(&v->b, at, value, mask);
  lanes->alias = store->alias;
  lanes->nontemporal = store->nontemporal;
  lanes->aligns = store->aligns;
}

/* -- updates ----------------------------------------------------------------------------------- */

void vectorise_update_runs(Vectoriser *v, const IrGroup *group) {
  for (int i = 0; i < group->count; i++)
    if (group->items[i]->shape == IR_SHAPE_RUNS) return write_runs(v, group->items[i], group);
}

/* -- windows of rows --------------------------------------------------------------------------- */

/* A window of the rows of two leaves. */
void vectorise_row_load(Vectoriser *v, const IrInst *load) {
  IrInst *operands[3];
  for (int k = 0; k < 3; k++) operands[k] = vectorise_scalar(v, load->operands[k]);
  ir_map_put(v->lanes, load,
             vectorise_copy(v, load, ir_lanes_type(load->type, v->width), operands));
}

void vectorise_access(Vectoriser *v, const IrInst *access) {
  if (access->op == IR_MEM_LOAD) write_load(v, access);
  else write_store(v, access);
}
