#include "taeda/nn/functional/fractional_pooling.h"

#include "taeda/ops/random/random.h"

namespace taeda::inline v0_2::nn::functional {

namespace {

template <size_t D>
DimVector fractional_output_size(const char* op, const Tensor& input,
                                 const FractionalMaxPoolOptions<D>& o) {
  TAEDA_CHECK_VALUE(o.output_size || o.output_ratio, op,
                    " requires specifying either an output_size or an output_ratio");
  if (o.output_size) return DimVector(IntArrayRef(*o.output_size));
  const ExpandingArray<D, double>& ratio = *o.output_ratio;
  DimVector sizes;
  for (size_t d = 0; d < D; ++d) {
    const double size = static_cast<double>(input.size(static_cast<int64_t>(d) - int64_t{D}));
    sizes.push_back(static_cast<int64_t>(size * ratio[d]));
  }
  return sizes;
}

template <size_t D>
Tensor fractional_samples(const Tensor& input, const FractionalMaxPoolOptions<D>& o) {
  if (o._random_samples.defined()) return o._random_samples;
  const int64_t batch = input.dim() == int64_t{D} + 1 ? 1 : input.size(0);
  return rand({batch, input.size(-int64_t{D} - 1), int64_t{D}},
              TensorOptions(input.dtype()).device(input.device()));
}

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& o) {
  const DimVector sizes = fractional_output_size("fractional_max_pool2d", input, o);
  return taeda::fractional_max_pool2d(input, o.kernel_size, sizes, fractional_samples(input, o));
}

std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& o) {
  const DimVector sizes = fractional_output_size("fractional_max_pool3d", input, o);
  return taeda::fractional_max_pool3d(input, o.kernel_size, sizes, fractional_samples(input, o));
}

}  // namespace taeda::inline v0_2::nn::functional
