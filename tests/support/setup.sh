# setup.sh - what examples/run and tests/run share: install what is missing, configure, build.
# Sourced with `root` set to the top of the source tree.

build="${RG_BUILD:-$root/build}"
packages="build-essential clang-19 llvm-19-dev lld-19 libclang-rt-19-dev luajit \
libluajit-5.1-dev libpng-dev libzstd-dev zlib1g-dev cmake ninja-build pkg-config"
# file: cpack calls it for each library
test_packages="lua-busted lua-check lcov clang-tidy-19 clang-format-19 file"
# Used by some tests, which are skipped without it: installing it may fail.
# for windows: SDL2, controls, and windows in a browser
window_packages="libsdl2-2.0-0 libimgui-dev libmicrohttpd12"
# opened by the toolbox: SuiteSparse (slow with Debian's plain BLAS), ARPACK, FFTW
library_packages="libcholmod3 libumfpack5 libopenblas0-serial libarpack2 libfftw3-single3 \
libfftw3-double3"
optional_packages="openmpi-bin libopenmpi-dev $window_packages xvfb xdotool ffmpeg openexr love \
libopenvdb-tools lua-ldoc cmark-gfm libegl1 libgl1 libgl1-mesa-dri libfreetype6 libfontconfig1 \
fonts-dejavu-core libjavascriptcoregtk-4.0-bin $library_packages"

say() { printf '%s\n' "$*" >&2; }

# Prints those of the named Debian packages that are not installed.
missing_of() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" = "install ok installed" ] ||
      printf ' %s' "$package"
  done
}

# Prints the prefix of a command that needs root, such as sudo; nothing if we are root.
as_root() { [ "$(id -u)" = 0 ] || printf sudo; }

# apt_install [OPTION ..] PACKAGE ..
apt_install() {
  DEBIAN_FRONTEND=noninteractive $(as_root) apt-get install -y -q --no-install-recommends "$@" \
    >/dev/null
}

# Installs those of the named packages that are missing; asks sudo only if not root.
install_missing() {
  local missing
  missing=$(missing_of "$@")
  [ -z "$missing" ] && return 0
  say "installing:$missing"
  $(as_root) apt-get update -q >/dev/null && apt_install $missing || {
    say "these Debian packages could not be installed:$missing"
    say "install them by hand (Debian 12, 'main' alone is enough) and run this again"
    return 1
  }
}

# Likewise, if the download takes at most three minutes; dpkg itself is never interrupted.
install_optional() {
  local missing
  missing=$(missing_of "$@")
  [ -z "$missing" ] && return 0
  export -f apt_install as_root
  timeout 180 bash -c "$(as_root) apt-get update -q && apt_install --download-only $missing" \
    >/dev/null 2>&1 && apt_install $missing 2>/dev/null ||
    say "not installed, and what needs them is skipped:$missing"
}

# CMake's files contain the paths of both folders, which differ after a clone was moved.
is_configured_here() { # FOLDER
  local source folder
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$1/CMakeCache.txt")
  folder=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$1/CMakeCache.txt")
  [ "$source" -ef "$root" ] && [ "$folder" -ef "$1" ]
}

# configure_and_build FOLDER [CMAKE OPTION ..]: quick if nothing changed. `targets` has the targets
# to build; all if empty.
configure_and_build() {
  local folder="$1"
  shift
  if [ -f "$folder/CMakeCache.txt" ] && ! is_configured_here "$folder"; then
    say "$folder was configured elsewhere, or for another source tree: configuring anew"
    rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles" "$folder/build.ninja"
  fi
  if [ ! -f "$folder/build.ninja" ]; then
    say "configuring in $folder"
    cmake -S "$root" -B "$folder" -G Ninja "$@" >"$folder.configure.log" 2>&1 || {
      mkdir -p "$folder"
      cat "$folder.configure.log" >&2
      rm -f "$folder/build.ninja"
      return 1
    }
    rm -f "$folder.configure.log"
    say "building (once; a minute or less)"
  fi
  local log="$folder/build.log"
  ninja -C "$folder" ${targets:-} >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    say "the build failed; all of its output is in $log"
    return 1
  }
  # programs of tests that no longer exist; every program found there is run
  ninja -C "$folder" -t cleandead >/dev/null
}

# Sets the variables by which a script finds the module and the library of this tree.
export_paths() {
  export LUA_PATH="$root/lua/?.lua;$root/lua/?/init.lua;;"
  export RG_LIBRARY="$build/libregolith.so"
}
