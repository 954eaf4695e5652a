/* team.c - see team.h. */
#include "team.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/boot/rendezvous.h"

static _Atomic int32_t *begun; /* of the team that runs: how many ranks have begun */

static void share_begun(void) {
  if (!begun)
    begun = mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (begun == MAP_FAILED) abort();
  *begun = 0;
}

static int be_rank(int32_t rank, int32_t ranks, int socket, RankWork *work, int64_t patience_ms) {
  Heap heap;
  Error err = {0};
  heap_init(&heap, 0);
  Boot *boot = boot_local(&heap, rank, ranks, socket, &err);
  Comm *comm = boot ? comm_open(&heap, boot, (uint64_t)4 << 30, &err) : NULL;
  if (!comm) {
    fprintf(stderr, "  rank %d: %s\n", rank, err.message);
    return 2;
  }
  if (patience_ms) comm->patience_ns = patience_ms * 1000000;
  ++*begun;
  int code = work(comm, &err);
  comm_close(comm);
  if (heap.live_bytes && !code) {
    fprintf(stderr, "  rank %d: %lld bytes are left\n", rank, (long long)heap.live_bytes);
    return 3;
  }
  return code;
}

TeamRun team_run(int32_t ranks, RankWork *work, int64_t patience_ms) {
  TeamRun run = {0};
  int sockets[16];
  pid_t children[16];
  int64_t began = clock_ns();
  share_begun();
  fflush(NULL);
  for (int32_t k = 0; k < ranks; k++) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) abort();
    children[k] = fork();
    if (!children[k]) {
      close(pair[0]);
      for (int32_t j = 0; j < k; j++) close(sockets[j]);
      int code = be_rank(k, ranks, pair[1], work, patience_ms);
      fflush(NULL);
      _exit(code);
    }
    close(pair[1]);
    sockets[k] = pair[0];
  }
  Heap heap;
  heap_init(&heap, 0);
  static Rendezvous server;
  rendezvous_init(&server, &heap, sockets, ranks, 0);
  while (!rendezvous_is_over(&server)) {
    rendezvous_step(&server, NULL, 0, 100);
    if (patience_ms && *begun == ranks) server.patience_ms = patience_ms;
  }
  rendezvous_deinit(&server);
  for (int32_t k = 0; k < ranks; k++) {
    int status = 0;
    waitpid(children[k], &status, 0);
    run.codes[k] = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  run.ms = (double)(clock_ns() - began) * 1e-6;
  return run;
}

bool team_is_well(const TeamRun *run, int32_t ranks) {
  for (int32_t k = 0; k < ranks; k++)
    if (run->codes[k]) return false;
  return true;
}
