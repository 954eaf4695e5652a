/* driver.h - the CUDA driver, opened with dlopen when it is first used. Independent of kernels. The
 * caller owns the Driver; the process keeps only the library itself. Errors of the driver are
 * converted to our Error: driver_check. */
#ifndef RG_CUDA_DRIVER_H
#define RG_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* CUmemAllocationProp, CUmemAccessDesc: the layouts are the driver's, and stable. */
typedef struct DriverMemoryKind {
  int type; /* DRIVER_PINNED */
  int handle_types;
  int place, number; /* DRIVER_ON_DEVICE, and the device */
  void *security;
  uint8_t compression, can_rdma;
  uint16_t usage;
  uint8_t reserved[4];
} DriverMemoryKind;
typedef struct DriverAccess {
  int place, number;
  int flags; /* DRIVER_READ_WRITE */
} DriverAccess;
_Static_assert(sizeof(DriverMemoryKind) == 32 && sizeof(DriverAccess) == 12,
               "their sizes are those of the driver");
enum { DRIVER_PINNED = 1, DRIVER_ON_DEVICE = 1, DRIVER_READ_WRITE = 3 };
enum { DRIVER_PORTABLE = 1, DRIVER_FOR_KERNELS = 2 }; /* CU_MEMHOSTREGISTER_ */
enum { DRIVER_FILE_DESCRIPTOR = 1 };                  /* CUmemAllocationHandleType */

/* CUresult */
enum {
  DRIVER_OK = 0,
  DRIVER_OUT_OF_MEMORY = 2,
  DRIVER_NOT_READY = 600,
  DRIVER_NO_DEVICE = 100,
  DRIVER_NOT_FOUND = 500
};

typedef struct Driver {
  void *library;
#define DRIVER(NAME, PARAMETERS) int(*NAME) PARAMETERS;
#define DRIVER_OPTIONAL(PART, NAME, PARAMETERS) \
  int(*NAME) PARAMETERS; /* NULL: the driver does not have it */
#include "driver.def"
#undef DRIVER
#undef DRIVER_OPTIONAL
} Driver;

typedef struct DriverDevice {
  char name[128];
  int number;            /* the driver's number of the device */
  int capability;        /* 90 for 9.0 */
  int driver_version;    /* 12040 for 12.4 */
  int processors;        /* streaming multiprocessors */
  bool has_ranges;       /* memory can be mapped into reserved ranges of addresses */
  bool has_sharing;      /* memory can be shared with other processes, by file descriptors */
  bool maps_host_memory; /* kernels reach registered memory of the host at its addresses */
  uint64_t memory_bytes;
} DriverDevice;

/* Opens the library, or the one that RG_CUDA_DRIVER names, and initialises it. False with
 * device.missing and the reason. */
bool driver_open(Driver *driver, Error *err);
void driver_close(Driver *driver);
/* Describes device `number`. A number of DRIVER_ROUND_ROBIN or more selects device
 * (number - DRIVER_ROUND_ROBIN) modulo the number of devices. False with device.missing if we
 * cannot use the device, or it does not exist. */
enum { DRIVER_ROUND_ROBIN = 1 << 20 };
bool driver_device(const Driver *driver, int number, DriverDevice *device, Error *err);
/* The driver's text for a result. */
const char *driver_text(const Driver *driver, int result);
/* True for 0. Otherwise sets memory.device, device.lost (every later call fails, too) or
 * device.failed: "the GPU cannot `what`: ..". */
bool driver_check(const Driver *driver, int result, const char *what, Error *err);
/* Does every later call fail, too? */
bool driver_is_lost(int result);

#endif
