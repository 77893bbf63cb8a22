# Packages that the build uses. A component whose package is missing is left out, and the summary
# says so.

set(taeda_summary "" CACHE INTERNAL "")

# Notes whether a component is built, and stops when it was asked for and cannot be.
function(taeda_decide variable component found package)
  set(enabled FALSE)
  if(NOT ${component} STREQUAL "OFF" AND found)
    set(enabled TRUE)
    set(text "yes")
  elseif(${component} STREQUAL "OFF")
    set(text "no (${component}=OFF)")
  elseif(${component} STREQUAL "AUTO")
    set(text "no, not found (needs ${package})")
  else()
    message(FATAL_ERROR "${component}=${${component}}, but what it needs was not found "
                        "(needs ${package})")
  endif()
  set(${variable} ${enabled} PARENT_SCOPE)
  string(REPLACE "TAEDA_" "" label ${component})
  set(taeda_summary ${taeda_summary} "${label}: ${text}" CACHE INTERNAL "")
endfunction()

function(taeda_print_summary)
  list(JOIN TAEDA_CPU_LEVELS ", " levels)
  message(STATUS "Taeda ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, linker: ${taeda_linker}, "
                 "CPU kernels: ${levels}")
  foreach(line ${taeda_summary})
    message(STATUS "  ${line}")
  endforeach()
endfunction()

set(CMAKE_THREAD_PREFER_PTHREAD ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

if(NOT TAEDA_ONEDNN STREQUAL "OFF")
  find_package(OneDNN MODULE QUIET)
endif()
taeda_decide(TAEDA_WITH_ONEDNN TAEDA_ONEDNN "${OneDNN_FOUND}" "Debian package libdnnl-dev")

if(NOT TAEDA_ZLIB STREQUAL "OFF")
  find_package(ZLIB QUIET)
endif()
taeda_decide(TAEDA_WITH_ZLIB TAEDA_ZLIB "${ZLIB_FOUND}" "Debian package zlib1g-dev")

# Debian's package file of libzip wants its command-line programs, which nothing here needs.
if(NOT TAEDA_ZIP STREQUAL "OFF")
  find_path(ZIP_INCLUDE_DIR zip.h)
  find_library(ZIP_LIBRARY zip)
endif()
set(found FALSE)
if(ZIP_INCLUDE_DIR AND ZIP_LIBRARY)
  set(found TRUE)
endif()
taeda_decide(TAEDA_WITH_ZIP TAEDA_ZIP ${found} "Debian package libzip-dev")

if(NOT TAEDA_PNG STREQUAL "OFF")
  find_package(PNG QUIET)
endif()
taeda_decide(TAEDA_WITH_PNG TAEDA_PNG "${PNG_FOUND}" "Debian package libpng-dev")

if(NOT TAEDA_JPEG STREQUAL "OFF")
  find_package(JPEG QUIET)
endif()
taeda_decide(TAEDA_WITH_JPEG TAEDA_JPEG "${JPEG_FOUND}" "Debian package libjpeg62-turbo-dev")

if(NOT TAEDA_TENSORBOARD STREQUAL "OFF")
  find_package(Protobuf QUIET)
endif()
set(found FALSE)
if(TARGET protobuf::libprotobuf-lite AND TARGET protobuf::protoc)
  set(found TRUE)
endif()
taeda_decide(TAEDA_WITH_TENSORBOARD TAEDA_TENSORBOARD ${found}
             "Debian packages libprotobuf-dev, protobuf-compiler")

if(NOT TAEDA_JSON STREQUAL "OFF")
  find_package(nlohmann_json CONFIG QUIET)
endif()
taeda_decide(TAEDA_WITH_JSON TAEDA_JSON "${nlohmann_json_FOUND}"
             "Debian package nlohmann-json3-dev")

set(found FALSE)
if(NOT TAEDA_TOOL STREQUAL "OFF")
  find_package(CLI11 CONFIG QUIET)
  if(CLI11_FOUND AND TAEDA_WITH_JSON)
    set(found TRUE)
  endif()
endif()
taeda_decide(TAEDA_WITH_TOOL TAEDA_TOOL ${found} "Debian packages libcli11-dev, nlohmann-json3-dev")

set(found FALSE)
if(NOT TAEDA_TESTS STREQUAL "OFF")
  find_package(GTest CONFIG QUIET)
  if(TARGET GTest::gmock)
    set(found TRUE)
  endif()
endif()
taeda_decide(TAEDA_WITH_TESTS TAEDA_TESTS ${found} "Debian packages libgtest-dev, libgmock-dev")
