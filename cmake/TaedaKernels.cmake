# CPU kernels: every source in taeda/cpu/kernels is compiled once per instruction set ("level"), each
# time into a namespace of its own, taeda::cpu::baseline, ::avx2 or ::avx512.

set(TAEDA_CPU_LEVELS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_compiler_flag(-march=x86-64-v3 TAEDA_HAVE_X86_64_V3)
  check_cxx_compiler_flag(-march=x86-64-v4 TAEDA_HAVE_X86_64_V4)
  if(TAEDA_HAVE_X86_64_V3)
    list(APPEND TAEDA_CPU_LEVELS avx2)
  endif()
  if(TAEDA_HAVE_X86_64_V4)
    list(APPEND TAEDA_CPU_LEVELS avx512)
  endif()
endif()
set(TAEDA_CPU_LEVELS ${TAEDA_CPU_LEVELS} CACHE INTERNAL "Instruction sets that CPU kernels are built for")

set(TAEDA_CPU_FLAGS_baseline "")
set(TAEDA_CPU_FLAGS_avx2 -march=x86-64-v3)
set(TAEDA_CPU_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)

# Floating-point flags that let loops vectorise. None of them changes the order of additions, so
# results do not depend on the number of threads.
set(TAEDA_KERNEL_FLAGS -fno-math-errno -fno-trapping-math -ffp-contract=fast)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  list(APPEND TAEDA_KERNEL_FLAGS -O3)
endif()

# Compiles the kernels for every level and puts the objects into `target`. Sources of taeda/cpu learn
# from TAEDA_HAS_AVX2 and TAEDA_HAS_AVX512 which levels there are.
function(taeda_add_cpu_kernels target)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/cpu/kernels/*.cpp)
  foreach(level ${TAEDA_CPU_LEVELS})
    string(TOUPPER ${level} upper)
    if(NOT level STREQUAL "baseline")
      target_compile_definitions(${target} PRIVATE TAEDA_HAS_${upper})
    endif()
    if(kernels)
      set(objects taeda_kernels_${level})
      add_library(${objects} OBJECT ${kernels})
      set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR})
      target_link_libraries(${objects} PRIVATE taeda_build_flags OpenMP::OpenMP_CXX)
      target_compile_definitions(${objects} PRIVATE TAEDA_CPU_NAMESPACE=${level})
      target_compile_options(${objects} PRIVATE ${TAEDA_KERNEL_FLAGS} ${TAEDA_CPU_FLAGS_${level}})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
  endforeach()
endfunction()
