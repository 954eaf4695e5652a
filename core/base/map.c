/* map.c - chained buckets in scratch; doubles at one entry per bucket. */
#include "base/map.h"

struct MapEntry {
  MapEntry *next;
  uint64_t hash;
  Str key; /* data NULL: an integer key, which is the hash's input */
  uint64_t number;
  void *value;
};

uint64_t hash_bytes(uint64_t seed, const void *data, size_t length_bytes) {
  const unsigned char *bytes = data;
  uint64_t hash = seed ^ 14695981039346656037ull;
  for (size_t i = 0; i < length_bytes; i++) hash = (hash ^ bytes[i]) * 1099511628211ull;
  return hash;
}

void map_init(Map *map, Scratch *scratch) { *map = (Map){.scratch = scratch}; }

static bool is_same(const MapEntry *entry, uint64_t hash, Str key, uint64_t number) {
  if (entry->hash != hash || entry->number != number || !entry->key.data != !key.data) return false;
  return !key.data || str_equal(entry->key, key);
}

static MapEntry *find(const Map *map, uint64_t hash, Str key, uint64_t number) {
  if (!map->bucket_count) return NULL;
  MapEntry *entry = map->buckets[hash & (uint64_t)(map->bucket_count - 1)];
  while (entry && !is_same(entry, hash, key, number)) entry = entry->next;
  return entry;
}

static void grow(Map *map) {
  int count = map->bucket_count ? map->bucket_count * 2 : 16;
  MapEntry **buckets = scratch_array(map->scratch, MapEntry *, count);
  for (int i = 0; i < map->bucket_count; i++) {
    for (MapEntry *entry = map->buckets[i], *next; entry; entry = next) {
      next = entry->next;
      MapEntry **bucket = &buckets[entry->hash & (uint64_t)(count - 1)];
      entry->next = *bucket;
      *bucket = entry;
    }
  }
  map->buckets = buckets;
  map->bucket_count = count;
}

static void put(Map *map, uint64_t hash, Str key, uint64_t number, void *value) {
  MapEntry *entry = find(map, hash, key, number);
  if (entry) {
    entry->value = value;
    return;
  }
  if (map->count >= map->bucket_count) grow(map);
  entry = scratch_new(map->scratch, MapEntry);
  MapEntry **bucket = &map->buckets[hash & (uint64_t)(map->bucket_count - 1)];
  *entry = (MapEntry){.next = *bucket, .hash = hash, .key = key, .number = number, .value = value};
  *bucket = entry;
  map->count++;
}

/* An empty text is still a text key. */
static Str text_key(Str key) { return key.data ? key : STR(""); }
static uint64_t text_hash(Str key) { return hash_bytes(0, key.data, (size_t)key.length); }
static uint64_t number_hash(uint64_t number) { return hash_bytes(1, &number, sizeof number); }

void *map_find(const Map *map, Str key) {
  key = text_key(key);
  MapEntry *entry = find(map, text_hash(key), key, 0);
  return entry ? entry->value : NULL;
}
void map_put(Map *map, Str key, void *value) {
  key = text_key(key);
  put(map, text_hash(key), key, 0, value);
}
void *map_find_int(const Map *map, uint64_t key) {
  MapEntry *entry = find(map, number_hash(key), (Str){0}, key);
  return entry ? entry->value : NULL;
}
void map_put_int(Map *map, uint64_t key, void *value) {
  put(map, number_hash(key), (Str){0}, key, value);
}
