/* describe.c - describes the code that the driver's compiler generated for a kernel's tasks, for
 * reports. The driver reports registers and memory. Our PTX declares how much of a thread's local
 * memory is arrays; the rest is spilled registers. That split is unknown for a task that calls
 * functions, whose frames are in local memory, too. */
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"

enum { SHARED_BYTES = 1, LOCAL_BYTES = 3, REGISTERS = 4 }; /* CUfunction_attribute */
enum { UNKNOWN = -1 };

/* ".version 7.0" is 70. */
static int32_t version_of(const char *text) {
  static const char word[] = ".version ";
  const char *at = strstr(text, word);
  char *end;
  if (!at) return 0;
  long major = strtol(at + sizeof word - 1, &end, 10);
  return (int32_t)(major * 10 + (*end == '.' ? strtol(end + 1, NULL, 10) : 0));
}

/* Does `word` occur between `from` and `to`? */
static bool has_word(const char *from, const char *to, const char *word) {
  const char *at = strstr(from, word);
  return at && at < to;
}

/* Bytes of local memory that an entry declares: ".local .align 8 .b8 \t__local_depot0[24];" */
static int32_t frame_of(const char *entry, const char *end) {
  const char *at = strstr(entry, "__local_depot");
  if (has_word(entry, end, "\tcall")) return UNKNOWN;
  if (!at || at >= end) return 0;
  at = strchr(at, '[');
  return at ? (int32_t)strtol(at + 1, NULL, 10) : UNKNOWN;
}

void cuda_read_text(CudaCode *code, const char *text, int32_t task_count) {
  static const char entry[] = ".entry rg_task_";
  code->ptx_version = version_of(text);
  for (int32_t k = 0; k < task_count; k++) code->frames[k] = UNKNOWN;
  for (const char *at = strstr(text, entry); at;) {
    long number = strtol(at + sizeof entry - 1, NULL, 10);
    const char *next = strstr(at + 1, entry), *end = strstr(at, "\n}");
    if (number >= 0 && number < task_count && end) code->frames[number] = frame_of(at, end);
    at = next;
  }
}

static int32_t attribute_of(const CudaDevice *cuda, int attribute, void *function) {
  int value;
  return cuda->driver.cuFuncGetAttribute(&value, attribute, function) ? UNKNOWN : value;
}

bool cuda_describe(Device *device, const DeviceCode *kernel, const DeviceTask *tasks,
                   int32_t number, DeviceTaskCode *out) {
  CudaDevice *cuda = (CudaDevice *)device;
  const CudaCode *code = (const CudaCode *)kernel;
  void *function = code->tasks[number];
  if (!cuda_enter(cuda, NULL)) return false;
  *out = (DeviceTaskCode){.processor = cuda->processor,
                          .ptx_version = code->ptx_version,
                          .threads = cuda_block_threads(&tasks[number]),
                          .registers = attribute_of(cuda, REGISTERS, function),
                          .local_bytes = attribute_of(cuda, LOCAL_BYTES, function),
                          .shared_bytes = attribute_of(cuda, SHARED_BYTES, function)};
  cuda_leave(cuda);
  int32_t frame = code->frames[number];
  out->spilled_bytes = UNKNOWN;
  if (frame >= 0 && out->local_bytes >= 0)
    out->spilled_bytes = out->local_bytes > frame ? out->local_bytes - frame : 0;
  return true;
}
