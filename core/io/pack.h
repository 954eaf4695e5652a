/* pack.h - files of named formats that hold compressed parts, whole or not at all.
 *
 *     magic 8 | version 4 | 0 4 | part | part | .. | directory | place of it 16 | checksum 8
 *
 * Each part is a frame of zstd. The directory is a part, too: what it says is the writer's
 * business. The checksum (checksum.h) is of all bytes before it: a reader looks at it before
 * anything else, so that nothing of a truncated or altered file is used.
 * A file appears at its path when it is finished: until then it has another name beside it, so that
 * a crash leaves what was there before. Numbers are little-endian. */
#ifndef RG_IO_PACK_H
#define RG_IO_PACK_H

#include "base/error.h"
#include "base/heap.h"

typedef struct PackFormat {
  char magic[8];
  uint32_t version;    /* readers take this one and older ones */
  const char *what;    /* "snapshot" */
} PackFormat;

typedef struct PackPart {
  uint64_t offset, size; /* bytes of the file */
} PackPart;

/* -- writing. A failure is kept, and pack_finish tells it -------------------------------------- */
typedef struct Packer Packer;
Packer *pack_create(Heap *heap, const char *path, const PackFormat *format, Error *err);
/* In memory, without a path: for pack_reopen alone. */
Packer *pack_create_unnamed(Heap *heap, const PackFormat *format, Error *err);
void pack_write(Packer *packer, const void *bytes, size_t size);
/* What was written since the last one. */
PackPart pack_end_part(Packer *packer);
/* What was written since the last part is the directory. Frees the packer, whatever comes of it. */
bool pack_finish(Packer *packer, Error *err);
void pack_abandon(Packer *packer); /* there is no file; NULL is fine */

/* -- reading ----------------------------------------------------------------------------------- */
typedef struct Unpacker Unpacker;
/* Of a whole, unaltered file; reading begins in its directory. */
Unpacker *unpack_open(Heap *heap, const char *path, const PackFormat *format, Error *err);
/* What an unnamed packer wrote; frees the packer as pack_finish does. NULL with err. */
Unpacker *pack_reopen(Packer *packer, Error *err);
/* Of a file that is open, which the unpacker owns from here, whatever comes of it. */
Unpacker *unpack_take(Heap *heap, int file, const PackFormat *format, Error *err);
bool unpack_seek(Unpacker *unpacker, PackPart part, Error *err);
/* Exactly so many bytes. */
bool unpack_read(Unpacker *unpacker, void *bytes, size_t size, Error *err);
bool unpack_is_at_end(Unpacker *unpacker); /* of the part */
/* For what a part says that cannot be: always false. */
bool unpack_refuse(const Unpacker *unpacker, const char *why, Error *err);
void unpack_close(Unpacker *unpacker); /* NULL is fine */

#endif
