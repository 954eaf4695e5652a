/* access_cells.c - groups of accesses to the numbers of a cell: strided ones, where adjacent lanes
 * access adjacent cells, as of an `aos` field, and loads where each lane's cell is anywhere, as the
 * components of x[p[i]]. Decisions D-codegen-02, D-codegen-03. */
#include "pass/vector/access_shapes.h"

enum {
  FEW_PARTS = 4, /* numbers of a cell that the hardware prefetches in time: D-codegen-05 */
  CHUNK = 16     /* bytes of a vector load per lane */
};

/* -- strided cells ----------------------------------------------------------------------------- */

typedef struct Cell { /* the cell of a strided access */
  int parts;
  int64_t size, from; /* bytes: of a number; the offset at which the cell begins */
} Cell;

/* The lowest number of the container that the region accesses: cells begin there. */
static int64_t first_number_of(const IrInst *inst) {
  int64_t lowest = inst->operands[0]->imm;
  for (const IrInst *at = inst->region->first; at; at = at->next) {
    const IrInst *other = ir_same_container(inst, at);
    if (other && other->imm < lowest) lowest = other->imm;
  }
  return lowest;
}

static Cell find_cell(const Shapes *s, const IrInst *inst) {
  const IrInst *ptr = inst->operands[0];
  int64_t step = s->facts[ptr->id].step, size = type_size(ir_accessed(inst));
  Cell cell = {.parts = (int)(step / size), .size = size};
  int64_t origin = ptr->op == IR_OFFSET ? first_number_of(inst) : 0;
  if (ptr->op == IR_OFFSET) cell.from = origin + (ptr->imm - origin) / step * step;
  return cell;
}

/* Which number of the cell, which contains `of`, does `inst` access? -1 if none. */
static int part_of(const Cell *cell, const IrInst *of, const IrInst *inst) {
  const IrInst *ptr = inst == of ? inst->operands[0] : ir_same_container(of, inst);
  if (!ptr) return -1;
  if (ptr->op != IR_OFFSET) return 0;
  int64_t part = (ptr->imm - cell->from) / cell->size;
  return ptr->imm >= cell->from && part < cell->parts ? (int)part : -1;
}

/* Are the same lanes active before and after the inst? */
static bool keeps_lanes(const Shapes *s, const IrInst *inst) {
  return !s->facts[inst->id].thins && inst->op != IR_BREAK && inst->op != IR_CONTINUE;
}

/* Is the load the last in memory of those at constant distances? Only it is prefetched, since the
 * lines of the others were read before. */
static bool is_farthest(const IrInst *load) {
  for (const IrInst *at = load->region->first; at; at = at->next) {
    const IrInst *other = at->op == IR_MEM_LOAD ? ir_same_container(load, at) : NULL;
    if (other && other->imm > load->operands[0]->imm) return false;
  }
  return load->operands[0]->op == IR_OFFSET;
}

/* Defers the stores of a group: each to the last one before an inst that may access what they
 * store, or that stores one of their numbers again. */
static void defer_stores(const Shapes *s, IrInst *first) {
  VEC(IrInst *) waiting = {0};
  uint32_t numbers = 0;
  for (IrInst *at = first; at && keeps_lanes(s, at); at = at->next) {
    bool is_member = at->group == first->group && at->op == IR_MEM_STORE, ends = false;
    for (int i = 0; i < waiting.count; i++) ends |= ir_must_precede(waiting.items[i], at);
    if (ends || (is_member && numbers >> at->part & 1)) waiting.count = 0, numbers = 0;
    if (!is_member) continue;
    if (waiting.count) {
      vec_last(&waiting)->deferred = true;
      vec_last(&waiting)->prefetch = false;
    }
    at->prefetch = at->parts > FEW_PARTS;
    numbers |= 1u << at->part;
    vec_push(s->ctx->scratch, &waiting, at);
  }
}

/* Groups the accesses to the cell of `first`, in the code that the same lanes run from there on. */
void shapes_group_strided(Shapes *s, IrInst *first) {
  const Cell cell = find_cell(s, first);
  int32_t group = ++s->groups;
  for (IrInst *at = first; at && keeps_lanes(s, at); at = at->next) {
    int part = part_of(&cell, first, at);
    if (part < 0) continue;
    DEBUG_ASSERT(at->shape == IR_SHAPE_STRIDED && !at->group, "a cell is grouped twice");
    at->group = group;
    at->part = part;
    at->parts = cell.parts;
    at->prefetch = at->op == IR_MEM_LOAD && cell.parts > FEW_PARTS && is_farthest(at);
  }
  defer_stores(s, first);
}

/* -- loads at addresses that differ by lane ---------------------------------------------------- */

typedef struct Numbers {
  int64_t size, low, high; /* bytes of a number; lowest and highest offset */
  IrInst *loads[IR_MOST_RUN];
  int count;
} Numbers;

static void add_load(Numbers *n, IrInst *load) {
  int64_t at = load->operands[0]->imm;
  int64_t low = at < n->low ? at : n->low, high = at > n->high ? at : n->high;
  if (high - low >= IR_MOST_RUN * n->size || n->count == IR_MOST_RUN) return;
  n->low = low;
  n->high = high;
  n->loads[n->count++] = load;
}

static Numbers find_numbers(IrInst *first) {
  int64_t at = first->operands[0]->imm;
  Numbers n = {.size = type_size(first->type), .low = at, .high = at};
  add_load(&n, first);
  for (IrInst *load = first->next; load && ir_is_straight(load); load = load->next)
    if (load->op == IR_MEM_LOAD && !load->group && ir_same_container(first, load) &&
        type_equal(load->type, first->type) && !ir_may_be_written(load, first))
      add_load(&n, load);
  return n;
}

/* Does reading all numbers from the lowest to the highest take fewer loads? */
static bool saves_loads(const Numbers *n, int parts) {
  int chunk = n->size == 4 && parts >= 4 ? 4 : 2; /* numbers of a vector load */
  return parts > 1 && (parts == 2 || (parts + chunk - 1) / chunk < n->count);
}

bool shapes_group_cells(Shapes *s, IrInst *first) {
  int size = type_size(first->type);
  const IrInst *ptr = first->operands[0];
  if (s->facts[ptr->id].shape != LANE_VARYING || ptr->op != IR_OFFSET || (size != 4 && size != 8) ||
      s->width * size < CHUNK)
    return false;
  const Numbers n = find_numbers(first);
  int parts = (int)((n.high - n.low) / size) + 1;
  if (!saves_loads(&n, parts)) return false;
  s->groups++;
  for (int i = 0; i < n.count; i++) {
    IrInst *load = n.loads[i];
    load->shape = IR_SHAPE_CELLS;
    load->group = s->groups;
    load->part = (int32_t)((load->operands[0]->imm - n.low) / size);
    load->parts = parts;
    load->pairs = s->ctx->fast_gathers && size == 4;
  }
  return true;
}
