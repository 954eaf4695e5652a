/* refuse.h - checks declarations; each error is one sentence. Private to this room. */
#ifndef RG_SNODE_REFUSE_H
#define RG_SNODE_REFUSE_H

#include "snode/snode.h"

/* Limits that follow from the runtime: rt.h addresses an arena by 2^32 granules, and a slot in
 * 4-byte units. */
#define SNODE_MAX_ARENA ((uint64_t)1 << 38)
#define SNODE_MAX_SLOT_BYTES ((uint64_t)1 << 34)
#define SNODE_MAX_DENSE ((uint64_t)1 << 46)
#define SNODE_MAX_CELLS ((uint64_t)1 << 46)

/* May something be added below `node`? */
bool snode_check_open(const SNode *node, Error *err);
/* Checks kind, letters and sizes of a new child; fills `sizes_out` with one size per letter. */
bool snode_check_child(const SNode *parent, SNodeKind kind, const char *axes, const int64_t *sizes,
                       int size_count, int64_t sizes_out[SNODE_MAX_AXES], Error *err);
/* For a dynamic node of n cells, determines *chunk (0: the default); for other kinds, refuses
 * one. */
bool snode_check_chunk(SNodeKind kind, int64_t n, int64_t *chunk, Error *err);
/* After layout: checks that no block is larger than the runtime can address. */
bool snode_check_layout(const SNodeTree *tree, Error *err);
/* " 'block'" or "", for sentences. Valid until the next call with the same buffer. */
const char *snode_quoted(const char *name, char buffer[80]);

#endif
