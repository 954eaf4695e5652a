/* serial.h - moves host code that accesses elements into tasks of one thread, for a GPU:
 * serial_groups.c chooses the groups of insts, serial.c moves them. */
#ifndef RG_PASS_TASKS_SERIAL_H
#define RG_PASS_TASKS_SERIAL_H

#include "base/map.h"
#include "pass/pass.h"

typedef struct Group {
  IrInst *first, *last;
} Group;

typedef struct Serial {
  IrKernel *kernel;
  Scratch *scratch;
  bool calls_device; /* some function of the kernel accesses elements */
  int id_count;
  int *group;    /* by id: its group + 1; 0: it stays in the host region */
  bool *leaves;  /* by id: in a group, and used outside it */
  int *slot;     /* by id: the frame slot of such a value, + 1 */
  IrInst **with; /* by id: its replacement in the host region */
  VEC(Group) groups;
  /* of the group being moved */
  int number;
  IrTask *task;
  IrRegion *top;
  IrInst *after; /* host code goes before it, or to the end of `region` */
  IrRegion *region;
  Map inside; /* id of a value or variable outside -> the one inside */
} Serial;

/* Is it an address, which a task recomputes instead of receiving it in the frame? */
bool serial_is_address(const IrInst *inst);
/* Fills `groups`, and by id `group` and `leaves`. */
void serial_find_groups(Serial *s);

#endif
