#include "taeda/vision/transforms.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/data/worker.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/color.h"
#include "taeda/vision/image_io.h"
#include "taeda/vision/resize.h"

namespace taeda::inline v0_2::vision::transforms {

namespace {

void check_picture(const char* op, const Tensor& image) {
  TAEDA_CHECK_VALUE(image.dim() == 3, op,
                    " expects a picture (channels, height, width), got shape ", image.sizes());
}

double checked_probability(double p) {
  TAEDA_CHECK_VALUE(p >= 0 && p <= 1, "p should be a number between 0 and 1, got ", p);
  return p;
}

ImageSize checked_size(ImageSize size) {
  TAEDA_CHECK_VALUE(size.height > 0 && size.width > 0, "a picture's size must be positive, got ",
                    size.height, " x ", size.width);
  return size;
}

int64_t draw_below(int64_t n) {
  int64_t out = 0;
  data::worker_generator().fill_randint(&out, 1, 0, static_cast<uint64_t>(n));
  return out;
}

double draw_uniform(double from = 0, double to = 1) {
  float out = 0;
  data::worker_generator().fill_uniform(&out, 1, from, to);
  return out;
}

Tensor pad_sides(const Tensor& image, const std::vector<int64_t>& sides, double fill,
                 PaddingMode mode) {
  return nn::functional::pad(image, {sides[0], sides[2], sides[1], sides[3]}, mode, fill);
}

/// Half of `n`, where Python's round() takes ties to the even number.
int64_t rounded_half(int64_t n) {
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(n) / 2));
}

/// Does `change` on a float picture from 0 to 1; bytes are converted there and back.
template <class F>
Tensor as_float(const Tensor& image, F&& change) {
  if (image.dtype() != kByte) return change(image);
  return to_bytes(change(image.to(kFloat).div_(255)));
}

}  // namespace

std::vector<int64_t> sides_of(const std::vector<int64_t>& padding) {
  const size_t n = padding.size();
  TAEDA_CHECK_VALUE(n == 1 || n == 2 || n == 4,
                    "Padding must be an int or a 1, 2, or 4 element tuple, not a ", n,
                    " element tuple");
  return {padding[0], padding[n > 1 ? 1 : 0], padding[n > 2 ? 2 : 0], padding[n - 1]};
}

Compose::Compose(std::vector<std::function<Tensor(Tensor)>> transforms)
    : transforms_(std::move(transforms)) {
  for (size_t i = 0; i < transforms_.size(); ++i)
    TAEDA_CHECK_VALUE(transforms_[i], "Compose: transform ", i, " is an empty function");
}

Tensor Compose::operator()(Tensor image) {
  for (auto& transform : transforms_) image = transform(std::move(image));
  return image;
}

Tensor ToTensor::operator()(Tensor image) {
  return image.dtype() == kByte ? image.to(kFloat).div_(255) : image;
}

Resize::Resize(int64_t size, Options options) : shorter_(size), options_(options) {
  TAEDA_CHECK_VALUE(size > 0, "a picture's size must be positive, got ", size);
}
Resize::Resize(ImageSize size, Options options) : size_(checked_size(size)), options_(options) {}

Tensor Resize::operator()(Tensor image) {
  check_picture("Resize", image);
  const int64_t h = image.size(1), w = image.size(2);
  int64_t height = shorter_, width = shorter_;
  if (size_) {
    height = size_->height;
    width = size_->width;
  } else if (h < w) {
    width = (CheckedInt(shorter_) * w / h).value("Resize");
  } else {
    height = (CheckedInt(shorter_) * h / std::max<int64_t>(w, 1)).value("Resize");
  }
  if (height == h && width == w) return image;
  return options_.interpolation == InterpolationMode::kNearest
             ? resize_nearest(image, height, width)
             : resize_bilinear(image, height, width, options_.antialias);
}

Tensor CenterCrop::operator()(Tensor image) {
  check_picture("CenterCrop", image);
  const int64_t more_h = std::max<int64_t>(0, size_.height - image.size(1));
  const int64_t more_w = std::max<int64_t>(0, size_.width - image.size(2));
  if (more_h > 0 || more_w > 0)
    image = pad_sides(image, {more_w / 2, more_h / 2, (more_w + 1) / 2, (more_h + 1) / 2}, 0,
                      kConstant);
  return image.narrow(1, rounded_half(image.size(1) - size_.height), size_.height)
      .narrow(2, rounded_half(image.size(2) - size_.width), size_.width)
      .contiguous();
}

Tensor Pad::operator()(Tensor image) {
  check_picture("Pad", image);
  return pad_sides(image, sides_, fill_, mode_);
}

RandomCrop::RandomCrop(ImageSize size, Options options)
    : size_(checked_size(size)), options_(std::move(options)) {
  if (!options_.padding.empty()) options_.padding = sides_of(options_.padding);
}

Tensor RandomCrop::operator()(Tensor image) {
  check_picture("RandomCrop", image);
  const auto pad = [&](const std::vector<int64_t>& sides) {
    image = pad_sides(image, sides, options_.fill, options_.padding_mode);
  };
  if (!options_.padding.empty()) pad(options_.padding);
  if (options_.pad_if_needed) {
    const int64_t w = std::max<int64_t>(0, size_.width - image.size(2));
    const int64_t h = std::max<int64_t>(0, size_.height - image.size(1));
    if (w > 0) pad({w, 0, w, 0});
    if (h > 0) pad({0, h, 0, h});
  }
  const int64_t h = image.size(1), w = image.size(2);
  TAEDA_CHECK_VALUE(h >= size_.height && w >= size_.width, "Required crop size (", size_.height,
                    ", ", size_.width, ") is larger than input image size (", h, ", ", w, ")");
  if (h == size_.height && w == size_.width) return image;
  const int64_t top = draw_below(h - size_.height + 1), left = draw_below(w - size_.width + 1);
  return image.narrow(1, top, size_.height).narrow(2, left, size_.width).contiguous();
}

RandomHorizontalFlip::RandomHorizontalFlip(double p) : p_(checked_probability(p)) {}

Tensor RandomHorizontalFlip::operator()(Tensor image) {
  return draw_uniform() < p_ ? image.flip({-1}) : image;
}

RandomVerticalFlip::RandomVerticalFlip(double p) : p_(checked_probability(p)) {}

Tensor RandomVerticalFlip::operator()(Tensor image) {
  return draw_uniform() < p_ ? image.flip({-2}) : image;
}

Grayscale::Grayscale(int64_t num_output_channels) : channels_(num_output_channels) {
  TAEDA_CHECK_VALUE(channels_ == 1 || channels_ == 3,
                    "num_output_channels should be either 1 or 3, got ", channels_);
}

Tensor Grayscale::operator()(Tensor image) {
  return as_float(image, [](const Tensor& t) { return rgb_to_grayscale(t); })
      .expand({channels_, -1, -1})
      .contiguous();
}

ColorJitter::ColorJitter(double brightness, double contrast, double saturation, double hue)
    : brightness_(brightness), contrast_(contrast), saturation_(saturation), hue_(hue) {
  const auto check = [](const char* name, double value) {
    TAEDA_CHECK_VALUE(value >= 0, "If ", name, " is a single number, it must be non negative, got ",
                      value);
  };
  check("brightness", brightness);
  check("contrast", contrast);
  check("saturation", saturation);
  check("hue", hue);
  TAEDA_CHECK_VALUE(hue <= 0.5, "hue values should be between (-0.5, 0.5), got ", hue);
}

Tensor ColorJitter::operator()(Tensor image) {
  check_picture("ColorJitter", image);
  std::array<int64_t, 4> order{};
  data::worker_generator().fill_permutation(order.data(), 4);
  // All numbers are drawn before one is used, in the order of the arguments.
  const auto factor = [](double x) {
    return x > 0 ? draw_uniform(std::max(0., 1 - x), 1 + x) : 1.;
  };
  const double brightness = factor(brightness_), contrast = factor(contrast_);
  const double saturation = factor(saturation_);
  const double shift = hue_ > 0 ? draw_uniform(-hue_, hue_) : 0;
  return as_float(image, [&](Tensor t) {
    for (int64_t which : order) {
      if (which == 0 && brightness_ > 0) t = adjust_brightness(t, brightness);
      if (which == 1 && contrast_ > 0) t = adjust_contrast(t, contrast);
      if (which == 2 && saturation_ > 0) t = adjust_saturation(t, saturation);
      if (which == 3 && hue_ > 0) t = adjust_hue(t, shift);
    }
    return t;
  });
}

}  // namespace taeda::inline v0_2::vision::transforms
