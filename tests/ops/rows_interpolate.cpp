// Images at other sizes and other places: functions of nn that are made of several operations.
#include <algorithm>
#include <cmath>

#include "taeda/nn/functional/upsampling.h"
#include "taeda/nn/functional/vision.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

namespace F = nn::functional;

/// What each of `in` places along a dimension contributes to place i of `out`.
using Weights = std::function<std::vector<double>(int64_t i, int64_t in, int64_t out)>;

/// The dimensions from 2 on, one after the other, become `sizes`.
Array resampled(Array a, const std::vector<int64_t>& sizes, const Weights& weights) {
  for (size_t k = 0; k < sizes.size(); ++k) {
    const size_t d = k + 2;
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < d; ++i) outer *= a.sizes[i];
    for (size_t i = d + 1; i < a.sizes.size(); ++i) inner *= a.sizes[i];
    std::vector<double> data;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t p = 0; p < sizes[k]; ++p)
        for (int64_t i = 0; i < inner; ++i) {
          const std::vector<double> w = weights(p, a.sizes[d], sizes[k]);
          double sum = 0;
          for (size_t x = 0; x < w.size(); ++x)
            if (w[x] != 0)
              sum +=
                  w[x] *
                  a.data[(o * w.size() + x) * static_cast<size_t>(inner) + static_cast<size_t>(i)];
          data.push_back(sum);
        }
    a.sizes[d] = sizes[k];
    a.data = std::move(data);
  }
  return a;
}

/// Where place i of `out` lies among `in` places.
double place(int64_t i, int64_t in, int64_t out, bool corners) {
  const auto to = static_cast<double>(out), from = static_cast<double>(in);
  const auto at = static_cast<double>(i);
  return corners ? at * (from - 1) / (to - 1) : (at + 0.5) * from / to - 0.5;
}

/// One place alone, `shift` behind the corner of what is asked for.
Weights nearest(double shift) {
  return [=](int64_t i, int64_t in, int64_t out) {
    std::vector<double> w(static_cast<size_t>(in));
    w[static_cast<size_t>((static_cast<double>(i) + shift) * static_cast<double>(in) /
                          static_cast<double>(out))] = 1;
    return w;
  };
}

double triangle(double x) { return std::max(1 - std::abs(x), 0.0); }

/// R. Keys, "Cubic convolution interpolation for digital image processing" (1981), equation 4.
double keys(double x, double a) {
  x = std::abs(x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

/// A kernel around each place; what it has beyond the ends belongs to them.
Weights kernel(std::function<double(double)> f, bool corners) {
  return [=](int64_t i, int64_t in, int64_t out) {
    std::vector<double> w(static_cast<size_t>(in));
    const double center = place(i, in, out, corners);
    for (int64_t x = -3; x < in + 3; ++x)
      w[static_cast<size_t>(std::clamp<int64_t>(x, 0, in - 1))] +=
          f(center - static_cast<double>(x));
    return w;
  };
}

/// A kernel as wide as what a place of a smaller image covers; beyond the ends there is nothing.
Weights antialiased(std::function<double(double)> f) {
  return [=](int64_t i, int64_t in, int64_t out) {
    std::vector<double> w;
    const double wide = std::max(static_cast<double>(in) / static_cast<double>(out), 1.0);
    double sum = 0;
    for (int64_t x = 0; x < in; ++x)
      sum += w.emplace_back(f((static_cast<double>(x) - place(i, in, out, false)) / wide));
    for (double& x : w) x /= sum;
    return w;
  };
}

OpRow row(const std::string& name, F::InterpolateFuncOptions options, Sample sample,
          const std::vector<int64_t>& sizes, const Weights& weights) {
  options.size(sizes);
  return {.name = "interpolate." + name,
          .call = [=](const Tensors& t) { return Tensors{F::interpolate(t[0], options)}; },
          .samples = {std::move(sample)},
          .reference = [=](const Arrays& a) { return Arrays{resampled(a[0], sizes, weights)}; },
          .tolerance = 8};
}

F::InterpolateFuncOptions mode(nn::InterpolationMode m) { return {.mode = m}; }

std::vector<OpRow> resizing_rows() {
  const Sample line = {real({2, 3, 5})}, image = {real({2, 2, 4, 5})},
               box = {real({1, 2, 3, 4, 2})};
  const auto cubic = [](double x) { return keys(x, -0.75); };
  const auto sharp = [](double x) { return keys(x, -0.5); };
  const auto bilinear = mode(kBilinear), bicubic = mode(kBicubic);
  const auto smooth = [](F::InterpolateFuncOptions o) { return o.antialias = true, o; };
  const auto corners = [](F::InterpolateFuncOptions o) { return o.align_corners = true, o; };
  return {
      row("nearest", mode(kNearest), image, {7, 3}, nearest(0)),
      row("nearest_exact", mode(kNearestExact), image, {7, 3}, nearest(0.5)),
      row("linear", mode(kLinear), line, {8}, kernel(triangle, false)),
      row("bilinear", bilinear, image, {7, 3}, kernel(triangle, false)),
      row("bilinear.corners", corners(bilinear), image, {7, 3}, kernel(triangle, true)),
      row("trilinear", mode(kTrilinear), box, {2, 5, 4}, kernel(triangle, false)),
      row("bicubic", bicubic, image, {7, 3}, kernel(cubic, false)),
      row("bicubic.corners", corners(bicubic), image, {7, 3}, kernel(cubic, true)),
      row("bilinear.antialias", smooth(bilinear), image, {2, 3}, antialiased(triangle)),
      row("bilinear.antialias.larger", smooth(bilinear), image, {7, 9}, antialiased(triangle)),
      row("bicubic.antialias", smooth(bicubic), image, {2, 3}, antialiased(sharp)),
      row("bicubic.antialias.larger", smooth(bicubic), image, {7, 9}, antialiased(sharp)),
  };
}

/// Position p brought into a dimension of n places, as a grid's padding wants it.
double brought_inside(double p, int64_t n, const F::GridSampleFuncOptions& o) {
  const auto last = static_cast<double>(n - 1);
  if (o.padding_mode() == kZeros) return p;
  if (o.padding_mode() == kReflection) {
    const double low = *o.align_corners() ? 0 : -0.5, high = last - low;
    while (p < low || p > high) p = p < low ? 2 * low - p : 2 * high - p;
  }
  return std::clamp(p, 0.0, last);
}

/// What each of n places contributes to coordinate g.
std::vector<double> grid_weights(double g, int64_t n, const F::GridSampleFuncOptions& o) {
  const auto size = static_cast<double>(n);
  double p = *o.align_corners() ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
  const bool cubic = o.mode() == kBicubic;
  if (!cubic) p = brought_inside(p, n, o);
  std::vector<double> w(static_cast<size_t>(n));
  for (double x = std::floor(p) - 2; x <= std::floor(p) + 3; ++x) {
    const double place = cubic ? brought_inside(x, n, o) : x;
    const double share = cubic                  ? keys(p - x, -0.75)
                         : o.mode() == kNearest ? std::nearbyint(p) == x
                                                : triangle(p - x);
    if (place >= 0 && place < size) w[static_cast<size_t>(place)] += share;
  }
  return w;
}

/// The elements of images at the places of grids.
Array sampled(const Array& images, const Array& grid, const F::GridSampleFuncOptions& o) {
  const size_t dims = images.sizes.size() - 2;
  int64_t plane = 1, places = 1;
  Array out{{images.sizes[0], images.sizes[1]}, {}};
  for (size_t d = 0; d < dims; ++d) {
    plane *= images.sizes[d + 2];
    places *= grid.sizes[d + 1];
    out.sizes.push_back(grid.sizes[d + 1]);
  }
  for (int64_t n = 0; n < images.sizes[0]; ++n)
    for (int64_t c = 0; c < images.sizes[1]; ++c)
      for (int64_t p = 0; p < places; ++p) {
        std::vector<double> weights{1};
        for (size_t d = 0; d < dims; ++d) {
          const size_t at = static_cast<size_t>(n * places + p) * dims + dims - 1 - d;
          const std::vector<double> line = grid_weights(grid.data[at], images.sizes[d + 2], o);
          std::vector<double> all;
          for (const double a : weights)
            for (const double b : line) all.push_back(a * b);
          weights = std::move(all);
        }
        double sum = 0;
        for (size_t e = 0; e < weights.size(); ++e)
          sum +=
              weights[e] * images.data[static_cast<size_t>((n * images.sizes[1] + c) * plane) + e];
        out.data.push_back(sum);
      }
  return out;
}

OpRow sampling_row(const std::string& name, F::GridSampleFuncOptions options, Sample sample) {
  if (!options.align_corners()) options.align_corners(false);
  return {.name = "grid_sample." + name,
          .call = [=](const Tensors& t) { return Tensors{F::grid_sample(t[0], t[1], options)}; },
          .samples = {std::move(sample)},
          .reference = [=](const Arrays& a) { return Arrays{sampled(a[0], a[1], options)}; },
          .dtypes = kWide,
          .second_derivative = options.mode() == kBicubic,
          .tolerance = 16};
}

std::vector<OpRow> sampling_rows() {
  // More places than a block of the kernels has.
  const Sample image = {real({2, 2, 4, 5}), real({2, 9, 8, 2}, -1.4, 1.4)},
               small = {real({1, 2, 4, 5}), real({1, 3, 3, 2}, -1.4, 1.4)},
               box = {real({1, 2, 3, 4, 2}), real({1, 2, 3, 2, 3}, -1.4, 1.4)};
  const F::GridSampleFuncOptions o, nearest{.mode = kNearest}, cubic{.mode = kBicubic};
  const auto padded = [](F::GridSampleFuncOptions o, PaddingMode p) {
    return o.padding_mode = p, o;
  };
  const auto corners = [](F::GridSampleFuncOptions o) { return o.align_corners = true, o; };
  return {
      sampling_row("zeros", o, image),
      sampling_row("border", padded(o, kBorder), image),
      sampling_row("reflection", padded(o, kReflection), image),
      sampling_row("corners", corners(o), image),
      sampling_row("corners.reflection", padded(corners(o), kReflection), image),
      sampling_row("nearest", nearest, small),
      sampling_row("nearest.reflection", padded(nearest, kReflection), small),
      sampling_row("bicubic", cubic, small),
      sampling_row("bicubic.border", padded(cubic, kBorder), small),
      sampling_row("bicubic.reflection", padded(corners(cubic), kReflection), small),
      sampling_row("volume", o, box),
      sampling_row("volume.border", padded(corners(o), kBorder), box),
      sampling_row("volume.nearest", nearest, box),
  };
}

}  // namespace

std::vector<OpRow> interpolate_rows() {
  std::vector<OpRow> rows = resizing_rows();
  for (OpRow& row : sampling_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
