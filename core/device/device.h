/* device.h - the table of functions every device fills in. cpu.c is one; cuda/ will be another. */
#ifndef RG_DEVICE_DEVICE_H
#define RG_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "rt.h"
#include "thread/pool.h"

typedef struct Device Device;

typedef enum DeviceTaskKind { DEVICE_RANGE, DEVICE_NODES } DeviceTaskKind;

typedef enum DeviceScalar { DEVICE_I8, DEVICE_I16, DEVICE_I32, DEVICE_I64, DEVICE_F32, DEVICE_F64 } DeviceScalar; /* u8 adds as i8 */

/* Elements that a task adds to in each worker's own copy (rt.h: RtTree.own): a nest of runs per node of `manager`. */
typedef struct DeviceOwn {
  int32_t tree, manager;      /* in context->trees; manager -1: the root's container */
  DeviceScalar scalar;
  uint64_t offset;            /* bytes in the node */
  int32_t depth;              /* of counts and strides, outermost first; the innermost elements lie next to each other */
  uint64_t counts[RT_MAX_LEVELS + 1], strides[RT_MAX_LEVELS + 1];
} DeviceOwn;

typedef struct DeviceTask {   /* what running a task needs to know; filled from IrTask by program */
  DeviceTaskKind kind;
  RtTaskFunction *function;
  int32_t axis_count;
  int32_t bounds;             /* RANGE: frame slot of the (begin, end) pairs */
  int32_t tree, manager;      /* NODES: number in context->trees */
  int32_t block;              /* positions per chunk the user asked for; 0: ours to choose */
  int64_t cost;               /* estimated ns per position, at least 1: small loops stay on the caller */
  int32_t twin;               /* task to run instead where its own copies pay; 0: none */
  const DeviceOwn *own;       /* of a twin */
  int32_t own_count;
  bool may_change_topology, may_deactivate; /* false: trees are not looked at after it */
} DeviceTask;

typedef struct DeviceLaunch {
  RtContext context;          /* frame, trees, tree_count, ambient, workers, worker_count set by program; `grow` too,
                               * or NULL: lists then grow in the device's heap */
  RtHostFunction *host;
  const DeviceTask *tasks;
  int32_t task_count;
  uint64_t runs, collections; /* tasks run, collections that freed something: filled by the device */
  Device *device;
} DeviceLaunch;

typedef struct DeviceTable {
  const char *name;
  /* Runs the host function; tasks through context.run. Returns with context.error and workers filled, and with every
   * tree settled and collected: what a task or the host region changed shows before the next task runs. */
  bool (*launch)(Device *device, DeviceLaunch *launch, Error *err);
  /* The runtime's own work between launches, on all workers: RtContext.parallel. */
  void (*share)(Device *device, RtContext *context, int64_t count, RtPart *part, void *data);
  void (*destroy)(Device *device);
} DeviceTable;

struct Device {
  const DeviceTable *table;
  Heap *heap;
  int32_t worker_count;
  bool shuffle_tasks, gc_each_launch;
  bool gc_is_stopped;         /* freed nodes wait for program to collect them */
  uint64_t seed;
};

/* threads 0: all cores. host: the embedding program's job system (pool.h), which then has `threads` workers; NULL: threads of
 * our own. */
Device *device_cpu_create(Heap *heap, int32_t threads, PoolHost *host, void *host_data, Error *err);

#endif
