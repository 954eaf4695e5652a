/* leaf_threads.c - the threads of a GPU that share a leaf (ir/gpu.c): groups of them divide the
 * rows of its grid, and the threads of a group divide the cells of a row, so that adjacent threads
 * access adjacent memory. GRID and ROW become loops, round robin:
 *
 *     thread m of n, rows of r cells:  group m / r of n / r takes rows, thread m % r of it cells
 *
 *     grid extent=(8) (%a) { row end=8 (%p) { .. } }    =>    for m / 8, 7, n / 8 { .. m % 8 .. }
 *
 * If all threads have equally many iterations, several are unrolled: they differ by constants, so
 * their addresses do, and only iterations at an edge test which leaf holds a neighbour.
 *
 * Look-ups of neighbours are divided, too: ALL_GATHER becomes a loop in which all lanes run the
 * same code, each with the number of its look-up, and store the results in the block's shared
 * memory, from where GATHERED reads them. Only threads of one warp share look-ups, so that no warp
 * waits for another; a leaf with more threads repeats its look-ups in each warp.
 *
 *     shared:   | results of the block's first group | of the second | ..     a group: L lanes
 *     begin:    wait for the group;  trip = 0
 *     trip:     number = min(lane + trip * L, count - 1);  results[number] = look-up
 *               next trip, while trip * L < count;  wait for the group
 *
 * A lane that exited because the launch stops stores no result; then its group exits, too. Exited
 * lanes do not block the group's barrier (codegen/emit.c). Decision D-codegen-12. */
#include "base/bits.h"
#include "ir/task.h"
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

enum {
  WARP = 32,
  /* approximate limit of unrolled instructions; beyond it there is a loop */
  MOST_UNROLLED = 1024,
  /* bytes of shared memory for results, of the 48 KiB that a block may have; sums take the rest */
  MOST_GATHERED = 32 << 10
};

typedef struct Threads {
  IrKernel *kernel;
  Scratch *scratch;
  IrInst *thread;         /* u32: the running thread's number in its block */
  int64_t count;          /* that share the leaf, or a row of it; 1 if a row has one cell */
  bool share;             /* several threads share the leaf */
  int64_t gathered_bytes; /* of shared memory, for what the leaf has gathered */
} Threads;

/* The thread's number modulo a power of two, or divided by one, as an i32. */
static IrInst *thread_in(const Threads *t, IrBuilder *b, int64_t size) {
  return ir_convert(b, ir_binary_const(b, IR_BAND, t->thread, size - 1), TYPE(I32));
}
static IrInst *thread_over(const Threads *t, IrBuilder *b, int64_t size) {
  IrInst *inside = ir_binary_const(b, IR_BAND, t->thread, t->count - 1);
  return ir_convert(b, ir_binary_const(b, IR_FLOORDIV, inside, size), TYPE(I32));
}

/* -- dealing out ------------------------------------------------------------------------------- */

/* How many of `iterations` of so many instructions to unroll. */
static int64_t choose_copies(int64_t iterations, int64_t insts) {
  int64_t count = 1;
  while (iterations % (2 * count) == 0 && 2 * count * insts <= MOST_UNROLLED) count *= 2;
  return count;
}

/* The approximate number of a region's instructions that remain per unrolled iteration; addresses
 * become constants. */
static int64_t count_unrolled_insts(const IrRegion *region) {
  int64_t insts = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    insts += inst->op != IR_CONST && inst->op != IR_OFFSET && inst->op != IR_CONVERT &&
             inst->op != IR_FRAME_GET;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      insts += count_unrolled_insts(inst->regions[i]);
  }
  return insts;
}

/* Writes the iteration of this number, of a GRID or ROW, where the builder is. */
typedef void Give(const Threads *t, IrBuilder *b, IrInst *inst, IrInst *number);

/* The numbers from `begin` to before `end`, of which the thread takes each `size`-th one from its
 * own number on; `count` of them, or 0 if that is not a constant. */
static void deal_out(const Threads *t, IrInst *inst, IrInst *own, int64_t size, int64_t count,
                     int64_t insts, Give *give) {
  IrBuilder b = rewrite_before(t->kernel, inst);
  IrInst *const *bounds = inst->op == IR_ROW ? ir_row_bounds(inst) : NULL;
  if (bounds || count % size) {
    IrInst *last = bounds ? ir_binary_const(&b, IR_SUB, bounds[1], 1) : ir_i32(&b, count - 1);
    IrInst *first = bounds ? ir_binary(&b, IR_ADD, bounds[0], own) : own;
    IrInst *number = rewrite_open_for(&b, first, last, size);
    b.region->owner->short_trip = true;
    give(t, &b, inst, number);
  } else {
    int64_t copies = choose_copies(count / size, insts);
    IrInst *zero = ir_i32(&b, 0), *last = ir_i32(&b, count - copies * size), *start = NULL;
    if (copies * size < count) start = rewrite_open_for(&b, zero, last, copies * size);
    for (int64_t k = 0; k < copies; k++) {
      IrInst *number = ir_binary_const(&b, IR_ADD, own, k * size);
      give(t, &b, inst, start ? ir_binary(&b, IR_ADD, start, number) : number);
    }
  }
  ir_delete(inst);
}

static void give_row(const Threads *t, IrBuilder *b, IrInst *grid, IrInst *number) {
  const IrRegion *body = grid->regions[0];
  IrMap *map = ir_map(t->scratch, t->kernel);
  IrInst *rest = ir_convert(b, number, TYPE(U32));
  for (int axis = body->params.count - 1; axis >= 0; axis--) {
    IrInst *param = body->params.items[axis], *own = rest;
    if (axis) own = ir_binary_const(b, IR_MOD, rest, grid->extent[axis]);
    ir_map_put(map, param, ir_convert(b, own, param->type));
    if (axis) rest = ir_binary_const(b, IR_FLOORDIV, rest, grid->extent[axis]);
  }
  ir_copy_to(b, body->first, NULL, map);
}

/* The cell, in a masked row only if its bit is set. `continue` leaves a loop with one iteration. */
static void give_cell(const Threads *t, IrBuilder *b, IrInst *row, IrInst *position) {
  IrRegion *body = row->regions[0];
  IrMap *map = ir_map(t->scratch, t->kernel);
  IrBuilder in = *b;
  if (row->masked) {
    IrInst *word = row->operands[row->operand_count - 1];
    IrInst *bits = ir_binary(&in, IR_SHR, word, ir_convert(&in, position, word->type));
    IrInst *is_set = ir_convert(&in, ir_binary_const(&in, IR_BAND, bits, 1), TYPE(BOOL));
    in = rewrite_into(&in, ir_if(&in, is_set)->regions[0]);
  }
  IrInst *once = ir_i32(&in, 0);
  if (ir_has_op(body, IR_CONTINUE)) rewrite_open_for(&in, once, once, 1);
  ir_map_put(map, body->params.items[0], position);
  ir_copy_to(&in, body->first, NULL, map);
}

/* -- look-ups ---------------------------------------------------------------------------------- */

/* The results of `count` look-ups, of the running thread's group of `lanes`. */
static IrInst *results_of(Threads *t, IrBuilder *b, int64_t lanes, int64_t count) {
  bool is_alone = lanes == 1;
  int64_t row = (count + 1) / 2 * 2 * (int64_t)sizeof(uint64_t);
  IrInst *memory = ir_emit(b, is_alone ? IR_STACK : IR_SHARED, TYPE(PTR), 0, NULL);
  memory->imm = is_alone ? row : row * (IR_MAX_SPREAD / lanes);
  if (is_alone) return memory;
  t->gathered_bytes += memory->imm;
  IrInst *group = ir_binary_const(b, IR_FLOORDIV, t->thread, lanes);
  return ir_offset(b, memory, group, row, 0);
}

static IrInst *result_at(IrBuilder *b, IrInst *results, IrInst *number) {
  return ir_offset(b, results, number, sizeof(uint64_t), 0);
}

/* The mask of the group's lanes in their warp. */
static IrInst *group_mask(const Threads *t, IrBuilder *b, int64_t lanes) {
  if (lanes == WARP) return ir_i32(b, -1);
  IrInst *first = ir_binary_const(b, IR_BAND, t->thread, WARP - lanes);
  IrInst *mask = ir_binary(b, IR_SHL, ir_const_like(b, first, (1 << lanes) - 1), first);
  return ir_convert(b, mask, TYPE(I32));
}

static void write_all_gather(Threads *t, IrInst *inst) {
  IrBuilder b = rewrite_before(t->kernel, inst);
  IrInst *variable = inst->operands[0], *mask = NULL;
  int64_t lanes = min_i64(t->count, WARP), count = inst->imm;
  int64_t bytes = (count + 1) / 2 * 2 * (IR_MAX_SPREAD / lanes) * (int64_t)sizeof(uint64_t);
  if (t->gathered_bytes + bytes > MOST_GATHERED) lanes = 1;
  IrInst *results = results_of(t, &b, lanes, count);
  if (lanes > 1) { /* until all have read what was gathered before */
    mask = group_mask(t, &b, lanes);
    ir_call(&b, RT_WARP_WAIT, 0, 0, 1, &mask);
  }
  IrInst *number = ir_i32(&b, 0), *last = ir_i32(&b, (count - 1) / lanes * lanes);
  IrBuilder in = b;
  if (lanes < count) number = rewrite_open_for(&in, number, last, lanes);
  if (lanes > 1) number = ir_binary(&in, IR_ADD, number, thread_in(t, &in, lanes));
  number = ir_binary_const(&in, IR_MIN, number, count - 1);
  ir_replace_uses(inst->regions[0]->params.items[0], number);
  rewrite_move_to(inst->regions[0]->first, &in);
  IrInst *found[] = {result_at(&in, results, number), ir_get(&in, variable)};
  ir_emit(&in, IR_MEM_STORE, TYPE(NONE), 2, found);
  if (lanes > 1) {
    IrInst *gone = ir_unary(&b, IR_BNOT, ir_call(&b, RT_WARP_MEETS, 0, 0, 1, &mask));
    ir_emit(&b, IR_POLL, TYPE(NONE), 1, &gone);
  }
  ir_replace_uses(inst, results);
  ir_delete(inst);
}

static void write_gathered(const Threads *t, IrInst *inst) {
  IrBuilder b = rewrite_before(t->kernel, inst);
  IrInst *at = result_at(&b, inst->operands[0], ir_i32(&b, inst->imm));
  rewrite_become(t->kernel, inst, IR_MEM_LOAD, 1, &at);
}

/* -- a leaf ------------------------------------------------------------------------------------ */

static void write_region(Threads *t, IrRegion *region);

static int64_t longest_row(const IrRegion *region) {
  int64_t cells = 1;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_ROW) cells = max_i64(cells, inst->end);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      cells = max_i64(cells, longest_row(inst->regions[i]));
  }
  return cells;
}

static void write_grid(Threads *t, IrInst *grid) {
  IrRegion *body = grid->regions[0];
  int64_t cells = longest_row(body), rows = 1, width = 1;
  while (width < cells && width < t->count) width *= 2;
  for (int axis = 0; axis < body->params.count; axis++) rows *= grid->extent[axis];
  int64_t insts = count_unrolled_insts(body) * max_i64(1, cells / width);
  IrBuilder b = rewrite_before(t->kernel, grid);
  IrInst *own = thread_over(t, &b, width);
  Threads group = *t;
  group.count = width;
  write_region(&group, body);
  deal_out(t, grid, own, t->count / width, rows, insts, give_row);
}

static void write_row(Threads *t, IrInst *row) {
  ASSERT(row->lanes <= 1, "threads share its cells: it has no vectors");
  cell_loops_set_active(t->kernel, row->regions[0]);
  IrBuilder b = rewrite_before(t->kernel, row);
  IrInst *own = thread_in(t, &b, t->count);
  deal_out(t, row, own, t->count, row->end, count_unrolled_insts(row->regions[0]), give_cell);
}

static void write_region(Threads *t, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      if (inst->op != IR_GRID || !t->share) write_region(t, inst->regions[i]);
    if (inst->op == IR_GRID && t->share) write_grid(t, inst);
    else if (inst->op == IR_ROW && t->share) write_row(t, inst);
    else if (inst->op == IR_GATHERED) write_gathered(t, inst);
    else if (inst->op == IR_ALL_GATHER) write_all_gather(t, inst);
  }
}

void cell_loops_share(Scratch *scratch, IrKernel *kernel, IrTask *task) {
  Threads threads = {.kernel = kernel, .scratch = scratch, .count = max_i64(1, task->spread)};
  ASSERT(threads.count <= IR_MAX_SPREAD, "threads of one block share a leaf");
  IrBuilder b = {.kernel = kernel, .region = task->body, .before = task->body->first};
  threads.share = threads.count > 1;
  if (threads.share)
    threads.thread = ir_convert(&b, ir_call(&b, RT_BLOCK_THREAD, 0, 0, 0, NULL), TYPE(U32));
  write_region(&threads, task->body);
}
