#include "taeda/ops/nn/rnn_projected.h"

#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/rnn_checks.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::detail {

namespace {

struct ProjectedWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

size_t weights_of_direction(bool biases) { return biases ? 5 : 3; }

ProjectedWeights weights_at(TensorList params, bool biases, int64_t direction) {
  const size_t each = weights_of_direction(biases), first = static_cast<size_t>(direction) * each;
  return {params[first], params[first + 1], biases ? params[first + 2] : Tensor(),
          biases ? params[first + 3] : Tensor(), params[first + each - 1]};
}

void check_states(const Tensor& x, TensorList hx, int64_t count, int64_t hidden,
                  int64_t projected) {
  TAEDA_CHECK(hx.size() == 2, "lstm expects two hidden states");
  for (size_t i = 0; i < 2; ++i) {
    check_like_input("hidden", x, hx[i]);
    const int64_t expected[] = {count, x.size(1), i == 0 ? projected : hidden};
    TAEDA_CHECK(hx[i].sizes() == IntArrayRef(expected), "Expected hidden size ",
                IntArrayRef(expected), ", got ", hx[i].sizes());
  }
}

void check_projected(const Tensor& x, TensorList hx, TensorList params, bool biases, int64_t layers,
                     bool bidirectional) {
  TAEDA_CHECK(x.dim() == 3, "input must have 3 dimensions, got ", x.dim());
  check_floating("lstm", x);
  for (const Tensor& t : params) check_like_input("parameter", x, t);
  const int64_t directions = bidirectional ? 2 : 1, count = layers * directions;
  const ProjectedWeights first = weights_at(params, biases, 0);
  TAEDA_CHECK(first.w_hr.dim() == 2, "lstm: Expected weight_hr to be a matrix, got ",
              first.w_hr.sizes());
  const int64_t projected = first.w_hr.size(0), hidden = first.w_hr.size(1), gates = 4 * hidden;
  TAEDA_CHECK(first.w_ih.dim() != 2 || first.w_ih.size(1) == x.size(2),
              "input.size(-1) must be equal to input_size. Expected ", first.w_ih.size(1), ", got ",
              x.size(2));
  for (int64_t i = 0; i < count; ++i) {
    const ProjectedWeights w = weights_at(params, biases, i);
    check_weight("lstm", "weight_ih", w.w_ih,
                 {gates, i < directions ? x.size(2) : directions * projected});
    check_weight("lstm", "weight_hh", w.w_hh, {gates, projected});
    check_weight("lstm", "weight_hr", w.w_hr, {projected, hidden});
    if (!biases) continue;
    check_weight("lstm", "bias_ih", w.b_ih, {gates});
    check_weight("lstm", "bias_hh", w.b_hh, {gates});
  }
  check_states(x, hx, count, hidden, projected);
  TAEDA_CHECK(x.size(0) > 0, "Expected sequence length to be larger than 0 in RNN");
}

/// One direction of one layer: output [T, N, P] and last states.
RnnResult run_direction(const Tensor& x, Tensor h, Tensor c, const ProjectedWeights& w,
                        bool reverse) {
  const std::vector<Tensor> x_parts = linear(x, w.w_ih, w.b_ih).unbind(0);
  const size_t steps = x_parts.size();
  std::vector<Tensor> outputs(steps);
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = reverse ? steps - 1 - i : i;
    const std::vector<Tensor> g = x_parts[t].add(linear(h, w.w_hh, w.b_hh)).chunk(4, -1);
    c = g[1].sigmoid().mul(c).add(g[0].sigmoid().mul(g[2].tanh()));
    h = linear(g[3].sigmoid().mul(c.tanh()), w.w_hr);
    outputs[t] = h;
  }
  return {stack(outputs, 0), h, c};
}

}  // namespace

bool is_projected(TensorList params, bool biases, int64_t layers, bool bidirectional) {
  const int64_t count = layers * (bidirectional ? 2 : 1);
  return layers > 0 && params.size() == static_cast<size_t>(count) * weights_of_direction(biases);
}

RnnResult projected_lstm(const Tensor& x, TensorList hx, TensorList params, bool biases,
                         int64_t layers, double dropout_p, bool bidirectional) {
  check_projected(x, hx, params, biases, layers, bidirectional);
  const int64_t directions = bidirectional ? 2 : 1;
  Tensor input = x;
  std::vector<Tensor> last_h, last_c;
  for (int64_t layer = 0; layer < layers; ++layer) {
    if (layer > 0 && dropout_p > 0) input = dropout(input, dropout_p, true);
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t i = layer * directions + d;
      const RnnResult out = run_direction(input, hx[0].select(0, i), hx[1].select(0, i),
                                          weights_at(params, biases, i), d == 1);
      outputs.push_back(out.y);
      last_h.push_back(out.h);
      last_c.push_back(out.c);
    }
    input = directions == 1 ? outputs[0] : cat(outputs, -1);
  }
  return {input, stack(last_h, 0), stack(last_c, 0)};
}

}  // namespace taeda::inline v0_2::detail
