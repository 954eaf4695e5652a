/* node_dynamic_log.c - appends to many lists: each worker writes elements into a log of its own,
 * and after the loop they are appended list by list. Logs are used by several workers, which would
 * contend for the lists, and by a single one whose caches do not hold the lists
 * (rt_dynamic_is_logged).
 *
 *     row:  list, numbers      piece 0:  row row .. | row ..      its blocks, in order
 *                              piece 1:  row ..
 *
 * A log is divided into pieces (partitions) by the addresses of lists, alike in all workers. After
 * the task (rt_tree_refresh) the pieces are distributed over the workers: one worker appends all
 * rows of a piece, log by log. So no two workers contend for a list, whose memory stays in one
 * worker's cache, and rows of one worker keep their order in each list. A worker whose log is full
 * appends it during the task, piece by piece under a lock, as nothing else changes these lists
 * meanwhile. If the rows of one list fill a block, they are appended at once: only the length is
 * claimed under the lock, so that workers copy in parallel to a list that all append to.
 * Sizes: 2 KiB per block, 16 MiB per worker and SNode at most, while half of the budget is free;
 * kept for the next task, until the budget is short (storage.c). A worker that gets no memory uses
 * its stage's rows as its only block. Decision D-llvm_bc-09. */
#include "atomic.h"
#include "node.h"

enum {
  BLOCK = 2048, /* bytes */
  SLAB = 32 * BLOCK,
  SLAB_BLOCKS = SLAB / BLOCK,
  MOST_BLOCKS = RT_LOG_SLABS * SLAB_BLOCKS,
  LEAST_SHARED = 64 << 10, /* bytes of rows: one worker appends fewer */
  LEAST_SHIFT = 6,         /* a cache line */
  MOST_SHIFT = 16,
  AHEAD = 8 /* rows: the prefetch distance of their lists */
};

static uint64_t row_bytes(const RtManager *manager) { return (uint64_t)manager->row_bytes; }

static RtStage *stage_of(const RtManager *manager, int32_t worker) {
  return manager->locals[worker].stage;
}

static uint8_t *rows_of(RtLogBlock *block) { return (uint8_t *)(block + 1); }

static uint32_t *list_of(uint64_t base, const uint8_t *row) {
  return (uint32_t *)base + *(const uint32_t *)(const void *)row;
}

/* Chosen so that pieces are of similar size if lists fill the memory in which they are. */
static uint32_t shift_of(const RtTree *tree, const RtManager *manager) {
  uint64_t bytes = manager->parent < 0 ? tree->root_size : RT_LARGE;
  uint32_t shift = LEAST_SHIFT;
  while (shift < MOST_SHIFT && bytes >> shift > 4 * (uint64_t)RT_LOG_PIECES) shift++;
  return shift;
}

/* -- appending --------------------------------------------------------------------------------- */

static void write_number(const RtNumber *number, uint8_t *node, uint32_t cell, const uint8_t *row) {
  uint8_t *to = node + number->offset + cell * number->stride;
  const uint8_t *from = row + number->row;
  switch (number->size) {
  case 1: *to = *from; return;
  case 2: *(uint16_t *)(void *)to = *(const uint16_t *)(const void *)from; return;
  case 4: *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from; return;
  default: *(uint64_t *)(void *)to = *(const uint64_t *)(const void *)from;
  }
}

/* Appends a row to a list that no other worker changes. */
static void append_row(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                       uint32_t *list, const uint8_t *row) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  uint32_t length = rt_load(&list[RT_LIST_LENGTH]);
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
    write_number(&manager->numbers[k], node, length % chunk, row);
  rt_store(&list[RT_LIST_LENGTH], length + 1);
}

typedef struct Word { /* a row of an element of one number of four bytes */
  uint32_t list, value;
} Word;

/* Appends the rows from `row` on whose chunks exist; returns the first other one. Chunks have
 * 1 << shift elements. */
static const Word *append_words(const RtTree *tree, const RtManager *manager, uint32_t shift,
                                uint64_t base, const Word *row, const Word *end) {
  const RtNumber number = manager->numbers[0];
  uint32_t capacity = (uint32_t)manager->capacity, mask = (uint32_t)manager->chunk - 1;
  uint8_t *numbers = tree->base + number.offset;
  for (; row < end; row++) {
    uint32_t *list = (uint32_t *)base + row->list, length = rt_load(&list[RT_LIST_LENGTH]);
    if (row + AHEAD < end) __builtin_prefetch((uint32_t *)base + row[AHEAD].list, 1);
    if (length >= capacity) break;
    uint32_t handle = rt_load_leading(&list[RT_LIST_SLOTS + (length >> shift)]);
    if (!handle_is_live(handle)) break;
    *(uint32_t *)(void *)(numbers + (uint64_t)RT_GRANULE * handle +
                          (length & mask) * number.stride) = row->value;
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
  int32_t shift = shift_of_chunk(manager);
  for (RtLogBlock *block = piece->first; block; block = block->next) {
    const uint8_t *row = rows_of(block), *end = block == piece->last ? piece->at : block->end;
    while (row < end) {
      if (shift >= 0)
        row = (const uint8_t *)append_words(context->trees[tree], manager, (uint32_t)shift,
                                            block->base, (const Word *)(const void *)row,
                                            (const Word *)(const void *)end);
      if (row == end) break;
      append_row(context, worker, tree, number, list_of(block->base, row), row);
      row += row_bytes(manager);
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

/* Is the piece one full block, of rows of one list? */
static int is_one_list(const RtManager *manager, const RtLogPiece *piece) {
  if (!piece->first || piece->first != piece->last || piece->at != piece->end) return 0;
  const uint8_t *rows = rows_of(piece->first);
  uint64_t rest = (uint64_t)(piece->at - rows);
  uint32_t list = *(const uint32_t *)(const void *)rows;
  while (rest) {
    rest -= row_bytes(manager);
    if (*(const uint32_t *)(const void *)(rows + rest) != list) return 0;
  }
  return 1;
}

/* Copies the rows without the lock, while other workers claim the following elements. */
static void append_one_list(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                            RtLogPiece *piece, uint32_t *lock) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  uint8_t *rows = rows_of(piece->first);
  uint32_t *list = list_of(piece->base, rows), first;
  uint64_t count = (uint64_t)(piece->at - rows) / row_bytes(manager);
  rt_lock(lock);
  count = rt_dynamic_claim(context, worker, tree, number, list, (uint32_t)count, &first);
  rt_unlock(lock);
  if (count) rt_dynamic_write(context->trees[tree], manager, list, first, (uint32_t)count, rows);
  piece->at = rows;
}

/* Logs may take half of the budget, so that memory is left for the elements that they hold. */
static uint8_t *take_slab(RtContext *context, RtTree *tree, RtManager *manager) {
  RtBudget *budget = tree->budget;
  uint64_t used = rt_load_long(&budget->used);
  if (used + SLAB > rt_load_long(&budget->limit) / 2 || !rt_budget_take(budget, SLAB)) return 0;
  uint8_t *slab = table_grow(context, 0, 0, SLAB);
  if (slab) rt_add_long(&manager->log_bytes, SLAB);
  else rt_subtract_long(&budget->used, SLAB);
  return slab;
}

/* Takes a block with *room bytes for rows; NULL if the log has reached its limit. */
static RtLogBlock *take_block(RtContext *context, RtTree *tree, RtManager *manager, RtStage *stage,
                              uint64_t *room) {
  RtLog *log = &stage->log;
  uint32_t slab = log->block_count / SLAB_BLOCKS, block = log->block_count % SLAB_BLOCKS;
  *room = BLOCK - sizeof(RtLogBlock);
  if (log->block_count == MOST_BLOCKS || row_bytes(manager) > *room) return 0;
  if (!log->slabs[slab]) log->slabs[slab] = take_slab(context, tree, manager);
  if (!log->slabs[slab]) return 0;
  log->block_count++;
  return (RtLogBlock *)(void *)(log->slabs[slab] + (uint64_t)block * BLOCK);
}

static RtLogBlock *make_block(RtContext *context, RtWorker *worker, int32_t tree_index,
                              int32_t number, uint64_t *room) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[number];
  RtStage *stage = stage_of(manager, worker->index);
  RtLogBlock *block = take_block(context, tree, manager, stage, room);
  if (block) return block;
  append_own(context, worker, tree_index, number);
  block = take_block(context, tree, manager, stage, room);
  if (block) return block;
  stage->log.block_count = 1;
  *room = row_bytes(manager);
  return (RtLogBlock *)(void *)stage->rows;
}

/* Most lists are near the tree's base; one in a sink may be anywhere. */
static uint64_t base_for(const RtTree *tree, const uint32_t *list) {
  uint64_t base = (uint64_t)tree->base, at = (uint64_t)list;
  return log_names(at - base) ? base : at;
}

static void begin_block(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                        const uint32_t *list) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  RtLog *log = &stage_of(manager, worker->index)->log;
  uint64_t whole = row_bytes(manager), room;
  RtLogBlock *block = make_block(context, worker, tree, number, &room);
  RtLogPiece *piece = log_piece(log, list); /* it has no rows if the log was appended */
  *block = (RtLogBlock){.base = base_for(context->trees[tree], list)};
  if (piece->first) {
    piece->last->next = block;
    piece->last->end = piece->at;
  } else {
    piece->first = block;
  }
  piece->last = block;
  piece->at = rows_of(block);
  piece->end = piece->at + room / whole * whole;
  piece->base = block->base;
}

uint8_t *rt_dynamic_log_on(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                           uint32_t *list, int32_t width) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  RtLog *log = &stage_of(manager, worker->index)->log;
  log->shift = shift_of(context->trees[tree], manager);
  rt_tree_touch(context->trees[tree]);
  RtLogPiece *piece = log_piece(log, list);
  uint32_t *locks = stage_of(manager, 0)->log.locks;
  if (is_one_list(manager, piece))
    append_one_list(context, worker, tree, number, piece, &locks[piece - log->pieces]);
  if (piece->at == piece->end || !log_names((uint64_t)list - piece->base))
    begin_block(context, worker, tree, number, list);
  *(uint32_t *)(void *)piece->at = (uint32_t)(((uint64_t)list - piece->base) / sizeof *list);
  piece->at += width;
  return piece->at - width;
}

/* -- after the task ---------------------------------------------------------------------------- */

typedef struct LogWork {
  int32_t tree, manager;
} LogWork;

static void RT_CALL append_pieces(RtContext *context, RtWorker *worker, void *data, int64_t begin,
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
