/* frame.h - messages between a rank and the server over a stream socket: a kind, a size, bytes. */
#ifndef RG_COMM_MESSAGE_FRAME_H
#define RG_COMM_MESSAGE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

typedef enum FrameKind {
  FRAME_GATHER = 1, /* to the server: a rank's part; from it: all parts */
  FRAME_LOST,       /* both ways: the reason why all ranks fail */
  FRAME_FAREWELL    /* to the server: the rank leaves normally */
} FrameKind;

typedef struct Frame {
  uint32_t kind;
  uint32_t size_bytes;
} Frame;

enum { FRAME_MAX_BYTES = 1 << 26, FRAME_SENTENCE = 400 };

/* Both wait, and return false if the other end has closed. Neither raises SIGPIPE. */
bool frame_send(int socket, FrameKind kind, const void *bytes, uint32_t size_bytes);
bool frame_receive_bytes(int socket, void *bytes, uint64_t size_bytes);

#endif
