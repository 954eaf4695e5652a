/* object.c - loads an ELF object into one executable mapping.
 *
 *     | code sections | stubs | page | read-only sections | GOT | page | writable sections |
 *
 * Stubs reach far functions, GOT words hold the addresses of symbols; both are made for every
 * undefined symbol, so that any relocation to one can be resolved. The loader reads nothing outside
 * the given bytes: it checks every offset, size and index of the file before use. The machine's
 * relocations are in relocate_*.c; any other is object.invalid, and the message has its number. */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "loader/code.h"
#include "loader/loader.h"
#include "loader/loading.h"
#include "loader/symbols.h"

enum { GOT_BYTES = 8, MAX_OBJECT_BYTES = 1 << 28, MAX_ALIGN = 4096 };

bool loading_fail(Loading *l, const char *what) {
  return error_set(l->err, RG_ERROR_OBJECT, "compiled code is invalid: %s", what);
}

static bool is_inside(const Loading *l, uint64_t offset, uint64_t size) {
  return offset <= (uint64_t)l->length && size <= (uint64_t)l->length - offset;
}

static Group group_of(const Elf64_Shdr *section) {
  if (!(section->sh_flags & SHF_ALLOC) || !section->sh_size || section->sh_type == SHT_NULL)
    return GROUP_NONE;
  if (section->sh_flags & SHF_EXECINSTR) return GROUP_CODE;
  return section->sh_flags & SHF_WRITE ? GROUP_DATA : GROUP_CONST;
}

static bool read_symbols(Loading *l, const Elf64_Shdr *table) {
  if (table->sh_link >= (uint32_t)l->section_count)
    return loading_fail(l, "its symbol table has no names");
  const Elf64_Shdr *names = &l->sections[table->sh_link];
  if (!is_inside(l, names->sh_offset, names->sh_size) || !names->sh_size ||
      names->sh_type != SHT_STRTAB || l->bytes[names->sh_offset + names->sh_size - 1] != 0)
    return loading_fail(l, "its names are truncated");
  if (table->sh_offset % 8 || table->sh_size / sizeof(Elf64_Sym) > MAX_OBJECT_BYTES)
    return loading_fail(l, "its symbol table is misplaced");
  l->symbols = (const Elf64_Sym *)(const void *)(l->bytes + table->sh_offset);
  l->symbol_count = (int)(table->sh_size / sizeof(Elf64_Sym));
  l->names = (const char *)l->bytes + names->sh_offset;
  l->names_size = names->sh_size;
  for (int i = 0; i < l->symbol_count; i++)
    if (l->symbols[i].st_name >= l->names_size)
      return loading_fail(l, "a symbol's name is outside");
  return true;
}

static bool read_headers(Loading *l) {
  if (l->length < (int64_t)sizeof(Elf64_Ehdr) || l->length > MAX_OBJECT_BYTES ||
      (uintptr_t)l->bytes % 8)
    return loading_fail(l, "it is too short, too long or misaligned");
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)l->bytes;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_type != ET_REL || header->e_machine != relocation_machine ||
      header->e_shentsize != sizeof(Elf64_Shdr))
    return error_set(l->err, RG_ERROR_OBJECT, "compiled code is invalid: it is not %s object",
                     relocation_machine_name);
  if (header->e_shoff % 8 ||
      !is_inside(l, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
    return loading_fail(l, "its section table is truncated");
  l->sections = (const Elf64_Shdr *)(const void *)(l->bytes + header->e_shoff);
  l->section_count = header->e_shnum;
  for (int i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *section = &l->sections[i];
    if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
        !is_inside(l, section->sh_offset, section->sh_size))
      return loading_fail(l, "a section is truncated");
    if (section->sh_size > MAX_OBJECT_BYTES || section->sh_addralign > MAX_ALIGN ||
        (section->sh_addralign && !is_power_of_two(section->sh_addralign)))
      return loading_fail(l, "a section has an impossible size or alignment");
    if (section->sh_flags & SHF_TLS) return loading_fail(l, "it has thread-local data");
  }
  for (int i = 0; i < l->section_count; i++)
    if (l->sections[i].sh_type == SHT_SYMTAB) return read_symbols(l, &l->sections[i]);
  return loading_fail(l, "it has no symbol table");
}

/* Offsets of all sections and tables; the mapping's size is group_begin[GROUP_COUNT]. */
static bool place_sections(Loading *l, uint64_t page) {
  uint64_t at = 0;
  for (Group group = GROUP_CODE; group < GROUP_COUNT; group++) {
    at = align_up(at, page);
    l->group_begin[group] = at;
    for (int i = 0; i < l->section_count; i++) {
      if (group_of(&l->sections[i]) != group) continue;
      at = align_up(at, max_i64(1, (int64_t)l->sections[i].sh_addralign));
      l->section_offsets[i] = at;
      at += l->sections[i].sh_size;
      if (at > MAX_OBJECT_BYTES) return loading_fail(l, "it is too large");
    }
    at = align_up(at, 64);
    if (group == GROUP_CODE) {
      l->stubs = at;
      at += (uint64_t)l->symbol_count * STUB_BYTES;
    } else if (group == GROUP_CONST) {
      l->got = at;
      at += (uint64_t)l->symbol_count * GOT_BYTES;
    }
  }
  l->group_begin[GROUP_COUNT] = align_up(at, page);
  return true;
}

bool loading_resolve(Loading *l, int number, uint64_t *address) {
  const Elf64_Sym *symbol = &l->symbols[number];
  const char *name = l->names + symbol->st_name;
  if (symbol->st_shndx == SHN_ABS) {
    *address = symbol->st_value;
    return true;
  }
  if (symbol->st_shndx == SHN_UNDEF) {
    *address = (uint64_t)(uintptr_t)symbol_find(name);
    if (*address) return true;
    return error_set(l->err, RG_ERROR_OBJECT,
                     "compiled code calls '%.80s', which kernels may not call", name);
  }
  if (symbol->st_shndx >= l->section_count ||
      group_of(&l->sections[symbol->st_shndx]) == GROUP_NONE ||
      symbol->st_value > l->sections[symbol->st_shndx].sh_size)
    return loading_fail(l, "a symbol is outside its section");
  *address =
      (uint64_t)(uintptr_t)(l->memory + l->section_offsets[symbol->st_shndx] + symbol->st_value);
  return true;
}

static bool is_placed(const Loading *l, const Elf64_Sym *symbol) {
  return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < l->section_count &&
         group_of(&l->sections[symbol->st_shndx]) != GROUP_NONE;
}

/* Both tables are filled when an entry is first needed. */
bool loading_got(Loading *l, int number, uint64_t *got) {
  uint64_t address;
  if (!loading_resolve(l, number, &address)) return false;
  *got = (uint64_t)(uintptr_t)(l->memory + l->got + (uint64_t)number * GOT_BYTES);
  memcpy((void *)(uintptr_t)*got, &address, sizeof address);
  return true;
}

bool loading_resolve_call(Loading *l, int number, uint64_t *address) {
  uint64_t got;
  if (is_placed(l, &l->symbols[number])) return loading_resolve(l, number, address);
  if (!loading_got(l, number, &got)) return false;
  uint8_t *code = l->memory + l->stubs + (uint64_t)number * STUB_BYTES;
  relocation_stub(code, got);
  *address = (uint64_t)(uintptr_t)code;
  return true;
}

static bool relocate(Loading *l, const Elf64_Rela *rela, uint8_t *section, uint64_t section_size) {
  uint32_t type = ELF64_R_TYPE(rela->r_info);
  if (type == LOADING_NONE) return true;
  uint64_t width = (uint64_t)relocation_width(type);
  if (!width)
    return error_set(l->err, RG_ERROR_OBJECT, "compiled code has a relocation of unknown kind %u",
                     type);
  if (ELF64_R_SYM(rela->r_info) >= (uint64_t)l->symbol_count || section_size < width ||
      rela->r_offset > section_size - width)
    return loading_fail(l, "a relocation is outside its section");
  return relocation_apply(l, rela, section + rela->r_offset);
}

static bool fill_and_relocate(Loading *l) {
  for (int i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *section = &l->sections[i];
    if (group_of(section) != GROUP_NONE && section->sh_type != SHT_NOBITS)
      memcpy(l->memory + l->section_offsets[i], l->bytes + section->sh_offset, section->sh_size);
  }
  for (int i = 0; i < l->section_count; i++) {
    const Elf64_Shdr *table = &l->sections[i];
    if (table->sh_type == SHT_REL) return loading_fail(l, "it has relocations without addends");
    if (table->sh_type != SHT_RELA || table->sh_info >= (uint32_t)l->section_count) continue;
    const Elf64_Shdr *section = &l->sections[table->sh_info];
    if (group_of(section) == GROUP_NONE) continue;
    if (table->sh_offset % 8) return loading_fail(l, "its relocations are misplaced");
    const Elf64_Rela *relas = (const Elf64_Rela *)(const void *)(l->bytes + table->sh_offset);
    for (uint64_t k = 0; k < table->sh_size / sizeof *relas; k++)
      if (!relocate(l, &relas[k], l->memory + l->section_offsets[table->sh_info], section->sh_size))
        return false;
  }
  return true;
}

static bool protect(Loading *l) {
  static const int protections[GROUP_COUNT] = {PROT_READ | PROT_EXEC, PROT_READ,
                                               PROT_READ | PROT_WRITE};
  char *code = (char *)l->memory;
  __builtin___clear_cache(code, code + l->group_begin[GROUP_CODE + 1]); /* of instructions */
  for (Group group = GROUP_CODE; group < GROUP_COUNT; group++) {
    uint64_t begin = l->group_begin[group], end = l->group_begin[group + 1];
    if (begin < end && mprotect(l->memory + begin, end - begin, protections[group]))
      return error_set(l->err, RG_ERROR_MEMORY, "the system refuses to make memory executable");
  }
  return true;
}

static bool collect_functions(Loading *l, Code *code) {
  for (int i = 1; i < l->symbol_count; i++) {
    const Elf64_Sym *symbol = &l->symbols[i];
    uint64_t address;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !is_placed(l, symbol)) continue;
    if (!loading_resolve(l, i, &address)) return false;
    if (!code_add(code, l->names + symbol->st_name, (void *)(uintptr_t)address, symbol->st_size))
      return error_set(l->err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  }
  return true;
}

static bool load(Loading *l, Code **out) {
  if (!read_headers(l)) return false;
  l->section_offsets =
      heap_alloc(l->heap, sizeof *l->section_offsets * (size_t)(l->section_count + 1));
  if (!l->section_offsets)
    return error_set(l->err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  if (!place_sections(l, (uint64_t)sysconf(_SC_PAGESIZE))) return false;
  uint64_t size = l->group_begin[GROUP_COUNT];
  if (!size) return loading_fail(l, "it is empty");
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return error_set(l->err, RG_ERROR_MEMORY, "the system has no memory left for compiled code");
  l->memory = memory;
  Code *code = code_create(l->heap, memory, size);
  if (!code) {
    munmap(memory, size);
    return error_set(l->err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  }
  if (fill_and_relocate(l) && protect(l) && collect_functions(l, code)) {
    *out = code;
    return true;
  }
  code_destroy(code);
  return false;
}

Code *object_load_elf(Heap *heap, const uint8_t *object, int64_t length, Error *err) {
  Loading loading = {.heap = heap, .err = err, .bytes = object, .length = length};
  Code *code = NULL;
  load(&loading, &code);
  heap_free(heap, loading.section_offsets);
  return code;
}
