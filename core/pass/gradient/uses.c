/* uses.c - finds which elements an adjoint reads again, and which its primal overwrites.
 *
 * Derivatives need the values of elements that the primal read. The adjoint reads them again, after
 * the launch. So for each field whose elements it reads:
 *
 *     no element is overwritten after it was read     they still are as the launch left them
 *     none is read after it was overwritten           the host restores them first, as they were
 *                                                     before the launch
 *     both, by different accesses                     from the restored elements, the adjoint runs
 *                                                     all writes once more, and tapes what is read
 *
 * Parallel iterations have no order: if one of them writes an element that another one reads, the
 * language does not define which value is read. */

#include "pass/analysis/dependence.h"
#include "pass/gradient/plan.h"
#include "pass/rewrite.h"

typedef VEC(IrInst *) InstList;

typedef struct Uses {
  Plans *plans;
  int *order; /* by id: position in the text */
  int next;
  InstList reads, writes; /* LOADs that are needed; insts that write to elements */
  InstList others;        /* LOADs whose values no derivative needs */
} Uses;

static bool is_needed(const Plans *p, const IrInst *load) {
  if (tape_has(&p->tape, load)) return false;
  for (const IrRegion *region = load->region; region;
       region = region->owner ? region->owner->region : NULL) {
    for (int k = 0; k < IR_MAX_REGIONS; k++) {
      const Plan *plan = plan_of(p, region->owner, k);
      if (plan && (plan->needed[load->id] || (plan->carried && plan->carried[load->id])))
        return true;
    }
  }
  return false;
}

static void record_access(Uses *u, IrInst *inst) {
  Scratch *scratch = u->plans->kernel->scratch;
  u->order[inst->id] = u->next++;
  bool writes = rewrite_is_write(inst->op);
  if ((!writes && inst->op != IR_LOAD) || inst->operands[0]->op != IR_PLACE) return;
  InstList *list = writes ? &u->writes : is_needed(u->plans, inst) ? &u->reads : &u->others;
  vec_push(scratch, list, inst);
}

/* -- which comes first ------------------------------------------------------------------------- */

typedef enum Sequence { NEVER_MEET, WRITE_FIRST, READ_FIRST, UNKNOWN } Sequence;

/* Do the places differ by a constant in an index that is the same in the whole launch? */
static bool is_other_element(const IrInst *a, const IrInst *b) {
  for (int k = 0; k < a->operand_count && k < b->operand_count; k++) {
    if (facts_differ(a->operands[k], b->operands[k]) && facts_is_launch_invariant(a->operands[k]))
      return true;
  }
  return false;
}

enum { MOST_LOOPS = 2 };

/* The serial loops around both, outermost first; -1: too many, or of other kinds. */
static int loops_around(const IrInst *a, const IrInst *b, const IrInst *loops[MOST_LOOPS]) {
  int count = 0;
  for (const IrInst *at = a->region->owner; at; at = at->region->owner) {
    bool is_serial = at->op == IR_FOR || at->op == IR_LOOP || at->op == IR_BITS || at->serial;
    if (!is_serial || !ir_is_inside(b, at->regions[0])) continue;
    if (count == MOST_LOOPS || facts_step(at) <= 0) return -1;
    if (count) loops[1] = loops[0];
    loops[0] = at;
    count++;
  }
  return count;
}

/* Is the read the one that updates_split adds to a minimum or maximum, which means the element
 * after the parallel loop, and is the write in that loop? */
static bool ends_in_winner(const IrInst *write, const IrInst *read) {
  const IrInst *update = read->previous, *loop = ir_parallel_loop(read);
  bool is_winner = update && update->op == IR_UPDATE && update_has_winner(update) &&
                   update->operands[0] == read->operands[0];
  return is_winner && loop && !loop->region->owner && ir_parallel_loop(write) == loop;
}

/* Compares the accesses by the loops around them or, within an iteration, by the text. */
static Sequence sequence_of(const Uses *u, const IrInst *write, const IrInst *read) {
  const IrInst *loops[MOST_LOOPS], *from = write->operands[0], *to = read->operands[0];
  Sequence in_text = u->order[write->id] < u->order[read->id] ? WRITE_FIRST : READ_FIRST;
  if (from->field != to->field || is_other_element(from, to)) return NEVER_MEET;
  if (ends_in_winner(write, read)) return WRITE_FIRST;
  int count = loops_around(write, read, loops);
  if (count <= 0) return count < 0 ? UNKNOWN : in_text;
  Scratch *scratch = u->plans->kernel->scratch;
  LoopNest nest = count == 1 ? dependence_nest(loops[0]->regions[0])
                             : dependence_nest_of_two(loops[0]->regions[0], loops[1]);
  PlaceSums first = dependence_sums(scratch, &nest, from->operand_count, from->operands);
  PlaceSums second = dependence_sums(scratch, &nest, to->operand_count, to->operands);
  Distance distance = dependence_between(&first, &second);
  if (distance.never) return NEVER_MEET;
  for (int k = 0; k < count; k++) {
    if (!(distance.known >> k & 1)) return UNKNOWN;
    if (distance.by[k]) return distance.by[k] > 0 ? WRITE_FIRST : READ_FIRST;
  }
  return in_text;
}

/* -- what has to be taped ---------------------------------------------------------------------- */

/* How a needed read is ordered with the writes to its field. */
typedef struct Reading {
  bool is_overwritten; /* a write may come after it */
  bool is_written;     /* a write may come before it */
} Reading;

static Reading order_reading(const Uses *u, const IrInst *read) {
  Reading reading = {0};
  for (int i = 0; i < u->writes.count; i++) {
    Sequence sequence = sequence_of(u, u->writes.items[i], read);
    reading.is_overwritten |= sequence == READ_FIRST || sequence == UNKNOWN;
    reading.is_written |= sequence == WRITE_FIRST || sequence == UNKNOWN;
  }
  return reading;
}

/* Does the adjoint need values of the field that exist neither before the launch nor after it? */
static bool is_mixed(const Uses *u, int field) {
  Reading all = {0};
  for (int i = 0; i < u->reads.count; i++) {
    if (u->reads.items[i]->operands[0]->field != field) continue;
    Reading reading = order_reading(u, u->reads.items[i]);
    all.is_overwritten |= reading.is_overwritten;
    all.is_written |= reading.is_written;
  }
  return all.is_overwritten && all.is_written;
}

static Uses find_accesses(Plans *p) {
  Uses uses = {.plans = p, .order = scratch_array(p->kernel->scratch, int, p->id_count)};
  const IrRegion *body = p->kernel->body;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    record_access(&uses, inst);
  return uses;
}

void uses_tape(Plans *p) {
  Uses uses = find_accesses(p);
  for (int field = 0; field < p->kernel->fields.count; field++)
    p->tapes_elements |= is_mixed(&uses, field);
  for (int i = 0; p->tapes_elements && i < uses.reads.count; i++)
    if (order_reading(&uses, uses.reads.items[i]).is_overwritten)
      plans_tape(p, uses.reads.items[i]);
}

/* -- the first index, where launches know it --------------------------------------------------- */

static void set_first_index(const IrInst *place, IrGradientUse *use) {
  Affine sum;
  use->arg = -1;
  if (place->operand_count < 2 || !facts_affine(place->operands[0], NULL, &sum)) return;
  bool is_arg = sum.count == 1 && sum.factors[0] == 1 && sum.values[0]->op == IR_ARG;
  if (sum.count && !is_arg) return;
  use->has_first = true;
  use->first = sum.constant;
  if (is_arg) use->arg = (int32_t)sum.values[0]->imm;
}

static bool is_same_use(const IrGradientUse *a, const IrGradientUse *b) {
  return a->field == b->field && a->has_first == b->has_first && a->arg == b->arg &&
         a->first == b->first;
}

/* A dual counts as its field, since what is copied for one is copied for both. */
static void record_use(IrKernel *kernel, IrGradientUse use) {
  use.field = companion_primal(kernel, use.field);
  for (int i = 0; i < kernel->gradient_uses.count; i++) {
    IrGradientUse *known = &kernel->gradient_uses.items[i];
    if (!is_same_use(known, &use)) continue;
    known->reads |= use.reads;
    known->writes |= use.writes;
    known->before |= use.before;
    known->reruns |= use.reruns;
    if (!known->lost_line) known->lost_line = use.lost_line;
    if (!known->wanted_line) known->wanted_line = use.wanted_line;
    return;
  }
  vec_push(kernel->scratch, &kernel->gradient_uses, use);
}

static void record_uses(const Uses *u, const InstList *list, IrGradientUse use, int field) {
  for (int i = 0; i < list->count; i++) {
    const IrInst *place = list->items[i]->operands[0];
    if (field >= 0 && place->field != field) continue;
    use.field = place->field;
    set_first_index(place, &use);
    record_use(u->plans->kernel, use);
    use.has_first = false;
    use.first = 0;
  }
}

static void record_reads(const Uses *u, int field) {
  bool is_overwritten = false;
  for (int i = 0; i < u->reads.count; i++)
    if (u->reads.items[i]->operands[0]->field == field)
      is_overwritten |= order_reading(u, u->reads.items[i]).is_overwritten;
  record_uses(u, &u->reads, (IrGradientUse){.reads = true, .before = is_overwritten}, field);
}

/* The part that runs again begins with the elements as they were before the launch. */
static void record_rerun(const Uses *u, const IrInst *inst) {
  const Plans *p = u->plans;
  if (inst->op != IR_LOAD || inst->operands[0]->op != IR_PLACE || !p->rerun[inst->id]) return;
  IrGradientUse use = {.field = inst->operands[0]->field, .reads = true};
  for (int i = 0; i < u->writes.count; i++)
    use.before |= u->writes.items[i]->operands[0]->field == use.field;
  use.reruns = use.before;
  record_use(p->kernel, use);
}

/* Records where gradients are lost, in fields that have none. */
static void record_loss(const Plans *p, const IrInst *inst) {
  bool has_place = inst->operand_count && inst->operands[0]->op == IR_PLACE;
  if (!has_place || plan_has_gradient(p, inst)) return;
  IrGradientUse use = {.field = inst->operands[0]->field};
  if (inst->op == IR_LOAD && type_is_float(inst->type) && p->useful[inst->id])
    use.wanted_line = inst->line;
  if ((inst->op == IR_STORE || inst->op == IR_UPDATE) && p->varied[inst->operands[1]->id])
    use.lost_line = inst->line;
  record_use(p->kernel, use);
}

void uses_find(Plans *p) {
  ASSERT(!p->kernel->gradient_uses.count, "what a kernel's gradient uses is found once");
  Uses uses = find_accesses(p);
  bool draws = ir_has_op(p->kernel->body, IR_RANDOM_STREAM);
  for (int field = 0; field < p->kernel->fields.count; field++) record_reads(&uses, field);
  record_uses(&uses, &uses.writes, (IrGradientUse){.writes = true}, -1);
  record_uses(&uses, &uses.others, (IrGradientUse){0}, -1);
  const IrRegion *body = p->kernel->body;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) record_loss(p, inst);
  for (IrInst *inst = p->rerun ? body->first : NULL; inst; inst = ir_following(inst, body))
    record_rerun(&uses, inst);
  for (int i = 0; i < p->kernel->gradient_uses.count; i++)
    p->kernel->gradient_uses.items[i].draws = !draws ? 0 : p->rerun ? 2 : 1;
}
