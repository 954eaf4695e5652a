/* queue.h - what is to be run, and who runs it.
 *
 * Work comes as records, each on a stream; on a stream they run one after the other, and each has a
 * number there, its cursor, from 1 on:
 *
 *     claimed --queue_submit--> waiting --runs, or is skipped--> completed --queue_release--> free
 *
 * One consumer at a time runs records, whoever holds the role: the server's own thread, which
 * begins with the first record, spins briefly when there is nothing to do and then sleeps; or a
 * thread that waits for a record, which then need not wait for the other to wake up. Between
 * streams the order is free, but for cursors that a record waits for.
 * What fails breaks its stream: records of the same epoch or an earlier one are skipped. Who has
 * told of the failure begins a new epoch.
 * One thread at a time submits, waits and releases; another may be the consumer. */
#ifndef RG_SERVER_QUEUE_H
#define RG_SERVER_QUEUE_H

#include <sys/types.h>

#include "device/device.h"
#include "memory/manager.h"
#include "thread/job.h"

enum {
  QUEUE_RECORDS = 64,         /* by stream, that are not free */
  QUEUE_WORDS = 48            /* of a launch that can be queued: slots of its frame, and trees */
};

typedef enum RecordKind { RECORD_LAUNCH, RECORD_COPY } RecordKind;

typedef struct Record {
  RecordKind kind;
  bool is_reported;           /* nobody asks for its outcome, any more or at all */
  uint64_t epoch;
  uint64_t wait[MEMORY_STREAMS]; /* cursors that must be completed before it runs; 0: none */
  /* COPY */
  void *to;
  const void *from;
  uint64_t size_bytes;
  /* LAUNCH: with its frame, trees and messages here */
  DeviceLaunch launch;
  uint64_t frame[QUEUE_WORDS];
  RtTree *trees[QUEUE_WORDS];
  uint64_t *said;
  /* -- its outcome, once it is completed */
  bool has_failed, is_skipped;
  Error err;                  /* of the device itself */
} Record;

typedef struct Stream {
  Record *records;            /* NULL: it was never used */
  _Atomic uint64_t submitted, completed; /* cursors */
  _Atomic uint64_t broken;    /* records of this epoch and earlier are skipped */
  _Atomic uint64_t stopped;   /* records up to this cursor fail: launch.stopped */
  uint64_t released;          /* records up to this cursor are free */
  uint64_t epoch;             /* of what is submitted next */
} Stream;

typedef struct Queue {
  Device *device;
  const DeviceTable *inner;   /* what runs launches */
  Stream streams[MEMORY_STREAMS];
  int32_t next_stream;        /* the consumer's: which it looks at first */
  _Atomic bool is_taken;      /* the consumer's role */
  _Atomic(RtContext *) running;
  _Atomic uint32_t work;      /* changes with every record: the thread sleeps on it */
  _Atomic uint32_t done;      /* changes while somebody waits: who sleeps on it */
  _Atomic int32_t waiters;
  _Atomic bool sleeps, ends;
  Job *thread;
  pid_t process;              /* that has the thread */
} Queue;

void queue_init(Queue *queue, Device *device, const DeviceTable *inner);
/* Runs what is there, then ends the thread. */
void queue_deinit(Queue *queue);
/* A free record, all zero but its epoch; NULL: the stream has none left until some are reported, or
 * the host no memory. */
Record *queue_claim(Queue *queue, int32_t stream);
/* The one that was claimed last; its cursor. */
uint64_t queue_submit(Queue *queue, int32_t stream);
Record *queue_record(Queue *queue, int32_t stream, uint64_t cursor); /* that is not free */
static inline bool queue_is_done(Queue *queue, int32_t stream, uint64_t cursor) {
  return atomic_load_explicit(&queue->streams[stream].completed, memory_order_acquire) >= cursor;
}
/* Until it is completed; runs records meanwhile, if nobody else does. */
void queue_wait(Queue *queue, int32_t stream, uint64_t cursor);
void queue_wait_all(Queue *queue);
bool queue_is_idle(Queue *queue); /* all is completed */
/* Records at the stream's beginning that are completed, and that nobody asks for, become free. */
void queue_release(Queue *queue, int32_t stream);
/* Any thread: what is submitted fails. False: there was nothing. */
bool queue_stop(Queue *queue);
/* Is this thread running a record of this queue? */
bool queue_is_mine(const Queue *queue);

#endif
