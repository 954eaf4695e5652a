/* controls.h - what one can drag: panels of sliders, checkboxes, buttons, choices, values and
 * plots over a window, by Dear ImGui (Debian's libimgui-dev). The library knows neither SDL nor
 * OpenGL: it takes events, and gives a picture to put over the frame, so that all windows and
 * files show the same. controls.lua repeats these declarations. Not for several threads. */
#ifndef RG_CONTROLS_H
#define RG_CONTROLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RgControls RgControls;

typedef enum RgControlsKind {
  RG_CONTROLS_MOVE,    /* x, y in pixels from the top left */
  RG_CONTROLS_PRESS,   /* code: 0 left, 1 right, 2 middle; x, y */
  RG_CONTROLS_RELEASE, /* likewise */
  RG_CONTROLS_WHEEL,   /* y: notches, up is positive */
  RG_CONTROLS_DOWN,    /* code: a key, as rg_controls_key names it */
  RG_CONTROLS_UP,
  RG_CONTROLS_TEXT /* code: a Unicode character */
} RgControlsKind;

/* What to put over the frame: premultiplied rgba, row by row from the top. */
typedef struct RgControlsPicture {
  int32_t x, y, width, height;
  const uint8_t *rgba; /* valid until the next rg_controls_end */
  uint64_t number;     /* another one after each change */
} RgControlsPicture;

/* `scale`: 1 on a display of about 96 dots an inch. `font`, `source_font`: the paths of TrueType
 * fonts, or NULL; the letters of the second one have equal widths. */
RgControls *rg_controls_create(float scale, const char *font, const char *source_font);
void rg_controls_destroy(RgControls *controls);

/* The key of that name ("left", "return", "left ctrl"), or -1 for keys that no control uses. */
int32_t rg_controls_key(const char *name);
/* Events wait for the next frames, which take one change of a button each. */
void rg_controls_event(RgControls *controls, int32_t kind, int32_t code, float x, float y);
/* Is there a panel at this place, or does one hold the mouse? */
int32_t rg_controls_has_mouse(RgControls *controls, float x, float y);
/* Is a text or a number being typed? Keys are then for the controls alone. */
int32_t rg_controls_has_keys(RgControls *controls);

void rg_controls_begin(RgControls *controls, int32_t width, int32_t height, double seconds);
void rg_controls_end(RgControls *controls, RgControlsPicture *picture);

/* `place`: 0 the top right corner, 1 the top left, 2 along the bottom; the panel can be moved.
 * Every begin has its end; the value says whether the panel is unfolded. */
int32_t rg_controls_panel_begin(RgControls *controls, const char *title, int32_t place);
void rg_controls_panel_end(RgControls *controls);

/* Bits: 1 the value has changed, 2 the right button asks for the value at the start. `digits`: a
 * format, "%.4g". */
int32_t rg_controls_slider(RgControls *controls, const char *name, double *value, double low,
                           double high, const char *digits);
int32_t rg_controls_checkbox(RgControls *controls, const char *name, int32_t *value);
int32_t rg_controls_button(RgControls *controls, const char *name);
int32_t rg_controls_choice(RgControls *controls, const char *name, int32_t *index,
                           const char *const *names, int32_t count);
void rg_controls_watch(RgControls *controls, const char *name, const char *value);
void rg_controls_plot(RgControls *controls, const char *name, const float *values, int32_t count,
                      const char *over);
/* kind: 0 plain, 1 a mistake, 2 quiet, 3 a mistake's source text: letters of equal width, lines as
 * they are. */
void rg_controls_text(RgControls *controls, const char *text, int32_t kind);
/* How many letters of source text a line of the panel has room for. */
int32_t rg_controls_columns(RgControls *controls);
void rg_controls_separator(RgControls *controls);
/* Places the next control on the same line as the last one. */
void rg_controls_beside(RgControls *controls);

#ifdef __cplusplus
}
#endif
#endif
