# What a Debian package has compressed, where the rest of its files stand and before it is packed.
set(SHARE ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/changelog DESTINATION ${SHARE}/doc/regolith)
foreach(NAME man/man1/regolith.1 doc/regolith/changelog)
  execute_process(COMMAND gzip -9n ${SHARE}/${NAME} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
