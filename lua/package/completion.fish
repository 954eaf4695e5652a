# fish completion for regolith: options, commands, examples, and Lua files.
complete -c regolith -s e -x -d 'Execute a chunk'
complete -c regolith -s l -x -d 'Require a library'
complete -c regolith -s j -x -d 'LuaJIT control command'
complete -c regolith -s i -d 'Prompt after the script'
complete -c regolith -s v -d 'Version'
complete -c regolith -s E -d 'Ignore the environment'
complete -c regolith -s h -d 'Help'
complete -c regolith -n __fish_use_subcommand -a info -d 'Versions, devices and paths'
complete -c regolith -n __fish_use_subcommand -a examples -d 'List the examples, or run one'
complete -c regolith -n __fish_use_subcommand -a new -d 'Write a script to start from'
complete -c regolith -n __fish_use_subcommand -a help -d 'Where to read on'
complete -c regolith -n '__fish_seen_subcommand_from examples' -f -a "(regolith examples 2>/dev/null | string replace -rf '^([a-z0-9_]+)\.lua - .*' '\$1')"
