/* execute_memory_test.c - the device's memory: what kernels may access, what the host sees, and
 * when. */
#include "check.h"
#include "gpu.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3};\n"
    ".visible .entry load(.param .u64 at)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd0, [at]; ld.global.u32 %r1, [%rd0]; ret;\n}\n"
    ".visible .entry store(.param .u64 at)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd0, [at]; mov.b32 %r1, 7; st.u32 [%rd0], %r1; ret;\n}\n"
    ".visible .entry both(.param .u64 to, .param .u64 from)\n{\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd0, [to]; ld.param.u64 %rd1, [from]; ld.global.u32 %r1, [%rd1];\n"
    "st.global.u32 [%rd0], %r1; ret;\n}\n"
    ".visible .entry shared()\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>; .shared .b32 s[4];\n"
    "ld.shared.u32 %r1, [s+16]; ret;\n}\n";

static void *module;
static uint64_t place;

static void begin(void) {
  module = gpu_module(text);
  if (gpu.cuMemAlloc_v2(&place, 100)) CHECK(!"memory");
}
/* Errors that end with their context. */
static void begin_again(void) {
  CHECK_INT(gpu.cuDevicePrimaryCtxReset_v2(0), 0);
  begin();
}
static int touch(const char *kernel, uint64_t at) {
  return gpu_run(module, kernel, 1, 1, (void *[]){&at});
}

static void accesses(void) {
  TEST("an access to an unmapped address ends the launch, and the error stays with the context") {
    CHECK_INT(touch("store", place + 100), 700);
    CHECK_INT(touch("store", place), 700);
    uint64_t more;
    CHECK_INT(gpu.cuMemAlloc_v2(&more, 4), 700);
    begin_again();
    CHECK_INT(touch("store", place + 96), 0);
    CHECK_INT(touch("store", 0), 700);
    begin_again();
    CHECK_INT(touch("store", (uint64_t)(uintptr_t)&more), 700);
    begin_again();
  }
  TEST("an access past the end of an allocation is found, by a byte") {
    uint64_t odd;
    CHECK_INT(gpu.cuMemAlloc_v2(&odd, 7), 0);
    CHECK_INT(touch("store", odd), 0);
    CHECK_INT(touch("store", odd + 4), 700);
    begin_again();
  }
  TEST("kernels can access host memory only where it is registered") {
    static uint32_t own[1024] __attribute__((aligned(4096)));
    uint64_t at = (uint64_t)(uintptr_t)own;
    CHECK_INT(gpu.cuMemHostRegister_v2(own, 64, 3), 0);
    CHECK_INT(gpu.cuMemHostRegister_v2(own + 8, 64, 3), 712);
    CHECK_INT(touch("store", at + 60), 0);
    CHECK_INT(own[15], 7);
    CHECK_INT(touch("load", at), 0);
    CHECK_INT(touch("store", at + 64), 700);
    begin_again();
    CHECK_INT(gpu.cuMemHostUnregister(own), 713); /* it has gone with the context */
    CHECK_INT(gpu.cuMemHostRegister_v2(own, 64, 3), 0);
    CHECK_INT(gpu.cuMemHostUnregister(own), 0);
    CHECK_INT(touch("store", at), 700);
    begin_again();
  }
  TEST("an address that is not aligned is an error of its own") {
    CHECK_INT(touch("store", place + 2), 716);
    begin_again();
  }
  TEST("an access to freed memory ends the launch") {
    CHECK_INT(gpu.cuMemFree_v2(place), 0);
    CHECK_INT(gpu.cuMemFree_v2(place), 1);
    CHECK_INT(touch("store", place), 700);
    begin_again();
  }
  TEST("a kernel that reads bytes that were never written fails") {
    CHECK_INT(touch("load", place), 719);
    begin_again();
    CHECK_INT(gpu.cuMemsetD8Async(place, 0, 3, NULL), 0);
    CHECK_INT(touch("load", place), 719);
    begin_again();
    CHECK_INT(touch("store", place), 0);
    CHECK_INT(touch("load", place), 0);
    CHECK_INT(gpu.cuMemcpyDtoDAsync_v2(place + 8, place, 4, NULL), 0);
    CHECK_INT(touch("load", place + 8), 0);
    CHECK_INT(gpu.cuMemcpyDtoDAsync_v2(place, place + 16, 4, NULL), 0);
    CHECK_INT(touch("load", place), 719);
    begin_again();
  }
  TEST("shared memory ends where the block's ends") {
    void *function;
    CHECK_INT(gpu.cuModuleGetFunction(&function, module, "shared"), 0);
    CHECK_INT(gpu_run(module, "shared", 1, 1, NULL), 700);
    begin_again();
  }
}

static void host(void) {
  TEST("the host cannot read the device's memory by its address") {
    pid_t child = fork();
    if (!child) {
      signal(SIGSEGV, SIG_DFL);
      _exit(*(volatile char *)(uintptr_t)place); /* NOLINT */
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  }
  TEST("bytes that were never written are read by the host as 0xa5") {
    uint8_t bytes[4] = {0};
    uint64_t fresh;
    CHECK_INT(gpu.cuMemAlloc_v2(&fresh, 4), 0);
    CHECK_INT(gpu.cuMemcpyHtoD_v2(fresh + 1, bytes, 2), 0);
    CHECK_INT(gpu.cuMemcpyDtoH_v2(bytes, fresh, 4), 0);
    CHECK(bytes[0] == 0xa5 && bytes[1] == 0 && bytes[2] == 0 && bytes[3] == 0xa5);
  }
  TEST("copies stay within allocations") {
    char bytes[200] = {0};
    CHECK_INT(gpu.cuMemcpyHtoD_v2(place, bytes, 101), 1);
    CHECK_INT(gpu.cuMemcpyDtoH_v2(bytes, place + 1, 100), 1);
    CHECK_INT(gpu.cuMemsetD32Async(place, 0, 26, NULL), 1);
    CHECK_INT(gpu.cuMemsetD32Async(place + 2, 0, 1, NULL), 1);
  }
  TEST("variables of a module are found, with their initial values") {
    uint64_t address;
    size_t size;
    int numbers[4];
    CHECK_INT(gpu.cuModuleGetGlobal_v2(&address, &size, module, "table"), 0);
    CHECK_INT(size, 16);
    CHECK_INT(gpu.cuMemcpyDtoH_v2(numbers, address, 16), 0);
    CHECK(numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3 && numbers[3] == 0);
    CHECK_INT(gpu.cuModuleGetGlobal_v2(&address, &size, module, "chair"), 500);
  }
}

static void streams(void) {
  void *stream, *pinned;
  int *number;
  CHECK_INT(gpu.cuStreamCreate(&stream, 1), 0);
  CHECK_INT(gpu.cuMemHostAlloc(&pinned, 64, 0), 0);
  number = pinned;
  TEST("queued work is done in order, and is complete after a wait") {
    uint64_t from = place, to = place + 4;
    void *function;
    CHECK_INT(gpu.cuModuleGetFunction(&function, module, "both"), 0);
    for (int i = 0; i < 100; i++) {
      CHECK_INT(gpu.cuMemsetD32Async(from, (unsigned)i, 1, stream), 0);
      CHECK_INT(
          gpu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&to, &from}, NULL),
          0);
      CHECK_INT(gpu.cuMemcpyDtoHAsync_v2(pinned, to, 4, stream), 0);
    }
    CHECK_INT(gpu.cuStreamSynchronize(stream), 0);
    CHECK_INT(*number, 99);
  }
  TEST("a pinned buffer is read when the copy is done, not when it is queued") {
    int late = 0;
    for (int i = 0; i < 50; i++) {
      int back;
      *number = 1;
      CHECK_INT(gpu.cuMemcpyHtoDAsync_v2(place, pinned, 4, stream), 0);
      *number = 2;
      CHECK_INT(gpu.cuStreamSynchronize(stream), 0);
      CHECK_INT(gpu.cuMemcpyDtoH_v2(&back, place, 4), 0);
      late += back == 2;
    }
    CHECK(late > 10 && late < 50); /* a race shows, sometimes */
  }
  TEST("a failed launch is reported by the next wait") {
    uint64_t nowhere = 8;
    void *function;
    CHECK_INT(gpu.cuModuleGetFunction(&function, module, "store"), 0);
    CHECK_INT(gpu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&nowhere}, NULL),
              0);
    CHECK_INT(gpu.cuStreamSynchronize(stream), 700);
    begin_again();
  }
  TEST("streams end with their context, and their queued work is never done") {
    CHECK_INT(gpu.cuStreamSynchronize(stream), 400);
    CHECK_INT(gpu.cuStreamDestroy_v2(stream), 400);
  }
  CHECK_INT(gpu.cuMemFreeHost(pinned), 0);
}

static void events_and_graphs(void) {
  void *stream, *other, *event, *later, *graph, *exec, *function, *pinned;
  uint64_t from = place, to = place + 4;
  CHECK_INT(gpu.cuStreamCreate(&stream, 1), 0);
  CHECK_INT(gpu.cuStreamCreate(&other, 1), 0);
  CHECK_INT(gpu.cuEventCreate(&event, 0), 0);
  CHECK_INT(gpu.cuEventCreate(&later, 0), 0);
  CHECK_INT(gpu.cuMemHostAlloc(&pinned, 64, 0), 0);
  CHECK_INT(gpu.cuModuleGetFunction(&function, module, "both"), 0);
  TEST("a stream that waits for an event sees what the other one did before it") {
    for (int i = 0; i < 50; i++) {
      CHECK_INT(gpu.cuMemsetD32Async(from, (unsigned)i, 1, stream), 0);
      CHECK_INT(gpu.cuEventRecord(event, stream), 0);
      CHECK_INT(gpu.cuStreamWaitEvent(other, event, 0), 0);
      CHECK_INT(gpu.cuMemcpyDtoHAsync_v2(pinned, from, 4, other), 0);
      CHECK_INT(gpu.cuEventRecord(later, other), 0);
      CHECK_INT(gpu.cuEventSynchronize(later), 0);
      CHECK_INT(*(int *)pinned, i);
    }
  }
  TEST("events record when they were reached") {
    float time = -1;
    CHECK_INT(gpu.cuEventRecord(event, stream), 0);
    CHECK_INT(
        gpu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&to, &from}, NULL),
        0);
    CHECK_INT(gpu.cuEventRecord(later, stream), 0);
    int result;
    while ((result = gpu.cuEventQuery(later)) == 600) {}
    CHECK_INT(result, 0);
    CHECK_INT(gpu.cuEventElapsedTime(&time, event, later), 0);
    CHECK(time > 0);
  }
  TEST("a graph repeats captured work, which is not done during the capture") {
    int number = 5;
    CHECK_INT(gpu.cuMemcpyHtoD_v2(from, &number, 4), 0);
    CHECK_INT(gpu.cuMemsetD32Async(to, 0, 1, NULL), 0);
    CHECK_INT(gpu.cuStreamBeginCapture_v2(stream, 0), 0);
    CHECK_INT(
        gpu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&to, &from}, NULL), 0);
    CHECK_INT(gpu.cuMemsetD32Async(from, 9, 1, stream), 0);
    CHECK_INT(gpu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_INT(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    CHECK_INT(gpu.cuGraphDestroy(graph), 0);
    CHECK_INT(gpu.cuMemcpyDtoH_v2(&number, to, 4), 0);
    CHECK_INT(number, 0);
    for (int i = 0; i < 2; i++) {
      CHECK_INT(gpu.cuGraphLaunch(exec, stream), 0);
      CHECK_INT(gpu.cuStreamSynchronize(stream), 0);
      CHECK_INT(gpu.cuMemcpyDtoH_v2(&number, to, 4), 0);
      CHECK_INT(number, i ? 9 : 5);
    }
  }
  TEST("a graph that is updated has other parameters, and no other nodes") {
    int how, number = 3;
    void *node;
    CHECK_INT(gpu.cuMemcpyHtoD_v2(from, &number, 4), 0);
    CHECK_INT(gpu.cuStreamBeginCapture_v2(stream, 0), 0);
    CHECK_INT(
        gpu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&from, &to}, NULL), 0);
    CHECK_INT(gpu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_INT(gpu.cuGraphExecUpdate(exec, graph, &node, &how), 910);
    CHECK_INT(gpu.cuGraphDestroy(graph), 0);
    CHECK_INT(gpu.cuStreamBeginCapture_v2(stream, 0), 0);
    CHECK_INT(
        gpu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&from, &to}, NULL), 0);
    CHECK_INT(gpu.cuMemsetD32Async(to, 4, 1, stream), 0);
    CHECK_INT(gpu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_INT(gpu.cuGraphExecUpdate(exec, graph, &node, &how), 0);
    CHECK_INT(gpu.cuGraphDestroy(graph), 0);
    CHECK_INT(gpu.cuGraphLaunch(exec, stream), 0);
    CHECK_INT(gpu.cuStreamSynchronize(stream), 0);
    CHECK_INT(gpu.cuMemcpyDtoH_v2(&number, from, 4), 0);
    CHECK_INT(number, 9);
    CHECK_INT(gpu.cuMemcpyDtoH_v2(&number, to, 4), 0);
    CHECK_INT(number, 4);
    CHECK_INT(gpu.cuGraphExecDestroy(exec), 0);
  }
  TEST("waiting while a stream is captured breaks the capture") {
    CHECK_INT(gpu.cuStreamBeginCapture_v2(stream, 0), 0);
    CHECK_INT(gpu.cuStreamSynchronize(stream), 900);
    CHECK_INT(gpu.cuStreamEndCapture(stream, &graph), 901);
  }
  TEST("entry points are found by their plain names") {
    void *entry;
    CHECK_INT(gpu.cuGetProcAddress_v2("cuMemAlloc", &entry, 12000, 0, NULL), 0);
    CHECK(entry == *(void **)&gpu.cuMemAlloc_v2);
    CHECK_INT(gpu.cuGetProcAddress_v2("cuFly", &entry, 12000, 0, NULL), 500);
  }
  CHECK_INT(gpu.cuMemFreeHost(pinned), 0);
  CHECK_INT(gpu.cuStreamDestroy_v2(stream), 0);
  CHECK_INT(gpu.cuStreamDestroy_v2(other), 0);
}

static void mapped(void) {
  enum { PAGE = 2 << 20 };
  static const struct {
    int type, handles, location, id;
    void *metadata;
    char flags[8];
  } kind = {.type = 1, .location = 1};
  static const struct {
    int location, id, flags;
  } allow = {1, 0, 3};
  uint64_t base;
  unsigned long long first, second;
  TEST("a reservation can be accessed where memory is mapped and access is allowed") {
    CHECK_INT(gpu.cuMemAddressReserve(&base, 4 * PAGE, 0, 0, 0), 0);
    CHECK_INT(gpu.cuMemCreate(&first, PAGE, &kind, 0), 0);
    CHECK_INT(gpu.cuMemCreate(&second, 2 * PAGE, &kind, 0), 0);
    CHECK_INT(gpu.cuMemMap(base, PAGE, 0, first, 0), 0);
    CHECK_INT(gpu.cuMemMap(base, PAGE, 0, second, 0), 1);
    CHECK_INT(gpu.cuMemSetAccess(base, 2 * PAGE, &allow, 1), 1);
    CHECK_INT(gpu.cuMemSetAccess(base, PAGE, &allow, 1), 0);
    CHECK_INT(touch("store", base + PAGE - 4), 0);
    CHECK_INT(gpu.cuMemMap(base + PAGE, 2 * PAGE, 0, second, 0), 0);
    CHECK_INT(gpu.cuMemSetAccess(base + PAGE, 2 * PAGE, &allow, 1), 0);
    CHECK_INT(gpu.cuMemsetD8Async(base, 3, 3 * PAGE, NULL), 0); /* across both */
    CHECK_INT(touch("load", base + PAGE - 4), 0);
  }
  TEST("memory is freed with its last mapping, and addresses with their reservation") {
    CHECK_INT(gpu.cuMemRelease(first), 0);
    CHECK_INT(touch("load", base), 0);
    CHECK_INT(gpu.cuMemAddressFree(base, 4 * PAGE), 1);
    CHECK_INT(gpu.cuMemUnmap(base, 3 * PAGE), 0);
    CHECK_INT(gpu.cuMemAddressFree(base, 4 * PAGE), 0);
    CHECK_INT(gpu.cuMemRelease(second), 0);
    CHECK_INT(gpu.cuMemRelease(second), 1);
    CHECK_INT(touch("load", base), 700);
    begin_again();
  }
}

int main(void) {
  gpu_open("");
  begin();
  accesses();
  host();
  streams();
  events_and_graphs();
  mapped();
  return check_report();
}
