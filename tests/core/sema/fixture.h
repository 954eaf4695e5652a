/* fixture.h - a kernel's source and a small world of captures in; types, IR or an error out, as
 * text. World: fields over trees in the text form of snode_read, numbers, and Lua's libraries. A
 * path is looked up as on the host: name by name, up to the first value that is not a table. */
#ifndef RG_TESTS_SEMA_FIXTURE_H
#define RG_TESTS_SEMA_FIXTURE_H

#include <stdio.h>

#include "check.h"
#include "front/parser.h"
#include "sema/sema.h"

typedef struct Named {
  const char *name;
  SemaValue value;
} Named;

typedef struct World {
  Heap heap;
  Scratch scratch;
  SNodeTree *trees[16];
  int tree_count;
  Named named[64];
  int named_count;
  SemaValue parameters[8];
  int parameter_count;
  bool default_f64;
} World;

static void world_name(World *w, const char *name, SemaValue value) {
  w->named[w->named_count++] = (Named){name, value};
}

static void world_number(World *w, const char *name) {
  world_name(w, name, (SemaValue){.kind = VALUE_NUMBER});
}

/* A tree; node `node`'s components become fields with their own names, and the node itself is
 * `level`. */
static void world_tree(World *w, const char *text, int node, const char *level) {
  Error err = {0};
  const char *at = text;
  SNodeTree *tree = snode_read(&w->heap, &at, &err);
  if (!tree) {
    printf("tree: %s\n", err.message);
    return;
  }
  w->trees[w->tree_count++] = tree;
  const SNode *placed = tree->nodes[node];
  for (int i = 0; i < placed->component_count; i++) {
    const SNodeComponent *component = &placed->components[i];
    if (!component->child)
      world_name(w, component->name,
                 (SemaValue){.kind = VALUE_FIELD,
                             .name = component->name,
                             .node = placed,
                             .component = i,
                             .type = component->type});
  }
  if (level) world_name(w, level, (SemaValue){.kind = VALUE_NODE, .name = level, .node = placed});
}

static void world_init(World *w) {
  memset(w, 0, sizeof *w);
  heap_init(&w->heap, 0);
  scratch_init(&w->scratch, &w->heap);
  world_tree(w, "root{ pointer \"ij\" 4 4 block { dense \"ij\" 8 8 { f32 t, f32 u } } }", 2,
             "cells");
  world_name(w, "block",
             (SemaValue){.kind = VALUE_NODE, .name = "block", .node = w->trees[0]->nodes[1]});
  world_tree(w,
             "root{ dense \"i\" 100 { f32 x, f64 y, i32 n32, i64 n64, u8 n8, u32 h32, u64 h64, f16 "
             "z, bool flag, i8 s8 } }",
             1, NULL);
  world_tree(w, "root{ dense \"ijk\" 4 5 6 { f32 g } }", 1, NULL);
  world_tree(w, "root{ f32 total }", 0, NULL);
  world_tree(w, "root{ dense \"i\" 5000000000 { u8 far } }", 1, NULL);
  world_number(w, "a");
  world_number(w, "b");
  world_number(w, "dt");
  world_number(w, "self.dt");
  world_number(w, "self.grid.n");
  world_number(w, "math.pi");
  world_number(w, "math.huge");
  world_name(w, "on", (SemaValue){.kind = VALUE_BOOL});
  world_name(w, "big", (SemaValue){.kind = VALUE_I64});
  world_name(w, "huge", (SemaValue){.kind = VALUE_U64});
  world_name(w, "word", (SemaValue){.kind = VALUE_STRING});
  world_name(w, "helper", (SemaValue){.kind = VALUE_FUNCTION});
  world_name(w, "list", (SemaValue){.kind = VALUE_TABLE});
  world_name(w, "thread", (SemaValue){.kind = VALUE_OTHER, .name = "a thread"});
  world_name(w, "nothing", (SemaValue){.kind = VALUE_NIL});
  world_name(w, "loose", (SemaValue){.kind = VALUE_FIELD, .name = "loose"});
  world_name(w, "self.x",
             (SemaValue){.kind = VALUE_FIELD,
                         .name = "x",
                         .node = w->trees[1]->nodes[1],
                         .type = w->trees[1]->nodes[1]->components[0].type});
  world_name(w, "sine", (SemaValue){.kind = VALUE_BUILTIN, .name = "math.sin"});
}

/* The launch has `count` numbers. */
static inline void give_numbers(World *w, int count) {
  w->parameter_count = count;
  for (int i = 0; i < count; i++) w->parameters[i] = (SemaValue){.kind = VALUE_NUMBER};
}

static void world_deinit(World *w) {
  for (int i = 0; i < w->tree_count; i++) snode_tree_release(w->trees[i]);
  scratch_deinit(&w->scratch);
}

static int count_names(const char *path) {
  int count = 1;
  for (; *path; path++) count += *path == '.';
  return count;
}

static SemaValue world_library(World *w, const char *path) {
  static const char *const missing[] = {"math.sine", "rg.rangee"};
  Type type;
  bool is_library = !strncmp(path, "math.", 5) || !strncmp(path, "bit.", 4) ||
                    !strncmp(path, "rg.", 3) || !strncmp(path, "string.", 7);
  for (int i = 0; i < 2; i++)
    if (!strcmp(path, missing[i])) return (SemaValue){.kind = VALUE_NIL, .depth = 2};
  if (!strncmp(path, "rg.", 3) && type_parse_any(str_of(path + 3), &type))
    return (SemaValue){.kind = VALUE_TYPE, .depth = 2, .name = path + 3};
  bool is_global = !strcmp(path, "print") || !strcmp(path, "assert") || !strcmp(path, "ipairs") ||
                   !strcmp(path, "pcall");
  if (is_library || is_global)
    return (SemaValue){.kind = VALUE_BUILTIN, .depth = count_names(path), .name = path};
  return (SemaValue){.kind = VALUE_NIL};
}

static SemaValue world_find(World *w, Str path) {
  char *name = scratch_copy_text(&w->scratch, path.data, (size_t)path.length);
  for (;;) {
    for (int i = 0; i < w->named_count; i++) {
      if (strcmp(w->named[i].name, name)) continue;
      SemaValue value = w->named[i].value;
      value.depth = count_names(name);
      return value;
    }
    char *dot = strrchr(name, '.');
    if (!dot) break;
    *dot = 0;
  }
  return world_library(w, scratch_copy_text(&w->scratch, path.data, (size_t)path.length));
}

typedef struct Run {
  World *w;
  const char *text;
  bool types_only;
  StrBuf out;
  SemaOutput output;
} Run;

static bool run_kernel(void *data, Error *err) {
  Run *run = data;
  World *w = run->w;
  Source *source = source_create(&w->scratch, str_of(run->text), "kernel", 1);
  Ast *ast = parse_kernel_text(source, err);
  if (!ast) return false;
  SemaPaths paths = sema_paths(&w->scratch, ast);
  SemaValue *captures = scratch_array(&w->scratch, SemaValue, paths.count + 1);
  for (int i = 0; i < paths.count; i++) {
    captures[i] = world_find(w, paths.items[i].name);
    if (paths.items[i].is_parameter_path && paths.items[i].parameter < w->parameter_count &&
        w->parameters[paths.items[i].parameter].kind == VALUE_FIELD) {
      captures[i] = w->parameters[paths.items[i].parameter];
      captures[i].depth = 1;
    }
  }
  SemaInput input = {.ast = ast,
                     .paths = &paths,
                     .captures = captures,
                     .parameters = w->parameters,
                     .parameter_count = w->parameter_count,
                     .default_f64 = w->default_f64,
                     .kernel_name = "k"};
  if (!sema_types(&w->scratch, &input, &run->output, err)) return false;
  if (run->types_only) return sema_print_types(&run->out, &run->output), true;
  if (!sema_lower(&run->output, err)) return false;
  if (!ir_verify(run->output.kernel, err)) return false;
  ir_print(&run->out, run->output.kernel);
  return true;
}

/* "3:7 name.unknown: 'q' is not defined (hint)" */
static const char *error_text(World *w, const Error *err) {
  const char *hint = err->hint[0] ? scratch_format(&w->scratch, " (%s)", err->hint) : "";
  return scratch_format(&w->scratch, "%d:%d+%d %s: %s%s", err->line, err->column, err->width,
                        error_code_text(err->code), err->message, hint);
}

static const char *run_text(World *w, const char *text, bool types_only) {
  Error err = {0};
  Run run = {.w = w, .text = text, .types_only = types_only};
  strbuf_init(&run.out, &w->scratch);
  if (!guard_run(run_kernel, &run, &err)) return error_text(w, &err);
  return strbuf_end(&run.out);
}

static inline const char *types_of(World *w, const char *text) { return run_text(w, text, true); }

/* The host region alone, without the braces around it. */
static inline const char *ir_of(World *w, const char *text) {
  const char *all = run_text(w, text, false), *host = strstr(all, "host {\n");
  if (!host) return all;
  StrBuf out;
  strbuf_init(&out, &w->scratch);
  for (const char *line = host + 7; *line == ' ';) {
    const char *end = strchr(line, '\n');
    strbuf_add(&out, line + 2, (int)(end - line - 1));
    line = end + 1;
  }
  return strbuf_end(&out);
}

/* The part before it: trees, fields, levels, arguments. */
static inline const char *tables_of(World *w, const char *text) {
  const char *all = run_text(w, text, false), *host = strstr(all, "host {\n");
  return host ? scratch_copy_text(&w->scratch, all, (size_t)(host - all)) : all;
}

static inline const char *error_of(World *w, const char *text) { return run_text(w, text, false); }

#endif
