/* kernel.c - a kernel's text, through parser, sema and passes to canonical bytes and back. What
 * sema accepts must verify after every pass, also where one is left out (which, the text's length
 * says), and its bytes must read back. */
#include "../core/sema/fixture.h"
#include "fuzz.h"
#include "ir/task.h"
#include "pass/pass.h"

enum { LONGEST_TEXT = 4096 };

static World world;

static void drop_world(void) { world_deinit(&world); }

static void make_world(void) {
  world_init(&world);
  atexit(drop_world);
  world_tree(&world, "root{ hash \"ij\" { bitmasked \"ij\" 8 8 { f32 h, i32 hn } } }", 2, "hashed");
  world_tree(&world,
             "root{ bitmasked \"i\" 200 { dynamic \"j\" 100 chunk 8 { f32 item, u8 tag } } }", 2,
             "bin");
  world_tree(&world, "root{ pointer \"i\" 9 { pointer \"i\" 3 { dense \"i\" 7 { f32 deep } } } }",
             3, "deeps");
  give_numbers(&world, 2);
}

typedef struct Input {
  Str text;
} Input;

static bool check_bytes(IrKernel *kernel, Error *err) {
  const char *target = "";
  IrBytes bytes = ir_write(&world.scratch, kernel, "x86-64-v3");
  return ir_read_bytes(&world.scratch, bytes.data, bytes.length, &target, err) != NULL;
}

/* A resource that ran out and a construct refused by name are answers. */
static void check_answer(bool ok, const Error *err, const char *promise) {
  if (!ok && err->code == RG_ERROR_IR) fuzz_broken(promise, err->message);
}

static bool compile(void *data, Error *err) {
  const Input *input = data;
  Ast *ast = parse_kernel_text(source_create(&world.scratch, input->text, "kernel", 1), err);
  if (!ast) return false;
  SemaPaths paths = sema_paths(&world.scratch, ast);
  SemaValue *captures = scratch_array(&world.scratch, SemaValue, paths.count + 1);
  for (int i = 0; i < paths.count; i++) captures[i] = world_find(&world, paths.items[i].name);
  SemaInput given = {.ast = ast,
                     .paths = &paths,
                     .captures = captures,
                     .parameters = world.parameters,
                     .parameter_count = world.parameter_count,
                     .kernel_name = "k"};
  SemaOutput output = {0};
  if (!sema_types(&world.scratch, &given, &output, err) || !sema_lower(&output, err)) return false;
  const char *without = pass_name(input->text.length % (2 * pass_count()));
  PassContext passes = {.scratch = &world.scratch,
                        .vector_bytes = 32,
                        .target = target_cpu,
                        .verify = true,
                        .without = without && !pass_is_necessary(without) ? without : NULL};
  bool ok = pass_run_all(&passes, output.kernel, err);
  check_answer(ok, err, "what sema accepts verifies after every pass");
  if (!ok) return false;
  ok = check_bytes(output.kernel, err);
  check_answer(ok, err, "canonical bytes read back");
  return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!world.tree_count) make_world();
  if (size > LONGEST_TEXT) return 0;
  Input input = {.text = {(const char *)data, (int)size}};
  Error err = {0};
  scratch_deinit(&world.scratch);
  scratch_init(&world.scratch, &world.heap);
  if (!guard_run(compile, &input, &err) && !error_is_set(&err))
    fuzz_broken("a refusal has a sentence", "none");
  return 0;
}
