/* access_groups.c - groups of accesses of lanes that are executed together.
 *
 * The numbers of a cell: strided ones, where adjacent lanes access adjacent cells, as of an `aos`
 * field, and loads where each lane's cell is anywhere, as the components of x[p[i]]. Decisions
 * D-codegen-02, D-codegen-03.
 *
 * Runs, which are accesses to adjacent elements, at another place in each lane, like the cells
 * around a particle; and updates. Candidates are guessed (ir/address.h): the code compares the
 * addresses of each lane, so a wrong guess costs only time. A run of updates is one vector per
 * lane, where each element would be a load, an op and a store:
 *
 *     x[q] += a; x[q + 1] += b; x[q + 2] += c    =>    each lane: load |x x x|, add |a b c|, store
 *
 * The first load of a group reads all its runs, so the insts from which the addresses of the others
 * are computed move before it. Decision D-codegen-04. */
#include <stdlib.h>

#include "base/bits.h"
#include "ir/address.h"
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
  int64_t step = s->facts[ptr->id].step, size = type_size(ir_element_type(inst));
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
  return !s->facts[inst->id].loses_lanes && inst->op != IR_BREAK && inst->op != IR_CONTINUE;
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
  IrInst *loads[IR_MAX_RUN];
  int count;
} Numbers;

static void add_load(Numbers *n, IrInst *load) {
  int64_t at = load->operands[0]->imm;
  int64_t low = at < n->low ? at : n->low, high = at > n->high ? at : n->high;
  if (high - low >= IR_MAX_RUN * n->size || n->count == IR_MAX_RUN) return;
  n->low = low;
  n->high = high;
  n->loads[n->count++] = load;
}

static Numbers find_numbers(IrInst *first) {
  int64_t at = first->operands[0]->imm;
  Numbers n = {.size = type_size(first->type), .low = at, .high = at};
  add_load(&n, first);
  for (IrInst *load = first->next; load && ir_is_straight_line(load); load = load->next)
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

enum {
  MOST_BYTES = 32, /* of a run */
  SHORTEST_LOADS = 3,
  SHORTEST_FAST = 5, /* on processors with fast gathers */
  SHORTEST_UPDATES = 2,
  LOADS_SAVED = 4, /* least number of accesses saved per lane */
  UPDATES_SAVED = 3,
  LONGEST_STRETCH = 1000 /* insts from the first load to the last */
};

/* -- finding runs ------------------------------------------------------------------------------ */

typedef VEC(IrInst *) Accesses;

typedef struct Run {
  IrInst *accesses[IR_MAX_RUN]; /* in order of address */
  int count;
} Run;

typedef struct Runs {
  VEC(Run) items;
  int saved; /* accesses per lane */
} Runs;

static int compare_addresses(const void *a, const void *b) {
  const IrAddress *left = a, *right = b;
  int64_t order = ir_address_compare(left, right);
  if (!order) order = left->bytes - right->bytes;
  if (!order) order = left->access->id - right->access->id;
  return (order > 0) - (order < 0);
}

static bool has_masks(const Shapes *s, Type type) {
  return s->width * type_size(type) >= IR_MASKED_BYTES;
}

/* On machines without masks the length is a power of two. */
static int run_length(const Shapes *s, const IrAddress *first, int left) {
  Type type = ir_element_type(first->access);
  int most = (int)min_i64(IR_MAX_RUN, MOST_BYTES / type_size(type)), count = 1;
  while (count < left && count < most && ir_address_follows(&first[count - 1], &first[count]))
    count++;
  return has_masks(s, type) ? count : 1 << log2_floor((uint64_t)count);
}

static Runs find_runs(const Shapes *s, const Accesses *accesses, int shortest) {
  Runs runs = {0};
  Scratch *scratch = s->ctx->scratch;
  IrAddress *addresses = scratch_array(scratch, IrAddress, accesses->count);
  int known = 0;
  for (int i = 0; i < accesses->count; i++)
    if (s->facts[accesses->items[i]->operands[0]->id].shape == LANE_VARYING)
      known += ir_address(accesses->items[i], &addresses[known]);
  qsort(addresses, (size_t)known, sizeof *addresses, compare_addresses);
  for (int i = 0, length; i < known; i += length) {
    Run run = {.count = length = run_length(s, &addresses[i], known - i)};
    if (length < shortest) continue;
    for (int k = 0; k < length; k++) run.accesses[k] = (IrInst *)addresses[i + k].access;
    vec_push(scratch, &runs.items, run);
    runs.saved += length - 1;
  }
  return runs;
}

static void mark_runs(const Runs *runs, int32_t group) {
  ASSERT(group > 0, "groups are numbered from 1");
  for (int i = 0; i < runs->items.count; i++) {
    const Run *run = &runs->items.items[i];
    for (int k = 0; k < run->count; k++) {
      IrInst *access = run->accesses[k];
      DEBUG_ASSERT(access->shape != IR_SHAPE_RUNS, "an access is in one run");
      access->shape = IR_SHAPE_RUNS;
      access->group = group;
      access->run = i;
      access->part = k;
      access->parts = run->count;
    }
  }
}

/* -- loads ------------------------------------------------------------------------------------- */

/* Is an adjacent number of its cell loaded, too? Then both are read together, as a cell. */
static bool loads_neighbour(const IrInst *load) {
  int64_t size = type_size(load->type);
  for (const IrInst *at = load->region->first; at; at = at->next) {
    const IrInst *other = at->op == IR_MEM_LOAD ? ir_same_container(load, at) : NULL;
    int64_t distance = other ? other->imm - load->operands[0]->imm : 0;
    if (other && (distance == size || distance == -size)) return true;
  }
  return false;
}

/* Marks the insts after `first` on which the address of `load` depends; false if one of them is not
 * pure. */
static bool mark_address(Shapes *s, const IrInst *first, const IrInst *load) {
  ASSERT(load->region == first->region, "a group is of one region");
  s->marks[load->operands[0]->id] = s->searches;
  for (const IrInst *at = load->previous; at != first; at = at->previous) {
    if (s->marks[at->id] != s->searches) continue;
    if (!(ir_effects(at) & IR_PURE)) return false;
    for (int i = 0; i < at->operand_count; i++) s->marks[at->operands[i]->id] = s->searches;
  }
  return true;
}

static bool can_join_group(Shapes *s, const IrInst *first, const IrInst *load) {
  s->searches++;
  return load->op == IR_MEM_LOAD && !load->group && type_equal(load->type, first->type) &&
         s->facts[load->operands[0]->id].shape == LANE_VARYING && !ir_may_be_written(load, first) &&
         (load == first || mark_address(s, first, load)) && !loads_neighbour(load);
}

/* Moves the insts from which the addresses of the group are computed before its first load. */
static void move_addresses(Shapes *s, IrInst *first, const Runs *runs) {
  s->searches++;
  for (int i = 0; i < runs->items.count; i++)
    for (int k = 0; k < runs->items.items[i].count; k++)
      if (runs->items.items[i].accesses[k] != first)
        mark_address(s, first, runs->items.items[i].accesses[k]);
  for (IrInst *at = first->next, *next; at && ir_is_straight_line(at); at = next) {
    next = at->next;
    if (s->marks[at->id] != s->searches) continue;
    ir_move_before(first, at);
  }
}

bool shapes_group_load_runs(Shapes *s, IrInst *first) {
  Accesses loads = {0};
  int length = 0;
  if (!has_masks(s, first->type) || type_is_bool(first->type) ||
      s->facts[first->operands[0]->id].shape != LANE_VARYING)
    return false;
  for (IrInst *at = first; at && ir_is_straight_line(at) && length++ < LONGEST_STRETCH;
       at = at->next)
    if (can_join_group(s, first, at)) vec_push(s->ctx->scratch, &loads, at);
  Runs runs = find_runs(s, &loads, s->ctx->fast_gathers ? SHORTEST_FAST : SHORTEST_LOADS);
  bool is_in = false;
  for (int i = 0; i < runs.items.count; i++)
    for (int k = 0; k < runs.items.items[i].count; k++)
      is_in |= runs.items.items[i].accesses[k] == first;
  if (!is_in || runs.saved < LOADS_SAVED) return false;
  mark_runs(&runs, ++s->groups);
  move_addresses(s, first, &runs);
  return true;
}

/* -- updates ----------------------------------------------------------------------------------- */

/* Do all lanes update one element, so that their values can be combined first? */
static bool combines_lanes(const IrInst *update) {
  return update->shape == IR_SHAPE_UNIFORM && ir_lanes_combine(update);
}

/* May updates from `first` on be executed after the inst? `far`: even if it reads other elements,
 * or variables. */
static bool can_move_after(const IrInst *first, const IrInst *inst, bool far) {
  if (ir_effects(inst) & IR_PURE) return true;
  if (!far) return false;
  if (inst->op == IR_MEM_LOAD) return !ir_may_be_written(inst, first);
  return ir_is_straight_line(inst) && !ir_is_write(inst->op);
}

/* The next update that can be executed together with those from `first` on. */
static IrInst *next_update(const IrInst *first, const IrInst *update, bool far) {
  IrInst *next = update->next;
  while (next && can_move_after(first, next, far)) next = next->next;
  return next && next->op == IR_MEM_UPDATE ? next : NULL;
}

static Runs find_update_runs(const Shapes *s, IrInst *first, bool far) {
  Accesses plain = {0};
  for (IrInst *at = first; at; at = next_update(first, at, far))
    if (at->nonatomic && !combines_lanes(at)) vec_push(s->ctx->scratch, &plain, at);
  return find_runs(s, &plain, SHORTEST_UPDATES);
}

static IrInst *group_updates(Shapes *s, IrInst *first, bool far) {
  IrInst *last = first;
  for (IrInst *at = first; at; at = next_update(first, at, far)) last = at;
  if (last == first) return last;
  int32_t group = ++s->groups;
  for (IrInst *at = first; at; at = next_update(first, at, far)) {
    at->group = group;
    at->deferred = at != last;
  }
  return last;
}

/* Updates wait for others far after them only where that makes runs. Otherwise each is better
 * executed in all lanes before the next one: lanes often update what their neighbours do, but
 * rarely by the same inst, and a load just after a store to its address waits for that. */
IrInst *shapes_group_updates(Shapes *s, IrInst *first) {
  Runs near = find_update_runs(s, first, false), wide = find_update_runs(s, first, true);
  bool far = wide.saved >= UPDATES_SAVED && wide.saved > near.saved;
  IrInst *last = group_updates(s, first, far);
  const Runs *runs = far ? &wide : &near;
  if (last != first && runs->saved >= UPDATES_SAVED) mark_runs(runs, s->groups);
  return last;
}
