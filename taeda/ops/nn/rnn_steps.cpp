#include "taeda/ops/nn/rnn_steps.h"

#include "taeda/kernels/matmul.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::detail {

namespace {

/// The same memory with another layout.
Tensor seen_as(const Tensor& t, Layout layout) {
  Tensor out = make_alias(t);
  out.unsafe_impl()->layout = std::move(layout);
  out.unsafe_impl()->refresh();
  return out;
}

/// [N, n] of one step after another from [T, N, ...], or of such columns of it; one view that moves
/// on, because a new one for each step would cost as much as a small kernel.
class Steps {
 public:
  Steps() = default;
  explicit Steps(const Tensor& t) : Steps(t, 0, t.defined() ? t.size(2) : 0) {}
  Steps(const Tensor& t, int64_t column, int64_t columns) {
    if (!t.defined()) return;
    step_ = t.stride(0);
    first_ = t.storage_offset() + column * t.stride(2);
    view_ = seen_as(t, {{t.size(1), columns}, {t.stride(1), t.stride(2)}, first_});
  }
  /// Valid until the next call.
  const Tensor& at(int64_t t) {
    if (view_.defined()) view_.unsafe_impl()->layout.offset = first_ + t * step_;
    return view_;
  }

 private:
  Tensor view_;
  int64_t step_ = 0, first_ = 0;
};

/// Steps [from, from + count) of contiguous [T, N, ...] as rows; of these columns.
Tensor rows_of(const Tensor& t, int64_t from, int64_t count, int64_t column, int64_t columns) {
  const int64_t batch = t.size(1), wide = t.size(2);
  return seen_as(
      t, {{count * batch, columns}, {wide, 1}, t.storage_offset() + from * batch * wide + column});
}
Tensor rows_of(const Tensor& t) { return rows_of(t, 0, t.size(0), 0, t.size(2)); }

Tensor transposed(const Tensor& t) { return seen_as(t, t.layout().transpose(0, 1)); }

/// out = a b + bias, a row for all.
void product(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& bias = {}) {
  if (out.numel() == 0) return;
  const Tensor row = bias.defined() ? seen_as(bias, bias.layout().expand(out.sizes())) : Tensor();
  matmul_slot(out.device().type(), out, a, b, row, 1, 1);
}

Tensor like(const Tensor& t, IntArrayRef sizes) {
  return make_tensor(sizes, t.dtype(), t.device());
}

/// A direction of a layer: its place in the output, its weights, its order of steps.
struct Direction {
  RnnMode mode;
  int64_t steps, batch, hidden, number;
  RnnWeights w;

  bool is_lstm() const { return mode == RnnMode::LSTM; }
  bool is_gru() const { return mode == RnnMode::GRU; }
  bool is_gated() const { return is_lstm() || is_gru(); }
  int64_t gates() const { return rnn_gates(mode) * hidden; }
  int64_t time(int64_t i) const { return number == 1 ? steps - 1 - i : i; }
  Steps columns_of(const Tensor& t) const { return {t, number * hidden, hidden}; }
};

Direction direction(const RnnShape& shape, const Tensor& x, TensorList params, int64_t number) {
  return {shape.mode,   x.size(0), x.size(1),
          shape.hidden, number,    rnn_weights(params, shape.biases, number)};
}

/// w_hh transposed, as each step multiplies by it. The CPU's products bring such an operand into
/// rows every time; many steps share one copy instead, whose rows are a line of the cache longer
/// than a multiple of 2 KiB (Note [Spread rows] in cpu/onednn_matmul.cpp).
Tensor weights_of_steps(const Direction& d) {
  constexpr int64_t kWorthACopy = 4, kLine = 16;
  const Tensor& w = d.w.w_hh;
  if (!w.is_cpu() || w.dtype() != kFloat || d.steps < kWorthACopy || d.batch < kWorthACopy)
    return transposed(w);
  const Tensor rows = like(w, {w.size(1), w.size(0) + kLine});
  const Tensor copy =
      seen_as(rows, {{w.size(1), w.size(0)}, {rows.stride(0), 1}, rows.storage_offset()});
  copy.copy_(transposed(w));
  return copy;
}

/// Fills the direction's columns of y, and h and c after the last step.
RnnKept forward(const Direction& d, const Tensor& x, const Tensor& h0, const Tensor& c0,
                const Tensor& y, const Tensor& h, const Tensor& c, bool keep) {
  const DeviceType device = x.device().type();
  RnnKept kept{like(x, {d.steps, d.batch, d.gates()}), {}};
  product(rows_of(kept.gates), rows_of(x), transposed(d.w.w_ih), d.w.b_ih);
  if (keep && d.is_gated()) kept.states = like(x, {d.steps, d.batch, d.hidden});
  // A state that is not kept is overwritten in each step.
  const Tensor state = kept.states.defined() ? Tensor()
                       : d.is_lstm()         ? c
                       : d.is_gru()          ? like(x, {d.batch, d.hidden})
                                             : Tensor();
  const Tensor h_part = like(x, {d.batch, d.gates()}), w_hh = weights_of_steps(d);
  Steps out = d.columns_of(y), before = d.columns_of(y), gates(kept.gates), states(kept.states),
        states_before(kept.states);
  for (int64_t i = 0; i < d.steps; ++i) {
    const int64_t t = d.time(i), last = i > 0 ? d.time(i - 1) : 0;
    const Tensor& h_before = i > 0 ? before.at(last) : h0;
    product(h_part, h_before, w_hh, d.w.b_hh);
    const Tensor& c_before = i == 0 ? c0 : state.defined() ? state : states_before.at(last);
    if (y.numel() == 0) continue;
    const Tensor& x_part = gates.at(t);
    rnn_cell_slot(device, d.mode, out.at(t), state.defined() ? state : states.at(t),
                  d.is_gated() ? x_part : Tensor(), x_part, h_part,
                  d.is_lstm()  ? c_before
                  : d.is_gru() ? h_before
                               : Tensor());
  }
  h.copy_(out.at(d.time(d.steps - 1)));
  if (d.is_lstm() && keep) c.copy_(states.at(d.time(d.steps - 1)));
  if (!d.is_gated()) kept.gates = Tensor();
  return kept;
}

/// Gradients that a direction's steps give: of the input's and of the hidden state's products with
/// the weights ([T, N, G H], one tensor but for a GRU), and of the first states.
struct StepGrads {
  Tensor x_part, h_part, h, c;
};

StepGrads backward_steps(const Direction& d, const RnnKept& kept, const Tensor& h0,
                         const Tensor& c0, const Tensor& y, const RnnResult& grads, bool needs_h) {
  const DeviceType device = y.device().type();
  StepGrads out;
  out.x_part = like(y, {d.steps, d.batch, d.gates()});
  out.h_part = d.is_gru() ? like(y, out.x_part.sizes()) : out.x_part;
  out.h = like(y, {d.batch, d.hidden});
  if (d.is_gated())
    out.c = grads.c.defined() ? grads.c.select(0, d.number).clone(MemoryFormat::Contiguous)
                              : like(y, {d.batch, d.hidden}).zero_();
  const Tensor last = grads.h.defined() ? grads.h.select(0, d.number) : Tensor();
  Steps dx(out.x_part), dh(d.is_gru() ? out.h_part : Tensor()), dgates(out.h_part),
      gates(kept.gates), states(d.is_gated() ? Steps(kept.states) : d.columns_of(y)),
      before(d.is_lstm()  ? Steps(kept.states)
             : d.is_gru() ? d.columns_of(y)
                          : Steps()),
      dy(d.columns_of(grads.y));
  const Tensor first = d.is_lstm() ? c0 : d.is_gru() ? h0 : Tensor();
  for (int64_t i = d.steps - 1; i >= 0 && y.numel() > 0; --i) {
    const int64_t t = d.time(i);
    const Tensor& from_next = i == d.steps - 1 ? last : out.h;
    rnn_cell_backward_slot(device, d.mode, dx.at(t), dh.at(t), out.c, dy.at(t), from_next,
                           gates.at(t), states.at(t), i > 0 ? before.at(d.time(i - 1)) : first);
    if (i > 0 || needs_h) product(out.h, dgates.at(t), d.w.w_hh);
  }
  if (d.is_gru()) {
    if (needs_h) out.h.add_(out.c);
    out.c = Tensor();
  }
  return out;
}

/// The gradient of w_hh: each step's gradients times the hidden states before it.
Tensor hidden_weight_grad(const Direction& d, const Tensor& dgates, const Tensor& y,
                          const Tensor& h0) {
  const int64_t first = d.time(0), rest = d.steps - 1, wide = d.gates();
  const Tensor grad = like(y, d.w.w_hh.sizes());
  product(grad, transposed(rows_of(dgates, first, 1, 0, wide)), h0);
  if (rest == 0) return grad;
  const Tensor more = like(y, grad.sizes());
  const bool reverse = d.number == 1;
  product(more, transposed(rows_of(dgates, reverse ? 0 : 1, rest, 0, wide)),
          rows_of(y, reverse ? 1 : 0, rest, d.number * d.hidden, d.hidden));
  return grad.add_(more);
}

}  // namespace

RnnWeights rnn_weights(TensorList params, bool biases, int64_t direction) {
  const size_t first = static_cast<size_t>(direction * (biases ? 4 : 2));
  return {params[first], params[first + 1], biases ? params[first + 2] : Tensor(),
          biases ? params[first + 3] : Tensor()};
}

RnnResult rnn_layer(const RnnShape& shape, const Tensor& x, const Tensor& h, const Tensor& c,
                    TensorList params, std::vector<RnnKept>* kept) {
  const NoGradGuard guard;
  const int64_t directions = shape.bidirectional ? 2 : 1;
  RnnResult out;
  out.y = like(x, {x.size(0), x.size(1), directions * shape.hidden});
  out.h = like(x, h.sizes());
  if (shape.mode == RnnMode::LSTM) out.c = like(x, c.sizes());
  const auto state = [](const Tensor& t, int64_t i) { return t.defined() ? t.select(0, i) : t; };
  for (int64_t i = 0; i < directions; ++i) {
    RnnKept mine = forward(direction(shape, x, params, i), x, state(h, i), state(c, i), out.y,
                           state(out.h, i), state(out.c, i), kept != nullptr);
    if (kept) kept->push_back(std::move(mine));
  }
  return out;
}

std::vector<Tensor> rnn_layer_backward(const RnnShape& shape, const Tensor& x, const Tensor& h,
                                       const Tensor& c, TensorList params, const Tensor& y,
                                       const std::vector<RnnKept>& kept, const RnnResult& grads,
                                       const std::vector<bool>& needs) {
  const NoGradGuard guard;
  const auto dense = [](const Tensor& t) { return t.defined() ? t.contiguous() : t; };
  const RnnResult g{dense(grads.y), dense(grads.h), dense(grads.c)};
  std::vector<Tensor> out(needs.size());
  if (needs[0]) out[0] = like(x, x.sizes());
  if (needs[1]) out[1] = like(x, h.sizes());
  if (needs[2] && c.defined()) out[2] = like(x, c.sizes());
  const size_t each = shape.biases ? 4 : 2;
  for (int64_t i = 0; i < (shape.bidirectional ? 2 : 1); ++i) {
    const Direction d = direction(shape, x, params, i);
    const Tensor h0 = h.select(0, i), c0 = c.defined() ? c.select(0, i) : Tensor();
    const StepGrads s = backward_steps(d, kept[static_cast<size_t>(i)], h0, c0, y, g, needs[1]);
    if (out[1].defined()) out[1].select(0, i).copy_(s.h);
    if (out[2].defined()) out[2].select(0, i).copy_(s.c);
    const Tensor dx_rows = rows_of(s.x_part), dh_rows = rows_of(s.h_part);
    if (needs[0] && i == 0) product(rows_of(out[0]), dx_rows, d.w.w_ih);
    if (needs[0] && i == 1) {
      const Tensor more = like(x, x.sizes());
      product(rows_of(more), dx_rows, d.w.w_ih);
      out[0].add_(more);
    }
    const size_t first = 3 + static_cast<size_t>(i) * each;
    if (needs[first]) {
      out[first] = like(x, d.w.w_ih.sizes());
      product(out[first], transposed(dx_rows), rows_of(x));
    }
    if (needs[first + 1]) out[first + 1] = hidden_weight_grad(d, s.h_part, y, h0);
    if (shape.biases && needs[first + 2]) out[first + 2] = dx_rows.sum(0);
    if (shape.biases && needs[first + 3]) out[first + 3] = dh_rows.sum(0);
  }
  return out;
}

}  // namespace taeda::inline v0_2::detail
