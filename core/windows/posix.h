/* posix.h - the parts of POSIX that MinGW's headers omit, included before every file of the library
 * for Windows (windows/CMakeLists.txt). Together with include/ this is all that the other rooms,
 * which are written for POSIX, see of Windows. */
#ifndef RG_WINDOWS_POSIX_H
#define RG_WINDOWS_POSIX_H

#include <fcntl.h>
#include <io.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* -- files ------------------------------------------------------------------------------------- */

enum { O_CLOEXEC = _O_NOINHERIT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0 };
#define O_CLOEXEC O_CLOEXEC
enum { S_ISUID = 04000, S_ISGID = 02000 };

typedef unsigned uid_t;
typedef int id_t;

/* Files are binary: no line endings are translated. windows_rename can replace an open file. */
int windows_open(const char *path, int flags, ...);
const char *windows_dll(const char *soname);
int windows_rename(const char *from, const char *to);
ssize_t pread(int file, void *bytes, size_t size_bytes, int64_t offset);
int fsync(int file);
int fchmod(int file, unsigned mode);
char *realpath(const char *path, char *out);
int mkostemp(char *path, int flags);
static inline uid_t geteuid(void) { return 0; }
#define open windows_open
#define rename windows_rename
#define lstat stat
#define S_ISLNK(mode) 0
#define S_ISSOCK(mode) 0

/* -- sorting ----------------------------------------------------------------------------------- */

void windows_qsort_r(void *items, size_t count, size_t size_bytes,
                     int (*compare)(const void *a, const void *b, void *data), void *data);
#define qsort_r windows_qsort_r

/* -- the machine ------------------------------------------------------------------------------- */

enum { _SC_PAGESIZE, _SC_PHYS_PAGES, _SC_NPROCESSORS_ONLN, _SC_LEVEL3_CACHE_SIZE };
long sysconf(int name);

typedef struct cpu_set_t {
  int count;
} cpu_set_t;
int sched_getaffinity(int process, size_t size_bytes, cpu_set_t *set);
#define CPU_COUNT(set) ((set)->count)

int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
/* of the calling thread */
int windows_stack(void **low, size_t *size_bytes);
#define pthread_attr_getstack(attributes, low, size_bytes) windows_stack(low, size_bytes)

/* -- signals, which Windows does not have ------------------------------------------------------ */

typedef int windows_sigset;
#define sigset_t windows_sigset
#define sigfillset(set) (*(set) = 0)
#define pthread_sigmask(how, set, old) ((void)(set), (void)(old))
#define SIG_SETMASK 0

/* setjmp and longjmp that do not unwind: longjmp of Windows unwinds the frames in between, and
 * kernels have no tables for that. */
#include <setjmp.h>
#undef setjmp
#define setjmp(buffer) _setjmp(buffer, NULL)

#endif
