#include "taeda/nn/modules/rnn_packed.h"

#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/rnn.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::nn::detail {

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

/// Initial states of `size` numbers in the order of the packed sequences; zeros if undefined.
Tensor packed_state(const RNNShape& shape, const Tensor& given, const PackedSequence& input,
                    int64_t size, const char* name) {
  const int64_t expected[] = {shape.num_layers * (shape.bidirectional ? 2 : 1),
                              input.batch_sizes()[0].item<int64_t>(), size};
  if (!given.defined()) return zeros(expected, input.data().options());
  TAEDA_CHECK(given.sizes() == IntArrayRef(expected), "Expected ", name, " size ",
              tuple_text(expected), ", got ", given.sizes());
  return input.sorted_indices().defined() ? given.index_select(1, input.sorted_indices()) : given;
}

/// One direction of one layer over packed rows: its output rows and last states [N, H].
std::pair<Tensor, CellState> run_runs(const PackedNetwork& network, const Tensor& rows,
                                      const std::vector<PackedRun>& runs, const CellState& initial,
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
    auto [y, last] = run_layer(network.kind, x, state, weights, network.shape.bias);
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

}  // namespace

std::pair<PackedSequence, CellState> run_packed(const PackedNetwork& network,
                                                const PackedSequence& input, CellState initial) {
  const RNNShape& shape = network.shape;
  Tensor rows = input.data();
  TAEDA_CHECK(rows.dim() == 2, "input must have 2 dimensions, got ", rows.dim());
  TAEDA_CHECK(rows.size(1) == shape.input_size,
              "input.size(-1) must be equal to input_size. Expected ", shape.input_size, ", got ",
              rows.size(1));
  const std::vector<PackedRun> runs = utils::rnn::runs_of(input);
  const bool lstm = network.kind == CellKind::LSTM;
  initial.h =
      packed_state(shape, initial.h, input, shape.state_size(), lstm ? "hidden[0]" : "hidden");
  if (lstm) initial.c = packed_state(shape, initial.c, input, shape.hidden_size, "hidden[1]");
  const int64_t directions = shape.bidirectional ? 2 : 1,
                each = static_cast<int64_t>(weight_names(shape).size());
  std::vector<Tensor> h, c;
  for (int64_t layer = 0; layer < shape.num_layers; ++layer) {
    if (layer > 0) rows = taeda::dropout(rows, shape.dropout, network.training);
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t i = layer * directions + d;
      auto [output, last] = run_runs(
          network, rows, runs,
          map_state(initial, [&](const Tensor& t, int) { return t.select(0, i); }),
          network.weights.slice(static_cast<size_t>(i * each), static_cast<size_t>(each)), d == 1);
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

}  // namespace taeda::inline v0_2::nn::detail
