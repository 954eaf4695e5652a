/* local.c - the boot of a rank that `regolith run` started: it has a socket to the server
 * (rendezvous.h), the process that started it. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/boot/boot.h"
#include "comm/message/frame.h"
#include "comm/boot/rendezvous.h"

typedef struct Local {
  Boot boot;
  int socket;
  bool is_lost;
  char why[FRAME_SENTENCE];
} Local;

static bool report_loss(Local *local, Error *err) {
  return error_set(err, RG_ERROR_RANK, "%s", local->why);
}

static bool mark_lost(Local *local, const char *why, Error *err) {
  if (!local->is_lost) snprintf(local->why, sizeof local->why, "%s", why);
  local->is_lost = true;
  return report_loss(local, err);
}

static const char launcher_has_ended[] = "the process that started the ranks has ended";

/* Receives the next frame from the server; `bytes` gets its contents if its kind is the wanted
 * one. */
static bool receive(Local *local, FrameKind wanted, void *bytes, uint64_t size_bytes, Error *err) {
  Frame frame;
  if (!frame_receive_bytes(local->socket, &frame, sizeof frame))
    return mark_lost(local, launcher_has_ended, err);
  if (frame.kind == FRAME_LOST && frame.size_bytes < FRAME_SENTENCE) {
    char why[FRAME_SENTENCE] = {0};
    if (!frame_receive_bytes(local->socket, why, frame.size_bytes))
      return mark_lost(local, launcher_has_ended, err);
    return mark_lost(local, why, err);
  }
  if (frame.kind != wanted || frame.size_bytes != size_bytes)
    return mark_lost(local, "the process that started the ranks sent an unexpected message", err);
  return frame_receive_bytes(local->socket, bytes, size_bytes) ||
         mark_lost(local, launcher_has_ended, err);
}

static bool gather(Boot *boot, const void *mine, uint64_t size_bytes, void *all, Error *err) {
  Local *local = (Local *)boot;
  if (local->is_lost) return report_loss(local, err);
  if (size_bytes > FRAME_MAX_BYTES / (uint64_t)boot->size)
    return error_set(err, RG_ERROR_ARGUMENT, "%llu bytes are too many for one call of all ranks",
                     (unsigned long long)size_bytes);
  if (!frame_send(local->socket, FRAME_GATHER, mine, (uint32_t)size_bytes))
    /* reports the reason, if the server sent it */
    return receive(local, FRAME_GATHER, all, UINT64_MAX, err);
  return receive(local, FRAME_GATHER, all, size_bytes * (uint64_t)boot->size, err);
}

static bool check(Boot *boot, Error *err) {
  Local *local = (Local *)boot;
  if (local->is_lost) return report_loss(local, err);
  struct pollfd wait = {.fd = local->socket, .events = POLLIN};
  return poll(&wait, 1, 0) <= 0 || receive(local, FRAME_LOST, NULL, UINT64_MAX, err);
}

static void abort_all(Boot *boot, const char *why) {
  Local *local = (Local *)boot;
  size_t length = strnlen(why, FRAME_SENTENCE - 1);
  if (!local->is_lost) frame_send(local->socket, FRAME_LOST, why, (uint32_t)length);
  mark_lost(local, why, NULL);
}

static void leave(Boot *boot) {
  Local *local = (Local *)boot;
  if (!local->is_lost) frame_send(local->socket, FRAME_FAREWELL, NULL, 0);
  close(local->socket);
  heap_free(boot->heap, local);
}

static const BootTable table = {
    .gather = gather, .check = check, .abort = abort_all, .close = leave};

Boot *boot_local(Heap *heap, int32_t rank, int32_t size, int socket, Error *err) {
  Local *local = heap_alloc(heap, sizeof *local);
  if (!local) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
    return NULL;
  }
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  *local = (Local){.boot = {.table = &table, .heap = heap, .rank = rank, .size = size},
                   .socket = socket};
  return &local->boot;
}
