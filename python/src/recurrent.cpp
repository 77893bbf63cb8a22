#include "recurrent.h"

#include "bindings.h"
#include "taeda/nn/modules/rnn_packed.h"
#include "taeda/nn/packed_sequence.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

namespace rnn = nn::utils::rnn;
using Packed = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Packed parts(const rnn::PackedSequence& p) {
  return {p.data(), p.batch_sizes(), p.sorted_indices(), p.unsorted_indices()};
}
rnn::PackedSequence whole(const Packed& p) {
  return std::apply([](const auto&... part) { return rnn::PackedSequence(part...); }, p);
}

nn::detail::CellKind cell_kind(const std::string& mode) {
  if (mode == "LSTM") return nn::detail::CellKind::LSTM;
  if (mode == "GRU") return nn::detail::CellKind::GRU;
  return mode == "RNN_RELU" ? nn::detail::CellKind::ReLU : nn::detail::CellKind::Tanh;
}

/// sizes: of input, hidden states, projections, and the number of layers.
std::tuple<Packed, Tensor, Tensor> run_packed(const std::string& mode, const Packed& input,
                                              const std::vector<Tensor>& weights,
                                              const std::array<int64_t, 4>& sizes, bool bias,
                                              bool bidirectional, double dropout, bool training,
                                              const Tensor& hidden, const Tensor& cell) {
  const ReleaseGil released;
  const nn::detail::RNNShape shape{sizes[0], sizes[1], sizes[2],      sizes[3],
                                   bias,     false,    bidirectional, dropout};
  auto [output, state] = nn::detail::run_packed({cell_kind(mode), shape, weights, training},
                                                whole(input), {hidden, cell});
  return {parts(output), state.h, state.c};
}

}  // namespace

void add_recurrent(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_rnn", "Sequences of different lengths.");
  m.def("run_packed", &run_packed);
  m.def("pack_padded_sequence",
        [](const Tensor& input, const Tensor& lengths, bool batch_first, bool enforce_sorted) {
          const ReleaseGil released;
          return parts(rnn::pack_padded_sequence(input, lengths, batch_first, enforce_sorted));
        });
  m.def("pad_packed_sequence", [](const Packed& packed, bool batch_first, double padding_value,
                                  std::optional<int64_t> total_length) {
    const ReleaseGil released;
    return rnn::pad_packed_sequence(whole(packed), batch_first, padding_value, total_length);
  });
}

}  // namespace taeda::python
