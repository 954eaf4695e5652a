/* result.h - CUresult, which every call of the driver returns. */
#ifndef PTX_RESULT_H
#define PTX_RESULT_H

typedef enum CUresult {
#define RESULT(NAME, NUMBER, TEXT) CUDA_##NAME = NUMBER,
#include "result.def"
#undef RESULT
} CUresult;

#endif
