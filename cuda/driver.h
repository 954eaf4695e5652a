/* driver.h - the CUDA driver, opened with dlopen when it is first asked for. Knows no kernel.
 * The caller owns the Driver; the process keeps nothing but the library itself. What the driver
 * refuses becomes an Error of ours: driver_check. */
#ifndef RG_CUDA_DRIVER_H
#define RG_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* CUmemAllocationProp, CUmemAccessDesc: the layouts are the driver's, and stable. */
typedef struct DriverMemoryKind {
  int type; /* DRIVER_PINNED */
  int handle_types;
  int place, number; /* DRIVER_ON_DEVICE, the device */
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
               "as the driver has them");
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
#define DRIVER_MAY(PART, NAME, PARAMETERS) int(*NAME) PARAMETERS; /* NULL: it is not there */
#include "driver.def"
#undef DRIVER
#undef DRIVER_MAY
} Driver;

typedef struct DriverDevice {
  char name[128];
  int number;         /* as the driver names it */
  int capability;     /* 90 for 9.0 */
  int driver_version; /* 12040 for 12.4 */
  int processors;     /* that run blocks: SMs */
  bool has_ranges;    /* memory can be mapped into reserved ranges of addresses */
  bool has_sharing;   /* and given to other processes, by file descriptors */
  bool shows_host;    /* kernels reach registered memory of the host at its addresses */
  uint64_t memory_bytes;
} DriverDevice;

/* Opens the library (that of RG_CUDA_DRIVER, if it is set) and initialises it. False with
 * device.missing: the message says why. */
bool driver_open(Driver *driver, Error *err);
void driver_close(Driver *driver);
/* Describes device `number`; by turns, if that is DRIVER_TURN more. False with device.missing when
 * there is none that we can use. */
enum { DRIVER_TURN = 1 << 20 };
bool driver_device(const Driver *driver, int number, DriverDevice *device, Error *err);
/* The driver's own words for a result. */
const char *driver_text(const Driver *driver, int result);
/* True for 0. Else memory.device, device.lost (nothing works from then on) or device.failed: "the
 * GPU cannot `what`: ..". */
bool driver_check(const Driver *driver, int result, const char *what, Error *err);
/* Does every later call fail, too? */
bool driver_is_lost(int result);

#endif
