# What is made from the declarations of operations (tools/ops): headers in <build>/generated, which are installed beside
# the others, sources of the library, the reference page and Python's type stubs.

find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(FATAL_ERROR "Taeda makes its methods from their declarations with Python 3 (its standard library alone): "
                      "install python3 (tools/install-deps)")
endif()

set(TAEDA_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(TAEDA_GENERATED_HEADERS tensor/operations.inc ops/names.h ops/out.h ops/out_forms.h
    compat/out_forms.h ops/autocast_policies.h)
set(TAEDA_GENERATED_METHODS methods_0.cpp methods_1.cpp methods_2.cpp)
set(TAEDA_GENERATED_LISTS out.cpp operations_table.cpp)
list(TRANSFORM TAEDA_GENERATED_HEADERS PREPEND ${TAEDA_GENERATED}/taeda/generated/)
list(TRANSFORM TAEDA_GENERATED_METHODS PREPEND ${TAEDA_GENERATED}/src/)
list(TRANSFORM TAEDA_GENERATED_LISTS PREPEND ${TAEDA_GENERATED}/src/)
set(TAEDA_GENERATED_TEXTS ${TAEDA_GENERATED}/operations.md ${TAEDA_GENERATED}/operations.pyi)
set(TAEDA_GENERATED_FORMS ${TAEDA_GENERATED}/src/forms_table.inc)

file(GLOB_RECURSE declarations CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/ops/*.h
     ${PROJECT_SOURCE_DIR}/include/compat/taeda_compat/*.h)
file(GLOB generator CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/ops/*.py)
# A file whose text stays the same keeps its time, so a change that is none builds nothing again.
add_custom_command(
  OUTPUT ${TAEDA_GENERATED}/made
  BYPRODUCTS ${TAEDA_GENERATED_HEADERS} ${TAEDA_GENERATED_METHODS} ${TAEDA_GENERATED_LISTS}
             ${TAEDA_GENERATED_TEXTS} ${TAEDA_GENERATED_FORMS}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/ops/generate.py ${PROJECT_SOURCE_DIR} ${TAEDA_GENERATED}
  COMMAND ${CMAKE_COMMAND} -E touch ${TAEDA_GENERATED}/made
  DEPENDS ${declarations} ${generator} ${PROJECT_SOURCE_DIR}/taeda/tensor/tensor_methods.inc
  COMMENT "Making methods from the declarations of operations"
  VERBATIM)
add_custom_target(taeda_operations DEPENDS ${TAEDA_GENERATED}/made)
