# CPack adds up Installed-Size with each symbolic link as the file that it leads to: it is written
# again, as dpkg-gencontrol computes it.
foreach(DEB ${CPACK_PACKAGE_FILES})
  set(FOLDER ${CPACK_TOPLEVEL_DIRECTORY}/size)
  file(REMOVE_RECURSE ${FOLDER})
  execute_process(COMMAND dpkg-deb -R ${DEB} ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND du -k -s --apparent-size --exclude=DEBIAN ${FOLDER}
    OUTPUT_VARIABLE SAID COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[0-9]+" KIB "${SAID}")
  file(READ ${FOLDER}/DEBIAN/control CONTROL)
  string(REGEX REPLACE "Installed-Size: *[0-9]+" "Installed-Size: ${KIB}" CONTROL "${CONTROL}")
  file(WRITE ${FOLDER}/DEBIAN/control "${CONTROL}")
  set(TYPE ${CPACK_DEBIAN_COMPRESSION_TYPE})
  if(NOT TYPE)
    set(TYPE xz)
  endif()
  execute_process(COMMAND dpkg-deb --root-owner-group -Z${TYPE} -b ${FOLDER} ${DEB} OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${FOLDER})
endforeach()
