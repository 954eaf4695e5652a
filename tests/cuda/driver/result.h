/* result.h - CUresult: what every call of the driver answers. */
#ifndef PTX_RESULT_H
#define PTX_RESULT_H

typedef enum CUresult {
#define RESULT(NAME, NUMBER, TEXT) CUDA_##NAME = NUMBER,
#include "result.def"
#undef RESULT
} CUresult;

#endif
