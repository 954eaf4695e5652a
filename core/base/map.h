/* map.h - a hash map from text or a 64-bit key to a pointer, in scratch memory. */
#ifndef RG_BASE_MAP_H
#define RG_BASE_MAP_H

#include "base/scratch.h"
#include "base/str.h"

typedef struct MapEntry MapEntry;
typedef struct Map {
  Scratch *scratch;
  MapEntry **buckets;
  int bucket_count, count;
} Map;

void map_init(Map *map, Scratch *scratch);
void *map_find(const Map *map, Str key); /* NULL when absent */
void map_put(Map *map, Str key, void *value);
void *map_find_int(const Map *map, uint64_t key);
void map_put_int(Map *map, uint64_t key, void *value);

/* FNV-1a, 64 bit. */
uint64_t hash_bytes(uint64_t seed, const void *data, size_t length_bytes);

#endif
