/* flow.c - branches, calls, returns, ends. */
#include "flow.h"

#include "option.h"
#include "result.h"

void flow_guarded(Warp *warp, const Inst *inst) {
  uint32_t mask = warp->mask, hold = lanes_where(warp, inst->guard);
  if (inst->negated) hold ^= mask;
  if (!hold) return;
  warp_set_mask(warp, hold);
  inst->guarded(warp, inst);
  warp_set_mask(warp, mask);
}

void flow_branch(Warp *warp, const Inst *inst) { warp_go(warp, inst->u.target); }

void flow_branch_if(Warp *warp, const Inst *inst) {
  uint32_t taken = lanes_where(warp, inst->guard);
  if (inst->negated) taken ^= warp->mask;
  if (!taken) return;
  if (taken == warp->mask) warp_go(warp, inst->u.target);
  else warp_split(warp, taken, inst->u.target);
}

static void copy_moves(Warp *warp, const Call *call, uint32_t from, uint32_t to, uint32_t first,
                       uint32_t last) {
  for (uint32_t i = first; i < last; i++) {
    const struct Move *move = &call->moves[i];
    for (uint32_t left = warp->mask; left; left &= left - 1) {
      char *stack = warp->local + (size_t)__builtin_ctz(left) * STACK_BYTES;
      memcpy(stack + to + move->to, stack + from + move->from, move->size);
    }
  }
}

/* The driver gives each thread the stack that its call graph needs; with recursion that is unknown,
 * and the context's limit is used. Each call takes a minimum of it, even if it stores nothing. */
static bool has_stack(const Frame *caller, const Function *function) {
  enum { CALL_BYTES = 32 };
  uint32_t bytes = caller->local_base + caller->function->local_bytes + function->local_bytes;
  if (bytes > STACK_BYTES || caller->depth > 4000) return false;
  if (!options.stack || bytes + caller->depth * CALL_BYTES <= options.stack) return true;
  for (const Frame *frame = caller; frame; frame = frame->parent)
    if (frame->function == function) return false;
  return true;
}

void flow_call(Warp *warp, const Inst *inst) {
  const Call *call = inst->u.call;
  const Function *function = call->function;
  if (!function) { /* lanes that call the same function go first; the others repeat the call */
    const uint64_t *target = SRC(uint64_t, call->place);
    uint64_t address = target[__builtin_ctz(warp->mask)];
    uint32_t same = 0;
    for (uint32_t left = warp->mask; left; left &= left - 1)
      if (target[__builtin_ctz(left)] == address) same |= left & -left;
    function = function_at(address);
    if (!function || !function->is_defined || function->is_entry) {
      warp_fault(warp, inst, CUDA_ERROR_INVALID_PC, "a call of 0x%llx, where no function is",
                 (unsigned long long)address);
      return;
    }
    if (same != warp->mask) {
      uint32_t others = warp->mask & ~same;
      warp->groups[warp->group_count++] = (Group){inst, warp->frame, others, GROUP_READY, 0};
      warp_set_mask(warp, same);
    }
    uint32_t room = function->param_bytes;
    for (uint32_t i = 0; i < call->argument_count; i++)
      if (call->moves[i].to + call->moves[i].size > room) {
        warp_fault(warp, inst, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                   "a call of %.*s with other parameters than it has", (int)function->name.length,
                   function->name.at);
        return;
      }
  }
  Frame *caller = warp->frame;
  if (!has_stack(caller, function)) {
    warp_fault(warp, inst, CUDA_ERROR_HARDWARE_STACK_ERROR, "the stack of the thread is full");
    return;
  }
  Frame *frame = frame_open(function, caller, warp->mask);
  frame->back = inst + 1;
  frame->call = call;
  copy_moves(warp, call, caller->local_base, frame->local_base, 0, call->argument_count);
  warp_enter(warp, frame, function->code);
}

void flow_return(Warp *warp, const Inst *inst) {
  Frame *frame = warp->frame, *caller = frame->parent;
  if (!caller) {
    flow_exit(warp, inst);
    return;
  }
  const Call *call = frame->call;
  const Inst *back = frame->back;
  copy_moves(warp, call, frame->local_base + frame->function->param_bytes, caller->local_base,
             call->argument_count, call->move_count);
  frame_leave(frame, warp->mask);
  warp_enter(warp, caller, back);
}

void flow_exit(Warp *warp, const Inst *inst) { warp_end_lanes(warp, warp->mask); }

void flow_trap(Warp *warp, const Inst *inst) {
  warp_fault(warp, inst, CUDA_ERROR_LAUNCH_FAILED, "trap");
}

void flow_nothing(Warp *warp, const Inst *inst) {}

/* nanosleep: other groups of the warp run first, until its next slice. If all of them sleep, so
 * does the warp; its time is measured in instructions of the grid. */
void flow_pause(Warp *warp, const Inst *inst) {
  enum { INSTRUCTIONS = 200 }; /* of all warps, per nanosecond */
  uint64_t time = SRC(uint32_t, inst->a)[__builtin_ctz(warp->mask)];
  if (warp_pause(warp)) return;
  warp->budget = 0;
  warp->wakes = warp->grid->time + time * INSTRUCTIONS;
}
