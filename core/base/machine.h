/* machine.h - the machines that code is made for, and the one that this is. What differs between
 * them is in the files of their names, or behind these words: device/processor.c (what a processor
 * can do), loader/relocate_*.c (how an object's addresses are written), jit/object.c (LLVM's
 * targets). */
#ifndef RG_BASE_MACHINE_H
#define RG_BASE_MACHINE_H

typedef enum Machine { MACHINE_X86_64, MACHINE_AARCH64, MACHINE_COUNT } Machine;

/* ANY_PROCESSOR: the name, in jit/processor.def, of what each processor of this machine can do. */
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
