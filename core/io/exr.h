/* exr.h - shared by exr_write.c, which describes the format, and exr_read.c. */
#ifndef RG_IO_EXR_H
#define RG_IO_EXR_H

#include "io/image.h"
#include "io/zlib_library.h"

enum { EXR_NONE = 0, EXR_ZIPS = 2, EXR_ZIP = 3, EXR_ZIP_LINES = 16 };
typedef enum ExrPixel { EXR_UINT, EXR_HALF, EXR_FLOAT } ExrPixel;

#endif
