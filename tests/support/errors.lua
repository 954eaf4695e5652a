-- errors.lua - checks lua/errors.md against core/base/error.def and error_examples.lua: every code
-- has a row, every row's script raises that code, some source file raises every code, and the page
-- shows the output. Prints the differences, if any; `--write` updates the page.
local made = dofile((arg[0]:match "^(.*/)[^/]*$" or "") .. "made.lua")
local root = made.root
local examples = dofile(root .. "tests/support/error_examples.lua")
local rg = require "regolith"

-- -- error.def: { code =, name =, meaning = } and headings, in order ------------------------------

local function parse_codes()
  local rows, by_code = {}, {}
  for line in made.read("core/base/error.def"):gmatch "[^\n]+" do
    local name, code, meaning = line:match '^ERROR%(([%w_]+), "([^"]+)", "([^"]+)"%)'
    local heading = line:match "^/%* ([%l: ]+) %*/$"
    if heading then rows[#rows + 1] = { heading = heading } end
    if name and name ~= "NONE" then
      rows[#rows + 1] = { name = name, code = code, meaning = meaning }
      by_code[code] = rows[#rows]
    end
  end
  return rows, by_code
end

local wrong = {}
local function complain(format, ...) wrong[#wrong + 1] = format:format(...) end

-- -- examples -------------------------------------------------------------------------------------

local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir " .. folder)
local path = folder .. "/example.lua"

local function run(text)
  rg.reset()
  made.write(path, text .. "\n")
  local globals = setmetatable({ rg = rg }, { __index = _G })
  local script = setfenv(assert(loadfile(path)), globals)
  -- a script that begins with rg.init needs the runtime for itself
  if not text:find("rg.init", 1, true) then
    globals.x, globals.y = rg.field(rg.i32, 8), rg.field(rg.f32, 8)
  end
  local ok, failed = pcall(script)
  for file in text:gmatch 'io%.open%("([%w_.]+)", "w"%)' do os.remove(file) end
  if ok then return "nothing", "no error" end
  local shown = tostring(failed):gsub(folder:gsub("%p", "%%%0") .. "/", "")
  return type(failed) == "table" and failed.code or "a Lua error", shown
end

local function page_of(rows, by_code)
  local out, said = {}, {}
  local function add(format, ...) out[#out + 1] = format:format(...) end
  for _, example in ipairs(examples) do
    if not by_code[example[1]] then
      complain("error_examples.lua has '%s', which error.def does not have", example[1])
    end
    if said[example[1]] then complain("error_examples.lua has '%s' twice", example[1]) end
    said[example[1]] = example
  end
  add "# Every error\n"
  add "Made by `luajit tests/support/errors.lua --write`; the tests run each script. In all of \z
    them `rg`"
  add "is the module, `x` an i32 field of 8 elements and `y` an f32 field of 8. The title is \z
    `err.code`,"
  add "the output is `tostring(err)`.\n"
  for _, row in ipairs(rows) do
    local example = said[row.code]
    if row.heading then
      add("## %s\n", (row.heading:gsub("^%l", string.upper)))
    elseif not example then
      complain("no row of error_examples.lua shows '%s'", row.code)
    else
      add("### `%s`\n", row.code)
      add("%s.%s\n", row.meaning:gsub("^%l", string.upper), example.said and " " .. example.said
        or "")
      for k = 2, #example do
        local code, shown = run(example[k])
        if code ~= row.code then
          complain("the script of '%s' raises '%s': %s", row.code, code, shown)
        end
        add("```lua\n%s\n```\n```\n%s\n```\n", example[k], shown)
      end
    end
  end
  return (table.concat(out, "\n"):gsub("\n\n\n+", "\n\n"):gsub("\n+$", "")) .. "\n"
end

-- -- sources --------------------------------------------------------------------------------------

-- Codes are raised as RG_ERROR_NAME in C and as "the.code" in Lua.
local function check_raised(rows)
  local files = io.popen(("cd %s && git ls-files 'core/*.c' 'cuda/*.c' 'lua/regolith/*.lua' \z
    2>/dev/null"):format(
    root == "" and "." or root))
  local texts = {}
  for file in files:lines() do
    if not file:find("^core/base/error") then texts[#texts + 1] = made.read(file) end
  end
  files:close()
  if #texts == 0 then return end -- not a checkout, so there is nothing to search
  local all = table.concat(texts, "\n")
  for _, row in ipairs(rows) do
    local is_raised = row.heading or all:find("RG_ERROR_" .. row.name .. "%f[^%w_]")
      or all:find('"' .. row.code .. '"', 1, true)
    if not is_raised then complain("nothing raises '%s'", row.code) end
  end
end

local rows, by_code = parse_codes()
local page = page_of(rows, by_code)
check_raised(rows)
os.remove(path)
os.remove(folder)

if not made.holds("lua/errors.md", page) then
  complain "lua/errors.md is outdated; renew it: luajit tests/support/errors.lua --write"
end
for _, sentence in ipairs(wrong) do print(sentence) end
os.exit(#wrong == 0 and 0 or 1)
