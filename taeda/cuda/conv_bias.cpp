// Not a part of conv.cu: what nvcc makes of a template is hidden from other libraries, and a slot
// that it made would be another than libtaeda's.
#include "taeda/cuda/conv_bias.h"

#include "taeda/kernels/pointwise/arithmetic.h"

namespace taeda::inline v0_2::gpu {

void add_bias(const Tensor& out, const Tensor& bias) {
  if (!bias.defined()) return;
  DimVector sizes, strides;
  for (int64_t d = 0; d < out.dim(); ++d) {
    sizes.push_back(d == 1 ? bias.size(0) : 1);
    strides.push_back(d == 1 ? bias.stride(0) : 0);
  }
  const Tensor channels = make_alias(bias);
  channels.unsafe_impl()->layout = Layout{sizes, strides, bias.storage_offset()};
  channels.unsafe_impl()->refresh();
  Tensor target = out;
  Tensor* outputs[] = {&target};
  pointwise_slot<Add>(
      kCUDA,
      Iter("convolution", outputs, out.dtype(), {Operand(out), Operand(channels)}, out.dtype()),
      FunctorBytes::from(Add{}));
}

}  // namespace taeda::gpu
