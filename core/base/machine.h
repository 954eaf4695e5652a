/* machine.h - the architectures that kernels are compiled for, and the one that this library was
 * built for. Their differences are in: device/processor.c (what a processor supports),
 * loader/relocate_*.c (how an object's addresses are written), jit/object.c (LLVM's targets). */
#ifndef RG_BASE_MACHINE_H
#define RG_BASE_MACHINE_H

typedef enum Machine { MACHINE_X86_64, MACHINE_AARCH64, MACHINE_COUNT } Machine;

/* ANY_PROCESSOR: the row of jit/processor.def that each processor of this architecture supports. */
#if defined(__x86_64__)
#define MACHINE_HERE MACHINE_X86_64
#define ANY_PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define MACHINE_HERE MACHINE_AARCH64
#define ANY_PROCESSOR "aarch64"
#else
#error "Regolith runs on x86-64 and on aarch64"
#endif

#endif
