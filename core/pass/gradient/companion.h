/* companion.h - which element holds the derivative of another one, in the same cell. */
#ifndef RG_PASS_GRADIENT_COMPANION_H
#define RG_PASS_GRADIENT_COMPANION_H

#include "ir/ir.h"

typedef enum Companion {
  COMPANION_GRADIENT, /* x.grad, of an adjoint */
  COMPANION_ALONG,    /* x.dual, or x.grad without one; of a tangent */
  COMPANION_DUAL,     /* x.dual; of a tangent that is reversed afterwards */
  /* of the adjoint of a tangent: that of x.dual is x.grad, since the derivative of a loss's tangent
   * with respect to the direction is the loss's gradient; that of x is x.grad.dual */
  COMPANION_SECOND
} Companion;

/* The component of the node that is the companion of a component; -1: it has none. */
int companion_of(const SNode *node, int component, Companion companion);
/* The same of a field. */
int companion_component(const IrKernel *kernel, int field, Companion companion);
/* The same as a field of the kernel. */
int companion_field(IrKernel *kernel, int field, Companion companion);
/* The field of the kernel whose dual this one is; if there is none, the field itself. */
int companion_primal(const IrKernel *kernel, int field);

#endif
