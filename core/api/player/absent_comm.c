/* absent_comm.c - replaces the room comm in libraries for systems without ranks
 * (windows/CMakeLists.txt): a simulation runs in one process, and calls that need ranks fail with
 * one error. */
#include "comm/boot/boot.h"
#include "comm/boot/rendezvous.h"
#include "comm/message/nccl.h"
#include "comm/window/gpu.h"

static bool refuse(Error *err) {
  return error_set(err, RG_ERROR_DEVICE, "this library is without ranks: it runs in one process");
}

bool boot_is_rank(void) { return false; }
Boot *boot_open(Heap *heap, Error *err) {
  (void)heap, refuse(err);
  return NULL;
}
bool rendezvous_launch(Heap *heap, const RendezvousLaunch *launch, char *const *argv,
                       int32_t *exit_code, Error *err) {
  (void)heap, (void)launch, (void)argv, (void)exit_code;
  return refuse(err);
}

Comm *comm_open(Heap *heap, Boot *boot, uint64_t stride, Error *err) {
  (void)heap, (void)boot, (void)stride, refuse(err);
  return NULL;
}

/* -- functions that only a rank calls ---------------------------------------------------------- */

void comm_close(Comm *comm) { (void)comm; }
void comm_abort(Comm *comm, const char *why) { (void)comm, (void)why; }
uint64_t comm_type_bytes(CommType type) { return (void)type, 0; }
bool comm_barrier(Comm *comm, Error *err) { return (void)comm, refuse(err); }
bool comm_broadcast(Comm *comm, int32_t root, void *bytes, uint64_t size_bytes, Error *err) {
  (void)comm, (void)root, (void)bytes, (void)size_bytes;
  return refuse(err);
}
bool comm_reduce(Comm *comm, CommOp op, CommType type, void *numbers, uint64_t count, Error *err) {
  (void)comm, (void)op, (void)type, (void)numbers, (void)count;
  return refuse(err);
}
bool comm_gather(Comm *comm, const void *mine, uint64_t size_bytes, void *all, Error *err) {
  (void)comm, (void)mine, (void)size_bytes, (void)all;
  return refuse(err);
}
bool comm_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, Error *err) {
  (void)comm, (void)out, (void)out_count, (void)in, (void)in_count;
  return refuse(err);
}

bool comm_gpu_open(Comm *comm, const SymmetricHeapTable *table, void *data, uint64_t size_bytes,
                   Error *err) {
  (void)comm, (void)table, (void)data, (void)size_bytes;
  return refuse(err);
}
void comm_gpu_forget(Comm *comm) { (void)comm; }
const char *nccl_version(const Comm *comm, const char **why) {
  (void)comm;
  *why = "this library is without ranks";
  return NULL;
}
void nccl_forget(Comm *comm) { (void)comm; }
bool nccl_reduce(Comm *comm, CommOp op, CommType type, const CommMemory *memory, bool *is_done,
                 Error *err) {
  (void)comm, (void)op, (void)type, (void)memory, (void)is_done;
  return refuse(err);
}
bool nccl_broadcast(Comm *comm, int32_t root, const CommMemory *memory, bool *is_done, Error *err) {
  (void)comm, (void)root, (void)memory, (void)is_done;
  return refuse(err);
}

static Window *no_window(Error *err) {
  refuse(err);
  return NULL;
}
Window *window_create(Comm *comm, uint64_t size_bytes, uint64_t declared, Error *err) {
  return (void)comm, (void)size_bytes, (void)declared, no_window(err);
}
Window *window_open(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared, Error *err) {
  return (void)comm, (void)here, (void)size_bytes, (void)declared, no_window(err);
}
Window *window_open_for_team(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared,
                             Error *err) {
  return (void)comm, (void)here, (void)size_bytes, (void)declared, no_window(err);
}
Window *window_open_gpu(Comm *comm, const SymmetricHeapPart *part, uint64_t size_bytes,
                        uint64_t declared, const Error *failed, Error *err) {
  (void)comm, (void)part, (void)size_bytes, (void)declared, (void)failed;
  return no_window(err);
}
bool window_free(Window *window, Error *err) { return (void)window, refuse(err); }
void window_drop(Window *window) { (void)window; }
void window_unmap(void *here, uint64_t size_bytes) { (void)here, (void)size_bytes; }
void *window_peer(const Window *window, int32_t rank) { return (void)window, (void)rank, NULL; }
bool window_is_peers(const Comm *comm, const uint8_t *at) { return (void)comm, (void)at, false; }
bool window_put(Window *window, int32_t rank, uint64_t at, const void *bytes, uint64_t size_bytes,
                Error *err) {
  (void)window, (void)rank, (void)at, (void)bytes, (void)size_bytes;
  return refuse(err);
}
bool window_get(Window *window, int32_t rank, uint64_t at, void *bytes, uint64_t size_bytes,
                Error *err) {
  (void)window, (void)rank, (void)at, (void)bytes, (void)size_bytes;
  return refuse(err);
}
