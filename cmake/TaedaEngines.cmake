# Engines of taeda/distributed and taeda/rpc: libtaeda_<name>.so, which libtaeda loads from its own folder when a
# program first asks for what they do. They link to libtaeda.

# taeda_add_engine(name SOURCES ... LIBRARIES ...)
function(taeda_add_engine name)
  cmake_parse_arguments(PARSE_ARGV 1 engine "" "" "SOURCES;LIBRARIES")
  add_library(taeda_${name} MODULE ${engine_SOURCES})
  set_target_properties(taeda_${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib INSTALL_RPATH "$ORIGIN")
  target_link_libraries(taeda_${name} PRIVATE taeda taeda_build_flags taeda_hardening
                        taeda_stack_protector taeda_checked_containers ${engine_LIBRARIES} Threads::Threads)
endfunction()

# Process groups over TCP.
if(TAEDA_WITH_GLOO)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/distributed/group/gloo/*.cpp)
  taeda_add_engine(gloo SOURCES ${sources} LIBRARIES gloo)
  # A header that Gloo's own need and its installation lacks; where it is there, it comes first.
  target_compile_options(taeda_gloo PRIVATE -idirafter ${PROJECT_SOURCE_DIR}/taeda/distributed/group/gloo/missing)
endif()

# Process groups over whatever MPI was built for.
if(TAEDA_WITH_MPI)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/distributed/group/mpi/*.cpp)
  taeda_add_engine(mpi SOURCES ${sources} LIBRARIES MPI::MPI_CXX)
endif()

# Process groups of CUDA tensors.
if(TAEDA_WITH_NCCL)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/distributed/group/nccl/*.cpp)
  taeda_add_engine(nccl SOURCES ${sources} LIBRARIES ${CMAKE_DL_LIBS})
  target_include_directories(taeda_nccl SYSTEM PRIVATE ${NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
endif()

include(TaedaGrpc)
