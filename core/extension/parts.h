/* parts.h - what the files of this room share. For the room alone. */
#ifndef RG_EXTENSION_PARTS_H
#define RG_EXTENSION_PARTS_H

#include "extension/extension.h"

struct NativeFunction {
  const RgExtension *of;
  const RgExtensionFunction *function;
};

struct Opened {
  void *library;              /* dlopen's; stays open: its functions may be on some stack */
  char *path;
  const RgExtension *told;
  Opened *next;
};

/* What RgExtensionApi.error said in this thread, or "". */
const char *extension_message(void);
void extension_clear_message(void);

#endif
