/* item.h - arrays that kernels make (llvm_bc/array.c), outside of kernels: made, read and written.
 * Their elements may hold arrays, each with one reference. Such an array does not know what its
 * elements are: who calls says it, `type`, and is trusted to know. No launch uses it meanwhile. */
#ifndef RG_ARRAY_ITEM_H
#define RG_ARRAY_ITEM_H

#include "regolith.h"
#include "tree/store.h"

/* Zeros, which are no arrays; with one axis it can grow. NULL with err. */
RtCounted *item_create(Store *store, const char *type, const int64_t *extents, int32_t rank,
                       Error *err);
/* Element number `index`, row-major. Each array in the value brings a reference. */
bool item_get(Store *store, RtCounted *counted, const char *type, int64_t index, RgValue *value,
              Error *err);
/* Takes references of its own to arrays in the value, and gives back those that were there. */
bool item_set(Store *store, RtCounted *counted, const char *type, int64_t index,
              const RgValue *value, Error *err);
/* Elements of it, in the same memory, which stays where it is from then on; as far as there are so
 * many. NULL with err. */
RtCounted *item_slice(Store *store, RtCounted *counted, const char *type, int64_t first,
                      int64_t count, Error *err);
/* list.full: what it says of an array whose length stays. */
bool item_fail_length(Error *err);
/* From now on it has so many elements: new ones are zero. */
bool item_resize(Store *store, RtCounted *counted, const char *type, int64_t count, Error *err);

#endif
