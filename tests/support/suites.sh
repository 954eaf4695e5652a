# suites.sh - the suites that tests/run knows; each adds to `passed` and `failed`. Sourced after
# setup.sh.

export RG_QUICK=off # only tests of baseline code turn it on; otherwise nothing is compiled twice
export RG_VERIFY=1 # a pass that breaks the IR fails the test that ran it

passed=0
failed=0
busted=/usr/bin/busted
# Every folder of C tests: tests/core/<room>, and the others that the build knows.
c_rooms=$(cd "$root/tests" && for path in core/*/ */CMakeLists.txt; do
  basename "${path%/CMakeLists.txt}"
done | sort -u | grep -vx aarch64 | tr '\n' ' ') # only --arm64 runs aarch64
all_rooms="${c_rooms}lua examples bench install windows lint"

is_known_room() {
  local room
  for room in $1; do
    case " $all_rooms " in
      *" $room "*) ;;
      *) say "tests/run: no room '$room'; rooms: $all_rooms"; return 1 ;;
    esac
  done
}

has_windows() { [ -x /usr/lib/wine/wine64 ] && command -v x86_64-w64-mingw32-gcc >/dev/null; }

wants() { [ -z "$1" ] || case " $1 " in *" $2 "*) true ;; *) false ;; esac; }

# Processor time of the ended children of this shell, in hundredths of a second: sets `used`.
count_used() {
  local stat
  read -r stat <"/proc/$BASHPID/stat"
  stat=(${stat##*) })
  used=$((stat[13] + stat[14]))
}

# add PASSED FAILED NAME [BEGIN [USED]]: with the seconds since BEGIN, as EPOCHREALTIME gave it, and
# the processor time since count_used gave USED, which other work on the machine changes little.
# `why` has a line for each failed test, if the caller knows more than the name of the suite.
add() {
  local took="" before="${5:-}" used
  [ "$2" = 0 ] || note_failures "$3" <<<"${why:-$2 failed}"
  passed=$((passed + $1))
  failed=$((failed + $2))
  if [ -n "${4:-}" ]; then
    took=$(((${EPOCHREALTIME/[.,]/} - ${4/[.,]/}) / 100000))
    took="$((took / 10)).$((took % 10)) s"
  fi
  if [ -n "$before" ]; then
    count_used
    used=$(((used - before) / 10))
    took="$took, $((used / 10)).$((used % 10)) s of processors"
  fi
  say "$(printf '%-34s %5d passed, %d failed %9s' "$3" "$1" "$2" "$took")"
}

# run_counted NAME COMMAND..: its last line must be `N passed, N failed`; a missing one counts as a
# failure.
run_counted() {
  local name="$1" log last begin=$EPOCHREALTIME used why=""
  shift
  log=$(mktemp)
  count_used
  timeout -k 5 3600 "$@" >"$log" 2>&1
  local status=$?
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  local p f
  p=$(printf '%s' "$last" | sed -E 's/^([0-9]+) passed.*/\1/')
  f=$(printf '%s' "$last" | sed -E 's/.* ([0-9]+) failed.*/\1/')
  if [ -z "$last" ] || { [ $status -ne 0 ] && [ "$f" = 0 ]; }; then
    say "$name ended with status $status without closing its count"
    p=${p:-0} f=$((${f:-0} + 1))
  fi
  [ "$p" = 0 ] && [ "$f" = 0 ] && { say "$name ran no test"; f=1; }
  [ "$f" != 0 ] && {
    tail -n 60 "$log" >&2
    say "repeat: $*"
    why=$(failures_of_counted "$log")
    [ -n "$last" ] || why="$why${why:+$'\n'}ended with status $status: $(tail -n 1 "$log")"
  }
  grep -E '^skipped' "$log" >&2
  add "$p" "$f" "$name" "$begin" "$used"
  rm -f "$log"
}

# The six specs that took most processor time, from the progress file that the helper wrote.
costliest_specs() { # PROGRESS
  awk -F '\t' '
    { used[spec] += $1 - last; last = $1; spec = $2 }
    { sub(/_spec\.lua:.*/, "", spec); sub(/.*\//, "", spec) }
    END { delete used[""]; for (spec in used) printf "%s %.1f s\n", spec, used[spec] }' "$1" |
    sort -k 2 -rn | head -n 6 | paste -s -d , | sed 's/,/, /g'
}

# busted prints counts in its own format, `N successes / N failures / N errors / N pending`. Counted
# memory that is still held at the end of a runtime is a failure, too. If busted itself ends early,
# the last line of `progress`, which the helper writes, names the test that was running.
run_busted() {
  local name="$1" log line progress begin=$EPOCHREALTIME used why="" held
  shift
  log=$(mktemp)
  progress=$(mktemp)
  count_used
  (cd "$root" && timeout -k 5 "${busted_seconds:-3600}" env TEST_PROGRESS="$progress" "$@" \
    luajit "$busted" -o plainTerminal --helper=tests/lua/helper.lua \
    --pattern='_spec%.lua$' ${filter_out:+"--filter-out=$filter_out"} ${specs:-tests/lua}) \
    >"$log" 2>&1
  local status=$?
  line=$(grep -aE '^[0-9]+ success(es)? /' "$log" | tail -n 1)
  held=$(grep -a "^regolith: .* counted objects were still held" "$log")
  if [ -z "$line" ]; then
    tail -n 30 "$log" >&2
    say "$name ended with status $status without closing its count"
    why="ended with status $status in $(tail -n 1 "$progress" | cut -f 2-)"
    add 0 1 "$name" "$begin" "$used"
  else
    local s f e
    s=$(printf '%s' "$line" | sed -E 's/^([0-9]+) .*/\1/')
    f=$(printf '%s' "$line" | sed -E 's/.* ([0-9]+) failures? .*/\1/')
    e=$(printf '%s' "$line" | sed -E 's/.* ([0-9]+) errors? .*/\1/')
    e=$((e + $(grep -c . <<<"$held")))
    [ $((f + e)) != 0 ] && {
      sed -nE '/^(Failure|Error) -> /,$p' "$log" >&2
      say "${held:+$held$'\n'}repeat: $* tests/run lua"
      why=$(failures_of_busted "$log"; printf '%s' "$held")
    }
    add "$s" $((f + e)) "$name" "$begin" "$used"
    say "  most of it: $(costliest_specs "$progress")"
  fi
  rm -f "$log" "$progress"
}

run_c_tests() { # BUILD ROOMS [PROGRAMS], or all programs
  local room program programs
  for room in $c_rooms; do
    wants "$2" "$room" || continue
    mapfile -t programs < <(find "$1/tests" -type f -perm -u+x -path "*/$room/test_*" | sort)
    for program in "${programs[@]}"; do
      wants "${3:-}" "${program##*/}" || continue
      run_counted "$room ${program##*/}${suffix:-}" "$program"
    done
  done
}

# The cost of the bench's kernels on a GPU, by executed instructions and by the assembler.
job_figures() {
  remember_compiles
  run_counted "cuda, figures of the bench" luajit "$root/tests/cuda/figures.lua"
}

# assemble NAME FOLDER EVERY OF: assembles PTX that a suite has left there; under --stress all of
# it, for both GPUs.
assemble() {
  local every="$3" of="$4" targets=alternate
  [ -n "${stress:-}" ] && every=1 of=1 targets=both
  run_counted "$1" bash "$root/tests/cuda/assemble" "$2" "$every" "$targets" "$of"
  rm -rf "$2"
}

# side_by_side NAME ..: runs jobs in parallel, `at_once` of them, or one more than there are
# processors, since a job that waits for ranks, terminals or files leaves its processor idle. Each
# is a function `job_<name>` in a subshell, whose output is printed as a whole when it ends.
side_by_side() {
  local folder name at_once=${at_once:-$(($(nproc) + 1))} p f
  folder=$(mktemp -d)
  trap 'trap - TERM; kill 0; exit 130' INT TERM # background jobs would continue otherwise
  for name in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
    (
      passed=0 failed=0
      "job_$name" >"$folder/$name.log" 2>&1
      echo "$passed $failed" >"$folder/$name"
      cat "$folder/$name.log" >&2
    ) &
  done
  wait
  for name in "$@"; do
    p=0 f=1
    if [ -f "$folder/$name" ]; then read -r p f <"$folder/$name"
      else note_failures "$name" <<<"the job ended early"; fi
    passed=$((passed + p)) failed=$((failed + f))
  done
  trap - INT TERM
  rm -rf "$folder"
}

# Jobs compile with the caching compiler of the tests, which keeps what jobs of the same run have
# compiled (tests/compiler). Sanitizer builds, C tests and the installed product use the real one.
remember_compiles() {
  [ -n "${compiled:-}" ] || return
  export RG_COMPILER="$build/tests/compiler/libregolith-codegen.so" RG_COMPILED="$compiled"
}

spec_files() { printf 'tests/lua/%s_spec.lua ' "$@"; }

# The spec files that can tell a difference in a setting: S, 1, L or C, as in specs.txt.
specs_of() { # SETTING
  spec_files $(sed -nE "s/^([a-z_]+) +[S1LC]*$1[S1LC]* .*/\1/p" "$root/tests/support/specs.txt")
}

# Every second one of the files on standard input. The two longest runs are two processes each,
# since Lua's collector traverses everything that earlier tests have left.
every_second() { # 0 or 1
  tr ' ' '\n' | grep . | awk "NR % 2 == $1" | tr '\n' ' '
}
# In further settings the fuzzers make fewer random kernels, which the first run has compiled.
job_lua_odd() {
  local specs
  remember_compiles
  specs=$(cd "$root" && ls tests/lua/*_spec.lua | every_second 1) \
    run_busted "lua, all threads, odd specs" RG_X=
}
job_lua_even() {
  local specs
  remember_compiles
  specs=$(cd "$root" && ls tests/lua/*_spec.lua | every_second 0) \
    run_busted "lua, all threads, even specs" RG_X=
}
job_lua_threads() { job_lua_odd; job_lua_even; }
job_lua_one() {
  local specs
  remember_compiles
  specs=$(specs_of 1) run_busted "lua, 1 thread" RG_THREADS=1 RG_FUZZ_KERNELS=${RG_FUZZ_KERNELS:-8}
}
job_lua_stressed() {
  local specs
  remember_compiles
  specs=$(specs_of S) run_busted "lua, 4 threads, stressed" RG_THREADS=4 \
    RG_FUZZ_KERNELS=${RG_FUZZ_KERNELS:-8} RG_SEED=${RG_SEED:-7} \
    RG_STRESS=tiny_chunks,gc_each_launch,shuffle_tasks
}
job_lua_arch() { # without tests that are about compiled code
  local filter_out="#compiled" specs
  specs=$(specs_of L) run_busted "lua, arch lua" RG_ARCH=lua
}
job_lua_lanes() {
  local specs
  remember_compiles
  specs=$(spec_files lane fuzzer fuzzer_array index program update sum loop vector print) \
    run_busted "lua, in lanes wherever possible" RG_FUZZ_KERNELS=${RG_FUZZ_KERNELS:-8} \
      RG_STRESS=force_lanes,force_streams
}
job_lua_trials() { # each launch runs in another way
  local specs
  remember_compiles
  specs=$(spec_files fuzzer fuzzer_array update sum loop list pointer model tune counted_handle) \
    run_busted "lua, launches as trials" RG_TUNE=always RG_THREADS=4 \
      RG_FUZZ_KERNELS=${RG_FUZZ_KERNELS:-8}
}
job_lua_ways() { # some specs, in ways that launches seldom take
  local specs
  remember_compiles
  specs=$(spec_files array array_kernel pointer list kernel node_loop bitmasked) \
    run_busted "lua, launches queued" RG_CHANNEL=thread RG_ASYNC=off # by another thread
  specs=$(spec_files heat kernel) \
    run_busted "lua, compiled in a process of its own" RG_COMPILE=process
  specs=$(spec_files fuzzer fuzzer_array sum) \
    run_busted "lua, baseline code" RG_QUICK=always RG_FUZZ_KERNELS=5
}
job_lua_switches() { # the whole suite
  local filter_out switch
  remember_compiles
  filter_out="explain" run_busted "lua, numbers as constants" RG_SPECIALISE=always
  for switch in tiny_chunks gc_each_launch shuffle_tasks; do
    run_busted "lua, $switch" RG_THREADS=3 RG_STRESS=$switch RG_SEED=${RG_SEED:-11}
  done
}

# On the GPU that tests/cuda simulates; without tests that are for a CPU only.
on_cuda() { # NAME [VARIABLE=VALUE ..]
  local name="lua, arch cuda$1" filter_out="#cpu"
  shift
  run_busted "$name" RG_ARCH=cuda RG_ASYNC=off \
    "RG_CUDA_DRIVER=$build/tests/cuda/libcuda.so.1" RG_FUZZ_KERNELS=5 "$@"
}
half_on_cuda() { # 0 or 1, and a name for the half
  local ptx specs
  remember_compiles
  ptx=$(mktemp -d)
  specs=$(specs_of C | every_second "$1")
  on_cuda ", $2 specs" "PTX_SAVE=$ptx"
  assemble "lua, arch cuda, $2, assembled" "$ptx" 10 4
}
job_cuda_odd() { half_on_cuda 1 odd; }
job_cuda_even() { half_on_cuda 0 even; }
job_cuda_ways() { # trees that grow and shrink, under three schedules
  local specs
  remember_compiles
  specs=$(spec_files pointer budget) on_cuda ", memory as it is" PTX_NO_VMM=1
  specs=$(spec_files sum list tune) on_cuda ", launches as trials" RG_TUNE=always
  specs=$(spec_files activation bitmasked collection counted_copies list pointer)
  on_cuda ", schedule 2" PTX_SEED=2
  specs=$(spec_files list) on_cuda ", schedule 3" PTX_SEED=3 # list specs expect errors at once
  specs=$(spec_files activation bitmasked collection counted_copies pointer)
  on_cuda ", schedule 3, launches queued" PTX_SEED=3 RG_ASYNC=on
}

job_examples() {
  local ptx
  remember_compiles
  ptx=$(mktemp -d)
  PTX_SAVE="$ptx" run_counted "examples" bash "$root/tests/examples/check"
  assemble "examples, assembled" "$ptx" 2 1
}

job_smoke() {
  remember_compiles
  run_counted "bench, each workload once" bash "$root/tests/bench/run" --smoke
}

job_install() {
  RG_BUILD="$build" run_counted "install" bash "$root/tests/install/check"
}

job_windows() {
  RG_BUILD="$build" run_counted "windows" bash "$root/tests/windows/run"
}

job_lint() {
  run_counted "lint" env LINT_CHANGED="${lint_changed:-}" bash "$root/tests/support/lint"
}

bless_goldens() {
  "$build/tests/pass/test_pass" --bless
  "$build/tests/core/sema/test_sema" --bless
  luajit "$root/tests/cuda/figures.lua" --bless
}

# The longest jobs begin first, so that none of them is left at the end, and since later jobs need
# most of the kernels that the first four compile.
run_suites() { # BUILD ROOMS
  local wanted="$2" jobs="" compiled
  compiled=$(mktemp -d)
  wants "$2" lua && [ -n "${stress:-}" ] && jobs="lua_switches"
  wants "$2" lua && jobs="$jobs lua_odd lua_even cuda_odd cuda_even"
  jobs="$jobs c"
  wants "$2" examples && jobs="$jobs examples"
  wants "$2" llvm_bc && jobs="$jobs address thread"
  wants "$2" lua && jobs="$jobs lua_stressed lua_arch"
  wants "$2" lint && jobs="$jobs lint"
  # if the tools are installed, which take half a gigabyte
  { case " $2 " in *" windows "*) true ;; *) [ -z "$2" ] && has_windows ;; esac; } &&
    jobs="$jobs windows"
  wants "$2" install && jobs="$jobs install"
  wants "$2" lua && jobs="$jobs cuda_ways lua_lanes lua_trials lua_one"
  wants "$2" bench && jobs="$jobs smoke"
  wants "$2" cuda && jobs="$jobs figures"
  wants "$2" lua && jobs="$jobs lua_ways"
  side_by_side $jobs
  rm -rf "$compiled"
}

job_c() { run_c_tests "$build" "$wanted"; }

# C tests under sanitizers: each run tests the rooms in which threads interact; `tests/run
# --sanitize` sets the rooms that it was given, or none for all, and builds all of their targets.
# Programs without threads are not run under the thread sanitizer.
sanitized_rooms="thread llvm_bc device server"
sanitized_threads="test_thread_pool test_rt test_rt_heap_gpu test_rt_thread test_rt_counted \
test_rt_race test_rt_mask test_rt_list test_device test_server_queue test_server_order \
test_server_memory"
sanitized_singles="test_rt_budget test_rt_random test_rt_hash test_rt_valid"

job_address() { run_sanitizer address,undefined "$(echo $sanitized_threads $sanitized_singles)"; }
job_thread() { run_sanitizer thread "$sanitized_threads"; }

# run_sanitizer KIND PROGRAMS: uses the runtime's bitcode of the plain build.
run_sanitizer() {
  local kind="$1" folder="$build-${1%%,*}"
  targets="${2:+rt_bitcode $2}" configure_and_build "$folder" -DRG_SANITIZE="$kind" \
    -DRG_BITCODE="$build/llvm_bc" -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 || {
    add 0 1 "sanitizer build: $kind"
    return
  }
  suffix=", $kind" LUA_PATH="$root/lua/?.lua;$root/lua/?/init.lua;;" \
    RG_LIBRARY="$folder/libregolith.so" UBSAN_OPTIONS=halt_on_error=1 \
    run_c_tests "$folder" "$sanitized_rooms" "$2"
}

# run_tidy [FILE ..]: clang's static analyzer over the named C files, or over those that differ from
# `main`; minutes for all.
run_tidy() {
  local files="$*" found
  command -v clang-tidy-19 >/dev/null || { add 0 1 \
    "static analyzer: clang-tidy-19 is not installed"; return; }
  [ -n "$files" ] || files=$(cd "$root" && git diff --name-only --diff-filter=d main -- \
    'core/*.c' 'cuda/*.c' 'lua/*.c' 'llvm_bc/*.c')
  [ -n "$files" ] || files=$(cd "$root" &&
    ls core/*/*.c core/*/*/*.c cuda/*.c lua/regolith/console/*.c)
  local unwanted=clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling
  found=$(cd "$root" && printf '%s\n' $files | grep -v '^llvm_bc/.*_cuda.c' |
    xargs -P "$(nproc)" -n 4 clang-tidy-19 -p "$build" --quiet \
    --checks="-*,clang-analyzer-*,-$unwanted" 2>/dev/null)
  printf '%s\n' "$found" | grep -E '(warning|error|note):' >&2
  if printf '%s\n' "$found" | grep -qE '(warning|error):'; then add 0 1 "static analyzer";
    else add 1 0 "static analyzer"; fi
}

# run_fuzz: runs every target for FUZZ_SECONDS (60) seconds from its kept inputs, under the address
# and undefined sanitizers. An input that breaks one is in build-fuzz/<target>: give it a good name,
# move it to tests/fuzz/corpus/<target>, and fix the room.
run_fuzz() {
  local folder="$root/build-fuzz" target all="" seconds="${FUZZ_SECONDS:-60}"
  for target in $(sed -nE 's/^rg_fuzz\((\w+) .*/\1/p' "$root/tests/fuzz/CMakeLists.txt");
    do all="$all fuzz_$target"; done
  targets="$all" configure_and_build "$folder" -DRG_FUZZ=ON -DRG_SANITIZE=address,undefined \
    -DCMAKE_C_COMPILER=clang-19 \
    -DCMAKE_CXX_COMPILER=clang++-19 || { add 0 1 "fuzz build"; return; }
  for target in ${FUZZ_TARGETS:-$all}; do
    local found="$folder/found/$target" words=()
    local dictionary="$root/tests/fuzz/${target#fuzz_}.dict"
    [ -f "$dictionary" ] && words=(-dict="$dictionary")
    mkdir -p "$found"
    if UBSAN_OPTIONS=halt_on_error=1 "$folder/tests/fuzz/$target" -max_total_time="$seconds" \
      -timeout=10 -rss_limit_mb=3000 "${words[@]}" \
      -artifact_prefix="$found/crash-" "$found" "$root/tests/fuzz/corpus/${target#fuzz_}" \
      >"$found.log" 2>&1; then
      add 1 0 "$target, $seconds s"
    else
      tail -n 40 "$found.log" >&2
      add 0 1 "$target, $seconds s"
    fi
  done
  configure_and_build "$build" && export_paths && specs=$(spec_files hostile) \
    run_busted "altered files" RG_HOSTILE="${FUZZ_FILES:-5000}" RG_SEED="${RG_SEED:-$RANDOM}"
  specs=$(spec_files fuzzer_gradient) run_busted "gradients of random kernels" \
    RG_FUZZ_KERNELS="${FUZZ_GRADIENTS:-2000}" RG_SEED="${RG_SEED:-$RANDOM}"
  run_without
}

# run_without: runs FUZZ_KERNELS (100) random kernels of each kind, with each pass left out in turn.
run_without() {
  local pass
  configure_and_build "$build" || { add 0 1 "build"; return; }
  export_paths
  for pass in none mem2reg local_arrays refcounts early_exits atomics bounds node_cursors \
    privatise reversal coalesce sink unroll hoist_checks leaf rows independent redundant_slots \
    lanes access_shapes fold; do
    specs=$(spec_files fuzzer fuzzer_array) run_busted "fuzzer, without $pass" RG_WITHOUT=$pass \
      RG_FUZZ_KERNELS="${FUZZ_KERNELS:-100}" RG_SEED="${RG_SEED:-$RANDOM}"
  done
}

run_bench() { export_paths; RG_VERIFY=0 bash "$root/tests/bench/run"; }

run_coverage() {
  local folder="$root/build-coverage"
  configure_and_build "$folder" -DRG_COVERAGE=ON || { add 0 1 "coverage build"; return; }
  build="$folder"
  export_paths
  find "$folder" -name '*.gcda' -delete
  rm -f "$folder"/lua.*.info
  run_c_tests "$folder" "$rooms"
  # left out: tests of garbage and of symbols, which counting itself adds, and specs that take
  # minutes
  local specs filter_out="#uncounted"
  specs=$(cd "$root" && ls tests/lua/*_spec.lua | grep -vE 'soak|fuzzer|model_spec')
  run_busted "lua, counted" RG_THREADS=4 RG_COVERAGE="$folder/lua" \
    LUA_INIT="@$root/tests/support/coverage.lua"
  filter_out="#%w*co" # those, and tests that are about compiled code
  specs=$(cd "$root" && ls \
    tests/lua/{oracle,vector,kernel,function,arithmetic,static,tree,rescale,loop,offset}_spec.lua \
    tests/lua/{field,result,error,node_loop,list,language,layout,kinds}_spec.lua \
    tests/lua/{runtime,identity,extremes}_spec.lua)
  run_busted "lua, counted, arch lua" RG_ARCH=lua RG_COVERAGE="$folder/lua" \
    LUA_INIT="@$root/tests/support/coverage.lua"
  local quiet="--rc lcov_branch_coverage=0 -q"
  lcov $quiet -c -d "$folder" -o "$folder/c.info" 2>/dev/null
  lcov $quiet -e "$folder/c.info" "$root/core/*" "$root/llvm_bc/*" "$root/lua/*" -o \
    "$folder/c.info" 2>/dev/null
  local parts=(-a "$folder/c.info") part
  for part in "$folder"/lua.*.info; do # only files of this tree, since some tests run a copy
    [ -f "$part" ] && lcov $quiet -e "$part" "$root/lua/*" -o "$part" 2>/dev/null &&
      [ -s "$part" ] && parts+=(-a "$part")
  done
  lcov $quiet "${parts[@]}" -o "$folder/all.info" 2>/dev/null
  genhtml -q "$folder/all.info" -o "$folder/html" 2>/dev/null
  lcov --list "$folder/all.info" 2>/dev/null | tail -n +2 >&2
  lcov --summary "$folder/all.info" 2>&1 | grep lines >&2
}
