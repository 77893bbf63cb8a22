# Builds a project outside the tree against an installation, runs it, and compares what it prints:
# cmake -DKIND=find_package|moved|torch|pkgconfig|device_plugin -DPREFIX=.. -DSOURCE=.. -DBINARY=.. -DEXPECT=..
#       -DCOMPILER=.. [-DPKG_CONFIG=..] -P run.cmake

file(REMOVE_RECURSE ${BINARY})
file(MAKE_DIRECTORY ${BINARY})

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${BINARY} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(KIND STREQUAL "pkgconfig")
  file(GLOB_RECURSE pc ${PREFIX}/*/taeda.pc)
  get_filename_component(folder ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs taeda OUTPUT_VARIABLE flags
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PKG_CONFIG} --variable=libdir taeda OUTPUT_VARIABLE libdir
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${COMPILER} ${SOURCE}/consumer.cpp ${flags} -Wl,-rpath,${libdir} -o consumer)
  set(program ${BINARY}/consumer)
elseif(KIND STREQUAL "torch")
  run(${CMAKE_COMMAND} -S ${SOURCE}/torch -B . -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_PREFIX_PATH=${PREFIX}/share/taeda/compat)
  run(${CMAKE_COMMAND} --build .)
  set(program ${BINARY}/example-app)
elseif(KIND STREQUAL "device_plugin")
  run(${CMAKE_COMMAND} -S ${SOURCE}/device_plugin -B . -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_PREFIX_PATH=${PREFIX})
  run(${CMAKE_COMMAND} --build .)
  set(ENV{TAEDA_PLUGIN_PATH} /nowhere:${BINARY}:${BINARY}/example)
  set(program ${BINARY}/check)
else()
  if(KIND STREQUAL "moved")
    execute_process(COMMAND cp -rl ${PREFIX} ${BINARY}/elsewhere COMMAND_ERROR_IS_FATAL ANY)
    set(PREFIX ${BINARY}/elsewhere)
  endif()
  run(${CMAKE_COMMAND} -S ${SOURCE}/find_package -B . -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_PREFIX_PATH=${PREFIX})
  run(${CMAKE_COMMAND} --build .)
  set(program ${BINARY}/consumer)
endif()

if(KIND STREQUAL "moved")
  execute_process(COMMAND ldd ${program} OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
  if(NOT libraries MATCHES "=> ${BINARY}/elsewhere/[^ ]*libtaeda")
    message(FATAL_ERROR "the program does not use the library that was moved:\n${libraries}")
  endif()
endif()
execute_process(COMMAND ${program} OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL EXPECT)
  message(FATAL_ERROR "printed \"${output}\", expected \"${EXPECT}\"")
endif()
