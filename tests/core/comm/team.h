/* team.h - runs a function on several ranks: forked children of this process, their server. */
#ifndef RG_TESTS_TEAM_H
#define RG_TESTS_TEAM_H

#include "comm/comm.h"

/* What a rank does; returns what it exits with: 0, all went well. */
typedef int RankWork(Comm *comm, Error *err);

typedef struct TeamRun {
  int codes[16]; /* of each rank: its exit code, or 128 + signal */
  double ms;
} TeamRun;

/* `patience_ms`: of the server and of barriers, once all ranks have begun; 0: the usual. */
TeamRun team_run(int32_t ranks, RankWork *work, int64_t patience_ms);
/* All ranks ended with 0. */
bool team_is_well(const TeamRun *run, int32_t ranks);

/* In a rank: prints the condition that does not hold, once, and sets its exit code to 1. */
#define RANK_CHECK(comm, condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "  rank %d, %s:%d: %s\n", (comm)->rank, __FILE__, __LINE__, #condition); \
      return 1; \
    } \
  } while (0)
/* Likewise, with the error's sentence. */
#define RANK_OK(comm, err, condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "  rank %d, %s:%d: %s: %s\n", (comm)->rank, __FILE__, __LINE__, #condition, \
              (err)->message); \
      return 1; \
    } \
  } while (0)

#endif
