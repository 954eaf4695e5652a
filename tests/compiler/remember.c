/* remember.c - a codegen library for tests (RG_COMPILER): passes each request on to the real one,
 * and keeps what comes of it in the folder RG_COMPILED, from where it answers when some process
 * asks for the same again. So the suites of one run, which launch the same kernels in many ways,
 * compile each kernel once; of ranks that ask for one at the same time, too, the first compiles it
 * and the others wait. Nobody else notices: it stands behind counts, times and the cache of users.
 * What it does not keep, it passes on: requests for texts, of hosts that bring an allocator,
 * and all while RG_COMPILED is not set. Any thread. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "loader/cache.h"

#define EXPORT __attribute__((visibility("default")))

/* An answer from the folder. The result comes first: its address is what the caller frees. */
typedef struct Answer {
  RgCodegenResult result;
  struct Answer *next;
} Answer;

static struct {
  RgCodegenFunction *compile;
  RgCodegenFreeFunction *free_result;
  const char *(*build_id)(void);
} real;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Answer *answers; /* that nobody has freed, under the lock */

static void open_real(void) {
  void *library = dlopen(REAL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library) {
    *(void **)&real.compile = dlsym(library, "regolith_codegen");
    *(void **)&real.free_result = dlsym(library, "regolith_codegen_free");
    *(void **)&real.build_id = dlsym(library, "regolith_codegen_build_id");
  }
  if (real.compile && real.free_result && real.build_id) return;
  fprintf(stderr, "the compiler behind the one of the tests cannot be opened: %s\n", dlerror());
  abort();
}

static bool remembers(const RgCodegenRequest *request) {
  return !request->want_llvm && !request->want_asm && !request->resize && request->build_id &&
         !strcmp(request->build_id, real.build_id());
}

static RgCodegenResult *answer_of(const RgCodegenObject *objects) {
  Answer *answer = calloc(1, sizeof *answer);
  if (!answer) abort();
  answer->result.ok = true;
  memcpy(answer->result.objects, objects, sizeof answer->result.objects);
  pthread_mutex_lock(&lock);
  answer->next = answers;
  answers = answer;
  pthread_mutex_unlock(&lock);
  return &answer->result;
}

/* NULL: it is none of ours. */
static Answer *take_answer(const RgCodegenResult *result) {
  pthread_mutex_lock(&lock);
  Answer **at = &answers, *found;
  while (*at && &(*at)->result != result) at = &(*at)->next;
  found = *at;
  if (found) *at = found->next;
  pthread_mutex_unlock(&lock);
  return found;
}

EXPORT const char *regolith_codegen_build_id(void) {
  pthread_once(&once, open_real);
  return real.build_id();
}

/* Waits until no other thread of any process holds the lock of this request. It is released by
 * close, and when the process ends. -1: there is none, and the request may be compiled twice. */
static int lock_request(Cache *cache, const RgCodegenRequest *request) {
  char name[CACHE_NAME_BYTES], path[4096];
  if (!cache_name(cache, request, name)) return -1;
  if (snprintf(path, sizeof path, "%s/%s.lock", cache_folder(cache), name) >= (int)sizeof path)
    return -1;
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) flock(file, LOCK_EX);
  return file;
}

static RgCodegenResult *compile_once(Cache *cache, const RgCodegenRequest *request) {
  RgCodegenObject objects[RG_TARGET_COUNT];
  if (cache_find(cache, request, objects)) return answer_of(objects);
  int held = lock_request(cache, request);
  RgCodegenResult *result = NULL;
  if (cache_find(cache, request, objects)) result = answer_of(objects);
  else if ((result = real.compile(request)) && result->ok)
    cache_store(cache, request, result->objects);
  if (held >= 0) close(held);
  return result;
}

EXPORT RgCodegenResult *regolith_codegen(const RgCodegenRequest *request) {
  pthread_once(&once, open_real);
  const char *folder = getenv("RG_COMPILED");
  if (!folder || !*folder || !remembers(request)) return real.compile(request);
  Heap heap;
  heap_init(&heap, 0);
  Cache *cache = cache_create(&heap, folder, UINT64_MAX);
  RgCodegenResult *result = compile_once(cache, request);
  cache_close(cache);
  return result;
}

EXPORT void regolith_codegen_free(RgCodegenResult *result) {
  Answer *answer = result ? take_answer(result) : NULL;
  if (!answer) return real.free_result(result);
  Heap heap;
  heap_init(&heap, 0);
  for (int t = 0; t < RG_TARGET_COUNT; t++) heap_free(&heap, answer->result.objects[t].bytes);
  free(answer);
}
