#include "taeda/ops/nn/rnn.h"

#include <memory>
#include <optional>
#include <utility>

#include "bodies/rnn.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/nn/rnn_checks.h"
#include "taeda/ops/nn/rnn_projected.h"
#include "taeda/ops/nn/rnn_steps.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2 {

namespace {

using detail::check_like_input, detail::check_weight;
using detail::RnnKept, detail::RnnResult, detail::RnnWeights;

/// The names of operations, by mode.
constexpr const char* kRnnNames[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};
const char* name_of(RnnMode mode) { return kRnnNames[static_cast<int>(mode)]; }

// ---- The network from differentiable operations: what second derivatives are made of

/// One step; `x_part` is W_ih x + b_ih.
RnnResult composed_step(RnnMode mode, const Tensor& x_part, const Tensor& h, const Tensor& c,
                        const RnnWeights& w) {
  const Tensor h_part = linear(h, w.w_hh, w.b_hh);
  if (mode == RnnMode::GRU) {
    const std::vector<Tensor> xs = x_part.chunk(3, -1), hs = h_part.chunk(3, -1);
    const Tensor r = xs[0].add(hs[0]).sigmoid(), z = xs[1].add(hs[1]).sigmoid();
    const Tensor n = xs[2].add(r.mul(hs[2])).tanh();
    return {{}, h.sub(n).mul(z).add(n), {}};
  }
  const Tensor sum = x_part.add(h_part);
  if (mode == RnnMode::Tanh) return {{}, sum.tanh(), {}};
  if (mode == RnnMode::ReLU) return {{}, sum.relu(), {}};
  const std::vector<Tensor> g = sum.chunk(4, -1);
  const Tensor next = g[1].sigmoid().mul(c).add(g[0].sigmoid().mul(g[2].tanh()));
  return {{}, g[3].sigmoid().mul(next.tanh()), next};
}

RnnResult composed(const RnnShape& s, Tensor x, const Tensor& h, const Tensor& c,
                   TensorList params) {
  const int64_t directions = s.bidirectional ? 2 : 1, steps = x.size(0);
  std::vector<Tensor> last_h, last_c;
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t row = layer * directions + d;
      const RnnWeights w = detail::rnn_weights(params, s.biases, row);
      const std::vector<Tensor> x_parts = linear(x, w.w_ih, w.b_ih).unbind(0);
      RnnResult state{{}, h.select(0, row), c.defined() ? c.select(0, row) : Tensor()};
      std::vector<Tensor> hidden(static_cast<size_t>(steps));
      for (int64_t i = 0; i < steps; ++i) {
        const size_t t = static_cast<size_t>(d == 1 ? steps - 1 - i : i);
        state = composed_step(s.mode, x_parts[t], state.h, state.c, w);
        hidden[t] = state.h;
      }
      outputs.push_back(stack(hidden, 0));
      last_h.push_back(state.h);
      if (c.defined()) last_c.push_back(state.c);
    }
    x = directions == 1 ? outputs[0] : cat(outputs, -1);
  }
  return {x, stack(last_h, 0), last_c.empty() ? Tensor() : stack(last_c, 0)};
}

// ---- One node for layers without dropout between them

/// What backward needs. Inputs are x, h, c and the params.
struct Recorded {
  RnnShape shape;
  std::vector<autograd::Saved> inputs;
  autograd::Saved y;
  std::vector<RnnKept> kept;  // of the own steps
  Tensor packed, reserve;     // of a library
  bool reserve_used = false;

  std::vector<Tensor> unpack() const {
    std::vector<Tensor> out;
    for (const autograd::Saved& s : inputs) out.push_back(s.unpack());
    return out;
  }
};

std::vector<bool> needed(size_t count, Needs needs) {
  std::vector<bool> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = needs[i];
  return out;
}

TensorList params_of(const std::vector<Tensor>& inputs) {
  return TensorList(inputs.data() + 3, inputs.size() - 3);
}

/// A second pass over a graph that was kept finds the reserve used up: forward fills it again.
void refill(Recorded& r, const std::vector<Tensor>& in) {
  if (!std::exchange(r.reserve_used, true)) return;
  const Tensor y = empty_like(r.y.unpack()), h = empty_like(in[1]),
               c = in[2].defined() ? empty_like(in[2]) : Tensor();
  rnn_slot(y.device().type(), y, h, c, r.packed, r.reserve, in[0], in[1], in[2], params_of(in),
           r.shape);
}

std::vector<Tensor> library_gradients(Recorded& r, const RnnResult& grads, Needs needs) {
  const NoGradGuard guard;
  const std::vector<Tensor> in = r.unpack();
  refill(r, in);
  const Tensor y = r.y.unpack();
  const auto dense = [](const Tensor& t) { return t.defined() ? t.contiguous() : t; };
  const Tensor grad_y = grads.y.defined() ? grads.y.contiguous() : zeros_like(y);
  std::vector<Tensor> out;
  bool weights = false;
  for (size_t i = 0; i < in.size(); ++i) {
    out.push_back(in[i].defined() ? make_tensor(in[i].sizes(), in[i].dtype(), in[i].device())
                                  : Tensor());
    weights = weights || (i >= 3 && needs[i]);
  }
  rnn_backward_slot(y.device().type(), out[0], out[1], out[2],
                    weights ? params_of(out) : TensorList(), r.packed, r.reserve, y, grad_y,
                    dense(grads.h), dense(grads.c), in[0], in[1], in[2], r.shape);
  return out;
}

/// The same by a recorded pass over the composed network, which ends at stand-ins of the inputs.
std::vector<Tensor> composed_gradients(const Recorded& r, const RnnResult& grads, Needs needs) {
  std::vector<Tensor> given = r.unpack();
  std::vector<autograd::Edge> ends(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].defined() || !wants_grad(given[i])) continue;
    const Tensor input = given[i];
    given[i] = make_alias(input);
    record("RnnInput", given[i], {input}, [](const Tensor& g) { return g; });
    ends[i] = autograd::gradient_edge(given[i]);
  }
  const RnnResult out = composed(r.shape, given[0], given[1], given[2], params_of(given));
  std::vector<Tensor> outputs, weights;
  const auto add = [&](const Tensor& result, const Tensor& grad) {
    if (!grad.defined() || !result.requires_grad()) return;
    outputs.push_back(result);
    weights.push_back(grad);
  };
  add(out.y, grads.y);
  add(out.h, grads.h);
  add(out.c, grads.c);
  return autograd::grad_at(outputs, weights, ends, needs, true);
}

std::vector<Tensor> gradients(Recorded& r, const RnnResult& grads, Needs needs) {
  return detail::fused_or_differentiable(
      [&] {
        if (r.packed.defined()) return library_gradients(r, grads, needs);
        const std::vector<Tensor> in = r.unpack();
        return detail::rnn_layer_backward(r.shape, in[0], in[1], in[2], params_of(in), r.y.unpack(),
                                          r.kept, grads, needed(in.size(), needs));
      },
      [&] { return composed_gradients(r, grads, needs); });
}

/// Whether the device itself takes the network, and the memory for it in `r`.
bool taken_by_library(Recorded& r, const Tensor& x, bool training) {
  const DeviceType device = x.device().type();
  if (!rnn_space_slot.get(device) || x.numel() == 0) return false;
  RnnSpace space;
  rnn_space_slot(device, x, r.shape, training, &space);
  if (!space.taken) return false;
  r.packed = make_tensor({space.weights}, x.dtype(), x.device());
  if (training) r.reserve = make_tensor({space.reserve}, kByte, x.device());
  return true;
}

RnnResult library_forward(const Recorded& r, const std::vector<Tensor>& in) {
  const NoGradGuard guard;
  RnnResult out{
      make_tensor({in[0].size(0), in[0].size(1), (r.shape.bidirectional ? 2 : 1) * r.shape.hidden},
                  in[0].dtype(), in[0].device()),
      empty_like(in[1]), in[2].defined() ? empty_like(in[2]) : Tensor()};
  rnn_slot(in[0].device().type(), out.y, out.h, out.c, r.packed, r.reserve, in[0], in[1], in[2],
           params_of(in), r.shape);
  return out;
}

/// Layers as one node: several by the device's own network, else one. Inputs are contiguous.
/// Nothing where there are several and the device has no network for them. In a map (Note [Mapped
/// tensors]) they are taken apart.
std::optional<RnnResult> run_layers(const RnnShape& shape, const std::vector<Tensor>& in) {
  for (const Tensor& t : in)
    if (is_mapped(t)) return composed(shape, in[0], in[1], in[2], params_of(in));
  const bool recording = any_wants_grad(in);
  auto r = std::make_shared<Recorded>();
  r->shape = shape;
  RnnResult out;
  if (taken_by_library(*r, in[0], recording))
    out = library_forward(*r, in);
  else if (shape.layers > 1)
    return std::nullopt;
  else
    out = detail::rnn_layer(shape, in[0], in[1], in[2], params_of(in),
                            recording ? &r->kept : nullptr);
  if (!recording) return out;
  for (const Tensor& t : in) r->inputs.push_back(save_tensor(t));
  r->y = save_output(out.y);
  std::vector<Tensor> results{out.y, out.h};
  if (out.c.defined()) results.push_back(out.c);
  const std::vector<autograd::Input> edges(in.begin(), in.end());
  autograd::record_multi("RnnLayerBackward0", results, edges, [r](const TensorVec& g, Needs needs) {
    return gradients(*r, {g[0], g[1], g.size() > 2 ? g[2] : Tensor()}, needs);
  });
  return out;
}

// ---- Checks

/// The network's shape, after checks of everything about it.
RnnShape check_network(RnnMode mode, const Tensor& input, TensorList hx, TensorList params,
                       bool has_biases, int64_t num_layers, bool bidirectional) {
  const char* op = name_of(mode);
  TAEDA_CHECK(input.dim() == 3, "input must have 3 dimensions, got ", input.dim());
  check_floating(op, input);
  const int64_t directions = bidirectional ? 2 : 1, count = num_layers * directions,
                each = has_biases ? 4 : 2;
  TAEDA_CHECK(num_layers > 0 && params.size() == static_cast<size_t>(count * each),
              "got an incorrect number of RNN parameters");
  TAEDA_CHECK(mode != RnnMode::LSTM || hx.size() == 2, "lstm expects two hidden states");
  for (const Tensor& t : hx) check_like_input("hidden", input, t);
  for (const Tensor& t : params) check_like_input("parameter", input, t);
  TAEDA_CHECK(params[1].dim() == 2, op, ": Expected weight_hh to be a matrix, got ",
              params[1].sizes());
  const int64_t hidden = params[1].size(1), gates = rnn_gates(mode) * hidden;
  RnnShape shape{mode, input.size(2), hidden, num_layers, bidirectional, has_biases};
  TAEDA_CHECK(params[0].dim() != 2 || params[0].size(1) == shape.input,
              "input.size(-1) must be equal to input_size. Expected ", params[0].size(1), ", got ",
              shape.input);
  for (int64_t i = 0; i < count; ++i) {
    const RnnWeights w = detail::rnn_weights(params, has_biases, i);
    check_weight(op, "weight_ih", w.w_ih,
                 {gates, i < directions ? shape.input : directions * hidden});
    check_weight(op, "weight_hh", w.w_hh, {gates, hidden});
    if (!has_biases) continue;
    check_weight(op, "bias_ih", w.b_ih, {gates});
    check_weight(op, "bias_hh", w.b_hh, {gates});
  }
  for (const Tensor& t : hx) {
    const int64_t expected[] = {count, input.size(1), hidden};
    TAEDA_CHECK(t.sizes() == IntArrayRef(expected), "Expected hidden size ", IntArrayRef(expected),
                ", got ", t.sizes());
  }
  TAEDA_CHECK(input.size(0) > 0, "Expected sequence length to be larger than 0 in RNN");
  return shape;
}

// ---- Whole networks

/// Inputs of some of a network's layers.
std::vector<Tensor> layer_inputs(const RnnShape& s, const Tensor& x, TensorList hx,
                                 TensorList params, int64_t layer) {
  const int64_t directions = s.bidirectional ? 2 : 1;
  const size_t each = static_cast<size_t>(directions * (s.biases ? 4 : 2));
  const auto part = [&](const Tensor& t) {
    return (s.layers == 1 ? t : t.narrow(0, layer * directions, directions)).contiguous();
  };
  std::vector<Tensor> in{x.contiguous(), part(hx[0]), hx.size() > 1 ? part(hx[1]) : Tensor()};
  for (const Tensor& t : params.slice(static_cast<size_t>(layer) * each, each))
    in.push_back(t.contiguous());
  return in;
}

/// x is [T, N, in].
RnnResult run_network(const RnnShape& shape, Tensor x, TensorList hx, TensorList params,
                      double dropout_p) {
  if (shape.layers == 1) return *run_layers(shape, layer_inputs(shape, x, hx, params, 0));
  if (dropout_p == 0 && rnn_space_slot.get(x.device().type())) {
    std::vector<Tensor> in{x.contiguous(), hx[0].contiguous(),
                           hx.size() > 1 ? hx[1].contiguous() : Tensor()};
    for (const Tensor& t : params) in.push_back(t.contiguous());
    if (const auto out = run_layers(shape, in)) return *out;
  }
  std::vector<Tensor> h, c;
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    RnnShape one = shape;
    one.layers = 1;
    one.input = x.size(2);
    const RnnResult out = *run_layers(one, layer_inputs(shape, x, hx, params, layer));
    x = out.y;
    h.push_back(out.h);
    if (out.c.defined()) c.push_back(out.c);
    if (dropout_p > 0 && layer + 1 < shape.layers) x = dropout(x, dropout_p, true);
  }
  return {x, cat(h, 0), c.empty() ? Tensor() : cat(c, 0)};
}

/// Calls f(input, hx, params), under autocast with all of them in the lower precision. A device
/// that would compute each step's products in float32 computes all of the network in it: the
/// weights would be widened for every step. On the host a GRU and single cells, which PyTorch
/// composes there, have results as wide as the states that they begin with (`keeps_states`).
template <class F>
RnnResult with_autocast(bool keeps_states, const Tensor& input, TensorList hx, TensorList params,
                        F&& f) {
  if (!policy::applies(input)) return f(input, hx, params);
  const bool wide = policy::multiplies_in_float32(input);
  const auto lower = [](const Tensor& t) { return policy::to_lower_precision(t); };
  const auto cast = [&](const Tensor& t) { return wide ? policy::to_float32(t) : lower(t); };
  const auto cast_all = [&](TensorList list) {
    std::vector<Tensor> out;
    for (const Tensor& t : list) out.push_back(cast(t));
    return out;
  };
  const Tensor x = cast(input);
  const std::vector<Tensor> states = cast_all(hx), weights = cast_all(params);
  RnnResult out;
  {
    const AutocastMode::Pause pause;
    out = f(x, TensorList(states), TensorList(weights));
  }
  if (keeps_states && input.is_cpu() && hx[0].dtype() == kFloat) {
    const auto widened = [](const Tensor& t) { return policy::to_float32(t); };
    return {widened(out.y), widened(out.h), widened(out.c)};
  }
  return wide ? RnnResult{lower(out.y), lower(out.h), lower(out.c)} : out;
}

RnnResult network(RnnMode mode, const Tensor& input, TensorList hx, TensorList params,
                  bool has_biases, int64_t num_layers, double dropout_p, bool train,
                  bool bidirectional, bool batch_first, bool is_cell = false) {
  const bool keeps_states = mode == RnnMode::GRU || (mode == RnnMode::LSTM && is_cell);
  return with_autocast(
      keeps_states, input, hx, params, [&](const Tensor& x, TensorList states, TensorList weights) {
        const bool turn = batch_first && x.dim() == 3;
        const Tensor steps = turn ? x.transpose(0, 1) : x;
        const double p = train ? dropout_p : 0;
        RnnResult out;
        if (mode == RnnMode::LSTM &&
            detail::is_projected(weights, has_biases, num_layers, bidirectional))
          out = detail::projected_lstm(steps, states, weights, has_biases, num_layers, p,
                                       bidirectional);
        else
          out = run_network(
              check_network(mode, steps, states, weights, has_biases, num_layers, bidirectional),
              steps, states, weights, p);
        if (turn) out.y = out.y.transpose(0, 1);
        return out;
      });
}

/// A step is a sequence of one.
RnnResult cell(RnnMode mode, const Tensor& input, TensorList hx, const Tensor& w_ih,
               const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  TAEDA_CHECK(input.dim() == 2, name_of(mode), "_cell: Expected input to be 2-D, got ", input.dim(),
              "-D tensor");
  TAEDA_CHECK(mode != RnnMode::LSTM || hx.size() == 2, "lstm_cell expects two hidden states");
  std::vector<Tensor> params{w_ih, w_hh};
  const bool biased = b_ih.defined() || b_hh.defined();
  if (biased)  // one that is missing is zero
    params.insert(params.end(), {b_ih.defined() ? b_ih : zeros_like(b_hh),
                                 b_hh.defined() ? b_hh : zeros_like(b_ih)});
  std::vector<Tensor> states;
  for (const Tensor& t : hx) states.push_back(t.unsqueeze(0));
  const RnnResult out =
      network(mode, input.unsqueeze(0), states, params, biased, 1, 0, false, false, false, true);
  return {{}, out.y.squeeze(0), out.c.defined() ? out.c.squeeze(0) : out.c};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> do_lstm(const Tensor& input, TensorList hx, TensorList params,
                                           bool has_biases, int64_t num_layers, double dropout,
                                           bool train, bool bidirectional, bool batch_first) {
  const RnnResult out = network(RnnMode::LSTM, input, hx, params, has_biases, num_layers, dropout,
                                train, bidirectional, batch_first);
  return {out.y, out.h, out.c};
}

std::tuple<Tensor, Tensor> do_gru(const Tensor& input, const Tensor& hx, TensorList params,
                                  bool has_biases, int64_t num_layers, double dropout, bool train,
                                  bool bidirectional, bool batch_first) {
  const RnnResult out = network(RnnMode::GRU, input, {&hx, 1}, params, has_biases, num_layers,
                                dropout, train, bidirectional, batch_first);
  return {out.y, out.h};
}

std::tuple<Tensor, Tensor> do_rnn_tanh(const Tensor& input, const Tensor& hx, TensorList params,
                                       bool has_biases, int64_t num_layers, double dropout,
                                       bool train, bool bidirectional, bool batch_first) {
  const RnnResult out = network(RnnMode::Tanh, input, {&hx, 1}, params, has_biases, num_layers,
                                dropout, train, bidirectional, batch_first);
  return {out.y, out.h};
}

std::tuple<Tensor, Tensor> do_rnn_relu(const Tensor& input, const Tensor& hx, TensorList params,
                                       bool has_biases, int64_t num_layers, double dropout,
                                       bool train, bool bidirectional, bool batch_first) {
  const RnnResult out = network(RnnMode::ReLU, input, {&hx, 1}, params, has_biases, num_layers,
                                dropout, train, bidirectional, batch_first);
  return {out.y, out.h};
}

std::tuple<Tensor, Tensor> do_lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                        const Tensor& w_hh, const Tensor& b_ih,
                                        const Tensor& b_hh) {
  const RnnResult out = cell(RnnMode::LSTM, input, hx, w_ih, w_hh, b_ih, b_hh);
  return {out.h, out.c};
}

Tensor do_gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                   const Tensor& b_ih, const Tensor& b_hh) {
  return cell(RnnMode::GRU, input, {&hx, 1}, w_ih, w_hh, b_ih, b_hh).h;
}

Tensor do_rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                        const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  return cell(RnnMode::Tanh, input, {&hx, 1}, w_ih, w_hh, b_ih, b_hh).h;
}

Tensor do_rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                        const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  return cell(RnnMode::ReLU, input, {&hx, 1}, w_ih, w_hh, b_ih, b_hh).h;
}

}  // namespace taeda::inline v0_2
