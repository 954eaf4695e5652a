/* frame.c - see frame.h. */
#include "comm/message/frame.h"

#include <errno.h>
#include <sys/socket.h>

static bool send_all(int socket, const void *bytes, uint64_t size_bytes) {
  const char *at = bytes;
  while (size_bytes) {
    ssize_t sent = send(socket, at, size_bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size_bytes -= (uint64_t)sent;
  }
  return true;
}

bool frame_send(int socket, FrameKind kind, const void *bytes, uint32_t size_bytes) {
  Frame frame = {kind, size_bytes};
  return send_all(socket, &frame, sizeof frame) && send_all(socket, bytes, size_bytes);
}

bool frame_receive_bytes(int socket, void *bytes, uint64_t size_bytes) {
  char *at = bytes;
  while (size_bytes) {
    ssize_t received = recv(socket, at, size_bytes, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    size_bytes -= (uint64_t)received;
  }
  return true;
}
