/* errors_test.c - invalid text: the exact message, position and hint of each error. */
#include "check.h"
#include "front_support.h"

typedef struct Row {
  const char *text, *error;
} Row;

static void check_rows(const char *name, const Row *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    TEST(name) CHECK_TEXT(support_error(rows[i].text), rows[i].error);
}
#define CHECK_ROWS(name, rows) check_rows(name, rows, sizeof rows / sizeof rows[0])

static const Row unclosed[] = {
    {"function(x)\n  for i = 1, 3 do\n    x[i] = 1\n",
     "2:3+3: this 'for' is never closed: 'end' is missing"},
    {"function(x)\n  while a do", "2:3+5: this 'while' is never closed: 'end' is missing"},
    {"function(x)\n  repeat f()", "2:3+6: this 'repeat' is never closed: 'until' is missing"},
    {"function(x)\n  repeat f()\nend",
     "3:1+3: 'until' expected to close the 'repeat' on line 2, found 'end'"},
    {"function(x)\n  if a then\n  do\n  until",
     "4:3+5: 'end' expected to close the 'do' on line 3, found 'until'"},
    {"function() x = {1, 2 end", "1:22+3: '}' expected, found 'end'"},
    {"function() x = {\n1, 2", "1:16+1: this '{' is never closed: '}' is missing"},
    {"function() y = (1 +\n 2 end", "2:4+3: ')' expected to close the '(' on line 1, found 'end'"},
    {"function() f(1, 2; 3) end", "1:18+1: ')' expected, found ';'"},
    {"function() x = y[1 end", "1:20+3: ']' expected, found 'end'"},
    {"function", "1:9+1: '(' expected, found the end of the text"},
    {"function(x)\n  if a then\n    f()\n  else if b then\n    g()\n  end\nend",
     "1:1+8: this 'function' is never closed: 'end' is missing "
     "(the 'if' after 'else' on line 4 needs its own 'end'; 'elseif' does not)"},
    {"function(x)\n  for i = 1, 3 do\n    if a then\n      b()\n  end\nend",
     "1:1+8: this 'function' is never closed: 'end' is missing "
     "(the 'end' on line 5 closes the 'if' on line 3, but is not aligned with it)"},
    {"function() local s = \"abc\nend", "1:22+4: this string is not closed on its line (end it "
                                        "with \", or write a line break in it as \\n)"},
    {"function() local s = 'abc", "1:22+4: this string is not closed on its line (end it with ', "
                                  "or write a line break in it as \\n)"},
    {"function() f [==[ ]] end", "1:14+2: this long string is never closed"},
    {"function() --[[ f end", "1:12+4: this comment is never closed"},
};

static const Row cut[] = {
    {"function(i) x[a[i", "1:16+1: this '[' is never closed: ']' is missing "
                          "(']]' ends a plain long string: write the kernel between [=[ and ]=])"},
    {"function(i) x[a[i +",
     "1:20+1: an expression expected, found the end of the text "
     "(']]' ends a plain long string: write the kernel between [=[ and ]=])"},
    {"function(i) x[i", "1:14+1: this '[' is never closed: ']' is missing"},
};

static const Row foreign[] = {
    {"function() if x = 1 then end end",
     "1:17+1: 'then' expected, found '=' ('=' assigns; write '==' to compare)"},
    {"function() while x = 1 do end end",
     "1:20+1: 'do' expected, found '=' ('=' assigns; write '==' to compare)"},
    {"function() repeat until x = 1 end",
     "1:27+1: a condition ends here, found '=' ('=' assigns; write '==' to compare)"},
    {"function() if !a then end end", "1:15+1: kernels have no '!' (write 'not')"},
    {"function() if a && b then end end", "1:17+2: kernels have no '&&' (write 'and')"},
    {"function() if a || b then end end", "1:17+2: kernels have no '||' (write 'or')"},
    {"function() i++ end", "1:13+2: kernels have no '++' (write 'x += 1')"},
    {"function() x ^= 2 end", "1:14+2: kernels have no '^=' (write 'x = x ^ y')"},
    {"function() local i = 0 i--\nend", "1:24+1: this expression is not a statement: assign it, or "
                                        "call it ('--' begins a comment; write 'x -= 1')"},
    {"function() y = x ?? 1 end", "1:18+2: kernels have no '?"
                                  "?' (no value in a kernel is nil; write 'c ? a : b' to choose)"},
    {"function() y = x?.y end",
     "1:17+2: kernels have no '?.' (no value in a kernel is nil; write '.')"},
    {"function() y = x -> x end",
     "1:18+2: kernels have no '->' (write 'function(x) return .. end')"},
    {"function()\n // note\nend",
     "2:2+2: a statement expected, found '//' (a comment begins with '--')"},
    {"function() n: i32 = 3 end", "1:19+1: the arguments of a method call expected, found '=' "
                                  "('local x: T = v' declares a variable with its type)"},
    {"function(a = 1) end", "1:12+1: ')' expected, found '=' (a parameter has no default value)"},
    {"function() x == 1 end",
     "1:14+2: '=' or a call expected, found '==' ('==' compares; write '=' to assign)"},
    {"function() local x = c ? x:m() : y end",
     "1:32+1: this ':' has no matching '?' (between '?' and ':' put a method call in parentheses: "
     "c ? (x:m()) : y)"},
    {"function() local x = c ? x:m(1) : 2 end",
     "1:33+1: this ':' has no matching '?' (between '?' and ':' put a method call in parentheses: "
     "c ? (x:m()) : y)"},
};

static const Row statements[] = {
    {"function() loca x = 1 end", "1:12+4: 'loca' does not begin a statement"},
    {"function() x\n y = 1 end",
     "1:12+1: this expression is not a statement: assign it, or call it"},
    {"function() x[1] end", "1:12+4: this expression is not a statement: assign it, or call it"},
    {"function() 1 = x end", "1:12+1: a statement expected, found '1'"},
    {"function() 'text' end", "1:12+6: a statement expected, found a string"},
    {"function() f() = 1 end",
     "1:12+1: this cannot be assigned: only a name, a field or an element can"},
    {"function() (x) = 1 end",
     "1:12+3: this cannot be assigned: only a name, a field or an element can"},
    {"function() a, b += 1 end", "1:17+2: '+=' takes one target"},
    {"function() x = end", "1:16+3: an expression expected, found 'end'"},
    {"function() x = 1 + * 2 end", "1:20+1: an expression expected, found '*'"},
    {"function() x = c ? 1 end", "1:22+3: ':' expected, found 'end'"},
    {"function() const x = 1 x = 2 end",
     "1:24+1: 'x' is const and cannot be assigned (declare it with 'local' if it has to change)"},
    {"function() const x = 1 x += 2 end",
     "1:24+1: 'x' is const and cannot be assigned (declare it with 'local' if it has to change)"},
    {"function() break end", "1:12+5: 'break' is outside a loop"},
    {"function() continue end", "1:12+8: 'continue' is outside a loop"},
    {"function() for i = 1, 2 do f(function() break end) end end",
     "1:41+5: 'break' is outside a loop"},
    {"function() for i = 1, 2 do break x = 1 end end",
     "1:34+1: nothing may follow 'break' in its block"},
    {"function() for i = 1, 2 do continue\n x = 1 end end",
     "2:2+1: nothing may follow 'continue' in its block"},
    {"function() return 1 x = 1 end", "1:21+1: nothing may follow 'return' in its block"},
    {"function()\nrepeat if a then continue end local q = 1 until q end",
     "2:49+1: the 'continue' on line 2 jumps over the declaration of 'q' "
     "(declare it before the 'continue', or before the 'repeat')"},
    {"function() f\n(g)() end",
     "2:1+1: this '(' could call the line above or begin a statement "
     "(put both on one line to call, or ';' before the '(' to begin a statement)"},
    {"function() for i do end end", "1:18+2: '=' or 'in' expected, found 'do' (loops are 'for k = "
                                    "0, n - 1 do' and 'for i in rg.range(n) do')"},
    {"function() for i, j = 1, 2 do end end", "1:21+1: 'in' expected, found '=' (loops are 'for k "
                                              "= 0, n - 1 do' and 'for i in rg.range(n) do')"},
    {"function() for i = 1 do end end", "1:22+2: ',' expected, found 'do'"},
    {"function() local end = 1 end", "1:18+3: 'end' is a keyword and cannot be a name"},
    {"function() x.end = 1 end", "1:14+3: 'end' is a keyword and cannot be a name"},
    {"function() local 1 end", "1:18+1: a name expected, found '1'"},
    {"function(a,) end", "1:12+1: a name expected, found ')'"},
    {"function(..., a) end", "1:13+1: ')' expected, found ','"},
    {"function() return ... end", "1:19+3: '...' is used outside a function that takes '...'"},
    {"function() goto end end",
     "1:12+4: this expression is not a statement: assign it, or call it"},
    {"function() :: x end", "1:17+3: '::' expected, found 'end'"},
};

static const Row whole[] = {
    {"", "1:1+1: the kernel's 'function(' expected, found the end of the text "
         "(a text kernel is one function, with 'local function' helpers before it if wanted)"},
    {"for i = 1, 2 do end",
     "1:1+3: the kernel's 'function(' expected, found 'for' "
     "(a text kernel is one function, with 'local function' helpers before it if wanted)"},
    {"function step() end", "1:10+4: the function of a text kernel must not have a name "
                            "(write 'function(', or 'local function' for a helper)"},
    {"function() end end", "1:16+3: there is more text after the kernel's function"},
    {"function() end function() end", "1:16+8: there is more text after the kernel's function"},
};

static const Row literals[] = {
    {"function() x = 3x end", "1:16+2: '3x' is not a number"},
    {"function() x = 0x end", "1:16+2: '0x' is not a number"},
    {"function() x = 1..2 end", "1:16+4: '1..2' is not a number"},
    {"function() x = 1e end", "1:16+2: '1e' is not a number"},
    {"function() x = 1e+ end", "1:16+3: '1e+' is not a number"},
    {"function() x = 0b12 end", "1:16+4: '0b12' is not a number"},
    {"function() x = 1.5LL end",
     "1:16+5: '1.5LL' is not a number (the suffixes LL and ULL are for integers)"},
    {"function() x = 1e999 end",
     "1:16+5: '1e999' is too large for a number (math.huge is infinity)"},
    {"function() x = 9223372036854775809LL end",
     "1:16+21: '9223372036854775809LL' does not fit in i64 (end it with ULL for a u64)"},
    {"function() x = 18446744073709551616ULL end",
     "1:16+23: '18446744073709551616ULL' does not fit in 64 bits"},
    {"function() f('a\\q') end",
     "1:16+2: this string has an invalid escape sequence (a backslash itself is written \\\\)"},
    {"function() f('\\256') end",
     "1:15+4: this string has an invalid escape sequence (a backslash itself is written \\\\)"},
    {"function() f('\\x4') end",
     "1:15+3: this string has an invalid escape sequence (a backslash itself is written \\\\)"},
    {"function() f('\\u{110000}') end",
     "1:15+8: this string has an invalid escape sequence (a backslash itself is written \\\\)"},
    {"function() x = @ end", "1:16+1: '@' has no meaning in a kernel"},
    {"function() x = \x01 end", "1:16+1: the byte 0x01 is not allowed in a kernel"},
};

static const Row annotations[] = {
    {"function(n: 3) end", "1:13+1: a type expected, found '3'"},
    {"function(): end", "1:13+3: a type expected, found 'end'"},
    {"function() local x: = 1 end", "1:21+1: a type expected, found '='"},
    {"function(n --[[: 3]]) end",
     "1:18+1: a type expected, found '3' "
     "(a comment --[[: T]] annotates a type; put a space before the colon if this is not one)"},
    {"function(n --[[: the count]]) end",
     "1:22+5: the end of the annotation expected, found 'count' "
     "(a comment --[[: T]] annotates a type; put a space before the colon if this is not one)"},
};

static char *repeated(char *out, const char *before, const char *part, int times,
                      const char *after) {
  char *at = out + sprintf(out, "%s", before);
  for (int i = 0; i < times; i++) at += sprintf(at, "%s", part);
  sprintf(at, "%s", after);
  return out;
}

static void test_depth(void) {
  static char text[1 << 16];
  const char *too_deep =
      "this is nested more than 200 levels deep (move a part into a local or a helper function)";
  const char *too_tall =
      "this expression chains more than 500 operations (keep a part of it in a local)";
  TEST("nesting has a limit that no kernel meets by accident") {
    CHECK_TEXT(support_error(repeated(text, "function() x = ", "(", 150, "1")) +
                   strlen("1:165+1: "),
               "this '(' is never closed: ')' is missing");
    CHECK(strstr(support_error(repeated(text, "function() x = ", "(", 5000, "")), too_deep) !=
          NULL);
    CHECK(strstr(support_error(repeated(text, "function() x = ", "-", 1, "")), "expected") != NULL);
    CHECK(strstr(support_error(repeated(text, "function() x = ", "- ", 5000, "")), too_deep) !=
          NULL);
    CHECK(strstr(support_error(repeated(text, "function() x = ", "2 ^ ", 5000, "")), too_deep) !=
          NULL);
    CHECK(strstr(support_error(repeated(text, "function() x = ", "a ? b : ", 5000, "")),
                 too_deep) != NULL);
    CHECK(strstr(support_error(repeated(text, "function() ", "do ", 5000, "")), too_deep) != NULL);
    CHECK(strstr(support_error(repeated(text, "function() x = ", "{", 5000, "")), too_deep) !=
          NULL);
    CHECK(strstr(support_error(repeated(text, "", "function() return ", 3000, "")), too_deep) !=
          NULL);
  }
  TEST("chains of operators have a depth limit, since later stages recurse over them") {
    CHECK_TEXT(support_error(repeated(text, "function() x = 1", " + 1", 400, " end")), "no error");
    CHECK(strstr(support_error(repeated(text, "function() x = 1", " + 1", 600, " end")),
                 too_tall) != NULL);
    CHECK(strstr(support_error(repeated(text, "function() x", "[1]", 600, " = 1 end")), too_tall) !=
          NULL);
    CHECK(strstr(support_error(repeated(text, "function() x", ".y", 600, " = 1 end")), too_tall) !=
          NULL);
  }
  TEST("long lists do not count as chains") {
    CHECK_TEXT(support_error(repeated(text, "function() x = {", "1, ", 9000, "} end")), "no error");
    CHECK_TEXT(support_error(repeated(text, "function() ", "local a ", 5000, " end")), "no error");
  }
}

static void test_diagnostic(void) {
  Error err;
  TEST("an error carries code, file and the source line") {
    support_parse("function()\n\tx = @\nend", &err);
    CHECK_TEXT(error_code_text(err.code), "syntax");
    CHECK_TEXT(err.file, "kernel.lua");
    CHECK_TEXT(err.source, "\tx = @");
  }
  TEST("a caret never points at text that is not shown") {
    char text[1024] = "function() ";
    memset(text + 11, ' ', 600);
    strcpy(text + 611, "x = @ end");
    support_parse(text, &err);
    CHECK_INT(err.column, 616);
    CHECK_TEXT(err.source, "");
  }
  TEST("a long line is cut between characters") {
    char text[1024] = "function() x = @ --";
    while (strlen(text) < 600) strcat(text, "\xE2\x82\xAC");
    support_parse(text, &err);
    CHECK_INT(err.column, 16);
    CHECK_INT(strlen(err.source), 238); /* 19 bytes and 73 characters of three */
  }
  TEST("long names are cut in messages") {
    char text[1024] = "function() ";
    memset(text + 11, 'a', 600);
    strcpy(text + 611, " b");
    CHECK_INT(strlen(support_error(text)), strlen("1:12+600: '' does not begin a statement") + 60);
  }
}

int main(void) {
  CHECK_ROWS("what is not closed is named with its line", unclosed);
  CHECK_ROWS("a text cut by ]] says so", cut);
  CHECK_ROWS("habits of other languages get a hint", foreign);
  CHECK_ROWS("statements that are none", statements);
  CHECK_ROWS("a text kernel is one function", whole);
  CHECK_ROWS("malformed numbers, strings and bytes", literals);
  CHECK_ROWS("annotations are types", annotations);
  test_depth();
  test_diagnostic();
  TEST("the parser frees all memory") {
    support_reset();
    CHECK_INT(support_live_bytes(), 0);
  }
  return check_report();
}
