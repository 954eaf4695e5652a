/* packed.c - see packed.h. A field's number is found in two steps: the index of its word (its own,
 * or in a packed array one of fewer along the last axis), and the lowest bit in it.
 *
 *     uint(1), 32 in a word      x[i][70]  ->  words[i][2], bit 6
 *     vec2 of fixed(12, ..)      v[i]      ->  words[i], bits 0 .. 11 and 12 .. 23 */
#include "tree/packed.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "tree/access/cell.h"
#include "tree/access/numbers.h"

bool packed_read_type(Field *field, const char *text, Error *err) {
  Store *store = field->store;
  char computed[TYPE_NAME_SIZE];
  bool is_packed = packed_is_text(str_of(text));
  if (is_packed && !packed_read(str_of(text), &field->packed, &field->type, err)) return false;
  field->type_name = store_read_type(store, is_packed ? type_name(field->type, computed) : text,
                                     "fields", &field->type, err);
  if (!field->type_name) return false;
  if (is_packed) field->packing = heap_copy_text(store->heap, text);
  return !is_packed || field->packing ||
         error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a type");
}

void packed_drop(Field *field) {
  Heap *heap = field->store->heap;
  for (int k = 0; field->words && k < type_parts(field->type); k++)
    if (field->words[k]) object_release(&field->words[k]->object);
  heap_free(heap, field->words);
  heap_free(heap, field->decoded);
  field->words = NULL;
  field->decoded = NULL;
}

/* -- placing ----------------------------------------------------------------------------------- */

typedef struct Placing {
  Node *node; /* of the fields */
  Node *at;   /* of the words */
  int word_bits, per_word;
  int used;    /* bits of the last word */
  Field *word; /* the last word; NULL: none yet */
  Error *err;
} Placing;

/* Bits that lie in one word: of a number, or of a vector with its exponent. */
static int unit_bits(const Field *field) {
  const Packed *packed = &field->packed;
  if (packed->kind != PACKED_SHARED) return packed->bits;
  return packed->bits * type_parts(field->type) + packed->exponent;
}

static int unit_count(const Field *field) {
  return field->packed.kind == PACKED_SHARED ? 1 : type_parts(field->type);
}

static bool check_fields(Node *node, Field *const *fields, int count, Error *err) {
  char label[100];
  for (int k = 0; k < count; k++) {
    Field *field = fields[k];
    if (!field_check_place(node, field, err)) return false;
    if (!field->packed.kind) {
      error_set(err, RG_ERROR_TYPE_MISMATCH, "%s has no packed type, so it cannot share a word",
                field_label(field, label));
      return error_hint(err, "packed types are rg.int(b), rg.uint(b), rg.fixed(b, {low, high}) and "
                             "rg.float(exponent, fraction)");
    }
    if (unit_bits(field) > PACKED_MOST_BITS)
      return error_set(err, RG_ERROR_ARGUMENT,
                       "%s needs %d bits for a vector with one exponent, a word has 64 at most",
                       field_label(field, label), unit_bits(field));
  }
  if (!snode_has_lists(node->snode)) return true;
  error_set(err, RG_ERROR_TREE_DECLARATION, "%s is packed, and elements of a list cannot be packed",
            field_label(fields[0], label));
  return error_hint(err, "append whole words: a field of rg.u32, whose bits you shift yourself, or "
                         "of rg.f16");
}

/* How many words of `bits` the fields' numbers need, in order; 0 if one is larger than a word. */
static int count_words(Field *const *fields, int count, int bits) {
  int words = 1, used = 0;
  ASSERT(count > 0 && bits >= 8 && bits <= 64, "fields, and a word of the machine");
  for (int k = 0; k < count; k++)
    for (int n = 0, unit = unit_bits(fields[k]); n < unit_count(fields[k]); n++, used += unit) {
      if (unit > bits) return 0;
      if (used + unit <= bits) continue;
      words++;
      used = 0;
    }
  return words;
}

/* The smallest word that has room for all; if there is none, the words that use the least
 * memory. */
static int choose_word(Field *const *fields, int count) {
  for (int bits = 8; bits <= 64; bits *= 2)
    if (count_words(fields, count, bits) == 1) return bits;
  int narrow = count_words(fields, count, 32), wide = count_words(fields, count, 64);
  return narrow && narrow <= 2 * wide ? 32 : 64;
}

/* The word size for an array of numbers of `bits` each: the one that uses the least memory; 32 bits
 * unless another saves an eighth. */
static int choose_array_word(int bits, int64_t cells) {
  int best = 0;
  int64_t least = 0;
  ASSERT(bits > 0 && bits <= PACKED_MOST_BITS && cells > 0, "numbers that fit a word");
  static const int sizes[] = {32, 64, 16, 8};
  if (bits >= 8 && is_power_of_two((uint64_t)bits)) return bits;
  for (int k = 0; k < 4; k++) {
    int64_t per_word = sizes[k] / bits;
    if (!per_word) continue;
    int64_t memory = (cells + per_word - 1) / per_word * sizes[k];
    if (best && 8 * memory >= 7 * least) continue;
    best = sizes[k];
    least = memory;
  }
  return best;
}

/* Adds the node that holds a packed array's words, next to that of its fields. Nothing is added if
 * each number has a word of its own. */
static bool add_words_node(Placing *p, const Field *field, int word_bits) {
  const SNode *snode = p->node->snode;
  char axes[SNODE_MAX_AXES + 1] = "";
  int64_t sizes[SNODE_MAX_AXES];
  int last = snode->axis_count - 1, bits = field->packed.bits;
  if (!word_bits) word_bits = choose_array_word(bits, snode->sizes[last]);
  p->word_bits = word_bits;
  p->per_word = word_bits / bits;
  if (p->per_word < 2) {
    p->per_word = 1;
    return true;
  }
  for (int k = 0; k <= last; k++) axes[k] = (char)('i' + snode->axes[k]);
  memcpy(sizes, snode->sizes, sizeof sizes);
  sizes[last] = (sizes[last] + p->per_word - 1) / p->per_word;
  Tree *tree = p->node->tree;
  p->at = node_add(tree_node(tree, snode->parent), SNODE_DENSE, axes, sizes, last + 1,
                   &(SNodeOptions){0}, p->err);
  if (!p->at) return false;
  object_release(&tree->object); /* users get no handle of the node */
  return true;
}

/* Begins another word. */
static bool add_word(Placing *p) {
  char type[16];
  snprintf(type, sizeof type, "u%d", p->word_bits);
  p->used = 0;
  if (p->word) object_release(&p->word->object);
  p->word = field_create(p->node->tree->store, type, "", p->err);
  return p->word && field_place(p->at, p->word, p->err);
}

/* Takes `bits` of a word; *shift is the lowest of them. */
static bool take_bits(Placing *p, int bits, int *shift) {
  bool is_full = !p->word || p->per_word > 1 || p->used + bits > p->word_bits;
  if (is_full && !add_word(p)) return false;
  ASSERT(p->word && p->used + bits <= p->word_bits, "choose_word and check_fields left room");
  *shift = p->used;
  p->used += bits;
  return true;
}

/* Places words for all numbers of the field, which then holds them. */
static bool place_words(Placing *p, Field *field, SNodePacked *places) {
  const Packed *packed = &field->packed;
  int parts = type_parts(field->type), units = unit_count(field), each = parts / units, shift = 0;
  ASSERT(each * units == parts && parts <= TYPE_MAX_PARTS, "a word holds whole units");
  for (int part = 0; part < parts; part++) {
    if (part % each == 0 && !take_bits(p, unit_bits(field), &shift)) return false;
    places[part] = (SNodePacked){.as = *packed,
                                 .words = p->word->node->snode,
                                 .word = p->word->component,
                                 .shift = shift + part % each * packed->bits,
                                 .per_word = p->per_word};
    if (packed->kind == PACKED_SHARED) {
      places[part].count = each;
      places[part].exponent_shift = shift + each * packed->bits;
    }
    object_retain(&p->word->object);
    field->words[part] = p->word;
  }
  return true;
}

/* The components of its numbers follow each other. */
static bool place_parts(Placing *p, Field *field, const SNodePacked *places) {
  SNode *node = p->node->snode;
  const TypeTable *types = &field->store->types;
  for (int part = 0; part < type_parts(field->type); part++) {
    char name[200];
    int length = snprintf(name, sizeof name, "%.100s", field->name);
    if (field->name[0])
      type_number_name(types, field->type, part, name + length, (int)sizeof name - length);
    int component = snode_place_part(node, NULL, field->type, part, name, p->err);
    if (component < 0 || !snode_set_packed(node, component, &places[part], p->err)) return false;
    if (part == 0) field->component = component;
  }
  return true;
}

static bool place_field(Placing *p, Field *field) {
  SNodePacked places[TYPE_MAX_PARTS];
  int parts = type_parts(field->type);
  packed_drop(field);
  field->words = heap_alloc(field->store->heap, sizeof *field->words * (size_t)parts);
  field->decoded = heap_alloc(field->store->heap, sizeof *field->decoded * (size_t)parts);
  if (!field->words || !field->decoded)
    return error_set(p->err, RG_ERROR_MEMORY, "the host has no memory left for a field");
  if (!place_words(p, field, places) || !place_parts(p, field, places)) return false;
  object_retain(&p->node->tree->object);
  field->node = p->node;
  return true;
}

bool field_place_packed(Node *node, Field *const *fields, int count, int word_bits, bool alone,
                        Error *err) {
  Placing p = {.node = node, .at = node, .word_bits = word_bits, .per_word = 1, .err = err};
  const SNode *snode = node->snode;
  if (count < 1) return error_set(err, RG_ERROR_ARGUMENT, "a word holds at least one field");
  if (word_bits && (word_bits < 8 || word_bits > 64 || !is_power_of_two((uint64_t)word_bits)))
    return error_set(err, RG_ERROR_ARGUMENT, "a word has 8, 16, 32 or 64 bits, not %d", word_bits);
  if (!check_fields(node, fields, count, err)) return false;
  for (int k = 0; word_bits && k < count; k++)
    if (unit_bits(fields[k]) > word_bits)
      return error_set(err, RG_ERROR_ARGUMENT, "a number of %d bits is too large for words of %d",
                       unit_bits(fields[k]), word_bits);
  bool is_array = count == 1 && !alone && snode_is_dense(snode) && snode->axis_count > 0 &&
                  type_is_scalar(fields[0]->type);
  if (is_array && !add_words_node(&p, fields[0], word_bits)) return false;
  if (p.per_word == 1) p.word_bits = word_bits ? word_bits : choose_word(fields, count);
  bool ok = true;
  for (int k = 0; ok && k < count; k++) ok = place_field(&p, fields[k]);
  if (p.word) object_release(&p.word->object);
  return ok;
}

/* -- one word ---------------------------------------------------------------------------------- */

static const SNodePacked *packed_of(const Field *field, int part) {
  DEBUG_ASSERT(field->node && part < type_parts(field->type), "a number of a placed field");
  return field->node->snode->components[field->component + part].packed;
}

/* The last axis that the field's node divides, by which a packed array numbers its words. */
typedef struct LastAxis {
  int position;
  int64_t size, word_count; /* of a container: cells and words along it */
} LastAxis;

static LastAxis last_axis(const SNode *node, const SNode *words) {
  int last = node->axis_count - 1;
  return (LastAxis){snode_axis_position(node, node->axes[last]), node->sizes[last],
                    words->sizes[last]};
}

/* Finds the word's index; returns the lowest bit of the number. */
static int find_bits(const Field *field, const SNodePacked *packed, const int64_t *index,
                     int64_t *at) {
  const SNode *node = field->node->snode;
  memcpy(at, index, sizeof *at * (size_t)node->rank);
  if (packed->per_word == 1) return packed->shift;
  LastAxis axis = last_axis(node, packed->words);
  int64_t along = index[axis.position], block = floor_div(along, axis.size),
          within = along - block * axis.size;
  at[axis.position] = block * axis.word_count + within / packed->per_word;
  return packed->shift + (int)(within % packed->per_word) * packed->as.bits;
}

static uint64_t word_of(const RgValue *value) {
  return value->kind == RG_VALUE_NUMBER ? (uint64_t)value->number : value->u64;
}

static bool read_word(Field *words, const int64_t *at, uint64_t *word, Error *err) {
  RgValue value;
  if (!field_get(words, at, words->node->snode->rank, &value, err)) return false;
  *word = word_of(&value);
  return true;
}

static bool write_word(Field *words, const int64_t *at, uint64_t word, Error *err) {
  RgValue value = {.kind = RG_VALUE_U64, .u64 = word};
  return field_set(words, at, words->node->snode->rank, &value, err);
}

static uint64_t bits_at(uint64_t word, int shift, uint64_t mask) { return word >> shift & mask; }
static void put_bits(uint64_t *word, int shift, uint64_t mask, uint64_t bits) {
  *word = (*word & ~(mask << shift)) | bits << shift;
}

/* -- numbers of one word ----------------------------------------------------------------------- */

static uint64_t exponent_mask(const Packed *packed) {
  return ((uint64_t)1 << packed->exponent) - 1;
}

static uint64_t decode(const SNodePacked *packed, uint64_t word, int shift) {
  uint64_t stored = bits_at(word, shift, packed_mask(&packed->as));
  if (packed->as.kind != PACKED_SHARED) return packed_decode(&packed->as, stored);
  return packed_decode_shared(&packed->as, stored,
                              bits_at(word, packed->exponent_shift, exponent_mask(&packed->as)));
}

/* Stores all numbers that share an exponent. */
static void put_shared(const Field *field, const SNodePacked *packed, uint64_t *word,
                       const uint64_t *numbers) {
  uint64_t stored[TYPE_MAX_PARTS], exponent;
  ASSERT(packed->count > 0 && packed->count <= TYPE_MAX_PARTS, "numbers that share an exponent");
  packed_encode_shared(&packed->as, packed->count, &numbers[packed->first], stored, &exponent);
  for (int k = 0; k < packed->count; k++)
    put_bits(word, packed_of(field, packed->first + k)->shift, packed_mask(&packed->as), stored[k]);
  put_bits(word, packed->exponent_shift, exponent_mask(&packed->as), exponent);
}

static void put_number(const Field *field, int part, uint64_t *word, int shift,
                       const uint64_t *numbers) {
  const SNodePacked *packed = packed_of(field, part);
  if (packed->as.kind != PACKED_SHARED)
    put_bits(word, shift, packed_mask(&packed->as), packed_encode(&packed->as, numbers[part]));
  else if (part == packed->first) put_shared(field, packed, word, numbers);
}

void packed_round(const Field *field, uint64_t *numbers) {
  uint64_t word = 0;
  if (field->packed.kind == PACKED_SHARED) put_shared(field, packed_of(field, 0), &word, numbers);
  for (int part = 0; part < type_parts(field->type); part++)
    numbers[part] =
        field->packed.kind == PACKED_SHARED
            ? decode(packed_of(field, part), word, packed_of(field, part)->shift)
            : packed_decode(&field->packed, packed_encode(&field->packed, numbers[part]));
}

bool packed_check_fit(const Field *field, const uint64_t *numbers, Error *err) {
  char label[100], text[48];
  const Packed *packed = &field->packed;
  if (packed->kind != PACKED_INT && packed->kind != PACKED_UINT) return true;
  for (int part = 0; part < type_parts(field->type); part++) {
    uint64_t kept = packed_decode(packed, packed_encode(packed, numbers[part]));
    if (!memcmp(&kept, &numbers[part], (size_t)type_size(packed->computed))) continue;
    RgValue value = value_load(packed->computed, &numbers[part]);
    error_set(err, RG_ERROR_VALUE_FIT, "%s cannot hold %s: its type is %s",
              field_label(field, label), value_text(&value, text), field->packing);
    if (packed->kind == PACKED_UINT)
      return error_hint(err, "%d bits hold 0 to %llu", packed->bits,
                        (unsigned long long)packed->most);
    return error_hint(err, "%d bits hold %lld to %lld", packed->bits, (long long)packed->least,
                      (long long)packed->most);
  }
  return true;
}

/* -- single elements --------------------------------------------------------------------------- */

static bool read_numbers(Field *field, const int64_t *index, uint64_t *numbers, Error *err) {
  uint64_t word = 0;
  int64_t at[SNODE_MAX_AXES];
  for (int part = 0; part < type_parts(field->type); part++) {
    const SNodePacked *packed = packed_of(field, part);
    int shift = find_bits(field, packed, index, at);
    bool is_same = part > 0 && field->words[part] == field->words[part - 1];
    if (!is_same && !read_word(field->words[part], at, &word, err)) return false;
    numbers[part] = decode(packed, word, shift);
  }
  return true;
}

bool packed_get(Field *field, const int64_t *index, RgValue *value, Error *err) {
  uint64_t numbers[TYPE_MAX_PARTS];
  if (!read_numbers(field, index, numbers, err)) return false;
  *value = vector_value(field->store, field->type, numbers);
  return true;
}

bool packed_set(Field *field, const int64_t *index, const uint64_t *numbers, Error *err) {
  uint64_t word = 0;
  int64_t at[SNODE_MAX_AXES];
  int parts = type_parts(field->type);
  if (!packed_check_fit(field, numbers, err)) return false;
  for (int part = 0; part < parts; part++) {
    Field *words = field->words[part];
    int shift = find_bits(field, packed_of(field, part), index, at);
    if ((part == 0 || words != field->words[part - 1]) && !read_word(words, at, &word, err))
      return false;
    put_number(field, part, &word, shift, numbers);
    if ((part + 1 == parts || words != field->words[part + 1]) && !write_word(words, at, word, err))
      return false;
  }
  return true;
}

bool packed_run(Field *field, const uint8_t *alive, RgRun *run, Error *err) {
  if (!read_numbers(field, run->index, field->decoded, err)) return false;
  size_t size = (size_t)type_size(field->packed.computed);
  uint8_t *to = (uint8_t *)field->decoded;
  for (int part = 1; part < type_parts(field->type); part++)
    memmove(to + (size_t)part * size, &field->decoded[part], size);
  run->count = 1;
  run->first = to;
  run->stride = 0;
  run->step = type_is_scalar(field->type) ? 0 : (int64_t)size;
  run->alive = alive ? alive : (const uint8_t *)&field->node->tree->has_storage;
  run->version = NULL;
  run->seen = 0;
  for (int k = 0; k < field->node->snode->rank; k++) run->index[k] += field->offset[k];
  return true;
}

/* -- all elements ------------------------------------------------------------------------------ */

static int64_t element_count(const SNode *node) {
  int64_t count = 1;
  for (int k = 0; k < node->rank; k++) count *= node->shape[k];
  return count;
}

/* The words of a part, in row order. */
typedef struct Table {
  int64_t *words; /* in heap memory */
  int64_t count;
} Table;

static bool table_read(Field *words, Table *table, Error *err) {
  table->count = element_count(words->node->snode);
  table->words = heap_alloc(words->store->heap, sizeof *table->words * (size_t)table->count);
  if (!table->words)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for the words of a field");
  return field_read_i64(words, table->words, table->count, err);
}

static void table_free(const Field *field, Table *table) {
  heap_free(field->store->heap, table->words);
  *table = (Table){0};
}

/* The next element in row order: its index, and the number of its word. */
typedef struct Element {
  int64_t index[SNODE_MAX_AXES];
  int64_t word;
  int shift;
} Element;

static void locate(const Field *field, const SNodePacked *packed, Element *element) {
  int64_t at[SNODE_MAX_AXES];
  const SNode *words = packed->words;
  element->shift = find_bits(field, packed, element->index, at);
  element->word = 0;
  for (int k = 0; k < words->rank; k++) element->word = element->word * words->shape[k] + at[k];
}

bool packed_read_all(Field *field, double *numbers, int64_t *integers, Error *err) {
  const SNode *node = field->node->snode;
  int parts = type_parts(field->type);
  int64_t count = element_count(node);
  Table table = {0};
  bool ok = true;
  for (int part = 0; ok && part < parts; part++) {
    const SNodePacked *packed = packed_of(field, part);
    Element element = {0};
    bool is_same = part > 0 && field->words[part] == field->words[part - 1];
    if (!is_same) table_free(field, &table);
    if (!is_same) ok = table_read(field->words[part], &table, err);
    for (int64_t k = 0; ok && k < count; k++, cell_next_index(node, element.index)) {
      locate(field, packed, &element);
      uint64_t bits = decode(packed, (uint64_t)table.words[element.word], element.shift);
      if (numbers) numbers[k * parts + part] = value_number(packed->as.computed, &bits);
      else integers[k * parts + part] = value_integer(packed->as.computed, &bits);
    }
  }
  table_free(field, &table);
  return ok;
}

/* All numbers of element `k`, converted as single writes are. */
static bool take_numbers(const Field *field, const double *numbers, const int64_t *integers,
                         int64_t k, uint64_t *bits, Error *err) {
  char label[100];
  int parts = type_parts(field->type);
  for (int part = 0; part < parts; part++) {
    RgValue value = {.kind = RG_VALUE_NUMBER};
    if (numbers) value.number = numbers[k * parts + part];
    else
      value =
          (RgValue){.kind = type_is_unsigned(field->packed.computed) ? RG_VALUE_U64 : RG_VALUE_I64,
                    .i64 = integers[k * parts + part]};
    if (!value_convert(field->packed.computed, &value, &bits[part], field_label(field, label), err))
      return false;
  }
  return packed_check_fit(field, bits, err);
}

/* Writes the parts that are in the words of part `first`; returns the part after them in *next. */
static bool write_words(Field *field, int first, const double *numbers, const int64_t *integers,
                        int *next, Error *err) {
  const SNode *node = field->node->snode;
  uint64_t bits[TYPE_MAX_PARTS];
  int past = first + 1;
  Table table = {0};
  Element element = {0};
  while (past < type_parts(field->type) && field->words[past] == field->words[first]) past++;
  bool ok = table_read(field->words[first], &table, err);
  for (int64_t k = 0; ok && k < element_count(node); k++, cell_next_index(node, element.index)) {
    ok = take_numbers(field, numbers, integers, k, bits, err);
    for (int part = first; ok && part < past; part++) {
      locate(field, packed_of(field, part), &element);
      put_number(field, part, (uint64_t *)&table.words[element.word], element.shift, bits);
    }
  }
  ok = ok && field_write_i64(field->words[first], table.words, table.count, err);
  table_free(field, &table);
  *next = past;
  return ok;
}

bool packed_write_all(Field *field, const double *numbers, const int64_t *integers, Error *err) {
  bool ok = true;
  for (int part = 0; ok && part < type_parts(field->type);)
    ok = write_words(field, part, numbers, integers, &part, err);
  return ok;
}

/* -- fill and copy ----------------------------------------------------------------------------- */

typedef struct Filling {
  const Field *field;
  int part;
  const uint64_t *numbers;
} Filling;

/* How many numbers the word at the index has: fewer in the last one of a container's row. */
static int numbers_in_word(const Filling *filling, const int64_t *index) {
  const SNodePacked *packed = packed_of(filling->field, filling->part);
  if (packed->per_word == 1) return 1;
  LastAxis axis = last_axis(filling->field->node->snode, packed->words);
  int64_t word = floor_mod(index[axis.position], axis.word_count);
  return (int)min_i64(packed->per_word, axis.size - word * packed->per_word);
}

static void fill_word(const Filling *filling, const int64_t *index, uint64_t *word) {
  const SNodePacked *packed = packed_of(filling->field, filling->part);
  for (int k = 0; k < numbers_in_word(filling, index); k++)
    put_number(filling->field, filling->part, word, packed->shift + k * packed->as.bits,
               filling->numbers);
}

static bool fill_run(void *data, const CellRun *run) {
  const Filling *filling = data;
  int size = type_size(filling->field->words[filling->part]->type);
  int64_t index[SNODE_MAX_AXES];
  memcpy(index, run->index, sizeof index);
  for (int64_t k = 0; k < run->count; k++) {
    uint8_t *at = run->first + (uint64_t)k * run->stride;
    uint64_t word = 0;
    memcpy(&word, at, (size_t)size);
    fill_word(filling, index, &word);
    memcpy(at, &word, (size_t)size);
    if (k + 1 < run->count) cell_next_in_run(run, index);
  }
  return true;
}

bool packed_fill(Field *field, const uint64_t *numbers, Error *err) {
  if (!packed_check_fit(field, numbers, err) || !tree_reach(field->node->tree, DEVICE_WRITES, err))
    return false;
  for (int part = 0; part < type_parts(field->type); part++) {
    Filling filling = {.field = field, .part = part, .numbers = numbers};
    if (!cell_walk(field->words[part], 0, fill_run, &filling, err)) return false;
  }
  return true;
}

static bool copy_dense(Field *field, Field *from, Error *err) {
  int64_t count = element_count(field->node->snode) * type_parts(field->type);
  bool is_exact = type_is_integer(type_number(&field->store->types, field->type, 0)) &&
                  type_is_integer(type_number(&from->store->types, from->type, 0));
  void *values = heap_alloc(field->store->heap, sizeof(double) * (size_t)count);
  if (!values) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a copy");
  bool ok =
      is_exact
          ? field_read_i64(from, values, count, err) && field_write_i64(field, values, count, err)
          : field_read(from, values, count, err) && field_write(field, values, count, err);
  heap_free(field->store->heap, values);
  return ok;
}

static bool copy_active(Field *field, Field *from, Error *err) {
  int64_t state = 0, index[SNODE_MAX_AXES];
  for (;;) {
    RgValue value;
    if (!field_next(from, &state, index, &value, err)) return false;
    if (state < 0) return true;
    for (int k = 0; k < from->node->snode->rank; k++)
      index[k] += field->offset[k] - from->offset[k];
    if (!field_set(field, index, from->node->snode->rank, &value, err)) return false;
    for (int k = 0; k < from->node->snode->rank; k++)
      index[k] += from->offset[k] - field->offset[k];
  }
}

bool packed_copy(Field *field, Field *from, Error *err) {
  bool is_dense =
      field->node->snode->path->sparse_step < 0 && from->node->snode->path->sparse_step < 0;
  return is_dense ? copy_dense(field, from, err) : copy_active(field, from, err);
}
