/* arch.c - which device a runtime asks for, and why it is missing. */
#include <strings.h>

#include "api/api.h"
#include "base/str.h"
#include "cuda/driver.h"

/* With a driver and a GPU, the missing part is ours. */
static bool why_no_cuda(Error *err) {
  Driver driver;
  DriverDevice device;
  if (!driver_open(&driver, err))
    return error_hint(err, "arch = {\"cuda\", \"cpu\"} falls back to the processor");
  if (driver_device(&driver, 0, &device, err))
    error_set(err, RG_ERROR_DEVICE, "'%s' is present, but this version compiles only for the CPU",
              device.name);
  driver_close(&driver);
  return false;
}

static const char *nearest(const char *arch) {
  static const char *const known[] = {"cpu", "cuda", "lua"};
  if (!strcasecmp(arch, "gpu") || !strcasecmp(arch, "nvidia")) return "cuda";
  for (int i = 0; i < 3; i++)
    if (!strcasecmp(arch, known[i])) return known[i];
  return str_nearest(str_of(arch), known, 3);
}

bool api_check_arch(const char *arch, Error *err) {
  if (!arch || !arch[0] || !strcmp(arch, "cpu") || !strcmp(arch, "lua")) return true;
  if (!strcmp(arch, "cuda")) return why_no_cuda(err);
  error_set(err, RG_ERROR_DEVICE, "there is no device '%.60s'", arch);
  const char *meant = nearest(arch);
  if (meant) return error_hint(err, "did you mean \"%s\"?", meant);
  return error_hint(err, "arch = \"cpu\" is always available");
}
