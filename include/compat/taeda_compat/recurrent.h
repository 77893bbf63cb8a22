// Recurrent networks over packed sequences, with libtorch's arguments: the rows of all sequences
// and how many have one at each step.
#pragma once

#include <taeda/nn/modules/rnn_packed.h>
#include <taeda_compat/namespaces.h>

namespace taeda_compat {

namespace recurrent_detail {

using nn::detail::CellKind;

/// The options that weights as ops/nn/rnn.h lists them speak of.
inline nn::detail::RNNShape shape_of(CellKind kind, TensorList params, bool has_biases,
                                     int64_t num_layers, double dropout, bool bidirectional) {
  const size_t directions = static_cast<size_t>(num_layers) * (bidirectional ? 2 : 1),
               plain = has_biases ? 4 : 2;
  TAEDA_CHECK(
      num_layers > 0 && (params.size() == directions * plain ||
                         (kind == CellKind::LSTM && params.size() == directions * (plain + 1))),
      "got an incorrect number of RNN parameters");
  const int64_t gates = kind == CellKind::LSTM ? 4 : kind == CellKind::GRU ? 3 : 1;
  const bool projected = params.size() > directions * plain;
  return {params[0].size(1),
          params[0].size(0) / gates,
          projected ? params[1].size(1) : 0,
          num_layers,
          has_biases,
          false,
          bidirectional,
          dropout};
}

/// (rows of the output, last hidden states, last cell states of an LSTM)
inline std::tuple<Tensor, Tensor, Tensor> packed(CellKind kind, const Tensor& data,
                                                 const Tensor& batch_sizes,
                                                 const nn::detail::CellState& initial,
                                                 TensorList params, bool has_biases,
                                                 int64_t num_layers, double dropout, bool train,
                                                 bool bidirectional) {
  const auto shape = shape_of(kind, params, has_biases, num_layers, dropout, bidirectional);
  const auto [output, last] = nn::detail::run_packed(
      {kind, shape, params, train}, nn::utils::rnn::PackedSequence(data, batch_sizes), initial);
  return {output.data(), last.h, last.c};
}

}  // namespace recurrent_detail

using taeda::gru, taeda::lstm, taeda::rnn_relu, taeda::rnn_tanh;
inline std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes,
                                               TensorList hx, TensorList params, bool has_biases,
                                               int64_t num_layers, double dropout, bool train,
                                               bool bidirectional) {
  TAEDA_CHECK(hx.size() == 2, "lstm expects two hidden states");
  return recurrent_detail::packed(nn::detail::CellKind::LSTM, data, batch_sizes, {hx[0], hx[1]},
                                  params, has_biases, num_layers, dropout, train, bidirectional);
}
#define TAEDA_COMPAT_RECURRENT(name, kind)                                                        \
  inline std::tuple<Tensor, Tensor> name(                                                         \
      const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params,         \
      bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {      \
    const auto out =                                                                              \
        recurrent_detail::packed(nn::detail::CellKind::kind, data, batch_sizes, {hx, {}}, params, \
                                 has_biases, num_layers, dropout, train, bidirectional);          \
    return {std::get<0>(out), std::get<1>(out)};                                                  \
  }
TAEDA_COMPAT_RECURRENT(gru, GRU)
TAEDA_COMPAT_RECURRENT(rnn_tanh, Tanh)
TAEDA_COMPAT_RECURRENT(rnn_relu, ReLU)
#undef TAEDA_COMPAT_RECURRENT

}  // namespace taeda_compat
