/* option.c - the environment's options; rows in option.def. */
#include "base/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const struct {
  const char *name, *default_text, *meaning;
} options[] = {
#define OPTION(NAME, DEFAULT, MEANING) {#NAME, DEFAULT, MEANING},
#include "base/option.def"
#undef OPTION
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

const char *option_text(const char *name) {
  const char *text = getenv(name);
  if (text && *text) return text;
  for (int i = 0; i < OPTION_COUNT; i++)
    if (!strcmp(options[i].name, name)) return options[i].default_text;
  return "";
}

/* Where `word` begins in a comma-separated list, in which ',', ':' or the end follows it; NULL if
 * the list does not contain it. */
static const char *find_word(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; at; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (!strncmp(at, word, length) && strchr(",:", at[length])) return at;
  }
  return NULL;
}

bool option_has_word(const char *name, const char *word) {
  return find_word(option_text(name), word) != NULL;
}

int64_t option_number(const char *name, const char *word, int64_t otherwise) {
  const char *at = find_word(option_text(name), word);
  if (!at || at[strlen(word)] != ':') return otherwise;
  return strtoll(at + strlen(word) + 1, NULL, 10);
}

bool option_parse_bytes(const char *text, uint64_t *size_bytes, Error *err) {
  static const struct {
    const char *unit;
    double bytes;
  } units[] = {{"", 1},
               {"B", 1},
               {"KiB", 1024.0},
               {"MiB", 1048576.0},
               {"GiB", 1073741824.0},
               {"TiB", 1099511627776.0},
               {"KB", 1e3},
               {"MB", 1e6},
               {"GB", 1e9},
               {"TB", 1e12}};
  char *end;
  double value = str_to_double(text, &end);
  while (*end == ' ') end++;
  for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(end, units[i].unit)) continue;
    double bytes = value * units[i].bytes;
    if (!(bytes >= 1 && bytes < 9e18)) break;
    *size_bytes = (uint64_t)bytes;
    return true;
  }
  error_set(err, RG_ERROR_OPTION, "'%.60s' is not an amount of memory", text);
  return error_hint(err, "write a number with a unit, such as \"512MiB\" or \"2GiB\"");
}

void option_print_help(void) {
  for (int i = 0; i < OPTION_COUNT; i++)
    printf("%-15s %-8s %s\n", options[i].name,
           options[i].default_text[0] ? options[i].default_text : "-", options[i].meaning);
}
