// Convolutions. `input` is [N, C, ...] or, unbatched, [C, ...]; `weight` [O, C / groups, k...] (for
// the transposed ones [C, O / groups, k...]); `bias` [O] or undefined. Lists hold one value for all
// spatial dimensions or one for each. An input in channels-last order gives such an output.
// [operations]
#pragma once

#include <string>
#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Zeros around the input: a number of rows for each dimension, or "valid" (none), or "same" (as
/// many as keep the size, the odd one behind; stride 1 only). Throws Error for other words.
class ConvPadding {
 public:
  ConvPadding(int64_t all) : sizes_{all} {}
  ConvPadding(int all) : sizes_{all} {}
  ConvPadding(IntArrayRef sizes) : sizes_(sizes) {}
  ConvPadding(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  ConvPadding(const char* word);
  ConvPadding(const std::string& word) : ConvPadding(word.c_str()) {}
  ConvPadding(std::string_view word) : ConvPadding(std::string(word)) {}
  template <class List>
  requires(std::is_class_v<List>&& std::is_convertible_v<const List&, IntArrayRef>)
      ConvPadding(const List& sizes)
      : sizes_(IntArrayRef(sizes)) {}
  bool same() const { return same_; }
  const DimVector& sizes() const { return sizes_; }

 private:
  DimVector sizes_;
  bool same_ = false;
};

/// The cross-correlation of each window with the weights, plus the bias: size (in + 2 * padding -
/// dilation * (k - 1) - 1) / stride + 1.
/// [autocast: lower inside]
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              IntArrayRef stride = 1, const ConvPadding& padding = 0, IntArrayRef dilation = 1,
              int64_t groups = 1);
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              IntArrayRef stride = 1, const ConvPadding& padding = 0, IntArrayRef dilation = 1,
              int64_t groups = 1);
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              IntArrayRef stride = 1, const ConvPadding& padding = 0, IntArrayRef dilation = 1,
              int64_t groups = 1);

/// The gradient of a convolution as an operation of its own: size (in - 1) * stride - 2 * padding +
/// dilation * (k - 1) + output_padding + 1.
/// [autocast: lower inside]
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0,
                        IntArrayRef output_padding = 0, int64_t groups = 1,
                        IntArrayRef dilation = 1);
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0,
                        IntArrayRef output_padding = 0, int64_t groups = 1,
                        IntArrayRef dilation = 1);
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0,
                        IntArrayRef output_padding = 0, int64_t groups = 1,
                        IntArrayRef dilation = 1);

}  // namespace taeda
