/* llvm_test.c - fatal errors of LLVM do not end the process, and its diagnostics are returned as
 * text. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "llvm/context.h"

static bool dies(void *data, Error *err) {
  LLVMCreateTargetData("no such layout"); /* LLVM reports a fatal error */
  *(bool *)data = true;
  return true;
}

static bool lives(void *data, Error *err) {
  *(int *)data += 1;
  return *(int *)data < 2 || error_set(err, RG_ERROR_CODEGEN, "the second time");
}

static void *die_on_thread(void *data) {
  Error err;
  bool reached = false, died = false;
  for (int i = 0; i < 20; i++) {
    error_clear(&err);
    llvm_guard(dies, &reached, &died, &err);
    if (!died || reached) *(bool *)data = true;
  }
  return NULL;
}

/* Memory that LLVM had allocated at a fatal error is lost: the only leak that we cannot avoid. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

int main(void) {
  Error err;
  bool died, reached = false;
  llvm_initialize();
  llvm_initialize();
  TEST("a fatal error of LLVM comes back as an error, on any thread") {
    error_clear(&err);
    CHECK(!llvm_guard(dies, &reached, &died, &err) && died && !reached);
    CHECK(strstr(err.message, "LLVM gave up") != NULL);
    pthread_t threads[2];
    bool wrong[2] = {false, false};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, die_on_thread, &wrong[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK(!wrong[0] && !wrong[1]);
  }
  TEST("work that succeeds returns its own result") {
    int count = 0;
    error_clear(&err);
    CHECK(llvm_guard(lives, &count, &died, &err) && !died);
    CHECK(!llvm_guard(lives, &count, &died, &err) && !died);
    CHECK_TEXT(err.message, "the second time");
  }
  TEST("an error diagnostic is kept, the first one") {
    LlvmContext llvm;
    llvm_context_create(&llvm);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange("nonsense", 8, "n", false);
    LLVMModuleRef module = NULL;
    CHECK(LLVMParseBitcodeInContext2(llvm.context, buffer, &module));
    CHECK(llvm.diagnostic[0] != 0);
    LLVMDisposeMemoryBuffer(buffer);
    llvm_context_destroy(&llvm);
  }
  return check_report();
}
