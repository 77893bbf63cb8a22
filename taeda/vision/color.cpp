#include "taeda/vision/color.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::vision::transforms {

namespace {

constexpr double kRed = 0.2989, kGreen = 0.587, kBlue = 0.114;

void check(const Tensor& image) {
  TAEDA_CHECK_TYPE(image.is_floating_point(), "expected a floating point picture, got ",
                   dtype_name(image.dtype()));
  TAEDA_CHECK_VALUE(image.dim() == 3 && (image.size(0) == 1 || image.size(0) == 3),
                    "Input image tensor permitted channel values are 1 or 3, but found shape ",
                    image.sizes());
}

void check_factor(const char* name, double factor) {
  TAEDA_CHECK_VALUE(factor >= 0, name, " (", factor, ") is not non-negative.");
}

/// factor * image + (1 - factor) * other, within 0 and 1.
Tensor blend(const Tensor& image, const Tensor& other, double factor) {
  return image.mul(factor).add_(other.mul(1 - factor)).clamp_(0, 1);
}

/// One pixel with its hue (a sixth of the circle is 1) moved; Smith 1978.
void turn_hue(float& r, float& g, float& b, float shift) {
  const float high = std::max({r, g, b}), low = std::min({r, g, b}), range = high - low;
  if (range == 0) return;
  float h = high == r ? (g - b) / range : high == g ? 2 + (b - r) / range : 4 + (r - g) / range;
  h = std::fmod(h + shift + 12, 6.f);
  const auto part = [&](float offset) {
    const float k = std::fmod(offset + h, 6.f);
    return high - range * std::clamp(std::min(k, 4 - k), 0.f, 1.f);
  };
  r = part(5);
  g = part(3);
  b = part(1);
}

}  // namespace

Tensor rgb_to_grayscale(const Tensor& image) {
  check(image);
  if (image.size(0) == 1) return image;
  return (image.select(0, 0).mul(kRed) + image.select(0, 1).mul(kGreen) +
          image.select(0, 2).mul(kBlue))
      .unsqueeze(0);
}

Tensor adjust_brightness(const Tensor& image, double factor) {
  check(image);
  check_factor("brightness_factor", factor);
  return image.mul(factor).clamp_(0, 1);
}

Tensor adjust_contrast(const Tensor& image, double factor) {
  check_factor("contrast_factor", factor);
  return blend(image, rgb_to_grayscale(image).mean(), factor);
}

Tensor adjust_saturation(const Tensor& image, double factor) {
  check_factor("saturation_factor", factor);
  return blend(image, rgb_to_grayscale(image), factor);
}

Tensor adjust_hue(const Tensor& image, double shift) {
  check(image);
  TAEDA_CHECK_VALUE(shift >= -0.5 && shift <= 0.5, "hue_factor (", shift,
                    ") is not in [-0.5, 0.5].");
  if (image.size(0) == 1) return image;
  Tensor out = image.to(Device(kCPU), kFloat, false, /*copy=*/true).contiguous();
  float* p = out.data_ptr<float>();
  const int64_t n = out.numel() / 3;
  for (int64_t i = 0; i < n; ++i)
    turn_hue(p[i], p[n + i], p[2 * n + i], static_cast<float>(6 * shift));
  return out.to(image.dtype());
}

}  // namespace taeda::inline v0_2::vision::transforms
