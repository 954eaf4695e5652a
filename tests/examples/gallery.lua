-- gallery.lua [--write] - the tables of examples in README.md and examples/README.md, made from the
-- first lines of the examples: `-- name.lua - what it shows.`, their kind, which stands before
-- "Run it with:", and `-- No window: why.` where there is no rg.live. Prints what differs;
-- `--write` renews the tables, between their marks.
local root = arg[0]:match "^(.*)/tests/examples/" or "."
local kinds = { "Fluids", "Solids", "Growth and life", "Rendering", "Numerics", "Gradients",
  "Running" }
local first = "<!-- the gallery: tests/examples/gallery.lua --write -->\n"
local last = "<!-- its end -->\n"

local function read(path)
  local file = assert(io.open(root .. "/" .. path))
  local text = file:read "*a"
  file:close()
  return text
end

local of_kind = {}
for _, kind in ipairs(kinds) do of_kind[kind] = {} end
for path in io.popen("cd '" .. root .. "' && ls examples/*.lua"):lines() do
  local text, name = read(path), path:match "([%w_]+)%.lua$"
  local said, what = text:match "^%-%- ([%w_]+)%.lua %- ([^\n]+)%.\n"
  local kind = text:match "\n%-%- ([%a ]+)%. Run it with:  examples/run ([%w_]+)\n"
  local why = text:match "\n%-%- No window: ([^\n]+)%.\n"
  if (why ~= nil) == (text:find("rg.live", 1, true) ~= nil) then
    print(path .. ": needs either rg.live or a line `-- No window: why.`")
  end
  if said ~= name then print(path .. ": its first line is not `-- " .. name .. ".lua - .. .`") end
  if not of_kind[kind] then
    print(path .. ": no line `-- KIND. Run it with:  examples/run " .. name .. "`; kinds: "
      .. table.concat(kinds, ", "))
  else
    table.insert(of_kind[kind], { name = name, what = what, why = why })
  end
end

-- README.md: a row of pictures for each kind. examples/README.md: a row for each example.
local function strip()
  local lines = { "", "| | |", "| --- | --- |" }
  for _, kind in ipairs(kinds) do
    local pictures = {}
    for k, example in ipairs(of_kind[kind]) do
      pictures[k] = ("[![%s](examples/pictures/%s.png)](examples/%s.lua)"):format(example.name,
        example.name, example.name)
    end
    lines[#lines + 1] = ("| %s | %s |"):format(kind, table.concat(pictures, " "))
  end
  return table.concat(lines, "\n") .. "\n\n"
end

local function list()
  local lines = {}
  for _, kind in ipairs(kinds) do
    lines[#lines + 1] = ("\n**%s**\n\n| | | |\n| --- | --- | --- |"):format(kind)
    for _, example in ipairs(of_kind[kind]) do
      lines[#lines + 1] = ("| ![](pictures/%s.png) | [%s](%s.lua) | %s |"):format(example.name,
        example.name, example.name, example.what .. (example.why
        and " (no window: " .. example.why .. ")" or ""))
    end
  end
  return table.concat(lines, "\n") .. "\n\n"
end

for path, make in pairs { ["README.md"] = strip, ["examples/README.md"] = list } do
  local text, wanted = read(path), make()
  local _, from = text:find(first, 1, true)
  local to = text:find(last, 1, true)
  if not from or not to then
    print(path .. " has no place for the gallery: " .. first .. last)
  elseif text:sub(from + 1, to - 1) ~= wanted then
    if arg[1] == "--write" then
      local file = assert(io.open(root .. "/" .. path, "w"))
      file:write(text:sub(1, from), wanted, text:sub(to))
      file:close()
    else
      print(path .. ": the gallery differs; luajit tests/examples/gallery.lua --write")
    end
  end
end
