/* memory.c - mmap and related calls, implemented by VirtualAlloc.
 *
 * A reservation is address space. Within it, pages are open (they may be read, or written as well)
 * or closed. As on Linux, open pages take memory only when they are first accessed. Windows charges
 * committed pages at once, so open pages stay reserved, and the first access faults:
 * `commit_on_fault` commits the 64 KiB around it, and the access is repeated.
 *
 *     closed --mprotect--> open, reserved --access--> open, committed --madvise--> open, ..
 *
 * Invariant: the list of spans is sorted by address and its spans do not overlap; it changes under
 * the lock, while no memory that it describes is touched. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <windows.h>

#include "windows/posix.h"

enum { BLOCK = 65536, MAX_SPANS = 65536 };

typedef struct Span { /* open pages */
  uintptr_t low, high;
  DWORD protection;
} Span;

typedef struct Reservation {
  uintptr_t base, low, high; /* what VirtualAlloc returned; what is not yet unmapped of it */
  bool is_file;
} Reservation;

static struct {
  SRWLOCK lock;
  Span *spans;
  int span_count;
  Reservation *reservations;
  int reservation_count, reservation_capacity;
  PVOID handler;
} state = {.lock = SRWLOCK_INIT};

/* -- spans ------------------------------------------------------------------------------------- */

/* The first span that ends after the address. */
static int find_span(uintptr_t at) {
  int low = 0, high = state.span_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (state.spans[middle].high <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool insert_span(int at, Span span) {
  if (span.low >= span.high) return true;
  if (state.span_count == MAX_SPANS) return false;
  memmove(&state.spans[at + 1], &state.spans[at], sizeof(Span) * (size_t)(state.span_count - at));
  state.spans[at] = span;
  state.span_count++;
  return true;
}

static void close_span(uintptr_t low, uintptr_t high) {
  for (int k = find_span(low); k < state.span_count && state.spans[k].low < high;) {
    Span old = state.spans[k];
    state.span_count--;
    memmove(&state.spans[k], &state.spans[k + 1], sizeof(Span) * (size_t)(state.span_count - k));
    if (old.low < low && insert_span(k, (Span){old.low, low, old.protection})) k++;
    if (old.high > high && insert_span(k, (Span){high, old.high, old.protection})) k++;
  }
}

static bool open_span(uintptr_t low, uintptr_t high, DWORD protection) {
  close_span(low, high);
  return insert_span(find_span(low), (Span){low, high, protection});
}

static LONG CALLBACK commit_on_fault(EXCEPTION_POINTERS *fault) {
  const EXCEPTION_RECORD *record = fault->ExceptionRecord;
  if (record->ExceptionCode != EXCEPTION_ACCESS_VIOLATION || record->NumberParameters < 2)
    return EXCEPTION_CONTINUE_SEARCH;
  uintptr_t at = record->ExceptionInformation[1];
  bool is_done = false;
  AcquireSRWLockShared(&state.lock);
  int k = find_span(at);
  if (k < state.span_count && state.spans[k].low <= at) {
    const Span *span = &state.spans[k];
    uintptr_t low = at / BLOCK * BLOCK, high = low + BLOCK;
    if (low < span->low) low = span->low;
    if (high > span->high) high = span->high;
    bool may = span->protection != PAGE_READONLY || record->ExceptionInformation[0] == 0;
    is_done = may && VirtualAlloc((void *)low, high - low, MEM_COMMIT, span->protection);
  }
  ReleaseSRWLockShared(&state.lock);
  return is_done ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

/* -- reservations ------------------------------------------------------------------------------ */

static bool begin(void) {
  if (state.handler) return true;
  if (!state.spans)
    state.spans =
        VirtualAlloc(NULL, sizeof(Span) * MAX_SPANS, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (state.spans) state.handler = AddVectoredExceptionHandler(1, commit_on_fault);
  return state.handler;
}

static bool note_reservation(void *base, size_t size_bytes, bool is_file) {
  if (state.reservation_count == state.reservation_capacity) {
    int capacity = state.reservation_capacity ? 2 * state.reservation_capacity : 64;
    Reservation *grown = realloc(state.reservations, sizeof *grown * (size_t)capacity);
    if (!grown) return false;
    state.reservations = grown;
    state.reservation_capacity = capacity;
  }
  uintptr_t low = (uintptr_t)base;
  state.reservations[state.reservation_count++] =
      (Reservation){low, low, low + size_bytes, is_file};
  return true;
}

static Reservation *find_reservation(uintptr_t at) {
  for (int k = 0; k < state.reservation_count; k++)
    if (state.reservations[k].low <= at && at < state.reservations[k].high)
      return &state.reservations[k];
  return NULL;
}

static DWORD page_protection(int protection) {
  if (protection & PROT_EXEC) return PAGE_EXECUTE_READ;
  if (protection & PROT_WRITE) return PAGE_READWRITE;
  return protection & PROT_READ ? PAGE_READONLY : PAGE_NOACCESS;
}

static void *map_file(size_t size_bytes, int file) {
  HANDLE mapping =
      CreateFileMappingA((HANDLE)_get_osfhandle(file), NULL, PAGE_READONLY, 0, 0, NULL);
  if (!mapping) return NULL;
  void *base = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size_bytes);
  CloseHandle(mapping);
  return base;
}

static void *reserve(size_t size_bytes, int protection, int flags) {
  bool is_lazy = flags & MAP_NORESERVE;
  void *base = VirtualAlloc(NULL, size_bytes, is_lazy ? MEM_RESERVE : MEM_RESERVE | MEM_COMMIT,
                            is_lazy ? PAGE_NOACCESS : page_protection(protection));
  uintptr_t low = (uintptr_t)base;
  if (base && is_lazy && protection != PROT_NONE &&
      !open_span(low, low + size_bytes, page_protection(protection))) {
    VirtualFree(base, 0, MEM_RELEASE);
    return NULL;
  }
  return base;
}

/* Makes pages of an existing mapping reserved and closed. */
static void *map_closed(void *address, size_t size_bytes) {
  uintptr_t low = (uintptr_t)address;
  close_span(low, low + size_bytes);
  VirtualFree(address, size_bytes, MEM_DECOMMIT);
  return address;
}

void *mmap(void *address, size_t size_bytes, int protection, int flags, int file, int64_t offset) {
  (void)offset;
  void *base = NULL;
  AcquireSRWLockExclusive(&state.lock);
  if (begin()) {
    if (flags & MAP_FIXED) {
      base = map_closed(address, size_bytes);
    } else {
      bool is_file = !(flags & MAP_ANONYMOUS);
      base = is_file ? map_file(size_bytes, file) : reserve(size_bytes, protection, flags);
      if (base && !note_reservation(base, size_bytes, is_file)) base = NULL;
    }
  }
  ReleaseSRWLockExclusive(&state.lock);
  if (base) return base;
  errno = ENOMEM;
  return MAP_FAILED;
}

int munmap(void *address, size_t size_bytes) {
  uintptr_t low = (uintptr_t)address, high = low + size_bytes;
  AcquireSRWLockExclusive(&state.lock);
  Reservation *own = find_reservation(low);
  if (own) {
    close_span(low, high);
    if (low <= own->low) own->low = high;
    else if (high >= own->high) own->high = low;
    if (own->low < own->high) {
      VirtualFree(address, size_bytes, MEM_DECOMMIT);
    } else {
      if (own->is_file) UnmapViewOfFile((void *)own->base);
      else VirtualFree((void *)own->base, 0, MEM_RELEASE);
      *own = state.reservations[--state.reservation_count];
    }
  }
  ReleaseSRWLockExclusive(&state.lock);
  return own ? 0 : -1;
}

/* Changes committed pages; the others get their protection when they are committed. */
static void protect_committed(uintptr_t low, uintptr_t high, DWORD protection) {
  MEMORY_BASIC_INFORMATION info;
  DWORD old;
  while (low < high && VirtualQuery((void *)low, &info, sizeof info)) {
    uintptr_t end = (uintptr_t)info.BaseAddress + info.RegionSize;
    if (end > high) end = high;
    if (info.State == MEM_COMMIT) VirtualProtect((void *)low, end - low, protection, &old);
    low = end;
  }
}

int mprotect(void *address, size_t size_bytes, int protection) {
  uintptr_t low = (uintptr_t)address, high = low + size_bytes;
  AcquireSRWLockExclusive(&state.lock);
  bool ok = true;
  if (protection == PROT_NONE) close_span(low, high);
  else ok = open_span(low, high, page_protection(protection));
  protect_committed(low, high, page_protection(protection));
  ReleaseSRWLockExclusive(&state.lock);
  if (!ok) errno = ENOMEM;
  return ok ? 0 : -1;
}

int madvise(void *address, size_t size_bytes, int advice) {
  bool ok = true;
  if (advice == MADV_DONTNEED) {
    ok = VirtualFree(address, size_bytes, MEM_DECOMMIT);
  } else if (advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE) {
    for (size_t k = 0; k < size_bytes; k += BLOCK) *(volatile char *)((char *)address + k);
  } else {
    ok = advice == MADV_HUGEPAGE; /* pages of 2 MiB would be for privileged processes */
  }
  return ok ? 0 : -1;
}

int mincore(void *address, size_t size_bytes, unsigned char *is_resident) {
  MEMORY_BASIC_INFORMATION info;
  uintptr_t low = (uintptr_t)address, page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (uintptr_t at = low; at < low + size_bytes; at += page)
    is_resident[(at - low) / page] =
        VirtualQuery((void *)at, &info, sizeof info) && info.State == MEM_COMMIT;
  return 0;
}
