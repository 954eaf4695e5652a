/* api_device.c - the driver itself, and the attributes of its device. */
#include "api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;

void api_lock(void) { pthread_mutex_lock(&lock); }
void api_unlock(int *unused) { pthread_mutex_unlock(&lock); }
bool api_is_open(void) { return is_open; }

static void at_exit(void) {
  if (options.count == 1) api_report();
}

EXPORT int cuInit(unsigned flags) {
  api_lock();
  int unlock __attribute__((cleanup(api_unlock), unused)) = 0;
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (is_open) return CUDA_SUCCESS;
  options_read();
  if (!options.devices) return CUDA_ERROR_NO_DEVICE;
  if (!memory_open()) return CUDA_ERROR_OUT_OF_MEMORY;
  is_open = true;
  atexit(at_exit);
  return CUDA_SUCCESS;
}

EXPORT int cuDriverGetVersion(int *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  options_read();
  *version = (int)options.version;
  return CUDA_SUCCESS;
}

static const struct {
  int number;
  const char *name, *text;
} results[] = {
#define RESULT(NAME, NUMBER, TEXT) {NUMBER, "CUDA_" #NAME, TEXT},
#include "result.def"
#undef RESULT
};

static int find_result(int result, const char **text, bool name) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = NULL;
  for (uint32_t i = 0; i < sizeof results / sizeof results[0]; i++)
    if (results[i].number == result) *text = name ? results[i].name : results[i].text;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT int cuGetErrorString(int result, const char **text) {
  return find_result(result, text, false);
}
EXPORT int cuGetErrorName(int result, const char **text) { return find_result(result, text, true); }

static int check_device(int device) {
  if (!is_open) return CUDA_ERROR_NOT_INITIALIZED;
  return device < 0 || device >= options.devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

EXPORT int cuDeviceGetCount(int *count) {
  if (!is_open) return CUDA_ERROR_NOT_INITIALIZED;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = (int)options.devices;
  return CUDA_SUCCESS;
}
EXPORT int cuDeviceGet(int *device, int number) {
  int result = check_device(number);
  if (result) return result;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = number;
  return CUDA_SUCCESS;
}
EXPORT int cuDeviceGetName(char *name, int size, int device) {
  int result = check_device(device);
  if (result) return result;
  if (!name || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, (size_t)size, "executing driver");
  return CUDA_SUCCESS;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  int result = check_device(device);
  if (result) return result;
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  *bytes = memory.total_bytes;
  return CUDA_SUCCESS;
}
EXPORT int cuDeviceGetUuid_v2(char *bytes, int device) {
  int result = check_device(device);
  if (result) return result;
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  memcpy(bytes, "executing driver", 16);
  bytes[15] = (char)(bytes[15] + options.gpu + device);
  return CUDA_SUCCESS;
}
EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  int result = check_device(device);
  if (!result) result = check_device(peer);
  if (result) return result;
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  *can = options.peers && device != peer;
  return CUDA_SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  int result = check_device(device);
  if (result) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
#define ATTRIBUTE(NUMBER, VALUE) \
  case NUMBER: *value = (int)(VALUE); return CUDA_SUCCESS;
#include "attribute.def"
#undef ATTRIBUTE
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}
