// A table as it must read; lines longer than code may be.
#pragma once

namespace taeda::profiler {

// clang-format off
constexpr const char* kTableByHand =
    "------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------  ------------  ------------  ------------  -------------  ------------  \n"
    "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  CUDA time avg       CPU Mem  Self CPU Mem      CUDA Mem  Self CUDA Mem    # of Calls  \n"
    "------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------  ------------  ------------  ------------  -------------  ------------  \n"
    "        step        66.00%     990.000us       100.00%       1.500ms       1.500ms       0.000us         0.00%     504.000us      504.000us       1.00 Kb       1.00 Kb       2.00 Kb         -512 b             1  \n"
    "          mm        33.33%     500.000us        33.33%     500.000us     500.000us     500.000us        99.21%     500.000us      500.000us           0 b           0 b         512 b          512 b             1  \n"
    "        gemm         0.00%       0.000us         0.00%       0.000us       0.000us     500.000us        99.21%     500.000us      250.000us           0 b           0 b           0 b            0 b             2  \n"
    "------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------  ------------  ------------  ------------  -------------  ------------  \n"
    "Self CPU time total: 1.500ms\n"
    "Self CUDA time total: 504.000us\n"
    "A note.\n";
// clang-format on

}  // namespace taeda::profiler
