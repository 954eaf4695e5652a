/* codegen_main.c - the library's interface: bytes -> IrKernel -> parts -> an object for each
 * target. A compile owns one Compiling. As many threads as the request allows, including the
 * caller's, compile the parts of a kernel (split.c); each takes the next part that is left. The
 * objects do not depend on the number of threads. */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/heap.h"
#include "build_id.h"
#include "ir/task.h"
#include "jit/part.h"
#include "thread/job.h"

#define EXPORT __attribute__((visibility("default")))

enum { MAX_HELPERS = 15 };

/* The result comes first: its address is what the caller frees. */
typedef struct Compiling {
  RgCodegenResult result;
  Heap heap; /* of result's parts and the scratch */
  Scratch scratch;
  const RgCodegenRequest *request;
  Part *parts; /* of all targets, in the order of the objects */
  int part_count;
  Part **order;     /* in which compilation of the parts begins */
  _Atomic int next; /* the next part in `order` to compile */
} Compiling;

_Static_assert(offsetof(Compiling, result) == 0, "regolith_codegen_free gets it by its result");

/* -- parts ------------------------------------------------------------------------------------- */

/* Which of the kernel's functions an object for the target has. The bytes of a GPU kernel name the
 * GPU's processor (ir_write); the host's object of such a kernel has only its host region. */
static CodegenPart functions_for(RgTarget target, const char *written_for) {
  if (target == RG_TARGET_PTX) return CODEGEN_GPU_TASKS;
  return strncmp(written_for, "sm_", 3) ? CODEGEN_ALL : CODEGEN_HOST_REGION;
}

/* Only tasks for a CPU are split into partitions, since PTX is one text. */
static void add_parts(Compiling *job, Part first, int partitions, const int *partition_of_task,
                      const int64_t *weights) {
  int count = first.wanted == CODEGEN_ALL ? partitions : 1;
  for (int i = 0; i < count; i++) {
    first.partition = (CodegenPartition){i, count > 1 ? partition_of_task : NULL};
    first.weight = weights[i];
    job->parts[job->part_count++] = first;
  }
}

/* The heaviest part comes first, so that no long compile begins when all others are done. */
static void set_order(Compiling *job) {
  job->order = scratch_array(&job->scratch, Part *, job->part_count + 1);
  for (int i = 0; i < job->part_count; i++) {
    int at = i;
    for (; at > 0 && job->order[at - 1]->weight < job->parts[i].weight; at--)
      job->order[at] = job->order[at - 1];
    job->order[at] = &job->parts[i];
  }
}

static bool plan_parts(void *data, Error *err) {
  Compiling *job = data;
  const char *written_for;
  double begin = clock_ms();
  IrKernel *kernel =
      ir_read_bytes(&job->scratch, job->request->bytes, job->request->length, &written_for, err);
  if (!kernel) return false;
  Part part = {.request = job->request, .kernel = kernel};
  int *partition_of_task = scratch_array(&job->scratch, int, part.kernel->tasks.count + 1);
  int64_t weights[MAX_PARTITIONS];
  int partitions = split_tasks(&job->scratch, part.kernel, partition_of_task, weights);
  job->parts = scratch_array(&job->scratch, Part, partitions + RG_TARGET_COUNT);
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    if (!job->request->processors[t]) continue;
    part.kind = (RgTarget)t;
    part.wanted = functions_for(part.kind, written_for);
    add_parts(job, part, partitions, partition_of_task, weights);
  }
  set_order(job);
  job->result.parse_ms = clock_ms() - begin;
  return true;
}

static void compile_parts(void *data) {
  Compiling *job = data;
  for (int i; (i = atomic_fetch_add(&job->next, 1)) < job->part_count;) part_compile(job->order[i]);
}

/* If the system refuses a thread, compiles with fewer. */
static void compile_together(Compiling *job) {
  Job *helpers[MAX_HELPERS];
  int count = 0,
      wanted = job->request->threads < job->part_count ? job->request->threads : job->part_count;
  while (count + 1 < wanted && count < MAX_HELPERS) {
    helpers[count] = job_start(&job->heap, compile_parts, job);
    if (!helpers[count]) break;
    count++;
  }
  compile_parts(job);
  for (int i = 0; i < count; i++) job_join(helpers[i]);
}

/* -- results ----------------------------------------------------------------------------------- */

static int64_t round_up(int64_t length) { return (length + 7) / 8 * 8; }

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
}

/* A single object stays as it is; several become an RgBundle. */
static bool join_objects(Compiling *job, const Part *parts, int count, RgCodegenObject *out,
                         Error *err) {
  int64_t begin = count > 1 ? (int64_t)sizeof(RgBundle) + 8 * count : 0;
  out->length = begin;
  for (int i = 0; i < count; i++) out->length += parts[i].object.length;
  for (int i = 0; i + 1 < count; i++)
    out->length += round_up(parts[i].object.length) - parts[i].object.length;
  out->bytes = heap_alloc(&job->heap, (size_t)out->length + 1);
  if (!out->bytes) return no_memory(err);
  RgBundle *bundle = (RgBundle *)(void *)out->bytes;
  if (count > 1) *bundle = (RgBundle){RG_BUNDLE_MAGIC, count};
  for (int i = 0; i < count; i++) {
    const RgCodegenObject *object = &parts[i].object;
    if (count > 1) bundle->lengths[i] = object->length;
    memcpy(out->bytes + begin, object->bytes, (size_t)object->length);
    begin += round_up(object->length);
  }
  return true;
}

/* Concatenates the texts of all parts; *out stays NULL if there are none. */
static bool join_texts(Compiling *job, char *const *texts, int count, char **out, Error *err) {
  size_t length = 0, used = 0;
  for (int i = 0; i < count; i++) length += texts[i] ? strlen(texts[i]) : 0;
  if (!texts[0]) return true;
  *out = heap_alloc(&job->heap, length + 1);
  if (!*out) return no_memory(err);
  for (int i = 0; i < count; i++) {
    memcpy(*out + used, texts[i], strlen(texts[i]));
    used += strlen(texts[i]);
  }
  return true;
}

static bool join_results(Compiling *job, const Part *parts, int count, Error *err) {
  RgCodegenObject *out = &job->result.objects[parts[0].kind];
  char **texts = scratch_array(&job->scratch, char *, 2 * count);
  for (int i = 0; i < count; i++) {
    texts[i] = parts[i].object.llvm_text;
    texts[count + i] = parts[i].object.asm_text;
  }
  return join_objects(job, parts, count, out, err) &&
         join_texts(job, texts, count, &out->llvm_text, err) &&
         join_texts(job, texts + count, count, &out->asm_text, err);
}

static void add_times(RgCodegenResult *result, const Part *part) {
  result->emit_ms += part->emit_ms;
  result->optimize_ms += part->optimize_ms;
  result->object_ms += part->object_ms;
}

/* Collects the parts' results, or reports the first part that failed. */
static bool collect_results(void *data, Error *err) {
  Compiling *job = data;
  for (int i = 0; i < job->part_count; i++) {
    add_times(&job->result, &job->parts[i]);
    if (job->parts[i].ok) continue;
    *err = job->parts[i].err;
    return false;
  }
  for (int i = 0, end; i < job->part_count; i = end) {
    for (end = i + 1; end < job->part_count && job->parts[end].partition.number; end++) continue;
    if (!join_results(job, &job->parts[i], end - i, err)) return false;
  }
  return true;
}

static bool compile(Compiling *job, Error *err) {
  if (!guard_run(plan_parts, job, err)) return false;
  compile_together(job);
  bool ok = guard_run(collect_results, job, err);
  for (int i = 0; i < job->part_count; i++) part_free(&job->parts[i]);
  return ok;
}

static void free_objects(Compiling *job) {
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    RgCodegenObject *object = &job->result.objects[t];
    heap_free(&job->heap, object->bytes);
    heap_free(&job->heap, object->llvm_text);
    heap_free(&job->heap, object->asm_text);
    *object = (RgCodegenObject){0};
  }
}

/* Only the message of a failed compile is kept. */
static void report(Compiling *job, const Error *err) {
  free_objects(job);
  job->result.code = (int32_t)err->code;
  job->result.message = heap_copy_text(&job->heap, err->message);
}

EXPORT const char *regolith_codegen_build_id(void) { return RG_BUILD_ID; }

EXPORT RgCodegenResult *regolith_codegen(const RgCodegenRequest *request) {
  Heap heap;
  heap_init(&heap, 0);
  heap.source = (HeapSource){request->resize, request->resize_data};
  Compiling *job = heap_alloc(&heap, sizeof *job);
  if (!job) return NULL;
  Error err;
  error_clear(&err);
  heap_init(&job->heap, 0);
  job->heap.source = heap.source;
  scratch_init(&job->scratch, &job->heap);
  job->request = request;
  if (!request->build_id || strcmp(request->build_id, RG_BUILD_ID)) {
    error_set(&err, RG_ERROR_VERSION,
              "libregolith and libregolith-codegen come from different builds");
  } else {
    job->result.ok = compile(job, &err);
  }
  scratch_deinit(&job->scratch);
  job->request = NULL;
  if (!job->result.ok) report(job, &err);
  return &job->result;
}

EXPORT void regolith_codegen_free(RgCodegenResult *result) {
  if (!result) return;
  Compiling *job = (Compiling *)(void *)result;
  Heap heap;
  heap_init(&heap, 0);
  heap.source = job->heap.source;
  free_objects(job);
  heap_free(&job->heap, result->message);
  heap_free(&heap, job);
}
