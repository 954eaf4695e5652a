/* native.c - functions of extensions in C, as a host captures them: BUILTIN by a text that has all
 * of them.
 *
 *     extension 3 7 f64(f64,i32) sample.stir       the runtime's number, the host's, types, name */
#include <stdlib.h>
#include <string.h>

#include "typed/typed.h"

static const char prefix[] = "extension ";

bool native_is(const char *text) { return !strncmp(text, prefix, strlen(prefix)); }

/* Up to one of `ends`; *text is left there. NONE with has_arrays: it is not a number. */
static Type read_type(Native *native, const char **text, const char *ends) {
  size_t length = strcspn(*text, ends);
  Type type = TYPE(NONE);
  Str name = {*text, (int)length};
  if (!type_parse_any(name, &type) || !type_is_scalar(type_shape(type))) native->has_arrays = true;
  *text += length;
  return type;
}

static void read_types(Native *native, const char *text) {
  bool is_void = !strncmp(text, "()", 2);
  if (is_void) text += 2;
  else native->result = read_type(native, &text, "( ");
  if (*text != '(') native->has_arrays = true;
  else text++;
  while (!native->has_arrays && *text && *text != ')') {
    if (native->count == NATIVE_MOST) native->has_arrays = true;
    else native->parameters[native->count++] = read_type(native, &text, ",)");
    if (*text == ',') text++;
  }
}

const Builtin *native_read(Scratch *scratch, const char *text) {
  Native *native = scratch_new(scratch, Native);
  Builtin *builtin = scratch_new(scratch, Builtin);
  char *end;
  *native = (Native){.result = TYPE(NONE)};
  native->number = (int)strtol(text + strlen(prefix), &end, 10);
  native->id = (int)strtol(end, &end, 10);
  while (*end == ' ') end++;
  read_types(native, end);
  const char *name = strrchr(text, ' ');
  *builtin = (Builtin){.name = name + 1,
                       .form = FORM_NATIVE,
                       .op = IR_CONST,
                       .least = native->count,
                       .most = native->count,
                       .native = native};
  return builtin;
}
