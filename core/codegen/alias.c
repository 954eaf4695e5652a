/* alias.c - alias scopes that tell LLVM which accesses never alias: one scope per field, one for
 * slots. Two entries of kernel->fields never share an element, and elements are not slots. So LLVM
 * may keep a field's element in a register while others are written, and combine neighbouring
 * elements. Calls of the runtime carry no scope and may touch anything. The metadata grows
 * quadratically with the fields, so kernels with many fields have no scopes. */
#include <stdio.h>
#include <string.h>

#include "codegen/memory.h"

enum { MAX_SCOPES = 48 };

static LLVMMetadataRef text_node(Codegen *g, const char *text, LLVMMetadataRef domain) {
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(g->context, text, strlen(text)), domain};
  return LLVMMDNodeInContext2(g->context, parts, domain ? 2 : 1);
}

static void make_scopes(Codegen *g, int count) {
  LLVMMetadataRef scopes[MAX_SCOPES], others[MAX_SCOPES],
      domain = text_node(g, "regolith elements", NULL);
  char name[40];
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, "regolith scope %d", i);
    scopes[i] = text_node(g, name, domain);
  }
  g->alias_scopes = scratch_array(g->scratch, LLVMMetadataRef, count);
  g->alias_others = scratch_array(g->scratch, LLVMMetadataRef, count);
  for (int i = 0; i < count; i++) {
    int other = 0;
    for (int k = 0; k < count; k++)
      if (k != i) others[other++] = scopes[k];
    g->alias_scopes[i] = LLVMMDNodeInContext2(g->context, &scopes[i], 1);
    g->alias_others[i] = LLVMMDNodeInContext2(g->context, others, (size_t)other);
  }
}

/* `scope`: a field's number + 1, or 0 for slots. */
static void mark(Codegen *g, LLVMValueRef access, int scope) {
  int count = g->kernel->fields.count + 1;
  if (count > MAX_SCOPES || scope >= count) return;
  if (!g->alias_scopes) make_scopes(g, count);
  value_mark(g, access, "alias.scope", g->alias_scopes[scope]);
  if (count > 1) value_mark(g, access, "noalias", g->alias_others[scope]);
}

LLVMValueRef alias_element(Codegen *g, LLVMValueRef access, int alias) {
  ASSERT(alias >= 0 && alias <= g->kernel->fields.count, "a field's number + 1, or 0");
  if (alias > 0) mark(g, access, alias);
  return access;
}

LLVMValueRef alias_slot(Codegen *g, LLVMValueRef access) {
  mark(g, access, 0);
  return access;
}
