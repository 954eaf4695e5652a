# suite.sh - tests/run --gpu: what needs a GPU, and that is all of it where nothing can be built:
# the driver's own tests, the Lua suite, the examples' checksums, compute-sanitizer over the sparse
# specs where it is found, the bench. Sourced after tests/support/suites.sh.
#
# Where LLVM's packages are, this tree is built; elsewhere, and with RG_BUNDLE=1, the bundle
# build-gpu/bundle.tar.gz (tests/gpu/bundle) is unpacked. The bench's table goes to GPU_RESULTS, or
# tests/bench/results. GPU_SPECS: these specs alone ("heat pointer"). To walk through it all without
# a GPU: RG_CUDA_DRIVER=build/tests/cuda/libcuda.so.1 SMALL=1 RG_BUNDLE=1 tests/run --gpu

sparse_specs="pointer bitmasked activation list hash collection"
# What a GPU does first, so that a minute says much; then come all others, by their names.
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

# Each spec by itself, so that one that hangs costs its own two minutes. Left out are those that no
# GPU runs (not_on_cuda), and with a bundle those about what only a build has.
run_gpu_specs() {
  local name all left="$not_on_cuda|cuda"
  [ "$build" = "$root/build-gpu/bundle" ] && left="$left|abi|cache|console|newcomer|program|readme"
  all=$(cd "$root/tests/lua" && printf '%s\n' *_spec.lua | sed 's/_spec.lua$//' |
    grep -vxE "$left" | grep -vxF "$(printf '%s\n' $first_specs)")
  for name in ${GPU_SPECS:-$first_specs $all}; do
    specs="tests/lua/${name}_spec.lua" filter_out="#cpu" busted_seconds=120 \
      run_busted "lua, on the GPU, $name" RG_ARCH=cuda RG_ASYNC=off
  done
  specs="tests/lua/gpu_window_spec.lua" filter_out="#ptx" busted_seconds=300 \
    run_busted "lua, ranks on the GPU" RG_GPU_RANKS=device
}

find_gpu() { # says why there is none
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
    [ -f "$spec" ] || continue
    log=$(mktemp)
    if (cd "$root" && RG_ARCH=cuda timeout -k 5 300 "$tool" --error-exitcode 9 luajit "$busted" \
      -o plainTerminal --helper=tests/lua/helper.lua "$spec") >"$log" 2>&1; then
      add 1 0 "compute-sanitizer, $name" "$begin"
    else
      tail -n 30 "$log" >&2
      add 0 1 "compute-sanitizer, $name" "$begin"
    fi
    rm -f "$log"
  done
}

run_gpu_bench() {
  local folder="${GPU_RESULTS:-$root/tests/bench/results}" name begin=$EPOCHREALTIME
  name=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
  mkdir -p "$folder"
  local file="$folder/gpu.md"
  { printf '# On one %s\n\n' "${name:-GPU}"
    printf 'By `tests/run --gpu bench`, %s.\n\n' "$(date -u +%Y-%m-%d)"
    RG_ARCH=cuda luajit "$root/tests/gpu/bench.lua"; } >"$file"
  local status=$?
  cat "$file" >&2
  if [ $status = 0 ]; then add 1 0 "bench, on the GPU" "$begin"; else
    add 0 1 "bench, on the GPU" "$begin"; fi
}

run_gpu() { # PARTS: cuda lua examples sanitizer bench; all if empty
  if [ -z "${RG_BUNDLE:-}" ] && command -v clang-19 >/dev/null; then
    configure_and_build "$build" || exit 1
    export_paths
  else
    use_bundle || { add 0 1 "bundle"; return; }
  fi
  wants "$1" cuda && run_c_tests "$build" cuda
  find_gpu || return 0
  wants "$1" lua && run_gpu_specs
  wants "$1" examples && RG_ARCH=cuda job_examples
  wants "$1" sanitizer && run_compute_sanitizer
  wants "$1" bench && run_gpu_bench
}
