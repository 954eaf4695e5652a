/* comm_test.c - collective calls of ranks, and what happens if a rank does not make them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "comm/header.h"
#include "comm/window/window.h"
#include "team.h"

/* -- gather, broadcast, reduce ----------------------------------------------------------------- */

static int gather_numbers(Comm *comm, Error *err) {
  for (uint64_t count = 0; count <= 3000; count = count * 3 + 1) {
    int64_t *mine = calloc(count + 1, sizeof *mine);
    int64_t *all = calloc((size_t)comm->size * count + 1, sizeof *all);
    for (uint64_t k = 0; k < count; k++) mine[k] = comm->rank * 100000 + (int64_t)k;
    RANK_OK(comm, err, comm_gather(comm, mine, count * sizeof *mine, all, err));
    for (uint64_t k = 0; k < count * (uint64_t)comm->size; k++)
      RANK_CHECK(comm, all[k] == (int64_t)(k / count) * 100000 + (int64_t)(k % count));
    free(mine);
    free(all);
  }
  return 0;
}

static int broadcast_bytes(Comm *comm, Error *err) {
  for (uint64_t size = 0; size < 3 * HEADER_BUFFER; size = size * 7 + 1)
    for (int32_t root = 0; root < comm->size; root++) {
      uint8_t *bytes = malloc(size + 1);
      memset(bytes, comm->rank + 1, size);
      RANK_OK(comm, err, comm_broadcast(comm, root, bytes, size, err));
      for (uint64_t k = 0; k < size; k++) RANK_CHECK(comm, bytes[k] == root + 1);
      free(bytes);
    }
  return 0;
}

static int reduce_whole_numbers(Comm *comm, Error *err) {
  for (uint64_t count = 0; count < 200000; count = count * 11 + 1) {
    int32_t *numbers = calloc(count + 1, sizeof *numbers);
    for (uint64_t k = 0; k < count; k++) numbers[k] = (int32_t)k + comm->rank;
    RANK_OK(comm, err, comm_reduce(comm, COMM_SUM, COMM_I32, numbers, count, err));
    int32_t ranks = comm->size, extra = ranks * (ranks - 1) / 2;
    for (uint64_t k = 0; k < count; k++) RANK_CHECK(comm, numbers[k] == (int32_t)k * ranks + extra);
    free(numbers);
  }
  int64_t most = comm->rank, least = comm->rank, product = comm->rank + 1, factorial = 1;
  for (int32_t k = 0; k < comm->size; k++) factorial *= k + 1;
  RANK_OK(comm, err, comm_reduce(comm, COMM_MAX, COMM_I64, &most, 1, err));
  RANK_OK(comm, err, comm_reduce(comm, COMM_MIN, COMM_I64, &least, 1, err));
  RANK_OK(comm, err, comm_reduce(comm, COMM_PRODUCT, COMM_I64, &product, 1, err));
  RANK_CHECK(comm, most == comm->size - 1 && least == 0 && product == factorial);
  return 0;
}

/* Numbers in windows, or on some ranks in other memory, or elsewhere in the window: one result. */
static int reduce_in_windows(Comm *comm, Error *err) {
  enum { COUNT = 30001, MOST = COUNT + 64 };
  Window *window = window_create(comm, MOST * sizeof(float), 0, err);
  RANK_OK(comm, err, window);
  float *other = calloc(MOST, sizeof *other), *here = (float *)(void *)window->here;
  for (int turn = 0; turn < 40; turn++) {
    bool is_elsewhere = turn % 4 == 1 && comm->rank == comm->size - 1, is_other = turn % 4 == 2;
    float *numbers = is_other && comm->rank ? other : here + (is_elsewhere ? 8 : turn % 4);
    float expected = 0;
    for (int32_t k = 0; k < comm->size; k++) expected += k == 1 ? 1e8f : 1.25f * (float)(k + 1);
    for (int k = 0; k < COUNT; k++)
      numbers[k] = comm->rank == 1 ? 1e8f : 1.25f * (float)(comm->rank + 1);
    numbers[COUNT] = -1;
    if ((turn + comm->rank) % 3 == 0) usleep(50);
    RANK_OK(comm, err, comm_reduce(comm, COMM_SUM, COMM_F32, numbers, COUNT, err));
    for (int k = 0; k < COUNT; k++) RANK_CHECK(comm, numbers[k] == expected);
    RANK_CHECK(comm, numbers[COUNT] == -1);
  }
  /* memory that was freed under its window, and is in use again */
  void *at = window->here;
  window_unmap(at, MOST * sizeof(float));
  here = mmap(at, MOST * sizeof(float), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  RANK_CHECK(comm, (void *)here == at);
  for (int k = 0; k < COUNT; k++) here[k] = (float)(k + comm->rank);
  RANK_OK(comm, err, comm_reduce(comm, COMM_MAX, COMM_F32, here, COUNT, err));
  for (int k = 0; k < COUNT; k++) RANK_CHECK(comm, here[k] == (float)(k + comm->size - 1));
  RANK_OK(comm, err, window_free(window, err));
  munmap(at, MOST * sizeof(float));
  free(other);
  return 0;
}

/* Floats are added in the order of ranks, whichever rank is first: 1e8 is added before the numbers
 * that it absorbs. */
static int reduce_in_order(Comm *comm, Error *err) {
  for (int turn = 0; turn < 200; turn++)
    for (uint64_t count = 1; count <= 20000; count *= 20000) {
      float *numbers = calloc(count, sizeof *numbers), expected = 0;
      for (int32_t k = 0; k < comm->size; k++) expected += k == 1 ? 1e8f : 1.25f * (float)(k + 1);
      for (uint64_t k = 0; k < count; k++)
        numbers[k] = comm->rank == 1 ? 1e8f : 1.25f * (float)(comm->rank + 1);
      if ((turn + comm->rank) % 3 == 0) usleep(50);
      RANK_OK(comm, err, comm_reduce(comm, COMM_SUM, COMM_F32, numbers, count, err));
      for (uint64_t k = 0; k < count; k++) RANK_CHECK(comm, numbers[k] == expected);
      free(numbers);
    }
  return 0;
}

/* -- barriers ---------------------------------------------------------------------------------- */

/* Each rank writes the number of the round before the barrier, in its own memory and in that of
 * others; after the barrier all see both. */
static uint32_t turns = 20000; /* or the program's argument: 10000000 takes a while */

static volatile uint32_t *word_of(const Comm *comm, int32_t rank, uint32_t turn) {
  return (volatile uint32_t *)(void *)comm_header(comm, rank)->buffer[turn & 1];
}

static int pass_messages(Comm *comm, Error *err) {
  comm->epoch = UINT32_MAX - turns / 2; /* epochs wrap on the way */
  for (int32_t k = 0; k < comm->size; k++)
    atomic_store(&comm->own->slots[k].arrival, (uint64_t)comm->epoch << 32);
  RANK_OK(comm, err, comm_gather(comm, NULL, 0, NULL, err));
  for (uint32_t turn = 1; turn <= turns; turn++) {
    for (int32_t k = 0; k < comm->size; k++) word_of(comm, k, turn)[comm->rank + 1] = turn;
    word_of(comm, comm->rank, turn)[0] = turn;
    RANK_OK(comm, err, comm_barrier(comm, err));
    for (int32_t k = 0; k < comm->size; k++) {
      RANK_CHECK(comm, word_of(comm, k, turn)[0] == turn);
      RANK_CHECK(comm, word_of(comm, comm->rank, turn)[k + 1] == turn);
    }
  }
  return 0;
}

/* -- parcels ----------------------------------------------------------------------------------- */

/* Each rank sends two messages of different sizes to every rank, itself included, round after
 * round. */
static int trade_parcels(Comm *comm, Error *err) {
  enum { MOST = 8, TURNS = 5 };
  int64_t sent[2 * MOST][40], came[2 * MOST][40];
  Parcel out[2 * MOST], in[2 * MOST];
  int32_t count = 2 * comm->size;
  for (int turn = 0; turn < TURNS; turn++) {
    for (int32_t k = 0; k < count; k++) {
      int32_t other = k % comm->size, second = k / comm->size;
      out[k] = (Parcel){other, sent[k], 8 * (uint64_t)(1 + comm->rank + 2 * other + second + turn)};
      in[k] = (Parcel){other, came[k], 8 * (uint64_t)(1 + other + 2 * comm->rank + second + turn)};
      for (int j = 0; j < 40; j++) sent[k][j] = 10000 * comm->rank + 1000 * second + turn;
    }
    RANK_OK(comm, err, comm_trade(comm, out, count, in, count, err));
    for (int32_t k = 0; k < count; k++)
      for (uint64_t j = 0; j < in[k].size_bytes / 8; j++)
        RANK_CHECK(comm, came[k][j] == 10000 * in[k].rank + 1000 * (k / comm->size) + turn);
  }
  RANK_OK(comm, err, comm_trade(comm, NULL, 0, NULL, 0, err));
  return 0;
}

/* Two messages that fill the buffers many times, of different sizes on each rank, and an empty one.
 * */
static int trade_large_parcels(Comm *comm, Error *err) {
  enum { MOST = 1500000, COUNT = 3 };
  static uint8_t sent[COUNT][MOST], came[COUNT][MOST];
  int32_t next = (comm->rank + 1) % comm->size, before = (comm->rank + comm->size - 1) % comm->size;
  for (int turn = 0; turn < 3; turn++) {
    Parcel out[COUNT], in[COUNT];
    for (int k = 0; k < COUNT; k++) {
      uint64_t base = k == 1 ? 0 : 700001u * (uint64_t)(turn + k) / 3;
      memset(sent[k], 50 * turn + 10 * k + comm->rank, MOST);
      memset(came[k], 255, MOST);
      out[k] = (Parcel){next, sent[k], base ? base + 1001u * (uint64_t)comm->rank : 0};
      in[k] = (Parcel){before, came[k], base ? base + 1001u * (uint64_t)before : 0};
    }
    RANK_OK(comm, err, comm_trade(comm, out, COUNT, in, COUNT, err));
    for (int k = 0; k < COUNT; k++)
      for (uint64_t j = 0; j < MOST; j++)
        RANK_CHECK(comm, came[k][j] == (j < in[k].size_bytes ? 50 * turn + 10 * k + before : 255));
  }
  return 0;
}

/* One rank has more messages than a buffer can list. */
static int trade_many_parcels(Comm *comm, Error *err) {
  enum { MANY = 5000 };
  static int32_t sent[MANY], came[MANY];
  static Parcel out[MANY], in[MANY];
  for (int k = 0; k < MANY; k++) {
    sent[k] = 7 * k;
    out[k] = (Parcel){1, &sent[k], sizeof *sent};
    in[k] = (Parcel){0, &came[k], sizeof *came};
  }
  int32_t outs = comm->rank == 0 ? MANY : 0, ins = comm->rank == 1 ? MANY : 0;
  RANK_OK(comm, err, comm_trade(comm, out, outs, in, ins, err));
  for (int k = 0; k < ins; k++) RANK_CHECK(comm, came[k] == 7 * k);
  return 0;
}

/* -- what goes wrong --------------------------------------------------------------------------- */

static bool says(const Error *err, const char *part) { return strstr(err->message, part) != NULL; }

static int call_differently(Comm *comm, Error *err) {
  int32_t number = 0;
  bool ok = comm->rank == 1 ? comm_reduce(comm, COMM_SUM, COMM_I32, &number, 1, err)
                            : comm_barrier(comm, err);
  RANK_CHECK(comm, !ok && says(err, "the same calls") && says(err, "'barrier'"));
  *err = (Error){0};
  RANK_CHECK(comm, !comm_barrier(comm, err) && says(err, "the same calls"));
  return 0;
}

static int gather_while_others_wait(Comm *comm, Error *err) {
  bool ok = comm->rank == 0 ? comm_gather(comm, NULL, 0, NULL, err) : comm_barrier(comm, err);
  RANK_CHECK(comm, !ok && says(err, "the same calls") && says(err, "'gather'"));
  return 0;
}

static int gather_other_sizes(Comm *comm, Error *err) {
  int64_t mine[4] = {0}, all[16];
  bool ok = comm_gather(comm, mine, comm->rank == 1 ? 8 : 16, all, err);
  RANK_CHECK(comm, !ok && says(err, "16 bytes on rank 0") && says(err, "8 on rank 1"));
  *err = (Error){0};
  RANK_OK(comm, err, comm_gather(comm, mine, 8, all, err)); /* and all goes on */
  return 0;
}

static int reduce_other_counts(Comm *comm, Error *err) {
  int32_t numbers[8] = {0};
  bool ok = comm_reduce(comm, COMM_SUM, COMM_I32, numbers, comm->rank ? 8 : 4, err);
  RANK_CHECK(comm, !ok && says(err, "rank 1"));
  *err = (Error){0};
  RANK_OK(comm, err, comm_reduce(comm, COMM_SUM, COMM_I32, numbers, 8, err));
  return 0;
}

static int send_other_sizes(Comm *comm, Error *err) {
  int64_t bytes[4] = {0};
  Parcel out = {1 - comm->rank, bytes, comm->rank ? 16 : 8}, in = {1 - comm->rank, bytes, 8};
  bool ok = comm_trade(comm, &out, 1, &in, 1, err);
  RANK_CHECK(comm, !ok && says(err, "rank 0 awaits a parcel of 8 bytes from rank 1"));
  *err = (Error){0};
  out.size_bytes = 8;
  RANK_OK(comm, err, comm_trade(comm, &out, 1, &in, 1, err)); /* and all goes on */
  return 0;
}

static int reduce_in_another_way(Comm *comm, Error *err) {
  int32_t number = 0;
  bool ok = comm_reduce(comm, comm->rank ? COMM_SUM : COMM_MAX, COMM_I32, &number, 1, err);
  RANK_CHECK(comm, !ok && says(err, "rank 1"));
  return 0;
}

/* Every collective call, by number. */
static bool call_number(int call, Comm *comm, Error *err) {
  static double numbers[20000], all[20000];
  Parcel out = {(comm->rank + 1) % comm->size, numbers, 80},
         in = {(comm->rank + comm->size - 1) % comm->size, all, 80};
  switch (call) {
  case 0: return comm_barrier(comm, err);
  case 1: return comm_gather(comm, numbers, 80, all, err);
  case 2: return comm_broadcast(comm, 0, numbers, sizeof numbers, err);
  case 3: return comm_broadcast(comm, 1, numbers, 80, err);
  case 4: return comm_reduce(comm, COMM_SUM, COMM_F64, numbers, 1, err);
  case 5: return comm_reduce(comm, COMM_SUM, COMM_F64, numbers, 20000, err);
  case 6: return comm_trade(comm, &out, 1, &in, 1, err);
  case 7: return window_create(comm, 1 << 16, 0, err) != NULL;
  default: return window_free(comm->windows, err);
  }
}
enum { CALLS_TOGETHER = 9 };

static int call, way; /* the call of the others, and how rank 1 has ended by then */
enum { WAY_KILLED, WAY_LEFT, WAY_EXITED, WAYS };

static int go_before_a_call(Comm *comm, Error *err) {
  uint8_t *here = NULL;
  Window *window = window_create(comm, 1 << 16, 0, err);
  RANK_CHECK(comm, window);
  here = window->here;
  if (comm->rank == 1) {
    if (way == WAY_KILLED) raise(SIGKILL);
    if (way == WAY_EXITED) exit(0);
    window_unmap(here, 1 << 16);
    return 0;
  }
  RANK_CHECK(comm, !call_number(call, comm, err) && says(err, "rank 1 ended"));
  window_unmap(here, 1 << 16);
  return 0;
}

enum { PATIENCE_MS = 1000, LONG_PATIENCE_MS = 600000 };
static _Atomic int *came, *gave_up; /* of all ranks: how many are about to wait, waited in vain */

/* Rank 1 calls after the others have given up, which do so at the same time, however long that
 * takes. */
static void come_late_or_together(const Comm *comm) {
  const _Atomic int *count = comm->rank == 1 ? gave_up : came;
  if (comm->rank != 1) ++*came;
  for (int k = 0; k < 600000 && *count < comm->size - 1; k++) usleep(1000);
}

/* On a busy machine another rank may be late, too: "ranks 1 and 2 did not reach". */
static bool names_late_rank_1(const Error *err) {
  return says(err, "rank 1 did not reach") || says(err, "ranks 1 and 2 did not reach") ||
         says(err, "ranks 0 and 1 did not reach");
}

static int stay_away(Comm *comm, Error *err) {
  come_late_or_together(comm);
  bool ok = comm_gather(comm, NULL, 0, NULL, err);
  ++*gave_up;
  RANK_CHECK(comm, !ok && names_late_rank_1(err));
  return 0;
}

static int stay_away_from_a_barrier(Comm *comm, Error *err) {
  come_late_or_together(comm);
  if (comm->rank == 1) comm_barrier(comm, err); /* all have been there; and nobody goes on */
  bool ok = comm_barrier(comm, err);
  ++*gave_up;
  RANK_CHECK(comm, !ok && names_late_rank_1(err));
  return 0;
}

static int abandon(Comm *comm, Error *err) {
  if (comm->rank == 2) {
    comm_abort(comm, "the pressure is not finite");
    return 0;
  }
  RANK_CHECK(comm, !comm_barrier(comm, err) && says(err, "rank 2 failed: the pressure is not"));
  return 0;
}

/* -- the list ---------------------------------------------------------------------------------- */

static void run(int32_t ranks, RankWork *work, int64_t patience_ms) {
  TeamRun run = team_run(ranks, work, patience_ms);
  CHECK(team_is_well(&run, ranks));
}

/* On one team of all, on teams of two, and on teams of one. */
static void run_in_teams(RankWork *work) {
  run(2, work, 0);
  run(4, work, 0);
  setenv("RG_LSA_SIZE", "2", 1);
  run(4, work, 0);
  setenv("RG_LSA_SIZE", "1", 1);
  run(3, work, 0);
  unsetenv("RG_LSA_SIZE");
}

static void check_one_gone(void) {
  for (call = 0; call < CALLS_TOGETHER; call++)
    for (way = 0; way < WAYS; way++) {
      TeamRun run = team_run(3, go_before_a_call, LONG_PATIENCE_MS);
      CHECK_INT(run.codes[0], 0);
      CHECK_INT(run.codes[1], way == WAY_KILLED ? 128 + SIGKILL : 0);
      CHECK_INT(run.codes[2], 0);
      CHECK(run.ms < LONG_PATIENCE_MS);
    }
}

static int32_t team_of(const char *hosts, int32_t most) {
  uint64_t numbers[16];
  int32_t count = (int32_t)strlen(hosts);
  for (int32_t k = 0; k < count; k++) numbers[k] = (uint64_t)hosts[k];
  return comm_team_size(numbers, count, most);
}

int main(int argc, char **argv) {
  if (argc > 1) turns = (uint32_t)atol(argv[1]);
  TEST("a team is as large as divides every run of ranks on one host") {
    CHECK_INT(team_of("aaaabbbb", 0), 4);
    CHECK_INT(team_of("aaaabb", 0), 2);
    CHECK_INT(team_of("aaabb", 0), 1);
    CHECK_INT(team_of("ab", 0), 1);
    CHECK_INT(team_of("abab", 0), 1);
    CHECK_INT(team_of("aaaa", 2), 2);
    CHECK_INT(team_of("a", 0), 1);
    static const uint64_t one_host[600];
    CHECK_INT(comm_team_size(one_host, 600, 0), 200);
    CHECK_INT(comm_team_size(one_host, 512, 0), 256);
    CHECK_INT(comm_team_size(one_host, 257, 0), 1);
  }
  TEST("each rank gets the parts of all, in order") run_in_teams(gather_numbers);
  TEST("a broadcast sends the bytes of one rank to all") run_in_teams(broadcast_bytes);
  TEST("integers of all ranks are combined") run_in_teams(reduce_whole_numbers);
  TEST("floats are added in the order of ranks, each time") run_in_teams(reduce_in_order);
  TEST("numbers in windows are combined in place") run_in_teams(reduce_in_windows);
  TEST("writes before a barrier are visible after it, also when epochs wrap") {
    run(2, pass_messages, 0);
    run(4, pass_messages, 0);
  }
  TEST("ranks that make different calls all get an error") run(3, call_differently, 0);
  TEST("ranks that make different calls get an error, also when one asks the server and the others "
       "wait") {
    run(3, gather_while_others_wait, 0);
  }
  TEST("different sizes are an error on all ranks, which then continue") {
    run(2, gather_other_sizes, 0);
    run(3, reduce_other_counts, 0);
  }
  TEST("messages reach every rank") run_in_teams(trade_parcels);
  TEST("large messages, and very many of them, reach every rank") {
    run_in_teams(trade_large_parcels);
    run(3, trade_many_parcels, 0);
  }
  TEST("a message of another size than expected is an error on all ranks")
  run(2, send_other_sizes, 0);
  TEST("different operators are an error on all ranks, within teams and between them") {
    run(3, reduce_in_another_way, 0);
    setenv("RG_LSA_SIZE", "1", 1);
    run(3, reduce_in_another_way, 0);
    unsetenv("RG_LSA_SIZE");
  }
  TEST("a rank that is killed, leaves or exits ends the others' waiting in any call") {
    check_one_gone();
    setenv("RG_LSA_SIZE", "1", 1);
    check_one_gone();
    unsetenv("RG_LSA_SIZE");
  }
  TEST("a rank that is late is named") {
    came = mmap(NULL, 2 * sizeof *came, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    gave_up = came + 1;
    run(3, stay_away, PATIENCE_MS);
    *came = *gave_up = 0;
    run(3, stay_away_from_a_barrier, PATIENCE_MS);
  }
  TEST("a rank that aborts tells the others why") run(3, abandon, 0);
  return check_report();
}
