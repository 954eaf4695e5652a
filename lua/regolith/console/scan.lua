--- A tokeniser of Lua for completion, colours and finding the locals that an input declares. It
--- accepts any text, also an unfinished line, and runs nothing.
local scan = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
  return then true until while]]):gmatch "%a+" do keywords[word] = true end
scan.keywords = keywords

-- Returns the end of the long bracket that begins at `at`; nil if it is not closed; false if there
-- is none.
local function long_end(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return false end
  local _, last = text:find("]" .. level .. "]", at, true)
  return last
end

-- Returns the last byte of a quoted string, or nil if its line ends first.
local function quoted_end(text, at)
  local quote, k = text:sub(at, at), at + 1
  while k <= #text do
    local c = text:sub(k, k)
    if c == quote then return k end
    if c == "\n" then return nil end
    k = k + (c == "\\" and 2 or 1)
  end
end

-- Returns the kind and last byte of the token at `at`, and whether the token is unfinished at the
-- end of the text.
local function token_at(text, at)
  local c = text:sub(at, at)
  if c:find "[%a_\128-\255]" then
    local last = select(2, text:find("^[%w_\128-\255]+", at))
    return keywords[text:sub(at, last)] and "keyword" or "name", last
  elseif c:find "%d" or text:find("^%.%d", at) then
    local last = select(2, text:find("^%.?%d[%w_%.]*", at))
    while text:find("^[eEpP]", last) and text:find("^[+-]%d", last + 1) do
      last = select(2, text:find("^[+-]%d[%w_]*", last + 1))
    end
    return "number", last
  elseif text:find("^%-%-", at) then
    local last = long_end(text, at + 2)
    if last == nil then return "comment", #text, true end
    return "comment", last or (text:find("\n", at, true) or #text + 1) - 1
  elseif c == "[" and long_end(text, at) ~= false then
    local last = long_end(text, at)
    return "string", last or #text, not last
  elseif c == '"' or c == "'" then
    local last = quoted_end(text, at)
    return "string", last or (text:find("\n", at, true) or #text + 1) - 1, not last
  end
  for _, length in ipairs { 3, 2 } do
    local operator = text:sub(at, at + length - 1)
    if operator:find "^%.%.%.$" or operator:find "^[=~<>!]=$" or operator == ".."
      or operator == "::" then
      return "operator", at + length - 1
    end
  end
  return "operator", at
end

--- Returns all tokens, without white space: { kind, text, first, last, is_open }.
function scan.tokens(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local kind, last, is_open = token_at(text, at)
    list[#list + 1] = { kind = kind, text = text:sub(at, last), first = at, last = last,
      is_open = is_open }
    at = last + 1
  end
end

local opens = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
local closes = { ["end"] = true, ["until"] = true }

-- Collects the names of a `local` statement, whose first token after the keyword is number k;
-- returns the number after them.
local function names_at(tokens, k, add)
  if tokens[k] and tokens[k].text == "function" then
    if tokens[k + 1] and tokens[k + 1].kind == "name" then add(tokens[k + 1].text) end
    return k
  end
  while tokens[k] and tokens[k].kind == "name" do
    add(tokens[k].text)
    if not (tokens[k + 1] and tokens[k + 1].text == ",") then return k + 1 end
    k = k + 2
  end
  return k
end

--- Returns the locals that a chunk declares outside all blocks, in order and without duplicates,
--- and the token of the chunk's own `return`, if there is one.
function scan.locals(text)
  local tokens, names, known, depth, k, result = {}, {}, {}, 0, 1, nil
  for _, token in ipairs(scan.tokens(text)) do
    if token.kind ~= "comment" then tokens[#tokens + 1] = token end
  end
  local function add(name)
    if not known[name] then names[#names + 1], known[name] = name, true end
  end
  while tokens[k] do
    local token = tokens[k]
    local word = token.kind == "keyword" and token.text
    if opens[word] then depth = depth + 1
    elseif closes[word] then depth = depth - 1
    elseif word == "return" and depth == 0 then result = token end
    if word == "local" and depth == 0 then k = names_at(tokens, k + 1, add) else k = k + 1 end
  end
  return names, result
end

--- Returns the method whose call ends the text, `fill` of `x:fill(0)`, or nil.
function scan.last_method(text)
  local tokens = scan.tokens(text)
  local k, depth = #tokens, 0
  while k > 0 and (tokens[k].text == ";" or tokens[k].kind == "comment") do k = k - 1 end
  if k == 0 then return end
  if tokens[k].kind ~= "string" then
    repeat
      local c = tokens[k].text
      if c == ")" or c == "}" or c == "]" then depth = depth + 1
      elseif c == "(" or c == "{" or c == "[" then depth = depth - 1 end
      k = k - 1
    until depth <= 0 or k == 0
  else
    k = k - 1
  end
  local name, colon = tokens[k], tokens[k - 1]
  if name and name.kind == "name" and colon and colon.text == ":" then return name.text end
end

return scan
