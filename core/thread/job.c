/* job.c - see job.h. */
#include "thread/job.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_STEP = 5 }; /* a third of the weight of a usual thread */

struct Job {
  Heap *heap;
  void (*work)(void *data);
  void *data;
  pthread_t thread;
  pid_t process;
  _Atomic bool is_done;
};

static void *job_main(void *argument) {
  Job *job = argument;
  job->work(job->data);
  atomic_store_explicit(&job->is_done, true, memory_order_release);
  return NULL;
}

Job *job_start(Heap *heap, void (*work)(void *data), void *data) {
  Job *job = heap_alloc(heap, sizeof *job);
  sigset_t all, old;
  if (!job) return NULL;
  *job = (Job){.heap = heap, .work = work, .data = data, .process = getpid()};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool has_begun = !pthread_create(&job->thread, NULL, job_main, job);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (has_begun) return job;
  heap_free(heap, job);
  return NULL;
}

void job_defer_to_others(void) {
  id_t thread = (id_t)syscall(SYS_gettid);
  (void)setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + NICE_STEP);
}

bool job_is_done(const Job *job) {
  return atomic_load_explicit(&job->is_done, memory_order_acquire);
}

bool job_join(Job *job) {
  bool is_ours = job->process == getpid();
  if (is_ours) pthread_join(job->thread, NULL);
  heap_free(job->heap, job);
  return is_ours;
}
