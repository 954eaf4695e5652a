/* dynlib.h - opens shared libraries by a user's path. The system's loader maps what the headers of
 * a library declare, so a truncated file, such as one that is still being copied, would end the
 * process (SIGBUS). So the file's size is compared with its headers first. */
#ifndef RG_BASE_DYNLIB_H
#define RG_BASE_DYNLIB_H

/* Like dlopen, with its flags. On failure returns NULL and sets *why, which is valid until the
 * thread's next call of this or dlopen. A name without a '/' is searched by the system. */
void *dynlib_open(const char *path, int flags, const char **why);

#endif
