/* stand_in_test.c - which functions of a chunk get stand-ins, and what stand-ins keep of them. */
#include "check.h"
#include "front/stand_in.h"
#include "front_support.h"

static Heap heap;
static Scratch scratch;

/* The chunk with all its stand-ins; their hashes, lines and texts left out. */
static const char *replace(const char *chunk) {
  if (!scratch.heap) heap_init(&heap, 0);
  else scratch_deinit(&scratch);
  scratch_init(&scratch, &heap);
  Source *source = source_create(&scratch, str_of(chunk), "chunk", 1);
  StandIns found = stand_ins_find(source);
  StrBuf out;
  int from = 0;
  strbuf_init(&out, &scratch);
  for (int k = 0; k < found.count; k++) {
    const char *text = found.items[k].text.data, *error = strstr(text, "error(");
    const char *rest = strchr(strstr(text, "local _ = "), ',');
    strbuf_add(&out, chunk + from, found.items[k].begin - from);
    strbuf_add(&out, text, (int)(error - text));
    strbuf_text(&out, rest ? rest : strstr(text, " end"));
    from = found.items[k].end;
  }
  strbuf_text(&out, chunk + from);
  return strbuf_end(&out);
}

int main(void) {
  TEST("a kernel's stand-in has its parameters, its names and its lines") {
    CHECK_TEXT(replace("local k = rg.kernel(function(a: f32, b --[[: i32]], ...)\n"
                       "  x[i] += 1 -- end\r\n  s = [[\n\n]]\n"
                       "  if c then y.z = 'end' end\nend, { name = 1 })"),
               "local k = rg.kernel(function(a, b, ...) , a, f32, b, x, i, s, c, y end "
               "\n \n \n \n \n \n end, { name = 1 })");
  }
  TEST("functions that no kernel uses have none") {
    CHECK_TEXT(replace("local function f() n += 1 end k.kernal(function() end) g(function() end)"),
               "local function f() n += 1 end k.kernal(function() end) g(function() end)");
    CHECK_TEXT(replace("pcall(rg.kernel, function() end, function() end)"),
               "pcall(rg.kernel, function()  end end, function() end)");
  }
  TEST("functions that a kernel uses by name have one, and so have those that they use") {
    CHECK_TEXT(replace("local function f(v: vec(3, f32)): f32 return g(v) end\n"
                       "m.g = function(v) return v end function m.n:h() end "
                       "local function i() end\n"
                       "kernel(function() return f(1), self:h() end) rg.kernel(i)"),
               "local function f(v) , v, vec, f32, g end end\n"
               "m.g = function(v) , v end end function m.n:h()  end end "
               "local function i()  end end\n"
               "kernel(function() , f, self, h end end) rg.kernel(i)");
  }
  TEST("a function around a kernel has none") {
    CHECK_TEXT(replace("local function f() return rg.kernel(function() return f end) end"),
               "local function f() return rg.kernel(function() , f end end) end");
  }
  TEST("text before the parenthesis keeps only its lines") {
    CHECK_TEXT(replace("function a --[[\n]] . b\n(c) end kernel(a.b)"),
               "function a.b \n \n(c) , c end end kernel(a.b)");
    CHECK_TEXT(replace("kernel(function 1 () end)"), "kernel(function 1 () end)");
  }
  TEST("nothing is replaced if blocks do not match") {
    CHECK_TEXT(replace("kernel(function() if a then end"), "kernel(function() if a then end");
    CHECK_TEXT(replace("end kernel(function() end)"), "end kernel(function() end)");
    CHECK_TEXT(replace("kernel(function"), "kernel(function");
    CHECK_TEXT(replace(""), "");
  }
  TEST("the parser frees all memory") {
    scratch_deinit(&scratch);
    CHECK_INT(heap.live_bytes, 0);
  }
  return check_report();
}
