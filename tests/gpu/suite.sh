# suite.sh - tests/run --gpu: everything that needs a GPU, also on machines where nothing can be
# built: the driver's own tests, the Lua suite, the examples' checksums, compute-sanitizer over the
# sparse specs (if it is found), the bench, and measurements for guesses. Sourced after
# tests/support/suites.sh.
#
# If LLVM's packages are installed, this tree is built; otherwise, and with RG_BUNDLE=1, the bundle
# build-gpu/bundle.tar.gz (tests/gpu/bundle) is unpacked. Results are written to GPU_RESULTS, or to
# tests/bench/results, line by line (log.txt, gpu.md, guesses.md), so that they are kept when the
# machine is taken away. Parts that would begin later than GPU_SECONDS (540) after the start are
# skipped, with a note. Specs and examples run in parallel, GPU_JOBS (six) at a time. GPU_SPECS and
# GPU_EXAMPLES choose some of them ("heat pointer"). To try all of it without a GPU:
# RG_CUDA_DRIVER=build/tests/cuda/libcuda.so.1 SMALL=1 RG_BUNDLE=1 tests/run --gpu

sparse_specs="pointer bitmasked activation list hash collection"
# The most important specs run first, so that one minute shows much; then all others, by name.
first_specs="heat kernel cuda_bits update loop sum $sparse_specs"

use_bundle() {
  local bundle="$root/build-gpu/bundle.tar.gz" folder="$root/build-gpu/bundle"
  [ -f "$bundle" ] || { say "neither LLVM's packages nor $bundle are here: make the bundle by" \
    "tests/gpu/bundle where the tree can be built, and bring it along"; return 1; }
  rm -rf "$folder" && mkdir -p "$folder" && tar -C "$folder" -xzf "$bundle" || return 1
  local made
  made=$(cat "$folder/commit")
  if [ "$made" != "$(git -C "$root" rev-parse HEAD 2>/dev/null || echo "$made")" ]; then
    say "the bundle is of commit $made, the tree of another: tests may disagree with it"
  fi
  build="$folder"
  busted="$folder/bin/busted.lua"
  export PATH="$folder/bin:$PATH" LD_LIBRARY_PATH="$folder/lib:${LD_LIBRARY_PATH:-}"
  export RG_LIBRARY="$folder/lib/libregolith.so"
  LUA_PATH="$root/lua/?.lua;$root/lua/?/init.lua;$folder/lua/?.lua;$folder/lua/?/init.lua;;"
  export LUA_PATH
  export LUA_CPATH="$folder/clua/?.so;;"
}

# Is there time for one more?
has_time() { # NAME
  [ $SECONDS -lt "$gpu_end" ] || { say "skipped, as time is over: $1"; false; }
}

# The given number of seconds, or fewer if the machine, which is lent for ten minutes, goes earlier.
at_most() { # SECONDS
  local left=$((gpu_end + 45 - SECONDS))
  echo $((left < 1 ? 1 : left < $1 ? left : $1))
}

# gpu_side_by_side KIND NAME ..: runs job_KIND for each name in parallel; a job without remaining
# time ends at once.
gpu_side_by_side() {
  local kind="$1" name jobs=""
  shift
  for name in "$@"; do
    eval "job_${kind}_$name() { has_time '$kind $name' && job_$kind $name; }"
    jobs="$jobs ${kind}_$name"
  done
  at_once=${GPU_JOBS:-6} side_by_side $jobs
}

job_gpu_spec() { # a spec that hangs costs only its own two minutes
  local filter_out="#cpu" busted_seconds specs="tests/lua/$1_spec.lua"
  busted_seconds=$(at_most 120)
  run_busted "lua, on the GPU, $1" RG_ARCH=cuda RG_ASYNC=off
}

# Left out are specs about a processor's instructions and about the driver that executes PTX, and
# with a bundle those that need a build.
run_gpu_specs() {
  local all left="speed|cuda"
  [ "$build" = "$root/build-gpu/bundle" ] && left="$left|abi|cache|console|newcomer|program|readme"
  all=$(cd "$root/tests/lua" && printf '%s\n' *_spec.lua | sed 's/_spec.lua$//' |
    grep -vxE "$left" | grep -vxF "$(printf '%s\n' $first_specs)")
  gpu_side_by_side gpu_spec ${GPU_SPECS:-$first_specs $all}
  has_time "ranks" || return
  specs="tests/lua/gpu_window_spec.lua" filter_out="#ptx" busted_seconds=$(at_most 120) \
    run_busted "lua, ranks on the GPU" RG_GPU_RANKS=device
}

job_gpu_example() {
  RG_ARCH=cuda EXAMPLE_SECONDS=$(at_most 120) run_counted "example, on the GPU, $1" \
    bash "$root/tests/examples/check" "$1"
}

# Examples are sized for processors and GPUs: the driver that executes PTX runs only some of them,
# at very small sizes.
run_gpu_examples() {
  if [ "${SMALL:-}" = 1 ]; then
    busted_seconds=600 specs="tests/lua/gallery_spec.lua" \
      run_busted "examples, very small" RG_ARCH=cuda
    return
  fi
  gpu_side_by_side gpu_example ${GPU_EXAMPLES:-$(cut -d ' ' -f 1 "$root/tests/examples/checksums")}
}

find_gpu() { # prints why there is none
  local answer
  answer=$(luajit -e 'local rg = require "regolith"
    local ok, err = pcall(rg.init, { arch = "cuda" })
    print(ok and "yes" or "no: " .. err.message)' 2>&1)
  [ "$answer" = yes ] || { say "skipped: ${answer#no: }"; return 1; }
}

run_compute_sanitizer() {
  local tool
  tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  [ -n "$tool" ] || { say "skipped: compute-sanitizer is not on this machine"; return; }
  local name spec log begin
  for name in $sparse_specs; do
    spec="$root/tests/lua/${name}_spec.lua" begin=$EPOCHREALTIME
    [ -f "$spec" ] && has_time "compute-sanitizer $name" || continue
    log=$(mktemp)
    if (cd "$root" && RG_ARCH=cuda timeout -k 5 "$(at_most 300)" "$tool" --error-exitcode 9 luajit \
      "$busted" -o plainTerminal --helper=tests/lua/helper.lua --filter-out='#cpu' "$spec") \
      >"$log" 2>&1; then
      add 1 0 "compute-sanitizer, $name" "$begin"
    else
      tail -n 30 "$log" >&2
      add 0 1 "compute-sanitizer, $name" "$begin"
    fi
    rm -f "$log"
  done
}

# As its driver reports it.
gpu_name() {
  luajit -e 'local ffi = require "ffi"
    ffi.cdef "int cuInit(unsigned); int cuDeviceGetName(char *, int, int);"
    local driver, name = ffi.load(os.getenv "RG_CUDA_DRIVER" or "libcuda.so.1"), ffi.new "char[99]"
    if driver.cuInit(0) == 0 and driver.cuDeviceGetName(name, 99, 0) == 0 then
      print(ffi.string(name))
    end' 2>/dev/null
}

# gpu_table NAME FILE SCRIPT: writes the output of the script to the file, line by line.
gpu_table() {
  local file="$gpu_results/$2" gpu begin=$EPOCHREALTIME
  has_time "$1" || return
  gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
  [ -n "$gpu" ] || gpu=$(gpu_name)
  printf '# On one %s\n\nBy `tests/run --gpu`, %s.\n\n' "${gpu:-GPU}" "$(date -u +%Y-%m-%d)" \
    >"$file"
  if RG_ARCH=cuda LAST_SECOND=$((gpu_end - SECONDS)) luajit "$root/tests/gpu/$3" |
    tee -a "$file" >&2 && [ "${PIPESTATUS[0]}" = 0 ]; then
    add 1 0 "$1, on the GPU" "$begin"
  else
    add 0 1 "$1, on the GPU" "$begin"
  fi
}

# If results go elsewhere, the output is also stored there, at once.
keep_log() {
  [ -n "${GPU_RESULTS:-}" ] || return
  : >"$gpu_results/log.txt"
  say() { printf '%s\n' "$*" | tee -a "$gpu_results/log.txt" >&2; }
}

run_gpu() { # PARTS: cuda bench guess lua examples sanitizer; all if empty
  gpu_results="${GPU_RESULTS:-$root/tests/bench/results}"
  gpu_end=$((SECONDS + ${GPU_SECONDS:-540}))
  mkdir -p "$gpu_results"
  keep_log
  if [ -z "${RG_BUNDLE:-}" ] && command -v clang-19 >/dev/null; then
    configure_and_build "$build" || exit 1
    export_paths
  else
    use_bundle || { add 0 1 "bundle"; return; }
  fi
  if wants "$1" cuda; then
    run_c_tests "$build" cuda
    [ $((passed + failed)) -gt 0 ] || add 0 1 "cuda: no test of the driver is there"
  fi
  find_gpu || return 0
  wants "$1" bench && gpu_table bench gpu.md bench.lua
  wants "$1" guess && gpu_table guesses guesses.md guess.lua
  wants "$1" lua && run_gpu_specs
  wants "$1" examples && run_gpu_examples
  wants "$1" sanitizer && run_compute_sanitizer
}
