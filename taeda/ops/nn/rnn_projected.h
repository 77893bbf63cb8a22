// LSTMs whose hidden states are projected to fewer numbers. Not part of the public interface.
#pragma once

#include "taeda/ops/nn/rnn_steps.h"

namespace taeda::inline v0_2::detail {

/// Whether each direction has a fifth (without biases third) weight, w_hr.
bool is_projected(TensorList params, bool biases, int64_t layers, bool bidirectional);

/// The network over x [T, N, in], after checks of everything about it.
RnnResult projected_lstm(const Tensor& x, TensorList hx, TensorList params, bool biases,
                         int64_t layers, double dropout_p, bool bidirectional);

}  // namespace taeda::inline v0_2::detail
