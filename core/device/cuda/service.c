/* service.c - PTX of the runtime's own entries, included by the assembler: services between
 * tasks (llvm_bc/service_cuda.c), and the entry that begins a launch (begin_cuda.c). The build
 * defines the paths. Both texts, rt_service_ptx and rt_begin_ptx of cuda.h, end in a 0. */
#define TEXT(name, path) \
  __asm__(".section .rodata\n.balign 16\n.hidden " name "\n.globl " name "\n" name \
          ":\n.incbin \"" path "\"\n.byte 0\n.previous\n")

TEXT("rt_service_ptx", RG_SERVICE_PTX);
TEXT("rt_begin_ptx", RG_BEGIN_PTX);
