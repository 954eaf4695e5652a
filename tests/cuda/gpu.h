/* gpu.h - helpers for tests of the executing driver: the opened library, a context, a module from
 * text, memory, a launch. If a call that must succeed fails, the test ends with its name. */
#ifndef RG_TESTS_GPU_H
#define RG_TESTS_GPU_H

#include <stddef.h>
#include <stdint.h>

#define GPU_CALLS(CALL) \
  CALL(cuInit, (unsigned)) \
  CALL(cuDriverGetVersion, (int *)) \
  CALL(cuGetErrorName, (int, const char **)) \
  CALL(cuDeviceGetAttribute, (int *, int, int)) \
  CALL(cuDevicePrimaryCtxRetain, (void **, int)) \
  CALL(cuDevicePrimaryCtxRelease_v2, (int)) \
  CALL(cuDevicePrimaryCtxReset_v2, (int)) \
  CALL(cuCtxPushCurrent_v2, (void *)) \
  CALL(cuCtxPopCurrent_v2, (void **)) \
  CALL(cuCtxSynchronize, (void)) \
  CALL(cuStreamCreate, (void **, unsigned)) \
  CALL(cuStreamSynchronize, (void *)) \
  CALL(cuStreamQuery, (void *)) \
  CALL(cuStreamDestroy_v2, (void *)) \
  CALL(cuStreamWaitEvent, (void *, void *, unsigned)) \
  CALL(cuStreamBeginCapture_v2, (void *, int)) \
  CALL(cuStreamEndCapture, (void *, void **)) \
  CALL(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long)) \
  CALL(cuGraphExecUpdate, (void *, void *, void **, int *)) \
  CALL(cuGraphLaunch, (void *, void *)) \
  CALL(cuGraphExecDestroy, (void *)) \
  CALL(cuGraphDestroy, (void *)) \
  CALL(cuEventCreate, (void **, unsigned)) \
  CALL(cuEventRecord, (void *, void *)) \
  CALL(cuEventQuery, (void *)) \
  CALL(cuEventSynchronize, (void *)) \
  CALL(cuEventElapsedTime, (float *, void *, void *)) \
  CALL(cuEventDestroy_v2, (void *)) \
  CALL(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *)) \
  CALL(cuMemAlloc_v2, (uint64_t *, size_t)) \
  CALL(cuMemFree_v2, (uint64_t)) \
  CALL(cuMemHostAlloc, (void **, size_t, unsigned)) \
  CALL(cuMemFreeHost, (void *)) \
  CALL(cuMemHostRegister_v2, (void *, size_t, unsigned)) \
  CALL(cuMemHostUnregister, (void *)) \
  CALL(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t)) \
  CALL(cuMemcpyDtoH_v2, (void *, uint64_t, size_t)) \
  CALL(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *)) \
  CALL(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *)) \
  CALL(cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, void *)) \
  CALL(cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *)) \
  CALL(cuMemsetD32Async, (uint64_t, unsigned, size_t, void *)) \
  CALL(cuMemAddressReserve, (uint64_t *, size_t, size_t, uint64_t, unsigned long long)) \
  CALL(cuMemAddressFree, (uint64_t, size_t)) \
  CALL(cuMemCreate, (unsigned long long *, size_t, const void *, unsigned long long)) \
  CALL(cuMemRelease, (unsigned long long)) \
  CALL(cuMemMap, (uint64_t, size_t, size_t, unsigned long long, unsigned long long)) \
  CALL(cuMemUnmap, (uint64_t, size_t)) \
  CALL(cuMemSetAccess, (uint64_t, size_t, const void *, size_t)) \
  CALL(cuMemExportToShareableHandle, (void *, unsigned long long, int, unsigned long long)) \
  CALL(cuMemImportFromShareableHandle, (unsigned long long *, void *, int)) \
  CALL(cuModuleLoadDataEx, (void **, const void *, unsigned, const int *, void **)) \
  CALL(cuModuleUnload, (void *)) \
  CALL(cuModuleGetFunction, (void **, void *, const char *)) \
  CALL(cuModuleGetGlobal_v2, (uint64_t *, size_t *, void *, const char *)) \
  CALL(cuLinkCreate_v2, (unsigned, const int *, void **, void **)) \
  CALL(cuLinkAddData_v2, \
       (void *, int, const void *, size_t, const char *, unsigned, const int *, void **)) \
  CALL(cuLinkComplete, (void *, void **, size_t *)) \
  CALL(cuLinkDestroy, (void *)) \
  CALL(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                        unsigned, void *, void **, void **))

typedef struct Gpu {
#define CALL(NAME, PARAMETERS) int(*NAME) PARAMETERS;
  GPU_CALLS(CALL)
#undef CALL
  void *library, *context;
} Gpu;
extern Gpu gpu;

/* With these variables in the environment (`"PTX_SEED=3 PTX_NO_VMM=1"`), in this process: once. */
void gpu_open(const char *environment);
void *gpu_module(const char *ptx); /* ends the program with the log where it cannot be read */
/* One launch of `kernel`, waited for: its CUresult. */
int gpu_run(void *module, const char *kernel, unsigned blocks, unsigned threads, void **params);

/* A kernel of one parameter, `out`, and `lines` of PTX between: %tid.x in %r0, the address of the
 * thread's 8 bytes in %rd0; registers %p %rs %r %rd %f %fd 1..31 are there. Runs it for 32 threads
 * and gives back what it wrote; its CUresult. */
int gpu_lines(const char *lines, uint64_t out[32]);

#endif
