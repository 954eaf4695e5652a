# inner.sh - the tests to run while working on a change: `--quick` runs those that a change usually
# breaks, `--changed` those that the files that differ from main can break. Sourced after suites.sh.

# Lint of changed files, the Lua suite in its first setting, and all C rooms except llvm_bc, whose
# tests of threads take minutes.
run_quick() { # BUILD
  local wanted compiled
  compiled=$(mktemp -d)
  wanted=$(printf '%s' "$c_rooms" | tr ' ' '\n' | grep -vx llvm_bc | tr '\n' ' ')
  lint_changed=1 side_by_side lua_odd lua_even c lint
  rm -rf "$compiled"
}

changed_files() {
  (cd "$root" && {
    git diff --name-only --diff-filter=d "$(git merge-base HEAD main)"
    git ls-files --others --exclude-standard
  } | sort -u)
}

# The C rooms of these files, and the rooms that declare one of them as used.
changed_rooms() { # FILE ..
  local room user
  for room in $(printf '%s\n' "$@" | sed -nE -e 's#^(tests/)?core/(\w+)/.*#\2#p' \
    -e 's#^(tests/)?(llvm_bc|cuda)/.*#\2#p' -e 's#^tests/(pass|embed|fuzz)/.*#\1#p' |
    sort -u); do
    echo "$room"
    for user in $(cd "$root" && grep -lE "^rg_room\(.* $room( |\))" core/*/CMakeLists.txt); do
      basename "$(dirname "$user")"
    done
  done | sort -u | grep -xF "$(printf '%s' "$c_rooms" | tr ' ' '\n')" | tr '\n' ' '
}

# changed_jobs FILE ..: names of jobs, each once.
changed_jobs() {
  local file
  echo lint
  for file in "$@"; do
    case "$file" in
      tests/lua/*_spec.lua) ;; # run by name
      core/emit_lua/* | lua/regolith/oracle*) echo lua_arch lua_threads c ;;
      core/ir/* | core/pass/* | core/codegen/* | core/jit/* | core/device/*)
        echo lua_threads lua_lanes lua_trials lua_ways figures cuda_odd cuda_even c ;;
      llvm_bc/*) echo lua_threads address thread cuda_odd cuda_even c ;;
      core/sema/* | core/front/* | core/resolve/* | core/infer/* | core/lower/* | core/typed/*)
        echo lua_threads lua_arch c ;;
      core/* | tests/lua/* | tests/support/fuzzer*) echo lua_threads c ;;
      lua/regolith/*) echo lua_threads lua_arch ;;
      examples/* | tests/examples/*) echo examples ;;
      tests/bench/*) echo smoke ;;
      lua/package/* | tests/install/* | CMakeLists.txt) echo install ;;
      tests/core/* | tests/pass/* | tests/embed/* | tests/cuda/* | cuda/*) echo c ;;
    esac
  done | tr ' ' '\n' | sort -u | tr '\n' ' '
}

run_changed() { # BUILD
  local files wanted jobs specs compiled
  files=$(changed_files)
  [ -n "$files" ] || { say "nothing differs from main"; return; }
  compiled=$(mktemp -d)
  wanted=$(changed_rooms $files)
  jobs=$(changed_jobs $files)
  specs=$(printf '%s\n' "$files" | grep -E '^tests/lua/\w+_spec\.lua$' | tr '\n' ' ')
  case " $jobs " in *" lua_threads "*) specs="" ;; esac # that job runs all specs
  [ -n "$specs" ] && run_busted "lua, changed specs" RG_X=
  [ -n "$wanted" ] || jobs=$(printf ' %s' "$jobs" | sed 's/ c / /')
  lint_changed=1 specs="" side_by_side $jobs
  rm -rf "$compiled"
}
