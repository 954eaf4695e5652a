/* near.h - parcels between ranks of one team that holds all of them: through the headers' buffers,
 * so that a trade costs a barrier and two copies. For the room alone. */
#ifndef RG_COMM_NEAR_H
#define RG_COMM_NEAR_H

#include "comm/comm.h"

/* comm_trade, where one team has all ranks. *is_done false: a rank has more parcels than a buffer
 * can list, and nothing has happened, on any of them. */
bool near_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, bool *is_done, Error *err);

#endif
