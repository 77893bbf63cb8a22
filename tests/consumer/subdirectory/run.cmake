# Configures the project that takes Taeda in, both ways and for both kinds of library, and asks what its installation has:
# cmake -DSOURCE=.. -DBINARY=.. -DTAEDA=.. -DCOMPILER=.. -P run.cmake

file(REMOVE_RECURSE ${BINARY})
foreach(way add_subdirectory FetchContent)
  foreach(shared OFF ON)
    set(folder ${BINARY}/${way}-${shared})
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${folder} -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
                            -DTAEDA_SOURCE=${TAEDA} -DWAY=${way} -DBUILD_SHARED_LIBS=${shared}
                    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
    # Nothing is built, so whatever rule there is would fail or install a file.
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${folder} --prefix ${folder}/prefix COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB_RECURSE installed ${folder}/prefix/*)
    if(installed)
      message(FATAL_ERROR "the host installs ${installed}")
    endif()
  endforeach()
endforeach()
