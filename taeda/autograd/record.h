// The names of history.h where operations are written, in namespace taeda. For sources alone: a
// header that programs include would give these names to them.
#pragma once

#include "taeda/autograd/history.h"

namespace taeda::inline v0_2 {
using autograd::bump_version, autograd::check_inplace, autograd::InplaceChange, autograd::record,
    autograd::record_list, autograd::record_multi, autograd::save_tensor, autograd::save_if,
    autograd::save_output, autograd::wants_grad, autograd::Needs, autograd::TensorVec,
    autograd::any_wants_grad;
}  // namespace taeda
