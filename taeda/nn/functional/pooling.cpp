#include "taeda/nn/functional/pooling.h"

#include "taeda/device/host_graph.h"
#include "taeda/nn/functional/door.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn::functional::detail {

namespace {

/// Sizes as "4x4".
std::string times(IntArrayRef sizes) {
  std::string out;
  for (int64_t size : sizes) out += (out.empty() ? "" : "x") + std::to_string(size);
  return out;
}

/// The spatial sizes of the result of an unpool.
std::vector<int64_t> unpool_sizes(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                                  IntArrayRef padding,
                                  const std::optional<std::vector<int64_t>>& output_size) {
  const size_t dims = kernel_size.size();
  const int64_t first = input.dim() - static_cast<int64_t>(dims);
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < dims; ++d)
    sizes.push_back((input.size(first + static_cast<int64_t>(d)) - 1) * stride[d] + kernel_size[d] -
                    2 * padding[d]);
  if (!output_size) return sizes;
  IntArrayRef wanted(*output_size);
  if (wanted.size() == dims + 2) wanted = wanted.slice(2, dims);
  TAEDA_CHECK_VALUE(wanted.size() == dims, "output_size should be a sequence containing ", dims,
                    " or ", dims + 2, " elements, but it has a length of '", wanted.size(), "'");
  for (size_t d = 0; d < dims; ++d)
    TAEDA_CHECK_VALUE(wanted[d] > sizes[d] - stride[d] && wanted[d] < sizes[d] + stride[d],
                      "invalid output_size \"", tuple_text(wanted), "\" (dim ", d,
                      " must be between ", sizes[d] - stride[d], " and ", sizes[d] + stride[d],
                      ")");
  return wanted.vec();
}

Tensor do_max_unpool(const Tensor& input, const Tensor& indices, IntArrayRef kernel_size,
                     IntArrayRef stride, IntArrayRef padding,
                     const std::optional<std::vector<int64_t>>& output_size) {
  const auto dims = static_cast<int64_t>(kernel_size.size());
  TAEDA_CHECK(input.dim() == dims + 1 || input.dim() == dims + 2, "Input to max_unpooling", dims,
              "d should be a ", dims + 1, "d or ", dims + 2, "d Tensor, but got a tensor with ",
              input.dim(), " dimensions.");
  TAEDA_CHECK(stride.size() == kernel_size.size() && padding.size() == kernel_size.size(),
              "max_unpool", dims, "d expects ", dims, " elements in stride and padding, but got ",
              stride.size(), " and ", padding.size());
  TAEDA_CHECK(indices.dtype() == kLong,
              "elements in indices should be type int64 but got: ", indices.dtype());
  TAEDA_CHECK(indices.sizes() == input.sizes(),
              "Expected shape of indices to be same as that of the input tensor (", input.sizes(),
              ") but got indices tensor with shape: ", indices.sizes());
  const std::vector<int64_t> spatial =
      unpool_sizes(input, kernel_size, stride, padding, output_size);
  DimVector sizes = input.sizes();
  int64_t volume = 1;
  for (int64_t d = 0; d < dims; ++d) {
    sizes[static_cast<size_t>(input.dim() - dims + d)] = spatial[static_cast<size_t>(d)];
    volume *= spatial[static_cast<size_t>(d)];
  }
  if (taeda::detail::can_look_at_values(indices.device()) && indices.numel() > 0) {
    const auto low = indices.min().item<int64_t>(), high = indices.max().item<int64_t>();
    TAEDA_CHECK(low >= 0 && high < volume, "Found an invalid max index: ", low < 0 ? low : high,
                " (output volumes are of size ", times(spatial), ")");
  }
  DimVector flat = IntArrayRef(sizes).slice(0, static_cast<size_t>(input.dim() - dims));
  flat.push_back(volume);
  return zeros(flat, input.options())
      .scatter(-1, indices.flatten(-dims), input.flatten(-dims))
      .reshape(sizes);
}

}  // namespace

Tensor max_unpool(const Tensor& input, const Tensor& indices, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding,
                  const std::optional<std::vector<int64_t>>& output_size) {
  static constexpr OperationTraits traits{.name = "max_unpool",
                                          .observed = false,
                                          .casts = {policy::Cast::float32, policy::Cast::none}};
  return through_door<&do_max_unpool>(traits, input, indices, kernel_size, stride, padding,
                                      output_size);
}

Tensor lp_pool(const Tensor& input, double norm_type, IntArrayRef kernel_size, IntArrayRef stride,
               bool ceil_mode) {
  const Tensor powers = input.pow(norm_type);
  int64_t count = 1;
  for (const int64_t k : kernel_size) count *= k;
  const Tensor means = kernel_size.size() == 1
                           ? taeda::avg_pool1d(powers, kernel_size, stride, 0, ceil_mode)
                           : taeda::avg_pool2d(powers, kernel_size, stride, 0, ceil_mode);
  // A root has no slope at 0, where all that it is made of is 0.
  const Tensor sums = means.mul(count), nothing = sums.eq(0);
  return sums.masked_fill(nothing, 1).pow(1 / norm_type).masked_fill(nothing, 0);
}

}  // namespace taeda::inline v0_2::nn::functional::detail

namespace taeda::inline v0_2::nn::functional {

std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x,
                                                            const AdaptiveMaxPool1dFuncOptions& o) {
  return taeda::adaptive_max_pool1d(x, o.output_size.numbers(kSameSize));
}

std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& x,
                                                            const AdaptiveMaxPool2dFuncOptions& o) {
  return taeda::adaptive_max_pool2d(x, o.output_size.numbers(kSameSize));
}

std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& x,
                                                            const AdaptiveMaxPool3dFuncOptions& o) {
  return taeda::adaptive_max_pool3d(x, o.output_size.numbers(kSameSize));
}

Tensor adaptive_max_pool1d(const Tensor& x, const AdaptiveMaxPool1dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool1d(x, o.output_size.numbers(kSameSize)));
}

Tensor adaptive_max_pool2d(const Tensor& x, const AdaptiveMaxPool2dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool2d(x, o.output_size.numbers(kSameSize)));
}

Tensor adaptive_max_pool3d(const Tensor& x, const AdaptiveMaxPool3dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool3d(x, o.output_size.numbers(kSameSize)));
}

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& o) {
  return detail::max_unpool(input, indices, o.kernel_size, o.stride, o.padding, o.output_size);
}

Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& o) {
  return detail::max_unpool(input, indices, o.kernel_size, o.stride, o.padding, o.output_size);
}

Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& o) {
  return detail::max_unpool(input, indices, o.kernel_size, o.stride, o.padding, o.output_size);
}

Tensor lp_pool1d(const Tensor& x, const LPPool1dFuncOptions& o) {
  return detail::lp_pool(x, o.norm_type, o.kernel_size, o.stride, o.ceil_mode);
}

Tensor lp_pool2d(const Tensor& x, const LPPool2dFuncOptions& o) {
  return detail::lp_pool(x, o.norm_type, o.kernel_size, o.stride, o.ceil_mode);
}

}  // namespace taeda::inline v0_2::nn::functional
