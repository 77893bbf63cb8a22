# The target `docs`: the documentation site in <build>/docs (tools/docs), which is no part of `all`.

execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/docs/build --modules
                RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(NOT missing)
  add_custom_target(docs
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/docs/build
            --out ${PROJECT_BINARY_DIR}/docs --generated ${PROJECT_BINARY_DIR}/generated
    COMMENT "Making the documentation site" USES_TERMINAL VERBATIM)
  add_dependencies(docs taeda_operations)
endif()
