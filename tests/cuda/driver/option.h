/* option.h - the driver's options in the environment, read once. */
#ifndef PTX_OPTION_H
#define PTX_OPTION_H

typedef struct Options {
#define OPTION(NAME, VARIABLE, DEFAULT, MEANING) long NAME;
#include "option.def"
#undef OPTION
} Options;
extern Options options;

void options_read(void);

#endif
