--- Glyphs as pictures of their cover, by FreeType, in a font that fontconfig finds; without either,
--- the dots of file/font.lua, magnified, and a message that says once what to install.
local ffi = require "ffi"
local fail = require "regolith.error"
local disk = require "regolith.file.disk"
local log = require "regolith.log"
local dots = require "regolith.file.font"

local font = {}

local declarations = [[
  typedef struct RgFontBitmap {
    unsigned int rows, width;
    int pitch;
    uint8_t *buffer;
  } RgFontBitmap;
  typedef struct RgFontGlyph { /* FT_GlyphSlotRec */
    void *library, *face, *next;
    unsigned int index;
    void *generic[2];
    long metrics[8], linear[2], advance_x, advance_y;
    int format;
    RgFontBitmap bitmap;
    unsigned short grays;
    uint8_t modes[2];
    void *palette;
    int left, top;
  } RgFontGlyph;
  typedef struct RgFontFace { /* FT_FaceRec */
    long counts[5];
    char *family, *style;
    int sizes;
    void *size_list;
    int maps;
    void *map_list;
    void *generic[2];
    long box[4];
    unsigned short em;
    short ascender, descender, height, more[4];
    RgFontGlyph *glyph;
  } RgFontFace;
  int FT_Init_FreeType(void **library);
  int FT_New_Face(void *library, const char *path, long index, RgFontFace **face);
  int FT_Set_Pixel_Sizes(RgFontFace *face, unsigned int width, unsigned int height);
  int FT_Load_Char(RgFontFace *face, unsigned long code, int32_t flags);
  typedef struct FcPattern FcPattern;
  FcPattern *FcNameParse(const char *name);
  int FcConfigSubstitute(void *config, FcPattern *pattern, int kind);
  void FcDefaultSubstitute(FcPattern *pattern);
  FcPattern *FcFontMatch(void *config, FcPattern *pattern, int *result);
  int FcPatternGetString(FcPattern *pattern, const char *object, int n, char **text);
  void FcPatternDestroy(FcPattern *pattern);
]]

local likely = { "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
  "/usr/share/fonts/TTF/DejaVuSans.ttf" }
local render = 4 -- FT_LOAD_RENDER

-- The path of the font that fontconfig takes for `name`.
local function find(name)
  for _, path in ipairs(name == "sans" and likely or {}) do
    if disk.has(path) then return path end
  end
  local ok, C = pcall(ffi.load, "libfontconfig.so.1")
  if not ok then return nil end
  local pattern = C.FcNameParse(name)
  if pattern == nil then return nil end
  C.FcConfigSubstitute(nil, pattern, 0)
  C.FcDefaultSubstitute(pattern)
  local match, text = C.FcFontMatch(nil, pattern, ffi.new "int[1]"), ffi.new "char *[1]"
  C.FcPatternDestroy(pattern)
  if match == nil then return nil end
  local path = C.FcPatternGetString(match, "file", 0, text) == 0 and ffi.string(text[0]) or nil
  C.FcPatternDestroy(match)
  return path
end

local library -- { C, object } of FreeType; false if there is none
local has_warned = false

local function open_library()
  if library ~= nil then return library end
  library = false
  local ok, C = pcall(ffi.load, "libfreetype.so.6")
  if not ok then return false end
  if not pcall(ffi.typeof, "RgFontFace") then ffi.cdef(declarations) end
  local made = ffi.new "void *[1]"
  if C.FT_Init_FreeType(made) == 0 then library = { C = C, object = made[0] } end
  return library
end

local function warn_of_dots(what)
  if has_warned then return end
  has_warned = true
  log.warn("text is drawn in dots: " .. what)
end

-- -- fonts ----------------------------------------------------------------------------------------

local Font = {}
Font.__index = Font

local fonts = {} -- name -> font

--- The font of this name or path; of dots if there is none.
function font.open(name)
  if fonts[name] then return fonts[name] end
  local self = setmetatable({ face = false }, Font)
  fonts[name] = self
  local own = open_library()
  if not own then
    warn_of_dots "apt install libfreetype6"
    return self
  end
  local path = disk.has(name) and name or find(name)
  local made = ffi.new "RgFontFace *[1]"
  if path and own.C.FT_New_Face(own.object, path, 0, made) == 0 then
    self.face = made[0]
  elseif name:find "/" then
    fonts[name] = nil
    return fail.argument(("the font '%s' cannot be read"):format(name), nil, "io.failed")
  else
    warn_of_dots "no font was found: apt install fonts-dejavu-core"
  end
  return self
end

-- A glyph of dots, `scale` pixels each.
local function dot_glyph(code, size)
  local scale = math.max(1, math.floor(size / 10 + 0.5))
  local columns = dots[code] or dots[63]
  local width, rows = 5 * scale, 8 * scale
  local cover = ffi.new("uint8_t[?]", width * rows)
  for y = 0, rows - 1 do
    for x = 0, width - 1 do
      local bits = columns[math.floor(x / scale) + 1]
      local is_set = math.floor(bits / 2 ^ math.floor(y / scale)) % 2 == 1
      cover[y * width + x] = is_set and 255 or 0
    end
  end
  return { cover = cover, width = width, rows = rows, pitch = width, left = 0, top = 7 * scale,
    advance = 6 * scale }
end

--- A character's picture at a size in pixels: { cover, width, rows, pitch, left, top, advance },
--- `cover` valid until the next call; left and top are from the pen, upward.
function Font:glyph(code, size)
  if not self.face then return dot_glyph(code, size) end
  local C = library.C
  C.FT_Set_Pixel_Sizes(self.face, 0, size)
  if C.FT_Load_Char(self.face, code, render) ~= 0 then return dot_glyph(code, size) end
  local glyph = self.face.glyph
  return { cover = glyph.bitmap.buffer, width = glyph.bitmap.width, rows = glyph.bitmap.rows,
    pitch = glyph.bitmap.pitch, left = glyph.left, top = glyph.top,
    advance = tonumber(glyph.advance_x) / 64 }
end

return font
