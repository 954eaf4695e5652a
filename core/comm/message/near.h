/* near.h - messages between ranks if one team contains all of them: they go through the headers'
 * buffers, so that a trade costs a barrier and two copies. Private to this room. */
#ifndef RG_COMM_MESSAGE_NEAR_H
#define RG_COMM_MESSAGE_NEAR_H

#include "comm/comm.h"

/* comm_trade for a single team. *is_done false: a rank has more parcels than a buffer can list, and
 * nothing has happened on any rank. */
bool near_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, bool *is_done, Error *err);

#endif
