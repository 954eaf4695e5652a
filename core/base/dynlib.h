/* dynlib.h - shared libraries by a path that a user gives. The system's loader maps what a
 * library's headers promise: a file that is cut short, as while it is being copied, would end the
 * process (SIGBUS). So the file's size is compared with the headers first. */
#ifndef RG_BASE_DYNLIB_H
#define RG_BASE_DYNLIB_H

/* As dlopen, with its flags. NULL: *why says why, until the thread's next call of this or dlopen.
 * A name without a '/' is left to the system, which looks for it. */
void *dynlib_open(const char *path, int flags, const char **why);

#endif
