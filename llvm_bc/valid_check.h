/* valid_check.h - helpers that the parts of valid.h share. */
#ifndef RG_RT_VALID_CHECK_H
#define RG_RT_VALID_CHECK_H

#include "node.h"
#include "valid.h"

typedef struct Check {
  const RtTree *tree;
  const RtManager *manager;
  int32_t number, worker_count;
  int is_refreshed;
  RtBroken *broken;
} Check;

static inline Check check_of(const RtTree *tree, int32_t number, int32_t worker_count,
                             RtBroken *broken) {
  return (Check){tree, &tree->managers[number], number, worker_count, !tree->changed, broken};
}

#define EXPECT(condition, handle, sentence) \
  do { \
    if (!(condition)) { \
      *c->broken = (RtBroken){(sentence), c->number, (handle)}; \
      return 0; \
    } \
  } while (0)

/* Whether a node of that manager begins at the handle. */
static inline int find_node(const RtTree *tree, int32_t number, uint32_t handle, RtNode *node) {
  uint64_t bytes = (uint64_t)RT_GRANULE * handle;
  if (handle <= RT_SLOT_BUSY || bytes >= tree->top) return 0;
  uint32_t owner = tree->segment_owner[bytes / RT_SEGMENT];
  if (!owner || owner > tree->chunk_count) return 0;
  const RtChunk *chunk = &tree->chunks[owner - 1];
  const RtManager *manager = &tree->managers[number];
  bytes -= (uint64_t)(chunk->nodes - tree->base);
  if (chunk->manager != number || bytes % manager->node_size ||
      bytes / manager->node_size >= chunk->node_count)
    return 0;
  *node = node_in_chunk(manager, chunk, bytes / manager->node_size);
  return 1;
}

static inline int was_handed_out(const RtTree *tree, RtNode node) {
  const RtChunk *chunk = node_chunk(tree, node.memory);
  return node.state < chunk->states + chunk->handed;
}

/* valid_node.c: visits every run of slots in the root's container, or in the live nodes above,
 * until a visit returns 0. */
typedef int SlotsVisit(const Check *c, const uint32_t *slots, uint64_t count, void *data);
int rt_visit_slots(const Check *c, SlotsVisit *visit, void *data);

#endif
