/* mpi_plugin.h - the border of libregolith-mpi.so, which is built where MPI is found and opened by
 * a process that it started. One function returns the table; nothing of MPI's own types passes,
 * since implementations differ in them. Calls fail with a sentence in `why`; unless it is said,
 * they do not wait. One thread at a time.
 *
 * MPI ends when the process does: all ranks meet once more then, so that none is missed by others.
 * One that exits with another code than 0 tells the others, gives them two seconds to come, and
 * then has MPI end them. */
#ifndef RG_COMM_MPI_PLUGIN_H
#define RG_COMM_MPI_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

#define MPI_PLUGIN_ENTRY "regolith_mpi_plugin"
enum { MPI_PLUGIN_VERSION = 2, MPI_WHY = 240, MPI_SENTENCE = 400 };

typedef struct MpiWork MpiWork;     /* something under way, with buffers of its own */
typedef struct MpiExposed MpiExposed;

/* What ranks tell each other beside their calls. */
typedef enum MpiNoteKind {
  MPI_NOTE_LOST = 1,                /* nothing goes on, because of `text` */
  MPI_NOTE_FAREWELL,                /* the sender leaves after call `number` */
  MPI_NOTE_DOING,                   /* and has waited for a while in call `number` */
  MPI_NOTE_ENDED                    /* its process exits with `code` */
} MpiNoteKind;
typedef struct MpiNote {
  uint32_t kind;
  int32_t code;
  uint64_t number;
  char text[MPI_SENTENCE];
} MpiNote;

typedef struct MpiParcel { int32_t rank; uint64_t size_bytes; } MpiParcel;

typedef struct MpiPlugin {
  uint32_t version;                 /* MPI_PLUGIN_VERSION */
  bool (*begin)(int32_t *rank, int32_t *size, char *why); /* once; waits for all ranks */
  /* `size_bytes` of each rank, to all; part k of each rank, to rank k; root's bytes, to all.
   * NULL: it failed. */
  MpiWork *(*gather)(const void *mine, uint64_t size_bytes, void *all, char *why);
  MpiWork *(*spread)(const void *parts, uint64_t size_bytes, void *all, char *why);
  MpiWork *(*broadcast)(int32_t root, void *bytes, uint64_t size_bytes, char *why);
  /* The greatest of all ranks, word by word, to all. */
  MpiWork *(*greatest)(uint64_t *words, int32_t count, char *why);
  /* Done: what came is where it should be, and the work is freed unless it is a link. Work that is
   * never done keeps its buffers for ever. */
  bool (*test)(MpiWork *work, bool *is_done, char *why);
  /* Parcels that are sent and received again and again, from and to `stage`: those that go out,
   * then those that come in, each from the next multiple of 64 bytes on. */
  MpiWork *(*link)(const MpiParcel *out, int32_t out_count, const MpiParcel *in, int32_t in_count,
                   uint8_t **stage, char *why);
  bool (*start)(MpiWork *link, char *why);
  void (*unlink)(MpiWork *link);    /* not under way */
  bool (*tell)(int32_t rank, const MpiNote *note, char *why);
  bool (*hear)(int32_t *rank, MpiNote *note, char *why); /* *rank -1: nothing was said */
  /* Together, waits: memory that the others put to and get from, which wait for it. */
  MpiExposed *(*expose)(void *memory, uint64_t size_bytes, char *why);
  void (*conceal)(MpiExposed *exposed);
  bool (*put)(MpiExposed *exposed, int32_t rank, uint64_t at, const void *bytes,
              uint64_t size_bytes, char *why);
  bool (*get)(MpiExposed *exposed, int32_t rank, uint64_t at, void *bytes, uint64_t size_bytes,
              char *why);
} MpiPlugin;

typedef const MpiPlugin *MpiPluginEntry(void);

#endif
