/* message.c - messages of kernels while they run. A record is a word `message | count << 32` and
 * then `count` words: values, then the indices of the iteration. Each worker appends to a growing
 * buffer of its own; the device takes the records between tasks, when no thread writes. Records
 * have the same format on every target; the kernel's message table defines their words.
 *
 * A fault is a record, too, and stops the launch: several workers may record one each before they
 * notice. Only a full buffer loses anything: the newest, which are counted. */
#include "atomic.h"
#include "rt.h"

enum { FIRST_WORDS = 512 };

#if RT_SHARED
/* On a GPU the buffer cannot grow. */
static uint64_t *room(RtContext *context, RtMessages *messages, uint64_t words) {
  uint64_t used;
  do {
    used = rt_load_long(&messages->used);
    if (used + words > messages->capacity) return 0;
  } while (!rt_swap_long(&messages->used, used, used + words));
  return messages->words + used;
}
#else
/* Makes room for `words` more; NULL if out of memory. */
static uint64_t *room(RtContext *context, RtMessages *messages, uint64_t words) {
  uint64_t needed = messages->used + words, capacity = messages->capacity;
  if (needed > capacity) {
    if (needed > RT_MESSAGE_WORDS) return 0;
    if (capacity < FIRST_WORDS) capacity = FIRST_WORDS;
    while (capacity < needed) capacity *= 2;
    uint64_t *grown = context->grow(context, messages->words, messages->capacity * 8, capacity * 8);
    if (!grown) return 0;
    messages->words = grown;
    messages->capacity = capacity;
  }
  messages->used = needed;
  return messages->words + needed - words;
}
#endif

static void record(RtContext *context, RtWorker *worker, int32_t message, int32_t count,
                   const uint64_t *values) {
  uint64_t *words = room(context, &worker->messages, 1 + (uint64_t)count);
  if (!words) {
    if (RT_SHARED) rt_add_long(&worker->messages.lost, 1);
    else worker->messages.lost++;
    return;
  }
  words[0] = (uint32_t)message | (uint64_t)(uint32_t)count << 32;
  for (int32_t k = 0; k < count; k++) words[1 + k] = values[k];
}

void rt_print(RtContext *context, RtWorker *worker, int32_t message, int32_t count,
              const uint64_t *values) {
  record(context, worker, message, count, values);
}

void rt_fault(RtContext *context, RtWorker *worker, int32_t message, int32_t count,
              const uint64_t *values) {
  record(context, worker, message, count, values);
  rt_error_set(context, RT_ERROR_FAULT, -1, message);
  rt_store(&context->stop, 1);
}
