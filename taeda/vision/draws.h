// What random transforms draw, from data::worker_generator(): torchvision's numbers.
#pragma once

#include <string>
#include <utility>

#include "taeda/vision/augment.h"

namespace taeda::inline v0_2::vision::transforms::draws {

/// A number between two.
double uniform(double from = 0, double to = 1);
/// One of 0 ... n - 1.
int64_t below(int64_t n);

/// A place for a piece of `size`. Throws ValueError where the picture is smaller.
Piece crop(ImageSize image, ImageSize size);
/// A piece of `scale` of the area whose sides are as `ratio`; after ten that do not fit, the
/// largest in the middle.
Piece resized_crop(ImageSize image, Range scale, Range ratio);
/// What RandomErasing erases of a picture, and its values there: those of `value`, or noise if it
/// is empty. After ten rectangles that do not fit, all of the picture by itself.
std::pair<Piece, Tensor> erasing(const Tensor& image, Range scale, Range ratio, const Fill& value);
/// The corners of a picture, and where they go.
std::pair<Corners, Corners> perspective(ImageSize image, double distortion_scale);
/// Where pixels come from: [1, H, W, 2].
Tensor elastic(std::array<double, 2> alpha, std::array<double, 2> sigma, ImageSize image);

/// Angle (degrees), pixels across and down, scale and shears.
struct Affine {
  double angle;
  std::array<double, 2> translate;
  double scale;
  std::array<double, 2> shear;
};
Affine affine(Range degrees, const std::optional<std::array<double, 2>>& translate,
              const std::optional<Range>& scale, const std::vector<double>& shears,
              ImageSize image);

/// One change that AutoAugment and its like make: a function's name and its numbers. Those of
/// "affine" are pixels and shears, across and down, about the upper left corner; "" changes
/// nothing.
struct Step {
  std::string function;
  std::vector<double> numbers;
};
Tensor apply(const Tensor& image, const Step& step, const Interpolated& by);

/// A change of a pair, how probable it is, and which of ten strengths it has.
struct Rule {
  std::string name;
  double probability;
  std::optional<int64_t> strength;
};
const std::vector<std::array<Rule, 2>>& policy(AutoAugmentPolicy which);
/// What a pair does to a picture of a size, by a number for each that is compared with its
/// probability, and a sign.
std::vector<Step> auto_augment(const std::array<Rule, 2>& pair, const std::vector<double>& chances,
                               const std::vector<int64_t>& signs, ImageSize image);
Step rand_augment(int64_t magnitude, int64_t num_magnitude_bins, ImageSize image);
Step trivial_augment(int64_t num_magnitude_bins);
Tensor aug_mix(const Tensor& image, const AugMixOptions& options);

}  // namespace taeda::inline v0_2::vision::transforms::draws
