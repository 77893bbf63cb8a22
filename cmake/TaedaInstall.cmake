# cmake --install: the library, its headers, the CMake packages Taeda and (for libtorch's programs,
# below <prefix>/share/taeda/compat) Torch, and taeda.pc. The components are what cmake/TaedaPackages.cmake
# makes packages of: runtime, distributed, mpi, cuda, development, tool.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Taeda)
set(compat_dir ${CMAKE_INSTALL_DATADIR}/taeda/compat)
set(torch_dir ${compat_dir}/share/cmake/Torch)

install(TARGETS taeda taeda_compat EXPORT TaedaTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(pair cuda=cuda nccl=cuda gloo=distributed grpc=distributed rpc=distributed mpi=mpi)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 plugin)
  list(GET pair 1 component)
  if(TARGET taeda_${plugin})
    install(TARGETS taeda_${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  endif()
endforeach()

# What follows is for those who build programs.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(EXPORT TaedaTargets NAMESPACE Taeda:: DESTINATION ${package_dir})

# Nothing public includes the headers of a backend or an engine.
set(left_out)
if(NOT TAEDA_WITH_RPC)
  set(left_out PATTERN rpc EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/taeda DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
        PATTERN cpu EXCLUDE PATTERN cuda EXCLUDE PATTERN grpc EXCLUDE PATTERN gloo EXCLUDE PATTERN mpi EXCLUDE
        PATTERN nccl EXCLUDE ${left_out})
install(DIRECTORY ${TAEDA_GENERATED}/taeda DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${TAEDA_GENERATED_TEXTS} DESTINATION ${CMAKE_INSTALL_DATADIR}/taeda)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/compat/ ${TAEDA_COMPAT_FORWARDED}/ DESTINATION ${compat_dir}/include
        FILES_MATCHING PATTERN "*.h")

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TaedaConfig.cmake.in TaedaConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(TaedaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TaedaConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/TaedaConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindOneDNN.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindLibZip.cmake DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TorchConfig.cmake.in TorchConfig.cmake
                              INSTALL_DESTINATION ${torch_dir} PATH_VARS package_dir CMAKE_INSTALL_INCLUDEDIR)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TorchConfig.cmake
              ${PROJECT_SOURCE_DIR}/cmake/TorchConfigVersion.cmake DESTINATION ${torch_dir})

# pkg-config finds the prefix from where the file lies, so that an installation can be moved.
file(RELATIVE_PATH TAEDA_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(TAEDA_PC_PRIVATE "-ldl -lpthread ${OpenMP_CXX_FLAGS}")
foreach(pair ONEDNN=dnnl ZLIB=z ZIP=zip PNG=png JPEG=jpeg TENSORBOARD=protobuf-lite)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 library)
  if(TAEDA_WITH_${component} OR (component STREQUAL "TENSORBOARD" AND TAEDA_WITH_ONNX))
    string(PREPEND TAEDA_PC_PRIVATE "-l${library} ")
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/taeda.pc.in taeda.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/taeda.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What the build is made of, and under which licences.
set(used "")
foreach(pair ONEDNN= ZLIB=${ZLIB_VERSION_STRING} ZIP= PNG=${PNG_VERSION_STRING} JPEG= TENSORBOARD=${Protobuf_VERSION}
             JSON=${nlohmann_json_VERSION} TOOL=${CLI11_VERSION} TOML= GLOO= GRPC= MPI= CUDA=${CUDAToolkit_VERSION} NCCL= PYTHON=)
  string(REGEX REPLACE "=.*" "" component ${pair})
  if(TAEDA_WITH_${component} OR (component STREQUAL "TENSORBOARD" AND TAEDA_WITH_ONNX))
    list(APPEND used ${pair})
  endif()
endforeach()
set(licences ${PROJECT_SOURCE_DIR}/cmake/licences.tsv)
set(sbom ${CMAKE_CURRENT_BINARY_DIR}/taeda.spdx.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${licences} ${PROJECT_SOURCE_DIR}/cmake/sbom.py)
execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/sbom.py ${licences} ${sbom} ${PROJECT_VERSION} ${used}
                COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${sbom} DESTINATION ${CMAKE_INSTALL_DATADIR}/taeda)
