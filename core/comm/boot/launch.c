/* launch.c - starts ranks as processes, watches them, and ends them together. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/boot/rendezvous.h"

enum { GRACE_MS = 5000, STEP_MS = 500 };

typedef struct Launch {
  Rendezvous server;
  pid_t processes[RENDEZVOUS_MAX_RANKS];
  int watches[RENDEZVOUS_MAX_RANKS]; /* pidfds; -1: the process has ended */
  int32_t running;
  int32_t exit_code;
  int64_t failed_ms, grace_ms; /* when the first rank failed; 0: none did */
  int last_signal;             /* the last signal sent to them */
  int signals;                 /* a signalfd */
} Launch;

/* -- begin ------------------------------------------------------------------------------------- */

/* This process's environment and three more variables; the caller frees it. */
static char **make_environment(Heap *heap, int32_t rank, int32_t ranks, int socket) {
  enum { ADDED = 3, BYTES = 40 };
  size_t count = 0;
  while (environ[count]) count++;
  char **all = heap_alloc(heap, (count + ADDED + 1) * sizeof *all + (size_t)ADDED * BYTES);
  if (!all) return NULL;
  char *text = (char *)(all + count + ADDED + 1);
  snprintf(text, BYTES, RENDEZVOUS_RANK "=%d", rank);
  snprintf(text + BYTES, BYTES, RENDEZVOUS_RANKS "=%d", ranks);
  snprintf(text + (size_t)2 * BYTES, BYTES, RENDEZVOUS_SOCKET "=%d", socket);
  for (size_t k = 0; k < ADDED; k++) all[k] = text + k * BYTES;
  /* the first of two variables with one name is used */
  memcpy(all + ADDED, environ, count * sizeof *all);
  return all;
}

/* If the launcher is killed, and cannot end the ranks itself, the system ends them. */
static void become_rank(int32_t rank, int socket, const sigset_t *mask, char *const *argv,
                        char *const *environment, pid_t starter) {
  fcntl(socket, F_SETFD, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != starter) _exit(1);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execve(argv[0], argv, environment);
  fprintf(stderr, "regolith: rank %d cannot run %s (%s)\n", rank, argv[0], strerror(errno));
  _exit(127);
}

static bool start_rank(Launch *all, int32_t rank, int32_t ranks, const sigset_t *mask,
                       char *const *argv, Error *err) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return error_set(err, RG_ERROR_RANK, "the system has no socket for rank %d (%s)", rank,
                     strerror(errno));
  char **environment = make_environment(all->server.heap, rank, ranks, pair[1]);
  pid_t starter = getpid(), process = environment ? fork() : -1;
  if (!process) become_rank(rank, pair[1], mask, argv, environment, starter);
  heap_free(all->server.heap, environment);
  close(pair[1]);
  all->server.members[rank] = (RendezvousMember){.socket = pair[0]};
  all->processes[rank] = process;
  all->watches[rank] = process > 0 ? pidfd_open(process, 0) : -1;
  if (all->watches[rank] >= 0) {
    all->running++;
    return true;
  }
  error_set(err, RG_ERROR_RANK, "the system cannot start a process for rank %d (%s)", rank,
            strerror(errno));
  if (process > 0) {
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
  }
  close(pair[0]);
  return false;
}

/* -- watch ------------------------------------------------------------------------------------- */

static void signal_all(Launch *all, int number) {
  for (int32_t k = 0; k < all->server.count; k++)
    if (all->watches[k] >= 0) kill(all->processes[k], number);
  all->last_signal = number;
}

static void note_failure(Launch *all, int32_t rank, int status) {
  char why[120];
  int32_t code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (WIFSIGNALED(status))
    snprintf(why, sizeof why, "rank %d was ended by signal %d (%s)", rank, WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else snprintf(why, sizeof why, "rank %d ended with exit code %d", rank, code);
  if (!all->failed_ms) {
    all->failed_ms = clock_ns() / 1000000;
    all->exit_code = code;
  }
  rendezvous_fail(&all->server, why);
}

static void note_end(Launch *all, int32_t rank) {
  int status = 0;
  if (waitpid(all->processes[rank], &status, WNOHANG) != all->processes[rank]) return;
  close(all->watches[rank]);
  all->watches[rank] = -1;
  all->running--;
  if (status) note_failure(all, rank, status);
  else rendezvous_note_left(&all->server, rank);
}

/* Passes a signal on, unless it is from the terminal, which signals all processes itself. */
static void pass_signal_on(Launch *all) {
  struct signalfd_siginfo info;
  if (read(all->signals, &info, sizeof info) != sizeof info) return;
  if (info.ssi_code != SI_KERNEL) signal_all(all, (int)info.ssi_signo);
}

/* Ends ranks that do not end by themselves after another one failed. */
static void end_remaining(Launch *all) {
  if (!all->failed_ms) return;
  int64_t since = clock_ns() / 1000000 - all->failed_ms;
  if (since >= 2 * all->grace_ms && all->last_signal != SIGKILL) signal_all(all, SIGKILL);
  else if (since >= all->grace_ms && !all->last_signal) signal_all(all, SIGTERM);
}

static void watch_ranks(Launch *all) {
  while (all->running || !rendezvous_is_over(&all->server)) {
    struct pollfd others[RENDEZVOUS_MAX_RANKS + 1] = {{.fd = all->signals, .events = POLLIN}};
    for (int32_t k = 0; k < all->server.count; k++)
      others[k + 1] = (struct pollfd){.fd = all->watches[k], .events = POLLIN};
    rendezvous_step(&all->server, others, all->server.count + 1, STEP_MS);
    if (others[0].revents) pass_signal_on(all);
    for (int32_t k = 0; k < all->server.count; k++)
      if (others[k + 1].revents && all->watches[k] >= 0) note_end(all, k);
    end_remaining(all);
    if (!all->running) break; /* a grandchild may still hold a socket */
  }
}

static bool start_and_watch(Launch *all, int32_t ranks, const sigset_t *mask, char *const *argv,
                            Error *err) {
  bool ok = true;
  for (int32_t k = 0; ok && k < ranks; k++) {
    all->server.count = k + 1;
    ok = start_rank(all, k, ranks, mask, argv, err);
  }
  if (!ok) {
    all->server.count--;
    signal_all(all, SIGKILL);
  }
  watch_ranks(all);
  return ok;
}

bool rendezvous_launch(Heap *heap, const RendezvousLaunch *launch, char *const *argv,
                       int32_t *exit_code, Error *err) {
  if (launch->ranks < 1 || launch->ranks > RENDEZVOUS_MAX_RANKS)
    return error_set(err, RG_ERROR_ARGUMENT, "ranks are 1 to %d, not %d", RENDEZVOUS_MAX_RANKS,
                     launch->ranks);
  Launch *all = heap_alloc(heap, sizeof *all);
  if (!all) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  rendezvous_init(&all->server, heap, NULL, 0, launch->patience_ms);
  all->server.is_watched = true;
  all->grace_ms = launch->grace_ms ? launch->grace_ms : GRACE_MS;
  sigset_t passed_on, before;
  sigemptyset(&passed_on);
  sigaddset(&passed_on, SIGINT);
  sigaddset(&passed_on, SIGTERM);
  sigaddset(&passed_on, SIGHUP);
  sigprocmask(SIG_BLOCK, &passed_on, &before);
  all->signals = signalfd(-1, &passed_on, SFD_CLOEXEC | SFD_NONBLOCK);
  bool ok = start_and_watch(all, launch->ranks, &before, argv, err);
  if (all->signals >= 0) close(all->signals);
  sigprocmask(SIG_SETMASK, &before, NULL);
  *exit_code = all->exit_code;
  rendezvous_deinit(&all->server);
  heap_free(heap, all);
  return ok;
}
