/* job.h - one piece of work on a thread of its own, beside the caller. */
#ifndef RG_THREAD_JOB_H
#define RG_THREAD_JOB_H

#include <stdbool.h>

#include "base/heap.h"

typedef struct Job Job;

/* NULL: the system has no thread, or the host no memory. The thread blocks all signals. */
Job *job_start(Heap *heap, void (*work)(void *data), void *data);
/* Has `work` returned? Never waits. In a forked child, which has no such thread, never. */
bool job_is_done(const Job *job);
/* Waits for `work`, and frees the job. False in a forked child: what the work used is lost. */
bool job_join(Job *job);

#endif
