/* expandable.c - one range of addresses that is used from its beginning on, block after block
 * (span.c). A page is committed with the first block on it, and counts its held blocks, so that
 * unused pages can be freed (trim); freeing a block leaves its pages committed. When memory is
 * short, that of unused pages moves to where it is needed: so a hole of whole pages costs
 * addresses, not memory. Sizes are multiples of MEMORY_ALIGN. Decision D-device-12. */
#include "base/bits.h"
#include "memory/strategy.h"

enum { SLACK = 16 << 20, SLACK_DIVISOR = 50, IDLE_NS = 1000000000 };

/* -- pages ------------------------------------------------------------------------------------- */

static uint64_t page_bytes(const MemoryPool *pool) {
  return pool->source.page_bytes ? pool->source.page_bytes : MEMORY_SMALL_PAGE;
}

static uint64_t page_of(const MemoryPool *pool, uint64_t at) {
  return (at - pool->source.base) / page_bytes(pool);
}

static uint64_t page_at(const MemoryPool *pool, uint64_t page) {
  return pool->source.base + page * page_bytes(pool);
}

static bool ensure_page_records(MemoryPool *pool, uint64_t count) {
  if (count <= pool->page_capacity) return true;
  uint64_t capacity = count * 2 > 64 ? count * 2 : 64;
  MemoryPage *pages = heap_resize(pool->heap, pool->pages, capacity * sizeof *pages);
  if (!pages) return false;
  pool->pages = pages;
  pool->page_capacity = capacity;
  return true;
}

/* Records the bytes on pages without users. */
static void update_min_idle(MemoryPool *pool) {
  uint64_t idle = pool->usage.reserved - pool->used_pages * page_bytes(pool);
  if (idle < pool->min_idle) pool->min_idle = idle;
}

static void decommit_pages(MemoryPool *pool, uint64_t first, uint64_t past) {
  pool->source.decommit(pool->source.data, page_at(pool, first), (past - first) * page_bytes(pool));
  pool->usage.reserved -= (past - first) * page_bytes(pool);
  for (uint64_t k = first; k < past; k++) pool->pages[k].has_memory = false;
  update_min_idle(pool);
}

static bool is_idle(const MemoryPage *page) { return page->has_memory && !page->users; }

/* The first of up to `max_pages` consecutive idle pages that end at page `past`. */
static uint64_t first_idle(const MemoryPool *pool, uint64_t past, uint64_t max_pages) {
  uint64_t first = past;
  while (first > 0 && past - first < max_pages && is_idle(&pool->pages[first - 1])) first--;
  return first;
}

/* Decommits idle pages, last ones first, until `bytes` less are reserved. Adjacent pages are
 * decommitted by one call, as the system splits a huge page of which only a part is freed. */
static void reclaim(MemoryPool *pool, uint64_t bytes) {
  uint64_t least = pool->usage.reserved > bytes ? pool->usage.reserved - bytes : 0;
  if (pool->usage.reserved == pool->used_pages * page_bytes(pool)) return;
  for (uint64_t past = pool->page_capacity; past > 0 && pool->usage.reserved > least;) {
    uint64_t max_pages = (pool->usage.reserved - least + page_bytes(pool) - 1) / page_bytes(pool);
    uint64_t first = first_idle(pool, past, max_pages);
    if (first < past) decommit_pages(pool, first, past);
    past = first < past ? first : past - 1;
  }
}

/* Limit for reserved bytes. Idle memory stays where it is until more than the peak use plus this
 * slack would be reserved; then it moves to where it is needed. */
static uint64_t reserve_limit(const MemoryPool *pool) {
  uint64_t peak = pool->usage.peak_in_use;
  return peak + max_i64((int64_t)peak / SLACK_DIVISOR, SLACK);
}

static bool commit_range(MemoryPool *pool, uint64_t first, uint64_t past) {
  uint64_t bytes = (past - first) * page_bytes(pool), limit = reserve_limit(pool);
  if (pool->usage.reserved + bytes > limit) reclaim(pool, pool->usage.reserved + bytes - limit);
  if (!pool->source.commit(pool->source.data, page_at(pool, first), bytes)) return false;
  pool->usage.device_calls++;
  pool_count_reserved(pool, bytes);
  for (uint64_t k = first; k < past; k++) pool->pages[k].has_memory = true;
  return true;
}

/* The first page from `first` on that is, or is not, committed; `past` if there is none. */
static uint64_t skip_pages(const MemoryPool *pool, uint64_t first, uint64_t past, bool has_memory) {
  while (first < past && pool->pages[first].has_memory != has_memory) first++;
  return first;
}

static bool commit_pages(MemoryPool *pool, uint64_t first, uint64_t past) {
  uint64_t begin = skip_pages(pool, first, past, false);
  while (begin < past) {
    uint64_t end = skip_pages(pool, begin, past, true);
    if (!commit_range(pool, begin, end)) return false;
    begin = skip_pages(pool, end, past, false);
  }
  return true;
}

/* Adds a user to the pages under the block, and commits them; false if that failed for some. */
static bool add_page_users(MemoryPool *pool, const MemoryBlock *block) {
  uint64_t first = page_of(pool, block->at), past = page_of(pool, block->at + block->size - 1) + 1;
  MemoryPage *pages = pool->pages;
  bool have_memory = true;
  for (uint64_t k = first; k < past; k++) {
    pool->used_pages += !pages[k].users++;
    have_memory &= pages[k].has_memory;
  }
  return have_memory || commit_pages(pool, first, past);
}

static void remove_page_users(MemoryPool *pool, const MemoryBlock *block) {
  uint64_t first = page_of(pool, block->at), past = page_of(pool, block->at + block->size - 1) + 1;
  MemoryPage *pages = pool->pages;
  for (uint64_t k = first; k < past; k++) pool->used_pages -= !--pages[k].users;
}

/* -- blocks ------------------------------------------------------------------------------------ */

static void free_block(MemoryPool *pool, MemoryBlock *block) {
  remove_page_users(pool, block);
  span_free(pool, block);
}

static MemoryBlock *allocate(MemoryPool *pool, uint64_t size_bytes) {
  uint64_t size = align_up(size_bytes ? size_bytes : 1, MEMORY_ALIGN);
  if (size > pool->source.size_bytes) return NULL;
  if (!ensure_page_records(pool, page_of(pool, span_end(pool)) + size / page_bytes(pool) + 2))
    return NULL;
  MemoryBlock *block = span_allocate(pool, size);
  if (!block) return NULL;
  if (!add_page_users(pool, block)) {
    free_block(pool, block);
    return NULL;
  }
  update_min_idle(pool);
  uint64_t past = block->at + block->size, clean = pool->clean_from;
  block->dirty = clean > block->at ? (clean < past ? clean : past) - block->at : 0;
  if (past > clean) pool->clean_from = past;
  return block;
}

/* -- trimming and checks ----------------------------------------------------------------------- */

static void trim(MemoryPool *pool) {
  uint64_t count = pool->page_capacity, past;
  for (uint64_t k = 0; k < count; k = past) {
    for (past = k; past < count && is_idle(&pool->pages[past]);) past++;
    if (past > k) decommit_pages(pool, k, past);
    else past++;
  }
  span_trim(pool); /* the next block begins there */
}

/* Frees memory that was unused since the last tick, except a little: a loop that allocates and
 * frees the same each time uses all of its memory each time. */
static void tick(MemoryPool *pool, int64_t now_ns) {
  if (now_ns - pool->idle_since_ns < IDLE_NS) return;
  if (pool->min_idle > SLACK) reclaim(pool, pool->min_idle - SLACK);
  pool->min_idle = UINT64_MAX;
  update_min_idle(pool);
  pool->idle_since_ns = now_ns;
}

static bool has_pages(const MemoryPool *pool, const MemoryBlock *block) {
  uint64_t past = page_of(pool, block->at + block->size - 1) + 1;
  for (uint64_t k = page_of(pool, block->at); k < past; k++)
    if (!pool->pages[k].has_memory || !pool->pages[k].users) return false;
  return true;
}

static bool is_valid(const MemoryPool *pool, const char **violated) {
  uint64_t reserved = 0, used = 0;
  *violated = "pages of blocks that are held have memory, and users";
  for (const MemoryBlock *block = pool->first; block; block = block->next)
    if (!block->is_free && !has_pages(pool, block)) return false;
  for (uint64_t k = 0; k < pool->page_capacity; k++) {
    reserved += pool->pages[k].has_memory ? page_bytes(pool) : 0;
    used += pool->pages[k].users > 0;
  }
  *violated = "reserved bytes are those of pages with memory, and in_use those of pages with users";
  return reserved == pool->usage.reserved && used == pool->used_pages &&
         span_is_valid(pool, violated);
}

static void end(MemoryPool *pool) {
  for (uint64_t k = 0; k < pool->page_capacity; k++)
    if (pool->pages[k].has_memory) decommit_pages(pool, k, k + 1);
  heap_free(pool->heap, pool->pages);
}

const StrategyRow strategy_expandable = {.allocate = allocate,
                                         .free = free_block,
                                         .trim = trim,
                                         .tick = tick,
                                         .largest = span_largest,
                                         .is_valid = is_valid,
                                         .end = end};
