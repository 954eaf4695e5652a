/* nccl.c - a stub of NCCL: the entry points that Regolith calls, for processes of one machine,
 * which copy through a file. Calls are synchronous, sums are computed from the last rank to the
 * first, so that their order is observable, and two ranks on one GPU are refused, as NCCL does by
 * default. Environment: NCCL_FAKE_VERSION; NCCL_FAKE_FAIL=init, reduce: the calls that fail on
 * rank 1; id: fails on rank 0; NCCL_FAKE_SAY=1: prints each call to stderr. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  SUCCESS = 0,
  SYSTEM_ERROR = 2,
  INVALID_ARGUMENT = 4,
  INVALID_USAGE = 5,
  REMOTE_ERROR = 6,
  IN_PROGRESS = 7
};
enum { RANKS = 16, PART = 1 << 20 };

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuStreamSynchronize(void *stream);
int cuCtxGetDevice(int *device);
int cuDeviceGetUuid_v2(char *bytes, int device);

typedef struct Id {
  char path[128];
} Id;
typedef struct Config {
  size_t size;
  unsigned magic, version;
  int blocking;
} Config;

typedef struct Shared {
  _Atomic int begun, ended, came, epoch, is_broken;
  char devices[RANKS][16];
  char parts[RANKS][PART];
} Shared;
typedef struct Comm {
  Shared *shared;
  int rank, ranks;
} Comm;

static int version(void) {
  const char *text = getenv("NCCL_FAKE_VERSION");
  return text ? atoi(text) : 22304;
}
static int fails(const char *what, int rank) {
  const char *text = getenv("NCCL_FAKE_FAIL");
  return rank == 1 && text && !strcmp(text, what);
}
static void say(const char *what, size_t count) {
  if (getenv("NCCL_FAKE_SAY")) fprintf(stderr, "nccl: %s %zu\n", what, count);
}

/* 0: all ranks have arrived; otherwise a rank has given up. */
static int meet(Comm *comm) {
  Shared *shared = comm->shared;
  int epoch = atomic_load(&shared->epoch);
  if (atomic_fetch_add(&shared->came, 1) + 1 == comm->ranks) {
    atomic_store(&shared->came, 0);
    atomic_fetch_add(&shared->epoch, 1);
    return 0;
  }
  while (atomic_load(&shared->epoch) == epoch) {
    if (atomic_load(&shared->is_broken)) return 1;
    sched_yield();
  }
  return 0;
}

/* -- begin and end ----------------------------------------------------------------------------- */

EXPORT int ncclGetVersion(int *number) {
  *number = version();
  return SUCCESS;
}

EXPORT int ncclGetUniqueId(Id *id) {
  const char *failing = getenv("NCCL_FAKE_FAIL");
  if (failing && !strcmp(failing, "id")) return SYSTEM_ERROR;
  strcpy(id->path, "/tmp/nccl-XXXXXX");
  int file = mkstemp(id->path);
  if (file < 0 || ftruncate(file, sizeof(Shared))) return SYSTEM_ERROR;
  close(file);
  return SUCCESS;
}

EXPORT int ncclCommAbort(Comm *comm) {
  say("abort", 0);
  atomic_store(&comm->shared->is_broken, 1);
  munmap(comm->shared, sizeof *comm->shared);
  free(comm);
  return SUCCESS;
}
EXPORT int ncclCommFinalize(Comm *comm) { /* once all ranks call it, or none waits any more */
  atomic_fetch_add(&comm->shared->ended, 1);
  return IN_PROGRESS;
}
EXPORT int ncclCommDestroy(Comm *comm) {
  say("destroy", 0);
  munmap(comm->shared, sizeof *comm->shared);
  free(comm);
  return SUCCESS;
}

static int is_told_to_share(void) {
  const char *text = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return version() >= 23000 && text && !strcmp(text, "1");
}

EXPORT int ncclCommInitRankConfig(Comm **out, int ranks, Id id, int rank, const Config *config) {
  int device;
  if (config->magic != 0xcafebeef || config->blocking || ranks > RANKS) return INVALID_ARGUMENT;
  int file = open(id.path, O_RDWR | O_CLOEXEC);
  Shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || shared == MAP_FAILED || cuCtxGetDevice(&device)) return SYSTEM_ERROR;
  close(file);
  if (fails("init", rank)) {
    atomic_store(&shared->is_broken, 1);
    return SYSTEM_ERROR;
  }
  cuDeviceGetUuid_v2(shared->devices[rank], device);
  if (atomic_fetch_add(&shared->begun, 1) + 1 == ranks) unlink(id.path);
  Comm *comm = malloc(sizeof *comm);
  if (!comm) return SYSTEM_ERROR;
  *comm = (Comm){shared, rank, ranks};
  *out = comm;
  return IN_PROGRESS;
}

static int state_of(Comm *comm) {
  Shared *shared = comm->shared;
  if (atomic_load(&shared->is_broken)) return REMOTE_ERROR;
  int ended = atomic_load(&shared->ended);
  if (atomic_load(&shared->begun) < comm->ranks || (ended && ended < comm->ranks))
    return IN_PROGRESS;
  for (int k = 0; k < comm->ranks && !is_told_to_share(); k++)
    if (k != comm->rank && !memcmp(shared->devices[k], shared->devices[comm->rank], 16))
      return INVALID_USAGE;
  return SUCCESS;
}
EXPORT int ncclCommGetAsyncError(Comm *comm, int *state) {
  *state = state_of(comm);
  return SUCCESS;
}

/* -- use --------------------------------------------------------------------------------------- */

#define COMBINE(TYPE, AS) \
  do { \
    TYPE *a = to; \
    const TYPE *b = from; \
    for (size_t k = 0; k < count; k++) \
      a[k] = op == 0   ? (TYPE)((AS)a[k] + (AS)b[k]) \
             : op == 1 ? (TYPE)((AS)a[k] * (AS)b[k]) \
             : op == 2 ? (a[k] > b[k] ? a[k] : b[k]) \
                       : (a[k] < b[k] ? a[k] : b[k]); \
  } while (0)

static void combine(void *to, const void *from, size_t count, int type, int op) {
  if (type == 2) COMBINE(int32_t, uint32_t);
  if (type == 4) COMBINE(int64_t, uint64_t);
  if (type == 7) COMBINE(float, float);
  if (type == 8) COMBINE(double, double);
}

static size_t size_of(int type) { return type < 2 ? 1 : type == 2 || type == 7 ? 4 : 8; }

/* root -1: of all ranks. */
static int part(Comm *comm, uint64_t from, uint64_t to, size_t count, int type, int op, int root) {
  static char sum[PART];
  size_t size = count * size_of(type);
  if (cuMemcpyDtoH_v2(comm->shared->parts[comm->rank], from, size) || meet(comm))
    return SYSTEM_ERROR;
  memcpy(sum, comm->shared->parts[root < 0 ? comm->ranks - 1 : root], size);
  for (int k = comm->ranks - 2; root < 0 && k >= 0; k--)
    combine(sum, comm->shared->parts[k], count, type, op);
  return meet(comm) || cuMemcpyHtoD_v2(to, sum, size) ? SYSTEM_ERROR : SUCCESS;
}

static int all(Comm *comm, uint64_t from, uint64_t to, size_t count, int type, int op, int root,
               void *stream) {
  if (cuStreamSynchronize(stream)) return SYSTEM_ERROR;
  if (fails("reduce", comm->rank)) {
    atomic_store(&comm->shared->is_broken, 1);
    return IN_PROGRESS; /* the communicator's state has the result */
  }
  for (size_t done = 0, now; done < count; done += now) {
    size_t most = PART / size_of(type), at = done * size_of(type);
    now = count - done < most ? count - done : most;
    if (part(comm, from + at, to + at, now, type, op, root)) return SYSTEM_ERROR;
  }
  return SUCCESS;
}

EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, Comm *comm,
                         void *stream) {
  say("all_reduce", count);
  return all(comm, (uintptr_t)from, (uintptr_t)to, count, type, op, -1, stream);
}
EXPORT int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, Comm *comm,
                         void *stream) {
  say("broadcast", count);
  return all(comm, (uintptr_t)from, (uintptr_t)to, count, type, 0, root, stream);
}
