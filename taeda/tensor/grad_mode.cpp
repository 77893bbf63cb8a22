#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

thread_local bool GradMode::enabled_ = true;
thread_local bool InferenceMode::enabled_ = false;
thread_local bool RecomputeMode::enabled_ = false;
thread_local void* SavedHooksMode::innermost_ = nullptr;

}  // namespace taeda
