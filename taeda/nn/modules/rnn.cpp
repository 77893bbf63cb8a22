#include "taeda/nn/modules/rnn.h"

#include <cmath>

#include "taeda/base/checked_int.h"
#include "taeda/base/warning.h"
#include "taeda/nn/libtorch_style.h"
#include "taeda/nn/modules/layer_count.h"
#include "taeda/nn/modules/rnn_packed.h"
#include "taeda/nn/settings.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/rnn.h"

namespace taeda::inline v0_2::nn {

namespace detail {

namespace {

int64_t gates_of(CellKind kind) {
  return kind == CellKind::LSTM ? 4 : kind == CellKind::GRU ? 3 : 1;
}

void draw_uniform(const std::vector<Tensor>& parameters, int64_t hidden_size) {
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (const Tensor& p : parameters) init::uniform_(p, -bound, bound);
}

std::string suffix(int64_t layer, bool reverse) {
  return "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
}

RNNShape shape_of(const auto& o) {
  int64_t proj_size = 0;
  if constexpr (requires { o.proj_size(); }) proj_size = o.proj_size();
  return {o.input_size(), o.hidden_size(), proj_size,         o.num_layers(),
          o.bias(),       o.batch_first(), o.bidirectional(), o.dropout()};
}

}  // namespace

std::vector<std::string> weight_names(const RNNShape& shape) {
  std::vector<std::string> names = {"weight_ih", "weight_hh"};
  if (shape.bias) names.insert(names.end(), {"bias_ih", "bias_hh"});
  if (shape.proj_size > 0) names.emplace_back("weight_hr");
  return names;
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  TAEDA_CHECK_VALUE(shape_.dropout >= 0 && shape_.dropout <= 1,
                    "dropout should be a number in range [0, 1] representing the "
                    "probability of an element being zeroed, but got ",
                    shape_.dropout);
  TAEDA_CHECK_VALUE(shape_.input_size > 0, "input_size must be greater than zero, but got ",
                    shape_.input_size);
  TAEDA_CHECK_VALUE(shape_.hidden_size > 0, "hidden_size must be greater than zero, but got ",
                    shape_.hidden_size);
  TAEDA_CHECK_VALUE(shape_.num_layers > 0, "num_layers must be greater than zero, but got ",
                    shape_.num_layers);
  TAEDA_CHECK_VALUE(shape_.proj_size >= 0, "proj_size should be a positive integer or zero to ",
                    "disable projections, but got ", shape_.proj_size);
  if (shape_.dropout > 0 && shape_.num_layers == 1)
    TAEDA_WARN(
        "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
        "expects num_layers greater than 1, but got dropout=",
        shape_.dropout, " and num_layers=", shape_.num_layers);
  TAEDA_CHECK_VALUE(shape_.proj_size < shape_.hidden_size,
                    "proj_size has to be smaller than hidden_size, but got ", shape_.proj_size,
                    " and ", shape_.hidden_size);
  const int64_t gates = (CheckedInt(gates_of(kind_)) * shape_.hidden_size).value("RNN"),
                directions = shape_.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer) {
    const int64_t in = layer == 0 ? shape_.input_size
                                  : (CheckedInt(shape_.state_size()) * directions).value("RNN");
    for (int64_t d = 0; d < directions; ++d) {
      const std::string end = suffix(layer, d == 1);
      this->register_parameter("weight_ih" + end, empty({gates, in}));
      const Tensor again =
          this->register_parameter("weight_hh" + end, empty({gates, shape_.state_size()}));
      if (layer == 0) check_layer_count(shape_.num_layers, {again});
      this->register_parameter("bias_ih" + end, shape_.bias ? empty({gates}) : Tensor());
      this->register_parameter("bias_hh" + end, shape_.bias ? empty({gates}) : Tensor());
      if (shape_.proj_size > 0)
        this->register_parameter("weight_hr" + end, empty({shape_.proj_size, shape_.hidden_size}));
    }
  }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  draw_uniform(this->parameters(), shape_.hidden_size);
}

template <class Derived>
void RNNImplBase<Derived>::settings(Settings& out) const {
  out.of(typeid(Derived)).plain("input_size", shape_.input_size);
  out.plain("hidden_size", shape_.hidden_size);
  // Python shows what is not usual.
  const auto show = [&](const char* name, auto value, decltype(value) usual) {
    if (!out.is_python() || value != usual) out(name, value);
  };
  if (out.is_python()) out.unless(0, "proj_size", shape_.proj_size);
  show("num_layers", shape_.num_layers, 1);
  show("bias", shape_.bias, true);
  show("batch_first", shape_.batch_first, false);
  show("dropout", shape_.dropout, 0);
  show("bidirectional", shape_.bidirectional, false);
  if (!out.is_python()) out.unless(0, "proj_size", shape_.proj_size);
}

template <class Derived>
std::vector<Tensor> RNNImplBase<Derived>::all_weights() const {
  const std::vector<std::string> names = weight_names(shape_);
  std::vector<Tensor> out;
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer)
    for (int64_t d = 0; d < (shape_.bidirectional ? 2 : 1); ++d)
      for (const std::string& name : names)
        out.push_back(this->parameters_[name + suffix(layer, d == 1)]);
  return out;
}

template <class Derived>
std::pair<Tensor, CellState> RNNImplBase<Derived>::run(const Tensor& input, CellState initial) {
  TAEDA_CHECK(input.dim() == 2 || input.dim() == 3, short_name(*this),
              ": Expected input to be 2-D or 3-D but received ", input.dim(), "-D tensor");
  TAEDA_CHECK(input.size(-1) == shape_.input_size,
              "input.size(-1) must be equal to input_size. Expected ", shape_.input_size, ", got ",
              input.size(-1));
  const bool batched = input.dim() == 3, batch_first = batched && shape_.batch_first;
  const Tensor x = batched ? input : input.unsqueeze(1);
  const int64_t layers = shape_.num_layers * (shape_.bidirectional ? 2 : 1),
                batch = x.size(batch_first ? 0 : 1);
  for (Tensor* t : {&initial.h, &initial.c}) {
    if (t->defined() && !batched)
      *t = t->unsqueeze(1);
    else if (!t->defined() && (t == &initial.h || kind_ == CellKind::LSTM))
      *t = zeros({layers, batch, t == &initial.h ? shape_.state_size() : shape_.hidden_size},
                 x.options());
  }
  const Tensor states[] = {initial.h, initial.c};
  const auto call = [&](const auto& op, const auto& hx) {
    return op(x, hx, all_weights(), shape_.bias, shape_.num_layers, shape_.dropout,
              this->is_training(), shape_.bidirectional, batch_first);
  };
  Tensor output;
  CellState last;
  if (kind_ == CellKind::LSTM)
    std::tie(output, last.h, last.c) = call(taeda::lstm, TensorList(states, 2));
  else
    std::tie(output, last.h) = call(kind_ == CellKind::GRU    ? taeda::gru
                                    : kind_ == CellKind::Tanh ? taeda::rnn_tanh
                                                              : taeda::rnn_relu,
                                    initial.h);
  if (batched) return {output, last};
  const Tensor c = last.c.defined() ? last.c.squeeze(1) : last.c;
  return {output.squeeze(1), {last.h.squeeze(1), c}};
}

template <class Derived>
std::pair<PackedSequence, CellState> RNNImplBase<Derived>::run_packed(const PackedSequence& input,
                                                                      CellState initial) {
  const std::vector<Tensor> weights = all_weights();
  return detail::run_packed({kind_, shape_, weights, this->is_training()}, input,
                            std::move(initial));
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const int64_t gates = gates_of(kind_) * options.hidden_size();
  weight_ih = this->register_parameter("weight_ih", empty({gates, options.input_size()}));
  weight_hh = this->register_parameter("weight_hh", empty({gates, options.hidden_size()}));
  bias_ih = this->register_parameter("bias_ih", options.bias() ? empty({gates}) : Tensor());
  bias_hh = this->register_parameter("bias_hh", options.bias() ? empty({gates}) : Tensor());
  reset_parameters();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  draw_uniform(this->parameters(), options.hidden_size());
}

template <class Derived>
void RNNCellImplBase<Derived>::settings(Settings& out) const {
  out.of(typeid(Derived)).value(options.input_size).value(options.hidden_size);
  out.unless(true, "bias", options.bias());
  if (kind_ == CellKind::ReLU) out("nonlinearity", out.is_python() ? "relu" : "kReLU");
}

template <class Derived>
CellState RNNCellImplBase<Derived>::step(const Tensor& input, CellState state) {
  TAEDA_CHECK(input.dim() == 1 || input.dim() == 2, short_name(*this),
              ": Expected input to be 1-D or 2-D but received ", input.dim(), "-D tensor");
  TAEDA_CHECK(input.size(-1) == options.input_size(), "input has inconsistent input_size: got ",
              input.size(-1), ", expected ", options.input_size());
  DimVector sizes = input.sizes();
  sizes.back() = options.hidden_size();
  for (Tensor* t : {&state.h, &state.c}) {
    if (!t->defined()) *t = zeros(sizes, input.options());
    TAEDA_CHECK(t->sizes() == IntArrayRef(sizes), "hidden has inconsistent size: got ", t->sizes(),
                ", expected ", sizes);
  }
  const auto row = [&](const Tensor& t) { return input.dim() == 1 ? t.unsqueeze(0) : t; };
  const auto call = [&](const auto& op, const auto& hx) {
    return op(row(input), hx, weight_ih, weight_hh, bias_ih, bias_hh);
  };
  CellState out;
  if (kind_ == CellKind::LSTM) {
    const Tensor states[] = {row(state.h), row(state.c)};
    std::tie(out.h, out.c) = call(taeda::lstm_cell, TensorList(states, 2));
  } else {
    out.h = call(kind_ == CellKind::GRU    ? taeda::gru_cell
                 : kind_ == CellKind::Tanh ? taeda::rnn_tanh_cell
                                           : taeda::rnn_relu_cell,
                 row(state.h));
  }
  if (input.dim() == 2) return out;
  return {out.h.squeeze(0), out.c.defined() ? out.c.squeeze(0) : out.c};
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

using detail::CellKind;

namespace {
CellKind kind_of(Nonlinearity nonlinearity) {
  TAEDA_CHECK_VALUE(nonlinearity == kTanh || nonlinearity == kReLU,
                    "Unknown nonlinearity: an RNN takes kTanh or kReLU");
  return nonlinearity == kReLU ? CellKind::ReLU : CellKind::Tanh;
}
}  // namespace

RNNImpl::RNNImpl(const RNNOptions& o)
    : RNNImplBase(kind_of(o.nonlinearity()), detail::shape_of(o)), options(o) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, const Tensor& hx) {
  auto [output, last] = run(input, {hx, {}});
  return {output, last.h};
}

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(
    const PackedSequence& packed_input, const Tensor& hx) {
  auto [output, last] = run_packed(packed_input, {hx, {}});
  return {output, last.h};
}

LSTMImpl::LSTMImpl(const LSTMOptions& o)
    : RNNImplBase(CellKind::LSTM, detail::shape_of(o)), options(o) {}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(
    const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  detail::CellState initial;
  if (hx) std::tie(initial.h, initial.c) = *hx;
  auto [output, last] = run(input, initial);
  return {output, {last.h, last.c}};
}

std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed_input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  detail::CellState initial;
  if (hx) std::tie(initial.h, initial.c) = *hx;
  auto [output, last] = run_packed(packed_input, initial);
  return {output, {last.h, last.c}};
}

GRUImpl::GRUImpl(const GRUOptions& o)
    : RNNImplBase(CellKind::GRU, detail::shape_of(o)), options(o) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, const Tensor& hx) {
  auto [output, last] = run(input, {hx, {}});
  return {output, last.h};
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(
    const PackedSequence& packed_input, const Tensor& hx) {
  auto [output, last] = run_packed(packed_input, {hx, {}});
  return {output, last.h};
}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(
    const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  detail::CellState state;
  if (hx) std::tie(state.h, state.c) = *hx;
  state = step(input, state);
  return {state.h, state.c};
}

}  // namespace taeda::inline v0_2::nn
