/* codegen_helper.c - the program `regolith-codegen`: reads one request from standard input, answers
 * on standard output, exits. Compiling in a separate process is the only way to survive any crash
 * of LLVM. The framing is in codegen_pipe.h. Nothing except the answer may be written to standard
 * output. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/codegen_abi.h"
#include "jit/codegen_pipe.h"

enum { MAX_BYTES = 1 << 30 };

static bool read_all(void *data, int64_t length) {
  for (char *at = data; length > 0;) {
    ssize_t count = read(STDIN_FILENO, at, (size_t)length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    length -= count;
  }
  return true;
}

static bool write_all(const void *data, int64_t length) {
  for (const char *at = data; length > 0;) {
    ssize_t count = write(STDOUT_FILENO, at, (size_t)length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    length -= count;
  }
  return true;
}

/* Reads a part and appends a NUL; NULL for length -1, and if it cannot be read (*ok becomes
 * false). */
static char *read_part(int64_t length, bool *ok) {
  if (length < 0 || !*ok) return NULL;
  char *part = length <= MAX_BYTES ? malloc((size_t)length + 1) : NULL;
  *ok = part && read_all(part, length);
  if (part) part[length] = 0;
  return part;
}

static int64_t text_length(const char *text) { return text ? (int64_t)strlen(text) : -1; }

static bool answer(const RgCodegenResult *result) {
  RgPipeResult head = {.magic = RG_PIPE_MAGIC,
                       .message_length = text_length(result->message),
                       .parse_ms = result->parse_ms,
                       .emit_ms = result->emit_ms,
                       .optimize_ms = result->optimize_ms,
                       .object_ms = result->object_ms,
                       .ok = result->ok,
                       .code = result->code};
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    const RgCodegenObject *object = &result->objects[t];
    head.object_lengths[t] = object->bytes ? object->length : -1;
    head.llvm_lengths[t] = text_length(object->llvm_text);
    head.asm_lengths[t] = text_length(object->asm_text);
  }
  bool ok = write_all(&head, sizeof head) && write_all(result->message, head.message_length);
  for (int t = 0; ok && t < RG_TARGET_COUNT; t++)
    ok = write_all(result->objects[t].bytes, head.object_lengths[t]) &&
         write_all(result->objects[t].llvm_text, head.llvm_lengths[t]) &&
         write_all(result->objects[t].asm_text, head.asm_lengths[t]);
  return ok;
}

int main(void) {
  RgPipeRequest head;
  char *processors[RG_TARGET_COUNT];
  bool ok = read_all(&head, sizeof head) && head.magic == RG_PIPE_MAGIC;
  if (!ok) return 2;
  char *bytes = read_part(head.bytes_length, &ok), *build_id = read_part(head.build_id_length, &ok);
  for (int t = 0; t < RG_TARGET_COUNT; t++)
    processors[t] = read_part(head.processor_lengths[t], &ok);
  if (!ok || !bytes) return 2;
  RgCodegenRequest request = {.bytes = (const uint8_t *)bytes,
                              .length = head.bytes_length,
                              .build_id = build_id,
                              .want_llvm = head.want_llvm,
                              .want_asm = head.want_asm,
                              .instrument = head.instrument,
                              .threads = head.threads,
                              .baseline = head.baseline};
  for (int t = 0; t < RG_TARGET_COUNT; t++) request.processors[t] = processors[t];
  RgCodegenResult *result = regolith_codegen(&request);
  ok = result && answer(result);
  regolith_codegen_free(result);
  free(bytes);
  free(build_id);
  for (int t = 0; t < RG_TARGET_COUNT; t++) free(processors[t]);
  return ok ? 0 : 1;
}
