#compdef regolith
# zsh completion for regolith: options, commands, examples, and Lua files.
_regolith_first() {
  local -a commands
  commands=('run:ranks of a script' 'info:versions, devices and paths' 'docs:open the documentation' 'examples:list the examples, or run one'
    'new:write a script to start from'
    'build:save what a script exports' 'cache:compiled kernels on disk' 'help:where to read on')
  _describe command commands
  _files -g '*.lua'
}
_regolith_rest() {
  case $words[1] in
    examples) compadd ${(f)"$(regolith examples 2>/dev/null | sed -n 's/^\([a-z0-9_]*\)\.lua - .*/\1/p')"} ;;
    cache) compadd info clear ;;
    run) [[ $CURRENT = 2 ]] && compadd -- -n || _files ;;
    *) _files ;;
  esac
}
_arguments -S \
  '*-e[execute a chunk]:chunk: ' '*-l[require a library]:name: ' '*-j[LuaJIT control command]:command: ' \
  '-O-[LuaJIT optimizations]:level: ' '-i[prompt after the script]' '(-v --version)'{-v,--version}'[version]' '-E[ignore the environment]' '--json[lines for programs]' '-h[help]' \
  '1: :_regolith_first' '*:: :_regolith_rest'
