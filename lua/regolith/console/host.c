/* host.c - the `regolith` program: LuaJIT with Regolith at hand.
 * Options, scripts, `arg`, chunk names and exit codes are those of `luajit` (tests/install compares
 * the two). In addition, the module is found next to the program, wherever that is; `rg` is a
 * global in -e and at the prompt; and a first word that is a command, not a file (run, info, docs,
 * examples, new, build, cache), runs lua/regolith/console/command.lua. In a bundle (`regolith build
 * --bundle`), which has a ../share/app/main.lua, the program runs that script and reads no options:
 * all words are the script's arguments.
 *
 * Folders relative to the program's own file:  ../share/lua/5.1/regolith   the Lua modules
 *                                              ../share/regolith/examples  the examples
 * The build folder has links in the same places. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <lua.h>
#include <luajit.h>
#include <lualib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "regolith.h"

typedef struct Host {
  lua_State *lua;
  const char *name; /* as it was called, for messages */
  char **argv;
  int argc, script; /* argv[script]: the script, or argc */
  bool is_interactive, shows_version, ignores_environment, has_chunk;
  char app[PATH_MAX]; /* of a bundle: its script; else "" */
  bool has_unseen;    /* a queued launch has failed, and no call of the script has reported it */
  int status;
} Host;

/* -- running ----------------------------------------------------------------------------------- */

/* Whether the frame belongs to a module of ours, or to code that one generated. error.lua stores
 * the folder of these modules in the registry. */
static bool is_ours(lua_State *lua, const lua_Debug *frame) {
  if (!strcmp(frame->source, "=(regolith)")) return true;
  lua_getfield(lua, LUA_REGISTRYINDEX, "regolith.home");
  const char *home = lua_tostring(lua, -1);
  bool ours = home && !strncmp(frame->source, home, strlen(home));
  lua_pop(lua, 1);
  return ours;
}

/* Whether a level of the stack is left out: it is ours, or a function in C that ours called. */
static bool is_hidden(lua_State *lua, int level) {
  lua_Debug frame;
  do {
    if (!lua_getstack(lua, level++, &frame) || !lua_getinfo(lua, "S", &frame)) return false;
  } while (frame.what[0] == 'C');
  return is_ours(lua, &frame);
}

static void add_frame(lua_State *lua, luaL_Buffer *out, int level) {
  lua_Debug frame;
  char line[LUA_IDSIZE + 64];
  if (!lua_getstack(lua, level, &frame) || !lua_getinfo(lua, "Snlf", &frame)) return;
  void *function = (void *)lua_tocfunction(lua, -1);
  lua_pop(lua, 1);
  snprintf(line, sizeof line, "\n\t%s:", frame.short_src);
  luaL_addstring(out, line);
  if (frame.currentline > 0) {
    snprintf(line, sizeof line, "%d:", frame.currentline);
    luaL_addstring(out, line);
  }
  if (frame.what[0] == 'm') snprintf(line, sizeof line, " in main chunk");
  else if (frame.namewhat[0]) snprintf(line, sizeof line, " in function '%.80s'", frame.name);
  else if (frame.what[0] == 'C') snprintf(line, sizeof line, " at %p", function);
  else snprintf(line, sizeof line, " in function <%s:%d>", frame.short_src, frame.linedefined);
  luaL_addstring(out, line);
}

/* The number of levels; *hidden is how many of them, from `first` on, are left out. */
static int count_frames(lua_State *lua, int first, int *hidden) {
  lua_Debug frame;
  int depth = first;
  *hidden = 0;
  for (; lua_getstack(lua, depth, &frame); depth++)
    if (is_hidden(lua, depth)) ++*hidden;
  return depth;
}

/* Pushes `message` and the user's own frames; with RG_TRACE=1, all frames. If no frame is ours,
 * this is luajit's own traceback, to the letter. An error of ours was raised by a tail call to
 * `error`, which is level 1. */
static void push_traceback(lua_State *lua, const char *message, bool is_failure) {
  enum { FIRST = 12, LAST = 10 };
  const char *trace = getenv("RG_TRACE");
  int first = is_failure ? 2 : 1, hidden, depth = count_frames(lua, first, &hidden), shown = 0;
  int left = depth - first - hidden;
  if ((!hidden && !is_failure) || (trace && trace[0] == '1')) {
    luaL_traceback(lua, lua, message, 1);
    return;
  }
  luaL_Buffer out;
  luaL_buffinit(lua, &out);
  luaL_addstring(&out, message);
  luaL_addstring(&out, "\nstack traceback:");
  for (int level = first; level < depth; level++) {
    if (is_hidden(lua, level)) continue;
    bool is_between = shown >= FIRST && left - shown > LAST;
    if (!is_between) add_frame(lua, &out, level);
    else if (shown == FIRST) luaL_addstring(&out, "\n\t...");
    shown++;
  }
  luaL_pushresult(&out);
}

static int add_traceback(lua_State *lua) {
  interrupt_silence(lua);
  bool is_failure = luaL_getmetafield(lua, 1, "__regolith");
  if (is_failure) lua_pop(lua, 1);
  if (!lua_isstring(lua, 1)) {
    if (lua_isnoneornil(lua, 1) || !luaL_callmeta(lua, 1, "__tostring") || !lua_isstring(lua, -1))
      return 1;
    lua_remove(lua, 1);
  }
  push_traceback(lua, lua_tostring(lua, 1), is_failure);
  return 1;
}

/* Calls the function below its `count` arguments; leaves the results, or the error with its
 * traceback. */
static int call(lua_State *lua, int count, int results) {
  int base = lua_gettop(lua) - count;
  lua_pushcfunction(lua, add_traceback);
  lua_insert(lua, base);
  interrupt_begin(lua);
  int status = lua_pcall(lua, count, results, base);
  interrupt_end();
  lua_remove(lua, base);
  if (status) lua_gc(lua, LUA_GCCOLLECT, 0);
  return status;
}

/* call(f, ...) for the prompt: returns true and the results, or false and the error. */
static int call_from_lua(lua_State *lua) {
  int status = call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
  lua_pushboolean(lua, !status);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

/* "rank 1: " if a launcher of ranks started this process, else "". */
static const char *rank_of(char text[32]) {
  static const char *const names[][2] = {{"RG_RANKS", "RG_RANK"},
                                         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                         {"PMI_SIZE", "PMI_RANK"}};
  text[0] = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *ranks = getenv(names[k][0]), *rank = getenv(names[k][1]);
    if (!ranks || !rank || strtol(ranks, NULL, 10) < 2) continue;
    snprintf(text, 32, "rank %ld: ", strtol(rank, NULL, 10));
    break;
  }
  return text;
}

static bool report(Host *host, int status) {
  if (status && !lua_isnil(host->lua, -1)) {
    const char *message = lua_tostring(host->lua, -1);
    if (!message) message = "(error object is not a string)";
    char rank[32];
    fprintf(stderr, "%s: %s%s\n", host->name, rank_of(rank), message);
    fflush(stderr);
    lua_pop(host->lua, 1);
  }
  return status == 0;
}

/* lib.lua calls this. */
static int note_unseen(lua_State *lua) {
  Host *host = lua_touserdata(lua, lua_upvalueindex(1));
  host->has_unseen = true;
  return 0;
}

/* os.exit, which closes no runtime unless requested: waits for queued work and reports failures
 * first, as the end of a script does. */
static int leave(lua_State *lua) {
  const Host *host = lua_touserdata(lua, lua_upvalueindex(2));
  int count = lua_gettop(lua);
  lua_getfield(lua, LUA_REGISTRYINDEX, "regolith.look");
  if (!lua_isfunction(lua, -1) || lua_pcall(lua, 0, 0, 0)) lua_pop(lua, 1);
  bool is_success = !count || (lua_isboolean(lua, 1) && lua_toboolean(lua, 1)) ||
                    (lua_isnumber(lua, 1) && lua_tonumber(lua, 1) == 0);
  if (host->has_unseen && is_success) {
    lua_pushinteger(lua, EXIT_FAILURE);
    if (count) lua_replace(lua, 1);
    else count = 1;
  }
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, count, 0);
  return 0;
}

static void watch_failures(Host *host) {
  lua_State *lua = host->lua;
  lua_pushlightuserdata(lua, host);
  lua_pushcclosure(lua, note_unseen, 1);
  lua_setfield(lua, LUA_REGISTRYINDEX, "regolith.unseen");
  lua_getglobal(lua, "os");
  lua_getfield(lua, -1, "exit");
  lua_pushlightuserdata(lua, host);
  lua_pushcclosure(lua, leave, 2);
  lua_setfield(lua, -2, "exit");
  lua_pop(lua, 1);
}

/* -- where things are -------------------------------------------------------------------------- */

/* The folder above the one that the program's file is in, or "". */
static void find_prefix(char prefix[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", prefix, PATH_MAX - 1);
  prefix[length > 0 ? length : 0] = 0;
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(prefix, '/');
    if (slash) *slash = 0;
    else prefix[0] = 0;
  }
}

/* Calls the function `field` of console/syntax.lua with an error and `count` more arguments
 * above it on the stack; leaves the chunk, if it can be loaded after all, or a message. */
static int load_again(lua_State *lua, const char *field, int count) {
  lua_getglobal(lua, "require");
  lua_pushliteral(lua, "regolith.console.syntax");
  if (lua_pcall(lua, 1, 1, 0)) { /* leaves the original error */
    lua_pop(lua, count + 1);
    return LUA_ERRSYNTAX;
  }
  lua_getfield(lua, -1, field);
  lua_remove(lua, -2);
  lua_insert(lua, -2 - count);
  int status = lua_pcall(lua, 1 + count, 1, 0);
  return status ? status : lua_isfunction(lua, -1) ? 0 : LUA_ERRSYNTAX;
}

static int load_file(lua_State *lua, const char *path) {
  int status = luaL_loadfile(lua, path);
  if (status != LUA_ERRSYNTAX) return status;
  lua_pushstring(lua, path);
  return load_again(lua, "load_file", 1);
}

/* A searcher of `regolith` and `regolith.*`: no other module is looked up next to the program. */
static int find_module(lua_State *lua) {
  const char *name = luaL_checkstring(lua, 1), *prefix = lua_tostring(lua, lua_upvalueindex(1));
  if (strncmp(name, "regolith", 8) || (name[8] && name[8] != '.')) return 0;
  const char *file = luaL_gsub(lua, name, ".", "/");
  static const char *const endings[] = {".lua", "/init.lua"};
  lua_pushliteral(lua, "");
  for (int i = 0; i < 2; i++) {
    const char *path = lua_pushfstring(lua, "%s/share/lua/5.1/%s%s", prefix, file, endings[i]);
    if (!access(path, R_OK)) {
      if (luaL_loadfile(lua, path)) return lua_error(lua);
      return 1;
    }
    lua_pushfstring(lua, "\n\tno file '%s'", path);
    lua_remove(lua, -2);
    lua_concat(lua, 2);
  }
  return 1;
}

/* Replaces LuaJIT's loader of modules in Lua, which it calls: a module that this cannot parse is
 * loaded as a script is. */
static int load_module(lua_State *lua) {
  int count = lua_gettop(lua);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  if (!lua_pcall(lua, count, LUA_MULTRET, 0)) return lua_gettop(lua);
  if (load_again(lua, "load_module", 0)) return lua_error(lua);
  return 1;
}

static void wrap_loader(lua_State *lua) {
  lua_getglobal(lua, "package");
  lua_getfield(lua, -1, "loaders");
  lua_rawgeti(lua, -1, 2);
  lua_pushcclosure(lua, load_module, 1);
  lua_rawseti(lua, -2, 2);
  lua_pop(lua, 2);
}

/* package.loaders: our searcher comes second, after package.preload. */
static void add_searcher(lua_State *lua, const char *prefix) {
  lua_getglobal(lua, "table");
  lua_getfield(lua, -1, "insert");
  lua_getglobal(lua, "package");
  lua_getfield(lua, -1, "loaders");
  lua_remove(lua, -2);
  lua_pushinteger(lua, 2);
  lua_pushstring(lua, prefix);
  lua_pushcclosure(lua, find_module, 1);
  lua_call(lua, 3, 0);
  lua_pop(lua, 1);
}

/* lib.lua opens the library that this program is linked with, unless RG_LIBRARY names another. */
static void register_library(lua_State *lua) {
  Dl_info info;
  if (!dladdr((void *)rg_version, &info) || !info.dli_fname) return;
  lua_pushstring(lua, info.dli_fname);
  lua_setfield(lua, LUA_REGISTRYINDEX, "regolith.library");
}

/* list(folder): the names in it, unsorted; none if it cannot be read. */
static int list_folder(lua_State *lua) {
  DIR *folder = opendir(luaL_checkstring(lua, 1));
  lua_newtable(lua);
  if (!folder) return 1;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    lua_pushstring(lua, entry->d_name);
    lua_rawseti(lua, -2, ++count);
  }
  closedir(folder);
  return 1;
}

/* -- actions ----------------------------------------------------------------------------------- */

static bool require(Host *host, const char *name) {
  lua_getglobal(host->lua, "require");
  lua_pushstring(host->lua, name);
  return report(host, call(host->lua, 1, 0));
}

/* Sets the global `rg` for code that is typed rather than kept in a file, unless there is such a
 * global already. */
static bool preset(Host *host) {
  lua_getglobal(host->lua, "rg");
  bool is_there = !lua_isnil(host->lua, -1);
  lua_pop(host->lua, 1);
  if (is_there) return true;
  lua_getglobal(host->lua, "require");
  lua_pushliteral(host->lua, "regolith");
  int status = call(host->lua, 1, 1);
  if (!status) lua_setglobal(host->lua, "rg");
  return report(host, status);
}

/* Pushes a function of one of the console's modules. */
static bool get_console(Host *host, const char *module, const char *field) {
  lua_getglobal(host->lua, "require");
  lua_pushstring(host->lua, module);
  if (!report(host, call(host->lua, 1, 1))) return false;
  lua_getfield(host->lua, -1, field);
  lua_remove(host->lua, -2);
  return true;
}

/* Loads the text on top of the stack, and keeps it, so that kernels of it can be compiled
 * (regolith/source.lua looks there). */
static int load_text(lua_State *lua, const char *name) {
  size_t length;
  const char *text = lua_tolstring(lua, -1, &length);
  lua_getfield(lua, LUA_REGISTRYINDEX, "regolith.texts");
  lua_pushvalue(lua, -2);
  lua_setfield(lua, -2, name);
  lua_pop(lua, 1);
  int status = luaL_loadbuffer(lua, text, length, name);
  if (status == LUA_ERRSYNTAX) {
    lua_pushvalue(lua, -2);
    lua_pushstring(lua, name);
    status = load_again(lua, "load", 2);
  }
  lua_remove(lua, -2);
  return status;
}

static bool run_text(Host *host, const char *text, const char *name) {
  lua_pushstring(host->lua, text);
  int status = load_text(host->lua, name);
  return report(host, status ? status : call(host->lua, 0, 0));
}

/* The script on standard input. */
static int load_input(lua_State *lua) {
  luaL_Buffer text;
  luaL_buffinit(lua, &text);
  for (size_t count = 1; count > 0; luaL_addsize(&text, count))
    count = fread(luaL_prepbuffer(&text), 1, LUAL_BUFFERSIZE, stdin);
  luaL_pushresult(&text);
  return load_text(lua, "=stdin");
}

static bool run_environment(Host *host) {
  const char *init = host->ignores_environment ? NULL : getenv(LUA_INIT);
  if (!init) return true;
  if (init[0] != '@') return run_text(host, init, "=" LUA_INIT);
  int status = load_file(host->lua, init + 1);
  return report(host, status ? status : call(host->lua, 0, 0));
}

/* -jcmd, -Oopt, -b: console/option.lua parses them. */
static bool run_jit(Host *host, const char *field, const char *text, int from) {
  if (!get_console(host, "regolith.console.option", field)) return false;
  lua_pushstring(host->lua, text);
  int count = 1;
  for (int i = from; from && i < host->argc; i++, count++) {
    luaL_checkstack(host->lua, 2, "too many arguments");
    lua_pushstring(host->lua, host->argv[i]);
  }
  int status = call(host->lua, count, 1);
  if (!status && lua_isstring(host->lua, -1)) status = LUA_ERRRUN; /* a complaint */
  else if (!status) lua_pop(host->lua, 1);
  return report(host, status);
}

static void fill_arg(Host *host) {
  lua_createtable(host->lua, host->argc - host->script, host->script + 1);
  for (int i = 0; i < host->argc; i++) {
    lua_pushstring(host->lua, host->argv[i]);
    lua_rawseti(host->lua, -2, i - host->script);
  }
  lua_setglobal(host->lua, "arg");
}

static int push_arguments(Host *host) {
  int count = host->argc - host->script - 1;
  luaL_checkstack(host->lua, count + 3, "too many arguments");
  for (int i = host->script + 1; i < host->argc; i++) lua_pushstring(host->lua, host->argv[i]);
  return count;
}

/* A word that is not a file may be a command. command.lua knows the commands, and suggests one
 * for a misspelt word; it returns an exit code. */
static bool is_command(const char *word) {
  return !strpbrk(word, "/.") && word[0] != '-' && access(word, F_OK);
}

static bool is_own_command(const char *word) {
  static const char *const words[] = {"run", "info",  "docs",  "examples",
                                      "new", "build", "cache", "help"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(word, words[i])) return true;
  return false;
}

static bool run_command(Host *host, const char *prefix) {
  if (!get_console(host, "regolith.console.command", "run")) return false;
  lua_createtable(host->lua, 0, 3);
  lua_pushstring(host->lua, prefix);
  lua_setfield(host->lua, -2, "prefix");
  lua_pushstring(host->lua, host->name);
  lua_setfield(host->lua, -2, "program");
  lua_pushcfunction(host->lua, list_folder);
  lua_setfield(host->lua, -2, "list");
  lua_pushstring(host->lua, host->argv[host->script]);
  int count = push_arguments(host);
  int status = call(host->lua, count + 2, 1);
  if (!status) host->status = (int)lua_tointeger(host->lua, -1);
  return report(host, status) && host->status == 0;
}

/* A script that a prompt follows returns its locals: see console/script.lua. */
static bool load_for_prompt(Host *host, const char *path, int *status) {
  if (!get_console(host, "regolith.console.script", "load")) return false;
  lua_pushstring(host->lua, path);
  *status = call(host->lua, 1, 1);
  if (*status == 0 && lua_isfunction(host->lua, -1)) return true;
  lua_pop(host->lua, 1);
  return false;
}

static bool run_script(Host *host) {
  const char *name = host->argv[host->script];
  bool is_input =
      !strcmp(name, "-") && (host->script == 0 || strcmp(host->argv[host->script - 1], "--"));
  int status;
  if (!is_input && host->is_interactive && load_for_prompt(host, name, &status)) {
    status = call(host->lua, push_arguments(host), 1);
    if (!status) lua_setfield(host->lua, LUA_REGISTRYINDEX, "regolith.found");
    return report(host, status);
  }
  status = is_input ? load_input(host->lua) : load_file(host->lua, name);
  if (!status) status = call(host->lua, push_arguments(host), 0);
  return report(host, status);
}

static void on_prompt_interrupt(int number) { (void)number; /* ends the read */ }

/* read(mark): a line without its end; nil at the end of the input, false after Ctrl-C. */
static int read_line(lua_State *lua) {
  struct sigaction action = {.sa_handler = on_prompt_interrupt}, before;
  char *line = NULL;
  size_t size = 0;
  fputs(luaL_checkstring(lua, 1), stdout);
  fflush(stdout);
  sigaction(SIGINT, &action, &before);
  errno = 0;
  ssize_t length = getline(&line, &size, stdin);
  bool is_interrupted = length < 0 && errno == EINTR;
  sigaction(SIGINT, &before, NULL);
  if (length < 0 && (is_interrupted || isatty(STDIN_FILENO))) clearerr(stdin);
  if (length > 0 && line[length - 1] == '\n') length--;
  if (length >= 0) lua_pushlstring(lua, line, (size_t)length);
  else if (is_interrupted) lua_pushboolean(lua, false);
  else lua_pushnil(lua);
  free(line);
  return 1;
}

static bool run_prompt(Host *host) {
  if (!preset(host) || !get_console(host, "regolith.console.prompt", "run")) return false;
  signal(SIGINT, SIG_IGN); /* between inputs it would end the session by surprise */
  lua_createtable(host->lua, 0, 4);
  lua_pushcfunction(host->lua, call_from_lua);
  lua_setfield(host->lua, -2, "call");
  lua_pushcfunction(host->lua, read_line);
  lua_setfield(host->lua, -2, "read");
  lua_pushcfunction(host->lua, interrupt_learn);
  lua_setfield(host->lua, -2, "learn");
  lua_getfield(host->lua, LUA_REGISTRYINDEX, "regolith.found");
  lua_setfield(host->lua, -2, "found");
  lua_pushboolean(host->lua, isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
  lua_setfield(host->lua, -2, "is_terminal");
  return report(host, lua_pcall(host->lua, 1, 0, 0));
}

/* -- options ----------------------------------------------------------------------------------- */

static const char usage[] =
    "usage: regolith [options]... [script [args]... | command [args]...]\n"
    "  -e chunk  Execute string 'chunk'; 'rg' is Regolith.\n"
    "  -l name   Require library 'name'.\n"
    "  -j cmd    Perform LuaJIT control command.\n"
    "  -O[opt]   Control LuaJIT optimizations.\n"
    "  -b ...    Save or list bytecode.\n"
    "  -i        Enter interactive mode after executing 'script'.\n"
    "  -v        Show version information, as --version does.\n"
    "  -E        Ignore environment variables.\n"
    "  --json    Make lines of rg.log and rg.progress, and 'info', JSON.\n"
    "  -h        Show this help.\n"
    "  --        Stop handling options.\n"
    "  -         Execute stdin and stop handling options.\n"
    "Without script and options a prompt starts, where '?' helps.\n"
    "commands:\n"
    "  run -n N SCRIPT   Start N ranks of a script, which share windows: rg.comm().\n"
    "  info              Versions, devices and paths, for a bug report.\n"
    "  docs [WORD ..]    Open the documentation, or search it for these words.\n"
    "  examples [NAME]   List the examples, or run one; -p NAME prints it.\n"
    "  new NAME          Write NAME.lua, a script to start from.\n"
    "  build SCRIPT -o FOLDER  Save the modules that a script exports; --bundle MAIN: a program.\n"
    "  cache [clear]     Show the compiled kernels on disk, or delete them.\n";

static int show_usage(void) {
  fputs(usage, stderr);
  return -1;
}

/* The position of the script in argv; -1 for invalid options, 0 if help was shown. */
static int read_options(Host *host) {
  for (int i = 1; i < host->argc; i++) {
    const char *word = host->argv[i];
    if (word[0] != '-' || !word[1]) return i;
    if (!strcmp(word, "-h") || !strcmp(word, "--help")) {
      fputs(usage, stdout);
      return 0;
    }
    switch (word[1]) {
    case '-':
      if (!word[2]) return i + 1;
      if (!strcmp(word, "--json")) setenv("RG_JSON", "1", 1);
      else if (!strcmp(word, "--version")) host->shows_version = true;
      else return show_usage();
      break;
    case 'i':
      host->is_interactive = true; /* and the version is shown */
      /* fall through */
    case 'v':
      host->shows_version = true;
      if (word[2]) return show_usage();
      break;
    case 'E':
      if (word[2]) return show_usage();
      host->ignores_environment = true;
      break;
    case 'e':
      host->has_chunk = true;
      /* fall through */
    case 'j':
    case 'l':
      if (!word[2] && ++i >= host->argc) return show_usage();
      break;
    case 'O': break;
    case 'b':
      if (host->has_chunk) return show_usage();
      host->has_chunk = true;
      return i + 1;
    default: return show_usage();
    }
  }
  return host->argc;
}

/* Executes -e, -l, -j, -O and -b in their order. */
static bool run_options(Host *host) {
  for (int i = 1; i < host->script && i < host->argc; i++) {
    const char *word = host->argv[i], *text = word + 2;
    bool ok = true;
    if (word[0] != '-') continue;
    if (strchr("elj", word[1]) && !*text) text = host->argv[++i];
    switch (word[1]) {
    case 'e': ok = preset(host) && run_text(host, text, "=(command line)"); break;
    case 'l': ok = require(host, text); break;
    case 'j': ok = run_jit(host, "control", text, 0); break;
    case 'O': ok = run_jit(host, "optimize", text, 0); break;
    case 'b':
      ok = run_jit(host, "bytecode", *text ? text : "", i + 1);
      host->script = host->argc; /* the rest was bcsave's */
      return ok;
    default: break;
    }
    if (!ok) return false;
  }
  return true;
}

static bool run(Host *host, const char *prefix) {
  bool has_script = host->script < host->argc;
  bool ok = run_environment(host);
  if (ok && host->shows_version) printf("Regolith %s (%s)\n", rg_version(), LUAJIT_VERSION);
  ok = ok && run_options(host);
  if (!ok) return false;
  if (has_script && host->script < host->argc) {
    const char *word = host->argv[host->script];
    bool stopped =
        host->app[0] || (host->script > 0 && !strcmp(host->argv[host->script - 1], "--"));
    ok = !stopped && (is_own_command(word) || is_command(word)) ? run_command(host, prefix)
                                                                : run_script(host);
  }
  if (!ok) return false;
  if (host->is_interactive) return run_prompt(host);
  if (has_script || host->has_chunk || host->shows_version) return true;
  if (isatty(STDIN_FILENO)) {
    printf("Regolith %s (%s)\n", rg_version(), LUAJIT_VERSION);
    return run_prompt(host);
  }
  int status = load_input(host->lua);
  return report(host, status ? status : call(host->lua, 0, 0));
}

/* The script of a bundle; false if the program is not in a bundle. */
static bool find_app(const char *prefix, char script[PATH_MAX]) {
  static const char main_script[] = "/share/app/main.lua";
  size_t length = strlen(prefix);
  if (!length || length + sizeof main_script > PATH_MAX) return false;
  memcpy(script, prefix, length);
  memcpy(script + length, main_script, sizeof main_script);
  return !access(script, R_OK);
}

/* Lets `require` and rg.module.open find files next to the script. */
static void register_app(lua_State *lua, const char *script) {
  lua_pushlstring(lua, script, (size_t)(strrchr(script, '/') - script));
  lua_getglobal(lua, "package");
  lua_getfield(lua, -1, "path");
  lua_pushfstring(lua, "%s/?.lua;%s/?/init.lua;%s", lua_tostring(lua, -3), lua_tostring(lua, -3),
                  lua_tostring(lua, -1));
  lua_setfield(lua, -3, "path");
  lua_pop(lua, 2);
  lua_setfield(lua, LUA_REGISTRYINDEX, "regolith.app");
}

static int start(lua_State *lua) {
  Host *host = lua_touserdata(lua, 1);
  char prefix[PATH_MAX];
  find_prefix(prefix);
  if (host->ignores_environment) {
    lua_pushboolean(lua, 1);
    lua_setfield(lua, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  lua_gc(lua, LUA_GCSTOP, 0);
  luaL_openlibs(lua);
  lua_gc(lua, LUA_GCRESTART, -1);
  lua_newtable(lua);
  lua_setfield(lua, LUA_REGISTRYINDEX, "regolith.texts");
  lua_pushcfunction(lua, interrupt_watch);
  lua_setfield(lua, LUA_REGISTRYINDEX, "regolith.watch");
  watch_failures(host);
  wrap_loader(lua);
  add_searcher(lua, prefix);
  lua_pushstring(lua, prefix); /* for the prompt: where the documentation is */
  lua_setfield(lua, LUA_REGISTRYINDEX, "regolith.prefix");
  register_library(lua);
  fill_arg(host);
  if (host->app[0]) register_app(lua, host->app);
  if (!run(host, prefix) && !host->status) host->status = 1;
  return 0;
}

int main(int argc, char **argv) {
  Host host = {.argv = argv, .argc = argc, .name = argc > 0 && argv[0][0] ? argv[0] : "regolith"};
  char prefix[PATH_MAX];
  find_prefix(prefix);
  bool is_app = argc > 0 && find_app(prefix, host.app);
  if (is_app) argv[0] = host.app; /* the script is word 0, since there are no options before it */
  else host.app[0] = 0;
  host.script = is_app ? 0 : read_options(&host);
  if (!is_app && host.script <= 0) return host.script < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  host.lua = luaL_newstate();
  if (!host.lua) {
    fprintf(stderr, "%s: cannot create a Lua state: not enough memory\n", host.name);
    return EXIT_FAILURE;
  }
  int status = lua_cpcall(host.lua, start, &host);
  if (!report(&host, status)) host.status = EXIT_FAILURE;
  lua_close(host.lua); /* which ends runtimes */
  return host.status || !host.has_unseen ? host.status : EXIT_FAILURE;
}
