/* serial.h - host code that touches elements, on its way to tasks of one thread: serial_groups.c
 * says which insts go together, serial.c moves them. */
#ifndef RG_PASS_SERIAL_H
#define RG_PASS_SERIAL_H

#include "base/map.h"
#include "pass/pass.h"

typedef struct Group {
  IrInst *first, *last;
} Group;

typedef struct Serial {
  IrKernel *kernel;
  Scratch *scratch;
  bool calls_device;  /* some function of the kernel touches elements */
  int id_count;
  int *group;         /* by id: its group + 1; 0: it stays */
  bool *leaves;       /* by id: of a group, used outside it */
  int *slot;          /* by id: where such a value is in the frame, + 1 */
  IrInst **with;      /* by id: what it is for the host region */
  VEC(Group) groups;
  /* of the group being moved */
  int number;
  IrTask *task;
  IrRegion *top;
  IrInst *after;      /* host code goes before it, or to the end of `region` */
  IrRegion *region;
  Map inside;         /* id of a value or variable outside -> the one inside */
} Serial;

/* Values that a task computes again instead of getting them. */
bool serial_is_address(const IrInst *inst);
/* Fills `groups`, and by id `group` and `leaves`. */
void serial_find_groups(Serial *s);

#endif
