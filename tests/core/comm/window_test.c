/* window_test.c - memory of one rank, accessed by its peers. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "comm/window/window.h"
#include "team.h"

static const uint64_t mib = 1 << 20;

static uint8_t *reserve(uint64_t size_bytes) {
  return mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
}

static int count_files(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count;
}

static uint64_t next_number(uint64_t *state) {
  return *state = *state * 6364136223846793005u + 1442695040888963407u;
}

/* -- the same memory --------------------------------------------------------------------------- */

/* Three windows; each rank's contents are known to all, before and after they change. */
static int see_peers(Comm *comm, Error *err) {
  enum { WINDOWS = 3 };
  static const uint64_t sizes[WINDOWS] = {100, 3 << 20, 70000};
  uint64_t *memory[WINDOWS];
  Window *windows[WINDOWS];
  for (int w = 0; w < WINDOWS; w++) {
    memory[w] = (uint64_t *)(reserve(4 * mib) + 4096 * w + 8 * w);
    for (uint64_t k = 0; k < sizes[w] / 8; k += 7) memory[w][k] = (uint64_t)comm->rank * 1000 + k;
    windows[w] = window_open(comm, memory[w], sizes[w], 0, err);
    RANK_OK(comm, err, windows[w]);
  }
  for (int turn = 0; turn < 2; turn++) {
    for (int w = 0; w < WINDOWS; w++)
      for (int32_t rank = 0; rank < comm->size; rank++) {
        const uint64_t *peer = window_peer(windows[w], rank);
        RANK_CHECK(comm, peer);
        for (uint64_t k = 0; k < sizes[w] / 8; k += 7)
          RANK_CHECK(comm, peer[k] == (uint64_t)rank * 1000 + k + (uint64_t)turn);
      }
    RANK_OK(comm, err, comm_barrier(comm, err));
    if (turn) break;
    int32_t next = (comm->rank + 1) % comm->size; /* the next rank's, through its window */
    for (int w = 0; w < WINDOWS; w++)
      for (uint64_t k = 0; k < sizes[w] / 8; k += 7) {
        uint64_t number;
        RANK_OK(comm, err, window_get(windows[w], next, k * 8, &number, 8, err));
        number++;
        RANK_OK(comm, err, window_put(windows[w], next, k * 8, &number, 8, err));
      }
    RANK_OK(comm, err, comm_barrier(comm, err));
  }
  for (int w = 0; w < WINDOWS; w++) /* and this rank sees it where it always was */
    for (uint64_t k = 0; k < sizes[w] / 8; k += 7)
      RANK_CHECK(comm, memory[w][k] == (uint64_t)comm->rank * 1000 + k + 1);
  uint64_t offsets[WINDOWS], all[WINDOWS * 16];
  for (int w = 0; w < WINDOWS; w++) offsets[w] = windows[w]->offset;
  RANK_OK(comm, err, comm_gather(comm, offsets, sizeof offsets, all, err));
  for (int32_t k = 0; k < comm->size; k++)
    RANK_CHECK(comm, !memcmp(all + k * WINDOWS, offsets, sizeof offsets));
  for (int w = 0; w < WINDOWS; w++) RANK_OK(comm, err, window_free(windows[w], err));
  return 0;
}

/* A process that is not a rank sends files to one, two in each message, as if they came from rank
 * 0. */
static void send_as_a_stranger(Comm *comm) {
  struct {
    uint64_t number;
    int32_t rank;
  } letter = {0};
  struct sockaddr_un name;
  socklen_t length = sizeof name;
  int files[] = {memfd_create("a stranger's", 0), memfd_create("a stranger's", 0)};
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof files)];
  } control = {0};
  struct iovec part = {&letter, sizeof letter};
  struct msghdr message = {.msg_name = &name,
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  getsockname(comm->file_socket, (struct sockaddr *)&name, &length);
  message.msg_namelen = length;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  *head = (struct cmsghdr){CMSG_LEN(sizeof files), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(head), files, sizeof files);
  int sender = socket(AF_UNIX, SOCK_DGRAM, 0);
  for (int k = 0; k < 6; k++) {
    letter.number = comm->number + 1 + (uint64_t)k;
    sendmsg(sender, &message, MSG_DONTWAIT);
  }
}

static int pass_strangers_over(Comm *comm, Error *err) {
  int64_t *memory = (int64_t *)reserve(mib);
  memory[0] = 7 + comm->rank;
  int files = count_files();
  if (!fork()) {
    send_as_a_stranger(comm);
    _exit(0);
  }
  wait(NULL);
  Window *window = window_open(comm, memory, mib, 0, err);
  RANK_OK(comm, err, window);
  for (int32_t k = 0; k < comm->size; k++)
    RANK_CHECK(comm, *(int64_t *)window_peer(window, k) == 7 + k);
  RANK_OK(comm, err, window_free(window, err));
  RANK_CHECK(comm, count_files() == files);
  return 0;
}

static int open_in_teams(Comm *comm, Error *err) {
  int64_t *memory = (int64_t *)reserve(mib);
  memory[5] = comm->rank;
  Window *window = window_open(comm, memory, mib, 0, err);
  RANK_OK(comm, err, window);
  for (int32_t k = 0; k < comm->size; k++) {
    int64_t *peer = window_peer(window, k), number;
    RANK_CHECK(comm, (peer != NULL) == comm_is_peer(comm, k));
    if (peer) RANK_CHECK(comm, peer[5] == k);
    RANK_OK(comm, err, window_get(window, k, 40, &number, 8, err)); /* any, by its file */
    RANK_CHECK(comm, number == k);
  }
  int64_t hundred = 100 + comm->rank, next = (comm->rank + 1) % comm->size;
  RANK_OK(comm, err, window_put(window, (int32_t)next, mib - 8, &hundred, 8, err));
  RANK_CHECK(comm, !window_put(window, (int32_t)next, mib - 7, &hundred, 8, err) &&
                       strstr(err->message, "not all in a window"));
  *err = (Error){0};
  RANK_OK(comm, err, comm_barrier(comm, err));
  RANK_CHECK(comm, memory[mib / 8 - 1] == 100 + (comm->rank + comm->size - 1) % comm->size);
  RANK_OK(comm, err, window_free(window, err));
  return 0;
}

static int stay_inside(Comm *comm, Error *err) {
  int64_t *memory = (int64_t *)reserve(mib), number = 0;
  Window *window = window_open(comm, memory, 80, 0, err);
  RANK_OK(comm, err, window);
  RANK_CHECK(comm, !window_get(window, 0, 73, &number, 8, err) && strstr(err->message, "not all"));
  RANK_CHECK(comm, !window_put(window, 0, UINT64_MAX, &number, 8, NULL));
  RANK_OK(comm, err, window_put(window, 0, 72, &number, 8, err) || true);
  return 0;
}

/* A large range of which little is in memory stays so. */
static int share_sparse_memory(Comm *comm, Error *err) {
  uint64_t size = (uint64_t)3 << 30;
  uint8_t *memory = reserve(size);
  for (uint64_t at = 0; at < size; at += 64 * mib) memory[at + 123] = (uint8_t)(at / mib / 64 + 1);
  Window *window = window_open(comm, memory, size, 0, err);
  RANK_OK(comm, err, window);
  const uint8_t *peer = window_peer(window, (comm->rank + 1) % comm->size);
  for (uint64_t at = 0; at < size; at += 64 * mib)
    RANK_CHECK(comm, peer[at + 123] == (uint8_t)(at / mib / 64 + 1) && !peer[at + 5000]);
  RANK_CHECK(comm, arena_resident(memory, size) < 64 * mib);
  /* what is given up reads zero, to peers, too */
  RANK_OK(comm, err, comm_barrier(comm, err));
  arena_discard(memory, size);
  RANK_OK(comm, err, comm_barrier(comm, err));
  for (uint64_t at = 0; at < size; at += 64 * mib)
    RANK_CHECK(comm, !memory[at + 123] && !peer[at + 123]);
  return 0;
}

/* Contents are kept, although nobody accesses them between two windows, and although only a peer
 * wrote them; memory that was never written uses none meanwhile. */
static int open_again(Comm *comm, Error *err) {
  uint64_t size = (uint64_t)1 << 30;
  uint8_t *memory = reserve(size);
  for (uint64_t at = 0; at < size; at += 64 * mib) memory[at] = (uint8_t)(comm->rank + 1);
  for (int turn = 0; turn < 4; turn++) {
    Window *window = window_open(comm, memory, size, 0, err);
    RANK_OK(comm, err, window);
    uint8_t *next = window_peer(window, (comm->rank + 1) % comm->size);
    next[(uint64_t)(3 + turn) * mib] = (uint8_t)(10 + turn);
    if (turn % 2) {
      RANK_OK(comm, err, comm_barrier(comm, err) && window_free(window, err));
    } else {
      window_drop(window);
      RANK_OK(comm, err, comm_gather(comm, NULL, 0, NULL, err));
    }
  }
  for (uint64_t at = 0; at < size; at += 64 * mib)
    RANK_CHECK(comm, memory[at] == comm->rank + 1 && !memory[at + 5000]);
  for (int turn = 0; turn < 4; turn++)
    RANK_CHECK(comm, memory[(uint64_t)(3 + turn) * mib] == 10 + turn);
  RANK_CHECK(comm, arena_resident(memory, size) < 64 * mib);
  return 0;
}

static uint8_t *left; /* memory that was a window when its ranks closed */

static int leave_open(Comm *comm, Error *err) {
  left = reserve(16 * mib);
  left[5 * mib] = 7;
  RANK_OK(comm, err, window_open(comm, left, 16 * mib, 0, err));
  return 0;
}

static int find_again(Comm *comm, Error *err) {
  Window *window = window_open(comm, left, 16 * mib, 0, err);
  RANK_OK(comm, err, window);
  const uint8_t *here = window_peer(window, 0);
  RANK_CHECK(comm, arena_resident(left, 16 * mib) < mib);
  RANK_CHECK(comm, here[5 * mib] == 7 && left[5 * mib] == 7);
  return 0;
}

/* -- counting, looking ------------------------------------------------------------------------- */

static int open_twice(Comm *comm, Error *err) {
  int64_t *memory = (int64_t *)reserve(mib);
  Window *first = window_open(comm, memory, mib, 0, err);
  Window *second = window_open(comm, memory + 16, 800, 0, err);
  RANK_OK(comm, err, first && second);
  RANK_CHECK(comm, first->shared == second->shared && second->offset == first->offset + 128);
  RANK_OK(comm, err, window_free(first, err));
  memory[20] = comm->rank;
  RANK_OK(comm, err, comm_barrier(comm, err));
  for (int32_t k = 0; k < comm->size; k++)
    RANK_CHECK(comm, ((int64_t *)window_peer(second, k))[4] == k);
  RANK_OK(comm, err, window_free(second, err));
  RANK_CHECK(comm, !comm->shared->next); /* the headers alone */
  return 0;
}

/* New memory at the addresses of some that was freed, though it is a window. */
static int free_under_windows(Comm *comm, Error *err) {
  uint8_t *memory = reserve(mib);
  Window *old = window_open(comm, memory, mib, 0, err);
  RANK_OK(comm, err, old);
  void *again =
      mmap(memory, mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  RANK_CHECK(comm, again == memory);
  memory[7] = (uint8_t)(comm->rank + 1);
  Window *window = window_open(comm, memory, mib, 0, err);
  RANK_OK(comm, err, window && comm_barrier(comm, err));
  for (int32_t k = 0; k < comm->size; k++)
    RANK_CHECK(comm, ((uint8_t *)window_peer(window, k))[7] == k + 1);
  RANK_OK(comm, err, window_free(old, err) && window_free(window, err));
  RANK_CHECK(comm, memory[7] == comm->rank + 1 && !comm->shared->next);
  return 0;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* Pages of this process: resident, and mapped at all; a sanitizer keeps freed memory. */
static void count_pages(long *here, long *mapped) {
  *here = *mapped = 0;
#if !defined(__SANITIZE_ADDRESS__)
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file || fscanf(file, "%ld %ld", mapped, here) != 2) *here = *mapped = 0;
  if (file) fclose(file);
#endif
}

static int churns = 1000; /* or the program's argument: 100000 takes a while */

static int churn(Comm *comm, Error *err) {
  uint8_t *memory = reserve(mib);
  Window *window = window_open(comm, memory, mib, 0, err);
  RANK_OK(comm, err, window && window_free(window, err));
  int files = count_files(), cuts = comm->space.count;
  long here, mapped, here_now, mapped_now;
  count_pages(&here, &mapped);
  for (int k = 0; k < churns; k++) {
    window = window_open(comm, memory + k % 7, 5000, 0, err);
    RANK_OK(comm, err, window && window_free(window, err));
  }
  RANK_CHECK(comm, count_files() == files && comm->space.count == cuts);
  count_pages(&here_now, &mapped_now);
  RANK_CHECK(comm, here_now <= here + 100 && mapped_now <= mapped + 100);
  return 0;
}

static int look_up(Comm *comm, Error *err) {
  enum { COUNT = 40, BYTES = 1 << 20 };
  uint8_t *memory = reserve(BYTES);
  Window *windows[COUNT];
  uint64_t state = 7;
  /* all of them of the first's memory */
  for (int w = 0; w < COUNT; w++) {
    uint64_t at = w ? next_number(&state) % BYTES : 0;
    uint64_t size = w ? 1 + next_number(&state) % (BYTES - at) : BYTES;
    windows[w] = window_open(comm, memory + at, size, 0, err);
    RANK_OK(comm, err, windows[w]);
  }
  /* anywhere, and at each end of each */
  for (int k = 0; k < 20000; k++) {
    const uint8_t *at = memory + next_number(&state) % BYTES;
    const Window *edge = windows[k % COUNT];
    if (k < 4 * COUNT) at = edge->here - k / COUNT % 2 + (k < 2 * COUNT ? 0 : edge->size_bytes);
    Window *best = NULL;
    for (int w = 0; w < COUNT; w++)
      if (at >= windows[w]->here && at < windows[w]->here + windows[w]->size_bytes &&
          (!best || windows[w]->size_bytes <= best->size_bytes))
        best = windows[w];
    RANK_CHECK(comm, window_find(comm, at) == best);
  }
  RANK_CHECK(comm, !window_find(comm, memory + BYTES));
  return 0;
}

/* New memory, which stays when the window goes. */
static int make_new(Comm *comm, Error *err) {
  Window *window = window_create(comm, 5000, 0, err);
  RANK_OK(comm, err, window);
  uint8_t *here = window->here;
  for (int k = 0; k < 5000; k++) RANK_CHECK(comm, !here[k]);
  here[4999] = (uint8_t)(comm->rank + 1);
  RANK_OK(comm, err, comm_barrier(comm, err));
  for (int32_t k = 0; k < comm->size; k++)
    RANK_CHECK(comm, ((uint8_t *)window_peer(window, k))[4999] == k + 1);
  RANK_OK(comm, err, window_free(window, err));
  RANK_CHECK(comm, here[4999] == comm->rank + 1);
  window = window_open(comm, here, 5000, 0, err); /* and may become one again */
  RANK_OK(comm, err, window && ((uint8_t *)window_peer(window, 0))[4999] == 1);
  RANK_CHECK(comm, !window_open(comm, here - 4096, 8192, 0, err) &&
                       strstr(err->message, "contains a window"));
  *err = (Error){0};
  RANK_OK(comm, err, window_free(window, err));
  window_unmap(here, 5000);
  return 0;
}

/* -- what goes wrong --------------------------------------------------------------------------- */

static int declare_differently(Comm *comm, Error *err) {
  uint8_t *memory = reserve(mib);
  RANK_CHECK(comm, !window_open(comm, memory, comm->rank == 1 ? 64 : 4096, 0, err) &&
                       strstr(err->message, "64 on rank 1"));
  *err = (Error){0};
  RANK_CHECK(comm, !window_open(comm, memory, 4096, comm->rank == 1, err) &&
                       strstr(err->message, "declared differently on rank 1"));
  *err = (Error){0};
  RANK_CHECK(comm, !window_open(comm, memory + (comm->rank == 1 ? 8 : 0), 64, 0, err) &&
                       strstr(err->message, "different position in the memory of rank 1"));
  *err = (Error){0};
  RANK_CHECK(comm,
             !window_open(comm, memory, 0, 0, err) && strstr(err->message, "at least one byte"));
  *err = (Error){0};
  Window *window = window_open(comm, memory, 4096, 0, err); /* and all goes on */
  RANK_OK(comm, err, window);
  return 0;
}

static int do_not_fit(Comm *comm, Error *err) {
  uint64_t size = (uint64_t)5 << 30;
  uint8_t *memory = reserve(size);
  RANK_CHECK(comm,
             !window_open(comm, memory, size, 0, err) && strstr(err->message, "does not fit"));
  *err = (Error){0};
  RANK_OK(comm, err, window_open(comm, memory, mib, 0, err));
  return 0;
}

static int free_in_another_order(Comm *comm, Error *err) {
  uint8_t *memory = reserve(mib);
  Window *one = window_open(comm, memory, 4096, 0, err);
  Window *two = window_open(comm, memory + 8192, 4096, 0, err);
  RANK_OK(comm, err, one && two);
  RANK_CHECK(comm, !window_free(comm->rank ? one : two, err) &&
                       strstr(err->message, "declared differently"));
  *err = (Error){0};
  RANK_OK(comm, err, window_free(one, err));
  RANK_OK(comm, err, window_free(two, err));
  return 0;
}

/* A dropped window is freed in the first collective call after all ranks have dropped it. */
static int drop(Comm *comm, Error *err) {
  uint8_t *memory = reserve(mib);
  Window *window = window_open(comm, memory, 4096, 0, err);
  RANK_OK(comm, err, window);
  if (comm->rank == 0) window_drop(window);
  RANK_OK(comm, err, comm_gather(comm, NULL, 0, NULL, err));
  RANK_CHECK(comm, comm->windows == window);
  if (comm->rank != 0) window_drop(window);
  RANK_OK(comm, err, comm_gather(comm, NULL, 0, NULL, err));
  RANK_CHECK(comm, !comm->windows && !comm->shared->next);
  return 0;
}

static int die_while_opening(Comm *comm, Error *err) {
  if (comm->rank == 1) abort();
  uint8_t *memory = reserve(mib);
  RANK_CHECK(comm, !window_open(comm, memory, mib, 0, err) && strstr(err->message, "rank 1 ended"));
  return 0;
}

/* -- the list ---------------------------------------------------------------------------------- */

static void run(int32_t ranks, RankWork *work) {
  TeamRun run = team_run(ranks, work, 0);
  CHECK(team_is_well(&run, ranks));
}

static int alone(Heap *heap, RankWork *work) {
  Error err = {0};
  Comm *comm = comm_open(heap, boot_alone(heap, &err), 0, &err);
  int code = comm ? work(comm, &err) : 2;
  comm_close(comm);
  return code;
}

int main(int argc, char **argv) {
  if (argc > 1) churns = atoi(argv[1]);
  TEST("every rank sees every rank's window, and what is written through it") {
    run(2, see_peers);
    run(4, see_peers);
  }
  TEST("files from a process that is not a rank are ignored") run(3, pass_strangers_over);
  TEST("a process alone is a team of one") {
    Heap heap;
    heap_init(&heap, 0);
    CHECK_INT(alone(&heap, see_peers), 0);
    CHECK_INT(alone(&heap, look_up), 0);
    CHECK_INT(heap.live_bytes, 0);
  }
  TEST("a window is mapped in its team alone, and copied from and to everywhere") {
    setenv("RG_LSA_SIZE", "2", 1);
    run(4, open_in_teams);
    unsetenv("RG_LSA_SIZE");
  }
  TEST("nothing is read or written past a window's end") run(2, stay_inside);
  TEST("memory that was never written uses none, and discarded memory is zero on all ranks") {
    run(2, share_sparse_memory);
  }
  TEST("contents that nobody accesses between two windows are kept") run(2, open_again);
  TEST("windows that end with their ranks leave their contents") {
    Heap heap;
    heap_init(&heap, 0);
    CHECK_INT(alone(&heap, leave_open), 0);
    CHECK_INT(alone(&heap, find_again), 0);
    CHECK_INT(alone(&heap, find_again), 0);
  }
  TEST("windows of one memory share it, and count") run(2, open_twice);
  TEST("memory that was freed under its window is not confused with memory that reuses its "
       "address") {
    run(2, free_under_windows);
  }
  TEST("a thousand windows, one after the other, leak nothing") run(2, churn);
  TEST("a window of new memory is created on all ranks") run(3, make_new);
  TEST("the innermost window holds an address") run(1, look_up);
  TEST("windows that differ are refused on all ranks, which continue") run(3, declare_differently);
  TEST("a window that is too large is refused on all ranks") run(2, do_not_fit);
  TEST("windows are freed in the same order on all ranks") run(2, free_in_another_order);
  TEST("dropped windows wait for a collective call") run(3, drop);
  TEST("a rank that ends ends the others' opening") {
    TeamRun run = team_run(3, die_while_opening, 0);
    CHECK(!run.codes[0] && run.codes[1] && !run.codes[2] && run.ms < 50000);
  }
  return check_report();
}
