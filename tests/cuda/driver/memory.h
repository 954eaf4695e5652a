/* memory.h - the memory of the device. Its addresses are a range of the process that cannot be read
 * or written, so a host that dereferences a device pointer crashes, as on a machine with a GPU;
 * the bytes are those of a memfd, mapped at a fixed distance.
 *
 * A live range is an allocation, or a mapped part of a reservation. Each byte has a shadow bit:
 * was it ever written? A block of 64 KiB has a state, and its bits are used only in the last one,
 * so that large memory that is only cleared costs next to nothing:
 *
 *     FRESH (nothing written, all zero) --clear--> CLEARED (all written, all zero)
 *       |                                            |
 *       +------------------ settle --------> SETTLED: the bits are used */
#ifndef PTX_MEMORY_H
#define PTX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_BASE 0x200000000000ull
#define DEVICE_SIZE 0x100000000000ull /* of address space: 16 TiB */
#define PLAIN_SIZE 0x10000000000ull   /* of it for plain allocations; the rest is reserved */
#define DEVICE_PAGE 0x200000ull       /* the granularity of physical memory: 2 MiB */

typedef struct Range {
  uint64_t base, size;
} Range;

enum { MEMORY_BLOCK = 1 << 16 };
typedef enum BlockState { BLOCK_FRESH, BLOCK_CLEARED, BLOCK_SETTLED } BlockState;

typedef struct Memory {
  char *host;          /* the byte at DEVICE_BASE */
  uint16_t *shadow;    /* a bit per byte */
  uint8_t *states;     /* BlockState */
  uint64_t used_bytes; /* of physical memory */
  uint64_t total_bytes;
  int device; /* of the one context: all memory is on its device */
  int file;
} Memory;
extern Memory memory;

bool memory_open(void);

/* Plain allocations. 0 if there is not enough memory. */
uint64_t memory_allocate(uint64_t size);
bool memory_free(uint64_t address); /* false: no such allocation */
void memory_free_all(void);         /* and mappings and reservations */

/* Virtual memory management: handles and ranges of the driver's cuMem* functions. Each returns a
 * CUresult. */
int memory_reserve(uint64_t *address, uint64_t size, uint64_t align);
int memory_unreserve(uint64_t address, uint64_t size);
int memory_create(uint64_t *handle, uint64_t size, bool is_shareable);
/* A file that other processes import; the file stays the caller's. */
int memory_export(int *file, uint64_t handle);
int memory_import(uint64_t *handle, int file);
int memory_release(uint64_t handle);
int memory_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle);
int memory_allow(uint64_t address, uint64_t size, bool write, bool read);
int memory_unmap(uint64_t address, uint64_t size);

/* The live range that holds the byte at `address`; size 0 if there is none. */
Range memory_range(uint64_t address);
/* Are all of these bytes live? */
bool memory_is_live(uint64_t address, uint64_t size);

/* The range of host memory with the byte at `address` that kernels access at the host's addresses;
 * size 0 if there is none. Its writes are not tracked: all of it counts as written. */
Range memory_shown(uint64_t address);

static inline char *memory_host(uint64_t address) { return memory.host + (address - DEVICE_BASE); }
/* From now on, until the memory is freed, the shadow bits of these bytes are used. */
void memory_settle(uint64_t address, uint64_t size);
void memory_clear(uint64_t address, uint64_t size);     /* zeros, written */
void memory_set_fresh(uint64_t address, uint64_t size); /* whole blocks, new from the system */
void memory_set_written(uint64_t address, uint64_t size, bool written);
bool memory_is_written(uint64_t address, uint64_t size);
void memory_copy_written(uint64_t to, uint64_t from, uint64_t size);

#endif
