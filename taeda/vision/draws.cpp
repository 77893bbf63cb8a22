#include "taeda/vision/draws.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/data/worker.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/tensor_literal.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/functional.h"

namespace taeda::inline v0_2::vision::transforms::draws {

namespace {

constexpr int kTries = 10;

int64_t rounded(double x) { return static_cast<int64_t>(std::nearbyint(x)); }

/// The sides of a rectangle - one times `ratio` the other, first - of a part of a picture's area.
std::pair<int64_t, int64_t> sides(ImageSize image, Range scale, const Tensor& log_ratio) {
  const double area =
      static_cast<double>(image.height * image.width) * uniform(scale.low, scale.high);
  const double ratio = empty({1})
                           .uniform_(log_ratio[0].item<double>(), log_ratio[1].item<double>(),
                                     data::worker_generator())
                           .exp()
                           .item<double>();
  return {rounded(std::sqrt(area * ratio)), rounded(std::sqrt(area / ratio))};
}

}  // namespace

double uniform(double from, double to) {
  return empty({1}).uniform_(from, to, data::worker_generator()).item<double>();
}

int64_t below(int64_t n) {
  int64_t out = 0;
  data::worker_generator().fill_randint(&out, 1, 0, static_cast<uint64_t>(n));
  return out;
}

Piece crop(ImageSize image, ImageSize size) {
  const int64_t down = image.height - size.height, right = image.width - size.width;
  TAEDA_CHECK_VALUE(down >= 0 && right >= 0, "Required crop size (", size.height, ", ", size.width,
                    ") is larger than input image size (", image.height, ", ", image.width, ")");
  if (down == 0 && right == 0) return {0, 0, size.height, size.width};
  const int64_t top = below(down + 1);
  return {top, below(right + 1), size.height, size.width};
}

Piece resized_crop(ImageSize image, Range scale, Range ratio) {
  const auto [height, width] = image;
  const Tensor log_ratio = tensor({ratio.low, ratio.high}).log();
  for (int i = 0; i < kTries; ++i) {
    const auto [w, h] = sides(image, scale, log_ratio);
    if (w <= 0 || w > width || h <= 0 || h > height) continue;
    const int64_t top = below(height - h + 1);
    return {top, below(width - w + 1), h, w};
  }
  const double whole = static_cast<double>(width) / static_cast<double>(height);
  const double least = std::min(ratio.low, ratio.high), most = std::max(ratio.low, ratio.high);
  const int64_t h = whole < least ? rounded(static_cast<double>(width) / least) : height;
  const int64_t w = whole > most ? rounded(static_cast<double>(height) * most) : width;
  return {(height - h) / 2, (width - w) / 2, h, w};
}

std::pair<Piece, Tensor> erasing(const Tensor& image, Range scale, Range ratio, const Fill& value) {
  const int64_t channels = image.size(-3), height = image.size(-2), width = image.size(-1);
  TAEDA_CHECK_VALUE(value.size() < 2 || static_cast<int64_t>(value.size()) == channels,
                    "If value is a sequence, it should have either a single value or ", channels,
                    " (number of input channels)");
  const Tensor log_ratio = tensor({ratio.low, ratio.high}).log();
  for (int i = 0; i < kTries; ++i) {
    const auto [h, w] = sides({height, width}, scale, log_ratio);
    if (h >= height || w >= width) continue;
    const Tensor values =
        value.empty() ? randn({channels, h, w}, kFloat, data::worker_generator())
                      : tensor(static_cast<const std::vector<double>&>(value)).view({-1, 1, 1});
    const int64_t top = below(height - h + 1);
    return {{top, below(width - w + 1), h, w}, values};
  }
  return {{0, 0, height, width}, image};
}

std::pair<Corners, Corners> perspective(ImageSize image, double distortion_scale) {
  const auto [height, width] = image;
  const auto most = [&](int64_t n) {
    return static_cast<int64_t>(distortion_scale * static_cast<double>(n / 2));
  };
  const int64_t dx = most(width), dy = most(height);
  const double right = static_cast<double>(width - 1), bottom = static_cast<double>(height - 1);
  const Corners from{{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
  Corners to{};
  for (size_t i = 0; i < 4; ++i) {
    const int64_t x = below(dx + 1), y = below(dy + 1);
    to[i][0] = static_cast<double>(i == 1 || i == 2 ? width - dx - 1 + x : x);
    to[i][1] = static_cast<double>(i >= 2 ? height - dy - 1 + y : y);
  }
  return {from, to};
}

Tensor elastic(std::array<double, 2> alpha, std::array<double, 2> sigma, ImageSize image) {
  const std::array<int64_t, 2> size{image.height, image.width};
  std::vector<Tensor> moved;
  for (size_t i = 0; i < 2; ++i) {
    Tensor d = rand({1, 1, size[0], size[1]}, {}, data::worker_generator()).mul(2).sub(1);
    if (sigma[i] > 0) {
      const int64_t n = static_cast<int64_t>(8 * sigma[i] + 1) | 1;
      d = functional::gaussian_blur(d, {n, n}, sigma);
    }
    moved.push_back(d.mul(alpha[i]).div(static_cast<double>(size[i])));
  }
  return cat(moved, 1).permute({0, 2, 3, 1});
}

Affine affine(Range degrees, const std::optional<std::array<double, 2>>& translate,
              const std::optional<Range>& scale, const std::vector<double>& shears,
              ImageSize image) {
  Affine d{uniform(degrees.low, degrees.high), {0, 0}, 1, {0, 0}};
  const std::array<double, 2> sides{static_cast<double>(image.width),
                                    static_cast<double>(image.height)};
  for (size_t i = 0; translate && i < 2; ++i) {
    const double most = (*translate)[i] * sides[i];
    d.translate[i] = std::nearbyint(uniform(-most, most));
  }
  if (scale) d.scale = uniform(scale->low, scale->high);
  for (size_t i = 0; 2 * i + 1 < shears.size(); ++i)
    d.shear[i] = uniform(shears[2 * i], shears[2 * i + 1]);
  return d;
}

}  // namespace taeda::inline v0_2::vision::transforms::draws
