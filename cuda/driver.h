/* driver.h - the CUDA driver, opened with dlopen when it is first asked for. Knows no kernel.
 * The caller owns the Driver; the process keeps nothing but the library itself. */
#ifndef RG_CUDA_DRIVER_H
#define RG_CUDA_DRIVER_H

#include "base/error.h"

typedef struct Driver {
  void *library;
#define DRIVER(NAME, PARAMETERS) int (*NAME) PARAMETERS;
#include "driver.def"
#undef DRIVER
} Driver;

typedef struct DriverDevice {
  char name[128];
  int capability; /* 90 for 9.0 */
  int driver_version;
} DriverDevice;

/* Opens the library and initialises it. False with device.missing: the message says why. */
bool driver_open(Driver *driver, Error *err);
void driver_close(Driver *driver);
/* Describes device `number`. False with device.missing when there is none. */
bool driver_device(const Driver *driver, int number, DriverDevice *device, Error *err);

#endif
