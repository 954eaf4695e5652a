/* record.c - see record.h. A line is "1 KEY CHOICE DEFAULT_TIME CHOICE_TIME CHECKSUM"; the
 * checksum, eight hex digits, covers all before it. Keys and choices are words. */
#include "tune/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/str.h"

enum { PATH_BYTES = 1400, LINE_BYTES = 320, COMPACT_BYTES = 1 << 20, READ_BYTES = 4 << 20 };

typedef struct Record {
  char key[TUNE_KEY_BYTES], choice[TUNE_CHOICE_BYTES];
  double default_time, choice_time;
} Record;

struct TuneFile {
  Heap *heap;
  char path[PATH_BYTES];
  Record *records; /* one per key */
  int32_t count, capacity;
  int64_t read_bytes; /* the file's size when it was read */
};

TuneFile *tune_file_open(Heap *heap, const char *path) {
  TuneFile *file = heap_alloc(heap, sizeof *file);
  if (!file) return NULL;
  file->heap = heap;
  if (strlen(path) < PATH_BYTES) snprintf(file->path, PATH_BYTES, "%s", path);
  return file;
}

void tune_file_close(TuneFile *file) {
  if (!file) return;
  heap_free(file->heap, file->records);
  heap_free(file->heap, file);
}

/* -- records ----------------------------------------------------------------------------------- */

static Record *find_record(TuneFile *file, const char *key) {
  for (int32_t k = 0; k < file->count; k++)
    if (!strcmp(file->records[k].key, key)) return &file->records[k];
  return NULL;
}

static void put_record(TuneFile *file, const Record *record) {
  Record *record_of_key = find_record(file, record->key);
  if (!record_of_key && file->count == file->capacity) {
    int32_t capacity = file->capacity ? 2 * file->capacity : 32;
    Record *grown = heap_resize(file->heap, file->records, sizeof *grown * (size_t)capacity);
    if (!grown) return;
    file->records = grown;
    file->capacity = capacity;
  }
  if (!record_of_key) record_of_key = &file->records[file->count++];
  *record_of_key = *record;
}

static uint32_t checksum_of(const char *text, size_t length) {
  uint64_t hash = hash_bytes(0, text, length);
  return (uint32_t)(hash ^ hash >> 32);
}

/* Writes the line with its newline; returns its length, 0 if it does not fit. */
static int write_line(char line[LINE_BYTES], const Record *record) {
  char default_time[STR_DOUBLE_BYTES], choice_time[STR_DOUBLE_BYTES];
  str_from_double(default_time, 'g', 6, record->default_time);
  str_from_double(choice_time, 'g', 6, record->choice_time);
  int length = snprintf(line, LINE_BYTES, "1 %s %s %s %s ", record->key, record->choice,
                        default_time, choice_time);
  int left = LINE_BYTES - length;
  if (length < 0 || left < 10) return 0;
  return length +
         snprintf(line + length, (size_t)left, "%08x\n", checksum_of(line, (size_t)length));
}

/* `line` has no newline. */
static bool read_line(const char *line, size_t length, Record *record) {
  char copy[LINE_BYTES], version[4], times[2][40], *ends[2];
  uint32_t sum;
  if (length < 10 || length >= LINE_BYTES || memchr(line, 0, length)) return false;
  memcpy(copy, line, length);
  copy[length] = 0;
  if (sscanf(copy, "%3s %71s %71s %39s %39s %8x", version, record->key, record->choice, times[0],
             times[1], &sum) != 6)
    return false;
  record->default_time = str_to_double(times[0], &ends[0]);
  record->choice_time = str_to_double(times[1], &ends[1]);
  if (*ends[0] || *ends[1]) return false;
  return !strcmp(version, "1") && sum == checksum_of(line, length - 8);
}

_Static_assert(TUNE_KEY_BYTES == 72 && TUNE_CHOICE_BYTES == 72, "as wide as read_line reads");

/* -- the file ---------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t size_bytes) {
  for (size_t done = 0; done < size_bytes;) {
    ssize_t count = write(fd, data + done, size_bytes - done);
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

static bool write_records(int fd, const TuneFile *file) {
  char line[LINE_BYTES];
  for (int32_t k = 0; k < file->count; k++) {
    int length = write_line(line, &file->records[k]);
    if (length && !write_all(fd, line, (size_t)length)) return false;
  }
  return true;
}

static void compact(TuneFile *file) {
  char path[PATH_BYTES + 8];
  snprintf(path, sizeof path, "%s.XXXXXX", file->path);
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd < 0) return;
  bool ok = write_records(fd, file);
  ok = !close(fd) && ok && !rename(path, file->path);
  if (!ok) unlink(path);
}

static void read_lines(TuneFile *file, const char *text, size_t size_bytes) {
  const char *at = text, *end = text + size_bytes;
  while (at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    Record record = {0};
    if (!newline) return; /* the line's end is not written yet, or never will be */
    if (read_line(at, (size_t)(newline - at), &record)) put_record(file, &record);
    at = newline + 1;
  }
}

/* Reads the file; of a very long one only the end, which has the newest records. */
static void read_file(TuneFile *file, int fd, int64_t size_bytes) {
  int64_t count = size_bytes < READ_BYTES ? size_bytes : READ_BYTES;
  char *text = heap_alloc(file->heap, (size_t)count + 1);
  if (!text) return;
  ssize_t count_read = pread(fd, text, (size_t)count, size_bytes - count);
  if (count_read > 0) read_lines(file, text, (size_t)count_read);
  heap_free(file->heap, text);
  if (size_bytes > COMPACT_BYTES) compact(file);
}

/* Reads the file if it has changed. A file that does not belong to the user is ignored. */
static void reread(TuneFile *file) {
  struct stat info;
  if (!file->path[0]) return;
  int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      info.st_size != file->read_bytes) {
    file->read_bytes = info.st_size;
    read_file(file, fd, info.st_size);
  }
  close(fd);
}

const char *tune_file_find(TuneFile *file, const char *key) {
  if (!file) return NULL;
  Record *record = find_record(file, key);
  if (!record) reread(file);
  if (!record) record = find_record(file, key);
  return record ? record->choice : NULL;
}

static bool is_word(const char *text, size_t max_length) {
  size_t length = strlen(text);
  for (const char *at = text; *at; at++)
    if ((unsigned char)*at <= ' ' || *at == 127) return false;
  return length && length < max_length;
}

/* A single write: with O_APPEND the system appends it as a whole. */
static bool append(const TuneFile *file, const char *line, size_t length) {
  int fd =
      open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return false;
  ssize_t count = write(fd, line, length);
  return !close(fd) && count == (ssize_t)length;
}

bool tune_file_add(TuneFile *file, const char *key, const char *choice, double default_time,
                   double choice_time) {
  char line[LINE_BYTES];
  Record record = {.default_time = default_time, .choice_time = choice_time};
  if (!file || !is_word(key, TUNE_KEY_BYTES) || !is_word(choice, TUNE_CHOICE_BYTES)) return false;
  memcpy(record.key, key, strlen(key) + 1);
  memcpy(record.choice, choice, strlen(choice) + 1);
  put_record(file, &record);
  int length = write_line(line, &record);
  return file->path[0] && length && append(file, line, (size_t)length);
}

void tune_file_clear(TuneFile *file) {
  if (!file) return;
  file->count = 0;
  file->read_bytes = 0;
  if (file->path[0]) (void)!unlink(file->path);
}
