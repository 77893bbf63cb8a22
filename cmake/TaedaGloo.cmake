# The Gloo engine: libtaeda_gloo.so, which libtaeda loads from its own folder when a program first makes a
# process group. It links to libtaeda.

set(found FALSE)
set(missing "Debian package libgloo-dev")
if(TAEDA_GLOO STREQUAL "OFF")
elseif(NOT BUILD_SHARED_LIBS)
  set(missing "a shared libtaeda for the plug-in to link to (BUILD_SHARED_LIBS=ON)")
else()
  find_package(Gloo CONFIG QUIET)
  if(TARGET gloo)
    set(found TRUE)
  endif()
endif()
taeda_decide(TAEDA_WITH_GLOO TAEDA_GLOO ${found} "${missing}")

if(TAEDA_WITH_GLOO)
  file(GLOB gloo_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/distributed/group/gloo/*.cpp)
  add_library(taeda_gloo MODULE ${gloo_sources})
  set_target_properties(taeda_gloo PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib INSTALL_RPATH "$ORIGIN")
  target_link_libraries(taeda_gloo PRIVATE taeda taeda_build_flags gloo Threads::Threads)
  # Sums as fast as Gloo's own; the same bits on every machine.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/taeda/distributed/group/gloo/reduce_functions.cpp
    PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
endif()
