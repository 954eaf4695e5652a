/* nccl.c - see nccl.h. */
#include "comm/message/nccl.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dynlib.h"
#include "base/option.h"
#include "comm/header.h"

typedef struct NcclId {
  char bytes[128];
} NcclId;
/* ncclConfig_t of 2.14; later versions append members, and check `size`. */
typedef struct NcclConfig {
  size_t size;
  unsigned magic, version;
  int blocking;
} NcclConfig;

enum {
  MIN_VERSION = 21400, /* the first version with a non-blocking mode */
  SHARES_GPUS = 23000, /* the first version that, on request, accepts two ranks on one GPU */
  MAGIC = 0xcafebeef,
  IN_PROGRESS = 7, /* ncclResult_t */
  UINT8 = 1,       /* ncclDataType_t */
  CLOSE_MS = 2000  /* for other ranks that close at the same time */
};

typedef struct CommNccl {
  void *library;
#define NCCL(NAME, PARAMETERS) int(*NAME) PARAMETERS;
#include "comm/nccl.def"
#undef NCCL
  void *handle;      /* communicator of all ranks; NULL: not used */
  char why[160];     /* why it is not used */
  bool is_abandoned; /* the library stays open: it has threads, or its device ended first */
  char version[24];
} CommNccl;

/* What each rank announces about itself. */
typedef struct About {
  int32_t version; /* 0: no usable NCCL */
  int32_t shares;  /* NCCL is configured to accept two ranks on one GPU */
  uint8_t device[16];
} About;
_Static_assert(sizeof(About) <= CALL_BYTES, "a record carries it");

/* -- the library ------------------------------------------------------------------------------- */

static bool find_entries(CommNccl *nccl) {
  // clang-format off
  static const struct { const char *name; size_t place; } entries[] = {
#define NCCL(NAME, PARAMETERS) {#NAME, offsetof(CommNccl, NAME)},
#include "comm/nccl.def"
#undef NCCL
  };
  // clang-format on
  for (size_t k = 0; k < sizeof entries / sizeof *entries; k++) {
    void *entry = dlsym(nccl->library, entries[k].name);
    memcpy((char *)nccl + entries[k].place, &entry, sizeof entry);
    if (entry) continue;
    snprintf(nccl->why, sizeof nccl->why, "NCCL is too old: it has no %s", entries[k].name);
    return false;
  }
  return true;
}

/* Opens the library; returns its version, or 0, with nccl->why, if it is not to be used. */
static int open_library(CommNccl *nccl) {
  const char *path = option_text("RG_NCCL_LIBRARY");
  int version = 0;
  if (option_has_word("RG_NCCL", "off")) {
    snprintf(nccl->why, sizeof nccl->why, "RG_NCCL is off");
    return 0;
  }
  const char *unused;
  nccl->library = dynlib_open(path, RTLD_NOW | RTLD_LOCAL, &unused);
  if (!nccl->library) snprintf(nccl->why, sizeof nccl->why, "there is no %.100s", path);
  if (!nccl->library || !find_entries(nccl)) return 0;
  if (nccl->ncclGetVersion(&version)) version = 0;
  snprintf(nccl->version, sizeof nccl->version, "%d.%d.%d", version / 10000, version / 100 % 100,
           version % 100);
  if (version >= MIN_VERSION) return version;
  snprintf(nccl->why, sizeof nccl->why, "NCCL is too old: 2.14 is the first that can be used");
  return 0;
}

/* -- begin ------------------------------------------------------------------------------------- */

static About about_of(const uint8_t *abouts, int32_t rank) {
  About about;
  memcpy(&about, abouts + (size_t)rank * CALL_BYTES, sizeof about);
  return about;
}

static bool share_gpu(const About *a, const About *b) {
  return !memcmp(a->device, b->device, sizeof a->device);
}

/* Can NCCL be used? The answer is the same on all ranks. */
static bool can_use(const Comm *comm, CommNccl *nccl, const uint8_t *abouts) {
  for (int32_t k = 0; k < comm->size; k++) {
    About one = about_of(abouts, k);
    if (!one.version) {
      if (!nccl->why[0]) snprintf(nccl->why, sizeof nccl->why, "rank %d has no usable NCCL", k);
      return false;
    }
    for (int32_t j = 0; j < k; j++) {
      About other = about_of(abouts, j);
      if (!share_gpu(&one, &other) || (one.version >= SHARES_GPUS && one.shares && other.shares))
        continue;
      snprintf(nccl->why, sizeof nccl->why,
               "ranks %d and %d share a GPU, which NCCL does not support", j, k);
      return false;
    }
    if (one.version != about_of(abouts, 0).version) {
      snprintf(nccl->why, sizeof nccl->why, "rank %d has a different NCCL than rank 0", k);
      return false;
    }
  }
  return true;
}

/* Stops waiting when a rank has ended. */
static bool continues(void *waits_for, Error *err) {
  const Comm *comm = waits_for;
  sched_yield();
  return comm->boot->table->check(comm->boot, err);
}

/* Fails after half of the time for which other ranks wait for this one's outcome. */
static bool cannot_complete(Comm *comm, int64_t began, Error *err) {
  if (!continues(comm, err)) return true;
  return clock_ns() - began > comm->patience_ns / 2 &&
         !error_set(err, RG_ERROR_RANK, "NCCL did not answer within %.3g s",
                    (double)comm->patience_ns * 0.5e-9);
}

static bool await(Comm *comm, const CommNccl *nccl, void *handle, int result, Error *err) {
  int64_t began = clock_ns();
  int state = result;
  while (state == IN_PROGRESS) {
    int failed = nccl->ncclCommGetAsyncError(handle, &state);
    if (failed) state = failed;
    if (state == IN_PROGRESS && cannot_complete(comm, began, err)) return false;
  }
  return !state || error_set(err, RG_ERROR_DEVICE_FAILED, "NCCL failed (ncclResult_t %d)", state);
}

static void abandon(CommNccl *nccl) {
  if (nccl->handle) nccl->ncclCommAbort(nccl->handle);
  nccl->handle = NULL;
}

typedef struct Initialisation {
  Comm *comm;
  CommNccl *nccl;
  NcclId id;
  bool has_id;
} Initialisation;

static bool start_init(void *context, void *stream, Error *err) {
  Initialisation *b = context;
  CommNccl *nccl = b->nccl;
  (void)stream;
  NcclConfig config = {.size = sizeof config, .magic = MAGIC, .version = MIN_VERSION};
  int result =
      nccl->ncclCommInitRankConfig(&nccl->handle, b->comm->size, b->id, b->comm->rank, &config);
  if (result && result != IN_PROGRESS) nccl->handle = NULL;
  nccl->is_abandoned |= nccl->handle != NULL;
  if (await(b->comm, nccl, nccl->handle, result, err)) return true;
  abandon(nccl);
  return false;
}

/* Starts NCCL with an id that rank 0 makes; it starts on all ranks, or on none. */
static bool initialise(Comm *comm, CommNccl *nccl, const CommMemory *memory, uint8_t *all,
                       Error *err) {
  Initialisation b = {.comm = comm, .nccl = nccl};
  Error why = {0};
  uint8_t began;
  b.has_id = !comm->rank && !nccl->ncclGetUniqueId(&b.id);
  if (!comm_broadcast(comm, 0, &b.id, sizeof b.id, err) ||
      !comm_broadcast(comm, 0, &b.has_id, sizeof b.has_id, err))
    return false;
  if (!b.has_id) {
    snprintf(nccl->why, sizeof nccl->why, "rank 0 could not create an NCCL id");
    return true;
  }
  SymmetricHeapWork work = {
      .begin = start_init, .continues = continues, .context = &b, .waits_for = comm};
  began = memory->table->queue(memory->device, &work, &why);
  if (!comm_gather(comm, &began, 1, all, err)) return false;
  for (int32_t k = 0; k < comm->size; k++) {
    if (all[k]) continue;
    abandon(nccl);
    if (k == comm->rank && error_is_set(&why))
      snprintf(nccl->why, sizeof nccl->why, "%.*s", (int)sizeof nccl->why - 1, why.message);
    else if (!nccl->why[0])
      snprintf(nccl->why, sizeof nccl->why,
               "it could not be initialised "
               "on rank %d",
               k);
  }
  return true;
}

static bool open_on_all(Comm *comm, CommNccl *nccl, const CommMemory *memory, uint8_t *abouts,
                        Error *err) {
  About mine = {.version = open_library(nccl)};
  SymmetricHeapAbout device = {0};
  Error unused = {0};
  const char *option = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  mine.shares = option && !strcmp(option, "1");
  if (mine.version && !memory->table->describe(memory->device, &device, &unused)) {
    snprintf(nccl->why, sizeof nccl->why, "the driver cannot distinguish GPUs");
    mine.version = 0;
  }
  memcpy(mine.device, device.device, sizeof mine.device);
  CallOptions call = {.call = CALL_NCCL, .mine = &mine, .mine_bytes = sizeof mine};
  if (!comm_call(comm, &call, abouts, err)) return false;
  return !can_use(comm, nccl, abouts) || initialise(comm, nccl, memory, abouts, err);
}

static bool ensure_nccl(Comm *comm, const CommMemory *memory, Error *err) {
  if (comm->nccl) return true;
  comm->nccl = heap_alloc(comm->heap, sizeof *comm->nccl);
  uint8_t *abouts = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  if (!comm->nccl || !abouts) {
    comm_abort(comm, "the host has no memory left");
    error_add(err, &comm->lost);
  }
  bool ok = comm->nccl && abouts && open_on_all(comm, comm->nccl, memory, abouts, err);
  heap_free(comm->heap, abouts);
  return ok;
}

/* Others may still read what this rank has sent: lets NCCL wait for them, but not forever. */
static bool finalize(CommNccl *nccl) {
  int64_t began = clock_ns();
  int state = nccl->ncclCommFinalize(nccl->handle);
  while (state == IN_PROGRESS && clock_ns() - began < (int64_t)CLOSE_MS * 1000000) {
    if (nccl->ncclCommGetAsyncError(nccl->handle, &state)) return false;
    sched_yield();
  }
  return !state;
}

void nccl_close(Comm *comm) {
  CommNccl *nccl = comm->nccl;
  if (!nccl) return;
  if (nccl->handle && !comm->is_lost && finalize(nccl)) nccl->ncclCommDestroy(nccl->handle);
  else abandon(nccl);
  if (nccl->library && !nccl->is_abandoned) dlclose(nccl->library);
  heap_free(comm->heap, nccl);
  comm->nccl = NULL;
}

void nccl_forget(Comm *comm) {
  if (!comm->nccl || !comm->nccl->handle) return;
  comm->nccl->handle = NULL;
  comm->nccl->is_abandoned = true;
}

const char *nccl_version(const Comm *comm, const char **why) {
  *why = comm->nccl ? comm->nccl->why : "";
  return comm->nccl && comm->nccl->handle ? comm->nccl->version : NULL;
}

/* -- use --------------------------------------------------------------------------------------- */

typedef struct Use {
  Comm *comm;
  void *at;
  uint64_t count;
  int type, op; /* op -1: a broadcast */
  int32_t root;
} Use;

static bool start_use(void *context, void *stream, Error *err) {
  const Use *use = context;
  const CommNccl *nccl = use->comm->nccl;
  int result = use->op < 0 ? nccl->ncclBroadcast(use->at, use->at, use->count, use->type, use->root,
                                                 nccl->handle, stream)
                           : nccl->ncclAllReduce(use->at, use->at, use->count, use->type, use->op,
                                                 nccl->handle, stream);
  return await(use->comm, nccl, nccl->handle, result, err);
}

/* If it fails on one rank, no rank has a result: the others get the error at their next call. */
static bool run(const CommMemory *memory, Use *use, uint64_t about, bool *is_done, Error *err) {
  Comm *comm = use->comm;
  Error why = {0};
  CallOptions call = {.call = CALL_NCCL, .size_bytes = memory->size_bytes, .declared = about};
  SymmetricHeapWork work = {
      .begin = start_use, .continues = continues, .context = use, .waits_for = comm};
  *is_done = true;
  if (!comm_call(comm, &call, NULL, err)) return false;
  if (memory->table->queue(memory->device, &work, &why)) return true;
  abandon(comm->nccl);
  comm_abort(comm, why.message);
  error_add(err, &why);
  return false;
}

static const int nccl_types[COMM_TYPE_COUNT] = {/* ncclDataType_t; -1: it has none */
#define NUMBER(NAME, WORD, TYPE, AS, NCCL) [COMM_##NAME] = NCCL,
                                                COMM_NUMBERS(NUMBER)
#undef NUMBER
                                                    [COMM_BOOL] = -1};

/* Is NCCL to be used for the type? By default for integers, which wrap, so that order does not
 * matter. */
static bool is_enabled_for(CommType type) {
  bool is_float = type == COMM_F32 || type == COMM_F64;
  return nccl_types[type] >= 0 && (!is_float || option_has_word("RG_NCCL", "all"));
}

bool nccl_reduce(Comm *comm, CommOp op, CommType type, const CommMemory *memory, bool *is_done,
                 Error *err) {
  static const int ops[COMM_OP_COUNT] = {
      [COMM_SUM] = 0, [COMM_PRODUCT] = 1, [COMM_MIN] = 3, [COMM_MAX] = 2}; /* ncclRedOp_t */
  *is_done = false;
  if (!is_enabled_for(type) || comm->size == 1) return true;
  if (!ensure_nccl(comm, memory, err)) return false;
  if (!comm->nccl->handle) return true;
  Use use = {.comm = comm,
             .at = (void *)(uintptr_t)memory->at,
             .count = memory->size_bytes / comm_type_bytes(type),
             .type = nccl_types[type],
             .op = ops[op]};
  return run(memory, &use, 16 + (uint64_t)op * COMM_TYPE_COUNT + (uint64_t)type, is_done, err);
}

bool nccl_broadcast(Comm *comm, int32_t root, const CommMemory *memory, bool *is_done, Error *err) {
  *is_done = false;
  if (comm->size == 1 || root < 0 || root >= comm->size) return true;
  if (!ensure_nccl(comm, memory, err)) return false;
  if (!comm->nccl->handle) return true;
  Use use = {.comm = comm,
             .at = (void *)(uintptr_t)memory->at,
             .count = memory->size_bytes,
             .type = UINT8,
             .op = -1,
             .root = root};
  return run(memory, &use, (uint64_t)root << 8, is_done, err);
}
