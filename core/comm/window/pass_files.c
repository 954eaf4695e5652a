/* pass_files.c - see pass_files.h. Datagram queues are short: a rank that cannot send receives
 * meanwhile. Decision D-comm-01. */
#include "comm/window/pass_files.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/header.h"

enum { ADDRESS_BYTES = sizeof((Sender){0}.address) - 2, WAIT_MS = 20 };

static bool open_socket(Comm *comm, Error *err) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int yes = 1;
  if (comm->file_socket >= 0) return true;
  int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made >= 0 && !setsockopt(made, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) &&
      !bind(made, (struct sockaddr *)&name, sizeof name.sun_family)) {
    comm->file_socket = made;
    return true;
  }
  error_set(err, RG_ERROR_RANK,
            "the system has no socket for file descriptors of shared memory (%s)", strerror(errno));
  if (made >= 0) close(made);
  return false;
}

bool pass_files_sender(Comm *comm, int file, Sender *sender, Error *err) {
  struct sockaddr_un name;
  socklen_t length = sizeof name;
  *sender = (Sender){.origin = {(int32_t)getpid(), file}};
  if (comm->team_size == 1) return true;
  if (!open_socket(comm, err)) return false;
  if (getsockname(comm->file_socket, (struct sockaddr *)&name, &length) ||
      length != offsetof(struct sockaddr_un, sun_path) + ADDRESS_BYTES)
    return error_set(err, RG_ERROR_RANK, "the system cannot give a socket an address");
  memcpy(sender->address, name.sun_path, ADDRESS_BYTES); /* a zero, and five hex digits */
  return true;
}

static Sender sender_of(const uint8_t *senders, int32_t rank) {
  Sender sender;
  memcpy(&sender, senders + (size_t)rank * CALL_BYTES, sizeof sender);
  return sender;
}

/* -- one file ---------------------------------------------------------------------------------- */

/* number of the call; rank of the sender */
typedef struct FileMessage {
  uint64_t number;
  int32_t rank;
} FileMessage;

typedef union Control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
} Control;

typedef enum SendResult { SEND_DONE, SEND_RETRY, SEND_FAILED } SendResult;
static SendResult send_file(Comm *comm, int file, const Sender *to) {
  FileMessage message_data = {comm->number, comm->rank};
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  struct iovec part = {&message_data, sizeof message_data};
  Control control = {0};
  memcpy(name.sun_path, to->address, ADDRESS_BYTES);
  struct msghdr message = {.msg_name = &name,
                           .msg_namelen = offsetof(struct sockaddr_un, sun_path) + ADDRESS_BYTES,
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = CMSG_SPACE(sizeof file)};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(head), &file, sizeof file);
  if (sendmsg(comm->file_socket, &message, MSG_NOSIGNAL) >= 0) return SEND_DONE;
  return errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ETOOMANYREFS
             ? SEND_RETRY
             : SEND_FAILED;
}

/* The first file of the message; closes the others, as a stranger may send several. */
static int take_first(const struct cmsghdr *head, int first) {
  size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (size_t k = 0; k < count; k++) {
    int file;
    memcpy(&file, CMSG_DATA(head) + k * sizeof file, sizeof file);
    if (first < 0) first = file;
    else close(file);
  }
  return first;
}

/* Receives a file and its sender, as the system reports it; -1 if there is none. */
static int receive_file(Comm *comm, FileMessage *message_data, int32_t *process) {
  struct iovec part = {message_data, sizeof *message_data};
  Control control;
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  int file = -1;
  *process = -1;
  ssize_t size = recvmsg(comm->file_socket, &message, MSG_CMSG_CLOEXEC);
  if (size < 0) return -1;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    struct ucred credentials;
    if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
      file = take_first(head, file);
    if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS) {
      memcpy(&credentials, CMSG_DATA(head), sizeof credentials);
      *process = (int32_t)credentials.pid;
    }
  }
  if (size != sizeof *message_data) *process = -1;
  return file;
}

/* -- all files --------------------------------------------------------------------------------- */

/* Takes a file of this call, if one came. Other files (from a stranger, or for a failed call) are
 * closed. */
static bool take_file(Comm *comm, const uint8_t *senders, int *files) {
  FileMessage message_data = {0};
  int32_t process;
  int file = receive_file(comm, &message_data, &process);
  if (file < 0) return false;
  bool is_ours = message_data.number == comm->number && comm_is_peer(comm, message_data.rank) &&
                 sender_of(senders, message_data.rank).origin.process == process &&
                 files[message_data.rank - comm->team_first] < 0;
  if (is_ours) files[message_data.rank - comm->team_first] = file;
  else close(file);
  return is_ours;
}

static bool has_file(const uint8_t *senders, int32_t rank) {
  return sender_of(senders, rank).origin.file >= 0;
}

/* The first rank whose file is missing; if all came, the last rank, which has not taken ours. */
static int32_t first_missing(const Comm *comm, const uint8_t *senders, const int *files) {
  int32_t k = 0;
  while (k + 1 < comm->team_size && (k == comm->rank - comm->team_first || files[k] >= 0 ||
                                     !has_file(senders, comm->team_first + k)))
    k++;
  return comm->team_first + k;
}

/* Waits briefly; false if a rank has ended, or waiting has taken too long. */
static bool wait_briefly(Comm *comm, int64_t began, const uint8_t *senders, const int *files,
                         Error *err) {
  struct pollfd wait = {.fd = comm->file_socket, .events = POLLIN};
  if (poll(&wait, 1, WAIT_MS) > 0) return true;
  if (!comm->boot->table->check(comm->boot, err)) return false;
  return clock_ns() - began < comm->patience_ns ||
         error_set(err, RG_ERROR_RANK,
                   "rank %d did not exchange file descriptors of shared memory within %.3g s",
                   first_missing(comm, senders, files), (double)comm->patience_ns * 1e-9);
}

static int32_t count_senders(const Comm *comm, const uint8_t *senders) {
  int32_t count = 0;
  for (int32_t k = 0; k < comm->team_size; k++)
    count += comm->team_first + k != comm->rank && has_file(senders, comm->team_first + k);
  return count;
}

bool pass_files(Comm *comm, int file, const uint8_t *senders, int *files, Error *err) {
  int32_t sent = file < 0 ? comm->team_size : 0, missing = count_senders(comm, senders);
  int64_t began = clock_ns();
  for (int32_t k = 0; k < comm->team_size; k++) files[k] = -1;
  while (sent < comm->team_size || missing) {
    SendResult result = SEND_RETRY;
    int32_t rank = comm->team_first + sent;
    Sender to = sender_of(senders, sent < comm->team_size ? rank : comm->rank);
    if (sent < comm->team_size)
      result = rank == comm->rank ? SEND_DONE : send_file(comm, file, &to);
    if (result == SEND_FAILED)
      return error_set(err, RG_ERROR_RANK,
                       "a file descriptor of shared memory could not be sent to rank %d (%s)", rank,
                       strerror(errno));
    sent += result == SEND_DONE;
    bool received = missing && take_file(comm, senders, files);
    missing -= received;
    if (result == SEND_RETRY && !received && !wait_briefly(comm, began, senders, files, err))
      return false;
  }
  return true;
}
