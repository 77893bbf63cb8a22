#include "taeda/nn/functional/upsampling.h"

#include <cmath>

#include "taeda/ops/pool.h"
#include "taeda/tensor/layout.h"
#include "taeda/tensor/observer.h"

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

/// Rows of the input that make a row of the result, and their weights: out x taps each.
struct Taps {
  int64_t taps;
  std::vector<int64_t> rows;
  std::vector<double> weights;
};

Taps nearest_taps(const Axis& axis, bool exact) {
  Taps t{1, {}, {}};
  // In single precision, as everybody does it: which row is nearest depends on it.
  const auto step = static_cast<float>(axis.step);
  for (int64_t i = 0; i < axis.out; ++i) {
    const float position = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    t.rows.push_back(std::min(static_cast<int64_t>(std::floor(position)), axis.in - 1));
  }
  return t;
}

Taps linear_taps(const Axis& axis) {
  Taps t{2, {}, {}};
  for (int64_t i = 0; i < axis.out; ++i) {
    const double position = std::max(axis.position(i), 0.0);
    const int64_t low = std::min(static_cast<int64_t>(position), axis.in - 1);
    const double weight = std::min(position - static_cast<double>(low), 1.0);
    t.rows.insert(t.rows.end(), {low, std::min(low + 1, axis.in - 1)});
    t.weights.insert(t.weights.end(), {1 - weight, weight});
  }
  return t;
}

/// The cubic convolution kernel at distance x (Keys, "Cubic convolution interpolation for digital
/// image processing", 1981).
double cubic_kernel(double x, double a = -0.75) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

Taps cubic_taps(const Axis& axis) {
  Taps t{4, {}, {}};
  for (int64_t i = 0; i < axis.out; ++i) {
    const double position = axis.position(i), low = std::floor(position);
    for (int64_t k = -1; k <= 2; ++k) {
      t.rows.push_back(std::clamp<int64_t>(static_cast<int64_t>(low) + k, 0, axis.in - 1));
      t.weights.push_back(cubic_kernel(position - low - static_cast<double>(k)));
    }
  }
  return t;
}

/// A triangle, or the cubic kernel with Keys' own A, over all rows that a row of the result covers.
Taps antialias_taps(const Axis& axis, bool cubic) {
  const double scale = std::max(axis.step, 1.0), support = (cubic ? 2 : 1) * scale;
  Taps t{static_cast<int64_t>(std::ceil(support)) * 2 + 1, {}, {}};
  t.taps = std::min(t.taps, axis.in);
  for (int64_t i = 0; i < axis.out; ++i) {
    const double center = axis.step * (static_cast<double>(i) + 0.5);
    const auto first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const auto last = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), axis.in);
    double sum = 0;
    const size_t begin = t.weights.size();
    for (int64_t k = 0; k < t.taps; ++k) {
      const double x = std::abs((static_cast<double>(first + k) - center + 0.5) / scale);
      const double w = first + k >= last ? 0 : cubic ? cubic_kernel(x, -0.5) : std::max(1 - x, 0.0);
      t.rows.push_back(std::min(first + k, axis.in - 1));
      t.weights.push_back(w);
      sum += w;
    }
    for (size_t k = begin; k < t.weights.size() && sum != 0; ++k) t.weights[k] /= sum;
  }
  return t;
}

/// Dimension `dim` of x, of size in, resampled to size out.
Tensor resample(const Tensor& x, int64_t dim, const Axis& axis, const Taps& t) {
  Tensor out;
  for (int64_t tap = 0; tap < t.taps; ++tap) {
    const Tensor rows = make_tensor({axis.out}, kLong, Device(kCPU));
    for (int64_t i = 0; i < axis.out; ++i)
      rows.data_ptr<int64_t>()[i] = t.rows[static_cast<size_t>(i * t.taps + tap)];
    Tensor part = x.index_select(dim, rows.to(x.device()));
    if (t.taps > 1) {
      DimVector sizes(static_cast<size_t>(x.dim()), 1);
      sizes[static_cast<size_t>(dim)] = axis.out;
      const Tensor weights = make_tensor(sizes, kDouble, Device(kCPU));
      for (int64_t i = 0; i < axis.out; ++i)
        weights.data_ptr<double>()[i] = t.weights[static_cast<size_t>(i * t.taps + tap)];
      part = part.mul(weights.to(x.device(), x.dtype()));
    }
    out = tap == 0 ? part : out.add(part);
  }
  return out;
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

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  if (is_observed())
    return observe(
        "interpolate",
        [&](const Tensor& x, const auto&...) { return functional::interpolate(x, o); }, input,
        std::string(o.mode().name()), o.size(), o.scale_factor(), o.align_corners(),
        o.recompute_scale_factor(), o.antialias());
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
  const bool corners = has_corners && o.align_corners().value_or(false);
  const bool use_factor = o.scale_factor() && !o.recompute_scale_factor().value_or(false);
  Tensor x = input;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t dim = static_cast<int64_t>(d) + 2, in = input.size(dim), out = sizes[d];
    const auto from = static_cast<double>(in), to = static_cast<double>(out);
    const double step = corners      ? (out > 1 ? (from - 1) / (to - 1) : 0)
                        : use_factor ? 1 / (*o.scale_factor())[d]
                                     : from / to;
    if (in == out && (corners || step == 1)) continue;
    const Axis axis{in, out, step, corners};
    x = resample(x, dim, axis,
                 o.antialias()      ? antialias_taps(axis, cubic)
                 : is_nearest(mode) ? nearest_taps(axis, mode == Interpolation::NearestExact)
                 : cubic            ? cubic_taps(axis)
                                    : linear_taps(axis));
  }
  return x.is_same(input) ? x.clone() : x;
}

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
