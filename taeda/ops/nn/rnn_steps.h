// Recurrent layers step after step, forward and backward, without a word to autograd. Not part of
// the public interface.
//
// Per step there are one product with W_hh and one pointwise kernel; the inputs' products of all
// steps are one, and so are, backward, those that give the gradients of inputs and weights.
#pragma once

#include <optional>

#include "taeda/kernels/rnn.h"

namespace taeda::inline v0_2::detail {

/// Weights of one direction of one layer; biases may be undefined. Also their gradients.
struct RnnWeights {
  Tensor w_ih, w_hh, b_ih, b_hh;
};
/// The weights of a direction, counted over all layers, from a list of all.
RnnWeights rnn_weights(TensorList params, bool biases, int64_t direction);

/// y [T, N, D H]; h and c [layers D, N, H]. As gradients each may be undefined.
struct RnnResult {
  Tensor y, h, c;
};

/// What a direction keeps for backward: gates [T, N, G H] and states [T, N, H] of each step.
struct RnnKept {
  Tensor gates, states;
};

/// One layer over x [T, N, in], contiguous, from h and c [D, N, H]. `kept` gets what backward needs
/// of each direction, unless it is null.
RnnResult rnn_layer(const RnnShape& shape, const Tensor& x, const Tensor& h, const Tensor& c,
                    TensorList params, std::vector<RnnKept>* kept);

/// The gradients of x, h, c and all params, in this order, where `needs(i)`.
std::vector<Tensor> rnn_layer_backward(const RnnShape& shape, const Tensor& x, const Tensor& h,
                                       const Tensor& c, TensorList params, const Tensor& y,
                                       const std::vector<RnnKept>& kept, const RnnResult& grads,
                                       const std::vector<bool>& needs);

}  // namespace taeda::detail
