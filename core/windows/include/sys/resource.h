/* resource.h - the priority of the calling thread. */
#ifndef RG_WINDOWS_RESOURCE_H
#define RG_WINDOWS_RESOURCE_H

enum { PRIO_PROCESS };

int getpriority(int which, long thread);
/* above 0: below the usual priority */
int setpriority(int which, long thread, int priority);

#endif
