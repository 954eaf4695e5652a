/* ir_pass.c - random IR (ir_maker.h) through the passes. After each it verifies, and its text reads
 * back as what the rest of the passes make the same of; and what runs leaves the same memory with
 * each pass left out, in whichever pieces the device runs its tasks.
 *
 * The first byte says which pass is left out, the second how tasks are run; the rest make the
 * kernel. */
#include "fuzz.h"
#include "ir/attribute.h"
#include "ir/task.h"
#include "ir_maker.h"
#include "machine.h"
#include "pass/pass.h"

enum { LARGEST = 600, ROOT_BYTES = 4096, LONGEST_NAMES = 512, SPARSE = 128 };

static Machine m;
static Scratch scratch;         /* of the input; the machine has its own */
static const IrKernel *running; /* whose tasks the host region runs */
static const char *made;        /* the kernel's text, */
static const char *step;        /* and what is done with it */
static int64_t piece;
static bool in_copies; /* privatised versions of tasks where there are any */

static const char *print(const IrKernel *kernel) {
  StrBuf text;
  strbuf_init(&text, &scratch);
  ir_print(&text, kernel);
  return strbuf_end(&text);
}

static void drop_trees(const IrKernel *kernel) {
  for (int t = 0; t < kernel->trees.count; t++)
    snode_tree_release((SNodeTree *)kernel->trees.items[t].tree);
}

static bool forget_line(void *data, IrInst *inst) {
  inst->line = 0;
  return true;
}

/* A write outside is told by its line, which is that of the text here. */
static IrKernel *without_lines(IrKernel *kernel) {
  ir_walk(kernel->body, forget_line, NULL);
  for (int k = 0; k < kernel->tasks.count; k++) {
    IrTask *task = kernel->tasks.items[k];
    ir_walk(task->body, forget_line, NULL);
    if (task->interior) ir_walk(task->interior, forget_line, NULL);
    task->line = 0;
  }
  return kernel;
}

static IrKernel *read_text(const char *text, const char *what, Error *err) {
  IrKernel *kernel = ir_read(&scratch, &m.heap, text, err);
  if (kernel && ir_verify(kernel, err)) return without_lines(kernel);
  fprintf(stderr, "%s\n", text);
  fuzz_broken(what, err->message);
  return NULL;
}

static void run_passes(IrKernel *kernel, const char *names, const char *text, Error *err) {
  PassContext ctx = {.scratch = &scratch,
                     .vector_bytes = 32,
                     .target = target_cpu,
                     .verify = true,
                     .explains = true};
  step = names;
  if (pass_run_named(&ctx, kernel, names, err)) return;
  fprintf(stderr, "%s\nafter %s: %s\n", text, names, err->message);
  fuzz_broken("passes take what lower makes", err->message);
}

/* Passes first..end - 1, with commas. */
static const char *names_of(int first, int end) {
  StrBuf names;
  strbuf_init(&names, &scratch);
  for (int k = first; k < end; k++) strbuf_format(&names, k > first ? ",%s" : "%s", pass_name(k));
  return strbuf_end(&names);
}

/* The passes up to k, then its text, then the others: as without the text. (A task over leaves does
 * not print which cells it visited.) */
static void check_prefixes(const char *text, Error *err) {
  int count = pass_count();
  bool says_all = true;
  IrKernel *whole = read_text(text, "what is made verifies", err);
  run_passes(whole, names_of(0, count), text, err);
  const char *expected = print(whole);
  drop_trees(whole);
  for (int k = 1; k < count; k++) {
    IrKernel *kernel = read_text(text, "what is made verifies", err);
    run_passes(kernel, names_of(0, k), text, err);
    const char *between = print(kernel);
    drop_trees(kernel);
    kernel = read_text(between, "what a pass leaves reads", err);
    if (strcmp(between, print(kernel))) fuzz_broken("what a pass leaves prints alike", between);
    says_all &= strcmp(pass_name(k - 1), "leaf") != 0;
    if (says_all) run_passes(kernel, names_of(k, count), between, err);
    if (says_all && strcmp(expected, print(kernel))) {
      fprintf(stderr, "%s\nafter %s:\n%s\n%s\nnot\n%s\n", text, names_of(0, k), between,
              print(kernel), expected);
      fuzz_broken("a text says all that later passes need", names_of(0, k));
    }
    drop_trees(kernel);
  }
}

/* -- running ----------------------------------------------------------------------------------- */

static void run_task(RtContext *context, int32_t number) {
  const IrTask *task = running->tasks.items[number];
  int64_t total = 1;
  for (int k = 0; k < task->axis_count; k++) {
    int64_t extent = (int64_t)(m.frame[task->bounds + 2 * k + 1] - m.frame[task->bounds + 2 * k]);
    total *= extent > 0 ? extent : 0;
  }
  if (in_copies && task->privatised) number = task->privatised;
  for (int64_t at = 0; at < total; at += piece)
    machine_task(&m, number, at, at + piece < total ? at + piece : total);
}

/* False: it needs more of the frame than there is. */
static bool run(const char *text, const char *without, Error *err) {
  IrKernel *kernel = read_text(text, "what is made verifies", err);
  PassContext ctx = {.scratch = &scratch,
                     .vector_bytes = 32,
                     .target = target_cpu,
                     .verify = true,
                     .without = without};
  step = without ? without : "running";
  if (!pass_run_all(&ctx, kernel, err)) {
    fprintf(stderr, "%s\nwithout %s: %s\n", text, without, err->message);
    fuzz_broken("passes take what lower makes", err->message);
  }
  running = kernel;
  bool fits = kernel->frame_slots <= MACHINE_SLOTS;
  if (fits && !machine_compile(&m, print(kernel), "native"))
    fuzz_broken("what passes leave compiles", m.err.message);
  memset(m.memory, 0, ROOT_BYTES);
  for (int k = 0; k < 24; k++) m.memory[4 * k] = (uint8_t)(7 * k); /* f0 is first */
  memset(m.frame, 0, sizeof m.frame);
  int32_t number = 5;
  float real = 1.5f;
  memcpy(&m.frame[0], &number, sizeof number);
  memcpy(&m.frame[1], &real, sizeof real);
  static const int64_t distance[1]; /* worker 0's private copy is the tree */
  m.tree.private_copies = distance;
  m.context.run = run_task;
  if (fits) machine_host(&m);
  drop_trees(kernel);
  return fits;
}

static void check_memory(const char *text, const char *without, Error *err) {
  static uint8_t expected[ROOT_BYTES];
  if (!run(text, NULL, err)) return;
  memcpy(expected, m.memory, ROOT_BYTES);
  if (!run(text, without, err) || !memcmp(expected, m.memory, ROOT_BYTES)) return;
  for (int k = 0; k < ROOT_BYTES; k++)
    if (expected[k] != m.memory[k]) {
      fprintf(stderr, "%s\nbyte %d is %d, without %s %d\n", text, k, expected[k], without,
              m.memory[k]);
      break;
    }
  fuzz_broken("a pass changes no result", without);
}

typedef struct Input {
  const uint8_t *data;
  size_t size;
} Input;

static bool check(void *data, Error *err) {
  const Input *input = data;
  bool is_sparse = input->data[0] & SPARSE;
  piece = 1 + input->data[1] % 31;
  in_copies = input->data[1] / 31 % 2;
  made = ir_make(&scratch, input->data + 2, input->size - 2, is_sparse);
  check_prefixes(made, err);
  const char *without = pass_name(input->data[0] % SPARSE % pass_count());
  if (!is_sparse && !pass_is_necessary(without)) check_memory(made, without, err);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  if (!m.codegen && !machine_init(&m)) fuzz_broken("the compiler opens", m.err.message);
  if (size < 3 || size > LARGEST) return 0;
  Error err = {0};
  scratch_init(&scratch, &m.heap);
  if (!guard_run(check, &input, &err)) {
    fprintf(stderr, "%s\nin %s\n", made, step);
    fuzz_broken("a made kernel compiles", err.message);
  }
  scratch_deinit(&scratch);
  return 0;
}
