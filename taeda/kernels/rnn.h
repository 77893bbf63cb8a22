// Slots of recurrent networks: the pointwise part of one time step, which every device has, and
// whole networks, which a device fills where a library has them.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

enum class RnnMode : int32_t { ReLU, Tanh, LSTM, GRU };

/// Rows of gates for one row of hidden units.
constexpr int64_t rnn_gates(RnnMode mode) {
  return mode == RnnMode::LSTM ? 4 : mode == RnnMode::GRU ? 3 : 1;
}

/// One step, from the products of input and hidden state with their weights, biases included.
///
/// Tensors are [N, H], or [N, G H] for x_part, h_part and gates (G = rnn_gates); columns are dense,
/// rows may have any distance. What a mode does not use may be undefined.
///   LSTM  gates i, f, g, o; prev = c before; c = f prev + i g; h = o tanh(c)
///   GRU   gates r, z, n; prev = h before; n = tanh(x_n + r h_n); h = (1 - z) n + z prev; h_n is
///         written to `state`
///   Tanh, ReLU  h = f(x_part + h_part)
/// LSTM's `state` is c. `gates` gets the gates as backward wants them, and may be x_part itself;
/// `state` may be `prev` of an LSTM.
inline Slot<void(RnnMode mode, const Tensor& h, const Tensor& state, const Tensor& gates,
                 const Tensor& x_part, const Tensor& h_part, const Tensor& prev)>
    rnn_cell_slot{"rnn_cell"};

/// The gradient of rnn_cell. That of h is grad_y + grad_h, of which either may be undefined.
/// `carry` is what goes back to the step before without a product: the gradient of c on entry and
/// of prev on return for an LSTM; for a GRU it adds to the gradient of h on entry and is that of
/// prev on return. `grad_x` gets x_part's gradient and `grad_hidden` (GRU; the others' is equal)
/// h_part's. `state` of Tanh and ReLU is h.
inline Slot<void(RnnMode mode, const Tensor& grad_x, const Tensor& grad_hidden, const Tensor& carry,
                 const Tensor& grad_y, const Tensor& grad_h, const Tensor& gates,
                 const Tensor& state, const Tensor& prev)>
    rnn_cell_backward_slot{"rnn_cell_backward"};

/// A network of equal layers; a plain value.
struct RnnShape {
  RnnMode mode;
  int64_t input, hidden, layers;
  bool bidirectional, biases;
};
/// What a device's own networks need besides.
struct RnnSpace {
  bool taken = false;   ///< whether the device takes this network at all
  int64_t weights = 0;  ///< elements of all weights as the library packs them
  int64_t reserve = 0;  ///< bytes kept from forward to backward
};

/// Asks for a network over x [T, N, input]. An empty slot is an answer, too: no.
inline Slot<void(const Tensor& x, const RnnShape& shape, bool training, RnnSpace* space)>
    rnn_space_slot{"rnn_space"};
/// y [T, N, D H], hy and cy [layers D, N, H] from x, hx, cx of such sizes, all contiguous and of
/// one dtype; cx and cy are undefined but for an LSTM. `params` are w_ih, w_hh and, with biases,
/// b_ih, b_hh of each direction of each layer, contiguous; they are packed into `packed`. Without
/// `reserve` there is no backward.
inline Slot<void(const Tensor& y, const Tensor& hy, const Tensor& cy, const Tensor& packed,
                 const Tensor& reserve, const Tensor& x, const Tensor& hx, const Tensor& cx,
                 TensorList params, const RnnShape& shape)>
    rnn_slot{"rnn"};
/// All gradients, once for each forward: `reserve` is used up. grad_y is defined, grad_hy and
/// grad_cy may be undefined; `grad_params` may be empty.
inline Slot<void(const Tensor& grad_x, const Tensor& grad_hx, const Tensor& grad_cx,
                 TensorList grad_params, const Tensor& packed, const Tensor& reserve,
                 const Tensor& y, const Tensor& grad_y, const Tensor& grad_hy,
                 const Tensor& grad_cy, const Tensor& x, const Tensor& hx, const Tensor& cx,
                 const RnnShape& shape)>
    rnn_backward_slot{"rnn_backward"};

template <class F>
void for_each_rnn_slot(F&& f) {
  visit_slots<&rnn_cell_slot, &rnn_cell_backward_slot, &rnn_space_slot, &rnn_slot,
              &rnn_backward_slot>(f);
}

}  // namespace taeda
