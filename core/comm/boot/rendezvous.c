/* hub.c - see hub.h. Decision D-comm-01. */
#include "comm/boot/hub.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/clock.h"
#include "comm/boot/boot.h"
#include "comm/message/frame.h"

static int64_t now_ms(void) { return clock_ns() / 1000000; }

void hub_init(Hub *hub, Heap *heap, const int *sockets, int32_t count, int64_t patience_ms) {
  *hub = (Hub){
      .heap = heap, .count = count, .patience_ms = patience_ms ? patience_ms : boot_patience_ms()};
  for (int32_t k = 0; k < count; k++) hub->members[k].socket = sockets[k];
}

static void end_round(Hub *hub) {
  for (int32_t k = 0; k < hub->count; k++) {
    heap_free(hub->heap, hub->members[k].part);
    hub->members[k].part = NULL;
  }
  hub->began_ms = 0;
}

static void close_member(HubMember *member) {
  if (member->socket >= 0) close(member->socket);
  member->socket = -1;
}

void hub_deinit(Hub *hub) {
  end_round(hub);
  for (int32_t k = 0; k < hub->count; k++) close_member(&hub->members[k]);
}

bool hub_is_over(const Hub *hub) {
  for (int32_t k = 0; k < hub->count; k++)
    if (hub->members[k].socket >= 0) return false;
  return true;
}

void hub_lose(Hub *hub, const char *why) {
  if (hub->is_lost) return;
  hub->is_lost = true;
  end_round(hub);
  size_t length = strnlen(why, FRAME_SENTENCE - 1);
  for (int32_t k = 0; k < hub->count; k++)
    if (hub->members[k].socket >= 0)
      frame_send(hub->members[k].socket, FRAME_LOST, why, (uint32_t)length);
}

/* -- rounds ------------------------------------------------------------------------------------ */

static bool is_missing(const HubMember *member) { return !member->part; }
static bool is_gone(const HubMember *member) { return member->has_left && !member->part; }

/* Writes "rank 1" or "ranks 1, 3 and 5" for the members with the property. */
static void name_ranks(const Hub *hub, bool (*is_so)(const HubMember *), char text[160]) {
  int32_t ranks[HUB_RANKS_MOST], count = 0;
  for (int32_t k = 0; k < hub->count; k++)
    if (is_so(&hub->members[k])) ranks[count++] = k;
  int at = snprintf(text, 160, count == 1 ? "rank" : "ranks");
  for (int32_t k = 0; k < count && at < 130; k++)
    at += snprintf(text + at, 160 - (size_t)at, "%s%d",
                   !k              ? " "
                   : k < count - 1 ? ", "
                                   : " and ",
                   ranks[k]);
  if (at >= 130) snprintf(text + at, 160 - (size_t)at, " ..");
}

static void give_all(Hub *hub) {
  uint32_t part = hub->members[0].size_bytes, total = part * (uint32_t)hub->count;
  for (int32_t k = 1; k < hub->count; k++) {
    if (hub->members[k].size_bytes == part) continue;
    hub_lose(hub, "ranks sent parts of different sizes");
    return;
  }
  uint8_t *all = heap_alloc(hub->heap, total);
  if (!all) {
    hub_lose(hub, "the process that started the ranks has no memory left");
    return;
  }
  for (int32_t k = 0; k < hub->count; k++)
    memcpy(all + (size_t)k * part, hub->members[k].part, part);
  end_round(hub);
  for (int32_t k = 0; k < hub->count; k++)
    frame_send(hub->members[k].socket, FRAME_GATHER, all, total);
  heap_free(hub->heap, all);
}

/* Ends the round when it is complete or late. */
static void look(Hub *hub) {
  if (!hub->began_ms || hub->is_lost) return;
  bool is_complete = true, has_gone = false;
  for (int32_t k = 0; k < hub->count; k++) {
    is_complete &= !is_missing(&hub->members[k]);
    has_gone |= is_gone(&hub->members[k]);
  }
  char who[160], why[FRAME_SENTENCE];
  if (is_complete) {
    give_all(hub);
  } else if (has_gone) {
    name_ranks(hub, is_gone, who);
    snprintf(why, sizeof why, "%s ended, while others wait in a call that all ranks make", who);
    hub_lose(hub, why);
  } else if (now_ms() - hub->began_ms >= hub->patience_ms) {
    name_ranks(hub, is_missing, who);
    snprintf(why, sizeof why, "%s did not reach a call that all ranks make within %.3g s", who,
             (double)hub->patience_ms / 1000);
    hub_lose(hub, why);
  }
}

void hub_left(Hub *hub, int32_t rank) {
  hub->members[rank].has_left = true;
  look(hub);
}

/* -- frames ------------------------------------------------------------------------------------ */

static void ended(Hub *hub, int32_t rank) {
  close_member(&hub->members[rank]);
  if (hub->is_watched || hub->members[rank].has_left) return;
  char why[80];
  snprintf(why, sizeof why, "rank %d ended", rank);
  hub_lose(hub, why);
}

static void take_part(Hub *hub, int32_t rank, uint32_t size_bytes) {
  HubMember *member = &hub->members[rank];
  uint8_t *part = heap_alloc(hub->heap, size_bytes);
  if (!part) {
    hub_lose(hub, "the process that started the ranks has no memory left");
    ended(hub, rank);
  } else if (!frame_receive_bytes(member->socket, part, size_bytes)) {
    heap_free(hub->heap, part);
    ended(hub, rank);
  } else if (hub->is_lost || member->part) {
    heap_free(hub->heap, part); /* the rank will read why */
  } else {
    member->part = part;
    member->size_bytes = size_bytes;
    if (!hub->began_ms) hub->began_ms = now_ms();
  }
}

static void take_why(Hub *hub, int32_t rank, uint32_t size_bytes) {
  char said[FRAME_SENTENCE] = {0}, why[FRAME_SENTENCE];
  if (!frame_receive_bytes(hub->members[rank].socket, said, size_bytes)) {
    ended(hub, rank);
    return;
  }
  snprintf(why, sizeof why, "rank %d failed: %.*s", rank, FRAME_SENTENCE - 40, said);
  hub_lose(hub, why);
}

static void serve(Hub *hub, int32_t rank) {
  Frame frame;
  if (!frame_receive_bytes(hub->members[rank].socket, &frame, sizeof frame)) ended(hub, rank);
  else if (frame.kind == FRAME_GATHER && frame.size_bytes <= FRAME_MOST / (uint32_t)hub->count)
    take_part(hub, rank, frame.size_bytes);
  else if (frame.kind == FRAME_LOST && frame.size_bytes < FRAME_SENTENCE)
    take_why(hub, rank, frame.size_bytes);
  else if (frame.kind == FRAME_FAREWELL) hub_left(hub, rank);
  else ended(hub, rank);
  look(hub);
}

void hub_step(Hub *hub, struct pollfd *others, int other_count, int64_t wait_ms) {
  struct pollfd waits[2 * HUB_RANKS_MOST + 8];
  int32_t ranks[HUB_RANKS_MOST], count = 0;
  for (int32_t k = 0; k < hub->count; k++) {
    if (hub->members[k].socket < 0) continue;
    ranks[count] = k;
    waits[count++] = (struct pollfd){.fd = hub->members[k].socket, .events = POLLIN};
  }
  if (other_count) memcpy(waits + count, others, (size_t)other_count * sizeof *others);
  int64_t left = hub->began_ms ? hub->began_ms + hub->patience_ms - now_ms() : wait_ms;
  int32_t wait = (int32_t)min_i64(wait_ms, left > 0 ? left : 0);
  int ready = poll(waits, (nfds_t)(count + other_count), wait);
  for (int k = 0; k < other_count; k++)
    others[k].revents = ready > 0 ? waits[count + k].revents : 0;
  for (int32_t k = 0; k < count && ready > 0; k++)
    if (waits[k].revents) serve(hub, ranks[k]);
  look(hub);
}
