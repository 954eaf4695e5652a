/* record.h - choices on disk: one text file, a record per line, added by one write at the end, so
 * that any number of processes share it without a lock. The last record of a key counts. What is
 * not a record with a right checksum (a torn line, another version's) is skipped; a file grown long
 * is written anew and put in place by rename, by which a record that somebody adds at that moment
 * may be lost. Nothing here can fail: what cannot be read is not known, what cannot be written is
 * not kept.
 * Keys and choices are words: text without spaces and control characters. */
#ifndef RG_TUNE_RECORD_H
#define RG_TUNE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

enum { TUNE_KEY_BYTES = 72, TUNE_CHOICE_BYTES = 72 }; /* with the NUL */

typedef struct TuneFile TuneFile;

/* Touches no file yet; NULL without memory. `path` "": in memory only. */
TuneFile *tune_file_open(Heap *heap, const char *path);
void tune_file_close(TuneFile *file); /* NULL is fine, here and below */
/* What was chosen for the key, by this process or any other; NULL: nothing. Borrowed until the next
 * call. */
const char *tune_file_find(TuneFile *file, const char *key);
/* `usual` and `kept`: times of the default and of the choice, for readers of the file. False: not
 * on disk. */
bool tune_file_add(TuneFile *file, const char *key, const char *choice, double usual, double kept);

/* Forgets all, and deletes the file: choices are found out anew. */
void tune_file_clear(TuneFile *file);

#endif
