/* window.c - see window.h. Offsets of windows are chosen only in collective calls, in the same
 * order on all ranks; so the ranks' spaces stay the same. */
#include "comm/window/window.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "comm/window/pass_files.h"
#include "comm/window/gpu.h"
#include "comm/window/grow.h"
#include "comm/header.h"
#include "comm/window/share.h"

/* -- shared memories --------------------------------------------------------------------------- */

/* The host cannot access GPU addresses. */
uint8_t *shared_place(const Comm *comm, const Shared *shared, int32_t rank) {
  const CommGpu *gpu = shared->serial ? comm->gpu : NULL;
  uint8_t *base = gpu ? (uint8_t *)(uintptr_t)gpu->base : comm->range.base;
  uint64_t stride = gpu ? gpu->stride : comm->stride;
  return base + (uint64_t)(rank - comm->team_first) * stride + shared->offset;
}

static Space *space_of(Comm *comm, const Shared *shared) {
  return shared->serial ? &comm->gpu->space : &comm->space;
}

static bool map_rank(Comm *comm, const Shared *shared, int32_t rank, int file, Error *err) {
  uint8_t *place = shared_place(comm, shared, rank);
  if (!shared->serial) return share_map(place, shared->size_bytes, file, err);
  return comm->gpu->table->map(comm->gpu->data, (uint64_t)(uintptr_t)place, shared->size_bytes,
                               file, err);
}

static void unmap_rank(Comm *comm, const Shared *shared, int32_t rank) {
  uint8_t *place = shared_place(comm, shared, rank);
  if (!shared->serial) share_unmap(place, shared->size_bytes);
  else if (comm->gpu->base) comm->gpu->table->unmap(comm->gpu->data, (uint64_t)(uintptr_t)place);
}

static void unmap_all(Comm *comm, const Shared *shared) {
  for (int32_t k = 0; k < comm->team_size; k++) unmap_rank(comm, shared, comm->team_first + k);
}

static void forget_shared(Comm *comm, Shared *shared) {
  Shared **link = &comm->shared;
  while (*link && *link != shared) link = &(*link)->next;
  if (*link) *link = shared->next;
  if (shared->offset != SPACE_NONE) {
    unmap_all(comm, shared);
    space_free(space_of(comm, shared), shared->offset, shared->size_bytes);
  }
  if (shared->here && !shared->serial && !comm->is_closing)
    share_make_private(shared->here, shared->size_bytes, shared->file);
  if (shared->file >= 0) close(shared->file);
  heap_free(comm->heap, shared->origins);
  heap_free(comm->heap, shared->growth);
  heap_free(comm->heap, shared);
}

/* How often memory was unmapped. */
static _Atomic uint64_t unmaps;

static Shared *find_shared(const Comm *comm, const uint8_t *here, uint64_t size_bytes) {
  for (Shared *shared = comm->shared; shared; shared = shared->next)
    if (shared->here && here >= shared->here &&
        here + size_bytes <= shared->here + shared->size_bytes)
      return shared;
  return NULL;
}

static bool overlaps(const Shared *shared, uint64_t from, uint64_t past) {
  return shared->here && from < (uint64_t)shared->here + shared->size_bytes &&
         (uint64_t)shared->here < past;
}

static bool overlaps_shared(const Comm *comm, uint64_t from, uint64_t past) {
  for (const Shared *shared = comm->shared; shared; shared = shared->next)
    if (overlaps(shared, from, past)) return true;
  return false;
}

static bool is_mapped(const Comm *comm, const Shared *shared) {
  if (!shared->serial) return share_is_mapped(shared->here, shared->file);
  return comm->gpu->table->is_there(comm->gpu->data, (uint64_t)(uintptr_t)shared->here,
                                    shared->serial);
}

/* Forgets memory that was freed under its windows, as other memory may have its addresses now. */
static void forget_freed(const Comm *comm, uint64_t from, uint64_t past) {
  for (Shared *shared = comm->shared; shared; shared = shared->next)
    if (overlaps(shared, from, past) && !is_mapped(comm, shared)) shared->here = NULL;
}

/* Maps the peers' memory; growing memory is mapped later: grow.h. */
static bool map_peers(Comm *comm, const Shared *shared, const uint8_t *senders, Error *err) {
  if (shared->growth) return true;
  int *files = heap_alloc(comm->heap, (size_t)comm->team_size * sizeof *files);
  if (!files) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  bool ok = pass_files(comm, shared->file, senders, files, err);
  for (int32_t k = 0; k < comm->team_size; k++) {
    int32_t rank = comm->team_first + k;
    ok = ok && map_rank(comm, shared, rank, rank == comm->rank ? shared->file : files[k], err);
    if (files[k] >= 0) close(files[k]);
  }
  heap_free(comm->heap, files);
  return ok;
}

static bool store_origins(Comm *comm, Shared *shared, const uint8_t *senders, Error *err) {
  if (comm_is_one_team(comm) || comm->boot->table->expose || shared->serial) return true;
  shared->origins = heap_alloc(comm->heap, (size_t)comm->size * sizeof *shared->origins);
  if (!shared->origins) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  for (int32_t k = 0; k < comm->size; k++)
    memcpy(&shared->origins[k], senders + (size_t)k * CALL_BYTES, sizeof(Origin));
  return true;
}

/* Together. */
static bool expose(Comm *comm, Shared *shared, Error *err) {
  const BootTable *table = comm->boot->table;
  if (comm_is_one_team(comm) || !table->expose || shared->is_for_team) return true;
  Error why = {0};
  shared->exposed =
      table->expose(comm->boot, shared_place(comm, shared, comm->rank), shared->size_bytes, &why);
  CallOptions call = {.call = CALL_WINDOW, .failed = &why};
  return comm_call(comm, &call, NULL, err);
}

static bool make_shared(Shared *shared, Error *err) {
  shared->file = share_create(shared->size_bytes, err);
  return shared->file >= 0 &&
         (!shared->here || share_move(shared->here, shared->size_bytes, shared->file, err));
}

/* Together: finds out whether any rank failed, and passes the files to all. */
static bool exchange(Comm *comm, Shared *shared, Error *failed, Error *err) {
  uint8_t *senders = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  if (!senders) error_set(failed, RG_ERROR_MEMORY, "the host has no memory left");
  Sender mine;
  pass_files_sender(comm, shared ? shared->file : -1, &mine, failed);
  CallOptions call = {
      .call = CALL_WINDOW, .mine = &mine, .mine_bytes = sizeof mine, .failed = failed};
  bool ok = comm_call(comm, &call, senders, err);
  Error why = {0};
  if (ok && map_peers(comm, shared, senders, &why)) store_origins(comm, shared, senders, &why);
  CallOptions done = {.call = CALL_WINDOW, .failed = &why};
  ok = ok && comm_call(comm, &done, NULL, err); /* now all ranks have mapped the files */
  heap_free(comm->heap, senders);
  return ok && expose(comm, shared, err);
}

/* Together: shares memory as `what` describes, at the next offset: that at `here`, or zeros if it
 * is NULL. NULL with err, on all ranks. */
static Shared *add_shared(Comm *comm, Shared what, Error *err) {
  Error why = {0};
  Shared *shared = heap_alloc(comm->heap, sizeof *shared);
  Space *space = space_of(comm, &what);
  what.offset = space_allocate(space, what.size_bytes, ARENA_LARGE_PAGE);
  if (!shared) {
    error_set(&why, RG_ERROR_MEMORY, "the host has no memory left");
  } else {
    *shared = what;
    if (what.offset == SPACE_NONE)
      error_set(&why, RG_ERROR_MEMORY,
                "a window of %llu bytes does not fit into the addresses of "
                "a rank, %llu bytes",
                (unsigned long long)what.size_bytes, (unsigned long long)space->size);
    else if (!what.serial) make_shared(shared, &why);
    if (what.grows && !(shared->growth = growth_create(comm)))
      error_set(&why, RG_ERROR_MEMORY, "the host has no memory left for a window");
  }
  if (exchange(comm, shared, &why, err)) {
    shared->next = comm->shared;
    return comm->shared = shared;
  }
  if (shared) {
    forget_shared(comm, shared);
    return NULL;
  }
  if (what.offset != SPACE_NONE) space_free(space, what.offset, what.size_bytes);
  if (what.file >= 0) close(what.file);
  return NULL;
}

bool window_open_header(Comm *comm, uint64_t size_bytes, Error *err) {
  Shared header = {.size_bytes = size_bytes, .file = -1, .is_for_team = true};
  return add_shared(comm, header, err);
}

/* -- windows ----------------------------------------------------------------------------------- */

static uint64_t page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* Together: is this memory already shared, on all ranks or on none? `shared` is the number of the
 * Shared, or 0. */
typedef struct Plan {
  uint64_t shared, within;
} Plan;
static bool agree_on_plan(Comm *comm, const Plan *mine, uint64_t size_bytes, uint64_t declared,
                          const Error *failed, Error *err) {
  uint8_t *plans = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  Error no_memory = {0};
  if (!plans) {
    error_set(&no_memory, RG_ERROR_MEMORY, "the host has no memory left");
    failed = &no_memory;
  }
  CallOptions call = {.call = CALL_WINDOW,
                      .size_bytes = size_bytes,
                      .declared = declared,
                      .mine = mine,
                      .mine_bytes = sizeof *mine,
                      .failed = failed};
  bool ok = comm_call(comm, &call, plans, err);
  for (int32_t k = 1; ok && k < comm->size; k++)
    if (memcmp(plans, plans + (size_t)k * CALL_BYTES, sizeof(Plan)))
      ok = error_set(
          err, RG_ERROR_RANK,
          "a window has a different position in the memory of rank %d than in that of rank 0", k);
  heap_free(comm->heap, plans);
  return ok;
}

static Window *add_window(Comm *comm, Shared *shared, uint8_t *here, uint64_t size_bytes,
                          Error *err) {
  Window *window = heap_alloc(comm->heap, sizeof *window);
  if (!window) {
    comm_abort(comm, "the host has no memory left");
    error_add(err, &comm->lost);
    return NULL;
  }
  *window = (Window){.next = comm->windows,
                     .number = ++comm->window_count,
                     .comm = comm,
                     .shared = shared,
                     .here = here,
                     .size_bytes = size_bytes,
                     .offset = shared->offset + (uint64_t)(here - shared->here)};
  shared->windows++;
  return comm->windows = window;
}

static Window *open_window(Comm *comm, void *memory, uint64_t size_bytes, uint64_t declared,
                           bool is_for_team, Error *err) {
  uint8_t *here = memory;
  uint64_t page = page_bytes(), from = (uint64_t)here / page * page,
           past = align_up((uint64_t)here + size_bytes, page);
  Error why = {0};
  if (!size_bytes) error_set(&why, RG_ERROR_ARGUMENT, "a window must have at least one byte");
  forget_freed(comm, from, past);
  Shared *shared = find_shared(comm, here, size_bytes);
  Plan mine = {shared ? shared->number : 0,
               (uint64_t)here - (shared ? (uint64_t)shared->here : from)};
  if (!shared && overlaps_shared(comm, from, past))
    error_set(&why, RG_ERROR_ARGUMENT, "memory that contains a window cannot become one");
  if (!agree_on_plan(comm, &mine, size_bytes, declared, &why, err)) return NULL;
  shared = find_shared(comm, here, size_bytes); /* all ranks may have dropped it meanwhile */
  if (!shared) {
    Shared what = {
        .here = (uint8_t *)from, .size_bytes = past - from, .file = -1, .is_for_team = is_for_team};
    shared = add_shared(comm, what, err);
    if (!shared) return NULL;
    shared->number = comm->number; /* the number of a collective call */
  }
  return add_window(comm, shared, here, size_bytes, err);
}

Window *window_open(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared, Error *err) {
  return open_window(comm, here, size_bytes, declared, false, err);
}

Window *window_open_for_team(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared,
                             Error *err) {
  return open_window(comm, here, size_bytes, declared, true, err);
}

/* A part has one address, at which all its windows begin. */
Window *window_open_gpu(Comm *comm, const SymmetricHeapPart *part, uint64_t size_bytes,
                        uint64_t declared, const Error *failed, Error *err) {
  uint8_t *here = (uint8_t *)(uintptr_t)part->at;
  forget_freed(comm, part->at, part->at + part->size_bytes);
  Shared *shared = find_shared(comm, here, size_bytes);
  Plan mine = {shared ? shared->number : 0, part->size_bytes};
  bool ok = agree_on_plan(comm, &mine, size_bytes, declared, failed, err);
  shared = find_shared(comm, here, size_bytes); /* all ranks may have dropped it meanwhile */
  if (ok && !shared) {
    Shared what = {.here = here,
                   .size_bytes = part->size_bytes,
                   .file = part->file,
                   .serial = part->serial,
                   .grows = part->grows,
                   .is_for_team = true};
    shared = add_shared(comm, what, err);
    if (!shared) return NULL;
    shared->number = comm->number;
  } else if (part->file >= 0) {
    close(part->file);
  }
  return ok ? add_window(comm, shared, here, size_bytes, err) : NULL;
}

Window *window_create(Comm *comm, uint64_t size_bytes, uint64_t declared, Error *err) {
  uint64_t bytes = align_up(size_bytes ? size_bytes : 1, page_bytes());
  Plan none = {0};
  if (!agree_on_plan(comm, &none, size_bytes, declared, NULL, err)) return NULL;
  Shared what = {.size_bytes = bytes, .file = -1};
  Shared *shared = add_shared(comm, what, err);
  if (!shared) return NULL;
  shared->number = comm->number;
  shared->is_moved_in = true;
  shared->here = share_map_anywhere(bytes, shared->file, err);
  Error why = {0};
  if (!shared->here) why = *err;
  CallOptions call = {.call = CALL_WINDOW, .failed = &why};
  if (comm_call(comm, &call, NULL, err))
    return add_window(comm, shared, shared->here, size_bytes, err);
  if (shared->here) window_unmap(shared->here, bytes);
  shared->here = NULL;
  forget_shared(comm, shared);
  return NULL;
}

void window_unmap(void *here, uint64_t size_bytes) {
  munmap(here, align_up(size_bytes ? size_bytes : 1, page_bytes()));
  atomic_fetch_add(&unmaps, 1);
}

/* Checks the mappings only if memory was unmapped, as the check takes longer than many
 * reductions. */
static void check_freed(Comm *comm) {
  uint64_t now = atomic_load(&unmaps);
  if (now != comm->unmaps) forget_freed(comm, 0, UINT64_MAX);
  comm->unmaps = now;
}

WindowPlace window_place_of(Comm *comm, const void *bytes, uint64_t size_bytes) {
  if (!comm->windows) return (WindowPlace){0};
  check_freed(comm);
  const Shared *shared = find_shared(comm, bytes, size_bytes);
  if (!shared || !shared->is_moved_in || shared->serial) return (WindowPlace){0};
  return (WindowPlace){shared->number, (uint64_t)((const uint8_t *)bytes - shared->here)};
}

uint8_t *window_at(const Comm *comm, const WindowPlace *place, int32_t rank) {
  const Shared *shared = comm->shared;
  while (shared->number != place->memory) shared = shared->next;
  return shared_place(comm, shared, rank) + place->offset;
}

static void remove_window(Window *window) {
  Comm *comm = window->comm;
  Window **link = &comm->windows;
  while (*link != window) link = &(*link)->next;
  *link = window->next;
  if (!--window->shared->windows) {
    if (window->shared->exposed && !comm->is_closing && !comm->is_lost)
      comm->boot->table->unexpose(comm->boot, window->shared->exposed);
    forget_shared(comm, window->shared);
  }
  if (window->published.end) window->published.end(window->published.data);
  heap_free(comm->heap, window);
}

bool window_free(Window *window, Error *err) {
  Comm *comm = window->comm;
  CallOptions call = {.call = CALL_FREE, .declared = window->number};
  if (!comm_call(comm, &call, NULL, err)) return false;
  remove_window(window);
  return true;
}

void window_drop(Window *window) { window->is_dropped = true; }

void window_dropped(Comm *comm, uint64_t number) {
  for (Window *window = comm->windows; window; window = window->next) {
    if (window->number != number) continue;
    if (++window->drop_count == comm->size) remove_window(window);
    return;
  }
}

void windows_close(Comm *comm) {
  while (comm->windows) remove_window(comm->windows);
  while (comm->shared) forget_shared(comm, comm->shared);
}

/* -- in barriers: publishing tables ------------------------------------------------------------ */

bool windows_have_tables(const Comm *comm) {
  for (const Window *window = comm->windows; window; window = window->next)
    if (window->published.publish) return true;
  return false;
}

void windows_publish(Comm *comm) {
  Error why = {0};
  for (const Window *window = comm->windows; window; window = window->next)
    if (window->published.publish && !window->published.publish(window->published.data, &why))
      comm_abort(comm, why.message);
}

/* -- queries ----------------------------------------------------------------------------------- */

void *window_peer(const Window *window, int32_t rank) {
  const Comm *comm = window->comm;
  if (!comm_is_peer(comm, rank)) return NULL;
  return shared_place(comm, window->shared, rank) + (window->offset - window->shared->offset);
}

static bool is_in(const uint8_t *at, const uint8_t *base, uint64_t size_bytes) {
  return base && at >= base && at < base + size_bytes;
}

bool window_is_peers(const Comm *comm, const uint8_t *at) {
  const CommGpu *gpu = comm->gpu;
  uint64_t ranks = (uint64_t)comm->team_size;
  if (is_in(at, comm->range.base, ranks * comm->stride)) return true;
  if (!gpu || !gpu->base) return false;
  return is_in(at, (const uint8_t *)(uintptr_t)gpu->base, ranks * gpu->stride) ||
         is_in(at, gpu->table->host(gpu->data, gpu->base), ranks * gpu->stride);
}

Window *window_find(const Comm *comm, const void *address) {
  const uint8_t *at = address;
  Window *found = NULL;
  for (Window *window = comm->windows; window; window = window->next) /* newest first */
    if (!window->is_dropped && at >= window->here && at < window->here + window->size_bytes &&
        (!found || window->size_bytes < found->size_bytes))
      found = window;
  return found;
}

static bool copy_bytes(Window *window, int32_t rank, uint64_t at, void *to, const void *from,
                       uint64_t size_bytes, Error *err) {
  const Comm *comm = window->comm;
  const Shared *shared = window->shared;
  uint64_t place = window->offset - shared->offset + at;
  if (rank < 0 || rank >= comm->size)
    return error_set(err, RG_ERROR_ARGUMENT, "there is no rank %d: ranks are 0 to %d", rank,
                     comm->size - 1);
  if (at > window->size_bytes || size_bytes > window->size_bytes - at)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "%llu bytes from %llu on are not all in a window of %llu",
                     (unsigned long long)size_bytes, (unsigned long long)at,
                     (unsigned long long)window->size_bytes);
  uint8_t *peer = window_peer(window, rank);
  if (peer && shared->serial)
    return comm->gpu->table->copy(comm->gpu->data, (uint64_t)(uintptr_t)peer + at, to, from,
                                  size_bytes, err);
  if (peer) {
    memcpy(to ? to : peer + at, to ? peer + at : from, size_bytes);
    return true;
  }
  if (!shared->exposed && !shared->origins)
    return error_set(
        err, RG_ERROR_RANK,
        "the memory of rank %d is not accessible from rank %d, which belongs to another team", rank,
        comm->rank);
  if (shared->exposed)
    return comm->boot->table->reach(comm->boot, shared->exposed, rank, place, to, from, size_bytes,
                                    err);
  return far_reach(shared->origins[rank], place, to, from, size_bytes, err);
}

bool window_put(Window *window, int32_t rank, uint64_t at, const void *bytes, uint64_t size_bytes,
                Error *err) {
  return copy_bytes(window, rank, at, NULL, bytes, size_bytes, err);
}

bool window_get(Window *window, int32_t rank, uint64_t at, void *bytes, uint64_t size_bytes,
                Error *err) {
  return copy_bytes(window, rank, at, bytes, NULL, size_bytes, err);
}
