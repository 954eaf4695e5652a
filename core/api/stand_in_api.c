/* stand_in_api.c - regolith.h's calls for chunks with syntax that the host's Lua cannot parse. They
 * belong to no runtime, so each result has memory of its own. */
#include <stdlib.h>

#include "api/api.h"
#include "front/stand_in.h"

typedef struct OwnedStandIns {
  RgStandIns result; /* must be first: the part that the caller sees */
  Heap heap;
  Scratch scratch;
  Str chunk;
} OwnedStandIns;

static bool find_stand_ins(void *data, Error *err) {
  (void)err;
  OwnedStandIns *owned = data;
  Source *source = source_create(&owned->scratch, owned->chunk, "chunk", 1);
  int skipped = owned->chunk.length - source->text.length; /* a byte-order mark, a `#!` line */
  StandIns found = stand_ins_find(source);
  RgStandIn *items = scratch_array(&owned->scratch, RgStandIn, found.count + 1);
  for (int k = 0; k < found.count; k++)
    items[k] = (RgStandIn){.begin = found.items[k].begin + skipped,
                           .end = found.items[k].end + skipped,
                           .text = found.items[k].text.data};
  owned->result = (RgStandIns){.count = found.count, .items = items};
  return true;
}

RgStatus rg_stand_ins_create(const char *text, int64_t length, RgStandIns **stand_ins) {
  API_NEEDS(text);
  API_NEEDS(stand_ins);
  *stand_ins = NULL;
  if (length < 0 || length > INT32_MAX / 2)
    return api_refuse(__func__, "length is not the length of a text");
  OwnedStandIns *owned = calloc(1, sizeof *owned);
  if (!owned) return RG_ERROR_MEMORY;
  Error err;
  error_clear(&err);
  heap_init(&owned->heap, 0);
  scratch_init(&owned->scratch, &owned->heap);
  owned->chunk = (Str){text, (int)length};
  if (guard_run(find_stand_ins, owned, &err)) *stand_ins = &owned->result;
  else rg_stand_ins_release(&owned->result);
  return (RgStatus)err.code;
}

void rg_stand_ins_release(RgStandIns *stand_ins) {
  OwnedStandIns *owned = (OwnedStandIns *)stand_ins;
  if (!owned) return;
  scratch_deinit(&owned->scratch);
  free(owned);
}
