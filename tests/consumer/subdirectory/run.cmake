# Configures the project that takes Taeda in, both ways and for both kinds of library, and asks what its installation has:
# cmake -DSOURCE=.. -DBINARY=.. -DTAEDA=.. -DCOMPILER=.. -P run.cmake

file(REMOVE_RECURSE ${BINARY})
foreach(way add_subdirectory FetchContent)
  foreach(shared OFF ON)
    set(folder ${BINARY}/${way}-${shared})
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${folder} -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
                            -DTAEDA_SOURCE=${TAEDA} -DWAY=${way} -DBUILD_SHARED_LIBS=${shared}
                    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
    # The host's own program is compiled and linked by its own flags, and finds Taeda's headers alone.
    file(STRINGS ${folder}/build.ninja lines REGEX "^build |^  (INCLUDES|LINK_FLAGS) ")
    set(of_host OFF)
    set(seen 0)
    foreach(line IN LISTS lines)
      if(line MATCHES "^build (host:|CMakeFiles/host[.]dir/host)")
        set(of_host ON)
        math(EXPR seen "${seen} + 1")
      elseif(line MATCHES "^build ")
        set(of_host OFF)
      elseif(of_host AND line MATCHES "LINK_FLAGS" AND line MATCHES "-z|-Wl|-f")
        message(FATAL_ERROR "the host's program is linked with${line}")
      elseif(of_host AND "${line} " MATCHES "-I${TAEDA} |-isystem ${TAEDA} ")
        message(FATAL_ERROR "the host sees all of Taeda's sources:${line}")
      endif()
    endforeach()
    if(seen LESS 2)
      message(FATAL_ERROR "build.ninja has no program of the host")
    endif()
    # Nothing is built, so whatever rule there is would fail or install a file.
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${folder} --prefix ${folder}/prefix COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB_RECURSE installed ${folder}/prefix/*)
    if(installed)
      message(FATAL_ERROR "the host installs ${installed}")
    endif()
  endforeach()
endforeach()
