--- Functions with an adjoint of their own (rg.adjoint(f, g)), called in kernels. A kernel compiles
--- f; its derivatives compile a text that has the value of f and the derivative that g computes:
---
---     function(a, b)
---       local r = f(rg.stop(a), rg.stop(b))
---       local p, q = g(rg.stop(a), rg.stop(b), 1)   -- for each result of f, with 0 for all others
---       return rg.stop(r) + rg.dot(a - rg.stop(a), p) + rg.dot(b - rg.stop(b), q)
---     end
---
--- The differences are zero. For second derivatives g is differentiated, too. Half of p is stopped
--- there, so that its derivative counts once, and not once for each order of the two derivatives.
local fail = require "regolith.error"

local debug = debug

local custom = {}

local functions = setmetatable({}, { __mode = "k" }) -- rg.adjoint's function -> { f =, g = }

--- Registers the functions of `made`, a result of rg.adjoint(f, g).
function custom.set(made, f, g)
  functions[made] = { f = f, g = g }
  return made
end

local function names(letter, count)
  local list = {}
  for k = 1, count do list[k] = letter .. k end
  return list
end

local function joined(list, format)
  local parts = {}
  for k, name in ipairs(list) do parts[k] = format:gsub("NAME", name) end
  return table.concat(parts, ", ")
end

local function check(f, g)
  local of_f, of_g = debug.getinfo(f, "u"), debug.getinfo(g, "u")
  if not of_f.isvararg and not of_g.isvararg and of_f.nparams > 0
    and of_g.nparams > of_f.nparams then
    return of_f.nparams, of_g.nparams - of_f.nparams
  end
  return fail.raise { code = "kernel.unsupported",
    message = "kernels call this function, so its adjoint takes its arguments, then the \z
      derivatives of its results, which are numbers; it returns the derivative of each argument",
    hint = "rg.adjoint(function(a, b) return a * b end, \z
      function(a, b, d) return b * d, a * d end)" }
end

local function text_of(parameters, results, is_second)
  local a, r = names("a", parameters), names("r", results)
  local given = joined(a, is_second and "NAME" or "rg.stop(NAME)")
  local lines = { "local f, g, rg = ...", ("return function(%s)"):format(table.concat(a, ", ")),
    ("local %s = f(%s)"):format(table.concat(r, ", "), joined(a, "rg.stop(NAME)")) }
  local sums = {}
  for k = 1, results do
    local p, seeds, terms = names("p" .. k .. "_", parameters), {}, {}
    for other = 1, results do seeds[other] = other == k and "1.0" or "0.0" end
    lines[#lines + 1] = ("local %s = g(%s, %s)"):format(table.concat(p, ", "), given,
      table.concat(seeds, ", "))
    for n, name in ipairs(p) do
      local slope = is_second and ("(%s + rg.stop(%s)) * 0.5"):format(name, name) or name
      terms[n] = ("rg.dot(%s - rg.stop(%s), %s)"):format(a[n], a[n], slope)
    end
    sums[k] = ("rg.stop(%s) + %s"):format(r[k], table.concat(terms, " + "))
  end
  lines[#lines + 1] = "return " .. table.concat(sums, ", ")
  lines[#lines + 1] = "end"
  return table.concat(lines, "\n")
end

--- What a kernel compiles for such a function: f, or, if its code is a derivative (of this number,
--- see RgKernelOptions), the text above; nil for anything else.
function custom.of(made, derivative)
  local pair = functions[made]
  if not pair then return end
  if not derivative then return pair.f end
  local is_second = derivative == 3
  local kept = is_second and "second" or "first"
  if not pair[kept] then
    local parameters, results = check(pair.f, pair.g)
    pair[kept] = loadstring(text_of(parameters, results, is_second))(pair.f, pair.g,
      require "regolith")
  end
  return pair[kept]
end

return custom
