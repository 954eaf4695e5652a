/* runtime.h - the shortest way to a runtime with a tree and fields, by the public interface. */
#ifndef RG_TESTS_RUNTIME_H
#define RG_TESTS_RUNTIME_H

#include "check.h"
#include "regolith.h"

static RgRuntime *rg;
static RgTree *kept_trees[64]; /* released by stop */
static RgField *kept_fields[64];
static int kept_tree_count, kept_field_count;

static inline void start(uint64_t memory_bytes, int32_t threads) {
  RgOptions options = {.struct_size = sizeof options,
                       .threads = threads,
                       .memory_bytes = memory_bytes,
                       .seed = 1,
                       .no_cache = 1};
  RgError error;
  if (rg_runtime_create(&options, &rg, &error)) check_fail(__FILE__, __LINE__, error.message);
}
static inline void stop(void) {
  rg_runtime_destroy(rg);
  rg = NULL;
  while (kept_tree_count) rg_tree_release(kept_trees[--kept_tree_count]);
  while (kept_field_count) rg_field_release(kept_fields[--kept_field_count]);
}
static inline RgTree *new_tree(const char *name) {
  RgTree *tree = NULL;
  CHECK(rg_tree_create(rg, name, &tree) == 0);
  kept_trees[kept_tree_count++] = tree;
  return tree;
}
static inline RgSNode *add(RgSNode *parent, const char *kind, const char *axes, int64_t size,
                           const char *name) {
  RgSNode *node = NULL;
  if (rg_snode_add(parent, kind, axes, &size, 1, name, 0, 0, &node))
    check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  rg_snode_release(node); /* the tree's own handle holds it */
  return node;
}
static inline RgField *place(RgSNode *node, const char *type, const char *name) {
  RgField *field = NULL;
  if (rg_field_create(rg, type, name, &field) || rg_snode_place(node, field))
    check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  kept_fields[kept_field_count++] = field;
  return field;
}
static inline RgValue number(double value) {
  return (RgValue){.kind = RG_VALUE_NUMBER, .number = value};
}
static inline void set(RgField *field, int64_t i, int64_t j, int count, double value) {
  int64_t index[2] = {i, j};
  RgValue v = number(value);
  if (rg_field_set(field, index, count, &v)) check_fail(__FILE__, __LINE__, rg_error(rg)->message);
}
static inline double get(RgField *field, int64_t i, int64_t j, int count) {
  int64_t index[2] = {i, j};
  RgValue v = {0};
  if (rg_field_get(field, index, count, &v)) check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  return v.number;
}
static inline int64_t call(RgSNode *node, const char *action, int64_t i, int64_t j, int count) {
  int64_t index[2] = {i, j}, result = -1;
  if (rg_snode_call(node, action, index, count, &result))
    check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  return result;
}
#define CHECK_ERROR(status, code_text, sentence) \
  do { \
    CHECK((status) != 0); \
    CHECK_TEXT(rg_error(rg)->code, code_text); \
    CHECK_TEXT(rg_error(rg)->message, sentence); \
  } while (0)

#endif
