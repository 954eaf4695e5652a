-- decisions.lua [--write] - core/decisions.md, the index of all decisions, made from the titles in
-- the files of the rooms. Prints what differs; `--write` renews it.
local root = arg[0]:match "^(.*)/tests/support/" or "."
local index = root .. "/core/decisions.md"

local rooms, titles = {}, {} -- names, sorted; name -> lines of the index
for path in io.popen("cd '" .. root .. "' && ls */decisions.md core/*/decisions.md"):lines() do
  local room = path:match "([%w_]+)/decisions%.md$"
  if path ~= "core/decisions.md" then
    rooms[#rooms + 1], titles[room] = room, {}
    local link = path:gsub("^core/", "")
    if link == path then link = "../" .. path end
    for line in io.lines(root .. "/" .. path) do
      local id, number, title = line:match "^## (D%-[%w_]+%-(%d+)): (.+)$"
      if id then
        local row = ("- [%s](%s) %s\n"):format(id, link, title)
        table.insert(titles[room], { tonumber(number), row })
      end
    end
    table.sort(titles[room], function(a, b) return a[1] < b[1] end)
    for k, row in ipairs(titles[room]) do titles[room][k] = row[2] end
  end
end
table.sort(rooms)

local lines = { "# Decisions: the index\n\nEvery room keeps its own, in `decisions.md` beside its \z
  code. Code cites them by id: `D-pass-07`. This\npage is made from their titles by `luajit \z
  tests/support/decisions.lua --write`.\n" }
for _, room in ipairs(rooms) do
  lines[#lines + 1] = ("\n## %s\n\n"):format(room) .. table.concat(titles[room])
end
local made = table.concat(lines)

if arg[1] == "--write" then
  local file = assert(io.open(index, "w"))
  file:write(made)
  file:close()
else
  local file = assert(io.open(index))
  if file:read "*a" ~= made then
    print "core/decisions.md is outdated; renew it: luajit tests/support/decisions.lua --write"
  end
  file:close()
end
