/* module.h - modules: kernels that were compiled ahead of time, with the trees, fields and values
 * that they use, in one file that is mapped read-only.
 *
 *     items --module_save--> ModuleContents --module_write--> file
 *     file --module_read--> ModuleContents --module_open--> Module: trees, fields, kernels
 *
 * A file is a ModuleHead, the encoded contents, the bytes of compiled kernels, each at a multiple
 * of 8, and perhaps a signature. Its data is not trusted: every offset, count and index is checked
 * before use. Its code is trusted, like that of a shared library. Decision D-module-01. */
#ifndef RG_MODULE_MODULE_H
#define RG_MODULE_MODULE_H

#include "kernel/kernel.h"
#include "kernel/versions/shipped.h"
#include "regolith.h"

/* Version 2 of the format added derivatives of kernels, and fields with duals. A module is written
 * in the oldest version that can represent it. */
enum { MODULE_VERSION = 2 };

typedef struct ModuleHead {
  char magic[8];    /* "RGMODULE" */
  uint32_t version; /* 1 to MODULE_VERSION */
  uint32_t abi;     /* RT_ABI */
  uint64_t length;  /* of the whole file, without a signature */
  uint64_t contents_length;
  uint64_t sum; /* XXH64 of all that follows the head */
} ModuleHead;

/* A step of a tree's declaration: a level or a field is added to level `level`. */
typedef struct ModuleStep {
  bool is_field;
  int32_t level;
  const char *name;
  /* a field */
  const char *type;
  int32_t offset_count; /* 0: it begins at 0 */
  int64_t offset[SNODE_MAX_AXES];
  bool is_watched;
  bool has_gradient, has_dual;
  bool is_derivative; /* of a field before it; in the order in which field_place places them */
  /* a level */
  const char *kind, *axes;
  int32_t size_count;
  int64_t sizes[SNODE_MAX_AXES];
  bool aos;
  int64_t chunk;
} ModuleStep;

typedef struct ModuleTree {
  const char *name;
  uint64_t layout_hash; /* of the saved tree */
  ModuleStep *steps;
  int32_t step_count;
} ModuleTree;

/* A value of a capture. */
typedef struct ModuleValue {
  const char *name;
  RgValueKind kind;
  uint64_t bits;      /* a number, a boolean, a function */
  const char *text;   /* BUILTIN, TYPE, STRING, OTHER; VECTOR: its type */
  int32_t tree, step; /* FIELD */
  int32_t level;      /* NODE, of `tree` */
  uint64_t *numbers;  /* VECTOR */
  int32_t number_count;
} ModuleValue;

typedef struct ModuleKernel {
  Shipped shipped;
  int32_t *values, *depths; /* by path: the number of its value, or -1 */
} ModuleKernel;

typedef struct ModuleItem {
  const char *name;
  int32_t kind; /* RG_MODULE_FIELD .. */
  /* FIELD: tree, step; NODE: tree, level; KERNEL: number */
  int32_t tree, number;
} ModuleItem;

typedef struct ModuleContents {
  bool deterministic; /* EngineOptions.deterministic of the runtime that saved it */
  int32_t target_count;
  const char **targets; /* "x86-64-v3", "sm_80" */
  ModuleTree *trees;
  int32_t tree_count;
  ModuleValue *values;
  int32_t value_count;
  ModuleKernel *kernels;
  int32_t kernel_count;
  ModuleItem *items;
  int32_t item_count;
} ModuleContents;

/* contents.c: encodes a head, the contents, and the bytes of versions. Call it below a guard. */
typedef struct ModuleBytes {
  const uint8_t *data; /* in the scratch */
  int64_t length;
} ModuleBytes;
ModuleBytes module_write(ModuleContents *contents, Scratch *scratch);
/* The inverse. Versions point into `bytes`; everything else is in the scratch. `name` is for
 * messages. False with module.invalid. Call it below a guard. */
bool module_read(const uint8_t *bytes, int64_t length, const char *name, Scratch *scratch,
                 ModuleContents *contents, Error *err);

/* sign.c: the signature at the end of a file. */
enum { MODULE_SIGNATURE_BYTES = 72 };
bool module_has_signature(const uint8_t *bytes, int64_t length);
/* Returns the bytes followed by their signature, in the scratch; `data` is NULL with err. Keys are
 * in PEM. */
ModuleBytes module_sign(ModuleBytes bytes, const char *private_key, Scratch *scratch, Error *err);
/* Adds a key. From the first key on, the engine opens only modules that are signed with one of its
 * keys. */
bool module_trust(Engine *engine, const char *public_key, Error *err);
/* False with module.untrusted. */
bool module_check_signature(const Engine *engine, const uint8_t *bytes, int64_t length,
                            const char *name, Error *err);

/* save.c: see rg_module_save. */
bool module_save(Engine *engine, const char *path, const RgModuleItem *items, int32_t count,
                 const RgModuleOptions *options, Error *err);
bool module_write_file(const char *path, const void *bytes, int64_t length, Error *err);

/* open.c */
typedef struct Module Module; /* RgModule */
/* for_launches: this machine must be able to run the kernels; false for rg_module_inspect. */
Module *module_open(Engine *engine, const char *path, bool for_launches, Error *err);
Module *module_open_bytes(Engine *engine, const void *bytes, int64_t length, const char *name,
                          Error *err);
Module *module_link(Engine *engine, const RgLinkedModule *linked, const char *name, Error *err);
void module_item(const Module *module, int32_t number, RgModuleItem *item);
/* Finds the item of this kind and name; false if the module has none. */
bool module_find(const Module *module, int32_t kind, const char *name, RgModuleItem *item);
/* The name and the value of value `number`; NULL past the last. */
const char *module_value(const Module *module, int32_t number, RgValue *value);
bool module_set(Module *module, const char *name, const RgValue *value, Error *err);
/* See rg_module_reload. */
bool module_reload(Module *module, const char *path, Error *err);
int32_t module_path(const Module *module, const Kernel *kernel, int32_t path, int32_t *depth);
bool module_launch(Module *module, Kernel *kernel, const RgValue *arguments, int32_t count,
                   RgValue *result, Error *err);
const ModuleContents *module_contents(const Module *module);
Engine *module_engine(const Module *module);
const char *module_name(const Module *module);

/* header.c: see rg_module_header. *text is in the store's text buffer. */
bool module_header(const Module *module, const char *prefix, const char **text, Error *err);

/* archive.c: see rg_module_archive. */
bool module_archive(const Module *module, const char *prefix, const char *path, Error *err);

#endif
