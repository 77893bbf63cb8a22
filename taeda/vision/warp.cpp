// Rotations, shears and perspectives: where each pixel of the result comes from, and what is there.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "taeda/base/error.h"
#include "taeda/nn/functional/conv.h"
#include "taeda/nn/functional/vision.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/tensor_literal.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/functional.h"
#include "taeda/vision/pixels.h"

namespace taeda::inline v0_2::vision::transforms::functional {

namespace {

double radians(double degrees) { return degrees * (std::numbers::pi / 180); }

/// Values of a picture at places [1, h, w, 2] from -1 to 1.
Tensor sampled(const Tensor& image, const Tensor& grid, const Interpolated& by) {
  const bool nearest = by.mode == InterpolationMode::kNearest;
  TAEDA_CHECK_VALUE(nearest || by.mode == InterpolationMode::kBilinear, "Resampling mode ",
                    by.mode == InterpolationMode::kBicubic ? "'bicubic'" : "'nearest-exact'",
                    " is not supported, only nearest and bilinear");
  const Tensor floats = as_floats(image);
  const int64_t channels = image.dim() == 2 ? 1 : image.size(-3);
  Tensor flat = floats.reshape({-1, channels, image.size(-2), image.size(-1)});
  const bool filled = !by.fill.empty();
  if (filled) flat = cat({flat, ones_like(flat.narrow(1, 0, 1))}, 1);
  const Tensor places =
      grid.to(flat.options()).expand({flat.size(0), grid.size(1), grid.size(2), 2});
  nn::functional::GridSampleFuncOptions options;
  options.mode(nearest ? kNearest : kBilinear);
  options.align_corners(false);
  Tensor out = nn::functional::grid_sample(flat, places, options);
  if (filled) {
    TAEDA_CHECK_VALUE(by.fill.size() == 1 || static_cast<int64_t>(by.fill.size()) == channels,
                      "The number of elements in 'fill' does not match the number of channels of "
                      "the image (",
                      by.fill.size(), " != ", channels, ")");
    const Tensor inside = out.narrow(1, channels, 1);
    out = out.narrow(1, 0, channels);
    const Tensor colour = tensor(static_cast<const std::vector<double>&>(by.fill))
                              .to(out.options())
                              .view({1, -1, 1, 1});
    out = nearest ? where(inside.lt(0.5), colour, out)
                  : out.mul(inside) + inside.neg().add(1).mul(colour);
  }
  DimVector sizes(image.sizes().begin(), image.sizes().end());
  sizes[sizes.size() - 2] = out.size(2);
  sizes[sizes.size() - 1] = out.size(3);
  return like_pixels(out.reshape(sizes), image);
}

/// The places that a matrix of inverse_affine_matrix takes pixels of a result of `size` from.
Tensor affine_places(const std::vector<double>& matrix, const Tensor& image, ImageSize size) {
  const TensorOptions like = as_floats(image).options();
  const auto line = [&](int64_t n) {
    const double half = static_cast<double>(n) * 0.5;
    return linspace(-half + 0.5, half - 0.5, n).to(like);
  };
  const auto [h, w] = size;
  const Tensor base = stack({line(w).view({1, w}).expand({h, w}),
                             line(h).view({h, 1}).expand({h, w}), ones({h, w}, like)},
                            -1);
  const Tensor sides =
      tensor({0.5 * static_cast<double>(image.size(-1)), 0.5 * static_cast<double>(image.size(-2))})
          .to(like);
  const Tensor theta = tensor(matrix).to(like).view({1, 2, 3}).transpose(1, 2).div(sides);
  return base.view({1, h * w, 3}).bmm(theta).view({1, h, w, 2});
}

/// The size of what holds the whole turned picture.
ImageSize enclosing(const std::vector<double>& m, double width, double height) {
  const auto extent = [&](const double* row, double n) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (double x : {-0.5 * width, 0.5 * width})
      for (double y : {-0.5 * height, 0.5 * height}) {
        const double at = row[0] * x + row[1] * y + row[2] + n * 0.5;
        low = std::min(low, at);
        high = std::max(high, at);
      }
    const auto rounded = [](double v) { return std::nearbyint(v * 1e4) / 1e4; };
    return static_cast<int64_t>(std::ceil(rounded(high)) - std::floor(rounded(low)));
  };
  return {extent(&m[3], height), extent(&m[0], width)};
}

/// A point seen from the middle of a picture.
std::array<double, 2> from_middle(const Tensor& image,
                                  const std::optional<std::array<double, 2>>& center) {
  if (!center) return {0, 0};
  return {(*center)[0] - static_cast<double>(image.size(-1)) * 0.5,
          (*center)[1] - static_cast<double>(image.size(-2)) * 0.5};
}

Tensor bell(int64_t n, double sigma, const TensorOptions& like) {
  const double half = static_cast<double>(n - 1) * 0.5;
  const Tensor weights = linspace(-half, half, n, like).div(sigma).square().mul(-0.5).exp();
  return weights.div(weights.sum());
}

}  // namespace

Tensor gaussian_blur(const Tensor& image, std::array<int64_t, 2> kernel_size,
                     std::array<double, 2> sigma) {
  const auto [across, down] = kernel_size;
  TAEDA_CHECK_VALUE(across > 0 && down > 0 && across % 2 == 1 && down % 2 == 1,
                    "kernel_size should have odd and positive integers. Got [", across, ", ", down,
                    "]");
  TAEDA_CHECK_VALUE(sigma[0] > 0 && sigma[1] > 0, "sigma should have positive values. Got [",
                    sigma[0], ", ", sigma[1], "]");
  const Tensor floats = as_floats(image);
  const TensorOptions like = floats.options();
  const Tensor kernel = bell(down, sigma[1], like).unsqueeze(1) * bell(across, sigma[0], like);
  const Tensor flat = pad(floats.reshape({-1, 1, image.size(-2), image.size(-1)}),
                          {across / 2, down / 2, across / 2, down / 2}, 0, kReflect);
  return like_pixels(conv2d(flat, kernel.view({1, 1, down, across})).reshape(image.sizes()), image);
}

std::vector<double> inverse_affine_matrix(std::array<double, 2> center, double angle,
                                          std::array<double, 2> translate, double scale,
                                          std::array<double, 2> shear) {
  const double rotation = radians(angle), shear_x = radians(shear[0]), shear_y = radians(shear[1]);
  const auto [cx, cy] = center;
  const auto [tx, ty] = translate;
  const double a = std::cos(rotation - shear_y) / std::cos(shear_y);
  const double b =
      -std::cos(rotation - shear_y) * std::tan(shear_x) / std::cos(shear_y) - std::sin(rotation);
  const double c = std::sin(rotation - shear_y) / std::cos(shear_y);
  const double d =
      -std::sin(rotation - shear_y) * std::tan(shear_x) / std::cos(shear_y) + std::cos(rotation);
  std::vector<double> m{d / scale, -b / scale, 0, -c / scale, a / scale, 0};
  m[2] += m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx;
  m[5] += m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy;
  return m;
}

std::vector<double> perspective_coefficients(const Corners& startpoints, const Corners& endpoints) {
  std::vector<double> rows, targets;
  for (size_t i = 0; i < 4; ++i) {
    const auto [x, y] = endpoints[i];
    const auto [u, v] = startpoints[i];
    rows.insert(rows.end(), {x, y, 1, 0, 0, 0, -u * x, -u * y});
    rows.insert(rows.end(), {0, 0, 0, x, y, 1, -v * x, -v * y});
    targets.insert(targets.end(), {u, v});
  }
  const Tensor found = linalg::solve(tensor(rows, kDouble).view({8, 8}), tensor(targets, kDouble));
  const Tensor exact = found.to(kFloat).to(kDouble);
  return {exact.data_ptr<double>(), exact.data_ptr<double>() + 8};
}

Tensor rotate(const Tensor& image, double angle, Interpolated by, bool expand,
              std::optional<std::array<double, 2>> center) {
  const std::vector<double> m =
      inverse_affine_matrix(from_middle(image, center), -angle, {0, 0}, 1, {0, 0});
  const int64_t h = image.size(-2), w = image.size(-1);
  const ImageSize size =
      expand ? enclosing(m, static_cast<double>(w), static_cast<double>(h)) : ImageSize(h, w);
  return sampled(image, affine_places(m, image, size), by);
}

Tensor affine(const Tensor& image, double angle, std::array<double, 2> translate, double scale,
              std::array<double, 2> shear, Interpolated by,
              std::optional<std::array<double, 2>> center) {
  TAEDA_CHECK_VALUE(scale > 0, "Argument scale should be positive");
  const std::vector<double> m =
      inverse_affine_matrix(from_middle(image, center), angle, translate, scale, shear);
  return sampled(image, affine_places(m, image, {image.size(-2), image.size(-1)}), by);
}

Tensor perspective(const Tensor& image, const Corners& startpoints, const Corners& endpoints,
                   Interpolated by) {
  const std::vector<double> n = perspective_coefficients(startpoints, endpoints);
  const TensorOptions like = as_floats(image).options();
  const double h = static_cast<double>(image.size(-2)), w = static_cast<double>(image.size(-1));
  const Tensor xs = linspace(0.5, w - 0.5, image.size(-1), like);
  const Tensor ys = linspace(0.5, h - 0.5, image.size(-2), like).unsqueeze(-1);
  const Tensor below = xs.mul(n[6]) + ys.mul(n[7]) + 1;
  const Tensor x = (xs.mul(n[0]) + ys.mul(n[1]) + n[2]) / below;
  const Tensor y = (xs.mul(n[3]) + ys.mul(n[4]) + n[5]) / below;
  return sampled(image, stack({x.div(0.5 * w).sub(1), y.div(0.5 * h).sub(1)}, -1).unsqueeze(0), by);
}

Tensor elastic_transform(const Tensor& image, const Tensor& displacement, Interpolated by) {
  const int64_t h = image.size(-2), w = image.size(-1);
  TAEDA_CHECK_VALUE(displacement.sizes() == IntArrayRef({1, h, w, 2}),
                    "Argument displacement shape should be (1, ", h, ", ", w, ", 2), but given ",
                    displacement.sizes());
  const auto line = [&](int64_t n) {
    const double last = static_cast<double>(n - 1) / static_cast<double>(n);
    return linspace(-last, last, n, displacement.options());
  };
  const Tensor identity =
      stack({line(w).view({1, w}).expand({h, w}), line(h).view({h, 1}).expand({h, w})}, -1);
  return sampled(image, (identity + displacement).to(image.device()), by);
}

}  // namespace taeda::inline v0_2::vision::transforms::functional
