/* comm_api.c - ranks and their windows: regolith.h's calls, argument by argument. */
#include <string.h>

#include "api/comm_api.h"
#include "comm/window/gpu.h"
#include "comm/boot/rendezvous.h"
#include "comm/message/nccl.h"

/* Returns the index of a word in a list. */
static int find_word(const char *const *words, int count, const char *word) {
  for (int k = 0; k < count; k++)
    if (!strcmp(words[k], word)) return k;
  return -1;
}

/* -- the processes ----------------------------------------------------------------------------- */

RgStatus rg_ranks_run(int32_t ranks, const char *const *argv, int32_t *exit_code) {
  API_NEEDS(argv);
  API_NEEDS(argv[0]);
  API_NEEDS(exit_code);
  Heap heap;
  Error err = {0};
  heap_init(&heap, 0);
  RendezvousLaunch launch = {.ranks = ranks};
  *exit_code = 1;
  if (rendezvous_launch(&heap, &launch, (char *const *)argv, exit_code, &err)) return 0;
  return api_refuse(__func__, err.message);
}

/* -- ranks ------------------------------------------------------------------------------------- */

static bool is_of_ranks(const void *comm, const uint8_t *at) { return window_is_peers(comm, at); }

static void comm_end(Object *object) {
  RgComm *ranks = (RgComm *)object;
  Store *store = &program_of(object)->store;
  if (store->ranks == ranks->comm) store->is_of_ranks = NULL;
  if (object->owner->has_ended) comm_gpu_forget(ranks->comm), nccl_forget(ranks->comm);
  comm_close(ranks->comm);
  object_free(object);
}

static bool open_comm(Program *program, RgComm **out, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  RgComm *ranks = object_create(&program->owner, comm_end, sizeof *ranks, err);
  if (!ranks) return false;
  Boot *boot = boot_open(&program->owner.heap, err);
  ranks->comm = boot ? comm_open(&program->owner.heap, boot, 0, err) : NULL;
  program->store.ranks = ranks->comm;
  program->store.is_of_ranks = ranks->comm ? is_of_ranks : NULL;
  if (ranks->comm) program->engine.random.rank = (uint64_t)ranks->comm->rank;
  if (ranks->comm) *out = ranks;
  else object_release(&ranks->object);
  return ranks->comm;
}

RgStatus rg_comm_open(RgRuntime *runtime, RgComm **comm) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(comm);
  *comm = NULL;
  return API_CALL(program, open_comm(program, comm, API_ERR(program)));
}

void rg_comm_release(RgComm *comm) { object_release((Object *)comm); }
int32_t rg_comm_rank(const RgComm *comm) { return comm ? comm->comm->rank : 0; }
int32_t rg_comm_size(const RgComm *comm) { return comm ? comm->comm->size : 0; }

void rg_comm_team(const RgComm *comm, int32_t *first, int32_t *count) {
  if (first) *first = comm ? comm->comm->team_first : 0;
  if (count) *count = comm ? comm->comm->team_size : 0;
}

const char *rg_comm_nccl(const RgComm *comm, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  return comm ? nccl_version(comm->comm, why) : NULL;
}

bool api_finish_launches(Program *program, Error *err) {
  Device *device = program->store.device;
  return owner_check(&program->owner, err) && device->table->sync(device, err);
}

bool api_barrier(const RgComm *ranks, Error *err) {
  if (!comm_barrier(ranks->comm, err)) return false;
  for (const RgWindow *handle = ranks->hashes; handle; handle = handle->next)
    for (int32_t k = 0; k < ranks->comm->team_size; k++)
      if (handle->peers[k] && !tree_refresh_peer(handle->peers[k], err)) return false;
  return true;
}

RgStatus rg_comm_barrier(RgComm *comm) {
  API_NEEDS(comm);
  COMM_CALL(comm, api_barrier(comm, err));
}

RgStatus rg_comm_gather(RgComm *comm, const void *mine, int64_t size_bytes, void *all) {
  API_NEEDS(comm);
  if (size_bytes < 0) return api_refuse(__func__, "size_bytes is negative");
  if (size_bytes) API_NEEDS(mine);
  if (size_bytes) API_NEEDS(all);
  COMM_CALL(comm, comm_gather(comm->comm, mine, (uint64_t)size_bytes, all, err));
}

/* -- bytes in GPU memory, staged in host memory ------------------------------------------------ */

static bool is_remote(Device *device, void *bytes) {
  const DeviceTable *table = device->table;
  return table->sharing && table->mirror->host_at(device, bytes) != (uint8_t *)bytes;
}

static CommMemory memory_of(Device *device, void *bytes, uint64_t size_bytes) {
  return (CommMemory){.table = device_symmetric_heap(device),
                      .device = device,
                      .at = (uint64_t)(uintptr_t)bytes,
                      .size_bytes = size_bytes};
}

/* Ends the waiting of the other ranks, as this one cannot send its bytes. */
static bool report_to_all(Comm *comm, const Error *why, Error *err) {
  comm_abort(comm, why->message);
  error_add(err, why);
  return false;
}

bool api_stage_bytes(Comm *comm, Program *program, void **bytes, uint64_t size_bytes,
                     StagedBytes *staged, Error *err) {
  Device *device = program->store.device;
  Error why = {0};
  *staged = (StagedBytes){.bytes = *bytes, .size_bytes = size_bytes};
  if (!size_bytes || !is_remote(device, *bytes)) return true;
  staged->host_copy = heap_alloc(&program->owner.heap, size_bytes);
  if (!staged->host_copy)
    error_set(&why, RG_ERROR_MEMORY, "the host has no memory left for an array");
  if (!staged->host_copy ||
      !device_symmetric_heap(device)->copy(device, (uint64_t)(uintptr_t)*bytes, staged->host_copy,
                                           NULL, size_bytes, &why)) {
    heap_free(&program->owner.heap, staged->host_copy);
    return report_to_all(comm, &why, err);
  }
  *bytes = staged->host_copy;
  return true;
}

bool api_unstage_bytes(Program *program, const StagedBytes *staged, bool has_changed, Error *err) {
  if (!staged->host_copy) return true;
  Device *device = program->store.device;
  bool ok = !has_changed ||
            device_symmetric_heap(device)->copy(device, (uint64_t)(uintptr_t)staged->bytes, NULL,
                                                staged->host_copy, staged->size_bytes, err);
  heap_free(&program->owner.heap, staged->host_copy);
  return ok;
}

static bool broadcast(Program *program, Comm *comm, int32_t root, void *bytes, uint64_t size_bytes,
                      Error *err) {
  StagedBytes staged;
  Device *device = program->store.device;
  if (size_bytes && is_remote(device, bytes)) {
    CommMemory memory = memory_of(device, bytes, size_bytes);
    bool is_done, ok = nccl_broadcast(comm, root, &memory, &is_done, err);
    if (!ok || is_done) return ok;
  }
  if (!api_stage_bytes(comm, program, &bytes, size_bytes, &staged, err)) return false;
  bool ok = comm_broadcast(comm, root, bytes, size_bytes, err);
  return api_unstage_bytes(program, &staged, ok && comm->rank != root, err) && ok;
}

RgStatus rg_comm_broadcast(RgComm *comm, int32_t root, void *bytes, int64_t size_bytes) {
  API_NEEDS(comm);
  if (size_bytes < 0) return api_refuse(__func__, "size_bytes is negative");
  if (size_bytes) API_NEEDS(bytes);
  COMM_CALL(comm, broadcast(program, comm->comm, root, bytes, (uint64_t)size_bytes, err));
}

static bool reduce(Program *program, Comm *comm, const char *op, const char *type, void *numbers,
                   int64_t count, Error *err) {
#define WORD(NAME, TEXT) TEXT,
  static const char *const ops[] = {COMM_REDUCE_OPS(WORD)};
#undef WORD
  // clang-format off
  static const char *const types[COMM_TYPE_COUNT] = {
#define NUMBER(NAME, WORD, TYPE, AS, NCCL) [COMM_##NAME] = WORD,
      COMM_NUMBERS(NUMBER)
#undef NUMBER
      [COMM_BOOL] = "bool"};
  StagedBytes staged;
  int op_number = find_word(ops, COMM_OP_COUNT, op);
  int type_number = find_word(types, COMM_TYPE_COUNT, type);
  if (op_number < 0)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "ranks can combine numbers by 'sum', 'product', 'min' or 'max', not by '%s'",
                     op);
  if (type_number < 0)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "ranks can combine integers, f32, f64 and bool, not '%s'",
                     type);
  Device *device = program->store.device;
  uint64_t size_bytes = (uint64_t)count * comm_type_bytes((CommType)type_number);
  if (count && is_remote(device, numbers)) {
    CommMemory memory = memory_of(device, numbers, size_bytes);
    bool is_done, ok = nccl_reduce(comm, (CommOp)op_number, (CommType)type_number, &memory,
                                   &is_done, err);
    if (!ok || is_done) return ok;
  }
  // clang-format on
  if (!api_stage_bytes(comm, program, &numbers, size_bytes, &staged, err)) return false;
  bool ok =
      comm_reduce(comm, (CommOp)op_number, (CommType)type_number, numbers, (uint64_t)count, err);
  return api_unstage_bytes(program, &staged, ok, err) && ok;
}

RgStatus rg_comm_reduce(RgComm *comm, const char *op, const char *type, void *numbers,
                        int64_t count) {
  API_NEEDS(comm);
  API_NEEDS(op);
  API_NEEDS(type);
  if (count < 0) return api_refuse(__func__, "count is negative");
  if (count) API_NEEDS(numbers);
  COMM_CALL(comm, reduce(program, comm->comm, op, type, numbers, count, err));
}

static bool abort_ranks(Comm *comm, const char *why) {
  comm_abort(comm, why);
  return true;
}

static bool copy_parcels(const RgParcel *from, int32_t count, Parcel *to, Error *err) {
  for (int32_t k = 0; k < count; k++) {
    if (from[k].size_bytes < 0 || (from[k].size_bytes && !from[k].bytes))
      return error_set(err, RG_ERROR_ARGUMENT, "parcel %d has no bytes", k);
    to[k] = (Parcel){from[k].rank, from[k].bytes, (uint64_t)from[k].size_bytes};
  }
  return true;
}

static bool trade(Program *program, Comm *comm, const RgParcel *out, int32_t out_count,
                  const RgParcel *in, int32_t in_count, Error *err) {
  Heap *heap = &program->owner.heap;
  int32_t count = out_count + in_count, staged_count = 0;
  Parcel *parcels = heap_alloc(heap, ((size_t)count + 1) * sizeof *parcels);
  StagedBytes *staged = heap_alloc(heap, ((size_t)count + 1) * sizeof *staged);
  bool ok = parcels && staged;
  if (!ok) error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  ok = ok && copy_parcels(out, out_count, parcels, err) &&
       copy_parcels(in, in_count, parcels + out_count, err);
  while (ok && staged_count < count) {
    Parcel *parcel = &parcels[staged_count];
    ok = api_stage_bytes(comm, program, &parcel->bytes, parcel->size_bytes, &staged[staged_count],
                         err);
    staged_count += ok;
  }
  ok = ok && comm_trade(comm, parcels, out_count, parcels + out_count, in_count, err);
  for (int32_t k = 0; k < staged_count; k++)
    ok &= api_unstage_bytes(program, &staged[k], ok && k >= out_count, ok ? err : NULL);
  heap_free(heap, staged);
  heap_free(heap, parcels);
  return ok;
}

RgStatus rg_comm_trade(RgComm *comm, const RgParcel *out, int32_t out_count, const RgParcel *in,
                       int32_t in_count) {
  API_NEEDS(comm);
  if (out_count < 0 || in_count < 0) return api_refuse(__func__, "a count is negative");
  if (out_count) API_NEEDS(out);
  if (in_count) API_NEEDS(in);
  COMM_CALL(comm, trade(program, comm->comm, out, out_count, in, in_count, err));
}

RgStatus rg_comm_abort(RgComm *comm, const char *why) {
  API_NEEDS(comm);
  API_NEEDS(why);
  COMM_CALL(comm, abort_ranks(comm->comm, why));
}
