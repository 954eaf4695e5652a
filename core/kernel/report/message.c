/* message.c - see message.h. Numbers are shown as Lua shows them, whatever the host's locale; a NaN
 * has no sign, since compiled code may give it either one.
 *
 * If several iterations of a launch fail, the first in index order becomes the error: records are
 * sorted (device/messages.c). */
#include "kernel/report/message.h"

#include <stdio.h>
#include <string.h>

/* -- copies in a compiled kernel --------------------------------------------------------------- */

static void keep_pieces(Scratch *scratch, SemaMessage *message) {
  SemaPiece *pieces = scratch_array(scratch, SemaPiece, message->pieces.count);
  for (int i = 0; i < message->pieces.count; i++) {
    SemaPiece *piece = &pieces[i];
    *piece = message->pieces.items[i];
    piece->text.data = scratch_copy_text(scratch, piece->text.data, (size_t)piece->text.length);
    if (piece->format)
      piece->format = scratch_copy_text(scratch, piece->format, strlen(piece->format));
  }
  message->pieces.items = pieces;
}

static void keep_calls(Scratch *scratch, SemaMessage *message) {
  SemaCallPlace *calls = scratch_array(scratch, SemaCallPlace, message->calls.count);
  for (int i = 0; i < message->calls.count; i++) {
    calls[i] = message->calls.items[i];
    calls[i].name = scratch_copy_text(scratch, calls[i].name, strlen(calls[i].name));
  }
  message->calls.items = calls;
}

/* Must it be read before the launch returns? True for a printed line, and for a message with a
 * string argument, which the caller keeps only until then. */
static bool is_urgent(const SemaMessage *message) {
  bool is = message->code == RG_ERROR_NONE;
  for (int k = 0; k < message->pieces.count; k++)
    is |= message->pieces.items[k].kind == PIECE_STRING;
  return is;
}

static void keep_message(Scratch *scratch, SemaMessage *message) {
  keep_pieces(scratch, message);
  keep_calls(scratch, message);
  if (message->hint)
    message->hint = scratch_copy_text(scratch, message->hint, strlen(message->hint));
}

void messages_keep(CompiledKernel *compiled, const SemaOutput *sema) {
  int32_t count = sema->messages.count;
  compiled->messages = scratch_array(&compiled->memory, SemaMessage, count);
  compiled->message_axes = scratch_array(&compiled->memory, int32_t, count);
  compiled->message_count = count;
  for (int32_t k = 0; k < count; k++) {
    SemaMessage *message = &compiled->messages[k];
    *message = sema->messages.items[k];
    keep_message(&compiled->memory, message);
    compiled->message_axes[k] = message->axis_count;
    compiled->prints |= is_urgent(message);
  }
}

/* -- text -------------------------------------------------------------------------------------- */

static double float_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value != value ? __builtin_nan("") : value;
}

/* snprintf may write the locale's decimal point. */
static void add_float(StrBuf *out, const char *format, double value) {
  char text[512];
  snprintf(text, sizeof text, format, value);
  size_t whole = strspn(text, " +-0123456789eEinfaINFA"); /* also in inf and nan */
  size_t point = strcspn(text + whole, "0123456789eE ");
  strbuf_add(out, text, (int)whole);
  if (!text[whole]) return;
  strbuf_char(out, '.');
  strbuf_text(out, text + whole + point);
}

static void add_number(StrBuf *out, Type type, uint64_t bits, const char *float_format) {
  if (type_is_float(type)) add_float(out, float_format, float_of(bits));
  else if (type_is_bool(type)) strbuf_text(out, bits ? "true" : "false");
  else if (type_is_unsigned(type)) strbuf_format(out, "%llu", (unsigned long long)bits);
  else strbuf_format(out, "%lld", (long long)bits);
}

/* Adds a value as tostring shows it: a vector as "vec2(1, 2.5)". */
static void add_shown(StrBuf *out, const SemaPiece *piece, const uint64_t *values) {
  char name[TYPE_NAME_SIZE];
  if (type_is_scalar(piece->shape)) {
    add_number(out, piece->type, values[0], "%.14g");
    return;
  }
  strbuf_format(out, "%s(", type_name(type_shaped(piece->type, piece->shape), name));
  for (int k = 0; k < type_parts(piece->shape); k++) {
    if (k) strbuf_text(out, ", ");
    add_number(out, piece->type, values[k], "%.7g");
  }
  strbuf_char(out, ')');
}

/* Converts as LuaJIT does: rounds toward zero; a value out of range gives the sign bit alone. */
static int64_t whole_of(double value, bool is_unsigned) {
  const double limit = 9223372036854775808.0;
  if (is_unsigned && value >= limit && value < 2 * limit)
    return (int64_t)((uint64_t)(value - limit) ^ (uint64_t)INT64_MIN);
  return value >= -limit && value < limit ? (int64_t)value : INT64_MIN;
}

/* Adds an integer by a format such as "%5d", extended by the length modifier for 64 bits. */
static void add_integer(StrBuf *out, const char *format, int64_t value) {
  char wide[16];
  size_t length = strlen(format);
  snprintf(wide, sizeof wide, "%.*sll%c", (int)length - 1, format,
           format[length - 1] == 'i' ? 'd' : format[length - 1]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  strbuf_format(out, wide, (long long)value);
#pragma GCC diagnostic pop
}

/* Adds a text by a format such as "%-8s" or "%.3s". */
static void add_text(StrBuf *out, const char *format, const char *text, int length) {
  int width = 0, most = length;
  bool is_left = false;
  const char *at = format + 1;
  for (; strchr("-+ #0", *at); at++) is_left |= *at == '-';
  for (; *at >= '0' && *at <= '9'; at++) width = 10 * width + *at - '0';
  if (*at == '.')
    for (most = 0, at++; *at >= '0' && *at <= '9'; at++) most = 10 * most + *at - '0';
  if (length > most) length = most;
  for (int k = length; k < width && !is_left; k++) strbuf_char(out, ' ');
  strbuf_add(out, text, length);
  for (int k = length; k < width && is_left; k++) strbuf_char(out, ' ');
}

static double integer_of(Type type, uint64_t bits) {
  return type_is_unsigned(type) ? (double)bits : (double)(int64_t)bits;
}

static void add_value(StrBuf *out, const SemaPiece *piece, const uint64_t *values) {
  const char *format = piece->format;
  char conversion = format ? format[strlen(format) - 1] : 0;
  bool is_float = type_is_float(piece->type);
  if (!format) {
    add_shown(out, piece, values);
  } else if (conversion == 's') {
    StrBuf text;
    strbuf_init(&text, out->scratch);
    add_shown(&text, piece, values);
    add_text(out, format, strbuf_end(&text), text.length);
  } else if (strchr("eEfgG", conversion)) {
    add_float(out, format, is_float ? float_of(values[0]) : integer_of(piece->type, values[0]));
  } else {
    int64_t whole =
        is_float ? whole_of(float_of(values[0]), !strchr("dic", conversion)) : (int64_t)values[0];
    char c = (char)whole;
    if (conversion == 'c') add_text(out, format, &c, 1);
    else add_integer(out, format, whole);
  }
}

/* Adds the text of a message with these operands. Without operands (their record was lost), adds
 * "?" for each value. */
static void add_message(StrBuf *out, const Kernel *kernel, const SemaMessage *message,
                        const uint64_t *operands, const RgValue *values) {
  for (int i = 0; i < message->pieces.count; i++) {
    const SemaPiece *piece = &message->pieces.items[i];
    if (piece->kind == PIECE_VALUE && operands) {
      add_value(out, piece, operands);
      operands += type_parts(piece->shape);
    } else if (piece->kind == PIECE_VALUE) {
      strbuf_char(out, '?');
    } else {
      SemaArg from = piece->string;
      const RgValue *value = &values[from.index + (from.is_parameter ? kernel->paths.count : 0)];
      Str text = piece->kind == PIECE_TEXT ? piece->text : str_of(value->text ? value->text : "");
      if (piece->format) add_text(out, piece->format, text.data, text.length);
      else strbuf_add(out, text.data, text.length);
    }
  }
}

/* -- failures ---------------------------------------------------------------------------------- */

bool message_error(const CompiledKernel *compiled, int32_t number, const char *text,
                   const char *index, int others, Error *err) {
  ASSERT(number >= 0 && number < compiled->message_count, "a failure has its message");
  const SemaMessage *message = &compiled->messages[number];
  diag_error(err, message->source, message->pos, message->width, message->code, "%s", text);
  snprintf(err->index, sizeof err->index, "%s", index);
  if (message->hint) error_hint(err, "%s", message->hint);
  else if (index[0] && others)
    error_hint(err, "in iteration %s; %d more, which ran at the same time, failed too", index,
               others);
  else if (index[0]) error_hint(err, "in iteration %s", index);
  for (int i = 0; i < message->calls.count; i++) {
    const SemaCallPlace *call = &message->calls.items[i];
    Error note = {.is_note = true};
    diag_error(&note, call->source, call->pos, call->width, message->code, "'%.80s' is called here",
               call->name);
    error_add(err, &note);
  }
  return false;
}

bool kernel_fail(const Kernel *kernel, int64_t number, int32_t message, const char *text,
                 const char *index, Error *err) {
  const Version *version = kernel->versions;
  while (version && version->number != number) version = version->next;
  if (!version || message < 0 || message >= version->compiled->message_count)
    return error_set(err, RG_ERROR_ARGUMENT, "kernel '%.100s' has no such message", kernel->name);
  return message_error(version->compiled, message, text, index, 0, err);
}

/* -- races ------------------------------------------------------------------------------------- */

/* Writes "3, 4" from one number: core/lower/races.c packs the indices. */
static void unpack_text(int64_t packed, int count, char *out, size_t size) {
  int64_t values[SNODE_MAX_AXES] = {packed};
  int bits = count ? 64 / count : 64;
  for (int k = count - 1; k > 0; k--) {
    int64_t half = (int64_t)1 << (bits - 1);
    values[k] = (packed & (2 * half - 1)) - half;
    packed >>= bits;
    values[0] = packed;
  }
  numbers_join(out, size, values, count ? count : 1, ", ");
}

static const char *access_verb(const SemaMessage *message) {
  static const char *const words[] = {"", "reads", "writes", "updates"};
  return words[message->race.kind];
}

/* The error of a FAULT whose values are the other site, both iterations and the element. */
static bool fail_race(const CompiledKernel *compiled, int32_t number, const int64_t *values,
                      Error *err) {
  ASSERT(values[0] >= 0 && values[0] < compiled->message_count, "a race has two sites");
  const SemaMessage *writer = &compiled->messages[number];
  const SemaMessage *other = &compiled->messages[values[0]];
  char iterations[2][160], element[160], text[600];
  unpack_text(values[1], writer->race.iteration_axes, iterations[0], sizeof iterations[0]);
  unpack_text(values[2], other->race.iteration_axes, iterations[1], sizeof iterations[1]);
  unpack_text(values[3], writer->race.element_axes, element, sizeof element);
  Str name = writer->pieces.items[0].text;
  snprintf(text, sizeof text, "iteration %s %s '%.*s' at %s, which iteration %s %s%s",
           iterations[0], access_verb(writer), name.length, name.data, element, iterations[1],
           access_verb(other), other->race.kind == RACE_WRITE ? ", too" : "");
  message_error(compiled, number, text, iterations[0], 0, err);
  Error note = {.is_note = true};
  diag_error(&note, other->source, other->pos, other->width, RG_ERROR_RACE,
             "iteration %s %s it here", iterations[1], access_verb(other));
  error_add(err, &note);
  return false;
}

static bool fail_with_message(Scratch *scratch, const Kernel *kernel,
                              const CompiledKernel *compiled, int32_t number,
                              const uint64_t *record, int others, const RgValue *values,
                              Error *err) {
  const SemaMessage *message = &compiled->messages[number];
  char index[sizeof err->index] = "";
  if (message->race.kind && record)
    return fail_race(compiled, number, (const int64_t *)(record + 1), err);
  StrBuf text;
  strbuf_init(&text, scratch);
  add_message(&text, kernel, message, record ? record + 1 : NULL, values);
  if (record && message->axis_count) {
    const uint64_t *indices = record + 1 + (record[0] >> 32) - message->axis_count;
    numbers_join(index, sizeof index, (const int64_t *)indices, message->axis_count, ", ");
  }
  return message_error(compiled, number, strbuf_end(&text), index, others, err);
}

/* -- a launch ---------------------------------------------------------------------------------- */

typedef struct Reading {
  Kernel *kernel;
  const CompiledKernel *compiled;
  const DeviceLaunch *launch;
  const RgValue *values;
  Scratch scratch;
} Reading;

/* Is the failure a full list whose append was recorded, with its name, as debug = true does? */
static bool names_full_list(const Reading *reading, const uint64_t *failed) {
  return reading->launch->context.error.kind == RT_ERROR_FULL && failed &&
         reading->compiled->messages[(uint32_t)failed[0]].code == RG_ERROR_LIST_FULL;
}

static bool read_message(void *data, Error *err) {
  Reading *reading = data;
  const DeviceLaunch *launch = reading->launch;
  const uint64_t *end = launch->messages + launch->message_words, *failed = NULL;
  int failures = 0;
  StrBuf line;
  strbuf_init(&line, &reading->scratch);
  for (const uint64_t *at = launch->messages; at < end; at += 1 + (at[0] >> 32)) {
    ASSERT((int32_t)(uint32_t)at[0] < reading->compiled->message_count,
           "a kernel has only its own messages");
    const SemaMessage *message = &reading->compiled->messages[(uint32_t)at[0]];
    if (message->code != RG_ERROR_NONE) {
      if (!failures++) failed = at;
      continue;
    }
    line.length = 0;
    add_message(&line, reading->kernel, message, at + 1, reading->values);
    lines_add(reading->kernel->engine, strbuf_end(&line), line.length);
  }
  if (launch->context.error.kind != RT_ERROR_FAULT && !names_full_list(reading, failed))
    return true;
  int32_t number = failed ? (int32_t)(uint32_t)failed[0] : launch->context.error.manager;
  ASSERT(number >= 0 && number < reading->compiled->message_count, "a kernel has its faults");
  return fail_with_message(&reading->scratch, reading->kernel, reading->compiled, number, failed,
                           failed ? failures - 1 : 0, reading->values, err);
}

bool messages_read(Kernel *kernel, const CompiledKernel *compiled, const DeviceLaunch *launch,
                   const RgValue *values, Error *err) {
  Reading reading = {kernel, compiled, launch, values, {0}};
  if (launch->messages_lost)
    engine_warn(kernel->engine,
                "kernel '%.100s' printed more than fits: its last %llu lines are lost",
                kernel->name, (unsigned long long)launch->messages_lost);
  if (launch->touches_lost)
    engine_warn(kernel->engine,
                "kernel '%.100s' accesses more elements in a loop than the race detector can "
                "track: %llu accesses were not checked",
                kernel->name, (unsigned long long)launch->touches_lost);
  if (!launch->message_words && launch->context.error.kind != RT_ERROR_FAULT) return true;
  scratch_init(&reading.scratch, kernel->engine->store->heap);
  bool ok = guard_run(read_message, &reading, err);
  scratch_deinit(&reading.scratch);
  return ok;
}

/* -- lines ------------------------------------------------------------------------------------- */

/* A kept line is its length (8 bytes), then its bytes, with a NUL. */

static bool has_room(Engine *engine, size_t bytes) {
  Lines *lines = &engine->lines;
  if (!lines->count) lines->used = lines->taken = 0;
  if (lines->used + bytes <= lines->capacity) return true;
  size_t capacity = 2 * (lines->used + bytes);
  char *grown = heap_resize(engine->store->heap, lines->bytes, capacity);
  if (!grown) return false;
  lines->bytes = grown;
  lines->capacity = capacity;
  return true;
}

static size_t size_of(int64_t length) { return (size_t)(length < 0 ? -1 - length : length) + 1; }

static void keep_line(Engine *engine, const char *text, int64_t length) {
  Lines *lines = &engine->lines;
  size_t size = size_of(length);
  if (!has_room(engine, sizeof length + size)) {
    engine_warn(engine, "a line that a kernel printed is lost: the host has no memory left");
    return;
  }
  memcpy(lines->bytes + lines->used, &length, sizeof length);
  memcpy(lines->bytes + lines->used + sizeof length, text, size);
  lines->used += sizeof length + size;
  lines->count++;
}

void lines_warn(Engine *engine, const char *text) {
  engine->lines.has_warnings = false; /* a warning about lost lines goes to standard error */
  keep_line(engine, text, -1 - (int64_t)strlen(text));
  engine->lines.has_warnings = true;
}

void lines_add(Engine *engine, const char *text, int length) {
  if (engine->print) {
    engine->print(engine->print_data, text, length);
  } else if (engine->lines.are_kept) {
    keep_line(engine, text, length);
  } else {
    fwrite(text, 1, (size_t)length, stdout);
    putchar('\n');
  }
}

const char *lines_take(Engine *engine, int64_t *length) {
  Lines *lines = &engine->lines;
  if (!lines->count) return NULL;
  ASSERT(lines->taken < lines->used, "a line that is left is in the buffer");
  memcpy(length, lines->bytes + lines->taken, sizeof *length);
  const char *text = lines->bytes + lines->taken + sizeof *length;
  lines->taken += sizeof *length + size_of(*length);
  lines->count--;
  return text;
}

void lines_free(Engine *engine) {
  heap_free(engine->store->heap, engine->lines.bytes);
  engine->lines =
      (Lines){.are_kept = engine->lines.are_kept, .has_warnings = engine->lines.has_warnings};
}
