/* cuda_service.c - PTX of the runtime's service entries (llvm_bc/service_cuda.c), included by the
 * assembler. The build defines the path. Text that ends in a 0: rt_service_ptx of cuda.h. */
__asm__(".section .rodata\n.balign 16\n.hidden rt_service_ptx\n.globl rt_service_ptx\n"
        "rt_service_ptx:\n.incbin \"" RG_SERVICE_PTX "\"\n.byte 0\n.previous\n");
