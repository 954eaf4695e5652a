/* exchange.c - exchanges faces between ranks in a ring, in both directions: by windows (a barrier,
 * then copies from the neighbours' memory), by rg_comm_trade, and by MPI_Sendrecv, in turn, in one
 * run. Two buffers alternate, so one barrier is enough. Prints a row per size: bytes, and for each
 * method the least and the median microseconds of an exchange; then the times of collective calls:
 * barriers, and all_reduce of other memory and of a window. */
#include <mpi.h>
#include <regolith.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 21, MOST = 1 << 20 };

typedef struct Ring {
  RgRuntime *runtime;
  RgComm *comm;
  RgArray *arrays[2];
  RgWindow *windows[2];
  char *mine[2], *left[2], *right[2]; /* each a face to the left, then one to the right */
  char *halo;                         /* from the left, then from the right */
  int rank, size, previous, next;
  unsigned turn;
  int faults;
} Ring;

static void check(Ring *ring, RgStatus status) {
  if (!status) return;
  fprintf(stderr, "exchange: %s\n", rg_error(ring->runtime)->message);
  exit(1);
}

static void open_ring(Ring *ring) {
  RgError error;
  const int64_t count = 4 * MOST;
  if (rg_runtime_create(NULL, &ring->runtime, &error)) {
    fprintf(stderr, "exchange: %s\n", error.message);
    exit(1);
  }
  check(ring, rg_comm_open(ring->runtime, &ring->comm));
  ring->rank = rg_comm_rank(ring->comm);
  ring->size = rg_comm_size(ring->comm);
  ring->next = (ring->rank + 1) % ring->size;
  ring->previous = (ring->rank + ring->size - 1) % ring->size;
  ring->halo = calloc(4, MOST);
  int first, team;
  rg_comm_team(ring->comm, &first, &team);
  for (int k = 0; k < 2; k++) {
    void *at;
    check(ring, rg_array_create(ring->runtime, "u8", &count, 1, NULL, &ring->arrays[k]));
    check(ring, rg_comm_window(ring->comm, ring->arrays[k], &ring->windows[k]));
    check(ring, rg_array_pointer(ring->arrays[k], &at));
    ring->mine[k] = at;
    if (team < ring->size) continue; /* no windows on the others' */
    check(ring, rg_window_peer(ring->windows[k], ring->previous, &at));
    ring->left[k] = at;
    check(ring, rg_window_peer(ring->windows[k], ring->next, &at));
    ring->right[k] = at;
  }
}

/* What the neighbours should find: the turn, and who sent it. */
static char *stamp(Ring *ring, int size) {
  char *mine = ring->mine[++ring->turn & 1];
  unsigned words[2] = {ring->turn, (unsigned)ring->rank};
  memcpy(mine, words, sizeof words);
  memcpy(mine + size, words, sizeof words);
  return mine;
}

static void look(Ring *ring, int size) {
  unsigned left[2], right[2];
  memcpy(left, ring->halo, sizeof left);
  memcpy(right, ring->halo + size, sizeof right);
  ring->faults += left[0] != ring->turn || left[1] != (unsigned)ring->previous ||
                  right[0] != ring->turn || right[1] != (unsigned)ring->next;
}

static void by_window(Ring *ring, int size) {
  stamp(ring, size);
  unsigned k = ring->turn & 1;
  check(ring, rg_comm_barrier(ring->comm));
  memcpy(ring->halo, ring->left[k] + size, (size_t)size);
  memcpy(ring->halo + size, ring->right[k], (size_t)size);
  look(ring, size);
}

static void by_trade(Ring *ring, int size) {
  char *mine = stamp(ring, size);
  RgParcel out[2] = {{ring->previous, mine, size}, {ring->next, mine + size, size}};
  RgParcel in[2] = {{ring->next, ring->halo + size, size}, {ring->previous, ring->halo, size}};
  check(ring, rg_comm_trade(ring->comm, out, 2, in, 2));
  look(ring, size);
}

static void by_mpi(Ring *ring, int size) {
  char *mine = stamp(ring, size);
  MPI_Sendrecv(mine + size, size, MPI_BYTE, ring->next, 1, ring->halo, size, MPI_BYTE,
               ring->previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(mine, size, MPI_BYTE, ring->previous, 2, ring->halo + size, size, MPI_BYTE,
               ring->next, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  look(ring, size);
}

typedef void Way(Ring *ring, int size);
static double time_us(Ring *ring, Way *way, int size, int repeats) {
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime();
  for (int k = 0; k < repeats; k++) way(ring, size);
  return (MPI_Wtime() - began) * 1e6 / repeats;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_row(Ring *ring, int size, Way *const *ways, int count) {
  double times[3][ROUNDS] = {{0}};
  int repeats = size < 1 << 15 ? 400 : size < 1 << 19 ? 60 : 12;
  for (int round = -1; round < ROUNDS; round++)
    for (int k = 0; k < count; k++) {
      double us = time_us(ring, ways[k], size, repeats);
      if (round >= 0) times[k][round] = us;
    }
  if (ring->rank) return;
  printf("%8d", size);
  for (int k = 0; k < count; k++) {
    qsort(times[k], ROUNDS, sizeof(double), by_size);
    printf("  %9.2f %9.2f", times[k][0], times[k][ROUNDS / 2]);
  }
  printf("\n");
  fflush(stdout);
}

static void barrier(Ring *ring, int size) { check(ring, rg_comm_barrier(ring->comm)); }
static void reduce(Ring *ring, int size) {
  check(ring, rg_comm_reduce(ring->comm, "sum", "f64", ring->halo, size / 8));
}
static void reduce_window(Ring *ring, int size) {
  check(ring, rg_comm_reduce(ring->comm, "sum", "f64", ring->mine[0], size / 8));
}

int main(void) {
  static const int sizes[] = {8, 4096, 32768, 262144, MOST};
  Ring ring = {0};
  open_ring(&ring);
  Way *ways[3] = {by_mpi, by_trade, by_window}, *calls[3] = {barrier, reduce, reduce_window};
  int count = ring.left[0] ? 3 : 2;
  if (!ring.rank)
    printf("%d ranks; bytes a face; us an exchange, least and median: MPI_Sendrecv twice, "
           "rg_comm_trade%s\n",
           ring.size, count == 3 ? ", windows" : "");
  for (int k = 0; k < 5; k++) print_row(&ring, sizes[k], ways, count);
  memset(ring.halo, 0, 4 * MOST);
  memset(ring.mine[0], 0, 4 * MOST);
  if (!ring.rank) printf("bytes; us: barrier, all_reduce, all_reduce of a window\n");
  for (int size = 8; size <= 4 * MOST; size *= 8) print_row(&ring, size, calls, 3);
  if (ring.faults) fprintf(stderr, "exchange: %d halos were not what was sent\n", ring.faults);
  return ring.faults != 0;
}
