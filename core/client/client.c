/* client.c - see client.h. */
#include "client/client.h"

#include <string.h>

#include "kernel/launch/queue.h"
#include "server/server.h"

_Static_assert((int)RG_STREAMS == (int)MEMORY_STREAMS,
               "the server has as many streams as regolith.h declares");

static bool check_stream(const Engine *engine, int32_t stream, Error *err) {
  if (!owner_check(engine->store->owner, err)) return false;
  return (stream >= 0 && stream < RG_STREAMS) ||
         error_set(err, RG_ERROR_ARGUMENT, "a stream is a number from 0 to %d, not %d",
                   RG_STREAMS - 1, stream);
}

/* The server, if it queues operations; NULL: they run at once. */
static Server *queueing_server(const Engine *engine) {
  Server *server = server_of(engine->store->device);
  return server && server_is_queued(server) ? server : NULL;
}

Array *client_empty(Engine *engine, const char *type, const int64_t *shape, int32_t rank,
                    Error *err) {
  return array_create(engine->store, type, shape, rank, "", err);
}

/* -- writing ----------------------------------------------------------------------------------- */

/* Copies the bytes into staging memory, from which the queued copy reads them. */
static bool queue_write(Engine *engine, Server *server, int32_t stream, Array *array,
                        const void *bytes, uint64_t size_bytes, Error *err) {
  MemoryBlock *block = server_stage(server, size_bytes, err);
  if (!block) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a write");
  void *staged = (void *)(uintptr_t)block->at;
  memcpy(staged, bytes, size_bytes);
  queue_make_room_for_copy(engine, stream);
  ServerCopy copy = {.stream = stream,
                     .to = array->data,
                     .from = staged,
                     .size_bytes = size_bytes,
                     .to_tree = &array->block->rt};
  uint64_t ticket = server_copy(server, &copy);
  server_unstage(server, block, ticket);
  return ticket || error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a write");
}

bool client_write(Engine *engine, int32_t stream, Array *array, const void *bytes,
                  int64_t size_bytes, Error *err) {
  if (!check_stream(engine, stream, err) || !array_check_block(array, size_bytes, err))
    return false;
  queue_report_ended(engine);
  if (queue_has_failed(engine, stream, NULL)) return true;
  Server *server = queueing_server(engine);
  bool is_done;
  if (!array_put_remote(array, bytes, size_bytes, stream, &is_done, err)) return false;
  if (is_done) return true;
  if (!server || !block_is_own(array->block) || !array->block->rt.last_use)
    return array_write_bytes(array, bytes, size_bytes, err);
  return queue_write(engine, server, stream, array, bytes, (uint64_t)size_bytes, err);
}

/* -- reading ----------------------------------------------------------------------------------- */

bool client_read(Engine *engine, int32_t stream, Array *array, void *bytes, int64_t size_bytes,
                 Error *err) {
  if (!check_stream(engine, stream, err) || queue_has_failed(engine, stream, err)) return false;
  if (size_bytes >= 0) return array_read_bytes(array, bytes, size_bytes, err);
  return array_check_plain(array, err) &&
         device_reach(engine->store->device, &array->block->rt, NULL, 0, DEVICE_READS, err);
}

static bool queue_read(Engine *engine, Server *server, int32_t stream, Array *from, Array *to,
                       Error *err) {
  queue_make_room_for_copy(engine, stream);
  ServerCopy copy = {.stream = stream,
                     .to = to->data,
                     .from = from->data,
                     .size_bytes = (uint64_t)(to->past - to->first),
                     .to_tree = &to->block->rt,
                     .from_tree = &from->block->rt};
  return server_copy(server, &copy) ||
         error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a read");
}

Array *client_read_async(Engine *engine, int32_t stream, Array *array, Error *err) {
  if (!check_stream(engine, stream, err) || !array_check_plain(array, err)) return NULL;
  Array *copy = array_create(engine->store, array->type_name, array->shape, array->rank, "", err);
  queue_report_ended(engine);
  if (!copy || queue_has_failed(engine, stream, NULL)) return copy;
  Server *server = queueing_server(engine);
  bool is_plain = server && block_is_own(array->block), is_done = false;
  bool ok = array_move_remote(copy, array, stream, &is_done, err);
  if (ok && is_done) return copy;
  if (!ok) {
    object_release(&copy->object);
    return NULL;
  }
  if (is_plain ? queue_read(engine, server, stream, array, copy, err)
               : !array->count || array_copy(copy, array, err))
    return copy;
  object_release(&copy->object);
  return NULL;
}

bool client_is_done(const Engine *engine, const Array *array) {
  uint64_t last = array->block->rt.last_use;
  Device *device = engine->store->device;
  if (device->table->mirror) return device->table->mirror->is_idle(device, &array->block->rt);
  return !last || device_is_done(engine->store->device, last);
}

/* -- the stream -------------------------------------------------------------------------------- */

bool client_execute(Engine *engine, int32_t stream, Kernel *kernel, const RgValue *values,
                    int32_t value_count, RgValue *result, Error *err) {
  if (!check_stream(engine, stream, err)) return false;
  int32_t before = engine->stream;
  engine->stream = stream;
  bool ok = kernel_launch(kernel, values, value_count, result, err);
  engine->stream = before;
  return ok;
}

bool client_use(Engine *engine, int32_t stream, Error *err) {
  if (!check_stream(engine, stream, err)) return false;
  engine->stream = stream;
  return true;
}

bool client_sync(Engine *engine, int32_t stream, Error *err) {
  Device *device = engine->store->device;
  if (stream == -1)
    return owner_check(engine->store->owner, err) && device->table->sync(device, err);
  if (!check_stream(engine, stream, err)) return false;
  bool ok = queue_report_stream(engine, stream, UINT64_MAX, err);
  Server *server = queueing_server(engine);
  if (server) server_wait(server, stream);
  return ok;
}
