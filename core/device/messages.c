/* messages.c - see messages.h. The order of messages does not depend on which worker ran an
 * iteration, or when: records are sorted by the indices at their end. If there is no memory to sort
 * them, they keep the order in which they were collected. */
#include "device/messages.h"

#include <string.h>

enum { KEPT_WORDS = 1 << 17, MAX_WORDS = 4 * RT_MESSAGE_WORDS };
/* a flag in the first record of each worker, until sorted */
static const uint64_t first_of_worker = 1u << 31;

static uint64_t length_of(const uint64_t *record) { return 1 + (record[0] >> 32); }

/* Records that stay together: one with indices, and the following records without, which are those
 * of recursive functions, as these do not have the indices. At the beginning of a worker's records,
 * those before the first one with indices belong to it, too. */
typedef struct Group {
  const uint64_t *begin, *end, *key; /* key: array of `axes` indices */
  int32_t axes;
} Group;

/* The group that begins at `at`. */
static Group next_group(const int32_t *all_axes, const uint64_t *at, const uint64_t *end) {
  Group group = {.begin = at};
  while (at < end) {
    int32_t axes = all_axes[(uint32_t)(at[0] & ~first_of_worker)];
    bool begins = (at[0] & first_of_worker) || (axes && group.axes);
    if (begins && at > group.begin) break;
    at += length_of(at);
    if (axes) group.key = at - axes;
    if (axes) group.axes = axes;
  }
  ASSERT(at <= end, "records end with the buffer");
  group.end = at;
  return group;
}

/* Orders groups by key; groups without a key come first. */
static int compare_groups(const Group *a, const Group *b) {
  if (a->axes != b->axes) return a->axes < b->axes ? -1 : 1;
  for (int32_t k = 0; k < a->axes; k++) {
    int64_t i = (int64_t)a->key[k], j = (int64_t)b->key[k];
    if (i != j) return i < j ? -1 : 1;
  }
  return 0;
}

/* A merge sort, which is stable: equal groups keep their order. */
static void merge_sort(Group *groups, Group *buffer_groups, uint64_t begin, uint64_t end) {
  if (end - begin < 2) return;
  uint64_t middle = begin + (end - begin) / 2, a = begin, b = middle;
  DEBUG_ASSERT(buffer_groups != groups, "a merge needs a second buffer");
  merge_sort(groups, buffer_groups, begin, middle);
  merge_sort(groups, buffer_groups, middle, end);
  for (uint64_t at = begin; at < end; at++) {
    bool is_second = a == middle || (b < end && compare_groups(&groups[b], &groups[a]) < 0);
    buffer_groups[at] = is_second ? groups[b++] : groups[a++];
  }
  memcpy(groups + begin, buffer_groups + begin, (end - begin) * sizeof *groups);
}

static bool is_sorted(const int32_t *axes, const uint64_t *words, uint64_t count,
                      uint64_t *groups) {
  Group last = {0};
  bool sorted = true;
  *groups = 0;
  for (const uint64_t *at = words, *end = words + count; at < end; at = last.end) {
    Group group = next_group(axes, at, end);
    sorted = sorted && (!*groups || compare_groups(&last, &group) <= 0);
    last = group;
    ++*groups;
  }
  return sorted;
}

static void rearrange(Heap *heap, const int32_t *axes, uint64_t *words, uint64_t count,
                      uint64_t group_count) {
  uint64_t *copy = heap_alloc(heap, count * sizeof *copy);
  Group *groups = heap_alloc(heap, 2 * group_count * sizeof *groups);
  if (copy && groups) {
    memcpy(copy, words, count * sizeof *copy);
    const uint64_t *at = copy;
    for (uint64_t k = 0; k < group_count; k++, at = groups[k - 1].end)
      groups[k] = next_group(axes, at, copy + count);
    merge_sort(groups, groups + group_count, 0, group_count);
    for (uint64_t k = 0; k < group_count; k++) {
      size_t length = (size_t)(groups[k].end - groups[k].begin);
      memcpy(words, groups[k].begin, length * sizeof *words);
      words += length;
    }
  }
  heap_free(heap, copy);
  heap_free(heap, groups);
}

static void sort_records(Heap *heap, const int32_t *axes, uint64_t *words, uint64_t count) {
  uint64_t groups;
  if (!is_sorted(axes, words, count, &groups)) rearrange(heap, axes, words, count, groups);
  for (uint64_t *at = words; at < words + count; at += length_of(at)) at[0] &= ~first_of_worker;
}

/* Takes the records of one worker and empties its buffer; a large buffer is freed. */
static void append_worker_records(MessageBuffer *buffer, RtMessages *from, DeviceLaunch *launch) {
  uint64_t needed = buffer->used + from->used;
  ASSERT(buffer->used <= buffer->capacity && from->used <= from->capacity,
         "buffers hold their records");
  if (needed > buffer->capacity && needed <= MAX_WORDS) {
    uint64_t capacity = 2 * needed;
    uint64_t *grown = heap_resize(buffer->heap, buffer->words, capacity * sizeof *grown);
    if (grown) {
      buffer->words = grown;
      buffer->capacity = capacity;
    }
  }
  if (needed <= buffer->capacity) {
    uint64_t *to = buffer->words + buffer->used;
    memcpy(to, from->words, from->used * sizeof *from->words);
    if (from->used) to[0] |= first_of_worker;
    buffer->used = needed;
  } else {
    for (uint64_t at = 0; at < from->used; at += length_of(from->words + at)) from->lost++;
  }
  launch->messages_lost += from->lost;
  from->used = from->lost = 0;
  if (from->capacity <= KEPT_WORDS) return;
  heap_free(buffer->heap, from->words);
  *from = (RtMessages){0};
}

void messages_begin(MessageBuffer *buffer) {
  buffer->used = 0;
  if (buffer->capacity <= KEPT_WORDS) return;
  heap_free(buffer->heap, buffer->words);
  buffer->words = NULL;
  buffer->capacity = 0;
}

void messages_gather(MessageBuffer *buffer, RtWorker *workers, int32_t worker_count,
                     DeviceLaunch *launch) {
  uint64_t before = buffer->used;
  for (int32_t k = 0; k < worker_count; k++) {
    RtMessages *messages = &workers[k].messages;
    if (messages->used || messages->lost) append_worker_records(buffer, messages, launch);
  }
  if (buffer->used > before)
    sort_records(buffer->heap, launch->message_axes, buffer->words + before, buffer->used - before);
  launch->messages = buffer->words;
  launch->message_words = buffer->used;
}

void messages_free(MessageBuffer *buffer, RtWorker *workers, int32_t worker_count) {
  for (int32_t k = 0; workers && k < worker_count; k++)
    heap_free(buffer->heap, workers[k].messages.words);
  if (buffer->heap) heap_free(buffer->heap, buffer->words);
}
