/* node_dynamic_log.c - appends to many lists: each worker writes elements into a log of its own,
 * and after the loop they are appended list by list.
 *
 *     row:  list, numbers      piece 0:  row row .. | row ..      its blocks, in order
 *                              piece 1:  row ..
 *
 * A log is divided into pieces by the addresses of lists, alike in all workers. After the task
 * (rt_tree_refresh) the workers share out the pieces: whoever has one appends all its rows, of
 * worker after worker. So nobody competes for a list, whose memory is in one worker's near cache
 * meanwhile, and rows of one worker keep their order in each list. A worker whose log has become as
 * long as it may appends it while others run, piece by piece under a lock, as nothing else changes
 * these lists during the task.
 * Sizes: 4 KiB per block, 16 MiB per worker and SNode at most, kept for the next task. A worker for
 * whom there is no memory takes its stage's rows as its one block. */
#include "atomic.h"
#include "node.h"

enum {
  BLOCK = 4096,           /* bytes */
  SLAB = 64 * BLOCK,
  SLAB_BLOCKS = SLAB / BLOCK,
  MOST_BLOCKS = RT_LOG_SLABS * SLAB_BLOCKS,
  LEAST_SHARED = 64 << 10, /* bytes of rows: one worker appends fewer */
  LEAST_SHIFT = 6,        /* a cache line */
  MOST_SHIFT = 16,
  AHEAD = 8               /* rows: their lists are fetched so far ahead */
};

static uint64_t row_bytes(const RtManager *manager) {
  return sizeof(uint64_t) * (1 + (uint64_t)manager->number_count);
}

static RtStage *stage_of(const RtManager *manager, int32_t worker) {
  return manager->locals[worker].stage;
}

static uint8_t *rows_of(RtLogBlock *block) { return (uint8_t *)(block + 1); }

/* Pieces are about equal where lists fill the memory in which they are. */
static uint32_t shift_of(const RtTree *tree, const RtManager *manager) {
  uint64_t bytes = manager->parent < 0 ? tree->root_size : RT_LARGE;
  uint32_t shift = LEAST_SHIFT;
  while (shift < MOST_SHIFT && bytes >> shift > 4 * (uint64_t)RT_LOG_PIECES) shift++;
  return shift;
}

/* -- appending --------------------------------------------------------------------------------- */

static void write_number(const RtNumber *number, uint8_t *node, uint32_t cell, uint64_t value) {
  uint8_t *to = node + number->offset + cell * number->stride;
  switch (number->size) {
  case 1: *to = (uint8_t)value; return;
  case 2: *(uint16_t *)(void *)to = (uint16_t)value; return;
  case 4: *(uint32_t *)(void *)to = (uint32_t)value; return;
  default: *(uint64_t *)(void *)to = value;
  }
}

/* No other worker changes the list. */
static void append_row(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                       const uint64_t *row) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  uint32_t *list = (uint32_t *)row[0], length = rt_load(&list[RT_LIST_LENGTH]);
  uint32_t chunk = (uint32_t)manager->chunk, *slot = &list[RT_LIST_SLOTS + length / chunk];
  if (length >= (uint32_t)manager->capacity) {
    rt_dynamic_full(context, tree, number);
    return;
  }
  if (!handle_is_live(rt_load_leading(slot)) &&
      !rt_dynamic_grow(context, worker, tree, number, slot))
    return;
  uint8_t *node = node_address(context->trees[tree], rt_load(slot));
  for (int32_t k = 0; k < manager->number_count; k++)
    write_number(&manager->numbers[k], node, length % chunk, row[1 + k]);
  rt_store(&list[RT_LIST_LENGTH], length + 1);
}

/* The rows from `row` on whose chunks exist, of elements of one number of four bytes; returns the
 * first that is another. Chunks have 1 << shift elements. */
static const uint64_t *append_words(const RtTree *tree, const RtManager *manager, uint32_t shift,
                                    const uint64_t *row, const uint64_t *end) {
  const RtNumber number = manager->numbers[0];
  uint32_t capacity = (uint32_t)manager->capacity, mask = (uint32_t)manager->chunk - 1;
  uint8_t *numbers = tree->base + number.offset;
  for (; row < end; row += 2) {
    uint32_t *list = (uint32_t *)row[0], length = rt_load(&list[RT_LIST_LENGTH]);
    if (row + (uint64_t)(2 * AHEAD) < end) __builtin_prefetch((void *)row[2 * AHEAD], 1);
    if (length >= capacity) break;
    uint32_t handle = rt_load_leading(&list[RT_LIST_SLOTS + (length >> shift)]);
    if (!handle_is_live(handle)) break;
    *(uint32_t *)(void *)(numbers + (uint64_t)RT_GRANULE * handle +
                          (length & mask) * number.stride) = (uint32_t)row[1];
    rt_store(&list[RT_LIST_LENGTH], length + 1);
  }
  return row;
}

static int32_t shift_of_chunk(const RtManager *manager) {
  uint32_t chunk = (uint32_t)manager->chunk;
  int is_word = manager->number_count == 1 && manager->numbers[0].size == 4;
  return is_word && !(chunk & (chunk - 1)) ? __builtin_ctz(chunk) : -1;
}

static void append_piece(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                         const RtLogPiece *piece) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  uint64_t width = row_bytes(manager) / sizeof(uint64_t);
  int32_t shift = shift_of_chunk(manager);
  for (RtLogBlock *block = piece->first; block; block = block->next) {
    const uint64_t *row = (const uint64_t *)(const void *)rows_of(block),
                   *end = (const uint64_t *)(const void *)(block == piece->last ? piece->at
                                                                                : block->end);
    while (row < end) {
      if (shift >= 0)
        row = append_words(context->trees[tree], manager, (uint32_t)shift, row, end);
      if (row == end) break;
      append_row(context, worker, tree, number, row);
      row += width;
    }
  }
}

static void empty(RtLog *log) {
  for (int p = 0; p < RT_LOG_PIECES; p++) log->pieces[p] = (RtLogPiece){0};
  log->block_count = 0;
}

/* -- during a task ----------------------------------------------------------------------------- */

static void append_own(RtContext *context, RtWorker *worker, int32_t tree, int32_t number) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  RtLog *log = &stage_of(manager, worker->index)->log, *first = &stage_of(manager, 0)->log;
  int begin = RT_LOG_PIECES / context->worker_count * worker->index;
  for (int k = 0; k < RT_LOG_PIECES; k++) {
    int p = (begin + k) % RT_LOG_PIECES;
    if (!log->pieces[p].first) continue;
    rt_lock(&first->locks[p]);
    append_piece(context, worker, tree, number, &log->pieces[p]);
    rt_unlock(&first->locks[p]);
  }
  empty(log);
}

/* With room for `bytes`; NULL: the log is as long as it may be. */
static RtLogBlock *take_block(RtContext *context, RtStage *stage, uint64_t bytes,
                              uint64_t *room) {
  RtLog *log = &stage->log;
  uint32_t slab = log->block_count / SLAB_BLOCKS, block = log->block_count % SLAB_BLOCKS;
  *room = BLOCK - sizeof(RtLogBlock);
  if (log->block_count == MOST_BLOCKS || bytes > *room) return 0;
  if (!log->slabs[slab]) log->slabs[slab] = table_grow(context, 0, 0, SLAB);
  if (!log->slabs[slab]) return 0;
  log->block_count++;
  return (RtLogBlock *)(void *)(log->slabs[slab] + (uint64_t)block * BLOCK);
}

static RtLogBlock *make_block(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                              uint64_t *room) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  RtStage *stage = stage_of(manager, worker->index);
  uint64_t width = row_bytes(manager);
  RtLogBlock *block = take_block(context, stage, width, room);
  if (block) return block;
  append_own(context, worker, tree, number);
  block = take_block(context, stage, width, room);
  if (block) return block;
  stage->log.block_count = 1;
  *room = width;
  return (RtLogBlock *)(void *)stage->rows;
}

uint8_t *rt_dynamic_log_on(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                           uint32_t *list, int32_t width) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  RtLog *log = &stage_of(manager, worker->index)->log;
  uint64_t whole = row_bytes(manager), room;
  log->shift = shift_of(context->trees[tree], manager);
  rt_tree_touch(context->trees[tree]);
  RtLogBlock *block = make_block(context, worker, tree, number, &room);
  RtLogPiece *piece = log_piece(log, list); /* it has no rows if the log was appended */
  *block = (RtLogBlock){0};
  if (piece->first) {
    piece->last->next = block;
    piece->last->end = piece->at;
  } else {
    piece->first = block;
  }
  piece->last = block;
  piece->at = rows_of(block) + whole;
  piece->end = rows_of(block) + room / whole * whole;
  *(uint32_t **)(void *)rows_of(block) = list;
  return rows_of(block) + sizeof list;
}

/* -- after it ---------------------------------------------------------------------------------- */

typedef struct LogWork {
  int32_t tree, manager;
} LogWork;

static void append_pieces(RtContext *context, RtWorker *worker, void *data, int64_t begin,
                          int64_t end) {
  const LogWork *work = data;
  const RtManager *manager = &context->trees[work->tree]->managers[work->manager];
  for (int64_t p = begin; p < end; p++)
    for (int32_t w = 0; w < context->worker_count; w++)
      append_piece(context, worker, work->tree, work->manager,
                   &stage_of(manager, w)->log.pieces[p]);
}

static int is_much(const RtContext *context, const RtManager *manager) {
  uint64_t bytes = 0;
  for (int32_t w = 0; w < context->worker_count; w++)
    for (int p = 0; p < RT_LOG_PIECES; p++) {
      const RtLogPiece *piece = &stage_of(manager, w)->log.pieces[p];
      if (!piece->first) continue;
      if (piece->first != piece->last) return 1;
      bytes += (uint64_t)(piece->at - rows_of(piece->first));
    }
  return bytes >= LEAST_SHARED;
}

void rt_dynamic_unlog(RtContext *context, int32_t tree, int32_t number) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  LogWork work = {tree, number};
  uint32_t blocks = 0;
  for (int32_t w = 0; w < context->worker_count; w++)
    if (stage_of(manager, w)) blocks += stage_of(manager, w)->log.block_count;
  if (!blocks) return;
  if (!RT_ALONE && context->parallel && is_much(context, manager))
    context->parallel(context, RT_LOG_PIECES, append_pieces, &work);
  else append_pieces(context, &context->workers[0], &work, 0, RT_LOG_PIECES);
  for (int32_t w = 0; w < context->worker_count; w++) empty(&stage_of(manager, w)->log);
}
