# What can be chosen. A component is AUTO (built when its packages are found), ON (configuring fails
# with the package's name when they are not) or OFF.

function(taeda_component name default help)
  set(${name} ${default} CACHE STRING "${help} (AUTO, ON or OFF)")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
endfunction()

option(BUILD_SHARED_LIBS "Build libtaeda as a shared library" ON)
option(TAEDA_BENCHMARKS "Build the programs in benchmarks/" OFF)
option(TAEDA_EXAMPLES "Build the programs in examples/" OFF)
option(TAEDA_CUDA_EMULATOR "Build the CUDA backend for the host, to test its kernels without a GPU" OFF)
option(TAEDA_UNITY "Translate several sources at once: quick clean builds, slow small ones" OFF)
option(TAEDA_WERROR "Treat warnings as errors" OFF)
set(TAEDA_SANITIZE "" CACHE STRING "Sanitizers for all code: address, undefined, thread; comma-separated")

if(PROJECT_IS_TOP_LEVEL)
  taeda_component(TAEDA_TESTS AUTO "Build the tests; needs GoogleTest")
else()
  taeda_component(TAEDA_TESTS OFF "Build the tests; needs GoogleTest")
endif()
taeda_component(TAEDA_TOOL AUTO "Build the taeda command; needs CLI11 and nlohmann-json")
taeda_component(TAEDA_ONEDNN AUTO "Convolution and matrix products through oneDNN")
taeda_component(TAEDA_ZLIB AUTO "Read gzip-compressed data files")
taeda_component(TAEDA_ZIP AUTO "Read .npz and PyTorch's .pt files, write .npz; needs libzip")
taeda_component(TAEDA_JSON AUTO "Read and write safetensors files and run records")
taeda_component(TAEDA_PNG AUTO "Read and write PNG files")
taeda_component(TAEDA_JPEG AUTO "Read and write JPEG files")
taeda_component(TAEDA_TENSORBOARD AUTO "Write event files for TensorBoard; needs Protocol Buffers")
taeda_component(TAEDA_CUDA AUTO "Build the CUDA backend, a plug-in library of its own")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
