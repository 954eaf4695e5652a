/* bitcode_data.c - embeds the runtime's bitcode, by the assembler. The build defines the paths. */
#define EMBED(symbol, path) \
  __asm__(".section .rodata\n.balign 16\n.hidden " symbol "\n.hidden " symbol "_end\n" \
          ".globl " symbol "\n" symbol ":\n.incbin \"" path "\"\n" \
          ".globl " symbol "_end\n" symbol "_end:\n.byte 0\n.previous\n")

EMBED("jit_bitcode_host", RG_BITCODE_HOST);
EMBED("jit_bitcode_maths", RG_BITCODE_MATHS);
EMBED("jit_bitcode_aarch64", RG_BITCODE_AARCH64);
EMBED("jit_bitcode_aarch64_maths", RG_BITCODE_AARCH64_MATHS);
EMBED("jit_bitcode_nvptx", RG_BITCODE_NVPTX);
