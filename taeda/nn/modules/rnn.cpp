#include "taeda/nn/modules/rnn.h"

#include <cmath>

#include "taeda/nn/functional/dropout.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/matmul.h"

namespace taeda::nn {

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
  return {o.input_size(),  o.hidden_size(),   o.num_layers(), o.bias(),
          o.batch_first(), o.bidirectional(), o.dropout()};
}

}  // namespace

CellState cell_step(CellKind kind, const Tensor& x_part, const CellState& state,
                    const CellWeights& w) {
  const Tensor h_part = taeda::linear(state.h, w.w_hh, w.b_hh);
  if (kind == CellKind::GRU) {
    const std::vector<Tensor> x = x_part.chunk(3, -1), h = h_part.chunk(3, -1);
    const Tensor r = x[0].add(h[0]).sigmoid(), z = x[1].add(h[1]).sigmoid();
    const Tensor n = x[2].add(r.mul(h[2])).tanh();
    return {state.h.sub(n).mul(z).add(n), {}};
  }
  const Tensor gates = x_part.add(h_part);
  if (kind == CellKind::Tanh) return {gates.tanh(), {}};
  if (kind == CellKind::ReLU) return {gates.relu(), {}};
  const std::vector<Tensor> g = gates.chunk(4, -1);
  const Tensor c = g[1].sigmoid().mul(state.c).add(g[0].sigmoid().mul(g[2].tanh()));
  return {g[3].sigmoid().mul(c.tanh()), c};
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  TAEDA_CHECK_VALUE(shape_.dropout >= 0 && shape_.dropout <= 1,
                    "dropout should be a number in range [0, 1] representing the "
                    "probability of an element being zeroed, but got ",
                    shape_.dropout);
  TAEDA_CHECK_VALUE(shape_.num_layers > 0, "num_layers must be greater than zero, but got ",
                    shape_.num_layers);
  const int64_t gates = gates_of(kind_) * shape_.hidden_size,
                directions = shape_.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer) {
    const int64_t in = layer == 0 ? shape_.input_size : shape_.hidden_size * directions;
    for (int64_t d = 0; d < directions; ++d) {
      const std::string end = suffix(layer, d == 1);
      this->register_parameter("weight_ih" + end, empty({gates, in}));
      this->register_parameter("weight_hh" + end, empty({gates, shape_.hidden_size}));
      this->register_parameter("bias_ih" + end, shape_.bias ? empty({gates}) : Tensor());
      this->register_parameter("bias_hh" + end, shape_.bias ? empty({gates}) : Tensor());
    }
  }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  draw_uniform(this->parameters(), shape_.hidden_size);
}

template <class Derived>
std::string RNNImplBase<Derived>::extra_repr() const {
  std::string out = taeda::detail::concat(shape_.input_size, ", ", shape_.hidden_size);
  if (shape_.num_layers != 1) out += ", num_layers=" + std::to_string(shape_.num_layers);
  if (!shape_.bias) out += ", bias=False";
  if (shape_.batch_first) out += ", batch_first=True";
  if (shape_.dropout != 0) out += ", dropout=" + float_text(shape_.dropout);
  if (shape_.bidirectional) out += ", bidirectional=True";
  return out;
}

template <class Derived>
CellWeights RNNImplBase<Derived>::weights(int64_t layer, bool reverse) const {
  const std::string end = suffix(layer, reverse);
  return {this->parameters_["weight_ih" + end], this->parameters_["weight_hh" + end],
          this->parameters_["bias_ih" + end], this->parameters_["bias_hh" + end]};
}

template <class Derived>
std::pair<Tensor, CellState> RNNImplBase<Derived>::run(const Tensor& input, CellState initial) {
  TAEDA_CHECK(input.dim() == 2 || input.dim() == 3, this->name(),
              ": Expected input to be 2-D or 3-D but received ", input.dim(), "-D tensor");
  TAEDA_CHECK(input.size(-1) == shape_.input_size,
              "input.size(-1) must be equal to input_size. Expected ", shape_.input_size, ", got ",
              input.size(-1));
  const bool batched = input.dim() == 3;
  Tensor x = batched ? (shape_.batch_first ? input.transpose(0, 1) : input) : input.unsqueeze(1);
  const int64_t layers = shape_.num_layers * (shape_.bidirectional ? 2 : 1), batch = x.size(1);
  for (Tensor* t : {&initial.h, &initial.c}) {
    if (!t->defined()) {
      *t = zeros({layers, batch, shape_.hidden_size}, x.options());
      continue;
    }
    if (!batched) *t = t->unsqueeze(1);
    const int64_t expected[] = {layers, batch, shape_.hidden_size};
    TAEDA_CHECK(t->sizes() == IntArrayRef(expected), "Expected hidden size ", IntArrayRef(expected),
                ", got ", t->sizes());
  }
  auto [output, last] = run_batched(std::move(x), initial);
  if (!batched) {
    const Tensor c = last.c.defined() ? last.c.squeeze(1) : last.c;
    return {output.squeeze(1), {last.h.squeeze(1), c}};
  }
  return {shape_.batch_first ? output.transpose(0, 1) : output, last};
}

template <class Derived>
std::pair<Tensor, CellState> RNNImplBase<Derived>::run_batched(Tensor x, const CellState& initial) {
  const int64_t directions = shape_.bidirectional ? 2 : 1, steps = x.size(0);
  std::vector<Tensor> last_h, last_c;
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const CellWeights w = weights(layer, d == 1);
      // The inputs' part of all steps is one matrix product.
      const std::vector<Tensor> x_parts = taeda::linear(x, w.w_ih, w.b_ih).unbind(0);
      const int64_t row = layer * directions + d;
      CellState state{initial.h.select(0, row), initial.c.select(0, row)};
      std::vector<Tensor> hidden(static_cast<size_t>(steps));
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = d == 1 ? steps - 1 - i : i;
        state = cell_step(kind_, x_parts[t], state, w);
        hidden[t] = state.h;
      }
      outputs.push_back(stack(hidden, 0));
      last_h.push_back(state.h);
      if (kind_ == CellKind::LSTM) last_c.push_back(state.c);
    }
    x = directions == 1 ? outputs[0] : cat(outputs, -1);
    if (shape_.dropout > 0 && this->is_training() && layer + 1 < shape_.num_layers)
      x = functional::dropout(x, shape_.dropout, true);
  }
  return {x, {stack(last_h, 0), last_c.empty() ? Tensor() : stack(last_c, 0)}};
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
std::string RNNCellImplBase<Derived>::extra_repr() const {
  std::string out = taeda::detail::concat(options.input_size(), ", ", options.hidden_size());
  if (!options.bias()) out += ", bias=False";
  if (kind_ == CellKind::ReLU) out += ", nonlinearity=relu";
  return out;
}

template <class Derived>
CellState RNNCellImplBase<Derived>::step(const Tensor& input, CellState state) {
  TAEDA_CHECK(input.dim() == 1 || input.dim() == 2, this->name(),
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
  return cell_step(kind_, taeda::linear(input, weight_ih, bias_ih), state,
                   {weight_ih, weight_hh, bias_ih, bias_hh});
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

LSTMImpl::LSTMImpl(const LSTMOptions& o)
    : RNNImplBase(CellKind::LSTM, detail::shape_of(o)), options(o) {}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(
    const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  detail::CellState initial;
  if (hx) std::tie(initial.h, initial.c) = *hx;
  auto [output, last] = run(input, initial);
  return {output, {last.h, last.c}};
}

GRUImpl::GRUImpl(const GRUOptions& o)
    : RNNImplBase(CellKind::GRU, detail::shape_of(o)), options(o) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, const Tensor& hx) {
  auto [output, last] = run(input, {hx, {}});
  return {output, last.h};
}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(
    const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  detail::CellState state;
  if (hx) std::tie(state.h, state.c) = *hx;
  state = step(input, state);
  return {state.h, state.c};
}

}  // namespace taeda::nn
