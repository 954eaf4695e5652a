/* library_data.c - the *.lua files of this folder, one after the other, included by the assembler.
 * The build defines the path. */
__asm__(".section .rodata\n.hidden library_text\n.globl library_text\nlibrary_text:\n"
        ".incbin \"" RG_LIBRARY_TEXT "\"\n.byte 0\n.previous\n");
