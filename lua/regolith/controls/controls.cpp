// controls.cpp - Dear ImGui behind a C interface. A frame is begin, panels, end; end paints
// ImGui's triangles (raster.h), and only if they differ from those of the last frame.
#include "controls.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include <imgui/imgui.h>
#include <imgui/imgui_internal.h>

#include "raster.h"

static_assert(sizeof(ImDrawVert) == sizeof(RasterVertex), "RasterVertex has ImGui's layout");

namespace {

struct Event {
  int32_t kind, code;
  float x, y;
};

// Modifiers have numbers after ImGui's own keys.
enum { KEY_CTRL = ImGuiKey_COUNT, KEY_SHIFT, KEY_ALT, KEY_COUNT };

const struct {
  const char *name;
  int key;
} keys[] = {{"tab", ImGuiKey_Tab},
            {"left", ImGuiKey_LeftArrow},
            {"right", ImGuiKey_RightArrow},
            {"up", ImGuiKey_UpArrow},
            {"down", ImGuiKey_DownArrow},
            {"pageup", ImGuiKey_PageUp},
            {"pagedown", ImGuiKey_PageDown},
            {"home", ImGuiKey_Home},
            {"end", ImGuiKey_End},
            {"delete", ImGuiKey_Delete},
            {"backspace", ImGuiKey_Backspace},
            {"return", ImGuiKey_Enter},
            {"keypad enter", ImGuiKey_KeyPadEnter},
            {"escape", ImGuiKey_Escape},
            {"a", ImGuiKey_A},
            {"c", ImGuiKey_C},
            {"v", ImGuiKey_V},
            {"x", ImGuiKey_X},
            {"y", ImGuiKey_Y},
            {"z", ImGuiKey_Z},
            {"left ctrl", KEY_CTRL},
            {"right ctrl", KEY_CTRL},
            {"left shift", KEY_SHIFT},
            {"right shift", KEY_SHIFT},
            {"left alt", KEY_ALT},
            {"right alt", KEY_ALT}};

} // namespace

// The position at which we placed a panel, until the user moves it.
struct Panel {
  ImGuiID id;
  ImVec2 place;
  bool is_moved;
};

struct RgControls {
  ImGuiContext *context;
  std::vector<Panel> panels;
  float scale;
  bool is_down[KEY_COUNT];
  std::vector<Event> events;
  std::vector<uint8_t> pixels;
  RasterTexture font;
  ImFont *source_font;
  uint64_t hash, number;
};

static ImFont *add_font(ImFontAtlas *fonts, const char *path, float scale) {
  if (path) return fonts->AddFontFromFileTTF(path, 14 * scale);
  ImFontConfig config;
  config.SizePixels = 13 * scale;
  return fonts->AddFontDefault(&config); // its letters have equal widths
}

extern "C" RgControls *rg_controls_create(float scale, const char *font, const char *source_font) {
  IMGUI_CHECKVERSION(); // of the headers and of the library that was linked
  RgControls *c = new (std::nothrow) RgControls();
  if (!c) return nullptr;
  c->scale = scale;
  c->context = ImGui::CreateContext();
  ImGui::SetCurrentContext(c->context);
  ImGuiIO &io = ImGui::GetIO();
  io.IniFilename = nullptr;
  for (int k = 0; k < ImGuiKey_COUNT; k++) io.KeyMap[k] = k;
  add_font(io.Fonts, font, scale);
  c->source_font = add_font(io.Fonts, source_font, scale);
  unsigned char *texels = nullptr;
  io.Fonts->GetTexDataAsAlpha8(&texels, &c->font.width, &c->font.height);
  c->font.texels = texels;
  ImGui::StyleColorsDark();
  ImGuiStyle &style = ImGui::GetStyle();
  style.WindowRounding = 5, style.FrameRounding = 3, style.GrabRounding = 3;
  style.Colors[ImGuiCol_WindowBg].w = 0.88f;
  style.ScaleAllSizes(scale);
  return c;
}

extern "C" void rg_controls_destroy(RgControls *c) {
  if (!c) return;
  ImGui::DestroyContext(c->context);
  delete c;
}

// -- events --------------------------------------------------------------------------------------

extern "C" int32_t rg_controls_key(const char *name) {
  for (const auto &row : keys)
    if (strcmp(row.name, name) == 0) return row.key;
  return -1;
}

extern "C" void rg_controls_event(RgControls *c, int32_t kind, int32_t code, float x, float y) {
  c->events.push_back({kind, code, x, y});
}

extern "C" int32_t rg_controls_has_mouse(RgControls *c, float x, float y) {
  ImGui::SetCurrentContext(c->context);
  for (bool is_down : ImGui::GetIO().MouseDown)
    if (is_down) return ImGui::GetIO().WantCaptureMouse;
  for (const ImGuiWindow *w : c->context->Windows)
    if (w->WasActive && !w->Hidden && w->OuterRectClipped.Contains(ImVec2(x, y))) return 1;
  return 0;
}

extern "C" int32_t rg_controls_has_keys(RgControls *c) {
  ImGui::SetCurrentContext(c->context);
  return ImGui::GetIO().WantTextInput || c->context->OpenPopupStack.Size > 0;
}

// Takes events until one would hide another of this frame: a second change of a button or key, or a
// move after one.
static void take_events(RgControls *c, ImGuiIO &io) {
  size_t at = 0;
  bool has_button = false, has_key = false;
  io.MouseWheel = 0;
  for (; at < c->events.size(); at++) {
    const Event &e = c->events[at];
    bool is_button = e.kind == RG_CONTROLS_PRESS || e.kind == RG_CONTROLS_RELEASE;
    bool is_key = e.kind == RG_CONTROLS_DOWN || e.kind == RG_CONTROLS_UP;
    if (has_button && (is_button || e.kind == RG_CONTROLS_MOVE)) break;
    if (has_key && is_key) break;
    if (is_button || e.kind == RG_CONTROLS_MOVE) io.MousePos = ImVec2(e.x, e.y);
    if (is_button && e.code >= 0 && e.code < 3) {
      io.MouseDown[e.code] = e.kind == RG_CONTROLS_PRESS;
      has_button = true;
    }
    if (is_key && e.code >= 0 && e.code < KEY_COUNT) {
      c->is_down[e.code] = e.kind == RG_CONTROLS_DOWN;
      has_key = e.code < ImGuiKey_COUNT;
    }
    if (e.kind == RG_CONTROLS_WHEEL) io.MouseWheel += e.y;
    if (e.kind == RG_CONTROLS_TEXT) io.AddInputCharacter((unsigned)e.code);
  }
  c->events.erase(c->events.begin(), c->events.begin() + (ptrdiff_t)at);
  for (int k = 0; k < ImGuiKey_COUNT; k++) io.KeysDown[k] = c->is_down[k];
  io.KeyCtrl = c->is_down[KEY_CTRL];
  io.KeyShift = c->is_down[KEY_SHIFT];
  io.KeyAlt = c->is_down[KEY_ALT];
}

// -- a frame -------------------------------------------------------------------------------------

extern "C" void rg_controls_begin(RgControls *c, int32_t width, int32_t height, double seconds) {
  ImGui::SetCurrentContext(c->context);
  ImGuiIO &io = ImGui::GetIO();
  io.DisplaySize = ImVec2((float)width, (float)height);
  io.DeltaTime = seconds > 1e-4 ? (float)seconds : 1e-4f;
  take_events(c, io);
  ImGui::NewFrame();
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t count) {
  const uint8_t *bytes = static_cast<const uint8_t *>(data);
  for (size_t k = 0; k < count; k++) hash = (hash ^ bytes[k]) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_of(const ImDrawData *data) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int k = 0; k < data->CmdListsCount; k++) {
    const ImDrawList *list = data->CmdLists[k];
    hash = hash_bytes(hash, list->VtxBuffer.Data, list->VtxBuffer.size_in_bytes());
    for (const ImDrawCmd &command : list->CmdBuffer)
      hash = hash_bytes(hash, &command.ClipRect, sizeof command.ClipRect);
  }
  return hash;
}

// The smallest rectangle that contains all vertices, within the display.
static RasterClip box_of(const ImDrawData *data) {
  float low_x = data->DisplaySize.x, low_y = data->DisplaySize.y, high_x = 0, high_y = 0;
  for (int k = 0; k < data->CmdListsCount; k++) {
    for (const ImDrawVert &v : data->CmdLists[k]->VtxBuffer) {
      low_x = ImMin(low_x, v.pos.x), low_y = ImMin(low_y, v.pos.y);
      high_x = ImMax(high_x, v.pos.x), high_y = ImMax(high_y, v.pos.y);
    }
  }
  RasterClip box = {(int32_t)ImMax(0.0f, low_x), (int32_t)ImMax(0.0f, low_y),
                    (int32_t)ImMin(data->DisplaySize.x, high_x + 1),
                    (int32_t)ImMin(data->DisplaySize.y, high_y + 1)};
  if (box.high_x <= box.low_x || box.high_y <= box.low_y) box = {0, 0, 0, 0};
  return box;
}

static void paint_list(const RasterTarget *target, const RasterTexture *font,
                       const ImDrawList *list) {
  auto vertices = reinterpret_cast<const RasterVertex *>(list->VtxBuffer.Data);
  for (const ImDrawCmd &command : list->CmdBuffer) {
    RasterClip clip = {(int32_t)command.ClipRect.x, (int32_t)command.ClipRect.y,
                       (int32_t)command.ClipRect.z, (int32_t)command.ClipRect.w};
    const ImDrawIdx *index = list->IdxBuffer.Data + command.IdxOffset;
    const RasterVertex *base = vertices + command.VtxOffset;
    for (unsigned k = 0; k + 2 < command.ElemCount; k += 3)
      raster_triangle(target, font, clip, base + index[k], base + index[k + 1],
                      base + index[k + 2]);
  }
}

extern "C" void rg_controls_end(RgControls *c, RgControlsPicture *picture) {
  ImGui::SetCurrentContext(c->context);
  ImGui::Render();
  const ImDrawData *data = ImGui::GetDrawData();
  RasterClip box = box_of(data);
  RasterTarget target = {nullptr, box.low_x, box.low_y, box.high_x - box.low_x,
                         box.high_y - box.low_y};
  uint64_t hash = hash_of(data);
  if (hash != c->hash || c->number == 0) {
    c->hash = hash, c->number++;
    c->pixels.assign((size_t)target.width * (size_t)target.height * 4, 0);
    target.rgba = c->pixels.data();
    for (int k = 0; k < data->CmdListsCount; k++) paint_list(&target, &c->font, data->CmdLists[k]);
  }
  *picture = {target.x, target.y, target.width, target.height, c->pixels.data(), c->number};
}

// -- panels and controls -------------------------------------------------------------------------

static Panel *panel_of(RgControls *c, const char *title) {
  ImGuiID id = ImHashStr(title);
  const ImGuiWindow *window = ImGui::FindWindowByID(id);
  for (Panel &panel : c->panels) {
    if (panel.id != id) continue;
    if (window && (window->Pos.x != panel.place.x || window->Pos.y != panel.place.y))
      panel.is_moved = true;
    return &panel;
  }
  c->panels.push_back({id, window ? window->Pos : ImVec2(0, 0), false});
  return &c->panels.back();
}

extern "C" int32_t rg_controls_panel_begin(RgControls *c, const char *title, int32_t place) {
  ImGui::SetCurrentContext(c->context);
  Panel *panel = panel_of(c, title);
  float margin = 8 * c->scale;
  ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGuiWindowFlags flags = ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings;
  if (place == 2) {
    ImGui::SetNextWindowPos(ImVec2(margin, size.y - margin), ImGuiCond_Always, ImVec2(0, 1));
    ImGui::SetNextWindowSizeConstraints(ImVec2(size.x - 2 * margin, 0),
                                        ImVec2(size.x - 2 * margin, size.y / 2));
    flags |= ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoFocusOnAppearing;
  } else if (!panel->is_moved) { // also while its size changes
    float x = place == 1 ? margin : size.x - margin;
    ImGui::SetNextWindowPos(ImVec2(x, margin), ImGuiCond_Always,
                            ImVec2(place == 1 ? 0.0f : 1.0f, 0));
  }
  bool is_open = ImGui::Begin(title, nullptr, flags);
  panel->place = ImGui::GetWindowPos();
  ImGui::PushItemWidth(130 * c->scale);
  if (place == 2) ImGui::PushTextWrapPos(0);
  return is_open;
}

extern "C" void rg_controls_panel_end(RgControls *c) {
  ImGui::SetCurrentContext(c->context);
  ImGui::PopItemWidth();
  ImGui::End();
}

extern "C" int32_t rg_controls_slider(RgControls *c, const char *name, double *value, double low,
                                      double high, const char *digits) {
  ImGui::SetCurrentContext(c->context);
  ImGuiSliderFlags flags = ImGuiSliderFlags_AlwaysClamp;
  if (low > 0 && high / low >= 1000) flags |= ImGuiSliderFlags_Logarithmic;
  int32_t answer =
      ImGui::SliderScalar(name, ImGuiDataType_Double, value, &low, &high, digits, flags) ? 1 : 0;
  return answer | (ImGui::IsItemClicked(ImGuiMouseButton_Right) ? 2 : 0);
}

extern "C" int32_t rg_controls_checkbox(RgControls *c, const char *name, int32_t *value) {
  ImGui::SetCurrentContext(c->context);
  bool is_on = *value != 0, has_changed = ImGui::Checkbox(name, &is_on);
  *value = is_on;
  return has_changed | (ImGui::IsItemClicked(ImGuiMouseButton_Right) ? 2 : 0);
}

extern "C" int32_t rg_controls_button(RgControls *c, const char *name) {
  ImGui::SetCurrentContext(c->context);
  return ImGui::Button(name);
}

extern "C" int32_t rg_controls_choice(RgControls *c, const char *name, int32_t *index,
                                      const char *const *names, int32_t count) {
  ImGui::SetCurrentContext(c->context);
  int chosen = *index;
  bool has_changed = ImGui::Combo(name, &chosen, names, count);
  *index = chosen;
  return has_changed;
}

extern "C" void rg_controls_watch(RgControls *c, const char *name, const char *value) {
  ImGui::SetCurrentContext(c->context);
  ImGui::LabelText(name, "%s", value);
}

/* The ends of a plot; FLT_MAX: Dear ImGui's choice. Conserved sums of f32 differ by rounding,
 * which would fill the plot, so values that differ by less than the fraction `same` are shown as
 * a line. */
static void plot_ends(const float *values, int32_t count, float *low, float *high) {
  const float same = 1e-5f;
  float least = FLT_MAX, most = -FLT_MAX;
  for (int32_t i = 0; i < count; i++)
    if (std::isfinite(values[i])) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
  float size = std::max(std::fabs(least), std::fabs(most));
  bool is_constant = least <= most && size < 1e30f && most - least <= same * size;
  *low = is_constant ? least - 100 * same * size : FLT_MAX;
  *high = is_constant ? most + 100 * same * size : FLT_MAX;
}

extern "C" void rg_controls_plot(RgControls *c, const char *name, const float *values,
                                 int32_t count, const char *over) {
  ImGui::SetCurrentContext(c->context);
  float low, high;
  plot_ends(values, count, &low, &high);
  ImGui::PlotLines(name, values, count, 0, over, low, high, ImVec2(0, 48 * c->scale));
}

extern "C" void rg_controls_text(RgControls *c, const char *text, int32_t kind) {
  ImGui::SetCurrentContext(c->context);
  const ImVec4 mistake(1, 0.55f, 0.45f, 1);
  const ImVec4 colours[] = {ImVec4(1, 1, 1, 1), mistake, ImVec4(0.7f, 0.7f, 0.7f, 1), mistake};
  bool is_source = kind == 3;
  ImGui::PushStyleColor(ImGuiCol_Text, colours[kind >= 0 && kind <= 3 ? kind : 0]);
  if (is_source) {
    ImGui::PushFont(c->source_font);
    ImGui::PushTextWrapPos(-1);
  }
  ImGui::TextUnformatted(text);
  if (is_source) {
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
  }
  ImGui::PopStyleColor();
}

extern "C" int32_t rg_controls_columns(RgControls *c) {
  ImGui::SetCurrentContext(c->context);
  ImGui::PushFont(c->source_font);
  float columns = ImGui::GetContentRegionAvail().x / ImGui::CalcTextSize("M").x;
  ImGui::PopFont();
  return (int32_t)columns;
}

extern "C" void rg_controls_separator(RgControls *c) {
  ImGui::SetCurrentContext(c->context);
  ImGui::Separator();
}

extern "C" void rg_controls_same_line(RgControls *c) {
  ImGui::SetCurrentContext(c->context);
  ImGui::SameLine();
}
