/* messages.c - see messages.h. Which worker ran an iteration, and when, does not show: records are
 * sorted by the indices that end them, unless they are in order already. Without memory to sort in
 * they stay as they are. */
#include "device/messages.h"

#include <string.h>

enum { KEPT_WORDS = 1 << 17, MOST_WORDS = 4 * RT_MESSAGE_WORDS };

static uint64_t length_of(const uint64_t *record) { return 1 + (record[0] >> 32); }

typedef struct Sorter {
  const int32_t *axes; /* by message */
  const uint64_t **records, **other;
} Sorter;

static int compare(const int32_t *all_axes, const uint64_t *a, const uint64_t *b) {
  int32_t axes = all_axes[(uint32_t)a[0]];
  if (all_axes[(uint32_t)b[0]] != axes) return 0;
  const uint64_t *a_indices = a + length_of(a) - axes, *b_indices = b + length_of(b) - axes;
  for (int32_t k = 0; k < axes; k++) {
    int64_t i = (int64_t)a_indices[k], j = (int64_t)b_indices[k];
    if (i != j) return i < j ? -1 : 1;
  }
  return 0;
}

/* Merges, so that equal ones keep their order. */
static void sort(Sorter *s, uint64_t begin, uint64_t end) {
  if (end - begin < 2) return;
  uint64_t middle = begin + (end - begin) / 2, a = begin, b = middle;
  sort(s, begin, middle);
  sort(s, middle, end);
  for (uint64_t at = begin; at < end; at++) {
    bool takes_second =
        a == middle || (b < end && compare(s->axes, s->records[b], s->records[a]) < 0);
    s->other[at] = takes_second ? s->records[b++] : s->records[a++];
  }
  memcpy(s->records + begin, s->other + begin, (end - begin) * sizeof *s->records);
}

static bool is_sorted(const int32_t *axes, const uint64_t *words, uint64_t count,
                      uint64_t *records) {
  const uint64_t *last = NULL;
  bool is = true;
  *records = 0;
  for (const uint64_t *at = words; at < words + count; at += length_of(at)) {
    is = is && (!last || compare(axes, last, at) <= 0);
    last = at;
    ++*records;
  }
  return is;
}

static void order(Heap *heap, const int32_t *axes, uint64_t *words, uint64_t count) {
  uint64_t records;
  if (is_sorted(axes, words, count, &records)) return;
  uint64_t *copy = heap_alloc(heap, count * sizeof *copy);
  const uint64_t **lists = heap_alloc(heap, 2 * records * sizeof *lists);
  if (copy && lists) {
    Sorter sorter = {axes, lists, lists + records};
    memcpy(copy, words, count * sizeof *copy);
    const uint64_t *at = copy;
    for (uint64_t k = 0; k < records; k++, at += length_of(at)) lists[k] = at;
    sort(&sorter, 0, records);
    for (uint64_t k = 0; k < records; k++) {
      memcpy(words, lists[k], length_of(lists[k]) * sizeof *words);
      words += length_of(lists[k]);
    }
  }
  heap_free(heap, copy);
  heap_free(heap, lists);
}

/* Those of one worker, whose buffer is empty then; small ones keep their memory. */
static void take(CpuDevice *cpu, RtMessages *from, DeviceLaunch *launch) {
  Heap *heap = cpu->device.heap;
  uint64_t needed = cpu->said_words + from->used;
  if (needed > cpu->said_capacity && needed <= MOST_WORDS) {
    uint64_t capacity = 2 * needed;
    uint64_t *grown = heap_resize(heap, cpu->said, capacity * sizeof *grown);
    if (grown) {
      cpu->said = grown;
      cpu->said_capacity = capacity;
    }
  }
  if (needed <= cpu->said_capacity) {
    memcpy(cpu->said + cpu->said_words, from->words, from->used * sizeof *from->words);
    cpu->said_words = needed;
  } else {
    for (uint64_t at = 0; at < from->used; at += length_of(from->words + at)) from->lost++;
  }
  launch->messages_lost += from->lost;
  from->used = from->lost = 0;
  if (from->capacity <= KEPT_WORDS) return;
  heap_free(heap, from->words);
  *from = (RtMessages){0};
}

void messages_begin(CpuDevice *cpu) {
  cpu->said_words = 0;
  if (cpu->said_capacity <= KEPT_WORDS) return;
  heap_free(cpu->device.heap, cpu->said);
  cpu->said = NULL;
  cpu->said_capacity = 0;
}

void messages_gather(CpuDevice *cpu, DeviceLaunch *launch) {
  uint64_t before = cpu->said_words;
  for (int32_t k = 0; k < cpu->device.worker_count; k++) {
    RtMessages *messages = &cpu->workers[k].messages;
    if (messages->used || messages->lost) take(cpu, messages, launch);
  }
  if (cpu->said_words > before)
    order(cpu->device.heap, launch->message_axes, cpu->said + before, cpu->said_words - before);
  launch->messages = cpu->said;
  launch->message_words = cpu->said_words;
}

void messages_free(CpuDevice *cpu) {
  for (int32_t k = 0; cpu->workers && k < cpu->device.worker_count; k++)
    heap_free(cpu->device.heap, cpu->workers[k].messages.words);
  heap_free(cpu->device.heap, cpu->said);
}
