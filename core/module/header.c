/* header.c - writes a C header for a module: a struct of its items, a wrapper with C types for each
 * kernel, and constants for shapes and strides. The header only needs regolith.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "kernel/versions/versions.h"
#include "module/module.h"
#include "tree/tree.h"

typedef struct HeaderWriter {
  const Module *module;
  const char *prefix;
  StrBuf out;
} HeaderWriter;

/* -- names ------------------------------------------------------------------------------------- */

/* Adds a name as an identifier of C: other characters become underscores. */
static void put_name(StrBuf *out, const char *name, bool is_upper) {
  if (name[0] >= '0' && name[0] <= '9') strbuf_char(out, '_');
  for (; *name; name++) {
    char c = isalnum((unsigned char)*name) ? *name : '_';
    strbuf_char(out, is_upper ? (char)toupper((unsigned char)c) : c);
  }
}

/* Adds the name of an item. If "step.grad" and another item "step_grad" would have one name, the
 * derivative gets an underscore more. */
static void put_item_name(HeaderWriter *writer, const char *name) {
  StrBuf *out = &writer->out;
  const ModuleContents *contents = module_contents(writer->module);
  int begin = out->length;
  put_name(out, name, false);
  bool is_ambiguous = false;
  for (int32_t k = 0; k < contents->item_count; k++)
    is_ambiguous |= strchr(name, '.') && !strcmp(contents->items[k].name, out->data + begin);
  if (is_ambiguous) strbuf_char(out, '_');
}

static void put_upper(HeaderWriter *writer, const char *name) {
  put_name(&writer->out, writer->prefix, true);
  strbuf_char(&writer->out, '_');
  put_name(&writer->out, name, true);
}

static const char *c_type(Type type) {
  if (type_parts(type) != 1) return NULL;
  const char *text = type_text(type);
  static const char *const types[][2] = {
      {"i8", "int8_t"},  {"i16", "int16_t"},  {"i32", "int32_t"},  {"i64", "int64_t"},
      {"u8", "uint8_t"}, {"u16", "uint16_t"}, {"u32", "uint32_t"}, {"u64", "uint64_t"},
      {"f16", "float"},  {"f32", "float"},    {"f64", "double"},   {"bool", "int32_t"}};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (!strcmp(text, types[k][0])) return types[k][1];
  return NULL;
}

/* -- arguments --------------------------------------------------------------------------------- */

/* How a parameter is declared, and which member of an RgValue it becomes. */
typedef struct Parameter {
  const char *type, *kind, *member, *cast;
} Parameter;

static Parameter number_parameter(Type type) {
  const char *text = type_text(type), *c = c_type(type);
  if (!strcmp(text, "i64")) return (Parameter){"int64_t ", "RG_VALUE_I64", "i64", ""};
  if (!strcmp(text, "u64")) return (Parameter){"uint64_t ", "RG_VALUE_U64", "u64", ""};
  if (!c) c = "double";
  static const struct {
    const char *c, *declared;
  } numbers[] = {{"int8_t", "int8_t "},   {"int16_t", "int16_t "},   {"int32_t", "int32_t "},
                 {"uint8_t", "uint8_t "}, {"uint16_t", "uint16_t "}, {"uint32_t", "uint32_t "},
                 {"float", "float "},     {"double", "double "}};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (!strcmp(c, numbers[k].c))
      return (Parameter){numbers[k].declared, "RG_VALUE_NUMBER", "number", "(double)"};
  return (Parameter){"double ", "RG_VALUE_NUMBER", "number", ""};
}

/* The parameter by the first version. If other versions take other types, a host launches them by
 * rg_module_launch. */
static Parameter parameter_of(const Shipped *shipped, const CompiledKernel *compiled, int32_t k) {
  const uint64_t *words = shipped->versions[0].words + (shipped->path_count + k) * PATTERN_WORDS;
  switch ((int32_t)(uint32_t)words[0]) {
  case RG_VALUE_I64: return (Parameter){"int64_t ", "RG_VALUE_I64", "i64", ""};
  case RG_VALUE_U64: return (Parameter){"uint64_t ", "RG_VALUE_U64", "u64", ""};
  case RG_VALUE_BOOL: return (Parameter){"int32_t ", "RG_VALUE_BOOL", "i64", ""};
  case RG_VALUE_FIELD: return (Parameter){"RgField *", "RG_VALUE_FIELD", "field", ""};
  case RG_VALUE_NODE: return (Parameter){"RgSNode *", "RG_VALUE_NODE", "node", ""};
  case RG_VALUE_ARRAY: return (Parameter){"RgArray *", "RG_VALUE_ARRAY", "array", ""};
  case RG_VALUE_VECTOR: return (Parameter){"const RgVector *", "RG_VALUE_VECTOR", "vector", ""};
  case RG_VALUE_NUMBER: break;
  default: return (Parameter){"const RgValue *", NULL, NULL, ""};
  }
  for (int32_t a = 0; a < compiled->arg_count; a++)
    if (compiled->args[a].from.is_parameter && compiled->args[a].from.index == k)
      return number_parameter(compiled->args[a].type);
  return (Parameter){"double ", "RG_VALUE_NUMBER", "number", ""};
}

/* -- kernels ----------------------------------------------------------------------------------- */

static void put_argument(HeaderWriter *writer, Parameter parameter, const char *name, int32_t k) {
  StrBuf *out = &writer->out;
  if (!parameter.kind) {
    strbuf_format(out, "  arguments_[%d] = *", k);
    put_name(out, name, false);
    strbuf_text(out, ";\n");
    return;
  }
  strbuf_format(out, "  arguments_[%d].kind = %s;\n  arguments_[%d].%s = %s", k, parameter.kind, k,
                parameter.member, parameter.cast);
  put_name(out, name, false);
  strbuf_text(out, ";\n");
}

/* Would the kernel's wrapper have the name of another function of the header? */
static bool is_reserved(const char *name) {
  return !strcmp(name, "open") || !strcmp(name, "link") || !strcmp(name, "close");
}

typedef bool UseFilter(const CompiledGradientUse *use);
static bool needs_before(const CompiledGradientUse *use) { return use->before; }
static bool needs_after(const CompiledGradientUse *use) { return use->reads && !use->before; }

static bool repeats_random_numbers(const CompiledKernel *compiled) {
  bool draws = false;
  for (int32_t k = 0; k < compiled->gradient_use_count; k++)
    draws |= compiled->gradient_uses[k].draws == 2;
  return draws;
}

/* Adds the sentence, followed by the names of the fields whose uses pass the filter. */
static void put_field_list(StrBuf *out, const Shipped *shipped, const CompiledKernel *compiled,
                           UseFilter *filter, const char *sentence) {
  int32_t count = shipped->path_count + shipped->parameter_count;
  bool is_first = true;
  for (int32_t k = 0; k < compiled->gradient_use_count; k++) {
    const CompiledGradientUse *use = &compiled->gradient_uses[k];
    bool is_new = filter(use) && use->value >= 0 && use->value < count;
    for (int32_t before = 0; before < k; before++)
      is_new &= compiled->gradient_uses[before].value != use->value ||
                !filter(&compiled->gradient_uses[before]);
    if (!is_new) continue;
    if (is_first) strbuf_format(out, ".\n * %s", sentence);
    strbuf_format(out, is_first ? " %s" : ", %s", shipped->values[use->value].name);
    is_first = false;
  }
}

/* Explains what a host, which has no tape, must do before it launches an adjoint. */
static void put_comment(StrBuf *out, const Shipped *shipped, const CompiledKernel *compiled) {
  static const char *const what[DERIVATIVE_COUNT] = {
      [DERIVATIVE_NONE] = "",
      [DERIVATIVE_REVERSE] = ("adjoint: adds to the gradients of what the kernel read, and clears "
                              "those of what it wrote"),
      [DERIVATIVE_FORWARD] = "tangent: runs the kernel, and computes the duals of what it writes",
      [DERIVATIVE_SECOND] = "adjoint of the tangent: adds to gradients and to their duals"};
  const char *derivative = what[shipped->derivative];
  strbuf_format(out, "\n/* %s:%d%s%s", shipped->chunk, shipped->line,
                *derivative ? "\n * The " : "", derivative);
  put_field_list(out, shipped, compiled, needs_after,
                 "Needs these fields with their contents after the kernel:");
  put_field_list(
      out, shipped, compiled, needs_before,
      "Needs these fields with their contents before the kernel (save and restore them):");
  if (repeats_random_numbers(compiled))
    strbuf_text(out,
                ".\n * Draws the same random numbers as the kernel: call rg_random_streams before "
                "the kernel, rg_random_resume before this");
  strbuf_text(out, shipped->derivative ? ". */\n" : " */\n");
}

static void put_kernel(HeaderWriter *writer, const char *name, const Shipped *shipped,
                       const CompiledKernel *compiled) {
  StrBuf *out = &writer->out;
  int32_t count = shipped->parameter_count;
  const char *result = compiled->result_count == 1 ? c_type(compiled->results[0]) : NULL;
  put_comment(out, shipped, compiled);
  strbuf_text(out, "static inline RgStatus ");
  put_name(out, writer->prefix, false);
  strbuf_char(out, '_');
  put_item_name(writer, name);
  if (is_reserved(name)) strbuf_char(out, '_');
  strbuf_char(out, '(');
  put_name(out, writer->prefix, false);
  strbuf_text(out, "_module *module_");
  for (int32_t k = 0; k < count; k++) {
    strbuf_format(out, ", %s", parameter_of(shipped, compiled, k).type);
    put_name(out, shipped->values[shipped->path_count + k].name, false);
  }
  if (compiled->result_count) strbuf_format(out, ", %s *result", result ? result : "RgValue");
  strbuf_text(out, ") {\n");
  if (count) strbuf_format(out, "  RgValue arguments_[%d];\n", count);
  for (int32_t k = 0; k < count; k++)
    put_argument(writer, parameter_of(shipped, compiled, k),
                 shipped->values[shipped->path_count + k].name, k);
  strbuf_text(out, "  RgValue result_ = {0, 0, {0}};\n");
  strbuf_text(out, "  RgStatus status_ = rg_module_launch(module_->module, module_->kernel_");
  put_item_name(writer, name);
  strbuf_format(out, ", %s, %d, &result_);\n", count ? "arguments_" : "0", count);
  if (compiled->result_count && !result) strbuf_text(out, "  *result = result_;\n");
  else if (result)
    strbuf_format(out, "  if (!status_) *result = (%s)%s;\n", result,
                  !strcmp(result, "int64_t")                         ? "result_.i64"
                  : !strcmp(result, "uint64_t")                      ? "result_.u64"
                  : !strcmp(type_text(compiled->results[0]), "bool") ? "result_.i64"
                                                                     : "result_.number");
  strbuf_text(out, "  return status_;\n}\n");
}

static bool put_kernels(HeaderWriter *writer, Error *err) {
  const ModuleContents *contents = module_contents(writer->module);
  Store *store = module_engine(writer->module)->store;
  RgCodegenObject objects[RG_TARGET_COUNT];
  for (int32_t k = 0; k < contents->item_count; k++) {
    const ModuleItem *item = &contents->items[k];
    if (item->kind != RG_MODULE_KERNEL) continue;
    const Shipped *shipped = &contents->kernels[item->number].shipped;
    if (!shipped->version_count) continue;
    const ShippedVersion *version = &shipped->versions[0];
    CompiledKernel *compiled =
        compiled_read(store->heap, &store->types, version->bytes, version->length, objects, err);
    if (!compiled) return false;
    put_kernel(writer, item->name, shipped, compiled);
    compiled_release(compiled);
  }
  return true;
}

/* -- fields and nodes -------------------------------------------------------------------------- */

static void put_list(StrBuf *out, const int64_t *numbers, int32_t count) {
  strbuf_text(out, "{");
  for (int32_t k = 0; k < count; k++)
    strbuf_format(out, k ? ", %lld" : "%lld", (long long)numbers[k]);
  strbuf_text(out, count ? "}\n" : "0}\n");
}

static void put_shape(HeaderWriter *writer, const char *name, const SNode *level) {
  StrBuf *out = &writer->out;
  strbuf_text(out, "#define ");
  put_upper(writer, name);
  strbuf_format(out, "_RANK %d\n#define ", level->rank);
  put_upper(writer, name);
  strbuf_text(out, "_SHAPE ");
  put_list(out, level->shape, level->rank);
}

/* Adds the shape, and the strides in bytes if the elements have constant strides. */
static bool put_field(HeaderWriter *writer, const char *name, Field *field, Error *err) {
  StrBuf *out = &writer->out;
  RgView view;
  if (!field_view(field, &view, err)) return false;
  strbuf_format(out, "/* a field of %s */\n", field->type_name);
  put_shape(writer, name, field->node->snode);
  if (!view.rank || !view.first) return true;
  strbuf_text(out, "#define ");
  put_upper(writer, name);
  strbuf_text(out, "_STRIDES ");
  put_list(out, view.stride, view.rank);
  if (!view.step) return true;
  strbuf_text(out, "#define ");
  put_upper(writer, name);
  strbuf_format(out, "_STEP %lld\n", (long long)view.step);
  return true;
}

static bool put_layouts(HeaderWriter *writer, Error *err) {
  RgModuleItem item;
  for (int32_t k = 0;; k++) {
    module_item(writer->module, k, &item);
    if (item.kind == RG_MODULE_END) return true;
    if (item.kind == RG_MODULE_FIELD && !put_field(writer, item.name, (Field *)item.field, err))
      return false;
    if (item.kind != RG_MODULE_NODE) continue;
    const SNode *level = ((const Node *)item.node)->snode;
    strbuf_format(&writer->out, "/* a %s node */\n", snode_kind_text(level->kind));
    put_shape(writer, item.name, level);
  }
}

/* -- the header -------------------------------------------------------------------------------- */

/* The types of items' handles, and the prefixes of their members, by kind. */
static const char *const members[][2] = {[RG_MODULE_FIELD] = {"RgField", "field"},
                                         [RG_MODULE_NODE] = {"RgSNode", "node"},
                                         [RG_MODULE_KERNEL] = {"RgKernel", "kernel"}};

/* Calls put(printing, kind, name) for each handle in the struct: for each item, and for the
 * derivatives of fields. */
typedef void PutMember(HeaderWriter *writer, int32_t kind, const char *name);
static void each_member(HeaderWriter *writer, PutMember *put) {
  static const char *const derivatives[] = {"grad", "grad.dual", "dual"};
  RgModuleItem item, other;
  for (int32_t k = 0; module_item(writer->module, k, &item), item.kind; k++) {
    put(writer, item.kind, item.name);
    for (int p = 0; p < 3 && item.kind == RG_MODULE_FIELD; p++) {
      const char *name = scratch_format(writer->out.scratch, "%s.%s", item.name, derivatives[p]);
      if (module_find(writer->module, item.kind, name, &other)) put(writer, item.kind, name);
    }
  }
}

static void put_lookup(HeaderWriter *writer, int32_t kind, const char *name) {
  strbuf_format(&writer->out, "  module_->%s_", members[kind][1]);
  put_item_name(writer, name);
  strbuf_format(&writer->out, " = rg_module_%s(module_->module, \"%s\");\n", members[kind][1],
                name);
}

static void put_member(HeaderWriter *writer, int32_t kind, const char *name) {
  strbuf_format(&writer->out, "  %s *%s_", members[kind][0], members[kind][1]);
  put_item_name(writer, name);
  strbuf_text(&writer->out, ";\n");
}

/* Adds a function that fills the struct: `parameters` follow the runtime, `call` opens the
 * module. */
static void put_open_function(HeaderWriter *writer, const char *name, const char *parameters,
                              const char *call, const char *argument) {
  StrBuf *out = &writer->out;
  strbuf_text(out, "static inline RgStatus ");
  put_name(out, writer->prefix, false);
  strbuf_format(out, "_%s(RgRuntime *runtime, %s", name, parameters);
  put_name(out, writer->prefix, false);
  strbuf_format(out, "_module *module_) {\n  RgStatus status_ = %s(runtime, ", call);
  if (argument) {
    strbuf_char(out, '&');
    put_name(out, writer->prefix, false);
  }
  strbuf_format(out, "%s, &module_->module);\n  if (status_) return status_;\n",
                argument ? argument : "path");
  each_member(writer, put_lookup);
  strbuf_text(out, "  return 0;\n}\n");
}

static void put_struct(HeaderWriter *writer) {
  StrBuf *out = &writer->out;
  strbuf_text(out, "\n/* The handles are borrowed from the module. */\ntypedef struct ");
  put_name(out, writer->prefix, false);
  strbuf_text(out, "_module {\n  RgModule *module;\n");
  each_member(writer, put_member);
  strbuf_text(out, "} ");
  put_name(out, writer->prefix, false);
  strbuf_text(out, "_module;\n\n");
}

/* `open` opens a file; `link` opens what an archive defines (rg_module_archive). */
static void put_open_functions(HeaderWriter *writer) {
  StrBuf *out = &writer->out;
  char argument[200];
  put_open_function(writer, "open", "const char *path, ", "rg_module_open", NULL);
  strbuf_text(out, "\n/* For a program that is linked with the module's archive. */\n"
                   "extern const RgLinkedModule ");
  put_name(out, writer->prefix, false);
  strbuf_text(out, "_linked;\n");
  snprintf(argument, sizeof argument, "_linked, \"%.100s\"", writer->prefix);
  put_open_function(writer, "link", "", "rg_module_link", argument);
  strbuf_text(out, "\nstatic inline void ");
  put_name(out, writer->prefix, false);
  strbuf_text(out, "_close(");
  put_name(out, writer->prefix, false);
  strbuf_text(out, "_module *module_) { rg_module_release(module_->module); }\n");
}

static bool write_header(void *data, Error *err) {
  HeaderWriter *writer = data;
  StrBuf *out = &writer->out;
  strbuf_init(out, store_text(module_engine(writer->module)->store));
  strbuf_format(out,
                "/* Made from a module of Regolith: build the module again instead of editing. "
                "*/\n#ifndef ");
  put_upper(writer, "MODULE_H");
  strbuf_text(out, "\n#define ");
  put_upper(writer, "MODULE_H");
  strbuf_text(out, "\n\n#include <regolith.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                   "/* Shapes, and bytes from one element to the next along each axis. */\n");
  if (!put_layouts(writer, err)) return false;
  put_struct(writer);
  put_open_functions(writer);
  if (!put_kernels(writer, err)) return false;
  strbuf_text(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  return true;
}

bool module_header(const Module *module, const char *prefix, const char **text, Error *err) {
  HeaderWriter writer = {.module = module, .prefix = prefix};
  if (!guard_run(write_header, &writer, err)) return false;
  *text = strbuf_end(&writer.out);
  return true;
}
