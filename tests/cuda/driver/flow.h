/* flow.h - instructions for control flow and synchronisation. encode.c selects them; each comment
 * lists the fields of the instruction that it reads. */
#ifndef PTX_FLOW_H
#define PTX_FLOW_H

#include "exec.h"

/* flow.c */
void flow_guarded(Warp *warp, const Inst *inst);   /* inst->guarded, for lanes whose guard holds */
void flow_branch(Warp *warp, const Inst *inst);    /* u.target */
void flow_branch_if(Warp *warp, const Inst *inst); /* and guard, negated */
void flow_call(Warp *warp, const Inst *inst);      /* u.call */
void flow_return(Warp *warp, const Inst *inst);
void flow_exit(Warp *warp, const Inst *inst);
void flow_trap(Warp *warp, const Inst *inst);
void flow_nothing(Warp *warp, const Inst *inst);
void flow_pause(Warp *warp, const Inst *inst); /* a: nanoseconds */

/* sync.c */
typedef enum BarrierKind {
  BARRIER_SYNC,
  BARRIER_ARRIVE,
  BARRIER_POPC,
  BARRIER_AND,
  BARRIER_OR
} BarrierKind;
/* count: kind; a: number; b: threads or none; c: predicate; d: result */
void sync_barrier(Warp *warp, const Inst *inst);
void sync_warp(Warp *warp, const Inst *inst);   /* a: members */
void sync_active(Warp *warp, const Inst *inst); /* d */
/* d, e (predicate or none), a value, b source, c clamp; members in u.places[0] */
Run sync_shuffle(Slice kind);
/* d, a predicate, negated; c: members. `ballot`, `any`, `all`, `uni` */
Run sync_vote(Slice kind);
/* d, e (predicate or none), a, c: members. `any` or `all`, size_bytes */
Run sync_match(Slice kind, uint32_t bytes);
/* d, a, c: members. `add` .. `xor`, of u32, s32 or b32 */
Run sync_reduce(Slice kind, bool is_signed);

/* atomic.c: d or none, a address, b, c. NULL when there is no such update. */
Run atomic_find(Slice op, char kind, uint32_t bytes, uint32_t *operands);

/* special.c: the number of a special register, for inst->offset, or -1. */
int special_find(Slice name, uint32_t *bytes);
void special_read(Warp *warp, const Inst *inst); /* d, offset, size_bytes */

#endif
