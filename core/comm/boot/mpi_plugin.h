/* mpi_plugin.h - the ABI of libregolith-mpi.so, which is built if MPI is found, and opened by
 * processes that MPI started. One function returns the table; it uses none of MPI's types, as they
 * differ between implementations. Functions fail with a sentence in `why`; they do not wait, except
 * where a comment states it. One thread at a time.
 *
 * MPI is finalised when the process ends: all ranks then have a last barrier, so that no rank waits
 * for one that has ended. A rank that exits with a code other than 0 notifies the others, waits two
 * seconds for them, and then lets MPI abort them. */
#ifndef RG_COMM_BOOT_MPI_PLUGIN_H
#define RG_COMM_BOOT_MPI_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

#define MPI_PLUGIN_ENTRY "regolith_mpi_plugin"
enum { MPI_PLUGIN_VERSION = 2, MPI_WHY = 240, MPI_SENTENCE = 400 };

typedef struct MpiWork MpiWork; /* a running operation, with its own buffers */
typedef struct MpiExposed MpiExposed;

/* Notes that ranks exchange besides calls. */
typedef enum MpiNoteKind {
  MPI_NOTE_LOST = 1, /* all calls fail, because of `text` */
  MPI_NOTE_FAREWELL, /* the sender leaves after call `number` */
  MPI_NOTE_DOING,    /* the sender has waited for a while in call `number` */
  MPI_NOTE_ENDED     /* the sender's process exits with `code` */
} MpiNoteKind;
typedef struct MpiNote {
  uint32_t kind;
  int32_t code;
  uint64_t number;
  char text[MPI_SENTENCE];
} MpiNote;

typedef struct MpiParcel {
  int32_t rank;
  uint64_t size_bytes;
} MpiParcel;

typedef struct MpiPlugin {
  uint32_t version;                                       /* MPI_PLUGIN_VERSION */
  bool (*begin)(int32_t *rank, int32_t *size, char *why); /* call it once; waits for all ranks */
  /* Send `size_bytes` of each rank to all; part k of each rank to rank k; root's bytes to all.
   * NULL: failed. */
  MpiWork *(*gather)(const void *mine, uint64_t size_bytes, void *all, char *why);
  MpiWork *(*all_to_all)(const void *parts, uint64_t size_bytes, void *all, char *why);
  MpiWork *(*broadcast)(int32_t root, void *bytes, uint64_t size_bytes, char *why);
  /* The maximum over all ranks, word by word. */
  MpiWork *(*maximum)(uint64_t *words, int32_t count, char *why);
  /* Tests for completion: if *is_done, received data is in place, and the work is freed unless it
   * is a link. Work that never completes keeps its buffers forever. */
  bool (*test)(MpiWork *work, bool *is_done, char *why);
  /* Makes a link: parcels that can be sent and received repeatedly, from and to `stage`, which has
   * the outgoing parcels, then the incoming ones, each at the next multiple of 64 bytes. */
  MpiWork *(*link)(const MpiParcel *out, int32_t out_count, const MpiParcel *in, int32_t in_count,
                   uint8_t **stage, char *why);
  bool (*start)(MpiWork *link, char *why);
  void (*unlink)(MpiWork *link); /* the link must not be running */
  bool (*send_note)(int32_t rank, const MpiNote *note, char *why);
  bool (*receive_note)(int32_t *rank, MpiNote *note, char *why); /* *rank -1: no note */
  /* Together, waits: exposes memory for put and get, which wait for completion. */
  MpiExposed *(*expose)(void *memory, uint64_t size_bytes, char *why);
  void (*unexpose)(MpiExposed *exposed);
  bool (*put)(MpiExposed *exposed, int32_t rank, uint64_t at, const void *bytes,
              uint64_t size_bytes, char *why);
  bool (*get)(MpiExposed *exposed, int32_t rank, uint64_t at, void *bytes, uint64_t size_bytes,
              char *why);
} MpiPlugin;

typedef const MpiPlugin *MpiPluginEntry(void);

#endif
