/* model.c - see model.h. The runtime is compiled with RT_MODEL here, so that it calls rt_step
 * around its atomic accesses. A thread that waits for another one (rt_target_wait) is not resumed
 * before memory has changed, or no other thread is left; if all have been resumed in vain, there is
 * a deadlock. Trees are small (tiny_chunks), and only memory that they can access is restored
 * before a run and compared in a state. */
#include "model.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"

enum {
  SHIFT = 22,
  SEGMENTS = 8,
  TOUCHED = 512 /* bytes of a segment */,
  STACK = 8192,
  MAX_DEPTH = 4096,
  VISITED = 1 << 22,
  GROWN = 4096,
  LINE = 64
};

/* -- coroutines: registers go on the stack, so that a stack is all there is of a thread -------- */

void model_switch(void **from, void *to);
__asm__(".text\n.globl model_switch\n.hidden model_switch\n.type model_switch, "
        "@function\nmodel_switch:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
        ".size model_switch, .-model_switch\n");

typedef struct Thread {
  void *top; /* of what it has on its stack */
  const char *steps;
  bool is_done, waits;
  _Alignas(64) uint8_t stack[STACK];
} Thread;

typedef struct Choice {
  int taken, count;
} Choice;

static Thread threads[MODEL_THREADS];
static int thread_count, current; /* -1: none, nothing is interleaved */
static void *scheduler;

static ForestTree tree;
static RtContext *context;
static RtBudget budget;
static _Alignas(64) uint8_t grown[GROWN]; /* lists */
static uint64_t grown_bytes;
static char wrong[300];

static Choice choices[MAX_DEPTH];
static int depth, depth_known;
static int bound, preemptions,
    last; /* a preemption: another thread continues although the last one could */
static uint64_t *visited;
static int64_t visited_count;

static void fail(const char *what, const char *step) {
  if (!wrong[0]) snprintf(wrong, sizeof wrong, "%s%.40s", what, step);
}

void rt_step(void) {
  if (current >= 0) model_switch(&threads[current].top, scheduler);
}

void rt_target_wait(uint32_t round) {
  (void)round;
  if (current < 0) abort(); /* there is no other thread to wait for */
  threads[current].waits = true;
  model_switch(&threads[current].top, scheduler);
}

/* -- steps ------------------------------------------------------------------------------------- */

static uint32_t value_of(int node, int64_t cell) { return (uint32_t)(1000 * node + cell + 1); }

static uint32_t *payload(int worker, int node, int64_t cell, bool ensures) {
  return (uint32_t *)(void *)forest_payload(context, &tree, 0, worker, node, cell, ensures);
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static void do_step(int worker, const char *step) {
  int node = digit(step[1]);
  int64_t cell = digit(step[2]);
  switch (step[0]) {
  case 'w':
    __atomic_store_n(payload(worker, node, cell, true), value_of(node, cell), __ATOMIC_RELAXED);
    break;
  case 'a': forest_activate(context, &tree, 0, worker, node, cell); break;
  case 'd': forest_deactivate(context, &tree, 0, worker, node, cell); break;
  case 'n':
    if (forest_is_active(context, &tree, 0, node, cell)) fail("is active: ", step);
    break;
  default: {
    uint32_t value = *payload(worker, node, cell, false);
    if (value != value_of(node, cell) && (step[0] == 's' || value))
      fail("holds something else: ", step);
  }
  }
}

static void do_steps(int worker, const char *steps) {
  for (; steps && *steps; steps += steps[3] ? 4 : 3) do_step(worker, steps);
}

static void thread_main(void) {
  Thread *me = &threads[current];
  do_steps(current, me->steps);
  me->is_done = true;
  model_switch(&me->top, scheduler);
}

static void thread_begin(Thread *thread, const char *steps) {
  memset(thread, 0, sizeof *thread);
  thread->steps = steps;
  void **top = (void **)(void *)(thread->stack + STACK);
  *--top = NULL; /* so that the stack is aligned as behind a call */
  *--top = (void *)thread_main;
  thread->top = top - 6; /* the registers that model_switch takes off */
}

/* -- the memory there is ----------------------------------------------------------------------- */

typedef struct Block {
  uint8_t *memory;
  uint64_t bytes;
} Block;
static Block blocks[SEGMENTS + 20];
static int block_count, state_blocks; /* all; those that are part of a state */
static uint8_t *snapshot;

static void add_block(void *memory, uint64_t bytes) {
  blocks[block_count++] = (Block){memory, bytes};
}

static void find_blocks(void) {
  RtTree *rt = &tree.rt;
  block_count = 0;
  add_block(rt, sizeof *rt);
  for (int m = 0; m < rt->manager_count; m++) /* what changes */
    add_block(&rt->managers[m].info_stride,
              sizeof *rt->managers - offsetof(RtManager, info_stride));
  for (int m = 0; m < rt->manager_count; m++)
    add_block(rt->managers[m].locals, sizeof(RtLocal) * MODEL_THREADS);
  add_block(rt->chunks, sizeof *rt->chunks * SEGMENTS);
  add_block(rt->segment_owner, sizeof *rt->segment_owner * SEGMENTS);
  add_block(&budget, sizeof budget);
  add_block(&context->error, sizeof context->error);
  add_block(&grown_bytes, sizeof grown_bytes);
  for (int s = 0; s < SEGMENTS; s++) add_block(rt->base + (uint64_t)s * RT_SEGMENT, TOUCHED);
  state_blocks = block_count;
  add_block(grown, sizeof grown); /* no task writes a list */
}

static void copy_blocks(bool restores) {
  uint8_t *at = snapshot;
  for (int b = 0; b < block_count; at += blocks[b].bytes, b++)
    memcpy(restores ? blocks[b].memory : at, restores ? at : blocks[b].memory, blocks[b].bytes);
}

/* Four sums at once, since each step of a sum waits for the one before; whole words. */
static uint64_t mix(uint64_t hash, const void *memory, uint64_t bytes) {
  const uint64_t *word = memory, *end = word + bytes / 8;
  uint64_t sums[4] = {hash, hash + 1, hash + 2, hash + 3};
  for (; word + 4 <= end; word += 4)
    for (int k = 0; k < 4; k++) {
      sums[k] = (sums[k] ^ word[k]) * 0x9e3779b97f4a7c15u;
      sums[k] ^= sums[k] >> 29;
    }
  for (; word < end; word++)
    sums[0] = (sums[0] ^ *word) * 0x9e3779b97f4a7c15u, sums[0] ^= sums[0] >> 29;
  for (int k = 1; k < 4; k++)
    sums[0] = (sums[0] ^ sums[k]) * 0xbf58476d1ce4e5b9u, sums[0] ^= sums[0] >> 31;
  return sums[0];
}

/* The memory as it was hashed last, and the sum of the hashes of its lines: a step changes few. */
static uint8_t *hashed;
static uint64_t hashed_sum;

/* Records the contents of a line of a block. */
static void hash_line(const Block *block, uint64_t line, uint8_t *before) {
  uint64_t place = ((uint64_t)(block - blocks) << 32 | (line + 1)) * 0xbf58476d1ce4e5b9u;
  uint64_t left = block->bytes - line * LINE, bytes = left < LINE ? left : LINE;
  const uint8_t *now = block->memory + line * LINE;
  before += line * LINE;
  if (!memcmp(before, now, bytes)) return;
  hashed_sum += mix(place, now, bytes) - mix(place, before, bytes);
  memcpy(before, now, bytes);
}

static uint64_t memory_hash(void) {
  uint8_t *before = hashed;
  for (const Block *block = blocks; block < blocks + state_blocks; block++) {
    if (memcmp(before, block->memory, block->bytes))
      for (uint64_t line = 0; line * LINE < block->bytes; line++) hash_line(block, line, before);
    before += block->bytes;
  }
  return hashed_sum;
}

/* What goes on is told by memory, threads, and how the bound on preemptions is met. */
static uint64_t state_hash(int phase, uint64_t hash) {
  uint64_t rest[] = {(uint64_t)phase, (uint64_t)preemptions, bound < MAX_DEPTH ? (uint64_t)last : 0,
                     0};
  hash = mix(hash, rest, sizeof rest);
  for (int t = 0; t < thread_count; t++) {
    const Thread *thread = &threads[t];
    hash = hash * 4 + thread->is_done * 2 + thread->waits;
    if (!thread->is_done)
      hash = mix(hash, thread->top, (uint64_t)(thread->stack + STACK - (uint8_t *)thread->top));
  }
  return hash | 1;
}

/* False if it was there before. */
static bool visit(uint64_t hash) {
  uint64_t at = hash % VISITED;
  for (; visited[at]; at = (at + 1) % VISITED)
    if (visited[at] == hash) return false;
  visited[at] = hash;
  if (++visited_count > VISITED / 2) fail("more states than there is room for", "");
  return true;
}

/* -- one run ----------------------------------------------------------------------------------- */

static bool can_run(int thread) { return !threads[thread].is_done && !threads[thread].waits; }

/* The last thread first; only that, if another one would exceed the bound on preemptions. */
static int runnable(int list[MODEL_THREADS]) {
  int count = 0;
  bool goes_on = last >= 0 && can_run(last);
  if (goes_on) list[count++] = last;
  if (goes_on && preemptions == bound) return count;
  for (int t = 0; t < thread_count; t++)
    if (t != last && can_run(t)) list[count++] = t;
  return count;
}

/* True if one was waiting. */
static bool wake_all(void) {
  bool woke = false;
  for (int t = 0; t < thread_count; t++) {
    woke |= !threads[t].is_done && threads[t].waits;
    threads[t].waits = false;
  }
  return woke;
}

/* Which of `count` threads continues; -1: this state was visited before. */
static int choose(int phase, int count, uint64_t memory) {
  if (depth == depth_known) {
    if (!visit(state_hash(phase, memory))) return -1;
    if (depth == MAX_DEPTH) fail("too many choices in one run", "");
    if (wrong[0]) return -1;
    choices[depth_known++] = (Choice){0, count};
  }
  return choices[depth++].taken;
}

static void go_on(int thread) {
  preemptions += bound < MAX_DEPTH && last >= 0 && thread != last && can_run(last);
  current = last = thread;
  model_switch(&scheduler, threads[thread].top);
  current = -1;
}

/* False: a state that was visited before. */
static bool run_phase(const ModelScenario *scenario, int phase) {
  int list[MODEL_THREADS], in_vain = 0;
  for (thread_count = 0; thread_count < MODEL_THREADS && scenario->threads[phase][thread_count];
       thread_count++)
    thread_begin(&threads[thread_count], scenario->threads[phase][thread_count]);
  uint64_t memory = memory_hash();
  last = -1;
  for (;;) {
    int count = runnable(list);
    if (!count && !wake_all()) return true;
    if (!count) {
      if (++in_vain > 1) fail("all threads wait for each other", "");
      if (wrong[0]) return false;
      continue;
    }
    int taken = count > 1 ? choose(phase, count, memory) : 0;
    if (taken < 0) return false;
    go_on(list[taken]);
    uint64_t now = memory_hash();
    if (now != memory || threads[list[taken]].is_done) {
      wake_all();
      in_vain = 0;
    }
    memory = now;
    if (wrong[0]) return false;
  }
}

static void check_whole(void) {
  const char *bad = forest_check(context, &tree, 0);
  if (*bad) fail(bad, "");
  if (tree.rt.top > (uint64_t)SEGMENTS * RT_SEGMENT)
    fail("the tree is larger than what is put back", "");
}

static void run(const ModelScenario *scenario) {
  preemptions = 0;
  for (int phase = 0; phase < MODEL_PHASES && scenario->threads[phase][0]; phase++) {
    if (!run_phase(scenario, phase)) return;
    check_whole();
    rt_tree_collect(context, &tree.rt);
  }
  do_steps(0, scenario->after);
  check_whole();
  if (context->error.kind && !scenario->budget) fail("a node did not come into being", "");
}

/* -- all runs ---------------------------------------------------------------------------------- */

static void *grow(RtContext *of, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  (void)of;
  if (grown_bytes + new_bytes > GROWN) abort();
  uint8_t *larger = grown + grown_bytes;
  grown_bytes += (new_bytes + 63) / 64 * 64;
  memset(larger, 0, new_bytes);
  if (old_bytes) memcpy(larger, memory, old_bytes);
  return larger;
}

static void begin(const ModelScenario *scenario) {
  current = -1;
  wrong[0] = 0;
  grown_bytes = 0;
  budget = (RtBudget){.limit = scenario->budget ? scenario->budget : UINT64_MAX};
  forest_create(&tree, scenario->rows, scenario->row_count, &budget, 0, SHIFT);
  tree.rt.tiny_chunks = 1;
  context = forest_context(&tree, 1);
  context->grow = grow;
  do_steps(0, scenario->before);
  check_whole(); /* makes the lists, too */
  rt_tree_collect(context, &tree.rt);
  find_blocks();
  uint64_t bytes = 0;
  for (int b = 0; b < block_count; b++) bytes += blocks[b].bytes;
  snapshot = malloc(bytes);
  hashed = calloc(1, bytes);
  hashed_sum = 0;
  visited = calloc(VISITED, sizeof *visited);
  copy_blocks(false);
  depth_known = 0;
  visited_count = 0;
}

static void end(void) {
  /* it lies in `grown` */
  for (int m = 0; m < tree.rt.manager_count; m++) tree.rt.managers[m].list = NULL;
  forest_context_destroy(context);
  forest_destroy(&tree);
  free(snapshot);
  free(hashed);
  free(visited);
}

/* Changes the last choice that has an alternative; false: there is none. */
static bool next_run(void) {
  while (depth_known && choices[depth_known - 1].taken + 1 == choices[depth_known - 1].count)
    depth_known--;
  if (!depth_known) return false;
  choices[depth_known - 1].taken++;
  return true;
}

ModelResult model_explore(const ModelScenario *scenario, int most_preemptions) {
  ModelResult result = {0};
  bound = scenario->threads[0][2] && most_preemptions ? most_preemptions : MAX_DEPTH;
  begin(scenario);
  do {
    copy_blocks(true);
    depth = 0;
    run(scenario);
    result.runs++;
  } while (!wrong[0] && next_run());
  result.states = visited_count;
  result.wrong = wrong;
  end();
  return result;
}
