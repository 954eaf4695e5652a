/* api.h - how every call of regolith.h begins and ends: it admits one thread at a time, stores the
 * error, and returns a status. An error that belongs to no runtime (a NULL handle, a busy runtime)
 * is stored per thread, so that rg_error can report it without affecting the calls of other
 * threads. Within a call the program's guard (base/guard.h) is open: a failed assertion ends the
 * call with the error `internal`. */
#ifndef RG_API_API_H
#define RG_API_API_H

#include "kernel/kernel.h"
#include "program/program.h"
#include "tree/tree.h"

/* Begins a call. False, with runtime.busy for this thread, if the runtime is in use: by another
 * thread, or by a call of this one. */
bool api_enter(Program *program);
/* Ends a call that api_enter began. Returns 0 if `ok`, otherwise the number of its error. */
RgStatus api_leave(Program *program, bool ok);
/* argument.invalid for this thread: "rg_field_get: index is NULL". */
RgStatus api_refuse(const char *call, const char *what);
/* Stores the error of a call without a runtime for this thread; returns its number. */
RgStatus api_keep_error(const Error *err);
/* arch.c: finds the device of this name; NULL means the CPU. device.missing with the reason if
 * there is none. */
bool api_find_arch(const char *name, Arch *arch, Error *err);

/* Ends a call that a failed assertion has ended, in place of api_leave. */
RgStatus api_fail(Program *program);

/* Runs `call` between api_enter and api_leave; its error goes to API_ERR. */
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
