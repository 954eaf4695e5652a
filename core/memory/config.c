/* config.c - parses a strategy as users write it: "simple(period = 128, ratio = 0.8)". */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "memory/pool.h"

static const char *const strategy_words[MEMORY_STRATEGY_COUNT] = {
#define STRATEGY(NAME, WORD) [MEMORY_##NAME] = WORD,
#include "memory/strategy.def"
#undef STRATEGY
};

static const char *skip_spaces(const char *text) { return text + strspn(text, " \t"); }

/* If *text begins with the word, advances past it and following blanks. */
static bool take_word(const char **text, const char *word) {
  size_t length = strlen(word);
  if (strncmp(*text, word, length) != 0) return false;
  *text = skip_spaces(*text + length);
  return true;
}

static bool take_number(const char **text, double *number) {
  char *end;
  const char *at = *text;
  if (!take_word(&at, "=")) return false;
  *number = str_to_double(at, &end);
  if (end == at || !(*number >= 0) || *number > 1e15) return false;
  *text = skip_spaces(end);
  return true;
}

/* Parses one rule of `simple`, such as "period = 128". */
static bool take_rule(const char **text, MemoryConfig *config) {
  double number;
  if (take_word(text, "period")) {
    config->dealloc = DEALLOC_PERIOD;
    if (!take_number(text, &number) || number < 1) return false;
    config->dealloc_count = (int64_t)number;
  } else if (take_word(text, "time")) {
    config->dealloc = DEALLOC_TIME;
    if (!take_number(text, &number)) return false;
    config->dealloc_ns = (int64_t)(number * 1e9);
  } else if (take_word(text, "ratio")) {
    config->slice = SLICE_RATIO;
    if (!take_number(text, &config->slice_ratio)) return false;
  } else if (take_word(text, "min")) {
    config->slice = SLICE_MIN;
    if (!take_number(text, &number)) return false;
    config->slice_bytes = (uint64_t)number;
  } else if (take_word(text, "max")) {
    config->slice = SLICE_MAX;
    if (!take_number(text, &number)) return false;
    config->slice_bytes = (uint64_t)number;
  } else {
    return take_word(text, "never");
  }
  return true;
}

static bool take_rules(const char **text, MemoryConfig *config) {
  do
    if (!take_rule(text, config)) return false;
  while (take_word(text, ","));
  return take_word(text, ")");
}

bool memory_config_parse(const char *text, MemoryConfig *config, const char **wrong) {
  *config = (MemoryConfig){0};
  *wrong = text = skip_spaces(text);
  int k = 0;
  while (k < MEMORY_EXACT && !take_word(&text, strategy_words[k])) k++;
  if (k == MEMORY_EXACT) return false;
  config->strategy = (MemoryStrategy)k;
  *wrong = text;
  if (k == MEMORY_SIMPLE && take_word(&text, "(") && !take_rules(&text, config)) {
    *wrong = text;
    return false;
  }
  *wrong = text;
  return !*text;
}
