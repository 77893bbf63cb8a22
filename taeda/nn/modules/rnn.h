// Recurrent networks.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/cloneable.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/packed_sequence.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

/// Options of the module RNN, for inputs [L, N, input_size] and results [L, N, hidden_size], or
/// without N.
struct RNNOptions {
  /// How many numbers an element of a sequence has, at least 1.
  Option<int64_t> input_size;
  /// How many a hidden state has, at least 1.
  Option<int64_t> hidden_size;
  /// How many layers lie on each other, at least 1.
  Option<int64_t> num_layers = 1;
  /// The function of hidden states: kTanh, the default, or kReLU; else ValueError.
  Option<Nonlinearity> nonlinearity = kTanh;
  /// Whether each layer has two vectors of biases, one of inputs and one of hidden states; true by
  /// default.
  Option<bool> bias = true;
  /// Whether inputs and outputs are [N, L, ...] instead of [L, N, ...].
  Option<bool> batch_first = false;
  /// The probability that an element between layers is dropped while training, from 0 to 1.
  Option<double> dropout = 0;
  /// Whether sequences are read from their end, too, which doubles the size of the result; false by
  /// default.
  Option<bool> bidirectional = false;
};

/// Options of the module LSTM, for inputs [L, N, input_size] and results [L, N, hidden_size], or
/// without N.
struct LSTMOptions {
  /// How many numbers an element of a sequence has, at least 1.
  Option<int64_t> input_size;
  /// How many a hidden state has, at least 1.
  Option<int64_t> hidden_size;
  /// How many layers lie on each other, at least 1.
  Option<int64_t> num_layers = 1;
  /// Whether each layer has two vectors of biases, one of inputs and one of hidden states; true by
  /// default.
  Option<bool> bias = true;
  /// Whether inputs and outputs are [N, L, ...] instead of [L, N, ...].
  Option<bool> batch_first = false;
  /// The probability that an element between layers is dropped while training, from 0 to 1.
  Option<double> dropout = 0;
  /// Whether sequences are read from their end, too, which doubles the size of the result; false by
  /// default.
  Option<bool> bidirectional = false;
  /// How many numbers hidden states are projected to, fewer than hidden_size; 0, the default: they
  /// are not.
  Option<int64_t> proj_size = 0;
};

/// Options of the module GRU, for inputs [L, N, input_size] and results [L, N, hidden_size], or
/// without N.
struct GRUOptions {
  /// How many numbers an element of a sequence has, at least 1.
  Option<int64_t> input_size;
  /// How many a hidden state has, at least 1.
  Option<int64_t> hidden_size;
  /// How many layers lie on each other, at least 1.
  Option<int64_t> num_layers = 1;
  /// Whether each layer has two vectors of biases, one of inputs and one of hidden states; true by
  /// default.
  Option<bool> bias = true;
  /// Whether inputs and outputs are [N, L, ...] instead of [L, N, ...].
  Option<bool> batch_first = false;
  /// The probability that an element between layers is dropped while training, from 0 to 1.
  Option<double> dropout = 0;
  /// Whether sequences are read from their end, too, which doubles the size of the result; false by
  /// default.
  Option<bool> bidirectional = false;
};

using utils::rnn::PackedSequence;

namespace detail {

using utils::rnn::PackedRun;

enum class CellKind { Tanh, ReLU, LSTM, GRU };

/// Hidden state, and the cell state of an LSTM.
struct CellState {
  Tensor h, c;
};

/// Options without their class.
struct RNNShape {
  int64_t input_size, hidden_size, proj_size, num_layers;
  bool bias, batch_first, bidirectional;
  double dropout;

  /// The size of hidden states.
  int64_t state_size() const { return proj_size > 0 ? proj_size : hidden_size; }
};
/// The names of a direction's weights, without their ends.
std::vector<std::string> weight_names(const RNNShape& shape);

/// Weights weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, ... (with "_reverse" for the other
/// direction; weight_hr_l0 where states are projected), all uniform in +-1 / sqrt(hidden_size).
template <class Derived>
class RNNImplBase : public Cloneable<Derived> {
 public:
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  /// The weights in the order that ops/nn/rnn.h lists them.
  std::vector<Tensor> all_weights() const;
  /// Devices pack weights themselves when they want them in one piece: programs may call this, and
  /// nothing is left to do.
  void flatten_parameters() const {}

 protected:
  RNNImplBase(CellKind kind, RNNShape shape) : kind_(kind), shape_(shape) { RNNImplBase::reset(); }
  /// Output [L, N, D * H] (or batch first) and the last states [layers * D, N, H]. Undefined
  /// initial states are zero. Throws Error for sizes that do not fit.
  std::pair<Tensor, CellState> run(const Tensor& input, CellState initial);
  /// The same for sequences of different lengths: each gets what it would get alone, and its last
  /// states are those behind its own last element. States are in the order that the sequences had
  /// before packing.
  std::pair<PackedSequence, CellState> run_packed(const PackedSequence& input, CellState initial);

 private:
  CellKind kind_;
  RNNShape shape_;
};

}  // namespace detail

/// h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu instead, step by step: x [L, N, input_size]
/// and, zeros unless given, h [layers, N, hidden_size] give [L, N, hidden_size] and the last h.
/// Throws Error for other sizes.
class RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  using Options = RNNOptions;
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(Options{input_size, hidden_size}) {}
  explicit RNNImpl(const Options& o);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx = {});
  std::tuple<PackedSequence, Tensor> forward_with_packed_input(const PackedSequence& packed_input,
                                                               const Tensor& hx = {});
  Options options;
};
TAEDA_MODULE(RNN);

/// Long short-term memory (Hochreiter and Schmidhuber 1997), gates in the order i, f, g, o: x [L,
/// N, input_size] and, zeros unless given, h and c [layers, N, hidden_size] give [L, N,
/// hidden_size] and the last h and c. Throws Error for other sizes.
class LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  using Options = LSTMOptions;
  LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(Options{input_size, hidden_size}) {}
  explicit LSTMImpl(const Options& o);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
  std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const PackedSequence& packed_input, const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
  Options options;
};
TAEDA_MODULE(LSTM);

/// Gated recurrent unit (Cho et al. 2014, arXiv:1406.1078), gates in the order r, z, n: x [L, N,
/// input_size] and, zeros unless given, h [layers, N, hidden_size] give [L, N, hidden_size] and the
/// last h. Throws Error for other sizes.
class GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  using Options = GRUOptions;
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(Options{input_size, hidden_size}) {}
  explicit GRUImpl(const Options& o);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx = {});
  std::tuple<PackedSequence, Tensor> forward_with_packed_input(const PackedSequence& packed_input,
                                                               const Tensor& hx = {});
  Options options;
};
TAEDA_MODULE(GRU);

/// Options of the modules RNNCell, LSTMCell and GRUCell, one step for inputs [N, input_size] or
/// [input_size].
struct RNNCellOptions {
  /// How many numbers an input has: the size of its last dimension.
  Option<int64_t> input_size;
  /// How many numbers a hidden state has: the size of its last dimension.
  Option<int64_t> hidden_size;
  /// Whether there are two vectors of biases, one of inputs and one of hidden states; true by
  /// default.
  Option<bool> bias = true;
  /// The function of RNNCell's hidden states: kTanh, the default, or kReLU.
  Option<Nonlinearity> nonlinearity = kTanh;
};
using LSTMCellOptions = RNNCellOptions;
using GRUCellOptions = RNNCellOptions;

namespace detail {
/// One step of a recurrent network: weights weight_ih, weight_hh, bias_ih, bias_hh.
template <class Derived>
class RNNCellImplBase : public Cloneable<Derived> {
 public:
  using Options = RNNCellOptions;
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  Options options;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  RNNCellImplBase(CellKind kind, Options o) : options(std::move(o)), kind_(kind) {
    RNNCellImplBase::reset();
  }
  CellState step(const Tensor& input, CellState state);

 private:
  CellKind kind_;
};
}  // namespace detail

/// One step: [batch, input_size] and [batch, hidden_size] to [batch, hidden_size].
class RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size)
      : RNNCellImpl(Options{input_size, hidden_size}) {}
  explicit RNNCellImpl(const Options& o)
      : RNNCellImplBase(o.nonlinearity() == kReLU ? detail::CellKind::ReLU : detail::CellKind::Tanh,
                        o) {}
  Tensor forward(const Tensor& input, const Tensor& hx = {}) { return step(input, {hx, {}}).h; }
};
TAEDA_MODULE(RNNCell);

class LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size)
      : LSTMCellImpl(Options{input_size, hidden_size}) {}
  explicit LSTMCellImpl(const Options& o) : RNNCellImplBase(detail::CellKind::LSTM, o) {}
  std::tuple<Tensor, Tensor> forward(const Tensor& input,
                                     const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
};
TAEDA_MODULE(LSTMCell);

class GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size)
      : GRUCellImpl(Options{input_size, hidden_size}) {}
  explicit GRUCellImpl(const Options& o) : RNNCellImplBase(detail::CellKind::GRU, o) {}
  Tensor forward(const Tensor& input, const Tensor& hx = {}) { return step(input, {hx, {}}).h; }
};
TAEDA_MODULE(GRUCell);

}  // namespace taeda::inline v0_2::nn
