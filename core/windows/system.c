/* system.c - the rest of POSIX that the library uses: libraries, files, threads, the machine. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <windows.h>

#include "windows/posix.h"

/* -- libraries --------------------------------------------------------------------------------- */

static __thread char reason[256];

static void record_reason(void) {
  DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                GetLastError(), 0, reason, sizeof reason, NULL);
  while (length && (unsigned char)reason[length - 1] <= ' ') length--;
  reason[length] = 0;
}

/* The DLL, as MSYS2 names it (zlib's also as Debian does), of a library by its name on Linux. */
const char *windows_dll(const char *soname) {
  static const char *const names[][2] = {{"libz.so.1", "zlib1.dll"},
                                         {"libzstd.so.1", "libzstd.dll"},
                                         {"libpng16.so.16", "libpng16-16.dll"},
                                         {"libsodium.so.23", "libsodium-26.dll"}};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(soname, names[k][0])) return names[k][1];
  return soname;
}

void *dlopen(const char *path, int flags) {
  (void)flags;
  void *library = LoadLibraryA(windows_dll(path));
  if (!library) record_reason();
  return library;
}

void *dlsym(void *library, const char *name) {
  void *entry = (void *)GetProcAddress(library ? library : GetModuleHandle(NULL), name);
  if (!entry) record_reason();
  return entry;
}

int dlclose(void *library) { return !FreeLibrary(library); }

const char *dlerror(void) { return reason; }

int dladdr(const void *address, Dl_info *info) {
  static char path[MAX_PATH];
  HMODULE module = NULL;
  DWORD flags =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (!GetModuleHandleExA(flags, address, &module) ||
      !GetModuleFileNameA(module, path, sizeof path))
    return 0;
  info->dli_fname = path;
  return 1;
}

/* -- files ------------------------------------------------------------------------------------- */

int windows_open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = flags & O_CREAT ? va_arg(list, int) : 0;
  va_end(list);
  return _open(path, flags | _O_BINARY, mode & 0200 ? _S_IREAD | _S_IWRITE : _S_IREAD);
}

int windows_rename(const char *from, const char *to) {
  if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING)) return 0;
  errno = GetLastError() == ERROR_FILE_NOT_FOUND ? ENOENT : EACCES;
  return -1;
}

ssize_t pread(int file, void *bytes, size_t size_bytes, int64_t offset) {
  OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
  DWORD chunk = size_bytes > 1u << 30 ? 1u << 30 : (DWORD)size_bytes, done = 0;
  if (ReadFile((HANDLE)_get_osfhandle(file), bytes, chunk, &done, &at)) return (ssize_t)done;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  errno = EIO;
  return -1;
}

int fsync(int file) { return _commit(file); }

int fchmod(int file, unsigned mode) { return (void)file, (void)mode, 0; }

char *realpath(const char *path, char *out) {
  if (_access(path, 0) || !_fullpath(out, path, MAX_PATH)) return NULL;
  for (char *at = out; *at; at++)
    if (*at == '\\') *at = '/';
  return out;
}

int mkostemp(char *path, int flags) {
  if (!_mktemp(path)) return -1;
  return windows_open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
}

int memfd_create(const char *name, unsigned flags) {
  (void)name, (void)flags;
  char folder[MAX_PATH], path[MAX_PATH];
  if (!GetTempPathA(sizeof folder, folder) || !GetTempFileNameA(folder, "rg", 0, path)) return -1;
  return windows_open(path, O_RDWR | O_CREAT | O_TRUNC | _O_TEMPORARY, 0600);
}

/* -- threads ----------------------------------------------------------------------------------- */

long syscall(long number, ...) {
  if (number == SYS_gettid) return (long)GetCurrentThreadId();
  va_list list;
  va_start(list, number);
  void *word = va_arg(list, void *);
  int operation = va_arg(list, int);
  uint32_t value = va_arg(list, uint32_t);
  va_end(list);
  if (operation == FUTEX_WAIT_PRIVATE) WaitOnAddress(word, &value, sizeof value, INFINITE);
  else WakeByAddressAll(word);
  return 0;
}

int getpriority(int which, long thread) { return (void)which, (void)thread, 0; }

int setpriority(int which, long thread, int priority) {
  (void)which, (void)thread;
  return !SetThreadPriority(GetCurrentThread(),
                            priority > 0 ? THREAD_PRIORITY_BELOW_NORMAL : THREAD_PRIORITY_NORMAL);
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
  (void)thread;
  return pthread_attr_init(attributes);
}

/* Windows commits a stack page by page, each at an access to the page next to the last one. Code
 * compiled for Linux skips pages if a frame is larger than a page. So all pages are committed now,
 * except the three lowest, which belong to the system. */
static void commit_stack(ULONG_PTR begin) {
  enum { PAGE = 4096 };
  volatile char *at = __builtin_frame_address(0);
  while ((ULONG_PTR)(at -= PAGE) > begin + 4 * PAGE) (void)*at;
}

int windows_stack(void **low, size_t *size_bytes) {
  ULONG_PTR begin, end;
  GetCurrentThreadStackLimits(&begin, &end);
  commit_stack(begin);
  *low = (void *)begin;
  *size_bytes = end - begin;
  return 0;
}

/* -- the machine ------------------------------------------------------------------------------- */

long sysconf(int name) {
  SYSTEM_INFO info;
  MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
  GetSystemInfo(&info);
  switch (name) {
  case _SC_PAGESIZE: return (long)info.dwPageSize;
  case _SC_NPROCESSORS_ONLN: return (long)info.dwNumberOfProcessors;
  case _SC_PHYS_PAGES:
    return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / info.dwPageSize) : -1;
  }
  return -1;
}

int sched_getaffinity(int process, size_t size_bytes, cpu_set_t *set) {
  (void)process, (void)size_bytes;
  DWORD_PTR own, all;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) return -1;
  set->count = __builtin_popcountll(own);
  return set->count > 0 ? 0 : -1;
}

/* -- sorting ----------------------------------------------------------------------------------- */

typedef struct Order {
  int (*compare)(const void *a, const void *b, void *data);
  void *data;
} Order;

/* Windows passes the data as the first argument. */
static int compare_swapped(void *order, const void *a, const void *b) {
  return ((Order *)order)->compare(a, b, ((Order *)order)->data);
}

void windows_qsort_r(void *items, size_t count, size_t size_bytes,
                     int (*compare)(const void *a, const void *b, void *data), void *data) {
  Order order = {compare, data};
  qsort_s(items, count, size_bytes, compare_swapped, &order);
}
