# bash completion for regolith: options, commands, examples, and Lua files.
_regolith() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  case "$previous" in
    -e | -l | -j) return ;;
    examples | -p)
      COMPREPLY=($(compgen -W "$(regolith examples 2>/dev/null | sed -n 's/^\([a-z0-9_]*\)\.lua - .*/\1/p')" -- "$current"))
      return ;;
    -n) COMPREPLY=($(compgen -W "1 2 4 8" -- "$current")); return ;;
    run) COMPREPLY=(-n); return ;;
    cache) COMPREPLY=($(compgen -W "info clear" -- "$current")); return ;;
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "-e -l -j -O -b -i -v -E --version --json -h --" -- "$current")) ;;
    *)
      [ "$COMP_CWORD" = 1 ] && COMPREPLY=($(compgen -W "run info docs examples new build cache help" -- "$current"))
      compopt -o filenames
      local file
      while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -X '!*.lua' -- "$current"; compgen -d -- "$current") ;;
  esac
}
complete -F _regolith regolith
