--- SDL2, loaded when a window is opened: the functions that windows need, and events as tables.
local ffi = require "ffi"

local sdl = {}

local os = os

sdl.pixels_rgba = 376840196 -- SDL_PIXELFORMAT_ABGR8888: red is the first byte
sdl.streaming, sdl.anywhere, sdl.video = 1, 0x1fff0000, 0x20
sdl.with_gl, sdl.hidden, sdl.resizable, sdl.high_dpi = 0x2, 0x8, 0x20, 0x2000
--- SDL_GLattr
sdl.gl_double_buffer, sdl.gl_major, sdl.gl_minor, sdl.gl_profile = 5, 17, 18, 21

local declarations = [[
  typedef struct SDL_Window SDL_Window;
  typedef struct SDL_Renderer SDL_Renderer;
  typedef struct SDL_Texture SDL_Texture;
  int SDL_InitSubSystem(uint32_t flags);
  void SDL_QuitSubSystem(uint32_t flags);
  const char *SDL_GetError(void);
  SDL_Window *SDL_CreateWindow(const char *title, int x, int y, int w, int h, uint32_t flags);
  void SDL_DestroyWindow(SDL_Window *window);
  void SDL_SetWindowTitle(SDL_Window *window, const char *title);
  void SDL_GetWindowSize(SDL_Window *window, int *w, int *h);
  SDL_Renderer *SDL_CreateRenderer(SDL_Window *window, int index, uint32_t flags);
  void SDL_DestroyRenderer(SDL_Renderer *renderer);
  SDL_Texture *SDL_CreateTexture(SDL_Renderer *r, uint32_t format, int access, int w, int h);
  void SDL_DestroyTexture(SDL_Texture *texture);
  int SDL_UpdateTexture(SDL_Texture *texture, const void *rect, const void *pixels, int pitch);
  int SDL_RenderClear(SDL_Renderer *renderer);
  int SDL_RenderCopy(SDL_Renderer *r, SDL_Texture *texture, const void *from, const void *to);
  void SDL_RenderPresent(SDL_Renderer *renderer);
  int SDL_PollEvent(void *event);
  const char *SDL_GetKeyName(int32_t key);
  int32_t SDL_GetKeyFromName(const char *name);
  const char *SDL_GetCurrentVideoDriver(void);
  int SDL_SetHintWithPriority(const char *name, const char *value, int priority);
  int SDL_ResetHint(const char *name);
  uint32_t SDL_GetWindowID(SDL_Window *window);
  int SDL_GL_SetAttribute(int attribute, int value);
  void *SDL_GL_CreateContext(SDL_Window *window);
  void SDL_GL_DeleteContext(void *context);
  int SDL_GL_MakeCurrent(SDL_Window *window, void *context);
  int SDL_GL_SetSwapInterval(int interval);
  void SDL_GL_GetDrawableSize(SDL_Window *window, int *w, int *h);
  void SDL_GL_SwapWindow(SDL_Window *window);
  void *SDL_GL_GetProcAddress(const char *name);
]]

local library

--- Returns the library's functions, or nil and what to install.
function sdl.find()
  if library then return library end
  local given = os.getenv "RG_SDL"
  local ok, found = pcall(ffi.load, given and given ~= "" and given or "libSDL2-2.0.so.0")
  if not ok then
    return nil, "SDL2, which shows windows, cannot be opened (apt install libsdl2-2.0-0)"
  end
  if not pcall(ffi.typeof, "SDL_Renderer") then ffi.cdef(declarations) end
  library = found
  return library
end

--- The functions of the library, which has been found.
function sdl.open() return library end

--- SDL's message about its last failure.
function sdl.error() return ffi.string(library.SDL_GetError()) end

--- Whether there is a key of that name; without SDL, any is.
function sdl.has_key(name) return not library or library.SDL_GetKeyFromName(name) ~= 0 end

local driver_hint, over_all = "SDL_VIDEODRIVER", 2 -- SDL_HINT_OVERRIDE

--- Opens SDL's invisible display. Returns whether it could; if not, the reason.
function sdl.open_hidden()
  local C, missing = sdl.find()
  if not C then return false, missing end
  local has_hints = pcall(function() return C.SDL_SetHintWithPriority and C.SDL_ResetHint end)
  if has_hints and os.getenv "SDL_VIDEODRIVER" ~= "dummy" then
    C.SDL_SetHintWithPriority(driver_hint, "offscreen", over_all)
  end
  local status = C.SDL_InitSubSystem(sdl.video)
  if has_hints then C.SDL_ResetHint(driver_hint) end
  return status == 0, status ~= 0 and sdl.error() or nil
end

--- SDL's name of the display: "x11", "wayland", "offscreen", "dummy".
function sdl.driver()
  if not library then return "" end
  local driver = library.SDL_GetCurrentVideoDriver()
  return driver ~= nil and ffi.string(driver) or ""
end

--- Whether SDL draws to invisible memory for lack of a display, without having been told to.
function sdl.is_invisible()
  return sdl.driver() == "offscreen" and os.getenv "SDL_VIDEODRIVER" ~= "offscreen"
end

-- -- events ---------------------------------------------------------------------------------------

local event = ffi.new "uint8_t[64]"
local words, floats = ffi.cast("int32_t *", event), ffi.cast("float *", event)
local close, size_changed = 14, 6 -- SDL_WindowEventID

local function key_event(kind)
  return { kind = kind, window = words[2], is_repeat = event[13] ~= 0,
    key = ffi.string(library.SDL_GetKeyName(words[5])):lower() }
end

local kinds = {
  [0x100] = function() return { kind = "close" } end,
  [0x200] = function()
    if event[12] == close then return { kind = "close", window = words[2] } end
    if event[12] == size_changed then return { kind = "resize", window = words[2] } end
    return { window = words[2] }
  end,
  [0x300] = function() return key_event "down" end,
  [0x301] = function() return key_event "up" end,
  [0x303] = function()
    return { kind = "text", window = words[2],
      text = ffi.string(ffi.cast("const char *", event) + 12) }
  end,
  [0x400] = function() return { kind = "move", window = words[2], x = words[5], y = words[6] } end,
  [0x401] = function()
    return { kind = "press", window = words[2], button = event[16], x = words[5], y = words[6] }
  end,
  [0x402] = function()
    return { kind = "release", window = words[2], button = event[16], x = words[5], y = words[6] }
  end,
  [0x403] = function() -- `fine`: also shares of a notch, as a touchpad has them
    local fine = floats[8]
    return { kind = "wheel", window = words[2], y = words[5],
      fine = fine ~= 0 and math.abs(fine) < 100 and fine or words[5] }
  end,
}

--- Returns the next event, { kind, window, key, button, x, y, text }, without `kind` for events
--- that windows do not use; and SDL's own, valid until the next call. nil: there is no more.
function sdl.poll()
  if not library or library.SDL_PollEvent(event) == 0 then return nil end
  local read = kinds[words[0]]
  return read and read() or {}, event
end

return sdl
