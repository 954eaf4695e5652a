/* parts.h - shared by the files of this room; private to it. */
#ifndef RG_EXTENSION_PARTS_H
#define RG_EXTENSION_PARTS_H

#include "extension/extension.h"

struct NativeFunction {
  const RgExtension *extension;
  const RgExtensionFunction *function;
};

struct OpenExtension {
  void *library; /* dlopen's; never closed, as its functions may be on some stack */
  char *path;
  const RgExtension *extension;
  OpenExtension *next;
};

/* The message that RgExtensionApi.error has set in this thread, or "". */
const char *extension_message(void);
void extension_clear_message(void);

#endif
