/* pool.h - a persistent team of worker threads. The caller is worker 0.
 * Idle workers spin briefly, then sleep on a futex, and use no CPU. One caller at a time. A host's
 * job system may replace the workers: then the pool has no threads, and the host calls back. */
#ifndef RG_THREAD_POOL_H
#define RG_THREAD_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"

typedef struct Pool Pool;
/* Works on positions begin..end as worker `worker` (0 .. worker_count - 1, unique among concurrent
 * calls). */
typedef void PoolWork(void *data, int32_t worker, int64_t begin, int64_t end);

/* thread_count 0: one per available core. Threads start at the first parallel_for. NULL with
 * err. */
Pool *pool_create(Heap *heap, int32_t thread_count, Error *err);
/* A host's job system: calls `job(job_data, worker, number)` for every number below `count`, on any
 * threads, each time with a worker index below the pool's count that no concurrent call has, and
 * returns when all are done. */
typedef void PoolJob(void *job_data, int32_t worker, int64_t number);
typedef void PoolHost(void *data, int64_t count, PoolJob *job, void *job_data);
Pool *pool_create_hosted(Heap *heap, int32_t worker_count, PoolHost *host, void *data, Error *err);
/* False with argument.invalid when the host's job system broke these rules since the last check. */
bool pool_check_host(Pool *pool, Error *err);
/* Is this thread one of the pool's, or is a host's job system running a loop, so that any thread
 * may be a worker? Any thread may call it. */
bool pool_is_within(Pool *pool);
void pool_destroy(Pool *pool); /* joins */
int32_t pool_worker_count(const Pool *pool);
/* At most this many workers take part in the next loop; 0: all. A host's job system ignores it. */
void pool_limit(Pool *pool, int32_t workers);
/* Splits 0..total into chunks of `chunk` positions. Each worker has an even span of them, and then
 * takes chunks from others. Returns when all are done. shuffle_seed != 0: chunks in shuffled order
 * (RG_STRESS=shuffle_tasks). Runs on the caller alone if there is one chunk or one worker. A failed
 * assertion in `work` ends the loop: running chunks finish, then the failure leaves through the
 * caller's guard. */
void pool_parallel_for(Pool *pool, int64_t total, int64_t chunk, uint64_t shuffle_seed,
                       PoolWork *work, void *data);

#endif
