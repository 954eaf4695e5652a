/* pattern.c - encodes the kinds, layouts and identities of launch arguments as words to compare;
 * see versions.h. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "kernel/versions/versions.h"

typedef struct Encoding {
  Kernel *kernel;
  const RgValue *values;
  int32_t value_count;
  Error *err;
  bool moves; /* are_movable */
} Encoding;

Tree *pattern_owner(const RgValue *value) {
  if (value->kind == RG_VALUE_NODE) return ((Node *)value->node)->tree;
  if (value->kind != RG_VALUE_FIELD) return NULL;
  Field *field = (Field *)value->field;
  return field->node ? field->node->tree : NULL;
}

RtTree *pattern_memory(const RgValue *value) {
  return value->kind == RG_VALUE_ARRAY ? &((Array *)value->array)->block->rt
                                       : &pattern_owner(value)->rt;
}

SNodeTree *pattern_tree(const RgValue *value) {
  Tree *tree = pattern_owner(value);
  return tree ? tree->layout : NULL;
}

/* Identifies a tree of the launch by the position of the first value that belongs to it. */
static uint64_t tree_class(const Encoding *encoding, int32_t k, const Tree *tree) {
  for (int32_t first = 0; first < k; first++)
    if (pattern_owner(&encoding->values[first]) == tree) return (uint64_t)first;
  return (uint64_t)k;
}

/* -- interchangeable fields -------------------------------------------------------------------- */

/* There is a limit, as loops keep each address argument in a register. */
enum { MOST_MOVABLE = 8 };

static const SNodeComponent *component_of(const RgValue *value) {
  const Field *field = (const Field *)value->field;
  return value->kind == RG_VALUE_FIELD && field && field->node
             ? &field->node->snode->components[field->component]
             : NULL;
}

static bool is_interchangeable(const RgValue *value) {
  const SNodeComponent *component = component_of(value);
  return component && component->interchangeable_with >= 0;
}

static bool are_movable(const RgValue *values, int32_t value_count) {
  int32_t count = 0;
  for (int32_t k = 0; k < value_count; k++) count += is_interchangeable(&values[k]);
  return count <= MOST_MOVABLE;
}

/* A derivative reaches the gradient of a field from where the field itself is. */
static bool moves_fields(const Kernel *kernel, const RgValue *values, int32_t value_count) {
  return !kernel->derivative && are_movable(values, value_count);
}

bool pattern_is_movable(const Kernel *kernel, const RgValue *values, int32_t value_count,
                        int32_t k) {
  return is_interchangeable(&values[k]) && moves_fields(kernel, values, value_count);
}

uint64_t pattern_place(const RgValue *field) { return component_of(field)->offset; }

/* The position of the first value that is this field. */
static uint64_t field_class(const Encoding *encoding, int32_t k) {
  for (int32_t first = 0; first < k; first++)
    if (component_of(&encoding->values[first]) == component_of(&encoding->values[k]))
      return (uint64_t)first;
  return (uint64_t)k;
}

/* -- captures of one variable ------------------------------------------------------------------ */

static bool is_number(const RgValue *value) {
  return value->kind == RG_VALUE_NUMBER || value->kind == RG_VALUE_BOOL ||
         value->kind == RG_VALUE_I64 || value->kind == RG_VALUE_U64;
}

static bool may_be_joined(const Kernel *kernel, int32_t k) {
  return k < kernel->paths.count && kernel->paths.items[k].joined;
}

/* The numbers are compared, too, since a table may compute its values. */
int32_t pattern_joined(const Kernel *kernel, const RgValue *values, int32_t k) {
  if (!may_be_joined(kernel, k) || !is_number(&values[k])) return 0;
  int32_t joined = kernel->paths.items[k].joined;
  const RgValue *earlier = &values[joined - 1];
  bool is_same = earlier->kind == values[k].kind && earlier->depth == values[k].depth &&
                 earlier->u64 == values[k].u64;
  return is_same ? joined : 0;
}

/* -- words ------------------------------------------------------------------------------------- */

static bool check_owner(const Encoding *encoding, const Object *object) {
  if (object->owner == encoding->kernel->object.owner) return true;
  return error_set(encoding->err, RG_ERROR_RUNTIME_MIX,
                   "kernel '%.100s' was given a field, node or array of another runtime",
                   encoding->kernel->name);
}

static bool lay_out_tree(const Encoding *encoding, Tree *tree) {
  char where[200];
  if (tree->has_storage) return tree_check(tree, encoding->err);
  snprintf(where, sizeof where, "the first use by kernel '%.150s'", encoding->kernel->name);
  return tree_lay_out(tree, where, encoding->err);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static const Array *array_of(const RgValue *value) {
  return value->kind == RG_VALUE_ARRAY ? (const Array *)value->array : NULL;
}

/* The position of the first value that is this array. */
static int32_t array_class(const RgValue *values, int32_t k) {
  int32_t first = 0;
  while (array_of(&values[first]) != array_of(&values[k])) first++;
  return first;
}

/* Can the array's memory be reached through several indices, or through another array? */
static bool is_shared(const RgValue *values, int32_t value_count, const Array *array) {
  if (array->overlaps) return true;
  for (int32_t k = 0; k < value_count; k++) {
    const Array *other = array_of(&values[k]);
    if (other && other != array && array_shares_memory(array, other)) return true;
  }
  return false;
}

SemaArray pattern_array(const RgValue *values, int32_t value_count, int32_t k) {
  const Array *array = array_of(&values[k]);
  SemaArray out = {.number = array_class(values, k),
                   .axis_count = array->rank,
                   .is_wide = array->count > IR_NARROW,
                   .is_strided = array->is_strided,
                   .is_pitched = array->is_pitched,
                   .is_shared = is_shared(values, value_count, array),
                   .is_constant = array->is_constant,
                   .is_empty = array->count == 0};
  memcpy(out.shape, array->shape, sizeof array->shape);
  return out;
}

/* Refuses an array in the memory of one of the launch's trees, as passes assume that elements of
 * trees have no alias. */
static bool check_no_overlap(const Encoding *encoding, const Array *array) {
  char label[100], other[100];
  if (block_is_own(array->block)) return true; /* not in a tree's memory */
  for (int32_t k = 0; k < encoding->value_count; k++) {
    const RgValue *value = &encoding->values[k];
    Tree *tree = pattern_owner(value);
    if (!tree || !tree->has_storage ||
        !array_is_within(array, tree->arena.base, tree->arena.reserved))
      continue;
    error_set(encoding->err, RG_ERROR_ARGUMENT,
              "kernel '%.100s' was given %s together with %s, which share memory",
              encoding->kernel->name, array_label(array, label), tree_label(tree, other));
    return error_hint(encoding->err, "use only one of the two in a kernel");
  }
  return true;
}

static void make_array_words(const Encoding *encoding, int32_t k, uint64_t *words) {
  SemaArray seen = pattern_array(encoding->values, encoding->value_count, k);
  const Array *array = array_of(&encoding->values[k]);
  words[1] = (uint64_t)seen.number + 1;
  words[2] = (uint64_t)array->type.number | (uint64_t)seen.axis_count << 32;
  words[3] = (uint64_t)seen.is_wide | (uint64_t)seen.is_strided << 1 |
             (uint64_t)seen.is_shared << 2 | (uint64_t)seen.is_constant << 3 |
             (uint64_t)seen.is_pitched << 4 | (uint64_t)seen.is_empty << 5;
  if (kernel_is_static(encoding->kernel, k))
    words[3] |= hash_bytes(1, array->shape, sizeof array->shape) << 6;
}

/* Checks that the object is not destroyed and belongs to this runtime, and lays out its tree. Sema
 * refuses fields that are not placed, as it can show their use. */
static bool check_handle(const Encoding *encoding, const RgValue *value) {
  const Array *array = array_of(value);
  if (array)
    return check_owner(encoding, &array->object) && array_check_plain(array, encoding->err);
  Tree *tree = pattern_owner(value);
  const Object *object =
      value->kind == RG_VALUE_NODE ? &tree->object : &((Field *)value->field)->object;
  return check_owner(encoding, object) && (!tree || lay_out_tree(encoding, tree));
}

/* Includes the value itself, or two hashes of a vector or string. */
static void make_static_words(const RgValue *value, uint64_t *words) {
  if (value->kind == RG_VALUE_VECTOR && value->vector) {
    size_t bytes = sizeof *value->vector->numbers * (size_t)value->vector->count;
    words[2] = hash_bytes(1, value->vector->numbers, bytes);
    words[3] = hash_bytes(2, value->vector->numbers, bytes);
  } else if (value->kind == RG_VALUE_STRING && value->text) {
    words[2] = hash_bytes(1, value->text, strlen(value->text));
    words[3] = hash_bytes(2, value->text, strlen(value->text));
  } else if (is_number(value)) {
    words[1] = value->u64;
    words[2] = 1;
  }
}

static bool is_handle(const RgValue *value) {
  return value->kind == RG_VALUE_FIELD || value->kind == RG_VALUE_NODE ||
         value->kind == RG_VALUE_ARRAY;
}

/* Overlaps are checked in a second loop, as only laid-out trees have addresses. */
static bool check_handles(const Encoding *encoding) {
  for (int32_t k = 0; k < encoding->value_count; k++) {
    const RgValue *value = &encoding->values[k];
    if (!is_handle(value)) continue;
    if (!value->field)
      return error_set(encoding->err, RG_ERROR_ARGUMENT,
                       "a launch of kernel '%.100s' has a field, node or array without a handle",
                       encoding->kernel->name);
    if (!check_handle(encoding, value)) return false;
  }
  for (int32_t k = 0; k < encoding->value_count; k++) {
    const Array *array = array_of(&encoding->values[k]);
    if (array && !check_no_overlap(encoding, array)) return false;
  }
  return true;
}

static void make_field_words(const Encoding *encoding, int32_t k, uint64_t *words) {
  const Field *field = (const Field *)encoding->values[k].field;
  words[1] |= (uint64_t)type_shape(field->type).number << 32;
  if (field->has_offset) words[2] = hash_bytes(words[2], field->offset, sizeof field->offset);
  if (field->is_watched) words[2] += 0x5851f42d4c957f2d;
  if (!encoding->moves || !is_interchangeable(&encoding->values[k])) {
    words[3] |= (uint32_t)field->component + 1;
    return;
  }
  words[4] = field_class(encoding, k) + 1;
  words[3] |= (uint32_t)component_of(&encoding->values[k])->interchangeable_with + 1 + (1u << 31);
}

static void make_words(const Encoding *encoding, int32_t k, uint64_t *words) {
  const RgValue *value = &encoding->values[k];
  words[0] = (uint64_t)(uint32_t)value->kind | (uint64_t)(uint32_t)value->depth << 32;
  words[1] = words[2] = words[3] = 0;
  words[4] = may_be_joined(encoding->kernel, k)
                 ? (uint64_t)pattern_joined(encoding->kernel, encoding->values, k)
                 : 0;
  if (value->kind == RG_VALUE_BUILTIN || value->kind == RG_VALUE_TYPE ||
      value->kind == RG_VALUE_OTHER)
    words[1] = value->text ? hash_bytes(0, value->text, strlen(value->text)) : 0;
  if (value->kind == RG_VALUE_VECTOR && value->vector && value->vector->type)
    words[1] = hash_bytes(0, value->vector->type, strlen(value->vector->type));
  if (kernel_is_static(encoding->kernel, k)) make_static_words(value, words);
  if (value->kind == RG_VALUE_NUMBER)
    words[3] = (uint64_t)kernel_note_whole(encoding->kernel, k, value->number);
  if (value->kind == RG_VALUE_FUNCTION) words[1] = value->u64;
  if (value->kind == RG_VALUE_ARRAY) {
    make_array_words(encoding, k, words);
    return;
  }
  Tree *tree = pattern_owner(value);
  if (!tree) return;
  const SNode *snode = value->kind == RG_VALUE_NODE ? ((Node *)value->node)->snode
                                                    : ((Field *)value->field)->node->snode;
  words[1] = tree_class(encoding, k, tree) + 1;
  words[2] = tree->layout->layout_hash ^ (tree_is_view(tree) ? 0x9e3779b97f4a7c15 : 0) ^
             (tree->layout->is_global ? 0xbf58476d1ce4e5b9 : 0);
  words[3] = (uint64_t)(uint32_t)snode->id << 32;
  if (value->kind == RG_VALUE_FIELD) make_field_words(encoding, k, words);
}

int pattern_make(Kernel *kernel, const RgValue *values, int32_t value_count, Error *err) {
  Encoding encoding = {kernel, values, value_count, err, false};
  int word_count = value_count * PATTERN_WORDS;
  if (word_count > kernel->word_capacity) {
    uint64_t *words =
        heap_resize(kernel->engine->store->heap, kernel->words, sizeof *words * (size_t)word_count);
    if (!words) {
      error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
      return -1;
    }
    kernel->words = words;
    kernel->word_capacity = word_count;
  }
  ASSERT(word_count <= kernel->word_capacity, "the words of all values have room");
  if (!check_handles(&encoding)) return -1;
  encoding.moves = moves_fields(kernel, values, value_count);
  for (int32_t k = 0; k < value_count; k++)
    make_words(&encoding, k, kernel->words + k * PATTERN_WORDS);
  return word_count;
}
