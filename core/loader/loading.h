/* loading.h - the state of an object that is being loaded, shared by object.c and the relocations
 * of each machine (relocate_x86_64.c, relocate_aarch64.c). Private to the loader. */
#ifndef RG_LOADER_LOADING_H
#define RG_LOADER_LOADING_H

#include <elf.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"

typedef enum Group { GROUP_CODE, GROUP_CONST, GROUP_DATA, GROUP_COUNT, GROUP_NONE } Group;

typedef struct Loading {
  Heap *heap;
  Error *err;
  const uint8_t *bytes;
  int64_t length;
  const Elf64_Shdr *sections;
  int section_count;
  const Elf64_Sym *symbols;
  int symbol_count;
  const char *names; /* of symbols */
  uint64_t names_size;
  uint64_t *section_offsets; /* by section: where it is in the mapping */
  uint64_t group_begin[GROUP_COUNT + 1];
  uint64_t stubs, got; /* offsets of the tables; entry k belongs to symbol k */
  uint8_t *memory;
} Loading;

/* Sets object.invalid with this reason; always false. */
bool loading_fail(Loading *l, const char *what);
/* The address of symbol `number`. */
bool loading_resolve(Loading *l, int number, uint64_t *address);
/* The address that a call of symbol `number` jumps to: the symbol's, or that of a stub if the
 * symbol is outside the object. */
bool loading_resolve_call(Loading *l, int number, uint64_t *address);
/* Fills the GOT word of symbol `number`, and returns its address. */
bool loading_got(Loading *l, int number, uint64_t *got);

/* relocate_*.c: what differs between the machines. */
enum { STUB_BYTES = 16 };
#define LOADING_NONE R_X86_64_NONE /* the same for all */
int relocation_width(uint32_t type);
/* Computes the relocation's value, and writes it to the relocation_width bytes at `field`. */
bool relocation_apply(Loading *l, const Elf64_Rela *rela, uint8_t *field);
/* Writes a stub at `code`, which jumps to the address in the GOT word. */
void relocation_stub(uint8_t *code, uint64_t got);
extern const Elf64_Half relocation_machine; /* EM_X86_64 .. */
extern const char relocation_machine_name[];

#endif
