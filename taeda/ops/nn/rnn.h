// Recurrent networks, and single steps of them.
//
// Weights of a direction of a layer are w_ih [G H, in] and w_hh [G H, H], then, with biases, b_ih
// and b_hh [G H]: LSTM's gates in the order i, f, g, o (G = 4), GRU's r, z, n (3), others have one.
// `params` lists them for the first layer's forward direction, its backward direction (if there is
// one), the second layer and so on; `in` of later layers is D H, D the number of directions.
// [operations, autocast: lower inside]
#pragma once

#include <tuple>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Long short-term memory (Hochreiter and Schmidhuber 1997): output [T, N, D H], last hidden and
/// last cell states [layers D, N, H], from input [T, N, in] (output and input batch first if asked)
/// and `hx`, which are first hidden and first cell states. While training, dropout falls between
/// layers. A direction may have one weight more, w_hr [P, H], which the hidden states are
/// multiplied with (Sak et al., arXiv:1402.1128): they then are [.., P], and so is w_hh [4 H, P].
/// Throws Error for sizes, dtypes and devices that do not fit.
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params,
                                        bool has_biases, int64_t num_layers, double dropout,
                                        bool train, bool bidirectional, bool batch_first);
/// Gated recurrent units (Cho et al. 2014), the reset gate behind the product with W_hn: output and
/// last hidden states; otherwise like `lstm`.
std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, TensorList params,
                               bool has_biases, int64_t num_layers, double dropout, bool train,
                               bool bidirectional, bool batch_first);
/// h = tanh(W_ih x + b_ih + W_hh h + b_hh) (Elman 1990); otherwise like `gru`.
std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, TensorList params,
                                    bool has_biases, int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first);
/// The same with relu.
std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, TensorList params,
                                    bool has_biases, int64_t num_layers, double dropout, bool train,
                                    bool bidirectional, bool batch_first);

/// One step of an LSTM: the next hidden and cell states [N, H] from input [N, in] and `hx`, the two
/// states so far.
std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih = {},
                                     const Tensor& b_hh = {});
/// One step of a GRU: the next hidden state [N, H].
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih = {}, const Tensor& b_hh = {});
/// One step of an RNN with tanh.
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});
/// One step of an RNN with relu.
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});

}  // namespace taeda::inline v0_2
