/* share.h - system calls for windows: ranges of addresses, and memory in files. Private to this
 * room. */
#ifndef RG_COMM_WINDOW_SHARE_H
#define RG_COMM_WINDOW_SHARE_H

#include "memory/arena.h"

/* A number that is the same in processes that can share memory. */
uint64_t share_host(void);
/* Reserves addresses without memory; accessing them faults. */
bool share_reserve(Arena *range, uint64_t size_bytes, Error *err);
void share_release(Arena *range, uint64_t size_bytes);
/* Creates a file of memory; -1 with err. */
int share_create(uint64_t size_bytes, Error *err);
int share_create_growing(Error *err); /* an empty file that grows when it is written past its end */
/* Moves pages of this process, with their contents, to the file; they may not be used meanwhile. */
bool share_move(uint8_t *from, uint64_t size_bytes, int file, Error *err);
/* The inverse: turns the file's contents into private memory of this process at the same address,
 * unless something else is mapped there by now. The open file is needed to find which pages have
 * contents. Pages for which the system has no memory stay mapped, so that nothing is lost. */
void share_make_private(uint8_t *base, uint64_t size_bytes, int file);
/* Opens a file of another process on this host, by its number there; -1 with err. The system allows
 * this for processes of one user in one namespace. Team members pass files instead
 * (pass_files.h). */
int share_open_file(int32_t process, int32_t file, Error *err);
bool share_map(uint8_t *at, uint64_t size_bytes, int file, Error *err);
uint8_t *share_map_anywhere(uint64_t size_bytes, int file, Error *err);
/* Is the file still mapped at that address? False if the memory was freed meanwhile. */
bool share_is_mapped(const uint8_t *at, int file);
/* Decommits the addresses, which stay reserved. */
void share_unmap(uint8_t *at, uint64_t size_bytes);

#endif
