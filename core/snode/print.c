/* print.c - prints a tree as a drawing, for users, and as one line of text, for the IR. */
#include "snode/snode.h"

static void draw_sizes(StrBuf *out, const SNode *node) {
  strbuf_char(out, ' ');
  for (int k = 0; k < node->axis_count; k++) strbuf_char(out, (char)('i' + node->axes[k]));
  for (int k = 0; k < node->axis_count && node->sizes[k]; k++)
    strbuf_format(out, k ? " x %lld" : " %lld", (long long)node->sizes[k]);
  if (node->chunk) strbuf_format(out, ", chunks of %lld", (long long)node->chunk);
}

static void draw_bytes(StrBuf *out, uint64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) bytes /= 1024, unit++;
  strbuf_format(out, "%llu %s", (unsigned long long)bytes, units[unit]);
}

static void draw_node(StrBuf *out, const SNode *node) {
  strbuf_text(out, snode_kind_text(node->kind));
  if (node->name[0]) strbuf_format(out, " %s", node->name);
  draw_sizes(out, node);
  if (node->aos) strbuf_text(out, ", aos");
  if (!node->tree->laid_out) return;
  strbuf_text(out, ": ");
  if (snode_is_managed(node)) {
    strbuf_text(out, "nodes of ");
    draw_bytes(out, node->node_size);
  }
  if (snode_has(node, SNODE_KEYED)) return; /* it has no container */
  if (snode_has_slots(node)) strbuf_text(out, ", slots ");
  draw_bytes(out, node->container_size);
}

static void draw_field(StrBuf *out, const SNodeComponent *component) {
  char text[PACKED_TEXT];
  const SNodePacked *packed = component->packed;
  strbuf_text(out, packed ? packed_text(&packed->as, text) : type_text(component->type));
  if (component->name[0]) strbuf_format(out, " %s", component->name);
  if (component->packed_bits) strbuf_text(out, " (a word of packed numbers)");
  if (packed && packed->per_word > 1) strbuf_format(out, ", %d in a word", packed->per_word);
  else if (packed) strbuf_format(out, ", bit %d", packed->shift);
}

/* `bars` has a bit per depth, set if a vertical line continues there. */
static void draw_below(StrBuf *out, const SNode *node, int depth, unsigned bars) {
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    bool is_last = k == node->component_count - 1;
    strbuf_char(out, '\n');
    for (int d = 0; d < depth; d++) strbuf_text(out, bars >> d & 1 ? "│  " : "   ");
    strbuf_text(out, is_last ? "└─ " : "├─ ");
    if (!component->child) {
      draw_field(out, component);
      continue;
    }
    draw_node(out, component->child);
    draw_below(out, component->child, depth + 1, is_last ? bars : bars | 1u << depth);
  }
}

void snode_print(StrBuf *out, const SNodeTree *tree) {
  strbuf_text(out, "tree");
  if (tree->name[0]) strbuf_format(out, " %s", tree->name);
  if (tree->laid_out) {
    strbuf_text(out, ": ");
    draw_bytes(out, tree->root_size);
  }
  draw_below(out, snode_root(tree), 0, 0);
}

/* Only names that snode_read can read; others are omitted, since names mean nothing to the IR. */
static bool is_word(const char *name) {
  if (!name[0] || (name[0] >= '0' && name[0] <= '9')) return false;
  for (; *name; name++)
    if (!(*name == '_' || (*name >= '0' && *name <= '9') ||
          ((*name | 32) >= 'a' && (*name | 32) <= 'z')))
      return false;
  return true;
}

static void write_below(StrBuf *out, const SNode *node);

static void write_node(StrBuf *out, const SNode *node) {
  strbuf_format(out, "%s %s\"", snode_kind_text(node->kind), node->aos ? "aos " : "");
  for (int k = 0; k < node->axis_count; k++) strbuf_char(out, (char)('i' + node->axes[k]));
  strbuf_char(out, '"');
  for (int k = 0; k < node->axis_count && node->sizes[k]; k++)
    strbuf_format(out, " %lld", (long long)node->sizes[k]);
  if (node->chunk) strbuf_format(out, " chunk %lld", (long long)node->chunk);
  if (is_word(node->name)) strbuf_format(out, " %s", node->name);
  strbuf_char(out, ' ');
  write_below(out, node);
}

/* in WORDS COMPONENT bit SHIFT by PER_WORD [of FIRST COUNT EXPONENT_SHIFT] */
static void write_packed(StrBuf *out, const SNodePacked *packed) {
  char text[PACKED_TEXT];
  strbuf_format(out, " packed \"%s\" %d %d bit %d by %d", packed_text(&packed->as, text),
                packed->words->id, packed->word, packed->shift, packed->per_word);
  if (packed->count)
    strbuf_format(out, " of %d %d %d", packed->first, packed->count, packed->exponent_shift);
}

static void write_below(StrBuf *out, const SNode *node) {
  strbuf_char(out, '{');
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    strbuf_text(out, k ? ", " : " ");
    if (component->child) {
      write_node(out, component->child);
    } else {
      strbuf_text(out, type_text(component->type));
      if (component->packed) write_packed(out, component->packed);
      if (is_word(component->name)) strbuf_format(out, " %s", component->name);
      if (component->gradient) strbuf_format(out, " grad %d", component->gradient - 1);
      if (component->dual) strbuf_format(out, " dual %d", component->dual - 1);
    }
  }
  strbuf_text(out, " }");
}

void snode_write_text(StrBuf *out, const SNodeTree *tree) {
  strbuf_text(out, "root");
  write_below(out, snode_root(tree));
}
