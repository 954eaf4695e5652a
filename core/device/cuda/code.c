/* code.c - loads a compiled kernel for the GPU: its host region, which the loader places in
 * memory, and a driver module with its tasks. The driver compiles the PTX for its GPU; the result
 * is stored in the cache on disk, keyed by the PTX, the GPU and the driver's version.
 * Decision D-device-10. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "device/cuda/cuda.h"
#include "loader/loader.h"

enum { LOG_BYTES = 400 };
enum { MAX_REGISTERS = 0, ERROR_LOG = 5, ERROR_LOG_BYTES = 6 }; /* CUjit_option */

/* Loads NUL-terminated PTX with at most `max_registers` (0: no limit). The driver's log goes into
 * err; a rejected text is a bug in our code generator. */
static void *load_text(CudaDevice *cuda, const char *text, int64_t max_registers, Error *err) {
  void *module = NULL;
  char log[LOG_BYTES] = "";
  const int options[] = {ERROR_LOG, ERROR_LOG_BYTES, MAX_REGISTERS};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1), (void *)(uintptr_t)max_registers};
  int result =
      cuda->driver.cuModuleLoadDataEx(&module, text, max_registers ? 3 : 2, options, values);
  if (!result || driver_is_lost(result) || result == DRIVER_OUT_OF_MEMORY)
    return cuda_check(cuda, result, "load a kernel", err) ? module : NULL;
  for (char *at = log; *at; at++)
    if (*at == '\n') *at = ' ';
  error_set(err, RG_ERROR_OBJECT, "the GPU's driver rejects a kernel's code: %s%s%s",
            driver_text(&cuda->driver, result), log[0] ? ": " : "", log);
  return NULL;
}

void *cuda_load_module(CudaDevice *cuda, const char *text, Error *err) {
  return load_text(cuda, text, 0, err);
}

enum { INPUT_PTX = 1 }; /* CUjitInputType */

/* The cache key of a compile by the driver; `processor` is a buffer that the request refers to. */
static RgCodegenRequest request_of(const CudaDevice *cuda, const char *text, uint64_t length,
                                   int64_t max_registers, char processor[200]) {
  const DriverDevice *about = &cuda->about;
  snprintf(processor, 200, "cubin %d, registers %d, driver %d, %.120s", about->capability,
           (int)max_registers, about->driver_version, about->name);
  return (RgCodegenRequest){.bytes = (const uint8_t *)text,
                            .length = (int64_t)length,
                            .build_id = RG_BUILD_ID,
                            .processors = {[RG_TARGET_PTX] = processor}};
}

/* The cached module; NULL if it is not in the cache, or the driver rejects it. */
static void *find_module(CudaDevice *cuda, const RgCodegenRequest *request, int64_t max_registers) {
  const int option = MAX_REGISTERS; /* has no effect on compiled code */
  void *value = (void *)(uintptr_t)max_registers;
  RgCodegenObject objects[RG_TARGET_COUNT];
  void *module = NULL;
  if (!cache_find(cuda->device.cache, request, objects)) return NULL;
  const uint8_t *image = objects[RG_TARGET_PTX].bytes;
  if (cuda->driver.cuModuleLoadDataEx(&module, image, max_registers != 0, &option, &value))
    module = NULL;
  for (int t = 0; t < RG_TARGET_COUNT; t++) heap_free(cuda->device.heap, objects[t].bytes);
  return module;
}

/* Compiles with the driver's linker, whose output can be cached. NULL on failure: the caller then
 * compiles by loading the text, and reports that error. */
static void *link_module(CudaDevice *cuda, const RgCodegenRequest *request, const char *text,
                         int64_t max_registers) {
  const int option = MAX_REGISTERS;
  void *value = (void *)(uintptr_t)max_registers;
  const Driver *driver = &cuda->driver;
  void *state, *image, *module = NULL;
  size_t size_bytes;
  if (driver->cuLinkCreate_v2(max_registers != 0, &option, &value, &state)) return NULL;
  if (!driver->cuLinkAddData_v2(state, INPUT_PTX, text, (size_t)request->length + 1, "kernel", 0,
                                NULL, NULL) &&
      !driver->cuLinkComplete(state, &image, &size_bytes) &&
      !driver->cuModuleLoadDataEx(&module, image, max_registers != 0, &option, &value)) {
    RgCodegenObject objects[RG_TARGET_COUNT] = {
        [RG_TARGET_PTX] = {.bytes = image, .length = (int64_t)size_bytes}};
    cache_store(cuda->device.cache, request, objects);
  }
  driver->cuLinkDestroy(state);
  return module;
}

/* The largest stack frame of a function: PTX declares it as a byte array, "__local_depot3[64]". */
static uint64_t largest_frame(const char *text) {
  static const char depot[] = "__local_depot";
  uint64_t max_registers = 0;
  for (const char *at = text; (at = strstr(at, depot));) {
    at += sizeof depot - 1;
    const char *size = at + strspn(at, "0123456789");
    uint64_t bytes = *size == '[' ? strtoull(size + 1, NULL, 10) : 0;
    if (bytes > max_registers) max_registers = bytes;
  }
  return max_registers;
}

/* The most bytes that a call passes and returns: "(.param .align 8 .b8 param_0[48], ..)" in the
 * head of a function. */
static uint64_t largest_parameters(const char *text) {
  uint64_t max_registers = 0;
  for (const char *at = text; (at = strstr(at, ".func "));) {
    const char *end = at + strcspn(at, "{;");
    uint64_t bytes = 0;
    while ((at = strstr(at, ".param ")) && at < end) {
      at += sizeof ".param " - 1;
      const char *size = at + strcspn(at, "[,)");
      const char *type = strstr(at, ".b");
      bytes += *size == '['          ? strtoull(size + 1, NULL, 10)
               : type && type < size ? strtoull(type + 2, NULL, 10) / 8
                                     : 8;
    }
    if (bytes > max_registers) max_registers = bytes;
    at = end;
  }
  return max_registers;
}

static void *make_module(CudaDevice *cuda, const char *text, uint64_t length, int64_t max_registers,
                         Error *err) {
  ASSERT(!text[length], "the driver reads a text up to its NUL");
  char processor[200];
  void *module = NULL;
  if (cuda->device.cache) {
    RgCodegenRequest request = request_of(cuda, text, length, max_registers, processor);
    module = find_module(cuda, &request, max_registers);
    if (!module) module = link_module(cuda, &request, text, max_registers);
  }
  return module ? module : load_text(cuda, text, max_registers, err);
}

enum { LOCAL_BYTES = 3, REGISTERS = 4 }; /* CUfunction_attribute */

static bool find_tasks(CudaDevice *cuda, CudaCode *code, int32_t task_count, Error *err) {
  char name[32];
  ASSERT(code->module && task_count > 0, "tasks are functions of a loaded module");
  for (int32_t k = 0; k < task_count; k++) {
    snprintf(name, sizeof name, "rg_task_%d", k);
    int result = cuda->driver.cuModuleGetFunction(&code->tasks[k], code->module, name);
    if (result == DRIVER_NOT_FOUND)
      return error_set(err, RG_ERROR_OBJECT, "compiled code has no '%s'", name);
    if (!cuda_check(cuda, result, "find a kernel's task", err)) return false;
  }
  return true;
}

/* Local memory per thread, summed over tasks: arrays and spilled registers. */
static uint64_t local_bytes(CudaDevice *cuda, const CudaCode *code, int32_t task_count) {
  uint64_t all = 0;
  for (int32_t k = 0; k < task_count; k++) {
    int local = 0;
    if (!cuda->driver.cuFuncGetAttribute(&local, LOCAL_BYTES, code->tasks[k]))
      all += (uint64_t)local;
  }
  return all;
}

static bool load_with_limit(CudaDevice *cuda, CudaCode *code, const char *text, uint64_t length,
                            int64_t max_registers, int32_t task_count, Error *err) {
  code->module = make_module(cuda, text, length, max_registers, err);
  return code->module && find_tasks(cuda, code, task_count, err);
}

static bool has_many_registers(CudaDevice *cuda, const CudaCode *code, int32_t task_count) {
  for (int32_t k = 0; k < task_count; k++) {
    int count = 0;
    if (cuda->driver.cuFuncGetAttribute(&count, REGISTERS, code->tasks[k])) continue;
    if (count > cuda->guesses[CUDA_GUESS_registers]) return true;
  }
  return false;
}

/* Limits registers, so that more threads run at the same time, if that spills none. Code with few
 * registers has no limit, as the driver may use more of them with a limit than without. */
static bool load_text_tasks(CudaDevice *cuda, CudaCode *code, const char *text, uint64_t length,
                            int32_t task_count, Error *err) {
  int64_t max_registers = cuda->guesses[CUDA_GUESS_registers];
  if (!load_with_limit(cuda, code, text, length, 0, task_count, err)) return false;
  if (code->recurses || !has_many_registers(cuda, code, task_count)) return true;
  uint64_t local = local_bytes(cuda, code, task_count);
  cuda->driver.cuModuleUnload(code->module);
  Error unused;
  error_clear(&unused);
  bool ok = load_with_limit(cuda, code, text, length, max_registers, task_count, &unused);
  /* the limit spills no register */
  if (ok && local_bytes(cuda, code, task_count) <= local) return true;
  if (code->module) cuda->driver.cuModuleUnload(code->module);
  return load_with_limit(cuda, code, text, length, 0, task_count, err);
}

static bool load_ptx(CudaDevice *cuda, CudaCode *code, const RgCodegenObject *ptx,
                     int32_t task_count, Error *err) {
  char *text = heap_alloc(cuda->device.heap, (size_t)ptx->length + 1);
  if (!text)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  memcpy(text, ptx->bytes, (size_t)ptx->length);
  cuda_read_text(code, text, task_count);
  code->recurses = strstr(text, "rg_function_") != NULL;
  code->call_bytes = largest_frame(text) + largest_parameters(text);
  bool ok = load_text_tasks(cuda, code, text, (uint64_t)ptx->length, task_count, err);
  heap_free(cuda->device.heap, text);
  return ok;
}

/* -- stacks of recursive functions ------------------------------------------------------------- */

/* Adds what a call may save outside its frame: all registers, and the return address. */
static void add_registers(CudaDevice *cuda, CudaCode *code, int32_t task_count) {
  enum { DEFAULT_REGISTERS = 44, RETURN_ADDRESS = 16 };
  int max_registers = 0;
  for (int32_t k = 0; k < task_count; k++) {
    int registers = DEFAULT_REGISTERS;
    if (cuda->driver.cuFuncGetAttribute(&registers, REGISTERS, code->tasks[k]))
      registers = DEFAULT_REGISTERS;
    if (registers > max_registers) max_registers = registers;
  }
  code->call_bytes += 4 * (uint64_t)max_registers + RETURN_ADDRESS;
}

enum {
  STACK_SIZE = 0,       /* CUlimit */
  DEFAULT_STACK = 1024, /* bytes: a context's default */
  FEW_CALLS = 8,
  SPARE_CALLS = 8 /* for the task's own frame, and runtime functions that the last call calls */
};

/* Sets the limit, and frees unused memory if that is necessary. */
static bool set_stack(CudaDevice *cuda, uint64_t bytes) {
  int result = cuda->driver.cuCtxSetLimit(STACK_SIZE, bytes);
  if (result == DRIVER_OUT_OF_MEMORY && cuda_relieve(cuda))
    result = cuda->driver.cuCtxSetLimit(STACK_SIZE, bytes);
  if (!result) cuda->stack_bytes = bytes;
  return !result;
}

/* Other code in the process may change the limit, too. */
static size_t stack_now(CudaDevice *cuda) {
  size_t now = DEFAULT_STACK;
  return cuda->driver.cuCtxGetLimit(&now, STACK_SIZE) ? DEFAULT_STACK : now;
}

/* The limit belongs to the context: every resident thread gets the stack that the most demanding
 * code needs, from that code's first launch on. If the GPU refuses, the number of calls is halved
 * until it accepts; the code reports too many calls (codegen/function.c). */
bool cuda_ensure_stack(CudaDevice *cuda, CudaCode *code, Error *err) {
  if (!code->recurses) return true;
  uint64_t bytes = 0;
  ASSERT(code->call_bytes && code->most_calls >= FEW_CALLS, "a call has been measured at loading");
  size_t now = stack_now(cuda);
  if (now != cuda->stack_bytes) cuda->previous_stack = now;
  for (; code->most_calls >= FEW_CALLS; code->most_calls /= 2) {
    bytes = code->call_bytes * (code->most_calls + SPARE_CALLS);
    if (bytes <= now || set_stack(cuda, bytes)) return true;
  }
  code->most_calls = FEW_CALLS;
  error_set(err, RG_ERROR_DEVICE_MEMORY,
            "the GPU cannot give each thread a stack of %llu KiB, which %d nested calls of a "
            "recursive function need",
            (unsigned long long)(bytes >> 10), FEW_CALLS);
  return error_hint(err, "use smaller vectors and matrices in its locals, or a loop");
}

bool cuda_trim_stack(CudaDevice *cuda) {
  bool needs = cuda->launch && cuda->is_in_launch && ((CudaCode *)cuda->launch->code)->recurses;
  if (!cuda->stack_bytes || needs || stack_now(cuda) != cuda->stack_bytes) return false;
  cuda->stack_bytes = 0;
  return !cuda->driver.cuCtxSetLimit(STACK_SIZE, cuda->previous_stack);
}

static bool load_host(CudaDevice *cuda, CudaCode *code, const RgCodegenObject *host, Error *err) {
  code->object = object_load(cuda->device.heap, host->bytes, host->length, err);
  if (!code->object) return false;
  *(void **)&code->code.host = code_find(code->object, "rg_host");
  return code->code.host || error_set(err, RG_ERROR_OBJECT, "compiled code has no 'rg_host'");
}

static bool load_tasks(CudaDevice *cuda, CudaCode *code, const RgCodegenObject *ptx,
                       int32_t task_count, Error *err) {
  if (!task_count) return true;
  if (!ptx->bytes) return error_set(err, RG_ERROR_OBJECT, "compiled code has no PTX for the GPU");
  if (!cuda_enter(cuda, err)) return false;
  bool ok = load_ptx(cuda, code, ptx, task_count, err);
  code->most_calls = RT_MOST_CALLS_GPU;
  if (ok && code->recurses) add_registers(cuda, code, task_count);
  cuda_leave(cuda);
  return ok;
}

void cuda_unload(Device *device, DeviceCode *kernel) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaCode *code = (CudaCode *)kernel;
  if (!code) return;
  ASSERT(!cuda->is_in_launch || cuda->launch->code != kernel, "code outlives its launches");
  if (code->module && cuda_enter(cuda, NULL)) {
    cuda_wait_all(cuda, NULL);
    cuda_repeat_forget(cuda);
    cuda->driver.cuModuleUnload(code->module);
    cuda_leave(cuda);
  }
  code_destroy(code->object);
  heap_free(device->heap, code);
}

DeviceCode *cuda_load(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT],
                      int32_t task_count, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  size_t tasks_bytes = sizeof(void *) * (size_t)task_count;
  CudaCode *code =
      heap_alloc(device->heap, sizeof *code + tasks_bytes + sizeof(int32_t) * (size_t)task_count);
  if (!code) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
    return NULL;
  }
  code->code.tasks = code->tasks;
  code->frames = (int32_t *)(void *)((uint8_t *)code->tasks + tasks_bytes);
  if (load_host(cuda, code, &objects[RG_TARGET_HOST], err) &&
      load_tasks(cuda, code, &objects[RG_TARGET_PTX], task_count, err))
    return &code->code;
  cuda_unload(device, &code->code);
  return NULL;
}
