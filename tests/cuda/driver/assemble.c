/* assemble.c - runs NVIDIA's assembler on a module, on request and if it is installed: it
 * reports the registers and memory of each entry, which this driver cannot determine. */
#include "assemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option.h"

static const char command[] =
    "a=$(command -v ptxas || ls /usr/local/cuda*/bin/ptxas 2>/dev/null | head -n 1); "
    "[ -n \"$a\" ] && \"$a\" -v -arch=sm_%d %s -o /dev/null %s 2>&1";

static Assembled *find(Module *module, const char *name, size_t length) {
  uint32_t number = names_find(&module->function_names, (Slice){name, (uint32_t)length});
  return number == NAME_NONE ? NULL : &module->assembled[number];
}

/* The number before ", N bytes smem"; 0: there is none. */
static int shared_in(const char *line) {
  const char *at = strstr(line, " bytes smem");
  if (!at) return 0;
  while (at > line && at[-1] != ' ') at--;
  return (int)strtol(at, NULL, 10);
}

/* Of each entry: "Compiling entry function 'name' for ..", "N bytes stack frame, ..", "Used N
 * registers, .., N bytes smem, ..". */
static void take_line(Module *module, const char *line, Assembled **entry) {
  const char *at = strstr(line, "entry function '");
  if (at) {
    at += strlen("entry function '");
    *entry = find(module, at, strcspn(at, "'"));
  } else if (*entry && strstr(line, " bytes stack frame")) {
    (*entry)->local_bytes = (int)strtol(line, NULL, 10);
  } else if (*entry && (at = strstr(line, "Used "))) {
    (*entry)->registers = (int)strtol(at + strlen("Used "), NULL, 10);
    (*entry)->shared_bytes = shared_in(line);
    *entry = NULL;
  }
}

static void run(Module *module, const char *path) {
  char text[sizeof command + 256], line[512];
  Assembled *entry = NULL;
  char most[40] = "";
  if (module->most_registers)
    snprintf(most, sizeof most, "--maxrregcount=%d", module->most_registers);
  snprintf(text, sizeof text, command, (int)options.capability, most, path);
  FILE *pipe = popen(text, "r");
  if (!pipe) return;
  while (fgets(line, sizeof line, pipe)) take_line(module, line, &entry);
  pclose(pipe);
}

static void assemble(Module *module) {
  char path[] = "/tmp/assemble-XXXXXX";
  int file = mkstemp(path);
  if (file < 0) return;
  size_t length = strlen(module->text);
  if (write(file, module->text, length) == (ssize_t)length) run(module, path);
  close(file);
  unlink(path);
}

const Assembled *assembled(const Function *function) {
  Module *module = function->module;
  if (!options.assemble) return NULL;
  if (!module->assembled) {
    module->assembled = calloc(module->functions.count, sizeof *module->assembled);
    if (!module->assembled) abort();
    assemble(module);
  }
  const Assembled *found = find(module, function->name.at, function->name.length);
  return found && found->registers ? found : NULL;
}
