--- `rg.memory()` as bars: each tree and array relative to all live memory, each level relative to
--- its tree.
local text = require "regolith.console.text"

local memory = {}

function memory.is_report(v)
  local meta = type(v) == "table" and getmetatable(v)
  return type(meta) == "table" and rawget(meta, "__regolith") == "a memory report"
    and rawget(v, "trees") ~= nil
end

local bar_columns = 24

local function line(d, name, live, all, note)
  return ("%s  %s %10s  %s"):format(text.pad(text.cut(name, 34), 34),
    d.paint("bar", text.bar(all > 0 and live / all or 0, bar_columns)), text.size(live),
    d.paint("dim", note))
end

local function tree_lines(d, tree, number, all, add)
  local live, reserved = 0, 0
  for _, node in ipairs(tree.nodes) do
    if node.depth == 0 then live, reserved = live + node.live, reserved + node.reserved end
  end
  -- The live bytes of a root may exclude those of its levels.
  local below = 0
  for _, node in ipairs(tree.nodes) do below = math.max(below, node.live) end
  live = math.max(live, below)
  add(line(d, "tree " .. (tree.name ~= "" and tree.name or number), live, all,
    ("%s reserved"):format(text.size(math.max(reserved, live)))))
  for _, node in ipairs(tree.nodes) do
    if node.depth > 0 then
      local name = ("  "):rep(node.depth) .. node.kind .. (node.name ~= "" and " " .. node.name
        or "")
      add(line(d, name, node.live, all,
        ("%d cell%s"):format(node.cells, node.cells == 1 and "" or "s")))
    end
  end
end

--- Formats the report as lines.
---@param d table   paint(kind, text)
function memory.draw(report, d)
  local lines = { ("%s live, %s reserved, %s peak"):format(text.size(report.live),
    text.size(report.reserved), text.size(report.peak)) }
  local function add(s) lines[#lines + 1] = s end
  for number, tree in ipairs(report.trees) do tree_lines(d, tree, number, report.live, add) end
  for _, row in ipairs(report.arrays) do
    add(line(d, row.text, row.live, report.live, row.live == 0 and "borrowed memory" or ""))
  end
  return table.concat(lines, "\n")
end

return memory
