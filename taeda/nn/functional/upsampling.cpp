#include "taeda/nn/functional/upsampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "taeda/kernels/memory_order.h"
#include "taeda/ops/door.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/nn/resample.h"
#include "taeda/tensor/layout.h"

namespace taeda::inline v0_2::nn {

const char* InterpolationMode::name() const {
  switch (mode_) {
    case Interpolation::Nearest: return "nearest";
    case Interpolation::Linear: return "linear";
    case Interpolation::Bilinear: return "bilinear";
    case Interpolation::Bicubic: return "bicubic";
    case Interpolation::Trilinear: return "trilinear";
    case Interpolation::Area: return "area";
    default: return "nearest-exact";
  }
}

namespace functional {

namespace {

using taeda::detail::SparseRows;

bool is_nearest(Interpolation mode) {
  return mode == Interpolation::Nearest || mode == Interpolation::NearestExact;
}

/// How one dimension changes.
struct Axis {
  int64_t in, out;
  /// The distance, in elements of the input, between elements of the result.
  double step;
  bool align_corners;
  double position(int64_t i) const {
    return align_corners ? static_cast<double>(i) * step
                         : (static_cast<double>(i) + 0.5) * step - 0.5;
  }
};

/// The element of the input for each of the result's.
std::vector<int64_t> nearest_elements(const Axis& axis, bool exact) {
  std::vector<int64_t> elements;
  // In single precision, as everybody does it: which row is nearest depends on it.
  const auto step = static_cast<float>(axis.step);
  for (int64_t i = 0; i < axis.out; ++i) {
    const float position = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    elements.push_back(std::min(static_cast<int64_t>(std::floor(position)), axis.in - 1));
  }
  return elements;
}

SparseRows nearest_rows(const Axis& axis, bool exact) {
  SparseRows m(axis.in);
  for (const int64_t i : nearest_elements(axis, exact)) {
    m.add(i, 1);
    m.end_row();
  }
  return m;
}

/// All dimensions as one, which they are in channels-last memory.
SparseRows nearest_pixels(const std::vector<Axis>& axes, bool exact) {
  std::vector<int64_t> pixels{0};
  int64_t count = 1;
  for (const Axis& axis : axes) {
    const std::vector<int64_t> elements = nearest_elements(axis, exact);
    std::vector<int64_t> next;
    next.reserve(pixels.size() * elements.size());
    for (const int64_t pixel : pixels)
      for (const int64_t i : elements) next.push_back(pixel * axis.in + i);
    pixels = std::move(next);
    count *= axis.in;
  }
  SparseRows m(count);
  for (const int64_t pixel : pixels) {
    m.add(pixel, 1);
    m.end_row();
  }
  return m;
}

SparseRows linear_rows(const Axis& axis) {
  SparseRows m(axis.in);
  for (int64_t i = 0; i < axis.out; ++i) {
    const double position = std::max(axis.position(i), 0.0);
    const int64_t low = std::min(static_cast<int64_t>(position), axis.in - 1);
    const double weight = std::min(position - static_cast<double>(low), 1.0);
    m.add(low, 1 - weight);
    m.add(std::min(low + 1, axis.in - 1), weight);
    m.end_row();
  }
  return m;
}

/// The cubic convolution kernel at distance x (Keys, "Cubic convolution interpolation for digital
/// image processing", 1981).
double cubic_kernel(double x, double a = -0.75) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

SparseRows cubic_rows(const Axis& axis) {
  SparseRows m(axis.in);
  for (int64_t i = 0; i < axis.out; ++i) {
    const double position = axis.position(i), low = std::floor(position);
    for (int64_t k = -1; k <= 2; ++k)
      m.add(std::clamp<int64_t>(static_cast<int64_t>(low) + k, 0, axis.in - 1),
            cubic_kernel(position - low - static_cast<double>(k)));
    m.end_row();
  }
  return m;
}

/// A triangle, or the cubic kernel with Keys' own A, over all rows that a row of the result covers.
SparseRows antialias_rows(const Axis& axis, bool cubic) {
  const double scale = std::max(axis.step, 1.0), support = (cubic ? 2 : 1) * scale;
  SparseRows m(axis.in);
  for (int64_t i = 0; i < axis.out; ++i) {
    const double center = axis.step * (static_cast<double>(i) + 0.5);
    const auto first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const auto last = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), axis.in);
    const auto weight = [&](int64_t row) {
      const double x = std::abs((static_cast<double>(row) - center + 0.5) / scale);
      return cubic ? cubic_kernel(x, -0.5) : std::max(1 - x, 0.0);
    };
    double sum = 0;
    for (int64_t row = first; row < last; ++row) sum += weight(row);
    for (int64_t row = first; row < last; ++row)
      m.add(row, sum != 0 ? weight(row) / sum : weight(row));
    m.end_row();
  }
  return m;
}

/// Dimensions that shrink come first, in their order, then those that grow, from the last one on:
/// so the tensors between are small, and the longest lines of them go last.
std::vector<size_t> order_of(const std::vector<Axis>& axes) {
  std::vector<size_t> order;
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d].out < axes[d].in) order.push_back(d);
  for (size_t d = axes.size(); d-- > 0;)
    if (axes[d].out >= axes[d].in) order.push_back(d);
  return order;
}

/// Whether finding the pixels is little beside moving them, and they can be numbered.
bool pays_as_pixels(const Tensor& input) {
  constexpr int64_t kNumbersOfAPixel = 64;
  int64_t pixels = 1;
  for (int64_t d = 2; d < input.dim(); ++d) pixels *= input.size(d);
  return input.numel() / pixels >= kNumbersOfAPixel &&
         pixels <= std::numeric_limits<int32_t>::max();
}

/// The dimensions behind batch and channel, all at once or one after the other.
Tensor resample_axes(const Tensor& input, const std::vector<Axis>& axes, Interpolation mode,
                     bool antialias) {
  const bool exact = mode == Interpolation::NearestExact, cubic = mode == Interpolation::Bicubic;
  // Channels-last memory is a contiguous tensor whose channels come last.
  const bool last = is_channels_last_only(input);
  Tensor x = last ? input.movedim(1, -1) : input;
  if (last && is_nearest(mode) && pays_as_pixels(input)) {
    DimVector sizes;
    for (const Axis& axis : axes) sizes.push_back(axis.out);
    const auto pixels = std::make_shared<const SparseRows>(nearest_pixels(axes, exact));
    return taeda::detail::resample(x.flatten(1, -2), 1, pixels)
        .unflatten(1, IntArrayRef(sizes))
        .movedim(-1, 1);
  }
  for (const size_t d : order_of(axes)) {
    const Axis& axis = axes[d];
    if (axis.in == axis.out && (axis.align_corners || axis.step == 1)) continue;
    const auto rows =
        std::make_shared<const SparseRows>(antialias          ? antialias_rows(axis, cubic)
                                           : is_nearest(mode) ? nearest_rows(axis, exact)
                                           : cubic            ? cubic_rows(axis)
                                                              : linear_rows(axis));
    x = taeda::detail::resample(x, static_cast<int64_t>(d) + (last ? 1 : 2), rows);
  }
  return last ? x.movedim(-1, 1) : x;
}

void check_mode(int64_t dim, InterpolationMode mode) {
  const int64_t expected = mode == Interpolation::Linear      ? 3
                           : mode == Interpolation::Trilinear ? 5
                           : mode == Interpolation::Bilinear || mode == Interpolation::Bicubic
                               ? 4
                               : dim;
  TAEDA_CHECK_NOT_IMPLEMENTED(
      dim >= 3 && dim <= 5, "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", dim,
      "D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact "
      "(got ",
      mode.name(), ")");
  TAEDA_CHECK_NOT_IMPLEMENTED(dim == expected, "Got ", dim, "D input, but ", mode.name(),
                              " mode needs ", expected, "D input");
}

/// Sizes of the result behind batch and channel.
std::vector<int64_t> output_sizes(const Tensor& input, const InterpolateFuncOptions& o) {
  TAEDA_CHECK_VALUE(o.size() || o.scale_factor(), "either size or scale_factor should be defined");
  TAEDA_CHECK_VALUE(!o.size() || !o.scale_factor(),
                    "only one of size or scale_factor should be defined");
  const IntArrayRef spatial = input.sizes().slice(2, static_cast<size_t>(input.dim() - 2));
  const size_t given = o.size() ? o.size()->size() : o.scale_factor()->size();
  TAEDA_CHECK_VALUE(given == spatial.size(), "Input and ", o.size() ? "output" : "scale_factor",
                    " must have the same number of spatial dimensions, but got input with spatial "
                    "dimensions of ",
                    spatial, " and ", given, " number(s)");
  if (o.size()) {
    TAEDA_CHECK_VALUE(!o.recompute_scale_factor().value_or(false),
                      "recompute_scale_factor is not meaningful with an explicit size.");
    return *o.size();
  }
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < given; ++d) {
    const double size = std::floor(static_cast<double>(spatial[d]) * (*o.scale_factor())[d]);
    TAEDA_CHECK(std::abs(size) < 0x1p63, "interpolate: no size ", spatial[d],
                " times scale_factor ", (*o.scale_factor())[d]);
    sizes.push_back(static_cast<int64_t>(size));
  }
  return sizes;
}

/// Bytes are chosen or, as those of pictures, rounded.
Tensor interpolate_bytes(const Tensor& input, const InterpolateFuncOptions& o) {
  TAEDA_CHECK_NOT_IMPLEMENTED(input.dtype() == kByte, "interpolate: mode ", o.mode().name(),
                              " is not implemented for ", to_string(input.dtype()));
  const Tensor result = interpolate(input.to(kFloat), o);
  return (is_nearest(o.mode()) ? result : result.round().clamp(0, 255)).to(kByte);
}

Tensor do_interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  const Interpolation mode = o.mode();
  const bool has_corners = !is_nearest(mode) && mode != Interpolation::Area;
  TAEDA_CHECK_VALUE(has_corners || !o.align_corners(),
                    "align_corners option can only be set with the interpolating modes: linear | "
                    "bilinear | bicubic | trilinear");
  check_mode(input.dim(), mode);
  const bool cubic = mode == Interpolation::Bicubic;
  TAEDA_CHECK_VALUE(!o.antialias() || cubic || mode == Interpolation::Bilinear,
                    "Anti-alias option is only supported for bilinear and bicubic modes, but got ",
                    o.mode().name());
  const std::vector<int64_t> sizes = output_sizes(input, o);
  for (size_t d = 0; d < sizes.size(); ++d)
    TAEDA_CHECK(sizes[d] > 0 && input.size(static_cast<int64_t>(d) + 2) > 0,
                "Input and output sizes should be greater than 0, but got input ", input.sizes(),
                " output ", IntArrayRef(sizes));
  DimVector result(input.sizes().slice(0, 2));
  for (const int64_t n : sizes) result.push_back(n);
  checked_nbytes(result, input.element_size());
  if (mode == Interpolation::Area)
    return sizes.size() == 1   ? taeda::adaptive_avg_pool1d(input, sizes)
           : sizes.size() == 2 ? taeda::adaptive_avg_pool2d(input, sizes)
                               : taeda::adaptive_avg_pool3d(input, sizes);
  if (!input.is_floating_point()) return interpolate_bytes(input, o);
  const IntArrayRef spatial = input.sizes().slice(2);
  const bool corners = has_corners && o.align_corners().value_or(false);
  const bool use_factor = o.scale_factor() && !o.recompute_scale_factor().value_or(false);
  std::vector<Axis> axes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto from = static_cast<double>(spatial[d]), to = static_cast<double>(sizes[d]);
    const double step = corners      ? (sizes[d] > 1 ? (from - 1) / (to - 1) : 0)
                        : use_factor ? 1 / (*o.scale_factor())[d]
                                     : from / to;
    axes.push_back({spatial[d], sizes[d], step, corners});
  }
  const Tensor x = resample_axes(input, axes, mode, o.antialias());
  return x.is_same(input) ? x.clone() : x;
}

using OptionalSizes = std::optional<std::vector<int64_t>>;
using OptionalFactors = std::optional<std::vector<double>>;

/// The same as doors call it: with the options as who follows calls is told them.
Tensor interpolate_told(const Tensor& input, const std::string&, const OptionalSizes&,
                        const OptionalFactors&, std::optional<bool>, std::optional<bool>, bool,
                        const InterpolateFuncOptions& o) {
  return do_interpolate(input, o);
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  static constexpr OperationTraits traits{.name = "interpolate"};
  if (Interceptors::any())
    return Door<decltype(interpolate_told)>::pass(traits, interpolate_told, input, o.mode().name(),
                                                  o.size(), o.scale_factor(), o.align_corners(),
                                                  o.recompute_scale_factor(), o.antialias(), o);
  return do_interpolate(input, o);
}

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
