--- The canvas of a window with OpenGL: a context, and the framebuffer that a frame is drawn into.
---
---     begin -> draw .. -> resolve -> overlay -> the window          (present)
---                      -> resolve -> our memory                     (read)
---
--- A frame is drawn with several samples per pixel into memory of our own, so it is the same
--- whatever covers the window. The first drawing call after `present` begins the next frame: until
--- then, `read` returns the one that was presented, with its overlay.
local ffi = require "ffi"
local fail = require "regolith.error"
local sdl = require "regolith.window.sdl"
local gl = require "regolith.window.gl"
local source = require "regolith.window.source"

local canvas = {}

local Canvas = { is_gl = true }
Canvas.__index = Canvas

local most_samples = 4
local current -- the canvas whose context is

local function open_context(self, title, width, height, flags)
  local C = sdl.open()
  C.SDL_GL_SetAttribute(sdl.gl_major, 3)
  C.SDL_GL_SetAttribute(sdl.gl_minor, 3)
  C.SDL_GL_SetAttribute(sdl.gl_profile, 1) -- core
  C.SDL_GL_SetAttribute(sdl.gl_double_buffer, 1)
  self.handle = C.SDL_CreateWindow(title, sdl.anywhere, sdl.anywhere, width, height,
    sdl.with_gl + sdl.high_dpi + flags)
  if self.handle == nil then return sdl.error() end
  self.context = C.SDL_GL_CreateContext(self.handle)
  if self.context == nil then return sdl.error() end
  current = self
  local missing = gl.load(C.SDL_GL_GetProcAddress)
  return missing and ("it has no function '%s'"):format(missing)
end

local function storage(target, format, samples, width, height)
  local name = gl.create "Renderbuffers"
  gl.BindRenderbuffer(gl.RENDERBUFFER, name)
  gl.RenderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height)
  gl.FramebufferRenderbuffer(gl.FRAMEBUFFER, target, gl.RENDERBUFFER, name)
  return name
end

local function delete_targets(self)
  for _, name in ipairs(self.stores) do gl.delete("Renderbuffers", name) end
  gl.delete("Framebuffers", self.drawn)
  gl.delete("Framebuffers", self.resolved)
  gl.delete("Framebuffers", self.over)
  gl.delete("Textures", self.depth)
  self.stores, self.drawn, self.resolved, self.over, self.depth = {}, false, false, false, false
end

local function clear(self)
  local c = self.background
  gl.DepthMask(1)
  gl.ClearColor(c[1], c[2], c[3], 1)
  gl.Clear(gl.COLOR_BUFFER_BIT + gl.DEPTH_BUFFER_BIT)
end

-- The depth buffer, which shaders can read.
local function depth_texture(samples, width, height)
  local name = gl.create "Textures"
  gl.ActiveTexture(gl.TEXTURE0 + 7)
  gl.BindTexture(gl.TEXTURE_2D_MULTISAMPLE, name)
  gl.TexImage2DMultisample(gl.TEXTURE_2D_MULTISAMPLE, samples, gl.DEPTH_COMPONENT24, width, height,
    1)
  gl.FramebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D_MULTISAMPLE, name, 0)
  return name
end

-- Creates the framebuffers, in the window's size in pixels: what is drawn, the same without its
-- depth, and what is shown.
local function create_targets(self)
  delete_targets(self)
  local width, height = ffi.new "int[1]", ffi.new "int[1]"
  sdl.open().SDL_GL_GetDrawableSize(self.handle, width, height)
  self.width, self.height, self.upward = math.max(1, width[0]), math.max(1, height[0]), nil
  self.samples = math.min(most_samples, gl.get(gl.MAX_SAMPLES),
    gl.get(gl.MAX_DEPTH_TEXTURE_SAMPLES))
  self.drawn = gl.create "Framebuffers"
  gl.BindFramebuffer(gl.FRAMEBUFFER, self.drawn)
  self.stores = { storage(gl.COLOR_ATTACHMENT0, gl.RGBA8, self.samples, self.width, self.height) }
  self.depth = depth_texture(self.samples, self.width, self.height)
  local is_whole = gl.CheckFramebufferStatus(gl.FRAMEBUFFER) == gl.FRAMEBUFFER_COMPLETE
  self.over = gl.create "Framebuffers"
  gl.BindFramebuffer(gl.FRAMEBUFFER, self.over)
  gl.FramebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, self.stores[1])
  self.resolved = gl.create "Framebuffers"
  gl.BindFramebuffer(gl.FRAMEBUFFER, self.resolved)
  self.stores[2] = storage(gl.COLOR_ATTACHMENT0, gl.RGBA8, 0, self.width, self.height)
  if not is_whole or gl.CheckFramebufferStatus(gl.FRAMEBUFFER) ~= gl.FRAMEBUFFER_COMPLETE then
    return ("no framebuffer of %d x %d pixels can be made"):format(self.width, self.height)
  end
  gl.BindFramebuffer(gl.FRAMEBUFFER, self.drawn)
  clear(self)
end

--- Opens a window with a context; nil and the reason if there is no OpenGL 3.3. `waits`: each frame
--- waits for the display's next one.
function canvas.create(title, width, height, flags, waits)
  local C = sdl.open()
  if not pcall(function() return C.SDL_GL_GetProcAddress end) then
    return nil, "SDL was built without OpenGL"
  end
  local self = setmetatable({ stores = {}, drawn = false, resolved = false, over = false,
    depth = false, samples = 0, pending = false, programs = {},
    buffers = {}, palettes = {}, is_presented = true, is_resolved = false,
    background = { 0, 0, 0 } }, Canvas)
  local why = open_context(self, title, width, height, flags) or create_targets(self)
  if why then
    self:destroy()
    return nil, why
  end
  self.vertices = gl.create "VertexArrays"
  C.SDL_GL_SetSwapInterval(waits and 1 or 0)
  return self
end

--- Makes this canvas's context the current one.
function Canvas:use()
  if current == self then return end
  sdl.open().SDL_GL_MakeCurrent(self.handle, self.context)
  current = self
end

--- Draws what waits for that (shadow.lua).
function Canvas:settle()
  local pending = self.pending
  self.pending = false
  if pending then pending() end
end

--- Prepares for drawing; the first call of a frame clears it. Every drawing function calls this
--- first, and finds: blending on, depth test off, the canvas's vertex array bound.
function Canvas:begin()
  self:use()
  self:settle()
  gl.BindFramebuffer(gl.FRAMEBUFFER, self.drawn)
  gl.Viewport(0, 0, self.width, self.height)
  gl.BindVertexArray(self.vertices)
  gl.Enable(gl.PROGRAM_POINT_SIZE)
  gl.Enable(gl.BLEND)
  gl.BlendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA)
  gl.Disable(gl.SAMPLE_ALPHA_TO_COVERAGE)
  gl.ColorMask(1, 1, 1, 1)
  gl.Disable(gl.DEPTH_TEST)
  gl.Disable(gl.CULL_FACE)
  self.is_resolved = false
  if self.is_presented then
    self.is_presented = false
    clear(self)
  end
end

--- Fills the frame with one colour, which later frames begin with.
function Canvas:clear(r, g, b)
  self.background = { r, g, b }
  self:begin()
  clear(self)
end

local function blit(from, to, self, width, height)
  gl.BindFramebuffer(gl.READ_FRAMEBUFFER, from)
  gl.BindFramebuffer(gl.DRAW_FRAMEBUFFER, to)
  gl.BlitFramebuffer(0, 0, self.width, self.height, 0, 0, width, height, gl.COLOR_BUFFER_BIT,
    gl.NEAREST)
end

-- Averages the samples of each pixel.
local function resolve(self)
  if self.is_resolved then return end
  blit(self.drawn, self.resolved, self, self.width, self.height)
  self.is_resolved = true
end

--- Returns the frame as bytes red green blue opacity, top row first, and its size in pixels.
function Canvas:read()
  self:use()
  self:settle()
  if not self.is_presented then resolve(self) end
  local row = self.width * 4
  local upward = self.upward or ffi.new("uint8_t[?]", row * self.height)
  self.upward = upward
  local pixels = ffi.new("uint8_t[?]", row * self.height)
  gl.BindFramebuffer(gl.READ_FRAMEBUFFER, self.resolved)
  gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
  gl.ReadPixels(0, 0, self.width, self.height, gl.RGBA, gl.UNSIGNED_BYTE, upward)
  for y = 0, self.height - 1 do
    ffi.copy(pixels + y * row, upward + (self.height - 1 - y) * row, row)
  end
  return pixels, self.width, self.height
end

--- Shows the frame. `overlays` is a list of { draw = function(self, canvas) }, which draw on top
--- of it, into the bound framebuffer of the canvas's size in pixels, one sample per pixel.
function Canvas:present(overlays)
  self:use()
  self:settle()
  if self.is_presented then self.is_resolved = false end -- once more, without the last overlay
  resolve(self)
  gl.BindFramebuffer(gl.FRAMEBUFFER, self.resolved)
  gl.Viewport(0, 0, self.width, self.height)
  gl.Disable(gl.DEPTH_TEST)
  for _, overlay in ipairs(overlays) do overlay:draw(self) end
  blit(self.resolved, 0, self, self.width, self.height)
  sdl.open().SDL_GL_SwapWindow(self.handle)
  self.is_presented = true
  gl.check "a frame"
end

--- Takes the window's new size. The frame so far is lost.
function Canvas:resize()
  self:use()
  create_targets(self)
  self.is_presented, self.is_resolved = true, false
end

--- The program of this name, made on first use of its texts (gl.program), or of what a function
--- returns.
function Canvas:program(name, texts)
  local own = self.programs[name]
  if not own then
    own = gl.program(type(texts) == "function" and texts() or texts)
    self.programs[name] = own
  end
  return own:use()
end

--- Binds a texture to a unit of the current context.
function Canvas.bind(_, unit, kind, name)
  gl.ActiveTexture(gl.TEXTURE0 + unit)
  gl.BindTexture(kind, name)
end

-- The buffer of this name, filled with `size` bytes, rounded up to whole words.
local function fill(self, slot, from, size)
  local name = self.buffers[slot]
  if not name then
    name = gl.create "Buffers"
    self.buffers[slot] = name
  end
  gl.BindBuffer(gl.ARRAY_BUFFER, name)
  if size % 4 == 0 then
    gl.BufferData(gl.ARRAY_BUFFER, size, from, gl.STREAM_DRAW)
  else
    gl.BufferData(gl.ARRAY_BUFFER, size + 4 - size % 4, nil, gl.STREAM_DRAW)
    gl.BufferSubData(gl.ARRAY_BUFFER, 0, size, from)
  end
  return name
end

local picture_texts = { vertex = [[
  uniform vec4 place;
  out vec2 at;
  void main() {
    at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    vec2 p = mix(place.xy, place.zw, at);
    gl_Position = vec4(p.x, -p.y, 0.0, 1.0);
  }
]], fragment = [[
  uniform sampler2D picture;
  in vec2 at;
  out vec4 color;
  void main() { color = texture(picture, at); }
]] }

--- Begins drawing without a depth buffer; returns the texture of the depth so far, which has
--- self.samples in each pixel.
function Canvas:begin_over()
  self:begin()
  gl.BindFramebuffer(gl.FRAMEBUFFER, self.over)
  return self.depth
end

--- Puts a picture over the frame: { x, y, width, height, rgba }, in pixels from the top left,
--- premultiplied, row by row from the top. `number`: another one after each change.
function Canvas:picture(p)
  if not self.picture_texture then
    self.picture_texture = gl.texture(gl.TEXTURE_2D, gl.NEAREST)
  end
  self:bind(0, gl.TEXTURE_2D, self.picture_texture)
  if p.number == nil or self.picture_number ~= p.number then
    gl.PixelStorei(gl.UNPACK_ALIGNMENT, 1)
    gl.TexImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, p.width, p.height, 0, gl.RGBA, gl.UNSIGNED_BYTE,
      p.rgba)
    self.picture_number = p.number
  end
  local program = self:program("overlay", picture_texts)
  program:int("picture", 0)
  program:vec4("place", 2 * p.x / self.width - 1, 2 * p.y / self.height - 1,
    2 * (p.x + p.width) / self.width - 1, 2 * (p.y + p.height) / self.height - 1)
  gl.BindVertexArray(self.vertices)
  gl.Enable(gl.BLEND)
  gl.BlendFuncSeparate(gl.ONE, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA)
  gl.DrawArrays(gl.TRIANGLE_STRIP, 0, 4)
end

--- Copies a memory (source.lua) to a buffer. Returns its name, and where the memory's base is in
--- it, in bytes.
function Canvas:upload(slot, m)
  local low, past = source.span(m)
  return fill(self, slot, m.base + low, past - low), -low
end

--- Copies a memory to a buffer whose 32-bit words texture unit 0 reads. Returns where the memory's
--- base is, in bytes; raises, as `caller`, if it is too large.
function Canvas:words(m, caller)
  local low, past = source.span(m)
  if (past - low) / 4 > gl.get(gl.MAX_TEXTURE_BUFFER_SIZE) then
    return fail.argument(("%s: %.0f MB are more than OpenGL reads here"):format(caller,
      (past - low) / 2 ^ 20), "show a part, or a coarser field")
  end
  local name, base = self:upload("words", m)
  if m.free then m.free() end
  if not self.word_texture then self.word_texture = gl.create "Textures" end
  self:bind(0, gl.TEXTURE_BUFFER, self.word_texture)
  gl.TexBuffer(gl.TEXTURE_BUFFER, gl.R32UI, name)
  return base
end

function Canvas:destroy()
  local C = sdl.open()
  if self.context ~= nil then C.SDL_GL_DeleteContext(self.context) end
  if self.handle ~= nil then C.SDL_DestroyWindow(self.handle) end
  self.context, self.handle = nil, nil
  if current == self then current = nil end
end

return canvas
