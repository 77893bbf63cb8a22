// Recurrent networks and their single steps.
#include <cmath>

#include "taeda/kernels/rnn.h"
#include "taeda/ops/nn/rnn.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Samples and references for x [T, N, in], h (and c) [layers D, N, H], then the params.
struct Recurrent {
  RnnMode mode;
  int64_t layers = 1, directions = 1;
  bool biases = true;

  size_t states() const { return mode == RnnMode::LSTM ? 2 : 1; }

  Sample sample(int64_t t, int64_t n, int64_t in, int64_t hidden) const {
    Sample s{real({t, n, in})};
    for (size_t i = 0; i < states(); ++i) s.push_back(real({layers * directions, n, hidden}));
    const int64_t wide = rnn_gates(mode) * hidden;
    for (int64_t i = 0; i < layers * directions; ++i) {
      s.push_back(real({wide, i < directions ? in : directions * hidden}, -1, 1));
      s.push_back(real({wide, hidden}, -1, 1));
      for (int k = 0; biases && k < 2; ++k) s.push_back(real({wide}, -1, 1));
    }
    return s;
  }

  /// The next state of one unit from its gates' sums of inputs and of hidden states.
  double unit(const double* x, const double* r, double h, double* c) const {
    if (mode == RnnMode::Tanh) return std::tanh(x[0] + r[0]);
    if (mode == RnnMode::ReLU) return std::max(0.0, x[0] + r[0]);
    if (mode == RnnMode::GRU) {
      const double reset = logistic(x[0] + r[0]), z = logistic(x[1] + r[1]);
      return (1 - z) * std::tanh(x[2] + reset * r[2]) + z * h;
    }
    *c = logistic(x[1] + r[1]) * *c + logistic(x[0] + r[0]) * std::tanh(x[2] + r[2]);
    return logistic(x[3] + r[3]) * std::tanh(*c);
  }

  /// All steps of one direction of one layer; `y` gets its columns, `h` and `c` the last states.
  void direction(const Array& x, Array& y, Arrays& state, const Array* params, int64_t row) const {
    const int64_t steps = x.sizes[0], batch = x.sizes[1], in = x.sizes[2],
                  hidden = state[0].sizes[2], gates = rnn_gates(mode), d = row % directions;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t t = d == 1 ? steps - 1 - i : i;
      const Array before = state[0];
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t k = 0; k < hidden; ++k) {
          double from_x[4] = {}, from_h[4] = {}, none = 0;
          for (int64_t g = 0; g < gates; ++g) {
            const int64_t line = g * hidden + k;
            for (int64_t j = 0; j < in; ++j) from_x[g] += params[0].at({line, j}) * x.at({t, n, j});
            for (int64_t j = 0; j < hidden; ++j)
              from_h[g] += params[1].at({line, j}) * before.at({row, n, j});
            if (!biases) continue;
            from_x[g] += params[2].at({line});
            from_h[g] += params[3].at({line});
          }
          double* c = mode == RnnMode::LSTM ? &state[1].at({row, n, k}) : &none;
          y.at({t, n, d * hidden + k}) = state[0].at({row, n, k}) =
              unit(from_x, from_h, before.at({row, n, k}), c);
        }
    }
  }

  Arrays reference(const Arrays& a) const {
    Array x = a[0];
    Arrays state(a.begin() + 1, a.begin() + 1 + static_cast<std::ptrdiff_t>(states()));
    const int64_t hidden = state[0].sizes[2];
    for (int64_t row = 0; row < layers * directions; row += directions) {
      const int64_t columns = directions * hidden;
      Array y = array({x.sizes[0], x.sizes[1], columns},
                      std::vector<double>(static_cast<size_t>(x.sizes[0] * x.sizes[1] * columns)));
      for (int64_t d = 0; d < directions; ++d)
        direction(x, y, state,
                  a.data() + 1 + states() + static_cast<size_t>(row + d) * (biases ? 4 : 2),
                  row + d);
      x = y;
    }
    state.insert(state.begin(), x);
    return state;
  }

  Tensors call(const Tensors& t) const {
    const TensorList hx(t.data() + 1, states()),
        params(t.data() + 1 + states(), t.size() - 1 - states());
    const bool both = directions == 2;
    if (mode == RnnMode::LSTM) {
      const auto [y, h, c] = lstm(t[0], hx, params, biases, layers, 0, true, both, false);
      return {y, h, c};
    }
    const auto op = mode == RnnMode::GRU ? gru : mode == RnnMode::Tanh ? rnn_tanh : rnn_relu;
    const auto [y, h] = op(t[0], hx[0], params, biases, layers, 0, true, both, false);
    return {y, h};
  }
};

OpRow network_row(const char* name, const Recurrent& r, std::vector<Sample> samples) {
  OpRow row;
  row.name = name;
  row.samples = std::move(samples);
  row.call = [r](const Tensors& t) { return r.call(t); };
  row.reference = [r](const Arrays& a) { return r.reference(a); };
  row.tolerance = 16;
  return row;
}

/// A step is a network of one step: x [N, in], h (and c) [N, H], params.
OpRow cell_row(const char* name, RnnMode mode, std::function<Tensors(const Tensors&)> call) {
  const Recurrent with{mode};
  Sample sample = with.sample(1, 2, 3, 4);
  for (size_t i = 0; i < 1 + with.states(); ++i) sample[i].sizes.erase(sample[i].sizes.begin());
  OpRow row;
  row.name = name;
  row.samples = {sample};
  row.call = std::move(call);
  row.reference = [with](Arrays a) {
    for (size_t i = 0; i < 1 + with.states(); ++i) a[i].sizes.insert(a[i].sizes.begin(), 1);
    Arrays out = with.reference(a);
    out.erase(out.begin());
    for (Array& o : out) o.sizes.erase(o.sizes.begin());
    return out;
  };
  row.tolerance = 16;
  return row;
}

}  // namespace

std::vector<OpRow> rnn_rows() {
  const Recurrent lstm_one{RnnMode::LSTM}, lstm_deep{RnnMode::LSTM, 2, 2, false},
      gru_one{RnnMode::GRU}, gru_deep{RnnMode::GRU, 2, 2}, tanh_both{RnnMode::Tanh, 1, 2},
      relu_deep{RnnMode::ReLU, 2, 1, false};
  std::vector<OpRow> rows;
  rows.push_back(
      network_row("lstm", lstm_one, {lstm_one.sample(3, 2, 3, 2), lstm_one.sample(1, 1, 2, 3)}));
  rows.push_back(network_row("lstm.deep", lstm_deep, {lstm_deep.sample(2, 2, 2, 2)}));
  rows.push_back(network_row("gru", gru_one, {gru_one.sample(3, 2, 3, 2)}));
  rows.push_back(network_row("gru.deep", gru_deep, {gru_deep.sample(2, 2, 2, 2)}));
  rows.push_back(network_row("rnn_tanh", tanh_both, {tanh_both.sample(3, 2, 2, 2)}));
  rows.push_back(network_row("rnn_relu", relu_deep, {relu_deep.sample(2, 2, 3, 2)}));
  rows.push_back(cell_row("lstm_cell", RnnMode::LSTM, [](const Tensors& t) {
    const auto [h, c] = lstm_cell(t[0], TensorList(t.data() + 1, 2), t[3], t[4], t[5], t[6]);
    return Tensors{h, c};
  }));
  rows.push_back(cell_row("gru_cell", RnnMode::GRU, [](const Tensors& t) {
    return Tensors{gru_cell(t[0], t[1], t[2], t[3], t[4], t[5])};
  }));
  rows.push_back(cell_row("rnn_tanh_cell", RnnMode::Tanh, [](const Tensors& t) {
    return Tensors{rnn_tanh_cell(t[0], t[1], t[2], t[3], t[4], t[5])};
  }));
  rows.push_back(cell_row("rnn_relu_cell", RnnMode::ReLU, [](const Tensors& t) {
    return Tensors{rnn_relu_cell(t[0], t[1], t[2], t[3], t[4], t[5])};
  }));
  return rows;
}

}  // namespace taeda::testing
