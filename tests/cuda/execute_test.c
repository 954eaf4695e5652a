/* execute_test.c - the executing driver runs PTX: instructions one group after another, by the rules
 * of the PTX manual. */
#include "check.h"
#include "gpu.h"

static uint64_t out[32];
/* The value that thread 0 gets from one instruction. */
static uint64_t first(const char *lines) {
  CHECK_INT(gpu_lines(lines, out), 0);
  return out[0];
}

int main(void) {
  gpu_open("");
  TEST("each thread knows which one it is") {
    CHECK_INT(gpu_lines("st.global.u32 [%rd0], %r0;", out), 0);
    for (int i = 0; i < 32; i++) CHECK_INT(out[i], i);
  }
  TEST("integers wrap, and quotients go towards zero") {
    CHECK_INT(first("mov.u32 %r1, -7; div.s32 %r2, %r1, 2; st.global.s32 [%rd0], %r2;"),
              0xfffffffd);
    CHECK_INT(first("mov.u32 %r1, -7; rem.s32 %r2, %r1, 2; st.global.s32 [%rd0], %r2;"),
              0xffffffff);
    CHECK_INT(first("mov.u64 %rd2, -1; mul.hi.u64 %rd3, %rd2, %rd2; st.global.u64 [%rd0], %rd3;"),
              -2);
  }
  return check_report();
}
