/* interrupt.c - Ctrl-C while something runs.
 * The first one stops the launches of kernels and asks for a hook, which raises an error at Lua's
 * next instruction. A loop that LuaJIT has compiled looks at no hook. So, every 50 ms until
 * somebody noticed, the thread is led out of it (x86-64): it goes on in single steps, and the
 * first guard it comes to is taken as if it had failed. Its exit restores the interpreter's state
 * as it does at every failed guard, and the interpreter meets the hook.
 *
 * A loop that has no guard at all, such as `while true do end`, is in a circle of instructions that
 * nothing leads out of. There the exit with number 0 is taken: it is the one of guards before the
 * loop, where the trace began, and restores no value but the place, since nothing had changed yet.
 * Locals are then what they were when the trace was entered; the error is raised there.
 *
 * A second Ctrl-C, where the first one's error was caught by the script, raises at every
 * instruction until nothing is left that could catch. Where nobody notices for half a second (a
 * function in C; a loop without a guard in a script, for which nobody has learnt where exits are) a
 * line says so, and only then a further Ctrl-C ends the process.
 *
 * Exits of LuaJIT's x86-64 code are rows of `push imm8; jmp short`, numbered upwards, and a guard
 * is a conditional jump to one of them, or past a jump to one; no compiler makes such code. */
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

enum { MOST_WATCHED = 16, TICK_MS = 50, TICKS_UNTIL_TOLD = 10, MOST_STEPS = 20000 };

static lua_State *running;  /* what Ctrl-C stops */
static pthread_t thread;    /* which runs it */
static void (*before)(int); /* what Ctrl-C did before */
static RgRuntime *volatile watched[MOST_WATCHED];
/* since interrupt_begin: Ctrl-Cs; was the last one noticed; ticks since; was it said */
static volatile sig_atomic_t count, noticed, ticks, told;
static volatile sig_atomic_t stepping, steps;

static void stop_hook(lua_State *lua, lua_Debug *unused) {
  (void)unused;
  noticed = 1;
  stepping = 0;
  if (count < 2) lua_sethook(lua, NULL, 0, 0);
  luaL_error(lua, "interrupted!");
}

static void ask_to_stop(void) {
  for (int i = 0; i < MOST_WATCHED; i++)
    if (watched[i]) rg_stop(watched[i]);
  lua_sethook(running, stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

static void set_timer(int milliseconds) {
  struct timeval each = {.tv_usec = (suseconds_t)milliseconds * 1000};
  struct itimerval time = {.it_interval = each, .it_value = each};
  setitimer(ITIMER_REAL, &time, NULL);
}

/* Signals come to any thread. */
static bool is_elsewhere(int number) {
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

/* Where the guard at `code` goes when it fails; NULL: it is none. The guard at a loop's end jumps
 * back when it holds, and what follows is a jump to its exit. */
static const uint8_t *find_exit(const uint8_t *code) {
  const uint8_t *past = NULL;
  if (code[0] == 0x0F && (code[1] & 0xF0) == 0x80) past = code + 6;
  else if ((code[0] & 0xF0) == 0x70) past = code + 2;
  if (!past) return NULL;
  if (past == code + 6 && is_exit(jump_target(past))) return jump_target(past);
  if (past[0] == 0xE9 && is_exit(jump_target(past + 5))) return past;
  return NULL;
}

static const uint8_t *first_exit; /* the one with number 0, of every trace */
static const uint8_t *last_jump;  /* back, and nothing since then could have left the circle */
static int rounds;

/* Could the instruction at `code` lead anywhere but to the next, or to where it always leads? */
static bool may_branch(const uint8_t *code) {
  while (*code == 0x66 || *code == 0xF2 || *code == 0xF3 || (*code & 0xF0) == 0x40) code++;
  if ((code[0] & 0xF0) == 0x70 || code[0] == 0xE8 || (code[0] & 0xFE) == 0xC2) return true;
  if (code[0] == 0x0F) return (code[1] & 0xF0) == 0x80 || code[1] == 0x05;
  return code[0] == 0xFF && (code[1] & 0x38) >= 0x10 && (code[1] & 0x38) <= 0x28;
}

/* Is `code` for the third time the end of a circle that nothing leads out of? */
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
      "by LuaJIT and does not notice (with -joff it would); Ctrl-C again ends the program\n";
  (void)info;
  if (is_elsewhere(number)) return;
  if (noticed || !count) {
    set_timer(0);
    return;
  }
  ask_to_stop();
  ticks++;
  if (!stepping && (ticks <= 4 || ticks % 10 == 0)) begin_steps(context); /* it slows down C */
  if (ticks != TICKS_UNTIL_TOLD) return;
  told = 1;
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

static void on_interrupt(int number) {
  if (is_elsewhere(number)) return;
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
  ask_to_stop();
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
  lua_sethook(lua, NULL, 0, 0); /* an alarm or a step may still be on its way: its handler stays */
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
