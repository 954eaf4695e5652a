/* mpi.c - a rank that MPI started: implements the boot's table with libregolith-mpi.so
 * (mpi_plugin.h). Calls wait in a loop of test, check_ranks and yield. A check receives notes from
 * other ranks, and detects processes of this host that end; so a wait ends when a rank is lost.
 *
 * A rank that leaves notifies rank 0, which notifies all when a rank waits for it. A rank that has
 * waited for a second sends all the number of its call, and ranks that wait, or are about to end,
 * answer: so mismatched calls are found, and finally the ranks that never answered are named. None
 * of this costs anything in the normal case. */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dynlib.h"
#include "base/option.h"
#include "comm/header.h"
#include "comm/boot/mpi.h"
#include "comm/window/share.h"
#include "comm/wait.h"
#include "thread/job.h"

enum { REQUEST_MS = 1000, GRACE_MS = 300, BEGIN_MS = 20000 };

static bool report_loss(const Mpi *mpi, Error *err) {
  return error_set(err, RG_ERROR_RANK, "%s", mpi->why);
}

static void notify_all(Mpi *mpi, MpiNote *note) {
  char why[MPI_WHY];
  for (int32_t k = 0; k < mpi->boot.size; k++)
    if (k != mpi->boot.rank) mpi->plugin->send_note(k, note, why);
}

/* Marks all ranks as lost: here and, if `notifies`, on the others. */
static bool mark_lost(Mpi *mpi, const char *sentence, bool notifies, Error *err) {
  if (!mpi->is_lost) {
    MpiNote note = {.kind = MPI_NOTE_LOST};
    snprintf(mpi->why, sizeof mpi->why, "%s", sentence);
    snprintf(note.text, sizeof note.text, "%s", sentence);
    mpi->is_lost = true;
    if (notifies) notify_all(mpi, &note);
  }
  return report_loss(mpi, err);
}

static bool fail_for_rank(Mpi *mpi, int32_t rank, const char *what) {
  char text[MPI_SENTENCE];
  snprintf(text, sizeof text, "rank %d %.370s", rank, what);
  return mark_lost(mpi, text, true, NULL);
}

/* -- detecting lost ranks ---------------------------------------------------------------------- */

static void request_calls(Mpi *mpi) {
  MpiNote note = {.kind = MPI_NOTE_DOING, .number = mpi->boot.doing};
  mpi->has_requested = true;
  notify_all(mpi, &note);
}

/* Compares the call in which another rank waits with this rank's, if this one waits, too. */
static bool compare_calls(Mpi *mpi, int32_t rank, uint64_t theirs) {
  uint64_t mine = mpi->boot.doing;
  mpi->peers[rank].doing = theirs;
  if (!mpi->began_ms) return true;
  if (!mpi->has_requested) request_calls(mpi);
  if (theirs / CALL_COUNT != mine / CALL_COUNT || theirs == mine) return true;
  char text[MPI_SENTENCE];
  snprintf(text, sizeof text,
           "ranks do not make the same calls: call %llu of rank %d is '%s', of rank %d '%s'",
           (unsigned long long)(mine / CALL_COUNT), mpi->boot.rank, call_words[mine % CALL_COUNT],
           rank, call_words[theirs % CALL_COUNT]);
  return mark_lost(mpi, text, true, NULL);
}

static bool handle_note(Mpi *mpi, int32_t rank, const MpiNote *note) {
  char what[80];
  switch ((MpiNoteKind)note->kind) {
  case MPI_NOTE_LOST: return mark_lost(mpi, note->text, false, NULL);
  case MPI_NOTE_DOING: return compare_calls(mpi, rank, note->number);
  case MPI_NOTE_ENDED:
    snprintf(what, sizeof what, "ended with exit code %d", note->code);
    return fail_for_rank(mpi, rank, what);
  case MPI_NOTE_FAREWELL:
    mpi->peers[rank].has_left = true;
    mpi->peers[rank].doing = note->number;
    return true;
  }
  return true;
}

static bool receive_notes(Mpi *mpi) {
  char why[MPI_WHY];
  MpiNote note;
  for (;;) {
    int32_t rank;
    if (!mpi->plugin->receive_note(&rank, &note, why)) return mark_lost(mpi, why, true, NULL);
    if (rank < 0) return true;
    if (rank >= mpi->boot.size || !handle_note(mpi, rank, &note)) return false;
  }
}

/* Has a rank left before the call in which this rank waits? */
static bool has_any_left(Mpi *mpi) {
  uint64_t call = mpi->boot.doing / CALL_COUNT;
  for (int32_t k = 0; mpi->began_ms && k < mpi->boot.size; k++)
    if (mpi->peers[k].has_left && mpi->peers[k].doing / CALL_COUNT < call)
      return !fail_for_rank(mpi, k, "ended, while others wait in a call that all ranks make");
  return false;
}

static bool has_process_ended(Mpi *mpi) {
  for (int32_t k = 0; k < mpi->boot.size; k++) {
    struct pollfd watch = {.fd = mpi->peers[k].watch, .events = POLLIN};
    if (watch.fd >= 0 && poll(&watch, 1, 0) > 0) return !fail_for_rank(mpi, k, "ended");
  }
  return false;
}

static bool check_ranks(Mpi *mpi) {
  return !mpi->is_lost && receive_notes(mpi) && !has_any_left(mpi) && !has_process_ended(mpi);
}

/* -- waiting ----------------------------------------------------------------------------------- */

/* Writes "rank 1" or "ranks 1 and 3": the ranks that, by their notes, do not wait in this call. */
static void name_late(const Mpi *mpi, char text[160]) {
  int32_t late = 0, done = 0;
  for (int32_t k = 0; k < mpi->boot.size; k++)
    late += k != mpi->boot.rank && mpi->peers[k].doing < mpi->boot.doing;
  int at = snprintf(text, 160, late == 1 ? "rank" : "ranks");
  for (int32_t k = 0; k < mpi->boot.size && at < 130; k++) {
    if (k == mpi->boot.rank || mpi->peers[k].doing >= mpi->boot.doing) continue;
    at += snprintf(text + at, 160 - (size_t)at, "%s%d",
                   !done             ? " "
                   : done < late - 1 ? ", "
                                     : " and ",
                   k);
    done++;
  }
  if (!late) snprintf(text, 160, "some rank");
}

static bool is_late(Mpi *mpi) {
  int64_t waited_ms = clock_ns() / 1000000 - mpi->began_ms;
  char who[160], text[MPI_SENTENCE];
  if (!mpi->has_requested && (waited_ms >= REQUEST_MS || waited_ms >= mpi->boot.patience_ms))
    request_calls(mpi);
  if (waited_ms < mpi->boot.patience_ms + GRACE_MS) return false;
  name_late(mpi, who);
  snprintf(text, sizeof text, "%s did not reach a call that all ranks make within %.3g s", who,
           (double)mpi->boot.patience_ms / 1000);
  return !mark_lost(mpi, text, true, NULL);
}

bool mpi_finish(Mpi *mpi, MpiWork *work, const char *why, Error *err) {
  char problem[MPI_WHY];
  bool is_done = false, ok = true;
  Wait wait = {0};
  if (!work) return mark_lost(mpi, why, true, err);
  mpi->has_requested = false;
  while (ok) {
    if (!mpi->plugin->test(work, &is_done, problem)) return mark_lost(mpi, problem, true, err);
    if (is_done) break;
    if (!wait_is_due(&wait)) continue;
    mpi->began_ms = wait.began_ns / 1000000;
    ok = check_ranks(mpi) && !is_late(mpi);
  }
  mpi->began_ms = 0;
  return ok || report_loss(mpi, err);
}

/* -- the table --------------------------------------------------------------------------------- */

bool mpi_check(Mpi *mpi, Error *err) { return check_ranks(mpi) || report_loss(mpi, err); }

bool mpi_fail(Mpi *mpi, const char *sentence, Error *err) {
  return mark_lost(mpi, sentence, true, err);
}

static bool gather(Boot *boot, const void *mine, uint64_t size_bytes, void *all, Error *err) {
  Mpi *mpi = (Mpi *)boot;
  char why[MPI_WHY];
  if (!mpi_check(mpi, err)) return false;
  return mpi_finish(mpi, mpi->plugin->gather(mine, size_bytes, all, why), why, err);
}

static bool maximum(Boot *boot, uint64_t *words, int32_t count, Error *err) {
  Mpi *mpi = (Mpi *)boot;
  char why[MPI_WHY];
  if (!mpi_check(mpi, err)) return false;
  return mpi_finish(mpi, mpi->plugin->maximum(words, count, why), why, err);
}

static bool check(Boot *boot, Error *err) { return mpi_check((Mpi *)boot, err); }

static void abort_all(Boot *boot, const char *why) {
  Mpi *mpi = (Mpi *)boot;
  char what[MPI_SENTENCE];
  snprintf(what, sizeof what, "failed: %.*s", MPI_SENTENCE - 40, why);
  if (!mpi->is_lost) fail_for_rank(mpi, boot->rank, what);
}

static void leave(Boot *boot) {
  Mpi *mpi = (Mpi *)boot;
  MpiNote note = {.kind = MPI_NOTE_FAREWELL, .number = boot->doing};
  char why[MPI_WHY];
  if (mpi->is_lost || mpi->has_left) return;
  mpi->has_left = true;
  if (boot->rank) mpi->plugin->send_note(0, &note, why);
  else notify_all(mpi, &note);
}

static void close_all(Boot *boot) {
  Mpi *mpi = (Mpi *)boot;
  leave(boot);
  for (int32_t k = 0; mpi->peers && k < boot->size; k++)
    if (mpi->peers[k].watch >= 0) close(mpi->peers[k].watch);
  mpi_forget_links(mpi);
  heap_free(boot->heap, mpi->peers);
  heap_free(boot->heap, mpi);
}

static const BootTable table = {.gather = gather,
                                .check = check,
                                .abort = abort_all,
                                .close = close_all,
                                .leave = leave,
                                .maximum = maximum,
                                .all_to_all = mpi_all_to_all,
                                .broadcast = mpi_broadcast,
                                .trade = mpi_trade,
                                .expose = mpi_expose,
                                .unexpose = mpi_unexpose,
                                .reach = mpi_reach};

/* -- begin ------------------------------------------------------------------------------------- */

/* A rank's host and process; this rank can watch processes of its own host. */
typedef struct Home {
  uint64_t host;
  int64_t process;
} Home;
static bool watch_all(Mpi *mpi, Error *err) {
  Home mine = {share_host(), getpid()};
  Home *homes = heap_alloc(mpi->boot.heap, (size_t)mpi->boot.size * sizeof *homes);
  if (!homes) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  bool ok = gather(&mpi->boot, &mine, sizeof mine, homes, err);
  for (int32_t k = 0; ok && k < mpi->boot.size; k++)
    if (k != mpi->boot.rank && homes[k].host == mine.host)
      mpi->peers[k].watch = pidfd_open((pid_t)homes[k].process, 0);
  heap_free(mpi->boot.heap, homes);
  return ok;
}

static const MpiPlugin *refuse_plugin(const char *problem, Error *err) {
  error_set(err, RG_ERROR_LIBRARY,
            "MPI started this process, but Regolith's MPI library cannot be opened: %s", problem);
  error_hint(err, "build Regolith where MPI's headers are (Debian: libopenmpi-dev), or start ranks "
                  "by `regolith run -n 4 script.lua`");
  return NULL;
}

/* The library is never closed, as MPI ends with the process. Its symbols are global, since parts of
 * Open MPI that are loaded later need them. */
static const MpiPlugin *open_plugin(Error *err) {
  char path[1024];
  Dl_info info;
  const char *option = option_text("RG_MPI");
  const char *slash =
      dladdr((void *)open_plugin, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
  if (*option) snprintf(path, sizeof path, "%s", option);
  else
    snprintf(path, sizeof path, "%.*slibregolith-mpi.so",
             slash ? (int)(slash - info.dli_fname + 1) : 0, slash ? info.dli_fname : "");
  const char *why;
  void *library = dynlib_open(path, RTLD_NOW | RTLD_GLOBAL, &why);
  if (!library) return refuse_plugin(why, err);
  MpiPluginEntry *entry;
  *(void **)&entry = dlsym(library, MPI_PLUGIN_ENTRY);
  if (!entry || entry()->version != MPI_PLUGIN_VERSION)
    return refuse_plugin("libregolith-mpi.so belongs to another version of Regolith", err);
  return entry();
}

/* Variables of Open MPI's mpirun; of MPICH, Intel MPI and Slurm; and of Slurm with PMIx. */
bool boot_is_mpi(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
  int last = getenv("PMIX_RANK") ? 3 : 2;
  for (int k = 0; k < last; k++)
    if (getenv(names[k])) return atoi(getenv(names[k])) > 1;
  return false;
}

/* MPI is initialised in a separate thread, which waits forever if some rank never starts: such a
 * thread is abandoned, with the data it uses. */
static struct MpiStart {
  const MpiPlugin *plugin;
  Heap heap;
  int32_t rank, size;
  bool is_ok;
  char why[MPI_WHY];
} mpi_start;

static void begin_job(void *unused) {
  (void)unused;
  mpi_start.is_ok = mpi_start.plugin->begin(&mpi_start.rank, &mpi_start.size, mpi_start.why);
}

static bool begin_mpi(const MpiPlugin *plugin, Error *err) {
  mpi_start.plugin = plugin;
  heap_init(&mpi_start.heap, 0);
  Job *job = job_start(&mpi_start.heap, begin_job, NULL);
  if (!job) return error_set(err, RG_ERROR_MEMORY, "the system has no thread left for MPI");
  int64_t began_ms = clock_ns() / 1000000, patience_ms = boot_patience_ms();
  if (patience_ms < BEGIN_MS) patience_ms = BEGIN_MS; /* MPI starts programs of its own */
  while (!job_is_done(job)) {
    if (clock_ns() / 1000000 - began_ms > patience_ms)
      return error_set(err, RG_ERROR_RANK, "not all ranks started MPI within %.3g s",
                       (double)patience_ms / 1000);
    usleep(500);
  }
  job_join(job);
  return mpi_start.is_ok ||
         error_set(err, RG_ERROR_RANK, "MPI could not be initialised: %s", mpi_start.why);
}

Boot *boot_mpi(Heap *heap, Error *err) {
  const MpiPlugin *plugin = open_plugin(err);
  Mpi *mpi = plugin ? heap_alloc(heap, sizeof *mpi) : NULL;
  if (!mpi) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left"); /* unless err is set */
    return NULL;
  }
  *mpi = (Mpi){.boot = {.table = &table, .heap = heap, .patience_ms = boot_patience_ms()},
               .plugin = plugin};
  bool ok = begin_mpi(plugin, err);
  mpi->boot.rank = mpi_start.rank;
  mpi->boot.size = mpi_start.size;
  mpi->peers = ok ? heap_alloc(heap, (size_t)mpi->boot.size * sizeof *mpi->peers) : NULL;
  for (int32_t k = 0; mpi->peers && k < mpi->boot.size; k++) mpi->peers[k] = (Peer){.watch = -1};
  if (mpi->peers && watch_all(mpi, err)) return &mpi->boot;
  error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  heap_free(heap, mpi->peers);
  heap_free(heap, mpi);
  return NULL;
}
