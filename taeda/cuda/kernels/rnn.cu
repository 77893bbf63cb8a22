// Recurrent networks: the pointwise part of a step, a thread for each hidden unit, and copies of
// weights for the library that has whole networks.
#include "taeda/cuda/cudnn_rnn.h"
#include "taeda/cuda/kernels/common.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/rnn.h"
#include "taeda/kernels/rnn_cell.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// Rows of a matrix with dense columns; no tensor reads as zeros and takes nothing.
template <class A>
struct Rows {
  char* data = nullptr;
  ScalarType dtype{};
  int item = 0;
  int64_t step = 0;

  explicit Rows(const Tensor& t) {
    if (!t.defined()) return;
    data = static_cast<char*>(t.data_ptr());
    dtype = t.dtype();
    item = static_cast<int>(t.element_size());
    step = t.stride(0) * item;
  }
  __device__ A get(int64_t row, int64_t column) const {
    return data ? load_as<A>(data + row * step + column * item, dtype) : A(0);
  }
  __device__ void set(int64_t row, int64_t column, A value) const {
    if (data) store_as<A>(data + row * step + column * item, dtype, value);
  }
};

template <class A>
struct CellOperands {
  RnnMode mode;
  Divider units;
  int64_t total;
  Rows<A> h, state, gates, x, r, prev;
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    rnn_cell_kernel(const __grid_constant__ CellOperands<A> c) {
  const int64_t n = c.units.divisor;
  for (int64_t i = thread_index(); i < c.total; i += thread_count()) {
    int64_t row, k;
    c.units.divide(i, row, k);
    const auto sum = [&](int64_t gate) {
      return c.x.get(row, gate * n + k) + c.r.get(row, gate * n + k);
    };
    if (c.mode == RnnMode::LSTM) {
      const auto u = rnn_cell::lstm(sum(0), sum(1), sum(2), sum(3), c.prev.get(row, k));
      c.gates.set(row, k, u.i);
      c.gates.set(row, n + k, u.f);
      c.gates.set(row, 2 * n + k, u.g);
      c.gates.set(row, 3 * n + k, u.o);
      c.state.set(row, k, u.c);
      c.h.set(row, k, u.h);
    } else if (c.mode == RnnMode::GRU) {
      const A hn = c.r.get(row, 2 * n + k);
      const auto u = rnn_cell::gru(sum(0), sum(1), c.x.get(row, 2 * n + k), hn, c.prev.get(row, k));
      c.gates.set(row, k, u.r);
      c.gates.set(row, n + k, u.z);
      c.gates.set(row, 2 * n + k, u.n);
      c.state.set(row, k, hn);
      c.h.set(row, k, u.h);
    } else {
      c.h.set(row, k, rnn_cell::plain(c.mode == RnnMode::ReLU, sum(0)));
    }
  }
}

void rnn_cell_cuda(RnnMode mode, const Tensor& h, const Tensor& state, const Tensor& gates,
                   const Tensor& x_part, const Tensor& h_part, const Tensor& prev) {
  if (h.numel() == 0) return;
  const Context context(h.device());
  dispatch_compute(FloatCompute{}, "rnn_cell", h.dtype(), [&]<class A>() {
    rnn_cell_kernel<A><<<blocks_for(h.numel()), kThreads, 0, context.stream>>>(
        CellOperands<A>{mode, Divider(h.size(1)), h.numel(), Rows<A>(h), Rows<A>(state),
                        Rows<A>(gates), Rows<A>(x_part), Rows<A>(h_part), Rows<A>(prev)});
  });
  context.launched("rnn_cell");
}

template <class A>
struct CellGradOperands {
  RnnMode mode;
  Divider units;
  int64_t total;
  Rows<A> dx, dhidden, carry, from_y, from_h, gates, state, prev;
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    rnn_cell_backward_kernel(const __grid_constant__ CellGradOperands<A> c) {
  const int64_t n = c.units.divisor;
  for (int64_t i = thread_index(); i < c.total; i += thread_count()) {
    int64_t row, k;
    c.units.divide(i, row, k);
    const A state = c.state.get(row, k), dh = c.from_y.get(row, k) + c.from_h.get(row, k);
    const auto gate = [&](int64_t number) { return c.gates.get(row, number * n + k); };
    if (c.mode == RnnMode::LSTM) {
      const auto d = rnn_cell::lstm_backward(gate(0), gate(1), gate(2), gate(3), state,
                                             c.prev.get(row, k), dh, c.carry.get(row, k));
      c.dx.set(row, k, d.i);
      c.dx.set(row, n + k, d.f);
      c.dx.set(row, 2 * n + k, d.g);
      c.dx.set(row, 3 * n + k, d.o);
      c.carry.set(row, k, d.prev);
    } else if (c.mode == RnnMode::GRU) {
      const auto d = rnn_cell::gru_backward(gate(0), gate(1), gate(2), state, c.prev.get(row, k),
                                            dh + c.carry.get(row, k));
      c.dx.set(row, k, d.r);
      c.dx.set(row, n + k, d.z);
      c.dx.set(row, 2 * n + k, d.n);
      c.dhidden.set(row, k, d.r);
      c.dhidden.set(row, n + k, d.z);
      c.dhidden.set(row, 2 * n + k, d.hn);
      c.carry.set(row, k, d.prev);
    } else {
      c.dx.set(row, k, rnn_cell::plain_backward(c.mode == RnnMode::ReLU, state, dh));
    }
  }
}

void rnn_cell_backward_cuda(RnnMode mode, const Tensor& grad_x, const Tensor& grad_hidden,
                            const Tensor& carry, const Tensor& grad_y, const Tensor& grad_h,
                            const Tensor& gates, const Tensor& state, const Tensor& prev) {
  if (state.numel() == 0) return;
  const Context context(state.device());
  dispatch_compute(FloatCompute{}, "rnn_cell_backward", state.dtype(), [&]<class A>() {
    rnn_cell_backward_kernel<A><<<blocks_for(state.numel()), kThreads, 0, context.stream>>>(
        CellGradOperands<A>{mode, Divider(state.size(1)), state.numel(), Rows<A>(grad_x),
                            Rows<A>(grad_hidden), Rows<A>(carry), Rows<A>(grad_y), Rows<A>(grad_h),
                            Rows<A>(gates), Rows<A>(state), Rows<A>(prev)});
  });
  context.launched("rnn_cell_backward");
}

constexpr int kPieces = 64;  // of a launch
struct PieceList {
  Piece pieces[kPieces];
};

/// A row of blocks for each piece.
template <class W>
__global__ void __launch_bounds__(kThreads)
    copy_pieces_kernel(const __grid_constant__ PieceList list) {
  const Piece& p = list.pieces[blockIdx.y];
  const W* from = reinterpret_cast<const W*>(p.from);
  W* to = reinterpret_cast<W*>(p.to);
  for (int64_t i = thread_index(); i < p.count; i += thread_count()) to[i] = from[i];
}

}  // namespace

void copy_pieces(const Context& context, ArrayRef<Piece> pieces, int64_t item) {
  for (size_t first = 0; first < pieces.size(); first += kPieces) {
    const size_t count = pieces.size() - first < kPieces ? pieces.size() - first : kPieces;
    PieceList list{};
    int64_t longest = 0;
    for (size_t i = 0; i < count; ++i) {
      list.pieces[i] = pieces[first + i];
      longest = list.pieces[i].count > longest ? list.pieces[i].count : longest;
    }
    const unsigned blocks = blocks_for(longest / 4);
    with_word(item, [&]<class W>(W) {
      copy_pieces_kernel<W>
          <<<dim3(blocks, static_cast<unsigned>(count)), kThreads, 0, context.stream>>>(list);
    });
  }
  context.launched("rnn");
}

void register_rnn() {
  fill_slots<On<rnn_cell_slot, rnn_cell_cuda>, On<rnn_cell_backward_slot, rnn_cell_backward_cuda>,
             On<rnn_space_slot, cudnn_rnn_space>, On<rnn_slot, cudnn_rnn>,
             On<rnn_backward_slot, cudnn_rnn_backward>>(kCUDA);
}

}  // namespace taeda::gpu
