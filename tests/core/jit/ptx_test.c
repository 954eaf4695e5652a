/* ptx_test.c - every kernel of the tests of passes, and those of ptx/, through the passes for a GPU
 * to PTX, which ptxas assembles where a CUDA toolkit is found: for one GPU each, which its name
 * chooses. It also checks that compiling for a GPU does not change the code for the processor, and
 * that the code for the GPU does not depend on the processor.
 *     test_ptx [FOLDER]   for every GPU; keeps the PTX there, a file NAME.sm_xx.ptx each */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "check.h"
#include "ir/task.h"
#include "loader/loader.h"
#include "pass/pass.h"

static const char *const gpus[] = {"sm_75", "sm_80", "sm_90"};
enum { GPUS = sizeof gpus / sizeof *gpus, TEXT_BYTES = 1 << 18, PATH_BYTES = 512 };

static Heap heap;
static Codegen *codegen;
static char folder[PATH_BYTES / 2];
static const char *ptxas;
static bool wants_all;
static int compiled, refused;

typedef struct Kernel {
  Scratch scratch;
  const char *path;
  IrBytes bytes;  /* for a GPU */
  bool is_apart;  /* the code for CPU and GPU are independent */
  bool is_kernel; /* the passes for a CPU take it */
} Kernel;

static char *read_input(Scratch *scratch, const char *path) {
  char *text = scratch_alloc(scratch, TEXT_BYTES);
  FILE *file = fopen(path, "r");
  if (!file) return NULL;
  text[fread(text, 1, TEXT_BYTES - 1, file)] = 0;
  fclose(file);
  char *end = strstr(text, "\n---");
  if (end) end[1] = 0;
  return text;
}

static IrKernel *run_passes(Kernel *k, bool for_cuda, int vector_bytes, Error *err) {
  PassContext ctx = {.scratch = &k->scratch,
                     .vector_bytes = vector_bytes,
                     .target = for_cuda ? target_gpu : target_cpu,
                     .verify = true};
  const char *text = read_input(&k->scratch, k->path);
  IrKernel *kernel = text ? ir_read(&k->scratch, &heap, text, err) : NULL;
  bool ok = kernel && pass_run_all(&ctx, kernel, err);
  for (int i = 0; kernel && i < kernel->trees.count; i++)
    if (kernel->trees.items[i].tree) snode_tree_release((SNodeTree *)kernel->trees.items[i].tree);
  return ok ? kernel : NULL;
}

static bool has_serial_tasks(const IrKernel *kernel) {
  for (int i = 0; i < kernel->tasks.count; i++)
    if (kernel->tasks.items[i]->kind == TASK_SERIAL) return true;
  return false;
}

static bool same_bytes(IrBytes a, IrBytes b) {
  return a.length == b.length && !memcmp(a.data, b.data, (size_t)a.length);
}

/* For a processor, for a GPU beside processors with long vectors and with short ones, and for that
 * processor again. */
static bool make_bytes(void *data, Error *err) {
  Kernel *k = data;
  const IrKernel *cpu = run_passes(k, false, 32, err);
  k->is_kernel = cpu != NULL;
  if (!cpu) return false;
  IrBytes before = ir_write(&k->scratch, cpu, "x86-64-v3");
  const IrKernel *gpu = run_passes(k, true, 64, err);
  const IrKernel *other = gpu ? run_passes(k, true, 16, err) : NULL;
  if (!other) return false;
  k->bytes = ir_write(&k->scratch, gpu, "sm_75");
  const IrKernel *again = run_passes(k, false, 32, err);
  k->is_apart = again && same_bytes(before, ir_write(&k->scratch, again, "x86-64-v3")) &&
                !has_serial_tasks(cpu) &&
                same_bytes(k->bytes, ir_write(&k->scratch, other, "sm_75"));
  return again != NULL;
}

static bool assemble(const char *path, const char *gpu) {
  char command[3 * PATH_BYTES];
  if (!ptxas) return true;
  bool is_code = !strcmp(gpu, gpus[GPUS - 1]); /* the others are read alone, which is quick */
  snprintf(command, sizeof command, "%s -arch=%s_%s -o /dev/null %s", ptxas,
           is_code ? "sm" : "compute", gpu + 3, path);
  return system(command) == 0; /* NOLINT: paths of our own */
}

static bool check_ptx(const RgCodegenResult *result, const char *name, const char *gpu) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%.200s/%.200s.%s.ptx", folder, name, gpu);
  const RgCodegenObject *object = &result->objects[RG_TARGET_PTX];
  FILE *file = fopen(path, "w");
  if (!file) return false;
  bool ok = fwrite(object->bytes, 1, (size_t)object->length, file) == (size_t)object->length;
  fclose(file);
  return ok && strstr((const char *)object->bytes, gpu) && assemble(path, gpu);
}

static bool compile(const Kernel *k, const char *name, const char *gpu) {
  Error err;
  error_clear(&err);
  RgCodegenRequest request = {.bytes = k->bytes.data,
                              .length = k->bytes.length,
                              .build_id = RG_BUILD_ID,
                              .processors = {[RG_TARGET_PTX] = gpu}};
  if (gpu == gpus[0]) request.processors[RG_TARGET_HOST] = "x86-64"; /* its host region */
  RgCodegenResult *result = codegen_compile(codegen, &request, &err);
  bool ok = result && check_ptx(result, name, gpu);
  if (!ok) printf("  %s, %s: %s\n", name, gpu, result ? "not assembled" : err.message);
  codegen_result_free(codegen, result);
  compiled += ok;
  return ok;
}

static bool requests(const char *name, int gpu) {
  int sum = 0;
  for (const char *at = name; *at; at++) sum += (unsigned char)*at;
  return wants_all || sum % GPUS == gpu;
}

static void visit(const char *path, const char *name) {
  Error err;
  error_clear(&err);
  Kernel k = {.path = path};
  scratch_init(&k.scratch, &heap);
  bool ok = guard_run(make_bytes, &k, &err);
  if (!ok && !k.is_kernel) refused++; /* a text for one pass alone */
  else if (!ok) printf("  %s: %s\n", name, err.message);
  CHECK(ok || !k.is_kernel);
  if (ok && !k.is_apart) printf("  %s: CPU and GPU depend on each other\n", name);
  CHECK(k.is_apart || !ok);
  for (int i = 0; ok && i < GPUS; i++)
    if (requests(name, i)) CHECK(compile(&k, name, gpus[i]));
  scratch_deinit(&k.scratch);
}

static void visit_all(const char *root, int depth) {
  DIR *open = opendir(root);
  const struct dirent *entry;
  while (open && (entry = readdir(open))) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
    size_t length = strlen(entry->d_name);
    char name[PATH_BYTES]; /* after its folder */
    snprintf(name, sizeof name, "%.100s_%.200s", strrchr(root, '/') + 1, entry->d_name);
    if (length > 3 && !strcmp(entry->d_name + length - 3, ".ir")) visit(path, name);
    else if (depth > 0 && entry->d_name[0] != '.') visit_all(path, depth - 1);
  }
  if (open) closedir(open);
}

static const char *find_ptxas(void) {
  static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
  for (int i = 0; i < 2; i++)
    if (!access(places[i], X_OK)) return places[i];
  return NULL;
}

int main(int argc, char **argv) {
  Error err;
  error_clear(&err);
  heap_init(&heap, 0);
  snprintf(folder, sizeof folder, "%s", argc > 1 ? argv[1] : "/tmp/rg_ptx_XXXXXX");
  wants_all = argc > 1;
  bool is_ours = argc < 2 && mkdtemp(folder);
  ptxas = find_ptxas();
  codegen = codegen_open(&heap, &err);
  TEST("every kernel becomes PTX for GPUs, old and new, which the assembler takes") {
    CHECK(codegen && (argc > 1 || is_ours));
    if (codegen) visit_all(argc > 2 ? argv[2] : PASS_FOLDER, 1);
    printf("  %d files, %d texts that are for one pass alone, %s\n", compiled, refused,
           ptxas ? "assembled" : "no ptxas here");
    CHECK(compiled > 50);
  }
  if (codegen) codegen_close(codegen);
  return check_report();
}
