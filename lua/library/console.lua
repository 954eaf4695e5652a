---@meta regolith.console
--- Definitions for editors (LuaCATS) of `require "regolith.console"`: the prompt without a
--- terminal, for consoles of games and editors. Never run.

---@class regolith.console
local console = {}

---@class regolith.ConsoleOptions
---@field globals? table Where names are looked up that are not the console's locals (_G).
---@field rg? rg The module; the global `rg` unless there is one.
---@field write? fun(text: string) Values and answers (io.write).
---@field write_error? fun(text: string) Errors (write).
---@field call? fun(f: function, ...: any): boolean, ... As pcall: where what is typed runs.
---@field paint? fun(kind: string, text: string): string Colours; "number", "error", ..
---@field width? integer Columns of text (80).
---@field height? integer Rows of grids and pictures (12).
---@field name? string Chunks are called name(1), name(2), .. ("prompt").
---@field slow? number Seconds from which on a command's time is told; none if left out.
---@field list_folder? fun(path: string): { name: string, is_folder: boolean }[] To complete files.
---@field colours? number Of pictures: 2^24, 256 or none.
---@field graphics? fun(): "kitty"|"sixel"|nil How pictures may be shown as pixels.
---@field redraw? fun(text: string, is_last: boolean) Shows a watched field over what it showed.
---@field leave? fun() What `:quit` does.

---@class regolith.Command
---@field help string
---@field usage? string
---@field run fun(console: regolith.Console, argument: string): string?, string?, string?

---@class regolith.Completion
---@field text string
---@field kind string "field", "kernel", "method", "keyword", "file", "parameter", ..
---@field detail? string
---@field is_hint? boolean Is shown, not inserted.

---@class regolith.DescribeOptions
---@field width? integer Columns (the console's).
---@field height? integer Rows of a grid (the console's).
---@field depth? integer Of tables (4).
---@field items? integer Of a table (100).
---@field is_brief? boolean Handles on one line.

---@param options? regolith.ConsoleOptions
---@return regolith.Console
function console.new(options) end

---@class regolith.Console
---@field commands table<string, regolith.Command> A copy of its own, to which you may add.
---@field width integer
---@field height integer
local Console = {}

--- Runs a line, or many; what is not whole waits for the next call.
---@param text string
---@return "complete" | "more" | "error"
function Console:feed(text) end

--- What feed would say; runs nothing.
---@param text string
---@return "complete" | "more" | "error"
function Console:check(text) end

--- Forgets unfinished input.
function Console:drop() end

--- Unfinished input is an error now.
function Console:finish() end

--- What could stand at a byte of the text, and the first byte that it would replace.
---@param text string
---@param position? integer
---@return regolith.Completion[], integer
function Console:complete(text, position) end

--- A value as it is printed.
---@param value any
---@param options? regolith.DescribeOptions
---@return string
function Console:describe(value, options) end

--- What is known of a name: a text, and perhaps a hint.
---@param name string
---@return string, string?
function Console:help(name) end

--- The values of an expression; raises what it raises.
---@param text string
---@return any ...
function Console:evaluate(text) end

return console
