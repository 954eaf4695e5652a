/* far.h - ranks of this host whose memory is not mapped here, because they are of another team: it
 * is reached through its files. For the room alone. */
#ifndef RG_COMM_FAR_H
#define RG_COMM_FAR_H

#include "comm/comm.h"

/* Of a rank: its process, and a file of memory there. */
typedef struct Origin { int32_t process, file; } Origin;

/* One of `to` and `from` is NULL: which way the bytes go. */
bool far_reach(Origin origin, uint64_t at, void *to, const void *from, uint64_t size_bytes,
               Error *err);
/* comm_trade by what each rank wrote to a file of its own before all met. */
bool far_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
               int32_t in_count, Error *err);

#endif
