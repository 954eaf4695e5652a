/* widen.c - adds a capture to a kernel, after it met a new function or a new item of a table. The
 * new value goes between the earlier captures and the parameters. Existing variants ignore it: all
 * that they read was known when they were compiled, and any value that would change their code is
 * another word of their pattern. So only the numbers of parameters change. */
#include <string.h>

#include "kernel/queue.h"
#include "kernel/specialise.h"
#include "kernel/tuning.h"
#include "kernel/values.h"
#include "kernel/variant.h"

static int32_t moved(int32_t at, int32_t value) { return value < at ? value : value + 1; }

/* Renumbers words 1 and 4 of a field, node or array, which are 1 + the number of a value. */
static void move_classes(int32_t at, uint64_t *words) {
  int32_t kind = (int32_t)(uint32_t)words[0];
  if (kind != RG_VALUE_FIELD && kind != RG_VALUE_NODE && kind != RG_VALUE_ARRAY) return;
  if ((uint32_t)words[1] > (uint32_t)at) words[1]++;
  if (words[4] > (uint64_t)at) words[4]++;
}

static bool widen_words(Heap *heap, int32_t at, Variant *variant) {
  int before = at * PATTERN_WORDS, count = variant->word_count + PATTERN_WORDS;
  uint64_t *words = heap_resize(heap, variant->words, sizeof *words * (size_t)count);
  if (!words) return false;
  uint64_t *rest = words + before + PATTERN_WORDS;
  memmove(rest, words + before, sizeof *words * (size_t)(variant->word_count - before));
  memset(words + before, 0, sizeof *words * PATTERN_WORDS);
  for (; rest < words + count; rest += PATTERN_WORDS) move_classes(at, rest);
  variant->words = words;
  variant->word_count = count;
  return true;
}

static bool widen_given(Heap *heap, int32_t at, Variant *variant) {
  int32_t count = variant->given_count + 1;
  SemaValue *wide = heap_alloc(heap, sizeof *wide * (size_t)count);
  if (!wide) return false;
  wide[at] = (SemaValue){.kind = VALUE_NIL, .name = ""};
  for (int32_t k = 0; k < variant->given_count; k++) {
    SemaValue *value = &wide[moved(at, k)];
    *value = variant->given[k];
    if (value->kind == VALUE_ARRAY) value->array.number = moved(at, value->array.number);
  }
  SemaValue *kept = values_keep(heap, wide, count);
  heap_free(heap, wide);
  if (!kept) return false;
  values_free(heap, variant->given, variant->given_count);
  variant->given = kept;
  variant->given_count = count;
  return true;
}

static bool widen(Heap *heap, int32_t at, Variant *variant) {
  if (!widen_words(heap, at, variant) || !widen_given(heap, at, variant)) return false;
  for (int32_t k = 0; k < variant->arg_count; k++)
    variant->args[k].value = moved(at, variant->args[k].value);
  for (int32_t k = 0; k < variant->tree_count; k++)
    variant->tree_values[k] = moved(at, variant->tree_values[k]);
  return true;
}

void variants_widen(Kernel *kernel) {
  Heap *heap = kernel->engine->store->heap;
  if (kernel->engine->queued) queue_settle(kernel->engine, NULL);
  for (Variant *variant = kernel->variants; variant; variant = variant->next) {
    special_drop(kernel->engine, variant);
    tuning_drop(kernel->engine, variant);
    if (kernel->ran && kernel->ran != variant) kernel->ran = NULL;
    if (widen(heap, kernel->paths.count - 1, variant)) continue;
    kernel_drop_code(kernel);
    return;
  }
}
