/* valid.c - invariants of a tree's own tables: every segment belongs to one chunk or table or is
 * vacant, and all segments in use are charged to the budget. */
#include <stdio.h>
#include <stdlib.h>

#include "valid_check.h"

/* Bytes by use. */
typedef struct Use {
  uint64_t chunks, tables, vacant;
} Use;

static int is_inside(const RtTree *tree, const RtChunk *chunk, uint64_t segment) {
  uint64_t first = (uint64_t)(chunk->nodes - tree->base) / RT_SEGMENT;
  return segment >= first && segment - first < chunk->segments;
}

static int map_is_valid(const Check *c, Use *use) {
  const RtTree *tree = c->tree;
  for (uint64_t s = 0; s < tree->top / RT_SEGMENT; s++) {
    uint32_t owner = tree->segment_owner[s];
    if (s < tree->bottom / RT_SEGMENT) {
      EXPECT(!owner, 0, "the root's segments belong to no chunk");
    } else if (!owner) {
      use->vacant += RT_SEGMENT;
    } else if (owner == (uint32_t)RT_NO_CHUNK) {
      use->tables += RT_SEGMENT;
    } else {
      EXPECT(owner <= tree->chunk_count && tree->chunks[owner - 1].manager >= 0, 0,
             "a segment's owner is a chunk in use");
      EXPECT(is_inside(tree, &tree->chunks[owner - 1], s), 0,
             "a segment is in the chunk that owns it");
      use->chunks += RT_SEGMENT;
    }
  }
  return 1;
}

static int records_are_valid(const Check *c, const Use *use) {
  const RtTree *tree = c->tree;
  uint64_t bytes = 0, free = 0, listed = 0;
  for (uint32_t k = 0; k < tree->chunk_count; k++) {
    const RtChunk *chunk = &tree->chunks[k];
    EXPECT(chunk->manager < tree->manager_count, 0, "a chunk belongs to a manager of the tree");
    if (chunk->manager < 0) free++;
    else bytes += (uint64_t)chunk->segments * RT_SEGMENT;
  }
  EXPECT(bytes == use->chunks, 0, "a chunk owns all of its segments");
  for (uint32_t record = tree->free_record; record; record = tree->chunks[record - 1].next) {
    EXPECT(record <= tree->chunk_count && tree->chunks[record - 1].manager < 0 && listed < free, 0,
           "the list of free records holds free records, each once");
    listed++;
  }
  EXPECT(listed == free, 0, "every free record is on the list of them");
  return 1;
}

static int bytes_are_valid(const Check *c, const Use *use) {
  const RtTree *tree = c->tree;
  uint64_t chunks = 0, tables = 0;
  for (int32_t m = 0; m < tree->manager_count; m++) {
    chunks += tree->managers[m].chunk_bytes;
    tables += tree->managers[m].table.bytes;
  }
  EXPECT(chunks == use->chunks, 0, "the managers' chunks are as large as the segments they own");
  EXPECT(tables == use->tables, 0, "the tables are as large as the segments they own");
  EXPECT(tree->vacant == use->vacant, 0, "`vacant` counts the bytes without an owner");
  EXPECT(tree->budget->used >= chunks + tables, 0, "the budget is charged for chunks and tables");
  EXPECT(tree->budget->peak >= tree->budget->used, 0, "the budget's peak is its largest use");
  return 1;
}

static int tables_are_valid(const RtTree *tree, RtBroken *broken) {
  const Check check = {.tree = tree, .number = -1, .broken = broken}, *c = &check;
  Use use = {0};
  EXPECT(!tree->lock, 0, "a tree is unlocked between tasks");
  EXPECT(tree->bottom % RT_SEGMENT == 0 && tree->top % RT_SEGMENT == 0 && tree->bottom <= tree->top,
         0, "bottom and top are whole segments, in this order");
  return map_is_valid(c, &use) && records_are_valid(c, &use) && bytes_are_valid(c, &use);
}

int rt_tree_is_valid(const RtTree *tree, int32_t worker_count, RtBroken *broken) {
  if (!tree->manager_count) return 1;
  if (!tables_are_valid(tree, broken)) return 0;
  for (int32_t m = 0; m < tree->manager_count; m++) {
    const RtManager *manager = &tree->managers[m];
    if (!rt_manager_is_valid(tree, m, worker_count, broken) ||
        !rt_list_is_valid(tree, m, worker_count, broken))
      return 0;
    if (manager->is_hash && !rt_table_is_valid(tree, m, worker_count, broken)) return 0;
    if (manager->chunk && !rt_dynamic_is_valid(tree, m, broken)) return 0;
  }
  return 1;
}

static void report_and_abort(const RtTree *tree, const RtBroken *broken) {
  fprintf(stderr, "regolith: tree %d, manager %d, node %u: this invariant is violated: %s\n",
          tree->number, broken->manager, broken->node, broken->what);
  abort();
}

void rt_tree_expect_valid(const RtTree *tree, int32_t worker_count) {
  RtBroken broken;
  if (!rt_tree_is_valid(tree, worker_count, &broken)) report_and_abort(tree, &broken);
}

void rt_tree_expect_declared(const RtTree *tree) {
  RtBroken broken;
  if (!rt_tree_is_declared(tree, &broken)) report_and_abort(tree, &broken);
}
