/* poll.h - for declarations only: there are no ranks on Windows. */
#ifndef RG_WINDOWS_POLL_H
#define RG_WINDOWS_POLL_H

struct pollfd {
  int fd;
  short events, revents;
};

#endif
