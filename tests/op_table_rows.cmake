# Read by ctest: a test for each row of the op table, whose checks one process runs. A process for each of
# these thousands of checks would take longer than the checks.

if(NOT EXISTS ${program})
  add_test(ops.OpTable_NOT_BUILT ops.OpTable_NOT_BUILT)
  return()
endif()
execute_process(COMMAND ${program} --gtest_list_tests --gtest_filter=OpTable/Forward.*
                OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "MatchesReference/[A-Za-z0-9_]+" listed "${listed}")
foreach(row ${listed})
  string(REPLACE "MatchesReference/" "" row ${row})
  add_test(ops.OpTable/${row} ${program} --gtest_filter=OpTable/*/${row})
  set_tests_properties(ops.OpTable/${row} PROPERTIES LABELS ops TIMEOUT ${timeout}
                       ENVIRONMENT OMP_WAIT_POLICY=passive)
endforeach()
