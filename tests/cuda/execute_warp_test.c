/* execute_warp_test.c - lanes that diverge and reconverge, operations of a warp, and blocks. */
#include <dlfcn.h>
#include <stdio.h>

#include "check.h"
#include "gpu.h"

static uint64_t out[32];

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define REGISTERS \
  ".reg .pred %p<32>; .reg .b16 %rs<32>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<32>;"

/* Runs `kernel` of `text` with 256 zeroed 64-bit numbers, and brings them back. */
static int run(const char *text, const char *kernel, unsigned blocks, unsigned threads,
               uint64_t numbers[256]) {
  void *module = gpu_module(text);
  uint64_t address;
  if (gpu.cuMemAlloc_v2(&address, 2048)) return -1;
  gpu.cuMemsetD8Async(address, 0, 2048, NULL);
  int result = gpu_run(module, kernel, blocks, threads, (void *[]){&address});
  if (result) return result;
  gpu.cuMemcpyDtoH_v2(numbers, address, 2048);
  gpu.cuMemFree_v2(address);
  gpu.cuModuleUnload(module);
  return 0;
}

static void divergence(void) {
  TEST("lanes that leave a loop at different times reconverge after it") {
    CHECK_INT(gpu_lines("mov.b32 %r2, 0; mov.b32 %r3, 0;"
                        "again: setp.ge.u32 %p1, %r2, %r0; @%p1 bra done;"
                        "add.s32 %r3, %r3, %r2; add.s32 %r2, %r2, 1; bra.uni again;"
                        "done: activemask.b32 %r4; cvt.u64.u32 %rd2, %r4; shl.b64 %rd2, %rd2, 32;"
                        "cvt.u64.u32 %rd3, %r3; or.b64 %rd2, %rd2, %rd3;"
                        "st.global.u64 [%rd0], %rd2;",
                        out),
              0);
    for (uint64_t i = 0; i < 32; i++) CHECK(out[i] == (0xffffffffull << 32 | i * (i - 1) / 2));
  }
  TEST("both sides of a branch run, each with its lanes") {
    CHECK_INT(gpu_lines("and.b32 %r2, %r0, 1; setp.eq.s32 %p1, %r2, 0; @%p1 bra even;"
                        "activemask.b32 %r3; bra.uni done; even: activemask.b32 %r3;"
                        "done: st.global.u32 [%rd0], %r3;",
                        out),
              0);
    CHECK(out[0] == 0x55555555 && out[1] == 0xaaaaaaaa);
  }
  TEST("lanes that have exited no longer take part") {
    CHECK_INT(gpu_lines("setp.lt.u32 %p1, %r0, 8; @%p1 exit; activemask.b32 %r3;"
                        "vote.sync.ballot.b32 %r4, %p1, -1; bar.warp.sync -1;"
                        "add.s32 %r3, %r3, %r4;"
                        "st.global.u32 [%rd0], %r3;",
                        out),
              0);
    CHECK(out[0] == 0 && out[8] == 0xffffff00);
  }
}

static const char lock_text[] =
    HEAD ".visible .entry lock(.param .u64 out)\n{\n" REGISTERS "ld.param.u64 %rd0, [out];\n"
         "again: atom.global.cas.b32 %r1, [%rd0], 0, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;\n"
         "membar.gl; ld.volatile.global.u32 %r2, [%rd0+8]; add.s32 %r2, %r2, 1;\n"
         "st.volatile.global.u32 [%rd0+8], %r2; membar.gl; atom.global.exch.b32 %r3, [%rd0], 0;\n"
         "ret;\n}\n"
         /* one lane waits for another of its warp, which comes later in the code */
         ".visible .entry wait(.param .u64 out)\n{\n" REGISTERS
         "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 31; @%p1 bra give;\n"
         "spin: ld.volatile.global.u32 %r2, [%rd0]; setp.eq.s32 %p2, %r2, 0; @%p2 bra spin;\n"
         "atom.global.add.u32 %r3, [%rd0+8], 1; bra.uni done;\n"
         "give: mov.b32 %r4, 1; st.volatile.global.u32 [%rd0], %r4;\n"
         "done: ret;\n}\n";

static void progress(void) {
  uint64_t numbers[256];
  TEST("lanes of a warp, and warps, take a lock one after the other") {
    CHECK_INT(run(lock_text, "lock", 3, 64, numbers), 0);
    CHECK_INT(numbers[1], 192);
  }
  TEST("lanes that spin let the lane that they wait for continue") {
    CHECK_INT(run(lock_text, "wait", 1, 32, numbers), 0);
    CHECK_INT(numbers[1], 31);
  }
}

static uint64_t lane_of(int lane) { return out[lane]; }

static void together(void) {
  TEST("shuffles read another lane, or their own if there is none") {
    CHECK_INT(gpu_lines("shfl.sync.up.b32 %r2|%p1, %r0, 3, 0, -1; selp.b32 %r3, 256, 0, %p1;"
                        "add.s32 %r2, %r2, %r3; st.global.u32 [%rd0], %r2;",
                        out),
              0);
    for (int i = 0; i < 32; i++) CHECK_INT(lane_of(i), i < 3 ? i : i - 3 + 256);
    CHECK_INT(gpu_lines("shfl.sync.down.b32 %r2|%p1, %r0, 3, 31, -1; selp.b32 %r3, 256, 0, %p1;"
                        "add.s32 %r2, %r2, %r3; st.global.u32 [%rd0], %r2;",
                        out),
              0);
    for (int i = 0; i < 32; i++) CHECK_INT(lane_of(i), i > 28 ? i : i + 3 + 256);
    CHECK_INT(gpu_lines("shfl.sync.bfly.b32 %r2, %r0, 5, 31, -1; st.global.u32 [%rd0], %r2;", out),
              0);
    for (int i = 0; i < 32; i++) CHECK_INT(lane_of(i), i ^ 5);
    CHECK_INT(gpu_lines("add.s32 %r3, %r0, 1; shfl.sync.idx.b32 %r2, %r0, %r3, 31, -1;"
                        "st.global.u32 [%rd0], %r2;",
                        out),
              0);
    for (int i = 0; i < 32; i++) CHECK_INT(lane_of(i), (i + 1) % 32);
    /* segments of 8 lanes */
    CHECK_INT(
        gpu_lines("shfl.sync.down.b32 %r2, %r0, 1, 0x1807, -1; st.global.u32 [%rd0], %r2;", out),
        0);
    for (int i = 0; i < 32; i++) CHECK_INT(lane_of(i), i % 8 == 7 ? i : i + 1);
  }
  TEST("votes count those that name each other, wherever they come from") {
    CHECK_INT(gpu_lines("setp.lt.u32 %p1, %r0, 5; @%p1 bra few;"
                        "vote.sync.ballot.b32 %r2, !%p1, 0xffffffe0; bra.uni done;"
                        "few: vote.sync.ballot.b32 %r2, %p1, 31;"
                        "done: vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1;"
                        "selp.b32 %r3, 1, 0, %p2; selp.b32 %r4, 1, 0, %p3; add.s32 %r2, %r2, %r3;"
                        "add.s32 %r2, %r2, %r4; st.global.u32 [%rd0], %r2;",
                        out),
              0);
    CHECK(lane_of(0) == 32 && lane_of(5) == 0xffffffe1);
  }
  TEST("lanes with equal values are matched and reduced") {
    CHECK_INT(gpu_lines("and.b32 %r2, %r0, 3; match.any.sync.b32 %r3, %r2, -1;"
                        "match.all.sync.b32 %r4|%p1, %r2, -1; redux.sync.add.s32 %r5, %r0, -1;"
                        "redux.sync.max.u32 %r6, %r0, %r3; add.s32 %r7, %r4, %r5;"
                        "add.s32 %r7, %r7, %r6; cvt.u64.u32 %rd2, %r3; shl.b64 %rd2, %rd2, 32;"
                        "cvt.u64.u32 %rd3, %r7; or.b64 %rd2, %rd2, %rd3;"
                        "st.global.u64 [%rd0], %rd2;",
                        out),
              0);
    for (int i = 0; i < 32; i++)
      CHECK(lane_of(i) == ((uint64_t)(0x11111111u << (i & 3)) << 32 | (496 + 28 + (i & 3))));
  }
  TEST("a barrier of the warp may be another one for each lane") {
    CHECK_INT(gpu_lines("setp.lt.u32 %p1, %r0, 16; @%p1 bra low; bar.warp.sync -1; bra.uni done;"
                        "low: bar.warp.sync -1; done: st.global.u32 [%rd0], %r0;",
                        out),
              0);
    CHECK_INT(lane_of(31), 31);
  }
  TEST("parts of a warp wait each for itself, with members of their own") {
    CHECK_INT(gpu_lines("and.b32 %r2, %r0, 16; shl.b32 %r3, 65535, %r2; bar.warp.sync %r3;"
                        "setp.lt.u32 %p1, %r0, 20; vote.sync.ballot.b32 %r4, %p1, %r3;"
                        "st.global.u32 [%rd0], %r4;",
                        out),
              0);
    CHECK_INT(lane_of(3), 0xffff);
    CHECK_INT(lane_of(31), 0xf0000);
  }
  TEST("lanes that wait for one that works, or sleep until it is done, do nothing meanwhile") {
    void (*count)(uint64_t *) = (void (*)(uint64_t *))dlsym(gpu.library, "ptxCounts");
    uint64_t counts[8];
    /* the first lane of each half works, past the place where the others wait for it */
    static const char *const waits[] = {
        "shfl.sync.idx.b32 %r5, %r4, %r6, 31, %r3;", "bar.warp.sync %r3;",
        ("again: ld.volatile.global.u32 %r5, [%rd1]; setp.ne.s32 %p3, %r5, 0; @%p3 bra past;"
         "nanosleep.u32 1000; bra.uni again; past:")};
    for (size_t k = 0; k < sizeof waits / sizeof *waits; k++) {
      char text[1000];
      snprintf(text, sizeof text,
               "and.b32 %%r6, %%r0, 16; mov.b32 %%r3, 0xffff; shl.b32 %%r3, %%r3, %%r6;"
               "and.b32 %%r2, %%r0, 15; mul.wide.u32 %%rd2, %%r2, 8; sub.s64 %%rd1, %%rd0, %%rd2;"
               "mov.b32 %%r4, 0; setp.eq.u32 %%p1, %%r2, 0; @%%p1 bra work; met: %s"
               "st.global.u32 [%%rd0], 7; ret; work: add.s32 %%r4, %%r4, 1;"
               "setp.lt.u32 %%p2, %%r4, 3000; @%%p2 bra work; st.volatile.global.u32 [%%rd1], 1;"
               "bra.uni met;",
               waits[k]);
      count(counts);
      CHECK_INT(gpu_lines(text, out), 0);
      count(counts);
      CHECK(out[0] == 7 && out[31] == 7);
      CHECK(counts[1] < 3000 * 3 + 2000);
    }
  }
}

static const char block_text[] =
    HEAD ".shared .align 4 .b8 room[1024];\n.extern .shared .align 16 .b8 more[];\n"
         ".visible .entry turn(.param .u64 out)\n{\n" REGISTERS
         "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;\n"
         "mov.u64 %rd1, room; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
         "st.shared.u32 [%rd3], %r1; bar.sync 0; sub.s32 %r3, %r2, %r1; sub.s32 %r3, %r3, 1;\n"
         "mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; cvta.shared.u64 %rd5, %rd5;\n"
         "ld.u32 %r4, [%rd5]; setp.lt.u32 %p1, %r1, 10; bar.red.popc.u32 %r5, 0, %p1;\n"
         "bar.red.or.pred %p2, 0, %p1; selp.b32 %r6, 1000, 0, %p2; add.s32 %r4, %r4, %r6;\n"
         "mul.lo.s32 %r5, %r5, 10000; add.s32 %r4, %r4, %r5; mul.wide.u32 %rd6, %r1, 8;\n"
         "add.s64 %rd7, %rd0, %rd6; st.global.u32 [%rd7], %r4; ret;\n}\n"
         ".visible .entry some(.param .u64 out)\n{\n" REGISTERS
         "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 50; @%p1 ret; bar.sync 0; bar.sync 1, 32;\n"
         "ret;\n}\n"
         ".visible .entry stuck(.param .u64 out)\n{\n" REGISTERS
         "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra other; bar.sync 0; ret;\n"
         "other: bar.sync 1; ret;\n}\n";

static void blocks(void) {
  uint64_t numbers[256];
  TEST("threads of a block meet at barriers, and see what others wrote before") {
    CHECK_INT(run(block_text, "turn", 1, 128, numbers), 0);
    for (int i = 0; i < 128; i++) CHECK_INT(numbers[i], 127 - i + 1000 + 100000);
  }
  TEST("threads that have ended are not waited for") {
    CHECK_INT(run(block_text, "some", 4, 64, numbers), 0);
  }
  TEST("threads that wait for each other forever time out") {
    CHECK_INT(run(block_text, "stuck", 1, 64, numbers), 702);
    CHECK_INT(gpu.cuDevicePrimaryCtxReset_v2(0), 0);
  }
}

static const char call_text[] =
    HEAD ".func (.param .b32 result) twice(.param .b32 x)\n;\n"
         ".func (.param .b32 result) third(.param .b32 x)\n;\n"
         ".global .align 8 .u64 table[3] = {twice, third, 0};\n"
         ".func (.param .b32 result) twice(.param .b32 x)\n{\n" REGISTERS
         "ld.param.u32 %r1, [x]; add.s32 %r1, %r1, %r1; st.param.b32 [result+0], %r1; ret;\n}\n"
         ".func (.param .b32 result) third(.param .b32 x)\n{\n" REGISTERS
         "ld.param.u32 %r1, [x]; div.u32 %r1, %r1, 3; st.param.b32 [result+0], %r1; ret;\n}\n"
         ".func (.param .b64 result) fibonacci(.param .b64 n, .param .align 16 .b8 pair[16])\n{\n"
         ".local .align 16 .b8 room[16];\n" REGISTERS
         "ld.param.u64 %rd1, [n]; ld.param.v2.u64 {%rd2, %rd3}, [pair];\n"
         "mov.u64 %rd9, room; st.local.v2.u64 [%rd9], {%rd2, %rd3};\n"
         "setp.lt.u64 %p1, %rd1, 2; @%p1 bra small;\n"
         "{ .param .b64 a; .param .align 16 .b8 b[16]; .param .b64 r; add.s64 %rd4, %rd1, -1;\n"
         "st.param.b64 [a+0], %rd4; st.param.v2.b64 [b], {%rd2, %rd3};\n"
         "call.uni (r), fibonacci, (a, b); ld.param.b64 %rd5, [r]; }\n"
         "{ .param .b64 a; .param .align 16 .b8 b[16]; .param .b64 r; add.s64 %rd4, %rd1, -2;\n"
         "st.param.b64 [a+0], %rd4; st.param.v2.b64 [b], {%rd2, %rd3};\n"
         "call.uni (r), fibonacci, (a, b); ld.param.b64 %rd6, [r]; }\n"
         "add.s64 %rd7, %rd5, %rd6; st.param.b64 [result], %rd7; ret;\n"
         "small: shl.b64 %rd8, %rd1, 3; cvta.local.u64 %rd9, %rd9; add.s64 %rd9, %rd9, %rd8;\n"
         "ld.u64 %rd7, [%rd9]; st.param.b64 [result], %rd7; ret;\n}\n"
         ".visible .entry calls(.param .u64 out)\n{\n" REGISTERS
         "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1;\n"
         "mul.wide.u32 %rd1, %r2, 8; mov.u64 %rd2, table; add.s64 %rd2, %rd2, %rd1;\n"
         "ld.global.u64 %rd3, [%rd2];\n"
         "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1;\n"
         "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
         "call (r), %rd3, (a), proto; ld.param.b32 %r3, [r]; }\n"
         "rem.u32 %r4, %r1, 12; cvt.u64.u32 %rd4, %r4; mov.b64 %rd5, 0; mov.b64 %rd6, 1;\n"
         "{ .param .b64 a; .param .align 16 .b8 b[16]; .param .b64 r; st.param.b64 [a], %rd4;\n"
         "st.param.v2.b64 [b], {%rd5, %rd6}; call.uni (r), fibonacci, (a, b);\n"
         "ld.param.b64 %rd7, [r]; }\n"
         "activemask.b32 %r5; cvt.u64.u32 %rd10, %r5; cvt.u64.u32 %rd8, %r3;\n"
         "shl.b64 %rd8, %rd8, 16; add.s64 %rd7, %rd7, %rd8; shl.b64 %rd10, %rd10, 32;\n"
         "add.s64 %rd7, %rd7, %rd10; mul.wide.u32 %rd9, %r1, 8; add.s64 %rd0, %rd0, %rd9;\n"
         "st.global.u64 [%rd0], %rd7; ret;\n}\n"
         ".visible .entry nowhere(.param .u64 out)\n{\n" REGISTERS
         "mov.u64 %rd2, table; ld.global.u64 %rd3, [%rd2+16];\n"
         "{ .param .b32 a; .param .b32 r; st.param.b32 [a], 1;\n"
         "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
         "call (r), %rd3, (a), proto; ld.param.b32 %r3, [r]; }\nret;\n}\n";

static void calls(void) {
  static const uint64_t numbers_of[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  uint64_t numbers[256];
  TEST("functions call each other and themselves, by name and by address, and lanes reconverge") {
    CHECK_INT(run(call_text, "calls", 1, 32, numbers), 0);
    for (uint64_t i = 0; i < 32; i++)
      CHECK(numbers[i] ==
            (0xffffffffull << 32) + ((i & 1 ? i / 3 : i * 2) << 16) + numbers_of[i % 12]);
  }
  TEST("a call of an address that is not a function is an invalid program counter") {
    CHECK_INT(run(call_text, "nowhere", 1, 32, numbers), 718);
    CHECK_INT(gpu.cuDevicePrimaryCtxReset_v2(0), 0);
  }
}

static const char atomic_text[] =
    HEAD ".visible .entry update(.param .u64 out)\n{\n" REGISTERS ".reg .f64 %fd<4>;\n"
         "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;\n"
         "cvt.rn.f64.u32 %fd1, %r1; cvt.u64.u32 %rd1, %r1; mov.b32 %r9, 1; shl.b32 %r9, %r9, %r1;\n"
         "atom.global.add.u32 %r2, [%rd0], %r1; red.global.add.u64 [%rd0+8], %rd1;\n"
         "red.global.add.f32 [%rd0+16], %f1; atom.global.add.f64 %fd2, [%rd0+24], %fd1;\n"
         "red.global.max.s32 [%rd0+32], %r1; red.relaxed.gpu.global.or.b32 [%rd0+40], %r9;\n"
         "red.global.xor.b32 [%rd0+48], %r9; atom.global.inc.u32 %r3, [%rd0+56], 9;\n"
         "atom.acq_rel.gpu.global.exch.b64 %rd2, [%rd0+64], %rd1; atom.dec.u32 %r4, [%rd0+72], 9;\n"
         "neg.s32 %r5, %r1; red.global.min.s32 [%rd0+80], %r5; red.global.and.b32 [%rd0+88], %r9;\n"
         "ret;\n}\n";

int main(void) {
  gpu_open("");
  divergence();
  progress();
  together();
  blocks();
  calls();
  TEST("updates of one element by all lanes lose nothing") {
    uint64_t numbers[256];
    CHECK_INT(run(atomic_text, "update", 1, 32, numbers), 0);
    CHECK_INT(numbers[0], 496);
    CHECK_INT(numbers[1], 496);
    CHECK(numbers[2] == 0x43f80000 && numbers[3] == 0x407f000000000000);
    CHECK_INT(numbers[4], 31);
    CHECK(numbers[5] == 0xffffffff && numbers[6] == 0xffffffff);
    CHECK_INT(numbers[7], 2);
    CHECK(numbers[8] < 32);
    CHECK_INT(numbers[9], 8);
    CHECK_INT((int)numbers[10], -31);
    CHECK_INT(numbers[11], 0);
  }
  return check_report();
}
