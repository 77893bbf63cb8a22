#include "taeda/vision/transforms.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "taeda/base/error.h"
#include "taeda/data/worker.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/draws.h"
#include "taeda/vision/functional.h"

namespace taeda::inline v0_2::vision::transforms {

namespace F = functional;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

double checked_probability(double p) {
  TAEDA_CHECK_VALUE(p >= 0 && p <= 1, "p should be a number between 0 and 1, got ", p);
  return p;
}

ImageSize checked_size(ImageSize size) {
  TAEDA_CHECK_VALUE(size.height > 0 && size.width > 0, "a picture's size must be positive, got ",
                    size.height, " x ", size.width);
  return size;
}

ImageSize size_of(const Tensor& image) { return {image.size(-2), image.size(-1)}; }

Function sometimes(double p, Function change) {
  return [p = checked_probability(p), change = std::move(change)](const Tensor& image) {
    return draws::uniform() < p ? change(image) : image;
  };
}

/// The numbers of `given` around `center`: x away at most, or two.
Range around(const char* name, const Spread& given, double center, double least, double most) {
  TAEDA_CHECK_VALUE(given.size() > 1 || given[0] >= 0, "If ", name,
                    " is a single number, it must be non negative, got ", given[0]);
  Range found = given.size() > 1 ? Range(given[0], given[1])
                                 : Range(std::max(center - given[0], center == 1 ? 0 : -HUGE_VAL),
                                         center + given[0]);
  TAEDA_CHECK_VALUE(least <= found.low && found.low <= found.high && found.high <= most, name,
                    " values should be between (", least, ", ", most, "), but got [", found.low,
                    ", ", found.high, "].");
  return found;
}

Range degrees_of(const Spread& degrees) {
  TAEDA_CHECK_VALUE(degrees.size() > 1 || degrees[0] >= 0,
                    "If degrees is a single number, it must be positive.");
  return degrees.size() > 1 ? Range(degrees[0], degrees[1]) : Range(-degrees[0], degrees[0]);
}

void check_parts(Range scale) {
  TAEDA_CHECK_VALUE(scale.low >= 0 && scale.high <= 1, "Scale should be between 0 and 1");
}

PictureFunction one_of(std::vector<PictureFunction> transforms, std::vector<double> p) {
  TAEDA_CHECK_VALUE(p.empty() || p.size() == transforms.size(),
                    "Length of p doesn't match the number of transforms: ", p.size(),
                    " != ", transforms.size());
  p.resize(transforms.size(), p.empty() ? 1 : 0);
  return [all = std::move(transforms), p = tensor(p)](Tensor image) {
    const int64_t at = multinomial(p, 1, false, data::worker_generator()).item<int64_t>();
    return all[static_cast<size_t>(at)](std::move(image));
  };
}

void check_functions(const std::vector<PictureFunction>& transforms) {
  for (size_t i = 0; i < transforms.size(); ++i)
    TAEDA_CHECK_VALUE(transforms[i], "Compose: transform ", i, " is an empty function");
}

PictureFunction shuffled(std::vector<PictureFunction> transforms) {
  check_functions(transforms);
  return [all = std::move(transforms)](Tensor image) {
    std::vector<int64_t> order(all.size());
    data::worker_generator().fill_permutation(order.data(), static_cast<int64_t>(order.size()));
    for (int64_t i : order) image = all[static_cast<size_t>(i)](std::move(image));
    return image;
  };
}

Tensor pieces(const Tensor& image, const std::vector<Tensor>& pictures, ImageSize size) {
  std::vector<Tensor> found;
  for (const Tensor& picture : pictures)
    for (const Piece& piece : F::five_pieces(size_of(image), size))
      found.push_back(F::crop(picture, piece));
  return stack(found);
}

Tensor padded_for(Tensor image, ImageSize size, const RandomCropOptions& o) {
  const auto pad = [&](const std::vector<int64_t>& sides) {
    image = F::pad(image, sides, o.fill, o.padding_mode);
  };
  if (!o.padding.empty()) pad(F::sides_of(o.padding));
  if (o.pad_if_needed) {
    const int64_t w = size.width - image.size(-1), h = size.height - image.size(-2);
    if (w > 0) pad({w, 0, w, 0});
    if (h > 0) pad({0, h, 0, h});
  }
  return image;
}

std::vector<double> shears_of(std::vector<double> shear) {
  if (shear.size() == 1) return {-shear[0], shear[0]};
  TAEDA_CHECK_VALUE(shear.empty() || shear.size() == 2 || shear.size() == 4,
                    "shear should be a sequence of length 2 or 4.");
  return shear;
}

}  // namespace

Tensor Change::operator()(Tensor image) {
  TAEDA_CHECK_VALUE(image.dim() >= 3, name_,
                    " expects a picture (channels, height, width), got shape ", image.sizes());
  return function_(image);
}

Compose::Compose(std::vector<PictureFunction> transforms) : transforms_(std::move(transforms)) {
  check_functions(transforms_);
}

Tensor Compose::operator()(Tensor image) {
  for (auto& transform : transforms_) image = transform(std::move(image));
  return image;
}

RandomApply::RandomApply(std::vector<PictureFunction> transforms, double p)
    : Compose({[all = Compose(std::move(transforms)),
                p = checked_probability(p)](Tensor image) mutable {
        return p < draws::uniform() ? image : all(std::move(image));
      }}) {}

RandomChoice::RandomChoice(std::vector<PictureFunction> transforms, std::vector<double> p)
    : Compose({one_of(std::move(transforms), std::move(p))}) {}

RandomOrder::RandomOrder(std::vector<PictureFunction> transforms)
    : Compose({shuffled(std::move(transforms))}) {}

Tensor ToTensor::operator()(Tensor image) {
  return image.dtype() == kByte ? image.to(kFloat).div_(255) : image;
}

ConvertImageDtype::ConvertImageDtype(ScalarType dtype)
    : Change("ConvertImageDtype",
             [dtype](const Tensor& image) { return F::convert_image_dtype(image, dtype); }) {}

Resize::Resize(int64_t size, Options o)
    : Change("Resize", [size, o](const Tensor& image) {
        const ImageSize wanted = F::resized(size_of(image), size, o.max_size);
        return F::resize(image, wanted, o.interpolation, o.antialias);
      }) {
  TAEDA_CHECK_VALUE(size > 0, "a picture's size must be positive, got ", size);
}

Resize::Resize(ImageSize size, Options o)
    : Change("Resize", [size = checked_size(size), o](const Tensor& image) {
        return F::resize(image, size, o.interpolation, o.antialias);
      }) {}

CenterCrop::CenterCrop(ImageSize size)
    : Change("CenterCrop", [size](const Tensor& image) {
        return F::crop(image, F::center_piece(size_of(image), size)).contiguous();
      }) {}

FiveCrop::FiveCrop(ImageSize size)
    : Change("FiveCrop", [size](const Tensor& image) { return pieces(image, {image}, size); }) {}

TenCrop::TenCrop(ImageSize size, TenCropOptions o)
    : Change("TenCrop", [size, o](const Tensor& image) {
        return pieces(image, {image, o.vertical_flip ? F::vflip(image) : F::hflip(image)}, size);
      }) {}

Pad::Pad(const std::vector<int64_t>& padding, Fill fill, Continuation padding_mode)
    : Change("Pad", [sides = F::sides_of(padding), fill = std::move(fill), padding_mode](
                        const Tensor& image) { return F::pad(image, sides, fill, padding_mode); }) {
}

RandomCrop::RandomCrop(ImageSize size, Options options)
    : Change("RandomCrop", [size = checked_size(size), o = options](const Tensor& given) {
        const Tensor image = padded_for(given, size, o);
        const Piece piece = draws::crop(size_of(image), size);
        if (size_of(image).height == size.height && image.size(-1) == size.width) return image;
        return F::crop(image, piece).contiguous();
      }) {
  if (!options.padding.empty()) F::sides_of(options.padding);
}

RandomResizedCrop::RandomResizedCrop(ImageSize size, RandomResizedCropOptions o)
    : Change("RandomResizedCrop", [size = checked_size(size), o](const Tensor& image) {
        const Piece piece = draws::resized_crop(size_of(image), o.scale, o.ratio);
        return F::resize(F::crop(image, piece), size, o.interpolation, o.antialias);
      }) {}

RandomHorizontalFlip::RandomHorizontalFlip(double p)
    : Change("RandomHorizontalFlip", sometimes(p, F::hflip)) {}

RandomVerticalFlip::RandomVerticalFlip(double p)
    : Change("RandomVerticalFlip", sometimes(p, F::vflip)) {}

RandomRotation::RandomRotation(Spread degrees, RandomRotationOptions options)
    : Change("RandomRotation",
             [range = degrees_of(degrees), o = std::move(options)](const Tensor& image) {
               const double angle = draws::uniform(range.low, range.high);
               return F::rotate(image, angle, {o.interpolation, o.fill}, o.expand, o.center);
             }) {}

RandomAffine::RandomAffine(Spread degrees, RandomAffineOptions options)
    : Change("RandomAffine", [range = degrees_of(degrees), shears = shears_of(options.shear),
                              o = options](const Tensor& image) {
        const draws::Affine d = draws::affine(range, o.translate, o.scale, shears, size_of(image));
        return F::affine(image, d.angle, d.translate, d.scale, d.shear, {o.interpolation, o.fill},
                         o.center);
      }) {
  for (double part : options.translate.value_or(std::array<double, 2>{}))
    TAEDA_CHECK_VALUE(part >= 0 && part <= 1, "translation values should be between 0 and 1");
  TAEDA_CHECK_VALUE(!options.scale || (options.scale->low > 0 && options.scale->high > 0),
                    "scale values should be positive");
}

RandomPerspective::RandomPerspective(RandomPerspectiveOptions options)
    : Change("RandomPerspective", sometimes(options.p, [o = options](const Tensor& image) {
               const auto [from, to] = draws::perspective(size_of(image), o.distortion_scale);
               return F::perspective(image, from, to, {o.interpolation, o.fill});
             })) {}

ElasticTransform::ElasticTransform(ElasticTransformOptions options)
    : Change("ElasticTransform", [o = std::move(options)](const Tensor& image) {
        return F::elastic_transform(image, draws::elastic(o.alpha, o.sigma, size_of(image)),
                                    {o.interpolation, o.fill});
      }) {}

RandomErasing::RandomErasing(RandomErasingOptions options)
    : Change("RandomErasing", sometimes(options.p, [o = options](const Tensor& image) {
               const auto [piece, v] = draws::erasing(image, o.scale, o.ratio, o.value);
               return F::erase(image, piece, v);
             })) {
  check_parts(options.scale);
}

GaussianBlur::GaussianBlur(nn::ExpandingArray<2> kernel_size, Range sigma)
    : Change("GaussianBlur", [kernel = std::array<int64_t, 2>{kernel_size[0], kernel_size[1]},
                              sigma](const Tensor& image) {
        const double width = draws::uniform(sigma.low, sigma.high);
        return F::gaussian_blur(image, kernel, {width, width});
      }) {
  for (size_t i = 0; i < 2; ++i)
    TAEDA_CHECK_VALUE(kernel_size[i] > 0 && kernel_size[i] % 2 == 1,
                      "Kernel size value should be an odd and positive number.");
  TAEDA_CHECK_VALUE(sigma.low > 0 && sigma.low <= sigma.high,
                    "sigma values should be positive and of the form (min, max). Got (", sigma.low,
                    ", ", sigma.high, ")");
}

Grayscale::Grayscale(int64_t num_output_channels)
    : Change("Grayscale", [n = num_output_channels](const Tensor& image) {
        return F::rgb_to_grayscale(image, n).contiguous();
      }) {
  TAEDA_CHECK_VALUE(num_output_channels == 1 || num_output_channels == 3,
                    "num_output_channels should be either 1 or 3, got ", num_output_channels);
}

ColorJitter::ColorJitter(Spread brightness, Spread contrast, Spread saturation, Spread hue)
    : Change("ColorJitter", [ranges = std::array{around("brightness", brightness, 1, 0, HUGE_VAL),
                                                 around("contrast", contrast, 1, 0, HUGE_VAL),
                                                 around("saturation", saturation, 1, 0, HUGE_VAL),
                                                 around("hue", hue, 0, -0.5, 0.5)}](Tensor image) {
        std::array<int64_t, 4> order{};
        data::worker_generator().fill_permutation(order.data(), 4);
        // All numbers are drawn before one is used, in the order of the arguments.
        std::array<double, 4> factors{};
        const auto asked = [&](size_t i) {
          const double none = i == 3 ? 0 : 1;
          return ranges[i].low != none || ranges[i].high != none;
        };
        for (size_t i = 0; i < 4; ++i)
          if (asked(i)) factors[i] = draws::uniform(ranges[i].low, ranges[i].high);
        for (int64_t which : order) {
          const auto i = static_cast<size_t>(which);
          if (!asked(i)) continue;
          image = i == 0   ? F::adjust_brightness(image, factors[i])
                  : i == 1 ? F::adjust_contrast(image, factors[i])
                  : i == 2 ? F::adjust_saturation(image, factors[i])
                           : F::adjust_hue(image, factors[i]);
        }
        return image;
      }) {}

RandomGrayscale::RandomGrayscale(double p)
    : Change("RandomGrayscale", sometimes(p, [](const Tensor& image) {
               return F::rgb_to_grayscale(image, image.size(-3)).contiguous();
             })) {}

RandomInvert::RandomInvert(double p) : Change("RandomInvert", sometimes(p, F::invert)) {}

RandomPosterize::RandomPosterize(int64_t bits, double p)
    : Change("RandomPosterize",
             sometimes(p, [bits](const Tensor& image) { return F::posterize(image, bits); })) {}

RandomSolarize::RandomSolarize(double threshold, double p)
    : Change("RandomSolarize", sometimes(p, [threshold](const Tensor& image) {
               return F::solarize(image, threshold);
             })) {}

RandomAdjustSharpness::RandomAdjustSharpness(double sharpness_factor, double p)
    : Change("RandomAdjustSharpness", sometimes(p, [sharpness_factor](const Tensor& image) {
               return F::adjust_sharpness(image, sharpness_factor);
             })) {}

RandomAutocontrast::RandomAutocontrast(double p)
    : Change("RandomAutocontrast", sometimes(p, F::autocontrast)) {}

RandomEqualize::RandomEqualize(double p) : Change("RandomEqualize", sometimes(p, F::equalize)) {}

}  // namespace taeda::inline v0_2::vision::transforms
