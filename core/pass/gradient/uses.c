/* uses.c - which elements an adjoint reads once more, and which its primal overwrites.
 *
 * Derivatives need values of elements as the primal read them. The adjoint reads them again, when
 * the launch is over. So for each field whose elements it reads:
 *
 *     no element is overwritten after it was read     it finds them as the launch left them
 *     none is read after it was overwritten           it finds them as they were before the launch:
 *                                                     who runs it puts them back first
 *     both, of different accesses                     refused
 *
 * Parallel iterations are no order: of elements that one of them writes and another one reads, the
 * language does not say which value is read. */
#include "pass/gradient/uses.h"

#include "pass/analysis/dependence.h"

typedef VEC(IrInst *) InstList;

typedef struct Uses {
  Plans *plans;
  int *order; /* by id: position in the text */
  int next;
  InstList reads, writes; /* LOADs that are needed; insts that write to elements */
  InstList others;        /* LOADs whose values no derivative needs */
} Uses;

static bool is_needed(const Plans *p, const IrInst *load) {
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

static bool note_access(void *data, IrInst *inst) {
  Uses *u = data;
  Scratch *scratch = u->plans->scratch;
  u->order[inst->id] = u->next++;
  bool writes =
      inst->op == IR_STORE || inst->op == IR_UPDATE || inst->op == IR_RMW || inst->op == IR_CAS;
  if ((!writes && inst->op != IR_LOAD) || inst->operands[0]->op != IR_PLACE) return true;
  InstList *list = writes ? &u->writes : is_needed(u->plans, inst) ? &u->reads : &u->others;
  vec_push(scratch, list, inst);
  return true;
}

/* -- which comes first ------------------------------------------------------------------------- */

typedef enum Sequence { NEVER_MEET, WRITE_FIRST, READ_FIRST, UNKNOWN } Sequence;

/* Does an index that all iterations of the launch share differ? */
static bool is_elsewhere(const IrInst *a, const IrInst *b) {
  for (int k = 0; k < a->operand_count && k < b->operand_count; k++) {
    Affine first, second;
    int64_t distance = 0;
    if (!facts_affine(a->operands[k], NULL, &first) ||
        !facts_affine(b->operands[k], NULL, &second) ||
        !facts_affine_distance(&first, &second, &distance) || !distance)
      continue;
    bool is_shared = true;
    for (int i = 0; i < first.count; i++) is_shared &= facts_is_of_launch(first.values[i]);
    if (is_shared) return true;
  }
  return false;
}

static bool counts_up(const IrInst *loop) {
  int64_t step;
  return loop->op == IR_FOR && ir_is_const(loop->operands[2], &step) && step > 0;
}

enum { MOST_LOOPS = 2 };

/* The serial loops around both, outermost first; -1: too many, or of other kinds. */
static int loops_around(const IrInst *a, const IrInst *b, const IrInst *loops[MOST_LOOPS]) {
  int count = 0;
  for (const IrInst *at = a->region->owner; at; at = at->region->owner) {
    bool is_serial = at->op == IR_FOR || at->op == IR_LOOP || at->op == IR_BITS || at->serial;
    if (!is_serial || !ir_is_inside(b, at->regions[0])) continue;
    if (count == MOST_LOOPS || !counts_up(at)) return -1;
    if (count) loops[1] = loops[0];
    loops[0] = at;
    count++;
  }
  return count;
}

/* By the loops around them, or, in one iteration, by the text. */
static Sequence sequence_of(const Uses *u, const IrInst *write, const IrInst *read) {
  const IrInst *loops[MOST_LOOPS], *from = write->operands[0], *to = read->operands[0];
  Sequence in_text = u->order[write->id] < u->order[read->id] ? WRITE_FIRST : READ_FIRST;
  if (from->field != to->field || is_elsewhere(from, to)) return NEVER_MEET;
  int count = loops_around(write, read, loops);
  if (count <= 0) return count < 0 ? UNKNOWN : in_text;
  Scratch *scratch = u->plans->scratch;
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

/* -- fields ------------------------------------------------------------------------------------ */

/* What is known of one field's needed reads. */
typedef struct Reading {
  const IrInst *overwritten; /* a write after a read; NULL: there is none */
  const IrInst *written;     /* a write before a read */
  int line;                  /* of the read that was overwritten */
} Reading;

static void compare(const Uses *u, const IrInst *read, Reading *reading) {
  for (int i = 0; i < u->writes.count; i++) {
    const IrInst *write = u->writes.items[i];
    Sequence sequence = sequence_of(u, write, read);
    if (sequence == READ_FIRST || sequence == UNKNOWN) {
      reading->overwritten = write;
      reading->line = read->line;
    }
    if (sequence == WRITE_FIRST || sequence == UNKNOWN) reading->written = write;
  }
}

/* -- the first index, where launches know it --------------------------------------------------- */

static void note_first(const IrInst *place, IrGradientUse *use) {
  Affine sum;
  use->arg = -1;
  if (place->operand_count < 2 || !facts_affine(place->operands[0], NULL, &sum)) return;
  bool is_arg = sum.count == 1 && sum.factors[0] == 1 && sum.values[0]->op == IR_ARG;
  if (sum.count && !is_arg) return;
  use->has_first = true;
  use->first = sum.constant;
  if (is_arg) use->arg = (int32_t)sum.values[0]->imm;
}

static bool is_one(const IrGradientUse *a, const IrGradientUse *b) {
  return a->field == b->field && a->has_first == b->has_first && a->arg == b->arg &&
         a->first == b->first;
}

static void note_use(IrKernel *kernel, IrGradientUse use) {
  for (int i = 0; i < kernel->gradient_uses.count; i++) {
    IrGradientUse *known = &kernel->gradient_uses.items[i];
    if (!is_one(known, &use)) continue;
    known->reads |= use.reads;
    known->writes |= use.writes;
    known->before |= use.before;
    return;
  }
  vec_push(kernel->scratch, &kernel->gradient_uses, use);
}

static void note_uses(const Uses *u, const InstList *list, IrGradientUse use, int field) {
  for (int i = 0; i < list->count; i++) {
    const IrInst *place = list->items[i]->operands[0];
    if (field >= 0 && place->field != field) continue;
    use.field = place->field;
    note_first(place, &use);
    note_use(u->plans->kernel, use);
    use.has_first = false;
    use.first = 0;
  }
}

static void note_reads(const Uses *u, int field) {
  Plans *p = u->plans;
  Reading reading = {0};
  for (int i = 0; i < u->reads.count; i++)
    if (u->reads.items[i]->operands[0]->field == field) compare(u, u->reads.items[i], &reading);
  if (reading.overwritten && reading.written) {
    const char *name = p->kernel->fields.items[field].name;
    plans_refuse(p, reading.overwritten,
                 scratch_format(p->scratch,
                                "'%s' is overwritten here after line %d has read it, and the "
                                "derivative needs what was read",
                                name, reading.line),
                 "write to another field, or divide the kernel in two");
    return;
  }
  note_uses(u, &u->reads, (IrGradientUse){.reads = true, .before = reading.overwritten != NULL},
            field);
}

void uses_find(Plans *p) {
  Uses uses = {.plans = p, .order = scratch_array(p->scratch, int, p->id_count)};
  ir_walk(p->kernel->body, note_access, &uses);
  for (int field = 0; field < p->kernel->fields.count; field++) note_reads(&uses, field);
  note_uses(&uses, &uses.writes, (IrGradientUse){.writes = true}, -1);
  note_uses(&uses, &uses.others, (IrGradientUse){0}, -1);
}
