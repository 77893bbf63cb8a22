# The CUDA backend: libtaeda_cuda.so, which libtaeda loads from its own folder when a program first asks
# for `cuda`. It links to libtaeda. Its kernels take long to translate, so AUTO builds it where there is a GPU alone.

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/cuda/*.cpp
                                         ${PROJECT_SOURCE_DIR}/taeda/cuda/kernels/*.cu)
set(found FALSE)
set(missing "a CUDA toolkit")
if(TAEDA_CUDA STREQUAL "OFF")
elseif(NOT cuda_sources)
  set(missing "the sources in taeda/cuda")
elseif(NOT BUILD_SHARED_LIBS)
  set(missing "a shared libtaeda for the plug-in to link to (BUILD_SHARED_LIBS=ON)")
else()
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
    set(found TRUE)
  endif()
endif()
set(left_out "")
if(NOT TAEDA_GPU_HERE)
  set(left_out "no GPU here (TAEDA_CUDA=ON builds it all the same)")
endif()
taeda_decide(TAEDA_WITH_CUDA TAEDA_CUDA ${found} "${missing}" ${left_out})

if(TAEDA_WITH_CUDA)
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Ampere, Hopper, Blackwell of data centres and of desks; what comes later translates the last.
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90a-real;100-real;120" CACHE STRING
        "Compute capabilities to build CUDA kernels for, 75 and newer")
  endif()
  if(NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  enable_language(CUDA)

  add_library(taeda_cuda MODULE ${cuda_sources})
  set_target_properties(taeda_cuda PROPERTIES
    CUDA_STANDARD_REQUIRED OFF
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib INSTALL_RPATH "$ORIGIN")
  target_compile_options(taeda_cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>
    # CMake learns the flag of a dialect only when the language is enabled at the top level. The
    # diagnostics are about templates: x < 0 of an unsigned x, and lambdas that are called by type.
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --extended-lambda --expt-relaxed-constexpr --diag-suppress=445,186
                                  -Xcompiler=-Wall>)
  target_link_libraries(taeda_cuda PRIVATE taeda CUDA::cudart_static Threads::Threads
                                           ${CMAKE_DL_LIBS})
endif()
