/* encode_call.c - `call (results), function, (arguments), prototype;`: which bytes of the caller's
 * frame are copied to the callee's, and back. */
#include <stdlib.h>

#include "flow.h"
#include "read.h"

typedef struct Moves {
  struct Move *at;
  uint32_t count, room;
} Moves;

/* Names of .param variables of the caller, in brackets. */
static void read_names(Reader *reader, Moves *moves) {
  read_expect(reader, "(");
  while (!reader->failed && !read_is(reader, ")")) {
    Slice name = read_word(reader);
    const Local *local = read_find_local(reader, name);
    if (!local || local->kind != LOCAL_PARAM) {
      read_fail(reader, "'%.*s' is not a .param of a call", (int)name.length, name.at);
      return;
    }
    PUSH(*moves, (struct Move){local->offset, local->align, local->size}); /* see lay_out */
    if (!read_accept(reader, ",")) break;
  }
  read_expect(reader, ")");
}

/* If the function is unknown (a call through a pointer), the layout is that of the caller's
 * variables, with their alignment: read.c lays out parameters likewise. On entry, `to` is that
 * alignment. */
static void lay_out(Reader *reader, const Param *params, uint32_t count, Moves *moves,
                    uint32_t first, const char *what) {
  uint32_t offset = 0, have = moves->count - first;
  if (params && have != count) {
    read_fail(reader, "a call with %u %s of %u", have, what, count);
    return;
  }
  for (uint32_t i = 0; i < have; i++) {
    struct Move *move = &moves->at[first + i];
    offset = (offset + move->to - 1) & ~(move->to - 1);
    move->to = params ? params[i].offset : offset;
    offset += move->size;
    if (params && params[i].size != move->size)
      read_fail(reader, "a call with an argument of %u bytes for %u", move->size, params[i].size);
  }
}

void encode_call(Reader *reader, Inst *inst) {
  Moves results = {0}, moves = {0};
  Call *call = calloc(1, sizeof *call);
  if (!call) abort();
  if (read_is(reader, "(")) {
    read_names(reader, &results);
    read_expect(reader, ",");
  }
  Slice target = read_word(reader);
  Type type;
  uint32_t found = names_find(&reader->module->function_names, target);
  if (found != NAME_NONE) call->function = reader->module->functions.at[found];
  else if (!read_find_register(reader, target, &call->place, &type) || type.bytes != 8)
    read_fail(reader, "Unknown symbol '%.*s'", (int)target.length, target.at);
  if (read_accept(reader, ",") && read_is(reader, "(")) {
    read_names(reader, &moves);
    if (read_accept(reader, ",")) read_word(reader); /* the prototype repeats the names' types */
  } else if (!read_is(reader, ";")) {
    read_word(reader);
  }
  read_expect(reader, ";");
  const Function *function = call->function;
  call->argument_count = moves.count;
  lay_out(reader, function ? function->params : NULL, function ? function->param_count : 0, &moves,
          0, "arguments");
  for (uint32_t i = 0; i < results.count; i++) PUSH(moves, results.at[i]);
  lay_out(reader, function ? function->results : NULL, function ? function->result_count : 0,
          &moves, call->argument_count, "results");
  for (uint32_t i = call->argument_count; i < moves.count; i++) { /* results are copied back */
    uint32_t from = moves.at[i].to;
    moves.at[i].to = moves.at[i].from;
    moves.at[i].from = from;
  }
  free(results.at);
  call->moves = moves.at;
  call->move_count = moves.count;
  inst->run = flow_call;
  inst->is_call = reader->function->calls = true;
  inst->u.call = call;
}
