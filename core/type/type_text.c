/* type_text.c - parses and prints the names of types, structs included:
 *
 *     type:    f32  vec3  mat(3,2,f64)  |  struct[#7]{name:type,..}  |  array(type[,axes])
 *
 * Names are printed without spaces; parsing skips them. */
#include <stdio.h>
#include <string.h>

#include "type/table.h"

const char *type_name_in(const TypeTable *table, Type t, char buffer[TYPE_NAME_SIZE]) {
  return type_is_struct(t) ? type_row(table, t).name : type_name(t, buffer);
}

void type_number_name(const TypeTable *table, Type t, int part, char *out, int room) {
  *out = 0;
  if (room <= 0) return;
  if (!type_is_struct(t)) {
    bool has_letter = type_is_vector(t) && type_parts(t) <= 4;
    if (has_letter) snprintf(out, (size_t)room, ".%c", "xyzw"[part]);
    else if (type_parts(t) > 1) snprintf(out, (size_t)room, ".%d", part);
    return;
  }
  if (type_is_array(t)) return;
  TypeRow row = type_row(table, t);
  const TypeMember *member = row.members;
  while (part >= member->first + type_parts(member->type)) member++;
  int length = snprintf(out, (size_t)room, ".%s", member->name);
  if (length < room)
    type_number_name(table, member->type, part - member->first, out + length, room - length);
}

typedef struct Reading {
  TypeTable *table;
  const char *at, *end;
  int depth;
  Error *err;
} Reading;

static bool fail(const Reading *r, const char *wanted) {
  return error_set(r->err, RG_ERROR_TYPE_UNKNOWN, "a type's text needs %s at '%.*s'", wanted,
                   r->end - r->at > 20 ? 20 : (int)(r->end - r->at), r->at);
}

static void skip_space(Reading *r) {
  while (r->at < r->end && *r->at == ' ') r->at++;
}

static bool accept(Reading *r, char c) {
  skip_space(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static Str read_word(Reading *r) {
  skip_space(r);
  const char *begin = r->at;
  while (r->at < r->end && is_word(*r->at)) r->at++;
  return (Str){begin, (int)(r->at - begin)};
}

static bool read_type(Reading *r, Type *type);

/* "f32", "vec(5,f64)" */
static bool read_fixed(Reading *r, Str word, Type *type) {
  if (accept(r, '(')) {
    while (r->at < r->end && *r->at != ')') r->at++;
    if (!accept(r, ')')) return fail(r, "')'");
    word.length = (int)(r->at - word.data);
  }
  return type_parse_any(word, type) ||
         error_set(r->err, RG_ERROR_TYPE_UNKNOWN, "there is no type '%.*s'",
                   word.length > 40 ? 40 : word.length, word.data);
}

static int read_tag(Reading *r) {
  int tag = 0;
  if (!accept(r, '#')) return 0;
  Str digits = read_word(r);
  for (int k = 0; k < digits.length && tag < INT32_MAX / 10 - 1; k++)
    if (digits.data[k] >= '0' && digits.data[k] <= '9') tag = 10 * tag + (digits.data[k] - '0');
  return tag;
}

/* Parses one member; its name is stored in the caller's `names`. */
static bool read_member(Reading *r, TypeMember *member, char *name, int room) {
  Str word = read_word(r);
  if (!word.length) return fail(r, "a member's name");
  if (word.length >= room)
    return error_set(r->err, RG_ERROR_TYPE_UNKNOWN, "a member's name has at most %d letters",
                     room - 1);
  memcpy(name, word.data, (size_t)word.length);
  name[word.length] = 0;
  member->name = name;
  return accept(r, ':') ? read_type(r, &member->type) : fail(r, "':'");
}

enum { LONGEST_NAME = 64 };
typedef struct Members {
  TypeMember rows[TYPE_MAX_NUMBERS];
  char names[TYPE_MAX_NUMBERS][LONGEST_NAME];
  int count;
} Members;

static bool read_members(Reading *r, Members *members) {
  while (members->count < TYPE_MAX_NUMBERS) {
    int k = members->count++;
    if (!read_member(r, &members->rows[k], members->names[k], LONGEST_NAME)) return false;
    if (accept(r, '}')) return true;
    if (!accept(r, ',')) return fail(r, "',' or '}'");
  }
  return error_set(r->err, RG_ERROR_TYPE_UNKNOWN, "a struct has at most %d numbers",
                   TYPE_MAX_NUMBERS);
}

static bool read_struct(Reading *r, Type *type) {
  int tag = read_tag(r);
  if (!accept(r, '{')) return fail(r, "'{'");
  if (++r->depth > TYPE_DEEPEST)
    return error_set(r->err, RG_ERROR_TYPE_UNKNOWN, "structs are nested at most %d deep",
                     TYPE_DEEPEST);
  Members *members = heap_alloc(r->table->heap, sizeof *members);
  if (!members) return error_set(r->err, RG_ERROR_MEMORY, "the host has no memory left for a type");
  bool ok = read_members(r, members) &&
            type_struct(r->table, tag, members->rows, members->count, type, r->err);
  heap_free(r->table->heap, members);
  r->depth--;
  return ok;
}

static bool read_array(Reading *r, Type *type) {
  Type element;
  int axes = 1;
  if (!accept(r, '(')) return fail(r, "'('");
  if (++r->depth > TYPE_DEEPEST)
    return error_set(r->err, RG_ERROR_TYPE_UNKNOWN, "arrays are nested at most %d deep",
                     TYPE_DEEPEST);
  if (!read_type(r, &element)) return false;
  r->depth--;
  if (accept(r, ',')) {
    Str digits = read_word(r);
    axes = digits.length == 1 ? digits.data[0] - '0' : 0;
  }
  return accept(r, ')') ? type_array(r->table, element, axes, type, r->err) : fail(r, "')'");
}

static bool read_type(Reading *r, Type *type) {
  Str word = read_word(r);
  if (!word.length) return fail(r, "a type");
  if (str_is(word, "array")) return read_array(r, type);
  return str_is(word, "struct") ? read_struct(r, type) : read_fixed(r, word, type);
}

bool type_read(TypeTable *table, Str text, Type *type, Error *err) {
  for (int k = 0; k < table->count; k++)
    if (table->rows[k].name && str_is(text, table->rows[k].name)) {
      *type = type_table_type(table, k);
      return true;
    }
  Reading reading = {.table = table, .at = text.data, .end = text.data + text.length, .err = err};
  if (!read_type(&reading, type)) return false;
  skip_space(&reading);
  return reading.at == reading.end || fail(&reading, "nothing more");
}
