/* helper_process.h - RG_COMPILE=process: calls the codegen library's function through a pipe, in a
 * separate process, so that no failure in LLVM can end the user's process. */
#ifndef RG_LOADER_HELPER_PROCESS_H
#define RG_LOADER_HELPER_PROCESS_H

#include "loader/loader.h"

/* Starts `program`, sends the request, reads the answer. NULL with codegen.failed if the helper
 * died. */
RgCodegenResult *helper_compile(Heap *heap, const char *program, const RgCodegenRequest *request,
                                Error *err);
void helper_result_free(Heap *heap, RgCodegenResult *result);

#endif
