/* table.c - checks that a device's table is whole, so that callers test for groups only. */
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

#define IS_WHOLE(GROUP) (!(GROUP) || is_filled(GROUP, sizeof *(GROUP)))

bool device_table_is_whole(const DeviceTable *table) {
  _Static_assert(sizeof(void *) == sizeof(table->launch), "a table is an array of pointers");
  return is_filled(table, offsetof(DeviceTable, blocks)) && IS_WHOLE(table->blocks) &&
         IS_WHOLE(table->tickets) && IS_WHOLE(table->access) && IS_WHOLE(table->mirror) &&
         IS_WHOLE(table->remote) && IS_WHOLE(table->pins) && IS_WHOLE(table->sharing) &&
         (!table->mirror || (table->access && table->remote));
}
