// Recurrent networks.
#include "taeda/base/error.h"
#include "taeda/onnx/run.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/rnn.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// `t`, [G H, ...], with its gates in Taeda's order: gate i is `order[i]` of ONNX's.
Tensor in_our_order(const Tensor& t, const std::vector<size_t>& order) {
  const auto gates = static_cast<int64_t>(order.size());
  if (gates == 1) return t;
  TAEDA_CHECK(t.size(0) % gates == 0, "its weights have sizes ", t.sizes(), " for ", gates,
              " gates");
  const std::vector<Tensor> parts = t.chunk(gates);
  std::vector<Tensor> out;
  for (const size_t gate : order) out.push_back(parts[gate]);
  return cat(out);
}

struct Layer {
  int64_t directions, hidden, batch;
  bool backward;  ///< runs from the end, without a forward direction
  Tensor x;       ///< [T, N, in]
  std::vector<Tensor> params;
};

/// Inputs (X, W, R, B, sequence_lens, ...) of a network with these gates.
Layer layer_of(const Run& r, const std::vector<size_t>& order) {
  Layer l{};
  const std::string direction = r.text("direction", "forward");
  l.backward = direction == "reverse";
  l.directions = direction == "bidirectional" ? 2 : 1;
  if (r.integer("layout", 0) != 0) r.refuse("its batch comes first");
  if (r.has(4)) r.refuse("its sequences have different lengths");
  if (r.told("clip")) r.refuse("it clips");
  const Tensor &w = r.in(1), &u = r.in(2);
  TAEDA_CHECK(r.in(0).dim() == 3 && w.dim() == 3 && u.dim() == 3 && w.size(0) == l.directions &&
                  u.size(0) == l.directions,
              "it takes [T, N, in] and weights of ", l.directions, " direction(s), got sizes ",
              r.in(0).sizes(), ", ", w.sizes(), " and ", u.sizes());
  l.x = l.backward ? r.in(0).flip(0) : r.in(0);
  l.hidden = u.size(2);
  l.batch = l.x.size(1);
  for (int64_t d = 0; d < l.directions; ++d) {
    l.params.push_back(in_our_order(w.select(0, d), order));
    l.params.push_back(in_our_order(u.select(0, d), order));
    if (!r.has(3)) continue;
    TAEDA_CHECK(r.in(3).dim() == 2 && r.in(3).size(1) % 2 == 0, "its bias has sizes ",
                r.in(3).sizes());
    for (const Tensor& half : r.in(3).select(0, d).chunk(2))
      l.params.push_back(in_our_order(half, order));
  }
  return l;
}

Tensor state_of(const Run& r, const Layer& l, size_t i) {
  return r.has(i) ? r.in(i) : l.x.new_zeros({l.directions, l.batch, l.hidden});
}

/// [T, N, D H] as ONNX's [T, D, N, H].
void give_output(Run& r, const Layer& l, const Tensor& y) {
  const Tensor out = y.reshape({y.size(0), l.batch, l.directions, l.hidden}).permute({0, 2, 1, 3});
  r.give(l.backward ? out.flip(0) : out, 0);
}

void check_activations(const Run& r, const std::vector<std::string>& usual) {
  const std::vector<std::string> told = r.texts("activations");
  for (size_t i = 0; i < told.size(); ++i)
    if (told[i] != usual[i % usual.size()]) r.refuse("its activation is " + told[i]);
}

void run_lstm(Run& r) {
  check_activations(r, {"Sigmoid", "Tanh", "Tanh"});
  if (r.has(7) || r.integer("input_forget", 0) != 0) r.refuse("its gates see the cell (peepholes)");
  const Layer l = layer_of(r, {0, 2, 3, 1});  // from i, o, f, g
  const Tensor states[] = {state_of(r, l, 5), state_of(r, l, 6)};
  const auto [y, h, c] =
      lstm(l.x, states, l.params, r.has(3), 1, 0, false, l.directions == 2, false);
  give_output(r, l, y);
  r.give(h, 1);
  r.give(c, 2);
}

void run_gru(Run& r) {
  check_activations(r, {"Sigmoid", "Tanh"});
  if (r.integer("linear_before_reset", 0) == 0)
    r.refuse("its reset gate comes before the product (linear_before_reset = 0)");
  const Layer l = layer_of(r, {1, 0, 2});  // from z, r, n
  const auto [y, h] =
      gru(l.x, state_of(r, l, 5), l.params, r.has(3), 1, 0, false, l.directions == 2, false);
  give_output(r, l, y);
  r.give(h, 1);
}

void run_rnn(Run& r) {
  const std::vector<std::string> told = r.texts("activations");
  const bool relu = !told.empty() && told[0] == "Relu";
  check_activations(r, {relu ? "Relu" : "Tanh"});
  const Layer l = layer_of(r, {0});
  const auto run = relu ? rnn_relu : rnn_tanh;
  const auto [y, h] =
      run(l.x, state_of(r, l, 5), l.params, r.has(3), 1, 0, false, l.directions == 2, false);
  give_output(r, l, y);
  r.give(h, 1);
}

constexpr Operator kRecurrentOperators[] = {
    {"LSTM", run_lstm},
    {"GRU", run_gru},
    {"RNN", run_rnn},
};

}  // namespace

std::span<const Operator> recurrent_operators() { return kRecurrentOperators; }

}  // namespace taeda::inline v0_2::onnx
