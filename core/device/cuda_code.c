/* cuda_code.c - a compiled kernel for the GPU: its host region, which the loader places in memory,
 * and a module of the driver's with its tasks. The driver compiles PTX for its GPU; what it makes
 * of it is kept in the cache on disk, under the text, the GPU and the driver's version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "device/cuda.h"
#include "loader/loader.h"

enum { LOG_BYTES = 400, ERROR_LOG = 5, ERROR_LOG_BYTES = 6 }; /* CUjit_option */

/* The driver's compiler says why; the text is ours, so that is a slip of ours. `text` ends with a
 * NUL. */
void *cuda_load_module(CudaDevice *cuda, const char *text, Error *err) {
  void *module = NULL;
  char log[LOG_BYTES] = "";
  const int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  int result = cuda->driver.cuModuleLoadDataEx(&module, text, 2, options, values);
  if (!result || driver_is_lost(result) || result == DRIVER_OUT_OF_MEMORY)
    return cuda_check(cuda, result, "load a kernel", err) ? module : NULL;
  for (char *at = log; *at; at++)
    if (*at == '\n') *at = ' ';
  error_set(err, RG_ERROR_OBJECT, "the GPU's driver does not take a kernel's code: %s%s%s",
            driver_text(&cuda->driver, result), log[0] ? ": " : "", log);
  return NULL;
}

enum { INPUT_PTX = 1 };       /* CUjitInputType */

/* Of the driver's compile; `processor` has room for its name. */
static RgCodegenRequest request_of(const CudaDevice *cuda, const char *text, uint64_t length,
                                   char processor[200]) {
  const DriverDevice *about = &cuda->about;
  snprintf(processor, 200, "cubin %d, driver %d, %.120s", about->capability,
           about->driver_version, about->name);
  return (RgCodegenRequest){.bytes = (const uint8_t *)text,
                            .length = (int64_t)length,
                            .build_id = RG_BUILD_ID,
                            .processors = {[RG_TARGET_PTX] = processor}};
}

/* What was kept; NULL: nothing, or nothing that the driver takes. */
static void *find_module(CudaDevice *cuda, const RgCodegenRequest *request) {
  RgCodegenObject objects[RG_TARGET_COUNT];
  void *module = NULL;
  if (!cache_find(cuda->device.cache, request, objects)) return NULL;
  const uint8_t *image = objects[RG_TARGET_PTX].bytes;
  if (cuda->driver.cuModuleLoadDataEx(&module, image, 0, NULL, NULL)) module = NULL;
  for (int t = 0; t < RG_TARGET_COUNT; t++) heap_free(cuda->device.heap, objects[t].bytes);
  return module;
}

/* Compiled by the driver's linker, which shows the result; NULL: it is compiled while it is loaded,
 * with whatever error that has. */
static void *link_module(CudaDevice *cuda, const RgCodegenRequest *request, const char *text) {
  const Driver *driver = &cuda->driver;
  void *state, *image, *module = NULL;
  size_t size_bytes;
  if (driver->cuLinkCreate_v2(0, NULL, NULL, &state)) return NULL;
  if (!driver->cuLinkAddData_v2(state, INPUT_PTX, text, (size_t)request->length + 1, "kernel", 0,
                                NULL, NULL) &&
      !driver->cuLinkComplete(state, &image, &size_bytes) &&
      !driver->cuModuleLoadDataEx(&module, image, 0, NULL, NULL)) {
    RgCodegenObject objects[RG_TARGET_COUNT] = {
        [RG_TARGET_PTX] = {.bytes = image, .length = (int64_t)size_bytes}};
    cache_store(cuda->device.cache, request, objects);
  }
  driver->cuLinkDestroy(state);
  return module;
}

/* The largest frame of a function: PTX declares it as an array of bytes, "__local_depot3[64]". */
static uint64_t largest_frame(const char *text) {
  static const char depot[] = "__local_depot";
  uint64_t most = 0;
  for (const char *at = text; (at = strstr(at, depot));) {
    at += sizeof depot - 1;
    const char *size = at + strspn(at, "0123456789");
    uint64_t bytes = *size == '[' ? strtoull(size + 1, NULL, 10) : 0;
    if (bytes > most) most = bytes;
  }
  return most;
}

/* A thread's stack is small unless it is asked for, and takes memory for every thread that can run:
 * only functions that call themselves need more (codegen/function.c), which say so when there are
 * too many calls. Each call keeps its frame and what the callee may overwrite of its registers.
 * Where the GPU refuses so much, half as many calls may do. */
static bool have_stack(CudaDevice *cuda, CudaCode *code, const char *text, Error *err) {
  enum { STACK_SIZE = 0, LEAST = 16384, REGISTERS = 192, FEW_CALLS = 8 }; /* CUlimit; bytes */
  uint64_t of_call = largest_frame(text) + REGISTERS, bytes = 0;
  code->most_calls = RT_MOST_CALLS_GPU;
  if (!strstr(text, "rg_function_")) return true;
  for (; code->most_calls >= FEW_CALLS; code->most_calls /= 2) {
    bytes = code->most_calls * of_call;
    if (bytes < LEAST) bytes = LEAST;
    if (bytes <= cuda->stack_bytes) return true;
    if (cuda->driver.cuCtxSetLimit(STACK_SIZE, bytes)) continue;
    cuda->stack_bytes = bytes;
    return true;
  }
  error_set(err, RG_ERROR_DEVICE_MEMORY,
            "the GPU cannot give each thread a stack of %llu KiB, for %d calls of a function that "
            "calls itself",
            (unsigned long long)(bytes >> 10), FEW_CALLS);
  return error_hint(err, "smaller vectors and matrices in its locals, or a loop");
}

static void *make_module(CudaDevice *cuda, const char *text, uint64_t length, Error *err) {
  char processor[200];
  void *module = NULL;
  if (cuda->device.cache) {
    RgCodegenRequest request = request_of(cuda, text, length, processor);
    module = find_module(cuda, &request);
    if (!module) module = link_module(cuda, &request, text);
  }
  return module ? module : cuda_load_module(cuda, text, err);
}

static bool load_module(CudaDevice *cuda, CudaCode *code, const RgCodegenObject *ptx,
                        int32_t task_count, Error *err) {
  char *text = heap_alloc(cuda->device.heap, (size_t)ptx->length + 1);
  if (!text)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  memcpy(text, ptx->bytes, (size_t)ptx->length);
  cuda_read_text(code, text, task_count);
  if (have_stack(cuda, code, text, err))
    code->module = make_module(cuda, text, (uint64_t)ptx->length, err);
  heap_free(cuda->device.heap, text);
  return code->module != NULL;
}

static bool find_tasks(CudaDevice *cuda, CudaCode *code, int32_t task_count, Error *err) {
  char name[32];
  for (int32_t k = 0; k < task_count; k++) {
    snprintf(name, sizeof name, "rg_task_%d", k);
    int result = cuda->driver.cuModuleGetFunction(&code->tasks[k], code->module, name);
    if (result == DRIVER_NOT_FOUND)
      return error_set(err, RG_ERROR_OBJECT, "compiled code has no '%s'", name);
    if (!cuda_check(cuda, result, "find a kernel's task", err)) return false;
  }
  return true;
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
  if (!ptx->bytes) return error_set(err, RG_ERROR_OBJECT, "compiled code has nothing for the GPU");
  if (!cuda_enter(cuda, err)) return false;
  bool ok = load_module(cuda, code, ptx, task_count, err) &&
            find_tasks(cuda, code, task_count, err);
  cuda_leave(cuda);
  return ok;
}

void cuda_unload(Device *device, DeviceCode *kernel) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaCode *code = (CudaCode *)kernel;
  if (!code) return;
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
  CudaCode *code = heap_alloc(
      device->heap, sizeof *code + tasks_bytes + sizeof(int32_t) * (size_t)task_count);
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
