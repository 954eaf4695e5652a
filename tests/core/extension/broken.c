/* broken.c - libraries that are no extensions of this runtime, by what is defined. */
#include "regolith.h"

const RgExtension *regolith_extension(const RgExtensionApi *api);

#if defined(BROKEN_SYMBOL) /* it needs what is nowhere */
int no_such_function(void);
const RgExtension *regolith_extension(const RgExtensionApi *api) {
  (void)api;
  no_such_function();
  return 0;
}
#elif defined(BROKEN_VERSION) /* it was compiled for another table */
const RgExtension *regolith_extension(const RgExtensionApi *api) {
  static const RgExtension extension = {.struct_size = sizeof extension, .version = 99};
  (void)api;
  return &extension;
}
#elif defined(BROKEN_REFUSES)
const RgExtension *regolith_extension(const RgExtensionApi *api) {
  api->error(api, "not today");
  return 0;
}
#endif
