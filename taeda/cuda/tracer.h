// When kernels and copies ran on the GPU, by CUPTI's activity records.
#pragma once

#include "taeda/base/tracing_log.h"

namespace taeda::inline v0_2::gpu {

/// The process's tracer. CUPTI is loaded when it is first started; where it is missing or refuses,
/// `start` says why.
tracing::DeviceTracer* cupti_tracer();

}  // namespace taeda::gpu
