std = "luajit"
max_line_length = 100
files["tests/lua"] = { std = "+busted", ignore = { "213" } } -- loops of kernels may count visits alone
files["tests/support/coverage.lua"] = { ignore = { "122" } } -- writes what it counted when the program ends
files["lua/library"] = { ignore = { "211", "212", "241" } } -- definitions, which never run
files["examples/love"] = { globals = { "love" } } -- LÖVE's own
