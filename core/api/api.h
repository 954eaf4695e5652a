/* api.h - the frame around every call of regolith.h: one thread inside, the error kept, a status
 * out. An error that belongs to no runtime (NULL for a handle, a busy runtime) is kept per thread,
 * so that rg_error can report it and no other thread's call is disturbed. Inside, the program's
 * guard (base/guard.h) is open: a failed assertion ends the call, with the error `internal`. */
#ifndef RG_API_API_H
#define RG_API_API_H

#include "kernel/kernel.h"
#include "program/program.h"
#include "tree/tree.h"

/* False, with runtime.busy for this thread, when another thread is inside. */
bool api_enter(Program *program);
/* Ends what api_enter began: `ok`, or the error's number. */
RgStatus api_leave(Program *program, bool ok);
/* argument.invalid for this thread: "rg_field_get: index is NULL". */
RgStatus api_refuse(const char *call, const char *what);
/* The error of a call without a runtime, kept for this thread; its number. */
RgStatus api_tell(const Error *err);
/* arch.c: the device of this name, if it is there. Else device.missing, saying why. NULL is the
 * CPU. */
bool api_find_arch(const char *name, Arch *arch, Error *err);

/* Ends what api_enter began and a failed assertion ended. */
RgStatus api_fail(Program *program);

/* `call` runs inside; its error goes to API_ERR. */
#define API_ERR(program) (&(program)->error)
#define API_CALL(program, call) \
  (!api_enter(program)              ? (RgStatus)RG_ERROR_BUSY \
   : setjmp((program)->guard.leave) ? api_fail(program) \
                                    : api_leave(program, (call)))
/* Refuses a NULL: `API_NEEDS(index)`. */
#define API_NEEDS(pointer) \
  do { \
    if (!(pointer)) return api_refuse(__func__, #pointer " is NULL"); \
  } while (0)

#define API_PROGRAM(handle) program_of(&(handle)->object)

#endif
