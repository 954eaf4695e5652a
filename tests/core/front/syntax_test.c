/* syntax_test.c - valid text, seen through ast_print: grouping as parentheses, locals with their
 * ids. */
#include "check.h"
#include "front_support.h"

static void test_precedence(void) {
  static const struct {
    const char *text, *tree;
  } rows[] = {
      {"a + b * c", "a + (b * c)"},
      {"(a + b) * c", "(a + b) * c"},
      {"a - b - c", "(a - b) - c"},
      {"a ^ b ^ c", "a ^ (b ^ c)"},
      {"a .. b .. c", "a .. (b .. c)"},
      {"-a ^ b", "-(a ^ b)"},
      {"a ^ -b", "a ^ (-b)"},
      {"-a * b", "(-a) * b"},
      {"- - a", "-(-a)"},
      {"not a == b", "(not a) == b"},
      {"#a + ~b", "(#a) + (~b)"},
      {"a ~ ~b", "a ~ (~b)"},
      {"a / b // c % d", "((a / b) // c) % d"},
      {"a + b .. c", "(a + b) .. c"},
      {"a .. b << c", "(a .. b) << c"},
      {"a << b & c", "(a << b) & c"},
      {"a >> b ~>> c", "(a >> b) ~>> c"},
      {"a & b ~ c", "(a & b) ~ c"},
      {"a ~ b | c", "(a ~ b) | c"},
      {"a | b == c", "(a | b) == c"},
      {"a < b == c", "(a < b) == c"},
      {"a ~= b != c", "(a ~= b) ~= c"},
      {"a <= b and c >= d", "(a <= b) and (c >= d)"},
      {"a > b or c and d", "(a > b) or (c and d)"},
      {"a and b or c and d", "(a and b) or (c and d)"},
      {"a or b ? c : d", "(a or b) ? c : d"},
      {"a ? b : c ? d : e", "a ? b : (c ? d : e)"},
      {"a ? b ? c : d : e", "a ? (b ? c : d) : e"},
      {"a ? -.5 : 1", "a ? (-.5) : 1"},
      {"a?.5:1", "a ? .5 : 1"},
      {"a ? (b:c()) : d:e()", "a ? (b:c()) : d:e()"},
      {"a ? f(b:c()) : x[b:c()]", "a ? f(b:c()) : x[b:c()]"},
      {"a ? b : f(1)", "a ? b : f(1)"},
      {"a ? b:c(1)", "a ? b : c(1)"}, /* the colon is the conditional's, as in LuaJIT */
      {"x.y[i].z(1)[j]:m(k)", "x.y[i].z(1)[j]:m(k)"},
      {"f{1}'s'[[t]]", "f({1})(\"s\")(\"t\")"},
      {"x[i, j + 1]", "x[i, j + 1]"},
      {"x[{i, j}]", "x[{i, j}]"},
      {"{}", "{}"},
      {"{1, x = 2; [3] = 4, f(), }", "{1, [\"x\"] = 2, [3] = 4, f()}"},
      {"function(a) return a end", "function(a#0)\n    return a#0\n  end"},
      {"...", "..."},
      {"nil == true, false", "nil == true, false"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    TEST("operators group as in Lua 5.3 and LuaJIT")
  CHECK_TEXT(support_expr(rows[i].text), rows[i].tree);
}

static void test_statements(void) {
  TEST("a parallel loop, updates and conditions print as they were written") {
    CHECK_TEXT(support_print("function(t)\n"
                             "  for i, j in rg.range(n, {1, m}):block(128) do\n"
                             "    if x[i][j] > 0 then x[i][j] = x[i][j] + t\n"
                             "    elseif t then block:deactivate(i, j) else continue end\n"
                             "  end\n"
                             "end"),
               "function(t#0)\n"
               "  for i#1, j#2 in rg.range(n, {1, m}):block(128) do\n"
               "    if x[i#1][j#2] > 0 then\n"
               "      x[i#1][j#2] = x[i#1][j#2] + t#0\n"
               "    elseif t#0 then\n"
               "      block:deactivate(i#1, j#2)\n"
               "    else\n"
               "      continue\n"
               "    end\n"
               "  end\n"
               "end\n");
  }
  TEST("all compound assignments are statements, ~= among them") {
    CHECK_TEXT(
        support_print(
            "function() x += 1 x -= 1 x *= 1 x /= 1 x //= 1 x %= 1 x ..= 1 x &= 1 x |= 1 x ~= 1 "
            "x <<= 1 x >>= 1 x[i] ~>>= y ~= 1 end"),
        "function()\n  x += 1\n  x -= 1\n  x *= 1\n  x /= 1\n  x //= 1\n  x %= 1\n  x ..= 1\n  x "
        "&= 1\n"
        "  x |= 1\n  x ~= 1\n  x <<= 1\n  x >>= 1\n  x[i] ~>>= y ~= 1\nend\n");
  }
  TEST("loops, blocks, labels, break, continue and goto parse") {
    CHECK_TEXT(
        support_print("function() for i = 10, 1, -1 do break end while a do do local b end end "
                      "repeat local q = f() until q goto done ::done:: return a, b; end"),
        "function()\n  for i#0 = 10, 1, -1 do\n    break\n  end\n  while a do\n    do\n      local "
        "b#1\n    end\n"
        "  end\n  repeat\n    local q#2 = f()\n  until q#2\n  goto done\n  ::done::\n  return a, "
        "b\nend\n");
  }
  TEST("assignments take several targets, locals several values") {
    CHECK_TEXT(support_print("function() local a, b = 1, 2 a, x.y, x[1] = b, a end"),
               "function()\n  local a#0, b#1 = 1, 2\n  a#0, x.y, x[1] = b#1, a#0\nend\n");
  }
  TEST("semicolons and comments leave no statement") {
    CHECK_TEXT(
        support_print("-- first\nfunction(--[[ none ]]);;--[==[ ]] ]==] f(); -- last\n;end;"),
        "function()\n  f()\nend\n");
  }
  TEST("a kernel may have helpers before it, and `return` before itself") {
    CHECK_TEXT(support_print("local function half(x) return x / 2 end\nconst function twice(x) "
                             "return half(x) * 4 end\n"
                             "return function(a) return twice(a) end"),
               "local function half#0(x#1)\n  return x#1 / 2\nend\n"
               "const function twice#2(x#3)\n  return half#0(x#3) * 4\nend\n"
               "function(a#4)\n  return twice#2(a#4)\nend\n");
  }
  TEST("helpers that call each other are declared first") {
    CHECK_TEXT(support_print("local even, odd; function even(n) return odd(n) end\n"
                             "function odd(n) return even(n) end function(a) return odd(a) end"),
               "local even#0, odd#1\nfunction even(n#2)\n  return odd#1(n#2)\nend\n"
               "function odd(n#3)\n  return even#0(n#3)\nend\n"
               "function(a#4)\n  return odd#1(a#4)\nend\n");
    CHECK_TEXT(support_error("local even function odd(n) end function() end"),
               "1:21+3: the function of a text kernel must not have a name (write 'function(', or "
               "'local function' for a helper)");
  }
  TEST("a byte-order mark and a #! line are skipped") {
    CHECK_TEXT(support_print("\xEF\xBB\xBF#!/usr/bin/luajit\nfunction() end"), "function()\nend\n");
    CHECK_TEXT(support_error("#!x\nfunction( end"),
               "2:11+3: 'end' is a keyword and cannot be a name");
  }
}

static void test_words(void) {
  TEST("continue, const and goto are names where no such statement is possible") {
    CHECK_TEXT(
        support_print("function(continue) continue = 1 continue.x = 2 continue(3) continue[1] += 4 "
                      "for i = 1, 2 do if continue then continue end end end"),
        "function(continue#0)\n  continue#0 = 1\n  continue#0.x = 2\n  continue#0(3)\n  "
        "continue#0[1] += 4\n"
        "  for i#1 = 1, 2 do\n    if continue#0 then\n      continue\n    end\n  end\nend\n");
    CHECK_TEXT(
        support_print("function() local const = 1 const = 2 local goto = const goto = 3 end"),
        "function()\n  local const#0 = 1\n  const#0 = 2\n  local goto#1 = const#0\n  goto#1 = "
        "3\nend\n");
  }
  TEST("const declares a local that cannot be assigned") {
    CHECK_TEXT(
        support_print(
            "function() const x: i32, y = 1, 2 local const z = x const function f() end end"),
        "function()\n  const x#0: i32, y#1 = 1, 2\n  const z#2 = x#0\n  const function f#3()\n  "
        "end\nend\n");
  }
  TEST("a local before a function declaration keeps its own statement") {
    CHECK_TEXT(support_print("function() local x\nfunction f() end end"),
               "function()\n  local x#0\n  function f()\n  end\nend\n");
  }
}

static void test_scopes(void) {
  TEST("a name is the innermost local, and captured where there is none") {
    CHECK_TEXT(
        support_print("function(x) local x = x do local x = x + y end x = y end"),
        "function(x#0)\n  local x#1 = x#0\n  do\n    local x#2 = x#1 + y\n  end\n  x#1 = y\nend\n");
  }
  TEST("a loop's bounds are outside its variable, a repeat's condition inside its body") {
    CHECK_TEXT(
        support_print("function(i) for i = i, i do f(i) end repeat local i until i return i end"),
        "function(i#0)\n  for i#1 = i#0, i#0 do\n    f(i#1)\n  end\n  repeat\n    local i#2\n  "
        "until i#2\n"
        "  return i#0\nend\n");
  }
  TEST("a local function sees itself, a method declaration has self") {
    CHECK_TEXT(support_print("function() local function f() return f() end function a.b:c(x) "
                             "return self, x end end"),
               "function()\n  local function f#0()\n    return f#0()\n  end\n"
               "  function a.b:c(self#1, x#2)\n    return self#1, x#2\n  end\nend\n");
  }
  TEST("continue before a later local is fine if the condition does not read it") {
    CHECK_TEXT(
        support_error("function() repeat local a if a then continue end local q until a end"),
        "no error");
    CHECK_TEXT(support_error("function() repeat if a then continue end local q until (function(q) "
                             "return q end)(1) end"),
               "no error");
  }
  TEST("the parser notes which locals are assigned and captured") {
    Error err;
    Ast *ast = support_parse("function(p, q) const c = 1 p = q for i = 1, 2 do end end", &err);
    const AstLocal *p = ast->function->parameters.items[0], *q = ast->function->parameters.items[1];
    const AstLocal *c = ast->function->body.items[0]->locals.items[0],
                   *i = ast->function->body.items[2]->locals.items[0];
    CHECK(p->is_parameter && p->is_assigned && !p->is_const && p->owner == ast->function);
    CHECK(q->is_parameter && !q->is_assigned);
    CHECK(c->is_const && !c->is_parameter && !c->is_assigned);
    CHECK(i->is_loop_variable && !i->is_assigned);
    CHECK_INT(ast->local_count, 4);
  }
}

static void test_annotations(void) {
  TEST("types are annotated in the text") {
    CHECK_TEXT(
        support_print("function(dt: f32, n: rg.vec(3, f32)): f32, rg.i32 local a: i32, b = 1 "
                      "for i: i64 = 1, 2 do end end"),
        "function(dt#0: f32, n#1: rg.vec(3, f32)): f32, rg.i32\n  local a#2: i32, b#3 = 1\n"
        "  for i#4: i64 = 1, 2 do\n  end\nend\n");
  }
  TEST("types are annotated in comments, too") {
    CHECK_TEXT(
        support_print("function(dt --[[: f32]], n --[==[: rg.vec(3, f32) ]==]) --[[: f32, rg.i32]] "
                      "local a --[[: i32]], b = 1 for i --[[: i64]] -- index\n = 1, 2 do end end"),
        "function(dt#0: f32, n#1: rg.vec(3, f32)): f32, rg.i32\n  local a#2: i32, b#3 = 1\n"
        "  for i#4: i64 = 1, 2 do\n  end\nend\n");
  }
  TEST("a statement in parentheses after a result type is not its call") {
    CHECK_TEXT(support_print("function(): f32 (g)(1) end"), "function(): f32\n  (g)(1)\nend\n");
  }
  TEST("a comment elsewhere is only a comment, also with a colon") {
    CHECK_TEXT(support_print("function() x --[[: not ]] = 1 --[[: a type ]] end"),
               "function()\n  x = 1\nend\n");
  }
  TEST("names in a type are never the kernel's locals") {
    CHECK_TEXT(support_print("function(f32) local x: f32 = f32 end"),
               "function(f32#0)\n  local x#1: f32 = f32#0\nend\n");
  }
}

/* The value of `return TEXT`. */
static const AstExpr *value_of(const char *text) {
  static const AstExpr none;
  char kernel[256];
  Error err;
  snprintf(kernel, sizeof kernel, "function() return %s end", text);
  Ast *ast = support_parse(kernel, &err);
  return ast ? ast->function->body.items[0]->values.items[0] : &none;
}

static void test_numbers(void) {
  static const struct {
    const char *text;
    AstNumberKind kind;
    double number;
    uint64_t integer;
  } rows[] = {
      {"0", AST_NUMBER_PLAIN, 0, 0},
      {"1_000_000", AST_NUMBER_PLAIN, 1e6, 1000000},
      {"0x1F", AST_NUMBER_PLAIN, 31, 31},
      {"0b1_01", AST_NUMBER_PLAIN, 5, 5},
      {"18446744073709551615", AST_NUMBER_PLAIN, 18446744073709551616.0, UINT64_MAX},
      {"18446744073709551616", AST_NUMBER_FLOAT, 18446744073709551616.0, 0},
      {"1.5", AST_NUMBER_FLOAT, 1.5, 0},
      {".1", AST_NUMBER_FLOAT, 0.1, 0},
      {"5.", AST_NUMBER_FLOAT, 5, 0},
      {"3e2", AST_NUMBER_FLOAT, 300, 0},
      {"1_2.2_5e-1_0", AST_NUMBER_FLOAT, 12.25e-10, 0},
      {"123456789.123456789e+5", AST_NUMBER_FLOAT, 123456789.123456789e5, 0},
      {"2.2250738585072011e-308", AST_NUMBER_FLOAT, 2.2250738585072011e-308, 0},
      {"1e-999", AST_NUMBER_FLOAT, 0, 0},
      {"0x1.8p1", AST_NUMBER_FLOAT, 3, 0},
      {"0xA.8", AST_NUMBER_FLOAT, 10.5, 0},
      {"0x.1p4", AST_NUMBER_FLOAT, 1, 0},
      {"1LL", AST_NUMBER_I64, 1, 1},
      {"9223372036854775808ll", AST_NUMBER_I64, 9223372036854775808.0, (uint64_t)1 << 63},
      {"0xffffffffffffffffLL", AST_NUMBER_I64, 18446744073709551616.0, UINT64_MAX},
      {"1_8ULL", AST_NUMBER_U64, 18, 18},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    TEST("a number has its kind and exact value") {
      const AstExpr *value = value_of(rows[i].text);
      CHECK_TEXT(value->kind == AST_NUMBER ? rows[i].text : "no number", rows[i].text);
      CHECK_INT(value->number_kind, rows[i].kind);
      CHECK(value->number == rows[i].number);
      CHECK_INT(value->integer, rows[i].integer);
    }
  }
}

static void test_strings(void) {
  static const struct {
    const char *text;
    Str bytes;
  } rows[] = {
      {"\"\"", STR("")},
      {"'a\"b'", STR("a\"b")},
      {"\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"\\'\"", STR("\a\b\f\n\r\t\v\\\"'")},
      {"'\\0\\65\\x42\\u{43}\\u{20AC}'", STR("\0ABC\xE2\x82\xAC")},
      {"'a\\\nb\\z \n  c'", STR("a\nbc")},
      {"[[\nx\r\ny]]", STR("x\ny")},
      {"[==[ ]] ]=] ]==]", STR(" ]] ]=] ")},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    TEST("a string has the bytes that its text means")
  CHECK(str_equal(value_of(rows[i].text)->text, rows[i].bytes));
}

static void test_positions(void) {
  Error err;
  Ast *ast = support_parse("function()\r\n  local s = a.b[i + 1]\n\n\treturn f(s)\nend", &err);
  TEST("positions are bytes, from 1, and an index reaches its bracket") {
    const AstExpr *index = ast->function->body.items[0]->values.items[0];
    CHECK_INT(index->pos.line, 2);
    CHECK_INT(index->pos.column, 15);
    CHECK_INT(index->width, 8);
    CHECK_INT(index->list.items[0]->pos.column, 19);
    CHECK_INT(ast->function->body.items[1]->pos.line, 4);
    CHECK_INT(ast->function->body.items[1]->pos.column, 2);
    CHECK_INT(ast->function->end.line, 5);
  }
  TEST("the first line of a text may have any number") {
    Scratch scratch;
    Heap heap;
    heap_init(&heap, 0);
    scratch_init(&scratch, &heap);
    error_clear(&err);
    parse_kernel_text(source_create(&scratch, STR("function()\n  x y\nend"), "heat.lua", 41), &err);
    CHECK_INT(err.line, 42);
    CHECK_TEXT(err.file, "heat.lua");
    CHECK_TEXT(err.source, "  x y");
    scratch_deinit(&scratch);
  }
}

static void test_function_at(void) {
  const char *chunk =
      "local a = x && y ?? 'z' -- not a kernel's syntax\n"
      "local k = rg.kernel(function(t) x[1] = t + a end)\n"
      "local k, l = rg.kernel(function() return 1 end), rg.kernel(function() return 2 end)\n"
      "local k, l = rg.kernel(function() return 1 end), rg.kernel(function() return 1 end)\n"
      "function Solver.sub:step(dt)\n"
      "  return self.x[1], function() return dt end\n"
      "end\n"
      "local function named(n) return named(n) end\n"
      "rg.kernel(function\n(q) q() end)\n"
      "rg.kernel(function() x = y && z end)\n"
      "local s = \"never closed\n";
  TEST("a function is found by its lines, whatever the rest of the chunk is") {
    CHECK_TEXT(support_function_at(chunk, 2, 2), "function(t#0)\n  x[1] = t#0 + a\nend\n");
    CHECK_TEXT(support_function_at(chunk, 5, 7),
               "function Solver.sub:step(self#0, dt#1)\n  return self#0.x[1], function()\n    "
               "return dt#1\n  end\nend\n");
    CHECK_TEXT(support_function_at(chunk, 6, 6), "function()\n  return dt\nend\n");
    CHECK_TEXT(support_function_at(chunk, 8, 8), "function named(n#0)\n  return named(n#0)\nend\n");
  }
  TEST("a function expression may begin at its parenthesis") {
    CHECK_TEXT(support_function_at(chunk, 10, 10), "function(q#0)\n  q#0()\nend\n");
  }
  TEST("functions on one line are distinguished by number, or refused unless they are equal") {
    CHECK_TEXT(support_function_at(chunk, 3, 3),
               "3:60+8: two functions on line 3 cannot be told apart: compiled by Lua they are the "
               "same (put them on separate lines)");
    CHECK_TEXT(support_function_like(chunk, 3, 3, "10"), "function()\n  return 1\nend\n");
    CHECK_TEXT(support_function_like(chunk, 3, 3, "01"), "function()\n  return 2\nend\n");
    CHECK_TEXT(support_function_at(chunk, 4, 4), "function()\n  return 1\nend\n");
    CHECK_TEXT(support_function_like(chunk, 4, 4, "11"), "function()\n  return 1\nend\n");
    CHECK_TEXT(support_function_like(chunk, 3, 3, "1"),
               "0:0+0: no function that begins on line 3 and ends on line 3 of 'chunk.lua' was "
               "found (the file may have changed since it was loaded)");
  }
  TEST("functions on one line are counted by their ends, whatever is between them") {
    const char *line = "if a then repeat local f = function() while b do for i = 1, 2 do end end "
                       "end until c end return function() return function() return 1 end end\n"
                       "local function f\n() end local function g() end\n";
    CHECK_TEXT(support_function_like(line, 1, 1, "100"),
               "function()\n  while b do\n    for i#0 = 1, 2 do\n    end\n  end\nend\n");
    CHECK_TEXT(support_function_like(line, 1, 1, "010"), "function()\n  return 1\nend\n");
    CHECK_TEXT(support_function_like(line, 1, 1, "001"),
               "function()\n  return function()\n    return 1\n  end\nend\n");
    CHECK_TEXT(support_function_like(line, 3, 3, "10"), "function f()\nend\n");
    CHECK_TEXT(support_function_like(line, 3, 3, "01"), "function g()\nend\n");
  }
  TEST("a function that does not parse is reported with the reason") {
    CHECK_TEXT(support_function_at(chunk, 11, 11), "11:28+2: kernels have no '&&' (write 'and')");
  }
  TEST("no function is an error with the code source.missing") {
    CHECK_TEXT(
        support_function_at(chunk, 1, 1),
        "0:0+0: no function that begins on line 1 and ends on line 1 of 'chunk.lua' was found "
        "(the file may have changed since it was loaded)");
    Error err = {0};
    Heap heap;
    Scratch scratch;
    heap_init(&heap, 0);
    scratch_init(&scratch, &heap);
    CHECK(!parse_function_at(source_create(&scratch, STR(""), "c", 1), 1, 1, NULL, &err));
    CHECK_TEXT(error_code_text(err.code), "source.missing");
    scratch_deinit(&scratch);
  }
}

static void test_print(void) {
  TEST("an expression prints with the grouping of its source") {
    Error err;
    StrBuf out;
    Ast *ast =
        support_parse("function(i) return x[i+1]+(a*b)-  - c, function() f() g() end end", &err);
    const AstExprs *values = &ast->function->body.items[0]->values;
    strbuf_init(&out, ast->source->scratch);
    ast_print_expr(&out, values->items[0]);
    CHECK_TEXT(strbuf_end(&out), "x[i + 1] + (a * b) - -c");
    strbuf_init(&out, ast->source->scratch);
    ast_print_expr(&out, values->items[1]);
    CHECK_TEXT(strbuf_end(&out), "function()   f()   g() end");
  }
}

int main(void) {
  test_precedence();
  test_statements();
  test_words();
  test_scopes();
  test_annotations();
  test_numbers();
  test_strings();
  test_positions();
  test_function_at();
  test_print();
  TEST("the parser frees all memory") {
    support_reset();
    CHECK_INT(support_live_bytes(), 0);
  }
  return check_report();
}
