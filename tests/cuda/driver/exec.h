/* exec.h - the execution of a launch: warps of 32 lanes that may diverge.
 *
 *     grid -- blocks, some of them resident -- warps -- groups of lanes at one instruction
 *
 * A warp runs one group at a time: `pc`, `mask` and `frame` are that group's; the others are
 * parked. A group splits where its lanes diverge, and joins another group at the same instruction
 * in the same frame: the group in the deepest call runs first, and among those the one at the
 * lowest instruction, so lanes reconverge where their paths join. Some time slices go to each group
 * in turn, so a spinning lane cannot starve the one that it waits for.
 *
 * A frame is one call by one group: registers for 32 lanes, of which only the group's are used. */
#ifndef PTX_EXEC_H
#define PTX_EXEC_H

#include "code.h"
#include "memory.h"

enum {
  STACK_BYTES = 1 << 17, /* local memory of a lane */
  BARRIERS = 16,
  BLOCK_THREADS = 1024,
};
#define SHARED_WINDOW 0x10000000000ull
#define LOCAL_WINDOW 0x10001000000ull
#define PARAM_WINDOW 0x10002000000ull
#define WINDOW_SIZE 0x1000000ull

typedef struct Frame Frame;
struct Frame {
  Frame *parent; /* of an idle frame: the next one */
  const Function *function;
  const Inst *back;
  const Call *call;
  uint32_t live, depth, local_base;
  char *registers;
};

typedef enum GroupState {
  GROUP_READY,
  GROUP_SYNC,     /* waits for other lanes of the warp to reach its instruction */
  GROUP_SYNC_ANY, /* at bar.warp.sync: they may reach another one */
  GROUP_PAUSED,   /* at nanosleep */
  GROUP_BARRIER,  /* waits for other warps of its block */
} GroupState;

typedef struct Group {
  const Inst *pc;
  Frame *frame;
  uint32_t mask;
  GroupState state;
  uint32_t number; /* of the barrier; or the lanes waited for */
} Group;

typedef struct Block {
  uint32_t x, y, z;
  uint32_t warp_count, live_warps, live_threads;
  char *shared;
  uint8_t *shared_written;
  struct {
    uint32_t arrived, expected, value;
  } barriers[BARRIERS];
  Warp **warps;
} Block;

typedef struct Grid {
  Function *function;
  uint32_t blocks[3], threads[3];
  const char *params;
  uint32_t shared_bytes, dynamic_bytes;
  uint64_t time; /* instructions so far */
  uint64_t bytes_read, bytes_written, sectors;
  uint64_t random;
  int result; /* the first error: a CUresult */
  char error[256];
} Grid;

struct Warp {
  char *base[2]; /* of places: registers of the frame, constants of its function */
  const Inst *pc, *stop;
  int64_t budget;
  uint32_t mask, lanes;
  Frame *frame;
  char *local;                   /* STACK_BYTES for each lane, a lane's together */
  uint64_t near_base, near_size; /* the live range of the last access */
  Grid *grid;
  Block *block;
  uint32_t alive; /* lanes that have not ended */
  uint32_t number, group_count;
  Group groups[LANES];
  uint64_t warp_instructions, thread_instructions;
  uint8_t carry[LANES];
  uint64_t sectors[LANES]; /* of the instruction at `sector_time`, when they are counted */
  int64_t sector_time;
  uint32_t sector_count;
  uint32_t turn, slices, idle_slices;
  uint64_t wakes; /* the time of the grid until which it sleeps */
  bool is_turn;   /* this slice is the group's, even if others are ready */
};

/* warp.c */
void warp_start(Warp *warp, Grid *grid, Block *block, uint32_t number, uint32_t threads);
/* Runs up to so many instructions. False if it cannot: it has ended, or waits. */
bool warp_run(Warp *warp, int64_t budget);
void warp_set_mask(Warp *warp, uint32_t mask);
/* The current group jumps to `pc`; another group may run next. */
void warp_go(Warp *warp, const Inst *pc);
/* The lanes `mask` of the current group jump to `pc`; the others continue. */
void warp_split(Warp *warp, uint32_t mask, const Inst *pc);
void warp_park(Warp *warp, GroupState state, const Inst *pc, uint32_t number);
/* The current group sleeps. False if all others sleep, too. */
bool warp_pause(Warp *warp);
void warp_enter(Warp *warp, Frame *frame, const Inst *pc); /* the current group does */
void warp_end_lanes(Warp *warp, uint32_t mask);
void warp_release_barrier(Warp *warp, uint32_t number);
void warp_abandon(Warp *warp);
void warp_forget_frames(Function *function);
Frame *frame_open(const Function *function, Frame *parent, uint32_t mask);
void frame_leave(Frame *frame, uint32_t mask);

/* The first fault of a grid ends it; the text goes to stderr, with kernel and line. */
void warp_fault(Warp *warp, const Inst *inst, int result, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Statistics of launches since the last call: their number, instructions of warps and of threads,
 * bytes of global memory, and its sectors (32 bytes; each counts once per instruction of a warp; 0
 * unless PTX_COUNT is set); and copies and fills. */
typedef struct Counts {
  uint64_t launches, warp_instructions, thread_instructions, bytes_read, bytes_written, sectors;
  uint64_t copies, copied_bytes;
} Counts;
extern Counts grid_counts;

/* grid.c: runs a launch to its end; a CUresult. */
int grid_run(Grid *grid);
uint64_t random_next(uint64_t *state);

/* sync.c */
void block_arrive(Warp *warp, uint32_t number);
void block_check_barriers(Block *block);

/* access.c: the host's address for a lane's address, or NULL after a fault. */
char *access_lane(Warp *warp, const Inst *inst, uint32_t lane, uint64_t address, uint32_t size,
                  bool write);

#define DST(TYPE, PLACE) ((TYPE *)(warp->base[0] + (PLACE)))
#define SRC(TYPE, PLACE) \
  ((const TYPE *)(warp->base[(PLACE) >> 31] + ((PLACE) & ~(uint32_t)PLACE_CONSTANT)))
#ifdef __clang__
#define LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES_APART _Pragma("GCC ivdep")
#endif
/* One statement for each lane `l` of the group. The same lane of two registers is either the same
 * byte or far away, which LANES_APART states. */
#define EACH_LANE(...) \
  do { \
    if (warp->mask == UINT32_MAX) { \
      LANES_APART for (uint32_t l = 0; l < LANES; l++) { __VA_ARGS__; } \
    } else { \
      for (uint32_t left_ = warp->mask; left_; left_ &= left_ - 1) { \
        uint32_t l = (uint32_t)__builtin_ctz(left_); \
        __VA_ARGS__; \
      } \
    } \
  } while (0)

/* The lanes, among those of the group, whose predicate at `place` holds. */
static inline uint32_t lanes_where(const Warp *warp, uint32_t place) {
  const uint8_t *values = SRC(uint8_t, place);
  uint32_t mask = 0;
  if ((warp->mask & (warp->mask - 1)) == 0)
    return warp->mask && values[__builtin_ctz(warp->mask)] ? warp->mask : 0;
  for (uint32_t i = 0; i < LANES; i += 8) {
    uint64_t eight;
    memcpy(&eight, values + i, 8);
    mask |= (uint32_t)(eight * 0x0102040810204080ull >> 56) << i;
  }
  return mask & warp->mask;
}

#endif
