/* stand_in_api.c - regolith.h's calls for chunks with syntax that the host's Lua cannot parse. They
 * belong to no runtime, so each result has memory of its own. */
#include <stdlib.h>

#include "api/api.h"
#include "front/stand_in.h"

typedef struct Held {
  RgStandIns shown; /* must be first: the part that the caller sees */
  Heap heap;
  Scratch scratch;
  Str chunk;
} Held;

static bool find(void *data, Error *err) {
  (void)err;
  Held *held = data;
  Source *source = source_create(&held->scratch, held->chunk, "chunk", 1);
  int skipped = held->chunk.length - source->text.length; /* a byte-order mark, a `#!` line */
  StandIns found = stand_ins_find(source);
  RgStandIn *items = scratch_array(&held->scratch, RgStandIn, found.count + 1);
  for (int k = 0; k < found.count; k++)
    items[k] = (RgStandIn){.begin = found.items[k].begin + skipped,
                           .end = found.items[k].end + skipped,
                           .text = found.items[k].text.data};
  held->shown = (RgStandIns){.count = found.count, .items = items};
  return true;
}

RgStatus rg_stand_ins_create(const char *text, int64_t length, RgStandIns **stand_ins) {
  API_NEEDS(text);
  API_NEEDS(stand_ins);
  *stand_ins = NULL;
  if (length < 0 || length > INT32_MAX / 2)
    return api_refuse(__func__, "length is not the length of a text");
  Held *held = calloc(1, sizeof *held);
  if (!held) return RG_ERROR_MEMORY;
  Error err;
  error_clear(&err);
  heap_init(&held->heap, 0);
  scratch_init(&held->scratch, &held->heap);
  held->chunk = (Str){text, (int)length};
  if (guard_run(find, held, &err)) *stand_ins = &held->shown;
  else rg_stand_ins_release(&held->shown);
  return (RgStatus)err.code;
}

void rg_stand_ins_release(RgStandIns *stand_ins) {
  Held *held = (Held *)stand_ins;
  if (!held) return;
  scratch_deinit(&held->scratch);
  free(held);
}
