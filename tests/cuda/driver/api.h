/* api.h - the state that the entry points of the driver share, and its lock. Every
 * entry point takes the lock, so hosts may call from any thread. */
#ifndef PTX_API_H
#define PTX_API_H

#include <stdio.h>

#include "exec.h"
#include "memory.h"
#include "option.h"
#include "result.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct Context {
  uint32_t retained; /* of the primary one */
  bool is_primary, is_live;
  int result; /* a sticky error */
} Context;

typedef enum WorkKind {
  WORK_LAUNCH,
  WORK_TO_DEVICE,
  WORK_TO_HOST,
  WORK_ON_DEVICE,
  WORK_SET,
  WORK_WAIT,
  WORK_HOST
} WorkKind;
typedef struct Stream Stream;
typedef struct Work {
  WorkKind kind;
  uint64_t to, from, size; /* addresses of the host, too */
  uint32_t value, unit;    /* of a memset */
  Grid grid;
  char *bytes;    /* parameters, or a copy of the host's bytes; owned by the work */
  Stream *stream; /* to wait for, up to `size` */
  void (*call)(void *);
} Work;

struct Stream {
  struct {
    Work *at;
    uint32_t count, room;
  } queue;
  uint32_t done;   /* items of the queue */
  uint64_t passed; /* items that have left the queue */
  bool is_open, is_blocking;
  struct Graph *capture;
};

typedef struct Graph {
  struct {
    Work *at;
    uint32_t count, room;
  } works;
  bool is_broken;
} Graph;

/* api_device.c */
void api_lock(void);
void api_unlock(int *unused);
#define ENTER(...) \
  api_lock(); \
  int unlock_ __attribute__((cleanup(api_unlock), unused)) = 0; \
  if (options.trace) fprintf(stderr, "device: " __VA_ARGS__), fputc('\n', stderr)
bool api_is_open(void);

/* api_context.c: may the call do its work? 0, or the result to return. */
int api_ready(void);
Context *api_context(void);
int api_lose(int result); /* makes it the sticky error of the current context */
#define READY() \
  do { \
    int ready_ = api_ready(); \
    if (ready_) return ready_; \
  } while (0)

/* api_stream.c */
int stream_add(void *handle, Work work); /* takes work.bytes */
int stream_drain(Stream *stream);
int stream_wait(Stream *stream, uint64_t end); /* until `end` items since its creation are done */
uint64_t stream_length(const Stream *stream);
void stream_end_capture(const struct Graph *graph);
int stream_drain_all(void);
void stream_end_all(void);       /* drops queued work, and destroys all streams */
bool stream_is_capturing(void);  /* any of them */
Stream *stream_of(void *handle); /* 0 to 2: the default one */
bool stream_is_known(void *handle);
void work_free(Work *work);
Work work_copy(const Work *work);
int work_run(Work *work); /* work.c */

/* api_event.c */
void event_time_passes(uint64_t instructions);

/* api_memory.c */
bool api_is_pinned(const void *host, uint64_t size);
void api_forget_shown(void); /* unregisters host memory, as the context ends */
bool api_memory_fails(void); /* must this allocation fail? */

/* api_module.c */
Module *api_load(const void *image, unsigned count, const int *names, void **values, int *result);
void api_report(void); /* statistics of each kernel, at exit */

#endif
