/* new_node_test.c - nodes of the typed tree, made from those of a text. */
#include "check.h"
#include "front/parser.h"
#include "resolve/resolve.h"

typedef struct Built {
  Heap heap;
  Scratch scratch;
  Sema s;
  Resolve r;
  const Ast *ast;
  Block body;
} Built;

/* The statements of a text without loops and branches. */
static void build(Built *b, const char *text) {
  Error err;
  heap_init(&b->heap, 0);
  scratch_init(&b->scratch, &b->heap);
  error_clear(&err);
  b->ast = parse_kernel_text(source_create(&b->scratch, str_of(text), "build", 1), &err);
  b->s = (Sema){.scratch = &b->scratch};
  b->r = (Resolve){.s = &b->s, .scratch = &b->scratch};
  b->body = (Block){0};
  map_init(&b->r.names, &b->scratch);
  const AstFunction *function = b->ast->function;
  for (int i = 0; i < function->parameters.count; i++)
    build_local(&b->r, function->parameters.items[i]);
  for (int i = 0; i < function->body.count; i++)
    vec_push(&b->scratch, &b->body, build_stmt(&b->r, function->body.items[i]));
}

static void drop(Built *b) { scratch_deinit(&b->scratch); }

static bool is_same(const char *first, const char *second) {
  Built b;
  char text[256];
  snprintf(text, sizeof text, "function(i, j) return %s, %s end", first, second);
  build(&b, text);
  const Exprs *values = &b.body.items[0]->values;
  bool same = sema_is_same(values->items[0], values->items[1]);
  drop(&b);
  return same;
}

static void test_same(void) {
  TEST("accesses are equal whatever their white space") {
    CHECK(is_same("x[i + 1][j]", "x[i+1] [ j ]"));
    CHECK(is_same("self.x[{i, j - 1}]", "self.x[{i,j-1}]"));
    CHECK(is_same("x[i ? 1 : 2]", "x[i ? 1:2]"));
  }
  TEST("accesses with different tokens differ") {
    CHECK(!is_same("x[i]", "x[j]"));
    CHECK(!is_same("x[i]", "y[i]"));
    CHECK(!is_same("x[i]", "x[(i)]"));
    CHECK(!is_same("x[i, j]", "x[i][j]"));
    CHECK(!is_same("x[i + 1]", "x[i - 1]"));
    CHECK(!is_same("x[1]", "x[1.0]"));
    CHECK(!is_same("x.a", "x.b"));
  }
  TEST("an access with a call is equal to no other") CHECK(!is_same("x[f(i)]", "x[f(i)]"));
}

static void test_names(void) {
  Built b;
  build(&b, "function() local a = 1; local b = a; local a = a; a.x = b end");
  Stmt *const *body = b.body.items;
  TEST("a name means the variable that the text says") {
    CHECK(body[1]->values.items[0]->local == body[0]->locals.items[0]);
    CHECK(body[2]->values.items[0]->local == body[0]->locals.items[0]);
    CHECK(body[3]->targets.items[0]->left->local == body[2]->locals.items[0]);
  }
  TEST("a variable knows whether something in it is assigned") {
    CHECK(!body[0]->locals.items[0]->is_part_assigned);
    CHECK(body[2]->locals.items[0]->is_part_assigned);
    CHECK(!body[2]->locals.items[0]->is_assigned);
  }
  TEST("a text that is built twice has its own variables and nodes each time") {
    const AstStmt *ast = b.ast->function->body.items[0];
    Stmt *again = build_stmt(&b.r, ast);
    CHECK(again->locals.items[0] != body[0]->locals.items[0]);
    CHECK(again->values.items[0] != body[0]->values.items[0]);
    CHECK(again->locals.items[0]->id != body[0]->locals.items[0]->id);
    CHECK(build_find(&b.r, ast->locals.items[0]) == again->locals.items[0]);
  }
  drop(&b);
}

static AstBlock parse_body(Built *b, const char *text) {
  build(b, "function() end");
  Error err;
  error_clear(&err);
  return parse_kernel_text(source_create(&b->scratch, str_of(text), "returns", 1), &err)
      ->function->body;
}

static void test_returns(void) {
  Built b;
  AstBlock body = parse_body(&b, "function(c) if c then return 1 end; local d = 2; return d end");
  TEST("a return before the end is an early one, although no path falls off the end") {
    CHECK(returns_early(&body));
    CHECK(!has_single_return(&body));
    CHECK(returns_always(&body));
  }
  drop(&b);
  body = parse_body(&b, "function(c) if c then return 1 else local d = 2; return d end end");
  TEST("a return at the end of each arm of the last branch is not an early one") {
    CHECK(!returns_early(&body));
    CHECK(!has_single_return(&body));
    CHECK(returns_always(&body));
  }
  drop(&b);
  body = parse_body(&b, "function(c) if c then return 1 end end");
  TEST("a function whose last branch lacks an arm may fall off its end") {
    CHECK(!returns_early(&body));
    CHECK(!returns_always(&body));
  }
  drop(&b);
}

int main(void) {
  test_same();
  test_names();
  test_returns();
  return check_report();
}
