/* expandable.c - one range of addresses that is used from its beginning on.
 *
 *     base |#####..####|...|####............| end of the last block         the range goes on
 *           ^ held      ^ free: in the index, best fit, lowest address of equals
 *
 * A request takes the smallest free block that holds it, or goes past the last block. Pages get
 * memory with the first block on them and count the blocks that are held there, so that what none
 * needs can go back (trim); a block that is given back leaves them as they are. So a hole of whole
 * pages costs addresses, not memory: when more is needed, their memory moves.
 * Blocks cover base .. last's end without gaps. Sizes are multiples of MEMORY_ALIGN. */
#include "base/bits.h"
#include "memory/strategy.h"

enum { SLACK = 16 << 20, SLACK_PART = 50 };

/* -- pages ------------------------------------------------------------------------------------- */

static uint64_t page_of(const MemoryPool *pool, uint64_t at) {
  return (at - pool->source.base) / MEMORY_PAGE;
}

static uint64_t page_at(const MemoryPool *pool, uint64_t page) {
  return pool->source.base + page * MEMORY_PAGE;
}

static bool have_pages(MemoryPool *pool, uint64_t count) {
  if (count <= pool->page_capacity) return true;
  uint64_t capacity = count * 2 > 64 ? count * 2 : 64;
  MemoryPage *pages = heap_resize(pool->heap, pool->pages, capacity * sizeof *pages);
  if (!pages) return false;
  pool->pages = pages;
  pool->page_capacity = capacity;
  return true;
}

static void drop_memory(MemoryPool *pool, uint64_t first, uint64_t past) {
  pool->source.decommit(pool->source.data, page_at(pool, first), (past - first) * MEMORY_PAGE);
  pool->usage.reserved -= (past - first) * MEMORY_PAGE;
  for (uint64_t k = first; k < past; k++) pool->pages[k].has_memory = false;
}

static bool is_idle(const MemoryPage *page) { return page->has_memory && !page->users; }

/* Takes back the memory of idle pages, last ones first, until `bytes` less are reserved. */
static void reclaim(MemoryPool *pool, uint64_t bytes) {
  uint64_t least = pool->usage.reserved > bytes ? pool->usage.reserved - bytes : 0;
  for (uint64_t k = pool->page_capacity; k-- > 0 && pool->usage.reserved > least;)
    if (is_idle(&pool->pages[k])) drop_memory(pool, k, k + 1);
}

/* Memory that is idle stays where it is: but before more is asked for than was in use at most and
 * this on top, it goes where it is needed. */
static uint64_t most_reserved(const MemoryPool *pool) {
  uint64_t most = pool->usage.peak_in_use;
  return most + max_i64((int64_t)most / SLACK_PART, SLACK);
}

static bool add_memory(MemoryPool *pool, uint64_t first, uint64_t past) {
  uint64_t bytes = (past - first) * MEMORY_PAGE, most = most_reserved(pool);
  if (pool->usage.reserved + bytes > most)
    reclaim(pool, pool->usage.reserved + bytes - most);
  if (!pool->source.commit(pool->source.data, page_at(pool, first), bytes)) return false;
  pool->usage.device_calls += past - first;
  pool_count_reserved(pool, bytes);
  for (uint64_t k = first; k < past; k++) pool->pages[k].has_memory = true;
  return true;
}

/* The first page from `first` on whose memory is, or is not, there; or `past`. */
static uint64_t skip_pages(const MemoryPool *pool, uint64_t first, uint64_t past,
                           bool has_memory) {
  while (first < past && pool->pages[first].has_memory != has_memory) first++;
  return first;
}

static bool fill_pages(MemoryPool *pool, uint64_t first, uint64_t past) {
  uint64_t begin = skip_pages(pool, first, past, false);
  while (begin < past) {
    uint64_t end = skip_pages(pool, begin, past, true);
    if (!add_memory(pool, begin, end)) return false;
    begin = skip_pages(pool, end, past, false);
  }
  return true;
}

/* The pages under the block have one more user, and memory; false: not all of them. */
static bool use_pages(MemoryPool *pool, const MemoryBlock *block) {
  uint64_t first = page_of(pool, block->at), past = page_of(pool, block->at + block->size - 1) + 1;
  MemoryPage *pages = pool->pages;
  bool have_memory = true;
  for (uint64_t k = first; k < past; k++) {
    pages[k].users++;
    have_memory &= pages[k].has_memory;
  }
  return have_memory || fill_pages(pool, first, past);
}

static void leave_pages(MemoryPool *pool, const MemoryBlock *block) {
  uint64_t first = page_of(pool, block->at), past = page_of(pool, block->at + block->size - 1) + 1;
  MemoryPage *pages = pool->pages;
  for (uint64_t k = first; k < past; k++) pages[k].users--;
}

/* -- blocks ------------------------------------------------------------------------------------ */

static uint64_t end_of(const MemoryPool *pool) {
  return pool->last ? pool->last->at + pool->last->size : pool->source.base;
}

static void set_free(MemoryPool *pool, MemoryBlock *block) {
  block->is_free = true;
  free_index_add(&pool->free, block);
}

/* A block past the last one; where that is free, together with it. */
static MemoryBlock *extend(MemoryPool *pool, uint64_t size) {
  MemoryBlock *last = pool->last;
  bool joins = last && last->is_free;
  uint64_t at = joins ? last->at : end_of(pool);
  if (size > pool->source.base + pool->source.size_bytes - at) return NULL;
  if (joins) {
    free_index_remove(&pool->free, last);
    last->size = size;
    return last;
  }
  MemoryBlock *block = pool_record(pool, at, size);
  if (!block) return NULL;
  block->previous = last;
  if (last) last->next = block;
  else pool->first = block;
  return pool->last = block;
}

/* Without its end that the request does not need. */
static MemoryBlock *cut(MemoryPool *pool, MemoryBlock *block, uint64_t size) {
  free_index_remove(&pool->free, block);
  MemoryBlock *rest = block->size > size ? pool_split(pool, block, size) : NULL;
  if (!rest) return block;
  set_free(pool, rest);
  return block;
}

static void give(MemoryPool *pool, MemoryBlock *block) {
  MemoryBlock *before = block->previous, *after = block->next;
  leave_pages(pool, block);
  if (after && after->is_free) {
    free_index_remove(&pool->free, after);
    pool_join(pool, block);
  }
  if (before && before->is_free) {
    free_index_remove(&pool->free, before);
    pool_join(pool, before);
    block = before;
  }
  set_free(pool, block);
}

static MemoryBlock *take(MemoryPool *pool, uint64_t size_bytes) {
  uint64_t size = align_up(size_bytes ? size_bytes : 1, MEMORY_ALIGN);
  if (size > pool->source.size_bytes) return NULL;
  if (!have_pages(pool, page_of(pool, end_of(pool)) + size / MEMORY_PAGE + 2)) return NULL;
  MemoryBlock *block = free_index_find(&pool->free, size);
  block = block ? cut(pool, block, size) : extend(pool, size);
  if (!block) return NULL;
  if (!use_pages(pool, block)) {
    give(pool, block);
    return NULL;
  }
  uint64_t past = block->at + block->size, clean = pool->clean_from;
  block->dirty = clean > block->at ? (clean < past ? clean : past) - block->at : 0;
  if (past > clean) pool->clean_from = past;
  return block;
}

/* -- the rest ---------------------------------------------------------------------------------- */

static void trim(MemoryPool *pool) {
  uint64_t count = pool->page_capacity, past;
  for (uint64_t k = 0; k < count; k = past) {
    for (past = k; past < count && is_idle(&pool->pages[past]);) past++;
    if (past > k) drop_memory(pool, k, past);
    else past++;
  }
  if (!pool->last || !pool->last->is_free) return;
  MemoryBlock *last = pool->last; /* what comes next begins there anew */
  free_index_remove(&pool->free, last);
  pool->last = last->previous;
  if (pool->last) pool->last->next = NULL;
  else pool->first = NULL;
  pool_drop_record(pool, last);
}

static uint64_t largest(const MemoryPool *pool) {
  const MemoryBlock *block = free_index_largest(&pool->free);
  return block ? block->size : 0;
}

static bool has_pages(const MemoryPool *pool, const MemoryBlock *block) {
  uint64_t past = page_of(pool, block->at + block->size - 1) + 1;
  for (uint64_t k = page_of(pool, block->at); k < past; k++)
    if (!pool->pages[k].has_memory || !pool->pages[k].users) return false;
  return true;
}

static bool is_valid(const MemoryPool *pool, const char **broken) {
  uint64_t at = pool->source.base, in_use = 0, free_count = 0, reserved = 0;
  const MemoryBlock *before = NULL;
  for (const MemoryBlock *block = pool->first; block; before = block, block = block->next) {
    *broken = "blocks follow each other without gaps";
    if (block->at != at || !block->size || block->previous != before) return false;
    *broken = "two neighbours are not both free";
    if (block->is_free && before && before->is_free) return false;
    *broken = "the index holds what is free";
    if (block->is_free && !free_index_has(&pool->free, block)) return false;
    *broken = "pages of blocks that are held have memory, and users";
    if (!block->is_free && !has_pages(pool, block)) return false;
    at += block->size;
    free_count += block->is_free;
    if (!block->is_free) in_use += block->size;
  }
  for (uint64_t k = 0; k < pool->page_capacity; k++)
    if (pool->pages[k].has_memory) reserved += MEMORY_PAGE;
  *broken = "the counts are those of the blocks";
  return pool->last == before && (uint64_t)pool->free.count == free_count &&
         in_use == pool->usage.in_use && reserved == pool->usage.reserved;
}

static void end(MemoryPool *pool) {
  for (uint64_t k = 0; k < pool->page_capacity; k++)
    if (pool->pages[k].has_memory) drop_memory(pool, k, k + 1);
  heap_free(pool->heap, pool->pages);
}

const StrategyRow strategy_expandable = {.take = take,
                                         .give = give,
                                         .trim = trim,
                                         .largest = largest,
                                         .is_valid = is_valid,
                                         .end = end};
