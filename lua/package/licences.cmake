# Writes OUT: the licences of what libregolith-codegen.so holds besides our own code, as in Debian's
# packages.
# Whoever hands the library on hands this text on with it.
set(places
  "LLVM" /usr/share/doc/llvm-19-dev/copyright
  "the Apache License, Version 2.0, under which LLVM is" /usr/share/common-licenses/Apache-2.0
  "Zstandard" /usr/share/doc/libzstd-dev/copyright
  "zlib" /usr/share/doc/zlib1g-dev/copyright)
set(text "libregolith-codegen.so holds, linked into it, LLVM (Apache License 2.0 with LLVM
Exceptions), Zstandard (BSD 3-clause), zlib (zlib licence), and GCC's libstdc++ and libgcc (GPL 3
with the GCC Runtime Library Exception, which asks for nothing more). Regolith itself is under the
MIT licence: see `copyright`.\n")
while(places)
  list(POP_FRONT places what file)
  if(EXISTS ${file})
    file(READ ${file} said)
    string(REPEAT "=" 100 line)
    string(APPEND text "\n${line}\n${what}\n${line}\n\n${said}")
  else()
    message(WARNING "${file} is missing: what is installed will lack the licence of ${what}")
  endif()
endwhile()
file(WRITE ${OUT} "${text}")
