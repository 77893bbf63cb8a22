// Formulas of recurrent cells for one hidden unit, written once for every device. Arguments are
// sums of a gate's products, x from the input and r from the hidden state.
#pragma once

#include "taeda/base/macros.h"
#include "taeda/kernels/math.h"

namespace taeda::inline v0_2::rnn_cell {

/// A unit's gates, cell and hidden state.
template <class A>
struct Lstm {
  A i, f, g, o, c, h;
};

template <class A>
TAEDA_HD TAEDA_ALWAYS_INLINE Lstm<A> lstm(A xi, A xf, A xg, A xo, A prev) {
  Lstm<A> u;
  u.i = math::sigmoid(xi), u.f = math::sigmoid(xf);
  u.g = math::tanh(xg), u.o = math::sigmoid(xo);
  u.c = u.f * prev + u.i * u.g;
  u.h = u.o * math::tanh(u.c);
  return u;
}

/// Gradients of the gates' sums, and of the cell before.
template <class A>
struct LstmGrad {
  A i, f, g, o, prev;
};

/// `carry` is the gradient of c that comes from the next step.
template <class A>
TAEDA_HD TAEDA_ALWAYS_INLINE LstmGrad<A> lstm_backward(A i, A f, A g, A o, A c, A prev, A dh,
                                                       A carry) {
  const A one = A(1), t = math::tanh(c), dc = carry + dh * o * (one - t * t);
  return {dc * g * i * (one - i), dc * prev * f * (one - f), dc * i * (one - g * g),
          dh * t * o * (one - o), dc * f};
}

template <class A>
struct Gru {
  A r, z, n, h;
};

/// `hn` is the candidate's product with the hidden state, `prev` the hidden state.
template <class A>
TAEDA_HD TAEDA_ALWAYS_INLINE Gru<A> gru(A xr, A xz, A xn, A hn, A prev) {
  Gru<A> u;
  u.r = math::sigmoid(xr), u.z = math::sigmoid(xz);
  u.n = math::tanh(xn + u.r * hn);
  u.h = u.n + u.z * (prev - u.n);
  return u;
}

/// Gradients of the gates' sums, of hn, and of prev but for its products.
template <class A>
struct GruGrad {
  A r, z, n, hn, prev;
};

template <class A>
TAEDA_HD TAEDA_ALWAYS_INLINE GruGrad<A> gru_backward(A r, A z, A n, A hn, A prev, A dh) {
  const A one = A(1), dn = dh * (one - z) * (one - n * n);
  return {dn * hn * r * (one - r), dh * (prev - n) * z * (one - z), dn, dn * r, dh * z};
}

template <class A>
TAEDA_HD TAEDA_ALWAYS_INLINE A plain(bool relu, A x) {
  return relu ? (x < A(0) ? A(0) : x) : math::tanh(x);
}
/// From the result h.
template <class A>
TAEDA_HD TAEDA_ALWAYS_INLINE A plain_backward(bool relu, A h, A dh) {
  return relu ? (h > A(0) ? dh : A(0)) : dh * (A(1) - h * h);
}

}  // namespace taeda::rnn_cell
