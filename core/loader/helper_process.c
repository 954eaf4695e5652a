/* helper_process.c - sends one request to the helper program and reads one answer; the framing is
 * in jit/codegen_pipe.h. Uses posix_spawn and two pipes. Writing everything before reading cannot
 * deadlock, since the helper reads everything before it writes. Requests go through a socket pair
 * with MSG_NOSIGNAL, so that the user's process gets no SIGPIPE. */
#include "loader/helper_process.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/codegen_pipe.h"

enum { MAX_PART_BYTES = 1 << 28 };
extern char **environ;

static bool send_all(int fd, const void *data, int64_t length) {
  const char *at = data;
  while (length > 0) {
    ssize_t sent = send(fd, at, (size_t)length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    length -= sent;
  }
  return true;
}

static bool receive_all(int fd, void *data, int64_t length) {
  char *at = data;
  while (length > 0) {
    ssize_t received = recv(fd, at, (size_t)length, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    length -= received;
  }
  return true;
}

static int64_t text_length(const char *text) { return text ? (int64_t)strlen(text) : -1; }

static bool send_request(int fd, const RgCodegenRequest *request) {
  RgPipeRequest head = {.magic = RG_PIPE_MAGIC,
                        .bytes_length = request->length,
                        .build_id_length = text_length(request->build_id),
                        .want_llvm = request->want_llvm,
                        .want_asm = request->want_asm,
                        .instrument = request->instrument,
                        .threads = request->threads,
                        .baseline = request->baseline};
  for (int t = 0; t < RG_TARGET_COUNT; t++)
    head.processor_lengths[t] = text_length(request->processors[t]);
  bool ok = send_all(fd, &head, sizeof head) && send_all(fd, request->bytes, request->length) &&
            send_all(fd, request->build_id, head.build_id_length);
  for (int t = 0; ok && t < RG_TARGET_COUNT; t++)
    ok = send_all(fd, request->processors[t], head.processor_lengths[t]);
  return ok;
}

/* A part, with a NUL appended; *part stays NULL for length -1. */
static bool receive_part(Heap *heap, int fd, int64_t length, void *part) {
  if (length == -1) return true;
  if (length < 0 || length > MAX_PART_BYTES) return false;
  char *memory = heap_alloc(heap, (size_t)length + 1);
  memcpy(part, &memory, sizeof memory);
  return memory && receive_all(fd, memory, length);
}

static bool receive_result(Heap *heap, int fd, RgCodegenResult *result) {
  RgPipeResult head;
  if (!receive_all(fd, &head, sizeof head) || head.magic != RG_PIPE_MAGIC) return false;
  result->ok = head.ok;
  result->code = head.code;
  result->parse_ms = head.parse_ms;
  result->emit_ms = head.emit_ms;
  result->optimize_ms = head.optimize_ms;
  result->object_ms = head.object_ms;
  bool ok = receive_part(heap, fd, head.message_length, &result->message);
  for (int t = 0; ok && t < RG_TARGET_COUNT; t++) {
    RgCodegenObject *object = &result->objects[t];
    object->length = head.object_lengths[t];
    ok = receive_part(heap, fd, head.object_lengths[t], &object->bytes) &&
         receive_part(heap, fd, head.llvm_lengths[t], &object->llvm_text) &&
         receive_part(heap, fd, head.asm_lengths[t], &object->asm_text);
  }
  return ok;
}

static bool start_helper(const char *program, pid_t *child, int *channel, Error *err) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return error_set(err, RG_ERROR_CODEGEN, "the compile helper cannot be connected: %s",
                     strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
  posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
  char *arguments[] = {(char *)program, NULL};
  int failed = posix_spawn(child, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pair[1]);
  if (!failed) {
    *channel = pair[0];
    return true;
  }
  close(pair[0]);
  return error_set(err, RG_ERROR_CODEGEN, "the compile helper %s cannot be started: %s", program,
                   strerror(failed));
}

RgCodegenResult *helper_compile(Heap *heap, const char *program, const RgCodegenRequest *request,
                                Error *err) {
  pid_t child;
  int channel = -1, status = 0;
  if (!start_helper(program, &child, &channel, err)) return NULL;
  RgCodegenResult *result = heap_alloc(heap, sizeof *result);
  bool ok = result && send_request(channel, request) && !shutdown(channel, SHUT_WR) &&
            receive_result(heap, channel, result);
  close(channel);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (ok) return result;
  helper_result_free(heap, result);
  if (WIFSIGNALED(status))
    error_set(err, RG_ERROR_CODEGEN, "LLVM crashed the compile helper (signal %d)",
              WTERMSIG(status));
  else
    error_set(err, RG_ERROR_CODEGEN, "the compile helper did not answer (status %d)",
              WEXITSTATUS(status));
  return NULL;
}

void helper_result_free(Heap *heap, RgCodegenResult *result) {
  if (!result) return;
  heap_free(heap, result->message);
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    heap_free(heap, result->objects[t].bytes);
    heap_free(heap, result->objects[t].llvm_text);
    heap_free(heap, result->objects[t].asm_text);
  }
  heap_free(heap, result);
}
