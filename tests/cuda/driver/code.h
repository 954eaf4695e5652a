/* code.h - a module of PTX after parsing: its functions as arrays of decoded instructions.
 *
 * A register is an array of 32 values, one per lane, in a frame (exec.h); a constant is such an
 * array in its function. An operand is a *place*: the byte offset of that array, with
 * PLACE_CONSTANT for constants. So an instruction need not distinguish the two.
 *
 * Local memory of a lane is a stack of frames. A frame of a function, from its lowest byte:
 *     its arguments | its results | its .local variables | .param of its calls
 * so that a .param of a device function is an address like any other. */
#ifndef PTX_CODE_H
#define PTX_CODE_H

#include "names.h"

typedef struct Warp Warp;
typedef struct Inst Inst;
typedef struct Function Function;
typedef struct Module Module;
typedef struct Assembled Assembled;
typedef void (*Run)(Warp *warp, const Inst *inst);

enum { LANES = 32, PLACE_CONSTANT = 1u << 31, PLACE_NONE = UINT32_MAX };

typedef enum Space {
  SPACE_GENERIC,
  SPACE_GLOBAL,
  SPACE_SHARED,
  SPACE_LOCAL,
  SPACE_PARAM, /* of an entry: the parameters of the launch */
  SPACE_FRAME, /* a .param of a device function: an offset in its frame */
} Space;

typedef struct Call { /* the copies that it makes in the lane's stack */
  struct Move {
    uint32_t from, to, size;
  } *moves;
  uint32_t argument_count, move_count; /* arguments first, then results */
  const Function *function;            /* NULL: through the register at `place` */
  uint32_t place;
} Call;

struct Inst {
  Run run;
  Run guarded; /* for the lanes whose guard holds */
  uint32_t d, a, b, c, e;
  uint32_t guard;
  uint32_t line;
  uint8_t space, size_bytes, count, negated;
  bool is_call, owns_places;
  int64_t offset; /* of an address; or a number that the instruction interprets */
  union {
    const Inst *target;
    uint32_t label;
    const Call *call;
    const struct Convert *convert;
    const uint32_t *places; /* of a vector's elements */
  } u;
};

typedef struct Param {
  Slice name;
  uint32_t offset, size;
} Param;

struct Function {
  Slice name;
  Module *module;
  bool is_entry, is_defined;
  Inst *code;
  uint32_t code_count;
  char *constants;
  uint32_t register_bytes, local_bytes, stack_bytes;
  Param *params, *results;
  uint32_t param_count, result_count, param_bytes, result_bytes;
  uint32_t max_threads;
  uint32_t variable_bytes; /* of its .local variables */
  uint32_t shared_bytes;   /* of variables that it names */
  bool calls;
  struct Frame *idle; /* frames for reuse */
  uint64_t launches, warp_instructions, thread_instructions, bytes_read, bytes_written, sectors;
};

typedef struct Variable {
  Slice name;
  Space space;
  uint64_t address, size; /* a device address; an offset in shared memory */
  uint32_t align;
  bool is_extern;
  const Function *named_by; /* the last one that named it */
} Variable;

struct Module {
  char *text;
  struct {
    Function **at;
    uint32_t count, room;
  } functions;
  struct {
    Variable *at;
    uint32_t count, room;
  } variables;
  Names function_names, variable_names;
  uint32_t shared_bytes;
  int target, version;  /* 80; 70 for 7.0 */
  int most_registers;   /* limit for the assembler; 0: none */
  Assembled *assembled; /* by function; NULL: not requested */
  uint32_t id;
};

/* Reads `text` (copied). NULL with a message in `log`. Variables get device memory from
 * memory.h. */
Module *module_read(const char *text, size_t length, char *log, size_t log_size);
void module_destroy(Module *module);

/* The address that PTX sees for a function, and back (NULL for any other number). */
uint64_t function_address(const Function *function);
const Function *function_at(uint64_t address);

#endif
