/* loop.c - what a running kernel reads from its context. Every function here is one or two loads
 * and is inlined. */
#include "atomic.h"
#include "rt.h"

uint64_t *rt_frame(RtContext *context) { return context->frame; }

uint8_t *rt_tree_root(RtContext *context, int32_t tree) { return context->trees[tree]->root; }

uint8_t *rt_ambient(RtContext *context) { return context->ambient; }

RtWorker *rt_host_worker(RtContext *context) { return &context->workers[0]; }

int32_t rt_stopped(RtContext *context) { return rt_load(&context->stop) != 0; }

void rt_run(RtContext *context, int32_t task) { context->run(context, task); }

/* A count per worker, which no other thread writes. */
void rt_outside(RtWorker *worker) { worker->out_of_range++; }
