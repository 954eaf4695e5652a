/* linkable.c - see linkable.h. */
#include "module/linkable.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "regolith.h"

static void append_bytes(Scratch *scratch, CoderBytes *out, const void *data, size_t length) {
  for (size_t k = 0; k < length; k++) vec_push(scratch, out, ((const uint8_t *)data)[k]);
}

static void pad(Scratch *scratch, CoderBytes *out, uint64_t align) {
  while ((uint64_t)out->count % align) vec_push(scratch, out, 0);
}

/* -- renaming ---------------------------------------------------------------------------------- */

static bool refuse_object(Error *err) {
  return error_set(err, RG_ERROR_OBJECT, "compiled code is invalid: it is not a complete object");
}

static bool is_in_object(int64_t length, uint64_t offset, uint64_t size) {
  return offset <= (uint64_t)length && size <= (uint64_t)length - offset;
}

/* A copy of the object's section headers; NULL if the bytes are not an object. */
static Elf64_Shdr *read_sections(Scratch *scratch, const uint8_t *object, int64_t length,
                                 Elf64_Ehdr *header) {
  if (length < (int64_t)sizeof *header) return NULL;
  memcpy(header, object, sizeof *header);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_type != ET_REL || header->e_shentsize != sizeof(Elf64_Shdr) || !header->e_shnum ||
      !is_in_object(length, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)))
    return NULL;
  Elf64_Shdr *sections = scratch_array(scratch, Elf64_Shdr, header->e_shnum);
  memcpy(sections, object + header->e_shoff, sizeof *sections * header->e_shnum);
  for (int k = 0; k < header->e_shnum; k++)
    if (sections[k].sh_type != SHT_NOBITS &&
        !is_in_object(length, sections[k].sh_offset, sections[k].sh_size))
      return NULL;
  return sections;
}

/* Appends the new names to the object's own, which other symbols and sections still use. */
static bool rename_symbols(Scratch *scratch, const uint8_t *object, const Elf64_Shdr *table,
                           const Elf64_Shdr *names, const char *prefix, CoderBytes *out,
                           CoderBytes *new_names, LinkableFunctions *functions) {
  const char *old_names = (const char *)object + names->sh_offset;
  if (!names->sh_size || old_names[names->sh_size - 1]) return false;
  append_bytes(scratch, new_names, old_names, names->sh_size);
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, object + table->sh_offset + at, sizeof symbol);
    if (symbol.st_name >= names->sh_size) return false;
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_shndx == SHN_UNDEF) continue;
    LinkableFunction function = {.name = old_names + symbol.st_name};
    function.symbol = scratch_format(scratch, "%s%s", prefix, function.name);
    symbol.st_name = (Elf64_Word)new_names->count;
    symbol.st_other = STV_HIDDEN;
    append_bytes(scratch, new_names, function.symbol, strlen(function.symbol) + 1);
    memcpy(out->items + table->sh_offset + at, &symbol, sizeof symbol);
    vec_push(scratch, functions, function);
  }
  return true;
}

bool linkable_rename(Scratch *scratch, const uint8_t *object, int64_t length, const char *prefix,
                     CoderBytes *out, LinkableFunctions *functions, int *machine, Error *err) {
  Elf64_Ehdr header;
  CoderBytes new_names = {0};
  int table = 0;
  Elf64_Shdr *sections = read_sections(scratch, object, length, &header);
  if (!sections) return refuse_object(err);
  while (table < header.e_shnum && sections[table].sh_type != SHT_SYMTAB) table++;
  if (table == header.e_shnum || sections[table].sh_link >= header.e_shnum)
    return refuse_object(err);
  Elf64_Shdr *names = &sections[sections[table].sh_link];
  if (names->sh_type != SHT_STRTAB) return refuse_object(err);
  append_bytes(scratch, out, object, (size_t)length);
  if (!rename_symbols(scratch, object, &sections[table], names, prefix, out, &new_names, functions))
    return refuse_object(err);
  names->sh_offset = (uint64_t)out->count;
  names->sh_size = (uint64_t)new_names.count;
  append_bytes(scratch, out, new_names.items, (size_t)new_names.count);
  memcpy(out->items + header.e_shoff, sections, sizeof *sections * header.e_shnum);
  *machine = header.e_machine;
  return true;
}

/* -- the table --------------------------------------------------------------------------------- */

enum Section {
  SECTION_NONE,
  SECTION_BYTES,
  SECTION_TABLE,
  SECTION_RELOCATIONS,
  SECTION_SYMBOLS,
  SECTION_NAMES,
  SECTION_STACK,
  SECTION_COUNT
};
enum { SYMBOL_NONE, SYMBOL_BYTES, SYMBOL_TABLE, SYMBOL_FIRST };

typedef struct Table {
  Scratch *scratch;
  CoderBytes *out;
  CoderBytes names;
  Elf64_Shdr sections[SECTION_COUNT];
  int machine;
} Table;

static Elf64_Word add_section_name(Table *table, const char *text) {
  Elf64_Word at = (Elf64_Word)table->names.count;
  append_bytes(table->scratch, &table->names, text, strlen(text) + 1);
  return at;
}

/* Begins a section: the content that follows belongs to it. */
static Elf64_Shdr *begin_section(Table *table, enum Section number, const char *name,
                                 Elf64_Word type, uint64_t flags) {
  pad(table->scratch, table->out, 16);
  Elf64_Shdr *section = &table->sections[number];
  *section = (Elf64_Shdr){.sh_name = add_section_name(table, name),
                          .sh_type = type,
                          .sh_flags = flags,
                          .sh_offset = (uint64_t)table->out->count,
                          .sh_addralign = 16};
  return section;
}

static void end_section(Table *table, Elf64_Shdr *section) {
  section->sh_size = (uint64_t)table->out->count - section->sh_offset;
}

static void put_table(Table *table, int64_t length, int32_t function_count) {
  RgLinkedModule head = {.length = length, .function_count = function_count};
  Elf64_Shdr *section =
      begin_section(table, SECTION_TABLE, ".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE);
  append_bytes(table->scratch, table->out, &head, sizeof head);
  for (uint64_t zero = 0, k = 0; k < (uint64_t)function_count; k++)
    append_bytes(table->scratch, table->out, &zero, sizeof zero);
  end_section(table, section);
}

static void put_address(Table *table, uint64_t offset, uint64_t symbol, int64_t addend) {
  uint64_t kind = table->machine == EM_AARCH64 ? R_AARCH64_ABS64 : R_X86_64_64;
  Elf64_Rela rela = {offset, ELF64_R_INFO(symbol, kind), addend};
  append_bytes(table->scratch, table->out, &rela, sizeof rela);
}

static void put_relocations(Table *table, int32_t function_count) {
  Elf64_Shdr *section = begin_section(table, SECTION_RELOCATIONS, ".rela.data.rel.ro", SHT_RELA, 0);
  int64_t head = sizeof(RgLinkedModule);
  put_address(table, offsetof(RgLinkedModule, bytes), SYMBOL_BYTES, 0);
  put_address(table, offsetof(RgLinkedModule, functions), SYMBOL_TABLE, head);
  for (int32_t k = 0; k < function_count; k++)
    put_address(table, (uint64_t)(head + 8 * k), (uint64_t)(SYMBOL_FIRST + k), 0);
  end_section(table, section);
  section->sh_link = SECTION_SYMBOLS;
  section->sh_info = SECTION_TABLE;
  section->sh_entsize = sizeof(Elf64_Rela);
}

static void put_symbol(Table *table, Elf64_Sym symbol) {
  append_bytes(table->scratch, table->out, &symbol, sizeof symbol);
}

static void put_symbols(Table *table, const char *name, const char *const *functions,
                        int32_t count) {
  Elf64_Shdr *section = begin_section(table, SECTION_SYMBOLS, ".symtab", SHT_SYMTAB, 0);
  put_symbol(table, (Elf64_Sym){0});
  for (enum Section k = SECTION_BYTES; k <= SECTION_TABLE; k++)
    put_symbol(table, (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = k});
  for (int32_t k = 0; k < count; k++)
    put_symbol(table, (Elf64_Sym){.st_name = add_section_name(table, functions[k]),
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
                                  .st_other = STV_HIDDEN});
  put_symbol(table, (Elf64_Sym){.st_name = add_section_name(table, name),
                                .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                .st_shndx = SECTION_TABLE,
                                .st_size = sizeof(RgLinkedModule)});
  end_section(table, section);
  section->sh_link = SECTION_NAMES;
  section->sh_info = SYMBOL_FIRST;
  section->sh_entsize = sizeof(Elf64_Sym);
}

void linkable_table(Scratch *scratch, const char *symbol, const uint8_t *bytes, int64_t length,
                    const char *const *functions, int32_t function_count, int machine,
                    CoderBytes *out) {
  Table table = {.scratch = scratch, .out = out, .machine = machine};
  Elf64_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_REL,
      .e_machine = (Elf64_Half)machine,
      .e_version = EV_CURRENT,
      .e_ehsize = sizeof header,
      .e_shentsize = sizeof(Elf64_Shdr),
      .e_shnum = SECTION_COUNT,
      .e_shstrndx = SECTION_NAMES};
  append_bytes(scratch, out, &header, sizeof header);
  add_section_name(&table, "");
  Elf64_Shdr *section = begin_section(&table, SECTION_BYTES, ".rodata", SHT_PROGBITS, SHF_ALLOC);
  append_bytes(scratch, out, bytes, (size_t)length);
  end_section(&table, section);
  put_table(&table, length, function_count);
  put_relocations(&table, function_count);
  put_symbols(&table, symbol, functions, function_count);
  begin_section(&table, SECTION_STACK, ".note.GNU-stack", SHT_PROGBITS, 0)->sh_addralign = 1;
  section = begin_section(&table, SECTION_NAMES, ".strtab", SHT_STRTAB, 0);
  append_bytes(scratch, out, table.names.items, (size_t)table.names.count);
  end_section(&table, section);
  pad(scratch, out, 8);
  header.e_shoff = (uint64_t)out->count;
  append_bytes(scratch, out, table.sections, sizeof table.sections);
  memcpy(out->items, &header, sizeof header);
}

/* -- archives ---------------------------------------------------------------------------------- */

enum { MEMBER_HEADER_BYTES = 60 };
static const char archive_magic[8] = {'!', '<', 'a', 'r', 'c', 'h', '>', '\n'};

/* Dates, owners and modes are always the same, so that equal modules make equal archives. */
static void put_member_header(Scratch *scratch, CoderBytes *out, const char *name, uint64_t size) {
  char head[MEMBER_HEADER_BYTES + 20]; /* a size of a member has at most 10 digits */
  snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8s%-10llu`\n", name, 0, 0, 0, "644",
           (unsigned long long)size);
  append_bytes(scratch, out, head, MEMBER_HEADER_BYTES);
}

static void put_big_endian(Scratch *scratch, CoderBytes *out, uint64_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) vec_push(scratch, out, (uint8_t)(number >> shift));
}

/* The size of the first member, an index: for each symbol the position of the member that defines
 * it. */
static uint64_t index_size(const LinkableMember *members, int32_t count, uint64_t *symbol_count) {
  uint64_t size = 4;
  *symbol_count = 0;
  for (int32_t k = 0; k < count; k++)
    for (int32_t s = 0; s < members[k].symbol_count; s++, ++*symbol_count)
      size += 4 + strlen(members[k].symbols[s]) + 1;
  return align_up(size, 2);
}

void linkable_archive(Scratch *scratch, const LinkableMember *members, int32_t count,
                      CoderBytes *out) {
  uint64_t symbol_count, size = index_size(members, count, &symbol_count);
  uint64_t at = sizeof archive_magic + MEMBER_HEADER_BYTES + size;
  append_bytes(scratch, out, archive_magic, sizeof archive_magic);
  put_member_header(scratch, out, "/", size);
  put_big_endian(scratch, out, symbol_count);
  for (int32_t k = 0; k < count; k++) {
    for (int32_t s = 0; s < members[k].symbol_count; s++) put_big_endian(scratch, out, at);
    at += MEMBER_HEADER_BYTES + align_up((uint64_t)members[k].bytes.count, 2);
  }
  for (int32_t k = 0; k < count; k++)
    for (int32_t s = 0; s < members[k].symbol_count; s++)
      append_bytes(scratch, out, members[k].symbols[s], strlen(members[k].symbols[s]) + 1);
  pad(scratch, out, 2);
  for (int32_t k = 0; k < count; k++) {
    put_member_header(scratch, out, scratch_format(scratch, "%s/", members[k].name),
                      (uint64_t)members[k].bytes.count);
    append_bytes(scratch, out, members[k].bytes.items, (size_t)members[k].bytes.count);
    pad(scratch, out, 2);
  }
  ASSERT((uint64_t)out->count == at, "every member is at the position in the index");
}
