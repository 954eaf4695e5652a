/* unroll.c - unrolls small nests of numeric `for` over elements, so that their indices become base
 * + constant.
 *
 *   for 0, 2, 1 (%a) { load place f0 %i + %a }   =>   load place f0 %i; load place f0 %i + 1; ..
 *
 * Where the accesses' bases depend on data (floor of a particle's position), one check in front of
 * the nest decides between two versions (window.h): the one whose places are inside is written out,
 * the other stays a loop (`rolled`). A task that has an interior is touched there only: its checked
 * body runs at the rim. One that has a privatised version is not touched. The copies of a nest are
 * at most MAX_TURNS, and no body grows beyond MAX_INSTS.
 * Keeps the order of insts, and leaves constants for `fold`. */
#include "base/bits.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/window.h"

enum { MAX_TURNS = 64, MAX_INSTS = 4000 };

typedef struct Unroll {
  IrKernel *kernel;
  const IrTask *task;
  const IrRegion *body;
  int64_t insts;        /* of the body at the moment */
} Unroll;

/* -- what may be unrolled ---------------------------------------------------------------------- */

/* The trip count of a FOR between constants; 0: none, unknown, or too many. */
static int turns_of(const IrInst *loop, int64_t *begin, int64_t *step) {
  int64_t last;
  if (loop->op != IR_FOR || !type_is_integer(loop->operands[0]->type)) return 0;
  if (!ir_is_const(loop->operands[0], begin) || !ir_is_const(loop->operands[1], &last) ||
      !ir_is_const(loop->operands[2], step))
    return 0;
  int64_t distance;
  if (*step == 0 || __builtin_sub_overflow(last, *begin, &distance) ||
      (distance < 0) != (*step < 0 && distance != 0))
    return 0;
  if (distance == INT64_MIN || distance / *step >= MAX_TURNS) return 0;
  return (int)(distance / *step) + 1;
}

/* Does an exit in the region leave the loop `depth` levels out, or an outer one? */
static bool leaves_loop(const IrRegion *region, int depth) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if ((inst->op == IR_BREAK || inst->op == IR_CONTINUE) && inst->imm >= depth) return true;
    int deeper = inst->op == IR_LOOP || inst->op == IR_FOR;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i] && leaves_loop(inst->regions[i], depth + deeper)) return true;
  }
  return false;
}

/* Elements of the visited node need neither checks nor look-ups: nothing would be gained. */
static bool note_place(void *data, IrInst *inst) {
  return !(*(bool *)data = inst->op == IR_PLACE && !inst->here);
}

static bool has_place(IrRegion *region) {
  bool found = false;
  ir_walk(region, note_place, &found);
  return found;
}

static bool can_unroll(const IrInst *loop) {
  int64_t begin, step;
  return turns_of(loop, &begin, &step) > 0 && !leaves_loop(loop->regions[0], 0) &&
         has_place(loop->regions[0]);
}

/* Insts of the region after unrolling every loop in it that can be; *turns: copies of the
 * innermost. */
static int64_t size_written_out(const IrRegion *region, int64_t *turns) {
  int64_t size = 0, most = 1;
  for (const IrInst *inst = region->first; inst && size <= MAX_INSTS; inst = inst->next) {
    int64_t inside = 0, begin, step, deeper = 1;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) inside += size_written_out(inst->regions[i], &deeper);
    int own = can_unroll(inst) ? turns_of(inst, &begin, &step) : 1;
    size += own * inside + 1;
    most = max_i64(most, own * deeper);
  }
  *turns = max_i64(*turns, most);
  return size;
}

/* -- unrolling --------------------------------------------------------------------------------- */

static void unroll(Unroll *u, IrInst *loop);

static void unroll_inside(Unroll *u, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) unroll_inside(u, inst->regions[i]);
    if (can_unroll(inst)) unroll(u, inst);
  }
}

/* Inner loops first, so that each is visited once. */
static void unroll(Unroll *u, IrInst *loop) {
  int64_t begin, step;
  int turns = turns_of(loop, &begin, &step);
  IrRegion *region = loop->regions[0];
  unroll_inside(u, region);
  IrInst **map = scratch_array(u->kernel->scratch, IrInst *, u->kernel->next_id);
  const IrInst *param = region->params.items[0];
  IrBuilder b = rewrite_before(u->kernel, loop);
  for (int t = 0; t < turns; t++) {
    map[param->id] = ir_const_int(&b, param->type, begin + t * step);
    for (const IrInst *inst = region->first; inst; inst = inst->next)
      ir_insert_before(loop, ir_copy_inst(u->kernel, inst, map));
  }
  ir_remove(loop);
}

/* -- nests ------------------------------------------------------------------------------------- */

static bool mark_rolled(void *data, IrInst *inst) {
  if (inst->op == IR_FOR) inst->rolled = true;
  return true;
}

/* The outermost loop of a sufficiently small nest. */
static bool visit_nest(Unroll *u, IrInst *loop) {
  int64_t begin, step, turns = 1;
  if (!can_unroll(loop)) return false;
  int own = turns_of(loop, &begin, &step);
  int64_t size = own * size_written_out(loop->regions[0], &turns);
  if (own * turns > MAX_TURNS || u->insts + size > MAX_INSTS) return false;
  u->insts += size;
  bool cells = u->task->kind == TASK_LEAVES && u->task->cells;
  IrInst *inside = window_split(u->kernel, loop, u->body, cells);
  if (inside) ir_walk(inside->region->owner->regions[1], mark_rolled, NULL);
  ir_note(u->kernel, loop->line, "the loop is unrolled: %d copies", (int)(own * turns));
  unroll(u, inside ? inside : loop);
  return true;
}

static void visit_region(Unroll *u, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (visit_nest(u, inst)) continue;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) visit_region(u, inst->regions[i]);
  }
}

bool pass_unroll(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->privatised || (task->kind == TASK_LEAVES && !task->cells)) continue;
    IrRegion *body = task->interior ? task->interior : task->body;
    Unroll u = {.kernel = kernel, .task = task, .body = body, .insts = rewrite_count(body)};
    visit_region(&u, body);
  }
  return true;
}
