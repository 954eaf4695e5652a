/* kernel_api.c - kernels: regolith.h's calls, argument by argument. */
#include <string.h>

#include "api/api.h"
#include "api/word.h"
#include "kernel/tuning/tuning.h"

/* Options of an older caller are shorter. */
static bool read_options(const char *function, const RgKernelOptions *options, int64_t length,
                         RgKernelOptions *full_options) {
  if (length < 0 || length > INT32_MAX / 2)
    return !api_refuse(function, "length is not the length of a text");
  if (options && options->struct_size < (int32_t)sizeof options->struct_size)
    return !api_refuse(function, "options->struct_size is not set");
  size_t size = options ? (size_t)options->struct_size : 0;
  if (options)
    memcpy(full_options, options, size < sizeof *full_options ? size : sizeof *full_options);
  if (full_options->derivative < 0 || full_options->derivative >= DERIVATIVE_COUNT)
    return !api_refuse(function, "options->derivative is not one of 0 to 3");
  return true;
}

static bool create(Program *program, Str source, const RgKernelOptions *options, RgKernel **kernel,
                   Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  *kernel = (RgKernel *)kernel_create(&program->engine, source, options, err);
  return *kernel;
}

RgStatus rg_kernel_create(RgRuntime *runtime, const char *text, int64_t length,
                          const RgKernelOptions *options, RgKernel **kernel) {
  Program *program = (Program *)runtime;
  RgKernelOptions full_options = {0};
  API_NEEDS(runtime);
  API_NEEDS(text);
  API_NEEDS(kernel);
  if (!read_options(__func__, options, length, &full_options)) return RG_ERROR_ARGUMENT;
  Str source = {text, (int)length};
  *kernel = NULL;
  return API_CALL(program, create(program, source, &full_options, kernel, API_ERR(program)));
}

void rg_kernel_release(RgKernel *kernel) { object_release((Object *)kernel); }

int32_t rg_kernel_path_count(RgKernel *kernel) {
  return kernel ? ((Kernel *)kernel)->paths.count : 0;
}

RgStatus rg_kernel_path(RgKernel *handle, int32_t number, const char **path, int32_t *parameter) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(path);
  if (number < 0 || number >= kernel->paths.count)
    return api_refuse(__func__, "number is not below rg_kernel_path_count");
  *path = kernel->path_texts.items[number];
  if (parameter)
    *parameter =
        kernel->paths.items[number].is_parameter_path ? kernel->paths.items[number].parameter : -1;
  return 0;
}

int32_t rg_kernel_path_function(RgKernel *handle, int32_t number) {
  Kernel *kernel = (Kernel *)handle;
  return kernel && number >= 0 && number < kernel->paths.count
             ? kernel->paths.items[number].function
             : 0;
}

RgStatus rg_kernel_join_path(RgKernel *handle, int32_t number, int32_t earlier) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  if (number < 0 || number >= kernel->paths.count || earlier < -1 || earlier >= number)
    return api_refuse(__func__, "earlier < number < rg_kernel_path_count does not hold");
  kernel->paths.items[number].joined = earlier + 1;
  return 0;
}

int32_t rg_kernel_wants(RgKernel *handle, int32_t *value) {
  Kernel *kernel = (Kernel *)handle;
  if (kernel && value) *value = kernel->wanted_value;
  return kernel ? (int32_t)kernel->want : 0;
}

RgStatus rg_kernel_add_function(RgKernel *handle, const char *text, int64_t length,
                                const RgKernelOptions *options, int32_t *function) {
  Kernel *kernel = (Kernel *)handle;
  RgKernelOptions full_options = {0};
  API_NEEDS(kernel);
  API_NEEDS(text);
  API_NEEDS(function);
  if (!read_options(__func__, options, length, &full_options)) return RG_ERROR_ARGUMENT;
  Program *program = API_PROGRAM(kernel);
  Str source = {text, (int)length};
  return API_CALL(program, (*function = kernel_add_function(kernel, source, &full_options,
                                                            API_ERR(program))) > 0);
}

int32_t rg_kernel_parameter_count(RgKernel *kernel) {
  return kernel ? ((Kernel *)kernel)->parameter_count : 0;
}

const char *rg_kernel_name(RgKernel *kernel) { return kernel ? ((Kernel *)kernel)->name : ""; }

static const char bad_value_count[] = "values and value_count do not agree";
static bool values_agree(const RgValue *values, int32_t value_count) {
  return value_count >= 0 && value_count <= 10000 && (value_count == 0 || values);
}

RgStatus rg_kernel_launch(RgKernel *handle, const RgValue *values, int32_t value_count,
                          RgValue *result) {
  Kernel *kernel = (Kernel *)handle;
  RgValue unused;
  API_NEEDS(kernel);
  if (!values_agree(values, value_count)) return api_refuse(__func__, bad_value_count);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_launch(kernel, values, value_count, result ? result : &unused,
                                         API_ERR(program)));
}

RgStatus rg_kernel_compile(RgKernel *handle, const RgValue *values, int32_t value_count) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  if (!values_agree(values, value_count)) return api_refuse(__func__, bad_value_count);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_compile(kernel, values, value_count, false, API_ERR(program)));
}

RgStatus rg_kernel_compile_ahead(RgKernel *handle, const RgValue *values, int32_t value_count) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  if (!values_agree(values, value_count)) return api_refuse(__func__, bad_value_count);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_compile(kernel, values, value_count, true, API_ERR(program)));
}

RgStatus rg_kernel_result(RgKernel *handle, int32_t number, RgValue *result) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(result);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_result(kernel, number, result, API_ERR(program)));
}

RgStatus rg_kernel_gradient_use(RgKernel *handle, int32_t number, RgGradientUse *use) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(use);
  kernel_gradient_use(kernel, number, use);
  return 0;
}

RgStatus rg_kernel_emit(RgKernel *handle, const RgValue *values, int32_t value_count,
                        RgEmission *emission) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(emission);
  if (!values_agree(values, value_count)) return api_refuse(__func__, bad_value_count);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_emit(kernel, values, value_count, emission, API_ERR(program)));
}

RgStatus rg_kernel_fail(RgKernel *handle, int64_t number, int32_t message, const char *text,
                        const char *index) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(text);
  API_NEEDS(index);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_fail(kernel, number, message, text, index, API_ERR(program)));
}

static bool read_text(Kernel *kernel, const char *what, const char **text, Error *err) {
  int kind;
  return owner_check(kernel->object.owner, err) && word_parse(WORD_KERNEL_TEXT, what, &kind, err) &&
         kernel_text(kernel, (TextKind)kind, NULL, text, err);
}

RgStatus rg_kernel_text(RgKernel *handle, const char *what, const char **text) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(what);
  API_NEEDS(text);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, read_text(kernel, what, text, API_ERR(program)));
}

RgStatus rg_kernel_ptx(RgKernel *handle, const char *gpu, const char **text) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(text);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_text(kernel, TEXT_PTX, gpu, text, API_ERR(program)));
}

RgStatus rg_kernel_tune(RgKernel *handle, const RgValue *values, int32_t value_count) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  if (!values_agree(values, value_count)) return api_refuse(__func__, bad_value_count);
  Program *program = API_PROGRAM(kernel);
  return API_CALL(program, kernel_tune(kernel, values, value_count, API_ERR(program)));
}

static bool find_tuned(Kernel *kernel, int32_t row, RgTuneRow *out, bool *exists, Error *err) {
  if (!owner_check(kernel->object.owner, err)) return false;
  *exists = tuning_row(kernel, row, out);
  return true;
}

RgStatus rg_kernel_tuned(RgKernel *handle, int32_t row, RgTuneRow *out) {
  Kernel *kernel = (Kernel *)handle;
  API_NEEDS(kernel);
  API_NEEDS(out);
  bool exists = false;
  Program *program = program_of(&kernel->object);
  RgStatus status = API_CALL(program, find_tuned(kernel, row, out, &exists, API_ERR(program)));
  return status ? status : !exists;
}
