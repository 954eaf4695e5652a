/* queue.h - the queue of work, and its consumer.
 *
 * Work is represented by records, each on a stream; the records of a stream run one after the
 * other, and are numbered there from 1: the number is called a cursor.
 *
 *     claimed --queue_submit--> waiting --runs, or is skipped--> completed --queue_release--> free
 *
 * One consumer at a time runs records. It is either the server's own thread, which starts with the
 * first record, and spins briefly before it sleeps; or a thread that waits for a record, so that it
 * need not wait until the server's thread wakes up. Records of different streams run in any order,
 * except for cursors that a record waits for.
 * A failure breaks its stream: records of the same epoch or an earlier one are skipped. When the
 * failure has been reported, a new epoch begins.
 * One thread at a time submits, waits and releases; another one may be the consumer. */
#ifndef RG_SERVER_QUEUE_H
#define RG_SERVER_QUEUE_H

#include <sys/types.h>

#include "device/device.h"
#include "memory/manager.h"
#include "thread/job.h"

enum {
  QUEUE_RECORDS = 64, /* queue capacity per stream */
  QUEUE_WORDS = 48    /* limits for a queued launch: frame slots, and trees */
};

typedef enum RecordKind { RECORD_LAUNCH, RECORD_COPY } RecordKind;

typedef struct Record {
  RecordKind kind;
  bool is_reported; /* its outcome has been reported, or is not needed */
  uint64_t epoch;
  uint64_t wait[MEMORY_STREAMS]; /* per stream: a cursor that must be completed first; 0: none */
  /* COPY */
  void *to;
  const void *from;
  uint64_t size_bytes;
  /* LAUNCH: frame, trees and messages are copied here */
  DeviceLaunch launch;
  uint64_t frame[QUEUE_WORDS];
  RtTree *trees[QUEUE_WORDS];
  uint64_t *messages;
  /* -- its outcome, once completed */
  bool has_failed, is_skipped;
  Error err; /* an error of the device itself */
} Record;

typedef struct Stream {
  Record *records;                       /* NULL: never used */
  _Atomic uint64_t submitted, completed; /* cursors */
  _Atomic uint64_t broken;               /* records of this epoch and earlier are skipped */
  _Atomic uint64_t stopped;              /* records up to this cursor fail with launch.stopped */
  uint64_t released;                     /* records up to this cursor are free */
  uint64_t epoch;                        /* the epoch of the next record */
} Stream;

typedef struct Queue {
  Device *device;
  const DeviceTable *inner; /* the functions that run launches */
  Stream streams[MEMORY_STREAMS];
  int32_t next_stream;   /* the stream that the consumer considers first */
  _Atomic bool is_taken; /* a thread is the consumer */
  _Atomic(RtContext *) running;
  _Atomic uint32_t work; /* changes with every record; the idle thread sleeps on it */
  _Atomic uint32_t done; /* changes while threads wait; they sleep on it */
  _Atomic int32_t waiters;
  _Atomic bool sleeps, ends;
  Job *thread;
  pid_t process; /* the process that has the thread */
} Queue;

void queue_init(Queue *queue, Device *device, const DeviceTable *inner);
/* Runs all records, then ends the thread. */
void queue_deinit(Queue *queue);
/* Claims a free record, cleared except for its epoch. NULL if the stream has none left until some
 * are reported, or the host has no memory. */
Record *queue_claim(Queue *queue, int32_t stream);
/* Submits the record claimed last; returns its cursor. */
uint64_t queue_submit(Queue *queue, int32_t stream);
Record *queue_record(Queue *queue, int32_t stream, uint64_t cursor); /* a record that is not free */
static inline bool queue_is_done(Queue *queue, int32_t stream, uint64_t cursor) {
  return atomic_load_explicit(&queue->streams[stream].completed, memory_order_acquire) >= cursor;
}
/* Waits until the record is completed; runs records meanwhile if no other thread does. */
void queue_wait(Queue *queue, int32_t stream, uint64_t cursor);
void queue_wait_all(Queue *queue);
bool queue_is_idle(Queue *queue); /* have all records completed? */
/* Frees the stream's oldest records, as far as they are completed and reported. */
void queue_release(Queue *queue, int32_t stream);
/* Makes all submitted records fail; false if there were none. Any thread may call it. */
bool queue_stop(Queue *queue);
/* Is this thread running a record of this queue? */
bool queue_is_running(const Queue *queue);

#endif
