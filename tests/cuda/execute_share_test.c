/* execute_share_test.c - memory of the device that processes share by file descriptors:
 * this process's and a child's, each with the driver open. */
#include "check.h"
#include "gpu.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 2 << 20, FILE_DESCRIPTOR = 1 };

static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 at)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd0, [at]; ld.global.u32 %r1, [%rd0]; add.u32 %r1, %r1, 5;\n"
    "st.global.u32 [%rd0], %r1; ret;\n}\n";

static const struct {
  int type, handles, location, id;
  void *metadata;
  char flags[8];
} kind = {.type = 1, .handles = FILE_DESCRIPTOR, .location = 1},
  other_kind = {.type = 1, .location = 1}, fabric = {.type = 1, .handles = 8, .location = 1};
static const struct {
  int location, id, flags;
} allow = {1, 0, 3};

/* -- between the two --------------------------------------------------------------------------- */

static void send_file(int socket, int file) {
  char byte = 0, control[CMSG_SPACE(sizeof file)] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(head), &file, sizeof file);
  CHECK_INT(sendmsg(socket, &message, 0), 1);
}

static int receive_file(int socket) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int file = -1;
  if (recvmsg(socket, &message, 0) != 1) return -1;
  memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}

static void say(int socket) { CHECK_INT(write(socket, "", 1), 1); }
static void hear(int socket) {
  char byte;
  CHECK_INT(read(socket, &byte, 1), 1);
}

static uint64_t map(unsigned long long handle, uint64_t size) {
  uint64_t at = 0;
  CHECK_INT(gpu.cuMemAddressReserve(&at, size, 0, 0, 0), 0);
  CHECK_INT(gpu.cuMemMap(at, size, 0, handle, 0), 0);
  return at;
}

/* -- the child --------------------------------------------------------------------------------- */

static int import(int socket, const char *environment) {
  unsigned long long handle = 0;
  gpu_open(environment);
  int file = receive_file(socket);
  if (gpu.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file, FILE_DESCRIPTOR))
    return 10;
  close(file);
  uint64_t at = map(handle, 2 * PAGE);
  int result = gpu.cuMemSetAccess(at, 2 * PAGE, &allow, 1);
  if (strstr(environment, "PTX_PEERS=0")) return result == 101 ? 0 : 11;
  if (result || gpu.cuMemRelease(handle)) return 12;
  say(socket);
  hear(socket);
  void *module = gpu_module(text);
  uint64_t last = at + 2 * PAGE - 4;
  if (gpu_run(module, "add", 1, 1, (void *[]){&last})) return 13; /* which its peer has written */
  say(socket);
  hear(socket); /* its peer is gone */
  int number = 0;
  if (gpu.cuMemcpyDtoH_v2(&number, last, 4) || number != 17) return 14;
  if (gpu.cuMemUnmap(at, 2 * PAGE) || gpu.cuMemAddressFree(at, 2 * PAGE)) return 15;
  return gpu_run(module, "add", 1, 1, (void *[]){&last}) == 700 ? 0 : 16;
}

typedef struct Child {
  pid_t process;
  int socket;
} Child;

/* Before this process opens the driver. */
static Child start(const char *environment) {
  int sockets[2];
  CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  pid_t process = fork();
  if (!process) _exit(import(sockets[1], environment));
  close(sockets[1]);
  return (Child){process, sockets[0]};
}

static int end(Child child) {
  int status = 0;
  waitpid(child.process, &status, 0);
  close(child.socket);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* -- this process ------------------------------------------------------------------------------ */

static void share(Child child, Child stranger) {
  unsigned long long handle, same;
  int file = -1, number = 7;
  void *module = gpu_module(text);
  CHECK_INT(gpu.cuMemCreate(&handle, 2 * PAGE, &kind, 0), 0);
  CHECK_INT(gpu.cuMemExportToShareableHandle(&file, handle, FILE_DESCRIPTOR, 0), 0);
  send_file(child.socket, file);
  send_file(stranger.socket, file);
  TEST("a device cannot access the memory of a device that is not its peer") {
    CHECK_INT(end(stranger), 0);
  }
  TEST("memory is the same through every handle and mapping") {
    CHECK_INT(gpu.cuMemImportFromShareableHandle(&same, (void *)(intptr_t)file, FILE_DESCRIPTOR),
              0);
    CHECK_INT(close(file), 0);
    uint64_t at = map(handle, 2 * PAGE), again = map(same, 2 * PAGE);
    CHECK_INT(gpu.cuMemSetAccess(at, 2 * PAGE, &allow, 1), 0);
    CHECK_INT(gpu.cuMemSetAccess(again, 2 * PAGE, &allow, 1), 0);
    uint64_t last = at + 2 * PAGE - 4, last_again = again + 2 * PAGE - 4;
    CHECK_INT(gpu.cuMemcpyHtoD_v2(last, &number, 4), 0);
    CHECK_INT(gpu_run(module, "add", 1, 1, (void *[]){&last_again}), 0);
    hear(child.socket);
    say(child.socket);
    hear(child.socket);
    CHECK_INT(gpu.cuMemcpyDtoH_v2(&number, last, 4), 0);
    CHECK_INT(number, 17);
    CHECK_INT(gpu.cuMemUnmap(at, 2 * PAGE), 0);
    CHECK_INT(gpu.cuMemUnmap(again, 2 * PAGE), 0);
    CHECK_INT(gpu.cuMemRelease(handle), 0);
    CHECK_INT(gpu.cuMemRelease(same), 0);
  }
  TEST("memory is freed with its last handle or mapping, in whichever process") {
    say(child.socket);
    CHECK_INT(end(child), 0);
  }
}

static void refusals(void) {
  unsigned long long handle, other;
  int file = -1, not_memory = memfd_create("no memory of a device", 0);
  CHECK_INT(ftruncate(not_memory, 2 * PAGE), 0);
  TEST("other memory is neither exported nor imported") {
    CHECK_INT(gpu.cuMemCreate(&handle, PAGE, &other_kind, 0), 0);
    CHECK_INT(gpu.cuMemExportToShareableHandle(&file, handle, FILE_DESCRIPTOR, 0), 1);
    CHECK_INT(gpu.cuMemCreate(&handle, PAGE, &fabric, 0), 801);
    CHECK_INT(gpu.cuMemCreate(&handle, PAGE, &kind, 0), 0);
    CHECK_INT(gpu.cuMemExportToShareableHandle(&file, handle, 8, 0), 1);
    CHECK_INT(gpu.cuMemExportToShareableHandle(&file, handle, FILE_DESCRIPTOR, 1), 1);
    CHECK_INT(gpu.cuMemExportToShareableHandle(&file, handle, FILE_DESCRIPTOR, 0), 0);
    CHECK_INT(gpu.cuMemImportFromShareableHandle(&other, (void *)(intptr_t)file, 8), 1);
    CHECK_INT(gpu.cuMemImportFromShareableHandle(&other, (void *)(intptr_t)not_memory, 1), 1);
    CHECK_INT(gpu.cuMemImportFromShareableHandle(&other, (void *)-1, FILE_DESCRIPTOR), 1);
  }
  TEST("imported memory has its original size, and needs access rights like any other") {
    uint64_t at;
    CHECK_INT(gpu.cuMemImportFromShareableHandle(&other, (void *)(intptr_t)file, 1), 0);
    CHECK_INT(gpu.cuMemAddressReserve(&at, 4 * PAGE, 0, 0, 0), 0);
    CHECK_INT(gpu.cuMemMap(at, 2 * PAGE, 0, other, 0), 1);
    CHECK_INT(gpu.cuMemMap(at, PAGE, 0, other, 0), 0);
    CHECK_INT(gpu_run(gpu_module(text), "add", 1, 1, (void *[]){&at}), 700);
  }
  close(file);
  close(not_memory);
}

int main(void) {
  Child child = start(""), stranger = start("PTX_GPU=1 PTX_PEERS=0");
  gpu_open("");
  share(child, stranger);
  refusals();
  return check_report();
}
