/* refcounts_test.c - runs random functions, with and without the pass `refcounts`, in an
 * interpreter that keeps the counts: no array is used after its end, and in the end every array has
 * as many references as there are memory cells that hold it, in globals and in arrays. Functions
 * call others with their arrays. With and without the pass, and with the same branches taken. */
#include <stdlib.h>

#include "check.h"
#include "ir/task.h"
#include "pass/pass.h"

enum {
  CELLS = 4,
  OWN_CELLS = 2,
  FUNCTIONS = 2,
  MOST_OBJECTS = 4000,
  MOST_STEPS = 3000,
  DEEPEST = 5
};

/* -- random functions -------------------------------------------------------------------------- */

typedef struct Known {
  IrInst *value, *var, *guard;
} Known; /* var: the value changes */

typedef struct Maker {
  Scratch *scratch;
  IrKernel *kernel;
  IrBuilder b;
  IrRegion *top;
  bool is_host;
  int callable; /* functions that may be called from here */
  uint64_t seed;
  VEC(Known) known;    /* arrays that may be used here */
  VEC(IrInst *) owned; /* guards in use, innermost last */
  VEC(int) loops;      /* by loop: how many were in use around it */
} Maker;

static uint32_t draw(uint64_t *seed, uint32_t below) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33) % below;
}

static IrInst *make_guard(Maker *m) {
  IrBuilder top = m->b;
  top.region = m->top;
  top.before = m->top->first;
  IrInst *guard = ir_var(&top, TYPE(I64));
  guard->owns = true;
  return guard;
}

static void count(Maker *m, IrOp op, IrInst *guard, IrInst *other) {
  ir_emit(&m->b, op, TYPE(NONE), other ? 2 : 1, (IrInst *[]){guard, other});
}

static IrInst *number(Maker *m, Type type, int64_t value) {
  return ir_const_int(&m->b, type, value);
}

static IrInst *make_array(Maker *m) {
  return ir_call(&m->b, RT_ARRAY_NEW, 0, 0, 4,
                 (IrInst *[]){number(m, TYPE(I64), 1), number(m, TYPE(I32), 8),
                              number(m, TYPE(I64), 0), number(m, TYPE(I32), 0)});
}

static void use(Maker *m, IrInst *array) {
  ir_call(&m->b, RT_ARRAY_LENGTH, 0, 0, 2, (IrInst *[]){array, number(m, TYPE(I32), 8)});
}

static IrInst *cell(Maker *m) {
  IrInst *base = ir_emit(&m->b, IR_AMBIENT, TYPE(PTR), 0, NULL), *zero = number(m, TYPE(I32), 0);
  IrInst *at = ir_emit(&m->b, IR_OFFSET, TYPE(PTR), 2, (IrInst *[]){base, zero});
  at->stride = 1;
  at->imm = 8 * (int64_t)draw(&m->seed, CELLS);
  return at;
}

static IrInst *own_cell(Maker *m, IrInst *array, RtEntry entry) {
  return ir_call(&m->b, entry, 0, 0, 3,
                 (IrInst *[]){array, number(m, TYPE(I64), draw(&m->seed, OWN_CELLS)),
                              number(m, TYPE(I32), 8)});
}

/* Of memory, or of an array. */
static IrInst *some_cell(Maker *m, RtEntry entry);

/* Drawn again each time: the pass moves none of these. */
static IrInst *condition(Maker *m) {
  return ir_emit(&m->b, m->is_host ? IR_ARG : IR_FRAME_GET, TYPE(BOOL), 0, NULL);
}

static const Known *pick(Maker *m) {
  return m->known.count ? &m->known.items[draw(&m->seed, (uint32_t)m->known.count)] : NULL;
}

static IrInst *value_of(Maker *m, const Known *known) {
  return known->var ? ir_get(&m->b, known->var) : known->value;
}

static IrInst *some_cell(Maker *m, RtEntry entry) {
  const Known *known = pick(m);
  bool is_own = known && draw(&m->seed, 2);
  return is_own ? own_cell(m, value_of(m, known), entry) : cell(m);
}

static void invoke(Maker *m, IrInst *array) {
  if (!m->callable) return;
  ir_emit(&m->b, IR_INVOKE, TYPE(NONE), 1, &array)->imm = draw(&m->seed, (uint32_t)m->callable);
}

static bool is_closed(const Maker *m) {
  const IrInst *last = m->b.region->last;
  return last && (ir_effects(last) & IR_EXIT || last->op == IR_FAULT);
}

static void statements(Maker *m, int depth);

static void within(Maker *m, Known known, int depth) {
  vec_push(m->scratch, &m->known, known);
  vec_push(m->scratch, &m->owned, known.guard);
  statements(m, depth + 1);
  m->known.count--;
  m->owned.count--;
  if (!is_closed(m)) count(m, IR_RELEASE, known.guard, NULL);
}

static void arm(Maker *m, IrRegion *region, int depth) {
  IrRegion *back = m->b.region;
  m->b.region = region;
  statements(m, depth + 1);
  m->b.region = back;
}

/* A task's function goes on with the next iteration; the host region's end releases all. */
static void leave_all(Maker *m) {
  for (int k = m->owned.count - 1; k >= 0 && !m->is_host; k--)
    count(m, IR_RELEASE, m->owned.items[k], NULL);
  if (m->is_host) ir_emit(&m->b, IR_RETURN, TYPE(NONE), 0, NULL);
  else ir_continue(&m->b, m->loops.count);
}

static void leave_loop(Maker *m) {
  for (int k = m->owned.count - 1; k >= vec_last(&m->loops); k--)
    count(m, IR_RELEASE, m->owned.items[k], NULL);
  ir_break(&m->b, 0);
}

static void loop(Maker *m, int depth) {
  IrRegion *back = m->b.region;
  IrInst *inst = ir_loop(&m->b);
  m->b.region = inst->regions[0];
  vec_push(m->scratch, &m->loops, m->owned.count);
  IrInst *branch = ir_if(&m->b, condition(m));
  m->b.region = branch->regions[0];
  leave_loop(m);
  m->b.region = inst->regions[0];
  statements(m, depth + 1);
  m->loops.count--;
  m->b.region = back;
}

static void store(Maker *m, IrInst *array) {
  IrInst *guard = make_guard(m), *old_guard = make_guard(m), *at = some_cell(m, RT_ARRAY_AT);
  count(m, IR_ACQUIRE, guard, array);
  count(m, IR_DISOWN, guard, NULL);
  IrInst *old = ir_call(&m->b, RT_ARRAY_EXCHANGE, 0, 0, 2, (IrInst *[]){at, array});
  count(m, IR_OWN, old_guard, old);
  count(m, IR_RELEASE, old_guard, NULL);
}

static void assign(Maker *m, const Known *to, IrInst *array) {
  IrInst *guard = make_guard(m);
  count(m, IR_ACQUIRE, guard, array);
  count(m, IR_RELEASE, to->guard, NULL);
  count(m, IR_MOVE, to->guard, guard);
  ir_set(&m->b, to->var, array);
}

static void statement(Maker *m, int depth) {
  const Known *known = pick(m);
  IrInst *array = known ? value_of(m, known) : make_array(m), *guard = make_guard(m), *at;
  if (!known) count(m, IR_OWN, guard, array);
  if (!known) return within(m, (Known){.value = array, .guard = guard}, depth);
  bool is_deep = depth >= DEEPEST;
  switch (draw(&m->seed, is_deep ? 4 : 13)) {
  case 0:
  case 1: return use(m, array);
  case 2: return store(m, array);
  case 3:
    if (known->var && m->known.count > 1) assign(m, known, value_of(m, pick(m)));
    return;
  case 4:
    array = make_array(m);
    count(m, IR_OWN, guard, array);
    return within(m, (Known){.value = array, .guard = guard}, depth);
  case 5:
  case 6:
    count(m, IR_ACQUIRE, guard, array);
    return within(m, (Known){.value = array, .guard = guard}, depth);
  case 7: {
    IrInst *var = ir_var(&m->b, TYPE(I64));
    count(m, IR_ACQUIRE, guard, array);
    ir_set(&m->b, var, array);
    return within(m, (Known){.var = var, .guard = guard}, depth);
  }
  case 8:
    at = some_cell(m, RT_ARRAY_READ);
    array = ir_emit(&m->b, IR_MEM_LOAD, TYPE(I64), 1, &at);
    count(m, IR_ACQUIRE, guard, array);
    invoke(m, value_of(m, pick(m))); /* which may overwrite that cell */
    use(m, array);
    return within(m, (Known){.value = array, .guard = guard}, depth);
  case 9:
  case 10: {
    IrInst *branch = ir_if(&m->b, condition(m));
    arm(m, branch->regions[0], depth);
    return arm(m, branch->regions[1], depth);
  }
  case 11: return invoke(m, array);
  default: return loop(m, depth);
  }
}

static void statements(Maker *m, int depth) {
  int count_of = 1 + (int)draw(&m->seed, 4);
  for (int k = 0; k < count_of && !is_closed(m); k++) statement(m, depth);
  if (is_closed(m) || depth < 2) return;
  uint32_t end = draw(&m->seed, 30);
  if (end == 0) leave_all(m);
  if (end == 1) ir_emit(&m->b, IR_FAULT, TYPE(NONE), 0, NULL);
  if (end == 2 && m->loops.count) leave_loop(m);
}

/* It owns no reference to its arguments: its caller does. */
static void make_function(Maker *m) {
  IrFunction *function = scratch_new(m->scratch, IrFunction);
  *function = (IrFunction){.name = "f", .body = ir_region_create(m->kernel, NULL)};
  vec_push(m->scratch, &m->kernel->functions, function);
  m->top = m->b.region = function->body;
  IrInst *given = ir_region_param(m->kernel, function->body, TYPE(I64));
  vec_push(m->scratch, &m->known, (Known){.value = given});
  statements(m, 0);
  if (!is_closed(m)) ir_emit(&m->b, IR_RETURN, TYPE(NONE), 0, NULL);
  m->known.count = 0;
}

static IrKernel *make(Scratch *scratch, uint64_t seed, bool in_task) {
  IrKernel *kernel = ir_kernel_create(scratch, "k");
  kernel->frame_slots = 4;
  ir_add_arg(kernel, TYPE(BOOL), "c", 0, 0);
  Maker m = {
      .scratch = scratch, .kernel = kernel, .seed = seed, .b = {.kernel = kernel}, .is_host = true};
  for (; m.callable < FUNCTIONS; m.callable++) make_function(&m);
  m.is_host = !in_task;
  m.top = m.b.region = kernel->body;
  if (in_task) {
    IrTask *task = scratch_new(scratch, IrTask);
    *task =
        (IrTask){.kind = TASK_RANGE, .cost = 1, .axis_count = 1, .index = TYPE(I32), .bounds = 2};
    task->body = m.top = m.b.region = ir_region_create(kernel, NULL);
    ir_region_param(kernel, task->body, TYPE(I32));
    vec_push(scratch, &kernel->tasks, task);
  }
  statements(&m, 0);
  return kernel;
}

/* -- the interpreter --------------------------------------------------------------------------- */

typedef enum Flow { GOES_ON, BREAKS, ENDS, FAILS } Flow;

typedef struct Machine {
  int64_t *values; /* by id; of a VAR what it holds */
  const IrKernel *kernel;
  int64_t memory[CELLS + OWN_CELLS * MOST_OBJECTS]; /* global; then of each array */
  int64_t counts[MOST_OBJECTS];
  int objects, steps;
  uint64_t seed;
  const char *wrong;
  long long acquires;
} Machine;

static void fail(Machine *m, const char *why) {
  if (!m->wrong) m->wrong = why;
}

static void look(Machine *m, int64_t array, const char *why) {
  if (array && m->counts[array] < 1) fail(m, why);
}

static int64_t *cells_of(Machine *m, int64_t array) {
  return &m->memory[CELLS + OWN_CELLS * array];
}

static void release(Machine *m, int64_t *guard) {
  int64_t array = *guard;
  look(m, array, "released after its end");
  *guard = 0;
  if (!array || --m->counts[array] > 0) return;
  for (int k = 0; k < OWN_CELLS; k++) release(m, &cells_of(m, array)[k]);
}

static int64_t make_object(Machine *m) {
  if (++m->objects == MOST_OBJECTS) return m->objects = 0;
  m->counts[m->objects] = 1;
  return m->objects;
}

static int64_t call_of(Machine *m, const IrInst *inst) {
  if (inst->entry == RT_ARRAY_NEW) return make_object(m);
  if (inst->entry == RT_ARRAY_LENGTH) {
    look(m, m->values[inst->operands[0]->id], "used after its end");
    return 0;
  }
  if (inst->entry == RT_ARRAY_AT || inst->entry == RT_ARRAY_READ) {
    look(m, m->values[inst->operands[0]->id], "reached into after its end");
    return cells_of(m, m->values[inst->operands[0]->id]) - m->memory + inst->operands[1]->imm;
  }
  int64_t *place = &m->memory[m->values[inst->operands[0]->id]], old = *place;
  *place = m->values[inst->operands[1]->id];
  return old;
}

static Flow run(Machine *m, const IrRegion *region);

static Flow run_loop(Machine *m, const IrInst *inst) {
  Flow flow;
  do flow = run(m, inst->regions[0]);
  while (flow == GOES_ON);
  return flow == BREAKS ? GOES_ON : flow;
}

static bool end_guard(void *data, IrInst *inst) {
  Machine *m = data;
  if (inst->op == IR_VAR && inst->owns) release(m, &m->values[inst->id]);
  return true;
}

static Flow run_function(Machine *m, const IrInst *inst) {
  const IrFunction *function = m->kernel->functions.items[inst->imm];
  m->values[function->body->params.items[0]->id] = m->values[inst->operands[0]->id];
  Flow flow = run(m, function->body);
  ir_walk(function->body, end_guard, m);
  return flow == FAILS ? FAILS : GOES_ON;
}

static Flow step(Machine *m, const IrInst *inst) {
  int64_t *own = &m->values[inst->id],
          *guard = inst->operand_count ? &m->values[inst->operands[0]->id] : NULL;
  switch (inst->op) {
  case IR_VAR:
    if (!inst->owns) *own = 0;
    break;
  case IR_GET: *own = *guard; break;
  case IR_SET: *guard = m->values[inst->operands[1]->id]; break;
  case IR_ARG:
  case IR_FRAME_GET: *own = m->steps > MOST_STEPS || draw(&m->seed, 3) == 0; break;
  case IR_OFFSET: *own = inst->imm / 8; break;
  case IR_CONST: *own = inst->imm; break;
  case IR_MEM_LOAD: *own = m->memory[*guard]; break;
  case IR_INVOKE: return run_function(m, inst);
  case IR_CALL: *own = call_of(m, inst); break;
  case IR_ACQUIRE:
    look(m, m->values[inst->operands[1]->id], "acquired after its end");
    m->counts[m->values[inst->operands[1]->id]]++;
    m->acquires++;
    /* fallthrough */
  case IR_OWN:
    if (*guard) fail(m, "a guard has two");
    *guard = m->values[inst->operands[1]->id];
    break;
  case IR_MOVE:
    if (*guard) fail(m, "a guard has two");
    *guard = m->values[inst->operands[1]->id];
    m->values[inst->operands[1]->id] = 0;
    break;
  case IR_RELEASE: release(m, guard); break;
  case IR_DISOWN: *guard = 0; break;
  case IR_IF: return run(m, inst->regions[m->values[inst->operands[0]->id] ? 0 : 1]);
  case IR_LOOP: return run_loop(m, inst);
  case IR_BREAK: return BREAKS;
  case IR_FAULT: return FAILS;
  case IR_RETURN:
  case IR_CONTINUE: return ENDS;
  default: break;
  }
  return GOES_ON;
}

static Flow run(Machine *m, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    m->steps++;
    Flow flow = step(m, inst);
    if (flow != GOES_ON) return flow;
  }
  return GOES_ON;
}

static void check_memory(Machine *m) {
  for (int k = 1; k <= m->objects; k++) {
    int64_t held = 0;
    for (int i = 0; i < CELLS + OWN_CELLS * (m->objects + 1); i++) held += m->memory[i] == k;
    if (held != m->counts[k]) fail(m, "its count is not that of the memory");
  }
}

/* Several runs, with memory kept from one to the next. */
static const char *interpret(Scratch *scratch, const IrKernel *kernel, uint64_t seed,
                             long long *acquires) {
  IrRegion *body = kernel->tasks.count ? kernel->tasks.items[0]->body : kernel->body;
  Machine *m = scratch_new(scratch, Machine);
  m->seed = seed;
  m->kernel = kernel;
  m->values = scratch_array(scratch, int64_t, kernel->next_id);
  for (int k = 0; k < 5 && !m->wrong; k++) {
    m->steps = 0;
    run(m, body);
    ir_walk(body, end_guard, m);
    m->counts[0] = 0;
    check_memory(m);
  }
  *acquires += m->acquires;
  return m->wrong;
}

int main(int argc, char **argv) {
  Heap heap;
  Scratch scratch;
  heap_init(&heap, 0);
  int kernels = argc > 1 ? atoi(argv[1]) : 3000;
  TEST("random functions have right reference counts without what the pass removes") {
    long long before = 0, after = 0;
    for (int k = 0; k < kernels; k++) {
      scratch_init(&scratch, &heap);
      Error err = {0};
      uint64_t seed = (uint64_t)k * 7919 + 17;
      bool in_task = k % 2;
      IrKernel *naive = make(&scratch, seed, in_task), *pruned = make(&scratch, seed, in_task);
      PassContext ctx = {
          .scratch = &scratch, .vector_bytes = 32, .target = target_cpu, .verify = true};
      if (!pass_run_named(&ctx, pruned, "refcounts", &err)) {
        CHECK_TEXT(err.message, "");
        break;
      }
      const char *wrong = interpret(&scratch, naive, seed, &before),
                 *then = interpret(&scratch, pruned, seed, &after);
      if (wrong || then) {
        printf("kernel %d\n", k);
        CHECK_TEXT(wrong ? wrong : "", "");
        CHECK_TEXT(then ? then : "", "");
        StrBuf text;
        strbuf_init(&text, &scratch);
        ir_print(&text, naive);
        strbuf_text(&text, "\n---\n");
        ir_print(&text, pruned);
        printf("%s\n", strbuf_end(&text));
        break;
      }
      scratch_deinit(&scratch);
    }
    CHECK(after < before);
    printf("# %lld acquires, %lld after the pass\n", before, after);
  }
  return check_report();
}
