/* read.c - reads what snode_write_text writes:
 *
 *   tree:  root { item, .. }
 *   item:  TYPE [packed "TYPE" node component bit number by number [of part count bit]] [name]
 *          [grad component]
 *        | KIND [aos] "axes" size.. [chunk size] [name] { item, .. }
 *
 * A hash has no sizes. A node that is not dynamic may be called chunk.
 * The comma may be omitted after a closing brace. Any other text is refused with ir.invalid. */
#include "snode/snode.h"

typedef struct ReadPacked {
  SNode *node;
  int component;
  int64_t words; /* number of the node with its word */
  SNodePacked packed;
} ReadPacked;

enum { MAX_PACKED = 64 };
typedef struct Reading {
  const char *at;
  Error *err;
  ReadPacked packed[MAX_PACKED];
  int packed_count;
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

enum { NAME_BYTES = 128, MAX_COMPONENTS = 1 << 20 };
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

/* `word` is "grad" or "dual", `*component` as the member of SNodeComponent. */
static bool read_derivative(Reading *r, const char *word, int *component) {
  const char *before = r->at;
  int64_t number;
  bool is_word = str_is(read_word(r), word);
  skip_space(r);
  if (!is_word || !is_digit(*r->at)) {
    r->at = before;
    return true;
  }
  if (!read_size(r, &number)) return false;
  if (number >= MAX_COMPONENTS) return refuse(r, "the number of a component before this");
  *component = (int)number + 1;
  return true;
}

typedef struct Derivatives {
  int gradient, dual;
} Derivatives;

static bool read_derivatives(Reading *r, Derivatives *found) {
  return (found->gradient || read_derivative(r, "grad", &found->gradient)) &&
         (found->dual || read_derivative(r, "dual", &found->dual));
}

static bool read_numbers(Reading *r, int count, int64_t *numbers) {
  for (int k = 0; k < count; k++)
    if (!read_size(r, &numbers[k]) || numbers[k] > MAX_COMPONENTS) return refuse(r, "a number");
  return true;
}

/* The component's type and the word `packed` have been read. */
static bool read_packed(Reading *r, SNode *parent) {
  int64_t at[2], bit, by, of[3] = {0};
  char name[NAME_BYTES];
  Packed as;
  Type whole;
  if (r->packed_count == MAX_PACKED) return refuse(r, "fewer packed numbers before this");
  if (!accept(r, '"')) return refuse(r, "a packed type in quotes");
  Str type = {r->at, (int)strcspn(r->at, "\"")};
  r->at += type.length;
  if (!accept(r, '"') || !packed_read(type, &as, &whole, NULL))
    return refuse(r, "a packed type before this");
  if (!read_numbers(r, 2, at) || !str_is(read_word(r), "bit") || !read_numbers(r, 1, &bit) ||
      !str_is(read_word(r), "by") || !read_numbers(r, 1, &by))
    return refuse(r, "where it is packed");
  const char *before = r->at;
  if (!str_is(read_word(r), "of")) r->at = before;
  else if (!read_numbers(r, 3, of)) return false;
  int component = snode_place(parent, as.computed, copy_name(read_word(r), name), r->err);
  r->packed[r->packed_count++] = (ReadPacked){parent,
                                              component,
                                              at[0],
                                              {.as = as,
                                               .word = (int)at[1],
                                               .shift = (int)bit,
                                               .per_word = (int)by,
                                               .first = (int)of[0],
                                               .count = (int)of[1],
                                               .exponent_shift = (int)of[2]}};
  return component >= 0;
}

/* Words may follow their numbers, so they are found where the tree ends. */
static bool find_words(Reading *r, const SNodeTree *tree) {
  for (int k = 0; k < r->packed_count; k++) {
    SNodePacked *packed = &r->packed[k].packed;
    SNode *words = r->packed[k].words < tree->node_count ? tree->nodes[r->packed[k].words] : NULL;
    if (!words || packed->word >= words->component_count) return refuse(r, "words before this");
    const SNodeComponent *word = &words->components[packed->word];
    int bits = packed->shift + packed->per_word * packed->as.bits;
    if (word->child || word->packed || packed->per_word < 1 || bits > type_bits(word->type) ||
        packed->exponent_shift + packed->as.exponent > type_bits(word->type))
      return refuse(r, "words with room for packed numbers before this");
    packed->words = words;
    if (!snode_set_packed(r->packed[k].node, r->packed[k].component, packed, r->err)) return false;
  }
  return true;
}

static bool read_item(Reading *r, SNode *parent) {
  Str word = read_word(r);
  SNodeKind kind;
  Type type;
  char name[NAME_BYTES];
  if (snode_kind_parse(word, &kind)) return read_node(r, parent, kind);
  if (!type_parse(word, &type)) return refuse(r, "a type or a kind of node before this");
  Derivatives found = {0};
  const char *before = r->at;
  if (str_is(read_word(r), "packed")) {
    skip_space(r);
    if (*r->at == '"') return read_packed(r, parent);
  }
  r->at = before;
  if (!read_derivatives(r, &found)) return false;
  copy_name(found.gradient || found.dual ? (Str){0} : read_word(r), name);
  if (!read_derivatives(r, &found)) return false;
  int component = snode_place(parent, type, name, r->err);
  if (component < 0) return false;
  parent->components[component].gradient = found.gradient;
  parent->components[component].dual = found.dual;
  return true;
}

static bool is_derivative(const SNode *node, int of, int component) {
  return component < node->component_count && component != of &&
         type_equal(node->components[component].type, node->components[of].type);
}

/* Derivatives may be components that follow, so they are checked where the node ends. */
static bool check_derivatives(Reading *r, const SNode *node) {
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    if (component->gradient && !is_derivative(node, k, component->gradient - 1))
      return refuse(r, "a gradient that is another component of the same type, before this,");
    if (component->dual && !is_derivative(node, k, component->dual - 1))
      return refuse(r, "a dual that is another component of the same type, before this,");
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
  return check_derivatives(r, node);
}

SNodeTree *snode_read(Heap *heap, const char **text, Error *err) {
  Reading reading = {.at = *text, .err = err};
  SNodeTree *tree = snode_tree_create(heap, "", err);
  if (!tree) return NULL;
  bool ok = str_is(read_word(&reading), "root") ? read_below(&reading, snode_root(tree))
                                                : refuse(&reading, "'root'");
  ok = ok && find_words(&reading, tree);
  if (ok && snode_layout(tree, "text", err)) {
    *text = reading.at;
    return tree;
  }
  snode_tree_release(tree);
  return NULL;
}
