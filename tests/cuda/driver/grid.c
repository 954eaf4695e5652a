/* grid.c - a launch: some of its blocks are resident, and a seeded choice says which of their warps
 * runs next and for how long. Any slice may end after any instruction, so at any access to memory.
 * A launch in which no warp can continue has timed out. */
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "option.h"
#include "result.h"

enum { RESIDENT_THREADS = 2048 }; /* of a multiprocessor */

typedef struct Resident {
  Block **blocks;
  uint32_t block_count;
  Warp **warps; /* of all resident blocks */
  uint32_t warp_count;
} Resident;

Counts grid_counts;
static struct {
  Warp **at;
  uint32_t count, room;
} idle; /* warps for reuse: they keep their stacks */

static Warp *warp_take(void) {
  if (idle.count) return idle.at[--idle.count];
  Warp *warp = aligned_alloc(64, (sizeof *warp + 63) & ~(size_t)63);
  if (!warp) abort();
  *warp = (Warp){0};
  warp->local = mmap(NULL, (size_t)LANES * STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (warp->local == MAP_FAILED) abort();
  return warp;
}

static Block *block_open(Grid *grid, uint64_t number) {
  Block *block = calloc(1, sizeof *block);
  uint32_t threads = grid->threads[0] * grid->threads[1] * grid->threads[2];
  if (!block) abort();
  block->x = (uint32_t)(number % grid->blocks[0]);
  block->y = (uint32_t)(number / grid->blocks[0] % grid->blocks[1]);
  block->z = (uint32_t)(number / grid->blocks[0] / grid->blocks[1]);
  block->live_threads = threads;
  block->warp_count = block->live_warps = (threads + LANES - 1) / LANES;
  block->shared = calloc(1, grid->shared_bytes + 16);
  block->shared_written = calloc(1, grid->shared_bytes + 16);
  block->warps = malloc(block->warp_count * sizeof(Warp *));
  if (!block->shared || !block->shared_written || !block->warps) abort();
  for (uint32_t i = 0; i < block->warp_count; i++) {
    block->warps[i] = warp_take();
    warp_start(block->warps[i], grid, block, i, threads - i * LANES);
  }
  return block;
}

static void block_close(Grid *grid, Block *block) {
  Function *function = grid->function;
  for (uint32_t i = 0; i < block->warp_count; i++) {
    Warp *warp = block->warps[i];
    function->warp_instructions += warp->warp_instructions;
    function->thread_instructions += warp->thread_instructions;
    grid_counts.warp_instructions += warp->warp_instructions;
    grid_counts.thread_instructions += warp->thread_instructions;
    warp_abandon(warp);
    PUSH(idle, warp);
  }
  free(block->warps);
  free(block->shared);
  free(block->shared_written);
  free(block);
}

static void add_block(Grid *grid, Resident *resident, uint64_t number) {
  Block *block = block_open(grid, number);
  resident->blocks[resident->block_count++] = block;
  for (uint32_t i = 0; i < block->warp_count; i++)
    resident->warps[resident->warp_count++] = block->warps[i];
}

static void drop_ended(Grid *grid, Resident *resident) {
  for (uint32_t i = resident->block_count; i-- > 0;) {
    Block *block = resident->blocks[i];
    if (block->live_warps && !grid->result) continue;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < resident->warp_count; k++)
      if (resident->warps[k]->block != block) resident->warps[kept++] = resident->warps[k];
    resident->warp_count = kept;
    resident->blocks[i] = resident->blocks[--resident->block_count];
    block_close(grid, block);
  }
}

/* The next warp that can run, or NULL. */
static Warp *run_some(Grid *grid, Resident *resident, uint64_t *instructions) {
  uint64_t choice = random_next(&grid->random);
  uint32_t first = (uint32_t)((choice >> 32) * resident->warp_count >> 32);
  bool is_alone = resident->warp_count == 1 && resident->blocks[0]->live_threads == 1;
  int64_t slice =
      is_alone ? 100000 : 1 + (int64_t)((choice & 0xffffffff) * 2 * (uint64_t)options.slice >> 32);
  for (uint32_t pass = 0; pass < 2; pass++) /* sleeping warps run only if all others wait */
    for (uint32_t i = 0; i < resident->warp_count; i++) {
      Warp *warp = resident->warps[(first + i) % resident->warp_count];
      uint64_t before = warp->warp_instructions;
      if ((pass == 0 && warp->wakes > grid->time) || !warp_run(warp, slice)) continue;
      *instructions += warp->warp_instructions - before;
      return warp;
    }
  return NULL;
}

int grid_run(Grid *grid) {
  uint32_t threads = grid->threads[0] * grid->threads[1] * grid->threads[2];
  uint64_t total = (uint64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2], next = 0;
  uint32_t most = RESIDENT_THREADS / threads * (uint32_t)options.processors;
  uint64_t instructions = 0, limit = (uint64_t)options.limit * 1000000;
  if (most == 0) most = 1;
  if (most > total) most = (uint32_t)total;
  Resident resident = {0};
  resident.blocks = malloc(most * sizeof(Block *));
  resident.warps = malloc((size_t)most * ((threads + LANES - 1) / LANES) * sizeof(Warp *));
  if (!resident.blocks || !resident.warps) abort();
  while (!grid->result && (next < total || resident.block_count)) {
    while (next < total && resident.block_count < most) add_block(grid, &resident, next++);
    Warp *ran = run_some(grid, &resident, &instructions);
    grid->time = instructions;
    if (!ran || (limit && instructions > limit))
      warp_fault(resident.warps[0], NULL, CUDA_ERROR_LAUNCH_TIMEOUT,
                 ran ? "it runs longer than PTX_LIMIT allows"
                     : "every thread waits for another one");
    if (grid->result || !ran->block->live_warps) drop_ended(grid, &resident);
  }
  free(resident.blocks);
  free(resident.warps);
  grid->function->launches++;
  grid->function->bytes_read += grid->bytes_read;
  grid->function->bytes_written += grid->bytes_written;
  grid->function->sectors += grid->sectors;
  grid_counts.launches++;
  grid_counts.bytes_read += grid->bytes_read;
  grid_counts.bytes_written += grid->bytes_written;
  grid_counts.sectors += grid->sectors;
  return grid->result;
}
