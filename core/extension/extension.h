/* extension.h - extensions in C of a runtime: the table that they call (RgExtensionApi), how they
 * are opened, and calls of their functions, from the host or by kernels.
 * An extension stays as long as its runtime. The table's functions may be called by any thread, and
 * have nothing to do with what the runtime is doing meanwhile. */
#ifndef RG_EXTENSION_EXTENSION_H
#define RG_EXTENSION_EXTENSION_H

#include "regolith.h"
#include "tree/store.h"

typedef struct Opened Opened;
typedef struct NativeFunction NativeFunction;

typedef struct Extensions {
  RgExtensionApi api;         /* first: what extensions see */
  Store *store;
  Opened *opened;             /* newest first */
  NativeFunction *functions;  /* of all of them, in the order in which they were opened */
  int32_t function_count;
  _Atomic uint32_t lock;      /* of what follows */
  char failure[300];          /* of the first call by a kernel that failed, until it is told */
} Extensions;

/* The table of a runtime; NULL: it has ended. Zero-filled before. */
void extensions_init(Extensions *extensions, Store *store);
void extensions_deinit(Extensions *extensions); /* before the store ends */
/* Opens it, unless it is open; NULL with err. Borrowed as long as the runtime. */
const RgExtension *extension_open(Extensions *extensions, const char *path, Error *err);
/* Calls a function of an open extension; arguments in, results out. */
bool extension_call(Extensions *extensions, const RgExtensionFunction *function,
                    RgExtensionValue *values, Error *err);

/* Its number in kernels; -1: it is no function of an open extension. */
int32_t extension_number(const Extensions *extensions, const RgExtensionFunction *function);
/* RtContext.native */
int32_t extension_call_native(RtContext *context, int32_t number, int64_t *values);
/* The error of a launch in which that function failed. */
bool extension_tell(Extensions *extensions, int32_t number, Error *err);

#endif
