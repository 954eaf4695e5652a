/* comm_api.h - shared by comm_api.c and window_api.c; private to them. */
#ifndef RG_API_COMM_API_H
#define RG_API_COMM_API_H

#include "api/api.h"
#include "array/array.h"
#include "comm/comm.h"
#include "comm/window/window.h"

struct RgComm {
  Object object;
  Comm *comm;
  RgWindow *hashes; /* open windows of trees with hashes: peers reread these after barriers */
};

struct RgWindow {
  Object object;
  RgComm *ranks;  /* one reference */
  Window *window; /* NULL: freed */
  Tree *tree;     /* the field's tree, one reference; NULL: an array's window */
  Tree **peers;   /* by number in the team, one reference each; NULL: not requested yet */
  /* for a tree with hashes: */
  Window *tables;
  RgWindow *next;
};

/* Waits for this rank's work on the device. Every call that involves other ranks does so first. */
bool api_finish_launches(Program *program, Error *err);
/* Waits for the other ranks, then rereads the peers' hashes, which may have changed. */
bool api_barrier(const RgComm *ranks, Error *err);

#define COMM_CALL(comm, call) \
  do { \
    Program *program = API_PROGRAM(comm); \
    Error *err = API_ERR(program); \
    return API_CALL(program, api_finish_launches(program, err) && (call)); \
  } while (0)

/* Bytes in GPU memory that the host communicates, and their staging copy in host memory. */
typedef struct StagedBytes {
  void *bytes;     /* in GPU memory */
  void *host_copy; /* NULL: the host can access `bytes` itself */
  uint64_t size_bytes;
} StagedBytes;
/* Sets *bytes to an address that the host can use until api_unstage_bytes. On failure the other
 * ranks, which would wait for the bytes, are told that this one failed. */
bool api_stage_bytes(Comm *comm, Program *program, void **bytes, uint64_t size_bytes,
                     StagedBytes *staged, Error *err);
/* Frees the copy; has_changed: first writes it back to GPU memory. */
bool api_unstage_bytes(Program *program, const StagedBytes *staged, bool has_changed, Error *err);

#endif
