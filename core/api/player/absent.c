/* absent.c - replaces the front end, the passes and GPUs in the player library
 * (api/CMakeLists.txt): every call that would compile fails with one error. Kernels of modules
 * never call these functions. */
#include "device/device.h"
#include "emit_lua/emit_lua.h"
#include "front/parser.h"
#include "front/stand_in.h"
#include "module/module.h"
#include "pass/arrays/refcounts.h"
#include "pass/pass.h"
#include "resolve/paths.h"
#include "sema/sema.h"

static bool refuse(Error *err) {
  error_set(err, RG_ERROR_LIBRARY,
            "this library has no compiler: it only runs the compiled kernels of modules");
  return error_hint(err, "build a module: regolith build script.lua -o FOLDER");
}

Ast *parse_kernel_text(Source *source, Error *err) {
  (void)source, refuse(err);
  return NULL;
}
Ast *parse_function_at(Source *source, int32_t line_defined, int32_t last_line, const char *which,
                       Error *err) {
  (void)source, (void)line_defined, (void)last_line, (void)which, refuse(err);
  return NULL;
}
StandIns stand_ins_find(Source *source) {
  (void)source;
  return (StandIns){0};
}

bool module_save(Engine *engine, const char *path, const RgModuleItem *items, int32_t count,
                 const RgModuleOptions *options, Error *err) {
  (void)engine, (void)path, (void)items, (void)count, (void)options;
  return refuse(err);
}
bool module_header(const Module *module, const char *prefix, const char **text, Error *err) {
  (void)module, (void)prefix, (void)text;
  return refuse(err);
}
bool module_archive(const Module *module, const char *prefix, const char *path, Error *err) {
  (void)module, (void)prefix, (void)path;
  return refuse(err);
}

Device *device_cuda_create(Heap *heap, const DeviceOptions *options, Error *err) {
  (void)heap, (void)options;
  error_set(err, RG_ERROR_DEVICE, "this library has no compiler, and cannot run kernels on GPUs");
  return NULL;
}

/* -- functions that only kernels with a source text call --------------------------------------- */

static _Noreturn void fail(void) {
  Error failure;
  error_clear(&failure);
  refuse(&failure);
  guard_leave(&failure);
}

SemaPaths sema_paths(Scratch *scratch, const Ast *ast) { (void)scratch, (void)ast, fail(); }
SemaPaths sema_function_paths(Scratch *scratch, const Ast *ast, int function) {
  (void)scratch, (void)ast, (void)function, fail();
}
bool sema_types(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err) {
  (void)scratch, (void)input, (void)output;
  return refuse(err);
}
bool sema_lower(SemaOutput *output, Error *err) {
  (void)output;
  return refuse(err);
}
void sema_print_types(StrBuf *out, const SemaOutput *output) { (void)out, (void)output, fail(); }
void ir_print(StrBuf *out, const IrKernel *kernel) { (void)out, (void)kernel, fail(); }
void ast_print(StrBuf *out, const Ast *ast) { (void)out, (void)ast, fail(); }
const char *emit_lua_kernel(Scratch *scratch, const SemaOutput *typed) {
  (void)scratch, (void)typed, fail();
}
const char *emit_lua_derivative(Scratch *scratch, const SemaOutput *typed, Error *err) {
  (void)scratch, (void)typed, refuse(err);
  return NULL;
}

const Target target_cpu, target_gpu;
bool pass_run_all(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)ctx, (void)kernel;
  return refuse(err);
}
bool pass_run_derivative(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)ctx, (void)kernel;
  return refuse(err);
}
void pass_finish_task(Scratch *scratch, IrKernel *kernel, IrTask *task) {
  (void)scratch, (void)kernel, (void)task, fail();
}
bool refcounts_shows_order(const IrInst *inst) { (void)inst, fail(); }
bool refcounts_reaches(const IrInst *inst) { (void)inst, fail(); }
RefcountsUse refcounts_use(const IrKernel *kernel, IrRegion *body) {
  (void)kernel, (void)body, fail();
}
