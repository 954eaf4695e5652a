/* oracle.c - the plain model of a tree. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_below(const ForestTree *tree, int node, int above) {
  for (int n = node; n > 0; n = tree->nodes[n].row.parent)
    if (n == above) return true;
  return false;
}

/* Counting sort of `node`'s cells by the cell of `above` they lie in. */
static void make_below(const ForestTree *tree, int node, int above, OracleBelow *below) {
  int64_t groups = forest_cell_count(&tree->nodes[above]),
          count = forest_cell_count(&tree->nodes[node]);
  below->first = calloc((size_t)groups + 2, sizeof *below->first);
  below->cells = calloc((size_t)count, sizeof *below->cells);
  for (int64_t c = 0; c < count; c++) below->first[forest_above(tree, node, c, above) + 2]++;
  for (int64_t g = 0; g < groups; g++) below->first[g + 2] += below->first[g + 1];
  for (int64_t c = 0; c < count; c++)
    below->cells[below->first[forest_above(tree, node, c, above) + 1]++] = c;
}

void oracle_create(Oracle *oracle, const ForestTree *tree) {
  *oracle = (Oracle){.tree = tree};
  for (int n = 0; n < tree->node_count; n++) {
    const ForestNode *node = &tree->nodes[n];
    size_t count = (size_t)forest_cell_count(node);
    if (node->manager >= 0) oracle->active[n] = calloc(count, 1);
    if (node->row.payload) oracle->values[n] = calloc(count, sizeof(uint32_t));
    for (int above = 1; above <= n; above++)
      if (tree->nodes[above].manager >= 0 && is_below(tree, n, above))
        make_below(tree, n, above, &oracle->below[above][n]);
  }
}

void oracle_destroy(Oracle *oracle) {
  for (int n = 0; n < FOREST_MAX_NODES; n++) {
    free(oracle->active[n]);
    free(oracle->values[n]);
    for (int above = 0; above < FOREST_MAX_NODES; above++) {
      free(oracle->below[above][n].first);
      free(oracle->below[above][n].cells);
    }
  }
}

void oracle_activate(Oracle *oracle, int node, int64_t number) {
  for (int n = node; n > 0; n = oracle->tree->nodes[n].row.parent)
    if (oracle->active[n]) oracle->active[n][forest_above(oracle->tree, node, number, n)] = 1;
}

void oracle_deactivate(Oracle *oracle, int node, int64_t number) {
  for (int n = node; n < oracle->tree->node_count; n++) {
    const OracleBelow *below = &oracle->below[node][n];
    if (!below->first) continue;
    for (int64_t k = below->first[number]; k < below->first[number + 1]; k++) {
      if (oracle->active[n]) oracle->active[n][below->cells[k]] = 0;
      if (oracle->values[n]) oracle->values[n][below->cells[k]] = 0;
    }
  }
}

void oracle_clear(Oracle *oracle, int node) {
  for (int64_t c = forest_cell_count(&oracle->tree->nodes[node]); c-- > 0;)
    oracle_deactivate(oracle, node, c);
}

static uint32_t read_payload(RtContext *context, ForestTree *trees, int t, int node,
                             int64_t number) {
  uint32_t value;
  memcpy(&value, forest_payload(context, trees, t, 0, node, number, false), sizeof value);
  return value;
}

void oracle_adopt(Oracle *oracle, RtContext *context, ForestTree *trees, int t) {
  for (int n = 1; n < oracle->tree->node_count; n++)
    for (int64_t c = forest_cell_count(&oracle->tree->nodes[n]); c-- > 0;) {
      if (oracle->active[n]) oracle->active[n][c] = forest_is_active(context, trees, t, n, c);
      if (oracle->values[n]) oracle->values[n][c] = read_payload(context, trees, t, n, c);
    }
}

static const char *compare_node(const Oracle *oracle, RtContext *context, ForestTree *trees, int t,
                                int n) {
  static char wrong[200];
  for (int64_t c = forest_cell_count(&oracle->tree->nodes[n]); c-- > 0;) {
    if (oracle->active[n] && oracle->active[n][c] != forest_is_active(context, trees, t, n, c)) {
      snprintf(wrong, sizeof wrong, "tree %d node %d cell %lld should be %s", t, n, (long long)c,
               oracle->active[n][c] ? "active" : "inactive");
      return wrong;
    }
    if (oracle->values[n] && oracle->values[n][c] != read_payload(context, trees, t, n, c)) {
      snprintf(wrong, sizeof wrong, "tree %d node %d cell %lld holds %u, not %u", t, n,
               (long long)c, read_payload(context, trees, t, n, c), oracle->values[n][c]);
      return wrong;
    }
  }
  return "";
}

const char *oracle_compare(const Oracle *oracle, RtContext *context, ForestTree *trees, int t) {
  const char *wrong = forest_check(context, trees, t);
  for (int n = 1; n < oracle->tree->node_count && !*wrong; n++)
    wrong = compare_node(oracle, context, trees, t, n);
  return wrong;
}
