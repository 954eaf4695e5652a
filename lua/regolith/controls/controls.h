/* controls.h - panels of sliders, checkboxes, buttons, choices, values and plots over a window, by
 * Dear ImGui (Debian's libimgui-dev). The library uses neither SDL nor OpenGL: it takes events, and
 * returns a picture to draw over the frame, so that all windows and files show the same.
 * controls.lua repeats these declarations. Functions may be called from only one thread. */
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
  RG_CONTROLS_DOWN,    /* code: a key, from rg_controls_key */
  RG_CONTROLS_UP,
  RG_CONTROLS_TEXT /* code: a Unicode character */
} RgControlsKind;

/* The picture to draw over the frame: premultiplied rgba, row by row from the top. */
typedef struct RgControlsPicture {
  int32_t x, y, width, height;
  const uint8_t *rgba; /* valid until the next rg_controls_end */
  uint64_t number;     /* changes with each change of the picture */
} RgControlsPicture;

/* `scale`: 1 on a display of about 96 dots an inch. `font`, `source_font`: the paths of TrueType
 * fonts, or NULL; the letters of the second one have equal widths. */
RgControls *rg_controls_create(float scale, const char *font, const char *source_font);
void rg_controls_destroy(RgControls *controls);

/* The code of a key by its name ("left", "return", "left ctrl"), or -1 for keys that no control
 * uses. */
int32_t rg_controls_key(const char *name);
/* Events are queued for the next frames, each of which takes one change of a button. */
void rg_controls_event(RgControls *controls, int32_t kind, int32_t code, float x, float y);
/* Whether a panel is at this position, or has captured the mouse. */
int32_t rg_controls_has_mouse(RgControls *controls, float x, float y);
/* Whether the user is typing a text or a number, so that keys are only for the controls. */
int32_t rg_controls_has_keys(RgControls *controls);

void rg_controls_begin(RgControls *controls, int32_t width, int32_t height, double seconds);
void rg_controls_end(RgControls *controls, RgControlsPicture *picture);

/* `place`: 0 the top right corner, 1 the top left, 2 along the bottom; the user can move the panel.
 * Every begin needs an end. Returns whether the panel is unfolded. */
int32_t rg_controls_panel_begin(RgControls *controls, const char *title, int32_t place);
void rg_controls_panel_end(RgControls *controls);

/* Returns bits: 1 the value has changed, 2 the right button requests the initial value. `digits`: a
 * format, such as "%.4g". */
int32_t rg_controls_slider(RgControls *controls, const char *name, double *value, double low,
                           double high, const char *digits);
int32_t rg_controls_checkbox(RgControls *controls, const char *name, int32_t *value);
int32_t rg_controls_button(RgControls *controls, const char *name);
int32_t rg_controls_choice(RgControls *controls, const char *name, int32_t *index,
                           const char *const *names, int32_t count);
void rg_controls_watch(RgControls *controls, const char *name, const char *value);
void rg_controls_plot(RgControls *controls, const char *name, const float *values, int32_t count,
                      const char *over);
/* kind: 0 plain, 1 a mistake, 2 quiet, 3 a mistake's source text: letters of equal width, without
 * wrapping. */
void rg_controls_text(RgControls *controls, const char *text, int32_t kind);
/* The number of letters of source text that fit in a line of the panel. */
int32_t rg_controls_columns(RgControls *controls);
void rg_controls_separator(RgControls *controls);
/* Places the next control on the same line as the last one. */
void rg_controls_same_line(RgControls *controls);

#ifdef __cplusplus
}
#endif
#endif
