/* driver.c - see driver.h. Each reason why a GPU cannot be used has its own message. */
#include "driver.h"

#include <dlfcn.h>
#include <string.h>

#include "base/dynlib.h"
#include "base/option.h"

enum {
  OLDEST_VERSION = 11000, /* the first that supports sm_80 */
  OLDEST_CAPABILITY = 75, /* the lowest that we generate code for */
  /* CUdevice_attribute */
  PROCESSORS = 16,
  CAPABILITY_MAJOR = 75,
  CAPABILITY_MINOR = 76,
  MAPS_HOST_MEMORY = 91, /* registered memory of the host has the host's addresses */
  HAS_RANGES = 102,
  HAS_FILE_DESCRIPTORS = 103
};

const char *driver_text(const Driver *driver, int result) {
  const char *text = NULL;
  if (driver->cuGetErrorString(result, &text) || !text) return "an unknown reason";
  return text;
}

/* After a fault of a kernel, every call in its context returns that fault. Some codes in this range
 * only concern one call: 701, a launch that needs too much; 712, host memory that is registered
 * already. */
bool driver_is_lost(int result) {
  static const int fatal[] = {214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    if (result == fatal[i]) return true;
  return false;
}

bool driver_check(const Driver *driver, int result, const char *what, Error *err) {
  if (result == DRIVER_OK) return true;
  if (result == DRIVER_OUT_OF_MEMORY)
    return error_set(err, RG_ERROR_DEVICE_MEMORY, "the GPU has no memory left: it cannot %s", what);
  if (!driver_is_lost(result))
    return error_set(err, RG_ERROR_DEVICE_FAILED, "the GPU cannot %s: %s", what,
                     driver_text(driver, result));
  error_set(err, RG_ERROR_DEVICE_LOST, "this runtime cannot use the GPU any more: it cannot %s: %s",
            what, driver_text(driver, result));
  return error_hint(err, "its contents are lost: rg.reset() makes a new runtime");
}

static bool find_entries(Driver *driver, Error *err) {
  static const struct {
    const char *name;
    size_t offset;
    bool may_be_missing;
  } entries[] = {
#define DRIVER(NAME, PARAMETERS) {#NAME, offsetof(Driver, NAME), false},
#define DRIVER_OPTIONAL(PART, NAME, PARAMETERS) {#NAME, offsetof(Driver, NAME), true},
#include "driver.def"
#undef DRIVER
#undef DRIVER_OPTIONAL
  };
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    void *entry = dlsym(driver->library, entries[i].name);
    memcpy((char *)driver + entries[i].offset, &entry, sizeof entry);
    if (!entry && !entries[i].may_be_missing)
      return error_set(err, RG_ERROR_DEVICE, "the CUDA driver is too old: it has no %s",
                       entries[i].name);
  }
  return true;
}

static bool check_version(const Driver *driver, Error *err) {
  int version = 0, result = driver->cuDriverGetVersion(&version);
  if (result)
    return error_set(err, RG_ERROR_DEVICE, "the CUDA driver does not report its version: %s",
                     driver_text(driver, result));
  return version >= OLDEST_VERSION ||
         error_set(err, RG_ERROR_DEVICE,
                   "the CUDA driver is too old: it is for CUDA %d.%d, and %d.%d is the oldest that "
                   "can be used",
                   version / 1000, version / 10 % 100, OLDEST_VERSION / 1000,
                   OLDEST_VERSION / 10 % 100);
}

static bool start(Driver *driver, Error *err) {
  int result = driver->cuInit(0);
  if (result == DRIVER_NO_DEVICE)
    return error_set(err, RG_ERROR_DEVICE, "the CUDA driver sees no GPU");
  return !result || error_set(err, RG_ERROR_DEVICE, "the CUDA driver does not start: %s",
                              driver_text(driver, result));
}

bool driver_open(Driver *driver, Error *err) {
  const char *given = option_text("RG_CUDA_DRIVER");
  const char *path = given[0] ? given : "libcuda.so.1";
  memset(driver, 0, sizeof *driver);
  const char *unused;
  driver->library = dynlib_open(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, &unused);
  if (!driver->library)
    return error_set(err, RG_ERROR_DEVICE,
                     "there is no CUDA driver on this machine: %.200s cannot be opened", path);
  if (find_entries(driver, err) && check_version(driver, err) && start(driver, err)) return true;
  driver_close(driver);
  return false;
}

void driver_close(Driver *driver) {
  if (driver->library) dlclose(driver->library);
  memset(driver, 0, sizeof *driver);
}

enum { RANGES, SHARING, GRAPHS };

static bool has_entries(const Driver *driver, int part) {
#define DRIVER(NAME, PARAMETERS)
#define DRIVER_OPTIONAL(PART, NAME, PARAMETERS) \
  if (PART == part && !driver->NAME) return false;
#include "driver.def"
#undef DRIVER
#undef DRIVER_OPTIONAL
  return true;
}

static int describe(const Driver *driver, DriverDevice *device) {
  int major = 0, minor = 0, ranges = 0, sharing = 0, maps_memory = 0;
  size_t memory_bytes = 0;
  int result = driver->cuDeviceGetName(device->name, sizeof device->name, device->number);
  if (!result) result = driver->cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, device->number);
  if (!result) result = driver->cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, device->number);
  if (!result)
    result = driver->cuDeviceGetAttribute(&device->processors, PROCESSORS, device->number);
  if (!result) result = driver->cuDeviceTotalMem_v2(&memory_bytes, device->number);
  if (!result) result = driver->cuDriverGetVersion(&device->driver_version);
  if (!driver->cuDeviceGetAttribute(&ranges, HAS_RANGES, device->number))
    device->has_ranges = ranges && has_entries(driver, RANGES);
  if (!driver->cuDeviceGetAttribute(&sharing, HAS_FILE_DESCRIPTORS, device->number))
    device->has_sharing = sharing && device->has_ranges && has_entries(driver, SHARING);
  if (!driver->cuDeviceGetAttribute(&maps_memory, MAPS_HOST_MEMORY, device->number))
    device->maps_host_memory = maps_memory;
  device->memory_bytes = memory_bytes;
  device->capability = major * 10 + minor;
  return result;
}

bool driver_device(const Driver *driver, int number, DriverDevice *device, Error *err) {
  int count = 0;
  memset(device, 0, sizeof *device);
  int result = driver->cuDeviceGetCount(&count);
  if (!result && !count) return error_set(err, RG_ERROR_DEVICE, "the CUDA driver sees no GPU");
  if (!result && number >= DRIVER_ROUND_ROBIN) number = (number - DRIVER_ROUND_ROBIN) % count;
  if (!result && number >= count)
    return error_set(err, RG_ERROR_DEVICE,
                     "there is no GPU %d: the CUDA driver sees %d, and numbers begin with 0",
                     number, count);
  if (!result) result = driver->cuDeviceGet(&device->number, number);
  if (!result) result = describe(driver, device);
  if (result)
    return error_set(err, RG_ERROR_DEVICE, "the GPU cannot be queried: %s",
                     driver_text(driver, result));
  return device->capability >= OLDEST_CAPABILITY ||
         error_set(err, RG_ERROR_DEVICE,
                   "'%s' is too old: it has compute capability %d.%d, and 7.5 is the lowest that "
                   "can be used",
                   device->name, device->capability / 10, device->capability % 10);
}
