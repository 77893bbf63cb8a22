# What is made from the declarations of operations (tools/ops): headers in <build>/generated, which are installed beside
# the others, sources of the library, the reference page and Python's type stubs.

find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(FATAL_ERROR "Taeda makes its methods from their declarations with Python 3 (its standard library alone): "
                      "install python3 (tools/install-deps)")
endif()

set(TAEDA_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(TAEDA_GENERATED_HEADERS tensor/operations.inc ops/names.h ops/out.h ops/out_forms.h
    compat/out_forms.h compat/second_names.h)
set(TAEDA_GENERATED_DOORS doors_0.cpp doors_1.cpp doors_2.cpp doors_3.cpp doors_4.cpp)
set(TAEDA_GENERATED_DOORS_APART doors_apart_0.cpp)  # of operations whose headers TAEDA_MORE_PATTERN matches
set(TAEDA_GENERATED_LISTS out.cpp operations_table.cpp)
list(TRANSFORM TAEDA_GENERATED_HEADERS PREPEND ${TAEDA_GENERATED}/taeda/generated/)
list(TRANSFORM TAEDA_GENERATED_DOORS PREPEND ${TAEDA_GENERATED}/src/)
list(TRANSFORM TAEDA_GENERATED_DOORS_APART PREPEND ${TAEDA_GENERATED}/src/)
list(TRANSFORM TAEDA_GENERATED_LISTS PREPEND ${TAEDA_GENERATED}/src/)
set(TAEDA_GENERATED_TEXTS ${TAEDA_GENERATED}/operations.md ${TAEDA_GENERATED}/operations.pyi)
set(TAEDA_GENERATED_FORMS ${TAEDA_GENERATED}/src/forms_table.inc)

file(GLOB_RECURSE declarations CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/ops/*.h
     ${PROJECT_SOURCE_DIR}/include/compat/taeda_compat/*.h)
# One header of bodies for each header that declares operations, and for the methods without a function.
set(TAEDA_GENERATED_BODIES ${TAEDA_GENERATED}/bodies/tensor_methods.h)
foreach(header ${declarations})
  file(STRINGS ${header} tags REGEX "^// \\[operations" LIMIT_COUNT 1)
  if(tags AND header MATCHES "/taeda/ops/")
    cmake_path(GET header FILENAME name)
    list(APPEND TAEDA_GENERATED_BODIES ${TAEDA_GENERATED}/bodies/${name})
  endif()
endforeach()
file(GLOB generator CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/ops/*.py ${PROJECT_SOURCE_DIR}/tools/ops/examples.txt)
# A file whose text stays the same keeps its time, so a change that is none builds nothing again.
add_custom_command(
  OUTPUT ${TAEDA_GENERATED}/made
  BYPRODUCTS ${TAEDA_GENERATED_HEADERS} ${TAEDA_GENERATED_DOORS} ${TAEDA_GENERATED_DOORS_APART} ${TAEDA_GENERATED_LISTS}
             ${TAEDA_GENERATED_TEXTS} ${TAEDA_GENERATED_FORMS} ${TAEDA_GENERATED_BODIES}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/ops/generate.py ${PROJECT_SOURCE_DIR} ${TAEDA_GENERATED}
          "taeda/(${TAEDA_MORE_PATTERN})"
  COMMAND ${CMAKE_COMMAND} -E touch ${TAEDA_GENERATED}/made
  DEPENDS ${declarations} ${generator} ${PROJECT_SOURCE_DIR}/taeda/tensor/tensor_methods.inc
          ${PROJECT_SOURCE_DIR}/taeda/tensor/tensor_bodies.h
  COMMENT "Making methods from the declarations of operations"
  VERBATIM)
add_custom_target(taeda_operations DEPENDS ${TAEDA_GENERATED}/made)
