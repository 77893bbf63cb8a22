# CPU kernels: every source in taeda/cpu/kernels is compiled once per instruction set ("level"), each
# time into a namespace of its own, taeda::cpu::baseline, ::avx2 or ::avx512.

set(TAEDA_CPU_KERNELS AUTO CACHE STRING
    "CPU kernels besides the baseline: AUTO for all the compiler knows, a list of avx2 and avx512, NONE; NATIVE: those of this machine alone")
set(TAEDA_CPU_LEVELS baseline)
set(TAEDA_CPU_FLAGS_baseline "")
set(TAEDA_CPU_FLAGS_avx2 -march=x86-64-v3 -fno-gnu-unique)
set(TAEDA_CPU_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512 -fno-gnu-unique)

# Those of TAEDA_CPU_LEVELS that the processor of this machine has, best first; none where that cannot be known.
function(taeda_machine_levels variable)
  set(${variable} "" PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  try_run(TAEDA_MACHINE_LEVELS_STATUS TAEDA_MACHINE_LEVELS_COMPILED ${PROJECT_BINARY_DIR}/machine_levels ${PROJECT_SOURCE_DIR}/cmake/machine_levels.cpp
          CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR} RUN_OUTPUT_VARIABLE levels)
  if(TAEDA_MACHINE_LEVELS_COMPILED AND TAEDA_MACHINE_LEVELS_STATUS EQUAL 0)
    string(REPLACE ";" "|" known "${TAEDA_CPU_LEVELS}")
    list(FILTER levels INCLUDE REGEX "^(${known})$")
    set(${variable} ${levels} PARENT_SCOPE)
  endif()
endfunction()

# Levels above the baseline need GNU ld and objcopy to be kept apart: see IsolateKernels.cmake. Their
# data is weak rather than "unique", so that it can merge with the rest of the library's.
find_program(TAEDA_BFD_LINKER NAMES ld.bfd ld)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND TAEDA_BFD_LINKER AND CMAKE_OBJCOPY
   AND CMAKE_READELF)
  execute_process(COMMAND ${TAEDA_BFD_LINKER} --help OUTPUT_VARIABLE help ERROR_QUIET)
  check_cxx_compiler_flag("-march=x86-64-v3 -fno-gnu-unique" TAEDA_HAVE_X86_64_V3)
  check_cxx_compiler_flag("-march=x86-64-v4 -fno-gnu-unique" TAEDA_HAVE_X86_64_V4)
  if(help MATCHES "--force-group-allocation")
    if(TAEDA_HAVE_X86_64_V3 AND TAEDA_CPU_KERNELS MATCHES "AUTO|NATIVE|avx2")
      list(APPEND TAEDA_CPU_LEVELS avx2)
    endif()
    if(TAEDA_HAVE_X86_64_V4 AND TAEDA_CPU_KERNELS MATCHES "AUTO|NATIVE|avx512")
      list(APPEND TAEDA_CPU_LEVELS avx512)
    endif()
  endif()
endif()

# NATIVE is for whoever runs on this machine what was built on it: of the levels above, the best that it has, and no other.
# Packages are not built so. A library without the baseline says on a lesser machine what it lacks (cpu/capability.h).
taeda_machine_levels(TAEDA_MACHINE_LEVELS)
if(TAEDA_CPU_KERNELS STREQUAL "NATIVE" AND TAEDA_MACHINE_LEVELS)
  list(GET TAEDA_MACHINE_LEVELS 0 TAEDA_CPU_LEVELS)
endif()
set(TAEDA_MACHINE_LEVELS ${TAEDA_MACHINE_LEVELS} CACHE INTERNAL "Levels that this machine runs, best first")
set(TAEDA_CPU_LEVELS ${TAEDA_CPU_LEVELS} CACHE INTERNAL "Levels that the CPU kernels are built for")

# Floating-point flags that let loops vectorise. None of them changes the order of additions, so
# results do not depend on the number of threads.
set(TAEDA_KERNEL_FLAGS -fno-math-errno -fno-trapping-math -ffp-contract=fast)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  # A quick build's loops are vectorised alike, but not split, peeled or copied: a third less to wait for. Kernels that hardly
  # a training step calls are not vectorised there, which takes a third off again.
  if(TAEDA_QUICK_BUILD)
    list(APPEND TAEDA_KERNEL_FLAGS -O2 -ftree-vectorize -fvect-cost-model=dynamic)
    set(TAEDA_RARE_KERNELS compare|complex|fft|grid_sample|index|join|random|resample|scan|select|sort|special)
    set(TAEDA_RARE_KERNEL_FLAGS -O1 -fno-tree-vectorize)
  else()
    list(APPEND TAEDA_KERNEL_FLAGS -O3)
  endif()
  # Where there are others, the baseline is for machines from before 2013: half the build time counts
  # for more than its speed.
  if(NOT TAEDA_CPU_LEVELS STREQUAL "baseline")
    set(TAEDA_CPU_FLAGS_baseline -O2)
  endif()
endif()

# Compiles the kernels for every level and puts the objects into the targets. The library's sources learn from
# TAEDA_HAS_BASELINE, TAEDA_HAS_AVX2 and TAEDA_HAS_AVX512 which levels there are.
function(taeda_add_cpu_kernels)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/cpu/kernels/*.cpp)
  foreach(level ${TAEDA_CPU_LEVELS})
    string(TOUPPER ${level} upper)
    set_property(SOURCE cpu/capability.cpp cpu/register.cpp APPEND PROPERTY COMPILE_DEFINITIONS TAEDA_HAS_${upper})
    if(kernels)
      taeda_add_kernel_level("${ARGN}" ${level} "${kernels}")
    endif()
  endforeach()
endfunction()

function(taeda_add_kernel_level targets level kernels)
  set(objects taeda_kernels_${level})
  add_library(${objects} OBJECT ${kernels})
  if(TAEDA_RARE_KERNELS)
    set(rare ${kernels})
    list(FILTER rare INCLUDE REGEX "/(pointwise_)?(${TAEDA_RARE_KERNELS})(_[a-z]+)?[.]cpp$")
    set_property(SOURCE ${rare} PROPERTY COMPILE_OPTIONS ${TAEDA_RARE_KERNEL_FLAGS})
  endif()
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR} ${TAEDA_GENERATED})
  add_dependencies(${objects} taeda_operations)
  target_link_libraries(${objects} PRIVATE taeda_build_flags taeda_library_flags OpenMP::OpenMP_CXX)
  target_compile_definitions(${objects} PRIVATE TAEDA_CPU_NAMESPACE=${level})
  target_compile_options(${objects} PRIVATE ${TAEDA_KERNEL_FLAGS} ${TAEDA_CPU_FLAGS_${level}})
  target_precompile_headers(${objects} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/library_pch.h)
  # The precompiled header counts as an object in CMake.
  set(compiled $<FILTER:$<TARGET_OBJECTS:${objects}>,EXCLUDE,[.]gch$>)
  if(level STREQUAL "baseline")
    foreach(target ${targets})
      target_sources(${target} PRIVATE ${compiled})
    endforeach()
    return()
  endif()

  set(isolated ${CMAKE_CURRENT_BINARY_DIR}/kernels_${level}.o)
  set(script ${PROJECT_SOURCE_DIR}/cmake/IsolateKernels.cmake)
  add_custom_command(
    OUTPUT ${isolated}
    COMMAND ${CMAKE_COMMAND} "-DOBJECTS=$<JOIN:${compiled},$<SEMICOLON>>"
            -DOUTPUT=${isolated} -DLEVEL=${level} -DLD=${TAEDA_BFD_LINKER}
            -DREADELF=${CMAKE_READELF} -DOBJCOPY=${CMAKE_OBJCOPY} -P ${script}
    DEPENDS ${compiled} ${script}
    COMMENT "Isolating the ${level} kernels"
    VERBATIM)
  set_source_files_properties(${isolated} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_custom_target(taeda_isolated_${level} DEPENDS ${isolated})  # made once for all targets
  foreach(target ${targets})
    target_sources(${target} PRIVATE ${isolated})
    add_dependencies(${target} taeda_isolated_${level})
  endforeach()
endfunction()
