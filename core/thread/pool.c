/* pool.c - fork and join by one atomic word.
 *
 * A loop is announced by incrementing `round`; workers wait for it to change: they spin briefly,
 * then sleep on it (futex). Each worker has a span of the chunks and processes it in order, so that
 * the next loop finds its data in the worker's caches. A worker that has finished its own span
 * takes chunks from the ends of others' spans, which balances uneven work. The caller takes part as
 * worker 0. The others enter through the gate:
 *
 *     shut --caller: announces--> open, n workers inside --no chunk is left--> shut, n leave
 *
 * The caller waits only for workers that have entered, so a worker that the system does not
 * schedule delays no other: a late one finds the gate shut, or joins a later loop if it is open.
 *
 * Invariant: `work`, `data`, `total`, `chunk`, `span_count` change only while the gate is 0: shut,
 * with no worker inside; only then do spans grow, else they shrink. Decision D-thread-01. */
#include "thread/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "thread/futex.h"

enum {
  MAX_WORKERS = 1024,
  GATE_OPEN = 1 << 30,
  GATE_AWAITED = 1 << 29, /* the caller sleeps until no worker is inside */
  SPIN_NS = 50000,
  SPIN_STEP = 64
};
#define MAX_CHUNKS ((int64_t)UINT32_MAX)

typedef struct Worker {
  Pool *pool;
  int32_t index;
  pthread_t thread;
} Worker;

/* The remaining chunks of one worker. Alone on a cache line. */
typedef struct Span {
  _Atomic uint64_t left; /* begin | end << 32 */
  char pad[64 - sizeof(uint64_t)];
} Span;

struct Pool {
  Heap *heap;
  Worker *workers; /* [0] is the caller and has no thread */
  Span *spans;     /* one per worker */
  int32_t worker_count, span_count;
  bool started;
  _Atomic bool stopping;
  pid_t process;  /* the process that has the threads: a forked child has none */
  PoolHost *host; /* NULL: our own threads */
  void *host_data;
  _Atomic int64_t done;           /* finished chunks of a loop that the host runs */
  _Atomic bool is_with_host;      /* the host is running a loop */
  _Atomic int32_t invalid_worker; /* an invalid index that the host passed, + 1; 0: none */
  bool returned_early;            /* the host returned before all chunks were done */
  PoolWork *work;
  void *data;
  int64_t total, chunk, chunk_count;
  /* the k-th chunk is (start + k * step) mod chunk_count; step 1: in order */
  uint64_t shuffle_step, shuffle_start;
  /* a cache line between members that different workers write */
  char pad_round[64];
  _Atomic uint32_t round;
  _Atomic int32_t sleepers;
  char pad_gate[64];
  _Atomic uint32_t gate;       /* GATE_OPEN, plus the number of workers inside */
  _Atomic int32_t max_workers; /* only workers with an index below it take part */
  char pad_end[64];
  _Atomic bool has_failed;
  Error failure;
};

/* the pool whose worker this thread is; NULL for a host's thread */
static _Thread_local Pool *pool_of_thread;

static void run_chunk(Pool *pool, int32_t worker, int64_t k) {
  uint64_t position =
      (pool->shuffle_start + (uint64_t)k * pool->shuffle_step) % (uint64_t)pool->chunk_count;
  int64_t begin = (int64_t)position * pool->chunk, left = pool->total - begin;
  pool->work(pool->data, worker, begin, begin + (left < pool->chunk ? left : pool->chunk));
}

/* Takes a chunk from a span; -1 if none is left. */
static int64_t take_chunk(Span *span, bool is_own) {
  uint64_t left = atomic_load_explicit(&span->left, memory_order_relaxed), remainder;
  uint32_t begin, end;
  do {
    begin = (uint32_t)left, end = (uint32_t)(left >> 32);
    if (begin == end) return -1;
    remainder = is_own ? left + 1 : left - ((uint64_t)1 << 32);
  } while (!atomic_compare_exchange_weak_explicit(&span->left, &left, remainder,
                                                  memory_order_relaxed, memory_order_relaxed));
  return is_own ? begin : end - 1;
}

static void run_chunks(Pool *pool, int32_t worker) {
  for (int32_t k = 0; k < pool->span_count; k++) {
    Span *span = &pool->spans[(worker + k) % pool->span_count];
    for (int64_t chunk; (chunk = take_chunk(span, k == 0)) >= 0;) {
      if (atomic_load_explicit(&pool->has_failed, memory_order_relaxed)) return;
      run_chunk(pool, worker, chunk);
    }
  }
}

/* Divides the chunks evenly among the workers that may take part. */
static void divide_chunks(Pool *pool) {
  int32_t max_workers = atomic_load_explicit(&pool->max_workers, memory_order_relaxed);
  pool->span_count = max_workers < pool->worker_count ? max_workers : pool->worker_count;
  for (int32_t k = 0; k < pool->span_count; k++) {
    uint64_t begin = (uint64_t)(pool->chunk_count * k / pool->span_count),
             end = (uint64_t)(pool->chunk_count * (k + 1) / pool->span_count);
    atomic_store_explicit(&pool->spans[k].left, begin | end << 32, memory_order_relaxed);
  }
}

/* -- failed assertions ------------------------------------------------------------------------- */

/* Keeps the first failure of a loop; no further chunk begins. */
static void keep_failure(Pool *pool, const Guard *guard) {
  if (atomic_exchange(&pool->has_failed, true)) return;
  pool->failure = guard->failure;
}

static void run_guarded(Pool *pool, int32_t worker) {
  Guard guard;
  guard_open(&guard);
  if (setjmp(guard.leave)) {
    keep_failure(pool, &guard);
    return;
  }
  run_chunks(pool, worker);
  guard_close(&guard);
}

/* Passes a failure on to the caller's guard, once no worker is inside the loop. */
static void pass_on_failure(Pool *pool) {
  if (!atomic_load(&pool->has_failed)) return;
  atomic_store(&pool->has_failed, false);
  guard_leave(&pool->failure);
}

/* -- a host's job system ----------------------------------------------------------------------- */

static void run_job(void *data, int32_t worker, int64_t number) {
  Pool *pool = data;
  if (worker < 0 || worker >= pool->worker_count || number < 0 || number >= pool->chunk_count) {
    atomic_store(&pool->invalid_worker, worker < 0 ? 1 : worker + 1);
    return;
  }
  Guard guard;
  guard_open(&guard);
  if (setjmp(guard.leave)) {
    keep_failure(pool, &guard);
  } else {
    if (!atomic_load(&pool->has_failed)) run_chunk(pool, worker, number);
    guard_close(&guard);
  }
  atomic_fetch_add(&pool->done, 1);
}

static void run_hosted(Pool *pool) {
  atomic_store(&pool->done, 0);
  atomic_store(&pool->is_with_host, true);
  pool->host(pool->host_data, pool->chunk_count, run_job, pool);
  atomic_store(&pool->is_with_host, false);
  if (atomic_load(&pool->done) != pool->chunk_count) pool->returned_early = true;
}

bool pool_check_host(Pool *pool, Error *err) {
  if (!pool->host) return true;
  int32_t invalid = atomic_exchange(&pool->invalid_worker, 0);
  bool returned_early = pool->returned_early;
  pool->returned_early = false;
  if (invalid)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "the host's run_tasks passed a worker or number out of range: worker %d of %d",
                     invalid - 1, pool->worker_count);
  return !returned_early ||
         error_set(err, RG_ERROR_ARGUMENT,
                   "the host's run_tasks returned before all tasks had run, once each");
}

/* -- our own threads --------------------------------------------------------------------------- */

/* Waits for the next round number: spins, then sleeps. */
static uint32_t await_round(Pool *pool, uint32_t seen) {
  int64_t deadline = clock_ns() + SPIN_NS;
  do {
    for (int i = 0; i < SPIN_STEP; i++) {
      uint32_t round = atomic_load_explicit(&pool->round, memory_order_acquire);
      if (round != seen) return round;
      pause_briefly();
    }
    sched_yield();
  } while (clock_ns() < deadline);
  atomic_fetch_add(&pool->sleepers, 1);
  uint32_t round;
  while ((round = atomic_load(&pool->round)) == seen) futex_wait(&pool->round, seen);
  atomic_fetch_sub(&pool->sleepers, 1);
  return round;
}

/* Enters the loop; false if the gate is shut. */
static bool enter_gate(Pool *pool) {
  uint32_t gate = atomic_load_explicit(&pool->gate, memory_order_relaxed);
  while (gate & GATE_OPEN)
    if (atomic_compare_exchange_weak_explicit(&pool->gate, &gate, gate + 1, memory_order_acquire,
                                              memory_order_relaxed))
      return true;
  return false;
}

static void leave_gate(Pool *pool) {
  uint32_t gate = atomic_fetch_sub_explicit(&pool->gate, 1, memory_order_release);
  if (gate == GATE_AWAITED + 1) futex_wake_all(&pool->gate);
}

/* Shuts the gate, and returns once no worker is inside. After a while the caller sleeps, so that a
 * worker that the system does not schedule finds this thread's core free. */
static void close_gate(Pool *pool) {
  atomic_fetch_and_explicit(&pool->gate, ~(uint32_t)GATE_OPEN, memory_order_acquire);
  int64_t deadline = 0;
  while (atomic_load_explicit(&pool->gate, memory_order_acquire)) {
    for (int i = 0; i < SPIN_STEP; i++) pause_briefly();
    int64_t now = clock_ns();
    if (!deadline) deadline = now + SPIN_NS;
    if (now >= deadline) break;
  }
  uint32_t gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
  if (gate) gate = atomic_fetch_or(&pool->gate, GATE_AWAITED) | GATE_AWAITED;
  while (gate > GATE_AWAITED) {
    futex_wait(&pool->gate, gate);
    gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
  }
}

static void *worker_main(void *argument) {
  Worker *worker = argument;
  Pool *pool = worker->pool;
  uint32_t seen = 0;
  pool_of_thread = pool;
  for (;;) {
    seen = await_round(pool, seen);
    if (pool->stopping) return NULL;
    if (worker->index >= atomic_load_explicit(&pool->max_workers, memory_order_relaxed)) continue;
    if (!enter_gate(pool)) continue;
    /* span_count is read again, as this may be a later loop */
    if (worker->index < pool->span_count) run_guarded(pool, worker->index);
    leave_gate(pool);
  }
}

static void announce(Pool *pool) {
  atomic_fetch_add(&pool->round, 1);
  if (atomic_load(&pool->sleepers)) futex_wake_all(&pool->round);
}

/* Starts the threads. They block all signals, which belong to the host. Fewer threads than
 * requested are fine. */
static void start_threads(Pool *pool) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int32_t count = 1;
  while (count < pool->worker_count) {
    Worker *worker = &pool->workers[count];
    *worker = (Worker){.pool = pool, .index = count};
    if (pthread_create(&worker->thread, NULL, worker_main, worker)) break;
    count++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pool->worker_count = count;
  pool->process = getpid();
  pool->started = true;
}

/* Starts the threads at the first loop; a forked child has no workers to wake. */
static void start_if_needed(Pool *pool) {
  if (pool->started && pool->process == getpid()) return;
  atomic_store(&pool->sleepers, 0);
  start_threads(pool);
}

static int32_t available_cores(void) {
  cpu_set_t set;
  if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (int32_t)count : 1;
}

Pool *pool_create(Heap *heap, int32_t thread_count, Error *err) {
  if (thread_count <= 0) thread_count = available_cores();
  if (thread_count > MAX_WORKERS) thread_count = MAX_WORKERS;
  Pool *pool = heap_alloc(heap, sizeof *pool);
  Worker *workers = heap_alloc(heap, sizeof *workers * (size_t)thread_count);
  Span *spans = heap_alloc(heap, sizeof *spans * (size_t)thread_count);
  if (!pool || !workers || !spans) {
    heap_free(heap, pool);
    heap_free(heap, workers);
    heap_free(heap, spans);
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for %d threads", thread_count);
    return NULL;
  }
  pool->heap = heap;
  pool->workers = workers;
  pool->spans = spans;
  pool->worker_count = thread_count;
  pool_limit(pool, 0);
  return pool;
}

Pool *pool_create_hosted(Heap *heap, int32_t worker_count, PoolHost *host, void *data, Error *err) {
  Pool *pool = pool_create(heap, worker_count, err);
  if (!pool) return NULL;
  pool->host = host;
  pool->host_data = data;
  return pool;
}

void pool_destroy(Pool *pool) {
  if (!pool) return;
  if (pool->started && pool->process == getpid()) {
    pool->stopping = true;
    announce(pool);
    for (int32_t i = 1; i < pool->worker_count; i++) pthread_join(pool->workers[i].thread, NULL);
  }
  heap_free(pool->heap, pool->workers);
  heap_free(pool->heap, pool->spans);
  heap_free(pool->heap, pool);
}

bool pool_is_within(Pool *pool) {
  return pool_of_thread == pool || atomic_load(&pool->is_with_host);
}

int32_t pool_worker_count(const Pool *pool) { return pool->worker_count; }

void pool_limit(Pool *pool, int32_t workers) {
  atomic_store_explicit(&pool->max_workers, workers > 0 ? workers : MAX_WORKERS,
                        memory_order_relaxed);
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t remainder = a % b;
    a = b;
    b = remainder;
  }
  return a;
}

/* A step coprime to the count visits every chunk once. */
static void choose_order(Pool *pool, uint64_t seed) {
  uint64_t count = (uint64_t)pool->chunk_count;
  pool->shuffle_step = 1;
  pool->shuffle_start = 0;
  if (!seed || count < 3) return;
  uint64_t mixed = seed * 0x9E3779B97F4A7C15ull;
  pool->shuffle_start = (mixed >> 33) % count;
  uint64_t step = (mixed >> 11) % (count - 1) + 1;
  while (greatest_common_divisor(step, count) != 1) step++;
  pool->shuffle_step = step;
}

void pool_parallel_for(Pool *pool, int64_t total, int64_t chunk, uint64_t shuffle_seed,
                       PoolWork *work, void *data) {
  if (total <= 0) return;
  if (chunk < 1) chunk = 1;
  if (chunk > total) chunk = total;
  if (chunk < total / MAX_CHUNKS + 1) chunk = total / MAX_CHUNKS + 1;
  pool->work = work;
  pool->data = data;
  pool->total = total;
  pool->chunk = chunk;
  pool->chunk_count = total / chunk + (total % chunk != 0);
  choose_order(pool, shuffle_seed);
  if (pool->chunk_count == 1 || pool->worker_count == 1) {
    pool_limit(pool, 0);
    for (int64_t k = 0; k < pool->chunk_count; k++) run_chunk(pool, 0, k);
    return;
  }
  if (pool->host) {
    run_hosted(pool);
    pass_on_failure(pool);
    return;
  }
  start_if_needed(pool);
  divide_chunks(pool);
  atomic_store_explicit(&pool->gate, GATE_OPEN, memory_order_release);
  announce(pool);
  run_guarded(pool, 0);
  close_gate(pool);
  pool_limit(pool, 0);
  pass_on_failure(pool);
}
