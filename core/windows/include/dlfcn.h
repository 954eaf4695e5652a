/* dlfcn.h - shared libraries by LoadLibrary. */
#ifndef RG_WINDOWS_DLFCN_H
#define RG_WINDOWS_DLFCN_H

enum { RTLD_LAZY = 1, RTLD_NOW = 2, RTLD_LOCAL = 0 };
#define RTLD_DEFAULT ((void *)0)

typedef struct Dl_info {
  const char *dli_fname;
} Dl_info;

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
const char *dlerror(void);
/* Finds the file of the library or program that contains the address. The result is valid until the
 * next call, by any thread. */
int dladdr(const void *address, Dl_info *info);

#endif
