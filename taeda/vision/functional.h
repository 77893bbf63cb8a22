// What transforms are made of, as torchvision.transforms.functional: functions of pictures
// [..., C, H, W] of uint8 or of floats from 0 to 1, one or a batch of them, on any device. Those
// that compute with floats are differentiable.
#pragma once

#include "taeda/vision/picture_types.h"

namespace taeda::inline v0_2::vision::transforms::functional {

/// {left, top, right, bottom} of {all}, {left and right, top and bottom} or all four. Throws
/// ValueError for other numbers of entries.
std::vector<int64_t> sides_of(const std::vector<int64_t>& padding);
/// The size of a picture whose shorter side becomes `shorter`, and whose longer one at most
/// `max_size`, which is larger than `shorter` or ValueError is thrown.
ImageSize resized(ImageSize size, int64_t shorter, std::optional<int64_t> max_size = {});

/// In another size; bytes are rounded. With `antialias` bilinear and bicubic take the mean over
/// what a pixel of a smaller picture covers.
Tensor resize(const Tensor& image, ImageSize size,
              InterpolationMode interpolation = InterpolationMode::kBilinear,
              bool antialias = true);
/// With pixels around it: `sides` as from sides_of, of which negative ones cut. Throws ValueError
/// for a fill of other than one number or one for each channel.
Tensor pad(const Tensor& image, const std::vector<int64_t>& sides, const Fill& fill = 0,
           Continuation continuation = kConstant);
/// A piece; what lies outside of the picture is 0.
Tensor crop(const Tensor& image, const Piece& piece);
/// The middle of a picture, which begins outside of one that is smaller.
Piece center_piece(ImageSize image, ImageSize size);
/// The corners - top left, top right, bottom left, bottom right - and the middle. Throws
/// ValueError where the picture is smaller.
std::vector<Piece> five_pieces(ImageSize image, ImageSize size);
Tensor hflip(const Tensor& image);
Tensor vflip(const Tensor& image);
/// The picture with the values of `v`, which broadcasts, in a rectangle.
Tensor erase(const Tensor& image, const Piece& piece, const Tensor& v);

/// Each pixel a mean of its neighbours by a Gaussian; across, then down. The picture is reflected
/// at its edges. Throws ValueError for an even or negative kernel and for sigmas that are not
/// positive.
Tensor gaussian_blur(const Tensor& image, std::array<int64_t, 2> kernel_size,
                     std::array<double, 2> sigma);

/// The 2 x 3 matrix from places of the result to places of the picture, row by row: the picture is
/// turned with the clock and sheared (degrees) around `center`, scaled, and moved by `translate`.
std::vector<double> inverse_affine_matrix(std::array<double, 2> center, double angle,
                                          std::array<double, 2> translate, double scale,
                                          std::array<double, 2> shear);
/// The eight numbers of the perspective that takes end points to start points (x, y).
std::vector<double> perspective_coefficients(const Corners& startpoints, const Corners& endpoints);
/// Turned by `angle` degrees against the clock around `center`, or the middle; with `expand` the
/// result holds the whole picture. Throws ValueError for bicubic, as the next three do.
Tensor rotate(const Tensor& image, double angle, Interpolated by = {}, bool expand = false,
              std::optional<std::array<double, 2>> center = {});
/// Turned with the clock, moved by pixels, scaled and sheared (degrees) around `center`, or the
/// middle. Throws ValueError for a scale that is not positive.
Tensor affine(const Tensor& image, double angle, std::array<double, 2> translate, double scale,
              std::array<double, 2> shear, Interpolated by = {},
              std::optional<std::array<double, 2>> center = {});
/// With four corners (x, y) moved from the start points to the end points.
Tensor perspective(const Tensor& image, const Corners& startpoints, const Corners& endpoints,
                   Interpolated by = {.mode = InterpolationMode::kBilinear});
/// With each pixel from `displacement` [1, H, W, 2] (x, y; 2 is the picture's side) beside it.
Tensor elastic_transform(const Tensor& image, const Tensor& displacement,
                         Interpolated by = {.mode = InterpolationMode::kBilinear, .fill = 0});

// Colours. A factor 1 gives the picture; negative ones are refused with ValueError, channels other
// than 1 or 3 with TypeError. `as_pil` rounds what is grey as PIL does for pictures of bytes.

/// In 1 or 3 equal channels: 0.2989 R + 0.587 G + 0.114 B, the weights of ITU-R BT.601.
Tensor rgb_to_grayscale(const Tensor& image, int64_t num_output_channels = 1, bool as_pil = false);
/// Factor 0 gives black.
Tensor adjust_brightness(const Tensor& image, double factor);
/// Factor 0 gives the mean of the grey picture everywhere.
Tensor adjust_contrast(const Tensor& image, double factor, bool as_pil = false);
/// Factor 0 gives the grey picture.
Tensor adjust_saturation(const Tensor& image, double factor, bool as_pil = false);
/// The hue moved by `shift` of the circle of colours, -0.5 to 0.5 (through HSV; Smith 1978). Not
/// differentiable.
Tensor adjust_hue(const Tensor& image, double shift);
/// gain * image ^ gamma, of values from 0 to 1.
Tensor adjust_gamma(const Tensor& image, double gamma, double gain = 1);
/// Factor 0 gives a blurred picture, 2 one that is sharper.
Tensor adjust_sharpness(const Tensor& image, double factor);
Tensor invert(const Tensor& image);
/// The first `bits` bits of each byte. Throws TypeError for other than bytes, as equalize does.
Tensor posterize(const Tensor& image, int64_t bits);
/// Values from the threshold on inverted.
Tensor solarize(const Tensor& image, double threshold);
/// Each channel stretched to the whole range.
Tensor autocontrast(const Tensor& image);
/// Each channel with its values spread so that all are about equally frequent.
Tensor equalize(const Tensor& image);
/// Another dtype with the range that is usual for it: floats from 0 to 1, integers up to their
/// largest. Throws Error where a float cannot hold those.
Tensor convert_image_dtype(const Tensor& image, ScalarType dtype = kFloat);

}  // namespace taeda::inline v0_2::vision::transforms::functional
