/* jit_test.c - the interface of the codegen library: its objects for the heat step on each target,
 * its errors, and the same through the helper process. */
#include <stdio.h>
#include <stdlib.h>

#include "build_id.h"
#include "check.h"
#include "ir/task.h"
#include "loader/loader.h"
#include "pass/pass.h"

static Heap heap;
static Codegen *codegen;

typedef struct Bytes {
  Scratch scratch;
  IrBytes bytes;
  const char *path;
  char *text;
} Bytes;

static char *read_text(Bytes *b) {
  char *text = scratch_alloc(&b->scratch, 1 << 16);
  FILE *file = fopen(b->path, "r");
  if (!file) return NULL;
  size_t length = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  text[length] = 0;
  return text;
}

static bool make_bytes(void *data, Error *err) {
  Bytes *b = data;
  char *text = b->text ? b->text : read_text(b);
  if (!text) return error_set(err, RG_ERROR_IO, "%s is not there", b->path);
  IrKernel *kernel = ir_read(&b->scratch, &heap, text, err);
  PassContext ctx = {
      .scratch = &b->scratch, .target = target_cpu, .vector_bytes = 32, .verify = true};
  if (!kernel || !pass_run_all(&ctx, kernel, err)) return false;
  b->bytes = ir_write(&b->scratch, kernel, "x86-64-v3");
  for (int i = 0; i < kernel->trees.count; i++)
    snode_tree_release((SNodeTree *)kernel->trees.items[i].tree);
  return true;
}

static RgCodegenRequest request_of(const Bytes *b, const char *processor) {
  RgTarget target = strncmp(processor, "sm_", 3) ? RG_TARGET_HOST : RG_TARGET_PTX;
  RgCodegenRequest request = {
      .bytes = b->bytes.data, .length = b->bytes.length, .build_id = RG_BUILD_ID};
  request.processors[target] = processor;
  return request;
}

static RgCodegenResult *compile(const RgCodegenRequest *request, Error *err) {
  error_clear(err);
  return codegen_compile(codegen, request, err);
}

static bool refused(RgCodegenRequest request, const char *word) {
  Error err;
  RgCodegenResult *result = compile(&request, &err);
  codegen_result_free(codegen, result);
  if (!result && strstr(err.message, word)) return true;
  printf("  %s\n", result ? "accepted" : err.message);
  return false;
}

/* The PTX without the numbers of its calls, which LLVM counts through all compiles of a process. */
static bool same_ptx(const char *a, const char *b) {
  for (; *a && *b; a++, b++) {
    while (*a >= '0' && *a <= '9') a++;
    while (*b >= '0' && *b <= '9') b++;
    if (*a != *b) return false;
  }
  return *a == *b;
}

static bool same_object(const RgCodegenResult *x, const RgCodegenResult *y, RgTarget target) {
  if (!x || !y) return false;
  const RgCodegenObject *a = &x->objects[target], *b = &y->objects[target];
  if (target == RG_TARGET_PTX)
    return a->bytes && b->bytes && same_ptx((const char *)a->bytes, (const char *)b->bytes);
  return a->length == b->length && !memcmp(a->bytes, b->bytes, (size_t)a->length);
}

static void test_targets(const Bytes *b) {
  static const char *const cpus[] = {"native", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  static const char *const gpus[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90"};
  Error err;
  TEST("an object comes out for every level of x86-64, and the loader takes it") {
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
      RgCodegenRequest request = request_of(b, cpus[i]);
      RgCodegenResult *result = compile(&request, &err);
      const RgCodegenObject *host = result ? &result->objects[RG_TARGET_HOST] : NULL;
      CHECK(host && result->ok && !host->llvm_text && !host->asm_text && result->object_ms > 0);
      CHECK(host && !result->objects[RG_TARGET_PTX].bytes);
      Code *code = host ? object_load(&heap, host->bytes, host->length, &err) : NULL;
      CHECK(code && code_find(code, "rg_host") && code_find(code, "rg_task_0") &&
            !code_find(code, "rg_task_1"));
      if (code) code_destroy(code);
      codegen_result_free(codegen, result);
    }
  }
  TEST("a request for a GPU returns PTX") {
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
      RgCodegenRequest request = request_of(b, gpus[i]);
      RgCodegenResult *result = compile(&request, &err);
      const char *ptx = result ? (const char *)result->objects[RG_TARGET_PTX].bytes : "";
      CHECK(strstr(ptx, gpus[i]) && strstr(ptx, ".entry rg_task_0"));
      codegen_result_free(codegen, result);
    }
  }
  TEST("one request for both targets returns what a request for each does") {
    RgCodegenRequest both = request_of(b, "x86-64-v3"),
                     alone[] = {request_of(b, "x86-64-v3"), request_of(b, "sm_90")};
    both.processors[RG_TARGET_PTX] = "sm_90";
    RgCodegenResult *result = compile(&both, &err);
    for (int t = 0; t < RG_TARGET_COUNT; t++) {
      RgCodegenResult *one = compile(&alone[t], &err);
      CHECK(same_object(result, one, (RgTarget)t));
      codegen_result_free(codegen, one);
    }
    codegen_result_free(codegen, result);
    both.processors[RG_TARGET_PTX] = "sm_20";
    CHECK(refused(both, "sm_20"));
    both.processors[RG_TARGET_PTX] = "x86-64-v3";
    CHECK(refused(both, "x86-64-v3"));
  }
  TEST("sanitizers instrument what is compiled for them") {
    for (int instrument = 1; instrument <= 2; instrument++) {
      RgCodegenRequest request = request_of(b, "native");
      request.instrument = instrument;
      request.want_llvm = 1;
      RgCodegenResult *result = compile(&request, &err);
      CHECK(result && strstr(result->objects[RG_TARGET_HOST].llvm_text,
                             instrument == 1 ? "__asan_" : "__tsan_"));
      codegen_result_free(codegen, result);
    }
  }
}

static int count_in(const char *text, const char *end, const char *word) {
  int count = 0;
  for (const char *at = strstr(text, word); at && at < end; at = strstr(at + 1, word)) count++;
  return count;
}

static void test_heat(const Bytes *b) {
  TEST("the heat step is vector code throughout, and calls nothing") {
    Error err;
    RgCodegenRequest request = request_of(b, "x86-64-v3");
    request.want_asm = request.want_llvm = 1;
    RgCodegenResult *result = compile(&request, &err);
    CHECK(result != NULL);
    if (!result) return;
    const RgCodegenObject *host = &result->objects[RG_TARGET_HOST];
    const char *task = strstr(host->asm_text, "rg_task_0:"),
               *end = task ? strstr(task, ".Lfunc_end") : NULL;
    CHECK(task && end);
    if (task && end) {
      CHECK_INT(count_in(task, end, "call"), 0);
      CHECK(count_in(task, end, "vaddps\t") >= 7);
      CHECK_INT(count_in(task, end, "vaddss"), 0);
      CHECK_INT(count_in(task, end, "vgather"), 0);
    }
    CHECK(strstr(host->llvm_text, "fadd <8 x float>") != NULL);
    codegen_result_free(codegen, result);
  }
}

static void test_refusals(const Bytes *b) {
  TEST("another build, an unknown processor and bytes that are no kernel are refused with a "
       "reason") {
    RgCodegenRequest other = request_of(b, "native");
    other.build_id = "another";
    CHECK(refused(other, "build"));
    CHECK(refused(request_of(b, "sm_20"), "sm_20"));
    CHECK(refused(request_of(b, ""), "''"));
    RgCodegenRequest cut = request_of(b, "native");
    for (cut.length = 0; cut.length < b->bytes.length; cut.length += 7) CHECK(refused(cut, ""));
  }
  TEST("bytes with a flipped bit compile or are refused, and nothing else happens") {
    uint8_t *copy = malloc((size_t)b->bytes.length);
    RgCodegenRequest request = request_of(b, "x86-64");
    uint64_t noise = 12345;
    for (int i = 0; i < 300; i++) {
      memcpy(copy, b->bytes.data, (size_t)b->bytes.length);
      noise = noise * 6364136223846793005u + 1442695040888963407u;
      copy[(noise >> 33) % (uint64_t)b->bytes.length] ^= (uint8_t)(1 << (noise >> 60 & 7));
      request.bytes = copy;
      Error err;
      RgCodegenResult *result = compile(&request, &err);
      CHECK(result || err.message[0]);
      codegen_result_free(codegen, result);
    }
    free(copy);
  }
}

static void test_helper(const Bytes *b) {
  TEST("the helper process makes the same object, and returns its errors") {
    Error err;
    error_clear(&err);
    RgCodegenRequest request = request_of(b, "x86-64-v3");
    request.processors[RG_TARGET_PTX] = "sm_80";
    request.want_asm = 1;
    RgCodegenResult *here = compile(&request, &err);
    Codegen *inline_codegen = codegen;
    setenv("RG_COMPILE", "process", 1);
    codegen = codegen_open(&heap, &err);
    unsetenv("RG_COMPILE");
    CHECK(codegen != NULL);
    RgCodegenResult *there = codegen ? compile(&request, &err) : NULL;
    CHECK(same_object(here, there, RG_TARGET_HOST) && same_object(here, there, RG_TARGET_PTX));
    for (int t = 0; here && there && t < RG_TARGET_COUNT; t++)
      CHECK(!there->objects[t].llvm_text &&
            same_ptx(here->objects[t].asm_text, there->objects[t].asm_text));
    if (there) codegen_result_free(codegen, there);
    if (codegen) CHECK(refused(request_of(b, "pdp-11"), "pdp-11"));
    if (codegen) codegen_close(codegen);
    codegen = inline_codegen;
    codegen_result_free(codegen, here);
  }
}

/* -- a kernel that is divided ------------------------------------------------------------------ */

enum { LOOPS = 5, STEPS = 200 };

/* Loops of STEPS operations that depend on each other. */
static char *long_text(Scratch *scratch) {
  char *text = scratch_format(scratch, "kernel k\ntree t0 = root{ dense \"i\" 64 { i32 a } }\n"
                                       "field f0 = t0.node 1.component 0: i32 a\nhost {\n"
                                       "  %%zero: i32 = const 0\n  %%e: i32 = const 64\n");
  for (int loop = 0; loop < LOOPS; loop++) {
    text = scratch_format(scratch,
                          "%s  range %%zero, %%e (%%p%d: i32) {\n"
                          "    %%at%d: place = place f0 in_bounds %%p%d\n"
                          "    %%v%d_0: i32 = load %%at%d\n",
                          text, loop, loop, loop, loop, loop);
    for (int i = 0; i < STEPS; i++)
      text = scratch_format(scratch, "%s    %%v%d_%d: i32 = %s %%v%d_%d, %%p%d\n", text, loop,
                            i + 1, i % 2 ? "mul" : "add", loop, i, loop);
    text = scratch_format(scratch, "%s    store %%at%d, %%v%d_%d\n  }\n", text, loop, loop, STEPS);
  }
  return scratch_format(scratch, "%s}\n", text);
}

static bool make_long_bytes(void *data, Error *err) {
  Bytes *b = data;
  b->text = long_text(&b->scratch);
  return make_bytes(b, err);
}

static void test_parts(void) {
  Error err;
  Bytes b = {0};
  error_clear(&err);
  scratch_init(&b.scratch, &heap);
  TEST("a kernel of long loops becomes several objects, the same for any number of threads") {
    bool ready = guard_run(make_long_bytes, &b, &err);
    if (!ready) printf("  %s\n", err.message);
    CHECK(ready);
    if (!ready) return;
    RgCodegenRequest request = request_of(&b, "x86-64-v3"), together = request;
    together.threads = 4;
    request.want_llvm = together.want_llvm = 1;
    RgCodegenResult *one = compile(&request, &err), *four = compile(&together, &err);
    CHECK(one && four && same_object(one, four, RG_TARGET_HOST));
    if (!one || !four) return;
    const RgCodegenObject *host = &four->objects[RG_TARGET_HOST];
    CHECK(((const RgBundle *)(const void *)host->bytes)->magic == RG_BUNDLE_MAGIC);
    CHECK_INT(
        count_in(host->llvm_text, host->llvm_text + strlen(host->llvm_text), "define void @rg_"),
        LOOPS + 1);
    Code *code = object_load(&heap, host->bytes, host->length, &err);
    CHECK_TEXT(err.message, "");
    CHECK(code && code_find(code, "rg_host"));
    for (int i = 0; code && i < LOOPS; i++) {
      char name[] = "rg_task_0";
      name[8] = (char)('0' + i);
      CHECK(code_find(code, name) != NULL);
    }
    code_destroy(code);
    codegen_result_free(codegen, one);
    codegen_result_free(codegen, four);
  }
  TEST("several objects cut off anywhere, or with a changed length, are an error, never a crash") {
    RgCodegenRequest request = request_of(&b, "x86-64");
    RgCodegenResult *result = compile(&request, &err);
    if (!result) return;
    const RgCodegenObject *host = &result->objects[RG_TARGET_HOST];
    uint8_t *copy = malloc((size_t)host->length);
    for (int64_t length = 0; length < host->length; length += length < 64 ? 1 : 101) {
      memcpy(copy, host->bytes, (size_t)length);
      error_clear(&err);
      Code *code = object_load(&heap, copy, length, &err);
      CHECK(!code && !strcmp(error_code_text(err.code), "object.invalid"));
    }
    for (int at = 8; at < 56; at++) {
      memcpy(copy, host->bytes, (size_t)host->length);
      copy[at] ^= 0x80;
      error_clear(&err);
      Code *code = object_load(&heap, copy, host->length, &err);
      CHECK(code || !strcmp(error_code_text(err.code), "object.invalid"));
      code_destroy(code);
    }
    free(copy);
    codegen_result_free(codegen, result);
  }
  TEST("the failure of a part is the error of the compile, on any number of threads") {
    RgCodegenRequest request = request_of(&b, "pdp-11");
    request.threads = 4;
    CHECK(refused(request, "pdp-11"));
  }
  scratch_deinit(&b.scratch);
}

int main(void) {
  Error err;
  error_clear(&err);
  heap_init(&heap, 0);
  Bytes b = {.path = HEAT_PATH};
  scratch_init(&b.scratch, &heap);
  codegen = codegen_open(&heap, &err);
  bool ready = codegen && guard_run(make_bytes, &b, &err);
  TEST("the heat step passes from text to canonical bytes") {
    if (!ready) printf("  %s\n", err.message);
    CHECK(ready);
  }
  if (ready) {
    test_targets(&b);
    test_heat(&b);
    test_refusals(&b);
    test_helper(&b);
    test_parts();
  }
  scratch_deinit(&b.scratch);
  if (codegen) codegen_close(codegen);
  return check_report();
}
