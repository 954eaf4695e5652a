/* presence.h - dense memory that is made present by the first launch that has it. For the room
 * alone.
 *
 *     settled --first launch of its tree--> present
 *
 * Its pages are advised to be large when it is laid out, so that they are, whoever touches them
 * first; but a field that only the host uses, or that nobody uses, takes no memory. */
#ifndef RG_DEVICE_PRESENCE_H
#define RG_DEVICE_PRESENCE_H

#include "device/cpu.h"

void presence_settle(Device *device, uint8_t *from, uint64_t size_bytes);
/* Makes present what waits and begins a tree of this launch. */
void presence_begin(CpuDevice *cpu, const RtContext *context);
/* Frees the memory; it waits for nothing any more. */
void presence_free(Device *device, DeviceMemory *memory);
void presence_destroy(CpuDevice *cpu);

#endif
