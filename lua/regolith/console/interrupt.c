/* interrupt.c - Ctrl-C while code runs.
 * The first Ctrl-C stops the launches of kernels and sets a hook, which raises an error at Lua's
 * next instruction. A loop that LuaJIT has compiled checks no hook. So every 50 ms, until the hook
 * has run, this file forces the thread out of such a loop (x86-64): the thread continues in single
 * steps, and the first guard that it reaches is taken as if it had failed. The exit of the guard
 * restores the interpreter's state, as for every failed guard, and the interpreter calls the hook.
 *
 * A loop without any guard, such as `while true do end`, is a circle of instructions without a
 * branch out of it. There the exit with number 0 is taken. It belongs to guards before the loop,
 * where the trace began, and restores nothing but the position, since nothing had changed yet.
 * Locals then have the values from when the trace was entered, and the error is raised there.
 *
 * If the script has caught the first error, a second Ctrl-C raises an error at every instruction
 * until no handler is left. If the hook has not run after half a second (in a function in C; in a
 * script without a prompt, in a loop without a guard, since only the prompt passes the address of
 * the exits), a message says so, and from then on a further Ctrl-C ends the process.
 *
 * The exits of LuaJIT's x86-64 code are rows of `push imm8; jmp short`, numbered upwards, and a
 * guard is a conditional jump to one of them, or past a jump to one; no compiler makes such code.
 * */
#include "interrupt.h"

#include <lauxlib.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "regolith.h"

enum { MOST_WATCHED = 16, TICK_MS = 50, TICKS_UNTIL_MESSAGE = 10, MOST_STEPS = 20000 };

static lua_State *running;  /* the state that Ctrl-C stops */
static pthread_t thread;    /* the thread that runs it */
static void (*before)(int); /* the previous handler of Ctrl-C */
static RgRuntime *volatile watched[MOST_WATCHED];
/* since interrupt_begin: the number of Ctrl-Cs; whether the hook has run since the last one; ticks
 * since then; whether the message was written */
static volatile sig_atomic_t count, noticed, ticks, told;
static volatile sig_atomic_t stepping, steps;

static void stop_hook(lua_State *lua, lua_Debug *unused) {
  (void)unused;
  noticed = 1;
  stepping = 0;
  if (count < 2) lua_sethook(lua, NULL, 0, 0);
  luaL_error(lua, "interrupted!");
}

static void request_stop(void) {
  for (int i = 0; i < MOST_WATCHED; i++)
    if (watched[i]) rg_stop(watched[i]);
  lua_sethook(running, stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

static void set_timer(int milliseconds) {
  struct timeval each = {.tv_usec = (suseconds_t)milliseconds * 1000};
  struct itimerval time = {.it_interval = each, .it_value = each};
  setitimer(ITIMER_REAL, &time, NULL);
}

/* Any thread may receive a signal; passes it on to the thread that runs the state. */
static bool forward_signal(int number) {
  if (pthread_equal(pthread_self(), thread)) return false;
  pthread_kill(thread, number);
  return true;
}

/* -- out of a compiled loop -------------------------------------------------------------------- */

#if defined(__x86_64__)

enum { TRAP_FLAG = 0x100, PUSH_IMM8 = 0x6A, JMP_SHORT = 0xEB };

static bool is_exit(const uint8_t *code) {
  if (code[0] != PUSH_IMM8) return false;
  if (code[2] == JMP_SHORT) return code[4] == PUSH_IMM8 && code[5] == (uint8_t)(code[1] + 1);
  return code[2] == PUSH_IMM8 && code[-4] == PUSH_IMM8 && code[-3] == (uint8_t)(code[1] - 1);
}

static const uint8_t *jump_target(const uint8_t *past) {
  int32_t distance;
  memcpy(&distance, past - sizeof distance, sizeof distance);
  return past + distance;
}

/* The exit of the guard at `code`, or NULL if it is not a guard. The guard at a loop's end jumps
 * back if it holds, and is followed by a jump to its exit. */
static const uint8_t *find_exit(const uint8_t *code) {
  const uint8_t *past = NULL;
  if (code[0] == 0x0F && (code[1] & 0xF0) == 0x80) past = code + 6;
  else if ((code[0] & 0xF0) == 0x70) past = code + 2;
  if (!past) return NULL;
  if (past == code + 6 && is_exit(jump_target(past))) return jump_target(past);
  if (past[0] == 0xE9 && is_exit(jump_target(past + 5))) return past;
  return NULL;
}

static const uint8_t *first_exit; /* the exit with number 0, of every trace */
static const uint8_t
    *last_jump; /* a jump back, after which no instruction could leave the circle */
static int rounds;

/* Whether the instruction at `code` may continue at more than one place. */
static bool may_branch(const uint8_t *code) {
  while (*code == 0x66 || *code == 0xF2 || *code == 0xF3 || (*code & 0xF0) == 0x40) code++;
  if ((code[0] & 0xF0) == 0x70 || code[0] == 0xE8 || (code[0] & 0xFE) == 0xC2) return true;
  if (code[0] == 0x0F) return (code[1] & 0xF0) == 0x80 || code[1] == 0x05;
  return code[0] == 0xFF && (code[1] & 0x38) >= 0x10 && (code[1] & 0x38) <= 0x28;
}

/* Whether `code` ends, for the third time, a circle of instructions without a branch out of it. */
static bool is_endless(const uint8_t *code) {
  const uint8_t *target = NULL;
  if (may_branch(code)) last_jump = NULL;
  if (code[0] == 0xEB) target = code + 2 + (int8_t)code[1];
  if (code[0] == 0xE9) target = jump_target(code + 5);
  if (!target || target > code) return false;
  rounds = last_jump == code ? rounds + 1 : 1;
  last_jump = code;
  return rounds >= 3;
}

static void on_step(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)registers[REG_RIP];
  (void)number, (void)info;
  const uint8_t *target = stepping ? find_exit(code) : NULL;
  if (stepping && !target && first_exit && is_endless(code)) target = first_exit;
  if (target) registers[REG_RIP] = (greg_t)target;
  if (target || ++steps > MOST_STEPS) stepping = 0;
  if (!stepping) registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void begin_steps(void *context) {
  struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGTRAP, &action, NULL);
  stepping = 1;
  steps = 0;
  last_jump = NULL;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

int interrupt_learn(lua_State *lua) {
  const uint8_t *address = (const uint8_t *)(intptr_t)luaL_checknumber(lua, 1);
  if ((intptr_t)address > 0x10000 && is_exit(address) && address[1] == 0) first_exit = address;
  return 0;
}

#else

static void begin_steps(void *context) { (void)context; }

int interrupt_learn(lua_State *lua) { return (void)lua, 0; }

#endif

/* -- signals ----------------------------------------------------------------------------------- */

static void on_alarm(int number, siginfo_t *info, void *context) {
  static const char text[] =
      "\ninterrupt: still running: a compile or another function in C, or a loop that was compiled "
      "by LuaJIT and checks nothing (with -joff it would stop); Ctrl-C again ends the program\n";
  (void)info;
  if (forward_signal(number)) return;
  if (noticed || !count) {
    set_timer(0);
    return;
  }
  request_stop();
  ticks++;
  if (!stepping && (ticks <= 4 || ticks % 10 == 0)) begin_steps(context); /* seldom: slows down C */
  if (ticks != TICKS_UNTIL_MESSAGE) return;
  told = 1;
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

static void on_interrupt(int number) {
  if (forward_signal(number)) return;
  if (told && !noticed) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  count++;
  noticed = 0;
  ticks = 0;
  request_stop();
  set_timer(TICK_MS);
}

void interrupt_begin(lua_State *lua) {
  thread = pthread_self();
  count = noticed = told = stepping = 0;
  running = lua;
  before = signal(SIGINT, on_interrupt);
}

void interrupt_silence(lua_State *lua) {
  if (count) lua_sethook(lua, NULL, 0, 0);
}

void interrupt_end(void) {
  signal(SIGINT, before);
  lua_State *lua = running;
  noticed = 1;
  stepping = 0;
  if (!count) return;
  set_timer(0);
  lua_sethook(lua, NULL, 0, 0); /* the handlers stay: an alarm or a step may still be pending */
}

int interrupt_watch(lua_State *lua) {
  RgRuntime *runtime = (RgRuntime *)(intptr_t)luaL_checknumber(lua, 1);
  bool begins = lua_toboolean(lua, 2);
  for (int i = 0; i < MOST_WATCHED; i++) {
    if (watched[i] != (begins ? NULL : runtime)) continue;
    watched[i] = begins ? runtime : NULL;
    break;
  }
  return 0;
}
