/* helper_process.h - RG_COMPILE=process: the codegen library's one function through a pipe, in a
 * separate process, so that nothing LLVM does can end the user's. */
#ifndef RG_LOADER_HELPER_PROCESS_H
#define RG_LOADER_HELPER_PROCESS_H

#include "loader/loader.h"

/* Starts `program`, sends the request, reads the answer. NULL with codegen.failed when the helper
 * died. */
RgCodegenResult *helper_compile(Heap *heap, const char *program, const RgCodegenRequest *request,
                                Error *err);
void helper_result_free(Heap *heap, RgCodegenResult *result);

#endif
