--- OpenGL 3.3, core profile: its functions, found by SDL when a context exists, and the
--- few constants that are used. Programs, buffers and textures are made here.
local ffi = require "ffi"
local fail = require "regolith.error"

local gl = {}

local prototypes = [[
uint32_t GetError(void)
void GetIntegerv(uint32_t name, int *value)
void Enable(uint32_t what)
void Disable(uint32_t what)
void Viewport(int x, int y, int width, int height)
void ClearColor(float r, float g, float b, float a)
void Clear(uint32_t mask)
void DepthMask(uint8_t on)
void ColorMask(uint8_t r, uint8_t g, uint8_t b, uint8_t a)
void CullFace(uint32_t face)
void BlendFuncSeparate(uint32_t source, uint32_t target, uint32_t source_alpha, uint32_t alpha)
void PixelStorei(uint32_t name, int value)
void ReadPixels(int x, int y, int width, int height, uint32_t format, uint32_t type, void *pixels)
void GenFramebuffers(int count, uint32_t *names)
void DeleteFramebuffers(int count, const uint32_t *names)
void BindFramebuffer(uint32_t target, uint32_t name)
uint32_t CheckFramebufferStatus(uint32_t target)
void FramebufferRenderbuffer(uint32_t target, uint32_t point, uint32_t kind, uint32_t name)
void FramebufferTexture2D(uint32_t target, uint32_t point, uint32_t kind, uint32_t name, int level)
void FramebufferTextureLayer(uint32_t target, uint32_t point, uint32_t name, int level, int layer)
void BlitFramebuffer(int a, int b, int c, int d, int e, int f, int g, int h, uint32_t mask,
  uint32_t filter)
void DrawBuffer(uint32_t buffer)
void ReadBuffer(uint32_t buffer)
void GenRenderbuffers(int count, uint32_t *names)
void DeleteRenderbuffers(int count, const uint32_t *names)
void BindRenderbuffer(uint32_t target, uint32_t name)
void RenderbufferStorageMultisample(uint32_t target, int samples, uint32_t format, int width,
  int height)
void GenTextures(int count, uint32_t *names)
void DeleteTextures(int count, const uint32_t *names)
void ActiveTexture(uint32_t unit)
void BindTexture(uint32_t target, uint32_t name)
void TexParameteri(uint32_t target, uint32_t name, int value)
void TexImage2D(uint32_t target, int level, int internal, int width, int height, int border,
  uint32_t format, uint32_t type, const void *pixels)
void TexImage2DMultisample(uint32_t target, int samples, uint32_t internal, int width, int height,
  uint8_t are_fixed)
void TexSubImage2D(uint32_t target, int level, int x, int y, int width, int height,
  uint32_t format, uint32_t type, const void *pixels)
void TexImage3D(uint32_t target, int level, int internal, int width, int height, int depth,
  int border, uint32_t format, uint32_t type, const void *pixels)
void TexBuffer(uint32_t target, uint32_t format, uint32_t buffer)
void GenBuffers(int count, uint32_t *names)
void DeleteBuffers(int count, const uint32_t *names)
void BindBuffer(uint32_t target, uint32_t name)
void BufferData(uint32_t target, intptr_t size, const void *data, uint32_t usage)
void BufferSubData(uint32_t target, intptr_t offset, intptr_t size, const void *data)
void GenVertexArrays(int count, uint32_t *names)
void BindVertexArray(uint32_t name)
void EnableVertexAttribArray(uint32_t index)
void DisableVertexAttribArray(uint32_t index)
void VertexAttribPointer(uint32_t index, int size, uint32_t type, uint8_t normalized, int stride,
  const void *offset)
void VertexAttribDivisor(uint32_t index, uint32_t divisor)
void VertexAttrib1f(uint32_t index, float x)
void DrawArrays(uint32_t mode, int first, int count)
void DrawElements(uint32_t mode, int count, uint32_t type, const void *offset)
void DrawArraysInstanced(uint32_t mode, int first, int count, int instances)
uint32_t CreateShader(uint32_t kind)
void DeleteShader(uint32_t name)
void ShaderSource(uint32_t name, int count, const char **texts, const int *lengths)
void CompileShader(uint32_t name)
void GetShaderiv(uint32_t name, uint32_t what, int *value)
void GetShaderInfoLog(uint32_t name, int size, int *length, char *text)
uint32_t CreateProgram(void)
void AttachShader(uint32_t program, uint32_t shader)
void LinkProgram(uint32_t name)
void GetProgramiv(uint32_t name, uint32_t what, int *value)
void GetProgramInfoLog(uint32_t name, int size, int *length, char *text)
void UseProgram(uint32_t name)
int GetUniformLocation(uint32_t program, const char *name)
void Uniform1i(int location, int a)
void Uniform2i(int location, int a, int b)
void Uniform1f(int location, float a)
void Uniform2f(int location, float a, float b)
void Uniform3f(int location, float a, float b, float c)
void Uniform4f(int location, float a, float b, float c, float d)
void UniformMatrix4fv(int location, int count, uint8_t transpose, const float *values)
]]

gl.COLOR_BUFFER_BIT, gl.DEPTH_BUFFER_BIT = 0x4000, 0x100
gl.POINTS, gl.LINES, gl.LINE_LOOP, gl.LINE_STRIP = 0, 1, 2, 3
gl.TRIANGLES, gl.TRIANGLE_STRIP = 4, 5
gl.FRONT = 0x404
gl.BLEND, gl.DEPTH_TEST, gl.CULL_FACE = 0xbe2, 0xb71, 0xb44
gl.SAMPLE_ALPHA_TO_COVERAGE = 0x809e
gl.ONE, gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA = 1, 0x302, 0x303
gl.BYTE, gl.UNSIGNED_BYTE, gl.SHORT, gl.UNSIGNED_SHORT = 0x1400, 0x1401, 0x1402, 0x1403
gl.INT, gl.UNSIGNED_INT, gl.FLOAT = 0x1404, 0x1405, 0x1406
gl.DOUBLE, gl.HALF_FLOAT = 0x140a, 0x140b
gl.RED, gl.RGBA = 0x1903, 0x1908
gl.RGBA8, gl.R8, gl.R16F = 0x8058, 0x8229, 0x822d
gl.DEPTH_COMPONENT, gl.DEPTH_COMPONENT24 = 0x1902, 0x81a6
gl.TEXTURE_2D_MULTISAMPLE, gl.MAX_DEPTH_TEXTURE_SAMPLES = 0x9100, 0x910f
gl.TEXTURE_2D, gl.TEXTURE_3D, gl.TEXTURE0 = 0xde1, 0x806f, 0x84c0
gl.TEXTURE_MAG_FILTER, gl.TEXTURE_MIN_FILTER = 0x2800, 0x2801
gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R = 0x2802, 0x2803, 0x8072
gl.NEAREST, gl.LINEAR, gl.CLAMP_TO_EDGE = 0x2600, 0x2601, 0x812f
gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE = 0x884c, 0x884e
gl.UNPACK_ALIGNMENT, gl.PACK_ALIGNMENT = 0xcf5, 0xd05
gl.ARRAY_BUFFER, gl.ELEMENT_ARRAY_BUFFER, gl.STREAM_DRAW = 0x8892, 0x8893, 0x88e0
gl.FRAMEBUFFER, gl.READ_FRAMEBUFFER, gl.DRAW_FRAMEBUFFER = 0x8d40, 0x8ca8, 0x8ca9
gl.RENDERBUFFER, gl.COLOR_ATTACHMENT0, gl.DEPTH_ATTACHMENT = 0x8d41, 0x8ce0, 0x8d00
gl.FRAMEBUFFER_COMPLETE, gl.MAX_SAMPLES = 0x8cd5, 0x8d57
gl.MAX_3D_TEXTURE_SIZE, gl.PROGRAM_POINT_SIZE = 0x8073, 0x8642
gl.VERTEX_SHADER, gl.FRAGMENT_SHADER, gl.GEOMETRY_SHADER = 0x8b31, 0x8b30, 0x8dd9
gl.COMPILE_STATUS, gl.LINK_STATUS, gl.INFO_LOG_LENGTH = 0x8b81, 0x8b82, 0x8b84
gl.TEXTURE_BUFFER, gl.R32UI, gl.MAX_TEXTURE_BUFFER_SIZE = 0x8c2a, 0x8236, 0x8c2b
gl.NONE = 0

local function refuse(why)
  return fail.raise { code = "device.missing", message = "OpenGL cannot draw: " .. why,
    hint = "RG_WINDOW=plain shows pictures and dots without it" }
end

--- Finds the functions for a new context, which must be current: SDL unloads OpenGL with its last
--- window, so earlier addresses may be stale. Returns the first name that is missing.
function gl.load(address_of)
  local found = {}
  for result, name, arguments in prototypes:gmatch "([^\n]-%s%*?)(%w+)(%b())\n" do
    local address = address_of("gl" .. name)
    if address == nil then return "gl" .. name end
    found[name] = ffi.cast(("%s (*)%s"):format(result, arguments), address)
  end
  for name, f in pairs(found) do gl[name] = f end
end

local name_out, int_out = ffi.new "uint32_t[1]", ffi.new "int[1]"

--- Creates one object: gl.create "Buffers".
function gl.create(kind)
  gl["Gen" .. kind](1, name_out)
  return name_out[0]
end

function gl.delete(kind, name)
  if not name then return end
  name_out[0] = name
  gl["Delete" .. kind](1, name_out)
end

function gl.get(name)
  gl.GetIntegerv(name, int_out)
  return int_out[0]
end

--- Raises if any call since the last check failed; a mistake in our own code, or memory ran out.
function gl.check(what)
  local code = gl.GetError()
  if code == 0 then return end
  while gl.GetError() ~= 0 do end
  return refuse(("%s failed with error 0x%x"):format(what, code))
end

-- -- programs -------------------------------------------------------------------------------------

local Program = {}
Program.__index = Program

local stages = { vertex = gl.VERTEX_SHADER, geometry = gl.GEOMETRY_SHADER,
  fragment = gl.FRAGMENT_SHADER }

local function log_of(kind, name)
  gl["Get" .. kind .. "iv"](name, gl.INFO_LOG_LENGTH, int_out)
  local size = int_out[0] + 1
  local text = ffi.new("char[?]", size)
  gl["Get" .. kind .. "InfoLog"](name, size, nil, text)
  return (ffi.string(text):gsub("%s+$", ""))
end

local function compile(stage, text)
  local shader = gl.CreateShader(stages[stage])
  gl.ShaderSource(shader, 1, ffi.new("const char *[1]", { text }), nil)
  gl.CompileShader(shader)
  gl.GetShaderiv(shader, gl.COMPILE_STATUS, int_out)
  if int_out[0] == 0 then
    return refuse(("the %s shader: %s"):format(stage, log_of("Shader", shader)))
  end
  return shader
end

--- Compiles and links the texts of its stages, { vertex =, geometry =, fragment = }, each without
--- the version line. Attributes have the locations that the text says.
function gl.program(texts)
  local name = gl.CreateProgram()
  for stage in pairs(stages) do
    if texts[stage] then
      local shader = compile(stage, "#version 330 core\n" .. texts[stage])
      gl.AttachShader(name, shader)
      gl.DeleteShader(shader)
    end
  end
  gl.LinkProgram(name)
  gl.GetProgramiv(name, gl.LINK_STATUS, int_out)
  if int_out[0] == 0 then return refuse("a program: " .. log_of("Program", name)) end
  return setmetatable({ name = name, places = {} }, Program)
end

function Program:use()
  gl.UseProgram(self.name)
  return self
end

--- The location of a uniform; -1, which calls ignore, if the program does not use it.
function Program:at(name)
  local at = self.places[name]
  if not at then
    at = gl.GetUniformLocation(self.name, name)
    self.places[name] = at
  end
  return at
end

function Program:int(name, a) gl.Uniform1i(self:at(name), a) end
function Program:ivec2(name, a, b) gl.Uniform2i(self:at(name), a, b) end
function Program:float(name, a) gl.Uniform1f(self:at(name), a) end
function Program:vec2(name, a, b) gl.Uniform2f(self:at(name), a, b) end
function Program:vec3(name, a, b, c) gl.Uniform3f(self:at(name), a, b, c) end
function Program:vec4(name, a, b, c, d) gl.Uniform4f(self:at(name), a, b, c, d) end
--- m: 16 floats, column by column.
function Program:matrix(name, m) gl.UniformMatrix4fv(self:at(name), 1, 0, m) end

-- -- textures -------------------------------------------------------------------------------------

--- Creates a texture with these filters, and binds it to a unit that no program reads; edges
--- repeat.
function gl.texture(kind, filter)
  local name = gl.create "Textures"
  gl.ActiveTexture(gl.TEXTURE0 + 7)
  gl.BindTexture(kind, name)
  gl.TexParameteri(kind, gl.TEXTURE_MIN_FILTER, filter)
  gl.TexParameteri(kind, gl.TEXTURE_MAG_FILTER, filter)
  gl.TexParameteri(kind, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
  gl.TexParameteri(kind, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
  if kind == gl.TEXTURE_3D then
    gl.TexParameteri(kind, gl.TEXTURE_WRAP_R, gl.CLAMP_TO_EDGE)
  end
  return name
end

return gl
