# Writes OUT: RG_BUILD_ID, a hash of what both libraries must agree on, given as INPUTS (a list of
# files) and LLVM (its version).
cmake_minimum_required(VERSION 3.25)
set(sum "${LLVM}")
foreach(file ${INPUTS})
  file(SHA256 ${file} one)
  string(APPEND sum ${one})
endforeach()
string(SHA256 id "${sum}")
string(SUBSTRING ${id} 0 32 id)
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define RG_BUILD_ID \"@id@\"\n" @ONLY)
