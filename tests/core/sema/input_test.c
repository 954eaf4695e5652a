/* input_test.c - what a launch provides: the paths of a kernel, fields and tables as arguments, and
 * the sources of each argument, field and level of the result. */
#include "fixture.h"

static const char *paths_of(World *w, const char *text) {
  Error err = {0};
  StrBuf out;
  strbuf_init(&out, &w->scratch);
  Ast *ast = parse_kernel_text(source_create(&w->scratch, str_of(text), "kernel", 1), &err);
  if (!ast) return "does not parse";
  SemaPaths paths = sema_paths(&w->scratch, ast);
  for (int i = 0; i < paths.count; i++) {
    const SemaPath *path = &paths.items[i];
    strbuf_format(&out, "%.*s@%d", path->name.length, path->name.data, path->pos.column);
    if (path->is_parameter_path) strbuf_format(&out, "=%d", path->parameter);
    strbuf_char(&out, ' ');
  }
  return strbuf_end(&out);
}

static void test_paths(World *w) {
  TEST("paths extend as far as the dots, once each, in order of first use") {
    CHECK_TEXT(
        paths_of(
            w, "function() x[a] = self.grid.dt + math.sin(a) x[b] = self.grid.dt + x.shape[0] end"),
        "x@12 a@14 self.grid.dt@29 math.sin@39 b@48 x.shape@70 ");
  }
  TEST("a path may begin at a parameter, but a parameter alone is not a path") {
    CHECK_TEXT(paths_of(w, "function(self, v) self.x[v] = self.dt end"),
               "self.x@24=0 self.dt@36=0 ");
  }
  TEST("a name that a local hides is not a path") {
    CHECK_TEXT(paths_of(w, "function() local a = a x[a] = a.b end"), "a@22 x@24 ");
  }
  TEST("types in annotations are paths unless they are scalars") {
    CHECK_TEXT(paths_of(w, "function(n: i32): f32 local m: rg.f64, v: Real = 1, 2 end"),
               "rg.f64@35 Real@43 ");
  }
  TEST("a condition of repeat comes after its body") {
    CHECK_TEXT(paths_of(w, "function() repeat x[0] = a until b end"), "x@19 a@26 b@34 ");
  }
}

static SemaValue field_value(const World *w, int tree, int node, int component) {
  return (SemaValue){.kind = VALUE_FIELD,
                     .name = "f",
                     .node = w->trees[tree]->nodes[node],
                     .component = component,
                     .type = w->trees[tree]->nodes[node]->components[component].type};
}

static void test_arguments(World *w) {
  TEST("a field may come as an argument") {
    w->parameter_count = 2;
    w->parameters[0] = field_value(w, 1, 1, 0);
    w->parameters[1] = (SemaValue){.kind = VALUE_NODE, .name = "n", .node = w->trees[0]->nodes[1]};
    CHECK_TEXT(ir_of(w, "function(f, n) f[0] = f.shape[0] n:clear() end"),
               "%0: f32 = const 100.0\n"
               "%1: i32 = const 0\n"
               "%2: place = place f0 %1\n"
               "store %2, %0\n"
               "clear l0\n");
    CHECK_TEXT(error_of(w, "function(f: f32, n) end"),
               "1:10+1 launch.arguments: 'f' is declared f32, but the launch argument is a field");
    CHECK_TEXT(error_of(w, "function(f, n) f = 1 end"),
               "1:10+1 kernel.unsupported: the parameter 'f' is not a number here, so it cannot be "
               "assigned (declare "
               "another local for the new value)");
  }
  TEST("a table as an argument is read by path") {
    w->parameter_count = 1;
    w->parameters[0] = (SemaValue){.kind = VALUE_TABLE};
    CHECK_TEXT(types_of(w, "function(self) local v = self.dt x[self.grid.n] = v end"),
               "self.dt: f32\nself.grid.n: i32\nv: f32\n");
    CHECK_TEXT(error_of(w, "function(self) x[0] = self end"),
               "1:23+4 kernel.unsupported: 'self' is a table and cannot be used as a value in a "
               "kernel (name what is in it by its path, such as self.x; a call with a colon, "
               "t:f(..), passes t as the first argument)");
  }
  give_numbers(w, 0);
}

static void test_sources(World *w) {
  TEST("one field under two names is one field") {
    w->parameter_count = 1;
    w->parameters[0] = field_value(w, 1, 1, 0);
    CHECK_TEXT(tables_of(w, "function(f) f[0] = x[1] + self.x[2] end"),
               "kernel k\n"
               "tree t0 = root{ dense \"i\" 100 { f32 x, f64 y, i32 n32, i64 n64, u8 n8, u32 h32, "
               "u64 h64, f16 z, bool "
               "flag, i8 s8 } }\n"
               "field f0 = t0.node 1.component 0: f32 x\n");
    give_numbers(w, 0);
  }
  TEST("arguments, fields and levels say where they come from") {
    Error err = {0};
    Run run = {.w = w,
               .text = "function(n, v) n32[n] = a for i, j in t:active() do block:activate(i, j) "
                       "end y[1] = v end"};
    give_numbers(w, 2);
    strbuf_init(&run.out, &w->scratch);
    CHECK(guard_run(run_kernel, &run, &err));
    const SemaOutput *output = &run.output;
    CHECK_INT(output->args.count, 3);
    CHECK_INT(output->kernel->args.count, 3);
    CHECK(output->args.items[0].is_parameter && output->args.items[0].index == 0);
    CHECK(output->args.items[1].is_parameter && output->args.items[1].index == 1);
    CHECK(!output->args.items[2].is_parameter && output->args.items[2].index == 1);
    CHECK_INT(output->fields.count, 2);
    CHECK_INT(output->fields.items[0].index, 0); /* n32 */
    CHECK_INT(output->fields.items[1].index, 4); /* y */
    CHECK_INT(output->levels.count, 2);
    CHECK_INT(output->levels.items[0].index, 2); /* t */
    CHECK_INT(output->levels.items[1].index, 3); /* block */
    give_numbers(w, 0);
  }
  TEST("an argument names the use that settled its type") {
    CHECK_TEXT(tables_of(w, "function() local m = a + b\n  x[m] = dt * 2 end"),
               "kernel k\n"
               "tree t0 = root{ dense \"i\" 100 { f32 x, f64 y, i32 n32, i64 n64, u8 n8, u32 h32, "
               "u64 h64, f16 z, bool "
               "flag, i8 s8 } }\n"
               "field f0 = t0.node 1.component 0: f32 x\n"
               "arg 0: i32 a @1:22\n"
               "arg 1: i32 b @1:26\n"
               "arg 2: f32 dt @2:10\n");
  }
  TEST("the default float is the program's") {
    w->default_f64 = true;
    CHECK_TEXT(
        types_of(w,
                 "function() local p = dt local q = 0.5 local r = 1 / 3 local v = x[0] * 0.5 end"),
        "dt: f64\np: f64\nq: f64\nr: f64\nv: f32\n");
    w->default_f64 = false;
  }
}

static void test_depth(World *w) {
  TEST("a chain of elseif that no later step could follow is refused") {
    StrBuf text;
    strbuf_init(&text, &w->scratch);
    strbuf_text(&text, "function()\n  if dt == 0 then x[0] = 0\n");
    for (int i = 1; i < 400; i++)
      strbuf_format(&text, "  elseif dt == %d then x[%d] = 0\n", i, i % 100);
    strbuf_text(&text, "  end\nend");
    CHECK_TEXT(error_of(w, strbuf_end(&text)),
               "151:25+1 kernel.unsupported: more than 150 loops and branches are nested here "
               "(break up the chain of 'elseif', or compute a part in a separate loop)");
  }
}

/* At each allocation in turn memory runs out: the compile ends with an error and leaves nothing
 * behind. */
static bool ends_well_without_memory(void) {
  const char *text =
      "function() local s = 0 for i in rg.range(9) do s += x[i] t[i][a] = s32 end return s end";
  for (int64_t number = 1; number < 200; number++) {
    World w;
    Error err = {0};
    Run run = {.w = &w, .text = text};
    world_init(&w);
    strbuf_init(&run.out, &w.scratch);
    w.heap.fail_at = w.heap.allocations + number;
    bool ended = guard_run(run_kernel, &run, &err) || err.code != RG_ERROR_MEMORY;
    world_deinit(&w);
    if (w.heap.live_bytes) return false;
    if (ended) return number > 1;
  }
  return false;
}

static void test_memory(void) {
  TEST("a compile that runs out of memory is an error") { CHECK(ends_well_without_memory()); }
}

int main(void) {
  World w;
  world_init(&w);
  test_paths(&w);
  test_arguments(&w);
  test_sources(&w);
  test_depth(&w);
  world_deinit(&w);
  test_memory();
  return check_report();
}
