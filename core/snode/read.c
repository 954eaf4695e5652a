/* read.c - reads what snode_write_text writes:
 *
 *   tree:  root { item, .. }
 *   item:  TYPE [name] [grad component]
 *        | KIND [aos] "axes" size.. [chunk size] [name] { item, .. }
 *
 * A hash has no sizes. A node that is not dynamic may be called chunk.
 * The comma may be omitted after a closing brace. Any other text is refused with ir.invalid. */
#include "snode/snode.h"

typedef struct Reading {
  const char *at;
  Error *err;
} Reading;

static void skip_space(Reading *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static bool refuse(Reading *r, const char *wanted) {
  return error_set(r->err, RG_ERROR_IR, "a tree's text needs %s at '%.20s'", wanted, r->at);
}

static bool accept(Reading *r, char c) {
  skip_space(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

/* A word, or an empty Str if there is none. */
static Str read_word(Reading *r) {
  skip_space(r);
  const char *begin = r->at;
  if (is_letter(*r->at))
    while (is_letter(*r->at) || is_digit(*r->at)) r->at++;
  return (Str){begin, (int)(r->at - begin)};
}

enum { NAME_BYTES = 128, MOST_COMPONENTS = 1 << 20 };
static const char *copy_name(Str word, char buffer[NAME_BYTES]) {
  int length = word.length < NAME_BYTES ? word.length : NAME_BYTES - 1;
  memcpy(buffer, word.data, (size_t)length);
  buffer[length] = 0;
  return buffer;
}

static bool read_axes(Reading *r, char axes[SNODE_MAX_AXES + 1]) {
  if (!accept(r, '"')) return refuse(r, "axes in quotes");
  int count = 0;
  while (is_letter(*r->at) && count < SNODE_MAX_AXES) axes[count++] = *r->at++;
  axes[count] = 0;
  return accept(r, '"') || refuse(r, "at most eight axes and a closing quote");
}

static bool read_size(Reading *r, int64_t *size) {
  skip_space(r);
  *size = 0;
  if (!is_digit(*r->at)) return refuse(r, "a size");
  for (; is_digit(*r->at); r->at++)
    if (__builtin_mul_overflow(*size, 10, size) ||
        __builtin_add_overflow(*size, *r->at - '0', size))
      return refuse(r, "a smaller size");
  return true;
}

static bool read_below(Reading *r, SNode *node);

static bool read_node(Reading *r, SNode *parent, SNodeKind kind) {
  char axes[SNODE_MAX_AXES + 1], name[NAME_BYTES];
  int64_t sizes[SNODE_MAX_AXES];
  skip_space(r);
  bool aos = *r->at != '"';
  if (aos && !str_is(read_word(r), "aos")) return refuse(r, "axes in quotes");
  if (!read_axes(r, axes)) return false;
  int count = snode_kind_has(kind, SNODE_UNBOUNDED) ? 0 : (int)strlen(axes);
  for (int k = 0; k < count; k++)
    if (!read_size(r, &sizes[k])) return false;
  SNodeOptions options = {.aos = aos};
  Str word = read_word(r);
  if (snode_kind_has(kind, SNODE_LISTS) && str_is(word, "chunk")) {
    if (!read_size(r, &options.chunk)) return false;
    word = read_word(r);
  }
  options.name = copy_name(word, name);
  SNode *node = snode_add(parent, kind, axes, sizes, count, &options, r->err);
  return node && read_below(r, node);
}

/* `*gradient` is as SNodeComponent.gradient. */
static bool read_gradient(Reading *r, int *gradient) {
  const char *before = r->at;
  int64_t number;
  bool is_there = str_is(read_word(r), "grad");
  skip_space(r);
  if (!is_there || !is_digit(*r->at)) {
    r->at = before;
    return true;
  }
  if (!read_size(r, &number)) return false;
  if (number >= MOST_COMPONENTS) return refuse(r, "the number of a component before this");
  *gradient = (int)number + 1;
  return true;
}

static bool read_item(Reading *r, SNode *parent) {
  Str word = read_word(r);
  SNodeKind kind;
  Type type;
  char name[NAME_BYTES];
  if (snode_kind_parse(word, &kind)) return read_node(r, parent, kind);
  if (!type_parse(word, &type)) return refuse(r, "a type or a kind of node before this");
  int gradient = 0;
  if (!read_gradient(r, &gradient)) return false;
  copy_name(gradient ? (Str){0} : read_word(r), name);
  if (!gradient && !read_gradient(r, &gradient)) return false;
  int component = snode_place(parent, type, name, r->err);
  if (component >= 0) parent->components[component].gradient = gradient;
  return component >= 0;
}

/* Gradients may be components that follow, so they are checked where the node ends. */
static bool check_gradients(Reading *r, const SNode *node) {
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    int gradient = component->gradient - 1;
    if (gradient < 0) continue;
    if (gradient >= node->component_count || gradient == k ||
        !type_equal(node->components[gradient].type, component->type))
      return refuse(r, "a gradient that is another component of the same type, before this,");
  }
  return true;
}

static bool read_below(Reading *r, SNode *node) {
  if (!accept(r, '{')) return refuse(r, "'{'");
  while (!accept(r, '}')) {
    if (!read_item(r, node)) return false;
    if (accept(r, ',')) continue;
    bool is_closed = r->at[-1] == '}';
    skip_space(r);
    if (*r->at != '}' && !is_closed) return refuse(r, "',' or '}'");
  }
  return check_gradients(r, node);
}

SNodeTree *snode_read(Heap *heap, const char **text, Error *err) {
  Reading reading = {.at = *text, .err = err};
  SNodeTree *tree = snode_tree_create(heap, "", err);
  if (!tree) return NULL;
  bool ok = str_is(read_word(&reading), "root") ? read_below(&reading, snode_root(tree))
                                                : refuse(&reading, "'root'");
  if (ok && snode_layout(tree, "text", err)) {
    *text = reading.at;
    return tree;
  }
  snode_tree_release(tree);
  return NULL;
}
