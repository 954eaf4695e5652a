/* machine.c - see machine.h. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>

#include "build_id.h"
#include "ir/task.h"
#include "pass/pass.h"

static void run_task(RtContext *context, int32_t task) {
  Machine *m = context->host;
  m->runs++;
  int64_t piece = m->piece > 0 ? m->piece : m->positions;
  for (int64_t at = 0; at < m->positions; at += piece)
    machine_task(m, task, at, at + piece < m->positions ? at + piece : m->positions);
}

bool machine_init(Machine *m) {
  memset(m, 0, sizeof *m);
  heap_init(&m->heap, 0);
  scratch_init(&m->scratch, &m->heap);
  m->codegen = codegen_open(&m->heap, &m->err);
  m->memory = aligned_alloc(64, MACHINE_BYTES);
  m->ambient = aligned_alloc(64, MACHINE_BYTES);
  if (!m->codegen || !m->memory || !m->ambient) {
    printf("not ok: the compiler does not open: %s\n", m->err.message);
    return false;
  }
  memset(m->memory, 0, MACHINE_BYTES);
  memset(m->ambient, 0, MACHINE_BYTES);
  m->tree.base = m->tree.root = m->memory;
  m->tree.managers = &m->manager;
  m->tree.manager_count = 1;
  m->manager.list = m->list;
  m->manager.list_count = MACHINE_NODES;
  for (int i = 0; i < MACHINE_NODES; i++) m->list[i].coordinates = m->coordinates[i];
  m->trees[0] = &m->tree;
  m->context = (RtContext){.frame = m->frame,
                           .trees = m->trees,
                           .ambient = m->ambient,
                           .workers = &m->worker,
                           .worker_count = 1,
                           .tree_count = 1,
                           .host = m,
                           .run = run_task};
  return true;
}

static void forget_code(Machine *m) {
  if (m->code) code_destroy(m->code);
  if (m->made) codegen_result_free(m->codegen, m->made);
  m->code = NULL;
  m->made = NULL;
}

void machine_deinit(Machine *m) {
  forget_code(m);
  if (m->codegen) codegen_close(m->codegen);
  scratch_deinit(&m->scratch);
  free(m->memory);
  free(m->ambient);
}

typedef struct Compile {
  Machine *m;
  const char *text, *cpu;
} Compile;

/* Texts give the number of lanes of a body. Unless the text already has ops of lanes, the passes
 * write them, and also the loops over the cells of leaves. */
static bool run_passes(Machine *m, const Compile *c, IrKernel *kernel, Error *err) {
  bool is_gpu = !strncmp(c->cpu, "sm_", 3);
  PassContext passes = {.scratch = &m->scratch, .target = is_gpu ? target_gpu : target_cpu};
  bool is_said = is_gpu || strstr(c->text, "boolx");
  return (is_said || pass_vectorise(&passes, kernel, err)) &&
         pass_cell_loops(&passes, kernel, err) && pass_lane_accesses(&passes, kernel, err) &&
         pass_expand(&passes, kernel, err) && ir_finish(kernel, err) && ir_verify(kernel, err);
}

static bool compile(void *data, Error *err) {
  Compile *c = data;
  Machine *m = c->m;
  IrKernel *kernel = ir_read(&m->scratch, &m->heap, c->text, err);
  if (!kernel || !run_passes(m, c, kernel, err)) return false;
  IrBytes bytes = ir_write(&m->scratch, kernel, c->cpu);
  RgCodegenRequest request = {.bytes = bytes.data,
                              .length = bytes.length,
                              .build_id = RG_BUILD_ID,
                              .want_llvm = m->want_texts,
                              .want_asm = m->want_texts};
  bool is_gpu = !strncmp(c->cpu, "sm_", 3);
  RgTarget target = is_gpu ? RG_TARGET_PTX : RG_TARGET_HOST;
  request.processors[target] = c->cpu;
  for (int i = 0; i < kernel->trees.count; i++)
    snode_tree_release((SNodeTree *)kernel->trees.items[i].tree);
  m->made = codegen_compile(m->codegen, &request, err);
  if (!m->made) return false;
  m->object = &m->made->objects[target];
  if (is_gpu) return true; /* PTX is for reading here */
  m->code = object_load(&m->heap, m->object->bytes, m->object->length, err);
  return m->code != NULL;
}

bool machine_compile(Machine *m, const char *text, const char *cpu) {
  forget_code(m);
  error_clear(&m->err);
  Compile c = {m, text, cpu};
  bool ok = guard_run(compile, &c, &m->err);
  scratch_deinit(&m->scratch);
  return ok;
}

void machine_task(Machine *m, int number, int64_t begin, int64_t end) {
  char name[32];
  if (!m->code) return;
  snprintf(name, sizeof name, "rg_task_%d", number);
  RtTaskFunction *task;
  *(void **)&task = code_find(m->code, name);
  task(&m->context, &m->worker, begin, end);
}

void machine_host(Machine *m) {
  RtHostFunction *host;
  if (!m->code) return;
  *(void **)&host = code_find(m->code, "rg_host");
  host(&m->context);
}

void machine_bounds(Machine *m, int bounds, int axis, int64_t begin, int64_t end) {
  m->frame[bounds + 2 * axis] = (uint64_t)begin;
  m->frame[bounds + 2 * axis + 1] = (uint64_t)end;
}

int machine_cpus(const char *cpus[4]) {
  int count = 0;
  cpus[count++] = "native";
  cpus[count++] = "x86-64";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    cpus[count++] = "x86-64-v3";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    cpus[count++] = "x86-64-v4";
  return count;
}
