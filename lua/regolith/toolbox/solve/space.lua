--- The vectors of a solver: fields, arrays and members of their elements, dense or sparse, with the
--- same cells as the unknown. A space creates more of them, and generates the kernels that compute
--- with them. For a sparse unknown, kernels visit its active cells; all others are zero.
local ffi = require "ffi"
local fail = require "regolith.error"
local shadow = require "regolith.data.shadow"
local subject = require "regolith.data.subject"
local whole = require "regolith.data.whole"

local space = {}

local Space = {}
Space.__index = Space

--- The space of the vectors with the type and cells of x.
function space.of(x, caller)
  local s = subject.of(x, caller)
  local leaves = s.type.members and {} or subject.leaves(s.type)
  local scalar = leaves[1] and leaves[1].type.name
  if scalar ~= "f32" and scalar ~= "f64" then
    return fail.argument(("%s takes elements of f32 or f64, or vectors of these, but the \z
      elements of %s are %s"):format(caller, subject.text(s), tostring(s.type)))
  end
  local count = subject.count(s)
  return setmetatable({ x = x, s = s, leaves = leaves, scalar = scalar, caller = caller,
    session = subject.session(s), is_sparse = not s.is_array and s.handle:count() ~= count,
    made = {}, lines = {}, subjects = {} }, Space)
end

--- Raises unless v has the cells and the number of components of the unknown.
function Space:check(v, name)
  local other = subject.of(v, self.caller)
  subject.check_alike(self.s, other, self.caller)
  local leaves = other.type.members and {} or subject.leaves(other.type)
  if #leaves == #self.leaves and leaves[1].type.name:find "^f" then return v end
  return fail.argument(("%s: the elements of '%s' are %s, but those of the unknown are %s"):format(
    self.caller, name, tostring(other.type), tostring(self.s.type)))
end

-- A field of the unknown's type and cells, or an array.
local function make(self)
  local s, rg = self.s, self.session.module
  if s.is_array then return rg.array(s.type, unpack(s.extents)) end
  if s.rank == 0 then return rg.field(s.type, 1) end
  return (shadow.of(self.session, s.handle, s.type))
end

-- Vectors live as long as the handle that they were created for, since a simulation solves in every
-- step: handle -> { number = of the runtime, name -> vector }.
local kept = setmetatable({}, { __mode = "k" })

--- Returns the result of the first call of make_one(self) for this name and unknown.
function Space:keep(name, make_one)
  local number, key = self.session:get(), self.s.handle
  local own = kept[key]
  if not own or own.number ~= number then
    own = { number = number }
    kept[key] = own
  end
  name = tostring(self.s.type) .. " " .. name
  if not own[name] then own[name] = make_one(self) end
  return own[name], own, name
end

--- The vector of this name, the same in each call during one solve. Its values are undefined; for a
--- sparse unknown they are zero, since cells that are no longer active must read as zero.
function Space:vector(name)
  if self.made[name] then return self.made[name] end
  local v, own, key = self:keep(name, make)
  if self.is_sparse and v:count() > 2 * self.s.handle:count() then
    v = make(self)
    own[key] = v
  elseif self.is_sparse then
    v:fill(0)
  end
  self.made[name] = v
  return v
end

-- -- kernels --------------------------------------------------------------------------------------

-- Translates a line to a kernel's text: single capitals are elements of vectors, or locals, and
-- <A, B> is a scalar product of two of them.
local function translate(self, line, letters)
  local function of(letter, suffix)
    local v = letters[letter]
    return (v and subject.element(v.s, v.name, self.s) or letter) .. (suffix or "")
  end
  line = line:gsub("<(%a), (%a)>", function(a, b)
    local terms = {}
    for k, leaf in ipairs(self.leaves) do
      terms[k] = ("rg.f64(%s) * %s"):format(of(a, leaf.suffix), of(b, leaf.suffix))
    end
    return "(" .. table.concat(terms, " + ") .. ")"
  end)
  return (line:gsub("%f[%w](%u)%f[%W]", function(letter)
    return letters[letter] and of(letter)
  end))
end

local capitals = {}
for letter in ("ABCDEFGHPQRTUVWXYZ"):gmatch "." do capitals[#capitals + 1] = letter end

-- The declarations of the sums in a line, "local s = rg.f64(0)", and their " return s".
local function sums_in(line)
  local begin, result = {}, {}
  for _, sum in ipairs { "s", "t", "u" } do
    if line:find("%f[%w]" .. sum .. "%f[%W]") then
      begin[#begin + 1], result[#result + 1] = ("local %s = rg.f64(0)\n"):format(sum), sum
    end
  end
  return table.concat(begin), #result > 0 and " return " .. table.concat(result, ", ") or ""
end

-- STENCIL(P) as a call of the parameter `stencil`.
local function with_stencil(self, line, stencil)
  return (line:gsub("STENCIL%((%u)%)", function(letter)
    return ("stencil(v%s, %s%s)"):format(letter:lower(), subject.indices(self.s),
      stencil.coefficients and ", coefficients" or "")
  end))
end

-- The subject of a vector, cached for the next iterations.
local function subject_of(self, v)
  local s = self.subjects[v]
  if not s then
    s = v == self.x and self.s or subject.of(v, self.caller)
    s.form = s.suffix .. table.concat(s.starts, " ") -- what the text of a kernel depends on
    self.subjects[v] = s
  end
  return s
end

-- The kernel of a line, for vectors of these forms: first the unknown, then the vectors, the
-- stencil and its coefficients, then the numbers.
local function prepare(self, line, vectors, numbers, stencil, is_of_user)
  local known = { letters = {}, forms = {}, scalars = {}, values = { self.s.handle } }
  local names, named = { "x" }, {}
  for _, letter in ipairs(capitals) do
    if vectors[letter] then
      local s = subject_of(self, vectors[letter])
      named[letter] = { s = s, name = "v" .. letter:lower() }
      names[#names + 1] = named[letter].name
      known.letters[#known.letters + 1], known.forms[#known.forms + 1] = letter, s.form
    end
  end
  known.first = #names
  if stencil then names[#names + 1], names[#names + 2] = "stencil", "coefficients" end
  for name in pairs(numbers) do known.scalars[#known.scalars + 1] = name end
  table.sort(known.scalars)
  for _, name in ipairs(known.scalars) do
    names[#names + 1] = ("%s: %s"):format(name, self.scalar)
  end
  local begin, result = sums_in(line)
  local body = translate(self, stencil and with_stencil(self, line, stencil) or line, named)
  local text = ("function(%s)\n%s%s\n%s\nend%s end"):format(table.concat(names, ", "), begin,
    subject.loop(self.s, "x"), body, result)
  local is_seen = vectors.X == self.x or is_of_user
  known.kernel = subject.kernel(self.s, self.caller, text, nil, is_seen)
  return known
end

-- Puts vectors among the values; returns false if one of them has another form.
local function bind(self, known, vectors)
  for k, letter in ipairs(known.letters) do
    local s = subject_of(self, vectors[letter])
    if s.form ~= known.forms[k] then return false end
    known.values[k + 1] = s.handle
  end
  return true
end

local none = {}

--- Runs `line` for each cell of the unknown. `vectors` defines the capitals in it, and `numbers`
--- the names, such as { alpha = 1 }, of the type of the elements. The call returns the sums s, t
--- and u, which are in f64. STENCIL(P) applies `stencil` to vector P: { f =, coefficients = nil or
--- a table of fields }. rg.grad records a launch that writes the unknown, X, and any launch with
--- `is_of_user`.
function Space:run(line, vectors, numbers, stencil, is_of_user)
  numbers = numbers or none
  local known = self.lines[line]
  if not known or not bind(self, known, vectors) then
    known = prepare(self, line, vectors, numbers, stencil, is_of_user)
    self.lines[line] = known
    bind(self, known, vectors)
  end
  local values, last = known.values, known.first
  if stencil then
    values[last + 1], values[last + 2] = stencil.f, stencil.coefficients or 0
    last = last + 2
  end
  for k, name in ipairs(known.scalars) do values[last + k] = numbers[name] end
  return known.kernel(unpack(values, 1, last + #known.scalars))
end

--- The scalar product of two vectors.
function Space:dot(a, b) return self:run("s = s + <A, B>", { A = a, B = b }) end

--- to = from, cell by cell.
function Space:copy(to, from) self:run("A = B", { A = to, B = from }) end

--- Subtracts its mean from a vector of numbers.
function Space:centre(v)
  local sum, count = self:run("s = s + A t = t + 1", { A = v })
  self:run("A = A - mean", { A = v }, { mean = sum / count })
end

--- Whether kernels can take v itself, as they cannot take a view of members.
function space.is_plain(v) return not whole.is_view(v) and ffi.istype("RgFieldHandle", v)
  or ffi.istype("RgArrayHandle", v) end

return space
