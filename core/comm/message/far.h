/* far.h - communication with ranks of this host that belong to another team, whose memory is not
 * mapped here: it goes through files. Private to this room. */
#ifndef RG_COMM_MESSAGE_FAR_H
#define RG_COMM_MESSAGE_FAR_H

#include "comm/comm.h"

/* A rank's process, and its number of a file of memory. */
typedef struct Origin {
  int32_t process, file;
} Origin;

/* Copies to `to`, or from `from`; the other one is NULL. */
bool far_reach(Origin origin, uint64_t at, void *to, const void *from, uint64_t size_bytes,
               Error *err);
/* comm_trade through files: each rank writes to its own file before a barrier. */
bool far_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in, int32_t in_count,
               Error *err);

#endif
