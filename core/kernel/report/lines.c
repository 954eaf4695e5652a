/* lines.c - see lines.h. A kept line is its length (8 bytes), then its bytes, with a NUL. */
#include "kernel/report/lines.h"

#include <stdio.h>
#include <string.h>

static bool has_room(Engine *engine, size_t bytes) {
  Lines *lines = &engine->lines;
  if (!lines->count) lines->used = lines->taken = 0;
  if (lines->used + bytes <= lines->capacity) return true;
  size_t capacity = 2 * (lines->used + bytes);
  char *grown = heap_resize(engine->store->heap, lines->bytes, capacity);
  if (!grown) return false;
  lines->bytes = grown;
  lines->capacity = capacity;
  return true;
}

static size_t size_of(int64_t length) { return (size_t)(length < 0 ? -1 - length : length) + 1; }

static void keep(Engine *engine, const char *text, int64_t length) {
  Lines *lines = &engine->lines;
  size_t size = size_of(length);
  if (!has_room(engine, sizeof length + size)) {
    engine_warn(engine, "a line that a kernel printed is lost: the host has no memory left");
    return;
  }
  memcpy(lines->bytes + lines->used, &length, sizeof length);
  memcpy(lines->bytes + lines->used + sizeof length, text, size);
  lines->used += sizeof length + size;
  lines->count++;
}

void lines_warn(Engine *engine, const char *text) {
  engine->lines.has_warnings = false; /* a warning that memory is short goes to standard error */
  keep(engine, text, -1 - (int64_t)strlen(text));
  engine->lines.has_warnings = true;
}

void lines_add(Engine *engine, const char *text, int length) {
  if (engine->print) {
    engine->print(engine->print_data, text, length);
  } else if (engine->lines.are_kept) {
    keep(engine, text, length);
  } else {
    fwrite(text, 1, (size_t)length, stdout);
    putchar('\n');
  }
}

const char *lines_take(Engine *engine, int64_t *length) {
  Lines *lines = &engine->lines;
  if (!lines->count) return NULL;
  memcpy(length, lines->bytes + lines->taken, sizeof *length);
  const char *text = lines->bytes + lines->taken + sizeof *length;
  lines->taken += sizeof *length + size_of(*length);
  lines->count--;
  return text;
}

void lines_free(Engine *engine) {
  heap_free(engine->store->heap, engine->lines.bytes);
  engine->lines =
      (Lines){.are_kept = engine->lines.are_kept, .has_warnings = engine->lines.has_warnings};
}
