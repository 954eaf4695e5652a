/* extension.h - a runtime's extensions in C: the table of functions that they call
 * (RgExtensionApi), how they are opened, and calls of their functions by the host or by kernels.
 * An extension lives as long as its runtime. Any thread may call the table's functions, whatever
 * the runtime is doing meanwhile. */
#ifndef RG_EXTENSION_EXTENSION_H
#define RG_EXTENSION_EXTENSION_H

#include "regolith.h"
#include "tree/memory/store.h"

typedef struct OpenExtension OpenExtension;
typedef struct NativeFunction NativeFunction;

typedef struct Extensions {
  RgExtensionApi api; /* must be first: the part that extensions see */
  Store *store;
  OpenExtension *opened;     /* newest first */
  NativeFunction *functions; /* of all extensions, in the order in which they were opened */
  int32_t function_count;
  _Atomic uint32_t lock; /* guards the following members */
  char failure[300];     /* of the first failed call by a kernel, until it is reported */
} Extensions;

/* Initialises the zero-filled table of a runtime. */
void extensions_init(Extensions *extensions, Store *store);
void extensions_deinit(Extensions *extensions); /* before the store ends */
/* Opens an extension unless it is open already; NULL with err. Borrowed until the runtime ends. */
const RgExtension *extension_open(Extensions *extensions, const char *path, Error *err);
/* Calls a function of an open extension; arguments in, results out. */
bool extension_call(Extensions *extensions, const RgExtensionFunction *function,
                    RgExtensionValue *values, Error *err);

/* The function's number in kernels; -1 if it is not a function of an open extension. */
int32_t extension_number(const Extensions *extensions, const RgExtensionFunction *function);
/* RtContext.native */
int32_t RT_CALL extension_call_native(RtContext *context, int32_t number, int64_t *values);
/* Sets the error of a launch in which function `number` failed; always false. */
bool extension_report(Extensions *extensions, int32_t number, Error *err);

#endif
