// The pointwise part of a recurrent step: all gates of a unit in one pass, rows in parallel.
#include "taeda/kernels/rnn.h"

#include "taeda/cpu/kernels/rows.h"
#include "taeda/kernels/rnn_cell.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Rows of n elements of T, read in the type that T is computed in; no tensor gives null rows.
template <class T>
class ReadRows {
 public:
  using A = opmath_t<T>;
  ReadRows(const Tensor& t, int64_t n)
      : data_(t.defined() ? t.data_ptr<T>() : nullptr),
        step_(t.defined() ? t.stride(0) : 0),
        n_(n),
        reader_(data_ ? n : 0) {}
  const A* operator()(int64_t row) { return data_ ? reader_(data_ + row * step_, n_) : nullptr; }

 private:
  const T* data_;
  int64_t step_, n_;
  RowReader<T> reader_;
};

/// The same for results; `store` ends a row.
template <class T>
class WriteRows {
 public:
  using A = opmath_t<T>;
  WriteRows(const Tensor& t, int64_t n)
      : data_(t.defined() ? t.data_ptr<T>() : nullptr),
        step_(t.defined() ? t.stride(0) : 0),
        n_(n),
        writer_(data_ ? n : 0) {}
  A* operator()(int64_t row) {
    at_ = data_ + row * step_;
    return data_ ? writer_.row(at_) : nullptr;
  }
  void store() {
    if (data_) writer_.store(at_, n_);
  }

 private:
  T* data_;
  T* at_ = nullptr;
  int64_t step_, n_;
  RowWriter<T> writer_;
};

// Loops over the units of a row. A unit's inputs are read before its results are written, so that
// results may take the place of inputs: hence the pragma instead of restrict.

template <class A>
void lstm_row(A* h, A* c, A* gates, const A* x, const A* r, const A* prev, int64_t n) {
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) {
    const auto u = rnn_cell::lstm(x[k] + r[k], x[n + k] + r[n + k], x[2 * n + k] + r[2 * n + k],
                                  x[3 * n + k] + r[3 * n + k], prev[k]);
    gates[k] = u.i, gates[n + k] = u.f, gates[2 * n + k] = u.g, gates[3 * n + k] = u.o;
    c[k] = u.c;
    h[k] = u.h;
  }
}

template <class A>
void gru_row(A* h, A* hidden, A* gates, const A* x, const A* r, const A* prev, int64_t n) {
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) {
    const A hn = r[2 * n + k];
    const auto u = rnn_cell::gru(x[k] + r[k], x[n + k] + r[n + k], x[2 * n + k], hn, prev[k]);
    gates[k] = u.r, gates[n + k] = u.z, gates[2 * n + k] = u.n;
    hidden[k] = hn;
    h[k] = u.h;
  }
}

template <class A>
void plain_row(bool relu, A* h, const A* x, const A* r, int64_t n) {
  if (relu) {
    for (int64_t k = 0; k < n; ++k) h[k] = rnn_cell::plain(true, x[k] + r[k]);
    return;
  }
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) h[k] = rnn_cell::plain(false, x[k] + r[k]);
}

constexpr int64_t kUnitCost = 64;  // of a unit, in cheap operations

void rnn_cell(RnnMode mode, const Tensor& h, const Tensor& state, const Tensor& gates,
              const Tensor& x_part, const Tensor& h_part, const Tensor& prev) {
  const int64_t rows = h.size(0), n = h.size(1), wide = rnn_gates(mode) * n;
  dispatch(FloatTypes{}, "rnn_cell", h.dtype(), [&]<class T>() {
    parallel_for(0, rows, row_grain(kUnitCost * n), [&](int64_t begin, int64_t end) {
      ReadRows<T> x(x_part, wide), r(h_part, wide), before(prev, n);
      WriteRows<T> out(h, n), kept(state, n), all(gates, wide);
      for (int64_t i = begin; i < end; ++i) {
        if (mode == RnnMode::LSTM)
          lstm_row(out(i), kept(i), all(i), x(i), r(i), before(i), n);
        else if (mode == RnnMode::GRU)
          gru_row(out(i), kept(i), all(i), x(i), r(i), before(i), n);
        else
          plain_row(mode == RnnMode::ReLU, out(i), x(i), r(i), n);
        out.store(), kept.store(), all.store();
      }
    });
  });
}

template <class A, class Grad>
void lstm_backward_row(A* dx, A* carry, Grad grad, const A* gates, const A* c, const A* prev,
                       int64_t n) {
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) {
    const auto d = rnn_cell::lstm_backward(gates[k], gates[n + k], gates[2 * n + k],
                                           gates[3 * n + k], c[k], prev[k], grad(k), carry[k]);
    dx[k] = d.i, dx[n + k] = d.f, dx[2 * n + k] = d.g, dx[3 * n + k] = d.o;
    carry[k] = d.prev;
  }
}

template <class A, class Grad>
void gru_backward_row(A* dx, A* dhidden, A* carry, Grad grad, const A* gates, const A* hidden,
                      const A* prev, int64_t n) {
#pragma GCC ivdep
  for (int64_t k = 0; k < n; ++k) {
    const auto d = rnn_cell::gru_backward(gates[k], gates[n + k], gates[2 * n + k], hidden[k],
                                          prev[k], grad(k) + carry[k]);
    dx[k] = d.r, dx[n + k] = d.z, dx[2 * n + k] = d.n;
    dhidden[k] = d.r, dhidden[n + k] = d.z, dhidden[2 * n + k] = d.hn;
    carry[k] = d.prev;
  }
}

template <class A, class Grad>
void plain_backward_row(bool relu, A* dx, Grad grad, const A* h, int64_t n) {
  for (int64_t k = 0; k < n; ++k) dx[k] = rnn_cell::plain_backward(relu, h[k], grad(k));
}

/// Calls f with the row's gradient, without questions for each unit where both parts are there.
template <class A, class F>
void with_grad(const A* y, const A* h, F&& f) {
  if (y && h)
    f([y, h](int64_t k) { return y[k] + h[k]; });
  else if (y || h)
    f([only = y ? y : h](int64_t k) { return only[k]; });
  else
    f([](int64_t) { return A(0); });
}

void rnn_cell_backward(RnnMode mode, const Tensor& grad_x, const Tensor& grad_hidden,
                       const Tensor& carry, const Tensor& grad_y, const Tensor& grad_h,
                       const Tensor& gates, const Tensor& state, const Tensor& prev) {
  const int64_t rows = state.size(0), n = state.size(1), wide = rnn_gates(mode) * n;
  dispatch(FloatTypes{}, "rnn_cell_backward", state.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    parallel_for(0, rows, row_grain(kUnitCost * n), [&](int64_t begin, int64_t end) {
      ReadRows<T> all(gates, wide), kept(state, n), before(prev, n), from_y(grad_y, n),
          from_h(grad_h, n), carried(carry, n);
      WriteRows<T> dx(grad_x, wide), dhidden(grad_hidden, wide), back(carry, n);
      for (int64_t i = begin; i < end; ++i) {
        A* to = back(i);
        const A* old = carried(i);
        if (to && to != old) std::copy_n(old, n, to);
        with_grad(from_y(i), from_h(i), [&](auto grad) {
          if (mode == RnnMode::LSTM)
            lstm_backward_row(dx(i), to, grad, all(i), kept(i), before(i), n);
          else if (mode == RnnMode::GRU)
            gru_backward_row(dx(i), dhidden(i), to, grad, all(i), kept(i), before(i), n);
          else
            plain_backward_row(mode == RnnMode::ReLU, dx(i), grad, kept(i), n);
        });
        dx.store(), dhidden.store(), back.store();
      }
    });
  });
}

}  // namespace

void register_rnn() {
  rnn_cell_slot.set(kCPU, &rnn_cell);
  rnn_cell_backward_slot.set(kCPU, &rnn_cell_backward);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
