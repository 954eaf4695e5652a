/* cache.h - compiled objects on disk: a kernel that any process of this build compiled before needs
 * no LLVM. The cache does not interpret requests or objects. It never makes a compile fail: an
 * entry that cannot be read is a miss, and one that cannot be written is dropped. One thread at a
 * time per Cache; any number of processes share a folder. */
#ifndef RG_LOADER_CACHE_H
#define RG_LOADER_CACHE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/heap.h"
#include "jit/codegen_abi.h"

typedef struct Cache Cache;

/* Opens the cache that RG_CACHE and RG_CACHE_SIZE describe; *cache stays NULL if caching is
 * switched off, or the user has no home folder. Touches no file. False with option.invalid or
 * memory.host. */
bool cache_open(Heap *heap, Cache **cache, Error *err);
/* A cache in `folder`, an absolute path; ignores the options. NULL: out of memory. */
Cache *cache_create(Heap *heap, const char *folder, uint64_t limit_bytes);
void cache_close(Cache *cache);               /* NULL is fine, here and below */
const char *cache_folder(const Cache *cache); /* borrowed; "" without a cache */
uint64_t cache_limit_bytes(const Cache *cache);
/* Reads the objects for a request, by target, into memory of the cache's heap; without their texts.
 * False: not in the cache. */
bool cache_find(Cache *cache, const RgCodegenRequest *request,
                RgCodegenObject objects[RG_TARGET_COUNT]);
/* The name of a request's entry: a hash of build, processors (for "native" this machine's) and
 * bytes. False if the host has no memory left for it. */
enum { CACHE_NAME_BYTES = 33 };
bool cache_name(Cache *cache, const RgCodegenRequest *request, char name[CACHE_NAME_BYTES]);
void cache_store(Cache *cache, const RgCodegenRequest *request,
                 const RgCodegenObject objects[RG_TARGET_COUNT]);

/* prune.c: if the entries of all builds in `folder` exceed `limit_bytes`, deletes the least
 * recently used ones down to three quarters of the limit; also deletes temporary files of crashed
 * writers. Touches only names that a cache uses. */
void cache_prune(Heap *heap, const char *folder, uint64_t limit_bytes);

typedef struct CacheContents {
  uint64_t entry_count, size_bytes; /* of all builds; bytes: their size on disk */
} CacheContents;
CacheContents cache_measure(Heap *heap, const char *folder);
/* Deletes the entries of all builds; returns how many could not be deleted. Others may read and
 * write meanwhile. */
uint64_t cache_empty(Heap *heap, const char *folder);

#endif
