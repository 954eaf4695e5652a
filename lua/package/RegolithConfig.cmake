# find_package(Regolith): the target Regolith::regolith; Regolith::player, the library without a
# compiler, for programs that run modules; Regolith::static, for programs that modules are linked
# into; and Regolith::program, which builds them.
include(${CMAKE_CURRENT_LIST_DIR}/RegolithTargets.cmake)
get_filename_component(rg_prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
function(rg_import name kind file)
  find_file(RG_FILE_${name} ${file} PATHS ${rg_prefix} PATH_SUFFIXES bin lib libexec/regolith-player
    NO_DEFAULT_PATH)
  if(NOT RG_FILE_${name} OR TARGET Regolith::${name})
    return()
  endif()
  if(kind STREQUAL EXECUTABLE)
    add_executable(Regolith::${name} IMPORTED)
  else()
    add_library(Regolith::${name} ${kind} IMPORTED)
    set_target_properties(Regolith::${name} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES ${rg_prefix}/include)
  endif()
  set_target_properties(Regolith::${name} PROPERTIES IMPORTED_LOCATION ${RG_FILE_${name}})
endfunction()
rg_import(program EXECUTABLE regolith)
rg_import(player SHARED libregolith.so.1.0.0)
rg_import(static STATIC libregolith.a)
if(TARGET Regolith::static)
  set_target_properties(Regolith::static PROPERTIES INTERFACE_LINK_LIBRARIES "m;pthread;dl")
endif()
