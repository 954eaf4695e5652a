/* driver.c - every way in which a GPU can be unavailable, each with its message. */
#include "driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 }; /* CUdevice_attribute */

static const char *why(const Driver *driver, int result) {
  const char *text = NULL;
  if (driver->cuGetErrorString(result, &text) || !text) return "an unknown reason";
  return text;
}

bool driver_open(Driver *driver, Error *err) {
  memset(driver, 0, sizeof *driver);
  driver->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver->library)
    return error_set(err, RG_ERROR_DEVICE,
                     "there is no CUDA driver on this machine: libcuda.so.1 cannot be opened");
  static const struct { const char *name; size_t place; } entries[] = {
#define DRIVER(NAME, PARAMETERS) {#NAME, offsetof(Driver, NAME)},
#include "driver.def"
#undef DRIVER
  };
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    void *entry = dlsym(driver->library, entries[i].name);
    memcpy((char *)driver + entries[i].place, &entry, sizeof entry);
    if (!entry) {
      driver_close(driver);
      return error_set(err, RG_ERROR_DEVICE, "the CUDA driver is too old: it has no %s",
                       entries[i].name);
    }
  }
  int result = driver->cuInit(0);
  if (!result) return true;
  error_set(err, RG_ERROR_DEVICE, "the CUDA driver does not start: %s", why(driver, result));
  driver_close(driver);
  return false;
}

void driver_close(Driver *driver) {
  if (driver->library) dlclose(driver->library);
  memset(driver, 0, sizeof *driver);
}

bool driver_device(const Driver *driver, int number, DriverDevice *device, Error *err) {
  int count = 0, handle = 0, major = 0, minor = 0;
  memset(device, 0, sizeof *device);
  int result = driver->cuDeviceGetCount(&count);
  if (!result && number >= count)
    return error_set(err, RG_ERROR_DEVICE, "the CUDA driver sees no GPU");
  if (!result) result = driver->cuDeviceGet(&handle, number);
  if (!result) result = driver->cuDeviceGetName(device->name, sizeof device->name, handle);
  if (!result) result = driver->cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, handle);
  if (!result) result = driver->cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, handle);
  if (!result) result = driver->cuDriverGetVersion(&device->driver_version);
  if (result)
    return error_set(err, RG_ERROR_DEVICE, "the GPU cannot be queried: %s", why(driver, result));
  device->capability = major * 10 + minor;
  return true;
}
