// Recurrent networks by cuDNN 9: what the slots of kernels/rnn.h with these names say.
#pragma once

#include "taeda/cuda/context.h"
#include "taeda/kernels/rnn.h"

namespace taeda::inline v0_2::gpu {

/// Takes floating dtypes where the library is there, `backends::cudnn::enabled`, and, if
/// `deterministic`, the environment has a CUBLAS_WORKSPACE_CONFIG: without one cuBLAS, which the
/// library calls from several streams, does not give equal bits in every run.
void cudnn_rnn_space(const Tensor& x, const RnnShape& shape, bool training, RnnSpace* space);
void cudnn_rnn(const Tensor& y, const Tensor& hy, const Tensor& cy, const Tensor& packed,
               const Tensor& reserve, const Tensor& x, const Tensor& hx, const Tensor& cx,
               TensorList params, const RnnShape& shape);
void cudnn_rnn_backward(const Tensor& grad_x, const Tensor& grad_hx, const Tensor& grad_cx,
                        TensorList grad_params, const Tensor& packed, const Tensor& reserve,
                        const Tensor& y, const Tensor& grad_y, const Tensor& grad_hy,
                        const Tensor& grad_cy, const Tensor& x, const Tensor& hx, const Tensor& cx,
                        const RnnShape& shape);

/// Elements to copy from one place of device memory to another.
struct Piece {
  const char* from;
  char* to;
  int64_t count;
};
/// Copies all pieces, of elements of `item` bytes, many with one launch.
void copy_pieces(const Context& context, ArrayRef<Piece> pieces, int64_t item);

}  // namespace taeda::inline v0_2::gpu
