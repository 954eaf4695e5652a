/* near.h - messages between ranks if one team contains all of them: they go through the headers'
 * buffers, so that a trade costs a barrier and two copies. Private to this room. */
#ifndef RG_COMM_MESSAGE_NEAR_H
#define RG_COMM_MESSAGE_NEAR_H

#include "comm/comm.h"

/* comm_trade for a single team. If *is_done is false, without any effect on any rank, a rank has
 * more parcels than a buffer can list. */
bool near_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, bool *is_done, Error *err);

#endif
