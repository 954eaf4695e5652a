/* error_test.c - every error: line, column, width of the caret, code, message and hint. */
#include "fixture.h"

static void test_names(World *w) {
  TEST("an unknown name is refused, with the nearest known one") {
    CHECK_TEXT(error_of(w, "function() x[0] = q end"), "1:19+1 name.unknown: 'q' is not defined");
    CHECK_TEXT(error_of(w, "function() local alpha = 1 x[0] = alpa end"),
               "1:35+4 name.unknown: 'alpa' is not defined (did you mean 'alpha'?)");
    CHECK_TEXT(error_of(w, "function() x[0] = math.sine(1) end"),
               "1:24+4 name.unknown: there is no 'math.sine' (did you mean 'math.sin'?)");
    CHECK_TEXT(error_of(w, "function() for i in rg.rangee(3) do end end"),
               "1:24+6 name.unknown: there is no 'rg.rangee' (did you mean 'rg.range'?)");
  }
  TEST("a capture that is nil is refused") {
    CHECK_TEXT(
        error_of(w, "function() x[0] = nothing end"),
        "1:19+7 name.nil: 'nothing' is nil (it must have a value when the kernel is launched)");
    CHECK_TEXT(error_of(w, "function(n) x[0] = n end"),
               "1:20+1 name.nil: the argument 'n' is nil (pass it at the launch)");
  }
  TEST("a field without a place is refused") {
    CHECK_TEXT(
        error_of(w, "function() loose[0] = 1 end"),
        "1:12+5 field.unplaced: the field 'loose' is not placed in a tree yet (place it first: "
        "rg.root:dense(\"i\", n):place(..), or give it a shape)");
  }
  TEST("an assignment to a capture is refused, with what to do instead") {
    CHECK_TEXT(error_of(w, "function() a = 1 end"),
               "1:12+1 name.assign: 'a' is captured, and kernels cannot assign what they capture "
               "(return the value, or keep it in a field of shape {}: x[0] = ..)");
    CHECK_TEXT(error_of(w, "function() self.dt = 1 end"),
               "1:17+2 name.assign: 'self.dt' is captured, and kernels cannot assign what they "
               "capture (return the value, or keep it in a field of shape {}: x[0] = ..)");
    CHECK_TEXT(error_of(w, "function() self.grid.n += 1 end"),
               "1:22+1 name.assign: 'self.grid.n' is captured, and kernels cannot assign what they "
               "capture (return the value, or keep it in a field of shape {}: x[0] = ..)");
    CHECK_TEXT(
        error_of(w, "function() list.x = 1 end"),
        "1:17+1 name.assign: 'list.x' is captured, and kernels cannot assign what they capture "
        "(return the value, or keep it in a field of shape {}: x[0] = ..)");
    CHECK_TEXT(error_of(w, "function() x.shape = 1 end"),
               "1:14+5 name.assign: 'x.shape' is captured, and kernels cannot assign what they "
               "capture (return the value, or keep it in a field of shape {}: x[0] = ..)");
    CHECK_TEXT(error_of(w, "function() local p = x p = y end"),
               "1:22+1 kernel.unsupported: 'p' refers to part of a field or to a name, so it "
               "cannot be assigned again (declare another local for the other one)");
  }
  TEST("names that are not values in a kernel are refused") {
    CHECK_TEXT(error_of(w, "function() x[0] = word end"),
               "1:19+4 kernel.unsupported: 'word' is a string, and strings do not exist in kernels "
               "(the values of a kernel are numbers and booleans)");
    CHECK_TEXT(error_of(w, "function() x[0] = \"text\" end"),
               "1:19+6 kernel.unsupported: strings exist in kernels only as "
               "arguments of print, assert and error (the values of a kernel "
               "are numbers and booleans)");
    CHECK_TEXT(error_of(w, "function() x[0] = \"a\" .. \"b\" end"),
               "1:23+2 kernel.unsupported: strings exist in kernels only as "
               "arguments of print, assert and error (the values of a kernel "
               "are numbers and booleans)");
    CHECK_TEXT(
        error_of(w, "function() x[0] = nil end"),
        "1:19+3 kernel.unsupported: nil does not exist in kernels (numbers and booleans always "
        "have a value)");
    CHECK_TEXT(
        error_of(w, "function() x[0] = helper end"),
        "1:19+6 kernel.unsupported: 'helper' is a function and cannot be used as a value in a "
        "kernel");
    CHECK_TEXT(
        error_of(w, "function() x[0] = list end"),
        "1:19+4 kernel.unsupported: 'list' is a table and cannot be used as a value in a kernel "
        "(name what is in it by its path, such as list.x)");
    CHECK_TEXT(error_of(w, "function() x[0] = thread end"),
               "1:19+6 kernel.unsupported: 'thread' is a thread and cannot be used as a value in "
               "a kernel");
    CHECK_TEXT(error_of(w, "function() x[0] = {1} end"),
               "1:19+1 kernel.unsupported: a number or a vector is needed here, but this is a "
               "table (use locals, one per value, or a vector: rg.vec2(a, b))");
    CHECK_TEXT(error_of(w, "function() x[0] = rg.i32 end"),
               "1:22+3 kernel.unsupported: 'rg.i32' is a type, not a number (call it to convert a "
               "number: rg.i32(x))");
    CHECK_TEXT(error_of(w, "function() x[0] = math.sin end"),
               "1:24+3 kernel.unsupported: 'math.sin' is a function, not a number");
    CHECK_TEXT(error_of(w, "function() x[0] = block end"),
               "1:19+5 type.mismatch: 'block' is an SNode, not a number (the elements are in its "
               "fields)");
    CHECK_TEXT(error_of(w, "function() x[0] = block:clear() end"),
               "1:25+5 call.invalid: 'clear' returns no value");
  }
  TEST("constructs that kernels do not support are refused by name") {
    CHECK_TEXT(error_of(w, "function() function f() end end"),
               "1:12+8 kernel.unsupported: a kernel cannot assign functions (write local function, "
               "or declare it before the kernel)");
    CHECK_TEXT(
        error_of(w, "function(...) x[0] = 1 end"),
        "1:1+8 kernel.unsupported: kernels take no variable arguments (name each parameter)");
    CHECK_TEXT(error_of(w, "function() goto done ::done:: end"),
               "1:12+4 kernel.unsupported: a kernel has no goto, except to a label that "
               "ends the innermost loop (use 'while', 'break' and 'continue')");
    CHECK_TEXT(
        error_of(w, "function() for k, v in pairs, list do end end"),
        "1:24+5 loop.invalid: in a kernel one expression follows 'in' (loops run over rg.range(n, "
        "m), x:active() or numbers: for k = 0, n - 1)");
  }
  TEST("a function whose source is not known here is refused, with what to do instead") {
    CHECK_TEXT(error_of(w, "function() x[0] = helper(1) end"),
               "1:19+6 source.missing: 'helper' is a Lua function whose source is not known here "
               "(write its "
               "statements here)");
    CHECK_TEXT(error_of(w, "function() list:step(1) end"),
               "1:17+4 source.missing: 'step' of the table 'list' is not known here (name "
               "captured values by their full path: self.grid.dt)");
    CHECK_TEXT(error_of(w, "local function h(v) return h(v) end function() x[0] = h(1) end"),
               "1:28+1 call.invalid: 'h' is recursive without type annotations: 32 nested calls "
               "were expanded (annotate its parameters and results: function h(n: i32): i32; or "
               "end the recursion by 'if rg.static(..)')");
    CHECK_TEXT(error_of(w, "function() x[0] = list[1] end"),
               "1:19+4 source.missing: the contents of the table 'list' are not known here (put "
               "the numbers into a field)");
    CHECK_TEXT(error_of(w, "function() x[0] = rg.static(a) end"),
               "1:29+1 static.unknown: 'a' is not known when the kernel is compiled");
    CHECK_TEXT(error_of(w, "function() for k, v in ipairs(list) do end end"),
               "1:31+4 source.missing: the contents of the table 'list' are not known here (put "
               "the numbers into a field)");
  }
  TEST("printed values must be printable, and match their format") {
    CHECK_TEXT(
        error_of(w, "function() print(('%d'):format(on)) end"),
        "1:32+2 type.mismatch: '%d' formats a number, but this is a bool (%s formats any value)");
    CHECK_TEXT(error_of(w, "function() print(('%d %g'):format(1)) end"),
               "1:28+6 call.count: this format takes 2 values, but here is 1");
    CHECK_TEXT(error_of(w, "function() print('a' .. on) end"),
               "1:25+2 type.mismatch: '..' joins strings and numbers, but this is a bool (write "
               "tostring(..), as in Lua)");
    CHECK_TEXT(error_of(w, "function() local a = print(1) end"),
               "1:22+5 call.invalid: 'print' returns no value");
    CHECK_TEXT(error_of(w, "function() assert() end"),
               "1:12+6 call.count: 'assert' takes 1 to 250 arguments, 0 given");
  }
  TEST("lists are those of dynamic nodes") {
    CHECK_TEXT(error_of(w, "function() x:append(1, 2) end"),
               "1:14+6 call.invalid: 'append' is a method of lists, but 'x' is under a dense node "
               "(declare a "
               ""
               "list: block:dynamic(\"k\", 1024):place(x))");
  }
  TEST("functions of Lua that kernels do not have cannot be called") {
    CHECK_TEXT(error_of(w, "function() pcall(on) end"),
               "1:12+5 kernel.unsupported: 'pcall' cannot be called in a kernel (errors end the "
               "launch: there is nothing to catch; pcall the kernel itself)");
    CHECK_TEXT(error_of(w, "function() x[0] = string.byte(\"a\") end"),
               "1:26+4 kernel.unsupported: 'string.byte' cannot be called in a kernel (strings "
               "exist only in print, assert and error: print(\"n\", n))");
    CHECK_TEXT(error_of(w, "function() x:set(0, 1) end"),
               "1:14+3 call.invalid: 'set' is for Lua, outside kernels (in a kernel, read and "
               "write x[i][j])");
    CHECK_TEXT(error_of(w, "function() x:to_table() end"),
               "1:14+8 call.invalid: 'to_table' is for Lua, outside kernels (call it outside the "
               "kernel)");
  }
  TEST("an unknown type is refused") {
    CHECK_TEXT(error_of(w, "function() local n: i33 = 1.5 end"),
               "1:21+3 type.unknown: 'i33' is not a type (did you mean 'i32'?)");
    CHECK_TEXT(error_of(w, "function() local n: integer = 1 end"),
               "1:21+7 type.unknown: 'integer' is not a type (did you mean 'i32'?)");
  }
}

static void test_indices(World *w) {
  TEST("fields are not compared as a whole") {
    CHECK_TEXT(error_of(w, "function() if x ~= n32 then x[0] = 1 end end"),
               "1:17+2 type.mismatch: 'x' and 'n32' are fields, which kernels do not compare as a "
               "whole (compare elements: x[i] ~= n32[i]; whether they are one field is "
               "rg.static(x ~= n32))");
    CHECK_TEXT(error_of(w, "function() x[0] = total end"),
               "1:19+5 index.count: 'total' has no axes and one element (write total[0])");
  }
  TEST("the number of indices must be that of the axes") {
    CHECK_TEXT(error_of(w, "function() x[0][1] = 1 end"),
               "1:12+7 index.count: 'x' has 1 axis, more indices given");
    CHECK_TEXT(error_of(w, "function() t[0] = 1 end"),
               "1:12+4 index.count: 't' has 2 axes: an element needs 2 indices, 1 given (an "
               "element is t[i][j])");
    CHECK_TEXT(error_of(w, "function() x[0] = t end"),
               "1:19+1 index.count: 't' has 2 axes: an element needs 2 indices, 0 given (an "
               "element is t[i][j])");
    CHECK_TEXT(error_of(w, "function() t[{1, 2, 3}] = 1 end"),
               "1:12+12 index.count: 't' has 2 axes, 3 indices given");
    CHECK_TEXT(error_of(w, "function() total[1] = 1 end"),
               "1:12+8 index.count: 'total' has no axes and one element (write total[0])");
    CHECK_TEXT(error_of(w, "function() x:add(1) end"),
               "1:14+3 index.count: 'x' has 1 axis here, and 'add' was given 0 indices (write "
               "x:add(i, v))");
    CHECK_TEXT(error_of(w, "function() x:add(1, 2, 3) end"),
               "1:14+3 index.count: 'x' has 1 axis here, and 'add' was given 2 indices (write "
               "x:add(i, v))");
    CHECK_TEXT(
        error_of(w, "function() block:activate(1) end"),
        "1:18+8 index.count: 'block' has 2 axes here, and 'activate' was given 1 index (write "
        "block:activate(i, j))");
    CHECK_TEXT(error_of(w, "function() x[0] = x.shape[1] end"),
               "1:21+8 index.range: 'x' has 1 axis (indices start at 0)");
  }
  TEST("an index must be an integer") {
    CHECK_TEXT(error_of(w, "function() x[1.5] = 1 end"),
               "1:14+3 type.mismatch: an index must be an integer, but this is a float "
               "(math.floor(..) or rg.i32(..) makes an integer)");
    CHECK_TEXT(
        error_of(w, "function() x[y[0]] = 1 end"),
        "1:14+4 type.mismatch: an index must be an integer, but this is an f64 (math.floor(..) "
        "or rg.i32(..) makes an integer)");
    CHECK_TEXT(
        error_of(w, "function() x[flag[0]] = 1 end"),
        "1:14+7 type.mismatch: an index must be an integer, but this is a bool (math.floor(..) "
        "or rg.i32(..) makes an integer)");
  }
  TEST("methods belong to fields and nodes that have them") {
    CHECK_TEXT(error_of(w, "function() x[0]:add(1) end"),
               "1:17+3 call.invalid: 'x[0]' is an element: its methods are the field's (write "
               "x:add(i, .., v))");
    CHECK_TEXT(error_of(w, "function() x:ad(1, 2) end"),
               "1:14+2 call.invalid: 'x' has no method 'ad' (did you mean 'add'?)");
    CHECK_TEXT(error_of(w, "function() block:add(1, 2) end"),
               "1:18+3 call.invalid: 'block' is an SNode and has no elements (call it on a field)");
    CHECK_TEXT(error_of(w, "function() x:band(1, 2) end"),
               "1:14+4 type.mismatch: 'x' has no 'band': its elements are f32");
    CHECK_TEXT(error_of(w, "function() dt:add(1) end"),
               "1:15+3 call.invalid: 'dt' is not a field or SNode and has no method 'add'");
    CHECK_TEXT(error_of(w, "function() x[0] = x.sahpe end"),
               "1:21+5 name.unknown: 'x' has no 'sahpe' (did you mean 'shape'?)");
    CHECK_TEXT(error_of(w, "function() x[0] = dt.x end"),
               "1:22+1 type.mismatch: a number has no component 'x'");
    CHECK_TEXT(error_of(w, "function() x[0] = #dt end"),
               "1:19+1 type.mismatch: '#' takes a field, an array, an SNode with axes, a vector, a "
               "matrix or a table");
  }
  TEST("calls that affect all cells are refused in parallel loops") {
    CHECK_TEXT(
        error_of(w, "function() for i in rg.range(3) do x[i] = block:count() end end"),
        "1:49+5 call.invalid: 'count' cannot be called inside a parallel loop (call it before "
        "or after the loop)");
    CHECK_TEXT(
        error_of(w, "function() for i in rg.range(3) do block:clear() end end"),
        "1:42+5 call.invalid: 'clear' cannot be called inside a parallel loop (call it before "
        "or after the loop)");
  }
  TEST("calls take the number of arguments they take") {
    CHECK_TEXT(error_of(w, "function() x[0] = math.sin() end"),
               "1:24+3 call.count: 'math.sin' takes 1 argument, 0 given");
    CHECK_TEXT(error_of(w, "function() x[0] = math.atan2(1) end"),
               "1:24+5 call.count: 'math.atan2' takes 2 arguments, 1 given");
    CHECK_TEXT(error_of(w, "function() x[0] = rg.i32(1, 2) end"),
               "1:22+3 call.count: 'rg.i32' takes 1 argument, 2 given");
    CHECK_TEXT(error_of(w, "function() x[0] = rg.vec2(1, 2):norm(3) end"),
               "1:33+4 call.count: ':norm' takes 0 arguments, 1 given");
    CHECK_TEXT(error_of(w, "function() x[0], y[0] = 1 end"),
               "1:18+4 call.count: there is no value for 'y[0]'");
  }
}

static void test_types(World *w) {
  TEST("a condition must be a boolean") {
    CHECK_TEXT(
        error_of(w, "function() if n32[0] then end end"),
        "1:15+6 type.condition: a condition is true or false, but this is an i32 (compare it: "
        "n32[0] ~= 0)");
    CHECK_TEXT(
        error_of(w, "function() while x[0] do end end"),
        "1:18+4 type.condition: a condition is true or false, but this is an f32 (compare it: "
        "x[0] ~= 0)");
    CHECK_TEXT(
        error_of(w, "function() repeat until dt end"),
        "1:25+2 type.condition: a condition is true or false, but this is a float (compare it: "
        "dt ~= 0)");
    CHECK_TEXT(
        error_of(w, "function() local c = not n32[0] end"),
        "1:26+6 type.condition: a condition is true or false, but this is an i32 (compare it: "
        "n32[0] ~= 0)");
    CHECK_TEXT(
        error_of(w, "function() x[0] = x[0] or 1 end"),
        "1:19+4 type.condition: a condition is true or false, but this is an f32 (compare it: "
        "x[0] ~= 0)");
    CHECK_TEXT(
        error_of(w, "function() x[0] = n32[0] and 1 or 2 end"),
        "1:19+6 type.condition: a condition is true or false, but this is an i32 (compare it: "
        "n32[0] ~= 0)");
    CHECK_TEXT(
        error_of(w, "function() x[0] = dt ? 1 : 2 end"),
        "1:19+2 type.condition: a condition is true or false, but this is a float (compare it: "
        "dt ~= 0)");
  }
  TEST("a choice must have both sides, of one kind") {
    CHECK_TEXT(error_of(w, "function() x[0] = flag[0] and 1 end"),
               "1:27+3 type.mismatch: this is an integer where the condition holds, and false "
               "elsewhere (add the other case: c and a or b)");
    CHECK_TEXT(error_of(w, "function() x[0] = flag[0] and 1 or true end"),
               "1:36+4 type.mismatch: one side of this choice is an f32, the other a bool");
  }
  TEST("a float is not converted to an integer implicitly") {
    CHECK_TEXT(error_of(w, "function() n32[0] = x[0] end"),
               "1:21+4 type.float_to_int: an element of 'n32' is an i32, and this value is an f32 "
               "(round it with math.floor(..), or truncate it with rg.i32(..))");
    CHECK_TEXT(error_of(w, "function() n32[0] += 0.5 end"),
               "1:22+3 type.float_to_int: 'n32[0]' is an i32, and '+' with this gives a float "
               "(round it with math.floor(..), or truncate it with rg.i32(..))");
    CHECK_TEXT(error_of(w, "function() for i in rg.range(4) do n32[i] = n32[i] / 2 end end"),
               "1:54+1 type.float_to_int: 'n32[i]' is an i32, and '/' with this gives a float "
               "(round it with math.floor(..), or truncate it with rg.i32(..))");
    CHECK_TEXT(error_of(w, "function() local n: i32 = 1.5 end"),
               "1:27+3 type.float_to_int: 'n' is an i32, and this value is a float (round it with "
               "math.floor(..), or truncate it with rg.i32(..))");
    CHECK_TEXT(error_of(w, "function() n32:add(0, 0.5) end"),
               "1:23+3 type.float_to_int: an element of 'n32' is an i32, and this value is a float "
               "(round it with math.floor(..), or truncate it with rg.i32(..))");
    CHECK_TEXT(error_of(w, "function(): i32 return 1.5 end"),
               "1:24+3 type.float_to_int: the kernel's result is an i32, and this value is a float "
               "(round it with math.floor(..), or truncate it with rg.i32(..))");
  }
  TEST("a literal must fit") {
    CHECK_TEXT(error_of(w, "function() n8[0] = 300 end"),
               "1:20+3 value.fit: 300 does not fit a u8 (rg.u8(..) truncates it)");
    CHECK_TEXT(error_of(w, "function() n32[0] = -5000000000LL end"),
               "1:21+1 value.fit: -5000000000LL does not fit an i32 (rg.i32(..) truncates it)");
    CHECK_TEXT(error_of(w, "function() s8[0] = 100 + 100 end"),
               "1:24+1 value.fit: 100 + 100 does not fit an i8 (rg.i8(..) truncates it)");
    CHECK_TEXT(error_of(w, "function() s8[0] = 200 end"),
               "1:20+3 value.fit: 200 does not fit an i8 (rg.i8(..) truncates it)");
    CHECK_TEXT(error_of(w, "function() local b: u16 = -1 end"),
               "1:27+1 value.fit: -1 does not fit a u16 (rg.u16(..) truncates it)");
    CHECK_TEXT(error_of(w, "function() local b: f16 = 1e6 end"),
               "1:27+3 value.fit: 1e6 does not fit an f16 (math.huge is infinity)");
    CHECK_TEXT(error_of(w, "function() s8[0] = -129 end"),
               "1:20+1 value.fit: -129 does not fit an i8 (rg.i8(..) truncates it)");
  }
  TEST("booleans and numbers do not mix") {
    CHECK_TEXT(
        error_of(w, "function() x[0] = flag[0] end"),
        "1:19+7 type.mismatch: an element of 'x' is an f32, and this value is a bool (choose "
        "numbers by it: c and 1 or 0)");
    CHECK_TEXT(error_of(w, "function() flag[0] = 1 end"),
               "1:22+1 type.mismatch: an element of 'flag' is a bool, and this value is an integer "
               "(compare: .. ~= 0)");
    CHECK_TEXT(
        error_of(w, "function() x[0] = flag[0] + 1 end"),
        "1:19+7 type.mismatch: '+' takes numbers, but this is a bool (choose numbers by it: c "
        "and 1 or 0)");
    CHECK_TEXT(
        error_of(w, "function() flag[0] = x[0] < flag[0] end"),
        "1:29+7 type.mismatch: '<' takes numbers, but this is a bool (choose numbers by it: c "
        "and 1 or 0)");
    CHECK_TEXT(error_of(w, "function() flag[0] = flag[0] == 1 end"),
               "1:30+2 type.mismatch: a bool is compared with an integer");
    CHECK_TEXT(
        error_of(w, "function() local s = 0 s = true end"),
        "1:28+4 type.mismatch: 's' is an i32, and this gives it a bool (declare another local "
        "for it)");
    CHECK_TEXT(error_of(w, "function() if on then return 1 end return true end"),
               "1:43+4 type.mismatch: the kernel returns an i32 elsewhere, and here a bool");
    CHECK_TEXT(error_of(w, "function() for i in rg.range(4) do flag[i] += 1 end end"),
               "1:36+7 type.mismatch: '+' takes numbers, and 'flag[i]' is a bool");
  }
  TEST("bit operators take integers") {
    CHECK_TEXT(error_of(w, "function() x[0] = x[0] & 1 end"),
               "1:19+4 type.mismatch: '&' takes integers, but this is an f32 (math.floor(..) or "
               "rg.i32(..) makes an integer)");
    CHECK_TEXT(
        error_of(w, "function() x[0] = bit.band(x[0], 1) end"),
        "1:28+4 type.mismatch: 'bit.band' takes integers, but this is an f32 (math.floor(..) or "
        "rg.i32(..) makes an integer)");
    CHECK_TEXT(error_of(w, "function() for i in rg.range(4) do x[i] |= 1 end end"),
               "1:36+4 type.mismatch: '|' takes integers, and 'x[i]' is an f32");
  }
  TEST("an update keeps its meaning when it is split") {
    CHECK_TEXT(error_of(w, "function() for i in rg.range(4) do n8[i] //= n32[i] end end"),
               "1:46+6 type.mismatch: '//' works on a u8 here, but this is an i32 (convert it: "
               "rg.u8(..))");
  }
  TEST("a local needs a value") {
    CHECK_TEXT(
        error_of(w, "function() local v x[0] = v end"),
        "1:27+1 type.mismatch: 'v' is never assigned a value (assign one in its declaration)");
  }
  TEST("a launch must provide the declared types") {
    give_numbers(w, 1);
    CHECK_TEXT(
        error_of(w, "function(n: bool) x[0] = n and 1 or 0 end"),
        "1:10+1 launch.arguments: 'n' is declared bool, but the launch argument is a number");
    give_numbers(w, 0);
  }
}

static void test_loops(World *w) {
  TEST("a parallel loop is left neither by break nor by return") {
    CHECK_TEXT(
        error_of(w, "function() for i in rg.range(4) do break end end"),
        "1:36+5 loop.invalid: a parallel loop cannot be left by 'break' ('continue' ends one "
        "iteration; ':serial()' after the range makes a loop that can be left)");
    CHECK_TEXT(
        error_of(w, "function() for i in rg.range(4) do if x[i] > 1 then return end end end"),
        "1:53+6 return.invalid: a parallel loop cannot be left by 'return' ('continue' ends "
        "one iteration)");
  }
  TEST("a loop runs over ranges and active cells") {
    CHECK_TEXT(error_of(w, "function() for k in x do end end"),
               "1:21+1 loop.invalid: 'x' itself cannot be looped over (write x:active())");
    CHECK_TEXT(error_of(w, "function() for i in t:activ() do end end"),
               "1:23+5 call.invalid: 't' has no method 'activ' (did you mean 'active'?)");
    CHECK_TEXT(
        error_of(w, "function() for i in t[0]:active() do end end"),
        "1:26+6 loop.invalid: 'active' runs over a whole field or SNode (loop over all active "
        "cells)");
    CHECK_TEXT(error_of(w, "function() local v = rg.range(3) end"),
               "1:25+5 loop.invalid: a range can only be used in the head of a loop (write for i "
               "in .. do)");
    CHECK_TEXT(error_of(w, "function() local v = x:active() end"),
               "1:24+6 loop.invalid: a range can only be used in the head of a loop (write for i "
               "in .. do)");
  }
  TEST("'and' and 'or' take booleans") {
    CHECK_TEXT(error_of(w, "function() local s = 0 for i in rg.range(4) do s = s or 1 end end"),
               "1:48+1 type.mismatch: 'or' combines bools, and 's' is an i32");
    CHECK_TEXT(
        error_of(w, "function() local s = true for i in rg.range(4) do s = s and i end end"),
        "1:61+1 type.mismatch: 's' is a bool, and this gives it an i32 (declare another local "
        "for it)");
  }
  TEST("the head of a parallel loop must be well formed") {
    CHECK_TEXT(error_of(w, "function() for i, j, k in rg.range(4, 4) do end end"),
               "1:22+1 loop.invalid: there are 2 axes to loop over, but no value for 'k'");
    CHECK_TEXT(error_of(w, "function() for i in rg.range(1, 10) do end end"),
               "1:24+5 loop.invalid: 'rg.range(1, 10)' has 2 axes, and this loop names 1 (over two "
               "axes: for i, j in rg.range(1, 10); from a begin to an end: rg.range({1, 10}))");
    CHECK_TEXT(error_of(w, "function() for j in rg.range(1, {2, 3}, 4):serial() do end end"),
               "1:24+5 loop.invalid: 'rg.range(1, {2, 3}, 4)' has 3 axes, and this loop names 1 "
               "(write for j, i, k in rg.range(1, {2, 3}, 4), or with all indices as one vector: "
               "rg.range(1, {2, 3}, 4):vec())");
    CHECK_TEXT(
        error_of(w, "function() for i in t:active() do end end"),
        "1:23+6 loop.invalid: 't:active()' has 2 axes, and this loop names 1 (write for i, j "
        "in t:active(), or with all indices as one vector: t:active():vec())");
    CHECK_TEXT(error_of(w, "function() for i in rg.static(rg.range(1, 2)) do end end"),
               "1:34+5 loop.invalid: 'rg.range(1, 2)' has 2 axes, and this loop names 1 (over two "
               "axes: for i, j in rg.range(1, 2); from a begin to an end: rg.range({1, 2}))");
    CHECK_TEXT(error_of(w, "function() for i in rg.range() do end end"),
               "1:24+5 call.count: 'rg.range' takes 1 to 8 axes, 0 given");
    CHECK_TEXT(
        error_of(w, "function() for i in rg.range({1, 2, 3}) do end end"),
        "1:30+1 loop.invalid: an axis of a range must be a number, or a begin and an end (a step "
        "is computed: local i = begin + step * k)");
    CHECK_TEXT(error_of(w, "function() for i in rg.range(2.5) do end end"),
               "1:30+3 value.fit: a bound of a range must be an integer, but this is 2.5");
    CHECK_TEXT(error_of(w, "function() for i in rg.range(3):block(a) do end end"),
               "1:33+5 loop.invalid: 'block' takes a positive integer (write a literal number: "
               ":block(128))");
    CHECK_TEXT(error_of(w, "function() for i in rg.range(3):serial(1) do end end"),
               "1:33+6 call.count: 'serial' takes no arguments");
    CHECK_TEXT(error_of(w, "function() for i = 1, 2, 0 do end end"),
               "1:26+1 loop.invalid: the step of this loop is 0");
  }
  TEST("a local of the kernel can only be reduced into by a parallel loop") {
    CHECK_TEXT(
        error_of(w, "function() local s = 0 for i in rg.range(4) do s = i end end"),
        "1:48+1 reduction.invalid: 's' belongs to the whole kernel: a parallel loop can only "
        "reduce into it (write s = s + .., or math.max(s, ..), or declare a local inside the "
        "loop)");
    CHECK_TEXT(
        error_of(w, "function() local s = 0 for i in rg.range(4) do s = s + s end end"),
        "1:48+1 reduction.invalid: 's' belongs to the whole kernel: a parallel loop can only "
        "reduce into it (write s = s + .., or math.max(s, ..), or declare a local inside the "
        "loop)");
    CHECK_TEXT(
        error_of(w, "function() local s, r = 0, 0 for i in rg.range(4) do s, r = s + 1, r + 1 end "
                    "end"),
        "1:54+1 reduction.invalid: 's' belongs to the whole kernel: a parallel loop can only "
        "reduce into it (write s = s + .., or math.max(s, ..), or declare a local inside the "
        "loop)");
    CHECK_TEXT(
        error_of(w, "function() local s, r = 0, 0 for i in rg.range(4) do x[i], r = s + 1, r + 1 "
                    "end end"),
        "1:60+1 reduction.invalid: 'r' belongs to the whole kernel: a parallel loop can only "
        "reduce into it (give it its own statement)");
  }
  TEST("a local that a parallel loop reduces into has no value inside it") {
    CHECK_TEXT(
        error_of(w, "function() local s = 0 for i in rg.range(4) do x[i] = s s += i end end"),
        "1:55+1 reduction.invalid: 's' is reduced by this parallel loop and has no value inside it "
        "(read it after the loop, or keep the iteration's own value in another local)");
    CHECK_TEXT(
        error_of(w, "function() local s = 0 for i in rg.range(4) do s += s end end"),
        "1:53+1 reduction.invalid: 's' is reduced by this parallel loop and has no value inside it "
        "(read it after the loop, or keep the iteration's own value in another local)");
  }
  TEST("a reduction has one operator, which has no order") {
    CHECK_TEXT(
        error_of(w, "function() local s = 0 for i in rg.range(4) do s /= 2 end end"),
        "1:48+1 reduction.invalid: iterations have no order, so 's' cannot be reduced with '/' "
        "(reductions are + - * math.min math.max & | ~ and or)");
    CHECK_TEXT(
        error_of(w, "function() local s = 0 for i in rg.range(4) do s += 2 s = math.max(s, i) end "
                    "end"),
        "1:55+1 reduction.invalid: 's' is reduced with two operators in one loop (use two "
        "locals)");
  }
  TEST("a kernel returns as many values everywhere") {
    CHECK_TEXT(error_of(w, "function() if on then return 1 end return end"),
               "1:36+6 return.invalid: this 'return' has no value, and the one on line 1 has one "
               "value (return the same number of values everywhere, or none)");
    CHECK_TEXT(error_of(w, "function(): i32, bool return 1 end"),
               "1:23+6 return.invalid: this 'return' has one value, and the kernel is declared to "
               "return 2 values");
  }
}

int main(void) {
  World w;
  world_init(&w);
  test_names(&w);
  test_indices(&w);
  test_types(&w);
  test_loops(&w);
  world_deinit(&w);
  return check_report();
}
