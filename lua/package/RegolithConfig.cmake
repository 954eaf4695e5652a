# find_package(Regolith): the target Regolith::regolith.
include(${CMAKE_CURRENT_LIST_DIR}/RegolithTargets.cmake)
