/* names.c - open addressing, at most half full. Running out of host memory ends the process,
 * which no test covers. */
#include "names.h"

#include <stdlib.h>

void *array_grow(void **at, uint32_t *count, uint32_t *room, size_t size_bytes) {
  if (*count == *room) {
    *room = *room ? *room * 2 : 8;
    *at = realloc(*at, *room * size_bytes);
    if (!*at) abort();
  }
  return (char *)*at + (*count)++ * size_bytes;
}

static uint32_t slot_of(const Names *names, Slice word) {
  uint32_t hash = 2166136261u;
  for (uint32_t i = 0; i < word.length; i++) hash = (hash ^ (uint8_t)word.at[i]) * 16777619u;
  uint32_t slot = (hash ^ hash >> 15) & (names->room - 1);
  while (names->slots[slot].word.at && !slice_same(names->slots[slot].word, word))
    slot = (slot + 1) & (names->room - 1);
  return slot;
}

uint32_t names_find(const Names *names, Slice word) {
  if (!names->room) return NAME_NONE;
  const Name *name = &names->slots[slot_of(names, word)];
  return name->word.at ? name->value : NAME_NONE;
}

void names_set(Names *names, Slice word, uint32_t value) {
  if (names->count * 2 >= names->room) {
    Names larger = {.room = names->room ? names->room * 2 : 64, .count = names->count};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots) abort();
    for (uint32_t i = 0; i < names->room; i++)
      if (names->slots[i].word.at)
        larger.slots[slot_of(&larger, names->slots[i].word)] = names->slots[i];
    free(names->slots);
    *names = larger;
  }
  uint32_t slot = slot_of(names, word);
  if (!names->slots[slot].word.at) names->count++;
  names->slots[slot] = (Name){word, value};
}

void names_deinit(Names *names) {
  free(names->slots);
  *names = (Names){0};
}
