/* read.h - the parser of PTX. The first mistake is stored in the log, with its line, and ends
 * parsing: later calls see the end of the text. */
#ifndef PTX_READ_H
#define PTX_READ_H

#include "code.h"
#include "convert.h"

typedef struct Register {
  Slice name; /* of a range: without its number */
  Type type;
  uint32_t first, count, bytes; /* places first, first + bytes, ..; count 0: one, of that name */
} Register;

typedef enum LocalKind { LOCAL_PARAM, LOCAL_VARIABLE, LOCAL_PROTOTYPE } LocalKind;
typedef struct Local { /* a local name of the function, in its frame */
  Slice name;
  LocalKind kind;
  uint32_t offset, size, align;
} Local;

typedef struct Constant {
  uint64_t bits;
  uint32_t bytes, place;
} Constant;

typedef struct Fixup { /* where to write the address of a symbol */
  Slice name;
  uint64_t address, addend;
  uint32_t bytes, line, shift;
} Fixup;

typedef struct Reader {
  Text text;
  Module *module;
  char *log;
  size_t log_size;
  bool failed;
  uint32_t line; /* of the statement being read */
  struct {
    Fixup *at;
    uint32_t count, room;
  } fixups;
  /* of the function being read */
  Function *function;
  struct {
    Register *at;
    uint32_t count, room;
  } registers;
  struct {
    Local *at;
    uint32_t count, room;
  } locals;
  struct {
    Constant *at;
    uint32_t count, room;
  } constants;
  struct {
    Inst *at;
    uint32_t count, room;
  } code;
  Names labels, constant_names;
  struct {
    Slice *at;
    uint32_t count, room;
  } label_names;
  struct {
    uint32_t *at;
    uint32_t count, room;
  } label_places;
  uint32_t register_bytes, constant_bytes;
} Reader;

bool read_fail(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tokens. */
bool read_is(const Reader *reader, const char *text);
bool read_accept(Reader *reader, const char *text);
bool read_expect(Reader *reader, const char *text);
Slice read_word(Reader *reader);
int64_t read_number(Reader *reader);                   /* with a sign */
bool type_of(Slice word, Type *type, uint32_t *lanes); /* ".u32", "u32" */

/* read.c: `.shared .align 4 .b8 name[8] = {..};`, past its first word. */
void read_variable(Reader *reader, Space space, bool is_extern);
/* read_body.c: from `{` to `}`. */
void read_body(Reader *reader);
uint32_t read_constant(Reader *reader, uint64_t bits, uint32_t bytes); /* its place */
uint32_t read_label(Reader *reader, Slice name);                       /* its number */
const Local *read_find_local(const Reader *reader, Slice name);
bool read_find_register(const Reader *reader, Slice name, uint32_t *place, Type *type);

/* operand.c */
typedef enum OperandKind {
  OPERAND_REGISTER,
  OPERAND_NUMBER,
  OPERAND_NAME,
  OPERAND_ADDRESS, /* [name, register or number, + offset] */
  OPERAND_VECTOR,
  OPERAND_SINK, /* _ */
} OperandKind;
typedef struct Operand Operand;
struct Operand {
  OperandKind kind, base; /* of an address: the kind of its base */
  bool negated;
  Slice name;
  uint32_t place;
  Type type;
  uint64_t bits;
  int float_width;
  int64_t offset;
  Operand *elements;
  uint32_t count;
  uint32_t second; /* the place of a predicate past a `|`, or PLACE_NONE */
};
void operand_read(Reader *reader, Operand *operand);
void operand_free(Operand *operand);
/* The place of a value of so many bytes: a register, or a constant. */
uint32_t operand_value(Reader *reader, const Operand *operand, uint32_t bytes);
uint32_t operand_target(Reader *reader, const Operand *operand, uint32_t bytes);
/* The base of an address, its space (from the instruction's name), its offset. */
void operand_address(Reader *reader, const Operand *operand, Space space, Inst *inst);
/* Is it the name of a parameter or .local variable? Its offset. */
bool operand_own_address(Reader *reader, const Operand *operand, uint64_t *address, Space *space);
/* The address of a symbol in its space, if that is a constant. */
bool symbol_address(Reader *reader, Slice name, uint64_t *address, Space *space);

/* encode.c: one instruction, without its guard, into reader->code. */
void encode(Reader *reader, Slice opcode, Operand *operands, uint32_t count, Inst inst);
void encode_memory(Reader *reader, Slice opcode, Operand *operands, uint32_t count, Inst *inst);
void encode_sync(Reader *reader, Slice opcode, Operand *operands, uint32_t count, Inst *inst);
/* call.c: the rest of a call, past its opcode. */
void encode_call(Reader *reader, Inst *inst);

/* The parts of an opcode. */
typedef struct Parts {
  Slice at[16];
  uint32_t count;
} Parts;
Parts parts_of(Slice opcode);
bool parts_have(const Parts *parts, const char *word);
Space parts_space(const Parts *parts);
/* Types at the end of an opcode: cvt has two. */
Type parts_type(const Parts *parts, uint32_t from_the_end);

#endif
