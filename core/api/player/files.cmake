# player_files(ROOT OUT ROOM ..): the files of rooms that are part of a player library, which runs
# modules and compiles nothing (api/CMakeLists.txt, windows/CMakeLists.txt): without GPUs, what
# prints IR, and what builds modules. In their place is absent.c.
function(player_files root out)
  set(files)
  foreach(room ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${root}/core/${room}/*.c ${root}/core/${room}/*/*.c)
    list(APPEND files ${found})
  endforeach()
  list(FILTER files EXCLUDE REGEX "/device/cuda/|/mpi_plugin.c$|/ir/print.c$|/player/absent_")
  list(FILTER files EXCLUDE REGEX "/module/(archive|header|linkable|save).c$")
  set(${out} ${files} PARENT_SCOPE)
endfunction()
