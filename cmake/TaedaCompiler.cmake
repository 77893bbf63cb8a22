# Language level, warnings, optimisation, sanitizers, and the fast tools (ccache, mold, lld).

include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# -O3 is for the kernels alone: elsewhere it only makes the code larger.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TAEDA_CCACHE ccache)
  find_program(TAEDA_BASH bash)
  if(TAEDA_CCACHE AND TAEDA_BASH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Knows when what is compiled beside a precompiled header is the same; ccache alone caches nothing of that.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${TAEDA_BASH} ${CMAKE_CURRENT_LIST_DIR}/ccache_launcher ${TAEDA_CCACHE})
  elseif(TAEDA_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${TAEDA_CCACHE})
  endif()
endif()

# The first linker that works, fastest first; the compiler's own where none does.
set(TAEDA_LINKER "AUTO" CACHE STRING "Linker: AUTO, mold, lld, bfd or DEFAULT")
set(taeda_linker "the compiler's own")
if(TAEDA_LINKER STREQUAL "AUTO")
  foreach(linker mold lld)
    check_linker_flag(CXX -fuse-ld=${linker} TAEDA_HAVE_LINKER_${linker})
    if(TAEDA_HAVE_LINKER_${linker})
      set(taeda_linker ${linker})
      add_link_options(-fuse-ld=${linker})
      break()
    endif()
  endforeach()
elseif(NOT TAEDA_LINKER STREQUAL "DEFAULT")
  set(taeda_linker ${TAEDA_LINKER})
  add_link_options(-fuse-ld=${TAEDA_LINKER})
endif()

if(TAEDA_SANITIZE)
  add_compile_options(-fsanitize=${TAEDA_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TAEDA_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # which says so in a way of its own
    foreach(sanitizer address thread)
      if(TAEDA_SANITIZE MATCHES ${sanitizer})
        string(TOUPPER ${sanitizer} macro)
        add_compile_definitions(__SANITIZE_${macro}__)
      endif()
    endforeach()
  endif()
  if(TAEDA_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# What every target of this project is compiled with; not handed on to those who link to it.
add_library(taeda_build_flags INTERFACE)
target_compile_options(taeda_build_flags INTERFACE -Wall -Wextra)
# Errors name a source by its place in the project: what is built is the same in every folder.
target_compile_options(taeda_build_flags
                       INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(TAEDA_WERROR)
  target_compile_options(taeda_build_flags INTERFACE -Werror)
endif()
# GCC goes over all it has allocated each time that this has grown by a third, from 128 MiB on. Most sources end between 300 and
# 700 MiB: to begin later takes a tenth off the time of those that instantiate much, and no source reaches 1.1 GiB.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(taeda_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
endif()

# What the library's own sources add. Calls inside the library need no indirection, and thread-local
# variables are found in two instructions; their total size is limited by a test, so that the library
# can still be loaded by a running program.
add_library(taeda_library_flags INTERFACE)
target_compile_options(taeda_library_flags INTERFACE -fno-semantic-interposition
                                                     -ftls-model=initial-exec)
