#include "taeda/nn/modules/rnn.h"

#include <cmath>

#include "taeda/ops/create.h"
#include "taeda/ops/dropout.h"
#include "taeda/ops/join.h"
#include "taeda/ops/rnn.h"

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

/// The names of a direction's weights, without their ends.
std::vector<std::string> weight_names(const RNNShape& shape) {
  std::vector<std::string> names = {"weight_ih", "weight_hh"};
  if (shape.bias) names.insert(names.end(), {"bias_ih", "bias_hh"});
  if (shape.proj_size > 0) names.emplace_back("weight_hr");
  return names;
}

}  // namespace

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
  TAEDA_CHECK_VALUE(shape_.proj_size < shape_.hidden_size,
                    "proj_size has to be smaller than hidden_size, but got ", shape_.proj_size,
                    " and ", shape_.hidden_size);
  const int64_t gates = gates_of(kind_) * shape_.hidden_size,
                directions = shape_.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer) {
    const int64_t in = layer == 0 ? shape_.input_size : state_size() * directions;
    for (int64_t d = 0; d < directions; ++d) {
      const std::string end = suffix(layer, d == 1);
      this->register_parameter("weight_ih" + end, empty({gates, in}));
      this->register_parameter("weight_hh" + end, empty({gates, state_size()}));
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
std::string RNNImplBase<Derived>::extra_repr() const {
  std::string out = taeda::detail::concat(shape_.input_size, ", ", shape_.hidden_size);
  if (shape_.proj_size != 0) out += ", proj_size=" + std::to_string(shape_.proj_size);
  if (shape_.num_layers != 1) out += ", num_layers=" + std::to_string(shape_.num_layers);
  if (!shape_.bias) out += ", bias=False";
  if (shape_.batch_first) out += ", batch_first=True";
  if (shape_.dropout != 0) out += ", dropout=" + float_text(shape_.dropout);
  if (shape_.bidirectional) out += ", bidirectional=True";
  return out;
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
  TAEDA_CHECK(input.dim() == 2 || input.dim() == 3, this->name(),
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
      *t = zeros({layers, batch, t == &initial.h ? state_size() : shape_.hidden_size}, x.options());
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

namespace {

/// One layer in one direction, over sequences of one length.
std::pair<Tensor, CellState> run_layer(CellKind kind, const Tensor& input, const CellState& first,
                                       TensorList weights, bool bias) {
  const Tensor h = first.h.unsqueeze(0);
  const auto call = [&](const auto& op, const auto& hx) {
    return op(input, hx, weights, bias, 1, 0.0, false, false, false);
  };
  Tensor output;
  CellState last;
  if (kind == CellKind::LSTM) {
    const Tensor states[] = {h, first.c.unsqueeze(0)};
    std::tie(output, last.h, last.c) = call(taeda::lstm, TensorList(states, 2));
    last.c = last.c.squeeze(0);
  } else {
    std::tie(output, last.h) = call(kind == CellKind::GRU    ? taeda::gru
                                    : kind == CellKind::Tanh ? taeda::rnn_tanh
                                                             : taeda::rnn_relu,
                                    h);
  }
  last.h = last.h.squeeze(0);
  return {output, last};
}

/// `f` of both states, or of the only one.
CellState map_state(const CellState& state, const auto& f) {
  return {f(state.h, 0), state.c.defined() ? f(state.c, 1) : Tensor()};
}

}  // namespace

template <class Derived>
Tensor RNNImplBase<Derived>::packed_state(const Tensor& given, const PackedSequence& input,
                                          int64_t size, const char* name) const {
  const int64_t expected[] = {shape_.num_layers * (shape_.bidirectional ? 2 : 1),
                              input.batch_sizes()[0].template item<int64_t>(), size};
  if (!given.defined()) return zeros(expected, input.data().options());
  TAEDA_CHECK(given.sizes() == IntArrayRef(expected), "Expected ", name, " size ",
              tuple_text(expected), ", got ", given.sizes());
  return input.sorted_indices().defined() ? given.index_select(1, input.sorted_indices()) : given;
}

template <class Derived>
std::pair<Tensor, CellState> RNNImplBase<Derived>::run_runs(const Tensor& rows,
                                                            const std::vector<PackedRun>& runs,
                                                            const CellState& initial,
                                                            TensorList weights, bool reverse) {
  // Forwards, sequences end from run to run; backwards, they begin: the state of those that have
  // ended, or have yet to begin, waits.
  const size_t count = runs.size();
  std::vector<Tensor> outputs(count), h_parts, c_parts;
  const auto rest = [&](const CellState& s, int64_t from, int64_t to) {
    return map_state(s, [&](const Tensor& t, int) { return t.narrow(0, from, to - from); });
  };
  CellState state = rest(initial, 0, runs[reverse ? count - 1 : 0].batch);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = reverse ? count - 1 - i : i;
    const PackedRun& run = runs[at];
    Tensor x =
        rows.narrow(0, run.start, run.steps * run.batch).unflatten(0, {run.steps, run.batch});
    if (reverse) x = x.flip({0});
    auto [y, last] = run_layer(kind_, x, state, weights, shape_.bias);
    outputs[at] = (reverse ? y.flip({0}) : y).flatten(0, 1);
    const int64_t next = i + 1 < count ? runs[reverse ? at - 1 : at + 1].batch
                         : reverse     ? run.batch
                                       : 0;
    if (reverse && next > run.batch) {
      const CellState begin = rest(initial, run.batch, next);
      state = map_state(last, [&](const Tensor& t, int which) {
        const Tensor parts[] = {t, which == 0 ? begin.h : begin.c};
        return cat(TensorList(parts, 2), 0);
      });
    } else if (reverse) {
      state = last;
    } else {
      const CellState end = rest(last, next, run.batch);
      h_parts.insert(h_parts.begin(), end.h);
      if (end.c.defined()) c_parts.insert(c_parts.begin(), end.c);
      if (next > 0) state = rest(last, 0, next);
    }
  }
  if (!reverse) state = {cat(h_parts, 0), c_parts.empty() ? Tensor() : cat(c_parts, 0)};
  return {cat(outputs, 0), state};
}

template <class Derived>
std::pair<PackedSequence, CellState> RNNImplBase<Derived>::run_packed(const PackedSequence& input,
                                                                      CellState initial) {
  Tensor rows = input.data();
  TAEDA_CHECK(rows.dim() == 2, "input must have 2 dimensions, got ", rows.dim());
  TAEDA_CHECK(rows.size(1) == shape_.input_size,
              "input.size(-1) must be equal to input_size. Expected ", shape_.input_size, ", got ",
              rows.size(1));
  const std::vector<PackedRun> runs = utils::rnn::runs_of(input);
  const bool lstm = kind_ == CellKind::LSTM;
  initial.h = packed_state(initial.h, input, state_size(), lstm ? "hidden[0]" : "hidden");
  if (lstm) initial.c = packed_state(initial.c, input, shape_.hidden_size, "hidden[1]");
  const std::vector<Tensor> all = all_weights();
  const int64_t directions = shape_.bidirectional ? 2 : 1,
                each = static_cast<int64_t>(weight_names(shape_).size());
  std::vector<Tensor> h, c;
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer) {
    if (layer > 0) rows = taeda::dropout(rows, shape_.dropout, this->is_training());
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t i = layer * directions + d;
      auto [output, last] = run_runs(
          rows, runs, map_state(initial, [&](const Tensor& t, int) { return t.select(0, i); }),
          TensorList(all.data() + i * each, each), d == 1);
      outputs.push_back(output);
      h.push_back(last.h);
      c.push_back(last.c);
    }
    rows = directions == 1 ? outputs[0] : cat(outputs, 1);
  }
  const CellState last =
      map_state({stack(h, 0), lstm ? stack(c, 0) : Tensor()}, [&](const Tensor& t, int) {
        const Tensor& order = input.unsorted_indices();
        return order.defined() ? t.index_select(1, order) : t;
      });
  return {
      PackedSequence(rows, input.batch_sizes(), input.sorted_indices(), input.unsorted_indices()),
      last};
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
