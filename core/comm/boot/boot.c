/* boot.c - chooses how a process finds its ranks; and the boot of a single process. */
#include "comm/boot/boot.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/str.h"
#include "comm/boot/rendezvous.h"

static bool gather_alone(Boot *boot, const void *mine, uint64_t size_bytes, void *all, Error *err) {
  (void)boot, (void)err;
  memcpy(all, mine, size_bytes);
  return true;
}
static bool check_alone(Boot *boot, Error *err) {
  (void)boot, (void)err;
  return true;
}
static void abort_alone(Boot *boot, const char *why) { (void)boot, (void)why; }
static void close_alone(Boot *boot) { heap_free(boot->heap, boot); }

static const BootTable alone = {
    .gather = gather_alone, .check = check_alone, .abort = abort_alone, .close = close_alone};

Boot *boot_alone(Heap *heap, Error *err) {
  Boot *boot = heap_alloc(heap, sizeof *boot);
  if (boot) *boot = (Boot){.table = &alone, .heap = heap, .size = 1};
  else error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  return boot;
}

/* Reads an integer from the environment; -1 if it is not one. */
static int32_t number_of(const char *name) {
  const char *text = getenv(name);
  if (!text || !*text) return -1;
  char *end;
  long number = strtol(text, &end, 10);
  return *end || number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
}

static atomic_bool is_taken; /* the process already is a rank */

int64_t boot_patience_ms(void) {
  double seconds = str_to_double(option_text("RG_PATIENCE"), NULL);
  return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1000) : 60000;
}

bool boot_is_rank(void) { return getenv(RENDEZVOUS_SOCKET) || boot_is_mpi(); }

Boot *boot_open(Heap *heap, Error *err) {
  bool is_local = getenv(RENDEZVOUS_SOCKET);
  if (!boot_is_rank()) return boot_alone(heap, err);
  int32_t rank = number_of(RENDEZVOUS_RANK), size = number_of(RENDEZVOUS_RANKS),
          socket = number_of(RENDEZVOUS_SOCKET);
  if (is_local && (rank < 0 || size <= rank || socket < 0)) {
    error_set(err, RG_ERROR_RANK, "%s, %s and %s are not valid for a rank", RENDEZVOUS_RANK,
              RENDEZVOUS_RANKS, RENDEZVOUS_SOCKET);
    error_hint(err, "start ranks by `regolith run -n 4 script.lua`");
    return NULL;
  }
  if (atomic_exchange(&is_taken, true)) {
    error_set(err, RG_ERROR_RANK,
              "the ranks belong to another runtime of this process, or were left with it");
    error_hint(err, "a process is one rank: call rg.comm() of one runtime, and end that one last");
    return NULL;
  }
  return is_local ? boot_local(heap, rank, size, socket, err) : boot_mpi(heap, err);
}
