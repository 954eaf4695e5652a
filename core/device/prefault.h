/* prefault.h - pre-faults the pages of dense memory at the first launch that uses it. Private to
 * this room.
 *
 *     laid out --first launch of its tree--> present
 *
 * Huge pages are requested when the memory is laid out, so that the first access of any kind gets
 * them. Pages are not pre-faulted earlier, as fields that only the host uses, or that are never
 * used, may need no memory. */
#ifndef RG_DEVICE_PREFAULT_H
#define RG_DEVICE_PREFAULT_H

#include "device/cpu.h"

/* Requests huge pages for a range, and adds it to the pending ranges if it is small enough to be
 * pre-faulted at its first launch. */
void prefault_request(Device *device, uint8_t *from, uint64_t size_bytes);
/* Pre-faults the pending ranges that are roots of this launch's trees. */
void prefault_begin(CpuDevice *cpu, const RtContext *context);
/* Frees the memory, and removes it from the pending ranges. */
void prefault_free(Device *device, DeviceMemory *memory);
void prefault_destroy(CpuDevice *cpu);

#endif
