/* comm_api.h - what comm_api.c and window_api.c share. For these two alone. */
#ifndef RG_API_COMM_API_H
#define RG_API_COMM_API_H

#include "api/api.h"
#include "array/array.h"
#include "comm/comm.h"
#include "comm/window/window.h"

struct RgComm {
  Object object;
  Comm *comm;
  RgWindow *hashes; /* open windows of trees with hashes: peers look after barriers */
};

struct RgWindow {
  Object object;
  RgComm *ranks;  /* held */
  Window *window; /* NULL: freed */
  Tree *tree;     /* of a field, held; NULL: an array's window */
  Tree **peers;   /* by number in the team, held; NULL: not requested yet */
  /* of a tree with hashes: */
  Window *tables;
  RgWindow *next;
};

/* Device work of this rank comes before what it calls together. */
bool api_finish_launches(Program *program, Error *err);
/* Meets the other ranks; later calls read the peers' hashes again, which may have changed. */
bool api_meet(const RgComm *ranks, Error *err);

#define COMM_CALL(comm, call) \
  do { \
    Program *program = API_PROGRAM(comm); \
    Error *err = API_ERR(program); \
    return API_CALL(program, api_finish_launches(program, err) && (call)); \
  } while (0)

/* Bytes of a GPU's, which come to the host for what ranks tell each other. */
typedef struct Loan {
  void *bytes, *here;
  uint64_t size_bytes;
} Loan; /* here: NULL: in place */
/* In *bytes, where the host has them until they are given back. What one rank cannot bring, the
 * others do not wait for. */
bool api_borrow(Comm *comm, Program *program, void **bytes, uint64_t size_bytes, Loan *loan,
                Error *err);
bool api_give_back(Program *program, const Loan *loan, bool has_changed, Error *err);

#endif
