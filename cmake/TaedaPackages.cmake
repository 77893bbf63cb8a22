# cpack -G DEB (in the build folder): Debian packages of what `cmake --install` installs.
#
#   libtaeda0.2              the shared library
#   libtaeda0.2-distributed  Gloo's and gRPC's plug-ins: process groups, stores, RPC
#   libtaeda0.2-mpi          MPI's plug-in
#   libtaeda0.2-cuda         CUDA's and NCCL's plug-ins
#   libtaeda-dev             headers, CMake packages, taeda.pc, and what libtorch's programs need
#   taeda-tool               the command, its manual pages, completion for shells
#   taeda-doc                the documentation site, where what makes it is installed
#
# dpkg-shlibdeps finds out what each needs of Debian's; it is part of dpkg-dev.

if(NOT BUILD_SHARED_LIBS)
  return()
endif()
if(TAEDA_CPU_KERNELS STREQUAL "NATIVE")
  message(STATUS "No packages (cpack): they would hold the kernels of this machine alone (TAEDA_CPU_KERNELS=NATIVE)")
  return()
endif()

set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_PACKAGE_NAME taeda)
set(CPACK_PACKAGE_CONTACT "The authors of Taeda")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)

# A package: its component, its name, its section, a line about it, and what it needs besides the libraries found
# by dpkg-shlibdeps.
macro(taeda_package component name section summary depends)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(CPACK_COMPONENTS_ALL "")
set(library "libtaeda${abi} (= ${PROJECT_VERSION})")
taeda_package(runtime libtaeda${abi} libs "Deep learning in C++: the shared library" "")
taeda_package(development libtaeda-dev libdevel "Deep learning in C++: headers and CMake packages"
              "${library}, g++ (>= 4:12)")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libtaeda${abi}-cuda, libtaeda${abi}-mpi")
# Loaded when first asked for: linear algebra, the letters of charts.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "libtaeda${abi}-distributed, libopenblas0 | liblapack3, libcairo2, fonts-dejavu-core")
if(TARGET taeda_gloo OR TARGET taeda_grpc)
  taeda_package(distributed libtaeda${abi}-distributed libs "Deep learning in C++: process groups and RPC" "${library}")
endif()
if(TARGET taeda_mpi)
  taeda_package(mpi libtaeda${abi}-mpi libs "Deep learning in C++: collectives through MPI" "${library}")
endif()
if(TARGET taeda_cuda OR TARGET taeda_nccl)
  taeda_package(cuda libtaeda${abi}-cuda libs "Deep learning in C++: NVIDIA's devices" "${library}")
  set(CPACK_DEBIAN_CUDA_PACKAGE_PROVIDES taeda-cuda)
endif()
if(TARGET taeda_tool)
  taeda_package(tool taeda-tool science "Deep learning in C++: the taeda command" "${library}")
endif()
if(TARGET docs)
  taeda_package(documentation taeda-doc doc "Deep learning in C++: documentation to be read offline" "")
  set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
  # Made when the package is: nobody else waits for it.
  set(site ${PROJECT_BINARY_DIR}/docs)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target docs
                                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)"
          COMPONENT documentation EXCLUDE_FROM_ALL)
  install(DIRECTORY ${site}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/taeda-doc/html COMPONENT documentation
          EXCLUDE_FROM_ALL)
endif()
include(CPack)
