/* pack.h - files of compressed parts, in a named format; a file appears complete or not at all.
 *
 *     magic 8 | version 4 | 0 4 | part | part | .. | directory | its offset, size 16 | checksum 8
 *
 * Each part is a frame of zstd. The directory is a part, too; its contents are up to the writer.
 * The checksum (checksum.h) covers all bytes before it. A reader verifies it first, so that nothing
 * of a truncated or altered file is used.
 * A file appears at its path when it is finished: until then it has another name in the same
 * folder, so that a crash leaves the old file. Numbers are little-endian.
 * Decision D-snapshot-01. */
#ifndef RG_IO_PACK_H
#define RG_IO_PACK_H

#include "base/error.h"
#include "base/heap.h"

typedef struct PackFormat {
  char magic[8];
  uint32_t version; /* readers accept this one and older ones */
  const char *what; /* "snapshot" */
} PackFormat;

typedef struct PackPart {
  uint64_t offset, size; /* bytes of the file */
} PackPart;

/* -- writing: pack_finish reports the first failure -------------------------------------------- */
typedef struct Packer Packer;
Packer *pack_create(Heap *heap, const char *path, const PackFormat *format, Error *err);
/* Writes to memory, for pack_reopen only. */
Packer *pack_create_unnamed(Heap *heap, const PackFormat *format, Error *err);
void pack_write(Packer *packer, const void *bytes, size_t size);
/* Ends the part with everything written since the last one. */
PackPart pack_end_part(Packer *packer);
/* Makes what was written since the last part the directory. Frees the packer, even on failure. */
bool pack_finish(Packer *packer, Error *err);
void pack_abandon(Packer *packer); /* leaves no file; NULL is fine */

/* -- reading ----------------------------------------------------------------------------------- */
typedef struct Unpacker Unpacker;
/* Opens and verifies a file; reading begins in its directory. */
Unpacker *unpack_open(Heap *heap, const char *path, const PackFormat *format, Error *err);
/* Reads what an unnamed packer wrote; frees the packer like pack_finish. NULL with err. */
Unpacker *pack_reopen(Packer *packer, Error *err);
/* The same for an open file, which the unpacker owns from here on, even on failure. */
Unpacker *unpack_take(Heap *heap, int file, const PackFormat *format, Error *err);
bool unpack_seek(Unpacker *unpacker, PackPart part, Error *err);
/* Reads exactly `size` bytes. */
bool unpack_read(Unpacker *unpacker, void *bytes, size_t size, Error *err);
bool unpack_is_at_end(Unpacker *unpacker); /* of the part */
/* Reports invalid contents of a part; always false. */
bool unpack_refuse(const Unpacker *unpacker, const char *why, Error *err);
void unpack_close(Unpacker *unpacker); /* NULL is fine */

#endif
