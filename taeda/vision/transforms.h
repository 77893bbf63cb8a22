// Transforms of pictures, as torchvision.transforms: tensors (..., C, H, W), uint8 or floating
// point from 0 to 1. Each is a function of a picture, and goes into a dataset's map().
//
//     auto set = CIFAR10(root).map(Compose({RandomCrop(32, {.padding = {4}}),
//                                           RandomHorizontalFlip(), Normalize({.5}, {.25})}));
//
// Random ones draw from data::worker_generator(): the seed of the loader decides, however many
// workers it has. Outside a loader a seed gives torchvision's numbers. What they do is
// functional.h's, and Python's.
#pragma once

#include <functional>

#include "taeda/data/transform.h"
#include "taeda/vision/picture_types.h"

namespace taeda::inline v0_2::vision::transforms {

/// The base of transforms: a function of a picture [..., C, H, W], or of an example, whose data it
/// changes.
using PictureTransform = data::transforms::TensorTransform<Tensor>;
/// A transform, or any function from a picture [..., C, H, W] to a picture; an empty one is
/// refused.
using PictureFunction = std::function<Tensor(Tensor)>;

/// A transform that is one function, which most here are.
/// Throws ValueError for what is no picture.
class Change : public PictureTransform {
 public:
  Tensor operator()(Tensor image) override;

 protected:
  Change(const char* name, std::function<Tensor(const Tensor&)> function)
      : name_(name), function_(std::move(function)) {}

 private:
  const char* name_;
  std::function<Tensor(const Tensor&)> function_;
};

/// Applies transforms one after the other; an empty list gives the picture as it is.
class Compose : public PictureTransform {
 public:
  /// ValueError for an empty function.
  explicit Compose(std::vector<PictureFunction> transforms);
  Tensor operator()(Tensor image) override;

 private:
  std::vector<PictureFunction> transforms_;
};

/// A transform that calls a function of a picture [..., C, H, W].
struct Lambda : Compose {
  explicit Lambda(PictureFunction function) : Compose({std::move(function)}) {}
};

/// Applies all of some transforms with probability p, 0.5 by default, else none.
struct RandomApply : Compose {
  explicit RandomApply(std::vector<PictureFunction> transforms, double p = 0.5);
};
/// One of several transforms, by weights `p` if given. Throws ValueError for another number of
/// them.
struct RandomChoice : Compose {
  explicit RandomChoice(std::vector<PictureFunction> transforms, std::vector<double> p = {});
};
/// Applies all of some transforms, in random order; an empty list gives the picture as it is.
struct RandomOrder : Compose {
  explicit RandomOrder(std::vector<PictureFunction> transforms);
};

/// Makes uint8 elements from 0 to 255 floats from 0 to 1; floats stay as they are, and so does the
/// shape.
class ToTensor : public PictureTransform {
 public:
  Tensor operator()(Tensor image) override;
};

/// Another dtype, with the range that is usual for it.
struct ConvertImageDtype : Change {
  explicit ConvertImageDtype(ScalarType dtype = kFloat);
};

/// (image - mean) / std; one number, or one for each channel of [..., C, H, W].
using Normalize = data::transforms::Normalize<Tensor>;

/// Options of Resize: bilinear and with antialiasing by default.
struct ResizeOptions {
  InterpolationMode interpolation = InterpolationMode::kBilinear;
  /// the most pixels of the longer side, where one number is the shorter's
  std::optional<int64_t> max_size = {};
  bool antialias = true;
};

/// To (height, width), or so that the shorter side has `size` pixels. Bilinear interpolation takes
/// the mean over what a pixel of a smaller picture covers, unless not `antialias` (PyTorch's
/// interpolate with align_corners=False).
struct Resize : Change {
  using Options = ResizeOptions;
  explicit Resize(int64_t size, Options options = {});
  explicit Resize(ImageSize size, Options options = {});
};

/// The middle of a picture, [..., C, height, width]; zeros are added around a smaller one.
struct CenterCrop : Change {
  explicit CenterCrop(ImageSize size);
};

/// The four corners and the middle, stacked: [5, ...].
struct FiveCrop : Change {
  explicit FiveCrop(ImageSize size);
};
/// Options of TenCrop; by default the mirror image is that of left and right.
struct TenCropOptions {
  bool vertical_flip = false;  ///< whether the mirror image is upside down; false by default
};
/// FiveCrop of the picture and of its mirror image: [10, ...].
struct TenCrop : Change {
  explicit TenCrop(ImageSize size, TenCropOptions options = {});
};

/// Adds pixels around: {all}, {left and right, top and bottom} or {left, top, right, bottom} of
/// them. kReflect, kSymmetric and kReplicate ("edge") continue the picture. Throws ValueError for
/// other numbers of entries.
struct Pad : Change {
  explicit Pad(const std::vector<int64_t>& padding, Fill fill = 0,
               Continuation padding_mode = kConstant);
};

/// Options of RandomCrop: no padding by default, and zeros where there is some.
struct RandomCropOptions {
  std::vector<int64_t> padding = {};  ///< pixels to add first, as Pad takes them; empty for none
  bool pad_if_needed = false;
  Fill fill = 0;
  Continuation padding_mode = kConstant;
};
/// A piece at a random place. Throws ValueError for a picture that is smaller, unless
/// `pad_if_needed`.
struct RandomCrop : Change {
  using Options = RandomCropOptions;
  explicit RandomCrop(ImageSize size, Options options = {});
};

/// Options of RandomResizedCrop: bilinear and with antialiasing by default.
struct RandomResizedCropOptions {
  Range scale = {0.08, 1};         ///< the piece's part of the area, between 0 and 1
  /// the ratio of its width to its height, from 3/4 to 4/3 by default
  Range ratio = {3. / 4, 4. / 3};
  InterpolationMode interpolation = InterpolationMode::kBilinear;
  bool antialias = true;
};
/// A random piece in one size.
struct RandomResizedCrop : Change {
  explicit RandomResizedCrop(ImageSize size, RandomResizedCropOptions options = {});
};

/// Mirrors left and right with probability p. Throws ValueError for a p that is none, as all below
/// do.
struct RandomHorizontalFlip : Change {
  explicit RandomHorizontalFlip(double p = 0.5);
};
/// Mirrors top and bottom of [..., H, W] with probability p, 0.5 by default.
struct RandomVerticalFlip : Change {
  explicit RandomVerticalFlip(double p = 0.5);
};

/// Options of RandomRotation: around the middle, by the nearest pixels and into 0 by default.
struct RandomRotationOptions {
  InterpolationMode interpolation = InterpolationMode::kNearest;
  bool expand = false;  ///< whether the result grows to hold the whole picture; false by default
  std::optional<std::array<double, 2>> center = {};
  Fill fill = 0;
};
/// Turns a picture [..., C, H, W] by a random angle, from -x to x degrees or from the least to the
/// largest.
struct RandomRotation : Change {
  explicit RandomRotation(Spread degrees, RandomRotationOptions options = {});
};

/// Options of RandomAffine: no shifts, sizes and shears by default.
struct RandomAffineOptions {
  std::optional<std::array<double, 2>> translate = {};  ///< at most, of width and height
  std::optional<Range> scale = {};
  /// degrees: {x}, {from, to} or {x from, x to, y from, y to}; empty for none
  std::vector<double> shear = {};
  InterpolationMode interpolation = InterpolationMode::kNearest;
  Fill fill = 0;
  std::optional<std::array<double, 2>> center = {};
};
/// Turns (degrees), moves, scales and shears at random. Throws ValueError for parts that are not
/// from 0 to 1, scales that are not positive and another number of shears.
struct RandomAffine : Change {
  explicit RandomAffine(Spread degrees, RandomAffineOptions options = {});
};

/// Options of RandomPerspective: half of the largest distortion with probability 0.5 by default.
struct RandomPerspectiveOptions {
  double distortion_scale = 0.5;
  double p = 0.5;
  InterpolationMode interpolation = InterpolationMode::kBilinear;
  Fill fill = 0;
};
/// Moves the corners inwards at random, by at most `distortion_scale` of half a side.
struct RandomPerspective : Change {
  explicit RandomPerspective(RandomPerspectiveOptions options = {});
};

/// Options of ElasticTransform: bilinear and into 0 by default.
struct ElasticTransformOptions {
  std::array<double, 2> alpha = {50, 50};  ///< how far, across and down, in pixels; 50 by default
  std::array<double, 2> sigma = {5, 5};    ///< how smoothly, the deviation in pixels; 5 by default
  InterpolationMode interpolation = InterpolationMode::kBilinear;
  Fill fill = 0;
};
/// Moves each pixel of [..., C, H, W] at random, neighbours alike, as if the picture were seen
/// through water.
struct ElasticTransform : Change {
  explicit ElasticTransform(ElasticTransformOptions options = {});
};

/// Options of RandomErasing: with probability 0.5, into 0 by default.
struct RandomErasingOptions {
  double p = 0.5;
  Range scale = {0.02, 0.33};  ///< the rectangle's part of the area, between 0 and 1
  /// the ratio of its height to its width, by default between 0.3 and 3.3
  Range ratio = {0.3, 3.3};
  Fill value = 0;              ///< noise if it is empty
};
/// Replaces a random rectangle. Throws ValueError for parts that are not from 0 to 1.
struct RandomErasing : Change {
  explicit RandomErasing(RandomErasingOptions options = {});
};

/// Blurs by a Gaussian of a random width; the kernel's sizes are across and down. Throws ValueError
/// for an even kernel and for widths that are not positive.
struct GaussianBlur : Change {
  explicit GaussianBlur(std::initializer_list<int64_t> kernel_size)
      : GaussianBlur(nn::ExpandingArray<2>(kernel_size)) {}
  explicit GaussianBlur(nn::ExpandingArray<2> kernel_size, Range sigma = {0.1, 2});
};

/// Grey by the weights of ITU-R BT.601 (0.2989, 0.587, 0.114), in 1, the default, or 3 equal
/// channels: [..., 3, H, W] gives [..., 1, H, W].
struct Grayscale : Change {
  explicit Grayscale(int64_t num_output_channels = 1);
};

/// Brightness, contrast and saturation times a factor from [1 - x, 1 + x] (not below 0), hue moved
/// by [-x, x] of the circle, or from the smallest to the largest, in a random order. Throws
/// ValueError for negative numbers and a hue beyond 0.5, and TypeError for pictures of other than 1
/// or 3 channels.
struct ColorJitter : Change {
  explicit ColorJitter(Spread brightness = 0, Spread contrast = 0, Spread saturation = 0,
                       Spread hue = 0);
  /// Of the brightness alone: the smallest and the largest factor.
  explicit ColorJitter(const double (&brightness)[2])
      : ColorJitter(Spread(brightness[0], brightness[1])) {}
};

/// With probability p, 0.5 by default but for RandomGrayscale's 0.1: grey in as many channels, and
/// the functions that functional.h has by these names, of pictures [..., C, H, W].

struct RandomGrayscale : Change {
  explicit RandomGrayscale(double p = 0.1);
};
struct RandomInvert : Change {
  explicit RandomInvert(double p = 0.5);
};
struct RandomPosterize : Change {
  explicit RandomPosterize(int64_t bits, double p = 0.5);
};
struct RandomSolarize : Change {
  explicit RandomSolarize(double threshold, double p = 0.5);
};
struct RandomAdjustSharpness : Change {
  explicit RandomAdjustSharpness(double sharpness_factor, double p = 0.5);
};
struct RandomAutocontrast : Change {
  explicit RandomAutocontrast(double p = 0.5);
};
struct RandomEqualize : Change {
  explicit RandomEqualize(double p = 0.5);
};

}  // namespace taeda::inline v0_2::vision::transforms

#include "taeda/vision/augment.h"
