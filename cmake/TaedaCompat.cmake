# The headers that programs written for libtorch include by name. What there is stands in include/compat; each name
# in compat_headers.txt is made here and leads to <torch/torch.h>, so that none is found in a libtorch of the system.

set(TAEDA_COMPAT_FORWARDED ${PROJECT_BINARY_DIR}/compat/include)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/compat_headers.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/compat_headers.txt names)

# A name that was taken from the list must not be found any longer.
file(GLOB_RECURSE present RELATIVE ${TAEDA_COMPAT_FORWARDED} ${TAEDA_COMPAT_FORWARDED}/*.h)
foreach(name ${present})
  if(NOT name IN_LIST names)
    file(REMOVE ${TAEDA_COMPAT_FORWARDED}/${name})
  endif()
endforeach()
foreach(name ${names})
  file(CONFIGURE OUTPUT ${TAEDA_COMPAT_FORWARDED}/${name}
       CONTENT "// libtorch's header of this name; see torch/torch.h.\n#pragma once\n\n#include <torch/torch.h>\n")
endforeach()

# Its option classes (tools/libtorch/builders.py), and what its namespaces hold, name by name (namespaces.py says why).
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/*.h ${PROJECT_SOURCE_DIR}/include/compat/*.h)
set(namespaces ${TAEDA_GENERATED}/taeda/generated/compat/namespaces.h)
set(builders ${TAEDA_GENERATED}/taeda/generated/compat/options.h)
add_custom_command(
  OUTPUT ${TAEDA_GENERATED}/named
  BYPRODUCTS ${namespaces} ${builders}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/libtorch/builders.py ${PROJECT_SOURCE_DIR} ${builders}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/libtorch/namespaces.py
          ${PROJECT_SOURCE_DIR} ${TAEDA_GENERATED} ${namespaces}
  COMMAND ${CMAKE_COMMAND} -E touch ${TAEDA_GENERATED}/named
  DEPENDS ${headers} ${TAEDA_GENERATED}/made ${PROJECT_SOURCE_DIR}/tools/libtorch/namespaces.py
          ${PROJECT_SOURCE_DIR}/tools/libtorch/builders.py
  COMMENT "Naming what programs written for libtorch find"
  VERBATIM)
add_custom_target(taeda_namespaces DEPENDS ${TAEDA_GENERATED}/named)
add_dependencies(taeda taeda_namespaces)

add_library(taeda_compat INTERFACE)
add_library(Taeda::compat ALIAS taeda_compat)
set_target_properties(taeda_compat PROPERTIES EXPORT_NAME compat)
target_include_directories(taeda_compat INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat> $<BUILD_INTERFACE:${TAEDA_COMPAT_FORWARDED}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_DATADIR}/taeda/compat/include>)
target_link_libraries(taeda_compat INTERFACE taeda)
