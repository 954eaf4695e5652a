--- Terminal colours: how many the terminal supports, and which kind of text has which colour.
local scan = require "regolith.console.scan"

local colour = {}

local codes = { number = "36", string = "32", boolean = "35", ["nil"] = "2", ["function"] = "34",
  key = "33", dim = "2", error = "31", bar = "36", keyword = "35", comment = "2", mark = "1;34",
  chosen = "7", kind = "36" }

local constants = { ["nil"] = true, ["true"] = true, ["false"] = true }

local function env(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

--- Whether standard output supports colours; NO_COLOR disables them.
function colour.is_wanted() return not env "NO_COLOR" and env "TERM" ~= "dumb" and env "TERM" end

--- The number of colours for pictures: 2^24, 256, or nil for none.
function colour.depth()
  if not colour.is_wanted() then return nil end
  local term, true_colour = env "TERM", env "COLORTERM"
  if true_colour == "truecolor" or true_colour == "24bit" or term:find "direct"
    or term:find "kitty" then
    return 2 ^ 24
  end
  return term:find "256color" and 256 or nil
end

--- paint(kind, text): the text with the colour of its kind, or unchanged without colours.
function colour.painter(is_coloured)
  if not is_coloured then return function(_, text) return text end end
  return function(kind, text)
    local code = codes[kind]
    if not code or text == "" then return text end
    return "\27[" .. code .. "m" .. text .. "\27[0m"
  end
end

--- For each byte of Lua text, the kind that it is painted as, or nil.
function colour.of_bytes(text)
  local kinds = {}
  if text:find "^%s*[:?]" then return kinds end
  for _, token in ipairs(scan.tokens(text)) do
    local kind = token.kind
    if constants[token.text] then kind = "boolean" end
    if codes[kind] then
      for k = token.first, token.last do kinds[k] = kind end
    end
  end
  return kinds
end

return colour
