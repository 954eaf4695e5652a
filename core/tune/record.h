/* record.h - keeps choices on disk: one text file with a record per line. A record is appended by a
 * single write, so that any number of processes share the file without a lock. The last record of a
 * key is valid. Lines without a correct checksum (torn, or of another version) are skipped. A file
 * that has grown long is rewritten and replaced by rename; a record that another process appends at
 * that moment may be lost. Failures are not reported: a record that cannot be read is unknown, and
 * one that cannot be written is forgotten with the process.
 * Keys and choices are words: text without spaces or control characters. */
#ifndef RG_TUNE_RECORD_H
#define RG_TUNE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

enum { TUNE_KEY_BYTES = 72, TUNE_CHOICE_BYTES = 72 }; /* including the NUL */

typedef struct TuneFile TuneFile;

/* Accesses no file yet; NULL if out of memory. With `path` "" records stay in memory only. */
TuneFile *tune_file_open(Heap *heap, const char *path);
void tune_file_close(TuneFile *file); /* NULL is fine, here and below */
/* The choice for the key, by this or any other process; NULL if there is none. Borrowed until the
 * next call. */
const char *tune_file_find(TuneFile *file, const char *key);
/* The times of the default and of the choice are for human readers of the file. False if the record
 * is not on disk. */
bool tune_file_add(TuneFile *file, const char *key, const char *choice, double default_time,
                   double choice_time);

/* Forgets all records and deletes the file. */
void tune_file_clear(TuneFile *file);

#endif
