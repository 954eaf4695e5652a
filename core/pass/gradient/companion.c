/* companion.c - which element holds the derivative of another one; see companion.h. */
#include "pass/gradient/companion.h"

static int gradient_of(const SNode *node, int component) {
  return component < 0 ? -1 : node->components[component].gradient - 1;
}

static int dual_of(const SNode *node, int component) {
  return component < 0 ? -1 : node->components[component].dual - 1;
}

/* The component whose dual this one is; -1: it is no dual. */
static int primal_of(const SNode *node, int dual) {
  for (int k = 0; k < node->component_count; k++)
    if (dual_of(node, k) == dual) return k;
  return -1;
}

static int second_of(const SNode *node, int component) {
  int primal = primal_of(node, component);
  return primal >= 0 ? gradient_of(node, primal) : dual_of(node, gradient_of(node, component));
}

int companion_of(const SNode *node, int component, Companion companion) {
  if (!type_is_float(node->components[component].type)) return -1;
  int gradient = gradient_of(node, component), dual = dual_of(node, component);
  switch (companion) {
  case COMPANION_GRADIENT: return gradient;
  case COMPANION_ALONG: return dual >= 0 ? dual : gradient;
  case COMPANION_DUAL: return dual;
  case COMPANION_SECOND: return second_of(node, component);
  }
  return -1;
}

int companion_component(const IrKernel *kernel, int field, Companion companion) {
  const IrField *of = &kernel->fields.items[field];
  return of->node ? companion_of(of->node, of->component, companion) : -1;
}

static const char *suffix_of(const SNode *node, int component, int companion) {
  return companion == gradient_of(node, component) ? "grad"
         : companion == dual_of(node, component)   ? "dual"
                                                   : "second";
}

int companion_field(IrKernel *kernel, int field, Companion companion) {
  const IrField *of = &kernel->fields.items[field];
  int component = companion_component(kernel, field, companion);
  if (component < 0) return -1;
  const char *name = scratch_format(kernel->scratch, "%s.%s", of->name,
                                    suffix_of(of->node, of->component, component));
  return ir_add_field(kernel, of->node, component, name);
}

int companion_primal(const IrKernel *kernel, int field) {
  const IrField *of = &kernel->fields.items[field];
  int primal = of->node ? primal_of(of->node, of->component) : -1;
  for (int k = 0; primal >= 0 && k < kernel->fields.count; k++)
    if (kernel->fields.items[k].node == of->node && kernel->fields.items[k].component == primal)
      return k;
  return field;
}
