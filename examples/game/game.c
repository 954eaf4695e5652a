/* game.c - a game in C whose kernels were compiled before: sand and water, poured by the mouse. No
 * compiler runs here, and none need be installed.
 *
 *   regolith build sand.lua -o out                              where the compiler is
 *   make && ./game                                              a window, by SDL2 if it is there
 *   ./game --frames 240 --png out                               no window: out/frame-240.png
 *   ./game --reload                                             takes out/sand.rgm built again
 *   make sealed                                                 kernels linked in: loads no code
 *
 * Left button: sand; right: water; middle: wall. */
#include <regolith.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(_WIN32)
#include <windows.h>
#define SDL "SDL2.dll"
static void *open_library(const char *name) { return LoadLibraryA(name); }
static void *entry_of(void *library, const char *name) {
  return (void *)GetProcAddress(library, name);
}
static long nanoseconds(const struct stat *file) { return (void)file, 0; }
#else
#include <dlfcn.h>
#define SDL "libSDL2-2.0.so.0"
static void *open_library(const char *name) { return dlopen(name, RTLD_NOW); }
static void *entry_of(void *library, const char *name) { return dlsym(library, name); }
static long nanoseconds(const struct stat *file) { return file->st_mtim.tv_nsec; }
#endif

#include "out/sand.h"

enum { EMPTY, WATER, SAND, WALL };
enum { HEIGHT = 192, WIDTH = 256, SCALE = 4, STEPS = 4 };

typedef struct Options {
  const char *module, *folder; /* of pictures; NULL: none */
  int frames;                  /* 0: until the window is closed */
  int reloads;
} Options;

typedef struct Game {
  RgRuntime *runtime;
  sand_module sand;
  RgView pixels;
  int frame;
  struct stat file; /* the module, as it was opened */
} Game;

static int complain(Game *game) {
  fprintf(stderr, "game: %s\n", rg_error(game->runtime)->message);
  return 0;
}

/* -- the simulation ---------------------------------------------------------------------------- */

static int open_module(Game *game, const char *path) {
#ifdef SEALED /* the archive was linked into this program */
  (void)path;
  return !sand_link(game->runtime, &game->sand) || complain(game);
#else
  stat(path, &game->file);
  return !sand_open(game->runtime, path, &game->sand) || complain(game);
#endif
}

static int build_world(Game *game) {
  for (int k = 0; k < 40; k++) {
    if (sand_pour(&game->sand, 40 + k, 90 + k / 2, 2, WALL) ||
        sand_pour(&game->sand, 216 - k, 120 + k / 2, 2, WALL))
      return complain(game);
  }
  return 1;
}

static int begin(Game *game, const Options *options) {
  RgOptions wanted = {.struct_size = sizeof wanted};
  if (rg_runtime_create(&wanted, &game->runtime, NULL)) {
    fprintf(stderr, "game: no runtime\n");
    return 0;
  }
  if (!open_module(game, options->module)) return 0;
  if (rg_field_view(game->sand.field_pixels, &game->pixels)) return complain(game);
  return build_world(game);
}

static int advance(Game *game) {
  RgStatus status = 0;
  for (int k = 0; k < STEPS && !status; k++)
    status = sand_step(&game->sand, STEPS * game->frame + k);
  if (status || sand_draw(&game->sand)) return complain(game);
  game->frame++;
  return 1;
}

/* Without a mouse: two streams that sway. */
static int pour_by_itself(Game *game) {
  int sway = game->frame % 60 < 30 ? game->frame % 30 : 30 - game->frame % 30;
  return (!sand_pour(&game->sand, 50 + sway, 8, 1, SAND) &&
          !sand_pour(&game->sand, 180 + sway, 8, 1, WATER)) ||
         complain(game);
}

/* Between two frames: kernels that were built again replace those that run, and the fields keep
 * their contents. If they cannot be replaced, the old ones go on, and the reason is logged. */
static void look_for_new_kernels(Game *game, const char *path) {
  struct stat now;
  if (stat(path, &now) ||
      (now.st_ino == game->file.st_ino && now.st_size == game->file.st_size &&
       now.st_mtime == game->file.st_mtime && nanoseconds(&now) == nanoseconds(&game->file)))
    return;
  game->file = now;
  if (rg_module_reload(game->sand.module, path)) complain(game);
  else printf("frame %d: new kernels\n", game->frame);
}

/* -- pictures ---------------------------------------------------------------------------------- */

static int save_picture(Game *game, const char *folder) {
  char path[1000];
  snprintf(path, sizeof path, "%s/frame-%03d.png", folder, game->frame);
  if (rg_image_write(game->runtime, path, game->pixels.first, WIDTH, HEIGHT, 4))
    return complain(game);
  printf("wrote %s\n", path);
  return 1;
}

static int report(Game *game) {
  int32_t sand, water;
  int64_t blocks;
  if (sand_grains(&game->sand, SAND, &sand) || sand_grains(&game->sand, WATER, &water) ||
      rg_snode_call(game->sand.node_block, "count", NULL, 0, &blocks))
    return complain(game);
  printf("frame %d: %d of sand, %d of water, in %d of %d blocks\n", game->frame, sand, water,
         (int)blocks, HEIGHT / 16 * WIDTH / 16);
  return 1;
}

/* -- the window: SDL2, opened while the game runs ---------------------------------------------- */

typedef struct Window {
  void *window, *renderer, *texture;
  int (*poll)(void *event);
  uint32_t (*mouse)(int *x, int *y);
  int (*update)(void *texture, const void *rect, const void *pixels, int pitch);
  int (*copy)(void *renderer, void *texture, const void *from, const void *to);
  void (*present)(void *renderer);
} Window;

static void *find(void *library, const char *name) {
  return library ? entry_of(library, name) : NULL;
}

static int open_window(Window *w) {
  void *sdl = open_library(SDL);
  int (*init)(uint32_t) = NULL;
  void *(*create)(const char *, int, int, int, int, uint32_t);
  void *(*render)(void *, int, uint32_t);
  void *(*texture)(void *, uint32_t, int, int, int);
  *(void **)&init = find(sdl, "SDL_Init");
  *(void **)&create = find(sdl, "SDL_CreateWindow");
  *(void **)&render = find(sdl, "SDL_CreateRenderer");
  *(void **)&texture = find(sdl, "SDL_CreateTexture");
  *(void **)&w->poll = find(sdl, "SDL_PollEvent");
  *(void **)&w->mouse = find(sdl, "SDL_GetMouseState");
  *(void **)&w->update = find(sdl, "SDL_UpdateTexture");
  *(void **)&w->copy = find(sdl, "SDL_RenderCopy");
  *(void **)&w->present = find(sdl, "SDL_RenderPresent");
  enum { VIDEO = 0x20, CENTRED = 0x2FFF0000, VSYNC = 4, ABGR8888 = 0x16762004, STREAMING = 1 };
  if (!init || !create || !render || !texture || init(VIDEO)) return 0;
  w->window = create("sand", CENTRED, CENTRED, WIDTH * SCALE, HEIGHT * SCALE, 0);
  w->renderer = w->window ? render(w->window, -1, VSYNC) : NULL;
  w->texture = w->renderer ? texture(w->renderer, ABGR8888, STREAMING, WIDTH, HEIGHT) : NULL;
  return w->texture != NULL;
}

/* False: the window was closed. */
static int show(Window *w, Game *game) {
  enum { QUIT = 0x100 };
  union {
    uint32_t type;
    uint8_t bytes[128];
  } event;
  int x, y;
  while (w->poll(&event))
    if (event.type == QUIT) return 0;
  uint32_t buttons = w->mouse(&x, &y);
  int what = buttons & 1 ? SAND : buttons & 4 ? WATER : buttons & 2 ? WALL : EMPTY;
  if (what && sand_pour(&game->sand, x / SCALE, y / SCALE, 3, (uint8_t)what)) return complain(game);
  w->update(w->texture, NULL, game->pixels.first, WIDTH * 4);
  w->copy(w->renderer, w->texture, NULL, NULL);
  w->present(w->renderer);
  return 1;
}

/* -- main -------------------------------------------------------------------------------------- */

static int read_options(int argc, char **argv, Options *options) {
  for (int k = 1; k < argc; k++) {
    const char *next = k + 1 < argc ? argv[k + 1] : NULL;
    if (!strcmp(argv[k], "--reload")) options->reloads = 1;
    else if (!strcmp(argv[k], "--frames") && next) options->frames = atoi(argv[++k]);
    else if (!strcmp(argv[k], "--png") && next) options->folder = argv[++k];
    else if (!strcmp(argv[k], "--module") && next) options->module = argv[++k];
    else return 0;
  }
  return 1;
}

static int run(Game *game, const Options *options) {
  Window window = {0};
  int has_window = !options->frames && open_window(&window);
  int last = options->frames ? options->frames : has_window ? 0 : 240;
  if (options->reloads) printf("kernels are taken from %s when it changes\n", options->module);
  if (!last) printf("the mouse pours: sand, water (right), walls (middle)\n");
  while (!last || game->frame < last) {
    if (options->reloads) look_for_new_kernels(game, options->module);
    if (!has_window && !pour_by_itself(game)) return 0;
    if (!advance(game)) return 0;
    if (has_window && !show(&window, game)) break;
  }
  return (!options->folder || save_picture(game, options->folder)) && report(game);
}

int main(int argc, char **argv) {
  Options options = {.module = "out/sand.rgm"};
  Game game = {.frame = 0};
  if (!read_options(argc, argv, &options)) {
    fprintf(stderr, "usage: game [--frames N] [--png FOLDER] [--reload] [--module FILE]\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  int ok = begin(&game, &options) && run(&game, &options);
  if (game.sand.module) sand_close(&game.sand);
  rg_runtime_destroy(game.runtime);
  return ok ? 0 : 1;
}
