/* job.h - runs one piece of work on a separate thread. */
#ifndef RG_THREAD_JOB_H
#define RG_THREAD_JOB_H

#include <stdbool.h>

#include "base/heap.h"

typedef struct Job Job;

/* NULL if the system has no thread, or the host no memory. The thread blocks all signals. */
Job *job_start(Heap *heap, void (*work)(void *data), void *data);
/* Gives the calling thread about a quarter of a processor where others are busy, and all of it
 * where one is idle. Cannot be undone. */
void job_defer_to_others(void);
/* Has `work` returned? Never waits. Always false in a forked child, which does not have the
 * thread. */
bool job_is_done(const Job *job);
/* Waits for `work`, and frees the job. False in a forked child: the memory used by `work` is
 * lost. */
bool job_join(Job *job);

#endif
