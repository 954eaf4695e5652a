/* pass_files.h - passes file descriptors of memory from each rank of a team to all others by
 * SCM_RIGHTS, so that no process has to open another's files. A rank has one socket, whose address
 * the system chooses; senders are identified by their socket credentials. Private to this room. */
#ifndef RG_COMM_WINDOW_PASS_FILES_H
#define RG_COMM_WINDOW_PASS_FILES_H

#include "comm/message/far.h"

/* What a rank announces to all before files are passed. */
typedef struct Sender {
  Origin origin;
  char address[8];
} Sender;

/* Fills `sender`; the first call creates the socket. False with err if the system has none. */
bool pass_files_sender(Comm *comm, int file, Sender *sender, Error *err);
/* Called by all ranks of the team, once they know each other's senders (CALL_BYTES apart, by rank).
 * files[k] is that of rank team_first + k, which the caller closes; -1 for this rank, and for a
 * sender without a file (`file` -1). */
bool pass_files(Comm *comm, int file, const uint8_t *senders, int *files, Error *err);

#endif
