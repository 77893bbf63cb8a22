#include "taeda/vision/resize.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::vision {

namespace {

/// The pixels that make one, and their weights.
struct Window {
  int64_t first = 0;
  std::vector<float> weights;
};

/// A triangle around each new pixel's centre, at least one old pixel to each side wide.
std::vector<Window> windows(int64_t in, int64_t out, bool antialias) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double radius = antialias ? std::max(scale, 1.) : 1;
  std::vector<Window> result(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    // Without antialias, what lies before the first pixel's centre is that pixel.
    double center = scale * (static_cast<double>(i) + 0.5);
    if (!antialias) center = std::clamp(center, 0.5, static_cast<double>(in) - 0.5);
    Window& w = result[static_cast<size_t>(i)];
    w.first = std::max<int64_t>(0, static_cast<int64_t>(center - radius + 0.5));
    const int64_t end = std::min(in, static_cast<int64_t>(center + radius + 0.5));
    double sum = 0;
    std::vector<double> exact;
    for (int64_t x = w.first; x < end; ++x) {
      exact.push_back(std::max(0., 1 - std::abs((static_cast<double>(x) + 0.5 - center) / radius)));
      sum += exact.back();
    }
    for (double v : exact) w.weights.push_back(static_cast<float>(v / sum));
  }
  return result;
}

/// (rows, in) to (rows, out).
Tensor resize_rows(const Tensor& from, const std::vector<Window>& to) {
  const int64_t rows = from.size(0), in = from.size(1), out = static_cast<int64_t>(to.size());
  Tensor result = empty({rows, out});
  for (int64_t r = 0; r < rows; ++r) {
    const float* p = from.data_ptr<float>() + r * in;
    float* q = result.data_ptr<float>() + r * out;
    for (int64_t i = 0; i < out; ++i) {
      const Window& w = to[static_cast<size_t>(i)];
      float sum = 0;
      for (size_t k = 0; k < w.weights.size(); ++k)
        sum += w.weights[k] * p[w.first + static_cast<int64_t>(k)];
      q[i] = sum;
    }
  }
  return result;
}

void check(const Tensor& image, int64_t height, int64_t width) {
  constexpr int64_t kLongestSide = int64_t{1} << 31;
  TAEDA_CHECK_VALUE(image.dim() == 3 && image.numel() > 0,
                    "resize expects a picture (channels, height, width), got shape ",
                    image.sizes());
  TAEDA_CHECK_VALUE(height > 0 && width > 0, "resize expects a positive size, got ", height, " x ",
                    width);
  TAEDA_CHECK_VALUE(height < kLongestSide && width < kLongestSide,
                    "resize expects sides of less than 2^31 pixels, got ", height, " x ", width);
}

}  // namespace

Tensor resize_bilinear(const Tensor& image, int64_t height, int64_t width, bool antialias) {
  const NoGradGuard no_grad;
  check(image, height, width);
  const int64_t c = image.size(0), h = image.size(1), w = image.size(2);
  Tensor t = image.to(Device(kCPU), kFloat).contiguous();
  t = resize_rows(t.view({c * h, w}), windows(w, width, antialias)).view({c, h, width});
  t = resize_rows(t.transpose(1, 2).contiguous().view({c * width, h}),
                  windows(h, height, antialias));
  t = t.view({c, width, height}).transpose(1, 2).contiguous();
  return image.is_floating_point() ? t.to(image.dtype()) : t.round().to(image.dtype());
}

Tensor resize_nearest(const Tensor& image, int64_t height, int64_t width) {
  check(image, height, width);
  const auto rows = [&](int64_t in, int64_t out) {
    Tensor index = empty({out}, kLong);
    for (int64_t i = 0; i < out; ++i) index.data_ptr<int64_t>()[i] = i * in / out;
    return index;
  };
  return image.index_select(1, rows(image.size(1), height))
      .index_select(2, rows(image.size(2), width));
}

}  // namespace taeda::inline v0_2::vision
