/* reduce.c - combines numbers of all ranks, in the order of ranks. For few numbers, each rank
 * combines all by itself (one-shot); for many, each combines a slice, and reads the others'
 * (two-shot). If all have many at one place of a window, no buffer is needed: each rank combines
 * its slice where it is, and writes the result to all (after NCCL's symmetric memory). */
#include <string.h>

#include "base/bits.h"
#include "comm/header.h"
#include "comm/window/window.h"

enum { TWO_SHOT_BYTES = 32 << 10, FAR_PART = 64 << 20 };

/* -- numbers ----------------------------------------------------------------------------------- */

#define SUM(a, b) ((a) + (b))
#define PRODUCT(a, b) ((a) * (b))
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((b) > (a) ? (b) : (a))

#define COMBINE(NAME, OP, TYPE, AS) \
  static void NAME(void *to, const void *from, uint64_t count) { \
    TYPE *a = to; \
    const TYPE *b = from; \
    for (uint64_t k = 0; k < count; k++) a[k] = (TYPE)OP((AS)a[k], (AS)b[k]); \
  }
#define NUMBER(NAME, WORD, TYPE, AS, NCCL) \
  COMBINE(sum_of_##NAME, SUM, TYPE, AS) \
  COMBINE(product_of_##NAME, PRODUCT, TYPE, AS) \
  COMBINE(min_of_##NAME, MIN, TYPE, TYPE) \
  COMBINE(max_of_##NAME, MAX, TYPE, TYPE)
COMM_NUMBERS(NUMBER)
#undef NUMBER

typedef void Combine(void *to, const void *from, uint64_t count);
// clang-format off
static Combine *const table[COMM_OP_COUNT][COMM_TYPE_COUNT] = {
#define NUMBER(NAME, WORD, TYPE, AS, NCCL)                                                       \
  [COMM_SUM][COMM_##NAME] = sum_of_##NAME, [COMM_PRODUCT][COMM_##NAME] = product_of_##NAME,     \
  [COMM_MIN][COMM_##NAME] = min_of_##NAME, [COMM_MAX][COMM_##NAME] = max_of_##NAME,
    COMM_NUMBERS(NUMBER)
#undef NUMBER
    [COMM_SUM][COMM_BOOL] = max_of_U8, [COMM_PRODUCT][COMM_BOOL] = min_of_U8,
    [COMM_MIN][COMM_BOOL] = min_of_U8, [COMM_MAX][COMM_BOOL] = max_of_U8};

uint64_t comm_type_bytes(CommType type) {
  static const uint8_t sizes[COMM_TYPE_COUNT] = {
#define NUMBER(NAME, WORD, TYPE, AS, NCCL) [COMM_##NAME] = sizeof(TYPE),
      COMM_NUMBERS(NUMBER)
#undef NUMBER
      [COMM_BOOL] = 1};
  return sizes[type];
}
// clang-format on

/* -- in a team --------------------------------------------------------------------------------- */

typedef struct Reduction {
  Comm *comm;
  Combine *combine;
  uint64_t number_bytes;
  uint64_t about;
} Reduction;

/* Combines numbers first .. first + count of all ranks' buffers. */
static void combine_all(const Reduction *r, uint8_t *to, uint64_t first, uint64_t count) {
  uint64_t at = first * r->number_bytes;
  memcpy(to, comm_buffer(r->comm, 0) + at, count * r->number_bytes);
  for (int32_t k = 1; k < r->comm->size; k++) r->combine(to, comm_buffer(r->comm, k) + at, count);
}

static uint64_t slice_at(const Comm *comm, uint64_t count, int32_t rank) {
  return count * (uint64_t)rank / (uint64_t)comm->size;
}

/* The second shot: publishes this rank's slice, and reads the others'. */
static bool share_slices(const Reduction *r, uint8_t *numbers, uint64_t count, Error *err) {
  Comm *comm = r->comm;
  uint64_t first = slice_at(comm, count, comm->rank), past = slice_at(comm, count, comm->rank + 1);
  uint8_t *mine = comm->own->buffer[(comm->buffer_uses + 1) & 1] + first * r->number_bytes;
  combine_all(r, mine, first, past - first);
  if (!comm_pass_begin(comm, CALL_REDUCE, err) || !comm_pass(comm, CALL_REDUCE, r->about, err))
    return false;
  for (int32_t k = 0; k < comm->size; k++) {
    uint64_t from = slice_at(comm, count, k), to = slice_at(comm, count, k + 1);
    memcpy(numbers + from * r->number_bytes, comm_buffer(comm, k) + from * r->number_bytes,
           (to - from) * r->number_bytes);
  }
  return true;
}

static bool reduce_near(const Reduction *r, uint8_t *numbers, uint64_t count, Error *err) {
  Comm *comm = r->comm;
  if (!comm_pass_begin(comm, CALL_REDUCE, err)) return false;
  memcpy(comm_buffer(comm, comm->rank), numbers, count * r->number_bytes);
  if (!comm_pass(comm, CALL_REDUCE, r->about, err)) return false;
  if (count * r->number_bytes > TWO_SHOT_BYTES) return share_slices(r, numbers, count, err);
  combine_all(r, numbers, 0, count);
  return true;
}

/* -- in windows of a team ---------------------------------------------------------------------- */

/* Numbers first .. past, of which no other rank reads or writes any meanwhile. */
static void combine_in_place(const Reduction *r, const WindowPlace *place, uint64_t first,
                             uint64_t past) {
  enum { BLOCK_BYTES = 16 << 10 };
  _Alignas(64) uint8_t result[BLOCK_BYTES];
  uint64_t max_count = BLOCK_BYTES / r->number_bytes;
  for (uint64_t k = first; k < past; k += max_count) {
    uint64_t count = past - k < max_count ? past - k : max_count, at = k * r->number_bytes;
    memcpy(result, window_at(r->comm, place, 0) + at, count * r->number_bytes);
    for (int32_t rank = 1; rank < r->comm->size; rank++)
      r->combine(result, window_at(r->comm, place, rank) + at, count);
    for (int32_t rank = 0; rank < r->comm->size; rank++)
      memcpy(window_at(r->comm, place, rank) + at, result, count * r->number_bytes);
  }
}

/* If *is_done is false, without any effect, not all ranks have their numbers at that place. */
static bool reduce_in_place(const Reduction *r, const uint8_t *numbers, uint64_t count,
                            bool *is_done, Error *err) {
  Comm *comm = r->comm;
  if (!comm_pass_begin(comm, CALL_REDUCE, err)) return false;
  WindowPlace place = window_place_of(comm, numbers, count * r->number_bytes);
  memcpy(comm_buffer(comm, comm->rank), &place, sizeof place);
  if (!comm_pass(comm, CALL_REDUCE, r->about, err)) return false;
  *is_done = place.memory;
  for (int32_t k = 0; k < comm->size; k++)
    *is_done &= !memcmp(comm_buffer(comm, k), &place, sizeof place);
  if (!*is_done) return true;
  combine_in_place(r, &place, slice_at(comm, count, comm->rank),
                   slice_at(comm, count, comm->rank + 1));
  return comm_team_barrier(comm, CALL_REDUCE, err);
}

/* -- between teams ----------------------------------------------------------------------------- */

static bool reduce_few(const Reduction *r, const CallOptions *call, uint8_t *numbers,
                       uint64_t count, Error *err) {
  uint8_t *all;
  uint64_t size = count * r->number_bytes;
  if (!comm_gather_part(r->comm, call, numbers, size, &all, err)) return false;
  memcpy(numbers, all, size);
  for (int32_t k = 1; k < r->comm->size; k++) r->combine(numbers, all + (uint64_t)k * size, count);
  heap_free(r->comm->heap, all);
  return true;
}

/* Each rank receives a slice of all ranks' numbers, combines it, and sends it to all. */
static bool reduce_slices(const Reduction *r, uint8_t *parts, uint64_t each, Error *err) {
  Boot *boot = r->comm->boot;
  uint64_t size = each * r->number_bytes;
  uint8_t *received = parts + (uint64_t)boot->size * size;
  if (!boot->table->all_to_all(boot, parts, size, received, err)) return false;
  for (int32_t k = 1; k < boot->size; k++)
    r->combine(received, received + (uint64_t)k * size, each);
  return boot->table->gather(boot, received, size, parts, err);
}

static bool reduce_many(const Reduction *r, const CallOptions *call, uint8_t *numbers,
                        uint64_t count, Error *err) {
  Comm *comm = r->comm;
  uint64_t each = (count + (uint64_t)comm->size - 1) / (uint64_t)comm->size;
  uint64_t size = count * r->number_bytes, total = each * (uint64_t)comm->size * r->number_bytes;
  uint8_t *parts = heap_alloc(comm->heap, 2 * total); /* zero-filled past the last number */
  if (!parts) comm_abort(comm, "the host has no memory left");
  Error why = {0};
  bool ok = comm_call(comm, call, NULL, err);
  if (ok) memcpy(parts, numbers, size);
  if (ok && !reduce_slices(r, parts, each, &why)) ok = comm_fail(comm, &why, err);
  if (ok) memcpy(numbers, parts, size);
  heap_free(comm->heap, parts);
  return ok;
}

static bool reduce_far(const Reduction *r, uint8_t *numbers, uint64_t count, Error *err) {
  CallOptions call = {
      .call = CALL_REDUCE, .size_bytes = count * r->number_bytes, .declared = r->about};
  bool is_large = call.size_bytes > TWO_SHOT_BYTES && r->comm->boot->table->all_to_all;
  return (is_large ? reduce_many : reduce_few)(r, &call, numbers, count, err);
}

/* How many numbers are combined at a time. */
static uint64_t part_of(const Reduction *r, uint64_t count) {
  bool is_divided = !comm_is_one_team(r->comm) && r->comm->boot->table->all_to_all;
  uint64_t max_count = is_divided ? FAR_PART : HEADER_BUFFER;
  return count < max_count / r->number_bytes ? count : max_count / r->number_bytes;
}

bool comm_reduce(Comm *comm, CommOp op, CommType type, void *numbers, uint64_t count, Error *err) {
  Reduction reduction = {.comm = comm,
                         .combine = table[op][type],
                         .number_bytes = comm_type_bytes(type),
                         .about = (count << 8) + (uint64_t)op * COMM_TYPE_COUNT + (uint64_t)type};
  uint64_t at = 0;
  bool is_done = false;
  bool may_be_done = comm->windows && comm->size > 1 && comm_is_one_team(comm) &&
                     count * reduction.number_bytes > TWO_SHOT_BYTES;
  if (may_be_done && !reduce_in_place(&reduction, numbers, count, &is_done, err)) return false;
  if (is_done) return true;
  do {
    uint64_t part = part_of(&reduction, count - at);
    if (!(comm_is_one_team(comm) ? reduce_near : reduce_far)(
            &reduction, (uint8_t *)numbers + at * reduction.number_bytes, part, err))
      return false;
    at += part;
  } while (at < count);
  return true;
}
