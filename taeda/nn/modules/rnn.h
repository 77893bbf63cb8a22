// Recurrent networks.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/cloneable.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/packed_sequence.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

namespace detail {
/// What all recurrent layers take.
template <class Derived>
class RNNOptionsBase {
 public:
  RNNOptionsBase(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  Derived& input_size(int64_t v) { return set(input_size_, v); }
  Derived& hidden_size(int64_t v) { return set(hidden_size_, v); }
  Derived& num_layers(int64_t v) { return set(num_layers_, v); }
  Derived& bias(bool v) { return set(bias_, v); }
  /// Inputs and outputs are [N, L, ...] instead of [L, N, ...].
  Derived& batch_first(bool v) { return set(batch_first_, v); }
  /// Between layers, while training.
  Derived& dropout(double v) { return set(dropout_, v); }
  Derived& bidirectional(bool v) { return set(bidirectional_, v); }
  int64_t input_size() const { return input_size_; }
  int64_t hidden_size() const { return hidden_size_; }
  int64_t num_layers() const { return num_layers_; }
  bool bias() const { return bias_; }
  bool batch_first() const { return batch_first_; }
  double dropout() const { return dropout_; }
  bool bidirectional() const { return bidirectional_; }

 protected:
  template <class T>
  Derived& set(T& member, T value) {
    member = value;
    return static_cast<Derived&>(*this);
  }

 private:
  int64_t input_size_, hidden_size_, num_layers_ = 1;
  bool bias_ = true, batch_first_ = false, bidirectional_ = false;
  double dropout_ = 0;
};
}  // namespace detail

class RNNOptions : public detail::RNNOptionsBase<RNNOptions> {
 public:
  using RNNOptionsBase::RNNOptionsBase;
  /// kTanh or kReLU
  TAEDA_ARG(Nonlinearity, nonlinearity) = kTanh;
};
class LSTMOptions : public detail::RNNOptionsBase<LSTMOptions> {
 public:
  using RNNOptionsBase::RNNOptionsBase;
  /// What hidden states are projected to, fewer numbers than hidden_size; 0: they are not.
  TAEDA_ARG(int64_t, proj_size) = 0;
};
class GRUOptions : public detail::RNNOptionsBase<GRUOptions> {
 public:
  using RNNOptionsBase::RNNOptionsBase;
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
  std::string extra_repr() const override;
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

/// h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.
class RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& o);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx = {});
  std::tuple<PackedSequence, Tensor> forward_with_packed_input(const PackedSequence& packed_input,
                                                               const Tensor& hx = {});
  RNNOptions options;
};
TAEDA_MODULE(RNN);

/// Long short-term memory (Hochreiter and Schmidhuber 1997), gates in the order i, f, g, o.
class LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& o);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
  std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const PackedSequence& packed_input, const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
  LSTMOptions options;
};
TAEDA_MODULE(LSTM);

/// Gated recurrent unit (Cho et al. 2014), gates in the order r, z, n.
class GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& o);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx = {});
  std::tuple<PackedSequence, Tensor> forward_with_packed_input(const PackedSequence& packed_input,
                                                               const Tensor& hx = {});
  GRUOptions options;
};
TAEDA_MODULE(GRU);

/// Sizes of a cell; `bias`: with two vectors of them.
class RNNCellOptions {
 public:
  RNNCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TAEDA_ARG(int64_t, input_size);
  TAEDA_ARG(int64_t, hidden_size);
  TAEDA_ARG(bool, bias) = true;
  /// Of RNNCell: kTanh or kReLU.
  TAEDA_ARG(Nonlinearity, nonlinearity) = kTanh;
};
using LSTMCellOptions = RNNCellOptions;
using GRUCellOptions = RNNCellOptions;

namespace detail {
/// One step of a recurrent network: weights weight_ih, weight_hh, bias_ih, bias_hh.
template <class Derived>
class RNNCellImplBase : public Cloneable<Derived> {
 public:
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  RNNCellOptions options;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  RNNCellImplBase(CellKind kind, RNNCellOptions o) : options(std::move(o)), kind_(kind) {
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
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& o)
      : RNNCellImplBase(o.nonlinearity() == kReLU ? detail::CellKind::ReLU : detail::CellKind::Tanh,
                        o) {}
  Tensor forward(const Tensor& input, const Tensor& hx = {}) { return step(input, {hx, {}}).h; }
};
TAEDA_MODULE(RNNCell);

class LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& o) : RNNCellImplBase(detail::CellKind::LSTM, o) {}
  std::tuple<Tensor, Tensor> forward(const Tensor& input,
                                     const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
};
TAEDA_MODULE(LSTMCell);

class GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& o) : RNNCellImplBase(detail::CellKind::GRU, o) {}
  Tensor forward(const Tensor& input, const Tensor& hx = {}) { return step(input, {hx, {}}).h; }
};
TAEDA_MODULE(GRUCell);

}  // namespace taeda::inline v0_2::nn
