/* launch.c - table functions for a device whose work is queued: launches return immediately, and
 * code that accesses memory waits for the launches that may have changed it.
 *
 * A tree (RtTree, also an array's) records the last work that uses it: its stream and cursor. Work
 * on another stream waits for that, so every use is treated as a write. If several trees may share
 * memory, through a wrap or a pointer that other code has, each access waits for all work. */
#include <string.h>

#include "base/clock.h"
#include "server/parts.h"

void server_await(Server *server, uint64_t ticket) {
  if (ticket) queue_wait(&server->queue, stream_of(ticket), cursor_of(ticket));
}

/* The record on this stream is the next to use the tree: adds the waits it needs. */
static void add_use(Server *server, Record *record, RtTree *tree, int32_t stream, uint64_t ticket) {
  uint64_t last = tree->last_use, cursor = cursor_of(last);
  int32_t other = stream_of(last);
  if (last && other != stream && !queue_is_done(&server->queue, other, cursor) &&
      record->wait[other] < cursor)
    record->wait[other] = cursor;
  tree->last_use = ticket;
  if (tree->idle == RT_IDLE) tree->idle = RT_IN_USE;
}

static uint64_t next_ticket(Server *server, int32_t stream) {
  return ticket_of(stream, atomic_load(&server->queue.streams[stream].submitted) + 1);
}

/* Makes the record wait for all work on other streams. */
static void wait_for_others(Server *server, Record *record, int32_t stream) {
  for (int32_t k = 0; k < MEMORY_STREAMS; k++)
    if (k != stream) record->wait[k] = atomic_load(&server->queue.streams[k].submitted);
}

/* -- launches ---------------------------------------------------------------------------------- */

bool server_has_room(Device *device, int32_t number) {
  Queue *queue = &server_of(device)->queue;
  const Stream *stream = &queue->streams[number];
  queue_release(queue, number);
  while (stream->submitted - stream->released >= QUEUE_RECORDS - 1) {
    const Record *first = queue_record(queue, number, stream->released + 1);
    if (!first->is_reported) return false;
    queue_wait(queue, number, stream->released + 1);
    queue_release(queue, number);
  }
  return true;
}

bool server_is_done(Device *device, uint64_t ticket) {
  return queue_is_done(&server_of(device)->queue, stream_of(ticket), cursor_of(ticket));
}

/* Copies the launch, its frame and its trees to the record. */
static void fill_record(Server *server, Record *record, const DeviceLaunch *launch,
                        uint64_t ticket) {
  int32_t used = launch->tree_count + launch->array_count;
  record->kind = RECORD_LAUNCH;
  record->launch = *launch;
  record->launch.context.stop = 0;
  record->launch.frame = record->frame;
  record->launch.trees = record->trees;
  memcpy(record->frame, launch->frame, sizeof *launch->frame * (size_t)launch->frame_slots);
  memcpy(record->trees, launch->trees, sizeof *launch->trees * (size_t)used);
  for (int32_t k = 0; k < used; k++)
    add_use(server, record, launch->trees[k], launch->stream, ticket);
  if (server->is_shared) wait_for_others(server, record, launch->stream);
}

/* For a launch that is too large for a record: runs it now, after all queued work. */
static bool run_at_once(Server *server, DeviceLaunch *launch, Error *err) {
  queue_wait_all(&server->queue);
  return server->inner->launch(server->device, launch, err);
}

bool server_launch(Device *device, DeviceLaunch *launch, Error *err) {
  Server *server = server_of(device);
  int32_t stream = launch->stream, used = launch->tree_count + launch->array_count;
  bool is_small = launch->frame_slots <= QUEUE_WORDS && used <= QUEUE_WORDS;
  Record *record = is_small ? queue_claim(&server->queue, stream) : NULL;
  if (!record) return run_at_once(server, launch, err);
  uint64_t ticket = next_ticket(server, stream);
  fill_record(server, record, launch, ticket);
  device->queued++;
  launch->ticket = ticket;
  launch->context.error = (RtError){0};
  queue_submit(&server->queue, stream);
  return true;
}

static void copy_outcome(DeviceLaunch *launch, const DeviceLaunch *own) {
  launch->context.error = own->context.error;
  launch->frame = own->frame;
  launch->runs = own->runs;
  launch->collections = own->collections;
  launch->ticks = own->ticks;
  launch->work = own->work;
  launch->outside = own->outside;
  launch->messages = own->messages;
  launch->message_words = own->message_words;
  launch->messages_lost = own->messages_lost;
  launch->touches_lost = own->touches_lost;
}

/* The record stays valid until the next one is submitted to its stream. */
bool server_finish(Device *device, DeviceLaunch *launch, Error *err) {
  Server *server = server_of(device);
  int32_t number = stream_of(launch->ticket);
  Stream *stream = &server->queue.streams[number];
  server_await(server, launch->ticket);
  Record *record = queue_record(&server->queue, number, cursor_of(launch->ticket));
  if (record->is_skipped) record->launch.context.error = (RtError){0};
  copy_outcome(launch, &record->launch);
  launch->is_skipped = record->is_skipped;
  record->is_reported = true;
  device->queued--;
  /* the failure has been reported; later launches may run */
  if (record->has_failed) stream->epoch++;
  if (!error_is_set(&record->err)) return true;
  if (err) error_add(err, &record->err);
  return false;
}

/* -- access by the host ------------------------------------------------------------------------ */

/* Waits for every launch and copy. Without err, failures are stored for the next access. */
static bool finish_all(Server *server, Error *err) {
  Device *device = server->device;
  bool ok = !device->report_all || device->report_all(device->report_data, err);
  queue_wait_all(&server->queue);
  return ok;
}

/* Is the tree dense, in memory that no other tree uses? */
static bool has_own_memory(const RtTree *tree) {
  return !tree->manager_count && !tree->mask_count && !tree->foreign;
}

static bool finish_tree(Server *server, const RtTree *tree, Error *err) {
  Device *device = server->device;
  uint64_t last = tree->last_use;
  if (!last) return true;
  bool ok = !device->report_stream ||
            device->report_stream(device->report_data, stream_of(last), last, err);
  server_await(server, last);
  return ok;
}

/* Operations of the runtime on a sparse tree use the workers, so no other work may run
 * meanwhile. */
bool server_reach(Device *device, RtTree *tree, const uint8_t *from, uint64_t size_bytes,
                  DeviceUse use, Error *err) {
  Server *server = server_of(device);
  (void)from, (void)size_bytes;
  if (use == DEVICE_EXPOSES) tree->idle = RT_EXPOSED;
  if (use == DEVICE_EXPOSES || tree->foreign) server->is_shared = true;
  bool ok = server->is_shared || !has_own_memory(tree) ? finish_all(server, err)
                                                       : finish_tree(server, tree, err);
  if (ok && !tree->foreign && tree->idle == RT_IN_USE) tree->idle = RT_IDLE;
  return ok;
}

bool server_adopt(Device *device, RtTree *tree, Error *err) {
  Server *server = server_of(device);
  const DeviceAccessTable *access = server->inner->access;
  server->is_shared = true;
  return !access || access->adopt(device, tree, err);
}

bool server_sync(Device *device, Error *err) {
  Server *server = server_of(device);
  return finish_all(server, err) && server->inner->sync(device, err);
}

void server_forget(Device *device, RtTree *tree) {
  Server *server = server_of(device);
  server_await(server, tree->last_use);
  if (server->is_shared) queue_wait_all(&server->queue);
  server->inner->forget(device, tree);
}

bool server_stop(Device *device) { return queue_stop(&server_of(device)->queue); }

bool server_is_within(Device *device) {
  Server *server = server_of(device);
  return queue_is_running(&server->queue) || server->inner->is_within(device);
}

/* -- copies ------------------------------------------------------------------------------------ */

uint64_t server_copy(Server *server, const ServerCopy *copy) {
  int32_t stream = copy->stream;
  if (!server_has_room(server->device, stream)) return 0;
  Record *record = queue_claim(&server->queue, stream);
  if (!record) return 0;
  uint64_t ticket = next_ticket(server, stream);
  record->kind = RECORD_COPY;
  record->is_reported = true;
  record->to = copy->to;
  record->from = copy->from;
  record->size_bytes = copy->size_bytes;
  if (copy->from_tree) add_use(server, record, copy->from_tree, stream, ticket);
  if (copy->to_tree) add_use(server, record, copy->to_tree, stream, ticket);
  if (server->is_shared) wait_for_others(server, record, stream);
  queue_submit(&server->queue, stream);
  return ticket;
}

bool server_is_queued(const Server *server) { return server->is_queued; }

void server_wait(Server *server, int32_t stream) {
  queue_wait(&server->queue, stream, server->queue.streams[stream].submitted);
}
