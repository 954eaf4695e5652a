/* resource.h - the priority of the calling thread. */
#ifndef RG_WINDOWS_RESOURCE_H
#define RG_WINDOWS_RESOURCE_H

enum { PRIO_PROCESS };

int getpriority(int which, long thread);
/* A priority above 0 is lower than the default. */
int setpriority(int which, long thread, int priority);

#endif
