/* names.h - a map from words to numbers: functions, variables, labels, opcodes. Words are borrowed.
 * And PUSH, a growing array: struct { T *at; uint32_t count, room; }. */
#ifndef PTX_NAMES_H
#define PTX_NAMES_H

#include "text.h"

#define PUSH(vec, ...) \
  (*(__typeof__((vec).at))array_grow((void **)&(vec).at, &(vec).count, &(vec).room, \
                                     sizeof *(vec).at) = (__VA_ARGS__))
/* Room for one more at the end of an array. */
void *array_grow(void **at, uint32_t *count, uint32_t *room, size_t size_bytes);

typedef struct Name {
  Slice word;
  uint32_t value;
} Name;

typedef struct Names {
  Name *slots;
  uint32_t count, room; /* room is a power of two */
} Names;

enum { NAME_NONE = UINT32_MAX };

uint32_t names_find(const Names *names, Slice word);
/* Later values of a word replace earlier ones. */
void names_set(Names *names, Slice word, uint32_t value);
void names_deinit(Names *names);

#endif
