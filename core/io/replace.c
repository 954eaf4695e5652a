/* replace.c - see replace.h. */
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *replace_kind(const char *path) {
  struct stat info;
  if (stat(path, &info)) return NULL;
  if (S_ISREG(info.st_mode)) return "";
  if (S_ISDIR(info.st_mode)) return "a folder";
  if (S_ISFIFO(info.st_mode)) return "a FIFO";
  return S_ISSOCK(info.st_mode) ? "a socket" : "a device";
}

bool replace_fail(const Replacement *replacement, const char *why, Error *err) {
  return error_set(err, RG_ERROR_IO, "%s '%.160s' cannot be written: %s", replacement->what,
                   replacement->path, why);
}

static bool find_path(Replacement *r, const char *path, Error *err) {
  if (strlen(path) >= PATH_MAX) {
    snprintf(r->path, sizeof r->path, "%.150s..", path);
    return replace_fail(r, strerror(ENAMETOOLONG), err);
  }
  if (!realpath(path, r->path)) snprintf(r->path, sizeof r->path, "%s", path);
  const char *kind = replace_kind(r->path);
  if (!kind || !kind[0]) return true;
  error_set(err, RG_ERROR_IO, "%s '%.160s' cannot be written: it is %s, not a file", r->what, path,
            kind);
  return error_hint(err, "write a file, and copy it there");
}

/* "a/x.png" -> "a/x.123-0.tmp.png" */
static void name_temporary(Replacement *r, int k) {
  const char *name = strrchr(r->path, '/'), *dot = strrchr(name ? name : r->path, '.');
  int stem = dot && dot > r->path && dot[-1] != '/' ? (int)(dot - r->path) : (int)strlen(r->path);
  snprintf(r->temporary, sizeof r->temporary, "%.*s.%ld-%d.tmp%s", stem, r->path, (long)getpid(), k,
           r->path + stem);
}

bool replace_begin(Replacement *r, const char *what, const char *path, Error *err) {
  *r = (Replacement){.what = what, .file = -1};
  if (!find_path(r, path, err)) return false;
  for (int k = 0; r->file < 0 && k < 100; k++) {
    name_temporary(r, k);
    r->file = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (r->file < 0 && errno != EEXIST) break;
  }
  if (r->file >= 0) return true;
  r->temporary[0] = 0;
  return replace_fail(r, strerror(errno), err);
}

FILE *replace_stream(Replacement *r, Error *err) {
  r->stream = fdopen(r->file, "wb");
  if (!r->stream) replace_fail(r, strerror(errno), err);
  else r->file = -1;
  return r->stream;
}

/* Makes the new name survive a loss of power, if the file system can. */
static void sync_folder(const char *path) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = 0;
  int file = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

/* The new file gets the permissions of the old one. */
static bool finish_writing(Replacement *r) {
  int file = r->stream ? fileno(r->stream) : r->file;
  struct stat before;
  bool ok = !r->stream || (fflush(r->stream) == 0 && !ferror(r->stream));
  if (file >= 0 && stat(r->path, &before) == 0) fchmod(file, before.st_mode & 07777);
  return ok && (!r->is_durable || fsync(file) == 0);
}

/* False with errno. */
static bool close_file(Replacement *r) {
  bool ok = true;
  if (r->stream) ok = fclose(r->stream) == 0;
  else if (r->file >= 0) ok = close(r->file) == 0;
  r->stream = NULL;
  r->file = -1;
  return ok;
}

bool replace_end(Replacement *r, Error *err) {
  bool ok = finish_writing(r);
  int why = errno;
  if (!close_file(r) && ok) ok = false, why = errno;
  if (ok && rename(r->temporary, r->path)) ok = false, why = errno;
  if (!ok) {
    replace_fail(r, strerror(why), err);
    replace_abandon(r);
    return false;
  }
  r->temporary[0] = 0;
  if (r->is_durable) sync_folder(r->path);
  return true;
}

void replace_abandon(Replacement *r) {
  close_file(r);
  if (r->temporary[0]) unlink(r->temporary);
  r->temporary[0] = 0;
}

void replace_close(Replacement *r) { close_file(r); }

bool replace_resume(Replacement *r, const char *what, const char *path, const char *temporary,
                    Error *err) {
  *r = (Replacement){.what = what, .file = -1};
  if (!find_path(r, path, err)) {
    unlink(temporary);
    return false;
  }
  snprintf(r->temporary, sizeof r->temporary, "%s", temporary);
  r->file = open(temporary, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  return r->file >= 0 || replace_fail(r, strerror(errno), err);
}
