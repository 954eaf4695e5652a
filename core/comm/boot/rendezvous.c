/* rendezvous.c - see rendezvous.h. Decision D-comm-01. */
#include "comm/boot/rendezvous.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/clock.h"
#include "comm/boot/boot.h"
#include "comm/message/frame.h"

static int64_t now_ms(void) { return clock_ns() / 1000000; }

void rendezvous_init(Rendezvous *server, Heap *heap, const int *sockets, int32_t count,
                     int64_t patience_ms) {
  *server = (Rendezvous){
      .heap = heap, .count = count, .patience_ms = patience_ms ? patience_ms : boot_patience_ms()};
  for (int32_t k = 0; k < count; k++) server->members[k].socket = sockets[k];
}

static void end_round(Rendezvous *server) {
  for (int32_t k = 0; k < server->count; k++) {
    heap_free(server->heap, server->members[k].part);
    server->members[k].part = NULL;
  }
  server->began_ms = 0;
}

static void close_member(RendezvousMember *member) {
  if (member->socket >= 0) close(member->socket);
  member->socket = -1;
}

void rendezvous_deinit(Rendezvous *server) {
  end_round(server);
  for (int32_t k = 0; k < server->count; k++) close_member(&server->members[k]);
}

bool rendezvous_is_over(const Rendezvous *server) {
  for (int32_t k = 0; k < server->count; k++)
    if (server->members[k].socket >= 0) return false;
  return true;
}

void rendezvous_fail(Rendezvous *server, const char *why) {
  if (server->is_lost) return;
  server->is_lost = true;
  end_round(server);
  size_t length = strnlen(why, FRAME_SENTENCE - 1);
  for (int32_t k = 0; k < server->count; k++)
    if (server->members[k].socket >= 0)
      frame_send(server->members[k].socket, FRAME_LOST, why, (uint32_t)length);
}

/* -- rounds ------------------------------------------------------------------------------------ */

static bool is_missing(const RendezvousMember *member) { return !member->part; }
static bool is_gone(const RendezvousMember *member) { return member->has_left && !member->part; }

/* Writes "rank 1" or "ranks 1, 3 and 5" for the members with the property. */
static void name_ranks(const Rendezvous *server, bool (*has_property)(const RendezvousMember *),
                       char text[160]) {
  int32_t ranks[RENDEZVOUS_MAX_RANKS], count = 0;
  for (int32_t k = 0; k < server->count; k++)
    if (has_property(&server->members[k])) ranks[count++] = k;
  int at = snprintf(text, 160, count == 1 ? "rank" : "ranks");
  for (int32_t k = 0; k < count && at < 130; k++)
    at += snprintf(text + at, 160 - (size_t)at, "%s%d",
                   !k              ? " "
                   : k < count - 1 ? ", "
                                   : " and ",
                   ranks[k]);
  if (at >= 130) snprintf(text + at, 160 - (size_t)at, " ..");
}

static void send_all_parts(Rendezvous *server) {
  uint32_t part = server->members[0].size_bytes, total = part * (uint32_t)server->count;
  for (int32_t k = 1; k < server->count; k++) {
    if (server->members[k].size_bytes == part) continue;
    rendezvous_fail(server, "ranks sent parts of different sizes");
    return;
  }
  uint8_t *all = heap_alloc(server->heap, total);
  if (!all) {
    rendezvous_fail(server, "the process that started the ranks has no memory left");
    return;
  }
  for (int32_t k = 0; k < server->count; k++)
    memcpy(all + (size_t)k * part, server->members[k].part, part);
  end_round(server);
  for (int32_t k = 0; k < server->count; k++)
    frame_send(server->members[k].socket, FRAME_GATHER, all, total);
  heap_free(server->heap, all);
}

/* Ends the round when it is complete or late. */
static void update_round(Rendezvous *server) {
  if (!server->began_ms || server->is_lost) return;
  bool is_complete = true, has_gone = false;
  for (int32_t k = 0; k < server->count; k++) {
    is_complete &= !is_missing(&server->members[k]);
    has_gone |= is_gone(&server->members[k]);
  }
  char who[160], why[FRAME_SENTENCE];
  if (is_complete) {
    send_all_parts(server);
  } else if (has_gone) {
    name_ranks(server, is_gone, who);
    snprintf(why, sizeof why, "%s ended, while others wait in a call that all ranks make", who);
    rendezvous_fail(server, why);
  } else if (now_ms() - server->began_ms >= server->patience_ms) {
    name_ranks(server, is_missing, who);
    snprintf(why, sizeof why, "%s did not reach a call that all ranks make within %.3g s", who,
             (double)server->patience_ms / 1000);
    rendezvous_fail(server, why);
  }
}

void rendezvous_note_left(Rendezvous *server, int32_t rank) {
  server->members[rank].has_left = true;
  update_round(server);
}

/* -- frames ------------------------------------------------------------------------------------ */

static void member_ended(Rendezvous *server, int32_t rank) {
  close_member(&server->members[rank]);
  if (server->is_watched || server->members[rank].has_left) return;
  char why[80];
  snprintf(why, sizeof why, "rank %d ended", rank);
  rendezvous_fail(server, why);
}

static void receive_part(Rendezvous *server, int32_t rank, uint32_t size_bytes) {
  RendezvousMember *member = &server->members[rank];
  uint8_t *part = heap_alloc(server->heap, size_bytes);
  if (!part) {
    rendezvous_fail(server, "the process that started the ranks has no memory left");
    member_ended(server, rank);
  } else if (!frame_receive_bytes(member->socket, part, size_bytes)) {
    heap_free(server->heap, part);
    member_ended(server, rank);
  } else if (server->is_lost || member->part) {
    heap_free(server->heap, part); /* the rank will read why */
  } else {
    member->part = part;
    member->size_bytes = size_bytes;
    if (!server->began_ms) server->began_ms = now_ms();
  }
}

static void receive_failure(Rendezvous *server, int32_t rank, uint32_t size_bytes) {
  char reason[FRAME_SENTENCE] = {0}, why[FRAME_SENTENCE];
  if (!frame_receive_bytes(server->members[rank].socket, reason, size_bytes)) {
    member_ended(server, rank);
    return;
  }
  snprintf(why, sizeof why, "rank %d failed: %.*s", rank, FRAME_SENTENCE - 40, reason);
  rendezvous_fail(server, why);
}

static void serve_member(Rendezvous *server, int32_t rank) {
  Frame frame;
  if (!frame_receive_bytes(server->members[rank].socket, &frame, sizeof frame))
    member_ended(server, rank);
  else if (frame.kind == FRAME_GATHER &&
           frame.size_bytes <= FRAME_MAX_BYTES / (uint32_t)server->count)
    receive_part(server, rank, frame.size_bytes);
  else if (frame.kind == FRAME_LOST && frame.size_bytes < FRAME_SENTENCE)
    receive_failure(server, rank, frame.size_bytes);
  else if (frame.kind == FRAME_FAREWELL) rendezvous_note_left(server, rank);
  else member_ended(server, rank);
  update_round(server);
}

void rendezvous_step(Rendezvous *server, struct pollfd *others, int other_count, int64_t wait_ms) {
  struct pollfd waits[2 * RENDEZVOUS_MAX_RANKS + 8];
  int32_t ranks[RENDEZVOUS_MAX_RANKS], count = 0;
  for (int32_t k = 0; k < server->count; k++) {
    if (server->members[k].socket < 0) continue;
    ranks[count] = k;
    waits[count++] = (struct pollfd){.fd = server->members[k].socket, .events = POLLIN};
  }
  if (other_count) memcpy(waits + count, others, (size_t)other_count * sizeof *others);
  int64_t left = server->began_ms ? server->began_ms + server->patience_ms - now_ms() : wait_ms;
  int32_t wait = (int32_t)min_i64(wait_ms, left > 0 ? left : 0);
  int ready = poll(waits, (nfds_t)(count + other_count), wait);
  for (int k = 0; k < other_count; k++)
    others[k].revents = ready > 0 ? waits[count + k].revents : 0;
  for (int32_t k = 0; k < count && ready > 0; k++)
    if (waits[k].revents) serve_member(server, ranks[k]);
  update_round(server);
}
