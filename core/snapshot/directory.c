/* directory.c - see directory.h, and snapshot.h for the format of the lines. */
#include "snapshot/directory.h"

#include <stdio.h>

const PackFormat snapshot_format = {
    .magic = {'\x89', 'R', 'G', 'S', 'N', 'A', 'P', '\n'}, .version = 1, .what = "snapshot"};

/* -- making ------------------------------------------------------------------------------------ */

void directory_name(StrBuf *out, const char *name) {
  bool is_dash = !strcmp(name, "-");
  strbuf_char(out, ' ');
  if (!name[0]) strbuf_char(out, '-');
  for (; *name; name++) {
    uint8_t byte = (uint8_t)*name;
    bool is_plain = byte > ' ' && byte <= '~' && byte != '%' && !is_dash;
    if (is_plain) strbuf_char(out, *name);
    else strbuf_format(out, "%%%02X", byte);
  }
  strbuf_char(out, '\n');
}

void directory_numbers(StrBuf *out, const int64_t *numbers, int count) {
  for (int k = 0; k < count; k++)
    strbuf_format(out, "%c%lld", k ? ',' : ' ', (long long)numbers[k]);
  if (!count) strbuf_text(out, " -");
}

static void add_level(StrBuf *out, const SNode *node) {
  bool is_root = !node->parent, is_unbounded = snode_has(node, SNODE_UNBOUNDED);
  strbuf_format(out, "level %s %d ", snode_kind_text(node->kind), is_root ? 0 : node->parent->id);
  for (int k = 0; k < node->axis_count; k++) strbuf_char(out, (char)('i' + node->axes[k]));
  if (!node->axis_count) strbuf_char(out, '-');
  directory_numbers(out, node->sizes, is_unbounded ? 0 : node->axis_count);
  strbuf_format(out, " %d %lld", node->aos, (long long)node->chunk);
  directory_name(out, node->name);
}

static bool begins_field(const SNodeComponent *component) {
  return !component->child && component->part == 0;
}

/* A component bears the name of its number: "v.x". */
static void add_field(StrBuf *out, const Tree *tree, const SNode *node,
                      const SNodeComponent *component) {
  char type[TYPE_NAME_SIZE], last[200], name[200];
  int parts = type_parts(component->whole);
  strbuf_format(out, "field %d %s", node->id,
                type_name_in(&tree->store->types, component->whole, type));
  snprintf(name, sizeof name, "%.150s", component->name);
  if (parts > 1 && name[0]) {
    type_number_name(&tree->store->types, component->whole, 0, last, sizeof last);
    size_t length = strlen(name), tail = strlen(last);
    if (length >= tail && !strcmp(name + length - tail, last)) name[length - tail] = 0;
  }
  directory_name(out, name);
}

void directory_tree(StrBuf *out, const Tree *tree) {
  const SNodeTree *layout = tree->layout;
  for (int id = 0; id < layout->node_count; id++) add_level(out, layout->nodes[id]);
  for (int id = 0; id < layout->node_count; id++)
    for (int k = 0; k < layout->nodes[id]->component_count; k++)
      if (begins_field(&layout->nodes[id]->components[k]))
        add_field(out, tree, layout->nodes[id], &layout->nodes[id]->components[k]);
}

int directory_field_count(const SNodeTree *layout) {
  int count = 0;
  for (int id = 0; id < layout->node_count; id++)
    for (int k = 0; k < layout->nodes[id]->component_count; k++)
      count += begins_field(&layout->nodes[id]->components[k]);
  return count;
}

int directory_field_number(const Field *field) {
  const SNode *own = field->node->snode;
  int number = 0;
  for (int id = 0; id < own->id; id++)
    for (int k = 0; k < own->tree->nodes[id]->component_count; k++)
      number += begins_field(&own->tree->nodes[id]->components[k]);
  for (int k = 0; k < field->component; k++) number += begins_field(&own->components[k]);
  return number;
}

/* -- for messages ------------------------------------------------------------------------------ */

/* dense("ij", 16, 16, {layout = "aos"}) */
static void describe_level(StrBuf *out, const DirectoryLine *line) {
  const Str *words = line->words;
  strbuf_format(out, "%.*s(", words[1].length, words[1].data);
  if (!str_is(words[3], "-")) strbuf_format(out, "\"%.*s\"", words[3].length, words[3].data);
  for (int k = 0; k < words[4].length && !str_is(words[4], "-"); k++) {
    char c = words[4].data[k];
    if (!k || c == ',') strbuf_text(out, ", ");
    if (c != ',') strbuf_char(out, c);
  }
  if (!str_is(words[5], "0")) strbuf_text(out, ", {layout = \"aos\"}");
  if (!str_is(words[6], "0"))
    strbuf_format(out, ", {chunk = %.*s}", words[6].length, words[6].data);
  strbuf_char(out, ')');
}

void directory_describe(StrBuf *out, const char *text, const char *other) {
  DirectoryLine line = {0}, other_line;
  bool is_line = directory_next(&text, &line), has_other = directory_next(&other, &other_line);
  bool is_level = is_line && line.count == 8, is_field = is_line && line.count == 4;
  Str type = line.words[2];
  if (is_level) describe_level(out, &line);
  else if (is_field) strbuf_format(out, "a field of %.*s", type.length, type.data);
  else strbuf_text(out, "nothing more");
  int word = is_level ? 2 : 1; /* of the number of the level above it */
  if ((is_level || is_field) && has_other && line.count == other_line.count &&
      !str_equal(line.words[word], other_line.words[word]))
    strbuf_format(out, " below level %.*s", line.words[word].length, line.words[word].data);
}

/* -- reading ----------------------------------------------------------------------------------- */

char *directory_read(Scratch *scratch, Unpacker *unpacker, Error *err) {
  uint32_t length;
  enum { MAX_BYTES = 64 << 20 };
  if (!unpack_read(unpacker, &length, sizeof length, err)) return NULL;
  if (length > MAX_BYTES) return unpack_refuse(unpacker, "has an invalid directory", err), NULL;
  char *text = scratch_alloc(scratch, (size_t)length + 1);
  if (!unpack_read(unpacker, text, length, err)) return NULL;
  if (length && text[length - 1] == '\n' && strlen(text) == length) return text;
  return unpack_refuse(unpacker, "has an invalid directory", err), NULL;
}

bool directory_next(const char **text, DirectoryLine *line) {
  const char *at = *text;
  line->count = 0;
  if (!*at) return false;
  while (*at && *at != '\n') {
    const char *word = at;
    while (*at && *at != '\n' && *at != ' ') at++;
    if (line->count < DIRECTORY_WORDS) line->words[line->count++] = (Str){word, (int)(at - word)};
    if (*at == ' ') at++;
  }
  *text = *at ? at + 1 : at;
  return true;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool directory_number(Str word, int base, uint64_t *number) {
  *number = 0;
  for (int k = 0; k < word.length; k++) {
    int digit = digit_of(word.data[k]);
    if (digit >= base || __builtin_mul_overflow(*number, (uint64_t)base, number) ||
        __builtin_add_overflow(*number, (uint64_t)digit, number))
      return false;
  }
  return word.length > 0;
}

char *directory_unescape(Scratch *scratch, Str word) {
  char *text = scratch_alloc(scratch, (size_t)word.length + 1), *to = text;
  if (str_is(word, "-")) return text;
  for (int k = 0; k < word.length; k++) {
    bool is_code = word.data[k] == '%' && k + 2 < word.length;
    uint64_t byte = (uint8_t)word.data[k];
    if (is_code && directory_number((Str){word.data + k + 1, 2}, 16, &byte)) k += 2;
    *to++ = (char)byte;
  }
  return text;
}
