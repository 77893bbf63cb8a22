// Changes of colour.
#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/nn/functional/conv.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/vision/functional.h"
#include "taeda/vision/pixels.h"

namespace taeda::inline v0_2::vision::transforms::functional {

namespace {

int64_t checked_channels(const Tensor& image) {
  TAEDA_CHECK_TYPE(image.dim() >= 2, "Tensor is not a torch image.");
  const int64_t channels = image.dim() == 2 ? 1 : image.size(-3);
  TAEDA_CHECK_TYPE(channels == 1 || channels == 3,
                   "Input image tensor permitted channel values are [1, 3], but found ", channels);
  return channels;
}

void check_factor(const char* name, double factor) {
  TAEDA_CHECK_VALUE(factor >= 0, name, " (", factor, ") is not non-negative.");
}

double largest(const Tensor& image) { return image.is_floating_point() ? 1 : 255; }

Tensor blend(const Tensor& image, const Tensor& other, double factor) {
  return as_floats(image)
      .mul(factor)
      .add(as_floats(other).mul(1 - factor))
      .clamp(0, largest(image))
      .to(image.dtype());
}

/// In one channel, of three.
Tensor grey(const Tensor& image, bool as_pil) {
  if (as_pil) {  // weights in parts of 65536
    const Tensor whole = image.to(kInt);
    return (whole.select(-3, 0) * 19595 + whole.select(-3, 1) * 38470 + whole.select(-3, 2) * 7471 +
            32768)
        .div(65536, "floor")
        .to(image.dtype())
        .unsqueeze(-3);
  }
  const Tensor floats = as_floats(image);
  return (floats.select(-3, 0) * 0.2989 + floats.select(-3, 1) * 0.587 +
          floats.select(-3, 2) * 0.114)
      .to(image.dtype())
      .unsqueeze(-3);
}

/// One pixel with its hue (a sixth of the circle is 1) moved.
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

void check_bytes(const Tensor& image) {
  TAEDA_CHECK_TYPE(image.dtype() == kByte,
                   "Only torch.uint8 image tensors are supported, but found ", "torch.",
                   dtype_name(image.dtype()));
}

Tensor equalized(const Tensor& plane) {
  const Tensor counts = bincount(plane.flatten().to(kLong), {}, 256);
  const Tensor used = counts.masked_select(counts.ne(0));
  const int64_t step = used.narrow(0, 0, used.numel() - 1).sum().item<int64_t>() / 255;
  if (step == 0) return plane;
  const Tensor table = (counts.cumsum(0) + step / 2).div(step, "floor").clamp(0, 255);
  return cat({zeros({1}, table.options()), table.narrow(0, 0, 255)})
      .index_select(0, plane.flatten().to(kLong))
      .view(plane.sizes())
      .to(kByte);
}

/// The largest number of an integer dtype has so many bits.
int64_t bits_of(ScalarType dtype) {
  return static_cast<int64_t>(element_size(dtype)) * 8 - (dtype == kByte ? 0 : 1);
}

}  // namespace

Tensor rgb_to_grayscale(const Tensor& image, int64_t num_output_channels, bool as_pil) {
  TAEDA_CHECK_TYPE(image.dim() >= 3,
                   "Input image tensor should have at least 3 dimensions, but found ", image.dim());
  const int64_t channels = checked_channels(image);
  TAEDA_CHECK_VALUE(num_output_channels == 1 || num_output_channels == 3,
                    "num_output_channels should be either 1 or 3");
  const Tensor found = channels == 3 ? grey(image, as_pil) : image.clone();
  if (num_output_channels == 1) return found;
  DimVector sizes(found.sizes().begin(), found.sizes().end());
  sizes[sizes.size() - 3] = 3;
  return found.expand(sizes);
}

Tensor adjust_brightness(const Tensor& image, double factor) {
  check_factor("brightness_factor", factor);
  checked_channels(image);
  return as_floats(image).mul(factor).clamp(0, largest(image)).to(image.dtype());
}

Tensor adjust_contrast(const Tensor& image, double factor, bool as_pil) {
  check_factor("contrast_factor", factor);
  const Tensor one = checked_channels(image) == 3 ? grey(image, as_pil) : image;
  const Tensor mean = as_floats(one).mean({-3, -2, -1}, true);
  return blend(image, as_pil ? mean.add(0.5).floor() : mean, factor);
}

Tensor adjust_saturation(const Tensor& image, double factor, bool as_pil) {
  check_factor("saturation_factor", factor);
  return checked_channels(image) == 1 ? image : blend(image, grey(image, as_pil), factor);
}

Tensor adjust_hue(const Tensor& image, double shift) {
  TAEDA_CHECK_VALUE(shift >= -0.5 && shift <= 0.5, "hue_factor (", shift,
                    ") is not in [-0.5, 0.5].");
  if (checked_channels(image) == 1 || image.numel() == 0) return image;
  const NoGradGuard no_grad;
  const Tensor out = convert_image_dtype(image, kFloat)
                         .to(Device(kCPU), kFloat, false, /*copy=*/true)
                         .contiguous();
  const int64_t n = image.size(-1) * image.size(-2);
  for (float *p = out.data_ptr<float>(), *end = p + out.numel(); p < end; p += 3 * n)
    for (int64_t i = 0; i < n; ++i)
      turn_hue(p[i], p[n + i], p[2 * n + i], static_cast<float>(6 * shift));
  return convert_image_dtype(out.to(image.device()), image.dtype());
}

Tensor adjust_gamma(const Tensor& image, double gamma, double gain) {
  TAEDA_CHECK_VALUE(gamma >= 0, "Gamma should be a non-negative real number");
  const Tensor floats = image.is_floating_point() ? image : convert_image_dtype(image, kFloat);
  return convert_image_dtype(floats.pow(gamma).mul(gain).clamp(0, 1), image.dtype());
}

Tensor adjust_sharpness(const Tensor& image, double factor) {
  check_factor("sharpness_factor", factor);
  const int64_t h = image.size(-2), w = image.size(-1);
  if (h <= 2 || w <= 2) return image;
  const Tensor floats = as_floats(image);
  const Tensor kernel = tensor({{1., 1., 1.}, {1., 5., 1.}, {1., 1., 1.}}, floats.options())
                            .div(13)
                            .view({1, 1, 3, 3});
  const Tensor inside = conv2d(floats.reshape({-1, 1, h, w}), kernel);
  Tensor blurred = image.clone();
  Tensor middle = blurred.narrow(-2, 1, h - 2).narrow(-1, 1, w - 2);
  middle.copy_(like_pixels(inside, image).reshape(middle.sizes()));
  return blend(image, blurred, factor);
}

Tensor invert(const Tensor& image) { return image.neg().add(image.is_floating_point() ? 1 : 255); }

Tensor posterize(const Tensor& image, int64_t bits) {
  check_bytes(image);
  TAEDA_CHECK_VALUE(bits >= 0 && bits <= 8, "posterize expects from 0 to 8 bits, got ", bits);
  return image.bitwise_and(256 - (int64_t{1} << (8 - bits)));
}

Tensor solarize(const Tensor& image, double threshold) {
  TAEDA_CHECK_TYPE(!(threshold > largest(image)), "Threshold should be less than bound of img.");
  return where(image.ge(threshold), invert(image), image);
}

Tensor autocontrast(const Tensor& image) {
  const Tensor floats = as_floats(image);
  const Tensor low = floats.amin({-2, -1}, true), high = floats.amax({-2, -1}, true);
  const Tensor scale = full_like(low, largest(image)).div(high.sub(low));
  const Tensor flat = scale.isfinite().logical_not();
  return floats.sub(low.masked_fill(flat, 0))
      .mul(scale.masked_fill(flat, 1))
      .clamp(0, largest(image))
      .to(image.dtype());
}

Tensor equalize(const Tensor& image) {
  check_bytes(image);
  std::vector<Tensor> planes;
  for (const Tensor& plane : image.reshape({-1, image.size(-2), image.size(-1)}).unbind(0))
    planes.push_back(equalized(plane));
  return stack(planes).view(image.sizes());
}

Tensor convert_image_dtype(const Tensor& image, ScalarType dtype) {
  if (image.dtype() == dtype) return image;
  const bool to_floats = is_floating_point(dtype);
  if (image.is_floating_point()) {
    if (to_floats) return image.to(dtype);
    TAEDA_CHECK(image.dtype() != kFloat || (dtype != kInt && dtype != kLong),
                "The cast from torch.", dtype_name(image.dtype()), " to torch.", dtype_name(dtype),
                " cannot be performed safely.");
    return image.mul(std::ldexp(1, static_cast<int>(bits_of(dtype))) - 1e-3).to(dtype);
  }
  const int64_t bits = bits_of(image.dtype()), wanted = bits_of(dtype);
  if (to_floats) return image.to(dtype).div(std::ldexp(1, static_cast<int>(bits)) - 1);
  if (bits > wanted) return image.div(int64_t{1} << (bits - wanted), "floor").to(dtype);
  return image.to(dtype).mul(int64_t{1} << (wanted - bits));
}

}  // namespace taeda::inline v0_2::vision::transforms::functional
