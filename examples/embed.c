/* embed.c - Regolith from a C program: a sparse grid, a kernel given as text, results read back.
 * Against the installed package:
 *   cc embed.c $(pkg-config --cflags --libs regolith) -o embed && ./embed
 *
 * Every call that can fail returns 0 or an error number; rg_error returns the message. Nothing ends
 * the process. */
#include <regolith.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 256, LEAF = 16 };

/* The state of the program: everything that must be freed. */
typedef struct Simulation {
  RgRuntime *runtime;
  RgTree *tree;
  RgSNode *block, *cells;
  RgField *heat;
  RgKernel *fill, *sum;
} Simulation;

static int complain(const char *what, const RgError *error) {
  fprintf(stderr, "%s: [%s] ", what, error->code);
  if (error->line) fprintf(stderr, "%s:%d:%d: ", error->file, error->line, error->column);
  fprintf(stderr, "%s\n", error->message);
  if (error->hint[0]) fprintf(stderr, "hint: %s\n", error->hint);
  return 0;
}

static int check(Simulation *s, const char *what, RgStatus status) {
  return status == 0 || complain(what, rg_error(s->runtime));
}

/* Blocks of 16 x 16 cells that exist once they are written, in a grid of 256 x 256. */
static int declare(Simulation *s) {
  const int64_t blocks = N / LEAF, leaf = LEAF;
  return check(s, "tree", rg_tree_create(s->runtime, "grid", &s->tree)) &&
         check(s, "field", rg_field_create(s->runtime, "f32", "heat", &s->heat)) &&
         check(s, "pointer",
               rg_snode_add(rg_tree_root(s->tree), "pointer", "ij", &blocks, 1, "block", 0, 0,
                            &s->block)) &&
         check(s, "dense",
               rg_snode_add(s->block, "dense", "ij", &leaf, 1, NULL, 0, 0, &s->cells)) &&
         check(s, "place", rg_snode_place(s->cells, s->heat));
}

static const char fill_text[] =
    "function(radius: f32, value: f32)\n"
    "  for i, j in rg.range(256, 256) do\n"
    "    local x, y = i - 128, j - 128\n"
    "    if x * x + y * y < radius * radius then heat[i, j] = value end\n"
    "  end\n"
    "end\n";
static const char sum_text[] = "function()\n"
                               "  local sum = 0.0\n"
                               "  for i, j in heat:active() do sum += heat[i, j] end\n"
                               "  return sum\n"
                               "end\n";

static int compile(Simulation *s, const char *name, const char *text, RgKernel **kernel) {
  RgKernelOptions options = {
      .struct_size = sizeof options, .name = name, .chunk = name, .first_line = 1};
  return check(s, name,
               rg_kernel_create(s->runtime, text, (int64_t)strlen(text), &options, kernel));
}

/* The captures of a kernel, by name: here the field and a built-in function. `depth` is the number
 * of names of the path that led to the value. */
static int find_capture(const Simulation *s, const char *path, RgValue *value) {
  if (!strcmp(path, "heat"))
    *value = (RgValue){.kind = RG_VALUE_FIELD, .depth = 1, .field = s->heat};
  else if (!strcmp(path, "rg.range"))
    *value = (RgValue){.kind = RG_VALUE_BUILTIN, .depth = 2, .text = "rg.range"};
  else return 0;
  return 1;
}

/* Launches with numbers as arguments: a value for each captured path, then the arguments. */
static int launch(Simulation *s, RgKernel *kernel, const double *arguments, int count,
                  RgValue *result) {
  RgValue values[16];
  int32_t paths = rg_kernel_path_count(kernel);
  if (paths + count > 16) return 0;
  for (int32_t i = 0; i < paths; i++) {
    const char *path;
    int32_t parameter;
    if (!check(s, "path", rg_kernel_path(kernel, i, &path, &parameter))) return 0;
    if (!find_capture(s, path, &values[i])) {
      fprintf(stderr, "the kernel takes '%s', which this program does not have\n", path);
      return 0;
    }
  }
  for (int i = 0; i < count; i++)
    values[paths + i] = (RgValue){.kind = RG_VALUE_NUMBER, .number = arguments[i]};
  return check(s, rg_kernel_name(kernel), rg_kernel_launch(kernel, values, paths + count, result));
}

static int run(Simulation *s) {
  const double arguments[] = {40, 0.5};
  int64_t blocks, middle[] = {N / 2, N / 2};
  RgValue nothing, sum, element;
  if (!compile(s, "fill", fill_text, &s->fill) || !compile(s, "sum", sum_text, &s->sum)) return 0;
  if (!launch(s, s->fill, arguments, 2, &nothing) || !launch(s, s->sum, NULL, 0, &sum)) return 0;
  if (!check(s, "count", rg_snode_call(s->block, "count", NULL, 0, &blocks))) return 0;
  if (!check(s, "get", rg_field_get(s->heat, middle, 2, &element))) return 0;
  printf("sum %.1f, middle %.1f, %d blocks of %d\n", sum.number, element.number, (int)blocks,
         N / LEAF * (N / LEAF));
  return 1;
}

/* All elements at once, inactive ones as zeros. */
static int read_all(Simulation *s) {
  double *values = malloc(sizeof *values * N * N), total = 0;
  int ok = values && check(s, "read", rg_field_read(s->heat, values, N * N));
  for (int i = 0; ok && i < N * N; i++) total += values[i];
  if (ok) printf("read %.1f\n", total);
  free(values);
  return ok;
}

/* An error is a status and a message; the runtime stays usable. */
static int make_a_mistake(Simulation *s) {
  RgKernel *kernel = NULL;
  const char text[] = "function()\n  local x = = 1\nend\n";
  RgKernelOptions options = {.struct_size = sizeof options, .chunk = "wrong", .first_line = 1};
  if (rg_kernel_create(s->runtime, text, (int64_t)strlen(text), &options, &kernel) == 0) {
    rg_kernel_release(kernel);
    return 0;
  }
  const RgError *error = rg_error(s->runtime);
  printf("refused at %s:%d:%d: %s\n", error->file, error->line, error->column, error->message);
  return 1;
}

/* Warnings go where the host's own messages go. (A host may also supply its job system,
 * RgOptions.run_tasks, and limit memory, rg_on_memory.) */
static void log_warning(void *data, const char *text) { fprintf(data, "embed: %s\n", text); }

int main(void) {
  Simulation s = {0};
  RgOptions options = {.struct_size = sizeof options, .threads = 2};
  RgError error;
  if (rg_abi_version() != RG_ABI_VERSION) {
    fprintf(stderr, "libregolith %s does not match this program's header\n", rg_version());
    return EXIT_FAILURE;
  }
  if (rg_runtime_create(&options, &s.runtime, &error)) {
    complain("runtime", &error);
    return EXIT_FAILURE;
  }
  rg_on_warning(s.runtime, log_warning, stderr);
  int ok = declare(&s) && run(&s) && read_all(&s) && make_a_mistake(&s);
  rg_kernel_release(s.fill);
  rg_kernel_release(s.sum);
  rg_field_release(s.heat);
  rg_snode_release(s.cells);
  rg_snode_release(s.block);
  rg_tree_release(s.tree);
  rg_runtime_destroy(s.runtime);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
