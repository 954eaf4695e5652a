/* courier.h - files of memory, from each rank of a team to all of it, by SCM_RIGHTS: nobody opens
 * what another process has. A rank has one socket, whose address the system chooses; who sends is
 * known by what the system says of it. For the room alone. */
#ifndef RG_COMM_COURIER_H
#define RG_COMM_COURIER_H

#include "comm/far.h"

/* What a rank tells all before files are passed. */
typedef struct Sender {
  Origin origin;
  char address[8];
} Sender;

/* The socket is made with the first; false: the system has none. */
bool courier_sender(Comm *comm, int file, Sender *sender, Error *err);
/* All ranks of the team, after they know each other's senders (CALL_BYTES apart, by rank):
 * files[k] is that of rank team_first + k, which the caller closes. Own one: -1, and that of a
 * sender without one (`file` -1). */
bool courier_pass(Comm *comm, int file, const uint8_t *senders, int *files, Error *err);

#endif
