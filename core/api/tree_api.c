/* tree_api.c - trees and their nodes: regolith.h's calls, argument by argument. */
#include <string.h>

#include "api/api.h"
#include "api/word.h"

static bool create(Program *program, const char *name, RgTree **tree, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  *tree = (RgTree *)tree_create(&program->store, name, err);
  return *tree;
}

RgStatus rg_tree_create(RgRuntime *runtime, const char *name, RgTree **tree) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(tree);
  *tree = NULL;
  return API_CALL(program, create(program, name, tree, API_ERR(program)));
}

RgStatus rg_tree_destroy(RgTree *handle, const char *where) {
  Tree *tree = (Tree *)handle;
  API_NEEDS(tree);
  Program *program = API_PROGRAM(tree);
  return API_CALL(program, tree_destroy(tree, where, API_ERR(program)));
}

void rg_tree_release(RgTree *tree) { object_release((Object *)tree); }

RgSNode *rg_tree_root(RgTree *tree) { return tree ? (RgSNode *)((Tree *)tree)->nodes[0] : NULL; }

RgStatus rg_tree_text(RgTree *handle, const char **text) {
  Tree *tree = (Tree *)handle;
  API_NEEDS(tree);
  API_NEEDS(text);
  Program *program = API_PROGRAM(tree);
  return API_CALL(program, tree_text(tree, text, API_ERR(program)));
}

static bool add_node(Node *parent, const char *kind, const char *axes, const int64_t *sizes,
                     int32_t size_count, const SNodeOptions *options, RgSNode **node, Error *err) {
  int number;
  if (!tree_check(parent->tree, err) || !word_parse(WORD_NODE_KIND, kind, &number, err))
    return false;
  *node = (RgSNode *)node_add(parent, (SNodeKind)number, axes, sizes, size_count, options, err);
  return *node;
}

RgStatus rg_snode_add(RgSNode *handle, const char *kind, const char *axes, const int64_t *sizes,
                      int32_t size_count, const char *name, int32_t aos, int64_t chunk,
                      RgSNode **node) {
  Node *parent = (Node *)handle;
  API_NEEDS(parent);
  API_NEEDS(kind);
  API_NEEDS(axes);
  if (size_count < 0 || (size_count > 0 && !sizes))
    return api_refuse(__func__, "sizes and size_count do not agree");
  API_NEEDS(node);
  Program *program = API_PROGRAM(parent->tree);
  SNodeOptions options = {.name = name, .aos = aos != 0, .chunk = chunk};
  *node = NULL;
  return API_CALL(
      program, add_node(parent, kind, axes, sizes, size_count, &options, node, API_ERR(program)));
}

RgStatus rg_snode_rescale(RgSNode *from_handle, RgSNode *to_handle, const int64_t *index,
                          int32_t index_count, int64_t *out) {
  Node *from = (Node *)from_handle, *to = (Node *)to_handle;
  API_NEEDS(from);
  API_NEEDS(to);
  API_NEEDS(out);
  if (index_count < 0 || (index_count > 0 && !index))
    return api_refuse(__func__, "index and index_count do not agree");
  Program *program = API_PROGRAM(from->tree);
  return API_CALL(program, node_rescale(from, to, index, index_count, out, API_ERR(program)));
}

RgStatus rg_snode_place(RgSNode *handle, RgField *field) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  API_NEEDS(field);
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, field_place(node, (Field *)field, API_ERR(program)));
}

RgStatus rg_snode_place_packed(RgSNode *handle, RgField *const *fields, int32_t count,
                               int32_t word_bits) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  API_NEEDS(fields);
  for (int32_t k = 0; k < count; k++) API_NEEDS(fields[k]);
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, field_place_packed(node, (Field *const *)fields, count, word_bits, true,
                                              API_ERR(program)));
}

void rg_snode_retain(RgSNode *node) {
  if (node) object_retain(&((Node *)node)->tree->object);
}
void rg_snode_release(RgSNode *node) {
  if (node) object_release(&((Node *)node)->tree->object);
}

RgTree *rg_snode_tree(RgSNode *node) { return node ? (RgTree *)((Node *)node)->tree : NULL; }
int32_t rg_snode_rank(RgSNode *node) { return node ? ((Node *)node)->snode->rank : 0; }

static bool copy_shape(const Node *node, int64_t *shape, Error *err) {
  if (!tree_check(node->tree, err)) return false;
  memcpy(shape, node->snode->shape, sizeof *shape * (size_t)node->snode->rank);
  return true;
}

RgStatus rg_snode_shape(RgSNode *handle, int64_t *shape) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  API_NEEDS(shape);
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, copy_shape(node, shape, API_ERR(program)));
}

RgStatus rg_snode_settle(RgSNode *handle, const char *where) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, tree_lay_out(node->tree, where, API_ERR(program)));
}

RgStatus rg_snode_level(RgSNode *handle, RgLevel *level) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  API_NEEDS(level);
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, node_level(node, level, API_ERR(program)));
}

static bool call_node(Node *node, const char *action, const int64_t *index, int32_t index_count,
                      int64_t *result, Error *err) {
  int number;
  return tree_check(node->tree, err) && word_parse(WORD_NODE_ACTION, action, &number, err) &&
         node_call(node, (NodeAction)number, index, index_count, result, err);
}

RgStatus rg_snode_call(RgSNode *handle, const char *action, const int64_t *index,
                       int32_t index_count, int64_t *result) {
  Node *node = (Node *)handle;
  int64_t unused;
  API_NEEDS(node);
  API_NEEDS(action);
  if (index_count < 0 || (index_count > 0 && !index))
    return api_refuse(__func__, "index and index_count do not agree");
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, call_node(node, action, index, index_count, result ? result : &unused,
                                     API_ERR(program)));
}

RgStatus rg_snode_append(RgSNode *handle, const int64_t *index, int32_t index_count,
                         const RgValue *values, int32_t value_count, int64_t *slot) {
  Node *node = (Node *)handle;
  int64_t unused;
  API_NEEDS(node);
  if (index_count < 0 || (index_count > 0 && !index))
    return api_refuse(__func__, "index and index_count do not agree");
  if (value_count < 0 || (value_count > 0 && !values))
    return api_refuse(__func__, "values and value_count do not agree");
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, node_append(node, index, index_count, values, value_count,
                                       slot ? slot : &unused, API_ERR(program)));
}

RgStatus rg_snode_value(RgSNode *handle, int32_t number, const int64_t *index, int32_t index_count,
                        RgValue *value) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  API_NEEDS(value);
  if (index_count < 0 || (index_count > 0 && !index))
    return api_refuse(__func__, "index and index_count do not agree");
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, node_value(node, number, index, index_count, value, API_ERR(program)));
}

static bool field_type(Node *node, int32_t number, const char **type, Error *err) {
  *type = tree_check(node->tree, err) ? node_field_type(node, number) : NULL;
  return tree_check(node->tree, err);
}

RgStatus rg_snode_field_type(RgSNode *handle, int32_t number, const char **type) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  API_NEEDS(type);
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, field_type(node, number, type, API_ERR(program)));
}

RgStatus rg_snode_next(RgSNode *handle, int64_t *state, int64_t *index) {
  Node *node = (Node *)handle;
  API_NEEDS(node);
  API_NEEDS(state);
  API_NEEDS(index);
  Program *program = API_PROGRAM(node->tree);
  return API_CALL(program, node_next(node, state, index, API_ERR(program)));
}
