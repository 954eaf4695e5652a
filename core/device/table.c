/* table.c - checks that a device's table is complete, so that callers need to test only for
 * groups. */
#include <stddef.h>
#include <string.h>

#include "device/device.h"

/* Is each pointer of these bytes set? */
static bool is_filled(const void *table, size_t size_bytes) {
  for (size_t at = 0; at < size_bytes; at += sizeof(void *)) {
    const void *entry;
    memcpy(&entry, (const uint8_t *)table + at, sizeof entry);
    if (!entry) return false;
  }
  return true;
}

#define IS_COMPLETE(GROUP) (!(GROUP) || is_filled(GROUP, sizeof *(GROUP)))

bool device_table_is_complete(const DeviceTable *table) {
  _Static_assert(sizeof(void *) == sizeof(table->launch), "a table is an array of pointers");
  return is_filled(table, offsetof(DeviceTable, blocks)) && IS_COMPLETE(table->blocks) &&
         IS_COMPLETE(table->tickets) && IS_COMPLETE(table->access) && IS_COMPLETE(table->mirror) &&
         IS_COMPLETE(table->remote) && IS_COMPLETE(table->pins) && IS_COMPLETE(table->sharing) &&
         (!table->mirror || (table->access && table->remote));
}
