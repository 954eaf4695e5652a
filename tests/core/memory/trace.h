/* trace.h - the requests of programs to a memory manager, in order: blocks allocated and freed, and
 * ends of kernels. They are the same each time, and come from no program of ours:
 *   static       training of a small convolutional network (three blocks, 28 x 28, batch 64): the
 *                same sizes in each of 40 steps
 *   dynamic      training of a transformer on texts (4 layers, width 256, batch 32) whose padded
 *                length differs from step to step, 60 of them
 *   growth       a sparse grid that grows and falls in: chunks of 4 to 64 KiB
 *   halo         a stencil in three dimensions with two buffers, and faces sent and received */
#ifndef RG_TESTS_TRACE_H
#define RG_TESTS_TRACE_H

#include <stdint.h>

typedef enum TraceKind { TRACE_TAKE, TRACE_GIVE, TRACE_KERNEL } TraceKind;

typedef struct TraceEvent {
  TraceKind kind;
  int32_t id;     /* of the block, from 0 */
  uint64_t bytes; /* TAKE */
} TraceEvent;

typedef struct Trace {
  TraceEvent *events;
  int64_t count, capacity;
  int32_t blocks; /* that are taken in all */
  int64_t warm;   /* events of the first two steps */
  uint64_t live, peak_live;
} Trace;

Trace trace_static(void);
Trace trace_dynamic(void);
Trace trace_growth(void);
Trace trace_halo(void);
void trace_free(Trace *trace);

#endif
