/* device.h - the table of functions every device fills in. cpu.c is one; a CUDA device will be another.
 * Who stands on it (trees, kernels) says what is wanted. Where memory lies, how positions are split, who the workers are
 * and what the runtime's callbacks do is the device's matter, and so are private copies: on the CPU, host memory is simply
 * what it uses. One thread at a time; `stop` alone may come from any. */
#ifndef RG_DEVICE_DEVICE_H
#define RG_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "jit/codegen_border.h"
#include "rt.h"
#include "thread/pool.h"

typedef struct Device Device;

/* -- memory ------------------------------------------------------------------------------------------------------- */

typedef struct DeviceMemory { /* an address range, as the device addresses it; all zero: none */
  uint8_t *base;              /* 64 KiB aligned */
  uint64_t reserved;
} DeviceMemory;

/* -- code --------------------------------------------------------------------------------------------------------- */

typedef struct DeviceCode {   /* a compiled kernel, loaded */
  RtHostFunction *host;       /* its host region, which runs on the host whatever the device is */
  void *const *tasks;         /* by number; what they are is the device's matter: the CPU's are RtTaskFunction */
} DeviceCode;

/* -- launches ------------------------------------------------------------------------------------------------------ */

typedef enum DeviceTaskKind { DEVICE_RANGE, DEVICE_NODES } DeviceTaskKind;

typedef enum DeviceScalar { DEVICE_I8, DEVICE_I16, DEVICE_I32, DEVICE_I64, DEVICE_F32, DEVICE_F64 } DeviceScalar; /* u8 adds as i8 */

/* Elements that a task adds to in each worker's private copy: a nest of runs per node of `manager`. */
typedef struct DeviceSum {
  int32_t tree, manager;      /* in launch->trees; manager -1: the root's container */
  DeviceScalar scalar;
  uint64_t offset;            /* bytes in the node */
  int32_t depth;              /* of counts and strides, outermost first; the innermost elements lie next to each other */
  uint64_t counts[RT_MAX_LEVELS + 1], strides[RT_MAX_LEVELS + 1];
} DeviceSum;

typedef struct DeviceTask {   /* what running a task needs to know; filled from IrTask by kernel */
  DeviceTaskKind kind;
  int32_t axis_count;
  int32_t bounds;             /* RANGE: frame slot of the (begin, end) pairs */
  int32_t tree, manager;      /* NODES: number in launch->trees */
  int32_t block;              /* positions per chunk the user asked for; 0: ours to choose */
  int64_t cost;               /* estimated ns per position, at least 1: small loops stay on the caller */
  int32_t privatised;         /* number of its privatised version, to run instead where that pays; 0: none */
  const DeviceSum *sums;      /* of a privatised version */
  int32_t sum_count;
  bool may_change_topology, may_deactivate; /* false: trees are not looked at after it */
} DeviceTask;

typedef struct DeviceLaunch {
  /* -- given by the caller */
  const DeviceCode *code;
  const DeviceTask *tasks;
  int32_t task_count;
  uint64_t *frame;            /* arguments in, results out */
  int32_t frame_slots;
  RtTree **trees;             /* as the host sees them */
  int32_t tree_count;
  uint8_t *ambient;           /* read-only zeros, as large as the largest node */
  bool has_sums;              /* some task is privatised */
  bool gc_is_stopped;         /* freed nodes wait for the caller to collect them */
  /* -- filled by the device */
  RtContext context;          /* its `error` is the launch's. Any thread may set context.stop to 1 */
  uint64_t runs, collections; /* tasks run, collections that freed something */
  uint64_t out_of_range;      /* writes outside a shape, which do nothing */
} DeviceLaunch;

/* -- the table ------------------------------------------------------------------------------------------------------ */

typedef struct DeviceTable {
  const char *name;
  /* Up to `size_bytes`, at least `least_bytes` where the system has no more: writable, zero until written, and taking
   * memory as it is touched. */
  bool (*allocate)(Device *device, DeviceMemory *memory, uint64_t size_bytes, uint64_t least_bytes, Error *err);
  /* Read-only zeros. */
  bool (*allocate_zeros)(Device *device, DeviceMemory *memory, uint64_t size_bytes, Error *err);
  void (*free)(Device *device, DeviceMemory *memory); /* none is fine; leaves none */
  /* Whole pages of from..from + size_bytes, inside some memory, read zero again and take none. */
  void (*discard)(Device *device, uint8_t *from, uint64_t size_bytes);
  /* Where the host reads and writes the memory between launches, until it is freed. */
  uint8_t *(*map)(Device *device, const DeviceMemory *memory);
  /* From mapped memory to the host's. */
  void (*copy)(Device *device, void *to, const uint8_t *from, uint64_t size_bytes);
  /* Code from a kernel's objects, one for each of device->processors, with `task_count` tasks; NULL with err. */
  DeviceCode *(*load)(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT], int32_t task_count, Error *err);
  void (*unload)(Device *device, DeviceCode *code); /* NULL is fine */
  /* Runs the host region, which runs tasks. Returns when all is done, with every tree settled and collected: what a task or
   * the host region changed shows before the next task runs. */
  bool (*launch)(Device *device, DeviceLaunch *launch, Error *err);
  /* Returns when nothing that was launched runs any more. */
  bool (*sync)(Device *device, Error *err);
  /* Gives back what the device keeps beside a tree (RtTree.device): before the tree's memory is freed, and when memory is
   * asked back; a launch makes it again. */
  void (*forget)(Device *device, RtTree *tree);
  void (*destroy)(Device *device);
} DeviceTable;

struct Device {
  const DeviceTable *table;
  Heap *heap;
  int32_t worker_count;
  const char *processors[RG_TARGET_COUNT]; /* what its code is made for, as in RgCodegenRequest */
  int32_t vector_bytes;       /* the widest vectors of what runs its tasks */
  RtContext native;           /* what native calls into the runtime bring, but for the trees: workers and callbacks */
  bool shuffle_tasks, gc_each_launch;
  uint64_t seed;
};

typedef struct DeviceOptions {
  int32_t threads;            /* 0: all cores */
  PoolHost *host;             /* the embedding program's job system (pool.h), which then has `threads` workers; NULL: our own */
  void *host_data;
  const char *processor;      /* of the host; borrowed: an option's text */
  uint64_t seed;              /* of the workers' random numbers, and of shuffled tasks */
  bool shuffle_tasks, gc_each_launch; /* RG_STRESS */
} DeviceOptions;

Device *device_cpu_create(Heap *heap, const DeviceOptions *options, Error *err);

#endif
